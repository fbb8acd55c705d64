//! Turns stored HTML back into Markdown, so that people can edit it.

use super::convert;
use crate::model::html::{CleanHtml, find_addresses, unescape};

/// A stored text, as a person edits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Editable {
    /// Markdown that becomes the stored HTML again.
    Markdown(String),
    /// The HTML itself, because Markdown cannot express it.
    Html(String),
}

impl Editable {
    /// Returns the text for editing.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Markdown(text) | Self::Html(text) => text,
        }
    }

    /// Whether the text is HTML.
    #[must_use]
    pub fn is_html(&self) -> bool {
        matches!(self, Self::Html(_))
    }
}

/// Deepest nesting of elements that is converted.
const MAX_DEPTH: usize = 12;

/// Returns Markdown that becomes this HTML again, or the HTML if there is none. Nothing gets lost: the Markdown is
/// converted back and compared. A bare address that a program has stored without a link becomes one.
#[must_use]
pub fn to_editable(html: &CleanHtml) -> Editable {
    let html = html.to_display();
    if html.trim().is_empty() {
        return Editable::Markdown(String::new());
    }
    let linked = CleanHtml::from_stored(html.to_string()).with_linked_addresses();
    let linked = linked.as_str();
    let nodes = parse(linked);
    let expected = normalize(&if has_block(&nodes) { linked.to_owned() } else { format!("<p>{}</p>", linked.trim()) });
    // Escapes and brackets disturb, so that they are left out where the text means the same without them.
    [(false, true), (true, true), (true, false)]
        .into_iter()
        .filter_map(|(escapes, bare_addresses)| Writer { escapes, bare_addresses }.blocks(&nodes, 0))
        .find(|markdown| {
            let back = CleanHtml::parse_optional("content", &convert(markdown), CleanHtml::MAX);
            back.is_ok_and(|back| normalize(back.with_linked_addresses().as_str()) == expected)
        })
        .map_or_else(|| Editable::Html(html.to_string()), Editable::Markdown)
}

/// A part of sanitized HTML.
#[derive(Debug)]
enum Node<'a> {
    Text(&'a str),
    /// The value is that of the only attribute that matters: the target of a link, the first number of a list, or the source
    /// of a picture, whose child is its alternative text.
    Element {
        name: &'a str,
        value: Option<&'a str>,
        children: Vec<Self>,
    },
}

/// Parses sanitized HTML, in which all elements but empty ones are closed and attributes are in double quotes.
fn parse(html: &str) -> Vec<Node<'_>> {
    let mut open: Vec<(&str, Option<&str>, Vec<Node<'_>>)> = vec![("", None, Vec::new())];
    let mut rest = html;
    while !rest.is_empty() {
        let text_end = rest.find('<').unwrap_or(rest.len());
        let (text, behind) = rest.split_at(text_end);
        if let Some((_, _, children)) = open.last_mut().filter(|_| !text.is_empty()) {
            children.push(Node::Text(text));
        }
        let mut is_quoted = false;
        let end = behind.bytes().position(|byte| {
            is_quoted ^= byte == b'"';
            byte == b'>' && !is_quoted
        });
        let (tag, after) = behind.split_at(end.map_or(behind.len(), |end| end + 1));
        rest = after;
        let inner = tag.trim_start_matches('<').trim_end_matches('>');
        let name = inner.split([' ', '/']).next().unwrap_or_default();
        if inner.starts_with('/') {
            if open.len() > 1
                && let Some((name, value, children)) = open.pop()
                && let Some((_, _, siblings)) = open.last_mut()
            {
                siblings.push(Node::Element { name, value, children });
            }
        } else if matches!(name, "br" | "hr" | "img") {
            let alternative = value_of(inner, " alt=\"").filter(|text| !text.is_empty()).map(Node::Text);
            if let Some((_, _, children)) = open.last_mut() {
                let value = value_of(inner, " src=\"");
                children.push(Node::Element { name, value, children: alternative.into_iter().collect() });
            }
        } else if !name.is_empty() {
            let value = [" href=\"", " start=\""].iter().find_map(|attribute| value_of(inner, attribute));
            open.push((name, value, Vec::new()));
        }
    }
    while open.len() > 1 {
        if let Some((name, value, children)) = open.pop()
            && let Some((_, _, siblings)) = open.last_mut()
        {
            siblings.push(Node::Element { name, value, children });
        }
    }
    open.pop().map(|(_, _, children)| children).unwrap_or_default()
}

/// Returns the value of an attribute of a tag.
fn value_of<'a>(tag: &'a str, attribute: &str) -> Option<&'a str> {
    tag.split_once(attribute)?.1.split_once('"').map(|(value, _)| value)
}

