//! The overview of a workspace, and the count of searches that found nothing.

use std::collections::BTreeMap;

use roadmap_domain::model::admin::{
    Activity, InboxFilter, InboxList, InboxSort, InboxState, MissedSearch, MissedWords, Overview, OverviewTimes,
    Period, Rising, Week,
};
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::edit_comment::DeleteComment;
use time::Duration;

use crate::effort::{SeededRng, rounds};
use crate::harness::{Harness, comment, customer_comment, draft, largest_page, merge, unmerge};

async fn overview(harness: &Harness, workspace: WorkspaceId, period: Period) -> Overview {
    let times = OverviewTimes::new(period, harness.now());
    harness.subject.reader.overview(workspace, &times).await.unwrap()
}

/// What has happened in a workspace, and when.
#[derive(Default)]
struct Happened {
    requests: Vec<Timestamp>,
    votes: Vec<Timestamp>,
    comments: Vec<Timestamp>,
}

impl Happened {
    fn count(&self, is_counted: impl Fn(&Timestamp) -> bool) -> Activity {
        let count = |all: &[Timestamp]| i64::try_from(all.iter().filter(|at| is_counted(at)).count()).unwrap();
        Activity { requests: count(&self.requests), votes: count(&self.votes), comments: count(&self.comments) }
    }
}

/// The expected overview, from what single feature requests show.
async fn expected(harness: &Harness, workspace: WorkspaceId, period: Period, happened: &mut Happened) -> Overview {
    let times = OverviewTimes::new(period, harness.now());
    let list = async |state, sort| {
        let filter = InboxFilter { state, ..InboxFilter::default() };
        let list = InboxList { filter, sort, page: largest_page() };
        let listing = harness.subject.reader.inbox(workspace, &list).await.unwrap();
        listing.items.into_iter().map(|row| row.summary).collect::<Vec<FeatureRequestSummary>>()
    };
    happened.votes.clear();
    let mut rising = Vec::new();
    for request in list(InboxState::All, InboxSort::Newest).await {
        let voted: Vec<Timestamp> =
            harness.voters(workspace, request.id).await.iter().map(|voter| voter.voted_at).collect();
        let new_votes = i64::try_from(voted.iter().filter(|at| **at >= times.since).count()).unwrap();
        if new_votes > 0 {
            rising.push(Rising { request, new_votes });
        }
        happened.votes.extend(voted);
    }
    // Equal ones come newest first.
    rising.sort_by_key(|rising| std::cmp::Reverse((rising.new_votes, rising.request.tag_number)));
    rising.truncate(10);
    let start = |number: i64| times.weeks[0].plus(Duration::weeks(number));
    let weeks = (0..12).map(|number| {
        let Activity { requests, votes, comments } =
            happened.count(|at| (start(number)..start(number + 1)).contains(at));
        Week { start: start(number), requests, votes, comments }
    });
    let mut unanswered = list(InboxState::Unanswered, InboxSort::Votes).await;
    unanswered.truncate(10);
    let mut replied = list(InboxState::Replied, InboxSort::Votes).await;
    replied.truncate(10);
    Overview {
        activity: happened.count(|at| *at >= times.since),
        activity_before: happened.count(|at| (times.before..times.since).contains(at)),
        weeks: weeks.collect(),
        unanswered,
        replied,
        oldest_unanswered_at: list(InboxState::Unanswered, InboxSort::Oldest).await.first().map(|one| one.created_at),
        rising,
        missed_searches: Vec::new(),
    }
}

