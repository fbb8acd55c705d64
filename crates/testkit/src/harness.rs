//! The ports of a store under test, and helpers for the cases.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use roadmap_domain::error::{RoadmapError, StoreError};
use roadmap_domain::model::attachment::{Attachment, BlobKey, Checksum, Dimensions, Filename};
use roadmap_domain::model::audit::{Audit, AuditEntry, AuditFilter, AuditPage};
use roadmap_domain::model::board::ListedLane;
use roadmap_domain::model::changelog::ChangelogFields;
use roadmap_domain::model::comment::{CommentDraft, ListedComment};
use roadmap_domain::model::company::company;
use roadmap_domain::model::customer::{CustomerDraft, CustomerName, CustomerQuery};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::event::Event;
use roadmap_domain::model::feature_request::{
    Description, FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, SearchResult, Sort, Tag, Title,
};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{
    AttachmentId, CommentId, CustomerId, FeatureRequestId, MemberId, TrackId, WorkspaceId,
};
use roadmap_domain::model::link::LinkDraft;
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::model::member::{Author, Member};
use roadmap_domain::model::note::{Note, NoteDraft};
use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::picture::PictureBy;
use roadmap_domain::model::portal::{RequestPage, Viewer};
use roadmap_domain::model::search::{SearchQuery, Synonyms};
use roadmap_domain::model::setting::Setting;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::vote::{VoteCast, VoteDraft, VoteWithdrawn, Voter};
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::ports::{
    Clock, IdGenerator, MailReader, Maintenance, MissedSearchStore, OutboxQueue, Reads, SettingReader, SnapshotReader,
    Store, SynonymSource, TextSearch, UnitOfWork, UsageStore, WebhookQueue, WorkspaceDirectory,
};
use roadmap_domain::usecase::cast_vote::CastVote;
use roadmap_domain::usecase::change_links::AddLink;
use roadmap_domain::usecase::change_members::AddMember;
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::create_workspace::CreateWorkspace;
use roadmap_domain::usecase::delete_feature_request::{DeleteFeatureRequest, FeatureRequestDeleted};
use roadmap_domain::usecase::edit_comment::EditComment;
use roadmap_domain::usecase::edit_feature_request::{EditFeatureRequest, FeatureRequestChange, FeatureRequestEdited};
use roadmap_domain::usecase::executor::{Checked, Executor, Operation, OperationContext, OperationResponse, Performed};
use roadmap_domain::usecase::hold_comment::HoldComment;
use roadmap_domain::usecase::merge_feature_requests::{MergeFeatureRequests, Merged, UnmergeFeatureRequest, Unmerged};
use roadmap_domain::usecase::move_feature_request::{MoveDraft, MoveFeatureRequest, Moved};
use roadmap_domain::usecase::post_comment::PostComment;
use roadmap_domain::usecase::query::feature_requests::SearchFeatureRequests;
use roadmap_domain::usecase::retry_mail::RetryMail;
use roadmap_domain::usecase::subscribe::Subscribe;
use roadmap_domain::usecase::target::Target;
use roadmap_domain::usecase::unsubscribe::Unsubscribe;
use roadmap_domain::usecase::upload_attachment::UploadAttachment;
use roadmap_domain::usecase::withdraw_vote::WithdrawVote;
use time::Duration;
use tokio::sync::{Notify, Semaphore};
use uuid::Uuid;

use crate::fakes::{EmptyStorage, ManualClock, NoOperationLocks, NoPause, SequentialIds};

