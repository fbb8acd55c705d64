//! ClearFlask: the CSVs of its export, or the zip with them (the row `clearflask` of contract section 4).
//!
//! Tables are recognized by their columns: the names of files have the project and the time before and after the name of
//! the table. Votes are only counted; people are known by the table of users, to which all other ones refer.

mod files;
mod run;

pub use super::tables::{Options, TablesError as ClearflaskError};

use self::files::find_files;
use self::run::Clearflask;
use super::tables::{Output, Run, peek};
use crate::archive::Input;
use crate::records::{Sink, VoteTotals};

/// Whether one of the files has columns that only ClearFlask writes. Only the beginning of each is read.
#[must_use]
pub fn recognizes(inputs: &[Input]) -> bool {
    let may_be_table = |input: &&Input| inputs.len() == 1 || super::tables::is_table_by_name(input.name());
    inputs.iter().filter(may_be_table).any(|input| peek(input).is_some_and(|header| files::is_recognized(&header)))
}

/// Converts files. Feature requests come first, each with the response of the team, then comments. Inputs of other kinds
/// are listed and left out.
///
/// # Errors
/// No file has records, one cannot be read, or the sink fails.
pub fn convert(inputs: &[Input], options: &Options<'_>, sink: &mut dyn Sink) -> Result<VoteTotals, ClearflaskError> {
    let mut run = Clearflask::new(Output::new(options, sink));
    let files = find_files(inputs, run.output())?;
    for sheet in &files.users {
        run.convert_rows(&sheet.file, |run, context| run.convert_user(context, &sheet.columns))?;
    }
    for sheet in &files.comments {
        run.read_rows(&sheet.file, |run, context| run.learn_parent(context, &sheet.columns))?;
    }
    if run.output().quotes.has_parents() {
        for sheet in &files.comments {
            run.read_rows(&sheet.file, |run, context| run.learn_quote(context, &sheet.columns))?;
        }
    }
    for sheet in &files.posts {
        run.read_rows(&sheet.file, |run, context| run.learn_post(context, &sheet.columns))?;
    }
    for sheet in &files.posts {
        run.convert_rows(&sheet.file, |run, context| run.convert_post(context, &sheet.columns))?;
    }
    for sheet in &files.comments {
        run.convert_rows(&sheet.file, |run, context| run.convert_comment(context, &sheet.columns))?;
    }
    run.finish()
}

#[cfg(test)]
mod tests;
