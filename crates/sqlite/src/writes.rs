//! Operations of commands inside a unit of work. `portal` delegates to `sessions`.

mod attachments;
mod audit;
mod changelogs;
mod comments;
mod customers;
mod deletions;
mod merges;
mod moderation;
mod outbox;
mod portal;
mod provisioning;
mod requests;
mod search_documents;
mod sessions;
mod settings;
mod subscriptions;
mod tracks;
mod votes;
