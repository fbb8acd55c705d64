//! The files of a run, and the row that is being converted.

use std::io::{self, Read};

use super::columns::{Columns, Field, FileKind, is_of_uservoice};
use super::{Options, UservoiceError};
use crate::archive::Input;
use crate::encoding::{Detected, detect};
use crate::records::{Action, Origin, Problem};
use crate::table::{Header, Item, Place, Row, Table, TableError};
use crate::visible;

/// Bytes of the beginning of a file by which it is recognized.
const SAMPLE: u64 = 64 * 1024;

/// Most columns that a message names.
const MAX_SHOWN: usize = 40;

/// Whether the columns of a file are of UserVoice. Whatever cannot be read has none.
pub(super) fn is_recognized(input: &Input) -> bool {
    let recognize = || -> Result<bool, TableError> {
        let encoding = detect(input.open()?.take(SAMPLE), None)?;
        Ok(is_of_uservoice(Table::open(input.open()?, encoding, None)?.header()))
    };
    recognize().unwrap_or_default()
}

pub(super) fn detect_encoding(input: &Input, options: &Options<'_>) -> Result<Detected, UservoiceError> {
    let read = |source| read_error(input, source);
    detect(input.open().map_err(read)?, options.encoding).map_err(read)
}

pub(super) fn open_table(
    input: &Input,
    encoding: Detected,
    options: &Options<'_>,
) -> Result<Table<Box<dyn Read + Send>>, UservoiceError> {
    let file = input.open().map_err(|source| read_error(input, source))?;
    Table::open(file, encoding, options.delimiter).map_err(|problem| match problem {
        TableError::Read(source) => read_error(input, source),
        problem => UservoiceError::Table { file: visible(input.name(), 200), problem },
    })
}

pub(super) fn read_error(input: &Input, source: io::Error) -> UservoiceError {
    UservoiceError::Read { file: visible(input.name(), 200), source }
}

/// A file of a known kind.
pub(super) struct SourceFile<'a> {
    pub(super) index: usize,
    pub(super) input: &'a Input,
    pub(super) encoding: Detected,
    pub(super) kind: FileKind,
    pub(super) columns: Columns,
}

impl SourceFile<'_> {
    /// Calls `each` for every row, with what is before the first one.
    pub(super) fn read(
        &self,
        options: &Options<'_>,
        mut each: impl FnMut(Item<'_>, &[u8]) -> Result<(), UservoiceError>,
    ) -> Result<Header, UservoiceError> {
        let mut table = open_table(self.input, self.encoding, options)?;
        let head = table.head().to_vec();
        while let Some(item) = table.read().map_err(|source| read_error(self.input, source))? {
            each(item, &head)?;
        }
        Ok(table.header().clone())
    }

    pub(super) fn problem(&self, problem: impl Into<String>, action: Action) -> Problem {
        Problem::new(self.input.name(), problem, action)
    }

    /// Opens the input at a row.
    pub(super) fn reopen(&self, place: &Place) -> Result<impl Read, UservoiceError> {
        let open = || {
            let mut file = self.input.open()?;
            io::copy(&mut file.by_ref().take(place.span.start), &mut io::sink())?;
            Ok(file.take(place.span.end - place.span.start))
        };
        open().map_err(|source| read_error(self.input, source))
    }
}

/// The row that is being converted.
pub(super) struct Context<'a> {
    pub(super) file: &'a SourceFile<'a>,
    pub(super) head: &'a [u8],
    pub(super) row: &'a Row<'a>,
}

impl<'a> Context<'a> {
    pub(super) fn cell(&self, field: Field) -> &'a str {
        self.file.columns.cell(self.row, field)
    }

    pub(super) fn origin(&self) -> Origin {
        Origin { file: self.file.index, line: self.row.place.line }
    }

    pub(super) fn problem(
        &self,
        id: Option<&str>,
        field: Field,
        problem: impl Into<String>,
        action: Action,
    ) -> Problem {
        self.problem_of(id, field, self.cell(field), problem, action)
    }

    pub(super) fn problem_of(
        &self,
        id: Option<&str>,
        field: Field,
        value: &str,
        problem: impl Into<String>,
        action: Action,
    ) -> Problem {
        let name = self.file.columns.name(field);
        let problem = self.file.problem(problem, action).in_line(self.row.place.line).of_value(name, value);
        match id {
            Some(id) => problem.of_record(id),
            None => problem,
        }
    }
}

/// Whether a file says that it is a table by the end of its name.
pub(super) fn is_table_by_name(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["csv", "tsv", "tab"].iter().any(|table| extension.eq_ignore_ascii_case(table))
}

/// Returns the names of columns for a message.
pub(super) fn list_columns(header: &Header) -> String {
    let names = header.names().iter();
    let mut list: Vec<String> = names.take(MAX_SHOWN).map(|name| format!("`{}`", visible(name, 40))).collect();
    if header.names().len() > MAX_SHOWN {
        list.push("…".to_owned());
    }
    list.join(", ")
}
