//! JSON files as a stream of objects that know where they are in the file, and lenient readers of what the objects have.
//!
//! Programs wrap the objects that matter in arrays of pages, in answers of an API, or write one object after the other. All
//! of these are read. Whatever the file, memory holds one object of at most [`MAX_RECORD_BYTES`], as bytes and as text.

mod units;
mod value;

use std::borrow::Cow;
use std::io::{self, Read};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use thiserror::Error;

use self::units::Units;
pub(crate) use self::value::{List, Object, Value};
use crate::encoding::Detected;
use crate::table::{MAX_RECORD_BYTES, Place};

/// Most levels of arrays and objects inside of each other.
pub(crate) const MAX_DEPTH: usize = 64;
/// Most objects around the objects that matter. Each of them may be read twice.
const MAX_WRAPPERS: usize = 8;
/// Bytes of the longest key that matters.
const MAX_KEY: usize = 32;

/// Why a file is no JSON that can be read.
#[derive(Debug, Error)]
pub enum JsonError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The file has nothing but white space.
    #[error("the file is empty")]
    Empty,
    /// Something other than JSON between the objects.
    #[error("it is no JSON in line {line}")]
    Syntax { line: u64 },
    /// The file is cut off.
    #[error("the file ends inside of what begins in line {line}, so it is not complete")]
    Truncated { line: u64 },
    /// More levels than the bound around the objects.
    #[error("the arrays in line {line} are nested deeper than {MAX_DEPTH} levels")]
    TooDeep { line: u64 },
    /// The given encoding is one in which the bytes of `"` may be a part of other characters.
    #[error("JSON is not read in {encoding}: convert the file to UTF-8")]
    Encoding { encoding: &'static str },
}

/// Why an object is rejected before it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum ObjectProblem {
    /// It is larger than [`MAX_RECORD_BYTES`].
    #[error("the record is larger than 4 MB")]
    TooLarge,
    /// It has more than [`MAX_DEPTH`] levels, with those around it.
    #[error("the record is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// It has bytes that the encoding does not have.
    #[error("the record has bytes that are no {encoding}")]
    Encoding { encoding: &'static str },
    /// It has a NUL character that is written as one.
    #[error("the record has a NUL character")]
    Nul,
}

/// How to tell the objects that matter from those around them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Keys whose values may have objects that matter.
    pub(crate) wrappers: &'static [&'static str],
    /// Keys that only objects that matter have. An object without them and without `wrappers` counts as one that matters.
    pub(crate) marks: &'static [&'static str],
}

/// What a file has where objects that matter may be.
#[derive(Debug)]
pub(crate) enum Item<'a> {
    Object(Found<'a>),
    Rejected(RejectedObject<'a>),
    /// Something that is neither an object nor an array nor null.
    NoObject {
        line: u64,
    },
}

/// An object.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// Where it is.
    pub(crate) place: Place,
    /// Its bytes in the file.
    pub(crate) original: &'a [u8],
    /// The same as text. Only its brackets are known to match.
    pub(crate) text: Cow<'a, str>,
}

/// An object that cannot be read.
#[derive(Debug)]
pub(crate) struct RejectedObject<'a> {
    /// Where it is.
    pub(crate) place: Place,
    /// Its bytes in the file. `None` for one that is too large: read them from the file, by [`Place::span`].
    pub(crate) original: Option<&'a [u8]>,
    /// Why it is rejected.
    pub(crate) problem: ObjectProblem,
}

/// What is open around the position of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Array,
    Wrapper,
}

/// What an object is by its keys.
enum Scanned {
    Wrapper,
    Object { depth: usize, is_too_large: bool },
}

/// What is known of an object while it is read.
#[derive(Default)]
struct Scan {
    /// Open arrays and objects, and the most of them so far.
    depth: usize,
    deepest: usize,
    is_text: bool,
    is_escaped: bool,
    /// The last text that was directly in the object.
    key: Vec<u8>,
    /// Whether the last of its keys is one of something around objects that matter, and whether any is.
    is_in_wrapper: bool,
    has_wrapper: bool,
    has_mark: bool,
}

impl Scan {
    fn step(&mut self, unit: u8, shape: &Shape) {
        if self.is_text {
            match unit {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_text = false,
                _ => {}
            }
            if self.is_text && self.depth == 1 && self.key.len() < MAX_KEY {
                self.key.push(unit);
            }
            return;
        }
        match unit {
            b'"' => {
                self.is_text = true;
                if self.depth == 1 {
                    self.key.clear();
                }
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.deepest = self.deepest.max(self.depth);
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' if self.depth == 1 => {
                self.is_in_wrapper = is_one_of(&self.key, shape.wrappers);
                self.has_wrapper |= self.is_in_wrapper;
                self.has_mark |= is_one_of(&self.key, shape.marks);
            }
            _ => {}
        }
    }
}

