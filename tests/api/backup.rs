//! `roadmap backup` and `roadmap restore`: on SQLite, whichever store is under test.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use md5::{Digest, Md5};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::app::{
    App, Client, Finished, Server, StopOnDrop, eventually, files_below, form_with, has_keys, is_timestamp,
    roadmap_command, run,
};
use crate::database::{Data, ON_POSTGRES};

/// Creates a folder for backups.
fn backup_path() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("roadmap.tar");
    (folder, file)
}

fn path(file: &Path) -> &str {
    file.to_str().expect("text")
}

/// Runs a command that must fail, and returns its error.
#[track_caller]
fn failure(folder: &Path, arguments: &[&str]) -> String {
    failed(&run(folder, arguments, &[]))
}

#[track_caller]
fn failed(finished: &Finished) -> String {
    assert!(!finished.success && finished.stdout.is_empty(), "{}", finished.stdout);
    finished.stderr.trim_end().to_owned()
}

/// Service on SQLite.
struct Embedded {
    data: Data,
    server: Option<Server>,
    key: String,
    environment: Vec<(String, String)>,
}

impl Embedded {
    fn start(environment: &[(&str, &str)]) -> Self {
        let data = Data::file();
        let run = |arguments: &[&str]| run(data.path(), arguments, &[]).json();
        run(&["workspace", "create", "acme", "--product-name", "Acme", "--website-url", "https://acme.example"]);
        let key = run(&["api-key", "create", "--workspace", "acme", "--name", "tests"]);
        let key = key["key"].as_str().expect("a key").to_owned();
        let owned = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let environment: Vec<(String, String)> = owned.collect();
        let server = Some(Server::start(data.path(), &[], &environment));
        Self { data, server, key, environment }
    }

    fn folder(&self) -> &Path {
        self.data.path()
    }

    fn client(&self) -> Client {
        client(self.server.as_ref().expect("a server"), &self.key)
    }

    fn stop(&mut self) {
        drop(self.server.take());
    }

    fn back_up(&self, file: &Path) -> Value {
        run(self.folder(), &["backup", path(file)], &[]).json()
    }

    /// Starts a service on restored data.
    fn serve_at(&self, data: &Data) -> (Server, Client) {
        let server = Server::start(data.path(), &[], &self.environment);
        let client = client(&server, &self.key);
        (server, client)
    }
}

fn client(server: &Server, key: &str) -> Client {
    Client { port: server.port, host: "acme.roadmap.example.com".to_owned(), key: Some(key.to_owned()) }
}

/// Returns the bytes behind a `blob_url`.
fn open(client: &Client, url: &Value) -> Vec<u8> {
    let local = |url: &str| url.strip_prefix("https://acme.roadmap.example.com").expect("a URL of ours").to_owned();
    let redirect = client.get(&local(url.as_str().expect("a URL")));
    assert_eq!(redirect.status, 302, "{}", redirect.text());
    let opened = client.get(&local(redirect.header("location").expect("a place")));
    assert_eq!(opened.status, 200, "{}", opened.text());
    opened.bytes
}

/// Asserts that each file's row has its bytes with the right size and checksum. Returns the number of rows.
#[track_caller]
fn has_all_files(data: &Data) -> usize {
    let rows = data.rows("SELECT key || ' ' || byte_size || ' ' || lower(hex(checksum)) FROM attachments");
    for row in &rows {
        let [key, size, checksum] = row.split(' ').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let bytes = std::fs::read(data.path().join("blobs").join(key)).unwrap_or_else(|error| panic!("{key}: {error}"));
        assert_eq!(bytes.len().to_string(), size, "{key}");
        let digest: String = Md5::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, checksum, "{key}");
    }
    rows.len()
}

