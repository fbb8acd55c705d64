//! Exports, and the files of imports and exports.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use diesel::sql_types::Binary;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Filename, UnusedAttachment};
use roadmap_domain::model::export::run::ExportRun;
use roadmap_domain::model::id::{AttachmentId, ExportId, ImportId, WorkspaceId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{AttachmentWrites, JobWrites};
use roadmap_store::columns::Id;
use roadmap_store::rows::ExportRow;
use uuid::Uuid;

use crate::errors::SqlError;
use crate::schema::{attachments, exports};
use crate::statement::statement;
use crate::unit::SqliteUnit;

statement! {
    /// Deletes a run.
    DeleteImport { workspace: Id => Binary, import: Id => Binary }
    "DELETE FROM imports WHERE workspace_id = ? AND id = ?"
}

/// Selects the exports of a workspace, newest first.
pub(crate) fn exports_of(connection: &mut SqliteConnection, workspace: Id) -> Result<Vec<ExportRow>, SqlError> {
    let columns = (
        exports::id,
        exports::state,
        exports::without_people,
        exports::without_notes,
        exports::holder,
        exports::created_at,
        exports::seen_at,
        exports::ended_at,
    );
    let of_workspace = exports::table.filter(exports::workspace_id.eq(workspace));
    Ok(of_workspace.order((exports::created_at.desc(), exports::id.desc())).select(columns).load(connection)?)
}

#[async_trait]
impl JobWrites for SqliteUnit {
    async fn insert_job_file(&mut self, job: Uuid, name: &str, file: &Attachment) -> Result<(), StoreError> {
        let file = Attachment { filename: Filename::from_stored(name.to_owned()), ..file.clone() };
        self.insert_attachment(&file, None).await?;
        self.run(move |connection, workspace| {
            diesel::update(attachments::table.find((workspace, Id(file.id.uuid()))))
                .set(attachments::job_id.eq(Some(Id(job))))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn delete_job_files(&mut self, job: Uuid) -> Result<Vec<UnusedAttachment>, StoreError> {
        self.run(move |connection, workspace| {
            let files = attachments::table
                .filter(attachments::workspace_id.eq(workspace))
                .filter(attachments::job_id.eq(Id(job)));
            let deleted: Vec<(Id, i64)> =
                diesel::delete(files).returning((attachments::id, attachments::byte_size)).load(connection)?;
            let file = |(id, byte_size): (Id, i64)| {
                let (workspace, attachment) = (WorkspaceId::new(workspace.0), AttachmentId::new(id.0));
                UnusedAttachment { key: BlobKey { workspace, attachment }, byte_size: byte_size.unsigned_abs() }
            };
            Ok(deleted.into_iter().map(file).collect())
        })
        .await
    }

    async fn delete_import(&mut self, import: ImportId) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            DeleteImport { workspace, import: Id(import.uuid()) }.execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn load_exports(&mut self) -> Result<Vec<ExportRun>, StoreError> {
        let rows = self.run(exports_of).await?;
        rows.into_iter().map(ExportRun::try_from).collect()
    }

    async fn save_export(&mut self, export: &ExportRun) -> Result<(), StoreError> {
        let export = export.clone();
        self.run(move |connection, workspace| {
            let row = (
                exports::workspace_id.eq(workspace),
                exports::id.eq(Id(export.id.uuid())),
                exports::state.eq(export.state.name()),
                exports::without_people.eq(export.options.without_people),
                exports::without_notes.eq(export.options.without_notes),
                exports::holder.eq(Id(export.holder)),
                exports::created_at.eq(export.created_at.millis()),
                exports::seen_at.eq(export.seen_at.millis()),
                exports::ended_at.eq(export.ended_at.map(Timestamp::millis)),
            );
            diesel::replace_into(exports::table).values(row).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn delete_export(&mut self, export: ExportId) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            diesel::delete(exports::table.find((workspace, Id(export.uuid())))).execute(connection)?;
            Ok(())
        })
        .await
    }
}
