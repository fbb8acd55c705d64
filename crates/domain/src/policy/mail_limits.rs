//! How much mail a workspace may send, and when the rest goes out.

use time::Duration;

use crate::error::{Budget, OverBudget};
use crate::model::timestamp::Timestamp;

/// How many comments a digest shows; of further ones it says how many they are.
pub const MAX_DIGEST_ENTRIES: u32 = 50;

/// What of a clock counts for the budget of a day: whole hours, so that a workspace has a few counters and not one for each
/// mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailBudgetWindow {
    /// The hour that new mails are counted in.
    pub hour: Timestamp,
    /// The first hour of which the mails count. It began up to an hour before the day did.
    pub since: Timestamp,
}

impl MailBudgetWindow {
    /// The last 24 hours.
    #[must_use]
    pub fn ending_at(now: Timestamp) -> Self {
        let hour = start_of_hour(now);
        Self { hour, since: hour.plus(-Duration::DAY) }
    }
}

/// Whether a workspace may have made `mails` in a day.
///
/// # Errors
/// It may not.
pub fn check_daily_limit(mails: u64, limit: u64) -> Result<(), OverBudget> {
    if mails > limit { Err(OverBudget { budget: Budget::MailsPerDay, limit }) } else { Ok(()) }
}

/// When the hour began that a timestamp is in (UTC).
#[must_use]
pub fn start_of_hour(at: Timestamp) -> Timestamp {
    at.plus(-Duration::milliseconds(at.millis().rem_euclid(Duration::HOUR.whole_milliseconds() as i64)))
}

/// When that hour is over: then the mails go out in a digest that were too many for an address.
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