#[test]
fn a_backup_under_load_has_every_write_that_was_acknowledged_before_it() {
    let mut app = Embedded::start(&[]);
    app.client().feature_request("Dark mode");
    let (votes, files, over) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()), AtomicBool::new(false));
    let (_shelf, file) = backup_path();
    let known = |list: &Mutex<Vec<Value>>| list.lock().unwrap().len();
    let (before, during, made) = std::thread::scope(|scope| {
        for writer in 0..4 {
            let (client, votes, over) = (app.client(), &votes, &over);
            scope.spawn(move || {
                for number in 0.. {
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    let email = format!("w{writer}n{number}@example.com");
                    let body = json!({ "customer": { "email": email }, "operation_key": email });
                    let response = client.post_upvote("1", &body);
                    assert_eq!(response.status, 201, "{}", response.text());
                    votes.lock().unwrap().push(json!({ "email": email, "response": response.text() }));
                }
            });
        }
        for uploader in 0..2 {
            let (client, files, over) = (app.client(), &files, &over);
            scope.spawn(move || {
                for number in 0_usize.. {
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    let bytes = format!("file {number} of {uploader};").repeat(1 + number * 997 % 9_000);
                    let response = client.post_attachment(&form_with("a.txt", bytes.as_bytes()));
                    assert_eq!(response.status, 201, "{}", response.text());
                    let attachment = response.json();
                    files.lock().unwrap().push(json!({ "attachment": attachment, "bytes": bytes }));
                }
            });
        }
        // Stops the writers even when an assertion fails.
        let _until = StopOnDrop(&over);
        eventually("writes are acknowledged", || known(&votes) > 60 && known(&files) > 20);
        let before = (votes.lock().unwrap().clone(), files.lock().unwrap().clone());
        let made = app.back_up(&file);
        let during = (known(&votes) - before.0.len(), known(&files) - before.1.len());
        (before, during, made)
    });
    assert!(during.0 > 0 && during.1 > 0, "nothing was written while the backup was made: {during:?}");
    has_keys(&made, &["file", "database", "made_at", "database_bytes", "files", "has_secret"]);
    is_timestamp(&made["made_at"]);
    assert_eq!((&made["file"], &made["database"]), (&json!(path(&file)), &json!("./roadmap.db")));
    app.stop();

    let restored = Data::file();
    let said = run(restored.path(), &["restore", path(&file)], &[]).json();
    assert_eq!(said, made);
    restored.is_sound();
    let emails = restored.rows("SELECT email FROM customers JOIN votes ON votes.customer_id = customers.id");
    for vote in &before.0 {
        assert!(emails.iter().any(|email| vote["email"] == **email), "{vote} was acknowledged and is lost");
    }
    assert!(emails.len() < votes.lock().unwrap().len(), "the backup is of the end, and not of the middle");
    let rows = has_all_files(&restored);
    assert_eq!(made["files"], json!(rows));
    // Nothing else was restored: neither later uploads nor a working folder.
    assert_eq!(files_below(&restored.path().join("blobs")).len(), rows);
    let beside: Vec<PathBuf> = files_below(restored.path());
    assert_eq!(beside.len(), rows + 1, "{beside:?}");
    assert_eq!(files_below(file.parent().unwrap()), std::slice::from_ref(&file));

    let (_server, client) = app.serve_at(&restored);
    assert_eq!(client.get_voters("1", "").json()["total_count"], json!(emails.len()));
    for uploaded in &before.1 {
        assert_eq!(open(&client, &uploaded["attachment"]["blob_url"]), uploaded["bytes"].as_str().unwrap().as_bytes());
    }
    for vote in before.0.iter().take(5) {
        let again = client.post_upvote("1", &json!({ "operation_key": vote["email"] }));
        assert_eq!(
            (again.header("idempotent-replayed"), json!(again.text())),
            (Some("true"), vote["response"].clone())
        );
    }
    client.feature_request("Life goes on");
    restored.is_sound();
}

