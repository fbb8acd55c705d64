//! Does imports.

use roadmap_domain::model::id::{ImportId, WorkspaceId};

use super::Jobs;

/// Does an import, unless another process does it.
pub(super) async fn run(_jobs: &Jobs, _workspace: WorkspaceId, _id: ImportId) -> anyhow::Result<()> {
    Ok(())
}
