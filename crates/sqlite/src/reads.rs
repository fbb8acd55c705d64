//! Reads outside of units of work, one file per port. `roadmap`, `portal` and `admin` delegate to one file per kind of
//! record.

mod addresses;
mod admin;
mod attachments;
mod audit;
mod changelogs;
mod changes;
mod comments;
mod directory;
mod mail;
mod maintenance;
mod people;
mod portal;
mod roadmap;
pub(crate) mod search;
mod tracks;
mod votes;
