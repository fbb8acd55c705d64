//! The mail to an admin about a webhook that the service has disabled.

use askama::Template;
use roadmap_domain::model::mail::WebhookDisabledMail;
use roadmap_domain::model::webhook::{AttemptError, DisabledBecause};

use crate::frame::{FONT, Frame, Rendered};
use crate::words::{Words, utc_minute};

#[derive(Template)]
#[template(path = "webhook_disabled.txt")]
struct Text<'a> {
    mail: &'a WebhookDisabledMail,
    words: &'a Sentences,
    response: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "webhook_disabled.html")]
struct Html<'a> {
    frame: Frame<'a>,
    mail: &'a WebhookDisabledMail,
    words: &'a Sentences,
    response: Option<&'a str>,
}

/// The sentences of a mail.
struct Sentences {
    /// Which webhook was disabled. Also the subject.
    title: String,
    /// Why it was disabled.
    why: String,
    /// What the last try got, if that is known.
    last: Option<String>,
    /// What is different now.
    effect: String,
    /// The text of the link.
    open: String,
    /// Why the recipient gets the mail.
    reason: String,
}

/// Renders a mail about a disabled webhook.
pub(crate) fn render(mail: &WebhookDisabledMail) -> Result<Rendered, askama::Error> {
    // What is quoted belongs to a status.
    let response = mail.response.as_deref().filter(|_| mail.status.is_some());
    let words = &Sentences::new(mail, response.is_some());
    let text = Text { mail, words, response }.render()?;
    let html = Html { frame: Frame::new(mail.language, &mail.brand, &words.title), mail, words, response }.render()?;
    Ok(Rendered { subject: words.title.clone(), text, html })
}

impl Sentences {
    fn new(mail: &WebhookDisabledMail, has_response: bool) -> Self {
        let words = Words(mail.language);
        Self {
            title: words.with("webhook-disabled", &[("host", &mail.host)]),
            why: why(words, mail),
            last: last(words, mail, has_response),
            effect: words.get("webhook-effect"),
            open: words.get("open-webhook"),
            reason: words.with("reason-admin", &[("product", mail.brand.product_name.as_str())]),
        }
    }
}

/// Returns why the webhook was disabled.
fn why(words: Words, mail: &WebhookDisabledMail) -> String {
    match (mail.because, mail.failing_since) {
        (DisabledBecause::Gone, _) => words.get("webhook-gone"),
        (DisabledBecause::Failing | DisabledBecause::Operator, Some(since)) => {
            words.with("webhook-failing", &[("since", &utc_minute(since))])
        }
        (DisabledBecause::Failing | DisabledBecause::Operator, None) => words.get("webhook-failing-long"),
    }
}

