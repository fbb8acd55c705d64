//! Sanitized HTML from clients.

mod addresses;
mod markup;
mod parse_cost;
mod plain;
mod repetition;
mod simplify;
mod tree;
mod visible;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use ammonia::Builder;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::attachment::Dimensions;
use crate::model::html::markup::Markup;
use crate::model::html::simplify::simplify;
use crate::model::id::{AttachmentId, CommentId, parse_uuid};
use crate::model::picture::{self, Picture};
use crate::model::text;

pub(crate) use addresses::find_addresses;
pub(crate) use plain::unescape;

/// Sanitized HTML, which is safe to show.
///
/// It shows what a browser would show of the input, on the same lines. Text without any HTML element is plain text, and
/// keeps its line breaks. In HTML, an allow-list keeps text elements and links; other elements become those that look
/// alike, and what only looks like an element stays as text. Scripts, styles, comments, hidden parts, forms and all other
/// attributes are removed. Links keep `http`, `https` and `mailto` targets and get `rel="nofollow noopener"`. Pictures stay
/// if their source is the path of one ([`picture::path`]); others become links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanHtml(String);

const ALLOWED_ELEMENTS: [&str; 25] = [
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
    "img",
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
        .tag_attributes(
            [("a", HashSet::from(["href"])), ("img", HashSet::from(["src", "alt"])), ("ol", HashSet::from(["start"]))]
                .into(),
        )
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(ammonia::UrlRelative::Custom(Box::new(path_of_picture)))
        .link_rel(Some("nofollow noopener"))
        .strip_comments(true);
    cleaner
});

/// Returns a relative URL that may stay.
fn path_of_picture(url: &str) -> Option<Cow<'_, str>> {
    picture::parse_path(url).map(|_| Cow::Borrowed(url))
}

impl CleanHtml {
    /// Maximum number of characters of a note, a comment or a changelog before sanitization.
    pub const MAX: usize = 100_000;

    /// Sanitizes required HTML.
    ///
    /// # Errors
    /// Without text after sanitization, too long, with a NUL character, or with too much markup.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let clean = Self::parse_optional(field, raw, Self::MAX)?;
        if clean.to_text().trim().is_empty() && !clean.has_pictures() {
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
        let raw = &*text::drop_invisible(raw);
        if is_plain(raw) {
            return Ok(Self(raw.to_owned()));
        }
        let html = match markup::recognize(raw) {
            Markup::Plain => plain::to_html(raw),
            Markup::Html(html) => clean(&html).unwrap_or_else(|| plain::break_lines(&plain::escape(raw))),
        };
        if html.len() > max_output_bytes(raw) {
            return Err(FieldError::new(field, FieldProblem::TooMuchMarkup { growth: MAX_GROWTH }));
        }
        // Character references may have become such characters, too.
        Ok(Self(text::drop_invisible(&html).into_owned()))
    }

    /// Returns HTML that shows a text as it is, on the same lines.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        Self(text::drop_invisible(&plain::break_lines(&plain::escape(text))).into_owned())
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

