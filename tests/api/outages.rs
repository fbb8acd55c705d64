//! Behaviour while the database server is unavailable, slow or locked, and with several processes on one database.
//! Always on PostgreSQL, whichever store the other tests use.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use roadmap_testkit::disk::Disk;
use roadmap_testkit::postgres::{self, Cluster, Connection, Database, Durability};
use roadmap_testkit::proxy::Proxy;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::app::{BASE_HOST, Client, Response, Server, WAIT_LIMIT, eventually, in_parallel, run};
use crate::effort::rounds;
use crate::faults::{SmallDisk, write_request};

/// Every request gets a response within 3 seconds, whatever the database does. The rest is tolerance for a machine that
/// has other work: a request that nothing limits waits for minutes.
const RESPONSE_LIMIT: Duration = Duration::from_secs(30);

/// Requests succeed again within 2 seconds after the database is back. The rest is tolerance, as above.
const RECOVERY: Duration = Duration::from_secs(30);

const UNAVAILABLE: &str = "Service is temporarily unavailable";

/// Service with the workspace `acme` and one feature request, and a proxy to its database that can fail.
struct ProxiedService {
    server: Server,
    acme: Client,
    proxy: Proxy,
    database: Database,
    folder: TempDir,
}

fn port_of(url: &str) -> u16 {
    let authority = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).expect("a URL");
    authority.rsplit(':').next().expect("a port").parse().expect("a number")
}

/// Creates a workspace with a member. Returns an API key for it.
fn workspace(folder: &Path, url: &str, subdomain: &str) -> String {
    let environment = [("ROADMAP_DATABASE_URL", url)];
    let run = |arguments: &[&str]| run(folder, arguments, &environment).json();
    let website = "https://acme.example";
    run(&["workspace", "create", subdomain, "--product-name", "Acme", "--website-url", website]);
    run(&["member", "add", "--workspace", subdomain, "--email", "olga@acme.example", "--name", "Olga"]);
    let scopes = ["--scope", "read", "--scope", "write", "--scope", "manage"];
    let key = run(&[&["api-key", "create", "--workspace", subdomain, "--name", "tests"][..], &scopes].concat());
    key["key"].as_str().expect("a key").to_owned()
}

fn serve(folder: &Path, url: &str, environment: &[(&str, &str)]) -> Server {
    let mut all = vec![("ROADMAP_DATABASE_URL".to_owned(), url.to_owned())];
    all.extend(environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    Server::start(folder, &[], &all)
}

fn client(server: &Server, subdomain: &str, key: &str) -> Client {
    Client { port: server.port, host: format!("{subdomain}.{BASE_HOST}"), key: Some(key.to_owned()) }
}

impl ProxiedService {
    fn start(environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database = Database::empty(&postgres::server());
        let key = workspace(folder.path(), &database.url, "acme");
        let port = port_of(&database.url);
        let proxy = Proxy::start(port);
        let url = database.url.replace(&format!(":{port}/"), &format!(":{}/", proxy.port()));
        let server = serve(folder.path(), &url, environment);
        let acme = client(&server, "acme", &key);
        acme.feature_request("Dark mode");
        Self { server, acme, proxy, database, folder }
    }

    /// Sends one request of every kind, with operation keys of this round.
    fn request_everything(
        &self,
        round: &str,
        how: fn(&dyn Fn() -> Response) -> Response,
    ) -> Vec<(&'static str, Response)> {
        let keyed = |name: &str, mut body: Value| {
            body["operation_key"] = json!(format!("{round} {name}"));
            body
        };
        let email = format!("{round}@example.com").replace(' ', "-");
        vec![
            ("lanes", how(&|| self.acme.get_lanes())),
            ("setting", how(&|| self.acme.get_setting())),
            ("votes", how(&|| self.acme.get_votes("email=ann@example.com"))),
            ("voters", how(&|| self.acme.get_voters("1", ""))),
            ("search", how(&|| self.acme.get_feature_requests("query=dark"))),
            ("changelogs", how(&|| self.acme.get_changelogs(""))),
            (
                "upvote",
                how(&|| self.acme.post_upvote("1", &keyed("upvote", json!({ "customer": { "email": email } })))),
            ),
            (
                "comment",
                how(&|| self.acme.post_comment("1", &keyed("comment", json!({ "comment": { "content": "Soon" } })))),
            ),
            (
                "create",
                how(&|| {
                    self.acme.post_feature_request(&keyed("create", json!({ "feature_request": { "title": "New" } })))
                }),
            ),
            ("readyz", how(&|| self.acme.get("/readyz"))),
        ]
    }

    /// Asserts that every request reports the outage and that the process is alive.
    #[track_caller]
    fn assert_unavailable(&self, case: &str) {
        // Readiness is cached for a second.
        eventually("it is not ready", || self.acme.get("/readyz").status == 503);
        for (name, response) in self.request_everything(case, |send| within_limit(send)) {
            assert_eq!(response.status, 503, "{case}: {name}: {}", response.text());
            let error = response.json()["error"].as_str().unwrap_or_default().to_owned();
            assert!(
                error == UNAVAILABLE || name == "search" && error == "search_unavailable",
                "{case}: {name}: {error}"
            );
            assert_eq!(response.header("retry-after"), Some("1"), "{case}: {name}");
        }
        assert_eq!(within_limit(|| self.acme.get("/healthz")).status, 200, "{case}");
    }

    /// Asserts that requests succeed again soon, and that failed writes have no effect until they are retried.
    #[track_caller]
    fn assert_recovers(&self, case: &str) {
        let returned = Instant::now();
        while self.acme.get("/readyz").status != 200 {
            assert!(returned.elapsed() < RECOVERY, "{case}: not ready again");
            std::thread::sleep(Duration::from_millis(10));
        }
        for (name, response) in self.request_everything(case, retry_until_served) {
            assert!([200, 201].contains(&response.status), "{case}: {name}: {} {}", response.status, response.text());
            assert_eq!(response.header("idempotent-replayed"), None, "{case}: {name}");
        }
        assert!(returned.elapsed() < RECOVERY, "{case}: {:?}", returned.elapsed());
        for (name, response) in self.request_everything(case, retry_until_served) {
            let writes = ["upvote", "comment", "create"].contains(&name);
            assert_eq!(response.header("idempotent-replayed"), writes.then_some("true"), "{case}: {name}");
        }
        let email = format!("{case}@example.com").replace(' ', "-");
        assert_eq!(self.acme.get_votes(&format!("email={email}")).json()["total_count"], 1, "{case}");
    }

    fn count(&self, query: &str) -> i64 {
        self.database.rows(query)[0][0].as_deref().expect("a value").parse().expect("a number")
    }

    /// Counts the service's database sessions that meet a condition.
    fn sessions(&self, condition: &str) -> i64 {
        self.count(&format!(
            "SELECT count(*) FROM pg_stat_activity
             WHERE application_name = 'roadmap' AND datname = current_database() AND {condition}"
        ))
    }

    fn resident_kb(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.server.process_id())).expect("the process");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
        line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
    }

    fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.server.process_id())).expect("the process").count()
    }
}

