//! What the rules need from outside.
//!
//! | port | called by | implemented by |
//! |---|---|---|
//! | [`Store`], [`UnitOfWork`] and the write traits it bundles | the executor; commands | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`RoadmapReader`] | queries of the API | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`TextSearch`] | `SearchRequests` | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`Directory`] | `Authenticate`, operator commands | the same, cached by the server |
//! | [`Housekeeping`] | `ForgetOperations`, `SweepAttachments` | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`UsageStore`] | `StorageBudgets`, operator commands | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`Blobs`] | `UploadAttachment`, `SweepAttachments`, the API's downloads | `roadmap-blobs` |
//! | [`OutboxQueue`] | `DeliverMail`, operator commands, the metrics | `roadmap-sqlite`, `roadmap-postgres` |
//! | [`Mailer`] | `DeliverMail` | `roadmap-mail` |
//! | [`Health`] | the readiness probe | the same |
//! | [`Connections`] | the metrics | the same |
//! | [`OperationGate`] | the executor | the server, in memory |
//! | [`RetryPause`] | the executor | the server |
//! | [`Clock`], [`Ids`], [`Random`] | the executor, `Authenticate`, operator commands | the server |
//!
//! Conventions: absence is an `Option`, an expected conflict is an outcome, an error is a failure of
//! the store. Whoever opens a unit or asks a reader names the workspace; nothing is found outside it.
//! A unit may be dropped at any moment, which undoes it.

mod blobs;
mod mail;
mod outside;
mod reads;
mod unit_of_work;
mod usage;
mod writes;

pub use blobs::{BlobListing, BlobUpload, Blobs, Chunks, StoredBlob};
pub use mail::{Mailer, OutboxQueue};
pub use outside::{Clock, Connections, GatePass, Health, Ids, OperationGate, PoolUse, Random, RetryPause};
pub use reads::{Directory, Housekeeping, RoadmapReader, TextSearch};
pub use unit_of_work::{Begun, Ended, Store, UnitOfWork};
pub use usage::UsageStore;
pub use writes::{
    AttachmentWrites, ChangelogWrites, CommentWrites, Insertion, Outbox, Provisioning, RequestWrites, SettingWrites,
    TrackWrites, VoteWrites,
};

#[cfg(any(test, feature = "mocks"))]
pub mod mocks;
