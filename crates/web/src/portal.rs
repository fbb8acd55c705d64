//! The pages of the portal, one file for each.

pub(crate) mod account;
pub(crate) mod changelogs;
pub(crate) mod comments;
pub(crate) mod embeds;
pub(crate) mod feeds;
pub(crate) mod ideas;
pub(crate) mod images;
pub(crate) mod mail_choice;
pub(crate) mod news;
pub(crate) mod own_data;
pub(crate) mod own_posts;
pub(crate) mod parts;
pub(crate) mod preferences;
pub(crate) mod previews;
pub(crate) mod request;
pub(crate) mod request_links;
pub(crate) mod requests;
pub(crate) mod roadmap;
pub(crate) mod sign_in;
pub(crate) mod similar;
pub(crate) mod sitemap;
pub(crate) mod take_part;
