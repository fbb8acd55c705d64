//! Runs of imports: what they load, that they hold a workspace, and that they are undone.

use std::collections::BTreeMap;
use std::sync::Arc;

use roadmap_domain::model::audit::ActorKind;
use roadmap_domain::model::changelog::{ChangelogCategory, ChangelogChange, ChangelogDraft, ChangelogFields};
use roadmap_domain::model::comment::PublicAuthor;
use roadmap_domain::model::event::EventContent;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, Title};
use roadmap_domain::model::id::{ImportId, WorkspaceId};
use roadmap_domain::model::import::MadePosts;
use roadmap_domain::model::import::records::{
    Changelog, Comment, FeatureRequest, Kind, Move, Note, Origin, Person, PersonKey, Prepared, Record, Subscription,
    Vote,
};
use roadmap_domain::model::import::run::{Count, Import, ImportState, Progress, SourceName, Stage};
use roadmap_domain::model::import::upload::Subscribing;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::change_changelog::EditChangelog;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::import::load::{
    Batch, FindRequests, LoadBatch, Merge, PreparedRequest, RunContext, StagedMove, StagedPerson,
};
use roadmap_domain::usecase::import::prepare::{Pictures, prepare};
use roadmap_domain::usecase::import::run::{
    BeginImport, Begun, CheckImport, EndImport, ListImports, PlaceStatuses, ResumeImport, WrongCount,
};
use roadmap_domain::usecase::import::undo::{
    BeginUndo, EndUndo, UndoChangelogs, UndoCustomers, UndoPosts, UndoRequests,
};
use roadmap_domain::usecase::need_no_answer::NeedNoAnswer;
use uuid::Uuid;

use crate::contract::people::references;
use crate::harness::{Harness, add_link, changelog_fields, comment, edit_comment, largest_page, name, new_title, vote};

const ORIGIN: Origin = Origin { file: 0, line: 2 };
const HOLDER: Uuid = Uuid::from_u128(0x401d);

fn source(name: &str) -> SourceName {
    SourceName::parse("name", name).unwrap()
}

fn person(address: &str, name: Option<&str>) -> Person {
    Person { key: PersonKey::Email(address.to_owned()), name: name.map(str::to_owned) }
}

fn request(id: &str, title: &str, at: Timestamp) -> FeatureRequest {
    FeatureRequest {
        external_id: id.to_owned(),
        title: title.to_owned(),
        description: format!("About **{title}**"),
        status: None,
        tags: vec!["ui".to_owned()],
        is_private: false,
        awaits_approval: false,
        author: Some(person("ann@a.example", Some("Ann"))),
        is_team: false,
        nameless_votes: 0,
        created_at: Some(at),
        url: None,
        merged_into: None,
        origin: ORIGIN,
    }
}

fn vote_of(request: &str, address: &str) -> Vote {
    Vote {
        request: request.to_owned(),
        person: person(address, None),
        is_subscribed: None,
        created_at: None,
        origin: ORIGIN,
    }
}

fn comment_of(id: &str, request: &str, author: Option<Person>, is_team: bool) -> Comment {
    Comment {
        external_id: id.to_owned(),
        request: request.to_owned(),
        body: format!("Words of {id}"),
        author,
        is_team,
        is_held: false,
        created_at: None,
        origin: ORIGIN,
    }
}

fn prepared(record: Record) -> Prepared<Record> {
    prepare(record, &Pictures::default()).unwrap().records.remove(0)
}

