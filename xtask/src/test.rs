//! `cargo xtask test`: runs all tests.

use roadmap_testkit::postgres::SERVER_VARIABLE;

use crate::postgres;
use crate::run::{WORKSPACE, cargo, require_program};

/// Parallel tests per processor: tests mostly wait for processes, limits and disks.
const TESTS_PER_PROCESSOR: usize = 5;

/// Black-box tests that run only on SQLite here, and on PostgreSQL in `cargo xtask torture`: prefixes of their names. SQL
/// decides nothing that they assert, the contract suite of the stores asserts it already, or they use SQLite in both runs.
pub(crate) const ONCE: [&str; 76] = [
    "admin_access::",
    "admin_content::",
    "admin_inbox::",
    "admin_people::",
    "admin_request::",
    "attachments::",
    "authentication::",
    "backup::",
    "bad_input::",
    "behind_proxies::",
    "changelogs::invalid_fields_",
    "changelogs::limits_count_",
    "changelogs::new_fields_of_",
    "changelogs::other_fields_",
    "changelogs::publishing_and_unpublishing_",
    "changes::invalid_parameters_",
    "commands::",
    "comments::content_has_up_to_",
    "comments::content_is_required_",
    "comments::invalid_fields_of_",
    "cursors::",
    "customers::invalid_names_",
    "database_move::",
    "decline::declining_needs_no_body",
    "demo::",
    "doctor::",
    "feature_request_detail::invalid_edits_",
    "feature_requests::invalid_fields_",
    "feature_requests::limits_count_",
    "feature_requests::other_fields_",
    "feature_requests::the_empty_fields_",
    "hostile_http::",
    "imports::files_of_other_programs_",
    "imports::hostile_files_",
    "imports::what_cannot_be_imported_",
    "ip_address::",
    "lanes::invalid_fields_",
    "log::",
    "mail::a_test_mail_shows_",
    "mail::an_invalid_unsubscribe_link_",
    "mail::mail_is_from_",
    "mcp::",
    "mcp_bridge::",
    "merging::unmerging_needs_no_body",
    "metrics::",
    "moderation::",
    "news::",
    "openapi::",
    "operation_keys::deletions_have_no_",
    "operation_keys::every_endpoint_with_a_key_rejects_",
    "operation_keys::the_endpoints_with_keys_",
    "operation_keys::the_header_is_a_key_",
    "operation_keys::without_a_key_no_endpoint_",
    "pages::",
    "people::a_restored_backup_",
    "permissions::",
    "pictures::",
    "portal_settings::",
    "power_cuts::",
    "rate_limits::",
    "record_vote::",
    "scopes::",
    "search::a_blank_query_",
    "search::a_misspelt_",
    "setting::",
    "shutdown::",
    "subscriptions::invalid_fields_",
    "taking_part::",
    "team_mail::",
    "traces::",
    "track_moves::an_invalid_track_id_",
    "tracks::invalid_fields_of_",
    "transport_security::",
    "upvotes::invalid_fields_",
    "votes::a_missing_or_blank_",
    "who_pays::",
];

/// Tests of outages, which always use PostgreSQL.
const ON_POSTGRES: &str = "outages::";

/// Further arguments go to the test binaries, such as a name to filter by
#[derive(Debug, clap::Args)]
pub(crate) struct Test {
    /// Arguments for the test binaries
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Test {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        // The demo prints curl commands, which a test executes.
        require_program("curl", "curl", "install it with the system's package manager")?;
        let server = postgres::Server::find()?;
        let threads = std::thread::available_parallelism()?.get() * TESTS_PER_PROCESSOR;
        // The arguments may override it.
        let threads = threads.to_string();
        let mut environment = vec![(SERVER_VARIABLE, server.url.as_str()), ("RUST_TEST_THREADS", &threads)];
        cargo_test(&["--all-targets", "--"], &self.arguments, &environment)?;
        // Examples that must not compile. `--all-targets` leaves them out.
        cargo_test(&["--doc", "--"], &self.arguments, &environment)?;
        environment.push(("TEST_STORE", "postgres"));
        let mut again = vec!["--test", "api", "--", "--skip", ON_POSTGRES];
        again.extend(ONCE.iter().flat_map(|name| ["--skip", name]));
        cargo_test(&again, &self.arguments, &environment)
    }
}

/// Runs tests, with further arguments for their binaries.
pub(crate) fn cargo_test(what: &[&str], arguments: &[String], environment: &[(&str, &str)]) -> anyhow::Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    cargo(&[&["test"], &WORKSPACE[..], what, &arguments].concat(), environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_run_once_exist() {
        for name in ONCE {
            let (module, test) = name.split_once("::").unwrap();
            let source = std::fs::read_to_string(crate::run::root().join(format!("tests/api/{module}.rs"))).unwrap();
            assert!(source.contains(&format!("fn {test}")), "{name}");
        }
    }
}
