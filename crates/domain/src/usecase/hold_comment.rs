//! Comments of customers that wait for approval.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::comment::{CommentAuthor, NewComment};
use crate::model::customer::CustomerDraft;
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, CustomerId, FeatureRequestId};
use crate::model::picture;
use crate::model::webhook_event::{EventDraft, EventKind};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::add_picture::keep_pictures;
use crate::usecase::edit_comment::deletion;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::post_comment::notify_people;

/// Stores a comment that is not public before it is approved.
#[derive(Debug, Clone)]
pub struct HoldComment {
    pub request: FeatureRequestRef,
    pub content: CleanHtml,
    /// The author.
    pub customer: CustomerDraft,
}

/// Publishes a comment that waits.
#[derive(Debug, Clone, Copy)]
pub struct ApproveComment {
    pub comment: CommentId,
}

/// Deletes a comment that waits. One that was approved in the meantime stays.
#[derive(Debug, Clone, Copy)]
pub struct DiscardComment {
    pub comment: CommentId,
}

#[async_trait]
impl Operation for HoldComment {
    type Output = FeatureRequestSummary;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestSummary>, RoadmapError> {
        let id = context.new_id(CommentId::new);
        let content = keep_pictures(work, ("content", &self.content), id.uuid(), picture::MAX_IN_POST).await?;
        let comment = NewComment {
            id,
            request: self.request,
            content,
            author: CommentAuthor::Customer(self.customer.to_new_customer(context.new_id(CustomerId::new))),
            created_at: context.now,
        };
        let request = work.hold_comment(&comment).await?;
        let request = request.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
        let bytes = storage::row_bytes(&[self.content.as_str()]) + storage::customer_bytes(&self.customer);
        Ok(Performed::new(request, Audit::OwnRecord(OwnRecord::Comment)).storing(bytes))
    }
}

#[async_trait]
impl Operation for ApproveComment {
    type Output = FeatureRequestSummary;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestSummary>, RoadmapError> {
        let approved = work.approve_comment(self.comment).await?;
        let (request, content) = approved.ok_or(RoadmapError::NotFound(Resource::Comment))?;
        notify_people(work, self.comment, false, &content, context.now).await?;
        let request = work.find_feature_request(&FeatureRequestRef::Id(request)).await?;
        let request = request.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
        let announced = EventDraft::of_comment(EventKind::CommentCreated, request.id, self.comment);
        let audit = Audit::entry("comment.approve", "comment", Some(self.comment.uuid()));
        Ok(Performed::new(request, audit).announcing([announced]))
    }
}

#[async_trait]
impl Operation for DiscardComment {
    type Output = FeatureRequestId;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestId>, RoadmapError> {
        let request = work.discard_comment(self.comment).await?.ok_or(RoadmapError::NotFound(Resource::Comment))?;
        Ok(Performed::new(request, deletion(self.comment, request)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{perform, summary};
    use uuid::Uuid;

    #[test]
    fn a_comment_that_waits_no_more_is_not_discarded() {
        let discard = DiscardComment { comment: CommentId::new(Uuid::from_u128(1)) };
        let request = summary("Inbox", None, 0).id;
        for waits in [true, false] {
            // An approved comment is not deleted: `MockUnit` does not expect `delete_comment`.
            let mut unit = MockUnit::new();
            unit.expect_discard_comment()
                .withf(move |comment| *comment == discard.comment)
                .times(1)
                .returning(move |_| Ok(waits.then_some(request)));
            match perform(&discard, &mut unit) {
                Ok(discarded) => {
                    assert!(waits && discarded.output == request && discarded.events.is_empty());
                    assert!(matches!(discarded.audit, Audit::Entry(entry) if entry.action == "comment.delete"));
                }
                Err(error) => assert_eq!((waits, error.to_string().as_str()), (false, "Comment does not exist.")),
            }
        }
    }

    /// Addition 7.
    #[test]
    fn an_approved_comment_is_recorded_and_its_feature_request_returned() {
        let approve = ApproveComment { comment: CommentId::new(Uuid::from_u128(1)) };
        let of_comment = summary("Inbox", None, 0);
        let (id, request) = (of_comment.id, of_comment.clone());
        let quoted = CommentId::new(Uuid::from_u128(21));
        let content = move || {
            let link = format!("<p><a href=\"https://acme.example/x#comment-{quoted}\">x</a></p>");
            CleanHtml::from_stored(link)
        };
        let mut unit = MockUnit::new();
        unit.expect_approve_comment()
            .withf(move |comment| *comment == approve.comment)
            .times(1)
            .returning(move |_| Ok(Some((id, content()))));
        unit.expect_notify_people()
            .withf(move |comment, to_author, replied, _| {
                *comment == approve.comment && !*to_author && *replied == [quoted]
            })
            .times(1)
            .returning(|_, _, _, _| Ok(()));
        unit.expect_find_feature_request()
            .withf(move |request| *request == FeatureRequestRef::Id(id))
            .return_once(move |_| Ok(Some(request)));
        let approved = perform(&approve, &mut unit).unwrap();
        assert_eq!(approved.output, of_comment);
        assert_eq!(approved.events, [EventDraft::of_comment(EventKind::CommentCreated, id, approve.comment)]);
        assert_eq!(approved.audit, Audit::entry("comment.approve", "comment", Some(approve.comment.uuid())));
    }
}
