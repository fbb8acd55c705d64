//! The mail of a sign-in: a link and a code, in the language of the page that asked for it. That of a new member of the
//! team has only a link, because a code works only in the browser that asked.

use askama::Template;
use roadmap_domain::model::mail::SignInMail;
use roadmap_domain::model::portal::Language;
use roadmap_domain::model::sign_in::SignIn;

/// Number of characters of the code in each group of its notation, and in the subject.
const CODE_GROUP: usize = 4;
const CODE_IN_SUBJECT: usize = 2;

#[derive(Template)]
#[template(path = "sign_in.txt")]
struct Text<'a> {
    mail: &'a SignInMail,
    words: &'a Words,
    code: &'a str,
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct Html<'a> {
    mail: &'a SignInMail,
    words: &'a Words,
    code: &'a str,
}

/// The mail of a sign-in without its headers.
pub(crate) struct SignInParts {
    /// The subject, with client text.
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) html: String,
}

impl SignInParts {
    /// Renders the parts of a mail.
    pub(crate) fn render(mail: &SignInMail) -> Result<Self, askama::Error> {
        let words = &Words::new(mail);
        let (first, last) = mail.code.split_at_checked(CODE_GROUP).unwrap_or((&mail.code, ""));
        let code = &format!("{first}-{last}");
        let text = Text { mail, words, code }.render()?;
        let html = Html { mail, words, code }.render()?;
        Ok(Self { subject: words.subject.clone(), text, html })
    }
}

/// The sentences of a mail in one language.
struct Words {
    subject: String,
    /// What the mail is for. Also the text of its link.
    title: String,
    /// What to do with the link.
    link: &'static str,
    /// What to do with the code, if there is one.
    code: Option<&'static str>,
    /// How long the link and the code are valid.
    validity: String,
    /// Where to ask for a new link, if the recipient has not asked before.
    again: Option<&'static str>,
    /// Who asked, and when. `None` if the recipient has not asked.
    origin: Option<String>,
    /// What to do with a mail that somebody else asked for.
    ignore: &'static str,
}

impl Words {
    fn new(mail: &SignInMail) -> Self {
        let facts = Facts::new(mail);
        match (mail.language, mail.is_invitation) {
            (Language::English, false) => Self::english(&facts),
            (Language::English, true) => Self::english_invitation(&facts),
            (Language::German, false) => Self::german(&facts),
            (Language::German, true) => Self::german_invitation(&facts),
            (Language::Arabic, false) => Self::arabic(&facts),
            (Language::Arabic, true) => Self::arabic_invitation(&facts),
        }
    }

    fn english(Facts { product, code, minutes, browser, at }: &Facts<'_>) -> Self {
        Self {
            subject: format!("Sign in to {product} (code {code}…)"),
            title: format!("Sign in to {product}"),
            link: "Open this link to sign in:",
            code: Some("Or type this code where you asked for this mail:"),
            validity: format!("They are valid for {minutes} minutes and for one sign-in."),
            again: None,
            origin: Some(match browser {
                Some(browser) => format!("Asked from {browser} on {at}."),
                None => format!("Asked on {at}."),
            }),
            ignore: "If you did not ask for it, ignore this mail: nothing happens.",
        }
    }

    fn english_invitation(Facts { product, minutes, .. }: &Facts<'_>) -> Self {
        let title = format!("You are in the team of {product}");
        Self {
            subject: title.clone(),
            title,
            link: "Open this link to sign in:",
            code: None,
            validity: format!("It is valid for {minutes} minutes and for one sign-in."),
            again: Some("Ask for a new one here:"),
            origin: None,
            ignore: "If this is a mistake, ignore this mail: nothing happens.",
        }
    }

