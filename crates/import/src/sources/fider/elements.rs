//! Lists in JSON, as a stream of elements that know where they are in the file.
//!
//! Whatever the file, memory holds one element of at most [`MAX_RECORD_BYTES`]. An element that cannot be read does not
//! keep the others from being read.

use std::fmt::{self, Formatter};
use std::io::{self, BufRead, BufReader, Read};

use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use crate::table::{MAX_RECORD_BYTES, Place};

/// Most levels of lists and objects in a file.
pub(super) const MAX_DEPTH: usize = 64;
/// What goes before the first rejected element of a file. Before the others goes [`SEPARATOR`].
pub(super) const HEAD: &[u8] = b"[";
/// What goes between rejected elements.
pub(super) const SEPARATOR: &[u8] = b",\n";

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes that are read at a time.
const CHUNK: usize = 64 * 1024;

/// Why a file is no list that can be read.
#[derive(Debug, Error)]
pub enum JsonError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The file has no content.
    #[error("the file is empty")]
    Empty,
    /// The file is JSON of another kind, or no JSON.
    #[error("the file is no list in JSON")]
    NoList,
    /// Something between or after the elements that JSON does not have there.
    #[error("line {line} is no JSON")]
    Malformed { line: u64 },
    /// The file ends before the list does.
    #[error("the file ends in line {line}, before its list does: it is not complete")]
    Incomplete { line: u64 },
}

/// Why an element cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum ElementProblem {
    /// It is larger than [`MAX_RECORD_BYTES`].
    #[error("the record is larger than 4 MB")]
    TooLarge,
    /// It has more levels than [`MAX_DEPTH`].
    #[error("the record has more than {MAX_DEPTH} levels of lists and objects")]
    TooDeep,
    /// It has bytes that no text in JSON has.
    #[error("the record has bytes that are no UTF-8")]
    Encoding,
    /// It has a NUL character, escaped or not.
    #[error("the record has a NUL character")]
    Nul,
    /// It is no object, or no JSON at all.
    #[error("the record is no object in JSON")]
    Malformed,
}

/// An element of a list.
#[derive(Debug)]
pub(super) struct Element<'a, T> {
    /// Where it is.
    pub(super) place: Place,
    /// Its bytes in the file. `None` for one that is too large: read them from the file, by [`Place::span`].
    pub(super) original: Option<&'a [u8]>,
    /// Its fields, or why it is rejected.
    pub(super) fields: Result<T, ElementProblem>,
}

/// A reader of a list.
pub(super) struct Elements<R> {
    file: BufReader<R>,
    /// The line and the position of the byte that is read next.
    line: u64,
    offset: u64,
    is_first: bool,
    is_done: bool,
    /// The bytes of the element, up to one more than it may have.
    original: Vec<u8>,
}

impl<R: Read> Elements<R> {
    /// Opens a list. `null` is an empty one.
    ///
    /// # Errors
    /// The file does not begin with a list, or cannot be read.
    pub(super) fn open(file: R) -> Result<Self, JsonError> {
        let mut start = Vec::with_capacity(BYTE_ORDER_MARK.len());
        let mut file = BufReader::with_capacity(CHUNK, file);
        while start.len() < BYTE_ORDER_MARK.len() && file.fill_buf()?.first() == BYTE_ORDER_MARK.get(start.len()) {
            file.by_ref().take(1).read_to_end(&mut start)?;
        }
        if !start.is_empty() && start != BYTE_ORDER_MARK {
            return Err(JsonError::NoList);
        }
        let offset = start.len() as u64;
        let mut elements =
            Self { file, line: 1, offset, is_first: true, is_done: false, original: Vec::with_capacity(CHUNK) };
        match elements.skip_space()? {
            Some(b'[') => elements.skip()?,
            Some(b'n') => {
                elements.scan()?;
                if elements.original != b"null" {
                    return Err(JsonError::NoList);
                }
                elements.finish()?;
            }
            Some(_) => return Err(JsonError::NoList),
            None => return Err(JsonError::Empty),
        }
        Ok(elements)
    }

