//! Builds mails (RFC 5322) from notifications: text and HTML, one recipient, one-click unsubscribe.

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lettre::address::Envelope;
use lettre::message::header::{From, Header, HeaderName, HeaderValue, Subject};
use lettre::message::{Mailbox, MessageBuilder, MultiPart, SinglePart};
use lettre::{Address, Message};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::mail::{
    DigestNotification, DigestNotificationEntry, News, Notification, SendError, SignInMail, TestMail,
};
use roadmap_domain::model::text::{Name, truncate};

use crate::composer::Sender;
use crate::content::ContentParts;
use crate::sign_in::SignInParts;

/// Maximum characters of client text in a header.
const MAX_HEADER_LENGTH: usize = 300;

/// Maximum characters of a comment or changelog in a digest.
const MAX_EXCERPT_LENGTH: usize = 500;

/// The subject of test mails.
const TEST_SUBJECT: &str = "Test of outgoing mail";

/// Most bytes of a sender's name and of an encoded word: both then fit on a line.
const MAX_NAME_BYTES: usize = 36;

#[derive(Template)]
#[template(path = "notification.txt")]
struct Text<'a> {
    notification: &'a Notification,
    content: &'a ContentParts,
    introduction: &'a str,
    record: &'a str,
    reason: &'a str,
}

#[derive(Template)]
#[template(path = "notification.html")]
struct Html<'a> {
    notification: &'a Notification,
    content: &'a ContentParts,
    introduction: &'a str,
    record: &'a str,
    reason: &'a str,
}

#[derive(Template)]
#[template(path = "digest.txt")]
struct DigestText<'a> {
    digest: &'a DigestNotification,
    introduction: &'a str,
    entries: &'a [Entry<'a>],
}

#[derive(Template)]
#[template(path = "digest.html")]
struct DigestHtml<'a> {
    digest: &'a DigestNotification,
    count: &'a str,
    introduction: &'a str,
    entries: &'a [Entry<'a>],
}

/// A notification in a digest.
struct Entry<'a> {
    title: &'a str,
    url: &'a str,
    news: String,
    beginning: String,
}

impl<'a> Entry<'a> {
    fn new(entry: &'a DigestNotificationEntry) -> Self {
        let (text, is_cut) = CleanHtml::from_stored(entry.beginning.clone()).beginning(4 * MAX_EXCERPT_LENGTH);
        let mut beginning = truncate(&text, MAX_EXCERPT_LENGTH).to_owned();
        if is_cut || beginning.len() < text.len() {
            beginning.push('…');
        }
        let news = match &entry.news {
            News::Comment => "New comment".to_owned(),
            News::StatusChange(Some(status)) => format!("New status: {status}"),
            News::StatusChange(None) => "Not on the roadmap any more".to_owned(),
            News::Changelog => "News".to_owned(),
        };
        Self { title: entry.title.as_str(), url: &entry.url, news, beginning }
    }
}

/// The first sentence of a notification.
fn introduction(notification: &Notification) -> String {
    match &notification.news {
        News::Comment => "There is a new comment on a feature request that you voted for or follow:".to_owned(),
        News::StatusChange(Some(status)) => {
            format!("A feature request that you voted for or follow has a new status: {status}")
        }
        News::StatusChange(None) => {
            "A feature request that you voted for or follow is not on the roadmap any more:".to_owned()
        }
        News::Changelog => format!("There is news from {}:", notification.product_name),
    }
}

/// The record that a notification links to, and what its recipient did to get the notification.
fn record_and_reason(news: &News) -> (&'static str, &'static str) {
    match news {
        News::Comment => ("comment", "voted for the feature request or follow it"),
        News::StatusChange(_) => ("feature request", "voted for the feature request or follow it"),
        News::Changelog => ("changelog", "voted for a feature request that it is about, or follow one"),
    }
}

/// The number of notifications in a digest, and its first sentence.
fn count_and_introduction(notifications: u64) -> (String, String) {
    let (verb, noun) = if notifications == 1 { ("is", "notification") } else { ("are", "notifications") };
    let count = format!("{notifications} new {noun}");
    let introduction = format!("There {verb} {count} about feature requests that you voted for or follow:");
    (count, introduction)
}

