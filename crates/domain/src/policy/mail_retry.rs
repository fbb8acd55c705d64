//! When a failed message is retried, and when it is given up.

use std::num::NonZeroU32;

use time::Duration;

use crate::model::mail::SendError;
use crate::model::message::{MessageId, MessageOutcome};
use crate::model::timestamp::Timestamp;

/// Maximum attempts to send a message.
pub const MAX_ATTEMPTS: u32 = 10;

/// The delay after the first attempt. Each further delay is three times as long, up to [`MAX_DELAY`]. The nine delays
/// between ten attempts add up to 25 hours, so that a mail survives a mail server that is down for a day.
const INITIAL_DELAY: Duration = Duration::seconds(30);

const MAX_DELAY: Duration = Duration::hours(8);

/// How long a message waits for a connection to the mail server before the missing connections count as attempts. It
/// survives a weekend, and then the time of [`MAX_ATTEMPTS`].
const MAX_WAIT_FOR_CONNECTION: Duration = Duration::days(3);

/// The shortest and the longest delay until a message that had no connection is tried again.
const CONNECTION_DELAY: (Duration, Duration) = (Duration::seconds(30), Duration::minutes(15));

/// Returns the outcome of a message whose `attempt`-th attempt failed. It waits to be sent since `waiting_since`.
#[must_use]
pub fn outcome_after_failure(
    message: &MessageId,
    attempt: NonZeroU32,
    waiting_since: Timestamp,
    error: SendError,
    now: Timestamp,
) -> MessageOutcome {
    let waited = Duration::milliseconds(now.millis().saturating_sub(waiting_since.millis()));
    match error {
        SendError::NoConnection { reason } if waited < MAX_WAIT_FOR_CONNECTION => {
            MessageOutcome::Deferred { until: now.plus(connection_delay(message, waited)), reason }
        }
        SendError::NoConnection { reason } => {
            outcome_after_failure(message, attempt, waiting_since, SendError::Transient { reason }, now)
        }
        SendError::Permanent { reason, no_such_mailbox } => MessageOutcome::Dead { reason, no_such_mailbox },
        SendError::Transient { reason } if attempt.get() >= MAX_ATTEMPTS => {
            MessageOutcome::Dead { reason: format!("given up after {attempt} tries: {reason}"), no_such_mailbox: false }
        }
        SendError::Transient { reason } => {
            MessageOutcome::Postponed { until: now.plus(retry_delay(message, attempt)), reason }
        }
    }
}

/// Returns the delay after an attempt.
fn retry_delay(message: &MessageId, attempt: NonZeroU32) -> Duration {
    let steps = attempt.get().saturating_sub(1);
    spread(message, INITIAL_DELAY.saturating_mul(3_i32.saturating_pow(steps)).min(MAX_DELAY))
}

/// Returns the delay of a message that had no connection: a quarter of the time that it has waited already.
fn connection_delay(message: &MessageId, waited: Duration) -> Duration {
    let (shortest, longest) = CONNECTION_DELAY;
    spread(message, (waited / 4_i32).clamp(shortest, longest))
}

/// Makes a delay up to a fifth longer than the rule, by a checksum of the message's identity, so that messages that
/// failed together are not retried together.
fn spread(message: &MessageId, rule: Duration) -> Duration {
    let share = f64::from(crc32fast::hash(message.as_str().as_bytes()) % 1_000) / 1_000.0;
    rule + rule * (share / 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::now;

    fn message(number: u128) -> MessageId {
        MessageId::new(number.to_string())
    }

    fn attempt(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    fn transient() -> SendError {
        SendError::Transient { reason: "450 busy".to_owned() }
    }

    /// Decision 6.
    #[test]
    fn retry_delays_grow_from_under_a_minute_to_over_a_day_in_total() {
        for number in [0, 1, 500, 999, u128::MAX] {
            let mut whole = Duration::ZERO;
            for try_number in 1..MAX_ATTEMPTS {
                let MessageOutcome::Postponed { until, reason } =
                    outcome_after_failure(&message(number), attempt(try_number), now(), transient(), now())
                else {
                    panic!("try {try_number} is the last")
                };
                let waited = Duration::milliseconds(until.millis() - now().millis());
                assert_eq!(reason, "450 busy");
                assert!(try_number > 1 || waited <= Duration::MINUTE, "{waited}");
                assert!(waited <= MAX_DELAY * 1.2, "{waited}");
                whole += waited;
            }
            assert!(whole >= Duration::hours(24) && whole <= Duration::hours(31), "{whole}");
        }
        assert_ne!(retry_delay(&message(1), attempt(1)), retry_delay(&message(2), attempt(1)));
    }

    /// Decision 6.
    #[test]
    fn the_last_attempt_is_final() {
        let dead =
            MessageOutcome::Dead { reason: "given up after 10 tries: 450 busy".to_owned(), no_such_mailbox: false };
        assert_eq!(outcome_after_failure(&message(1), attempt(10), now(), transient(), now()), dead);
        let dead =
            MessageOutcome::Dead { reason: "given up after 11 tries: 450 busy".to_owned(), no_such_mailbox: false };
        assert_eq!(outcome_after_failure(&message(1), attempt(11), now(), transient(), now()), dead);
    }

    #[test]
    fn a_missing_connection_is_no_attempt_for_three_days() {
        let outcome = |waited: Duration, number: u32| {
            let error = SendError::NoConnection { reason: "421 too many".to_owned() };
            outcome_after_failure(&message(1), attempt(number), now().plus(-waited), error, now())
        };
        for (waited, shortest, longest) in [
            (Duration::ZERO, Duration::seconds(30), Duration::seconds(36)),
            // The clock was set back.
            (Duration::hours(-1), Duration::seconds(30), Duration::seconds(36)),
            (Duration::minutes(10), Duration::seconds(150), Duration::seconds(180)),
            (Duration::days(3) - Duration::SECOND, Duration::minutes(15), Duration::minutes(18)),
        ] {
            // Also of a message that has only one attempt left.
            for number in [1, MAX_ATTEMPTS] {
                let MessageOutcome::Deferred { until, reason } = outcome(waited, number) else {
                    panic!("{waited}: {:?}", outcome(waited, number))
                };
                let delay = Duration::milliseconds(until.millis() - now().millis());
                assert!(delay >= shortest && delay <= longest, "{waited}: {delay}");
                assert_eq!(reason, "421 too many");
            }
        }
        assert!(matches!(outcome(Duration::days(3), 1), MessageOutcome::Postponed { .. }));
        let given_up = "given up after 10 tries: 421 too many".to_owned();
        let dead = MessageOutcome::Dead { reason: given_up, no_such_mailbox: false };
        assert_eq!(outcome(Duration::days(3), MAX_ATTEMPTS), dead);
    }

    /// Decision 6.
    #[test]
    fn a_permanent_error_is_dead_at_once() {
        let permanent = SendError::Permanent { reason: "550 5.1.1 who?".to_owned(), no_such_mailbox: true };
        let dead = MessageOutcome::Dead { reason: "550 5.1.1 who?".to_owned(), no_such_mailbox: true };
        assert_eq!(outcome_after_failure(&message(1), attempt(1), now(), permanent, now()), dead);
    }
}
