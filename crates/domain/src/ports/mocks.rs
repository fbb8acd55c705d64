//! Mockall doubles of the ports, for unit tests.

use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use mockall::mock;
use uuid::Uuid;

use crate::error::StoreError;
use crate::model::admin::CustomersMerged;
use crate::model::api_key::{ApiKey, Credential, KeyDigest};
use crate::model::attachment::{Attachment, BlobKey, ContentHeaders, UnusedAttachment};
use crate::model::audit::{Actor, AuditEntry};
use crate::model::board::Board;
use crate::model::changelog::{Changelog, CoverImage, EditableChangelog};
use crate::model::comment::{ListedComment, NewComment};
use crate::model::customer::{Customer, CustomerName, DoubleAddresses, NewCustomer};
use crate::model::email_address::FoldedEmail;
use crate::model::event::NewEvent;
use crate::model::feature_request::{
    EditableFields, FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, FoundFeatureRequest,
    NewFeatureRequest, SearchableText, Visibility,
};
use crate::model::html::CleanHtml;
use crate::model::id::{
    ApiKeyId, AttachmentId, ChangelogId, CommentId, CustomerId, FeatureRequestId, LaneId, MemberId, NoteId, SessionId,
    SignInId, TrackId, WorkspaceId,
};
use crate::model::mail::{
    DigestNotification, HeldMessage, MailId, MailRecipient, MailSender, MailStatus, Notification, OutboxDepth,
    SendError, SignInMail, SubscribeOutcome, TestMail, Topic, TopicContent, Unsubscription,
};
use crate::model::media_type::MediaType;
use crate::model::member::{Member, Role};
use crate::model::message::{
    Audience, Lease, LeasedMessages, MessageId, MessageOutcome, MessageState, NewMessage, Priority,
};
use crate::model::operation_key::{OperationKey, SavedResponse};
use crate::model::portal::{Language, PortalSettings};
use crate::model::removal::MovedTexts;
use crate::model::search::{SearchDocument, Synonyms};
use crate::model::session::NewSession;
use crate::model::setting::Setting;
use crate::model::sign_in::{Consumption, KnownAddress, SignIn};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::track::Track;
use crate::model::usage::{StoredUsage, Usage};
use crate::model::vote::{NewVote, VoteCast, VoteWithdrawn};
use crate::model::workspace::{Subdomain, Workspace};
use crate::policy::mail_limits::MailBudgetWindow;
use crate::policy::mail_requests::CounterKey;
use crate::policy::merging::MergeNode;
use crate::policy::search::{Hit, Search};
use crate::ports::{
    AttachmentDeletion, AttachmentWrites, AuditWrites, BeginOutcome, BlobListing, BlobUpload, Blobs, ChangelogWrites,
    Chunks, Clock, CommentWrites, EndOutcome, FeatureRequestWrites, Health, IdGenerator, Insertion, MailReader, Mailer,
    Maintenance, MergeWrites, ModerationWrites, OperationLockGuard, OperationLocks, Outbox, OutboxQueue, PortalWrites,
    Provisioning, Random, RetryPause, SettingWrites, Store, SubscriptionWrites, TextSearch, TrackWrites, UnitOfWork,
    UsageStore, VoteWrites, WorkspaceDirectory,
};

pub use crate::ports::admin::{MockAdminReader, MockMissedSearchLog, MockMissedSearchStore};
pub use crate::ports::environment::MockBoardObserver;
pub use crate::ports::portal::{MockPortalReader, MockPortalSource};
pub use crate::ports::reads::{MockRoadmapReader, MockTrackSource};
pub use crate::ports::search::MockSynonymSource;

mock! {
    /// Double of [`Store`].
    pub Store {}

    #[async_trait]
    impl Store for Store {
        async fn begin(&self, workspace: WorkspaceId, key: Option<OperationKey>) -> Result<BeginOutcome, StoreError>;
    }
}

mock! {
    /// Double of [`Health`].
    pub Health {}

    #[async_trait]
    impl Health for Health {
        async fn check(&self) -> Result<(), StoreError>;
    }
}

mock! {
    /// Double of [`RetryPause`].
    pub RetryPause {}

    #[async_trait]
    impl RetryPause for RetryPause {
        async fn pause(&self, attempts: u32);
    }
}

mock! {
    /// Double of [`OperationLocks`].
    pub OperationLocks {}

    #[async_trait]
    impl OperationLocks for OperationLocks {
        async fn acquire(&self, workspace: WorkspaceId, key: &OperationKey) -> Option<OperationLockGuard>;
    }
}

