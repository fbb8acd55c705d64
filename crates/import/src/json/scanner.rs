//! Finds the elements of a file by its brackets and quotes. What is in an element is parsed afterwards.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};
use std::mem;

use serde_json::value::RawValue;

use super::{Element, ElementProblem, JsonError, MAX_DEPTH, MAX_ELEMENT_BYTES, Utf8};

/// Bytes that are read at a time.
const CHUNK: usize = 64 * 1024;
/// Most bytes of a key that are remembered. The name of a list is not longer.
const MAX_KEY: usize = 64;
/// Keys of objects that are records.
const RECORD_KEYS: [&[u8]; 4] = [b"id", b"created", b"name", b"title"];
/// The name of a list that may have any records.
const ITEMS: &str = "items";

/// What takes elements.
type Each<'a, E> = &'a mut dyn FnMut(Element<'_>) -> Result<bool, E>;

pub(super) struct Scanner<'a, R, E> {
    file: BufReader<Utf8<R>>,
    encoding: &'static str,
    lists: &'a [&'static str],
    each: Each<'a, E>,
    found: Vec<&'static str>,
    /// The number of the line that is read.
    line: u64,
    /// Bytes that were read.
    position: u64,
    /// Arrays and objects that are open.
    depth: usize,
    /// The element that is read, if it may be one.
    captured: Option<Captured>,
    /// The memory of the last element, for the next one.
    spare: Vec<u8>,
}

/// An element that is being read.
struct Captured {
    bytes: Vec<u8>,
    line: u64,
    start: u64,
    is_too_large: bool,
    is_too_deep: bool,
}

impl<'a, R: Read, E: From<JsonError>> Scanner<'a, R, E> {
    pub(super) fn new(file: Utf8<R>, encoding: &'static str, lists: &'a [&'static str], each: Each<'a, E>) -> Self {
        Self {
            file: BufReader::with_capacity(CHUNK, file),
            encoding,
            lists,
            each,
            found: Vec::new(),
            line: 1,
            position: 0,
            depth: 0,
            captured: None,
            spare: Vec::new(),
        }
    }

    /// Reads the whole file, or until there are enough elements.
    pub(super) fn read(mut self) -> Result<Vec<&'static str>, E> {
        while let Some(byte) = self.skip_space()? {
            let goes_on = match byte {
                b'[' => self.read_list(None)?,
                b'{' => self.read_object(None)?,
                _ => return Err(self.syntax()),
            };
            if !goes_on {
                break;
            }
        }
        Ok(self.found)
    }

    /// Reads an array whose values are elements, pages, or such arrays.
    fn read_list(&mut self, list: Option<&'static str>) -> Result<bool, E> {
        self.open()?;
        if self.depth > MAX_DEPTH {
            return Err(JsonError::TooDeep { line: self.line }.into());
        }
        let mut byte = self.expect_any()?;
        while byte != b']' {
            let goes_on = match byte {
                b'[' => self.read_list(list)?,
                b'{' => self.read_object(list)?,
                _ => {
                    self.begin_capture();
                    self.skip_value()?;
                    self.finish_capture(list)?
                }
            };
            if !goes_on {
                return Ok(false);
            }
            byte = self.expect_any()?;
            if byte == b',' {
                self.consume(1);
                byte = self.expect_any()?;
                if byte == b']' {
                    return Err(self.syntax());
                }
            } else if byte != b']' {
                return Err(self.syntax());
            }
        }
        self.close();
        Ok(true)
    }

