//! The contract suite that every store must pass, and servers and fakes for tests.
//!
//! - [`contract`]: the suite; [`contract_tests!`] runs it on a store.
//! - [`harness`]: the ports of a store under test, and helpers for the cases.
//! - [`postgres`]: PostgreSQL servers and databases.
//! - `disk`: on Linux, a disk that loses what was not synced when its power is cut.
//! - [`proxy`]: a TCP proxy that injects faults between a service and its database.
//! - [`python`]: Python environments for tools that are written in Python.
//! - [`s3`]: an S3 server.
//! - [`http`]: an HTTP server that records all requests.
//! - [`smtp`]: a mail server with scripted replies.
//! - [`fail_fast`]: stops a test run after the first failure.
//! - [`fakes`]: a manual clock, sequential ids, operation locks that never block.
//!
//! For tests only: a dev-dependency, never a normal one.

// A panic is how a test fails.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used
)]

pub mod contract;
#[cfg(target_os = "linux")]
pub mod disk;
pub mod effort;
pub mod fail_fast;
pub mod fakes;
pub mod harness;
pub mod http;
pub mod postgres;
pub mod proxy;
pub mod python;
pub mod s3;
pub mod smtp;
