//! The endpoints, each registered once.
//!
//! Each operation of the external API is one line of [`operations`]: its scope and its handler. The handler's
//! `utoipa::path` attribute has the path and the method. The route, the methods in `Allow`, the check of the scope and
//! the OpenAPI document are derived from these. The tables of the tests are derived from the document.

use std::sync::LazyLock;

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::{Route, web};
use roadmap_domain::model::api_key::Scope;
use roadmap_http::authentication::authenticate;
use roadmap_http::routing::{Access, Endpoint, not_found, register};
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa::openapi::path::PathItem;

use crate::state::State;
use crate::{docs, files, hooks, unsubscribe, v1, v2};

/// The common path of all endpoints that need a key.
const EXTERNAL: &str = "/api/external";

/// The beginnings of the paths that programs use. Their errors are JSON.
pub const PROGRAM_PATHS: [&str; 4] = ["/api/", "/blobs/", "/files/", "/hooks/"];

/// An operation of the external API.
pub(crate) struct Operation {
    access: Access,
    /// Creates an OpenAPI document with only this operation and its schemas.
    pub(crate) document: fn() -> Document,
    route: Route,
}

/// Returns the access control for a scope.
macro_rules! access {
    (Any) => {
        Access::AnyKey
    };
    ($scope:ident) => {
        Access::Key(Scope::$scope)
    };
}

/// Lists handlers, each after the scope that it requires.
macro_rules! operations {
    ($($scope:ident => $($handler:ident)::+),+ $(,)?) => {
        vec![$({
            #[derive(OpenApi)]
            #[openapi(paths($($handler)::+))]
            struct Described;
            Operation { access: access!($scope), document: Described::openapi, route: web::route().to($($handler)::+) }
        }),+]
    };
}

/// All operations of the external API.
pub(crate) fn operations() -> Vec<Operation> {
    operations![
        Any => v1::api_key::show,
        Manage => v1::audit_entries::index,
        Write => v1::changelogs::create,
        Manage => v1::changelogs::delete,
        Read => v1::changelogs::index,
        Write => v1::changelogs::publish,
        Read => v1::changelogs::show,
        Write => v1::changelogs::unpublish,
        Write => v1::changelogs::update,
        Read => v1::comments::all,
        Write => v1::comments::create,
        Write => v1::comments::delete,
        Read => v1::comments::index,
        Write => v1::comments::update,
        Manage => v1::customers::erase,
        Manage => v1::customers::export,
        Read => v1::customers::index,
        Write => v1::customers::merge,
        Read => v1::customers::show,
        Write => v1::customers::update,
        Manage => v1::exports::create,
        Manage => v1::exports::index,
        Manage => v1::exports::show,
        Read => v1::feature_requests::all,
        Write => v1::feature_requests::create,
        Manage => v1::feature_requests::delete,
        Read => v1::feature_requests::index,
        Write => v1::feature_requests::need_no_answer,
        Read => v1::feature_requests::show,
        Read => v1::feature_requests::similar,
        Write => v1::feature_requests::update,
        Write => v1::held_posts::approve_comment,
        Write => v1::held_posts::approve_feature_request,
        Write => v1::held_posts::decline_feature_request,
        Read => v1::held_posts::index,
        Manage => v1::lanes::create,
        Manage => v1::lanes::delete,
        Read => v1::lanes::index,
        Manage => v1::lanes::update,
        Manage => v1::link_sources::create,
        Manage => v1::link_sources::delete,
        Manage => v1::link_sources::index,
        Manage => v1::link_sources::show,
        Manage => v1::link_sources::update,
        Write => v1::links::create,
        Write => v1::links::delete,
        Read => v1::links::index,
        Write => v1::links::update,
        Read => v1::members::index,
        Write => v1::merges::merge,
        Write => v1::merges::unmerge,
        Read => v1::overview::show,
        Manage => v1::portal::show,
        Manage => v1::portal::update,
        Write => v1::reference_notes::delete,
        Read => v1::reference_notes::index,
        Read => v1::roadmap::show,
        Write => v1::setting::replace,
        Read => v1::setting::show,
        Write => v1::setting::update,
        Write => v1::subscriptions::delete,
        Write => v1::subscriptions::update,
        Read => v1::synonyms::index,
        Manage => v1::synonyms::replace,
        Manage => v1::tags::delete,
        Read => v1::tags::index,
        Write => v1::tags::update,
        Read => v1::track_moves::index,
        Write => v1::track_moves::update,
        Manage => v1::tracks::create,
        Manage => v1::tracks::delete,
        Read => v1::tracks::feature_requests,
        Read => v1::tracks::index,
        Manage => v1::tracks::update,
        Write => v1::upvotes::create,
        Write => v1::upvotes::delete,
        Read => v1::voters::index,
        Read => v1::votes::index,
        Manage => v1::webhooks::create,
        Manage => v1::webhooks::delete,
        Manage => v1::webhooks::deliveries,
        Manage => v1::webhooks::delivery,
        Manage => v1::webhooks::index,
        Manage => v1::webhooks::redeliver,
        Manage => v1::webhooks::redeliver_failed,
        Manage => v1::webhooks::rotate_secret,
        Manage => v1::webhooks::show,
        Manage => v1::webhooks::test,
        Manage => v1::webhooks::update,
        Write => v2::attachments::create,
        Manage => v2::attachments::delete,
        Read => v2::attachments::show,
        Manage => v2::imports::create,
        Manage => v2::imports::delete,
        Manage => v2::imports::index,
        Manage => v2::imports::run,
        Manage => v2::imports::show,
        Manage => v2::imports::undo,
    ]
}

