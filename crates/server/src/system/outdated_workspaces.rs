//! The workspaces in which this process has left search documents for the background.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::ports::IndexingObserver;
use tokio::sync::Notify;

/// Workspaces with outdated search documents, each at most once. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct OutdatedWorkspaces(Arc<Waiting>);

#[derive(Default)]
struct Waiting {
    workspaces: Mutex<BTreeSet<WorkspaceId>>,
    added: Notify,
}

impl OutdatedWorkspaces {
    /// Waits for a workspace, and takes it.
    pub(crate) async fn next(&self) -> WorkspaceId {
        loop {
            // No code panics while it holds this lock.
            let next = self.0.workspaces.lock().unwrap_or_else(PoisonError::into_inner).pop_first();
            match next {
                Some(workspace) => return workspace,
                // Returns at once if a workspace was added meanwhile.
                None => self.0.added.notified().await,
            }
        }
    }
}

impl IndexingObserver for OutdatedWorkspaces {
    fn documents_outdated(&self, workspace: WorkspaceId) {
        self.0.workspaces.lock().unwrap_or_else(PoisonError::into_inner).insert(workspace);
        self.0.added.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;
    use uuid::Uuid;

    #[tokio::test(start_paused = true)]
    async fn each_workspace_is_taken_once() {
        let [first, second] = [1, 2].map(|number| WorkspaceId::new(Uuid::from_u128(number)));
        let outdated = OutdatedWorkspaces::default();
        for workspace in [second, first, second] {
            outdated.documents_outdated(workspace);
        }
        assert_eq!((outdated.next().await, outdated.next().await), (first, second));
        assert!(timeout(Duration::from_secs(60), outdated.next()).await.is_err());
        let waiting = outdated.clone();
        let next = tokio::spawn(async move { waiting.next().await });
        tokio::task::yield_now().await;
        outdated.documents_outdated(first);
        assert_eq!(next.await.unwrap(), first);
    }
}
