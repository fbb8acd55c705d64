//! Extractors of authenticated requests: the caller, with the query or the body.
//!
//! The checks run here in the contract's order, because separate extractors of a handler would run concurrently.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, Quality, QualityItem};
use actix_web::mime::Mime;
use actix_web::web;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use roadmap_domain::error::{FieldError, FieldProblem, RoadmapError, Validated};
use roadmap_domain::model::api_key::Credential;
use roadmap_domain::model::audit::{Actor, Channel, Origin};
use roadmap_domain::model::feature_request::{FeatureRequestRef, Tag};
use roadmap_domain::model::id::{WebhookEventId, WorkspaceId, parse_uuid};
use roadmap_domain::model::operation_key::OperationKey;
use roadmap_http::body::{JSON_LIMIT, MemoryReservation};
use roadmap_http::request_id::id_of;
use roadmap_http::routing::accepts_key;
use serde_json::{Map, Value};
use uuid::Uuid;
use uuid::fmt::Hyphenated;

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
    /// Who writes.
    pub origin: Origin,
    pub body: Map<String, Value>,
    /// The operation key, of the body or the header. Endpoints that take none ignore it.
    pub key: Validated<Option<OperationKey>>,
    /// The body's share of the process's memory.
    pub memory: MemoryReservation,
}

/// A DELETE request, which has no body.
pub struct DeleteRequest {
    /// The workspace of the caller.
    pub workspace: WorkspaceId,
    /// Builds the URLs of the workspace.
    pub links: Links,
    /// Who deletes.
    pub origin: Origin,
    /// The query string.
    pub query: Query,
}

/// A write request whose body has optional fields only, so that it can be left out.
pub struct WriteRequestWithoutFields(pub WriteRequest);

/// An upload request. Its body is processed as a stream.
pub struct UploadRequest {
    /// The workspace of the caller.
    pub workspace: WorkspaceId,
    /// Builds the URLs of the workspace.
    pub links: Links,
    /// Who uploads.
    pub origin: Origin,
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
        check_scope(request, &credential)?;
        let origin = origin(request, &credential);
        Ok(Self { workspace: credential.workspace.id, links, origin })
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
    let (credential, links) = caller_without_body(request)?;
    Ok(ReadRequest { workspace: credential.workspace.id, links, query: Query::parse(request.query_string()) })
}

impl FromRequest for DeleteRequest {
    type Error = ApiError;
    type Future = std::future::Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(delete_request(request))
    }
}

fn delete_request(request: &HttpRequest) -> Result<DeleteRequest, ApiError> {
    let (credential, links) = caller_without_body(request)?;
    let (workspace, origin) = (credential.workspace.id, origin(request, &credential));
    Ok(DeleteRequest { workspace, links, origin, query: Query::parse(request.query_string()) })
}

/// Runs the checks of a request without a body.
fn caller_without_body(request: &HttpRequest) -> Result<(Credential, Links), ApiError> {
    let (credential, links) = authenticated_caller(request)?;
    check_accept(request)?;
    check_scope(request, &credential)?;
    Ok((credential, links))
}

impl FromRequest for WriteRequest {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        Box::pin(write_request(request.clone(), payload.take(), parse_json_object))
    }
}

impl FromRequest for WriteRequestWithoutFields {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let write = write_request(request.clone(), payload.take(), parse_optional_json_object);
        Box::pin(async move { write.await.map(Self) })
    }
}

/// Parses the bytes of a body.
type BodyParser = fn(&[u8]) -> Result<Map<String, Value>, ApiError>;

async fn write_request(
    request: HttpRequest,
    mut payload: Payload,
    parse: BodyParser,
) -> Result<WriteRequest, ApiError> {
    let (credential, links) = authenticated_caller(&request)?;
    check_accept(&request)?;
    check_json_content_type(&request)?;
    let state = request.app_data::<web::Data<State>>().ok_or(RoadmapError::Unauthenticated)?;
    let (body, memory) = state.http.bodies.read_body(&mut payload, JSON_LIMIT).await?;
    let body = parse(&body)?;
    check_scope(&request, &credential)?;
    let key = operation_key(&body, request.headers());
    let origin = origin(&request, &credential);
    Ok(WriteRequest { workspace: credential.workspace.id, links, origin, body, key, memory })
}

