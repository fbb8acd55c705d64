//! Rows that statements of both stores return, and their conversion to the model.
//!
//! The fields of a row are in the order of the columns of its statements.

mod comments;
mod exports;
mod imports;
mod jobs;
mod links;
mod outbox;
mod own_posts;
mod people;
mod persons;
mod requests;
mod webhooks;
mod workspaces;

pub use comments::{
    AuthorRow, CommentRow, CustomerTextRow, HeldCommentRow, HeldPostRow, NoteRow, TeamPostRow, TextCountsRow,
    team_posts,
};
pub use exports::{
    ExportedAttachmentRow, ExportedChangelogRow, ExportedCommentRow, ExportedCustomerRow, ExportedEventRow,
    ExportedFollowerRow, ExportedLaneRow, ExportedLinkRow, ExportedMemberRow, ExportedNoteRow, ExportedOriginRow,
    ExportedPortalRow, ExportedRequestRow, ExportedSettingRow, ExportedTrackRow, ExportedVoteRow,
};
pub use imports::{
    ImportRow, ImportedRow, MadeChangelogRow, MadeRow, import, imported_record, made_changelog, made_request,
};
pub use jobs::{ExportRow, JobFileRow, job_file};
pub use links::{IssueLinkRow, LinkSourceRow, sealed_link_source};
pub use outbox::{
    HeldMessageRow, MailFailureRow, MailStatusRow, MessageRow, MessageStateRow, OutboxDepthRow, leased_messages,
};
pub use own_posts::{OwnCommentRow, OwnRequestRow};
pub use people::{
    ApiKeyRow, AuditEntryRow, CustomerNameRow, CustomerRecordsRows, CustomerRow, MemberRow, MemberToTellRow,
    SessionEntryRow, SessionRow, SignInRow, VoterRow,
};
pub use persons::{ErasureRow, asked_requests, mentions, person_records, person_words};
pub use requests::{
    CardRow, ChangeRow, EventRow, FollowedRow, InboxCountsRow, InboxListRow, LaneRow, LinkRow, MergePreviewRow,
    OverviewRows, PortalListRow, SitemapRow, SummaryRow, TrackRow, inbox_counts, limits, merge_preview, vote_counts,
};
pub use webhooks::{
    AttemptRow, DeliveryRow, LeasedDeliveryRow, StoredEventRow, WebhookDepthRow, WebhookRow, delivery_detail,
    details_column, secrets_column,
};
pub use workspaces::{
    AttachmentRow, ChangelogRow, CoverRow, NeighbourRow, PortalSettingsRow, SettingRow, ShippedInRow, UsageRow,
    changelog_neighbours,
};

/// Declares functions that return the columns of rows, in the order of the fields, for diesel's query builder. The tables
/// are those in scope: each store has its own, because their columns have other types.
#[macro_export]
macro_rules! declare_columns {
    () => {
        /// The columns of `SummaryRow`.
        #[diesel::dsl::auto_type]
        pub(crate) fn summary_columns() -> _ {
            (
                feature_requests::id,
                feature_requests::tag_number,
                feature_requests::title,
                tracks::name,
                lanes::name.nullable(),
                vote_tallies::votes_count,
                feature_requests::created_at,
            )
        }

        /// The columns of `AttachmentRow`.
        #[diesel::dsl::auto_type]
        pub(crate) fn attachment_columns() -> _ {
            (
                attachments::id,
                attachments::filename,
                attachments::content_type,
                attachments::byte_size,
                attachments::checksum,
                attachments::key,
                attachments::service_name,
                attachments::width,
                attachments::height,
                attachments::created_at,
            )
        }

        /// The columns of `MemberRow`.
        #[diesel::dsl::auto_type]
        pub(crate) fn member_columns() -> _ {
            (members::id, members::email, members::name, members::role, members::created_at)
        }

        /// The columns of `ApiKeyRow`.
        #[diesel::dsl::auto_type]
        pub(crate) fn api_key_columns() -> _ {
            (
                api_keys::id,
                api_keys::name,
                api_keys::last_four,
                api_keys::can_read,
                api_keys::can_write,
                api_keys::can_manage,
                api_keys::created_at,
                api_keys::expires_at,
                api_keys::revoked_at,
                api_keys::last_used_at,
                api_keys::made_by,
            )
        }

        /// The columns of `LinkSourceRow`.
        #[diesel::dsl::auto_type]
        pub(crate) fn link_source_columns() -> _ {
            (
                link_sources::id,
                link_sources::name,
                link_sources::kind,
                link_sources::closed_track_id,
                link_sources::notify_all_voters,
                link_sources::enabled,
                link_sources::last_received_at,
                link_sources::created_at,
                link_sources::updated_at,
            )
        }

        /// The columns of `WebhookRow`.
        #[diesel::dsl::auto_type]
        pub(crate) fn webhook_columns() -> _ {
            (
                webhooks::id,
                webhooks::sealed_url,
                webhooks::sealed_secrets,
                webhooks::description,
                webhooks::format,
                webhooks::events,
                webhooks::include_private,
                webhooks::include_emails,
                webhooks::enabled,
                webhooks::disabled_because,
                webhooks::enabled_at,
                webhooks::disabled_at,
                webhooks::failing_since,
                webhooks::failed_tries,
                webhooks::created_at,
                webhooks::updated_at,
            )
        }

        /// The columns of `SignInRow`.
        #[diesel::dsl::auto_type]
        pub(crate) fn sign_in_columns() -> _ {
            (
                sign_ins::id,
                sign_ins::email,
                sign_ins::browser_digest,
                sign_ins::browser_name,
                sign_ins::action,
                sign_ins::next,
                sign_ins::language,
                sign_ins::wrong_codes,
                sign_ins::created_at,
                sign_ins::consumed_at,
            )
        }

        /// Tracks with their lanes, with the columns of `TrackRow`.
        #[diesel::dsl::auto_type]
        pub(crate) fn mapped_tracks() -> _ {
            tracks::table
                .left_join(
                    lanes::table
                        .on(lanes::workspace_id.eq(tracks::workspace_id).and(lanes::id.nullable().eq(tracks::lane_id))),
                )
                .select((tracks::id, tracks::name, (lanes::id, lanes::name, lanes::kind, lanes::names).nullable()))
        }

        /// The columns of `AuditEntryRow`.
        #[diesel::dsl::auto_type]
        pub(crate) fn audit_entry_columns() -> _ {
            (
                audit_entries::id,
                audit_entries::created_at,
                audit_entries::actor_kind,
                audit_entries::actor_id,
                audit_entries::actor_name,
                audit_entries::channel,
                audit_entries::request_id,
                audit_entries::action,
                audit_entries::subject_kind,
                audit_entries::subject_id,
                audit_entries::changes,
            )
        }
    };
}
