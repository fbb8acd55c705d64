//! `cargo xtask ci`

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::deny::Deny;
use crate::openapi::OpenApi;
use crate::run::{WORKSPACE, cargo, output, root, with_servers};
use crate::{coverage, layers, migrations, packaging, test_browser, test_proxies};

/// Where a good run leaves the commit that it was for.
const PASSED_FILE: &str = "target/ci-green";

/// Everything that a change must pass, the cheap checks first. A good run of a tree without changes leaves a proof of it,
/// which `cargo xtask release` takes.
pub(crate) fn run() -> anyhow::Result<()> {
    let before = clean_commit();
    let mut steps = Steps::default();
    let checked = checks(&mut steps);
    steps.print();
    checked?;
    if let Some(commit) = before.filter(|commit| clean_commit().as_ref() == Some(commit)) {
        fs::write(root().join(PASSED_FILE), commit)?;
    }
    Ok(())
}

/// Whether there was a good run for this commit.
#[cfg(feature = "servers")]
pub(crate) fn has_passed(commit: &str) -> bool {
    fs::read_to_string(root().join(PASSED_FILE)).is_ok_and(|green| green == commit)
}

/// The commit of the tree, unless something in it is not committed or there is no git.
fn clean_commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let printed = output(Command::new("git").args(arguments).current_dir(root()), "git").ok()?;
        Some(String::from_utf8_lossy(&printed).trim().to_owned())
    };
    git(&["status", "--porcelain"])?.is_empty().then(|| git(&["rev-parse", "HEAD"]))?
}

fn checks(steps: &mut Steps) -> anyhow::Result<()> {
    steps.run("format", || cargo(&["fmt", "--all", "--check"], &[]))?;
    steps.run("layers", layers::run)?;
    steps.run("contract coverage", coverage::run)?;
    steps.run("migrations", migrations::run)?;
    steps.run("packaging", packaging::run)?;
    steps.run("dependencies", || Deny::without_building().run())?;
    // All steps compile the same set of packages with the same features, so that each dependency is compiled once for
    // checks and once for tests.
    steps.run("lints", || {
        cargo(&[&["clippy"], &WORKSPACE[..], &["--all-targets", "--", "--deny", "warnings"]].concat(), &[])
    })?;
    // With examples, of which there are none, cargo takes the features that tests ask for.
    let documented = ["--no-deps", "--document-private-items", "--lib", "--bins", "--examples"];
    steps.run("documentation", || cargo(&[&["doc"], &WORKSPACE[..], &documented].concat(), &[]))?;
    steps.run("build", || cargo(&[&["test"], &WORKSPACE[..], &["--all-targets", "--no-run"]].concat(), &[]))?;
    steps.run("document of the API", || OpenApi { check: true }.run())?;
    steps.run("tests", || with_servers(&["test"]))?;
    steps.run("proxies", test_proxies::run)?;
    steps.run("browser", test_browser::run)?;
    steps.run("attacks, a short form", || {
        with_servers(&["attack", "--debug", "--requests", "2000", "--seconds", "2"])
    })?;
    // A slice: the rest of the cases is for whoever changes the API, and for releases.
    steps.run("fuzzing, a short form", || with_servers(&["fuzz-api", "--short"]))
}

/// The steps so far and how long each took.
#[derive(Default)]
struct Steps(Vec<(&'static str, Duration)>);

impl Steps {
    fn run(&mut self, name: &'static str, check: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
        let started = Instant::now();
        eprintln!("== {name}");
        let checked = check();
        let took = started.elapsed();
        self.0.push((name, took));
        let outcome = if checked.is_ok() { "good" } else { "FAILED" };
        eprintln!("== {name}: {outcome} after {:.1} min", minutes(took));
        checked
    }

    fn print(&self) {
        eprintln!("\n{:24} minutes", "step");
        for (name, took) in &self.0 {
            eprintln!("{name:24} {:7.1}", minutes(*took));
        }
        eprintln!("{:24} {:7.1}", "all", minutes(self.0.iter().map(|(_, took)| *took).sum()));
    }
}

fn minutes(time: Duration) -> f64 {
    time.as_secs_f64() / 60.0
}