/// A source, as it is loaded.
#[derive(Clone, Default)]
struct Files {
    team: Vec<Person>,
    customers: Vec<Person>,
    requests: Vec<FeatureRequest>,
    merges: Vec<(&'static str, &'static str)>,
    votes: Vec<Vote>,
    comments: Vec<Comment>,
    notes: Vec<Note>,
    subscriptions: Vec<Subscription>,
    /// Each with the status before.
    moves: Vec<(Option<&'static str>, Move)>,
    changelogs: Vec<Changelog>,
    on_roadmap: Vec<String>,
}

impl Files {
    fn batches(&self) -> Vec<(Stage, Batch)> {
        let staged = |people: &[Person]| {
            people.iter().cloned().map(|person| StagedPerson { person, again: false }).collect::<Vec<_>>()
        };
        let requests = self.requests.iter().map(|request| {
            let Prepared { digest, record } = prepared(Record::FeatureRequest(request.clone()));
            let Record::FeatureRequest(record) = record else { panic!() };
            PreparedRequest::new(Prepared { digest, record }).unwrap()
        });
        let comments = self.comments.iter().map(|comment| {
            let Prepared { digest, record } = prepared(Record::Comment(comment.clone()));
            let Record::Comment(record) = record else { panic!() };
            Prepared { digest, record }
        });
        let notes = self.notes.iter().map(|note| {
            let Prepared { digest, record } = prepared(Record::Note(note.clone()));
            let Record::Note(record) = record else { panic!() };
            Prepared { digest, record }
        });
        let merge =
            |(source, target): &(&str, &str)| Merge { source: (*source).to_owned(), target: (*target).to_owned() };
        let moves = self.moves.iter().map(|(from, moved)| {
            let Prepared { digest, record } = prepared(Record::Move(moved.clone()));
            let Record::Move(moved) = record else { panic!() };
            Prepared { digest, record: StagedMove { from: from.map(str::to_owned), moved } }
        });
        let changelogs = self.changelogs.iter().map(|changelog| {
            let Prepared { digest, record } = prepared(Record::Changelog(changelog.clone()));
            let Record::Changelog(record) = record else { panic!() };
            Prepared { digest, record }
        });
        vec![
            (Stage::Members, Batch::Members(staged(&self.team))),
            (Stage::Customers, Batch::Customers(staged(&self.customers))),
            (Stage::FeatureRequests, Batch::FeatureRequests(requests.collect())),
            (Stage::Merges, Batch::Merges(self.merges.iter().map(merge).collect())),
            (Stage::Votes, Batch::Votes(self.votes.clone())),
            (Stage::Subscriptions, Batch::Subscriptions(self.subscriptions.clone())),
            (Stage::Comments, Batch::Comments(comments.collect())),
            (Stage::Notes, Batch::Notes(notes.collect())),
            (Stage::Moves, Batch::Moves(moves.collect())),
            (Stage::Changelogs, Batch::Changelogs(changelogs.collect())),
        ]
    }
}

async fn begin(harness: &Harness, workspace: WorkspaceId, name: &str, input: &str) -> Import {
    let begun = try_begin(harness, workspace, name, input).await;
    let Begun::Run(import) = begun else { panic!("{begun:?}") };
    *import
}

async fn try_begin(harness: &Harness, workspace: WorkspaceId, name: &str, input: &str) -> Begun {
    let (name, input) = (source(name), input.to_owned());
    let begin = BeginImport { source: "csv", name, input, holder: HOLDER, began_at: harness.now() };
    harness.perform(workspace, &begin).await
}

/// How files are loaded.
#[derive(Clone, Copy, Default)]
struct How {
    is_dry: bool,
    updates: bool,
    subscribing: Subscribing,
}

/// Loads files. Returns how far the run is then.
async fn load(harness: &Harness, workspace: WorkspaceId, import: &Import, files: &Files, how: How) -> Progress {
    let statuses: Vec<String> = files.requests.iter().filter_map(|request| request.status.clone()).collect();
    let place = PlaceStatuses {
        id: import.id,
        name: import.name.clone(),
        is_dry: how.is_dry,
        statuses,
        on_roadmap: files.on_roadmap.clone(),
        past: files.moves.iter().map(|(_, moved)| moved.status.clone()).collect(),
        chosen: Vec::new(),
    };
    let placed = harness.perform(workspace, &place).await;
    let run = RunContext {
        id: import.id,
        name: import.name.clone(),
        began_at: import.began_at,
        holder: import.holder,
        is_dry: how.is_dry,
        updates: how.updates,
        subscribing: how.subscribing,
        makes_members: false,
        tracks: placed.tracks,
        past: placed.past,
        first_track: placed.first_track,
        references: references(),
    };
    let (run, mut progress) = (Arc::new(run), Progress::default());
    progress.counts.of_mut(Kind::Tracks).new = placed.new.len() as u64;
    progress.counts.of_mut(Kind::Lanes).new = placed.new_lanes.len() as u64;
    for (stage, batch) in files.batches() {
        (progress.stage, progress.position) = (stage, 0);
        let load = LoadBatch { run: run.clone(), progress, batch: Arc::new(batch) };
        progress = harness.perform(workspace, &load).await;
    }
    progress
}

async fn end(harness: &Harness, workspace: WorkspaceId, import: &Import, state: ImportState, progress: Progress) {
    let report = "{}".to_owned();
    let end = EndImport { id: import.id, holder: import.holder, progress, state, report };
    assert_eq!(harness.perform(workspace, &end).await.state, state);
}

/// A whole run. Returns what it has counted.
async fn run(harness: &Harness, workspace: WorkspaceId, name: &str, files: &Files, how: How) -> (ImportId, Progress) {
    harness.next_second();
    let import = begin(harness, workspace, name, &harness.now().to_string()).await;
    let progress = load(harness, workspace, &import, files, how).await;
    end(harness, workspace, &import, ImportState::Done, progress.clone()).await;
    harness.next_second();
    (import.id, progress)
}

/// Undoes a run. Returns how many feature requests and posts were deleted, the titles that stay, and the numbers of customers
/// and members that were deleted.
async fn undo(harness: &Harness, workspace: WorkspaceId, id: ImportId) -> (u64, MadePosts, Vec<String>, u64, u64) {
    let holder = HOLDER;
    assert!(matches!(harness.perform(workspace, &BeginUndo { id, holder }).await, Begun::Run(_)));
    let (mut requests, mut posts, mut kept) = (0, MadePosts::default(), Vec::new());
    let mut after = None;
    loop {
        let undone = harness.perform(workspace, &UndoChangelogs { id, holder, after }).await;
        kept.extend(undone.kept.iter().map(|changelog| changelog.title.to_string()));
        after = undone.last;
        if after.is_none() {
            break;
        }
    }
    for merged in [true, false] {
        let mut after = None;
        loop {
            let undone = harness.perform(workspace, &UndoRequests { id, holder, merged, after }).await;
            requests += undone.deleted;
            posts.add(undone.posts);
            kept.extend(undone.kept.iter().map(|link| link.title.to_string()));
            after = undone.last;
            if after.is_none() {
                break;
            }
        }
    }
    while let Some(more) = harness.perform(workspace, &UndoPosts { id, holder }).await {
        posts.add(more);
    }
    let (mut customers, mut after) = (0, None);
    loop {
        let (deleted, last) = harness.perform(workspace, &UndoCustomers { id, holder, after }).await;
        customers += deleted;
        after = last;
        if after.is_none() {
            break;
        }
    }
    let ended = harness.perform(workspace, &EndUndo { id, holder }).await;
    kept.sort();
    (requests, posts, kept, customers, ended.members)
}

fn counts(progress: &Progress) -> BTreeMap<&'static str, Count> {
    let of = |kind: Kind| (kind.name(), progress.counts.of(kind));
    Kind::ALL.into_iter().map(of).filter(|(_, count)| *count != Count::default()).collect()
}