/// Declares a header that lettre has no type for. Its value is ASCII and has no line breaks.
macro_rules! plain_header {
    ($(#[$doc:meta])* $type:ident, $name:literal) => {
        $(#[$doc])*
        #[derive(Clone)]
        struct $type(String);

        impl Header for $type {
            fn name() -> HeaderName {
                HeaderName::new_from_ascii_str($name)
            }

            fn parse(value: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
                Ok(Self(value.to_owned()))
            }

            fn display(&self) -> HeaderValue {
                // Unfolded, because folding breaks a URL.
                HeaderValue::dangerous_new_pre_encoded(Self::name(), self.0.clone(), self.0.clone())
            }
        }
    };
}

plain_header! {
    /// The URL to unsubscribe (RFC 2369 section 3.2).
    ListUnsubscribe, "List-Unsubscribe"
}
plain_header! {
    /// Announces one-click unsubscribe by POST (RFC 8058 section 3.1).
    ListUnsubscribePost, "List-Unsubscribe-Post"
}
plain_header! {
    /// Marks the mail as automatic, so that auto-responders ignore it (RFC 3834 section 5).
    AutoSubmitted, "Auto-Submitted"
}

plain_header! {
    /// Tells mail servers of Microsoft that nobody reads automatic replies, which they send in spite of `Auto-Submitted`
    /// (MS-OXCMAIL section 2.2.3.2.14).
    AutoResponseSuppress, "X-Auto-Response-Suppress"
}

/// Builds a notification.
pub(crate) fn notification(
    notification: &Notification,
    content: &ContentParts,
    sender: &Sender,
) -> Result<Message, SendError> {
    let introduction = &introduction(notification);
    let (record, reason) = record_and_reason(&notification.news);
    let text = Text { notification, content, introduction, record, reason }.render();
    let html = Html { notification, content, introduction, record, reason }.render();
    let (text, html) = (text.map_err(|error| compose_error(&error))?, html.map_err(|error| compose_error(&error))?);
    let head = HeaderFields {
        id: notification.id.to_string(),
        to: &notification.to,
        product_name: notification.product_name.as_str(),
        subject: prefixed(&notification.product_name, notification.title.as_str()),
        url: &notification.unsubscribe_url,
    };
    let message = unsubscribable(start(&head, sender)?, &head).header(auto_submitted());
    finish(message.multipart(MultiPart::alternative_plain_html(text, html)), &head, sender)
}

/// Builds the digest of several notifications.
pub(crate) fn digest(digest: &DigestNotification, sender: &Sender) -> Result<Message, SendError> {
    let (text, html, count) = digest_parts(digest).map_err(|error| compose_error(&error))?;
    let head = HeaderFields {
        id: digest.id.to_string(),
        to: &digest.to,
        product_name: digest.product_name.as_str(),
        subject: prefixed(&digest.product_name, &count),
        url: &digest.unsubscribe_url,
    };
    let message = unsubscribable(start(&head, sender)?, &head).header(auto_submitted());
    finish(message.multipart(MultiPart::alternative_plain_html(text, html)), &head, sender)
}

/// Renders text and HTML of a digest. Also returns the number of its notifications in words.
fn digest_parts(digest: &DigestNotification) -> Result<(String, String, String), askama::Error> {
    let entries: Vec<Entry<'_>> = digest.entries.iter().map(Entry::new).collect();
    let (count, introduction) = count_and_introduction(digest.more.saturating_add(entries.len() as u64));
    let text = DigestText { digest, introduction: &introduction, entries: &entries }.render()?;
    let html = DigestHtml { digest, count: &count, introduction: &introduction, entries: &entries }.render()?;
    Ok((text, html, count))
}

/// Builds the mail of a sign-in. Nobody can unsubscribe from it: it is sent when it is asked for, or once to a new member
/// of the team.
pub(crate) fn sign_in(mail: &SignInMail, sender: &Sender) -> Result<Message, SendError> {
    let SignInParts { subject, text, html } = SignInParts::render(mail).map_err(|error| compose_error(&error))?;
    let head = HeaderFields {
        id: mail.id.to_string(),
        to: &mail.to,
        product_name: mail.product_name.as_str(),
        subject,
        url: &mail.url,
    };
    let message = start(&head, sender)?.header(auto_submitted());
    finish(message.multipart(MultiPart::alternative_plain_html(text, html)), &head, sender)
}

/// The test mail that an operator has queued.
pub(crate) fn test_mail(mail: &TestMail, sender: &Sender) -> Result<Message, SendError> {
    let head = HeaderFields {
        id: mail.id.to_string(),
        to: &mail.to,
        product_name: mail.product_name.as_str(),
        subject: prefixed(&mail.product_name, TEST_SUBJECT),
        url: &mail.workspace_url,
    };
    let text = format!(
        "This mail was queued by `roadmap mail test` for {} and sent by a worker. It has arrived, so mail works.\n",
        mail.workspace_url
    );
    finish(start(&head, sender)?.header(auto_submitted()).singlepart(SinglePart::plain(text)), &head, sender)
}

/// The variable parts of a mail's headers.
struct HeaderFields<'a> {
    id: String,
    to: &'a EmailAddress,
    product_name: &'a str,
    subject: String,
    /// A URL of the workspace. Its host is that of the `Message-ID`.
    url: &'a str,
}

/// The headers that all mails have, without those that [`finish`] writes.
fn start(head: &HeaderFields<'_>, sender: &Sender) -> Result<MessageBuilder, SendError> {
    let from = &sender.mailbox;
    let host = head.url.split('/').nth(2).unwrap_or("localhost");
    // Without the port. The colons of an IPv6 address are in brackets.
    let host = host.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(host, |(name, _)| name);
    let to: Address = head.to.with_ascii_domain().parse().map_err(|error| SendError::Permanent {
        reason: format!("the address is invalid: {error}"),
        no_such_mailbox: true,
    })?;
    let envelope = Envelope::new(Some(from.email.clone()), vec![to.clone()]).map_err(|error| compose_error(&error))?;
    Ok(Message::builder()
        .message_id(Some(format!("<{}@{host}>", head.id)))
        .date_now()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .envelope(envelope)
        .subject(""))
}

/// The subject of mail about something, which begins with the product's name.
fn prefixed(product_name: &Name, about: &str) -> String {
    format!("[{product_name}] {about}")
}

fn no_automatic_replies() -> AutoResponseSuppress {
    AutoResponseSuppress("OOF, AutoReply".to_owned())
}

fn auto_submitted() -> AutoSubmitted {
    AutoSubmitted("auto-generated".to_owned())
}

/// The same with the headers by which mail programs unsubscribe.
fn unsubscribable(message: MessageBuilder, head: &HeaderFields<'_>) -> MessageBuilder {
    message
        .header(ListUnsubscribe(format!("<{}>", head.url)))
        .header(ListUnsubscribePost("List-Unsubscribe=One-Click".to_owned()))
}

/// The message with the headers that clients have a part in.
fn finish(
    message: Result<Message, lettre::error::Error>,
    head: &HeaderFields<'_>,
    sender: &Sender,
) -> Result<Message, SendError> {
    let mut message = message.map_err(|error| compose_error(&error))?;
    message.headers_mut().insert_raw(from_header(sender, head.product_name));
    message.headers_mut().insert_raw(subject(&head.subject));
    message.headers_mut().set(no_automatic_replies());
    Ok(message)
}

/// Builds a test mail, by which an operator checks that mail arrives.
pub(crate) fn test(to: Mailbox, from: &Mailbox) -> Result<Message, SendError> {
    Message::builder()
        .message_id(None)
        .date_now()
        .from(from.clone())
        .to(to)
        .subject(TEST_SUBJECT)
        .header(auto_submitted())
        .header(no_automatic_replies())
        .body("This mail was sent by `roadmap mail test`. It has arrived, so mail works.\n".to_owned())
        .map_err(|error| compose_error(&error))
}

fn compose_error(error: &dyn std::error::Error) -> SendError {
    SendError::Permanent { reason: format!("the mail cannot be built: {error}"), no_such_mailbox: false }
}

/// Sanitizes text for a header: one line of at most [`MAX_HEADER_LENGTH`] characters, without control characters and
/// characters that change the text direction.
pub(crate) fn single_line(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|character| {
            let breaks = character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
            if breaks { ' ' } else { character }
        })
        .filter(|character| !matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .take(MAX_HEADER_LENGTH)
        .collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Encodes text as encoded words (RFC 2047), folded between them.
fn encoded_words(text: &str) -> String {
    let mut words: Vec<String> = vec![String::new()];
    for character in text.chars() {
        match words.last_mut() {
            Some(word) if word.len() + character.len_utf8() <= MAX_NAME_BYTES => word.push(character),
            _ => words.push(character.to_string()),
        }
    }
    let encoded = words.iter().map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word)));
    encoded.collect::<Vec<_>>().join("\r\n ")
}

