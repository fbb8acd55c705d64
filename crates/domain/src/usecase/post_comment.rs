//! Posts a public comment on a feature request, contract section 4.8.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::comment::{Comment, CommentDraft, NewComment};
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use crate::model::id::CommentId;
use crate::policy::mail_limits::{MailBudgetWindow, check_daily_limit};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Maximum number of mails that are added to the outbox together with the comment.
///
/// With more voters, a worker adds all mails later, so that a comment takes no longer on a popular feature request.
const MAX_IMMEDIATE_MAILS: u32 = 20;

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
            author: draft.author.clone(),
            created_at: context.now,
        };
        let request = work.insert_comment(&comment).await?.ok_or_else(missing)?;
        if draft.notify_all_voters {
            if let Some(limit) = self.mails_per_day {
                let day = MailBudgetWindow::ending_at(context.now);
                check_daily_limit(work.count_mails(request.id, context.now, day, limit).await?, limit)?;
            }
            work.notify_voters(request.id, comment.id, context.now, MAX_IMMEDIATE_MAILS).await?;
        }
        let NewComment { id, content, created_at, .. } = comment;
        Ok(CommentPosted { comment: Comment { id, content, created_at }, request })
    }

    fn stored_bytes(&self) -> u64 {
        self.draft.as_ref().map_or(0, |draft| storage::row_bytes(&[draft.content.as_str()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Budget, FieldError, OverBudget};
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
        for (made, fits) in [(100, true), (101, false)] {
            let mut unit = MockUnit::new();
            unit.expect_insert_comment().returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
            unit.expect_count_mails()
                .withf(|request, at, day, limit| {
                    (*request, *at, *limit) == (summary("", None, 0).id, now(), 100)
                        && *day == MailBudgetWindow::ending_at(now())
                })
                .times(1)
                .returning(move |_, _, _, _| Ok(made));
            unit.expect_notify_voters().times(usize::from(fits)).returning(|_, _, _, _| Ok(()));
            let draft = CommentDraft::parse(Some("Soon"), None, true);
            let comment = PostComment { request: request(), draft, mails_per_day: Some(100) };
            let outcome = block_on(comment.perform(&context(&NumberedIds::default()), &mut unit));
            let over = OverBudget { budget: Budget::MailsPerDay, limit: 100 };
            match outcome {
                Ok(_) => assert!(fits),
                Err(error) => assert!(!fits && matches!(error, RoadmapError::OverBudget(found) if found == over)),
            }
        }
        // Without notifications no mails are counted: `MockUnit` does not expect `count_mails`.
        let mut unit = MockUnit::new();
        unit.expect_insert_comment().returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
        let draft = CommentDraft::parse(Some("Soon"), None, false);
        let comment = PostComment { request: request(), draft, mails_per_day: Some(0) };
        block_on(comment.perform(&context(&NumberedIds::default()), &mut unit)).unwrap();
    }

    #[test]
    fn a_comment_is_cleaned_attributed_and_shown() {
        let mut unit = MockUnit::new();
        unit.expect_insert_comment()
            .withf(|new| {
                new.author.address() == Some("who@example.com") && new.request == request() && new.created_at == now()
            })
            .times(1)
            .returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
        let posted =
            post(&mut unit, CommentDraft::parse(Some("<p onclick=x>Soon</p>"), Some("who@example.com"), false))
                .unwrap();
        assert_eq!(posted.comment.content.as_str(), "<p>Soon</p>");
        assert_eq!(posted.comment.id, CommentId::new(Uuid::from_u128(1)));
        assert_eq!(posted.request, summary("Planned", Some("Planned"), 3));
    }

    #[test]
    fn voters_are_notified_only_when_asked_for() {
        // `a_comment_is_cleaned_attributed_and_shown` covers the other case: it does not expect `notify_voters`.
        let mut unit = MockUnit::new();
        unit.expect_insert_comment().returning(|_| Ok(Some(summary("Planned", Some("Planned"), 3))));
        unit.expect_notify_voters()
            .withf(|request, comment, at, at_once| {
                *request == summary("", None, 0).id
                    && *comment == CommentId::new(Uuid::from_u128(1))
                    && (*at, *at_once) == (now(), MAX_IMMEDIATE_MAILS)
            })
            .times(1)
            .returning(|_, _, _, _| Ok(()));
        post(&mut unit, CommentDraft::parse(Some("Soon"), None, true)).unwrap();
    }

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