/// After random histories of several months, the overviews of all periods equal a recount. A person's votes for two
/// feature requests that are merged count once, as the first one.
pub async fn random_overviews_equal_a_recount(harness: Harness) {
    let seeds: &[u64] = if rounds(0, 1) == 0 { &[3, 11] } else { &[1, 2, 3, 4, 5, 6, 11] };
    let mut merges = 0;
    for seed in seeds {
        let mut random = SeededRng::new(*seed);
        let mut below = |end: usize| usize::try_from(random.below(end as u64)).unwrap();
        let workspace = harness.workspace(&format!("seed-{seed}")).await;
        let mut happened = Happened::default();
        let mut requests = Vec::new();
        for step in 0..rounds(140, 400) {
            harness.clock.advance(Duration::hours(below(30) as i64) + Duration::milliseconds(below(999) as i64));
            if requests.len() < 3 || (requests.len() < 16 && below(5) == 0) {
                let private = below(4) == 0;
                let new = FeatureRequestDraft { private, ..draft(&format!("Request {step}"), &[], "") };
                requests.push(harness.create(workspace, new).await);
                happened.requests.push(harness.now());
            }
            let (request, other) = (&requests[below(requests.len())], &requests[below(requests.len())]);
            let (reference, email) = (FeatureRequestRef::Id(request.id), format!("v{}@example.com", below(9)));
            match below(10) {
                0..5 => drop(harness.vote(workspace, request, &email).await),
                5 => drop(harness.withdraw(workspace, request.id, &email).await),
                6 => {
                    harness.perform(workspace, &comment(reference, "<p>Soon</p>", false)).await;
                }
                7 => {
                    harness.perform(workspace, &customer_comment(reference, "<p>When?</p>", &email, None)).await;
                    happened.comments.push(harness.now());
                }
                8 => {
                    let operation = merge(request.id, other.id);
                    merges += usize::from(harness.executor.run_without_key(workspace, &operation).await.is_ok());
                }
                _ => {
                    let _ = harness.executor.run_without_key(workspace, &unmerge(request.id)).await;
                }
            }
            if step % 20 == 19 {
                for period in Period::ALL {
                    let expected = expected(&harness, workspace, period, &mut happened).await;
                    assert_eq!(overview(&harness, workspace, period).await, expected, "seed {seed}, step {step}");
                }
            }
        }
        let week = overview(&harness, workspace, Period::Week).await;
        assert!(!week.unanswered.is_empty() && week.activity_before != Activity::default(), "{week:?}");
        assert!(week.weeks.iter().filter(|week| week.votes > 0).count() > 5, "{week:?}");
    }
    assert!(merges > 4, "{merges}");
}

/// The period begins exactly as long ago as it lasts, and the one before it, too. Weeks begin on Monday at midnight. What
/// was withdrawn or deleted is gone.
pub async fn the_edges_of_a_period_are_exact(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let empty = overview(&harness, workspace, Period::Month).await;
    assert_eq!((empty.activity, empty.activity_before), (Activity::default(), Activity::default()));
    assert_eq!((empty.weeks.len(), empty.unanswered.len(), empty.oldest_unanswered_at), (12, 0, None));
    assert_eq!((empty.rising, empty.missed_searches), (vec![], vec![]));
    let request = harness.request(workspace, "Quokka").await;
    let reference = FeatureRequestRef::Id(request.id);
    harness.vote(workspace, &request, "ann@example.com").await;
    let question =
        harness.perform(workspace, &customer_comment(reference, "<p>When?</p>", "bob@example.com", None)).await;
    // Comments of the team are not counted.
    let answer = harness.perform(workspace, &comment(reference, "<p>Soon</p>", false)).await;
    let one = Activity { requests: 1, votes: 1, comments: 1 };
    let none = Activity::default();
    let activity = async |period| {
        let Overview { activity, activity_before, rising, .. } = overview(&harness, workspace, period).await;
        let new_votes: Vec<i64> = rising.iter().map(|rising| rising.new_votes).collect();
        assert_eq!(new_votes, if activity.votes > 0 { vec![activity.votes] } else { vec![] });
        (activity, activity_before)
    };
    for period in Period::ALL {
        assert_eq!(activity(period).await, (one, none), "{period:?}");
    }
    harness.clock.advance(Duration::days(7));
    assert_eq!(activity(Period::Week).await, (one, none));
    harness.clock.advance(Duration::MILLISECOND);
    assert_eq!(activity(Period::Week).await, (none, one));
    assert_eq!(activity(Period::Month).await, (one, none));
    harness.clock.advance(Duration::days(7) - Duration::MILLISECOND);
    assert_eq!(activity(Period::Week).await, (none, one));
    harness.clock.advance(Duration::MILLISECOND);
    assert_eq!(activity(Period::Week).await, (none, none));

    // To the last instant of a week, and to the first one of the next week.
    let times = OverviewTimes::new(Period::Week, harness.now());
    let monday = times.weeks[0].plus(Duration::weeks(12));
    harness.clock.advance(Duration::milliseconds(monday.millis() - harness.now().millis() - 1));
    harness.vote(workspace, &request, "cyd@example.com").await;
    let votes = async || {
        let weeks = overview(&harness, workspace, Period::Week).await.weeks;
        assert!(weeks.iter().zip(weeks.iter().skip(1)).all(|(one, next)| one.start.plus(Duration::WEEK) == next.start));
        (weeks.last().unwrap().start, [weeks[10].votes, weeks[11].votes])
    };
    assert_eq!(votes().await, (monday.plus(-Duration::WEEK), [0, 1]));
    harness.clock.advance(Duration::MILLISECOND);
    assert_eq!(votes().await, (monday, [1, 0]));
    harness.vote(workspace, &request, "dan@example.com").await;
    assert_eq!(votes().await, (monday, [1, 1]));

    harness.withdraw(workspace, request.id, "cyd@example.com").await;
    harness.perform(workspace, &DeleteComment { comment: question.comment.id }).await;
    let year = overview(&harness, workspace, Period::Year).await;
    assert_eq!(year.activity, Activity { requests: 1, votes: 2, comments: 0 });
    assert_eq!((year.unanswered.len(), year.oldest_unanswered_at), (0, None));
    harness.perform(workspace, &DeleteComment { comment: answer.comment.id }).await;
    let year = overview(&harness, workspace, Period::Year).await;
    assert_eq!((year.unanswered.len(), year.oldest_unanswered_at), (1, Some(request.created_at)));
    harness.delete(workspace, request.id, false).await;
    assert_eq!(overview(&harness, workspace, Period::Year).await.activity, none);
    let other = harness.workspace("bolt").await;
    harness.request(workspace, "Fern").await;
    assert_eq!(overview(&harness, other, Period::Year).await.activity, none);
}

