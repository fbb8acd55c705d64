//! `roadmap export`: everything of a workspace as one zip.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use image::{ImageFormat, RgbaImage};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use roadmap_domain::model::id::{WorkspaceId, parse_uuid};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::signed_reference::{Purpose, ReferenceSigner, Secret};

use crate::app::{
    App, Client, Response, SECRET, eventually, files_below, form_with, has_keys, in_parallel, is_id, is_timestamp,
    roadmap_command, run,
};
use crate::browser::{Browser, hidden, path_of, shows};
use crate::database::{Data, ON_POSTGRES, sql_timestamp, uuid_text};
use crate::demo::demo;
use crate::shared::column;

/// The entries before the files, in their order.
const RECORDS: [&str; 15] = [
    "lanes",
    "tracks",
    "members",
    "customers",
    "feature_requests",
    "votes",
    "subscriptions",
    "comments",
    "notes",
    "links",
    "events",
    "changelogs",
    "attachments",
    "imported",
    "workspace",
];

const TABLES: [&str; 5] =
    ["csv/feature_requests.csv", "csv/votes.csv", "csv/comments.csv", "csv/customers.csv", "csv/changelogs.csv"];

/// A PNG of two pixels.
fn png() -> Vec<u8> {
    let mut content = Cursor::new(Vec::new());
    RgbaImage::from_pixel(2, 1, image::Rgba([7, 7, 7, 255])).write_to(&mut content, ImageFormat::Png).expect("a PNG");
    content.into_inner()
}

/// An archive: the names of its entries in their order, and their contents.
pub struct Archive {
    names: Vec<String>,
    contents: BTreeMap<String, Vec<u8>>,
}

impl Archive {
    fn open(path: &Path) -> Self {
        Self::read(std::fs::read(path).expect("the archive"))
    }

    fn read(content: Vec<u8>) -> Self {
        let mut zip = zip::ZipArchive::new(Cursor::new(content)).expect("a zip");
        let (mut names, mut contents) = (Vec::new(), BTreeMap::new());
        for place in 0..zip.len() {
            let mut entry = zip.by_index(place).expect("an entry");
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("its content");
            let name = entry.name().expect("a name").into_owned();
            names.push(name.clone());
            contents.insert(name, content);
        }
        Self { names, contents }
    }

    fn text(&self, name: &str) -> &str {
        let content = self.contents.get(name).unwrap_or_else(|| panic!("{name}: {:?}", self.names));
        std::str::from_utf8(content).expect("text")
    }

    /// Returns the records of a kind.
    fn records(&self, kind: &str) -> Vec<Value> {
        let lines = self.text(&format!("{kind}.ndjson")).lines();
        lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn manifest(&self) -> Value {
        serde_json::from_str(self.text("manifest.json")).expect("a manifest")
    }

    /// The records and files, which do not say when the archive was written.
    pub fn lasting(&self) -> BTreeMap<&str, &[u8]> {
        let lasting = self.contents.iter().filter(|(name, _)| name.ends_with(".ndjson") || name.starts_with("files/"));
        lasting.map(|(name, content)| (name.as_str(), content.as_slice())).collect()
    }
}

/// Exports the workspace `acme`.
#[track_caller]
fn export(data: &Path, name: &str, flags: &[&str]) -> Archive {
    export_of(data, "acme", name, flags)
}

#[track_caller]
fn export_of(data: &Path, workspace: &str, name: &str, flags: &[&str]) -> Archive {
    export_with(data, workspace, name, flags, &[])
}

/// Exports the workspace `acme` with further settings.
#[track_caller]
pub fn export_in(data: &Path, name: &str, environment: &[(&str, &str)]) -> Archive {
    export_with(data, "acme", name, &[], environment)
}

#[track_caller]
fn export_with(data: &Path, workspace: &str, name: &str, flags: &[&str], environment: &[(&str, &str)]) -> Archive {
    let path = data.join(name);
    let to = path.to_str().expect("text");
    let arguments = ["export", "--workspace", workspace, "--to", to];
    let written = run(data, &[&arguments[..], flags].concat(), environment).json();
    assert_eq!(written["bytes"], json!(std::fs::metadata(&path).expect("a file").len()));
    let archive = Archive::open(&path);
    assert_eq!(written["entries"], archive.manifest()["entries"]);
    archive
}

fn post(app: &App, id: &str, body: &Value) {
    let response = app.acme.post_upvote(id, body);
    assert_eq!(response.status, 201, "{}", response.text());
}

/// Fills the workspace `acme` with something of everything that it can have.
pub fn fill(app: &App) {
    let acme = &app.acme;
    let upload = |name: &str, content: &[u8]| {
        let response = acme.post_attachment(&form_with(name, content));
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()
    };
    let (picture, paper) = (upload("chart ü.png", &png()), upload("paper.txt", b"the paper"));
    let (picture_url, paper_url) = (picture["blob_url"].as_str().unwrap(), paper["blob_url"].as_str().unwrap());
    let description =
        format!("<p>=1+1 <a href=\"{paper_url}\">paper</a></p><img src=\"{picture_url}\" alt=\"a &gt; b\">");
    let body = json!({
        "feature_request": { "title": "@Dark mode, \"please\"", "description": description, "tags": ["ui", "dark, mode"] },
        "customer": { "email": "ann@customer.example", "name": "Ann" },
    });
    let dark = acme.post_feature_request(&body).json()["feature_request"]["id"].as_str().unwrap().to_owned();
    let night = acme.feature_request_with(&json!({ "title": "Night theme", "tags": ["a;b"] }));
    let black = acme.feature_request_with(&json!({ "title": "Black", "description": "OLED" }));
    let secret = acme.feature_request_with(&json!({ "title": "Secret", "private": true }));
    let gone = acme.feature_request_with(&json!({ "title": "Gone" }));
    let waiting = acme.feature_request_with(&json!({ "title": "Waits", "private": true }));
    app.data.hold_feature_request(&waiting);
    let vote = |email: &str| json!({ "customer": { "email": email } });
    for (id, email) in
        [(&dark, "bob@a.example"), (&night, "bob@a.example"), (&night, "cyd@a.example"), (&black, "dan@b.example")]
    {
        post(app, id, &vote(email));
    }
    let with_note = json!({
        "customer": { "email": "eve@b.example", "name": "=Eve" }, "reference_note": { "body": "<p>Deal of 10</p>" },
    });
    post(app, &secret, &with_note);
    acme.comment(&dark, "We think about it");
    let reply = acme.comment_by(&night, "bob@a.example", "<p>Yes<br>please</p>");
    acme.patch_comment(&reply, &json!({ "comment": { "content": "<p>Yes, please</p>" } })).is_ok();
    app.data.hold_comment(&dark, "dan@b.example", "<p>Held</p>", "61000");
    acme.put_subscription(&black, &json!({ "email": "fay@b.example" })).is_ok();
    let link = json!({ "url": "https://github.com/Acme/app/issues/7?a=\"&b", "title": "Größe <b>", "state": "closed" });
    acme.post_link(&black, &json!({ "link": link })).is_ok();
    acme.post_link(&dark, &json!({ "link": { "url": "https://acme.example/board" } })).is_ok();
    acme.merge(&black, &night);
    acme.merge(&night, &dark);
    acme.patch_track(&dark, &json!({ "track_id": app.track("Planned"), "comment": { "content": "Soon" } })).is_ok();
    acme.patch_feature_request(&secret, &json!({ "feature_request": { "title": "Secret plan" } })).is_ok();
    assert_eq!(acme.delete_feature_request(&gone, "").status, 204);
    let changelog = |fields: Value| {
        let response = acme.post_changelog(&json!({ "changelog": fields }));
        assert_eq!(response.status, 201, "{}", response.text());
    };
    changelog(json!({
        "title": "Release", "content": format!("<p>New</p><img src=\"{picture_url}\">"), "category": "new",
        "cover_image_signed_id": picture["signed_id"], "feature_request_ids": [secret, dark], "publish": true,
    }));
    changelog(json!({ "title": "Later", "content": "<p>Soon</p>", "publish_at": "2100-01-01T00:00:00.000Z" }));
    changelog(json!({ "title": "Draft", "content": "<p>Perhaps</p>" }));
    acme.put_synonyms(&json!({ "synonyms": [["dark", "night"], ["app", "client", "program"]] })).is_ok();
    let portal = json!({
        "accent_color": "#0a7d33", "mail_domains": ["customer.example"], "languages": ["de", "en"], "time_zone": "Europe/Berlin",
        "reply_to": "hello@acme.example", "noun": "ideas",
    });
    acme.patch_portal(&json!({ "portal": portal })).is_ok();
    app.roadmap(&[
        "member",
        "add",
        "--workspace",
        "acme",
        "--email",
        "pat@acme.example",
        "--name",
        "Pat",
        "--role",
        "admin",
    ])
    .json();
    app.roadmap(&["member", "remove", "--workspace", "acme", "pat@acme.example"]).json();
    let at = |millis: &str| sql_timestamp(millis);
    let yes = if *ON_POSTGRES { "true" } else { "1" };
    app.data.execute(&format!(
        "UPDATE members SET saved_views = '[[\"Mine\",\"state=open\"]]', team_mail = 'each', shortcuts = {yes}
             WHERE email = 'olga@acme.example';
         UPDATE customers SET blocked_at = {}, mail_stopped_at = {}, mail_stopped_because = 'blocked', stops_changelogs = {yes}
             WHERE email = 'cyd@a.example';
         UPDATE customers SET language = 'de', last_language = 'ar', news_since = {} WHERE email = 'dan@b.example';
         UPDATE lanes SET names = '{{\"de\":\"Geplant\"}}' WHERE name = 'Planned';
         UPDATE portal_settings SET welcome_text = '{{\"en\":\"Hello\"}}', logo_attachment_id = (
             SELECT id FROM attachments WHERE filename = 'paper.txt');
         UPDATE settings SET sender_name = 'Acme feedback'",
        at("1700000000123"),
        at("1700000000123"),
        at("1700000000000"),
    ));
    let posts = app.data_dir().join("posts.csv");
    std::fs::write(&posts, "id,title,votes,url\nA-1,From elsewhere,7,https://old.example/1\n").expect("a file");
    app.roadmap(&["import", "csv", posts.to_str().unwrap(), "--workspace", "acme"]).json();
}

/// Import contract 6: the entries in their order with their digests, keys in a fixed order, a private file that is not
/// replaced.
#[test]
fn everything_of_a_workspace_is_exported() {
    let app = App::start();
    fill(&app);
    let archive = export(app.data_dir(), "all.zip", &[]);
    let path = app.data_dir().join("all.zip");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    let attachments = archive.records("attachments");
    // Two uploads, and the picture that texts have.
    assert_eq!(attachments.len(), 3);
    let files = attachments.iter().map(|file| format!("files/{}", file["id"].as_str().unwrap()));
    let expected: Vec<String> = RECORDS
        .iter()
        .map(|kind| format!("{kind}.ndjson"))
        .chain(files)
        .chain(TABLES.map(str::to_owned))
        .chain(["manifest.json".to_owned()])
        .collect();
    assert_eq!(archive.names, expected);
    let manifest = archive.manifest();
    assert_eq!((&manifest["format"], &manifest["format_version"]), (&json!("roadmap-export"), &json!(1)));
    assert_eq!(manifest["workspace"], json!({ "subdomain": "acme", "product_name": "Acme" }));
    assert_eq!(manifest["options"], json!({ "without_people": false, "without_notes": false }));
    let entries = manifest["entries"].as_array().unwrap();
    assert_eq!(entries.len() + 1, archive.names.len());
    for (entry, name) in entries.iter().zip(&archive.names) {
        let content = &archive.contents[name];
        let digest: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            (&entry["name"], &entry["bytes"], &entry["sha256"]),
            (&json!(name), &json!(content.len()), &json!(digest))
        );
        if let Some(kind) = name.strip_suffix(".ndjson") {
            assert_eq!(entry["records"], json!(archive.records(kind).len()), "{name}");
            assert_ne!(entry["records"], json!(0), "{name}");
        }
    }
    let paper = attachments.iter().find(|file| file["filename"] == "paper.txt").unwrap();
    assert_eq!(archive.text(&format!("files/{}", paper["id"].as_str().unwrap())), "the paper");
    assert!(archive.names.iter().any(|name| *name == format!("files/{}", paper["id"].as_str().unwrap())));

