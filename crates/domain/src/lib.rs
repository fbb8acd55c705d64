//! The rules of the product-feedback and roadmap service.
//!
//! Purpose: everything that would still be true if the service had another
//! database, another web framework or no network at all.
//!
//! - [`model`]: values and records, parsed once and valid ever after.
//! - [`policy`]: pure decisions over the model.
//! - [`ports`]: what the rules need from outside, as traits.
//! - [`usecase`]: the commands and queries, and the one executor that runs commands.
//!
//! Not here: SQL, HTTP, clocks, files, sockets, async runtimes.
//!
//! Invariant: this crate does no I/O and depends on no runtime, framework or
//! database. `cargo xtask layers` enforces it.

pub mod error;
pub mod model;
pub mod policy;
pub mod ports;
pub mod usecase;

pub use error::{FieldError, FieldProblem, Resource, RoadmapError, StoreError, Validated};