/// The lists of an overview have at most ten entries.
pub async fn lists_of_an_overview_are_bounded(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let mut requests = Vec::new();
    for number in 0..12 {
        requests.push(harness.request(workspace, &format!("Request {number}")).await);
        harness.vote(workspace, &requests[number], "ann@example.com").await;
    }
    harness.vote(workspace, &requests[1], "bob@example.com").await;
    harness.vote(workspace, &requests[0], "bob@example.com").await;
    // Private ones and those that await approval are shown, too.
    let private = FeatureRequestDraft { private: true, awaiting_approval: true, ..draft("Wombat", &[], "") };
    let private = harness.create(workspace, private).await;
    harness.vote(workspace, &private, "ann@example.com").await;
    harness.perform(workspace, &comment(FeatureRequestRef::Id(requests[11].id), "<p>Soon</p>", false)).await;
    let overview = overview(&harness, workspace, Period::Week).await;
    let rising: Vec<(i64, i64)> =
        overview.rising.iter().map(|rising| (rising.request.tag_number, rising.new_votes)).collect();
    assert_eq!(rising, [(2, 2), (1, 2), (13, 1), (12, 1), (11, 1), (10, 1), (9, 1), (8, 1), (7, 1), (6, 1)]);
    let unanswered: Vec<i64> = overview.unanswered.iter().map(|request| request.tag_number).collect();
    assert_eq!(unanswered, [2, 1, 11, 10, 9, 8, 7, 6, 5, 4]);
    for request in &overview.unanswered {
        assert_eq!(harness.detail(workspace, request.id).await.summary, *request);
    }
}

fn missed(words: &str, count: i64) -> MissedSearch {
    MissedSearch { words: MissedWords::of_query(words).unwrap(), count }
}

async fn add(harness: &Harness, workspace: WorkspaceId, searches: &[(&str, i64)], limit: u32) {
    let searches: Vec<MissedSearch> = searches.iter().map(|(words, count)| missed(words, *count)).collect();
    let store = &harness.subject.missed_searches;
    store.add_missed_searches(workspace, harness.now().start_of_day(), &searches, limit).await.unwrap();
}

/// The searches that an overview shows.
async fn missed_searches(harness: &Harness, workspace: WorkspaceId, period: Period) -> Vec<(String, i64)> {
    let searches = overview(harness, workspace, period).await.missed_searches;
    searches.into_iter().map(|search| (search.words.as_str().to_owned(), search.count)).collect()
}

fn counts(counts: &[(&str, i64)]) -> Vec<(String, i64)> {
    counts.iter().map(|(words, count)| ((*words).to_owned(), *count)).collect()
}

/// Advances the clock to noon.
fn to_noon(harness: &Harness) {
    let noon = harness.now().plus(Duration::hours(12)).start_of_day().plus(Duration::hours(12));
    harness.clock.advance(Duration::milliseconds(noon.millis() - harness.now().millis()));
}

/// Counts of the same words are added, also over days. The most frequent ones of the period are shown, equal ones in
/// alphabetical order. Those of other workspaces are not.
pub async fn missed_searches_are_counted(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    to_noon(&harness);
    add(&harness, acme, &[("dark mode", 2), ("gantt", 1), ("'; --", 1)], 500).await;
    add(&harness, acme, &[("dark mode", 3), ("Übersicht \u{1f600}", 1)], 500).await;
    add(&harness, bolt, &[("dark mode", 7)], 500).await;
    add(&harness, acme, &[], 500).await;
    let first = counts(&[("dark mode", 5), ("'; --", 1), ("gantt", 1), ("übersicht \u{1f600}", 1)]);
    assert_eq!(missed_searches(&harness, acme, Period::Week).await, first);
    assert_eq!(missed_searches(&harness, bolt, Period::Week).await, counts(&[("dark mode", 7)]));
    assert_eq!(harness.count("missed_searches", acme).await, 4);
    harness.clock.advance(Duration::days(3));
    add(&harness, acme, &[("gantt", 9), ("dark mode", 1)], 500).await;
    assert_eq!(harness.count("missed_searches", acme).await, 6);
    let both = counts(&[("gantt", 10), ("dark mode", 6), ("'; --", 1), ("übersicht \u{1f600}", 1)]);
    assert_eq!(missed_searches(&harness, acme, Period::Week).await, both);
    harness.clock.advance(Duration::days(6));
    assert_eq!(missed_searches(&harness, acme, Period::Week).await, counts(&[("gantt", 9), ("dark mode", 1)]));
    assert_eq!(missed_searches(&harness, acme, Period::Month).await, both);
    let many: Vec<String> = (0..12).map(|number| format!("word {number:02}")).collect();
    let many: Vec<(&str, i64)> = many.iter().map(|words| (words.as_str(), 20)).collect();
    add(&harness, acme, &many, 500).await;
    assert_eq!(missed_searches(&harness, acme, Period::Month).await, counts(&many[..10]));
}

