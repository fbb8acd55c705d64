//! The service with its demo, for programs that test it from outside.

use std::io::BufRead;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use roadmap_testkit::postgres;
use tempfile::TempDir;

use crate::postgres::Server;
use crate::process::Process;
use crate::store::Store;

/// Demo service with its own folder or database. Killed when dropped.
pub(crate) struct DemoService {
    pub(crate) process: Process,
    /// Working directory and data of the service.
    pub(crate) folder: TempDir,
    /// URL of the workspace.
    pub(crate) url: String,
    /// API key of the workspace.
    pub(crate) key: String,
    /// Database of the service; none for SQLite.
    pub(crate) database: Option<postgres::Database>,
    /// Database server. It is stopped after the database has been deleted.
    _server: Option<Server>,
}

impl DemoService {
    /// Starts the service without rate limits, with further settings.
    pub(crate) fn start(binary: &Path, store: Store, settings: &[(&str, &str)]) -> anyhow::Result<Self> {
        let server = (store == Store::Postgres).then(Server::find).transpose()?;
        let database = server.as_ref().map(|server| postgres::Database::empty(&server.url));
        let folder = tempfile::tempdir()?;
        let log = std::fs::File::create(folder.path().join("server.log"))?;
        let mut command = Command::new(binary);
        command.current_dir(folder.path()).args(["--data-dir", ".", "serve", "--demo", "--listen", "127.0.0.1:0"]);
        // Rate limits would block the tests, and the mail is not read.
        command.envs([("ROADMAP_RATE_LIMIT", "off"), ("ROADMAP_RATE_LIMIT_FAILURES", "off")]);
        command.env("ROADMAP_RATE_LIMIT_WORKSPACE", "off");
        command.envs([("ROADMAP_MAIL_WORKER", "false"), ("ROADMAP_LOG", "warn")]);
        command.env("ROADMAP_SECRET", "a secret that only tests would ever use").envs(settings.iter().copied());
        if let Some(database) = &database {
            command.env("ROADMAP_DATABASE_URL", &database.url);
        }
        let (process, output) = Process::start(command.stderr(log), "the service")?;
        let (url, key) = (String::new(), String::new());
        let mut service = Self { process, folder, url, key, database, _server: server };
        for line in output.lines() {
            let line = line?;
            if let Some((_, port)) = line.strip_prefix("Serving ").and_then(|served| served.rsplit_once(':')) {
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

    /// Adds comments that wait for approval, older than all others. Only the portal's visitors submit them, and no
    /// operation does.
    pub(crate) fn hold_comments(&self, number: u32) -> anyhow::Result<()> {
        let insert = |id: &str, at: &str| {
            format!(
                "INSERT INTO held_comments (workspace_id, id, request_id, customer_id, content, created_at)
                 SELECT r.workspace_id, {id}, r.id, c.id, '<p>Please</p>', {at}
                 FROM feature_requests r JOIN customers c ON c.workspace_id = r.workspace_id
                 WHERE r.root_id IS NULL LIMIT {number}"
            )
        };
        if let Some(database) = &self.database {
            database.execute(&insert("gen_random_uuid()", "to_timestamp(0)"));
            return Ok(());
        }
        let mut connection = SqliteConnection::establish(&self.folder.path().join("roadmap.db").display().to_string())?;
        connection.batch_execute(&format!("PRAGMA busy_timeout = 5000; {}", insert("randomblob(16)", "0")))?;
        Ok(())
    }

    /// Port that it listens on.
    pub(crate) fn port(&self) -> anyhow::Result<u16> {
        self.url.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).context("no port")
    }
}
