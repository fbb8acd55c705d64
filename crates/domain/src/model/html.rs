//! HTML from clients, cleaned on the way in.

use std::collections::HashSet;
use std::sync::LazyLock;

use ammonia::Builder;

use crate::error::{Invalid, Parsed};
use crate::model::text;

/// HTML that holds nothing but harmless elements: what is stored is safe to show.
///
/// An allow-list of text elements and links. Links keep `http`, `https` and `mailto` targets and
/// get `rel="nofollow noopener"`. Scripts, styles, forms, images, embedded content, comments and
/// every other attribute are removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanHtml(String);

const ELEMENTS: [&str; 24] = [
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "hr",
    "i",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
    "sub",
    "sup",
    "u",
    "ul",
];

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut cleaner = Builder::empty();
    cleaner
        .tags(HashSet::from(ELEMENTS))
        .clean_content_tags(HashSet::from(["script", "style"]))
        .tag_attributes([("a", HashSet::from(["href"]))].into())
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(Some("nofollow noopener"))
        .strip_comments(true);
    cleaner
});

static TEXT_ONLY: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut cleaner = Builder::empty();
    cleaner.clean_content_tags(HashSet::from(["script", "style"]));
    cleaner
});

impl CleanHtml {
    /// Most characters of a note, a comment or a changelog, before cleaning.
    pub const MAX: usize = 100_000;

    /// Cleans required HTML.
    ///
    /// # Errors
    /// No text left after cleaning, too long, or with a NUL character.
    pub fn parse(field: &str, raw: &str) -> Parsed<Self> {
        let clean = Self::parse_optional(field, raw, Self::MAX)?;
        if clean.to_text().trim().is_empty() {
            return Err(Invalid::missing(field));
        }
        Ok(clean)
    }

    /// Cleans HTML that may be empty, of at most `max` characters.
    ///
    /// # Errors
    /// Too long or with a NUL character.
    pub fn parse_optional(field: &str, raw: &str, max: usize) -> Parsed<Self> {
        text::bounded(field, raw, max)?;
        Ok(if is_plain(raw) { Self(raw.to_owned()) } else { Self(CLEANER.clean(raw).to_string()) })
    }

    /// Takes back what was cleaned when it was stored.
    #[must_use]
    pub fn stored(html: String) -> Self {
        Self(html)
    }

    /// The HTML.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text without markup: elements that start a line become line breaks, character
    /// references become characters.
    #[must_use]
    pub fn to_text(&self) -> String {
        if is_plain(&self.0) {
            return self.0.clone();
        }
        let mut broken = self.0.clone();
        for mark in ["<br>", "</p>", "</li>", "</h1>", "</h2>", "</h3>", "</h4>", "</blockquote>", "</pre>"] {
            if broken.contains(mark) {
                broken = broken.replace(mark, &format!("{mark}\n"));
            }
        }
        decoded(&TEXT_ONLY.clean(&broken).to_string()).trim_end().to_owned()
    }
}

/// Text that cleaning would give back as it is. Most descriptions and notes are of this kind, and
/// an HTML parser costs more than the rest of the call together.
fn is_plain(raw: &str) -> bool {
    !raw.bytes().any(|byte| matches!(byte, b'<' | b'>' | b'&' | b'\r'))
        && !raw.contains('\u{a0}')
        && !raw.starts_with('\u{feff}')
}

/// The serialiser writes exactly these four references in text (HTML standard, 13.3).
fn decoded(html: &str) -> String {
    html.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clean(raw: &str) -> String {
        CleanHtml::parse_optional("content", raw, CleanHtml::MAX).unwrap().as_str().to_owned()
    }

    #[test]
    fn harmless_markup_stays() {
        let html = "<p>We <strong>love</strong> it</p><ul><li>one</li></ul>";
        assert_eq!(clean(html), html);
    }

    #[test]
    fn links_are_marked_and_only_safe_targets_stay() {
        assert_eq!(
            clean(r#"<a href="https://example.com" onclick="x()" target="_top">x</a>"#),
            r#"<a href="https://example.com" rel="nofollow noopener">x</a>"#
        );
        for target in ["javascript:alert(1)", "data:text/html,x", "/relative", "//example.com"] {
            assert_eq!(
                clean(&format!(r#"<a href="{target}">x</a>"#)),
                r#"<a rel="nofollow noopener">x</a>"#,
                "{target}"
            );
        }
    }

    #[test]
    fn active_content_goes() {
        for (raw, left) in [
            ("<script>alert(1)</script>hi", "hi"),
            ("<style>p{}</style>hi", "hi"),
            ("<img src=x onerror=alert(1)>hi", "hi"),
            ("<svg><script>1</script></svg>hi", "hi"),
            ("<form><input></form>hi", "hi"),
            ("<!-- x -->hi", "hi"),
            ("<b style='x' class='y'>hi</b>", "<b>hi</b>"),
        ] {
            assert_eq!(clean(raw), left, "{raw}");
        }
    }

    #[test]
    fn required_html_needs_text() {
        for raw in ["", "  ", "<p> </p>", "<br>", "<script>x</script>", "<p>&nbsp;</p>", "<img src=x>"] {
            assert_eq!(CleanHtml::parse("content", raw).unwrap_err(), Invalid::missing("content"), "{raw}");
        }
        assert!(CleanHtml::parse("content", "<p>x</p>").is_ok());
    }

    #[test]
    fn text_has_no_markup_left() {
        let html = CleanHtml::parse("description", "<p>1 &lt; 2 &amp;amp; 3</p><p>next<br>line</p>").unwrap();
        assert_eq!(html.to_text(), "1 < 2 &amp; 3\nnext\nline");
        assert_eq!(CleanHtml::parse("description", "plain\n\ntext").unwrap().to_text(), "plain\n\ntext");
        assert_eq!(CleanHtml::parse("description", "a < b && c > d").unwrap().to_text(), "a < b && c > d");
    }

    proptest! {
        #[test]
        fn cleaning_twice_changes_nothing(raw in r#"[<>a-z&;/"'= \n!-]{0,80}"#) {
            let once = clean(&raw);
            prop_assert_eq!(clean(&once), once);
        }

        #[test]
        fn plain_text_is_what_the_parser_would_give_back(raw in r#"[^<>&\r\u{a0}\x00]{0,60}"#) {
            prop_assert_eq!(CLEANER.clean(&raw).to_string(), clean(&raw));
        }
    }
}
