//! Bare addresses in text, the autolinks of GitHub Flavored Markdown 0.29 (section 6.9) with `http://` or `https://`.

use std::ops::Range;

use url::Url;

use super::plain::{escape, unescape};
use super::simplify::target_attributes;
use super::visible::split_tag;

/// Maximum length of an address in bytes. A longer one is no link.
const MAX_ADDRESS: usize = 2_048;

/// The elements whose text stays as it is.
const UNLINKED: [&str; 3] = ["a", "code", "pre"];

/// The punctuation that belongs to the sentence if it ends an address, also in Arabic and in Chinese and Japanese.
const PUNCTUATION: &str = "?!.,:;*_~'،؛؟…。，、！？：；）】」』》»”’";

/// Returns sanitized HTML in which bare addresses are links.
pub(super) fn link(html: &str) -> String {
    if !html.contains("://") {
        return html.to_owned();
    }
    let mut linked = String::with_capacity(2 * html.len());
    let mut unlinked = 0_usize;
    let mut rest = html;
    while !rest.is_empty() {
        let (text, tags) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        match unlinked {
            0 => push_linked(&mut linked, text),
            _ => linked.push_str(text),
        }
        let (tag, behind) = split_tag(tags);
        linked.push_str(tags.strip_suffix(behind).unwrap_or_default());
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        if UNLINKED.contains(&name) {
            unlinked += 1;
        } else if name.strip_prefix('/').is_some_and(|name| UNLINKED.contains(&name)) {
            unlinked = unlinked.saturating_sub(1);
        }
        rest = behind;
    }
    linked
}

/// Appends escaped text with links.
fn push_linked(html: &mut String, escaped: &str) {
    if !escaped.contains("://") {
        html.push_str(escaped);
        return;
    }
    let text = unescape(escaped);
    let mut end = 0;
    for address in find_addresses(&text) {
        let url = text.get(address.clone()).unwrap_or_default();
        html.push_str(&escape(text.get(end..address.start).unwrap_or_default()));
        html.push_str(&format!("<a{}>{}</a>", target_attributes(url), escape(url)));
        end = address.end;
    }
    html.push_str(&escape(text.get(end..).unwrap_or_default()));
}

/// Returns where the bare addresses of a text are. One pass: what is not linked is not read again.
pub(crate) fn find_addresses(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let (before, behind) = rest.split_at(rest.find("://")?);
            let host = at + before.len() + "://".len();
            let is_host = behind.get("://".len()..)?.starts_with(char::is_alphanumeric);
            let Some(scheme) = scheme_length(before).filter(|_| is_host) else {
                at = host;
                continue;
            };
            let start = at + before.len() - scheme;
            let run = text.get(start..)?;
            let run = run.get(..run_length(run))?;
            at = start + run.len();
            let address = without_punctuation(run);
            if address.len() <= MAX_ADDRESS && Url::parse(address).is_ok() {
                return Some(start..start + address.len());
            }
        }
    })
}

/// Returns the length of the scheme at the end of a text, unless it is the end of another word or scheme: `git+https`.
fn scheme_length(text: &str) -> Option<usize> {
    let ends_with = |scheme: &&str| {
        let end = text.len().checked_sub(scheme.len()).and_then(|at| text.get(at..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(scheme))
    };
    let length = ["https", "http"].into_iter().find(ends_with)?.len();
    let is_part = text.get(..text.len() - length)?.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '+');
    (!is_part).then_some(length)
}

/// Returns the length of what goes on without a character that no address contains.
fn run_length(text: &str) -> usize {
    let mut open_brackets = 0_usize;
    let ends = |character: char| match character {
        '[' => {
            open_brackets += 1;
            false
        }
        // The end of a link, or of a remark in brackets.
        ']' if open_brackets == 0 => true,
        ']' => {
            open_brackets -= 1;
            false
        }
        '<' | '>' | '"' | '`' | '\\' => true,
        // Spaces without width, and marks of the direction.
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => true,
        character => character.is_whitespace() || character.is_control(),
    };
    text.find(ends).unwrap_or(text.len())
}

