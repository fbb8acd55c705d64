//! Conversions between columns and values: IDs as text, and lists as JSON.

use roadmap_store::columns::Id;
use uuid::Uuid;

/// SQL for the text of an ID, as the domain formats it.
macro_rules! uuid_text {
    ($column:literal) => {
        concat!(
            "lower(substr(hex(",
            $column,
            "), 1, 8) || '-' || substr(hex(",
            $column,
            "), 9, 4) || '-' ||
             substr(hex(",
            $column,
            "), 13, 4) || '-' || substr(hex(",
            $column,
            "), 17, 4) || '-' ||
             substr(hex(",
            $column,
            "), 21))"
        )
    };
}
pub(crate) use uuid_text;

/// Encodes IDs as a JSON array of strings for `unhex`.
pub(crate) fn json_ids(ids: &[Id]) -> String {
    json_array(ids.iter().map(|id| quoted_id(id.0)))
}

/// Joins JSON values to an array.
pub(crate) fn json_array(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

/// Encodes texts as a JSON array of strings.
pub(crate) fn json_texts<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    json_array(texts.map(quoted_text))
}

/// Encodes a text as a JSON string (RFC 8259).
fn quoted_text(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\0'..='\x1f' => quoted.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// Encodes an ID as a JSON string for `unhex`.
pub(crate) fn quoted_id(id: Uuid) -> String {
    format!("\"{}\"", id.simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_json_strings() {
        let texts = ["help.example.com", "a\"b\\c", "\u{1}\n", "ä"];
        assert_eq!(json_texts(texts.into_iter()), r#"["help.example.com","a\"b\\c","\u0001\u000a","ä"]"#);
        assert_eq!(json_texts(std::iter::empty()), "[]");
    }
}
