//! Errors as pages.

use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT_LANGUAGE, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use askama::Template;
use roadmap_domain::model::portal::Language;
use roadmap_http::error::{ErrorFormat, ErrorMessage, HttpError};

use crate::assets::Assets;
use crate::brand::LetterLogo;
use crate::context::Context;
use crate::page::{Nav, Page};
use crate::reply;
use crate::text::{Text, negotiate};

/// An error within the frame of a portal.
#[derive(Template)]
#[template(path = "problem/page.html")]
struct ProblemPage {
    page: Page,
    title: String,
    sentence: String,
}

/// An error on a host that no workspace has, or before the workspace is known. It names no workspace.
#[derive(Template)]
#[template(path = "problem/bare.html")]
struct BarePage {
    t: Text,
    title: String,
    sentence: String,
    assets: &'static Assets,
    icon: String,
}

/// What a service without workspaces shows at its base host: the commands that create one.
#[derive(Template)]
#[template(path = "problem/no-workspace.html")]
struct NoWorkspacePage {
    t: Text,
    title: String,
    sentence: String,
    assets: &'static Assets,
    icon: String,
}

/// Returns the title and the sentence of an error.
fn texts(text: Text, error: &HttpError) -> (String, String) {
    match error {
        HttpError::ForeignOrigin => texts_of(text, "origin-title", "origin-text"),
        error if error.status_code() == StatusCode::TOO_MANY_REQUESTS => {
            (text.get("too-many-title").into_owned(), text.too_many(error.retry_after()))
        }
        error => texts_of_status(text, error.status_code()),
    }
}

fn texts_of_status(text: Text, status: StatusCode) -> (String, String) {
    match status {
        StatusCode::NOT_FOUND => texts_of(text, "not-found-title", "not-found-text"),
        StatusCode::FORBIDDEN => texts_of(text, "forbidden-title", "forbidden-text"),
        StatusCode::TOO_MANY_REQUESTS => texts_of(text, "too-many-title", "too-many-text"),
        StatusCode::URI_TOO_LONG => texts_of(text, "long-address-title", "long-address-text"),
        StatusCode::PAYLOAD_TOO_LARGE => texts_of(text, "too-large-title", "too-large-text"),
        status if status.is_server_error() => texts_of(text, "unavailable-title", "unavailable-text"),
        _ => texts_of(text, "bad-request-title", "bad-request-text"),
    }
}

fn texts_of(text: Text, title: &str, sentence: &str) -> (String, String) {
    (text.get(title).into_owned(), text.get(sentence).into_owned())
}

/// Returns the page of an error within the frame of the portal.
pub(crate) fn page(context: &Context, error: &HttpError) -> HttpResponse {
    // Who may see the portal, but not a page of the panel, is a member.
    let is_admin_page = context.request.path().starts_with("/admin");
    let (title, sentence) = match error {
        HttpError::Forbidden if is_admin_page => texts_of(context.text(), "admin-only-title", "admin-only-text"),
        error => texts(context.text(), error),
    };
    let page = Page { notice: None, ..Page::new(context, Nav::Other, title.clone()).not_indexed() };
    let html = ProblemPage { page, title, sentence }.render().unwrap_or_default();
    reply::error_response(&context.request, take_message(error.error_response()), html)
}

/// Returns the page of an error without a workspace.
pub(crate) fn without_workspace(request: &HttpRequest, error: &HttpError) -> HttpResponse {
    let t = text_of_browser(request);
    reply::error_response(request, take_message(error.error_response()), bare_page(t, texts(t, error)))
}

/// Returns the page of a service that has no workspace yet.
pub(crate) fn no_workspace(request: &HttpRequest) -> HttpResponse {
    let html = no_workspace_page(text_of_browser(request));
    reply::error_response(request, take_message(HttpError::NotFound.error_response()), html)
}

/// Returns the texts in the language of the browser.
fn text_of_browser(request: &HttpRequest) -> Text {
    let header = request.headers().get(ACCEPT_LANGUAGE).and_then(|header| header.to_str().ok());
    Text::utc(header.and_then(|header| negotiate(header, &Language::ALL)).unwrap_or_default())
}

fn bare_page(t: Text, (title, sentence): (String, String)) -> String {
    let (assets, icon) = (Assets::get(), LetterLogo::NEUTRAL.path());
    BarePage { t, title, sentence, assets, icon }.render().unwrap_or_default()
}

fn no_workspace_page(t: Text) -> String {
    let (title, sentence) = texts_of(t, "no-workspace-title", "no-workspace-text");
    let (assets, icon) = (Assets::get(), LetterLogo::NEUTRAL.path());
    NoWorkspacePage { t, title, sentence, assets, icon }.render().unwrap_or_default()
}

/// Removes the message, so that nobody else renders it.
fn take_message(mut response: HttpResponse) -> HttpResponse {
    response.extensions_mut().remove::<ErrorMessage>();
    response
}

/// The format of errors that no handler has rendered.
pub static FORMAT: ErrorFormat = ErrorFormat { renderer: render, headers: &FORMAT_HEADERS };

/// The headers of such pages. They have a stylesheet and nothing else.
static FORMAT_HEADERS: [(HeaderName, &str); 3] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "same-origin"),
];

/// Renders an error of a page that no handler has seen: the [`roadmap_http::error::ErrorRenderer`] of pages.
fn render(status: StatusCode, _: &str) -> (HeaderValue, Bytes) {
    let text = Text::utc(Language::English);
    let html = bare_page(text, texts_of_status(text, status));
    (HeaderValue::from_static("text/html; charset=utf-8"), html.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::assert_well_formed;

    #[test]
    fn pages_without_a_workspace_are_well_formed() {
        for language in Language::ALL {
            let t = Text::utc(language);
            let pages = [bare_page(t, texts_of_status(t, StatusCode::NOT_FOUND)), no_workspace_page(t)];
            for (page, has_commands) in pages.iter().zip([false, true]) {
                assert_well_formed(page);
                assert!(page.contains("<link rel=\"icon\" href=\"/brand/1-17694f-dot.svg\" "), "{page}");
                for command in ["roadmap workspace create acme --product-name \"Acme\" ", "roadmap member add "] {
                    assert_eq!(page.contains(command), has_commands, "{page}");
                }
            }
        }
    }
}
