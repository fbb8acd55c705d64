//! The programs of `tests` that need Node.js. They run below `target`, where npm installs their packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::run::{finish, has_program, root};

/// File with the lock file of the installed packages.
#[cfg(feature = "servers")]
const INSTALLED: &str = "installed";

/// Copies the programs of a folder of `tests`, and returns the folder of the copies. Errors name the `tests`.
pub(crate) fn copy_programs(name: &str, tests: &str) -> anyhow::Result<PathBuf> {
    for program in ["node", "npm"] {
        ensure!(has_program(program), "{tests} need Node.js with npm; install it and run again");
    }
    let (source, folder) = (root().join("tests").join(name), root().join("target").join(name));
    fs::create_dir_all(&folder).with_context(|| format!("the folder for {tests} cannot be made"))?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    Ok(folder)
}

/// Installs the packages of a folder, with further arguments for npm.
pub(crate) fn install_packages(folder: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).args(arguments).current_dir(folder);
    finish(&mut npm, "npm ci")
}

/// Installs the packages of a folder if they are not installed or others than before.
#[cfg(feature = "servers")]
pub(crate) fn install_changed_packages(folder: &Path) -> anyhow::Result<()> {
    let lock = fs::read(folder.join("package-lock.json"))?;
    if !fs::read(folder.join(INSTALLED)).is_ok_and(|installed| installed == lock) {
        install_packages(folder, &["--loglevel=error"])?;
        fs::write(folder.join(INSTALLED), lock)?;
    }
    Ok(())
}
