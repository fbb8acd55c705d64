//! `roadmap doctor`: every finding is provoked, and its whole output is asserted.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use roadmap_testkit::postgres::{self, Connection, Database};
use roadmap_testkit::smtp::{Reply, Setup, Sink, Step};
use serde_json::{Value, json};

use crate::app::{App, BASE_HOST, Client, Server, run};
use crate::database::{Data, ON_POSTGRES, url_for};

const BASE_URL: &str =
    "https://roadmap.example.com; *.roadmap.example.com must lead to the service, with a certificate";

const ENCRYPTED: &str = "cookies of sessions are encrypted and bound to the host of their workspace";

const ORIGIN: &str =
    "pages accept forms from https://*.roadmap.example.com only, as browsers show it in the address bar";

const NO_DOUBLES: &str = "no two customers or members of a workspace have the same address";

fn finding(check: &str, result: &str, found: &str, fix: Option<&str>) -> Value {
    json!({ "check": check, "result": result, "found": found, "fix": fix })
}

fn ok(check: &str, found: &str) -> Value {
    finding(check, "ok", found, None)
}

fn warning(check: &str, found: &str, fix: &str) -> Value {
    finding(check, "warning", found, Some(fix))
}

fn problem(check: &str, found: &str, fix: &str) -> Value {
    finding(check, "problem", found, Some(fix))
}

/// Runs doctor with `--json` and returns its findings, with the amount of free space masked. Asserts that it fails if
/// and only if there is a problem.
#[track_caller]
fn run_doctor(folder: &Path, environment: &[(&str, &str)]) -> Vec<Value> {
    let finished = run(folder, &["doctor"], environment);
    let mut findings: Vec<Value> =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.stderr));
    let problems = findings.iter().filter(|finding| finding["result"] == "problem").count();
    let says = match problems {
        0 => String::new(),
        1 => "error: 1 problem found\n".to_owned(),
        many => format!("error: {many} problems found\n"),
    };
    assert_eq!((finished.success, &finished.stderr), (problems == 0, &says), "{findings:?}");
    // Tests also run on machines with little free space.
    if let Some(disk) = findings.iter_mut().find(|finding| finding["check"] == "disk") {
        let found = disk["found"].as_str().expect("text");
        let megabytes = found.strip_suffix(" MB are free for .").expect("free space").parse::<u64>().expect("a number");
        assert!(megabytes > 200, "{found}");
        *disk = json!("disk");
    }
    findings
}

/// Returns the only finding of a check.
#[track_caller]
fn finding_of(check: &str, findings: &[Value]) -> Value {
    let matching: Vec<&Value> = findings.iter().filter(|finding| finding["check"] == check).collect();
    assert_eq!(matching.len(), 1, "{check}: {findings:?}");
    matching[0].clone()
}

fn database_name(data: &Data) -> String {
    url_for(data.path()).unwrap_or_else(|| "./roadmap.db".to_owned())
}

/// Creates SQLite data with a workspace.
fn embedded() -> Data {
    let data = Data::file();
    let website = "https://acme.example";
    run(data.path(), &["workspace", "create", "acme", "--product-name", "Acme", "--website-url", website], &[]).json();
    data
}

fn database_findings(data: &Data) -> Vec<Value> {
    if url_for(data.path()).is_some() {
        let role = "roadmap_service, which owns nothing and sees one workspace at a time";
        let durable = data.rows("SELECT setting FROM pg_settings WHERE name = 'fsync'") == ["on"];
        let durability = if durable {
            ok("durability", "fsync is on")
        } else {
            let found = "fsync is off on the server: a crash of its machine can lose acknowledged writes";
            warning("durability", found, "set fsync = on in postgresql.conf")
        };
        vec![
            ok("database", &format!("{} is reachable", database_name(data))),
            ok("schema", "it is up to date"),
            ok("role", role),
            durability,
            ok("usage", "no workspace is above 90 % of a budget"),
            ok("search", "all feature requests are indexed by this version"),
            ok("addresses", NO_DOUBLES),
            ok("votes", "all numbers of votes are right"),
            privileges_finding(data),
            ok("clock", "it agrees with the database server's"),
        ]
    } else {
        vec![
            ok("database", &format!("{} is intact and can be written", database_name(data))),
            ok("schema", "it is up to date"),
            ok("usage", "no workspace is above 90 % of a budget"),
            ok("search", "all feature requests are indexed by this version"),
            ok("addresses", NO_DOUBLES),
            ok("votes", "all numbers of votes are right"),
            ok("clock", "no row is newer than now"),
        ]
    }
}

/// Expected finding for the login of the test server, which is a superuser.
fn privileges_finding(data: &Data) -> Value {
    let login = &data.rows("SELECT current_user::text")[0];
    warning(
        "privileges",
        &format!("{login} is a superuser"),
        "ask an administrator of the server: create a login that is not a superuser, as docs/operations.md \
         (PostgreSQL) describes, let it own the database and its tables, and use it in database_url",
    )
}

fn settings_findings(data: &Data) -> Value {
    if url_for(data.path()).is_some() {
        warning(
            "settings",
            "the database is a server, but files are in the folder ./blobs",
            "if processes run on several machines, set storage_url to a bucket or a shared folder",
        )
    } else {
        ok("settings", "they are valid and consistent")
    }
}

