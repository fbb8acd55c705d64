//! Examples of all mails in all languages, in `docs/mail-samples`. `cargo xtask mail-samples` writes them, and a test fails
//! if they are out of date.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use roadmap_domain::model::comment::PublicAuthor;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{
    ChangelogId, CommentId, CustomerId, EventId, FeatureRequestId, MemberId, SignInId, WebhookId,
};
use roadmap_domain::model::mail::{
    Brand, DigestId, DigestNotification, DigestNotificationEntry, MailId, News, Notification, SignInMail, TestMail,
    Topic, Unsubscription, WebhookDisabledMail,
};
use roadmap_domain::model::message::MessageId;
use roadmap_domain::model::portal::{Color, Language};
use roadmap_domain::model::session::BrowserName;
use roadmap_domain::model::sign_in::{PageAction, PendingAction};
use roadmap_domain::model::team_mail::{TeamDigestEntry, TeamDigestId, TeamDigestNotification};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{AttemptError, DisabledBecause};
use uuid::Uuid;

use crate::content::ContentParts;
use crate::frame::Rendered;
use crate::{digest, notification, sign_in, team_digest, test_mail, webhook_disabled};

/// Writes the samples instead of comparing them.
const WRITE: &str = "WRITE_MAIL_SAMPLES";

const PORTAL: &str = "https://lumen.example.com";
const LOGO: &str = "https://lumen.example.com/covers/00000000-0000-0000-0000-000000000001/logo.png";
const COVER: &str = "https://lumen.example.com/blobs/signed/snooze.png";

pub(crate) fn name(text: &str) -> Name {
    Name::from_stored(text.to_owned())
}

pub(crate) fn address(text: &str) -> EmailAddress {
    EmailAddress::parse("email", text).unwrap()
}

/// A workspace without settings of its own.
pub(crate) fn plain_brand(product: &str) -> Brand {
    Brand::of_product(name(product), "https://acme.roadmap.example.com:8443".to_owned())
}

/// A notification about a comment of the team.
pub(crate) fn sample_notification(title: &str, content: &str, to: &str) -> Notification {
    Notification {
        id: MailId {
            topic: Topic::Comment(CommentId::new(Uuid::from_u128(0xc0))),
            customer: CustomerId::new(Uuid::from_u128(0xcc)),
        },
        to: address(to),
        language: Language::English,
        brand: plain_brand("Acme"),
        news: News::Comment(PublicAuthor::Member(Some(name("Ines")))),
        title: Title::from_stored(title.to_owned()),
        url: "https://acme.roadmap.example.com:8443/feature_requests/7-dark-mode".to_owned(),
        content: Arc::new(CleanHtml::from_stored(content.to_owned())),
        stops: Unsubscription::Request(FeatureRequestId::new(Uuid::from_u128(7))),
        unsubscribe_url: "https://acme.roadmap.example.com:8443/unsubscribe/token?request=id".to_owned(),
        stop_all_url: "https://acme.roadmap.example.com:8443/unsubscribe/token".to_owned(),
    }
}

/// The mail of a sign-in.
pub(crate) fn sample_sign_in(product: &str, language: Language) -> SignInMail {
    SignInMail {
        id: MessageId::sign_in(SignInId::new(Uuid::from_u128(7))),
        to: address("ann@example.com"),
        brand: plain_brand(product),
        language,
        url: "https://acme.example/sign-in/token".to_owned(),
        action: None,
        code: "KM4P7QRT".to_owned(),
        ask_url: "https://acme.example/sign-in".to_owned(),
        is_invitation: false,
        browser: Some(BrowserName::from_stored("Firefox · Linux".to_owned())),
        asked_at: Timestamp::from_millis(1_770_000_000_000).unwrap(),
    }
}

/// The words of people in the samples.
struct Texts {
    title: &'static str,
    second_title: &'static str,
    status: &'static str,
    answer: &'static str,
    why: &'static str,
    changelog_title: &'static str,
    changelog: &'static str,
}

