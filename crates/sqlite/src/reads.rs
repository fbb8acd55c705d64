//! Reads outside of units of work, one file per port. `roadmap` delegates to one file per kind of record.

mod audit;
mod changelogs;
mod comments;
mod directory;
mod mail;
mod maintenance;
mod people;
mod roadmap;
pub(crate) mod search;
mod tracks;
mod votes;
