//! Cleaned HTML of people, as it stands inside of a page.

use roadmap_domain::error::Validated;
use roadmap_domain::model::feature_request::Description;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::markdown;

/// Returns HTML to be inserted into a page without escaping.
///
/// Headings become bold paragraphs, because they would break the outline of the page. Links are marked as those of
/// users (`rel=ugc`), and pictures are loaded when they come into view. The replacements contain no quotation marks: inside
/// of an attribute they could not end it.
pub(crate) fn html(clean: &CleanHtml) -> String {
    let mut html = clean.to_display().into_owned();
    if html.contains("<h") {
        for level in 1..=6 {
            html = html.replace(&format!("<h{level}>"), "<p><strong>");
            html = html.replace(&format!("</h{level}>"), "</strong></p>");
        }
    }
    let html = html.replace(" rel=\"nofollow noopener\"", " rel=\"nofollow ugc noopener\"");
    if clean.has_pictures() { html.replace("<img src", "<img loading=lazy src") } else { html }
}

/// Returns a stored text as it is edited, and whether that is HTML.
pub(crate) fn editable(html: &CleanHtml) -> (String, bool) {
    let editable = markdown::to_editable(html);
    (editable.as_str().to_owned(), editable.is_html())
}

/// Returns a comment as it was typed, in HTML or Markdown.
///
/// # Errors
/// Missing or too long. The error names `field`.
pub(crate) fn comment(field: &str, typed: &str, is_html: bool) -> Validated<CleanHtml> {
    if is_html { CleanHtml::parse(field, typed) } else { markdown::to_html(field, typed) }
}

/// Returns a description as it was typed, in HTML or Markdown. It may be empty.
///
/// # Errors
/// Too long. The error names `field`.
pub(crate) fn description(field: &str, typed: &str, is_html: bool) -> Validated<Description> {
    match is_html {
        true => Description::parse(field, typed),
        false => Description::from_html(field, &markdown::to_optional_html(field, typed)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_paragraphs_and_links_are_of_users() {
        let clean = CleanHtml::parse("content", "<h2>A</h2><p>b <a href='https://c.example'>c</a></p>").unwrap();
        assert_eq!(
            html(&clean),
            "<p><strong>A</strong></p><p>b <a href=\"https://c.example\" rel=\"nofollow ugc noopener\">c</a></p>"
        );
        // Stored before texts got elements for their line breaks.
        assert_eq!(html(&CleanHtml::from_stored("a\nb".to_owned())), "<p>a<br>b</p>");
    }

    #[test]
    fn a_text_without_markup_is_edited_as_markdown() {
        let edited = |html: &str| editable(&CleanHtml::from_stored(html.to_owned()));
        assert_eq!(edited("one\n\ntwo"), ("one\n\ntwo".to_owned(), false));
        assert_eq!(edited("<p><b>one</b></p>"), ("**one**".to_owned(), false));
        let html = "<p>H<sub>2</sub>O</p>";
        assert_eq!(edited(html), (html.to_owned(), true));
    }
}