    let requests = archive.records("feature_requests");
    assert_eq!(requests.len(), 6);
    let dark = &requests[0];
    let picture = attachments.iter().find(|file| file["picture_by"] == "team").unwrap()["id"].as_str().unwrap();
    assert_eq!(
        dark["description"],
        format!(
            "<p>=1+1 <a href=\"attachment:{}\" rel=\"nofollow noopener\">paper</a></p>\
             <img src=\"attachment:{picture}\" alt=\"a &gt; b\" width=\"2\" height=\"1\">",
            paper["id"].as_str().unwrap()
        )
    );
    assert_eq!((&requests[1]["merged_into_id"], &requests[2]["merged_into_id"]), (&dark["id"], &requests[1]["id"]));
    assert_eq!((&requests[5]["nameless_votes"], &requests[5]["tag_number"]), (&json!(7), &json!(7)));
    assert_eq!(archive.records("workspace")[0]["last_tag_number"], 7);
    assert_eq!(archive.records("imported")[0]["external_id"], "A-1");
    // Oldest first: the held one is from 1970.
    assert_eq!(archive.records("comments")[0]["held"], true);
    for kind in ["customers", "feature_requests", "votes", "comments", "events", "changelogs", "attachments"] {
        let times: Vec<_> = archive.records(kind).iter().map(|record| record["created_at"].to_string()).collect();
        assert!(times.is_sorted(), "{kind}: {times:?}");
    }
    // Nothing says where it was, how files are stored or who may read them.
    let [workspace] = &app.sql(&format!("SELECT {} FROM workspaces", uuid_text("id")))[..] else { panic!() };
    for name in archive.names.iter().filter(|name| name.ends_with(".ndjson")) {
        let text = archive.text(name);
        for secret in [workspace.as_str(), "roadmap.example.com", "/blobs/", "/pictures/"] {
            assert!(!text.contains(secret), "{name} has {secret}: {text}");
        }
    }

    let to = path.to_str().unwrap();
    let again = app.roadmap(&["export", "--workspace", "acme", "--to", to]);
    assert!(
        !again.success && again.stderr.contains("the file exists already; --force replaces it"),
        "{}",
        again.stderr
    );
    assert_eq!(export(app.data_dir(), "all.zip", &["--force"]).lasting(), archive.lasting());
    let left: Vec<_> = std::fs::read_dir(app.data_dir()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_str().unwrap().starts_with(".roadmap-export")), "{left:?}");
    let audited = app.acme.get_audit_entries("action=export.create").is_ok();
    assert_eq!(audited["audit_entries"].as_array().map(Vec::len), Some(2));
    app.has_logged_no_failure();
}

