//! Black-box tests: the real binary on a random port, with a real database.
//!
//! Every test has its own server and database. `app` starts servers and has one method per endpoint and command.
//! `document` validates every response against the OpenAPI document. All tests are one binary, because linking
//! dominates the build time.

// Tests report failures by panicking.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, unreachable_pub)]

mod app;
mod browser;
mod database;
mod document;
mod effort;
mod endpoints;
mod shared;

mod admin_access;
mod admin_content;
mod admin_inbox;
mod admin_people;
mod admin_request;
mod attachments;
mod audit;
mod authentication;
mod backup;
mod bad_input;
mod behind_proxies;
mod changelogs;
mod changes;
mod commands;
mod comments;
mod cursors;
mod customer_merge;
mod customer_moderation;
mod customers;
mod database_move;
mod decline;
mod demo;
mod doctor;
mod exports;
mod faults;
mod feature_request_detail;
mod feature_requests;
mod first_day;
mod hostile_http;
mod import_jobs;
mod imports;
mod ip_address;
mod lanes;
mod linearizability;
mod link_sources;
mod links;
mod log;
mod mail;
mod mcp;
mod mcp_bridge;
mod members;
mod merging;
mod metrics;
mod moderation;
mod moves;
mod news;
mod no_answer_needed;
mod notifications;
mod openapi;
mod operation_keys;
mod operator_commands;
mod outages;
mod overview;
mod own_posts;
mod pages;
mod people;
mod people_pages;
mod permissions;
mod pictures;
mod portal_settings;
#[cfg(target_os = "linux")]
mod power_cuts;
mod rate_limits;
mod record_vote;
mod reference_notes;
mod roadmap;
mod scopes;
mod search;
mod setting;
mod shutdown;
mod storage;
mod subscriptions;
mod synonyms;
mod tags;
mod taking_part;
mod team_mail;
mod traces;
mod track_moves;
mod tracks;
mod transport_security;
mod upvotes;
mod voters;
mod votes;
mod webhooks;
mod who_pays;
mod withdrawals;
