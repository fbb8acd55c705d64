//! Fuzzes all client text of a mail with hostile input and reads the mails with an independent parser.

// A panic is how a test fails.
#![expect(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use roadmap_domain::model::comment::PublicAuthor;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{ChangelogId, CommentId, CustomerId, EventId};
use roadmap_domain::model::mail::{Brand, MailId, News, Notification, SenderName, Topic, Unsubscription};
use roadmap_domain::model::portal::Language;
use roadmap_domain::model::text::Name;
use roadmap_domain::ports::Mailer;
use roadmap_mail::FileMailer;
use roadmap_testkit::effort::rounds;
use serde_json::Value;
use tokio::task::JoinSet;
use uuid::Uuid;

/// How many mails are written and read by each of [`READERS`].
fn mails() -> u128 {
    rounds(500, 2_500).into()
}

/// How many tasks write and read at the same time.
const READERS: u64 = 4;

/// Parses all mails of a folder and prints the result as JSON.
const READER: &str = r#"
import email, json, os, sys
from email import policy

def part(message, kind):
    parts = [p for p in message.walk() if p.get_content_type() == kind]
    return parts[0].get_content() if len(parts) == 1 else None

read = {}
for name in sorted(os.listdir(sys.argv[1])):
    with open(os.path.join(sys.argv[1], name), "rb") as file:
        raw = file.read()
    message = email.message_from_bytes(raw, policy=policy.default)
    read[name] = {
        "names": sorted(message.keys()),
        "to": [a.addr_spec for a in message["To"].addresses],
        "from": [a.addr_spec for a in message["From"].addresses],
        "subject": str(message["Subject"]),
        "unsubscribe": str(message["List-Unsubscribe"]),
        "text": part(message, "text/plain"),
        "html": part(message, "text/html"),
        "defects": [repr(d) for p in message.walk() for d in p.defects],
        "longest": max(len(line) for line in raw.split(b"\r\n")),
        "stray": raw.replace(b"\r\n", b"").count(b"\r") + raw.replace(b"\r\n", b"").count(b"\n"),
        "nul": raw.count(b"\0"),
    }
json.dump(read, sys.stdout)
"#;

const PIECES: [&str; 26] = [
    "\r\nBcc: eve@evil.example\r\n",
    "\nSubject: other\n",
    "\r",
    "\r\n\r\n<p>body</p>",
    "\r\n.\r\nMAIL FROM:<eve@evil.example>\r\n",
    "\0",
    "\u{7f}\u{85}\u{1b}[31m",
    "\u{2028}\u{2029}",
    "\u{202e}gnp.exe\u{202c}\u{2066}x\u{2069}",
    "=?utf-8?q?encoded=20word?=",
    "=?utf-8?b?ZXZpbA==?=",
    "=?",
    "?=",
    "😀👩‍👩‍👧",
    "ü ß é 日本語",
    "\"quoted\"",
    "<b>bold</b><script>alert(1)</script>",
    "<eve@evil.example>",
    "a@b.example, c@d.example;",
    "\\",
    "(comment)",
    "{{ title }}{% raw %}",
    "--boundary--",
    "plain words",
    " \t  ",
    ":",
];

/// A small pseudo-random generator (xorshift), so that failures are reproducible.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn text(&mut self) -> String {
        let mut text: String = (0..=self.roll(6)).map(|_| PIECES[self.roll(PIECES.len())]).collect();
        if self.roll(20) == 0 {
            text.push_str(&["x", "ü", "word ", "😀"][self.roll(4)].repeat(1_200));
        }
        text
    }
}

