//! The mail about one comment, change of a status, or changelog.

use askama::Template;
use roadmap_domain::model::comment::PublicAuthor;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::mail::{Brand, News, Notification, Unsubscription};

use crate::content::ContentParts;
use crate::frame::{FONT, Frame, Rendered};
use crate::words::Words;

#[derive(Template)]
#[template(path = "notification.txt")]
struct Text<'a> {
    notification: &'a Notification,
    content: &'a ContentParts,
    lead: &'a str,
    author: Option<&'a str>,
    button: &'a str,
    reason: &'a str,
    stop: &'a str,
    stop_all: &'a str,
}

#[derive(Template)]
#[template(path = "notification.html")]
struct Html<'a> {
    frame: Frame<'a>,
    notification: &'a Notification,
    content: &'a ContentParts,
    /// The HTML of the content, with the URLs of pictures.
    text: &'a str,
    lead: &'a str,
    cover: Option<&'a str>,
    status: Option<&'a str>,
    author: Option<&'a str>,
    button: &'a str,
    reason: &'a str,
    stop: &'a str,
    stop_all: &'a str,
}

/// Renders a notification with its content.
pub(crate) fn render(notification: &Notification, content: &ContentParts) -> Result<Rendered, askama::Error> {
    let Notification { language, brand, news, title, stops, .. } = notification;
    let words = Words(*language);
    let lead = &match stops {
        Unsubscription::News => words.with("news-lead", &[("product", brand.product_name.as_str())]),
        _ => lead(words, brand, news),
    };
    let (mut cover, mut status, mut author) = (None, None, None);
    match news {
        News::Comment(_) | News::Merge { .. } => {}
        News::StatusChange { status: new, author: of_comment } => {
            status = new.as_ref().map(|status| status.as_str());
            author = of_comment.as_ref().map(|author| name_of(words, brand, author));
        }
        News::Changelog { cover: url } => cover = url.as_deref(),
    }
    let is_changelog = matches!(news, News::Changelog { .. });
    let button = &words.get(match (is_changelog, content.is_html_cut) {
        (false, false) => "open-request",
        (false, true) => "whole-comment",
        (true, false) => "open-changelog",
        (true, true) => "whole-changelog",
    });
    let (reason, stop) = match stops {
        Unsubscription::News => ("reason-news", "stop-news"),
        Unsubscription::Changelogs => ("reason-changelog", "stop-changelogs"),
        Unsubscription::Request(_) | Unsubscription::Everything => ("reason-request", "stop-request"),
    };
    let reason = &words.with(reason, &[("product", brand.product_name.as_str())]);
    let (stop, stop_all) = (&words.get(stop), &words.get("stop-all"));
    let author = author.as_deref();
    let text = Text { notification, content, lead, author, button, reason, stop, stop_all }.render()?;
    let frame = Frame::new(*language, brand, title.as_str());
    let portal = brand.portal_url.trim_end_matches('/');
    let html_content = &*CleanHtml::with_absolute_pictures(&content.html, portal);
    let html = Html {
        frame,
        notification,
        content,
        text: html_content,
        lead,
        cover,
        status,
        author,
        button,
        reason,
        stop,
        stop_all,
    };
    Ok(Rendered { subject: subject(words, brand, news, title.as_str()), text, html: html.render()? })
}

fn subject(words: Words, brand: &Brand, news: &News, title: &str) -> String {
    let about = ("title", title);
    match news {
        News::Comment(PublicAuthor::Member(name)) => {
            let name = name.as_ref().unwrap_or(&brand.product_name).as_str();
            words.with("comment-subject", &[("name", name), about])
        }
        News::Comment(PublicAuthor::Customer(Some(name))) => {
            words.with("comment-subject-customer", &[("name", name.as_str()), about])
        }
        News::Comment(PublicAuthor::Customer(None)) => words.with("comment-subject-unnamed", &[about]),
        News::StatusChange { status: Some(status), .. } => {
            words.with("status-subject", &[("status", status.as_str()), about])
        }
        News::StatusChange { status: None, .. } => words.with("status-subject-none", &[about]),
        News::Merge { .. } => words.with("merge-subject", &[about]),
        News::Changelog { .. } => words.with("changelog-subject", &[about]),
    }
}

