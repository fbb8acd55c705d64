//! Team members.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::{MemberId, WorkspaceId};
use roadmap_domain::model::member::Member;
use roadmap_domain::model::saved_view::SavedViews;
use roadmap_domain::model::team_mail::TeamMail;
use roadmap_domain::ports::MemberReader;
use roadmap_store::columns::{Id, inconsistent};
use roadmap_store::rows::MemberRow;

use crate::PostgresReader;
use crate::rows::member_columns;
use crate::schema::members;

#[async_trait]
impl MemberReader for PostgresReader {
    async fn members(&self, workspace: WorkspaceId) -> Result<Vec<Member>, StoreError> {
        let session = self.session(workspace).await?;
        let members = members::table
            .filter(members::workspace_id.eq(workspace.uuid()))
            .filter(members::removed_at.is_null())
            .order((members::created_at, members::id))
            .select(member_columns());
        let rows: Vec<MemberRow> = session.run(members.load(&mut session.connection()?)).await?;
        rows.into_iter().map(Member::try_from).collect()
    }

    async fn team_mail(
        &self,
        workspace: WorkspaceId,
        member: MemberId,
    ) -> Result<Option<(EmailAddress, TeamMail)>, StoreError> {
        let session = self.session(workspace).await?;
        let select = members::table
            .find((workspace.uuid(), member.uuid()))
            .filter(members::removed_at.is_null())
            .select((members::email, members::team_mail));
        let row: Option<(String, String)> = session.run_optional(select.first(&mut session.connection()?)).await?;
        let Some((email, wanted)) = row else { return Ok(None) };
        let wanted = TeamMail::from_name(&wanted);
        let wanted = wanted.ok_or_else(|| inconsistent("members", "team_mail", Id(member.uuid())))?;
        Ok(Some((EmailAddress::from_stored(email), wanted)))
    }

    async fn saved_views(&self, workspace: WorkspaceId, member: MemberId) -> Result<SavedViews, StoreError> {
        let session = self.session(workspace).await?;
        let select = members::table.find((workspace.uuid(), member.uuid())).select(members::saved_views);
        let stored: Option<String> = session.run_optional(select.first(&mut session.connection()?)).await?;
        Ok(SavedViews::from_stored(&stored.unwrap_or_default()))
    }
}
