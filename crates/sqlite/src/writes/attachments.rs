//! Attachments.

use async_trait::async_trait;
use diesel::dsl::{exists, select};
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Dimensions, Filename, UnusedAttachment};
use roadmap_domain::model::changelog::CoverImage;
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::model::picture::{Picture, PictureBy};
use roadmap_domain::ports::{AttachmentDeletion, AttachmentWrites};
use roadmap_store::columns::Id;
use uuid::Uuid;

use crate::pictures::is_kept_by_text;
use crate::schema::{attachments, changelogs, portal_settings, text_pictures};
use crate::statement::statement;
use crate::unit::SqliteUnit;

statement! {
    /// Whether a text has a picture, also one that can be restored.
    IsInText { workspace: Id => Binary, attachment: Id => Binary } -> Bool,
    concat!("SELECT count(*) > 0 FROM attachments WHERE workspace_id = ? AND id = ? AND ", is_kept_by_text!())
}

statement! {
    /// Sums up the sizes of the pictures of customers.
    CustomerPictureBytes { workspace: Id => Binary } -> BigInt,
    "SELECT coalesce(sum(byte_size), 0) FROM attachments WHERE workspace_id = ? AND picture_by = 'customer'"
}

#[async_trait]
impl AttachmentWrites for SqliteUnit {
    async fn insert_attachment(
        &mut self,
        attachment: &Attachment,
        picture_by: Option<PictureBy>,
    ) -> Result<(), StoreError> {
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
                    attachments::picture_by.eq(picture_by.map(PictureBy::name)),
                    attachments::created_at.eq(attachment.created_at.millis()),
                ))
                .on_conflict_do_nothing()
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
                .filter(attachments::job_id.is_null())
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

    async fn find_pictures(&mut self, pictures: &[AttachmentId]) -> Result<Vec<Picture>, StoreError> {
        let ids: Vec<Id> = pictures.iter().map(|picture| Id(picture.uuid())).collect();
        self.run(move |connection, workspace| {
            let rows: Vec<(Id, Option<i64>, Option<i64>)> = attachments::table
                .filter(attachments::workspace_id.eq(workspace))
                .filter(attachments::id.eq_any(ids))
                .filter(attachments::picture_by.is_not_null())
                .select((attachments::id, attachments::width, attachments::height))
                .load(connection)?;
            let picture = |(id, width, height): (Id, _, _)| Picture {
                id: AttachmentId::new(id.0),
                dimensions: Dimensions::from_stored(width, height),
            };
            Ok(rows.into_iter().map(picture).collect())
        })
        .await
    }

    async fn set_pictures(&mut self, record: Uuid, pictures: &[AttachmentId]) -> Result<(), StoreError> {
        let ids: Vec<Id> = pictures.iter().map(|picture| Id(picture.uuid())).collect();
        self.run(move |connection, workspace| {
            let of_record = text_pictures::table
                .filter(text_pictures::workspace_id.eq(workspace))
                .filter(text_pictures::record_id.eq(Id(record)));
            diesel::delete(of_record).execute(connection)?;
            for id in ids {
                let row = (
                    text_pictures::workspace_id.eq(workspace),
                    text_pictures::record_id.eq(Id(record)),
                    text_pictures::attachment_id.eq(id),
                );
                diesel::insert_into(text_pictures::table).values(row).on_conflict_do_nothing().execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn customer_picture_bytes(&mut self) -> Result<u64, StoreError> {
        self.run(move |connection, workspace| {
            let bytes: i64 = CustomerPictureBytes { workspace }.get_result(connection)?;
            Ok(bytes.unsigned_abs())
        })
        .await
    }

    async fn delete_attachment(&mut self, attachment: AttachmentId) -> Result<AttachmentDeletion, StoreError> {
        self.run(move |connection, workspace| {
            let id = Id(attachment.uuid());
            let row = attachments::table.find((workspace, id));
            let uploaded = row.filter(attachments::job_id.is_null()).select(attachments::byte_size);
            let byte_size: Option<i64> = uploaded.first(connection).optional()?;
            let Some(byte_size) = byte_size else { return Ok(AttachmentDeletion::NotFound) };
            let covers = changelogs::table
                .filter(changelogs::workspace_id.eq(workspace))
                .filter(changelogs::cover_attachment_id.eq(id));
            let logos = portal_settings::table
                .filter(portal_settings::workspace_id.eq(workspace))
                .filter(portal_settings::logo_attachment_id.eq(id));
            let is_in_text = IsInText { workspace, attachment: id }.get_result::<bool>(connection)?;
            if is_in_text || select(exists(covers).or(exists(logos))).get_result::<bool>(connection)? {
                return Ok(AttachmentDeletion::InUse);
            }
            diesel::delete(row).execute(connection)?;
            let key = BlobKey { workspace: WorkspaceId::new(workspace.0), attachment };
            Ok(AttachmentDeletion::Deleted(UnusedAttachment { key, byte_size: byte_size.unsigned_abs() }))
        })
        .await
    }
}
