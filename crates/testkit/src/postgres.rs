//! PostgreSQL for tests: an existing or a temporary server, and databases that are copied from a template, which takes a
//! tenth of a second on a server in memory.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use tempfile::TempDir;
use tokio_postgres::{NoTls, SimpleQueryMessage};

use crate::fail_fast;

/// The environment variable with the server for tests, as the URL of a superuser.
pub const SERVER_VARIABLE: &str = "TEST_DATABASE_URL";

/// Prefix of the names of test databases. The id of the process that created the database follows.
const PREFIX: &str = "roadmap_test_";

/// Prefix of the folders of test servers. The id of the process that created the server follows.
const FOLDER: &str = "roadmap-postgres-";

/// How long a server may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The URL of the server in [`SERVER_VARIABLE`].
///
/// # Panics
/// When the variable is not set, because the test needs PostgreSQL.
#[must_use]
pub fn server() -> String {
    #[expect(clippy::disallowed_methods, reason = "the server for tests is not a setting of the service")]
    let url = std::env::var(SERVER_VARIABLE);
    url.unwrap_or_else(|_| {
        panic!("{SERVER_VARIABLE} is not set; `cargo xtask test` finds or starts a PostgreSQL server and sets it")
    })
}

/// A database. Dropping it deletes the database and closes open connections to it.
pub struct Database {
    server: String,
    name: String,
    pub url: String,
}

impl Database {
    /// Creates an empty database.
    #[must_use]
    pub fn empty(server: &str) -> Self {
        Self::create(server, "template0")
    }

    /// Copies this database, which must have no open connections.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self::create(&self.server, &self.name)
    }

    fn create(server: &str, template: &str) -> Self {
        fail_fast::check();
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        if number == 0 {
            delete_old_databases(server);
        }
        let name = format!("{PREFIX}{}_{number}", std::process::id());
        execute(server, &format!("CREATE DATABASE {name} TEMPLATE {template}")).expect("a database");
        Self { server: server.to_owned(), url: database_url(server, &name), name }
    }

    /// Runs statements as a superuser, who bypasses row-level security.
    ///
    /// # Panics
    /// When one fails.
    pub fn execute(&self, statements: &str) {
        execute(&self.url, statements).expect("the statements run");
    }

    /// Runs a query as a superuser and returns its rows as text. `NULL` is `None`.
    ///
    /// # Panics
    /// When the query fails.
    #[must_use]
    pub fn rows(&self, query: &str) -> Vec<Vec<Option<String>>> {
        execute(&self.url, query).expect("rows")
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        fail_fast::record_failure();
        // The server may have stopped already.
        let _ = execute(&self.server, &format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

/// Deletes orphaned databases, whose processes have ended.
fn delete_old_databases(server: &str) {
    let all = execute(server, "SELECT datname FROM pg_database").expect("the databases");
    for name in all.into_iter().flatten().flatten() {
        let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).map(|(process, _)| process);
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another process may delete it at the same time.
            let _ = execute(server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        }
    }
}

/// The URL of another database of the same server.
fn database_url(server: &str, name: &str) -> String {
    let (scheme, rest) = server.split_once("://").expect("a URL");
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let query = path.split_once('?').map_or(String::new(), |(_, query)| format!("?{query}"));
    format!("{scheme}://{authority}/{name}{query}")
}

/// Runs statements on a new connection and returns all rows as text. Asynchronous code may call it too, because it runs
/// on a separate thread.
///
/// # Errors
/// Those of the server.
pub fn execute(url: &str, statements: &str) -> Result<Vec<Vec<Option<String>>>, tokio_postgres::Error> {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
            let driver = tokio::spawn(connection);
            let messages = client.simple_query(statements).await;
            drop(client);
            let _ = driver.await;
            Ok(messages?
                .into_iter()
                .filter_map(|message| match message {
                    SimpleQueryMessage::Row(row) => {
                        Some((0..row.len()).map(|column| row.get(column).map(ToOwned::to_owned)).collect())
                    }
                    _ => None,
                })
                .collect())
        })
    };
    std::thread::scope(|scope| scope.spawn(run).join().expect("no panic"))
}

/// A persistent connection, which can hold a transaction open.
pub struct Connection {
    runtime: tokio::runtime::Runtime,
    client: tokio_postgres::Client,
}

