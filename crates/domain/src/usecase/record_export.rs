//! Records in the audit log that the data of a workspace was exported.

use async_trait::async_trait;
use serde_json::Value;
use uuid::Uuid;

use crate::error::RoadmapError;
use crate::model::audit::{Audit, Change};
use crate::model::export::ExportOptions;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Records an export.
#[derive(Debug, Clone, Copy)]
pub struct RecordExport {
    pub options: ExportOptions,
}

#[async_trait]
impl Operation for RecordExport {
    type Output = ();

    async fn perform(&self, _: &OperationContext<'_>, _: &mut dyn UnitOfWork) -> Result<Performed<()>, RoadmapError> {
        Ok(Performed::new((), audit_entry(None, self.options)))
    }
}

/// Returns the entry of the audit log about an export, with its ID if it has one.
pub(crate) fn audit_entry(id: Option<Uuid>, ExportOptions { without_people, without_notes }: ExportOptions) -> Audit {
    let changes = vec![
        Change::new("without_people", Value::Null, without_people),
        Change::new("without_notes", Value::Null, without_notes),
    ];
    Audit::with_changes("export.create", "export", id, changes)
}
