//! `roadmap serve`

use std::net::{SocketAddr, TcpListener};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use actix_web::web::ServiceConfig;
use anyhow::Context;
use roadmap_domain::error::{ErrorChain, StoreError};
use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::policy::sealing::Sealer;
use roadmap_domain::ports::{Clock, MissedSearchStore};
use roadmap_domain::usecase::change_link_sources::seal_all_anew;
use roadmap_domain::usecase::change_webhooks::seal_webhooks_anew;
use roadmap_domain::usecase::deliver_mail::DeliverMail;
use roadmap_domain::usecase::deliver_webhooks::DeliverWebhooks;
use roadmap_domain::usecase::erase_customer::FinishErasures;
use roadmap_domain::usecase::missed_searches::MissedSearches;
use roadmap_domain::usecase::purge_audit_entries::PurgeAuditEntries;
use roadmap_domain::usecase::purge_deletions::PurgeDeletions;
use roadmap_domain::usecase::purge_jobs::PurgeJobs;
use roadmap_domain::usecase::purge_operation_keys::PurgeOperationKeys;
use roadmap_domain::usecase::purge_removed_texts::PurgeRemovedTexts;
use roadmap_domain::usecase::reindex_search::ReindexSearch;
use roadmap_domain::usecase::storage_budgets::StorageBudgets;
use roadmap_domain::usecase::sweep_attachments::{SweepAttachments, SweepReport};
use roadmap_http::detached::DetachedTasks;
use roadmap_http::observer::{NoopObserver, Observer};
use roadmap_http::server;
use tokio::runtime::Handle;
use tokio::time::MissedTickBehavior;

use super::output::print;
use crate::demo::{self, DemoOptions};
use crate::import::folders;
use crate::import::load::Stop;
use crate::jobs::Jobs;
use crate::metrics::{Metrics, MetricsServer, Sources};
use crate::report;
use crate::secret;
use crate::settings::Settings;
use crate::shutdown::{ShutdownSignals, ShutdownState};
use crate::system::OutdatedWorkspaces;
use crate::wiring::{Application, HttpOptions, HttpRuntime};
use crate::worker::{Work, Worker};

/// How often the usage that this process has counted is added to the totals in the store.
const FLUSH_INTERVAL: Duration = Duration::from_secs(5);

/// How often the searches that found nothing are written.
const MISSED_SEARCHES_INTERVAL: Duration = Duration::from_secs(60);

/// How often the process checks for workspaces whose recount is due.
const RECOUNT_INTERVAL: Duration = Duration::from_secs(10);

/// How often the process looks for people who were erased and are in files still.
const ERASURES_INTERVAL: Duration = Duration::from_secs(20);

/// How often maintenance runs.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(3_600);

/// The pause between two batches of feature requests that are indexed again, so that other writes are not delayed.
const REINDEX_PAUSE: Duration = Duration::from_millis(20);

/// Number of workspaces whose addresses are printed at the start.
const LISTED_WORKSPACES: usize = 5;

/// Number of workspaces that are checked for members at the start.
const HINTED_WORKSPACES: usize = 3;

#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Fill a workspace `demo` with examples, and print a key and example requests
    #[arg(long)]
    demo: bool,
}

