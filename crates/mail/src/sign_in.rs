//! The mail of a sign-in: a link and a code, in the language of the page that asked for it. That of a new member of the
//! team has only a link, because a code works only in the browser that asked.
//!
//! The subject has only the beginning of the code, which distinguishes several mails, and the text begins with the link. Otherwise somebody who asks for a mail to another person's address could read the code on that person's locked
//! phone.

use askama::Template;
use roadmap_domain::model::mail::SignInMail;
use roadmap_domain::model::sign_in::{PageAction, PendingAction, SignIn};

use crate::frame::{FONT, Frame, Rendered};
use crate::words::{Words, utc_minute};

/// Number of characters of the code in each group of its notation.
const CODE_GROUP: usize = 4;

/// Number of characters of the code in the subject.
const CODE_IN_SUBJECT: usize = 2;

#[derive(Template)]
#[template(path = "sign_in.txt")]
struct Text<'a> {
    mail: &'a SignInMail,
    words: &'a Sentences,
    code: &'a str,
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct Html<'a> {
    frame: Frame<'a>,
    mail: &'a SignInMail,
    words: &'a Sentences,
    code: &'a str,
}

/// Renders the mail of a sign-in.
pub(crate) fn render(mail: &SignInMail) -> Result<Rendered, askama::Error> {
    let (first, last) = mail.code.split_at_checked(CODE_GROUP).unwrap_or((&mail.code, ""));
    let code = &format!("{first}-{last}");
    let words = &if mail.is_invitation { Sentences::of_invitation(mail) } else { Sentences::of_sign_in(mail) };
    let text = Text { mail, words, code }.render()?;
    let frame = Frame::new(mail.language, &mail.brand, &words.title);
    let html = Html { frame, mail, words, code }.render()?;
    let subject = match mail.is_invitation {
        true => words.title.clone(),
        false => {
            let beginning = mail.code.get(..CODE_IN_SUBJECT).unwrap_or_default();
            Words(mail.language).with("sign-in-subject", &[("title", &words.title), ("beginning", beginning)])
        }
    };
    Ok(Rendered { subject, text, html })
}

/// The sentences of a mail.
struct Sentences {
    /// What the mail is for. Also the text of its link.
    title: String,
    /// What to do with the link.
    link: String,
    /// What to do with the code, if there is one.
    code: Option<String>,
    /// How long the code and the link are valid.
    validity: String,
    /// Where to ask for a new link, if the recipient has not asked before.
    again: Option<String>,
    /// Who asked, and when. `None` if the recipient has not asked.
    origin: Option<String>,
    /// What to do with a mail that somebody else asked for.
    ignore: String,
}

/// Returns the message about what is confirmed beside the address. Of texts that were typed, the mail has nothing:
/// anybody can have it sent to any address.
fn action_key(action: &PageAction) -> &'static str {
    match action {
        PageAction::Vote(_) => "confirm-vote",
        PageAction::RemoveVote(_) => "confirm-remove-vote",
        PageAction::Comment { .. } => "confirm-comment",
        PageAction::Submit { .. } => "confirm-submit",
        PageAction::Subscribe(_) => "confirm-subscribe",
        PageAction::Unsubscribe(_) => "confirm-unsubscribe",
        PageAction::GetNews => "confirm-news",
    }
}

/// Returns what the mail of a sign-in is for: to confirm an action, or to sign in.
fn title(mail: &SignInMail) -> String {
    let (words, product) = (Words(mail.language), mail.brand.product_name.as_str());
    match &mail.action {
        Some(PendingAction { action: action @ (PageAction::Submit { .. } | PageAction::GetNews), .. }) => {
            words.with(action_key(action), &[("product", product)])
        }
        Some(PendingAction { action, title: Some(title) }) => {
            words.with(action_key(action), &[("title", title.as_str())])
        }
        Some(PendingAction { title: None, .. }) | None => words.with("sign-in-title", &[("product", product)]),
    }
}

impl Sentences {
    fn of_sign_in(mail: &SignInMail) -> Self {
        let words = Words(mail.language);
        let at = utc_minute(mail.asked_at);
        Self {
            title: title(mail),
            link: words.get("sign-in-link"),
            code: Some(words.get("sign-in-code")),
            validity: words.with("sign-in-validity", &[("minutes", &minutes())]),
            again: None,
            origin: Some(match &mail.browser {
                Some(browser) => words.with("sign-in-origin", &[("browser", browser.as_str()), ("at", &at)]),
                None => words.with("sign-in-origin-unknown", &[("at", &at)]),
            }),
            ignore: words.get("sign-in-ignore"),
        }
    }

    fn of_invitation(mail: &SignInMail) -> Self {
        let words = Words(mail.language);
        Self {
            title: words.with("invitation-title", &[("product", mail.brand.product_name.as_str())]),
            link: words.get("invitation-link"),
            code: None,
            validity: words.with("invitation-validity", &[("minutes", &minutes())]),
            again: Some(words.get("invitation-again")),
            origin: None,
            ignore: words.get("invitation-ignore"),
        }
    }
}

