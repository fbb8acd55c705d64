//! HTML with few elements that looks like HTML with many.

use html5ever::{Attribute, ns};
use url::Url;

use super::plain::push_escaped;
use super::tree::{self, Node, NodeData};
use crate::model::picture;

/// The inline elements that stay, and what others become that look alike.
const INLINE: &[(&str, &str)] = &[
    ("a", "a"),
    ("b", "b"),
    ("cite", "i"),
    ("code", "code"),
    ("del", "del"),
    ("dfn", "i"),
    ("em", "em"),
    ("i", "i"),
    ("ins", "u"),
    ("kbd", "code"),
    ("s", "s"),
    ("samp", "code"),
    ("span", "span"),
    ("strike", "s"),
    ("strong", "strong"),
    ("sub", "sub"),
    ("sup", "sup"),
    ("tt", "code"),
    ("u", "u"),
    ("var", "i"),
];

/// The blocks that contain inline content only, and what others become that look alike.
const LEAVES: &[(&str, &str)] =
    &[("h1", "h1"), ("h2", "h2"), ("h3", "h3"), ("h4", "h4"), ("h5", "h4"), ("h6", "h4"), ("p", "p")];

/// The blocks that may contain other blocks.
const CONTAINERS: &[(&str, &str)] =
    &[("blockquote", "blockquote"), ("dir", "ul"), ("li", "li"), ("menu", "ul"), ("ol", "ol"), ("ul", "ul")];

/// Blocks that become paragraphs.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "html",
    "legend",
    "main",
    "nav",
    "optgroup",
    "option",
    "search",
    "section",
    "summary",
    "table",
];

/// Elements that no browser shows.
const UNSEEN: &[&str] = &[
    "annotation",
    "annotation-xml",
    "audio",
    "canvas",
    "colgroup",
    "datalist",
    "head",
    "iframe",
    "noembed",
    "noframes",
    "noscript",
    "rp",
    "script",
    "style",
    "template",
    "title",
    "video",
];

/// Returns HTML of the elements that stay, which shows the same text on the same lines, or `None` if it would be longer
/// than `max` bytes. The caller has bounded the cost of parsing.
pub(super) fn simplify(html: &str, max: usize) -> Option<String> {
    let mut writer = Writer { html: String::with_capacity(html.len()), max, ..Writer::default() };
    writer.write_children(&tree::parse(html), Context::default());
    writer.end_lines();
    (writer.html.len() <= max).then_some(writer.html)
}