impl Serve {
    pub(crate) async fn run(self, mut settings: Settings) -> anyhow::Result<()> {
        secret::refuse_guessable(&settings)?;
        // Not awaited: who needs it first waits for it if necessary.
        drop(tokio::task::spawn_blocking(|| {
            roadmap_api::load_endpoints();
            roadmap_domain::model::search::load_tables();
        }));
        let application = Arc::new(Application::open_service(&settings).await?);
        let listener =
            TcpListener::bind(&settings.listen).with_context(|| format!("cannot listen on {}", settings.listen))?;
        let address = listener.local_addr()?;
        if self.demo {
            let subdomain = settings.default_workspace.get_or_insert_with(demo::subdomain);
            anyhow::ensure!(
                *subdomain == demo::subdomain(),
                "--demo serves the workspace `demo` at the base URL, but the setting default_workspace is `{subdomain}`"
            );
        }
        let base_url = settings.service_url_at(&address.port().to_string())?;
        let references = Arc::new(secret::references(&settings)?);
        let sealer = Arc::new(secret::sealer(&settings)?);
        let blobs = Application::open_blobs(&settings)?;

        let mut demo_usage = String::new();
        if self.demo {
            let options = DemoOptions { base_url: &base_url, references: &references, blobs: &*blobs };
            demo_usage = demo::prepare(&application, &options).await?;
        }

        if let Some(subdomain) = &settings.default_workspace
            && application.directory.workspace(subdomain).await?.is_none()
        {
            tracing::warn!(%subdomain, "the setting default_workspace names a workspace that does not exist");
        }

        application.log_warnings(&settings).await;
        let detached = DetachedTasks::new(Handle::current());
        let workers = settings.workers.unwrap_or_else(|| available_parallelism().map_or(1, NonZero::get));
        let metrics =
            settings.metrics_listen.as_deref().map(|at| (at, Arc::new(Metrics::new(application.clock.now()))));
        let shutdown = ShutdownState::default();
        let options = HttpOptions {
            base_url: &base_url,
            blobs: &blobs,
            references: &references,
            sealer: &sealer,
            observer: metrics
                .as_ref()
                .map_or_else(|| Arc::new(NoopObserver) as Arc<dyn Observer>, |(_, metrics)| metrics.clone()),
            detached: &detached,
            shutdown: &shutdown,
            workers,
        };
        let jobs = Jobs {
            application: application.clone(),
            base_url: base_url.clone(),
            references: references.clone(),
            blobs: blobs.clone(),
            data_dir: settings.data_dir.clone(),
            stop: Stop::default(),
        };
        let HttpRuntime { surfaces, connections } = application.http_runtime(&settings, &options)?;
        let webhooks = application.deliver_webhooks(&settings, &base_url, references.clone(), sealer.clone())?;
        let webhooks = match &metrics {
            Some((_, metrics)) => webhooks.with_observer(metrics.clone()),
            None => webhooks,
        };
        let deliver = application.deliver_mail(&settings, &base_url, references)?;
        let stop = ShutdownSignals::listen()?.begin_shutdown(shutdown, settings.shutdown_delay);
        let surfaces: Vec<_> =
            surfaces.into_iter().map(|surfaces| move |config: &mut ServiceConfig| surfaces.configure(config)).collect();
        let server = server::serve(listener, surfaces, stop, (settings.keep_alive, settings.shutdown_wait))?;
        let maintenance = tokio::spawn(run_maintenance(
            application.purge_operation_keys(&settings),
            application.purge_audit_entries(&settings),
            application.purge_deletions(),
            application.purge_removed_texts(),
            (application.purge_jobs(blobs.clone()), application.sweep_attachments(&settings, blobs.clone())),
            (deliver.clone(), webhooks.clone()),
            (settings.data_dir.clone(), application.clock.clone()),
        ));

        drop(tokio::spawn(seal_secrets(application.clone(), sealer)));
        let counting = tokio::spawn(count_storage(application.budgets.clone()));
        let missed_searches = MissedSearchCounts {
            counts: application.missed_searches.clone(),
            store: application.missed_search_store.clone(),
            clock: application.clock.clone(),
        };
        let writing = tokio::spawn(missed_searches.clone().write_every_minute());
        let finish = application.finish_erasures(&settings, blobs);
        let erasing = tokio::spawn(finish_erasures(finish, missed_searches.clone()));
        let outdated_documents = Arc::new(AtomicU64::new(0));
        let reindexing = tokio::spawn(reindex_search(
            application.reindex_search(),
            application.outdated.clone(),
            outdated_documents.clone(),
        ));

        let jobs = jobs.start();
        let work = Work {
            mail: settings.mail_worker.then(|| (deliver, application.tell_team())),
            webhooks: settings.webhook_worker.then_some(webhooks),
        };
        let worker = Worker::start(work)?;
        let mut listening = first_line(&base_url, address);
        let metrics_server = match metrics {
            None => None,
            Some((at, metrics)) => {
                let (queue, clock) = (application.queue.clone(), application.clock.clone());
                let webhooks = application.webhook_queue.clone();
                let sources =
                    Sources { connections, queue, webhooks, detached: detached.clone(), clock, outdated_documents };
                let server = MetricsServer::start(at, metrics, sources)?;
                listening += &format!("\nMetrics at {}", server.url);
                Some(server)
            }
        };

        print(&format!("{listening}{demo_usage}"))?;
        // Listing the workspaces delays no request, and requests are served if it fails.
        let greeting = async {
            if !self.demo {
                print_greeting(&application, &settings, &base_url).await;
            }
        };
        let (stopped, ()) = tokio::join!(server, greeting);
        stopped.context("the server stopped")?;
        maintenance.abort();
        reindexing.abort();
        erasing.abort();
        if !jobs.stop(settings.shutdown_wait).await {
            tracing::warn!("stopped before an import or an export was left: another process goes on in a while");
        }
        if !worker.stop(settings.shutdown_wait).await {
            tracing::warn!("stopped before all mail and events in progress were sent");
        }
        if !detached.drain(settings.shutdown_wait).await {
            tracing::warn!("stopped before all writes in progress were finished");
        }
        counting.abort();
        flush_storage(&application.budgets).await;
        writing.abort();
        missed_searches.write().await;
        if let Some(server) = metrics_server {
            server.stop().await;
        }
        Ok(())
    }
}

