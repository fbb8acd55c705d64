//! Rules for saved responses of operation keys, contract section 4.10.

use crate::model::operation_key::SavedResponse;
use crate::model::timestamp::Timestamp;

/// Whether a response is saved. Only successes are, so that a client can correct a failed request and send it again
/// with the same key.
#[must_use]
pub fn should_save(response: &SavedResponse) -> bool {
    (200..300).contains(&response.status)
}

/// Minimum retention of saved responses, so that clients can safely retry for a day.
pub const MIN_RETENTION: time::Duration = time::Duration::DAY;

/// Returns the timestamp before which saved responses are purged.
#[must_use]
pub fn purge_cutoff(now: Timestamp, retention: time::Duration) -> Timestamp {
    now.plus(-retention.max(MIN_RETENTION))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 4.10; Decision 5.
    #[test]
    fn only_successes_are_saved() {
        let saved = |status| should_save(&SavedResponse { status, body: vec![] });
        assert!(saved(200) && saved(201) && saved(299));
        for status in [199, 300, 401, 404, 409, 422, 500, 503] {
            assert!(!saved(status), "{status}");
        }
    }

    /// Decision 5.
    #[test]
    fn saved_responses_are_kept_for_at_least_a_day() {
        let now = Timestamp::from_millis(1_000_000_000_000).unwrap();
        assert_eq!(purge_cutoff(now, time::Duration::days(30)), now.plus(-time::Duration::days(30)));
        assert_eq!(purge_cutoff(now, time::Duration::HOUR), now.plus(-time::Duration::DAY));
    }
}
