//! Messages of the protocol: JSON-RPC 2.0 with the rules of MCP, in both eras.
//!
//! The modern era (revision 2026-07-28) has no handshake: each request says its version in `params._meta` and repeats
//! version, method and name in headers. The legacy era (2025-06-18 and 2025-11-25) begins with `initialize`; here it has
//! no sessions, so that each request stands alone, too.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, HeaderName};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use roadmap_http::headers::single_value;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value, json};

/// The revision of the modern era.
pub(crate) const MODERN: &str = "2026-07-28";

/// The revisions of the legacy era, newest first.
pub(crate) const LEGACY: [&str; 2] = ["2025-11-25", "2025-06-18"];

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Keys of `params._meta` in the modern era.
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Rules by which a request is read and answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Revision 2026-07-28.
    Modern,
    /// The revisions with a handshake.
    Legacy,
}

/// A message from a client.
#[derive(Debug)]
pub(crate) enum Message {
    /// It is answered.
    Request(Request),
    /// It is not answered: a notification, or in the legacy era a response.
    Notification,
}

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    /// The id, a string or an integer.
    pub(crate) id: Value,
    pub(crate) era: Era,
    pub(crate) method: String,
    /// The parameters.
    pub(crate) params: Map<String, Value>,
}

/// What is wrong with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The body is not JSON.
    Syntax,
    /// The body is not one message.
    Message,
    /// The parameters are wrong.
    Params,
    /// The headers contradict the body.
    Headers,
    /// The version is not supported.
    Version,
    /// There is no such method.
    Method,
    /// There is no such resource.
    Resource,
    /// A page of another origin has sent it.
    Origin,
    /// The API refused what a resource would show.
    Api,
    /// The service failed.
    Internal,
}

impl Cause {
    /// Returns the name that operators see.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Message => "message",
            Self::Params => "params",
            Self::Headers => "headers",
            Self::Version => "version",
            Self::Method => "method",
            Self::Resource => "resource",
            Self::Origin => "origin",
            Self::Api => "api",
            Self::Internal => "internal",
        }
    }
}

/// An error of the protocol. What a model can correct in a call of a tool is a result instead.
#[derive(Debug, PartialEq)]
pub(crate) struct ProtocolError {
    /// What is wrong.
    pub(crate) cause: Cause,
    /// The code, and a sentence for people.
    pub(crate) code: i64,
    pub(crate) message: String,
    /// Further information, as the specification defines it.
    pub(crate) data: Option<Value>,
    /// The status of the HTTP response.
    pub(crate) status: StatusCode,
}

impl ProtocolError {
    fn bad_request(cause: Cause, code: i64, message: impl Into<String>) -> Self {
        Self { cause, code, message: message.into(), data: None, status: StatusCode::BAD_REQUEST }
    }

    fn message(message: impl Into<String>) -> Self {
        Self::bad_request(Cause::Message, -32600, message)
    }

    fn headers(message: impl Into<String>) -> Self {
        Self::bad_request(Cause::Headers, -32020, message)
    }

    fn version(requested: &str) -> Self {
        let supported: Vec<&str> = [MODERN].into_iter().chain(LEGACY).collect();
        let data = json!({ "supported": supported, "requested": requested });
        Self { data: Some(data), ..Self::bad_request(Cause::Version, -32022, "Unsupported protocol version") }
    }

    /// Parameters that no request of the method has.
    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self { status: StatusCode::OK, ..Self::bad_request(Cause::Params, -32602, message) }
    }

    /// A URL that asks for a list of tools which does not exist.
    pub(crate) fn tools(problem: &str) -> Self {
        Self::bad_request(Cause::Params, -32602, problem)
    }

    /// A method that does not exist.
    pub(crate) fn method(era: Era) -> Self {
        // 404 means a lost session to clients of the legacy era.
        let status = if era == Era::Modern { StatusCode::NOT_FOUND } else { StatusCode::OK };
        Self { status, ..Self::bad_request(Cause::Method, -32601, "Method not found") }
    }

    /// A resource that does not exist.
    pub(crate) fn resource(era: Era, uri: &str) -> Self {
        let code = if era == Era::Modern { -32602 } else { -32002 };
        let data = Some(json!({ "uri": uri }));
        Self { data, status: StatusCode::OK, ..Self::bad_request(Cause::Resource, code, "Resource not found") }
    }

    /// An error of the API in place of a resource. Its code is the status.
    pub(crate) fn api(status: StatusCode, message: String) -> Self {
        Self { status: StatusCode::OK, ..Self::bad_request(Cause::Api, i64::from(status.as_u16()), message) }
    }

    /// A page of another origin.
    pub(crate) fn origin() -> Self {
        let message = "The request was sent by a page of another origin";
        Self { status: StatusCode::FORBIDDEN, ..Self::message(message) }.because(Cause::Origin)
    }

    /// A failure of the service.
    pub(crate) fn internal() -> Self {
        let error = Self::bad_request(Cause::Internal, -32603, roadmap_http::error::INTERNAL_ERROR_MESSAGE);
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, ..error }
    }

    fn because(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }

    /// Returns the message for the client, with the id of its request if that is known.
    pub(crate) fn body(&self, id: Option<&Value>) -> String {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Some(error), Some(data)) = (error.as_object_mut(), &self.data) {
            error.insert("data".to_owned(), data.clone());
        }
        match id {
            Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string(),
            None => json!({ "jsonrpc": "2.0", "error": error }).to_string(),
        }
    }
}

