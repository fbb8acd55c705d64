//! What the rules need from outside.
//!
//! | port | called by | implemented by |
//! |---|---|---|
//! | [`Store`], [`UnitOfWork`] and the write traits it bundles | the executor; commands | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`RoadmapReader`] | queries, operator commands | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`TextSearch`] | `SearchFeatureRequests` | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`WorkspaceDirectory`] | `Authenticate`, operator commands | the same, cached by the server |
//! | [`Maintenance`] | `PurgeOperationKeys`, `SweepAttachments` | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`UsageStore`] | `StorageBudgets`, operator commands | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`Blobs`] | `UploadAttachment`, `SweepAttachments`, `LocateFile`, `FindFile` | `roadmap-blobs` |
//! | [`OutboxQueue`] | `DeliverMail`, operator commands, the metrics | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`Mailer`] | `DeliverMail` | `roadmap-mail` |
//! | [`Health`] | the readiness probe | the same |
//! | [`ConnectionPools`] | the metrics | the same |
//! | [`OperationLocks`] | the executor | the server, in memory |
//! | [`RetryPause`] | the executor | the server |
//! | [`Clock`], [`IdGenerator`], [`Random`] | the executor, `Authenticate`, operator commands | the server |
//!
//! Conventions: absence is an `Option`, an expected conflict is an outcome, an error is a failure of
//! the store. Whoever opens a unit or asks a reader names the workspace; nothing is found outside it.
//! A unit may be dropped at any moment, which undoes it.

mod blobs;
mod environment;
mod mail;
mod reads;
mod unit_of_work;
mod usage;
mod writes;

pub use blobs::{BlobListing, BlobUpload, Blobs, Chunks, StoredBlob};
pub use environment::{
    Clock, ConnectionPools, Health, IdGenerator, OperationLockGuard, OperationLocks, PoolStatus, Random, RetryPause,
};
pub use mail::{Mailer, OutboxQueue};
pub use reads::{Maintenance, RoadmapReader, TextSearch, WorkspaceDirectory};
pub use unit_of_work::{BeginOutcome, EndOutcome, Store, UnitOfWork};
pub use usage::UsageStore;
pub use writes::{
    AttachmentWrites, ChangelogWrites, CommentWrites, FeatureRequestWrites, Insertion, Outbox, Provisioning,
    SettingWrites, SubscriptionWrites, TrackWrites, VoteWrites,
};

#[cfg(any(test, feature = "mocks"))]
pub mod mocks;
