//! Lanes and tracks, the lists of tracks, and the roadmap.

use roadmap_domain::error::{RoadmapError, StoreError};
use roadmap_domain::model::audit::Actor;
use roadmap_domain::model::board::{LaneChange, ListedLane, PortalLane, TrackChange};
use roadmap_domain::model::event::{EventContent, Move};
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, Sort};
use roadmap_domain::model::id::{LaneId, TrackId, WorkspaceId};
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::portal::Language;
use roadmap_domain::model::track::{Lane, LaneKind, Placement, Track};
use roadmap_domain::usecase::change_board::{
    AddLane, AddTrack, ChangeLane, ChangeTrack, LaneDraft, LaneRef, RemoveLane, RemoveTrack, TrackDraft,
};
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::executor::{Executor, Operation};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::harness::{
    Failing, Harness, customer_comment, draft, edit, largest_page, move_to, name, new_visibility, page,
};

fn add_lane(text: &str, position: Option<u64>) -> AddLane {
    AddLane { draft: LaneDraft { name: name(text), kind: None, names: Localized::default(), position } }
}

fn add_track(text: &str, lane: Option<LaneId>, position: Option<u64>) -> AddTrack {
    AddTrack { draft: TrackDraft { name: name(text), lane: lane.map(LaneRef::Id), position } }
}

fn remove_track(track: TrackId, move_to: Option<TrackId>) -> RemoveTrack {
    RemoveTrack { track, move_to }
}

/// The lane with this name.
async fn lane(harness: &Harness, workspace: WorkspaceId, name: &str) -> Lane {
    let lanes = harness.lanes(workspace).await;
    lanes.into_iter().find(|listed| listed.lane.name.as_str() == name).expect("the lane").lane
}

/// The names of the lanes. Their positions count from 1.
async fn lane_names(harness: &Harness, workspace: WorkspaceId) -> Vec<String> {
    let lanes = harness.lanes(workspace).await;
    assert_eq!(
        lanes.iter().map(|lane| lane.position).collect::<Vec<_>>(),
        (1..=lanes.len() as u64).collect::<Vec<_>>()
    );
    lanes.into_iter().map(|lane| lane.lane.name.to_string()).collect()
}

/// The names of the tracks, each with its status.
async fn track_names(harness: &Harness, workspace: WorkspaceId) -> Vec<String> {
    let tracks = harness.subject.reader.tracks(workspace).await.unwrap();
    let status = |track: &Track| track.status().map_or(String::new(), |status| format!(" ({status})"));
    tracks.iter().map(|track| format!("{}{}", track.name, status(track))).collect()
}

