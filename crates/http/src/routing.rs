//! Registers endpoints as actix-web resources: methods, `Allow` and access.

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::{FromRequest, Handler, HttpRequest, HttpResponse, Responder, Route, guard, web};
use roadmap_domain::model::api_key::{Scope, Scopes};

use crate::anonymous::limit_anonymous;
use crate::error::HttpError;

/// The access control of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No key and no limit. For endpoints with negligible cost.
    Public,
    /// No key; requests are limited per address.
    Anonymous,
    /// A key with any scope. The endpoint must be inside an actix-web scope with
    /// [`crate::authentication::authenticate`].
    AnyKey,
    /// A key with this scope. The endpoint must be inside such a scope, too.
    Key(Scope),
}

impl Access {
    /// Whether a key with these scopes gives access. Endpoints without a key accept none.
    #[must_use]
    pub fn is_granted_by(self, scopes: Scopes) -> bool {
        match self {
            Self::Public | Self::Anonymous => false,
            Self::AnyKey => true,
            Self::Key(scope) => scopes.allows(scope),
        }
    }
}

/// A method of a path and its handler.
pub struct Endpoint {
    /// The path, in the syntax of both actix-web and OpenAPI.
    pub path: String,
    /// The method. GET includes HEAD.
    pub method: Method,
    /// The access control.
    pub access: Access,
    /// The handler.
    pub route: Route,
}

impl Endpoint {
    /// Creates an endpoint with this handler.
    pub fn new<F, Args>(method: Method, path: &str, access: Access, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        Self { path: path.to_owned(), method, access, route: web::route().to(handler) }
    }
}

/// The access control of the methods of a path, stored as data of its resource.
struct MethodAccess(Vec<(Method, Access)>);

/// Whether the request's endpoint accepts a key with these scopes.
#[must_use]
pub fn accepts_key(request: &HttpRequest, scopes: Scopes) -> bool {
    let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
    let Some(MethodAccess(methods)) = request.app_data() else { return false };
    methods.iter().any(|(of, access)| of == method && access.is_granted_by(scopes))
}

/// Registers endpoints: one resource per path, which responds to other methods with 405 and `Allow`. A path without a
/// parameter takes precedence over one with it: `/votes/new` over `/votes/{id}`.
///
/// `prefix` is the path of the actix-web scope that `config` belongs to. The endpoints of a path must be all
/// [`Access::Anonymous`] or none of them.
pub fn register(config: &mut web::ServiceConfig, prefix: &str, endpoints: Vec<Endpoint>) {
    let mut paths: Vec<(String, Vec<Endpoint>)> = Vec::new();
    for endpoint in endpoints {
        match paths.iter_mut().find(|(path, _)| *path == endpoint.path) {
            Some((_, of_path)) => of_path.push(endpoint),
            None => paths.push((endpoint.path.clone(), vec![endpoint])),
        }
    }
    paths.sort_by_key(|(path, _)| path.split('/').map(|segment| segment.starts_with('{')).collect::<Vec<_>>());
    for (path, endpoints) in paths {
        let allowed = allow(&endpoints);
        let is_anonymous = endpoints.iter().any(|endpoint| endpoint.access == Access::Anonymous);
        let mut resource = web::resource(path.strip_prefix(prefix).unwrap_or(&path));
        let mut methods = Vec::new();
        for Endpoint { method, access, route, .. } in endpoints {
            methods.push((method.clone(), access));
            resource = resource.route(match method {
                // For HEAD, the server sends only the headers of the response.
                Method::GET => route.guard(guard::Any(guard::Get()).or(guard::Method(Method::HEAD))),
                method => route.guard(guard::Method(method)),
            });
        }
        let resource = resource.app_data(MethodAccess(methods)).default_service(web::to(move || {
            let error = HttpError::MethodNotAllowed(allowed.clone());
            async move { Err::<HttpResponse, _>(error) }
        }));
        match is_anonymous {
            true => config.service(resource.wrap(from_fn(limit_anonymous))),
            false => config.service(resource),
        };
    }
}

