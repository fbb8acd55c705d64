//! The portal's lists of feature requests: which ones they show, in which order, and on which page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use roadmap_domain::model::board::{ListedLane, TrackChange};
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::event::{Event, EventContent, Move};
use roadmap_domain::model::feature_request::{
    FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, Tag, excerpt,
};
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, LaneId, WorkspaceId};
use roadmap_domain::model::portal::{Mine, PortalFilter, PortalList, PortalRow, PortalSort};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::track::Track;
use roadmap_domain::policy::trending::{self, MIN_VOTES, Ranking, WantedRanking};
use roadmap_domain::usecase::approve_feature_request::ApproveFeatureRequest;
use roadmap_domain::usecase::change_board::{ChangeTrack, RemoveLane};
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::edit_feature_request::FeatureRequestChange;
use uuid::Uuid;

use crate::effort::{SeededRng, rounds};
use crate::harness::{Harness, draft, held_idea, largest_page, merge, new_title, new_visibility, page, unmerge};

/// A feature request that is not merged, and when each of its voters has voted.
type Root = (FeatureRequestDetail, BTreeMap<CustomerId, Timestamp>);

/// What the lists of a workspace show, computed from its single feature requests.
struct Model {
    /// The feature requests that are not merged, by number.
    roots: BTreeMap<i64, Root>,
    tracks: Vec<Track>,
    lanes: Vec<ListedLane>,
}

impl Model {
    async fn load(harness: &Harness, workspace: WorkspaceId) -> Self {
        let reader = &harness.subject.reader;
        let mut roots = BTreeMap::new();
        for number in 1..=harness.subject.reader.last_tag_number(workspace).await.unwrap() {
            let detail = reader.feature_request(workspace, &FeatureRequestRef::Number(number)).await.unwrap();
            if let Some(detail) = detail.filter(|detail| detail.summary.tag_number == number) {
                let voters = harness.voters(workspace, detail.summary.id).await;
                let voters = voters.iter().map(|voter| (voter.id, voter.voted_at)).collect();
                roots.insert(number, (detail, voters));
            }
        }
        let tracks = harness.subject.reader.tracks(workspace).await.unwrap();
        Self { roots, tracks, lanes: harness.lanes(workspace).await }
    }

    fn is_listed(&self, filter: &PortalFilter, (detail, voters): &Root) -> bool {
        let wrote = |customer| detail.author.as_ref().is_some_and(|author| author.id == customer);
        let is_visible = match filter.mine {
            None => !detail.private,
            Some((Mine::Voted, customer)) => voters.contains_key(&customer) && (!detail.private || wrote(customer)),
            Some((Mine::Written, customer)) => wrote(customer),
        };
        let is_in_lane = filter.lane.is_none_or(|lane| {
            let lane = self.lanes.iter().find(|listed| listed.lane.id == lane);
            lane.is_some_and(|listed| detail.summary.placement.status.as_ref() == Some(&listed.lane.name))
        });
        let is_tag = |tag: &Tag, other: &Tag| tag.as_str().to_lowercase() == other.as_str().to_lowercase();
        let is_tagged = filter.tag.as_ref().is_none_or(|other| detail.tags.iter().any(|tag| is_tag(tag, other)));
        is_visible && is_in_lane && is_tagged
    }

    fn list(&self, filter: &PortalFilter, sort: PortalSort) -> Vec<&FeatureRequestDetail> {
        let listed = self.roots.values().filter(|root| self.is_listed(filter, root)).map(|(detail, _)| detail);
        let mut listed: Vec<&FeatureRequestDetail> = listed.collect();
        listed.sort_by_key(|detail| {
            let number = detail.summary.tag_number;
            Reverse(match sort {
                PortalSort::Trending | PortalSort::Votes => (detail.summary.votes_count, number),
                PortalSort::Newest => (0, number),
                PortalSort::Oldest => (0, -number),
                PortalSort::Updated => (detail.updated_at.millis(), number),
            })
        });
        listed
    }

    fn rows(&self, filter: &PortalFilter, sort: PortalSort) -> Vec<PortalRow> {
        self.list(filter, sort).into_iter().map(row).collect()
    }

