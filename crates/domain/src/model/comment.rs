//! Public comments on a feature request, contract section 2.6.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::customer::{CustomerDraft, NewCustomer};
use crate::model::feature_request::{FeatureRequestRef, RequestLink};
use crate::model::html::CleanHtml;
use crate::model::id::CommentId;
use crate::model::member::Author;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// The validated fields of a new comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentDraft {
    pub content: CleanHtml,
    pub author: CommentAuthor<CustomerDraft>,
    /// Whether all subscribed voters are notified by mail.
    pub notify_all_voters: bool,
}

impl CommentDraft {
    /// Validates the fields of a comment of the team.
    ///
    /// # Errors
    /// A `content` that is missing or invalid, or an `author_email` that is too long or has a NUL character.
    pub fn parse(content: Option<&str>, author_email: Option<&str>, notify_all_voters: bool) -> Validated<Self> {
        let content = parse_content(content)?;
        let author = CommentAuthor::Member(Author::parse("author_email", author_email)?);
        Ok(Self { content, author, notify_all_voters })
    }

    /// Validates the fields of a customer's comment, which is mailed to nobody.
    ///
    /// # Errors
    /// A `content` that is missing or invalid, an `author_email` beside the customer, or a request for mail.
    pub fn parse_of_customer(
        content: Option<&str>,
        author_email: Option<&str>,
        customer: CustomerDraft,
        notify_all_voters: bool,
    ) -> Validated<Self> {
        let content = parse_content(content)?;
        if author_email.is_some_and(|address| !address.trim().is_empty()) {
            let message = "customer and author_email cannot both be given";
            return Err(FieldError::new("customer", FieldProblem::Custom { message }));
        }
        if notify_all_voters {
            let message = "notify_all_voters is for comments of the team, not for those of a customer";
            return Err(FieldError::new("notify_all_voters", FieldProblem::Custom { message }));
        }
        Ok(Self { content, author: CommentAuthor::Customer(customer), notify_all_voters })
    }
}

/// Validates the content of a comment.
///
/// # Errors
/// Missing, too long, with a NUL character or with too much markup.
pub fn parse_content(content: Option<&str>) -> Validated<CleanHtml> {
    CleanHtml::parse("content", content.unwrap_or_default())
}

/// The author of a comment: a member or a customer, who is to be found or created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentAuthor<C> {
    /// A team member.
    Member(Author),
    Customer(C),
}

/// A comment to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewComment {
    pub id: CommentId,
    pub request: FeatureRequestRef,
    pub content: CleanHtml,
    pub author: CommentAuthor<NewCustomer>,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
}

/// A published comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    pub id: CommentId,
    /// The sanitized HTML.
    pub content: CleanHtml,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
}

/// An entry in the list of comments of a feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedComment {
    /// The comment. The description of a merged feature request is listed under the ID of that feature request.
    pub comment: Comment,
    /// Who wrote it.
    pub author: PublicAuthor,
    /// The merged feature request that it was written on, if it was not this one.
    pub from: Option<RequestLink>,
    /// Timestamp of the last change of the content.
    pub updated_at: Timestamp,
}

/// The author of a comment, as everybody may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublicAuthor {
    /// A team member. Without a name if the workspace had no members.
    Member(Option<Name>),
    /// A customer. Without a name if it is not known.
    Customer(Option<Name>),
}

impl PublicAuthor {
    /// Returns the stored and shown name of the kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Member(_) => "member",
            Self::Customer(_) => "customer",
        }
    }

    /// Returns the name that is shown.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Member(name) => name.as_ref().map_or("Team", Name::as_str),
            Self::Customer(name) => name.as_ref().map_or("Customer", Name::as_str),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::name;

    fn of_customer(author_email: Option<&str>, notify: bool) -> Validated<CommentDraft> {
        let customer = CustomerDraft::parse(Some("ann@example.com"), None).unwrap();
        CommentDraft::parse_of_customer(Some("Please"), author_email, customer, notify)
    }

    #[test]
    fn a_customer_s_comment_has_no_other_author_and_no_mail() {
        let draft = of_customer(Some(" "), false).unwrap();
        assert!(
            matches!(draft.author, CommentAuthor::Customer(customer) if customer.email.as_str() == "ann@example.com")
        );
        let error = of_customer(Some("olga@acme.example"), false).unwrap_err();
        assert_eq!(
            (error.field.as_str(), error.to_string().as_str()),
            ("customer", "customer and author_email cannot both be given")
        );
        let error = of_customer(None, true).unwrap_err();
        assert_eq!(error.to_string(), "notify_all_voters is for comments of the team, not for those of a customer");
    }

    /// Addition 2.
    #[test]
    fn authors_without_a_name_are_shown_by_their_kind() {
        for (author, kind, text) in [
            (PublicAuthor::Member(Some(name("Olga"))), "member", "Olga"),
            (PublicAuthor::Member(None), "member", "Team"),
            (PublicAuthor::Customer(Some(name("Ann"))), "customer", "Ann"),
            (PublicAuthor::Customer(None), "customer", "Customer"),
        ] {
            assert_eq!((author.kind(), author.name()), (kind, text));
        }
    }
}