/// Import contract 6: without people, only their ids are left, and all numbers are the same.
#[test]
fn an_export_without_people_has_the_same_numbers() {
    let app = App::start();
    fill(&app);
    let (all, without) =
        (export(app.data_dir(), "all.zip", &[]), export(app.data_dir(), "w.zip", &["--without-people"]));
    for kind in RECORDS {
        let left = if ["notes", "imported"].contains(&kind) { 0 } else { all.records(kind).len() };
        assert_eq!(without.records(kind).len(), left, "{kind}");
    }
    let ids = |kind: &str| all.records(kind).iter().map(|record| json!({ "id": record["id"] })).collect::<Vec<_>>();
    for kind in ["customers", "members"] {
        assert_eq!(without.records(kind), ids(kind));
    }
    let everything: Vec<u8> = without.contents.values().flatten().copied().collect();
    let everything = String::from_utf8_lossy(&everything);
    for person in ["ann@", "bob@", "olga@", "Olga", "\"Ann\"", "=Eve", "Deal of 10"] {
        assert!(!everything.contains(person), "{person}");
    }
    assert_eq!(without.text("csv/votes.csv").lines().count(), all.text("csv/votes.csv").lines().count());
    let without_notes = export(app.data_dir(), "n.zip", &["--without-notes"]);
    assert!(
        without_notes.records("notes").is_empty() && !without_notes.text("csv/comments.csv").contains("Deal of 10")
    );
    assert_eq!(without_notes.records("customers"), all.records("customers"));
}

/// Import contract 5 and 6: the files for spreadsheets are guarded, and `import csv` understands them.
#[test]
fn the_tables_of_an_export_can_be_imported() {
    let app = App::start();
    fill(&app);
    let archive = export(app.data_dir(), "all.zip", &[]);
    let requests = archive.text("csv/feature_requests.csv");
    assert!(requests.starts_with("\u{feff}\"id\",\"tag_number\",\"title\""), "{requests}");
    assert!(requests.contains("\"'@Dark mode, \"\"please\"\"\""), "{requests}");
    assert!(archive.text("csv/customers.csv").contains("\"'=Eve\""));
    let other = app.workspace("other");
    let paths: Vec<String> = ["csv/feature_requests.csv", "csv/votes.csv", "csv/comments.csv"]
        .into_iter()
        .map(|name| {
            let path = app.data_dir().join(name.replace('/', "-"));
            std::fs::write(&path, &archive.contents[name]).expect("a file");
            path.to_str().unwrap().to_owned()
        })
        .collect();
    let base = ["import", "csv", "--workspace", "other"];
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let report = run(app.data_dir(), &[&base[..], &paths].concat(), &[]).json();
    assert_eq!(report["problems"], 0, "{report}");
    let counts = |kind: &str| report["counts"][kind]["new"].as_u64().unwrap();
    let held = archive.records("comments").iter().filter(|comment| comment["held"] == true).count() as u64;
    for (kind, expected) in [
        ("feature_requests", archive.records("feature_requests").len() as u64),
        ("votes", archive.records("votes").len() as u64),
        ("comments", archive.records("comments").len() as u64 - held),
        ("notes", archive.records("notes").len() as u64),
        ("merges", 2),
    ] {
        assert_eq!(counts(kind), expected, "{kind}: {report}");
    }
    let titles: BTreeSet<String> = archive
        .records("feature_requests")
        .iter()
        .map(|request| request["title"].as_str().unwrap().to_owned())
        .collect();
    let imported = app.sql(
        "SELECT title FROM feature_requests JOIN workspaces ON workspaces.id = workspace_id WHERE subdomain = 'other'",
    );
    assert_eq!(imported.into_iter().collect::<BTreeSet<_>>(), titles);
    let tags = other.detail("1")["tags"].clone();
    assert_eq!(tags, json!(["ui", "dark, mode"]));
}

/// Creates a workspace and restores an archive into it. Returns the report.
#[track_caller]
fn restore(data: &Path, workspace: &str, archive: &Path, flags: &[&str]) -> Value {
    let website = "https://elsewhere.example";
    run(data, &["workspace", "create", workspace, "--product-name", "New", "--website-url", website], &[]).json();
    let import = ["import", "roadmap", "--workspace", workspace, archive.to_str().unwrap()];
    run(data, &[&import[..], flags].concat(), &[]).json()
}

/// What is counted and derived of feature requests. The tally of a merged one is what it was before the merge, and of no use.
fn derived(data: &Data, workspace: &str) -> Vec<String> {
    data.rows(&format!(
        "SELECT r.tag_number || ' ' || CASE WHEN t.root_id IS NULL THEN t.votes_count ELSE 0 END || ' '
             || coalesce(t.attention, '-') || ' ' || coalesce(root.tag_number, 0) || ' ' || r.description_text
         FROM feature_requests r
         JOIN workspaces w ON w.id = r.workspace_id AND w.subdomain = '{workspace}'
         JOIN vote_tallies t ON t.workspace_id = r.workspace_id AND t.request_id = r.id
         LEFT JOIN feature_requests root ON root.workspace_id = r.workspace_id AND root.id = t.root_id
         ORDER BY r.tag_number"
    ))
}

/// How many companies want a feature request.
fn companies(data: &Data, workspace: &str) -> Vec<String> {
    data.rows(&format!(
        "SELECT r.tag_number || ' ' || t.companies_count FROM feature_requests r
         JOIN workspaces w ON w.id = r.workspace_id AND w.subdomain = '{workspace}'
         JOIN vote_tallies t ON t.workspace_id = r.workspace_id AND t.request_id = r.id
         WHERE t.root_id IS NULL ORDER BY r.tag_number"
    ))
}

/// Import contract 6: what was exported and restored is exported again with the same bytes, on a store and from one to the
/// other, in a workspace of another name, on another address, with other references to files.
#[test]
fn an_export_comes_back_to_the_byte() {
    let app = App::start();
    fill(&app);
    let first = export(app.data_dir(), "all.zip", &[]);
    let archive = app.data_dir().join("all.zip");
    let other = Data::file();
    let report = restore(app.data_dir(), "copy", &archive, &["--make-members"]);
    assert_eq!((&report["state"], &report["problems"]), (&json!("done"), &json!(0)), "{report}");
    assert_eq!(report["votes"]["voters"], json!(first.records("votes").len()));
    let copy = export_of(app.data_dir(), "copy", "copy.zip", &[]);
    restore(other.path(), "acme", &archive, &["--make-members"]);
    let there = export(other.path(), "there.zip", &[]);
    restore(app.data_dir(), "back", &other.path().join("there.zip"), &["--make-members"]);
    let back = export_of(app.data_dir(), "back", "back.zip", &[]);
    for (name, again) in [("copy", &copy), ("there", &there), ("back", &back)] {
        for (entry, content) in first.lasting() {
            let restored = again.contents.get(entry).unwrap_or_else(|| panic!("{name} has no {entry}"));
            let [content, restored] = [content, restored].map(String::from_utf8_lossy);
            assert_eq!(restored, content, "{entry} of {name}");
        }
        assert_eq!(again.lasting().len(), first.lasting().len(), "{name}");
    }
    let expected = derived(&app.data, "acme");
    assert_eq!(expected.len(), first.records("feature_requests").len());
    for (data, workspace) in [(&app.data, "copy"), (&other, "acme"), (&app.data, "back")] {
        assert_eq!(derived(data, workspace), expected, "{workspace}");
        assert_eq!(companies(data, workspace), companies(&app.data, "acme"), "{workspace}");
    }
    let client = app.client("copy", &app.key("copy", &[]));
    assert_eq!(
        column(&client.get_feature_requests("query=night").is_ok(), "feature_requests", "title"),
        column(&app.acme.get_feature_requests("query=night").is_ok(), "feature_requests", "title"),
    );
    // Links to files lead to those of the copy, and the next number is the next one.
    let description = client.detail("1")["description"].as_str().unwrap().to_owned();
    assert!(description.contains("<a href=\"https://copy.roadmap.example.com/blobs/"), "{description}");
    assert_eq!(client.feature_request("Next")["number"], app.acme.feature_request("Next")["number"]);
    assert_eq!(
        app.sql(
            "SELECT count(*) FROM outbox JOIN workspaces ON workspaces.id = workspace_id WHERE subdomain <> 'acme'"
        ),
        ["0"]
    );
    app.has_logged_no_failure();
}

