//! What must survive: a killed process, a reset connection, a panic of the network.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::app::{App, Client, at_once, eventually};
use crate::database::ON_POSTGRES;

const WRITERS: usize = 8;
const KILLS: u64 = 10;

/// A small generator of repeatable chance: each run prints its seed.
struct Chance(u64);

impl Chance {
    #[expect(clippy::disallowed_methods, reason = "the seed of a test is no setting of the service")]
    fn seeded() -> Self {
        let seed = std::env::var("TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
        println!("TEST_SEED={seed}");
        Self(seed)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[test]
fn a_killed_process_loses_no_acknowledged_write_and_doubles_none() {
    let mut chance = Chance::seeded();
    let mut app = App::start();
    app.acme.feature_request("Dark mode");
    let acknowledged: Mutex<HashMap<String, Vec<u8>>> = Mutex::default();
    let numbers = AtomicU64::new(0);
    let attempts = AtomicU64::new(0);

    for _ in 0..KILLS {
        let client = app.acme.clone();
        std::thread::scope(|scope| {
            for _ in 0..WRITERS {
                // Until the server is gone.
                scope.spawn(
                    || while write(&client, numbers.fetch_add(1, Ordering::SeqCst), &acknowledged, &attempts) {},
                );
            }
            // Writes must be under way, then the blow falls at any moment.
            let before = acknowledged.lock().unwrap().len();
            eventually("writes are acknowledged", || acknowledged.lock().unwrap().len() > before + 8);
            std::thread::sleep(Duration::from_millis(chance.below(120)));
            app.kill();
        });
        app.start_again();
    }

    // Every client sends again what it has no answer for.
    let all = numbers.load(Ordering::SeqCst);
    let first_answers = acknowledged.lock().unwrap().clone();
    for number in 0..all {
        assert!(write(&app.acme, number, &acknowledged, &attempts), "no answer to the retry of {number}");
    }
    for (key, answer) in &first_answers {
        assert_eq!(acknowledged.lock().unwrap()[key], *answer, "the replay of {key} differs");
    }
    println!(
        "{all} writes, {} acknowledged before a kill, {} calls",
        first_answers.len(),
        attempts.load(Ordering::SeqCst)
    );
    assert!(first_answers.len() > 48, "too few writes to say anything");

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

/// One write of the kind that its number says, under a key of its own. Returns whether there was an
/// answer, which is remembered.
fn write(client: &Client, number: u64, acknowledged: &Mutex<HashMap<String, Vec<u8>>>, attempts: &AtomicU64) -> bool {
    let key = format!("write-{number}");
    let (method, path, body) = match number % 4 {
        0 => (
            "POST",
            "/feature_requests/1/upvotes",
            json!({
                "customer": { "email": format!("customer{number}@example.com") },
                "reference_note": { "body": "note" },
                "operation_key": key,
            }),
        ),
        1 => {
            ("POST", "/feature_requests/1/comments", json!({ "comment": { "content": "text" }, "operation_key": key }))
        }
        2 => (
            "POST",
            "/feature_requests",
            json!({ "feature_request": { "title": format!("Request {number}") }, "operation_key": key }),
        ),
        _ => {
            ("POST", "/changelogs", json!({ "changelog": { "title": "1.0", "content": "new" }, "operation_key": key }))
        }
    };
    attempts.fetch_add(1, Ordering::SeqCst);
    let headers = [("Content-Type", "application/json")];
    let answer = client.call(method, &format!("/api/external/v1{path}"), &headers, Some(body.to_string().as_bytes()));
    let Ok(answer) = answer else { return false };
    assert_eq!(answer.status, 201, "{}", answer.text());
    acknowledged.lock().unwrap().insert(key, answer.bytes);
    true
}

#[test]
fn a_reset_connection_leaves_no_open_transaction_and_no_half_write() {
    let mut chance = Chance::seeded();
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let request = |number: u64| {
        let body = json!({
            "customer": { "email": format!("customer{number}@example.com") },
            "reference_note": { "body": "note" },
            "operation_key": format!("reset-{number}"),
        })
        .to_string();
        let Client { host, key, .. } = &app.acme;
        format!(
            "POST /api/external/v1/feature_requests/1/upvotes HTTP/1.1\r\nHost: {host}\r\nX-Api-Key: {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            key.as_deref().unwrap(),
            body.len()
        )
    };
    let pauses: Vec<u64> = (0..200).map(|_| chance.below(3_000)).collect();
    at_once(4, |thread| {
        for number in (thread..pauses.len()).step_by(4) {
            let mut stream = TcpStream::connect(("127.0.0.1", app.port())).unwrap();
            stream.write_all(request(number as u64).as_bytes()).unwrap();
            let until = Instant::now() + Duration::from_micros(pauses[number]);
            while Instant::now() < until {
                std::hint::spin_loop();
            }
            reset(stream);
        }
    });
    // A write of another client goes through at once: nobody holds the database.
    let answer = app.acme.post_upvote("1", &json!({ "customer": { "email": "last@example.com" } }));
    assert_eq!(answer.status, 201);
    // What was written was written whole: each key with its vote and its note, and the tally of all.
    let whole = || {
        let operations = app.count("SELECT count(*) FROM operations");
        app.count("SELECT count(*) FROM notes") == operations
            && app.count("SELECT count(*) FROM votes") == operations + 1
            && app.count("SELECT votes_count FROM vote_tallies") == operations + 1
    };
    eventually("all that was begun is done", whole);
    // The client comes back with its keys, and each has one effect.
    for number in 0..pauses.len() as u64 {
        let mut stream = TcpStream::connect(("127.0.0.1", app.port())).unwrap();
        stream.set_read_timeout(Some(crate::app::PATIENCE)).unwrap();
        stream.write_all(request(number).as_bytes()).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 201");
    }
    eventually("all is written", whole);
    assert_eq!(app.count("SELECT count(*) FROM operations"), pauses.len() as i64);
}

/// Closes a connection with a reset instead of a goodbye.
fn reset(stream: TcpStream) {
    let socket = socket2::Socket::from(stream);
    socket.set_linger(Some(Duration::ZERO)).unwrap();
}

#[test]
fn a_terminated_process_finishes_its_calls_and_exits() {
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
                    match client.call("POST", path, &headers, Some(body.to_string().as_bytes())) {
                        Ok(answer) => {
                            assert_eq!(answer.status, 201, "{}", answer.text());
                            acknowledged.fetch_add(1, Ordering::SeqCst);
                        }
                        // Nobody listens any more.
                        Err(_) if over.load(Ordering::SeqCst) => break,
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        eventually("writes are acknowledged", || acknowledged.load(Ordering::SeqCst) > 20);
        over.store(true, Ordering::SeqCst);
        let terminated =
            std::process::Command::new("sh").args(["-c", &format!("kill -TERM {}", app.process())]).status();
        assert!(terminated.unwrap().success());
        app.wait_for_exit()
    });
    assert!(status.success(), "{status}");
    app.kill();
    app.start_again();
    let votes = app.count("SELECT count(*) FROM votes");
    assert!(votes >= i64::try_from(acknowledged.load(Ordering::SeqCst)).unwrap());
    assert_eq!(app.count("SELECT votes_count FROM vote_tallies"), votes);
}

#[test]
fn data_that_cannot_be_read_back_is_an_error_and_nothing_more() {
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
