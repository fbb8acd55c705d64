//! Programs from crates.io that some commands need: built once, under `target/tools`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context;
use semver::Version;

use crate::run::{finish, root, text};

/// Program that cargo can install.
pub(crate) struct Tool {
    /// Name of the package and of its program.
    pub(crate) package: &'static str,
    /// Version to install, and minimum version of an installed program.
    pub(crate) version: Version,
    /// Further arguments for `cargo install`.
    pub(crate) arguments: &'static [&'static str],
}

/// Build settings that compile faster than the packages' release profiles. These programs mostly wait for other ones.
const PROFILE: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
];

impl Tool {
    /// Returns an installed program of a sufficient version, otherwise builds it.
    pub(crate) fn find(&self) -> anyhow::Result<PathBuf> {
        if let Some(program) = self.installed() {
            return Ok(program);
        }
        self.install(&folder())?;
        self.installed().with_context(|| format!("{} was installed and does not run", self.package))
    }

    /// Returns the program if it is installed in a sufficient version.
    pub(crate) fn installed(&self) -> Option<PathBuf> {
        let programs = [PathBuf::from(self.package), folder().join("bin").join(self.package)];
        programs.into_iter().find(|program| self.is_good(program))
    }

    fn is_good(&self, program: &Path) -> bool {
        // Cargo passes a subcommand's own name as the first argument.
        let name = self.package.trim_start_matches("cargo-");
        let printed = text(Command::new(program).args([name, "--version"]), self.package).unwrap_or_default();
        version_in(&printed).is_some_and(|version| version >= self.version)
    }

    fn install(&self, folder: &Path) -> anyhow::Result<()> {
        eprintln!("{} {} is not installed; building it under {}", self.package, self.version, folder.display());
        let (started, build) = (Instant::now(), folder.join("build"));
        let mut command = Command::new(env!("CARGO"));
        command.args(["install", "--locked", "--quiet", self.package, "--version", &self.version.to_string()]);
        command.args(self.arguments).arg("--root").arg(folder).arg("--target-dir").arg(&build);
        command.envs(PROFILE).current_dir(root());
        finish(&mut command, &format!("cargo install {}", self.package)).with_context(|| {
            format!("{} is needed and cannot be built from here: install it and run again", self.package)
        })?;
        std::fs::remove_dir_all(&build).context("what was built on the way cannot be removed")?;
        eprintln!("{} was built in {:.0} s", self.package, started.elapsed().as_secs_f64());
        Ok(())
    }
}

/// Folder of installed programs.
fn folder() -> PathBuf {
    root().join("target/tools")
}

/// Parses the version that a program prints after its name.
fn version_in(printed: &str) -> Option<Version> {
    printed.split_whitespace().find_map(|word| Version::parse(word).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_parsed_from_a_program_s_output() {
        assert_eq!(version_in("cargo-deny 0.20.2\n"), Some(Version::new(0, 20, 2)));
        assert_eq!(version_in("cargo-mutants 27.1.0"), Some(Version::new(27, 1, 0)));
        assert_eq!(version_in("error: no such command"), None);
    }
}