    /// Compares everything that depends on a filter with what the store shows.
    async fn compare(&self, harness: &Harness, workspace: WorkspaceId, filter: &PortalFilter, step: &str) {
        let pages = &harness.subject.reader;
        for sort in PortalSort::ALL {
            let list = PortalList { filter: filter.clone(), sort, page: largest_page() };
            let listing = pages.portal_list(workspace, &list).await.unwrap();
            let expected = with_status_since(harness, workspace, self.rows(filter, sort)).await;
            assert_eq!(listing.items, expected, "{step}: {list:?}");
            assert_eq!((listing.total, listing.request), (expected.len() as u64, list.page), "{step}: {list:?}");
        }
        let ids = |details: &[&FeatureRequestDetail]| details.iter().map(|one| one.summary.id).collect::<Vec<_>>();
        let public: Vec<FeatureRequestId> = ids(&self.list(&PortalFilter::default(), PortalSort::Oldest));
        let matching = pages.matching(workspace, filter, &public).await.unwrap();
        let mut expected = ids(&self.list(filter, PortalSort::Oldest));
        expected.retain(|id| public.contains(id));
        assert_eq!(matching.len(), expected.len(), "{step}: {filter:?}: {matching:?}");
        assert_eq!(sorted(matching), sorted(expected), "{step}: {filter:?}");
        if filter.tag.is_some() || filter.mine.is_some() {
            let mut counts: BTreeMap<Name, u64> = BTreeMap::new();
            let in_all_lanes = PortalFilter { lane: None, ..filter.clone() };
            for detail in self.list(&in_all_lanes, PortalSort::Newest) {
                if let Some(lane) = detail.summary.placement.status.clone() {
                    *counts.entry(lane).or_default() += 1;
                }
            }
            let found: BTreeMap<Name, u64> = pages.lane_counts(workspace, filter).await.unwrap().into_iter().collect();
            assert_eq!(found, counts, "{step}: {filter:?}");
        }
        if filter.mine.is_none() {
            self.compare_ranking(harness, workspace, filter, step).await;
        }
    }

