//! Writes exports.

use roadmap_domain::model::id::{ExportId, WorkspaceId};

use super::Jobs;

/// Writes an export, unless another process does it.
pub(super) async fn run(_jobs: &Jobs, _workspace: WorkspaceId, _id: ExportId) -> anyhow::Result<()> {
    Ok(())
}
