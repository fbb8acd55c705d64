//! Answers of the list calls of Canny: the row `canny` of contract section 4. Its CSV files are those of [`super::csv`].
//!
//! The files are read once before anything is written: for the boards that are private, the feature requests that there
//! are, the voters that are listed for each, the merges, and the comments that have replies. Then come feature requests,
//! votes, comments and notes, moves, and changelogs, whatever the order of the files.
//!
//! What is rejected of a file becomes an array: `[` is the head, later records begin with `,`, and who keeps them writes the
//! last `]`. The records of a file that is not in UTF-8 are rejected in UTF-8.

mod ahead;
mod fields;
mod file;
mod people;
mod remembered;
mod run;
mod texts;

use std::io::Read;

use encoding_rs::Encoding;
use thiserror::Error;

use self::file::{RecordKind, is_of_canny};
use self::run::Run;
use crate::archive::Input;
use crate::dates::Dates;
use crate::encoding::{Detected, detect};
use crate::json::{JsonError, MAX_ELEMENT_BYTES, Object, read_elements};
use crate::records::{Sink, VoteTotals};

/// Most ids, votes and other values of a run that are remembered, mostly as hashes, so that memory is bounded.
pub const MAX_RECORDS: usize = 5_000_000;

/// Bytes at the beginning of a file that may say whether it is of Canny.
const BEGINNING: usize = 2 * MAX_ELEMENT_BYTES;

/// How the files of a run are read.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// `--encoding`
    pub encoding: Option<&'static Encoding>,
    /// `--dates`
    pub dates: Dates,
    /// Whether an earlier run has imported the feature request with this external id.
    pub is_known: &'a dyn Fn(&str) -> bool,
    /// Usually [`MAX_RECORDS`].
    pub max_records: usize,
}

/// Why files cannot be converted, as a sentence for the operator.
#[derive(Debug, Error)]
pub enum CannyError {
    /// A file cannot be read, or is no JSON.
    #[error("`{file}` {problem}")]
    Json { file: String, problem: JsonError },
    /// A file has no list of Canny.
    #[error(
        "`{file}` has no list of Canny: an object with `posts`, `votes`, `comments`, `items`, `boards`, `entries` or \
         `statusChanges`"
    )]
    NoList { file: String },
    /// A file has what another program writes.
    #[error("`{file}` is not of the list calls of Canny: it looks like {looks_like}")]
    OtherSource { file: String, looks_like: &'static str },
    /// More to remember than [`Options::max_records`].
    #[error("the files have more than {max} records")]
    TooManyRecords { max: usize },
    /// The output cannot be stored.
    #[error("the converted records cannot be stored: {0}")]
    Sink(#[source] std::io::Error),
}

/// Whether an input begins with a record as only Canny writes it.
#[must_use]
pub fn recognizes(inputs: &[Input]) -> bool {
    inputs.iter().any(begins_with_record_of_canny)
}

fn begins_with_record_of_canny(input: &Input) -> bool {
    let mut is_found = false;
    let beginning = || input.open().map(|file| file.take(BEGINNING as u64));
    let Ok(detected) = beginning().and_then(|file| detect(file, None)) else { return false };
    let Ok(file) = beginning() else { return false };
    // A file that is cut here is not whole, but its first record may be.
    let read: Result<_, JsonError> = read_elements(file, detected, &RecordKind::LISTS, &mut |element| {
        is_found = element.text.is_ok_and(|text| Object::parse(text).is_some_and(|object| is_of_canny(&object)));
        Ok(false)
    });
    drop(read);
    is_found
}

/// Converts files. Feature requests come first, then votes, comments and notes, moves, and changelogs.
///
/// Among several inputs, those that have no list of Canny are listed and left out.
///
/// # Errors
/// A file cannot be read or is no valid JSON, no input is of Canny, there is too much to remember, or the sink fails.
pub fn convert(inputs: &[Input], options: &Options<'_>, sink: &mut dyn Sink) -> Result<VoteTotals, CannyError> {
    let mut run = Run::new(options, sink);
    let files = run.read_ahead(inputs)?;
    run.find_quotes(&files)?;
    for kind in RecordKind::IN_ORDER {
        for file in files.iter().filter(|file| file.has(kind)) {
            run.convert_file(file, kind)?;
        }
    }
    run.finish()
}

fn detect_encoding(input: &Input, options: &Options<'_>) -> std::io::Result<Detected> {
    detect(input.open()?, options.encoding)
}

#[cfg(test)]
mod tests;
