//! What the sources whose files are one table for each kind of record have in common: how these are opened, and what
//! becomes of values, people's votes and what cannot be imported.

mod columns;
mod file;
mod output;

use std::io;

use encoding_rs::Encoding;
use thiserror::Error;

pub(super) use self::columns::{Column, Columns, columns};
pub(super) use self::file::{Context, Sheet, SourceFile, file_stem, foreign, is_table_by_name, peek, read_error};
pub(super) use self::output::{Converted, Output, Run, Shared};
use super::names::TooManyNames;
use crate::dates::Dates;
use crate::table::TableError;

/// How the files of a run are read.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// `--encoding`
    pub encoding: Option<&'static Encoding>,
    /// `--delimiter`
    pub delimiter: Option<u8>,
    /// `--dates`
    pub dates: Dates,
    /// Whether an earlier run has imported the feature request with this external id.
    pub is_known: &'a dyn Fn(&str) -> bool,
    /// Most ids, votes and people of a run. They are remembered as hashes, to find repeated ones in bounded memory.
    pub max_records: usize,
}

/// Why files cannot be converted, as a sentence for the operator.
#[derive(Debug, Error)]
pub enum TablesError {
    /// A file cannot be read.
    #[error("`{file}` cannot be read: {source}")]
    Read { file: String, source: io::Error },
    /// A file is no table.
    #[error("`{file}` cannot be imported: {problem}")]
    Table { file: String, problem: TableError },
    /// A file does not have the columns that its records need.
    #[error("`{file}` has no records of {program}. Its columns are {columns}")]
    Foreign { file: String, program: &'static str, columns: String },
    /// No file has records.
    #[error("none of the files has records of {program}: {expected}")]
    Nothing { program: &'static str, expected: &'static str },
    /// More ids, votes and people than [`Options::max_records`].
    #[error("the files have more than {max} records")]
    TooManyRecords { max: usize },
    /// The names and addresses do not fit into memory.
    #[error("the names and addresses of people have more than 32 MB")]
    TooManyNames,
    /// The output cannot be stored.
    #[error("the converted records cannot be stored: {0}")]
    Sink(#[source] io::Error),
}

impl From<TooManyNames> for TablesError {
    fn from(TooManyNames: TooManyNames) -> Self {
        Self::TooManyNames
    }
}