impl Connection {
    /// Connects. Must not be called from asynchronous code.
    ///
    /// # Panics
    /// When the server cannot be reached.
    #[must_use]
    pub fn open(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls)).expect("a connection");
        runtime.spawn(connection);
        Self { runtime, client }
    }

    /// Runs statements.
    ///
    /// # Panics
    /// When one fails.
    pub fn execute(&self, statements: &str) {
        self.runtime.block_on(self.client.batch_execute(statements)).expect("the statements run");
    }
}

/// Durability of a test server's commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Commits wait for the disk, as in production.
    Full,
    /// Commits do not wait for the disk. They survive a crash of the server, but not of the machine.
    None,
}

/// A temporary server with its data and socket in a temporary folder, on a free port of the loopback interface. Dropping
/// it stops the server.
pub struct Cluster {
    binaries: PathBuf,
    folder: TempDir,
    port: u16,
    durability: Durability,
    user: Option<(u32, u32)>,
    has_certificate: bool,
    running: Option<Child>,
}

/// The in-memory folder of the machine, if it has enough free space for a server. Creating and dropping databases is many
/// times faster there than on a disk.
fn memory_folder() -> Option<&'static Path> {
    const ENOUGH: u64 = 4 << 30;
    let folder = Path::new("/dev/shm");
    let status = rustix::fs::statvfs(folder).ok()?;
    (status.f_bavail.saturating_mul(status.f_frsize) >= ENOUGH).then_some(folder)
}

