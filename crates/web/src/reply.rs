//! Responses of pages: headers, caching and compression.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, EntityTag,
    HeaderName, HeaderValue, LOCATION, REFERRER_POLICY, SET_COOKIE, VARY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::http::{Method, StatusCode};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use askama::Template;
use flate2::Compression;
use moka::sync::Cache;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::portal::Language;
use roadmap_http::content::is_not_modified;
use roadmap_http::error::HttpError;

use crate::digest;
use crate::gzip::{accepts_gzip, compress};
use crate::theme::Theme;

/// The policy of pages: everything comes from the workspace's own origin, nothing is inline.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// Headers of all pages.
const HEADERS: [(&str, &str); 5] = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), microphone=(), geolocation=(), browsing-topics=()"),
];

const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");

/// How long a rendered page of visitors is kept.
const PAGE_LIFETIME: Duration = Duration::from_secs(1);
/// Maximum size of all kept pages in bytes.
const CACHE_BYTES: u64 = 16 * 1024 * 1024;

/// What a page of visitors depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    pub(crate) workspace: WorkspaceId,
    pub(crate) path_and_query: String,
    pub(crate) language: Language,
    pub(crate) theme: Theme,
}

/// A rendered page of visitors.
pub(crate) struct CachedPage {
    html: Bytes,
    compressed: Bytes,
    tag: EntityTag,
    headers: Headers,
}

/// Keeps rendered pages of visitors for a second, so that many visitors cost as much as one.
#[derive(Clone)]
pub struct PageCache(Cache<CacheKey, Arc<CachedPage>>);

impl Default for PageCache {
    fn default() -> Self {
        Self::new()
    }
}

impl PageCache {
    /// Creates an empty cache.
    #[must_use]
    pub fn new() -> Self {
        let size = |_: &CacheKey, page: &Arc<CachedPage>| {
            u32::try_from(page.html.len() + page.compressed.len() + 1_024).unwrap_or(u32::MAX)
        };
        Self(Cache::builder().max_capacity(CACHE_BYTES).weigher(size).time_to_live(PAGE_LIFETIME).build())
    }

    pub(crate) fn get(&self, key: &CacheKey) -> Option<Arc<CachedPage>> {
        self.0.get(key)
    }
}

/// The headers that differ between pages.
#[derive(Debug, Clone)]
struct Headers {
    policy: String,
    is_indexed: bool,
    is_framed: bool,
}

/// The response of a page's handler.
pub(crate) struct Reply {
    content: Content,
    cookies: Vec<String>,
    is_private: bool,
}

enum Content {
    Page { status: StatusCode, html: String, headers: Headers },
    Redirect { status: StatusCode, location: String },
    Other(HttpResponse),
}

impl Reply {
    fn new(content: Content) -> Self {
        Self { content, cookies: Vec::new(), is_private: false }
    }

    /// Renders a page.
    pub(crate) fn page(template: &impl Template) -> Self {
        Self::page_with(StatusCode::OK, template)
    }

    /// Renders a page with a status.
    pub(crate) fn page_with(status: StatusCode, template: &impl Template) -> Self {
        // Rendering to memory cannot fail.
        let html = template.render().unwrap_or_default();
        let headers = Headers { policy: PAGE_POLICY.to_owned(), is_indexed: true, is_framed: false };
        Self::new(Content::Page { status, html, headers })
    }

    /// Renders a page that the pages of these origins may show in a frame. It has no script and no form.
    pub(crate) fn embedded(template: &impl Template, origins: &[&str]) -> Self {
        let html = template.render().unwrap_or_default();
        let origins = if origins.is_empty() { "'none'".to_owned() } else { origins.join(" ") };
        let policy = format!(
            "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'none'; form-action 'none'; \
             base-uri 'none'; frame-ancestors {origins}"
        );
        let headers = Headers { policy, is_indexed: false, is_framed: true };
        Self::new(Content::Page { status: StatusCode::OK, html, headers })
    }

    /// Redirects after a change (303), so that a reload does not repeat it.
    pub(crate) fn see_other(location: impl Into<String>) -> Self {
        Self::new(Content::Redirect { status: StatusCode::SEE_OTHER, location: location.into() })
    }

    /// Redirects to a page that may change (302).
    pub(crate) fn found(location: impl Into<String>) -> Self {
        Self::new(Content::Redirect { status: StatusCode::FOUND, location: location.into() })
    }

    /// Redirects to the canonical address (301).
    pub(crate) fn moved(location: impl Into<String>) -> Self {
        Self::new(Content::Redirect { status: StatusCode::MOVED_PERMANENTLY, location: location.into() })
    }

    /// Returns a response that is no page: a feed or an image.
    pub(crate) fn other(response: HttpResponse) -> Self {
        Self::new(Content::Other(response))
    }

    /// Returns a file for one person to download.
    pub(crate) fn file(media_type: &'static str, filename: &str, content: String) -> Self {
        let response = HttpResponse::Ok()
            .insert_header((CONTENT_TYPE, media_type))
            .insert_header((CONTENT_DISPOSITION, format!("attachment; filename=\"{filename}\"")))
            .insert_header((CACHE_CONTROL, "private, no-store"))
            .insert_header(NOSNIFF)
            .body(content);
        Self::other(response)
    }

    /// Returns where a redirect leads.
    pub(crate) fn location(&self) -> Option<&str> {
        match &self.content {
            Content::Redirect { location, .. } => Some(location),
            Content::Page { .. } | Content::Other(_) => None,
        }
    }

