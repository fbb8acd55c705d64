//! The audit log.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::audit::AuditEntry;
use roadmap_domain::ports::AuditWrites;
use roadmap_store::columns::Id;

use crate::schema::audit_entries;
use crate::unit::SqliteUnit;

#[async_trait]
impl AuditWrites for SqliteUnit {
    async fn insert_audit_entry(&mut self, entry: &AuditEntry) -> Result<(), StoreError> {
        let entry = entry.clone();
        self.run(move |connection, workspace| {
            let changes = entry.changes_json();
            diesel::insert_into(audit_entries::table)
                .values((
                    audit_entries::workspace_id.eq(workspace),
                    audit_entries::id.eq(Id(entry.id.uuid())),
                    audit_entries::created_at.eq(entry.at.millis()),
                    audit_entries::actor_kind.eq(entry.origin.actor.kind.name()),
                    audit_entries::actor_id.eq(entry.origin.actor.id.map(Id)),
                    audit_entries::actor_name.eq(entry.origin.actor.name),
                    audit_entries::channel.eq(entry.origin.channel.name()),
                    audit_entries::request_id.eq(entry.origin.request_id),
                    audit_entries::action.eq(entry.action),
                    audit_entries::subject_kind.eq(entry.subject.kind),
                    audit_entries::subject_id.eq(entry.subject.id.map(Id)),
                    audit_entries::changes.eq(changes),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }
}
