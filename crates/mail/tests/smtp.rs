//! Tests of the SMTP mailer against a scripted server.

// A panic is how a test fails.
#![expect(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use roadmap_domain::model::comment::PublicAuthor;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, CustomerId, SignInId};
use roadmap_domain::model::mail::{Brand, MailId, News, Notification, SendError, SignInMail, Topic, Unsubscription};
use roadmap_domain::model::message::MessageId;
use roadmap_domain::model::portal::Language;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::Mailer;
use roadmap_mail::{HelloName, SmtpMailer, SmtpOptions};
use roadmap_testkit::smtp::{Reply, Setup, Sink, Step};
use uuid::Uuid;

const FROM: &str = "Acme <hello@acme.example>";

fn acme() -> Brand {
    Brand::of_product(Name::parse("name", "Acme").unwrap(), "https://acme.example".to_owned())
}

fn to(address: &str) -> Notification {
    Notification {
        id: MailId {
            topic: Topic::Comment(CommentId::new(Uuid::from_u128(1))),
            customer: CustomerId::new(Uuid::from_u128(2)),
        },
        to: EmailAddress::parse("email", address).unwrap(),
        language: Language::English,
        brand: acme(),
        news: News::Comment(PublicAuthor::Member(None)),
        title: Title::parse("title", "Dark mode").unwrap(),
        url: "https://acme.example/feature_requests/7".to_owned(),
        content: Arc::new(CleanHtml::parse("content", "<p>Soon</p>").unwrap()),
        stops: Unsubscription::Changelogs,
        unsubscribe_url: "https://acme.example/unsubscribe/token".to_owned(),
        stop_all_url: "https://acme.example/unsubscribe/token".to_owned(),
    }
}

fn ann() -> Notification {
    to("ann@example.com")
}

/// A mailer with the default timeout, which a busy machine does not reach.
fn mailer(url: &str) -> SmtpMailer {
    SmtpMailer::new(&SmtpOptions::parse(url, FROM).unwrap()).unwrap()
}

fn with_login(sink: &Sink, login: &str) -> String {
    sink.url().replace("://", &format!("://{login}@"))
}

/// Whether it is for later, and whether there is no such mailbox; and why.
fn kind_and_reason(outcome: Result<String, SendError>) -> (&'static str, String) {
    match outcome {
        Ok(_) => ("sent", String::new()),
        Err(SendError::NoConnection { reason }) => ("no connection", reason),
        Err(SendError::Transient { reason }) => ("transient", reason),
        Err(SendError::Permanent { reason, no_such_mailbox: false }) => ("permanent", reason),
        Err(SendError::Permanent { reason, no_such_mailbox: true }) => ("no mailbox", reason),
    }
}

/// Contract 6; Decision 6.
#[tokio::test]
async fn a_mail_arrives_as_it_was_composed() {
    let sink = Sink::start();
    mailer(&sink.url()).send(&ann()).await.unwrap();
    let [mail] = sink.received().try_into().unwrap();
    assert_eq!((mail.from.as_str(), mail.to.as_slice()), ("hello@acme.example", &["ann@example.com".to_owned()][..]));

    let data = String::from_utf8(mail.data).unwrap();
    assert!(!data.replace("\r\n", "").contains(['\r', '\n']), "lines end in CR LF only");
    let (head, body) = data.split_once("\r\n\r\n").unwrap();
    let head = head.replace("\r\n ", " ");
    let mut names: Vec<&str> = head.lines().map(|line| line.split_once(": ").unwrap().0).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
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
        ]
    );
    for line in [
        "Auto-Submitted: auto-generated",
        "List-Unsubscribe: <https://acme.example/unsubscribe/token>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
        "Message-ID: <00000000-0000-0000-0000-000000000001.00000000-0000-0000-0000-000000000002@acme.example>",
        "To: ann@example.com",
        "X-Auto-Response-Suppress: OOF, AutoReply",
    ] {
        assert!(head.lines().any(|header| header == line), "{line} is not in {head}");
    }
    // The name may be quoted.
    let from = head.lines().find_map(|line| line.strip_prefix("From: ")).unwrap().replace('"', "");
    assert_eq!(from, "Acme <hello@acme.example>");
    assert!(head.lines().any(|line| line.starts_with("Subject: ") && line.ends_with("Dark mode")), "{head}");
    assert!(body.contains("Content-Type: text/plain") && body.contains("Content-Type: text/html"), "{body}");
}

