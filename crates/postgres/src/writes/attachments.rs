//! Attachments.

use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Bool, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Dimensions, Filename, UnusedAttachment};
use roadmap_domain::model::changelog::CoverImage;
use roadmap_domain::model::id::AttachmentId;
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::model::picture::{Picture, PictureBy};
use roadmap_domain::ports::{AttachmentDeletion, AttachmentWrites};
use roadmap_store::columns::{TimestampColumn, inconsistent};
use uuid::Uuid;

use crate::pictures::is_kept_by_text;
use crate::schema::{attachments, changelogs, portal_settings, text_pictures};
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Whether a text has a picture, also one that can be restored.
    IsInText { workspace: Uuid => SqlUuid, attachment: Uuid => SqlUuid } -> Bool,
    concat!("SELECT count(*) > 0 FROM attachments WHERE workspace_id = {workspace} AND id = {attachment} AND ",
        is_kept_by_text!())
}

statement! {
    /// Sums up the sizes of the pictures of customers.
    CustomerPictureBytes { workspace: Uuid => SqlUuid } -> BigInt,
    "SELECT coalesce(sum(byte_size), 0)::bigint FROM attachments
     WHERE workspace_id = {workspace} AND picture_by = 'customer'"
}

fn uuids(pictures: &[AttachmentId]) -> Vec<Uuid> {
    pictures.iter().map(|picture| picture.uuid()).collect()
}

#[async_trait]
impl AttachmentWrites for PostgresUnit {
    async fn insert_attachment(
        &mut self,
        attachment: &Attachment,
        picture_by: Option<PictureBy>,
    ) -> Result<(), StoreError> {
        let values = (
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
            attachments::picture_by.eq(picture_by.map(PictureBy::name)),
            attachments::created_at.eq(TimestampColumn::from(attachment.created_at)),
        );
        let insert = diesel::insert_into(attachments::table).values(values).on_conflict_do_nothing();
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn find_cover(&mut self, attachment: AttachmentId) -> Result<Option<(CoverImage, MediaType)>, StoreError> {
        // The lock keeps the sweep, which deletes unused files, from deleting this one until the unit ends.
        let file = attachments::table
            .filter(attachments::workspace_id.eq(self.workspace))
            .filter(attachments::id.eq(attachment.uuid()))
            .filter(attachments::job_id.is_null())
            .select((attachments::filename, attachments::content_type))
            .for_key_share();
        let row: Option<(String, String)> = self.run_optional(file.first(&mut self.connection()?)).await?;
        Ok(row.map(|(filename, media_type)| {
            let filename = Filename::from_stored(filename);
            (CoverImage { attachment, filename }, MediaType::from_stored(media_type))
        }))
    }

    async fn find_pictures(&mut self, pictures: &[AttachmentId]) -> Result<Vec<Picture>, StoreError> {
        // The lock keeps the sweep from deleting them until the unit ends.
        let select = attachments::table
            .filter(attachments::workspace_id.eq(self.workspace))
            .filter(attachments::id.eq_any(uuids(pictures)))
            .filter(attachments::picture_by.is_not_null())
            .select((attachments::id, attachments::width, attachments::height))
            .for_key_share();
        let rows: Vec<(Uuid, Option<i64>, Option<i64>)> = self.run(select.load(&mut self.connection()?)).await?;
        let picture = |(id, width, height)| Picture {
            id: AttachmentId::new(id),
            dimensions: Dimensions::from_stored(width, height),
        };
        Ok(rows.into_iter().map(picture).collect())
    }

    async fn set_pictures(&mut self, record: Uuid, pictures: &[AttachmentId]) -> Result<(), StoreError> {
        let of_record = text_pictures::table
            .filter(text_pictures::workspace_id.eq(self.workspace))
            .filter(text_pictures::record_id.eq(record));
        self.run(diesel::delete(of_record).execute(&mut self.connection()?)).await?;
        let row = |picture| {
            (
                text_pictures::workspace_id.eq(self.workspace),
                text_pictures::record_id.eq(record),
                text_pictures::attachment_id.eq(picture),
            )
        };
        let rows: Vec<_> = uuids(pictures).into_iter().map(row).collect();
        if !rows.is_empty() {
            let insert = diesel::insert_into(text_pictures::table).values(rows).on_conflict_do_nothing();
            self.run(insert.execute(&mut self.connection()?)).await?;
        }
        Ok(())
    }

    async fn customer_picture_bytes(&mut self) -> Result<u64, StoreError> {
        let sum = CustomerPictureBytes { workspace: self.workspace };
        let bytes: i64 = self.run(sum.get_result(&mut self.connection()?)).await?;
        Ok(bytes.unsigned_abs())
    }

    /// Locks the row with one statement and looks for its uses with the next. A changelog that took the file as its cover
    /// in between has committed by then, and is seen; so has a portal that took it as its logo.
    async fn delete_attachment(&mut self, attachment: AttachmentId) -> Result<AttachmentDeletion, StoreError> {
        let lock = attachments::table
            .filter(attachments::workspace_id.eq(self.workspace))
            .filter(attachments::id.eq(attachment.uuid()))
            .filter(attachments::job_id.is_null())
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
        let is_in_text = IsInText { workspace: self.workspace, attachment: attachment.uuid() };
        let is_in_text: bool = self.run(is_in_text.get_result(&mut self.connection()?)).await?;
        if is_cover || is_logo || is_in_text {
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
