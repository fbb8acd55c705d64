//! The rules of the product-feedback and roadmap service.
//!
//! This crate holds the logic that does not depend on the database, the web framework or the network.
//!
//! - [`model`]: values and records. They are validated when they are created and stay valid.
//! - [`policy`]: pure functions over the model.
//! - [`ports`]: traits for the external dependencies of the rules.
//! - [`trace`]: which spans are part of traces.
//! - [`usecase`]: the commands and queries, and the executor that runs commands.
//!
//! Out of scope: SQL, HTTP, clocks, files, sockets, async runtimes.
//!
//! Invariant: this crate does no I/O and depends on no runtime, framework or database.
//! `cargo xtask layers` enforces it.

pub mod error;
pub mod model;
pub mod policy;
pub mod ports;
pub mod trace;
pub mod usecase;

pub use error::{Conflict, FieldError, FieldProblem, Resource, RoadmapError, StoreError, Validated};