#[test]
fn a_healthy_service_has_no_problems() {
    let app = App::start();
    let sink = Sink::start();
    let environment = [
        ("ROADMAP_SMTP_URL", sink.url()),
        ("ROADMAP_MAIL_FROM", "a@acme.example".to_owned()),
        ("ROADMAP_TRUST_PROXY", "x-forwarded".to_owned()),
    ];
    let environment = environment.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut expected = vec![settings_findings(&app.data), ok("base_url", BASE_URL)];
    expected.push(ok("https", ENCRYPTED));
    expected.push(ok("origin", ORIGIN));
    expected.extend([ok("proxy", "X-Forwarded-For and X-Forwarded-Host are trusted from 127.0.0.0/8, ::1/128")]);
    expected.push(ok("secret", "it is set"));
    expected.extend(database_findings(&app.data));
    expected.push(ok("storage", "./blobs can be written, read and deleted from"));
    expected.push(ok("access", "only the owner has access to the data"));
    expected.push(ok("mail", &format!("smtp://127.0.0.1:{} accepts mail from a@acme.example", sink.port())));
    expected.push(json!("disk"));
    assert_eq!(run_doctor(app.data_dir(), &environment), expected);
    // Nothing was sent, and no files are left.
    assert_eq!(sink.count(), 0);
    assert_eq!(std::fs::read_dir(app.data_dir().join("blobs")).unwrap().count(), 0);
    assert_eq!(app.acme.get_tracks().status, 200);
}

#[test]
fn text_output_has_a_line_for_each_finding_and_each_fix() {
    let data = embedded();
    let environment = [("ROADMAP_DATABASE_URL", ""), ("ROADMAP_BASE_URL", "http://roadmap.example.com")];
    let app = Command::new(env!("CARGO_BIN_EXE_roadmap"))
        .current_dir(data.path())
        .args(["--data-dir", ".", "doctor", "--storage-url", "file://./roadmap.db"])
        .env("ROADMAP_SECRET", "0123456789abcdef0123456789abcdef")
        .envs(environment)
        .output()
        .expect("the binary runs");
    let printed = String::from_utf8(app.stdout).unwrap();
    let of_disk = |line: &str| line.contains(" disk  ") || line.contains("fix: free disk space");
    let lines: Vec<&str> = printed.lines().filter(|line| !of_disk(line)).collect();
    let expected = [
        "ok       settings   they are valid and consistent",
        "ok       base_url   http://roadmap.example.com; *.roadmap.example.com must lead to the service",
        "warning  https      http://roadmap.example.com is not encrypted: keys and cookies of sessions can be intercepted, browsers do \
         not say whether a form comes from the same site, and one-click unsubscribe does not work",
        "                    fix: put a proxy with a certificate in front of the service, and set base_url to its https:// URL",
        "ok       origin     pages accept forms from http://*.roadmap.example.com only, as browsers show it in the address bar",
        "ok       proxy      headers of proxies are ignored",
        "ok       secret     it is set",
        "ok       database   ./roadmap.db is intact and can be written",
        "ok       schema     it is up to date",
        "ok       usage      no workspace is above 90 % of a budget",
        "ok       search     all feature requests are indexed by this version",
        "ok       addresses  no two customers or members of a workspace have the same address",
        "ok       votes      all numbers of votes are right",
        "ok       clock      no row is newer than now",
        "problem  storage    ./roadmap.db does not work: the storage ./roadmap.db cannot be opened: \
         File exists (os error 17)",
        "                    fix: make the service's user the owner of the folder and its content, and check the free disk space",
        "ok       access     only the owner has access to the data",
        "warning  mail       there is no mail server: mail is written to files in ./mail",
        "                    fix: to send mail, set smtp_url and mail_from",
    ];
    assert_eq!(lines, expected);
    assert_eq!(String::from_utf8(app.stderr).unwrap(), "error: 1 problem found\n");
    assert_eq!(app.status.code(), Some(1));
}

#[test]
fn invalid_settings_are_the_only_finding() {
    let data = embedded();
    for (name, value, found) in [
        ("ROADMAP_WORKERS", "0", "the setting workers must be at least 1"),
        ("ROADMAP_SECRET", "short", "the setting secret is not a secret of at least 32 characters"),
        (
            "ROADMAP_SMTP_URL",
            "smtp://u:s3cret@mail.example.com",
            "the setting mail_from is required with smtp_url: the address that mail is sent from",
        ),
    ] {
        let expected = problem("settings", found, "docs/configuration.md lists all settings and their values");
        assert_eq!(run_doctor(data.path(), &[(name, value)]), [expected]);
    }
}

#[test]
fn inconsistent_settings_are_reported() {
    let data = embedded();
    let own = "give metrics_listen a port of its own, for example 127.0.0.1:9464";
    let private = "set metrics_listen to a loopback address or to one of a private network";
    let at = |name: &str| format!("set {name} to an address and a port, for example 127.0.0.1:8080");
    let secret = "0123456789abcdef0123456789abcdef";
    for (environment, expected) in [
        (
            vec![("ROADMAP_LOG", "info,=")],
            problem(
                "settings",
                "the setting log is `info,=`, which is not a filter such as info: invalid filter directive",
                "set log to a level such as info",
            ),
        ),
        (
            vec![("ROADMAP_LISTEN", "8080")],
            problem("settings", "listen is `8080`, which is not an address to listen on", &at("listen")),
        ),
        (
            vec![("ROADMAP_METRICS_LISTEN", "127.0.0.1")],
            problem(
                "settings",
                "metrics_listen is `127.0.0.1`, which is not an address to listen on",
                &at("metrics_listen"),
            ),
        ),
        (
            vec![("ROADMAP_METRICS_LISTEN", "127.0.0.1:8080")],
            problem("settings", "listen and metrics_listen have the same port, 8080", own),
        ),
        (
            vec![("ROADMAP_LISTEN", "[::]:9464"), ("ROADMAP_METRICS_LISTEN", "127.0.0.1:9464")],
            problem("settings", "listen and metrics_listen have the same port, 9464", own),
        ),
        (
            // Both can be bound.
            vec![("ROADMAP_LISTEN", "10.0.0.5:8080"), ("ROADMAP_METRICS_LISTEN", "127.0.0.1:8080")],
            ok("settings", "they are valid and consistent"),
        ),
        (
            vec![("ROADMAP_METRICS_LISTEN", "0.0.0.0:9464")],
            warning("settings", "metrics are served at 0.0.0.0:9464 without a login, also to other machines", private),
        ),
        (
            vec![("ROADMAP_SECRET", secret), ("ROADMAP_PREVIOUS_SECRETS", secret)],
            warning(
                "settings",
                "secret is also one of previous_secrets",
                "remove it from previous_secrets, which is for replaced secrets",
            ),
        ),
    ] {
        assert_eq!(finding_of("settings", &run_doctor(data.path(), &environment)), expected);
    }
    let server = [("ROADMAP_DATABASE_URL", "postgres://ann:s3cret@127.0.0.1:1/roadmap")];
    assert_eq!(finding_of("settings", &run_doctor(data.path(), &server))["result"], "warning");
}

