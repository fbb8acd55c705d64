//! Tables with a header: CSV, TSV and their relatives, as a stream of records that know where they are in the file.
//!
//! Whatever the file, memory holds one record of at most [`MAX_RECORD_BYTES`] in three forms: bytes, text and cells.

mod header;
mod lines;

use std::io::{self, Read};
use std::ops::Range;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};
use encoding_rs::Encoding;
use thiserror::Error;

pub use self::header::{Header, fold, parse_delimiter};
use self::header::{delimiter_of_sep_line, detect_delimiter};
use self::lines::{Fragment, LineEnd, Lines};
use crate::encoding::Detected;

/// Most columns of a table.
pub const MAX_COLUMNS: usize = 500;
/// Largest record in bytes of the file.
pub const MAX_RECORD_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a record that is too large are read in parts of this size, which is even.
const PART: usize = 64 * 1024;

/// The delimiter of a parser that is not made again: making one takes longer than to read a small file.
const DEFAULT_DELIMITER: u8 = b',';

/// Why a file is no table that can be read.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The file has no header.
    #[error("the file is empty")]
    Empty,
    /// The header has a problem that another record would be rejected for.
    #[error("the header in line {line} cannot be read: {problem}")]
    Header { line: u64, problem: RowProblem },
    /// More than [`MAX_COLUMNS`].
    #[error("the file has {found} columns: more than {MAX_COLUMNS}")]
    TooManyColumns { found: usize },
    /// Two columns whose names are equal after folding.
    #[error("the columns `{first}` and `{second}` have the same name: rename or remove one of them")]
    SameColumn { first: String, second: String },
    /// The given delimiter cannot be one.
    #[error("`{given}` is no delimiter: use one character such as `;`, or `tab`")]
    Delimiter { given: String },
}

/// Why a record of a table is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowProblem {
    /// The record has more or fewer cells than the header.
    #[error("the record has {found} cells, but the header has {expected}")]
    CellCount { expected: usize, found: usize },
    /// The record has bytes that the encoding does not have.
    #[error("the record has bytes that are no {encoding}")]
    Encoding { encoding: &'static str },
    /// The record has a NUL character.
    #[error("the record has a NUL character")]
    Nul,
    /// The record is larger than [`MAX_RECORD_BYTES`].
    #[error("the record is larger than 4 MB, up to line {last_line}")]
    TooLarge { last_line: u64 },
    /// The file ends inside of quotes.
    #[error("the quote that opens in line {line} is not closed, so all lines up to {last_line} belong to this record")]
    UnclosedQuote { line: u64, last_line: u64 },
}

/// Where a record is in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The line in which the record begins, from 1.
    pub line: u64,
    /// The bytes of the file that are the record, line break included.
    pub span: Range<u64>,
}

/// A record that has as many cells as the header.
#[derive(Debug)]
pub struct Row<'a> {
    /// Where it is.
    pub place: Place,
    /// Its bytes in the file, line break included.
    pub original: &'a [u8],
    text: &'a str,
    ends: &'a [usize],
}

impl<'a> Row<'a> {
    /// Returns the content of a cell: empty if there is no such column.
    #[must_use]
    pub fn cell(&self, position: usize) -> &'a str {
        let start = match position.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(usize::MAX),
            None => 0,
        };
        self.ends.get(position).and_then(|end| self.text.get(start..*end)).unwrap_or_default()
    }

    /// Returns all cells.
    pub fn cells(&self) -> impl Iterator<Item = &'a str> {
        (0..self.ends.len()).map(|position| self.cell(position))
    }
}

/// A record that cannot be read.
#[derive(Debug)]
pub struct RejectedRow<'a> {
    /// Where it is.
    pub place: Place,
    /// Its bytes in the file. `None` for a record that is too large: read them from the file, by [`Place::span`].
    pub original: Option<&'a [u8]>,
    /// Why it is rejected.
    pub problem: RowProblem,
}

