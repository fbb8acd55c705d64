//! The commands and queries of the service, one file each; closely related commands share one.
//!
//! A command is a value that implements [`executor::Operation`]. The [`executor::Executor`] runs it in a unit of work.
//! A query is a value that implements [`query::Query`]. It reads from the ports and applies the rules.

mod batches;
pub mod block_customer;
pub mod decide_held_posts;
pub mod executor;
pub mod export_jobs;

pub mod act_on_page;
pub mod add_picture;
pub mod announce_changelogs;
pub mod approve_feature_request;
pub mod cast_vote;
pub mod change_board;
pub mod change_changelog;
pub mod change_link_sources;
pub mod change_links;
pub mod change_members;
pub mod change_tag;
pub mod change_webhooks;
pub mod create_changelog;
pub mod create_feature_request;
pub mod create_workspace;
pub mod delete_feature_request;
pub mod delete_note;
pub mod edit_comment;
pub mod edit_feature_request;
pub mod erase_customer;
pub mod hold_comment;
pub mod import;
pub mod issue_api_key;
pub mod merge_customers;
pub mod merge_feature_requests;
pub mod move_feature_request;
pub mod need_no_answer;
pub mod own_posts;
pub mod post_comment;
pub mod purge_jobs;
pub mod purge_removed_texts;
pub mod receive_report;
pub mod record_export;
pub mod reindex_search;
pub mod remove_texts;
pub mod rename_customer;
pub mod replace_synonyms;
pub mod revoke_api_key;
pub mod rotate_api_key;
pub mod save_account;
pub mod save_changelog;
pub mod save_settings;
pub mod save_view;
pub mod search;
pub mod set_sender_name;
pub mod set_shortcuts;
pub mod sign_in;
pub mod subscribe;
pub mod target;
pub mod tell_team;
pub mod triage_feature_requests;
pub mod undo_changes;
pub mod unsubscribe;
pub mod update_portal;
pub mod update_setting;
pub mod withdraw_vote;

mod indexing;
mod notify;
mod records;
mod tell_admins;

pub mod authenticate;
pub mod delete_attachment;
pub mod deliver_mail;
pub mod deliver_webhooks;
pub mod missed_searches;
pub mod purge_audit_entries;
pub mod purge_deletions;
pub mod purge_operation_keys;
pub mod query;
pub mod queue_test_mail;
pub mod retry_mail;
pub mod storage_budgets;
pub mod sweep_attachments;
pub mod upload_attachment;

#[cfg(test)]
pub(crate) mod fixtures;