#[test]
fn a_proxy_that_is_not_trusted_or_not_alone_is_reported() {
    let data = embedded();
    let unknown = "https://roadmap.example.com needs a proxy, but trust_proxy is off: all clients share the rate limits of the proxy's address";
    let family = "set trust_proxy to the headers that the proxy sets, forwarded or x-forwarded, and proxy_networks to its network";
    let networks = "set proxy_networks to the networks of the proxies only";
    let place = "set proxy_networks to the network of the proxy, or listen on 127.0.0.1";
    let elsewhere = ("ROADMAP_LISTEN", "0.0.0.0:8080");
    let trusted = ("ROADMAP_TRUST_PROXY", "x-forwarded");
    for (environment, expected) in [
        (vec![], warning("proxy", unknown, family)),
        (vec![("ROADMAP_TRUST_PROXY", "off"), elsewhere], warning("proxy", unknown, family)),
        (
            vec![trusted, ("ROADMAP_PROXY_NETWORKS", "10.0.0.0/8, ::/0")],
            warning("proxy", "proxy_networks has ::/0: every client can forge its host and address", networks),
        ),
        (
            vec![trusted, elsewhere],
            warning(
                "proxy",
                "the service listens on 0.0.0.0:8080, but only proxies on this machine are trusted",
                place,
            ),
        ),
        (
            vec![trusted, elsewhere, ("ROADMAP_PROXY_NETWORKS", "10.0.0.7")],
            ok("proxy", "X-Forwarded-For and X-Forwarded-Host are trusted from 10.0.0.7/32"),
        ),
        (vec![("ROADMAP_TRUST_PROXY", "forwarded")], ok("proxy", "Forwarded is trusted from 127.0.0.0/8, ::1/128")),
    ] {
        assert_eq!(finding_of("proxy", &run_doctor(data.path(), &environment)), expected);
    }
}

#[test]
fn a_base_url_that_others_cannot_use_is_reported() {
    let data = embedded();
    let fix = "set base_url to the public https:// URL of the service";
    let findings = |url: &str, environment: &[(&str, &str)]| {
        let mut command = vec!["--data-dir", ".", "doctor", "--json"];
        if !url.is_empty() {
            command.extend(["--base-url", url]);
        }
        let output = Command::new(env!("CARGO_BIN_EXE_roadmap"))
            .current_dir(data.path())
            .args(command)
            .envs(environment.iter().copied())
            .output()
            .expect("the binary runs");
        serde_json::from_slice::<Vec<Value>>(&output.stdout).unwrap()
    };
    let base_url = |url: &str, environment: &[(&str, &str)]| finding_of("base_url", &findings(url, environment));
    let unset = "it is not set: all URLs in responses and mails point to this machine";
    assert_eq!(base_url("", &[]), warning("base_url", unset, fix));
    let local = "http://localhost:8080 is this machine: other machines cannot open the URLs in responses";
    assert_eq!(base_url("http://localhost:8080", &[]), warning("base_url", local, fix));
    let smtp = [("ROADMAP_SMTP_URL", "smtp://127.0.0.1:1"), ("ROADMAP_MAIL_FROM", "a@acme.example")];
    let mailed = "http://localhost is this machine, and mail with links to it is sent to customers";
    assert_eq!(base_url("http://localhost", &smtp), problem("base_url", mailed, fix));
    assert_eq!(base_url("https://roadmap.example.com", &[]), ok("base_url", BASE_URL));
    let one = "https://roadmap.example.com, the URL of acme; other workspaces need *.roadmap.example.com, which must lead to the service, with a certificate";
    let default = [("ROADMAP_DEFAULT_WORKSPACE", "acme")];
    assert_eq!(base_url("https://roadmap.example.com", &default), ok("base_url", one));
    // Encryption, and the origins of forms.
    let https = |url: &str| finding_of("https", &findings(url, &[]));
    assert_eq!(https("https://roadmap.example.com"), ok("https", ENCRYPTED));
    for local in ["", "http://localhost:8080", "http://roadmap.localhost"] {
        assert_eq!(https(local), ok("https", "it is not required on this machine"), "{local}");
    }
    let origin = |url: &str, environment: &[(&str, &str)]| finding_of("origin", &findings(url, environment));
    let accepted = |origins: &str| {
        ok("origin", &format!("pages accept forms from {origins} only, as browsers show it in the address bar"))
    };
    assert_eq!(origin("https://roadmap.example.com", &[]), ok("origin", ORIGIN));
    assert_eq!(origin("", &[("ROADMAP_LISTEN", "127.0.0.1:9000")]), accepted("http://*.localhost:9000"));
    let both = "https://roadmap.example.com (acme) and https://*.roadmap.example.com (other workspaces)";
    assert_eq!(origin("https://roadmap.example.com", &default), accepted(both));
    let public = [("ROADMAP_LISTEN", "0.0.0.0:9000")];
    let unreachable = "the service listens on 0.0.0.0:9000, but pages accept forms from http://*.localhost:9000 only: browsers on other machines cannot use them";
    assert_eq!(origin("", &public), warning("origin", unreachable, "set base_url to the URL that browsers show"));
}

