//! The schema: its migrations are compiled in and run at start.

use std::error::Error;

use diesel::SqliteConnection;
use diesel::result::Error as DieselError;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use roadmap_domain::error::StoreError;

use crate::SqliteOptions;
use crate::connection::Connector;
use crate::errors::SqlError;

pub(crate) const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// Brings the file's schema up to date, creating the file if there is none. Returns the versions of
/// the migrations that were run.
///
/// All or nothing, and one process at a time: another that starts meanwhile waits, and then finds
/// nothing left to do.
///
/// # Errors
/// The file cannot be opened, or a migration fails; then the schema is as it was.
pub fn run(options: &SqliteOptions) -> Result<Vec<String>, StoreError> {
    let mut connection = connect(options)?;
    let done = connection.immediate_transaction(|connection| {
        let done = connection.run_pending_migrations(MIGRATIONS).map_err(Failed::Migration)?;
        Ok::<_, Failed>(done.iter().map(ToString::to_string).collect())
    });
    done.map_err(|failed| match failed {
        Failed::Migration(cause) => StoreError::Fatal(cause),
        Failed::Transaction(error) => SqlError::from(error).into(),
    })
}

enum Failed {
    Migration(Box<dyn Error + Send + Sync>),
    Transaction(DieselError),
}

impl From<DieselError> for Failed {
    fn from(error: DieselError) -> Self {
        Self::Transaction(error)
    }
}

/// The versions of the migrations that the file still lacks.
///
/// # Errors
/// The file cannot be opened.
pub fn pending_migrations(options: &SqliteOptions) -> Result<Vec<String>, StoreError> {
    let pending = connect(options)?.pending_migrations(MIGRATIONS).map_err(StoreError::Fatal)?;
    Ok(pending.iter().map(|migration| migration.name().version().to_string()).collect())
}

/// Undoes every migration, and with them all data. For checks of the migrations themselves.
///
/// # Errors
/// The file cannot be opened, or a migration cannot be undone.
pub fn revert_all(options: &SqliteOptions) -> Result<(), StoreError> {
    connect(options)?.revert_all_migrations(MIGRATIONS).map(|_| ()).map_err(StoreError::Fatal)
}

fn connect(options: &SqliteOptions) -> Result<SqliteConnection, StoreError> {
    Ok(Connector::new(&options.path, options.write_wait).open_writer()?)
}
