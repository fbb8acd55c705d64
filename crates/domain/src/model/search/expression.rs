//! Boolean expressions over index terms.

use super::document::SearchDocument;
use super::words::Word;

/// The fields in which a term must occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fields {
    /// In title, tags or description.
    Any,
    /// In the title.
    Title,
}

/// What an index is asked for.
///
/// Terms consist of lower-case ASCII letters and digits, concepts also of their mark, so that none can be interpreted
/// as syntax of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    /// Documents with a term.
    Term(String),
    /// Documents with a term that starts with this text.
    Prefix(String),
    /// Documents that all of these match. At least one.
    All(Vec<Self>),
    /// Documents that any of these matches. At least one.
    Any(Vec<Self>),
}

impl Expression {
    /// Returns the expression for documents that have a word, in any inflection.
    #[must_use]
    pub fn stem(word: &Word) -> Self {
        Self::Term(word.stem().to_owned())
    }

    /// Returns the expression for documents that have all of these words, in any inflections.
    #[must_use]
    pub fn all_words(words: &[Word]) -> Self {
        match words {
            [word] => Self::stem(word),
            words => Self::All(words.iter().map(Self::stem).collect()),
        }
    }

    /// Whether a document matches in these fields.
    #[must_use]
    pub fn matches(&self, document: &SearchDocument, fields: Fields) -> bool {
        let contains = |term: &str, is_prefix| {
            let searched: &[&String] = match fields {
                Fields::Any => &[&document.title, &document.tags, &document.description],
                Fields::Title => &[&document.title],
            };
            searched.iter().any(|field| contains_term(field, term, is_prefix))
        };
        match self {
            Self::Term(term) => contains(term, false),
            Self::Prefix(start) => contains(start, true),
            Self::All(parts) => parts.iter().all(|part| part.matches(document, fields)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(document, fields)),
        }
    }
}

/// Whether a field of a document contains a term, or one that starts with it.
fn contains_term(field: &str, term: &str, is_prefix: bool) -> bool {
    let is_separator = |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric());
    let bytes = field.as_bytes();
    field.match_indices(term).any(|(start, _)| {
        let before = start.checked_sub(1).and_then(|before| bytes.get(before));
        is_separator(before) && (is_prefix || is_separator(bytes.get(start + term.len())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(term: &str) -> Expression {
        Expression::Term(term.to_owned())
    }

    #[test]
    fn terms_are_matched_as_a_whole_and_prefixes_at_their_start() {
        let document = SearchDocument::new("Dark modes", ["night-shift"], "The screens");
        for (expression, in_title, anywhere) in [
            (term("dark"), true, true),
            (term("mode"), true, true),
            (term("modes"), true, true),
            (term("mod"), false, false),
            (term("ark"), false, false),
            (term("darkmodes"), true, true),
            (term("shift"), false, true),
            (Expression::Prefix("mod".to_owned()), true, true),
            (Expression::Prefix("odes".to_owned()), false, false),
            (Expression::Prefix("scre".to_owned()), false, true),
            (Expression::All(vec![term("dark"), term("night")]), false, true),
            (Expression::All(vec![term("dark"), term("day")]), false, false),
            (Expression::Any(vec![term("day"), term("dark")]), true, true),
        ] {
            let matches = [Fields::Title, Fields::Any].map(|fields| expression.matches(&document, fields));
            assert_eq!(matches, [in_title, anywhere], "{expression:?}");
        }
    }
}