    fn german(Facts { product, code, minutes, browser, at }: &Facts<'_>) -> Self {
        Self {
            subject: format!("Anmelden bei {product} (Code {code}…)"),
            title: format!("Anmelden bei {product}"),
            link: "Öffnen Sie diesen Link, um sich anzumelden:",
            code: Some("Oder geben Sie diesen Code dort ein, wo Sie diese E-Mail angefordert haben:"),
            validity: format!("Beide gelten {minutes} Minuten lang und für eine Anmeldung."),
            again: None,
            origin: Some(match browser {
                Some(browser) => format!("Angefordert mit {browser} am {at}."),
                None => format!("Angefordert am {at}."),
            }),
            ignore: "Wenn Sie sie nicht angefordert haben, ignorieren Sie diese E-Mail: Es geschieht nichts.",
        }
    }

    fn german_invitation(Facts { product, minutes, .. }: &Facts<'_>) -> Self {
        let title = format!("Sie sind im Team von {product}");
        Self {
            subject: title.clone(),
            title,
            link: "Öffnen Sie diesen Link, um sich anzumelden:",
            code: None,
            validity: format!("Er gilt {minutes} Minuten lang und für eine Anmeldung."),
            again: Some("Einen neuen fordern Sie hier an:"),
            origin: None,
            ignore: "Wenn das ein Irrtum ist, ignorieren Sie diese E-Mail: Es geschieht nichts.",
        }
    }

    /// The isolates (U+2068, U+2069) keep the order of text that is written from left to right.
    fn arabic(Facts { product, code, minutes, browser, at }: &Facts<'_>) -> Self {
        Self {
            subject: format!("تسجيل الدخول إلى {product} (الرمز {code}…)"),
            title: format!("تسجيل الدخول إلى \u{2068}{product}\u{2069}"),
            link: "افتح هذا الرابط لتسجيل الدخول:",
            code: Some("أو اكتب هذا الرمز حيث طلبت هذه الرسالة:"),
            validity: format!("كلاهما صالح لمدة {minutes} دقيقة ولتسجيل دخول واحد."),
            again: None,
            origin: Some(match browser {
                Some(browser) => format!("طُلبت من \u{2068}{browser}\u{2069} في \u{2068}{at}\u{2069}."),
                None => format!("طُلبت في \u{2068}{at}\u{2069}."),
            }),
            ignore: "إذا لم تطلب هذه الرسالة فتجاهلها: لن يحدث شيء.",
        }
    }

    fn arabic_invitation(Facts { product, minutes, .. }: &Facts<'_>) -> Self {
        Self {
            subject: format!("أنت ضمن فريق {product}"),
            title: format!("أنت ضمن فريق \u{2068}{product}\u{2069}"),
            link: "افتح هذا الرابط لتسجيل الدخول:",
            code: None,
            validity: format!("هو صالح لمدة {minutes} دقيقة ولتسجيل دخول واحد."),
            again: Some("اطلب رابطًا جديدًا هنا:"),
            origin: None,
            ignore: "إذا كان هذا خطأً فتجاهل هذه الرسالة: لن يحدث شيء.",
        }
    }
}

/// What the sentences are about.
struct Facts<'a> {
    product: &'a str,
    /// The beginning of the code.
    code: &'a str,
    minutes: i64,
    browser: Option<&'a str>,
    at: String,
}