/// Files with one of everything.
fn files(at: Timestamp) -> Files {
    let planned =
        FeatureRequest { status: Some("Needs work".to_owned()), nameless_votes: 2, ..request("B", "Exports", at) };
    let arya = person("arya@tool.example", Some("Arya"));
    Files {
        team: vec![arya.clone()],
        customers: vec![
            person("ann@a.example", Some("Ann")),
            person("bob@b.example", None),
            Person { key: PersonKey::ExternalId("7".to_owned()), name: Some("Eve".to_owned()) },
        ],
        requests: vec![request("A", "Dark mode", at), planned, request("C", "Night theme", at)],
        merges: vec![("C", "A")],
        votes: vec![vote_of("A", "ann@a.example"), vote_of("A", "BOB@b.example"), vote_of("C", "bob@b.example")],
        comments: vec![
            comment_of("1", "A", Some(person("bob@b.example", None)), false),
            comment_of("2", "A", Some(arya.clone()), true),
        ],
        notes: vec![Note {
            external_id: "3".to_owned(),
            request: "B".to_owned(),
            body: "A big account".to_owned(),
            author: Some(arya),
            is_team: true,
            created_at: None,
            origin: ORIGIN,
        }],
        ..Files::default()
    }
}

async fn numbered(harness: &Harness, workspace: WorkspaceId, id: &str) -> FeatureRequestSummary {
    let find = FindRequests { name: source("csv"), external_ids: vec![id.to_owned()] };
    let id = harness.perform(workspace, &find).await[0].unwrap();
    harness.detail(workspace, id).await.summary
}

const fn new(count: u64) -> Count {
    Count { new: count, changed: 0, unchanged: 0, kept: 0, skipped: 0, rejected: 0 }
}

const fn unchanged(count: u64) -> Count {
    Count { unchanged: count, ..new(0) }
}

