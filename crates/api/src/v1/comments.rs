//! `POST /feature_requests/{id}/comments`: posts a public comment, contract section 4.8.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{Invalid, Parsed};
use roadmap_domain::model::comment::CommentDraft;
use roadmap_domain::usecase::post_comment::PostComment;
use serde::Deserialize;

use super::execute;
use crate::call::{WriteCall, request_ref};
use crate::error::ApiError;
use crate::fields::Object;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize)]
struct Body {
    comment: Option<Object<CommentBody>>,
    author_email: Option<String>,
    notify_all_voters: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct CommentBody {
    content: Option<String>,
}

pub(crate) async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    call: WriteCall,
) -> Result<HttpResponse, ApiError> {
    let (workspace, links) = (call.workspace, call.links.clone());
    let (key, draft) = call.command(draft);
    let operation = PostComment { request: request_ref(&request), draft };
    let render = move |posted| wire::comment::posted(&posted, &links);
    execute(&state, workspace, key, operation, render).await
}

fn draft(body: Body) -> Parsed<CommentDraft> {
    // A body without `comment` lacks the content as much as one with an empty `comment`.
    let Object(comment) = body.comment.ok_or_else(|| Invalid::missing("content"))?;
    let notify = body.notify_all_voters.unwrap_or(false);
    CommentDraft::parse(comment.content.as_deref(), body.author_email.as_deref(), notify)
}
