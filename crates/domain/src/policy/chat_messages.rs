//! Messages about events, for chat services.
//!
//! A message is the same in all formats: a line, the text of a new comment, and a line about the feature request. Texts
//! of people and of the team are kept apart from those of the service until they are escaped as the format needs it:
//! they mention nobody, lead nowhere and look like nothing that the service says.

use serde_json::{Value, json};

use crate::model::feature_request::Title;
use crate::model::html::CleanHtml;
use crate::model::slug;
use crate::model::text::truncate;
use crate::model::webhook::WebhookFormat;
use crate::model::webhook_event::{EventKind, RequestSnapshot, StoredEvent};
use crate::policy::links::Links;

/// How many characters of a title there are.
const MAX_TITLE: usize = 150;
/// How many characters of a comment there are.
const MAX_COMMENT: usize = 200;
/// The length of a message for Discord.
const MAX_DISCORD: usize = 2_000;
/// The length of the URL of a feature request. A title in another script can be many times longer in ASCII.
const MAX_URL: usize = 500;

/// What Discord reads as markup, a mention, an emoji or the beginning of a URL.
const DISCORD_MARKUP: [char; 15] = ['\\', '*', '_', '~', '`', '|', '<', '>', '[', ']', '(', ')', '#', '@', ':'];

/// Returns the body of a message about an event that is sent as one of this kind. `product` is the name of the
/// workspace's product. `None` if the format has no messages, or not about this.
#[must_use]
pub fn message(
    event: &StoredEvent,
    kind: EventKind,
    format: WebhookFormat,
    links: &Links,
    product: &str,
) -> Option<Value> {
    let message = Message::about(event, kind, links, product)?;
    match format {
        WebhookFormat::Standard => None,
        WebhookFormat::Slack => Some(json!({ "text": message.to_slack() })),
        WebhookFormat::Discord => Some(json!({ "content": message.to_discord(), "allowed_mentions": { "parse": [] } })),
        WebhookFormat::Teams => Some(message.to_teams()),
    }
}

/// A part of a line.
enum Part {
    /// A text of the service, which is no markup in any format.
    Ours(String),
    /// A text of people.
    Theirs(String),
    /// A text of people that leads to a page.
    Link { text: String, url: String },
}

impl Part {
    fn ours(text: &str) -> Self {
        Self::Ours(text.to_owned())
    }

    /// Returns a title that leads to its page.
    fn title(title: &str, url: String) -> Self {
        let title = one_line(title);
        let cut = truncate(&title, MAX_TITLE);
        // A link without a text is none.
        let text = if title.is_empty() || cut.len() < title.len() { format!("{cut}…") } else { title };
        Self::Link { text, url }
    }
}

/// A message, before it is written in a format.
struct Message {
    first: Vec<Part>,
    /// The beginning of a comment.
    comment: Option<String>,
    last: Option<Vec<Part>>,
}

impl Message {
    fn about(event: &StoredEvent, kind: EventKind, links: &Links, product: &str) -> Option<Self> {
        let request = event.snapshot.feature_request.as_ref();
        match kind {
            EventKind::FeatureRequestCreated => {
                let request = request?;
                Some(Self {
                    first: vec![Part::ours("New feature request: "), linked(request, links)],
                    comment: None,
                    last: Some(summary(request, request.author.is_some())),
                })
            }
            EventKind::FeatureRequestMoved => {
                let (request, moved) = (request?, event.details.moved.as_ref()?);
                let track = Part::Theirs(one_line(&moved.to_track));
                Some(Self {
                    first: vec![Part::ours("Moved to "), track, Part::ours(": "), linked(request, links)],
                    comment: None,
                    last: Some(summary(request, request.author.is_some())),
                })
            }
            EventKind::CommentCreated => {
                let (request, comment) = (request?, event.snapshot.comment.as_ref()?);
                let text = one_line(&CleanHtml::from_stored(comment.content.clone()).to_text());
                let text = truncate(&text, MAX_COMMENT).trim_end();
                Some(Self {
                    first: vec![Part::ours("New comment on "), linked(request, links)],
                    comment: (!text.is_empty()).then(|| text.to_owned()),
                    last: Some(summary(request, comment.customer.is_some())),
                })
            }
            EventKind::ChangelogPublished => {
                let changelog = event.snapshot.changelog.as_ref()?;
                let title = Part::title(&changelog.title, links.changelog(&changelog.id.to_string()));
                Some(Self { first: vec![Part::ours("New changelog: "), title], comment: None, last: None })
            }
            EventKind::WebhookTest => {
                let product = Part::Theirs(one_line(product));
                Some(Self { first: vec![Part::ours("Test message from "), product], comment: None, last: None })
            }
            _ => None,
        }
    }

