//! Attachments.

use async_trait::async_trait;
use diesel::dsl::{exists, sql};
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::Bool;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::AttachmentReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::AttachmentRow;

use crate::SqliteStore;
use crate::pictures::{is_in_text, is_new_picture};
use crate::rows::attachment_columns;
use crate::schema::{attachments, changelogs, portal_settings};

#[async_trait]
impl AttachmentReader for SqliteStore {
    async fn attachment(&self, workspace: WorkspaceId, id: AttachmentId) -> Result<Option<Attachment>, StoreError> {
        let (workspace, attachment) = (Id(workspace.uuid()), Id(id.uuid()));
        let row: Option<AttachmentRow> = self
            .readers
            .run(move |connection| {
                let row = attachments::table.find((workspace, attachment)).filter(attachments::job_id.is_null());
                Ok(row.select(attachment_columns()).first(connection).optional()?)
            })
            .await?;
        row.map(Attachment::try_from).transpose()
    }

    async fn public_image(
        &self,
        workspace: WorkspaceId,
        image: AttachmentId,
        now: Timestamp,
    ) -> Result<Option<Attachment>, StoreError> {
        let (workspace, attachment) = (Id(workspace.uuid()), Id(image.uuid()));
        let row: Option<AttachmentRow> = self
            .readers
            .run(move |connection| {
                let covers = changelogs::table
                    .filter(changelogs::workspace_id.eq(workspace))
                    .filter(changelogs::cover_attachment_id.eq(attachment))
                    .filter(changelogs::published_at.le(now.millis()));
                let logos = portal_settings::table
                    .filter(portal_settings::workspace_id.eq(workspace))
                    .filter(portal_settings::logo_attachment_id.eq(attachment));
                let row = attachments::table
                    .find((workspace, attachment))
                    .filter(exists(covers).or(exists(logos)))
                    .select(attachment_columns());
                Ok(row.first(connection).optional()?)
            })
            .await?;
        row.map(Attachment::try_from).transpose()
    }

    async fn picture(
        &self,
        workspace: WorkspaceId,
        picture: AttachmentId,
        since: Timestamp,
    ) -> Result<Option<Attachment>, StoreError> {
        let (workspace, attachment) = (Id(workspace.uuid()), Id(picture.uuid()));
        let row: Option<AttachmentRow> = self
            .readers
            .run(move |connection| {
                let is_new = attachments::created_at.gt(since.millis()).and(sql::<Bool>(is_new_picture!()));
                let row = attachments::table
                    .find((workspace, attachment))
                    .filter(attachments::picture_by.is_not_null())
                    .filter(sql::<Bool>(is_in_text!()).or(is_new))
                    .select(attachment_columns());
                Ok(row.first(connection).optional()?)
            })
            .await?;
        row.map(Attachment::try_from).transpose()
    }
}
