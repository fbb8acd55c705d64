//! Operations of commands inside a unit of work, one file per port.

mod attachments;
mod audit;
mod changelogs;
pub(crate) mod comments;
mod customers;
mod held_posts;
pub(crate) mod import_runs;
mod imports;
pub(crate) mod jobs;
mod link_sources;
mod links;
pub(crate) mod merges;
mod moderation;
mod outbox;
pub(crate) mod own_posts;
mod people;
mod provisioning;
mod requests;
mod restores;
mod sessions;
mod settings;
mod subscriptions;
pub(crate) mod tags;
mod tracks;
mod votes;
pub(crate) mod webhooks;