/// A workspace has a limited number of texts of a day. Counts of known texts are still added.
pub async fn missed_searches_of_a_day_are_limited(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    to_noon(&harness);
    add(&harness, acme, &[("a", 1), ("b", 1), ("c", 1), ("d", 1)], 3).await;
    assert_eq!(missed_searches(&harness, acme, Period::Week).await, counts(&[("a", 1), ("b", 1), ("c", 1)]));
    add(&harness, acme, &[("e", 1), ("c", 4), ("f", 1), ("a", 1)], 3).await;
    assert_eq!(missed_searches(&harness, acme, Period::Week).await, counts(&[("c", 5), ("a", 2), ("b", 1)]));
    add(&harness, bolt, &[("d", 1)], 3).await;
    assert_eq!(harness.count("missed_searches", bolt).await, 1);
    // The next day begins at midnight (UTC).
    harness.clock.advance(Duration::hours(12) - Duration::MILLISECOND);
    add(&harness, acme, &[("d", 1)], 3).await;
    assert_eq!(harness.count("missed_searches", acme).await, 3);
    harness.clock.advance(Duration::MILLISECOND);
    add(&harness, acme, &[("d", 1), ("c", 1)], 3).await;
    assert_eq!(harness.count("missed_searches", acme).await, 5);
    assert_eq!(missed_searches(&harness, acme, Period::Week).await, counts(&[("c", 6), ("a", 2), ("b", 1), ("d", 1)]));
}

/// Counts are added exactly when several processes write them at once.
pub async fn concurrent_missed_searches_are_all_counted(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    to_noon(&harness);
    let forwards = [("a", 1), ("b", 2), ("c", 3)];
    let backwards = [("c", 3), ("b", 2), ("a", 1)];
    for _ in 0..5 {
        tokio::join!(
            add(&harness, workspace, &forwards, 500),
            add(&harness, workspace, &backwards, 500),
            add(&harness, workspace, &forwards, 500),
            add(&harness, workspace, &backwards, 500),
        );
    }
    assert_eq!(missed_searches(&harness, workspace, Period::Week).await, counts(&[("c", 60), ("b", 40), ("a", 20)]));
}

/// Counts of days before one are deleted, of all workspaces, at most as many as asked for.
pub async fn old_missed_searches_are_purged(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    to_noon(&harness);
    let store = &harness.subject.missed_searches;
    add(&harness, acme, &[("a", 1), ("b", 1), ("c", 1)], 500).await;
    add(&harness, bolt, &[("a", 1)], 500).await;
    let first = harness.now();
    harness.clock.advance(Duration::days(1));
    add(&harness, acme, &[("a", 1)], 500).await;
    let left = async || {
        let mut left = BTreeMap::new();
        for (name, workspace) in [("acme", acme), ("bolt", bolt)] {
            left.insert(name, harness.count("missed_searches", workspace).await);
        }
        left
    };
    let all = BTreeMap::from([("acme", 4), ("bolt", 1)]);
    assert_eq!(store.purge_missed_searches(first.start_of_day(), 10).await.unwrap(), 0);
    assert_eq!(left().await, all);
    let midnight = first.plus(Duration::hours(12));
    assert_eq!(store.purge_missed_searches(midnight, 3).await.unwrap(), 3);
    assert_eq!(left().await.values().sum::<u64>(), 2);
    assert_eq!(store.purge_missed_searches(midnight, 3).await.unwrap(), 1);
    assert_eq!(left().await, BTreeMap::from([("acme", 1), ("bolt", 0)]));
    assert_eq!(store.purge_missed_searches(midnight, 3).await.unwrap(), 0);
}

crate::contract::cases!($ admin_overview {
    random_overviews_equal_a_recount,
    the_edges_of_a_period_are_exact,
    lists_of_an_overview_are_bounded,
    missed_searches_are_counted,
    missed_searches_of_a_day_are_limited,
    concurrent_missed_searches_are_all_counted,
    old_missed_searches_are_purged,
});
