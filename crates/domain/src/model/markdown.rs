//! Markdown that people type on pages (CommonMark 0.31, with strikethrough).

mod editable;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd, html};

use crate::error::Validated;
use crate::model::html::CleanHtml;
use crate::model::text;

pub use editable::{Editable, to_editable};

/// Maximum number of characters of a typed text.
pub const MAX: usize = 20_000;

/// Converts Markdown into sanitized HTML. A single line break stays one. HTML is shown as it was typed. An image becomes
/// a link.
///
/// # Errors
/// Blank, too long, with a NUL character, or with too much markup.
pub fn to_html(field: &str, markdown: &str) -> Validated<CleanHtml> {
    text::validate_text(field, markdown, MAX)?;
    CleanHtml::parse(field, &convert(markdown))
}

/// Converts Markdown that may be blank.
///
/// # Errors
/// Too long, with a NUL character, or with too much markup.
pub fn to_optional_html(field: &str, markdown: &str) -> Validated<String> {
    text::validate_text(field, markdown, MAX)?;
    Ok(CleanHtml::parse_optional(field, &convert(markdown), CleanHtml::MAX)?.as_str().to_owned())
}

fn convert(markdown: &str) -> String {
    let events = Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH).map(|event| match event {
        Event::SoftBreak => Event::HardBreak,
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        // A picture of another server would be loaded from there by everybody who reads the text.
        Event::Start(Tag::Image { dest_url, title, id, .. }) => {
            Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, title, id })
        }
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        event => event,
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
            ("57. foo\n58. bar", "<ol start=\"57\">\n<li>foo</li>\n<li>bar</li>\n</ol>"),
            (
                "List<String> <john@x.example>!",
                "<p>List&lt;String&gt; <a href=\"mailto:john@x.example\" rel=\"nofollow noopener\">john@x.example</a>!</p>",
            ),
            (
                "<https://example.com>",
                "<p><a href=\"https://example.com\" rel=\"nofollow noopener\">https://example.com</a></p>",
            ),
        ] {
            assert_eq!(html(markdown), expected);
        }
    }

    #[test]
    fn texts_are_bounded_as_they_were_typed() {
        assert_eq!(to_html("content", " \n "), Err(FieldError::missing("content")));
        assert_eq!(to_html("content", "![](https://x.example/i.png)"), Err(FieldError::missing("content")));
        let long = to_html("content", &"a".repeat(MAX + 1)).unwrap_err();
        assert_eq!(long.to_string(), "content must be at most 20000 characters long");
        assert_eq!(to_optional_html("description", "").unwrap(), "");
        assert!(to_optional_html("description", "a\0b").is_err());
    }
}
