//! Traits for the external dependencies of the domain.
//!
//! A "store" is both `roadmap-sqlite` and `roadmap-postgres`.
//!
//! | port | called by | implemented by |
//! |---|---|---|
//! | [`Store`], [`UnitOfWork`] and the write traits it bundles | the executor, commands | store |
//! | [`Reads`], which bundles the read ports, one per noun | queries | store |
//! | [`MissedSearchLog`] | searches | [`MissedSearches`](crate::usecase::missed_searches::MissedSearches) |
//! | [`MissedSearchStore`] | `MissedSearches` | store |
//! | [`PortalSource`] | queries of the pages | store, with a cache in the server |
//! | [`TrackSource`] | `ListTracks` | store, with a cache in the server |
//! | [`ConfigurationObserver`] | the executor | these caches |
//! | [`IndexingObserver`] | the executor | the server, whose task runs `ReindexSearch` |
//! | [`TextSearch`] | `SearchFeatureRequests` | store |
//! | [`SearchIndex`] | the algorithm of searches (`usecase::search`) | store |
//! | [`WorkspaceDirectory`] | `Authenticate`, operator commands | store, with a cache in the server |
//! | [`Maintenance`] | `PurgeOperationKeys`, `SweepAttachments`, `FinishErasures` | store |
//! | [`SnapshotReader`] | `roadmap export`, the exports of the service | store |
//! | [`UsageStore`] | `StorageBudgets`, operator commands | store |
//! | [`Blobs`] | `UploadAttachment`, `SweepAttachments`, the API's downloads | `roadmap-blobs` |
//! | [`PersonalFiles`] | `FinishErasures` | the server |
//! | [`PictureScaler`] | `AddPicture` | `roadmap-pictures` |
//! | [`PreviewRenderer`] | the pages | `roadmap-pictures` |
//! | [`OutboxQueue`] | `DeliverMail`, operator commands, the metrics | store |
//! | [`MailReader`] | `DeliverMail` | store |
//! | [`Mailer`] | `DeliverMail` | `roadmap-mail` |
//! | [`WebhookQueue`] | `DeliverWebhooks`, the metrics | store |
//! | [`EventRenderer`] | `DeliverWebhooks`, the API | `roadmap-api` |
//! | [`WebhookSender`] | `DeliverWebhooks` | `roadmap-outbound` |
//! | [`Health`] | the readiness probe | store |
//! | [`ConnectionPools`] | the metrics | store |
//! | [`OperationLocks`] | the executor | the server, in memory |
//! | [`RetryPause`] | the executor | the server |
//! | [`Clock`], [`IdGenerator`], [`Random`] | the executor, `Authenticate`, operator commands | the server |
//!
//! Conventions:
//!
//! - Absence is an `Option`, an expected conflict is an outcome, and an error is a failure of the store.
//! - A caller that begins a unit of work or queries a reader passes the workspace. Records of other workspaces are not
//!   found.
//! - A unit of work may be dropped at any time, which rolls it back.

mod blobs;
mod directory;
mod environment;
mod jobs;
mod link_sources;
mod mail;
mod maintenance;
mod missed_searches;
mod personal_files;
mod pictures;
mod reads;
mod search;
mod snapshots;
mod sources;
mod unit_of_work;
mod usage;
mod webhooks;
mod writes;

pub use blobs::{BlobListing, BlobUpload, Blobs, Chunks, StoredBlob};
pub use directory::WorkspaceDirectory;
pub use environment::{
    Clock, ConfigurationObserver, ConnectionPools, Health, IdGenerator, IndexingObserver, OperationLockGuard,
    OperationLocks, PoolStatus, Random, RetryPause,
};
pub use jobs::{ImportInspector, JobReader, JobWrites};
pub use link_sources::{LinkSourceReader, LinkSourceWrites};
pub use mail::{MailReader, Mailer, OutboxQueue};
pub use maintenance::Maintenance;
pub use missed_searches::{MissedSearchLog, MissedSearchStore};
pub use personal_files::PersonalFiles;
pub use pictures::{PictureScaler, PreviewRenderer};
pub use reads::{
    AccountReader, AttachmentReader, AuditReader, ChangeReader, ChangelogReader, CommentReader, CustomerReader,
    FeatureRequestReader, InboxReader, LinkReader, MemberReader, OverviewReader, PersonReader, PortalListReader, Reads,
    RequestPageReader, SessionReader, SettingReader, TagReader, TrackReader, VoteReader,
};
pub use search::{IndexedRequest, Matches, SearchIndex, SynonymSource, TextSearch};
pub use snapshots::{Snapshot, SnapshotReader};
pub use sources::{PortalSource, TrackSource};
pub use unit_of_work::{BeginOutcome, EndOutcome, Store, UnitOfWork};
pub use usage::UsageStore;
pub use webhooks::{
    AttemptObserver, EventRenderer, UndistributedEvents, WebhookQueue, WebhookReader, WebhookRequest, WebhookResponse,
    WebhookSender, WebhookWrites,
};
pub use writes::{
    AttachmentDeletion, AttachmentWrites, AuditWrites, ChangelogWrites, CommentWrites, CustomerWrites,
    FeatureRequestWrites, HeldPostWrites, ImportRunWrites, ImportWrites, Insertion, LinkWrites, MergeWrites,
    ModerationWrites, Outbox, OwnPostWrites, PersonWrites, Provisioning, RestoreWrites, SessionWrites, SettingWrites,
    SubscriptionWrites, TagWrites, TrackWrites, VoteWrites,
};

#[cfg(any(test, feature = "memory-index"))]
pub mod memory_index;
#[cfg(any(test, feature = "mocks"))]
pub mod mocks;
