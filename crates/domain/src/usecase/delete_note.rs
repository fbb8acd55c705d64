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