/// Whether text needs no encoding in a header: printable ASCII that does not look like an encoded word.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && !text.contains("=?")
}

/// The subject. Text that looks like an encoded word is encoded, so that mail programs show it unchanged.
fn subject(text: &str) -> HeaderValue {
    let line = single_line(text);
    if is_plain(&line) {
        return HeaderValue::new(Subject::name(), line);
    }
    let encoded = encoded_words(&line);
    HeaderValue::dangerous_new_pre_encoded(Subject::name(), line, encoded)
}

/// The sender with a display name: a quoted string (RFC 5322 section 3.2.4), or encoded words (RFC 2047) for non-ASCII text.
fn from_header(sender: &Sender, product_name: &str) -> HeaderValue {
    let name = match &sender.mailbox.name {
        Some(name) => truncated_name(&single_line(name)),
        None => display_name(product_name, &sender.service_name),
    };
    let encoded = if is_plain(&name) {
        format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        encoded_words(&name)
    };
    let value = |name: &str| format!("{name} <{}>", sender.mailbox.email);
    HeaderValue::dangerous_new_pre_encoded(From::name(), value(&name), value(&encoded))
}

/// The sender's display name. The product's name is client text: characters of addresses are removed from it, and the
/// service's name always follows it.
fn display_name(product_name: &str, service_name: &str) -> String {
    let looks_like_address = |character: char| {
        matches!(
            character,
            '"' | '\'' | ',' | ';' | ':' | '@' | '<' | '>' | '(' | ')' | '[' | ']' | '\\' | '\u{fe6b}' | '\u{ff20}'
        )
    };
    let product = truncated_name(&single_line(&product_name.replace(looks_like_address, " ")));
    if product.is_empty() { service_name.to_owned() } else { format!("{product} via {service_name}") }
}

