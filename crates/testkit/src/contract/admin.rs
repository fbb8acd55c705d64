//! The inbox of the admin panel: its counters, and which feature requests its lists show, in which order, and on which
//! page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::admin::{
    InboxCounts, InboxFilter, InboxList, InboxRow, InboxSort, InboxState, Selection, TrackCounts, Triage,
};
use roadmap_domain::model::audit::{Audit, AuditFilter};
use roadmap_domain::model::board::TrackChange;
use roadmap_domain::model::comment::CommentDraft;
use roadmap_domain::model::company::company;
use roadmap_domain::model::customer::{CustomerDraft, CustomerName};
use roadmap_domain::model::feature_request::{Attention, FeatureRequestRef, FeatureRequestSummary, RequestLink, Tag};
use roadmap_domain::model::id::{CommentId, FeatureRequestId, MemberId, TrackId, WorkspaceId};
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::track::Track;
use roadmap_domain::model::vote::VoteDraft;
use roadmap_domain::policy::merging::MergeNode;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::approve_feature_request::{ApproveFeatureRequest, DeclineFeatureRequest};
use roadmap_domain::usecase::cast_vote::CastVote;
use roadmap_domain::usecase::change_board::{ChangeTrack, RemoveTrack};
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::edit_comment::DeleteComment;
use roadmap_domain::usecase::edit_feature_request::FeatureRequestChange;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::hold_comment::{ApproveComment, DiscardComment};
use roadmap_domain::usecase::need_no_answer::NeedNoAnswer;
use roadmap_domain::usecase::post_comment::PostComment;
use roadmap_domain::usecase::triage_feature_requests::TriageFeatureRequests;
use uuid::Uuid;

use crate::effort::{SeededRng, rounds};
use crate::harness::{
    Failing, Harness, comment, customer_comment, draft, edit, held_idea, largest_page, merge, new_visibility, page,
    unmerge,
};

/// Reads feature requests themselves, even if they are merged.
struct Nodes(Vec<FeatureRequestId>);

#[async_trait]
impl Operation for Nodes {
    type Output = Vec<MergeNode>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Vec<MergeNode>>, RoadmapError> {
        let mut nodes = Vec::new();
        for id in &self.0 {
            nodes.extend(work.find_merge_node(&FeatureRequestRef::Id(*id)).await?);
        }
        Ok(Performed::new(nodes, Audit::Unchanged))
    }
}

/// What the model knows of a feature request.
#[derive(Debug, Clone)]
struct Item {
    id: FeatureRequestId,
    private: bool,
    awaiting: bool,
    /// When the team last moved it or said that it needs no answer.
    handled_at: Option<Timestamp>,
    tags: Vec<Tag>,
    excerpt: String,
    author: Option<String>,
    updated_at: Timestamp,
    /// Timestamp, ID and author of each comment; no author for a customer's.
    comments: BTreeSet<(Timestamp, CommentId, Option<MemberId>)>,
    /// Comments that wait, with their timestamps.
    held: Vec<(Timestamp, CommentId)>,
    /// The authors of its notes.
    noted: Vec<MemberId>,
    parent: Option<usize>,
    /// The number of companies of its voters, when it was last a root.
    companies: Arc<AtomicI64>,
}

/// A feature request with everything that lists depend on.
struct Listed {
    row: InboxRow,
    track: String,
    tags: Vec<String>,
    members: BTreeSet<MemberId>,
    updated_at: Timestamp,
}