/// What an element becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Unseen,
    Inline(&'static str),
    /// Its content stays, without any element.
    Transparent,
    Leaf(&'static str),
    Container(&'static str),
    Preformatted,
    Block,
    Row,
    Cell,
    LineBreak,
    Rule,
    Picture,
}

/// Where inline content is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Context {
    /// The block that is opened for inline content. Without one it is inside of a container, or at the top.
    leaf: Option<Leaf>,
    white_space: WhiteSpace,
    /// Whether elements between lines of text become lines, too, as in a flex container.
    makes_blocks: bool,
    /// Whether it is not shown, unless an element inside says so.
    is_invisible: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Leaf {
    name: &'static str,
    /// Whether it was another element. Then it is left out if it has no text.
    is_converted: bool,
}

/// How line breaks in text look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum WhiteSpace {
    /// As spaces.
    #[default]
    Collapsed,
    /// As line breaks, by a style.
    Kept,
    /// As line breaks, in a `pre`.
    Preformatted,
}

#[derive(Default)]
struct Writer {
    html: String,
    max: usize,
    /// The inline elements around what is written next, with their attributes.
    inline: Vec<(&'static str, String)>,
    /// How many of them have a start tag in `html` already.
    open_inline: usize,
    /// The block that has a start tag in `html`, but no end tag yet.
    open_leaf: Option<&'static str>,
    /// What is written before the next inline content of the same block.
    separator: Option<Separator>,
    /// Whether there is inline content since the last start or end of a block.
    is_in_line: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Cell,
    Row,
}

impl Writer {
    fn write_children(&mut self, parent: &Node, context: Context) {
        let mut cells = 0;
        for child in parent.children.borrow().iter() {
            if self.html.len() > self.max {
                return;
            }
            match &child.data {
                NodeData::Text(text) => self.write_text(&text.borrow(), context),
                NodeData::Element { name, attributes, .. } => {
                    let style = Style::of(attributes);
                    let is_known = name.ns == ns!(html) || UNSEEN.contains(&&*name.local);
                    let role = role_of(if is_known { &name.local } else { "" }, &style, context);
                    if role == Role::Cell {
                        if cells > 0 && self.open_leaf.is_some() {
                            self.separator = self.separator.or(Some(Separator::Cell));
                        }
                        cells += 1;
                    }
                    self.write_element(child, role, attributes, style.context(context));
                }
                NodeData::Other => {}
            }
        }
    }

    fn write_element(&mut self, node: &Node, role: Role, attributes: &[Attribute], context: Context) {
        match role {
            Role::Unseen => {}
            Role::Inline(name) => {
                // A `b` in a `b` changes nothing.
                if self.inline.iter().any(|(open, _)| *open == name) && !matches!(name, "sub" | "sup" | "a") {
                    return self.write_children(node, context);
                }
                let attributes = if name == "a" { link_target(attributes) } else { String::new() };
                self.inline.push((name, attributes));
                self.write_children(node, context);
                if self.open_inline == self.inline.len() {
                    self.close_inline(self.open_inline - 1);
                }
                self.inline.pop();
            }
            Role::Block | Role::Leaf(_) | Role::Row | Role::Container(_) | Role::Preformatted | Role::Rule
                if context.white_space == WhiteSpace::Preformatted =>
            {
                self.break_preformatted_line();
                self.write_children(node, context);
                self.break_preformatted_line();
            }
            Role::Row if context.leaf.is_some() => {
                self.end_row();
                self.write_children(node, context);
                self.end_row();
            }
            Role::Block | Role::Row | Role::Leaf(_) => {
                let was_in_line = self.is_in_line && context.leaf.is_none() && !context.is_invisible;
                self.end_lines();
                let length = self.html.len();
                let own = match role {
                    Role::Leaf(name) => Leaf { name, is_converted: false },
                    _ => Leaf { name: "p", is_converted: true },
                };
                // What is in a heading stays in it.
                let leaf = context.leaf.filter(|outer| outer.name != "p").unwrap_or(own);
                self.write_children(node, Context { leaf: Some(leaf), ..context });
                self.end_lines();
                if was_in_line && self.html.len() == length {
                    // An empty block is between two lines, too.
                    self.is_in_line = true;
                    self.separator = Some(Separator::Row);
                }
            }
            Role::Container(_) | Role::Preformatted | Role::Rule if context.is_invisible => {
                self.write_children(node, context);
            }
            Role::Transparent | Role::Cell => self.write_children(node, context),
            Role::Container(name) => {
                self.end_lines();
                self.html.push_str(&format!("<{name}{}>", list_start(name, attributes)));
                self.write_children(node, Context { leaf: None, ..context });
                self.end_lines();
                self.html.push_str(&format!("</{name}>"));
            }
            Role::Preformatted => {
                self.end_lines();
                self.html.push_str("<pre>");
                let white_space = WhiteSpace::Preformatted;
                self.write_children(node, Context { leaf: None, white_space, ..context });
                self.end_lines();
                self.html.push_str("</pre>");
            }
            Role::LineBreak => self.write_line_break(context),
            Role::Picture if context.is_invisible => {}
            Role::Picture => self.write_picture(attributes, context),
            Role::Rule => {
                self.end_lines();
                self.html.push_str("<hr>");
            }
        }
    }

    fn write_text(&mut self, text: &str, context: Context) {
        if context.is_invisible {
            return;
        }
        let is_blank = text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0xc));
        match context.white_space {
            WhiteSpace::Preformatted => {
                // The parser drops a line break after the start tag.
                if self.html.ends_with("<pre>") && self.open_inline == self.inline.len() && text.starts_with('\n') {
                    self.html.push('\n');
                }
                self.open_inline(context);
                push_escaped(&mut self.html, text);
            }
            // Between blocks it is not shown.
            _ if is_blank && self.open_leaf.is_none() && context.leaf.is_some() => {}
            WhiteSpace::Kept if text.contains('\n') => {
                for (at, line) in text.split('\n').enumerate() {
                    if at > 0 {
                        self.write_line_break(context);
                    }
                    if !line.is_empty() {
                        self.open_inline(context);
                        push_escaped(&mut self.html, line);
                    }
                }
            }
            // In a container it may be between words, and needs no element.
            _ if is_blank && context.leaf.is_none() => self.html.push_str(text),
            _ if is_blank && self.separator.is_some() => {}
            WhiteSpace::Collapsed | WhiteSpace::Kept => {
                self.open_inline(context);
                push_escaped(&mut self.html, text);
            }
        }
    }

    fn write_line_break(&mut self, context: Context) {
        // An empty line at the start of what becomes a paragraph looks like the space before the paragraph.
        let is_leading = self.open_leaf.is_none() && context.leaf.is_some_and(|leaf| leaf.is_converted);
        if is_leading || context.is_invisible {
            return;
        }
        self.open_inline(context);
        self.html.push_str("<br>");
    }

    /// Writes a picture of the workspace. One of another site becomes a link: it would be loaded from there by everybody
    /// who reads the text. Of others without a link, the alternative text stays. An empty one says that it is a decoration.
    fn write_picture(&mut self, attributes: &[Attribute], context: Context) {
        let (source, alternative) = (value_of(attributes, "src").trim(), value_of(attributes, "alt").trim());
        let is_decoration =
            alternative.is_empty() && attributes.iter().any(|attribute| &*attribute.name.local == "alt");
        if picture::parse_path(source).is_some() && context.white_space != WhiteSpace::Preformatted {
            self.open_inline(context);
            let alternative = escape_attribute(alternative);
            self.html.push_str(&format!("<img src=\"{source}\" alt=\"{alternative}\">"));
            return;
        }
        let scheme = Url::parse(source).ok().map(|url| url.scheme().to_owned());
        let is_link = scheme.as_deref().is_some_and(|scheme| matches!(scheme, "http" | "https"));
        let is_in_link = self.inline.iter().any(|(name, _)| *name == "a");
        let text = if alternative.is_empty() && is_link && !is_decoration { source } else { alternative };
        // What is not on a site is a part of a mail, or inside of the text itself: mostly a logo or a sign.
        if text.is_empty() || (scheme.is_some() && !is_link) || is_invisible_picture(attributes) {
            return;
        }
        if is_link && !is_in_link {
            self.inline.push(("a", target_attributes(source)));
            self.open_inline(context);
            push_escaped(&mut self.html, text);
            self.close_inline(self.open_inline - 1);
            self.inline.pop();
        } else {
            self.open_inline(context);
            push_escaped(&mut self.html, text);
        }
    }

    /// Writes the start tags that inline content needs.
    fn open_inline(&mut self, context: Context) {
        if let Some(leaf) = context.leaf.filter(|_| self.open_leaf.is_none()) {
            self.html.push_str(&format!("<{}>", leaf.name));
            self.open_leaf = Some(leaf.name);
            self.separator = None;
        }
        self.is_in_line = true;
        match self.separator.take() {
            Some(Separator::Row) => self.html.push_str("<br>"),
            Some(Separator::Cell) => self.html.push('\t'),
            None => {}
        }
        for (name, attributes) in self.inline.get(self.open_inline..).unwrap_or_default() {
            self.html.push_str(&format!("<{name}{attributes}>"));
        }
        self.open_inline = self.inline.len();
    }

    /// Writes end tags until `count` inline elements are open.
    fn close_inline(&mut self, count: usize) {
        for (name, _) in self.inline.get(count..self.open_inline).unwrap_or_default().iter().rev() {
            self.html.push_str(&format!("</{name}>"));
        }
        self.open_inline = self.open_inline.min(count);
    }

    /// Ends the line, and the block that was opened for it.
    fn end_lines(&mut self) {
        self.close_inline(0);
        if let Some(name) = self.open_leaf.take() {
            self.html.push_str(&format!("</{name}>"));
        }
        self.separator = None;
        self.is_in_line = false;
    }

    /// Ends the line, but not its block: the rows of a table become the lines of a paragraph.
    fn end_row(&mut self) {
        if self.open_leaf.is_some() {
            self.separator = Some(Separator::Row);
        }
    }

    fn break_preformatted_line(&mut self) {
        if !self.html.ends_with(['\n', '>']) {
            self.html.push('\n');
        }
    }
}

