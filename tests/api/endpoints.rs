//! Endpoints of the external API, from `docs/openapi.json`, for tests that iterate over all of them.

use serde_json::{Value, json};

use crate::app::{App, Client, FORM_TYPE, Response, eventually, form_with};
use crate::document::DOCUMENT;

/// Method and path of an endpoint. HEAD is part of GET.
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    /// Upper-case method.
    pub method: &'static str,
    /// Path template of the document.
    pub path: &'static str,
    operation: &'static Value,
}

/// What only keys with the scope `manage` may do.
pub const MANAGED: [(&str, &str); 41] = [
    ("GET", "/api/external/v1/portal"),
    ("PATCH", "/api/external/v1/portal"),
    ("PUT", "/api/external/v1/synonyms"),
    ("GET", "/api/external/v1/audit_entries"),
    ("GET", "/api/external/v1/customers/{id}/export"),
    ("POST", "/api/external/v1/customers/{id}/erase"),
    ("GET", "/api/external/v1/exports"),
    ("POST", "/api/external/v1/exports"),
    ("GET", "/api/external/v1/exports/{id}"),
    ("GET", "/api/external/v1/link_sources"),
    ("POST", "/api/external/v1/link_sources"),
    ("GET", "/api/external/v1/link_sources/{id}"),
    ("PATCH", "/api/external/v1/link_sources/{id}"),
    ("DELETE", "/api/external/v1/link_sources/{id}"),
    ("GET", "/api/external/v1/webhooks"),
    ("POST", "/api/external/v1/webhooks"),
    ("GET", "/api/external/v1/webhooks/{id}"),
    ("PATCH", "/api/external/v1/webhooks/{id}"),
    ("DELETE", "/api/external/v1/webhooks/{id}"),
    ("GET", "/api/external/v1/webhooks/{id}/deliveries"),
    ("GET", "/api/external/v1/webhooks/{id}/deliveries/{delivery_id}"),
    ("POST", "/api/external/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver"),
    ("POST", "/api/external/v1/webhooks/{id}/redeliver"),
    ("POST", "/api/external/v1/webhooks/{id}/rotate_secret"),
    ("POST", "/api/external/v1/webhooks/{id}/test"),
    ("GET", "/api/external/v2/imports"),
    ("POST", "/api/external/v2/imports"),
    ("GET", "/api/external/v2/imports/{id}"),
    ("DELETE", "/api/external/v2/imports/{id}"),
    ("POST", "/api/external/v2/imports/{id}/run"),
    ("POST", "/api/external/v2/imports/{id}/undo"),
    ("DELETE", "/api/external/v1/feature_requests/{id}"),
    ("DELETE", "/api/external/v1/changelogs/{id}"),
    ("DELETE", "/api/external/v2/attachments/{id}"),
    ("POST", "/api/external/v1/lanes"),
    ("PATCH", "/api/external/v1/lanes/{id}"),
    ("DELETE", "/api/external/v1/lanes/{id}"),
    ("POST", "/api/external/v1/tracks"),
    ("PATCH", "/api/external/v1/tracks/{id}"),
    ("DELETE", "/api/external/v1/tracks/{id}"),
    ("DELETE", "/api/external/v1/tags/{name}"),
];

/// One record of each kind, for requests that name records. Every record can be changed and deleted.
#[derive(Debug, Clone)]
pub struct Records {
    /// A feature request into which nothing is merged, with the customer's vote.
    pub request: String,
    /// A feature request that is merged into `target`.
    pub merged: String,
    /// The feature request that `merged` is merged into.
    pub target: String,
    /// A feature request that waits for approval.
    pub held: String,
    /// A comment on `request`.
    pub comment: String,
    /// A comment on `request` that waits for approval.
    pub held_comment: String,
    /// A note on `request`.
    pub note: String,
    /// A link of `request`.
    pub link: String,
    /// A link source.
    pub link_source: String,
    /// A webhook, whose host does not exist.
    pub webhook: String,
    /// A test event for `webhook`.
    pub delivery: String,
    /// A track without feature requests.
    pub track: String,
    /// A lane.
    pub lane: String,
    /// A draft.
    pub changelog: String,
    /// A published changelog.
    pub published: String,
    /// A customer.
    pub customer: String,
    /// Another customer.
    pub other_customer: String,
    /// A file that nothing uses.
    pub attachment: String,
    /// A signed reference to that file.
    pub signed_id: String,
    /// An export that has failed.
    pub export: String,
    /// An import whose file could not be read, which can be run again and deleted.
    pub import: String,
    /// An import that is done.
    pub done_import: String,
    /// A tag of `held`.
    pub tag: String,
    /// A name that no record has.
    pub free_name: String,
    /// Address of the customer.
    pub email: String,
}

