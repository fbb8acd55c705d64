//! `roadmap move`: from SQLite to PostgreSQL.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use roadmap_testkit::postgres::{self, Database};
use serde_json::{Value, json};

use crate::app::{App, Finished, roadmap_command, run};
use crate::browser::Browser;
use crate::database::{Data, ON_POSTGRES};
use crate::demo::demo;
use crate::doctor::Tenant;
use crate::effort::{SeededRng, rounds};
use crate::exports::{export_in, fill};

/// A database that is to be filled.
fn target() -> Database {
    Database::empty(&postgres::server())
}

/// The settings of a service on PostgreSQL. On a busy machine a connection or a statement takes seconds.
fn settings(url: &str) -> [(&str, &str); 3] {
    [("ROADMAP_DATABASE_URL", url), ("ROADMAP_READ_WAIT", "20s"), ("ROADMAP_STATEMENT_TIMEOUT", "20s")]
}

/// Moves the data of a folder.
fn move_to(data: &Path, url: &str) -> Finished {
    run(data, &["move", "--to", url], &settings("sqlite://./roadmap.db"))
}

/// The files of the database that have bytes, with them.
fn files(data: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = ["roadmap.db", "roadmap.db-wal"].map(|name| data.join(name));
    let read = paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap_or_default()));
    read.filter(|(_, bytes)| !bytes.is_empty()).collect()
}

/// Asserts that a move is refused, and that neither database has changed. Returns the message.
#[track_caller]
fn refused(data: &Path, url: &str) -> String {
    let before = files(data);
    let Finished { success, stdout, stderr } = move_to(data, url);
    assert!(!success && stdout.is_empty(), "{stdout}{stderr}");
    assert!(files(data) == before, "the database has changed");
    assert!(!stderr.contains("s3cret"), "{stderr}");
    stderr
}

/// Whether a database has a workspace.
fn has_workspace(database: &Database) -> bool {
    database.rows("SELECT to_regclass('workspaces')")[0][0].is_some()
        && !database.rows("SELECT id FROM workspaces").is_empty()
}

/// What programs read of a workspace.
fn readings(app: &App) -> Vec<Value> {
    let acme = &app.acme;
    let searches = ["dark", "night", "secret", "nigth", "elsewhere", "oled"].map(|words| format!("query={words}"));
    let mut readings: Vec<Value> = searches.iter().map(|query| acme.get_feature_requests(query).is_ok()).collect();
    readings.extend([
        acme.get_tracks().is_ok(),
        acme.get_lanes().is_ok(),
        acme.get_roadmap("").is_ok(),
        acme.get_changelogs("").is_ok(),
        acme.get_customers("").is_ok(),
        acme.get_votes("email=bob@a.example").is_ok(),
        acme.get_tags("").is_ok(),
        acme.get_members().is_ok(),
        acme.get_synonyms().is_ok(),
        acme.get_held_posts("").is_ok(),
        acme.get_audit_entries("").is_ok(),
    ]);
    readings.extend((1..=7).filter(|number| *number != 5).map(|number| acme.detail(&number.to_string())));
    readings
}

