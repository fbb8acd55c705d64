//! The OpenAPI 3.1 document of the external API, generated from the code that serves it.
//!
//! Schemas are derived on the structs of `wire` and on the bodies of `v1`, operations on the handlers that `routes.rs`
//! lists. This module assembles them and adds what all operations share: headers, operation keys, and
//! `additionalProperties: false` in responses.

pub(crate) mod failures;
pub(crate) mod fields;

use std::sync::LazyLock;

use roadmap_domain::model::operation_key::OperationKey;
use serde_json::{Map, Value, json};
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Assembled;

use crate::extractors::IDEMPOTENCY_KEY;
use crate::routes;
use crate::wire::event;

/// The document without operations.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Roadmap",
        description = "Product feedback and roadmap: feature requests, votes, comments, tracks, changelogs and \
            files of one workspace.\n\nThe host selects the workspace, and the key must be one of its keys. An unknown \
            path gets 404, a method that a path does not support gets 405 with `Allow`, and a missing or invalid key \
            gets 401 before both. `HEAD` works wherever `GET` does. Unknown fields and parameters are ignored, except for \
            parameters of a search without `query`.",
        version = "2",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    servers((url = "/", description = "The host of the workspace")),
    components(schemas(crate::error::ErrorBody)),
    tags(
        (name = "Feature requests", description = "Feature requests of customers."),
        (name = "Votes", description = "Votes of customers for feature requests."),
        (name = "Subscriptions", description = "Mail to customers about feature requests."),
        (name = "Comments", description = "Public comments of the team and of customers on feature requests."),
        (name = "Reference notes", description = "Private notes of the team on feature requests."),
        (name = "Links", description = "Links of feature requests to what the team builds for them."),
        (name = "Tags", description = "Tags of feature requests."),
        (name = "Tracks", description = "States of feature requests in the team's workflow."),
        (name = "Roadmap", description = "The public roadmap and its lanes."),
        (name = "Changelogs", description = "Announcements of the team."),
        (name = "People", description = "Customers and team members."),
        (name = "Moderation", description = "Feature requests and comments on the portal that wait for approval."),
        (name = "Settings", description = "Settings of the workspace, the key and the audit log."),
        (name = "Webhooks", description = "Where events are sent, and what became of them."),
        (name = "Files", description = "Uploads of files."),
        (name = "Imports", description = "Records of other programs."),
    ),
)]
struct Base;

/// Returns the published document: formatted JSON in a stable order.
#[must_use]
pub fn document() -> &'static str {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| format!("{:#}\n", document_json()));
    &DOCUMENT
}

/// Returns the document as a JSON value.
#[must_use]
pub fn document_json() -> Value {
    let mut derived = Base::openapi();
    routes::operations().into_iter().for_each(|operation| derived.merge((operation.document)()));
    assemble(&derived)
}

