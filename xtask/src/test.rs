//! `cargo xtask test`

use roadmap_testkit::postgres::SERVER_VARIABLE;

use crate::postgres;
use crate::run::{cargo, require_program};

/// How many tests run at the same time for each processor: most of what they do is waiting, for processes, limits and disks.
const TESTS_PER_PROCESSOR: usize = 2;

/// Further arguments go to the test binaries, a name to filter by for example.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Test {
    /// Arguments for the test binaries
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Test {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        // The demo prints calls of curl, and a test makes them as they are printed.
        require_program("curl", "curl", "install it with the system's package manager")?;
        let server = postgres::Server::find()?;
        let threads = std::thread::available_parallelism()?.get() * TESTS_PER_PROCESSOR;
        // Arguments may say otherwise.
        let threads = threads.to_string();
        let mut environment = vec![(SERVER_VARIABLE, server.url.as_str()), ("RUST_TEST_THREADS", &threads)];
        self.cargo_test(&["--workspace", "--all-targets", "--"], &environment)?;
        // The black-box tests once more, on the other store; those of outages were on it already.
        environment.push(("TEST_STORE", "postgres"));
        self.cargo_test(&["--workspace", "--test", "api", "--", "--skip", "outages::"], &environment)
    }

    fn cargo_test(&self, what: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<()> {
        let mut arguments = vec!["test", "--locked"];
        arguments.extend(what);
        arguments.extend(self.arguments.iter().map(String::as_str));
        cargo(&arguments, environment)
    }
}