mock! {
    /// Double of [`TextSearch`].
    pub TextSearch {}

    #[async_trait]
    impl TextSearch for TextSearch {
        async fn search(&self, workspace: WorkspaceId, search: Search) -> Result<Vec<Hit>, StoreError>;
        async fn load_results(&self, workspace: WorkspaceId, requests: &[FeatureRequestId], visibility: Visibility) -> Result<Vec<FoundFeatureRequest>, StoreError>;
    }
}

mock! {
    /// Double of [`Clock`].
    pub Clock {}

    impl Clock for Clock {
        fn now(&self) -> Timestamp;
    }
}

mock! {
    /// Double of [`IdGenerator`].
    pub IdGenerator {}

    impl IdGenerator for IdGenerator {
        fn next(&self, at: Timestamp) -> Uuid;
    }
}

mock! {
    /// Double of [`Random`].
    pub Random {}

    impl Random for Random {
        fn base62(&self, characters: usize) -> String;
    }
}

mock! {
    /// Double of [`WorkspaceDirectory`].
    pub WorkspaceDirectory {}

    #[async_trait]
    impl WorkspaceDirectory for WorkspaceDirectory {
        async fn credential(&self, subdomain: &Subdomain, digest: &KeyDigest) -> Result<Option<Credential>, StoreError>;
        async fn record_use(&self, credential: &Credential, at: Timestamp) -> Result<(), StoreError>;
        async fn workspace(&self, subdomain: &Subdomain) -> Result<Option<Workspace>, StoreError>;
        async fn workspaces(&self) -> Result<Vec<Workspace>, StoreError>;
        async fn api_keys(&self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, StoreError>;
        async fn key_digests(&self, workspace: WorkspaceId) -> Result<Vec<KeyDigest>, StoreError>;
    }
}

mock! {
    /// Double of [`Maintenance`].
    pub Maintenance {}

    #[async_trait]
    impl Maintenance for Maintenance {
        async fn purge_operation_keys(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
        async fn find_orphaned_blobs(&self, keys: &[BlobKey]) -> Result<Vec<BlobKey>, StoreError>;
        async fn purge_removed_texts(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
        async fn purge_audit_entries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
        async fn purge_deletions(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
        async fn delete_unused_attachments(&self, workspace: WorkspaceId, before: Timestamp, limit: u32) -> Result<Vec<UnusedAttachment>, StoreError>;
        async fn outdated_documents(&self, workspace: WorkspaceId, version: i32, limit: u32) -> Result<Vec<FeatureRequestId>, StoreError>;
        async fn count_outdated_documents(&self, workspace: WorkspaceId, version: i32) -> Result<u64, StoreError>;
        async fn expire_documents(&self, workspace: WorkspaceId) -> Result<(), StoreError>;
        async fn refold_addresses(&self) -> Result<u64, StoreError>;
        async fn double_addresses(&self, workspace: WorkspaceId) -> Result<DoubleAddresses, StoreError>;
    }
}

mock! {
    /// Double of [`UsageStore`].
    pub UsageStore {}

    #[async_trait]
    impl UsageStore for UsageStore {
        async fn load_usage(&self, workspace: WorkspaceId) -> Result<Option<StoredUsage>, StoreError>;
        async fn add_usage(&self, workspace: WorkspaceId, added: Usage) -> Result<StoredUsage, StoreError>;
        async fn recount_usage(&self, workspace: WorkspaceId, now: Timestamp) -> Result<StoredUsage, StoreError>;
    }
}

mock! {
    /// Double of [`Blobs`].
    pub Blobs {}

    #[async_trait]
    impl Blobs for Blobs {
        fn service_name(&self) -> &'static str;
        async fn create(&self, key: BlobKey, content_headers: &ContentHeaders) -> Result<Box<dyn BlobUpload>, StoreError>;
        async fn read(&self, key: BlobKey, range: Option<Range<u64>>) -> Result<Option<Box<dyn Chunks>>, StoreError>;
        async fn presigned_url(&self, key: BlobKey, lifetime: Duration) -> Result<Option<String>, StoreError>;
        fn list(&self) -> Box<dyn BlobListing>;
        async fn delete(&self, key: BlobKey) -> Result<(), StoreError>;
        async fn delete_unfinished_uploads(&self, before: Timestamp) -> Result<u64, StoreError>;
    }
}

mock! {
    /// Double of [`Mailer`].
    pub Mailer {}

    #[async_trait]
    impl Mailer for Mailer {
        async fn send(&self, notification: &Notification) -> Result<String, SendError>;
        async fn send_digest(&self, digest: &DigestNotification) -> Result<String, SendError>;
        async fn send_sign_in(&self, mail: &SignInMail) -> Result<String, SendError>;
        async fn send_test(&self, mail: &TestMail) -> Result<String, SendError>;
    }
}

mock! {
    /// Double of [`MailReader`].
    pub MailReader {}

    #[async_trait]
    impl MailReader for MailReader {
        async fn sender(&self, workspace: WorkspaceId) -> Result<Option<MailSender>, StoreError>;
        async fn recipients(&self, workspace: WorkspaceId, mails: &[MailId], hour: Timestamp, now: Timestamp) -> Result<Vec<MailRecipient>, StoreError>;
        async fn topics(&self, workspace: WorkspaceId, topics: &[Topic], characters: u32) -> Result<Vec<TopicContent>, StoreError>;
        async fn sign_ins(&self, workspace: WorkspaceId, sign_ins: &[SignInId]) -> Result<Vec<SignIn>, StoreError>;
        async fn held(&self, workspace: WorkspaceId, digests: &[MessageId]) -> Result<Vec<HeldMessage>, StoreError>;
    }
}

mock! {
    /// Double of [`OutboxQueue`].
    pub OutboxQueue {}

    #[async_trait]
    impl OutboxQueue for OutboxQueue {
        async fn due_workspaces(&self, now: Timestamp) -> Result<Vec<(WorkspaceId, Priority)>, StoreError>;
        async fn lease(&self, workspace: WorkspaceId, priority: Priority, now: Timestamp, until: Timestamp, limit: u32) -> Result<LeasedMessages, StoreError>;
        async fn expand(&self, workspace: WorkspaceId, lease: &Lease, audience: &Audience, created_at: Timestamp, limit: u32, now: Timestamp) -> Result<Option<u64>, StoreError>;
        async fn settle(&self, workspace: WorkspaceId, lease: &Lease, outcome: &MessageOutcome, now: Timestamp) -> Result<bool, StoreError>;
        async fn message(&self, workspace: WorkspaceId, id: &MessageId) -> Result<Option<MessageState>, StoreError>;
        async fn status(&self, workspace: WorkspaceId, failures: u32) -> Result<MailStatus, StoreError>;
        async fn depth(&self, now: Timestamp) -> Result<OutboxDepth, StoreError>;
        async fn purge_sent(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
    }
}

mock! {
    /// Double of [`UnitOfWork`] and its supertraits.
    pub Unit {}

    #[async_trait]
    impl UnitOfWork for Unit {
        async fn commit<'a>(self: Box<Self>, saved: Option<&'a SavedResponse>, at: Timestamp) -> Result<EndOutcome, StoreError>;
        async fn rollback(self: Box<Self>) -> Result<EndOutcome, StoreError>;
    }

    #[async_trait]
    impl FeatureRequestWrites for Unit {
        async fn find_feature_request(&mut self, request: &FeatureRequestRef) -> Result<Option<FeatureRequestSummary>, StoreError>;
        async fn lock_feature_request(&mut self, request: &FeatureRequestRef) -> Result<Option<FeatureRequestSummary>, StoreError>;
        async fn insert_feature_request(&mut self, request: &NewFeatureRequest) -> Result<FeatureRequestSummary, StoreError>;
        async fn set_feature_request_track(&mut self, request: FeatureRequestId, track: TrackId, at: Timestamp) -> Result<(), StoreError>;
        async fn find_editable_fields(&mut self, request: &FeatureRequestRef) -> Result<Option<EditableFields>, StoreError>;
        async fn save_editable_fields(&mut self, fields: &EditableFields, at: Timestamp) -> Result<(), StoreError>;
        async fn feature_request_detail(&mut self, request: FeatureRequestId) -> Result<Option<FeatureRequestDetail>, StoreError>;
        async fn searchable_text(&mut self, request: FeatureRequestId, merged: u32) -> Result<Option<SearchableText>, StoreError>;
        async fn save_search_document(&mut self, request: FeatureRequestId, document: &SearchDocument) -> Result<(), StoreError>;
        async fn delete_search_document(&mut self, request: FeatureRequestId) -> Result<(), StoreError>;
        async fn existing_feature_requests(&mut self, requests: &[FeatureRequestId]) -> Result<Vec<FeatureRequestId>, StoreError>;
        async fn insert_event(&mut self, event: &NewEvent) -> Result<(), StoreError>;
        async fn delete_feature_request(&mut self, request: FeatureRequestId) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl MergeWrites for Unit {
        async fn find_merge_node(&mut self, request: &FeatureRequestRef) -> Result<Option<MergeNode>, StoreError>;
        async fn link_feature_request(&mut self, source: FeatureRequestId, target: FeatureRequestId, at: Timestamp) -> Result<(), StoreError>;
        async fn unlink_feature_request(&mut self, source: FeatureRequestId, at: Timestamp) -> Result<(), StoreError>;
        async fn merge_customers(&mut self, source: CustomerId, target: CustomerId) -> Result<Option<CustomersMerged>, StoreError>;
    }

    #[async_trait]
    impl VoteWrites for Unit {
        async fn cast_vote(&mut self, vote: &NewVote) -> Result<Option<VoteCast>, StoreError>;
        async fn withdraw_vote(&mut self, request: &FeatureRequestRef, customer: &FoldedEmail) -> Result<Option<VoteWithdrawn>, StoreError>;
        async fn delete_note(&mut self, note: NoteId) -> Result<Option<FeatureRequestId>, StoreError>;
    }

    #[async_trait]
    impl CommentWrites for Unit {
        async fn insert_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError>;
        async fn find_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
        async fn update_comment(&mut self, comment: CommentId, content: &CleanHtml, at: Timestamp) -> Result<Option<ListedComment>, StoreError>;
        async fn delete_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
    }

    #[async_trait]
    impl Outbox for Unit {
        async fn notify_subscribers(&mut self, topic: Topic, at: Timestamp, at_once: u32) -> Result<(), StoreError>;
        async fn insert_message(&mut self, message: &NewMessage) -> Result<bool, StoreError>;
        async fn retry_mail(&mut self, dead: bool, at: Timestamp) -> Result<u64, StoreError>;
        async fn count_mails(&mut self, topic: Topic, at: Timestamp, day: MailBudgetWindow, limit: u64) -> Result<u64, StoreError>;
    }

    #[async_trait]
    impl SubscriptionWrites for Unit {
        async fn unsubscribe(&mut self, customer: CustomerId, what: Unsubscription, at: Timestamp) -> Result<Option<bool>, StoreError>;
        async fn subscribe(&mut self, request: &FeatureRequestRef, customer: &NewCustomer, at: Timestamp) -> Result<Option<SubscribeOutcome>, StoreError>;
        async fn find_customer(&mut self, address: &FoldedEmail) -> Result<Option<CustomerId>, StoreError>;
        async fn customer_exists(&mut self, customer: CustomerId) -> Result<bool, StoreError>;
        async fn rename_customer(&mut self, customer: CustomerId, name: &Name) -> Result<Option<(Customer, Option<Name>)>, StoreError>;
    }

    #[async_trait]
    impl TrackWrites for Unit {
        async fn find_track(&mut self, track: TrackId) -> Result<Option<Track>, StoreError>;
        async fn first_track(&mut self) -> Result<Option<Track>, StoreError>;
        async fn load_board(&mut self) -> Result<Board, StoreError>;
        async fn save_board(&mut self, board: &Board) -> Result<(), StoreError>;
        async fn has_feature_requests(&mut self, track: TrackId) -> Result<bool, StoreError>;
        async fn count_lane_requests(&mut self, lane: LaneId) -> Result<i64, StoreError>;
        async fn move_feature_requests(&mut self, from: TrackId, to: TrackId, actor: &Actor, at: Timestamp) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl SettingWrites for Unit {
        async fn load_setting(&mut self) -> Result<Setting, StoreError>;
        async fn save_setting(&mut self, setting: &Setting) -> Result<(), StoreError>;
        async fn load_synonyms(&mut self) -> Result<Synonyms, StoreError>;
        async fn save_synonyms(&mut self, synonyms: &Synonyms) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl ChangelogWrites for Unit {
        async fn insert_changelog(&mut self, changelog: &Changelog, feature_requests: &[FeatureRequestId]) -> Result<(), StoreError>;
        async fn find_changelog(&mut self, changelog: ChangelogId) -> Result<Option<EditableChangelog>, StoreError>;
        async fn save_changelog(&mut self, changelog: &EditableChangelog) -> Result<(), StoreError>;
        async fn linked_feature_requests(&mut self, changelog: ChangelogId) -> Result<Vec<FeatureRequestSummary>, StoreError>;
        async fn delete_changelog(&mut self, changelog: ChangelogId) -> Result<bool, StoreError>;
    }

    #[async_trait]
    impl AttachmentWrites for Unit {
        async fn insert_attachment(&mut self, attachment: &Attachment) -> Result<(), StoreError>;
        async fn find_cover(&mut self, attachment: AttachmentId) -> Result<Option<(CoverImage, MediaType)>, StoreError>;
        async fn delete_attachment(&mut self, attachment: AttachmentId) -> Result<AttachmentDeletion, StoreError>;
    }

    #[async_trait]
    impl AuditWrites for Unit {
        async fn insert_audit_entry(&mut self, entry: &AuditEntry) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl ModerationWrites for Unit {
        async fn set_blocked(&mut self, customer: CustomerId, blocked_at: Option<Timestamp>) -> Result<Option<(CustomerName, bool)>, StoreError>;
        async fn remove_texts(&mut self, customer: CustomerId, at: Timestamp, most: u32) -> Result<MovedTexts, StoreError>;
        async fn restore_texts(&mut self, customer: CustomerId, at: Timestamp, most: u32) -> Result<MovedTexts, StoreError>;
    }

    #[async_trait]
    impl PortalWrites for Unit {
        async fn load_portal(&mut self) -> Result<PortalSettings, StoreError>;
        async fn save_portal(&mut self, settings: &PortalSettings) -> Result<(), StoreError>;
        async fn nth_counted_mail(&mut self, counter: CounterKey, nth: u32) -> Result<Option<Timestamp>, StoreError>;
        async fn count_mail(&mut self, mail: Uuid, counters: &[CounterKey], at: Timestamp) -> Result<(), StoreError>;
        async fn find_known_address(&mut self, email: &FoldedEmail) -> Result<KnownAddress, StoreError>;
        async fn insert_sign_in(&mut self, sign_in: &SignIn, has_mail: bool) -> Result<(), StoreError>;
        async fn consume_sign_in(&mut self, sign_in: SignInId, how: Consumption, at: Timestamp) -> Result<bool, StoreError>;
        async fn count_code(&mut self, sign_in: SignInId, at: Timestamp) -> Result<bool, StoreError>;
        async fn insert_session(&mut self, session: &NewSession) -> Result<(), StoreError>;
        async fn end_session(&mut self, session: SessionId, email: &FoldedEmail) -> Result<bool, StoreError>;
        async fn end_sessions(&mut self, email: &FoldedEmail) -> Result<u64, StoreError>;
        async fn set_language(&mut self, customer: &NewCustomer, language: Option<Language>, at: Timestamp) -> Result<CustomerName, StoreError>;
        async fn has_public_posts(&mut self, customer: CustomerId) -> Result<bool, StoreError>;
        async fn set_own_name<'a>(&mut self, customer: CustomerId, name: Option<&'a Name>) -> Result<(), StoreError>;
        async fn hold_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError>;
        async fn decline_feature_request(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError>;
        async fn find_held_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
        async fn approve_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
        async fn discard_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
        async fn notify_author(&mut self, comment: CommentId, at: Timestamp) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl Provisioning for Unit {
        async fn insert_workspace(&mut self, workspace: &Workspace, setting: &Setting, at: Timestamp) -> Result<Insertion, StoreError>;
        async fn insert_member(&mut self, member: &Member) -> Result<Option<Member>, StoreError>;
        async fn load_members(&mut self) -> Result<Vec<Member>, StoreError>;
        async fn find_member(&mut self, address: &FoldedEmail) -> Result<Option<Member>, StoreError>;
        async fn set_role(&mut self, member: MemberId, role: Role) -> Result<(), StoreError>;
        async fn remove_member(&mut self, member: MemberId, at: Timestamp) -> Result<(), StoreError>;
        async fn insert_api_key(&mut self, key: &ApiKey, digest: &KeyDigest) -> Result<(), StoreError>;
        async fn find_api_key(&mut self, key: ApiKeyId) -> Result<Option<ApiKey>, StoreError>;
        async fn revoke_keys_of(&mut self, member: MemberId, at: Timestamp) -> Result<Vec<ApiKey>, StoreError>;
        async fn update_api_key_validity(&mut self, key: ApiKeyId, expires_at: Option<Timestamp>, revoked_at: Option<Timestamp>) -> Result<(), StoreError>;
    }
}
