//! Reads outside of units of work, one file per port.

pub(crate) mod accounts;
mod addresses;
mod attachments;
mod audit;
pub(crate) mod changelogs;
mod changes;
pub(crate) mod comments;
pub(crate) mod customers;
mod directory;
pub(crate) mod inbox;
mod jobs;
pub(crate) mod link_sources;
pub(crate) mod links;
mod listing;
mod mail;
mod maintenance;
mod members;
pub(crate) mod overview;
mod people;
pub(crate) mod portal_lists;
pub(crate) mod request_pages;
pub(crate) mod requests;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod settings;
mod snapshots;
pub(crate) mod tags;
pub(crate) mod tracks;
mod votes;
pub(crate) mod webhooks;

use roadmap_domain::ports::Reads;

use crate::SqliteStore;

impl Reads for SqliteStore {}
