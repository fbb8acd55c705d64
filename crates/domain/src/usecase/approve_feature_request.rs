//! Approves or declines an idea that waits.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::audit::{Audit, Change};
use crate::model::feature_request::{EditableFields, FeatureRequestRef, RequestLink};
use crate::model::id::FeatureRequestId;
use crate::ports::UnitOfWork;
use crate::usecase::edit_feature_request::{FeatureRequestChange, FeatureRequestEdited, edit, find_fields};
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::records::{deleted_request, load_detail};

/// Makes a feature request public that awaits approval. One that does not await it stays as it is.
#[derive(Debug, Clone, Copy)]
pub struct ApproveFeatureRequest {
    pub request: FeatureRequestRef,
}

#[async_trait]
impl Operation for ApproveFeatureRequest {
    type Output = FeatureRequestEdited;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestEdited>, RoadmapError> {
        let fields = find_fields(&self.request, work).await?;
        approve(&fields, context, work).await
    }
}

/// Makes a feature request public, which is locked and has these fields, if it awaits approval.
pub(crate) async fn approve(
    fields: &EditableFields,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<Performed<FeatureRequestEdited>, RoadmapError> {
    let detail = load_detail(work, fields.id).await?;
    if !detail.awaiting_approval {
        return Ok(Performed::new(FeatureRequestEdited { detail, changes: Vec::new() }, Audit::Unchanged));
    }
    let change = FeatureRequestChange { private: Some(false), ..FeatureRequestChange::default() };
    let edited = edit(fields, &change, context, work).await?;
    let id = Some(fields.id.uuid());
    let audit = Audit::of_changes("feature_request.approve", "feature_request", id, &edited.output.changes);
    Ok(Performed { audit, ..edited }.never_refused())
}

/// Ends the wait of a feature request for approval. It stays private. One that does not wait stays as it is.
#[derive(Debug, Clone, Copy)]
pub struct DeclineFeatureRequest {
    pub request: FeatureRequestRef,
}

#[async_trait]
impl Operation for DeclineFeatureRequest {
    type Output = FeatureRequestEdited;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestEdited>, RoadmapError> {
        let fields = find_fields(&self.request, work).await?;
        decline(fields.id, context, work).await
    }
}

/// Ends the wait of a feature request for approval, which is locked, if it waits.
pub(crate) async fn decline(
    id: FeatureRequestId,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<Performed<FeatureRequestEdited>, RoadmapError> {
    let detail = load_detail(work, id).await?;
    if !detail.awaiting_approval || !work.decline_feature_request(id, context.now).await? {
        return Ok(Performed::new(FeatureRequestEdited { detail, changes: Vec::new() }, Audit::Unchanged));
    }
    let changes = vec![Change::new("awaiting_approval", true, false)];
    let audit = Audit::of_changes("feature_request.decline", "feature_request", Some(id.uuid()), &changes);
    // It was to become public.
    let announced = deleted_request(&RequestLink::from(&detail.summary), true);
    let edited = FeatureRequestEdited { detail: load_detail(work, id).await?, changes };
    Ok(Performed::new(edited, audit).announcing([announced]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::feature_request::{Description, FeatureRequestDetail, Title};
    use crate::model::webhook_event::EventDraft;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{detail, perform, request};

    /// Addition 7.
    #[test]
    fn only_one_that_waits_becomes_public() {
        for awaiting_approval in [true, false] {
            let mut unit = MockUnit::new();
            unit.expect_find_editable_fields().returning(move |_| {
                Ok(Some(EditableFields {
                    id: detail().summary.id,
                    title: Title::parse("title", "Dark mode").unwrap(),
                    description: Description::parse("description", "").unwrap(),
                    tags: Vec::new(),
                    private: true,
                }))
            });
            unit.expect_feature_request_detail()
                .returning(move |_| Ok(Some(FeatureRequestDetail { awaiting_approval, ..detail() })));
            let times = usize::from(awaiting_approval);
            unit.expect_save_editable_fields().withf(|fields, _| !fields.private).times(times).returning(|_, _| Ok(()));
            unit.expect_searchable_text().times(times).returning(|_, _| Ok(None));
            unit.expect_delete_search_document().times(times).returning(|_| Ok(()));
            unit.expect_insert_event().times(times).returning(|_| Ok(()));
            let approve = ApproveFeatureRequest { request: request() };
            let approved = perform(&approve, &mut unit).unwrap();
            assert_eq!(approved.has_changed(), awaiting_approval);
            let announced = EventDraft::of_edit(detail().summary.id, ["private"]);
            assert_eq!(approved.events, if awaiting_approval { vec![announced] } else { Vec::new() });
        }
    }

    /// Addition 7.
    #[test]
    fn only_one_that_waits_is_declined() {
        for (awaiting_approval, declined) in [(true, true), (true, false), (false, false)] {
            let mut unit = MockUnit::new();
            unit.expect_find_editable_fields().returning(move |_| {
                Ok(Some(EditableFields {
                    id: detail().summary.id,
                    title: Title::parse("title", "Dark mode").unwrap(),
                    description: Description::parse("description", "").unwrap(),
                    tags: Vec::new(),
                    private: true,
                }))
            });
            unit.expect_feature_request_detail()
                .returning(move |_| Ok(Some(FeatureRequestDetail { awaiting_approval, private: true, ..detail() })));
            unit.expect_decline_feature_request()
                .times(usize::from(awaiting_approval))
                .returning(move |_, _| Ok(declined));
            let operation = DeclineFeatureRequest { request: request() };
            let done = perform(&operation, &mut unit).unwrap();
            assert_eq!(done.has_changed(), declined);
            let announced = deleted_request(&RequestLink::from(&detail().summary), true);
            assert_eq!(done.events, if declined { vec![announced] } else { Vec::new() });
        }
    }
}