/// Returns what an element becomes.
fn role_of(name: &str, style: &Style, context: Context) -> Role {
    let find = |names: &[(&'static str, &'static str)]| {
        names.iter().find(|(known, _)| *known == name).map(|(_, becomes)| *becomes)
    };
    let role = match name {
        "br" => Role::LineBreak,
        "hr" => Role::Rule,
        "img" => Role::Picture,
        "tr" => Role::Row,
        "td" | "th" => Role::Cell,
        "pre" => Role::Preformatted,
        _ if UNSEEN.contains(&name) => Role::Unseen,
        _ if BLOCKS.contains(&name) => Role::Block,
        _ => find(INLINE)
            .map(Role::Inline)
            .or_else(|| find(LEAVES).map(Role::Leaf))
            .or_else(|| find(CONTAINERS).map(Role::Container))
            .unwrap_or(Role::Transparent),
    };
    match (style.display, role) {
        _ if style.is_hidden || role == Role::Unseen => Role::Unseen,
        (_, Role::LineBreak | Role::Picture) => role,
        (Some(Display::Inline), Role::Block | Role::Leaf(_) | Role::Row | Role::Cell) => Role::Transparent,
        (Some(Display::Block), Role::Inline(_) | Role::Transparent | Role::Cell | Role::Row) => Role::Block,
        (Some(Display::Row), Role::Inline(_) | Role::Transparent | Role::Block) => Role::Row,
        (Some(Display::Cell), Role::Inline(_) | Role::Transparent | Role::Block) => Role::Cell,
        (_, Role::Inline(_) | Role::Transparent) if context.makes_blocks => Role::Block,
        _ => role,
    }
}

