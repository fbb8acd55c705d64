//! `cargo xtask layers`: checks which dependencies each crate may have, that both stores have a file for each port, and
//! that requests are sent by the guarded client.
//! `deny.toml` covers a part of the same rules.

use std::collections::BTreeSet;
use std::fs::{self, read_dir};
use std::path::Path;

use anyhow::ensure;
use serde_json::Value;

use crate::run::{metadata, root, rust_files};

/// Forbidden edges: a crate, the reason, and the only dependencies that it may have outside of tests. All others are
/// forbidden. A new crate or dependency must be added here deliberately.
const LAYERS: [(&str, &str, &str); 16] = [
    (
        "roadmap-domain",
        "the rules have no I/O, runtime, framework or database",
        "ammonia async-trait base62 base64 bytes chacha20poly1305 crc32fast deunicode email_address futures-util hmac \
         html5ever idna imagesize infer ipnet jiff md-5 mockall percent-encoding pulldown-cmark rust-stemmers serde \
         serde_json sha2 strsim thiserror time tracing unicode-normalization url uuid",
    ),
    (
        "roadmap-store",
        "what both stores share knows the domain, and of the databases the types of their columns",
        "diesel roadmap-domain serde_json tokio tracing uuid",
    ),
    (
        "roadmap-sqlite",
        "a store knows the domain and its own database",
        "async-trait deadpool diesel diesel_migrations futures-util libsqlite3-sys percent-encoding roadmap-domain \
         roadmap-store thiserror tokio tracing uuid",
    ),
    (
        "roadmap-postgres",
        "a store knows the domain and its own database",
        "async-trait deadpool diesel diesel-async diesel_migrations futures-util percent-encoding roadmap-domain \
         roadmap-store rustls rustls-native-certs serde_json sha2 thiserror tokio tokio-postgres tokio-postgres-rustls tracing \
         uuid",
    ),
    (
        "roadmap-blobs",
        "the file storage knows the domain, folders and buckets",
        "async-trait bytes futures-util object_store reqwest roadmap-domain rustls thiserror tokio tracing url",
    ),
    (
        "roadmap-pictures",
        "the pictures know the domain, the formats and the fonts",
        "async-trait bytes cosmic-text gif image roadmap-domain tokio unicode-normalization",
    ),
    (
        "roadmap-outbound",
        "the guarded client knows the rules of the domain and HTTP",
        "async-trait reqwest roadmap-domain rustls thiserror tokio tracing url",
    ),
    (
        "roadmap-import",
        "the readers of imports know the domain and formats, and no database or runtime",
        "crc32fast csv-core encoding_rs flate2 roadmap-domain serde serde_json sha2 thiserror time zip",
    ),
    (
        "roadmap-http",
        "the core of all surfaces knows none of them and no store",
        "actix-http actix-multipart actix-service actix-web async-trait base64 encoding_rs futures-util governor ipnet \
         moka percent-encoding roadmap-domain rustix serde tokio tokio-util tracing uuid",
    ),
    (
        "roadmap-api",
        "a surface knows the domain and the HTTP core only",
        "actix-multipart actix-web askama base64 futures-util percent-encoding roadmap-domain \
         roadmap-http serde serde_json serde_path_to_error sha2 time tokio tracing utoipa uuid",
    ),
    (
        "roadmap-mcp",
        "the tools call the API, and know no store",
        "actix-http actix-service actix-web base64 futures-util percent-encoding roadmap-api roadmap-domain \
         roadmap-http serde serde_json tokio tracing",
    ),
    (
        "roadmap-web",
        "a surface knows the domain and the HTTP core only",
        "actix-multipart actix-web askama async-trait atom_syndication cookie flate2 fluent-bundle fluent-langneg \
         futures-util moka roadmap-domain roadmap-http serde_json sha2 time tokio tracing unic-langid \
         unicode-segmentation url uuid",
    ),
    (
        "roadmap-mail",
        "mail knows the domain and mail servers, and no store",
        "askama async-trait base64 deadpool fluent-bundle lettre percent-encoding roadmap-domain rustls tempfile \
         thiserror tokio url",
    ),
    (
        "roadmap-server",
        "the binary connects the other crates, and has what the process and its operators need",
        "actix-web anyhow async-trait base64 bytes clap comfy-table encoding_rs humantime indicatif ipnet mailparse md-5 moka \
         opentelemetry opentelemetry-http opentelemetry-otlp opentelemetry_sdk prometheus-client rand reqwest roadmap-api \
         roadmap-blobs roadmap-domain roadmap-http roadmap-import roadmap-mail roadmap-mcp roadmap-outbound roadmap-pictures \
         roadmap-postgres roadmap-sqlite roadmap-store roadmap-web rustix rustls serde serde_json sha2 tar tempfile \
         thiserror time tokio toml tracing tracing-opentelemetry tracing-subscriber uuid zip",
    ),
    (
        "roadmap-testkit",
        "the tests of all crates use it, so it knows the domain only",
        "async-trait fuser roadmap-domain rustix rustls serde serde_json socket2 tempfile time tokio tokio-postgres \
         uuid",
    ),
    (
        "xtask",
        "commands of maintainers run the service as a program",
        "anyhow clap cyclonedx-bom diesel flate2 futures-util object rand roadmap-testkit semver serde serde_json \
         sha2 tar tempfile time tokio toml_edit",
    ),
];