/// Import contract 6: the data of the demo come back to the byte, too, on the other store.
#[test]
fn the_demo_comes_back_to_the_byte() {
    let (data, other) = (Data::empty(), Data::file());
    let (server, _) = demo(&data);
    server.stop();
    let first = export_of(data.path(), "demo", "all.zip", &[]);
    assert!(first.records("votes").len() > 100);
    restore(other.path(), "acme", &data.path().join("all.zip"), &["--make-members"]);
    let there = export(other.path(), "there.zip", &[]);
    for (entry, content) in first.lasting() {
        let [content, restored] = [content, &there.contents[entry]].map(String::from_utf8_lossy);
        assert!(restored == content, "{entry}: {restored} is not {content}");
    }
    assert_eq!(there.lasting().len(), first.lasting().len());
    assert_eq!(derived(&other, "acme"), derived(&data, "demo"));
    assert_eq!(companies(&other, "acme"), companies(&data, "demo"));
}

/// Import contract 5: killed at any point, the same command goes on and ends as if nothing had happened.
#[test]
fn a_restore_that_is_killed_goes_on() {
    let app = App::start();
    fill(&app);
    let id = app.acme.feature_request_with(&json!({ "title": "Popular" }));
    app.data.add_voters(&id, 2_000);
    app.data.execute("UPDATE vote_tallies SET votes_count = 0");
    let first = export(app.data_dir(), "all.zip", &[]);
    let archive = app.data_dir().join("all.zip");
    let website = "https://elsewhere.example";
    app.roadmap(&["workspace", "create", "copy", "--product-name", "New", "--website-url", website]).json();
    let command = || {
        let mut command = roadmap_command(app.data_dir());
        command.args([
            "--base-url",
            "https://roadmap.example.com",
            "import",
            "roadmap",
            "--workspace",
            "copy",
            "--json",
        ]);
        command.args([archive.to_str().unwrap(), "--make-members"]);
        command
    };
    let position = || {
        let progress = app
            .sql("SELECT progress FROM imports JOIN workspaces ON workspaces.id = workspace_id AND subdomain = 'copy'");
        let progress: Option<Value> = progress.first().map(|text| serde_json::from_str(text).expect("JSON"));
        progress.map_or(0, |progress| progress["position"].as_u64().unwrap())
    };
    for least in [1, 1_000] {
        let mut child = command().stdout(Stdio::null()).spawn().expect("the command runs");
        eventually("some records are in", || position() >= least);
        child.kill().expect("a process");
        child.wait().expect("a process");
        // Nobody holds the run any longer.
        app.data.execute(&format!("UPDATE imports SET seen_at = {} WHERE state = 'running'", sql_timestamp("0")));
    }
    let output = command().output().expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["counts"]["votes"]["new"], json!(first.records("votes").len()), "{report}");
    let copy = export_of(app.data_dir(), "copy", "copy.zip", &[]);
    for (entry, content) in first.lasting() {
        assert!(copy.contents[entry] == content, "{entry}");
    }
    assert_eq!(app.client("copy", &app.key("copy", &[])).detail(&id)["votes_count"], 2_000);
}

/// Import contract 6: without `--make-members`, members have no access; without people, all numbers are the same.
#[test]
fn people_come_back_as_far_as_they_are_in_the_export() {
    let app = App::start();
    fill(&app);
    let all = export(app.data_dir(), "all.zip", &[]);
    restore(app.data_dir(), "copy", &app.data_dir().join("all.zip"), &[]);
    assert_eq!(app.roadmap(&["member", "list", "--workspace", "copy"]).json(), json!([]));
    let copy = export_of(app.data_dir(), "copy", "copy.zip", &[]);
    assert_eq!(copy.records("members").len(), all.records("members").len());
    assert_eq!(copy.records("comments"), all.records("comments"));

    export(app.data_dir(), "without.zip", &["--without-people"]);
    restore(app.data_dir(), "nobody", &app.data_dir().join("without.zip"), &[]);
    assert_eq!(derived(&app.data, "nobody"), derived(&app.data, "acme"));
    let nobody = export_of(app.data_dir(), "nobody", "nobody.zip", &["--without-people"]);
    assert_eq!(nobody.records("votes"), all.records("votes"));
    let addresses = app.sql(
        "SELECT email FROM customers JOIN workspaces ON workspaces.id = workspace_id
         WHERE subdomain = 'nobody' AND (email NOT LIKE '%@roadmap.invalid' OR mail_stopped_at IS NULL)",
    );
    assert_eq!(addresses, Vec::<String>::new());
}

/// What becomes of an entry of an archive, by its name and content. `None`: it is left out.
type Edit<'a> = dyn Fn(&str, Vec<u8>) -> Option<Vec<u8>> + 'a;

/// Import contract 5, 6: nothing is restored into a workspace that has something, nor from an archive that is not whole.
#[test]
fn what_cannot_be_restored_leaves_nothing() {
    let app = App::start();
    fill(&app);
    export(app.data_dir(), "all.zip", &[]);
    let archive = app.data_dir().join("all.zip");
    let blank = app.workspace("blank");
    let attempt = |workspace: &str, path: &Path, flags: &[&str]| {
        let base = ["import", "roadmap", "--workspace", workspace];
        run(app.data_dir(), &[&base[..], &[path.to_str().unwrap()], flags].concat(), &[])
    };
    let refused = attempt("acme", &archive, &[]);
    assert!(!refused.success && refused.stderr.contains("a workspace without any"), "{}", refused.stderr);
    let dry = attempt("blank", &archive, &["--dry-run"]).json();
    let contents = Archive::open(&archive);
    let votes = json!(contents.records("votes").len());
    assert_eq!((&dry["id"], &dry["counts"]["votes"]["new"]), (&json!(null), &votes), "{dry}");

    let changed = |name: &str, change: &Edit<'_>| {
        let path = app.data_dir().join(name);
        let mut zip = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
        for entry in &contents.names {
            if let Some(content) = change(entry, contents.contents[entry].clone()) {
                zip.start_file(entry.as_str(), zip::write::SimpleFileOptions::default()).unwrap();
                std::io::Write::write_all(&mut zip, &content).unwrap();
            }
        }
        zip.finish().unwrap();
        path
    };
    let replace = |of: &'static str, from: &'static str, to: &'static str| {
        move |name: &str, content: Vec<u8>| {
            let text = String::from_utf8_lossy(&content).into_owned();
            Some(if name == of { text.replacen(from, to, 1).into_bytes() } else { content })
        }
    };
    for (name, change, why) in [
        (
            "damaged.zip",
            &replace("votes.ndjson", "true", "null") as &dyn Fn(&str, Vec<u8>) -> Option<Vec<u8>>,
            "the entry votes.ndjson differs from the manifest",
        ),
        (
            "newer.zip",
            &replace("manifest.json", "\"format_version\": 1", "\"format_version\": 2"),
            "a newer version has written",
        ),
        (
            "missing.zip",
            &|name, content| (name != "votes.ndjson").then_some(content),
            "votes.ndjson of the manifest is missing",
        ),
        ("other.zip", &|name, content| (name != "manifest.json").then_some(content), "is no export of a workspace"),
    ] {
        let refused = attempt("blank", &changed(name, change), &[]);
        assert!(!refused.success && refused.stderr.contains(why), "{name}: {}", refused.stderr);
    }
    assert_eq!(blank.get_feature_request("1").status, 404);
    let csv = app.roadmap(&["import", "csv", "--workspace", "blank", archive.to_str().unwrap()]);
    assert!(!csv.success && csv.stderr.contains("restore them with `roadmap import roadmap`"), "{}", csv.stderr);
    let report = attempt("blank", &archive, &[]).json();
    let undo = ["import", "undo", "--workspace", "blank", report["id"].as_str().unwrap(), "--yes"];
    let refused = app.roadmap(&undo);
    assert!(refused.stderr.contains("has restored an export"), "{}", refused.stderr);
}