fn assemble(derived: &Assembled) -> Value {
    // Serializing plain structs and maps with string keys to memory cannot fail.
    let mut document = serde_json::to_value(derived).unwrap_or_default();
    let derived = document.as_object_mut().and_then(|document| document.remove("components")).unwrap_or_default();
    let schemas = derived.get("schemas").and_then(Value::as_object).cloned().unwrap_or_default();
    let (webhooks, of_events) = event::documented();
    if let Some(document) = document.as_object_mut() {
        document.insert("webhooks".to_owned(), webhooks);
    }
    let of_events =
        of_events.into_iter().map(|(name, schema)| (name, serde_json::to_value(schema).unwrap_or_default()));
    let schemas: Map<String, Value> = schemas.into_iter().chain(of_events).collect();
    let mut schemas: Map<String, Value> =
        schemas.iter().map(|(name, schema)| (name.clone(), flatten_all_of(schema, &schemas))).collect();
    for operation in operations(&mut document) {
        complete_operation(operation, &mut schemas);
    }
    forbid_additional_properties("Error", &mut schemas);
    for (name, words, key, rule) in fields::rules() {
        if let Some(schema) = schemas.get_mut(name).and_then(Value::as_object_mut) {
            schema.insert("description".to_owned(), words.into());
            schema.insert(key.to_owned(), rule);
        }
    }
    let used = format!("{document}{}", Value::from(schemas.clone()));
    schemas.retain(|name, _| name == "Error" || used.contains(&format!("\"#/components/schemas/{name}\"")));
    let components = json!({
        "headers": {
            "CacheControl": {
                "description": "Responses must not be cached.",
                "required": true,
                "schema": { "type": "string", "const": "no-store" },
            },
            "RequestId": {
                "description": "The id of the request: the one that the client sent, or a new one.",
                "required": true,
                "schema": { "type": "string", "minLength": 1, "maxLength": 128 },
            },
            "ErrorDetail": {
                "description": "Why the body is not valid, with line and column.",
                "schema": { "type": "string" },
            },
            "RateLimit": {
                "description": "The status of each limit: how many requests remain (`r`) and, unless all of them \
                    remain, the maximum number of seconds until one more is available (`t`).",
                "schema": { "type": "string" },
            },
            "RateLimitPolicy": {
                "description": "The limits of the key (`default`) and of the workspace: requests (`q`) per number of \
                    seconds (`w`).",
                "schema": { "type": "string" },
            },
            "Replayed": {
                "description": "Present if this is the saved response of an earlier request with the same operation \
                    key, of whichever operation.",
                "schema": { "type": "string", "const": "true" },
            },
            "RetryAfter": {
                "description": "Seconds after which the request may be retried.",
                "required": true,
                "schema": { "type": "string", "pattern": "^[0-9]+$" },
            },
            "RetryAfterIfSafe": {
                "description": "Seconds after which the request may be retried. Absent if a retry may take effect \
                    twice or fails again.",
                "schema": { "type": "string", "pattern": "^[0-9]+$" },
            },
        },
        "parameters": {
            "IdempotencyKey": {
                "name": IDEMPOTENCY_KEY,
                "in": "header",
                "description": "The same as `operation_key` in the body, for clients that send it as a header. If both \
                    are sent, they must be equal.",
                "schema": { "type": "string", "maxLength": OperationKey::MAX },
            },
            "RequestId": {
                "name": "X-Request-Id",
                "in": "header",
                "description": "Id of the request, for its response and the log, if it is 1 to 128 visible ASCII \
                    characters.",
                "schema": { "type": "string" },
            },
        },
        "responses": failures::responses(),
        "schemas": schemas,
        "securitySchemes": {
            "ApiKey": {
                "type": "apiKey",
                "in": "header",
                "name": "X-Api-Key",
                "description": "A key of the workspace, `rmk_` and 49 more characters. Its scopes are any of read, \
                    write and manage.",
            },
            "Bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "The same key, sent in `Authorization` instead. If both headers are sent, their keys \
                    must be equal.",
            },
        },
    });
    if let Some(document) = document.as_object_mut() {
        document.insert("components".to_owned(), components);
        document.insert("security".to_owned(), json!([{ "ApiKey": [] }, { "Bearer": [] }]));
    }
    document
}

/// Returns all operations of a document.
fn operations(document: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    let methods = paths.into_iter().flatten().filter_map(|(_, path)| path.as_object_mut()).flatten();
    methods.filter_map(|(_, operation)| operation.as_object_mut())
}

/// Adds the parts that operations share.
fn complete_operation(operation: &mut Map<String, Value>, schemas: &mut Map<String, Value>) {
    let conflict = operation.get("responses").and_then(|responses| responses.get("409"));
    let takes_key = conflict.is_some_and(failures::is_of_operation_key);
    let parameters = operation.entry("parameters").or_insert_with(|| json!([]));
    if let Some(parameters) = parameters.as_array_mut() {
        let shared = [Some("RequestId"), takes_key.then_some("IdempotencyKey")].into_iter().flatten();
        parameters.extend(shared.map(|name| json!({ "$ref": format!("#/components/parameters/{name}") })));
    }
    let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else { return };
    for (_, response) in responses.iter_mut().filter(|(status, _)| status.starts_with('2')) {
        if let Some(shape) = schema_of(response) {
            forbid_additional_properties(shape, schemas);
        }
        let mut headers = common_response_headers();
        if takes_key {
            headers.insert("Idempotent-Replayed".to_owned(), header("Replayed"));
        }
        if let Some(response) = response.as_object_mut() {
            response.insert("headers".to_owned(), headers.into());
        }
    }
    if let Some(body) = operation.get_mut("requestBody") {
        describe_optional_body(body);
    }
    let body = operation.get("requestBody").and_then(schema_of).map(str::to_owned);
    let schema = body.filter(|_| takes_key).and_then(|name| schemas.get_mut(&name)).and_then(Value::as_object_mut);
    let properties = schema.map(|schema| schema.entry("properties").or_insert_with(|| json!({})));
    if let Some(properties) = properties.and_then(Value::as_object_mut) {
        properties.insert(OperationKey::FIELD.to_owned(), json!(fields::operation_key()));
    }
}

