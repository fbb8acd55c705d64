//! Posts a public comment on a feature request, contract section 4.8.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::comment::{Comment, CommentAuthor, CommentDraft, NewComment};
use crate::model::customer::CustomerDraft;
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, CustomerId};
use crate::model::mail::Topic;
use crate::model::picture;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::add_picture::keep_pictures;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::notify::notify_subscribers;

/// Posts a comment.
#[derive(Debug, Clone)]
pub struct PostComment {
    pub request: FeatureRequestRef,
    pub draft: CommentDraft,
}

/// A posted comment and its feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentPosted {
    pub comment: Comment,
    pub request: FeatureRequestSummary,
}

#[async_trait]
impl Operation for PostComment {
    type Output = CommentPosted;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<CommentPosted>, RoadmapError> {
        let CommentDraft { content, author, notify_all_voters } = &self.draft;
        let notify = if *notify_all_voters { Notify::Subscribers } else { Notify::Author };
        let (posted, bytes) = insert_comment(context, work, (self.request, content, author.clone()), notify).await?;
        Ok(Performed::new(posted, Audit::OwnRecord(OwnRecord::Comment)).storing(bytes))
    }
}

/// Who gets mail about a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notify {
    /// All who are subscribed.
    Subscribers,
    /// The author of the feature request, if the comment is the team's.
    Author,
    /// Nobody: another mail has it.
    Nobody,
}

/// Adds a comment with this content and author to a feature request. Returns it and the bytes that it takes.
pub(crate) async fn insert_comment(
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
    (request, content, author): (FeatureRequestRef, &CleanHtml, CommentAuthor<CustomerDraft>),
    notify: Notify,
) -> Result<(CommentPosted, u64), RoadmapError> {
    let id = context.new_id(CommentId::new);
    let content = keep_pictures(work, ("content", content), id.uuid(), picture::MAX_IN_POST).await?;
    let comment = NewComment {
        id,
        request,
        content,
        author: match &author {
            CommentAuthor::Member(author) => CommentAuthor::Member(author.clone()),
            CommentAuthor::Customer(customer) => {
                CommentAuthor::Customer(customer.to_new_customer(context.new_id(CustomerId::new)))
            }
        },
        created_at: context.now,
    };
    let request = work.insert_comment(&comment).await?;
    let request = request.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
    match (notify, &author) {
        (Notify::Subscribers, _) => notify_subscribers(context, work, Topic::Comment(comment.id)).await?,
        // The author of a feature request gets every answer of the team.
        (Notify::Author, CommentAuthor::Member(_)) => work.notify_author(comment.id, context.now).await?,
        (Notify::Author, CommentAuthor::Customer(_)) | (Notify::Nobody, _) => {}
    }
    let NewComment { id, content, created_at, .. } = comment;
    let customer = match &author {
        CommentAuthor::Member(_) => 0,
        CommentAuthor::Customer(customer) => storage::customer_bytes(customer),
    };
    let bytes = storage::row_bytes(&[content.as_str()]) + customer;
    Ok((CommentPosted { comment: Comment { id, content, created_at }, request }, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Validated;

    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, now, perform, request, summary};
    use pollster::block_on;
    use uuid::Uuid;

    fn post(unit: &mut MockUnit, draft: Validated<CommentDraft>) -> Result<CommentPosted, RoadmapError> {
        perform(&PostComment { request: request(), draft: draft? }, unit).map(|performed| performed.output)
    }

    #[test]
    fn without_notifications_no_mails_are_counted() {
        let mut unit = MockUnit::new();
        unit.expect_insert_comment().returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
        unit.expect_notify_author().times(1).returning(|_, _| Ok(()));
        let draft = CommentDraft::parse(Some("Soon"), None, false).unwrap();
        let ids = NumberedIds::default();
        let mut context = context(&ids);
        context.mail_per_day = Some(0);
        block_on(PostComment { request: request(), draft }.perform(&context, &mut unit)).unwrap();
    }

    /// Contract 4.8.
    #[test]
    fn a_comment_is_cleaned_attributed_and_shown() {
        let mut unit = MockUnit::new();
        unit.expect_insert_comment()
            .withf(|new| {
                matches!(&new.author, CommentAuthor::Member(author) if author.address() == Some("who@example.com"))
                    && new.request == request()
                    && new.created_at == now()
            })
            .times(1)
            .returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
        let comment = CommentId::new(Uuid::from_u128(1));
        unit.expect_notify_author()
            .withf(move |about, at| (*about, *at) == (comment, now()))
            .times(1)
            .returning(|_, _| Ok(()));
        let posted =
            post(&mut unit, CommentDraft::parse(Some("<p onclick=x>Soon</p>"), Some("who@example.com"), false))
                .unwrap();
        assert_eq!(posted.comment.content.as_str(), "<p>Soon</p>");
        assert_eq!(posted.comment.id, CommentId::new(Uuid::from_u128(1)));
        assert_eq!(posted.request, summary("Planned", Some("Planned"), 3));
    }

    /// Contract 4.8.
    #[test]
    fn voters_are_notified_only_when_asked_for() {
        // `a_comment_is_cleaned_attributed_and_shown` covers the other case: it does not expect
        // `enqueue_notifications`.
        let mut unit = MockUnit::new();
        unit.expect_insert_comment().returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
        unit.expect_enqueue_notifications()
            .withf(|topic, at, _, _| *topic == Topic::Comment(CommentId::new(Uuid::from_u128(1))) && *at == now())
            .times(1)
            .returning(|_, _, _, _| Ok(()));
        post(&mut unit, CommentDraft::parse(Some("Soon"), None, true)).unwrap();
    }

    /// Contract 4.8.
    #[test]
    fn an_unknown_request_is_reported() {
        let mut gone = MockUnit::new();
        gone.expect_insert_comment().returning(|_| Ok(None));
        let outcome = post(&mut gone, CommentDraft::parse(Some("Soon"), None, true));
        assert!(matches!(outcome, Err(RoadmapError::NotFound(Resource::FeatureRequest))));
    }
}