/// Returns the first sentence: who did what.
fn lead(words: Words, brand: &Brand, news: &News) -> String {
    let product = ("product", brand.product_name.as_str());
    match news {
        News::Comment(PublicAuthor::Member(Some(name))) => {
            words.with("comment-lead", &[("name", name.as_str()), product])
        }
        News::Comment(PublicAuthor::Member(None)) => words.with("comment-lead-team", &[product]),
        News::Comment(PublicAuthor::Customer(Some(name))) => {
            words.with("comment-lead-customer", &[("name", name.as_str())])
        }
        News::Comment(PublicAuthor::Customer(None)) => words.get("comment-lead-unnamed"),
        News::StatusChange { status: Some(status), .. } => {
            words.with("status-lead", &[product, ("status", status.as_str())])
        }
        News::StatusChange { status: None, .. } => words.with("status-lead-none", &[product]),
        News::Merge { source } => words.with("merge-lead", &[product, ("source", source.as_str())]),
        News::Changelog { .. } => words.with("changelog-lead", &[product]),
    }
}

/// Returns the author of a text as it is shown above the text.
fn name_of(words: Words, brand: &Brand, author: &PublicAuthor) -> String {
    let product = brand.product_name.as_str();
    match author {
        PublicAuthor::Member(Some(name)) => words.with("author", &[("name", name.as_str()), ("product", product)]),
        PublicAuthor::Member(None) => product.to_owned(),
        PublicAuthor::Customer(Some(name)) => name.as_str().to_owned(),
        PublicAuthor::Customer(None) => words.get("author-unnamed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{name, sample_notification};
    use roadmap_domain::model::html::CleanHtml;
    use roadmap_domain::model::portal::Language;
    use std::sync::Arc;

    fn rendered(notification: &Notification) -> Rendered {
        render(notification, &ContentParts::render(&notification.content)).unwrap()
    }

    fn with_news(news: News, content: &str) -> Notification {
        Notification { news, ..sample_notification("Dark mode", content, "ann@example.com") }
    }

    /// Addition 5.
    #[test]
    fn the_subject_and_the_first_line_say_who_did_what() {
        let status = |status: Option<&str>| News::StatusChange { status: status.map(name), author: None };
        for (news, subject, lead) in [
            (
                News::Comment(PublicAuthor::Member(Some(name("Ines")))),
                "Ines answered: Dark mode",
                "Ines from Acme answered a feature request that you voted for or follow:",
            ),
            (
                News::Comment(PublicAuthor::Member(None)),
                "Acme answered: Dark mode",
                "Acme answered a feature request that you voted for or follow:",
            ),
            (
                News::Comment(PublicAuthor::Customer(Some(name("Maya")))),
                "Maya commented: Dark mode",
                "Maya commented on a feature request that you voted for or follow:",
            ),
            (
                News::Comment(PublicAuthor::Customer(None)),
                "A customer commented: Dark mode",
                "A customer commented on a feature request that you voted for or follow:",
            ),
            (
                status(Some("<Planned>")),
                "<Planned>: Dark mode",
                "Acme moved a feature request that you voted for or follow to “<Planned>”:",
            ),
            (
                status(None),
                "No longer on the roadmap: Dark mode",
                "Acme took a feature request that you voted for or follow off the roadmap:",
            ),
            (News::Changelog { cover: None }, "New: Dark mode", "Acme has news about what you voted for or follow:"),
        ] {
            let mail = rendered(&with_news(news, "<p>Soon</p>"));
            assert_eq!((mail.subject.as_str(), mail.text.lines().next()), (subject, Some(lead)));
            let escaped = lead.replace('<', "&#60;").replace('>', "&#62;");
            assert!(mail.html.contains(&format!(">{escaped}</p>")), "{}", mail.html);
        }
    }

    #[test]
    fn both_parts_have_the_title_the_text_the_link_and_the_reason() {
        let mail = rendered(&with_news(News::Comment(PublicAuthor::Member(None)), "<p>At <b>last</b></p>"));
        assert_eq!(
            mail.text,
            "Acme answered a feature request that you voted for or follow:

Dark mode

At last

Open the feature request: https://acme.roadmap.example.com:8443/feature_requests/7-dark-mode

--
You get this mail from Acme because you voted for this feature request or follow it.
Stop mail about this feature request: https://acme.roadmap.example.com:8443/unsubscribe/token?request=id
Stop all mail: https://acme.roadmap.example.com:8443/unsubscribe/token"
        );
        for part in [
            "<p>At <b>last</b></p>",
            ">Dark mode</a></h1>",
            ">Open the feature request</a>",
            "You get this mail from Acme because you voted for this feature request or follow it.",
            ">Stop mail about this feature request</a>",
            ">Stop all mail</a>",
        ] {
            assert!(mail.html.contains(part), "{part} in {}", mail.html);
        }
        assert!(!mail.html.contains("<img"), "{}", mail.html);
    }

    #[test]
    fn a_move_is_one_mail_with_the_comment_that_says_why() {
        let ines = PublicAuthor::Member(Some(name("Ines")));
        let news = News::StatusChange { status: Some(name("Planned")), author: Some(ines) };
        let mail = rendered(&with_news(news, "<p>Enough asked</p>"));
        assert!(mail.text.contains("\n\nInes from Acme\n\nEnough asked\n"), "{}", mail.text);
        for part in [">Planned</td>", ">Ines from Acme</p>", "<p>Enough asked</p>"] {
            assert!(mail.html.contains(part), "{part} in {}", mail.html);
        }
        let alone = rendered(&with_news(News::StatusChange { status: None, author: None }, ""));
        assert!(!alone.html.contains("class=\"text\""), "{}", alone.html);
    }

    #[test]
    fn only_the_logo_and_the_cover_are_loaded() {
        let news = News::Changelog { cover: Some("https://acme.example/blobs/x/\"a\".png".to_owned()) };
        let mut notification = with_news(news, "<p>New</p>");
        notification.brand.logo = Some("https://acme.example/covers/y/logo.png".to_owned());
        let html = rendered(&notification).html;
        let images: Vec<&str> = html.split("<img src=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert_eq!(images, ["https://acme.example/covers/y/logo.png", "https://acme.example/blobs/x/&#34;a&#34;.png"]);
        assert!(html.contains("alt=\"Acme\""), "{html}");
    }

    #[test]
    fn a_long_changelog_is_cut_and_linked() {
        let long = with_news(News::Changelog { cover: None }, &"<p>Soon</p>".repeat(5_000));
        let mail = rendered(&long);
        assert!(mail.text.contains(&format!(" …\n\nRead the whole changelog: {}\n\n--\n", long.url)), "{}", mail.text);
        assert!(mail.html.contains(">Read the whole changelog</a>"), "{}", mail.html);
        // Only the markup is cut, and the whole text is there.
        let markup = Arc::new(CleanHtml::from_stored("<b>a</b>".repeat(5_000)));
        let mail = rendered(&Notification { content: markup, ..long });
        assert!(mail.text.contains("\n\nRead the whole changelog: "), "{}", mail.text);
    }

    #[test]
    fn arabic_is_written_from_right_to_left() {
        let sample = sample_notification("Dark mode", "<p>Soon</p>", "ann@example.com");
        let mail = rendered(&Notification { language: Language::Arabic, ..sample });
        assert_eq!(mail.subject, "أجاب \u{2068}Ines\u{2069}: \u{2068}Dark mode\u{2069}");
        for part in ["<html lang=\"ar\" dir=\"rtl\">", "<h1 dir=\"auto\"", "<div class=\"text\" dir=\"auto\">"] {
            assert!(mail.html.contains(part), "{part} in {}", mail.html);
        }
    }
}
