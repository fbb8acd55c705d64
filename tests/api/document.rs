//! Holds every answer against `docs/openapi.json`: what the document does not say, no test may see.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use crate::app::Response;

/// The document as it is committed. A test compares it with the one that is served.
pub const COMMITTED: &str = include_str!("../../docs/openapi.json");

/// What operations are below.
const API_PREFIX: &str = "/api/external/";

/// The document's own path, which is beside the API.
pub const OWN_PATH: &str = "/api/external/openapi.json";

/// Headers that an answer must not have unless the document says so.
const DOCUMENTED_HEADERS: [&str; 7] =
    ["Retry-After", "Idempotent-Replayed", "Allow", "ETag", "Location", "RateLimit", "RateLimit-Policy"];

/// The document and its shapes, ready to check.
pub struct Document {
    pub value: Value,
    responses: BTreeMap<String, Validator>,
    bodies: BTreeMap<String, Validator>,
}

/// The committed document.
pub static DOCUMENT: LazyLock<Document> = LazyLock::new(|| {
    let value: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let shapes = value["components"]["schemas"].as_object().expect("shapes");
    // A body may have white space around what must have a form; an answer has it to the letter.
    let all = |formats: bool| shapes.keys().map(|name| (name.clone(), validator(&value, name, formats))).collect();
    Document { responses: all(true), bodies: all(false), value }
});

/// Checks a value against one shape of the document, which may refer to the others.
fn validator(document: &Value, name: &str, formats: bool) -> Validator {
    let schema = json!({
        "$ref": format!("#/components/schemas/{name}"),
        "components": { "schemas": document["components"]["schemas"] },
    });
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(formats);
    options.build(&schema).unwrap_or_else(|error| panic!("the shape {name}: {error}"))
}

/// A call and its answer.
pub struct Exchange<'a> {
    pub method: &'a str,
    /// With the query.
    pub path: &'a str,
    pub body: Option<&'a [u8]>,
    pub response: &'a Response,
}

/// Fails the test when an answer of the API is not as the document says.
#[track_caller]
pub fn check(exchange: &Exchange<'_>) {
    if let Err(problem) = DOCUMENT.problem(exchange) {
        let Exchange { method, path, response, .. } = exchange;
        panic!("{method} {path} is answered with {}, but {problem}\n{}", response.status, response.text());
    }
}

impl Document {
    /// The operation of a method and a path, with the path as the document writes it.
    pub fn operation(&self, method: &str, path: &str) -> Option<(&str, &Value)> {
        // The server answers HEAD as GET, without the body.
        let method = if method == "HEAD" { "GET" } else { method }.to_lowercase();
        let segments: Vec<&str> = path.split('/').collect();
        let paths = self.value["paths"].as_object().expect("paths").iter();
        let mut paths = paths.filter(|(template, _)| {
            let template: Vec<&str> = template.split('/').collect();
            let fits = |(expected, segment): (&&str, &&str)| expected.starts_with('{') || expected == segment;
            template.len() == segments.len() && template.iter().zip(&segments).all(fits)
        });
        paths.find_map(|(template, methods)| Some((template.as_str(), methods.get(&method)?)))
    }