/// Asks for an export, and waits until it has ended.
#[track_caller]
fn requested(client: &Client, options: &Value) -> Value {
    let asked = client.post_export(&json!({ "export": options })).is_ok();
    let id = asked["export"]["id"].as_str().expect("an id");
    let shown = || client.get_export(id).is_ok()["export"].clone();
    eventually("the export has ended", || shown()["state"] != "running");
    shown()
}

/// Downloads an export without a key.
fn downloaded(app: &App, export: &Value) -> Response {
    Browser::new(app).get(&path_of(export["download_url"].as_str().expect("a URL")))
}

/// Import contract 10: `POST /exports` writes what the command writes; the URL needs no key and is another one each time.
#[test]
fn an_export_is_written_on_request() {
    let app = App::start();
    fill(&app);
    let asked = app.acme.post_export(&json!({ "export": {} }));
    assert_eq!(asked.status, 202, "{}", asked.text());
    let asked = asked.json()["export"].clone();
    let keys =
        ["id", "state", "without_people", "without_notes", "byte_size", "download_url", "created_at", "expires_at"];
    has_keys(&asked, &keys);
    is_id(&asked["id"]);
    let nothing = Value::Null;
    assert_eq!((&asked["state"], &asked["byte_size"], &asked["download_url"]), (&json!("running"), &nothing, &nothing));
    let (created, expires) = (asked["created_at"].as_str().unwrap(), asked["expires_at"].as_str().unwrap());
    for time in [&asked["created_at"], &asked["expires_at"]] {
        is_timestamp(time);
    }
    assert!(created[11..] == expires[11..] && created[..10] < expires[..10], "{created} {expires}");
    let id = asked["id"].as_str().unwrap();
    let shown = || app.acme.get_export(id).is_ok()["export"].clone();
    eventually("the export is done", || shown()["state"] == "done");
    let (first, second) = (shown(), {
        std::thread::sleep(std::time::Duration::from_millis(5));
        shown()
    });
    assert_ne!(first["download_url"], second["download_url"]);
    let file = downloaded(&app, &first);
    assert_eq!((file.status, json!(file.bytes.len())), (200, first["byte_size"].clone()));
    assert_eq!(file.bytes, downloaded(&app, &second).bytes);
    for (name, value) in [
        ("content-type", "application/zip"),
        ("content-disposition", "attachment; filename=\"acme-export.zip\""),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        let found = file.header(name).unwrap_or_default();
        assert!(found.starts_with(value), "{name}: {found}");
    }
    let (asked, command) = (Archive::read(file.bytes), export(app.data_dir(), "all.zip", &[]));
    assert_eq!((&asked.names, asked.lasting()), (&command.names, command.lasting()));
    assert_eq!(asked.manifest()["entries"], command.manifest()["entries"]);

    let list = app.acme.get_exports("page_size=1").is_ok();
    assert_eq!(
        (&list["total_count"], &list["total_pages"], &list["exports"][0]["id"]),
        (&json!(1), &json!(1), &json!(id))
    );
    assert_eq!(app.acme.get_exports("page=2").is_ok()["exports"], json!([]));
    let entries = app.acme.get_audit_entries(&format!("subject={id}")).is_ok();
    let entry = &entries["audit_entries"][0];
    assert_eq!((&entry["action"], &entry["actor"]["kind"]), (&json!("export.create"), &json!("api_key")));
    let left = files_below(app.data_dir()).into_iter().filter(|path| path.extension().is_some_and(|end| end == "zip"));
    assert_eq!(left.count(), 1, "only that of the command");
    app.has_logged_no_failure();
}

/// Import contract 10: one at a time, and invalid fields are named.
#[test]
fn one_export_runs_at_a_time() {
    let app = App::start();
    fill(&app);
    let responses = in_parallel(4, |_| app.acme.post_export(&json!({ "export": {} })));
    let (asked, refused): (Vec<_>, Vec<_>) = responses.iter().partition(|response| response.status == 202);
    assert_eq!((asked.len(), refused.len()), (1, 3));
    for response in refused {
        response.is_error(409, "Export is already running.");
    }
    let is_running = || app.count("SELECT count(*) FROM exports WHERE state = 'running'") == 1;
    eventually("the export is done", || !is_running());
    for (body, message) in [
        (json!({}), "param is missing or the value is empty or invalid: export"),
        (json!({ "export": 7 }), "export must be an object"),
        (json!({ "export": { "without_people": "no" } }), "without_people must be a boolean"),
        (json!({ "export": { "without_notes": 1 } }), "without_notes must be a boolean"),
    ] {
        app.acme.post_export(&body).is_error(422, message);
    }
    app.acme.get_exports("cursor=").is_error(422, "cursor cannot be given for exports");
    requested(&app.acme, &json!({ "without_notes": null }));
    assert_eq!(app.acme.get_exports("").is_ok()["total_count"], 2);
}

