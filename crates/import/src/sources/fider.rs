//! Fider: the tables of its backup, and its `posts.csv` (the row `fider` of contract section 4).
//!
//! The backup is one JSON file for each table, with blobs beside them. It is read in several passes, because what belongs
//! together is in different files: people, tags, voters and subscribers are remembered in a small form, texts never.
//!
//! The external id of a feature request is its number, which visitors see and which both forms have, so that an import of
//! the backup goes on from one of `posts.csv`.

mod backup;
mod elements;
mod files;
mod output;
mod posts;
mod rows;
mod texts;

use std::io;

use encoding_rs::Encoding;
use thiserror::Error;

pub use self::elements::JsonError;
use self::files::{Files, find_files};
use self::output::Output;
use crate::archive::Input;
use crate::dates::Dates;
use crate::records::{Sink, VoteTotals};
use crate::sources::names::TooManyNames;
use crate::sources::output::SinkFailed;
use crate::table::TableError;

/// Most ids, people, votes and subscriptions of a run. They are remembered as hashes.
pub const MAX_RECORDS: usize = 5_000_000;

/// How the files of a run are read.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// `--encoding`, for CSVs: JSON is always UTF-8.
    pub encoding: Option<&'static Encoding>,
    /// `--dates`: Fider itself writes no date that needs it, but a spreadsheet may.
    pub dates: Dates,
    /// Usually [`MAX_RECORDS`].
    pub max_records: usize,
}

/// Why files cannot be converted, as a sentence for the operator.
#[derive(Debug, Error)]
pub enum FiderError {
    /// A file cannot be read.
    #[error("`{file}` cannot be read: {source}")]
    Read { file: String, source: io::Error },
    /// A file of the backup is no table.
    #[error("`{file}` cannot be imported: {problem}")]
    Json { file: String, problem: JsonError },
    /// A CSV is no table.
    #[error("`{file}` cannot be imported: {problem}")]
    Table { file: String, problem: TableError },
    /// No input is of Fider.
    #[error("there is neither a `posts.json` of a backup nor a `posts.csv` of Fider")]
    NotFider,
    /// An input is of another program.
    #[error("`{file}` is not of Fider: it looks like a file of the source `{source_name}`")]
    OtherSource { file: String, source_name: &'static str },
    /// More rows to remember than [`Options::max_records`].
    #[error("the files have more than {max} records")]
    TooManyRecords { max: usize },
    /// The names and addresses do not fit into memory.
    #[error("the names and addresses of people, or the names of tags, have more than 32 MB")]
    TooManyNames,
    /// The output cannot be stored.
    #[error("the converted records cannot be stored: {0}")]
    Sink(#[source] io::Error),
}

impl From<TooManyNames> for FiderError {
    fn from(TooManyNames: TooManyNames) -> Self {
        Self::TooManyNames
    }
}

impl From<SinkFailed> for FiderError {
    fn from(SinkFailed(error): SinkFailed) -> Self {
        Self::Sink(error)
    }
}

/// Whether the inputs are a backup of Fider or its `posts.csv`. Reads only the beginnings of files.
#[must_use]
pub fn recognizes(inputs: &[Input]) -> bool {
    find_files(inputs).is_ok()
}

/// Converts files. Feature requests come first, each with the answer of the team, then votes, subscriptions, comments and
/// notes. A picture comes before the first record whose text has it. A CSV beside a backup is left out.
///
/// Rejected records of a JSON file are an array of the original elements: `[` is before the first one, `,` and a line
/// break begin each other one, and the `]` after the last one is missing.
///
/// # Errors
/// No input is of Fider, a file of Fider cannot be read, or is broken as a whole, or the sink fails.
pub fn convert(inputs: &[Input], options: &Options, sink: &mut dyn Sink) -> Result<VoteTotals, FiderError> {
    let files = find_files(inputs)?;
    let mut output = Output::of_options(options, sink);
    match files {
        Files::Backup(tables) => backup::convert(&tables, output),
        Files::Posts(files) => {
            let mut ids = posts::Ids::default();
            for file in &files {
                posts::convert(file, &mut ids, &mut output)?;
            }
            let of_other =
                inputs.iter().enumerate().filter(|(index, _)| !files.iter().any(|file| file.index == *index));
            for (_, input) in of_other {
                output.report_unknown_file(input)?;
            }
            output.finish()
        }
    }
}

#[cfg(test)]
mod tests;
