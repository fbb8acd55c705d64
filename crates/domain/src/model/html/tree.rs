//! Parsed HTML as a tree.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName, local_name, ns, parse_fragment};

/// Parses a fragment as the content of a `div`, and returns its root. The caller has bounded the cost of parsing.
pub(super) fn parse(html: &str) -> Rc<Node> {
    let div = QualName::new(None, ns!(html), local_name!("div"));
    let sink = Sink { document: Node::new(NodeData::Other) };
    let document = parse_fragment(sink, ParseOpts::default(), div, Vec::new(), false).one(html);
    // The parser puts the content into an `html` element.
    let root = document.children.borrow().first().cloned();
    root.unwrap_or(document)
}

/// A node with its children. Only comments and the like are left out.
pub(super) struct Node {
    pub(super) data: NodeData,
    pub(super) children: RefCell<Vec<Rc<Self>>>,
    parent: RefCell<Weak<Self>>,
}

/// What a node is.
pub(super) enum NodeData {
    Element {
        name: QualName,
        attributes: Vec<Attribute>,
        /// The content of a `template`, which no browser shows.
        contents: Option<Rc<Node>>,
    },
    Text(RefCell<StrTendril>),
    /// The document, a comment or a processing instruction.
    Other,
}

impl Node {
    fn new(data: NodeData) -> Rc<Self> {
        Rc::new(Self { data, children: RefCell::default(), parent: RefCell::default() })
    }

    /// Appends a text to the last one of `siblings`, or returns a new node for it.
    fn merge_text(last: Option<&Rc<Self>>, text: StrTendril) -> Option<Rc<Self>> {
        match last.map(|last| &last.data) {
            Some(NodeData::Text(before)) => {
                before.borrow_mut().push_tendril(&text);
                None
            }
            _ => Some(Self::new(NodeData::Text(RefCell::new(text)))),
        }
    }

    /// Returns the parent and the position among its children.
    fn place(self: &Rc<Self>) -> Option<(Rc<Self>, usize)> {
        let parent = self.parent.borrow().upgrade()?;
        let position = parent.children.borrow().iter().position(|child| Rc::ptr_eq(child, self))?;
        Some((parent, position))
    }

    fn insert(self: &Rc<Self>, position: usize, child: Rc<Self>) {
        child.detach();
        *child.parent.borrow_mut() = Rc::downgrade(self);
        self.children.borrow_mut().insert(position, child);
    }

    fn detach(self: &Rc<Self>) {
        if let Some((parent, position)) = self.place() {
            parent.children.borrow_mut().remove(position);
        }
        *self.parent.borrow_mut() = Weak::new();
    }
}

/// Name of an element; of other nodes, a name without meaning.
#[derive(Debug)]
pub(super) struct Name<'a>(&'a QualName);

impl ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

struct Sink {
    document: Rc<Node>,
}

impl TreeSink for Sink {
    type Handle = Rc<Node>;
    type Output = Rc<Node>;
    type ElemName<'a> = Name<'a>;

    fn finish(self) -> Rc<Node> {
        self.document
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Rc<Node> {
        self.document.clone()
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Node>) -> Name<'a> {
        static UNNAMED: QualName = QualName { prefix: None, ns: ns!(), local: local_name!("") };
        match &target.data {
            NodeData::Element { name, .. } => Name(name),
            NodeData::Text(_) | NodeData::Other => Name(&UNNAMED),
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> Rc<Node> {
        let contents = flags.template.then(|| Node::new(NodeData::Other));
        Node::new(NodeData::Element { name, attributes, contents })
    }

    fn create_comment(&self, _: StrTendril) -> Rc<Node> {
        Node::new(NodeData::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Rc<Node> {
        Node::new(NodeData::Other)
    }

    fn append(&self, parent: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        let child = match child {
            NodeOrText::AppendNode(child) => Some(child),
            NodeOrText::AppendText(text) => Node::merge_text(parent.children.borrow().last(), text),
        };
        if let Some(child) = child {
            let end = parent.children.borrow().len();
            parent.insert(end, child);
        }
    }

    fn append_based_on_parent_node(&self, element: &Rc<Node>, before: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        if element.parent.borrow().upgrade().is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(before, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Rc<Node>) -> Rc<Node> {
        match &target.data {
            NodeData::Element { contents: Some(contents), .. } => contents.clone(),
            _ => target.clone(),
        }
    }

    fn same_node(&self, one: &Rc<Node>, other: &Rc<Node>) -> bool {
        Rc::ptr_eq(one, other)
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Rc<Node>, child: NodeOrText<Rc<Node>>) {
        let Some((parent, position)) = sibling.place() else { return };
        let child = match child {
            NodeOrText::AppendNode(child) => Some(child),
            NodeOrText::AppendText(text) => {
                let before = position.checked_sub(1).and_then(|before| parent.children.borrow().get(before).cloned());
                Node::merge_text(before.as_ref(), text)
            }
        };
        if let Some(child) = child {
            // Detaching the child may have moved its sibling.
            child.detach();
            let position = sibling.place().map_or(position, |(_, position)| position);
            parent.insert(position, child);
        }
    }

    fn add_attrs_if_missing(&self, _: &Rc<Node>, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &Rc<Node>) {
        target.detach();
    }

    fn reparent_children(&self, node: &Rc<Node>, new_parent: &Rc<Node>) {
        for child in node.children.take() {
            *child.parent.borrow_mut() = Rc::downgrade(new_parent);
            new_parent.children.borrow_mut().push(child);
        }
    }
}
