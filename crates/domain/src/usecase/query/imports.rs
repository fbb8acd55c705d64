//! Imports with their files.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::id::{ImportId, WorkspaceId};
use crate::model::import::run::Import;
use crate::model::import::upload::JobFile;
use crate::model::pagination::{Listing, PageRequest};
use crate::usecase::query::{Query, QueryPorts};

/// An import with the files of its report.
#[derive(Debug, Clone)]
pub struct ShownImport {
    pub import: Import,
    pub files: Vec<JobFile>,
}

/// Lists the imports of a workspace, newest first.
#[derive(Debug, Clone, Copy)]
pub struct ListImports {
    pub page: PageRequest,
}

/// Shows an import.
#[derive(Debug, Clone, Copy)]
pub struct ShowImport {
    /// `None` for an ID that no import can have.
    pub id: Option<ImportId>,
}

async fn with_files(
    workspace: WorkspaceId,
    imports: Vec<Import>,
    ports: &QueryPorts,
) -> Result<Vec<ShownImport>, RoadmapError> {
    let ids: Vec<_> = imports.iter().map(|import| import.id.uuid()).collect();
    let mut files = ports.reader.job_files(workspace, &ids).await?;
    let shown = |import: Import| {
        let own = files.extract_if(.., |file| file.job == import.id.uuid()).collect();
        ShownImport { import, files: own }
    };
    Ok(imports.into_iter().map(shown).collect())
}

#[async_trait]
impl Query for ListImports {
    type Output = Listing<ShownImport>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Listing<ShownImport>, RoadmapError> {
        let imports = ports.reader.imports(workspace).await?;
        let total = imports.len() as u64;
        let before = self.page.offset().and_then(|before| usize::try_from(before).ok()).unwrap_or(usize::MAX);
        let size = usize::try_from(self.page.size()).unwrap_or(usize::MAX);
        let page = imports.into_iter().skip(before).take(size).collect();
        Ok(Listing { items: with_files(workspace, page, ports).await?, request: self.page, total })
    }
}

#[async_trait]
impl Query for ShowImport {
    type Output = ShownImport;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<ShownImport, RoadmapError> {
        let imports = ports.reader.imports(workspace).await?;
        let found = imports.into_iter().filter(|import| Some(import.id) == self.id).collect();
        let shown = with_files(workspace, found, ports).await?;
        shown.into_iter().next().ok_or(RoadmapError::NotFound(Resource::Import))
    }
}
