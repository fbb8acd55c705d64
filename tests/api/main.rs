//! The service from outside: the real binary on a random port, with a real database file.
//!
//! Every test has a server and a file of its own. `app` starts them and has a method for each
//! endpoint and command, and `document` holds every answer against the document of the API. One binary for all, because linking is what takes time.

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
mod document;
mod effort;
mod endpoints;
mod shared;

mod attachments;
mod authentication;
mod backup;
mod bad_input;
mod behind_proxies;
mod changelogs;
mod commands;
mod comments;
mod demo;
mod doctor;
mod faults;
mod feature_requests;
mod hostile_http;
mod linearizability;
mod log;
mod mail;
mod metrics;
mod openapi;
mod operation_keys;
mod outages;
mod permissions;
mod rate_limits;
mod search;
mod setting;
mod shutdown;
mod storage;
mod traces;
mod track_moves;
mod tracks;
mod transport_security;
mod upvotes;
mod voters;
mod votes;
