//! Slugs: `<tag_number>-<dash-separated-title-words>`, contract section 2.2.

use deunicode::deunicode;

use crate::model::feature_request::Title;

/// Returns the slug of a feature request: the tag number and the words of the title in lower-case ASCII.
///
/// The slug is only the number when the title has no words in ASCII.
#[must_use]
pub fn slug(tag_number: i64, title: &Title) -> String {
    let mut slug = tag_number.to_string();
    let ascii = deunicode(title.as_str());
    for word in ascii.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        slug.push('-');
        slug.extend(word.chars().map(|c| c.to_ascii_lowercase()));
    }
    slug
}

/// Returns the tag number at the start of a slug, if any.
///
/// The words after it are ignored, so that a link with an old title still resolves.
#[must_use]
pub fn parse_tag_number(slug: &str) -> Option<i64> {
    let digits = slug.split_once('-').map_or(slug, |(digits, _)| digits);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 3: a slug is number and words, in ASCII and lower case, or the number alone without words.
    /// Contract 2.2.
    #[test]
    fn words_become_ascii_and_lower_case() {
        for (title, expected) in [
            ("Dark mode", "7-dark-mode"),
            ("Export to CSV/Excel (v2)!", "7-export-to-csv-excel-v2"),
            ("Façade für Zürich", "7-facade-fur-zurich"),
            ("Поиск", "7-poisk"),
            ("  a -- b  ", "7-a-b"),
            ("!!!", "7"),
            ("2FA", "7-2fa"),
        ] {
            assert_eq!(slug(7, &Title::parse("title", title).unwrap()), expected);
        }
    }

    /// Decision 3.
    #[test]
    fn only_the_number_of_a_slug_is_used_for_lookup() {
        for (text, number) in [
            ("7-dark-mode", Some(7)),
            ("7", Some(7)),
            ("7-", Some(7)),
            ("7-some-older-title", Some(7)),
            ("007-x", Some(7)),
            ("dark-mode", None),
            ("", None),
            ("-7", None),
            ("7dark", None),
            ("+7", None),
            ("٧", None),
            ("99999999999999999999-x", None),
        ] {
            assert_eq!(parse_tag_number(text), number, "{text}");
        }
    }

    #[test]
    fn a_slug_resolves_to_its_number() {
        for title in ["Dark mode", "123 go", "!!!", "-5"] {
            assert_eq!(parse_tag_number(&slug(42, &Title::parse("title", title).unwrap())), Some(42));
        }
    }
}