#[test]
fn a_backup_has_the_secret_of_the_folder() {
    // An empty value counts as not set.
    let mut app = Embedded::start(&[("ROADMAP_SECRET", "")]);
    let uploaded = app.client().post_attachment(&form_with("a.txt", b"hello")).json();
    let (_shelf, file) = backup_path();
    assert_eq!(app.back_up(&file)["has_secret"], json!(true));
    app.stop();
    let restored = Data::file();
    run(restored.path(), &["restore", path(&file)], &[]).json();
    let secret = |data: &Data| std::fs::read(data.path().join("secret")).expect("a secret");
    assert_eq!(secret(&restored), secret(&app.data));
    for private in [file.as_path(), &restored.path().join("secret")] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(private).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", private.display());
    }
    let (_server, client) = app.serve_at(&restored);
    assert_eq!(open(&client, &uploaded["blob_url"]), b"hello");
}

#[test]
fn a_backup_has_no_mail() {
    let app = Embedded::start(&[("ROADMAP_SECRET", "")]);
    let mail = app.data.path().join("mail");
    std::fs::create_dir_all(&mail).unwrap();
    std::fs::write(mail.join("sign_in.eml"), "a link that works").unwrap();
    let (_shelf, file) = backup_path();
    app.back_up(&file);
    let mut archive = tar::Archive::new(std::fs::File::open(&file).unwrap());
    let names: Vec<String> =
        archive.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().display().to_string()).collect();
    assert_eq!(names, ["backup.json", "roadmap.db", "secret"]);
}

#[test]
fn nothing_is_overwritten_without_force() {
    let mut app = Embedded::start(&[]);
    app.client().feature_request("First");
    let (_shelf, file) = backup_path();
    std::fs::write(&file, "precious").unwrap();
    let taken = format!("error: {} could not be written: the file exists already; --force replaces it", path(&file));
    assert_eq!(failure(app.folder(), &["backup", path(&file)]), taken);
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    run(app.folder(), &["backup", path(&file), "--force"], &[]).json();
    app.client().feature_request("Second");
    let match_count = |client: &Client| {
        client.get_feature_requests("query=second").json()["feature_requests"].as_array().expect("a list").len()
    };

    let restore = ["restore", path(&file)];
    let there = format!(
        "error: {} was not restored: the database ./roadmap.db exists already; --force replaces it",
        path(&file)
    );
    assert_eq!(failure(app.folder(), &restore), there);
    let in_use =
        format!("error: {} was not restored: the database ./roadmap.db is in use; stop the service first", path(&file));
    let force = [&restore[..], &["--force"]].concat();
    assert_eq!(failure(app.folder(), &force), in_use);
    assert_eq!(match_count(&app.client()), 1);
    // A killed service leaves its write-ahead log behind, which must not be applied to the restored database.
    app.stop();
    assert!(app.folder().join("roadmap.db-wal").exists());
    run(app.folder(), &force, &[]).json();
    app.data.is_sound();
    assert_eq!(app.data.rows("SELECT title FROM feature_requests"), ["First"]);
    let (_server, client) = app.serve_at(&app.data);
    assert_eq!(match_count(&client), 0);
}

/// Restores from a pipe into an empty folder, and runs `between` when half of the archive has been read.
fn restored_with_something_in_between(file: &Path, folder: &Path, flags: &[&str], between: impl FnOnce()) -> Finished {
    let pipe = file.with_file_name("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let bytes = std::fs::read(file).expect("the archive");
    let (half, rest) = bytes.split_at(bytes.len() / 2);
    let finished = std::thread::scope(|scope| {
        let restoring = scope.spawn(|| run(folder, &[&["restore", path(&pipe)], flags].concat(), &[]));
        let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).expect("a reader");
        writer.write_all(half).expect("it is read");
        // The checks before the archive is read are complete.
        eventually("the database is unpacked", || files_below(folder).iter().any(|file| file.ends_with("roadmap.db")));
        between();
        writer.write_all(rest).expect("it is read");
        drop(writer);
        restoring.join().expect("no panic")
    });
    std::fs::remove_file(&pipe).expect("the pipe");
    finished
}

