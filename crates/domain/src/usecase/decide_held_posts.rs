//! Approves or discards many ideas and comments that wait, in one unit of work.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::admin::{HeldSelection, Triage};
use crate::model::audit::Audit;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::hold_comment::{ApproveComment, DiscardComment};
use crate::usecase::triage_feature_requests::TriageFeatureRequests;

/// Approves the selected posts, or discards them: comments are deleted, and ideas stay private, as one by one. Those about
/// which somebody else has decided meanwhile are left out.
#[derive(Debug, Clone)]
pub struct DecideHeldPosts {
    pub posts: HeldSelection,
    /// Whether they are approved.
    pub approves: bool,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldPostsDecided {
    /// The number of posts that do not wait any more.
    pub changed: usize,
}

/// Adds what an operation on a comment does to `decided`, unless the comment waits no more.
async fn decide<O: Operation>(
    operation: &O,
    decided: &mut Performed<HeldPostsDecided>,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<(), RoadmapError> {
    match operation.perform(context, work).await {
        Ok(performed) => {
            decided.join(performed);
            decided.output.changed += 1;
            Ok(())
        }
        Err(RoadmapError::NotFound(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

#[async_trait]
impl Operation for DecideHeldPosts {
    type Output = HeldPostsDecided;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<HeldPostsDecided>, RoadmapError> {
        let mut decided = Performed::new(HeldPostsDecided { changed: 0 }, Audit::Unchanged);
        if let Some(selection) = self.posts.requests() {
            let triage = if self.approves { Triage::Approve } else { Triage::Decline };
            let triaged = TriageFeatureRequests { selection, triage }.perform(context, work).await?;
            decided.output.changed += decided.join(triaged).changed;
        }
        for comment in self.posts.comments().iter().copied() {
            if self.approves {
                decide(&ApproveComment { comment }, &mut decided, context, work).await?;
            } else {
                decide(&DiscardComment { comment }, &mut decided, context, work).await?;
            }
        }
        Ok(decided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;
    use crate::model::html::CleanHtml;
    use crate::model::id::{CommentId, FeatureRequestId};
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{perform, summary};
    use uuid::Uuid;

    fn comment(number: u128) -> CommentId {
        CommentId::new(Uuid::from_u128(number))
    }

    #[test]
    fn comments_that_wait_are_decided_and_others_left_out() {
        for approves in [true, false] {
            let mut unit = MockUnit::new();
            // The second comment waits no more.
            let waits = |id: CommentId| -> Result<_, StoreError> {
                Ok((id == comment(1)).then(|| summary("Inbox", None, 0).id))
            };
            let approved =
                move |id| waits(id).map(|request| request.map(|id| (id, CleanHtml::from_stored(String::new()))));
            unit.expect_approve_comment().times(if approves { 2 } else { 0 }).returning(approved);
            unit.expect_discard_comment().times(if approves { 0 } else { 2 }).returning(waits);
            unit.expect_find_feature_request().returning(|_| Ok(Some(summary("Inbox", None, 0))));
            let posts = HeldSelection::new("id", Vec::new(), vec![comment(1), comment(2)]).unwrap();
            let operation = DecideHeldPosts { posts, approves };
            let decided = perform(&operation, &mut unit).unwrap();
            assert_eq!(decided.output.changed, 1);
            let entries = decided.audit.into_entries();
            let action = if approves { "comment.approve" } else { "comment.delete" };
            assert_eq!(entries.iter().map(|entry| entry.action).collect::<Vec<_>>(), [action]);
        }
    }

    #[test]
    fn an_idea_that_is_gone_is_left_out() {
        let mut unit = MockUnit::new();
        unit.expect_existing_feature_requests().returning(|_| Ok(Vec::new()));
        let posts = HeldSelection::new("id", vec![FeatureRequestId::new(Uuid::from_u128(1))], Vec::new()).unwrap();
        let operation = DecideHeldPosts { posts, approves: true };
        let decided = perform(&operation, &mut unit).unwrap();
        assert_eq!((decided.output.changed, decided.audit), (0, Audit::Unchanged));
    }
}
