//! Comments, notes, and what waits for approval or was removed.

use diesel::Queryable;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::{Comment, ListedComment, PublicAuthor};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, NoteId};
use roadmap_domain::model::note::Note;
use roadmap_domain::model::portal::{HeldComment, HeldPost};
use roadmap_domain::model::removal::{CustomerText, TextCounts, TextState};
use roadmap_domain::model::team_mail::TeamPost;
use roadmap_domain::model::text::Name;

use super::{CustomerNameRow, LinkRow};
use crate::columns::{Id, TimestampColumn, optional_timestamp};

/// The author of a comment.
#[derive(Debug, Queryable)]
pub struct AuthorRow {
    is_customer: bool,
    name: Option<String>,
}

impl From<AuthorRow> for PublicAuthor {
    fn from(AuthorRow { is_customer, name }: AuthorRow) -> Self {
        let name = name.map(Name::from_stored);
        if is_customer { Self::Customer(name) } else { Self::Member(name) }
    }
}

/// A feature request or comment in the mail to a member, with the number of all of them.
#[derive(Debug, Queryable)]
pub struct TeamPostRow {
    request: LinkRow,
    has_author: bool,
    author: Option<String>,
    is_awaiting: bool,
    beginning: String,
    total: i64,
}

/// Returns the posts in the mail to a member, and the number of all of them.
#[must_use]
pub fn team_posts(rows: Vec<TeamPostRow>) -> (Vec<TeamPost>, u64) {
    let total = rows.first().map_or(0, |row| row.total.unsigned_abs());
    let post = |row: TeamPostRow| TeamPost {
        request: row.request.into(),
        author: row.has_author.then(|| PublicAuthor::Customer(row.author.map(Name::from_stored))),
        is_awaiting: row.is_awaiting,
        beginning: row.beginning,
    };
    (rows.into_iter().map(post).collect(), total)
}

/// A comment as it is listed.
#[derive(Debug, Queryable)]
pub struct CommentRow {
    id: Id,
    content: String,
    is_customer: bool,
    author: Option<String>,
    created_at: TimestampColumn,
    updated_at: TimestampColumn,
    /// The merged feature request that it was written on.
    from: Option<LinkRow>,
}

impl TryFrom<CommentRow> for ListedComment {
    type Error = StoreError;

    fn try_from(row: CommentRow) -> Result<Self, StoreError> {
        Ok(Self {
            comment: Comment {
                id: CommentId::new(row.id.0),
                content: CleanHtml::from_stored(row.content),
                created_at: row.created_at.into_timestamp("comments", "created_at", row.id)?,
            },
            author: AuthorRow { is_customer: row.is_customer, name: row.author }.into(),
            from: row.from.map(Into::into),
            updated_at: row.updated_at.into_timestamp("comments", "updated_at", row.id)?,
        })
    }
}

/// A note.
#[derive(Debug, Queryable)]
pub struct NoteRow {
    id: Id,
    body: String,
    /// Name and address.
    author: Option<(String, String)>,
    customer: Option<CustomerNameRow>,
    created_at: TimestampColumn,
}

impl TryFrom<NoteRow> for Note {
    type Error = StoreError;

    fn try_from(row: NoteRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: NoteId::new(row.id.0),
            body: CleanHtml::from_stored(row.body),
            author: row.author.map(|(name, email)| (Name::from_stored(name), EmailAddress::from_stored(email))),
            customer: row.customer.map(Into::into),
            created_at: row.created_at.into_timestamp("notes", "created_at", row.id)?,
        })
    }
}

/// A comment that waits for approval.
#[derive(Debug, Queryable)]
pub struct HeldCommentRow {
    pub id: Id,
    pub content: String,
    pub author: CustomerNameRow,
    pub created_at: TimestampColumn,
}

impl TryFrom<HeldCommentRow> for HeldComment {
    type Error = StoreError;

    fn try_from(row: HeldCommentRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: CommentId::new(row.id.0),
            content: CleanHtml::from_stored(row.content),
            author: row.author.into(),
            created_at: row.created_at.into_timestamp("held_comments", "created_at", row.id)?,
        })
    }
}

/// An idea or a comment that waits for approval.
#[derive(Debug, Queryable)]
pub struct HeldPostRow {
    request: LinkRow,
    /// ID and content. `None` for an idea.
    comment: Option<(Id, String)>,
    author: Option<CustomerNameRow>,
    created_at: TimestampColumn,
}

impl TryFrom<HeldPostRow> for HeldPost {
    type Error = StoreError;

    fn try_from(HeldPostRow { request, comment, author, created_at }: HeldPostRow) -> Result<Self, StoreError> {
        Ok(match (comment, author) {
            (Some((id, content)), Some(author)) => {
                let comment = HeldComment::try_from(HeldCommentRow { id, content, author, created_at })?;
                let created_at = comment.created_at;
                Self { request: request.into(), comment: Some(comment), author: None, created_at }
            }
            (_, author) => {
                let created_at = created_at.into_timestamp("feature_requests", "created_at", request.id)?;
                Self { request: request.into(), comment: None, author: author.map(Into::into), created_at }
            }
        })
    }
}

/// A text of a customer, which may be removed.
#[derive(Debug, Queryable)]
pub struct CustomerTextRow {
    request: LinkRow,
    title: Option<String>,
    content: String,
    state: String,
    removed_at: Option<TimestampColumn>,
    created_at: TimestampColumn,
}

impl TryFrom<CustomerTextRow> for CustomerText {
    type Error = StoreError;

    fn try_from(row: CustomerTextRow) -> Result<Self, StoreError> {
        let id = row.request.id;
        let removed_at = optional_timestamp(row.removed_at, "removed_comments", "removed_at", id)?;
        Ok(Self {
            request: row.request.into(),
            title: row.title.map(Title::from_stored),
            content: CleanHtml::from_stored(row.content),
            state: TextState::from_stored(&row.state, removed_at),
            created_at: row.created_at.into_timestamp("comments", "created_at", id)?,
        })
    }
}

/// The numbers of texts of a customer.
#[derive(Debug, Queryable)]
pub struct TextCountsRow {
    requests: i64,
    comments: i64,
    removed: i64,
    removed_at: Option<TimestampColumn>,
}

impl TextCountsRow {
    /// Converts the row of a customer.
    ///
    /// # Errors
    /// The model cannot hold a value.
    pub fn into_counts(self, customer: impl ToString) -> Result<TextCounts, StoreError> {
        let removed_at = optional_timestamp(self.removed_at, "removed_comments", "removed_at", customer)?;
        Ok(TextCounts { requests: self.requests, comments: self.comments, removed: self.removed, removed_at })
    }
}
