//! The mail about several comments, changes of a status, and changelogs.

use askama::Template;
use roadmap_domain::model::comment::PublicAuthor;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::mail::{DigestNotification, DigestNotificationEntry, News};
use roadmap_domain::model::text::truncate;

use crate::content::MAX_SHOWN_BYTES;
use crate::frame::{FONT, Frame, Rendered};
use crate::words::Words;

/// Maximum characters of a comment or changelog in a digest.
const MAX_EXCERPT_LENGTH: usize = 200;

/// Bytes of an entry's markup in the HTML.
const ENTRY_MARKUP: usize = 560;

#[derive(Template)]
#[template(path = "digest.txt")]
struct Text<'a> {
    digest: &'a DigestNotification,
    lead: &'a str,
    entries: &'a [Entry<'a>],
    more: Option<&'a str>,
    reason: &'a str,
    unsubscribe: &'a str,
}

#[derive(Template)]
#[template(path = "digest.html")]
struct Html<'a> {
    frame: Frame<'a>,
    digest: &'a DigestNotification,
    lead: &'a str,
    entries: &'a [Entry<'a>],
    more: Option<&'a str>,
    reason: &'a str,
    unsubscribe: &'a str,
}

/// Returns the beginning of a comment, changelog or description in a digest, without markup. The cleaned HTML may be cut
/// anywhere before.
pub(crate) fn excerpt(html: &str) -> String {
    let (text, is_cut) = CleanHtml::from_stored(html.to_owned()).beginning(4 * MAX_EXCERPT_LENGTH);
    let mut beginning = truncate(&text, MAX_EXCERPT_LENGTH).to_owned();
    if is_cut || beginning.len() < text.len() {
        beginning.push('…');
    }
    beginning
}

/// Returns the number of bytes of a text in HTML, at most.
pub(crate) fn escaped_bytes(text: &str) -> usize {
    let special = text.bytes().filter(|byte| matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\'')).count();
    text.len() + 4 * special
}

/// A notification in a digest.
struct Entry<'a> {
    title: &'a str,
    url: &'a str,
    news: String,
    beginning: String,
}

impl<'a> Entry<'a> {
    fn new(words: Words, product: &str, entry: &'a DigestNotificationEntry) -> Self {
        let beginning = excerpt(&entry.beginning);
        Self { title: entry.title.as_str(), url: &entry.url, news: news(words, product, &entry.news), beginning }
    }

    /// Returns the number of bytes in the HTML, at most.
    fn html_bytes(&self) -> usize {
        [self.title, self.url, &self.news, &self.beginning].map(escaped_bytes).iter().sum::<usize>() + ENTRY_MARKUP
    }
}

/// Returns who did what, in a few words.
fn news(words: Words, product: &str, news: &News) -> String {
    match news {
        News::Comment(PublicAuthor::Member(name)) => {
            let name = name.as_ref().map_or(product, |name| name.as_str());
            words.with("digest-comment", &[("name", name)])
        }
        News::Comment(PublicAuthor::Customer(Some(name))) => {
            words.with("digest-comment-customer", &[("name", name.as_str())])
        }
        News::Comment(PublicAuthor::Customer(None)) => words.get("digest-comment-unnamed"),
        News::StatusChange { status: Some(status), .. } => words.with("digest-status", &[("status", status.as_str())]),
        News::StatusChange { status: None, .. } => words.get("digest-status-none"),
        News::Merge { .. } => words.get("digest-merge"),
        News::Changelog { .. } => words.get("digest-changelog"),
    }
}