/// A record of a table.
#[derive(Debug)]
pub enum Item<'a> {
    Row(Row<'a>),
    Rejected(RejectedRow<'a>),
}

/// A reader of a table.
pub struct Table<R> {
    lines: Lines<R>,
    encoding: &'static Encoding,
    parser: Reader,
    header: Header,
    /// The beginning of the file up to the first record: byte order mark, `sep=` line and header.
    head: Vec<u8>,
    /// The number of the line that is read next.
    next_line: u64,
    /// Its position in the file, in bytes.
    offset: u64,
    record: Record,
}

/// The record that is being read.
#[derive(Default)]
struct Record {
    line: u64,
    last_line: u64,
    start: u64,
    /// The bytes of the record so far, unless it is too large.
    original: Vec<u8>,
    /// The text of the last line.
    text: String,
    /// The cells, one after the other, with the ends of the first ones.
    fields: Vec<u8>,
    ends: Vec<usize>,
    cells: usize,
    /// The end of the last cell.
    fields_length: usize,
    /// The line in which the last cell opens.
    opens: u64,
    is_too_large: bool,
    is_malformed: bool,
    has_nul: bool,
    is_unclosed: bool,
}

impl<R: Read> Table<R> {
    /// Reads the header of a table. Without a `delimiter` it is detected.
    ///
    /// # Errors
    /// There is no header, or it is unusable, or the file cannot be read.
    pub fn open(mut file: R, detected: Detected, delimiter: Option<u8>) -> Result<Self, TableError> {
        let mut head = Vec::new();
        file.by_ref().take(detected.bom_length as u64).read_to_end(&mut head)?;
        let offset = head.len() as u64;
        let lines = Lines::new(file, detected.encoding)?;
        let mut table = Self {
            parser: parser(DEFAULT_DELIMITER, lines.line_end()),
            lines,
            encoding: detected.encoding,
            header: Header::new(Vec::new())?,
            head,
            next_line: 1,
            offset,
            record: Record::default(),
        };
        table.read_header(delimiter)?;
        Ok(table)
    }

    /// Returns the columns.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the bytes of the file before the first record, without blank lines. Together with bytes of records they are a file of the same
    /// kind.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Reads the next record. `None` at the end of the file. Blank lines are skipped.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&mut self) -> io::Result<Option<Item<'_>>> {
        let Some(fragment) = self.begin_record()? else { return Ok(None) };
        self.finish_record(fragment)?;
        Ok(Some(self.item()))
    }

    fn read_header(&mut self, given: Option<u8>) -> Result<(), TableError> {
        let mut fragment = self.begin_head_record()?;
        let sep_line = delimiter_of_sep_line(&self.record.text);
        if sep_line.is_some() {
            fragment = self.begin_head_record()?;
        }
        let delimiter = given.or(sep_line).unwrap_or_else(|| detect_delimiter(&self.record.text));
        if delimiter != DEFAULT_DELIMITER {
            self.parser = parser(delimiter, self.lines.line_end());
        }
        let first_line = self.record.original.len();
        self.finish_record(fragment)?;
        let line = self.record.line;
        if let Some(problem) = self.record.problem(self.encoding) {
            return Err(TableError::Header { line, problem });
        }
        self.head.extend_from_slice(self.record.original.get(first_line..).unwrap_or_default());
        if self.record.cells > MAX_COLUMNS {
            return Err(TableError::TooManyColumns { found: self.record.cells });
        }
        let names = self.row().cells().map(|name| name.trim().to_owned()).collect();
        self.header = Header::new(names)?;
        Ok(())
    }

    /// Begins a record before the table, and appends its first line to the head.
    fn begin_head_record(&mut self) -> Result<Fragment, TableError> {
        let fragment = self.begin_record()?.ok_or(TableError::Empty)?;
        self.head.extend_from_slice(&self.record.original);
        Ok(fragment)
    }

    /// Reads the first line of the next record. `None` at the end of the file.
    fn begin_record(&mut self) -> io::Result<Option<Fragment>> {
        loop {
            self.record.clear(self.next_line, self.offset);
            let fragment = self.read_fragment()?;
            if !self.record.is_blank() {
                return Ok(Some(fragment));
            }
            if fragment == Fragment::End {
                return Ok(None);
            }
        }
    }

    /// Parses the line that was read, and reads more until the record ends.
    fn finish_record(&mut self, mut fragment: Fragment) -> io::Result<()> {
        let mut line = self.record.line;
        while !self.record.parse(&mut self.parser, 0, line) {
            if fragment == Fragment::End {
                // What ends a record outside of quotes does not end it inside of them.
                let parsed = self.record.text.len();
                self.record.text.push(char::from(self.lines.line_end().byte()));
                self.record.is_unclosed = !self.record.parse(&mut self.parser, parsed, line);
                self.parser.reset();
                break;
            }
            line = self.next_line;
            fragment = self.read_fragment()?;
        }
        if self.lines.line_end() == LineEnd::Lf {
            self.record.drop_carriage_return();
        }
        Ok(())
    }

    /// Reads the next line, or a part of it.
    fn read_fragment(&mut self) -> io::Result<Fragment> {
        let record = &mut self.record;
        if record.is_too_large {
            record.original.clear();
        }
        let start = record.original.len();
        // Two bytes more than a record may have show that it has more. The number is even.
        let max = if record.is_too_large { PART } else { (MAX_RECORD_BYTES + 2).saturating_sub(start) };
        let fragment = self.lines.read(&mut record.original, max)?;
        record.is_too_large |= record.original.len() > MAX_RECORD_BYTES;
        let line = record.original.get(start..).unwrap_or_default();
        self.offset += line.len() as u64;
        if !line.is_empty() {
            record.last_line = self.next_line;
        }
        if fragment == Fragment::Line {
            self.next_line += 1;
        }
        record.text.clear();
        if !decode(line, self.encoding, &mut record.text) {
            record.is_malformed = true;
        }
        record.has_nul |= record.text.contains('\0');
        Ok(fragment)
    }

    fn place(&self) -> Place {
        Place { line: self.record.line, span: self.record.start..self.offset }
    }

    fn row(&self) -> Row<'_> {
        let record = &self.record;
        let text = record.fields.get(..record.fields_length).and_then(|fields| std::str::from_utf8(fields).ok());
        Row { place: self.place(), original: &record.original, text: text.unwrap_or_default(), ends: &record.ends }
    }

    fn item(&self) -> Item<'_> {
        let record = &self.record;
        let (expected, found) = (self.header.names().len(), record.cells);
        let problem =
            record.problem(self.encoding).or((expected != found).then_some(RowProblem::CellCount { expected, found }));
        match problem {
            None => Item::Row(self.row()),
            Some(problem) => Item::Rejected(RejectedRow {
                place: self.place(),
                original: (!record.is_too_large).then_some(&*record.original),
                problem,
            }),
        }
    }
}