/// Beyond the contract.
#[test]
fn an_invalid_secret_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let data = embedded();
    let how = "run `openssl rand -hex 32` once and set ROADMAP_SECRET of every process to its output";
    let secret = |value: &str| finding_of("secret", &run_doctor(data.path(), &[("ROADMAP_SECRET", value)]));
    let few = "it has too few different characters to be random";
    assert_eq!(secret(&"ab".repeat(20)), problem("secret", few, how));
    assert_eq!(secret("0123456789abcdef0123456789abcdef"), ok("secret", "it is set"));
    assert_eq!(secret(""), ok("secret", "it is generated at the first start"));
    let file = data.path().join("secret");
    let write = |content: &str, mode: u32| {
        std::fs::write(&file, content).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write("0123456789abcdef0123456789abcdef\n", 0o600);
    assert_eq!(secret(""), ok("secret", "it is in ./secret"));
    write("0123456789abcdef0123456789abcdef\n", 0o640);
    let chmod = "chmod 600 ./secret, and replace the secret if it may have been read";
    assert_eq!(secret(""), problem("secret", "users other than the owner have access to ./secret", chmod));
    write(&"a".repeat(40), 0o600);
    assert_eq!(secret(""), problem("secret", few, how));
    let good = "0123456789abcdef0123456789abcdef";
    let replaced = [("ROADMAP_SECRET", good), ("ROADMAP_PREVIOUS_SECRETS", &*"ab".repeat(20))];
    let one = "one of previous_secrets has too few different characters to be random";
    let out = "remove it, because anyone who guesses it can forge references";
    assert_eq!(finding_of("secret", &run_doctor(data.path(), &replaced)), problem("secret", one, out));
    write("short", 0o600);
    let lost = "restore it from a backup; without a backup, delete the file";
    let short = "the content of ./secret is not a secret of at least 32 characters";
    assert_eq!(secret(""), problem("secret", short, lost));
    let server = [("ROADMAP_SECRET", ""), ("ROADMAP_DATABASE_URL", "postgres://ann:s3cret@127.0.0.1:1/roadmap")];
    let unset = "it is not set, but all processes on a database server must share one";
    assert_eq!(finding_of("secret", &run_doctor(data.path(), &server)), problem("secret", unset, how));
}

/// A lost secret makes earlier links invalid, which nobody sees before somebody opens one.
#[test]
fn a_secret_that_is_gone_is_reported_if_the_service_has_run() {
    let data = embedded();
    let secret = || finding_of("secret", &run_doctor(data.path(), &[("ROADMAP_SECRET", "")]));
    assert_eq!(secret(), ok("secret", "it is generated at the first start"));
    data.execute(
        "INSERT INTO customers (workspace_id, id, email, email_folded, created_at)
                  SELECT id, x'00000000000000000000000000000007', 'a@b.example', 'a@b.example', 0 FROM workspaces",
    );
    let lost = secret();
    assert_eq!(lost["result"], "warning");
    let found = lost["found"].as_str().unwrap();
    assert!(found.starts_with("./secret is missing: there was data, but no secret"), "{lost}");
    let server = Server::start(data.path(), &[], &[("ROADMAP_SECRET".to_owned(), String::new())]);
    let log = std::fs::read_to_string(data.path().join("server.log")).unwrap();
    assert!(log.contains("there was data, but no secret"), "{log}");
    drop(server);
    assert_eq!(secret()["result"], "ok");
}

/// Beyond the contract.
#[test]
fn data_that_others_can_read_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let data = embedded();
    let set = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let access = |environment: &[(&str, &str)]| finding_of("access", &run_doctor(data.path(), environment));
    let private = ok("access", "only the owner has access to the data");
    assert_eq!(access(&[]), private);
    // A private folder protects its content.
    let (database, blobs) = (data.path().join("roadmap.db"), data.path().join("blobs"));
    std::fs::create_dir(&blobs).unwrap();
    set(&database, 0o644);
    set(&blobs, 0o755);
    assert_eq!(access(&[]), private);
    set(data.path(), 0o750);
    let open = "users other than the owner have access: . (mode 750), ./roadmap.db (mode 644), ./blobs (mode 755)";
    let fix = "remove the permissions of group and others: chmod go= . ./roadmap.db ./blobs";
    assert_eq!(access(&[]), warning("access", open, fix));
    set(&blobs, 0o700);
    set(&database, 0o600);
    let open = "users other than the owner have access: . (mode 750)";
    assert_eq!(access(&[]), warning("access", open, "remove the permissions of group and others: chmod go= ."));
    set(data.path(), 0o700);
    // A storage folder elsewhere is checked by itself.
    let elsewhere = tempfile::tempdir().unwrap();
    set(elsewhere.path(), 0o711);
    let storage = format!("file://{}", elsewhere.path().display());
    let open = format!("users other than the owner have access: {} (mode 711)", elsewhere.path().display());
    let fix = format!("remove the permissions of group and others: chmod go= {}", elsewhere.path().display());
    assert_eq!(access(&[("ROADMAP_STORAGE_URL", &storage)]), warning("access", &open, &fix));
}

