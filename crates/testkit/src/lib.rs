//! What every store must do, as tests that any store can be put through.
//!
//! - [`contract`]: the suite; [`contract_tests!`] runs it on a store.
//! - [`harness`]: what a store hands in, and short words for what the cases do.
//! - [`postgres`]: a server and databases to run it on.
//! - [`proxy`]: what stands between a service and its database, and fails when told to.
//! - [`python`]: environments for what is written in Python.
//! - [`s3`]: a server for files.
//! - [`http`]: a server that keeps whatever is sent to it.
//! - [`smtp`]: a server for mail, which fails when told to.
//! - [`effort`]: the effort of tests, and repeatable random numbers.
//! - [`fail_fast`]: an early end when a test has failed.
//! - [`fakes`]: a clock that is set by hand, foreseeable ids, a gate that is always open.
//!
//! Never a normal dependency: for tests only.

// A test says what it expects by failing.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used
)]

pub mod contract;
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
