//! Edits and deletes a comment.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::audit::{Audit, Change};
use crate::model::comment::ListedComment;
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, FeatureRequestId};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Replaces the content of a comment. Mail about it that was not sent yet has the new content.
#[derive(Debug, Clone)]
pub struct EditComment {
    /// The comment.
    pub comment: CommentId,
    /// The new content, or its validation error.
    pub content: Validated<CleanHtml>,
}

/// Deletes a comment, and mail about it that was not sent yet. One that waits for approval is deleted, too.
#[derive(Debug, Clone, Copy)]
pub struct DeleteComment {
    /// The comment.
    pub comment: CommentId,
}

fn missing() -> RoadmapError {
    RoadmapError::NotFound(Resource::Comment)
}

#[async_trait]
impl Operation for EditComment {
    type Output = ListedComment;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<ListedComment, RoadmapError> {
        match &self.content {
            Ok(content) => work.update_comment(self.comment, content, context.now).await?.ok_or_else(missing),
            Err(invalid) => {
                work.find_comment(self.comment).await?.ok_or_else(missing)?;
                Err(invalid.clone().into())
            }
        }
    }

    fn stored_bytes(&self) -> u64 {
        self.content.as_ref().map_or(0, |content| storage::row_bytes(&[content.as_str()]))
    }

    fn audit(&self, edited: &ListedComment) -> Audit {
        let changes = vec![Change::without_values("content")];
        Audit::with_changes("comment.update", "comment", Some(edited.comment.id.uuid()), changes)
    }
}

#[async_trait]
impl Operation for DeleteComment {
    type Output = FeatureRequestId;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<FeatureRequestId, RoadmapError> {
        // In this order: a comment that waits is perhaps being approved, and is public after that.
        match work.discard_comment(self.comment).await? {
            Some(request) => Ok(request),
            None => work.delete_comment(self.comment).await?.ok_or_else(missing),
        }
    }

    fn audit(&self, request: &FeatureRequestId) -> Audit {
        let changes = vec![Change::new("feature_request", request.to_string(), serde_json::Value::Null)];
        Audit::with_changes("comment.delete", "comment", Some(self.comment.uuid()), changes)
    }
}

/// Finds the feature request of a comment. It changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct FindCommentRequest {
    /// The comment.
    pub comment: CommentId,
}

#[async_trait]
impl Operation for FindCommentRequest {
    type Output = FeatureRequestId;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<FeatureRequestId, RoadmapError> {
        work.find_comment(self.comment).await?.ok_or(RoadmapError::NotFound(Resource::Comment))
    }

    fn audit(&self, _: &FeatureRequestId) -> Audit {
        Audit::Unchanged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FieldError;
    use crate::model::comment::{Comment, ShownAuthor, parse_content};
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, now, summary};
    use pollster::block_on;
    use uuid::Uuid;

    fn comment() -> CommentId {
        CommentId::new(Uuid::from_u128(5))
    }

    fn edit(unit: &mut MockUnit, content: Validated<CleanHtml>) -> Result<ListedComment, String> {
        let operation = EditComment { comment: comment(), content };
        let outcome = block_on(operation.perform(&context(&NumberedIds::default()), unit));
        outcome.map_err(|error| error.to_string())
    }

    #[test]
    fn the_content_is_cleaned_and_replaced() {
        let mut unit = MockUnit::new();
        unit.expect_update_comment()
            .withf(|id, content, at| *id == comment() && content.as_str() == "<p>Later</p>" && *at == now())
            .times(1)
            .returning(|id, content, at| {
                let comment = Comment { id, content: content.clone(), created_at: at };
                Ok(Some(ListedComment { comment, author: ShownAuthor::Member(None), from: None, updated_at: at }))
            });
        edit(&mut unit, parse_content(Some("<p onclick=x>Later</p>"))).unwrap();
    }

    #[test]
    fn an_unknown_comment_is_reported_before_an_invalid_content() {
        for (exists, message) in
            [(false, "Comment does not exist."), (true, "param is missing or the value is empty or invalid: content")]
        {
            let mut unit = MockUnit::new();
            unit.expect_find_comment().returning(move |_| Ok(exists.then(|| summary("", None, 0).id)));
            assert_eq!(edit(&mut unit, Err(FieldError::missing("content"))).unwrap_err(), message);
        }
        let mut unit = MockUnit::new();
        unit.expect_update_comment().returning(|_, _, _| Ok(None));
        assert_eq!(edit(&mut unit, parse_content(Some("Later"))).unwrap_err(), "Comment does not exist.");
    }

    /// Addition 7.
    #[test]
    fn a_public_or_waiting_comment_is_deleted() {
        for (is_public, waits) in [(true, false), (false, true), (false, false)] {
            let request = |exists: bool| exists.then(|| summary("", None, 0).id);
            let mut unit = MockUnit::new();
            unit.expect_delete_comment()
                .withf(|id| *id == comment())
                .times(usize::from(!waits))
                .returning(move |_| Ok(request(is_public)));
            unit.expect_discard_comment().withf(|id| *id == comment()).times(1).returning(move |_| Ok(request(waits)));
            let operation = DeleteComment { comment: comment() };
            let outcome = block_on(operation.perform(&context(&NumberedIds::default()), &mut unit));
            match outcome {
                Ok(deleted) => assert_eq!((Some(deleted), is_public || waits), (request(true), true)),
                Err(error) => {
                    assert_eq!((error.to_string().as_str(), is_public || waits), ("Comment does not exist.", false));
                }
            }
        }
    }
}