impl Record {
    fn clear(&mut self, line: u64, start: u64) {
        self.original.clear();
        self.ends.clear();
        (self.line, self.last_line, self.opens, self.start) = (line, line, line, start);
        (self.cells, self.fields_length) = (0, 0);
        (self.is_too_large, self.is_malformed, self.has_nul, self.is_unclosed) = (false, false, false, false);
    }

    /// Whether the first line is blank. A line of tabs is not, because tabs may be delimiters.
    fn is_blank(&self) -> bool {
        !self.is_too_large && self.text.bytes().all(|byte| matches!(byte, b' ' | b'\r' | b'\n'))
    }

    /// Parses the text of `line` from the byte `start`. Returns whether the record ends with it.
    fn parse(&mut self, parser: &mut Reader, start: usize, line: u64) -> bool {
        let mut rest = self.text.as_bytes().get(start..).unwrap_or_default();
        let mut ends = [0; 64];
        let cells = self.cells;
        while !rest.is_empty() {
            if self.is_too_large {
                self.fields_length = 0;
            }
            // Parsing makes a text never longer, so that there is always space for the rest.
            self.fields.resize(self.fields.len().max(self.fields_length + rest.len() + 1), 0);
            let space = self.fields.get_mut(self.fields_length..).unwrap_or_default();
            let (result, read, written, ended) = parser.read_record(rest, space, &mut ends);
            rest = rest.get(read..).unwrap_or_default();
            self.fields_length += written;
            self.cells += ended;
            if self.cells <= MAX_COLUMNS {
                self.ends.extend(ends.iter().take(ended));
            }
            if result == ReadRecordResult::Record {
                // No encoding has line breaks inside of a line.
                self.is_malformed |= !rest.is_empty();
                return true;
            }
        }
        if self.cells > cells {
            self.opens = line;
        }
        false
    }

    /// Drops the carriage return of CR LF, which the parser takes for a part of the last cell.
    fn drop_carriage_return(&mut self) {
        let ends_with = self.text.trim_end_matches('\n').ends_with('\r');
        if !ends_with || self.is_unclosed || self.fields_length == 0 {
            return;
        }
        self.fields_length -= 1;
        if let Some(end) = self.ends.last_mut() {
            *end = self.fields_length.min(*end);
        }
    }

    /// Returns why the record cannot be read.
    fn problem(&self, encoding: &'static Encoding) -> Option<RowProblem> {
        let last_line = self.last_line;
        if self.is_too_large {
            Some(RowProblem::TooLarge { last_line })
        } else if self.is_unclosed {
            Some(RowProblem::UnclosedQuote { line: self.opens, last_line })
        } else if self.is_malformed {
            Some(RowProblem::Encoding { encoding: encoding.name() })
        } else if self.has_nul {
            Some(RowProblem::Nul)
        } else {
            None
        }
    }
}

/// Appends the text of a line. Returns whether all of its bytes are of the encoding; others become U+FFFD.
fn decode(line: &[u8], encoding: &'static Encoding, text: &mut String) -> bool {
    let (decoded, has_errors) = encoding.decode_without_bom_handling(line);
    text.push_str(&decoded);
    !has_errors
}

fn parser(delimiter: u8, end: LineEnd) -> Reader {
    ReaderBuilder::new().delimiter(delimiter).terminator(Terminator::Any(end.byte())).build()
}

#[cfg(test)]
mod tests;
