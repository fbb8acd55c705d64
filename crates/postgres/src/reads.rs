//! Reads outside of units of work, one file per port.

mod accounts;
mod addresses;
mod attachments;
mod audit;
mod changelogs;
mod changes;
mod comments;
mod customers;
mod directory;
mod inbox;
mod jobs;
mod link_sources;
mod links;
mod listing;
mod mail;
mod maintenance;
mod members;
mod overview;
mod people;
mod portal_lists;
mod request_pages;
mod requests;
mod search;
mod sessions;
mod settings;
mod snapshots;
mod tags;
mod tracks;
mod votes;
mod webhooks;

use roadmap_domain::ports::Reads;

use crate::PostgresReader;

pub(crate) use changes::number_changes;
pub(crate) use customers::SelectCustomer;
pub(crate) use search::TermStatistics;
pub(crate) use tags::{FindTag, found_tag};

impl Reads for PostgresReader {}
