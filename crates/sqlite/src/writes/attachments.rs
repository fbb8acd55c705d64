//! Attachments.

use async_trait::async_trait;
use diesel::dsl::{exists, select};
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Filename, UnusedAttachment};
use roadmap_domain::model::changelog::CoverImage;
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::ports::{AttachmentDeletion, AttachmentWrites};
use roadmap_store::columns::Id;

use crate::schema::{attachments, changelogs, portal_settings};
use crate::unit::SqliteUnit;

#[async_trait]
impl AttachmentWrites for SqliteUnit {
    async fn insert_attachment(&mut self, attachment: &Attachment) -> Result<(), StoreError> {
        let attachment = attachment.clone();
        self.run(move |connection, workspace| {
            diesel::insert_into(attachments::table)
                .values((
                    attachments::workspace_id.eq(workspace),
                    attachments::id.eq(Id(attachment.id.uuid())),
                    attachments::filename.eq(attachment.filename.as_str()),
                    attachments::content_type.eq(attachment.media_type.as_str()),
                    attachments::byte_size.eq(attachment.byte_size.cast_signed()),
                    attachments::checksum.eq(attachment.checksum.0.to_vec()),
                    attachments::key.eq(attachment.key.to_string()),
                    attachments::service_name.eq(&attachment.service_name),
                    attachments::width.eq(attachment.dimensions.map(|size| i64::from(size.width))),
                    attachments::height.eq(attachment.dimensions.map(|size| i64::from(size.height))),
                    attachments::created_at.eq(attachment.created_at.millis()),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn find_cover(&mut self, attachment: AttachmentId) -> Result<Option<(CoverImage, MediaType)>, StoreError> {
        self.run(move |connection, workspace| {
            let row: Option<(String, String)> = attachments::table
                .filter(attachments::workspace_id.eq(workspace))
                .filter(attachments::id.eq(Id(attachment.uuid())))
                .select((attachments::filename, attachments::content_type))
                .first(connection)
                .optional()?;
            Ok(row.map(|(filename, media_type)| {
                let filename = Filename::from_stored(filename);
                (CoverImage { attachment, filename }, MediaType::from_stored(media_type))
            }))
        })
        .await
    }

    async fn delete_attachment(&mut self, attachment: AttachmentId) -> Result<AttachmentDeletion, StoreError> {
        self.run(move |connection, workspace| {
            let id = Id(attachment.uuid());
            let row = attachments::table.find((workspace, id));
            let byte_size: Option<i64> = row.select(attachments::byte_size).first(connection).optional()?;
            let Some(byte_size) = byte_size else { return Ok(AttachmentDeletion::NotFound) };
            let covers = changelogs::table
                .filter(changelogs::workspace_id.eq(workspace))
                .filter(changelogs::cover_attachment_id.eq(id));
            let logos = portal_settings::table
                .filter(portal_settings::workspace_id.eq(workspace))
                .filter(portal_settings::logo_attachment_id.eq(id));
            if select(exists(covers).or(exists(logos))).get_result::<bool>(connection)? {
                return Ok(AttachmentDeletion::InUse);
            }
            diesel::delete(row).execute(connection)?;
            let key = BlobKey { workspace: WorkspaceId::new(workspace.0), attachment };
            Ok(AttachmentDeletion::Deleted(UnusedAttachment { key, byte_size: byte_size.unsigned_abs() }))
        })
        .await
    }
}
