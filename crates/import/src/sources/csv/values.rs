//! What the cells of a record mean.

use std::borrow::Cow;

use roadmap_domain::model::feature_request::{Tag, Title};
use roadmap_domain::model::text::{Name, clean_line, truncate};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// Bytes of the digest of a record without an id: 128 bits.
const ID_BYTES: usize = 16;

/// Returns a cell as one line of visible text. `None` if it is blank.
pub(crate) fn line(cell: &str) -> Option<String> {
    let line = clean_line(cell);
    (!line.is_empty()).then(|| line.into_owned())
}

/// Returns a cell as it is. `None` if it is blank.
pub(crate) fn optional(cell: &str) -> Option<&str> {
    let text = cell.trim();
    (!text.is_empty()).then_some(text)
}

/// A title that fits, and the description that has the whole one before it if it was cut.
pub(crate) fn fit_title<'a>(title: &'a str, description: &'a str) -> (Cow<'a, str>, Cow<'a, str>) {
    let start = truncate(title, Title::MAX);
    if start.len() == title.len() {
        return (Cow::Borrowed(title), Cow::Borrowed(description));
    }
    let start = truncate(title, Title::MAX - 1);
    let is_word_end = title.get(start.len()..).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    let words = match start.rfind(char::is_whitespace) {
        Some(end) if !is_word_end => start.get(..end).unwrap_or(start),
        _ => start,
    };
    let separator = if description.trim().is_empty() { "" } else { "\n\n" };
    (Cow::Owned(format!("{}…", words.trim_end())), Cow::Owned(format!("{title}{separator}{description}")))
}

/// The tags of a record, and those that it cannot have.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tags {
    pub(crate) kept: Vec<String>,
    pub(crate) too_long: Vec<String>,
    /// The first ones of the rest, and how many the rest are.
    pub(crate) too_many: Vec<String>,
    pub(crate) rest: usize,
    folded: Vec<String>,
}

impl Tags {
    /// Adds the tags of a cell, which are separated by `|`, `;` or `,`: by the first of these that occurs.
    pub(super) fn add(&mut self, cell: &str) {
        split_tags(cell).for_each(|tag| self.add_one(tag));
    }

    /// Adds a tag, unless it is blank or there already.
    pub(crate) fn add_one(&mut self, tag: &str) {
        let Some(tag) = line(tag) else { return };
        let folded = tag.to_lowercase();
        if self.folded.contains(&folded) {
            return;
        }
        if tag.chars().count() > Tag::MAX {
            self.too_long.push(tag);
        } else if self.kept.len() == Tag::MAX_COUNT {
            self.rest += 1;
            if self.too_many.len() < Tag::MAX_COUNT {
                self.too_many.push(tag);
            }
        } else {
            self.folded.push(folded);
            self.kept.push(tag);
        }
    }
}

/// Splits a cell of tags.
pub(super) fn split_tags(cell: &str) -> impl Iterator<Item = &str> {
    let separator = ['|', ';', ','].into_iter().find(|separator| cell.contains(*separator)).unwrap_or('|');
    cell.split(separator)
}

/// Calls `each` for every item of a list: of JSON, of PostgreSQL (`{a,"b c"}`), or with commas between them.
pub(crate) fn for_each_item(cell: &str, mut each: impl FnMut(&str)) {
    let cell = cell.trim();
    let inside = cell.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let is_object = |inside: &str| !inside.trim().is_empty() && serde_json::from_str::<IgnoredAny>(cell).is_ok();
    if let Some(inside) = inside.filter(|inside| !is_object(inside)) {
        return split_array(inside).iter().for_each(|item| each(item));
    }
    let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(cell) else {
        return cell.split(',').for_each(each);
    };
    for item in items.into_iter().map(RawValue::get).filter(|item| *item != "null") {
        match serde_json::from_str::<String>(item) {
            Ok(text) => each(&text),
            Err(_) => each(item),
        }
    }
}

