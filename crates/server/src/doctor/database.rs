//! Checks of the database: reachable, intact, migrated, privileges, usage, its clock, and what it has of webhooks.

use std::path::Path;
use std::sync::Arc;

use roadmap_domain::error::{Budget, StoreError};
use roadmap_domain::model::destination::OutboundNetworks;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::vote::WrongTally;
use roadmap_domain::model::webhook::{Webhook, WebhookDepth};
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::policy::sealing::Sealer;
use roadmap_domain::policy::storage::StorageLimits;
use roadmap_domain::ports::{Clock, Maintenance, UsageStore, WebhookQueue, WebhookReader, WorkspaceDirectory};
use roadmap_domain::usecase::change_webhooks::{open_secrets, open_url};
use roadmap_domain::usecase::reindex_search;
use roadmap_postgres::{PostgresStore, RoleProblem, RoleProblems};
use roadmap_sqlite::SqliteStore;

use super::{Finding, chain, data_problem};
use crate::secret;
use crate::settings::{Database, Settings};
use crate::system::{SystemClock, SystemRandom};
use crate::wiring;

/// Maximum tolerated difference of two clocks.
const MAX_CLOCK_SKEW_MS: i64 = 2_000;

/// For how long a delivery may be due before there is a warning.
const MAX_DUE_MS: i64 = 10 * 60 * 1_000;

/// Usage of a budget, in percent, above which there is a warning.
const NEARLY_USED_UP: u64 = 90;

const ROLE_HINT: &str =
    "docs/operations.md (PostgreSQL) describes how to set up the role; `roadmap migrate` grants its privileges";

const OWNER_HINT: &str =
    "make the service's user the owner of the file and its folder, and stop other programs that lock the file";

const MIGRATE_HINT: &str = "run `roadmap migrate`, or start the service, which also runs migrations";

pub(super) async fn check(settings: &Settings) -> Vec<Finding> {
    let mut findings = match &settings.database {
        Database::File(file) => check_embedded(settings, file).await,
        Database::Server(url) => check_server(settings, url).await,
    };
    findings.extend(outbound_networks(&settings.outbound_networks));
    findings
}

async fn check_embedded(settings: &Settings, file: &Path) -> Vec<Finding> {
    let path = file.display();
    if let Err(error) = file.try_exists() {
        return vec![data_problem("database", settings, format!("{path} cannot be read: {error}"), OWNER_HINT)];
    }
    if !file.exists() {
        let found = format!("there is no database {path} yet");
        return vec![Finding::warning("database", found, "create a workspace, or check data_dir and database_url")];
    }
    let options = wiring::sqlite_options(settings, file);
    let restore = "if the message does not help, restore a backup with `roadmap restore`";
    let examined = roadmap_sqlite::integrity_errors(file)
        .and_then(|errors| Ok((errors, roadmap_sqlite::missing_migrations(file)?)))
        .and_then(|(errors, missing)| Ok((errors, missing, roadmap_sqlite::unknown_migrations(file)?)));
    let (errors, missing, unknown) = match examined {
        Ok(examined) => examined,
        Err(error) => {
            let fix = if matches!(error, StoreError::Unavailable(_)) { OWNER_HINT } else { restore };
            return vec![data_problem("database", settings, format!("{path} cannot be read: {}", chain(error)), fix)];
        }
    };
    if !errors.is_empty() {
        return vec![Finding::problem("database", format!("{path} is damaged: {}", errors.join("; ")), restore)];
    }
    let mut findings = Vec::new();
    findings.push(match roadmap_sqlite::check_writable(&options) {
        Ok(()) => Finding::ok("database", format!("{path} is intact and can be written")),
        Err(error) => {
            data_problem("database", settings, format!("{path} cannot be written: {}", chain(error)), OWNER_HINT)
        }
    });
    if let Some(version) = unknown.last() {
        findings.push(Finding::problem(
            "schema",
            format!("it is that of a newer version of roadmap (migration {version})"),
            "install that version again, or restore a backup that this one has made",
        ));
        return findings;
    }
    findings.push(schema(&missing));
    if !missing.is_empty() {
        return findings;
    }
    match SqliteStore::open(&options) {
        Ok(store) => {
            findings.extend(default_workspace(settings, &store).await);
            findings.push(usage(settings, &store).await);
            findings.push(search_index(&store).await);
            findings.extend(addresses(&store).await);
            findings.push(votes(&store).await);
            findings.extend(webhooks(settings, &store, &store).await);
        }
        Err(error) => findings.push(data_problem("database", settings, chain(error), restore)),
    }
    findings.push(match roadmap_sqlite::newest_timestamp(file) {
        Ok(newest) => check_newest_row(newest, SystemClock.now()),
        Err(error) => data_problem("clock", settings, chain(error), restore),
    });
    findings
}

