//! `cargo xtask fuzz-api`: Schemathesis generates requests from the OpenAPI document and validates every response
//! against it, on each store.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use roadmap_testkit::python;
use serde_json::Value;

use crate::demo_service::DemoService;
use crate::run::{root, service};
use crate::store::Store;

/// Installed Python package.
const REQUIREMENT: &str = "schemathesis==4.32.5";

/// Minimum number of cases per store, of a full run and of a short one.
const CASES: u64 = 10_000;
const SHORT_CASES: u64 = 600;

/// Minimum number of cases per minute of a run with a time limit. Fewer mean that the service or the machine is
/// stuck.
const CASES_PER_MINUTE: u64 = 200;

/// Prints the number of cases per store, and fails when a case fails
#[derive(Debug, clap::Args)]
pub(crate) struct FuzzApi {
    /// Minimum number of cases per store; fewer are a failure
    #[arg(long, default_value_t = CASES)]
    cases: u64,
    /// The only store to fuzz; both by default
    #[arg(long)]
    store: Option<Store>,
    /// Time limit per store; 200 cases a minute are enough then
    #[arg(long)]
    minutes: Option<u64>,
    /// Few values per operation, as in `cargo xtask ci`
    #[arg(long, conflicts_with_all = ["cases", "minutes"])]
    short: bool,
    /// Seed of an earlier run, to repeat its cases
    #[arg(long)]
    seed: Option<u128>,
}

impl FuzzApi {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let programs = python::environment("schemathesis", REQUIREMENT).map_err(anyhow::Error::msg)?;
        let binary = service()?;
        for store in Store::selected(self.store) {
            let cases = self.run_on(store, &binary, &programs)?;
            println!("{store:?}: {cases} cases, nothing found");
        }
        Ok(())
    }

    /// Runs all phases and all checks on one store. Returns the number of cases.
    fn run_on(&self, store: Store, binary: &Path, programs: &Path) -> anyhow::Result<u64> {
        let service = DemoService::start(binary, store, &[])?;
        service.hold_comments(HELD_COMMENTS)?;
        let report = service.folder.path().join("report.json");
        let mut command = Command::new(programs.join("schemathesis"));
        // Schemathesis writes files into its working directory, which must not be the source tree.
        for file in ["schemathesis.toml", "hooks.py"] {
            std::fs::copy(root().join("tests/schemathesis").join(file), service.folder.path().join(file))?;
        }
        command.current_dir(service.folder.path());
        command.envs([("FUZZ_URL", &service.url), ("FUZZ_KEY", &service.key)]);
        command.env("PYTHONPATH", ".");
        command.arg("run").arg(format!("{}/api/external/openapi.json", service.url));
        command.arg("--header").arg(format!("X-Api-Key: {}", service.key));
        command.args(["--checks", "all", "--phases", "examples,coverage,fuzzing,stateful"]);
        command.args(["--max-examples", &self.cases_per_operation()?.to_string()]);
        command.args(["--no-color", "--report", "json", "--report-json-path"]).arg(&report);
        if let Some(minutes) = self.minutes {
            command.args(["--max-time", &(minutes * 60).to_string()]);
        }
        if let Some(seed) = self.seed {
            command.args(["--seed", &seed.to_string()]);
        }
        let status = command.status().context("schemathesis cannot be started")?;
        ensure!(status.success(), "{store:?}: schemathesis has found something, see above");
        let cases = cases(&report)?;
        let least = self.least();
        ensure!(cases >= least, "{store:?}: only {cases} cases were tried, {least} are asked for");
        Ok(cases)
    }

    /// Minimum number of cases of a successful run.
    fn least(&self) -> u64 {
        match self.minutes {
            _ if self.short => SHORT_CASES,
            Some(minutes) => self.cases.min(minutes * CASES_PER_MINUTE),
            None => self.cases,
        }
    }

    /// Random values per operation, so that the total reaches the minimum. Each value is at least one case. The
    /// number of stateful cases varies widely and is counted at the end.
    fn cases_per_operation(&self) -> anyhow::Result<u64> {
        if self.short { Ok(3) } else { Ok(self.cases.div_ceil(operations()?)) }
    }
}

/// Number of comments that wait for approval before a run. Each is approved once.
const HELD_COMMENTS: u32 = 2_000;

/// Number of operations in the document.
fn operations() -> anyhow::Result<u64> {
    let document: Value = serde_json::from_slice(&std::fs::read(root().join("docs/openapi.json"))?)?;
    let paths = document.get("paths").and_then(Value::as_object).context("the document has no paths")?;
    let operations = paths.values().filter_map(Value::as_object).map(|methods| methods.len()).sum::<usize>();
    ensure!(operations > 0, "the document has no operations");
    Ok(u64::try_from(operations)?)
}

/// Number of cases in a report.
fn cases(report: &Path) -> anyhow::Result<u64> {
    let report: Value = serde_json::from_slice(&std::fs::read(report).context("there is no report")?)?;
    let cases = report.pointer("/test_cases/generated").and_then(Value::as_u64);
    cases.context("the report has no number of cases")
}
