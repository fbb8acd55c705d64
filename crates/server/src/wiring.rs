//! Connects the domain with its adapters. Only this file knows the concrete adapters.

use std::path::Path;
use std::sync::Arc;

use actix_web::web;
use anyhow::Context;
use roadmap_api::markup::MarkupPool;
use roadmap_api::{EventBodies, State};
use roadmap_blobs::{LocalBlobs, S3Blobs};
use roadmap_domain::error::{ErrorChain, StoreError};
use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::destination::DestinationRules;
use roadmap_domain::policy::sealing::Sealer;
use roadmap_domain::policy::signed_reference::ReferenceSigner;
use roadmap_domain::policy::webhook_retry::RetryRules;
use roadmap_domain::ports::{
    Blobs, Clock, ConnectionPools, EventRenderer, Health, IdGenerator, ImportInspector, MailReader, Mailer,
    Maintenance, MissedSearchStore, OutboxQueue, PictureScaler, PreviewRenderer, Reads, SnapshotReader, Store,
    TextSearch, UsageStore, WebhookQueue, WorkspaceDirectory,
};
use roadmap_domain::usecase::add_picture::AddPicture;
use roadmap_domain::usecase::authenticate::Authenticate;
use roadmap_domain::usecase::delete_attachment::DeleteAttachment;
use roadmap_domain::usecase::deliver_mail::DeliverMail;
use roadmap_domain::usecase::deliver_webhooks::{DeliverOptions, DeliverWebhooks};
use roadmap_domain::usecase::erase_customer::FinishErasures;
use roadmap_domain::usecase::executor::Executor;
use roadmap_domain::usecase::import::uploads::UploadImport;
use roadmap_domain::usecase::missed_searches::MissedSearches;
use roadmap_domain::usecase::purge_audit_entries::PurgeAuditEntries;
use roadmap_domain::usecase::purge_deletions::PurgeDeletions;
use roadmap_domain::usecase::purge_jobs::PurgeJobs;
use roadmap_domain::usecase::purge_operation_keys::PurgeOperationKeys;
use roadmap_domain::usecase::purge_removed_texts::PurgeRemovedTexts;
use roadmap_domain::usecase::query::{Queries, QueryPorts};
use roadmap_domain::usecase::receive_report::ReceiveReport;
use roadmap_domain::usecase::reindex_search::ReindexSearch;
use roadmap_domain::usecase::storage_budgets::StorageBudgets;
use roadmap_domain::usecase::sweep_attachments::SweepAttachments;
use roadmap_domain::usecase::tell_team::TellTeam;
use roadmap_domain::usecase::upload_attachment::UploadAttachment;
use roadmap_http::HttpDependencies;
use roadmap_http::body::BodyLimits;
use roadmap_http::detached::DetachedTasks;
use roadmap_http::error::ErrorFormats;
use roadmap_http::limits::{RateLimits, Stopwatch};
use roadmap_http::observer::Observer;
use roadmap_http::overview::OverviewCache;
use roadmap_mail::{FileMailer, SmtpMailer, SmtpOptions};
use roadmap_outbound::OutboundSender;
use roadmap_pictures::{Renderer, Scaler};
use roadmap_postgres::{PostgresOptions, PostgresStore, RoleProblem, RoleProblems};
use roadmap_sqlite::{SqliteOptions, SqliteStore};

use crate::import::inspect::Inspector;
use crate::operator;
use crate::ownership;
use crate::personal_files::Folders;
use crate::settings::{Database, Mail, Settings, Storage, environment};
use crate::shutdown::ShutdownState;
use crate::system::{
    CachedConfiguration, CachedDirectory, CachedHealth, ConfigurationCache, InMemoryOperationLocks, JitteredPause,
    MonotonicIds, OutdatedWorkspaces, SystemClock, SystemRandom, SystemStopwatch,
};

/// Maximum bytes of request bodies in memory, for all requests of the process together.
const BODY_MEMORY: usize = 32 * 1024 * 1024;