/// Retries until a response succeeds: connections may notice at different times that they are closed, and on a machine
/// that has other work a statement may take longer than the service waits.
fn retry_until_served(send: &dyn Fn() -> Response) -> Response {
    let began = Instant::now();
    loop {
        let response = within_limit(send);
        if response.status != 503 || began.elapsed() > RECOVERY {
            return response;
        }
    }
}

/// Returns the response, which must arrive in time.
#[track_caller]
fn within_limit(send: impl Fn() -> Response) -> Response {
    let start = Instant::now();
    let response = send();
    assert!(start.elapsed() < RESPONSE_LIMIT, "{:?}: {}", start.elapsed(), response.text());
    response
}

/// Locks the table of votes until the connection is dropped.
fn lock_votes(database: &Database) -> Connection {
    let lock = Connection::open(&database.url);
    lock.execute("BEGIN; LOCK TABLE votes IN EXCLUSIVE MODE");
    lock
}

/// Decision 2: an unreachable database is 503, and recovers by itself.
/// Decision 7: `GET /readyz` is 200 if the database responds and 503 if not; `/healthz` is 200 in both cases.
/// Beyond the contract: a request gets a response within 3 s even if the database fails, and requests succeed within 2
/// s of its return.
#[test]
fn a_database_that_refuses_connections_is_reported_and_survived() {
    let proxied = ProxiedService::start(&[]);
    proxied.assert_available();
    proxied.proxy.refuse();
    proxied.assert_unavailable("refused");
    // Requests during an outage do not accumulate memory or files.
    let (memory, files) = (proxied.resident_kb(), proxied.open_files());
    for _ in 0..200 {
        assert_eq!(within_limit(|| proxied.acme.get_lanes()).status, 503);
    }
    assert!(proxied.resident_kb() < memory + 8 * 1024, "{memory} kB, then {} kB", proxied.resident_kb());
    assert!(proxied.open_files() <= files + 8, "{files} files, then {}", proxied.open_files());
    proxied.proxy.restore();
    proxied.assert_recovers("refused");
}

impl ProxiedService {
    #[track_caller]
    fn assert_available(&self) {
        for (name, response) in self.request_everything("before", retry_until_served) {
            assert!([200, 201].contains(&response.status), "{name}: {}", response.text());
        }
    }
}

