//! Writes the prepared records of a run, one batch after the other.

mod changelogs;
mod moves;
mod subscriptions;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::{Conflict, RoadmapError, StoreError};
use crate::model::audit::Audit;
use crate::model::customer::NewCustomer;
use crate::model::email_address::{EmailAddress, FoldedEmail};
use crate::model::event::{Event, EventContent, Move, NewEvent};
use crate::model::feature_request::{Description, EditableFields, FeatureRequestRef, NewFeatureRequest, Tag, Title};
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, CustomerId, EventId, FeatureRequestId, ImportId, MemberId, NoteId, WorkspaceId};
use crate::model::import::records::{
    self, Changelog, Comment, FeatureRequest, Kind, Note, Person, Prepared, Subscription, Vote, stored_id,
};
use crate::model::import::run::{Count, Progress, SourceName};
use crate::model::import::upload::Subscribing;
use crate::model::import::{
    ImportedAuthor, ImportedComment, ImportedFrom, ImportedNote, ImportedRecord, ImportedRequest, ImportedVote,
    VotesImported,
};
use crate::model::member::{Member, Role};
use crate::model::search::SearchDocument;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::track::{Placement, Track};
use crate::policy::merging::{MergeDecision, decide};
use crate::policy::signed_reference::ReferenceSigner;
use crate::policy::{import_tracks, storage};
use crate::ports::UnitOfWork;
use crate::usecase::add_picture::keep_pictures;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::indexing::index;

/// What all batches of a run have in common.
#[derive(Debug, Clone)]
pub struct RunContext {
    pub id: ImportId,
    pub name: SourceName,
    /// The time of records that have none.
    pub began_at: Timestamp,
    /// The process that works on the run.
    pub holder: Uuid,
    /// Nothing is written.
    pub is_dry: bool,
    /// Records that have changed in the source are overwritten, unless they were changed here since.
    pub updates: bool,
    pub subscribing: Subscribing,
    /// The team of the source is added to the team, with the role of members.
    pub makes_members: bool,
    /// The tracks of the statuses, by their folded names ([`import_tracks::fold`]).
    pub tracks: BTreeMap<String, Track>,
    /// What statuses are called that only moves have, by their folded names.
    pub past: BTreeMap<String, Placement>,
    /// The first track of the board.
    pub first_track: Option<Track>,
    /// Recognizes people who were erased.
    pub references: Arc<ReferenceSigner>,
}

impl RunContext {
    fn track(&self, status: Option<&str>) -> Result<&Track, RoadmapError> {
        let folded = import_tracks::fold(status.unwrap_or_default());
        let lost = || StoreError::Fatal("a status has no track".into());
        Ok(self.tracks.get(&folded).or(self.first_track.as_ref()).ok_or_else(lost)?)
    }

    /// Whether the team has decided about a feature request that begins on a track.
    fn is_handled(&self, track: &Track) -> bool {
        self.first_track.as_ref().is_none_or(|first| first.id != track.id) || track.kind().is_closed()
    }

    /// Whether a voter is to get mail about the feature request.
    fn subscribes(&self, vote: &Vote) -> bool {
        match self.subscribing {
            Subscribing::Keep => vote.is_subscribed.unwrap_or_default(),
            Subscribing::Nobody => false,
            Subscribing::Everybody => true,
        }
    }

    fn address(&self, person: &Person) -> Result<EmailAddress, RoadmapError> {
        Ok(self.name.address_of(&person.key)?)
    }
}

/// A person of a source, as a run keeps them until they are stored.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StagedPerson {
    #[serde(flatten)]
    pub person: Person,
    /// Whether the person came before, without a name.
    pub again: bool,
}

/// A merge of a source, by the stored ids of its feature requests.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Merge {
    pub source: String,
    pub target: String,
}

/// A move of a source, as a run keeps it until it is stored.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StagedMove {
    /// The status before. `None`: that of a new feature request.
    pub from: Option<String>,
    #[serde(flatten)]
    pub moved: records::Move,
}

/// Records of one stage of a run.
#[derive(Debug, Clone)]
pub enum Batch {
    Members(Vec<StagedPerson>),
    Customers(Vec<StagedPerson>),
    /// Files that were stored before, each with whether it is new.
    Files(Vec<bool>),
    FeatureRequests(Vec<PreparedRequest>),
    Merges(Vec<Merge>),
    Votes(Vec<Vote>),
    Subscriptions(Vec<Subscription>),
    Comments(Vec<Prepared<Comment>>),
    Notes(Vec<Prepared<Note>>),
    Moves(Vec<Prepared<StagedMove>>),
    Changelogs(Vec<Prepared<Changelog>>),
}

impl Batch {
    /// Returns how many records it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Members(people) | Self::Customers(people) => people.len(),
            Self::FeatureRequests(requests) => requests.len(),
            Self::Merges(merges) => merges.len(),
            Self::Votes(votes) => votes.len(),
            Self::Files(files) => files.len(),
            Self::Subscriptions(subscriptions) => subscriptions.len(),
            Self::Comments(comments) => comments.len(),
            Self::Notes(notes) => notes.len(),
            Self::Moves(moves) => moves.len(),
            Self::Changelogs(changelogs) => changelogs.len(),
        }
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the people of its records.
    fn people(&self) -> Vec<&Person> {
        match self {
            Self::Members(people) | Self::Customers(people) => people.iter().map(|staged| &staged.person).collect(),
            Self::FeatureRequests(requests) => requests.iter().filter_map(|new| new.source.author.as_ref()).collect(),
            Self::Votes(votes) => votes.iter().map(|vote| &vote.person).collect(),
            Self::Comments(comments) => comments.iter().filter_map(|new| new.record.author.as_ref()).collect(),
            Self::Notes(notes) => notes.iter().filter_map(|new| new.record.author.as_ref()).collect(),
            Self::Subscriptions(subscriptions) => subscriptions.iter().map(|one| &one.person).collect(),
            Self::Moves(moves) => moves.iter().filter_map(|staged| staged.record.moved.author.as_ref()).collect(),
            Self::Files(_) | Self::Merges(_) | Self::Changelogs(_) => Vec::new(),
        }
    }
}