/// Lanes are added, renamed, moved and removed; the others keep their order. The tracks of a removed lane have none.
///
/// Decision 3: lanes and tracks are the workspace's data.
/// Addition 4.
pub async fn lanes_are_added_renamed_moved_and_removed(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let untouched = (harness.lanes(other).await, harness.subject.reader.tracks(other).await.unwrap());
    let added = harness.perform(workspace, &add_lane("Later", Some(2))).await;
    assert_eq!((added.lane.name.as_str(), added.position, added.feature_requests_count), ("Later", 2, 0));
    harness.perform(workspace, &add_lane("Never", None)).await;
    let lanes = ["Under consideration", "Later", "Planned", "In progress", "Done", "Never"];
    assert_eq!(lane_names(&harness, workspace).await, lanes);
    let planned = lane(&harness, workspace, "Planned").await;
    let request = harness.request(workspace, "Quokka").await;
    harness.move_to(workspace, request.id, "Planned").await;

    let names = Localized::default().with(Language::German, "Geplant \"bald\"");
    let change = LaneChange {
        name: Some(name("PLANNED")),
        kind: Some(LaneKind::Declined),
        names: Some(names.clone()),
        position: Some(9),
    };
    let changed = harness.perform(workspace, &ChangeLane { lane: planned.id, change }).await.record;
    let renamed = Lane { name: name("PLANNED"), kind: LaneKind::Declined, names: names.clone(), ..planned.clone() };
    let named = |lane: &Lane| (lane.id == planned.id).then(|| lane.names.clone());
    let reader = &harness.subject.reader;
    assert_eq!(harness.lanes(workspace).await.iter().find_map(|listed| named(&listed.lane)), Some(names.clone()));
    let tracks = reader.tracks(workspace).await.unwrap();
    assert_eq!(tracks.iter().filter_map(|track| track.lane.as_ref()).find_map(named), Some(names.clone()));
    let counts = reader.inbox_counts(workspace).await.unwrap();
    assert_eq!(counts.tracks.iter().filter_map(|one| one.track.lane.as_ref()).find_map(named), Some(names));
    assert_eq!(changed, ListedLane { lane: renamed, position: 6, feature_requests_count: 1 });
    let lanes = ["Under consideration", "Later", "In progress", "Done", "Never", "PLANNED"];
    assert_eq!(lane_names(&harness, workspace).await, lanes);
    assert_eq!(track_names(&harness, workspace).await[2], "Planned (PLANNED)");
    let detail = harness.detail(workspace, request.id).await;
    assert_eq!(detail.summary.placement, Placement { track: name("Planned"), status: Some(name("PLANNED")) });

    for taken in ["later", "Planned", "PLANNED"] {
        let message = format!("lane `{taken}` is already taken");
        assert_eq!(harness.failure(workspace, &add_lane(taken, None)).await, message);
    }
    harness.failure(workspace, &Failing(RemoveLane { lane: planned.id })).await;
    assert_eq!(lane_names(&harness, workspace).await, lanes);
    harness.perform(workspace, &RemoveLane { lane: planned.id }).await;
    assert_eq!(lane_names(&harness, workspace).await, lanes[..5]);
    assert_eq!(track_names(&harness, workspace).await[2], "Planned");
    let detail = harness.detail(workspace, request.id).await;
    assert_eq!(detail.summary.placement, Placement { track: name("Planned"), status: None });
    let roadmap = harness.subject.reader.roadmap(workspace, 50).await.unwrap();
    assert!(roadmap.iter().all(|lane| lane.feature_requests.is_empty()), "{roadmap:?}");
    for unknown in [planned.id, untouched.0[0].lane.id] {
        let remove = RemoveLane { lane: unknown };
        assert_eq!(harness.failure(workspace, &remove).await, "Lane does not exist.");
    }
    // A removed name is free again.
    harness.perform(workspace, &add_lane("Planned", Some(1))).await;
    assert_eq!(lane_names(&harness, workspace).await[0], "Planned");
    assert_eq!((harness.lanes(other).await, harness.subject.reader.tracks(other).await.unwrap()), untouched);
}

/// Tracks are added, renamed, moved, given to other lanes and removed; the others keep their order.
///
/// Contract 2.3: a track's `status` is its lane's name.
/// Contract 3: a track maps to a lane by its own status.
/// Addition 4.
pub async fn tracks_are_added_changed_and_removed(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let done = lane(&harness, workspace, "Done").await;
    let added = harness.perform(workspace, &add_track("Ideas", Some(done.id), Some(1))).await;
    assert_eq!(added, Track { id: added.id, name: name("Ideas"), lane: Some(done.clone()) });
    let tracks = ["Ideas (Done)", "Inbox", "Under consideration (Under consideration)", "Planned (Planned)"];
    assert_eq!(track_names(&harness, workspace).await[..4], tracks);
    // The first track is the default of new feature requests.
    assert_eq!(harness.request(workspace, "Quokka").await.placement.track.as_str(), "Ideas");

    let change = TrackChange { name: Some(name("Archive")), lane: Some(None), position: Some(7) };
    let changed = harness.perform(workspace, &ChangeTrack { track: added.id, change }).await;
    assert_eq!(changed.record, Track { id: added.id, name: name("Archive"), lane: None });
    assert_eq!(changed.changes.len(), 3);
    let tracks = ["Inbox", "Under consideration (Under consideration)", "Planned (Planned)"];
    let listed = track_names(&harness, workspace).await;
    assert_eq!((&listed[..3], listed[6].as_str()), (&tracks.map(str::to_owned)[..], "Archive"));
    let change = TrackChange { lane: Some(Some(done.id)), ..TrackChange::default() };
    harness.perform(workspace, &ChangeTrack { track: added.id, change }).await;
    assert_eq!(track_names(&harness, workspace).await[6], "Archive (Done)");
    assert_eq!(harness.find_on(workspace, "Archive").await, [1]);

    assert_eq!(harness.failure(workspace, &add_track("ARCHIVE", None, None)).await, "track `ARCHIVE` is already taken");
    let unknown = LaneId::new(Uuid::from_u128(1));
    assert_eq!(harness.failure(workspace, &add_track("Other", Some(unknown), None)).await, "Lane does not exist.");
    let planned = harness.track(workspace, "Planned").await;
    harness.perform(workspace, &remove_track(planned, None)).await;
    assert_eq!(harness.failure(workspace, &remove_track(planned, None)).await, "Track does not exist.");
    assert_eq!(track_names(&harness, workspace).await.len(), 6);
    let page = largest_page();
    let reader = &harness.subject.reader;
    assert_eq!(reader.track_requests(workspace, planned, Sort::Votes, page).await.unwrap(), None);
}

