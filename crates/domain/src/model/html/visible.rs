//! The text that sanitized HTML shows.

/// The elements whose start and end are between two lines, apart from `p`. There is an empty line between two of these.
const LINE_ELEMENTS: &[&str] = &["blockquote", "h1", "h2", "h3", "h4", "hr", "li", "ol", "pre", "ul"];

/// The character references in sanitized HTML (HTML standard, 13.3), and `&quot;`.
const CHARACTER_REFERENCES: [(&str, char); 5] =
    [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&'), ("&nbsp;", '\u{a0}'), ("&quot;", '"')];

/// Returns the first `max` bytes of the text that sanitized HTML shows, and whether there is more. One pass: every `<`
/// begins a tag, and every `&` a character reference. Text without tags keeps its line breaks.
pub(super) fn text(html: &str, max: usize) -> (String, bool) {
    let mut text = Text { is_preformatted: !html.contains('<'), ..Text::default() };
    let mut rest = html;
    while let Some(next) = rest.chars().next() {
        if text.visible.len() > max {
            break;
        }
        rest = match next {
            '<' => {
                let (tag, behind) = split_tag(rest);
                text.push_tag(tag);
                behind
            }
            _ => {
                let (character, behind) = split_character(rest, next);
                text.push(character);
                behind
            }
        };
    }
    let mut visible = text.visible;
    let is_cut = visible.len() > max;
    visible.truncate(visible.floor_char_boundary(max));
    visible.truncate(visible.trim_end().len());
    (visible, is_cut)
}

/// Splits HTML that begins with a character, or with the reference to one, behind it.
fn split_character(html: &str, first: char) -> (char, &str) {
    let mut references = CHARACTER_REFERENCES.iter().filter(|_| first == '&');
    let reference = references.find_map(|(name, character)| Some((*character, html.strip_prefix(name)?)));
    reference.unwrap_or((first, html.get(first.len_utf8()..).unwrap_or_default()))
}

#[derive(Default)]
struct Text {
    visible: String,
    is_preformatted: bool,
    /// What is between the last character and the next one.
    gap: Gap,
}

#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    /// The end of a paragraph.
    Paragraph,
    EmptyLine,
}

impl Text {
    fn push(&mut self, character: char) {
        let is_space = matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}');
        if is_space && !self.is_preformatted {
            if self.gap == Gap::None {
                self.gap = Gap::Space;
            }
            return;
        }
        let at_line_start = self.visible.is_empty() || self.visible.ends_with('\n');
        match std::mem::take(&mut self.gap) {
            Gap::Space if !at_line_start => self.visible.push(' '),
            Gap::Line | Gap::Paragraph if !at_line_start => self.visible.push('\n'),
            Gap::EmptyLine if !self.visible.is_empty() => {
                self.visible.push_str(if at_line_start { "\n" } else { "\n\n" })
            }
            _ => {}
        }
        self.visible.push(character);
    }

    fn push_line_break(&mut self) {
        if self.gap >= Gap::Line && !self.visible.is_empty() && !self.visible.ends_with('\n') {
            self.visible.push('\n');
        }
        self.gap = Gap::None;
        if !self.visible.is_empty() {
            self.visible.push('\n');
        }
    }

    /// `tag` is the content of a tag, with a `/` before the name of an end tag.
    fn push_tag(&mut self, tag: &str) {
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        if name == "br" {
            self.push_line_break();
            return;
        }
        if name == "img" {
            let alternative = tag.split_once(" alt=\"").and_then(|(_, rest)| rest.split('"').next());
            let mut rest = alternative.unwrap_or_default();
            while let Some(first) = rest.chars().next() {
                let (character, behind) = split_character(rest, first);
                self.push(character);
                rest = behind;
            }
            return;
        }
        match name {
            "p" if self.gap >= Gap::Paragraph => self.gap = Gap::EmptyLine,
            "/p" => self.gap = Gap::Paragraph,
            "p" => self.gap = Gap::Line,
            _ if LINE_ELEMENTS.contains(&name.trim_start_matches('/')) => self.gap = Gap::Line,
            _ => {}
        }
        match name {
            "pre" => self.is_preformatted = true,
            "/pre" => self.is_preformatted = false,
            _ => {}
        }
    }
}

