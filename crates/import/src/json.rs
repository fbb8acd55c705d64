//! JSON files as a stream of elements, in bounded memory.
//!
//! Answers of an API come as pages: objects with a list of records under a known name. Programs that collect them write
//! pages one after the other, arrays of pages, or only the records. [`read_elements`] finds the records in all of these.
//!
//! Whatever the file, memory holds one element of at most [`MAX_ELEMENT_BYTES`], and what is read of it.

mod scanner;
mod utf8;
mod value;

use std::io::{self, Read};
use std::ops::Range;

use thiserror::Error;

use self::scanner::Scanner;
use self::utf8::Utf8;
pub use self::value::{Object, Value};
use crate::archive::Input;
use crate::encoding::Detected;

/// Largest element in bytes.
pub const MAX_ELEMENT_BYTES: usize = 4 * 1024 * 1024;
/// Most arrays and objects around a value.
pub const MAX_DEPTH: usize = 64;

/// Why a file is no JSON that can be read. The sentence goes on after the name of the file.
#[derive(Debug, Error)]
pub enum JsonError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The file ends inside of a value.
    #[error("is not whole: it ends in line {line}, inside of a value")]
    Truncated { line: u64 },
    /// Something else than JSON.
    #[error("is no valid JSON in line {line}")]
    Syntax { line: u64 },
    /// More than [`MAX_DEPTH`] around a value that is not of an element.
    #[error("is nested more than 64 deep in line {line}")]
    TooDeep { line: u64 },
}

/// Why an element is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ElementProblem {
    /// The element is larger than [`MAX_ELEMENT_BYTES`].
    #[error("the record is larger than 4 MB, up to line {last_line}")]
    TooLarge { last_line: u64 },
    /// More than [`MAX_DEPTH`] around a value.
    #[error("the record is nested more than 64 deep")]
    TooDeep,
    /// The element has bytes that the encoding does not have.
    #[error("the record has bytes that are no {encoding}")]
    Encoding { encoding: &'static str },
    /// The element has a NUL character, escaped or not.
    #[error("the record has a NUL character")]
    Nul,
}

/// An element of a list, or of the file itself.
#[derive(Debug)]
pub struct Element<'a> {
    /// The name of the list. `None` if it has none.
    pub list: Option<&'static str>,
    /// Whether it is in an array. Otherwise it is a value of the file itself, and perhaps a page without a known list.
    pub is_listed: bool,
    /// The line in which it begins, from 1.
    pub line: u64,
    /// Where it is in the content as UTF-8, without a byte order mark.
    pub span: Range<u64>,
    /// Its bytes in UTF-8. `None` if it is too large: read them from the file, with [`reopen`].
    pub original: Option<&'a [u8]>,
    /// Its text, which is valid JSON, or why there is none.
    pub text: Result<&'a str, ElementProblem>,
    /// Whether halves of characters were replaced in the text by U+FFFD.
    pub is_repaired: bool,
}

/// Calls `each` for every element of a file until it returns `false`. Returns the names of the lists that were found.
///
/// A list is an array that an object has under one of the names `lists`, unless the object has an id, a name, a title or a time
/// before: then it is an element, with an array of its own. Arrays of arrays are one.
///
/// # Errors
/// The file cannot be read or is no JSON, or an error of `each`.
pub fn read_elements<E: From<JsonError>>(
    file: impl Read,
    encoding: Detected,
    lists: &[&'static str],
    each: &mut dyn FnMut(Element<'_>) -> Result<bool, E>,
) -> Result<Vec<&'static str>, E> {
    let file = Utf8::new(file, encoding).map_err(JsonError::from)?;
    Scanner::new(file, encoding.encoding.name(), lists, each).read()
}

/// Opens a file at an element.
///
/// # Errors
/// It cannot be read.
pub fn reopen(input: &Input, encoding: Detected, span: &Range<u64>) -> io::Result<impl Read> {
    let mut file = Utf8::new(input.open()?, encoding)?;
    io::copy(&mut file.by_ref().take(span.start), &mut io::sink())?;
    Ok(file.take(span.end - span.start))
}

#[cfg(test)]
mod tests;