/// Splits what is between the braces of an array of PostgreSQL, in which `"` and `\` quote.
fn split_array(inside: &str) -> Vec<String> {
    let (mut items, mut item) = (Vec::new(), String::new());
    let (mut is_quoted, mut was_quoted) = (false, false);
    let mut characters = inside.chars();
    let mut end = |item: &mut String, was_quoted: &mut bool| {
        let text = std::mem::take(item);
        if std::mem::take(was_quoted) || !text.trim().eq_ignore_ascii_case("null") {
            items.push(text);
        }
    };
    while let Some(character) = characters.next() {
        match character {
            '\\' => item.extend(characters.next()),
            '"' => (is_quoted, was_quoted) = (!is_quoted, true),
            ',' if !is_quoted => end(&mut item, &mut was_quoted),
            _ => item.push(character),
        }
    }
    end(&mut item, &mut was_quoted);
    items
}

/// Splits a cell of addresses of voters. Each is an entry, usable or not.
pub(super) fn split_voters(cell: &str) -> impl Iterator<Item = &str> {
    cell.split([';', '|']).filter_map(optional)
}

/// Returns whether a cell says yes. `None` if it says neither yes nor no.
pub(crate) fn flag(cell: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(cell.trim()));
    if is(&["yes", "true", "1", "y", "t"]) {
        Some(true)
    } else if is(&["", "no", "false", "0", "n", "f"]) {
        Some(false)
    } else {
        None
    }
}

/// Returns the number of votes that a cell has: 0 if it is blank, and what is below 0 as it is. `None` for anything else.
pub(crate) fn count(cell: &str) -> Option<i64> {
    optional(cell).map_or(Some(0), |text| text.parse().ok())
}

/// Votes that a source counts without a usable person.
///
/// `entries` are all listed voters, `unusable` those of them without a usable person.
pub(crate) fn nameless_votes(count: i64, entries: u64, unusable: u64) -> u32 {
    let more = u64::try_from(count).unwrap_or_default().saturating_sub(entries);
    u32::try_from(more.saturating_add(unusable)).unwrap_or(u32::MAX)
}

/// Returns the name of a person as a line of at most as many characters as names have.
pub(crate) fn person_name(cell: &str) -> Option<String> {
    line(cell).map(|name| truncate(&name, Name::MAX).trim_end().to_owned())
}

