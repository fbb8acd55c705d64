//! Fault injection: killed processes, connection resets, lost responses, signals, full disks.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::app::{App, Client, FORM_TYPE, Response, eventually, form_with, in_parallel};
use crate::database::ON_POSTGRES;
use crate::effort::{SeededRng, rounds};
use crate::mail::{files, header};

const WRITERS: usize = 8;

/// Beyond the contract: scheduled changelogs go out by themselves, each to each voter once, however often the service and
/// a worker beside it are killed: quickly before their time, in the long version also while they go out. What a killed
/// worker has leased waits for two minutes.
#[test]
fn scheduled_changelogs_are_mailed_once_despite_kills() {
    const VOTERS: usize = 2;
    let (workspaces, each) = (rounds(2, 100), rounds(20, 100));
    let environment = [("ROADMAP_MAIL_PER_ADDRESS", "off")];
    let mut app = App::with(&[], &environment);
    let names: Vec<String> = (0..workspaces).map(|number| format!("team{number}")).collect();
    let clients: Vec<Client> = names.iter().map(|name| app.workspace(name)).collect();
    // As long as it takes to schedule all of them on a busy machine.
    let lead = Duration::from_millis(100) * u32::try_from(workspaces * each).unwrap() + Duration::from_secs(4);
    let at = UNIX_EPOCH.elapsed().unwrap() + lead;
    let publish_at = time::OffsetDateTime::from(UNIX_EPOCH + at);
    let publish_at = publish_at.format(&time::format_description::well_known::Rfc3339).unwrap();
    in_parallel(4, |thread| {
        for (client, name) in clients.iter().zip(&names).skip(thread).step_by(4) {
            let id = client.feature_request("Dark mode")["id"].clone();
            for voter in 0..VOTERS {
                let customer = json!({ "customer": { "email": format!("voter{voter}@{name}.example") } });
                assert_eq!(client.post_upvote(id.as_str().unwrap(), &customer).status, 201);
            }
            for number in 0..each {
                let (title, requests) = (format!("Release {number}"), json!([id]));
                let fields = json!({
                    "title": title, "content": "New", "feature_request_ids": requests,
                    "publish_at": publish_at, "notify_subscribers": true
                });
                let response = client.post_changelog(&json!({ "changelog": fields }));
                assert_eq!(response.status, 201, "{}", response.text());
            }
        }
    });
    for _ in 0..2 {
        app.kill();
        app.restart();
    }
    assert_eq!(files(&app).len(), 0);
    std::thread::sleep(at.saturating_sub(UNIX_EPOCH.elapsed().unwrap()));
    let beside = app.worker(&environment);
    let mut random = SeededRng::from_env();
    let kills = rounds(0, 60);
    for _ in 0..kills {
        let worker = app.worker(&environment);
        std::thread::sleep(Duration::from_millis(random.below(700)));
        app.kill();
        // Without a word, as the service.
        drop(worker);
        app.restart();
    }
    let expected = usize::try_from(workspaces * each).unwrap() * VOTERS;
    let began = Instant::now();
    while files(&app).len() < expected && began.elapsed() < Duration::from_secs(rounds(60, 1_200)) {
        std::thread::sleep(Duration::from_millis(100));
    }
    let is_settled = |status: &Value| status["waiting"] == 0 && status["audiences"] == 0;
    eventually("all is settled", || app.roadmap(&["mail", "status"]).json().as_array().unwrap().iter().all(is_settled));
    let mut mails: HashMap<(String, String), usize> = HashMap::new();
    for path in files(&app) {
        let mail = std::fs::read(path).unwrap();
        *mails.entry((header(&mail, "To"), header(&mail, "Subject"))).or_default() += 1;
    }
    println!("{} changelogs of {workspaces} workspaces, {kills} kills, {} mails", workspaces * each, mails.len());
    assert_eq!(mails.len(), expected);
    assert!(mails.values().all(|count| *count == 1), "{mails:?}");
    assert!(beside.stop().success());
}