/// The inbox of a workspace, computed from the steps that led to it.
struct Model<'a> {
    harness: &'a Harness,
    workspace: WorkspaceId,
    items: Vec<Item>,
    /// The addresses of the members, the oldest first.
    members: [(&'static str, MemberId); 2],
}

const MEMBERS: [&str; 2] = ["mia@team.example", "moe@team.example"];

impl<'a> Model<'a> {
    async fn new(harness: &'a Harness, workspace: WorkspaceId) -> Self {
        let mut members = Vec::new();
        for (email, name) in MEMBERS.into_iter().zip(["Mia", "Moe"]) {
            members.push((email, harness.member(workspace, email, name).await.id));
            harness.next_second();
        }
        Self { harness, workspace, items: Vec::new(), members: members.try_into().unwrap() }
    }

    async fn create(&mut self, draft: FeatureRequestDraft) -> usize {
        let author = draft.customer.as_ref().map(|customer| customer.email.as_str().to_owned());
        let (private, awaiting) = (draft.private, draft.awaiting_approval);
        let first = self.harness.track(self.workspace, "Inbox").await;
        let is_handled = draft.track.is_some_and(|track| track != first);
        let tags = draft.tags.clone();
        let excerpt = draft.description.text().chars().take(InboxRow::EXCERPT).collect();
        let created = self.harness.create(self.workspace, draft).await;
        self.items.push(Item {
            id: created.id,
            private,
            awaiting,
            handled_at: is_handled.then_some(created.created_at),
            tags,
            excerpt,
            author,
            updated_at: created.created_at,
            comments: BTreeSet::new(),
            held: Vec::new(),
            noted: Vec::new(),
            parent: None,
            companies: Arc::default(),
        });
        self.items.len() - 1
    }

    fn root(&self, item: usize) -> usize {
        self.items[item].parent.map_or(item, |parent| self.root(parent))
    }

    /// The first feature request from this one on that is as wanted, or this one if there is none.
    fn next(&self, from: usize, is_wanted: impl Fn(&Item) -> bool) -> usize {
        let mut all = (from..self.items.len()).chain(0..from);
        all.find(|item| is_wanted(&self.items[*item])).unwrap_or(from)
    }

    fn reference(&self, item: usize) -> FeatureRequestRef {
        FeatureRequestRef::Id(self.items[item].id)
    }

    async fn perform<O: Operation>(&self, operation: &O) -> O::Output {
        self.harness.perform(self.workspace, operation).await
    }

    async fn team_comment(&mut self, item: usize, member: usize) {
        let (email, id) = self.members[member];
        let draft = CommentDraft::parse(Some("<p>Soon</p>"), Some(email), false);
        let comment = PostComment { request: self.reference(item), draft: draft.unwrap() };
        let posted = self.perform(&comment).await.comment;
        let root = self.root(item);
        self.items[root].comments.insert((posted.created_at, posted.id, Some(id)));
    }

    async fn customer_comment(&mut self, item: usize, email: &str) {
        let comment = customer_comment(self.reference(item), "<p>When?</p>", email, None);
        let posted = self.perform(&comment).await.comment;
        let root = self.root(item);
        self.items[root].comments.insert((posted.created_at, posted.id, None));
    }

    /// Deletes one of the comments on a feature request itself, counted from the last one.
    async fn delete_comment(&mut self, item: usize, from_last: usize) {
        let Some(comment) = self.items[item].comments.iter().rev().nth(from_last).copied() else { return };
        self.perform(&DeleteComment { comment: comment.1 }).await;
        self.items[item].comments.remove(&comment);
    }

    async fn hold(&mut self, item: usize, email: &str) {
        let at = self.harness.now();
        let held = self.harness.hold(self.workspace, self.items[item].id, "<p>Please</p>", email).await;
        let root = self.root(item);
        self.items[root].held.push((at, held));
    }

    /// Approves or discards the first comment that waits on a feature request itself.
    async fn decide(&mut self, item: usize, approve: bool) {
        if self.items[item].held.is_empty() {
            return;
        }
        let (at, held) = self.items[item].held.remove(0);
        if approve {
            self.perform(&ApproveComment { comment: held }).await;
            self.items[item].comments.insert((at, held, None));
        } else {
            self.perform(&DiscardComment { comment: held }).await;
        }
    }

    async fn note(&mut self, item: usize, member: usize) {
        let (email, id) = self.members[member];
        let note = NoteDraft::parse(Some("<p>Note</p>"), Some(email)).ok();
        let vote = CastVote { request: self.reference(item), draft: VoteDraft::new(None, note).unwrap() };
        self.perform(&vote).await;
        let root = self.root(item);
        self.items[root].noted.push(id);
    }

    async fn set_private(&mut self, item: usize, private: bool) {
        let root = self.root(item);
        self.perform(&edit(self.reference(item), new_visibility(private))).await;
        let at = self.harness.now();
        let item = &mut self.items[root];
        if item.private != private {
            (item.private, item.updated_at) = (private, at);
            item.awaiting &= private;
        }
    }

    async fn set_tags(&mut self, item: usize, tags: &[&str]) {
        let root = self.root(item);
        let raw: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let parsed = Tag::parse_list("tags", &raw).unwrap();
        let change = FeatureRequestChange { tags: Some(parsed.clone()), ..FeatureRequestChange::default() };
        self.perform(&edit(self.reference(item), change)).await;
        let detail = self.harness.detail(self.workspace, self.items[root].id).await;
        assert_eq!(detail.tags, parsed);
        self.items[root].tags = parsed;
        self.items[root].updated_at = detail.updated_at;
    }

    /// Approves or declines an idea.
    async fn decide_idea(&mut self, item: usize, approve: bool) {
        let request = self.reference(item);
        if approve {
            self.perform(&ApproveFeatureRequest { request }).await;
        } else {
            self.perform(&DeclineFeatureRequest { request }).await;
        }
        let at = self.harness.now();
        let root = self.root(item);
        let item = &mut self.items[root];
        if item.awaiting {
            (item.awaiting, item.updated_at) = (false, at);
            item.private = !approve;
        }
    }

    async fn move_to(&mut self, item: usize, track: &str) {
        self.harness.move_to(self.workspace, self.items[item].id, track).await;
        let root = self.root(item);
        let updated_at = self.harness.detail(self.workspace, self.items[root].id).await.updated_at;
        if self.items[root].updated_at != updated_at {
            (self.items[root].updated_at, self.items[root].handled_at) = (updated_at, Some(updated_at));
        }
    }

    async fn need_no_answer(&mut self, item: usize) {
        let before = self.attention(self.root(item));
        self.perform(&NeedNoAnswer { request: self.reference(item) }).await;
        let root = self.root(item);
        if before.is_some() {
            self.items[root].handled_at = Some(self.harness.now());
        }
    }

    /// What a feature request needs: its comments and those of what is merged into it count.
    fn attention(&self, item: usize) -> Option<Attention> {
        let root = &self.items[item];
        if root.parent.is_some() {
            return None;
        }
        let members = (0..self.items.len()).filter(|member| self.root(*member) == item);
        let words: Vec<_> = members.flat_map(|member| self.items[member].comments.iter().copied()).collect();
        let last = |by_team: bool| words.iter().filter(|word| word.2.is_some() == by_team).map(|word| word.0).max();
        match last(true).max(root.handled_at) {
            None if root.private => None,
            None => Some(Attention::Unanswered),
            handled => (last(false) > handled).then_some(Attention::Replied),
        }
    }

    /// Merges, if that is allowed.
    async fn merge(&mut self, source: usize, target: usize) {
        let root = self.root(target);
        let operation = merge(self.items[source].id, self.items[target].id);
        let merged = self.harness.executor.run_without_key(self.workspace, &operation).await;
        if merged.is_ok_and(|merged| !merged.was_there) {
            self.items[source].parent = Some(root);
            let at = self.harness.now();
            for item in [source, root] {
                self.items[item].updated_at = at;
            }
        }
    }

    async fn unmerge(&mut self, source: usize) {
        let root = self.root(source);
        let outcome = self.harness.executor.run_without_key(self.workspace, &unmerge(self.items[source].id)).await;
        assert_eq!(outcome.is_ok(), self.items[source].parent.take().is_some());
        if outcome.is_ok() {
            let at = self.harness.now();
            for item in [source, root] {
                self.items[item].updated_at = at;
            }
        }
    }

    /// Deletes a feature request with what is merged into it.
    async fn delete(&mut self, item: usize) {
        self.harness.delete(self.workspace, self.items[item].id, true).await;
        let mut deleted = vec![item];
        let mut at = 0;
        while let Some(parent) = deleted.get(at).copied() {
            deleted.extend((0..self.items.len()).filter(|child| self.items[*child].parent == Some(parent)));
            at += 1;
        }
        let place = |item: usize| item - deleted.iter().filter(|gone| **gone < item).count();
        let items = std::mem::take(&mut self.items);
        let left = items.into_iter().enumerate().filter(|(number, _)| !deleted.contains(number));
        self.items = left.map(|(_, item)| Item { parent: item.parent.map(place), ..item }).collect();
    }

    /// All feature requests.
    async fn listed(&self) -> Vec<Listed> {
        let nodes = self.perform(&Nodes(self.items.iter().map(|item| item.id).collect())).await;
        assert_eq!(nodes.len(), self.items.len());
        let mut authors: BTreeMap<String, CustomerName> = BTreeMap::new();
        for email in self.items.iter().filter_map(|item| item.author.clone()) {
            if !authors.contains_key(&email) {
                authors.insert(email.clone(), self.harness.customer(self.workspace, &email).await);
            }
        }
        let mut all = Vec::new();
        for (number, (item, node)) in self.items.iter().zip(&nodes).enumerate() {
            let root = self.root(number);
            assert_eq!((node.request.id, node.root()), (item.id, self.items[root].id));
            let summary = node.request.clone();
            let row = InboxRow {
                private: item.private,
                awaiting_approval: item.awaiting,
                attention: self.attention(number),
                companies_count: self.count_companies(number, root).await,
                comments_count: i64::try_from(item.comments.len()).unwrap(),
                held_count: i64::try_from(item.held.len()).unwrap(),
                excerpt: item.excerpt.clone(),
                tags: item.tags.clone(),
                notes_count: i64::try_from(item.noted.len()).unwrap(),
                author: item.author.as_ref().map(|email| authors[email].clone()),
                merged_into: (root != number).then(|| RequestLink::from(&nodes[root].request)),
                summary: summary.clone(),
            };
            let commented = item.comments.iter().filter_map(|(_, _, member)| *member);
            all.push(Listed {
                row,
                track: summary.placement.track.to_string(),
                tags: item.tags.iter().map(|tag| tag.as_str().to_lowercase()).collect(),
                members: commented.chain(item.noted.iter().copied()).collect(),
                updated_at: item.updated_at,
            });
        }
        all
    }

    /// The number of companies of a root's voters. A merged one keeps the number that it had.
    async fn count_companies(&self, item: usize, root: usize) -> i64 {
        let Item { id, companies, .. } = &self.items[item];
        if root == item {
            let voters = self.harness.voters(self.workspace, *id).await;
            let known: BTreeSet<&str> = voters.iter().filter_map(|voter| company(voter.email.folded())).collect();
            companies.store(i64::try_from(known.len()).unwrap(), Ordering::Relaxed);
        }
        companies.load(Ordering::Relaxed)
    }

    async fn board(&self) -> Board {
        let reader = &self.harness.subject.reader;
        Board { listed: self.listed().await, tracks: reader.tracks(self.workspace).await.unwrap() }
    }

    /// Compares the counters with a recount.
    async fn compare_counts(&self, board: &Board, step: &str) {
        let count = |state, track: &str| {
            let listed = board.listed.iter().filter(|one| one.track == track && is_in_state(&one.row, state));
            i64::try_from(listed.count()).unwrap()
        };
        let tracks = board.tracks.iter().map(|track| TrackCounts {
            track: track.clone(),
            all: count(InboxState::All, track.name.as_str()),
            unanswered: count(InboxState::Unanswered, track.name.as_str()),
            replied: count(InboxState::Replied, track.name.as_str()),
            private: count(InboxState::Private, track.name.as_str()),
        });
        let of_state =
            |state| i64::try_from(board.listed.iter().filter(|one| is_in_state(&one.row, state)).count()).unwrap();
        let expected = InboxCounts {
            tracks: tracks.collect(),
            awaiting: of_state(InboxState::Awaiting),
            held_comments: board.listed.iter().map(|one| one.row.held_count).sum(),
            merged: of_state(InboxState::Merged),
        };
        let counts = self.harness.subject.reader.inbox_counts(self.workspace).await.unwrap();
        assert_eq!(counts, expected, "{step}");
        for state in InboxState::ALL.into_iter().filter(|state| *state != InboxState::Open) {
            assert_eq!(counts.of_state(state), of_state(state), "{step}: {state:?}");
        }
    }

    /// Compares a list with the expected rows, at once and in pages of this size.
    async fn compare_list(&self, board: &Board, filter: &InboxFilter, sort: InboxSort, size: u64, step: &str) {
        let admin = &self.harness.subject.reader;
        let expected = board.rows(filter, sort);
        let list = |page: PageRequest| InboxList { filter: filter.clone(), sort, page };
        let listing = admin.inbox(self.workspace, &list(largest_page())).await.unwrap();
        assert_eq!(listing.items, expected, "{step}: {filter:?}, {sort:?}");
        assert_eq!(
            (listing.total, listing.request),
            (expected.len() as u64, largest_page()),
            "{step}: {filter:?}, {sort:?}"
        );
        let mut rows = Vec::new();
        for number in 1..=expected.len() as u64 / size + 2 {
            let page = page(number, size);
            let listing = admin.inbox(self.workspace, &list(page)).await.unwrap();
            assert_eq!((listing.total, listing.request), (expected.len() as u64, page), "{step}: {filter:?}, {sort:?}");
            rows.extend(listing.items);
        }
        assert_eq!(rows, expected, "{step}: {filter:?}, {sort:?}, {size}");
    }

    /// Compares all lists with all filters and orders. Returns the kinds of filters with something in their lists: the
    /// state, and whether there are tracks, a tag and a member.
    async fn compare_all(&self, board: &Board, step: &str) -> BTreeSet<(&'static str, [bool; 3])> {
        let mut non_empty = BTreeSet::new();
        for filter in board.filters(&self.members) {
            self.compare_rows(board, &filter, step).await;
            for sort in InboxSort::ALL {
                self.compare_list(board, &filter, sort, 5, step).await;
            }
            if board.listed.iter().any(|one| board.matches(&filter, one)) {
                let InboxFilter { state, tracks, tag, member } = filter;
                non_empty.insert((state.name(), [tracks.is_some(), tag.is_some(), member.is_some()]));
            }
        }
        non_empty
    }

    /// Compares which rows of a list of IDs match a filter.
    async fn compare_rows(&self, board: &Board, filter: &InboxFilter, step: &str) {
        let mut ids: Vec<FeatureRequestId> = self.items.iter().map(|item| item.id).collect();
        let half = ids.len() / 2;
        ids.rotate_left(half);
        ids.push(FeatureRequestId::new(Uuid::from_u128(1)));
        let rows = self.harness.subject.reader.inbox_rows(self.workspace, filter, &ids).await.unwrap();
        let expected: Vec<InboxRow> = ids
            .iter()
            .filter_map(|id| board.listed.iter().find(|one| one.row.summary.id == *id && board.matches(filter, one)))
            .map(|one| one.row.clone())
            .collect();
        assert_eq!(rows, expected, "{step}: {filter:?}");
    }
}

fn is_in_state(row: &InboxRow, state: InboxState) -> bool {
    let is_merged = row.merged_into.is_some();
    match state {
        InboxState::Open | InboxState::All => !is_merged,
        InboxState::Unanswered => row.attention == Some(Attention::Unanswered),
        InboxState::Replied => row.attention == Some(Attention::Replied),
        InboxState::Awaiting => !is_merged && row.awaiting_approval,
        InboxState::Private => !is_merged && row.private,
        InboxState::Merged => is_merged,
    }
}

/// The expected state of a workspace.
struct Board {
    listed: Vec<Listed>,
    tracks: Vec<Track>,
}

impl Board {
    fn matches(&self, filter: &InboxFilter, one: &Listed) -> bool {
        let is_on = |id: TrackId| {
            let track = self.tracks.iter().find(|track| track.id == id);
            track.is_some_and(|track| track.name.as_str() == one.track)
        };
        is_in_state(&one.row, filter.state)
            && filter.tracks.as_ref().is_none_or(|tracks| tracks.iter().copied().any(is_on))
            && filter.tag.as_ref().is_none_or(|tag| one.tags.contains(&tag.as_str().to_lowercase()))
            && filter.member.is_none_or(|member| one.members.contains(&member))
    }

    fn rows(&self, filter: &InboxFilter, sort: InboxSort) -> Vec<InboxRow> {
        let mut listed: Vec<&Listed> = self.listed.iter().filter(|one| self.matches(filter, one)).collect();
        listed.sort_by_key(|one| {
            let number = one.row.summary.tag_number;
            Reverse(match sort {
                InboxSort::Newest => (0, number),
                InboxSort::Oldest => (0, -number),
                InboxSort::Votes => (one.row.summary.votes_count, number),
                InboxSort::Companies => (one.row.companies_count, number),
                InboxSort::Updated => (one.updated_at.millis(), number),
            })
        });
        listed.into_iter().map(|one| one.row.clone()).collect()
    }

    /// All filters: every state with every track, several tracks, every tag and member, or without them. `0` is an ID of nothing.
    fn filters(&self, members: &[(&str, MemberId)]) -> Vec<InboxFilter> {
        let nothing = Uuid::nil();
        let ids: Vec<TrackId> = self.tracks.iter().map(|track| track.id).collect();
        let single = ids.iter().copied().chain([TrackId::new(nothing)]).map(|track| Some(vec![track]));
        let several = [None, Some(Vec::new()), Some(vec![ids[1], ids[0], TrackId::new(nothing)]), Some(ids.clone())];
        let places: Vec<Option<Vec<TrackId>>> = single.chain(several).collect();
        let tags = [None, Some("uI"), Some("spÄter"), Some("none")].map(|raw| raw.map(tag));
        let members = [None, Some(members[0].1), Some(members[1].1), Some(MemberId::new(nothing))];
        let mut filters = Vec::new();
        for state in InboxState::ALL {
            for tracks in &places {
                for tag in &tags {
                    for member in members {
                        filters.push(InboxFilter { state, tracks: tracks.clone(), tag: tag.clone(), member });
                    }
                }
            }
        }
        filters
    }
}

fn tag(raw: &str) -> Tag {
    Tag::parse("tag", raw).unwrap()
}

/// The addresses are at two companies and at a provider of mail.
fn email(customer: u64) -> String {
    let domain = ["example.com", "bolt.example", "example.com", "gmail.com"][usize::try_from(customer % 4).unwrap()];
    format!("v{customer}@{domain}")
}

fn of_customer(draft: FeatureRequestDraft, email: &str) -> FeatureRequestDraft {
    FeatureRequestDraft { customer: CustomerDraft::parse(Some(email), None).ok(), ..draft }
}

const TAGS: [&str; 5] = ["ui", "UI", "Später", "sPÄTER", "api"];
const TRACKS: [&str; 4] = ["Inbox", "Planned", "Done", "Declined"];
const REQUESTS: usize = 14;

/// After steps of random histories, the counters equal a recount, and lists with random filters equal what a model
/// computes. At the end, all lists with all filters and orders do, in long runs in the middle, too.
pub async fn random_inboxes_equal_a_model(harness: Harness) {
    let seeds: &[u64] = if rounds(0, 1) == 0 { &[7, 2_026] } else { &[1, 2, 3, 4, 5, 6, 7, 2_026] };
    let mut non_empty = BTreeSet::new();
    for seed in seeds {
        let mut random = SeededRng::new(*seed);
        let workspace = harness.workspace(&format!("seed-{seed}")).await;
        let lanes = harness.lanes(workspace).await;
        // Two tracks in one lane.
        let change = TrackChange { lane: Some(Some(lanes[1].lane.id)), ..TrackChange::default() };
        let done = harness.track(workspace, "Done").await;
        harness.perform(workspace, &ChangeTrack { track: done, change }).await;
        let mut model = Model::new(&harness, workspace).await;
        for number in 0..REQUESTS as u64 {
            let tags: Vec<&str> = TAGS.into_iter().filter(|_| random.below(3) == 0).collect();
            let track = TRACKS[usize::try_from(random.below(4)).unwrap()];
            let new = FeatureRequestDraft {
                private: number % 3 == 2,
                awaiting_approval: number % 3 == 2,
                track: Some(harness.track(workspace, track).await),
                ..draft(&format!("Request {number}"), &tags, "")
            };
            model.create(if number % 2 == 0 { of_customer(new, &email(number % 4)) } else { new }).await;
            if random.below(2) == 0 {
                harness.next_second();
            }
        }
        for number in 0..rounds(50, 250) {
            let mut pick = |end: usize| usize::try_from(random.below(end as u64)).unwrap();
            let (item, other, member) = (pick(REQUESTS), pick(REQUESTS), pick(2));
            let customer = email(pick(4) as u64);
            if pick(3) > 0 {
                harness.next_second();
            }
            // Steps that make no sense change nothing.
            let text = match pick(20) {
                0..3 => {
                    let request =
                        FeatureRequestSummary { id: model.items[item].id, ..summary(&harness, workspace).await };
                    harness.vote(workspace, &request, &customer).await;
                    "vote"
                }
                3 => {
                    harness.withdraw(workspace, model.items[item].id, &customer).await;
                    "withdrawal"
                }
                4..6 => {
                    model.team_comment(item, member).await;
                    "comment of the team"
                }
                6 => {
                    model.customer_comment(item, &customer).await;
                    "comment of a customer"
                }
                7 => {
                    let item = model.next(item, |item| !item.comments.is_empty());
                    model.delete_comment(item, pick(2)).await;
                    "deletion of a comment"
                }
                8 => {
                    model.hold(item, &customer).await;
                    "held comment"
                }
                9 => {
                    let item = model.next(item, |item| !item.held.is_empty());
                    model.decide(item, pick(3) > 0).await;
                    "decision on a comment"
                }
                10 => {
                    model.note(item, member).await;
                    "note"
                }
                11 => {
                    model.set_private(item, pick(2) == 0).await;
                    "visibility"
                }
                12 => {
                    let tags: Vec<&str> = TAGS.into_iter().filter(|_| pick(3) == 0).collect();
                    model.set_tags(item, &tags).await;
                    "tags"
                }
                13 => {
                    model.decide_idea(item, pick(2) == 0).await;
                    "decision on an idea"
                }
                14 => {
                    model.move_to(item, TRACKS[pick(4)]).await;
                    "move"
                }
                15..17 => {
                    model.merge(item, other).await;
                    "merge"
                }
                17..19 => {
                    model.need_no_answer(item).await;
                    "no answer needed"
                }
                _ => {
                    let item = model.next(item, |item| item.parent.is_some());
                    model.unmerge(item).await;
                    "unmerge"
                }
            };
            let step = format!("seed {seed}, step {number}: {text} of {}", item + 1);
            let board = model.board().await;
            model.compare_counts(&board, &step).await;
            if number == rounds(50, 250) / 2 && rounds(0, 1) == 1 {
                non_empty.extend(model.compare_all(&board, &step).await);
            }
            let filters = board.filters(&model.members);
            for _ in 0..rounds(3, 6) {
                let sort = InboxSort::ALL[pick(InboxSort::ALL.len())];
                let filter = &filters[pick(filters.len())];
                model.compare_list(&board, filter, sort, pick(3) as u64 + 1, &step).await;
                model.compare_rows(&board, filter, &step).await;
            }
        }
        non_empty.extend(model.compare_all(&model.board().await, &format!("seed {seed}, at the end")).await);
    }
    // Lists of every state, with every kind of filter, were compared with something in them.
    for state in InboxState::ALL {
        for kind in 0..3 {
            let filter = (state.name(), [0, 1, 2].map(|one| one == kind));
            if (state, kind) == (InboxState::Unanswered, 2) {
                // Only by a note: a comment of a member would be an answer.
                continue;
            }
            assert!(non_empty.contains(&filter), "{filter:?}: {non_empty:?}");
        }
    }
}

/// Any feature request of a workspace, for its fields apart from the ID.
async fn summary(harness: &Harness, workspace: WorkspaceId) -> FeatureRequestSummary {
    let detail = harness.subject.reader.feature_request(workspace, &FeatureRequestRef::Number(1)).await.unwrap();
    detail.unwrap().summary
}

/// The counters equal a recount after each kind of change, also of a whole track and of a unit of work that is rolled
/// back.
pub async fn inbox_counts_equal_a_recount(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let mut model = Model::new(&harness, workspace).await;
    let planned = harness.track(workspace, "Planned").await;
    for (number, title) in ["Quokka", "Fern", "Lichen", "Gecko", "Zebra"].into_iter().enumerate() {
        let track = (number % 2 == 0).then_some(planned);
        model.create(FeatureRequestDraft { private: number == 3, track, ..draft(title, &[], "") }).await;
    }
    model.create(held_idea("Bilby", "ann@example.com")).await;
    model.create(held_idea("Numbat", "ann@example.com")).await;
    for step in [
        "create",
        "comment of the team",
        "comment of the team on the same",
        "comment of a customer",
        "answer",
        "deletion of the answer",
        "deletion of the comment of the customer",
        "hold",
        "approve the comment",
        "hold two",
        "discard",
        "no answer needed",
        "a reply after it",
        "no answer needed again",
        "no answer needed once more",
        "move",
        "hide",
        "show",
        "merge",
        "comment on the source",
        "answer the target",
        "hide the target",
        "unmerge",
        "show the target",
        "merge",
        "approve the idea",
        "decline the idea",
        "decline again",
        "roll back",
        "remove the track",
        "delete the target",
        "delete",
    ] {
        harness.next_second();
        match step {
            "create" => {}
            "comment of the team" | "comment of the team on the same" | "answer" => model.team_comment(0, 1).await,
            "comment of a customer" => model.customer_comment(0, "bob@example.com").await,
            "deletion of the answer" | "deletion of the comment of the customer" => model.delete_comment(0, 0).await,
            "hold" => model.hold(0, "ann@example.com").await,
            "approve the comment" => model.decide(0, true).await,
            "hold two" => {
                model.hold(1, "ann@example.com").await;
                model.hold(2, "bob@example.com").await;
            }
            "discard" => model.decide(1, false).await,
            "no answer needed" | "no answer needed again" | "no answer needed once more" => {
                model.need_no_answer(1).await
            }
            "a reply after it" => model.customer_comment(1, "bob@example.com").await,
            "move" => model.move_to(1, "Done").await,
            "hide" | "show" => model.set_private(2, step == "hide").await,
            "merge" => model.merge(2, 0).await,
            "comment on the source" => model.team_comment(2, 0).await,
            "answer the target" => model.customer_comment(0, "cyd@example.com").await,
            "hide the target" | "show the target" => model.set_private(0, step == "hide the target").await,
            "unmerge" => model.unmerge(2).await,
            "approve the idea" => model.decide_idea(5, true).await,
            "decline the idea" | "decline again" => model.decide_idea(6, false).await,
            "roll back" => {
                let request = model.reference(1);
                harness.failure(workspace, &Failing(comment(request, "<p>Soon</p>", false))).await;
                harness.failure(workspace, &Failing(edit(request, new_visibility(true)))).await;
                harness.failure(workspace, &Failing(merge(model.items[4].id, model.items[1].id))).await;
            }
            "remove the track" => {
                let inbox = harness.track(workspace, "Inbox").await;
                harness.perform(workspace, &RemoveTrack { track: planned, move_to: Some(inbox) }).await;
                let at = harness.now();
                // The first, the third and the fifth one were on it.
                for item in [0, 2, 4] {
                    (model.items[item].updated_at, model.items[item].handled_at) = (at, Some(at));
                }
            }
            // What is left is counted from the first one again.
            _ => model.delete(0).await,
        }
        let board = model.board().await;
        model.compare_counts(&board, step).await;
        for state in InboxState::ALL {
            let filter = InboxFilter { state, ..InboxFilter::default() };
            for sort in InboxSort::ALL {
                model.compare_list(&board, &filter, sort, 2, step).await;
            }
        }
    }
    assert_eq!(model.items.len(), 4);
    let elsewhere = harness.workspace("bolt").await;
    let counts = harness.subject.reader.inbox_counts(elsewhere).await.unwrap();
    assert_eq!(counts.tracks.iter().map(|track| track.all + track.unanswered + track.private).sum::<i64>(), 0);
    assert_eq!((counts.awaiting, counts.held_comments, counts.merged), (0, 0, 0));
}

/// Of comments, moves and what was said to need no answer, the last one decides. A held comment is no word until it is
/// approved, and then it is as old as it is. A private feature request is not without an answer.
pub async fn the_last_word_decides(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.member(workspace, "mia@team.example", "Mia").await;
    let request = harness.request(workspace, "Dark mode").await;
    let reference = FeatureRequestRef::Id(request.id);
    let attention = async || {
        let rows = harness.subject.reader.inbox_rows(workspace, &InboxFilter::default(), &[request.id]).await.unwrap();
        let counts = harness.subject.reader.inbox_counts(workspace).await.unwrap();
        let count = |state, attention| {
            assert_eq!(counts.of_state(state), i64::from(rows[0].attention == Some(attention)));
        };
        count(InboxState::Unanswered, Attention::Unanswered);
        count(InboxState::Replied, Attention::Replied);
        rows[0].attention
    };
    let reply = async |text: &str| {
        harness.perform(workspace, &customer_comment(reference, text, "bob@example.com", None)).await.comment.id
    };
    let answer = async || harness.perform(workspace, &comment(reference, "<p>Soon</p>", false)).await.comment.id;
    let delete = async |comment| harness.perform(workspace, &DeleteComment { comment }).await;
    let (unanswered, replied) = (Some(Attention::Unanswered), Some(Attention::Replied));
    assert_eq!(attention().await, unanswered);
    let held = harness.hold(workspace, request.id, "<p>Please</p>", "ann@example.com").await;
    harness.next_second();
    let question = reply("<p>When?</p>").await;
    assert_eq!(attention().await, unanswered, "a customer's words are no answer");
    harness.next_second();
    let first = answer().await;
    assert_eq!(attention().await, None);
    harness.next_second();
    let second_question = reply("<p>And now?</p>").await;
    assert_eq!(attention().await, replied);
    // At the same time.
    let second = answer().await;
    assert_eq!(attention().await, None);
    delete(second).await;
    assert_eq!(attention().await, replied);
    delete(second_question).await;
    assert_eq!(attention().await, None);
    harness.perform(workspace, &ApproveComment { comment: held }).await;
    assert_eq!(attention().await, None, "the answer is later");
    let updated_at = harness.detail(workspace, request.id).await.updated_at;
    assert_eq!(updated_at, request.created_at, "an answer does not change the feature request");
    delete(first).await;
    assert_eq!(attention().await, unanswered);
    harness.perform(workspace, &edit(reference, new_visibility(true))).await;
    assert_eq!(attention().await, None);
    harness.perform(workspace, &edit(reference, new_visibility(false))).await;
    assert_eq!(attention().await, unanswered);
    harness.next_second();
    harness.perform(workspace, &NeedNoAnswer { request: reference }).await;
    assert_eq!(attention().await, None);
    harness.next_second();
    let third = reply("<p>Well?</p>").await;
    assert_eq!(attention().await, replied, "somebody of the team has looked at it before");
    harness.next_second();
    harness.move_to(workspace, request.id, "Done").await;
    assert_eq!(attention().await, None);
    harness.next_second();
    reply("<p>Thank you!</p>").await;
    assert_eq!(attention().await, replied, "it was written after the move to the last lane");
    harness.move_to(workspace, request.id, "Inbox").await;
    delete(third).await;
    delete(question).await;
    assert_eq!(attention().await, None, "once moved, it is not without an answer any more");
}

/// A declined idea does not wait any more and stays private. It was updated. One that does not wait stays as it is.
pub async fn a_declined_idea_stays_private(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let idea = harness.create(acme, held_idea("Bilby", "ann@example.com")).await;
    let request = FeatureRequestRef::Id(idea.id);
    let before = harness.detail(acme, idea.id).await;
    assert_eq!(harness.failure(bolt, &DeclineFeatureRequest { request }).await, "FeatureRequest does not exist.");
    harness.next_second();
    harness.failure(acme, &Failing(DeclineFeatureRequest { request })).await;
    assert_eq!(harness.detail(acme, idea.id).await, before);
    let at = harness.next_second();
    let declined = harness.perform(acme, &DeclineFeatureRequest { request }).await.detail;
    let mut expected = before.clone();
    (expected.awaiting_approval, expected.updated_at) = (false, at);
    assert!(expected.private);
    assert_eq!((&declined, &harness.detail(acme, idea.id).await), (&expected, &expected));
    assert_eq!(harness.subject.reader.held_posts(acme, largest_page()).await.unwrap().total, 0);
    harness.next_second();
    assert_eq!(harness.perform(acme, &DeclineFeatureRequest { request }).await.detail, expected);
    // It can be shown later.
    harness.edit(acme, idea.id, new_visibility(false)).await;
    assert_eq!(harness.search(acme, "bilby").await, ["Bilby"]);
    assert_eq!(harness.perform(acme, &DeclineFeatureRequest { request }).await.changes, []);
    let filter = AuditFilter { action: Some("feature_request.decline".to_owned()), ..AuditFilter::default() };
    assert_eq!(harness.audit_entries(acme, &filter).await.len(), 1);
}

/// The feature request with the number comes first, also a merged one. Then private ones, newest first, whose title has
/// all words anywhere, regardless of case. Public ones, merged ones and those of other workspaces are found elsewhere or
/// not at all.
pub async fn unindexed_requests_are_found(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let private = |title: &str| FeatureRequestDraft { private: true, ..draft(title, &["später"], "<p>Später</p>") };
    let mut ids = Vec::new();
    for (title, is_private) in [
        ("Später als 2 Uhr", true),
        ("Zebra SPÄTER", true),
        ("Später öffentlich", false),
        ("zebraspäter", true),
        ("100% zebra_stripes", true),
        ("Merged später", true),
        ("Zebra", false),
    ] {
        let new = if is_private { private(title) } else { draft(title, &[], "") };
        ids.push(harness.create(acme, new).await.id);
    }
    ids.push(harness.create(acme, held_idea("Held später", "ann@example.com")).await.id);
    harness.create(bolt, private("Später bei Bolt")).await;
    harness.merge(acme, ids[5], ids[6]).await;
    let find = async |number: Option<i64>, words: &[&str], limit: u32| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let rows = harness.subject.reader.find_unindexed(acme, number, &words, limit).await.unwrap();
        let number = |id: &FeatureRequestId| ids.iter().position(|one| one == id).unwrap() + 1;
        rows.iter().map(number).collect::<Vec<_>>()
    };
    assert_eq!(find(None, &["später"], 10).await, [8, 4, 2, 1]);
    assert_eq!(find(None, &["später"], 2).await, [8, 4]);
    assert_eq!(find(None, &["zebra", "später"], 10).await, [4, 2]);
    for (word, expected) in
        [("%", &[5][..]), ("a_s", &[5]), ("z%a", &[]), ("ra_st", &[5]), ("z_bra", &[]), ("spater", &[])]
    {
        assert_eq!(find(None, &[word], 10).await, expected, "{word}");
    }
    // A number that is also in a title.
    assert_eq!(find(Some(2), &["2"], 10).await, [2, 1]);
    assert_eq!(find(Some(1), &["1"], 10).await, [1, 5]);
    assert_eq!(find(Some(6), &["6"], 10).await, [6]);
    assert_eq!(find(Some(7), &["#7"], 10).await, [7]);
    assert_eq!(find(Some(2), &["später"], 1).await, [2]);
    assert_eq!(find(Some(9), &["9"], 10).await, Vec::<usize>::new());
    assert_eq!(find(Some(i64::MAX), &["none"], 10).await, Vec::<usize>::new());
}