/// The assembled application.
pub(crate) struct Application {
    /// Runs operations.
    pub(crate) executor: Executor,
    /// Reads records.
    pub(crate) reader: Arc<dyn Reads>,
    /// Looks up workspaces and keys.
    pub(crate) directory: Arc<dyn WorkspaceDirectory>,
    /// Generates ids.
    pub(crate) ids: Arc<dyn IdGenerator>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Reads whole workspaces.
    pub(crate) snapshots: Arc<dyn SnapshotReader>,
    /// The outbox, as workers and operators see it.
    pub(crate) queue: Arc<dyn OutboxQueue>,
    /// Events and deliveries, as workers and operators see them.
    pub(crate) webhook_queue: Arc<dyn WebhookQueue>,
    /// Enforces the storage limits of workspaces.
    pub(crate) budgets: Arc<StorageBudgets>,
    /// The saved storage usage of workspaces.
    pub(crate) usage: Arc<dyn UsageStore>,
    /// The searches that found nothing, as this process has counted them.
    pub(crate) missed_searches: Arc<MissedSearches>,
    /// The saved counts of these searches.
    pub(crate) missed_search_store: Arc<dyn MissedSearchStore>,
    /// Maintenance of stored data.
    pub(crate) maintenance: Arc<dyn Maintenance>,
    /// The workspaces in which the HTTP surfaces leave search documents for the background.
    pub(crate) outdated: OutdatedWorkspaces,
    backend: Backend,
}

/// The dependencies of the HTTP surface.
pub(crate) struct HttpOptions<'a> {
    /// The URL of the service.
    pub(crate) base_url: &'a BaseUrl,
    /// The storage of files.
    pub(crate) blobs: &'a Arc<dyn Blobs>,
    /// Signs references.
    pub(crate) references: &'a Arc<ReferenceSigner>,
    /// Seals secrets that are stored.
    pub(crate) sealer: &'a Arc<Sealer>,
    /// Observes requests, for metrics.
    pub(crate) observer: Arc<dyn Observer>,
    /// Runs writes, which continue when their client disconnects.
    pub(crate) detached: &'a DetachedTasks,
    /// Whether the shutdown has begun.
    pub(crate) shutdown: &'a ShutdownState,
    /// The number of worker threads.
    pub(crate) workers: usize,
}

/// The runtime objects of the HTTP API.
pub(crate) struct HttpRuntime {
    /// The surfaces, one element for each worker thread.
    pub(crate) surfaces: Vec<Surfaces>,
    /// The connections of the surfaces.
    pub(crate) connections: Vec<Arc<dyn ConnectionPools>>,
}

/// The HTTP surfaces of one worker.
#[derive(Clone)]
pub(crate) struct Surfaces {
    http: web::Data<HttpDependencies>,
    api: web::Data<State>,
    web: web::Data<roadmap_web::State>,
    /// The origins of pages that may use `/mcp`. `None`: it is switched off.
    mcp: Option<Arc<[String]>>,
}

impl Surfaces {
    /// Adds all surfaces to an application of the web server.
    pub(crate) fn configure(&self, config: &mut web::ServiceConfig) {
        let surfaces = |config: &mut web::ServiceConfig| {
            roadmap_api::configure(config, self.api.clone());
            if let Some(origins) = &self.mcp {
                roadmap_mcp::configure(config, self.api.clone(), origins.clone());
            }
            roadmap_web::configure(config, self.web.clone());
        };
        roadmap_http::configure(config, self.http.clone(), surfaces, roadmap_web::unknown_path());
    }
}

/// Most memory for pages of the embedded store's writing connection of a command, in KiB: those that import have many rows.
const COMMAND_WRITE_CACHE: u32 = 64 * 1024;

/// The configured store.
enum Backend {
    Sqlite(Arc<SqliteStore>),
    Postgres(Arc<PostgresStore>),
}

impl Application {
    /// Whether a process that waits for another one to write looks now and then, instead of being told.
    pub(crate) fn writers_poll(&self) -> bool {
        matches!(self.backend, Backend::Sqlite(_))
    }

