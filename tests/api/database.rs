//! Looks into the database file behind the server's back.

use std::path::Path;

use diesel::connection::SimpleConnection;
use diesel::sql_types::Text;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};

#[derive(QueryableByName)]
struct Row {
    #[diesel(sql_type = Text)]
    value: String,
}

/// A connection that waits for the server's writes.
pub fn connect(file: &Path) -> SqliteConnection {
    let mut connection = SqliteConnection::establish(file.to_str().expect("a path")).expect("a database");
    connection.batch_execute("PRAGMA busy_timeout = 5000").expect("a setting");
    connection
}

/// The first column of a query's rows, as text.
pub fn rows(file: &Path, query: &str) -> Vec<String> {
    let query =
        format!("WITH answer(value) AS ({query}) SELECT CAST(coalesce(value, 'NULL') AS TEXT) AS value FROM answer");
    let rows: Vec<Row> = diesel::sql_query(query).load(&mut connect(file)).expect("rows");
    rows.into_iter().map(|row| row.value).collect()
}
