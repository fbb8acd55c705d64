//! Compares orders of a list of feature requests over a year of generated votes.
//!
//! Each week, the first page of each order is judged by the votes of the next two weeks, which no order knows. The year has
//! favourites that grow old, series of votes after an announcement, ideas that only their authors vote for, two months in
//! which nobody comes, and after these a day with twenty new ideas.

use time::Duration;
use uuid::Uuid;

use super::{MAX_NEW, MIN_VOTES, Ranking, WEIGHT_OF_ONE, WantedRanking, on_page, weight};
use crate::model::id::FeatureRequestId;
use crate::model::pagination::PageRequest;
use crate::model::timestamp::Timestamp;

const DAYS: u64 = 365;
const PAGE: usize = 20;
/// The day after the two months without visitors, with twenty new ideas.
const BURST: u64 = 300;
/// The largest part of a first page that ideas with one vote may have.
const MAX_ONE_VOTE: usize = PAGE / 4;

/// A generator of pseudo-random numbers, which are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// A feature request with the days on which it was voted for, the first one by its author.
struct Board {
    requests: Vec<(u64, Vec<u64>)>,
}

/// An order: what is called so, and the first page of a day.
type Order = (&'static str, fn(&Board, u64) -> Vec<usize>);

const ORDERS: [Order; 4] = [
    ("trending", Board::trending),
    ("votes halved for 45 days of age", Board::by_age),
    ("most votes", Board::most_voted),
    ("newest", Board::newest),
];

fn is_quiet(day: u64) -> bool {
    (240..BURST).contains(&day)
}

impl Board {
    fn generate(random: &mut Random) -> Self {
        let mut requests = Vec::new();
        for number in 0..400 {
            // A quarter is there from the beginning.
            let created = if number < 100 { 0 } else { random.below(DAYS) };
            let created = if is_quiet(created) { BURST } else { created };
            // Few are popular: one in forty gets a vote nearly every second day while it is new, most nearly none.
            let per_mille = [500, 200, 200, 60, 60, 60, 60, 20][usize::try_from(random.below(40)).unwrap_or(7).min(7)];
            let announced = (random.below(20) == 0).then(|| created + random.below(200));
            let mut votes = vec![created];
            for day in created + 1..DAYS {
                // Interest falls by half in half a year.
                let interest = per_mille >> ((day - created) / 180);
                let is_announced = announced.is_some_and(|from| (from..from + 10).contains(&day));
                let chances = if is_announced { 5 } else { 1 };
                for _ in 0..chances {
                    if !is_quiet(day) && random.below(1_000) < interest + if is_announced { 500 } else { 0 } {
                        votes.push(day);
                    }
                }
            }
            requests.push((created, votes));
        }
        requests.extend((0..20).map(|_| (BURST, vec![BURST])));
        Self { requests }
    }

    /// The feature requests of a day, and how many votes each has.
    fn on(&self, day: u64) -> Vec<(usize, usize)> {
        let there = self.requests.iter().enumerate().filter(|(_, (created, _))| *created <= day);
        there.map(|(index, (_, votes))| (index, votes.iter().filter(|at| **at <= day).count())).collect()
    }

    fn first_page(&self, day: u64, score: impl Fn(usize, usize) -> f64) -> Vec<usize> {
        let mut all = self.on(day);
        all.sort_by(|a, b| score(b.0, b.1).total_cmp(&score(a.0, a.1)).then(b.0.cmp(&a.0)));
        all.into_iter().take(PAGE).map(|(index, _)| index).collect()
    }

    /// As the service ranks, with the stores' part of it.
    fn trending(&self, day: u64) -> Vec<usize> {
        let id = |index: usize| FeatureRequestId::new(Uuid::from_u128(index as u128));
        let page = PageRequest::first(PAGE as u64);
        let wanted = WantedRanking::of_page(page, &[], at(day));
        let all = self.on(day);
        let is_new = |(index, votes): &(usize, usize)| {
            (*votes as u64) < MIN_VOTES.unsigned_abs() && at(self.requests[*index].0) >= wanted.new_since
        };
        let (mut new, mut others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_new);
        new.sort_by_key(|(index, _)| std::cmp::Reverse((self.requests[*index].0, *index)));
        let new = new.into_iter().map(|(index, _)| id(index)).take(usize::try_from(MAX_NEW).unwrap_or(0));
        let trend = |index: usize| -> f64 {
            let votes = self.requests[index].1.iter().filter(|at| **at <= day);
            votes.map(|day| weight(at(*day))).sum()
        };
        others.sort_by(|a, b| {
            let is_voted = |votes: usize| votes as u64 >= MIN_VOTES.unsigned_abs();
            (is_voted(b.1).cmp(&is_voted(a.1))).then(trend(b.0).total_cmp(&trend(a.0)))
        });
        let others = others.into_iter().map(|(index, _)| id(index)).take(PAGE).collect();
        let total = self.on(day).len() as u64;
        let ranking = Ranking { total, open: total, new: new.collect(), others };
        let shown = on_page(page, &ranking).into_iter();
        shown.filter_map(|id| usize::try_from(id.uuid().as_u128()).ok()).collect()
    }

    /// The rule before: all votes, halved for every 45 days of the age.
    #[expect(clippy::cast_precision_loss, reason = "days of a year")]
    fn by_age(&self, day: u64) -> Vec<usize> {
        let score = |index: usize, votes: usize| {
            (votes as f64 + 1.0) * (-((day - self.requests[index].0) as f64) / 45.0).exp2()
        };
        self.first_page(day, score)
    }

    #[expect(clippy::cast_precision_loss, reason = "hundreds of votes")]
    fn most_voted(&self, day: u64) -> Vec<usize> {
        self.first_page(day, |_, votes| votes as f64)
    }

    #[expect(clippy::cast_precision_loss, reason = "days of a year")]
    fn newest(&self, day: u64) -> Vec<usize> {
        self.first_page(day, |index, _| self.requests[index].0 as f64)
    }

    /// How many votes a feature request gets in the two weeks after a day.
    fn next_votes(&self, index: usize, day: u64) -> usize {
        self.requests[index].1.iter().filter(|at| (day + 1..=day + 14).contains(at)).count()
    }
}

fn at(day: u64) -> Timestamp {
    let begin = Timestamp::from_millis(WEIGHT_OF_ONE).unwrap_or(Timestamp::MIN);
    begin.plus(Duration::DAY * u32::try_from(day).unwrap_or(0))
}

#[test]
fn recent_votes_foretell_the_next_ones() {
    const SEEDS: u64 = 4;
    println!(
        "| order | next votes on the first page | ideas with one vote there, at most | on the day of the 20 ideas |"
    );
    println!("|---|---|---|---|");
    let mut found = Vec::new();
    for (name, order) in ORDERS {
        let (mut caught, mut possible, mut most, mut on_burst) = (0, 0, 0, 0);
        for seed in 1..=SEEDS {
            let board = Board::generate(&mut Random(seed));
            let one_vote = |day: u64, page: &[usize]| {
                let votes = board.on(day);
                page.iter().filter(|index| votes.iter().any(|of| of.0 == **index && of.1 == 1)).count()
            };
            for day in (84..DAYS - 14).step_by(7).filter(|day| !is_quiet(*day + 14)) {
                let page = order(&board, day);
                caught += page.iter().map(|index| board.next_votes(*index, day)).sum::<usize>();
                let mut best: Vec<usize> =
                    board.on(day).into_iter().map(|(index, _)| board.next_votes(index, day)).collect();
                best.sort_unstable_by_key(|votes| std::cmp::Reverse(*votes));
                possible += best.into_iter().take(PAGE).sum::<usize>();
                most = most.max(one_vote(day, &page));
            }
            on_burst = on_burst.max(one_vote(BURST, &order(&board, BURST)));
        }
        let percent = caught * 100 / possible;
        println!("| {name} | {percent} % | {most} of {PAGE} | {on_burst} of {PAGE} |");
        found.push((percent, most.max(on_burst)));
    }
    let (percent, one_vote) = found[0];
    assert!(found[1..].iter().all(|(other, _)| *other < percent), "{found:?}");
    assert!(one_vote <= MAX_ONE_VOTE, "{found:?}");
}