    /// Migrates and opens the store for a command. Its operations are those of the operator who runs it.
    pub(crate) async fn open(settings: &Settings) -> anyhow::Result<Self> {
        let application = Self::open_with(settings, COMMAND_WRITE_CACHE).await?;
        Ok(Self { executor: application.executor.acting_as(operator::origin()), ..application })
    }

    /// Migrates and opens the store for a server or worker. Its operations are those of the service itself, unless a
    /// surface runs them on behalf of a client.
    pub(crate) async fn open_service(settings: &Settings) -> anyhow::Result<Self> {
        Self::open_with(settings, SqliteOptions::WRITE_CACHE).await
    }

    /// Opens the store. `write_cache` is the most memory for pages of the embedded store's writing connection, in KiB.
    async fn open_with(settings: &Settings, write_cache: u32) -> anyhow::Result<Self> {
        migrate(settings).await?;
        let application = match &settings.database {
            Database::File(file) => {
                let options = SqliteOptions { write_cache, ..sqlite_options(settings, file) };
                let store = SqliteStore::open(&options).context("the database cannot be opened")?;
                Self::assemble(settings, Arc::new(store), Backend::Sqlite)
            }
            Database::Server(url) => {
                let store = PostgresStore::open(&postgres_options(settings, url)).await;
                let store = store.with_context(|| database_error_context(&settings.database, "used"))?;
                Self::assemble(settings, Arc::new(store), Backend::Postgres)
            }
        }?;
        // Before anything is looked up by its address.
        let refolded = application.maintenance.refold_addresses().await.context("addresses cannot be folded again")?;
        if refolded > 0 {
            tracing::info!(refolded, "stored addresses are compared in a new way");
        }
        Ok(application)
    }

    fn assemble<
        S: Store
            + WorkspaceDirectory
            + Maintenance
            + OutboxQueue
            + WebhookQueue
            + MissedSearchStore
            + SnapshotReader
            + 'static,
    >(
        settings: &Settings,
        store: Arc<S>,
        backend: impl FnOnce(Arc<S>) -> Backend,
    ) -> anyhow::Result<Self> {
        let backend = backend(store.clone());
        let (clock, ids): (Arc<dyn Clock>, Arc<dyn IdGenerator>) =
            (Arc::new(SystemClock), Arc::new(MonotonicIds::default()));
        let locks = Arc::new(InMemoryOperationLocks::new(settings.operation_wait));
        let usage = backend.usage();
        let budgets = Arc::new(StorageBudgets::new(usage.clone(), clock.clone(), settings.storage_limits));
        let reader = backend.read_ports(settings.pool_size)?.reader;
        Ok(Self {
            executor: Executor::new(store.clone(), locks, Arc::new(JitteredPause), clock.clone(), ids.clone())
                .with_budgets(budgets.clone())
                .with_mail_budget(settings.mail_per_day),
            reader,
            directory: store.clone(),
            ids,
            clock,
            snapshots: store.clone(),
            queue: store.clone(),
            webhook_queue: store.clone(),
            budgets,
            usage,
            missed_searches: Arc::default(),
            missed_search_store: store.clone(),
            maintenance: store,
            outdated: OutdatedWorkspaces::default(),
            backend,
        })
    }

    /// Creates the use case that brings the search index up to date.
    pub(crate) fn reindex_search(&self) -> ReindexSearch {
        ReindexSearch::new(self.executor.clone(), self.maintenance.clone(), self.directory.clone())
    }

    /// Creates the port of searches.
    pub(crate) fn text_search(&self, settings: &Settings) -> anyhow::Result<Arc<dyn TextSearch>> {
        Ok(self.backend.read_ports(settings.pool_size)?.search)
    }

