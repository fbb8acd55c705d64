//! Quackback: its template for imports, and the zip of its export (the row `quackback` of contract section 4).
//!
//! Tables are recognized by their names, and those with other names by their columns. Cells are guarded against
//! formulas. Who belongs to the team is said by comments, and the names of voters by the table of users.

mod files;
mod run;

pub use super::tables::{Options, TablesError as QuackbackError};

use self::files::find_files;
use self::run::Quackback;
use super::tables::{Output, Run};
use crate::archive::Input;
use crate::records::{Sink, VoteTotals};

/// Whether one of the files is one that only Quackback writes. Only the beginning of each is read.
#[must_use]
pub fn recognizes(inputs: &[Input]) -> bool {
    inputs.iter().any(|input| files::is_recognized(input, inputs.len() == 1))
}

/// Converts files. Statuses come first, then feature requests, votes, comments and notes, and changelogs. Inputs of
/// other kinds are listed and left out.
///
/// # Errors
/// No file has records, one cannot be read or lacks the columns of its records, or the sink fails.
pub fn convert(inputs: &[Input], options: &Options<'_>, sink: &mut dyn Sink) -> Result<VoteTotals, QuackbackError> {
    let mut run = Quackback::new(Output::new(options, sink));
    let files = find_files(inputs, run.output())?;
    for sheet in &files.statuses {
        run.convert_rows(&sheet.file, |run, context| run.learn_status(context, &sheet.columns))?;
    }
    run.write_statuses()?;
    for sheet in &files.users {
        run.convert_rows(&sheet.file, |run, context| run.learn_user(context, &sheet.columns))?;
    }
    for sheet in &files.comments {
        run.read_rows(&sheet.file, |run, context| run.learn_comment(context, &sheet.columns))?;
    }
    if run.output().quotes.has_parents() {
        for sheet in &files.comments {
            run.read_rows(&sheet.file, |run, context| run.learn_quote(context, &sheet.columns))?;
        }
    }
    for sheet in &files.votes {
        run.read_rows(&sheet.file, |run, context| run.learn_vote(context, &sheet.columns))?;
    }
    for sheet in &files.posts {
        run.read_rows(&sheet.file, |run, context| run.learn_post(context, &sheet.columns))?;
    }
    for sheet in &files.posts {
        run.convert_rows(&sheet.file, |run, context| run.convert_post(context, &sheet.columns))?;
    }
    for sheet in &files.votes {
        run.convert_rows(&sheet.file, |run, context| run.convert_vote(context, &sheet.columns))?;
    }
    for sheet in &files.comments {
        run.convert_rows(&sheet.file, |run, context| run.convert_comment(context, &sheet.columns))?;
    }
    for sheet in &files.changelogs {
        run.convert_rows(&sheet.file, |run, context| run.convert_changelog(context, &sheet.columns))?;
    }
    files.count_others(run.output())?;
    run.finish()
}

#[cfg(test)]
mod tests;
