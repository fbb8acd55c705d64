//! `cargo xtask deny`: checks licences, sources, layers and known vulnerabilities of the dependencies against
//! `deny.toml`.

use std::path::Path;
use std::process::Command;

use anyhow::{bail, ensure};
use semver::Version;

use crate::run::{finish, root};
use crate::tools::Tool;

/// Only allowed source of dependencies, as written in `Cargo.lock`.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The database of known vulnerabilities is fetched from the network
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Deny {
    /// Fail when the database of known vulnerabilities cannot be fetched
    #[arg(long, conflicts_with = "no_build")]
    require_advisories: bool,
    /// Check only `Cargo.lock` when cargo-deny is not installed, instead of building it
    #[arg(long)]
    no_build: bool,
}

impl Deny {
    /// Checks of `cargo xtask ci`.
    pub(crate) fn without_building() -> Self {
        Self { no_build: true, ..Self::default() }
    }

    /// Checks of a release.
    #[cfg(feature = "servers")]
    pub(crate) fn for_release() -> Self {
        Self { require_advisories: true, ..Self::default() }
    }

    pub(crate) fn run(&self) -> anyhow::Result<()> {
        if let Some(sentence) = self.check()? {
            eprintln!("{sentence}");
        }
        Ok(())
    }

    /// Runs the checks. Returns the sentence that says why known vulnerabilities were not looked for, if they were not.
    pub(crate) fn check(&self) -> anyhow::Result<Option<String>> {
        check_lock(&std::fs::read_to_string(root().join("Cargo.lock"))?)?;
        let tool = Tool {
            package: "cargo-deny",
            version: Version::new(0, 20, 2),
            // Without default features, the system's git is used with the system's certificates.
            arguments: &["--no-default-features"],
        };
        let program = match tool.installed() {
            None if self.no_build => {
                eprintln!("cargo-deny is not installed: licences and layers were NOT checked, see `cargo xtask deny`.");
                return Ok(Some(unchecked("cargo-deny is not installed")));
            }
            None => tool.find()?,
            Some(program) => program,
        };
        check(&program, &["licenses", "bans", "sources"])?;
        match fetch_advisories(&program)? {
            None => check(&program, &["advisories"]).map(|()| None),
            Some(why) if self.require_advisories => bail!("known vulnerabilities cannot be checked: {why}"),
            Some(why) => Ok(Some(unchecked(&format!("the database cannot be fetched ({why})")))),
        }
    }
}

fn unchecked(why: &str) -> String {
    format!("Advisories were NOT checked: {why}. `cargo xtask release` refuses to go on without them.")
}

/// Checks without cargo-deny: all dependencies are from the registry and none is banned in `deny.toml`.
fn check_lock(lock: &str) -> anyhow::Result<()> {
    let values = |key: &'static str| {
        lock.lines().filter_map(move |line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
    };
    for source in values("source") {
        ensure!(source == REGISTRY, "a dependency is from {source}, not from the registry");
    }
    for banned in ["aws-lc-sys", "openssl-sys", "pq-sys"] {
        ensure!(!values("name").any(|name| name == banned), "{banned} is a dependency, which deny.toml bans");
    }
    Ok(())
}

/// Runs one check. Warnings are counted and not shown: most duplicate versions of crates cannot be avoided here.
fn check(program: &Path, what: &[&str]) -> anyhow::Result<()> {
    let name = format!("cargo deny check {}", what.join(" "));
    eprintln!("$ {name}");
    let arguments = ["deny", "--locked", "--log-level", "error", "check", "--show-stats", "--hide-inclusion-graph"];
    finish(Command::new(program).args(arguments).args(what).current_dir(root()), &name)
}

/// Updates the database of known vulnerabilities. Returns the reason when that fails.
fn fetch_advisories(program: &Path) -> anyhow::Result<Option<String>> {
    let mut command = Command::new(program);
    command.args(["deny", "fetch", "db"]).env("GIT_TERMINAL_PROMPT", "0").current_dir(root());
    let output = command.output()?;
    Ok((!output.status.success()).then(|| cause(&String::from_utf8_lossy(&output.stderr))))
}

/// Returns the last line with text.
fn cause(printed: &str) -> String {
    let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.unwrap_or("it does not say why").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_sources_and_banned_crates_are_refused() {
        let lock = |name: &str, source: &str| {
            check_lock(&format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\nsource = \"{source}\"\n"))
        };
        assert!(lock("time", REGISTRY).is_ok());
        let foreign = lock("time", "git+https://example.com/time").unwrap_err().to_string();
        assert_eq!(foreign, "a dependency is from git+https://example.com/time, not from the registry");
        let banned = lock("openssl-sys", REGISTRY).unwrap_err().to_string();
        assert_eq!(banned, "openssl-sys is a dependency, which deny.toml bans");
    }

    #[test]
    fn what_was_not_checked_is_one_line() {
        let line = unchecked("cargo-deny is not installed");
        let expected = "Advisories were NOT checked: cargo-deny is not installed. `cargo xtask release` refuses to go on \
                        without them.";
        assert_eq!(line, expected);
    }

    #[test]
    fn the_cause_is_the_last_line() {
        let printed = "[ERROR] failed to fetch\nCloning into 'x'...\nfatal: Could not resolve host: example.com\n\n";
        assert_eq!(cause(printed), "fatal: Could not resolve host: example.com");
        assert_eq!(cause(""), "it does not say why");
    }
}