    /// Creates the runtime objects of the HTTP API, with one set of surfaces per worker thread.
    pub(crate) fn http_runtime(&self, settings: &Settings, options: &HttpOptions<'_>) -> anyhow::Result<HttpRuntime> {
        let HttpOptions { blobs, workers, .. } = *options;
        let mut pools = vec![self.backend.connections()];
        let stopwatch: Arc<dyn Stopwatch> = Arc::new(SystemStopwatch::start());
        let directory = Arc::new(CachedDirectory::new(self.directory.clone(), stopwatch.clone()));
        let connections = (settings.pool_size / workers.max(1)).max(1);
        let upload = self.upload(blobs.clone());
        let inspector: Arc<dyn ImportInspector> =
            Arc::new(Inspector::new(blobs.clone(), self.clock.clone(), &settings.data_dir));
        let scaler = Self::scaler();
        let previews: Arc<dyn PreviewRenderer> = Arc::new(Renderer::new(tokio::runtime::Handle::current()));
        let health = Arc::new(CachedHealth::new(self.backend.health()));
        let limits = Arc::new(RateLimits::new(settings.rates, &stopwatch));
        let bodies = BodyLimits::new(settings.body_timeout, BODY_MEMORY);
        // Half of the threads, so that the other half can still serve requests.
        let markup = MarkupPool::new(tokio::runtime::Handle::current(), workers.div_ceil(2));
        let configuration_cache = ConfigurationCache::new();
        let executor = self
            .executor
            .clone()
            .with_configuration_observer(Arc::new(configuration_cache.clone()))
            .with_indexing_observer(Arc::new(self.outdated.clone()));
        let page_cache = roadmap_web::PageCache::new();
        let overviews = OverviewCache::new();
        let error_formats = ErrorFormats {
            program_paths: [&roadmap_http::HEALTH_PATHS[..], &roadmap_api::PROGRAM_PATHS, &[roadmap_mcp::PATH]]
                .concat(),
            for_programs: roadmap_api::error::FORMAT,
            for_people: roadmap_web::ERROR_FORMAT,
        };
        let mcp: Option<Arc<[String]>> = settings.mcp.then(|| settings.mcp_allowed_origins.clone().into());
        let destinations = Arc::new(destination_rules(settings, options.base_url));
        let events: Arc<dyn EventRenderer> =
            Arc::new(EventBodies::new(options.base_url.clone(), options.references.clone()));
        let mut surfaces = Vec::new();
        for _ in 0..workers.max(1) {
            let ReadPorts { reader, search, connections } = self.backend.read_ports(connections)?;
            let cache = configuration_cache.clone();
            let configuration = Arc::new(CachedConfiguration { reader: reader.clone(), cache });
            let (blobs, clock) = (blobs.clone(), self.clock.clone());
            let reports = ReceiveReport::new(reader.clone(), executor.clone(), options.sealer.clone(), clock.clone());
            let imports = UploadImport::new(
                upload.clone(),
                inspector.clone(),
                reader.clone(),
                (self.ids.clone(), clock.clone()),
                settings.import_max_size.unwrap_or(u64::MAX),
            );
            let queries = Queries::new(QueryPorts {
                reader,
                outbox: self.queue.clone(),
                directory: self.directory.clone(),
                missed_searches: self.missed_searches.clone(),
                portals: configuration.clone(),
                tracks: configuration.clone(),
                search,
                synonyms: configuration,
                blobs: blobs.clone(),
                clock,
            });
            pools.extend(connections);
            let http = web::Data::new(HttpDependencies {
                health: options.shutdown.wrap_health(health.clone()),
                directory: directory.clone(),
                authenticate: Authenticate::new(directory.clone(), self.clock.clone()),
                references: options.references.clone(),
                limits: limits.clone(),
                bodies: bodies.clone(),
                base_url: options.base_url.clone(),
                proxies: settings.proxies.clone(),
                default_workspace: settings.default_workspace.clone(),
                observer: options.observer.clone(),
                detached: options.detached.clone(),
                error_formats: error_formats.clone(),
                ids: self.ids.clone(),
                clock: self.clock.clone(),
            });
            let pictures = AddPicture::new(scaler.clone(), upload.clone(), queries.clone());
            let api = web::Data::new(State {
                http: http.clone(),
                executor: executor.clone(),
                queries: queries.clone(),
                upload: upload.clone(),
                imports: imports.clone(),
                reports,
                sealer: options.sealer.clone(),
                destinations: destinations.clone(),
                pictures: pictures.clone(),
                delete_attachment: DeleteAttachment::new(blobs, self.budgets.clone()),
                overviews: overviews.clone(),
                markup: markup.clone(),
            });
            let web = web::Data::new(roadmap_web::State {
                http: http.clone(),
                executor: executor.clone(),
                queries,
                random: Arc::new(SystemRandom),
                sealer: options.sealer.clone(),
                destinations: destinations.clone(),
                events: events.clone(),
                upload: upload.clone(),
                imports,
                pictures,
                previews: previews.clone(),
                has_mail_server: matches!(settings.mail, Mail::Smtp(_)),
                overviews: overviews.clone(),
                cache: page_cache.clone(),
            });
            surfaces.push(Surfaces { http, api, web, mcp: mcp.clone() });
        }
        Ok(HttpRuntime { surfaces, connections: pools })
    }

