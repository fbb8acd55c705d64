//! Endpoints of the external API, from `docs/openapi.json`, for tests that iterate over all of them.

use serde_json::Value;

use crate::app::{Client, FORM_TYPE, Response, form_with};
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

    /// Path for the feature request 1, without a query.
    pub fn target(&self) -> String {
        self.path.replace("{id}", "1")
    }

    /// Path for the feature request 1, with the required query parameters.
    pub fn target_with_query(&self) -> String {
        let value = |name: &str| match name {
            "email" => "ann@example.com",
            unknown => panic!("no value for the parameter {unknown} of {} {}", self.method, self.path),
        };
        let query: Vec<String> = self.required().iter().map(|name| format!("{name}={}", value(name))).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}{mark}{}", self.target(), query.join("&"))
    }

    /// Sends a valid request: the document's example body, with this track where the body has one.
    pub fn send(&self, client: &Client, track: &str, headers: &[(&str, &str)]) -> Response {
        let content = &self.operation["requestBody"]["content"];
        let (content_type, body) = if content["multipart/form-data"].is_object() {
            (FORM_TYPE, Some(form_with("a.txt", b"a")))
        } else {
            let example = content["application/json"].get("example");
            let body = example.map(|example| {
                let mut body = example.clone();
                body.get_mut("track_id").into_iter().for_each(|id| *id = track.into());
                body.to_string().into_bytes()
            });
            ("application/json", body)
        };
        assert_eq!(body.is_none(), self.method == "GET", "{} {} has no example", self.method, self.path);
        let headers = [&[("Content-Type", content_type)][..], headers].concat();
        client.request(self.method, &self.target_with_query(), &headers, body.as_deref()).expect("a response")
    }
}
