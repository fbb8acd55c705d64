//! The tools: one for each operation of the API, made from its OpenAPI document.
//!
//! A tool's arguments are the path's id or name, the query's parameters and the body's fields, side by side. The one object that
//! wraps the fields of a record (`{"changelog": {…}}`) is left out; the call adds it again.

use std::sync::LazyLock;

use actix_web::http::Method;
use actix_web::web;
use roadmap_domain::model::api_key::{Scope, Scopes};
use roadmap_http::routing::Access;
use serde_json::{Map, Value, json};

use crate::schema::Schemas;

/// Tools that are not named like their operation.
const NAMES: [(&str, &str); 5] = [
    ("createAttachment", "UploadAttachment"),
    ("createUpvote", "AddVoter"),
    ("mergeCustomer", "MergeCustomers"),
    ("mergeFeatureRequest", "MergeFeatureRequests"),
    ("withdrawUpvote", "RemoveVoter"),
];

/// The tools of the default list: those that the jobs of agents need ([`ToolList::Default`]). All others are listed on
/// request only, because a model reads the whole list before anything else.
const DEFAULT_TOOLS: [&str; 26] = [
    "AddVoter",
    "CreateChangelog",
    "CreateComment",
    "CreateFeatureRequest",
    "GetSetting",
    "ListChangelogs",
    "ListComments",
    "ListReferenceNotes",
    "ListSimilarFeatureRequests",
    "ListTrackFeatureRequests",
    "ListTracks",
    "ListVoters",
    "MergeFeatureRequests",
    "MoveFeatureRequest",
    "PublishChangelog",
    "RemoveVoter",
    "SearchFeatureRequests",
    "ShowApiKey",
    "ShowChangelog",
    "ShowFeatureRequest",
    "UnmergeFeatureRequest",
    "UnpublishChangelog",
    "UpdateChangelog",
    "UpdateComment",
    "UpdateFeatureRequest",
    "UpdateSetting",
];

/// Operations with PUT or PATCH that only add something.
const ADDITIVE: [&str; 1] = ["subscribe"];

/// Operations without DELETE that cannot be undone either. A new name of a tag may be that of another one.
const IRREVERSIBLE: [&str; 2] = ["mergeCustomer", "updateTag"];

/// Operations that are no tools: the data of people, files full of them, and secrets do not become part of a conversation,
/// and who reads texts of strangers must not be able to send data elsewhere.
const NO_TOOLS: [&str; 27] = [
    "createExport",
    "createImport",
    "createLinkSource",
    "createWebhook",
    "deleteImport",
    "deleteLinkSource",
    "deleteWebhook",
    "eraseCustomer",
    "exportCustomer",
    "listDeliveries",
    "listExports",
    "listImports",
    "listLinkSources",
    "listWebhooks",
    "redeliver",
    "redeliverFailed",
    "rotateWebhookSecret",
    "runImport",
    "showDelivery",
    "showExport",
    "showImport",
    "showLinkSource",
    "showWebhook",
    "testWebhook",
    "undoImport",
    "updateLinkSource",
    "updateWebhook",
];

/// Levels of objects that the output schema of a reading tool describes. That of a writing tool names only what it
/// returns; the reading tools describe the same records.
const READ_DEPTH: usize = 3;
const WRITE_DEPTH: usize = 1;

/// Largest length of the argument `content_base64`: 512 KB of content. A larger file needs the multipart endpoint.
pub(crate) const MAX_BASE64: usize = 700_000;

/// Where an argument goes in the request of the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    /// A field of the body.
    Body,
    /// A field of the object in the body that wraps the record.
    Wrapped,
}

/// The body of an operation's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// No body.
    None,
    /// A JSON object. The record's fields are in this field of it, if there is one.
    Json {
        /// The name of the wrapping field.
        wrapper: Option<String>,
    },
    /// A form with a file.
    Upload,
}

/// The list of tools that a client asks for. Every tool can be called, whatever the list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolList {
    /// The tools that the jobs of agents need, which `docs/mcp.md` names.
    Default,
    All,
}

