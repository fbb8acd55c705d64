//! Deletes a private note.

use async_trait::async_trait;
use serde_json::Value;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::id::{FeatureRequestId, NoteId};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Deletes a note.
#[derive(Debug, Clone, Copy)]
pub struct DeleteNote {
    /// The note.
    pub note: NoteId,
}

#[async_trait]
impl Operation for DeleteNote {
    type Output = FeatureRequestId;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestId>, RoadmapError> {
        let request = work.delete_note(self.note).await?.ok_or(RoadmapError::NotFound(Resource::ReferenceNote))?;
        let changes = vec![Change::new("feature_request", request.to_string(), Value::Null)];
        let audit = Audit::with_changes("reference_note.delete", "reference_note", Some(self.note.uuid()), changes);
        Ok(Performed::new(request, audit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, summary};
    use pollster::block_on;
    use uuid::Uuid;

    #[test]
    fn only_an_existing_note_is_deleted() {
        let note = NoteId::new(Uuid::from_u128(5));
        for exists in [true, false] {
            let mut unit = MockUnit::new();
            unit.expect_delete_note()
                .withf(move |id| *id == note)
                .times(1)
                .returning(move |_| Ok(exists.then(|| summary("", None, 0).id)));
            let outcome = block_on(DeleteNote { note }.perform(&context(&NumberedIds::default()), &mut unit));
            match outcome {
                Ok(_) => assert!(exists),
                Err(error) => {
                    assert_eq!((exists, error.to_string().as_str()), (false, "ReferenceNote does not exist."))
                }
            }
        }
    }
}
