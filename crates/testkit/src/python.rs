//! Python environments with few packages each, created once below `target`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder with the programs of an environment in which `requirements`, separated by spaces, are installed. The
/// environment is created if it does not exist or contains other packages.
///
/// # Errors
/// Python or the package is missing and cannot be installed. The message says what to install.
pub fn environment(name: &str, requirements: &str) -> Result<PathBuf, String> {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    std::fs::create_dir_all(&target).map_err(|error| format!("the folder target: {error}"))?;
    let folder = target.join(format!("python-{name}"));
    let (programs, installed) = (folder.join("bin"), folder.join("installed"));
    // Serializes processes. The lock is released with the file's handle.
    let lock = File::create(target.join(format!("python-{name}.lock"))).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if std::fs::read_to_string(&installed).is_ok_and(|there| there == requirements) {
        return Ok(programs);
    }
    // Without a pip of its own, and without compiling what is mostly never imported: half the time.
    run(Command::new("python3").args(["-m", "venv", "--clear", "--without-pip"]).arg(&folder), requirements)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--python"]).arg(programs.join("python"));
    pip.args(["install", "--quiet", "--no-compile", "--disable-pip-version-check"]).args(requirements.split(' '));
    run(&mut pip, requirements)?;
    std::fs::write(installed, requirements).map_err(|error| error.to_string())?;
    Ok(programs)
}

fn run(command: &mut Command, requirements: &str) -> Result<(), String> {
    let problem = match command.output() {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!(
        "Python 3 with the modules venv and pip (Debian: apt-get install python3-venv) is required, and {requirements} \
         from a package index: {command:?} failed: {problem}"
    ))
}
