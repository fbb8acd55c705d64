//! Reads outside of units of work, one file per port.

mod addresses;
mod admin;
mod changes;
mod comments;
mod directory;
mod listing;
mod mail;
mod maintenance;
mod portal;
mod roadmap;
mod search;

pub(crate) use changes::number_changes;
pub(crate) use roadmap::SelectCustomer;
pub(crate) use search::TermStatistics;