    /// Reads the next element. `None` at the end of the list.
    ///
    /// # Errors
    /// The list ends there, or the file cannot be read.
    pub(super) fn read<T: DeserializeOwned>(&mut self) -> Result<Option<Element<'_, T>>, JsonError> {
        if self.is_done {
            return Ok(None);
        }
        let mut next = self.skip_space()?;
        match next {
            Some(b',') if !self.is_first => {
                self.skip()?;
                next = self.skip_space()?;
            }
            None | Some(b']') => {}
            Some(_) if self.is_first => {}
            Some(_) => return Err(JsonError::Malformed { line: self.line }),
        }
        match next {
            None => return Err(JsonError::Incomplete { line: self.line }),
            Some(b']') => {
                self.skip()?;
                self.finish()?;
                return Ok(None);
            }
            Some(_) => self.is_first = false,
        }
        let (line, start) = (self.line, self.offset);
        let depth = self.scan()?;
        if self.offset == start {
            return Err(JsonError::Malformed { line });
        }
        let is_complete = self.original.len() <= MAX_RECORD_BYTES;
        Ok(Some(Element {
            place: Place { line, span: start..self.offset },
            original: is_complete.then_some(&*self.original),
            fields: read_fields(&self.original, depth),
        }))
    }

    /// Reads an element into memory, unless it is too large. Returns its levels.
    fn scan(&mut self) -> Result<usize, JsonError> {
        self.original.clear();
        let mut scanner = Scanner::default();
        loop {
            let chunk = self.file.fill_buf()?;
            if chunk.is_empty() {
                // A list that ends here is not complete, which is seen when the next element is read.
                return Ok(scanner.deepest);
            }
            let end = chunk.iter().position(|byte| scanner.ends_before(*byte));
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let space = (MAX_RECORD_BYTES + 1).saturating_sub(self.original.len());
            self.original.extend(part.iter().take(space));
            self.line += part.iter().filter(|byte| **byte == b'\n').count() as u64;
            let length = part.len();
            self.offset += length as u64;
            self.file.consume(length);
            if end.is_some() {
                return Ok(scanner.deepest);
            }
        }
    }

    /// Skips white space. Returns the byte after it.
    fn skip_space(&mut self) -> Result<Option<u8>, JsonError> {
        loop {
            match self.file.fill_buf()?.first().copied() {
                Some(byte) if is_space(byte) => self.skip()?,
                next => return Ok(next),
            }
        }
    }

    /// Skips a byte, which there is.
    fn skip(&mut self) -> Result<(), JsonError> {
        self.line += u64::from(self.file.fill_buf()?.first() == Some(&b'\n'));
        self.offset += 1;
        self.file.consume(1);
        Ok(())
    }

    /// Checks that nothing follows the list.
    fn finish(&mut self) -> Result<(), JsonError> {
        self.is_done = true;
        match self.skip_space()? {
            None => Ok(()),
            Some(_) => Err(JsonError::Malformed { line: self.line }),
        }
    }
}

/// Finds the end of an element.
#[derive(Default)]
struct Scanner {
    depth: usize,
    deepest: usize,
    in_string: bool,
    is_escaped: bool,
    is_complete: bool,
}

impl Scanner {
    /// Takes the next byte. Returns whether the element ends before it.
    fn ends_before(&mut self, byte: u8) -> bool {
        if self.is_complete {
            return true;
        }
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => {
                    self.in_string = false;
                    self.is_complete = self.depth == 0;
                }
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                self.depth += 1;
                self.deepest = self.deepest.max(self.depth);
            }
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                self.is_complete = self.depth == 0;
            }
            _ => return self.depth == 0 && (is_space(byte) || matches!(byte, b',' | b'}' | b']')),
        }
        false
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Reads the fields of an element that has `depth` levels.
fn read_fields<T: DeserializeOwned>(original: &[u8], depth: usize) -> Result<T, ElementProblem> {
    if original.len() > MAX_RECORD_BYTES {
        return Err(ElementProblem::TooLarge);
    }
    // The list is a level, too.
    if depth >= MAX_DEPTH {
        return Err(ElementProblem::TooDeep);
    }
    let text = std::str::from_utf8(original).map_err(|_| ElementProblem::Encoding)?;
    if has_nul(text) {
        return Err(ElementProblem::Nul);
    }
    // The fields of a struct may also be a list, by position.
    if !text.starts_with('{') {
        return Err(ElementProblem::Malformed);
    }
    serde_json::from_str(text).map_err(|_| ElementProblem::Malformed)
}

