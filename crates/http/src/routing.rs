//! Registers endpoints as actix-web resources: methods, `Allow` and access.

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::{FromRequest, Handler, HttpRequest, HttpResponse, Responder, Route, guard, web};
use roadmap_domain::model::api_key::Scope;

use crate::error::HttpError;
use crate::limits::limit_anonymous;

/// The access control of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// No key and no limit. For endpoints with negligible cost.
    Public,
    /// No key; requests are limited per address.
    Anonymous,
    /// A key with this scope. The endpoint must be inside an actix-web scope with
    /// [`crate::authentication::authenticate`].
    Key(Scope),
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

/// The scopes that the methods of a path require, stored as data of its resource.
struct RequiredScopes(Vec<(Method, Scope)>);

/// Returns the scope that the request's endpoint requires, or `None` if the endpoint takes no key.
#[must_use]
pub fn required_scope(request: &HttpRequest) -> Option<Scope> {
    let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
    let RequiredScopes(scopes) = request.app_data()?;
    scopes.iter().find(|(of, _)| of == method).map(|(_, scope)| *scope)
}

/// Registers endpoints: one resource per path, which responds to other methods with 405 and `Allow`.
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
    for (path, endpoints) in paths {
        let allowed = allow(&endpoints);
        let is_anonymous = endpoints.iter().any(|endpoint| endpoint.access == Access::Anonymous);
        let mut resource = web::resource(path.strip_prefix(prefix).unwrap_or(&path));
        let mut scopes = Vec::new();
        for Endpoint { method, access, route, .. } in endpoints {
            if let Access::Key(scope) = access {
                scopes.push((method.clone(), scope));
            }
            resource = resource.route(match method {
                // For HEAD, the server sends only the headers of the response.
                Method::GET => route.guard(guard::Any(guard::Get()).or(guard::Method(Method::HEAD))),
                method => route.guard(guard::Method(method)),
            });
        }
        let resource = resource.app_data(RequiredScopes(scopes)).default_service(web::to(move || {
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

    /// Responds with the scope that its endpoint requires.
    async fn scope(request: HttpRequest) -> HttpResponse {
        HttpResponseBuilder::new(StatusCode::OK).body(format!("{:?}", required_scope(&request)))
    }

    #[actix_web::test]
    async fn endpoints_of_one_path_are_one_resource_with_their_scopes_and_allow() {
        let endpoints = || {
            vec![
                Endpoint::new(Method::PUT, "/v1/setting", Access::Key(Scope::Write), scope),
                Endpoint::new(Method::GET, "/v1/setting", Access::Key(Scope::Read), scope),
                Endpoint::new(Method::POST, "/v1/votes/{id}", Access::Key(Scope::Write), scope),
                Endpoint::new(Method::GET, "/v1/open", Access::Public, scope),
            ]
        };
        let v1 =
            web::scope("/v1").configure(|config| register(config, "/v1", endpoints())).default_service(not_found());
        let app = init_service(App::new().service(v1)).await;
        for (method, path, status, content) in [
            ("GET", "/v1/setting", 200, "Some(Read)"),
            ("HEAD", "/v1/setting", 200, "Some(Read)"),
            ("PUT", "/v1/setting", 200, "Some(Write)"),
            ("POST", "/v1/votes/7", 200, "Some(Write)"),
            ("GET", "/v1/open", 200, "None"),
            ("POST", "/v1/setting", 405, "GET, HEAD, PUT"),
            ("GET", "/v1/votes/7", 405, "POST"),
            ("HEAD", "/v1/votes/7", 405, "POST"),
            ("POST", "/v1/open", 405, "GET, HEAD"),
            ("GET", "/v1/votes", 404, ""),
        ] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let response = call_service(&app, TestRequest::with_uri(path).method(method).to_request()).await;
            assert_eq!(response.status().as_u16(), status, "{path}");
            let allowed = response.headers().get(ALLOW).map(|value| value.to_str().unwrap().to_owned());
            let body = actix_web::body::to_bytes(response.into_body()).await.unwrap();
            let found = allowed.unwrap_or_else(|| String::from_utf8_lossy(&body).into_owned());
            assert_eq!(found, content, "{path}");
        }
    }
}