/// Removes orphaned folders, whose processes were killed.
fn delete_old_folders(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let creator = name.strip_prefix(FOLDER).and_then(|rest| rest.split('-').next()?.parse().ok());
        if creator.is_some_and(|process| !is_running(process)) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Cluster {
    /// Creates a server and starts it.
    ///
    /// # Errors
    /// One sentence: there are no server binaries, or they fail.
    pub fn start(durability: Durability) -> Result<Self, String> {
        Self::start_on(durability, |_| Ok(()))
    }

    /// As [`Self::start`]. `prepare` gets the empty folder of the data, for example to mount a disk on it.
    ///
    /// # Errors
    /// As for [`Self::start`], and those of `prepare`.
    pub fn start_on(
        durability: Durability,
        prepare: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> Result<Self, String> {
        let binaries = binaries().ok_or("there are no PostgreSQL server binaries on this machine")?;
        let memory = (durability == Durability::None).then(memory_folder).flatten();
        // Orphaned folders there take memory until the machine is restarted.
        memory.into_iter().for_each(delete_old_folders);
        let folder = memory.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let name = format!("{FOLDER}{}-", std::process::id());
        let folder = tempfile::Builder::new().prefix(&name).tempdir_in(folder).map_err(|error| error.to_string())?;
        let data = folder.path().join("data");
        std::fs::create_dir(&data).and_then(|()| prepare(&data)).map_err(|error| error.to_string())?;
        // PostgreSQL refuses to run as root.
        let user = (id("-u", None)? == 0).then(unprivileged).transpose()?;
        if let Some((user, group)) = user {
            for folder in [folder.path(), &data] {
                std::os::unix::fs::chown(folder, Some(user), Some(group)).map_err(|error| error.to_string())?;
            }
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.map_err(|error| error.to_string())?.port();
        let mut cluster = Self { binaries, folder, port, durability, user, has_certificate: false, running: None };
        let mut initdb = cluster.command("initdb");
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]);
        let made = initdb.arg("-D").arg(&data).output().map_err(|error| format!("initdb: {error}"))?;
        if !made.status.success() {
            return Err(format!("initdb failed: {}", String::from_utf8_lossy(&made.stderr)));
        }
        cluster.restart()?;
        Ok(cluster)
    }

    /// Starts or restarts the server and waits until it accepts connections.
    ///
    /// # Errors
    /// The server does not start in time; with its log.
    pub fn restart(&mut self) -> Result<(), String> {
        let folder = self.folder.path();
        let log = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("server.log"));
        let log = log.map_err(|error| error.to_string())?;
        let mut server = self.command("postgres");
        server.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
        server.args(["-h", "127.0.0.1", "-p", &self.port.to_string()]);
        let durability_settings: &[&str] = match self.durability {
            Durability::Full => &["max_wal_size=2GB"],
            // Small, because the write-ahead log may be in memory.
            Durability::None => &["max_wal_size=256MB", "fsync=off", "full_page_writes=off"],
        };
        for setting in ["max_connections=300", "shared_buffers=512MB"].iter().chain(durability_settings) {
            server.args(["-c", setting]);
        }
        if self.has_certificate {
            server.args(["-c", "ssl=on"]);
        }
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.running = Some(server.spawn().map_err(|error| format!("postgres: {error}"))?);
        let began = Instant::now();
        while execute(&self.url(), "SELECT 1").is_err() {
            if began.elapsed() > START_TIMEOUT {
                let log = std::fs::read_to_string(self.folder.path().join("server.log")).unwrap_or_default();
                return Err(format!("the PostgreSQL server does not start: {log}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Restarts the server with a certificate and its key, both in PEM, so that it accepts TLS connections.
    ///
    /// # Errors
    /// The server does not start.
    pub fn encrypt(&mut self, certificate: &str, key: &str) -> Result<(), String> {
        for (name, content) in [("server.crt", certificate), ("server.key", key)] {
            let file = self.folder.path().join("data").join(name);
            std::fs::write(&file, content).map_err(|error| error.to_string())?;
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&file, private).map_err(|error| error.to_string())?;
            if let Some((user, group)) = self.user {
                std::os::unix::fs::chown(&file, Some(user), Some(group)).map_err(|error| error.to_string())?;
            }
        }
        self.has_certificate = true;
        self.kill();
        self.restart()
    }

    /// Kills all processes of the server, as `kill -9` does, and waits until they have ended: a restart needs their socket
    /// and shared memory.
    pub fn kill(&mut self) {
        let Some(mut server) = self.running.take() else { return };
        // A stopped server has no new children. Those that remain might wait for ever for the lock of one that ended.
        send(server.id(), Signal::STOP);
        let children = children(server.id());
        let _ = server.kill();
        children.iter().for_each(|child| send(*child, Signal::KILL));
        let _ = server.wait();
        let began = Instant::now();
        while children.iter().any(|child| is_running(*child)) && began.elapsed() < START_TIMEOUT {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = std::fs::remove_file(self.folder.path().join("data/postmaster.pid"));
    }

    /// The URL of the superuser.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// The port on the loopback interface.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The id of the server's main process.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.running.as_ref().map(Child::id)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        command.current_dir(self.folder.path()).env("HOME", self.folder.path()).env("LC_ALL", "C.UTF-8");
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(server) = &mut self.running {
            // SIGQUIT is "immediate shutdown": it also stops the children. The data is not needed any more.
            let quit = Command::new("kill").args(["-QUIT", &server.id().to_string()]).status();
            if quit.is_err() {
                let _ = server.kill();
            }
            let _ = server.wait();
        }
    }
}

/// The folder with the PostgreSQL server programs.
#[must_use]
pub fn binaries() -> Option<PathBuf> {
    folders().into_iter().find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

/// The path of a PostgreSQL program.
#[must_use]
pub fn program(name: &str) -> Option<PathBuf> {
    folders().into_iter().map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Folders that may contain PostgreSQL's programs: those of `PATH`, that of `pg_config`, and those of distributions.
fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
        folders.push(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    }
    // Debian and derivatives, Red Hat and derivatives, Homebrew, built from source.
    for parent in ["/usr/lib/postgresql", "/usr", "/opt/homebrew/opt", "/usr/local"] {
        let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
        let mut versions: Vec<PathBuf> = entries.map(|entry| entry.path().join("bin")).collect();
        versions.sort();
        folders.extend(versions.into_iter().rev());
    }
    folders
}

/// The ids of an unprivileged user and its group that can run a server.
fn unprivileged() -> Result<(u32, u32), String> {
    for user in ["postgres", "nobody"] {
        if let (Ok(user), Ok(group)) = (id("-u", Some(user)), id("-g", Some(user))) {
            return Ok((user, group));
        }
    }
    Err("PostgreSQL refuses to run as root, and there is neither a user postgres nor a user nobody".to_owned())
}

fn id(what: &str, user: Option<&str>) -> Result<u32, String> {
    let output = Command::new("id").arg(what).args(user).stderr(Stdio::null()).output();
    let output = output.map_err(|error| format!("id: {error}"))?;
    String::from_utf8_lossy(&output.stdout).trim().parse().map_err(|_| "there is no such user".to_owned())
}

fn send(process: u32, signal: Signal) {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    let _ = process.map(|process| rustix::process::kill_process(process, signal));
}

fn children(process: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    children.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// Whether a process is running. A zombie counts as ended.
pub(crate) fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
}