/// Returns the methods of a path as a value of `Allow`.
fn allow(endpoints: &[Endpoint]) -> String {
    let mut methods: Vec<&str> = endpoints.iter().map(|endpoint| endpoint.method.as_str()).collect();
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.sort_unstable();
    methods.join(", ")
}

/// Returns the handler of unknown paths.
pub fn not_found() -> Route {
    web::to(|| async { Err::<HttpResponse, _>(HttpError::NotFound) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::ALLOW;
    use actix_web::test::{TestRequest, call_service, init_service};
    use actix_web::{App, HttpResponseBuilder, http::StatusCode};

    /// Responds with the pattern of its path and the single scopes that its endpoint accepts.
    async fn scopes(request: HttpRequest) -> HttpResponse {
        let accepted = ["read", "write", "manage"].into_iter().filter(|name| {
            let scopes = Scopes::parse("scope", &[(*name).to_owned()]).unwrap();
            accepts_key(&request, scopes)
        });
        let accepted: Vec<_> = accepted.collect();
        let pattern = request.match_pattern().unwrap_or_default();
        HttpResponseBuilder::new(StatusCode::OK).body(format!("{pattern} {}", accepted.join("+")))
    }

    /// Addition 1.
    #[actix_web::test]
    async fn endpoints_of_one_path_are_one_resource_with_their_scopes_and_allow() {
        let endpoints = || {
            vec![
                Endpoint::new(Method::PUT, "/v1/setting", Access::Key(Scope::Write), scopes),
                Endpoint::new(Method::GET, "/v1/setting", Access::Key(Scope::Read), scopes),
                Endpoint::new(Method::DELETE, "/v1/setting", Access::Key(Scope::Manage), scopes),
                Endpoint::new(Method::POST, "/v1/votes/{id}", Access::Key(Scope::Write), scopes),
                Endpoint::new(Method::GET, "/v1/votes/new", Access::AnyKey, scopes),
                Endpoint::new(Method::GET, "/v1/open", Access::Public, scopes),
            ]
        };
        let v1 =
            web::scope("/v1").configure(|config| register(config, "/v1", endpoints())).default_service(not_found());
        let app = init_service(App::new().service(v1)).await;
        for (method, path, status, content) in [
            ("GET", "/v1/setting", 200, "/v1/setting read"),
            ("HEAD", "/v1/setting", 200, "/v1/setting read"),
            ("PUT", "/v1/setting", 200, "/v1/setting write"),
            ("DELETE", "/v1/setting", 200, "/v1/setting manage"),
            ("POST", "/v1/votes/7", 200, "/v1/votes/{id} write"),
            ("GET", "/v1/votes/new", 200, "/v1/votes/new read+write+manage"),
            ("GET", "/v1/open", 200, "/v1/open "),
            ("POST", "/v1/setting", 405, "DELETE, GET, HEAD, PUT"),
            ("GET", "/v1/votes/7", 405, "POST"),
            ("HEAD", "/v1/votes/7", 405, "POST"),
            ("POST", "/v1/votes/new", 405, "GET, HEAD"),
            ("POST", "/v1/open", 405, "GET, HEAD"),
            ("GET", "/v1/votes", 404, ""),
        ] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let response = call_service(&app, TestRequest::with_uri(path).method(method).to_request()).await;
            assert_eq!(response.status().as_u16(), status, "{path}");
            let allowed = response.headers().get(ALLOW).map(|value| value.to_str().unwrap().to_owned());
            let body = actix_web::body::to_bytes(response.into_body()).await.unwrap();
            let actual = allowed.unwrap_or_else(|| String::from_utf8_lossy(&body).into_owned());
            assert_eq!(actual, content, "{path}");
        }
    }
}