/// Checks that all feature requests are indexed by this version.
async fn search_index<S: WorkspaceDirectory + Maintenance>(store: &S) -> Finding {
    const CHECK: &str = "search";
    match reindex_search::count_outdated(store, store).await {
        Ok(0) => Finding::ok(CHECK, "all feature requests are indexed by this version"),
        Ok(count) => Finding::warning(
            CHECK,
            format!("{count} feature requests are indexed by an earlier version, and some searches do not find them"),
            "start the service, which indexes them in the background, or run `roadmap search reindex`",
        ),
        Err(error) => Finding::problem(CHECK, chain(error), MIGRATE_HINT),
    }
}

/// Most wrong numbers of votes of a workspace that are named.
const WRONG_TALLIES: u32 = 5;

/// Checks that every number of votes is that of the votes.
async fn votes<S: WorkspaceDirectory + Maintenance>(store: &S) -> Finding {
    const CHECK: &str = "votes";
    match wrong_tallies(store).await {
        Ok(wrong) if wrong.is_empty() => Finding::ok(CHECK, "all numbers of votes are right"),
        Ok(wrong) => Finding::problem(
            CHECK,
            format!("wrong numbers of votes: {}", wrong.join("; ")),
            "restore a backup if one has the right numbers, and report this with the finding",
        ),
        Err(error) => Finding::problem(CHECK, chain(error), MIGRATE_HINT),
    }
}

/// The check of link sources and webhooks.
const WEBHOOKS: &str = "webhooks";

/// Checks that the secrets of link sources and webhooks can be read, and that events arrive.
async fn webhooks<S, R>(settings: &Settings, store: &S, reader: &R) -> Vec<Finding>
where
    S: WorkspaceDirectory + Maintenance + WebhookQueue,
    R: WebhookReader,
{
    let sealer = match secret::existing(settings) {
        Ok(Some(secret)) => Some(Sealer::new(&secret, &settings.previous_secrets, Arc::new(SystemRandom))),
        // Another check says what is wrong with it. Without one, nothing can be read.
        Ok(None) | Err(_) => None,
    };
    let now = SystemClock.now();
    let mut findings = Vec::new();
    findings.extend(link_sources(store, sealer.as_ref()).await);
    findings.extend(webhook_secrets(store, reader, sealer.as_ref(), now).await);
    match store.depth(now).await {
        Ok(depth) => findings.extend(deliveries(&depth, now)),
        Err(error) => findings.push(Finding::problem(WEBHOOKS, chain(error), MIGRATE_HINT)),
    }
    findings
}

/// Checks that the secrets of link sources can be read.
async fn link_sources<S: Maintenance>(store: &S, sealer: Option<&Sealer>) -> Option<Finding> {
    match unreadable(store, &sealer.map(Sealer::known_prefixes).unwrap_or_default()).await {
        Ok(0) => None,
        Ok(count) => Some(Finding::problem(
            WEBHOOKS,
            format!("link sources whose secrets cannot be read, so that their reports are refused: {count}"),
            "add the secret of that time to previous_secrets, or give them new ones with PATCH /link_sources/{id}",
        )),
        Err(error) => Some(Finding::problem(WEBHOOKS, chain(error), MIGRATE_HINT)),
    }
}