impl<'a> Facts<'a> {
    fn new(mail: &'a SignInMail) -> Self {
        let at = mail.asked_at.to_string();
        let part = |range| at.get(range).unwrap_or_default();
        Self {
            product: mail.product_name.as_str(),
            code: mail.code.get(..CODE_IN_SUBJECT).unwrap_or_default(),
            minutes: SignIn::LIFETIME.whole_minutes(),
            browser: mail.browser.as_ref().map(|browser| browser.as_str()),
            at: format!("{} {} UTC", part(0..10), part(11..16)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::id::SignInId;
    use roadmap_domain::model::message::MessageId;
    use roadmap_domain::model::session::BrowserName;
    use roadmap_domain::model::text::Name;
    use roadmap_domain::model::timestamp::Timestamp;
    use uuid::Uuid;

    /// The mail in a language. The product's name has characters that HTML escapes.
    fn sample(language: Language) -> SignInMail {
        SignInMail {
            id: MessageId::sign_in(SignInId::new(Uuid::from_u128(7))),
            to: EmailAddress::parse("email", "ann@example.com").unwrap(),
            product_name: Name::from_stored("A & Co".to_owned()),
            language,
            url: "https://acme.example/sign-in/token".to_owned(),
            code: "KM4P7QRT".to_owned(),
            ask_url: "https://acme.example/sign-in".to_owned(),
            is_invitation: false,
            browser: Some(BrowserName::from_stored("Firefox · Linux".to_owned())),
            asked_at: Timestamp::from_millis(1_770_000_000_000).unwrap(),
        }
    }

    fn render(mail: &SignInMail) -> (String, String, String) {
        let SignInParts { subject, text, html } = SignInParts::render(mail).unwrap();
        (subject, text, html)
    }

    #[test]
    fn the_english_mail() {
        let (subject, text, html) = render(&sample(Language::English));
        assert_eq!(subject, "Sign in to A & Co (code KM…)");
        assert_eq!(
            text,
            "Sign in to A & Co

Open this link to sign in:
https://acme.example/sign-in/token

Or type this code where you asked for this mail:
KM4P-7QRT

They are valid for 15 minutes and for one sign-in.

--
Asked from Firefox · Linux on 2026-02-02 02:40 UTC.
If you did not ask for it, ignore this mail: nothing happens."
        );
        assert_eq!(
            html,
            "<!DOCTYPE html>
<html lang=\"en\" dir=\"ltr\">
<head>
<meta charset=\"utf-8\">
<title>Sign in to A &#38; Co</title>
</head>
<body>
<p>Open this link to sign in:</p>
<p><a href=\"https://acme.example/sign-in/token\"><b>Sign in to A &#38; Co</b></a></p>
<p>Or type this code where you asked for this mail:</p>
<p><b><bdi dir=\"ltr\">KM4P-7QRT</bdi></b></p>
<p>They are valid for 15 minutes and for one sign-in.</p>
<hr>
<p><small>Asked from Firefox · Linux on 2026-02-02 02:40 UTC.<br>
If you did not ask for it, ignore this mail: nothing happens.</small></p>
</body>
</html>"
        );
    }

    #[test]
    fn the_german_mail() {
        let (subject, text, html) = render(&sample(Language::German));
        assert_eq!(subject, "Anmelden bei A & Co (Code KM…)");
        assert_eq!(
            text,
            "Anmelden bei A & Co

Öffnen Sie diesen Link, um sich anzumelden:
https://acme.example/sign-in/token

Oder geben Sie diesen Code dort ein, wo Sie diese E-Mail angefordert haben:
KM4P-7QRT

Beide gelten 15 Minuten lang und für eine Anmeldung.

--
Angefordert mit Firefox · Linux am 2026-02-02 02:40 UTC.
Wenn Sie sie nicht angefordert haben, ignorieren Sie diese E-Mail: Es geschieht nichts."
        );
        assert!(html.contains("<html lang=\"de\" dir=\"ltr\">"), "{html}");
        assert!(html.contains("<b>Anmelden bei A &#38; Co</b></a>"), "{html}");
    }

    #[test]
    fn the_arabic_mail_is_written_from_right_to_left() {
        let (subject, text, html) = render(&sample(Language::Arabic));
        assert_eq!(subject, "تسجيل الدخول إلى A & Co (الرمز KM…)");
        assert_eq!(
            text,
            "تسجيل الدخول إلى \u{2068}A & Co\u{2069}

افتح هذا الرابط لتسجيل الدخول:
https://acme.example/sign-in/token

أو اكتب هذا الرمز حيث طلبت هذه الرسالة:
KM4P-7QRT

كلاهما صالح لمدة 15 دقيقة ولتسجيل دخول واحد.

--
طُلبت من \u{2068}Firefox · Linux\u{2069} في \u{2068}2026-02-02 02:40 UTC\u{2069}.
إذا لم تطلب هذه الرسالة فتجاهلها: لن يحدث شيء."
        );
        assert!(html.contains("<html lang=\"ar\" dir=\"rtl\">"), "{html}");
        assert!(html.contains("<b><bdi dir=\"ltr\">KM4P-7QRT</bdi></b>"), "{html}");
    }

    /// The mail to a new member of the team.
    fn invitation(language: Language) -> SignInMail {
        SignInMail { browser: None, is_invitation: true, ..sample(language) }
    }

    /// Portal: the mail to a new member of the team says so, has no code and names no browser, in every language.
    #[test]
    fn the_english_invitation() {
        let (subject, text, html) = render(&invitation(Language::English));
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
        assert_eq!(
            html,
            "<!DOCTYPE html>
<html lang=\"en\" dir=\"ltr\">
<head>
<meta charset=\"utf-8\">
<title>You are in the team of A &#38; Co</title>
</head>
<body>
<p>Open this link to sign in:</p>
<p><a href=\"https://acme.example/sign-in/token\"><b>You are in the team of A &#38; Co</b></a></p>
<p>It is valid for 15 minutes and for one sign-in.</p>
<p>Ask for a new one here:</p>
<p><a href=\"https://acme.example/sign-in\"><bdi dir=\"ltr\">https://acme.example/sign-in</bdi></a></p>
<hr>
<p><small>If this is a mistake, ignore this mail: nothing happens.</small></p>
</body>
</html>"
        );
    }

    /// Portal.
    #[test]
    fn the_german_invitation() {
        let (subject, text, html) = render(&invitation(Language::German));
        assert_eq!(subject, "Sie sind im Team von A & Co");
        assert_eq!(
            text,
            "Sie sind im Team von A & Co

Öffnen Sie diesen Link, um sich anzumelden:
https://acme.example/sign-in/token

Er gilt 15 Minuten lang und für eine Anmeldung.
Einen neuen fordern Sie hier an:
https://acme.example/sign-in

--
Wenn das ein Irrtum ist, ignorieren Sie diese E-Mail: Es geschieht nichts."
        );
        assert!(html.contains("<html lang=\"de\" dir=\"ltr\">"), "{html}");
    }

    /// Portal.
    #[test]
    fn the_arabic_invitation_is_written_from_right_to_left() {
        let (subject, text, html) = render(&invitation(Language::Arabic));
        assert_eq!(subject, "أنت ضمن فريق A & Co");
        assert_eq!(
            text,
            "أنت ضمن فريق \u{2068}A & Co\u{2069}

افتح هذا الرابط لتسجيل الدخول:
https://acme.example/sign-in/token

هو صالح لمدة 15 دقيقة ولتسجيل دخول واحد.
اطلب رابطًا جديدًا هنا:
https://acme.example/sign-in

--
إذا كان هذا خطأً فتجاهل هذه الرسالة: لن يحدث شيء."
        );
        assert!(html.contains("<html lang=\"ar\" dir=\"rtl\">"), "{html}");
    }

    /// Portal.
    #[test]
    fn an_invitation_has_no_code_and_names_no_browser() {
        for language in [Language::English, Language::German, Language::Arabic] {
            let browser = Some(BrowserName::from_stored("Firefox · Linux".to_owned()));
            let (subject, text, html) = render(&SignInMail { browser, ..invitation(language) });
            for hidden in ["KM4P", "KM", "Firefox", "2026-02-02"] {
                assert!(
                    ![&subject, &text, &html].iter().any(|part| part.contains(hidden)),
                    "{hidden}: {subject} {text}"
                );
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
            let (_, text, _) = render(&SignInMail { browser: None, ..sample(language) });
            assert!(text.contains(origin), "{text}");
        }
    }

    #[test]
    fn client_text_is_escaped() {
        let browser = Some(BrowserName::from_stored("<i>\"x\"</i>".to_owned()));
        let product_name = Name::from_stored("<b>".to_owned());
        let (_, text, html) = render(&SignInMail { browser, product_name, ..sample(Language::English) });
        assert!(text.contains("Sign in to <b>\n") && text.contains("from <i>\"x\"</i> on"), "{text}");
        assert!(html.contains("Sign in to &#60;b&#62;</b></a>"), "{html}");
        assert!(html.contains("from &#60;i&#62;&#34;x&#34;&#60;/i&#62; on"), "{html}");
    }
}