    /// Logs warnings for the operator before requests are served.
    pub(crate) async fn log_warnings(&self, settings: &Settings) {
        let (Backend::Postgres(store), Database::Server(url)) = (&self.backend, &settings.database) else { return };
        if !store.is_durable() {
            tracing::warn!("fsync is off on the database server: a crash of its machine can lose acknowledged writes");
        }
        match roadmap_postgres::role_problems(&postgres_options(settings, url)).await {
            Ok(RoleProblems { excess, .. }) => {
                for RoleProblem { found, fix } in excess {
                    tracing::warn!(fix, "more database privileges than the service needs: {found}");
                }
            }
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to check the database privileges");
            }
        }
    }

    /// Creates the use case that stores files.
    pub(crate) fn upload(&self, blobs: Arc<dyn Blobs>) -> UploadAttachment {
        let (executor, clock, ids) = (self.executor.clone(), self.clock.clone(), self.ids.clone());
        UploadAttachment::new(blobs, executor, clock, ids).with_budgets(self.budgets.clone())
    }

    /// Creates the port that scales pictures.
    pub(crate) fn scaler() -> Arc<dyn PictureScaler> {
        Arc::new(Scaler::new(tokio::runtime::Handle::current()))
    }

    /// Opens the storage of files.
    pub(crate) fn open_blobs(settings: &Settings) -> anyhow::Result<Arc<dyn Blobs>> {
        let opened: Result<Arc<dyn Blobs>, StoreError> = match &settings.storage {
            Storage::Folder(folder) => {
                // Created by `LocalBlobs`, with its parents, unless it exists.
                let _ = ownership::create_folder(folder);
                LocalBlobs::open(folder).map(|blobs| Arc::new(blobs.on_created(ownership::adopt)) as _)
            }
            Storage::Bucket(url) => S3Blobs::open(url, environment()).map(|blobs| Arc::new(blobs) as _),
        };
        opened.with_context(|| format!("the storage {} cannot be opened", settings.storage))
    }

    /// Returns the reader of the content of mails.
    pub(crate) fn mail_reader(&self) -> Arc<dyn MailReader> {
        self.backend.mail_reader()
    }

    /// Creates the use case that sends the mail of all workspaces.
    pub(crate) fn deliver_mail(
        &self,
        settings: &Settings,
        base_url: &BaseUrl,
        references: Arc<ReferenceSigner>,
    ) -> anyhow::Result<DeliverMail> {
        let mailer: Arc<dyn Mailer> = match &settings.mail {
            Mail::Folder(folder, from) => {
                // An address literal is no domain of a sender.
                let domain = if base_url.has_ip_address() { "localhost" } else { base_url.host() };
                let default = format!("noreply@{domain}");
                let _ = ownership::create_folder(folder);
                let mailer = FileMailer::new(folder, from.as_deref().unwrap_or(&default))?;
                Arc::new(mailer.with_service_name(&settings.service_name).on_created(ownership::adopt))
            }
            Mail::Smtp(options) => {
                let service_name = settings.service_name.clone();
                Arc::new(smtp_mailer(&SmtpOptions { service_name, ..options.clone() })?)
            }
        };
        let (queue, clock, base_url) = (self.queue.clone(), self.clock.clone(), base_url.clone());
        let longest = settings.mail_timeout.try_into()?;
        let reader = self.mail_reader();
        let deliver = DeliverMail::new(queue, reader, mailer, clock, references, base_url, longest);
        let deliver = deliver.with_limit(settings.mail_per_address);
        Ok(match &settings.mail {
            Mail::Smtp(options) => deliver.with_concurrent_sends(options.connections),
            Mail::Folder(..) => deliver,
        })
    }

    /// Creates the use case that delivers events to webhooks.
    pub(crate) fn deliver_webhooks(
        &self,
        settings: &Settings,
        base_url: &BaseUrl,
        references: Arc<ReferenceSigner>,
        sealer: Arc<Sealer>,
    ) -> anyhow::Result<DeliverWebhooks> {
        let delays = settings.webhook_retry_delays.iter().map(|delay| Ok((*delay).try_into()?));
        let rules = RetryRules {
            delays: delays.collect::<anyhow::Result<_>>()?,
            disable_after: settings.webhook_disable_after.map(TryInto::try_into).transpose()?,
        };
        let options = DeliverOptions {
            timeout: settings.webhook_timeout.try_into()?,
            rules,
            backlog: settings.webhook_backlog,
            version: env!("CARGO_PKG_VERSION"),
        };
        Ok(DeliverWebhooks::new(
            self.webhook_queue.clone(),
            Arc::new(EventBodies::new(base_url.clone(), references)),
            Arc::new(OutboundSender::new(settings.outbound_networks.clone())),
            self.executor.clone(),
            sealer,
            self.clock.clone(),
            options,
        ))
    }

    /// Creates the use case that queues the mail to team members.
    pub(crate) fn tell_team(&self) -> TellTeam {
        TellTeam::new(self.executor.clone(), self.queue.clone(), self.mail_reader(), self.clock.clone())
    }

    /// Creates the use case that removes orphaned and unused uploads.
    pub(crate) fn sweep_attachments(&self, settings: &Settings, blobs: Arc<dyn Blobs>) -> SweepAttachments {
        let (directory, maintenance, clock) = (self.directory.clone(), self.maintenance.clone(), self.clock.clone());
        let unused_after = settings.unused_uploads.map(|time| time.try_into().unwrap_or(time::Duration::MAX));
        SweepAttachments::new(blobs, directory, maintenance, clock, self.budgets.clone(), unused_after)
    }

    /// Creates the use case that purges expired operation keys.
    pub(crate) fn purge_operation_keys(&self, settings: &Settings) -> PurgeOperationKeys {
        let retention = time::Duration::try_from(settings.operation_retention).unwrap_or(time::Duration::MAX);
        PurgeOperationKeys::new(self.maintenance.clone(), self.clock.clone(), retention)
    }

    /// Creates the use case that purges expired entries of the audit log.
    pub(crate) fn purge_audit_entries(&self, settings: &Settings) -> PurgeAuditEntries {
        let retention = time::Duration::try_from(settings.audit_retention).unwrap_or(time::Duration::MAX);
        PurgeAuditEntries::new(self.maintenance.clone(), self.clock.clone(), retention)
    }

    /// Creates the use case that forgets old deletions.
    pub(crate) fn purge_deletions(&self) -> PurgeDeletions {
        PurgeDeletions::new(self.maintenance.clone(), self.clock.clone())
    }

    /// Creates the use case that finishes erasures of people.
    pub(crate) fn finish_erasures(&self, settings: &Settings, blobs: Arc<dyn Blobs>) -> FinishErasures {
        let files = Arc::new(Folders::new(settings).with_storage(blobs.clone()));
        let storage = (self.reader.clone(), self.upload(blobs));
        FinishErasures::new(self.executor.clone(), self.maintenance.clone(), files, storage)
    }

    /// Creates the use case that deletes imports and exports whose time is over.
    pub(crate) fn purge_jobs(&self, blobs: Arc<dyn Blobs>) -> PurgeJobs {
        let (directory, reader, clock) = (self.directory.clone(), self.reader.clone(), self.clock.clone());
        PurgeJobs::new(directory, reader, clock, self.executor.clone(), self.upload(blobs))
    }

    /// Creates the use case that purges texts that were removed long ago.
    pub(crate) fn purge_removed_texts(&self) -> PurgeRemovedTexts {
        PurgeRemovedTexts::new(self.maintenance.clone(), self.clock.clone())
    }
}

