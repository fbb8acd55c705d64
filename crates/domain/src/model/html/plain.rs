//! Plain text as HTML.

use super::tree::{self, Node, NodeData};

/// Returns text without any element as HTML that shows it.
///
/// Character references are read. A blank line separates paragraphs, and other line breaks stay. A single line gets no
/// element.
pub(super) fn to_html(raw: &str) -> String {
    let text = if raw.contains('&') { decode_references(raw) } else { raw.to_owned() };
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    break_lines(&escape(&text))
}

/// Returns escaped text with elements for its line breaks.
pub(super) fn break_lines(escaped: &str) -> String {
    let lines: Vec<&str> = escaped.split('\n').collect();
    let paragraphs: Vec<&[&str]> =
        lines.split(|line| line.trim().is_empty()).filter(|lines| !lines.is_empty()).collect();
    match paragraphs.as_slice() {
        [] => String::new(),
        [[line]] => (*line).to_owned(),
        paragraphs => paragraphs.iter().map(|lines| format!("<p>{}</p>", lines.join("<br>"))).collect(),
    }
}

/// Escapes text as the HTML standard serializes it (13.3).
pub(super) fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    push_escaped(&mut html, text);
    html
}

/// Appends escaped text.
pub(super) fn push_escaped(html: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '\u{a0}' => html.push_str("&nbsp;"),
            other => html.push(other),
        }
    }
}

/// Decodes the character references of sanitized HTML.
pub(crate) fn unescape(html: &str) -> String {
    html.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&nbsp;", "\u{a0}")
        .replace("&amp;", "&")
}

/// Decodes the character references that end with a semicolon. Others are more often parts of addresses:
/// `?a=1&copy=2`.
fn decode_references(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    let mut has_references = false;
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<']) {
        let (before, from) = rest.split_at(at);
        html.push_str(before);
        let behind = from.get(1..).unwrap_or_default();
        if from.starts_with('<') {
            html.push_str("&lt;");
        } else if is_reference(behind) {
            has_references = true;
            html.push('&');
        } else {
            html.push_str("&amp;");
        }
        rest = behind;
    }
    html.push_str(rest);
    if !has_references {
        return text.to_owned();
    }
    let mut decoded = String::with_capacity(text.len());
    collect_text(&tree::parse(&html), &mut decoded);
    decoded
}

/// Maximum length of a name of a character reference: `CounterClockwiseContourIntegral`.
const MAX_REFERENCE: usize = 31;

/// Whether a character reference goes on like this after its `&`.
fn is_reference(text: &str) -> bool {
    let beginning = text.get(..text.floor_char_boundary(MAX_REFERENCE + 1)).unwrap_or_default();
    let Some((name, _)) = beginning.split_once(';') else { return false };
    let digits = name.strip_prefix('#').unwrap_or(name);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn collect_text(node: &Node, text: &mut String) {
    if let NodeData::Text(own) = &node.data {
        text.push_str(&own.borrow());
    }
    for child in node.children.borrow().iter() {
        collect_text(child, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_and_a_single_line_gets_no_element() {
        for (raw, html) in [
            ("", ""),
            ("one line", "one line"),
            ("\n one line \n", " one line "),
            ("a\nb", "<p>a<br>b</p>"),
            ("a\r\nb\rc", "<p>a<br>b<br>c</p>"),
            ("a\n\nb\n \n\n  c\nd\n", "<p>a</p><p>b</p><p>  c<br>d</p>"),
            (" \n ", ""),
            ("\u{feff}a", "a"),
        ] {
            assert_eq!(to_html(raw), html, "{raw:?}");
        }
    }

    #[test]
    fn character_references_are_read() {
        for (raw, html) in [
            ("AT&T & x<y", "AT&amp;T &amp; x&lt;y"),
            ("AT&amp;T", "AT&amp;T"),
            ("&lt;b&gt; &eacute;&#8364;&#x20AC;", "&lt;b&gt; é€€"),
            ("a&nbsp;b\u{a0}c", "a&nbsp;b&nbsp;c"),
            ("&amp;lt;", "&amp;lt;"),
            ("/?a=1&copy=2&lang=en", "/?a=1&amp;copy=2&amp;lang=en"),
            ("/?a=1&amp;copy=2", "/?a=1&amp;copy=2"),
            ("&unknown; &; &#; &#x;", "&amp;unknown; &amp;; &amp;#; &amp;#x;"),
        ] {
            assert_eq!(to_html(raw), html, "{raw:?}");
            assert_eq!(to_html(html), html, "{raw:?}");
        }
    }
}