impl ToolList {
    /// Returns the list that the query of an endpoint's URL asks for: `tools=all`, or no `tools`.
    ///
    /// # Errors
    /// Returns the sentence that says what the parameter must be.
    pub(crate) fn of_query(query: &str) -> Result<Self, &'static str> {
        const INVALID: &str = "tools must be all, or be left out";
        let parameters = web::Query::<Vec<(String, String)>>::from_query(query).map_err(|_| INVALID)?;
        let values: Vec<&str> =
            parameters.iter().filter(|(name, _)| name == "tools").map(|(_, value)| value.as_str()).collect();
        match values[..] {
            [] => Ok(Self::Default),
            ["all"] => Ok(Self::All),
            _ => Err(INVALID),
        }
    }

    /// Whether the list has the tool.
    pub(crate) fn contains(self, tool: &Tool) -> bool {
        self == Self::All || DEFAULT_TOOLS.contains(&tool.name.as_str())
    }
}

/// A tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// The scopes that a key needs.
    scopes: Vec<Scope>,
    /// The method of the operation.
    pub(crate) method: Method,
    /// The path of the operation, with `{id}` or `{name}` for what it is about.
    pub(crate) path: String,
    /// The arguments with their places.
    pub(crate) arguments: Vec<(String, Place)>,
    /// The body of the operation.
    pub(crate) body: BodyKind,
    /// The schema of the arguments.
    pub(crate) input: Value,
    /// What clients see of the tool, as JSON.
    pub(crate) definition: String,
}

impl Tool {
    /// Whether a key with these scopes can call the tool.
    pub(crate) fn is_granted_to(&self, scopes: Scopes) -> bool {
        self.scopes.iter().all(|scope| scopes.allows(*scope))
    }

    /// Returns the names of the scopes that a key needs.
    pub(crate) fn needs(&self) -> String {
        self.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(" and ")
    }
}

/// All tools, in the order of the list.
pub(crate) static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| tools(&roadmap_api::openapi::document_json()));

/// Returns the tool with this name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Returns the list of tools as the golden file `docs/mcp-tools.json` has it: formatted, in a stable order.
#[must_use]
pub fn document() -> String {
    let tools: Vec<Value> =
        TOOLS.iter().map(|tool| serde_json::from_str(&tool.definition).unwrap_or_default()).collect();
    format!("{:#}\n", json!({ "tools": tools }))
}

/// Returns name, list (`default` or `all`), required scopes and description of each tool, for people.
#[must_use]
pub fn summary() -> Vec<(&'static str, &'static str, String, String)> {
    let describe = |tool: &'static Tool| {
        let definition: Value = serde_json::from_str(&tool.definition).unwrap_or_default();
        let description = definition.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        let list = if ToolList::Default.contains(tool) { "default" } else { "all" };
        (tool.name.as_str(), list, if tool.scopes.is_empty() { "any".to_owned() } else { tool.needs() }, description)
    };
    TOOLS.iter().map(describe).collect()
}

fn tools(document: &Value) -> Vec<Tool> {
    let empty = Map::new();
    let components = document.pointer("/components/schemas").and_then(Value::as_object).unwrap_or(&empty);
    let schemas = Schemas(components);
    let mut tools: Vec<Tool> = roadmap_api::access_of_operations()
        .into_iter()
        .filter_map(|(method, path, access)| {
            let operation = document.get("paths")?.get(&path)?.get(method.as_str().to_lowercase())?;
            tool(&schemas, method, path, access, operation)
        })
        .collect();
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    tools
}