/// Import contract 10: only keys with `manage` of the workspace; a URL that is forged, of another workspace or old leads
/// nowhere.
#[test]
fn nobody_else_gets_an_export() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let bolt = Client { key: Some(app.key("bolt", &["--scope", "manage"])), ..bolt };
    let export = requested(&app.acme, &json!({}));
    let id = export["id"].as_str().unwrap();
    for scope in ["read", "write"] {
        let client = app.client("acme", &app.key("acme", &["--scope", scope]));
        for response in [client.post_export(&json!({ "export": {} })), client.get_exports(""), client.get_export(id)] {
            response.is_error(403, "API Key does not have the required scope");
        }
    }
    for id in [id, "x", "01890a5d-ac96-774b-bcce-b302099a8057"] {
        bolt.get_export(id).is_error(404, "Export does not exist.");
    }
    assert_eq!(bolt.get_exports("").is_ok()["exports"], json!([]));
    let anonymous = Client { key: None, ..app.acme.clone() };
    anonymous.get_export(id).is_error(401, "Could not authenticate, invalid API Key");

    let path = path_of(export["download_url"].as_str().unwrap());
    assert_eq!(anonymous.get(&path).status, 200);
    let elsewhere = Client { key: None, ..bolt };
    elsewhere.get(&path).is_error(404, "Not found");
    let [_, _, token, name] = &path.split('/').collect::<Vec<_>>()[..] else { panic!("{path}") };
    let forged =
        format!("/files/{}{}/{name}", &token[..token.len() - 3], if token.ends_with("AAA") { "BBB" } else { "AAA" });
    anonymous.get(&forged).is_error(404, "Not found");
    let uuid = |query: &str| parse_uuid("id", &app.sql(query)[0]).unwrap();
    let workspace =
        WorkspaceId::new(uuid(&format!("SELECT {} FROM workspaces WHERE subdomain = 'acme'", uuid_text("id"))));
    let file = uuid(&format!("SELECT {} FROM attachments WHERE job_id IS NOT NULL", uuid_text("id")));
    let signer = ReferenceSigner::new(Secret::parse("secret", SECRET).unwrap(), Vec::new());
    for (until, status) in [("2020-01-01T00:00:00.000Z", 404), ("2100-01-01T00:00:00.000Z", 200)] {
        let until = Timestamp::parse(until).unwrap();
        let token = signer.sign_with_expiry(Purpose::File, workspace, file, until);
        assert_eq!(anonymous.get(&format!("/files/{token}/{name}")).status, status);
    }
    // It is no upload.
    app.acme.get_attachment(&file.to_string()).is_error(404, "Attachment does not exist.");
    app.acme.delete_attachment(&file.to_string()).is_error(404, "Attachment does not exist.");
}

/// Import contract 6 and 10: an export without people has no address.
#[test]
fn a_requested_export_without_people_has_no_address() {
    let app = App::start();
    fill(&app);
    for (options, has_people) in [(json!({}), true), (json!({ "without_people": true, "without_notes": true }), false)]
    {
        let export = requested(&app.acme, &options);
        assert_eq!((&export["without_people"], &export["without_notes"]), (&json!(!has_people), &json!(!has_people)));
        let archive = Archive::read(downloaded(&app, &export).bytes);
        let everything: Vec<u8> = archive.contents.values().flatten().copied().collect();
        let everything = String::from_utf8_lossy(&everything);
        for person in ["ann@", "bob@", "olga@", "Olga", "=Eve", "Deal of 10"] {
            assert_eq!(everything.contains(person), has_people, "{person}");
        }
    }
}

/// Import contract 9: admins with a recent sign-in create and download exports on a page.
#[test]
fn exports_are_on_a_page_of_the_panel() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    let note = json!({ "body": "Deal of 10", "author_email": "olga@acme.example" });
    post(
        &app,
        request["id"].as_str().unwrap(),
        &json!({ "customer": { "email": "ann@a.example" }, "reference_note": note }),
    );
    let path = "/admin/exports";
    let olga = Browser::signed_in(&app, "olga@acme.example");
    let page = olga.page(path);
    shows(&page, &["Export</h1>", "Without people", "Without private notes", "Create export", "There is no export."]);
    assert!(olga.page("/admin/mail").contains("<a href=\"/admin/exports\">Export"), "{page}");
    let key = hidden(&page, "operation_key");
    let fields = [("operation_key", key.as_str()), ("without_notes", "on")];
    for _ in 0..2 {
        assert_eq!(olga.submit(path, &fields), "/admin/exports?done=export-created");
    }
    assert_eq!(app.count("SELECT count(*) FROM exports"), 1, "a form that is sent twice does one thing");
    shows(&olga.page("/admin/exports?done=export-created"), &["The export is being written."]);
    eventually("the export is done", || olga.page(path).contains("Download export"));
    let page = olga.page(path);
    shows(&page, &["Done", "Without private notes", "kB", "24 hours"]);
    assert!(!page.contains("data-reload") && !page.contains(">Refresh<"), "{page}");
    let exports = app.acme.get_exports("").is_ok();
    let file = format!("/admin/exports/{}/file", exports["exports"][0]["id"].as_str().unwrap());
    assert!(page.contains(&format!("<a href=\"{file}\"")), "{page}");
    let response = olga.get(&file);
    assert_eq!((response.status, response.header("cache-control")), (200, Some("private, no-store")));
    let disposition = response.header("content-disposition").unwrap();
    assert!(disposition.starts_with("attachment; filename=\"acme-export.zip\""), "{disposition}");
    let (asked, command) = (Archive::read(response.bytes), export(app.data_dir(), "n.zip", &["--without-notes"]));
    assert_eq!((&asked.names, asked.lasting()), (&command.names, command.lasting()));
    for missing in ["01890a5d-ac96-774b-bcce-b302099a8057", "x"] {
        assert_eq!(olga.get(&format!("/admin/exports/{missing}/file")).status, 404);
    }

    let no = if *ON_POSTGRES { "false" } else { "0" };
    app.data.execute(&format!(
        "INSERT INTO exports (workspace_id, id, state, without_people, without_notes, holder, created_at, seen_at)
         SELECT workspace_id, holder, 'running', {no}, {no}, holder, created_at, {} FROM exports",
        sql_timestamp("4000000000000")
    ));
    let page = olga.page(path);
    shows(&page, &["Running", "Refresh", "data-reload"]);
    let again = olga.post(path, &[("without_people", "on")]);
    assert_eq!(again.status, 409);
    shows(&again.text(), &["An export is already running."]);
    assert!(again.text().contains("name=\"without_people\" value=\"on\" checked"), "{}", again.text());

    app.data.age_sessions();
    let page = olga.page(path);
    assert!(page.contains("Sign in again") && !page.contains("Create export"), "{page}");
    for response in [olga.get(&file), olga.post(path, &[])] {
        assert_eq!((response.status, response.header("location")), (303, Some("/sign-in?next=%2Fadmin")));
    }
}

/// Rows and stored content of exports.
fn stored(app: &App) -> (i64, i64, usize) {
    let files = files_below(&app.data_dir().join("blobs")).len();
    (
        app.count("SELECT count(*) FROM exports"),
        app.count("SELECT count(*) FROM attachments WHERE job_id IS NOT NULL"),
        files,
    )
}

/// Import contract 8: erasing a person deletes the exports that may hold them.
#[test]
fn erasing_a_person_deletes_exports_with_people() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    app.acme.vote(request["id"].as_str().unwrap(), "zelda@hyrule.example");
    let with = requested(&app.acme, &json!({}));
    let without = requested(&app.acme, &json!({ "without_people": true }));
    assert_eq!(stored(&app), (2, 2, 2));
    let erase = ["customer", "erase", "--workspace", "acme", "zelda@hyrule.example", "--yes"];
    app.roadmap(&erase).json();
    let id = |export: &Value| export["id"].as_str().unwrap().to_owned();
    app.acme.get_export(&id(&with)).is_error(404, "Export does not exist.");
    assert_eq!(downloaded(&app, &with).status, 404);
    assert_eq!(downloaded(&app, &without).status, 200);
    assert_eq!(stored(&app), (1, 1, 1));
}