/// A fresh, empty store under test.
pub struct Subject {
    /// Units of work.
    pub store: Arc<dyn Store>,
    /// Reads of records.
    pub reader: Arc<dyn Reads>,
    /// Reads of whole workspaces.
    pub snapshots: Arc<dyn SnapshotReader>,
    /// Searches that found nothing.
    pub missed_searches: Arc<dyn MissedSearchStore>,
    pub search: Arc<dyn TextSearch>,
    /// Workspaces and keys.
    pub directory: Arc<dyn WorkspaceDirectory>,
    pub maintenance: Arc<dyn Maintenance>,
    /// The outbox, as workers see it.
    pub queue: Arc<dyn OutboxQueue>,
    /// What its mails say.
    pub mail: Arc<dyn MailReader>,
    /// Events and deliveries of webhooks, as workers see them.
    pub webhook_queue: Arc<dyn WebhookQueue>,
    /// What each workspace stores.
    pub usage: Arc<dyn UsageStore>,
    /// Direct access to rows.
    pub probe: Arc<dyn Probe>,
    /// The folder or database of the store, which is dropped after the test.
    pub keep: Box<dyn Any + Send + Sync>,
}

/// Direct access to rows, bypassing the store.
#[async_trait]
pub trait Probe: Send + Sync {
    /// Counts the rows of a table that belong to a workspace.
    async fn count(&self, table: &str, workspace: WorkspaceId) -> u64;

    /// Runs SQL statements that both databases understand.
    async fn execute(&self, statements: &str);

    /// The authors of the notes or comments of a workspace, in order.
    async fn authors(&self, table: &str, workspace: WorkspaceId) -> Vec<Option<MemberId>>;
}

/// A store under test with the domain's executor.
pub struct Harness {
    /// The store.
    pub subject: Subject,
    /// Runs operations on the store.
    pub executor: Executor,
    pub clock: Arc<ManualClock>,
    ids: Arc<SequentialIds>,
}

impl Harness {
    /// Creates an executor for the store.
    #[must_use]
    pub fn new(subject: Subject) -> Self {
        let clock = Arc::new(ManualClock::default());
        let ids = Arc::new(SequentialIds::default());
        let executor = Executor::new(
            subject.store.clone(),
            Arc::new(NoOperationLocks),
            Arc::new(NoPause),
            clock.clone(),
            ids.clone(),
        );
        Self { subject, executor, clock, ids }
    }

    /// An executor with a limit of mails per day.
    #[must_use]
    pub fn with_mail_budget(&self, mail_per_day: u64) -> Executor {
        self.executor.clone().with_mail_budget(Some(mail_per_day))
    }

    /// The use case that deletes files of a storage.
    #[must_use]
    pub fn upload(&self, storage: &Arc<EmptyStorage>) -> UploadAttachment {
        UploadAttachment::new(storage.clone(), self.executor.clone(), self.clock.clone(), self.ids.clone())
    }

    /// The current time of the clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Creates a workspace.
    pub async fn workspace(&self, subdomain: &str) -> WorkspaceId {
        self.try_workspace(subdomain).await.expect("a workspace").id
    }

    /// Creates a workspace.
    ///
    /// # Errors
    /// The subdomain is taken.
    pub async fn try_workspace(&self, subdomain: &str) -> Result<Workspace, RoadmapError> {
        let operation = CreateWorkspace {
            subdomain: Subdomain::from_label(subdomain).unwrap(),
            setting: Setting::parse("Acme", "https://acme.example").unwrap(),
        };
        let id = WorkspaceId::new(self.ids.next(self.clock.now()));
        Ok(self.executor.run_without_key(id, &operation).await?.workspace)
    }

    /// Runs an operation without a key.
    pub async fn perform<O: Operation>(&self, workspace: WorkspaceId, operation: &O) -> O::Output {
        self.executor.run_without_key(workspace, operation).await.expect("the operation succeeds")
    }

    /// Runs an operation that fails, and returns the message of its error.
    pub async fn failure<O: Operation>(&self, workspace: WorkspaceId, operation: &O) -> String {
        let outcome = self.executor.run_without_key(workspace, operation).await;
        outcome.map(|_| ()).expect_err("the operation fails").to_string()
    }