/// Truncates a line to [`MAX_NAME_BYTES`] bytes.
fn truncated_name(line: &str) -> String {
    line.get(..line.floor_char_boundary(MAX_NAME_BYTES)).unwrap_or(line).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::feature_request::Title;
    use roadmap_domain::model::id::{ChangelogId, CommentId, CustomerId, EventId, SignInId};
    use roadmap_domain::model::mail::{DigestId, MailId, Topic};
    use roadmap_domain::model::message::MessageId;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::timestamp::Timestamp;
    use std::sync::Arc;
    use uuid::Uuid;

    fn sample_notification(title: &str, content: &str, to: &str) -> Notification {
        Notification {
            id: MailId {
                topic: Topic::Comment(CommentId::new(Uuid::from_u128(0xc0))),
                customer: CustomerId::new(Uuid::from_u128(0xcc)),
            },
            to: EmailAddress::parse("email", to).unwrap(),
            product_name: Name::from_stored("Acme".to_owned()),
            news: News::Comment,
            title: Title::from_stored(title.to_owned()),
            url: "https://acme.roadmap.example.com:8443/feature_requests/7-dark-mode".to_owned(),
            content: Arc::new(CleanHtml::from_stored(content.to_owned())),
            unsubscribe_url: "https://acme.roadmap.example.com:8443/unsubscribe/token?request=id".to_owned(),
        }
    }

    fn sender(from: &str) -> Sender {
        Sender { mailbox: from.parse().unwrap(), service_name: "Roadmap".to_owned() }
    }

    fn formatted_mail(sample: &Notification, from: &str) -> String {
        let message = notification(sample, &ContentParts::render(&sample.content), &sender(from)).unwrap();
        String::from_utf8(message.formatted()).unwrap()
    }

    #[test]
    fn a_mail_has_these_headers_and_no_others() {
        let raw =
            formatted_mail(&sample_notification("Dark mode", "<p>Soon</p>", "ann@example.com"), "hello@acme.example");
        let (head, _) = raw.split_once("\r\n\r\n").unwrap();
        let headers: Vec<&str> = head.split("\r\n").filter(|line| !line.starts_with(' ')).collect();
        let expected = [
            "Message-ID: <00000000-0000-0000-0000-0000000000c0.00000000-0000-0000-0000-0000000000cc@acme.roadmap.example.com>",
            "Date: ",
            "From: \"Acme via Roadmap\" <hello@acme.example>",
            "To: ann@example.com",
            "Subject: [Acme] Dark mode",
            "List-Unsubscribe: <https://acme.roadmap.example.com:8443/unsubscribe/token?request=id>",
            "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "X-Auto-Response-Suppress: OOF, AutoReply",
            "Content-Type: multipart/alternative;",
        ];
        assert_eq!(headers.len(), expected.len(), "{head}");
        for (header, expected) in headers.iter().zip(expected) {
            assert!(header.starts_with(expected), "{header}, not {expected}");
        }
        assert!(raw.contains("\r\nFrom: "));
    }

    #[test]
    fn a_test_mail_has_an_identity_and_nothing_to_unsubscribe_from() {
        let mail = TestMail {
            id: MessageId::test_mail(Uuid::from_u128(7)),
            to: EmailAddress::parse("to", "ops@acme.example").unwrap(),
            product_name: Name::from_stored("Acme".to_owned()),
            workspace_url: "https://acme.roadmap.example.com:8443".to_owned(),
        };
        let raw = String::from_utf8(test_mail(&mail, &sender("hello@acme.example")).unwrap().formatted()).unwrap();
        let (head, body) = raw.split_once("\r\n\r\n").unwrap();
        let expected = [
            "Message-ID: <test.00000000-0000-0000-0000-000000000007@acme.roadmap.example.com>",
            "Date: ",
            "From: \"Acme via Roadmap\" <hello@acme.example>",
            "To: ops@acme.example",
            "Subject: [Acme] Test of outgoing mail",
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "X-Auto-Response-Suppress: OOF, AutoReply",
            "Content-Type: text/plain",
            "Content-Transfer-Encoding: ",
        ];
        let headers: Vec<&str> = head.split("\r\n").collect();
        assert_eq!(headers.len(), expected.len(), "{head}");
        for header in expected {
            assert!(headers.iter().any(|line| line.starts_with(header)), "{header} in {head}");
        }
        assert!(body.replace("=\r\n", "").contains("for https://acme.roadmap.example.com:8443"), "{body}");
        let nobody = TestMail { to: EmailAddress::from_stored("nobody".to_owned()), ..mail };
        let refused = test_mail(&nobody, &sender("hello@acme.example")).unwrap_err();
        assert!(matches!(refused, SendError::Permanent { no_such_mailbox: true, .. }), "{refused:?}");
    }

    #[test]
    fn the_mail_of_a_sign_in_cannot_be_unsubscribed_from_and_its_subject_hides_the_code() {
        let mail = SignInMail {
            id: MessageId::sign_in(SignInId::new(Uuid::from_u128(7))),
            to: EmailAddress::parse("email", "ann@example.com").unwrap(),
            product_name: Name::from_stored("Acme\r\nBcc: eve@evil.example".to_owned()),
            language: Language::English,
            url: "https://acme.roadmap.example.com:8443/sign-in/token".to_owned(),
            code: "KM4P7QRT".to_owned(),
            ask_url: "https://acme.roadmap.example.com:8443/sign-in".to_owned(),
            is_invitation: false,
            browser: None,
            asked_at: Timestamp::from_millis(1_770_000_000_000).unwrap(),
        };
        let raw = String::from_utf8(sign_in(&mail, &sender("hello@acme.example")).unwrap().formatted()).unwrap();
        let (head, body) = raw.split_once("\r\n\r\n").unwrap();
        let head = head.replace("\r\n ", " ");
        let names: Vec<&str> = head.split("\r\n").map(|line| line.split_once(": ").unwrap().0).collect();
        let expected = [
            "Message-ID",
            "Date",
            "From",
            "To",
            "Subject",
            "Auto-Submitted",
            "MIME-Version",
            "X-Auto-Response-Suppress",
            "Content-Type",
        ];
        assert_eq!(names, expected);
        for line in [
            "Message-ID: <sign_in.00000000-0000-0000-0000-000000000007@acme.roadmap.example.com>",
            "From: \"Acme Bcc eve evil.example via Roadmap\" <hello@acme.example>",
        ] {
            assert!(head.contains(line), "{line} is not in {head}");
        }
        let encoded = head.split("\r\n").find_map(|line| line.strip_prefix("Subject: ")).unwrap();
        let subject: String = encoded
            .split(' ')
            .map(|word| word.strip_prefix("=?utf-8?B?").unwrap().strip_suffix("?=").unwrap())
            .map(|word| String::from_utf8(STANDARD.decode(word).unwrap()).unwrap())
            .collect();
        assert_eq!(subject, "Sign in to Acme Bcc: eve@evil.example (code KM…)");
        assert_eq!(body.matches("KM4P-7QRT").count(), 2, "{body}");
    }

    #[test]
    fn a_sender_with_a_name_keeps_it() {
        let raw =
            formatted_mail(&sample_notification("Dark mode", "Soon", "ann@example.com"), "Bolt <hello@bolt.example>");
        assert!(raw.contains("From: \"Bolt\" <hello@bolt.example>"), "{raw}");
    }

    #[test]
    fn no_product_name_looks_like_another_sender() {
        for (product, name) in [
            ("Acme", "Acme via Roadmap"),
            ("Acme, Inc.", "Acme Inc. via Roadmap"),
            ("ceo@bank.example\" <ceo@bank.example>", "ceo bank.example ceo bank.example via Roadmap"),
            ("Bank\r\nBcc: eve@evil.example", "Bank Bcc eve evil.example via Roadmap"),
            ("\u{202e}knaB\u{2066}\u{61c}", "knaB via Roadmap"),
            ("a\u{ff20}b\u{fe6b}c", "a b c via Roadmap"),
            ("\"@\"", "Roadmap"),
            (
                "My Bank has a name that is far too long to be shown whole",
                "My Bank has a name that is far too l via Roadmap",
            ),
        ] {
            assert_eq!(display_name(product, "Roadmap"), name, "{product:?}");
            let sample = Notification {
                product_name: Name::from_stored(product.to_owned()),
                ..sample_notification("Dark mode", "Soon", "ann@example.com")
            };
            let raw = formatted_mail(&sample, "hello@acme.example");
            let (head, _) = raw.split_once("\r\n\r\n").unwrap();
            let from: Vec<&str> = head.split("\r\n").filter(|line| line.starts_with("From:")).collect();
            assert_eq!(from, [format!("From: \"{name}\" <hello@acme.example>")]);
        }
        let sample = Notification {
            product_name: Name::from_stored("Müller und Söhne".to_owned()),
            ..sample_notification("Dark mode", "Soon", "ann@example.com")
        };
        let raw = formatted_mail(&sample, "hello@acme.example");
        let (name, address) = raw.split_once("From: ").unwrap().1.split_once(" <").unwrap();
        assert!(name.starts_with("=?utf-8?B?") && address.starts_with("hello@acme.example>\r\n"), "{raw}");
    }

    /// The notification with other news. The content of a change of the status is empty.
    fn sample_of(topic: Topic, news: News) -> Notification {
        let (title, path, content) = match topic {
            Topic::Comment(_) => ("Dark mode", "feature_requests/7-dark-mode", "<p>Soon</p>"),
            Topic::StatusChange(_) => ("Dark mode", "feature_requests/7-dark-mode", ""),
            Topic::Changelog(_) => ("Dark mode is here", "changelogs/id", "<p>At <b>last</b></p>"),
        };
        let sample = sample_notification(title, content, "ann@example.com");
        let url = format!("https://acme.example/{path}");
        Notification { id: MailId { topic, ..sample.id }, news, url, ..sample }
    }

    /// The text and the HTML between `<body>` and `<hr>`.
    fn bodies(sample: &Notification) -> (String, String) {
        let content = &ContentParts::render(&sample.content);
        let introduction = &introduction(sample);
        let (record, reason) = record_and_reason(&sample.news);
        let text = Text { notification: sample, content, introduction, record, reason }.render().unwrap();
        let html = Html { notification: sample, content, introduction, record, reason }.render().unwrap();
        let (_, body) = html.split_once("<body>\n").unwrap();
        (text, body.split_once("\n<hr>").unwrap().0.to_owned())
    }

    /// Addition 5.
    #[test]
    fn each_kind_of_news_has_its_sentence_its_record_and_its_reason() {
        let uuid = Uuid::from_u128(0xc0);
        let status = |name: &str| Some(Name::from_stored(name.to_owned()));
        let (event, changelog) = (Topic::StatusChange(EventId::new(uuid)), Topic::Changelog(ChangelogId::new(uuid)));
        for (topic, news, text, html) in [
            (
                Topic::Comment(CommentId::new(uuid)),
                News::Comment,
                "There is a new comment on a feature request that you voted for or follow:

Dark mode
https://acme.example/feature_requests/7-dark-mode

Soon

--
You get this mail from Acme because you voted for the feature request or follow it.",
                "<p>There is a new comment on a feature request that you voted for or follow:</p>
<p><a href=\"https://acme.example/feature_requests/7-dark-mode\"><b>Dark mode</b></a></p>
<div><p>Soon</p></div>",
            ),
            (
                event,
                News::StatusChange(status("<Planned>")),
                "A feature request that you voted for or follow has a new status: <Planned>

Dark mode
https://acme.example/feature_requests/7-dark-mode

--
You get this mail from Acme because you voted for the feature request or follow it.",
                "<p>A feature request that you voted for or follow has a new status: &#60;Planned&#62;</p>
<p><a href=\"https://acme.example/feature_requests/7-dark-mode\"><b>Dark mode</b></a></p>",
            ),
            (
                event,
                News::StatusChange(None),
                "A feature request that you voted for or follow is not on the roadmap any more:

Dark mode
https://acme.example/feature_requests/7-dark-mode

--
You get this mail from Acme because you voted for the feature request or follow it.",
                "<p>A feature request that you voted for or follow is not on the roadmap any more:</p>
<p><a href=\"https://acme.example/feature_requests/7-dark-mode\"><b>Dark mode</b></a></p>",
            ),
            (
                changelog,
                News::Changelog,
                "There is news from Acme:

Dark mode is here
https://acme.example/changelogs/id

At last

--
You get this mail from Acme because you voted for a feature request that it is about, or follow one.",
                "<p>There is news from Acme:</p>
<p><a href=\"https://acme.example/changelogs/id\"><b>Dark mode is here</b></a></p>
<div><p>At <b>last</b></p></div>",
            ),
        ] {
            let sample = sample_of(topic, news);
            let (text_body, html_body) = bodies(&sample);
            assert_eq!(text_body, format!("{text}\nUnsubscribe: {}", sample.unsubscribe_url));
            assert_eq!(html_body, html);
            let raw = formatted_mail(&sample, "hello@acme.example");
            assert!(raw.contains(&format!("Message-ID: <{topic}.")), "{raw}");
            assert!(raw.contains(&format!("Subject: [Acme] {}\r\n", sample.title)), "{raw}");
            assert!(raw.contains("List-Unsubscribe: <"), "{raw}");
        }
    }

    #[test]
    fn a_long_changelog_is_cut_and_linked() {
        let sample = sample_of(Topic::Changelog(ChangelogId::new(Uuid::from_u128(0xc0))), News::Changelog);
        let content = Arc::new(CleanHtml::from_stored("<p>Soon</p>".repeat(5_000)));
        let (text, html) = bodies(&Notification { content, ..sample });
        assert!(text.contains(" …\n\nRead the whole changelog: https://acme.example/changelogs/id\n\n--\n"), "{text}");
        let link = "<a href=\"https://acme.example/changelogs/id\">Read the whole changelog</a>";
        assert!(html.ends_with(&format!("\n<p>{link}</p>")), "{html}");
    }

    #[test]
    fn a_digest_lists_its_notifications_with_their_beginnings() {
        let entry = |number: u32, news: News, beginning: &str| DigestNotificationEntry {
            news,
            title: Title::from_stored(format!("<b>Request</b> {number}")),
            url: format!("https://acme.example/feature_requests/{number}"),
            beginning: beginning.to_owned(),
        };
        let status = Name::from_stored("<Planned>".to_owned());
        let sample = sample_notification("", "", "ann@example.com");
        let mail = DigestNotification {
            id: DigestId { at: Timestamp::from_millis(1_770_001_200_000).unwrap(), customer: sample.id.customer },
            to: sample.to,
            product_name: sample.product_name,
            entries: vec![
                entry(1, News::Comment, "<p>Soon &lt;b&gt;</p>"),
                entry(2, News::Comment, &"ü".repeat(501)),
                entry(3, News::StatusChange(Some(status)), ""),
                entry(4, News::StatusChange(None), ""),
                entry(5, News::Changelog, "<p>cut <a href=\"https://"),
            ],
            more: 9,
            unsubscribe_url: "https://acme.roadmap.example.com:8443/unsubscribe/token".to_owned(),
        };
        let message = digest(&mail, &sender("hello@acme.example")).unwrap();
        let raw = String::from_utf8(message.formatted()).unwrap();
        for header in [
            "Message-ID: <digest.1770001200000.00000000-0000-0000-0000-0000000000cc@acme.roadmap.example.com>\r\n",
            "Subject: [Acme] 14 new notifications\r\n",
            "List-Unsubscribe: <https://acme.roadmap.example.com:8443/unsubscribe/token>\r\n",
            "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n",
            "From: \"Acme via Roadmap\" <hello@acme.example>\r\n",
        ] {
            assert!(raw.contains(header), "{header} in {raw}");
        }
        let (text, html, _) = digest_parts(&mail).unwrap();
        let expected = format!(
            "There are 14 new notifications about feature requests that you voted for or follow:

<b>Request</b> 1
https://acme.example/feature_requests/1
New comment
Soon <b>

<b>Request</b> 2
https://acme.example/feature_requests/2
New comment
{}…

<b>Request</b> 3
https://acme.example/feature_requests/3
New status: <Planned>

<b>Request</b> 4
https://acme.example/feature_requests/4
Not on the roadmap any more

<b>Request</b> 5
https://acme.example/feature_requests/5
News
cut

and 9 more

--
You get this mail from Acme because you voted for these feature requests or follow them.
Unsubscribe: https://acme.roadmap.example.com:8443/unsubscribe/token",
            "ü".repeat(500)
        );
        assert_eq!(text.trim_end(), expected);
        for part in [
            "<title>14 new notifications</title>",
            "<a href=\"https://acme.example/feature_requests/1\"><b>&#60;b&#62;Request&#60;/b&#62; 1</b></a><br>\nNew comment</p>",
            "<p>Soon &#60;b&#62;</p>",
            "<br>\nNew status: &#60;Planned&#62;</p>\n<p><a",
            "<p>and 9 more</p>",
            "<a href=\"https://acme.roadmap.example.com:8443/unsubscribe/token\">Unsubscribe</a>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn a_digest_of_one_notification_is_in_the_singular() {
        let (count, introduction) = count_and_introduction(1);
        assert_eq!(count, "1 new notification");
        assert!(introduction.starts_with("There is 1 new notification about "), "{introduction}");
    }

    #[test]
    fn a_long_comment_is_cut_and_linked() {
        let sample = sample_notification("Dark mode", &"<p>Soon</p>".repeat(5_000), "ann@example.com");
        let raw = formatted_mail(&sample, "hello@acme.example").replace("=\r\n", "").replace("=3D", "=");
        let link = "https://acme.roadmap.example.com:8443/feature_requests/7-dark-mode";
        for part in
            [format!("Read the whole comment: {link}\r\n"), format!("<a href=\"{link}\">Read the whole comment</a>")]
        {
            assert!(raw.contains(&part), "{part} in {raw}");
        }
        assert!(raw.len() < 3 * crate::content::MAX_SHOWN_BYTES, "{}", raw.len());
    }

    /// Decision 6.
    #[test]
    fn both_parts_have_the_same_content_and_client_text_is_escaped() {
        let sample = sample_notification("<b>Dark</b> & \"mode\"", "<p>Soon <b>enough</b></p>", "ann@example.com");
        let raw = formatted_mail(&sample, "hello@acme.example");
        for part in [
            "<p>Soon <b>enough</b></p>",
            "\r\nSoon enough\r\n",
            "&#60;b&#62;Dark&#60;/b&#62; &#38; &#34;mode&#34;",
            "\r\n<b>Dark</b> & \"mode\"\r\n",
            "Unsubscribe: https://acme.roadmap.example.com:8443/unsubscribe/token?request=id",
        ] {
            assert!(raw.replace("=\r\n", "").replace("=3D", "=").contains(part), "{part} in {raw}");
        }
    }

    #[test]
    fn the_envelope_has_the_recipient_with_an_ascii_domain() {
        for (to, recipient) in [
            ("\"a b\"@example.com", "\"a b\"@example.com"),
            ("Ann.O'Hara+x@example.com", "Ann.O'Hara+x@example.com"),
            ("jürgen@bücher.example", "jürgen@xn--bcher-kva.example"),
        ] {
            let sample = sample_notification("Dark mode", "Soon", to);
            let parts = ContentParts::render(&sample.content);
            let message = notification(&sample, &parts, &sender("hello@acme.example")).unwrap();
            let envelope: Vec<&str> = message.envelope().to().iter().map(AsRef::as_ref).collect();
            assert_eq!(envelope, [recipient]);
        }
    }

    /// Decision 6.
    #[test]
    fn header_text_is_a_single_line() {
        for (text, expected) in [
            ("a\r\nBcc: b@c.example", "a Bcc: b@c.example"),
            ("a\0b\u{85}c\u{2028}d", "a b c d"),
            ("\u{202e}desrever\u{202c}", "desrever"),
            ("  a \t b ", "a b"),
        ] {
            assert_eq!(single_line(text), expected, "{text:?}");
        }
        assert_eq!(single_line(&"ü".repeat(1_000)).chars().count(), 300);
    }
}
