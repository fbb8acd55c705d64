//! Reads the whole database for a move to PostgreSQL, and changes nothing in it.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::ManuallyDrop;
use std::path::Path;

use diesel::connection::{DefaultLoadingMode, SimpleConnection};
use diesel::deserialize::{self, FromSql};
use diesel::row::{Field, NamedRow, Row};
use diesel::sql_types::{BigInt, Binary, Double, Text};
use diesel::sqlite::{Sqlite, SqliteType, SqliteValue};
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_store::moving::{MovedRow, MovedTable, MovedValue, RowSender};

use crate::connection::Connector;
use crate::copy::{BUSY_TIMEOUT, is_locked};
use crate::errors::SqlError;
use crate::examine::select_applied;
use crate::migrate::{known, newer_schema};

/// Tables that PostgreSQL does not have, because it derives them.
const TABLES_ONLY_HERE: [&str; 2] = [
    // The full-text index: there an index on the column `search_documents.terms`.
    "search_index",
    // The index for typing errors: there an index on `search_words`.
    "search_trigrams",
];

/// Columns that PostgreSQL does not have: the numbers of rows, which the full-text index here refers to.
const COLUMNS_ONLY_HERE: [(&str, &str); 4] = [
    ("feature_requests", "row_number"),
    ("search_documents", "row_number"),
    ("vote_tallies", "row_number"),
    ("workspaces", "number"),
];

/// Whether a feature request is part of a merge. Of those that were part of one and are no more, nothing is known here,
/// and nothing needs to be: PostgreSQL asks it to notice merges that happen beside a vote.
const WAS_MERGED: &str = "root_id IS NOT NULL OR EXISTS (
    SELECT 1 FROM feature_requests AS member
    WHERE member.workspace_id = feature_requests.workspace_id AND member.root_id = feature_requests.id)";

/// The same for its tally, as a number of changes.
const TREE_VERSION: &str = "root_id IS NOT NULL OR EXISTS (
    SELECT 1 FROM feature_requests AS member
    WHERE member.workspace_id = vote_tallies.workspace_id AND member.root_id = vote_tallies.request_id)";

/// Half of a number of a row.
const TAG_NUMBER: &str = "row_number & 0xffffffff";

/// Columns that only PostgreSQL has, and their values in SQL.
const COLUMNS_ONLY_THERE: [(&str, &str, &str); 4] = [
    ("feature_requests", "was_merged", WAS_MERGED),
    ("search_documents", "tag_number", TAG_NUMBER),
    ("vote_tallies", "tag_number", TAG_NUMBER),
    ("vote_tallies", "tree_version", TREE_VERSION),
];

/// How many bytes of rows are passed on together.
const BATCH_BYTES: usize = 256 * 1024;

/// The database of a move, locked for all other processes.
pub struct MoveSource {
    /// Never closed: SQLite would merge a write-ahead log that a killed process has left into the file.
    connection: ManuallyDrop<SqliteConnection>,
}

