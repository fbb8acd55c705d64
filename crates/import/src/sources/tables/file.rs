//! The files of a run, and the row that is being converted.

use std::io::{self, Read};

use roadmap_domain::policy::spreadsheet::unguard;

use super::{Column, Columns, Options, TablesError};
use crate::archive::Input;
use crate::encoding::{Detected, detect};
use crate::records::{Action, Kind, Origin, Problem};
use crate::table::{Header, Item, Place, Row, Table, TableError};
use crate::visible;

/// Bytes of the beginning of a file by which it is recognized.
const SAMPLE: u64 = 64 * 1024;
/// Most columns that a message names.
const MAX_SHOWN: usize = 40;

/// Returns the columns of a file. `None` if it is no table.
pub(crate) fn peek(input: &Input) -> Option<Header> {
    let header = || -> Result<Header, TableError> {
        let encoding = detect(input.open()?.take(SAMPLE), None)?;
        Ok(Table::open(input.open()?, encoding, None)?.header().clone())
    };
    header().ok()
}

/// Whether a file says that it is a table by the end of its name.
pub(crate) fn is_table_by_name(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["csv", "tsv", "tab"].iter().any(|table| extension.eq_ignore_ascii_case(table))
}

/// Returns the name of a file without its folder and its extension.
pub(crate) fn file_stem(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns the error of a table without the columns that its records need.
pub(crate) fn foreign(input: &Input, program: &'static str, header: &Header) -> TablesError {
    let names = header.names().iter();
    let mut columns: Vec<_> = names.take(MAX_SHOWN).map(|name| format!("`{}`", visible(name, 40))).collect();
    if header.names().len() > MAX_SHOWN {
        columns.push("…".to_owned());
    }
    TablesError::Foreign { file: visible(input.name(), 200), program, columns: columns.join(", ") }
}

pub(crate) fn read_error(input: &Input, source: io::Error) -> TablesError {
    TablesError::Read { file: visible(input.name(), 200), source }
}

/// A file that is a table.
pub(crate) struct SourceFile<'a> {
    pub(super) index: usize,
    pub(super) input: &'a Input,
    pub(super) encoding: Detected,
    /// The kind of its records, as reports count them.
    pub(super) kind: Kind,
    /// Whether cells are guarded against formulas.
    pub(super) is_guarded: bool,
    /// The columns that have no place here.
    pub(super) unused: Vec<(usize, String)>,
}

/// A file of a known kind, with its columns.
pub(crate) struct Sheet<'a, C> {
    pub(crate) file: SourceFile<'a>,
    pub(crate) columns: C,
}

impl<'a> SourceFile<'a> {
    /// Opens a file. Until [`Self::into_sheet`], it has records of no kind.
    pub(crate) fn open(index: usize, input: &'a Input, options: &Options<'_>) -> Result<(Self, Header), TablesError> {
        let read = |source| read_error(input, source);
        let encoding = detect(input.open().map_err(read)?, options.encoding).map_err(read)?;
        let file = Self { index, input, encoding, kind: Kind::Files, is_guarded: false, unused: Vec::new() };
        let header = file.open_table(options)?.header().clone();
        Ok((file, header))
    }

    pub(crate) fn into_sheet<C: Columns>(self, header: &Header, kind: Kind, is_guarded: bool) -> Sheet<'a, C> {
        let columns = C::find(header);
        let used: Vec<_> = columns.all().into_iter().filter_map(Column::position).collect();
        let names = header.names().iter().enumerate();
        let unused = names.filter(|(position, _)| !used.contains(position));
        let unused = unused.map(|(position, name)| (position, visible(name, 80))).collect();
        Sheet { file: Self { kind, is_guarded, unused, ..self }, columns }
    }

    fn open_table(&self, options: &Options<'_>) -> Result<Table<Box<dyn Read + Send>>, TablesError> {
        let file = self.input.open().map_err(|source| read_error(self.input, source))?;
        Table::open(file, self.encoding, options.delimiter).map_err(|problem| match problem {
            TableError::Read(source) => read_error(self.input, source),
            problem => TablesError::Table { file: visible(self.input.name(), 200), problem },
        })
    }

    /// Calls `each` for every row, with what is before the first one.
    pub(super) fn read(
        &self,
        options: &Options<'_>,
        mut each: impl FnMut(Item<'_>, &[u8]) -> Result<(), TablesError>,
    ) -> Result<(), TablesError> {
        let mut table = self.open_table(options)?;
        let head = table.head().to_vec();
        while let Some(item) = table.read().map_err(|source| read_error(self.input, source))? {
            each(item, &head)?;
        }
        Ok(())
    }

    /// Adds the number of rows, whether they can be read or not.
    pub(crate) fn count_rows(&self, options: &Options<'_>, rows: &mut u64) -> Result<(), TablesError> {
        self.read(options, |_, _| {
            *rows += 1;
            Ok(())
        })
    }

    pub(super) fn problem(&self, problem: impl Into<String>, action: Action) -> Problem {
        Problem::new(self.input.name(), problem, action)
    }

    /// Opens the input at a row.
    pub(super) fn reopen(&self, place: &Place) -> Result<impl Read, TablesError> {
        let open = || {
            let mut file = self.input.open()?;
            io::copy(&mut file.by_ref().take(place.span.start), &mut io::sink())?;
            Ok(file.take(place.span.end - place.span.start))
        };
        open().map_err(|source| read_error(self.input, source))
    }
}

/// The row that is being converted.
pub(crate) struct Context<'a> {
    pub(super) file: &'a SourceFile<'a>,
    pub(super) head: &'a [u8],
    pub(super) row: &'a Row<'a>,
}

impl<'a> Context<'a> {
    /// Returns the content of a cell: empty if there is no such column.
    pub(crate) fn cell(&self, column: Column) -> &'a str {
        let cell = column.position().map_or("", |position| self.row.cell(position));
        if self.file.is_guarded { unguard(cell) } else { cell }
    }

    /// Whether the file has records of this kind.
    pub(crate) fn is_of(&self, kind: Kind) -> bool {
        self.file.kind == kind
    }

    pub(crate) fn origin(&self) -> Origin {
        Origin { file: self.file.index, line: self.row.place.line }
    }

    pub(crate) fn problem(
        &self,
        id: Option<&str>,
        column: Column,
        problem: impl Into<String>,
        action: Action,
    ) -> Problem {
        self.problem_of(id, column, self.cell(column), problem, action)
    }

    pub(crate) fn problem_of(
        &self,
        id: Option<&str>,
        column: Column,
        value: &str,
        problem: impl Into<String>,
        action: Action,
    ) -> Problem {
        let problem = self.file.problem(problem, action).in_line(self.row.place.line).of_value(column.name, value);
        match id {
            Some(id) => problem.of_record(id),
            None => problem,
        }
    }
}
