//! `cargo xtask test`: runs all tests.

use roadmap_testkit::postgres::SERVER_VARIABLE;

use crate::postgres;
use crate::run::{WORKSPACE, cargo, require_program};

/// Parallel tests per processor: tests mostly wait for processes, limits and disks.
const TESTS_PER_PROCESSOR: usize = 3;

/// Prefixes of black-box tests that are independent of the store. They run only on SQLite here, and on PostgreSQL in
/// `cargo xtask torture`.
pub(crate) const ONCE: [&str; 33] = [
    "admin_access::every_page_",
    "attachments::a_body_that_is_no_form_",
    "attachments::a_bucket_",
    "attachments::a_hundred_parts_",
    "attachments::a_megabyte_of_other_parts_",
    "attachments::fifty_megabytes_",
    "attachments::only_raster_images_",
    "attachments::parts_of_a_file_",
    "attachments::twenty_uploads_",
    "authentication::every_endpoint_",
    "authentication::every_route_",
    "bad_input::a_body_",
    "bad_input::a_field_of_another_type_",
    "bad_input::a_query_string_",
    "bad_input::all_json_syntax_",
    "bad_input::null_is_the_same_",
    "bad_input::numbers_of_pages_",
    "bad_input::only_plain_json_",
    "bad_input::query_strings_",
    "bad_input::the_table_of_fields_",
    "commands::an_unknown_workspace_",
    "cursors::",
    "hostile_http::",
    "log::a_line_of_json_",
    "mcp_bridge::",
    "openapi::",
    "pages::every_page_",
    "permissions::",
    "rate_limits::",
    "scopes::every_route_accepts_",
    "shutdown::",
    "traces::",
    "transport_security::",
];

/// Tests of outages, which always use PostgreSQL.
const ON_POSTGRES: &str = "outages::";

/// Further arguments go to the test binaries, such as a name to filter by
#[derive(Debug, Default, clap::Args)]
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
        self.cargo_test(&["--all-targets", "--"], &environment)?;
        environment.push(("TEST_STORE", "postgres"));
        let mut again = vec!["--test", "api", "--", "--skip", ON_POSTGRES];
        again.extend(ONCE.iter().flat_map(|name| ["--skip", name]));
        self.cargo_test(&again, &environment)
    }

    fn cargo_test(&self, what: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<()> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        cargo(&[&["test"], &WORKSPACE[..], what, &arguments].concat(), environment)
    }
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
