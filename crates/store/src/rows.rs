//! Rows that statements of both stores return, and their conversion to the model.
//!
//! The fields of a row are in the order of the columns of its statements.

mod comments;
mod outbox;
mod people;
mod requests;
mod workspaces;

pub use comments::{CommentRow, CustomerTextRow, HeldCommentRow, HeldPostRow, NoteRow, TextCountsRow};
pub use outbox::{
    HeldMessageRow, MailFailureRow, MailStatusRow, MessageRow, MessageStateRow, OutboxDepthRow, leased_messages,
};
pub use people::{
    ApiKeyRow, AuditEntryRow, CustomerNameRow, CustomerRecordsRows, CustomerRow, MemberRow, SessionEntryRow,
    SessionRow, SignInRow, VoterRow,
};
pub use requests::{
    CandidateRow, ChangeRow, EventRow, InboxCountsRow, InboxListRow, LaneRow, LinkRow, PortalListRow, SitemapRow,
    SummaryRow, TrackRow, inbox_counts,
};
pub use workspaces::{AttachmentRow, ChangelogRow, CoverRow, PortalSettingsRow, SettingRow, UsageRow};
