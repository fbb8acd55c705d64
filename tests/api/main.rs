//! The service from outside: the real binary on a random port, with a real database file.
//!
//! Every test has a server and a file of its own. `app` starts them and has a method for each
//! endpoint and command. One binary for all, because linking is what takes time.

// A test says what it expects by failing.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub
)]

mod app;
mod database;
mod shared;

mod attachments;
mod authentication;
mod bad_input;
mod changelogs;
mod commands;
mod comments;
mod demo;
mod faults;
mod feature_requests;
mod hostile_http;
mod mail;
mod operation_keys;
mod outages;
mod rate_limits;
mod search;
mod setting;
mod track_moves;
mod tracks;
mod upvotes;
mod voters;
mod votes;