/// Checks that the URLs and secrets of webhooks can be read.
async fn webhook_secrets<S: WorkspaceDirectory, R: WebhookReader>(
    store: &S,
    reader: &R,
    sealer: Option<&Sealer>,
    now: Timestamp,
) -> Option<Finding> {
    match unreadable_webhooks(store, reader, sealer, now).await {
        Ok(0) => None,
        Ok(count) => Some(Finding::problem(
            WEBHOOKS,
            format!("webhooks whose URL or secret cannot be read, so that events do not arrive: {count}"),
            "add the secret of that time to previous_secrets, or remove these webhooks and add them again",
        )),
        Err(error) => Some(Finding::problem(WEBHOOKS, chain(error), MIGRATE_HINT)),
    }
}

/// Counts the webhooks of which something does not open.
async fn unreadable_webhooks<S: WorkspaceDirectory, R: WebhookReader>(
    store: &S,
    reader: &R,
    sealer: Option<&Sealer>,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let mut unreadable = 0;
    for workspace in store.workspaces().await? {
        let webhooks = reader.webhooks(workspace.id).await?;
        let is_readable = |webhook: &Webhook| sealer.is_some_and(|sealer| opens(sealer, workspace.id, webhook, now));
        unreadable += webhooks.iter().filter(|webhook| !is_readable(webhook)).count();
    }
    Ok(unreadable)
}

/// Whether the URL and all secrets that sign at `now` open.
fn opens(sealer: &Sealer, workspace: WorkspaceId, webhook: &Webhook, now: Timestamp) -> bool {
    let signs = |expires_at: Option<i64>| expires_at.is_none_or(|at| at > now.millis());
    let signing = webhook.secrets.iter().filter(|secret| signs(secret.expires_at)).count();
    open_url(sealer, workspace, webhook).is_some() && open_secrets(sealer, workspace, webhook, now).len() == signing
}

/// Checks that no webhook is disabled and no delivery has been due for long.
fn deliveries(depth: &WebhookDepth, now: Timestamp) -> Vec<Finding> {
    let mut findings = Vec::new();
    if depth.disabled > 0 {
        findings.push(Finding::warning(
            WEBHOOKS,
            format!("webhooks that are disabled, so that no events are recorded for them: {}", depth.disabled),
            "`roadmap webhook list --workspace SUBDOMAIN` says why; `roadmap webhook set ID --enabled true` enables one",
        ));
    }
    let due_for = depth.oldest_due_at.map_or(0, |due_at| now.millis().saturating_sub(due_at.millis()));
    if due_for >= MAX_DUE_MS {
        findings.push(Finding::warning(
            WEBHOOKS,
            format!("{} deliveries are due, the oldest for {} minutes", depth.due, due_for / 60_000),
            "start `roadmap serve` with webhook_worker, or `roadmap worker`; if one runs, its log has the cause",
        ));
    }
    findings
}

/// Checks that webhooks may not lead everywhere.
fn outbound_networks(networks: &OutboundNetworks) -> Option<Finding> {
    networks.name_everything().then(|| {
        Finding::problem(
            WEBHOOKS,
            "outbound_networks allows all addresses, so that whoever adds a webhook reaches the own network",
            "name only the networks that have receivers, for example 10.1.2.0/24",
        )
    })
}

/// Counts the link sources whose sealed secrets begin with none of these.
async fn unreadable<S: Maintenance>(store: &S, known: &[String]) -> Result<usize, StoreError> {
    let mut unreadable = store.link_sources_sealed_otherwise("none").await?;
    for prefix in known {
        let others = store.link_sources_sealed_otherwise(prefix).await?;
        unreadable.retain(|source| others.contains(source));
    }
    Ok(unreadable.len())
}