impl Records {
    /// Creates the records. `name` distinguishes them from other records.
    pub fn create(app: &App, client: &Client, name: &str) -> Self {
        no_import_runs(app);
        let email = format!("customer-{name}@example.com");
        let id = |body: &Value, record: &str| body[record]["id"].as_str().expect("an id").to_owned();
        let request =
            |title: &str| client.feature_request(&format!("{title} {name}"))["id"].as_str().expect("an id").to_owned();
        let [request, merged, target] = ["Request", "Merged", "Target"].map(request);
        let vote = json!({
            "customer": { "email": email },
            "reference_note": { "body": "Asked for it" },
        });
        client.post_upvote(&request, &vote).is_ok();
        client.merge(&merged, &target);
        let lane = client.post_lane(&json!({ "lane": { "name": format!("Lane {name}") } })).is_ok();
        let track = client.post_track(&json!({ "track": { "name": format!("Track {name}") } })).is_ok();
        let changelog = |publish: bool| {
            let fields = json!({ "title": "1.0", "content": "New", "publish": publish });
            id(&client.post_changelog(&json!({ "changelog": fields })).is_ok(), "changelog")
        };
        let tag = format!("tag-{name}");
        let held = json!({ "title": format!("Held {name}"), "private": true, "tags": [tag] });
        let held = client.feature_request_with(&held);
        app.data.hold_feature_request(&held);
        let note = client.get_reference_notes(&request, "").is_ok();
        let other = format!("other-{name}@example.com");
        client.put_subscription(&target, &json!({ "email": other })).is_ok();
        let customer =
            |email: &str| client.get_customers(&format!("query={email}")).is_ok()["customers"][0]["id"].clone();
        let attachment = client.post_attachment(&form_with("a.png", b"\x89PNG\r\n\x1a\n")).is_ok();
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        let (webhook, delivery) = webhook(client);
        Self {
            held,
            comment: client.comment(&request, "Soon"),
            held_comment: app.data.hold_comment(&request, &email, "Please", "0"),
            note: text(&note["reference_notes"][0]["id"]),
            link: id(
                &client.post_link(&request, &json!({ "link": { "url": "https://acme.example" } })).is_ok(),
                "link",
            ),
            link_source: link_source(client),
            webhook,
            delivery,
            track: id(&track, "track"),
            lane: id(&lane, "lane"),
            changelog: changelog(false),
            published: changelog(true),
            customer: text(&customer(&email)),
            other_customer: text(&customer(&other)),
            attachment: text(&attachment["id"]),
            signed_id: text(&attachment["signed_id"]),
            export: app.data.failed_export(&request),
            import: app.data.import(&request, "failed"),
            done_import: app.data.import(&request, "done"),
            tag,
            free_name: format!("Free {name}"),
            email,
            request,
            merged,
            target,
        }
    }

    /// Ids that belong to no record.
    pub fn unknown() -> Self {
        let id = || "01890a5d-ac96-774b-bcce-b302099a8057".to_owned();
        Self {
            request: id(),
            merged: id(),
            target: id(),
            held: id(),
            comment: id(),
            held_comment: id(),
            note: id(),
            link: id(),
            link_source: id(),
            webhook: id(),
            delivery: id(),
            track: id(),
            lane: id(),
            changelog: id(),
            published: id(),
            customer: id(),
            other_customer: id(),
            attachment: id(),
            signed_id: "forged".to_owned(),
            export: id(),
            import: id(),
            done_import: id(),
            tag: "unknown".to_owned(),
            free_name: "Free".to_owned(),
            email: "nobody@example.com".to_owned(),
        }
    }
}

/// Adds a link source. There are at most 20, so the oldest one makes room.
fn link_source(client: &Client) -> String {
    let path = "/api/external/v1/link_sources";
    let listed = client.get(path).is_ok();
    if listed["total_count"].as_u64().is_some_and(|count| count >= 18) {
        let oldest = listed["link_sources"][0]["id"].as_str().expect("an id");
        client.delete(&format!("{path}/{oldest}")).is_empty();
    }
    let body = json!({ "link_source": { "name": "Code", "kind": "github" } });
    client.send("POST", path, &body).is_ok()["link_source"]["id"].as_str().expect("an id").to_owned()
}