/// Pages after the last one that is read are empty. Filters of another workspace list nothing, and nothing of it is
/// listed.
pub async fn inboxes_belong_to_their_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let mia = harness.member(acme, "mia@team.example", "Mia").await.id;
    let request = harness.create(acme, draft("Quokka", &["ui"], "")).await;
    harness.perform(acme, &comment(FeatureRequestRef::Id(request.id), "<p>Soon</p>", false)).await;
    let admin = &harness.subject.reader;
    let tracks = Some(vec![harness.track(acme, "Inbox").await]);
    let nowhere = Some(vec![harness.track(acme, "Planned").await]);
    for filter in [
        InboxFilter::default(),
        InboxFilter { tracks: tracks.clone(), ..InboxFilter::default() },
        InboxFilter { tag: Some(tag("ui")), ..InboxFilter::default() },
        InboxFilter { member: Some(mia), ..InboxFilter::default() },
    ] {
        let list = InboxList { filter: filter.clone(), sort: InboxSort::Votes, page: largest_page() };
        let listing = admin.inbox(acme, &list).await.unwrap();
        assert_eq!((listing.items.len(), listing.total), (1, 1), "{filter:?}");
        assert_eq!(admin.inbox_rows(acme, &filter, &[request.id]).await.unwrap(), listing.items);
        let past = InboxList { page: page(InboxList::MAX_PAGE + 1, 1), ..list.clone() };
        assert_eq!(admin.inbox(acme, &past).await.unwrap().items, []);
        let listing = admin.inbox(bolt, &list).await.unwrap();
        assert_eq!((listing.items, listing.total), (vec![], 0), "{filter:?}");
        assert_eq!(admin.inbox_rows(bolt, &filter, &[request.id]).await.unwrap(), []);
    }
    let nowhere = InboxFilter { tracks: nowhere, ..InboxFilter::default() };
    let list = InboxList { filter: nowhere, ..InboxList::default() };
    assert_eq!(admin.inbox(bolt, &list).await.unwrap().total, 0);
    let none: [FeatureRequestId; 0] = [];
    assert_eq!(admin.inbox_rows(acme, &InboxFilter::default(), &none).await.unwrap(), []);
    assert_eq!(admin.find_unindexed(bolt, Some(1), &["quokka".to_owned()], 10).await.unwrap(), none);
}

