//! What tests of single files begin with.

use std::path::Path;

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use tempfile::TempDir;

use crate::SqliteOptions;

/// A place for a database, in a folder of its own.
pub(crate) fn place() -> (TempDir, SqliteOptions) {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("roadmap.db"));
    (folder, options)
}

/// A database with its tables, in a folder of its own.
pub(crate) fn database() -> (TempDir, SqliteOptions) {
    let (folder, options) = place();
    crate::migrate(&options).unwrap();
    (folder, options)
}

/// A connection as any program would make it.
pub(crate) fn connection(path: &Path) -> SqliteConnection {
    SqliteConnection::establish(path.to_str().unwrap()).unwrap()
}

/// Runs statements on a connection of their own.
pub(crate) fn run(path: &Path, sql: &str) {
    connection(path).batch_execute(sql).unwrap();
}