/// An error with the id of the request, if it could be read.
pub(crate) type Refusal = (Option<Value>, ProtocolError);

/// Reads a message: body, then version, then headers.
pub(crate) fn read(headers: &HeaderMap, body: &[u8]) -> Result<Message, Refusal> {
    let fields = parse(body).map_err(|error| (None, error))?;
    let id = match fields.get("id") {
        None => None,
        Some(id @ (Value::String(_) | Value::Number(_))) if !is_fraction(id) => Some(id.clone()),
        Some(_) => return Err((None, ProtocolError::message("id must be a string or an integer"))),
    };
    read_fields(headers, fields, id.clone()).map_err(|error| (id, error))
}

fn is_fraction(id: &Value) -> bool {
    id.as_number().is_some_and(Number::is_f64)
}

/// Parses a JSON object without repeated members.
fn parse(body: &[u8]) -> Result<Map<String, Value>, ProtocolError> {
    // A parser may ignore a byte order mark (RFC 8259 section 8.1).
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    if body.trim_ascii_start().first() == Some(&b'[') {
        return Err(ProtocolError::message("The body must be a single message, not a batch"));
    }
    match serde_json::from_slice(body) {
        Ok(Strict(Value::Object(fields))) => Ok(fields),
        Ok(_) => Err(ProtocolError::message("The body must be a JSON object")),
        Err(error) if error.is_data() => Err(ProtocolError::message(error.to_string())),
        Err(_) => {
            Err(ProtocolError::bad_request(Cause::Syntax, -32700, "The body is not valid JSON, or nested too deeply"))
        }
    }
}

fn read_fields(
    headers: &HeaderMap,
    mut fields: Map<String, Value>,
    id: Option<Value>,
) -> Result<Message, ProtocolError> {
    if fields.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(ProtocolError::message("jsonrpc must be \"2.0\""));
    }
    let method = match fields.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return Err(ProtocolError::message("method must be a string")),
        // A response of a legacy client. This server sends no requests, so that there is nothing to match it with.
        None if fields.contains_key("result") || fields.contains_key("error") => return Ok(Message::Notification),
        None => return Err(ProtocolError::message("method is missing")),
    };
    let Some(id) = id else { return Ok(Message::Notification) };
    let params = match fields.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err(ProtocolError::message("params must be an object")),
    };
    let era = era(headers, &method, &params)?;
    Ok(Message::Request(Request { id, era, method, params }))
}

/// Returns the era of a request, after checking what the modern era repeats in headers.
fn era(headers: &HeaderMap, method: &str, params: &Map<String, Value>) -> Result<Era, ProtocolError> {
    let sent = header(headers, &VERSION)?;
    let meta = params.get("_meta").and_then(Value::as_object);
    let Some(version) = meta.and_then(|meta| meta.get(META_VERSION)) else {
        return match sent.as_deref() {
            None => Ok(Era::Legacy),
            Some(version) if LEGACY.contains(&version) => Ok(Era::Legacy),
            Some(MODERN) => Err(invalid_meta(META_VERSION, "is missing")),
            Some(other) => Err(ProtocolError::version(other)),
        };
    };
    let Value::String(version) = version else { return Err(invalid_meta(META_VERSION, "must be a string")) };
    if !meta.and_then(|meta| meta.get(META_CAPABILITIES)).is_some_and(Value::is_object) {
        return Err(invalid_meta(META_CAPABILITIES, "must be an object"));
    }
    must_equal(&VERSION, sent, version)?;
    if version != MODERN {
        return Err(ProtocolError::version(version));
    }
    must_equal(&METHOD, header(headers, &METHOD)?, method)?;
    let named = match method {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" => params.get("uri"),
        _ => None,
    };
    // A missing name is an error of the parameters.
    if let Some(named) = named.and_then(Value::as_str) {
        must_equal(&NAME, header(headers, &NAME)?.map(decode_name).transpose()?, named)?;
    }
    Ok(Era::Modern)
}

