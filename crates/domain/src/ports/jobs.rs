//! Imports and exports that the processes of the service do.

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::{RoadmapError, StoreError};
use crate::model::attachment::{Attachment, UnusedAttachment};
use crate::model::export::run::ExportRun;
use crate::model::id::{AttachmentId, ExportId, ImportId, WorkspaceId};
use crate::model::import::run::Import;
use crate::model::import::upload::{ImportOptions, JobFile, Preview};

/// Reads imports, exports and their files.
#[async_trait]
pub trait JobReader: Send + Sync {
    /// Returns the imports of a workspace, newest first.
    async fn imports(&self, workspace: WorkspaceId) -> Result<Vec<Import>, StoreError>;

    /// Returns the exports of a workspace, newest first.
    async fn exports(&self, workspace: WorkspaceId) -> Result<Vec<ExportRun>, StoreError>;

    /// Returns the files of imports or exports, ordered by job and name.
    async fn job_files(&self, workspace: WorkspaceId, jobs: &[Uuid]) -> Result<Vec<JobFile>, StoreError>;

    /// Returns a file of an import or an export.
    async fn job_file(&self, workspace: WorkspaceId, file: AttachmentId) -> Result<Option<JobFile>, StoreError>;
}

/// Writes exports, and the files of imports and exports.
#[async_trait]
pub trait JobWrites {
    /// Stores a file of an import or an export, under its name there.
    async fn insert_job_file(&mut self, job: Uuid, name: &str, file: &Attachment) -> Result<(), StoreError>;

    /// Deletes the rows of the files of an import or an export. Returns the files.
    async fn delete_job_files(&mut self, job: Uuid) -> Result<Vec<UnusedAttachment>, StoreError>;

    /// Deletes a run that has made nothing.
    async fn delete_import(&mut self, import: ImportId) -> Result<(), StoreError>;

    /// Returns the exports of the workspace, newest first. Other units of work that load them wait for this one.
    async fn load_exports(&mut self) -> Result<Vec<ExportRun>, StoreError>;

    /// Inserts or replaces an export.
    ///
    /// Contract: at most one export of a workspace is running.
    async fn save_export(&mut self, export: &ExportRun) -> Result<(), StoreError>;

    /// Deletes an export.
    async fn delete_export(&mut self, export: ExportId) -> Result<(), StoreError>;
}

/// Looks into the files of other programs.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait ImportInspector: Send + Sync {
    /// Returns the programs whose files can be imported: the name of the source, and what people call the program.
    fn sources(&self) -> &'static [(&'static str, &'static str)];

    /// Returns the names of the fields that columns can fill.
    fn fields(&self) -> &'static [&'static str];

    /// Reads the beginning of an uploaded file.
    ///
    /// # Errors
    /// - [`RoadmapError::Invalid`] when it is not of the source, hostile, or cannot be read, or when an option is wrong.
    /// - Errors of the storage.
    async fn inspect(&self, source: &str, file: &Attachment, options: &ImportOptions) -> Result<Preview, RoadmapError>;
}
