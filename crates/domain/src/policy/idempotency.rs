//! Which answers are saved under an operation key, and for how long. Contract section 4.10.

use crate::model::operation_key::SavedResponse;
use crate::model::timestamp::Timestamp;

/// Only successes are saved: a failed call can be corrected and sent again with its key.
#[must_use]
pub fn should_save(response: &SavedResponse) -> bool {
    (200..300).contains(&response.status)
}

/// The shortest time for which answers are kept: a client that retries for a day is safe.
pub const MIN_RETENTION: time::Duration = time::Duration::DAY;

/// The moment before which saved answers are forgotten.
#[must_use]
pub fn purge_cutoff(now: Timestamp, retention: time::Duration) -> Timestamp {
    now.plus(-retention.max(MIN_RETENTION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_successes_are_saved() {
        let saved = |status| should_save(&SavedResponse { status, body: vec![] });
        assert!(saved(200) && saved(201) && saved(299));
        for status in [199, 300, 401, 404, 409, 422, 500, 503] {
            assert!(!saved(status), "{status}");
        }
    }

    #[test]
    fn saved_responses_are_kept_for_at_least_a_day() {
        let now = Timestamp::from_millis(1_000_000_000_000).unwrap();
        assert_eq!(purge_cutoff(now, time::Duration::days(30)), now.plus(-time::Duration::days(30)));
        assert_eq!(purge_cutoff(now, time::Duration::HOUR), now.plus(-time::Duration::DAY));
    }
}