/// The ports that read.
struct ReadPorts {
    reader: Arc<dyn Reads>,
    search: Arc<dyn TextSearch>,
    /// The separate connection pool of these ports, if they have one.
    connections: Option<Arc<dyn ConnectionPools>>,
}

impl Backend {
    /// Creates the ports that read. With PostgreSQL they get a separate pool of `connections`, so that each worker of the
    /// web server drives its own connections. With SQLite all share one pool.
    fn read_ports(&self, connections: usize) -> anyhow::Result<ReadPorts> {
        match self {
            Self::Sqlite(store) => Ok(ReadPorts { reader: store.clone(), search: store.clone(), connections: None }),
            Self::Postgres(store) => {
                let reader = Arc::new(store.reader(connections)?);
                Ok(ReadPorts { reader: reader.clone(), search: reader.clone(), connections: Some(reader) })
            }
        }
    }

    fn connections(&self) -> Arc<dyn ConnectionPools> {
        match self {
            Self::Sqlite(store) => store.clone(),
            Self::Postgres(store) => store.clone(),
        }
    }

    fn mail_reader(&self) -> Arc<dyn MailReader> {
        match self {
            Self::Sqlite(store) => store.clone(),
            Self::Postgres(store) => store.clone(),
        }
    }

    fn usage(&self) -> Arc<dyn UsageStore> {
        match self {
            Self::Sqlite(store) => store.clone(),
            Self::Postgres(store) => store.clone(),
        }
    }

