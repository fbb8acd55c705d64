//! Posts a public comment on a feature request, contract section 4.8.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, StoreError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::comment::{Comment, CommentAuthor, CommentDraft, NewComment};
use crate::model::customer::CustomerDraft;
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, CustomerId};
use crate::model::mail::Topic;
use crate::model::picture;
use crate::model::timestamp::Timestamp;
use crate::model::webhook_event::{EventDraft, EventKind};
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
        let notify = if *notify_all_voters { Notify::Subscribers } else { Notify::People };
        let (posted, bytes) = insert_comment(context, work, (self.request, content, author.clone()), notify).await?;
        let announced = EventDraft::of_comment(EventKind::CommentCreated, posted.request.id, posted.comment.id);
        Ok(Performed::new(posted, Audit::OwnRecord(OwnRecord::Comment)).storing(bytes).announcing([announced]))
    }
}

/// Who gets mail about a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notify {
    /// All who are subscribed.
    Subscribers,
    /// The author of the feature request, if the comment is the team's, and those whose comments it quotes.
    People,
    /// Nobody: another mail has it.
    Nobody,
}

/// Maximum number of people who get a mail because a comment quotes them.
const MAX_REPLIED: usize = 3;

/// Notifies the author of the feature request of a comment, if `to_author`, and those whose comments it quotes.
pub(crate) async fn notify_people(
    work: &mut dyn UnitOfWork,
    comment: CommentId,
    to_author: bool,
    content: &CleanHtml,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut replied = content.linked_comments();
    replied.truncate(MAX_REPLIED);
    if to_author || !replied.is_empty() {
        work.notify_people(comment, to_author, &replied, now).await?;
    }
    Ok(())
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
    match notify {
        Notify::Subscribers => notify_subscribers(context, work, Topic::Comment(comment.id)).await?,
        Notify::People => {
            // The author of a feature request gets every answer of the team.
            let to_author = matches!(author, CommentAuthor::Member(_));
            notify_people(work, comment.id, to_author, &comment.content, context.now).await?;
        }
        Notify::Nobody => {}
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
        unit.expect_notify_people().times(1).returning(|_, _, _, _| Ok(()));
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
        unit.expect_notify_people()
            .withf(move |about, to_author, replied, at| {
                (*about, *to_author, replied.len(), *at) == (comment, true, 0, now())
            })
            .times(1)
            .returning(|_, _, _, _| Ok(()));
        let posted =
            post(&mut unit, CommentDraft::parse(Some("<p onclick=x>Soon</p>"), Some("who@example.com"), false))
                .unwrap();
        assert_eq!(posted.comment.content.as_str(), "<p>Soon</p>");
        assert_eq!(posted.comment.id, CommentId::new(Uuid::from_u128(1)));
        assert_eq!(posted.request, summary("Planned", Some("Planned"), 3));
    }

    #[test]
    fn a_comment_is_told_to_those_whom_it_quotes() {
        let id = |number| CommentId::new(Uuid::from_u128(number));
        let link = |number| format!("<a href=\"https://acme.example/x#comment-{}\">x</a>", id(number));
        for (links, expected) in [
            (vec![], vec![]),
            (vec![link(21)], vec![id(21)]),
            ((21..30).map(link).collect(), vec![id(21), id(22), id(23)]),
        ] {
            let mut unit = MockUnit::new();
            unit.expect_insert_comment().returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
            unit.expect_notify_people()
                .times(usize::from(!expected.is_empty()))
                .withf(move |_, to_author, replied, _| !*to_author && replied == expected)
                .returning(|_, _, _, _| Ok(()));
            let customer = CustomerDraft::parse(Some("ann@example.com"), None).unwrap();
            let content = format!("Yes {}", links.concat());
            post(&mut unit, CommentDraft::parse_of_customer(Some(&content), None, customer, false)).unwrap();
        }
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