/// A reader of the objects of a file.
pub(crate) struct Objects<R> {
    units: Units<R>,
    encoding: &'static Encoding,
    shape: Shape,
    levels: Vec<Level>,
    /// The lines in which the levels begin.
    lines: Vec<u64>,
    /// Whether there is any value.
    has_begun: bool,
}

impl<R: Read> Objects<R> {
    /// Reads a file from its beginning.
    ///
    /// # Errors
    /// The file cannot be read, or its encoding is not that of any JSON.
    pub(crate) fn open(mut file: R, detected: Detected, shape: Shape) -> Result<Self, JsonError> {
        let encoding = detected.encoding;
        if ![UTF_8, UTF_16LE, UTF_16BE].contains(&encoding) && !encoding.is_single_byte() {
            return Err(JsonError::Encoding { encoding: encoding.name() });
        }
        let mut bom = Vec::new();
        file.by_ref().take(detected.bom_length as u64).read_to_end(&mut bom)?;
        let units = Units::new(file, encoding, bom.len() as u64);
        Ok(Self { units, encoding, shape, levels: Vec::new(), lines: Vec::new(), has_begun: false })
    }

    /// Reads up to the next object. `None` at the end of the file.
    ///
    /// # Errors
    /// The file cannot be read, or is no JSON.
    pub(crate) fn read(&mut self) -> Result<Option<Item<'_>>, JsonError> {
        loop {
            self.skip_space()?;
            let Some(unit) = self.units.peek()? else {
                return match self.lines.last() {
                    Some(line) => Err(JsonError::Truncated { line: *line }),
                    None if !self.has_begun => Err(JsonError::Empty),
                    None => Ok(None),
                };
            };
            match (self.levels.last(), unit) {
                (Some(Level::Array), b']') | (Some(Level::Wrapper), b'}') => {
                    self.units.bump(unit);
                    self.levels.pop();
                    self.lines.pop();
                    continue;
                }
                (Some(_), b',') => {
                    self.units.bump(unit);
                    continue;
                }
                _ => {}
            }
            self.has_begun = true;
            if self.levels.last() == Some(&Level::Wrapper) && !self.read_key(unit)? {
                self.skip_value()?;
                continue;
            }
            let line = self.units.line();
            match self.units.peek()? {
                Some(b'[') => self.enter(Level::Array, b'[')?,
                Some(b'{') => match self.scan_object()? {
                    Scanned::Wrapper => self.enter(Level::Wrapper, b'{')?,
                    Scanned::Object { depth, is_too_large } => return Ok(Some(self.item(line, depth, is_too_large))),
                },
                _ => {
                    let is_null = self.skip_scalar()?;
                    // The values of wrappers are often numbers and texts, which are none of our objects.
                    if !is_null && self.levels.last() != Some(&Level::Wrapper) {
                        return Ok(Some(Item::NoObject { line }));
                    }
                }
            }
        }
    }

    fn enter(&mut self, level: Level, unit: u8) -> Result<(), JsonError> {
        let line = self.units.line();
        if self.levels.len() == MAX_DEPTH {
            return Err(JsonError::TooDeep { line });
        }
        self.units.bump(unit);
        self.levels.push(level);
        self.lines.push(line);
        Ok(())
    }

    /// Reads the object at the position, and keeps its bytes, unless it is around the objects that matter: then the position
    /// is again at its beginning.
    fn scan_object(&mut self) -> Result<Scanned, JsonError> {
        let wrappers = self.levels.iter().filter(|level| **level == Level::Wrapper).count();
        let begin = self.units.begin();
        let mut scan = Scan::default();
        let mut is_too_large = false;
        loop {
            let Some(unit) = self.units.peek()? else { return Err(JsonError::Truncated { line: begin.line() }) };
            self.units.bump(unit);
            scan.step(unit, &self.shape);
            let is_whole = scan.depth == 0;
            let may_wrap = !scan.has_mark && wrappers < MAX_WRAPPERS && !is_too_large;
            if !is_too_large && self.units.kept().len() > MAX_RECORD_BYTES {
                if may_wrap && scan.is_in_wrapper && scan.depth > 1 {
                    self.units.rewind(begin);
                    return Ok(Scanned::Wrapper);
                }
                is_too_large = true;
                self.units.forget();
            } else if is_whole && may_wrap && scan.has_wrapper {
                self.units.rewind(begin);
                return Ok(Scanned::Wrapper);
            }
            if is_whole {
                return Ok(Scanned::Object { depth: self.levels.len() + scan.deepest, is_too_large });
            }
        }
    }

    /// Returns the object that was scanned.
    fn item(&mut self, line: u64, depth: usize, is_too_large: bool) -> Item<'_> {
        let (span, original) = self.units.end();
        let place = Place { line, span };
        if is_too_large {
            return Item::Rejected(RejectedObject { place, original: None, problem: ObjectProblem::TooLarge });
        }
        let (text, has_errors) = self.encoding.decode_without_bom_handling(original);
        let problem = if depth > MAX_DEPTH {
            ObjectProblem::TooDeep
        } else if has_errors {
            ObjectProblem::Encoding { encoding: self.encoding.name() }
        } else if text.contains('\0') {
            ObjectProblem::Nul
        } else {
            return Item::Object(Found { place, original, text });
        };
        Item::Rejected(RejectedObject { place, original: Some(original), problem })
    }

    /// Reads a key of a wrapper up to its value. Returns whether it may have objects that matter.
    fn read_key(&mut self, unit: u8) -> Result<bool, JsonError> {
        if unit != b'"' {
            return Err(JsonError::Syntax { line: self.units.line() });
        }
        let key = self.read_text()?;
        self.skip_space()?;
        self.require(b':')?;
        self.skip_space()?;
        Ok(is_one_of(&key, self.shape.wrappers))
    }

    fn require(&mut self, unit: u8) -> Result<(), JsonError> {
        match self.units.peek()? {
            Some(found) if found == unit => {
                self.units.bump(unit);
                Ok(())
            }
            Some(_) => Err(JsonError::Syntax { line: self.units.line() }),
            None => Err(self.truncated()),
        }
    }

    fn truncated(&self) -> JsonError {
        JsonError::Truncated { line: self.lines.last().copied().unwrap_or(self.units.line()) }
    }

    fn skip_space(&mut self) -> Result<(), JsonError> {
        while let Some(unit @ (b' ' | b'\t' | b'\n' | b'\r')) = self.units.peek()? {
            self.units.bump(unit);
        }
        Ok(())
    }

    /// Skips any value.
    fn skip_value(&mut self) -> Result<(), JsonError> {
        let mut depth = 0_u64;
        loop {
            self.skip_space()?;
            match self.units.peek()? {
                Some(unit @ (b'{' | b'[')) => {
                    self.units.bump(unit);
                    depth += 1;
                }
                Some(unit @ (b'}' | b']')) if depth > 0 => {
                    self.units.bump(unit);
                    depth -= 1;
                }
                Some(unit @ (b',' | b':')) if depth > 0 => self.units.bump(unit),
                _ => {
                    self.skip_scalar()?;
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Skips a text, a number, or a word. Returns whether it is null.
    fn skip_scalar(&mut self) -> Result<bool, JsonError> {
        let mut word = Vec::new();
        match self.units.peek()? {
            Some(b'"') => {
                self.read_text()?;
            }
            _ => {
                while let Some(unit) = self.units.peek()?
                    && (unit.is_ascii_alphanumeric() || matches!(unit, b'+' | b'-' | b'.'))
                {
                    self.units.bump(unit);
                    if word.len() < MAX_KEY {
                        word.push(unit);
                    }
                }
                let is_word = matches!(&*word, b"null" | b"true" | b"false");
                if !is_word && !word.iter().any(u8::is_ascii_digit) {
                    let line = self.units.line();
                    return Err(match self.units.peek()? {
                        None => self.truncated(),
                        Some(_) => JsonError::Syntax { line },
                    });
                }
            }
        }
        Ok(word == b"null")
    }

    /// Reads a text at its opening quote. Returns its beginning, in which only ASCII characters are themselves.
    fn read_text(&mut self) -> Result<Vec<u8>, JsonError> {
        let mut text = Vec::new();
        self.require(b'"')?;
        let mut is_escaped = false;
        loop {
            let Some(unit) = self.units.peek()? else { return Err(self.truncated()) };
            self.units.bump(unit);
            match unit {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => return Ok(text),
                _ => {}
            }
            if text.len() < MAX_KEY {
                text.push(unit);
            }
        }
    }
}

fn is_one_of(key: &[u8], names: &[&str]) -> bool {
    names.iter().any(|name| name.as_bytes() == key)
}

#[cfg(test)]
mod tests;