/// A mail to a member about nothing yet.
pub(crate) fn sample_team_digest() -> TeamDigestNotification {
    let at = |millis| Timestamp::from_millis(millis).unwrap();
    let member = MemberId::new(Uuid::from_u128(0xdd));
    TeamDigestNotification {
        id: TeamDigestId { member, after: at(1_769_900_000_000), until: at(1_770_000_000_000) },
        to: address("ines@acme.example"),
        language: Language::English,
        brand: plain_brand("Acme"),
        requests: Vec::new(),
        requests_count: 0,
        replies: Vec::new(),
        replies_count: 0,
        inbox_url: "https://acme.example/admin".to_owned(),
        account_url: "https://acme.example/account#mail".to_owned(),
        unsubscribe_url: "https://acme.example/unsubscribe/token?kind=team".to_owned(),
    }
}

/// The mail about a webhook that fails.
pub(crate) fn sample_webhook_disabled() -> WebhookDisabledMail {
    let (webhook, at) = (WebhookId::new(Uuid::from_u128(0x3eb)), Timestamp::from_millis(1_770_000_000_000).unwrap());
    WebhookDisabledMail {
        id: MessageId::webhook_disabled(webhook, at, MemberId::new(Uuid::from_u128(0xdd))),
        to: address("ines@acme.example"),
        language: Language::English,
        brand: plain_brand("Acme"),
        host: "hooks.example.com".to_owned(),
        because: DisabledBecause::Failing,
        failing_since: Some(at),
        status: Some(500),
        error: Some(AttemptError::Status),
        response: Some("Internal Server Error".to_owned()),
        url: format!("https://acme.example/admin/webhooks/{webhook}"),
    }
}

fn texts(language: Language) -> Texts {
    match language {
        Language::English => Texts {
            title: "Data residency: keep everything in the European Union",
            second_title: "Snooze a conversation until a date or until somebody writes",
            status: "In progress",
            answer: "<p>Good news: the first region opens in <b>Frankfurt</b> this spring.</p>\
                     <ul><li>New workspaces choose it when they sign up.</li><li>We move existing ones on request.</li></ul>\
                     <p>Details are in <a href=\"https://lumen.example.com/help\">our help pages</a>.</p>",
            why: "<p>We begin with conversations, and contacts follow.</p>",
            changelog_title: "Snooze, at last",
            changelog: "<p>Put a conversation aside, and it comes back when you need it:</p>\
                        <h2>How it works</h2><p>Press <code>z</code> and choose a time.</p>\
                        <blockquote><p>I have waited for this since my first day.</p></blockquote>",
        },
        Language::German => Texts {
            title: "Datenstandort: alles in der Europäischen Union behalten",
            second_title: "Eine Unterhaltung zurückstellen, bis zu einem Datum oder bis jemand schreibt",
            status: "In Arbeit",
            answer: "<p>Gute Nachricht: Die erste Region öffnet im Frühjahr in <b>Frankfurt</b>.</p>\
                     <ul><li>Neue Arbeitsbereiche wählen sie beim Anlegen.</li><li>Bestehende ziehen auf Wunsch um.</li></ul>\
                     <p>Mehr dazu in <a href=\"https://lumen.example.com/help\">unserer Hilfe</a>.</p>",
            why: "<p>Wir beginnen mit den Unterhaltungen, die Kontakte folgen.</p>",
            changelog_title: "Endlich: Zurückstellen",
            changelog: "<p>Legen Sie eine Unterhaltung zur Seite; sie kommt wieder, wenn Sie sie brauchen:</p>\
                        <h2>So geht es</h2><p>Drücken Sie <code>z</code> und wählen Sie eine Zeit.</p>\
                        <blockquote><p>Darauf habe ich seit dem ersten Tag gewartet.</p></blockquote>",
        },
        Language::Arabic => Texts {
            title: "موقع البيانات: إبقاء كل شيء داخل الاتحاد الأوروبي",
            second_title: "تأجيل محادثة إلى تاريخ معيّن أو حتى يكتب أحدهم",
            status: "قيد التنفيذ",
            answer: "<p>خبر سارّ: تُفتتح أول منطقة في <b>فرانكفورت</b> هذا الربيع.</p>\
                     <ul><li>تختارها مساحات العمل الجديدة عند إنشائها.</li><li>وننقل القائمة عند الطلب.</li></ul>\
                     <p>التفاصيل في <a href=\"https://lumen.example.com/help\">صفحات المساعدة</a>.</p>",
            why: "<p>نبدأ بالمحادثات، ثم تتبعها جهات الاتصال.</p>",
            changelog_title: "التأجيل، أخيرًا",
            changelog: "<p>ضع محادثة جانبًا فتعود إليك حين تحتاج إليها:</p>\
                        <h2>كيف يعمل</h2><p>اضغط <code>z</code> واختر وقتًا.</p>\
                        <blockquote><p>أنتظر هذا منذ يومي الأول.</p></blockquote>",
        },
    }
}

