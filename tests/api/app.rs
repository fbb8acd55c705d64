//! Starts the service and its commands, and sends requests to it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use roadmap_testkit::fail_fast;
use serde_json::Value;

use crate::database::{Data, url_for};
use crate::document::{self, Exchange};

/// Base URL host of all tests. It need not resolve: clients connect to the port and send this host.
pub const BASE_HOST: &str = "roadmap.example.com";

/// Secret of all servers unless a test sets another one.
pub const SECRET: &str = "a secret that only tests would ever use";

/// Longest wait for something that should happen at once.
pub const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// Running service with the workspace `acme`, an API key for it and its oldest member Olga.
pub struct App {
    server: Option<Server>,
    /// Data of the server.
    pub data: Data,
    flags: Vec<String>,
    environment: Vec<(String, String)>,
    /// Client with the API key of `acme`.
    pub acme: Client,
}

/// Data with the workspace `acme`, created once and copied for every test.
struct Template {
    data: Data,
    key: String,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let data = Data::empty();
    let run = |arguments: &[&str]| run(data.path(), arguments, &[]).json();
    run(&["workspace", "create", "acme", "--product-name", "Acme", "--website-url", "https://acme.example"]);
    run(&["member", "add", "--workspace", "acme", "--email", "olga@acme.example", "--name", "Olga"]);
    // Tests count the sign-ins that they start themselves.
    data.execute("DELETE FROM sign_ins");
    let scopes = ["--scope", "read", "--scope", "write", "--scope", "manage"];
    let key = run(&[&["api-key", "create", "--workspace", "acme", "--name", "tests"][..], &scopes].concat());
    Template { key: key["key"].as_str().expect("a key").to_owned(), data }
});

impl App {
    /// Starts a service with default settings.
    pub fn start() -> Self {
        Self::with(&[], &[])
    }