/// Decision 2, 7; Beyond the contract.
#[test]
fn a_silent_database_is_reported_and_survived() {
    let proxied = ProxiedService::start(&[]);
    proxied.assert_available();
    proxied.proxy.black_hole();
    proxied.assert_unavailable("silent");
    proxied.proxy.restore();
    proxied.assert_recovers("silent");
}

/// Returns a client whose key has just been cached, so that its next requests are not delayed by authentication.
/// Connections for reads and writes are open and idle.
fn client_with_cached_key(proxied: &ProxiedService) -> Client {
    proxied.assert_available();
    let arguments = ["api-key", "create", "--workspace", "acme", "--name", "known"];
    let key = run(proxied.folder.path(), &arguments, &[("ROADMAP_DATABASE_URL", proxied.database.url.as_str())]).json();
    let known = client(&proxied.server, "acme", key["key"].as_str().expect("a key"));
    assert_eq!(known.get_lanes().status, 200);
    eventually("nothing is under way", || proxied.sessions("state <> 'idle'") == 0);
    known
}

#[test]
fn a_write_with_a_key_that_times_out_is_reported() {
    let proxied = ProxiedService::start(&[]);
    let known = client_with_cached_key(&proxied);
    let before = proxied.count("SELECT count(*) FROM votes");
    let body = json!({ "customer": { "email": "bob@example.com" }, "operation_key": "met silence" });
    proxied.proxy.black_hole();
    let response = within_limit(|| known.post_upvote("1", &body));
    // No other request has the key: "operation_in_progress" would be wrong.
    response.is_error(503, UNAVAILABLE);
    assert_eq!(response.header("retry-after"), Some("1"));
    proxied.proxy.restore();
    proxied.assert_recovers("met silence");
    assert_eq!(known.post_upvote("1", &body).status, 201);
    // One with this key, one by `assert_recovers`.
    assert_eq!(proxied.count("SELECT count(*) FROM votes"), before + 2);
}

#[test]
fn many_clients_of_a_silent_database_all_get_an_error_in_time() {
    let proxied = ProxiedService::start(&[("ROADMAP_WORKERS", "1")]);
    let known = client_with_cached_key(&proxied);
    proxied.proxy.black_hole();
    let responses = in_parallel(16, |_| within_limit(|| known.get_lanes()));
    for response in &responses {
        response.is_error(503, UNAVAILABLE);
    }
    proxied.proxy.restore();
    proxied.assert_recovers("many");
}

/// Decision 2.
#[test]
fn connections_that_are_reset_are_replaced() {
    let proxied = ProxiedService::start(&[]);
    proxied.assert_available();
    for round in 0..3 {
        proxied.proxy.reset();
        proxied.assert_recovers(&format!("reset {round}"));
    }
}

/// Beyond the contract.
#[test]
fn a_connection_reset_during_a_write_rolls_it_back() {
    let proxied = ProxiedService::start(&[("ROADMAP_STATEMENT_TIMEOUT", "20s")]);
    let body = json!({ "customer": { "email": "ann@example.com" }, "operation_key": "k" });
    let lock = lock_votes(&proxied.database);
    std::thread::scope(|scope| {
        let cut = scope.spawn(|| proxied.acme.post_upvote("1", &body));
        eventually("the vote waits for the lock", || proxied.sessions("wait_event_type = 'Lock'") == 1);
        proxied.proxy.reset();
        cut.join().expect("no panic").is_error(503, UNAVAILABLE);
    });
    drop(lock);
    // The server notices a closed client connection when it writes to it.
    eventually("the write is undone", || proxied.sessions("state <> 'idle'") == 0);
    assert_eq!(proxied.count("SELECT count(*) FROM votes"), 0);
    let response = proxied.acme.post_upvote("1", &body);
    assert_eq!((response.status, response.header("idempotent-replayed")), (201, None), "{}", response.text());
    assert_eq!(proxied.count("SELECT count(*) FROM votes"), 1);
}

/// Upvote of a new customer, with an operation key or without.
fn vote_of(name: &str, key: Option<&str>) -> Value {
    json!({ "customer": { "email": format!("{name}@example.com") }, "operation_key": key })
}

#[test]
fn a_commit_whose_result_is_lost_is_reported_as_unknown_without_a_key() {
    let proxied = ProxiedService::start(&[]);
    let known = client_with_cached_key(&proxied);
    let before = proxied.count("SELECT count(*) FROM votes");
    proxied.proxy.drop_commit_response();
    let response = within_limit(|| known.post_upvote("1", &vote_of("ann", None)));
    let sentence = "The outcome is unknown, check whether the change was made before sending the request again";
    response.is_error(503, sentence);
    assert_eq!(response.header("retry-after"), None, "a client that repeats it may do it twice");
    assert_eq!(proxied.count("SELECT count(*) FROM votes"), before + 1, "it was committed");
    proxied.assert_recovers("a lost commit");
}

