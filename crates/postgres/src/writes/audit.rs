//! The audit log, to which the service's role may only add.

use async_trait::async_trait;
use diesel::prelude::ExpressionMethods;
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::audit::AuditEntry;
use roadmap_domain::ports::AuditWrites;
use roadmap_store::columns::TimestampColumn;

use crate::schema::audit_entries;
use crate::unit::PostgresUnit;

#[async_trait]
impl AuditWrites for PostgresUnit {
    async fn insert_audit_entry(&mut self, entry: &AuditEntry) -> Result<(), StoreError> {
        let actor = &entry.origin.actor;
        let insert = diesel::insert_into(audit_entries::table).values((
            audit_entries::workspace_id.eq(self.workspace),
            audit_entries::id.eq(entry.id.uuid()),
            audit_entries::created_at.eq(TimestampColumn::from(entry.at)),
            audit_entries::actor_kind.eq(actor.kind.name()),
            audit_entries::actor_id.eq(actor.id),
            audit_entries::actor_name.eq(actor.name.as_str()),
            audit_entries::channel.eq(entry.origin.channel.name()),
            audit_entries::request_id.eq(entry.origin.request_id.as_deref()),
            audit_entries::action.eq(entry.action.as_str()),
            audit_entries::subject_kind.eq(entry.subject.kind.as_str()),
            audit_entries::subject_id.eq(entry.subject.id),
            audit_entries::changes.eq(entry.changes_json()),
        ));
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
