//! When a failed delivery is tried again, when it is given up, and when its webhook is disabled.

use std::num::NonZeroU32;

use time::macros::format_description;
use time::{Duration, PrimitiveDateTime};

use crate::model::timestamp::Timestamp;
use crate::model::webhook::{Attempt, AttemptError, DeliveryLease, DeliveryOutcome, DisabledBecause, Failure, Webhook};
use crate::model::webhook_event::EventKind;

/// How many tries in a row must have failed before a webhook is disabled.
pub const MIN_FAILED_TRIES: u32 = 20;

/// The status by which a server says that an endpoint is gone.
const GONE: u16 = 410;

/// The longest time for which a server can put off the next try.
const MAX_ASKED: Duration = Duration::hours(24);

/// The rules that the operator can set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryRules {
    /// The delays after the first try, the second one, and so on. When the try after the last delay has failed, the
    /// delivery is given up.
    pub delays: Vec<Duration>,
    /// After which time without a success a webhook is disabled. `None`: never.
    pub disable_after: Option<Duration>,
}

impl Default for RetryRules {
    fn default() -> Self {
        let delays = [
            Duration::seconds(5),
            Duration::minutes(5),
            Duration::minutes(30),
            Duration::hours(2),
            Duration::hours(5),
            Duration::hours(10),
            Duration::hours(14),
            Duration::hours(20),
            Duration::hours(24),
        ];
        Self { delays: delays.to_vec(), disable_after: Some(Duration::hours(120)) }
    }
}

/// Returns what becomes of a delivery of this kind after its `nth` try. `retry_after` is the value of `Retry-After` in
/// the response. A test event has one try.
#[must_use]
pub fn outcome(
    rules: &RetryRules,
    lease: &DeliveryLease,
    kind: EventKind,
    nth: NonZeroU32,
    attempt: &Attempt,
    retry_after: Option<&str>,
    now: Timestamp,
) -> DeliveryOutcome {
    match attempt.error {
        None => DeliveryOutcome::Delivered,
        Some(_) if is_gone(attempt) => DeliveryOutcome::Failed(Failure::Gone),
        Some(AttemptError::Blocked) => DeliveryOutcome::Failed(Failure::Blocked),
        Some(_) if kind == EventKind::WebhookTest => DeliveryOutcome::Failed(Failure::GaveUp),
        Some(_) => match delay_after(rules, nth) {
            Some(rule) => {
                let asked = retry_after.and_then(|raw| asked_delay(raw, now)).unwrap_or_default();
                DeliveryOutcome::Postponed(now.plus(spread(lease, nth, rule).max(asked)))
            }
            None => DeliveryOutcome::Failed(Failure::GaveUp),
        },
    }
}

/// Returns why a webhook is to be disabled after a try of an event that is no test. `webhook` is as it is after the
/// try.
#[must_use]
pub fn should_disable(
    rules: &RetryRules,
    webhook: &Webhook,
    attempt: &Attempt,
    now: Timestamp,
) -> Option<DisabledBecause> {
    if !webhook.enabled || attempt.error.is_none() {
        return None;
    }
    if is_gone(attempt) {
        return Some(DisabledBecause::Gone);
    }
    let (since, limit) = (webhook.failing_since?, rules.disable_after?);
    let is_failing = webhook.failed_tries >= MIN_FAILED_TRIES && since.plus(limit) <= now;
    is_failing.then_some(DisabledBecause::Failing)
}

fn is_gone(attempt: &Attempt) -> bool {
    attempt.error.is_some() && attempt.status == Some(GONE)
}

/// Returns the delay after a try, by the rule. `None` after the last one.
fn delay_after(rules: &RetryRules, nth: NonZeroU32) -> Option<Duration> {
    let index = usize::try_from(nth.get().saturating_sub(1)).ok()?;
    rules.delays.get(index).copied()
}

/// Makes a delay up to a fifth longer than the rule, by a checksum of the delivery and the try, so that deliveries that
/// failed together are not tried again together.
fn spread(lease: &DeliveryLease, nth: NonZeroU32, rule: Duration) -> Duration {
    let (webhook, event) = (lease.webhook.uuid(), lease.event.uuid());
    let identity = [&webhook.as_bytes()[..], &event.as_bytes()[..], &nth.get().to_be_bytes()[..]].concat();
    let share = f64::from(crc32fast::hash(&identity) % 1_000) / 1_000.0;
    rule.saturating_add(rule * (share / 5.0))
}