/// The header that is an operation key, too.
pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// Returns the operation key of a request: `operation_key` in the body, or the header. Blank ones count as absent.
///
/// # Errors
/// One of them is not valid, or they differ.
fn operation_key(body: &Map<String, Value>, headers: &HeaderMap) -> Validated<Option<OperationKey>> {
    let mut key = fields::operation_key(body)?;
    for value in headers.get_all(IDEMPOTENCY_KEY) {
        let raw = std::str::from_utf8(value.as_bytes());
        // Other bytes are those of Latin-1, as in the first versions of HTTP.
        let raw = raw.map_or_else(|_| value.as_bytes().iter().copied().map(char::from).collect(), str::to_owned);
        let sent = OperationKey::parse(&raw)?;
        if key.is_some() && sent.is_some() && key != sent {
            let message = "operation_key and the header Idempotency-Key must be equal if both are sent";
            return Err(FieldError::new(OperationKey::FIELD, FieldProblem::Custom { message }));
        }
        key = key.or(sent);
    }
    Ok(key)
}

/// Returns the feature request that the path names. Invalid UTF-8 is unresolvable.
pub fn feature_request_ref(request: &HttpRequest) -> FeatureRequestRef {
    segment(request, "id").map_or(FeatureRequestRef::Unresolvable, |segment| FeatureRequestRef::parse(&segment))
}

/// Returns the ID of the record that the path names. Anything else than a UUID is `None`: no record has such an ID.
pub fn record_id<T>(request: &HttpRequest, wrap: fn(Uuid) -> T) -> Option<T> {
    id_in(request, "id", wrap)
}

/// Returns the ID of the delivery that the path names below its webhook, as [`record_id`] does.
pub fn delivery_id(request: &HttpRequest) -> Option<WebhookEventId> {
    id_in(request, "delivery_id", WebhookEventId::new)
}

fn id_in<T>(request: &HttpRequest, name: &str, wrap: fn(Uuid) -> T) -> Option<T> {
    // Rejects surrounding white space, which is allowed in fields only.
    let segment = segment(request, name).filter(|segment| segment.len() == Hyphenated::LENGTH)?;
    parse_uuid("id", &segment).ok().map(wrap)
}

/// Returns the ID of the record that a command is about. Instead of anything else than a UUID, it returns the nil UUID,
/// which no record has, because a saved response takes precedence over a missing record.
pub fn record_id_or_nil<T>(request: &HttpRequest, wrap: fn(Uuid) -> T) -> T {
    record_id(request, wrap).unwrap_or_else(|| wrap(Uuid::nil()))
}

/// Returns the tag that the path names. `None` for a name that no tag can have.
pub fn tag_name(request: &HttpRequest) -> Option<Tag> {
    segment(request, "name").and_then(|segment| Tag::parse("name", &segment).ok())
}

/// Returns a segment of the path.
fn segment<'a>(request: &'a HttpRequest, name: &str) -> Option<Cow<'a, str>> {
    let segment = request.match_info().get(name).unwrap_or_default();
    percent_encoding::percent_decode_str(segment).decode_utf8().ok()
}

/// Returns the key of the caller and its workspace.
///
/// # Errors
/// 401 outside of [`roadmap_http::authentication`].
pub fn credential(request: &HttpRequest) -> Result<Credential, ApiError> {
    Ok(request.extensions().get::<Credential>().cloned().ok_or(RoadmapError::Unauthenticated)?)
}

fn authenticated_caller(request: &HttpRequest) -> Result<(Credential, Links), ApiError> {
    let credential = credential(request)?;
    let state = request.app_data::<web::Data<State>>().ok_or(RoadmapError::Unauthenticated)?;
    let workspace = &credential.workspace;
    let links = Links::new(&state.http.base_url, &workspace.subdomain, workspace.id, state.http.references.clone());
    Ok((credential, links))
}

/// Returns the origin of the operations of a request.
fn origin(request: &HttpRequest, credential: &Credential) -> Origin {
    let actor = Actor::api_key(credential.key.id, &credential.key.name);
    Origin { actor, channel: Channel::Api, request_id: id_of(request) }
}

/// Checks that the endpoint accepts the scopes of the key.
fn check_scope(request: &HttpRequest, credential: &Credential) -> Result<(), ApiError> {
    let is_allowed = accepts_key(request, credential.key.scopes);
    if is_allowed { Ok(()) } else { Err(RoadmapError::InsufficientScope.into()) }
}