#[test]
fn a_commit_whose_result_is_lost_is_found_by_its_key() {
    let proxied = ProxiedService::start(&[]);
    let known = client_with_cached_key(&proxied);
    let before = proxied.count("SELECT count(*) FROM votes");
    // The first write of a connection sends the commit separately, later ones together with the saved response.
    for name in ["first", "second", "third"] {
        proxied.proxy.drop_commit_response();
        let response = within_limit(|| known.post_upvote("1", &vote_of(name, Some(name))));
        assert_eq!(
            (response.status, response.header("idempotent-replayed")),
            (201, Some("true")),
            "{}",
            response.text()
        );
        assert_eq!(known.post_upvote("1", &vote_of(name, Some(name))).bytes, response.bytes);
    }
    assert_eq!(proxied.count("SELECT count(*) FROM votes"), before + 3);
}

#[test]
fn a_commit_whose_result_is_lost_with_the_database_says_that_its_key_makes_a_retry_safe() {
    let proxied = ProxiedService::start(&[]);
    let known = client_with_cached_key(&proxied);
    proxied.proxy.drop_commit_response_and_refuse();
    let body = vote_of("ann", Some("k"));
    let response = within_limit(|| known.post_upvote("1", &body));
    response.is_error(503, "The outcome is unknown, send the request again with the same operation_key");
    assert_eq!(response.header("retry-after"), Some("1"));
    proxied.proxy.restore();
    proxied.assert_recovers("a lost commit and a lost server");
    let again = known.post_upvote("1", &body);
    assert_eq!((again.status, again.header("idempotent-replayed")), (201, Some("true")), "{}", again.text());
    assert_eq!(proxied.count("SELECT count(*) FROM customers WHERE email = 'ann@example.com'"), 1);
}

/// Beyond the contract.
#[test]
fn a_locked_table_makes_requests_fail_in_time_and_leaves_the_connections_usable() {
    let proxied = ProxiedService::start(&[]);
    let vote = |number: u32| {
        proxied.acme.post_upvote("1", &json!({ "customer": { "email": format!("ann{number}@example.com") } }))
    };
    assert_eq!(vote(0).status, 201);
    const SESSIONS: &str = "SELECT pid FROM pg_stat_activity
                            WHERE application_name = 'roadmap' AND datname = current_database()";
    let before = proxied.database.rows(SESSIONS);
    let lock = lock_votes(&proxied.database);
    within_limit(|| vote(1)).is_error(503, UNAVAILABLE);
    assert_eq!(proxied.acme.get_lanes().status, 200);
    assert_eq!(proxied.acme.get_setting().status, 200);
    assert_eq!(proxied.acme.get_feature_requests("query=dark").status, 200);
    drop(lock);
    assert_eq!(vote(2).status, 201);
    assert_eq!(proxied.count("SELECT count(*) FROM votes"), 2);
    let after = proxied.database.rows(SESSIONS);
    assert!(before.iter().all(|session| after.contains(session)), "connections were lost: {before:?}, {after:?}");
    eventually("nothing is left open", || proxied.sessions("state <> 'idle'") == 0);
}

/// Beyond the contract.
#[test]
fn when_all_connections_are_busy_requests_fail_in_time() {
    let environment = [("ROADMAP_POOL_SIZE", "1"), ("ROADMAP_WORKERS", "1"), ("ROADMAP_STATEMENT_TIMEOUT", "3s")];
    let proxied = ProxiedService::start(&environment);
    let lock = lock_votes(&proxied.database);
    let responses = std::thread::scope(|scope| {
        let storm = scope.spawn(|| {
            in_parallel(12, |number| {
                let email = format!("ann{number}@example.com");
                let body = json!({ "customer": { "email": email }, "operation_key": format!("storm {number}") });
                within_limit(|| proxied.acme.post_upvote("1", &body))
            })
        });
        eventually("the only connection waits for the lock", || proxied.sessions("wait_event_type = 'Lock'") == 1);
        // Reads use other connections, for as long as the writes wait.
        while !storm.is_finished() {
            let response = within_limit(|| proxied.acme.get_lanes());
            assert_eq!(response.status, 200, "{}", response.text());
        }
        storm.join().expect("no panic")
    });
    for response in &responses {
        response.is_error(503, UNAVAILABLE);
    }
    assert_eq!(within_limit(|| proxied.acme.get_lanes()).status, 200);
    drop(lock);
    assert_eq!(proxied.acme.post_upvote("1", &json!({ "customer": { "email": "bob@example.com" } })).status, 201);
    assert_eq!(proxied.count("SELECT count(*) FROM votes"), 1);
}

