//! Attachments.

use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, QueryDsl};
use diesel::sql_types::Bool;
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::AttachmentReader;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::AttachmentRow;

use crate::PostgresReader;
use crate::pictures::{is_in_text, is_new_picture};
use crate::rows::attachment_columns;
use crate::schema::{attachments, changelogs as all_changelogs, portal_settings};

#[async_trait]
impl AttachmentReader for PostgresReader {
    async fn attachment(&self, workspace: WorkspaceId, id: AttachmentId) -> Result<Option<Attachment>, StoreError> {
        let session = self.session(workspace).await?;
        let attachment = attachments::table
            .filter(attachments::workspace_id.eq(workspace.uuid()))
            .filter(attachments::id.eq(id.uuid()))
            .filter(attachments::job_id.is_null())
            .select(attachment_columns());
        let row: Option<AttachmentRow> = session.run_optional(attachment.first(&mut session.connection()?)).await?;
        row.map(Attachment::try_from).transpose()
    }

    async fn public_image(
        &self,
        workspace: WorkspaceId,
        image: AttachmentId,
        now: Timestamp,
    ) -> Result<Option<Attachment>, StoreError> {
        let session = self.session(workspace).await?;
        let (workspace, image) = (workspace.uuid(), image.uuid());
        let covers = all_changelogs::table
            .filter(all_changelogs::workspace_id.eq(workspace))
            .filter(all_changelogs::cover_attachment_id.eq(image))
            .filter(all_changelogs::published_at.le(TimestampColumn::from(now)));
        let logo = portal_settings::table
            .filter(portal_settings::workspace_id.eq(workspace))
            .filter(portal_settings::logo_attachment_id.eq(image));
        let select = attachments::table
            .filter(attachments::workspace_id.eq(workspace))
            .filter(attachments::id.eq(image))
            .filter(diesel::dsl::exists(covers).or(diesel::dsl::exists(logo)))
            .select(attachment_columns());
        let row: Option<AttachmentRow> = session.run_optional(select.first(&mut session.connection()?)).await?;
        row.map(Attachment::try_from).transpose()
    }

    async fn picture(
        &self,
        workspace: WorkspaceId,
        picture: AttachmentId,
        since: Timestamp,
    ) -> Result<Option<Attachment>, StoreError> {
        let session = self.session(workspace).await?;
        let is_new = attachments::created_at.gt(TimestampColumn::from(since)).and(sql::<Bool>(is_new_picture!()));
        let select = attachments::table
            .filter(attachments::workspace_id.eq(workspace.uuid()))
            .filter(attachments::id.eq(picture.uuid()))
            .filter(attachments::picture_by.is_not_null())
            .filter(sql::<Bool>(is_in_text!()).or(is_new))
            .select(attachment_columns());
        let row: Option<AttachmentRow> = session.run_optional(select.first(&mut session.connection()?)).await?;
        row.map(Attachment::try_from).transpose()
    }
}