/// Returns the id of a record that has none: a digest of what identifies it.
pub(crate) fn digest(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().take(ID_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_title_is_cut_at_a_word() {
        let x = |count: usize| "x".repeat(count);
        for (title, cut) in [
            (x(200), x(200)),
            ("ü".repeat(200), "ü".repeat(200)),
            (x(201), format!("{}…", x(199))),
            (format!("{} {}", x(100), x(100)), format!("{}…", x(100))),
            (format!("{} {}", x(199), x(10)), format!("{}…", x(199))),
            (format!("{} {}", x(198), x(10)), format!("{}…", x(198))),
            (format!("{} \u{3000}{}", x(150), x(60)), format!("{}…", x(150))),
            ("ü".repeat(201), format!("{}…", "ü".repeat(199))),
        ] {
            let (fitted, description) = fit_title(&title, "Why");
            assert_eq!(fitted, cut);
            assert!(Title::parse("title", &fitted).is_ok());
            let whole = if title == cut { "Why".to_owned() } else { format!("{title}\n\nWhy") };
            assert_eq!(description, whole);
        }
        assert_eq!(fit_title(&x(201), " \n").1, format!("{} \n", x(201)));
    }

    #[test]
    fn tags_are_split_by_the_first_separator_that_occurs() {
        let tags = |cells: &[&str]| {
            let mut tags = Tags::default();
            cells.iter().for_each(|cell| tags.add(cell));
            tags
        };
        for (cells, kept) in [
            (&["ui|theme"][..], &["ui", "theme"][..]),
            (&["a, b;c"], &["a, b", "c"]),
            (&["a;b|c,d"], &["a;b", "c,d"]),
            (&["a, b,,"], &["a", "b"]),
            (&["", " "], &[]),
            (&["one tag"], &["one tag"]),
            (&["Web", "ui,WEB"], &["Web", "ui"]),
        ] {
            assert_eq!(tags(cells).kept, kept, "{cells:?}");
        }
        let long = "x".repeat(51);
        let numbers: Vec<String> = (0..22).map(|n| n.to_string()).collect();
        let many: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
        let found = tags(&[&many.join(",")]);
        assert_eq!((found.kept.len(), found.too_many.len(), found.rest), (20, 20, 980));
        let found = tags(&[&long, &numbers.join("|"), "0"]);
        assert_eq!(
            (found.kept.len(), found.too_long, found.too_many),
            (20, vec![long], vec!["20".to_owned(), "21".to_owned()])
        );
    }

    #[test]
    fn lists_have_several_forms() {
        for (cell, items) in [
            ("a, b", &["a", " b"][..]),
            ("[\"a\",\"b, c\",1,null]", &["a", "b, c", "1"]),
            ("[a]", &["[a]"]),
            ("[]", &[]),
            ("{}", &[""]),
            ("{a,\"b, \\\"c\\\"\",NULL,\"NULL\"}", &["a", "b, \"c\"", "NULL"]),
            ("{a", &["{a"]),
            ("{\"a\":1}", &["{\"a\":1}"]),
            ("", &[""]),
        ] {
            let mut found = Vec::new();
            for_each_item(cell, |item| found.push(item.to_owned()));
            assert_eq!(found, items, "{cell}");
        }
    }

    #[test]
    fn voters_are_entries() {
        let split = |cell| split_voters(cell).collect::<Vec<_>>();
        assert_eq!(split("a@x.example; b@x.example|c;"), ["a@x.example", "b@x.example", "c"]);
        assert_eq!(split(" ;"), [] as [&str; 0]);
    }

    #[test]
    fn flags_and_counts_are_read() {
        for (cell, value) in [
            ("yes", Some(true)),
            (" TRUE ", Some(true)),
            ("1", Some(true)),
            ("", Some(false)),
            ("no", Some(false)),
            ("False", Some(false)),
            ("0", Some(false)),
            ("t", Some(true)),
            ("f", Some(false)),
            ("Y", Some(true)),
            ("n", Some(false)),
            ("maybe", None),
        ] {
            assert_eq!(flag(cell), value, "{cell}");
        }
        for (cell, value) in
            [("", Some(0)), (" 7 ", Some(7)), ("-4", Some(-4)), ("+3", Some(3)), ("many", None), ("1.5", None)]
        {
            assert_eq!(count(cell), value, "{cell}");
        }
    }

    #[test]
    fn nameless_votes_are_those_that_no_entry_explains() {
        for (count, entries, unusable, nameless) in [
            (0, 0, 0, 0),
            (7, 0, 0, 7),
            (7, 5, 0, 2),
            (7, 5, 2, 4),
            (3, 5, 0, 0),
            (3, 5, 5, 5),
            (-4, 0, 0, 0),
            (-4, 2, 1, 1),
            (i64::MAX, 0, 0, u32::MAX),
        ] {
            assert_eq!(nameless_votes(count, entries, unusable), nameless, "{count} {entries} {unusable}");
        }
    }

    #[test]
    fn a_digest_identifies_its_parts() {
        let id = digest(&["Dark mode", "2024-05-01"]);
        assert_eq!(id.len(), 2 * ID_BYTES);
        assert_eq!(id, digest(&["Dark mode", "2024-05-01"]));
        for parts in [["Dark mode2024-05-01", ""], ["Dark mode", ""], ["Dark mode2", "024-05-01"]] {
            assert_ne!(id, digest(&parts));
        }
    }

    #[test]
    fn blank_lines_are_none() {
        assert_eq!(line(" a\n b\u{200b} "), Some("a b".to_owned()));
        assert_eq!(line(" \u{200b}"), None);
        assert_eq!(optional(" \n"), None);
    }
}