/// Beyond the contract: a restore never replaces files that appear meanwhile.
#[test]
fn a_database_that_appears_while_a_backup_is_restored_is_not_replaced() {
    let mut app = Embedded::start(&[("ROADMAP_SECRET", "")]);
    app.client().feature_request("Dark mode");
    app.client().post_attachment(&form_with("a.txt", b"hello")).json();
    let (_shelf, file) = backup_path();
    app.back_up(&file);
    app.stop();
    let said = |what: &str| {
        let pipe = file.with_file_name("pipe");
        format!("error: {} was not restored: {what}", path(&pipe))
    };
    for flags in [&[][..], &["--force"]] {
        let target = Data::file();
        let database = target.path().join("roadmap.db");
        let finished = restored_with_something_in_between(&file, target.path(), flags, || {
            std::fs::write(&database, "a service's").unwrap();
            std::fs::write(target.path().join("roadmap.db-wal"), "its log").unwrap();
            std::fs::write(target.path().join("secret"), "its secret").unwrap();
        });
        let expected = said("the database ./roadmap.db was created meanwhile; stop the service, then use --force");
        assert_eq!(failed(&finished), expected);
        assert_eq!(std::fs::read(&database).unwrap(), b"a service's");
        assert_eq!(std::fs::read(target.path().join("roadmap.db-wal")).unwrap(), b"its log");
        assert_eq!(std::fs::read(target.path().join("secret")).unwrap(), b"its secret");
        assert_eq!(files_below(&target.path().join("blobs")), [] as [PathBuf; 0]);
        assert!(
            !files_below(target.path())
                .iter()
                .any(|file| file.parent() != database.parent() && file.ends_with("roadmap.db"))
        );
    }
    // A secret that a service has created meanwhile is kept, too.
    let target = Data::file();
    let finished = restored_with_something_in_between(&file, target.path(), &[], || {
        std::fs::write(target.path().join("secret"), "0123456789abcdef0123456789abcdef").unwrap();
    });
    let expected = said("./secret contains another secret; --force replaces it");
    assert_eq!(failed(&finished), expected);
    assert_eq!(std::fs::read(target.path().join("secret")).unwrap(), b"0123456789abcdef0123456789abcdef");
    assert!(!target.path().join("roadmap.db").exists());
    // Without interference, restoring from a pipe succeeds, even with remains of an earlier restore.
    std::fs::copy(app.folder().join("secret"), target.path().join("secret")).unwrap();
    let finished = restored_with_something_in_between(&file, target.path(), &[], || {});
    assert_eq!(finished.json()["has_secret"], json!(true));
    target.is_sound();
}

/// Returns the number of temporary files and folders of a process in a folder.
fn count_remains(folder: &Path, process: u32) -> usize {
    let prefix = format!(".roadmap-backup-{process}-");
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix)).count()
}

#[test]
fn what_an_interrupted_command_leaves_is_removed_by_the_next() {
    let mut app = Embedded::start(&[]);
    app.client().post_attachment(&form_with("a.txt", b"hello")).json();
    let (shelf, file) = backup_path();
    // No process has the first id, and the second always runs.
    let (ended, running) = (u32::MAX, 1);
    for process in [ended, running] {
        let folder = shelf.path().join(format!(".roadmap-backup-{process}-folder"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("roadmap.db"), "a copy").unwrap();
        std::fs::write(shelf.path().join(format!(".roadmap-backup-{process}-file")), "half an archive").unwrap();
    }
    app.back_up(&file);
    assert_eq!((count_remains(shelf.path(), ended), count_remains(shelf.path(), running)), (0, 2));
    app.stop();

    let (target, pipe) = (Data::file(), shelf.path().join("pipe"));
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let mut restoring = roadmap_command(target.path()).args(["restore", path(&pipe)]).spawn().expect("the binary runs");
    let bytes = std::fs::read(&file).unwrap();
    let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).expect("a reader");
    writer.write_all(&bytes[..bytes.len() / 2]).expect("it is read");
    eventually("the database is unpacked", || {
        files_below(target.path()).iter().any(|file| file.ends_with("roadmap.db"))
    });
    restoring.kill().unwrap();
    restoring.wait().unwrap();
    let remains = || {
        let process = restoring.id();
        (count_remains(target.path(), process), count_remains(&target.path().join("blobs"), process))
    };
    assert_eq!(remains(), (1, 1));
    run(target.path(), &["restore", path(&file)], &[]).json();
    assert_eq!(remains(), (0, 0));
    target.is_sound();
    assert_eq!(has_all_files(&target), 1);
}

