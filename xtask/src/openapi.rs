//! `cargo xtask openapi`: the OpenAPI document and the list of the tools of agents, as the service itself prints them.

use std::process::Command;

use anyhow::{Context, ensure};

use crate::run::{output, root, service};

/// Paths of the committed documents, with the commands that print them.
const DOCUMENTS: [(&str, &[&str]); 2] =
    [("docs/openapi.json", &["openapi"]), ("docs/mcp-tools.json", &["mcp", "tools", "--json"])];

/// Without flags, writes docs/openapi.json and docs/mcp-tools.json
#[derive(Debug, clap::Args)]
pub(crate) struct OpenApi {
    /// Fail when one of them is not up to date, and write nothing
    #[arg(long)]
    pub(crate) check: bool,
}

impl OpenApi {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let service = service()?;
        for (document, command) in DOCUMENTS {
            // The binary prints the document, so that xtask does not depend on the crates of the service.
            let printed = output(Command::new(&service).args(command), &format!("roadmap {}", command.join(" ")))?;
            let path = root().join(document);
            if self.check {
                let committed = std::fs::read(&path).with_context(|| format!("{document} cannot be read"))?;
                ensure!(
                    committed == printed,
                    "{document} is out of date: run `cargo xtask openapi` and commit what it writes"
                );
            } else {
                std::fs::write(&path, printed).with_context(|| format!("{document} cannot be written"))?;
            }
        }
        Ok(())
    }
}
