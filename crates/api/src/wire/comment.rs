//! A comment that was posted, contract section 4.8.

use actix_web::http::StatusCode;
use roadmap_domain::model::operation_key::SavedReply;
use roadmap_domain::usecase::post_comment::CommentPosted;
use serde::Serialize;

use super::feature_request::{Summary, summary};
use super::{Links, saved};

#[derive(Debug, Serialize)]
struct Posted<'a> {
    comment: Comment<'a>,
    feature_request: Summary,
}

#[derive(Debug, Serialize)]
struct Comment<'a> {
    id: String,
    content: &'a str,
    created_at: String,
}

pub(crate) fn posted(posted: &CommentPosted, links: &Links) -> SavedReply {
    let comment = Comment {
        id: posted.comment.id.to_string(),
        content: posted.comment.content.as_str(),
        created_at: posted.comment.created_at.to_string(),
    };
    saved(StatusCode::CREATED, &Posted { comment, feature_request: summary(&posted.request, links) })
}
