//! The server store: PostgreSQL, reached through diesel-async, for many processes on one database.
//!
//! - Connections come from pools and are all set up alike (`connection.rs`). Writes share one pool;
//!   each worker of the web server reads through a small one of its own ([`PostgresReader`]).
//! - A unit of work is a transaction. What it needs to begin travels with its first statement, its
//!   saved answer with its commit (`unit.rs`).
//! - A connection that was left in the middle of something is closed, never given back
//!   (`session.rs`).
//! - The service's role owns nothing. Row-level security shows each session the rows of the one
//!   workspace that it has named.
//!
//! Not here: any decision. What two stores would both decide belongs to the domain.
//!
//! Invariant: every statement about a workspace's rows has its `workspace_id` in it.

mod check;
mod codec;
mod connection;
mod errors;
mod migrate;
mod outbox_queue;
mod pool;
mod reads;
mod roles;
mod rows;
mod schema;
mod session;
mod statement;
mod unit;
mod usage;
mod writes;

use std::sync::Arc;
use std::time::Duration;

use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::track::Track;
use roadmap_domain::ports::{ConnectionPools, PoolStatus};
use tokio::runtime::Handle;

pub use connection::redacted;
pub use errors::ConnectError;
pub use migrate::{pending_migrations, revert_all, run as migrate, server_time};
pub use roles::{RoleProblem, RoleProblems, role_problems};

use crate::connection::Connector;
use crate::pool::Pool;
use crate::reads::SingleFlight;
use crate::session::Session;

/// How many connections there are for what is neither a unit of work nor a list.
const AUXILIARY_CONNECTIONS: usize = 2;

/// How many there are for mail, at most: a worker without mail uses one.
const MAIL_CONNECTIONS: usize = 4;

/// One connection of so many that read is added for searches.
const READERS_PER_SEARCH: usize = 4;

/// Where the database is and how patient the store is.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database?sslmode=…`
    pub url: String,
    /// The role that statements run as: the login must be a member of it, and it may own nothing.
    pub role: String,
    /// Whether the database itself keeps workspaces apart, too. All processes must agree.
    pub row_security: bool,
    /// How many connections write, and how many read.
    pub pool_size: usize,
    /// How long a call waits for a connection, a new one included.
    pub connection_wait: Duration,
    /// How long the server works on one statement. It waits for a lock three quarters of that.
    pub statement_timeout: Duration,
}

impl PostgresOptions {
    /// The defaults for a database: the role `roadmap_service`, row-level security, 8 connections, 2 seconds of patience.
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

    /// How long an answer is waited for here. Longer than the server works on a statement, so that
    /// only a server that is silent is given up on.
    fn response_timeout(&self) -> Duration {
        self.statement_timeout + Duration::from_millis(500)
    }
}

/// The store: units of work, the directory, housekeeping. Clones share its connections.
#[derive(Clone)]
pub struct PostgresStore {
    /// What units of work take their connections from.
    units: Pool,
    /// A few connections for what must not wait for them: who is calling, and whether the server is there.
    auxiliary: Pool,
    /// What workers take theirs from, so that mail never keeps a call waiting.
    mail: Pool,
    connector: Connector,
    options: Arc<PostgresOptions>,
    durable: bool,
}

impl PostgresStore {
    /// A store on a database whose schema is up to date ([`migrate()`]), after a look at whether its
    /// connections are what the service relies on.
    ///
    /// Connections are driven by the current runtime, whoever uses them.
    ///
    /// # Errors
    /// The database cannot be reached, or the role could see or change more than it may.
    pub async fn open(options: &PostgresOptions) -> Result<Self, StoreError> {
        let connector = Connector::new(options)?;
        let driven = connector.clone().on_runtime(Handle::current());
        let units = Pool::new(driven.clone(), options.pool_size, options)?;
        let auxiliary = Pool::new(driven.clone(), AUXILIARY_CONNECTIONS, options)?;
        let mail = Pool::new(driven, MAIL_CONNECTIONS, options)?;
        let durable = check::verify_connection(&auxiliary, options).await?;
        Ok(Self { units, auxiliary, mail, connector, options: Arc::new(options.clone()), durable })
    }

    /// Whether a crash of the server's machine loses nothing that was acknowledged (`fsync`).
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.durable
    }

    /// What reads, with `connections` of its own and a quarter as many for searches. They are driven
    /// by the runtime that first uses them: a thread that serves calls and drives its connections
    /// itself wakes no other.
    ///
    /// # Errors
    /// The pool cannot be set up.
    pub fn reader(&self, connections: usize) -> Result<PostgresReader, StoreError> {
        let pool = Pool::new(self.connector.clone(), connections, &self.options)?;
        let searches = Pool::new(self.connector.clone(), connections / READERS_PER_SEARCH, &self.options)?;
        Ok(PostgresReader { pool, searches, tracks: Arc::default() })
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

/// The lists and the search. Clones share their connections.
#[derive(Clone)]
pub struct PostgresReader {
    pool: Pool,
    /// What looks for words takes its connections from these: a search costs many times what a list
    /// costs, and those that wait are faster in turns than all at once (ADR 23).
    searches: Pool,
    /// What clients ask most often, and all alike.
    tracks: Arc<SingleFlight<Vec<Track>>>,
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