#[test]
fn a_file_that_is_no_good_database_is_reported() {
    let data = embedded();
    let findings = |data: &Data| {
        let all = run_doctor(data.path(), &[]);
        all.into_iter()
            .filter(|finding| {
                ["database", "schema", "clock", "workspace"].iter().any(|check| finding["check"] == *check)
            })
            .collect::<Vec<Value>>()
    };
    let restore = "if the message does not help, restore a backup with `roadmap restore`";
    let migrate = "run `roadmap migrate`, or start the service, which also runs migrations";
    let empty = Data::file();
    let none = "there is no database ./roadmap.db yet";
    let create = "create a workspace, or check data_dir and database_url";
    assert_eq!(findings(&empty), [warning("database", none, create)]);
    assert!(!empty.path().join("roadmap.db").exists());

    data.execute("DELETE FROM __diesel_schema_migrations WHERE version IN ('20261121000500', '20261121000650')");
    let sound = ok("database", "./roadmap.db is intact and can be written");
    let behind = warning("schema", "2 migrations are pending", migrate);
    assert_eq!(findings(&data), [sound.clone(), behind]);

    let data = embedded();
    data.execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('29990101000000')");
    let newer = "it is that of a newer version of roadmap (migration 29990101000000)";
    let install = "install that version again, or restore a backup that this one has made";
    assert_eq!(findings(&data), [sound, problem("schema", newer, install)]);

    let data = embedded();
    data.execute("UPDATE workspaces SET created_at = 4102444800000");
    let clock = finding_of("clock", &findings(&data));
    let begins = "the newest row is from 2100-01-01T00:00:00.000Z, but the time is 20";
    assert!(clock["found"].as_str().unwrap().starts_with(begins) && clock["result"] == "warning", "{clock}");
    data.execute("UPDATE workspaces SET created_at = 0");

    let default = [("ROADMAP_DEFAULT_WORKSPACE", "nobody")];
    let unknown = "default_workspace is nobody, but there is no such workspace";
    let list = "set default_workspace to one of `roadmap workspace list`";
    assert_eq!(finding_of("workspace", &run_doctor(data.path(), &default)), problem("workspace", unknown, list));
    let default = [("ROADMAP_DEFAULT_WORKSPACE", "acme")];
    assert_eq!(
        finding_of("workspace", &run_doctor(data.path(), &default)),
        ok("workspace", "the default workspace is acme")
    );

    data.execute("PRAGMA foreign_keys = OFF; DELETE FROM lanes");
    let damaged = finding_of("database", &findings(&data));
    assert!(
        damaged["found"]
            .as_str()
            .unwrap()
            .starts_with("./roadmap.db is damaged: a row of tracks refers to none of lanes")
    );
    assert_eq!((&damaged["result"], &damaged["fix"]), (&json!("problem"), &json!(restore)));

    std::fs::write(data.path().join("roadmap.db"), "no database".repeat(1_000)).unwrap();
    let unreadable = "./roadmap.db cannot be read: the store failed: file is not a database";
    assert_eq!(findings(&data), [problem("database", unreadable, restore)]);
}

#[test]
fn a_file_that_cannot_be_written_is_reported() {
    let data = embedded();
    let connection = diesel_connection(data.path());
    let found = "./roadmap.db cannot be written: database is locked";
    let fix =
        "make the service's user the owner of the file and its folder, and stop other programs that lock the file";
    let findings = run_doctor(data.path(), &[("ROADMAP_WRITE_WAIT", "10ms")]);
    assert_eq!(finding_of("database", &findings), problem("database", found, fix));
    drop(connection);
}

/// Opens a connection with a write transaction in progress.
fn diesel_connection(folder: &Path) -> diesel::SqliteConnection {
    use diesel::Connection;
    use diesel::connection::SimpleConnection;
    let file = folder.join("roadmap.db");
    let mut connection = diesel::SqliteConnection::establish(file.to_str().unwrap()).unwrap();
    connection.batch_execute("BEGIN IMMEDIATE").unwrap();
    connection
}

#[test]
fn a_storage_that_does_not_work_is_reported() {
    let data = embedded();
    let folder = data.path().join("blobs");
    let storage = |environment: &[(&str, &str)]| finding_of("storage", &run_doctor(data.path(), environment));
    assert_eq!(storage(&[]), ok("storage", "the folder ./blobs is created at the first start"));
    std::fs::create_dir(&folder).unwrap();
    assert_eq!(storage(&[]), ok("storage", "./blobs can be written, read and deleted from"));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    // A file blocks the folder of the probe.
    std::fs::write(folder.join(uuid::Uuid::nil().to_string()), "").unwrap();
    let broken = storage(&[]);
    assert_eq!(broken["result"], "problem");
    assert!(broken["found"].as_str().unwrap().starts_with("./blobs does not work: "), "{broken}");
    let keys = [
        ("ROADMAP_STORAGE_URL", "s3://bucket/prefix"),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "s3cret"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:1"),
    ];
    let away = storage(&keys);
    assert_eq!(away["result"], "problem");
    assert!(away["found"].as_str().unwrap().starts_with("s3://bucket/prefix does not work: "), "{away}");
    assert!(!away.to_string().contains("s3cret"), "{away}");
    let fix =
        "check storage_url and the AWS_… variables; the keys must allow get, put, delete and list below the prefix";
    assert_eq!(away["fix"], fix);
}

#[test]
fn a_mail_server_that_rejects_the_login_is_reported() {
    let data = embedded();
    let from = ("ROADMAP_MAIL_FROM", "a@acme.example");
    let mail = |url: &str| finding_of("mail", &run_doctor(data.path(), &[("ROADMAP_SMTP_URL", url), from]));
    let fix = "check host and port in smtp_url, and that a mail server runs at 127.0.0.1:1";
    let away = "smtp://127.0.0.1:1 does not work: at connecting: Connection refused (os error 111)";
    assert_eq!(mail("smtp://127.0.0.1:1"), problem("mail", away, fix));
    let login = Some(("ann".to_owned(), "right".to_owned()));
    let sink = Sink::with_setup(Setup { login, ..Setup::default() });
    let with = |password: &str| mail(&format!("smtp://ann:{password}@127.0.0.1:{}", sink.port()));
    let refused = with("wr0ng");
    let found = refused["found"].as_str().unwrap();
    let begins = format!("smtp://ann@127.0.0.1:{} does not work: at AUTH: permanent error (535)", sink.port());
    assert!(refused["result"] == "problem" && found.starts_with(&begins) && !found.contains("wr0ng"), "{refused}");
    let open = format!("smtp://ann@127.0.0.1:{} receives the password unencrypted", sink.port());
    let secure = "use smtps://, or ?tls=required, unless the server is on this machine";
    assert_eq!(with("right"), warning("mail", &open, secure));
    let encrypted = mail(&format!("smtp://127.0.0.1:{}?tls=required", sink.port()));
    assert!(encrypted["found"].as_str().unwrap().contains("does not work: at STARTTLS"), "{encrypted}");
    assert_eq!(sink.count(), 0);
}

