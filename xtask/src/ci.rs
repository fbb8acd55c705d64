//! `cargo xtask ci`

use std::fs;
use std::process::Command;
use std::time::Instant;

use crate::attack::Attack;
use crate::deny::Deny;
use crate::fuzz_api::FuzzApi;
use crate::openapi::OpenApi;
use crate::run::{cargo, output, root};
use crate::test::Test;
use crate::{coverage, layers, migrations, packaging, test_browser, test_proxies};

/// Where a good run leaves the commit that it was for.
const PASSED_FILE: &str = "target/ci-green";

/// Everything that a change must pass, the cheap checks first. A good run of a tree without changes leaves a proof of it,
/// which `cargo xtask release` takes.
pub(crate) fn run() -> anyhow::Result<()> {
    let before = clean_commit();
    checks()?;
    if let Some(commit) = before.filter(|commit| clean_commit().as_ref() == Some(commit)) {
        fs::write(root().join(PASSED_FILE), commit)?;
    }
    Ok(())
}

/// Whether there was a good run for this commit.
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

fn checks() -> anyhow::Result<()> {
    step("format", || cargo(&["fmt", "--all", "--check"], &[]))?;
    step("layers", layers::run)?;
    step("contract coverage", coverage::run)?;
    step("packaging", packaging::run)?;
    step("dependencies", || Deny::default().run())?;
    step("lints", || {
        cargo(
            &["clippy", "--workspace", "--all-targets", "--all-features", "--locked", "--", "--deny", "warnings"],
            &[],
        )
    })?;
    step("documentation", || cargo(&["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"], &[]))?;
    step("document of the API", || OpenApi { check: true }.run())?;
    step("migrations", migrations::run)?;
    step("tests", || Test::default().run())?;
    step("proxies", test_proxies::run)?;
    step("browser", test_browser::run)?;
    step("attacks, a short form", || Attack::short().run())?;
    // A slice: the rest of the time is for whoever changes the API.
    step("calls from the document", || FuzzApi::slice(1).run())
}

fn step(name: &str, check: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let started = Instant::now();
    eprintln!("== {name}");
    check()?;
    eprintln!("== {name}: good after {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}