/// A feature request with what is derived from its texts before the unit of work begins: on SQLite an open unit of work blocks
/// all other writes.
#[derive(Debug, Clone)]
pub struct PreparedRequest {
    digest: String,
    source: FeatureRequest,
    title: Title,
    description: Description,
    tags: Vec<Tag>,
    search: Option<SearchDocument>,
}

impl PreparedRequest {
    /// Derives what is stored of a feature request.
    ///
    /// # Errors
    /// The title or a tag is none, which the readers of sources see to.
    pub fn new(Prepared { digest, record }: Prepared<FeatureRequest>) -> Result<Self, RoadmapError> {
        let title = Title::parse("title", &record.title)?;
        let html = CleanHtml::from_stored(record.description.clone());
        let description = Description::from_stored(record.description.clone(), html.to_text());
        let tags = Tag::parse_list("tags", &record.tags)?;
        let search = (!record.is_private)
            .then(|| SearchDocument::new(title.as_str(), tags.iter().map(Tag::as_str), description.text()));
        Ok(Self { digest, source: record, title, description, tags, search })
    }

    fn stored_bytes(&self) -> u64 {
        storage::feature_request_bytes(&self.title, &self.description, &self.tags, self.search.as_ref())
    }

    /// Returns the fields that replace those of an earlier import.
    fn fields(&self, id: FeatureRequestId) -> EditableFields {
        EditableFields {
            id,
            title: self.title.clone(),
            description: self.description.clone(),
            tags: self.tags.clone(),
            private: self.source.is_private,
        }
    }
}

/// Writes a batch, and how far the run is then.
#[derive(Debug, Clone)]
pub struct LoadBatch {
    pub run: Arc<RunContext>,
    /// How far the run is before.
    pub progress: Progress,
    pub batch: Arc<Batch>,
}

/// What the write of a batch did.
#[derive(Default)]
struct Written {
    count: Count,
    bytes: u64,
    events: u64,
    subscribed: u64,
    /// Customers whom records of another kind need.
    customers: u64,
    new_members: Vec<String>,
    refused: Vec<String>,
}

#[async_trait]
impl Operation for LoadBatch {
    /// How far the run is now.
    type Output = Progress;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Progress>, RoadmapError> {
        let erased = erased(work, &self.run, context.workspace, &self.batch.people()).await?;
        let mut batch = BatchWriter { run: &self.run, context, work, erased, written: Written::default() };
        match &*self.batch {
            Batch::Members(people) => batch.members(people).await,
            Batch::Customers(people) => batch.customers(people).await,
            Batch::Files(files) => {
                batch.files(files);
                Ok(())
            }
            Batch::FeatureRequests(requests) => batch.requests(requests).await,
            Batch::Merges(merges) => batch.merges(merges).await,
            Batch::Votes(votes) => batch.votes(votes).await,
            Batch::Subscriptions(subscriptions) => batch.subscriptions(subscriptions).await,
            Batch::Comments(comments) => batch.comments(comments).await,
            Batch::Notes(notes) => batch.notes(notes).await,
            Batch::Moves(moves) => batch.moves(moves).await,
            Batch::Changelogs(changelogs) => batch.changelogs(changelogs).await,
        }?;
        let Written { count, bytes, events, subscribed, customers, new_members, refused } = batch.written;
        let mut progress = self.progress.clone();
        progress.position += self.batch.len() as u64;
        progress.counts.of_mut(progress.stage.kind()).add(count);
        progress.counts.of_mut(Kind::Customers).new += customers;
        progress.subscribed += subscribed;
        progress.new_members.extend(new_members);
        progress.new_members.truncate(Progress::MAX_NAMES);
        for why in refused {
            *progress.refused.entry(why).or_default() += 1;
        }
        if !self.run.is_dry {
            let is_held = work.advance_import(self.run.id, self.run.holder, &progress, context.now).await?;
            if !is_held {
                return Err(RoadmapError::Conflict(Conflict::ImportTakenOver));
            }
        }
        let performed = Performed::new(progress, Audit::Unchanged);
        Ok(performed.storing(bytes).recording(events * storage::EVENT_BYTES))
    }
}

/// What becomes of a record that has an id in the source.
enum Fate<'a> {
    New,
    Unchanged,
    /// It has changed in the source, and stays as it is here.
    Kept,
    /// It is overwritten.
    Overwritten(&'a ImportedRecord),
}

/// Why posts and the like are left out whose feature request was deleted here.
const GONE: &str = "what belongs to feature requests that were deleted here";

struct BatchWriter<'a, 'b> {
    run: &'a RunContext,
    context: &'a OperationContext<'b>,
    work: &'a mut dyn UnitOfWork,
    /// People of the batch who were erased here, and stay so.
    erased: HashSet<FoldedEmail>,
    written: Written,
}

/// Returns the addresses of those people who were erased.
async fn erased(
    work: &mut dyn UnitOfWork,
    run: &RunContext,
    workspace: WorkspaceId,
    people: &[&Person],
) -> Result<HashSet<FoldedEmail>, RoadmapError> {
    let digests: HashSet<String> = work.erasures().await?.into_iter().map(|erasure| erasure.digest).collect();
    let mut erased = HashSet::new();
    if digests.is_empty() {
        return Ok(erased);
    }
    for person in people {
        let address = run.address(person)?;
        let known = run.references.address_digests(workspace, address.folded());
        if known.iter().any(|digest| digests.contains(digest)) {
            erased.insert(address.folded().clone());
        }
    }
    Ok(erased)
}

