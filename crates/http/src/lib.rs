//! The HTTP core: middleware, routing and errors that all surfaces of the service share, on actix-web.
//!
//! A request passes these steps in this order. Each step can reject it:
//!
//! 1. [`server`] and `connection`: close connections whose peer is inactive.
//! 2. [`access_log`]: request id, spans, log line and [`observer`]. Turns a panic into a response and renders the
//!    errors that no surface has rendered.
//! 3. [`host`]: 400 unless there is exactly one well-formed host.
//! 4. [`routing`]: 404 for an unknown path, 405 for a method that a path does not have.
//! 5. For endpoints without a key, `anonymous`: 400 when the proxies' headers contradict each other
//!    ([`client_address`]), 429 after too many requests.
//!    For endpoints with a key, [`authentication`] runs before routing: 400, 401 and 429.
//!
//! Surfaces (the API, pages, tools) register their endpoints within [`configure`] and do not depend on each other.
//! Their handlers share [`body`], [`detached`], [`overview`], [`shared_cache`] and [`workspace`].
//!
//! Invariant: [`error`] alone decides statuses, messages and headers of errors. The surface decides their format (JSON
//! or a page).

pub mod access_log;
mod anonymous;
pub mod authentication;
pub mod body;
pub mod client_address;
mod connection;
pub mod content;
mod dependencies;
pub mod detached;
pub mod error;
pub mod form_part;
pub mod headers;
mod health;
pub mod host;
pub mod limits;
pub mod observer;
pub mod overview;
pub mod request_id;
pub mod routing;
pub mod server;
pub mod shared_cache;
pub mod upload_form;
pub mod workspace;

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::{Route, web};

pub use dependencies::HttpDependencies;
use routing::{Access, Endpoint};

/// The paths of the health checks.
pub const HEALTH_PATHS: [&str; 2] = ["/healthz", "/readyz"];

/// Adds the middleware, the health checks and the endpoints of `surfaces` to an application. `unknown_path` handles
/// requests that none of them has an endpoint for.
pub fn configure(
    config: &mut web::ServiceConfig,
    dependencies: web::Data<HttpDependencies>,
    surfaces: impl FnOnce(&mut web::ServiceConfig),
    unknown_path: Route,
) {
    let [live, ready] = HEALTH_PATHS;
    let health = vec![
        Endpoint::new(Method::GET, live, Access::Public, health::live),
        Endpoint::new(Method::GET, ready, Access::Anonymous, health::ready),
    ];
    config.app_data(dependencies).service(
        web::scope("")
            .wrap(from_fn(host::check_host))
            .wrap(from_fn(access_log::instrument_request))
            .configure(surfaces)
            .configure(|config| routing::register(config, "", health))
            .default_service(unknown_path),
    );
}
