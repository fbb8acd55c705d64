//! Mockall doubles of the ports, for unit tests: those of several ports at once, and what `automock` cannot make.

use async_trait::async_trait;
use mockall::mock;
use uuid::Uuid;

use crate::error::StoreError;
use crate::model::admin::{
    CustomerRecords, CustomersMerged, InboxCounts, InboxFilter, InboxList, InboxRow, MergePreview, Overview,
    OverviewTimes, TeamPage,
};
use crate::model::api_key::{ApiKey, KeyDigest};
use crate::model::attachment::Attachment;
use crate::model::audit::{Actor, AuditEntry, AuditFilter, AuditListing, AuditPage};
use crate::model::board::{Board, ListedLane, RoadmapLane};
use crate::model::changelog::{Changelog, ChangelogDetail, CoverImage, EditableChangelog};
use crate::model::changes::{ChangedComment, ChangedRequest, ChangesFilter, ChangesListing, ChangesPage};
use crate::model::comment::{ListedComment, NewComment};
use crate::model::customer::{Customer, CustomerName, CustomerQuery, NewCustomer};
use crate::model::email_address::{EmailAddress, FoldedEmail};
use crate::model::event::{Event, NewEvent};
use crate::model::feature_request::{
    EditableFields, FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, FoundFeatureRequest,
    NewFeatureRequest, RequestLink, SearchableText, Sort, Visibility,
};
use crate::model::html::CleanHtml;
use crate::model::id::{
    ApiKeyId, AttachmentId, ChangelogId, CommentId, CustomerId, FeatureRequestId, LaneId, MemberId, NoteId, SessionId,
    SignInId, TrackId, WorkspaceId,
};
use crate::model::mail::{SubscribeOutcome, Topic, Unsubscription};
use crate::model::media_type::MediaType;
use crate::model::member::{Member, Role};
use crate::model::message::NewMessage;
use crate::model::note::Note;
use crate::model::operation_key::{OperationKey, SavedResponse};
use crate::model::pagination::{Listing, PageRequest};
use crate::model::portal::{
    AccountLists, HeldPost, Language, Portal, PortalFilter, PortalList, PortalRow, PortalSettings, PublishedChangelog,
    RequestPage, SitemapEntry, Viewer,
};
use crate::model::removal::{CustomerTexts, MovedTexts};
use crate::model::search::{SearchDocument, Synonyms};
use crate::model::session::{NewSession, SecretDigest, Session};
use crate::model::setting::Setting;
use crate::model::sign_in::{Consumption, KnownAddress, SignIn};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::track::Track;
use crate::model::vote::{NewVote, VoteCast, VoteWithdrawn, Voter};
use crate::model::workspace::Workspace;
use crate::policy::mail_limits::MailBudgetWindow;
use crate::policy::mail_requests::CounterKey;
use crate::policy::merging::MergeNode;
use crate::policy::search::{Hit, Search};
use crate::policy::trending::Candidate;
use crate::ports::{
    AccountReader, AttachmentDeletion, AttachmentReader, AttachmentWrites, AuditReader, AuditWrites, BeginOutcome,
    ChangeReader, ChangelogReader, ChangelogWrites, CommentReader, CommentWrites, CustomerReader, CustomerWrites,
    EndOutcome, FeatureRequestReader, FeatureRequestWrites, HeldPostWrites, InboxReader, Insertion, MemberReader,
    MergeWrites, ModerationWrites, Outbox, OverviewReader, PortalListReader, Provisioning, RequestPageReader,
    SessionReader, SessionWrites, SettingReader, SettingWrites, Store, SubscriptionWrites, TextSearch, TrackReader,
    TrackWrites, UnitOfWork, VoteReader, VoteWrites,
};

pub use crate::ports::blobs::MockBlobs;
pub use crate::ports::directory::MockWorkspaceDirectory;
pub use crate::ports::environment::{
    MockBoardObserver, MockClock, MockHealth, MockIdGenerator, MockOperationLocks, MockRetryPause,
};
pub use crate::ports::mail::{MockMailReader, MockMailer, MockOutboxQueue};
pub use crate::ports::maintenance::MockMaintenance;
pub use crate::ports::missed_searches::{MockMissedSearchLog, MockMissedSearchStore};
pub use crate::ports::search::MockSynonymSource;
pub use crate::ports::sources::{MockPortalSource, MockTrackSource};
pub use crate::ports::usage::MockUsageStore;