/// Renders the mails of each kind in a language, each with its name. Half of them are of a workspace with a logo and a
/// colour.
fn samples(language: Language) -> Vec<(&'static str, Rendered)> {
    let texts = texts(language);
    let plain = Brand { portal_url: format!("{PORTAL}/"), ..plain_brand("Lumen Desk") };
    let branded = Brand { accent: Some(Color::new(0xff, 0xd4, 0x00)), logo: Some(LOGO.to_owned()), ..plain.clone() };
    let title = |text: &str| Title::from_stored(text.to_owned());
    let uuid = Uuid::from_u128(0xc0);
    let request = Notification {
        language,
        brand: plain.clone(),
        url: format!("{PORTAL}/feature_requests/12-data-residency"),
        unsubscribe_url: format!("{PORTAL}/unsubscribe/signed?request={uuid}"),
        stop_all_url: format!("{PORTAL}/unsubscribe/signed"),
        ..sample_notification(texts.title, texts.answer, "ann@example.com")
    };
    let of_topic = |topic: Topic, news: News, content: &str| Notification {
        id: MailId { topic, ..request.id },
        news,
        content: Arc::new(CleanHtml::from_stored(content.to_owned())),
        ..request.clone()
    };
    let ines = || PublicAuthor::Member(Some(name("Ines")));
    let event = Topic::StatusChange(EventId::new(uuid));
    let status = || Some(name(texts.status));
    // A picture is wider than a mail.
    let picture = "<p><img src=\"/pictures/00000000-0000-0000-0000-000000000002\" alt=\"Snooze\" width=\"1600\" height=\"900\"></p>";
    let changelog = Notification {
        brand: branded.clone(),
        title: title(texts.changelog_title),
        url: format!("{PORTAL}/changelogs/{uuid}"),
        stops: Unsubscription::Changelogs,
        unsubscribe_url: format!("{PORTAL}/unsubscribe/signed?kind=changelogs"),
        ..of_topic(
            Topic::Changelog(ChangelogId::new(uuid)),
            News::Changelog { cover: Some(COVER.to_owned()) },
            &format!("{}{picture}", texts.changelog),
        )
    };
    let news = Notification {
        stops: Unsubscription::News,
        unsubscribe_url: format!("{PORTAL}/unsubscribe/signed?kind=news"),
        ..changelog.clone()
    };
    let notifications = [
        ("news", news),
        ("comment", request.clone()),
        ("comment-of-customer", of_topic(request.id.topic, News::Comment(PublicAuthor::Customer(None)), texts.answer)),
        ("status", of_topic(event, News::StatusChange { status: status(), author: None }, "")),
        ("merge", of_topic(Topic::Merge(EventId::new(uuid)), News::Merge { source: title(texts.second_title) }, "")),
        ("status-none", of_topic(event, News::StatusChange { status: None, author: None }, "")),
        (
            "status-with-comment",
            Notification {
                brand: branded.clone(),
                ..of_topic(event, News::StatusChange { status: status(), author: Some(ines()) }, texts.why)
            },
        ),
        ("changelog", changelog),
    ];
    let rendered = |notification: &Notification| {
        notification::render(notification, &ContentParts::render(&notification.content)).unwrap()
    };
    let mut samples: Vec<_> = notifications.iter().map(|(kind, sample)| (*kind, rendered(sample))).collect();
    let entry = |news: News, about: &str, path: &str, beginning: &str| DigestNotificationEntry {
        news,
        title: title(about),
        url: format!("{PORTAL}/{path}"),
        beginning: beginning.to_owned(),
    };
    let digest = DigestNotification {
        id: DigestId { at: Timestamp::from_millis(1_770_001_200_000).unwrap(), customer: request.id.customer },
        to: request.to.clone(),
        language,
        brand: plain.clone(),
        entries: vec![
            entry(News::Comment(ines()), texts.title, "feature_requests/12-data-residency", texts.answer),
            entry(
                News::StatusChange { status: status(), author: None },
                texts.second_title,
                "feature_requests/88-snooze",
                "",
            ),
            entry(
                News::Changelog { cover: None },
                texts.changelog_title,
                &format!("changelogs/{uuid}"),
                texts.changelog,
            ),
        ],
        more: 9,
        unsubscribe_url: format!("{PORTAL}/unsubscribe/signed"),
    };
    samples.push(("digest", digest::render(&digest).unwrap()));
    let post = |about: &str, number: u32, author: Option<PublicAuthor>, beginning: &str| TeamDigestEntry {
        title: title(about),
        url: format!("{PORTAL}/admin/feature_requests/{number}"),
        author,
        is_awaiting: number == 143,
        beginning: beginning.to_owned(),
    };
    let maya = || Some(PublicAuthor::Customer(Some(name("Maya"))));
    let team = TeamDigestNotification {
        language,
        brand: branded.clone(),
        requests: vec![post(texts.title, 142, maya(), texts.why), post(texts.second_title, 143, None, "")],
        requests_count: 5,
        replies: vec![post(texts.second_title, 88, Some(PublicAuthor::Customer(None)), texts.why)],
        replies_count: 1,
        inbox_url: format!("{PORTAL}/admin"),
        account_url: format!("{PORTAL}/account#mail"),
        unsubscribe_url: format!("{PORTAL}/unsubscribe/signed?kind=team"),
        ..sample_team_digest()
    };
    let one = TeamDigestNotification {
        brand: plain.clone(),
        requests: vec![post(texts.title, 142, maya(), texts.answer)],
        requests_count: 1,
        replies: Vec::new(),
        replies_count: 0,
        ..team.clone()
    };
    samples.push(("team", team_digest::render(&team).unwrap()));
    samples.push(("team-one", team_digest::render(&one).unwrap()));
    let failing = WebhookDisabledMail {
        language,
        brand: plain.clone(),
        url: format!("{PORTAL}/admin/webhooks/{}", Uuid::from_u128(0x3eb)),
        ..sample_webhook_disabled()
    };
    let gone = WebhookDisabledMail {
        brand: branded.clone(),
        because: DisabledBecause::Gone,
        failing_since: None,
        status: Some(410),
        response: None,
        ..failing.clone()
    };
    samples.push(("webhook-failing", webhook_disabled::render(&failing).unwrap()));
    samples.push(("webhook-gone", webhook_disabled::render(&gone).unwrap()));
    let sign_in_mail = SignInMail {
        brand: branded,
        url: format!("{PORTAL}/sign-in/signed"),
        ask_url: format!("{PORTAL}/sign-in"),
        ..sample_sign_in("Lumen Desk", language)
    };
    let action = PageAction::Vote(FeatureRequestId::new(uuid));
    let vote = SignInMail {
        brand: plain.clone(),
        action: Some(PendingAction { action, title: Some(title(texts.title)) }),
        ..sign_in_mail.clone()
    };
    let invitation = SignInMail { is_invitation: true, browser: None, ..sign_in_mail.clone() };
    for (kind, mail) in [("sign-in", sign_in_mail), ("sign-in-to-vote", vote), ("invitation", invitation)] {
        samples.push((kind, sign_in::render(&mail).unwrap()));
    }
    let id = MessageId::test_mail(uuid);
    let test = TestMail { id, to: request.to, language, brand: plain };
    samples.push(("test", test_mail::render(&test).unwrap()));
    samples
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/mail-samples")
}

/// All samples with their paths: the HTML, and the text below the subject.
fn files() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for language in Language::ALL {
        for (kind, Rendered { subject, text, html }) in samples(language) {
            let path = |extension: &str| folder().join(language.code()).join(format!("{kind}.{extension}"));
            let subject = crate::message::single_line(&subject);
            files.push((path("txt"), format!("Subject: {subject}\n\n{}\n", text.trim_end())));
            files.push((path("html"), format!("{}\n", html.trim_end())));
        }
    }
    files
}

#[test]
fn the_samples_are_current() {
    let files = files();
    if std::env::var_os(WRITE).is_some() {
        let _ = std::fs::remove_dir_all(folder());
        for (path, content) in &files {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
    }
    for (path, content) in &files {
        let is_current = std::fs::read_to_string(path).is_ok_and(|stored| stored == *content);
        assert!(is_current, "{} is out of date: run `cargo xtask mail-samples`", path.display());
    }
    let stored = Language::ALL.map(|language| std::fs::read_dir(folder().join(language.code())).unwrap().count());
    assert_eq!(stored.iter().sum::<usize>(), files.len(), "a sample is left over: run `cargo xtask mail-samples`");
}