    /// Returns the HTML for a page or a mail: stored text without any element, from before such texts got elements for
    /// their line breaks, with these elements.
    #[must_use]
    pub fn to_display(&self) -> Cow<'_, str> {
        if self.0.contains('\n') && !self.0.contains('<') {
            return Cow::Owned(plain::break_lines(&self.0));
        }
        Cow::Borrowed(&self.0)
    }

    /// Returns the HTML with links for bare addresses (`https://…`) outside of links and code, for texts that people type.
    #[must_use]
    pub fn with_linked_addresses(&self) -> Self {
        Self(addresses::link(&self.0))
    }

    /// Whether there is a picture.
    #[must_use]
    pub fn has_pictures(&self) -> bool {
        self.0.contains(PICTURE)
    }

    /// Returns the pictures in their order.
    #[must_use]
    pub fn pictures(&self) -> Vec<AttachmentId> {
        let path = |tag: &str| picture::parse_path(PictureElement::parse(tag).source);
        self.0.split(PICTURE).skip(1).filter_map(path).collect()
    }

    /// Returns the comments to which it links, each once: whoever quotes a comment links to it ([`markdown::quotation`]).
    ///
    /// [`markdown::quotation`]: crate::model::markdown::quotation
    #[must_use]
    pub fn linked_comments(&self) -> Vec<CommentId> {
        let id =
            |rest: &str| parse_uuid("comment", rest.split('"').next().unwrap_or_default()).ok().map(CommentId::new);
        let links = self.0.split("<a href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let mut linked = Vec::new();
        for comment in links.filter_map(|link| link.split_once(COMMENT_MARK)).filter_map(|(_, rest)| id(rest)) {
            if !linked.contains(&comment) {
                linked.push(comment);
            }
        }
        linked
    }

    /// Writes the width and the height of these pictures to their elements, so that a page does not jump when they arrive.
    #[must_use]
    pub fn with_dimensions(&self, pictures: &[Picture]) -> Self {
        Self(self.map_pictures(|element| {
            let found = pictures.iter().find(|picture| picture::parse_path(element.source) == Some(picture.id));
            let size = found.and_then(|picture| picture.dimensions);
            PictureElement { dimensions: size, ..element }.to_string()
        }))
    }

    /// Replaces the pictures by their alternative texts.
    #[must_use]
    pub fn without_pictures(&self) -> Self {
        Self(self.map_pictures(|element| element.alternative.to_owned()))
    }

    /// Returns the HTML with what `replace` returns for each picture.
    pub fn map_pictures(&self, replace: impl Fn(PictureElement<'_>) -> String) -> String {
        let mut parts = self.0.split(PICTURE);
        let mut html = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (tag, behind) = part.split_at(end_of_tag(part));
            html.push_str(&replace(PictureElement::parse(tag)));
            html.push_str(behind.strip_prefix('>').unwrap_or(behind));
        }
        html
    }

    /// Returns HTML in which the paths of pictures are URLs that begin with `base`, for mails, feeds and programs.
    #[must_use]
    pub fn with_absolute_pictures<'a>(html: &'a str, base: &str) -> Cow<'a, str> {
        match html.contains(PICTURE) {
            true => Cow::Owned(html.replace(PICTURE, &format!("{PICTURE}{base}"))),
            false => Cow::Borrowed(html),
        }
    }

    /// Returns the text that the HTML shows, with its line breaks. A picture is its alternative text.
    #[must_use]
    pub fn to_text(&self) -> String {
        visible::text(&self.0, usize::MAX).0
    }

    /// Returns the first `max` bytes of that text, without half a character, and whether there is more.
    #[must_use]
    pub fn beginning(&self, max: usize) -> (String, bool) {
        visible::text(&self.0, max)
    }
}

/// What stands before the ID in a link to a comment, the anchor on the page of its feature request.
pub const COMMENT_MARK: &str = "#comment-";

/// The beginning of a picture in sanitized HTML, before its path. A text or an attribute has no `<`.
const PICTURE: &str = "<img src=\"";

/// The element of a picture in sanitized HTML. Shown, it is HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureElement<'a> {
    /// The path of the picture.
    pub source: &'a str,
    /// The alternative text, escaped.
    pub alternative: &'a str,
    /// Width and height as it is shown.
    pub dimensions: Option<Dimensions>,
}

impl<'a> PictureElement<'a> {
    /// Parses a tag without its [`PICTURE`].
    fn parse(tag: &'a str) -> Self {
        let value = |name: &str| tag.split_once(name).and_then(|(_, rest)| rest.split('"').next());
        let length = |name: &str| value(name).and_then(|length| length.parse().ok());
        let size = length(" width=\"").zip(length(" height=\""));
        Self {
            source: tag.split('"').next().unwrap_or_default(),
            alternative: value(" alt=\"").unwrap_or_default(),
            dimensions: size.map(|(width, height)| Dimensions { width, height }),
        }
    }
}