/// The feature requests of a removed track go to another one, merged ones, too, each with an event. The last track
/// stays.
///
/// Addition 4.
pub async fn a_removed_track_moves_its_requests(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [first, second, merged, other] = harness.requests(workspace, ["Quokka", "Fern", "Lichen", "Gecko"]).await;
    for request in [&first, &second, &merged] {
        harness.move_to(workspace, request.id, "Planned").await;
    }
    harness.merge(workspace, merged.id, first.id).await;
    let [planned, done] = [harness.track(workspace, "Planned").await, harness.track(workspace, "Done").await];
    let message = "param is missing or the value is empty or invalid: move_to";
    assert_eq!(harness.failure(workspace, &remove_track(planned, None)).await, message);
    assert_eq!(harness.failure(workspace, &remove_track(planned, Some(planned))).await, "Track does not exist.");
    harness.failure(workspace, &Failing(remove_track(planned, Some(done)))).await;
    assert_eq!(harness.find_on(workspace, "Planned").await, [2, 1]);
    let at = harness.next_second();
    let removed = harness.perform(workspace, &remove_track(planned, Some(done))).await;
    assert_eq!((removed.id, removed.name.as_str()), (planned, "Planned"));
    assert_eq!(harness.find_on(workspace, "Done").await, [2, 1]);
    let placement = |track: &str| Placement { track: name(track), status: Some(name(track)) };
    let content = EventContent::Moved(Move { from: placement("Planned"), to: placement("Done"), comment: None });
    for request in [&first, &second] {
        let detail = harness.detail(workspace, request.id).await;
        assert_eq!((detail.summary.placement, detail.updated_at), (placement("Done"), at));
        let event = harness.events(workspace, request.id, Some(Move::KIND)).await.remove(0);
        assert_eq!((event.content, event.actor, event.created_at), (content.clone(), Actor::service(), at));
    }
    harness.unmerge(workspace, merged.id).await;
    assert_eq!(harness.find_on(workspace, "Done").await, [3, 2, 1]);
    let events = harness.events(workspace, merged.id, Some(Move::KIND)).await;
    assert_eq!((events.len(), &events[0].content), (2, &content));
    assert_eq!(harness.events(workspace, other.id, None).await, []);

    let inbox = harness.track(workspace, "Inbox").await;
    for track in ["Under consideration", "In progress", "Done", "Declined"] {
        let track = harness.track(workspace, track).await;
        harness.perform(workspace, &remove_track(track, Some(inbox))).await;
    }
    assert_eq!(harness.find_on(workspace, "Inbox").await, [4, 3, 2, 1]);
    assert_eq!(harness.failure(workspace, &remove_track(inbox, None)).await, "The last track cannot be deleted.");
}