/// Decision 5: a response is saved in the same transaction as the effect.
/// Beyond the contract: a killed service or database server loses no acknowledged write and duplicates none.
#[test]
fn a_killed_process_loses_no_acknowledged_write_and_doubles_none() {
    let mut rng = SeededRng::from_env();
    let mut app = App::start();
    app.acme.feature_request("Dark mode");
    let acknowledged: Mutex<HashMap<String, Vec<u8>>> = Mutex::default();
    let numbers = AtomicU64::new(0);
    let attempts = AtomicU64::new(0);

    for _ in 0..rounds(20, 200) {
        let client = app.acme.clone();
        std::thread::scope(|scope| {
            for _ in 0..WRITERS {
                // Until the server is killed.
                scope.spawn(
                    || while write(&client, numbers.fetch_add(1, Ordering::SeqCst), &acknowledged, &attempts) {},
                );
            }
            // Kills at a random time while writes are in progress.
            let before = acknowledged.lock().unwrap().len();
            eventually("writes are acknowledged", || acknowledged.lock().unwrap().len() > before + 8);
            std::thread::sleep(Duration::from_millis(rng.below(120)));
            app.kill();
        });
        app.restart();
    }

    // Every client retries its unacknowledged requests.
    let all = numbers.load(Ordering::SeqCst);
    let first_responses = acknowledged.lock().unwrap().clone();
    for number in 0..all {
        assert!(write(&app.acme, number, &acknowledged, &attempts), "no response to the retry of {number}");
    }
    for (key, response) in &first_responses {
        assert_eq!(acknowledged.lock().unwrap()[key], *response, "the replay of {key} differs");
    }
    println!(
        "{all} writes, {} acknowledged before a kill, {} requests",
        first_responses.len(),
        attempts.load(Ordering::SeqCst)
    );
    assert!(first_responses.len() > 48, "too few writes to say anything");

    let expected = |kind: u64| i64::try_from((0..all).filter(|number| number % 4 == kind).count()).unwrap();
    assert_eq!(app.count("SELECT count(*) FROM operations"), i64::try_from(all).unwrap());
    assert_eq!(app.count("SELECT count(*) FROM votes"), expected(0));
    assert_eq!(app.count("SELECT count(*) FROM notes"), expected(0));
    assert_eq!(app.count("SELECT count(*) FROM comments"), expected(1));
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 1 + expected(2));
    assert_eq!(app.count("SELECT sum(votes_count) FROM vote_tallies"), expected(0));
    assert_eq!(app.count("SELECT max(tag_number) FROM feature_requests"), 1 + expected(2));
    app.data.is_sound();
}

/// Sends the write with this number, with its own operation key. Records the response and returns whether there was
/// one.
fn write(client: &Client, number: u64, acknowledged: &Mutex<HashMap<String, Vec<u8>>>, attempts: &AtomicU64) -> bool {
    let (path, body) = write_request(number);
    attempts.fetch_add(1, Ordering::SeqCst);
    let headers = [("Content-Type", "application/json")];
    let response = client.request("POST", &path, &headers, Some(body.to_string().as_bytes()));
    let Ok(response) = response else { return false };
    assert_eq!(response.status, 201, "{}", response.text());
    acknowledged.lock().unwrap().insert(body["operation_key"].as_str().unwrap().to_owned(), response.bytes);
    true
}

/// Path and body of the write with this number: an upvote, comment, feature request or changelog.
pub fn write_request(number: u64) -> (String, Value) {
    let key = format!("write-{number}");
    let (path, body) = match number % 4 {
        0 => (
            "feature_requests/1/upvotes",
            json!({
                "customer": { "email": format!("customer{number}@example.com") },
                "reference_note": { "body": "note" },
                "operation_key": key,
            }),
        ),
        1 => ("feature_requests/1/comments", json!({ "comment": { "content": "text" }, "operation_key": key })),
        2 => (
            "feature_requests",
            json!({ "feature_request": { "title": format!("Request {number}") }, "operation_key": key }),
        ),
        _ => ("changelogs", json!({ "changelog": { "title": "1.0", "content": "new" }, "operation_key": key })),
    };
    (format!("/api/external/v1/{path}"), body)
}

