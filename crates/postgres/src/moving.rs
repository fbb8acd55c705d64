//! Receives all rows of an embedded database in one transaction (ADR 76).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Cursor;
use std::pin::pin;

use diesel_async::RunQueryDsl;
use futures_util::{SinkExt, TryStreamExt};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::search::SearchDocument;
use roadmap_store::moving::{MovedRow, MovedTable, MovedValue, RowReceiver};
use sha2::{Digest, Sha256};
use tokio_postgres::Client;
use uuid::Uuid;

use crate::PostgresOptions;
use crate::connection::Connector;
use crate::login::{inspect, map_error};
use crate::migrate::{self, BoolRow, unknown_migrations};
use crate::writes::requests::terms;

mod encoding;

use encoding::{Kind, Tuples, encode_terms};

/// What precedes the rows in the binary format of `COPY`: its name, no flags, no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// What follows the rows: instead of their number of columns.
const TRAILER: &[u8] = &(-1_i16).to_be_bytes();

/// The tables of the current schema, also what no migration creates, and their columns that are not generated.
const COLUMNS: &str = "
    SELECT relname::text, attname::text, typname::text,
           EXISTS (SELECT FROM pg_index WHERE indrelid = tables.oid AND indisprimary AND attnum = ANY (indkey))
    FROM pg_class AS tables
    JOIN pg_attribute ON attrelid = tables.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    JOIN pg_type ON pg_type.oid = atttypid
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'm', 'S')
      AND relname <> '__diesel_schema_migrations'
    ORDER BY relname, attnum";

/// Which table refers to which other one.
const REFERENCES: &str = "
    SELECT tables.relname::text, referred.relname::text FROM pg_constraint
    JOIN pg_class AS tables ON tables.oid = conrelid JOIN pg_class AS referred ON referred.oid = confrelid
    WHERE contype = 'f' AND conrelid <> confrelid AND connamespace = current_schema()::regnamespace";

/// The tables with triggers of their own. Those of foreign keys are not among them.
const TRIGGERED: &str = "
    SELECT DISTINCT relname::text FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace";

/// The indexes of words: the statement that drops each, and the one that creates it.
const WORD_INDEXES: &str = "
    SELECT format('DROP INDEX %s', indexrelid::regclass), pg_get_indexdef(indexrelid) FROM pg_index
    JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
    WHERE amname = 'gin' AND relnamespace = current_schema()::regnamespace";

/// A transaction that fills an empty database. If it is dropped, nothing of it is left.
pub struct MoveTarget {
    client: Client,
    tables: Vec<Table>,
    triggered: Vec<String>,
    /// The statements that create the indexes of words.
    word_indexes: Vec<String>,
}

struct Table {
    moved: MovedTable,
    /// All columns, also those that are derived from others.
    columns: Vec<Column>,
}

struct Column {
    name: String,
    kind: Kind,
    /// Whether it is part of the primary key.
    is_key: bool,
}

/// The number of rows of a table, and a digest that does not depend on their order: the sum of the SHA-256 of each row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableDigest {
    pub rows: u64,
    sums: [u64; 4],
}

impl TableDigest {
    fn add(&mut self, row: &[u8]) {
        self.rows += 1;
        let hash = Sha256::digest(row);
        for (sum, bytes) in self.sums.iter_mut().zip(hash.chunks_exact(8)) {
            let part = bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            *sum = sum.wrapping_add(part);
        }
    }
}

impl fmt::Display for TableDigest {
    /// The digest in hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sums.iter().try_for_each(|sum| write!(f, "{sum:016x}"))
    }
}

impl MoveTarget {
    /// Migrates a database without a workspace, if needed, and begins the transaction.
    ///
    /// # Errors
    /// The database cannot be reached, has a workspace or the schema of a newer version, or cannot be migrated.
    pub async fn begin(options: &PostgresOptions) -> Result<Self, StoreError> {
        let refusal = inspect(options, async |connection| {
            if let Some(version) = unknown_migrations(connection).await?.last() {
                return Ok(Some(format!("it has the schema of a newer version of roadmap (migration {version})")));
            }
            let exists = "SELECT to_regclass('workspaces') IS NOT NULL AS value";
            let exists: BoolRow = diesel::sql_query(exists).get_result(connection).await.map_err(map_error)?;
            if !exists.value {
                return Ok(None);
            }
            let used: BoolRow = diesel::sql_query(USED).get_result(connection).await.map_err(map_error)?;
            Ok(used.value.then(|| IN_USE.to_owned()))
        });
        if let Some(refusal) = refusal.await? {
            return Err(StoreError::Fatal(refusal.into()));
        }
        migrate::run(options).await?;

        let mut connector = Connector::for_login(&options.url)?;
        connector.set_connect_timeout(options.connection_wait);
        let client = connector.client().await?;
        // A login may have limits of its own. The lock keeps others from creating a workspace.
        let begin = "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
                     SET LOCAL lock_timeout = '10s'; LOCK TABLE workspaces IN SHARE ROW EXCLUSIVE MODE";
        client.batch_execute(begin).await.map_err(failed)?;
        if client.query_one(USED, &[]).await.map_err(failed)?.get(0) {
            return Err(StoreError::Fatal(IN_USE.into()));
        }
        let tables = load_tables(&client).await?;
        let triggered = client.query(TRIGGERED, &[]).await.map_err(failed)?;
        let indexes = client.query(WORD_INDEXES, &[]).await.map_err(failed)?;
        for index in &indexes {
            client.batch_execute(index.get(0)).await.map_err(failed)?;
        }
        let target = Self {
            client,
            tables,
            triggered: triggered.iter().map(|row| row.get(0)).collect(),
            word_indexes: indexes.iter().map(|row| row.get(1)).collect(),
        };
        target.set_triggers("DISABLE").await?;
        Ok(target)
    }