/// The expected header text, implemented independently: one line, single spaces, no characters that change the text
/// direction, at most `max` characters.
fn expected_header(text: &str, max: usize) -> String {
    let keeps_direction = |c: &char| !matches!(u32::from(*c), 0x200e | 0x200f | 0x202a..=0x202e | 0x2066..=0x2069);
    let blank = |c: char| if c.is_control() || c == '\u{2028}' || c == '\u{2029}' { ' ' } else { c };
    let line: String = text.chars().map(blank).filter(keeps_direction).take(max).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read(folder: &Path) -> BTreeMap<String, Value> {
    let read = Command::new("python3").args(["-c", READER]).arg(folder).output().expect("python3");
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    serde_json::from_slice(&read.stdout).unwrap()
}

/// Decision 6: untrusted text never becomes a header, or another recipient.
#[tokio::test(flavor = "multi_thread")]
async fn no_client_text_becomes_a_header() {
    let mut readers = JoinSet::new();
    for number in 0..READERS {
        readers.spawn(assert_no_injected_headers(Dice(0x5eed_1234_abcd + number)));
    }
    readers.join_all().await;
}

async fn assert_no_injected_headers(mut dice: Dice) {
    let folder = tempfile::tempdir().unwrap();
    let mailer = FileMailer::new(folder.path(), "hello@acme.example").unwrap();
    let mut mail_by_name = BTreeMap::new();
    for number in 1..=mails() {
        let (title, product, content, status) = (dice.text(), dice.text(), dice.text(), dice.text());
        let sender_name = (dice.roll(2) == 0).then(|| SenderName::from_stored(dice.text()));
        let uuid = Uuid::from_u128(number);
        let (topic, news) = match dice.roll(5) {
            4 => (Topic::Merge(EventId::new(uuid)), News::Merge { source: Title::from_stored(status) }),
            0 => (
                Topic::StatusChange(EventId::new(uuid)),
                News::StatusChange { status: Some(Name::from_stored(status)), author: None },
            ),
            1 => (Topic::StatusChange(EventId::new(uuid)), News::StatusChange { status: None, author: None }),
            2 => (Topic::Changelog(ChangelogId::new(uuid)), News::Changelog { cover: None }),
            _ => (
                Topic::Comment(CommentId::new(uuid)),
                News::Comment(PublicAuthor::Customer(Some(Name::from_stored(status)))),
            ),
        };
        let mail = Notification {
            id: MailId { topic, customer: CustomerId::new(Uuid::from_u128(7)) },
            to: EmailAddress::parse("email", "ann@example.com").unwrap(),
            language: Language::English,
            brand: Brand {
                sender_name,
                ..Brand::of_product(Name::from_stored(product), "https://acme.example".to_owned())
            },
            news,
            title: Title::from_stored(title.clone()),
            url: "https://acme.example/feature_requests/7".to_owned(),
            stops: Unsubscription::Changelogs,
            // Stored HTML has been cleaned, and has no NUL.
            content: Arc::new(
                CleanHtml::parse_optional("content", &content.replace('\0', ""), CleanHtml::MAX).unwrap(),
            ),
            unsubscribe_url: format!("https://acme.example/unsubscribe/{}?request=7", "t".repeat(200)),
            stop_all_url: format!("https://acme.example/unsubscribe/{}", "t".repeat(200)),
        };
        mailer.send(&mail).await.unwrap();
        mail_by_name.insert(format!("{}.eml", mail.id), mail);
    }

    let read = read(folder.path());
    assert_eq!(read.len(), mail_by_name.len());
    let mut problems = BTreeMap::<&str, Vec<String>>::new();
    for (name, mail) in &mail_by_name {
        let message = &read[name];
        let title = &mail.title;
        let subject = match &mail.news {
            News::Comment(author) => format!("{} commented: {title}", author.name()),
            News::StatusChange { status: Some(status), .. } => format!("{status}: {title}"),
            News::StatusChange { status: None, .. } => format!("No longer on the roadmap: {title}"),
            News::Merge { .. } => format!("Merged: {title}"),
            News::Changelog { .. } => format!("New: {title}"),
        };
        let subject = expected_header(&subject, 300);
        let mut check = |what: &'static str, holds: bool| {
            if !holds {
                let example = format!("{subject:?} of {:?}, {:?}: {message}", mail.brand, mail.title);
                problems.entry(what).or_default().push(example);
            }
        };
        let names = [
            "Auto-Submitted",
            "Content-Type",
            "Date",
            "From",
            "List-Unsubscribe",
            "List-Unsubscribe-Post",
            "MIME-Version",
            "Message-ID",
            "Subject",
            "To",
            "X-Auto-Response-Suppress",
        ];
        check("these headers and no others", message["names"] == serde_json::json!(names));
        check("one recipient", message["to"] == serde_json::json!(["ann@example.com"]));
        check("one sender", message["from"] == serde_json::json!(["hello@acme.example"]));
        // Word joiners prevent text that looks like an encoded word from being decoded.
        let parsed = message["subject"].as_str().unwrap_or_default().replace('\u{2060}', "");
        check("the subject", parsed == subject);
        check("the unsubscribe URL", message["unsubscribe"] == format!("<{}>", mail.unsubscribe_url));
        check("both parts", message["text"].is_string() && message["html"].is_string());
        check("no defects", message["defects"] == serde_json::json!([]));
        check("lines that fit", message["longest"].as_u64().is_some_and(|longest| longest <= 998));
        check("lines that end in CR LF only", message["stray"] == 0);
        check("no NUL", message["nul"] == 0);
    }
    let report: Vec<String> =
        problems.iter().map(|(what, all)| format!("{what}: {} times, for example {}", all.len(), all[0])).collect();
    assert!(report.is_empty(), "failed checks:\n{}", report.join("\n"));
}
