//! What replies quote of the comments that they reply to.

use std::collections::{HashMap, HashSet};

use roadmap_domain::model::markdown;
use roadmap_domain::model::text::truncate;

/// Most characters of a comment that a reply quotes.
const MAX_QUOTED: usize = 80;
/// Most characters of a comment with markup of which the text is searched.
const MAX_MARKUP: usize = 10_000;
/// Bytes of a text that count as one record.
const TEXT_UNIT: usize = 16;

/// What a reply quotes.
pub(super) struct Quote {
    /// Empty if there is nothing to quote.
    pub(super) text: String,
    /// Whether customers do not see the comment.
    pub(super) is_private: bool,
}

/// The quotes of a run. Comments are known by the hashes of their ids.
#[derive(Default)]
pub(super) struct Quotes {
    /// The comments that have replies.
    parents: HashSet<u64>,
    quotes: HashMap<u64, Quote>,
    bytes: usize,
    left_out: u64,
}

impl Quotes {
    /// Remembers that a comment has replies.
    pub(super) fn add_parent(&mut self, comment: u64) {
        self.parents.insert(comment);
    }

    pub(super) fn has_parents(&self) -> bool {
        !self.parents.is_empty()
    }

    pub(super) fn is_parent(&self, comment: u64) -> bool {
        self.parents.contains(&comment)
    }

    /// Returns how much is remembered beside the quotes, which have a bound of their own.
    pub(super) fn records(&self) -> usize {
        self.parents.len()
    }

    /// Remembers what replies to a comment quote, unless all quotes are more than `max_records` allow.
    pub(super) fn add(&mut self, comment: u64, quote: Quote, max_records: usize) {
        if self.quotes.contains_key(&comment) {
            return;
        }
        let bytes = self.bytes + quote.text.len() + TEXT_UNIT;
        if bytes > max_records.saturating_mul(TEXT_UNIT) / 2 {
            self.left_out += 1;
        } else {
            self.bytes = bytes;
            self.quotes.insert(comment, quote);
        }
    }

    pub(super) fn find(&self, comment: u64) -> Option<&Quote> {
        self.quotes.get(&comment)
    }

    /// Returns how many comments that have replies there was no space for.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// Returns what a reply to a text quotes of it. `None` if there is nothing.
pub(super) fn quoted(text: &str) -> Option<String> {
    let text = text.trim();
    let start = truncate(text, MAX_QUOTED);
    let more = if start.len() < text.len() { "…" } else { "" };
    (!start.is_empty()).then(|| format!("{}{more}", start.trim_end()))
}

/// Returns what a reply quotes of a text that may be HTML: of the text that it shows.
pub(super) fn quoted_html(text: &str) -> Option<String> {
    if !text.contains(['<', '&']) {
        return quoted(text);
    }
    let html = markdown::imported_to_html("text", truncate(text, MAX_MARKUP)).ok()?;
    // What is no markup there must be none in the quote.
    quoted(&html.to_text()).map(|quote| quote.replace('&', "&amp;").replace('<', "&lt;"))
}

/// Returns a reply with a quote before it.
pub(super) fn with_quote(quote: &str, reply: &str) -> String {
    let lines = quote.lines().map(|line| if line.trim().is_empty() { ">\n".to_owned() } else { format!("> {line}\n") });
    format!("{}\n{reply}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_begins_with_the_beginning_of_its_parent() {
        let x = |count: usize| "x".repeat(count);
        for (text, quote) in [
            (" +1, please \n".to_owned(), Some("+1, please".to_owned())),
            (x(80), Some(x(80))),
            (x(81), Some(format!("{}…", x(80)))),
            (format!("{} {}", x(79), x(9)), Some(format!("{}…", x(79)))),
            ("ü".repeat(81), Some(format!("{}…", "ü".repeat(80)))),
            (" \n".to_owned(), None),
        ] {
            assert_eq!(quoted(&text), quote);
            assert_eq!(quoted_html(&text), quote);
        }
        assert_eq!(with_quote("one\n\ntwo", "Yes"), "> one\n>\n> two\n\nYes");
    }

    #[test]
    fn html_is_quoted_as_the_text_that_it_shows() {
        for (html, quote) in [
            ("<p>Yes, please</p>", Some("Yes, please")),
            ("<p>One<br>two</p>", Some("One\ntwo")),
            ("<p>a &lt;script&gt; &amp;lt; b</p>", Some("a &lt;script> &amp;lt; b")),
            ("Use List<String>", Some("Use List&lt;String>")),
            ("<p> </p>", None),
        ] {
            assert_eq!(quoted_html(html).as_deref(), quote, "{html}");
        }
        let long = format!("<p>{}</p>", "word ".repeat(1_000_000));
        assert_eq!(quoted_html(&long).map(|quote| quote.chars().count()), Some(80));
    }

    #[test]
    fn quotes_have_a_bound() {
        let mut quotes = Quotes::default();
        quotes.add_parent(1);
        assert!(quotes.has_parents() && quotes.is_parent(1) && !quotes.is_parent(2));
        let quote = |text: &str| Quote { text: text.to_owned(), is_private: false };
        quotes.add(1, quote("one"), 5);
        quotes.add(1, quote("again"), 5);
        quotes.add(2, quote("one of too many bytes"), 5);
        assert_eq!(quotes.find(1).map(|quote| &*quote.text), Some("one"));
        assert!(quotes.find(2).is_none());
        assert_eq!((quotes.left_out(), quotes.records()), (1, 1));
    }
}
