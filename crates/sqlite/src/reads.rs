//! Reads outside of units of work, one file per port.

mod directory;
mod mail;
mod maintenance;
mod roadmap;
pub(crate) mod search;
