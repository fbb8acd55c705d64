//! The files of a run, and the record that is being converted.

use std::io::{self, Read};

use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::policy::spreadsheet::unguard;

use super::columns::{Columns, Field, FileKind};
use super::values::{line, split_tags};
use super::{CsvError, Options};
use crate::archive::Input;
use crate::encoding::{Detected, detect};
use crate::records::{Action, Origin, Problem};
use crate::table::{Item, Place, Row, Table, TableError};
use crate::visible;

pub(super) fn detect_encoding(input: &Input, options: &Options<'_>) -> Result<Detected, CsvError> {
    let read = |source| read_error(input, source);
    detect(input.open().map_err(read)?, options.encoding).map_err(read)
}

pub(super) fn open_table(
    input: &Input,
    encoding: Detected,
    options: &Options<'_>,
) -> Result<Table<Box<dyn Read + Send>>, CsvError> {
    let file = input.open().map_err(|source| read_error(input, source))?;
    Table::open(file, encoding, options.delimiter).map_err(|problem| match problem {
        TableError::Read(source) => read_error(input, source),
        problem => CsvError::Table { file: visible(input.name(), 200), problem },
    })
}

pub(super) fn read_error(input: &Input, source: io::Error) -> CsvError {
    CsvError::Read { file: visible(input.name(), 200), source }
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
    /// Calls `each` for every record until it returns `false`.
    pub(super) fn read(
        &self,
        options: &Options<'_>,
        mut each: impl FnMut(Item<'_>, &[u8]) -> Result<bool, CsvError>,
    ) -> Result<(), CsvError> {
        let mut table = open_table(self.input, self.encoding, options)?;
        let head = table.head().to_vec();
        while let Some(item) = table.read().map_err(|source| read_error(self.input, source))? {
            if !each(item, &head)? {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn problem(&self, problem: impl Into<String>, action: Action) -> Problem {
        Problem::new(self.input.name(), problem, action)
    }
}

/// Returns the category or board that all feature requests of a run share, if there are at least two.
pub(super) fn shared_category<'a>(
    files: impl Iterator<Item = &'a SourceFile<'a>>,
    options: &Options<'_>,
) -> Result<Option<String>, CsvError> {
    let mut shared: Option<Vec<String>> = None;
    let mut records = 0_u64;
    for file in files {
        file.read(options, |item, _| {
            let Item::Row(row) = item else { return Ok(true) };
            if line(file.columns.cell(&row, Field::Title)).is_none() {
                return Ok(true);
            }
            records += 1;
            let cells = file.columns.categories().iter().map(|position| unguard(row.cell(*position)));
            // More than a feature request has tags are none, and would take long to compare.
            let found = cells.flat_map(split_tags).filter_map(line).take(Tag::MAX_COUNT);
            let left = match shared.take() {
                None => found.collect(),
                Some(before) => {
                    let found: Vec<String> = found.collect();
                    before.into_iter().filter(|category| found.contains(category)).collect()
                }
            };
            Ok(!shared.insert(left).is_empty())
        })?;
        if shared.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
    }
    Ok(shared.filter(|_| records > 1).and_then(|shared| shared.into_iter().next()))
}

/// The record that is being converted.
pub(super) struct Context<'a> {
    pub(super) file: &'a SourceFile<'a>,
    pub(super) head: &'a [u8],
    pub(super) row: &'a Row<'a>,
}

impl Context<'_> {
    pub(super) fn cell(&self, field: Field) -> &str {
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
        let problem = self.file.problem(problem, action).in_line(self.row.place.line).of_value(field.name(), value);
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

/// Opens an input at a record.
pub(super) fn reopen(input: &Input, place: &Place) -> io::Result<io::Take<Box<dyn Read + Send>>> {
    let mut file = input.open()?;
    io::copy(&mut file.by_ref().take(place.span.start), &mut io::sink())?;
    Ok(file.take(place.span.end - place.span.start))
}
