//! The values of an element, read only when they are asked for. Whatever the element, this takes memory of its size.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object, with its values as they are written.
#[derive(Debug, Default)]
pub struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// Parses an element. `None` if it is no object.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Returns the value of a key, the last one if there are more.
    #[must_use]
    pub fn get(&self, key: &str) -> Value<'a> {
        Value(self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value))
    }

    /// Whether there is a value of this key, even `null`.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(name, _)| name == key)
    }

    /// Returns the keys and values in their order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, Value<'a>)> {
        self.0.iter().map(|(key, value)| (&**key, Value(Some(*value))))
    }
}

/// A key, which most often has no escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Object<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    entries.push((key, value));
                }
                Ok(Object(entries))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// A value that may be missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Value<'a>(Option<&'a RawValue>);

impl<'a> Value<'a> {
    /// Returns the value as it is written: nothing if it is missing.
    #[must_use]
    pub fn raw(self) -> &'a str {
        self.0.map_or("", RawValue::get)
    }

    /// Whether it is missing or `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        matches!(self.raw(), "" | "null")
    }

    /// Returns a text. Numbers, `true` and `false` are texts as they are written; anything else is `None`.
    #[must_use]
    pub fn text(self) -> Option<Cow<'a, str>> {
        let raw = self.raw();
        match raw.bytes().next()? {
            b'"' => serde_json::from_str::<Key<'a>>(raw).ok().map(|Key(text)| text),
            b'[' | b'{' | b'n' => None,
            _ => Some(Cow::Borrowed(raw)),
        }
    }

    /// Returns an object. `None` for anything else.
    #[must_use]
    pub fn object(self) -> Option<Object<'a>> {
        Object::parse(self.raw())
    }

    /// Returns the values of an array. `None` for anything else.
    #[must_use]
    pub fn array(self) -> Option<impl Iterator<Item = Self>> {
        let values: Vec<&'a RawValue> = serde_json::from_str(self.raw()).ok()?;
        Some(values.into_iter().map(|value| Self(Some(value))))
    }

    /// Returns the value as people read it: a text as it is, anything else as it is written.
    #[must_use]
    pub fn shown(self) -> Cow<'a, str> {
        self.text().unwrap_or(Cow::Borrowed(self.raw()))
    }
}