/// Seals stored secrets with the current secret, so that previous ones can be removed from the settings.
async fn seal_secrets(application: Arc<Application>, sealer: Arc<Sealer>) {
    match seal_webhooks_anew(&*application.maintenance, &application.executor, &sealer).await {
        Ok(0) => {}
        Ok(webhooks) => tracing::error!(
            webhooks,
            "the URLs or secrets of webhooks cannot be read: add the earlier secret to previous_secrets, or create them anew"
        ),
        Err(error) => tracing::warn!(error = %ErrorChain::new(&error), "failed to seal stored secrets anew"),
    }
    match seal_all_anew(&*application.maintenance, &application.executor, &sealer).await {
        Ok(0) => {}
        Ok(link_sources) => tracing::error!(
            link_sources,
            "the secrets of link sources cannot be read: add the earlier secret to previous_secrets, or give them new ones"
        ),
        Err(error) => tracing::warn!(error = %ErrorChain::new(&error), "failed to seal stored secrets anew"),
    }
}

/// Adds this process's usage to the totals in the store, which all processes share, and recounts workspaces that are due.
async fn count_storage(budgets: Arc<StorageBudgets>) {
    let flushing = async {
        let mut ticks = tokio::time::interval(FLUSH_INTERVAL);
        loop {
            ticks.tick().await;
            flush_storage(&budgets).await;
        }
    };
    let counting = async {
        let mut ticks = tokio::time::interval(RECOUNT_INTERVAL);
        loop {
            ticks.tick().await;
            match budgets.recount_due().await {
                Ok(0) => {}
                Ok(workspaces) => tracing::debug!(workspaces, "recounted the storage usage of workspaces"),
                Err(error) => {
                    tracing::warn!(error = %ErrorChain::new(&error), "failed to recount the storage usage of a workspace")
                }
            }
        }
    };
    tokio::join!(flushing, counting);
}

async fn flush_storage(budgets: &StorageBudgets) {
    if let Err(error) = budgets.flush().await {
        tracing::warn!(error = %ErrorChain::new(&error), "failed to save the storage usage of workspaces");
    }
}

