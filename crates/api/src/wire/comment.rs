//! Posted comments, contract section 4.8.

use actix_web::http::StatusCode;
use roadmap_domain::model::operation_key::SavedResponse;
use roadmap_domain::usecase::post_comment::CommentPosted;
use serde::Serialize;
use utoipa::ToSchema;

use super::feature_request::{Summary, summary};
use super::{Links, saved_response};

/// A comment that was posted, with its feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CommentPosted)]
pub(crate) struct Posted<'a> {
    comment: Comment<'a>,
    feature_request: Summary,
}

/// A public comment of the team on a feature request.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Comment<'a> {
    #[schema(format = "uuid")]
    id: String,
    /// Sanitized HTML.
    #[schema(min_length = 1)]
    content: &'a str,
    #[schema(format = DateTime)]
    created_at: String,
}

pub(crate) fn posted(posted: &CommentPosted, links: &Links) -> SavedResponse {
    let comment = Comment {
        id: posted.comment.id.to_string(),
        content: posted.comment.content.as_str(),
        created_at: posted.comment.created_at.to_string(),
    };
    saved_response(StatusCode::CREATED, &Posted { comment, feature_request: summary(&posted.request, links) })
}
