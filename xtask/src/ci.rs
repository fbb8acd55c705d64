//! `cargo xtask ci`

use std::time::Instant;

use crate::fuzz_api::FuzzApi;
use crate::openapi::OpenApi;
use crate::run::cargo;
use crate::test::Test;
use crate::{coverage, layers, migrations, test_browser};

/// Everything that a change must pass, the cheap checks first.
pub(crate) fn run() -> anyhow::Result<()> {
    step("format", || cargo(&["fmt", "--all", "--check"], &[]))?;
    step("layers", layers::run)?;
    step("contract coverage", coverage::run)?;
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
    step("browser", test_browser::run)?;
    // A slice: the rest of the time is for whoever changes the API.
    step("calls from the document", || FuzzApi { minutes: Some(1), ..FuzzApi::default() }.run())
}

fn step(name: &str, check: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let started = Instant::now();
    eprintln!("== {name}");
    check()?;
    eprintln!("== {name}: good after {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}
