//! Which webhook may begin how many tries.

use std::collections::{HashMap, VecDeque};

use time::Duration;

use crate::model::id::{WebhookId, WorkspaceId};
use crate::model::timestamp::Timestamp;
use crate::model::webhook::{AttemptError, WebhookFormat};

/// Maximum number of tries at a time in a process.
pub(super) const MAX_TRIES: usize = 64;

/// Maximum number of tries at a time to one webhook.
const MAX_OF_WEBHOOK: usize = 4;

/// The number of time-outs in a row after which a webhook gets one try at a time.
const PATIENCE: u32 = 3;

/// The shortest time between two messages to a chat service.
const CHAT_INTERVAL: Duration = Duration::SECOND;

/// A webhook and its workspace.
pub(super) type Key = (WorkspaceId, WebhookId);

/// What is known of a webhook with due deliveries.
#[derive(Debug, Default)]
struct Endpoint {
    /// Tries under way, and those for which deliveries are being leased.
    tries: usize,
    is_leasing: bool,
    /// Whether there may be due deliveries.
    has_due: bool,
    /// `None` until its first delivery was leased.
    format: Option<WebhookFormat>,
    timeouts_in_a_row: u32,
    /// No try begins before this time.
    not_before: Option<Timestamp>,
}

impl Endpoint {
    fn limit(&self) -> usize {
        match self.format {
            Some(WebhookFormat::Standard) if self.timeouts_in_a_row < PATIENCE => MAX_OF_WEBHOOK,
            _ => 1,
        }
    }
}

/// The tries of a process. Of an idle webhook, only its time-outs are remembered.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    endpoints: HashMap<Key, Endpoint>,
    /// The webhooks in the order in which they get their next tries.
    order: VecDeque<Key>,
    tries: usize,
    of_workspaces: HashMap<WorkspaceId, usize>,
}

impl Schedule {
    /// Adds webhooks with due deliveries. The others of the last time that are idle are forgotten.
    pub(super) fn found(&mut self, due: &[Key], now: Timestamp) {
        for key in due {
            let endpoint = self.endpoints.entry(*key).or_insert_with(|| {
                self.order.push_back(*key);
                Endpoint::default()
            });
            endpoint.has_due = true;
        }
        let endpoints = &mut self.endpoints;
        endpoints.retain(|_, endpoint| {
            let is_busy = endpoint.has_due || endpoint.tries > 0 || endpoint.is_leasing;
            // One that never answers is found again when its next try is due.
            is_busy || endpoint.timeouts_in_a_row > 0 || endpoint.not_before.is_some_and(|at| at > now)
        });
        self.order.retain(|key| endpoints.contains_key(key));
    }

    /// Returns a webhook for which deliveries are to be leased, and how many at most. They count as tries until
    /// [`Self::leased`].
    pub(super) fn next_lease(&mut self, now: Timestamp) -> Option<(Key, usize)> {
        for _ in 0..self.order.len() {
            let key = self.order.pop_front()?;
            self.order.push_back(key);
            let of_workspace = self.of_workspaces.get(&key.0).copied().unwrap_or(0);
            let free = (MAX_TRIES / 2).saturating_sub(of_workspace).min(MAX_TRIES.saturating_sub(self.tries));
            let Some(endpoint) = self.endpoints.get_mut(&key) else { continue };
            let waits = endpoint.not_before.is_some_and(|at| at > now);
            if !endpoint.has_due || endpoint.is_leasing || waits {
                continue;
            }
            let mut tries = 0;
            // Of the free tries, others of the workspace are to find some: a webhook that never answers has fewer.
            while endpoint.tries + tries < endpoint.limit() && endpoint.tries + tries < free.saturating_sub(tries) {
                tries += 1;
            }
            if tries == 0 {
                continue;
            }
            endpoint.is_leasing = true;
            endpoint.tries += tries;
            self.tries += tries;
            *self.of_workspaces.entry(key.0).or_default() += tries;
            return Some((key, tries));
        }
        None
    }

    /// Counts what was leased of the `limit` that [`Self::next_lease`] returned. The tries begin now.
    pub(super) fn leased(
        &mut self,
        key: Key,
        limit: usize,
        leased: usize,
        format: Option<WebhookFormat>,
        now: Timestamp,
    ) {
        if let Some(endpoint) = self.endpoints.get_mut(&key) {
            endpoint.is_leasing = false;
            endpoint.has_due = leased >= limit;
            endpoint.format = format.or(endpoint.format);
            if leased > 0 && endpoint.format.is_some_and(WebhookFormat::is_chat) {
                endpoint.not_before = Some(now.plus(CHAT_INTERVAL));
            }
        }
        self.release(key, limit.saturating_sub(leased));
    }

