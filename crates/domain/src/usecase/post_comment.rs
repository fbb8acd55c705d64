//! Posts a public comment on a feature request, contract section 4.8.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::comment::{Comment, CommentAuthor, CommentDraft, NewComment};
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use crate::model::id::{CommentId, CustomerId};
use crate::model::mail::Topic;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};
use crate::usecase::notify::notify_subscribers;

/// Posts a comment.
#[derive(Debug, Clone)]
pub struct PostComment {
    /// The feature request.
    pub request: FeatureRequestRef,
    /// The comment, or its validation error.
    pub draft: Validated<CommentDraft>,
    /// The workspace's limit of mails per day, if any.
    pub mails_per_day: Option<u64>,
}

/// A posted comment and its feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentPosted {
    /// The comment.
    pub comment: Comment,
    /// The feature request.
    pub request: FeatureRequestSummary,
}

#[async_trait]
impl Operation for PostComment {
    type Output = CommentPosted;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<CommentPosted, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::FeatureRequest);
        let draft = match &self.draft {
            Ok(draft) => draft,
            Err(invalid) => {
                work.find_feature_request(&self.request).await?.ok_or_else(missing)?;
                return Err(invalid.clone().into());
            }
        };
        let comment = NewComment {
            id: context.new_id(CommentId::new),
            request: self.request,
            content: draft.content.clone(),
            author: match &draft.author {
                CommentAuthor::Member(author) => CommentAuthor::Member(author.clone()),
                CommentAuthor::Customer(customer) => {
                    CommentAuthor::Customer(customer.to_new_customer(context.new_id(CustomerId::new)))
                }
            },
            created_at: context.now,
        };
        let request = work.insert_comment(&comment).await?.ok_or_else(missing)?;
        if draft.notify_all_voters {
            notify_subscribers(work, Topic::Comment(comment.id), context.now, self.mails_per_day).await?;
        } else if matches!(draft.author, CommentAuthor::Member(_)) {
            // The author of a feature request gets every answer of the team.
            work.notify_author(comment.id, context.now).await?;
        }
        let NewComment { id, content, created_at, .. } = comment;
        Ok(CommentPosted { comment: Comment { id, content, created_at }, request })
    }

    fn stored_bytes(&self) -> u64 {
        let Ok(draft) = &self.draft else { return 0 };
        let customer = match &draft.author {
            CommentAuthor::Member(_) => 0,
            CommentAuthor::Customer(customer) => storage::customer_bytes(customer),
        };
        storage::row_bytes(&[draft.content.as_str()]) + customer
    }

    fn audit(&self, _: &CommentPosted) -> Audit {
        Audit::OwnRecord(OwnRecord::Comment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Budget, FieldError, OverBudget};
    use crate::model::customer::CustomerDraft;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, now, request, summary};
    use pollster::block_on;
    use uuid::Uuid;

    fn post(unit: &mut MockUnit, draft: Validated<CommentDraft>) -> Result<CommentPosted, RoadmapError> {
        let ids = NumberedIds::default();
        block_on(PostComment { request: request(), draft, mails_per_day: None }.perform(&context(&ids), unit))
    }

    #[test]
    fn mails_over_the_daily_limit_are_rejected_as_a_whole() {
        let mut unit = MockUnit::new();
        unit.expect_insert_comment().returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
        unit.expect_count_mails().withf(|_, _, _, limit| *limit == 100).times(1).returning(|_, _, _, _| Ok(101));
        let draft = CommentDraft::parse(Some("Soon"), None, true);
        let comment = PostComment { request: request(), draft, mails_per_day: Some(100) };
        let outcome = block_on(comment.perform(&context(&NumberedIds::default()), &mut unit));
        let over = OverBudget { budget: Budget::MailsPerDay, limit: 100 };
        assert!(matches!(outcome, Err(RoadmapError::OverBudget(found)) if found == over));
        // Without notifications no mails are counted: `MockUnit` does not expect `count_mails`.
        let mut unit = MockUnit::new();
        unit.expect_insert_comment().returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
        unit.expect_notify_author().times(1).returning(|_, _| Ok(()));
        let draft = CommentDraft::parse(Some("Soon"), None, false);
        let comment = PostComment { request: request(), draft, mails_per_day: Some(0) };
        block_on(comment.perform(&context(&NumberedIds::default()), &mut unit)).unwrap();
    }

    /// Addition 2.
    #[test]
    fn a_customer_is_found_or_created_as_the_author() {
        let mut unit = MockUnit::new();
        unit.expect_insert_comment()
            .withf(|new| {
                matches!(&new.author, CommentAuthor::Customer(customer) if customer.email.as_str() == "ann@example.com")
            })
            .times(1)
            .returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
        let customer = CustomerDraft::parse(Some("ann@example.com"), Some("Ann")).unwrap();
        post(&mut unit, CommentDraft::parse_of_customer(Some("Please"), None, customer, false)).unwrap();
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
        // `a_comment_is_cleaned_attributed_and_shown` covers the other case: it does not expect `notify_subscribers`.
        let mut unit = MockUnit::new();
        unit.expect_insert_comment().returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
        unit.expect_notify_subscribers()
            .withf(|topic, at, _| *topic == Topic::Comment(CommentId::new(Uuid::from_u128(1))) && *at == now())
            .times(1)
            .returning(|_, _, _| Ok(()));
        post(&mut unit, CommentDraft::parse(Some("Soon"), None, true)).unwrap();
    }

    /// Contract 4.8.
    #[test]
    fn an_unknown_request_is_reported_before_invalid_fields() {
        let mut unknown = MockUnit::new();
        unknown.expect_find_feature_request().returning(|_| Ok(None));
        let outcome = post(&mut unknown, Err(FieldError::missing("content")));
        assert!(matches!(outcome, Err(RoadmapError::NotFound(Resource::FeatureRequest))));

        let mut known = MockUnit::new();
        known.expect_find_feature_request().returning(|_| Ok(Some(summary("Inbox", None, 0))));
        let outcome = post(&mut known, Err(FieldError::missing("content")));
        assert!(matches!(outcome, Err(RoadmapError::Invalid(invalid)) if invalid == FieldError::missing("content")));

        let mut gone = MockUnit::new();
        gone.expect_insert_comment().returning(|_| Ok(None));
        let outcome = post(&mut gone, CommentDraft::parse(Some("Soon"), None, true));
        assert!(matches!(outcome, Err(RoadmapError::NotFound(Resource::FeatureRequest))));
    }
}
