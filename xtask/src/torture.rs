//! `cargo xtask torture`: runs the destructive tests for long.

use roadmap_testkit::postgres::SERVER_VARIABLE;

use crate::postgres;
use crate::run::{WORKSPACE, cargo};
use crate::test::ONCE;

/// Prefixes of the destructive tests.
const TESTS: [&str; 11] = [
    "attachments::a_killed_process",
    "faults::",
    "linearizability::",
    "mail::a_killed_worker",
    "mail::a_stopped_worker",
    "mail::an_unreachable_mail_server",
    "mail::separate_workers",
    "merging::",
    "outages::a_power_cut",
    "outages::interleaved_requests",
    "power_cuts::",
];

/// Beginnings of the names of the random and concurrent cases of the contract suite.
const IN_STORES: [&str; 3] = ["a_preview_equals_", "random_", "tallies_are_exact_"];

/// Long runs of the tests that `cargo xtask test` runs briefly: kills, connection resets, lost responses, full disks,
/// histories, hostile mails, event orders; and on the other store the tests that run on only one. Run it before each
/// release.
#[derive(Debug, clap::Args)]
pub(crate) struct Torture {
    /// Seed of an earlier run, to repeat its schedule
    #[arg(long)]
    seed: Option<u64>,
    /// Further arguments for the test binaries, such as a name to leave out with `--skip`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Torture {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let server = postgres::Server::find()?;
        let seed = self.seed.map(|seed| seed.to_string());
        let mut environment = vec![(SERVER_VARIABLE, server.url.as_str()), ("TEST_EFFORT", "long")];
        environment.extend(seed.as_deref().map(|seed| ("TEST_SEED", seed)));
        eprintln!("== all orders of events, and hostile mails");
        self.tests(&["--lib", "--", "--ignored", "--nocapture"], &environment)?;
        self.tests(&["--test", "hostile", "--"], &environment)?;
        eprintln!("== random histories and races in each store");
        self.tests(&[&["--test", "store", "--"], &IN_STORES[..]].concat(), &environment)?;
        // Sequentially, so that each test has the whole machine and its printed figures are contiguous.
        let in_turn = [&["--test", "api", "--", "--nocapture", "--test-threads=1"], &TESTS[..]].concat();
        eprintln!("== SQLite");
        self.tests(&in_turn, &environment)?;
        environment.push(("TEST_STORE", "postgres"));
        eprintln!("== PostgreSQL");
        self.tests(&in_turn, &environment)?;
        self.tests(&[&["--test", "api", "--"], &ONCE[..]].concat(), &environment)
    }

    fn tests(&self, what: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<()> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        cargo(&[&["test"], &WORKSPACE[..], what, &arguments].concat(), environment)
    }
}