/// Everything of a source is here after a run, with its times and people, and a second run adds nothing. A dry run says the
/// same, and writes nothing.
pub async fn a_run_adds_what_is_new(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let at = harness.now();
    harness.after_days(30);
    let files = files(at);
    let all = BTreeMap::from([
        ("tracks", new(1)),
        ("members", new(1)),
        ("customers", new(3)),
        ("feature_requests", new(3)),
        ("merges", new(1)),
        ("votes", new(3)),
        ("comments", new(2)),
        ("notes", new(1)),
    ]);
    let before = harness.count_records(acme).await;
    let dry = How { is_dry: true, ..How::default() };
    let nowhere = Import {
        id: ImportId::new(Uuid::nil()),
        source: "csv".to_owned(),
        name: source("csv"),
        state: ImportState::Running,
        job: None,
        upload: None,
        input: String::new(),
        progress: Progress::default(),
        report: None,
        holder: HOLDER,
        began_at: harness.now(),
        seen_at: harness.now(),
        ended_at: None,
    };
    assert_eq!(counts(&load(&harness, acme, &nowhere, &files, dry).await), all);
    assert_eq!(harness.count_records(acme).await, before);

    let (id, progress) = run(&harness, acme, "csv", &files, How::default()).await;
    assert_eq!(counts(&progress), all);
    assert_eq!(harness.perform(acme, &CheckImport { id, progress: progress.clone() }).await, []);
    let [dark, exports] = [numbered(&harness, acme, "A").await, numbered(&harness, acme, "B").await];
    assert_eq!((dark.tag_number, dark.votes_count, dark.created_at), (1, 2, at));
    assert_eq!((exports.votes_count, exports.placement.track.as_str()), (2, "Needs work"));
    let detail = harness.detail(acme, dark.id).await;
    assert_eq!(detail.merged.iter().map(|link| link.title.as_str()).collect::<Vec<_>>(), ["Night theme"]);
    assert_eq!(detail.description.as_str().trim(), "<p>About <strong>Dark mode</strong></p>");
    assert_eq!(detail.author.unwrap().name, Some(name("Ann")));
    let authors: Vec<_> = harness
        .comments(acme, dark.id)
        .await
        .into_iter()
        .map(|comment| match comment.author {
            PublicAuthor::Member(named) | PublicAuthor::Customer(named) => named.map(|name| name.to_string()),
        })
        .collect();
    // What was merged into it is the first one.
    assert_eq!(authors, [Some("Ann".to_owned()), None, Some("Arya".to_owned())]);
    assert_eq!(harness.notes(acme, exports.id).await.len(), 1);
    assert_eq!(harness.search(acme, "night").await, ["Dark mode"]);
    assert_eq!(harness.count("outbox", acme).await, 0);

    let again = BTreeMap::from([
        ("members", unchanged(1)),
        ("customers", unchanged(3)),
        ("feature_requests", unchanged(3)),
        ("merges", unchanged(1)),
        ("votes", unchanged(3)),
        ("comments", unchanged(2)),
        ("notes", unchanged(1)),
    ]);
    assert_eq!(counts(&load(&harness, acme, &nowhere, &files, dry).await), again);
    assert_eq!(counts(&run(&harness, acme, "csv", &files, How::default()).await.1), again);
    // Another installation, and another workspace, know nothing of it.
    let other = run(&harness, acme, "csv-2", &files, How::default()).await.1;
    assert_eq!(
        [Kind::FeatureRequests, Kind::Customers].map(|kind| other.counts.of(kind)),
        [new(3), Count { new: 1, unchanged: 2, ..new(0) }]
    );
    assert_eq!(run(&harness, bolt, "csv", &files, How::default()).await.1.counts.of(Kind::Comments), new(2));
    let wrong = harness.perform(acme, &CheckImport { id, progress: Progress::default() }).await;
    assert!(wrong.contains(&WrongCount { kind: Kind::FeatureRequests, counted: 0, stored: 3 }), "{wrong:?}");
}

/// What has changed in the source is overwritten if that is wanted and nobody has changed it here. New posts are added to
/// what is there. What was deleted here stays deleted.
pub async fn a_later_run_changes_only_what_it_may(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let at = harness.now();
    harness.after_days(30);
    let first = files(at);
    run(&harness, acme, "csv", &first, How::default()).await;
    let [dark, exports, night] = [
        numbered(&harness, acme, "A").await.id,
        numbered(&harness, acme, "B").await.id,
        numbered(&harness, acme, "C").await.id,
    ];
    assert_eq!(dark, night);
    harness.edit(acme, exports, new_title("Exports as CSV")).await;
    harness.next_second();

    let mut later = first.clone();
    for request in &mut later.requests {
        request.title.push('!');
        request.status = Some("Planned".to_owned());
        request.nameless_votes += 5;
    }
    for comment in &mut later.comments {
        comment.body.push('!');
    }
    later.votes.push(vote_of("B", "ann@a.example"));
    let kept = |count| Count { kept: count, ..new(0) };
    let progress = run(&harness, acme, "csv", &later, How::default()).await.1;
    let of = |progress: &Progress, kind| progress.counts.of(kind);
    assert_eq!(of(&progress, Kind::FeatureRequests), kept(3));
    assert_eq!(of(&progress, Kind::Comments), kept(2));
    assert_eq!(of(&progress, Kind::Votes), Count { new: 1, ..unchanged(3) });
    assert_eq!(harness.detail(acme, dark).await.summary.title.as_str(), "Dark mode");

    let updates = How { updates: true, ..How::default() };
    let progress = run(&harness, acme, "csv", &later, updates).await.1;
    assert_eq!(of(&progress, Kind::FeatureRequests), Count { changed: 2, ..kept(1) });
    assert_eq!(of(&progress, Kind::Comments), Count { changed: 2, ..new(0) });
    let detail = harness.detail(acme, dark).await;
    assert_eq!((detail.summary.title.as_str(), detail.summary.placement.track.as_str()), ("Dark mode!", "Planned"));
    assert_eq!(detail.summary.votes_count, 2 + 5 + 5);
    let changed = harness.detail(acme, exports).await.summary;
    assert_eq!((changed.title.as_str(), changed.votes_count), ("Exports as CSV", 3));
    let texts: Vec<_> =
        harness.comments(acme, dark).await.iter().map(|comment| comment.comment.content.to_text()).collect();
    assert_eq!(texts, ["About Night theme", "Words of 1!", "Words of 2!"]);
    // Once more it has nothing to change.
    let progress = run(&harness, acme, "csv", &later, updates).await.1;
    assert_eq!(of(&progress, Kind::FeatureRequests), Count { kept: 1, ..unchanged(2) });

    harness.delete(acme, exports, false).await;
    let progress = run(&harness, acme, "csv", &later, updates).await.1;
    assert_eq!(of(&progress, Kind::FeatureRequests), Count { kept: 1, ..unchanged(2) });
    assert_eq!(of(&progress, Kind::Votes), Count { skipped: 1, ..unchanged(3) });
    assert_eq!(of(&progress, Kind::Notes), Count { skipped: 1, ..new(0) });
    assert_eq!(harness.count("feature_requests", acme).await, 2);
}

