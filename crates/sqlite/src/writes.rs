//! Operations of commands inside a unit of work, one file per port.

mod attachments;
mod audit;
mod changelogs;
mod comments;
mod deletions;
mod merges;
mod outbox;
mod provisioning;
mod requests;
mod search_documents;
mod settings;
mod subscriptions;
mod tracks;
mod votes;