    /// The tables in an order in which each one refers to earlier ones only, and the columns whose values are moved.
    pub fn tables(&self) -> Vec<MovedTable> {
        self.tables.iter().map(|table| table.moved.clone()).collect()
    }

    /// Stores the rows of a table, and returns the digest of what was received.
    ///
    /// # Errors
    /// PostgreSQL cannot store a row.
    pub async fn copy(&self, name: &str, rows: &mut RowReceiver) -> Result<TableDigest, StoreError> {
        let table = self.table(name)?;
        let copy = format!("COPY \"{name}\" ({}) FROM STDIN (FORMAT binary)", table.column_list());
        let mut sink = pin!(self.client.copy_in(&copy).await.map_err(failed)?);
        let (mut digest, mut bytes) = (TableDigest::default(), HEADER.to_vec());
        while let Some(batch) = rows.recv().await {
            for row in batch {
                let begin = bytes.len();
                table.encode(&row, &mut bytes)?;
                digest.add(bytes.get(begin..).unwrap_or_default());
            }
            sink.send(Cursor::new(std::mem::take(&mut bytes))).await.map_err(failed)?;
        }
        bytes.extend(TRAILER);
        sink.send(Cursor::new(bytes)).await.map_err(failed)?;
        sink.finish().await.map_err(failed)?;
        Ok(digest)
    }

    /// Returns the digest of the rows that a table has.
    ///
    /// # Errors
    /// The rows cannot be read.
    pub async fn digest(&self, name: &str) -> Result<TableDigest, StoreError> {
        let table = self.table(name)?;
        let copy = format!("COPY (SELECT {} FROM \"{name}\") TO STDOUT (FORMAT binary)", table.column_list());
        let mut stream = pin!(self.client.copy_out(&copy).await.map_err(failed)?);
        let mut tuples = Tuples::new(table.columns.iter().map(|column| column.kind).collect());
        let mut digest = TableDigest::default();
        while let Some(bytes) = stream.try_next().await.map_err(failed)? {
            tuples.add(&bytes, |row| digest.add(row)).map_err(|fault| StoreError::Fatal(fault.into()))?;
        }
        Ok(digest)
    }

    /// Commits everything, with the indexes of words, which are faster to build at once, and with statistics for the
    /// planner, which searches need from the beginning.
    ///
    /// # Errors
    /// Nothing was committed, or the connection was lost meanwhile.
    pub async fn commit(self) -> Result<(), StoreError> {
        self.set_triggers("ENABLE").await?;
        for index in &self.word_indexes {
            self.client.batch_execute(index).await.map_err(failed)?;
        }
        let tables: Vec<String> = self.tables.iter().map(|table| format!("\"{}\"", table.moved.name)).collect();
        let end = format!("ANALYZE {}; COMMIT", tables.join(", "));
        self.client.batch_execute(&end).await.map_err(failed)
    }

    /// Rows come with the counters that triggers keep.
    async fn set_triggers(&self, action: &str) -> Result<(), StoreError> {
        let set = self.triggered.iter().map(|table| format!("ALTER TABLE \"{table}\" {action} TRIGGER USER;"));
        self.client.batch_execute(&set.collect::<String>()).await.map_err(failed)
    }

    fn table(&self, name: &str) -> Result<&Table, StoreError> {
        let table = self.tables.iter().find(|table| table.moved.name == name);
        table.ok_or_else(|| StoreError::Fatal(format!("there is no table {name}").into()))
    }
}

const USED: &str = "SELECT EXISTS (SELECT FROM workspaces) AS value";

const IN_USE: &str = "it has a workspace already; a move needs a database without one";