/// Many feature requests are changed in one unit of work: all of them or none. Each one that changes has its own entry
/// in the audit log. Deleted ones are left out.
pub async fn a_selection_is_changed_at_once(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let mut model = Model::new(&harness, workspace).await;
    for title in ["Quokka", "Fern", "Lichen"] {
        model.create(draft(title, &[], "")).await;
    }
    let bilby = model.create(held_idea("Bilby", "ann@example.com")).await;
    let numbat = model.create(held_idea("Numbat", "ann@example.com")).await;
    let gone = harness.request(workspace, "Gone").await.id;
    harness.delete(workspace, gone, false).await;
    let ids: Vec<FeatureRequestId> = model.items.iter().map(|item| item.id).collect();
    let select = |items: &[usize]| {
        let mut selected: Vec<FeatureRequestId> = items.iter().map(|item| ids[*item]).collect();
        selected.push(gone);
        Selection::new("ids", selected).unwrap()
    };
    let done = harness.track(workspace, "Done").await;
    for (items, triage, changed, action) in [
        (&[0, 1, 2][..], Triage::Move(done), 3, "feature_request.move"),
        (&[0, 1, 2], Triage::Move(done), 0, "feature_request.move"),
        (&[0, 1], Triage::AddTag(tag("UI")), 2, "feature_request.update"),
        (&[1, 2], Triage::AddTag(tag("ui")), 1, "feature_request.update"),
        (&[2, bilby], Triage::SetPrivate(true), 1, "feature_request.update"),
        (&[2, bilby, numbat], Triage::Decline, 2, "feature_request.decline"),
        (&[1, 2, bilby], Triage::MergeInto(ids[0]), 3, "feature_request.merge"),
    ] {
        let filter = AuditFilter { action: Some(action.to_owned()), ..AuditFilter::default() };
        let before = harness.audit_entries(workspace, &filter).await.len();
        harness.next_second();
        let operation = TriageFeatureRequests { selection: select(items), triage };
        let failed = Failing(operation.clone());
        harness.failure(workspace, &failed).await;
        assert_eq!(harness.perform(workspace, &operation).await.changed, changed, "{operation:?}");
        let after = harness.audit_entries(workspace, &filter).await.len();
        assert_eq!(after - before, changed, "{operation:?}");
    }
    let rows = harness.subject.reader.inbox_rows(workspace, &InboxFilter::default(), &ids).await.unwrap();
    let numbers: Vec<i64> = rows.iter().map(|row| row.summary.tag_number).collect();
    assert_eq!(numbers, [1, 5]);
    let counts = harness.subject.reader.inbox_counts(workspace).await.unwrap();
    assert_eq!((counts.of_state(InboxState::Private), counts.awaiting, counts.merged), (1, 0, 3));
    assert_eq!(harness.detail(workspace, ids[0]).await.tags, [tag("UI")]);
}

/// What is merged while a selection waits for it is left out, and the target of the merge stays as it is.
pub async fn a_selection_leaves_out_what_is_merged_meanwhile(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [source, target, other] = harness.requests(workspace, ["Quokka", "Fern", "Lichen"]).await;
    let selection = Selection::new("ids", vec![source.id, other.id]).unwrap();
    let hide = TriageFeatureRequests { selection, triage: Triage::SetPrivate(true) };
    let (merged, triaged) = harness.overlap(workspace, merge(source.id, target.id), &hide).await;
    assert_eq!((merged.is_ok(), triaged.unwrap().changed), (true, 1));
    assert!(!harness.detail(workspace, target.id).await.private);
    assert!(harness.detail(workspace, other.id).await.private);
}

crate::contract::cases!($ admin {
    random_inboxes_equal_a_model,
    inbox_counts_equal_a_recount,
    the_last_word_decides,
    a_declined_idea_stays_private,
    unindexed_requests_are_found,
    inboxes_belong_to_their_workspace,
    a_selection_is_changed_at_once,
    a_selection_leaves_out_what_is_merged_meanwhile,
});