fn tool(schemas: &Schemas<'_>, method: Method, path: String, access: Access, operation: &Value) -> Option<Tool> {
    let id = operation.get("operationId")?.as_str().filter(|id| !NO_TOOLS.contains(id))?;
    let is_read = method == Method::GET;
    let is_final = (method == Method::DELETE && success(operation).is_none()) || IRREVERSIBLE.contains(&id);
    let mut scopes: Vec<Scope> = match access {
        Access::Key(scope) => vec![scope],
        _ => Vec::new(),
    };
    if is_final && !scopes.contains(&Scope::Manage) {
        scopes.push(Scope::Manage);
    }
    let (mut arguments, mut properties, mut required) = (Vec::new(), Map::new(), Vec::new());
    let mut add = |name: String, schema: Value, place: Place, is_required: bool| {
        if is_required {
            required.push(Value::from(name.as_str()));
        }
        arguments.push((name.clone(), place));
        properties.insert(name, schema);
    };
    for parameter in operation.get("parameters").and_then(Value::as_array).into_iter().flatten() {
        let (Some(name), Some(place)) = (text(parameter, "name"), text(parameter, "in")) else { continue };
        let schema = parameter.get("schema").unwrap_or(&Value::Null);
        if place == "path" {
            let described = path_argument(&path, name);
            let of_request = described == "feature_request_id";
            let schema = if of_request {
                json!({ "type": "string", "description": "`id` or slug." })
            } else {
                json!({ "type": "string" })
            };
            add(described, schema, Place::Path, true);
        } else {
            let is_required = parameter.get("required") == Some(&Value::Bool(true));
            add(name.to_owned(), schemas.argument(name, schema, parameter, false), Place::Query, is_required);
        }
    }
    let body = match operation.get("requestBody").and_then(|body| body.get("content")) {
        None => BodyKind::None,
        Some(content) if content.get("multipart/form-data").is_some() => {
            let description = format!("At most {MAX_BASE64} characters. Send larger files to `POST {path}`.");
            add("filename".to_owned(), json!({ "type": "string" }), Place::Body, true);
            add(
                "content_base64".to_owned(),
                json!({ "type": "string", "description": description }),
                Place::Body,
                true,
            );
            let described = json!({ "type": "string", "description": "A media type; detected if absent." });
            add("content_type".to_owned(), described, Place::Body, false);
            BodyKind::Upload
        }
        Some(content) => {
            let nullable = method == Method::PATCH;
            let body = schemas.resolve(content.pointer("/application~1json/schema")?);
            let wrapper = wrapper(&path);
            let mut wrapped_by = None;
            for (name, field) in body.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let fields = schemas.resolve(field);
                if *name == wrapper && is_required(body, name) && fields.get("properties").is_some() {
                    for (name, inner) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
                        let schema = schemas.argument(name, inner, inner, nullable);
                        add(name.clone(), schema, Place::Wrapped, is_required(fields, name));
                    }
                    wrapped_by = Some(name.clone());
                } else {
                    let schema = schemas.argument(name, field, field, false);
                    add(name.clone(), schema, Place::Body, is_required(body, name));
                }
            }
            BodyKind::Json { wrapper: wrapped_by }
        }
    };
    let sends_mail = arguments.iter().any(|(name, _)| name.starts_with("notify_"));
    let mut input = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if let Some(input) = input.as_object_mut().filter(|_| !required.is_empty()) {
        input.insert("required".to_owned(), required.into());
    }
    let depth = if is_read { READ_DEPTH } else { WRITE_DEPTH };
    let name = tool_name(id);
    let definition = json!({
        "name": name,
        "description": describe(operation),
        "inputSchema": input,
        "outputSchema": success(operation).map_or_else(|| json!({ "type": "object" }), |schema| schemas.result(schema, depth)),
        "annotations": {
            "readOnlyHint": is_read,
            "destructiveHint": !is_read && (is_final || method != Method::POST) && !ADDITIVE.contains(&id),
            "idempotentHint": method != Method::POST,
            "openWorldHint": sends_mail,
        },
    });
    Some(Tool { name, scopes, method, path, arguments, body, input, definition: definition.to_string() })
}

fn text<'a>(of: &'a Value, name: &str) -> Option<&'a str> {
    of.get(name)?.as_str()
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|required| required == name))
}

/// Returns the schema of the body of an operation's success, if there is a body.
fn success(operation: &Value) -> Option<&Value> {
    let responses = operation.get("responses")?.as_object()?;
    let (_, response) = responses.iter().find(|(status, _)| status.starts_with('2'))?;
    response.pointer("/content/application~1json/schema")
}

