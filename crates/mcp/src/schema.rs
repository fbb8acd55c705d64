//! Converts schemas of the OpenAPI document into schemas of tools.
//!
//! The list of tools is a part of every prompt of an agent, so that each byte of it has a price. These schemas have
//! types, choices and short descriptions only. They are self-contained: every `$ref` is resolved.

use serde_json::{Map, Value, json};

/// The schemas of the document's components.
pub(crate) struct Schemas<'a>(pub(crate) &'a Map<String, Value>);

/// Longest description of an argument, in bytes. Only the first sentence of a description is used.
const MAX_DESCRIPTION: usize = 80;

/// Shorter descriptions of fields that many operations have. An empty one means none.
const DESCRIPTIONS: [(&str, &str); 14] = [
    ("operation_key", "New for each change; the same to repeat it safely."),
    ("page", "From 1."),
    ("page_size", "At most 100."),
    ("cursor", "Empty, then next_cursor."),
    ("email", ""),
    ("author_email", "A team member."),
    ("position", "From 1."),
    ("title", ""),
    ("tags", ""),
    ("embed_origins", ""),
    ("reference_note", "Private to the team."),
    ("name", ""),
    ("product_name", ""),
    ("lane_id", "Empty for no lane."),
];

impl Schemas<'_> {
    /// Follows references.
    pub(crate) fn resolve<'v>(&'v self, schema: &'v Value) -> &'v Value {
        let name = |schema: &'v Value| schema.get("$ref")?.as_str()?.strip_prefix("#/components/schemas/");
        let mut resolved = schema;
        while let Some(target) = name(resolved).and_then(|name| self.0.get(name)) {
            resolved = target;
        }
        resolved
    }

    /// Returns the schema of an argument. Unless `nullable`, null is not offered, because it means the same as a missing
    /// argument.
    pub(crate) fn argument(&self, name: &str, schema: &Value, described: &Value, nullable: bool) -> Value {
        let resolved = self.resolve(schema);
        if let Some(alternatives) = resolved.get("oneOf").and_then(Value::as_array) {
            let other = alternatives.iter().find(|alternative| type_of(self.resolve(alternative)) != Some("null"));
            return other.map_or_else(|| json!({}), |other| self.argument(name, other, other, nullable));
        }
        let mut argument = Map::new();
        let choices = choices(resolved);
        let numbers = choices.iter().all(|choice| choice.parse::<u32>().is_ok());
        match type_of(resolved) {
            Some("string") if choices.len() > 1 && numbers => {
                let choices: Vec<u32> = choices.iter().filter_map(|choice| choice.parse().ok()).collect();
                argument.insert("type".to_owned(), "integer".into());
                argument.insert("enum".to_owned(), choices.into());
            }
            Some("string") if choices.contains(&"true") => {
                argument.insert("type".to_owned(), "boolean".into());
            }
            Some("string") if choices.len() > 1 => {
                let with_null = nullable && allows_null(resolved);
                let kind = if with_null { json!(["string", "null"]) } else { json!("string") };
                let null = with_null.then_some(Value::Null);
                argument.insert("type".to_owned(), kind);
                argument.insert("enum".to_owned(), choices.into_iter().map(Value::from).chain(null).collect());
            }
            Some(kind) => {
                let with_null = nullable && allows_null(resolved);
                let kind = if with_null { json!([kind, "null"]) } else { json!(kind) };
                argument.insert("type".to_owned(), kind);
            }
            None => {}
        }
        if let Some(description) = description(name, described).or_else(|| description(name, resolved)) {
            argument.insert("description".to_owned(), description.into());
        }
        if let Some(items) = resolved.get("items") {
            argument.insert("items".to_owned(), self.item(items));
        }
        if let Some(properties) = resolved.get("properties").and_then(Value::as_object) {
            let properties = properties.iter();
            let properties: Map<String, Value> =
                properties.map(|(name, field)| (name.clone(), self.argument(name, field, field, nullable))).collect();
            argument.insert("properties".to_owned(), properties.into());
            argument.insert("required".to_owned(), resolved.get("required").cloned().unwrap_or_else(|| json!([])));
        }
        argument.into()
    }

    /// Returns the schema of an item of a list. The list itself is described.
    fn item(&self, schema: &Value) -> Value {
        let mut item = self.argument("", schema, schema, false);
        if let Some(item) = item.as_object_mut() {
            item.remove("description");
        }
        item
    }

    /// Returns the schema of a result, down to `depth` levels of objects. Everything below is an object without further
    /// description.
    pub(crate) fn result(&self, schema: &Value, depth: usize) -> Value {
        let resolved = self.resolve(schema);
        if let Some(alternatives) = resolved.get("oneOf").and_then(Value::as_array) {
            let (null, others): (Vec<_>, Vec<_>) = alternatives
                .iter()
                .map(|schema| self.resolve(schema))
                .partition(|other| type_of(other) == Some("null"));
            let [only] = others.as_slice() else { return json!({}) };
            let mut result = self.result(only, depth);
            if !null.is_empty()
                && let Some(kind) = type_of(only).map(str::to_owned)
                && let Some(result) = result.as_object_mut()
            {
                result.insert("type".to_owned(), json!([kind, "null"]));
            }
            return result;
        }
        let mut result = Map::new();
        if let Some(kind) = resolved.get("type") {
            result.insert("type".to_owned(), kind.clone());
        }
        if let Some(items) = resolved.get("items") {
            result.insert("items".to_owned(), self.result(items, depth));
        }
        if let Some(properties) = resolved.get("properties").and_then(Value::as_object).filter(|_| depth > 0) {
            let properties = properties.iter();
            let properties: Map<String, Value> =
                properties.map(|(name, field)| (name.clone(), self.result(field, depth.saturating_sub(1)))).collect();
            result.insert("properties".to_owned(), properties.into());
        }
        result.into()
    }
}