/// Decision 5.
#[test]
fn a_reset_connection_leaves_no_open_transaction_and_no_half_write() {
    let mut rng = SeededRng::from_env();
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let request = |number: u64| {
        let body = json!({
            "customer": { "email": format!("customer{number}@example.com") },
            "reference_note": { "body": "note" },
            "operation_key": format!("reset-{number}"),
        });
        raw_post(&app.acme, "/api/external/v1/feature_requests/1/upvotes", &body)
    };
    let pauses: Vec<u64> = (0..rounds(200, 2_000)).map(|_| rng.below(3_000)).collect();
    in_parallel(4, |thread| {
        for number in (thread..pauses.len()).step_by(4) {
            let mut stream = app.acme.connect();
            stream.write_all(&request(number as u64)).unwrap();
            let until = Instant::now() + Duration::from_micros(pauses[number]);
            while Instant::now() < until {
                std::hint::spin_loop();
            }
            reset(stream);
        }
    });
    // Another client's write succeeds at once: no reset connection holds the database.
    let response = app.acme.post_upvote("1", &json!({ "customer": { "email": "last@example.com" } }));
    assert_eq!(response.status, 201);
    // Every write is atomic: each operation key has its vote and its note, and the tally counts all votes.
    let whole = || {
        let operations = app.count("SELECT count(*) FROM operations");
        app.count("SELECT count(*) FROM notes") == operations
            && app.count("SELECT count(*) FROM votes") == operations + 1
            && app.count("SELECT votes_count FROM vote_tallies") == operations + 1
    };
    eventually("all that was begun is done", whole);
    // The client retries all of its keys, and each has one effect.
    for number in 0..pauses.len() as u64 {
        let mut stream = app.acme.connect();
        stream.write_all(&request(number)).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 201");
    }
    eventually("all is written", whole);
    assert_eq!(app.count("SELECT count(*) FROM operations"), pauses.len() as i64);
}

/// Closes a connection with a reset (RST).
fn reset(stream: TcpStream) {
    let socket = socket2::Socket::from(stream);
    socket.set_linger(Some(Duration::ZERO)).unwrap();
}

#[test]
fn a_response_that_gets_lost_after_the_commit_is_replayed() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let lost = rounds(100, 1_000);
    for number in 0..lost {
        let (path, body) = write_request(number);
        let request = raw_post(&app.acme, &path, &body);
        let mut stream = app.acme.connect();
        stream.write_all(&request).unwrap();
        // The first byte of the response has arrived, so the write is committed. The response is not read.
        assert_eq!(stream.peek(&mut [0; 1]).unwrap(), 1);
        reset(stream);
        let response = app.acme.send("POST", &path, &body);
        assert_eq!(
            (response.status, response.header("Idempotent-Replayed")),
            (201, Some("true")),
            "{}",
            response.text()
        );
    }
    let expected = |kind: u64| i64::try_from((0..lost).filter(|number| number % 4 == kind).count()).unwrap();
    assert_eq!(app.count("SELECT count(*) FROM operations"), i64::try_from(lost).unwrap());
    assert_eq!(app.count("SELECT count(*) FROM votes"), expected(0));
    assert_eq!(app.count("SELECT count(*) FROM comments"), expected(1));
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 1 + expected(2));
    assert_eq!(app.count("SELECT count(*) FROM changelogs"), expected(3));
    println!("{lost} responses lost after the commit, every retry replayed, nothing doubled");
}

/// Raw bytes of a POST request with the client's API key.
fn raw_post(client: &Client, path: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nX-Api-Key: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        client.host,
        client.key.as_deref().unwrap(),
        body.len()
    )
    .into_bytes()
}

/// Request whose head the service has read, and whose body is incomplete.
struct PartialRequest {
    stream: TcpStream,
    rest: Vec<u8>,
}

impl PartialRequest {
    fn new(client: &Client, path: &str, content_type: &str, body: &[u8]) -> Self {
        let mut stream = client.connect();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nX-Api-Key: {}\r\nContent-Type: {content_type}\r\n\
             Content-Length: {}\r\nExpect: 100-continue\r\n\r\n",
            client.host,
            client.key.as_deref().unwrap(),
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut begun = [0; 25];
        stream.read_exact(&mut begun).unwrap();
        assert_eq!(&begun, b"HTTP/1.1 100 Continue\r\n\r\n");
        let (now, rest) = body.split_at(body.len() / 2);
        stream.write_all(now).unwrap();
        Self { stream, rest: rest.to_vec() }
    }

