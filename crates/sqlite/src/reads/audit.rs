//! The audit log.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::audit::{ActorFilter, AuditEntry, AuditFilter, AuditListing, AuditPage};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::AuditReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::AuditEntryRow;

use crate::SqliteStore;
use crate::rows::audit_entry_columns;
use crate::schema::audit_entries;

#[async_trait]
impl AuditReader for SqliteStore {
    async fn audit_entries(
        &self,
        workspace: WorkspaceId,
        filter: &AuditFilter,
        page: AuditPage,
    ) -> Result<AuditListing, StoreError> {
        let (workspace, filter) = (Id(workspace.uuid()), filter.clone());
        let size = usize::try_from(page.size).unwrap_or(usize::MAX);
        let rows: Vec<AuditEntryRow> = self
            .readers
            .run(move |connection| {
                let mut entries = audit_entries::table
                    .filter(audit_entries::workspace_id.eq(workspace))
                    .order(audit_entries::id.desc())
                    .select(audit_entry_columns())
                    // One more shows whether there is a next page.
                    .limit(i64::from(page.size) + 1)
                    .into_boxed();
                match filter.actor {
                    Some(ActorFilter::Id(id)) => entries = entries.filter(audit_entries::actor_id.eq(Id(id))),
                    Some(ActorFilter::Kind(kind)) => {
                        entries = entries.filter(audit_entries::actor_kind.eq(kind.name()));
                    }
                    None => {}
                }
                if let Some(action) = filter.action {
                    entries = entries.filter(audit_entries::action.eq(action));
                }
                if let Some(subject) = filter.subject {
                    entries = entries.filter(audit_entries::subject_id.eq(Id(subject)));
                }
                if let Some(from) = filter.from.map(Timestamp::millis) {
                    entries = entries.filter(audit_entries::created_at.ge(from));
                }
                if let Some(to) = filter.to.map(Timestamp::millis) {
                    entries = entries.filter(audit_entries::created_at.lt(to));
                }
                if let Some(before) = page.before {
                    entries = entries.filter(audit_entries::id.lt(Id(before.uuid())));
                }
                Ok(entries.load(connection)?)
            })
            .await?;
        let has_more = rows.len() > size;
        let entries = rows.into_iter().take(size).map(AuditEntry::try_from);
        let entries: Vec<AuditEntry> = entries.collect::<Result<_, StoreError>>()?;
        let next = entries.last().filter(|_| has_more).map(|entry| entry.id);
        Ok(AuditListing { entries, next })
    }
}