impl std::fmt::Display for PictureElement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { source, alternative, dimensions } = self;
        write!(f, "{PICTURE}{source}\" alt=\"{alternative}\"")?;
        if let Some(Dimensions { width, height }) = dimensions {
            write!(f, " width=\"{width}\" height=\"{height}\"")?;
        }
        f.write_str(">")
    }
}

/// Returns the number of bytes until the `>` of a tag that begins inside of a quoted value.
fn end_of_tag(html: &str) -> usize {
    let mut is_quoted = true;
    let end = html.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b'>' && !is_quoted
    });
    end.unwrap_or(html.len())
}

/// Maximum number of passes until sanitization must be stable.
const MAX_PASSES: usize = 5;

/// Maximum number of elements that the parser may create in addition to those in the input. Creating them takes some
/// tenths of a second.
const MAX_REPEATED_ELEMENTS: usize = 250_000;

/// Maximum ratio of the output length to the input length. References (`&amp;`) and links (`<a>`) grow most.
const MAX_GROWTH: usize = 2;

/// Output length in bytes that is always allowed. A single short link grows to four times its length.
const MIN_OUTPUT_LIMIT: usize = 4_096;

/// Additional bytes for each line break of the input, which may become `</p><p>`.
const LINE_BREAK_GROWTH: usize = 6;

fn max_output_bytes(raw: &str) -> usize {
    let line_breaks = raw.bytes().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    (MAX_GROWTH * raw.len()).max(MIN_OUTPUT_LIMIT) + LINE_BREAK_GROWTH * line_breaks
}

/// Sanitizes until the output is stable: it has the elements that stay, and neither parsing it again nor the sanitizer
/// changes it. Returns `None` for HTML that does not become stable, grows too much or is too expensive to parse.
fn clean(html: &str) -> Option<String> {
    if repetition::max_repeated_elements(html) > MAX_REPEATED_ELEMENTS {
        return None;
    }
    let max = max_output_bytes(html);
    let mut html = html.to_owned();
    for _ in 0..MAX_PASSES {
        if parse_cost::exceeds_limit(&html) {
            return None;
        }
        let mut again = simplify(&html, max)?;
        // The next parse would drop a byte order mark at the start.
        again = again.trim_start_matches('\u{feff}').to_owned();
        if !again.contains('<') {
            // Without an element, line breaks would be shown.
            again = again.replace(['\n', '\r'], " ");
        }
        if again == html {
            return (CLEANER.clean(&html).to_string() == html).then_some(html);
        }
        html = again;
    }
    None
}

