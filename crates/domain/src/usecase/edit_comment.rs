//! Edits and deletes a comment.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::comment::ListedComment;
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, FeatureRequestId};
use crate::model::picture;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::add_picture::keep_pictures;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Replaces the content of a comment. Mail about it that was not sent yet has the new content.
#[derive(Debug, Clone)]
pub struct EditComment {
    pub comment: CommentId,
    /// The new content.
    pub content: CleanHtml,
}

/// Deletes a comment, and mail about it that was not sent yet. One that waits for approval is deleted, too.
#[derive(Debug, Clone, Copy)]
pub struct DeleteComment {
    pub comment: CommentId,
}

fn missing() -> RoadmapError {
    RoadmapError::NotFound(Resource::Comment)
}

/// The entry about a deleted comment.
pub(crate) fn deletion(comment: CommentId, request: FeatureRequestId) -> Audit {
    let changes = vec![Change::new("feature_request", request.to_string(), serde_json::Value::Null)];
    Audit::with_changes("comment.delete", "comment", Some(comment.uuid()), changes)
}

#[async_trait]
impl Operation for EditComment {
    type Output = ListedComment;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ListedComment>, RoadmapError> {
        let (id, max) = (self.comment.uuid(), picture::MAX_IN_POST);
        let content = keep_pictures(work, ("content", &self.content), id, max).await?;
        let edited = work.update_comment(self.comment, &content, context.now).await?.ok_or_else(missing)?;
        if !content.has_pictures() {
            // Those that it had are used no more.
            work.set_pictures(id, &[]).await?;
        }
        let changes = vec![Change::without_values("content")];
        let audit = Audit::with_changes("comment.update", "comment", Some(self.comment.uuid()), changes);
        Ok(Performed::new(edited, audit).storing(storage::row_bytes(&[self.content.as_str()])))
    }
}

#[async_trait]
impl Operation for DeleteComment {
    type Output = FeatureRequestId;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestId>, RoadmapError> {
        // In this order: a comment that waits is perhaps being approved, and is public after that.
        let request = match work.discard_comment(self.comment).await? {
            Some(request) => request,
            None => work.delete_comment(self.comment).await?.ok_or_else(missing)?,
        };
        Ok(Performed::new(request, deletion(self.comment, request)))
    }
}

/// Finds the feature request of a comment. It changes nothing.
#[derive(Debug, Clone, Copy)]
pub struct FindCommentRequest {
    pub comment: CommentId,
}

#[async_trait]
impl Operation for FindCommentRequest {
    type Output = FeatureRequestId;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestId>, RoadmapError> {
        let request = work.find_comment(self.comment).await?.ok_or_else(missing)?;
        Ok(Performed::new(request, Audit::Unchanged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::comment::parse_content;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{perform, summary};
    use uuid::Uuid;

    fn comment() -> CommentId {
        CommentId::new(Uuid::from_u128(5))
    }

    fn edit(unit: &mut MockUnit, content: CleanHtml) -> Result<ListedComment, String> {
        let operation = EditComment { comment: comment(), content };
        perform(&operation, unit).map(|performed| performed.output).map_err(|error| error.to_string())
    }

    #[test]
    fn an_unknown_comment_is_reported() {
        let mut unit = MockUnit::new();
        unit.expect_update_comment().returning(|_, _, _| Ok(None));
        assert_eq!(edit(&mut unit, parse_content(Some("Later")).unwrap()).unwrap_err(), "Comment does not exist.");
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
            match perform(&operation, &mut unit) {
                Ok(deleted) => assert_eq!((Some(deleted.output), is_public || waits), (request(true), true)),
                Err(error) => {
                    assert_eq!((error.to_string().as_str(), is_public || waits), ("Comment does not exist.", false));
                }
            }
        }
    }
}