mock! {
    /// Double of [`Store`].
    pub Store {}

    #[async_trait]
    impl Store for Store {
        async fn begin(&self, workspace: WorkspaceId, key: Option<OperationKey>) -> Result<BeginOutcome, StoreError>;
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
        async fn notify_author(&mut self, comment: CommentId, at: Timestamp) -> Result<(), StoreError>;
    }

    #[async_trait]
    impl HeldPostWrites for Unit {
        async fn hold_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError>;
        async fn find_held_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
        async fn approve_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
        async fn discard_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError>;
        async fn decline_feature_request(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError>;
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
        async fn load_portal(&mut self) -> Result<PortalSettings, StoreError>;
        async fn save_portal(&mut self, settings: &PortalSettings) -> Result<(), StoreError>;
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
    impl CustomerWrites for Unit {
        async fn find_customer(&mut self, address: &FoldedEmail) -> Result<Option<CustomerId>, StoreError>;
        async fn customer_exists(&mut self, customer: CustomerId) -> Result<bool, StoreError>;
        async fn rename_customer(&mut self, customer: CustomerId, name: &Name) -> Result<Option<(Customer, Option<Name>)>, StoreError>;
        async fn set_own_name<'a>(&mut self, customer: CustomerId, name: Option<&'a Name>) -> Result<(), StoreError>;
        async fn set_language(&mut self, customer: &NewCustomer, language: Option<Language>, at: Timestamp) -> Result<CustomerName, StoreError>;
        async fn has_public_posts(&mut self, customer: CustomerId) -> Result<bool, StoreError>;
        async fn merge_customers(&mut self, source: CustomerId, target: CustomerId) -> Result<Option<CustomersMerged>, StoreError>;
    }

    #[async_trait]
    impl SessionWrites for Unit {
        async fn nth_counted_mail(&mut self, counter: CounterKey, nth: u32) -> Result<Option<Timestamp>, StoreError>;
        async fn count_mail(&mut self, mail: Uuid, counters: &[CounterKey], at: Timestamp) -> Result<(), StoreError>;
        async fn find_known_address(&mut self, email: &FoldedEmail) -> Result<KnownAddress, StoreError>;
        async fn insert_sign_in(&mut self, sign_in: &SignIn, has_mail: bool) -> Result<(), StoreError>;
        async fn consume_sign_in(&mut self, sign_in: SignInId, how: Consumption, at: Timestamp) -> Result<bool, StoreError>;
        async fn count_code(&mut self, sign_in: SignInId, at: Timestamp) -> Result<bool, StoreError>;
        async fn insert_session(&mut self, session: &NewSession) -> Result<(), StoreError>;
        async fn end_session(&mut self, session: SessionId, email: &FoldedEmail) -> Result<bool, StoreError>;
        async fn end_sessions(&mut self, email: &FoldedEmail) -> Result<u64, StoreError>;
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

mock! {
    /// Double of [`Reads`](crate::ports::Reads).
    pub Reads {}

    #[async_trait]
    impl AccountReader for Reads {
        async fn account_lists(&self, workspace: WorkspaceId, email: &FoldedEmail, customer: Option<CustomerId>, limit: u32) -> Result<AccountLists, StoreError>;
    }

    #[async_trait]
    impl AttachmentReader for Reads {
        async fn attachment(&self, workspace: WorkspaceId, id: AttachmentId) -> Result<Option<Attachment>, StoreError>;
        async fn public_image(&self, workspace: WorkspaceId, image: AttachmentId, now: Timestamp) -> Result<Option<Attachment>, StoreError>;
    }

    #[async_trait]
    impl AuditReader for Reads {
        async fn audit_entries(&self, workspace: WorkspaceId, filter: &AuditFilter, page: AuditPage) -> Result<AuditListing, StoreError>;
    }

    #[async_trait]
    impl ChangeReader for Reads {
        async fn changed_requests(&self, workspace: WorkspaceId, filter: &ChangesFilter, page: ChangesPage) -> Result<ChangesListing<ChangedRequest>, StoreError>;
        async fn changed_comments(&self, workspace: WorkspaceId, filter: &ChangesFilter, page: ChangesPage) -> Result<ChangesListing<ChangedComment>, StoreError>;
    }

    #[async_trait]
    impl ChangelogReader for Reads {
        async fn changelogs(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<Changelog>, StoreError>;
        async fn changelog(&self, workspace: WorkspaceId, changelog: ChangelogId) -> Result<Option<ChangelogDetail>, StoreError>;
        async fn published_changelogs(&self, workspace: WorkspaceId, now: Timestamp, page: PageRequest) -> Result<Listing<PublishedChangelog>, StoreError>;
        async fn published_changelog(&self, workspace: WorkspaceId, changelog: ChangelogId, now: Timestamp) -> Result<Option<PublishedChangelog>, StoreError>;
        async fn is_changelog_notified(&self, workspace: WorkspaceId, changelog: ChangelogId) -> Result<bool, StoreError>;
    }

    #[async_trait]
    impl CommentReader for Reads {
        async fn comments(&self, workspace: WorkspaceId, request: &FeatureRequestRef, page: PageRequest) -> Result<Option<Listing<ListedComment>>, StoreError>;
        async fn notes(&self, workspace: WorkspaceId, request: &FeatureRequestRef, page: PageRequest) -> Result<Option<Listing<Note>>, StoreError>;
        async fn held_posts(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<HeldPost>, StoreError>;
        async fn comment_customers(&self, workspace: WorkspaceId, comments: &[CommentId]) -> Result<Vec<(CommentId, CustomerName)>, StoreError>;
    }

    #[async_trait]
    impl CustomerReader for Reads {
        async fn customers<'a, 'b>(&'a self, workspace: WorkspaceId, query: Option<&'b CustomerQuery>, page: PageRequest) -> Result<Listing<Customer>, StoreError>;
        async fn customer(&self, workspace: WorkspaceId, customer: CustomerId) -> Result<Option<Customer>, StoreError>;
        async fn customer_records(&self, workspace: WorkspaceId, customer: CustomerId) -> Result<CustomerRecords, StoreError>;
        async fn customer_texts(&self, workspace: WorkspaceId, customer: CustomerId, page: PageRequest) -> Result<CustomerTexts, StoreError>;
        async fn last_counted_mail(&self, workspace: WorkspaceId, counter: CounterKey) -> Result<Option<Timestamp>, StoreError>;
    }

    #[async_trait]
    impl FeatureRequestReader for Reads {
        async fn feature_request(&self, workspace: WorkspaceId, request: &FeatureRequestRef) -> Result<Option<FeatureRequestDetail>, StoreError>;
        async fn events(&self, workspace: WorkspaceId, request: &FeatureRequestRef, kind: Option<&'static str>, page: PageRequest) -> Result<Option<Listing<Event>>, StoreError>;
        async fn team_page(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<TeamPage, StoreError>;
        async fn count_subscribers(&self, workspace: WorkspaceId, requests: &[FeatureRequestId]) -> Result<i64, StoreError>;
        async fn sitemap(&self, workspace: WorkspaceId, after: i64, limit: u32) -> Result<Vec<SitemapEntry>, StoreError>;
        async fn last_tag_number(&self, workspace: WorkspaceId) -> Result<i64, StoreError>;
    }

    #[async_trait]
    impl InboxReader for Reads {
        async fn inbox_counts(&self, workspace: WorkspaceId) -> Result<InboxCounts, StoreError>;
        async fn inbox(&self, workspace: WorkspaceId, list: &InboxList) -> Result<Listing<InboxRow>, StoreError>;
        async fn inbox_rows(&self, workspace: WorkspaceId, filter: &InboxFilter, requests: &[FeatureRequestId]) -> Result<Vec<InboxRow>, StoreError>;
        async fn find_unindexed(&self, workspace: WorkspaceId, number: Option<i64>, words: &[String], limit: u32) -> Result<Vec<FeatureRequestId>, StoreError>;
        async fn merge_preview(&self, workspace: WorkspaceId, source: FeatureRequestId, target: FeatureRequestId) -> Result<Option<MergePreview>, StoreError>;
    }

    #[async_trait]
    impl MemberReader for Reads {
        async fn members(&self, workspace: WorkspaceId) -> Result<Vec<Member>, StoreError>;
    }

    #[async_trait]
    impl OverviewReader for Reads {
        async fn overview(&self, workspace: WorkspaceId, times: &OverviewTimes) -> Result<Overview, StoreError>;
    }

    #[async_trait]
    impl PortalListReader for Reads {
        async fn portal_list(&self, workspace: WorkspaceId, list: &PortalList) -> Result<Listing<PortalRow>, StoreError>;
        async fn trending_candidates(&self, workspace: WorkspaceId, filter: &PortalFilter, limit: u32) -> Result<Vec<Candidate>, StoreError>;
        async fn portal_rows(&self, workspace: WorkspaceId, requests: &[FeatureRequestId]) -> Result<Vec<PortalRow>, StoreError>;
        async fn matching(&self, workspace: WorkspaceId, filter: &PortalFilter, requests: &[FeatureRequestId]) -> Result<Vec<FeatureRequestId>, StoreError>;
        async fn voted_among(&self, workspace: WorkspaceId, customer: CustomerId, requests: &[FeatureRequestId]) -> Result<Vec<FeatureRequestId>, StoreError>;
    }

    #[async_trait]
    impl RequestPageReader for Reads {
        async fn request_page(&self, workspace: WorkspaceId, request: &FeatureRequestRef, viewer: Viewer, comments: Option<u64>) -> Result<Option<RequestPage>, StoreError>;
        async fn visible_request(&self, workspace: WorkspaceId, request: &FeatureRequestRef, viewer: Viewer) -> Result<Option<RequestLink>, StoreError>;
    }

    #[async_trait]
    impl SessionReader for Reads {
        async fn session(&self, workspace: WorkspaceId, digest: &SecretDigest) -> Result<Option<Session>, StoreError>;
        async fn touch_session(&self, workspace: WorkspaceId, session: SessionId, at: Timestamp) -> Result<(), StoreError>;
        async fn sign_in(&self, workspace: WorkspaceId, id: SignInId) -> Result<Option<SignIn>, StoreError>;
        async fn sign_in_of_browser(&self, workspace: WorkspaceId, browser: &SecretDigest) -> Result<Option<SignIn>, StoreError>;
    }

    #[async_trait]
    impl SettingReader for Reads {
        async fn setting(&self, workspace: WorkspaceId) -> Result<Option<Setting>, StoreError>;
        async fn synonyms(&self, workspace: WorkspaceId) -> Result<Synonyms, StoreError>;
        async fn portal(&self, workspace: WorkspaceId) -> Result<Option<Portal>, StoreError>;
    }

    #[async_trait]
    impl TrackReader for Reads {
        async fn tracks(&self, workspace: WorkspaceId) -> Result<Vec<Track>, StoreError>;
        async fn lanes(&self, workspace: WorkspaceId) -> Result<Vec<ListedLane>, StoreError>;
        async fn roadmap(&self, workspace: WorkspaceId, per_lane: u32) -> Result<Vec<RoadmapLane>, StoreError>;
        async fn track_requests(&self, workspace: WorkspaceId, track: TrackId, sort: Sort, page: PageRequest) -> Result<Option<Listing<FeatureRequestSummary>>, StoreError>;
    }

    #[async_trait]
    impl VoteReader for Reads {
        async fn voters(&self, workspace: WorkspaceId, request: &FeatureRequestRef, page: PageRequest) -> Result<Option<Listing<Voter>>, StoreError>;
        async fn voted_requests(&self, workspace: WorkspaceId, customer: &EmailAddress, page: PageRequest) -> Result<Listing<FeatureRequestSummary>, StoreError>;
    }
}
