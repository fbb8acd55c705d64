//! The HTTP surface of the service: thin, on actix-web.
//!
//! A call goes through the same steps in the same order, each of which can end it:
//!
//! 1. [`middleware`]: request id, log line, a word to the [`observer`], and an answer even when something panics.
//! 2. [`host`]: one host, or 400.
//! 3. [`caller`]: client and host as the proxies report them ([`forwarding`]), or 400; the workspace of the host and the holder of
//!    the key, or 401; 429 for either when there were too many calls ([`limits`]).
//! 4. Routes: 404 for an unknown path, 405 for a method that it does not have.
//! 5. [`extractors`]: 406 and 415, then 400 for a body that is no JSON object, then 403.
//! 6. `v1`, `v2`: the handler turns the body into a command and the reply into an answer.
//!
//! Not here: rules (domain) and SQL (stores).
//!
//! Beside the API, for browsers and without a key: `files`, `unsubscribe` with the page that ends mail,
//! and `docs` with the document of the API, which [`openapi`] puts together, and its page.
//!
//! Invariant: statuses are decided in [`error`] alone, and every error is JSON.

pub mod body;
pub mod caller;
pub mod connection;
pub mod detached;
mod docs;
pub mod error;
pub mod extractors;
pub mod fields;
mod files;
pub mod forwarding;
pub mod host;
pub mod limits;
pub mod markup;
pub mod middleware;
pub mod observer;
pub mod openapi;
mod routes;
mod state;
mod unsubscribe;
mod v1;
mod v2;
mod wire;

pub use routes::configure;
pub use state::State;
