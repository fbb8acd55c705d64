//! Builds mails (RFC 5322): headers, text and HTML, one recipient, one-click unsubscribe.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lettre::address::Envelope;
use lettre::message::header::{From, Header, HeaderName, HeaderValue, Subject};
use lettre::message::{Mailbox, MessageBuilder, MultiPart};
use lettre::{Address, Message};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::mail::{
    Brand, DigestNotification, Notification, SendError, SignInMail, TestMail, WebhookDisabledMail,
};
use roadmap_domain::model::team_mail::TeamDigestNotification;

use crate::composer::Sender;
use crate::content::ContentParts;
use crate::frame::Rendered;
use crate::{digest, notification, sign_in, team_digest, test_mail, webhook_disabled};

/// Maximum characters of client text in a header.
const MAX_HEADER_LENGTH: usize = 300;

/// The subject of test mails that no workspace sends.
const TEST_SUBJECT: &str = "Test of outgoing mail";

/// Most bytes of a sender's name and of an encoded word: both then fit on a line.
const MAX_NAME_BYTES: usize = 36;

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
    let Notification { to, brand, unsubscribe_url: url, .. } = notification;
    let head = HeaderFields { id: notification.id.to_string(), to, brand, url };
    unsubscribable(&head, notification::render(notification, content), sender)
}

/// Builds the digest of several notifications.
pub(crate) fn digest(digest: &DigestNotification, sender: &Sender) -> Result<Message, SendError> {
    let DigestNotification { to, brand, unsubscribe_url: url, .. } = digest;
    let head = HeaderFields { id: digest.id.to_string(), to, brand, url };
    unsubscribable(&head, digest::render(digest), sender)
}

/// Builds the mail to a member of the team about what customers have written.
pub(crate) fn team_digest(digest: &TeamDigestNotification, sender: &Sender) -> Result<Message, SendError> {
    let TeamDigestNotification { to, brand, unsubscribe_url: url, .. } = digest;
    let head = HeaderFields { id: digest.id.to_string(), to, brand, url };
    unsubscribable(&head, team_digest::render(digest), sender)
}

/// Builds the mail of a sign-in. Nobody can unsubscribe from it: it is sent when it is asked for, or once to a new member
/// of the team.
pub(crate) fn sign_in(mail: &SignInMail, sender: &Sender) -> Result<Message, SendError> {
    let head = HeaderFields { id: mail.id.to_string(), to: &mail.to, brand: &mail.brand, url: &mail.url };
    build(start(&head, sender)?, &head, sign_in::render(mail), sender)
}

/// The test mail that an operator has queued.
pub(crate) fn test_mail(mail: &TestMail, sender: &Sender) -> Result<Message, SendError> {
    let head = HeaderFields { id: mail.id.to_string(), to: &mail.to, brand: &mail.brand, url: &mail.brand.portal_url };
    build(start(&head, sender)?, &head, test_mail::render(mail), sender)
}

/// Builds the mail to an admin about a disabled webhook. Nobody can unsubscribe from it.
pub(crate) fn webhook_disabled(mail: &WebhookDisabledMail, sender: &Sender) -> Result<Message, SendError> {
    let head = HeaderFields { id: mail.id.to_string(), to: &mail.to, brand: &mail.brand, url: &mail.url };
    build(start(&head, sender)?, &head, webhook_disabled::render(mail), sender)
}

/// The variable parts of a mail's headers.
struct HeaderFields<'a> {
    id: String,
    to: &'a EmailAddress,
    brand: &'a Brand,
    /// A URL of the workspace. Its host is that of the `Message-ID`.
    url: &'a str,
}

