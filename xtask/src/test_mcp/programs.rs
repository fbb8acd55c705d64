//! The programs of `tests/mcp` with their libraries, installed once below `target`.

use std::path::PathBuf;
use std::process::Command;

use roadmap_testkit::python;

use crate::node::{copy_programs, install_changed_packages};

/// Installed Python package.
const REQUIREMENT: &str = "mcp==2.3.0";

/// Installed programs.
pub(super) struct Programs {
    /// Folder with the programs of `tests/mcp`.
    pub(super) folder: PathBuf,
    node: PathBuf,
    python: PathBuf,
}

impl Programs {
    /// Installs the packages if they are not installed or others than before.
    pub(super) fn install() -> anyhow::Result<Self> {
        let folder = copy_programs("mcp", "the MCP tests")?;
        install_changed_packages(&folder)?;
        // The suite and the Inspector need a newer Node.js than many systems have. There is a package with one for Linux.
        let packaged = folder.join("node_modules/.bin/node");
        let node = if packaged.is_file() { packaged } else { PathBuf::from("node") };
        let python = python::environment("mcp", REQUIREMENT).map_err(anyhow::Error::msg)?.join("python");
        Ok(Self { folder, node, python })
    }

    /// Returns a command that runs a program, with its first arguments.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let is_python = words.first().is_some_and(|script| script.ends_with(".py"));
        let mut command = Command::new(if is_python { &self.python } else { &self.node });
        command.args(words).current_dir(&self.folder);
        command
    }
}
