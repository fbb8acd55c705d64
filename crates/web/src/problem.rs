//! Errors as pages.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use askama::Template;
use roadmap_domain::model::portal::Language;
use roadmap_http::error::{ErrorMessage, HttpError};

use crate::assets::Assets;
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
    /// What the workspace's origin is, if a form came from another one.
    expected_origin: Option<String>,
}

/// An error on a host that no workspace has, or before the workspace is known. It names no workspace.
#[derive(Template)]
#[template(path = "problem/bare.html")]
struct BarePage {
    t: Text,
    title: String,
    sentence: String,
    assets: &'static Assets,
}

/// Returns the keys of an error's title and sentence.
fn keys(status: StatusCode) -> (&'static str, &'static str) {
    match status {
        StatusCode::NOT_FOUND => ("not-found-title", "not-found-text"),
        StatusCode::FORBIDDEN => ("forbidden-title", "forbidden-text"),
        StatusCode::TOO_MANY_REQUESTS => ("too-many-title", "too-many-text"),
        StatusCode::PAYLOAD_TOO_LARGE => ("too-large-title", "too-large-text"),
        status if status.is_server_error() => ("unavailable-title", "unavailable-text"),
        _ => ("bad-request-title", "bad-request-text"),
    }
}

/// Returns the page of an error within the frame of the portal.
pub(crate) fn page(context: &Context, error: &HttpError) -> HttpResponse {
    let (title, sentence) = match error {
        HttpError::ForeignOrigin => ("origin-title", "origin-text"),
        error => keys(error.status_code()),
    };
    let text = context.text();
    let title = text.get(title).into_owned();
    let page = Page { notice: None, ..Page::new(context, Nav::Other, title.clone()).not_indexed() };
    let sentence = text.get(sentence).into_owned();
    let html = ProblemPage { page, title, sentence, expected_origin: None }.render().unwrap_or_default();
    reply::error_response(&context.request, take_message(error.error_response()), html)
}

/// Returns the page of an error without a workspace.
pub(crate) fn without_workspace(request: &HttpRequest, error: &HttpError) -> HttpResponse {
    let header = request.headers().get("accept-language").and_then(|header| header.to_str().ok());
    let language = header.and_then(|header| negotiate(header, &Language::ALL)).unwrap_or_default();
    let text = Text(language);
    let (title, sentence) = match error {
        HttpError::ForeignOrigin => ("origin-title", "origin-text"),
        error => keys(error.status_code()),
    };
    let (title, sentence) = (text.get(title).into_owned(), text.get(sentence).into_owned());
    let html = BarePage { t: text, title, sentence, assets: Assets::get() }.render().unwrap_or_default();
    reply::error_response(request, take_message(error.error_response()), html)
}

/// Removes the message, so that nobody else renders it.
fn take_message(mut response: HttpResponse) -> HttpResponse {
    response.extensions_mut().remove::<ErrorMessage>();
    response
}

/// Renders an error of a page that no handler has seen: the [`roadmap_http::error::ErrorRenderer`] of pages.
#[must_use]
pub fn render(status: StatusCode, _: &str) -> (HeaderValue, Bytes) {
    let text = Text(Language::English);
    let (title, sentence) = keys(status);
    let (title, sentence) = (text.get(title).into_owned(), text.get(sentence).into_owned());
    let html = BarePage { t: text, title, sentence, assets: Assets::get() }.render().unwrap_or_default();
    (HeaderValue::from_static("text/html; charset=utf-8"), html.into())
}