/// Returns what the last try got: a status, perhaps with the beginning of the response, or nothing.
fn last(words: Words, mail: &WebhookDisabledMail, has_response: bool) -> Option<String> {
    if let Some(status) = mail.status {
        let key = if has_response { "webhook-response" } else { "webhook-status" };
        return Some(words.with(key, &[("status", &status.to_string())]));
    }
    let key = match mail.error? {
        AttemptError::Timeout => "webhook-timeout",
        AttemptError::Tls => "webhook-tls",
        AttemptError::Blocked => "webhook-blocked",
        AttemptError::Unreachable | AttemptError::Status => "webhook-unreachable",
    };
    Some(words.get(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{plain_brand, sample_webhook_disabled};
    use roadmap_domain::model::portal::Language;

    /// The mail about a webhook whose server is gone.
    fn gone() -> WebhookDisabledMail {
        WebhookDisabledMail {
            because: DisabledBecause::Gone,
            failing_since: None,
            status: Some(410),
            response: None,
            ..sample_webhook_disabled()
        }
    }

    #[test]
    fn the_mail_has_the_reason_the_response_and_the_link() {
        let Rendered { subject, text, html } = render(&sample_webhook_disabled()).unwrap();
        assert_eq!(subject, "A webhook was disabled: hooks.example.com");
        assert_eq!(
            text.trim_end(),
            "A webhook was disabled: hooks.example.com

No event could be delivered since 2026-02-02 02:40 UTC.
The last response had the status 500 and began with:
> Internal Server Error

Events are not recorded for it until somebody enables it again.

Open the webhook: https://acme.example/admin/webhooks/00000000-0000-0000-0000-0000000003eb

--
You get this mail because you are an admin of Acme."
        );
        for part in [
            "<html lang=\"en\" dir=\"ltr\">",
            ">A webhook was disabled: hooks.example.com</h1>",
            ">Internal Server Error</p>",
            "href=\"https://acme.example/admin/webhooks/00000000-0000-0000-0000-0000000003eb\"",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn a_server_that_is_gone_is_a_reason_of_its_own() {
        let Rendered { text, html, .. } = render(&gone()).unwrap();
        let expected = "
The server answered 410 Gone: this address takes no events any more.
The last response had the status 410.

Events are not recorded";
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("\n>") && !html.contains("monospace;font-size:14px;line-height:22px"), "{text}");
    }

    #[test]
    fn a_try_without_a_response_says_what_happened() {
        for (error, sentence) in [
            (Some(AttemptError::Timeout), "\nThe last try got no response in time.\n"),
            (Some(AttemptError::Unreachable), "\nThe last try did not reach the server.\n"),
            (Some(AttemptError::Tls), "\nThe last try failed, because no secure connection could be made.\n"),
            (
                Some(AttemptError::Blocked),
                "\nThe last try was not made, because the host leads to a forbidden address.\n",
            ),
            (None, "2026-02-02 02:40 UTC.\n\nEvents are not"),
        ] {
            // Without a status there is nothing to quote.
            let mail = WebhookDisabledMail { status: None, error, ..sample_webhook_disabled() };
            let Rendered { text, .. } = render(&mail).unwrap();
            assert!(text.contains(sentence) && !text.contains('>'), "{text}");
        }
        let unknown = WebhookDisabledMail { failing_since: None, ..sample_webhook_disabled() };
        assert!(render(&unknown).unwrap().text.contains("\nNo event could be delivered for too long.\n"));
    }

    #[test]
    fn the_mail_is_in_the_language_of_the_portal() {
        for (language, subject, end) in [
            (Language::German, "Ein Webhook wurde deaktiviert: hooks.example.com", "weil Sie Admin von Acme sind."),
            (
                Language::Arabic,
                "عُطّل خطاف ويب: \u{2068}hooks.example.com\u{2069}",
                "لأنك أحد مشرفي \u{2068}Acme\u{2069}.",
            ),
        ] {
            let mail = WebhookDisabledMail { language, ..sample_webhook_disabled() };
            let Rendered { subject: found, text, html } = render(&mail).unwrap();
            assert_eq!(found, subject);
            assert!(text.trim_end().ends_with(end), "{text}");
            let frame = format!("<html lang=\"{}\" dir=\"{}\">", language.code(), language.direction());
            assert!(html.contains(&frame), "{html}");
        }
    }

    #[test]
    fn what_the_server_sends_is_escaped() {
        let mail = WebhookDisabledMail {
            response: Some("<script>\"x\"</script> & <a href=x>".to_owned()),
            host: "<b>".to_owned(),
            brand: plain_brand("<i>"),
            ..sample_webhook_disabled()
        };
        let Rendered { text, html, .. } = render(&mail).unwrap();
        assert!(text.contains("\n> <script>\"x\"</script> & <a href=x>\n"), "{text}");
        let escaped = ">&#60;script&#62;&#34;x&#34;&#60;/script&#62; &#38; &#60;a href=x&#62;</p>";
        for part in [escaped, "disabled: &#60;b&#62;</h1>", "an admin of &#60;i&#62;."] {
            assert!(html.contains(part), "{part} in {html}");
        }
        assert!(!html.contains("<script"), "{html}");
    }
}
