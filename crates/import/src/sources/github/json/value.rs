//! Lenient readers of values: whatever is of another kind is absent, and none of them takes much more memory than its text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An escaped NUL character.
const NUL: &str = "\\u0000";

/// A value as it is written, whose syntax is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value<'a>(&'a str);

impl<'a> Value<'a> {
    /// Returns the value as it is written.
    pub(crate) fn as_written(self) -> &'a str {
        self.0
    }

    /// Returns the value as it is shown to the operator: a text without its quotes.
    pub(crate) fn shown(self) -> &'a str {
        self.0.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(self.0)
    }

    /// Whether there is nothing.
    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Returns a text. Numbers and truth values are the text that they are written as. Halves of characters are U+FFFD.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        match self.0.as_bytes().first()? {
            b'"' => unescape(self.0),
            b'{' | b'[' | b'n' => None,
            _ => Some(Cow::Borrowed(self.0)),
        }
    }

    /// Returns a truth value, which may also be a text or a number.
    pub(crate) fn flag(self) -> Option<bool> {
        match self.text()?.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" => Some(true),
            "false" | "0" | "no" | "" => Some(false),
            _ => None,
        }
    }

    /// Returns a whole number, which may also be a text.
    pub(crate) fn whole_number(self) -> Option<i64> {
        self.text()?.trim().parse().ok()
    }

    /// Returns an object.
    pub(crate) fn object(self) -> Option<Object<'a>> {
        Object::parse(self.0)
    }

    /// Returns the values of an array, or of a page as GraphQL has it: `nodes`, or the `node` of each of the `edges`.
    pub(crate) fn list(self) -> Option<List<'a>> {
        if let Some(items) = self.array() {
            return Some(List { items, total: None });
        }
        let object = self.object()?;
        let total = object.get("totalCount").and_then(Self::whole_number);
        let edges = || {
            let edges = object.get("edges")?.array()?;
            Some(edges.into_iter().filter_map(|edge| edge.object()?.get("node")).collect())
        };
        let items = object.get("nodes").and_then(Self::array).or_else(edges);
        (items.is_some() || total.is_some()).then(|| List { items: items.unwrap_or_default(), total })
    }

    fn array(self) -> Option<Vec<Self>> {
        if !self.0.starts_with('[') {
            return None;
        }
        let items: Vec<&RawValue> = serde_json::from_str(self.0).ok()?;
        Some(items.into_iter().map(|item| Self(item.get())).collect())
    }
}

/// The values of an array or of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List<'a> {
    /// The values, nulls included.
    pub(crate) items: Vec<Value<'a>>,
    /// How many there are with those of other pages, if the file says it.
    pub(crate) total: Option<i64>,
}

impl List<'_> {
    /// Returns how many there are, with those of other pages.
    pub(crate) fn count(&self) -> u64 {
        let total = self.total.and_then(|total| u64::try_from(total).ok()).unwrap_or_default();
        total.max(self.items.len() as u64)
    }
}

/// The members of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object<'a>(Vec<(String, Value<'a>)>);

impl<'a> Object<'a> {
    /// Parses an object. `None` if the text is none.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        if !text.starts_with('{') {
            return None;
        }
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let members = deserializer.deserialize_map(Members).ok()?;
        deserializer.end().ok()?;
        Some(Self(members))
    }

    /// Returns the value of a key, the last one if it is there twice. `None` also for null.
    pub(crate) fn get(&self, key: &str) -> Option<Value<'a>> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value).filter(|value| !value.is_null())
    }

    /// Returns the first of the keys that has a value, with the value.
    pub(crate) fn first(&self, keys: &[&'static str]) -> Option<(&'static str, Value<'a>)> {
        keys.iter().find_map(|key| Some((*key, self.get(key)?)))
    }

    /// Returns the text of a key.
    pub(crate) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.text()
    }

    /// Whether there are no keys.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is such a key, even with null.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    /// Returns the keys in their order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the members in their order.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, Value<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Whether a NUL character is in any member but that of `except`.
    pub(crate) fn has_nul(&self, except: &str) -> bool {
        self.0.iter().any(|(name, value)| name != except && (name.contains('\0') || has_nul(value.0)))
    }
}

/// Whether a NUL character is in what is written.
fn has_nul(written: &str) -> bool {
    written.match_indices(NUL).any(|(position, _)| {
        let before = written.as_bytes().get(..position).unwrap_or_default();
        before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
    })
}

/// Returns the text of a literal.
fn unescape(literal: &str) -> Option<Cow<'_, str>> {
    let inner = literal.get(1..literal.len().checked_sub(1)?)?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    // As bytes, because texts cannot have halves of surrogate pairs.
    let bytes = serde_json::Deserializer::from_str(literal).deserialize_bytes(Bytes).ok()?;
    Some(Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|error| replace_surrogates(error.as_bytes()))))
}

/// Returns a text in which each half of a surrogate pair is one U+FFFD.
fn replace_surrogates(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let valid = std::str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
        let (start, end) = rest.split_at(valid);
        text.push_str(std::str::from_utf8(start).unwrap_or_default());
        // In this form, halves of surrogate pairs are three bytes.
        rest = end.get(3..).unwrap_or_default();
        if !end.is_empty() {
            text.push('\u{fffd}');
        }
    }
    text
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, Value<'de>)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            members.push((key, Value(map.next_value::<&RawValue>()?.get())));
        }
        Ok(members)
    }
}
