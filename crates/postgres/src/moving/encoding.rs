//! Values in the binary format of `COPY`.

use std::collections::BTreeSet;

use roadmap_store::moving::MovedValue;
use serde_json::Value;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// Days and milliseconds from 1970-01-01 to the epoch of PostgreSQL, 2000-01-01.
const EPOCH_DAYS: i64 = 10_957;
const EPOCH: i64 = EPOCH_DAYS * DAY;

/// The number of the type `text`.
const TEXT_TYPE: i32 = 25;

/// The format of a `jsonb`, as its first byte.
const JSON_VERSION: u8 = 1;

/// The length of NULL.
const NULL: i32 = -1;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    SmallInt,
    Integer,
    BigInt,
    Double,
    Text,
    /// An array of texts: on SQLite a JSON array.
    Texts,
    Json,
    Bytes,
    Uuid,
    /// On SQLite milliseconds, like [`Kind::Timestamp`].
    Date,
    Timestamp,
    /// Index terms, which SQLite does not have.
    Terms,
}

impl Kind {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "bool" => Self::Bool,
            "int2" => Self::SmallInt,
            "int4" => Self::Integer,
            "int8" => Self::BigInt,
            "float8" => Self::Double,
            "text" => Self::Text,
            "_text" => Self::Texts,
            "jsonb" => Self::Json,
            "bytea" => Self::Bytes,
            "uuid" => Self::Uuid,
            "date" => Self::Date,
            "timestamptz" => Self::Timestamp,
            "tsvector" => Self::Terms,
            _ => return None,
        })
    }

    /// Appends a value with its length.
    ///
    /// # Errors
    /// What is wrong with the value.
    pub(super) fn encode(self, value: &MovedValue, bytes: &mut Vec<u8>) -> Result<(), &'static str> {
        const RANGE: &str = "is out of range";
        match (self, value) {
            (_, MovedValue::Null) => {
                bytes.extend(NULL.to_be_bytes());
                Ok(())
            }
            (Self::Bool, MovedValue::Integer(number @ (0 | 1))) => append(&[u8::from(*number == 1)], bytes),
            (Self::SmallInt, MovedValue::Integer(number)) => {
                append(&i16::try_from(*number).map_err(|_| RANGE)?.to_be_bytes(), bytes)
            }
            (Self::Integer, MovedValue::Integer(number)) => {
                append(&i32::try_from(*number).map_err(|_| RANGE)?.to_be_bytes(), bytes)
            }
            (Self::BigInt, MovedValue::Integer(number)) => append(&number.to_be_bytes(), bytes),
            (Self::Double, MovedValue::Real(number)) => append(&number.to_be_bytes(), bytes),
            (Self::Text, MovedValue::Text(text)) => append(checked(text)?.as_bytes(), bytes),
            (Self::Texts, MovedValue::Text(text)) => append(&array(checked(text)?)?, bytes),
            (Self::Json, MovedValue::Text(text)) => append(&json(checked(text)?)?, bytes),
            (Self::Bytes, MovedValue::Bytes(content)) => append(content, bytes),
            (Self::Uuid, MovedValue::Bytes(id)) if id.len() == 16 => append(id, bytes),
            (Self::Date, MovedValue::Integer(millis)) if millis % DAY == 0 => {
                append(&i32::try_from(millis / DAY - EPOCH_DAYS).map_err(|_| RANGE)?.to_be_bytes(), bytes)
            }
            (Self::Timestamp, MovedValue::Integer(millis)) => {
                let micros = millis.checked_sub(EPOCH).and_then(|millis| millis.checked_mul(1_000));
                append(&micros.ok_or(RANGE)?.to_be_bytes(), bytes)
            }
            _ => Err("has another type than its column"),
        }
    }
}

/// Appends index terms, sorted and each once, without positions.
pub(super) fn encode_terms(terms: &BTreeSet<String>, bytes: &mut Vec<u8>) -> Result<(), &'static str> {
    let mut encoded = length(terms.len())?.to_be_bytes().to_vec();
    for term in terms {
        encoded.extend(checked(term.as_bytes())?.as_bytes());
        // The end of the term, and the number of its positions.
        encoded.extend([0, 0, 0]);
    }
    append(&encoded, bytes)
}

fn append(value: &[u8], bytes: &mut Vec<u8>) -> Result<(), &'static str> {
    bytes.extend(length(value.len())?.to_be_bytes());
    bytes.extend(value);
    Ok(())
}

fn length(length: usize) -> Result<i32, &'static str> {
    i32::try_from(length).map_err(|_| "is too long")
}

