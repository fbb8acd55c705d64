//! Steps that several commands on feature requests share.

use crate::error::{RoadmapError, StoreError};
use crate::model::audit::Actor;
use crate::model::event::{Event, EventContent, NewEvent};
use crate::model::feature_request::{FeatureRequestDetail, FeatureRequestRef, RequestLink};
use crate::model::id::{EventId, FeatureRequestId};
use crate::model::webhook_event::{EventDetails, EventDraft, EventKind, EventRecords, LinkDetails};
use crate::policy::merging::MergeNode;
use crate::ports::UnitOfWork;
use crate::usecase::executor::OperationContext;

/// Adds an event by `actor` to the history of a feature request. Returns its ID.
pub(crate) async fn record_event(
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
    request: FeatureRequestId,
    actor: Actor,
    content: EventContent,
) -> Result<EventId, StoreError> {
    let id = context.new_id(EventId::new);
    let event = Event { id, content, actor, created_at: context.now };
    work.insert_event(&NewEvent { request, event }).await?;
    Ok(id)
}

/// Returns a feature request that the unit of work has found before, with all of its fields.
pub(crate) async fn load_detail(
    work: &mut dyn UnitOfWork,
    request: FeatureRequestId,
) -> Result<FeatureRequestDetail, RoadmapError> {
    let lost = || StoreError::Fatal("a feature request was not found in the unit of work that changes it".into());
    Ok(work.feature_request_detail(request).await?.ok_or_else(lost)?)
}

/// Returns what a feature request is merged into in the end, or itself.
pub(crate) async fn root_of(
    work: &mut dyn UnitOfWork,
    request: FeatureRequestId,
) -> Result<FeatureRequestId, StoreError> {
    let root = work.find_feature_request(&FeatureRequestRef::Id(request)).await?;
    Ok(root.map_or(request, |root| root.id))
}

/// Whether a feature request, or what it is merged into in the end, is private.
pub(crate) async fn is_hidden(work: &mut dyn UnitOfWork, node: &MergeNode) -> Result<bool, StoreError> {
    match node.ancestors.last() {
        Some(root) if !node.private => {
            let root = work.find_merge_node(&FeatureRequestRef::Id(*root)).await?;
            Ok(root.is_some_and(|root| root.private))
        }
        _ => Ok(node.private),
    }
}

/// Returns the event of a feature request that does not exist any more, or will not become public.
pub(crate) fn deleted_request(request: &RequestLink, private: bool) -> EventDraft {
    let details = EventDetails { deleted: Some(LinkDetails::new(request, private)), ..EventDetails::default() };
    EventDraft::new(EventKind::FeatureRequestDeleted, EventRecords::default()).with(details)
}
