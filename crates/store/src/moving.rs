//! Rows on their way from one database to the other.

use tokio::sync::mpsc;

/// A table and its columns, in the order in which rows have their values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedTable {
    pub name: String,
    pub columns: Vec<String>,
}

/// A value as SQLite has it. Nothing is known of the bytes of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum MovedValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Bytes(Vec<u8>),
}

/// The values of the columns of a [`MovedTable`].
pub type MovedRow = Vec<MovedValue>;

/// Passes on some rows at a time. At most two such batches wait.
pub type RowSender = mpsc::Sender<Vec<MovedRow>>;

/// Receives what a [`RowSender`] sends.
pub type RowReceiver = mpsc::Receiver<Vec<MovedRow>>;

/// Creates the way of the rows of a table.
#[must_use]
pub fn row_channel() -> (RowSender, RowReceiver) {
    mpsc::channel(2)
}