#[tokio::test]
async fn the_mail_of_a_sign_in_arrives() {
    let sink = Sink::start();
    let mail = SignInMail {
        id: MessageId::sign_in(SignInId::new(Uuid::from_u128(7))),
        to: EmailAddress::parse("email", "ann@example.com").unwrap(),
        brand: acme(),
        language: Language::English,
        url: "https://acme.example/sign-in/token".to_owned(),
        action: None,
        code: "KM4P7QRT".to_owned(),
        ask_url: "https://acme.example/sign-in".to_owned(),
        is_invitation: false,
        browser: None,
        asked_at: Timestamp::from_millis(1_770_000_000_000).unwrap(),
    };
    mailer(&sink.url()).send_sign_in(&mail).await.unwrap();
    let [received] = sink.received().try_into().unwrap();
    assert_eq!(received.to, ["ann@example.com"]);
    let data = String::from_utf8(received.data).unwrap();
    assert!(data.contains("Message-ID: <sign_in.00000000-0000-0000-0000-000000000007@acme.example>\r\n"), "{data}");
    assert!(data.contains("https://acme.example/sign-in/token\r\n") && data.contains("\r\nKM4P-7QRT\r\n"), "{data}");
    assert!(!data.contains("List-Unsubscribe"), "{data}");
}

/// Decision 6.
#[tokio::test]
async fn the_message_id_is_the_same_on_each_attempt() {
    let sink = Sink::start();
    let mailer = mailer(&sink.url());
    for _ in 0..2 {
        mailer.send(&ann()).await.unwrap();
    }
    let id = |data: &[u8]| {
        let data = String::from_utf8_lossy(data).into_owned();
        data.lines().find(|line| line.starts_with("Message-ID: ")).map(str::to_owned)
    };
    let ids: Vec<_> = sink.received().iter().map(|mail| id(&mail.data)).collect();
    assert!(ids[0].is_some() && ids[0] == ids[1], "{ids:?}");
}

/// Decision 6: failures are classified as permanent by step and code.
#[tokio::test]
async fn a_rejection_is_classified_by_step_and_code() {
    let sink = Sink::start();
    let mailer = mailer(&sink.url());
    // The step, the reply, the outcome.
    for (step, reply, outcome) in [
        ("connect", "554 5.7.1 Go away", "no connection"),
        ("connect", "421 4.7.0 Too many connections", "no connection"),
        ("hello", "550 5.7.1 Go away", "no connection"),
        ("hello", "504 5.5.2 Helo command rejected: need fully-qualified hostname", "no connection"),
        ("from", "450 4.7.1 Later", "no connection"),
        ("from", "421 4.4.2 Too many mails over this connection", "no connection"),
        ("from", "504 5.5.2 Helo command rejected: need fully-qualified hostname", "transient"),
        ("from", "550 5.7.1 Unknown sender", "transient"),
        ("from", "530 5.7.0 Authentication required", "transient"),
        ("to", "450 4.2.0 Greylisted", "transient"),
        ("to", "550 5.1.1 No such user", "no mailbox"),
        ("to", "550 5.1.2 No such domain", "no mailbox"),
        ("to", "501 5.1.3 No such form", "no mailbox"),
        ("to", "551 5.1.6 Moved", "no mailbox"),
        ("to", "556 5.1.10 Null MX", "no mailbox"),
        ("to", "504 5.5.2 <a1b2>: Helo command rejected: need fully-qualified hostname", "transient"),
        ("to", "550 5.7.1 Client host [192.0.2.7] blocked using zen.spamhaus.org", "transient"),
        ("to", "554 5.7.1 Relay access denied", "transient"),
        ("to", "553 5.7.1 Sender address rejected: not owned by user ann", "transient"),
        ("to", "503 5.5.1 Bad sequence of commands", "transient"),
        ("to", "554 5.7.1 Recipient address rejected: Access denied", "permanent"),
        ("to", "552 5.2.2 Mailbox full", "permanent"),
        ("to", "530 5.7.0 Authentication required", "transient"),
        ("to", "421 4.3.2 Closing", "transient"),
        ("data", "451 4.3.0 Later", "transient"),
        ("data", "554 5.6.0 Never", "permanent"),
        ("message", "452 4.3.1 Disk full", "transient"),
        ("message", "554 5.7.1 Spam", "permanent"),
        ("message", "550 5.7.26 Unauthenticated mail: SPF did not pass", "transient"),
        ("message", "550 5.1.1 No such user", "no mailbox"),
    ] {
        sink.script(move |now| {
            let name = match now {
                Step::Connect => "connect",
                Step::Hello(_) => "hello",
                Step::Login => "login",
                Step::From(_) => "from",
                Step::To(_) => "to",
                Step::Data => "data",
                Step::Message(_) => "message",
            };
            if name == step { Reply::Custom(reply) } else { Reply::Default }
        });
        // The early steps need a new connection.
        let fresh = if matches!(step, "connect" | "hello") || reply.starts_with("421") {
            self::mailer(&sink.url())
        } else {
            mailer.clone()
        };
        let (kind, reason) = kind_and_reason(fresh.send(&ann()).await);
        assert_eq!(kind, outcome, "{reply} at {step}: {reason}");
        let (code, words) = reply.split_at(3);
        assert!(reason.contains(code) && reason.contains(words.trim()), "{reply} at {step}: {reason}");
        assert!(reason.chars().count() <= 500 && !reason.contains(char::is_control), "{reason}");
    }
    assert_eq!(sink.count(), 0);
    sink.script(|_| Reply::Default);
    mailer.send(&ann()).await.unwrap();
    assert_eq!(sink.count(), 1);
}