/// Whether a text in JSON has a NUL character, escaped or not.
fn has_nul(text: &str) -> bool {
    text.contains('\0')
        || text.match_indices(r"\u0000").any(|(start, _)| {
            let before = text.get(..start).unwrap_or_default();
            let escapes = before.len() - before.trim_end_matches('\\').len();
            escapes.is_multiple_of(2)
        })
}

/// The text of a string, a number, or `true` and `false`. Anything else, also a list or an object, is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text(pub(crate) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_str<E>(self, value: &str) -> Result<Text, E> {
        Ok(Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Text, E> {
        Ok(Text(value))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Text, E> {
        Ok(Text(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Text, E> {
        Ok(Text(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Text, E> {
        Ok(Text(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Text, E> {
        Ok(Text(value.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Text, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Text, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text::default())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Row {
        a: Text,
        b: Text,
    }

    /// A reader that returns a few bytes at a time.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = buffer.len().min(3);
            self.0.read(&mut buffer[..length])
        }
    }

    /// Returns for each element its line, its bytes, and the fields or the problem.
    fn read(file: impl Read) -> Result<Vec<(u64, String, String)>, JsonError> {
        let mut elements = Elements::open(file)?;
        let mut found = Vec::new();
        while let Some(element) = elements.read::<Row>()? {
            let fields = match element.fields {
                Ok(Row { a, b }) => format!("{}|{}", a.0, b.0),
                Err(problem) => problem.to_string(),
            };
            let original = element.original.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
            found.push((element.place.line, original.unwrap_or_default(), fields));
        }
        assert!(elements.read::<Row>().unwrap().is_none());
        Ok(found)
    }

    fn fields(json: &str) -> Vec<String> {
        let found = read(json.as_bytes()).unwrap();
        assert_eq!(read(Trickle(json.as_bytes())).unwrap(), found);
        found.into_iter().map(|(_, _, fields)| fields).collect()
    }

    #[test]
    fn elements_are_read_one_by_one() {
        let file = "\u{feff}\n[ {\"a\":1,\n\"b\":\"}],[{\\\"\"} ,\n {\"a\":\"é\"},\n]\n";
        let expected = [
            (2, "{\"a\":1,\n\"b\":\"}],[{\\\"\"}".to_owned(), "1|}],[{\"".to_owned()),
            (4, "{\"a\":\"é\"}".to_owned(), "é|".to_owned()),
        ];
        assert_eq!(read(file.as_bytes()).unwrap(), expected);
        assert_eq!(read(Trickle(file.as_bytes())).unwrap(), expected);
        for empty in ["[]", " [ ] ", "null", "\u{feff}null\n"] {
            assert_eq!(fields(empty), [] as [&str; 0], "{empty}");
        }
    }

    #[test]
    fn an_element_has_its_place_in_the_file() {
        let file = "\u{feff}[\n{\"a\":\"ü\"},{}]";
        let mut elements = Elements::open(file.as_bytes()).unwrap();
        for (line, text) in [(2, "{\"a\":\"ü\"}"), (2, "{}")] {
            let place = elements.read::<Row>().unwrap().unwrap().place;
            let span = usize::try_from(place.span.start).unwrap()..usize::try_from(place.span.end).unwrap();
            assert_eq!((place.line, &file[span]), (line, text));
        }
    }

    #[test]
    fn any_value_is_a_text() {
        for (value, text) in [
            ("\"x\\n\\u00e9\"", "x\né"),
            ("2024202420", "2024202420"),
            ("-7", "-7"),
            ("1.5", "1.5"),
            ("true", "true"),
            ("false", "false"),
            ("null", ""),
            ("[1,[2],{}]", ""),
            ("{\"a\":{\"b\":1}}", ""),
            ("18446744073709551615", "18446744073709551615"),
        ] {
            assert_eq!(fields(&format!("[{{\"x\":{value},\"a\":{value},\"b\":1}}]")), [format!("{text}|1")], "{value}");
        }
    }

    #[test]
    fn an_element_that_cannot_be_read_does_not_end_the_list() {
        let deep = |levels: usize| format!("{{\"x\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        for (element, problem) in [
            ("1".to_owned(), "the record is no object in JSON"),
            ("\"{\"".to_owned(), "the record is no object in JSON"),
            ("null".to_owned(), "the record is no object in JSON"),
            ("[\"a\",\"b\"]".to_owned(), "the record is no object in JSON"),
            ("{\"a\"}".to_owned(), "the record is no object in JSON"),
            ("{\"a\":1]".to_owned(), "the record is no object in JSON"),
            ("{\"a\":1,\"a\":2}".to_owned(), "the record is no object in JSON"),
            ("{\"a\":\"\\ud800\"}".to_owned(), "the record is no object in JSON"),
            ("{\"x\":\"\\u0000\"}".to_owned(), "the record has a NUL character"),
            ("{\"x\":\"\\\\\\u0000\"}".to_owned(), "the record has a NUL character"),
            ("{\"x\":\"\0\"}".to_owned(), "the record has a NUL character"),
            ("{\"a\":\"\\\\u0000\"}".to_owned(), "\\u0000|"),
            (deep(63), "|"),
            (deep(64), "the record has more than 64 levels of lists and objects"),
            (deep(100_000), "the record has more than 64 levels of lists and objects"),
        ] {
            assert_eq!(
                fields(&format!("[{element},{{\"a\":1}}]")),
                [problem, "1|"],
                "{}",
                &element[..element.len().min(40)]
            );
        }
        let found = read(&b"[{\"a\":\"\xff\"},{\"a\":1}]"[..]).unwrap();
        assert_eq!([&found[0].2, &found[1].2], ["the record has bytes that are no UTF-8", "1|"]);
    }

    #[test]
    fn a_large_element_is_not_in_memory() {
        let of_length = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
        for (length, is_large) in
            [(MAX_RECORD_BYTES, false), (MAX_RECORD_BYTES + 1, true), (3 * MAX_RECORD_BYTES, true)]
        {
            let file = format!("[{},\n{{\"b\":1}}]", of_length(length));
            let mut elements = Elements::open(file.as_bytes()).unwrap();
            let element = elements.read::<Row>().unwrap().unwrap();
            assert_eq!(element.place.span, 1..1 + length as u64);
            assert_eq!(
                (element.original.is_none(), element.fields.err() == Some(ElementProblem::TooLarge)),
                (is_large, is_large)
            );
            assert!(elements.original.capacity() <= 2 * MAX_RECORD_BYTES);
            let next = elements.read::<Row>().unwrap().unwrap();
            assert_eq!((next.place.line, next.fields.unwrap().b.0.as_str()), (2, "1"));
        }
    }

    #[test]
    fn a_file_that_is_no_list_is_refused() {
        for (file, message) in [
            ("", "the file is empty"),
            ("\u{feff} \n", "the file is empty"),
            ("{\"posts\":[]}", "the file is no list in JSON"),
            ("id,title\n", "the file is no list in JSON"),
            ("nothing", "the file is no list in JSON"),
            ("\u{ffff}", "the file is no list in JSON"),
            ("[", "the file ends in line 1, before its list does: it is not complete"),
            ("[{},\n", "the file ends in line 2, before its list does: it is not complete"),
            ("[{}\n", "the file ends in line 2, before its list does: it is not complete"),
            ("[{\"a\":\"]", "the file ends in line 1, before its list does: it is not complete"),
            ("[{} {}]", "line 1 is no JSON"),
            ("[{},\n,{}]", "line 2 is no JSON"),
            ("[,{}]", "line 1 is no JSON"),
            ("[}]", "line 1 is no JSON"),
            ("[]\n[]", "line 2 is no JSON"),
            ("null null", "line 1 is no JSON"),
        ] {
            for error in [read(file.as_bytes()).unwrap_err(), read(Trickle(file.as_bytes())).unwrap_err()] {
                assert_eq!(error.to_string(), message, "{file}");
            }
        }
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("disk failed"))
            }
        }
        assert_eq!(read(b"[{\"a\":".chain(Broken)).unwrap_err().to_string(), "disk failed");
    }

    proptest! {
        /// Bytes never make it panic, and whatever serde_json takes for a list of objects has the same elements here.
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(prop::sample::select(&b"[]{},:\"\\ab1 \n\xff"[..]), 0..40)) {
            let found = read(&*bytes);
            let list = serde_json::from_slice::<Vec<serde_json::Map<String, serde_json::Value>>>(&bytes);
            if let Ok(list) = list {
                prop_assert_eq!(found.unwrap().len(), list.len());
            }
        }
    }
}
