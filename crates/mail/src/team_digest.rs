//! The mail to a member of the team about what customers have written.

use askama::Template;
use roadmap_domain::model::comment::PublicAuthor;
use roadmap_domain::model::team_mail::{TeamDigestEntry, TeamDigestNotification};

use crate::content::MAX_SHOWN_BYTES;
use crate::digest::{escaped_bytes, excerpt};
use crate::frame::{FONT, Frame, Rendered};
use crate::words::Words;

/// Bytes of an entry's markup in the HTML.
const ENTRY_MARKUP: usize = 560;

#[derive(Template)]
#[template(path = "team_digest.txt")]
struct Text<'a> {
    digest: &'a TeamDigestNotification,
    lead: &'a str,
    sections: &'a [Section<'a>],
    words: &'a FooterWords,
}

#[derive(Template)]
#[template(path = "team_digest.html")]
struct Html<'a> {
    frame: Frame<'a>,
    digest: &'a TeamDigestNotification,
    lead: &'a str,
    sections: &'a [Section<'a>],
    words: &'a FooterWords,
}

/// The words below the entries.
struct FooterWords {
    open_inbox: String,
    reason: String,
    stop: String,
    settings: String,
}

/// The new feature requests, or the new comments.
struct Section<'a> {
    heading: String,
    entries: Vec<Entry<'a>>,
    /// How many more there are, in words.
    more: Option<String>,
}

struct Entry<'a> {
    title: &'a str,
    url: &'a str,
    /// Who wrote it, and whether it waits for approval.
    note: String,
    beginning: String,
}

impl<'a> Entry<'a> {
    fn new(words: Words, entry: &'a TeamDigestEntry) -> Self {
        let author = entry.author.as_ref().map(|author| match author {
            PublicAuthor::Customer(Some(name)) | PublicAuthor::Member(Some(name)) => name.as_str().to_owned(),
            PublicAuthor::Customer(None) | PublicAuthor::Member(None) => words.get("author-unnamed"),
        });
        let awaiting = entry.is_awaiting.then(|| words.get("team-awaiting"));
        let note: Vec<String> = author.into_iter().chain(awaiting).collect();
        Self {
            title: entry.title.as_str(),
            url: &entry.url,
            note: note.join(" · "),
            beginning: excerpt(&entry.beginning),
        }
    }

    /// Returns the number of bytes in the HTML, at most.
    fn html_bytes(&self) -> usize {
        [self.title, self.url, &self.note, &self.beginning].map(escaped_bytes).iter().sum::<usize>() + ENTRY_MARKUP
    }
}