/// Whoever votes in the source gets mail only if that is wanted and the person has not stopped it.
pub async fn votes_subscribe_as_wanted(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let mut files = Files { requests: vec![request("A", "Dark mode", harness.now())], ..files(harness.now()) };
    (files.merges, files.comments, files.notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut voters = vec![vote_of("A", "ann@a.example"), vote_of("A", "bob@b.example")];
    voters[0].is_subscribed = Some(true);
    let eve = Vote { person: files.customers[2].clone(), is_subscribed: Some(true), ..vote_of("A", "x@y.example") };
    voters.push(eve);
    files.votes = voters;
    for (name, subscribing, expected) in
        [("keep", Subscribing::Keep, 1), ("none", Subscribing::Nobody, 0), ("all", Subscribing::Everybody, 2)]
    {
        // Each installation has an Eve of its own, who has no mailbox.
        let how = How { subscribing, ..How::default() };
        assert_eq!(run(&harness, acme, name, &files, how).await.1.subscribed, expected, "{name}");
        assert_eq!(run(&harness, acme, name, &files, how).await.1.subscribed, 0, "{name}");
        let find = FindRequests { name: source(name), external_ids: vec!["A".to_owned()] };
        let id = harness.perform(acme, &find).await[0].unwrap();
        assert_eq!(harness.voters(acme, id).await.len(), 3, "{name}");
    }
}

/// One run at a time works in a workspace. It goes on where it has stopped, and a process that was silent for long has lost
/// it.
pub async fn a_run_holds_its_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let files = files(harness.now());
    let import = begin(&harness, acme, "csv", "one").await;
    assert_eq!(try_begin(&harness, acme, "csv", "two").await, Begun::Busy(import.id));
    let resume = |id, holder| ResumeImport { id, holder: Uuid::from_u128(holder) };
    assert_eq!(harness.failure(acme, &resume(import.id, 2)).await, "Import is already running.");
    assert!(matches!(try_begin(&harness, bolt, "csv", "two").await, Begun::Run(_)));
    let progress = load(&harness, acme, &import, &files, How::default()).await;

    // The process says nothing for a while.
    for _ in 0..16 {
        harness.next_second();
    }
    let listed = harness.perform(acme, &ListImports).await;
    assert_eq!(listed[0].visible_state(harness.now()), ImportState::Stopped);
    assert_eq!(listed[0].progress, progress);
    let Begun::Run(taken) = harness.perform(acme, &resume(import.id, 2)).await else { panic!() };
    assert_eq!((taken.id, taken.began_at, &taken.progress), (import.id, import.began_at, &progress));
    let place = PlaceStatuses {
        id: import.id,
        name: import.name.clone(),
        is_dry: false,
        statuses: Vec::new(),
        on_roadmap: Vec::new(),
        past: Vec::new(),
        chosen: Vec::new(),
    };
    let placed = harness.perform(acme, &place).await;
    let lost = RunContext {
        id: import.id,
        name: import.name.clone(),
        began_at: import.began_at,
        holder: import.holder,
        is_dry: false,
        updates: false,
        subscribing: Subscribing::Keep,
        makes_members: false,
        tracks: placed.tracks,
        past: placed.past,
        first_track: placed.first_track,
        references: references(),
    };
    let batch = Arc::new(Batch::Votes(files.votes.clone()));
    let late = LoadBatch { run: Arc::new(lost), progress: Progress::default(), batch };
    let taken_over = "Another process goes on with the import.";
    assert_eq!(harness.failure(acme, &late).await, taken_over);
    let late = EndImport {
        id: import.id,
        holder: import.holder,
        progress: Progress::default(),
        state: ImportState::Done,
        report: "{}".to_owned(),
    };
    assert_eq!(harness.failure(acme, &late).await, taken_over);
    end(&harness, acme, &taken, ImportState::Stopped, progress.clone()).await;

    // The same input goes on with the run that has stopped.
    let again = begin(&harness, acme, "csv", "one").await;
    assert_eq!((again.id, &again.progress), (import.id, &progress));
    end(&harness, acme, &again, ImportState::Done, progress).await;
    assert_eq!(harness.failure(acme, &resume(import.id, 3)).await, "Import has not stopped.");
    assert_eq!(harness.failure(acme, &resume(ImportId::new(Uuid::nil()), 3)).await, "Import does not exist.");
    let next = begin(&harness, acme, "csv", "one").await;
    assert_ne!(next.id, import.id);
    let states: Vec<_> = harness.perform(acme, &ListImports).await.iter().map(|import| import.state).collect();
    assert_eq!(states, [ImportState::Running, ImportState::Done]);
}