/// The headers that all mails have, without those that [`build`] writes.
fn start(head: &HeaderFields<'_>, sender: &Sender) -> Result<MessageBuilder, SendError> {
    let from = &sender.mailbox;
    let host = head.url.split('/').nth(2).unwrap_or("localhost");
    // Without the port. The colons of an IPv6 address are in brackets.
    let host = host.rsplit_once(':').filter(|(_, port)| !port.contains(']')).map_or(host, |(name, _)| name);
    let to = mailbox_address(head.to)?;
    let envelope = Envelope::new(Some(from.email.clone()), vec![to.clone()]).map_err(|error| compose_error(&error))?;
    let message = Message::builder();
    let message = match &head.brand.reply_to {
        Some(address) => message.reply_to(Mailbox::new(None, mailbox_address(address)?)),
        None => message,
    };
    Ok(message
        .message_id(Some(format!("<{}@{host}>", head.id)))
        .date_now()
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .envelope(envelope)
        .subject(""))
}

/// Returns an address as mail servers know it.
fn mailbox_address(address: &EmailAddress) -> Result<Address, SendError> {
    address.with_ascii_domain().parse().map_err(|error| SendError::Permanent {
        reason: format!("the address is invalid: {error}"),
        no_such_mailbox: true,
    })
}

fn no_automatic_replies() -> AutoResponseSuppress {
    AutoResponseSuppress("OOF, AutoReply".to_owned())
}

fn auto_submitted() -> AutoSubmitted {
    AutoSubmitted("auto-generated".to_owned())
}

/// Builds a mail with the headers by which mail programs unsubscribe.
fn unsubscribable(
    head: &HeaderFields<'_>,
    rendered: Result<Rendered, askama::Error>,
    sender: &Sender,
) -> Result<Message, SendError> {
    let message = start(head, sender)?
        .header(ListUnsubscribe(format!("<{}>", head.url)))
        .header(ListUnsubscribePost("List-Unsubscribe=One-Click".to_owned()));
    build(message, head, rendered, sender)
}

