//! Tells the HTML elements of a text from what only looks like them.
//!
//! People write `List<String>`, `<john@mail.example>`, `<your-id>` and `x<y`. A browser takes some of that for elements
//! that it does not know, and does not show it. Here it stays text.

/// What a text is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Markup {
    /// Text without any HTML element or comment.
    Plain,
    /// HTML, in which only elements begin with a `<`. Comments and elements that no browser shows are removed.
    Html(String),
}

/// The elements of HTML, also obsolete ones, those of MathML, and own ones of programs that people copy from, in order.
/// `plaintext` is not among them: a browser shows all that follows it as text.
const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "acronym",
    "address",
    "annotation",
    "annotation-xml",
    "applet",
    "area",
    "article",
    "aside",
    "audio",
    "b",
    "base",
    "basefont",
    "bdi",
    "bdo",
    "bgsound",
    "big",
    "blink",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "data",
    "datalist",
    "dd",
    "del",
    "details",
    "dfn",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "fieldset",
    "figcaption",
    "figure",
    "font",
    "footer",
    "form",
    "frame",
    "frameset",
    "g-emoji",
    "google-sheets-html-origin",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "i",
    "image",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "legend",
    "li",
    "link",
    "main",
    "map",
    "mark",
    "markdown-accessiblity-table",
    "marquee",
    "math",
    "menu",
    "merror",
    "meta",
    "meter",
    "mfrac",
    "mi",
    "mmultiscripts",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mprescripts",
    "mroot",
    "mrow",
    "ms",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
    "nav",
    "nobr",
    "object",
    "ol",
    "optgroup",
    "option",
    "output",
    "p",
    "param",
    "picture",
    "pre",
    "progress",
    "q",
    "rb",
    "rp",
    "rt",
    "rtc",
    "ruby",
    "s",
    "samp",
    "search",
    "section",
    "select",
    "semantics",
    "slot",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "template",
    "tfoot",
    "th",
    "thead",
    "time",
    "tr",
    "track",
    "tt",
    "u",
    "ul",
    "var",
    "video",
    "wbr",
];

/// Elements with content that is no markup and that no browser shows.
const UNSEEN: &[&str] = &["iframe", "noembed", "noframes", "noscript", "script", "style", "svg", "title"];

/// Elements with content that is no markup and that browsers show with its line breaks.
const TEXT_ONLY: &[&str] = &["listing", "textarea", "xmp"];

/// Prefixes of the elements that Word and Outlook write.
const OFFICE_PREFIXES: &[&str] = &["m", "o", "st1", "u1", "v", "w", "x"];

/// Attributes that are often written without a value. In a tag without any attribute, other names are words:
/// `a <b and c> d`.
const ATTRIBUTES_WITHOUT_VALUE: &[&str] = &[
    "align",
    "allowfullscreen",
    "alt",
    "async",
    "autofocus",
    "autoplay",
    "border",
    "checked",
    "class",
    "compact",
    "contenteditable",
    "controls",
    "default",
    "defer",
    "dir",
    "disabled",
    "download",
    "draggable",
    "height",
    "hidden",
    "href",
    "id",
    "inert",
    "ismap",
    "itemscope",
    "lang",
    "loop",
    "multiple",
    "muted",
    "name",
    "nohref",
    "noshade",
    "novalidate",
    "nowrap",
    "open",
    "playsinline",
    "readonly",
    "rel",
    "required",
    "reversed",
    "selected",
    "src",
    "style",
    "target",
    "title",
    "translate",
    "valign",
    "value",
    "width",
];

/// Characters that are in no name of an attribute, but between words and in code.
const NOT_IN_ATTRIBUTES: &[char] = &['&', '|', ',', ';', '(', ')', '{', '}', '+', '*', '?', '!', '%', '$', '^', '<'];

/// Maximum length of the name of a tag in bytes.
const MAX_NAME: usize = 64;

/// Finds the elements of a text.
pub(super) fn recognize(raw: &str) -> Markup {
    let mut html = String::with_capacity(raw.len());
    let mut has_markup = false;
    let mut reader = Reader { unclosed: Vec::new(), budget: 4 * raw.len() };
    let mut rest = raw;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        html.push_str(before);
        rest = match reader.read_token(from) {
            Some(Token { content, length }) => {
                has_markup = true;
                match content {
                    Content::Tag => html.push_str(from.get(..length).unwrap_or_default()),
                    Content::Unseen => {}
                    Content::Text(text) => {
                        html.push_str("<div style=\"white-space:pre-wrap\">");
                        html.push_str(&text.replace('<', "&lt;"));
                        html.push_str("</div>");
                    }
                }
                from.get(length..).unwrap_or_default()
            }
            None => {
                html.push_str("&lt;");
                from.get(1..).unwrap_or_default()
            }
        };
    }
    if !has_markup {
        return Markup::Plain;
    }
    html.push_str(rest);
    Markup::Html(html)
}

