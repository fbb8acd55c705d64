//! Steps that several commands on feature requests share.

use crate::error::{RoadmapError, StoreError};
use crate::model::audit::Actor;
use crate::model::event::{Event, EventContent, NewEvent};
use crate::model::feature_request::FeatureRequestDetail;
use crate::model::id::{EventId, FeatureRequestId};
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
