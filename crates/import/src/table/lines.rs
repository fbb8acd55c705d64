//! The lines of a file as bytes, in any encoding.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// Bytes of a file that decide how its lines end.
const HEAD: u64 = 64 * 1024;

/// What ends a line: LF, which includes CR LF, or only CR, as in files of the classic Mac OS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    Lf,
    Cr,
}

impl LineEnd {
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Lf => b'\n',
            Self::Cr => b'\r',
        }
    }
}

/// How many bytes a character such as LF takes. In all encodings but UTF-16, the bytes of CR and LF are never a part of
/// another character.
#[derive(Debug, Clone, Copy)]
enum Unit {
    Byte,
    LittleEndian,
    BigEndian,
}

/// What [`Lines::read`] has appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fragment {
    /// The rest of a line, with what ends it.
    Line,
    /// A part of a line. The next fragment goes on with it.
    Part,
    /// The rest of the file, which may be empty.
    End,
}

/// Reads the lines of a file.
pub(super) struct Lines<R> {
    file: BufReader<Chain<Cursor<Vec<u8>>, R>>,
    unit: Unit,
    end: LineEnd,
}

impl<R: Read> Lines<R> {
    /// Reads the beginning of a file to see how its lines end.
    pub(super) fn new(mut file: R, encoding: &'static Encoding) -> io::Result<Self> {
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head)?;
        let unit = match encoding {
            encoding if encoding == UTF_16LE => Unit::LittleEndian,
            encoding if encoding == UTF_16BE => Unit::BigEndian,
            _ => Unit::Byte,
        };
        let end = if !head.contains(&b'\n') && head.contains(&b'\r') { LineEnd::Cr } else { LineEnd::Lf };
        Ok(Self { file: BufReader::with_capacity(64 * 1024, Cursor::new(head).chain(file)), unit, end })
    }

    pub(super) fn line_end(&self) -> LineEnd {
        self.end
    }

    /// Appends bytes up to the end of the line, but at most `max`, which must be even.
    pub(super) fn read(&mut self, bytes: &mut Vec<u8>, max: usize) -> io::Result<Fragment> {
        let start = bytes.len();
        loop {
            let left = max - (bytes.len() - start);
            if left == 0 {
                return Ok(Fragment::Part);
            }
            let read = self.file.by_ref().take(left as u64).read_until(self.end.byte(), bytes)?;
            if read == 0 {
                return Ok(Fragment::End);
            }
            if bytes.last() == Some(&self.end.byte()) && self.completes_line(bytes, start)? {
                return Ok(Fragment::Line);
            }
        }
    }

    /// Whether the last byte, which looks like the end of a line, is one. In UTF-16 it may be a half of another character.
    fn completes_line(&mut self, bytes: &mut Vec<u8>, start: usize) -> io::Result<bool> {
        let is_first_half = (bytes.len() - start) % 2 == 1;
        match self.unit {
            Unit::Byte => Ok(true),
            Unit::LittleEndian if is_first_half => {
                Ok(self.file.by_ref().take(1).read_to_end(bytes)? == 1 && bytes.last() == Some(&0))
            }
            Unit::BigEndian if !is_first_half => Ok(bytes.iter().nth_back(1) == Some(&0)),
            Unit::LittleEndian | Unit::BigEndian => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::UTF_8;

    use super::*;

    fn lines(bytes: &[u8], encoding: &'static Encoding, max: usize) -> Vec<(Vec<u8>, Fragment)> {
        let mut lines = Lines::new(bytes, encoding).unwrap();
        let mut all = Vec::new();
        loop {
            let mut line = Vec::new();
            let fragment = lines.read(&mut line, max).unwrap();
            all.push((line, fragment));
            if fragment == Fragment::End {
                return all;
            }
        }
    }

    #[test]
    fn a_line_ends_with_its_line_break() {
        use Fragment::{End, Line, Part};
        for (bytes, encoding, max, expected) in [
            (&b""[..], UTF_8, 8, vec![(&b""[..], End)]),
            (b"a", UTF_8, 8, vec![(b"a", End)]),
            (
                b"a\nb\r\n\nc\rd\n",
                UTF_8,
                8,
                vec![(b"a\n", Line), (b"b\r\n", Line), (b"\n", Line), (b"c\rd\n", Line), (b"", End)],
            ),
            (b"a\rb\r", UTF_8, 8, vec![(b"a\r", Line), (b"b\r", Line), (b"", End)]),
            (
                b"abcd\nefgh",
                UTF_8,
                2,
                vec![(b"ab", Part), (b"cd", Part), (b"\n", Line), (b"ef", Part), (b"gh", Part), (b"", End)],
            ),
            (b"a\0\n\0b\0", UTF_16LE, 8, vec![(b"a\0\n\0", Line), (b"b\0", End)]),
            (b"\0a\0\n\0b", UTF_16BE, 8, vec![(b"\0a\0\n", Line), (b"\0b", End)]),
            (b"a\0\r\0b\0", UTF_16LE, 8, vec![(b"a\0\r\0", Line), (b"b\0", End)]),
            // U+0A00, U+0A0A and U+000A, then half a character.
            (b"\0\n\n\n\n\0x", UTF_16LE, 8, vec![(b"\0\n\n\n\n\0", Line), (b"x", End)]),
            (b"\n\0\n\n\0\nx", UTF_16BE, 8, vec![(b"\n\0\n\n\0\n", Line), (b"x", End)]),
            (b"a\0b\0\n\0", UTF_16LE, 4, vec![(b"a\0b\0", Part), (b"\n\0", Line), (b"", End)]),
            (b"a\0\n", UTF_16LE, 8, vec![(b"a\0\n", End)]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(line, fragment)| (line.to_vec(), fragment)).collect();
            assert_eq!(lines(bytes, encoding, max), expected, "{bytes:?}");
        }
    }
}
