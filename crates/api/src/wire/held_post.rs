//! Feature requests and comments that wait for approval.

use std::borrow::Cow;

use roadmap_domain::model::cursor::{CursorList, Placed};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::operation_key::SavedResponse;
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::portal::HeldPost;
use serde::Serialize;
use utoipa::ToSchema;

use super::customer::{self, CustomerReference};
use super::feature_request::{Link, Summary, link, summary};
use super::page::Envelope;
use super::{Links, saved_ok};

/// A page of what waits for approval.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HeldPostsPage)]
pub(crate) struct Page<'a> {
    #[schema(max_items = 100)]
    held_posts: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A feature request or a comment that waits for approval.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HeldPost)]
pub(crate) struct Fields<'a> {
    #[schema(value_type = Kind)]
    kind: &'static str,
    /// The id of the feature request or of the comment.
    #[schema(format = "uuid")]
    id: String,
    /// The feature request itself, or what the comment is about.
    feature_request: Link<'a>,
    /// Sanitized HTML of the comment; null for a feature request.
    #[schema(min_length = 1, required = true)]
    content: Option<Cow<'a, str>>,
    #[schema(required = true)]
    author: Option<CustomerReference<'a>>,
    #[schema(format = DateTime)]
    created_at: String,
}

/// What waits for approval.
#[derive(ToSchema)]
#[schema(as = HeldPostKind, rename_all = "snake_case")]
#[expect(dead_code, reason = "lists the values in the document")]
enum Kind {
    FeatureRequest,
    Comment,
}

/// A comment that was approved, with its feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CommentApproved)]
pub(crate) struct CommentApproved {
    feature_request: Summary,
    /// Always true.
    comment_approved: bool,
}

fn fields<'a>(post: &'a HeldPost, links: &Links) -> Fields<'a> {
    let feature_request = link(&post.request, links);
    let created_at = post.created_at.to_string();
    match &post.comment {
        Some(comment) => Fields {
            kind: "comment",
            id: comment.id.to_string(),
            feature_request,
            content: Some(links.with_pictures(comment.content.as_str())),
            author: Some(customer::reference(&comment.author)),
            created_at,
        },
        None => Fields {
            kind: "feature_request",
            id: post.request.id.to_string(),
            feature_request,
            content: None,
            author: post.author.as_ref().map(customer::reference),
            created_at,
        },
    }
}

pub(crate) fn listed<'a>(
    posts: &'a Listing<HeldPost>,
    links: &Links,
    cursors: &CursorList,
) -> impl Serialize + use<'a> {
    let envelope = Envelope::with_cursor(posts, cursors, Placed::place);
    Page { held_posts: posts.page_items().iter().map(|post| fields(post, links)).collect(), envelope }
}

pub(crate) fn comment_approved(request: &FeatureRequestSummary, links: &Links) -> SavedResponse {
    saved_ok(&CommentApproved { feature_request: summary(request, links), comment_approved: true })
}
