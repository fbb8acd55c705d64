//! Processes of the service and its database server, started on empty data and measured through `/proc`.

use std::io::BufRead;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use diesel::connection::SimpleConnection;
use diesel::{Connection as _, SqliteConnection};
use roadmap_testkit::postgres::{self, Cluster};
use serde_json::Value;
use tempfile::TempDir;

use super::{Connection, block_on, fill};
use crate::process::{Process, ticks};
use crate::run::output;

pub(crate) const HOST: &str = "bench.localhost";

/// Service with its own folder or database server. Its process is killed when dropped, before they are.
pub(crate) struct Service {
    running: Option<(Process, u16)>,
    folder: TempDir,
    binary: PathBuf,
    /// Database server; none for SQLite.
    pub(crate) cluster: Option<Cluster>,
    /// API key of the workspace `bench`.
    pub(crate) key: String,
    /// The paths of the pages of feature requests.
    pub(crate) pages: Vec<String>,
    /// The header with the session of a member, for the pages of the admin panel.
    pub(crate) session: String,
}

impl Service {
    /// Creates the workspace `bench` with a member and an API key.
    pub(crate) fn new(binary: PathBuf, cluster: Option<Cluster>) -> anyhow::Result<Self> {
        let mut service = Self {
            running: None,
            folder: tempfile::tempdir()?,
            binary,
            cluster,
            key: String::new(),
            pages: Vec::new(),
            session: String::new(),
        };
        service.workspace("bench")?;
        service.key = service.api_key("bench")?.0;
        Ok(service)
    }

    /// Creates a workspace with a member.
    pub(crate) fn workspace(&self, name: &str) -> anyhow::Result<()> {
        let website = format!("https://{name}.example");
        self.roadmap(&["workspace", "create", name, "--product-name", name, "--website-url", &website])?;
        let address = format!("ann@{name}.example");
        self.roadmap(&["member", "add", "--workspace", name, "--email", &address, "--name", "Ann"]).map(drop)
    }

    /// Creates an API key for a workspace. Returns the key and its id.
    pub(crate) fn api_key(&self, workspace: &str) -> anyhow::Result<(String, String)> {
        let made = self.roadmap(&["api-key", "create", "--workspace", workspace, "--name", workspace])?;
        let field = |name: &str| made.get(name).and_then(Value::as_str).map(str::to_owned).context("no key");
        Ok((field("key")?, field("id")?))
    }

    /// Returns a command of the service on its data.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(self.folder.path()).args(["--data-dir", "."]);
        if let Some(cluster) = &self.cluster {
            command.args(["--database-url", &cluster.url()]);
            command.env("ROADMAP_SECRET", "benchmarks-0a9c4f17e6d2b8350c71fe94");
        }
        command
    }

    /// Runs a command of the service.
    pub(crate) fn roadmap(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let printed = output(self.command().args(arguments).arg("--json"), "roadmap")?;
        serde_json::from_slice(&printed).context("roadmap printed no JSON")
    }

    /// Starts the service with these environment variables. Returns the time until the first response.
    pub(crate) fn start(&mut self, environment: &[(&str, &str)]) -> anyhow::Result<Duration> {
        let log = std::fs::File::create(self.folder.path().join("server.log"))?;
        let began = Instant::now();
        let mut command = self.command();
        command.envs(environment.iter().copied());
        command.args(["serve", "--listen", "127.0.0.1:0"]).stderr(log);
        let (process, mut output) = Process::start(&mut command, "the service")?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        drop(output);
        let port = line.trim().rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let port = port.with_context(|| format!("the service did not start: {line}"))?;
        self.running = Some((process, port));
        let status = block_on(async { self.connect().await?.send("GET", "/tracks", "").await })?;
        ensure!(status == 200, "the first request returned {status}");
        Ok(began.elapsed())
    }

    /// Stops the process.
    pub(crate) fn stop(&mut self) {
        self.running = None;
    }

    /// Port that it listens on.
    pub(crate) fn port(&self) -> anyhow::Result<u16> {
        self.running.as_ref().map(|(_, port)| *port).context("the service is not running")
    }

    /// The running process.
    pub(crate) fn process(&self) -> anyhow::Result<&Process> {
        self.running.as_ref().map(|(process, _)| process).context("the service is not running")
    }

    /// Opens a connection with the key.
    pub(crate) async fn connect(&self) -> anyhow::Result<Connection> {
        Connection::open(self.port()?, HOST, &self.key).await
    }

    /// Sends requests with these numbers over several connections with the key.
    pub(crate) async fn fill(
        &self,
        numbers: Range<u64>,
        send: impl AsyncFn(&mut Connection, u64) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        fill(async |_| self.connect().await, numbers, send).await
    }

    /// User and system processor time of the service with all its threads, and of the database server with all its
    /// processes.
    pub(crate) fn cpu(&self) -> anyhow::Result<[Duration; 2]> {
        let of_service = ticks(self.process()?.id(), 2)?;
        let mut of_server = 0;
        if let Some(server) = self.cluster.as_ref().and_then(Cluster::process_id) {
            // For the main process including its terminated children.
            of_server += ticks(server, 4)?;
            let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"))?;
            for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
                // A child that has exited since is accounted to the main process.
                of_server += ticks(child, 2).unwrap_or(0);
            }
        }
        Ok([of_service, of_server].map(|ticks| Duration::from_millis(ticks * 10)))
    }

    /// The folder of its data.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// File of the embedded database.
    fn database_file(&self) -> PathBuf {
        self.folder().join("roadmap.db")
    }

    /// Size of the database in megabytes.
    pub(crate) fn database_mb(&self) -> anyhow::Result<f64> {
        #[expect(clippy::cast_precision_loss)]
        let bytes = match &self.cluster {
            Some(_) => self.sql("SELECT pg_database_size(current_database())")?.parse()?,
            None => std::fs::metadata(self.database_file())?.len() as f64,
        };
        Ok(bytes / 1024.0 / 1024.0)
    }

    /// Runs statements on the database server or the file.
    pub(crate) fn execute(&self, statements: &str) -> anyhow::Result<()> {
        match &self.cluster {
            Some(cluster) => drop(postgres::execute(&cluster.url(), statements)?),
            None => {
                let file = self.database_file().display().to_string();
                SqliteConnection::establish(&file)?.batch_execute(statements)?;
            }
        }
        Ok(())
    }

    /// Returns the single value of a query on the database server.
    pub(crate) fn sql(&self, query: &str) -> anyhow::Result<String> {
        let cluster = self.cluster.as_ref().context("there is no database server")?;
        let rows = postgres::execute(&cluster.url(), query)?;
        rows.into_iter().flatten().flatten().next().context("the query gave nothing")
    }
}
