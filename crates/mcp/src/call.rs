//! Converts a call of a tool into the request of its operation.

use actix_web::http::Method;
use actix_web::web::Bytes;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use roadmap_domain::error::FieldError;
use serde_json::{Map, Value};

use crate::registry::{BodyKind, MAX_BASE64, Place, Tool};
use crate::schema::unknown_fields;

/// What is escaped in paths and queries. A dot is escaped, too, so that no segment is `.` or `..`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// A request of the API.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ApiCall {
    pub(crate) method: Method,
    /// The path and the query.
    pub(crate) target: String,
    /// The media type and the content of the body.
    pub(crate) body: Option<(String, Bytes)>,
}

impl ApiCall {
    /// Returns a request without a body.
    pub(crate) fn get(target: String) -> Self {
        Self { method: Method::GET, target, body: None }
    }
}

/// Arguments that no request of the operation can have. The sentence tells a model what to change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidArguments(pub(crate) String);

/// Longest path and query of a request, in bytes. A little less than the library takes.
pub(crate) const MAX_TARGET: usize = 65_000;

/// Converts the arguments of a tool into the request of its operation. The operation itself validates the values.
pub(crate) fn request(tool: &Tool, arguments: Map<String, Value>) -> Result<ApiCall, InvalidArguments> {
    let arguments = Value::from(arguments);
    let mut unknown = Vec::new();
    unknown_fields(&tool.input, &arguments, "", &mut unknown);
    if !unknown.is_empty() {
        return Err(InvalidArguments(unknown_arguments(tool, &unknown)));
    }
    let Value::Object(mut arguments) = arguments else { return Err(InvalidArguments(String::new())) };
    let mut target = tool.path.clone();
    let mut query = String::new();
    let (mut body, mut wrapped) = (Map::new(), Map::new());
    for (name, place) in &tool.arguments {
        let value = arguments.remove(name);
        match (place, value) {
            (Place::Path, value) => {
                let id = value.as_ref().map(|value| scalar(name, value)).transpose()?.flatten();
                let id = escape(&id.filter(|id| !id.is_empty()).ok_or_else(|| missing(name))?);
                target = ["{id}", "{name}"].iter().fold(target, |target, parameter| target.replace(parameter, &id));
            }
            (_, None) => {}
            (Place::Query, Some(value)) => {
                if let Some(value) = scalar(name, &value)? {
                    let separator = if query.is_empty() { '?' } else { '&' };
                    query.push_str(&format!("{separator}{name}={}", escape(&value)));
                }
            }
            (Place::Body, Some(value)) => drop(body.insert(name.clone(), value)),
            (Place::Wrapped, Some(value)) => drop(wrapped.insert(name.clone(), value)),
        }
    }
    let body = match &tool.body {
        BodyKind::None => None,
        BodyKind::Json { wrapper } => {
            if let Some(wrapper) = wrapper {
                body.insert(wrapper.clone(), wrapped.into());
            }
            Some(("application/json".to_owned(), Value::from(body).to_string().into()))
        }
        BodyKind::Upload => Some(upload(&body)?),
    };
    let target = target + &query;
    if target.len() > MAX_TARGET {
        return Err(InvalidArguments(format!("the arguments of {} are too long", tool.name)));
    }
    Ok(ApiCall { method: tool.method.clone(), target, body })
}

fn unknown_arguments(tool: &Tool, unknown: &[String]) -> String {
    let known: Vec<&str> = tool.arguments.iter().map(|(name, _)| name.as_str()).collect();
    let known = if known.is_empty() { "no arguments".to_owned() } else { known.join(", ") };
    let (names, rest) = unknown.split_at(unknown.len().min(5));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let plural = if unknown.len() == 1 { "argument" } else { "arguments" };
    // A name comes from the client and may be long.
    let names: Vec<String> = names.iter().map(|name| name.chars().take(60).collect()).collect();
    format!("unknown {plural} {}{more}; {} takes {known}", names.join(", "), tool.name)
}

fn missing(name: &str) -> InvalidArguments {
    InvalidArguments(FieldError::missing(name).to_string())
}

/// Returns an argument of the path or the query as text. Null is the same as a missing one.
fn scalar(name: &str, value: &Value) -> Result<Option<String>, InvalidArguments> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Bool(_) | Value::Number(_) => Ok(Some(value.to_string())),
        Value::Array(_) | Value::Object(_) => Err(InvalidArguments(format!("{name} must be a string or a number"))),
    }
}