/// A text that PostgreSQL can store.
fn checked(text: &[u8]) -> Result<&str, &'static str> {
    let text = std::str::from_utf8(text).map_err(|_| "is not valid UTF-8")?;
    if text.contains('\0') { Err("has a NUL character") } else { Ok(text) }
}

/// A document with sorted keys and without spaces. PostgreSQL does not keep the order and the spaces of a `jsonb`.
fn json(text: &str) -> Result<Vec<u8>, &'static str> {
    let value: Value = serde_json::from_str(text).map_err(|_| "is not a JSON document")?;
    if has_nul(&value) {
        return Err("has a NUL character");
    }
    Ok([&[JSON_VERSION], value.to_string().as_bytes()].concat())
}

/// Whether a text of a document has the escape of a NUL character, which PostgreSQL cannot store either.
fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(fields) => fields.iter().any(|(name, field)| name.contains('\0') || has_nul(field)),
        _ => false,
    }
}

/// An array of one dimension.
fn array(text: &str) -> Result<Vec<u8>, &'static str> {
    let texts: Vec<String> = serde_json::from_str(text).map_err(|_| "is not a JSON array of texts")?;
    let dimensions = i32::from(!texts.is_empty());
    let mut encoded = [dimensions, 0, TEXT_TYPE].map(i32::to_be_bytes).concat();
    if !texts.is_empty() {
        encoded.extend([length(texts.len())?, 1].map(i32::to_be_bytes).concat());
    }
    for text in texts {
        append(checked(text.as_bytes())?.as_bytes(), &mut encoded)?;
    }
    Ok(encoded)
}

/// Splits what `COPY` returns into rows, in the form in which they were sent.
pub(super) struct Tuples {
    kinds: Vec<Kind>,
    /// What does not end a row yet.
    rest: Vec<u8>,
    has_header: bool,
}

/// A row, and what follows it. `None`: more bytes are to come.
type FirstRow<'a> = Option<(Vec<u8>, &'a [u8])>;

impl Tuples {
    pub(super) fn new(kinds: Vec<Kind>) -> Self {
        Self { kinds, rest: Vec::new(), has_header: false }
    }

