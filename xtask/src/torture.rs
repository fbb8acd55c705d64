//! `cargo xtask torture`

use roadmap_testkit::postgres::SERVER_VARIABLE;

use crate::postgres;
use crate::run::cargo;

/// The tests that break things, by the beginnings of their names.
const TESTS: [&str; 8] = [
    "attachments::a_killed_process",
    "faults::",
    "linearizability::",
    "mail::a_killed_worker",
    "mail::a_mail_server_that_is_away",
    "mail::a_stopped_worker",
    "mail::workers_apart",
    "outages::interleaved_requests",
];

/// The long tier of what the tests do quickly: kills, resets, lost answers, full disks, histories.
#[derive(Debug, clap::Args)]
pub(crate) struct Torture {
    /// Repeat the schedule of a run that has printed this seed
    #[arg(long)]
    seed: Option<u64>,
    /// Further arguments for the test binary, such as a name to leave out with `--skip`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Torture {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let server = postgres::Server::find()?;
        let seed = self.seed.map(|seed| seed.to_string());
        let mut environment = vec![(SERVER_VARIABLE, server.url.as_str()), ("TEST_EFFORT", "long")];
        environment.extend(seed.as_deref().map(|seed| ("TEST_SEED", seed)));
        self.store("SQLite", &environment)?;
        environment.push(("TEST_STORE", "postgres"));
        self.store("PostgreSQL", &environment)
    }

    fn store(&self, name: &str, environment: &[(&str, &str)]) -> anyhow::Result<()> {
        eprintln!("== {name}");
        let mut arguments = vec!["test", "--locked", "--workspace", "--test", "api", "--"];
        // One after the other, so that each has the machine and its figures stand together.
        arguments.extend(["--nocapture", "--test-threads=1"]);
        arguments.extend(TESTS);
        arguments.extend(self.arguments.iter().map(String::as_str));
        cargo(&arguments, environment)
    }
}
