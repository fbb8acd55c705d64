//! The HTML page, generated from the OpenAPI document.

use askama::Template;
use serde_json::Value;

/// The style sheet of the page.
pub(crate) const STYLE: &str = "\
body{max-width:60rem;margin:0 auto;padding:1rem;font:1rem/1.5 system-ui,sans-serif;color:#1b1f24;background:#fff}\
h1{font-size:1.8rem}h2{margin-top:2.5rem;border-bottom:1px solid #d0d7de}h3{margin-bottom:.3rem}\
nav h2{font-size:1rem;margin:1rem 0 0;border:0}nav ul{margin:0;padding-left:1.2rem}\
a{color:#0550ae}h3 a{color:inherit;text-decoration:none}article{margin:2rem 0}\
table{border-collapse:collapse;width:100%;margin:.8rem 0;font-size:.9rem}caption{text-align:left;font-weight:600}\
th,td{text-align:left;vertical-align:top;padding:.25rem .5rem;border-bottom:1px solid #eaeef2;overflow-wrap:break-word}\
code,pre{font-family:ui-monospace,monospace;font-size:.9em}li code,p code{overflow-wrap:anywhere}pre{background:#f6f8fa;padding:.8rem;overflow-x:auto}\
.endpoint{font-size:1.05rem}\
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}a{color:#79c0ff}pre{background:#161b22}\
h2,th,td{border-color:#30363d}}";

/// Longest pattern that is shown. A longer one does not help readers.
const MAX_PATTERN_LENGTH: usize = 60;

#[derive(Template)]
#[template(path = "docs.html")]
struct Page {
    title: String,
    version: String,
    style: &'static str,
    description: Vec<Text>,
    groups: Vec<Group>,
    schemas: Vec<Schema>,
}

/// Text in pieces: whether the piece is code, and its content.
#[derive(Template)]
#[template(path = "docs_text.html")]
struct Text {
    pieces: Vec<(bool, String)>,
}