async fn wrong_tallies<S: WorkspaceDirectory + Maintenance>(store: &S) -> Result<Vec<String>, StoreError> {
    let mut wrong = Vec::new();
    for workspace in store.workspaces().await? {
        for WrongTally { tag_number, stored, counted } in store.wrong_tallies(workspace.id, WRONG_TALLIES).await? {
            wrong.push(format!("#{tag_number} of {} shows {stored} and has {counted}", workspace.subdomain));
        }
    }
    Ok(wrong)
}

/// Checks that no two customers and no two members of a workspace have the same address.
async fn addresses<S: WorkspaceDirectory + Maintenance>(store: &S) -> Vec<Finding> {
    const CHECK: &str = "addresses";
    let (customers, members) = match count_doubles(store).await {
        Ok(doubles) => doubles,
        Err(error) => return vec![Finding::problem(CHECK, chain(error), MIGRATE_HINT)],
    };
    let mut findings = Vec::new();
    if !customers.is_empty() {
        findings.push(Finding::warning(
            CHECK,
            format!(
                "customers with the same address, so that the votes of one are not found: {}",
                customers.join("; ")
            ),
            "run `roadmap customer merge-doubles --workspace SUBDOMAIN`, which lists them, and then with --yes",
        ));
    }
    if !members.is_empty() {
        findings.push(Finding::warning(
            CHECK,
            format!("members who have the address of another one and cannot sign in: {}", members.join("; ")),
            "compare both with `roadmap member list`, give the other one the right role with `roadmap member role ID`, and \
             remove this one with `roadmap member remove ID`",
        ));
    }
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, "no two customers or members of a workspace have the same address"));
    }
    findings
}

/// Describes the customers and the members of all workspaces who have the address of another one.
async fn count_doubles<S: WorkspaceDirectory + Maintenance>(
    store: &S,
) -> Result<(Vec<String>, Vec<String>), StoreError> {
    let (mut customers, mut members) = (Vec::new(), Vec::new());
    for workspace in store.workspaces().await? {
        let doubles = store.double_addresses(workspace.id).await?;
        if !doubles.customers.is_empty() {
            customers.push(format!("{} in {}", doubles.customers.len(), workspace.subdomain));
        }
        members.extend(doubles.members.iter().map(|email| format!("{} in {}", email.as_str(), workspace.subdomain)));
    }
    Ok((customers, members))
}

async fn check_server(settings: &Settings, url: &str) -> Vec<Finding> {
    let options = wiring::postgres_options(settings, url);
    let database = &settings.database;
    let before = SystemClock.now();
    let clock = match roadmap_postgres::server_time(&options).await {
        Ok(clock) => clock,
        Err(error) => {
            let found = format!("{database} cannot be reached: {}", chain(error));
            let fix = "check database_url, and that the server runs and accepts this login from this machine";
            return vec![Finding::problem("database", found, fix)];
        }
    };
    let after = SystemClock.now();
    let mut findings = vec![Finding::ok("database", format!("{database} is reachable"))];
    let is_migrated = match roadmap_postgres::pending_migrations(&options).await {
        Ok(missing) => {
            findings.push(schema(&missing));
            missing.is_empty()
        }
        Err(error) => {
            findings.push(Finding::problem("schema", chain(error), MIGRATE_HINT));
            false
        }
    };
    match roadmap_postgres::role_problems(&options).await {
        Ok(RoleProblems { missing, excess }) => {
            match missing {
                Some(RoleProblem { found, fix }) => findings.push(Finding::problem("role", found, administrator(&fix))),
                None if is_migrated => findings.extend(check_sessions(settings, &options).await),
                None => {}
            }
            findings.push(privileges(&excess));
        }
        Err(error) => findings.push(Finding::problem("role", chain(error), ROLE_HINT)),
    }
    findings.push(compare_clocks(clock, before, after));
    findings
}

