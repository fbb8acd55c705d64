//! Running other programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

/// The project's root folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Runs cargo in the root folder and shows what it prints.
pub(crate) fn cargo(arguments: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<()> {
    let name = format!("cargo {}", arguments.join(" "));
    let set: String = environment.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    eprintln!("$ {set}{name}");
    let mut command = Command::new(env!("CARGO"));
    // What cargo has set for this program is no matter of others: the build script of ring compares it, so that ring and all on
    // top of it would be compiled each time that cargo is called by hand and then from here.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(name);
        }
    }
    // Only `cargo doc` looks at the flags: a link that leads nowhere is a fault of the document.
    let command = command.args(arguments).envs(environment.iter().copied());
    finish(command.env("RUSTDOCFLAGS", "--deny warnings").current_dir(root()), &name)
}

/// What all builds of the tests have in common: the features of the dependencies follow from it, and each set of features is
/// compiled on its own.
pub(crate) const WORKSPACE: [&str; 3] = ["--workspace", "--all-features", "--locked"];

/// Builds the service as for the tests, and returns where it is.
pub(crate) fn service() -> anyhow::Result<PathBuf> {
    cargo(&[&["test"], &WORKSPACE[..], &["--test", "api", "--no-run"]].concat(), &[])?;
    built("roadmap")
}

/// Builds this program with all its commands, and runs it.
pub(crate) fn with_servers<T: AsRef<str>>(arguments: &[T]) -> anyhow::Result<()> {
    // With examples, of which there are none, cargo takes the features that tests ask for.
    cargo(&[&["build", "--quiet"], &WORKSPACE[..], &["--bin", "xtask", "--examples"]].concat(), &[])?;
    let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    let name = format!("cargo xtask {}", arguments.join(" "));
    finish(Command::new(built("xtask")?).args(&arguments).current_dir(root()), &name)
}

/// Where a program is that was built. Where cargo builds is a setting of its own.
fn built(program: &str) -> anyhow::Result<PathBuf> {
    let target = metadata()?;
    let target = target.get("target_directory").and_then(Value::as_str).context("cargo metadata names no folder")?;
    Ok(Path::new(target).join("debug").join(program))
}

/// Does this in a build of this program for release, which runs the command again: what a generator of load takes of the
/// machine, the service lacks.
#[cfg(feature = "servers")]
pub(crate) fn in_release(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    if !cfg!(debug_assertions) {
        return work();
    }
    let again = ["run", "--release", "--locked", "--package", "xtask", "--features", "servers", "--"];
    let given = std::env::args_os().skip(1);
    finish(Command::new(env!("CARGO")).args(again).args(given).current_dir(root()), "cargo run --release")
}

/// What cargo tells of the workspace and its crates.
pub(crate) fn metadata() -> anyhow::Result<Value> {
    let arguments = ["metadata", "--format-version=1", "--no-deps", "--locked"];
    let metadata = output(Command::new(env!("CARGO")).args(arguments).current_dir(root()), "cargo metadata")?;
    serde_json::from_slice(&metadata).context("cargo metadata printed no JSON")
}

/// Runs a command to its end and fails when it does.
pub(crate) fn finish(command: &mut Command, name: &str) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("`{name}` cannot be started"))?;
    if !status.success() {
        bail!("`{name}` failed");
    }
    Ok(())
}

/// What a command prints.
pub(crate) fn output(command: &mut Command, name: &str) -> anyhow::Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("`{name}` cannot be started"))?;
    if !output.status.success() {
        bail!("`{name}` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

/// Whether a program can be started.
pub(crate) fn has_program(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Sees to a program: when it is not there, as [`install`] does.
pub(crate) fn require_program(program: &str, package: &str, instead: &str) -> anyhow::Result<()> {
    if !has_program(program) {
        install(package, instead)?;
        ensure!(has_program(program), "{package} was installed and {program} is not on the PATH");
    }
    Ok(())
}

/// Installs a package of the distribution's, where that can be done. Otherwise fails with what the
/// maintainer can do instead.
pub(crate) fn install(package: &str, instead: &str) -> anyhow::Result<()> {
    if !has_program("apt-get") {
        bail!("{package} is needed and not there: {instead}");
    }
    eprintln!("{package} is not installed; installing it with apt-get");
    for arguments in [&["update"][..], &["install", "--yes", "--no-install-recommends", package]] {
        let name = format!("apt-get {}", arguments.join(" "));
        finish(Command::new("apt-get").args(arguments), &name)
            .with_context(|| format!("{package} is needed and cannot be installed from here: {instead}"))?;
    }
    Ok(())
}