/// Decision 6.
#[tokio::test]
async fn a_rejected_recipient_does_not_affect_other_mail() {
    let sink = Sink::start();
    sink.script(|step| match step {
        Step::To("gone@example.com") => Reply::Custom("550 5.1.1 No such user"),
        _ => Reply::Default,
    });
    let mailer = mailer(&sink.url());
    for _ in 0..3 {
        assert_eq!(kind_and_reason(mailer.send(&to("gone@example.com")).await).0, "no mailbox");
        mailer.send(&ann()).await.unwrap();
    }
    assert!(sink.received().iter().all(|mail| mail.to == ["ann@example.com"]));
    assert_eq!(sink.count(), 3);
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let sink = Sink::start();
    let mut options = SmtpOptions::parse(&sink.url(), FROM).unwrap();
    options.timeout = Duration::from_secs(2);
    let hasty = SmtpMailer::new(&options).unwrap();
    for is_recipient in [true, false] {
        sink.script(move |step| match step {
            Step::To(_) if is_recipient => Reply::Stall(Duration::from_secs(60)),
            Step::Message(_) if !is_recipient => Reply::Stall(Duration::from_secs(60)),
            _ => Reply::Default,
        });
        let begun = Instant::now();
        let (kind, reason) = kind_and_reason(hasty.send(&ann()).await);
        assert_eq!(kind, "transient", "{reason}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }
    // A connection with an unfinished dialog is not reused for the next mail.
    sink.script(|_| Reply::Default);
    hasty.send(&to("next@example.com")).await.unwrap();
    assert!(sink.received().iter().any(|mail| mail.to == ["next@example.com"]));
}

/// Decision 6.
#[tokio::test]
async fn a_lost_connection_is_transient() {
    let sink = Sink::start();
    let mailer = mailer(&sink.url());
    for (keep, count) in [(false, 0), (true, 1)] {
        sink.script(move |step| match step {
            Step::Message(_) => Reply::HangUp { keep },
            _ => Reply::Default,
        });
        assert_eq!(kind_and_reason(mailer.send(&ann()).await).0, "transient");
        assert_eq!(sink.count(), count);
    }
    sink.script(|_| Reply::Default);
    mailer.send(&ann()).await.unwrap();
}

#[tokio::test]
async fn a_restarted_server_is_reconnected() {
    let sink = Sink::start();
    let mailer = mailer(&sink.url());
    mailer.send(&ann()).await.unwrap();
    sink.stop();
    assert_eq!(kind_and_reason(mailer.send(&ann()).await).0, "no connection");
    sink.restart();
    // A connection from before the restart may fail once more. That does not concern the mail.
    let give_up = Instant::now() + Duration::from_secs(10);
    loop {
        match kind_and_reason(mailer.send(&ann()).await) {
            ("sent", _) => break,
            (kind, reason) => assert!(kind == "no connection" && Instant::now() < give_up, "{kind}: {reason}"),
        }
    }
    assert_eq!(sink.count(), 2);
}

/// Decision 6.
#[tokio::test]
async fn a_wrong_password_is_transient_with_the_servers_message() {
    let login = Some(("ann@acme".to_owned(), "s3:cret".to_owned()));
    for mechanisms in ["PLAIN", "LOGIN"] {
        let sink = Sink::with_setup(Setup { login: login.clone(), mechanisms, ..Setup::default() });
        mailer(&with_login(&sink, "ann%40acme:s3%3Acret")).send(&ann()).await.unwrap();
        let (kind, reason) = kind_and_reason(mailer(&with_login(&sink, "ann%40acme:wr0ng")).send(&ann()).await);
        assert!(
            kind == "no connection" && reason.contains("535") && reason.contains("Wrong user or password"),
            "{reason}"
        );
        assert!(!reason.contains("wr0ng"), "{reason}");
        let (kind, reason) = kind_and_reason(mailer(&sink.url()).send(&ann()).await);
        assert!(kind == "transient" && reason.contains("530"), "{reason}");
        assert_eq!(sink.count(), 1);
    }
}

/// Decision 6.
#[tokio::test]
async fn a_non_ascii_address_needs_smtputf8() {
    let utf8 = Sink::start();
    mailer(&utf8.url()).send(&to("jürgen@example.com")).await.unwrap();
    assert_eq!(utf8.received()[0].to, ["jürgen@example.com"]);
    let ascii = Sink::with_setup(Setup { is_ascii_only: true, ..Setup::default() });
    let (kind, reason) = kind_and_reason(mailer(&ascii.url()).send(&to("jürgen@example.com")).await);
    assert!(matches!(kind, "permanent" | "no mailbox"), "{kind}: {reason}");
    assert!(reason.contains("before the @") && reason.contains("SMTPUTF8"), "{reason}");
    mailer(&ascii.url()).send(&ann()).await.unwrap();
    // A domain has an ASCII form, which every server knows.
    for sink in [&ascii, &utf8] {
        mailer(&sink.url()).send(&to("Ann@exämple.de")).await.unwrap();
        assert_eq!(sink.received().last().unwrap().to, ["Ann@xn--exmple-cua.de"]);
    }
    assert_eq!(ascii.count(), 2);
}

#[tokio::test]
async fn a_transcript_has_everything_but_the_password() {
    let login = Some(("ann".to_owned(), "s3cretpass".to_owned()));
    let sink = Sink::with_setup(Setup { login, ..Setup::default() });
    let address = EmailAddress::parse("email", "ann@example.com").unwrap();
    let transcript = mailer(&with_login(&sink, "ann:s3cretpass")).send_test_mail(&address).await;
    assert_eq!(transcript.outcome, Ok(()), "{transcript:#?}");
    let all = transcript.lines.join("\n");
    for part in ["EHLO", "AUTH", "235", "MAIL FROM:<hello@acme.example>", "RCPT TO:<ann@example.com>", "DATA", "354"] {
        assert!(all.contains(part), "{part} is not in {all}");
    }
    // The second is the Base64 of `\0ann\0s3cretpass`, the third that of `s3cretpass`, as AUTH sends them.
    for secret in ["s3cretpass", "AGFubgBzM2NyZXRwYXNz", "czNjcmV0cGFzcw"] {
        assert!(!all.contains(secret), "{all}");
    }
    assert_eq!(sink.count(), 1);

    let wrong = mailer(&with_login(&sink, "ann:wr0ngpass")).send_test_mail(&address).await;
    assert!(
        wrong.outcome.as_ref().is_err_and(|why| why.reason.contains("535") && why.reason.contains("Wrong user")),
        "{wrong:?}"
    );
    assert!(!format!("{wrong:?}").contains("wr0ngpass"), "{wrong:?}");

    sink.script(|step| match step {
        Step::To(_) => Reply::Custom("550 5.1.1 No such user"),
        _ => Reply::Default,
    });
    let refused = mailer(&with_login(&sink, "ann:s3cretpass")).send_test_mail(&address).await;
    assert!(refused.outcome.is_err_and(|why| why.reason.contains("5.1.1 No such user")));
    sink.stop();
    let away = mailer(&sink.url()).send_test_mail(&address).await;
    assert!(away.outcome.is_err_and(|why| why.reason.to_lowercase().contains("refused")));
}

/// A sink with a self-signed certificate, and the file with that certificate.
fn encrypted(folder: &tempfile::TempDir, is_implicit: bool) -> (Sink, String) {
    let issued = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, issued.cert.pem()).unwrap();
    let certificate = Some((issued.cert.der().to_vec(), issued.signing_key.serialize_der()));
    (Sink::with_setup(Setup { certificate, is_implicit, ..Setup::default() }), file.display().to_string())
}

/// Decision 6.
#[tokio::test]
async fn required_encryption_is_enforced() {
    let folder = tempfile::tempdir().unwrap();
    for is_implicit in [false, true] {
        let (sink, file) = encrypted(&folder, is_implicit);
        let tls = if is_implicit { "" } else { "tls=required&" };
        mailer(&format!("{}?{tls}ca={file}", sink.url())).send(&ann()).await.unwrap();
        assert_eq!(sink.count(), 1);
        // Without the file, the certificate is not trusted.
        let untrusted = format!("{}?{tls}", sink.url());
        let (kind, reason) = kind_and_reason(mailer(untrusted.trim_end_matches(['?', '&'])).send(&ann()).await);
        assert_eq!((kind, sink.count()), ("no connection", 1), "{reason}");
    }
    let plain = Sink::start();
    let (kind, reason) = kind_and_reason(mailer(&format!("{}?tls=required", plain.url())).send(&ann()).await);
    assert_eq!((kind, plain.count()), ("no connection", 0), "{reason}");
    mailer(&format!("{}?tls=opportunistic", plain.url())).send(&ann()).await.unwrap();
    assert_eq!(plain.count(), 1);
}

/// A self-signed certificate as `openssl req -x509` makes it: one of an issuer, without a name of the server.
fn issuer_certificate() -> (Vec<u8>, Vec<u8>, String) {
    let mut parameters = rcgen::CertificateParams::new(vec!["mail.elsewhere.example".to_owned()]).unwrap();
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = parameters.self_signed(&key).unwrap();
    (certificate.der().to_vec(), key.serialize_der(), certificate.pem())
}

#[tokio::test]
async fn the_servers_own_certificate_is_trusted_whatever_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, pem: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, pem).unwrap();
        file.display().to_string()
    };
    for is_implicit in [false, true] {
        let (der, key, pem) = issuer_certificate();
        let (_, _, another) = issuer_certificate();
        let setup = Setup { certificate: Some((der, key)), is_implicit, ..Setup::default() };
        let sink = Sink::with_setup(setup);
        let tls = if is_implicit { "" } else { "tls=required&" };
        for pem in [pem.clone(), format!("{another}{pem}")] {
            mailer(&format!("{}?{tls}ca={}", sink.url(), file("own.pem", &pem))).send(&ann()).await.unwrap();
        }
        assert_eq!(sink.count(), 2);
        // Another certificate, even with the same name, is not.
        let (kind, reason) = kind_and_reason(
            mailer(&format!("{}?{tls}ca={}", sink.url(), file("other.pem", &another))).send(&ann()).await,
        );
        assert_eq!((kind, sink.count()), ("no connection", 2), "{reason}");
    }
    // Without verification, the name does not matter either.
    let (der, key, _) = issuer_certificate();
    let sink = Sink::with_setup(Setup { certificate: Some((der, key)), ..Setup::default() });
    mailer(&sink.url()).send(&ann()).await.unwrap();
    assert_eq!(sink.count(), 1);
    let empty = SmtpOptions::parse(&format!("smtp://mail.example.com?ca={}", file("empty.pem", "")), FROM).unwrap();
    let error = SmtpMailer::new(&empty).err().unwrap();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("no certificate"), "{error}");
}