/// Renders a mail to a member. What would make it too long is counted.
pub(crate) fn render(digest: &TeamDigestNotification) -> Result<Rendered, askama::Error> {
    let (words, product) = (Words(digest.language), digest.brand.product_name.as_str());
    let mut sections = Vec::new();
    for (heading, entries, count) in [
        ("team-requests", &digest.requests, digest.requests_count),
        ("team-replies", &digest.replies, digest.replies_count),
    ] {
        if count == 0 {
            continue;
        }
        let (mut shown, mut bytes) = (Vec::new(), 0);
        for entry in entries {
            let entry = Entry::new(words, entry);
            bytes += entry.html_bytes();
            // Each section may have half of the room.
            if bytes > MAX_SHOWN_BYTES / 2 {
                break;
            }
            shown.push(entry);
        }
        let more = count.saturating_sub(shown.len() as u64);
        let more = (more > 0).then(|| words.count("digest-more", product, more));
        sections.push(Section { heading: words.count(heading, product, count), entries: shown, more });
    }
    let headings: Vec<&str> = sections.iter().map(|section| section.heading.as_str()).collect();
    let subject = headings.join(", ");
    // The subject of a mail about one post names it.
    let only = sections.iter().flat_map(|section| &section.entries).next();
    let is_one = digest.requests_count.saturating_add(digest.replies_count) == 1;
    let subject = match only.filter(|_| is_one) {
        Some(only) => format!("{subject}: {}", only.title),
        None => subject,
    };
    let lead = &words.with("team-lead", &[("product", product)]);
    let footer = &FooterWords {
        open_inbox: words.get("open-inbox"),
        reason: words.with("reason-team", &[("product", product)]),
        stop: words.get("stop-team"),
        settings: words.get("team-settings"),
    };
    let text = Text { digest, lead, sections: &sections, words: footer }.render()?;
    let frame = Frame::new(digest.language, &digest.brand, &subject);
    let html = Html { frame, digest, lead, sections: &sections, words: footer }.render()?;
    Ok(Rendered { subject, text, html })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{name, sample_team_digest};
    use roadmap_domain::model::feature_request::Title;

    fn entry(number: u32, author: Option<PublicAuthor>, is_awaiting: bool) -> TeamDigestEntry {
        TeamDigestEntry {
            title: Title::from_stored(format!("<b>Request</b> {number}")),
            url: format!("https://acme.example/admin/feature_requests/{number}"),
            author,
            is_awaiting,
            beginning: "<p>Please &lt;b&gt;</p>".to_owned(),
        }
    }

    fn maya() -> Option<PublicAuthor> {
        Some(PublicAuthor::Customer(Some(name("Maya"))))
    }

    #[test]
    fn requests_and_replies_are_listed_with_their_authors() {
        let digest = TeamDigestNotification {
            requests: vec![entry(1, maya(), true), entry(2, None, false)],
            requests_count: 2,
            replies: vec![entry(3, Some(PublicAuthor::Customer(None)), false)],
            replies_count: 4,
            ..sample_team_digest()
        };
        let Rendered { subject, text, html } = render(&digest).unwrap();
        assert_eq!(subject, "2 new feature requests, 4 new comments");
        let expected = "New at Acme since the last mail:

2 new feature requests

<b>Request</b> 1
Maya · Waits for approval
https://acme.example/admin/feature_requests/1
Please <b>

<b>Request</b> 2
https://acme.example/admin/feature_requests/2
Please <b>

4 new comments

<b>Request</b> 3
A customer
https://acme.example/admin/feature_requests/3
Please <b>

and 3 more

Open the inbox: https://acme.example/admin

--
You get this mail because you are in the team of Acme.
Stop this mail: https://acme.example/unsubscribe/token?kind=team
Choose which mail you get: https://acme.example/account#mail";
        assert_eq!(text.trim_end(), expected);
        for part in [">&#60;b&#62;Request&#60;/b&#62; 1</a>", ">Maya · Waits for approval</div>", ">and 3 more</p>"] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn the_subject_of_one_names_it() {
        for (is_reply, subject) in [(false, "1 new feature request"), (true, "1 new comment")] {
            let one = vec![entry(1, maya(), false)];
            let sample = sample_team_digest();
            let digest = match is_reply {
                true => TeamDigestNotification { replies: one, replies_count: 1, ..sample },
                false => TeamDigestNotification { requests: one, requests_count: 1, ..sample },
            };
            assert_eq!(render(&digest).unwrap().subject, format!("{subject}: <b>Request</b> 1"));
        }
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let long = |number| TeamDigestEntry { beginning: "&amp;".repeat(300), ..entry(number, maya(), true) };
        let many: Vec<_> = (0..200).map(long).collect();
        let digest = TeamDigestNotification {
            requests: many.clone(),
            requests_count: 1_000,
            replies: many,
            replies_count: 1_000,
            ..sample_team_digest()
        };
        let Rendered { text, html, .. } = render(&digest).unwrap();
        let shown = text.matches("Maya").count();
        assert!((4..400).contains(&shown) && shown.is_multiple_of(2), "{shown}");
        assert_eq!(text.matches(&format!("and {} more", 1_000 - shown / 2)).count(), 2, "{text}");
        assert!(html.len() < MAX_SHOWN_BYTES + 8_000, "{}", html.len());
    }
}