    /// Adds a parameter to the path of a redirect.
    pub(crate) fn with_parameter(mut self, parameter: &str) -> Self {
        if let Content::Redirect { location, .. } = &mut self.content {
            let (path, fragment) =
                location.split_once('#').map_or((location.as_str(), None), |(path, of)| (path, Some(of)));
            let separator = if path.contains('?') { '&' } else { '?' };
            let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
            *location = format!("{path}{separator}{parameter}{fragment}");
        }
        self
    }

    /// Adds a `Set-Cookie` header.
    pub(crate) fn with_cookie(mut self, cookie: String) -> Self {
        self.cookies.push(cookie);
        self
    }

    /// Asks search engines not to list the page.
    pub(crate) fn not_indexed(mut self) -> Self {
        if let Content::Page { headers, .. } = &mut self.content {
            headers.is_indexed = false;
        }
        self
    }

    /// Forbids every cache to keep the page: it is for one person.
    pub(crate) fn private(self) -> Self {
        Self { is_private: true, ..self }
    }

    /// Builds the response. A page of visitors is kept under `key`.
    pub(crate) fn into_response(self, request: &HttpRequest, cache: &PageCache, key: Option<CacheKey>) -> HttpResponse {
        let Self { content, cookies, is_private } = self;
        let mut response = match content {
            Content::Other(response) => response,
            Content::Redirect { status, location } => {
                let mut response = HttpResponseBuilder::new(status);
                // A permanent redirect is kept by browsers; any other one is asked for again.
                let cache_control = if is_private { "private, no-store" } else { "no-cache" };
                response.insert_header((CACHE_CONTROL, cache_control)).insert_header((REFERRER_POLICY, "same-origin"));
                match HeaderValue::try_from(location) {
                    Ok(location) => response.insert_header((LOCATION, location)).finish(),
                    Err(_) => HttpResponse::InternalServerError().finish(),
                }
            }
            Content::Page { status, html, headers } => {
                let is_cacheable = status == StatusCode::OK && !is_private && cookies.is_empty();
                match key.filter(|_| is_cacheable && request.method() != Method::POST) {
                    Some(key) => {
                        let page = Arc::new(CachedPage::new(html, headers));
                        cache.0.insert(key, page.clone());
                        page.response(request)
                    }
                    None => once(request, status, html, &headers),
                }
            }
        };
        for cookie in cookies {
            if let Ok(cookie) = HeaderValue::try_from(cookie) {
                response.headers_mut().append(SET_COOKIE, cookie);
            }
        }
        response
    }
}

fn set_headers(response: &mut HttpResponseBuilder, headers: &Headers) {
    for (name, value) in HEADERS {
        response.insert_header((name, value));
    }
    if headers.is_framed {
        response.insert_header(("Cross-Origin-Resource-Policy", "cross-origin"));
    }
    response
        .insert_header((CONTENT_TYPE, "text/html; charset=utf-8"))
        .insert_header((CONTENT_SECURITY_POLICY, headers.policy.as_str()))
        .insert_header((VARY, "Cookie, Accept-Language, Accept-Encoding"));
    if !headers.is_indexed {
        response.insert_header((ROBOTS, "noindex"));
    }
}

/// Returns a page for one person or of an error.
fn once(request: &HttpRequest, status: StatusCode, html: String, headers: &Headers) -> HttpResponse {
    let mut response = HttpResponseBuilder::new(status);
    set_headers(&mut response, headers);
    response.insert_header((CACHE_CONTROL, "private, no-store"));
    if accepts_gzip(request) {
        response.insert_header((CONTENT_ENCODING, "gzip")).body(compress(html.as_bytes(), Compression::fast()))
    } else {
        response.body(html)
    }
}

impl CachedPage {
    fn new(html: String, headers: Headers) -> Self {
        let compressed = compress(html.as_bytes(), Compression::new(4));
        let tag = EntityTag::new_strong(digest::short(&html));
        Self { html: html.into(), compressed, tag, headers }
    }

    /// Returns the page, or 304 if the client has it already.
    pub(crate) fn response(&self, request: &HttpRequest) -> HttpResponse {
        let compresses = accepts_gzip(request);
        // Strong tags differ between encodings (RFC 9110 section 8.8.3.3).
        let tag = match compresses {
            true => EntityTag::new_strong(format!("{}-gzip", self.tag.tag())),
            false => self.tag.clone(),
        };
        let known = is_not_modified(request, &tag);
        let mut response = HttpResponseBuilder::new(if known { StatusCode::NOT_MODIFIED } else { StatusCode::OK });
        set_headers(&mut response, &self.headers);
        response
            .insert_header((CACHE_CONTROL, "public, max-age=0, must-revalidate"))
            .insert_header((ETAG, tag.to_string()));
        match (known, compresses) {
            (true, _) => response.finish(),
            (false, true) => response.insert_header((CONTENT_ENCODING, "gzip")).body(self.compressed.clone()),
            (false, false) => response.body(self.html.clone()),
        }
    }
}

/// Returns an error page, which no cache keeps.
pub(crate) fn error_response(request: &HttpRequest, mut response: HttpResponse, html: String) -> HttpResponse {
    let headers = Headers { policy: PAGE_POLICY.to_owned(), is_indexed: false, is_framed: false };
    let page = once(request, response.status(), html, &headers);
    let (head, body) = page.into_parts();
    for (name, value) in head.headers() {
        response.headers_mut().insert(name.clone(), value.clone());
    }
    response.set_body(body)
}

/// The result of a page's handler.
pub(crate) type PageResult = Result<Reply, HttpError>;

/// Returns the `nosniff` header.
pub(crate) const NOSNIFF: (HeaderName, &str) = (X_CONTENT_TYPE_OPTIONS, "nosniff");
