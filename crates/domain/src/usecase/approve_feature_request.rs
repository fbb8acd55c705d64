//! Approves or declines an idea that waits.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::audit::{Audit, Change};
use crate::model::feature_request::FeatureRequestRef;
use crate::ports::UnitOfWork;
use crate::usecase::edit_feature_request::{EditFeatureRequest, FeatureRequestChange, FeatureRequestEdited};
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::records::load_detail;

/// Makes a feature request public that awaits approval. One that does not await it stays as it is.
#[derive(Debug, Clone, Copy)]
pub struct ApproveFeatureRequest {
    /// The feature request.
    pub request: FeatureRequestRef,
}

impl ApproveFeatureRequest {
    fn edit(&self, private: Option<bool>) -> EditFeatureRequest {
        let change = FeatureRequestChange { private, ..FeatureRequestChange::default() };
        EditFeatureRequest { request: self.request, change }
    }
}

#[async_trait]
impl Operation for ApproveFeatureRequest {
    type Output = FeatureRequestEdited;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestEdited>, RoadmapError> {
        // An edit without changes locks the row and loads it.
        let found = self.edit(None).perform(context, work).await?;
        if !found.output.detail.awaiting_approval {
            return Ok(found);
        }
        // By its ID, because the reference may mean another one by now, if a merge was undone.
        let id = found.output.detail.summary.id;
        let edited = Self { request: FeatureRequestRef::Id(id) }.edit(Some(false)).perform(context, work).await?;
        let audit =
            Audit::of_changes("feature_request.approve", "feature_request", Some(id.uuid()), &edited.output.changes);
        Ok(Performed { audit, ..edited }.never_refused())
    }
}

/// Ends the wait of a feature request for approval. It stays private. One that does not wait stays as it is.
#[derive(Debug, Clone, Copy)]
pub struct DeclineFeatureRequest {
    /// The feature request.
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
        let found = ApproveFeatureRequest { request: self.request }.edit(None).perform(context, work).await?;
        let id = found.output.detail.summary.id;
        if !found.output.detail.awaiting_approval || !work.decline_feature_request(id, context.now).await? {
            return Ok(found);
        }
        let changes = vec![Change::new("awaiting_approval", true, false)];
        let audit = Audit::of_changes("feature_request.decline", "feature_request", Some(id.uuid()), &changes);
        Ok(Performed::new(FeatureRequestEdited { detail: load_detail(work, id).await?, changes }, audit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::feature_request::{Description, EditableFields, FeatureRequestDetail, Title};
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
            assert_eq!(perform(&approve, &mut unit).unwrap().has_changed(), awaiting_approval);
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
            assert_eq!(perform(&operation, &mut unit).unwrap().has_changed(), declined);
        }
    }
}