/// What a `style` attribute says about lines.
#[derive(Debug, Default)]
struct Style {
    is_hidden: bool,
    display: Option<Display>,
    makes_blocks: bool,
    keeps_line_breaks: Option<bool>,
    is_visible: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Display {
    Inline,
    Block,
    Row,
    Cell,
}

impl Style {
    fn of(attributes: &[Attribute]) -> Self {
        let mut style = Self::default();
        for attribute in attributes {
            match &*attribute.name.local {
                "hidden" => style.is_hidden = true,
                "style" => {
                    attribute.value.split(';').filter_map(|rule| rule.split_once(':')).for_each(|(name, value)| {
                        let value = value.split('!').next().unwrap_or_default().trim().to_ascii_lowercase();
                        style.apply(&name.trim().to_ascii_lowercase(), &value);
                    })
                }
                _ => {}
            }
        }
        style
    }

    fn apply(&mut self, name: &str, value: &str) {
        match (name, value) {
            ("display", "none") => self.is_hidden = true,
            ("visibility", "hidden" | "collapse") => self.is_visible = Some(false),
            ("visibility", "visible") => self.is_visible = Some(true),
            ("float", "left" | "right") | ("position", "absolute" | "fixed") => self.display = Some(Display::Block),
            ("display", "flex" | "grid" | "inline-flex" | "inline-grid") => {
                self.makes_blocks = true;
                self.display = if value.starts_with("inline") { None } else { Some(Display::Block) };
            }
            ("display", "inline" | "inline-block" | "contents") => self.display = Some(Display::Inline),
            ("display", "block" | "flow-root" | "list-item" | "table") => self.display = Some(Display::Block),
            ("display", "table-row") => self.display = Some(Display::Row),
            ("display", "table-cell") => self.display = Some(Display::Cell),
            ("white-space", "pre" | "pre-wrap" | "pre-line" | "break-spaces") => self.keeps_line_breaks = Some(true),
            ("white-space", "normal" | "nowrap") => self.keeps_line_breaks = Some(false),
            _ => {}
        }
    }

    /// Returns the context of the element's content.
    fn context(&self, outer: Context) -> Context {
        let white_space = match (outer.white_space, self.keeps_line_breaks) {
            (WhiteSpace::Preformatted, _) | (_, None) => outer.white_space,
            (_, Some(true)) => WhiteSpace::Kept,
            (_, Some(false)) => WhiteSpace::Collapsed,
        };
        let is_invisible = self.is_visible.map_or(outer.is_invisible, |is_visible| !is_visible);
        Context { white_space, makes_blocks: self.makes_blocks, is_invisible, ..outer }
    }
}

/// Returns the attribute of a link with its target, if that is allowed.
fn link_target(attributes: &[Attribute]) -> String {
    let target = value_of(attributes, "href");
    match Url::parse(target).is_ok_and(|url| matches!(url.scheme(), "http" | "https" | "mailto")) {
        true => target_attributes(target),
        false => " rel=\"nofollow noopener\"".to_owned(),
    }
}

/// Returns the attributes of a link to an allowed target.
pub(super) fn target_attributes(target: &str) -> String {
    format!(" href=\"{}\" rel=\"nofollow noopener\"", escape_attribute(target))
}

/// Whether a picture has a size that nobody sees. Mails have such ones to find out who reads them.
fn is_invisible_picture(attributes: &[Attribute]) -> bool {
    ["width", "height"].iter().any(|name| matches!(value_of(attributes, name).trim(), "0" | "1"))
}

/// Returns the value of an attribute. A missing one is empty.
fn value_of<'a>(attributes: &'a [Attribute], name: &str) -> &'a str {
    let attribute = attributes.iter().find(|attribute| &*attribute.name.local == name);
    attribute.map_or("", |attribute| &*attribute.value)
}

/// Escapes the value of an attribute as the HTML standard serializes it (section 13.3).
fn escape_attribute(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\u{a0}' => escaped.push_str("&nbsp;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Returns the attribute with the first number of an ordered list, unless that is 1.
fn list_start(name: &str, attributes: &[Attribute]) -> String {
    let start = attributes.iter().find(|attribute| name == "ol" && &*attribute.name.local == "start");
    match start.and_then(|start| start.value.trim().parse::<i32>().ok()) {
        None | Some(1) => String::new(),
        Some(start) => format!(" start=\"{start}\""),
    }
}
