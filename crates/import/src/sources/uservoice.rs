//! Exports of UserVoice: the row `uservoice` of contract section 4.
//!
//! Files are recognized by their columns: ideas, with a row for each of their voters; comments; notes; and users, by whom
//! only the team and deleted people are known. Ideas are read twice, because what is said of an idea depends on all of its
//! rows, and who belongs to the team on all of them.

mod columns;
mod file;
mod run;

use std::io;

use thiserror::Error;

pub use self::columns::FileKind;
use self::run::Run;
pub use super::tables::Options;
use crate::archive::Input;
use crate::records::{Sink, VoteTotals};
use crate::table::TableError;

/// What a conversion did beside its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The inputs that were read, by their position.
    pub files: Vec<(usize, FileKind)>,
    /// The votes of all feature requests.
    pub votes: VoteTotals,
    /// The forums and categories that all feature requests share, which are no tags.
    pub shared_categories: Vec<String>,
}

/// Why files cannot be converted, as a sentence for the operator.
#[derive(Debug, Error)]
pub enum UservoiceError {
    /// A file cannot be read.
    #[error("`{file}` cannot be read: {source}")]
    Read { file: String, source: io::Error },
    /// A file is no table.
    #[error("`{file}` cannot be imported: {problem}")]
    Table { file: String, problem: TableError },
    /// A file has none of the columns that tell what it is.
    #[error("`{file}` has neither ideas nor comments, notes or users of UserVoice. Its columns are {columns}")]
    Foreign { file: String, columns: String },
    /// More ids, votes and people than [`Options::max_records`].
    #[error("the files have more than {max} records")]
    TooManyRecords { max: usize },
    /// The output cannot be stored.
    #[error("the converted records cannot be stored: {0}")]
    Sink(#[source] io::Error),
}

/// Whether one of the files has columns that only UserVoice writes. Only the beginning of each is read.
#[must_use]
pub fn recognizes(inputs: &[Input]) -> bool {
    inputs.iter().any(file::is_recognized)
}

/// Converts files. Feature requests come first, each with the status update that it has, and among them the votes; then
/// comments and notes.
///
/// Among several inputs, those that are no tables by the end of their name and not of a known kind are listed and left out.
///
/// # Errors
/// A file cannot be read, or is no table of a known kind, or the sink fails.
pub fn convert(inputs: &[Input], options: &Options<'_>, sink: &mut dyn Sink) -> Result<Summary, UservoiceError> {
    let mut run = Run::new(options, sink);
    let files = run.recognize_files(inputs)?;
    let of = |kinds: &'static [FileKind]| files.iter().filter(move |file| kinds.contains(&file.kind));
    for file in of(&[FileKind::Users]) {
        run.convert_rows(file, Run::learn_user)?;
    }
    for file in of(&[FileKind::Notes]) {
        run.read_rows(file, Run::learn_author_of_note)?;
    }
    for file in of(&[FileKind::Ideas]) {
        run.read_rows(file, Run::learn_idea)?;
    }
    for file in of(&[FileKind::Ideas]) {
        run.convert_rows(file, Run::convert_idea)?;
    }
    for file in of(&[FileKind::Comments, FileKind::Notes]) {
        run.convert_rows(file, Run::convert_comment)?;
    }
    let (votes, shared_categories) = run.finish()?;
    Ok(Summary { files: files.iter().map(|file| (file.index, file.kind)).collect(), votes, shared_categories })
}

#[cfg(test)]
mod tests;
