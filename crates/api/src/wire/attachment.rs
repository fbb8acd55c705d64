//! Attachments, contract section 2.7.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::id::WorkspaceId;
use serde::Serialize;

use super::Links;

#[derive(Debug, Serialize)]
struct Fields<'a> {
    id: String,
    filename: &'a str,
    content_type: &'a str,
    byte_size: u64,
    checksum: String,
    key: String,
    service_name: &'a str,
    metadata: Metadata,
    created_at: String,
    attachable_sgid: String,
    signed_id: String,
    blob_url: String,
}

#[derive(Debug, Serialize)]
struct Metadata {
    workspace_id: String,
    /// The type is known by the bytes.
    identified: bool,
    /// The size in pixels was looked for.
    analyzed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
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
    HttpResponse::build(StatusCode::CREATED).json(Fields {
        id: attachment.id.to_string(),
        filename: attachment.filename.as_str(),
        content_type: attachment.media_type.as_str(),
        byte_size: attachment.byte_size,
        checksum: attachment.checksum.to_string(),
        key: attachment.key.to_string(),
        service_name: &attachment.service_name,
        metadata: metadata(attachment.key.workspace, attachment),
        created_at: attachment.created_at.to_string(),
        attachable_sgid: links.attachable(attachment.id),
        signed_id: links.signed(attachment.id),
        blob_url: links.blob(attachment.id, &attachment.filename),
    })
}
