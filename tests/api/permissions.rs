//! File permissions: everything that the service writes is private to its owner, whatever its umask.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
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
    let mut found = vec![path.to_owned()];
    if path.is_dir() {
        found.extend(std::fs::read_dir(path).expect("a folder").flat_map(|entry| all_below(&entry.unwrap().path())));
    }
    found
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