/// Import contract 7: after a move everything is what it was, retries are replayed, sessions go on, counts are counted on.
#[test]
fn everything_goes_on_after_a_move() {
    let mut app = App::start();
    if *ON_POSTGRES {
        let message = run(app.data_dir(), &["move", "--to", "postgres://localhost/roadmap"], &[]).stderr;
        assert!(message.contains("not a file: only an embedded database is moved"), "{message}");
        return;
    }
    fill(&app);
    let other = app.workspace("other");
    other.feature_request("Of another workspace");
    let acme = &app.acme;
    let key = json!("0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b");
    let vote = json!({ "customer": { "email": "gus@c.example" }, "operation_key": key });
    let cast = acme.post_upvote("1", &vote);
    assert_eq!(cast.status, 201, "{}", cast.text());
    acme.comment_by("1", "gus@c.example", "<p>How about that?</p>");
    let browser = Browser::signed_in(&app, "bob@a.example");
    let exported = export_in(app.data_dir(), "before.zip", &[]);
    let before = readings(&app);
    let port = app.port();

    let target = target();
    assert!(refused(app.data_dir(), &target.url).contains("roadmap.db is in use; stop the service first"));
    // Killed, so that the write-ahead log has what the file has not.
    app.kill();
    let before_move = files(app.data_dir());
    let moved = move_to(app.data_dir(), &target.url);
    let tables = moved.json()["tables"].as_array().expect("tables").clone();
    assert!(files(app.data_dir()) == before_move, "the database has changed");
    let rows = |name: &str| tables.iter().find(|table| table["name"] == name).expect("a table")["rows"].clone();
    assert_eq!((rows("workspaces"), rows("feature_requests")), (json!(2), json!(7)));
    for table in ["outbox", "operations", "audit_entries", "sessions", "imports"] {
        assert_eq!(rows(table), app.count(&format!("SELECT count(*) FROM {table}")), "{table}");
        assert_ne!(rows(table), 0, "{table}");
    }
    assert!(tables.iter().all(|table| table["digest"].as_str().expect("a digest").len() == 64));
    for part in ["database_url (ROADMAP_DATABASE_URL)", "secret (ROADMAP_SECRET)", "storage_url stays ./blobs"] {
        assert!(moved.stderr.contains(part), "{}", moved.stderr);
    }
    assert!(refused(app.data_dir(), &target.url).contains("it has a workspace already"));

    app.set_environment(&settings(&target.url));
    app.restart_at(port);
    assert_eq!(readings(&app), before);
    let again = export_in(app.data_dir(), "after.zip", &settings(&target.url));
    assert!(again.lasting() == exported.lasting(), "the exports differ");
    assert!(browser.page("/account").contains("bob@a.example"));
    let acme = &app.acme;
    let replayed = acme.post_upvote("1", &vote);
    assert_eq!((replayed.status, replayed.header("Idempotent-Replayed")), (201, Some("true")));
    assert_eq!(replayed.bytes, cast.bytes);

    // A vote of somebody new counts, one of somebody who voted for what was merged does not.
    let votes = |id: &str| acme.detail(id)["votes_count"].as_i64().expect("a number");
    let count = votes("1");
    acme.vote("1", "hal@d.example");
    acme.vote("1", "dan@b.example");
    assert_eq!(votes("1"), count + 1);
    let merged = target.rows("SELECT id::text FROM feature_requests WHERE tag_number = 2 AND root_id IS NOT NULL");
    acme.unmerge(merged[0][0].as_deref().expect("an ID"));
    assert_eq!(acme.feature_request("Next")["url"], "https://acme.roadmap.example.com/feature_requests/8-next");
    let environment = settings(&target.url);
    let findings = app.roadmap_with_environment(&["doctor", "--json"], &environment);
    let findings: Vec<Value> = serde_json::from_str(&findings.stdout).expect("findings");
    for check in ["votes", "search", "schema"] {
        let finding = findings.iter().find(|finding| finding["check"] == check).expect("a finding");
        assert_eq!(finding["result"], "ok", "{finding}");
    }
    app.has_logged_no_failure();
}

/// Import contract 7: the demo, which has everything that a team makes, in both forms of the output.
#[test]
fn the_demo_is_moved() {
    if *ON_POSTGRES {
        return;
    }
    let data = Data::empty();
    let (server, _) = demo(&data);
    server.stop();
    let exported = |name: &str, environment: &[(&str, &str)]| {
        let path = data.path().join(name);
        run(data.path(), &["export", "--workspace", "demo", "--to", path.to_str().expect("text")], environment).json()
    };
    let before = exported("before.zip", &[]);
    // As docs/operations.md describes it: a login that owns the database, and nothing else.
    let Tenant { login, role, url, .. } = &Tenant::new("move");
    let create = format!("CREATE ROLE {role} NOLOGIN; GRANT {role} TO {login}");
    postgres::execute(&postgres::server(), &create).expect("a role");
    let mut command = roadmap_command(data.path());
    command.args(["move", "--to", url]).envs(settings("sqlite://./roadmap.db")).env("ROADMAP_DATABASE_ROLE", role);
    let output = command.output().expect("the command runs");
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{stderr}");
    assert!(stdout.lines().any(|line| line.split_whitespace().take(2).eq(["feature_requests", "71"])), "{stdout}");
    assert!(stderr.contains("secret (ROADMAP_SECRET)              stays as it is"), "{stderr}");
    assert!(stderr.contains("is unchanged, and not used any more"), "{stderr}");
    let there = [&settings(url)[..], &[("ROADMAP_DATABASE_ROLE", role)]].concat();
    let after = exported("after.zip", &there);
    let digests = |export: &Value| {
        let entries = export["entries"].as_array().expect("entries").clone();
        entries.into_iter().filter(|entry| entry["name"] != "manifest.json").collect::<Vec<_>>()
    };
    assert_eq!(digests(&before), digests(&after));
}

