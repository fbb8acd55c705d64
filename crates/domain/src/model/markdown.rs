//! Markdown that people type on pages (CommonMark 0.31, with strikethrough and with links for bare addresses).

mod editable;

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

use crate::error::Validated;
use crate::model::html::{CleanHtml, find_addresses};
use crate::model::id::AttachmentId;
use crate::model::picture;
use crate::model::text::{self, truncate};

pub use editable::{Editable, to_editable};

/// Maximum number of characters of a typed text.
pub const MAX: usize = 20_000;

/// Converts Markdown into sanitized HTML. A single line break stays one. HTML is shown as it was typed. A bare address and a
/// picture of another site become links.
///
/// # Errors
/// Blank, too long, with a NUL character, or with too much markup.
pub fn to_html(field: &str, markdown: &str) -> Validated<CleanHtml> {
    text::validate_text(field, markdown, MAX)?;
    Ok(CleanHtml::parse(field, &convert(markdown))?.with_linked_addresses())
}

/// Converts Markdown that may be blank.
///
/// # Errors
/// Too long, with a NUL character, or with too much markup.
pub fn to_optional_html(field: &str, markdown: &str) -> Validated<String> {
    text::validate_text(field, markdown, MAX)?;
    let html = CleanHtml::parse_optional(field, &convert(markdown), CleanHtml::MAX)?;
    Ok(html.with_linked_addresses().as_str().to_owned())
}

/// Converts a text of another program, which may be Markdown with HTML in it, into sanitized HTML. Otherwise as [`to_html`].
///
/// # Errors
/// With a NUL character, or with too much markup.
pub fn imported_to_html(field: &str, markdown: &str) -> Validated<CleanHtml> {
    let html = CleanHtml::parse_optional(field, &convert_events(markdown, |raw| raw), CleanHtml::MAX)?;
    Ok(html.with_linked_addresses())
}

/// Returns how many pictures of a text are not those of the workspace, so that they become links.
#[must_use]
pub fn foreign_pictures(markdown: &str) -> usize {
    // Most texts have none.
    if !markdown.contains("![") {
        return 0;
    }
    let is_foreign = |event: &Event<'_>| matches!(event, Event::Start(Tag::Image { dest_url, .. }) if picture::parse_path(dest_url).is_none());
    parser(markdown).filter(is_foreign).count()
}

/// Returns Markdown for a picture with this name.
#[must_use]
pub fn of_picture(picture: AttachmentId, name: &str) -> String {
    let is_kept = |character: &char| !matches!(character, '[' | ']' | '\\' | '`' | '<' | '>');
    let name: String = name.chars().filter(is_kept).collect();
    format!("![{}]({})", name.trim(), picture::path(picture))
}

/// Maximum number of characters of a quoted text.
const MAX_QUOTED: usize = 300;

/// Returns the beginning of a text as a quotation, for a reply to it. `intro` becomes a link to `url`.
#[must_use]
pub fn quotation(intro: &str, url: &str, text: &CleanHtml) -> String {
    let text = text.to_text();
    let cut = truncate(&text, MAX_QUOTED);
    let more = if cut.len() < text.len() { "…" } else { "" };
    let lines = cut.trim().lines().map(|line| format!("\n> {}", escape(line)));
    format!("> [{}]({url})\n>{}{more}\n\n", escape(intro), lines.collect::<String>())
}

/// Returns a line of text as Markdown that means the same. Addresses stay as they are.
fn escape(line: &str) -> String {
    let is_mark = |character: char| character.is_ascii_punctuation() && !",.:;?'\"/@%".contains(character);
    let words = line.split_whitespace().enumerate().map(|(place, word)| {
        let mut escaped = String::with_capacity(word.len());
        for character in word.chars() {
            // A number at the beginning would be that of a list.
            let is_number = character == '.' && place == 0 && escaped.bytes().all(|byte| byte.is_ascii_digit());
            if (is_mark(character) || is_number) && !word.contains("://") {
                escaped.push('\\');
            }
            escaped.push(character);
        }
        escaped
    });
    words.collect::<Vec<_>>().join(" ")
}

fn parser(markdown: &str) -> Parser<'_> {
    Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH)
}