    /// Compares the ranking of the trending ones, and parts of it. Sums that are as good as equal may have any order.
    async fn compare_ranking(&self, harness: &Harness, workspace: WorkspaceId, filter: &PortalFilter, step: &str) {
        let mut wanted = WantedRanking::of_page(largest_page(), &self.tracks, harness.now());
        let reader = &harness.subject.reader;
        let ranking = reader.trending(workspace, filter, &wanted).await.unwrap();
        let listed = self.list(filter, PortalSort::Newest);
        let is_open = |detail: &FeatureRequestDetail| {
            let track = self.tracks.iter().find(|track| track.name == detail.summary.placement.track).unwrap();
            !wanted.closed.contains(&track.id)
        };
        let is_voted = |detail: &FeatureRequestDetail| detail.summary.votes_count >= MIN_VOTES;
        let is_new = |detail: &&&FeatureRequestDetail| {
            !is_voted(detail) && is_open(detail) && detail.summary.created_at >= wanted.new_since
        };
        let new: Vec<FeatureRequestId> = listed.iter().filter(is_new).map(|detail| detail.summary.id).collect();
        let open = listed.iter().filter(|detail| is_open(detail)).count();
        let counts = (ranking.total, ranking.open);
        assert_eq!((counts, &ranking.new), ((listed.len() as u64, open as u64), &new), "{step}: {filter:?}");
        let trend = |detail: &FeatureRequestDetail| -> f64 {
            self.roots[&detail.summary.tag_number].1.values().map(|at| trending::weight(*at)).sum()
        };
        let others = listed.iter().filter(|detail| !new.contains(&detail.summary.id));
        let mut expected: Vec<_> =
            others.map(|detail| (is_open(detail), is_voted(detail), trend(detail), detail.summary.id)).collect();
        // The newest come first among equals.
        expected.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then(b.2.total_cmp(&a.2)));
        assert_eq!(ranking.others.len(), expected.len(), "{step}: {filter:?}");
        for (index, id) in ranking.others.iter().enumerate() {
            let (is_open, is_voted, trend, expected_id) = expected[index];
            let found = expected.iter().find(|(.., other)| other == id).unwrap();
            let is_tie = (found.0, found.1) == (is_open, is_voted)
                && (found.2 == 0.0) == (trend == 0.0)
                && (found.2 - trend).abs() <= trend * 1e-9;
            assert!(
                *id == expected_id || is_tie && trend > 0.0,
                "{step}: {filter:?}, {index}: {ranking:?} {expected:?}"
            );
        }
        for places in [0..1, 1..4, 3..100] {
            wanted.places = places.clone();
            let part = reader.trending(workspace, filter, &wanted).await.unwrap();
            let others = ranking.others.iter().copied().enumerate();
            let others = others.filter(|(place, _)| places.contains(&(*place as u64))).map(|(_, id)| id).collect();
            assert_eq!(part, Ranking { others, ..ranking.clone() }, "{step}: {filter:?}, {places:?}");
        }
    }

    /// Compares all pages of all lists.
    async fn compare_pages(&self, harness: &Harness, workspace: WorkspaceId, filter: &PortalFilter) {
        for sort in PortalSort::ALL {
            let expected = with_status_since(harness, workspace, self.rows(filter, sort)).await;
            for size in [1, 3, 4] {
                let mut rows = Vec::new();
                for number in 1..=expected.len() as u64 / size + 2 {
                    let page = page(number, size);
                    let list = PortalList { filter: filter.clone(), sort, page };
                    let listing = harness.subject.reader.portal_list(workspace, &list).await.unwrap();
                    assert_eq!((listing.total, listing.request), (expected.len() as u64, page), "{list:?}");
                    rows.extend(listing.items);
                }
                assert_eq!(rows, expected, "{filter:?}, {sort:?}, {size}");
            }
        }
    }

    /// Compares which feature requests the customers have voted for.
    async fn compare_votes(&self, harness: &Harness, workspace: WorkspaceId, customers: &[CustomerId], step: &str) {
        let ids: Vec<FeatureRequestId> = self.roots.values().map(|(detail, _)| detail.summary.id).collect();
        for customer in customers {
            let voted = harness.subject.reader.voted_among(workspace, *customer, &ids).await.unwrap();
            let expected = self.roots.values().filter(|(_, voters)| voters.contains_key(customer));
            let expected: Vec<FeatureRequestId> = expected.map(|(detail, _)| detail.summary.id).collect();
            assert_eq!(voted.len(), expected.len(), "{step}: {customer}: {voted:?}");
            assert_eq!(sorted(voted), sorted(expected), "{step}: {customer}");
        }
    }
}

fn row(detail: &FeatureRequestDetail) -> PortalRow {
    PortalRow {
        summary: detail.summary.clone(),
        // See [`with_status_since`].
        status_since: detail.summary.created_at,
        excerpt: excerpt(&detail.description.to_text()).to_owned(),
        private: detail.private,
        awaiting_approval: detail.awaiting_approval,
    }
}

/// Adds since when each feature request has its status: since the last move that changed it.
async fn with_status_since(harness: &Harness, workspace: WorkspaceId, mut rows: Vec<PortalRow>) -> Vec<PortalRow> {
    for row in &mut rows {
        let moves = harness.events(workspace, row.summary.id, Some(Move::KIND)).await;
        let changes_status = |event: &&Event| match &event.content {
            EventContent::Moved(moved) => moved.changes_status(),
            _ => false,
        };
        row.status_since = moves.iter().find(changes_status).map_or(row.summary.created_at, |event| event.created_at);
    }
    rows
}

fn sorted(mut ids: Vec<FeatureRequestId>) -> Vec<FeatureRequestId> {
    ids.sort();
    ids
}

fn tag(raw: &str) -> Tag {
    Tag::parse("tag", raw).unwrap()
}

fn by_tag(raw: &str) -> PortalFilter {
    PortalFilter { tag: Some(tag(raw)), ..PortalFilter::default() }
}

