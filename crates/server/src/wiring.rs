//! Where the domain meets its adapters: the only file that knows which ones there are.

use std::sync::Arc;

use anyhow::Context;
use roadmap_api::State;
use roadmap_api::detached::Detached;
use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::ports::{Clock, Directory, Ids, RoadmapReader};
use roadmap_domain::usecase::authenticate::Authenticate;
use roadmap_domain::usecase::executor::Executor;
use roadmap_domain::usecase::forget_operations::ForgetOperations;
use roadmap_domain::usecase::search_requests::SearchRequests;
use roadmap_sqlite::{SqliteOptions, SqliteStore};

use crate::settings::Settings;
use crate::system::{CachedDirectory, MemoryGate, MonotonicIds, SystemClock};

/// The application, put together.
pub(crate) struct Application {
    /// Runs commands.
    pub(crate) executor: Executor,
    /// Answers lists.
    pub(crate) reader: Arc<dyn RoadmapReader>,
    /// Knows workspaces and keys.
    pub(crate) directory: Arc<dyn Directory>,
    /// Gives out identities.
    pub(crate) ids: Arc<dyn Ids>,
    /// Tells the time.
    pub(crate) clock: Arc<dyn Clock>,
    store: SqliteStore,
}

impl Application {
    /// Opens the store, whose schema is brought up to date first.
    pub(crate) fn open(settings: &Settings) -> anyhow::Result<Self> {
        migrate(settings)?;
        let store = SqliteStore::open(&options(settings)).context("the database cannot be opened")?;
        let shared = Arc::new(store.clone());
        let (clock, ids): (Arc<dyn Clock>, Arc<dyn Ids>) = (Arc::new(SystemClock), Arc::new(MonotonicIds::default()));
        let gate = Arc::new(MemoryGate::new(settings.operation_wait));
        Ok(Self {
            executor: Executor::new(shared.clone(), gate, clock.clone(), ids.clone()),
            reader: shared.clone(),
            directory: shared,
            ids,
            clock,
            store,
        })
    }

    /// What the HTTP surface needs.
    pub(crate) fn state(&self, settings: &Settings, base_url: BaseUrl, detached: Detached) -> State {
        let directory = Arc::new(CachedDirectory::new(self.directory.clone()));
        State {
            executor: self.executor.clone(),
            reader: self.reader.clone(),
            search: SearchRequests::new(Arc::new(self.store.clone())),
            authenticate: Authenticate::new(directory, self.clock.clone()),
            base_url,
            trust_proxy: settings.trust_proxy,
            default_workspace: settings.default_workspace.clone(),
            detached,
            ids: self.ids.clone(),
            clock: self.clock.clone(),
        }
    }

    /// Forgets saved answers that are too old.
    pub(crate) fn forget_operations(&self, settings: &Settings) -> ForgetOperations {
        let retention = time::Duration::try_from(settings.operation_retention).unwrap_or(time::Duration::MAX);
        ForgetOperations::new(Arc::new(self.store.clone()), self.clock.clone(), retention)
    }
}

/// Brings the schema up to date and returns the versions of the migrations that were run.
pub(crate) fn migrate(settings: &Settings) -> anyhow::Result<Vec<String>> {
    let folder = settings.database.parent().unwrap_or(&settings.data_dir);
    std::fs::create_dir_all(folder).with_context(|| format!("the folder {} cannot be created", folder.display()))?;
    roadmap_sqlite::migrate(&options(settings))
        .with_context(|| format!("the database {} cannot be brought up to date", settings.database.display()))
}

fn options(settings: &Settings) -> SqliteOptions {
    SqliteOptions {
        path: settings.database.clone(),
        readers: settings.pool_size,
        write_wait: settings.write_wait,
        read_wait: settings.read_wait,
    }
}
