//! `roadmap import`: from files of other programs to a portal, and back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use roadmap_testkit::effort::{SeededRng, rounds};
use serde_json::{Value, json};

use crate::app::{App, eventually, files_below, roadmap_command};
use crate::browser::Browser;
use crate::database::sql_timestamp;
use crate::shared::column;

/// The files that the readers of sources are tested with, too.
fn sample(name: &str) -> String {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/samples");
    samples.join(name).canonicalize().expect("a sample").to_str().expect("text").to_owned()
}

/// A command that has ended: its status and what it wrote.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Ended {
    #[track_caller]
    fn report(&self, code: i32) -> Value {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

fn command(app: &App, arguments: &[&str]) -> Command {
    let mut command = roadmap_command(app.data_dir());
    command.args(["--base-url", "https://roadmap.example.com", "import"]).args(arguments).args(["--workspace", "acme"]);
    command
}

fn import(app: &App, arguments: &[&str]) -> Ended {
    let output = command(app, arguments).output().expect("the command runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Imports files, and returns the report.
#[track_caller]
fn imported(app: &App, arguments: &[&str], code: i32) -> Value {
    import(app, &[arguments, &["--json"]].concat()).report(code)
}

fn write(app: &App, name: &str, content: &str) -> String {
    let path = app.data_dir().join(name);
    std::fs::write(&path, content).expect("a file");
    path.to_str().expect("text").to_owned()
}

/// Numbers of records by kind, those that are not zero.
fn counts(report: &Value) -> BTreeMap<String, BTreeMap<String, u64>> {
    let numbers = |counts: &Value| {
        let counts = counts.as_object().expect("counts").iter();
        counts.filter_map(|(what, count)| Some((what.clone(), count.as_u64().filter(|count| *count > 0)?))).collect()
    };
    let kinds = report["counts"].as_object().expect("counts").iter();
    kinds
        .map(|(kind, counts)| (kind.clone(), numbers(counts)))
        .filter(|(_, counts): &(String, BTreeMap<String, u64>)| !counts.is_empty())
        .collect()
}

fn folder(app: &App, report: &Value) -> PathBuf {
    app.data_dir().join("imports").join(report["id"].as_str().expect("an id"))
}

/// Import contract 2, 3, 4: CSV files become feature requests with votes, comments, notes, merges and tracks. A dry run says
/// the same and writes nothing. A second run adds nothing.
#[test]
fn csv_files_become_a_portal() {
    let app = App::start();
    let files = ["csv/posts.csv", "csv/votes.csv", "csv/comments.csv"].map(sample);
    let arguments = [&["csv"][..], &files.each_ref().map(String::as_str)].concat();
    let dry = imported(&app, &[&arguments[..], &["--dry-run"]].concat(), 3);
    assert_eq!((&dry["id"], &dry["dry_run"], &dry["state"]), (&json!(null), &json!(true), &json!("done")));
    assert_eq!(app.acme.get_feature_requests("").is_ok()["feature_requests"], json!([]));
    assert_eq!(files_below(&app.data_dir().join("imports")), Vec::<PathBuf>::new());

    let report = imported(&app, &arguments, 3);
    assert_eq!(counts(&report), counts(&dry));
    let expected = json!({
        "tracks": { "read": 1, "new": 1 },
        "members": { "read": 1, "new": 1 },
        "customers": { "read": 4, "new": 4 },
        "feature_requests": { "read": 6, "new": 4, "rejected": 2 },
        "merges": { "read": 2, "new": 1, "skipped": 1 },
        "votes": { "read": 7, "new": 6, "skipped": 1 },
        "comments": { "read": 3, "new": 2, "rejected": 1 },
        "notes": { "read": 1, "new": 1 },
    });
    assert_eq!(json!(counts(&report)), expected);
    assert_eq!(report["votes"], json!({ "source": 8, "voters": 6, "nameless": 1, "doubles": 1 }));
    assert_eq!((&report["new_tracks"], &report["new_members"]), (&json!(["Never heard of it"]), &json!(["Arya"])));
    assert_eq!((&report["problems"], &report["resume"]), (&json!(11), &json!(null)));
    let problem = json!({
        "file": "posts.csv", "line": 5, "id": "A-3", "field": "title", "value": "", "problem": "the title is blank",
        "action": "rejected",
    });
    assert_eq!(report["first_problems"][1], problem);

    let request = app.acme.detail("1");
    assert_eq!((&request["title"], &request["votes_count"]), (&json!("Dark mode"), &json!(3)));
    assert_eq!((&request["created_at"], &request["track"]), (&json!("2024-05-01T00:00:00.000Z"), &json!("Planned")));
    assert_eq!(request["tags"], json!(["ui", "theme"]));
    assert_eq!(request["merged"][0]["title"], "Night theme");
    assert_eq!(app.acme.get_voters("1", "").is_ok()["total_count"], 3);
    let team = "SELECT members.name FROM comments JOIN members ON members.id = comments.author_id";
    assert_eq!(app.sql(team), ["Arya"]);
    assert_eq!(
        column(&app.acme.get_feature_requests("query=dark").is_ok(), "feature_requests", "title"),
        ["Dark mode"]
    );
    assert_eq!(app.count("SELECT count(*) FROM outbox"), 0);

    let files_of_run: Vec<_> =
        report["files"].as_array().expect("files").iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(
        files_of_run,
        ["problems.csv", "redirects.csv", "rejected/comments.csv", "rejected/posts.csv", "report.json"]
    );
    let read = |name: &str| std::fs::read_to_string(folder(&app, &report).join(name)).expect("a file");
    assert_eq!(read("rejected/comments.csv").lines().count(), 2);
    assert!(
        read("redirects.csv")
            .ends_with("\"https://old.example/1\",\"https://acme.roadmap.example.com/feature_requests/1-dark-mode\"\n")
    );
    assert_eq!(serde_json::from_str::<Value>(&read("report.json")).unwrap(), report);
    assert_eq!(files_below(&folder(&app, &report)).len(), files_of_run.len());

    // The rejected records, corrected, complete it.
    let again = imported(&app, &arguments, 3);
    assert_eq!(
        counts(&again)["votes"],
        BTreeMap::from([("read".into(), 7), ("unchanged".into(), 6), ("skipped".into(), 1)])
    );
    assert!(counts(&again).values().all(|counts| !counts.contains_key("new")), "{again}");
    assert_eq!(imported(&app, &["show", report["id"].as_str().unwrap()], 0), report);
    let list = imported(&app, &["list"], 0);
    assert_eq!(column(&json!({ "imports": list }), "imports", "state"), ["done", "done"]);
    app.has_logged_no_failure();
}

/// Import contract 5: undoing deletes what the run has made, and keeps what others have touched.
#[test]
fn an_import_is_undone_as_if_it_had_not_been() {
    let app = App::start();
    app.acme.feature_request("Own idea");
    let posts = sample("csv/posts.csv");
    let report = imported(&app, &["csv", &posts], 3);
    let id = report["id"].as_str().unwrap();
    let refused = import(&app, &["undo", id]);
    assert!(refused.code == Some(1) && refused.stderr.contains("--yes confirms it"), "{}", refused.stderr);
    app.acme.post_upvote("2", &json!({ "customer": { "email": "new@example.com" } }));
    let undone = imported(&app, &["undo", id, "--yes"], 0);
    assert_eq!((&undone["id"], &undone["state"]), (&json!(id), &json!("undone")));
    assert_eq!(column(&undone, "kept", "title"), ["Night theme", "Dark mode"]);
    assert_eq!((&undone["deleted"]["feature_requests"], &undone["deleted"]["tracks"]), (&json!(2), &json!(1)));
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 3);
    assert_eq!(app.acme.detail("2")["votes_count"], 3);
    let refused = import(&app, &["undo", id, "--yes"]);
    assert!(refused.stderr.contains("Import cannot be undone"), "{}", refused.stderr);
    let actions = column(&app.acme.get_audit_entries("").is_ok(), "audit_entries", "action");
    for action in ["import.start", "import.finish", "import.undo"] {
        assert!(actions.contains(&json!(action)), "{action}: {actions:?}");
    }
}

/// Import contract 2: with too many rejected records, an unknown track, a wrong option or a file of another program nothing is
/// done.
#[test]
fn what_cannot_be_imported_leaves_nothing() {
    let app = App::start();
    let (posts, ragged) = (sample("csv/posts.csv"), sample("hostile/ragged.csv"));
    let (issues, ideas) = (sample("github/gh-issue-list.json"), sample("uservoice/full-suggestions.csv"));
    let (backup, missing) = (sample("fider/backup.zip"), app.data_dir().join("missing.csv"));
    let (slip, twice) = (sample("hostile/zip-slip.zip"), sample("hostile/same-name-twice.zip"));
    for (arguments, why) in [
        (&["csv", &posts, "--max-rejected", "1"][..], "more than 1 records are rejected, so nothing is imported"),
        (&["csv", &posts, "--track", "Planned=Nowhere"], "there is no track `Nowhere`"),
        (&["csv", &posts, "--track", "Planned"], "`Planned` is no THEIRS=OURS"),
        (&["csv", &posts, "--map", "colour=title"], "`colour=title` is no FIELD=COLUMN"),
        (&["csv", &posts, "--name", "My board"], "--name is not 1 to 40 of the characters a-z, 0-9 and -"),
        (&["csv", &posts, "--delimiter", "ab"], "--delimiter is one character, or `tab`"),
        (&["csv", &posts, "--encoding", "klingon"], "klingon"),
        (&["csv", missing.to_str().unwrap()], "missing.csv"),
        (&["csv", &ragged, "--map", "title=nothing"], "no file has the column `nothing` of --map"),
        (&["csv", &issues], "those of GitHub: import them with `roadmap import github`"),
        (&["github", &ideas], "those of UserVoice: import them with `roadmap import uservoice`"),
        (&["csv", &backup], "those of Fider: import them with `roadmap import fider`"),
        (&["csv", &slip], "the name of the entry `../../evil.csv` contains `..`"),
        (&["csv", &twice], "two entries have the name `posts.json`"),
        (&["show", "7"], "the ID of the import"),
        (&["show", "01a2222f-654c-7242-9ae1-2b57483ebb3f"], "`roadmap import list` lists the imports"),
    ] {
        let refused = import(&app, arguments);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""), "{arguments:?} {}", refused.stderr);
        assert!(refused.stderr.contains(why), "{arguments:?}: {}", refused.stderr);
    }
    let usage = import(&app, &["csv", &posts, "--dates", "ymd"]);
    assert_eq!(usage.code, Some(2), "{}", usage.stderr);
    // The run whose track is not there has begun, and stopped at once.
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 0);
    assert_eq!(app.count("SELECT count(*) FROM customers"), 0);
}