/// Import contract 9: an export is deleted after 24 hours, and not offered any more.
#[test]
fn an_export_expires_after_a_day() {
    let mut app = App::start();
    let export = requested(&app.acme, &json!({}));
    let olga = Browser::signed_in(&app, "olga@acme.example");
    let id = export["id"].as_str().unwrap();
    let file = format!("/admin/exports/{id}/file");
    assert_eq!(olga.get(&file).status, 200);
    let day = if *ON_POSTGRES { "interval '1 day'" } else { "86400000" };
    app.data.execute(&format!("UPDATE exports SET created_at = created_at - {day}"));
    app.acme.get_export(id).is_error(404, "Export does not exist.");
    assert_eq!(app.acme.get_exports("").is_ok()["total_count"], 0);
    assert_eq!((olga.get(&file).status, olga.page("/admin/exports").contains("Download export")), (404, false));
    assert_eq!(stored(&app), (1, 1, 1));
    app.restart();
    eventually("the export is deleted", || stored(&app) == (0, 0, 0));
}

/// Import contract 9: the storage budget holds.
#[test]
fn an_export_over_the_budget_fails() {
    let app = App::with(&[], &[("ROADMAP_STORAGE_FILES", "1KB")]);
    app.acme.feature_request("Dark mode");
    let export = requested(&app.acme, &json!({}));
    assert_eq!(
        (&export["state"], &export["byte_size"], &export["download_url"]),
        (&json!("failed"), &Value::Null, &Value::Null)
    );
    assert_eq!(stored(&app), (1, 0, 0));
    let log = std::fs::read_to_string(app.data_dir().join("server.log")).unwrap();
    assert!(log.contains("Storage for files is used up"), "{log}");
}

/// Asks for an export that lasts for a while, and waits until a process works on it. Returns its id.
fn underway(app: &App) -> String {
    // Another one, if it was done at once.
    for _ in 0..20 {
        let asked = app.acme.post_export(&json!({ "export": {} })).is_ok();
        let id = asked["export"]["id"].as_str().unwrap().to_owned();
        let is = |what: &str| {
            app.count(&format!("SELECT count(*) FROM exports WHERE {} = '{id}' AND {what}", uuid_text("id"))) == 1
        };
        eventually("the export is taken", || is("(state <> 'running' OR seen_at >= created_at)"));
        if is("state = 'running'") {
            return id;
        }
    }
    panic!("every export was done at once");
}

/// Import contract 9: a process that dies or stops leaves its export to another one.
#[test]
fn another_process_ends_an_export() {
    let mut app = App::start();
    let posts = app.data_dir().join("posts.csv");
    let rows: String = (0..4_000).map(|number| format!("{number},Idea {number},{}\n", "word ".repeat(60))).collect();
    std::fs::write(&posts, format!("id,title,description\n{rows}")).unwrap();
    app.roadmap(&["import", "csv", posts.to_str().unwrap(), "--workspace", "acme"]).json();
    let is_running = |app: &App| app.count("SELECT count(*) FROM exports WHERE state = 'running'") == 1;

    let id = underway(&app);
    app.kill();
    assert!(is_running(&app));
    app.restart();
    // Nobody takes it over before the process has had its time.
    assert_eq!(app.acme.get_export(&id).is_ok()["export"]["state"], "running");
    app.acme.post_export(&json!({ "export": {} })).is_error(409, "Export is already running.");
    let shown = |app: &App, id: &str| app.acme.get_export(id).is_ok()["export"].clone();
    eventually("another process has ended it", || shown(&app, &id)["state"] == "done");
    let archive = Archive::read(downloaded(&app, &shown(&app, &id)).bytes);
    assert_eq!(archive.records("feature_requests").len(), 4_000);
    assert_eq!(app.count(&format!("SELECT count(*) FROM attachments WHERE {} = '{id}'", uuid_text("job_id"))), 1);

    let id = underway(&app);
    app.terminate();
    app.wait_for_exit();
    assert!(is_running(&app));
    let released = app.count("SELECT count(*) FROM exports WHERE state = 'running' AND seen_at < created_at");
    assert_eq!(released, 1, "a process that stops says so");
    app.restart();
    eventually("it goes on at once", || shown(&app, &id)["state"] == "done");
}

/// A table, its file of the export, and pairs of a column and a key of its records.
type ExportedTable = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Where the columns of all tables are in an export.
const EXPORTED: &[ExportedTable] = &[
    (
        "lanes",
        "lanes",
        &[("id", "id"), ("name", "name"), ("kind", "kind"), ("names", "names"), ("position", "position")],
    ),
    ("tracks", "tracks", &[("id", "id"), ("name", "name"), ("lane_id", "lane_id"), ("position", "position")]),
    (
        "members",
        "members",
        &[
            ("id", "id"),
            ("email", "email"),
            ("name", "name"),
            ("role", "role"),
            ("team_mail", "team_mail"),
            ("saved_views", "saved_views"),
            ("shortcuts", "shortcuts"),
            ("created_at", "created_at"),
            ("removed_at", "removed_at"),
        ],
    ),
    (
        "customers",
        "customers",
        &[
            ("id", "id"),
            ("email", "email"),
            ("name", "name"),
            ("language", "language"),
            ("last_language", "last_language"),
            ("mail_stopped_at", "mail_stopped_at"),
            ("mail_stopped_because", "mail_stopped_because"),
            ("stops_changelogs", "stops_changelogs"),
            ("news_since", "news_since"),
            ("blocked_at", "blocked_at"),
            ("created_at", "created_at"),
        ],
    ),
    (
        "feature_requests",
        "feature_requests",
        &[
            ("id", "id"),
            ("tag_number", "tag_number"),
            ("title", "title"),
            ("description", "description"),
            ("track_id", "track_id"),
            ("author_id", "author_id"),
            ("private", "private"),
            ("awaiting_approval", "awaiting_approval"),
            ("merged_into_id", "merged_into_id"),
            ("handled_at", "handled_at"),
            ("status_since", "status_since"),
            ("created_at", "created_at"),
            ("updated_at", "updated_at"),
        ],
    ),
    ("feature_request_tags", "feature_requests", &[("request_id", "id"), ("position", "tags"), ("tag", "tags")]),
    ("vote_tallies", "feature_requests", &[("nameless_votes", "nameless_votes")]),
    (
        "votes",
        "votes",
        &[
            ("request_id", "feature_request_id"),
            ("customer_id", "customer_id"),
            ("subscribed", "subscribed"),
            ("created_at", "created_at"),
        ],
    ),
    (
        "followers",
        "subscriptions",
        &[("request_id", "feature_request_id"), ("customer_id", "customer_id"), ("created_at", "created_at")],
    ),
    (
        "comments",
        "comments",
        &[
            ("id", "id"),
            ("request_id", "feature_request_id"),
            ("author_id", "author_id"),
            ("customer_id", "customer_id"),
            ("content", "content"),
            ("created_at", "created_at"),
            ("updated_at", "updated_at"),
        ],
    ),
    (
        "held_comments",
        "comments",
        &[
            ("id", "id"),
            ("request_id", "feature_request_id"),
            ("customer_id", "customer_id"),
            ("content", "content"),
            ("created_at", "created_at"),
        ],
    ),
    (
        "notes",
        "notes",
        &[
            ("id", "id"),
            ("request_id", "feature_request_id"),
            ("customer_id", "customer_id"),
            ("author_id", "author_id"),
            ("body", "body"),
            ("created_at", "created_at"),
        ],
    ),
    (
        "links",
        "links",
        &[
            ("id", "id"),
            ("request_id", "feature_request_id"),
            ("url", "url"),
            ("title", "title"),
            ("state", "state"),
            ("created_at", "created_at"),
            ("updated_at", "updated_at"),
        ],
    ),
    (
        "feature_request_events",
        "events",
        &[
            ("id", "id"),
            ("request_id", "feature_request_id"),
            ("kind", "kind"),
            ("details", "details"),
            ("actor_kind", "actor_kind"),
            ("actor_id", "actor_id"),
            ("actor_name", "actor_name"),
            ("created_at", "created_at"),
        ],
    ),
    (
        "changelogs",
        "changelogs",
        &[
            ("id", "id"),
            ("title", "title"),
            ("content", "content"),
            ("category", "category"),
            ("cover_attachment_id", "cover_attachment_id"),
            ("published_at", "publish_at"),
            ("notified", "notified"),
            ("notifies", "notifies"),
            ("created_at", "created_at"),
            ("updated_at", "updated_at"),
        ],
    ),
    (
        "changelog_feature_requests",
        "changelogs",
        &[("changelog_id", "id"), ("request_id", "feature_request_ids"), ("position", "feature_request_ids")],
    ),
    (
        "attachments",
        "attachments",
        &[
            ("id", "id"),
            ("filename", "filename"),
            ("content_type", "content_type"),
            ("byte_size", "byte_size"),
            ("checksum", "checksum"),
            ("width", "width"),
            ("height", "height"),
            ("picture_by", "picture_by"),
            ("created_at", "created_at"),
        ],
    ),
    (
        "imported",
        "imported",
        &[
            ("name", "name"),
            ("kind", "kind"),
            ("external_id", "external_id"),
            ("local_id", "local_id"),
            ("digest", "digest"),
            ("written_at", "written_at"),
        ],
    ),
    (
        "settings",
        "workspace",
        &[("product_name", "product_name"), ("website_url", "website_url"), ("sender_name", "sender_name")],
    ),
    (
        "portal_settings",
        "workspace",
        &[
            ("access", "visibility"),
            ("mail_domains", "mail_domains"),
            ("is_indexed", "indexing"),
            ("embed_origins", "embed_origins"),
            ("languages", "languages"),
            ("holds_posts", "moderation"),
            ("accent", "accent_color"),
            ("logo_attachment_id", "logo_attachment_id"),
            ("reply_to", "reply_to"),
            ("time_zone", "time_zone"),
            ("welcome_text", "welcome_text"),
            ("form_question", "form_question"),
            ("noun", "noun"),
        ],
    ),
    ("synonyms", "workspace", &[("group_number", "synonyms"), ("position", "synonyms"), ("phrase", "synonyms")]),
];