/// Escapes what would be emphasis inside of a bare address: `https://a.example/__init__.py`.
fn escape_addresses(markdown: &str) -> Cow<'_, str> {
    let is_mark = |character: char| matches!(character, '*' | '_' | '~');
    let has_mark = |address: &Range<usize>| markdown.get(address.clone()).is_some_and(|url| url.contains(is_mark));
    let mut addresses = find_addresses(markdown).filter(has_mark).peekable();
    if addresses.peek().is_none() {
        return Cow::Borrowed(markdown);
    }
    let mut escaped = String::with_capacity(markdown.len() + 64);
    let mut copied = 0;
    // Links, pictures and code blocks around an event.
    let mut unlinked = 0_usize;
    for (event, range) in parser(markdown).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_)) => unlinked += 1,
            Event::End(TagEnd::Link | TagEnd::Image | TagEnd::CodeBlock) => unlinked = unlinked.saturating_sub(1),
            Event::Text(_) if unlinked == 0 => {
                while let Some(address) = addresses.next_if(|address| address.start < range.end) {
                    if address.start < range.start {
                        continue;
                    }
                    escaped.push_str(markdown.get(copied..address.start).unwrap_or_default());
                    for character in markdown.get(address.clone()).unwrap_or_default().chars() {
                        if is_mark(character) {
                            escaped.push('\\');
                        }
                        escaped.push(character);
                    }
                    copied = address.end;
                }
            }
            _ => {}
        }
    }
    escaped.push_str(markdown.get(copied..).unwrap_or_default());
    Cow::Owned(escaped)
}

/// Converts Markdown into HTML that is not sanitized. HTML in it is shown as it was typed.
fn convert(markdown: &str) -> String {
    convert_events(markdown, |event| match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        event => event,
    })
}