/// Checks the service's own connections: row-level security, durability, default workspace and usage.
async fn check_sessions(settings: &Settings, options: &roadmap_postgres::PostgresOptions) -> Vec<Finding> {
    let store = match PostgresStore::open(options).await {
        Ok(store) => store,
        Err(error) => {
            return vec![Finding::problem("role", chain(error), ROLE_HINT)];
        }
    };
    let mut findings = vec![if settings.row_security {
        Finding::ok("role", format!("{}, which owns nothing and sees one workspace at a time", options.role))
    } else {
        Finding::warning(
            "role",
            format!("{}, but row-level security is off: the database does not isolate workspaces", options.role),
            "set row_security to true in every process",
        )
    }];
    findings.push(if store.is_durable() {
        Finding::ok("durability", "fsync is on")
    } else {
        let found = "fsync is off on the server: a crash of its machine can lose acknowledged writes";
        Finding::warning("durability", found, "set fsync = on in postgresql.conf")
    });
    findings.extend(default_workspace(settings, &store).await);
    findings.push(usage(settings, &store).await);
    findings.push(search_index(&store).await);
    findings.extend(addresses(&store).await);
    findings.push(votes(&store).await);
    match store.reader(1) {
        Ok(reader) => findings.extend(webhooks(settings, &store, &reader).await),
        Err(error) => findings.push(Finding::problem(WEBHOOKS, chain(error), MIGRATE_HINT)),
    }
    findings
}

/// Checks the login and the role for excess privileges.
fn privileges(excess: &[RoleProblem]) -> Finding {
    const CHECK: &str = "privileges";
    if excess.is_empty() {
        return Finding::ok(CHECK, "the login and the role have no excess privileges");
    }
    let joined = |part: fn(&RoleProblem) -> &str, by: &str| excess.iter().map(part).collect::<Vec<_>>().join(by);
    let fix = joined(|problem| &problem.fix, " ");
    Finding::warning(CHECK, joined(|problem| &problem.found, "; "), administrator(&fix))
}

fn administrator(fix: &str) -> String {
    format!("ask an administrator of the server: {fix}")
}

fn schema(missing: &[String]) -> Finding {
    match missing.len() {
        0 => Finding::ok("schema", "it is up to date"),
        many => Finding::warning("schema", format!("{many} migrations are pending"), MIGRATE_HINT),
    }
}

async fn default_workspace(settings: &Settings, directory: &dyn WorkspaceDirectory) -> Option<Finding> {
    const CHECK: &str = "workspace";
    let subdomain: &Subdomain = settings.default_workspace.as_ref()?;
    Some(match directory.workspace(subdomain).await {
        Ok(Some(_)) => Finding::ok(CHECK, format!("the default workspace is {subdomain}")),
        Ok(None) => Finding::problem(
            CHECK,
            format!("default_workspace is {subdomain}, but there is no such workspace"),
            "set default_workspace to one of `roadmap workspace list`",
        ),
        Err(error) => Finding::problem(CHECK, chain(error), MIGRATE_HINT),
    })
}

/// Checks whether a workspace has nearly used up a budget.
async fn usage<S: WorkspaceDirectory + UsageStore>(settings: &Settings, store: &S) -> Finding {
    const CHECK: &str = "usage";
    match nearly_used_up(settings.storage_limits, store).await {
        Ok(budgets) if budgets.is_empty() => {
            Finding::ok(CHECK, format!("no workspace is above {NEARLY_USED_UP} % of a budget"))
        }
        Ok(budgets) => Finding::warning(
            CHECK,
            budgets.join("; "),
            "raise storage_records or storage_files, or ask the workspace to store less; `roadmap workspace usage` shows \
             all",
        ),
        Err(error) => Finding::problem(CHECK, chain(error), MIGRATE_HINT),
    }
}

async fn nearly_used_up<S: WorkspaceDirectory + UsageStore>(
    limits: StorageLimits,
    store: &S,
) -> Result<Vec<String>, StoreError> {
    let mut budgets = Vec::new();
    for workspace in store.workspaces().await? {
        let used = store.load_usage(workspace.id).await?.unwrap_or_default().usage;
        for (budget, setting) in [(Budget::StoredRecords, "storage_records"), (Budget::StoredFiles, "storage_files")] {
            if let Some(percent) = limits.percent_used(budget, used).filter(|percent| *percent > NEARLY_USED_UP) {
                budgets.push(format!("{} has used {percent} % of {setting}", workspace.subdomain));
            }
        }
    }
    Ok(budgets)
}

