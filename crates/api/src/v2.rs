//! Version 2 of the external API: files, which version 1 does not have.

pub(crate) mod attachments;
pub(crate) mod imports;