    /// Sends the rest and returns the status line of the response.
    fn finish(mut self) -> String {
        self.stream.write_all(&self.rest).unwrap();
        let mut response = String::new();
        BufReader::new(self.stream).read_line(&mut response).unwrap();
        response.trim().to_owned()
    }
}

#[test]
fn a_signal_to_stop_aborts_no_request_in_flight() {
    const REQUESTS: u64 = 200;
    let mut app = App::start();
    app.acme.feature_request("Dark mode");
    let stops = rounds(1, 20);
    for stop in 0..stops {
        let requests: Vec<PartialRequest> = (0..REQUESTS)
            .map(|number| {
                let email = format!("customer{stop}.{number}@example.com");
                let body = json!({ "customer": { "email": email } }).to_string();
                PartialRequest::new(
                    &app.acme,
                    "/api/external/v1/feature_requests/1/upvotes",
                    "application/json",
                    body.as_bytes(),
                )
            })
            .collect();
        let form = form_with("a.txt", &[b'x'; 200_000]);
        let upload = PartialRequest::new(&app.acme, "/api/external/v2/attachments", FORM_TYPE, &form);
        app.terminate();
        eventually("nobody listens any more", || TcpStream::connect(("127.0.0.1", app.port())).is_err());
        let finished: Vec<String> = requests.into_iter().chain([upload]).map(PartialRequest::finish).collect();
        assert!(finished.iter().all(|line| line == "HTTP/1.1 201 Created"), "{finished:?}");
        assert!(app.wait_for_exit().success());
        app.kill();
        app.restart();
    }
    let expected = i64::try_from(stops * REQUESTS).unwrap();
    assert_eq!(app.count("SELECT count(*) FROM votes"), expected);
    assert_eq!(app.count("SELECT votes_count FROM vote_tallies"), expected);
    assert_eq!(app.count("SELECT count(*) FROM attachments"), i64::try_from(stops).unwrap());
    println!("{stops} signals, each with {REQUESTS} requests and an upload that had begun: none was aborted");
}

/// The files of a folder, to be written again after something was mounted over it.
pub struct StoredFiles(Vec<(PathBuf, Vec<u8>)>);

impl StoredFiles {
    pub fn read(folder: &Path) -> Self {
        let files = crate::app::files_below(folder).into_iter();
        Self(files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect())
    }

    pub fn write(self) {
        for (path, bytes) in self.0 {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }
}

/// Small file system mounted over a folder, with the folder's content. Unmounted when dropped.
pub struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    /// Mounts it over this folder, with the same owner.
    pub fn mount(folder: &'a Path) -> Self {
        let files = StoredFiles::read(folder);
        let owner = std::fs::metadata(folder).unwrap();
        let options = format!("size=32m,mode=700,uid={},gid={}", owner.uid(), owner.gid());
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(folder)
            .output()
            .expect("mount runs");
        assert!(
            mounted.status.success(),
            "this test needs a small disk, and mounting one needs root (leave it out with `--skip full_disk`): {}",
            String::from_utf8_lossy(&mounted.stderr)
        );
        files.write();
        Self(folder)
    }

    /// Fills all free space.
    pub fn fill(&self) {
        let mut ballast = std::fs::OpenOptions::new().create(true).append(true).open(self.0.join("ballast")).unwrap();
        for size in [1 << 20, 1 << 12, 1] {
            while ballast.write_all(&vec![0; size]).is_ok() {}
        }
    }