/// Endpoints for browsers and trackers, without a key. They are not in the OpenAPI document.
fn without_key() -> Vec<Endpoint> {
    vec![
        Endpoint::new(Method::GET, "/api/external/openapi.json", Access::Public, docs::document),
        Endpoint::new(Method::GET, "/api/docs", Access::Public, docs::page),
        Endpoint::new(Method::GET, "/api", Access::Public, docs::lead_to_page),
        Endpoint::new(Method::GET, "/blobs/{reference}/{filename}", Access::Anonymous, files::blob),
        Endpoint::new(Method::GET, "/files/{reference}/{filename}", Access::Anonymous, files::file),
        Endpoint::new(Method::POST, "/hooks/{id}", Access::Anonymous, hooks::receive),
        Endpoint::new(Method::GET, "/unsubscribe/{reference}", Access::Anonymous, unsubscribe::show_page),
        Endpoint::new(Method::POST, "/unsubscribe/{reference}", Access::Anonymous, unsubscribe::submit),
    ]
}

/// Adds all endpoints to an application, within [`roadmap_http::configure`].
pub fn configure(config: &mut web::ServiceConfig, state: web::Data<State>) {
    config.app_data(state);
    // Registered first, because one of them is below the path of the operations.
    register(config, "", without_key());
    config.service(
        web::scope(EXTERNAL)
            .wrap(from_fn(authenticate))
            .configure(register_operations)
            .configure(|config| register(config, EXTERNAL, beginnings()))
            .default_service(not_found()),
    );
}

/// The beginnings of the paths of operations. With a key, they lead to the documentation.
fn beginnings() -> Vec<Endpoint> {
    let paths = ["", "/", "/v1", "/v1/", "/v2", "/v2/"].map(|end| format!("{EXTERNAL}{end}"));
    paths.map(|path| Endpoint::new(Method::GET, &path, Access::AnyKey, docs::lead_to_page)).into()
}

/// Adds the operations alone to an application inside of the process, whose requests have the caller's `Credential` in
/// their extensions. It does not authenticate them and has no middleware.
pub fn configure_operations(config: &mut web::ServiceConfig, state: web::Data<State>) {
    config.app_data(state).service(web::scope(EXTERNAL).configure(register_operations).default_service(not_found()));
}

fn register_operations(config: &mut web::ServiceConfig) {
    register(config, EXTERNAL, endpoints());
}

