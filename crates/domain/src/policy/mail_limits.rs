//! How much mail a workspace may send, and when the rest goes out.

use time::Duration;

use crate::error::{Budget, OverBudget};
use crate::model::timestamp::Timestamp;

/// How many comments a digest shows; of further ones it says how many they are.
pub const DIGEST_ENTRIES: u32 = 50;

/// What of a clock counts for the budget of a day: whole hours, so that a workspace has a few counters and not one for each
/// mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailDay {
    /// The hour that new mails are counted in.
    pub hour: Timestamp,
    /// The first hour of which the mails count. It began up to an hour before the day did.
    pub since: Timestamp,
}

impl MailDay {
    /// The last 24 hours.
    #[must_use]
    pub fn until(now: Timestamp) -> Self {
        let hour = hour_of(now);
        Self { hour, since: hour.plus(-Duration::DAY) }
    }
}

/// Whether a workspace may have made `mails` in a day.
///
/// # Errors
/// It may not.
pub fn check_day(mails: u64, limit: u64) -> Result<(), OverBudget> {
    if mails > limit { Err(OverBudget { budget: Budget::MailsPerDay, limit }) } else { Ok(()) }
}

/// When the hour began that a timestamp is in (UTC).
#[must_use]
pub fn hour_of(at: Timestamp) -> Timestamp {
    at.plus(-Duration::milliseconds(at.millis().rem_euclid(Duration::HOUR.whole_milliseconds() as i64)))
}

/// When that hour is over: then the mails go out in a digest that were too many for an address.
#[must_use]
pub fn end_of_hour(at: Timestamp) -> Timestamp {
    hour_of(at).plus(Duration::HOUR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        let form = &time::format_description::well_known::Rfc3339;
        Timestamp::new(time::OffsetDateTime::parse(text, form).unwrap())
    }

    #[test]
    fn hours_begin_and_end_with_the_clock_s() {
        for (now, hour, end) in [
            ("2026-03-01T09:30:00.123Z", "2026-03-01T09:00:00.000Z", "2026-03-01T10:00:00.000Z"),
            ("2026-03-01T09:00:00.000Z", "2026-03-01T09:00:00.000Z", "2026-03-01T10:00:00.000Z"),
            ("2026-03-01T08:59:59.999Z", "2026-03-01T08:00:00.000Z", "2026-03-01T09:00:00.000Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:00:00.000Z", "1970-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(
                (hour_of(at(now)).to_string(), end_of_hour(at(now)).to_string()),
                (hour.to_owned(), end.to_owned())
            );
        }
    }

    #[test]
    fn a_day_is_the_hour_and_the_24_before_it() {
        let day = MailDay::until(at("2026-03-01T09:30:00Z"));
        assert_eq!((day.hour, day.since), (at("2026-03-01T09:00:00Z"), at("2026-02-28T09:00:00Z")));
    }

    #[test]
    fn the_budget_of_a_day_is_the_last_mail_that_fits() {
        assert_eq!(check_day(10_000, 10_000), Ok(()));
        let over = OverBudget { budget: Budget::MailsPerDay, limit: 10_000 };
        assert_eq!(check_day(10_001, 10_000), Err(over));
    }
}