    /// Starts a service with additional flags and environment variables.
    pub fn with(flags: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut app = Self {
            server: None,
            data: TEMPLATE.data.copy(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            environment: environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            acme: Client::new(0, "acme", &TEMPLATE.key),
        };
        app.restart();
        app
    }

    /// Starts or restarts the server on the same data.
    pub fn restart(&mut self) {
        let server = Server::start(self.data_dir(), &self.flags, &self.environment);
        self.acme = Client { port: server.port, ..self.acme.clone() };
        self.server = Some(server);
    }

    /// Restarts the server on the same data and on this port.
    pub fn restart_at(&mut self, port: u16) {
        self.flags.extend(["--listen".to_owned(), format!("127.0.0.1:{port}")]);
        self.restart();
    }

    /// Replaces the environment of the next server.
    pub fn set_environment(&mut self, environment: &[(&str, &str)]) {
        self.environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    }

    /// Kills the server (SIGKILL).
    pub fn kill(&mut self) {
        drop(self.server.take());
    }

    /// Reads the next line of standard output after the first one.
    pub fn next_line(&mut self) -> String {
        let mut line = String::new();
        self.server.as_mut().expect("a running server").stdout.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// Port of the server.
    pub fn port(&self) -> u16 {
        self.server.as_ref().expect("a running server").port
    }

    /// Process id of the server.
    pub fn process_id(&self) -> u32 {
        self.server.as_ref().expect("a running server").process_id()
    }

    /// Asserts by the log that no response had a status of 5xx and that nothing panicked. The log must contain a
    /// successful response, so that a changed log format cannot hide failures.
    #[track_caller]
    pub fn has_logged_no_failure(&self) {
        let log = std::fs::read_to_string(self.data_dir().join("server.log")).expect("a log");
        assert!(log.contains("status=200"), "no response is logged: {log}");
        assert!(!log.contains("status=5") && !log.contains("panicked at"), "{log}");
    }

    /// Waits until the server exits.
    pub fn wait_for_exit(&mut self) -> std::process::ExitStatus {
        let server = self.server.as_mut().expect("a running server");
        let started = Instant::now();
        loop {
            if let Some(status) = server.child.try_wait().expect("the process") {
                return status;
            }
            assert!(started.elapsed() < WAIT_LIMIT, "the server goes on running");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Data directory of the server.
    pub fn data_dir(&self) -> &Path {
        self.data.path()
    }

    /// Returns a client for another workspace and API key.
    pub fn client(&self, subdomain: &str, key: &str) -> Client {
        Client::new(self.port(), subdomain, key)
    }

    /// Creates a workspace with an API key while the server runs.
    pub fn workspace(&self, subdomain: &str) -> Client {
        let website = "https://elsewhere.example";
        self.roadmap(&["workspace", "create", subdomain, "--product-name", subdomain, "--website-url", website]).json();
        self.client(subdomain, &self.key(subdomain, &[]))
    }

    /// Creates an API key while the server runs.
    pub fn key(&self, subdomain: &str, flags: &[&str]) -> String {
        let arguments = ["api-key", "create", "--workspace", subdomain, "--name", "another"];
        let key = self.roadmap(&[&arguments[..], flags].concat()).json();
        key["key"].as_str().expect("a key").to_owned()
    }

    /// Runs a command of the binary on the server's data, with `--json`.
    pub fn roadmap(&self, arguments: &[&str]) -> Finished {
        run(self.data_dir(), arguments, &[])
    }

    /// Runs a successful command in the server's environment and returns its text output.
    pub fn roadmap_as_text(&self, arguments: &[&str]) -> String {
        let environment: Vec<(&str, &str)> =
            self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let finished = self.roadmap_with_environment(arguments, &environment);
        assert!(finished.success, "{}", finished.stderr);
        finished.stdout
    }

    /// Runs a command of the binary on the server's data, without `--json`.
    pub fn roadmap_with_environment(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Finished {
        finished(roadmap_command(self.data_dir()).args(arguments).envs(environment.iter().copied()))
    }

    /// Starts a worker on the server's data and waits until it is ready.
    pub fn worker(&self, environment: &[(&str, &str)]) -> Worker {
        let mut command = roadmap_command(self.data_dir());
        command.args(["--base-url", &format!("https://{BASE_HOST}"), "worker"]).envs(environment.iter().copied());
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the worker starts");
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("its output"));
        stdout.read_line(&mut line).expect("its first line");
        assert!(line.starts_with("Sending mail by "), "{line}");
        Worker(child)
    }

    /// Sends SIGTERM to the server.
    pub fn terminate(&self) {
        terminate(self.process_id());
    }

    /// Runs a query directly on the database and returns the first column as text.
    pub fn sql(&self, query: &str) -> Vec<String> {
        self.data.rows(query)
    }

    /// Returns the number that a query selects.
    pub fn count(&self, query: &str) -> i64 {
        self.sql(query)[0].parse().expect("a number")
    }

    /// Returns the id of a track of `acme`.
    pub fn track(&self, name: &str) -> String {
        let tracks = self.acme.get_tracks().json();
        let tracks = tracks["tracks"].as_array().expect("tracks").clone();
        let track = tracks.iter().find(|track| track["name"] == name).expect("the track");
        track["id"].as_str().expect("an id").to_owned()
    }
}

/// Result of a command that has exited.
pub struct Finished {
    pub success: bool,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// Parses the output of a successful command.
    pub fn json(&self) -> Value {
        assert!(self.success, "{}", self.stderr);
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// Returns a command of the binary on these data, with the settings of all tests.
pub fn roadmap_command(data_dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roadmap"));
    // Settings in the environment of the tests do not reach the service.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ROADMAP_")) {
        command.env_remove(name);
    }
    if let Some(url) = url_for(data_dir) {
        // Small pools, so that an operation that waits for a second connection while it holds one hangs here.
        command.envs([("ROADMAP_DATABASE_URL", url.as_str()), ("ROADMAP_POOL_SIZE", "2")]);
        // On a busy machine a connection or a statement takes seconds. Tests of these limits set their own.
        command.envs([("ROADMAP_READ_WAIT", "20s"), ("ROADMAP_STATEMENT_TIMEOUT", "20s")]);
    }
    // Rate limits are off. Tests of rate limits set their own.
    for limit in ["", "_WORKSPACE", "_FAILURES", "_ANONYMOUS", "_SIGN_IN", "_POSTS"] {
        command.env(format!("ROADMAP_RATE_LIMIT{limit}"), "off");
    }
    // Tests of connections wait until idle ones are closed.
    command.env("ROADMAP_KEEP_ALIVE", "5s");
    command.env("ROADMAP_SECRET", SECRET);
    command.current_dir(data_dir).args(["--data-dir", "."]).env("RUST_BACKTRACE", "0");
    command
}

/// Returns all files below a folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Sends SIGTERM to a process.
fn terminate(process: u32) {
    let killed = Command::new("kill").arg(process.to_string()).status().expect("kill runs");
    assert!(killed.success());
}

/// Worker process that sends mail. Killed when dropped.
pub struct Worker(Child);

impl Worker {
    /// Sends SIGTERM and waits for the exit.
    pub fn stop(mut self) -> std::process::ExitStatus {
        terminate(self.0.id());
        self.0.wait().expect("the process")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn finished(command: &mut Command) -> Finished {
    let output = command.output().expect("the binary runs");
    Finished {
        success: output.status.success(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Runs a command of the binary with `--json`.
pub fn run(data_dir: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Finished {
    let mut command = roadmap_command(data_dir);
    command.args(["--base-url", &format!("https://{BASE_HOST}")]).args(arguments).arg("--json");
    finished(command.envs(environment.iter().copied()))
}

/// Runs a process that must refuse to start, and returns its standard error. A process that starts is killed and
/// fails the test.
#[track_caller]
pub fn refusal(data_dir: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = roadmap_command(data_dir);
    command.args(arguments).envs(environment.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().expect("its output"));
    stdout.read_line(&mut first).expect("a line or the end");
    let _ = child.kill();
    let output = child.wait_with_output().expect("the process");
    assert_eq!(first, "", "{arguments:?} {environment:?} has started");
    String::from_utf8(output.stderr).expect("text")
}

/// Sets a stop flag when dropped, so that other threads stop even after a panic.
pub struct StopOnDrop<'a>(pub &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Server process. Killed when dropped.
pub struct Server {
    child: Child,
    log: PathBuf,
    /// Port that it listens on.
    pub port: u16,
    /// Standard output after the first line.
    pub stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server and waits until it listens.
    pub fn start(data_dir: &Path, flags: &[String], environment: &[(String, String)]) -> Self {
        fail_fast::check();
        let base_url = format!("https://{BASE_HOST}");
        let mut arguments: Vec<&str> = vec!["serve"];
        if !flags.iter().any(|flag| flag == "--listen") {
            arguments.extend(["--listen", "127.0.0.1:0"]);
        }
        if !flags.iter().any(|flag| flag == "--base-url") {
            arguments.extend(["--base-url", &base_url]);
        }
        let log = data_dir.join("server.log");
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&log).expect("a log file");
        let mut child = roadmap_command(data_dir)
            .args(arguments)
            .args(flags)
            .envs(environment.iter().cloned())
            .stdout(Stdio::piped())
            .stderr(file)
            .spawn()
            .expect("the server starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("its first line");
        let port = line.trim().rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let Some(port) = port else {
            panic!("the server did not start: {line}{}", std::fs::read_to_string(&log).unwrap_or_default())
        };
        Self { child, log, port, stdout }
    }
}

impl Server {
    /// Process id.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM and returns the rest of standard output.
    pub fn stop(mut self) -> String {
        terminate(self.process_id());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("text");
        rest
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        fail_fast::record_failure();
        if std::thread::panicking() {
            let log = std::fs::read_to_string(&self.log).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("--- the server's last lines\n{}", lines[lines.len().saturating_sub(30)..].join("\n"));
        }
    }
}

/// Client with an optional API key. Methods are named after endpoints.
#[derive(Clone)]
pub struct Client {
    pub port: u16,
    pub host: String,
    pub key: Option<String>,
}

impl Client {
    fn new(port: u16, subdomain: &str, key: &str) -> Self {
        Self { port, host: format!("{subdomain}.{BASE_HOST}"), key: Some(key.to_owned()) }
    }

    pub fn get_setting(&self) -> Response {
        self.get("/api/external/v1/setting")
    }

    pub fn patch_setting(&self, body: &Value) -> Response {
        self.send("PATCH", "/api/external/v1/setting", body)
    }

    pub fn put_setting(&self, body: &Value) -> Response {
        self.send("PUT", "/api/external/v1/setting", body)
    }

    pub fn get_portal(&self) -> Response {
        self.get("/api/external/v1/portal")
    }

    pub fn patch_portal(&self, body: &Value) -> Response {
        self.send("PATCH", "/api/external/v1/portal", body)
    }

    pub fn get_held_posts(&self, query: &str) -> Response {
        self.get(&format!("/api/external/v1/held_posts?{query}"))
    }

    pub fn approve_feature_request(&self, id: &str) -> Response {
        self.send("POST", &format!("/api/external/v1/feature_requests/{id}/approve"), &serde_json::json!({}))
    }

    pub fn decline_feature_request(&self, id: &str) -> Response {
        self.send("POST", &format!("/api/external/v1/feature_requests/{id}/decline"), &serde_json::json!({}))
    }

    pub fn need_no_answer(&self, id: &str) -> Response {
        self.send("POST", &format!("/api/external/v1/feature_requests/{id}/no_answer_needed"), &serde_json::json!({}))
    }

    pub fn approve_comment(&self, id: &str) -> Response {
        self.send("POST", &format!("/api/external/v1/comments/{id}/approve"), &serde_json::json!({}))
    }

    pub fn get_synonyms(&self) -> Response {
        self.get("/api/external/v1/synonyms")
    }

    pub fn put_synonyms(&self, body: &Value) -> Response {
        self.send("PUT", "/api/external/v1/synonyms", body)
    }

    pub fn get_votes(&self, query: &str) -> Response {
        self.get(&format!("/api/external/v1/votes?{query}"))
    }

    pub fn get_feature_requests(&self, query: &str) -> Response {
        self.get(&format!("/api/external/v1/feature_requests?{query}"))
    }

    pub fn post_feature_request(&self, body: &Value) -> Response {
        self.send("POST", "/api/external/v1/feature_requests", body)
    }

    pub fn post_upvote(&self, id: &str, body: &Value) -> Response {
        self.send("POST", &format!("/api/external/v1/feature_requests/{id}/upvotes"), body)
    }

    pub fn post_comment(&self, id: &str, body: &Value) -> Response {
        self.send("POST", &format!("/api/external/v1/feature_requests/{id}/comments"), body)
    }

    pub fn patch_track(&self, id: &str, body: &Value) -> Response {
        self.send("PATCH", &format!("/api/external/v1/feature_requests/{id}/track"), body)
    }

    pub fn get_voters(&self, id: &str, query: &str) -> Response {
        self.get(&format!("/api/external/v1/feature_requests/{id}/voters?{query}"))
    }

    pub fn get_tracks(&self) -> Response {
        self.get("/api/external/v1/tracks")
    }

    pub fn get_feature_request(&self, id: &str) -> Response {
        self.get(&format!("/api/external/v1/feature_requests/{id}"))
    }

    pub fn patch_feature_request(&self, id: &str, body: &Value) -> Response {
        self.send("PATCH", &format!("/api/external/v1/feature_requests/{id}"), body)
    }

    pub fn delete_feature_request(&self, id: &str, query: &str) -> Response {
        self.delete(&format!("/api/external/v1/feature_requests/{id}?{query}"))
    }

    pub fn post_merge(&self, id: &str, body: &Value) -> Response {
        self.send("POST", &format!("/api/external/v1/feature_requests/{id}/merge"), body)
    }

    pub fn post_unmerge(&self, id: &str, body: &Value) -> Response {
        self.send("POST", &format!("/api/external/v1/feature_requests/{id}/unmerge"), body)
    }

    pub fn delete_upvote(&self, id: &str, query: &str) -> Response {
        self.delete(&format!("/api/external/v1/feature_requests/{id}/upvotes?{query}"))
    }

    pub fn get_comments(&self, id: &str, query: &str) -> Response {
        self.get(&format!("/api/external/v1/feature_requests/{id}/comments?{query}"))
    }

    pub fn patch_comment(&self, id: &str, body: &Value) -> Response {
        self.send("PATCH", &format!("/api/external/v1/comments/{id}"), body)
    }

    pub fn delete_comment(&self, id: &str) -> Response {
        self.delete(&format!("/api/external/v1/comments/{id}"))
    }

    pub fn get_reference_notes(&self, id: &str, query: &str) -> Response {
        self.get(&format!("/api/external/v1/feature_requests/{id}/reference_notes?{query}"))
    }

    pub fn delete_reference_note(&self, id: &str) -> Response {
        self.delete(&format!("/api/external/v1/reference_notes/{id}"))
    }

    pub fn get_links(&self, id: &str, query: &str) -> Response {
        self.get(&format!("/api/external/v1/feature_requests/{id}/links?{query}"))
    }

    pub fn post_link(&self, id: &str, body: &Value) -> Response {
        self.send("POST", &format!("/api/external/v1/feature_requests/{id}/links"), body)
    }

    pub fn patch_link(&self, id: &str, body: &Value) -> Response {
        self.send("PATCH", &format!("/api/external/v1/links/{id}"), body)
    }

    pub fn delete_link(&self, id: &str) -> Response {
        self.delete(&format!("/api/external/v1/links/{id}"))
    }

    pub fn get_moves(&self, id: &str, query: &str) -> Response {
        self.get(&format!("/api/external/v1/feature_requests/{id}/moves?{query}"))
    }

    pub fn put_subscription(&self, id: &str, body: &Value) -> Response {
        self.send("PUT", &format!("/api/external/v1/feature_requests/{id}/subscription"), body)
    }

    pub fn delete_subscription(&self, id: &str, query: &str) -> Response {
        self.delete(&format!("/api/external/v1/feature_requests/{id}/subscription?{query}"))
    }

    pub fn get_track_requests(&self, track: &str, query: &str) -> Response {
        self.get(&format!("/api/external/v1/tracks/{track}/feature_requests?{query}"))
    }

    pub fn get_roadmap(&self, query: &str) -> Response {
        self.get(&format!("/api/external/v1/roadmap?{query}"))
    }

    pub fn get_lanes(&self) -> Response {
        self.get("/api/external/v1/lanes")
    }

    pub fn post_lane(&self, body: &Value) -> Response {
        self.send("POST", "/api/external/v1/lanes", body)
    }

    pub fn patch_lane(&self, id: &str, body: &Value) -> Response {
        self.send("PATCH", &format!("/api/external/v1/lanes/{id}"), body)
    }

    pub fn delete_lane(&self, id: &str) -> Response {
        self.delete(&format!("/api/external/v1/lanes/{id}"))
    }

    pub fn post_track(&self, body: &Value) -> Response {
        self.send("POST", "/api/external/v1/tracks", body)
    }

    /// Changes a track itself. [`Self::patch_track`] moves a feature request.
    pub fn patch_track_itself(&self, id: &str, body: &Value) -> Response {
        self.send("PATCH", &format!("/api/external/v1/tracks/{id}"), body)
    }

    pub fn delete_track(&self, id: &str, query: &str) -> Response {
        self.delete(&format!("/api/external/v1/tracks/{id}?{query}"))
    }

    pub fn get_changelog(&self, id: &str) -> Response {
        self.get(&format!("/api/external/v1/changelogs/{id}"))
    }

    pub fn patch_changelog(&self, id: &str, body: &Value) -> Response {
        self.send("PATCH", &format!("/api/external/v1/changelogs/{id}"), body)
    }

    pub fn delete_changelog(&self, id: &str) -> Response {
        self.delete(&format!("/api/external/v1/changelogs/{id}"))
    }

    pub fn post_publish(&self, id: &str, body: &Value) -> Response {
        self.send("POST", &format!("/api/external/v1/changelogs/{id}/publish"), body)
    }

    pub fn post_unpublish(&self, id: &str, body: &Value) -> Response {
        self.send("POST", &format!("/api/external/v1/changelogs/{id}/unpublish"), body)
    }

    pub fn get_customers(&self, query: &str) -> Response {
        self.get(&format!("/api/external/v1/customers?{query}"))
    }

    pub fn get_customer(&self, id: &str) -> Response {
        self.get(&format!("/api/external/v1/customers/{id}"))
    }

    pub fn patch_customer(&self, id: &str, body: &Value) -> Response {
        self.send("PATCH", &format!("/api/external/v1/customers/{id}"), body)
    }

    pub fn post_customer_merge(&self, id: &str, body: &Value) -> Response {
        self.send("POST", &format!("/api/external/v1/customers/{id}/merge"), body)
    }

    pub fn get_customer_export(&self, id: &str, query: &str) -> Response {
        self.get(&format!("/api/external/v1/customers/{id}/export?{query}"))
    }

    pub fn post_customer_erase(&self, id: &str, body: &Value) -> Response {
        self.send("POST", &format!("/api/external/v1/customers/{id}/erase"), body)
    }

    pub fn post_export(&self, body: &Value) -> Response {
        self.send("POST", "/api/external/v1/exports", body)
    }

    pub fn get_exports(&self, query: &str) -> Response {
        self.get(&format!("/api/external/v1/exports?{query}"))
    }

    pub fn get_export(&self, id: &str) -> Response {
        self.get(&format!("/api/external/v1/exports/{id}"))
    }

    pub fn get_tags(&self, query: &str) -> Response {
        self.get(&format!("/api/external/v1/tags?{query}"))
    }

    /// Renames a tag. `tag` is percent-encoded.
    pub fn patch_tag(&self, tag: &str, body: &Value) -> Response {
        self.send("PATCH", &format!("/api/external/v1/tags/{tag}"), body)
    }

    /// Deletes a tag. `tag` is percent-encoded.
    pub fn delete_tag(&self, tag: &str) -> Response {
        self.delete(&format!("/api/external/v1/tags/{tag}"))
    }

    pub fn get_overview(&self, query: &str) -> Response {
        self.get(&format!("/api/external/v1/overview?{query}"))
    }

    pub fn get_members(&self) -> Response {
        self.get("/api/external/v1/members")
    }

    pub fn get_api_key(&self) -> Response {
        self.get("/api/external/v1/api_key")
    }

    pub fn get_audit_entries(&self, query: &str) -> Response {
        self.get(&format!("/api/external/v1/audit_entries?{query}"))
    }

    pub fn get_attachment(&self, id: &str) -> Response {
        self.get(&format!("/api/external/v2/attachments/{id}"))
    }

    pub fn delete_attachment(&self, id: &str) -> Response {
        self.delete(&format!("/api/external/v2/attachments/{id}"))
    }

    pub fn get_changelogs(&self, query: &str) -> Response {
        self.get(&format!("/api/external/v1/changelogs?{query}"))
    }

    pub fn post_changelog(&self, body: &Value) -> Response {
        self.send("POST", "/api/external/v1/changelogs", body)
    }

    /// Uploads a form with the boundary `limit`.
    pub fn post_attachment(&self, form: &[u8]) -> Response {
        self.try_post_attachment(form).expect("a response")
    }

    /// Like [`Self::post_attachment`], but returns `None` when the connection ends without a response.
    pub fn try_post_attachment(&self, form: &[u8]) -> Option<Response> {
        self.request("POST", "/api/external/v2/attachments", &[("Content-Type", FORM_TYPE)], Some(form)).ok()
    }

    /// Creates a feature request with this title and returns it as the response shows it.
    pub fn feature_request(&self, title: &str) -> Value {
        let body = serde_json::json!({ "feature_request": { "title": title } });
        let response = self.post_feature_request(&body);
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()["feature_request"].clone()
    }

    /// Creates a feature request with these fields and returns its id.
    pub fn feature_request_with(&self, fields: &Value) -> String {
        let response = self.post_feature_request(&serde_json::json!({ "feature_request": fields }));
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()["feature_request"]["id"].as_str().expect("an id").to_owned()
    }

    /// Returns the whole record of a feature request.
    pub fn detail(&self, id: &str) -> Value {
        let response = self.get_feature_request(id);
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()["feature_request"].clone()
    }

    /// Votes for a feature request.
    pub fn vote(&self, id: &str, email: &str) {
        let response = self.post_upvote(id, &serde_json::json!({ "customer": { "email": email } }));
        assert_eq!(response.status, 201, "{}", response.text());
    }

    /// Posts a comment of the team and returns its id.
    pub fn comment(&self, id: &str, content: &str) -> String {
        let response = self.post_comment(id, &serde_json::json!({ "comment": { "content": content } }));
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()["comment"]["id"].as_str().expect("an id").to_owned()
    }

    /// Adds a comment of the customer with this address. Returns its id.
    pub fn comment_by(&self, id: &str, email: &str, content: &str) -> String {
        let body = serde_json::json!({ "comment": { "content": content }, "customer": { "email": email } });
        let response = self.post_comment(id, &body);
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()["comment"]["id"].as_str().expect("an id").to_owned()
    }

    /// Merges a feature request into another one.
    pub fn merge(&self, id: &str, target: &str) {
        let response = self.post_merge(id, &serde_json::json!({ "target_id": target }));
        assert_eq!(response.status, 200, "{}", response.text());
    }

    /// Undoes a merge.
    pub fn unmerge(&self, id: &str) {
        let response = self.post_unmerge(id, &serde_json::json!({}));
        assert_eq!(response.status, 200, "{}", response.text());
    }

    pub fn get(&self, path: &str) -> Response {
        self.request("GET", path, &[], None).expect("a response")
    }

    pub fn delete(&self, path: &str) -> Response {
        self.request("DELETE", path, &[], None).expect("a response")
    }

    pub fn send(&self, method: &str, path: &str, body: &Value) -> Response {
        let headers = [("Content-Type", "application/json")];
        self.request(method, path, &headers, Some(body.to_string().as_bytes())).expect("a response")
    }

    /// Sends a request and validates the response against the OpenAPI document.
    ///
    /// # Errors
    /// The connection ended without a response.
    #[track_caller]
    pub fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Result<Response, ureq::Error> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("http://127.0.0.1:{}{path}", self.port))
            .header("Host", &self.host);
        if let Some(key) = &self.key {
            request = request.header("X-Api-Key", key);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        // Four seconds more per megabyte: the disk may be busy.
        let sending = Duration::from_micros(4) * u32::try_from(body.map_or(0, <[u8]>::len)).expect("a length");
        // Every request opens a connection. Its buffers are small, because a debug build fills them byte by byte. The
        // output buffer must hold the whole request head.
        let config = ureq::Agent::config_builder()
            .input_buffer_size(16 * 1024)
            .output_buffer_size(16 * 1024 + path.len())
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .timeout_global(Some(WAIT_LIMIT + sending))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build();
        let agent = ureq::Agent::from(config);
        let mut response = match body {
            Some(body) => agent.run(request.body(body).expect("a request")),
            None => agent.run(request.body(()).expect("a request")),
        }?;
        let bytes = response.body_mut().with_config().limit(u64::MAX).read_to_vec()?;
        let response = Response { status: response.status().as_u16(), headers: response.headers().clone(), bytes };
        document::check(&Exchange { method, path, body, response: &response });
        Ok(response)
    }

    /// Opens a connection with a read timeout.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(WAIT_LIMIT)).expect("a time limit");
        stream
    }

    /// Sends raw bytes and returns the received bytes once the response is complete or the server closes the
    /// connection.
    pub fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("the server reads");
        let mut response = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let read = stream.read(&mut chunk).expect("a response");
            response.extend_from_slice(&chunk[..read]);
            if read == 0 || is_complete(&response) {
                return response;
            }
        }
    }
}

/// Whether a response with a content length has been received in full.
fn is_complete(response: &[u8]) -> bool {
    let text = String::from_utf8_lossy(response);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:").map(str::to_owned));
    length.is_some_and(|length| body.len() >= length.trim().parse().unwrap_or(usize::MAX))
}

/// Content type of forms with the boundary `limit`.
pub const FORM_TYPE: &str = "multipart/form-data; boundary=limit";

/// Builds a form with one file.
pub fn form_with(filename: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{filename}\"\r\n\r\n");
    [head.as_bytes(), bytes, b"\r\n--limit--\r\n"].concat()
}

/// HTTP response.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub bytes: Vec<u8>,
}

impl Response {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    /// Asserts a successful response and returns its body.
    #[track_caller]
    pub fn is_ok(&self) -> Value {
        assert!(matches!(self.status, 200..=202), "{} {}", self.status, self.text());
        assert_eq!(self.header("content-type"), Some("application/json"));
        self.json()
    }

    /// Asserts a successful response without a body.
    #[track_caller]
    pub fn is_empty(&self) {
        assert_eq!((self.status, self.text()), (204, String::new()));
        assert!(self.header("x-request-id").is_some_and(|id| !id.is_empty()));
    }

    /// Asserts the status and the whole body of an error.
    #[track_caller]
    pub fn is_error(&self, status: u16, message: &str) {
        assert_eq!((self.status, self.json()), (status, serde_json::json!({ "error": message })));
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert!(self.header("x-request-id").is_some_and(|id| !id.is_empty()));
    }
}

/// Asserts that an object has exactly these keys.
#[track_caller]
pub fn has_keys(object: &Value, keys: &[&str]) {
    let actual: BTreeSet<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(actual, keys.iter().copied().collect::<BTreeSet<&str>>());
}

/// Waits until a condition holds.
#[track_caller]
pub fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < WAIT_LIMIT, "still not so: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs the same work on several threads at once and returns the results.
pub fn in_parallel<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = std::sync::Barrier::new(threads);
    std::thread::scope(|scope| {
        let (work, barrier) = (&work, &barrier);
        let running: Vec<_> = (0..threads)
            .map(|number| {
                scope.spawn(move || {
                    barrier.wait();
                    work(number)
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// Asserts the format of a timestamp: RFC 3339 with milliseconds and `Z`.
#[track_caller]
pub fn is_timestamp(value: &Value) {
    let text = value.as_str().expect("a string");
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00.000Z", "{text}");
}

/// Asserts that an id is a UUID of version 7.
#[track_caller]
pub fn is_id(value: &Value) {
    let id = uuid::Uuid::try_parse(value.as_str().expect("a string")).expect("a UUID");
    assert_eq!(id.get_version_num(), 7);
}
