//! Graceful shutdown: readiness fails first, and new requests are rejected a little later.

use std::time::{Duration, Instant};

use crate::app::{App, eventually};

#[test]
fn readiness_ends_first_and_requests_are_served_until_the_delay_is_over() {
    let mut app = App::with(&[], &[("ROADMAP_SHUTDOWN_DELAY", "3s")]);
    assert_eq!(app.acme.get("/readyz").status, 200);
    let signalled = Instant::now();
    app.terminate();
    eventually("it is not ready", || app.acme.get("/readyz").status == 503);
    // New connections are served while the delay is certainly not over.
    let mut completed = 0;
    while signalled.elapsed() < Duration::from_secs(1) {
        assert_eq!(app.acme.get_tracks().status, 200);
        assert_eq!(app.acme.get("/healthz").status, 200);
        app.acme.get("/readyz").is_error(503, "Service is temporarily unavailable");
        completed += 1;
    }
    assert!(completed > 0, "the machine was too slow");
    let status = app.wait_for_exit();
    assert!(status.success(), "{status}");
    assert!(signalled.elapsed() >= Duration::from_secs(3), "the delay was cut short: {:?}", signalled.elapsed());
}

#[test]
fn a_second_signal_ends_the_delay() {
    let mut app = App::with(&[], &[("ROADMAP_SHUTDOWN_DELAY", "10m")]);
    app.terminate();
    eventually("it is not ready", || app.acme.get("/readyz").status == 503);
    app.terminate();
    let status = app.wait_for_exit();
    assert!(status.success(), "{status}");
}

/// A closed terminal sends this signal.
#[test]
fn a_hangup_is_a_graceful_stop() {
    let mut app = App::start();
    let killed = std::process::Command::new("kill").args(["-HUP", &app.process_id().to_string()]).status().unwrap();
    assert!(killed.success());
    let status = app.wait_for_exit();
    assert!(status.success(), "{status}");
    let log = std::fs::read_to_string(app.data_dir().join("server.log")).unwrap();
    assert!(log.contains("shutting down"), "{log}");
}

#[test]
fn searches_that_found_nothing_are_written_at_the_end() {
    let mut app = App::start();
    app.acme.feature_request("Dark mode");
    for query in ["Gantt", "gantt", "ann@example.com", "dark"] {
        app.acme.get_feature_requests(&format!("query={query}")).is_ok();
    }
    app.terminate();
    let status = app.wait_for_exit();
    assert!(status.success(), "{status}");
    let searches = app.sql("SELECT words || ': ' || count FROM missed_searches");
    assert_eq!(searches, ["gantt: 2"]);
}