    /// What a reference leads to; anything else leads to itself.
    pub fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        let reference = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        reference.map_or(value, |pointer| self.value.pointer(pointer).expect("what is referred to"))
    }

    /// What is wrong with an answer, in the document's words.
    ///
    /// # Errors
    /// What is not as the document says.
    pub fn problem(&self, exchange: &Exchange<'_>) -> Result<(), String> {
        let Exchange { method, path, body, response } = exchange;
        let path = path.split('?').next().unwrap_or_default();
        if !path.starts_with(API_PREFIX) || path == OWN_PATH {
            return Ok(());
        }
        let Some((template, operation)) = self.operation(method, path) else {
            return if response.status < 400 {
                Err("the document has no such operation".to_owned())
            } else {
                self.has_body(exchange, "Error")
            };
        };
        let status = response.status.to_string();
        let Some(documented) = operation["responses"].get(&status).map(|documented| self.resolved(documented)) else {
            let replayed = response.header("idempotent-replayed").is_some();
            return if replayed && operation["responses"].get("409").is_some() {
                self.check_saved_response(exchange)
            } else {
                Err(format!("the document has no such status for {method} {template}"))
            };
        };
        self.has_headers(documented, response)?;
        let content = documented["content"].as_object().expect("a content");
        let (media_type, content) = content.iter().next().expect("one media type");
        if response.header("content-type") != Some(media_type) {
            return Err(format!("it is {:?} and not {media_type}", response.header("content-type")));
        }
        if response.header("idempotent-replayed").is_some() {
            return self.check_saved_response(exchange);
        }
        self.has_body(exchange, name_of(&content["schema"]))?;
        match (body, operation["requestBody"]["content"]["application/json"].get("schema")) {
            (Some(body), Some(schema)) if response.status < 400 => {
                let sent: Value = serde_json::from_slice(body).expect("JSON, because it was taken");
                let errors = errors(&self.bodies[name_of(schema)], &sent);
                if errors.is_empty() { Ok(()) } else { Err(format!("the document does not allow its body: {errors}")) }
            }
            _ => Ok(()),
        }
    }

    /// A saved answer is that of whichever call was made first with the key.
    fn check_saved_response(&self, exchange: &Exchange<'_>) -> Result<(), String> {
        let paths = self.value["paths"].as_object().expect("paths").values();
        let operations = paths.flat_map(|methods| methods.as_object().expect("methods").values());
        let keyed = operations.filter(|operation| operation["responses"].get("409").is_some());
        let mut shapes = keyed
            .filter_map(|operation| operation["responses"].get(exchange.response.status.to_string()))
            .map(|documented| {
                self.has_headers(documented, exchange.response)?;
                self.has_body(exchange, name_of(&documented["content"]["application/json"]["schema"]))
            });
        if shapes.any(|shape| shape.is_ok()) { Ok(()) } else { Err("it is no answer that is saved".to_owned()) }
    }

    /// The headers are those of the response, and none of those that must be told is there beside them.
    fn has_headers(&self, documented: &Value, response: &Response) -> Result<(), String> {
        let headers = documented["headers"].as_object().expect("headers");
        for (name, header) in headers {
            let header = self.resolved(header);
            let Some(value) = response.header(name) else {
                if header["required"] == true {
                    return Err(format!("it has no header {name}"));
                }
                continue;
            };
            let validator = jsonschema::validator_for(&header["schema"]).expect("a schema");
            let errors = errors(&validator, &value.into());
            if !errors.is_empty() {
                return Err(format!("its header {name} is wrong: {errors}"));
            }
        }
        match DOCUMENTED_HEADERS.iter().find(|name| response.header(name).is_some() && !headers.contains_key(**name)) {
            Some(name) => Err(format!("the document has no header {name} there")),
            None => Ok(()),
        }
    }

    fn has_body(&self, exchange: &Exchange<'_>, shape: &str) -> Result<(), String> {
        let response = exchange.response;
        if exchange.method == "HEAD" {
            return if response.bytes.is_empty() { Ok(()) } else { Err("an answer to HEAD has no body".to_owned()) };
        }
        let body: Value = serde_json::from_slice(&response.bytes).map_err(|error| format!("it is no JSON: {error}"))?;
        let errors = errors(&self.responses[shape], &body);
        if errors.is_empty() { Ok(()) } else { Err(format!("it is no {shape}: {errors}")) }
    }

    /// What keeps a value from being what is sent as a shape.
    pub fn errors_of_body(&self, shape: &str, body: &Value) -> String {
        errors(&self.bodies[shape], body)
    }
}

fn errors(validator: &Validator, value: &Value) -> String {
    let errors = validator.iter_errors(value).map(|error| format!("{} (at `{}`)", error, error.instance_path()));
    errors.collect::<Vec<_>>().join("; ")
}

/// The name of the shape that is referred to.
pub fn name_of(schema: &Value) -> &str {
    let name = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/components/schemas/"));
    name.unwrap_or_else(|| panic!("{schema} refers to no shape"))
}
