//! `cargo xtask torture`: runs the destructive tests for long.

use roadmap_testkit::postgres::SERVER_VARIABLE;

use crate::postgres;
use crate::test::{ONCE, cargo_test};

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
        let tests = |what: &[&str], environment: &[(&str, &str)]| cargo_test(what, &self.arguments, environment);
        eprintln!("== all orders of events, and hostile mails");
        tests(&["--lib", "--", "--ignored", "--nocapture"], &environment)?;
        tests(&["--test", "hostile", "--"], &environment)?;
        eprintln!("== random histories and races in each store");
        tests(&[&["--test", "store", "--"], &IN_STORES[..]].concat(), &environment)?;
        // Sequentially, so that each test has the whole machine and its printed figures are contiguous.
        let in_turn = [&["--test", "api", "--", "--nocapture", "--test-threads=1"], &TESTS[..]].concat();
        eprintln!("== SQLite");
        tests(&in_turn, &environment)?;
        environment.push(("TEST_STORE", "postgres"));
        eprintln!("== PostgreSQL");
        tests(&in_turn, &environment)?;
        tests(&[&["--test", "api", "--"], &ONCE[..]].concat(), &environment)
    }
}