/// Returns the type of a schema that is not `null`, or else `null`.
fn type_of(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(only) => Some(only),
        Value::Array(types) => types.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

fn allows_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_array).is_some_and(|types| types.iter().any(|name| name == "null"))
}

/// Returns the values that a schema allows: its `enum`, or the words of a pattern such as `(?:votes|newest)`.
fn choices(schema: &Value) -> Vec<&str> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().filter_map(Value::as_str).collect();
    }
    let pattern = schema.get("pattern").and_then(Value::as_str).unwrap_or_default();
    let groups = pattern.split("(?:").skip(1);
    let words = groups.filter_map(|group| group.split_once(')')).map(|(words, _)| words.split('|').collect::<Vec<_>>());
    let is_word = |word: &&str| !word.is_empty() && word.chars().all(|symbol| symbol.is_ascii_alphanumeric());
    words.into_iter().find(|words| words.len() > 1 && words.iter().all(is_word)).unwrap_or_default()
}

/// Returns the short description of a field.
fn description(name: &str, schema: &Value) -> Option<String> {
    if let Some((_, short)) = DESCRIPTIONS.iter().find(|(of, _)| *of == name) {
        return (!short.is_empty()).then(|| (*short).to_owned());
    }
    let whole = schema.get("description")?.as_str()?;
    let first = whole.split_once(". ").map_or(whole, |(first, _)| first).trim_end_matches('.');
    (first.len() < MAX_DESCRIPTION).then(|| format!("{first}."))
}

