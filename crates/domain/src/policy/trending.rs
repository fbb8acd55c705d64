//! Trending feature requests: those that people vote for now.
//!
//! A vote loses half of its weight every [`HALF_LIFE`], and a feature request trends with the sum of the weights of its
//! votes. All weights fall at the same rate, so that the order of two sums never changes by itself: stores keep each sum
//! as it was at one fixed time ([`weight`]), and change it with the votes only.
//!
//! What is done or declined comes last, and before that what fewer than [`MIN_VOTES`] people voted for, so that a series
//! of new ideas with the votes of their authors is not what everybody sees first. Nor is a new idea hidden by that: every
//! [`NEW_EVERY`]th place belongs to one of the last [`NEW_FOR`], the newest first, at most [`MAX_NEW`].

#[cfg(test)]
mod evaluation;

use std::ops::Range;

use time::Duration;

use crate::model::id::{FeatureRequestId, TrackId};
use crate::model::pagination::PageRequest;
use crate::model::timestamp::Timestamp;
use crate::model::track::Track;

/// The time in which a vote loses half of its weight.
pub const HALF_LIFE: Duration = Duration::days(30);

/// The time at which a vote has the weight 1, in milliseconds since 1970: 2026-01-01T00:00:00Z.
pub const WEIGHT_OF_ONE: i64 = 1_767_225_600_000;

/// The exponents of the smallest and the largest weight, which is far from the limits of a double.
pub const MAX_EXPONENT: i64 = 1_000;

/// How many people must have voted for a feature request that is not new.
pub const MIN_VOTES: i64 = 2;

/// How long an idea is new.
pub const NEW_FOR: Duration = Duration::days(7);

/// The places that belong to new ideas: every fourth one.
pub const NEW_EVERY: u64 = 4;

/// Maximum number of new ideas with a place of their own. Of each track, the newest ones are considered, as many.
pub const MAX_NEW: u64 = 10;

/// Returns the weight of a vote, as stores add it up: doubled with every [`HALF_LIFE`] since [`WEIGHT_OF_ONE`].
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "milliseconds of 9,999 years are exact")]
pub fn weight(at: Timestamp) -> f64 {
    let half_lives = (at.millis() - WEIGHT_OF_ONE) as f64 / HALF_LIFE.whole_milliseconds() as f64;
    half_lives.clamp(-(MAX_EXPONENT as f64), MAX_EXPONENT as f64).exp2()
}

/// Which part of a ranking is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedRanking {
    /// The tracks of what is done or declined.
    pub closed: Vec<TrackId>,
    /// Ideas that were submitted then or later are new.
    pub new_since: Timestamp,
    /// Which of the others, from 0.
    pub places: Range<u64>,
}

impl WantedRanking {
    /// Returns what a page needs.
    #[must_use]
    pub fn of_page(page: PageRequest, tracks: &[Track], now: Timestamp) -> Self {
        let closed = tracks.iter().filter(|track| track.kind().is_closed()).map(|track| track.id).collect();
        Self { closed, new_since: now.plus(-NEW_FOR), places: places(page) }
    }
}

/// A part of the ranking of the public feature requests of a filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ranking {
    /// How many feature requests there are in all.
    pub total: u64,
    /// How many of them are on no closed track, the new ones included.
    pub open: u64,
    /// The new ideas, neither done nor declined, that fewer than [`MIN_VOTES`] voted for: the newest first.
    pub new: Vec<FeatureRequestId>,
    /// The others in the wanted places of their order.
    pub others: Vec<FeatureRequestId>,
}

/// Returns the places among those that are not new that a page may show, from 0.
fn places(page: PageRequest) -> Range<u64> {
    let begin = first_place(page);
    begin.saturating_sub(MAX_NEW)..begin.saturating_add(page.size())
}

/// Returns the feature requests of a page of a ranking, of which it has the wanted part.
#[must_use]
pub fn on_page(page: PageRequest, ranking: &Ranking) -> Vec<FeatureRequestId> {
    let new = ranking.new.len() as u64;
    let open_others = ranking.open.saturating_sub(new);
    let item = |list: &[FeatureRequestId], index: u64| list.get(usize::try_from(index).ok()?).copied();
    let begin = first_place(page);
    let shown = (begin..begin.saturating_add(page.size()).min(ranking.total)).filter_map(|place| {
        // New ones before this place. Those that are left come before what is done or declined.
        let new_before = (place / NEW_EVERY).max(place.saturating_sub(open_others)).min(new);
        let others_before = place - new_before;
        let is_new = new_before < new && (place % NEW_EVERY == NEW_EVERY - 1 || others_before >= open_others);
        match is_new {
            true => item(&ranking.new, new_before),
            false => item(&ranking.others, others_before.checked_sub(places(page).start)?),
        }
    });
    shown.collect()
}