/// Decision 2: a search that waits too long for a connection is 503 `search_unavailable`.
/// Beyond the contract: searches have their own connections and delay no list.
#[test]
fn hanging_searches_use_a_quarter_of_the_connections_and_delay_no_list() {
    let proxied = ProxiedService::start(&[("ROADMAP_POOL_SIZE", "4"), ("ROADMAP_WORKERS", "1")]);
    let lock = Connection::open(&proxied.database.url);
    lock.execute("BEGIN; LOCK TABLE search_documents IN ACCESS EXCLUSIVE MODE");
    std::thread::scope(|scope| {
        let searches = scope.spawn(|| in_parallel(12, |_| proxied.acme.get_feature_requests("query=dark")));
        eventually("one of them waits for the lock", || proxied.sessions("wait_event_type = 'Lock'") == 1);
        while !searches.is_finished() {
            assert_eq!(within_limit(|| proxied.acme.get_lanes()).status, 200);
            let held = proxied.sessions("wait_event_type = 'Lock'");
            assert!(held <= 1, "{held} searches hold connections");
        }
        for response in searches.join().expect("no panic") {
            response.is_error(503, "search_unavailable");
        }
    });
    drop(lock);
    assert_eq!(proxied.acme.get_feature_requests("query=dark").status, 200);
}

/// Beyond the contract: several processes on one database act as one service: one effect per key, one customer per
/// address.
/// Decision 4.
#[test]
fn two_processes_are_one_service() {
    let proxied = ProxiedService::start(&[]);
    let second = serve(proxied.folder.path(), &proxied.database.url, &[]);
    let clients = [&proxied.acme, &Client { port: second.port, ..proxied.acme.clone() }];
    for (name, path, body, table) in [
        (
            "upvote",
            "/feature_requests/1/upvotes",
            json!({ "customer": { "email": "ann@example.com" }, "reference_note": { "body": "note" } }),
            "notes",
        ),
        ("comment", "/feature_requests/1/comments", json!({ "comment": { "content": "Soon" } }), "comments"),
        ("create", "/feature_requests", json!({ "feature_request": { "title": "Once" } }), "feature_requests"),
        ("changelog", "/changelogs", json!({ "changelog": { "title": "1.0", "content": "new" } }), "changelogs"),
    ] {
        let count = || proxied.count(&format!("SELECT count(*) FROM {table}"));
        let (mut body, before) = (body, count());
        body["operation_key"] = json!(format!("once {name}"));
        let responses =
            in_parallel(64, |number| clients[number % 2].send("POST", &format!("/api/external/v1{path}"), &body));
        assert_eq!(count(), before + 1, "{name}");
        for response in &responses {
            assert_eq!((response.status, &response.bytes), (201, &responses[0].bytes), "{name}: {}", response.text());
        }
        let replayed =
            responses.iter().filter(|response| response.header("idempotent-replayed") == Some("true")).count();
        assert_eq!(replayed, 63, "{name}");
    }
    // Without a key, and in two spellings: one customer, one vote, one note per request.
    let responses = in_parallel(64, |number| {
        let email = if number % 3 == 0 { "BOB@example.com" } else { "bob@example.com" };
        let body = json!({ "customer": { "email": email }, "reference_note": { "body": "note" } });
        clients[number % 2].post_upvote("1", &body).json()
    });
    assert_eq!(responses.iter().filter(|response| response["vote_registered"] == true).count(), 1);
    assert_eq!(responses.iter().filter(|response| response["already_voted"] == true).count(), 63);
    assert!(responses.iter().all(|response| response["feature_request"]["votes_count"] == 2), "{responses:?}");
    assert_eq!(proxied.count("SELECT count(*) FROM customers WHERE email_folded = 'bob@example.com'"), 1);
    assert_eq!(proxied.count("SELECT votes_count FROM vote_tallies WHERE tag_number = 1"), 2);
    // Synonyms take effect in both.
    let has_match =
        |client: &Client| client.get_feature_requests("query=twice").json()["feature_requests"][0].is_object();
    assert!(clients.iter().all(|client| !has_match(client)));
    let synonyms = json!({ "synonyms": [["twice", "once"]] });
    assert_eq!(proxied.acme.put_synonyms(&synonyms).status, 200);
    for client in clients {
        eventually("the synonym is known", || has_match(client));
    }
}