/// Escapes a text for a path or a query.
pub(crate) fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// Returns the form of an upload (RFC 7578).
fn upload(fields: &Map<String, Value>) -> Result<(String, Bytes), InvalidArguments> {
    let text = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Err(missing(name)),
        Some(Value::String(text)) if text.is_empty() => Err(missing(name)),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(InvalidArguments(format!("{name} must be a string"))),
    };
    let (filename, encoded) = (text("filename")?, text("content_base64")?);
    let media_type = match fields.get("content_type") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(declared)) if declared.bytes().all(|byte| byte.is_ascii_graphic()) => {
            format!("\r\nContent-Type: {declared}")
        }
        Some(_) => return Err(InvalidArguments("content_type must be a media type such as image/png".to_owned())),
    };
    if encoded.len() > MAX_BASE64 {
        let problem = format!(
            "content_base64 must be at most {MAX_BASE64} characters long; send a larger file to \
             POST /api/external/v2/attachments as multipart/form-data"
        );
        return Err(InvalidArguments(problem));
    }
    let decoded = STANDARD.decode(encoded);
    let content = decoded.map_err(|_| InvalidArguments("content_base64 is not valid Base64 (RFC 4648)".to_owned()))?;
    let boundary = boundary(&content);
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename*=UTF-8''{}{media_type}\r\n\r\n",
        escape(filename)
    );
    let form = [head.as_bytes(), &content, format!("\r\n--{boundary}--\r\n").as_bytes()].concat();
    Ok((format!("multipart/form-data; boundary={boundary}"), form.into()))
}

