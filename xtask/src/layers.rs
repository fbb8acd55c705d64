//! `cargo xtask layers`: checks which dependencies each crate may have. `deny.toml` covers a part of the same rules.

use std::collections::BTreeMap;

use anyhow::bail;
use serde_json::Value;

use crate::run::metadata;

/// Allowed normal and build dependencies of each crate of the workspace. A new crate or dependency must be added here
/// deliberately.
const ALLOWED_DEPENDENCIES: [(&str, &[&str]); 12] = [
    (
        "roadmap-domain",
        &[
            "ammonia",
            "async-trait",
            "base62",
            "base64",
            "bytes",
            "crc32fast",
            "deunicode",
            "email_address",
            "futures-util",
            "hmac",
            "html5ever",
            "idna",
            "imagesize",
            "infer",
            "md-5",
            "mockall",
            "percent-encoding",
            "pulldown-cmark",
            "rust-stemmers",
            "serde_json",
            "sha2",
            "strsim",
            "thiserror",
            "time",
            "tracing",
            "unicode-normalization",
            "url",
            "uuid",
        ],
    ),
    (
        "roadmap-sqlite",
        &[
            "async-trait",
            "deadpool",
            "diesel",
            "diesel_migrations",
            "futures-util",
            "libsqlite3-sys",
            "percent-encoding",
            "roadmap-domain",
            "thiserror",
            "tokio",
            "tracing",
            "uuid",
        ],
    ),
    (
        "roadmap-postgres",
        &[
            "async-trait",
            "deadpool",
            "diesel",
            "diesel-async",
            "diesel_migrations",
            "futures-util",
            "percent-encoding",
            "roadmap-domain",
            "rustls",
            "rustls-native-certs",
            "thiserror",
            "tokio",
            "tokio-postgres",
            "tokio-postgres-rustls",
            "tracing",
            "uuid",
        ],
    ),
    (
        "roadmap-blobs",
        &[
            "async-trait",
            "bytes",
            "futures-util",
            "object_store",
            "reqwest",
            "roadmap-domain",
            "rustls",
            "thiserror",
            "tokio",
            "tracing",
            "url",
        ],
    ),
    (
        "roadmap-http",
        &[
            "actix-http",
            "actix-service",
            "actix-web",
            "base64",
            "encoding_rs",
            "futures-util",
            "governor",
            "ipnet",
            "moka",
            "percent-encoding",
            "roadmap-domain",
            "rustix",
            "serde",
            "tokio",
            "tokio-util",
            "tracing",
            "uuid",
        ],
    ),
    (
        "roadmap-api",
        &[
            "actix-multipart",
            "actix-web",
            "askama",
            "async-trait",
            "base64",
            "futures-util",
            "percent-encoding",
            "roadmap-domain",
            "roadmap-http",
            "serde",
            "serde_json",
            "serde_path_to_error",
            "sha2",
            "time",
            "tokio",
            "tracing",
            "utoipa",
            "uuid",
        ],
    ),
    (
        "roadmap-mcp",
        &[
            "actix-http",
            "actix-service",
            "actix-web",
            "base64",
            "futures-util",
            "percent-encoding",
            "roadmap-api",
            "roadmap-domain",
            "roadmap-http",
            "serde",
            "serde_json",
            "tokio",
            "tracing",
        ],
    ),
    (
        "roadmap-web",
        &[
            "actix-multipart",
            "actix-web",
            "askama",
            "async-trait",
            "atom_syndication",
            "cookie",
            "flate2",
            "fluent-bundle",
            "fluent-langneg",
            "futures-util",
            "moka",
            "roadmap-domain",
            "roadmap-http",
            "serde_json",
            "sha2",
            "time",
            "tokio",
            "tracing",
            "unic-langid",
            "url",
            "uuid",
        ],
    ),
    (
        "roadmap-mail",
        &[
            "askama",
            "async-trait",
            "base64",
            "deadpool",
            "lettre",
            "percent-encoding",
            "roadmap-domain",
            "rustls",
            "tempfile",
            "thiserror",
            "tokio",
            "url",
        ],
    ),
    (
        "roadmap-server",
        &[
            "actix-web",
            "anyhow",
            "async-trait",
            "base64",
            "bytes",
            "clap",
            "comfy-table",
            "humantime",
            "ipnet",
            "md-5",
            "moka",
            "opentelemetry",
            "opentelemetry-http",
            "opentelemetry-otlp",
            "opentelemetry_sdk",
            "prometheus-client",
            "rand",
            "reqwest",
            "roadmap-api",
            "roadmap-blobs",
            "roadmap-domain",
            "roadmap-http",
            "roadmap-mail",
            "roadmap-mcp",
            "roadmap-postgres",
            "roadmap-sqlite",
            "roadmap-web",
            "rustix",
            "rustls",
            "serde",
            "serde_json",
            "sha2",
            "tar",
            "tempfile",
            "time",
            "tokio",
            "toml",
            "tracing",
            "tracing-opentelemetry",
            "tracing-subscriber",
            "uuid",
        ],
    ),
    (
        "roadmap-testkit",
        &[
            "async-trait",
            "fuser",
            "roadmap-domain",
            "rustix",
            "rustls",
            "serde",
            "serde_json",
            "socket2",
            "tempfile",
            "time",
            "tokio",
            "tokio-postgres",
            "uuid",
        ],
    ),
    (
        "xtask",
        &[
            "anyhow",
            "clap",
            "cyclonedx-bom",
            "diesel",
            "flate2",
            "futures-util",
            "object",
            "rand",
            "roadmap-testkit",
            "semver",
            "serde",
            "serde_json",
            "sha2",
            "tar",
            "tempfile",
            "time",
            "tokio",
            "toml_edit",
        ],
    ),
];