/// Compares the counts of the lanes and the lists of the tracks with a recount of single feature requests.
async fn recount(harness: &Harness, workspace: WorkspaceId, step: &str) {
    let reader = &harness.subject.reader;
    let mut roots: Vec<(FeatureRequestSummary, bool)> = Vec::new();
    for number in 1..=6 {
        let detail = reader.feature_request(workspace, &FeatureRequestRef::Number(number)).await.unwrap();
        roots.extend(detail.filter(|detail| detail.summary.tag_number == number).map(|one| (one.summary, one.private)));
    }
    roots.sort_by_key(|(root, _)| (-root.votes_count, -root.tag_number));
    let expected = |lane: &ListedLane| {
        let on_lane = |root: &FeatureRequestSummary| root.placement.status.as_ref() == Some(&lane.lane.name);
        let public = roots.iter().filter(|(root, private)| !private && on_lane(root));
        public.map(|(root, _)| root.clone()).collect::<Vec<_>>()
    };
    let roadmap = reader.roadmap(workspace, 50).await.unwrap();
    assert_eq!(roadmap.iter().map(|lane| lane.lane.clone()).collect::<Vec<_>>(), harness.lanes(workspace).await);
    for lane in &roadmap {
        assert_eq!(lane.feature_requests, expected(&lane.lane), "{step}");
        assert_eq!(lane.lane.feature_requests_count, i64::try_from(lane.feature_requests.len()).unwrap(), "{step}");
    }
    for size in [1, 2] {
        let short = reader.roadmap(workspace, size).await.unwrap();
        for (short, whole) in short.iter().zip(&roadmap) {
            let first = whole.feature_requests.iter().take(size as usize);
            assert_eq!(short.feature_requests, first.cloned().collect::<Vec<_>>(), "{step}");
            assert_eq!(short.lane, whole.lane, "{step}");
        }
    }
    for track in reader.tracks(workspace).await.unwrap() {
        let expected = roots.iter().filter(|(root, _)| root.placement.track == track.name);
        let expected: Vec<FeatureRequestSummary> = expected.map(|(root, _)| root.clone()).collect();
        let listing = reader.track_requests(workspace, track.id, Sort::Votes, largest_page()).await.unwrap().unwrap();
        assert_eq!((listing.total, listing.items), (expected.len() as u64, expected), "{step}: {}", track.name);
    }
}

/// The counts of lanes and tracks equal a recount after moves, votes, changes of the visibility, merges and deletions.
///
/// Addition 4: the roadmap follows every change.
pub async fn counts_equal_a_recount(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let planned = harness.track(workspace, "Planned").await;
    let titles = ["Quokka", "Fern", "Lichen", "Gecko", "Zebra", "Burrow"];
    let mut ids = Vec::new();
    for (number, title) in titles.into_iter().enumerate() {
        let track = (number % 2 == 0).then_some(planned);
        let private = number == 4;
        ids.push(harness.create(workspace, FeatureRequestDraft { track, private, ..draft(title, &[], "") }).await);
        recount(&harness, workspace, title).await;
    }
    let [quokka, fern, lichen, gecko, zebra, burrow] = [0, 1, 2, 3, 4, 5].map(|index: usize| ids[index].clone());
    for (step, request) in [
        ("vote", &lichen),
        ("vote", &fern),
        ("vote again", &fern),
        ("move", &fern),
        ("move", &gecko),
        ("move", &zebra),
        ("hide", &lichen),
        ("show", &zebra),
        ("merge", &quokka),
        ("hide", &gecko),
        ("show", &lichen),
        ("unmerge", &quokka),
        ("merge", &quokka),
        ("merge", &lichen),
        ("hide", &fern),
        ("show", &fern),
        ("delete", &quokka),
        ("withdraw", &fern),
        ("move tree", &fern),
        ("unmerge", &lichen),
        ("delete", &gecko),
        ("roll back", &burrow),
        ("move", &burrow),
    ] {
        let reference = FeatureRequestRef::Id(request.id);
        match step {
            "vote" => drop(harness.vote(workspace, request, "ann@example.com").await),
            "vote again" => drop(harness.vote(workspace, request, "bob@example.com").await),
            "move" => drop(harness.move_to(workspace, request.id, "Done").await),
            "move tree" => drop(harness.move_to(workspace, request.id, "In progress").await),
            "hide" | "show" => drop(harness.edit(workspace, request.id, new_visibility(step == "hide")).await),
            "merge" => drop(harness.merge(workspace, request.id, fern.id).await),
            "unmerge" => drop(harness.unmerge(workspace, request.id).await),
            "delete" => drop(harness.delete(workspace, request.id, true).await),
            "withdraw" => drop(harness.withdraw(workspace, request.id, "bob@example.com").await),
            _ => {
                harness.failure(workspace, &Failing(move_to(reference, planned))).await;
                harness.failure(workspace, &Failing(edit(reference, new_visibility(true)))).await;
            }
        }
        recount(&harness, workspace, &format!("{step} {}", request.title)).await;
    }
    let done = harness.track(workspace, "Done").await;
    harness.perform(workspace, &remove_track(done, Some(planned))).await;
    recount(&harness, workspace, "the track is removed").await;
    let planned_lane = lane(&harness, workspace, "Planned").await;
    let change = TrackChange { lane: Some(Some(planned_lane.id)), ..TrackChange::default() };
    let inbox = harness.track(workspace, "Inbox").await;
    harness.perform(workspace, &ChangeTrack { track: inbox, change }).await;
    recount(&harness, workspace, "two tracks in one lane").await;
}

