//! Imports, exports and their files.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::export::run::ExportRun;
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::import::run::Import;
use roadmap_domain::model::import::upload::JobFile;
use roadmap_domain::ports::JobReader;
use roadmap_store::rows::{ExportRow, ImportRow, JobFileRow, import, job_file};
use uuid::Uuid;

use crate::PostgresReader;
use crate::rows::attachment_columns;
use crate::schema::attachments;
use crate::writes::import_runs::Imports;
use crate::writes::jobs::Exports;

#[async_trait]
impl JobReader for PostgresReader {
    async fn imports(&self, workspace: WorkspaceId) -> Result<Vec<Import>, StoreError> {
        let session = self.session(workspace).await?;
        let select = Imports { workspace: workspace.uuid() };
        let rows: Vec<ImportRow> = session.run(select.load(&mut session.connection()?)).await?;
        rows.into_iter().map(import).collect()
    }

    async fn exports(&self, workspace: WorkspaceId) -> Result<Vec<ExportRun>, StoreError> {
        let session = self.session(workspace).await?;
        let select = Exports { workspace: workspace.uuid() };
        let rows: Vec<ExportRow> = session.run(select.load(&mut session.connection()?)).await?;
        rows.into_iter().map(ExportRun::try_from).collect()
    }

    async fn job_files(&self, workspace: WorkspaceId, jobs: &[Uuid]) -> Result<Vec<JobFile>, StoreError> {
        let session = self.session(workspace).await?;
        let select = attachments::table
            .filter(attachments::workspace_id.eq(workspace.uuid()))
            .filter(attachments::job_id.eq_any(jobs))
            .order((attachments::job_id, attachments::filename))
            .select((attachments::job_id, attachment_columns()));
        let rows: Vec<JobFileRow> = session.run(select.load(&mut session.connection()?)).await?;
        rows.into_iter().filter_map(|row| job_file(row).transpose()).collect()
    }

    async fn job_file(&self, workspace: WorkspaceId, file: AttachmentId) -> Result<Option<JobFile>, StoreError> {
        let session = self.session(workspace).await?;
        let select = attachments::table
            .filter(attachments::workspace_id.eq(workspace.uuid()))
            .filter(attachments::id.eq(file.uuid()))
            .select((attachments::job_id, attachment_columns()));
        let row: Option<JobFileRow> = session.run_optional(select.first(&mut session.connection()?)).await?;
        row.map_or(Ok(None), job_file)
    }
}