/// Checks that the client accepts `application/json`: the most specific matching range decides (RFC 9110 section
/// 12.5.1). Without `Accept`, every type is accepted, and with one that cannot be read, too: many clients send one that
/// nobody chose, such as `*/*; q=.2`.
fn check_accept(request: &HttpRequest) -> Result<(), ApiError> {
    let mut ranges: Vec<QualityItem<Mime>> = Vec::new();
    for value in request.headers().get_all(ACCEPT) {
        let Ok(value) = value.to_str() else { return Ok(()) };
        for range in value.split(',').map(str::trim).filter(|range| !range.is_empty()) {
            let Ok(range) = range.parse() else { return Ok(()) };
            ranges.push(range);
        }
    }
    let matching = ranges.iter().filter_map(|range| {
        let specificity = match (range.item.type_().as_str(), range.item.subtype().as_str()) {
            ("application", "json") => 2,
            ("application", "*") => 1,
            ("*", "*") => 0,
            _ => return None,
        };
        Some((specificity, range.quality))
    });
    let most_specific = matching.max_by_key(|(specificity, _)| *specificity);
    let is_accepted = ranges.is_empty() || most_specific.is_some_and(|(_, quality)| quality > Quality::ZERO);
    if is_accepted { Ok(()) } else { Err(ApiError::NotAcceptable) }
}