/// Returns the method, the path and the access control of each operation.
#[must_use]
pub fn access_of_operations() -> Vec<(Method, String, Access)> {
    endpoints().into_iter().map(|Endpoint { method, path, access, .. }| (method, path, access)).collect()
}

/// The method and the path of each operation, in their order. They are those of its document, and to create all documents
/// takes milliseconds: not in each worker.
static LOCATIONS: LazyLock<Vec<Option<(Method, String)>>> = LazyLock::new(|| {
    let location = |operation: Operation| {
        let (path, item) = (operation.document)().paths.paths.into_iter().next()?;
        Some((method_of(&item)?, path))
    };
    operations().into_iter().map(location).collect()
});

/// Prepares the endpoints, which the first worker does otherwise.
pub fn load_endpoints() {
    LazyLock::force(&LOCATIONS);
}

/// The endpoints of all operations.
fn endpoints() -> Vec<Endpoint> {
    let located = operations().into_iter().zip(LOCATIONS.iter().cloned());
    let endpoints = located.filter_map(|(Operation { access, route, .. }, location)| {
        let (method, path) = location?;
        Some(Endpoint { path, method, access, route })
    });
    endpoints.collect()
}

/// Returns the method of a path with one operation.
fn method_of(item: &PathItem) -> Option<Method> {
    let PathItem { get, put, post, delete, patch, .. } = item;
    [(get, Method::GET), (put, Method::PUT), (post, Method::POST), (delete, Method::DELETE), (patch, Method::PATCH)]
        .into_iter()
        .find_map(|(operation, method)| operation.as_ref().map(|_| method))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use serde_json::Value;

    /// Beyond the contract: the document contains exactly the routes of the API.
    #[test]
    fn every_operation_is_an_endpoint_and_every_endpoint_with_a_key_is_in_the_document() {
        let count = operations().len();
        let endpoints: BTreeSet<(String, String)> =
            endpoints().into_iter().map(|endpoint| (endpoint.path, endpoint.method.as_str().to_lowercase())).collect();
        assert_eq!(endpoints.len(), count);
        let document = crate::openapi::document_json();
        let paths = document["paths"].as_object().unwrap();
        let methods = |(path, item): (&String, &Value)| {
            let methods: Vec<_> =
                item.as_object().unwrap().keys().map(|method| (path.clone(), method.clone())).collect();
            methods
        };
        assert_eq!(endpoints, paths.iter().flat_map(methods).collect());
        assert!(endpoints.iter().all(|(path, _)| path.starts_with("/api/external/v")));
    }

    #[test]
    fn reads_need_the_read_scope_and_changes_the_write_scope_with_these_exceptions() {
        let exceptions: BTreeMap<(&str, &str), Access> = [
            ("GET /api/external/v1/api_key", Access::AnyKey),
            ("GET /api/external/v1/audit_entries", Access::Key(Scope::Manage)),
            ("DELETE /api/external/v1/changelogs/{id}", Access::Key(Scope::Manage)),
            ("GET /api/external/v1/customers/{id}/export", Access::Key(Scope::Manage)),
            ("POST /api/external/v1/customers/{id}/erase", Access::Key(Scope::Manage)),
            ("GET /api/external/v1/exports", Access::Key(Scope::Manage)),
            ("POST /api/external/v1/exports", Access::Key(Scope::Manage)),
            ("GET /api/external/v1/exports/{id}", Access::Key(Scope::Manage)),
            ("DELETE /api/external/v1/feature_requests/{id}", Access::Key(Scope::Manage)),
            ("POST /api/external/v1/lanes", Access::Key(Scope::Manage)),
            ("PATCH /api/external/v1/lanes/{id}", Access::Key(Scope::Manage)),
            ("DELETE /api/external/v1/lanes/{id}", Access::Key(Scope::Manage)),
            ("GET /api/external/v1/link_sources", Access::Key(Scope::Manage)),
            ("POST /api/external/v1/link_sources", Access::Key(Scope::Manage)),
            ("GET /api/external/v1/link_sources/{id}", Access::Key(Scope::Manage)),
            ("PATCH /api/external/v1/link_sources/{id}", Access::Key(Scope::Manage)),
            ("DELETE /api/external/v1/link_sources/{id}", Access::Key(Scope::Manage)),
            ("GET /api/external/v1/portal", Access::Key(Scope::Manage)),
            ("PATCH /api/external/v1/portal", Access::Key(Scope::Manage)),
            ("PUT /api/external/v1/synonyms", Access::Key(Scope::Manage)),
            ("DELETE /api/external/v1/tags/{name}", Access::Key(Scope::Manage)),
            ("POST /api/external/v1/tracks", Access::Key(Scope::Manage)),
            ("PATCH /api/external/v1/tracks/{id}", Access::Key(Scope::Manage)),
            ("DELETE /api/external/v1/tracks/{id}", Access::Key(Scope::Manage)),
            ("GET /api/external/v1/webhooks", Access::Key(Scope::Manage)),
            ("POST /api/external/v1/webhooks", Access::Key(Scope::Manage)),
            ("GET /api/external/v1/webhooks/{id}", Access::Key(Scope::Manage)),
            ("PATCH /api/external/v1/webhooks/{id}", Access::Key(Scope::Manage)),
            ("DELETE /api/external/v1/webhooks/{id}", Access::Key(Scope::Manage)),
            ("GET /api/external/v1/webhooks/{id}/deliveries", Access::Key(Scope::Manage)),
            ("GET /api/external/v1/webhooks/{id}/deliveries/{delivery_id}", Access::Key(Scope::Manage)),
            ("POST /api/external/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver", Access::Key(Scope::Manage)),
            ("POST /api/external/v1/webhooks/{id}/redeliver", Access::Key(Scope::Manage)),
            ("POST /api/external/v1/webhooks/{id}/rotate_secret", Access::Key(Scope::Manage)),
            ("POST /api/external/v1/webhooks/{id}/test", Access::Key(Scope::Manage)),
            ("DELETE /api/external/v2/attachments/{id}", Access::Key(Scope::Manage)),
            ("GET /api/external/v2/imports", Access::Key(Scope::Manage)),
            ("POST /api/external/v2/imports", Access::Key(Scope::Manage)),
            ("GET /api/external/v2/imports/{id}", Access::Key(Scope::Manage)),
            ("DELETE /api/external/v2/imports/{id}", Access::Key(Scope::Manage)),
            ("POST /api/external/v2/imports/{id}/run", Access::Key(Scope::Manage)),
            ("POST /api/external/v2/imports/{id}/undo", Access::Key(Scope::Manage)),
        ]
        .into_iter()
        .map(|(endpoint, access)| (endpoint.split_once(' ').unwrap(), access))
        .collect();
        let mut exception_count = 0;
        for endpoint in endpoints() {
            let usual = Access::Key(if endpoint.method == Method::GET { Scope::Read } else { Scope::Write });
            let exception = exceptions.get(&(endpoint.method.as_str(), endpoint.path.as_str()));
            exception_count += usize::from(exception.is_some());
            let expected = exception.copied().unwrap_or(usual);
            assert_eq!(endpoint.access, expected, "{} {}", endpoint.method, endpoint.path);
        }
        assert_eq!(exception_count, exceptions.len());
    }

    #[test]
    fn endpoints_without_a_key_are_listed() {
        // A documented endpoint must not be registered without a key by mistake.
        let open: Vec<(String, Access)> =
            without_key().into_iter().map(|endpoint| (endpoint.path, endpoint.access)).collect();
        let known = [
            ("/api/external/openapi.json", Access::Public),
            ("/api/docs", Access::Public),
            ("/api", Access::Public),
            ("/blobs/{reference}/{filename}", Access::Anonymous),
            ("/files/{reference}/{filename}", Access::Anonymous),
            ("/hooks/{id}", Access::Anonymous),
            ("/unsubscribe/{reference}", Access::Anonymous),
            ("/unsubscribe/{reference}", Access::Anonymous),
        ];
        assert_eq!(open, known.map(|(path, access)| (path.to_owned(), access)));
    }
}