/// Beyond the contract: many requests with one key wait in memory, not on connections.
#[test]
fn many_requests_with_one_key_use_one_connection_and_delay_no_others() {
    let environment = [("ROADMAP_STATEMENT_TIMEOUT", "30s"), ("ROADMAP_OPERATION_WAIT", "30s")];
    let proxied = ProxiedService::start(&environment);
    let bolt = client(&proxied.server, "bolt", &workspace(proxied.folder.path(), &proxied.database.url, "bolt"));
    let body = json!({ "customer": { "email": "ann@example.com" }, "operation_key": "k" });
    let lock = lock_votes(&proxied.database);
    let latencies: Mutex<Vec<Duration>> = Mutex::default();
    std::thread::scope(|scope| {
        let flood = scope.spawn(|| in_parallel(200, |_| proxied.acme.post_upvote("1", &body)));
        eventually("the first of them waits for the lock", || proxied.sessions("wait_event_type = 'Lock'") == 1);
        for _ in 0..30 {
            let start = Instant::now();
            assert_eq!(bolt.get_lanes().status, 200);
            latencies.lock().expect("no panic").push(start.elapsed());
            // Those that have just arrived read for a moment before they wait.
            eventually("one waiter holds a connection", || {
                proxied.sessions("(wait_event_type = 'Lock' OR state LIKE 'idle in transaction%')") == 1
            });
        }
        drop(lock);
        for response in flood.join().expect("no panic") {
            assert_eq!(response.status, 201, "{}", response.text());
        }
    });
    let mut latencies = latencies.into_inner().expect("no panic");
    latencies.sort_unstable();
    println!("tracks of another workspace meanwhile: median {:?}, slowest {:?}", latencies[15], latencies[29]);
    assert_eq!(proxied.count("SELECT count(*) FROM votes"), 1);
}

/// Beyond the contract: no session sees another workspace's rows.
#[test]
fn a_session_without_a_workspace_sees_no_rows() {
    let proxied = ProxiedService::start(&[]);
    let as_service = format!("{}?options=-c%20role%3Droadmap_service", proxied.database.url);
    let count = |prelude: &str, table: &str| {
        let rows = postgres::execute(&as_service, &format!("{prelude}; SELECT count(*) FROM {table}")).expect("rows");
        rows.last().and_then(|row| row[0].clone()).expect("a number")
    };
    let ids = proxied.database.rows("SELECT id FROM workspaces");
    let id = ids[0][0].as_deref().expect("an id");
    for table in ["feature_requests", "members", "api_keys", "settings", "search_documents"] {
        assert_eq!(count("SELECT 1", table), "0", "{table}");
        let other = "SET roadmap.workspace_id = '01890a5d-ac96-774b-bcce-b302099a8057'";
        assert_eq!(count(other, table), "0", "{table}");
        assert_eq!(count(&format!("SET roadmap.workspace_id = '{id}'"), table), "1", "{table}");
    }
    let other = "SET roadmap.workspace_id = '01890a5d-ac96-774b-bcce-b302099a8057'";
    let lane = format!("INSERT INTO lanes VALUES ('{id}', gen_random_uuid(), 'x', 99)");
    let error = postgres::execute(&as_service, &format!("{other}; {lane}")).expect_err("another workspace's row");
    let message = error.as_db_error().expect("the server's").message();
    assert!(message.contains("row-level security"), "{message}");
    // The same row is accepted with its own workspace id.
    postgres::execute(&as_service, &format!("SET roadmap.workspace_id = '{id}'; {lane}")).expect("its own row");
    for forbidden in [
        format!("INSERT INTO lanes VALUES ('{id}', gen_random_uuid(), 'y', 98)"),
        "ALTER TABLE votes DISABLE ROW LEVEL SECURITY".to_owned(),
        "DROP TABLE votes".to_owned(),
        "INSERT INTO workspaces VALUES (gen_random_uuid(), 'x', now())".to_owned(),
        "UPDATE workspaces SET subdomain = 'x'".to_owned(),
        "DELETE FROM workspaces".to_owned(),
        "TRUNCATE workspaces CASCADE".to_owned(),
    ] {
        let error = postgres::execute(&as_service, &forbidden).expect_err(&forbidden);
        assert_eq!(error.code().map(|code| code.code()), Some("42501"), "{forbidden}: {error}");
    }
    assert_eq!(count("SELECT 1", "workspaces"), "1");
}

