//! Extractors of authenticated requests: the caller, with the query or the body.
//!
//! The checks run here in the contract's order, because separate extractors of a handler would run concurrently.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::header::{ACCEPT, Accept, CONTENT_ENCODING, CONTENT_TYPE, Header};
use actix_web::web;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use roadmap_domain::error::{RoadmapError, Validated};
use roadmap_domain::model::api_key::Credential;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::operation_key::OperationKey;
use roadmap_http::body::{JSON_LIMIT, MemoryReservation};
use roadmap_http::routing::required_scope;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::ApiError;
use crate::fields::{self, Query};
use crate::state::State;
use crate::wire::Links;

/// A read request.
pub struct ReadRequest {
    /// The workspace of the caller.
    pub workspace: WorkspaceId,
    /// Builds the URLs of the workspace.
    pub links: Links,
    /// The query string.
    pub query: Query,
}

/// A write request, with its body.
pub struct WriteRequest {
    /// The workspace of the caller.
    pub workspace: WorkspaceId,
    /// Builds the URLs of the workspace.
    pub links: Links,
    body: Map<String, Value>,
    /// The body's share of the process's memory.
    memory: MemoryReservation,
}

/// An upload request. Its body is processed as a stream.
pub struct UploadRequest {
    /// The workspace of the caller.
    pub workspace: WorkspaceId,
    /// Builds the URLs of the workspace.
    pub links: Links,
}

impl UploadRequest {
    /// Checks the head of an upload. The scope is checked before the body, so that a client without the scope does not
    /// have to send it.
    ///
    /// # Errors
    /// 406, 415, 403.
    pub fn from_head(request: &HttpRequest) -> Result<Self, ApiError> {
        let (credential, links) = authenticated_caller(request)?;
        check_accept(request)?;
        check_form_content_type(request)?;
        require_scope(request, &credential)?;
        Ok(Self { workspace: credential.workspace.id, links })
    }
}

impl WriteRequest {
    /// Returns the body of an operation without an operation key.
    ///
    /// # Errors
    /// A field of another JSON type.
    pub fn body<B: DeserializeOwned>(self) -> Validated<B> {
        fields::body(self.body)
    }

    /// Returns the caller's workspace, the operation key, the body and the body's share of the process's memory.
    pub(crate) fn into_parts(
        self,
    ) -> (WorkspaceId, Validated<Option<OperationKey>>, Map<String, Value>, MemoryReservation) {
        (self.workspace, fields::operation_key(&self.body), self.body, self.memory)
    }
}

impl FromRequest for ReadRequest {
    type Error = ApiError;
    type Future = std::future::Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(read_request(request))
    }
}

fn read_request(request: &HttpRequest) -> Result<ReadRequest, ApiError> {
    let (credential, links) = authenticated_caller(request)?;
    check_accept(request)?;
    require_scope(request, &credential)?;
    Ok(ReadRequest { workspace: credential.workspace.id, links, query: Query::parse(request.query_string()) })
}

impl FromRequest for WriteRequest {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let mut payload = payload.take();
        Box::pin(async move {
            let (credential, links) = authenticated_caller(&request)?;
            check_accept(&request)?;
            check_json_content_type(&request)?;
            let state = request.app_data::<web::Data<State>>().ok_or(RoadmapError::Unauthenticated)?;
            let (body, memory) = state.http.bodies.read_body(&mut payload, JSON_LIMIT).await?;
            let body = parse_json_object(&body)?;
            require_scope(&request, &credential)?;
            Ok(Self { workspace: credential.workspace.id, links, body, memory })
        })
    }
}

/// Returns the feature request that the path names. Invalid UTF-8 is unresolvable.
pub fn feature_request_ref(request: &HttpRequest) -> FeatureRequestRef {
    let segment = request.match_info().get("id").unwrap_or_default();
    match percent_encoding::percent_decode_str(segment).decode_utf8() {
        Ok(segment) => FeatureRequestRef::parse(&segment),
        Err(_) => FeatureRequestRef::Unresolvable,
    }
}

fn authenticated_caller(request: &HttpRequest) -> Result<(Credential, Links), ApiError> {
    let credential = request.extensions().get::<Credential>().cloned().ok_or(RoadmapError::Unauthenticated)?;
    let state = request.app_data::<web::Data<State>>().ok_or(RoadmapError::Unauthenticated)?;
    let workspace = &credential.workspace;
    let links = Links::new(&state.http.base_url, &workspace.subdomain, workspace.id, state.http.references.clone());
    Ok((credential, links))
}

/// Checks that the key has the scope that the endpoint requires. An endpoint without a scope accepts no key.
fn require_scope(request: &HttpRequest, credential: &Credential) -> Result<(), ApiError> {
    let is_allowed = required_scope(request).is_some_and(|scope| credential.key.scopes.allows(scope));
    if is_allowed { Ok(()) } else { Err(RoadmapError::InsufficientScope.into()) }
}