/// Builds a mail with its text, and with the headers that clients have a part in.
fn build(
    message: MessageBuilder,
    head: &HeaderFields<'_>,
    rendered: Result<Rendered, askama::Error>,
    sender: &Sender,
) -> Result<Message, SendError> {
    let rendered = rendered.map_err(|error| compose_error(&error))?;
    let parts = MultiPart::alternative_plain_html(rendered.text, rendered.html);
    let message = message.header(auto_submitted()).multipart(parts);
    let mut message = message.map_err(|error| compose_error(&error))?;
    message.headers_mut().insert_raw(from_header(sender, head.brand));
    message.headers_mut().insert_raw(subject(&rendered.subject));
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
/// The name is the one that the operator has set for the workspace, else that of the service's own address.
fn from_header(sender: &Sender, brand: &Brand) -> HeaderValue {
    let name = match (&brand.sender_name, &sender.mailbox.name) {
        (Some(name), _) => single_line(name.as_str()),
        (None, Some(name)) => truncated_name(&single_line(name)),
        (None, None) => display_name(brand.product_name.as_str(), &sender.service_name),
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
    use crate::content::MAX_SHOWN_BYTES;
    use crate::samples::{address, name, plain_brand, sample_notification, sample_sign_in, sample_webhook_disabled};
    use roadmap_domain::model::comment::PublicAuthor;
    use roadmap_domain::model::feature_request::Title;
    use roadmap_domain::model::id::CustomerId;
    use roadmap_domain::model::mail::{DigestId, DigestNotificationEntry, News, SenderName};
    use roadmap_domain::model::message::MessageId;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::timestamp::Timestamp;
    use uuid::Uuid;

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
            "Subject: Ines answered: Dark mode",
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
            to: address("ops@acme.example"),
            language: Language::English,
            brand: plain_brand("Acme"),
        };
        let raw = String::from_utf8(test_mail(&mail, &sender("hello@acme.example")).unwrap().formatted()).unwrap();
        let (head, body) = raw.split_once("\r\n\r\n").unwrap();
        let expected = [
            "Message-ID: <test.00000000-0000-0000-0000-000000000007@acme.roadmap.example.com>",
            "Date: ",
            "From: \"Acme via Roadmap\" <hello@acme.example>",
            "To: ops@acme.example",
            "Subject: Test of outgoing mail from Acme",
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "X-Auto-Response-Suppress: OOF, AutoReply",
            "Content-Type: multipart/alternative;",
        ];
        let headers: Vec<&str> = head.split("\r\n").filter(|line| !line.starts_with(' ')).collect();
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
    fn what_a_webhook_s_server_sends_becomes_no_header() {
        let hostile = || "x\r\nBcc: eve@evil.example\r\n\r\n<script>".to_owned();
        let mail = WebhookDisabledMail { host: hostile(), response: Some(hostile()), ..sample_webhook_disabled() };
        let raw =
            String::from_utf8(webhook_disabled(&mail, &sender("hello@acme.example")).unwrap().formatted()).unwrap();
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
            "Message-ID: <webhook_disabled.00000000-0000-0000-0000-0000000003eb.1770000000000.00000000-0000-0000-0000-0000000000dd@acme.example>",
            "Subject: A webhook was disabled: x Bcc: eve@evil.example <script>",
        ] {
            assert!(head.contains(line), "{line} is not in {head}");
        }
        assert!(body.replace("=\r\n", "").contains("&#60;script&#62;"), "{body}");
    }

    #[test]
    fn the_mail_of_a_sign_in_cannot_be_unsubscribed_from_and_its_subject_hides_the_code() {
        let url = "https://acme.roadmap.example.com:8443/sign-in/token".to_owned();
        let mail = SignInMail { url, ..sample_sign_in("Acme\r\nBcc: eve@evil.example", Language::English) };
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
        assert_eq!(decoded(encoded), "Sign in to Acme Bcc: eve@evil.example (code KM…)");
        assert_eq!(body.matches("KM4P-7QRT").count(), 2, "{body}");
    }

    #[test]
    fn the_name_and_the_reply_address_of_a_workspace_are_used_as_they_are() {
        let long = "Lumen Desk, a product of Lumen Software & Söhne GmbH, Berlin";
        let brand = Brand {
            sender_name: Some(SenderName::from_stored(long.to_owned())),
            reply_to: Some(address("Help@bücher.example")),
            ..plain_brand("Acme")
        };
        let sample = Notification { brand, ..sample_notification("Dark mode", "Soon", "ann@example.com") };
        let raw = formatted_mail(&sample, "Service <hello@acme.example>").replace("\r\n ", " ");
        let from = raw.lines().find_map(|line| line.strip_prefix("From: ")).unwrap();
        let (encoded, address) = from.rsplit_once(' ').unwrap();
        assert_eq!((decoded(encoded).as_str(), address), (long, "<hello@acme.example>"));
        assert!(raw.lines().any(|line| line == "Reply-To: Help@xn--bcher-kva.example"), "{raw}");
    }

    /// Decodes encoded words.
    fn decoded(words: &str) -> String {
        let text = |word: &str| {
            let word = word.strip_prefix("=?utf-8?B?").unwrap().strip_suffix("?=").unwrap();
            String::from_utf8(STANDARD.decode(word).unwrap()).unwrap()
        };
        words.split(' ').map(text).collect()
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
                brand: plain_brand(product),
                ..sample_notification("Dark mode", "Soon", "ann@example.com")
            };
            let raw = formatted_mail(&sample, "hello@acme.example");
            let (head, _) = raw.split_once("\r\n\r\n").unwrap();
            let from: Vec<&str> = head.split("\r\n").filter(|line| line.starts_with("From:")).collect();
            assert_eq!(from, [format!("From: \"{name}\" <hello@acme.example>")]);
        }
        let sample = Notification {
            brand: plain_brand("Müller und Söhne"),
            ..sample_notification("Dark mode", "Soon", "ann@example.com")
        };
        let raw = formatted_mail(&sample, "hello@acme.example");
        let (name, address) = raw.split_once("From: ").unwrap().1.split_once(" <").unwrap();
        assert!(name.starts_with("=?utf-8?B?") && address.starts_with("hello@acme.example>\r\n"), "{raw}");
    }

    #[test]
    fn a_digest_has_its_own_identity() {
        let digest_mail = sample_digest(Language::English, Vec::new(), 14);
        let raw = String::from_utf8(digest(&digest_mail, &sender("hello@acme.example")).unwrap().formatted()).unwrap();
        for header in [
            "Message-ID: <digest.1770001200000.00000000-0000-0000-0000-0000000000cc@acme.roadmap.example.com>\r\n",
            "Subject: 14 updates from Acme\r\n",
            "List-Unsubscribe: <https://acme.roadmap.example.com:8443/unsubscribe/token>\r\n",
            "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n",
            "From: \"Acme via Roadmap\" <hello@acme.example>\r\n",
        ] {
            assert!(raw.contains(header), "{header} in {raw}");
        }
    }

    fn sample_digest(language: Language, entries: Vec<DigestNotificationEntry>, more: u64) -> DigestNotification {
        let customer = CustomerId::new(Uuid::from_u128(0xcc));
        DigestNotification {
            id: DigestId { at: Timestamp::from_millis(1_770_001_200_000).unwrap(), customer },
            to: address("ann@example.com"),
            language,
            brand: plain_brand("Acme"),
            entries,
            more,
            unsubscribe_url: "https://acme.roadmap.example.com:8443/unsubscribe/token".to_owned(),
        }
    }

    /// Gmail cuts mails of more than 102,000 bytes.
    const MAX_MAIL_BYTES: usize = 60_000;

    #[test]
    fn no_mail_is_so_long_that_it_is_cut() {
        let title: String = "ض".repeat(Title::MAX);
        let nested = format!("{}x{}", "<ul><li>".repeat(600), "</li></ul>".repeat(600));
        for content in [
            "<p>Soon</p>".repeat(20_000),
            "<b>a</b>".repeat(20_000),
            "ض".repeat(100_000),
            "ض&".repeat(100_000),
            "\u{1f600}".repeat(50_000),
            format!("{nested}{}", "<p>x</p>".repeat(800)),
            format!("{nested}{}", "<p>x</p>".repeat(400)),
            "<a href=\"https://a.example/?a=b\">a</a>".repeat(350),
        ] {
            let brand =
                Brand { logo: Some("https://acme.example/logo.png".repeat(10)), ..plain_brand(&"ض".repeat(60)) };
            let author = Some(PublicAuthor::Customer(Some(name(&"ض".repeat(60)))));
            let sample = Notification {
                language: Language::Arabic,
                brand: brand.clone(),
                news: News::StatusChange { status: Some(name(&"ض".repeat(60))), author },
                ..sample_notification(&title, &content, "ann@example.com")
            };
            let bytes = formatted_mail(&sample, "hello@acme.example").len();
            assert!(bytes < MAX_MAIL_BYTES, "{bytes} for {}", &content[..content.floor_char_boundary(30)]);
            let entry = DigestNotificationEntry {
                news: News::Changelog { cover: None },
                title: Title::from_stored(title.clone()),
                url: format!("https://acme.example/feature_requests/{}", "a".repeat(300)),
                beginning: content,
            };
            let mail = sample_digest(Language::Arabic, vec![entry; 50], 7);
            let bytes = digest(&mail, &sender("hello@acme.example")).unwrap().formatted().len();
            assert!(bytes < MAX_MAIL_BYTES, "{bytes} for a digest");
        }
    }

    #[test]
    fn a_long_comment_is_cut_and_linked() {
        let sample = sample_notification("Dark mode", &"<p>Soon</p>".repeat(5_000), "ann@example.com");
        let raw = formatted_mail(&sample, "hello@acme.example").replace("=\r\n", "").replace("=3D", "=");
        let link = "https://acme.roadmap.example.com:8443/feature_requests/7-dark-mode";
        assert!(raw.contains(&format!(" =E2=80=A6\r\n\r\nRead the whole comment: {link}\r\n")), "{raw}");
        assert!(raw.contains(">Read the whole comment</a>"), "{raw}");
        assert!(raw.len() > 2 * MAX_SHOWN_BYTES, "{}", raw.len());
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
            "Stop mail about this feature request: https://acme.roadmap.example.com:8443/unsubscribe/token?request=id\r\n",
            "Stop all mail: https://acme.roadmap.example.com:8443/unsubscribe/token",
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