/// What a mail server refuses before it sees a mail, and what an operator does about it. Nothing is sent.
#[test]
fn a_mail_server_that_would_refuse_mail_is_reported_with_the_fix() {
    let data = embedded();
    let sink = Sink::start();
    let (url, port) = (sink.url(), sink.port());
    let mail = |more: &[(&str, &str)]| {
        let server = [("ROADMAP_SMTP_URL", url.as_str()), ("ROADMAP_MAIL_FROM", "a@acme.example")];
        finding_of("mail", &run_doctor(data.path(), &[&server[..], more].concat()))
    };
    let refuses = |step: &str, code: u16, text: &str| {
        let kind = if code < 500 { "transient" } else { "permanent" };
        let fault = if code < 500 { "has refused a mail to mail_from" } else { "does not work" };
        format!("smtp://127.0.0.1:{port} {fault}: at {step}: {kind} error ({code}): {text}")
    };
    assert_eq!(mail(&[])["result"], "ok");
    for (step, reply, code, fix) in [
        ("RCPT TO", "504 5.5.2 <a1>: Helo command rejected: need fully-qualified hostname", 504, "set smtp_hello to"),
        ("MAIL FROM", "530 5.7.0 Authentication required", 530, "the server wants a login: put user and password"),
        ("MAIL FROM", "530 5.7.0 Must issue a STARTTLS command first", 530, "add ?tls=required to smtp_url"),
        (
            "MAIL FROM",
            "550 5.7.1 Sender rejected",
            550,
            "set mail_from to an address that this server may send mail for",
        ),
        ("RCPT TO", "554 5.7.1 Relay access denied", 554, "the server wants a login for mail to others"),
        ("RCPT TO", "554 5.7.1 Client host blocked using zen.example", 554, "ask the operator of the mail server"),
    ] {
        let text = reply.split_once(' ').unwrap().1;
        sink.script(move |now| match (now, step) {
            (Step::From(_), "MAIL FROM") | (Step::To(_), "RCPT TO") => Reply::Custom(reply),
            _ => Reply::Default,
        });
        let finding = mail(&[]);
        assert_eq!((&finding["result"], &finding["found"]), (&json!("problem"), &json!(refuses(step, code, text))));
        assert!(finding["fix"].as_str().unwrap().contains(fix), "{finding}");
    }
    // Neither a mailbox that does not exist nor greylisting keeps all mail from being sent.
    for (reply, code) in [("550 5.1.1 No such user", 550), ("450 4.2.0 Greylisted", 450)] {
        sink.script(move |step| if matches!(step, Step::To(_)) { Reply::Custom(reply) } else { Reply::Default });
        let finding = mail(&[]);
        assert_eq!(finding["result"], "warning", "{finding}");
        let found = finding["found"].as_str().unwrap();
        assert!(found.contains("has refused a mail to mail_from") && found.contains(&code.to_string()), "{finding}");
    }
    // The name is the host of the base URL, or the setting.
    for (more, name) in [
        (vec![], BASE_HOST),
        (vec![("ROADMAP_SMTP_HELLO", "mail.acme.example")], "mail.acme.example"),
        (vec![("ROADMAP_SMTP_HELLO", "192.0.2.7")], "[192.0.2.7]"),
    ] {
        sink.script(move |step| match step {
            Step::Hello(hello_name) if *hello_name != name => Reply::Custom("550 5.7.1 Helo command rejected"),
            _ => Reply::Default,
        });
        assert_eq!(mail(&more)["result"], "ok", "{name}");
    }
    assert_eq!(sink.count(), 0);
}

#[test]
fn an_unreachable_database_server_is_reported_without_its_password() {
    let data = Data::file();
    let url = "postgres://ann:s3cret@127.0.0.1:1/roadmap";
    let finding = finding_of("database", &run_doctor(data.path(), &[("ROADMAP_DATABASE_URL", url)]));
    let begins = "postgres://ann@127.0.0.1:1/roadmap cannot be reached: \
                  the database server cannot be reached: ";
    assert!(finding["found"].as_str().unwrap().starts_with(begins), "{finding}");
    assert_eq!(finding["result"], "problem");
    assert!(!finding.to_string().contains("s3cret"), "{finding}");
}

