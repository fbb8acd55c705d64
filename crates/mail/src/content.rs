//! The part of a comment or changelog that its mails show, rendered once for all of them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use roadmap_domain::model::html::{CleanHtml, PictureElement};
use roadmap_domain::model::mail::Topic;

/// Maximum bytes of a comment or changelog in each part of a mail. Both parts with the frame and all encodings then have
/// less than 60,000 bytes; Gmail cuts mails of more than 102,000.
pub(crate) const MAX_SHOWN_BYTES: usize = 14 * 1024;

/// How many topics the cache keeps the rendered content of. The mails about one topic are mostly sent together.
const CACHE_CAPACITY: usize = 64;

/// A comment or changelog as its mails show it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ContentParts {
    /// The text without markup, possibly truncated.
    pub(crate) text: String,
    /// Whether `text` is truncated.
    pub(crate) is_text_cut: bool,
    /// The HTML; for content that is too long, the beginning of its text, escaped.
    pub(crate) html: String,
    /// Whether `html` is not the complete content with its markup.
    pub(crate) is_html_cut: bool,
}

impl ContentParts {
    /// Renders the parts of content in time linear in its length.
    pub(crate) fn render(content: &CleanHtml) -> Self {
        let (text, is_text_cut) = content.beginning(MAX_SHOWN_BYTES);
        let html = match content.has_pictures() {
            true => content.map_pictures(fitted),
            false => content.to_display().into_owned(),
        };
        let is_html_cut = html.len() > MAX_SHOWN_BYTES;
        let html = if is_html_cut { escaped(&text, MAX_SHOWN_BYTES) } else { html };
        Self { text, is_text_cut, html, is_html_cut }
    }
}

/// Widest picture in pixels: the frame without its margins. Outlook heeds only the attribute.
const MAX_PICTURE_WIDTH: u32 = 510;

/// Returns a picture that fits into the frame of a mail.
fn fitted(element: PictureElement<'_>) -> String {
    let PictureElement { source, alternative, dimensions } = element;
    let width = dimensions.map_or(MAX_PICTURE_WIDTH, |size| size.width.min(MAX_PICTURE_WIDTH));
    format!(
        "<img src=\"{source}\" alt=\"{alternative}\" width=\"{width}\" \
         style=\"width:100%;max-width:{width}px;height:auto;border:0;border-radius:8px\">"
    )
}

/// Escapes text as HTML and truncates the result to `limit` bytes.
fn escaped(text: &str, limit: usize) -> String {
    let mut html = String::new();
    let mut buffer = [0; 4];
    for character in text.chars() {
        let piece = match character {
            '<' => "&lt;",
            '>' => "&gt;",
            '&' => "&amp;",
            '"' => "&quot;",
            '\n' => "<br>\n",
            other => other.encode_utf8(&mut buffer),
        };
        if html.len() + piece.len() > limit {
            break;
        }
        html.push_str(piece);
    }
    html
}

/// A cache entry, which is filled on first use.
type Slot = Arc<OnceLock<ContentParts>>;

/// The function that renders content.
type Render = dyn Fn(&CleanHtml) -> ContentParts + Send + Sync;

/// Cached content, with the HTML that it was rendered from. A comment or changelog may be edited between two mails.
struct CacheEntry {
    topic: Topic,
    html: Arc<CleanHtml>,
    slot: Slot,
}

impl CacheEntry {
    fn is_of(&self, topic: Topic, html: &Arc<CleanHtml>) -> bool {
        self.topic == topic && (Arc::ptr_eq(&self.html, html) || self.html == *html)
    }
}

/// A cache of recently rendered content, by topic.
pub(crate) struct ContentCache {
    entries: Mutex<VecDeque<CacheEntry>>,
    render: Box<Render>,
}

impl ContentCache {
    pub(crate) fn new(render: impl Fn(&CleanHtml) -> ContentParts + Send + Sync + 'static) -> Self {
        Self { entries: Mutex::default(), render: Box::new(render) }
    }

    /// Calls `show` with the parts of content, rendering them if they are not cached. Blocks while another thread renders
    /// the same content.
    pub(crate) fn with_parts<T>(
        &self,
        topic: Topic,
        html: &Arc<CleanHtml>,
        show: impl FnOnce(&ContentParts) -> T,
    ) -> T {
        show(self.slot(topic, html).get_or_init(|| (self.render)(html)))
    }

