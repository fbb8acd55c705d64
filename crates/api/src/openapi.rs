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

use crate::routes;

/// The document without operations.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Roadmap",
        description = "Product feedback and roadmap: feature requests, votes, comments, tracks, changelogs and \
            files of one workspace.\n\nThe host selects the workspace, and the key must be one of its keys. An unknown \
            path gets 404, a method that a path does not support gets 405 with `Allow`, and a missing or invalid key \
            gets 401 before both. `HEAD` works wherever `GET` does. Unknown fields and parameters are ignored.",
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
        (name = "Tracks", description = "States of feature requests in the team's workflow."),
        (name = "Roadmap", description = "The public roadmap and its lanes."),
        (name = "Changelogs", description = "Announcements of the team."),
        (name = "People", description = "Customers and team members."),
        (name = "Moderation", description = "Feature requests and comments on the portal that wait for approval."),
        (name = "Settings", description = "Settings of the workspace, the key and the audit log."),
        (name = "Files", description = "Uploads of files."),
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
    let mut schemas: Map<String, Value> =
        schemas.iter().map(|(name, schema)| (name.clone(), flatten_all_of(schema, &schemas))).collect();
    for operation in operations(&mut document) {
        complete_operation(operation, &mut schemas);
    }
    forbid_additional_properties("Error", &mut schemas);
    for (name, alternatives) in [
        ("CreateUpvote", fields::require_any_of(["customer", "reference_note"])),
        ("CreateComment", fields::comment_of_member_or_customer()),
        ("NewChangelog", fields::published_now_or_later()),
    ] {
        if let Some(schema) = schemas.get_mut(name).and_then(Value::as_object_mut) {
            schema.insert("anyOf".to_owned(), alternatives);
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
    let parameters = operation.entry("parameters").or_insert_with(|| json!([]));
    if let Some(parameters) = parameters.as_array_mut() {
        parameters.push(json!({ "$ref": "#/components/parameters/RequestId" }));
    }
    let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else { return };
    let takes_key = responses.get("409").is_some_and(failures::is_of_operation_key);
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