/// Returns an address without the punctuation behind it. A `)` belongs to it if it closes a `(` of it.
fn without_punctuation(run: &str) -> &str {
    let mut unopened = run.matches(')').count().saturating_sub(run.matches('(').count());
    run.trim_end_matches(|last: char| {
        if last == ')' && unopened > 0 {
            unopened -= 1;
            return true;
        }
        PUNCTUATION.contains(last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str) -> Vec<&str> {
        find_addresses(text).map(|address| &text[address]).collect()
    }

    #[test]
    fn addresses_end_where_a_reader_expects() {
        for (text, expected) in [
            ("https://a.example", &["https://a.example"][..]),
            ("See http://a.example/b?c=d&e=f#g.", &["http://a.example/b?c=d&e=f#g"]),
            (
                "https://a.example, https://b.example; https://c.example:",
                &["https://a.example", "https://b.example", "https://c.example"],
            ),
            ("Really? https://a.example/?! Yes", &["https://a.example/"]),
            ("(see https://a.example/b)", &["https://a.example/b"]),
            ("(https://a.example/Foo_(bar)).", &["https://a.example/Foo_(bar)"]),
            ("https://a.example/Foo_(bar)", &["https://a.example/Foo_(bar)"]),
            ("https://a.example/b))", &["https://a.example/b"]),
            ("[https://a.example/?b[]=c]", &["https://a.example/?b[]=c"]),
            ("**https://a.example/b**, 'https://c.example'", &["https://a.example/b", "https://c.example"]),
            ("\"https://a.example\",\"https://b.example\"", &["https://a.example", "https://b.example"]),
            ("<https://a.example>", &["https://a.example"]),
            ("HTTPS://A.example Https://b.example", &["HTTPS://A.example", "Https://b.example"]),
            ("http://localhost:8080/x http://127.0.0.1", &["http://localhost:8080/x", "http://127.0.0.1"]),
            ("https://exämple.de/grün", &["https://exämple.de/grün"]),
            ("انظر https://a.example/ب، أو https://b.example؟", &["https://a.example/ب", "https://b.example"]),
            ("これhttps://a.example/日本。", &["https://a.example/日本"]),
            ("https://a.example\u{200f} https://b.example\u{a0}c", &["https://a.example", "https://b.example"]),
            ("https://a.example/b\\_c", &["https://a.example/b"]),
            ("https://,https://a.example", &["https://a.example"]),
            ("xhttps://a.example 1http://a.example git+https://a.example", &[]),
            ("ftp://a.example javascript://a.example mailto:a@b.example www.a.example a.example", &[]),
            ("https:// https://. http:///a https:/a.example https", &[]),
            ("https://a.example:99999 https://[::1]/", &[]),
        ] {
            assert_eq!(addresses(text), expected, "{text}");
        }
    }

    #[test]
    fn long_addresses_are_no_links() {
        let address = |length: usize| format!("https://a.example/{}", "b".repeat(length - "https://a.example/".len()));
        assert_eq!(addresses(&address(MAX_ADDRESS)), [address(MAX_ADDRESS)]);
        assert_eq!(addresses(&format!("{} https://b.example", address(MAX_ADDRESS + 1))), ["https://b.example"]);
    }

    #[test]
    fn text_becomes_a_link_and_code_and_links_stay() {
        let rel = "rel=\"nofollow noopener\"";
        for (html, expected) in [
            ("no address", "no address".to_owned()),
            ("a &amp; b &quot;://&quot;", "a &amp; b \"://\"".to_owned()),
            (
                "<p>See https://a.example/?b=1&amp;c=2&gt; <b>https://d.example</b></p>",
                format!(
                    "<p>See <a href=\"https://a.example/?b=1&amp;c=2\" {rel}>https://a.example/?b=1&amp;c=2</a>&gt; \
                    <b><a href=\"https://d.example\" {rel}>https://d.example</a></b></p>"
                ),
            ),
            (
                "<p>https://a.example&nbsp;b<br>https://c.example</p>",
                format!(
                    "<p><a href=\"https://a.example\" {rel}>https://a.example</a>&nbsp;b<br>\
                    <a href=\"https://c.example\" {rel}>https://c.example</a></p>"
                ),
            ),
        ] {
            assert_eq!(link(html), expected, "{html}");
            assert_eq!(link(&expected), expected, "{html}");
        }
        for html in [
            "<p><code>https://a.example</code></p>",
            "<pre><code>https://a.example\n</code></pre>",
            "<p><a href=\"https://a.example\" rel=\"nofollow noopener\"><b>https://b.example</b></a></p>",
            "<p><a rel=\"nofollow noopener\">https://b.example</a></p>",
            "<p><img src=\"/pictures/00000000-0000-0000-0000-000000000007\" alt=\"https://a.example\"></p>",
        ] {
            assert_eq!(link(html), html);
        }
        // HTML that was not sanitized must not panic.
        for stored in ["://<", "<p ://", "</a>://", "<a href=\"://>", "https://a<"] {
            let _ = link(stored);
        }
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        let began = std::time::Instant::now();
        for shape in
            ["https://", "https://a", "https://a.example/)", "https://a]", "://", "https://(", "http", "https://,"]
        {
            let text = shape.repeat(100_000 / shape.len());
            assert!(link(&text).len() <= 20 * text.len(), "{shape}");
        }
        // With quadratic time it would be minutes.
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
    }
}
