//! The audit log.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::audit::{ActorFilter, AuditEntry, AuditFilter, AuditListing, AuditPage};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::ports::AuditReader;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::AuditEntryRow;

use crate::PostgresReader;
use crate::rows::audit_entry_columns;
use crate::schema::audit_entries;

#[async_trait]
impl AuditReader for PostgresReader {
    /// The statement has only the conditions of the filter, so that the planner picks the index of one of them.
    async fn audit_entries(
        &self,
        workspace: WorkspaceId,
        filter: &AuditFilter,
        page: AuditPage,
    ) -> Result<AuditListing, StoreError> {
        let mut entries = audit_entries::table
            .filter(audit_entries::workspace_id.eq(workspace.uuid()))
            .order(audit_entries::id.desc())
            .limit(i64::from(page.size) + 1)
            .select(audit_entry_columns())
            .into_boxed();
        if let Some(before) = page.before {
            entries = entries.filter(audit_entries::id.lt(before.uuid()));
        }
        match filter.actor {
            Some(ActorFilter::Id(id)) => entries = entries.filter(audit_entries::actor_id.eq(id)),
            Some(ActorFilter::Kind(kind)) => entries = entries.filter(audit_entries::actor_kind.eq(kind.name())),
            None => {}
        }
        if let Some(action) = &filter.action {
            entries = entries.filter(audit_entries::action.eq(action));
        }
        if let Some(subject) = filter.subject {
            entries = entries.filter(audit_entries::subject_id.eq(subject));
        }
        if let Some(from) = filter.from {
            entries = entries.filter(audit_entries::created_at.ge(TimestampColumn::from(from)));
        }
        if let Some(to) = filter.to {
            entries = entries.filter(audit_entries::created_at.lt(TimestampColumn::from(to)));
        }
        let session = self.session(workspace).await?;
        let rows: Vec<AuditEntryRow> = session.run(entries.load(&mut session.connection()?)).await?;
        let mut entries = rows.into_iter().map(AuditEntry::try_from).collect::<Result<Vec<_>, _>>()?;
        let size = usize::try_from(page.size).unwrap_or(usize::MAX);
        let has_more = entries.len() > size;
        entries.truncate(size);
        let next = entries.last().filter(|_| has_more).map(|entry| entry.id);
        Ok(AuditListing { entries, next })
    }
}