    /// Counts a try as ended.
    pub(super) fn ended(&mut self, key: Key, error: Option<AttemptError>) {
        if let Some(endpoint) = self.endpoints.get_mut(&key) {
            let timed_out = error == Some(AttemptError::Timeout);
            endpoint.timeouts_in_a_row = if timed_out { endpoint.timeouts_in_a_row.saturating_add(1) } else { 0 };
        }
        self.release(key, 1);
    }

    fn release(&mut self, key: Key, tries: usize) {
        if let Some(endpoint) = self.endpoints.get_mut(&key) {
            endpoint.tries = endpoint.tries.saturating_sub(tries);
        }
        self.tries = self.tries.saturating_sub(tries);
        if let Some(of_workspace) = self.of_workspaces.get_mut(&key.0) {
            *of_workspace = of_workspace.saturating_sub(tries);
            if *of_workspace == 0 {
                self.of_workspaces.remove(&key.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::now;
    use uuid::Uuid;

    fn key(workspace: u128, webhook: u128) -> Key {
        (WorkspaceId::new(Uuid::from_u128(workspace)), WebhookId::new(Uuid::from_u128(webhook)))
    }

    /// Begins all tries that may begin, for webhooks that always have due deliveries. Returns their number for each.
    fn begin_all(schedule: &mut Schedule, format: WebhookFormat) -> HashMap<Key, usize> {
        let mut begun: HashMap<Key, usize> = HashMap::new();
        while let Some((key, limit)) = schedule.next_lease(now()) {
            schedule.leased(key, limit, limit, Some(format), now());
            *begun.entry(key).or_default() += limit;
        }
        begun
    }

    #[test]
    fn a_webhook_has_four_tries_at_a_time_and_one_if_it_never_answers() {
        let mut schedule = Schedule::default();
        schedule.found(&[key(1, 1)], now());
        assert_eq!(begin_all(&mut schedule, WebhookFormat::Standard)[&key(1, 1)], 4);
        for _ in 0..4 {
            schedule.ended(key(1, 1), Some(AttemptError::Timeout));
        }
        assert_eq!(begin_all(&mut schedule, WebhookFormat::Standard)[&key(1, 1)], 1);
        schedule.ended(key(1, 1), Some(AttemptError::Status));
        assert_eq!(begin_all(&mut schedule, WebhookFormat::Standard)[&key(1, 1)], 4, "an answer ends the doubt");
    }

    #[test]
    fn a_chat_service_gets_one_message_a_second() {
        let mut schedule = Schedule::default();
        schedule.found(&[key(1, 1)], now());
        assert_eq!(begin_all(&mut schedule, WebhookFormat::Slack)[&key(1, 1)], 1);
        schedule.ended(key(1, 1), None);
        assert_eq!(schedule.next_lease(now().plus(Duration::milliseconds(999))), None);
        assert_eq!(schedule.next_lease(now().plus(Duration::SECOND)), Some((key(1, 1), 1)));
    }

    #[test]
    fn a_workspace_has_half_of_all_tries() {
        let mut schedule = Schedule::default();
        let crowd: Vec<Key> = (0..10).map(|webhook| key(1, webhook)).collect();
        schedule.found(&crowd, now());
        let begun: usize = begin_all(&mut schedule, WebhookFormat::Standard).values().sum();
        assert!((24..=MAX_TRIES / 2).contains(&begun), "{begun}");
        schedule.found(&[key(2, 1)], now());
        assert_eq!(
            begin_all(&mut schedule, WebhookFormat::Standard)[&key(2, 1)],
            4,
            "another workspace is not delayed"
        );
    }

    #[test]
    fn nine_webhooks_that_never_answer_leave_room_for_the_tenth() {
        let mut schedule = Schedule::default();
        let silent: Vec<Key> = (0..9).map(|webhook| key(1, webhook)).collect();
        schedule.found(&silent, now());
        begin_all(&mut schedule, WebhookFormat::Standard);
        schedule.found(&[key(1, 9)], now());
        assert!(begin_all(&mut schedule, WebhookFormat::Standard).contains_key(&key(1, 9)));
    }

    #[test]
    fn what_was_not_leased_is_free_again_and_idle_webhooks_are_forgotten() {
        let mut schedule = Schedule::default();
        schedule.found(&[key(1, 1)], now());
        let (_, limit) = schedule.next_lease(now()).unwrap();
        assert_eq!(schedule.next_lease(now()), None, "one lease at a time");
        schedule.leased(key(1, 1), limit, 0, None, now());
        assert_eq!((schedule.tries, schedule.of_workspaces.len()), (0, 0));
        assert_eq!(schedule.next_lease(now()), None, "nothing is due");
        schedule.found(&[], now());
        assert!(schedule.endpoints.is_empty() && schedule.order.is_empty());
    }
}