    /// Returns the text for Slack, and for those who read what Slack reads and Markdown, too.
    fn to_slack(&self) -> String {
        let line = |parts: &Vec<Part>| write_line(parts, slack_text, |text, url| format!("<{url}|{text}>"));
        lines(line(&self.first), self.comment.as_deref().map(slack_text), self.last.as_ref().map(line))
    }

    /// Returns the text for Discord. A comment gets the room that the lines leave.
    fn to_discord(&self) -> String {
        let whole = |text: &str| discord_text(text, usize::MAX);
        let line = |parts: &Vec<Part>| write_line(parts, whole, |text, url| format!("[{text}](<{url}>)"));
        let (first, last) = (line(&self.first), self.last.as_ref().map(line));
        let length = |text: &str| text.encode_utf16().count();
        // The line breaks and the quotation marks.
        let others = length(&first) + last.as_deref().map_or(0, length) + 4;
        let room = MAX_DISCORD.saturating_sub(others);
        let comment = self.comment.as_deref().map(|comment| discord_text(comment, room));
        lines(first, comment.filter(|comment| !comment.is_empty()), last)
    }

    /// Returns the message for Teams. Texts are in text runs, which have no markup.
    fn to_teams(&self) -> Value {
        let run = |text: &str| json!({ "type": "TextRun", "text": text });
        let block = |runs: Vec<Value>| json!({ "type": "RichTextBlock", "inlines": runs });
        let line = |parts: &Vec<Part>| {
            let text = |part: &Part| match part {
                Part::Ours(text) | Part::Theirs(text) | Part::Link { text, .. } => run(text),
            };
            block(parts.iter().map(text).collect())
        };
        let comment = self.comment.as_deref().map(|comment| block(vec![run(&quoted(comment))]));
        let blocks = [Some(line(&self.first)), comment, self.last.as_ref().map(line)];
        let body: Vec<Value> = blocks.into_iter().flatten().collect();
        let open = |part: &Part| match part {
            Part::Link { url, .. } => Some(json!({ "type": "Action.OpenUrl", "title": "Open", "url": url })),
            Part::Ours(_) | Part::Theirs(_) => None,
        };
        let actions: Vec<Value> = self.first.iter().filter_map(open).collect();
        json!({
            "type": "message",
            "attachments": [{
                "contentType": "application/vnd.microsoft.card.adaptive",
                "contentUrl": null,
                "content": {
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard",
                    "version": "1.4",
                    "body": body,
                    "actions": actions,
                },
            }],
        })
    }
}

/// Returns the title of a feature request that leads to its page. The number alone finds it, too, if the URL would be
/// too long with the title.
fn linked(request: &RequestSnapshot, links: &Links) -> Part {
    let title = Title::from_stored(request.title.clone());
    let url = links.request(&slug::slug(request.tag_number, &title));
    let url = if url.len() <= MAX_URL { url } else { links.request(&request.tag_number.to_string()) };
    Part::title(&request.title, url)
}

/// Returns the last line: who wrote it, and what became of the feature request.
fn summary(request: &RequestSnapshot, is_by_customer: bool) -> Vec<Part> {
    let author = if is_by_customer { "by a customer · " } else { "by the team · " };
    let votes = match request.votes_count {
        1 => " · 1 vote".to_owned(),
        votes => format!(" · {votes} votes"),
    };
    let private = if request.private { " · private" } else { "" };
    vec![Part::ours(author), Part::Theirs(one_line(&request.track)), Part::Ours(votes + private)]
}

/// Returns a text of people as one line. Line breaks, control characters and characters that change the direction of
/// the text around them become spaces.
fn one_line(text: &str) -> String {
    let line: String = text.chars().map(|character| if breaks_lines(character) { ' ' } else { character }).collect();
    line.trim().to_owned()
}