/// A piece of markup at the start of a text.
struct Token<'a> {
    content: Content<'a>,
    /// Length in bytes.
    length: usize,
}

enum Content<'a> {
    /// A start tag or an end tag.
    Tag,
    /// A comment, or an element that no browser shows.
    Unseen,
    /// An element that shows its content as it is.
    Text(&'a str),
}

/// A complete tag whose attributes are plausible.
struct Tag<'a> {
    name: &'a str,
    is_end: bool,
    /// Length in bytes.
    length: usize,
}

struct Reader {
    /// What has no end further on, so that it is looked for only once.
    unclosed: Vec<&'static str>,
    /// Bytes of attributes that may still be read. Tags that turn out to be none could be read again and again.
    budget: usize,
}

impl Reader {
    /// Reads a token that begins with `<`.
    fn read_token<'a>(&mut self, html: &'a str) -> Option<Token<'a>> {
        if let Some(length) = self.comment_length(html) {
            return Some(Token { content: Content::Unseen, length });
        }
        let tag = self.read_tag(html)?;
        let one_of = |names: &[&'static str]| names.iter().copied().find(|name| tag.name.eq_ignore_ascii_case(name));
        let (name, is_shown) = match (one_of(UNSEEN), one_of(TEXT_ONLY)) {
            (Some(name), _) => (name, false),
            (None, Some(name)) => (name, true),
            (None, None) => {
                let name = tag.name.to_ascii_lowercase();
                let is_element = ELEMENTS.binary_search(&name.as_str()).is_ok() || is_of_office(tag.name);
                return is_element.then_some(Token { content: Content::Tag, length: tag.length });
            }
        };
        if tag.is_end {
            return Some(Token { content: Content::Unseen, length: tag.length });
        }
        let inner = html.get(tag.length..).filter(|_| !self.unclosed.contains(&name))?;
        let Some((content, end)) = self.end_tag(inner, name) else {
            self.unclosed.push(name);
            return None;
        };
        let content = inner.get(..content).filter(|_| is_shown).map_or(Content::Unseen, Content::Text);
        Some(Token { content, length: tag.length + end })
    }

    /// Returns the length of a comment, of a doctype, or of what Office writes around hidden parts.
    fn comment_length(&mut self, html: &str) -> Option<usize> {
        const END: &str = "-->";
        if let Some(empty) = ["<!-->", "<!--->"].iter().find(|empty| html.starts_with(**empty)) {
            return Some(empty.len());
        }
        if let Some(content) = html.strip_prefix("<!--").filter(|_| !self.unclosed.contains(&END)) {
            let Some(end) = content.find(END) else {
                self.unclosed.push(END);
                return None;
            };
            return Some("<!--".len() + end + END.len());
        }
        let starts = ["<!doctype", "<![if", "<![endif", "<?xml"];
        let begins_with = |start: &&str| html.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start));
        if starts.iter().any(begins_with) { html.find('>').map(|end| end + 1) } else { None }
    }

    /// Returns where the content before an end tag ends, and where the end tag ends.
    fn end_tag(&mut self, html: &str, name: &str) -> Option<(usize, usize)> {
        let mut from = 0;
        loop {
            let at = from + html.get(from..)?.find("</")?;
            let tag = html.get(at..)?;
            if tag.get(2..2 + name.len()).is_some_and(|text| text.eq_ignore_ascii_case(name))
                && let Some(tag) = self.read_tag(tag)
                && tag.name.len() == name.len()
            {
                return Some((at, at + tag.length));
            }
            from = at + 2;
        }
    }

    /// Reads a tag as the HTML standard does (13.2.5.6 and following).
    fn read_tag<'a>(&mut self, html: &'a str) -> Option<Tag<'a>> {
        let inner = html.strip_prefix('<')?;
        let is_end = inner.starts_with('/');
        let inner = if is_end { inner.get(1..)? } else { inner };
        if !inner.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return None;
        }
        let beginning = inner.get(..inner.floor_char_boundary(MAX_NAME + 1))?;
        let name_end = beginning.find(|character: char| is_space(character) || matches!(character, '/' | '>'))?;
        let (name, mut rest) = inner.split_at(name_end);
        let (mut has_words, mut has_attributes) = (false, false);
        loop {
            rest = rest.trim_start_matches(|character: char| is_space(character) || character == '/');
            if let Some(behind) = rest.strip_prefix('>') {
                let is_plausible = has_attributes || !has_words;
                return is_plausible.then_some(Tag { name, is_end, length: html.len() - behind.len() });
            }
            let (is_attribute, behind) = read_attribute(rest)?;
            has_attributes |= is_attribute;
            has_words |= !is_attribute;
            self.budget = self.budget.checked_sub(rest.len() - behind.len())?;
            rest = behind;
        }
    }
}