/// Returns how long a sign-in is valid, in minutes.
fn minutes() -> String {
    SignIn::LIFETIME.whole_minutes().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{plain_brand, sample_sign_in};
    use roadmap_domain::model::feature_request::Title;
    use roadmap_domain::model::id::FeatureRequestId;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::session::BrowserName;
    use uuid::Uuid;

    /// The mail in a language. The product's name has characters that HTML escapes.
    fn sample(language: Language) -> SignInMail {
        sample_sign_in("A & Co", language)
    }

    fn rendered(mail: &SignInMail) -> (String, String, String) {
        let Rendered { subject, text, html } = render(mail).unwrap();
        (subject, text, html)
    }

    #[test]
    fn the_mail_has_the_code_and_the_link() {
        let (subject, text, html) = rendered(&sample(Language::English));
        assert_eq!(subject, "Sign in to A & Co (code KM…)");
        assert_eq!(
            text,
            "Sign in to A & Co

Open this link:
https://acme.example/sign-in/token

Or type this code where you asked for this mail:
KM4P-7QRT

They are valid for 15 minutes and for one sign-in.

--
Asked from Firefox · Linux on 2026-02-02 02:40 UTC.
If you did not ask for it, ignore this mail: nothing happens."
        );
        for part in [
            "<html lang=\"en\" dir=\"ltr\">",
            ">Sign in to A &#38; Co</h1>",
            ">KM4P-7QRT</p>",
            "href=\"https://acme.example/sign-in/token\"",
            "Asked from Firefox · Linux on 2026-02-02 02:40 UTC.<br>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn the_mail_is_in_the_language_of_the_page() {
        let (subject, text, html) = rendered(&sample(Language::German));
        assert_eq!(subject, "Anmelden bei A & Co (Code KM…)");
        assert!(text.starts_with("Anmelden bei A & Co\n\nÖffnen Sie diesen Link:"), "{text}");
        assert!(html.contains("<html lang=\"de\" dir=\"ltr\">"), "{html}");
        let (_, text, html) = rendered(&sample(Language::Arabic));
        assert!(text.starts_with("تسجيل الدخول إلى \u{2068}A & Co\u{2069}\n"), "{text}");
        assert!(text.contains("طُلبت من \u{2068}Firefox · Linux\u{2069} في \u{2068}2026-02-02 02:40 UTC\u{2069}."));
        assert!(html.contains("<html lang=\"ar\" dir=\"rtl\">"), "{html}");
        assert!(html.contains("<p dir=\"ltr\"") && html.contains(">KM4P-7QRT</p>"), "{html}");
    }

    #[test]
    fn the_mail_names_what_it_confirms_but_no_typed_text() {
        let request = FeatureRequestId::new(Uuid::from_u128(7));
        let typed = || "Buy <b>this</b>".to_owned();
        for (action, title) in [
            (PageAction::Vote(request), "Confirm your vote for “Dark mode”"),
            (PageAction::RemoveVote(request), "Confirm that you take back your vote for “Dark mode”"),
            (PageAction::Comment { request, content: typed() }, "Confirm your comment on “Dark mode”"),
            (PageAction::Submit { title: typed(), description: typed() }, "Confirm your idea for A & Co"),
            (PageAction::Subscribe(request), "Confirm that you follow “Dark mode”"),
            (PageAction::Unsubscribe(request), "Confirm that you no longer follow “Dark mode”"),
        ] {
            let about = action.request().map(|_| Title::from_stored("Dark mode".to_owned()));
            let mail = |title| SignInMail {
                action: Some(PendingAction { action: action.clone(), title }),
                ..sample(Language::English)
            };
            let (subject, text, html) = rendered(&mail(about.clone()));
            assert_eq!((subject, text.lines().next()), (format!("{title} (code KM…)"), Some(title)));
            assert!(!text.contains("Buy") && !html.contains("Buy"), "{text}");
            // A feature request that not everybody may see is not named.
            if about.is_some() {
                assert_eq!(rendered(&mail(None)).1.lines().next(), Some("Sign in to A & Co"));
            }
        }
    }

    /// Portal: the mail to a new member of the team says so, has no code and names no browser, in every language.
    #[test]
    fn an_invitation_has_no_code_and_names_no_browser() {
        let invitation = |language| SignInMail { is_invitation: true, ..sample(language) };
        let (subject, text, html) = rendered(&invitation(Language::English));
        assert_eq!(subject, "You are in the team of A & Co");
        assert_eq!(
            text,
            "You are in the team of A & Co

Open this link to sign in:
https://acme.example/sign-in/token

It is valid for 15 minutes and for one sign-in.
Ask for a new one here:
https://acme.example/sign-in

--
If this is a mistake, ignore this mail: nothing happens."
        );
        assert!(html.contains("<span dir=\"ltr\">https://acme.example/sign-in</span></a>"), "{html}");
        for language in Language::ALL {
            let (subject, text, html) = rendered(&invitation(language));
            for hidden in ["KM4P", "Firefox", "2026-02-02"] {
                assert!(![&subject, &text, &html].iter().any(|part| part.contains(hidden)), "{hidden}: {text}");
            }
        }
    }

    #[test]
    fn an_unknown_browser_is_left_out() {
        for (language, origin) in [
            (Language::English, "\nAsked on 2026-02-02 02:40 UTC.\n"),
            (Language::German, "\nAngefordert am 2026-02-02 02:40 UTC.\n"),
            (Language::Arabic, "\nطُلبت في \u{2068}2026-02-02 02:40 UTC\u{2069}.\n"),
        ] {
            let (_, text, _) = rendered(&SignInMail { browser: None, ..sample(language) });
            assert!(text.contains(origin), "{text}");
        }
    }

    #[test]
    fn client_text_is_escaped() {
        let browser = Some(BrowserName::from_stored("<i>\"x\"</i>".to_owned()));
        let (_, text, html) = rendered(&SignInMail { browser, brand: plain_brand("<b>"), ..sample(Language::English) });
        assert!(text.contains("Sign in to <b>\n") && text.contains("from <i>\"x\"</i> on"), "{text}");
        assert!(html.contains("Sign in to &#60;b&#62;</h1>"), "{html}");
        assert!(html.contains("from &#60;i&#62;&#34;x&#34;&#60;/i&#62; on"), "{html}");
    }
}