/// Lists the fields of `value` that a schema does not have, as paths: `customer.mail`. Values that are not objects have
/// no fields.
pub(crate) fn unknown_fields(schema: &Value, value: &Value, at: &str, unknown: &mut Vec<String>) {
    let (Some(properties), Some(fields)) = (schema.get("properties").and_then(Value::as_object), value.as_object())
    else {
        return;
    };
    for (name, value) in fields {
        let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        match properties.get(name) {
            Some(schema) => unknown_fields(schema, value, &path, unknown),
            None => unknown.push(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schemas(names: &Value, test: impl FnOnce(&Schemas<'_>)) {
        test(&Schemas(names.as_object().unwrap()));
    }

    #[test]
    fn an_argument_has_a_type_choices_and_one_sentence() {
        let named = json!({ "Name": { "type": ["string", "null"], "description": "A name. Not long." } });
        schemas(&named, |schemas| {
            for (schema, nullable, expected) in [
                (
                    json!({ "$ref": "#/components/schemas/Name" }),
                    false,
                    json!({ "type": "string", "description": "A name." }),
                ),
                (
                    json!({ "$ref": "#/components/schemas/Name" }),
                    true,
                    json!({ "type": ["string", "null"], "description": "A name." }),
                ),
                (json!({ "type": "integer", "minimum": 1, "default": 3 }), true, json!({ "type": "integer" })),
                (
                    json!({ "type": "string", "pattern": r"^[\t ]*(?:(?:votes|newest)[\t ]*)?$" }),
                    false,
                    json!({ "type": "string", "enum": ["votes", "newest"] }),
                ),
                (
                    json!({ "type": ["string", "null"], "pattern": "^(?:(?:votes|newest) *)?$" }),
                    false,
                    json!({ "type": "string", "enum": ["votes", "newest"] }),
                ),
                (
                    json!({ "type": ["string", "null"], "pattern": "^(?:(?:votes|newest) *)?$" }),
                    true,
                    json!({ "type": ["string", "null"], "enum": ["votes", "newest", null] }),
                ),
                (
                    json!({ "type": "string", "pattern": "^(?:(?:7|30|365) *)?$" }),
                    false,
                    json!({ "type": "integer", "enum": [7, 30, 365] }),
                ),
                (
                    json!({ "type": "string", "pattern": "^(?:(?:true|false|1|0))?$" }),
                    false,
                    json!({ "type": "boolean" }),
                ),
                (json!({ "type": "string", "pattern": "^(?:[0-9a-f]{8}|a{2})$" }), false, json!({ "type": "string" })),
                (
                    json!({ "oneOf": [{ "type": "null" }, { "type": "object", "properties": { "email": { "type": "string" } }, "required": ["email"] }] }),
                    false,
                    json!({ "type": "object", "properties": { "email": { "type": "string" } }, "required": ["email"] }),
                ),
                (
                    json!({ "type": "array", "items": { "type": "string", "pattern": "x", "description": "One." } }),
                    false,
                    json!({ "type": "array", "items": { "type": "string" } }),
                ),
                (
                    json!({ "type": "string", "description": "x".repeat(MAX_DESCRIPTION) }),
                    false,
                    json!({ "type": "string" }),
                ),
            ] {
                assert_eq!(schemas.argument("field", &schema, &schema, nullable), expected, "{schema}");
            }
        });
    }

    #[test]
    fn a_result_is_described_down_to_a_depth() {
        let named = json!({
            "Inner": { "type": "object", "properties": { "id": { "type": "string", "format": "uuid" } }, "required": ["id"] },
        });
        let inner = json!({ "$ref": "#/components/schemas/Inner" });
        let outer = json!({
            "type": "object",
            "properties": {
                "list": { "type": "array", "items": inner },
                "one": { "oneOf": [{ "type": "null" }, inner] },
                "any": { "oneOf": [{ "type": "string" }, { "type": "integer" }] },
            },
        });
        schemas(&named, |schemas| {
            let shallow = json!({
                "type": "object",
                "properties": {
                    "list": { "type": "array", "items": { "type": "object" } },
                    "one": { "type": ["object", "null"] },
                    "any": {},
                },
            });
            assert_eq!(schemas.result(&outer, 1), shallow);
            let id = json!({ "id": { "type": "string" } });
            let whole = json!({
                "type": "object",
                "properties": {
                    "list": { "type": "array", "items": { "type": "object", "properties": id } },
                    "one": { "type": ["object", "null"], "properties": id },
                    "any": {},
                },
            });
            assert_eq!(schemas.result(&outer, 2), whole);
        });
    }

    #[test]
    fn unknown_fields_are_listed_by_path() {
        let schema = json!({
            "properties": { "title": {}, "customer": { "properties": { "email": {} } } },
        });
        for (value, expected) in [
            (json!({ "title": { "any": 1 }, "customer": { "email": "a" } }), vec![]),
            (json!({ "titel": 1, "customer": { "mail": 1 } }), vec!["customer.mail", "titel"]),
            (json!({ "customer": "ann" }), vec![]),
            (json!([]), vec![]),
        ] {
            let mut unknown = Vec::new();
            unknown_fields(&schema, &value, "", &mut unknown);
            unknown.sort_unstable();
            assert_eq!(unknown, expected, "{value}");
        }
    }
}
