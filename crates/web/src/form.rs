//! Query parameters and forms.

use std::collections::HashMap;

use roadmap_domain::error::FieldError;

/// Largest form in bytes: two texts of 20,000 characters, percent-encoded at worst.
pub(crate) const LIMIT: usize = 512 * 1024;

/// The fields of a query or a form (`application/x-www-form-urlencoded`). Of repeated fields the first one counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields(HashMap<String, String>);

/// Maximum number of fields that are read.
const MAX_FIELDS: usize = 50;

impl Fields {
    /// Parses fields. Malformed parts become the replacement character.
    pub(crate) fn parse(encoded: &[u8]) -> Self {
        let mut fields = HashMap::new();
        for (name, value) in url::form_urlencoded::parse(encoded).take(MAX_FIELDS) {
            fields.entry(name.into_owned()).or_insert_with(|| value.into_owned());
        }
        Self(fields)
    }

    /// Returns the value of a field as it was sent. A missing one is empty.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Whether a field was sent.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// The problems of a form, in the order of its fields.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problems(Vec<(String, String)>);

impl Problems {
    /// Adds a problem: the ID of the field, and a sentence.
    pub(crate) fn add(&mut self, field: impl Into<String>, sentence: impl Into<String>) {
        self.0.push((field.into(), sentence.into()));
    }

    /// Adds the problem of a validated field, unless it is valid.
    pub(crate) fn check<T>(&mut self, validated: Result<T, FieldError>, text: crate::text::Text) -> Option<T> {
        validated.map_err(|error| self.add(error.field.clone(), text.problem(&error))).ok()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the sentence about a field, if it has a problem.
    pub(crate) fn of(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|(of, _)| of == field).map(|(_, sentence)| sentence.as_str())
    }

    /// Returns all problems.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(String, String)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_repeated_fields_counts_and_nothing_is_lost() {
        let fields = Fields::parse(b"title=a%20b&title=c&empty=&content=%C3%A4+%0D%0A%ff");
        assert_eq!((fields.get("title"), fields.get("empty"), fields.get("none")), ("a b", "", ""));
        assert_eq!(fields.get("content"), "\u{e4} \r\n\u{fffd}");
        assert!(fields.has("empty") && !fields.has("none"));
        let many: String = (0..1_000).map(|number| format!("f{number}=1&")).collect();
        assert!(Fields::parse(many.as_bytes()).has("f49") && !Fields::parse(many.as_bytes()).has("f50"));
    }
}