fn convert_events(markdown: &str, map: impl Fn(Event<'_>) -> Event<'_>) -> String {
    let markdown = escape_addresses(markdown);
    // The URL of a picture without any text so far.
    let mut unnamed = None;
    let events = parser(&markdown).flat_map(|event| {
        let unnamed_before = unnamed.take();
        let (first, second) = match map(event) {
            Event::SoftBreak => (Event::HardBreak, None),
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                unnamed = Some(dest_url.clone()).filter(|url| picture::parse_path(url).is_none());
                (Event::Start(Tag::Image { link_type, dest_url, title, id }), None)
            }
            // Without a text it would be a decoration, of which nothing stays.
            Event::End(TagEnd::Image) => match unnamed_before {
                Some(url) => (Event::Text(url), Some(Event::End(TagEnd::Image))),
                None => (Event::End(TagEnd::Image), None),
            },
            event => (event, None),
        };
        std::iter::once(first).chain(second)
    });
    let mut converted = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut converted, events);
    converted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FieldError;

    fn html(markdown: &str) -> String {
        to_html("content", markdown).unwrap().as_str().trim_end().to_owned()
    }

    #[test]
    fn pictures_of_the_workspace_are_shown_and_others_counted() {
        let id = AttachmentId::new(uuid::Uuid::from_u128(7));
        let own = of_picture(id, " a [b] `c`\\ <d>");
        assert_eq!(own, "![a b c d](/pictures/00000000-0000-0000-0000-000000000007)");
        let shown = "<p><img src=\"/pictures/00000000-0000-0000-0000-000000000007\" alt=\"a b c d\"></p>";
        assert_eq!(html(&own), shown);
        let other = "![](https://x.example/pictures/00000000-0000-0000-0000-000000000007)";
        for (text, foreign) in [(&*own, 0), (other, 1), ("![a](b) ![c][d]\n\n[d]: e", 2), ("\\![a](b) `![a](b)`", 0)] {
            assert_eq!(foreign_pictures(&format!("{text}\n\n{own}")), foreign, "{text}");
        }
    }

    #[test]
    fn a_quotation_is_the_text_and_nothing_else() {
        let url = "https://a.example/feature_requests/7-x#comment-00000000-0000-0000-0000-000000000001";
        for (text, shown) in [
            ("<p>Yes</p>", "Yes"),
            ("<p>a <b>b</b> *c* _d_ [e](f) # g</p><ul><li>1. h</li></ul>", "a b *c* _d_ [e](f) # g\n1. h"),
            ("&lt;b&gt; &amp;amp; `c` | ~~d~~ \\ !", "<b> &amp; `c` | ~~d~~ \\ !"),
            ("<p># one</p><p>&gt; two</p><p>- three</p><p>===</p>", "# one\n\n> two\n\n- three\n\n==="),
            ("<p>1. one</p><p>v1.2 and 3.</p>", "1. one\n\nv1.2 and 3."),
            ("<p>https://b.example/__init__.py</p>", "https://b.example/__init__.py"),
        ] {
            let quoted = quotation("Ann [x](y) wrote", url, &CleanHtml::parse("content", text).unwrap());
            let html = to_html("content", &format!("{quoted}My answer")).unwrap();
            assert_eq!(html.linked_comments().len(), 1, "{quoted}");
            let lines = |text: &str| {
                text.lines().map(str::trim).filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(lines(&html.to_text()), lines(&format!("Ann [x](y) wrote\n{shown}\nMy answer")), "{quoted}");
        }
        let long = quotation("Ann wrote", url, &CleanHtml::parse("content", &"ä ".repeat(400)).unwrap());
        assert!(long.ends_with("…\n\n") && long.chars().count() < 450, "{long}");
    }

    #[test]
    fn markup_becomes_html_and_html_stays_text() {
        for (markdown, expected) in [
            ("**bold** and *it*", "<p><strong>bold</strong> and <em>it</em></p>"),
            ("one\ntwo", "<p>one<br>\ntwo</p>"),
            ("~~gone~~", "<p><del>gone</del></p>"),
            ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
            ("<b onclick=x>no</b>", "<p>&lt;b onclick=x&gt;no&lt;/b&gt;</p>"),
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("[a](javascript:alert(1))", "<p><a rel=\"nofollow noopener\">a</a></p>"),
            (
                "![i](https://x.example/i.png) text",
                "<p><a href=\"https://x.example/i.png\" rel=\"nofollow noopener\">i</a> text</p>",
            ),
            (
                "![](https://x.example/i.png)",
                "<p><a href=\"https://x.example/i.png\" rel=\"nofollow noopener\">https://x.example/i.png</a></p>",
            ),
            ("57. foo\n58. bar", "<ol start=\"57\">\n<li>foo</li>\n<li>bar</li>\n</ol>"),
            (
                "List<String> <john@x.example>!",
                "<p>List&lt;String&gt; <a href=\"mailto:john@x.example\" rel=\"nofollow noopener\">john@x.example</a>!</p>",
            ),
            (
                "See https://a.example/?b&c, **https://d.example** (https://e.example)",
                "<p>See <a href=\"https://a.example/?b&amp;c\" rel=\"nofollow noopener\">https://a.example/?b&amp;c</a>, \
                <strong><a href=\"https://d.example\" rel=\"nofollow noopener\">https://d.example</a></strong> \
                (<a href=\"https://e.example\" rel=\"nofollow noopener\">https://e.example</a>)</p>",
            ),
            (
                "*a* https://b.example/__init__.py?c=~d~ *e*",
                "<p><em>a</em> <a href=\"https://b.example/__init__.py?c=~d\" rel=\"nofollow noopener\">\
                https://b.example/__init__.py?c=~d</a>~ <em>e</em></p>",
            ),
            (
                "https\\://a.example/b\\_c https://d.example/?e&amp;f",
                "<p><a href=\"https://a.example/b_c\" rel=\"nofollow noopener\">https://a.example/b_c</a> \
                <a href=\"https://d.example/?e&amp;f\" rel=\"nofollow noopener\">https://d.example/?e&amp;f</a></p>",
            ),
            (
                "[https://a.example/_b_](https://c.example/_d_) `https://e.example/_f_`",
                "<p><a href=\"https://c.example/_d_\" rel=\"nofollow noopener\">https://a.example/<em>b</em></a> \
                <code>https://e.example/_f_</code></p>",
            ),
            ("```\nhttps://a.example/_b_\n```", "<pre><code>https://a.example/_b_\n</code></pre>"),
            (
                "<https://example.com>",
                "<p><a href=\"https://example.com\" rel=\"nofollow noopener\">https://example.com</a></p>",
            ),
        ] {
            assert_eq!(html(markdown), expected);
        }
    }

    #[test]
    fn html_of_other_programs_is_cleaned() {
        for (text, expected) in [
            ("**bold** <b onclick=x>yes</b>\nnext", "<p><strong>bold</strong> <b>yes</b><br>\nnext</p>"),
            ("List<String> and Map<K, V>", "<p>List&lt;String&gt; and Map&lt;K, V&gt;</p>"),
            ("<script>alert(1)</script>ok", "ok"),
            ("<p>one</p>\n<p>two</p>", "<p>one</p>\n<p>two</p>"),
            (
                "<img src=\"https://x.example/i.png\" alt=\"i\">",
                "<a href=\"https://x.example/i.png\" rel=\"nofollow noopener\">i</a>",
            ),
            (
                "![](https://x.example/i.png)",
                "<p><a href=\"https://x.example/i.png\" rel=\"nofollow noopener\">https://x.example/i.png</a></p>",
            ),
            ("<a href=\"javascript:x\">a</a>", "<p><a rel=\"nofollow noopener\">a</a></p>"),
            ("1 < 2 && 3 > 2", "<p>1 &lt; 2 &amp;&amp; 3 &gt; 2</p>"),
            ("", ""),
        ] {
            let html = imported_to_html("description", text).unwrap();
            assert_eq!(html.as_str().trim(), expected, "{text}");
        }
        assert!(imported_to_html("description", "a\0").is_err());
    }

    #[test]
    fn texts_are_bounded_as_they_were_typed() {
        assert_eq!(to_html("content", " \n "), Err(FieldError::missing("content")));
        assert_eq!(to_html("content", "![](javascript:x)"), Err(FieldError::missing("content")));
        let long = to_html("content", &"a".repeat(MAX + 1)).unwrap_err();
        assert_eq!(long.to_string(), "content must be at most 20000 characters long");
        assert_eq!(to_optional_html("description", "").unwrap(), "");
        assert!(to_optional_html("description", "a\0b").is_err());
    }
}