/// The feature requests of a track are sorted by votes, by age or by their last update, with the newest first among
/// equals. Pages have no repeats and no gaps.
///
/// Addition 4.
pub async fn requests_of_a_track_are_sorted(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let mut requests = Vec::new();
    for number in 0..7 {
        let private = number % 3 == 0;
        requests.push(harness.create(workspace, FeatureRequestDraft { private, ..draft("Same", &[], "") }).await);
        // Some have equal timestamps.
        if number > 3 {
            harness.next_second();
        }
    }
    for (index, votes) in [(1, 2), (5, 2), (2, 3), (6, 1)] {
        for voter in 0..votes {
            harness.vote(workspace, &requests[index], &format!("v{voter}@example.com")).await;
        }
    }
    let elsewhere = harness.request(workspace, "Elsewhere").await;
    harness.move_to(workspace, elsewhere.id, "Done").await;
    for (index, private) in [(4, true), (0, false), (2, true)] {
        // The last two have equal timestamps.
        if index != 2 {
            harness.next_second();
        }
        harness.edit(workspace, requests[index].id, new_visibility(private)).await;
    }
    let inbox = harness.track(workspace, "Inbox").await;
    for (sort, expected) in [
        (Sort::Votes, [3, 6, 2, 7, 5, 4, 1]),
        (Sort::Newest, [7, 6, 5, 4, 3, 2, 1]),
        (Sort::Updated, [3, 1, 5, 7, 6, 4, 2]),
    ] {
        let mut listed = Vec::new();
        for number in 1..=5 {
            let page = page(number, 2);
            let listing = harness.subject.reader.track_requests(workspace, inbox, sort, page).await.unwrap().unwrap();
            assert_eq!((listing.total, listing.request), (7, page));
            listed.extend(listing.items);
        }
        let numbers: Vec<i64> = listed.iter().map(|request| request.tag_number).collect();
        assert_eq!(numbers, expected, "{sort:?}");
        for listed in listed {
            assert_eq!(harness.detail(workspace, listed.id).await.summary, listed);
        }
    }
    let unknown = TrackId::new(Uuid::from_u128(1));
    let reader = &harness.subject.reader;
    assert_eq!(reader.track_requests(workspace, unknown, Sort::Newest, largest_page()).await.unwrap(), None);
}

