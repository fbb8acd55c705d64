//! The resources: reads of the API that a client can attach to a conversation.

use percent_encoding::percent_decode_str;
use roadmap_domain::model::api_key::{Scope, Scopes};
use serde_json::{Value, json};

use crate::call::{ApiCall, MAX_TARGET, escape};

/// The media type of all resources.
pub(crate) const MEDIA_TYPE: &str = "application/json";

/// The resource with the OpenAPI document, which the program itself has.
pub(crate) const OPENAPI: &str = "roadmap://openapi";

/// A resource or, with `{id}`, a template of resources.
struct Resource {
    uri: &'static str,
    name: &'static str,
    description: &'static str,
    /// The path of the read. `None` for the OpenAPI document.
    path: Option<&'static str>,
}

const RESOURCES: [Resource; 5] = [
    Resource {
        uri: "roadmap://tracks",
        name: "tracks",
        description: "The tracks of the workspace with their ids, in their order.",
        path: Some("/api/external/v1/tracks"),
    },
    Resource {
        uri: "roadmap://setting",
        name: "setting",
        description: "The name and the website of the product.",
        path: Some("/api/external/v1/setting"),
    },
    Resource {
        uri: OPENAPI,
        name: "openapi",
        description: "The OpenAPI document of the API behind the tools.",
        path: None,
    },
    Resource {
        uri: "roadmap://feature_requests/{id}",
        name: "feature_request",
        description: "A feature request, by its id or slug.",
        path: Some("/api/external/v1/feature_requests/{id}"),
    },
    Resource {
        uri: "roadmap://changelogs/{id}",
        name: "changelog",
        description: "A changelog, by its id.",
        path: Some("/api/external/v1/changelogs/{id}"),
    },
];

/// Where the content of a resource comes from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The OpenAPI document.
    OpenApi,
    /// A read of the API.
    Api(ApiCall),
}

/// Returns the list of the resources that a key with these scopes can read.
pub(crate) fn list(scopes: Scopes) -> Value {
    listed(scopes, false)
}

/// Returns the list of the templates of resources that a key with these scopes can read.
pub(crate) fn templates(scopes: Scopes) -> Value {
    listed(scopes, true)
}

fn listed(scopes: Scopes, templates: bool) -> Value {
    let key = if templates { "uriTemplate" } else { "uri" };
    let listed = RESOURCES.iter().filter(|resource| {
        resource.uri.contains('{') == templates && (resource.path.is_none() || scopes.allows(Scope::Read))
    });
    let describe = |Resource { uri, name, description, .. }: &Resource| json!({ key: uri, "name": name, "description": description, "mimeType": MEDIA_TYPE });
    listed.map(describe).collect()
}

/// Returns the source of a resource, or `None` if there is no such resource.
pub(crate) fn source(uri: &str) -> Option<Source> {
    RESOURCES.iter().find_map(|resource| {
        let id = match resource.uri.split_once("{id}") {
            None => (resource.uri == uri).then(String::new)?,
            Some((before, _)) => {
                let segment =
                    uri.strip_prefix(before).filter(|segment| !segment.is_empty() && !segment.contains('/'))?;
                let id = escape(&percent_decode_str(segment).decode_utf8().ok()?);
                Some(id).filter(|id| id.len() < MAX_TARGET / 2)?
            }
        };
        Some(match resource.path {
            None => Source::OpenApi,
            Some(path) => Source::Api(ApiCall::get(path.replace("{id}", &id))),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &Value) -> Vec<&str> {
        list.as_array().unwrap().iter().map(|resource| resource["name"].as_str().unwrap()).collect()
    }

    #[test]
    fn an_id_that_is_too_long_names_nothing() {
        let uri = |length: usize| format!("roadmap://feature_requests/{}", "a".repeat(length));
        assert!(source(&uri(1_000)).is_some());
        assert!(source(&uri(70_000)).is_none());
    }

    #[test]
    fn a_uri_names_a_read_of_the_api() {
        for (uri, target) in [
            ("roadmap://tracks", Some("v1/tracks")),
            ("roadmap://setting", Some("v1/setting")),
            ("roadmap://feature_requests/12-dark", Some("v1/feature_requests/12-dark")),
            ("roadmap://feature_requests/%2E%2E%2Ftracks", Some("v1/feature_requests/%2E%2E%2Ftracks")),
            ("roadmap://changelogs/x", Some("v1/changelogs/x")),
            ("roadmap://tracks/", None),
            ("roadmap://feature_requests/", None),
            ("roadmap://feature_requests/1/comments", None),
            ("roadmap://feature_requests/%ff", None),
            ("roadmap://feature_requests/{id}/", None),
            ("roadmap://customers/1", None),
            ("ROADMAP://tracks", None),
            ("", None),
        ] {
            let target = target.map(|target| Source::Api(ApiCall::get(format!("/api/external/{target}"))));
            assert_eq!(source(uri), target, "{uri}");
        }
        assert_eq!(source(OPENAPI), Some(Source::OpenApi));
    }

    #[test]
    fn a_key_without_read_sees_the_document_only() {
        let write = Scopes::parse("scope", &["write".to_owned()]).unwrap();
        assert_eq!(names(&list(Scopes::DEFAULT)), ["tracks", "setting", "openapi"]);
        assert_eq!(names(&list(write)), ["openapi"]);
        assert_eq!(names(&templates(Scopes::DEFAULT)), ["feature_request", "changelog"]);
        assert!(names(&templates(write)).is_empty());
        let expected = json!({
            "uri": "roadmap://tracks",
            "name": "tracks",
            "description": "The tracks of the workspace with their ids, in their order.",
            "mimeType": "application/json",
        });
        assert_eq!(list(Scopes::DEFAULT)[0], expected);
    }
}