/// Describes a body that can be left out, which utoipa describes as one that can be null.
fn describe_optional_body(body: &mut Value) {
    let schema = body.pointer("/content/application~1json/schema/oneOf/0").cloned();
    if let (Some(schema), Some(described)) = (schema, body.pointer_mut("/content/application~1json/schema")) {
        *described = schema;
        body["required"] = false.into();
    }
}

/// Returns the name of the schema of a JSON body.
fn schema_of(body: &Value) -> Option<&str> {
    body.pointer("/content/application~1json/schema").and_then(schema_name)
}

/// Returns the name of the referenced schema.
fn schema_name(reference: &Value) -> Option<&str> {
    reference.get("$ref")?.as_str()?.strip_prefix("#/components/schemas/")
}

/// Merges the parts of an `allOf` into a single object schema, as they are serialized.
fn flatten_all_of(schema: &Value, schemas: &Map<String, Value>) -> Value {
    let Some(parts) = schema.get("allOf").and_then(Value::as_array) else { return schema.clone() };
    let (mut required, mut properties) = (Vec::new(), Map::new());
    for part in parts {
        let part = schema_name(part).and_then(|name| schemas.get(name)).unwrap_or(part);
        let part = flatten_all_of(part, schemas);
        required.extend(part.get("required").and_then(Value::as_array).into_iter().flatten().cloned());
        properties.extend(part.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
    }
    let mut whole = json!({ "type": "object", "required": required, "properties": properties });
    if let (Some(whole), Some(description)) = (whole.as_object_mut(), schema.get("description")) {
        whole.insert("description".to_owned(), description.clone());
    }
    whole
}

/// Adds `additionalProperties: false` to a response schema and to all schemas that it references.
fn forbid_additional_properties(name: &str, schemas: &mut Map<String, Value>) {
    let Some(mut schema) = schemas.remove(name) else { return };
    let mut inner = Vec::new();
    forbid_additional_properties_in(&mut schema, &mut inner);
    schemas.insert(name.to_owned(), schema);
    inner.iter().for_each(|name| forbid_additional_properties(name, schemas));
}

fn forbid_additional_properties_in(schema: &mut Value, inner: &mut Vec<String>) {
    if let Some(name) = schema_name(schema) {
        inner.push(name.to_owned());
    }
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") {
                object.insert("additionalProperties".to_owned(), false.into());
            }
            object.iter_mut().for_each(|(_, value)| forbid_additional_properties_in(value, inner));
        }
        // Alternatives such as `oneOf`.
        Value::Array(values) => values.iter_mut().for_each(|value| forbid_additional_properties_in(value, inner)),
        _ => {}
    }
}

/// Returns a reference to a header.
fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

