//! Takes files that are to be imported.

use std::sync::Arc;

use crate::error::{Conflict, FieldError, FieldProblem, Resource, RoadmapError};
use crate::model::id::{ImportId, WorkspaceId};
use crate::model::import::run::{Import, SourceName};
use crate::model::import::upload::{ImportOptions, Upload};
use crate::ports::Clock;
use crate::ports::{Chunks, IdGenerator, ImportInspector, Reads};
use crate::usecase::executor::Executor;
use crate::usecase::import::jobs::{AddUpload, ChangeUpload, DiscardImport};
use crate::usecase::upload_attachment::UploadAttachment;

/// Takes files, looks into them, and deletes them again.
#[derive(Clone)]
pub struct UploadImport {
    upload: UploadAttachment,
    inspector: Arc<dyn ImportInspector>,
    reader: Arc<dyn Reads>,
    ids: Arc<dyn IdGenerator>,
    clock: Arc<dyn Clock>,
    max_bytes: u64,
}

/// What somebody says of a file.
#[derive(Debug, Clone)]
pub struct ImportDraft {
    pub source: String,
    /// Which installation of the source it is. `None`: the one that is called like the source.
    pub name: Option<String>,
    pub options: ImportOptions,
    pub file_name: String,
}

impl UploadImport {
    /// Creates the use case, for files of at most `max_bytes`.
    #[must_use]
    pub fn new(
        upload: UploadAttachment,
        inspector: Arc<dyn ImportInspector>,
        reader: Arc<dyn Reads>,
        (ids, clock): (Arc<dyn IdGenerator>, Arc<dyn Clock>),
        max_bytes: u64,
    ) -> Self {
        Self { upload, inspector, reader, ids, clock, max_bytes }
    }

    /// Returns what looks into files.
    #[must_use]
    pub fn inspector(&self) -> &dyn ImportInspector {
        &*self.inspector
    }

    /// Returns the maximum number of bytes of a file.
    #[must_use]
    pub const fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Checks a draft and the storage budget before the file is read.
    ///
    /// # Errors
    /// - [`RoadmapError::Invalid`] for an unknown source or a wrong name.
    /// - [`RoadmapError::OverBudget`] when the workspace cannot store any file.
    pub async fn check(&self, workspace: WorkspaceId, draft: &ImportDraft) -> Result<(), RoadmapError> {
        self.parse(draft)?;
        self.upload.check_budget(workspace).await
    }

    fn parse(&self, draft: &ImportDraft) -> Result<(&'static str, SourceName), RoadmapError> {
        if draft.source.trim().is_empty() {
            return Err(FieldError::missing("source").into());
        }
        let known = self.inspector.sources().iter().find(|(source, _)| *source == draft.source);
        let (source, _) = known.ok_or_else(|| {
            let names: Vec<_> = self.inspector.sources().iter().map(|(source, _)| *source).collect();
            let message = format!("source must be one of {}", names.join(", "));
            FieldError::new("source", FieldProblem::InFile { message })
        })?;
        let name = draft.name.as_deref().map(str::trim).filter(|name| !name.is_empty()).unwrap_or(source);
        Ok((source, SourceName::parse("name", name)?))
    }

    /// Stores a file, looks into it, and adds a run for it. A file that is refused is not kept.
    ///
    /// # Errors
    /// - [`RoadmapError::Invalid`] for a file that is too large, hostile, cannot be read or is of another source, and for wrong
    ///   options.
    /// - [`RoadmapError::OverBudget`] when the file does not fit into the storage budget.
    /// - [`RoadmapError::Conflict`] when too many files wait.
    pub async fn add(
        &self,
        executor: &Executor,
        workspace: WorkspaceId,
        draft: ImportDraft,
        content: &mut dyn Chunks,
    ) -> Result<Import, RoadmapError> {
        let (source, name) = self.parse(&draft)?;
        let file = self.upload.store_upload(workspace, &draft.file_name, self.max_bytes, content).await?;
        let file_name = file.filename.as_str().to_owned();
        let add = async {
            let preview = self.inspector.inspect(source, &file, &draft.options).await?;
            let upload =
                Upload { file: file.id, file_name: file_name.clone(), options: draft.options.clone(), preview };
            let id = ImportId::new(self.ids.next(self.clock.now()));
            executor.run_without_key(workspace, &AddUpload { id, source, name, upload }).await
        };
        let added = add.await;
        // It may be there if the outcome is unknown; then it has no file, and can only be deleted.
        if added.is_err() {
            self.upload.delete_job_files(workspace, file.id.uuid()).await?;
        }
        added
    }

    /// Changes how a file is read, and looks into it again.
    ///
    /// # Errors
    /// - [`RoadmapError::NotFound`] when there is no such run.
    /// - [`RoadmapError::Conflict`] when its file cannot be imported any more.
    /// - [`RoadmapError::Invalid`] for wrong options.
    pub async fn change(
        &self,
        executor: &Executor,
        workspace: WorkspaceId,
        id: ImportId,
        options: ImportOptions,
    ) -> Result<Import, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::Import);
        let imports = self.reader.imports(workspace).await?;
        let import = imports.into_iter().find(|import| import.id == id).ok_or_else(missing)?;
        let Some(upload) = &import.upload else {
            return Err(RoadmapError::Conflict(Conflict::ImportNotReady));
        };
        let file = self.reader.job_file(workspace, upload.file).await?.ok_or(RoadmapError::NotFound(Resource::File))?;
        let preview = self.inspector.inspect(&import.source, &file.file, &options).await?;
        executor.run_without_key(workspace, &ChangeUpload { id, options, preview }).await
    }

    /// Deletes a run that has made nothing, with its files.
    ///
    /// # Errors
    /// - [`RoadmapError::NotFound`] when there is no such run.
    /// - [`RoadmapError::Conflict`] when it has made something or runs.
    pub async fn discard(&self, executor: &Executor, workspace: WorkspaceId, id: ImportId) -> Result<(), RoadmapError> {
        let files = executor.run_without_key(workspace, &DiscardImport { id }).await?;
        self.upload.forget_files(workspace, files).await;
        Ok(())
    }
}