/// The searches that found nothing, which are written from time to time.
#[derive(Clone)]
struct MissedSearchCounts {
    counts: Arc<MissedSearches>,
    store: Arc<dyn MissedSearchStore>,
    clock: Arc<dyn Clock>,
}

impl MissedSearchCounts {
    async fn write_every_minute(self) {
        let mut minutes = tokio::time::interval(MISSED_SEARCHES_INTERVAL);
        loop {
            minutes.tick().await;
            self.write().await;
        }
    }

    async fn write(&self) {
        if let Err(error) = self.counts.flush(&*self.store, self.clock.now()).await {
            tracing::warn!(error = %ErrorChain::new(&error), "failed to save the searches that found nothing");
        }
    }
}

/// Takes people who were erased out of all files: at the start what a process has left, then what comes.
async fn finish_erasures(finish: FinishErasures, searches: MissedSearchCounts) {
    let mut ticks = tokio::time::interval(ERASURES_INTERVAL);
    // A rewriting of the database that takes long is not followed by the next one at once.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // Counted searches may have a name, too.
        searches.write().await;
        match finish.run().await {
            Ok((0, _)) => {}
            Ok((erased, _)) => tracing::info!(erased, "took erased people out of all files"),
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to take erased people out of all files")
            }
        }
    }
}

/// Indexes feature requests again that an earlier version indexed, now and every hour: a process of an earlier version
/// may still be running. Those that a change of a tag has left for the background are indexed at once.
async fn reindex_search(reindex: ReindexSearch, workspaces: OutdatedWorkspaces, outdated: Arc<AtomicU64>) {
    let mut hours = tokio::time::interval(MAINTENANCE_INTERVAL);
    loop {
        let workspace = tokio::select! {
            _ = hours.tick() => None,
            workspace = workspaces.next() => Some(workspace),
        };
        if let Some(workspace) = workspace {
            match reindex.run_outdated(workspace, |_| tokio::time::sleep(REINDEX_PAUSE)).await {
                Ok(indexed) => tracing::debug!(feature_requests = indexed, "indexed what a change of a tag has left"),
                Err(error) => {
                    tracing::warn!(error = %ErrorChain::new(&error), "failed to index what a change of a tag has left");
                }
            }
            continue;
        }
        match reindex.count_outdated().await {
            Ok(0) => continue,
            Ok(count) => {
                outdated.store(count, Ordering::Relaxed);
                tracing::info!(feature_requests = count, "indexing feature requests again for the search");
            }
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to count outdated search documents");
                continue;
            }
        }
        let progress = |indexed: u64| {
            // A count of all processes: it may be reached early.
            let _ =
                outdated.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(indexed)));
            tokio::time::sleep(REINDEX_PAUSE)
        };
        match reindex.run(progress).await {
            Ok(indexed) => {
                outdated.store(0, Ordering::Relaxed);
                tracing::info!(feature_requests = indexed, "indexed feature requests again for the search");
            }
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to index feature requests again");
            }
        }
    }
}

