//! Imports, exports and their files.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::export::run::ExportRun;
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::import::run::Import;
use roadmap_domain::model::import::upload::JobFile;
use roadmap_domain::ports::JobReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{ExportRow, ImportRow, JobFileRow, import, job_file};
use uuid::Uuid;

use crate::SqliteStore;
use crate::rows::attachment_columns;
use crate::schema::attachments;
use crate::writes::import_runs::Imports;
use crate::writes::jobs::exports_of;

#[async_trait]
impl JobReader for SqliteStore {
    async fn imports(&self, workspace: WorkspaceId) -> Result<Vec<Import>, StoreError> {
        let select = Imports { workspace: Id(workspace.uuid()) };
        let rows: Vec<ImportRow> = self.readers.run(move |connection| Ok(select.load(connection)?)).await?;
        rows.into_iter().map(import).collect()
    }

    async fn exports(&self, workspace: WorkspaceId) -> Result<Vec<ExportRun>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows: Vec<ExportRow> = self.readers.run(move |connection| exports_of(connection, workspace)).await?;
        rows.into_iter().map(ExportRun::try_from).collect()
    }

    async fn job_files(&self, workspace: WorkspaceId, jobs: &[Uuid]) -> Result<Vec<JobFile>, StoreError> {
        let (workspace, jobs) = (Id(workspace.uuid()), jobs.iter().copied().map(Id).collect::<Vec<_>>());
        let select = move |connection: &mut _| {
            let files = attachments::table
                .filter(attachments::workspace_id.eq(workspace))
                .filter(attachments::job_id.eq_any(jobs.iter().copied().map(Some)))
                .order((attachments::job_id, attachments::filename))
                .select((attachments::job_id, attachment_columns()));
            Ok(files.load::<JobFileRow>(connection)?)
        };
        let rows: Vec<JobFileRow> = self.readers.run(select).await?;
        rows.into_iter().filter_map(|row| job_file(row).transpose()).collect()
    }

    async fn job_file(&self, workspace: WorkspaceId, file: AttachmentId) -> Result<Option<JobFile>, StoreError> {
        let (workspace, file) = (Id(workspace.uuid()), Id(file.uuid()));
        let select = move |connection: &mut _| {
            let row = attachments::table.find((workspace, file)).select((attachments::job_id, attachment_columns()));
            Ok(row.first::<JobFileRow>(connection).optional()?)
        };
        let row: Option<JobFileRow> = self.readers.run(select).await?;
        row.map_or(Ok(None), job_file)
    }
}