/// Returns a boundary that does not occur in the content.
fn boundary(content: &[u8]) -> String {
    let occurs = |boundary: &str| content.windows(boundary.len()).any(|window| window == boundary.as_bytes());
    let candidates = (0..u32::MAX).map(|number| format!("roadmap-file-{number}"));
    // Content of 512 KB cannot have all of these numbers.
    candidates.into_iter().find(|boundary| !occurs(boundary)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::find;
    use serde_json::json;

    fn call(tool: &str, arguments: Value) -> Result<ApiCall, String> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        request(find(tool).unwrap(), arguments).map_err(|InvalidArguments(problem)| problem)
    }

    fn body(call: &ApiCall) -> Value {
        let (media_type, body) = call.body.as_ref().unwrap();
        assert_eq!(media_type, "application/json");
        serde_json::from_slice(body).unwrap()
    }

    #[test]
    fn arguments_that_fit_in_no_address_are_refused() {
        // Each of these letters takes six bytes.
        for (length, is_taken) in [(10_000, true), (11_000, false)] {
            let outcome = call("SearchFeatureRequests", json!({ "query": "ع".repeat(length) }));
            let expected = "the arguments of SearchFeatureRequests are too long";
            assert_eq!(outcome.err(), (!is_taken).then(|| expected.to_owned()));
        }
    }

    #[test]
    fn arguments_go_to_path_and_query() {
        for (tool, arguments, method, target) in [
            ("ListTracks", json!({}), Method::GET, "v1/tracks"),
            (
                "ListVoters",
                json!({ "feature_request_id": "12-dark-mode", "page": 2 }),
                Method::GET,
                "v1/feature_requests/12-dark-mode/voters?page=2",
            ),
            (
                "ListVoters",
                json!({ "feature_request_id": 12, "page": null }),
                Method::GET,
                "v1/feature_requests/12/voters",
            ),
            (
                "ShowFeatureRequest",
                json!({ "feature_request_id": "../lanes?x=1" }),
                Method::GET,
                "v1/feature_requests/%2E%2E%2Flanes%3Fx%3D1",
            ),
            (
                "SearchFeatureRequests",
                json!({ "query": "ä & b", "per_page": "3" }),
                Method::GET,
                "v1/feature_requests?query=%C3%A4%20%26%20b&per_page=3",
            ),
            (
                "DeleteFeatureRequest",
                json!({ "feature_request_id": "1", "with_merged": true }),
                Method::DELETE,
                "v1/feature_requests/1?with_merged=true",
            ),
        ] {
            let target = format!("/api/external/{target}");
            assert_eq!(call(tool, arguments), Ok(ApiCall { method, target, body: None }), "{tool}");
        }
    }

    #[test]
    fn fields_go_into_the_body_and_its_wrapper() {
        let comment = call(
            "CreateComment",
            json!({ "feature_request_id": "1", "content": "Soon", "operation_key": "k", "customer": { "email": "a@example.com" } }),
        );
        let comment = comment.unwrap();
        assert_eq!(
            (&comment.method, comment.target.as_str()),
            (&Method::POST, "/api/external/v1/feature_requests/1/comments")
        );
        let expected = json!({
            "comment": { "content": "Soon" },
            "operation_key": "k",
            "customer": { "email": "a@example.com" },
        });
        assert_eq!(body(&comment), expected);
        assert_eq!(body(&call("CreateTrack", json!({})).unwrap()), json!({ "track": {} }));
        assert_eq!(
            body(&call("ReplaceSynonyms", json!({ "synonyms": [["a", "b"]] })).unwrap()),
            json!({ "synonyms": [["a", "b"]] })
        );
        let renamed = call("UpdateTag", json!({ "tag_name": "a/b {id}", "name": "c" })).unwrap();
        assert_eq!(
            (renamed.target.as_str(), body(&renamed)),
            ("/api/external/v1/tags/a%2Fb%20%7Bid%7D", json!({ "tag": { "name": "c" } }))
        );
        let published = call("PublishChangelog", json!({ "changelog_id": "x" })).unwrap();
        assert_eq!((published.target.as_str(), body(&published)), ("/api/external/v1/changelogs/x/publish", json!({})));
        let emptied = call("UpdateChangelog", json!({ "changelog_id": "x", "cover_image_signed_id": null })).unwrap();
        assert_eq!(body(&emptied), json!({ "changelog": { "cover_image_signed_id": null } }));
    }

    #[test]
    fn arguments_that_do_not_exist_are_refused_by_name() {
        for (tool, arguments, problem) in [
            ("ListTracks", json!({ "x": 1 }), "unknown argument x; ListTracks takes no arguments"),
            (
                "ListVotes",
                json!({ "e-mail": "a", "mail": "b" }),
                "unknown arguments e-mail, mail; ListVotes takes email, page, page_size, cursor",
            ),
            (
                "AddVoter",
                json!({ "feature_request_id": "1", "customer": { "mail": "a" } }),
                "unknown argument customer.mail; AddVoter takes feature_request_id, customer, operation_key, reference_note",
            ),
            (
                "UpdateSetting",
                json!({ "setting": {} }),
                "unknown argument setting; UpdateSetting takes product_name, website_url",
            ),
        ] {
            assert_eq!(call(tool, arguments).unwrap_err(), problem);
        }
        let many: Value = (0..9).map(|number| (format!("x{number}"), json!(1))).collect();
        let problem = call("ListTracks", many).unwrap_err();
        assert_eq!(problem, "unknown arguments x0, x1, x2, x3, x4 and 4 more; ListTracks takes no arguments");
        let long = call("ListTracks", json!({ "x".repeat(100_000): 1 })).unwrap_err();
        assert!(long.len() < 200, "{}", long.len());
    }

    #[test]
    fn arguments_that_no_request_can_have_are_refused() {
        let missing = "param is missing or the value is empty or invalid: feature_request_id";
        for (tool, arguments, problem) in [
            ("ShowFeatureRequest", json!({}), missing),
            ("ShowFeatureRequest", json!({ "feature_request_id": null }), missing),
            ("ShowFeatureRequest", json!({ "feature_request_id": "" }), missing),
            (
                "ShowFeatureRequest",
                json!({ "feature_request_id": ["1"] }),
                "feature_request_id must be a string or a number",
            ),
            ("ListVotes", json!({ "email": {} }), "email must be a string or a number"),
        ] {
            assert_eq!(call(tool, arguments).unwrap_err(), problem);
        }
    }

    #[test]
    fn a_file_becomes_a_form() {
        let (media_type, form) =
            call("UploadAttachment", json!({ "filename": "a \"ü\".png", "content_base64": "aGk=" }))
                .unwrap()
                .body
                .unwrap();
        assert_eq!(media_type, "multipart/form-data; boundary=roadmap-file-0");
        let expected = "--roadmap-file-0\r\nContent-Disposition: form-data; name=\"file\"; \
                        filename*=UTF-8''a%20%22%C3%BC%22%2Epng\r\n\r\nhi\r\n--roadmap-file-0--\r\n";
        assert_eq!(form, expected.as_bytes());
        let with_type = json!({ "filename": "a", "content_base64": "aGk=", "content_type": "text/plain" });
        let (_, form) = call("UploadAttachment", with_type).unwrap().body.unwrap();
        assert!(String::from_utf8_lossy(&form).contains("UTF-8''a\r\nContent-Type: text/plain\r\n\r\nhi\r\n"));
        assert_eq!(boundary(b"x roadmap-file-0 roadmap-file-1"), "roadmap-file-2");
        let missing = |name: &str| format!("param is missing or the value is empty or invalid: {name}");
        for (arguments, problem) in [
            (json!({}), missing("filename")),
            (json!({ "filename": "a", "content_base64": "" }), missing("content_base64")),
            (json!({ "filename": 5, "content_base64": "aGk=" }), "filename must be a string".to_owned()),
            (
                json!({ "filename": "a", "content_base64": "aGk=", "content_type": "a\r\nb" }),
                "content_type must be a media type such as image/png".to_owned(),
            ),
            (
                json!({ "filename": "a", "content_base64": "a b" }),
                "content_base64 is not valid Base64 (RFC 4648)".to_owned(),
            ),
        ] {
            assert_eq!(call("UploadAttachment", arguments).unwrap_err(), problem);
        }
        let large = call("UploadAttachment", json!({ "filename": "a", "content_base64": "A".repeat(MAX_BASE64 + 1) }));
        assert!(large.unwrap_err().starts_with("content_base64 must be at most 700000 characters long; "));
        assert!(call("UploadAttachment", json!({ "filename": "a", "content_base64": "A".repeat(MAX_BASE64) })).is_ok());
    }
}