    fn slot(&self, topic: Topic, html: &Arc<CleanHtml>) -> Slot {
        // No code panics while it holds this lock.
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.iter().find(|entry| entry.is_of(topic, html)) {
            return entry.slot.clone();
        }
        // An older version of the content is not needed any more.
        entries.retain(|entry| entry.topic != topic);
        entries.truncate(CACHE_CAPACITY - 1);
        let slot = Slot::default();
        entries.push_front(CacheEntry { topic, html: html.clone(), slot: slot.clone() });
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::id::{ChangelogId, CommentId};
    use roadmap_domain::model::markdown;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use uuid::Uuid;

    fn clean(raw: &str) -> CleanHtml {
        CleanHtml::parse_optional("content", raw, CleanHtml::MAX).unwrap()
    }

    #[test]
    fn a_bare_address_is_in_the_text_once() {
        let html = markdown::to_html("content", "See https://a.example/b.").unwrap();
        let parts = ContentParts::render(&html);
        assert_eq!(parts.text, "See https://a.example/b.");
        let link = "<a href=\"https://a.example/b\" rel=\"nofollow noopener\">https://a.example/b</a>";
        assert_eq!(parts.html.trim_end(), format!("<p>See {link}.</p>"));
    }

    #[test]
    fn a_picture_fits_into_a_mail() {
        let path = "/pictures/00000000-0000-0000-0000-000000000002";
        for (size, width) in [(" width=\"1600\" height=\"900\"", 510), (" width=\"20\" height=\"900\"", 20), ("", 510)]
        {
            let picture = format!("<p>x<img src=\"{path}\" alt=\"a &quot;\"{size}></p>");
            let parts = ContentParts::render(&CleanHtml::from_stored(picture));
            let shown =
                format!("alt=\"a &quot;\" width=\"{width}\" style=\"width:100%;max-width:{width}px;height:auto;");
            assert!(parts.html.contains(&shown) && parts.html.matches("<img").count() == 1, "{}", parts.html);
            assert_eq!(parts.text, "xa \"");
        }
    }

    #[test]
    fn a_text_without_markup_keeps_its_lines() {
        // As it was stored before such texts got elements for their line breaks, and as it is stored now.
        for stored in [CleanHtml::from_stored("one\ntwo".to_owned()), clean("one\ntwo")] {
            let parts = ContentParts::render(&stored);
            assert_eq!((parts.text.as_str(), parts.html.as_str()), ("one\ntwo", "<p>one<br>two</p>"));
        }
    }

    #[test]
    fn a_long_comment_is_cut_between_characters() {
        let short = clean(&"ü".repeat(MAX_SHOWN_BYTES / 2));
        let parts = ContentParts::render(&short);
        assert_eq!((parts.text.len(), parts.is_text_cut, parts.is_html_cut), (MAX_SHOWN_BYTES, false, false));
        let long = clean(&format!("x{}", "ü".repeat(MAX_SHOWN_BYTES / 2)));
        let parts = ContentParts::render(&long);
        assert_eq!((parts.text.len(), parts.is_text_cut, parts.is_html_cut), (MAX_SHOWN_BYTES - 1, true, true));
        assert!(parts.text.ends_with('ü') && parts.html == parts.text);
    }

    #[test]
    fn the_html_of_a_long_comment_shows_its_text() {
        // Only the markup exceeds the limit.
        let marked = clean(&"<b>a</b><i>b</i><br>".repeat(2_000));
        let parts = ContentParts::render(&marked);
        assert_eq!(parts.text, "ab\n".repeat(2_000).trim_end());
        assert_eq!(parts.html, "ab<br>\n".repeat(2_000).trim_end_matches("<br>\n"));
        assert_eq!((parts.is_text_cut, parts.is_html_cut), (false, true));
        // Escaping lengthens the text. It is cut between escaped characters.
        let parts = ContentParts::render(&clean(&"<&>\" text ".repeat(10_000)));
        assert!(
            parts.html.len() <= MAX_SHOWN_BYTES && parts.html.starts_with("&lt;&amp;&gt;&quot; text"),
            "{}",
            parts.html.len()
        );
        assert!(parts.html.rsplit_once('&').is_some_and(|(_, last)| last.contains(';')), "{}", parts.html);
        assert!(parts.is_text_cut && parts.is_html_cut);
    }

    #[test]
    fn parts_are_rendered_once_and_the_cache_is_bounded() {
        let rendered = Arc::new(AtomicUsize::new(0));
        let counter = rendered.clone();
        let cache = ContentCache::new(move |content| {
            counter.fetch_add(1, Ordering::SeqCst);
            ContentParts::render(content)
        });
        let content = Arc::new(clean("<p>Soon</p>"));
        let show = |number: usize| {
            let topic = Topic::Comment(CommentId::new(Uuid::from_u128(number as u128)));
            cache.with_parts(topic, &content, |parts| assert_eq!(parts.text, "Soon"));
        };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..100).for_each(|_| show(0)));
            }
        });
        assert_eq!(rendered.load(Ordering::SeqCst), 1);
        (0..CACHE_CAPACITY).for_each(show);
        assert_eq!(rendered.load(Ordering::SeqCst), CACHE_CAPACITY);
        show(CACHE_CAPACITY);
        assert_eq!(cache.entries.lock().unwrap().len(), CACHE_CAPACITY);
        // The oldest entry was evicted.
        show(0);
        assert_eq!(rendered.load(Ordering::SeqCst), CACHE_CAPACITY + 2);
    }

    #[test]
    fn edited_content_is_rendered_again() {
        let cache = ContentCache::new(ContentParts::render);
        let uuid = Uuid::from_u128(1);
        let topics = [Topic::Comment(CommentId::new(uuid)), Topic::Changelog(ChangelogId::new(uuid))];
        for text in ["Soon", "Later", "Later", "Soon"] {
            for (topic, text) in topics.into_iter().zip([text.to_owned(), format!("{text} or never")]) {
                cache.with_parts(topic, &Arc::new(clean(&text)), |parts| assert_eq!(parts.text, text));
            }
        }
        assert_eq!(cache.entries.lock().unwrap().len(), topics.len());
    }
}