/// Checks that the client accepts `application/json`: the most specific matching range decides (RFC 9110 section
/// 12.5.1). Without `Accept`, every type is accepted.
fn check_accept(request: &HttpRequest) -> Result<(), ApiError> {
    let mut values = request.headers().get_all(ACCEPT).peekable();
    if values.peek().is_none() || values.all(|value| value.as_bytes().trim_ascii().is_empty()) {
        return Ok(());
    }
    let accept = Accept::parse(request).map_err(|_| ApiError::NotAcceptable)?;
    let most_specific = accept
        .iter()
        .filter_map(|range| {
            let specificity = match (range.item.type_().as_str(), range.item.subtype().as_str()) {
                ("application", "json") => 2,
                ("application", "*") => 1,
                ("*", "*") => 0,
                _ => return None,
            };
            Some((specificity, range.quality))
        })
        .max_by_key(|(specificity, _)| *specificity);
    match most_specific {
        Some((_, quality)) if quality > actix_web::http::header::Quality::ZERO => Ok(()),
        _ => Err(ApiError::NotAcceptable),
    }
}

/// Checks that the body is sent as uncompressed JSON in UTF-8. A missing `Content-Type` is accepted.
fn check_json_content_type(request: &HttpRequest) -> Result<(), ApiError> {
    if has_content_coding(request) {
        return Err(ApiError::UnsupportedMediaType);
    }
    if !request.headers().contains_key(CONTENT_TYPE) {
        return Ok(());
    }
    let mime = request.mime_type().ok().flatten().ok_or(ApiError::UnsupportedMediaType)?;
    let utf8 = mime.get_param("charset").is_none_or(|charset| charset == "utf-8");
    if mime.essence_str() == "application/json" && utf8 { Ok(()) } else { Err(ApiError::UnsupportedMediaType) }
}

/// Checks that the body is sent as an uncompressed `multipart/form-data` form.
fn check_form_content_type(request: &HttpRequest) -> Result<(), ApiError> {
    let mime = request.mime_type().ok().flatten();
    let is_form = mime.is_some_and(|mime| mime.essence_str() == "multipart/form-data");
    if is_form && !has_content_coding(request) { Ok(()) } else { Err(ApiError::UnsupportedUploadType) }
}

fn has_content_coding(request: &HttpRequest) -> bool {
    let encoded = request.headers().get(CONTENT_ENCODING);
    encoded.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Parses the body as a JSON object. The parser rejects more than 128 levels of nesting.
fn parse_json_object(body: &[u8]) -> Result<Map<String, Value>, ApiError> {
    serde_json::from_slice(body).map_err(|_| ApiError::MalformedBody)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    fn status(outcome: Result<(), ApiError>) -> u16 {
        outcome.map_or_else(|error| actix_web::ResponseError::status_code(&error).as_u16(), |()| 200)
    }

    #[test]
    fn the_most_specific_range_decides_what_is_acceptable() {
        for (accept, expected) in [
            ("application/json", 200),
            ("*/*", 200),
            ("application/*", 200),
            ("text/html, application/xml;q=0.9, */*;q=0.8", 200),
            ("text/html, application/json;q=0.1", 200),
            ("APPLICATION/JSON", 200),
            ("", 200),
            ("text/html", 406),
            ("application/xml", 406),
            ("application/json;q=0", 406),
            ("application/json;q=0, */*", 406),
            ("application/*;q=0, */*", 406),
            ("text/*", 406),
            ("nonsense", 406),
        ] {
            let request = TestRequest::get().insert_header((ACCEPT, accept)).to_http_request();
            assert_eq!(status(check_accept(&request)), expected, "{accept}");
        }
        assert_eq!(status(check_accept(&TestRequest::get().to_http_request())), 200);
    }

    #[test]
    fn only_plain_json_is_accepted() {
        for (content_type, expected) in [
            ("application/json", 200),
            ("application/json; charset=utf-8", 200),
            ("application/json; charset=UTF-8", 200),
            ("Application/JSON", 200),
            ("application/json; charset=latin1", 415),
            ("text/plain", 415),
            ("application/x-www-form-urlencoded", 415),
            ("multipart/form-data; boundary=x", 415),
            ("json", 415),
            ("", 415),
        ] {
            let request = TestRequest::post().insert_header((CONTENT_TYPE, content_type)).to_http_request();
            assert_eq!(status(check_json_content_type(&request)), expected, "{content_type}");
        }
        assert_eq!(status(check_json_content_type(&TestRequest::post().to_http_request())), 200);
        let request = TestRequest::post().insert_header((CONTENT_ENCODING, "gzip")).to_http_request();
        assert_eq!(status(check_json_content_type(&request)), 415);
    }

    #[test]
    fn a_body_is_one_json_object() {
        for body in ["{}", " { \"a\" : [1] } "] {
            assert!(parse_json_object(body.as_bytes()).is_ok(), "{body}");
        }
        let deep = format!("{}{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
        for body in ["", " ", "[]", "null", "\"a\"", "1", "{", "{}{}", "{'a':1}", "{\"a\":\"\\ud800\"}", &deep] {
            assert!(parse_json_object(body.as_bytes()).is_err(), "{body:.20}");
        }
        assert!(parse_json_object(b"{\"a\":\"\xff\"}").is_err());
    }
}