    fn health(&self) -> Arc<dyn Health> {
        match self {
            Self::Sqlite(store) => store.clone(),
            Self::Postgres(store) => store.clone(),
        }
    }
}

/// Creates the SMTP mailer.
pub(crate) fn smtp_mailer(options: &SmtpOptions) -> anyhow::Result<SmtpMailer> {
    SmtpMailer::new(options).with_context(|| format!("mail cannot be sent by {}", options.redacted()))
}

/// Runs pending migrations and returns their versions.
pub(crate) async fn migrate(settings: &Settings) -> anyhow::Result<Vec<String>> {
    let migrated = match &settings.database {
        Database::File(file) => {
            let folder = file.parent().unwrap_or(&settings.data_dir);
            ownership::create_folder(folder)
                .with_context(|| format!("the folder {} cannot be created", folder.display()))?;
            ownership::prepare_database(file);
            roadmap_sqlite::migrate(&sqlite_options(settings, file))
        }
        Database::Server(url) => roadmap_postgres::migrate(&postgres_options(settings, url)).await,
    };
    migrated.with_context(|| database_error_context(&settings.database, "brought up to date"))
}

fn database_error_context(database: &Database, what: &str) -> String {
    format!("the database {database} cannot be {what}")
}

/// The options of the embedded database.
pub(crate) fn sqlite_options(settings: &Settings, file: &Path) -> SqliteOptions {
    SqliteOptions {
        path: file.to_owned(),
        readers: settings.pool_size,
        write_wait: settings.write_wait,
        read_wait: settings.read_wait,
        search_time: settings.statement_timeout,
        ..SqliteOptions::new(file)
    }
}

/// Where webhooks may lead.
pub(crate) fn destination_rules(settings: &Settings, base_url: &BaseUrl) -> DestinationRules {
    DestinationRules::new(base_url, settings.outbound_networks.clone())
}

/// The options of the database server.
pub(crate) fn postgres_options(settings: &Settings, url: &str) -> PostgresOptions {
    PostgresOptions {
        url: url.to_owned(),
        role: settings.database_role.clone(),
        row_security: settings.row_security,
        pool_size: settings.pool_size,
        connection_wait: settings.read_wait,
        statement_timeout: settings.statement_timeout,
    }
}