    /// Reads an object, which is an element or a page.
    fn read_object(&mut self, list: Option<&'static str>) -> Result<bool, E> {
        self.begin_capture();
        self.open()?;
        let (mut is_record, mut is_page) = (false, false);
        let mut byte = self.expect_any()?;
        while byte != b'}' {
            let key = self.read_key()?;
            byte = self.expect_any()?;
            let name = self.lists.iter().find(|name| name.as_bytes() == key).copied();
            match name
                .filter(|name| byte == b'[' && !is_record && (*name == ITEMS || list.is_none_or(|list| list == *name)))
            {
                Some(name) => {
                    is_page = true;
                    self.drop_capture();
                    if !self.found.contains(&name) {
                        self.found.push(name);
                    }
                    if !self.read_list(if name == ITEMS { list } else { Some(name) })? {
                        return Ok(false);
                    }
                }
                None => self.skip_value()?,
            }
            is_record |= RECORD_KEYS.contains(&&*key);
            byte = self.expect_any()?;
            if byte == b',' {
                self.consume(1);
                byte = self.expect_any()?;
                if byte == b'}' {
                    return Err(self.syntax());
                }
            } else if byte != b'}' {
                return Err(self.syntax());
            }
        }
        self.close();
        if is_page { Ok(true) } else { self.finish_capture(list) }
    }

    /// Reads a key and the colon after it. Of a long one only the beginning is returned.
    fn read_key(&mut self) -> Result<Vec<u8>, E> {
        if self.expect_any()? != b'"' {
            return Err(self.syntax());
        }
        self.consume(1);
        let (mut key, mut is_escaped) = (Vec::new(), false);
        loop {
            let byte = self.expect_next()?;
            self.consume(1);
            if byte == b'"' && !is_escaped {
                break;
            }
            is_escaped = byte == b'\\' && !is_escaped;
            if key.len() < MAX_KEY {
                key.push(byte);
            }
        }
        if self.expect_any()? != b':' {
            return Err(self.syntax());
        }
        self.consume(1);
        Ok(key)
    }

    /// Skips a value of any kind.
    fn skip_value(&mut self) -> Result<(), E> {
        match self.expect_any()? {
            b'[' | b'{' | b'"' => self.skip_nested(),
            _ => self.skip_word(),
        }
    }

