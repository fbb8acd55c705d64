//! Pure functions that implement the rules of the service.

pub mod announcements;
pub mod chat_messages;
pub mod contrast;
pub mod erasing;
pub mod idempotency;
pub mod import_tracks;
pub mod issue_reports;
pub mod links;
pub mod mail_limits;
pub mod mail_requests;
pub mod mail_retry;
pub mod merging;
pub mod own_pictures;
pub mod portable_links;
pub mod ranking;
pub mod sealing;
pub mod search;
pub mod signed_reference;
pub mod similarity;
pub mod spreadsheet;
pub mod storage;
pub mod subscription;
pub mod trending;
pub mod webhook_content;
pub mod webhook_retry;
pub mod webhook_signature;
