//! Measurement of the cost of parsing HTML.
//!
//! An HTML parser walks its stack of open elements for nearly every tag (HTML standard, 13.2.4.3). Markup whose
//! elements stay open therefore takes quadratic time. This module runs the same parser without building a tree. It
//! parses the input in chunks and stops when elements are nested too deeply or the parser takes too many steps.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName, local_name, ns, parse_fragment};

/// Maximum nesting depth of elements. Browsers stop at 512.
pub(super) const MAX_DEPTH: usize = 256;

/// Maximum number of steps through open elements. They take some hundredths of a second.
const MAX_STEPS: usize = 2_000_000;

/// Number of bytes that are parsed between two checks of the cost.
const CHUNK_BYTES: usize = 512;

/// Whether parsing `html` exceeds the limits. HTML with at most [`MAX_DEPTH`] tags cannot.
pub(super) fn exceeds_limit(html: &str) -> bool {
    let tags = html.bytes().filter(|byte| *byte == b'<').count();
    tags > MAX_DEPTH && count_steps(html).is_none()
}

/// Returns the number of steps of the parser, or `None` when a limit is exceeded.
fn count_steps(html: &str) -> Option<usize> {
    let counts = Rc::new(Counts::default());
    let div = QualName::new(None, ns!(html), local_name!("div"));
    let mut parser = parse_fragment(CountingSink(counts.clone()), ParseOpts::default(), div, Vec::new(), false);
    let mut rest = html;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(CHUNK_BYTES).max(1));
        rest = behind;
        parser.process(StrTendril::from_slice(piece));
        if counts.deepest.get() > MAX_DEPTH || counts.steps.get() > MAX_STEPS {
            return None;
        }
    }
    Some(counts.steps.get())
}

#[derive(Default)]
struct Counts {
    steps: Cell<usize>,
    deepest: Cell<usize>,
}

impl Counts {
    fn step(&self) {
        self.steps.set(self.steps.get() + 1);
    }
}

/// A node with the properties that the parser reads, and its depth.
#[derive(Clone)]
struct Node(Rc<Element>);

struct Element {
    name: QualName,
    depth: Cell<usize>,
    contents: RefCell<Option<Node>>,
}

impl Node {
    fn new(name: QualName) -> Self {
        Self(Rc::new(Element { name, depth: Cell::new(0), contents: RefCell::default() }))
    }

    fn unnamed() -> Self {
        Self::new(QualName::new(None, ns!(), local_name!("")))
    }
}

/// The name of an element.
#[derive(Debug)]
struct Name<'a>(&'a QualName);

impl ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

/// A tree sink that counts steps and depth without building a tree.
struct CountingSink(Rc<Counts>);

impl CountingSink {
    fn record_depth(&self, depth: usize, child: &NodeOrText<Node>) {
        if let NodeOrText::AppendNode(child) = child {
            child.0.depth.set(depth);
            self.0.deepest.set(self.0.deepest.get().max(depth));
        }
    }
}

impl TreeSink for CountingSink {
    type Handle = Node;
    type Output = ();
    type ElemName<'a> = Name<'a>;

    fn finish(self) {}

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Node {
        Node::unnamed()
    }

    fn elem_name<'a>(&'a self, target: &'a Node) -> Name<'a> {
        self.0.step();
        Name(&target.0.name)
    }

    fn create_element(&self, name: QualName, _: Vec<Attribute>, _: ElementFlags) -> Node {
        Node::new(name)
    }

    fn create_comment(&self, _: StrTendril) -> Node {
        Node::unnamed()
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Node {
        Node::unnamed()
    }

    fn append(&self, parent: &Node, child: NodeOrText<Node>) {
        self.record_depth(parent.0.depth.get() + 1, &child);
    }

    fn append_based_on_parent_node(&self, element: &Node, _: &Node, child: NodeOrText<Node>) {
        self.append_before_sibling(element, child);
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Node) -> Node {
        let mut contents = target.0.contents.borrow_mut();
        let contents = contents.get_or_insert_with(Node::unnamed);
        contents.0.depth.set(target.0.depth.get() + 1);
        contents.clone()
    }

    fn same_node(&self, one: &Node, other: &Node) -> bool {
        self.0.step();
        Rc::ptr_eq(&one.0, &other.0)
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Node, child: NodeOrText<Node>) {
        self.record_depth(sibling.0.depth.get(), &child);
    }

    fn add_attrs_if_missing(&self, _: &Node, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, _: &Node) {}

    fn reparent_children(&self, _: &Node, _: &Node) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_markup_costs_a_fraction_of_the_limit() {
        let paragraph = "<p>We <b>really</b> love <a href=\"https://x.example/?a=1\">it</a>, <i>do</i> you?</p>";
        let list = "<ul><li>one</li><li>two<ul><li>three</li></ul></li></ul>";
        for fragment in [paragraph, list] {
            let html = fragment.repeat(100_000 / fragment.len());
            let steps = count_steps(&html).expect("within the limits");
            assert!(steps < MAX_STEPS / 4, "{steps}");
            assert!(!exceeds_limit(&html));
        }
    }

    #[test]
    fn nesting_depth_is_bounded() {
        // The first element is one level below the fragment, which is below the document.
        let nested = |levels: usize| format!("{}x{}", "<ul>".repeat(levels), "</ul>".repeat(levels));
        assert!(!exceeds_limit(&nested(MAX_DEPTH - 10)));
        assert!(exceeds_limit(&nested(MAX_DEPTH + 10)));
        assert!(exceeds_limit(&format!("äöü{}", nested(MAX_DEPTH + 10))));
    }

    #[test]
    fn html_with_few_tags_is_not_measured() {
        assert!(!exceeds_limit(&"<ul>".repeat(MAX_DEPTH)));
        assert!(!exceeds_limit(&"no markup & nothing".repeat(5_000)));
    }
}
