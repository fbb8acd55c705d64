//! Attachments, contract section 2.7.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::id::WorkspaceId;
use serde::Serialize;
use utoipa::ToSchema;

use super::Links;

/// An uploaded file.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Attachment)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1)]
    filename: &'a str,
    /// Detected from the content. The declared type is used only if the content does not show one.
    #[schema(min_length = 1)]
    content_type: &'a str,
    #[schema(maximum = 52_428_800)]
    byte_size: u64,
    /// MD5 in Base64.
    #[schema(pattern = "^[A-Za-z0-9+/]{22}==$")]
    checksum: String,
    /// The key of the content in the storage.
    #[schema(min_length = 1)]
    key: String,
    /// The name of the storage.
    #[schema(min_length = 1)]
    service_name: &'a str,
    metadata: Metadata,
    #[schema(format = DateTime)]
    created_at: String,
    /// The reference for rich text.
    #[schema(min_length = 1)]
    attachable_sgid: String,
    /// The reference for `cover_image_signed_id`.
    #[schema(min_length = 1)]
    signed_id: String,
    /// The URL that opens the file.
    #[schema(format = "uri")]
    blob_url: String,
}

/// Metadata of a file.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AttachmentMetadata)]
pub(crate) struct Metadata {
    #[schema(format = "uuid")]
    workspace_id: String,
    /// The type was detected.
    identified: bool,
    /// The size in pixels was read, if the file has one.
    analyzed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32)]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32)]
    height: Option<u32>,
}

fn metadata(workspace: WorkspaceId, attachment: &Attachment) -> Metadata {
    Metadata {
        workspace_id: workspace.to_string(),
        identified: true,
        analyzed: true,
        width: attachment.dimensions.map(|size| size.width),
        height: attachment.dimensions.map(|size| size.height),
    }
}

pub(crate) fn created(attachment: &Attachment, links: &Links) -> HttpResponse {
    HttpResponse::build(StatusCode::CREATED).json(fields(attachment, links))
}

pub(crate) fn fields<'a>(attachment: &'a Attachment, links: &Links) -> Fields<'a> {
    Fields {
        id: attachment.id.to_string(),
        filename: attachment.filename.as_str(),
        content_type: attachment.media_type.as_str(),
        byte_size: attachment.byte_size,
        checksum: attachment.checksum.to_string(),
        key: attachment.key.to_string(),
        service_name: &attachment.service_name,
        metadata: metadata(attachment.key.workspace, attachment),
        created_at: attachment.created_at.to_string(),
        attachable_sgid: links.attachable_id(attachment.id),
        signed_id: links.signed_id(attachment.id),
        blob_url: links.blob(attachment.id, &attachment.filename),
    }
}
