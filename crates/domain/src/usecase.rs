//! The commands and queries of the service, one file each.
//!
//! A command is a value that implements [`executor::Operation`]. The [`executor::Executor`] runs it in a unit of work.
//! A query reads from a reader port and applies the rules. Lists without rules have no file here: the API uses
//! [`crate::ports::RoadmapReader`] directly.

mod batches;
pub mod executor;

pub mod add_lane;
pub mod add_member;
pub mod add_track;
pub mod cast_vote;
pub mod create_changelog;
pub mod create_feature_request;
pub mod create_workspace;
pub mod issue_api_key;
pub mod move_feature_request;
pub mod post_comment;
pub mod reindex_search;
pub mod replace_synonyms;
pub mod revoke_api_key;
pub mod rotate_api_key;
pub mod unsubscribe;
pub mod update_setting;

pub mod authenticate;
pub mod deliver_mail;
pub mod purge_operation_keys;
pub mod query;
pub mod queue_test_mail;
pub mod storage_budgets;
pub mod sweep_attachments;
pub mod upload_attachment;

#[cfg(test)]
pub(crate) mod fixtures;
