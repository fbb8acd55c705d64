//! Licence notices of the third-party crates in the binary.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;

use crate::run::{output, root, text};

/// Prefixes of the names of licence and notice files.
const NOTICES: [&str; 5] = ["licence", "license", "copying", "notice", "unlicense"];

/// Output of `cargo metadata` for the crates in a binary.
#[derive(Deserialize)]
pub(super) struct Metadata {
    /// All crates.
    pub(super) packages: Vec<Package>,
    /// Dependency graph.
    pub(super) resolve: Resolve,
}

/// Crate.
#[derive(Deserialize)]
pub(super) struct Package {
    /// Cargo's id of the package.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    /// SPDX licence expression.
    pub(super) license: Option<String>,
    manifest_path: PathBuf,
    /// Registry; `None` for the project's own crates.
    pub(super) source: Option<String>,
}

/// Dependency graph.
#[derive(Deserialize)]
pub(super) struct Resolve {
    /// One node per crate.
    pub(super) nodes: Vec<Node>,
}

/// Crate with its dependencies.
#[derive(Deserialize)]
pub(super) struct Node {
    /// Id of the crate.
    pub(super) id: String,
    pub(super) deps: Vec<ResolvedDependency>,
}

/// Dependency of a crate.
#[derive(Deserialize)]
pub(super) struct ResolvedDependency {
    /// Id of the crate.
    pub(super) pkg: String,
}

/// Returns the crates in a binary for this target.
pub(super) fn metadata(triple: &str) -> anyhow::Result<Metadata> {
    let linked = linked(triple)?;
    let arguments = ["metadata", "--format-version=1", "--locked", "--filter-platform", triple];
    let metadata = output(Command::new(env!("CARGO")).args(arguments).current_dir(root()), "cargo metadata")?;
    let mut metadata: Metadata = serde_json::from_slice(&metadata).context("cargo metadata printed something else")?;
    metadata.packages.retain(|package| linked.contains(&format!("{} v{}", package.name, package.version)));
    ensure!(
        metadata.packages.iter().any(|package| package.source.is_some()),
        "cargo metadata knows none of the crates that cargo tree lists"
    );
    Ok(metadata)
}

/// Returns the notices of all third-party crates in a binary as one text.
pub(super) fn notices(metadata: &Metadata) -> anyhow::Result<String> {
    let others: Vec<&Package> = metadata.packages.iter().filter(|package| package.source.is_some()).collect();
    listed(&others)
}

/// Names and versions of linked crates, without build dependencies.
fn linked(triple: &str) -> anyhow::Result<BTreeSet<String>> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--locked", "--package", "roadmap-server", "--target", triple]);
    command.args(["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]);
    let printed = text(command.current_dir(root()), "cargo tree")?;
    let names = |line: &str| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    Ok(printed.lines().map(names).collect())
}

/// Lists the crates, followed by each distinct text once with the crates that it applies to.
fn listed(packages: &[&Package]) -> anyhow::Result<String> {
    let mut text = "The program contains these crates, under these licences:\n\n".to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Package { name, version, license, manifest_path, .. } in packages {
        writeln!(text, "- {name} {version}: {}", license.as_deref().unwrap_or("see below"))?;
        for notice in files(manifest_path.parent().unwrap_or(Path::new("")))? {
            texts.entry(notice).or_default().push(format!("{name} {version}"));
        }
    }
    let mut texts: Vec<(Vec<String>, String)> = texts.into_iter().map(|(text, crates)| (crates, text)).collect();
    texts.sort();
    for (crates, notice) in texts {
        write!(text, "\n{}\n{}\n\n{notice}\n", "-".repeat(80), crates.join(", "))?;
    }
    Ok(text)
}

/// Reads the notices of a crate with normalized line ends.
fn files(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut texts = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file() && NOTICES.iter().any(|start| name.starts_with(start)) {
            let text = String::from_utf8_lossy(&fs::read(&path)?).replace("\r\n", "\n");
            texts.insert(name, text.trim().to_owned());
        }
    }
    Ok(texts.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(folder: &Path, name: &str, notice: &str) -> Package {
        let folder = folder.join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("LICENSE-MIT"), notice).unwrap();
        fs::write(folder.join("README.md"), "not a notice").unwrap();
        Package {
            id: name.to_owned(),
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: Some("MIT".to_owned()),
            manifest_path: folder.join("Cargo.toml"),
            source: Some("registry".to_owned()),
        }
    }

    #[test]
    fn a_text_that_crates_share_is_listed_once() {
        let folder = tempfile::tempdir().unwrap();
        let packages = [("a", "same\r\n"), ("b", "other"), ("c", "same\n")]
            .map(|(name, notice)| package(folder.path(), name, notice));
        let line = "-".repeat(80);
        assert_eq!(
            listed(&packages.each_ref()).unwrap(),
            format!(
                "The program contains these crates, under these licences:\n\n- a 1.0.0: MIT\n- b 1.0.0: MIT\n\
                 - c 1.0.0: MIT\n\n{line}\na 1.0.0, c 1.0.0\n\nsame\n\n{line}\nb 1.0.0\n\nother\n"
            )
        );
    }

    #[test]
    fn linked_crates_are_identified_by_name_and_version() {
        let linked = linked("x86_64-unknown-linux-gnu").unwrap();
        assert!(linked.iter().any(|name| name.starts_with("libsqlite3-sys v")), "{linked:?}");
        assert!(!linked.iter().any(|name| name.starts_with("proptest v")), "{linked:?}");
    }
}
