//! The external API: a thin layer on actix-web and the HTTP core ([`roadmap_http`]).
//!
//! A request first passes the core's middleware: id, log line, host. Then these steps, each of which can reject it:
//!
//! 1. [`roadmap_http::authentication`]: 400, 401 or 429.
//! 2. `routes`: 404 for an unknown path, 405 for a method that the path does not have.
//! 3. [`extractors`]: 406 and 415, then 400 for a body that is not a JSON object, then 403.
//! 4. `v1`, `v2`: the handler converts the body into a command and its result into a response.
//!
//! This crate has no business rules (domain), no SQL (stores) and no code shared with other surfaces (HTTP core).
//!
//! It also serves browsers without a key: `files`, the page of `unsubscribe`, and `docs` with the OpenAPI document from
//! [`openapi`] and its page.
//!
//! Invariant: every error is JSON, rendered by [`error`].

mod docs;
pub mod error;
pub mod extractors;
pub mod fields;
mod files;
mod hooks;
pub mod markup;
pub mod openapi;
mod pictures;
mod routes;
mod state;
mod unsubscribe;
mod v1;
mod v2;
mod wire;

pub use routes::{PROGRAM_PATHS, access_of_operations, configure, configure_operations, load_endpoints};
pub use state::State;
pub use wire::event::EventBodies;