    /// Skips a number, `true`, `false` or `null`.
    fn skip_word(&mut self) -> Result<(), E> {
        let start = self.position;
        while self.peek()?.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')) {
            self.consume(1);
        }
        if self.position == start { Err(self.syntax()) } else { Ok(()) }
    }

    /// Skips an array, object or text.
    fn skip_nested(&mut self) -> Result<(), E> {
        let depth = self.depth;
        let (mut is_text, mut is_escaped) = (false, false);
        let mut deepest = depth;
        loop {
            let buffer = self.file.fill_buf().map_err(JsonError::from)?;
            if buffer.is_empty() {
                return Err(JsonError::Truncated { line: self.line }.into());
            }
            let (mut length, mut is_end) = (0, false);
            for byte in buffer {
                length += 1;
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' if is_text => is_escaped = true,
                    b'"' => is_text = !is_text,
                    b'[' | b'{' if !is_text => self.depth += 1,
                    b']' | b'}' if !is_text => self.depth = self.depth.saturating_sub(1),
                    _ => continue,
                }
                deepest = deepest.max(self.depth);
                is_end = self.depth <= depth && !is_text;
                if is_end {
                    break;
                }
            }
            self.consume(length);
            if deepest > MAX_DEPTH {
                match &mut self.captured {
                    Some(captured) => captured.is_too_deep = true,
                    None => return Err(JsonError::TooDeep { line: self.line }.into()),
                }
            }
            if is_end {
                return Ok(());
            }
        }
    }

    fn open(&mut self) -> Result<(), E> {
        self.expect_any()?;
        self.consume(1);
        self.depth += 1;
        Ok(())
    }

    fn close(&mut self) {
        self.consume(1);
        self.depth -= 1;
    }

    fn begin_capture(&mut self) {
        let mut bytes = mem::take(&mut self.spare);
        bytes.clear();
        let (line, start) = (self.line, self.position);
        self.captured = Some(Captured { bytes, line, start, is_too_large: false, is_too_deep: false });
    }

    fn drop_capture(&mut self) {
        if let Some(captured) = self.captured.take() {
            self.spare = captured.bytes;
        }
    }

    /// Hands the element over that was read.
    fn finish_capture(&mut self, list: Option<&'static str>) -> Result<bool, E> {
        let Some(captured) = self.captured.take() else { return Ok(true) };
        let mut is_repaired = false;
        let repaired;
        let text = if captured.is_too_large {
            Err(ElementProblem::TooLarge { last_line: self.line })
        } else if captured.is_too_deep {
            Err(ElementProblem::TooDeep)
        } else {
            match check_text(&captured.bytes, self.encoding) {
                Ok(text) => {
                    is_repaired = matches!(text, Cow::Owned(_));
                    repaired = text;
                    check_syntax(&repaired, captured.line)?;
                    Ok(&*repaired)
                }
                Err(problem) => Err(problem),
            }
        };
        let goes_on = (self.each)(Element {
            list,
            is_listed: self.depth > 0,
            line: captured.line,
            span: captured.start..self.position,
            original: (!captured.is_too_large).then_some(&*captured.bytes),
            text,
            is_repaired,
        })?;
        self.spare = captured.bytes;
        Ok(goes_on)
    }

    /// Skips white space. Returns the byte after it, which is not skipped.
    fn skip_space(&mut self) -> Result<Option<u8>, E> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.consume(1),
                byte => return Ok(byte),
            }
        }
    }

    /// Skips white space. Returns the byte after it, which is not skipped.
    fn expect_any(&mut self) -> Result<u8, E> {
        self.skip_space()?.ok_or_else(|| JsonError::Truncated { line: self.line }.into())
    }

    fn expect_next(&mut self) -> Result<u8, E> {
        self.peek()?.ok_or_else(|| JsonError::Truncated { line: self.line }.into())
    }

    fn peek(&mut self) -> Result<Option<u8>, E> {
        Ok(self.file.fill_buf().map_err(JsonError::from)?.first().copied())
    }

    /// Takes bytes that are in the buffer.
    fn consume(&mut self, length: usize) {
        let bytes = self.file.buffer().get(..length).unwrap_or_default();
        self.line += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.position += bytes.len() as u64;
        if let Some(captured) = &mut self.captured {
            if captured.bytes.len() + bytes.len() > MAX_ELEMENT_BYTES {
                captured.is_too_large = true;
                captured.bytes.clear();
            }
            if !captured.is_too_large {
                captured.bytes.extend_from_slice(bytes);
            }
        }
        self.file.consume(length);
    }

    fn syntax(&self) -> E {
        JsonError::Syntax { line: self.line }.into()
    }
}

/// Checks that the text of an element is JSON.
fn check_syntax(text: &str, line: u64) -> Result<(), JsonError> {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(JsonError::Syntax { line: line + (error.line() as u64).saturating_sub(1) }),
    }
}

/// Returns the bytes of an element as text. Halves of characters become U+FFFD.
fn check_text<'a>(bytes: &'a [u8], encoding: &'static str) -> Result<Cow<'a, str>, ElementProblem> {
    let text = std::str::from_utf8(bytes).map_err(|_| ElementProblem::Encoding { encoding })?;
    if text.contains('\0') {
        return Err(ElementProblem::Nul);
    }
    let mut repaired = Cow::Borrowed(text);
    let mut position = 0;
    while let Some(found) = text.get(position..).and_then(|rest| rest.find('\\')) {
        let start = position + found;
        position = start + 2;
        let Some(unit) = escaped_unit(text, start) else { continue };
        position = start + 6;
        if unit == 0 {
            return Err(ElementProblem::Nul);
        }
        if is_high(unit) && escaped_unit(text, position).is_some_and(is_low) {
            position += 6;
        } else if is_high(unit) || is_low(unit) {
            repaired.to_mut().replace_range(start..position, "\\ufffd");
        }
    }
    Ok(repaired)
}

/// Returns the UTF-16 unit of an escape such as `\u00fc` at a position.
fn escaped_unit(text: &str, start: usize) -> Option<u16> {
    let digits = text.get(start..start + 6)?.strip_prefix("\\u")?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

fn is_high(unit: u16) -> bool {
    (0xd800..0xdc00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xdc00..0xe000).contains(&unit)
}
