//! The header of a table: its delimiter and its columns.

use std::collections::HashMap;

use csv_core::{ReadFieldResult, ReaderBuilder};

use super::{MAX_COLUMNS, TableError};
use crate::visible;

/// The delimiters that are detected, the first of equally good ones first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Parses a delimiter that an operator has given: one ASCII character, or `tab`.
///
/// # Errors
/// [`TableError::Delimiter`].
pub fn parse_delimiter(text: &str) -> Result<u8, TableError> {
    match text.as_bytes() {
        b"tab" => Ok(b'\t'),
        [byte] if is_delimiter(*byte) => Ok(*byte),
        _ => Err(TableError::Delimiter { given: visible(text, 20) }),
    }
}

fn is_delimiter(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\r' | b'\n' | b'\0')
}

/// Returns the delimiter of a line such as `sep=;`, which spreadsheets write before the header.
pub(super) fn delimiter_of_sep_line(line: &str) -> Option<u8> {
    match line.trim_end_matches(['\r', '\n']).as_bytes() {
        [name @ .., delimiter] if name.eq_ignore_ascii_case(b"sep=") && is_delimiter(*delimiter) => Some(*delimiter),
        _ => None,
    }
}

/// Returns the delimiter that splits a header line into most cells.
pub(super) fn detect_delimiter(line: &str) -> u8 {
    let found = DELIMITERS.into_iter().filter(|delimiter| line.as_bytes().contains(delimiter));
    let found: Vec<u8> = found.collect();
    match found[..] {
        [] => DELIMITERS[0],
        [delimiter] => delimiter,
        // Of equal ones, `max_by_key` returns the last.
        _ => found.into_iter().rev().max_by_key(|delimiter| count_cells(line, *delimiter)).unwrap_or(DELIMITERS[0]),
    }
}

fn count_cells(line: &str, delimiter: u8) -> usize {
    let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
    let mut rest = line.as_bytes();
    let mut scratch = [0; 1024];
    let mut cells = 0;
    loop {
        let (result, read, _) = reader.read_field(rest, &mut scratch);
        rest = rest.get(read..).unwrap_or_default();
        match result {
            ReadFieldResult::Field { record_end: false } => cells += 1,
            ReadFieldResult::Field { record_end: true } => return cells + 1,
            ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
            ReadFieldResult::End => return cells,
        }
    }
}

/// Folds the name of a column to its letters and digits in lower case: `Post Title` and `post_title` are one name.
#[must_use]
pub fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    names: Vec<String>,
    /// The position of each column that has a name, by its folded name.
    positions: HashMap<String, usize>,
}

impl Header {
    /// # Errors
    /// Too many columns, or two whose names are equal after folding. Columns without a name may repeat.
    pub(super) fn new(names: Vec<String>) -> Result<Self, TableError> {
        if names.len() > MAX_COLUMNS {
            return Err(TableError::TooManyColumns { found: names.len() });
        }
        let mut positions = HashMap::with_capacity(names.len());
        for (position, name) in names.iter().enumerate() {
            let folded = fold(name);
            if folded.is_empty() {
                continue;
            }
            if let Some(first) = positions.insert(folded, position) {
                let first = names.get(first).map_or("", String::as_str);
                return Err(TableError::SameColumn { first: visible(first, 80), second: visible(name, 80) });
            }
        }
        Ok(Self { names, positions })
    }

    /// Returns the names of the columns as they are written, trimmed.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the position of the column whose folded name is that of `name`.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(&fold(name)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_of_most_cells() {
        for (line, delimiter) in [
            ("id,title,votes", b','),
            ("id;title;votes", b';'),
            ("id\ttitle\tvotes", b'\t'),
            ("id|title|votes\n", b'|'),
            ("title", b','),
            ("", b','),
            ("id,title;votes", b','),
            ("\"a,b,c\";title", b';'),
            ("title, in short;description, if any;votes;tags", b';'),
        ] {
            assert_eq!(char::from(detect_delimiter(line)), char::from(delimiter), "{line}");
        }
    }

    #[test]
    fn a_given_delimiter_is_one_character_or_tab() {
        for (text, delimiter) in [("tab", b'\t'), (",", b','), ("\t", b'\t'), ("^", b'^'), (" ", b' ')] {
            assert_eq!(parse_delimiter(text).unwrap(), delimiter);
        }
        for text in ["", ",,", "\"", "\n", "a", "1", "§", "TAB", "\0"] {
            assert!(parse_delimiter(text).is_err(), "{text:?}");
        }
        assert_eq!(
            parse_delimiter("\u{1b}[1m").unwrap_err().to_string(),
            "`\u{fffd}[1m` is no delimiter: use one character such as `;`, or `tab`"
        );
    }

    #[test]
    fn a_sep_line_names_the_delimiter() {
        for (line, delimiter) in [
            ("sep=;\r\n", Some(b';')),
            ("SEP=|\n", Some(b'|')),
            ("sep=\t", Some(b'\t')),
            ("sep=", None),
            ("sep=;;", None),
            ("sep=a", None),
            ("step=;", None),
            ("", None),
        ] {
            assert_eq!(delimiter_of_sep_line(line), delimiter, "{line:?}");
        }
    }

    #[test]
    fn names_are_folded() {
        for (name, folded) in [
            ("Post Title", "posttitle"),
            ("post_title", "posttitle"),
            (" ID# ", "id"),
            ("ÜBER-Schrift 2", "überschrift2"),
            ("--", ""),
        ] {
            assert_eq!(fold(name), folded);
        }
    }

    #[test]
    fn two_columns_of_one_folded_name_are_refused() {
        let header = |names: &[&str]| Header::new(names.iter().map(ToString::to_string).collect());
        let columns = header(&["id", "", "Post title", " "]).unwrap();
        assert_eq!((columns.position("post_title"), columns.position("ID")), (Some(2), Some(0)));
        assert_eq!((columns.position(""), columns.position("votes")), (None, None));
        assert_eq!(
            header(&["id", "Post Title", "post_title"]).unwrap_err().to_string(),
            "the columns `Post Title` and `post_title` have the same name: rename or remove one of them"
        );
        let many: Vec<String> = (0..=MAX_COLUMNS).map(|n| format!("c{n}")).collect();
        assert!(Header::new(many[1..].to_vec()).is_ok());
        assert_eq!(Header::new(many).unwrap_err().to_string(), "the file has 501 columns: more than 500");
    }
}
