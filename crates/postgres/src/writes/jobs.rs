//! Exports, and the files of imports and exports.

use async_trait::async_trait;
use diesel::prelude::ExpressionMethods;
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Filename, UnusedAttachment};
use roadmap_domain::model::export::run::ExportRun;
use roadmap_domain::model::id::{AttachmentId, ExportId, ImportId, WorkspaceId};
use roadmap_domain::ports::{AttachmentWrites, JobWrites};
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::ExportRow;
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::schema::{attachments, exports};
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Selects the exports of a workspace, newest first.
    Exports { workspace: Uuid => SqlUuid } -> (
        SqlUuid, Text, Bool, Bool, SqlUuid, Timestamptz, Timestamptz, Nullable<Timestamptz>
    ),
    "SELECT id, state, without_people, without_notes, holder, created_at, seen_at, ended_at FROM exports
     WHERE workspace_id = {workspace} ORDER BY created_at DESC, id DESC"
}

statement! {
    /// Deletes the files of an import or an export.
    DeleteJobFiles { workspace: Uuid => SqlUuid, job: Uuid => SqlUuid } -> (SqlUuid, BigInt),
    "DELETE FROM attachments WHERE workspace_id = {workspace} AND job_id = {job} RETURNING id, byte_size"
}

statement! {
    /// Deletes a run.
    DeleteImport { workspace: Uuid => SqlUuid, import: Uuid => SqlUuid } -> Untyped,
    "DELETE FROM imports WHERE workspace_id = {workspace} AND id = {import}"
}

#[async_trait]
impl JobWrites for PostgresUnit {
    async fn insert_job_file(&mut self, job: Uuid, name: &str, file: &Attachment) -> Result<(), StoreError> {
        let file = Attachment { filename: Filename::from_stored(name.to_owned()), ..file.clone() };
        self.insert_attachment(&file, None).await?;
        let of_job = diesel::update(attachments::table)
            .filter(attachments::workspace_id.eq(self.workspace))
            .filter(attachments::id.eq(file.id.uuid()))
            .set(attachments::job_id.eq(Some(job)));
        self.run(of_job.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn delete_job_files(&mut self, job: Uuid) -> Result<Vec<UnusedAttachment>, StoreError> {
        let delete = DeleteJobFiles { workspace: self.workspace, job };
        let deleted: Vec<(Uuid, i64)> = self.run(delete.load(&mut self.connection()?)).await?;
        let workspace = WorkspaceId::new(self.workspace);
        let file = |(id, byte_size): (Uuid, i64)| {
            let key = BlobKey { workspace, attachment: AttachmentId::new(id) };
            UnusedAttachment { key, byte_size: byte_size.unsigned_abs() }
        };
        Ok(deleted.into_iter().map(file).collect())
    }

    async fn delete_import(&mut self, import: ImportId) -> Result<(), StoreError> {
        let delete = DeleteImport { workspace: self.workspace, import: import.uuid() };
        self.run(delete.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn load_exports(&mut self) -> Result<Vec<ExportRun>, StoreError> {
        self.lock_workspace(WorkspaceLock::Exports).await?;
        let select = Exports { workspace: self.workspace };
        let rows: Vec<ExportRow> = self.run(select.load(&mut self.connection()?)).await?;
        rows.into_iter().map(ExportRun::try_from).collect()
    }

    async fn save_export(&mut self, export: &ExportRun) -> Result<(), StoreError> {
        let changing = (
            exports::state.eq(export.state.name()),
            exports::holder.eq(export.holder),
            exports::seen_at.eq(TimestampColumn::from(export.seen_at)),
            exports::ended_at.eq(export.ended_at.map(TimestampColumn::from)),
        );
        let row = (
            exports::workspace_id.eq(self.workspace),
            exports::id.eq(export.id.uuid()),
            exports::without_people.eq(export.options.without_people),
            exports::without_notes.eq(export.options.without_notes),
            exports::created_at.eq(TimestampColumn::from(export.created_at)),
            changing,
        );
        let insert = diesel::insert_into(exports::table)
            .values(row)
            .on_conflict((exports::workspace_id, exports::id))
            .do_update()
            .set(changing);
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn delete_export(&mut self, export: ExportId) -> Result<(), StoreError> {
        let delete = diesel::delete(exports::table)
            .filter(exports::workspace_id.eq(self.workspace))
            .filter(exports::id.eq(export.uuid()));
        self.run(delete.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