#[test]
fn a_misconfigured_database_server_is_reported() {
    let app = App::start();
    if !*ON_POSTGRES {
        // These checks do not apply to SQLite.
        let findings = run_doctor(app.data_dir(), &[]);
        assert!(!findings.iter().any(|finding| finding["check"] == "role" || finding["check"] == "durability"));
        return;
    }
    let all = |environment: &[(&str, &str)]| run_doctor(app.data_dir(), environment);
    let set_up =
        "docs/operations.md (PostgreSQL) describes how to set up the role; `roadmap migrate` grants its privileges";
    let off = warning(
        "role",
        "roadmap_service, but row-level security is off: the database does not isolate workspaces",
        "set row_security to true in every process",
    );
    assert_eq!(finding_of("role", &all(&[("ROADMAP_ROW_SECURITY", "false")])), off);
    let nobody = finding_of("role", &all(&[("ROADMAP_DATABASE_ROLE", "nobody_at_all")]));
    assert!(nobody["result"] == "problem" && nobody["fix"] == set_up, "{nobody}");
    let above = "the store failed: the role postgres is a superuser or bypasses row-level security; it must not";
    assert_eq!(finding_of("role", &all(&[("ROADMAP_DATABASE_ROLE", "postgres")])), problem("role", above, set_up));
    app.data.execute("ALTER TABLE votes DISABLE ROW LEVEL SECURITY");
    let open = "the store failed: row-level security is off on some tables; `roadmap migrate` switches it on";
    assert_eq!(finding_of("role", &all(&[])), problem("role", open, set_up));
    // Doctor has changed nothing.
    assert_eq!(finding_of("role", &all(&[])), problem("role", open, set_up));
    app.data.execute("DELETE FROM __diesel_schema_migrations WHERE version IN ('20261121000500', '20261121000650')");
    let migrate = "run `roadmap migrate`, or start the service, which also runs migrations";
    assert_eq!(finding_of("schema", &all(&[])), warning("schema", "2 migrations are pending", migrate));
}

/// Like [`run_doctor`], with a time limit for a command that may hang.
#[track_caller]
fn run_doctor_in_time(folder: &Path, environment: &[(&str, &str)]) -> Vec<Value> {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_roadmap"))
        .current_dir(folder)
        .args(["--data-dir", ".", "--base-url", "https://roadmap.example.com", "doctor", "--json"])
        .env("ROADMAP_SECRET", "0123456789abcdef0123456789abcdef")
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    let began = Instant::now();
    while doctor.try_wait().expect("the process").is_none() {
        if began.elapsed() > Duration::from_secs(60) {
            doctor.kill().expect("the process");
            doctor.wait().expect("the process");
            panic!("doctor does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    serde_json::from_slice(&doctor.wait_with_output().expect("the output").stdout).expect("findings")
}

/// Takes the advisory lock of migrations.
const MIGRATING: &str = "SELECT pg_advisory_lock(x'00726f61646d6170'::bigint)";

#[test]
fn a_migration_that_is_under_way_is_not_waited_for() {
    let data = Data::file();
    let database = Database::empty(&postgres::server());
    let environment = [("ROADMAP_DATABASE_URL", database.url.as_str())];
    let holder = Connection::open(&database.url);
    holder.execute(MIGRATING);
    let all = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/postgres")).unwrap().count();
    let migrate = "run `roadmap migrate`, or start the service, which also runs migrations";
    let behind = warning("schema", &format!("{all} migrations are pending"), migrate);
    assert_eq!(finding_of("schema", &run_doctor_in_time(data.path(), &environment)), behind);
    drop(holder);
    assert!(run(data.path(), &["migrate"], &environment).success);
    let holder = Connection::open(&database.url);
    holder.execute(MIGRATING);
    let findings = run_doctor_in_time(data.path(), &environment);
    assert_eq!(finding_of("schema", &findings), ok("schema", "it is up to date"));
    assert_eq!(finding_of("role", &findings)["result"], "ok");
}

#[test]
fn a_locked_schema_is_reported_and_not_waited_for() {
    let data = Data::file();
    let database = Database::empty(&postgres::server());
    let environment = [("ROADMAP_DATABASE_URL", database.url.as_str()), ("ROADMAP_STATEMENT_TIMEOUT", "200ms")];
    assert!(run(data.path(), &["migrate"], &environment[..1]).success);
    let holder = Connection::open(&database.url);
    holder.execute("BEGIN; LOCK TABLE __diesel_schema_migrations");
    let locked = problem(
        "schema",
        "canceling statement due to lock timeout",
        "run `roadmap migrate`, or start the service, which also runs migrations",
    );
    assert_eq!(finding_of("schema", &run_doctor_in_time(data.path(), &environment)), locked);
}

#[test]
fn a_silent_database_server_is_reported_and_not_waited_for() {
    let data = Data::file();
    // The system accepts connections, but there is no response on them.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("postgres://ann:s3cret@127.0.0.1:{port}/roadmap");
    let environment = [
        ("ROADMAP_DATABASE_URL", url.as_str()),
        ("ROADMAP_READ_WAIT", "100ms"),
        ("ROADMAP_STATEMENT_TIMEOUT", "100ms"),
    ];
    let found = format!(
        "postgres://ann@127.0.0.1:{port}/roadmap cannot be reached: \
         the database server did not respond within 1.3s"
    );
    let fix = "check database_url, and that the server runs and accepts this login from this machine";
    assert_eq!(
        finding_of("database", &run_doctor_in_time(data.path(), &environment)),
        problem("database", &found, fix)
    );
}

#[test]
fn a_mail_server_that_does_not_close_the_session_is_not_waited_for() {
    let data = Data::file();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        connection.write_all(b"220 mail.example.com\r\n").unwrap();
        let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().starts_with("EHLO"));
        connection.write_all(b"250 mail.example.com\r\n").unwrap();
        for expected in ["MAIL FROM:<a@acme.example>", "RCPT TO:<a@acme.example>", "RSET"] {
            assert_eq!(lines.next().unwrap().unwrap().trim_end(), expected);
            connection.write_all(b"250 2.0.0 OK\r\n").unwrap();
        }
        // Reads until the client disconnects.
        lines.map_while(Result::ok).collect::<Vec<String>>()
    });
    let url = format!("smtp://127.0.0.1:{port}");
    let environment = [
        ("ROADMAP_SMTP_URL", url.as_str()),
        ("ROADMAP_MAIL_FROM", "a@acme.example"),
        ("ROADMAP_MAIL_TIMEOUT", "200ms"),
    ];
    let lets_in = ok("mail", &format!("smtp://127.0.0.1:{port} accepts mail from a@acme.example"));
    assert_eq!(finding_of("mail", &run_doctor_in_time(data.path(), &environment)), lets_in);
    assert_eq!(server.join().unwrap(), ["QUIT"]);
}