/// Import contract 7: what cannot be the source or the target is refused with a reason, and without a password.
#[test]
fn what_cannot_be_moved_is_refused() {
    if *ON_POSTGRES {
        return;
    }
    let mut app = App::start();
    app.kill();
    let data = app.data_dir();
    let target = target();
    for (url, part) in [
        ("sqlite:///tmp/other.db", "--to is no URL such as postgres://user:password@host/database"),
        ("postgres://ann:s3cret@127.0.0.1:1/roadmap", "the database server cannot be reached"),
        ("postgres://ann:s3cret@127.0.0.1:port/roadmap", "the database URL is not one that PostgreSQL's clients"),
    ] {
        let message = refused(data, url);
        assert!(message.contains(part), "{message}");
    }
    let empty = tempfile::tempdir().expect("a folder");
    assert!(move_to(empty.path(), &target.url).stderr.contains("there is no database"));
    assert!(!has_workspace(&target) && target.rows("SELECT to_regclass('workspaces')")[0][0].is_none());

    // A table or column that one side does not know is never left out.
    run(data, &["migrate"], &settings(&target.url)).json();
    for (change, back, part) in [
        ("CREATE TABLE boxes (id uuid)", "DROP TABLE boxes", "the table boxes, which only PostgreSQL has"),
        (
            "ALTER TABLE votes ADD COLUMN weight bigint",
            "ALTER TABLE votes DROP COLUMN weight",
            "the column votes.weight, which only PostgreSQL has",
        ),
        (
            "ALTER TABLE votes ADD COLUMN place point",
            "ALTER TABLE votes DROP COLUMN place",
            "does not know the type point of votes.place",
        ),
        ("CREATE SEQUENCE numbers", "DROP SEQUENCE numbers", "the table numbers, which only PostgreSQL has"),
        (
            "INSERT INTO __diesel_schema_migrations VALUES ('99990101000000')",
            "DELETE FROM __diesel_schema_migrations WHERE version = '99990101000000'",
            "it has the schema of a newer version of roadmap (migration 99990101000000)",
        ),
    ] {
        target.execute(change);
        let message = refused(data, &target.url);
        assert!(message.contains(part), "{message}");
        target.execute(back);
    }
    for (change, back, part) in [
        ("CREATE TABLE boxes (id)", "DROP TABLE boxes", "the table boxes, which only SQLite has"),
        (
            "ALTER TABLE votes ADD COLUMN weight INTEGER",
            "ALTER TABLE votes DROP COLUMN weight",
            "the column votes.weight, which only SQLite has",
        ),
        (
            "INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101000000')",
            "DELETE FROM __diesel_schema_migrations WHERE version = '99990101000000'",
            "the database has the schema of a newer version of roadmap (migration 99990101000000)",
        ),
        (
            "CREATE TABLE kept AS SELECT max(version) AS version FROM __diesel_schema_migrations;
             DELETE FROM __diesel_schema_migrations WHERE version = (SELECT version FROM kept)",
            "INSERT INTO __diesel_schema_migrations (version) SELECT version FROM kept; DROP TABLE kept",
            "it has the schema of an older version of roadmap; run `roadmap migrate`",
        ),
        // Values that PostgreSQL cannot store.
        (
            "UPDATE settings SET product_name = 'Ac' || char(0) || 'me'",
            "UPDATE settings SET product_name = 'Acme'",
            "PostgreSQL cannot store settings.product_name of the row workspace_id ",
        ),
        (
            "UPDATE members SET name = CAST(x'4fff' AS TEXT)",
            "UPDATE members SET name = 'Olga'",
            "it is not valid UTF-8",
        ),
        (
            "UPDATE members SET created_at = 9223372036854775807",
            "UPDATE members SET created_at = 0",
            "it is out of range",
        ),
    ] {
        app.data.execute(change);
        let message = refused(data, &target.url);
        assert!(message.contains(part), "{message}");
        assert!(!has_workspace(&target));
        app.data.execute(back);
    }
    move_to(data, &target.url).json();
    assert!(has_workspace(&target));
}

/// Import contract 7: a move that is killed at any point leaves nothing, and can be repeated.
#[test]
fn a_killed_move_leaves_nothing() {
    if *ON_POSTGRES {
        return;
    }
    let mut app = App::start();
    let posts = app.data_dir().join("posts.csv");
    let lines: String = (0..2_000).map(|number| format!("{number},Idea {number},Words of {number}\n")).collect();
    std::fs::write(&posts, format!("id,title,description\n{lines}")).expect("a file");
    app.roadmap(&["import", "csv", posts.to_str().expect("text"), "--workspace", "acme"]).json();
    app.kill();
    let before = files(app.data_dir());
    let took = {
        let (whole, began) = (target(), Instant::now());
        move_to(app.data_dir(), &whole.url).json();
        began.elapsed()
    };
    let (target, mut random) = (target(), SeededRng::from_env());
    let mut is_whole = false;
    for _ in 0..rounds(5, 50) {
        let mut child = roadmap_command(app.data_dir())
            .args(["move", "--to", &target.url])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command runs");
        std::thread::sleep(Duration::from_millis(random.below(u64::try_from(took.as_millis()).unwrap())));
        let _ = child.kill();
        let _ = child.wait();
        assert!(files(app.data_dir()) == before, "the database has changed");
        // Everything or nothing, but for the schema. A move that came to its end is everything.
        if has_workspace(&target) {
            assert_eq!(target.rows("SELECT count(*)::text FROM feature_requests")[0][0].as_deref(), Some("2000"));
            is_whole = true;
            break;
        }
    }
    if is_whole {
        assert!(refused(app.data_dir(), &target.url).contains("it has a workspace already"));
    } else {
        move_to(app.data_dir(), &target.url).json();
    }
    assert_eq!(
        target.rows("SELECT all_count::text FROM track_tallies WHERE all_count > 0")[0][0].as_deref(),
        Some("2000")
    );
}
