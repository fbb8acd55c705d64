//! Comments, contract sections 2.6 and 4.8.

use std::borrow::Cow;

use roadmap_domain::model::changes::{Changed, ChangedComment, ChangesListing};
use roadmap_domain::model::comment::{self, ListedComment};
use roadmap_domain::model::cursor::{CursorList, Placed};
use roadmap_domain::model::operation_key::SavedResponse;
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::usecase::post_comment::CommentPosted;
use serde::Serialize;
use utoipa::ToSchema;

use super::feature_request::{Link, Summary, link, summary};
use super::page::{Envelope, Gone, gone};
use super::{Links, saved_created};

/// A comment that was posted, with its feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CommentPosted)]
pub(crate) struct Posted<'a> {
    comment: Comment<'a>,
    feature_request: Summary,
}

/// A public comment on a feature request.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Comment<'a> {
    #[schema(format = "uuid")]
    id: String,
    /// Sanitized HTML.
    #[schema(min_length = 1)]
    content: Cow<'a, str>,
    #[schema(format = DateTime)]
    created_at: String,
}

/// A page of comments.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CommentsPage)]
pub(crate) struct Page<'a> {
    #[schema(max_items = 100)]
    comments: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A single comment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CommentShown)]
pub(crate) struct Response<'a> {
    comment: Fields<'a>,
}

/// A public comment with its author. The description of a merged feature request is listed as a comment, with the id of
/// that feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ListedComment)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    /// Sanitized HTML.
    #[schema(min_length = 1)]
    content: Cow<'a, str>,
    author: Author<'a>,
    #[schema(format = DateTime)]
    created_at: String,
    /// The time of the last change of the content.
    #[schema(format = DateTime)]
    updated_at: String,
    /// The merged feature request on which it was written. Absent if it was written on this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Link)]
    from: Option<Link<'a>>,
}

/// A part of all comments, oldest change first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AllComments)]
pub(crate) struct All<'a> {
    #[schema(max_items = 100)]
    comments: Vec<Item<'a>>,
    /// The `cursor` of the next comments; null if there are none.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// A comment as it is now, or one that was deleted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = ChangedComment)]
pub(crate) enum Item<'a> {
    Present(OfRequest<'a>),
    Gone(Gone),
}

/// A comment with its feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CommentOfFeatureRequest)]
pub(crate) struct OfRequest<'a> {
    #[serde(flatten)]
    comment: Fields<'a>,
    /// The one on which it was written, even if that is merged.
    feature_request: Link<'a>,
}

/// The author of a comment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CommentAuthor)]
pub(crate) struct Author<'a> {
    #[schema(value_type = AuthorKind)]
    kind: &'static str,
    /// `Customer` for a customer without a name.
    #[schema(min_length = 1)]
    name: &'a str,
}

/// The kind of the author of a comment.
#[derive(ToSchema)]
#[schema(as = CommentAuthorKind, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum AuthorKind {
    Member,
    Customer,
}

/// Returns the fields of a comment that was just posted.
pub(super) fn posted_comment<'a>(comment: &'a comment::Comment, links: &Links) -> Comment<'a> {
    Comment {
        id: comment.id.to_string(),
        content: links.with_pictures(comment.content.as_str()),
        created_at: comment.created_at.to_string(),
    }
}

pub(crate) fn posted(posted: &CommentPosted, links: &Links) -> SavedResponse {
    let comment = posted_comment(&posted.comment, links);
    saved_created(&Posted { comment, feature_request: summary(&posted.request, links) })
}

pub(crate) fn listed<'a>(
    comments: &'a Listing<ListedComment>,
    links: &Links,
    cursors: &CursorList,
) -> impl Serialize + use<'a> {
    let envelope = Envelope::with_cursor(comments, cursors, Placed::place);
    let items = comments.page_items().iter().map(|comment| fields(comment, links)).collect();
    Page { comments: items, envelope }
}

pub(crate) fn all<'a>(
    comments: &'a ChangesListing<ChangedComment>,
    links: &Links,
    cursors: &CursorList,
) -> impl Serialize + use<'a> {
    let item = |item: &'a Changed<ChangedComment>| match item {
        Changed::Present(changed) => Item::Present(OfRequest {
            comment: fields(&changed.comment, links),
            feature_request: link(&changed.request, links),
        }),
        Changed::Gone { id, updated_at } => Item::Gone(gone(*id, *updated_at)),
    };
    All {
        comments: comments.items.iter().map(item).collect(),
        next_cursor: comments.next.map(|next| cursors.cursor(next.into())),
    }
}

pub(crate) fn response<'a>(comment: &'a ListedComment, links: &Links) -> impl Serialize + use<'a> {
    Response { comment: fields(comment, links) }
}

fn fields<'a>(listed: &'a ListedComment, links: &Links) -> Fields<'a> {
    Fields {
        id: listed.comment.id.to_string(),
        content: links.with_pictures(listed.comment.content.as_str()),
        author: Author { kind: listed.author.kind(), name: listed.author.name() },
        created_at: listed.comment.created_at.to_string(),
        updated_at: listed.updated_at.to_string(),
        from: listed.from.as_ref().map(|from| link(from, links)),
    }
}
