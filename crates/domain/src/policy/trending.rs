//! Trending feature requests: votes weighed against age.
//!
//! A feature request counts half as much for every [`HALF_LIFE`] since it was submitted. Only candidates are compared,
//! the most voted and the newest ones: an old one with few votes cannot trend.

use time::Duration;

use crate::model::id::FeatureRequestId;
use crate::model::timestamp::Timestamp;

/// Number of candidates of each kind: the most voted and the newest.
pub const CANDIDATES: u32 = 100;

/// The time in which a feature request loses half of its weight.
pub const HALF_LIFE: Duration = Duration::days(45);

/// A feature request that may trend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    pub id: FeatureRequestId,
    pub tag_number: i64,
    /// Number of votes.
    pub votes_count: i64,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
}

impl Candidate {
    #[expect(clippy::cast_precision_loss, reason = "a ratio of times and votes need not be exact")]
    fn score(&self, now: Timestamp) -> f64 {
        let age = (now.millis() - self.created_at.millis()).max(0) as f64;
        let half_lives = age / HALF_LIFE.whole_milliseconds() as f64;
        (self.votes_count + 1) as f64 * (-half_lives).exp2()
    }
}

/// Returns the candidates without repetitions, those that trend most first, the newest first among equals.
#[must_use]
pub fn rank(mut candidates: Vec<Candidate>, now: Timestamp) -> Vec<FeatureRequestId> {
    candidates.sort_by(|a, b| b.score(now).total_cmp(&a.score(now)).then(b.tag_number.cmp(&a.tag_number)));
    candidates.dedup_by_key(|candidate| candidate.id);
    candidates.into_iter().map(|candidate| candidate.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::now;
    use uuid::Uuid;

    #[test]
    fn votes_count_half_after_a_half_life() {
        let candidate = |number: u128, votes_count: i64, half_lives: i32| Candidate {
            id: FeatureRequestId::new(Uuid::from_u128(number)),
            tag_number: i64::try_from(number).unwrap(),
            votes_count,
            created_at: now().plus(-HALF_LIFE * half_lives),
        };
        let candidates = vec![
            candidate(1, 99, 5),
            candidate(2, 9, 0),
            candidate(3, 19, 1),
            candidate(4, 30, 1),
            candidate(1, 99, 5),
            // From a clock that is ahead: as if it were new.
            candidate(5, 3, -1),
        ];
        let ids: Vec<u128> = rank(candidates, now()).iter().map(|id| id.uuid().as_u128()).collect();
        assert_eq!(ids, [4, 3, 2, 5, 1]);
    }
}