/// The numbers of a list.
async fn listed(harness: &Harness, workspace: WorkspaceId, filter: &PortalFilter, sort: PortalSort) -> Vec<i64> {
    let list = PortalList { filter: filter.clone(), sort, page: largest_page() };
    let listing = harness.subject.reader.portal_list(workspace, &list).await.unwrap();
    assert_eq!(listing.total, listing.items.len() as u64);
    listing.items.iter().map(|row| row.summary.tag_number).collect()
}

/// Lists are sorted by votes, by age or by the last update, with the newest first among equals.
pub async fn lists_are_sorted(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let tracks = ["Inbox", "Planned", "Done", "Planned", "Declined", "Planned"];
    let mut requests = Vec::new();
    for (number, track) in tracks.into_iter().enumerate() {
        let track = Some(harness.track(workspace, track).await);
        let request = FeatureRequestDraft { track, ..draft(&format!("Same {number}"), &[], "") };
        requests.push(harness.create(workspace, request).await);
    }
    for (index, votes) in [(0, 2), (2, 3), (3, 2), (5, 1)] {
        for voter in 0..votes {
            harness.vote(workspace, &requests[index], &format!("v{voter}@example.com")).await;
        }
    }
    for index in [4, 1] {
        harness.next_second();
        harness.edit(workspace, requests[index].id, new_title(&format!("New {index}"))).await;
    }
    // At the same time as the last edit.
    harness.edit(workspace, requests[0].id, new_title("New 0")).await;
    let all = PortalFilter::default();
    for (sort, expected) in [
        (PortalSort::Votes, [3, 4, 1, 6, 5, 2]),
        (PortalSort::Newest, [6, 5, 4, 3, 2, 1]),
        (PortalSort::Oldest, [1, 2, 3, 4, 5, 6]),
        (PortalSort::Updated, [2, 1, 5, 6, 4, 3]),
    ] {
        assert_eq!(listed(&harness, workspace, &all, sort).await, expected, "{sort:?}");
    }
    let planned = harness.lanes(workspace).await[1].lane.clone();
    assert_eq!(planned.name.as_str(), "Planned");
    let in_lane = PortalFilter { lane: Some(planned.id), ..PortalFilter::default() };
    for (sort, expected) in [
        (PortalSort::Votes, [4, 6, 2]),
        (PortalSort::Newest, [6, 4, 2]),
        (PortalSort::Oldest, [2, 4, 6]),
        (PortalSort::Updated, [2, 6, 4]),
    ] {
        assert_eq!(listed(&harness, workspace, &in_lane, sort).await, expected, "{sort:?}");
    }
    // Two tracks of one lane.
    let change = TrackChange { lane: Some(Some(planned.id)), ..TrackChange::default() };
    let inbox = harness.track(workspace, "Inbox").await;
    harness.perform(workspace, &ChangeTrack { track: inbox, change }).await;
    assert_eq!(listed(&harness, workspace, &in_lane, PortalSort::Votes).await, [4, 1, 6, 2]);
    assert_eq!(listed(&harness, workspace, &in_lane, PortalSort::Updated).await, [2, 1, 6, 4]);
    // Without the lane, its feature requests are listed without a status.
    harness.perform(workspace, &RemoveLane { lane: planned.id }).await;
    assert_eq!(listed(&harness, workspace, &in_lane, PortalSort::Votes).await, Vec::<i64>::new());
    assert_eq!(listed(&harness, workspace, &all, PortalSort::Votes).await, [3, 4, 1, 6, 5, 2]);
    let model = Model::load(&harness, workspace).await;
    let list = PortalList { filter: all.clone(), sort: PortalSort::Votes, page: largest_page() };
    let rows = harness.subject.reader.portal_list(workspace, &list).await.unwrap().items;
    let summaries = |rows: &[PortalRow]| rows.iter().map(|row| row.summary.clone()).collect::<Vec<_>>();
    assert_eq!(summaries(&rows), summaries(&model.rows(&all, PortalSort::Votes)));
    // The track of the first one led to another lane just now.
    let changed = rows.iter().filter(|row| row.status_since == harness.now()).map(|row| row.summary.tag_number);
    assert_eq!(changed.collect::<Vec<_>>(), [1]);
    assert!(model.roots[&2].0.summary.placement.status.is_none());
}

