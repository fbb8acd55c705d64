//! Issues and discussions of GitHub: the row `github` of contract section 4.
//!
//! The files are what `gh issue list --json` and `gh api` write: pages of the REST API, answers of GraphQL, arrays of those,
//! or one after the other. Pages of comments on issues, which the REST API has apart, may be among them.

mod element;
mod file;
mod json;
mod run;

use std::io;

use encoding_rs::Encoding;
use thiserror::Error;

pub use self::json::JsonError;
use self::run::Run;
use crate::archive::Input;
use crate::dates::Dates;
use crate::records::{Sink, VoteTotals};

/// How the files of a run are read.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// `--encoding`
    pub encoding: Option<&'static Encoding>,
    /// `--dates`
    pub dates: Dates,
    /// Whether an earlier run has imported the feature request with this external id.
    pub is_known: &'a dyn Fn(&str) -> bool,
    /// Most ids of a run. They are remembered as hashes, to find repeated ones in bounded memory.
    pub max_records: usize,
}

/// What a conversion did beside its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The inputs that were read, by their position.
    pub files: Vec<usize>,
    /// The votes of all feature requests.
    pub votes: VoteTotals,
    /// The category that all feature requests share, which is no tag.
    pub shared_category: Option<String>,
}

/// Why files cannot be converted, as a sentence for the operator.
#[derive(Debug, Error)]
pub enum GithubError {
    /// A file cannot be read.
    #[error("`{file}` cannot be read: {source}")]
    Read { file: String, source: io::Error },
    /// A file is no JSON.
    #[error("`{file}` cannot be imported: {problem}")]
    Json { file: String, problem: JsonError },
    /// A file has other objects.
    #[error("`{file}` has no issues or discussions of GitHub, which have a `number` and a `title`: {found}")]
    Foreign { file: String, found: String },
    /// More ids than [`Options::max_records`].
    #[error("the files have more than {max} records")]
    TooManyRecords { max: usize },
    /// The output cannot be stored.
    #[error("the converted records cannot be stored: {0}")]
    Sink(#[source] io::Error),
}

/// Whether one of the files has issues, discussions or comments of GitHub. Only the beginning of each is read.
#[must_use]
pub fn recognizes(inputs: &[Input]) -> bool {
    inputs.iter().any(file::is_recognized)
}

/// Converts files. Feature requests come first, each with the comments that the file has inside of it, then those of pages of
/// comments.
///
/// What is rejected is written as JSON: `[` or what the encoding of the file has for it is the head, and the original bytes
/// of all but the first one begin with `,`, so that only `]` is missing. Of comments that are rejected, the whole issue or
/// discussion is written, and once: the bytes of further ones in it are empty.
///
/// Among several inputs, those that have nothing of GitHub are listed and left out.
///
/// # Errors
/// A file cannot be read, or is no JSON of GitHub, or the sink fails.
pub fn convert(inputs: &[Input], options: &Options<'_>, sink: &mut dyn Sink) -> Result<Summary, GithubError> {
    let mut run = Run::new(options, sink);
    let files = run.recognize_files(inputs)?;
    run.find_shared_category(&files)?;
    let mut with_comments = Vec::new();
    for file in &files {
        if run.convert_elements(file)? {
            with_comments.push(file);
        }
    }
    for file in with_comments {
        run.convert_pages_of_comments(file)?;
    }
    let (votes, shared_category) = run.finish()?;
    Ok(Summary { files: files.iter().map(|file| file.index).collect(), votes, shared_category })
}

#[cfg(test)]
mod tests;