/// Files besides those of `roadmap-outbound` that send HTTP requests: to URLs of operators, never to those that people
/// of a workspace type.
const OTHER_CLIENTS: [&str; 2] = ["crates/server/src/commands/mcp.rs", "crates/server/src/traces.rs"];

/// Checks every crate of the workspace.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut problems = problems(&metadata()?);
    problems.extend(files_of_one_store()?);
    problems.extend(unguarded_clients()?);
    ensure!(problems.is_empty(), "the layers are broken:\n  {}", problems.join("\n  "));
    Ok(())
}

fn problems(metadata: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    for package in list(metadata, "packages") {
        let name = text(package, "name");
        let Some((_, reason, allowed)) = LAYERS.iter().find(|(layer, ..)| *layer == name) else {
            problems.push(format!("{name} is not in the list of xtask/src/layers.rs"));
            continue;
        };
        for dependency in list(package, "dependencies").filter(|dependency| text(dependency, "kind") != "dev") {
            let needed = text(dependency, "name");
            if !allowed.split(' ').any(|allowed| allowed == needed) {
                problems.push(format!("{name} must not depend on {needed}: {reason}"));
            }
            if name == "roadmap-domain" && needed == "mockall" && dependency["optional"] != true {
                problems.push("roadmap-domain may depend on mockall for tests only".to_owned());
            }
            if needed == "roadmap-domain" && list(dependency, "features").any(|feature| feature == "mocks") {
                problems.push(format!("{name} must not ask for mocks outside of tests"));
            }
        }
    }
    problems
}

/// Returns a problem for each file that only one store has beside those of the ports. What only one store needs is
/// elsewhere: beside these folders, or in a folder inside of them.
fn files_of_one_store() -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for folder in ["reads", "writes"] {
        let of_one = &files("sqlite", folder)? ^ &files("postgres", folder)?;
        problems
            .extend(of_one.iter().map(|file| format!("{folder}/{file} must be in both stores: each port has a file")));
    }
    Ok(problems)
}

/// Returns a problem for each file outside of tests that uses reqwest and is not named here. Crates that may depend on
/// it must not send requests past the guarded client.
fn unguarded_clients() -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for file in rust_files(&["crates"])?.iter().filter(|file| file.iter().any(|folder| folder == "src")) {
        let path = file.strip_prefix(root())?;
        let may = path.starts_with("crates/outbound") || OTHER_CLIENTS.iter().any(|other| path == Path::new(other));
        if !may && uses_reqwest(&fs::read_to_string(file)?) {
            problems.push(format!("{} must not use reqwest: roadmap-outbound is the guarded client", path.display()));
        }
    }
    Ok(problems)
}

fn uses_reqwest(code: &str) -> bool {
    code.lines().any(|line| line.contains("reqwest::") && !line.trim_start().starts_with("//"))
}

