//! Links to own files in the texts of an export, which another installation can read.
//!
//! A text has the URL of a file as `href`, or the path of a picture as `src`. Both depend on the workspace: its address, its
//! id, the secret. In an export, they are `attachment:<id>`.

use std::borrow::Cow;

use crate::model::attachment::Filename;
use crate::model::id::{AttachmentId, parse_hyphenated_uuid};
use crate::model::picture;
use crate::policy::links::Links;
use crate::policy::own_pictures::{Own, find_own};

/// The scheme of such links.
const SCHEME: &str = "attachment:";

/// An attribute with a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attribute {
    Source,
    Target,
}

/// A file as a link names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedFile {
    pub filename: Filename,
    /// Whether it is the picture of a text.
    pub is_picture: bool,
}

/// Returns sanitized HTML whose links to own files do not depend on the installation.
#[must_use]
pub fn export<'a>(html: &'a str, links: &Links) -> Cow<'a, str> {
    map(html, |_, url| match find_own(url, links)? {
        Own::Picture(id) | Own::File(id) => Some(format!("{SCHEME}{id}")),
    })
}

/// Returns HTML of an export with links to the same files here. `find` returns what is known of a file; a link to one that is
/// not there leads nowhere.
#[must_use]
pub fn import<'a>(html: &'a str, links: &Links, find: impl Fn(AttachmentId) -> Option<LinkedFile>) -> Cow<'a, str> {
    map(html, |attribute, url| {
        let id = AttachmentId::new(url.strip_prefix(SCHEME).and_then(parse_hyphenated_uuid)?);
        Some(match (attribute, find(id)) {
            (Attribute::Source, _) => picture::path(id),
            (Attribute::Target, Some(LinkedFile { is_picture: true, .. })) => links.page(&picture::path(id)),
            (Attribute::Target, Some(LinkedFile { filename, .. })) => links.blob(id, &filename),
            (Attribute::Target, None) => links.blob(id, &Filename::sanitize("file")),
        })
    })
}

/// Replaces the values of attributes with a URL for which `replace` returns another one.
fn map(html: &str, replace: impl Fn(Attribute, &str) -> Option<String>) -> Cow<'_, str> {
    let mut mapped = String::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        let (tag, behind) = tag.split_at(end_of_tag(tag));
        mapped.push_str(before);
        // Every second part is the value of an attribute, which has no quotation mark.
        let mut name = None;
        for (place, part) in tag.split('"').enumerate() {
            if place > 0 {
                mapped.push('"');
            }
            match name.filter(|_| place % 2 == 1).and_then(|attribute| replace(attribute, part)) {
                Some(url) => mapped.push_str(&url),
                None => mapped.push_str(part),
            }
            name = match part {
                _ if part.ends_with(" src=") => Some(Attribute::Source),
                _ if part.ends_with(" href=") => Some(Attribute::Target),
                _ => None,
            };
        }
        rest = behind;
    }
    if mapped.is_empty() {
        return Cow::Borrowed(html);
    }
    mapped.push_str(rest);
    Cow::Owned(mapped)
}

/// Returns where a tag ends: at the first `>` that is in no value.
fn end_of_tag(tag: &str) -> usize {
    let mut is_value = false;
    let end = tag.bytes().position(|byte| {
        is_value ^= byte == b'"';
        byte == b'>' && !is_value
    });
    end.unwrap_or(tag.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::links;
    use uuid::Uuid;

    fn id(number: u128) -> AttachmentId {
        AttachmentId::new(Uuid::from_u128(number))
    }

    #[test]
    fn own_links_are_exported_and_come_back() {
        let links = links();
        let filename = Filename::sanitize("a b.pdf");
        let (file, shown) = (links.blob(id(7), &filename), links.page(&picture::path(id(8))));
        let lost = links.blob(id(9), &Filename::sanitize("gone.pdf"));
        let find = |found: AttachmentId| {
            (found != id(9)).then(|| LinkedFile { filename: filename.clone(), is_picture: found == id(8) })
        };
        for (html, exported) in [
            (
                format!("<p>x <a href=\"{file}\" rel=\"nofollow noopener\">{file}</a></p>"),
                format!("<p>x <a href=\"attachment:{}\" rel=\"nofollow noopener\">{file}</a></p>", id(7)),
            ),
            (
                format!("<img src=\"{}\" alt=\"a>b\" width=\"3\" height=\"4\">", picture::path(id(8))),
                format!("<img src=\"attachment:{}\" alt=\"a>b\" width=\"3\" height=\"4\">", id(8)),
            ),
            (
                format!("<a href=\"{shown}\">x</a> 1 < 2 <a href=\"{shown}\">y</a>"),
                format!("<a href=\"attachment:{0}\">x</a> 1 < 2 <a href=\"attachment:{0}\">y</a>", id(8)),
            ),
        ] {
            assert_eq!(export(&html, &links), exported);
            assert_eq!(import(&exported, &links, find), html);
            assert_eq!(export(&import(&exported, &links, find), &links), exported);
        }
        // Whoever follows it finds nothing, as before.
        let html = format!("<a href=\"{lost}\">x</a>");
        let exported = export(&html, &links);
        assert_eq!(exported, format!("<a href=\"attachment:{}\">x</a>", id(9)));
        assert_eq!(export(&import(&exported, &links, find), &links), exported);
    }

    #[test]
    fn nothing_else_is_changed() {
        let links = links();
        let file = links.blob(id(7), &Filename::sanitize("a.pdf"));
        for html in [
            "no markup".to_owned(),
            String::new(),
            "<p>ü</p>".to_owned(),
            format!("&lt;a href=\"{file}\"&gt;"),
            format!("<p>src=\"{file}\"</p>"),
            format!("<img src=\"https://other.example/x\" alt=\" href=\" title=\"{file}\">"),
            format!("<a href=\"{}\">x</a>", file.replace("://", "://other.")),
            "<a href=\"attachment:7\">x</a>".to_owned(),
            format!("<p>attachment:{}</p>", id(7)),
            "<a href=\"".to_owned(),
        ] {
            assert_eq!(export(&html, &links), html);
            assert_eq!(import(&html, &links, |_| None), html);
        }
    }
}
