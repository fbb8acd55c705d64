//! Sanitized HTML from clients.

mod parse_cost;
mod repetition;

use std::collections::HashSet;
use std::sync::LazyLock;

use ammonia::Builder;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::text;

/// Sanitized HTML, which is safe to show.
///
/// An allow-list keeps text elements and links. Links keep `http`, `https` and `mailto` targets and get
/// `rel="nofollow noopener"`. Scripts, styles, forms, images, embedded content, comments and all other attributes are
/// removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanHtml(String);

const ALLOWED_ELEMENTS: [&str; 24] = [
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
        .tags(HashSet::from(ALLOWED_ELEMENTS))
        .clean_content_tags(HashSet::from(["script", "style"]))
        .tag_attributes([("a", HashSet::from(["href"]))].into())
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Deny)
        .link_rel(Some("nofollow noopener"))
        .strip_comments(true);
    cleaner
});

/// The tags after which a line of the plain text ends.
const LINE_BREAK_TAGS: [&str; 9] =
    ["<br>", "</p>", "</li>", "</h1>", "</h2>", "</h3>", "</h4>", "</blockquote>", "</pre>"];

impl CleanHtml {
    /// Maximum number of characters of a note, a comment or a changelog before sanitization.
    pub const MAX: usize = 100_000;

    /// Sanitizes required HTML.
    ///
    /// # Errors
    /// Without text after sanitization, too long, with a NUL character, or with too much markup.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let clean = Self::parse_optional(field, raw, Self::MAX)?;
        if clean.to_text().trim().is_empty() {
            return Err(FieldError::missing(field));
        }
        Ok(clean)
    }

    /// Sanitizes HTML that may be empty, of at most `max` characters.
    ///
    /// # Errors
    /// Too long, with a NUL character, or with so much markup that sanitization makes it too long.
    pub fn parse_optional(field: &str, raw: &str, max: usize) -> Validated<Self> {
        text::validate_text(field, raw, max)?;
        if is_plain(raw) {
            return Ok(Self(raw.to_owned()));
        }
        let clean = clean_until_stable(raw);
        if clean.len() > max_output_bytes(raw) {
            return Err(FieldError::new(field, FieldProblem::TooMuchMarkup { growth: MAX_GROWTH }));
        }
        Ok(Self(clean))
    }

    /// Wraps stored HTML, which is not sanitized again.
    #[must_use]
    pub fn from_stored(html: String) -> Self {
        Self(html)
    }

    /// Returns the HTML.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text without markup. Elements that end a line become line breaks, and character references become
    /// characters.
    #[must_use]
    pub fn to_text(&self) -> String {
        if is_plain(&self.0) {
            return self.0.clone();
        }
        let mut text = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some((before, tag_and_more)) = rest.split_once('<').map(|(before, _)| rest.split_at(before.len())) {
            let (tag, behind) = tag_and_more.split_at(tag_length(tag_and_more));
            text.push_str(before);
            if LINE_BREAK_TAGS.contains(&tag) {
                text.push('\n');
            }
            rest = behind;
        }
        text.push_str(rest);
        decode_references(&text).trim_end().to_owned()
    }
}

/// Returns the length of the tag at the start of `html`.
///
/// In sanitized HTML, attribute values are in double quotes and contain none.
fn tag_length(html: &str) -> usize {
    let mut in_value = false;
    let end = html.bytes().position(|byte| {
        in_value ^= byte == b'"';
        byte == b'>' && !in_value
    });
    end.map_or(html.len(), |end| end + 1)
}

/// Maximum number of passes until sanitization must be stable.
const MAX_PASSES: usize = 4;

/// Maximum number of elements that the parser may create in addition to those in the input. Creating them takes some
/// tenths of a second.
const MAX_REPEATED_ELEMENTS: usize = 250_000;

/// Maximum ratio of the output length to the input length. References (`&amp;`) and links (`<a>`) grow most.
const MAX_GROWTH: usize = 2;

/// Output length in bytes that is always allowed. A single short link grows to four times its length.
const MIN_OUTPUT_LIMIT: usize = 4_096;

fn max_output_bytes(raw: &str) -> usize {
    (MAX_GROWTH * raw.len()).max(MIN_OUTPUT_LIMIT)
}