/// Adds a webhook with a test event. There are at most 10, so the oldest one makes room.
fn webhook(client: &Client) -> (String, String) {
    let path = "/api/external/v1/webhooks";
    let listed = client.get(path).is_ok();
    if listed["total_count"].as_u64().is_some_and(|count| count >= 8) {
        let oldest = listed["webhooks"][0]["id"].as_str().expect("an id");
        client.delete(&format!("{path}/{oldest}")).is_empty();
    }
    let body = json!({ "webhook": { "url": "https://receiver.invalid/", "events": ["changelog.unpublished"] } });
    let webhook = client.send("POST", path, &body).is_ok()["webhook"]["id"].as_str().expect("an id").to_owned();
    let test = client.send("POST", &format!("{path}/{webhook}/test"), &json!({})).is_ok();
    let delivery = test["delivery"]["id"].as_str().expect("an id").to_owned();
    (webhook, delivery)
}

/// Waits until the service has done the imports that were asked for: one runs at a time in a workspace.
pub fn no_import_runs(app: &App) {
    eventually("no import runs", || app.count("SELECT count(*) FROM imports WHERE job IS NOT NULL") == 0);
}

/// Returns all endpoints, grouped by path.
pub fn endpoints() -> Vec<Endpoint> {
    let paths = DOCUMENT.value["paths"].as_object().expect("paths");
    let endpoints = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods");
        methods.iter().map(move |(method, operation)| Endpoint { method: upper(method), path, operation })
    });
    endpoints.collect()
}

/// Returns the read endpoints.
pub fn reads() -> impl Iterator<Item = Endpoint> {
    endpoints().into_iter().filter(|endpoint| endpoint.method == "GET")
}

/// Returns the methods of a path in the order of `Allow`.
pub fn allowed(path: &str) -> String {
    let endpoints = endpoints().into_iter().filter(|endpoint| endpoint.path == path);
    let mut methods: Vec<&str> = endpoints
        .flat_map(|Endpoint { method, .. }| if method == "GET" { vec!["GET", "HEAD"] } else { vec![method] })
        .collect();
    methods.sort_unstable();
    methods.join(", ")
}

fn upper(method: &str) -> &'static str {
    let known = ["GET", "PUT", "POST", "DELETE", "PATCH"];
    known.into_iter().find(|known| known.eq_ignore_ascii_case(method)).expect("a method that the service has")
}

