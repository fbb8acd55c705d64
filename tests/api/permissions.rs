//! File permissions: everything that the service writes is private to its owner, whatever its umask.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::app::{Client, eventually, form_with};

/// Runs a command of the binary on SQLite, in a shell with a permissive umask.
fn roadmap(folder: &Path, data: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ROADMAP_")) {
        command.env_remove(name);
    }
    command.args(["-c", "umask 000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_roadmap")]);
    command.current_dir(folder).args(["--data-dir", data, "--base-url", "https://roadmap.example.com"]).args(arguments);
    command
}

#[track_caller]
fn done(folder: &Path, data: &str, arguments: &[&str]) -> Value {
    let output = roadmap(folder, data, arguments).arg("--json").output().expect("a shell");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Server process. Killed when dropped.
struct RunningService(Child, u16);

impl RunningService {
    fn start(folder: &Path, data: &str) -> Self {
        let mut command = roadmap(folder, data, &["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("a shell");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("its first line");
        let port = line.trim().rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        Self(child, port.unwrap_or_else(|| panic!("the server did not start: {line}")))
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a path and everything below it.
fn all_below(path: &Path) -> Vec<PathBuf> {
    let mut paths = vec![path.to_owned()];
    if path.is_dir() {
        paths.extend(std::fs::read_dir(path).expect("a folder").flat_map(|entry| all_below(&entry.unwrap().path())));
    }
    paths
}

/// Asserts that only the owner has access to a path and everything below it, and that these names exist.
#[track_caller]
fn are_private(path: &Path, names: &[&str]) {
    let all = all_below(path);
    for name in names {
        assert!(all.iter().any(|path| path.ends_with(name)), "no {name} in {all:?}");
    }
    let open: Vec<String> = all
        .iter()
        .map(|path| (path, std::fs::metadata(path).expect("its mode").permissions().mode() & 0o777))
        .filter(|(_, mode)| mode & 0o077 != 0)
        .map(|(path, mode)| format!("{} has mode {mode:o}", path.display()))
        .collect();
    assert_eq!(open, [] as [&str; 0]);
}

/// Beyond the contract: written files are accessible to their owner only.
#[test]
fn written_files_are_private_to_their_owner_with_any_umask() {
    let folder = tempfile::tempdir().unwrap();
    let website = "https://acme.example";
    let create = ["workspace", "create", "acme", "--product-name", "Acme", "--website-url", website];
    done(folder.path(), "deep/data", &create);
    let key = done(folder.path(), "deep/data", &["api-key", "create", "--workspace", "acme", "--name", "tests"]);
    let serving = RunningService::start(folder.path(), "deep/data");
    let key = Some(key["key"].as_str().expect("a key").to_owned());
    let client = Client { port: serving.1, host: "acme.roadmap.example.com".to_owned(), key };
    assert_eq!(client.post_attachment(&form_with("a.txt", b"hello")).status, 201);
    client.feature_request("Dark mode");
    let vote = json!({ "customer": { "email": "ann@example.com" } });
    assert_eq!(client.post_upvote("1", &vote).status, 201);
    let comment = json!({ "comment": { "content": "<p>Soon</p>" }, "notify_all_voters": true });
    assert_eq!(client.post_comment("1", &comment).status, 201);
    let data = folder.path().join("deep/data");
    // A mail is written under another name first.
    let is_mail = |file: std::io::Result<std::fs::DirEntry>| {
        file.is_ok_and(|file| file.path().extension().is_some_and(|end| end == "eml"))
    };
    let has_mail = || std::fs::read_dir(data.join("mail")).is_ok_and(|mut files| files.any(is_mail));
    eventually("a mail is written", has_mail);
    are_private(&data, &["data", "roadmap.db", "roadmap.db-wal", "roadmap.db-shm", "secret", "blobs", "mail"]);
    are_private(&folder.path().join("deep"), &["deep"]);

    done(folder.path(), "deep/data", &["backup", "roadmap.tar"]);
    are_private(&folder.path().join("roadmap.tar"), &["roadmap.tar"]);
    drop(serving);
    done(folder.path(), "restored", &["restore", "roadmap.tar"]);
    are_private(&folder.path().join("restored"), &["restored", "roadmap.db", "secret", "blobs"]);
}

/// A user without a name on the machine.
const SERVICE: u32 = 10_001;

/// The tests of other users need root, as which the tests of a container run.
fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("not tested: only root can act as other users");
    }
    is_root
}

/// A folder below a temporary one, both of which belong to the service's user.
fn folder_of_service() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    for path in all_below(folder.path()) {
        std::os::unix::fs::chown(path, Some(SERVICE), Some(SERVICE)).unwrap();
    }
    folder
}

const CREATE: [&str; 7] =
    ["workspace", "create", "acme", "--product-name", "Acme", "--website-url", "https://acme.example"];

/// Runs a command as the service's user, and returns its standard output and error.
fn as_service(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = roadmap(folder, "data", arguments).uid(SERVICE).gid(SERVICE).output().expect("a shell");
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn files_that_root_creates_belong_to_the_owner_of_their_folder() {
    if !is_root() {
        return;
    }
    let folder = folder_of_service();
    let data = folder.path().join("data");
    done(folder.path(), "data", &CREATE);
    let key = done(folder.path(), "data", &["api-key", "create", "--workspace", "acme", "--name", "tests"]);
    let serving = RunningService::start(folder.path(), "data");
    let key = Some(key["key"].as_str().expect("a key").to_owned());
    let client = Client { port: serving.1, host: "acme.roadmap.example.com".to_owned(), key };
    assert_eq!(client.post_attachment(&form_with("a.txt", b"hello")).status, 201);
    client.feature_request("Dark mode");
    assert_eq!(client.post_upvote("1", &json!({ "customer": { "email": "ann@example.com" } })).status, 201);
    let comment = json!({ "comment": { "content": "<p>Soon</p>" }, "notify_all_voters": true });
    assert_eq!(client.post_comment("1", &comment).status, 201);
    let is_mail = |path: &PathBuf| path.extension().is_some_and(|end| end == "eml");
    eventually("a mail is written", || all_below(&data).iter().any(is_mail));
    let foreign = || -> Vec<PathBuf> {
        let is_foreign = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|metadata| metadata.uid() != SERVICE);
        all_below(&data).into_iter().filter(is_foreign).collect()
    };
    let all = all_below(&data);
    for name in ["roadmap.db", "roadmap.db-wal", "roadmap.db-shm", "secret", "blobs", "mail"] {
        assert!(all.iter().any(|path| path.ends_with(name)), "no {name} in {all:?}");
    }
    assert_eq!(foreign(), [] as [PathBuf; 0]);
    drop(serving);
    done(folder.path(), "data", &["backup", "roadmap.tar"]);
    done(folder.path(), "data", &["restore", "roadmap.tar", "--force"]);
    assert_eq!(foreign(), [] as [PathBuf; 0]);
    std::fs::remove_dir_all(&data).unwrap();
    done(folder.path(), "data", &["restore", "roadmap.tar"]);
    assert_eq!(foreign(), [] as [PathBuf; 0]);
    let (listed, error) = as_service(folder.path(), &["workspace", "list", "--json"]);
    assert!(listed.contains("\"acme\""), "{listed}{error}");
}

#[test]
fn a_file_of_another_user_is_named_with_its_owner_and_the_command() {
    use std::os::unix::fs::chown;
    if !is_root() {
        return;
    }
    let folder = folder_of_service();
    let data = folder.path().join("data");
    done(folder.path(), "data", &CREATE);
    done(folder.path(), "data", &["sign-in", "link", "--workspace", "acme", "--email", "ann@acme.example"]);
    let run = |arguments: &[&str]| as_service(folder.path(), arguments);
    for name in ["roadmap.db", "secret"] {
        let file = data.join(name);
        chown(&file, Some(0), Some(0)).unwrap();
        for arguments in [&["workspace", "list"][..], &["serve", "--listen", "127.0.0.1:0"]] {
            if name == "secret" && arguments[0] != "serve" {
                continue;
            }
            let (_, error) = run(arguments);
            for part in [
                &*format!("data/{name} belongs to root (user 0), mode 600, and this process runs as user 10001"),
                "as root: chown -R 10001 data",
            ] {
                assert!(error.contains(part), "{arguments:?}: {error}");
            }
            assert!(!error.contains("temporarily unavailable") && !error.contains("backup"), "{error}");
        }
        let (output, _) = run(&["doctor"]);
        assert!(output.contains("problem  access     data/"), "{output}");
        assert!(output.contains("chown -R 10001 data") && !output.contains("restore a backup"), "{output}");
        // Root may use everything, and still reports it.
        let doctor = roadmap(folder.path(), "data", &["doctor"]).output().unwrap();
        let output = String::from_utf8(doctor.stdout).unwrap();
        let problem = format!("data/{name} belongs to root (user 0), but the data folder belongs to user 10001");
        assert!(output.contains(&problem), "{output}");
        // SQLite gives the owner of the database to its log.
        for file in std::fs::read_dir(&data).unwrap() {
            chown(file.unwrap().path(), Some(SERVICE), Some(SERVICE)).unwrap();
        }
    }
    // A folder without the permission to write, in which SQLite has to create its log again.
    for log in ["roadmap.db-wal", "roadmap.db-shm"] {
        let _ = std::fs::remove_file(data.join(log));
    }
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o500)).unwrap();
    let (_, error) = run(&CREATE);
    assert!(error.contains("mode 500, which does not allow its owner to use it; chmod -R u+rwX data"), "{error}");
    let (output, _) = run(&["doctor"]);
    assert!(output.contains("chmod -R u+rwX data") && !output.contains("restore a backup"), "{output}");
    // A folder of somebody else, in which nothing can be seen.
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o700)).unwrap();
    chown(&data, Some(10_002), Some(10_002)).unwrap();
    for arguments in [&["workspace", "list"][..], &["doctor"]] {
        let (output, error) = run(arguments);
        let said = format!("{output}{error}");
        assert!(said.contains("belongs to user 10002, mode 700, and this process runs as user 10001"), "{said}");
        assert!(!said.contains("there is no database") && !said.contains("restore a backup"), "{said}");
    }
}
