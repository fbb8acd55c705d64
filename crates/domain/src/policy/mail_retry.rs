//! When a mail that could not be sent is tried again, and when never.

use std::num::NonZeroU32;

use time::Duration;

use crate::model::mail::{MailId, MailOutcome, NotSent};
use crate::model::timestamp::Timestamp;

/// How often a mail is tried.
pub const TRIES: u32 = 10;

/// The wait behind the first try; each further one is three times as long, up to [`LONGEST`]. The
/// nine waits between ten tries come to 25 hours, so that a mail outlives a mail server that is
/// away for a day.
const FIRST: Duration = Duration::seconds(30);

const LONGEST: Duration = Duration::hours(8);

/// What becomes of a mail that was not sent at its `attempt`-th try.
#[must_use]
pub fn outcome(mail: MailId, attempt: NonZeroU32, not_sent: NotSent, now: Timestamp) -> MailOutcome {
    match not_sent {
        NotSent::Never { reason, no_such_mailbox } => MailOutcome::Dead { reason, no_such_mailbox },
        NotSent::Later { reason } if attempt.get() >= TRIES => {
            MailOutcome::Dead { reason: format!("given up after {attempt} tries: {reason}"), no_such_mailbox: false }
        }
        NotSent::Later { reason } => MailOutcome::Postponed { until: now.plus(wait(mail, attempt)), reason },
    }
}

/// The wait behind a try: up to a fifth longer than the rule, by the mail's own identity, so that
/// mails that failed together do not come back together.
fn wait(mail: MailId, attempt: NonZeroU32) -> Duration {
    let steps = attempt.get().saturating_sub(1);
    let rule = FIRST.saturating_mul(3_i32.saturating_pow(steps)).min(LONGEST);
    let chance = (mail.customer.uuid().as_u128() ^ mail.comment.uuid().as_u128()) % 1_000;
    let share = f64::from(u32::try_from(chance).unwrap_or(0)) / 1_000.0;
    rule + rule * (share / 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{CommentId, CustomerId};
    use crate::usecase::fixtures::now;
    use uuid::Uuid;

    fn mail(number: u128) -> MailId {
        MailId { comment: CommentId::new(Uuid::nil()), customer: CustomerId::new(Uuid::from_u128(number)) }
    }

    fn attempt(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    fn later() -> NotSent {
        NotSent::Later { reason: "450 busy".to_owned() }
    }

    #[test]
    fn waits_grow_from_less_than_a_minute_to_a_day_and_more() {
        for number in [0, 1, 500, 999, u128::MAX] {
            let mut whole = Duration::ZERO;
            for try_number in 1..TRIES {
                let MailOutcome::Postponed { until, reason } =
                    outcome(mail(number), attempt(try_number), later(), now())
                else {
                    panic!("try {try_number} is the last")
                };
                let waited = Duration::milliseconds(until.millis() - now().millis());
                assert_eq!(reason, "450 busy");
                assert!(try_number > 1 || waited <= Duration::MINUTE, "{waited}");
                assert!(waited <= LONGEST * 1.2, "{waited}");
                whole += waited;
            }
            assert!(whole >= Duration::hours(24) && whole <= Duration::hours(31), "{whole}");
        }
        assert_ne!(wait(mail(1), attempt(1)), wait(mail(2), attempt(1)));
    }

    #[test]
    fn the_last_try_is_the_last() {
        let dead = MailOutcome::Dead { reason: "given up after 10 tries: 450 busy".to_owned(), no_such_mailbox: false };
        assert_eq!(outcome(mail(1), attempt(10), later(), now()), dead);
        let dead = MailOutcome::Dead { reason: "given up after 11 tries: 450 busy".to_owned(), no_such_mailbox: false };
        assert_eq!(outcome(mail(1), attempt(11), later(), now()), dead);
    }

    #[test]
    fn what_never_works_is_dead_at_once() {
        let never = NotSent::Never { reason: "550 5.1.1 who?".to_owned(), no_such_mailbox: true };
        let dead = MailOutcome::Dead { reason: "550 5.1.1 who?".to_owned(), no_such_mailbox: true };
        assert_eq!(outcome(mail(1), attempt(1), never, now()), dead);
    }
}
