//! Texts of a workspace in the languages of its portal.

use std::collections::BTreeMap;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::portal::Language;
use crate::model::text::{Name, validate_text};

/// A text in some languages. In the others, pages show a text of the product.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Localized(BTreeMap<&'static str, String>);

impl Localized {
    /// Validates texts of at most `max` characters each, by the codes of their languages. Blank ones are left out.
    ///
    /// # Errors
    /// A code of no language, or a text that is too long or has a NUL character.
    pub fn parse<'a>(
        field: &str,
        max: usize,
        texts: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Validated<Self> {
        let mut parsed = Self::default();
        for (code, text) in texts {
            let expected = "an object with the keys en, de and ar";
            let malformed = || FieldError::new(field, FieldProblem::Malformed { expected });
            let language = Language::from_code(code).ok_or_else(malformed)?;
            let text = text.unwrap_or_default().trim();
            validate_text(field, text, max)?;
            parsed = parsed.with(language, text);
        }
        Ok(parsed)
    }

    /// Validates names, by the codes of their languages. Blank ones are left out.
    ///
    /// # Errors
    /// A code of no language, or a text that is no name.
    pub fn parse_names<'a>(
        field: &str,
        texts: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Validated<Self> {
        let texts = Self::parse(field, Name::MAX, texts)?;
        let name = |(code, text): (&&'static str, &String)| Ok((*code, Name::parse(field, text)?.as_str().to_owned()));
        texts.0.iter().map(name).collect::<Validated<_>>().map(Self)
    }

    /// Returns the texts with this one. An empty one is none.
    #[must_use]
    pub fn with(mut self, language: Language, text: &str) -> Self {
        if text.is_empty() {
            self.0.remove(language.code());
        } else {
            self.0.insert(language.code(), text.to_owned());
        }
        self
    }

    /// Returns the text in a language.
    #[must_use]
    pub fn get(&self, language: Language) -> Option<&str> {
        self.0.get(language.code()).map(String::as_str)
    }

    /// Returns the texts by the codes of their languages.
    #[must_use]
    pub fn texts(&self) -> &BTreeMap<&'static str, String> {
        &self.0
    }

    /// Reads what [`Self::to_json`] has written. What is none of it is left out.
    #[must_use]
    pub fn from_stored(json: &str) -> Self {
        let stored: BTreeMap<String, String> = serde_json::from_str(json).unwrap_or_default();
        let known = |(code, text): (String, String)| Some((Language::from_code(&code)?.code(), text));
        Self(stored.into_iter().filter_map(known).collect())
    }

    /// Returns the texts as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::json!(self.0).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_single_lines() {
        let parse = |text| Localized::parse_names("names", [("de", Some(text)), ("ar", Some(" "))]);
        assert_eq!(parse(" Geplant\u{a0} ").unwrap(), Localized::default().with(Language::German, "Geplant"));
        let one_line = Name::parse("names", "a\nb").map(|name| name.as_str().to_owned());
        assert_eq!(parse("a\nb").map(|names| names.get(Language::German).unwrap().to_owned()), one_line);
        let long = parse(&"x".repeat(Name::MAX + 1)).unwrap_err();
        assert_eq!(long.to_string(), "names must be at most 200 characters long");
    }

    #[test]
    fn texts_are_bounded_and_stored_by_language() {
        let parse = |texts: &[(&str, Option<&str>)]| Localized::parse("welcome_text", 5, texts.iter().copied());
        let texts = parse(&[("en", Some(" a\"\u{e4}\nb ")), ("de", Some(" ")), ("ar", None)]).unwrap();
        assert_eq!((texts.get(Language::English), texts.get(Language::German)), (Some("a\"\u{e4}\nb"), None));
        assert_eq!(Localized::from_stored(&texts.to_json()), texts);
        assert_eq!(texts.with(Language::English, ""), Localized::default());
        for (raw, expected) in [
            (("fr", Some("a")), "welcome_text is not an object with the keys en, de and ar"),
            (("en", Some("123456")), "welcome_text must be at most 5 characters long"),
        ] {
            assert_eq!(parse(&[raw]).unwrap_err().to_string(), expected);
        }
        assert!(parse(&[("en", Some("\0"))]).is_err());
        for broken in ["", "[]", "{\"en\":1}", "{\"fr\":\"a\"}"] {
            assert_eq!(Localized::from_stored(broken), Localized::default(), "{broken}");
        }
    }
}
