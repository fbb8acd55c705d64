//! Boolean expressions over index terms.

use super::document::SearchDocument;
use super::filter::TermFilter;
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
/// The ASCII characters of terms are lower-case letters and digits, so that none can be interpreted as syntax of an
/// index.
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

    /// Returns the expression for documents that have all of these words, in any inflections or as they are.
    #[must_use]
    pub fn all_surfaces(words: &[Word]) -> Self {
        let any_form = |word: &Word| {
            let surface = Self::Term(word.surface().to_owned());
            if word.stem() == word.surface() { surface } else { Self::Any(vec![Self::stem(word), surface]) }
        };
        match words {
            [word] => any_form(word),
            words => Self::All(words.iter().map(any_form).collect()),
        }
    }

    /// Returns the expression without prefixes that are alternatives to other terms. The other prefixes become terms.
    #[must_use]
    pub fn without_prefixes(&self) -> Self {
        match self {
            Self::Term(term) | Self::Prefix(term) => Self::Term(term.clone()),
            Self::All(parts) => Self::All(parts.iter().map(Self::without_prefixes).collect()),
            Self::Any(parts) => {
                let terms = parts.iter().filter(|part| !matches!(part, Self::Prefix(_)));
                let terms: Vec<Self> = terms.map(Self::without_prefixes).collect();
                if terms.is_empty() {
                    Self::Any(parts.iter().map(Self::without_prefixes).collect())
                } else {
                    Self::Any(terms)
                }
            }
        }
    }

    /// Whether the expression has a prefix.
    #[must_use]
    pub fn has_prefix(&self) -> bool {
        match self {
            Self::Term(_) => false,
            Self::Prefix(_) => true,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::has_prefix),
        }
    }

    /// Calls `leaf` with each term and prefix.
    fn for_each_leaf<'a>(&'a self, leaf: &mut impl FnMut(&'a Self)) {
        match self {
            Self::Term(_) | Self::Prefix(_) => leaf(self),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.for_each_leaf(leaf)),
        }
    }
}

/// Finds out which documents match an expression. Reads each document once, however many terms the expression has.
#[derive(Debug)]
pub struct Matcher<'a> {
    expression: &'a Expression,
    fields: Fields,
    terms: Vec<&'a str>,
    prefixes: Vec<&'a str>,
    filter: TermFilter,
}

impl<'a> Matcher<'a> {
    /// Creates a matcher of an expression in these fields.
    #[must_use]
    pub fn new(expression: &'a Expression, fields: Fields) -> Self {
        let (mut terms, mut prefixes) = (Vec::new(), Vec::new());
        expression.for_each_leaf(&mut |leaf| match leaf {
            Expression::Term(term) => terms.push(term.as_str()),
            Expression::Prefix(start) => prefixes.push(start.as_str()),
            Expression::All(_) | Expression::Any(_) => {}
        });
        for leaves in [&mut terms, &mut prefixes] {
            leaves.sort_unstable();
            leaves.dedup();
        }
        Self { expression, fields, filter: TermFilter::new(terms.iter().copied()), terms, prefixes }
    }

    /// Whether a document matches.
    #[must_use]
    pub fn matches(&self, document: &SearchDocument) -> bool {
        let searched: &[&String] = match self.fields {
            Fields::Any => &[&document.title, &document.tags, &document.description],
            Fields::Title => &[&document.title],
        };
        let (mut terms, mut prefixes): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        for term in searched.iter().flat_map(|field| split_terms(field)) {
            if self.filter.may_contain(term) && self.terms.binary_search(&term).is_ok() {
                terms.push(term);
            }
            prefixes.extend(self.prefixes.iter().filter(|start| term.starts_with(**start)));
        }
        is_match(self.expression, &terms, &prefixes)
    }
}

/// Returns the terms of a field, as an index finds them, with empty ones between.
fn split_terms(field: &str) -> impl Iterator<Item = &str> {
    let is_separator = |byte: u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    let mut rest = Some(field);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.bytes().position(is_separator);
        let (term, behind) = match end {
            Some(end) => (text.get(..end)?, text.get(end + 1..)),
            None => (text, None),
        };
        rest = behind;
        Some(term)
    })
}

/// Whether a document with these terms and prefixes of terms matches an expression.
fn is_match(expression: &Expression, terms: &[&str], prefixes: &[&str]) -> bool {
    match expression {
        Expression::Term(term) => terms.contains(&term.as_str()),
        Expression::Prefix(start) => prefixes.contains(&start.as_str()),
        Expression::All(parts) => parts.iter().all(|part| is_match(part, terms, prefixes)),
        Expression::Any(parts) => parts.iter().any(|part| is_match(part, terms, prefixes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_left_out_beside_other_terms() {
        let prefix = |start: &str| Expression::Prefix(start.to_owned());
        let any = |parts: &[Expression]| Expression::Any(parts.to_vec());
        for (expression, without) in [
            (term("dark"), term("dark")),
            (prefix("dar"), term("dar")),
            (any(&[prefix("dar")]), any(&[term("dar")])),
            (any(&[term("dark"), prefix("dar")]), any(&[term("dark")])),
            (
                Expression::All(vec![term("night"), any(&[term("dark"), prefix("dar")])]),
                Expression::All(vec![term("night"), any(&[term("dark")])]),
            ),
        ] {
            assert_eq!(expression.without_prefixes(), without);
            assert_eq!(expression.has_prefix(), expression != without);
            assert!(!without.has_prefix());
        }
    }

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
            (Expression::All(vec![Expression::Prefix("mod".to_owned()), term("mod")]), false, false),
            (Expression::Prefix("odes".to_owned()), false, false),
            (Expression::Prefix("scre".to_owned()), false, true),
            (Expression::All(vec![term("dark"), term("night")]), false, true),
            (Expression::All(vec![term("dark"), term("day")]), false, false),
            (Expression::Any(vec![term("day"), term("dark")]), true, true),
        ] {
            let matches =
                [Fields::Title, Fields::Any].map(|fields| Matcher::new(&expression, fields).matches(&document));
            assert_eq!(matches, [in_title, anywhere], "{expression:?}");
        }
    }
}
