//! Running other programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

/// Root folder of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Returns the files with Rust code in folders of the project and below, in order.
pub(crate) fn rust_files(folders: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut files = Vec::new();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            fs::read_dir(path)?.try_for_each(|entry| entry.map(|entry| paths.push(entry.path())))?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Runs cargo in the root folder with its output shown.
pub(crate) fn cargo(arguments: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<()> {
    let name = format!("cargo {}", arguments.join(" "));
    let set: String = environment.iter().map(|(name, value)| format!("{name}={value} ")).collect();
    eprintln!("$ {set}{name}");
    let mut command = by_hand();
    // Only `cargo doc` uses these flags: broken links are errors.
    let command = command.args(arguments).envs(environment.iter().copied());
    finish(command.env("RUSTDOCFLAGS", "--deny warnings").current_dir(root()), &name)
}

/// Returns cargo without the variables that it has set for this process. The build script of ring compares them, so that
/// ring and its dependents would be recompiled whenever cargo is called alternately by hand and from here.
fn by_hand() -> Command {
    let mut command = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(name);
        }
    }
    command
}

/// Common arguments of all builds for tests. They determine the features of the dependencies, and each set of
/// features is compiled separately.
pub(crate) const WORKSPACE: [&str; 3] = ["--workspace", "--all-features", "--locked"];

/// Builds the service as for the tests, and returns its path.
pub(crate) fn service() -> anyhow::Result<PathBuf> {
    cargo(&[&["test"], &WORKSPACE[..], &["--test", "api", "--no-run"]].concat(), &[])?;
    built("roadmap")
}

/// Builds xtask with all commands, and runs it.
pub(crate) fn with_servers<T: AsRef<str>>(arguments: &[T]) -> anyhow::Result<()> {
    // `--examples` makes cargo select the features that tests use. There are no examples.
    cargo(&[&["build", "--quiet"], &WORKSPACE[..], &["--bin", "xtask", "--examples"]].concat(), &[])?;
    let arguments: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    let name = format!("cargo xtask {}", arguments.join(" "));
    finish(Command::new(built("xtask")?).args(&arguments).current_dir(root()), &name)
}

/// Returns the path of a built program. The target folder is configurable.
fn built(program: &str) -> anyhow::Result<PathBuf> {
    let target = metadata()?;
    let target = target.get("target_directory").and_then(Value::as_str).context("cargo metadata names no folder")?;
    Ok(Path::new(target).join("debug").join(program))
}

/// Does the work in a release build of xtask, which runs the same command again. A slow load generator would compete
/// with the service for the processor.
#[cfg(feature = "servers")]
pub(crate) fn in_release(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    if !cfg!(debug_assertions) {
        return work();
    }
    let again = ["run", "--release", "--locked", "--package", "xtask", "--features", "servers", "--"];
    let arguments = std::env::args_os().skip(1);
    finish(by_hand().args(again).args(arguments).current_dir(root()), "cargo run --release")
}

/// Returns `cargo metadata` of the workspace.
pub(crate) fn metadata() -> anyhow::Result<Value> {
    let arguments = ["metadata", "--format-version=1", "--no-deps", "--locked"];
    let metadata = output(Command::new(env!("CARGO")).args(arguments).current_dir(root()), "cargo metadata")?;
    serde_json::from_slice(&metadata).context("cargo metadata printed no JSON")
}

/// Runs a command to its end.
///
/// # Errors
/// The command cannot be started or fails.
pub(crate) fn finish(command: &mut Command, name: &str) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("`{name}` cannot be started"))?;
    if !status.success() {
        bail!("`{name}` failed");
    }
    Ok(())
}

/// Runs a command and returns its standard output.
pub(crate) fn output(command: &mut Command, name: &str) -> anyhow::Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("`{name}` cannot be started"))?;
    if !output.status.success() {
        bail!("`{name}` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

/// Runs a command and returns its standard output as text, without the end of the last line.
pub(crate) fn text(command: &mut Command, name: &str) -> anyhow::Result<String> {
    Ok(String::from_utf8_lossy(&output(command, name)?).trim_end().to_owned())
}

/// Whether a program can be started.
pub(crate) fn has_program(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Installs a missing program as [`install`] does.
pub(crate) fn require_program(program: &str, package: &str, instead: &str) -> anyhow::Result<()> {
    if !has_program(program) {
        install(package, instead)?;
        ensure!(has_program(program), "{package} was installed and {program} is not on the PATH");
    }
    Ok(())
}

/// Installs a package of the distribution if possible. Otherwise fails with an alternative for the maintainer.
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
