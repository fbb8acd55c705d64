//! Validates every response against `docs/openapi.json`. Undocumented behaviour fails the test that observes it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use crate::app::Response;

/// Committed OpenAPI document. A test compares it with the served one.
pub const COMMITTED: &str = include_str!("../../docs/openapi.json");

/// Path prefix of all operations.
const API_PREFIX: &str = "/api/external/";

/// Path of the document itself, which is not an operation of the API.
pub const OWN_PATH: &str = "/api/external/openapi.json";

/// Paths that lead to the documentation, which are not operations either.
const BEGINNINGS: [&str; 5] =
    ["/api/external/", "/api/external/v1", "/api/external/v1/", "/api/external/v2", "/api/external/v2/"];

/// Headers that are only allowed where the document lists them.
const DOCUMENTED_HEADERS: [&str; 8] = [
    "Retry-After",
    "Idempotent-Replayed",
    "Allow",
    "ETag",
    "Location",
    "RateLimit",
    "RateLimit-Policy",
    "X-Error-Detail",
];

/// Key of the rules between fields, which are alternatives as in `anyOf`. Generators of clients cannot read `anyOf` there.
const RULE: &str = "x-any-of";

/// Key of an additional schema of values that count as absent.
const COUNTS_AS_ABSENT: &str = "x-counts-as-absent";

/// OpenAPI document with compiled validators of its schemas.
pub struct Document {
    pub value: Value,
    responses: BTreeMap<String, Validator>,
    bodies: BTreeMap<String, Validator>,
}

/// The committed document.
pub static DOCUMENT: LazyLock<Document> = LazyLock::new(|| {
    let value: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let schemas = value["components"]["schemas"].as_object().expect("schemas");
    let rules = with_rules(&value["components"]["schemas"]);
    // Requests may have white space around formatted values. Responses must match formats exactly.
    let all = |formats: bool| schemas.keys().map(|name| (name.clone(), validator(&rules, name, formats))).collect();
    Document { responses: all(true), bodies: all(false), value }
});

/// Returns schemas whose rules between fields are keywords of JSON Schema.
fn with_rules(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let named = |(name, value): (&String, &Value)| {
                let name = if name == RULE { "anyOf" } else { name };
                (name.to_owned(), with_rules(value))
            };
            let own: Value = object.iter().filter(|(name, _)| *name != COUNTS_AS_ABSENT).map(named).collect();
            let absent = object.get(COUNTS_AS_ABSENT);
            absent.map_or_else(|| own.clone(), |absent| json!({ "anyOf": [own, absent] }))
        }
        Value::Array(values) => values.iter().map(with_rules).collect(),
        other => other.clone(),
    }
}

/// Compiles the validator of one schema, which may refer to others.
fn validator(schemas: &Value, name: &str, formats: bool) -> Validator {
    let schema = json!({
        "$ref": format!("#/components/schemas/{name}"),
        "components": { "schemas": schemas },
    });
    let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(formats);
    options.build(&schema).unwrap_or_else(|error| panic!("the schema {name}: {error}"))
}

/// Request and its response.
pub struct Exchange<'a> {
    pub method: &'a str,
    /// With the query.
    pub path: &'a str,
    pub body: Option<&'a [u8]>,
    pub response: &'a Response,
}

/// Panics when a response of the API does not match the document.
#[track_caller]
pub fn check(exchange: &Exchange<'_>) {
    if let Err(problem) = DOCUMENT.problem(exchange) {
        let Exchange { method, path, response, .. } = exchange;
        panic!("{method} {path} returned {}, but {problem}\n{}", response.status, response.text());
    }
}

impl Document {
    /// Finds the operation of a method and path, with the path template.
    pub fn operation(&self, method: &str, path: &str) -> Option<(&str, &Value)> {
        // The server handles HEAD like GET, without the body.
        let method = if method == "HEAD" { "GET" } else { method }.to_lowercase();
        let segments: Vec<&str> = path.split('/').collect();
        let paths = self.value["paths"].as_object().expect("paths");
        if let Some((template, methods)) = paths.get_key_value(path) {
            // A path without parameters is not one of a path with parameters.
            return Some((template, methods.get(&method)?));
        }
        let paths = paths.iter();
        let mut paths = paths.filter(|(template, _)| {
            let template: Vec<&str> = template.split('/').collect();
            let fits = |(expected, segment): (&&str, &&str)| expected.starts_with('{') || expected == segment;
            template.len() == segments.len() && template.iter().zip(&segments).all(fits)
        });
        paths.find_map(|(template, methods)| Some((template.as_str(), methods.get(&method)?)))
    }

