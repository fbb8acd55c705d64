//! The server store: PostgreSQL, accessed through diesel-async, for several processes on one database.
//!
//! - Connections come from pools and all have the same settings (`connection.rs`). Writes share one pool; each worker
//!   of the web server reads through its own small pool ([`PostgresReader`]).
//! - A unit of work is a transaction. Its `BEGIN` and the claim of its operation key are sent with its first statement,
//!   its saved response and its events with its commit (`unit.rs`).
//! - Votes of a workspace that wait at the same time are cast in one transaction (`vote_batches.rs`).
//! - A connection with an unfinished statement or transaction is closed, never returned to its pool (`session.rs`).
//! - The service's role owns nothing. Row-level security limits each session to the rows of the one workspace that it
//!   has set.
//!
//! Not here: business rules. A rule that both stores would need belongs to the domain.
//!
//! Invariant: every statement on the rows of a workspace contains its `workspace_id`.

mod cast;
mod check;
mod connection;
mod errors;
mod known_words;
mod locks;
mod login;
mod migrate;
mod missed_searches;
mod moving;
mod outbox_queue;
mod pictures;
mod pool;
mod reads;
mod roles;
mod rows;
mod saved_responses;
mod schema;
mod session;
mod statement;
mod unit;
mod usage;
mod vote_batches;
mod webhook_events;
mod webhook_queue;
mod writes;

use std::sync::Arc;
use std::time::Duration;

use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::ports::{ConnectionPools, PoolStatus};
use tokio::runtime::Handle;

pub use connection::redacted;
pub use errors::ConnectError;
pub use migrate::{pending_migrations, revert_all, run as migrate, server_time};
pub use moving::{MoveTarget, TableDigest};
pub use roles::{RoleProblem, RoleProblems, role_problems};

use crate::connection::Connector;
use crate::known_words::KnownWords;
use crate::pool::Pool;
use crate::reads::TermStatistics;
use crate::session::Session;
use crate::vote_batches::VoteBatches;

/// The number of connections for statements that are neither in a unit of work nor lists.
const AUXILIARY_CONNECTIONS: usize = 2;

/// The maximum number of connections for mail and webhooks: workers without work use one.
const MAIL_CONNECTIONS: usize = 4;

/// The number of reading connections for each connection for searches.
const READERS_PER_SEARCH: usize = 4;

/// The URL of the database, the pool size and the time limits.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database?sslmode=…`
    pub url: String,
    /// The role under which statements run. The login must be a member of it, and it must own nothing.
    pub role: String,
    /// Whether row-level security in the database separates workspaces as well. All processes must use the same value.
    pub row_security: bool,
    /// The number of connections that write, and of those that read.
    pub pool_size: usize,
    /// How long a caller waits for a connection, including the time to open a new one.
    pub connection_wait: Duration,
    /// The server's time limit for one statement. Its time limit for a lock is three quarters of that.
    pub statement_timeout: Duration,
}

impl PostgresOptions {
    /// Returns the default options for a database: the role `roadmap_service`, row-level security, 8 connections, time
    /// limits of 2 seconds.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            role: "roadmap_service".to_owned(),
            row_security: true,
            pool_size: 8,
            connection_wait: Duration::from_secs(2),
            statement_timeout: Duration::from_secs(2),
        }
    }

    fn lock_timeout(&self) -> Duration {
        self.statement_timeout * 3 / 4
    }

    /// How long the client waits for a response. This is longer than the server's time limit for a statement, so it is
    /// only exceeded if the server does not respond at all.
    fn response_timeout(&self) -> Duration {
        self.statement_timeout + Duration::from_millis(500)
    }
}

/// The PostgreSQL store: units of work, the directory and maintenance. Clones share its connections.
#[derive(Clone)]
pub struct PostgresStore {
    /// The connections of units of work.
    units: Pool,
    /// Connections for statements that must not wait for units of work, such as authentication and health checks.
    auxiliary: Pool,
    /// The connections of the workers of mail and webhooks, so that requests never wait for them.
    mail: Pool,
    connector: Connector,
    options: Arc<PostgresOptions>,
    votes: VoteBatches,
    known_words: Arc<KnownWords>,
    durable: bool,
}

impl PostgresStore {
    /// Opens a store on a database whose schema is up to date ([`migrate()`]), and verifies the role and the settings
    /// of its connections.
    ///
    /// Connections run on the current runtime, whichever runtime uses them.
    ///
    /// # Errors
    /// The database cannot be reached, the role has excess privileges, or a connection has other settings than
    /// requested.
    pub async fn open(options: &PostgresOptions) -> Result<Self, StoreError> {
        let connector = Connector::new(options)?;
        let driven = connector.clone().on_runtime(Handle::current());
        let units = Pool::new(driven.clone(), options.pool_size, options)?;
        let auxiliary = Pool::new(driven.clone(), AUXILIARY_CONNECTIONS, options)?;
        let mail = Pool::new(driven, MAIL_CONNECTIONS, options)?;
        let durable = check::verify_connection(&auxiliary, options).await?;
        let votes = VoteBatches::new(units.clone(), Handle::current());
        Ok(Self {
            units,
            auxiliary,
            mail,
            connector,
            options: Arc::new(options.clone()),
            votes,
            known_words: Arc::default(),
            durable,
        })
    }

    /// Whether acknowledged commits survive a crash of the server's machine (`fsync`).
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.durable
    }

    /// Creates a reader with `connections` of its own, and a quarter as many for searches.
    ///
    /// Connections run on the runtime that first uses them. A worker thread that drives its own connections wakes no
    /// other thread.
    ///
    /// # Errors
    /// The pools cannot be created.
    pub fn reader(&self, connections: usize) -> Result<PostgresReader, StoreError> {
        let pool = Pool::new(self.connector.clone(), connections, &self.options)?;
        let searches = Pool::new(self.connector.clone(), connections / READERS_PER_SEARCH, &self.options)?;
        Ok(PostgresReader { pool, searches, term_statistics: Arc::default() })
    }

    async fn session(&self, workspace: WorkspaceId) -> Result<Session, StoreError> {
        Session::autocommit(&self.auxiliary, workspace).await
    }

    async fn mail_session(&self, workspace: WorkspaceId) -> Result<Session, StoreError> {
        Session::autocommit(&self.mail, workspace).await
    }
}

impl ConnectionPools for PostgresStore {
    fn pools(&self) -> Vec<PoolStatus> {
        vec![self.units.status("write"), self.auxiliary.status("auxiliary"), self.mail.status("mail")]
    }
}

/// The reader of lists and search results. Clones share its connections.
#[derive(Clone)]
pub struct PostgresReader {
    pool: Pool,
    /// The connections of searches. A search costs many times as much as a list, and searches that queue finish sooner
    /// than searches that all run at once (ADR 12).
    searches: Pool,
    term_statistics: Arc<TermStatistics>,
}

impl ConnectionPools for PostgresReader {
    fn pools(&self) -> Vec<PoolStatus> {
        vec![self.pool.status("read"), self.searches.status("search")]
    }
}

impl PostgresReader {
    async fn session(&self, workspace: WorkspaceId) -> Result<Session, StoreError> {
        Session::autocommit(&self.pool, workspace).await
    }
}