fn invalid_meta(key: &str, problem: &str) -> ProtocolError {
    ProtocolError::bad_request(Cause::Params, -32602, format!("params._meta: {key} {problem}"))
}

/// Returns the value of a header, or `None` without it.
fn header(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, ProtocolError> {
    if !headers.contains_key(name) {
        return Ok(None);
    }
    let value = single_value(headers, name).map(str::trim);
    let value = value.ok_or_else(|| ProtocolError::headers(format!("{name} is repeated or not plain text")))?;
    Ok(Some(value.to_owned()))
}

fn must_equal(name: &HeaderName, sent: Option<String>, in_body: &str) -> Result<(), ProtocolError> {
    match sent {
        Some(sent) if sent == in_body => Ok(()),
        Some(_) => Err(ProtocolError::headers(format!("{name} does not match the body"))),
        None => Err(ProtocolError::headers(format!("{name} is missing"))),
    }
}

/// Decodes `=?base64?…?=`, the form of names that are not plain ASCII.
fn decode_name(sent: String) -> Result<String, ProtocolError> {
    let Some(encoded) = sent.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Ok(sent);
    };
    let decoded = STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.ok_or_else(|| ProtocolError::headers(format!("{NAME} is not valid Base64")))
}

/// A JSON value whose objects have no member twice, because two readers could then disagree about it.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Strict(value))) = members.next_entry::<String, _>()? {
            if object.insert(name, value).is_some() {
                return Err(de::Error::custom("an object has the same member twice,"));
            }
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    /// Reads a message. Returns the era and the id, or the status, the code and the id of the error.
    fn outcome(pairs: &[(&'static str, &'static str)], body: &str) -> Result<(Era, Value), (u16, i64, Option<Value>)> {
        match read(&headers(pairs), body.as_bytes()) {
            Ok(Message::Request(request)) => Ok((request.era, request.id)),
            Ok(Message::Notification) => panic!("a request"),
            Err((id, error)) => Err((error.status.as_u16(), error.code, id)),
        }
    }

    fn modern(method: &str, rest: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{"_meta":{{"{META_VERSION}":"{MODERN}","{META_CAPABILITIES}":{{}}}}{rest}}}}}"#
        )
    }

    const LIST: [(&str, &str); 2] = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/list")];

    #[test]
    fn only_a_single_message_with_a_usable_id_is_read() {
        for (body, code, id) in [
            ("", -32700, None),
            ("{", -32700, None),
            ("[]", -32600, None),
            (r#" [{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600, None),
            ("5", -32600, None),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, None),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, None),
            (r#"{"jsonrpc":"2.0","id":1e30,"method":"ping"}"#, -32600, None),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, None),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, Some(json!(1))),
            (r#"{"id":1,"method":"ping"}"#, -32600, Some(json!(1))),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600, Some(json!(1))),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600, Some(json!(1))),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, -32600, Some(json!(1))),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600, None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":1,"a":2}}}"#, -32600, None),
        ] {
            assert_eq!(outcome(&[], body), Err((400, code, id)), "{body}");
        }
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}{}}}}}"#,
            "[".repeat(128),
            "]".repeat(128)
        );
        assert_eq!(outcome(&[], &deep), Err((400, -32700, None)));
        for (id, expected) in
            [("1152921504606846976", json!(1_152_921_504_606_846_976_u64)), ("-1", json!(-1)), (r#""a""#, json!("a"))]
        {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(outcome(&[], &body), Ok((Era::Legacy, expected.clone())));
            assert_eq!(outcome(&[], &format!("\u{feff}{body}")), Ok((Era::Legacy, expected)));
        }
    }

    #[test]
    fn a_message_without_an_id_or_a_method_is_not_answered() {
        for body in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"unknown","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
        ] {
            assert!(matches!(read(&HeaderMap::new(), body.as_bytes()), Ok(Message::Notification)), "{body}");
        }
    }

    #[test]
    fn the_version_decides_the_era() {
        let legacy = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
        let id = Some(json!(7));
        for (sent, body, expected) in [
            (&[][..], legacy.to_owned(), Ok((Era::Legacy, json!(7)))),
            (&[("mcp-protocol-version", "2025-06-18")], legacy.to_owned(), Ok((Era::Legacy, json!(7)))),
            (&[("mcp-protocol-version", "2025-11-25")], legacy.to_owned(), Ok((Era::Legacy, json!(7)))),
            (&[("mcp-protocol-version", "2024-11-05")], legacy.to_owned(), Err((400, -32022, id.clone()))),
            (&LIST, legacy.to_owned(), Err((400, -32602, id.clone()))),
            (&LIST, modern("tools/list", ""), Ok((Era::Modern, json!(7)))),
            (&[("mcp-method", "tools/list")], modern("tools/list", ""), Err((400, -32020, id.clone()))),
            (
                &[("mcp-protocol-version", "2025-11-25"), ("mcp-method", "tools/list")],
                modern("tools/list", ""),
                Err((400, -32020, id.clone())),
            ),
            (
                &[("mcp-protocol-version", "2027-01-01"), ("mcp-method", "tools/list")],
                modern("tools/list", "").replace(MODERN, "2027-01-01"),
                Err((400, -32022, id.clone())),
            ),
            (&LIST, modern("tools/list", "").replace(META_CAPABILITIES, "other"), Err((400, -32602, id.clone()))),
            (&LIST, modern("tools/list", "").replace(&format!("\"{MODERN}\""), "5"), Err((400, -32602, id.clone()))),
            (
                &[("mcp-protocol-version", MODERN), ("mcp-protocol-version", MODERN)],
                modern("tools/list", ""),
                Err((400, -32020, id.clone())),
            ),
        ] {
            assert_eq!(outcome(sent, &body), expected, "{sent:?} {body}");
        }
        let (_, error) = read(&headers(&[("mcp-protocol-version", "1900-01-01")]), legacy.as_bytes()).unwrap_err();
        let expected = json!({
            "jsonrpc": "2.0",
            "error": {
                "code": -32022,
                "message": "Unsupported protocol version",
                "data": { "supported": ["2026-07-28", "2025-11-25", "2025-06-18"], "requested": "1900-01-01" },
            },
        });
        assert_eq!(serde_json::from_str::<Value>(&error.body(None)).unwrap(), expected);
    }

    #[test]
    fn headers_must_repeat_method_and_name() {
        let call = modern("tools/call", r#","name":"ListTracks""#);
        let unicode = modern("tools/call", r#","name":"Ünknown""#);
        let refused = Err((400, -32020, Some(json!(7))));
        let served = Ok((Era::Modern, json!(7)));
        for (method, name, body, expected) in [
            (Some("tools/call"), Some("ListTracks"), &call, &served),
            (Some("tools/call"), Some("=?base64?TGlzdFRyYWNrcw==?="), &call, &served),
            (Some("tools/call"), Some("=?base64?w5xua25vd24=?="), &unicode, &served),
            (Some("tools/call"), Some("=?base64?w5xua25vd24?="), &unicode, &refused),
            (Some("tools/call"), Some("=?base64?****?="), &call, &refused),
            (Some("tools/call"), Some("=?BASE64?TGlzdFRyYWNrcw==?="), &call, &refused),
            (Some("tools/call"), Some("listtracks"), &call, &refused),
            (Some("tools/call"), None, &call, &refused),
            (Some("TOOLS/CALL"), Some("ListTracks"), &call, &refused),
            (Some("tools/list"), Some("ListTracks"), &call, &refused),
            (None, Some("ListTracks"), &call, &refused),
        ] {
            let mut sent = vec![("mcp-protocol-version", MODERN)];
            sent.extend(method.map(|method| ("mcp-method", method)));
            sent.extend(name.map(|name| ("mcp-name", name)));
            assert_eq!(&outcome(&sent, body), expected, "{sent:?}");
        }
        let twice = [
            ("mcp-protocol-version", MODERN),
            ("mcp-method", "tools/call"),
            ("mcp-name", "ListTracks"),
            ("mcp-name", "ListTracks"),
        ];
        assert_eq!(outcome(&twice, &call), refused);
        // The legacy era does not have these headers.
        let legacy = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ListTracks"}}"#;
        assert_eq!(outcome(&[("mcp-method", "other"), ("mcp-name", "other")], legacy), Ok((Era::Legacy, json!(7))));
    }
}