/// Whether a character breaks a line, controls something, or changes the direction of text: Unicode property
/// `Bidi_Control`.
fn breaks_lines(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn quoted(text: &str) -> String {
    format!("“{text}”")
}

/// Joins the lines of a message whose parts are escaped.
fn lines(first: String, comment: Option<String>, last: Option<String>) -> String {
    let lines = [Some(first), comment.as_deref().map(quoted), last];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Writes a line with what escapes a text, and what makes a link of an escaped text and a URL.
fn write_line(parts: &[Part], escape: impl Fn(&str) -> String, link: impl Fn(&str, &str) -> String) -> String {
    let write = |part: &Part| match part {
        Part::Ours(text) => text.clone(),
        Part::Theirs(text) => escape(text),
        Part::Link { text, url } => link(&escape(text), url),
    };
    parts.iter().map(write).collect()
}

/// Escapes a text for Slack. The spaces without width keep others, who read Markdown, from mentions and links.
fn slack_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '@' => escaped.push_str("@\u{200b}"),
            ']' => escaped.push_str("]\u{200b}"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Escapes the beginning of a text for Discord that has at most this length, in units of UTF-16.
fn discord_text(text: &str, max: usize) -> String {
    let (mut escaped, mut room) = (String::with_capacity(text.len()), max);
    for character in text.chars() {
        let is_markup = DISCORD_MARKUP.contains(&character);
        let Some(left) = room.checked_sub(character.len_utf16() + usize::from(is_markup)) else { break };
        room = left;
        if is_markup {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{EventId, WebhookEventId};
    use crate::model::webhook_event::{
        ChangelogSnapshot, CommentSnapshot, EventDetails, EventSnapshot, MoveDetails, PersonSnapshot,
    };
    use crate::usecase::fixtures::{actor, links, now};
    use proptest::prelude::*;
    use uuid::Uuid;

    const URL: &str = "https://acme.roadmap.example.com/feature_requests/3-dark-mode";

    fn person() -> PersonSnapshot {
        PersonSnapshot { id: Uuid::from_u128(9), name: Some("Ann Lee".to_owned()), email: "ann@example.com".to_owned() }
    }

    fn request(title: &str, track: &str) -> RequestSnapshot {
        RequestSnapshot {
            id: Uuid::from_u128(1),
            tag_number: 3,
            title: title.to_owned(),
            description: "In the evening".to_owned(),
            status: Some("Next".to_owned()),
            track: track.to_owned(),
            votes_count: 1,
            created_at: 1,
            tags: vec!["ui".to_owned()],
            private: false,
            author: Some(person()),
        }
    }

    /// An event with everything that a message can be about.
    fn event(title: &str, track: &str, comment: &str) -> StoredEvent {
        let moved = MoveDetails {
            id: EventId::new(Uuid::from_u128(2)),
            from_track: "Inbox".to_owned(),
            to_track: track.to_owned(),
            from_status: None,
            to_status: None,
            actor_kind: "member".to_owned(),
            actor_name: "Tim".to_owned(),
            comment: None,
            at: 1,
        };
        let comment = CommentSnapshot {
            id: Uuid::from_u128(4),
            content: comment.to_owned(),
            customer: None,
            member: Some(person()),
            created_at: 1,
            updated_at: 1,
        };
        let changelog = ChangelogSnapshot {
            id: Uuid::from_u128(5),
            title: title.to_owned(),
            content: "News".to_owned(),
            category: None,
            cover: None,
            published_at: Some(1),
            created_at: 1,
            updated_at: 1,
            feature_requests: Vec::new(),
        };
        StoredEvent {
            id: WebhookEventId::new(Uuid::from_u128(6)),
            kind: EventKind::FeatureRequestCreated,
            actor: actor(),
            at: now(),
            details: EventDetails { moved: Some(moved), ..EventDetails::default() },
            snapshot: EventSnapshot {
                feature_request: Some(request(title, track)),
                comment: Some(comment),
                changelog: Some(changelog),
                ..EventSnapshot::default()
            },
        }
    }

    fn body(event: &StoredEvent, kind: EventKind, format: WebhookFormat) -> Value {
        message(event, kind, format, &links(), "Acme <b>").unwrap()
    }

    fn slack(event: &StoredEvent, kind: EventKind) -> String {
        body(event, kind, WebhookFormat::Slack)["text"].as_str().unwrap().to_owned()
    }

    fn discord(event: &StoredEvent, kind: EventKind) -> String {
        body(event, kind, WebhookFormat::Discord)["content"].as_str().unwrap().to_owned()
    }

    /// Returns the lines of the card for Teams, and the URLs of its actions.
    fn teams(event: &StoredEvent, kind: EventKind) -> (Vec<String>, Vec<String>) {
        let body = body(event, kind, WebhookFormat::Teams);
        let card = &body["attachments"][0]["content"];
        let text = |run: &Value| {
            assert_eq!(run["type"], "TextRun");
            run["text"].as_str().unwrap().to_owned()
        };
        let line = |block: &Value| {
            assert_eq!(block["type"], "RichTextBlock");
            block["inlines"].as_array().unwrap().iter().map(text).collect::<String>()
        };
        let url = |action: &Value| {
            assert_eq!(action["type"], "Action.OpenUrl");
            action["url"].as_str().unwrap().to_owned()
        };
        let lines = card["body"].as_array().unwrap().iter().map(line).collect();
        (lines, card["actions"].as_array().unwrap().iter().map(url).collect())
    }

    const KINDS: [EventKind; 5] = [
        EventKind::FeatureRequestCreated,
        EventKind::FeatureRequestMoved,
        EventKind::CommentCreated,
        EventKind::ChangelogPublished,
        EventKind::WebhookTest,
    ];

    /// Webhooks: the first and the last line of each kind.
    #[test]
    fn messages_are_lines_about_an_event() {
        let event = event("Dark mode", "Inbox", "<p>Yes &amp; <b>no</b></p><p>Soon</p>");
        let request = format!("<{URL}|Dark mode>");
        let changelog = "<https://acme.roadmap.example.com/changelogs/00000000-0000-0000-0000-000000000005|Dark mode>";
        for (kind, expected) in KINDS.into_iter().zip([
            format!("New feature request: {request}\nby a customer · Inbox · 1 vote"),
            format!("Moved to Inbox: {request}\nby a customer · Inbox · 1 vote"),
            format!("New comment on {request}\n“Yes &amp; no  Soon”\nby the team · Inbox · 1 vote"),
            format!("New changelog: {changelog}"),
            "Test message from Acme &lt;b&gt;".to_owned(),
        ]) {
            assert_eq!(slack(&event, kind), expected);
        }
    }

    #[test]
    fn the_last_line_tells_the_author_the_votes_and_what_is_private() {
        let kind = EventKind::FeatureRequestCreated;
        let last = |change: fn(&mut RequestSnapshot)| {
            let mut event = event("Dark mode", "Planned", "");
            event.snapshot.feature_request.as_mut().into_iter().for_each(change);
            slack(&event, kind).lines().next_back().map(str::to_owned).unwrap()
        };
        assert_eq!(last(|request| request.votes_count = 41), "by a customer · Planned · 41 votes");
        assert_eq!(last(|request| request.votes_count = 0), "by a customer · Planned · 0 votes");
        assert_eq!(last(|request| request.author = None), "by the team · Planned · 1 vote");
        assert_eq!(last(|request| request.private = true), "by a customer · Planned · 1 vote · private");
    }

    #[test]
    fn the_author_of_a_message_about_a_comment_is_that_of_the_comment() {
        let mut event = event("Dark mode", "Inbox", "Yes");
        assert!(slack(&event, EventKind::CommentCreated).ends_with("\nby the team · Inbox · 1 vote"));
        if let Some(comment) = event.snapshot.comment.as_mut() {
            comment.customer = comment.member.take();
        }
        if let Some(request) = event.snapshot.feature_request.as_mut() {
            request.author = None;
        }
        assert!(slack(&event, EventKind::CommentCreated).ends_with("\nby a customer · Inbox · 1 vote"));
        assert!(slack(&event, EventKind::FeatureRequestMoved).ends_with("\nby the team · Inbox · 1 vote"));
    }

    #[test]
    fn a_message_for_discord_mentions_nobody() {
        let event = event("Dark mode", "Inbox", "Yes");
        assert_eq!(
            body(&event, EventKind::CommentCreated, WebhookFormat::Discord),
            json!({
                "content":
                    format!("New comment on [Dark mode](<{URL}>)\n“Yes”\nby the team · Inbox · 1 vote"),
                "allowed_mentions": { "parse": [] },
            })
        );
        assert_eq!(discord(&event, EventKind::WebhookTest), "Test message from Acme \\<b\\>");
    }

    #[test]
    fn a_message_for_teams_is_a_card() {
        let event = event("Dark mode", "Inbox", "Yes");
        let run = |text: &str| json!({ "type": "TextRun", "text": text });
        assert_eq!(
            body(&event, EventKind::FeatureRequestCreated, WebhookFormat::Teams),
            json!({
                "type": "message",
                "attachments": [{
                    "contentType": "application/vnd.microsoft.card.adaptive",
                    "contentUrl": null,
                    "content": {
                        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                        "type": "AdaptiveCard",
                        "version": "1.4",
                        "body": [
                            { "type": "RichTextBlock", "inlines": [run("New feature request: "), run("Dark mode")] },
                            {
                                "type": "RichTextBlock",
                                "inlines": [run("by a customer · "), run("Inbox"), run(" · 1 vote")],
                            },
                        ],
                        "actions": [{ "type": "Action.OpenUrl", "title": "Open", "url": URL }],
                    },
                }],
            })
        );
        let comment = teams(&event, EventKind::CommentCreated);
        let expected = ["New comment on Dark mode", "“Yes”", "by the team · Inbox · 1 vote"];
        assert_eq!(comment, (expected.map(str::to_owned).to_vec(), vec![URL.to_owned()]));
        // There is nothing to open.
        assert_eq!(teams(&event, EventKind::WebhookTest), (vec!["Test message from Acme <b>".to_owned()], Vec::new()));
    }

    #[test]
    fn other_kinds_and_formats_have_no_message() {
        let event = event("Dark mode", "Inbox", "Yes");
        let about = |event: &StoredEvent, kind, format| message(event, kind, format, &links(), "Acme");
        for kind in EventKind::ALL {
            assert_eq!(about(&event, kind, WebhookFormat::Standard), None);
            for format in [WebhookFormat::Slack, WebhookFormat::Discord, WebhookFormat::Teams] {
                assert_eq!(about(&event, kind, format).is_some(), kind.is_for_chat(), "{kind:?} {format:?}");
                // Nor is there one about records that are missing.
                let empty = StoredEvent {
                    details: EventDetails::default(),
                    snapshot: EventSnapshot::default(),
                    ..event.clone()
                };
                assert_eq!(about(&empty, kind, format).is_some(), kind == EventKind::WebhookTest, "{kind:?}");
            }
        }
    }

    /// Webhooks: no names, no addresses.
    #[test]
    fn a_message_names_nobody() {
        let event = event("Dark mode", "Inbox", "Yes");
        for kind in KINDS {
            for format in [WebhookFormat::Slack, WebhookFormat::Discord, WebhookFormat::Teams] {
                let body = body(&event, kind, format).to_string();
                for name in ["Ann", "ann@", "Tim", "support-desk"] {
                    assert!(!body.contains(name), "{body}");
                }
            }
        }
    }

    /// Webhooks: escaping of texts of people.
    #[test]
    fn hostile_titles_are_texts() {
        let first = |text: String| {
            let line = text.lines().next().unwrap().to_owned();
            line.strip_prefix("New feature request: ").unwrap().to_owned()
        };
        for (title, slug, in_slack, in_discord) in [
            ("<!here> & <@U1>", "3-here-u1", "&lt;!here&gt; &amp; &lt;@\u{200b}U1&gt;", "\\<!here\\> & \\<\\@U1\\>"),
            ("@everyone", "3-everyone", "@\u{200b}everyone", "\\@everyone"),
            ("&lt;!here&gt;", "3-lt-here-gt", "&amp;lt;!here&amp;gt;", "&lt;!here&gt;"),
            ("a](b) [c](d)", "3-a-b-c-d", "a]\u{200b}(b) [c]\u{200b}(d)", "a\\]\\(b\\) \\[c\\]\\(d\\)"),
            ("*a* _b_ ~c~ `d`", "3-a-b-c-d", "*a* _b_ ~c~ `d`", "\\*a\\* \\_b\\_ \\~c\\~ \\`d\\`"),
            ("||a|| \\*", "3-a", "||a|| \\*", "\\|\\|a\\|\\| \\\\\\*"),
            ("# a :b: https://c", "3-a-b-https-c", "# a :b: https://c", "\\# a \\:b\\: https\\://c"),
            ("a\r\nby \u{202e}b\u{7}", "3-a-by-b", "a  by  b", "a  by  b"),
        ] {
            let event = event(title, "Inbox", "");
            let url = format!("https://acme.roadmap.example.com/feature_requests/{slug}");
            let kind = EventKind::FeatureRequestCreated;
            assert_eq!(first(slack(&event, kind)), format!("<{url}|{in_slack}>"), "{title}");
            assert_eq!(first(discord(&event, kind)), format!("[{in_discord}](<{url}>)"), "{title}");
            let expected = format!("New feature request: {}", one_line(title));
            assert_eq!(teams(&event, kind).0[0], expected, "{title}");
        }
    }

    #[test]
    fn names_of_tracks_and_products_are_escaped_too() {
        let event = event("Dark mode", "<@x>\n*", "");
        let kind = EventKind::FeatureRequestMoved;
        let escaped = "&lt;@\u{200b}x&gt; *";
        assert_eq!(
            slack(&event, kind),
            format!("Moved to {escaped}: <{URL}|Dark mode>\nby a customer · {escaped} · 1 vote")
        );
        let escaped = "\\<\\@x\\> \\*";
        assert_eq!(
            discord(&event, kind),
            format!("Moved to {escaped}: [Dark mode](<{URL}>)\nby a customer · {escaped} · 1 vote")
        );
        let test = message(&event, EventKind::WebhookTest, WebhookFormat::Slack, &links(), "A\n<!channel>").unwrap();
        assert_eq!(test, json!({ "text": "Test message from A &lt;!channel&gt;" }));
    }

    /// Webhooks: the first 150 characters of a title, and the first 200 of a comment.
    #[test]
    fn long_texts_are_cut() {
        for (title, shown) in [
            ("ü".repeat(150), "ü".repeat(150)),
            ("ü".repeat(151), format!("{}…", "ü".repeat(150))),
            ("<".repeat(200), format!("{}…", "<".repeat(150))),
            // A link has a text.
            ("\u{202e}\n".to_owned(), "…".to_owned()),
        ] {
            let event = event(&title, "Inbox", "");
            let (lines, _) = teams(&event, EventKind::ChangelogPublished);
            assert_eq!(lines, [format!("New changelog: {shown}")]);
        }
        for (comment, shown) in [
            ("ü".repeat(200), Some("ü".repeat(200))),
            ("ü".repeat(201), Some("ü".repeat(200))),
            (format!("<p>{}</p>", "&lt;".repeat(300)), Some("<".repeat(200))),
            ("<p><br></p>".to_owned(), None),
        ] {
            let event = event("Dark mode", "Inbox", &comment);
            let (lines, _) = teams(&event, EventKind::CommentCreated);
            let quotation = shown.map(|shown| format!("“{shown}”"));
            assert_eq!(lines.len(), 2 + usize::from(quotation.is_some()));
            assert!(quotation.is_none_or(|quotation| lines[1] == quotation), "{lines:?}");
        }
    }

    /// In ASCII, a word can be many times longer.
    #[test]
    fn a_url_that_is_too_long_has_the_number_alone() {
        let event = event(&"中".repeat(200), "Inbox", "");
        let (_, urls) = teams(&event, EventKind::FeatureRequestCreated);
        assert_eq!(urls, ["https://acme.roadmap.example.com/feature_requests/3"]);
    }

    #[test]
    fn a_comment_is_cut_to_the_room_that_discord_leaves() {
        let length = |text: &str| text.encode_utf16().count();
        for track in [100, 1_000, 1_500, 1_501, 1_850, 1_900, 3_000] {
            let event = event("Dark mode", &"x".repeat(track), &"*".repeat(300));
            let content = discord(&event, EventKind::CommentCreated);
            let lines: Vec<&str> = content.lines().collect();
            let (first, last) = (*lines.first().unwrap(), *lines.last().unwrap());
            let room = MAX_DISCORD.saturating_sub(length(first) + length(last) + 4) / 2;
            let expected = match room.min(MAX_COMMENT) {
                0 => format!("{first}\n{last}"),
                stars => format!("{first}\n“{}”\n{last}", "\\*".repeat(stars)),
            };
            assert_eq!(content, expected);
            assert!(track > 1_850 || length(&content) <= MAX_DISCORD, "{}", length(&content));
        }
        assert_eq!(discord_text("a*b", 4), "a\\*b");
        assert_eq!(discord_text("a*b", 3), "a\\*");
        assert_eq!(discord_text("a*b", 2), "a");
        assert_eq!(discord_text("😀", 1), "");
    }

    /// Texts with many characters that some format reads as markup.
    fn hostile(max: usize) -> impl Strategy<Value = String> {
        let characters = prop_oneof![
            prop::sample::select(
                "\\*_~`|<>[]()#@:&!/-{}$^=+\"'“”…\n\r\t\u{2028}\u{202e}\u{200b}".chars().collect::<Vec<_>>()
            ),
            prop::char::range('a', 'z'),
            any::<char>(),
        ];
        prop::collection::vec(characters, 0..=max).prop_map(|characters| characters.into_iter().collect())
    }

    /// Returns a text for Slack with the characters for which it has references.
    fn unescaped(text: &str) -> String {
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        /// In Slack there is one link, which is ours, and no mention.
        #[test]
        fn a_message_for_slack_has_one_link(title in hostile(200), track in hostile(200), comment in hostile(300)) {
            let html = CleanHtml::of_text(&comment);
            let event = event(&title, &track, html.as_str());
            for kind in KINDS {
                let text = slack(&event, kind);
                let links = usize::from(kind != EventKind::WebhookTest);
                prop_assert_eq!(text.matches('<').count(), links);
                prop_assert_eq!(text.matches('>').count(), links);
                prop_assert_eq!(text.matches("<https://acme.roadmap.example.com/").count(), links);
                for reference in text.split('&').skip(1) {
                    let is_known = ["amp;", "lt;", "gt;"].into_iter().any(|name| reference.starts_with(name));
                    prop_assert!(is_known, "{}", text);
                }
                for mark in ['@', ']'] {
                    prop_assert!(text.split(mark).skip(1).all(|rest| rest.starts_with('\u{200b}')), "{}", text);
                }
                prop_assert!(text.split('\n').count() <= 3);
                prop_assert!(!text.chars().any(|character| character != '\n' && breaks_lines(character)));
            }
            let shown = unescaped(&slack_text(&title)).replace('\u{200b}', "");
            prop_assert_eq!(shown, title.replace('\u{200b}', ""));
        }

        /// In Discord, what is left without the escaped characters is a link of ours and texts without markup.
        #[test]
        fn a_message_for_discord_has_one_link(title in hostile(200), track in hostile(200), comment in hostile(300)) {
            let html = CleanHtml::of_text(&comment);
            let event = event(&title, &track, html.as_str());
            for kind in KINDS {
                let content = discord(&event, kind);
                prop_assert!(content.encode_utf16().count() <= MAX_DISCORD);
                prop_assert!(content.split('\n').count() <= 3);
                prop_assert!(!content.chars().any(|character| character != '\n' && breaks_lines(character)));
                let mut characters = content.chars();
                let mut marks = String::new();
                while let Some(character) = characters.next() {
                    if character == '\\' {
                        let escaped = characters.next();
                        prop_assert!(escaped.is_some_and(|escaped| DISCORD_MARKUP.contains(&escaped)), "{}", content);
                    } else if DISCORD_MARKUP.contains(&character) {
                        marks.push(character);
                    }
                }
                // The `_` and the `:` of the URL.
                let expected = match kind {
                    EventKind::FeatureRequestCreated | EventKind::FeatureRequestMoved => ":[](<:_>)",
                    EventKind::CommentCreated => "[](<:_>)",
                    EventKind::ChangelogPublished => ":[](<:>)",
                    _ => "",
                };
                prop_assert_eq!(marks, expected, "{}", content);
            }
        }

        /// In Teams each text is in a run, as it is.
        #[test]
        fn a_card_for_teams_has_texts_as_they_are(title in hostile(150), track in hostile(200)) {
            let event = event(&title, &track, "Yes");
            let shown = Some(one_line(&title)).filter(|title| !title.is_empty()).unwrap_or_else(|| "…".to_owned());
            for kind in KINDS {
                let (lines, urls) = teams(&event, kind);
                prop_assert!(kind == EventKind::WebhookTest || lines[0].ends_with(&shown), "{:?}", lines);
                prop_assert_eq!(urls.len(), usize::from(kind != EventKind::WebhookTest));
            }
        }
    }
}