/// Beyond the contract.
#[test]
fn a_log_without_its_database_is_removed_only_with_force() {
    let mut app = Embedded::start(&[]);
    let (_shelf, file) = backup_path();
    app.back_up(&file);
    app.stop();
    let target = Data::file();
    let log = target.path().join("roadmap.db-wal");
    std::fs::write(&log, "of a database that is gone").unwrap();
    let says = "the log of another database exists already, ./roadmap.db-wal; --force removes it";
    let expected = format!("error: {} was not restored: {says}", path(&file));
    assert_eq!(failure(target.path(), &["restore", path(&file)]), expected);
    assert!(log.exists() && files_below(target.path()).len() == 1);
    run(target.path(), &["restore", path(&file), "--force"], &[]).json();
    assert!(!log.exists());
    target.is_sound();
}

#[test]
fn a_backup_that_is_not_whole_restores_nothing() {
    let mut app = Embedded::start(&[]);
    let uploaded = app.client().post_attachment(&form_with("a.txt", b"a file that is looked for")).json();
    assert_eq!(uploaded["byte_size"], json!(25));
    let (shelf, file) = backup_path();
    app.back_up(&file);
    app.stop();
    let whole = std::fs::read(&file).unwrap();
    let at = |text: &[u8]| whole.windows(text.len()).position(|window| window == text).expect("it is there");
    let (of_database, of_file) = (at(b"SQLite format 3") + 5_000, at(b"a file that is looked for"));
    let flipped = |place: usize| {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        bytes
    };
    let without_file = whole[..of_file - 512].iter().copied().chain([0; 1024]).collect::<Vec<u8>>();
    for (case, bytes, says) in [
        ("no archive", b"nothing of the kind".to_vec(), "it is truncated or damaged"),
        ("a broken name", flipped(2), "it is truncated or damaged"),
        ("nothing", Vec::new(), "it is not a backup of this service"),
        (
            "a changed format version",
            flipped(at(b"\"format_version\": 1") + 18),
            "it has format version 0, but this version of the service supports only format version 1",
        ),
        ("a broken database", flipped(of_database), "its database does not match its checksum"),
        ("half a database", whole[..of_database].to_vec(), "its database does not match its checksum"),
        ("a broken file", flipped(of_file), "does not match its checksum"),
        ("half a file", whole[..of_file + 5].to_vec(), "does not match its checksum"),
        ("a missing file", without_file, "1 of its files are missing, for example blobs/"),
    ] {
        let broken = shelf.path().join("broken.tar");
        std::fs::write(&broken, bytes).unwrap();
        let empty = Data::file();
        let said = failure(empty.path(), &["restore", path(&broken)]);
        let begins = format!("error: {} was not restored: it is not a complete backup: ", path(&broken));
        assert!(said.starts_with(&begins) && said.contains(says), "{case}: {said}");
        assert_eq!(files_below(empty.path()), [] as [PathBuf; 0], "{case}");
        // Existing data is not changed.
        let said = failure(app.folder(), &["restore", path(&broken), "--force"]);
        assert!(said.contains(says), "{case}: {said}");
        assert_eq!((has_all_files(&app.data), app.data.rows("SELECT count(*) FROM workspaces")[0].as_str()), (1, "1"));
    }
    let nothing = shelf.path().join("nothing.tar");
    let said = failure(app.folder(), &["restore", path(&nothing), "--force"]);
    assert!(said.contains("was not restored: it cannot be opened"), "{said}");
}

