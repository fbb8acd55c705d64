//! Says that a feature request needs no answer, until a customer writes again.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::Audit;
use crate::model::event::EventContent;
use crate::model::feature_request::{FeatureRequestDetail, FeatureRequestRef};
use crate::model::id::FeatureRequestId;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::records::{load_detail, record_event};

/// Says that a feature request needs no answer. One that needs none stays as it is.
#[derive(Debug, Clone, Copy)]
pub struct NeedNoAnswer {
    pub request: FeatureRequestRef,
}

#[async_trait]
impl Operation for NeedNoAnswer {
    type Output = FeatureRequestDetail;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestDetail>, RoadmapError> {
        let request = work.lock_feature_request(&self.request).await?;
        let request = request.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
        let done = need_no_answer(request.id, context, work).await?;
        let detail = load_detail(work, request.id).await?;
        Ok(done.map(|()| detail))
    }
}

/// Says that a feature request, which is locked, needs no answer.
pub(crate) async fn need_no_answer(
    id: FeatureRequestId,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<Performed<()>, RoadmapError> {
    if !work.clear_attention(id, context.now).await? {
        return Ok(Performed::new((), Audit::Unchanged));
    }
    record_event(context, work, id, context.actor.clone(), EventContent::NoAnswerNeeded).await?;
    let audit = Audit::entry("feature_request.no_answer_needed", "feature_request", Some(id.uuid()));
    Ok(Performed::new((), audit).recording(storage::EVENT_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{detail, now, perform, request, summary};

    #[test]
    fn only_one_that_needs_an_answer_is_changed() {
        for is_changed in [true, false] {
            let mut unit = MockUnit::new();
            unit.expect_lock_feature_request().returning(|_| Ok(Some(summary("Inbox", None, 0))));
            unit.expect_clear_attention().withf(|_, at| *at == now()).times(1).returning(move |_, _| Ok(is_changed));
            unit.expect_feature_request_detail().returning(|_| Ok(Some(detail())));
            let is_event = |event: &crate::model::event::NewEvent| event.event.content == EventContent::NoAnswerNeeded;
            unit.expect_insert_event().withf(is_event).times(usize::from(is_changed)).returning(|_| Ok(()));
            let done = perform(&NeedNoAnswer { request: request() }, &mut unit).unwrap();
            assert_eq!((done.has_changed(), done.output), (is_changed, detail()));
        }
    }

    #[test]
    fn a_missing_feature_request_is_reported() {
        let mut unit = MockUnit::new();
        unit.expect_lock_feature_request().returning(|_| Ok(None));
        let error = perform(&NeedNoAnswer { request: request() }, &mut unit).unwrap_err();
        assert_eq!(error.to_string(), "FeatureRequest does not exist.");
    }
}