/// Tags are found regardless of case, also outside of ASCII, and only as a whole. The tags of what is merged do not
/// count.
pub async fn tags_are_found_regardless_of_case(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let mut requests = Vec::new();
    for tags in [&["UI", "Später"][..], &["ui", "später"], &["SPÄTER"], &["ui kit"], &[]] {
        requests.push(harness.create(workspace, draft("Quokka", tags, "")).await);
    }
    let private = FeatureRequestDraft { private: true, ..draft("Fern", &["ui"], "") };
    harness.create(workspace, private).await;
    let newest = async |raw: &str| listed(&harness, workspace, &by_tag(raw), PortalSort::Newest).await;
    for raw in ["ui", "UI", "Ui"] {
        assert_eq!(newest(raw).await, [2, 1], "{raw}");
    }
    for raw in ["später", "SPÄTER", "sPÄTer"] {
        assert_eq!(newest(raw).await, [3, 2, 1], "{raw}");
    }
    for raw in ["u", "kit", "%", "u_", "spater"] {
        assert_eq!(newest(raw).await, Vec::<i64>::new(), "{raw}");
    }
    assert_eq!(newest("UI kit").await, [4]);
    harness.merge(workspace, requests[0].id, requests[4].id).await;
    assert_eq!(newest("UI").await, [2]);
    let change = |tags: &[&str]| FeatureRequestChange {
        tags: Some(tags.iter().copied().map(tag).collect()),
        ..FeatureRequestChange::default()
    };
    harness.edit(workspace, requests[1].id, change(&["Über"])).await;
    harness.edit(workspace, requests[3].id, change(&["UI kit", "uI"])).await;
    assert_eq!((newest("ui").await, newest("ÜBER").await, newest("später").await), (vec![4], vec![2], vec![3]));
    harness.unmerge(workspace, requests[0].id).await;
    assert_eq!(newest("ui").await, [4, 1]);
    harness.delete(workspace, requests[0].id, false).await;
    assert_eq!(newest("ui").await, [4]);
}