fn first_place(page: PageRequest) -> u64 {
    page.offset().and_then(|offset| u64::try_from(offset).ok()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::LaneId;
    use crate::model::localized::Localized;
    use crate::model::text::Name;
    use crate::model::track::{Lane, LaneKind};
    use uuid::Uuid;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis).unwrap()
    }

    #[test]
    fn a_vote_weighs_twice_as_much_as_one_of_a_half_life_before() {
        let half_life = i64::try_from(HALF_LIFE.whole_milliseconds()).unwrap();
        for (half_lives, expected) in [(0, 1.0), (1, 2.0), (-1, 0.5), (10, 1_024.0), (-40, 2_f64.powi(-40))] {
            let weight = weight(at(WEIGHT_OF_ONE + half_lives * half_life));
            assert!((weight / expected - 1.0).abs() < 1e-12, "{half_lives}: {weight}");
        }
        assert_eq!(at(WEIGHT_OF_ONE).to_string(), "2026-01-01T00:00:00.000Z");
        for extreme in [Timestamp::MIN, Timestamp::MAX] {
            assert!(weight(extreme).is_normal(), "{extreme}");
        }
    }

    /// The pages of a ranking of feature requests from 1, of which the last ones are closed, and new ones from 101, as a
    /// reader shows them.
    fn pages(open: u128, closed: u128, new: u128, size: u64) -> Vec<Vec<u128>> {
        let ids = |range: Range<u128>| range.map(|n| FeatureRequestId::new(Uuid::from_u128(n))).collect::<Vec<_>>();
        let (all, new) = (ids(1..open + closed + 1), ids(101..101 + new));
        let total = (all.len() + new.len()) as u64;
        let page = |number: u64| {
            let page = PageRequest::parse(Some(&number.to_string()), Some(&size.to_string())).unwrap();
            let Range { start, end } = places(page);
            let others = all.iter().copied().skip(usize::try_from(start).unwrap());
            let others = others.take(usize::try_from(end - start).unwrap()).collect();
            let open = total - u64::try_from(closed).unwrap();
            let shown = on_page(page, &Ranking { total, open, new: new.clone(), others });
            shown.iter().map(|id| id.uuid().as_u128()).collect()
        };
        (1..=total.div_ceil(size) + 1).map(page).collect()
    }

    #[test]
    fn every_fourth_place_belongs_to_a_new_idea() {
        assert_eq!(pages(5, 0, 3, 5), [vec![1, 2, 3, 101, 4], vec![5, 102, 103], vec![]]);
        assert_eq!(pages(4, 2, 3, 5), [vec![1, 2, 3, 101, 4], vec![102, 103, 5, 6], vec![]]);
        assert_eq!(pages(9, 0, 1, 4), [vec![1, 2, 3, 101], vec![4, 5, 6, 7], vec![8, 9], vec![]]);
        assert_eq!(pages(0, 1, 3, 2), [vec![101, 102], vec![103, 1], vec![]]);
        assert_eq!(pages(1, 1, 0, 2), [vec![1, 2], vec![]]);
        assert_eq!(pages(0, 0, 0, 2), [Vec::<u128>::new()]);
    }

    #[test]
    fn pages_show_each_once() {
        for (open, closed, new, size) in [
            (90, 0, 10, 20),
            (80, 10, 10, 7),
            (2, 40, 10, 5),
            (30, 3, 10, 25),
            (3, 0, 10, 10),
            (0, 60, 10, 20),
            (99, 1, 0, 9),
            (100, 0, 1, 1),
        ] {
            let pages = pages(open, closed, new, size).concat();
            let place = |number: u128| pages.iter().position(|shown| *shown == number).unwrap();
            assert!((101..101 + new).all(|new| (open + 1..=open + closed).all(|closed| place(new) < place(closed))));
            let mut shown = pages;
            shown.sort_unstable();
            let expected: Vec<u128> = (1..=open + closed).chain(101..101 + new).collect();
            assert_eq!(shown, expected, "{open} {closed} {new} {size}");
        }
    }

    #[test]
    fn what_is_done_or_declined_is_known_by_its_track() {
        let track = |number: u128, name: &str, kind: Option<LaneKind>| Track {
            id: TrackId::new(Uuid::from_u128(number)),
            name: Name::parse("name", name).unwrap(),
            lane: kind.map(|kind| Lane {
                id: LaneId::new(Uuid::nil()),
                name: Name::parse("name", "Lane").unwrap(),
                kind,
                names: Localized::default(),
            }),
        };
        let tracks = [
            track(1, "Inbox", None),
            track(2, "Beta", Some(LaneKind::Done)),
            track(3, "Declined", None),
            track(4, "Done", Some(LaneKind::Started)),
            track(5, "No", Some(LaneKind::Declined)),
        ];
        let page = PageRequest::parse(Some("3"), Some("10")).unwrap();
        let now = at(WEIGHT_OF_ONE);
        let closed = [2, 3, 5].map(|number| TrackId::new(Uuid::from_u128(number))).to_vec();
        let expected = WantedRanking { closed, new_since: now.plus(Duration::days(-7)), places: 10..30 };
        assert_eq!(WantedRanking::of_page(page, &tracks, now), expected);
    }

    #[test]
    fn a_page_that_is_too_far_is_empty() {
        let page = PageRequest::parse(Some("99999999999999999999"), None).unwrap();
        assert!(places(page).start > 1 << 62);
        let id = FeatureRequestId::new(Uuid::nil());
        assert_eq!(on_page(page, &Ranking { total: 3, open: 3, new: vec![id], others: vec![id] }), []);
    }
}