/// Returns the name of the tool of an operation: `showSetting` becomes `ShowSetting`.
fn tool_name(operation: &str) -> String {
    if let Some((_, name)) = NAMES.iter().find(|(of, _)| *of == operation) {
        return (*name).to_owned();
    }
    let mut letters = operation.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// Returns summary and description of an operation as one text.
fn describe(operation: &Value) -> String {
    let summary = text(operation, "summary").unwrap_or_default();
    match text(operation, "description") {
        Some(description) => format!("{summary}. {}", description.replace('\n', " ")),
        None => format!("{summary}."),
    }
}

/// Returns the name of the argument for the parameter of a path: `feature_request_id` for
/// `/feature_requests/{id}/voters`, `tag_name` for `/tags/{name}`.
fn path_argument(path: &str, parameter: &str) -> String {
    let collection = path.split("/{").next().and_then(|before| before.rsplit('/').next()).unwrap_or_default();
    format!("{}_{parameter}", singular(collection))
}

/// Returns the name of the field that can wrap the record of a path: `comment` for `/feature_requests/{id}/comments`.
fn wrapper(path: &str) -> String {
    let is_parameter = |segment: &&str| segment.starts_with('{');
    singular(path.rsplit('/').find(|segment| !is_parameter(segment)).unwrap_or_default()).to_owned()
}

fn singular(plural: &str) -> &str {
    plural.strip_suffix('s').unwrap_or(plural)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(name: &str) -> Value {
        serde_json::from_str(&find(name).unwrap().definition).unwrap()
    }

    #[test]
    fn every_operation_has_one_tool_with_a_plain_name() {
        assert_eq!(TOOLS.len() + NO_TOOLS.len(), roadmap_api::access_of_operations().len());
        let mut names: Vec<&str> = TOOLS.iter().map(|tool| tool.name.as_str()).collect();
        let listed = names.clone();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names, listed);
        assert!(names.iter().all(|name| name.chars().all(|letter| letter.is_ascii_alphabetic())), "{names:?}");
    }

    #[test]
    fn the_lists_are_short_enough_for_a_prompt() {
        let size = |list: ToolList| {
            let listed: Vec<&Tool> = TOOLS.iter().filter(|tool| list.contains(tool)).collect();
            (listed.len(), listed.iter().map(|tool| tool.definition.len() + 1).sum::<usize>())
        };
        let (tools, bytes) = size(ToolList::Default);
        // A name that no tool has would be missing here.
        assert_eq!(tools, DEFAULT_TOOLS.len());
        assert!(tools <= 32 && bytes <= 24_000, "{tools} tools, {bytes} bytes");
        let (tools, bytes) = size(ToolList::All);
        assert_eq!(tools, TOOLS.len());
        assert!(bytes <= 830 * tools, "{tools} tools, {bytes} bytes");
        for tool in TOOLS.iter() {
            let definition = definition(&tool.name);
            let description = definition["description"].as_str().unwrap();
            assert!((10..=600).contains(&description.len()), "{}: {description}", tool.name);
        }
    }

    #[test]
    fn the_query_chooses_the_list() {
        for (query, expected) in [
            ("", Some(ToolList::Default)),
            ("other=1", Some(ToolList::Default)),
            ("tools=all", Some(ToolList::All)),
            ("other=1&tools=%61ll", Some(ToolList::All)),
            ("tools=", None),
            ("tools", None),
            ("tools=ALL", None),
            ("tools=everything", None),
            ("tools=all&tools=all", None),
        ] {
            assert_eq!(ToolList::of_query(query).ok(), expected, "{query}");
        }
    }

    #[test]
    fn fields_of_path_query_and_body_are_side_by_side() {
        let arguments = |name: &str| -> Vec<(&str, Place)> {
            find(name).unwrap().arguments.iter().map(|(name, place)| (name.as_str(), *place)).collect()
        };
        assert_eq!(
            arguments("ListVoters"),
            [
                ("feature_request_id", Place::Path),
                ("page", Place::Query),
                ("page_size", Place::Query),
                ("cursor", Place::Query)
            ]
        );
        assert_eq!(
            arguments("CreateComment"),
            [
                ("feature_request_id", Place::Path),
                ("author_email", Place::Body),
                ("content", Place::Wrapped),
                ("customer", Place::Body),
                ("notify_all_voters", Place::Body),
                ("operation_key", Place::Body),
            ]
        );
        assert_eq!(
            arguments("AddVoter"),
            [
                ("feature_request_id", Place::Path),
                ("customer", Place::Body),
                ("operation_key", Place::Body),
                ("reference_note", Place::Body),
            ]
        );
        assert_eq!(
            arguments("UploadAttachment"),
            [("filename", Place::Body), ("content_base64", Place::Body), ("content_type", Place::Body)]
        );
        assert_eq!(find("AddVoter").unwrap().body, BodyKind::Json { wrapper: None });
        assert_eq!(find("UpdateCustomer").unwrap().body, BodyKind::Json { wrapper: Some("customer".to_owned()) });
        assert_eq!(find("UpdateSetting").unwrap().body, BodyKind::Json { wrapper: Some("setting".to_owned()) });
        for tool in TOOLS.iter() {
            let mut names: Vec<&str> = tool.arguments.iter().map(|(name, _)| name.as_str()).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "{} has two arguments of one name", tool.name);
            assert_eq!(tool.path.contains('{'), tool.arguments.iter().any(|(_, place)| *place == Place::Path));
        }
    }

    #[test]
    fn annotations_say_what_a_tool_may_do() {
        for (name, read, destructive, idempotent, open) in [
            ("SearchFeatureRequests", true, false, true, false),
            ("AddVoter", false, false, false, false),
            ("CreateComment", false, false, false, true),
            ("CreateChangelog", false, false, false, true),
            ("MoveFeatureRequest", false, true, true, true),
            ("UpdateSetting", false, true, true, false),
            ("DeleteFeatureRequest", false, true, true, false),
            ("MergeCustomers", false, true, false, false),
            ("PublishChangelog", false, false, false, true),
            ("Subscribe", false, false, true, false),
        ] {
            let expected = json!({
                "readOnlyHint": read,
                "destructiveHint": destructive,
                "idempotentHint": idempotent,
                "openWorldHint": open,
            });
            assert_eq!(definition(name)["annotations"], expected, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_undone_needs_manage() {
        let read = Scopes::parse("scope", &["read".to_owned()]).unwrap();
        let write = Scopes::parse("scope", &["read".to_owned(), "write".to_owned()]).unwrap();
        for (name, readable, writable) in [
            ("ShowApiKey", true, true),
            ("ListTracks", true, true),
            ("AddVoter", false, true),
            ("RemoveVoter", false, true),
            ("DeleteComment", false, false),
            ("DeleteFeatureRequest", false, false),
            ("MergeCustomers", false, false),
            ("UpdateTag", false, false),
            ("MergeFeatureRequests", false, true),
            ("CreateTrack", false, false),
        ] {
            let tool = find(name).unwrap();
            assert_eq!((tool.is_granted_to(read), tool.is_granted_to(write)), (readable, writable), "{name}");
            assert!(tool.is_granted_to(Scopes::ALL), "{name}");
        }
    }

    #[test]
    fn a_definition_is_whole() {
        let expected = json!({
            "name": "ListVoters",
            "description": definition("ListVoters")["description"],
            "inputSchema": {
                "type": "object",
                "properties": {
                    "feature_request_id": { "type": "string", "description": "`id` or slug." },
                    "page": { "type": "integer", "description": "From 1." },
                    "page_size": { "type": "integer", "description": "At most 100." },
                    "cursor": { "type": "string", "description": "Empty, then next_cursor." },
                },
                "required": ["feature_request_id"],
                "additionalProperties": false,
            },
            "outputSchema": definition("ListVoters")["outputSchema"],
            "annotations": {
                "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
            },
        });
        assert_eq!(definition("ListVoters"), expected);
        let output = &definition("ListVoters")["outputSchema"];
        assert_eq!(output.pointer("/properties/voters/items/properties/email"), Some(&json!({ "type": "string" })));
    }
}
