//! The database of a program as PostgreSQL copies it, one CSV for each table: what `astuto` and `logchimp` have in
//! common.
//!
//! Files are recognized by their names, and the program by the columns of its table `posts`, which is the only one that
//! must be there. Tables are read in several passes, because what belongs together is in different ones: people, boards,
//! statuses and voters are remembered in a small form, texts never.

mod comments;
mod files;
mod posts;
mod run;

use std::io;

use thiserror::Error;

pub(super) use self::comments::CommentColumns;
pub(super) use self::files::{Program, Row, Table, Tables, recognizes};
pub(super) use self::posts::{PostColumns, Standing, path_of};
pub(super) use self::run::{Converted, Dump, Unreadable, VoteColumns};
use super::names::TooManyNames;
use super::output::SinkFailed;
pub use super::tables::Options;
use crate::table::TableError;

/// Why files cannot be converted, as a sentence for the operator.
#[derive(Debug, Error)]
pub enum DumpError {
    /// A file cannot be read.
    #[error("`{file}` cannot be read: {source}")]
    Read { file: String, source: io::Error },
    /// A file is no table.
    #[error("`{file}` cannot be imported: {problem}")]
    Table { file: String, problem: TableError },
    /// A table has not the columns that it needs.
    #[error("`{file}` has no column `{column}`. Its columns are {columns}")]
    NoColumn { file: String, column: &'static str, columns: String },
    /// No input is the table of feature requests.
    #[error("there is no `posts.csv` of {program}: the files are named as the tables of its database")]
    Foreign { program: &'static str },
    /// More rows to remember than [`Options::max_records`].
    #[error("the files have more than {max} records")]
    TooManyRecords { max: usize },
    /// The names and addresses do not fit into memory.
    #[error("the names and addresses of people, or the ids of posts with comments, have more than 32 MB")]
    TooManyNames,
    /// The output cannot be stored.
    #[error("the converted records cannot be stored: {0}")]
    Sink(#[source] io::Error),
}

impl From<TooManyNames> for DumpError {
    fn from(TooManyNames: TooManyNames) -> Self {
        Self::TooManyNames
    }
}

impl From<SinkFailed> for DumpError {
    fn from(SinkFailed(error): SinkFailed) -> Self {
        Self::Sink(error)
    }
}
