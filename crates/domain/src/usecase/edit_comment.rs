//! Edits and deletes a comment.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::comment::ListedComment;
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, FeatureRequestId};
use crate::model::picture;
use crate::model::webhook_event::{EventDraft, EventKind};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::add_picture::keep_pictures;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::records::root_of;

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
        let request = work.find_comment(self.comment).await?.ok_or_else(missing)?;
        let root = root_of(work, request).await?;
        let announced = EventDraft::of_comment(EventKind::CommentUpdated, root, self.comment);
        let changes = vec![Change::without_values("content")];
        let audit = Audit::with_changes("comment.update", "comment", Some(self.comment.uuid()), changes);
        let bytes = storage::row_bytes(&[self.content.as_str()]);
        Ok(Performed::new(edited, audit).storing(bytes).announcing([announced]))
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
        if let Some(request) = work.discard_comment(self.comment).await? {
            return Ok(Performed::new(request, deletion(self.comment, request)));
        }
        let request = work.delete_comment(self.comment).await?.ok_or_else(missing)?;
        let announced = EventDraft::of_deleted_comment(root_of(work, request).await?, self.comment);
        Ok(Performed::new(request, deletion(self.comment, request)).announcing([announced]))
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

    use crate::model::comment::{Comment, PublicAuthor, parse_content};
    use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{perform, summary};
    use uuid::Uuid;

    fn comment() -> CommentId {
        CommentId::new(Uuid::from_u128(5))
    }

    fn edit(unit: &mut MockUnit, content: CleanHtml) -> Result<Performed<ListedComment>, String> {
        perform(&EditComment { comment: comment(), content }, unit).map_err(|error| error.to_string())
    }

    /// Expects that the root of the comment's feature request is looked up. Returns it.
    fn expect_root(unit: &mut MockUnit, times: usize) -> FeatureRequestId {
        let root = FeatureRequestId::new(Uuid::from_u128(9));
        unit.expect_find_feature_request()
            .withf(|of| *of == FeatureRequestRef::Id(summary("", None, 0).id))
            .times(times)
            .returning(move |_| Ok(Some(FeatureRequestSummary { id: root, ..summary("Inbox", None, 0) })));
        root
    }

    #[test]
    fn an_edited_comment_is_announced_with_what_its_feature_request_is_merged_into() {
        let mut unit = MockUnit::new();
        unit.expect_update_comment().times(1).returning(|id, content, at| {
            let comment = Comment { id, content: content.clone(), created_at: at };
            Ok(Some(ListedComment { comment, author: PublicAuthor::Customer(None), from: None, updated_at: at }))
        });
        unit.expect_set_pictures().returning(|_, _| Ok(()));
        unit.expect_find_comment().withf(|id| *id == comment()).returning(|_| Ok(Some(summary("", None, 0).id)));
        let root = expect_root(&mut unit, 1);
        let edited = edit(&mut unit, parse_content(Some("Later")).unwrap()).unwrap();
        assert_eq!(edited.events, [EventDraft::of_comment(EventKind::CommentUpdated, root, comment())]);
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
            let root = expect_root(&mut unit, usize::from(is_public));
            let operation = DeleteComment { comment: comment() };
            match perform(&operation, &mut unit) {
                Ok(deleted) => {
                    assert_eq!((Some(deleted.output), is_public || waits), (request(true), true));
                    // One that waited was never announced.
                    let announced = EventDraft::of_deleted_comment(root, comment());
                    assert_eq!(deleted.events, if is_public { vec![announced] } else { Vec::new() });
                }
                Err(error) => {
                    assert_eq!((error.to_string().as_str(), is_public || waits), ("Comment does not exist.", false));
                }
            }
        }
    }
}