/// Beyond the contract.
#[test]
fn interleaved_requests_of_two_workspaces_never_see_each_other_s_records() {
    let requests = usize::try_from(rounds(800, 10_000)).expect("a number");
    let environment = [("ROADMAP_POOL_SIZE", "2"), ("ROADMAP_WORKERS", "1"), ("ROADMAP_LOG", "warn")];
    let proxied = ProxiedService::start(&environment);
    let key = workspace(proxied.folder.path(), &proxied.database.url, "bolt");
    let bolt = client(&proxied.server, "bolt", &key);
    bolt.feature_request("Bolt only");
    let vote = json!({ "customer": { "email": "ann@example.com" } });
    for client in [&proxied.acme, &bolt] {
        assert_eq!(client.post_upvote("1", &vote).status, 201);
    }
    let (acme_lanes, bolt_lanes) = (proxied.acme.get_lanes().bytes, bolt.get_lanes().bytes);
    assert_ne!(acme_lanes, bolt_lanes);
    in_parallel(8, |thread| {
        for number in (thread..requests).step_by(8) {
            let (client, title, lanes) = if number % 2 == 0 {
                (&proxied.acme, "Dark mode", &acme_lanes)
            } else {
                (&bolt, "Bolt only", &bolt_lanes)
            };
            match number / 2 % 4 {
                0 => assert_eq!(retry_until_served(&|| client.get_lanes()).bytes, *lanes),
                1 => {
                    let votes = retry_until_served(&|| client.get_votes("email=ann@example.com")).json();
                    assert_eq!(
                        (&votes["total_count"], &votes["feature_requests"][0]["title"]),
                        (&json!(1), &json!(title))
                    );
                }
                2 => {
                    let body = retry_until_served(&|| client.get_feature_requests("query=dark")).json();
                    let titles: Vec<&Value> = body["feature_requests"]
                        .as_array()
                        .expect("a list")
                        .iter()
                        .map(|item| &item["title"])
                        .collect();
                    let expected = if number % 2 == 0 { vec![json!(title)] } else { vec![] };
                    assert_eq!(titles, expected.iter().collect::<Vec<_>>());
                }
                _ => {
                    let voted = retry_until_served(&|| client.post_upvote("1", &vote)).json();
                    assert_eq!(voted["feature_request"]["title"], title);
                }
            }
        }
    });
}

/// Beyond the contract.
#[test]
fn a_killed_database_server_loses_no_acknowledged_write_and_doubles_none() {
    let mut cluster = Cluster::start(Durability::Full).expect("a server of its own");
    votes_survive(&mut cluster, 10, |cluster| {
        cluster.kill();
        cluster.restart().expect("the server starts again");
        true
    });
}

/// Beyond the contract.
#[cfg(target_os = "linux")]
#[test]
fn a_power_cut_of_the_database_loses_no_acknowledged_write_and_doubles_none() {
    let mut rng = crate::effort::SeededRng::from_env();
    let disk = Disk::new();
    let mut mount = None;
    let cluster = Cluster::start_on(Durability::Full, |folder| {
        mount = Some((folder.to_owned(), Some(disk.mount(folder)?)));
        Ok(())
    });
    let mut cluster = cluster.expect("a server of its own, root and /dev/fuse");
    let (folder, mut mounted) = mount.expect("a mounted disk");
    disk.sync();
    let mut lost = 0;
    votes_survive(&mut cluster, rounds(3, 50), |cluster| {
        disk.cut();
        cluster.kill();
        mounted = None;
        let losses = disk.restore(rng.below(u64::MAX)).bytes;
        lost += losses.iter().filter(|(path, _)| path.starts_with("pg_wal")).map(|(_, bytes)| bytes).sum::<usize>();
        mounted = Some(disk.mount(&folder).expect("the disk is mounted again"));
        cluster.restart().expect("the server starts again");
        lost > 0
    });
    assert!(lost > 0, "no cut lost anything of the write-ahead log");
    // Before the folder of the server is removed.
    drop(mounted);
}

/// Interrupts the database server while votes are cast: this number of times at least, and until `interrupt` returns that
/// it was enough, but no more than 200 times. Every acknowledged vote must be there afterwards, once.
fn votes_survive(cluster: &mut Cluster, at_least: u64, mut interrupt: impl FnMut(&mut Cluster) -> bool) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let key = workspace(folder.path(), &cluster.url(), "acme");
    let server = serve(folder.path(), &cluster.url(), &[]);
    let acme = client(&server, "acme", &key);
    acme.feature_request("Dark mode");
    let over = std::sync::atomic::AtomicBool::new(false);
    let (mut interruptions, mut is_enough) = (0, false);
    let acknowledged: Mutex<Vec<(String, Vec<u8>)>> = Mutex::default();
    let body = |key: &str| json!({ "customer": { "email": format!("{key}@example.com") }, "operation_key": key });
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let (acme, acknowledged, over) = (&acme, &acknowledged, &over);
            scope.spawn(move || {
                for number in 0.. {
                    let key = format!("w{writer}.{number}");
                    // Retries with the same key until there is a response.
                    let began = Instant::now();
                    loop {
                        let response = acme.post_upvote("1", &body(&key));
                        if response.status == 201 {
                            acknowledged.lock().expect("no panic").push((key, response.bytes));
                            break;
                        }
                        assert!([503, 409].contains(&response.status), "{}", response.text());
                        assert!(began.elapsed() < WAIT_LIMIT, "the database did not come back");
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    if over.load(std::sync::atomic::Ordering::SeqCst) {
                        break;
                    }
                }
            });
        }
        while interruptions < at_least || (!is_enough && interruptions < 200) {
            let before = acknowledged.lock().expect("no panic").len();
            eventually("writes are acknowledged", || acknowledged.lock().expect("no panic").len() > before + 20);
            is_enough = interrupt(cluster);
            interruptions += 1;
        }
        over.store(true, std::sync::atomic::Ordering::SeqCst);
    });
    let acknowledged = acknowledged.into_inner().expect("no panic");
    for (key, bytes) in &acknowledged {
        let again = acme.post_upvote("1", &body(key));
        assert_eq!((again.header("idempotent-replayed"), &again.bytes), (Some("true"), bytes), "{key}");
    }
    let count = |query: &str| -> usize {
        let rows = postgres::execute(&cluster.url(), query).expect("rows");
        rows[0][0].as_deref().expect("a value").parse().expect("a number")
    };
    println!("{} writes over {interruptions} interruptions", acknowledged.len());
    assert_eq!(count("SELECT count(*) FROM votes"), acknowledged.len());
    assert_eq!(count("SELECT votes_count FROM vote_tallies"), acknowledged.len());
    assert_eq!(count("SELECT count(*) FROM operations"), acknowledged.len());
}