/// What a person voted for and wrote is listed for that person, private ideas, too. A vote for a merged one is one for
/// what it was merged into.
pub async fn own_requests_are_listed(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let of = |draft: FeatureRequestDraft, email: &str| {
        let customer = CustomerDraft::parse(Some(email), None).ok();
        FeatureRequestDraft { customer, ..draft }
    };
    let [first, second, source, hidden] = harness.requests(workspace, ["Quokka", "Fern", "Lichen", "Gecko"]).await;
    let idea = harness.create(workspace, of(draft("Numbat", &[], ""), "Ann@Example.com")).await;
    let private = FeatureRequestDraft { private: true, ..draft("Wombat", &[], "") };
    let private = harness.create(workspace, of(private, "ann@example.com")).await;
    let held = harness.create(workspace, held_idea("Bilby", "ann@example.com")).await;
    let of_bob = harness.create(workspace, of(draft("Potoroo", &[], ""), "bob@example.com")).await;
    for request in [&first, &source, &second, &hidden] {
        harness.vote(workspace, request, "ann@example.com").await;
    }
    harness.vote(workspace, &idea, "bob@example.com").await;
    let ann = harness.customer(workspace, "ann@example.com").await.id;
    let bob = harness.customer(workspace, "bob@example.com").await.id;
    let mine = async |mine, customer| {
        let filter = PortalFilter { mine: Some((mine, customer)), ..PortalFilter::default() };
        listed(&harness, workspace, &filter, PortalSort::Newest).await
    };
    assert_eq!(mine(Mine::Voted, ann).await, [7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(mine(Mine::Written, ann).await, [7, 6, 5]);
    assert_eq!(mine(Mine::Voted, bob).await, [8, 5]);
    assert_eq!(mine(Mine::Written, bob).await, [8]);
    harness.edit(workspace, hidden.id, new_visibility(true)).await;
    harness.merge(workspace, source.id, second.id).await;
    assert_eq!(mine(Mine::Voted, ann).await, [7, 6, 5, 2, 1]);
    // Ann's idea is merged into one of Bob's: she has voted for that one then, but not written it.
    harness.merge(workspace, idea.id, of_bob.id).await;
    assert_eq!(mine(Mine::Voted, ann).await, [8, 7, 6, 2, 1]);
    assert_eq!(mine(Mine::Written, ann).await, [7, 6]);
    assert_eq!((mine(Mine::Voted, bob).await, mine(Mine::Written, bob).await), (vec![8], vec![8]));
    harness.perform(workspace, &ApproveFeatureRequest { request: FeatureRequestRef::Id(held.id) }).await;
    assert_eq!(mine(Mine::Written, ann).await, [7, 6]);
    harness.withdraw(workspace, second.id, "ann@example.com").await;
    harness.withdraw(workspace, private.id, "ann@example.com").await;
    assert_eq!(mine(Mine::Voted, ann).await, [8, 7, 1]);
    let nobody = CustomerId::new(Uuid::from_u128(1));
    for kind in [Mine::Voted, Mine::Written] {
        assert_eq!(mine(kind, nobody).await, Vec::<i64>::new());
    }
}

/// Rows come in the given order. Private, merged and unknown feature requests are left out. A long description is cut.
pub async fn rows_keep_the_given_order(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let long = format!("<p>{}</p><p>end</p>", "üé\u{1f600} ".repeat(200));
    let first = harness.create(workspace, draft("Quokka", &["zoo"], &long)).await;
    let [second, merged, private] = harness.requests(workspace, ["Fern", "Lichen", "Gecko"]).await;
    let third = harness.create(workspace, draft("Zebra", &[], "<p>Stripes &amp; <b>more</b></p>")).await;
    harness.merge(workspace, merged.id, second.id).await;
    harness.edit(workspace, private.id, new_visibility(true)).await;
    let held = harness.create(workspace, held_idea("Bilby", "ann@example.com")).await;
    let unknown = FeatureRequestId::new(Uuid::from_u128(1));
    let pages = &harness.subject.reader;
    for order in [
        vec![third.id, private.id, first.id, merged.id, unknown, second.id, held.id],
        vec![second.id, third.id, first.id],
        vec![merged.id, private.id, unknown, held.id],
        vec![],
    ] {
        let mut expected = Vec::new();
        for id in order.iter().filter(|id| [first.id, second.id, third.id].contains(id)) {
            expected.push(row(&harness.detail(workspace, *id).await));
        }
        let expected = with_status_since(&harness, workspace, expected).await;
        assert_eq!(pages.portal_rows(workspace, &order).await.unwrap(), expected);
    }
    let rows = pages.portal_rows(workspace, &[first.id, third.id]).await.unwrap();
    assert_eq!(rows[0].excerpt.chars().count(), 500);
    assert_eq!((rows[0].private, rows[1].excerpt.as_str()), (false, "Stripes & more"));
    let none: [FeatureRequestId; 0] = [];
    assert_eq!(pages.matching(workspace, &PortalFilter::default(), &none).await.unwrap(), none);
    let ann = harness.customer(workspace, "ann@example.com").await.id;
    assert_eq!(pages.voted_among(workspace, ann, &none).await.unwrap(), none);
}

const TAGS: [&str; 5] = ["ui", "UI", "Später", "sPÄTER", "api"];
const TRACKS: [&str; 5] = ["Inbox", "Planned", "Done", "Declined", "Under consideration"];
const CUSTOMERS: u64 = 4;

fn email(customer: u64) -> String {
    format!("v{customer}@example.com")
}

/// After steps of random histories, all lists with all filters and orders equal what a model computes from the single
/// feature requests.
///
/// Portal.
pub async fn random_lists_equal_a_model(harness: Harness) {
    let seeds: &[u64] = if rounds(0, 1) == 0 { &[3, 2_026] } else { &[1, 2, 3, 4, 5, 6, 7, 8, 2_026] };
    let mut non_empty = BTreeSet::new();
    for seed in seeds {
        let mut random = SeededRng::new(*seed);
        let workspace = harness.workspace(&format!("seed-{seed}")).await;
        // Two tracks in one lane.
        let lanes = harness.lanes(workspace).await;
        let change = TrackChange { lane: Some(Some(lanes[1].lane.id)), ..TrackChange::default() };
        let done = harness.track(workspace, "Done").await;
        harness.perform(workspace, &ChangeTrack { track: done, change }).await;
        let mut requests = Vec::new();
        for number in 0..14 {
            let customer = CustomerDraft::parse(Some(&email(number % CUSTOMERS)), None).ok();
            let tags: Vec<&str> = TAGS.into_iter().filter(|_| random.below(3) == 0).collect();
            let track = Some(harness.track(workspace, TRACKS[usize::try_from(random.below(5)).unwrap()]).await);
            let new = FeatureRequestDraft {
                private: number % 5 == 4,
                awaiting_approval: number == 9,
                customer: customer.filter(|_| number < 8 || number == 9),
                track,
                ..draft(&format!("Request {number}"), &tags, "<p>Some <b>words</b></p>")
            };
            requests.push(harness.create(workspace, new).await);
            if random.below(2) == 0 {
                harness.next_second();
            }
        }
        let mut customers = Vec::new();
        for customer in 0..CUSTOMERS {
            customers.push(harness.customer(workspace, &email(customer)).await.id);
        }
        let mut lanes: Vec<Option<LaneId>> = lanes.iter().map(|listed| Some(listed.lane.id)).collect();
        lanes.extend([None, None, None, Some(LaneId::new(Uuid::from_u128(1)))]);
        for step in 0..rounds(40, 150) {
            let request = &requests[usize::try_from(random.below(14)).unwrap()];
            let other = &requests[usize::try_from(random.below(14)).unwrap()];
            let voter = email(random.below(CUSTOMERS));
            match random.below(6) {
                0 | 1 => {}
                2..5 => drop(harness.next_second()),
                _ => harness.after_days(1 + random.below(5)),
            }
            let id = request.id;
            // Steps that make no sense fail and change nothing.
            let text = match random.below(12) {
                0..4 => {
                    harness.vote(workspace, request, &voter).await;
                    "vote"
                }
                4 => {
                    harness.withdraw(workspace, id, &voter).await;
                    "withdrawal"
                }
                5 => {
                    harness.move_to(workspace, id, TRACKS[usize::try_from(random.below(5)).unwrap()]).await;
                    "move"
                }
                6 => {
                    harness.perform(workspace, &ApproveFeatureRequest { request: FeatureRequestRef::Id(id) }).await;
                    "approval"
                }
                7 => {
                    let private = random.below(3) == 0;
                    harness.edit(workspace, id, new_visibility(private)).await;
                    "visibility"
                }
                8 => {
                    let tags = TAGS.into_iter().filter(|_| random.below(3) == 0).map(str::to_owned).collect::<Vec<_>>();
                    let tags = Tag::parse_list("tags", &tags).ok();
                    harness.edit(workspace, id, FeatureRequestChange { tags, ..FeatureRequestChange::default() }).await;
                    "tags"
                }
                9..11 => {
                    let _ = harness.executor.run_without_key(workspace, &merge(id, other.id)).await;
                    "merge"
                }
                _ => {
                    let _ = harness.executor.run_without_key(workspace, &unmerge(id)).await;
                    "unmerge"
                }
            };
            let step = format!("seed {seed}, step {step}: {text} of {}", request.tag_number);
            let model = Model::load(&harness, workspace).await;
            let mut pick = |end: usize| usize::try_from(random.below(end as u64)).unwrap();
            for _ in 0..4 {
                let customer = customers[pick(customers.len())];
                let mine = [None, Some((Mine::Voted, customer)), Some((Mine::Written, customer))][pick(3)];
                let tag_filter = [None, None, Some("UI"), Some("spÄter"), Some("none")][pick(5)].map(tag);
                let filter = PortalFilter { lane: lanes[pick(lanes.len())], tag: tag_filter, mine };
                model.compare(&harness, workspace, &filter, &step).await;
                if !model.list(&filter, PortalSort::Newest).is_empty() {
                    let kind = mine.map(|(kind, _)| kind == Mine::Voted);
                    non_empty.insert((filter.lane.is_some(), filter.tag.is_some(), kind));
                }
            }
            model.compare_votes(&harness, workspace, &customers, &step).await;
        }
        let model = Model::load(&harness, workspace).await;
        for filter in [
            PortalFilter::default(),
            PortalFilter { lane: lanes[1], ..PortalFilter::default() },
            by_tag("Ui"),
            PortalFilter { lane: lanes[1], ..by_tag("ui") },
            PortalFilter { mine: Some((Mine::Voted, customers[0])), ..PortalFilter::default() },
            PortalFilter { mine: Some((Mine::Written, customers[1])), ..PortalFilter::default() },
        ] {
            model.compare_pages(&harness, workspace, &filter).await;
        }
    }
    // Lists with every kind of filter, and with every two of them, were compared with something in them.
    for kinds in [
        (false, false, None),
        (true, false, None),
        (false, true, None),
        (true, true, None),
        (false, false, Some(true)),
        (false, false, Some(false)),
        (true, false, Some(true)),
        (false, true, Some(true)),
        (true, false, Some(false)),
        (false, true, Some(false)),
    ] {
        assert!(non_empty.contains(&kinds), "{kinds:?}: {non_empty:?}");
    }
}

/// Compares the ranking of what trends with one that is computed from the single votes.
pub(super) async fn assert_ranking(harness: &Harness, workspace: WorkspaceId, step: &str) {
    Model::load(harness, workspace).await.compare_ranking(harness, workspace, &PortalFilter::default(), step).await;
}

/// Old favourites without new votes come after what people vote for now, a series of new ideas has every fourth place,
/// and what is done or declined comes last.
pub async fn recent_votes_trend(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [old, rising, done, declined] = harness.requests(workspace, ["Quokka", "Fern", "Lichen", "Gecko"]).await;
    let vote = async |request: &FeatureRequestSummary, voters: std::ops::Range<u64>| {
        for voter in voters {
            harness.vote(workspace, request, &email(voter)).await;
        }
    };
    for request in [&old, &done, &declined] {
        vote(request, 0..20).await;
    }
    harness.move_to(workspace, done.id, "Done").await;
    harness.move_to(workspace, declined.id, "Declined").await;
    harness.after_days(200);
    vote(&rising, 0..3).await;
    vote(&done, 20..24).await;
    harness.after_days(3);
    for number in 0..30 {
        let idea = harness.create(workspace, draft(&format!("Idea {number}"), &[], "")).await;
        vote(&idea, number..number + 1).await;
    }
    let tracks = harness.subject.reader.tracks(workspace).await.unwrap();
    let shown = async || {
        let page = page(1, 36);
        let wanted = WantedRanking::of_page(page, &tracks, harness.now());
        let ranking = harness.subject.reader.trending(workspace, &PortalFilter::default(), &wanted).await.unwrap();
        let ids = trending::on_page(page, &ranking);
        let rows = harness.subject.reader.portal_rows(workspace, &ids).await.unwrap();
        rows.iter().map(|row| row.summary.tag_number).collect::<Vec<_>>()
    };
    // The ten newest have places of their own, until the others that are open are exhausted. The older ones are others.
    let places = shown().await;
    assert_eq!(places[..9], [2, 1, 24, 34, 23, 22, 21, 33, 20]);
    assert_eq!(places[30..], [26, 25, 3, 4]);
    // Two weeks later, they are ideas with few votes.
    harness.after_days(14);
    assert_eq!(shown().await[..5], [2, 1, 34, 33, 32]);
    // What nobody voted for comes after that.
    harness.withdraw(workspace, rising.id, &email(0)).await;
    harness.withdraw(workspace, rising.id, &email(1)).await;
    harness.withdraw(workspace, rising.id, &email(2)).await;
    let places = shown().await;
    assert_eq!((places[0], &places[30..]), (1, &[5, 2, 3, 4][..]));
}

crate::contract::cases!($ portal_lists {
    recent_votes_trend,
    lists_are_sorted,
    tags_are_found_regardless_of_case,
    own_requests_are_listed,
    rows_keep_the_given_order,
    random_lists_equal_a_model,
});