/// Login and role for one test, and a database that belongs to the login.
pub struct Tenant {
    pub login: String,
    pub role: String,
    pub url: String,
    database: Option<Database>,
}

impl Tenant {
    pub fn new(name: &str) -> Self {
        let login = format!("roadmap_test_{name}_{}", std::process::id());
        let role = format!("{login}_service");
        let database = Database::empty(&postgres::server());
        let owned = database.rows("SELECT current_database(), current_user");
        let (name, superuser) = (owned[0][0].as_deref().unwrap(), owned[0][1].as_deref().unwrap());
        database.execute(&format!("CREATE ROLE {login} LOGIN; ALTER DATABASE {name} OWNER TO {login}"));
        let (scheme, rest) = database.url.split_once("://").unwrap();
        let rest = rest.strip_prefix(superuser).expect("the tests' URL names its user");
        let url = format!("{scheme}://{login}{rest}");
        Self { login, role, url, database: Some(database) }
    }

    fn execute(&self, statements: &str) {
        self.database.as_ref().unwrap().execute(statements);
    }

    fn environment(&self) -> [(&'static str, &str); 2] {
        [("ROADMAP_DATABASE_URL", &self.url), ("ROADMAP_DATABASE_ROLE", &self.role)]
    }
}

impl Drop for Tenant {
    fn drop(&mut self) {
        // A role can be dropped once the database with its objects and privileges is gone.
        self.database = None;
        let roles = format!("DROP ROLE IF EXISTS {}; DROP ROLE IF EXISTS {}", self.role, self.login);
        let _ = postgres::execute(&postgres::server(), &roles);
    }
}

#[test]
fn a_login_with_no_privileges_is_enough_and_one_with_more_is_reported() {
    let data = Data::file();
    let tenant = Tenant::new("doctor");
    let (login, role) = (&tenant.login, &tenant.role);
    let environment = tenant.environment();
    let administrator = |sql: &str| format!("ask an administrator of the server: {sql}");

    // The role does not exist.
    let create = format!("CREATE ROLE {role} NOLOGIN; GRANT {role} TO {login};");
    let missing = problem("role", &format!("there is no role {role}"), &administrator(&create));
    assert_eq!(finding_of("role", &run_doctor(data.path(), &environment)), missing);
    let migrated = run(data.path(), &["migrate"], &environment);
    let refused = format!(
        "error: the database {} cannot be brought up to date: the store failed: there is no role {role}, and the login \
         {login} may not change that. An administrator runs: {create}\n",
        tenant.url
    );
    assert_eq!((migrated.success, migrated.stderr), (false, refused));

    tenant.execute(&create);
    run(data.path(), &["migrate"], &environment).json();
    let website = "https://acme.example";
    let create = ["workspace", "create", "acme", "--product-name", "Acme", "--website-url", website];
    run(data.path(), &create, &environment).json();
    run(
        data.path(),
        &["member", "add", "--workspace", "acme", "--email", "a@acme.example", "--name", "A"],
        &environment,
    )
    .json();
    let key = run(data.path(), &["api-key", "create", "--workspace", "acme", "--name", "tests"], &environment).json();
    let findings = run_doctor(data.path(), &environment);
    let owns_nothing = format!("{role}, which owns nothing and sees one workspace at a time");
    assert_eq!(finding_of("role", &findings), ok("role", &owns_nothing));
    assert_eq!(
        finding_of("privileges", &findings),
        ok("privileges", "the login and the role have no excess privileges")
    );
    let serve = || {
        let environment: Vec<(String, String)> =
            environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let server = Server::start(data.path(), &[], &environment);
        let host = format!("acme.{BASE_HOST}");
        let acme = Client { port: server.port, host, key: Some(key["key"].as_str().unwrap().to_owned()) };
        acme.feature_request("Dark mode");
        std::fs::read_to_string(data.path().join("server.log")).unwrap()
    };
    let excess = "more database privileges than the service needs";
    let log = serve();
    assert!(!log.contains(excess), "{log}");

    tenant.execute(&format!("ALTER ROLE {login} CREATEROLE; GRANT pg_read_server_files TO {role}"));
    let found = format!("{login} has CREATEROLE; {role} is a member of pg_read_server_files");
    let fix = format!("ALTER ROLE {login} NOCREATEROLE; REVOKE pg_read_server_files FROM {role};");
    let privileges = warning("privileges", &found, &administrator(&fix));
    assert_eq!(finding_of("privileges", &run_doctor(data.path(), &environment)), privileges);
    let log = serve();
    for line in [
        format!("WARN roadmap::wiring: {excess}: {login} has CREATEROLE fix=\"ALTER ROLE {login} NOCREATEROLE;\""),
        format!(
            "WARN roadmap::wiring: {excess}: {role} is a member of pg_read_server_files \
             fix=\"REVOKE pg_read_server_files FROM {role};\""
        ),
    ] {
        assert!(log.contains(&line), "{line}: {log}");
    }
    tenant.execute(&fix);
    assert_eq!(finding_of("privileges", &run_doctor(data.path(), &environment))["result"], "ok");

    tenant.execute(&format!("GRANT DELETE ON audit_entries TO {role}"));
    let found = format!("{role} can change or delete entries of the audit log");
    let fix = format!("REVOKE UPDATE, DELETE, TRUNCATE ON audit_entries FROM {role};");
    let privileges = warning("privileges", &found, &administrator(&fix));
    assert_eq!(finding_of("privileges", &run_doctor(data.path(), &environment)), privileges);
    tenant.execute(&fix);
    assert_eq!(finding_of("privileges", &run_doctor(data.path(), &environment))["result"], "ok");
}
