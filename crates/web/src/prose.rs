//! Cleaned HTML of people, as it stands inside of a page.

use roadmap_domain::model::html::CleanHtml;

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
}
