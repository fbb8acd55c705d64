//! The MCP surface: the operations of the API as tools for agents, at `POST /mcp` of each workspace.
//!
//! MCP is the Model Context Protocol, <https://modelcontextprotocol.io/specification>. This crate speaks its modern
//! revision 2026-07-28 and, for older clients, 2025-11-25 and 2025-06-18. A message passes these steps:
//!
//! 1. [`roadmap_http`]: host, key, rate limit.
//! 2. `endpoint`: origin and body.
//! 3. `message`: JSON-RPC, the era of the client, headers.
//! 4. `server`: the methods. A tool (`registry`) becomes a request of the API (`call`), which `api` runs inside of the
//!    process. `resources` and `prompts` are small lists.
//!
//! The tools are made from the OpenAPI document (`registry`, `schema`), so that a new operation is a new tool. The list
//! that a client gets by default is shorter: `registry` names its tools.
//!
//! Invariant: a tool has no rules of its own. Whatever an operation checks, stores and returns, its tool does, too. There
//! are two exceptions, for callers that guess: unknown arguments are refused, and what cannot be undone needs `manage`.

mod api;
mod call;
mod endpoint;
mod message;
mod prompts;
mod registry;
mod resources;
mod schema;
mod server;

use std::sync::Arc;

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::web;
use roadmap_http::authentication::authenticate;
use roadmap_http::error::HttpError;
use roadmap_http::routing::{Access, Endpoint, not_found, register};
use tokio::sync::OnceCell;

use api::{Api, Caller};
pub use registry::{document, summary};

/// The path of the endpoint.
pub const PATH: &str = "/mcp";

/// The state of the endpoint in one thread.
struct State {
    /// The dependencies of the API's handlers.
    api: web::Data<roadmap_api::State>,
    /// The origins of pages, besides that of the workspace, that may use the endpoint.
    allowed_origins: Arc<[String]>,
    operations: OnceCell<Api>,
}

impl State {
    /// Returns the operations of the API. The first call starts them.
    async fn operations(&self) -> Result<&Api, HttpError> {
        self.operations.get_or_try_init(|| Api::start(self.api.clone())).await
    }

    /// Returns the origin of the pages of the caller's workspace.
    fn own_origin(&self, caller: &Caller) -> String {
        self.api.http.base_url.workspace_url(&caller.credential.workspace.subdomain)
    }
}

/// Adds the endpoint to an application, within [`roadmap_http::configure`]. Pages of `allowed_origins` may use it, too.
pub fn configure(config: &mut web::ServiceConfig, api: web::Data<roadmap_api::State>, allowed_origins: Arc<[String]>) {
    let state = web::Data::new(State { api, allowed_origins, operations: OnceCell::new() });
    let endpoint = Endpoint::new(Method::POST, PATH, Access::AnyKey, endpoint::post);
    config.service(
        web::scope(PATH)
            .app_data(state)
            .wrap(from_fn(authenticate))
            .configure(|config| register(config, PATH, vec![endpoint]))
            .default_service(not_found()),
    );
}