impl Endpoint {
    /// Method and path, for assertion messages and tables.
    pub fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Scope that a key must have. `None` means that every key is allowed.
    pub fn scope(&self) -> Option<&'static str> {
        if self.path == "/api/external/v1/api_key" {
            return None;
        }
        let is_managed = MANAGED.contains(&(self.method, self.path));
        Some(if is_managed {
            "manage"
        } else if self.method == "GET" {
            "read"
        } else {
            "write"
        })
    }

    /// Status of a successful response; of one that may find what it is to create, the status of the creation.
    pub fn success(&self) -> u16 {
        let statuses = self.operation["responses"].as_object().expect("responses").keys();
        let successes = statuses.filter(|status| status.starts_with('2'));
        successes.max().and_then(|status| status.parse().ok()).expect("a successful response")
    }

    /// Whether it takes an operation key.
    pub fn takes_key(&self) -> bool {
        DOCUMENT.takes_key(self.operation)
    }

    /// Names of the fields of a JSON body. `None` without a JSON body.
    pub fn fields(&self) -> Option<Vec<&'static str>> {
        let schema = self.operation["requestBody"]["content"].get("application/json")?.get("schema")?;
        let properties = DOCUMENT.resolved(schema)["properties"].as_object();
        Some(properties.into_iter().flat_map(|properties| properties.keys()).map(String::as_str).collect())
    }

    /// Names of the query parameters.
    pub fn parameters(&self) -> Vec<&'static str> {
        self.query().filter_map(|parameter| parameter["name"].as_str()).collect()
    }

    /// Names of the required query parameters.
    pub fn required(&self) -> Vec<&'static str> {
        let required = self.query().filter(|parameter| parameter["required"] == true);
        required.filter_map(|parameter| parameter["name"].as_str()).collect()
    }

    fn query(&self) -> impl Iterator<Item = &'static Value> {
        let parameters = self.operation["parameters"].as_array().expect("parameters");
        parameters.iter().filter(|parameter| parameter["in"] == "query")
    }

    /// Path for one of these records, without a query.
    pub fn target(&self, records: &Records) -> String {
        let parts = ["{id}", "{name}"].into_iter().find_map(|parameter| self.path.split_once(parameter));
        let Some((before, after)) = parts else { return self.path.to_owned() };
        let kind = before.trim_end_matches('/').rsplit('/').next().expect("a kind of records");
        let id = match (kind, after) {
            ("feature_requests", "/unmerge") => &records.merged,
            ("feature_requests", "/approve" | "/decline") => &records.held,
            ("feature_requests", "/no_answer_needed") => &records.target,
            ("feature_requests", _) => &records.request,
            ("comments", "/approve") => &records.held_comment,
            ("comments", _) => &records.comment,
            ("reference_notes", _) => &records.note,
            ("links", _) => &records.link,
            ("link_sources", _) => &records.link_source,
            ("webhooks", _) => &records.webhook,
            ("tracks", _) => &records.track,
            ("lanes", _) => &records.lane,
            ("changelogs", "/unpublish") => &records.published,
            ("changelogs", _) => &records.changelog,
            ("customers", _) => &records.customer,
            ("attachments", _) => &records.attachment,
            ("exports", _) => &records.export,
            ("imports", "/undo") => &records.done_import,
            ("imports", _) => &records.import,
            ("tags", _) => &records.tag,
            _ => panic!("no record for {}", self.path),
        };
        format!("{before}{id}{}", after.replace("{delivery_id}", &records.delivery))
    }

    /// Path for one of these records, with the required query parameters.
    pub fn target_with_query(&self, records: &Records) -> String {
        let value = |name: &str| match name {
            "email" => records.email.as_str(),
            unknown => panic!("no value for the parameter {unknown} of {}", self.name()),
        };
        let query: Vec<String> = self.required().iter().map(|name| format!("{name}={}", value(name))).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}{mark}{}", self.target(records), query.join("&"))
    }

    /// The document's example of a JSON body, with these records. `None` without a JSON body.
    pub fn example(&self, records: &Records) -> Option<Value> {
        let content = self.operation["requestBody"]["content"].get("application/json")?;
        let example = content.get("example").unwrap_or_else(|| panic!("{} has no example", self.name()));
        let mut body = example.clone();
        let board = ["/lanes", "/tracks"].iter().any(|part| self.path.contains(&format!("v1{part}")));
        fill(&mut body, records, board);
        if self.path.starts_with("/api/external/v1/customers/")
            && let Some(target) = body.get_mut("target_id")
        {
            *target = records.other_customer.clone().into();
        }
        Some(body)
    }

    /// Sends a valid request for these records: the document's example body, with their ids.
    pub fn send(&self, client: &Client, records: &Records, headers: &[(&str, &str)]) -> Response {
        if self.operation["requestBody"]["content"]["multipart/form-data"].is_object() {
            let headers = [&[("Content-Type", FORM_TYPE)][..], headers].concat();
            // What is imported has a source, which other uploads ignore.
            let source = "--limit\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\ncsv\r\n";
            let form = [source.as_bytes(), &form_with("a.csv", b"title\na\n")].concat();
            return client.request(self.method, self.path, &headers, Some(&form)).expect("a response");
        }
        let body = self.example(records);
        assert_eq!(body.is_none(), matches!(self.method, "GET" | "DELETE"), "the body of {}", self.name());
        self.send_body(client, records, headers, body.as_ref())
    }

    /// Sends a request for these records with another body.
    pub fn send_body(
        &self,
        client: &Client,
        records: &Records,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Response {
        let json = [("Content-Type", "application/json")];
        let headers = if body.is_some() { [&json[..], headers].concat() } else { headers.to_vec() };
        let body = body.map(|body| body.to_string().into_bytes());
        let target = self.target_with_query(records);
        client.request(self.method, &target, &headers, body.as_deref()).expect("a response")
    }
}

/// Replaces the references in a body, and the names of lanes and tracks, which must be unique.
fn fill(body: &mut Value, records: &Records, board: bool) {
    let Value::Object(fields) = body else { return };
    for (name, value) in fields.iter_mut() {
        match name.as_str() {
            "track_id" => *value = records.track.clone().into(),
            "target_id" => *value = records.target.clone().into(),
            "lane_id" if !value.is_null() => *value = records.lane.clone().into(),
            "feature_request_ids" => *value = json!([records.request]),
            "cover_image_signed_id" | "logo_signed_id" if !value.is_null() => *value = records.signed_id.clone().into(),
            "publish_at" if !value.is_null() => *value = "2999-01-01T00:00:00.000Z".into(),
            "name" if board => *value = records.free_name.clone().into(),
            _ => fill(value, records, board),
        }
    }
}