fn common_response_headers() -> Map<String, Value> {
    let optional = [("RateLimit", "RateLimit"), ("RateLimit-Policy", "RateLimitPolicy")];
    [("X-Request-Id", "RequestId"), ("Cache-Control", "CacheControl")]
        .into_iter()
        .chain(optional)
        .map(|(name, component)| (name.to_owned(), header(component)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the schemas of a request, with all that it refers to, and the places of what client generators cannot
    /// read in them.
    fn unusable_in_requests(document: &Value) -> Vec<String> {
        let mut places = Vec::new();
        let mut schemas: Vec<(String, &Value)> = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                for (media_type, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
                    schemas.push((format!("{method} {path} {media_type}"), &content["schema"]));
                }
            }
        }
        assert!(schemas.len() > 20);
        let mut seen = std::collections::BTreeSet::new();
        while let Some((place, schema)) = schemas.pop() {
            if let Some(name) = schema_name(schema) {
                if seen.insert(name) {
                    schemas.push((name.to_owned(), &document["components"]["schemas"][name]));
                }
                continue;
            }
            let is_object = schema.get("properties").is_some() || !place.contains('.');
            for keyword in ["anyOf", "oneOf", "allOf", "not", "if", "dependentSchemas", "dependentRequired"] {
                let is_top_level = is_object && schema.get(keyword).is_some();
                places.extend(is_top_level.then(|| format!("{place}: {keyword}")));
            }
            places.extend(schema.get("default").map(|_| format!("{place}: default")));
            let alternatives = ["anyOf", "oneOf", "allOf"].map(|keyword| schema[keyword].as_array());
            schemas.extend(alternatives.into_iter().flatten().flatten().map(|part| (format!("{place}."), part)));
            schemas.extend(schema.get("items").map(|items| (format!("{place}[]."), items)));
            let properties = schema["properties"].as_object().into_iter().flatten();
            schemas.extend(properties.map(|(name, property)| (format!("{place}.{name}"), property)));
        }
        places
    }

    /// Beyond the contract: generators of clients can read the document, and the clients work
    /// (`cargo xtask test-clients`).
    #[test]
    fn client_generators_can_read_all_request_bodies() {
        assert_eq!(unusable_in_requests(&document_json()), Vec::<String>::new());
        // What several generators fail at, or make a required field of.
        for (schema, changed, expected) in [
            ("CreateUpvote", json!({ "anyOf": [{ "required": ["customer"] }] }), "CreateUpvote: anyOf"),
            ("Customer", json!({ "allOf": [] }), "Customer: allOf"),
            ("NoFields", json!({ "oneOf": [] }), "NoFields: oneOf"),
        ] {
            let mut document = document_json();
            document["components"]["schemas"][schema]
                .as_object_mut()
                .unwrap()
                .extend(changed.as_object().unwrap().clone());
            assert_eq!(unusable_in_requests(&document), [expected]);
        }
        let mut document = document_json();
        document["components"]["schemas"]["NewFeatureRequest"]["properties"]["private"]["default"] = false.into();
        assert_eq!(unusable_in_requests(&document), ["NewFeatureRequest.private: default"]);
    }

    /// Beyond the contract.
    #[test]
    fn rules_between_fields_are_in_words_and_for_programs() {
        let schemas = document_json()["components"]["schemas"].as_object().unwrap().clone();
        for (name, words, key, rule) in fields::rules() {
            let schema = &schemas[name];
            assert_eq!((&schema["description"], &schema[key]), (&words.into(), &rule));
            let alternatives =
                rule.as_array().map_or_else(|| vec![&rule], |alternatives| alternatives.iter().collect());
            for field in alternatives.iter().flat_map(|part| part["properties"].as_object().unwrap().keys()) {
                assert!(words.contains(&format!("`{field}`")), "{name}: {field}");
                assert!(schema["properties"].get(field).is_some(), "{name}: {field}");
            }
        }
    }

    #[test]
    fn operations_with_a_key_take_it_as_a_header_too() {
        let mut document = document_json();
        let mut taking = 0;
        let schemas = document["components"]["schemas"].clone();
        for operation in operations(&mut document) {
            let body = operation.get("requestBody").and_then(schema_of);
            let in_body = body.is_some_and(|name| schemas[name]["properties"].get(OperationKey::FIELD).is_some());
            let reference = json!({ "$ref": "#/components/parameters/IdempotencyKey" });
            let in_header = operation["parameters"].as_array().unwrap().contains(&reference);
            assert_eq!(in_header, in_body, "{}", operation["operationId"]);
            taking += usize::from(in_header);
        }
        assert!(taking > 20);
    }

    #[test]
    fn referenced_schemas_forbid_additional_properties_too() {
        let outer = json!({ "oneOf": [{ "type": "null" }, { "$ref": "#/components/schemas/Inner" }] });
        let (inner, other) = (json!({ "properties": {} }), json!({ "properties": {} }));
        let schemas = [("Outer", outer), ("Inner", inner), ("Other", other)];
        let mut schemas = schemas.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        forbid_additional_properties("Outer", &mut schemas);
        assert_eq!(schemas["Inner"], json!({ "properties": {}, "additionalProperties": false }));
        assert_eq!(schemas["Other"], json!({ "properties": {} }));
    }
}
