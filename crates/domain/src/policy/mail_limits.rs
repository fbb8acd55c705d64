//! The limits of a workspace's mail, and the time of its digests.

use time::Duration;

use crate::error::{Budget, OverBudget};
use crate::model::timestamp::Timestamp;

/// Maximum comments that a digest shows. It states the number of further comments.
pub const MAX_DIGEST_ENTRIES: u32 = 50;

/// The hours that count for the daily limit. Mails are counted by whole hours, so that a workspace has a few counters
/// instead of one for each mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailBudgetWindow {
    /// The hour in which new mails are counted.
    pub hour: Timestamp,
    /// The first hour whose mails count. It starts at most an hour before the 24 hours do.
    pub since: Timestamp,
}

impl MailBudgetWindow {
    /// The last 24 hours before a timestamp.
    #[must_use]
    pub fn ending_at(now: Timestamp) -> Self {
        let hour = start_of_hour(now);
        Self { hour, since: hour.plus(-Duration::DAY) }
    }
}

/// Checks the number of mails that a workspace created in a day.
///
/// # Errors
/// The number exceeds the limit.
pub fn check_daily_limit(mails: u64, limit: u64) -> Result<(), OverBudget> {
    if mails > limit { Err(OverBudget { budget: Budget::MailsPerDay, limit }) } else { Ok(()) }
}

/// Returns the start of the hour of a timestamp (UTC).
#[must_use]
pub fn start_of_hour(at: Timestamp) -> Timestamp {
    at.plus(-Duration::milliseconds(at.millis().rem_euclid(Duration::HOUR.whole_milliseconds() as i64)))
}

/// Returns the end of the hour of a timestamp, when the digest of the mails above the hourly limit goes out.
#[must_use]
pub fn end_of_hour(at: Timestamp) -> Timestamp {
    start_of_hour(at).plus(Duration::HOUR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        let form = &time::format_description::well_known::Rfc3339;
        Timestamp::new(time::OffsetDateTime::parse(text, form).unwrap())
    }

    #[test]
    fn hours_are_clock_hours() {
        for (now, hour, end) in [
            ("2026-03-01T09:30:00.123Z", "2026-03-01T09:00:00.000Z", "2026-03-01T10:00:00.000Z"),
            ("2026-03-01T09:00:00.000Z", "2026-03-01T09:00:00.000Z", "2026-03-01T10:00:00.000Z"),
            ("2026-03-01T08:59:59.999Z", "2026-03-01T08:00:00.000Z", "2026-03-01T09:00:00.000Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:00:00.000Z", "1970-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(
                (start_of_hour(at(now)).to_string(), end_of_hour(at(now)).to_string()),
                (hour.to_owned(), end.to_owned())
            );
        }
    }

    #[test]
    fn a_day_is_the_hour_and_the_24_before_it() {
        let day = MailBudgetWindow::ending_at(at("2026-03-01T09:30:00Z"));
        assert_eq!((day.hour, day.since), (at("2026-03-01T09:00:00Z"), at("2026-02-28T09:00:00Z")));
    }

    #[test]
    fn the_daily_limit_is_inclusive() {
        assert_eq!(check_daily_limit(10_000, 10_000), Ok(()));
        let over = OverBudget { budget: Budget::MailsPerDay, limit: 10_000 };
        assert_eq!(check_daily_limit(10_001, 10_000), Err(over));
    }
}
