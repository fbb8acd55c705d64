//! Operations of commands inside a unit of work, one file per port.

mod attachments;
mod audit;
mod changelogs;
mod comments;
mod customers;
mod held_posts;
pub(crate) mod import_runs;
mod imports;
pub(crate) mod jobs;
mod link_sources;
mod links;
mod merges;
mod moderation;
mod outbox;
mod own_posts;
mod people;
mod provisioning;
pub(crate) mod requests;
mod restores;
mod sessions;
mod settings;
mod subscriptions;
mod tags;
mod tracks;
mod votes;
mod webhooks;

pub(crate) use requests::{any_place, title_place};