fn is_of_office(name: &str) -> bool {
    name.split_once(':').is_some_and(|(prefix, name)| {
        OFFICE_PREFIXES.iter().any(|known| prefix.eq_ignore_ascii_case(known))
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !name.is_empty()
    })
}

/// Reads an attribute: whether it is one or could be a word, and what follows it. `None` if it is neither.
fn read_attribute(html: &str) -> Option<(bool, &str)> {
    let end = html.find(|character: char| is_space(character) || matches!(character, '/' | '>' | '='))?;
    let (name, behind) = html.split_at(end);
    let behind = behind.trim_start_matches(is_space);
    if name.is_empty() || name.contains(NOT_IN_ATTRIBUTES) {
        return None;
    }
    let Some(value) = behind.strip_prefix('=') else {
        let is_known = ATTRIBUTES_WITHOUT_VALUE.iter().any(|known| name.eq_ignore_ascii_case(known));
        return Some((is_known || name.contains(['"', '\'', '-', ':']), behind));
    };
    let value = value.trim_start_matches(is_space);
    for quote in ['"', '\''] {
        if let Some(value) = value.strip_prefix(quote) {
            return value.split_once(quote).map(|(_, behind)| (true, behind));
        }
    }
    let end = value.find(|character: char| is_space(character) || matches!(character, '<' | '>'))?;
    value.get(end..).map(|behind| (true, behind))
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(raw: &str) -> String {
        match recognize(raw) {
            Markup::Plain => panic!("no element in {raw}"),
            Markup::Html(html) => html,
        }
    }

    #[test]
    fn the_elements_are_in_order() {
        assert!(ELEMENTS.is_sorted());
    }

    #[test]
    fn what_is_no_element_makes_no_html() {
        for raw in [
            "no brackets",
            "a < b > c",
            "List<String>",
            "Map<String, List<Order>>",
            "To: John <john@mail.example>",
            "<https://a.example/x?b=1>",
            "<mailto:john@mail.example>",
            "curl https://api.example/<your-id>/<token>",
            "x<y and y>z",
            "I <3 it, </3",
            "a <b and c> d",
            "if a <b && c > d",
            "while i <p; p>>1",
            "<server><host>x</host></server>",
            "<>",
            "</>",
            "<",
            "</",
            "<b",
            "<b class=\"x",
            "<!-- never closed",
            "<?php echo 1; ?>",
            "put it into <script> or <style>",
            "the <title> of the page",
            "<plaintext>",
        ] {
            assert_eq!(recognize(raw), Markup::Plain, "{raw}");
        }
    }

    #[test]
    fn elements_are_told_from_text_beside_them() {
        for (raw, expected) in [
            ("<b>List<String></b>", "<b>List&lt;String></b>"),
            ("<P CLASS=x>a<br/>b < c</P>", "<P CLASS=x>a<br/>b &lt; c</P>"),
            ("x<br>John <john@mail.example>", "x<br>John &lt;john@mail.example>"),
            ("<p title='a > b' hidden>x", "<p title='a > b' hidden>x"),
            ("<a href=\"x\"\" class=y>x</a>", "<a href=\"x\"\" class=y>x</a>"),
            ("<p><!--[if mso]><b>x</b><![endif]-->y<o:p></o:p></p>", "<p>y<o:p></o:p></p>"),
            ("<![if !vml]><i>x</i><![endif]>", "<i>x</i>"),
            ("<!DOCTYPE html><p>x", "<p>x"),
            ("<style>p > a { b }</style><SCRIPT>a<b></SCRIPT >x", "x"),
            ("<svg><title>a</title><path d='M0'/></svg>x", "x"),
            ("</script>x", "x"),
            ("<title>a<b>x</b>", "&lt;title>a<b>x</b>"),
            ("<textarea>a\n<b>c</textarea>", "<div style=\"white-space:pre-wrap\">a\n&lt;b>c</div>"),
            ("a</b>", "a</b>"),
            ("<!-- a comment -->alone", "alone"),
            ("<pre wrap class=x>a", "<pre wrap class=x>a"),
        ] {
            assert_eq!(html(raw), expected, "{raw}");
        }
    }

    #[test]
    fn hostile_texts_are_read_in_linear_time() {
        for piece in
            ["<script><style><title>", "<!--", "<b x=<b x=", "<b x=\"<b\"x=", "<b x='<b y=\"1\"", "</script x=1 "]
        {
            let raw = piece.repeat(100_000 / piece.len());
            let started = std::time::Instant::now();
            recognize(&raw);
            recognize(&format!("<script>{raw}"));
            // Without bounds it takes minutes.
            assert!(started.elapsed() < std::time::Duration::from_secs(10), "{piece}: {:?}", started.elapsed());
        }
    }
}