/// Sanitizes until the output is stable.
///
/// The removal of an element can leave others misplaced, such as a `<p>` in a `<p>`, which the next parse would change.
/// HTML that does not become stable, grows too much or is too expensive to parse is escaped as text.
fn clean_until_stable(raw: &str) -> String {
    try_clean_until_stable(raw).unwrap_or_else(|| sanitize(&ammonia::clean_text(&raw.replace('\r', "\n"))))
}

fn try_clean_until_stable(raw: &str) -> Option<String> {
    if repetition::max_repeated_elements(raw) > MAX_REPEATED_ELEMENTS || parse_cost::exceeds_limit(raw) {
        return None;
    }
    let mut html = sanitize(raw);
    for _ in 0..MAX_PASSES {
        if html.len() > max_output_bytes(raw) || parse_cost::exceeds_limit(&html) {
            return None;
        }
        let again = sanitize(&html);
        if again == html {
            return Some(html);
        }
        html = again;
    }
    None
}

fn sanitize(html: &str) -> String {
    // The next parse would drop a byte order mark at the start of the output.
    CLEANER.clean(html).to_string().trim_start_matches('\u{feff}').to_owned()
}

/// Whether sanitization would return the text unchanged.
///
/// This holds for most descriptions and notes, and the HTML parser takes longer than the rest of the request.
fn is_plain(raw: &str) -> bool {
    !raw.bytes().any(|byte| matches!(byte, b'<' | b'>' | b'&' | b'\r'))
        && !raw.contains('\u{a0}')
        && !raw.starts_with('\u{feff}')
}

