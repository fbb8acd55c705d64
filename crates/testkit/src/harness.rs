//! The ports of a store under test, and helpers for the cases.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use roadmap_domain::error::{RoadmapError, StoreError};
use roadmap_domain::model::comment::CommentDraft;
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::feature_request::{
    Description, FeatureRequestRef, FeatureRequestSummary, FoundFeatureRequest, Tag, Title,
};
use roadmap_domain::model::id::{CustomerId, MemberId, TrackId, WorkspaceId};
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use roadmap_domain::model::search::{SearchQuery, Synonyms};
use roadmap_domain::model::setting::Setting;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::vote::{VoteCast, VoteDraft};
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::ports::{
    Clock, IdGenerator, MailReader, Maintenance, OutboxQueue, RoadmapReader, Store, SynonymSource, TextSearch,
    UnitOfWork, UsageStore, WorkspaceDirectory,
};
use roadmap_domain::usecase::cast_vote::CastVote;
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::create_workspace::CreateWorkspace;
use roadmap_domain::usecase::executor::{Executor, Operation, OperationContext, OperationResponse};
use roadmap_domain::usecase::move_feature_request::MoveFeatureRequest;
use roadmap_domain::usecase::post_comment::PostComment;
use roadmap_domain::usecase::query::feature_requests::SearchFeatureRequests;
use roadmap_domain::usecase::unsubscribe::Unsubscribe;

use crate::fakes::{ManualClock, NoOperationLocks, NoPause, SequentialIds};

/// A fresh, empty store under test.
pub struct Subject {
    /// Units of work.
    pub store: Arc<dyn Store>,
    /// Lists.
    pub reader: Arc<dyn RoadmapReader>,
    /// Search.
    pub search: Arc<dyn TextSearch>,
    /// Workspaces and keys.
    pub directory: Arc<dyn WorkspaceDirectory>,
    /// Maintenance.
    pub maintenance: Arc<dyn Maintenance>,
    /// The outbox, as workers see it.
    pub queue: Arc<dyn OutboxQueue>,
    /// What its mails say.
    pub mail: Arc<dyn MailReader>,
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
    /// The clock.
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

    /// Creates a feature request with this title.
    pub async fn request(&self, workspace: WorkspaceId, title: &str) -> FeatureRequestSummary {
        self.create(workspace, draft(title, &[], "")).await
    }

    /// Creates a feature request.
    pub async fn create(&self, workspace: WorkspaceId, draft: FeatureRequestDraft) -> FeatureRequestSummary {
        let created = self.executor.run_without_key(workspace, &CreateFeatureRequest::new(Ok(draft))).await;
        created.expect("a request").request
    }

    /// Returns the feature request with this number, by moving it to the track `Inbox`.
    pub async fn find(&self, workspace: WorkspaceId, number: i64) -> FeatureRequestSummary {
        let operation = MoveFeatureRequest {
            request: FeatureRequestRef::Number(number),
            track: Ok(self.track(workspace, "Inbox").await),
        };
        self.executor.run_without_key(workspace, &operation).await.expect("the request")
    }

    /// Casts a vote of a customer for a feature request.
    pub async fn vote(&self, workspace: WorkspaceId, request: &FeatureRequestSummary, email: &str) -> VoteCast {
        let operation = vote(FeatureRequestRef::Id(request.id), Some((email, None)), None);
        self.executor.run_without_key(workspace, &operation).await.expect("a vote")
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
    pub async fn try_search(
        &self,
        workspace: WorkspaceId,
        query: &str,
    ) -> Result<Vec<FoundFeatureRequest>, RoadmapError> {
        let search = SearchFeatureRequests::new(SearchQuery::parse("query", query).unwrap(), 15);
        search.run(workspace, &*self.subject.search, &Uncached(&*self.subject.reader)).await
    }

    /// What a search finds: titles, best first.
    pub async fn search(&self, workspace: WorkspaceId, query: &str) -> Vec<String> {
        let found = self.try_search(workspace, query).await.expect("a search");
        found.into_iter().map(|found| found.summary.title.to_string()).collect()
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
        customer: None,
        note: None,
    }
}

/// A vote of an optional customer (address and name), with an optional note.
#[must_use]
pub fn vote(request: FeatureRequestRef, customer: Option<(&str, Option<&str>)>, note: Option<&str>) -> CastVote {
    let customer = customer.map(|(email, name)| CustomerDraft::parse(Some(email), name).unwrap());
    let note = note.map(|body| NoteDraft::parse(Some(body), None).unwrap());
    CastVote { request, draft: VoteDraft::new(customer, note) }
}

/// A comment.
#[must_use]
pub fn comment(request: FeatureRequestRef, content: &str, notify_all_voters: bool) -> PostComment {
    PostComment { request, draft: CommentDraft::parse(Some(content), None, notify_all_voters), mails_per_day: None }
}

/// An operation that performs another one and then fails, so that its unit of work is rolled back.
pub struct Failing<O>(pub O);

#[async_trait]
impl<O: Operation> Operation for Failing<O> {
    type Output = ();

    async fn perform(&self, context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        self.0.perform(context, work).await?;
        Err(RoadmapError::Taken { what: "this test's patience".to_owned() })
    }
}

/// An operation that performs another one and then never returns, so that it can be dropped.
pub struct Stalling<O>(pub O, pub Arc<tokio::sync::Notify>);

#[async_trait]
impl<O: Operation> Operation for Stalling<O> {
    type Output = ();

    async fn perform(&self, context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        self.0.perform(context, work).await?;
        self.1.notify_one();
        std::future::pending().await
    }
}

/// The synonyms of a reader, without a cache.
struct Uncached<'a>(&'a dyn RoadmapReader);

#[async_trait]
impl SynonymSource for Uncached<'_> {
    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Arc<Synonyms>, StoreError> {
        self.0.synonyms(workspace).await.map(Arc::new)
    }
}