/// The portal's roadmap has the most voted feature requests of each lane; a lane of certain kinds has those that came to it
/// last, whatever track they are on. Private and merged ones are left out, and comments on merged ones count.
pub async fn the_portal_shows_the_first_of_each_lane(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let reader = &harness.subject.reader;
    let done = lane(&harness, workspace, "Done").await;
    harness.perform(workspace, &add_track("Released", Some(done.id), None)).await;
    let mut requests = Vec::new();
    let (none, one, three): (&[&str], &[&str], &[&str]) = (&[], &["a"], &["b", "a", "c"]);
    for (title, tags, description) in [
        ("Quokka", none, ""),
        ("Fern", three, "<p>Green</p>"),
        ("Lichen", one, ""),
        ("Gecko", none, ""),
        ("Zebra", none, ""),
        ("Burrow", none, ""),
        ("Numbat", one, "<p>Teeth</p>"),
        ("Hidden", none, ""),
    ] {
        requests.push(harness.create(workspace, draft(title, tags, description)).await);
    }
    let [quokka, fern, lichen, gecko, zebra, burrow, numbat, hidden] =
        <[FeatureRequestSummary; 8]>::try_from(requests).expect("as many as titles");
    for (request, track) in
        [(&zebra, "Done"), (&quokka, "Released"), (&lichen, "Planned"), (&gecko, "Planned"), (&fern, "Done")]
    {
        harness.next_second();
        harness.move_to(workspace, request.id, track).await;
    }
    // At the same time as the one before.
    for request in [&burrow, &numbat, &hidden] {
        harness.move_to(workspace, request.id, "Released").await;
    }
    let at = harness.now();
    harness.next_second();
    harness.edit(workspace, hidden.id, new_visibility(true)).await;
    for (request, address) in [(&zebra, "ann@example.com"), (&zebra, "bob@example.com"), (&lichen, "ann@example.com")] {
        harness.vote(workspace, request, address).await;
    }
    for request in [&fern, &fern, &numbat, &gecko] {
        let request = FeatureRequestRef::Id(request.id);
        harness.perform(workspace, &customer_comment(request, "Works", "ann@example.com", None)).await;
    }
    harness.merge(workspace, numbat.id, fern.id).await;

    let roadmap = async |per_lane, latest_first: &[LaneKind]| {
        reader.portal_roadmap(workspace, per_lane, latest_first).await.unwrap()
    };
    let numbers = |lanes: &[PortalLane]| -> Vec<Vec<i64>> {
        let numbers = |lane: &PortalLane| lane.cards.iter().map(|card| card.summary.tag_number).collect();
        lanes.iter().map(numbers).collect()
    };
    let lanes = roadmap(50, &[LaneKind::Done]).await;
    assert_eq!(numbers(&lanes), [vec![], vec![3, 4], vec![], vec![6, 2, 1, 5]]);
    assert_eq!(lanes.iter().map(|lane| lane.lane.clone()).collect::<Vec<_>>(), harness.lanes(workspace).await);
    for card in lanes.iter().flat_map(|lane| &lane.cards) {
        let detail = harness.detail(workspace, card.summary.id).await;
        assert_eq!((&card.summary, card.comments_count), (&detail.summary, detail.comments_count));
        assert_eq!(card.tags, detail.tags.into_iter().take(2).collect::<Vec<_>>());
        let last_move = harness.events(workspace, card.summary.id, Some(Move::KIND)).await.remove(0);
        assert_eq!(card.status_since, last_move.created_at);
    }
    let shown = &lanes[3].cards[1];
    let tags: Vec<&str> = shown.tags.iter().map(|tag| tag.as_str()).collect();
    assert_eq!((shown.comments_count, shown.status_since, tags.as_slice()), (4, at, &["b", "a"][..]));

    assert_eq!(numbers(&roadmap(1, &[LaneKind::Done]).await), [vec![], vec![3], vec![], vec![6]]);
    assert_eq!(numbers(&roadmap(3, &[]).await), [vec![], vec![3, 4], vec![], vec![5, 6, 2]]);
    let kinds = [LaneKind::Done, LaneKind::Planned];
    assert_eq!(numbers(&roadmap(3, &kinds).await), [vec![], vec![4, 3], vec![], vec![6, 2, 1]]);
    // Another track of the same lane is the same status.
    harness.move_to(workspace, quokka.id, "Done").await;
    assert_eq!(numbers(&roadmap(50, &kinds).await)[3], [6, 2, 1, 5]);
    harness.move_to(workspace, quokka.id, "Planned").await;
    assert_eq!(numbers(&roadmap(50, &kinds).await)[1], [1, 4, 3]);
    let of_other = reader.portal_roadmap(other, 50, &kinds).await.unwrap();
    assert_eq!(numbers(&of_other), vec![Vec::<i64>::new(); 4]);
}