    /// Runs an operation, and a second one before the unit of work of the first ends.
    pub async fn overlap<A: Operation, B: Operation>(
        &self,
        workspace: WorkspaceId,
        first: A,
        second: &B,
    ) -> (Result<A::Output, RoadmapError>, Result<B::Output, RoadmapError>) {
        // How long the second one may take without waiting for the first.
        const TIME: std::time::Duration = std::time::Duration::from_millis(200);
        let held = Held { operation: first, performed: Notify::new(), end: Semaphore::new(0) };
        let first = async {
            let outcome = self.executor.run_without_key(workspace, &held).await;
            held.performed.notify_one();
            outcome
        };
        let second = async {
            held.performed.notified().await;
            let mut running = std::pin::pin!(self.executor.run_without_key(workspace, second));
            let ended = tokio::time::timeout(TIME, &mut running).await;
            held.end.add_permits(1);
            match ended {
                Ok(outcome) => outcome,
                Err(_) => running.await,
            }
        };
        tokio::join!(first, second)
    }

    /// Advances the clock by a second and returns its time.
    pub fn next_second(&self) -> Timestamp {
        self.clock.advance(Duration::SECOND);
        self.now()
    }

    /// Advances the clock by this number of days.
    pub fn after_days(&self, days: u64) {
        self.clock.advance(Duration::DAY * u32::try_from(days).expect("few days"));
    }

    /// Creates a feature request with this title.
    pub async fn request(&self, workspace: WorkspaceId, title: &str) -> FeatureRequestSummary {
        self.create(workspace, draft(title, &[], "")).await
    }

    /// Creates feature requests with these titles, a second apart.
    pub async fn requests<const N: usize>(
        &self,
        workspace: WorkspaceId,
        titles: [&str; N],
    ) -> [FeatureRequestSummary; N] {
        let mut requests = Vec::new();
        for title in titles {
            requests.push(self.request(workspace, title).await);
            self.next_second();
        }
        requests.try_into().expect("as many as titles")
    }

    /// Creates a feature request.
    pub async fn create(&self, workspace: WorkspaceId, draft: FeatureRequestDraft) -> FeatureRequestSummary {
        let created = self.executor.run_without_key(workspace, &CreateFeatureRequest::new(draft)).await;
        created.expect("a request").request
    }

    /// Returns the feature request with this number, by moving it to the track `Inbox`.
    pub async fn find(&self, workspace: WorkspaceId, number: i64) -> FeatureRequestSummary {
        let operation = move_to(FeatureRequestRef::Number(number), self.track(workspace, "Inbox").await);
        self.perform(workspace, &operation).await.request
    }

    /// Casts a vote of a customer for a feature request.
    pub async fn vote(&self, workspace: WorkspaceId, request: &FeatureRequestSummary, email: &str) -> VoteCast {
        let operation = vote(FeatureRequestRef::Id(request.id), Some((email, None)), None);
        self.executor.run_without_key(workspace, &operation).await.expect("a vote")
    }

    /// Withdraws the vote of a customer.
    pub async fn withdraw(&self, workspace: WorkspaceId, request: FeatureRequestId, email: &str) -> VoteWithdrawn {
        self.perform(workspace, &withdraw(FeatureRequestRef::Id(request), email)).await
    }

    /// Subscribes a customer. Returns whether the customer is subscribed now.
    pub async fn subscribe(&self, workspace: WorkspaceId, request: FeatureRequestId, email: &str) -> bool {
        let customer = CustomerDraft::parse(Some(email), None);
        self.perform(
            workspace,
            &Subscribe { request: FeatureRequestRef::Id(request), customer: customer.unwrap(), resumes_mail: false },
        )
        .await
        .is_subscribed
    }

    /// Merges a feature request into another one.
    pub async fn merge(&self, workspace: WorkspaceId, source: FeatureRequestId, target: FeatureRequestId) -> Merged {
        let merged = self.perform(workspace, &merge(source, target)).await;
        assert_eq!(self.detail(workspace, merged.target.summary.id).await, merged.target);
        merged
    }

