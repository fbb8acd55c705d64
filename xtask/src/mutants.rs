//! `cargo xtask mutants`: whether the tests notice small faults in the code, by cargo-mutants and `.cargo/mutants.toml`.
//!
//! A run over a crate takes hours. `--shard 1/8` to `--shard 8/8` share it between machines or days.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use roadmap_testkit::fail_fast;
use roadmap_testkit::postgres::SERVER_VARIABLE;
use semver::Version;
use serde::Deserialize;

use crate::postgres;
use crate::run::root;
use crate::tools::Tool;

/// Which part of the code is changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Mutants {
    /// Crates to change: domain, http, api, sqlite, postgres
    #[arg(long = "crate", value_name = "CRATE", value_delimiter = ',', default_values_t = Crate::ALL)]
    crates: Vec<Crate>,
    /// Change these files only; may contain `*`
    #[arg(long, value_name = "FILE")]
    file: Vec<String>,
    /// Make these changes only: a regular expression for how they are listed, for those that were missed
    #[arg(long, value_name = "REGEX")]
    change: Vec<String>,
    /// The k-th of n parts of the changes, from 1
    #[arg(long, value_name = "K/N", value_parser = shard)]
    shard: Option<(u32, u32)>,
    /// Leave out the tests with this in their name: faster, and what only they would notice is missed
    #[arg(long, value_name = "TEST", value_delimiter = ',')]
    skip: Vec<String>,
    /// The tests of the changed crate only: much faster for api, whose other tests are those from outside
    #[arg(long)]
    own_tests: bool,
    /// Only what the runs before have not noticed, with the same crates and files
    #[arg(long)]
    again: bool,
    /// How many changes are tried at the same time, each in a copy of the sources
    #[arg(long, default_value_t = 1)]
    jobs: u32,
    /// Only list the changes
    #[arg(long)]
    list: bool,
}

/// A crate that is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Crate {
    /// The rules, by their own tests
    Domain,
    /// The HTTP core, by its own tests and those from outside
    Http,
    /// The API, by its own tests and those from outside
    Api,
    /// The embedded store, by the contract suite
    Sqlite,
    /// The store on a server, by the contract suite
    Postgres,
}

impl Crate {
    const ALL: [Self; 5] = [Self::Domain, Self::Http, Self::Api, Self::Sqlite, Self::Postgres];

    fn package(self) -> String {
        format!("roadmap-{self}")
    }

    /// Whose tests must notice, and how long they may take at least, in seconds. Without a fault the tests from outside
    /// take minutes.
    fn tests(self, own: bool) -> (&'static [&'static str], u32) {
        match self {
            Self::Domain => (&["roadmap-domain"], 30),
            Self::Http if own => (&["roadmap-http"], 60),
            Self::Http => (&["roadmap-http", "roadmap-server"], 900),
            Self::Api if own => (&["roadmap-api"], 60),
            Self::Api => (&["roadmap-api", "roadmap-server"], 900),
            Self::Sqlite => (&["roadmap-sqlite"], 180),
            Self::Postgres => (&["roadmap-postgres"], 300),
        }
    }

    fn needs_server(self) -> bool {
        matches!(self, Self::Http | Self::Api | Self::Postgres)
    }
}

impl std::fmt::Display for Crate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Domain => "domain",
            Self::Http => "http",
            Self::Api => "api",
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        })
    }
}

/// Where no fault may go unnoticed: operation keys, authentication, signed references, the wall between workspaces, pages.
const CRITICAL: [&str; 18] = [
    "crates/api/src/extractors.rs",
    "crates/api/src/fields.rs",
    "crates/api/src/wire/page.rs",
    "crates/domain/src/model/api_key.rs",
    "crates/domain/src/model/operation_key.rs",
    "crates/domain/src/model/pagination.rs",
    "crates/domain/src/policy/idempotency.rs",
    "crates/domain/src/policy/signed_reference.rs",
    "crates/domain/src/usecase/authenticate.rs",
    "crates/domain/src/usecase/executor.rs",
    "crates/http/src/authentication.rs",
    "crates/http/src/routing.rs",
    "crates/http/src/workspace.rs",
    "crates/postgres/src/reads/directory.rs",
    "crates/postgres/src/session.rs",
    "crates/postgres/src/unit.rs",
    "crates/sqlite/src/reads/directory.rs",
    "crates/sqlite/src/unit.rs",
];

