//! The HTTP core: what every surface of the service needs around its own endpoints, on actix-web.
//!
//! A request passes these steps in this order, each of which can end it:
//!
//! 1. [`server`] and `connection`: connections whose other end does nothing are closed.
//! 2. [`access_log`]: request id, spans and log line, the [`observer`], a response even when something panics. It renders
//!    the errors that no surface has rendered.
//! 3. [`host`]: exactly one well-formed host, or 400.
//! 4. [`routing`]: 404 for an unknown path, 405 for a method that a path does not have.
//! 5. For endpoints without a key, [`limits::limit_anonymous`]: client and host as the proxies report them
//!    ([`client_address`]), or 400; 429 after too many requests.
//!    For those with a key, [`authentication`] comes before routing: 400, 401 and 429.
//!
//! Surfaces (the API, pages, tools) register their endpoints by [`configure`] and know nothing of each other. What their
//! handlers share is here too: [`body`], [`detached`], [`workspace`].
//!
//! Invariant: statuses, messages and headers of errors are decided in [`error`] alone. How an error looks (JSON, a
//! page) is decided by the surface.

pub mod access_log;
pub mod authentication;
pub mod body;
pub mod client_address;
mod connection;
mod dependencies;
pub mod detached;
pub mod error;
pub mod headers;
mod health;
pub mod host;
pub mod limits;
pub mod observer;
pub mod request_id;
pub mod routing;
pub mod server;
pub mod workspace;

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::web;

pub use dependencies::HttpDependencies;
use routing::{Access, Endpoint};

/// Adds the middleware, the health checks and the endpoints of `surfaces` to an application.
pub fn configure(
    config: &mut web::ServiceConfig,
    dependencies: web::Data<HttpDependencies>,
    surfaces: impl FnOnce(&mut web::ServiceConfig),
) {
    let health = vec![
        Endpoint::new(Method::GET, "/healthz", Access::Public, health::live),
        Endpoint::new(Method::GET, "/readyz", Access::Anonymous, health::ready),
    ];
    config.app_data(dependencies).service(
        web::scope("")
            .wrap(from_fn(host::check_host))
            .wrap(from_fn(access_log::instrument_request))
            .configure(surfaces)
            .configure(|config| routing::register(config, "", health))
            .default_service(routing::not_found()),
    );
}
