//! The test mail of a workspace, which an operator queues.

use askama::Template;
use roadmap_domain::model::mail::TestMail;

use crate::frame::{FONT, Frame, Rendered};
use crate::words::Words;

#[derive(Template)]
#[template(path = "test_mail.txt")]
struct Text<'a> {
    title: &'a str,
    text: &'a str,
    reason: &'a str,
}

#[derive(Template)]
#[template(path = "test_mail.html")]
struct Html<'a> {
    frame: Frame<'a>,
    text: &'a str,
    reason: &'a str,
}

/// Renders a test mail.
pub(crate) fn render(mail: &TestMail) -> Result<Rendered, askama::Error> {
    let words = Words(mail.language);
    let title = &words.get("test-title");
    let text = &words.with("test-text", &[("url", &mail.brand.portal_url)]);
    let reason = &words.get("test-reason");
    let html = Html { frame: Frame::new(mail.language, &mail.brand, title), text, reason }.render()?;
    let text = Text { title, text, reason }.render()?;
    let subject = words.with("test-subject", &[("product", mail.brand.product_name.as_str())]);
    Ok(Rendered { subject, text, html })
}
