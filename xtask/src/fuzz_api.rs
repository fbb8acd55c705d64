//! `cargo xtask fuzz-api`: Schemathesis generates requests from the OpenAPI document and validates every response
//! against it, on each store.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use roadmap_testkit::{postgres, python};
use serde_json::Value;
use tempfile::TempDir;

use crate::postgres::Server;
use crate::run::{root, service};

/// Installed Python package.
const REQUIREMENT: &str = "schemathesis==4.32.5";

/// Minimum number of cases per store, of a full run and of a short one.
const CASES: u64 = 10_000;
const SHORT_CASES: u64 = 600;

/// Minimum number of cases per minute of a run with a time limit. Fewer mean that the service or the machine is
/// stuck.
const CASES_PER_MINUTE: u64 = 200;

/// Store of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Store {
    Sqlite,
    Postgres,
}

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
    seed: Option<u64>,
}

impl FuzzApi {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let programs = python::environment("schemathesis", REQUIREMENT).map_err(anyhow::Error::msg)?;
        let binary = service()?;
        for store in [Store::Sqlite, Store::Postgres] {
            if self.store.is_none_or(|only| only == store) {
                let cases = self.run_on(store, &binary, &programs)?;
                println!("{store:?}: {cases} cases, nothing found");
            }
        }
        Ok(())
    }

    /// Runs all phases and all checks on one store. Returns the number of cases.
    fn run_on(&self, store: Store, binary: &Path, programs: &Path) -> anyhow::Result<u64> {
        let server = (store == Store::Postgres).then(Server::find).transpose()?;
        let database = server.as_ref().map(|server| postgres::Database::empty(&server.url));
        let service = Service::start(binary, database.as_ref().map(|database| database.url.as_str()))?;
        hold_comments(&service, database.as_ref())?;
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

/// Adds comments that wait for approval. Only the portal's visitors submit them, and no operation does.
fn hold_comments(service: &Service, database: Option<&postgres::Database>) -> anyhow::Result<()> {
    let insert = |id: &str, at: &str| {
        format!(
            "INSERT INTO held_comments (workspace_id, id, request_id, customer_id, content, created_at)
             SELECT r.workspace_id, {id}, r.id, c.id, '<p>Please</p>', {at}
             FROM feature_requests r JOIN customers c ON c.workspace_id = r.workspace_id
             WHERE r.root_id IS NULL LIMIT {HELD_COMMENTS}"
        )
    };
    if let Some(database) = database {
        database.execute(&insert("gen_random_uuid()", "now()"));
        return Ok(());
    }
    let mut connection = SqliteConnection::establish(&service.folder.path().join("roadmap.db").display().to_string())?;
    connection.batch_execute(&format!("PRAGMA busy_timeout = 5000; {}", insert("randomblob(16)", "0")))?;
    Ok(())
}

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

/// Demo service with its own folder or database. Killed when dropped.
struct Service {
    process: Child,
    folder: TempDir,
    url: String,
    key: String,
}

impl Service {
    fn start(binary: &Path, database: Option<&str>) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let log = std::fs::File::create(folder.path().join("server.log"))?;
        let mut command = Command::new(binary);
        command.current_dir(folder.path()).args(["--data-dir", ".", "serve", "--demo", "--listen", "127.0.0.1:0"]);
        // Rate limits would block the fuzzer, and the mail is not read.
        command.envs([("ROADMAP_RATE_LIMIT", "off"), ("ROADMAP_RATE_LIMIT_FAILURES", "off")]);
        command.envs([("ROADMAP_MAIL_WORKER", "false"), ("ROADMAP_LOG", "warn")]);
        command.env("ROADMAP_SECRET", "a secret that only tests would ever use");
        if let Some(url) = database {
            command.env("ROADMAP_DATABASE_URL", url);
        }
        let mut process =
            command.stdout(Stdio::piped()).stderr(log).spawn().context("the service cannot be started")?;
        let output = BufReader::new(process.stdout.take().context("no output")?);
        let mut service = Self { process, folder, url: String::new(), key: String::new() };
        for line in output.lines() {
            let line = line?;
            if let Some((_, port)) = line.strip_prefix("Listening on ").and_then(|address| address.rsplit_once(':')) {
                service.url = format!("http://localhost:{port}");
            }
            if let Some(key) = line.strip_prefix("API key: ") {
                service.key = key.to_owned();
                return Ok(service);
            }
        }
        let log = std::fs::read_to_string(service.folder.path().join("server.log")).unwrap_or_default();
        bail!("the service did not start: {log}")
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