/// The accepted values of a schema: a named schema, one of several kinds, or values of these types.
#[derive(Default, Template)]
#[template(path = "docs_kind.html")]
struct Kind {
    schema: Option<String>,
    one_of: Vec<Kind>,
    types: String,
    items: Option<Box<Kind>>,
    values: Vec<String>,
    limits: Vec<(&'static str, String)>,
}

struct Group {
    name: String,
    description: Text,
    operations: Vec<Operation>,
}

struct Operation {
    id: String,
    method: String,
    path: String,
    summary: String,
    description: Text,
    parameters: Vec<Field>,
    body: Option<Body>,
    curl: String,
    responses: Vec<ResponseDoc>,
}

struct Body {
    media_type: String,
    kind: Kind,
}

struct ResponseDoc {
    status: String,
    description: Text,
    kind: Kind,
    messages: Vec<String>,
    headers: Vec<String>,
}

struct Schema {
    name: String,
    description: Text,
    kind: Kind,
    fields: Vec<Field>,
}

struct Field {
    name: String,
    place: String,
    required: bool,
    kind: Kind,
    description: Text,
}

/// Renders the page of an OpenAPI document.
pub(crate) fn render_page(document: &Value) -> String {
    let info = at(document, "info");
    let page = Page {
        title: text(info, "title").to_owned(),
        version: text(document, "openapi").to_owned(),
        style: STYLE,
        description: text(info, "description").split("\n\n").map(mark_code).collect(),
        groups: list(document, "tags").iter().map(|tag| group(document, tag)).collect(),
        schemas: entries(at(at(document, "components"), "schemas"))
            .map(|(name, schema)| named_schema(name, schema))
            .collect(),
    };
    // Rendering to memory cannot fail.
    page.render().unwrap_or_default()
}

fn group(document: &Value, tag: &Value) -> Group {
    let name = text(tag, "name");
    let operations = entries(at(document, "paths"))
        .flat_map(|(path, methods)| entries(methods).map(move |(method, operation)| (path, method, operation)))
        .filter(|(_, _, operation)| list(operation, "tags").iter().any(|tag| tag == name))
        .map(|(path, method, operation)| self::operation(document, path, method, operation));
    Group { name: name.to_owned(), description: mark_code(text(tag, "description")), operations: operations.collect() }
}

fn operation(document: &Value, path: &str, method: &str, operation: &Value) -> Operation {
    let parameters: Vec<&Value> =
        list(operation, "parameters").iter().map(|parameter| resolve_reference(document, parameter)).collect();
    let body = operation.get("requestBody").and_then(|body| entries(at(body, "content")).next());
    Operation {
        id: text(operation, "operationId").to_owned(),
        method: method.to_uppercase(),
        path: path.to_owned(),
        summary: text(operation, "summary").to_owned(),
        description: mark_code(text(operation, "description")),
        curl: curl(path, method, &parameters, body),
        parameters: parameters.into_iter().map(parameter).collect(),
        body: body.map(|(media_type, body)| Body { media_type: media_type.to_owned(), kind: kind(at(body, "schema")) }),
        responses: entries(at(operation, "responses"))
            .map(|(status, response)| self::response(status, resolve_reference(document, response)))
            .collect(),
    }
}

fn parameter(parameter: &Value) -> Field {
    Field {
        name: text(parameter, "name").to_owned(),
        place: text(parameter, "in").to_owned(),
        required: parameter.get("required") == Some(&true.into()),
        kind: kind(at(parameter, "schema")),
        description: mark_code(text(parameter, "description")),
    }
}

fn response(status: &str, response: &Value) -> ResponseDoc {
    let content = entries(at(response, "content")).next().map_or(&Value::Null, |(_, content)| content);
    let messages = entries(at(content, "examples")).map(|(_, example)| text(at(example, "value"), "error"));
    ResponseDoc {
        status: status.to_owned(),
        description: mark_code(text(response, "description")),
        kind: kind(at(content, "schema")),
        messages: messages.map(str::to_owned).collect(),
        headers: entries(at(response, "headers")).map(|(name, _)| name.to_owned()).collect(),
    }
}

fn named_schema(name: &str, schema: &Value) -> Schema {
    let required = list(schema, "required");
    let field = |(name, field): (&str, &Value)| Field {
        name: name.to_owned(),
        place: String::new(),
        required: required.iter().any(|required| required == name),
        kind: kind(field),
        description: mark_code(field_description(field)),
    };
    Schema {
        name: name.to_owned(),
        description: mark_code(text(schema, "description")),
        kind: kind(schema),
        fields: entries(at(schema, "properties")).map(field).collect(),
    }
}

/// Returns the description of a field, or else of the first described alternative.
fn field_description(field: &Value) -> &str {
    let alternatives = list(field, "oneOf").iter().map(|alternative| text(alternative, "description"));
    std::iter::once(text(field, "description")).chain(alternatives).find(|text| !text.is_empty()).unwrap_or_default()
}

/// Returns an example request as a shell command.
fn curl(path: &str, method: &str, parameters: &[&Value], body: Option<(&str, &Value)>) -> String {
    let query = parameters.iter().any(|parameter| text(parameter, "name") == "email");
    let id = if path.contains("/feature_requests/{id}") { "1-dark-mode" } else { "$ID" };
    let path = path.replace("{id}", id).replace("{name}", "$TAG") + if query { "?email=ann@example.com" } else { "" };
    let method = if method == "get" { String::new() } else { format!(" -X {}", method.to_uppercase()) };
    let body = match body {
        None => String::new(),
        Some(("application/json", body)) => {
            let example = at(body, "example").to_string().replace('\'', r"'\''");
            format!(" -H 'Content-Type: application/json' \\\n  -d '{example}'")
        }
        Some(_) => " \\\n  -F file=@cover.png".to_owned(),
    };
    format!("curl{method} -H \"X-Api-Key: $KEY\"{body} \\\n  \"$BASE{path}\"")
}

/// Returns the accepted values of a schema.
fn kind(schema: &Value) -> Kind {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.rsplit('/').next()) {
        return Kind { schema: Some(name.to_owned()), ..Kind::default() };
    }
    let alternatives = list(schema, "oneOf");
    if !alternatives.is_empty() {
        return Kind { one_of: alternatives.iter().map(kind).collect(), ..Kind::default() };
    }
    let types: Vec<&str> = match at(schema, "type") {
        Value::String(only) => vec![only],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let limit = |(keyword, words): (&str, &'static str)| match at(schema, keyword) {
        Value::Null => None,
        Value::String(value) if value.len() > MAX_PATTERN_LENGTH => None,
        Value::String(value) => Some((words, value.clone())),
        other => Some((words, other.to_string())),
    };
    let limits = [
        ("format", ""),
        ("default", "by default "),
        ("minimum", "at least "),
        ("maximum", "at most "),
        ("minLength", "characters: at least "),
        ("maxLength", "characters: at most "),
        ("maxItems", "items: at most "),
        ("pattern", "like "),
    ];
    Kind {
        types: types.join(" or "),
        items: schema.get("items").map(|items| Box::new(kind(items))),
        values: list(schema, "enum").iter().map(Value::to_string).collect(),
        limits: limits.into_iter().filter_map(limit).collect(),
        ..Kind::default()
    }
}

/// Splits text into plain pieces and code between backticks.
fn mark_code(text: &str) -> Text {
    let pieces = text.split('`').enumerate();
    Text { pieces: pieces.map(|(number, piece)| (number % 2 == 1, piece.to_owned())).collect() }
}

/// Returns the target of a reference, or any other value itself.
fn resolve_reference<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let reference = value.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    reference.and_then(|pointer| document.pointer(pointer)).unwrap_or(value)
}