fn is_block(node: &Node<'_>) -> bool {
    matches!(
        node,
        Node::Element { name: "p" | "h1" | "h2" | "h3" | "h4" | "ul" | "ol" | "li" | "blockquote" | "pre" | "hr", .. }
    )
}

fn has_block(nodes: &[Node<'_>]) -> bool {
    nodes.iter().any(is_block)
}

/// Writes Markdown. `None` stands for what Markdown cannot express.
struct Writer {
    escapes: bool,
    /// Whether addresses are written without `<…>` where they become links by themselves.
    bare_addresses: bool,
}

impl Writer {
    /// Returns blocks, separated by blank lines.
    fn blocks(&self, nodes: &[Node<'_>], depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut blocks = Vec::new();
        let mut rest = nodes;
        while let Some(first) = rest.first() {
            let inline = rest.iter().take_while(|node| !is_block(node)).count();
            if inline > 0 {
                let (text, behind) = rest.split_at(inline);
                let text = self.inline(text, depth)?;
                if !text.trim().is_empty() {
                    blocks.push(text.trim().to_owned());
                }
                rest = behind;
                continue;
            }
            blocks.push(self.block(first, depth)?);
            rest = rest.get(1..).unwrap_or_default();
        }
        Some(blocks.join("\n\n"))
    }

    fn block(&self, node: &Node<'_>, depth: usize) -> Option<String> {
        let Node::Element { name, value, children } = node else { return None };
        let heading = |level: usize| Some(format!("{} {}", "#".repeat(level), self.inline(children, depth)?.trim()));
        match *name {
            "p" => Some(self.inline(children, depth)?.trim().to_owned()),
            "h1" => heading(1),
            "h2" => heading(2),
            "h3" => heading(3),
            "h4" => heading(4),
            "hr" => Some("---".to_owned()),
            "blockquote" => Some(indent(&self.blocks(children, depth + 1)?, "> ", "> ")),
            "ul" => self.list(children, depth, |_| "- ".to_owned()),
            "ol" => {
                let start: usize = value.map_or(Some(1), |start| start.parse().ok())?;
                self.list(children, depth, |number| format!("{}. ", start + number - 1))
            }
            "pre" => {
                let code = match children.as_slice() {
                    [Node::Element { name: "code", children, .. }] => children,
                    _ => return None,
                };
                let [Node::Text(text)] = code.as_slice() else { return None };
                let fence = if text.contains("```") { "~~~~" } else { "```" };
                Some(format!("{fence}\n{}\n{fence}", unescape(text).trim_end_matches('\n')))
            }
            _ => None,
        }
    }

    fn list(&self, children: &[Node<'_>], depth: usize, marker: impl Fn(usize) -> String) -> Option<String> {
        let mut items = Vec::new();
        let mut is_loose = false;
        for child in children {
            match child {
                Node::Text(text) if text.trim().is_empty() => {}
                Node::Element { name: "li", children, .. } => {
                    is_loose |= children.iter().any(|node| matches!(node, Node::Element { name: "p", .. }));
                    let marker = marker(items.len() + 1);
                    let text = self.blocks(children, depth + 1)?;
                    // A nested list follows its item without a blank line.
                    let text = if is_loose { text } else { text.replace("\n\n", "\n") };
                    items.push(indent(&text, &marker, &" ".repeat(marker.len())));
                }
                _ => return None,
            }
        }
        Some(items.join(if is_loose { "\n\n" } else { "\n" }))
    }

    fn inline(&self, nodes: &[Node<'_>], depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut text = String::new();
        for (at, node) in nodes.iter().enumerate() {
            match node {
                // A line break after `<br>` is one.
                Node::Text(words) if text.ends_with('\n') => text.push_str(&self.escape(words.trim_start())),
                Node::Text(words) => text.push_str(&self.escape(words)),
                Node::Element { name: "br", .. } => text.push('\n'),
                Node::Element { name, value, children } => {
                    let inner = self.inline(children, depth + 1)?;
                    match (*name, value) {
                        ("strong" | "b", _) => text.push_str(&format!("**{inner}**")),
                        ("em" | "i", _) => text.push_str(&format!("*{inner}*")),
                        ("del" | "s", _) => text.push_str(&format!("~~{inner}~~")),
                        ("code", _) => match children.as_slice() {
                            [Node::Text(code)] => text.push_str(&format!("`{}`", unescape(code))),
                            _ => return None,
                        },
                        ("img", Some(source)) => text.push_str(&format!("![{inner}]({})", unescape(source))),
                        ("a", Some(href)) => {
                            let address = unescape(href);
                            if !matches!(children.as_slice(), [Node::Text(words)] if unescape(words) == address) {
                                text.push_str(&format!("[{inner}]({address})"));
                            } else if self.bare_addresses
                                && is_link_when_bare(text.chars().next_back(), &address, nodes.get(at + 1))
                            {
                                text.push_str(&address);
                            } else {
                                text.push_str(&format!("<{address}>"));
                            }
                        }
                        _ => return None,
                    }
                }
            }
        }
        Some(text)
    }

    fn escape(&self, html: &str) -> String {
        let text = unescape(html);
        if !self.escapes {
            return text;
        }
        let mut escaped = String::with_capacity(text.len());
        for character in text.chars() {
            if character.is_ascii_punctuation() && !matches!(character, ',' | ';' | ':' | '\'' | '"' | '?' | '/') {
                escaped.push('\\');
            }
            escaped.push(character);
        }
        escaped
    }
}

/// Puts a mark before the first line and another one before all others. Empty lines get no trailing spaces.
fn indent(text: &str, first: &str, other: &str) -> String {
    let lines = text.split('\n').enumerate().map(|(at, line)| {
        let mark = if at == 0 { first } else { other };
        if line.is_empty() { mark.trim_end().to_owned() } else { format!("{mark}{line}") }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether an address becomes a link without brackets after this character and before this part, and nothing else does.
fn is_link_when_bare(before: Option<char>, address: &str, next: Option<&Node<'_>>) -> bool {
    let behind = match next {
        None | Some(Node::Element { name: "br", .. }) => String::new(),
        Some(Node::Text(text)) => unescape(text.split(char::is_whitespace).next().unwrap_or_default()),
        Some(Node::Element { .. }) => return false,
    };
    let before = before.map(String::from).unwrap_or_default();
    let found = find_addresses(&format!("{before}{address}{behind}")).next();
    found == Some(before.len()..before.len() + address.len())
}

/// Makes HTML comparable: without line breaks beside tags, with one name for elements that mean the same, and without the
/// sizes of pictures.
fn normalize(html: &str) -> String {
    let mut normal = String::with_capacity(html.len());
    for (at, part) in html.split_inclusive('>').enumerate() {
        let part = if at > 0 { part.trim_start_matches('\n') } else { part };
        match part.split_once('<') {
            Some((text, tag)) => {
                normal.push_str(text.trim_end_matches('\n'));
                let tag = match tag {
                    "b>" => "strong>",
                    "/b>" => "/strong>",
                    "i>" => "em>",
                    "/i>" => "/em>",
                    "s>" => "del>",
                    "/s>" => "/del>",
                    tag if tag.starts_with("img ") => {
                        tag.split_once("\" width=\"").map_or(tag, |(before, _)| before).trim_end_matches("\">")
                    }
                    tag => tag,
                };
                normal.push('<');
                normal.push_str(tag);
            }
            None => normal.push_str(part.trim_end_matches('\n')),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn html_becomes_markdown() {
        for (html, markdown) in [
            ("", ""),
            ("Plain words", "Plain words"),
            ("One\n\nTwo *three*", "One\n\nTwo \\*three\\*"),
            ("snake_case &amp; 2 * 3", "snake_case & 2 * 3"),
            ("<p>One</p><p>Two</p>", "One\n\nTwo"),
            ("<p>One<br>two</p>", "One\ntwo"),
            ("<p><b>bold</b>, <i>it</i> and <code>a &lt; b</code></p>", "**bold**, *it* and `a < b`"),
            ("<h2>Head</h2>\n<p>Text</p>", "## Head\n\nText"),
            ("<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>", "- a\n- b\n  - c"),
            ("<ol>\n<li>a</li>\n<li>b</li>\n</ol>", "1. a\n2. b"),
            ("<ol start=\"9\"><li>a</li><li>b</li></ol>", "9. a\n10. b"),
            ("<blockquote><p>said</p></blockquote>", "> said"),
            ("<pre><code>let a = 1;\n</code></pre>", "```\nlet a = 1;\n```"),
            (
                "<p><a href=\"https://a.example/?b=1&amp;c=2\" rel=\"nofollow noopener\">here</a></p>",
                "[here](https://a.example/?b=1&c=2)",
            ),
            ("<p>snake_case &amp; 2 * 3 * 4</p>", "snake_case & 2 * 3 * 4"),
            (
                "<p>See <img src=\"/pictures/00000000-0000-0000-0000-000000000007\" alt=\"a &amp; b\" width=\"3\" height=\"4\">\
                <br><img src=\"/pictures/00000000-0000-0000-0000-000000000008\" alt=\"\"></p>",
                "See ![a & b](/pictures/00000000-0000-0000-0000-000000000007)\n\
                ![](/pictures/00000000-0000-0000-0000-000000000008)",
            ),
            ("<p>*not emphasis*</p>", "\\*not emphasis\\*"),
            // Addresses, with and without a link.
            (
                "<p>See <a href=\"https://a.example/__b__?c&amp;d\" rel=\"nofollow noopener\">https://a.example/__b__?c&amp;d</a>, \
                and (<b><a href=\"https://exämple.de/\" rel=\"nofollow noopener\">https://exämple.de/</a></b>).<br>\
                <a href=\"https://e.example\" rel=\"nofollow noopener\">https://e.example</a></p>",
                "See https://a.example/__b__?c&d, and (**https://exämple.de/**).\nhttps://e.example",
            ),
            (
                "<p>See https://a.example/__b__, <code>https://c.example</code></p>",
                "See https://a.example/__b__, `https://c.example`",
            ),
            ("See https://a.example.", "See https://a.example."),
            (
                "<p><a href=\"https://a.example\" rel=\"nofollow noopener\">https://a.example</a>s \
                x<a href=\"https://a.example\" rel=\"nofollow noopener\">https://a.example</a> \
                <a href=\"https://a.example/.\" rel=\"nofollow noopener\">https://a.example/.</a> \
                <a href=\"https://a.example/_b\" rel=\"nofollow noopener\">https://a.example/_b</a><i>c</i></p>",
                "<https://a.example>s x<https://a.example> <https://a.example/.> <https://a.example/_b>*c*",
            ),
            (
                "<p>*a* <a href=\"https://a.example/b-c_d\" rel=\"nofollow noopener\">https://a.example/b-c_d</a></p>",
                "\\*a\\* https://a.example/b-c_d",
            ),
        ] {
            let stored = CleanHtml::from_stored(html.to_owned());
            assert_eq!(to_editable(&stored), Editable::Markdown(markdown.to_owned()), "{html}");
        }
    }

    #[test]
    fn what_markdown_cannot_express_stays_html() {
        for html in ["<p>H<sub>2</sub>O</p>", "<p><u>under</u></p>", "<ul>loose</ul>", "<pre>no code</pre>"] {
            assert_eq!(to_editable(&CleanHtml::from_stored(html.to_owned())), Editable::Html(html.to_owned()));
        }
        let deep = format!("{}x{}", "<blockquote>".repeat(200), "</blockquote>".repeat(200));
        assert!(to_editable(&CleanHtml::from_stored(deep)).is_html());
    }

    fn store(markdown: &str) -> CleanHtml {
        CleanHtml::parse_optional("content", &convert(markdown), CleanHtml::MAX).unwrap().with_linked_addresses()
    }

    /// Markdown with addresses at all places.
    fn markdown_with_addresses() -> impl Strategy<Value = String> {
        let addresses = [
            "https://a.example",
            "http://b.example/_c_/__d__*e*?f=(g)&h=~i~",
            "Https://exämple.de/;",
            "https://a.example/[b]",
            "https\\://a.example/b\\_c",
            "https&#58;//a.example",
            "https://\u{200b}a.example",
            "https://",
            "git+https://a.example",
            "`",
            "&lt;",
            "![",
            "](https://c.example)",
        ];
        let piece = prop_oneof![
            2 => "([a-zA-Z0-9 *_~`#>\\[\\]()<&.!-]|\n){0,4}",
            1 => prop::sample::select(addresses.to_vec()).prop_map(str::to_owned),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        /// Whatever somebody has typed can be edited, and stays the same if nothing is changed.
        #[test]
        fn markdown_survives(
            markdown in prop_oneof![
                "([a-zA-Z0-9 *_~`#>\\[\\]()<&.!-]|\n){0,60}",
                markdown_with_addresses(),
            ]
        ) {
            let stored = store(&markdown);
            // Clients may send back what they have read.
            let sent = CleanHtml::parse_optional("content", stored.as_str(), CleanHtml::MAX).unwrap();
            prop_assert_eq!(sent.as_str(), stored.as_str());
            match to_editable(&stored) {
                Editable::Html(html) => prop_assert_eq!(html, stored.as_str()),
                Editable::Markdown(markdown) => {
                    let again = store(&markdown);
                    let stored = if has_block(&parse(stored.as_str())) || stored.as_str().trim().is_empty() {
                        stored.as_str().to_owned()
                    } else {
                        format!("<p>{}</p>", stored.as_str().trim())
                    };
                    prop_assert_eq!(normalize(again.as_str().trim()), normalize(stored.trim()));
                }
            }
        }
    }
}
