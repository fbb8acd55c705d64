//! Indexes feature requests again whose search documents have an earlier version, or were left for the background by a
//! change of many feature requests at once.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{RoadmapError, StoreError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::id::{FeatureRequestId, WorkspaceId};
use crate::model::search::concepts::INDEX_VERSION;
use crate::ports::{Maintenance, UnitOfWork, WorkspaceDirectory};
use crate::usecase::executor::{Executor, Operation, OperationContext, Performed};
use crate::usecase::indexing::index;

/// Maximum number of feature requests that are indexed in one unit of work. Bounds how long other writes wait.
const BATCH: u32 = 10;

/// Replaces the search documents of feature requests. Private, merged and deleted ones lose theirs.
#[derive(Debug, Clone)]
struct IndexFeatureRequests(Vec<FeatureRequestId>);

#[async_trait]
impl Operation for IndexFeatureRequests {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        for request in &self.0 {
            index(work, *request).await?;
        }
        Ok(Performed::new((), Audit::OwnRecord(OwnRecord::SearchDocument)))
    }
}

/// Returns the number of feature requests of all workspaces that must be indexed again.
///
/// # Errors
/// Errors of the store.
pub async fn count_outdated(
    directory: &dyn WorkspaceDirectory,
    maintenance: &dyn Maintenance,
) -> Result<u64, StoreError> {
    let mut count = 0;
    for workspace in directory.workspaces().await? {
        count += maintenance.count_outdated_documents(workspace.id, INDEX_VERSION).await?;
    }
    Ok(count)
}

/// Brings search documents up to date.
///
/// It can be stopped at any time and continues where it stopped, because a document has its version.
#[derive(Clone)]
pub struct ReindexSearch {
    executor: Executor,
    maintenance: Arc<dyn Maintenance>,
    directory: Arc<dyn WorkspaceDirectory>,
}

impl ReindexSearch {
    /// Creates the use case.
    #[must_use]
    pub fn new(executor: Executor, maintenance: Arc<dyn Maintenance>, directory: Arc<dyn WorkspaceDirectory>) -> Self {
        Self { executor, maintenance, directory }
    }

    /// Returns the number of feature requests of all workspaces that must be indexed again.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn count_outdated(&self) -> Result<u64, RoadmapError> {
        Ok(count_outdated(&*self.directory, &*self.maintenance).await?)
    }

    /// Indexes the outdated feature requests of all workspaces. Awaits `pause` after each batch, which gets the size of
    /// the batch. Returns the number of feature requests.
    ///
    /// # Errors
    /// Errors of the store. Earlier batches stay indexed.
    pub async fn run<P: Future<Output = ()>>(&self, pause: impl Fn(u64) -> P) -> Result<u64, RoadmapError> {
        let mut count = 0;
        for workspace in self.directory.workspaces().await? {
            count += self.index_outdated(workspace.id, &pause).await?;
        }
        Ok(count)
    }

    /// Indexes the outdated feature requests of a workspace. Awaits `pause` after each batch. Returns the number of feature
    /// requests.
    ///
    /// # Errors
    /// Errors of the store. Earlier batches stay indexed.
    pub async fn run_outdated<P: Future<Output = ()>>(
        &self,
        workspace: WorkspaceId,
        pause: impl Fn(u64) -> P,
    ) -> Result<u64, RoadmapError> {
        self.index_outdated(workspace, &pause).await
    }

    /// Indexes all feature requests of a workspace again. Returns their number.
    ///
    /// # Errors
    /// Errors of the store. Earlier batches stay indexed.
    pub async fn run_workspace(&self, workspace: WorkspaceId) -> Result<u64, RoadmapError> {
        self.maintenance.expire_documents(workspace).await?;
        self.index_outdated(workspace, &|_| std::future::ready(())).await
    }

    async fn index_outdated<P: Future<Output = ()>>(
        &self,
        workspace: WorkspaceId,
        pause: &impl Fn(u64) -> P,
    ) -> Result<u64, RoadmapError> {
        let mut count = 0;
        loop {
            let outdated = self.maintenance.outdated_documents(workspace, INDEX_VERSION, BATCH).await?;
            if outdated.is_empty() {
                return Ok(count);
            }
            let batch = outdated.len() as u64;
            self.executor.run_without_key(workspace, &IndexFeatureRequests(outdated)).await?;
            count += batch;
            pause(batch).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::feature_request::SearchableText;
    use crate::model::search::SearchDocument;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context};
    use mockall::predicate::eq;
    use pollster::block_on;
    use uuid::Uuid;

    /// Decision 4.
    #[test]
    fn documents_are_built_from_the_stored_texts_and_those_of_private_requests_are_deleted() {
        let [public, private] = [1, 2].map(|number| FeatureRequestId::new(Uuid::from_u128(number)));
        let mut unit = MockUnit::new();
        unit.expect_searchable_text().returning(move |request, _| {
            let text = || SearchableText {
                title: "Quokka".to_owned(),
                tags: vec!["fern".to_owned()],
                description: "moss".to_owned(),
                merged: vec!["Numbat".to_owned()],
            };
            Ok((request == public).then(text))
        });
        let document = SearchDocument::new("Quokka", ["fern", "Numbat"], "moss");
        unit.expect_save_search_document().with(eq(public), eq(document)).times(1).returning(|_, _| Ok(()));
        unit.expect_delete_search_document().with(eq(private)).times(1).returning(|_| Ok(()));
        let ids = NumberedIds::default();
        block_on(IndexFeatureRequests(vec![private, public]).perform(&context(&ids), &mut unit)).unwrap();
    }
}