/// Import contract 4, 5: hostile texts are cleaned, and nothing of a file controls the terminal.
#[test]
fn hostile_files_do_no_harm() {
    let app = App::start();
    let files =
        ["hostile/html.csv", "hostile/formulas.csv", "hostile/invalid-utf8.csv", "hostile/ragged.csv"].map(sample);
    for (number, file) in files.iter().enumerate() {
        let name = format!("hostile-{number}");
        let ended = import(&app, &["csv", file, "--name", &name]);
        assert!(matches!(ended.code, Some(0 | 3)), "{file}: {}{}", ended.stdout, ended.stderr);
        let control = |character: char| character.is_control() && character != '\n';
        assert!(!ended.stdout.contains(control) && !ended.stderr.contains(control), "{file}");
    }
    for html in app.sql("SELECT description FROM feature_requests") {
        for bad in ["<script", "javascript:", "onerror", "onclick", "<iframe", "<img"] {
            assert!(!html.to_lowercase().contains(bad), "{html}");
        }
    }
    let log = files_below(&app.data_dir().join("mail"));
    assert_eq!(log, Vec::<PathBuf>::new());
}

/// Import contract 4: issues of GitHub, and ideas of UserVoice.
#[test]
fn files_of_other_programs_are_imported() {
    let app = App::start();
    let report = imported(&app, &["github", &sample("github/gh-issue-list.json")], 0);
    assert_eq!(
        (&report["source"], &report["name"], &report["state"]),
        (&json!("github"), &json!("github"), &json!("done"))
    );
    let new = report["counts"]["feature_requests"]["new"].as_u64().unwrap();
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), i64::try_from(new).unwrap());
    let report = imported(&app, &["uservoice", &sample("uservoice")], 0);
    assert_eq!(
        (&report["counts"]["feature_requests"]["new"], &report["counts"]["comments"]["new"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(report["votes"], json!({ "source": 4, "voters": 3, "nameless": 0, "doubles": 1 }));
    let found = app.acme.get_feature_requests("query=export").is_ok();
    assert!(column(&found, "feature_requests", "title").contains(&json!("Export CSV")), "{found}");
    // What is new of each, and votes with a person, without a name, and repeated ones.
    for (source, path, new, votes) in [
        (
            "fider",
            "fider/backup.zip",
            json!({ "feature_requests": 4, "merges": 1, "comments": 4, "notes": 1, "files": 1 }),
            [5, 0, 0],
        ),
        (
            "canny",
            "canny",
            json!({ "feature_requests": 4, "merges": 1, "comments": 2, "notes": 3, "changelogs": 2 }),
            [5, 0, 1],
        ),
        ("quackback", "quackback/export", json!({ "feature_requests": 1, "comments": 1, "notes": 1 }), [1, 1, 0]),
        ("clearflask", "clearflask/data.zip", json!({ "feature_requests": 6, "comments": 5 }), [0, 21, 0]),
        ("astuto", "astuto", json!({ "feature_requests": 6, "comments": 5, "moves": 1 }), [5, 1, 0]),
        ("logchimp", "logchimp", json!({ "feature_requests": 5, "comments": 1, "notes": 1 }), [4, 0, 2]),
    ] {
        let report = imported(&app, &[source, &sample(path)], 0);
        for kind in ["feature_requests", "merges", "comments", "notes", "moves", "changelogs", "files"] {
            let expected = new[kind].as_u64().unwrap_or_default();
            assert_eq!(report["counts"][kind]["new"], expected, "{source} {kind}");
        }
        let [voters, nameless, doubles] = votes;
        let source_votes = voters + nameless + doubles;
        assert_eq!(
            report["votes"],
            json!({ "source": source_votes, "voters": voters, "nameless": nameless, "doubles": doubles }),
            "{source}"
        );
        assert_eq!(report["counts"]["votes"]["new"], voters, "{source}");
    }
    assert_eq!(app.count("SELECT count(*) FROM outbox"), 0);
    let doctor = roadmap_command(app.data_dir()).arg("doctor").output().expect("the command runs");
    let lines = String::from_utf8(doctor.stdout).expect("text");
    assert!(lines.contains("ok       votes      all numbers of votes are right"), "{lines}");
}

/// Import contract 3, 4, 5: a picture of a backup is shown on the page of its feature request, a changelog links to its own,
/// and both go with the import.
#[test]
fn pictures_and_changelogs_come_and_go() {
    let app = App::start();
    let fider = imported(&app, &["fider", &sample("fider/backup.zip")], 0);
    let canny = imported(&app, &["canny", &sample("canny")], 0);
    let texts = app.sql("SELECT description FROM feature_requests UNION ALL SELECT content FROM comments");
    let shown: Vec<_> = texts.iter().filter_map(|text| text.split("<img src=\"").nth(1)?.split('"').next()).collect();
    assert_eq!(shown.len(), 1, "{texts:?}");
    assert_eq!(Browser::new(&app).get(shown[0]).status, 200);
    let changelogs = app.acme.get_changelogs("").is_ok();
    assert_eq!(column(&changelogs, "changelogs", "title"), ["Later", "Dark mode is here"]);
    assert_eq!(app.count("SELECT count(*) FROM changelogs WHERE notified AND published_at IS NOT NULL"), 1);
    for report in [&canny, &fider] {
        let undone = imported(&app, &["undo", report["id"].as_str().unwrap(), "--yes"], 0);
        assert_eq!((&undone["kept"], &undone["deleted"]["feature_requests"]), (&json!([]), &json!(4)));
    }
    for table in ["feature_requests", "changelogs", "customers", "votes"] {
        assert_eq!(app.count(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
}

/// A file of so many feature requests, and one with some votes for each of them.
fn large_files(app: &App, requests: usize) -> [String; 2] {
    let mut posts = "id,title,description,status,created_at,author_email,merged_into\n".to_owned();
    let mut votes = "request_id,email\n".to_owned();
    for number in 0..requests {
        let status = ["", "planned", "Needs thought"][number % 3];
        let merged = if number % 10 == 9 { (number - 1).to_string() } else { String::new() };
        let day = 1 + number % 28;
        posts.push_str(&format!(
            "{number},Idea {number},About it,{status},2024-03-{day:02},author{}@example.com,{merged}\n",
            number % 7
        ));
        for voter in 0..3 {
            votes.push_str(&format!("{number},voter{}@example.com\n", (number + voter) % 50));
        }
    }
    [write(app, "large-posts.csv", &posts), write(app, "large-votes.csv", &votes)]
}

/// What an import has made: numbers, titles, times, tracks and votes of feature requests, and how many records of each kind.
fn state(app: &App) -> Vec<String> {
    let requests = "SELECT r.tag_number || ' ' || r.title || ' ' || r.created_at || ' ' || t.name || ' ' || v.votes_count || ' ' || \
                    coalesce((SELECT p.title FROM feature_requests p WHERE p.id = r.merged_into_id), '') \
                    FROM feature_requests r JOIN vote_tallies v ON v.request_id = r.id JOIN tracks t ON t.id = r.track_id \
                    ORDER BY r.tag_number";
    let mut state = app.sql(requests);
    // A run also remembers for which feature requests of others it has voted.
    for table in ["customers", "votes", "imported WHERE kind <> 'votes'", "feature_request_events", "search_documents"]
    {
        state.push(format!("{table} {}", app.count(&format!("SELECT count(*) FROM {table}"))));
    }
    state
}

/// Import contract 5: an import that is killed at any point goes on where it was, and ends as if nothing had happened.
#[test]
fn a_killed_import_ends_as_if_nothing_had_happened() {
    let (whole, app) = (App::start(), App::start());
    let requests = 400;
    let files = large_files(&whole, requests);
    let arguments = ["csv", &*files[0], &*files[1]];
    let report = imported(&whole, &arguments, 0);
    let took = {
        let other = App::start();
        let files = large_files(&other, requests);
        let began = Instant::now();
        imported(&other, &["csv", &files[0], &files[1]], 0);
        began.elapsed()
    };
    let files = large_files(&app, requests);
    let mut random = SeededRng::from_env();
    for _ in 0..rounds(4, 50) {
        let mut child = command(&app, &["csv", &files[0], &files[1]])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command runs");
        std::thread::sleep(Duration::from_millis(random.below(u64::try_from(took.as_millis()).unwrap())));
        let _ = child.kill();
        let _ = child.wait();
        // As if fifteen seconds had passed.
        app.data.execute(&format!("UPDATE imports SET seen_at = {}", sql_timestamp("0")));
    }
    let again = imported(&app, &["csv", &files[0], &files[1]], 0);
    assert_eq!(state(&app), state(&whole));
    // If a round came to its end, the last one found everything.
    let is_new = again["counts"]["feature_requests"]["new"] == requests;
    assert!(is_new || again["counts"]["feature_requests"]["unchanged"] == requests, "{again}");
    if is_new {
        assert_eq!(counts(&again), counts(&report));
    }
    let folders = std::fs::read_dir(app.data_dir().join("imports")).expect("a folder");
    let left: Vec<_> = folders.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    let runs = app.count("SELECT count(*) FROM imports");
    assert!(left.iter().filter(|name| !name.starts_with("new-")).count() <= usize::try_from(runs).unwrap(), "{left:?}");

    // So does an undo.
    let id = again["id"].as_str().unwrap();
    for _ in 0..rounds(3, 50) {
        let mut child = command(&app, &["undo", id, "--yes"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command runs");
        std::thread::sleep(Duration::from_millis(random.below(400)));
        let _ = child.kill();
        let _ = child.wait();
        app.data.execute(&format!("UPDATE imports SET seen_at = {}", sql_timestamp("0")));
    }
    let _ = import(&app, &["undo", id, "--yes"]);
    if is_new {
        assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 0);
        assert_eq!(app.count("SELECT count(*) FROM customers"), 0);
        assert_eq!(app.count("SELECT count(*) FROM imported"), 0);
    }
}

/// Import contract 2: SIGTERM stops a run at its next batch, with status 4, and `resume` goes on. Meanwhile no other one
/// begins.
#[test]
fn a_stopped_import_is_resumed() {
    let app = App::start();
    let [posts, votes] = large_files(&app, 3_000);
    let mut child = command(&app, &["csv", &posts, &votes, "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    eventually("some feature requests are in", || app.count("SELECT count(*) FROM feature_requests") > 0);
    let busy = import(&app, &["csv", &sample("csv/posts.csv")]);
    assert!(busy.code == Some(1) && busy.stderr.contains("is at work in this workspace"), "{}", busy.stderr);
    // The service answers while it runs.
    app.acme.feature_request("Own idea");
    let killed = Command::new("kill").arg(child.id().to_string()).status().expect("kill runs");
    assert!(killed.success());
    let status = child.wait().expect("the command");
    let output = child.wait_with_output().expect("its output");
    let (stdout, stderr) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(status.code(), Some(4), "{stdout}{stderr}");
    assert!(stderr.contains("the import was told to stop"), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).expect("a report");
    let id = report["id"].as_str().unwrap();
    assert_eq!(
        (&report["state"], &report["resume"]),
        (&json!("stopped"), &json!(format!("roadmap import resume --workspace acme {id}")))
    );
    let resumed = imported(&app, &["resume", id], 0);
    assert_eq!((&resumed["state"], &resumed["id"]), (&json!("done"), &json!(id)));
    assert_eq!(resumed["counts"]["feature_requests"]["new"], 3_000);
    assert_eq!(resumed["counts"]["votes"]["new"], 9_000);
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 3_001);
    let refused = import(&app, &["resume", id]);
    assert!(refused.stderr.contains("run the import again with the same files"), "{}", refused.stderr);
}

/// Import contract 2: `--update`, `--subscribe`, `--track`, `--map`, `--dates`, `--report` and `--make-members`.
#[test]
fn options_change_what_is_imported() {
    let app = App::start();
    let posts = "ref;what;when;state\n1;Dark mode;1.2.2024;Shipped\n2;Exports;3.2.2024;idea\n";
    let posts = write(&app, "posts.csv", posts);
    let votes = write(&app, "votes.csv", "request_id,email\n1,ann@a.example\n");
    let comments = write(
        &app,
        "comments.csv",
        "id,request_id,body,author_email,author_name,team\n1,1,Soon,arya@tool.example,Arya,yes\n",
    );
    let report = app.data_dir().join("report");
    let arguments = [
        "csv",
        &posts,
        &votes,
        &comments,
        "--map",
        "id=ref",
        "--map",
        "title=what",
        "--map",
        "created_at=when",
        "--dates",
        "dmy",
        "--track",
        "idea=Under consideration",
        "--subscribe",
        "all",
        "--make-members",
        "--name",
        "old-board",
        "--report",
        report.to_str().unwrap(),
    ];
    let first = imported(&app, &arguments, 0);
    assert_eq!(
        (&first["name"], &first["subscribed"], &first["new_members"]),
        (&json!("old-board"), &json!(1), &json!(["Arya"]))
    );
    assert!(report.join("report.json").exists());
    let of = |number: &str| {
        let request = app.acme.detail(number);
        (request["title"].clone(), request["created_at"].clone(), request["track"].clone())
    };
    assert_eq!(of("1"), (json!("Dark mode"), json!("2024-02-01T00:00:00.000Z"), json!("Done")));
    assert_eq!(of("2"), (json!("Exports"), json!("2024-02-03T00:00:00.000Z"), json!("Under consideration")));
    let members = app.roadmap(&["member", "list", "--workspace", "acme"]).json();
    assert!(column(&json!({ "members": members }), "members", "name").contains(&json!("Arya")));

    let changed = "ref;what;when;state\n1;Dark theme;1.2.2024;Shipped\n2;Export;3.2.2024;idea\n";
    write(&app, "posts.csv", changed);
    app.acme.patch_feature_request("2", &json!({ "feature_request": { "title": "Exports as CSV" } }));
    let kept = imported(&app, &arguments, 0);
    assert_eq!(kept["counts"]["feature_requests"]["kept"], 2);
    let updated = imported(&app, &[&arguments[..], &["--update"]].concat(), 0);
    let count = &updated["counts"]["feature_requests"];
    assert_eq!((&count["changed"], &count["kept"]), (&json!(1), &json!(1)));
    assert_eq!((of("1").0, of("2").0), (json!("Dark theme"), json!("Exports as CSV")));
    assert_eq!(app.acme.detail("1")["votes_count"], 1);
}