/// Whether sanitization would return the text unchanged.
///
/// This holds for most short texts, and the HTML parser takes longer than the rest of the request.
fn is_plain(raw: &str) -> bool {
    !raw.bytes().any(|byte| matches!(byte, b'<' | b'>' | b'&' | b'\r' | b'\n'))
        && !raw.contains('\u{a0}')
        && !raw.starts_with('\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clean(raw: &str) -> String {
        CleanHtml::parse_optional("content", raw, CleanHtml::MAX).unwrap().as_str().to_owned()
    }

    /// Decision 4.
    #[test]
    fn harmless_markup_stays() {
        let html = "<p>We <strong>love</strong> it</p><ul><li>one</li></ul>";
        assert_eq!(clean(html), html);
    }

    /// Decision 4: links get `rel="nofollow noopener"`.
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

    /// Decision 4: HTML is cleaned on write by an allow-list.
    #[test]
    fn active_content_is_removed() {
        for (raw, left) in [
            ("<script>alert(1)</script>hi", "hi"),
            ("<style>p{}</style>hi", "hi"),
            ("<img src=x onerror=alert(1)>hi", "hi"),
            ("<svg><script>1</script></svg>hi", "hi"),
            ("<form><input></form>hi", "hi"),
            ("<b>hi</b><!-- x -->", "<b>hi</b>"),
            ("<b style='x' class='y'>hi</b>", "<b>hi</b>"),
        ] {
            assert_eq!(clean(raw), left, "{raw}");
        }
    }

    #[test]
    fn text_that_nobody_can_see_is_dropped() {
        // Tag characters, which programs read.
        for raw in ["plain\u{e0041}\u{e0042}", "plain&#xe0041;", "\u{e0041}plain"] {
            assert_eq!(clean(raw), "plain", "{raw:?}");
            assert_eq!(clean(&format!("<b>{raw}</b>")), "<b>plain</b>", "{raw:?}");
        }
        assert_eq!(clean("<p>\u{1f468}\u{200d}\u{1f469}</p>"), "<p>\u{1f468}\u{200d}\u{1f469}</p>");
    }

    #[test]
    fn pictures_of_the_workspace_stay_and_others_become_links() {
        let path = "/pictures/00000000-0000-0000-0000-000000000007";
        let own = format!("<img src=\"{path}\" alt=\"A &amp; &quot;b&quot; &lt;c&gt;\">");
        for (raw, left) in [
            (own.clone(), own.clone()),
            (format!("<p>See {own} here</p>"), format!("<p>See {own} here</p>")),
            (format!("<IMG onerror=x() width=9 src='{path}' class=x>"), format!("<img src=\"{path}\" alt=\"\">")),
            (format!("<div>{own}</div><div>x</div>"), format!("<p>{own}</p><p>x</p>")),
            (format!("<pre>{own}</pre>"), "<pre>A &amp; \"b\" &lt;c&gt;</pre>".to_owned()),
            (format!("<span hidden>{own}</span>x"), "x".to_owned()),
            (format!("<p style='visibility:hidden'>x{own}</p>y"), "y".to_owned()),
            (
                "<img src=https://x.example/a.png?b&c alt='a \"b\"'>".to_owned(),
                "<a href=\"https://x.example/a.png?b&amp;c\" rel=\"nofollow noopener\">a \"b\"</a>".to_owned(),
            ),
            (
                "<img src=https://x.example/a.png>".to_owned(),
                "<a href=\"https://x.example/a.png\" rel=\"nofollow noopener\">https://x.example/a.png</a>".to_owned(),
            ),
            (
                "<a href=https://b.example><img src=https://x.example/a.png alt=logo></a>".to_owned(),
                "<a href=\"https://b.example\" rel=\"nofollow noopener\">logo</a>".to_owned(),
            ),
            ("<img src=https://x.example/a.png width=1 height=1>x".to_owned(), "x".to_owned()),
            ("<img src=data:image/png;base64,AAAA alt=a>x".to_owned(), "x".to_owned()),
            ("<img src=/a.png alt=a><img src=https://x.example/a.png alt=''>".to_owned(), "a".to_owned()),
            (format!("<img src=//x.example{path} alt=a>"), "a".to_owned()),
            (format!("<img src={path}/../x alt=a>"), "a".to_owned()),
        ] {
            assert_eq!(clean(&raw), left, "{raw}");
            assert_eq!(clean(&left), left, "{raw}");
        }
    }

    #[test]
    fn links_to_comments_are_found() {
        let id = |number| CommentId::new(uuid::Uuid::from_u128(number));
        let link = |number| {
            format!("<a href='https://a.example/feature_requests/7-x?comments=2#comment-{}'>x</a>", id(number))
        };
        for (raw, expected) in [
            (format!("{}<p>{}</p>{}", link(2), link(1), link(2)), vec![id(2), id(1)]),
            (format!("<p title=\"#comment-{}\">#comment-{}</p>", id(1), id(1)), vec![]),
            ("<a href='https://a.example/#comment-7'>x</a>".to_owned(), vec![]),
            (format!("<a href='https://a.example/#comment-{}x'>x</a>", id(1)), vec![]),
            ("x".to_owned(), vec![]),
        ] {
            assert_eq!(CleanHtml::parse("content", &raw).unwrap().linked_comments(), expected, "{raw}");
        }
    }

    #[test]
    fn pictures_are_found_sized_and_replaced() {
        let id = |number| AttachmentId::new(uuid::Uuid::from_u128(number));
        let element = |number, alt: &str| format!("<img src=\"{}\" alt=\"{alt}\">", picture::path(id(number)));
        let text = CleanHtml(format!("<p>a{}b{}</p>", element(1, "x &gt; y &amp;"), element(2, "")));
        assert!(text.has_pictures());
        assert_eq!(text.pictures(), [id(1), id(2)]);
        assert_eq!(text.without_pictures().as_str(), "<p>ax &gt; y &amp;b</p>");
        assert_eq!(text.to_text(), "ax > y &b");
        let known = Picture { id: id(2), dimensions: Some(Dimensions { width: 3, height: 4 }) };
        let sized = element(2, "").replace('>', " width=\"3\" height=\"4\">");
        let expected = format!("<p>a{}b{sized}</p>", element(1, "x &gt; y &amp;"));
        assert_eq!(text.with_dimensions(&[known]).as_str(), expected);
        // Saved again, it has the sizes of then.
        assert_eq!(clean(&expected), text.as_str());
        let absolute = CleanHtml::with_absolute_pictures(&expected, "https://a.example");
        assert_eq!(absolute.matches("src=\"https://a.example/pictures/").count(), 2);
        let none = CleanHtml("<p>no <b>picture</b></p>".to_owned());
        assert!(!none.has_pictures() && none.pictures().is_empty());
        assert_eq!((none.without_pictures(), none.with_dimensions(&[known])), (none.clone(), none));
        // A picture is a content.
        assert!(CleanHtml::parse("content", &element(1, "")).is_ok());
    }

    #[test]
    fn a_byte_order_mark_after_removed_markup_is_removed() {
        assert_eq!(clean("</script>\u{feff}hi"), "hi");
        assert_eq!(clean("&#xfeff;<b>hi</b>"), "<b>hi</b>");
    }

    #[test]
    fn cleaning_leaves_no_misplaced_elements() {
        let html = clean("<p><select><p>hi</select>");
        assert_eq!(clean(&html), html);
        assert!(html.contains("hi"), "{html}");
    }

    #[test]
    fn an_element_inside_of_an_equal_one_is_left_out() {
        // The parser repeats all open elements in each paragraph.
        let open: String = (0..100).map(|n| format!("<b a={n}>")).collect();
        let html = clean(&format!("<p>{open}{}", "<p>x".repeat(200)));
        assert_eq!(html, "<p><b>x</b></p>".repeat(200));
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
                assert!(html.as_str().len() <= max_output_bytes(&raw));
            }
        }
    }

    /// Decision 4.
    #[test]
    fn required_html_needs_text() {
        for raw in ["", "  ", "<p> </p>", "<br>", "<script>x</script>", "<p>&nbsp;</p>", "<img src=x>"] {
            assert_eq!(CleanHtml::parse("content", raw).unwrap_err(), FieldError::missing("content"), "{raw}");
        }
        assert!(CleanHtml::parse("content", "<p>x</p>").is_ok());
    }

    /// Decision 3.
    #[test]
    fn text_has_no_markup_left() {
        let html = CleanHtml::parse("description", "<p>1 &lt; 2 &amp;amp; 3</p><p>next<br>line</p>").unwrap();
        assert_eq!(html.to_text(), "1 < 2 &amp; 3\n\nnext\nline");
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
        let is_list_start = |start: &str| start.strip_suffix('"').is_some_and(|start| start.parse::<i32>().is_ok());
        if tag.strip_prefix("ol start=\"").is_some_and(is_list_start) {
            return true;
        }
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
        /// Decision 4.
        #[test]
        fn cleaning_twice_changes_nothing(raw in r#"[<>a-z&;/"'= \n!-]{0,80}"#) {
            let once = clean(&raw);
            prop_assert_eq!(clean(&once), once);
        }
    }
}
