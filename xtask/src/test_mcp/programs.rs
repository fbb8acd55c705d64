//! The programs of `tests/mcp` with their libraries, installed once below `target`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, ensure};
use roadmap_testkit::python;

use crate::run::{finish, has_program, root};

/// Installed Python package.
const REQUIREMENT: &str = "mcp==2.3.0";

/// File with the lock file of the installed packages of npm.
const INSTALLED: &str = "installed";

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
        for program in ["node", "npm"] {
            ensure!(has_program(program), "the MCP tests need Node.js with npm; install it and run again");
        }
        let (source, folder) = (root().join("tests/mcp"), root().join("target/mcp"));
        fs::create_dir_all(&folder).context("the folder for the MCP tests cannot be made")?;
        for entry in fs::read_dir(source)? {
            let entry = entry?;
            fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
        let lock = fs::read(folder.join("package-lock.json"))?;
        if !fs::read(folder.join(INSTALLED)).is_ok_and(|installed| installed == lock) {
            let mut npm = Command::new("npm");
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
            finish(npm.current_dir(&folder), "npm ci")?;
            fs::write(folder.join(INSTALLED), lock)?;
        }
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
