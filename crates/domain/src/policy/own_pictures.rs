//! Finds the files of the workspace among the pictures of a client's HTML.
//!
//! A client shows an uploaded file by its `blob_url`, or a picture that it has read by its URL. Both become the path of a
//! picture ([`picture::path`]), which sanitization keeps.

use std::borrow::Cow;

use crate::model::id::AttachmentId;
use crate::model::picture;
use crate::policy::links::Links;

/// Returns HTML with the paths of the workspace's own pictures, and the files that pictures are to be made from.
#[must_use]
pub fn localize<'a>(html: &'a str, links: &Links) -> (Cow<'a, str>, Vec<AttachmentId>) {
    let mut files = Vec::new();
    let mut localized = String::new();
    let mut rest = html;
    while let Some(start) = find_image(rest) {
        let (before, image) = rest.split_at(start);
        let (tag, behind) = image.split_at(image.find('>').unwrap_or(image.len()));
        localized.push_str(before);
        localize_tag(tag, links, &mut localized, &mut files);
        rest = behind;
    }
    if localized.is_empty() {
        return (Cow::Borrowed(html), files);
    }
    localized.push_str(rest);
    (Cow::Owned(localized), files)
}

/// Returns where the next picture begins.
fn find_image(html: &str) -> Option<usize> {
    let is_image = |at: &usize| html.get(*at..at + 4).is_some_and(|start| start.eq_ignore_ascii_case("<img"));
    html.match_indices('<').map(|(at, _)| at).find(is_image)
}

/// Copies a tag. A URL of the workspace becomes the path of a picture.
fn localize_tag(tag: &str, links: &Links, into: &mut String, files: &mut Vec<AttachmentId>) {
    let is_end = |character: char| matches!(character, '"' | '\'' | '=') || character.is_ascii_whitespace();
    for value in tag.split_inclusive(is_end) {
        let url = value.strip_suffix(is_end).unwrap_or(value);
        match find_own(url, links) {
            Some(Own::Picture(id)) => into.push_str(&picture::path(id)),
            Some(Own::File(id)) => {
                files.push(id);
                into.push_str(&picture::path(picture::made_from(id)));
            }
            None => into.push_str(url),
        }
        into.push_str(value.get(url.len()..).unwrap_or_default());
    }
}

/// A file of the workspace that a URL shows.
pub(super) enum Own {
    Picture(AttachmentId),
    File(AttachmentId),
}

pub(super) fn find_own(url: &str, links: &Links) -> Option<Own> {
    let path = url.strip_prefix(links.portal()).unwrap_or(url);
    if let Some(id) = picture::parse_path(path) {
        return Some(Own::Picture(id));
    }
    let (reference, _) = path.strip_prefix("/blobs/")?.split_once('/')?;
    links.file_of_reference(reference).map(Own::File)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attachment::Filename;
    use crate::usecase::fixtures::links;
    use uuid::Uuid;

    fn id(number: u128) -> AttachmentId {
        AttachmentId::new(Uuid::from_u128(number))
    }

    #[test]
    fn own_files_and_pictures_become_paths() {
        let links = links();
        let blob = links.blob(id(7), &Filename::sanitize("a b.png"));
        let made = picture::path(picture::made_from(id(7)));
        let shown = links.page(&picture::path(id(8)));
        for (html, expected, files) in [
            (format!("<p>x</p><img src=\"{blob}\" alt=\"{shown}\">"), None, vec![id(7)]),
            (
                format!("<IMG\nalt='' src='{shown}'>"),
                Some(format!("<IMG\nalt='' src='{}'>", picture::path(id(8)))),
                vec![],
            ),
            (
                format!("<img src={blob}><img src={blob}>"),
                Some(format!("<img src={made}><img src={made}>")),
                vec![id(7), id(7)],
            ),
            (
                format!("<img src=\"{}\">", blob.strip_prefix(links.portal()).unwrap()),
                Some(format!("<img src=\"{made}\">")),
                vec![id(7)],
            ),
        ] {
            let (localized, found) = localize(&html, &links);
            assert_eq!(found, files, "{html}");
            match expected {
                Some(expected) => assert_eq!(localized, expected, "{html}"),
                None => assert!(localized.contains(&format!("src=\"{made}\"")), "{localized}"),
            }
        }
    }

    #[test]
    fn nothing_else_is_changed() {
        let links = links();
        let blob = links.blob(id(7), &Filename::sanitize("a.png"));
        let shown = links.page(&picture::path(id(8)));
        for html in [
            "no markup".to_owned(),
            format!("<a href=\"{blob}\">{blob}</a>"),
            format!("&lt;img src=\"{blob}\"&gt; {shown}"),
            format!("<img src=\"{}\">", blob.replace("://", "://other.")),
            format!("<img src=\"{}\">", blob.replace("/blobs/", "/blobs/x")),
            format!("<img src=\"{shown}x\"> <img src=\"{shown}?x\"> <img src=\"https://x.example/?{shown}\">"),
            "<img".to_owned(),
            "ü<img src=\"ü".to_owned(),
        ] {
            let (localized, files) = localize(&html, &links);
            assert_eq!((&*localized, files), (&*html, vec![]));
        }
    }
}