/// Compares the clock of another machine with this one's, which was read before and after it.
fn compare_clocks(other: Timestamp, before: Timestamp, after: Timestamp) -> Finding {
    let ahead =
        if other < before { other.millis() - before.millis() } else { (other.millis() - after.millis()).max(0) };
    if ahead.abs() <= MAX_CLOCK_SKEW_MS {
        return Finding::ok("clock", "it agrees with the database server's");
    }
    let (seconds, side) = (ahead.unsigned_abs() / 1_000, if ahead > 0 { "ahead" } else { "behind" });
    Finding::warning(
        "clock",
        format!(
            "the database server's is {seconds} s {side}: mail may be sent twice, and keys expire at the wrong time"
        ),
        "synchronize the clocks of both machines (NTP)",
    )
}

/// Checks that no row is newer than now.
fn check_newest_row(newest: Option<Timestamp>, now: Timestamp) -> Finding {
    match newest {
        Some(newest) if newest.millis() - now.millis() > MAX_CLOCK_SKEW_MS => Finding::warning(
            "clock",
            format!("the newest row is from {newest}, but the time is {now}: the clock was set back or is wrong"),
            "synchronize the clock of this machine (NTP)",
        ),
        _ => Finding::ok("clock", "no row is newer than now"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis).unwrap()
    }

    #[test]
    fn clocks_may_be_two_seconds_apart() {
        for (other, result, expected) in [
            (10_000, Verdict::Ok, "agrees"),
            (10_500, Verdict::Ok, "agrees"),
            (8_000, Verdict::Ok, "agrees"),
            (13_000, Verdict::Ok, "agrees"),
            (7_999, Verdict::Warning, "2 s behind"),
            (13_001, Verdict::Warning, "2 s ahead"),
            (75_000, Verdict::Warning, "64 s ahead"),
        ] {
            let finding = compare_clocks(at(other), at(10_000), at(11_000));
            assert!(finding.result == result && finding.found.contains(expected), "{other}: {finding:?}");
        }
    }

    /// Webhooks: the check of the doctor.
    #[test]
    fn disabled_webhooks_and_late_deliveries_are_warnings() {
        let now = at(1_000_000_000);
        let found = |depth: WebhookDepth| {
            let findings = deliveries(&depth, now);
            assert!(findings.iter().all(|finding| finding.result == Verdict::Warning), "{findings:?}");
            findings.into_iter().map(|finding| finding.found).collect::<Vec<_>>()
        };
        let due_since = |millis: i64| WebhookDepth {
            due: 7,
            oldest_due_at: Some(at(now.millis() - millis)),
            enabled: 2,
            ..WebhookDepth::default()
        };
        assert_eq!(found(WebhookDepth::default()), [] as [&str; 0]);
        assert_eq!(found(due_since(MAX_DUE_MS - 1)), [] as [&str; 0]);
        let late = "7 deliveries are due, the oldest for 10 minutes";
        assert_eq!(found(due_since(MAX_DUE_MS)), [late]);
        let disabled = "webhooks that are disabled, so that no events are recorded for them: 1";
        assert_eq!(found(WebhookDepth { disabled: 1, ..due_since(MAX_DUE_MS) }), [disabled, late]);
    }

    /// Webhooks: an `outbound_networks` that allows everything is a problem.
    #[test]
    fn outbound_networks_must_not_name_everything() {
        for (raw, is_problem) in [
            ("", false),
            ("10.0.0.0/8, fd00::/8", false),
            ("0.0.0.0/1", false),
            ("0.0.0.0/0", true),
            ("::/0", true),
            ("10.0.0.0/8, ::/0", true),
        ] {
            let finding = outbound_networks(&OutboundNetworks::parse("outbound_networks", raw).unwrap());
            assert_eq!(finding.is_some_and(|finding| finding.result == Verdict::Problem), is_problem, "{raw}");
        }
    }
}