    /// Frees the space that [`Self::fill`] has used.
    pub fn free(&self) {
        std::fs::remove_file(self.0.join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// Beyond the contract: a full disk gets 503 and recovers; all other requests are served.
/// Decision 2.
#[test]
fn a_full_disk_refuses_writes_and_loses_nothing() {
    let mut app = App::start();
    app.kill();
    let folder = app.data_dir().to_owned();
    let disk = SmallDisk::mount(&folder);
    app.restart();
    app.acme.feature_request("Dark mode");
    let form = form_with("a.txt", &[b'x'; 300_000]);
    let unavailable = json!({ "error": "Service is temporarily unavailable" });
    let is_refused = |response: &Response| {
        assert_eq!((response.status, response.json()), (503, unavailable.clone()), "{}", response.text());
        assert!(response.header("retry-after").is_some());
    };

    disk.fill();
    is_refused(&app.acme.post_attachment(&form));
    // On PostgreSQL the records are elsewhere, and only files are rejected. `outages` tests a full disk of the
    // database.
    let mut refused = Vec::new();
    let mut taken = 0;
    if !*ON_POSTGRES {
        // The database's reserved space is used up first, so every kind is tried until it is rejected.
        for kind in 0..4 {
            let mut number = kind;
            loop {
                let (path, body) = write_request(number);
                let response = app.acme.send("POST", &path, &body);
                if response.status != 201 {
                    is_refused(&response);
                    refused.push(number);
                    break;
                }
                taken += 1;
                number += 4;
                assert!(number < 4_000, "the disk is not full");
            }
        }
    }
    assert_eq!(app.acme.get_tracks().status, 200);
    assert_eq!(app.acme.get_feature_requests("query=dark").status, 200);
    assert_eq!(app.acme.get_voters("1", "").status, 200);

    disk.free();
    // A rejected request has not used its operation key, and no restart is needed.
    for number in &refused {
        let (path, body) = write_request(*number);
        let response = app.acme.send("POST", &path, &body);
        assert_eq!((response.status, response.header("Idempotent-Replayed")), (201, None), "{}", response.text());
    }
    assert_eq!(app.acme.post_attachment(&form).status, 201);
    assert_eq!(app.count("SELECT count(*) FROM attachments"), 1);
    assert_eq!(app.count("SELECT count(*) FROM operations"), taken + i64::try_from(refused.len()).unwrap());
    app.data.is_sound();
    app.kill();
    app.restart();
    assert_eq!(app.acme.get_voters("1", "").status, 200);
}

/// Decision 7.
#[test]
fn a_terminated_process_finishes_its_requests_and_exits() {
    let mut app = App::start();
    app.acme.feature_request("Dark mode");
    let over = AtomicBool::new(false);
    let client = app.acme.clone();
    let acknowledged = AtomicU64::new(0);
    let status = std::thread::scope(|scope| {
        for writer in 0..4 {
            let (client, acknowledged, over) = (&client, &acknowledged, &over);
            scope.spawn(move || {
                for number in 0.. {
                    let body = json!({ "customer": { "email": format!("customer{writer}.{number}@example.com") } });
                    let headers = [("Content-Type", "application/json")];
                    let path = "/api/external/v1/feature_requests/1/upvotes";
                    match client.request("POST", path, &headers, Some(body.to_string().as_bytes())) {
                        Ok(response) => {
                            assert_eq!(response.status, 201, "{}", response.text());
                            acknowledged.fetch_add(1, Ordering::SeqCst);
                        }
                        // The server has shut down.
                        Err(_) if over.load(Ordering::SeqCst) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        eventually("writes are acknowledged", || acknowledged.load(Ordering::SeqCst) > 20);
        over.store(true, Ordering::SeqCst);
        app.terminate();
        app.wait_for_exit()
    });
    assert!(status.success(), "{status}");
    app.kill();
    app.restart();
    let votes = app.count("SELECT count(*) FROM votes");
    assert!(votes >= i64::try_from(acknowledged.load(Ordering::SeqCst)).unwrap());
    assert_eq!(app.count("SELECT votes_count FROM vote_tallies"), votes);
}

/// Decision 2: failures inside the server have an `error` in the body too.
/// Decision 2: anything unexpected is 500, with details in the log only.
#[test]
fn unreadable_data_is_an_error_of_its_request_only() {
    let app = App::start();
    let body = json!({ "feature_request": { "title": "Dark mode" }, "customer": { "email": "ann@example.com" } });
    app.acme.post_feature_request(&body);
    let beyond = if *ON_POSTGRES { "'infinity'" } else { "9223372036854775807" };
    app.data.execute(&format!("UPDATE feature_requests SET created_at = {beyond}"));
    app.acme.get_votes("email=ann@example.com").is_error(500, "Something went wrong");
    let log = std::fs::read_to_string(app.data_dir().join("server.log")).unwrap();
    assert!(log.contains("stored data is inconsistent: feature_requests.created_at of row"), "{log}");
    assert_eq!(app.acme.get_tracks().status, 200);
}
