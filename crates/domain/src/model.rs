//! Records and values of the service.
//!
//! Values have private fields and are created by constructors that validate. Code that receives a `Title` does not
//! check its length again.

pub mod admin;
pub mod api_key;
pub mod attachment;
pub mod audit;
pub mod base_url;
pub mod board;
pub mod changelog;
pub mod changes;
pub mod comment;
pub mod company;
pub mod cursor;
pub mod customer;
pub mod destination;
pub mod email_address;
pub mod event;
pub mod export;
pub mod feature_request;
pub mod html;
pub mod id;
pub mod import;
pub mod link;
pub mod link_source;
pub mod localized;
pub mod mail;
pub mod markdown;
pub mod media_type;
pub mod member;
pub mod message;
pub mod note;
pub mod operation_key;
pub mod own_post;
pub mod pagination;
pub mod person;
pub mod picture;
pub mod portal;
pub mod preview;
pub mod removal;
pub mod saved_view;
pub mod search;
pub mod session;
pub mod setting;
pub mod sign_in;
pub mod slug;
pub mod tag;
pub mod team_mail;
pub mod text;
pub mod time_zone;
pub mod timestamp;
pub mod track;
pub mod usage;
pub mod vote;
pub mod workspace;