    /// Adds bytes, and passes on each row that is complete.
    ///
    /// # Errors
    /// The bytes are not rows of these columns.
    pub(super) fn add(&mut self, bytes: &[u8], mut row: impl FnMut(&[u8])) -> Result<(), &'static str> {
        let mut all = std::mem::take(&mut self.rest);
        all.extend(bytes);
        let mut left = all.as_slice();
        if !self.has_header {
            match left.split_at_checked(super::HEADER.len()) {
                Some((_, rows)) => left = rows,
                None => {
                    self.rest = all;
                    return Ok(());
                }
            }
            self.has_header = true;
        }
        while let Some((encoded, rest)) = self.first(left)? {
            row(&encoded);
            left = rest;
        }
        self.rest = left.to_vec();
        Ok(())
    }

    /// Returns the first row and what follows it, unless more bytes are to come.
    fn first<'a>(&self, bytes: &'a [u8]) -> Result<FirstRow<'a>, &'static str> {
        let Some((count, mut left)) = bytes.split_first_chunk::<2>() else { return Ok(None) };
        if count == super::TRAILER {
            return Ok(None);
        }
        if usize::try_from(i16::from_be_bytes(*count)) != Ok(self.kinds.len()) {
            return Err("PostgreSQL has answered with other columns");
        }
        let mut row = count.to_vec();
        for kind in &self.kinds {
            let Some((length, rest)) = left.split_first_chunk::<4>() else { return Ok(None) };
            left = rest;
            let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
                row.extend(NULL.to_be_bytes());
                continue;
            };
            let Some((value, rest)) = left.split_at_checked(length) else { return Ok(None) };
            left = rest;
            match (kind, value) {
                (Kind::Json, [JSON_VERSION, text @ ..]) => append(&json(checked(text)?)?, &mut row)?,
                _ => append(value, &mut row)?,
            }
        }
        Ok(Some((row, left)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> MovedValue {
        MovedValue::Text(text.as_bytes().to_vec())
    }

    #[test]
    fn values_have_the_form_of_their_column() {
        let integer = MovedValue::Integer;
        for (kind, value, expected) in [
            (Kind::Text, MovedValue::Null, &[255, 255, 255, 255][..]),
            (Kind::Bool, integer(1), &[0, 0, 0, 1, 1]),
            (Kind::SmallInt, integer(-2), &[0, 0, 0, 2, 255, 254]),
            (Kind::Integer, integer(258), &[0, 0, 0, 4, 0, 0, 1, 2]),
            (Kind::BigInt, integer(3), &[0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 3]),
            (Kind::Double, MovedValue::Real(1.0), &[0, 0, 0, 8, 63, 240, 0, 0, 0, 0, 0, 0]),
            (Kind::Text, text("ü"), &[0, 0, 0, 2, 195, 188]),
            (Kind::Bytes, MovedValue::Bytes(vec![0, 9]), &[0, 0, 0, 2, 0, 9]),
            // 2000-01-02, and a millisecond after its beginning.
            (Kind::Date, integer(946_771_200_000), &[0, 0, 0, 4, 0, 0, 0, 1]),
            (Kind::Timestamp, integer(946_684_800_001), &[0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 3, 232]),
            (Kind::Json, text(r#"{"b": 1, "a": [] }"#), b"\0\0\0\x0f\x01{\"a\":[],\"b\":1}"),
            (Kind::Texts, text("[]"), &[0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25]),
            (
                Kind::Texts,
                text(r#"["a"]"#),
                &[0, 0, 0, 25, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, b'a'],
            ),
        ] {
            let mut bytes = Vec::new();
            assert_eq!(kind.encode(&value, &mut bytes), Ok(()), "{kind:?} {value:?}");
            assert_eq!(bytes, expected, "{kind:?} {value:?}");
        }
    }

    #[test]
    fn a_value_that_does_not_fit_its_column_is_refused() {
        for (kind, value, fault) in [
            (Kind::Bool, MovedValue::Integer(2), "has another type than its column"),
            (Kind::SmallInt, MovedValue::Integer(40_000), "is out of range"),
            (Kind::Integer, MovedValue::Integer(i64::MAX), "is out of range"),
            (Kind::Timestamp, MovedValue::Integer(i64::MIN), "is out of range"),
            (Kind::Date, MovedValue::Integer(1), "has another type than its column"),
            (Kind::Uuid, MovedValue::Bytes(vec![0; 15]), "has another type than its column"),
            (Kind::BigInt, text("1"), "has another type than its column"),
            (Kind::Text, text("a\0"), "has a NUL character"),
            (Kind::Text, MovedValue::Text(vec![0xff]), "is not valid UTF-8"),
            (Kind::Json, text("{"), "is not a JSON document"),
            (Kind::Json, text(r#"{"a":["\u0000"]}"#), "has a NUL character"),
            (Kind::Json, text(r#"{"\u0000":1}"#), "has a NUL character"),
            (Kind::Texts, text(r#"[1]"#), "is not a JSON array of texts"),
            (Kind::Texts, text(r#"["\u0000"]"#), "has a NUL character"),
        ] {
            assert_eq!(kind.encode(&value, &mut Vec::new()), Err(fault), "{kind:?} {value:?}");
        }
        // No NUL, but a backslash before the same letters.
        assert_eq!(Kind::Json.encode(&text(r#"{"a":"\\u0000"}"#), &mut Vec::new()), Ok(()));
    }

    #[test]
    fn rows_are_split_wherever_the_bytes_are() {
        let row = |json: &[u8]| {
            let mut bytes = vec![0, 2, 0, 0, 0, 1, 7, 0, 0, 0];
            bytes.push(u8::try_from(json.len() + 1).unwrap());
            bytes.push(JSON_VERSION);
            [&bytes, json].concat()
        };
        let without = [0, 2, 255, 255, 255, 255, 255, 255, 255, 255];
        let all = [super::super::HEADER, &row(b"{\"b\": 1, \"a\": 2}"), &without, super::super::TRAILER].concat();
        for size in 1..=all.len() {
            let mut tuples = Tuples::new(vec![Kind::Bytes, Kind::Json]);
            let mut rows = Vec::new();
            for part in all.chunks(size) {
                tuples.add(part, |row| rows.push(row.to_vec())).unwrap();
            }
            assert_eq!(rows, [row(b"{\"a\":2,\"b\":1}"), without.to_vec()], "{size}");
        }
        let other = [super::super::HEADER, &[0, 3]].concat();
        assert!(Tuples::new(vec![Kind::Bool]).add(&other, |_| ()).is_err());
    }

    #[test]
    fn index_terms_are_sorted_and_have_no_positions() {
        let terms = BTreeSet::from(["b".to_owned(), "a".to_owned()]);
        let mut bytes = Vec::new();
        assert_eq!(encode_terms(&terms, &mut bytes), Ok(()));
        assert_eq!(bytes, b"\0\0\0\x0c\0\0\0\x02a\0\0\0b\0\0\0");
    }
}