/// Checks that the body is sent as uncompressed JSON in UTF-8. A missing `Content-Type` is accepted.
pub(crate) fn check_json_content_type(request: &HttpRequest) -> Result<(), ApiError> {
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

/// Parses the body as a JSON object. An empty body counts as an empty object.
fn parse_optional_json_object(body: &[u8]) -> Result<Map<String, Value>, ApiError> {
    if without_byte_order_mark(body).is_empty() { Ok(Map::new()) } else { parse_json_object(body) }
}

/// Parses the body as a JSON object. The parser rejects more than 128 levels of nesting.
fn parse_json_object(body: &[u8]) -> Result<Map<String, Value>, ApiError> {
    let body = without_byte_order_mark(body);
    serde_json::from_slice(body).map_err(|error| {
        // The contract has one message for all causes.
        ApiError::MalformedJson(match std::str::from_utf8(body) {
            Err(error) => format!("it is not UTF-8 from byte {} on", error.valid_up_to()),
            Ok(text) if text.trim().is_empty() => "it is empty".to_owned(),
            Ok(_) if error.is_data() => "it must be an object".to_owned(),
            Ok(_) => error.to_string(),
        })
    })
}

/// Removes a byte order mark, which a parser may ignore (RFC 8259 section 8.1).
fn without_byte_order_mark(body: &[u8]) -> &[u8] {
    body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    fn status(outcome: Result<(), ApiError>) -> u16 {
        outcome.map_or_else(|error| actix_web::ResponseError::status_code(&error).as_u16(), |()| 200)
    }

    /// Contract 4; Decision 2.
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
            ("text/html;level=1, image/png", 406),
            // What cannot be read is ignored: that of JDKs before 17.0.12, and others.
            ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", 200),
            ("*/*;q=.2", 200),
            ("text/html;q=.2", 200),
            ("*", 200),
            ("json", 200),
            ("nonsense", 200),
            ("text/html, json", 200),
            ("text/html;q=2", 200),
            ("text/html;title=\"a,b\"", 200),
            ("text/html;q", 200),
            ("/", 200),
            (",", 200),
        ] {
            let request = TestRequest::get().insert_header((ACCEPT, accept)).to_http_request();
            assert_eq!(status(check_accept(&request)), expected, "{accept}");
        }
        let request = TestRequest::get().insert_header((ACCEPT, &b"text/\xff"[..])).to_http_request();
        assert_eq!(status(check_accept(&request)), 200);
        let request = TestRequest::get().append_header((ACCEPT, "text/html")).append_header((ACCEPT, "*/*"));
        assert_eq!(status(check_accept(&request.to_http_request())), 200);
        assert_eq!(status(check_accept(&TestRequest::get().to_http_request())), 200);
    }

    /// Contract 4; Decision 2.
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
    fn the_id_of_a_record_is_a_uuid() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        for (segment, known) in [
            (id.to_owned(), true),
            (id.to_uppercase(), true),
            (id.replace('-', "%2D"), true),
            (id.replace('-', ""), false),
            (format!("%20{id}"), false),
            (format!("%20{}", &id[1..]), false),
            (format!("{{{id}}}"), false),
            ("1-dark-mode".to_owned(), false),
            ("%ff".to_owned(), false),
            (String::new(), false),
        ] {
            let request = TestRequest::get().param("id", segment.clone()).to_http_request();
            assert_eq!(record_id(&request, |id| id.to_string()), known.then(|| id.to_owned()), "{segment}");
            assert_eq!(record_id_or_nil(&request, |id| id.is_nil()), !known, "{segment}");
        }
    }

    #[test]
    fn a_tag_in_the_path_is_percent_decoded_once() {
        let long = "x".repeat(Tag::MAX);
        for (segment, expected) in [
            ("ui", Some("ui")),
            ("b%C3%BCro%20a%2Fb", Some("büro a/b")),
            ("100%25", Some("100%")),
            ("%2541", Some("%41")),
            ("a+b", Some("a+b")),
            (&long, Some(&*long)),
            (&format!("{long}x"), None),
            ("%ff", None),
            ("%00", None),
            ("%20", None),
            ("", None),
        ] {
            let request = TestRequest::patch().param("name", segment.to_owned()).to_http_request();
            assert_eq!(tag_name(&request).as_ref().map(Tag::as_str), expected, "{segment}");
        }
    }

    /// Decision 2.
    #[test]
    fn a_body_is_one_json_object() {
        for body in ["{}", " { \"a\" : [1] } ", "\u{feff}{}", "\u{feff}\r\n{\"a\":\"\u{feff}\"}"] {
            assert!(parse_json_object(body.as_bytes()).is_ok(), "{body}");
        }
        let deep = format!("{}{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
        for body in ["", " ", "[]", "null", "\"a\"", "1", "{", "{}{}", "{'a':1}", "{\"a\":\"\\ud800\"}", &deep] {
            assert!(parse_json_object(body.as_bytes()).is_err(), "{body:.20}");
        }
        assert!(parse_json_object(b"{\"a\":\"\xff\"}").is_err());
        for body in ["\u{feff}", "\u{feff}\u{feff}{}", "{}\u{feff}", " \u{feff}{}"] {
            assert!(parse_json_object(body.as_bytes()).is_err(), "{body:?}");
        }
        assert!(parse_json_object(b"\xff\xfe{\0}\0").is_err());
        assert!(parse_optional_json_object(b"").unwrap().is_empty());
        assert!(parse_optional_json_object("\u{feff}".as_bytes()).unwrap().is_empty());
        assert!(parse_optional_json_object(b" ").is_err());
    }

    /// Decision 5.
    #[test]
    fn an_operation_key_is_in_the_body_or_in_the_header() {
        let long = "k".repeat(256);
        let differ = "operation_key and the header Idempotency-Key must be equal if both are sent";
        let too_long = "operation_key must be at most 255 characters long";
        for (body, header, expected) in [
            (Value::Null, None, Ok(None)),
            (Value::Null, Some("k"), Ok(Some("k"))),
            (" ".into(), Some("k"), Ok(Some("k"))),
            ("k".into(), Some("k"), Ok(Some("k"))),
            ("k".into(), Some(" "), Ok(Some("k"))),
            ("k".into(), Some(""), Ok(Some("k"))),
            (" ".into(), Some(" "), Ok(None)),
            (Value::Null, Some("\"k\""), Ok(Some("\"k\""))),
            (Value::Null, Some(&long[1..]), Ok(Some(&long[1..]))),
            ("k".into(), Some("K"), Err(differ)),
            ("k".into(), Some("\"k\""), Err(differ)),
            (Value::Null, Some(&*long), Err(too_long)),
            ("k".into(), Some(&*long), Err(too_long)),
            (7.into(), Some("k"), Err("operation_key must be a string")),
        ] {
            let body = Map::from_iter([("operation_key".to_owned(), body)]);
            let request = TestRequest::post();
            let request =
                header.into_iter().fold(request, |request, key| request.insert_header((IDEMPOTENCY_KEY, key)));
            let key = operation_key(&body, request.to_http_request().headers());
            let key = key.map(|key| key.map(|key| key.as_str().to_owned())).map_err(|error| error.to_string());
            assert_eq!(key, expected.map(|key| key.map(str::to_owned)).map_err(str::to_owned), "{body:?} {header:?}");
        }
        for (sent, expected) in [
            (vec![&b"gr\xc3\xbcn"[..]], Ok("grün")),
            (vec![b"gr\xfcn"], Ok("grün")),
            (vec![b"k", b"k"], Ok("k")),
            (vec![b"", b"k"], Ok("k")),
            (vec![b"k", b"l"], Err(differ)),
        ] {
            let append = |request: TestRequest, key: &&[u8]| request.append_header((IDEMPOTENCY_KEY, *key));
            let request = sent.iter().fold(TestRequest::post(), append).to_http_request();
            let key = operation_key(&Map::new(), request.headers()).map(|key| key.unwrap().as_str().to_owned());
            assert_eq!(key.map_err(|error| error.to_string()), expected.map(str::to_owned).map_err(str::to_owned));
        }
    }
}
