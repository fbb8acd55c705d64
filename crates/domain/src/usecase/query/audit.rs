//! The audit log of a workspace.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::audit::{AuditFilter, AuditListing, AuditPage};
use crate::model::id::WorkspaceId;
use crate::usecase::query::{Query, QueryPorts};

/// Lists entries of the audit log, newest first.
#[derive(Debug, Clone)]
pub struct ListAuditEntries {
    /// Which entries.
    pub filter: AuditFilter,
    /// Which part of them.
    pub page: AuditPage,
}

#[async_trait]
impl Query for ListAuditEntries {
    type Output = AuditListing;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<AuditListing, RoadmapError> {
        Ok(ports.reader.audit_entries(workspace, &self.filter, self.page).await?)
    }
}