/// Concurrent changes of the board wait for each other: none is lost, and a name is given once.
///
/// Addition 4: concurrent changes of lanes and tracks are all kept.
pub async fn concurrent_changes_of_the_board_are_all_kept(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let mut changes = JoinSet::new();
    for number in 0..12 {
        let executor = harness.executor.clone();
        changes.spawn(async move {
            let lane = add_lane(&format!("Lane {}", number % 8), Some(1));
            let lane = executor.run_without_key(workspace, &lane).await.map(|_| ());
            let track = add_track(&format!("Track {}", number % 8), None, Some(1));
            let track = executor.run_without_key(workspace, &track).await.map(|_| ());
            [lane, track].map(|outcome| outcome.map_err(|error| error.to_string()))
        });
    }
    let outcomes: Vec<Result<(), String>> = changes.join_all().await.into_iter().flatten().collect();
    let errors: Vec<&String> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert_eq!(errors.len(), 8, "{errors:?}");
    assert!(errors.iter().all(|error| error.ends_with("is already taken")), "{errors:?}");
    let mut lanes = lane_names(&harness, workspace).await;
    assert_eq!(lanes.split_off(8), ["Under consideration", "Planned", "In progress", "Done"]);
    lanes.sort();
    assert_eq!(lanes, (0..8).map(|number| format!("Lane {number}")).collect::<Vec<_>>());
    assert_eq!(track_names(&harness, workspace).await.len(), 14);
}

/// Runs an operation again as long as the store undoes it because of a concurrent one, as clients do.
async fn run_until_decided<O: Operation>(
    executor: &Executor,
    workspace: WorkspaceId,
    operation: &O,
) -> Result<O::Output, RoadmapError> {
    loop {
        match executor.run_without_key(workspace, operation).await {
            Err(RoadmapError::Store(StoreError::Transient(_))) => {}
            outcome => return outcome,
        }
    }
}

/// While feature requests are created on a track and moved to it, the track is removed. All of them end on another
/// track, or are rejected.
///
/// Addition 4.
pub async fn no_request_is_lost_with_its_track(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let inbox = harness.track(workspace, "Inbox").await;
    let mut expected = 0;
    for round in 0..5 {
        let ideas = harness.perform(workspace, &add_track(&format!("Ideas {round}"), None, None)).await.id;
        let moving = harness.request(workspace, "Moving").await;
        expected += 1;
        let mut tasks = JoinSet::new();
        for _ in 0..6 {
            let executor = harness.executor.clone();
            tasks.spawn(async move {
                let draft = FeatureRequestDraft { track: Some(ideas), ..draft("Quokka", &[], "") };
                let operation = CreateFeatureRequest::new(draft);
                run_until_decided(&executor, workspace, &operation).await.map(|_| 1)
            });
        }
        let executor = harness.executor.clone();
        tasks.spawn(async move {
            let operation = move_to(FeatureRequestRef::Id(moving.id), ideas);
            run_until_decided(&executor, workspace, &operation).await.map(|_| 0)
        });
        let executor = harness.executor.clone();
        tasks.spawn(async move {
            let operation = remove_track(ideas, Some(inbox));
            run_until_decided(&executor, workspace, &operation).await.map(|_| 0)
        });
        for outcome in tasks.join_all().await {
            match outcome {
                Ok(created) => expected += created,
                Err(error) => assert_eq!(error.to_string(), "Track does not exist."),
            }
        }
    }
    assert_eq!(harness.find_on(workspace, "Inbox").await.len(), expected);
    assert_eq!(harness.count("feature_requests", workspace).await, expected as u64);
}

crate::contract::cases!($ board {
    lanes_are_added_renamed_moved_and_removed,
    tracks_are_added_changed_and_removed,
    a_removed_track_moves_its_requests,
    counts_equal_a_recount,
    requests_of_a_track_are_sorted,
    the_portal_shows_the_first_of_each_lane,
    concurrent_changes_of_the_board_are_all_kept,
    no_request_is_lost_with_its_track,
});