impl BatchWriter<'_, '_> {
    fn files(&mut self, files: &[bool]) {
        let new = files.iter().filter(|is_new| **is_new).count() as u64;
        self.written.count.new += new;
        self.written.count.unchanged += files.len() as u64 - new;
    }

    async fn members(&mut self, people: &[StagedPerson]) -> Result<(), RoadmapError> {
        let addresses = self.addresses(people.iter().map(|staged| &staged.person))?;
        let known = self.work.find_all_members(&folded(&addresses)).await?;
        for ((StagedPerson { person, again }, email), known) in people.iter().zip(addresses).zip(known) {
            if *again {
                continue;
            }
            let is_erased = self.erased.contains(email.folded());
            if is_erased || known.is_some() && !self.run.makes_members {
                self.written.count.unchanged += 1;
                continue;
            }
            let id = self.context.new_id(MemberId::new);
            let name = member_name(person.name.as_deref(), &email)?;
            let created_at = if self.run.makes_members { self.context.now } else { self.run.began_at };
            let member = Member { id, email, name, role: Role::Member, created_at };
            let is_new = match (self.run.is_dry, self.run.makes_members) {
                (true, _) => known.is_none(),
                (false, true) => self.work.insert_member(&member).await?.is_some(),
                (false, false) => {
                    let ids = self.work.import_members(std::slice::from_ref(&member)).await?;
                    self.remember(
                        Kind::Members,
                        ids.into_iter().map(|id| from(id.to_string(), id.uuid(), "")).collect(),
                    )
                    .await?;
                    true
                }
            };
            match is_new {
                true => {
                    self.written.count.new += 1;
                    self.written.new_members.push(member.name.to_string());
                }
                false => self.written.count.unchanged += 1,
            }
        }
        Ok(())
    }

    async fn customers(&mut self, people: &[StagedPerson]) -> Result<(), RoadmapError> {
        let addresses = self.addresses(people.iter().map(|staged| &staged.person))?;
        let known = self.work.find_customers(&folded(&addresses)).await?;
        let mut customers = Vec::with_capacity(people.len());
        for ((StagedPerson { person, again }, email), known) in people.iter().zip(addresses).zip(known) {
            let name = person.name.as_deref().map(|name| Name::parse("name", name)).transpose()?;
            if self.erased.contains(email.folded()) {
                self.written.count.unchanged += u64::from(!*again);
                continue;
            }
            match known {
                _ if *again => {}
                Some(_) => self.written.count.unchanged += 1,
                None => {
                    self.written.count.new += 1;
                    let texts = [email.as_str(), email.folded().as_str(), name.as_ref().map_or("", Name::as_str)];
                    self.written.bytes += storage::row_bytes(&texts);
                }
            }
            let id = self.context.new_id(CustomerId::new);
            customers.push((NewCustomer { id, email, name }, self.run.began_at));
        }
        if !self.run.is_dry {
            self.work.import_customers(self.run.id, &customers).await?;
        }
        Ok(())
    }

    async fn requests(&mut self, requests: &[PreparedRequest]) -> Result<(), RoadmapError> {
        let ids = requests.iter().map(|request| request.source.external_id.clone()).collect();
        let known = self.find(Kind::FeatureRequests, ids).await?;
        let (mut new, mut from_source) = (Vec::new(), Vec::new());
        for (request, known) in requests.iter().zip(&known) {
            let source = &request.source;
            match self.fate(known.as_ref(), &request.digest) {
                Fate::New => {
                    self.written.bytes += request.stored_bytes();
                    let id = self.context.new_id(FeatureRequestId::new);
                    new.push(self.new_request(id, request).await?);
                    from_source.push(from(source.external_id.clone(), id.uuid(), &request.digest));
                }
                Fate::Overwritten(known) => {
                    self.written.bytes += request.stored_bytes();
                    if !self.run.is_dry {
                        self.overwrite_request(FeatureRequestId::new(known.id), request).await?;
                        from_source.push(from(source.external_id.clone(), known.id, &request.digest));
                    }
                }
                Fate::Unchanged | Fate::Kept => {}
            }
        }
        if !self.run.is_dry {
            self.work.import_feature_requests(self.run.id, &new).await?;
        }
        self.remember(Kind::FeatureRequests, from_source).await
    }

    async fn new_request(
        &mut self,
        id: FeatureRequestId,
        request: &PreparedRequest,
    ) -> Result<ImportedRequest, RoadmapError> {
        let html = self.keep_pictures(request.description.clean(), id.uuid()).await?;
        let description = request.description.with_html(html);
        let source = &request.source;
        let track = self.run.track(source.status.as_deref())?;
        // The team of the source is no customer.
        let author = match &source.author {
            Some(person) if !source.is_team && !self.is_erased(person)? => Some(NewCustomer {
                id: self.context.new_id(CustomerId::new),
                email: self.run.address(person)?,
                name: person.name.as_deref().map(|name| Name::parse("name", name)).transpose()?,
            }),
            _ => None,
        };
        let request = NewFeatureRequest {
            id,
            title: request.title.clone(),
            description,
            tags: request.tags.clone(),
            track: track.id,
            is_handled: self.run.is_handled(track),
            private: source.is_private,
            awaiting_approval: source.awaits_approval,
            author,
            search: request.search.clone(),
            created_at: source.created_at.unwrap_or(self.run.began_at),
        };
        Ok(ImportedRequest { request, nameless_votes: source.nameless_votes })
    }

    fn is_erased(&self, person: &Person) -> Result<bool, RoadmapError> {
        Ok(!self.erased.is_empty() && self.erased.contains(self.run.address(person)?.folded()))
    }