    /// Undoes the merge of a feature request.
    pub async fn unmerge(&self, workspace: WorkspaceId, source: FeatureRequestId) -> Unmerged {
        let unmerged = self.perform(workspace, &unmerge(source)).await;
        assert_eq!(self.detail(workspace, source).await, unmerged.source);
        unmerged
    }

    /// Deletes a feature request.
    pub async fn delete(
        &self,
        workspace: WorkspaceId,
        request: FeatureRequestId,
        with_merged: bool,
    ) -> FeatureRequestDeleted {
        let request = FeatureRequestRef::Id(request);
        self.perform(workspace, &DeleteFeatureRequest { request, with_merged }).await
    }

    /// Edits a feature request.
    pub async fn edit(
        &self,
        workspace: WorkspaceId,
        request: FeatureRequestId,
        change: FeatureRequestChange,
    ) -> FeatureRequestEdited {
        let edited = self.perform(workspace, &edit(FeatureRequestRef::Id(request), change)).await;
        assert_eq!(self.detail(workspace, request).await, edited.detail);
        edited
    }

    /// Moves a feature request to the track with this name.
    pub async fn move_to(&self, workspace: WorkspaceId, request: FeatureRequestId, track: &str) -> Moved {
        let track = self.track(workspace, track).await;
        self.perform(workspace, &move_to(FeatureRequestRef::Id(request), track)).await
    }

    /// Adds a team member.
    pub async fn member(&self, workspace: WorkspaceId, email: &str, name: &str) -> Member {
        self.perform(workspace, &add_member(email, name)).await
    }

    /// The customer with this address.
    pub async fn customer(&self, workspace: WorkspaceId, email: &str) -> CustomerName {
        let query = CustomerQuery::parse("query", Some(email)).unwrap();
        let listing =
            self.subject.reader.customers(workspace, query.as_ref(), largest_page()).await.expect("customers");
        let address = EmailAddress::parse("email", email).unwrap();
        let mut customers = listing.items.into_iter().map(|listing| listing.customer);
        customers.find(|customer| customer.email.folded() == address.folded()).expect("the customer")
    }

    /// A signed-in customer, who looks at pages.
    pub async fn viewer(&self, workspace: WorkspaceId, email: &str) -> Viewer {
        Viewer { customer: Some(self.customer(workspace, email).await.id), is_member: false }
    }

    /// Holds a comment of a customer. Returns its ID.
    pub async fn hold(
        &self,
        workspace: WorkspaceId,
        request: FeatureRequestId,
        content: &str,
        email: &str,
    ) -> CommentId {
        self.perform(workspace, &hold(FeatureRequestRef::Id(request), content, email)).await;
        let held = self.page_of(workspace, request, member_viewer()).await.held;
        held.iter().max_by_key(|comment| comment.id).expect("the comment").id
    }

    /// The page of a feature request with its last comments, whoever may see it.
    pub async fn page_of(&self, workspace: WorkspaceId, request: FeatureRequestId, viewer: Viewer) -> RequestPage {
        let request = FeatureRequestRef::Id(request);
        let page = self.subject.reader.request_page(workspace, &request, viewer, None).await;
        page.expect("the reader").expect("the feature request")
    }

    /// Stores the row of an image.
    pub async fn attachment(&self, workspace: WorkspaceId, number: u128) -> Attachment {
        let attachment = attachment(workspace, number, self.now());
        self.perform(workspace, &InsertAttachment(attachment.clone(), None)).await;
        attachment
    }

    /// A feature request with all of its fields; of a merged one, what it was merged into.
    pub async fn detail(&self, workspace: WorkspaceId, request: FeatureRequestId) -> FeatureRequestDetail {
        let detail = self.subject.reader.feature_request(workspace, &FeatureRequestRef::Id(request)).await;
        detail.expect("the reader").expect("the feature request")
    }

