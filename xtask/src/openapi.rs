//! `cargo xtask openapi`: the OpenAPI document, as the service itself prints it.

use std::process::Command;

use anyhow::{Context, ensure};

use crate::run::{output, root, service};

/// Path of the committed document.
const DOCUMENT: &str = "docs/openapi.json";

/// Without flags, writes docs/openapi.json
#[derive(Debug, Default, clap::Args)]
pub(crate) struct OpenApi {
    /// Fail when docs/openapi.json is not up to date, and write nothing
    #[arg(long)]
    pub(crate) check: bool,
}

impl OpenApi {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        // The binary prints the document, so that xtask does not depend on the crates of the service.
        let printed = output(Command::new(service()?).arg("openapi"), "roadmap openapi")?;
        let path = root().join(DOCUMENT);
        if self.check {
            let committed = std::fs::read(&path).with_context(|| format!("{DOCUMENT} cannot be read"))?;
            ensure!(
                committed == printed,
                "{DOCUMENT} is out of date: run `cargo xtask openapi` and commit what it writes"
            );
            return Ok(());
        }
        std::fs::write(&path, printed).with_context(|| format!("{DOCUMENT} cannot be written"))
    }
}