#[test]
fn a_full_disk_of_the_database_refuses_writes_and_loses_nothing() {
    let cluster = Cluster::start(Durability::None).expect("a server of its own");
    let disk_folder = tempfile::tempdir().expect("a temporary folder");
    let process = std::fs::metadata(format!("/proc/{}", cluster.process_id().expect("a process"))).expect("its owner");
    std::os::unix::fs::chown(disk_folder.path(), Some(process.uid()), Some(process.gid())).expect("another owner");
    let disk = SmallDisk::mount(disk_folder.path());
    // The records are on the small disk and the server's own log is not, so that the server keeps running.
    let tablespace = format!("CREATE TABLESPACE small LOCATION '{}'", disk_folder.path().display());
    for statement in [tablespace.as_str(), "CREATE DATABASE small TABLESPACE small"] {
        postgres::execute(&cluster.url(), statement).expect("the statement runs");
    }
    let url = format!("{}/small", cluster.url().trim_end_matches("/postgres"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let key = workspace(folder.path(), &url, "acme");
    let server = serve(folder.path(), &url, &[]);
    let acme = client(&server, "acme", &key);
    acme.feature_request("Dark mode");

    disk.fill();
    let (mut refused, mut taken) = (Vec::new(), 0);
    // The tables' reserved space is used up first, so every kind is tried until it is rejected.
    for kind in 0..4 {
        for number in (kind..20_000).step_by(4) {
            let (path, body) = write_request(number);
            let response = acme.send("POST", &path, &body);
            if response.status != 201 {
                response.is_error(503, UNAVAILABLE);
                assert!(response.header("retry-after").is_some());
                refused.push(number);
                break;
            }
            taken += 1;
        }
    }
    assert_eq!(refused.len(), 4, "the disk is not full");
    assert_eq!(acme.get_lanes().status, 200);
    assert_eq!(acme.get_voters("1", "").status, 200);

    disk.free();
    // A rejected request has not used its operation key.
    for number in &refused {
        let (path, body) = write_request(*number);
        let response = acme.send("POST", &path, &body);
        assert_eq!((response.status, response.header("idempotent-replayed")), (201, None), "{}", response.text());
    }
    let operations = postgres::execute(&url, "SELECT count(*) FROM operations").expect("rows");
    assert_eq!(operations, [[Some((taken + refused.len()).to_string())]]);
    drop(server);
    // No file on the disk may be open when it is unmounted.
    drop(cluster);
}

/// Beyond the contract: migrations run once, and continue after a crash.
#[test]
fn migrations_that_are_killed_go_on_at_the_next_start() {
    for delay in 0..10_u64 {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let database = Database::empty(&postgres::server());
        let mut migrating = std::process::Command::new(env!("CARGO_BIN_EXE_roadmap"))
            .current_dir(folder.path())
            .args(["migrate", "--database-url", &database.url])
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("the command starts");
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(8 * delay) {
            std::hint::spin_loop();
        }
        migrating.kill().expect("the command is killed");
        migrating.wait().expect("the command ends");
        let key = workspace(folder.path(), &database.url, "acme");
        let server = serve(folder.path(), &database.url, &[]);
        assert_eq!(client(&server, "acme", &key).get_lanes().status, 200, "after {} ms", 8 * delay);
        let versions = database.rows("SELECT version FROM __diesel_schema_migrations");
        let all = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/postgres")).unwrap().count();
        assert_eq!(versions.len(), all);
    }
}