/// Checks every crate of the workspace.
pub(crate) fn run() -> anyhow::Result<()> {
    let problems = problems(&metadata()?);
    if !problems.is_empty() {
        bail!("the layers are broken:\n  {}", problems.join("\n  "));
    }
    Ok(())
}

fn problems(metadata: &Value) -> Vec<String> {
    let may: BTreeMap<&str, &[&str]> = ALLOWED_DEPENDENCIES.into_iter().collect();
    let mut problems = Vec::new();
    for package in list(metadata, "packages") {
        let name = text(package, "name");
        let Some(allowed) = may.get(name) else {
            problems.push(format!("{name} is not in the list of xtask/src/layers.rs"));
            continue;
        };
        for dependency in list(package, "dependencies") {
            let needed = text(dependency, "name");
            // Null is a normal dependency.
            let for_tests = dependency.get("kind").and_then(Value::as_str) == Some("dev");
            if !for_tests && !allowed.contains(&needed) {
                problems.push(format!("{name} must not depend on {needed}"));
            }
            if name == "roadmap-domain" && needed == "mockall" && !for_tests && dependency["optional"] != true {
                problems.push("roadmap-domain may depend on mockall for tests only".to_owned());
            }
            let asks_for_mocks = list(dependency, "features").iter().any(|feature| feature == "mocks");
            if !for_tests && needed == "roadmap-domain" && asks_for_mocks {
                problems.push(format!("{name} must not ask for mocks outside of tests"));
            }
        }
    }
    problems
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(name: &str, dependency: Value) -> Vec<String> {
        problems(&json!({ "packages": [{ "name": name, "dependencies": [dependency] }] }))
    }

    #[test]
    fn a_forbidden_dependency_is_named() {
        let diesel = |kind: Value| json!({ "name": "diesel", "kind": kind, "optional": false, "features": [] });
        assert_eq!(of("roadmap-domain", diesel(json!(null))), ["roadmap-domain must not depend on diesel"]);
        assert_eq!(of("roadmap-domain", diesel(json!("dev"))), Vec::<String>::new());
        assert_eq!(of("roadmap-sqlite", diesel(json!(null))), Vec::<String>::new());
        let testkit = json!({ "name": "roadmap-testkit", "kind": null, "optional": false, "features": [] });
        assert_eq!(of("roadmap-api", testkit), ["roadmap-api must not depend on roadmap-testkit"]);
        let api = json!({ "name": "roadmap-api", "kind": null, "optional": false, "features": [] });
        assert_eq!(of("roadmap-web", api), ["roadmap-web must not depend on roadmap-api"]);
    }

    #[test]
    fn test_doubles_are_dev_dependencies() {
        let mocks = |kind: Value| json!({ "name": "roadmap-domain", "kind": kind, "features": ["mocks"] });
        assert_eq!(of("roadmap-api", mocks(json!(null))), ["roadmap-api must not ask for mocks outside of tests"]);
        assert_eq!(of("roadmap-api", mocks(json!("dev"))), Vec::<String>::new());
        let mockall = json!({ "name": "mockall", "kind": null, "optional": false, "features": [] });
        assert_eq!(of("roadmap-domain", mockall), ["roadmap-domain may depend on mockall for tests only"]);
    }

    #[test]
    fn a_new_crate_must_be_listed() {
        let problems = problems(&json!({ "packages": [{ "name": "roadmap-extra", "dependencies": [] }] }));
        assert_eq!(problems, ["roadmap-extra is not in the list of xtask/src/layers.rs"]);
    }
}