async fn run_maintenance(
    purge_keys: PurgeOperationKeys,
    purge_audit: PurgeAuditEntries,
    purge_deletions: PurgeDeletions,
    purge_texts: PurgeRemovedTexts,
    (purge_jobs, sweep): (PurgeJobs, SweepAttachments),
    (deliver, webhooks): (DeliverMail, DeliverWebhooks),
    (data_dir, clock): (PathBuf, Arc<dyn Clock>),
) {
    let mut hours = tokio::time::interval(MAINTENANCE_INTERVAL);
    loop {
        hours.tick().await;
        match purge_keys.run().await {
            Ok(0) => {}
            Ok(purged) => tracing::info!(purged, "purged expired operation keys"),
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to purge expired operation keys")
            }
        }
        match purge_audit.run().await {
            Ok(0) => {}
            Ok(purged) => tracing::info!(purged, "purged expired entries of the audit log"),
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to purge expired entries of the audit log")
            }
        }
        match purge_deletions.run().await {
            Ok(0) => {}
            Ok(purged) => tracing::info!(purged, "purged old deletions of feature requests and comments"),
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to purge old deletions")
            }
        }
        match purge_texts.run().await {
            Ok(0) => {}
            Ok(purged) => tracing::info!(purged, "purged texts that were removed long ago"),
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to purge texts that were removed long ago")
            }
        }
        match purge_jobs.run().await {
            Ok(0) => {}
            Ok(deleted) => tracing::info!(deleted, "deleted the files of old imports and exports"),
            Err(error) => tracing::warn!(error = %ErrorChain::new(&error), "failed to delete old imports and exports"),
        }
        match sweep.run().await {
            Ok(swept) if swept == SweepReport::default() => {}
            Ok(SweepReport { orphaned_blobs, unfinished_uploads, unused_attachments }) => {
                tracing::info!(
                    orphaned_blobs,
                    unfinished_uploads,
                    unused_attachments,
                    "removed orphaned and unused uploads"
                );
            }
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to remove orphaned and unused uploads")
            }
        }
        match folders::sweep(&data_dir, clock.now()) {
            Ok(0) => {}
            Ok(deleted) => tracing::info!(deleted, "deleted old files of imports"),
            Err(error) => tracing::warn!(error = %ErrorChain::new(&error), "failed to delete old files of imports"),
        }
        match deliver.purge_sent().await {
            Ok(0) => {}
            Ok(purged) => tracing::info!(purged, "purged messages that were sent long ago"),
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to purge messages that were sent long ago")
            }
        }
        match webhooks.purge().await {
            Ok(0) => {}
            Ok(purged) => tracing::info!(purged, "purged deliveries that ended long ago"),
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to purge deliveries that ended long ago")
            }
        }
    }
}

/// The first line: the URL that works in a browser, and the address of the socket.
fn first_line(base_url: &BaseUrl, address: SocketAddr) -> String {
    let served = if base_url.has_default_workspace() {
        base_url.to_string()
    } else {
        base_url.to_string().replacen("://", "://<workspace>.", 1)
    };
    format!("Serving {served}, listening on {address}")
}

/// Prints what comes next for somebody who has started the service: the addresses of its workspaces, or how to create the
/// first one.
async fn print_greeting(application: &Application, settings: &Settings, base_url: &BaseUrl) {
    let printed = match greeting(application, settings, base_url).await {
        Ok(greeting) => print(&greeting),
        Err(error) => Err(error.into()),
    };
    if let Err(error) = printed {
        tracing::warn!(error = %report::error_line(&error), "the workspaces could not be listed at the start");
    }
}

async fn greeting(application: &Application, settings: &Settings, base_url: &BaseUrl) -> Result<String, StoreError> {
    let workspaces = application.directory.workspaces().await?;
    if workspaces.is_empty() {
        return Ok(first_steps(settings));
    }
    let mut greeting = addresses(&workspaces, base_url, &settings.data_dir);
    for workspace in workspaces.iter().take(HINTED_WORKSPACES) {
        if application.reader.members(workspace.id).await?.is_empty() {
            // Nobody can open its admin panel.
            let subdomain = workspace.subdomain.as_str();
            let add_member = add_member(subdomain, settings);
            greeting += &format!("\nThe workspace {subdomain} has no members. Add the first one: {add_member}");
        }
    }
    Ok(greeting)
}

/// The addresses of the portals and the admin panels of the first workspaces, beginning with the default one.
fn addresses(workspaces: &[Workspace], base_url: &BaseUrl, data_dir: &Path) -> String {
    let is_default = |workspace: &&Workspace| base_url.workspace_url(&workspace.subdomain) == base_url.to_string();
    // Below an IP address there are no other workspaces.
    let others = workspaces.iter().filter(|workspace| !is_default(workspace) && !base_url.has_ip_address());
    let mut listed = workspaces.iter().filter(is_default).chain(others);
    let mut lines = String::new();
    for Workspace { subdomain, .. } in listed.by_ref().take(LISTED_WORKSPACES) {
        let portal = base_url.workspace_url(subdomain);
        lines += &format!("\nPortal of {subdomain}: {portal}\nAdmin panel of {subdomain}: {portal}/admin");
    }
    match listed.count() {
        0 => lines,
        more => format!("{lines}\n… and {more} more: roadmap workspace list --data-dir '{}'", data_dir.display()),
    }
}