#[tokio::test]
async fn wrong_settings_are_named_with_their_fix() {
    let folder = tempfile::tempdir().unwrap();
    let check = async |url: String| {
        let mut options = SmtpOptions::parse(&url, FROM).unwrap();
        options.timeout = Duration::from_secs(2);
        SmtpMailer::new(&options).unwrap().check_connection().await.outcome.unwrap_err()
    };
    let plain = Sink::start();
    let (starttls, _) = encrypted(&folder, false);
    let (implicit, _) = encrypted(&folder, true);
    let port_of = |scheme: &str, sink: &Sink| format!("{scheme}://127.0.0.1:{}", sink.port());
    let with_login = port_of("smtp", &plain).replace("://", "://ann:secret@");
    for (url, reason, fix) in [
        (port_of("smtp", &implicit), "did not respond within 2s", "a server that waits for TLS wants smtps://"),
        (port_of("smtps", &plain), "does not speak TLS on port", "smtp:// instead of smtps:// uses STARTTLS"),
        (port_of("smtps", &starttls), "does not speak TLS on port", "smtp:// instead of smtps:// uses STARTTLS"),
        (format!("{}?tls=required", starttls.url()), "invalid peer certificate: UnknownIssuer", "?ca=FILE"),
        (implicit.url(), "invalid peer certificate: UnknownIssuer", "?ca=FILE"),
        (format!("{}?tls=required", plain.url()), "STARTTLS is not supported", "does not offer STARTTLS"),
        (with_login, "No compatible authentication mechanism", "leave user and password out of smtp_url"),
        ("smtp://127.0.0.1:1".to_owned(), "Connection refused", "that a mail server runs at 127.0.0.1:1"),
        ("smtps://127.0.0.1:1".to_owned(), "Connection refused", "that a mail server runs at 127.0.0.1:1"),
        ("smtp://[::1]:1".to_owned(), "at connecting", "[::1]:1"),
    ] {
        let problem = check(url.clone()).await;
        assert!(problem.reason.contains(reason), "{url}: {problem:?}");
        assert!(problem.fix.contains(fix), "{url}: {problem:?}");
        assert!(problem.is_fatal && !format!("{problem:?}").contains("secret"), "{url}: {problem:?}");
    }
    assert_eq!(plain.count() + starttls.count() + implicit.count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mails_wait_for_the_connections_that_a_server_allows() {
    const MAILS: usize = 300;
    let sink = Sink::start();
    let open = AtomicUsize::new(0);
    sink.script(move |step| match step {
        // No connection is closed in this test.
        Step::Connect if open.fetch_add(1, Ordering::SeqCst) >= 3 => Reply::Custom("421 4.7.0 Too many connections"),
        Step::Message(_) => Reply::Stall(Duration::from_millis(10)),
        _ => Reply::Default,
    });
    let mailer = mailer(&sink.url());
    // As many as a worker may send at a time, and more.
    let senders = (0..24).map(|_| {
        let mailer = mailer.clone();
        tokio::spawn(async move {
            for _ in 0..MAILS / 24 {
                // None fails: a refused connection is no try of a mail.
                mailer.send(&ann()).await.unwrap();
            }
        })
    });
    let begun = Instant::now();
    for sender in senders.collect::<Vec<_>>() {
        sender.await.unwrap();
    }
    eprintln!("{MAILS} mails over {} connections in {:?}", sink.connections(), begun.elapsed());
    assert_eq!(sink.count(), MAILS / 24 * 24);
    assert!(sink.connections() < 40, "{}", sink.connections());
}

#[tokio::test]
async fn a_server_that_refuses_all_connections_costs_no_try() {
    let sink = Sink::start();
    sink.script(|step| match step {
        Step::Connect => Reply::Custom("421 4.3.2 Closed on Sundays"),
        _ => Reply::Default,
    });
    let mailer = mailer(&sink.url());
    for _ in 0..3 {
        let (kind, reason) = kind_and_reason(mailer.send(&ann()).await);
        assert!(kind == "no connection" && reason.contains("421"), "{kind}: {reason}");
    }
    sink.script(|_| Reply::Default);
    mailer.send(&ann()).await.unwrap();
}

#[tokio::test]
async fn the_name_of_the_options_is_in_ehlo() {
    for (name, expected) in [("roadmap.example.com", "roadmap.example.com"), ("192.0.2.7", "[192.0.2.7]")] {
        let sink = Sink::start();
        sink.script(move |step| match step {
            Step::Hello(name) if *name != expected => Reply::Custom("504 5.5.2 Another name was expected"),
            _ => Reply::Default,
        });
        let hello = HelloName::parse(name).unwrap();
        let options = SmtpOptions { hello, ..SmtpOptions::parse(&sink.url(), FROM).unwrap() };
        SmtpMailer::new(&options).unwrap().send(&ann()).await.unwrap();
        assert_eq!(sink.count(), 1);
    }
}

/// Decision 6.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_senders_reuse_their_connections() {
    const MAILS: usize = 2_000;
    // Fewer than a worker may have, so that the pool is not the bound: a sender never needs a second connection.
    const SENDERS: usize = 8;
    let sink = Sink::start();
    let mailer = mailer(&sink.url());
    let senders: Vec<_> = (0..SENDERS)
        .map(|_| {
            let mailer = mailer.clone();
            tokio::spawn(async move {
                for _ in 0..MAILS / SENDERS {
                    mailer.send(&ann()).await.unwrap();
                }
            })
        })
        .collect();
    let begun = Instant::now();
    for sender in senders {
        sender.await.unwrap();
    }
    eprintln!("{MAILS} mails in {:?}", begun.elapsed());
    assert!(sink.wait_for(MAILS, Duration::from_secs(1)));
    assert_eq!(sink.count(), MAILS);
    assert!(sink.connections() <= u64::try_from(SENDERS).unwrap(), "{}", sink.connections());
}
