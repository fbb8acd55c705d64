//! Team members.

use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::member::Member;
use roadmap_domain::ports::MemberReader;
use roadmap_store::columns::Id;

use crate::SqliteStore;
use crate::rows::load_members;

#[async_trait]
impl MemberReader for SqliteStore {
    async fn members(&self, workspace: WorkspaceId) -> Result<Vec<Member>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows = self.readers.run(move |connection| load_members(connection, workspace)).await?;
        rows.into_iter().map(Member::try_from).collect()
    }
}
