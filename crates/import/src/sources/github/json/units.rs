//! The characters of a file, as far as they are ASCII.

use std::io::{self, Read};
use std::ops::Range;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// Bytes that are read at a time.
const CHUNK: usize = 64 * 1024;
/// What stands for all units that are no ASCII character.
const OTHER: u8 = 0x80;

/// A position to which [`Units`] can go back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    line: u64,
}

impl Mark {
    pub(super) fn line(self) -> u64 {
        self.line
    }
}

/// A reader of units: bytes, or pairs of bytes for UTF-16. In its encodings ASCII units are never a part of other characters.
pub(super) struct Units<R> {
    file: R,
    /// Bytes of a unit.
    width: usize,
    /// Whether the first byte of a pair is the high one.
    is_big_endian: bool,
    buffer: Vec<u8>,
    /// The position in the buffer.
    position: usize,
    /// Where in the buffer the bytes begin that are kept.
    kept_from: Option<usize>,
    /// Where in the file the kept bytes begin.
    start: u64,
    /// Where in the file the buffer begins.
    offset: u64,
    line: u64,
}

impl<R: Read> Units<R> {
    /// `offset` bytes of the file were read before.
    pub(super) fn new(file: R, encoding: &'static Encoding, offset: u64) -> Self {
        let width = if [UTF_16LE, UTF_16BE].contains(&encoding) { 2 } else { 1 };
        let is_big_endian = encoding == UTF_16BE;
        let (buffer, position, kept_from) = (Vec::new(), 0, None);
        Self { file, width, is_big_endian, buffer, position, kept_from, start: 0, offset, line: 1 }
    }

    /// Returns the line of the position, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Returns the unit at the position. `None` at the end of the file.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.buffer.len() < self.position + self.width {
            self.fill()?;
        }
        let ascii = |byte: u8| byte.min(OTHER);
        Ok(match self.buffer.get(self.position..self.position + self.width) {
            Some([byte]) => Some(ascii(*byte)),
            Some([high, low]) if self.is_big_endian => Some(if *high == 0 { ascii(*low) } else { OTHER }),
            Some([low, high]) => Some(if *high == 0 { ascii(*low) } else { OTHER }),
            _ => None,
        })
    }

    /// Goes on to the next unit, after `unit` was peeked.
    pub(super) fn bump(&mut self, unit: u8) {
        self.position += self.width;
        if unit == b'\n' {
            self.line += 1;
        }
    }

    /// Keeps the bytes from here on.
    pub(super) fn begin(&mut self) -> Mark {
        self.kept_from = Some(self.position);
        self.start = self.offset + self.position as u64;
        Mark { line: self.line }
    }

    /// Returns the kept bytes so far.
    pub(super) fn kept(&self) -> &[u8] {
        self.kept_from.and_then(|from| self.buffer.get(from..self.position)).unwrap_or_default()
    }

    /// Goes back to where the kept bytes begin, which must not be forgotten.
    pub(super) fn rewind(&mut self, mark: Mark) {
        if let Some(from) = self.kept_from.take() {
            self.position = from;
            self.line = mark.line;
        }
    }

    /// Keeps the bytes no longer.
    pub(super) fn forget(&mut self) {
        self.kept_from = None;
    }

    /// Returns where in the file the bytes since [`Self::begin`] are, and those that were kept.
    pub(super) fn end(&mut self) -> (Range<u64>, &[u8]) {
        let span = self.start..self.offset + self.position as u64;
        let from = self.kept_from.take().unwrap_or(self.position);
        (span, self.buffer.get(from..self.position).unwrap_or_default())
    }

    /// Reads more of the file, and drops what is neither kept nor still to be read.
    fn fill(&mut self) -> io::Result<()> {
        let from = self.kept_from.unwrap_or(self.position);
        self.buffer.drain(..from);
        self.offset += from as u64;
        self.position -= from;
        self.kept_from = self.kept_from.map(|_| 0);
        self.file.by_ref().take(CHUNK as u64).read_to_end(&mut self.buffer).map(drop)
    }
}