/// Returns the names of the files of a store that are directly in a folder.
fn files(store: &str, folder: &str) -> anyhow::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in read_dir(root().join("crates").join(store).join("src").join(folder))? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            names.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The problems of a crate with a single dependency.
    fn of(name: &str, dependency: Value) -> Vec<String> {
        problems(&json!({ "packages": [{ "name": name, "dependencies": [dependency] }] }))
    }

    /// A dependency as in `cargo metadata`. Null is the kind of a normal one.
    fn dependency(name: &str, kind: Option<&str>) -> Value {
        json!({ "name": name, "kind": kind, "optional": false, "features": [] })
    }

    #[test]
    fn a_dependency_that_is_not_listed_is_forbidden() {
        for (name, needed) in [
            ("roadmap-domain", "diesel"),
            ("roadmap-domain", "tokio"),
            ("roadmap-domain", "toki"),
            ("roadmap-domain", "roadmap-sqlite"),
            ("roadmap-sqlite", "roadmap-postgres"),
            ("roadmap-http", "roadmap-api"),
            ("roadmap-api", "roadmap-testkit"),
            ("roadmap-web", "roadmap-api"),
            ("roadmap-mail", "actix-web"),
            ("roadmap-domain", "reqwest"),
            ("roadmap-web", "reqwest"),
            ("roadmap-web", "roadmap-outbound"),
            ("roadmap-api", "ureq"),
            ("roadmap-outbound", "roadmap-sqlite"),
            ("xtask", "roadmap-server"),
        ] {
            for kind in [None, Some("build")] {
                let problems = of(name, dependency(needed, kind));
                let problem = format!("{name} must not depend on {needed}: ");
                assert!(problems.len() == 1 && problems[0].starts_with(&problem), "{problems:?}");
            }
            assert_eq!(of(name, dependency(needed, Some("dev"))), [] as [&str; 0]);
        }
        assert_eq!(of("roadmap-sqlite", dependency("diesel", None)), [] as [&str; 0]);
        assert_eq!(
            of("roadmap-web", dependency("roadmap-api", None)),
            ["roadmap-web must not depend on roadmap-api: a surface knows the domain and the HTTP core only"]
        );
    }

    #[test]
    fn mocks_are_for_tests_only() {
        let mut mockall = dependency("mockall", None);
        assert_eq!(of("roadmap-domain", mockall.clone()), ["roadmap-domain may depend on mockall for tests only"]);
        mockall["optional"] = json!(true);
        assert_eq!(of("roadmap-domain", mockall), [] as [&str; 0]);

        for name in ["roadmap-api", "roadmap-server", "roadmap-testkit"] {
            let mocks = |kind: Option<&str>| {
                let mut domain = dependency("roadmap-domain", kind);
                domain["features"] = json!(["default", "mocks"]);
                of(name, domain)
            };
            assert_eq!(mocks(None), [format!("{name} must not ask for mocks outside of tests")]);
            assert_eq!(mocks(Some("dev")), [] as [&str; 0]);
        }
    }

    #[test]
    fn a_new_crate_must_be_listed() {
        let problems = problems(&json!({ "packages": [{ "name": "roadmap-extra", "dependencies": [] }] }));
        assert_eq!(problems, ["roadmap-extra is not in the list of xtask/src/layers.rs"]);
    }

    #[test]
    fn both_stores_have_the_same_files() {
        assert!(files("sqlite", "reads").unwrap().contains("changelogs.rs"));
        assert_eq!(files_of_one_store().unwrap(), [] as [&str; 0]);
    }

    #[test]
    fn only_the_guarded_client_and_the_named_files_use_reqwest() {
        for (code, uses) in [
            ("use reqwest::Client;", true),
            ("    let client = reqwest::Client::new();", true),
            ("//! Over reqwest::Client.\n/// See reqwest::get.\n    // reqwest::get", false),
            ("let request = 1;", false),
        ] {
            assert_eq!(uses_reqwest(code), uses, "{code}");
        }
        for named in OTHER_CLIENTS {
            assert!(uses_reqwest(&fs::read_to_string(root().join(named)).unwrap()), "{named}");
        }
        assert_eq!(unguarded_clients().unwrap(), [] as [&str; 0]);
    }

    #[test]
    fn this_workspace_has_no_forbidden_dependency() {
        let metadata = metadata().unwrap();
        assert!(list(&metadata, "packages").count() > 10);
        assert_eq!(problems(&metadata), [] as [&str; 0]);
    }
}
