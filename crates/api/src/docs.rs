//! The public documentation of the API: the OpenAPI document, and an HTML page without external resources.

mod page;

use std::sync::LazyLock;

use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_SECURITY_POLICY, ContentType, ETAG, EntityTag, LOCATION,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use roadmap_http::content::is_not_modified;
use sha2::{Digest, Sha256};

use crate::openapi;

/// Cache policy. The documentation changes only with the version of the service.
const CACHE_CONTROL_POLICY: &str = "public, max-age=300";

/// `GET /api/external/openapi.json`
pub(crate) async fn document(request: HttpRequest) -> HttpResponse {
    static TAG: LazyLock<EntityTag> = LazyLock::new(|| entity_tag(openapi::document()));
    let mut response = HttpResponseBuilder::new(StatusCode::OK);
    response.insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"));
    cacheable_response(&request, response, ContentType::json(), &TAG, openapi::document())
}

/// `GET /api/docs`
pub(crate) async fn page(request: HttpRequest) -> HttpResponse {
    static PAGE: LazyLock<String> = LazyLock::new(|| page::render_page(&openapi::document_json()));
    static TAG: LazyLock<EntityTag> = LazyLock::new(|| entity_tag(&PAGE));
    static POLICY: LazyLock<String> = LazyLock::new(|| {
        let style = BASE64_STANDARD.encode(Sha256::digest(page::STYLE));
        format!(
            "default-src 'none'; style-src 'sha256-{style}'; form-action 'none'; frame-ancestors 'none'; \
             base-uri 'none'"
        )
    });
    let mut response = HttpResponseBuilder::new(StatusCode::OK);
    response
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((CONTENT_SECURITY_POLICY, POLICY.as_str()));
    cacheable_response(&request, response, ContentType::html(), &TAG, &PAGE)
}

/// `GET` of the beginnings of paths, such as `/api/external/v1`, which somebody opens to learn about the API.
pub(crate) async fn lead_to_page() -> HttpResponse {
    HttpResponseBuilder::new(StatusCode::FOUND).insert_header((LOCATION, "/api/docs")).finish()
}

fn entity_tag(content: &str) -> EntityTag {
    EntityTag::new_strong(BASE64_STANDARD.encode(Sha256::digest(content)))
}

fn cacheable_response(
    request: &HttpRequest,
    mut response: HttpResponseBuilder,
    content_type: ContentType,
    tag: &EntityTag,
    content: &'static str,
) -> HttpResponse {
    response.insert_header((CACHE_CONTROL, CACHE_CONTROL_POLICY)).insert_header((ETAG, tag.clone()));
    // Programs in a browser, on any site, can read what is open to anybody.
    response.insert_header((ACCESS_CONTROL_ALLOW_ORIGIN, "*"));
    if is_not_modified(request, tag) {
        return response.status(StatusCode::NOT_MODIFIED).finish();
    }
    response.insert_header(content_type).body(content)
}