/// Renders a digest. What would make it too long is counted.
pub(crate) fn render(digest: &DigestNotification) -> Result<Rendered, askama::Error> {
    let (words, product) = (Words(digest.language), digest.brand.product_name.as_str());
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut bytes = 0;
    for entry in &digest.entries {
        let entry = Entry::new(words, product, entry);
        bytes += entry.html_bytes();
        if bytes > MAX_SHOWN_BYTES {
            break;
        }
        entries.push(entry);
    }
    let count = digest.more.saturating_add(digest.entries.len() as u64);
    let more = count.saturating_sub(entries.len() as u64);
    let more = (more > 0).then(|| words.count("digest-more", product, more));
    let more = more.as_deref();
    let (subject, lead) = (words.count("digest-subject", product, count), words.count("digest-lead", product, count));
    let reason = &words.with("reason-digest", &[("product", product)]);
    let (lead, unsubscribe, entries) = (&lead, &words.get("stop-all"), &entries);
    let text = Text { digest, lead, entries, more, reason, unsubscribe }.render()?;
    let frame = Frame::new(digest.language, &digest.brand, &subject);
    let html = Html { frame, digest, lead, entries, more, reason, unsubscribe }.render()?;
    Ok(Rendered { subject, text, html })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{address, name, plain_brand};
    use roadmap_domain::model::feature_request::Title;
    use roadmap_domain::model::id::CustomerId;
    use roadmap_domain::model::mail::DigestId;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::timestamp::Timestamp;
    use uuid::Uuid;

    fn entry(number: u32, news: News, beginning: &str) -> DigestNotificationEntry {
        DigestNotificationEntry {
            news,
            title: Title::from_stored(format!("<b>Request</b> {number}")),
            url: format!("https://acme.example/feature_requests/{number}"),
            beginning: beginning.to_owned(),
        }
    }

    fn sample(entries: Vec<DigestNotificationEntry>, more: u64) -> DigestNotification {
        DigestNotification {
            id: DigestId {
                at: Timestamp::from_millis(1_770_001_200_000).unwrap(),
                customer: CustomerId::new(Uuid::from_u128(0xcc)),
            },
            to: address("ann@example.com"),
            language: Language::English,
            brand: plain_brand("Acme"),
            entries,
            more,
            unsubscribe_url: "https://acme.example/unsubscribe/token".to_owned(),
        }
    }

    fn ines() -> News {
        News::Comment(PublicAuthor::Member(Some(name("Ines"))))
    }

    #[test]
    fn a_digest_lists_its_notifications_with_their_beginnings() {
        let status = |status: Option<&str>| News::StatusChange { status: status.map(name), author: None };
        let entries = vec![
            entry(1, ines(), "<p>Soon &lt;b&gt;</p>"),
            entry(2, News::Comment(PublicAuthor::Member(None)), &"ü".repeat(201)),
            entry(3, News::Comment(PublicAuthor::Customer(Some(name("Maya")))), ""),
            entry(4, News::Comment(PublicAuthor::Customer(None)), ""),
            entry(5, status(Some("<Planned>")), ""),
            entry(6, status(None), ""),
            entry(7, News::Changelog { cover: None }, "<p>cut <a href=\"https://"),
        ];
        let Rendered { subject, text, html } = render(&sample(entries, 9)).unwrap();
        assert_eq!(subject, "16 updates from Acme");
        let expected = format!(
            "There are 16 updates about what you voted for or follow:

Ines answered
<b>Request</b> 1
https://acme.example/feature_requests/1
Soon <b>

Acme answered
<b>Request</b> 2
https://acme.example/feature_requests/2
{}…

Maya commented
<b>Request</b> 3
https://acme.example/feature_requests/3

A customer commented
<b>Request</b> 4
https://acme.example/feature_requests/4

Now: <Planned>
<b>Request</b> 5
https://acme.example/feature_requests/5

No longer on the roadmap
<b>Request</b> 6
https://acme.example/feature_requests/6

New
<b>Request</b> 7
https://acme.example/feature_requests/7
cut

and 9 more

--
You get this mail from Acme because you voted for these feature requests or follow them.
Stop all mail: https://acme.example/unsubscribe/token",
            "ü".repeat(200)
        );
        assert_eq!(text.trim_end(), expected);
        for part in [
            "<title>16 updates from Acme</title>",
            ">&#60;b&#62;Request&#60;/b&#62; 1</a>",
            ">Soon &#60;b&#62;</div>",
            ">Now: &#60;Planned&#62;</div>",
            ">and 9 more</p>",
            ">Stop all mail</a>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn a_digest_counts_what_it_has_no_room_for() {
        let entries: Vec<_> = (0..50).map(|number| entry(number, ines(), &"&amp;".repeat(300))).collect();
        let Rendered { subject, text, html } = render(&sample(entries, 3)).unwrap();
        assert_eq!(subject, "53 updates from Acme");
        let shown = text.matches("Ines answered").count();
        assert!((5..50).contains(&shown) && html.matches("Ines answered").count() == shown, "{shown}");
        assert!(text.contains(&format!("and {} more\n", 53 - shown)), "{text}");
        assert!(html.len() < MAX_SHOWN_BYTES + 8_000, "{}", html.len());
    }

    #[test]
    fn a_digest_of_one_notification_is_in_the_singular() {
        let Rendered { subject, text, .. } = render(&sample(vec![entry(1, ines(), "")], 0)).unwrap();
        assert_eq!(
            (subject.as_str(), text.lines().next()),
            ("1 update from Acme", Some("There is 1 update about what you voted for or follow:"))
        );
        assert!(!text.contains("more"), "{text}");
    }
}
