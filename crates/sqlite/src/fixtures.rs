//! Test fixtures: database files in temporary folders.

use std::path::Path;

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use tempfile::TempDir;

use crate::SqliteOptions;

/// Returns the options of a database that does not exist yet, in its own folder.
pub(crate) fn place() -> (TempDir, SqliteOptions) {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("roadmap.db"));
    (folder, options)
}

/// Creates a migrated database in its own folder.
pub(crate) fn database() -> (TempDir, SqliteOptions) {
    let (folder, options) = place();
    crate::migrate(&options).unwrap();
    (folder, options)
}

/// Opens a connection as any other program would.
pub(crate) fn connection(path: &Path) -> SqliteConnection {
    SqliteConnection::establish(path.to_str().unwrap()).unwrap()
}

/// Runs statements on a new connection.
pub(crate) fn run(path: &Path, sql: &str) {
    connection(path).batch_execute(sql).unwrap();
}
