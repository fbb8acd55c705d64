//! The schema migrations: compiled in, run at start.

use std::collections::BTreeSet;
use std::error::Error;

use diesel::SqliteConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::result::Error as DieselError;
use diesel::sqlite::Sqlite;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use roadmap_domain::error::StoreError;

use crate::SqliteOptions;
use crate::connection::Connector;
use crate::errors::SqlError;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// Migrates the file to the current schema and returns the versions of the applied migrations. Creates the file if it
/// does not exist.
///
/// All migrations run in one transaction, and one process migrates at a time. A process that starts meanwhile waits,
/// and then has nothing left to do.
///
/// # Errors
/// The file cannot be opened, it has a schema of a newer version, or a migration fails. The schema is then unchanged.
pub fn run(options: &SqliteOptions) -> Result<Vec<String>, StoreError> {
    let mut connection = connect(options)?;
    let done = connection.immediate_transaction(|connection| {
        let applied = connection.applied_migrations().map_err(Failed::Migration)?;
        let applied: BTreeSet<String> = applied.iter().map(ToString::to_string).collect();
        if let Some(version) = applied.difference(&known().map_err(Failed::Migration)?).last() {
            return Err(Failed::Migration(newer_schema(version).into()));
        }
        let done = connection.run_pending_migrations(MIGRATIONS).map_err(Failed::Migration)?;
        Ok::<_, Failed>(done.iter().map(ToString::to_string).collect())
    });
    done.map_err(|failed| match failed {
        Failed::Migration(cause) => StoreError::Fatal(cause),
        Failed::Transaction(error) => SqlError::from(error).into(),
    })
}

/// Returns the versions of the migrations that this version of the service has.
pub(crate) fn known() -> Result<BTreeSet<String>, Box<dyn Error + Send + Sync>> {
    let known: Vec<Box<dyn Migration<Sqlite>>> = MIGRATIONS.migrations()?;
    Ok(known.iter().map(|migration| migration.name().version().to_string()).collect())
}

pub(crate) fn newer_schema(version: &str) -> String {
    format!(
        "the database has the schema of a newer version of roadmap (migration {version}); install that version again, or \
         restore a backup that this one has made"
    )
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

/// Returns the versions of the migrations that are not applied to the file.
///
/// # Errors
/// The file cannot be opened.
pub fn pending_migrations(options: &SqliteOptions) -> Result<Vec<String>, StoreError> {
    let pending = connect(options)?.pending_migrations(MIGRATIONS).map_err(StoreError::Fatal)?;
    Ok(pending.iter().map(|migration| migration.name().version().to_string()).collect())
}

/// Reverts every migration, which deletes all data. For tests of the migrations.
///
/// # Errors
/// The file cannot be opened, or a migration cannot be reverted.
pub fn revert_all(options: &SqliteOptions) -> Result<(), StoreError> {
    connect(options)?.revert_all_migrations(MIGRATIONS).map(|_| ()).map_err(StoreError::Fatal)
}

fn connect(options: &SqliteOptions) -> Result<SqliteConnection, StoreError> {
    Ok(Connector::new(&options.path, options.write_wait).open_writer()?)
}