impl Mutants {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let tool = Tool { package: "cargo-mutants", version: Version::new(27, 1, 0), arguments: &[] };
        let program = tool.find()?;
        let needs_server = !self.list && self.crates.iter().any(|one| one.needs_server());
        let server = needs_server.then(postgres::Server::find).transpose()?;
        let url = server.as_ref().map(|server| server.url.as_str());
        let mut found = Vec::new();
        for one in &self.crates {
            if let Some(outcomes) = self.change(&program, *one, url)? {
                found.push((*one, outcomes));
            }
        }
        if self.list {
            return Ok(());
        }
        ensure!(!found.is_empty(), "there was nothing to change");
        report(&found)
    }

    /// Changes a crate, one fault at a time. `None` when there was nothing to change.
    fn change(&self, program: &Path, one: Crate, url: Option<&str>) -> anyhow::Result<Option<Outcomes>> {
        let folder = root().join("target/mutants").join(one.to_string());
        fs::create_dir_all(&folder)?;
        let results = folder.join("mutants.out/outcomes.json");
        // What an earlier run has left is no result of this one.
        if results.exists() {
            fs::remove_file(&results)?;
        }
        let arguments = self.arguments(one, &folder);
        let name = format!("cargo {}", arguments.join(" "));
        eprintln!("$ {name}");
        let mut command = Command::new(program);
        command.args(&arguments).current_dir(root());
        // Nobody debugs a program that is broken on purpose.
        command.env("CARGO_PROFILE_DEV_DEBUG", "none");
        // One test that fails is enough.
        command.env(fail_fast::VARIABLE, "1");
        if let Some(url) = url {
            command.env(SERVER_VARIABLE, url);
        }
        let status = command.status().with_context(|| format!("`{name}` cannot be started"))?;
        match status.code() {
            // Good; some were missed; some ran into their limit.
            Some(0 | 2 | 3) if self.list || !results.exists() => Ok(None),
            Some(0 | 2 | 3) => Outcomes::read(&results).map(Some),
            Some(4) => bail!("the tests of {} fail without any change: mend them first", one.package()),
            _ => bail!("`{name}` failed: {status}"),
        }
    }

    fn arguments(&self, one: Crate, folder: &Path) -> Vec<String> {
        let (tests, least) = one.tests(self.own_tests);
        let mut arguments: Vec<String> = ["mutants", "--no-shuffle", "--package"].map(str::to_owned).into();
        arguments.push(one.package());
        if self.list {
            arguments.push("--list".to_owned());
        } else {
            arguments.extend(["--output".to_owned(), folder.display().to_string()]);
            arguments.extend(["--minimum-test-timeout".to_owned(), least.to_string()]);
            arguments.extend(["--jobs".to_owned(), self.jobs.to_string()]);
        }
        arguments.extend(tests.iter().map(|package| format!("--test-package={package}")));
        if self.again {
            arguments.push("--iterate".to_owned());
        }
        arguments.extend(self.file.iter().map(|file| format!("--file={file}")));
        arguments.extend(self.change.iter().map(|name| format!("--re={name}")));
        // The program counts parts from 0. Neighbours go to different parts, so that these take about as long as each other.
        if let Some((part, of)) = self.shard {
            arguments.extend([format!("--shard={}/{of}", part - 1), "--sharding=round-robin".to_owned()]);
        }
        // Behind the first are arguments of `cargo test`: not the examples in the documentation. Behind the second are
        // those of the tests.
        arguments.extend(["--", "--lib", "--bins", "--tests", "--"].map(str::to_owned));
        arguments.extend(self.skip.iter().map(|name| format!("--skip={name}")));
        arguments
    }
}