/// Decodes the four character references that the serializer writes in text (HTML standard, 13.3).
fn decode_references(html: &str) -> String {
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
        // The output is four times as long as the input, which is allowed for short input.
        assert_eq!(clean("<a>x</a>"), r#"<a rel="nofollow noopener">x</a>"#);
        for target in ["javascript:alert(1)", "data:text/html,x", "/relative", "//example.com"] {
            assert_eq!(
                clean(&format!(r#"<a href="{target}">x</a>"#)),
                r#"<a rel="nofollow noopener">x</a>"#,
                "{target}"
            );
        }
    }

    #[test]
    fn active_content_is_removed() {
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
    fn a_byte_order_mark_after_removed_markup_is_removed() {
        assert_eq!(clean("</script>\u{feff}hi"), "hi");
        assert_eq!(clean("a\u{feff}<b>hi</b>"), "a\u{feff}<b>hi</b>");
    }

    #[test]
    fn cleaning_leaves_no_misplaced_elements() {
        let html = clean("<p><select><p>hi</select>");
        assert_eq!(clean(&html), html);
        assert!(html.contains("hi"), "{html}");
    }

    #[test]
    fn markup_that_would_grow_too_much_is_escaped() {
        // The parser would repeat all open elements in each paragraph.
        let open: String = (0..100).map(|n| format!("<b a={n}>")).collect();
        let raw = format!("<p>{open}{}", "<p>x".repeat(200));
        let html = clean(&raw);
        assert!(html.len() < 6 * raw.len() && html.starts_with("&lt;p&gt;&lt;b a=0&gt;"), "{html}");
        assert_eq!(clean(&html), html);
    }

    #[test]
    fn the_longest_hostile_markup_costs_no_more_than_plain_text() {
        let open: String = (0..3_000).map(|n| format!("<b a={n}>")).collect();
        let raw = format!("<p>{open}{}{}", "<p>x".repeat(9_000), "and some text ".repeat(2_000));
        let html = clean(&raw);
        // The input was escaped without being parsed.
        assert_eq!(html, raw.replace('<', "&lt;").replace('>', "&gt;"));
    }

    /// Markup of 100 KB each that takes quadratic time to parse, or that grows.
    fn hostile_shapes() -> Vec<(&'static str, String)> {
        let repeated = [
            "<ul>",
            "<ul><li>",
            "<ol><li>x",
            "<pre>",
            "<div>",
            "<dl><dd>",
            "<span></p>",
            "<blockquote>",
            "<p><blockquote>",
            "<b></p>",
            "<i><b>",
            "<a>x",
            "<a href=x>",
            "<h1><h2>",
            "<table><tr><td>",
            "<table>x",
            "<select><option>",
            "<svg><g>",
            "<math><mi>",
            "<template>",
            "<button><span>",
            "<b><select></b>",
            "<li><ul></li>",
            "<ruby><rt>",
            "<nobr>x",
            "<applet><b>",
            "</p>",
            "</br>",
            "<!---->",
            "<![CDATA[",
            "&amp",
            "<",
            "<span",
            "<b <i",
        ];
        let mut shapes: Vec<_> =
            repeated.into_iter().map(|shape| (shape, shape.repeat(CleanHtml::MAX / shape.len()))).collect();
        let different = |tag: &str| -> String { (0..).map(|n| format!("<{tag} a={n}>")).take(10_000).collect() };
        for (name, mut shape) in [("different <b>", different("b")), ("different <span>", different("span"))] {
            shape.truncate(CleanHtml::MAX);
            shapes.push((name, shape));
        }
        shapes.push(("deep, then many", format!("{}{}", "<ul>".repeat(250), "<b></p>".repeat(14_000))));
        shapes.push(("one attribute", format!("<a {}>x</a>", "a=b ".repeat(20_000))));
        shapes
    }

    #[test]
    fn parse_time_is_bounded_for_hostile_markup() {
        let normal = "<p>We <b>really</b> love <i>it</i></p>".repeat(CleanHtml::MAX / 40);
        let clean = |raw: &str| {
            let began = std::time::Instant::now();
            let outcome = CleanHtml::parse("content", raw).map(|html| html.to_text());
            (began.elapsed(), outcome)
        };
        let (measure, _) = clean(&normal);
        for (name, shape) in hostile_shapes() {
            let (took, outcome) = clean(&shape);
            println!(
                "{name}: {took:?}, {:.1} times normal markup, {}",
                took.as_secs_f64() / measure.as_secs_f64(),
                outcome.is_ok()
            );
            // Without limits these shapes took more than a hundred times as long.
            assert!(
                took < measure * 20 + std::time::Duration::from_millis(500),
                "{name}: {took:?}, normal: {measure:?}"
            );
        }
    }

    #[test]
    fn markup_nested_too_deeply_is_escaped() {
        let raw = format!("{}{}", "<ul><li>".repeat(300), "some text ".repeat(500));
        assert_eq!(clean(&raw), raw.replace('<', "&lt;").replace('>', "&gt;"));
        // The escaped text would be too long.
        assert!(CleanHtml::parse("content", &"<ul><li>".repeat(2_000)).is_err());
        let nested = format!("{}x{}", "<blockquote>".repeat(100), "</blockquote>".repeat(100));
        assert_eq!(clean(&nested), nested);
    }

    #[test]
    fn too_long_output_is_rejected_with_the_field_name() {
        for (raw, refused) in [
            ("<a>x".repeat(25_000), true),
            ("&".repeat(100_000), true),
            ("<a href=\"https://a.example\">x</a>".repeat(3_000), false),
            ("a && b < c\n".repeat(9_000), false),
            ("<a>x</a>".repeat(100), false),
        ] {
            let outcome = CleanHtml::parse("content", &raw);
            let sentence =
                "content has too much markup, it must not become more than 2 times as long when it is cleaned";
            assert_eq!(
                outcome.as_ref().err().map(ToString::to_string).as_deref(),
                refused.then_some(sentence),
                "{raw:.20}"
            );
            if let Ok(html) = outcome {
                assert!(html.as_str().len() <= (2 * raw.len()).max(4_096));
            }
        }
    }

    #[test]
    fn required_html_needs_text() {
        for raw in ["", "  ", "<p> </p>", "<br>", "<script>x</script>", "<p>&nbsp;</p>", "<img src=x>"] {
            assert_eq!(CleanHtml::parse("content", raw).unwrap_err(), FieldError::missing("content"), "{raw}");
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

    /// Markup of fragments that have broken sanitizers: elements that switch the parser's mode, open quotes, odd link
    /// targets.
    fn hostile_markup() -> impl Strategy<Value = String> {
        let fragments = [
            "<p>",
            "</p>",
            "<b>",
            "</b>",
            "<i>",
            "<a href=\"",
            "<a href='",
            "https://a.example/?b=1&c=2",
            "javascript:alert(1)",
            "JaVa\tScript:x",
            "mailto:a@b.example",
            "data:text/html,x",
            "\">",
            "'>",
            "\"",
            "'",
            "=",
            " onclick=x()",
            " style=\"x\"",
            " rel=\"x\"",
            "<script>",
            "</script>",
            "<style>",
            "</style>",
            "<svg>",
            "</svg>",
            "<math>",
            "<mtext>",
            "<mglyph>",
            "<foreignObject>",
            "<template>",
            "<noscript>",
            "<textarea>",
            "</textarea>",
            "<title>",
            "<table>",
            "<tr>",
            "<td>",
            "<select>",
            "<iframe srcdoc=\"",
            "<img src=x onerror=x()>",
            "<form>",
            "<input>",
            "<!--",
            "-->",
            "--!>",
            "<![CDATA[",
            "]]>",
            "<!",
            "<?",
            "</",
            "<",
            ">",
            "&lt;",
            "&gt;",
            "&amp;",
            "&#x6a;",
            "&#0;",
            "&",
            "\r\n",
            "\u{a0}",
            "\u{feff}",
            "\u{202e}",
            "text ",
        ];
        let piece = prop_oneof![
            6 => prop::sample::select(fragments.to_vec()).prop_map(str::to_owned),
            1 => "[a-z ]{0,6}",
            1 => any::<char>().prop_filter("NUL is rejected", |character| *character != '\0').prop_map(String::from),
        ];
        prop::collection::vec(piece, 0..25).prop_map(|pieces| pieces.concat())
    }

    /// Returns the contents of all tags in serialized HTML. A `>` in an attribute value does not end a tag.
    fn tags(html: &str) -> Vec<String> {
        let (mut tags, mut open, mut quoted) = (Vec::new(), None::<String>, false);
        for character in html.chars() {
            match &mut open {
                None if character == '<' => open = Some(String::new()),
                None => {}
                Some(_) if character == '>' && !quoted => tags.extend(open.take()),
                Some(tag) => {
                    quoted ^= character == '"';
                    tag.push(character);
                }
            }
        }
        assert_eq!(open, None, "unterminated tag: {html}");
        tags
    }

    /// Whether a tag and its attributes are allowed.
    fn is_allowed(tag: &str) -> bool {
        let name = tag.strip_prefix('/').unwrap_or(tag);
        let Some(attributes) = name.strip_prefix("a ") else { return ALLOWED_ELEMENTS.contains(&name) && tag != "a" };
        let Some(target) = attributes.strip_suffix("rel=\"nofollow noopener\"") else { return false };
        let target = target.strip_prefix("href=\"").and_then(|rest| rest.strip_suffix("\" "));
        attributes == "rel=\"nofollow noopener\""
            || target.is_some_and(|target| {
                let target = target.trim_start().to_lowercase();
                !target.contains('"') && ["http:", "https:", "mailto:"].iter().any(|scheme| target.starts_with(scheme))
            })
    }

    #[test]
    fn the_test_parser_recognizes_allowed_tags() {
        for tag in ["p", "/p", "a rel=\"nofollow noopener\"", "/a", "a href=\"https://x\" rel=\"nofollow noopener\""] {
            assert!(is_allowed(tag), "{tag}");
        }
        for tag in
            ["script", "/svg", "p class=\"x\"", "a", "a href=\"javascript:x\" rel=\"nofollow noopener\"", "!--", ""]
        {
            assert!(!is_allowed(tag), "{tag}");
        }
        assert_eq!(tags("a<p>b<a href=\"x>y\">c</a>"), ["p", "a href=\"x>y\"", "/a"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn hostile_markup_is_reduced_to_allowed_elements(raw in hostile_markup()) {
            let once = clean(&raw);
            for tag in tags(&once) {
                prop_assert!(is_allowed(&tag), "<{}> in {}", tag, once);
            }
            prop_assert_eq!(clean(&once), once);
        }

        #[test]
        fn too_long_input_is_rejected_before_cleaning(raw in hostile_markup(), max in 0_usize..60) {
            let outcome = CleanHtml::parse_optional("content", &raw, max);
            prop_assert_eq!(outcome.is_err(), raw.chars().count() > max);
        }
    }

    proptest! {
        #[test]
        fn cleaning_twice_changes_nothing(raw in r#"[<>a-z&;/"'= \n!-]{0,80}"#) {
            let once = clean(&raw);
            prop_assert_eq!(clean(&once), once);
        }

        #[test]
        fn plain_text_is_unchanged_by_the_parser(raw in r#"[^<>&\r\u{a0}\x00]{0,60}"#) {
            prop_assume!(is_plain(&raw));
            prop_assert_eq!(CLEANER.clean(&raw).to_string(), clean(&raw));
        }
    }
}
