//! Team members.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::{MemberId, WorkspaceId};
use roadmap_domain::model::member::Member;
use roadmap_domain::model::saved_view::SavedViews;
use roadmap_domain::model::team_mail::TeamMail;
use roadmap_domain::ports::MemberReader;
use roadmap_store::columns::{Id, inconsistent};

use crate::SqliteStore;
use crate::rows::load_members;
use crate::schema::members;

#[async_trait]
impl MemberReader for SqliteStore {
    async fn members(&self, workspace: WorkspaceId) -> Result<Vec<Member>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows = self.readers.run(move |connection| load_members(connection, workspace)).await?;
        rows.into_iter().map(Member::try_from).collect()
    }

    async fn team_mail(
        &self,
        workspace: WorkspaceId,
        member: MemberId,
    ) -> Result<Option<(EmailAddress, TeamMail)>, StoreError> {
        let (workspace, member) = (Id(workspace.uuid()), Id(member.uuid()));
        let row: Option<(String, String)> = self
            .readers
            .run(move |connection| {
                let select = members::table
                    .find((workspace, member))
                    .filter(members::removed_at.is_null())
                    .select((members::email, members::team_mail));
                Ok(select.first(connection).optional()?)
            })
            .await?;
        let Some((email, wanted)) = row else { return Ok(None) };
        let wanted = TeamMail::from_name(&wanted).ok_or_else(|| inconsistent("members", "team_mail", member))?;
        Ok(Some((EmailAddress::from_stored(email), wanted)))
    }

    async fn saved_views(&self, workspace: WorkspaceId, member: MemberId) -> Result<SavedViews, StoreError> {
        let (workspace, member) = (Id(workspace.uuid()), Id(member.uuid()));
        let select = members::table.find((workspace, member)).select(members::saved_views);
        let stored: Option<String> =
            self.readers.run(move |connection| Ok(select.first(connection).optional()?)).await?;
        Ok(SavedViews::from_stored(&stored.unwrap_or_default()))
    }
}