fn at<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.get(name).unwrap_or(&Value::Null)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    at(value, name).as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    at(value, name).as_array().map_or(&[], Vec::as_slice)
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn backticks_mark_code() {
        assert_eq!(mark_code("a `b<` c").to_string(), "a <code>b&#60;</code> c");
    }

    #[test]
    fn a_schema_is_described_in_words() {
        for (schema, expected) in [
            (json!({}), ""),
            (json!({ "$ref": "#/components/schemas/A" }), "<a href=\"#schema-A\">A</a>"),
            (
                json!({ "oneOf": [{ "type": "null" }, { "$ref": "#/components/schemas/A" }] }),
                "null or <a href=\"#schema-A\">A</a>",
            ),
            (json!({ "type": ["string", "null"] }), "string or null"),
            (json!({ "type": "array", "items": { "type": "string" } }), "array, of: string"),
            (
                json!({ "type": "integer", "minimum": 1, "default": 25 }),
                "integer, by default <code>25</code>, at least <code>1</code>",
            ),
            (
                json!({ "type": "string", "enum": ["a", "b"] }),
                "string, <code>&#34;a&#34;</code> or <code>&#34;b&#34;</code>",
            ),
            (
                json!({ "type": "string", "pattern": "x".repeat(60) }),
                &format!("string, like <code>{}</code>", "x".repeat(60)),
            ),
            (json!({ "type": "string", "pattern": "x".repeat(61) }), "string"),
        ] {
            assert_eq!(kind(&schema).to_string(), expected, "{schema}");
        }
    }

    #[test]
    fn an_example_can_be_pasted_into_a_shell() {
        assert_eq!(
            curl("/feature_requests/{id}", "get", &[&json!({ "name": "email" })], None),
            "curl -H \"X-Api-Key: $KEY\" \\\n  \"$BASE/feature_requests/1-dark-mode?email=ann@example.com\""
        );
        assert_eq!(
            curl("/tracks/{id}", "delete", &[], None),
            "curl -X DELETE -H \"X-Api-Key: $KEY\" \\\n  \"$BASE/tracks/$ID\""
        );
        assert_eq!(
            curl("/r", "post", &[], Some(("application/json", &json!({ "example": { "a": "it's" } })))),
            "curl -X POST -H \"X-Api-Key: $KEY\" -H 'Content-Type: application/json' \\\n  \
             -d '{\"a\":\"it'\\''s\"}' \\\n  \"$BASE/r\""
        );
    }
}