/// Undoing a run deletes what it has made, and nothing else.
pub async fn an_undone_run_leaves_nothing(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let own = harness.request(acme, "Own idea").await;
    harness.vote(acme, &own, "bob@b.example").await;
    let before = (harness.count_records(acme).await, harness.snapshots(acme, &[own.id]).await);
    let files = files(harness.now());
    let (id, progress) = run(&harness, acme, "csv", &files, How::default()).await;
    assert_eq!(progress.counts.of(Kind::Customers), Count { new: 2, ..unchanged(1) });
    let posts = MadePosts { votes: 3, subscriptions: 0, comments: 2, notes: 1 };
    assert_eq!(undo(&harness, acme, id).await, (3, posts, Vec::new(), 2, 1));
    let after = (harness.count_records(acme).await, harness.snapshots(acme, &[own.id]).await);
    let without_audit = |(counts, snapshots): &(Vec<(&'static str, u64)>, Vec<_>)| {
        let kept = |(table, _): &&(&'static str, u64)| !table.starts_with("audit") && !table.starts_with("import");
        (counts.iter().filter(kept).copied().collect::<Vec<_>>(), snapshots.clone())
    };
    assert_eq!(without_audit(&after), without_audit(&before));
    assert_eq!(harness.lanes(acme).await.len(), 4);
    let not_undoable = "Import cannot be undone: it is undone, older than 30 days, or has restored an export.";
    assert_eq!(harness.failure(acme, &BeginUndo { id, holder: HOLDER }).await, not_undoable);
    // Imported again, everything is new.
    let (id, again) = run(&harness, acme, "csv", &files, How::default()).await;
    assert_eq!(counts(&again), counts(&progress));
    harness.after_days(31);
    assert_eq!(harness.failure(acme, &BeginUndo { id, holder: HOLDER }).await, not_undoable);
}

/// A feature request to which anything else has happened stays whole, with what is merged into it.
pub async fn what_has_changed_since_stays(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let at = harness.now();
    harness.after_days(1);
    harness.member(acme, "max@acme.example", "Max").await;
    let own = harness.request(acme, "Own idea").await;
    let ids = [
        "vote",
        "follow",
        "comment",
        "edited comment",
        "held",
        "note",
        "move",
        "edit",
        "merge",
        "link",
        "issue",
        "no answer",
        "untouched",
        "child",
    ];
    let base = files(at);
    let request_of = |id: &&str| request(id, id, at);
    let files = Files {
        requests: ids.iter().map(request_of).collect(),
        merges: vec![("child", "vote")],
        votes: ids.iter().map(|id| vote_of(id, "ann@a.example")).collect(),
        comments: ids.iter().map(|id| comment_of(id, id, Some(person("bob@b.example", None)), false)).collect(),
        notes: Vec::new(),
        ..base
    };
    let (run_id, progress) = run(&harness, acme, "csv", &files, How::default()).await;
    assert_eq!(progress.counts.of(Kind::FeatureRequests), new(14));
    let id = async |id: &str| {
        let find = FindRequests { name: source("csv"), external_ids: vec![id.to_owned()] };
        harness.perform(acme, &find).await[0].unwrap()
    };
    let reference = async |name: &str| FeatureRequestRef::Id(id(name).await);
    harness.perform(acme, &vote(reference("vote").await, Some(("new@n.example", None)), None)).await;
    harness.subscribe(acme, id("follow").await, "new@n.example").await;
    harness.perform(acme, &comment(reference("comment").await, "We think so", false)).await;
    let edited = harness.comments(acme, id("edited comment").await).await[0].comment.id;
    harness.perform(acme, &edit_comment(edited, "Changed")).await;
    harness.hold(acme, id("held").await, "Waits", "new@n.example").await;
    harness.perform(acme, &vote(reference("note").await, None, Some("A note"))).await;
    harness.move_to(acme, id("move").await, "Planned").await;
    harness.edit(acme, id("edit").await, new_title("Edited")).await;
    harness.merge(acme, own.id, id("merge").await).await;
    let link = ChangelogFields {
        feature_request_ids: Some(Some(vec![id("link").await.to_string()])),
        ..changelog_fields("New", "<p>It is here</p>")
    };
    let draft = ChangelogDraft::parse(&link, false, |_| None).unwrap();
    harness.perform(acme, &CreateChangelog { draft }).await;
    harness.perform(acme, &add_link(reference("issue").await, "https://github.com/acme/app/issues/7")).await;
    harness.perform(acme, &NeedNoAnswer { request: reference("no answer").await }).await;

    let (deleted, _, kept, ..) = undo(&harness, acme, run_id).await;
    assert_eq!(
        kept,
        [
            "Edited",
            "child",
            "comment",
            "edited comment",
            "follow",
            "held",
            "issue",
            "link",
            "merge",
            "move",
            "no answer",
            "note",
            "vote"
        ]
    );
    assert_eq!(deleted, 1);
    // It is whole.
    assert_eq!(harness.detail(acme, id("vote").await).await.summary.votes_count, 2);
    let bodies: Vec<_> = harness
        .comments(acme, id("vote").await)
        .await
        .iter()
        .map(|comment| comment.comment.content.to_text())
        .collect();
    assert_eq!(bodies, ["About child", "Words of vote", "Words of child"]);
    // And is known if the source is imported again.
    let again = run(&harness, acme, "csv", &files, How::default()).await.1;
    assert_eq!(again.counts.of(Kind::FeatureRequests), Count { new: 1, ..unchanged(13) });
}

/// Moves and changelogs with their own times, and subscriptions, come with a run, and go with it.
pub async fn a_run_brings_its_history(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let at = harness.now();
    let [planned_at, shipped_at] = [harness.next_second(), harness.next_second()];
    harness.after_days(30);
    let before = harness.count_records(acme).await;
    let moved = |id: &str, status: &str, at, author| Move {
        external_id: id.to_owned(),
        request: "A".to_owned(),
        status: status.to_owned(),
        author,
        at,
        origin: ORIGIN,
    };
    let changelog = |id: &str, published_at| Changelog {
        external_id: id.to_owned(),
        title: format!("News {id}"),
        body: "It is **here**".to_owned(),
        category: Some("New".to_owned()),
        published_at,
        requests: vec!["A".to_owned(), "missing".to_owned(), "A".to_owned()],
        origin: ORIGIN,
    };
    let subscription = |request: &str, address: &str| Subscription {
        request: request.to_owned(),
        person: person(address, None),
        created_at: None,
        origin: ORIGIN,
    };
    let shipped = FeatureRequest { status: Some("Out in beta".to_owned()), ..request("A", "Dark mode", at) };
    let sam = person("sam@tool.example", Some("Sam"));
    let files = Files {
        requests: vec![shipped, request("B", "Exports", at)],
        moves: vec![
            (None, moved("1", "planned", planned_at, Some(person("arya@tool.example", None)))),
            (Some("planned"), moved("2", "Out in beta", shipped_at, Some(sam))),
        ],
        changelogs: vec![changelog("1", Some(shipped_at)), changelog("2", None)],
        subscriptions: vec![
            subscription("B", "bob@b.example"),
            subscription("A", "bob@b.example"),
            subscription("B", "nobody@csv.invalid"),
        ],
        customers: vec![
            person("ann@a.example", Some("Ann")),
            person("bob@b.example", None),
            person("nobody@csv.invalid", None),
        ],
        merges: Vec::new(),
        votes: vec![vote_of("A", "bob@b.example")],
        on_roadmap: vec!["out_in_beta".to_owned()],
        ..files(at)
    };
    let (id, progress) = run(&harness, acme, "csv", &files, How::default()).await;
    let of = |progress: &Progress| {
        let kinds = [Kind::Tracks, Kind::Lanes, Kind::Subscriptions, Kind::Moves, Kind::Changelogs];
        kinds.map(|kind| progress.counts.of(kind))
    };
    let subscriptions = Count { new: 1, unchanged: 1, skipped: 1, ..Count::default() };
    assert_eq!(of(&progress), [new(1), new(1), subscriptions, new(2), new(2)]);
    assert_eq!(harness.perform(acme, &CheckImport { id, progress }).await, []);

    let dark = numbered(&harness, acme, "A").await;
    assert_eq!(dark.placement.status.as_ref().map(ToString::to_string).as_deref(), Some("Out in beta"));
    let events = harness.events(acme, dark.id, Some("moved")).await;
    let shown: Vec<_> = events
        .iter()
        .map(|event| {
            let EventContent::Moved(moved) = &event.content else { panic!() };
            let tracks = (moved.from.track.to_string(), moved.to.track.to_string());
            (tracks.0, tracks.1, event.actor.kind, event.actor.name.clone(), event.created_at)
        })
        .collect();
    let line = |from: &str, to: &str, kind, name: &str, at| (from.to_owned(), to.to_owned(), kind, name.to_owned(), at);
    let mut expected = vec![
        line("Inbox", "Planned", ActorKind::Member, "arya", planned_at),
        line("Planned", "Out in beta", ActorKind::Operator, "Sam", shipped_at),
    ];
    expected.reverse();
    assert_eq!(shown, expected);
    let rows = harness.subject.reader.portal_rows(acme, &[dark.id]).await.unwrap();
    assert_eq!(rows[0].status_since, shipped_at);
    let listed = harness.subject.reader.changelogs(acme, largest_page()).await.unwrap().items;
    let mut shown: Vec<_> = listed.iter().map(|one| (one.title.as_str(), one.public_from, one.category)).collect();
    shown.sort_unstable_by_key(|(title, ..)| *title);
    let category = Some(ChangelogCategory::New);
    assert_eq!(shown, [("News 1", Some(shipped_at), category), ("News 2", None, category)]);
    let news = listed.iter().find(|one| one.public_from.is_some()).unwrap().id;
    let detail = harness.subject.reader.changelog(acme, news).await.unwrap().unwrap();
    assert_eq!(detail.feature_requests.iter().map(|request| request.id).collect::<Vec<_>>(), [dark.id]);
    assert!(harness.subject.reader.changelog_mail(acme, news, harness.now()).await.unwrap().is_sent);
    assert_eq!(harness.count("outbox", acme).await, 0);

    let again = run(&harness, acme, "csv", &files, How::default()).await.1;
    let subscriptions = Count { unchanged: 2, skipped: 1, ..Count::default() };
    assert_eq!(of(&again), [new(0), new(0), subscriptions, unchanged(2), unchanged(2)]);
    // Later moves of what is here already are those of the source, not of the feature request here.
    let mut later = files.clone();
    later.moves.push((Some("Out in beta"), moved("3", "planned", harness.now(), None)));
    later.changelogs[0].body = "It is there".to_owned();
    let how = How { updates: true, ..How::default() };
    let later = run(&harness, acme, "csv", &later, how).await.1;
    assert_eq!(later.counts.of(Kind::Moves), Count { kept: 1, ..unchanged(2) });
    assert_eq!(later.counts.of(Kind::Changelogs), Count { changed: 1, ..unchanged(1) });
    let detail = harness.subject.reader.changelog(acme, news).await.unwrap().unwrap();
    assert_eq!(detail.changelog.content.to_text().trim(), "It is there");
    let how = How { subscribing: Subscribing::Nobody, ..How::default() };
    assert_eq!(run(&harness, acme, "csv", &files, how).await.1.counts.of(Kind::Subscriptions).skipped, 3);

    // An edited changelog stays, with what it links to.
    let change =
        ChangelogChange { title: Some(Title::parse("title", "Edited").unwrap()), ..ChangelogChange::default() };
    let edited = listed.iter().find(|one| one.public_from.is_none()).unwrap().id;
    harness.perform(acme, &EditChangelog { changelog: edited, change }).await;
    let (deleted, _, kept, ..) = undo(&harness, acme, id).await;
    assert_eq!((deleted, kept), (1, vec!["Dark mode".to_owned(), "Edited".to_owned()]));

    let bolt = harness.workspace("bolt").await;
    let untouched = harness.count_records(bolt).await;
    let (id, _) = run(&harness, bolt, "csv", &files, How::default()).await;
    assert_eq!(undo(&harness, bolt, id).await.0, 2);
    let of_imports = |(table, _): &&(&str, u64)| !table.starts_with("audit") && !table.starts_with("import");
    let left = harness.count_records(bolt).await;
    assert_eq!(
        left.iter().filter(of_imports).collect::<Vec<_>>(),
        untouched.iter().filter(of_imports).collect::<Vec<_>>()
    );
    assert_eq!((harness.lanes(bolt).await.len(), before.len()), (4, left.len()));
}

/// What a run adds to feature requests of an earlier one is deleted without them.
pub async fn posts_on_others_are_undone_alone(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let at = harness.now();
    let first = files(at);
    let (first_id, _) = run(&harness, acme, "csv", &first, How::default()).await;
    let dark = numbered(&harness, acme, "A").await.id;
    let before = harness.snapshots(acme, &[dark]).await;
    let mut later = first.clone();
    later.customers.push(person("new@n.example", None));
    later.votes.push(vote_of("C", "new@n.example"));
    later.votes.push(vote_of("B", "bob@b.example"));
    later.comments.push(comment_of("9", "A", Some(person("new@n.example", None)), false));
    later.notes.push(Note { external_id: "8".to_owned(), ..first.notes[0].clone() });
    let (later_id, progress) = run(&harness, acme, "csv", &later, How::default()).await;
    assert_eq!(progress.counts.of(Kind::Votes), Count { new: 2, ..unchanged(3) });
    assert_eq!(harness.detail(acme, dark).await.summary.votes_count, 3);
    let posts = MadePosts { votes: 2, subscriptions: 0, comments: 1, notes: 1 };
    assert_eq!(undo(&harness, acme, later_id).await, (0, posts, Vec::new(), 1, 0));
    assert_eq!(harness.snapshots(acme, &[dark]).await, before);
    assert_eq!(undo(&harness, acme, first_id).await.0, 3);
    assert_eq!(harness.count("feature_requests", acme).await, 0);
}

crate::contract::cases!($ import_runs {
    a_run_adds_what_is_new,
    a_later_run_changes_only_what_it_may,
    votes_subscribe_as_wanted,
    a_run_holds_its_workspace,
    an_undone_run_leaves_nothing,
    what_has_changed_since_stays,
    posts_on_others_are_undone_alone,
    a_run_brings_its_history,
});