/// Reads `k/n`.
fn shard(raw: &str) -> Result<(u32, u32), String> {
    let parsed = raw.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    parsed.filter(|(part, of)| (1..=*of).contains(part)).ok_or_else(|| "a part is k/n, from 1/n to n/n".to_owned())
}

/// What became of each change.
#[derive(Debug, Deserialize)]
struct Outcomes {
    outcomes: Vec<Outcome>,
}

#[derive(Debug, Deserialize)]
struct Outcome {
    scenario: Scenario,
    summary: Summary,
    phase_results: Vec<Phase>,
}

/// What was done with a change: checked, built, tested.
#[derive(Debug, Deserialize)]
struct Phase {
    phase: String,
}

#[derive(Debug, Deserialize)]
enum Scenario {
    Baseline,
    Mutant(Mutant),
}

#[derive(Debug, Deserialize)]
struct Mutant {
    name: String,
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Summary {
    Success,
    CaughtMutant,
    MissedMutant,
    Unviable,
    Failure,
    Timeout,
}

/// What became of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MutantStatus {
    /// A test failed.
    Caught,
    /// The tests did not end in time, which is noticed, too.
    TimedOut,
    /// All tests passed.
    Missed,
    /// It cannot be built, or could not in time: the tests did not see it.
    Unviable,
}

impl Outcome {
    fn status(&self) -> MutantStatus {
        let tested = self.phase_results.iter().any(|result| result.phase == "Test");
        match self.summary {
            Summary::MissedMutant => MutantStatus::Missed,
            Summary::Timeout if tested => MutantStatus::TimedOut,
            Summary::Timeout | Summary::Unviable => MutantStatus::Unviable,
            Summary::CaughtMutant | Summary::Success | Summary::Failure => MutantStatus::Caught,
        }
    }
}

