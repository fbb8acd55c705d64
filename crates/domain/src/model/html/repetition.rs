//! Estimate of the elements that an HTML parser repeats, computed before parsing.
//!
//! The parser reconstructs a formatting element that is not closed in every following block (HTML standard, 13.2.4.3).
//! Some kilobytes can become millions of elements. The parser keeps at most three elements with the same name and
//! attributes, and one link. Normal markup repeats only a few different tags and therefore stays far below the limit.

use std::collections::HashMap;

/// The formatting elements, except for links.
const FORMATTING_ELEMENTS: [&str; 13] =
    ["b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];

/// Maximum number of equal open formatting elements that the parser keeps (the standard's "Noah's Ark clause").
const NOAHS_ARK_LIMIT: usize = 3;

/// Returns an upper bound of the elements that the parser would create in addition to those in the input.
pub(super) fn max_repeated_elements(html: &str) -> usize {
    let mut same: HashMap<&str, usize> = HashMap::new();
    let (mut open, mut tags) = (NOAHS_ARK_LIMIT, 0_usize);
    for rest in html.split('<').skip(1) {
        tags += 1;
        let name = rest.split(|character: char| !character.is_ascii_alphanumeric()).next().unwrap_or_default();
        if FORMATTING_ELEMENTS.iter().any(|formatting| name.eq_ignore_ascii_case(formatting)) {
            match plain_tag(rest) {
                Some(tag) => {
                    let seen = same.entry(tag).or_default();
                    *seen += 1;
                    open += usize::from(*seen <= NOAHS_ARK_LIMIT);
                }
                None => open += 1,
            }
        }
    }
    open * tags
}

/// Returns the text of a tag without its `>`, if all its quotes delimit attribute values.
///
/// Only such a tag ends at the first `>` for the parser, too, and is equal to other tags with the same text.
fn plain_tag(rest: &str) -> Option<&str> {
    let tag = rest.split_once('>')?.0;
    let mut quote = None;
    let mut before = ['\0', '\0'];
    for character in tag.chars() {
        match quote {
            Some(open) if open == character => quote = None,
            Some(_) => {}
            None if matches!(character, '"' | '\'') => {
                let [name, equals] = before;
                if equals != '=' || !(name.is_ascii_alphanumeric() || matches!(name, '-' | '_' | ':')) {
                    return None;
                }
                quote = Some(character);
            }
            None => {}
        }
        before = [before[1], character];
    }
    quote.is_none().then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_markup_is_far_below_the_limit() {
        let text =
            "<p>We <b>really</b> love <a href=\"https://x.example/?a=1\">it</a>, <B>do</B> <i class=\"x\">you</i>?</p>";
        assert!(max_repeated_elements(&text.repeat(500)) < 100_000, "{}", max_repeated_elements(&text.repeat(500)));
        assert_eq!(max_repeated_elements("no markup & nothing"), 0);
    }

    #[test]
    fn distinct_elements_are_counted_separately() {
        let differ = |tag: fn(usize) -> String| max_repeated_elements(&(0..100).map(tag).collect::<String>());
        assert_eq!(differ(|n| format!("<b a={n}>")), 103 * 100);
        assert_eq!(differ(|_| "<b>".to_owned()), 6 * 100);
        assert_eq!(differ(|_| "<b a=\"x\" c='y'>".to_owned()), 6 * 100);
        assert_eq!(differ(|n| format!("<a href=\"{n}\">")), 3 * 100);
    }

    #[test]
    fn tags_with_misleading_ends_are_counted_separately() {
        for tag in [
            "<b a=\">1\">",
            "<b a='>1'>",
            "<b a=\"x'y\" b='>1'>",
            "<b x\" a=\">1\">",
            "<b a==\"x b=\">1\">",
            "<b a= \">1\">",
            "<b a=x\"y>",
            "<b",
        ] {
            assert_eq!(max_repeated_elements(&tag.repeat(100)), 103 * 100, "{tag}");
        }
    }
}
