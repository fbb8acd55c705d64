//! CSV and TSV files of any program: the row `csv` of contract section 4.
//!
//! Files are recognized by their columns: feature requests, votes for them, and comments on them. Files of votes are read
//! twice, because the number of nameless votes of a feature request depends on all of its listed voters.

mod columns;
mod file;
mod run;
pub(crate) mod values;

use std::io;

use encoding_rs::Encoding;
use thiserror::Error;

use self::columns::{Columns, recognize};
pub use self::columns::{Field, FieldMap, FileKind};
use self::file::{detect_encoding, open_table};
use self::run::Run;
use crate::archive::Input;
use crate::dates::Dates;
use crate::encoding::Detected;
use crate::records::{Sink, VoteTotals};
use crate::table::TableError;

/// Most ids and votes of a run. They are remembered as hashes, to find repeated ones in bounded memory.
pub const MAX_RECORDS: usize = 5_000_000;

/// How the files of a run are read.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// `--map`
    pub map: &'a FieldMap,
    /// `--encoding`
    pub encoding: Option<&'static Encoding>,
    /// `--delimiter`
    pub delimiter: Option<u8>,
    /// `--dates`
    pub dates: Dates,
    /// Whether an earlier run has imported the feature request with this external id.
    pub is_known: &'a dyn Fn(&str) -> bool,
    /// Usually [`MAX_RECORDS`].
    pub max_records: usize,
}

/// What a conversion did beside its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The inputs that were read, by their position.
    pub files: Vec<(usize, FileKind)>,
    /// The votes of all feature requests.
    pub votes: VoteTotals,
    /// The category or board that all feature requests share, which is no tag.
    pub shared_category: Option<String>,
}

/// What a file is, before it is converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Which records it has. `None` if its columns do not say.
    pub kind: Option<FileKind>,
    /// The columns as they are written, with the fields they fill: those of feature requests if the kind is not known.
    pub columns: Vec<(String, Option<Field>)>,
    /// How its encoding was found.
    pub encoding: Detected,
}

/// Why files cannot be converted, as a sentence for the operator.
#[derive(Debug, Error)]
pub enum CsvError {
    /// A file cannot be read.
    #[error("`{file}` cannot be read: {source}")]
    Read { file: String, source: io::Error },
    /// A file is no table.
    #[error("`{file}` cannot be imported: {problem}")]
    Table { file: String, problem: TableError },
    /// A file has neither a title nor what comments and votes need.
    #[error("`{file}` has no column for the title. Its columns are {columns}. Name one with --map \"title=COLUMN\"")]
    NoTitle { file: String, columns: String },
    /// A column of `--map` is in no file.
    #[error("no file has the column `{column}` of --map")]
    UnknownColumn { column: String },
    /// A value of `--map` is not of its form.
    #[error("`{text}` is no FIELD=COLUMN: the fields are {fields}")]
    InvalidMap { text: String, fields: String },
    /// `--map` names a field twice.
    #[error("--map names the field `{field}` twice")]
    MappedTwice { field: &'static str },
    /// More ids and votes than [`Options::max_records`].
    #[error("the files have more than {max} records")]
    TooManyRecords { max: usize },
    /// The output cannot be stored.
    #[error("the converted records cannot be stored: {0}")]
    Sink(#[source] io::Error),
}

/// Finds out what a file is.
///
/// # Errors
/// It cannot be read, or is no table.
pub fn inspect(input: &Input, options: &Options<'_>) -> Result<Inspection, CsvError> {
    let encoding = detect_encoding(input, options)?;
    let table = open_table(input, encoding, options)?;
    let recognized = recognize(table.header(), options.map);
    let kind = recognized.as_ref().map(|(kind, _)| *kind);
    let columns = match recognized {
        Some((_, columns)) => columns,
        None => Columns::resolve(FileKind::FeatureRequests, table.header(), options.map),
    };
    let columns = table.header().names().iter().cloned().zip(columns.fields().iter().copied()).collect();
    Ok(Inspection { kind, columns, encoding })
}

/// Converts files. Feature requests come first, then votes, then comments and notes; the votes that a feature request lists
/// itself follow it.
///
/// Among several inputs, those that are no tables by the end of their name and not of a known kind are listed and left out.
///
/// # Errors
/// A file cannot be read, or is no table of a known kind, or the sink fails.
pub fn convert(inputs: &[Input], options: &Options<'_>, sink: &mut dyn Sink) -> Result<Summary, CsvError> {
    let mut run = Run::new(options, sink);
    let files = run.recognize_files(inputs)?;
    let of = |kind| files.iter().filter(move |file| file.kind == kind);
    for file in of(FileKind::Votes) {
        run.count_listed_voters(file)?;
    }
    run.find_shared_category(of(FileKind::FeatureRequests))?;
    for file in of(FileKind::FeatureRequests) {
        run.convert_rows(file, Run::convert_feature_request)?;
    }
    for file in of(FileKind::Votes) {
        run.convert_rows(file, Run::convert_vote)?;
    }
    for file in of(FileKind::Comments) {
        run.convert_rows(file, Run::convert_comment)?;
    }
    let (votes, shared_category) = run.finish()?;
    Ok(Summary { files: files.iter().map(|file| (file.index, file.kind)).collect(), votes, shared_category })
}

#[cfg(test)]
mod tests;