/// Splits HTML into the content of its first tag and the rest after that tag. A `>` in a quoted value does not end a
/// tag.
pub(super) fn split_tag(html: &str) -> (&str, &str) {
    let mut is_quoted = false;
    let end = html.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b'>' && !is_quoted
    });
    let (tag, behind) = html.split_at(end.map_or(html.len(), |end| end + 1));
    (tag.trim_start_matches('<').trim_end_matches('>'), behind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::html::CleanHtml;
    use crate::model::text::drop_invisible;
    use proptest::prelude::*;

    fn clean(raw: &str) -> CleanHtml {
        CleanHtml::parse_optional("content", raw, CleanHtml::MAX).unwrap()
    }

    /// Lines as `tests/visible-text/visible_text.mjs` writes them.
    fn lines(text: &str) -> Vec<String> {
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.lines().map(words).filter(|line| !line.is_empty()).collect()
    }

    #[test]
    fn what_a_browser_shows_of_the_input_is_what_is_shown_afterwards() {
        let fragments = include_str!("../../../../../tests/visible-text/visible.json");
        let fragments: Vec<serde_json::Value> = serde_json::from_str(fragments).unwrap();
        let mut wrong = Vec::new();
        for fragment in &fragments {
            let (raw, name) =
                (fragment["html"].as_str().unwrap(), format!("{}/{}", fragment["source"], fragment["name"]));
            let lines_of = |line: &serde_json::Value| lines(&drop_invisible(line.as_str().unwrap()));
            let expected: Vec<String> = fragment["lines"].as_array().unwrap().iter().flat_map(lines_of).collect();
            let html = clean(raw);
            if lines(&html.to_text()) != expected || clean(html.as_str()) != html {
                wrong.push(format!(
                    "{name}\n  raw      {raw}\n  clean    {}\n  again    {}\n  expected {expected:?}\n  shown    {:?}",
                    html.as_str(),
                    clean(html.as_str()).as_str(),
                    lines(&html.to_text())
                ));
            }
        }
        println!("{} fragments, {} shown differently", fragments.len(), wrong.len());
        assert!(fragments.len() >= 500 && wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn lines_are_those_of_blocks_and_breaks() {
        for (html, expected) in [
            ("plain\n\ntext", "plain\n\ntext"),
            ("a &lt; b &amp;&amp; c", "a < b && c"),
            ("<p>1 &lt; 2 &amp;amp; 3</p><p>next<br>line</p>", "1 < 2 &amp; 3\n\nnext\nline"),
            ("<p>one<br>\ntwo</p>\n<p>three</p>\n", "one\ntwo\n\nthree"),
            ("a<p>b</p>c", "a\nb\nc"),
            ("<ul>\n<li>one</li><li><b>two</b></li></ul>x", "one\ntwo\nx"),
            ("<p>a  b\n c</p>", "a b c"),
            ("<pre>a\n  b\n</pre>c", "a\n  b\nc"),
            ("a<br><br>b<br>", "a\n\nb"),
            ("<b>a</b> <i>b</i>", "a b"),
            ("a&nbsp;&quot;b&quot;", "a\u{a0}\"b\""),
            ("<a href=\"https://a.example/?b=1&amp;c=>\" rel=\"nofollow noopener\">x &gt; y</a>", "x > y"),
        ] {
            assert_eq!(text(html, usize::MAX).0, expected, "{html}");
        }
    }

    #[test]
    fn the_beginning_ends_between_characters() {
        assert_eq!(text("<p>ünö</p>", 3), ("ün".to_owned(), true));
        assert_eq!(text("<p>ünö</p>", 4), ("ün".to_owned(), true));
        assert_eq!(text("<p>ünö</p>", 5), ("ünö".to_owned(), false));
        // HTML that was not sanitized must not panic.
        for stored in ["<", "<p", "a < b", "&", "&unknown;", "<a href=\">", "<>"] {
            let _ = text(stored, 100);
        }
    }

    proptest! {
        /// Each word of plain text stays, on its line.
        #[test]
        fn plain_text_stays(raw in "([a-zA-Z0-9.,:;@#&<>\"'*_(){}\\[\\]/=+-]{1,6}|[ \n]|<[A-Z][a-z]{5}>|<[a-z]+@[a-z]+\\.example>){0,30}") {
            prop_assume!(crate::model::html::markup::recognize(&raw) == crate::model::html::Markup::Plain);
            prop_assume!(!raw.contains(';'));
            prop_assert_eq!(lines(&clean(&raw).to_text()), lines(&raw));
        }
    }
}