impl MoveSource {
    /// Opens a file and locks it until the process ends. Returns `None` if another connection has it open, such as that
    /// of a running service.
    ///
    /// # Errors
    /// The file cannot be opened, or has not the schema of this version.
    pub fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        let url = Connector::new(path, BUSY_TIMEOUT).url_with("mode=rw");
        let mut connection = ManuallyDrop::new(SqliteConnection::establish(&url).map_err(SqlError::from)?);
        // Before anything is read, so that the write-ahead log is locked, too.
        let locked =
            connection.batch_execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA query_only = ON");
        match locked {
            Err(error) if is_locked(&error) => return Ok(None),
            locked => locked.map_err(SqlError::from)?,
        }
        let (applied, known) = (select_applied(&mut connection)?, known().map_err(StoreError::Fatal)?);
        if let Some(version) = applied.difference(&known).last() {
            return Err(StoreError::Fatal(newer_schema(version).into()));
        }
        if applied != known {
            return Err(StoreError::Fatal(
                "it has the schema of an older version of roadmap; run `roadmap migrate` with its settings first"
                    .into(),
            ));
        }
        Ok(Some(Self { connection }))
    }

    /// Checks that each table and column here has its place in the other database, and that each table and column there
    /// gets its values from here.
    ///
    /// # Errors
    /// One has not, or the schema cannot be read.
    pub fn check(&mut self, tables: &[MovedTable]) -> Result<(), StoreError> {
        let mut here = self.columns()?;
        let known = |list: &[(&str, &str)], table: &str, column: &str| list.contains(&(table, column));
        let mut faults = Vec::new();
        for MovedTable { name, columns } in tables {
            let Some(own) = here.remove(name) else {
                faults.push(format!("table {name}, which only PostgreSQL has"));
                continue;
            };
            let there: BTreeSet<&String> = columns.iter().collect();
            for column in columns.iter().filter(|column| !own.contains(*column) && derived(name, column).is_none()) {
                faults.push(format!("column {name}.{column}, which only PostgreSQL has"));
            }
            for column in own.iter().filter(|column| !there.contains(column)) {
                if !known(&COLUMNS_ONLY_HERE, name, column) {
                    faults.push(format!("column {name}.{column}, which only SQLite has"));
                }
            }
        }
        let without_place = here.keys().filter(|table| !TABLES_ONLY_HERE.contains(&table.as_str()));
        faults.extend(without_place.map(|table| format!("table {table}, which only SQLite has")));
        if faults.is_empty() {
            return Ok(());
        }
        Err(StoreError::Fatal(format!("the move does not know what to do with the {}", faults.join(", the ")).into()))
    }

    /// Reads a table, and passes on its rows. Stops without an error if nobody receives them any more.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub fn read(&mut self, table: &MovedTable, rows: &RowSender) -> Result<(), StoreError> {
        let MovedTable { name, columns } = table;
        let columns: Vec<String> = columns
            .iter()
            .map(|column| derived(name, column).map_or_else(|| format!("\"{column}\""), str::to_owned))
            .collect();
        let query = diesel::sql_query(format!("SELECT {} FROM \"{name}\"", columns.join(", ")));
        let selected = query.load_iter::<ReadRow, DefaultLoadingMode>(&mut *self.connection).map_err(SqlError::from)?;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for row in selected {
            let ReadRow(row) = row.map_err(SqlError::from)?;
            bytes += row.iter().map(size).sum::<usize>();
            batch.push(row);
            if bytes >= BATCH_BYTES {
                bytes = 0;
                if rows.blocking_send(std::mem::take(&mut batch)).is_err() {
                    return Ok(());
                }
            }
        }
        if !batch.is_empty() {
            // Who does not receive it says why.
            let _ = rows.blocking_send(batch);
        }
        Ok(())
    }

    /// Returns the columns of all tables.
    fn columns(&mut self) -> Result<BTreeMap<String, BTreeSet<String>>, StoreError> {
        // Shadow tables belong to virtual ones.
        let columns = "SELECT tables.name AS table_name, columns.name AS column_name
                       FROM pragma_table_list AS tables, pragma_table_xinfo(tables.name) AS columns
                       WHERE tables.schema = 'main' AND tables.type IN ('table', 'virtual')
                         AND tables.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                         AND tables.name <> '__diesel_schema_migrations'";
        let columns: Vec<ColumnRow> = diesel::sql_query(columns).load(&mut *self.connection).map_err(SqlError::from)?;
        let mut tables: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for ColumnRow { table_name, column_name } in columns {
            tables.entry(table_name).or_default().insert(column_name);
        }
        Ok(tables)
    }
}

#[derive(QueryableByName)]
struct ColumnRow {
    #[diesel(sql_type = Text)]
    table_name: String,
    #[diesel(sql_type = Text)]
    column_name: String,
}

/// The value of a column that only PostgreSQL has.
fn derived(table: &str, column: &str) -> Option<&'static str> {
    COLUMNS_ONLY_THERE.iter().find(|(name, of_it, _)| (*name, *of_it) == (table, column)).map(|(.., value)| *value)
}

/// About the memory of a value.
fn size(value: &MovedValue) -> usize {
    size_of::<MovedValue>()
        + match value {
            MovedValue::Text(bytes) | MovedValue::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
}

/// A row with any columns.
struct ReadRow(MovedRow);

impl QueryableByName<Sqlite> for ReadRow {
    fn build<'a>(row: &impl NamedRow<'a, Sqlite>) -> deserialize::Result<Self> {
        let values = (0..row.field_count()).map(|place| {
            let field = Row::get(row, place).ok_or("a column is missing")?;
            field.value().map_or(Ok(MovedValue::Null), read)
        });
        values.collect::<deserialize::Result<_>>().map(Self)
    }
}

fn read(value: SqliteValue<'_, '_, '_>) -> deserialize::Result<MovedValue> {
    Ok(match value.value_type() {
        None => MovedValue::Null,
        Some(SqliteType::Long) => MovedValue::Integer(<i64 as FromSql<BigInt, Sqlite>>::from_sql(value)?),
        Some(SqliteType::Double) => MovedValue::Real(<f64 as FromSql<Double, Sqlite>>::from_sql(value)?),
        // As bytes, because what is stored need not be valid UTF-8.
        Some(SqliteType::Text) => MovedValue::Text(<Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(value)?),
        Some(_) => MovedValue::Bytes(<Vec<u8> as FromSql<Binary, Sqlite>>::from_sql(value)?),
    })
}
