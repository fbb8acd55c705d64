//! Which of the inputs are tables of a program, and their rows.

use std::io::{self, Read};

use super::{DumpError, Options};
use crate::archive::Input;
use crate::encoding::{Detected, detect};
use crate::records::Origin;
use crate::sources::output::Spot;
use crate::table::{self, Header, Item, Place, TableError};
use crate::visible;

/// Bytes at the beginning of a file that have its header.
const SAMPLE: u64 = 64 * 1024;
/// Most files that may be the table of feature requests.
const MAX_CANDIDATES: usize = 10;
/// Most columns that a message names.
const MAX_SHOWN: usize = 40;

/// What precedes the names of tables in some dumps.
const SCHEMA: &str = "public.";

/// A program whose database is read.
pub(crate) struct Program {
    /// Its name.
    pub(crate) name: &'static str,
    /// The table of feature requests.
    pub(crate) posts: &'static Table,
    /// Columns by which the table of feature requests is told from those of other programs: one of each list.
    pub(crate) marks: &'static [&'static [&'static str]],
    /// The other tables that are read.
    pub(crate) tables: &'static [&'static Table],
    /// Tables that have nothing to import, or secrets.
    pub(crate) unread: &'static [&'static str],
}

/// A table that is read.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    /// Columns without which nothing can be said of its rows.
    pub(crate) needed: &'static [&'static str],
    /// Columns that may be missing.
    pub(crate) others: &'static [&'static str],
}

impl Table {
    fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.needed.iter().chain(self.others).copied()
    }
}

/// The tables of a run.
pub(crate) struct Tables<'a> {
    files: Vec<SourceFile<'a>>,
    /// The inputs that are no tables of the program.
    pub(super) others: Vec<&'a Input>,
}

/// The file of a table.
pub(super) struct SourceFile<'a> {
    pub(super) index: usize,
    pub(super) input: &'a Input,
    pub(super) encoding: Detected,
    table: &'static Table,
    /// The positions of the columns of the table that are there.
    positions: Vec<Option<usize>>,
}

/// A row of a table.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(super) file: &'a SourceFile<'a>,
    /// What is before the first row of the file.
    pub(super) head: &'a [u8],
    pub(super) row: &'a table::Row<'a>,
}

impl<'a> Row<'a> {
    /// Returns the cell of a column: empty if the table has none.
    pub(crate) fn cell(&self, column: &'static str) -> &'a str {
        let position = self.file.table.columns().position(|other| other == column);
        let position = position.and_then(|position| self.file.positions.get(position).copied().flatten());
        position.map_or("", |position| self.row.cell(position))
    }

    /// Returns the cell of a column without white space around it.
    pub(crate) fn trimmed(&self, column: &'static str) -> &'a str {
        self.cell(column).trim()
    }

    pub(crate) fn spot(&self) -> Spot<'a> {
        self.file.spot(self.row.place.line)
    }
}

impl<'a> SourceFile<'a> {
    fn open(index: usize, input: &'a Input, table: &'static Table, options: &Options<'_>) -> Result<Self, DumpError> {
        let read = |source| read_error(input, source);
        let encoding = detect(input.open().map_err(read)?, options.encoding).map_err(read)?;
        let opened = open_table(input, encoding, options)?;
        let header = opened.header();
        let positions: Vec<_> = table.columns().map(|column| header.position(column)).collect();
        let missing = table.columns().zip(&positions).take(table.needed.len()).find(|(_, position)| position.is_none());
        if let Some((column, _)) = missing {
            return Err(DumpError::NoColumn { file: shown(input), column, columns: list_columns(header) });
        }
        Ok(Self { index, input, encoding, table, positions })
    }

    pub(super) fn spot(&self, line: u64) -> Spot<'a> {
        Spot { input: self.input, origin: Origin { file: self.index, line }, id: None }
    }

    /// Calls `each` for every row, with what is before the first one.
    pub(super) fn read(
        &self,
        options: &Options<'_>,
        mut each: impl FnMut(Item<'_>, &[u8]) -> Result<(), DumpError>,
    ) -> Result<(), DumpError> {
        let mut table = open_table(self.input, self.encoding, options)?;
        let head = table.head().to_vec();
        while let Some(item) = table.read().map_err(|source| read_error(self.input, source))? {
            each(item, &head)?;
        }
        Ok(())
    }

    /// Opens the file at a row.
    pub(super) fn reopen(&self, place: &Place) -> Result<impl Read, DumpError> {
        let open = || {
            let mut file = self.input.open()?;
            io::copy(&mut file.by_ref().take(place.span.start), &mut io::sink())?;
            Ok(file.take(place.span.end - place.span.start))
        };
        open().map_err(|source| read_error(self.input, source))
    }
}

impl<'a> Tables<'a> {
    /// Finds the tables of a program among the inputs, and opens each.
    pub(crate) fn open(inputs: &'a [Input], program: &Program, options: &Options<'_>) -> Result<Self, DumpError> {
        let (posts, root) = find_posts(inputs, program).ok_or(DumpError::Foreign { program: program.name })?;
        let mut tables = Self { files: Vec::new(), others: Vec::new() };
        for (index, input) in inputs.iter().enumerate() {
            let name = table_of(input.name()).filter(|(other, _)| *other == root).map(|(_, name)| name);
            let is = |table: &Table| name.as_deref() == Some(table.name);
            let table = if index == posts {
                Some(program.posts)
            } else {
                program.tables.iter().copied().find(|table| is(table)).filter(|table| tables.find(table).is_none())
            };
            match table {
                Some(table) => tables.files.push(SourceFile::open(index, input, table, options)?),
                None if name.as_deref().is_some_and(|name| program.unread.contains(&name)) => {}
                None => tables.others.push(input),
            }
        }
        Ok(tables)
    }

