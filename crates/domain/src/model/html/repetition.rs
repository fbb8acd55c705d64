//! How often a parser would repeat elements that are left open, told before it does.
//!
//! A formatting element that is not closed goes on in every block after it: the parser makes it anew there (HTML standard,
//! 13.2.4.3). Some kilobytes can become millions of elements like that. Of elements with the same name and attributes it keeps
//! three, and of links one, so that honest markup, which repeats a few tags, stays far from any limit.

use std::collections::HashMap;

/// The formatting elements, but for links.
const FORMATTING: [&str; 13] =
    ["b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];

/// How many elements of the same kind the parser keeps.
const KEPT: usize = 3;

/// An upper bound of the elements that the parser would make beside those that are written.
pub(super) fn bound(html: &str) -> usize {
    let mut same: HashMap<&str, usize> = HashMap::new();
    let (mut open, mut tags) = (KEPT, 0_usize);
    for rest in html.split('<').skip(1) {
        tags += 1;
        let name = rest.split(|character: char| !character.is_ascii_alphanumeric()).next().unwrap_or_default();
        if FORMATTING.iter().any(|formatting| name.eq_ignore_ascii_case(formatting)) {
            match plain_tag(rest) {
                Some(tag) => {
                    let seen = same.entry(tag).or_default();
                    *seen += 1;
                    open += usize::from(*seen <= KEPT);
                }
                None => open += 1,
            }
        }
    }
    open * tags
}

/// The tag without its `>`, if every quote in it stands where values begin and end. Only then does it end at the first `>` for
/// the parser, too, and is the same as others with the same text.
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
    fn honest_markup_is_far_from_any_limit() {
        let text =
            "<p>We <b>really</b> love <a href=\"https://x.example/?a=1\">it</a>, <B>do</B> <i class=\"x\">you</i>?</p>";
        assert!(bound(&text.repeat(500)) < 100_000, "{}", bound(&text.repeat(500)));
        assert_eq!(bound("no markup & nothing"), 0);
    }

    #[test]
    fn elements_that_differ_count_each() {
        let differ = |tag: fn(usize) -> String| bound(&(0..100).map(tag).collect::<String>());
        assert_eq!(differ(|n| format!("<b a={n}>")), 103 * 100);
        assert_eq!(differ(|_| "<b>".to_owned()), 6 * 100);
        assert_eq!(differ(|_| "<b a=\"x\" c='y'>".to_owned()), 6 * 100);
        assert_eq!(differ(|n| format!("<a href=\"{n}\">")), 3 * 100);
    }

    #[test]
    fn tags_that_end_elsewhere_than_they_seem_to_count_each() {
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
            assert_eq!(bound(&tag.repeat(100)), 103 * 100, "{tag}");
        }
    }
}
