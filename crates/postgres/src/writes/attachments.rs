//! Attachments.

use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Filename, UnusedAttachment};
use roadmap_domain::model::changelog::CoverImage;
use roadmap_domain::model::id::AttachmentId;
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::ports::{AttachmentDeletion, AttachmentWrites};
use roadmap_store::columns::{TimestampColumn, inconsistent};

use crate::schema::{attachments, changelogs, portal_settings};
use crate::unit::PostgresUnit;

#[async_trait]
impl AttachmentWrites for PostgresUnit {
    async fn insert_attachment(&mut self, attachment: &Attachment) -> Result<(), StoreError> {
        let insert = diesel::insert_into(attachments::table).values((
            attachments::workspace_id.eq(self.workspace),
            attachments::id.eq(attachment.id.uuid()),
            attachments::filename.eq(attachment.filename.as_str()),
            attachments::content_type.eq(attachment.media_type.as_str()),
            attachments::byte_size.eq(attachment.byte_size.cast_signed()),
            attachments::checksum.eq(attachment.checksum.0.to_vec()),
            attachments::key.eq(attachment.key.to_string()),
            attachments::service_name.eq(attachment.service_name.as_str()),
            attachments::width.eq(attachment.dimensions.map(|size| i64::from(size.width))),
            attachments::height.eq(attachment.dimensions.map(|size| i64::from(size.height))),
            attachments::created_at.eq(TimestampColumn::from(attachment.created_at)),
        ));
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn find_cover(&mut self, attachment: AttachmentId) -> Result<Option<(CoverImage, MediaType)>, StoreError> {
        // The lock keeps the sweep, which deletes unused files, from deleting this one until the unit ends.
        let file = attachments::table
            .filter(attachments::workspace_id.eq(self.workspace))
            .filter(attachments::id.eq(attachment.uuid()))
            .select((attachments::filename, attachments::content_type))
            .for_key_share();
        let row: Option<(String, String)> = self.run_optional(file.first(&mut self.connection()?)).await?;
        Ok(row.map(|(filename, media_type)| {
            let filename = Filename::from_stored(filename);
            (CoverImage { attachment, filename }, MediaType::from_stored(media_type))
        }))
    }

    /// Locks the row with one statement and looks for its uses with the next. A changelog that took the file as its cover
    /// in between has committed by then, and is seen; so has a portal that took it as its logo.
    async fn delete_attachment(&mut self, attachment: AttachmentId) -> Result<AttachmentDeletion, StoreError> {
        let lock = attachments::table
            .filter(attachments::workspace_id.eq(self.workspace))
            .filter(attachments::id.eq(attachment.uuid()))
            .select((attachments::key, attachments::byte_size))
            .for_update();
        let file: Option<(String, i64)> = self.run_optional(lock.first(&mut self.connection()?)).await?;
        let Some((key, byte_size)) = file else { return Ok(AttachmentDeletion::NotFound) };
        let covers = changelogs::table
            .filter(changelogs::workspace_id.eq(self.workspace))
            .filter(changelogs::cover_attachment_id.eq(attachment.uuid()));
        let logo = portal_settings::table
            .filter(portal_settings::workspace_id.eq(self.workspace))
            .filter(portal_settings::logo_attachment_id.eq(attachment.uuid()));
        let uses = diesel::select((exists(covers), exists(logo)));
        let (is_cover, is_logo): (bool, bool) = self.run(uses.get_result(&mut self.connection()?)).await?;
        if is_cover || is_logo {
            return Ok(AttachmentDeletion::InUse);
        }
        let key = BlobKey::parse(&key).ok_or_else(|| inconsistent("attachments", "key", attachment))?;
        let delete = diesel::delete(attachments::table)
            .filter(attachments::workspace_id.eq(self.workspace))
            .filter(attachments::id.eq(attachment.uuid()));
        self.run(delete.execute(&mut self.connection()?)).await?;
        Ok(AttachmentDeletion::Deleted(UnusedAttachment { key, byte_size: byte_size.unsigned_abs() }))
    }
}