    pub(super) fn files(&self) -> &[SourceFile<'a>] {
        &self.files
    }

    /// Returns the file of a table, if there is one.
    pub(super) fn find(&self, table: &Table) -> Option<&SourceFile<'a>> {
        self.files.iter().find(|file| file.table.name == table.name)
    }

    /// Whether there is a table.
    pub(crate) fn has(&self, table: &Table) -> bool {
        self.find(table).is_some()
    }
}

/// Whether the inputs have the table of feature requests of a program. Only the beginnings of files are read.
pub(crate) fn recognizes(inputs: &[Input], program: &Program) -> bool {
    find_posts(inputs, program).is_some()
}

/// Finds the table of feature requests: its position, and what is before the names of all tables.
fn find_posts<'a>(inputs: &'a [Input], program: &Program) -> Option<(usize, &'a str)> {
    let named = |input: &'a Input| {
        let (root, name) = table_of(input.name())?;
        (name == program.posts.name || inputs.len() == 1).then_some(root)
    };
    let mut found: Vec<_> =
        inputs.iter().enumerate().filter_map(|(index, input)| Some((index, input, named(input)?))).collect();
    found.sort_by_key(|(_, input, _)| input.name().len());
    let is_posts = |input: &Input| {
        read_header(input).is_some_and(|header| {
            program.marks.iter().all(|names| names.iter().any(|name| header.position(name).is_some()))
        })
    };
    let mut found = found.into_iter().take(MAX_CANDIDATES);
    found.find(|(_, input, _)| is_posts(input)).map(|(index, _, root)| (index, root))
}

/// Returns what is before the name of a table, and the name, if a file is a table by the end of its name.
fn table_of(name: &str) -> Option<(&str, String)> {
    let start = name.rfind('/').map_or(0, |slash| slash + 1);
    let (root, file) = name.split_at_checked(start)?;
    let (stem, extension) = file.rsplit_once('.')?;
    let is_table = ["csv", "tsv"].iter().any(|table| extension.eq_ignore_ascii_case(table));
    let stem = stem.to_ascii_lowercase();
    is_table.then(|| (root, stem.strip_prefix(SCHEMA).map(str::to_owned).unwrap_or(stem)))
}

/// Reads the header of a table. `None` if there is none.
fn read_header(input: &Input) -> Option<Header> {
    let mut head = Vec::new();
    input.open().ok()?.take(SAMPLE).read_to_end(&mut head).ok()?;
    let encoding = detect(&*head, None).ok()?;
    Some(table::Table::open(&*head, encoding, None).ok()?.header().clone())
}

fn open_table(
    input: &Input,
    encoding: Detected,
    options: &Options<'_>,
) -> Result<table::Table<Box<dyn Read + Send>>, DumpError> {
    let file = input.open().map_err(|source| read_error(input, source))?;
    table::Table::open(file, encoding, options.delimiter).map_err(|problem| match problem {
        TableError::Read(source) => read_error(input, source),
        problem => DumpError::Table { file: shown(input), problem },
    })
}

fn read_error(input: &Input, source: io::Error) -> DumpError {
    DumpError::Read { file: shown(input), source }
}

fn shown(input: &Input) -> String {
    visible(input.name(), 200)
}

/// Returns the names of columns for a message.
fn list_columns(header: &Header) -> String {
    let names = header.names().iter();
    let mut list: Vec<String> = names.take(MAX_SHOWN).map(|name| format!("`{}`", visible(name, 40))).collect();
    if header.names().len() > MAX_SHOWN {
        list.push("…".to_owned());
    }
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_known_by_the_names_of_files() {
        for (name, found) in [
            ("posts.csv", Some(("", "posts"))),
            ("dump/2024/Posts.CSV", Some(("dump/2024/", "posts"))),
            ("public.post_statuses.csv", Some(("", "post_statuses"))),
            ("likes.tsv", Some(("", "likes"))),
            ("posts.csv.bak", None),
            ("posts", None),
            ("a.csv/posts", None),
        ] {
            assert_eq!(table_of(name), found.map(|(root, name)| (root, name.to_owned())), "{name}");
        }
    }
}