#[test]
fn a_compressed_backup_and_a_folder_are_named() {
    let (shelf, _) = backup_path();
    let empty = Data::file();
    for (bytes, tool) in
        [(&b"\x1f\x8b\x08\0 and more"[..], "gunzip"), (b"\x28\xb5\x2f\xfd and", "unzstd"), (b"BZh91AY", "bunzip2")]
    {
        let file = shelf.path().join("backup.tar.x");
        std::fs::write(&file, bytes).unwrap();
        let said = failure(empty.path(), &["restore", path(&file)]);
        assert!(said.contains(&format!("it is compressed: run `{tool}` on it first")), "{said}");
    }
    let said = failure(empty.path(), &["restore", path(shelf.path())]);
    assert!(said.contains("it is a folder; name the file that `roadmap backup` has written"), "{said}");
    let app = Embedded::start(&[]);
    for force in [&[][..], &["--force"]] {
        let said = failure(app.folder(), &[&["backup", path(shelf.path())], force].concat());
        assert!(said.contains("it is a folder; name the file to write in it"), "{said}");
    }
}

#[test]
fn damaged_data_is_not_backed_up() {
    let mut app = Embedded::start(&[]);
    app.client().post_attachment(&form_with("a.txt", b"hello")).json();
    let blob = files_below(&app.folder().join("blobs")).remove(0);
    let (shelf, file) = backup_path();
    let folder = app.folder().to_owned();
    let says = |what: &str| {
        let said = failure(&folder, &["backup", path(&file)]);
        let begins = format!("error: {} could not be written: {what}", path(&file));
        assert!(said.starts_with(&begins), "{said}");
        assert_eq!(files_below(shelf.path()), [] as [PathBuf; 0]);
    };
    for bytes in ["hallo", "hello!", "hell"] {
        std::fs::write(&blob, bytes).unwrap();
        says("the file ./blobs/");
    }
    std::fs::remove_file(&blob).unwrap();
    says("the file ./blobs/");
    std::fs::write(&blob, "hello").unwrap();
    app.data.execute("PRAGMA foreign_keys = OFF; DELETE FROM lanes");
    says("the database is damaged: a row of tracks refers to none of lanes");
    app.stop();
    std::fs::write(app.folder().join("roadmap.db"), "no database".repeat(1_000)).unwrap();
    says("the database cannot be copied: ");
    for file in ["roadmap.db", "roadmap.db-wal", "roadmap.db-shm"] {
        let _ = std::fs::remove_file(app.folder().join(file));
    }
    says("there is no database ./roadmap.db");
}

#[test]
fn a_database_server_is_not_backed_up() {
    let folder = Data::file();
    let url = "postgres://ann:s3cret@db.example.com/roadmap";
    let (_shelf, file) = backup_path();
    for (command, says) in [
        ("backup", "is backed up with its own tools, for example pg_dump"),
        ("restore", "is restored with its own tools, for example pg_restore"),
    ] {
        let said = failed(&run(folder.path(), &[command, path(&file)], &[("ROADMAP_DATABASE_URL", url)]));
        let expected = format!(
            "error: the database postgres://ann@db.example.com:5432/roadmap {says}, and the storage ./blobs separately: \
             copy the database first, then the files"
        );
        assert_eq!(said, expected);
    }
    if *ON_POSTGRES {
        let app = App::start();
        let said = failed(&app.roadmap(&["backup", path(&file)]));
        assert!(said.contains("pg_dump"), "{said}");
    }
}
