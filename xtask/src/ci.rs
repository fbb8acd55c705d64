//! `cargo xtask ci`: runs all checks that a change must pass.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::deny::Deny;
use crate::openapi::OpenApi;
use crate::run::{WORKSPACE, cargo, root, text, with_servers};
use crate::test_browser::TestBrowser;
use crate::{coverage, layers, migrations, packaging, public_docs, test_proxies};

/// File with the commit of the last successful run of all checks.
const PASSED_FILE: &str = "target/ci-green";

/// Cheap checks run first.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Ci {
    /// Also build the documentation, and run the tests of agents' tools and generated clients, attacks and fuzzing
    #[arg(long)]
    pub(crate) all: bool,
}

impl Ci {
    /// Runs everything that a change must pass. A successful run of all checks on a clean tree records the commit, which
    /// `cargo xtask release` requires.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let before = clean_commit().filter(|_| self.all);
        let mut steps = Steps::default();
        let checked = self.checks(&mut steps);
        steps.print();
        checked?;
        if let Some(commit) = before.filter(|commit| clean_commit().as_ref() == Some(commit)) {
            fs::write(root().join(PASSED_FILE), commit)?;
        }
        Ok(())
    }
}

/// Whether the last successful run of all checks was for this commit.
#[cfg(feature = "servers")]
pub(crate) fn has_passed(commit: &str) -> bool {
    fs::read_to_string(root().join(PASSED_FILE)).is_ok_and(|green| green == commit)
}

/// Commit of the working tree; `None` with uncommitted changes or without git.
fn clean_commit() -> Option<String> {
    let git = |arguments: &[&str]| text(Command::new("git").args(arguments).current_dir(root()), "git").ok();
    git(&["status", "--porcelain"])?.is_empty().then(|| git(&["rev-parse", "HEAD"]))?
}

impl Ci {
    fn checks(self, steps: &mut Steps) -> anyhow::Result<()> {
        steps.run("format", || cargo(&["fmt", "--all", "--check"], &[]))?;
        steps.run("layers", layers::run)?;
        steps.run("doc comments", public_docs::run)?;
        steps.run("contract coverage", || coverage::rows().map(drop))?;
        steps.run("migrations", migrations::run)?;
        steps.run("packaging", packaging::run)?;
        let mut advisories = None;
        steps.run("dependencies", || {
            advisories = Deny::without_building().check()?;
            Ok(())
        })?;
        steps.unchecked = advisories;
        // All steps compile the same packages with the same features, so that each dependency is compiled once for checks
        // and once for tests.
        steps.run("lints", || {
            cargo(&[&["clippy"], &WORKSPACE[..], &["--all-targets", "--", "--deny", "warnings"]].concat(), &[])
        })?;
        if self.all {
            // `--examples` makes cargo select the features that tests use. There are no examples.
            let documented = ["--no-deps", "--document-private-items", "--lib", "--bins", "--examples"];
            steps.run("documentation", || cargo(&[&["doc"], &WORKSPACE[..], &documented].concat(), &[]))?;
        }
        steps.run("build", || cargo(&[&["test"], &WORKSPACE[..], &["--all-targets", "--no-run"]].concat(), &[]))?;
        steps.run("documents of the API", || OpenApi { check: true }.run())?;
        steps.run("tests", || with_servers(&["test"]))?;
        steps.run("proxies", test_proxies::run)?;
        // All variants of the main pages, with pictures, are for changes of the pages.
        steps.run("browser, a short form", || TestBrowser { short: true }.run())?;
        if !self.all {
            return Ok(());
        }
        steps.run("clients of tools, a short form", || with_servers(&["test-mcp", "--short"]))?;
        steps.run("generated clients", || with_servers(&["test-clients"]))?;
        steps.run("attacks, a short form", || {
            with_servers(&["attack", "--debug", "--requests", "2000", "--seconds", "2"])
        })?;
        // A subset. The full run is for changes of the API and for releases.
        steps.run("fuzzing, a short form", || with_servers(&["fuzz-api", "--short"]))
    }
}

/// Completed steps.
#[derive(Default)]
struct Steps {
    /// Their names and durations.
    done: Vec<(&'static str, Duration)>,
    /// What could not be checked. It is the last line, so that nobody overlooks it.
    unchecked: Option<String>,
}

impl Steps {
    fn run(&mut self, name: &'static str, check: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
        let started = Instant::now();
        eprintln!("== {name}");
        let checked = check();
        let took = started.elapsed();
        self.done.push((name, took));
        let outcome = if checked.is_ok() { "good" } else { "FAILED" };
        eprintln!("== {name}: {outcome} after {:.1} min", minutes(took));
        checked
    }

    fn print(&self) {
        eprintln!("\n{:30} minutes", "step");
        for (name, took) in &self.done {
            eprintln!("{name:30} {:7.1}", minutes(*took));
        }
        eprintln!("{:30} {:7.1}", "all", minutes(self.done.iter().map(|(_, took)| *took).sum()));
        if let Some(sentence) = &self.unchecked {
            eprintln!("{sentence}");
        }
    }
}

fn minutes(time: Duration) -> f64 {
    time.as_secs_f64() / 60.0
}