/// Returns how long a server asks to wait, at most [`MAX_ASKED`]: a number of seconds or a date (RFC 9110, 10.2.3).
/// `None` for anything else, also for the two obsolete forms of dates.
fn asked_delay(raw: &str, now: Timestamp) -> Option<Duration> {
    let raw = raw.trim();
    let delay = if !raw.is_empty() && raw.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that is too large for the type is far too long, too.
        raw.parse::<i64>().map_or(MAX_ASKED, Duration::seconds)
    } else {
        let form =
            format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");
        let date = Timestamp::new(PrimitiveDateTime::parse(raw, form).ok()?.assume_utc());
        Duration::milliseconds(date.millis().saturating_sub(now.millis()))
    };
    Some(delay.min(MAX_ASKED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{WebhookEventId, WebhookId};
    use crate::model::webhook::{Inclusion, WebhookFormat};
    use crate::usecase::fixtures::now;
    use uuid::Uuid;

    fn lease(webhook: u128, event: u128) -> DeliveryLease {
        let (webhook, event) = (WebhookId::new(Uuid::from_u128(webhook)), WebhookEventId::new(Uuid::from_u128(event)));
        DeliveryLease { webhook, event, until: now().plus(Duration::MINUTE) }
    }

    fn nth(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).unwrap()
    }

    fn attempt(status: Option<u16>, error: Option<AttemptError>) -> Attempt {
        Attempt { at: now(), status, error, duration_ms: 7, response: None }
    }

    fn refused(status: u16) -> Attempt {
        attempt(Some(status), Some(AttemptError::Status))
    }

    fn after(number: u32, attempt: &Attempt, retry_after: Option<&str>) -> DeliveryOutcome {
        let rules = RetryRules::default();
        outcome(&rules, &lease(1, 2), EventKind::VoteCreated, nth(number), attempt, retry_after, now())
    }

    /// Returns how long a delivery waits after a try.
    fn wait(outcome: DeliveryOutcome) -> Duration {
        let DeliveryOutcome::Postponed(until) = outcome else { panic!("{outcome:?}") };
        Duration::milliseconds(until.millis() - now().millis())
    }

    /// Webhooks: tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h, each up to a fifth longer.
    #[test]
    fn nine_delays_are_between_ten_tries() {
        let seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
        let rules = RetryRules::default();
        assert_eq!(rules.delays, seconds.map(Duration::seconds));
        assert_eq!(rules.disable_after, Some(Duration::days(5)));
        for error in [AttemptError::Status, AttemptError::Timeout, AttemptError::Unreachable, AttemptError::Tls] {
            let failed = attempt((error == AttemptError::Status).then_some(500), Some(error));
            for (number, rule) in (1..).zip(rules.delays.iter().copied()) {
                let waited = wait(after(number, &failed, None));
                assert!(waited >= rule && waited <= rule * 1.2, "{number}: {waited}");
            }
            for number in [10, 11, u32::MAX] {
                assert_eq!(after(number, &failed, Some("1")), DeliveryOutcome::Failed(Failure::GaveUp));
            }
        }
    }

    #[test]
    fn deliveries_that_failed_together_are_not_tried_again_together() {
        let rules = RetryRules { delays: vec![Duration::hours(10); 3], disable_after: None };
        let wait_of = |lease: &DeliveryLease, number: u32| {
            wait(outcome(&rules, lease, EventKind::VoteCreated, nth(number), &refused(500), None, now()))
        };
        let waits = [
            wait_of(&lease(1, 1), 1),
            wait_of(&lease(1, 1), 2),
            wait_of(&lease(1, 2), 1),
            wait_of(&lease(2, 1), 1),
            wait_of(&lease(2, 2), 1),
        ];
        assert_eq!(wait_of(&lease(1, 1), 1), waits[0]);
        for (at, wait) in waits.iter().enumerate() {
            assert!(!waits[..at].contains(wait), "{waits:?}");
        }
    }

    #[test]
    fn a_success_is_delivered_whatever_the_number_of_the_try() {
        for number in [1, 10, 99] {
            assert_eq!(after(number, &attempt(Some(204), None), Some("60")), DeliveryOutcome::Delivered);
        }
    }

    /// Webhooks: 410, and a forbidden address, fail at once.
    #[test]
    fn what_cannot_succeed_is_not_tried_again() {
        assert_eq!(after(1, &refused(410), Some("60")), DeliveryOutcome::Failed(Failure::Gone));
        let blocked = attempt(None, Some(AttemptError::Blocked));
        assert_eq!(after(1, &blocked, None), DeliveryOutcome::Failed(Failure::Blocked));
        // Redirects are never followed, and other statuses may change.
        for status in [301, 308, 400, 404, 429, 503] {
            assert!(matches!(after(1, &refused(status), None), DeliveryOutcome::Postponed(_)), "{status}");
        }
    }

    /// Webhooks: `webhook.test` is sent in one try.
    #[test]
    fn a_test_has_one_try() {
        let test = |attempt: &Attempt| {
            outcome(&RetryRules::default(), &lease(1, 2), EventKind::WebhookTest, nth(1), attempt, Some("1"), now())
        };
        assert_eq!(test(&refused(500)), DeliveryOutcome::Failed(Failure::GaveUp));
        assert_eq!(test(&attempt(None, Some(AttemptError::Timeout))), DeliveryOutcome::Failed(Failure::GaveUp));
        assert_eq!(test(&refused(410)), DeliveryOutcome::Failed(Failure::Gone));
        assert_eq!(test(&attempt(None, Some(AttemptError::Blocked))), DeliveryOutcome::Failed(Failure::Blocked));
        assert_eq!(test(&attempt(Some(200), None)), DeliveryOutcome::Delivered);
    }

    /// Webhooks: with `Retry-After` the next try is not earlier, at most 24 h later. It is Mon, 02 Feb 2026 02:40:00
    /// GMT.
    #[test]
    fn a_server_can_put_off_the_next_try_for_a_day() {
        assert_eq!(now().to_string(), "2026-02-02T02:40:00.000Z");
        let rule = wait(after(1, &refused(503), None));
        for (raw, asked) in [
            ("120", Some(Duration::minutes(2))),
            (" 120\t", Some(Duration::minutes(2))),
            ("86400", Some(Duration::days(1))),
            ("86401", Some(Duration::days(1))),
            ("99999999999999999999999999", Some(Duration::days(1))),
            ("Mon, 02 Feb 2026 03:40:00 GMT", Some(Duration::hours(1))),
            ("Tue, 03 Feb 2026 02:40:00 GMT", Some(Duration::days(1))),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(Duration::days(1))),
            // Not before the rule.
            ("0", None),
            ("1", None),
            ("Mon, 02 Feb 2026 02:40:01 GMT", None),
            ("Sun, 06 Nov 1994 08:49:37 GMT", None),
            // No number of seconds, and no such date.
            ("", None),
            ("soon", None),
            ("-120", None),
            ("+120", None),
            ("120.5", None),
            ("120, 240", None),
            ("１２０", None),
            ("Mon, 02 Feb 2026 03:40:00 UTC", None),
            ("Mon, 02 Feb 2026 03:40:00", None),
            ("Mon, 2 Feb 2026 03:40:00 GMT", None),
            ("Mon, 30 Feb 2026 03:40:00 GMT", None),
            ("2026-02-02T03:40:00Z", None),
        ] {
            assert_eq!(wait(after(1, &refused(503), Some(raw))), asked.unwrap_or(rule), "{raw}");
        }
        // A rule that is longer than a day stays.
        assert_eq!(after(9, &refused(503), Some("86400")), after(9, &refused(503), None));
        assert!(wait(after(9, &refused(503), Some("86400"))) >= Duration::days(1));
    }

    fn webhook(failing_since: Option<Timestamp>, failed_tries: u32) -> Webhook {
        let created_at = now().plus(-Duration::days(30));
        Webhook {
            id: WebhookId::new(Uuid::from_u128(1)),
            sealed_url: String::new(),
            secrets: Vec::new(),
            description: String::new(),
            format: WebhookFormat::Standard,
            events: None,
            includes: Inclusion::default(),
            enabled: true,
            disabled_because: None,
            enabled_at: created_at,
            disabled_at: None,
            failing_since,
            failed_tries,
            created_at,
            updated_at: created_at,
        }
    }

    /// Webhooks: no success for `webhook_disable_after`, and 20 failed tries; 410 at once.
    #[test]
    fn a_webhook_that_fails_for_too_long_is_disabled() {
        let (rules, never) = (RetryRules::default(), RetryRules { disable_after: None, ..RetryRules::default() });
        let since = |hours: i64| Some(now().plus(-Duration::hours(hours)));
        for (failing_since, failed_tries, expected) in [
            (since(120), 20, Some(DisabledBecause::Failing)),
            (since(500), 999, Some(DisabledBecause::Failing)),
            (since(120), 19, None),
            (since(119), 20, None),
            (None, 20, None),
        ] {
            let webhook = webhook(failing_since, failed_tries);
            let disabled = |rules: &RetryRules, attempt: &Attempt| should_disable(rules, &webhook, attempt, now());
            assert_eq!(disabled(&rules, &refused(500)), expected, "{failing_since:?} {failed_tries}");
            assert_eq!(disabled(&never, &refused(500)), None);
            assert_eq!(disabled(&rules, &attempt(None, Some(AttemptError::Blocked))), expected);
            assert_eq!(disabled(&rules, &attempt(Some(200), None)), None);
            assert_eq!(disabled(&never, &refused(410)), Some(DisabledBecause::Gone));
            let off = Webhook { enabled: false, ..webhook.clone() };
            assert_eq!(should_disable(&rules, &off, &refused(410), now()), None);
        }
    }
}
