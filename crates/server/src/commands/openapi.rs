//! `roadmap openapi`

use super::output::print;

#[derive(Debug, clap::Args)]
pub(crate) struct OpenApi {}

impl OpenApi {
    /// Prints the OpenAPI document. It needs neither settings nor data.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        print(roadmap_api::openapi::document().trim_end())
    }
}
