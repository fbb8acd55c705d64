//! `cargo xtask deny`: licences, sources, layers and known faults of the dependencies, by `deny.toml`.

use std::path::Path;
use std::process::Command;

use anyhow::bail;
use semver::Version;

use crate::run::{finish, root};
use crate::tools::Tool;

/// Known faults come from a database on the network.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Deny {
    /// Fail when the database of known faults cannot be fetched
    #[arg(long)]
    require_advisories: bool,
}

impl Deny {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let tool = Tool {
            package: "cargo-deny",
            version: Version::new(0, 20, 2),
            // Certificates of the system, by the system's git.
            arguments: &["--no-default-features"],
        };
        let program = tool.find()?;
        check(&program, &["licenses", "bans", "sources"])?;
        match fetch_advisories(&program)? {
            None => check(&program, &["advisories"]),
            Some(why) if self.require_advisories => bail!("known faults cannot be checked: {why}"),
            Some(why) => {
                eprintln!("Advisories were NOT checked: the database of known faults cannot be fetched ({why}).");
                Ok(())
            }
        }
    }
}

/// Warnings are counted and not shown: two versions of a crate are mostly not ours to choose.
fn check(program: &Path, what: &[&str]) -> anyhow::Result<()> {
    let name = format!("cargo deny check {}", what.join(" "));
    eprintln!("$ {name}");
    let arguments = ["deny", "--locked", "--log-level", "error", "check", "--show-stats", "--hide-inclusion-graph"];
    finish(Command::new(program).args(arguments).args(what).current_dir(root()), &name)
}

/// Brings the database up to date. Where that cannot be done, tells why.
fn fetch_advisories(program: &Path) -> anyhow::Result<Option<String>> {
    let mut command = Command::new(program);
    command.args(["deny", "fetch", "db"]).env("GIT_TERMINAL_PROMPT", "0").current_dir(root());
    let output = command.output()?;
    Ok((!output.status.success()).then(|| cause(&String::from_utf8_lossy(&output.stderr))))
}

/// The last line that says something.
fn cause(printed: &str) -> String {
    let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.unwrap_or("it does not say why").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_what_is_said_last() {
        let printed = "[ERROR] failed to fetch\nCloning into 'x'...\nfatal: Could not resolve host: example.com\n\n";
        assert_eq!(cause(printed), "fatal: Could not resolve host: example.com");
        assert_eq!(cause(""), "it does not say why");
    }
}
