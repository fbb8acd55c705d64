//! The external API: thin, on actix-web and the HTTP core ([`roadmap_http`]).
//!
//! A request has passed the middleware of the core: id, log line, host. Then, in this order, each of which can end it:
//!
//! 1. [`roadmap_http::authentication`]: 400, 401 or 429.
//! 2. `routes`: 404 for an unknown path, 405 for a method that it does not have.
//! 3. [`extractors`]: 406 and 415, then 400 for a body that is no JSON object, then 403.
//! 4. `v1`, `v2`: the handler turns the body into a command and the reply into an answer.
//!
//! Not here: rules (domain), SQL (stores), and what the API shares with other surfaces (HTTP core).
//!
//! Beside the API, for browsers and without a key: `files`, `unsubscribe` with the page that ends mail,
//! and `docs` with the document of the API, which [`openapi`] puts together, and its page.
//!
//! Invariant: every error is JSON, rendered by [`error`].

mod docs;
pub mod error;
pub mod extractors;
pub mod fields;
mod files;
pub mod markup;
pub mod openapi;
mod routes;
mod state;
mod unsubscribe;
mod v1;
mod v2;
mod wire;

pub use routes::configure;
pub use state::State;