/// The commands that set up the first workspace.
fn first_steps(settings: &Settings) -> String {
    let data = settings.data_dir.display();
    let add_member = add_member("acme", settings);
    format!(
        "\nThere is no workspace yet. In another terminal:\n  \
         roadmap workspace create acme --product-name \"Acme\" --website-url https://acme.example \
         --data-dir '{data}'\n  \
         {add_member}\n  \
         roadmap api-key create --workspace acme --name first --data-dir '{data}'"
    )
}

/// The command that adds the first member to a workspace.
fn add_member(subdomain: &str, settings: &Settings) -> String {
    let data = settings.data_dir.display();
    format!("roadmap member add --workspace {subdomain} --email you@acme.example --name 'You' --data-dir '{data}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::id::WorkspaceId;
    use roadmap_domain::model::workspace::Subdomain;
    use uuid::Uuid;

    #[test]
    fn the_first_line_has_the_url_that_works() {
        let address = "127.0.0.1:8080".parse().unwrap();
        let line = |base_url: &str, default: Option<&str>| {
            let base_url = BaseUrl::parse("base_url", base_url).unwrap();
            first_line(&base_url.with_default_workspace(default.and_then(Subdomain::from_label)), address)
        };
        for (base_url, default, url) in [
            ("http://localhost:8080", Some("acme"), "http://localhost:8080"),
            ("https://roadmap.example.com", None, "https://<workspace>.roadmap.example.com"),
            ("http://[::1]:8080", Some("acme"), "http://[::1]:8080"),
        ] {
            assert_eq!(line(base_url, default), format!("Serving {url}, listening on 127.0.0.1:8080"));
        }
    }

    #[test]
    fn the_addresses_of_at_most_five_workspaces_are_listed() {
        let listed = |base_url: &str, default: Option<&str>, labels: &str| {
            let base_url = BaseUrl::parse("base_url", base_url).unwrap();
            let base_url = base_url.with_default_workspace(default.and_then(Subdomain::from_label));
            let workspace = |label: &str| {
                let id = WorkspaceId::new(Uuid::nil());
                Workspace { id, subdomain: Subdomain::from_label(label).unwrap() }
            };
            let workspaces: Vec<Workspace> = labels.split_whitespace().map(workspace).collect();
            let lines = addresses(&workspaces, &base_url, Path::new("/data"));
            lines.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        let of = |label: &str, url: &str| {
            [format!("Portal of {label}: {url}"), format!("Admin panel of {label}: {url}/admin")]
        };
        let below = |label: &str| of(label, &format!("http://{label}.localhost:8080"));
        let base = "http://localhost:8080";
        assert_eq!(listed(base, None, "acme"), below("acme"));
        let five = ["a", "b", "c", "d", "e"].map(below).concat();
        assert_eq!(listed(base, None, "a b c d e"), five);
        let more = |count: u32| vec![format!("… and {count} more: roadmap workspace list --data-dir '/data'")];
        assert_eq!(listed(base, None, "a b c d e f g"), [five, more(2)].concat());
        // The default workspace comes first.
        let four = ["a", "b", "c", "d"].map(below).concat();
        assert_eq!(listed(base, Some("f"), "a b c d e f"), [of("f", base).to_vec(), four, more(1)].concat());
        // Below an address there are no others.
        assert_eq!(listed("http://192.0.2.7:8080", Some("b"), "a b"), of("b", "http://192.0.2.7:8080"));
        assert_eq!(listed("http://192.0.2.7:8080", Some("c"), "a b"), [] as [String; 0]);
    }
}