/// What is in no export, and why: tables, or columns of tables that are in it.
const LEFT_OUT: &[(&str, &str)] = &[
    ("__diesel_schema_migrations", "the database itself"),
    ("workspaces", "the installation; the manifest has the subdomain"),
    ("api_keys", "keys"),
    ("audit_entries", "the audit log, which says what was done here"),
    ("change_counters", "numbers of the list of changes, which clients of the API here have read"),
    ("changes", "the list of changes, which clients of the API here have read"),
    ("company_tallies", "counted from votes"),
    ("confirmed_addresses", "sign-ins"),
    ("counted_mails", "mail that was asked for in the last day"),
    ("exports", "exports that were asked for here, for a day"),
    ("erasures", "who was erased here, as hashes that only the secret here can compare"),
    ("imports", "runs of imports, whose folders are here; imported has what they have made"),
    ("mail_hours", "how much mail was sent in the last day"),
    ("missed_searches", "searches on the pages here, kept for some weeks"),
    ("operations", "saved responses"),
    ("outbox", "the outbox"),
    ("outdated_documents", "derived from feature requests"),
    ("removed_comments", "texts that were removed by moderators; kept for undoing that here for 30 days"),
    ("removed_requests", "texts that were removed by moderators; kept for undoing that here for 30 days"),
    ("search_documents", "derived from feature requests"),
    ("search_index", "derived from feature requests"),
    ("search_index_config", "derived from feature requests"),
    ("search_index_docsize", "derived from feature requests"),
    ("search_index_idx", "derived from feature requests"),
    ("search_index_data", "derived from feature requests"),
    ("search_trigrams", "derived from feature requests"),
    ("search_words", "derived from feature requests"),
    ("sessions", "sessions"),
    ("sign_ins", "sign-ins"),
    ("sqlite_sequence", "the database itself"),
    ("text_pictures", "read from the texts"),
    ("track_tallies", "counted from feature requests"),
    ("webhooks", "where events are sent from here; only the secret here opens URLs and secrets"),
    ("webhook_events", "what was sent, or is to be sent, from here"),
    ("webhook_deliveries", "what was sent, or is to be sent, from here"),
    ("webhook_attempts", "what was sent from here"),
    ("workspace_usage", "counted from records and files"),
    ("attachments.key attachments.service_name", "where the installation stores the content"),
    ("attachments.job_id", "whose file it is, of an import or an export here; these are no uploads"),
    ("changelogs.to_announce", "whether the webhooks here are still to be told"),
    ("customers.email_folded customers.name_folded", "derived from address and name"),
    ("customers.import_id votes.import_id followers.import_id imported.import_id", "the run here that has made it"),
    ("feature_requests.row_number feature_requests.root_id feature_requests.was_merged", "derived from merged_into_id"),
    ("feature_requests.description_text feature_request_tags.tag_folded", "derived from the texts"),
    ("feature_requests.attention", "derived from comments and handled_at"),
    ("links.issue", "derived from the URL"),
    ("links.reported_at", "when a tracker that is connected here has reported the issue"),
    ("link_sources", "trackers that are connected here, whose secrets only the secret here opens"),
    ("members.email_folded", "derived from the address"),
    ("members.told_until", "until when the mail from here has told the member what customers wrote"),
    ("tag_counters.workspace_id", "the workspace; its number is last_tag_number"),
    (
        "vote_tallies.row_number vote_tallies.request_id vote_tallies.tag_number vote_tallies.votes_count vote_tallies.tier \
         vote_tallies.track_id vote_tallies.private vote_tallies.root_id vote_tallies.tree_version vote_tallies.attention \
         vote_tallies.trend vote_tallies.trend_tier vote_tallies.companies_count",
        "copies, and counted from votes",
    ),
];

/// Import contract 6: every column of the database is exported, or left out for a reason.
#[test]
fn no_column_is_forgotten() {
    let app = App::start();
    fill(&app);
    let archive = export(app.data_dir(), "all.zip", &[]);
    let columns = if *ON_POSTGRES {
        "SELECT table_name || '.' || column_name FROM information_schema.columns
         JOIN information_schema.tables USING (table_schema, table_name)
         WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
    } else {
        "SELECT entry.name || '.' || field.name FROM sqlite_master AS entry JOIN pragma_table_info(entry.name) AS field
         WHERE entry.type = 'table'"
    };
    let mut known: BTreeSet<String> = BTreeSet::from(["tag_counters.last_tag_number".to_owned()]);
    for (table, kind, columns) in EXPORTED {
        let keys: BTreeSet<String> =
            archive.records(kind).iter().flat_map(|record| record.as_object().unwrap().keys().cloned()).collect();
        for (column, key) in *columns {
            assert!(keys.contains(*key), "{kind} has no {key}: {keys:?}");
            known.insert(format!("{table}.{column}"));
        }
    }
    let left_out: BTreeSet<&str> = LEFT_OUT.iter().flat_map(|(columns, _)| columns.split_whitespace()).collect();
    for column in app.sql(columns) {
        let (table, name) = column.split_once('.').unwrap();
        let is_known = known.contains(&column) || left_out.contains(table) || left_out.contains(column.as_str());
        assert!(is_known || name == "workspace_id", "{column} is neither exported nor left out for a reason");
    }
}