    /// Resolves a `$ref`. Returns any other value unchanged.
    pub fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        let reference = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        reference.map_or(value, |pointer| self.value.pointer(pointer).expect("a definition"))
    }

    /// Validates a response and the request body that it accepted.
    ///
    /// # Errors
    /// A description of the mismatch.
    pub fn problem(&self, exchange: &Exchange<'_>) -> Result<(), String> {
        let Exchange { method, path, body, response } = exchange;
        let path = path.split('?').next().unwrap_or_default();
        if !path.starts_with(API_PREFIX) || path == OWN_PATH || BEGINNINGS.contains(&path) {
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
            return if replayed && self.takes_key(operation) {
                self.check_saved_response(exchange)
            } else {
                Err(format!("the document has no such status for {method} {template}"))
            };
        };
        self.has_headers(documented, response)?;
        let Some(content) = documented["content"].as_object() else {
            let is_empty = response.bytes.is_empty() && response.header("content-type").is_none();
            return if is_empty { Ok(()) } else { Err("the document has no body there".to_owned()) };
        };
        let (media_type, content) = content.iter().next().expect("one media type");
        if response.header("content-type") != Some(media_type) {
            return Err(format!("it is {:?} and not {media_type}", response.header("content-type")));
        }
        if response.header("idempotent-replayed").is_some() {
            return self.check_saved_response(exchange);
        }
        self.has_body(exchange, name_of(&content["schema"]))?;
        match (body, operation["requestBody"]["content"]["application/json"].get("schema")) {
            (Some([]), _) if response.status < 400 && operation["requestBody"]["required"] == true => {
                Err("the document requires a body".to_owned())
            }
            (Some(body), Some(schema)) if response.status < 400 && !body.is_empty() => {
                let sent: Value = serde_json::from_slice(body).expect("JSON, because it was accepted");
                let errors = errors(&self.bodies[name_of(schema)], &sent);
                if errors.is_empty() { Ok(()) } else { Err(format!("the document does not allow its body: {errors}")) }
            }
            _ => Ok(()),
        }
    }

    /// Whether an operation takes an operation key.
    pub fn takes_key(&self, operation: &Value) -> bool {
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        !body.is_null() && self.resolved(body)["properties"].get("operation_key").is_some()
    }

    /// Validates a replay against all operations with keys, because the first request with the key may have been any
    /// of them.
    fn check_saved_response(&self, exchange: &Exchange<'_>) -> Result<(), String> {
        let paths = self.value["paths"].as_object().expect("paths").values();
        let operations = paths.flat_map(|methods| methods.as_object().expect("methods").values());
        let keyed = operations.filter(|operation| self.takes_key(operation));
        let mut results = keyed
            .filter_map(|operation| operation["responses"].get(exchange.response.status.to_string()))
            .map(|documented| {
                self.has_headers(documented, exchange.response)?;
                self.has_body(exchange, name_of(&documented["content"]["application/json"]["schema"]))
            });
        if results.any(|result| result.is_ok()) { Ok(()) } else { Err("it is not a saved response".to_owned()) }
    }

    /// Checks that documented headers are valid, required ones present and undocumented ones of
    /// [`DOCUMENTED_HEADERS`] absent.
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

    fn has_body(&self, exchange: &Exchange<'_>, schema: &str) -> Result<(), String> {
        let response = exchange.response;
        if exchange.method == "HEAD" {
            return if response.bytes.is_empty() { Ok(()) } else { Err("a response to HEAD has no body".to_owned()) };
        }
        let body: Value =
            serde_json::from_slice(&response.bytes).map_err(|error| format!("it is not JSON: {error}"))?;
        let errors = errors(&self.responses[schema], &body);
        if errors.is_empty() { Ok(()) } else { Err(format!("it is not a valid {schema}: {errors}")) }
    }

    /// Returns the errors of a request body against a schema; empty when it is valid.
    pub fn errors_of_body(&self, schema: &str, body: &Value) -> String {
        errors(&self.bodies[schema], body)
    }
}

fn errors(validator: &Validator, value: &Value) -> String {
    let errors = validator.iter_errors(value).map(|error| format!("{} (at `{}`)", error, error.instance_path()));
    errors.collect::<Vec<_>>().join("; ")
}

/// Returns the name of the referenced schema.
pub fn name_of(schema: &Value) -> &str {
    let name = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/components/schemas/"));
    name.unwrap_or_else(|| panic!("{schema} refers to no schema"))
}