async fn load_tables(client: &Client) -> Result<Vec<Table>, StoreError> {
    let mut columns: BTreeMap<String, Vec<Column>> = BTreeMap::new();
    for row in client.query(COLUMNS, &[]).await.map_err(failed)? {
        let (table, name, kind): (String, String, String) = (row.get(0), row.get(1), row.get(2));
        let unknown = || StoreError::Fatal(format!("the move does not know the type {kind} of {table}.{name}").into());
        let column = Column { kind: Kind::of(&kind).ok_or_else(unknown)?, is_key: row.get(3), name };
        columns.entry(table).or_default().push(column);
    }
    let references = client.query(REFERENCES, &[]).await.map_err(failed)?;
    let references: Vec<(String, String)> = references.iter().map(|row| (row.get(0), row.get(1))).collect();
    let mut tables: Vec<Table> = Vec::new();
    while !columns.is_empty() {
        let waits = |table: &str| references.iter().any(|(from, to)| from == table && columns.contains_key(to));
        let Some(next) = columns.keys().find(|table| !waits(table)).cloned() else {
            let circle: Vec<&str> = columns.keys().map(String::as_str).collect();
            return Err(StoreError::Fatal(format!("tables refer to each other: {}", circle.join(", ")).into()));
        };
        tables.extend(columns.remove(&next).map(|columns| Table::new(next, columns)));
    }
    Ok(tables)
}

impl Table {
    fn new(name: String, columns: Vec<Column>) -> Self {
        let moved = columns.iter().filter(|column| column.kind != Kind::Terms);
        let moved = MovedTable { name, columns: moved.map(|column| column.name.clone()).collect() };
        Self { moved, columns }
    }

    fn column_list(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
        columns.join(", ")
    }

    /// Appends a row as PostgreSQL receives it.
    fn encode(&self, row: &MovedRow, bytes: &mut Vec<u8>) -> Result<(), StoreError> {
        let count = i16::try_from(self.columns.len()).map_err(|error| StoreError::Fatal(error.into()))?;
        bytes.extend(count.to_be_bytes());
        let mut values = row.iter();
        for column in &self.columns {
            let encoded = match column.kind {
                Kind::Terms => self.search_terms(row).and_then(|terms| encode_terms(&terms, bytes)),
                kind => values.next().ok_or("is missing").and_then(|value| kind.encode(value, bytes)),
            };
            encoded.map_err(|fault| {
                let (table, name) = (&self.moved.name, &column.name);
                let row = self.key(row);
                StoreError::Fatal(format!("PostgreSQL cannot store {table}.{name} of the row {row}: it {fault}").into())
            })?;
        }
        Ok(())
    }

    /// The primary key of a row, for people.
    fn key(&self, row: &MovedRow) -> String {
        let moved = self.columns.iter().filter(|column| column.kind != Kind::Terms);
        let keys = moved.zip(row).filter(|(column, _)| column.is_key);
        let shown = keys.map(|(Column { name, .. }, value)| match value {
            MovedValue::Bytes(bytes) => match Uuid::from_slice(bytes) {
                Ok(id) => format!("{name} {id}"),
                Err(_) => format!("{name} {bytes:02x?}"),
            },
            MovedValue::Text(text) => format!("{name} {:?}", String::from_utf8_lossy(text)),
            MovedValue::Integer(number) => format!("{name} {number}"),
            other => format!("{name} {other:?}"),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// The index terms of a document, which only PostgreSQL stores.
    fn search_terms(&self, row: &MovedRow) -> Result<BTreeSet<String>, &'static str> {
        let value = |name: &str| {
            let mut named = self.moved.columns.iter().zip(row);
            named.find_map(|(column, value)| (column == name).then_some(value)).ok_or("has no document")
        };
        let text = |name: &str| match value(name)? {
            MovedValue::Text(text) => String::from_utf8(text.clone()).map_err(|_| "is not valid UTF-8"),
            _ => Err("is no text"),
        };
        let MovedValue::Bytes(workspace) = value("workspace_id")? else { return Err("is no ID") };
        let workspace = Uuid::from_slice(workspace).map_err(|_| "is no ID")?;
        let document = SearchDocument { title: text("title")?, tags: text("tags")?, description: text("description")? };
        Ok(terms(workspace, &document).into_iter().collect())
    }
}

/// The failure of a statement. Its transaction is over.
fn failed(error: tokio_postgres::Error) -> StoreError {
    let Some(refused) = error.as_db_error() else { return StoreError::Unavailable(error.into()) };
    let further = [refused.detail(), refused.where_()].into_iter().flatten();
    let text = further.fold(refused.message().to_owned(), |text, more| format!("{text} ({more})"));
    StoreError::Fatal(text.into())
}