impl Outcomes {
    fn read(file: &Path) -> anyhow::Result<Self> {
        let text = fs::read(file).with_context(|| format!("cargo-mutants left no {}", file.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} has another form", file.display()))
    }

    fn all(&self, status: MutantStatus) -> impl Iterator<Item = &Mutant> {
        self.outcomes.iter().filter_map(move |outcome| match &outcome.scenario {
            Scenario::Mutant(mutant) if outcome.status() == status => Some(mutant),
            Scenario::Mutant(_) | Scenario::Baseline => None,
        })
    }

    /// How many were noticed, and of how many that were built.
    fn share(&self) -> (usize, usize) {
        let noticed = self.all(MutantStatus::Caught).count() + self.all(MutantStatus::TimedOut).count();
        (noticed, noticed + self.all(MutantStatus::Missed).count())
    }
}

/// Prints what was noticed and what was not, and fails where nothing may be missed.
fn report(found: &[(Crate, Outcomes)]) -> anyhow::Result<()> {
    let mut critical = Vec::new();
    for (one, outcomes) in found {
        let (noticed, of) = outcomes.share();
        let percent = if of == 0 { 100.0 } else { 100.0 * noticed as f64 / of as f64 };
        let unbuilt = outcomes.all(MutantStatus::Unviable).count();
        let timed_out = outcomes.all(MutantStatus::TimedOut).count();
        println!(
            "{one}: {noticed} of {of} noticed ({percent:.1} %), {timed_out} of them by a limit of time; {unbuilt} could not be built"
        );
        for missed in outcomes.all(MutantStatus::Missed) {
            let is_critical = CRITICAL.iter().any(|file| missed.file == Path::new(file));
            println!("  missed{}: {}", if is_critical { ", CRITICAL" } else { "" }, missed.name);
            critical.extend(is_critical.then_some(missed.name.as_str()));
        }
    }
    if !critical.is_empty() {
        bail!("no test notices what must not go unnoticed:\n  {}", critical.join("\n  "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(file: &str, summaries: &[&str]) -> Outcomes {
        let mut list = vec![serde_json::json!({ "scenario": "Baseline", "summary": "Success", "phase_results": [] })];
        list.extend(summaries.iter().map(|summary| {
            let mutant = serde_json::json!({ "name": format!("{file}: replace x"), "file": file, "package": "p" });
            let (summary, phases) = match *summary {
                "TimeoutOfBuild" => ("Timeout", &["Build"][..]),
                "Unviable" => ("Unviable", &["Build"][..]),
                other => (other, &["Build", "Test"][..]),
            };
            let phases: Vec<_> =
                phases.iter().map(|phase| serde_json::json!({ "phase": phase, "duration": 1 })).collect();
            serde_json::json!({ "scenario": { "Mutant": mutant }, "summary": summary, "phase_results": phases })
        }));
        serde_json::from_value(serde_json::json!({ "outcomes": list, "total_mutants": 1 })).unwrap()
    }

    fn mutants(file: &[&str], shard: Option<(u32, u32)>) -> Mutants {
        let file = file.iter().map(|file| (*file).to_owned()).collect();
        Mutants {
            crates: Crate::ALL.into(),
            file,
            change: vec!["with true".to_owned()],
            shard,
            skip: vec!["faults".to_owned()],
            own_tests: false,
            again: false,
            jobs: 2,
            list: false,
        }
    }

    #[test]
    fn the_share_is_of_what_could_be_built() {
        let summaries = ["CaughtMutant", "CaughtMutant", "MissedMutant", "Unviable", "Timeout", "TimeoutOfBuild"];
        assert_eq!(outcomes("a.rs", &summaries).share(), (3, 4));
    }

    #[test]
    fn a_missed_mutant_in_a_critical_file_fails() {
        let missed = |file| report(&[(Crate::Domain, outcomes(file, &["MissedMutant"]))]);
        assert!(missed("crates/domain/src/policy/ranking.rs").is_ok());
        assert_eq!(
            missed("crates/domain/src/policy/signed_reference.rs").unwrap_err().to_string(),
            "no test notices what must not go unnoticed:\n  crates/domain/src/policy/signed_reference.rs: replace x"
        );
        let caught =
            report(&[(Crate::Domain, outcomes("crates/domain/src/policy/signed_reference.rs", &["CaughtMutant"]))]);
        assert!(caught.is_ok());
    }

    #[test]
    fn critical_files_exist() {
        for file in CRITICAL {
            assert!(root().join(file).is_file(), "{file}");
        }
    }

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!(shard("1/8"), Ok((1, 8)));
        assert_eq!(shard("8/8"), Ok((8, 8)));
        for raw in ["0/8", "9/8", "1", "a/b", "1/0", ""] {
            assert!(shard(raw).is_err(), "{raw}");
        }
        let arguments = mutants(&[], Some((1, 8))).arguments(Crate::Domain, Path::new("/x"));
        assert!(arguments.contains(&"--shard=0/8".to_owned()), "{arguments:?}");
    }

    #[test]
    fn files_changes_and_tests_are_passed_on() {
        assert_eq!(
            mutants(&["a.rs"], None).arguments(Crate::Api, Path::new("/x")).join(" "),
            "mutants --no-shuffle --package roadmap-api --output /x --minimum-test-timeout 900 --jobs 2 \
             --test-package=roadmap-api --test-package=roadmap-server --file=a.rs \
             --re=with true -- --lib --bins --tests -- --skip=faults"
        );
        let first = Mutants { own_tests: true, again: true, ..mutants(&["a.rs"], None) };
        assert_eq!(
            first.arguments(Crate::Api, Path::new("/x")).join(" "),
            "mutants --no-shuffle --package roadmap-api --output /x --minimum-test-timeout 60 --jobs 2 \
             --test-package=roadmap-api --iterate --file=a.rs --re=with true -- --lib --bins --tests -- --skip=faults"
        );
    }
}
