//! `cargo xtask test-browser`: opens hostile files, comments and mails, all pages, and the samples of mails, in a real
//! browser.
//!
//! `run.mjs`, `pages.mjs` and `mails.mjs` of `tests/browser` drive the browser by libraries from npm, which are installed
//! under `target/`.

use std::process::Command;

use anyhow::{Context, ensure};

use crate::node::{copy_programs, install_packages};
use crate::run::{finish, install, root, service};

/// Names of the browser's program in different distributions.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The samples of all mails.
const MAIL_SAMPLES: &str = "docs/mail-samples";

/// The table of the pages. A form in it that no test sends is a failure.
const ROUTES: &str = "crates/web/src/routes.rs";

#[derive(Debug, clap::Args)]
pub(crate) struct TestBrowser {
    /// Take no pictures, open each page in one of four combinations of language, theme and width, and show a third of the
    /// hostile content
    #[arg(long)]
    pub(crate) short: bool,
}

impl TestBrowser {
    /// Builds the service, and opens hostile content and all pages.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let folder = copy_programs("browser", "the browser tests")?;
        let browser = browser()?;
        // No browser is downloaded: the library uses the installed one.
        install_packages(&folder, &[])?;
        let service = service()?;
        let node = |script: &str| {
            let mut command = Command::new("node");
            command.arg(script).arg(&service).arg(&browser).current_dir(&folder);
            command
        };
        // Both at the same time, because each waits for its browser and its service most of the time.
        let mut hostile = node("run.mjs").spawn().context("`node run.mjs` cannot be started")?;
        let short = self.short.then_some("--short");
        let pages = finish(node("pages.mjs").arg(root().join(ROUTES)).args(short), "node pages.mjs");
        let mut mails = Command::new("node");
        mails.arg("mails.mjs").args(short).arg(&browser).arg(root().join(MAIL_SAMPLES)).current_dir(&folder);
        let mails = finish(&mut mails, "node mails.mjs");
        let status = hostile.wait()?;
        ensure!(status.success(), "`node run.mjs` failed");
        pages.and(mails)
    }
}

/// Returns the browser's program. A missing browser is installed.
fn browser() -> anyhow::Result<String> {
    if find().is_none() {
        install("chromium", "install Chromium or Chrome")?;
    }
    find().context("Chromium was installed and cannot be found")
}

fn find() -> Option<String> {
    let paths = std::env::var_os("PATH")?;
    let candidates = BROWSERS.iter().flat_map(|name| std::env::split_paths(&paths).map(move |path| path.join(name)));
    candidates.into_iter().find(|path| path.is_file())?.to_str().map(str::to_owned)
}