    async fn overwrite_request(&mut self, id: FeatureRequestId, request: &PreparedRequest) -> Result<(), RoadmapError> {
        let reference = FeatureRequestRef::Id(id);
        let Some(node) = self.work.find_merge_node(&reference).await? else { return Ok(()) };
        let now = self.context.now;
        let mut fields = request.fields(id);
        let html = self.keep_pictures(request.description.clean(), id.uuid()).await?;
        fields.description = fields.description.with_html(html);
        self.work.save_editable_fields(&fields, now).await?;
        self.work.set_nameless_votes(&[(id, request.source.nameless_votes)]).await?;
        let (track, old) = (self.run.track(request.source.status.as_deref())?, node.request.placement.clone());
        if track.name != old.track {
            let to = Placement { track: track.name.clone(), status: track.status().cloned() };
            let moved = Move { from: old, to, comment: None };
            self.work.set_feature_request_track(id, track.id, moved.changes_status(), now).await?;
            self.record(id, EventContent::Moved(moved), now).await?;
        }
        index(self.work, id).await?;
        if node.root() != id {
            index(self.work, node.root()).await?;
        }
        Ok(())
    }

    async fn merges(&mut self, merges: &[Merge]) -> Result<(), RoadmapError> {
        let sources = self.find_ids(Kind::Merges, merges.iter().map(|merge| &merge.source)).await?;
        let all = merges.iter().flat_map(|merge| [&merge.source, &merge.target]);
        let requests = self.find_ids(Kind::FeatureRequests, all).await?;
        let id = |stored: &String| {
            requests.get(stored).filter(|known| known.times.is_some()).map(|known| FeatureRequestId::new(known.id))
        };
        for merge in merges {
            if sources.contains_key(&merge.source) {
                self.written.count.unchanged += 1;
                continue;
            }
            if self.run.is_dry {
                self.written.count.new += 1;
                continue;
            }
            let (Some(source), Some(target)) = (id(&merge.source), id(&merge.target)) else {
                self.refuse(GONE);
                continue;
            };
            match self.merge(source, target).await {
                Ok(()) => {
                    self.written.count.new += 1;
                    let known = vec![from(merge.source.clone(), source.uuid(), "")];
                    self.remember(Kind::Merges, known).await?;
                }
                Err(error @ (RoadmapError::Invalid(_) | RoadmapError::Conflict(_))) => {
                    self.refuse(format!("merges that are refused here: {error}"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Leaves a record out.
    fn refuse(&mut self, why: impl Into<String>) {
        self.written.count.skipped += 1;
        self.written.refused.push(why.into());
    }

    /// Says that the text of a record has its pictures, which were stored before.
    async fn keep_pictures(&mut self, text: &CleanHtml, record: Uuid) -> Result<CleanHtml, RoadmapError> {
        match self.run.is_dry {
            true => Ok(text.clone()),
            // A source may have allowed more of them than we do.
            false => keep_pictures(self.work, ("picture", text), record, usize::MAX).await,
        }
    }

    async fn merge(&mut self, source: FeatureRequestId, target: FeatureRequestId) -> Result<(), RoadmapError> {
        let lost = || StoreError::Fatal("a feature request was not found in the unit of work that merges it".into());
        let source_node = self.work.find_merge_node(&FeatureRequestRef::Id(source)).await?.ok_or_else(lost)?;
        let target_node = self.work.find_merge_node(&FeatureRequestRef::Id(target)).await?.ok_or_else(lost)?;
        let root = self.work.find_merge_node(&FeatureRequestRef::Id(target_node.root())).await?.ok_or_else(lost)?;
        let MergeDecision::Link(into) = decide(&source_node, &target_node, &root)? else { return Ok(()) };
        let at = self.run.began_at;
        self.work.link_feature_request(source, into, at).await?;
        self.record(source, EventContent::MergedInto(into), at).await?;
        self.record(into, EventContent::Merged(source), at).await?;
        index(self.work, source).await?;
        index(self.work, into).await?;
        Ok(())
    }

    async fn votes(&mut self, votes: &[Vote]) -> Result<(), RoadmapError> {
        let requests = self.find_ids(Kind::FeatureRequests, votes.iter().map(|vote| &vote.request)).await?;
        let addresses = self.addresses(votes.iter().map(|vote| &vote.person))?;
        let customers = self.work.find_customers(&folded(&addresses)).await?;
        let mut imported = Vec::with_capacity(votes.len());
        for ((vote, address), customer) in votes.iter().zip(&addresses).zip(customers) {
            // It is counted already, or was dropped.
            if self.erased.contains(address.folded()) {
                self.written.count.unchanged += 1;
                continue;
            }
            let is_subscribed = self.run.subscribes(vote) && address.folded().has_mailbox();
            match (requests.get(&vote.request), customer) {
                (Some(ImportedRecord { times: None, .. }), _) => self.refuse(GONE),
                (Some(ImportedRecord { id, times: Some(times), .. }), Some(customer)) => imported.push(ImportedVote {
                    request: FeatureRequestId::new(*id),
                    customer,
                    is_subscribed,
                    at: vote.created_at.unwrap_or(times.created_at),
                }),
                _ if !self.run.is_dry => self.refuse(GONE),
                _ => {
                    self.written.count.new += 1;
                    self.written.subscribed += u64::from(is_subscribed);
                }
            }
        }
        let VotesImported { new, subscribed } = if self.run.is_dry {
            let pairs: Vec<_> = imported.iter().map(|vote| (vote.request, vote.customer)).collect();
            let existing = self.work.existing_votes(&pairs).await?;
            let new = || imported.iter().zip(&existing).filter(|(_, exists)| !**exists);
            let subscribed = new().filter(|(vote, _)| vote.is_subscribed).count() as u64;
            VotesImported { new: new().count() as u64, subscribed }
        } else {
            self.remember_voted(requests.into_values()).await?;
            self.work.import_votes(self.run.id, &imported).await?
        };
        self.written.subscribed += subscribed;
        self.written.count.new += new;
        self.written.count.unchanged += (imported.len() as u64).saturating_sub(new);
        self.written.bytes += new * storage::ROW_BYTES;
        Ok(())
    }

    /// Remembers that the run votes for feature requests that it has not made.
    async fn remember_voted(&mut self, requests: impl Iterator<Item = ImportedRecord>) -> Result<(), RoadmapError> {
        let others = requests.filter(|known| known.import != self.run.id && known.times.is_some());
        // Each run has its own.
        let of_run = |known: ImportedRecord| from(format!("{} {}", self.run.id, known.id), known.id, "");
        let voted = others.map(of_run).collect();
        self.remember(Kind::Votes, voted).await
    }

    async fn comments(&mut self, comments: &[Prepared<Comment>]) -> Result<(), RoadmapError> {
        let ids = comments.iter().map(|comment| comment.record.external_id.clone()).collect();
        let known = self.find(Kind::Comments, ids).await?;
        let requests =
            self.find_ids(Kind::FeatureRequests, comments.iter().map(|comment| &comment.record.request)).await?;
        let authors =
            self.authors(comments.iter().map(|comment| (&comment.record.author, comment.record.is_team))).await?;
        let (mut new, mut from_source) = (Vec::new(), Vec::new());
        for ((Prepared { digest, record }, known), author) in comments.iter().zip(&known).zip(authors) {
            let fate =
                if self.is_gone(&requests, &record.request) { None } else { Some(self.fate(known.as_ref(), digest)) };
            match fate {
                None => self.refuse(GONE),
                Some(Fate::New) => {
                    self.written.bytes += storage::row_bytes(&[&record.body]);
                    let Some(request) = requests.get(&record.request) else { continue };
                    let id = self.context.new_id(CommentId::new);
                    let content = CleanHtml::from_stored(record.body.clone());
                    let content = self.keep_pictures(&content, id.uuid()).await?;
                    from_source.push(from(record.external_id.clone(), id.uuid(), digest));
                    new.push(ImportedComment {
                        id,
                        request: FeatureRequestId::new(request.id),
                        author: match author {
                            ImportedAuthor::Customer(customer) if record.is_held => {
                                ImportedAuthor::HeldCustomer(customer)
                            }
                            author => author,
                        },
                        content,
                        at: record.created_at.unwrap_or(self.run.began_at),
                    });
                }
                Some(Fate::Overwritten(known)) => {
                    self.written.bytes += storage::row_bytes(&[&record.body]);
                    if !self.run.is_dry {
                        let content = CleanHtml::from_stored(record.body.clone());
                        let content = self.keep_pictures(&content, known.id).await?;
                        self.work.update_comment(CommentId::new(known.id), &content, self.context.now).await?;
                        from_source.push(from(record.external_id.clone(), known.id, digest));
                    }
                }
                Some(Fate::Unchanged | Fate::Kept) => {}
            }
        }
        if !self.run.is_dry {
            self.work.import_comments(&new).await?;
        }
        self.remember(Kind::Comments, from_source).await
    }

    async fn notes(&mut self, notes: &[Prepared<Note>]) -> Result<(), RoadmapError> {
        let ids = notes.iter().map(|note| note.record.external_id.clone()).collect();
        let known = self.find(Kind::Notes, ids).await?;
        let requests = self.find_ids(Kind::FeatureRequests, notes.iter().map(|note| &note.record.request)).await?;
        let authors = self
            .authors(
                notes.iter().map(|Prepared { record: note, .. }| (&note.author, note.is_team || note.author.is_none())),
            )
            .await?;
        let (mut new, mut from_source) = (Vec::new(), Vec::new());
        for ((Prepared { digest, record }, known), author) in notes.iter().zip(&known).zip(authors) {
            if self.is_gone(&requests, &record.request) {
                self.refuse(GONE);
                continue;
            }
            match known {
                // Nobody edits notes.
                Some(known) if known.digest == *digest => self.written.count.unchanged += 1,
                Some(_) => self.written.count.kept += 1,
                None => {
                    self.written.count.new += 1;
                    self.written.bytes += storage::row_bytes(&[&record.body]);
                    let Some(request) = requests.get(&record.request) else { continue };
                    let id = self.context.new_id(NoteId::new);
                    from_source.push(from(record.external_id.clone(), id.uuid(), digest));
                    let (customer, author) = match author {
                        ImportedAuthor::Member(member) => (None, member),
                        ImportedAuthor::Customer(customer) | ImportedAuthor::HeldCustomer(customer) => {
                            (Some(customer), None)
                        }
                    };
                    new.push(ImportedNote {
                        id,
                        request: FeatureRequestId::new(request.id),
                        customer,
                        author,
                        body: CleanHtml::from_stored(record.body.clone()),
                        at: record.created_at.unwrap_or(self.run.began_at),
                    });
                }
            }
        }
        if !self.run.is_dry {
            self.work.import_notes(&new).await?;
        }
        self.remember(Kind::Notes, from_source).await
    }

    /// Whether a feature request is not there any more. In a dry run, one that is not known is to come.
    fn is_gone(&self, requests: &HashMap<String, ImportedRecord>, id: &str) -> bool {
        match requests.get(id) {
            Some(known) => known.times.is_none(),
            None => !self.run.is_dry,
        }
    }

    /// Decides what becomes of a record, and counts it.
    fn fate<'a>(&mut self, known: Option<&'a ImportedRecord>, digest: &str) -> Fate<'a> {
        let count = &mut self.written.count;
        let Some(known) = known else {
            count.new += 1;
            return Fate::New;
        };
        if known.digest == digest {
            count.unchanged += 1;
            return Fate::Unchanged;
        }
        if self.run.updates && known.times.is_some_and(|times| times.updated_at <= known.written_at) {
            count.changed += 1;
            return Fate::Overwritten(known);
        }
        count.kept += 1;
        Fate::Kept
    }

    /// Returns the authors of comments or notes. In a dry run, those who are not known are nobody.
    async fn authors<'a>(
        &mut self,
        authors: impl Iterator<Item = (&'a Option<Person>, bool)>,
    ) -> Result<Vec<ImportedAuthor>, RoadmapError> {
        let nobody = self.run.name.nobody()?;
        let mut authors_of = Vec::new();
        for (person, is_team) in authors {
            let address = match person {
                Some(person) if !self.is_erased(person)? => Some(self.run.address(person)?),
                _ => None,
            };
            authors_of.push((if is_team { address } else { Some(address.unwrap_or_else(|| nobody.clone())) }, is_team));
        }
        let of = |team: bool| -> Vec<FoldedEmail> {
            let addresses =
                authors_of.iter().filter(|(_, is_team)| *is_team == team).filter_map(|(address, _)| address.as_ref());
            addresses.map(|address| address.folded().clone()).collect()
        };
        let (team, people) = (of(true), of(false));
        let members = pair(&team, self.work.find_all_members(&team).await?);
        let mut customers = pair(&people, self.work.find_customers(&people).await?);
        // What somebody wrote who was erased is by nobody, for whom nothing else of the source may ask.
        let needs_nobody = !self.run.is_dry && !self.erased.is_empty() && people.contains(nobody.folded());
        if needs_nobody && !customers.contains_key(nobody.folded()) {
            let customer = NewCustomer { id: self.context.new_id(CustomerId::new), email: nobody.clone(), name: None };
            let ids = self.work.import_customers(self.run.id, &[(customer, self.run.began_at)]).await?;
            self.written.customers += 1;
            customers.extend(ids.into_iter().map(|id| (nobody.folded().clone(), id)));
        }
        let author = |(address, is_team): (Option<EmailAddress>, bool)| match address {
            Some(address) if !is_team => match customers.get(address.folded()) {
                Some(customer) => ImportedAuthor::Customer(*customer),
                None => ImportedAuthor::Member(None),
            },
            address => ImportedAuthor::Member(address.and_then(|address| members.get(address.folded()).copied())),
        };
        Ok(authors_of.into_iter().map(author).collect())
    }

    fn addresses<'p>(&self, people: impl Iterator<Item = &'p Person>) -> Result<Vec<EmailAddress>, RoadmapError> {
        people.map(|person| self.run.address(person)).collect()
    }

    async fn find(&mut self, kind: Kind, ids: Vec<String>) -> Result<Vec<Option<ImportedRecord>>, RoadmapError> {
        Ok(self.work.find_imported(&self.run.name, kind, &ids).await?)
    }

    /// Returns what is known of records, by their stored ids.
    async fn find_ids<'a>(
        &mut self,
        kind: Kind,
        ids: impl Iterator<Item = &'a String>,
    ) -> Result<HashMap<String, ImportedRecord>, RoadmapError> {
        let mut ids: Vec<String> = ids.cloned().collect();
        ids.sort_unstable();
        ids.dedup();
        let known = self.work.find_imported(&self.run.name, kind, &ids).await?;
        Ok(pair(&ids, known))
    }

    async fn remember(&mut self, kind: Kind, records: Vec<ImportedFrom>) -> Result<(), RoadmapError> {
        if self.run.is_dry || records.is_empty() {
            return Ok(());
        }
        // What was overwritten has this time.
        let at = self.context.now;
        Ok(self.work.remember_imported(self.run.id, &self.run.name, kind, &records, at).await?)
    }

    async fn record(
        &mut self,
        request: FeatureRequestId,
        content: EventContent,
        at: Timestamp,
    ) -> Result<(), RoadmapError> {
        self.written.events += 1;
        let id = self.context.new_id(EventId::new);
        let event = Event { id, content, actor: self.context.actor.clone(), created_at: at };
        Ok(self.work.import_events(&[NewEvent { request, event }]).await?)
    }
}

/// Returns the name of somebody of the team of a source.
fn member_name(name: Option<&str>, address: &EmailAddress) -> Result<Name, RoadmapError> {
    let named = name.or(address.as_str().split('@').next()).unwrap_or_default();
    Ok(Name::parse("name", named)?)
}

fn folded(addresses: &[EmailAddress]) -> Vec<FoldedEmail> {
    addresses.iter().map(|address| address.folded().clone()).collect()
}

fn from(external_id: String, id: Uuid, digest: &str) -> ImportedFrom {
    ImportedFrom { external_id, id, digest: digest.to_owned() }
}

/// Returns what was found, by what was looked for.
fn pair<K: Clone + Eq + Hash, V>(keys: &[K], values: Vec<Option<V>>) -> HashMap<K, V> {
    keys.iter().cloned().zip(values).filter_map(|(key, value)| Some((key, value?))).collect()
}

/// Returns the feature requests of a source that are known, by their external ids in the given order.
#[derive(Debug, Clone)]
pub struct FindRequests {
    pub name: SourceName,
    pub external_ids: Vec<String>,
}

#[async_trait]
impl Operation for FindRequests {
    type Output = Vec<Option<FeatureRequestId>>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Self::Output>, RoadmapError> {
        let ids: Vec<String> = self.external_ids.iter().map(|id| stored_id(id).into_owned()).collect();
        let known = work.find_imported(&self.name, Kind::FeatureRequests, &ids).await?;
        let ids = known.into_iter().map(|known| known.map(|known| FeatureRequestId::new(known.id))).collect();
        Ok(Performed::new(ids, Audit::Unchanged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FieldError;
    use crate::model::import::RecordTimes;
    use crate::model::import::records::{Origin, PersonKey};
    use crate::model::import::run::Stage;
    use crate::model::person::{ErasedTexts, ErasedVotes, ErasureRecord};
    use crate::model::track::DEFAULT_TRACKS;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{name, now, perform, references, workspace};
    use time::Duration;

    const ORIGIN: Origin = Origin { file: 0, line: 2 };

    fn run(is_dry: bool, updates: bool) -> Arc<RunContext> {
        let track = |(place, text): (u128, &str)| Track {
            id: crate::model::id::TrackId::new(Uuid::from_u128(place)),
            name: name(text),
            lane: None,
        };
        let tracks: Vec<Track> = (1..).zip(DEFAULT_TRACKS.map(|track| track.track)).map(track).collect();
        Arc::new(RunContext {
            id: ImportId::new(Uuid::from_u128(1)),
            name: SourceName::parse("name", "csv").unwrap(),
            began_at: now(),
            holder: Uuid::from_u128(2),
            is_dry,
            updates,
            subscribing: Subscribing::Keep,
            makes_members: false,
            past: BTreeMap::new(),
            first_track: tracks.first().cloned(),
            references: references(),
            tracks: tracks.into_iter().map(|track| (import_tracks::fold(track.name.as_str()), track)).collect(),
        })
    }

    fn request(status: Option<&str>) -> PreparedRequest {
        let record = FeatureRequest {
            external_id: "A".to_owned(),
            title: "Dark mode".to_owned(),
            description: "<p>Eyes</p>".to_owned(),
            status: status.map(str::to_owned),
            tags: Vec::new(),
            is_private: false,
            awaits_approval: false,
            author: Some(Person { key: PersonKey::Email("ann@a.example".to_owned()), name: None }),
            is_team: false,
            nameless_votes: 3,
            created_at: None,
            url: None,
            merged_into: None,
            origin: ORIGIN,
        };
        PreparedRequest::new(Prepared { digest: "new".to_owned(), record }).unwrap()
    }

    fn known(digest: &str, updated: i64) -> ImportedRecord {
        ImportedRecord {
            id: Uuid::from_u128(7),
            digest: digest.to_owned(),
            import: ImportId::new(Uuid::from_u128(9)),
            written_at: now(),
            times: Some(RecordTimes { created_at: now(), updated_at: now().plus(Duration::seconds(updated)) }),
        }
    }

    fn load(run: &Arc<RunContext>, batch: Batch, unit: &mut MockUnit) -> Result<Count, RoadmapError> {
        let stage = match &batch {
            Batch::FeatureRequests(_) => Stage::FeatureRequests,
            Batch::Moves(_) => Stage::Moves,
            Batch::Changelogs(_) => Stage::Changelogs,
            Batch::Subscriptions(_) => Stage::Subscriptions,
            _ => Stage::Votes,
        };
        let progress = Progress { stage, ..Progress::default() };
        let load = LoadBatch { run: run.clone(), progress, batch: Arc::new(batch) };
        unit.expect_erasures().returning(|| Ok(Vec::new()));
        perform(&load, unit).map(|performed| performed.output.counts.of(stage.kind()))
    }

    /// Import contract 5.
    #[test]
    fn a_record_that_has_changed_in_the_source_is_overwritten_only_if_nobody_has_changed_it_here() {
        let gone = ImportedRecord { times: None, ..known("old", 0) };
        for (known, updates, expected) in [
            (Some(known("new", 0)), true, Count { unchanged: 1, ..Count::default() }),
            (Some(known("old", 0)), false, Count { kept: 1, ..Count::default() }),
            (Some(known("old", 1)), true, Count { kept: 1, ..Count::default() }),
            (Some(gone), true, Count { kept: 1, ..Count::default() }),
            (Some(known("old", 0)), true, Count { changed: 1, ..Count::default() }),
            (None, false, Count { new: 1, ..Count::default() }),
        ] {
            // A dry run only looks.
            let mut unit = MockUnit::new();
            let found = known.clone();
            unit.expect_find_imported().returning(move |_, _, _| Ok(vec![found.clone()]));
            let batch = || Batch::FeatureRequests(vec![request(None)]);
            assert_eq!(load(&run(true, updates), batch(), &mut unit).unwrap(), expected, "{known:?}");
        }
    }

    /// Import contract 4.
    #[test]
    fn a_new_request_has_the_track_of_its_status_and_the_time_of_the_run() {
        for (status, track, is_handled) in
            [(None, 1, false), (Some("planned"), 3, true), (Some("DECLINED"), 6, true), (Some("unheard of"), 1, false)]
        {
            let mut unit = MockUnit::new();
            unit.expect_find_imported().returning(|_, _, _| Ok(vec![None]));
            unit.expect_import_feature_requests()
                .withf(move |_, imported| {
                    let [ImportedRequest { request, nameless_votes }] = imported else { return false };
                    request.track.uuid() == Uuid::from_u128(track)
                        && request.is_handled == is_handled
                        && request.created_at == now()
                        && request.author.as_ref().is_some_and(|author| author.email.as_str() == "ann@a.example")
                        && *nameless_votes == 3
                })
                .times(1)
                .returning(|_, _| Ok(1));
            unit.expect_remember_imported().times(1).returning(|_, _, _, _, _| Ok(()));
            unit.expect_advance_import().returning(|_, _, _, _| Ok(true));
            let count = load(&run(false, false), Batch::FeatureRequests(vec![request(status)]), &mut unit).unwrap();
            assert_eq!(count.new, 1);
        }
    }

    #[test]
    fn a_process_that_has_lost_its_run_writes_nothing() {
        let mut unit = MockUnit::new();
        unit.expect_find_imported().returning(|_, _, _| Ok(vec![Some(known("new", 0))]));
        unit.expect_import_feature_requests().returning(|_, _| Ok(0));
        unit.expect_advance_import().times(1).returning(|_, _, _, _| Ok(false));
        let lost = load(&run(false, false), Batch::FeatureRequests(vec![request(None)]), &mut unit).unwrap_err();
        assert_eq!(lost.to_string(), "Another process goes on with the import.");
    }

    #[test]
    fn a_vote_for_what_was_deleted_here_is_left_out() {
        let vote = Vote {
            request: "A".to_owned(),
            person: Person { key: PersonKey::Email("ann@a.example".to_owned()), name: None },
            is_subscribed: None,
            created_at: None,
            origin: ORIGIN,
        };
        let mut unit = MockUnit::new();
        let gone = ImportedRecord { times: None, ..known("old", 0) };
        unit.expect_find_imported().returning(move |_, _, _| Ok(vec![Some(gone.clone())]));
        unit.expect_find_customers().returning(|_| Ok(vec![Some(CustomerId::new(Uuid::from_u128(5)))]));
        unit.expect_import_votes().withf(|_, votes| votes.is_empty()).returning(|_, _| Ok(VotesImported::default()));
        unit.expect_advance_import().returning(|_, _, _, _| Ok(true));
        let count = load(&run(false, false), Batch::Votes(vec![vote.clone()]), &mut unit).unwrap();
        assert_eq!(count, Count { skipped: 1, ..Count::default() });
        // An address that is none ends the run: the readers of sources see to that.
        let nobody = Person { key: PersonKey::Email("ann".to_owned()), name: None };
        let broken = Batch::Votes(vec![Vote { person: nobody, ..vote }]);
        let error = load(&run(true, false), broken, &mut unit).unwrap_err();
        assert!(matches!(error, RoadmapError::Invalid(FieldError { .. })), "{error:?}");
    }

    /// Import contract 5: erased people do not come back.
    #[test]
    fn who_was_erased_is_no_author_and_votes_no_more() {
        let erasure = || ErasureRecord {
            id: CustomerId::new(Uuid::from_u128(70)),
            digest: references()
                .address_digest(workspace(), EmailAddress::parse("email", "ann@a.example").unwrap().folded()),
            votes: ErasedVotes::Keep,
            texts: ErasedTexts::Keep,
            at: now(),
        };
        let ann = || Person { key: PersonKey::Email("Ann@a.example".to_owned()), name: Some("Ann".to_owned()) };
        let vote =
            Vote { request: "A".to_owned(), person: ann(), is_subscribed: None, created_at: None, origin: ORIGIN };
        let staged = StagedPerson { person: ann(), again: false };
        let comment = Comment {
            external_id: "c".to_owned(),
            request: "A".to_owned(),
            author: Some(ann()),
            is_team: false,
            is_held: false,
            body: "x".to_owned(),
            created_at: None,
            origin: ORIGIN,
        };
        for (batch, expected) in [
            (Batch::Members(vec![staged.clone()]), Count { unchanged: 1, ..Count::default() }),
            (Batch::Customers(vec![staged]), Count { unchanged: 1, ..Count::default() }),
            (Batch::FeatureRequests(vec![request(None)]), Count { new: 1, ..Count::default() }),
            (Batch::Votes(vec![vote]), Count { unchanged: 1, ..Count::default() }),
            (
                Batch::Comments(vec![Prepared { digest: "d".to_owned(), record: comment }]),
                Count { new: 1, ..Count::default() },
            ),
        ] {
            let mut unit = MockUnit::new();
            unit.expect_erasures().returning(move || Ok(vec![erasure()]));
            unit.expect_find_all_members().returning(|addresses| Ok(vec![None; addresses.len()]));
            unit.expect_find_customers().returning(|addresses| Ok(vec![None; addresses.len()]));
            let is_comment = matches!(batch, Batch::Comments(_));
            unit.expect_find_imported().returning(move |_, kind, _| {
                Ok(vec![(is_comment && kind == Kind::FeatureRequests).then(|| known("old", 0))])
            });
            unit.expect_import_customers().returning(|_, customers| {
                assert!(customers.iter().all(|(customer, _)| customer.email.as_str() == "nobody@csv.invalid"));
                Ok(customers.iter().map(|(customer, _)| customer.id).collect())
            });
            unit.expect_import_feature_requests()
                .withf(|_, imported| imported.iter().all(|imported| imported.request.author.is_none()))
                .returning(|_, _| Ok(1));
            unit.expect_import_votes()
                .withf(|_, votes| votes.is_empty())
                .returning(|_, _| Ok(VotesImported::default()));
            unit.expect_import_comments()
                .withf(|comments| comments.iter().all(|comment| matches!(comment.author, ImportedAuthor::Customer(_))))
                .returning(|_| Ok(()));
            unit.expect_remember_imported().returning(|_, _, _, _, _| Ok(()));
            unit.expect_advance_import().returning(|_, _, _, _| Ok(true));
            let stage = match &batch {
                Batch::Members(_) => Stage::Members,
                Batch::Customers(_) => Stage::Customers,
                Batch::FeatureRequests(_) => Stage::FeatureRequests,
                Batch::Comments(_) => Stage::Comments,
                _ => Stage::Votes,
            };
            let progress = Progress { stage, ..Progress::default() };
            let load = LoadBatch { run: run(false, false), progress, batch: Arc::new(batch) };
            let progress = perform(&load, &mut unit).unwrap().output;
            assert_eq!(progress.counts.of(stage.kind()), expected, "{stage:?}");
            assert_eq!(progress.counts.of(Kind::Customers).new, u64::from(is_comment));
        }
    }
}