    /// The comments of a feature request.
    pub async fn comments(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Vec<ListedComment> {
        let request = FeatureRequestRef::Id(request);
        let listing = self.subject.reader.comments(workspace, &request, largest_page()).await.expect("the reader");
        listing.expect("the feature request").items
    }

    /// The notes of a feature request.
    pub async fn notes(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Vec<Note> {
        let request = FeatureRequestRef::Id(request);
        let listing = self.subject.reader.notes(workspace, &request, largest_page()).await.expect("the reader");
        listing.expect("the feature request").items
    }

    /// The events of a feature request, optionally of one kind.
    pub async fn events(
        &self,
        workspace: WorkspaceId,
        request: FeatureRequestId,
        kind: Option<&'static str>,
    ) -> Vec<Event> {
        let request = FeatureRequestRef::Id(request);
        let listing = self.subject.reader.events(workspace, &request, kind, largest_page()).await.expect("the reader");
        listing.expect("the feature request").items
    }

    /// The voters of a feature request. Their companies are counted as the store has counted them.
    pub async fn voters(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Vec<Voter> {
        let root = self.detail(workspace, request).await.summary.id;
        let request = FeatureRequestRef::Id(root);
        let listing = self.subject.reader.voters(workspace, &request, largest_page()).await.expect("the reader");
        let voters = listing.expect("the feature request").items;
        let companies: BTreeSet<&str> = voters.iter().filter_map(|voter| company(voter.email.folded())).collect();
        let counted = self.subject.reader.vote_counts(workspace, root).await.expect("the reader");
        assert_eq!(counted.companies, companies.len() as u64, "{companies:?}");
        voters
    }

    /// The numbers of the feature requests that a customer voted for.
    pub async fn voted(&self, workspace: WorkspaceId, email: &str) -> Vec<i64> {
        let customer = EmailAddress::parse("email", email).unwrap();
        let listing = self.subject.reader.voted_requests(workspace, &customer, largest_page()).await;
        listing.expect("the reader").items.iter().map(|request| request.tag_number).collect()
    }

    /// The numbers of the feature requests on the track with this name, newest first.
    pub async fn find_on(&self, workspace: WorkspaceId, track: &str) -> Vec<i64> {
        let track = self.track(workspace, track).await;
        let listing = self.subject.reader.track_requests(workspace, track, Sort::Newest, largest_page()).await;
        let listing = listing.expect("the reader").expect("the track");
        listing.items.iter().map(|request| request.tag_number).collect()
    }

    /// The lanes of a workspace.
    pub async fn lanes(&self, workspace: WorkspaceId) -> Vec<ListedLane> {
        self.subject.reader.lanes(workspace).await.expect("lanes")
    }

    /// Everything that clients see of feature requests, without the timestamps of their updates.
    pub async fn snapshots(&self, workspace: WorkspaceId, requests: &[FeatureRequestId]) -> Vec<RequestSnapshot> {
        let mut snapshots = Vec::new();
        for request in requests {
            let mut detail = self.detail(workspace, *request).await;
            detail.updated_at = detail.summary.created_at;
            let matches = self.search(workspace, detail.summary.title.as_str()).await;
            snapshots.push(RequestSnapshot {
                detail,
                voters: self.voters(workspace, *request).await,
                comments: self.comments(workspace, *request).await,
                notes: self.notes(workspace, *request).await,
                matches,
            });
        }
        snapshots
    }

    /// Sends postponed mail again, or also dead mail. Returns its number.
    pub async fn retry_mail(&self, workspace: WorkspaceId, dead: bool) -> u64 {
        self.perform(workspace, &RetryMail { dead }).await
    }

    /// The newest entries of the audit log that a filter selects.
    pub async fn audit_entries(&self, workspace: WorkspaceId, filter: &AuditFilter) -> Vec<AuditEntry> {
        let page = AuditPage { before: None, size: 100 };
        self.subject.reader.audit_entries(workspace, filter, page).await.expect("the audit log").entries
    }

    /// Unsubscribes a voter.
    ///
    /// # Errors
    /// The workspace has no such customer.
    pub async fn unsubscribe(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        what: Unsubscription,
    ) -> Result<(), RoadmapError> {
        self.executor.run_without_key(workspace, &Unsubscribe { customer, what }).await
    }

    /// Searches with the workspace's synonyms.
    ///
    /// # Errors
    /// Those of the search.
    pub async fn try_search(&self, workspace: WorkspaceId, query: &str) -> Result<Vec<FeatureRequestId>, RoadmapError> {
        let search = SearchFeatureRequests::new(SearchQuery::parse("query", query).unwrap(), 15);
        search.run(workspace, &*self.subject.search, &Uncached(&*self.subject.reader)).await
    }

    /// What a search finds: titles, best first.
    pub async fn search(&self, workspace: WorkspaceId, query: &str) -> Vec<String> {
        let results = self.results(workspace, query).await;
        results.into_iter().map(|results| results.summary.title.to_string()).collect()
    }

    /// What a search finds, best first.
    pub async fn results(&self, workspace: WorkspaceId, query: &str) -> Vec<SearchResult> {
        let ids = self.try_search(workspace, query).await.expect("a search");
        self.subject.search.load_results(workspace, &ids).await.expect("the results")
    }

    /// Runs an operation with a key and a response with `body`.
    ///
    /// # Errors
    /// Those of the operation.
    pub async fn run<O: Operation>(
        &self,
        workspace: WorkspaceId,
        key: &str,
        operation: &O,
        body: &str,
    ) -> Result<OperationResponse, RoadmapError> {
        self.executor.run(workspace, Some(&operation_key(key)), operation, |_| reply(body)).await
    }

    /// The id of the track with this name.
    pub async fn track(&self, workspace: WorkspaceId, name: &str) -> TrackId {
        let tracks = self.subject.reader.tracks(workspace).await.expect("tracks");
        tracks.iter().find(|track| track.name.as_str() == name).expect("the track").id
    }

    /// Counts the rows of a table that belong to a workspace.
    pub async fn count(&self, table: &str, workspace: WorkspaceId) -> u64 {
        self.subject.probe.count(table, workspace).await
    }

    /// Counts the rows of all tables with what belongs to feature requests.
    pub async fn count_records(&self, workspace: WorkspaceId) -> Vec<(&'static str, u64)> {
        let mut counts = Vec::new();
        for table in RECORD_TABLES {
            counts.push((table, self.count(table, workspace).await));
        }
        counts
    }
}

/// The tables with what belongs to feature requests.
const RECORD_TABLES: [&str; 13] = [
    "feature_requests",
    "feature_request_tags",
    "vote_tallies",
    "votes",
    "followers",
    "comments",
    "held_comments",
    "notes",
    "links",
    "feature_request_events",
    "changelog_feature_requests",
    "search_documents",
    "outbox",
];

/// Everything that clients see of a feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSnapshot {
    /// Its fields. The timestamp of its update is the one of its creation.
    pub detail: FeatureRequestDetail,
    pub voters: Vec<Voter>,
    pub comments: Vec<ListedComment>,
    pub notes: Vec<Note>,
    /// The titles that a search for its title finds.
    pub matches: Vec<String>,
}

/// An operation that adds a link without a title.
#[must_use]
pub fn add_link(request: FeatureRequestRef, url: &str) -> AddLink {
    AddLink { request, draft: LinkDraft::parse(Some(url), None, None).expect("a URL") }
}

/// Parses an operation key.
#[must_use]
pub fn operation_key(raw: &str) -> OperationKey {
    OperationKey::parse(raw).unwrap().unwrap()
}

/// A response with status 201 and this body.
#[must_use]
pub fn reply(body: &str) -> SavedResponse {
    SavedResponse { status: 201, body: body.as_bytes().to_vec() }
}

/// A draft of a public feature request without a customer.
#[must_use]
pub fn draft(title: &str, tags: &[&str], description: &str) -> FeatureRequestDraft {
    let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
    FeatureRequestDraft {
        title: Title::parse("title", title).unwrap(),
        description: Description::parse("description", description).unwrap(),
        tags: Tag::parse_list("tags", &tags).unwrap(),
        track: None,
        private: false,
        awaiting_approval: false,
        customer: None,
        note: None,
    }
}

/// A vote of an optional customer (address and name), with an optional note.
#[must_use]
pub fn vote(request: FeatureRequestRef, customer: Option<(&str, Option<&str>)>, note: Option<&str>) -> CastVote {
    let customer = customer.map(|(email, name)| CustomerDraft::parse(Some(email), name).unwrap());
    let note = note.map(|body| NoteDraft::parse(Some(body), None).unwrap());
    CastVote { request, draft: VoteDraft::new(customer, note).unwrap() }
}

/// A comment.
#[must_use]
pub fn comment(request: FeatureRequestRef, content: &str, notify_all_voters: bool) -> PostComment {
    PostComment { request, draft: CommentDraft::parse(Some(content), None, notify_all_voters).unwrap() }
}

/// A comment of a customer.
#[must_use]
pub fn customer_comment(request: FeatureRequestRef, content: &str, email: &str, name: Option<&str>) -> PostComment {
    let customer = CustomerDraft::parse(Some(email), name).unwrap();
    let draft = CommentDraft::parse_of_customer(Some(content), None, customer, false);
    PostComment { request, draft: draft.unwrap() }
}

/// A comment of a customer that waits for approval.
#[must_use]
pub fn hold(request: FeatureRequestRef, content: &str, email: &str) -> HoldComment {
    let customer = CustomerDraft::parse(Some(email), None).unwrap();
    HoldComment { request, content: CleanHtml::parse("content", content).unwrap(), customer }
}

/// An edit of a comment, whose content may be invalid.
#[must_use]
pub fn edit_comment(comment: CommentId, content: &str) -> Checked<EditComment> {
    let operation = CleanHtml::parse("content", content).map(|content| EditComment { comment, content });
    Checked { target: Target::Comment(comment), operation }
}

/// A draft of an idea that waits for approval, with its author.
#[must_use]
pub fn held_idea(title: &str, email: &str) -> FeatureRequestDraft {
    let customer = CustomerDraft::parse(Some(email), None).ok();
    FeatureRequestDraft { private: true, awaiting_approval: true, customer, ..draft(title, &[], "") }
}

/// A member who looks at pages.
#[must_use]
pub const fn member_viewer() -> Viewer {
    Viewer { customer: None, is_member: true }
}

/// A move that notifies nobody.
#[must_use]
pub fn move_to(request: FeatureRequestRef, track: TrackId) -> MoveFeatureRequest {
    let draft = MoveDraft { track, author: Author::Oldest, notify_all_voters: false, comment: None };
    MoveFeatureRequest { request, draft }
}

/// The withdrawal of a vote.
#[must_use]
pub fn withdraw(request: FeatureRequestRef, email: &str) -> WithdrawVote {
    WithdrawVote { request, customer: EmailAddress::parse("email", email).unwrap() }
}

/// A merge.
#[must_use]
pub fn merge(source: FeatureRequestId, target: FeatureRequestId) -> MergeFeatureRequests {
    let (source, target) = (FeatureRequestRef::Id(source), FeatureRequestRef::Id(target));
    MergeFeatureRequests { source, target, tells_voters: false }
}

/// The undoing of a merge.
#[must_use]
pub fn unmerge(source: FeatureRequestId) -> UnmergeFeatureRequest {
    UnmergeFeatureRequest { source: FeatureRequestRef::Id(source) }
}

/// An edit.
#[must_use]
pub fn edit(request: FeatureRequestRef, change: FeatureRequestChange) -> EditFeatureRequest {
    EditFeatureRequest { request, change }
}

/// A change of the title alone.
#[must_use]
pub fn new_title(title: &str) -> FeatureRequestChange {
    FeatureRequestChange { title: Some(Title::parse("title", title).unwrap()), ..FeatureRequestChange::default() }
}

/// A change of the visibility alone.
#[must_use]
pub fn new_visibility(private: bool) -> FeatureRequestChange {
    FeatureRequestChange { private: Some(private), ..FeatureRequestChange::default() }
}

/// A new member with the default role.
#[must_use]
pub fn add_member(email: &str, name: &str) -> AddMember {
    AddMember { email: EmailAddress::parse("email", email).unwrap(), name: self::name(name), role: None }
}

/// Parses a name.
#[must_use]
pub fn name(text: &str) -> Name {
    Name::parse("name", text).unwrap()
}

/// Title and content of a changelog.
#[must_use]
pub fn changelog_fields(title: &str, content: &str) -> ChangelogFields {
    ChangelogFields { title: Some(title.to_owned()), content: Some(content.to_owned()), ..ChangelogFields::default() }
}

/// The row of an image. Its dimensions are known if its number is odd.
#[must_use]
pub fn attachment(workspace: WorkspaceId, number: u128, created_at: Timestamp) -> Attachment {
    let id = AttachmentId::new(Uuid::from_u128(number));
    Attachment {
        id,
        filename: Filename::sanitize("Übersicht.png"),
        media_type: MediaType::from_stored("image/png".to_owned()),
        byte_size: 52_428_800,
        checksum: Checksum([7; 16]),
        key: BlobKey { workspace, attachment: id },
        service_name: "local".to_owned(),
        dimensions: (number % 2 == 1).then_some(Dimensions { width: u32::MAX, height: 1 }),
        created_at,
    }
}

/// A page of this size.
#[must_use]
pub fn page(number: u64, size: u64) -> PageRequest {
    PageRequest::parse(Some(&number.to_string()), Some(&size.to_string())).unwrap()
}

/// The first page of the largest size.
#[must_use]
pub fn largest_page() -> PageRequest {
    page(1, PageRequest::MAX_SIZE)
}

/// An operation that stores an attachment's row, perhaps as a picture for texts.
pub struct InsertAttachment(pub Attachment, pub Option<PictureBy>);

#[async_trait]
impl Operation for InsertAttachment {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        work.insert_attachment(&self.0, self.1).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

/// Runs many commands in one unit of work, without entries in the audit log.
pub struct Many<O>(pub Vec<O>);

#[async_trait]
impl<O: Operation> Operation for Many<O> {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let mut all = Performed::new((), Audit::Unchanged);
        for one in &self.0 {
            all.join(one.perform(context, work).await?);
        }
        Ok(all)
    }
}

/// An operation that performs another one and then fails, so that its unit of work is rolled back.
pub struct Failing<O>(pub O);

#[async_trait]
impl<O: Operation> Operation for Failing<O> {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        self.0.perform(context, work).await?;
        Err(RoadmapError::Taken { what: "this test's patience".to_owned() })
    }
}

/// An operation that performs another one, and returns later.
struct Held<O> {
    operation: O,
    performed: Notify,
    /// Has a permit as soon as it may return.
    end: Semaphore,
}

#[async_trait]
impl<O: Operation> Operation for Held<O> {
    type Output = O::Output;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<O::Output>, RoadmapError> {
        let performed = self.operation.perform(context, work).await?;
        self.performed.notify_one();
        let _permit = self.end.acquire().await;
        Ok(performed)
    }
}

/// An operation that performs another one and then never returns, so that it can be dropped.
pub struct Stalling<O>(pub O, pub Arc<Notify>);

#[async_trait]
impl<O: Operation> Operation for Stalling<O> {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        self.0.perform(context, work).await?;
        self.1.notify_one();
        std::future::pending().await
    }
}

/// The synonyms of a reader, without a cache.
struct Uncached<'a>(&'a dyn SettingReader);

#[async_trait]
impl SynonymSource for Uncached<'_> {
    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Arc<Synonyms>, StoreError> {
        self.0.synonyms(workspace).await.map(Arc::new)
    }
}
