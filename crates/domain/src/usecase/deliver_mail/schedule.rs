//! The order in which the workspaces' messages are sent, and how many concurrently.

use std::collections::{BTreeMap, VecDeque};

use crate::model::id::WorkspaceId;
use crate::model::message::Priority;

/// Concurrent sends of all priorities and workspaces together, of a mailer without a limit of its own.
pub(super) const MAX_CONCURRENT_SENDS: usize = 24;

/// Maximum workspaces whose leased messages wait for a slot.
const WORKSPACES: usize = 64;

/// Target number of leased messages, for all workspaces together.
const LEASED: usize = 320;

/// Maximum and minimum messages of one lease.
const BATCH: (usize, usize) = (40, 5);

/// The schedules of all priorities. Each has its own send slots, so that no message waits for a less urgent one.
#[derive(Debug)]
pub(super) struct Schedules<T> {
    urgent: Schedule<T>,
    bulk: Schedule<T>,
}

impl<T> Schedules<T> {
    /// Shares `slots` among the priorities: a third for urgent messages, the rest for bulk mail, at least one for each.
    pub(super) fn new(slots: usize) -> Self {
        let urgent = (slots / 3).max(1);
        Self { urgent: Schedule::new(urgent), bulk: Schedule::new(slots.saturating_sub(urgent).max(1)) }
    }

    /// Returns the schedule of a priority.
    pub(super) fn schedule(&mut self, priority: Priority) -> &mut Schedule<T> {
        match priority {
            Priority::Urgent => &mut self.urgent,
            Priority::Bulk => &mut self.bulk,
        }
    }

    /// Returns the next workspace to lease messages of, and the number of messages. The most urgent priority is first.
    pub(super) fn next_lease(&mut self) -> Option<(Priority, WorkspaceId, usize)> {
        Priority::ALL.into_iter().find_map(|priority| {
            self.schedule(priority).next_lease().map(|(workspace, limit)| (priority, workspace, limit))
        })
    }

    /// Returns the next message to send if a slot is free for it. The most urgent priority is first.
    pub(super) fn next_message(&mut self) -> Option<(Priority, WorkspaceId, T)> {
        Priority::ALL.into_iter().find_map(|priority| {
            self.schedule(priority).next_message().map(|(workspace, message)| (priority, workspace, message))
        })
    }

    /// Removes and returns all leased messages that are not being sent.
    pub(super) fn take_unsent(&mut self) -> Vec<(WorkspaceId, T)> {
        let mut unsent = self.urgent.take_unsent();
        unsent.append(&mut self.bulk.take_unsent());
        unsent
    }
}

/// The state of a worker for one priority: workspaces that wait for a lease, workspaces with messages to send, and the
/// running sends.
///
/// A workspace gets another slot only while it holds fewer slots than are free. A single workspace gets half of the
/// slots. If its sends hang, the others share the other half; the next workspace with hanging sends gets half of the
/// rest, and so on.
#[derive(Debug)]
pub(super) struct Schedule<T> {
    /// Maximum concurrent sends.
    slots: usize,
    workspaces: BTreeMap<WorkspaceId, State<T>>,
    /// Workspaces that wait for a lease.
    waiting: VecDeque<WorkspaceId>,
    /// Workspaces with leased messages, in the order in which they get slots.
    ready: VecDeque<WorkspaceId>,
    leasing: usize,
    sending: usize,
    looks: usize,
}

#[derive(Debug)]
struct State<T> {
    messages: VecDeque<T>,
    sending: usize,
    is_waiting: bool,
    is_leasing: bool,
    /// Whether there may be more due messages than the leased ones.
    has_more: bool,
    /// Whether messages were created during a lease statement, which may have missed them.
    has_new: bool,
}

impl<T> Default for State<T> {
    fn default() -> Self {
        Self {
            messages: VecDeque::new(),
            sending: 0,
            is_waiting: false,
            is_leasing: false,
            has_more: false,
            has_new: false,
        }
    }
}

impl<T> Schedule<T> {
    fn new(slots: usize) -> Self {
        Self {
            slots,
            workspaces: BTreeMap::new(),
            waiting: VecDeque::new(),
            ready: VecDeque::new(),
            leasing: 0,
            sending: 0,
            looks: 0,
        }
    }

    /// Adds workspaces with due messages. Each call starts with a different workspace, for fairness.
    pub(super) fn add(&mut self, mut due: Vec<WorkspaceId>) {
        if due.is_empty() {
            return;
        }
        let first = self.looks % due.len();
        due.rotate_left(first);
        self.looks = self.looks.wrapping_add(1);
        for workspace in due {
            self.wait(workspace);
        }
    }

    /// Records that more messages of the workspace were created.
    pub(super) fn messages_created(&mut self, workspace: WorkspaceId) {
        let state = self.workspaces.entry(workspace).or_default();
        state.has_more = true;
        state.has_new = state.is_leasing;
        self.wait(workspace);
    }

    fn wait(&mut self, workspace: WorkspaceId) {
        let state = self.workspaces.entry(workspace).or_default();
        if !state.is_waiting && !state.is_leasing && state.messages.is_empty() {
            state.is_waiting = true;
            self.waiting.push_back(workspace);
        }
    }

    /// Returns the next workspace to lease messages of, and the number of messages.
    fn next_lease(&mut self) -> Option<(WorkspaceId, usize)> {
        if self.leasing + self.ready.len() >= WORKSPACES {
            return None;
        }
        let workspace = self.waiting.pop_front()?;
        let state = self.workspaces.entry(workspace).or_default();
        (state.is_waiting, state.is_leasing) = (false, true);
        self.leasing += 1;
        let sharers = self.leasing + self.ready.len() + self.waiting.len();
        Some((workspace, (LEASED / sharers.max(1)).clamp(BATCH.1, BATCH.0)))
    }

    /// Records the result of a lease statement. `has_more` is whether there may be more messages.
    pub(super) fn leased(&mut self, workspace: WorkspaceId, messages: VecDeque<T>, has_more: bool) {
        self.leasing = self.leasing.saturating_sub(1);
        let state = self.workspaces.entry(workspace).or_default();
        state.is_leasing = false;
        let has_more = has_more || std::mem::take(&mut state.has_new);
        (state.messages, state.has_more) = (messages, has_more);
        if !state.messages.is_empty() {
            self.ready.push_back(workspace);
        } else if has_more {
            self.wait(workspace);
        } else {
            self.remove_if_idle(workspace);
        }
    }

    /// Returns the next message to send if a slot is free for it.
    fn next_message(&mut self) -> Option<(WorkspaceId, T)> {
        for _ in 0..self.ready.len() {
            let workspace = self.ready.pop_front()?;
            let free = self.slots.saturating_sub(self.sending);
            let Some(state) = self.workspaces.get_mut(&workspace) else { continue };
            if state.sending >= free {
                self.ready.push_back(workspace);
                continue;
            }
            let Some(message) = state.messages.pop_front() else { continue };
            state.sending += 1;
            self.sending += 1;
            if !state.messages.is_empty() {
                self.ready.push_back(workspace);
            } else if state.has_more {
                // To the end of the queue of waiting workspaces.
                self.wait(workspace);
            }
            return Some((workspace, message));
        }
        None
    }

    /// Frees the slot of a message that was settled, sent or not.
    pub(super) fn sent(&mut self, workspace: WorkspaceId) {
        self.sending = self.sending.saturating_sub(1);
        if let Some(state) = self.workspaces.get_mut(&workspace) {
            state.sending = state.sending.saturating_sub(1);
        }
        self.remove_if_idle(workspace);
    }

    fn take_unsent(&mut self) -> Vec<(WorkspaceId, T)> {
        self.ready.clear();
        let all = self.workspaces.iter_mut();
        all.flat_map(|(workspace, state)| state.messages.drain(..).map(|message| (*workspace, message))).collect()
    }

    fn remove_if_idle(&mut self, workspace: WorkspaceId) {
        let is_idle = |state: &State<T>| {
            state.sending == 0 && !state.is_waiting && !state.is_leasing && state.messages.is_empty()
        };
        if self.workspaces.get(&workspace).is_some_and(is_idle) {
            self.workspaces.remove(&workspace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const BULK_SENDS: usize = 16;
    const URGENT_SENDS: usize = 8;

    fn workspace(number: usize) -> WorkspaceId {
        WorkspaceId::new(Uuid::from_u128(number as u128))
    }

    /// A schedule with this number of workspaces and of mails in each.
    fn with(workspaces: usize, mails: usize) -> Schedule<usize> {
        let mut schedule = Schedule::new(BULK_SENDS);
        schedule.add((0..workspaces).map(workspace).collect());
        while let Some((workspace, _)) = schedule.next_lease() {
            schedule.leased(workspace, (0..mails).collect(), true);
        }
        schedule
    }

    fn held(schedule: &Schedule<usize>) -> Vec<usize> {
        schedule.workspaces.values().map(|state| state.sending).collect()
    }

    #[test]
    fn one_workspace_alone_gets_half_of_the_slots() {
        let mut schedule = with(1, 100);
        while schedule.next_message().is_some() {}
        assert_eq!(held(&schedule), [BULK_SENDS / 2]);
        schedule.sent(workspace(0));
        assert!(schedule.next_message().is_some() && schedule.next_message().is_none());
    }

    #[test]
    fn hanging_sends_of_a_workspace_leave_slots_for_others() {
        let mut schedule = Schedule::new(BULK_SENDS);
        for number in 0..4 {
            schedule.add(vec![workspace(number)]);
            let (workspace, _) = schedule.next_lease().unwrap();
            schedule.leased(workspace, (0..100).collect(), true);
            while schedule.next_message().is_some() {}
        }
        assert_eq!(held(&schedule), [8, 4, 2, 1]);
        schedule.add(vec![workspace(4)]);
        schedule.next_lease().unwrap();
        schedule.leased(workspace(4), [7].into(), false);
        assert_eq!(schedule.next_message(), Some((workspace(4), 7)));
    }

    #[test]
    fn workspaces_share_the_slots_evenly() {
        let mut schedule = with(8, 100);
        while schedule.next_message().is_some() {}
        // The last slot is reserved for a workspace that has none yet.
        assert_eq!(held(&schedule), [2, 2, 2, 2, 2, 2, 2, 1]);
        let mut schedule = with(50, 100);
        let first: Vec<WorkspaceId> =
            std::iter::from_fn(|| schedule.next_message()).map(|(workspace, _)| workspace).collect();
        assert_eq!(first, (0..BULK_SENDS).map(workspace).collect::<Vec<_>>());
        schedule.sent(workspace(0));
        assert_eq!(schedule.next_message().unwrap().0, workspace(BULK_SENDS));
    }

    #[test]
    fn leases_are_smaller_when_many_wait() {
        let lease = |workspaces: usize| {
            let mut schedule = Schedule::<usize>::new(BULK_SENDS);
            schedule.add((0..workspaces).map(workspace).collect());
            schedule.next_lease().unwrap().1
        };
        assert_eq!([1, 8, 16, 64, 1_000].map(lease), [40, 40, 20, 5, 5]);
        let mut schedule = Schedule::<usize>::new(BULK_SENDS);
        schedule.add((0..1_000).map(workspace).collect());
        assert_eq!(std::iter::from_fn(|| schedule.next_lease()).count(), WORKSPACES);
    }

    /// Decision 6: workspaces are served in rotation.
    #[test]
    fn each_look_up_starts_with_another_workspace() {
        let mut schedule = Schedule::<usize>::new(BULK_SENDS);
        let mut first = Vec::new();
        for _ in 0..4 {
            schedule.add((0..3).map(workspace).collect());
            let all: Vec<WorkspaceId> =
                std::iter::from_fn(|| schedule.next_lease()).map(|(workspace, _)| workspace).collect();
            first.push(all[0]);
            for workspace in all {
                schedule.leased(workspace, VecDeque::new(), false);
            }
            assert!(schedule.workspaces.is_empty());
        }
        assert_eq!(first, [0, 1, 2, 0].map(workspace));
    }

    #[test]
    fn a_workspace_is_queued_once_and_last() {
        let mut schedule = Schedule::new(BULK_SENDS);
        schedule.add(vec![workspace(1), workspace(1), workspace(2)]);
        assert_eq!(schedule.next_lease().unwrap().0, workspace(1));
        schedule.leased(workspace(1), [7].into(), true);
        // The workspace has a mail, so there is no other lease until that mail is being sent.
        schedule.add(vec![workspace(1)]);
        assert_eq!(schedule.next_message(), Some((workspace(1), 7)));
        let next: Vec<WorkspaceId> =
            std::iter::from_fn(|| schedule.next_lease()).map(|(workspace, _)| workspace).collect();
        assert_eq!(next, [workspace(2), workspace(1)]);
        schedule.leased(workspace(1), VecDeque::new(), false);
        schedule.leased(workspace(2), [8, 9].into(), false);
        schedule.sent(workspace(1));
        assert_eq!(schedule.take_unsent(), [(workspace(2), 8), (workspace(2), 9)]);
        assert_eq!(schedule.next_message(), None);
    }

    #[test]
    fn messages_that_were_created_while_a_lease_was_under_way_are_leased_next() {
        let mut schedule = Schedule::<usize>::new(BULK_SENDS);
        schedule.add(vec![workspace(1)]);
        schedule.next_lease().unwrap();
        schedule.messages_created(workspace(1));
        schedule.leased(workspace(1), VecDeque::new(), false);
        assert_eq!(schedule.next_lease().unwrap().0, workspace(1));
        schedule.leased(workspace(1), [7].into(), false);
        // The workspace does not wait while it has leased messages, and waits after that.
        schedule.messages_created(workspace(1));
        assert_eq!(schedule.next_lease(), None);
        assert_eq!(schedule.next_message(), Some((workspace(1), 7)));
        assert_eq!(schedule.next_lease().unwrap().0, workspace(1));
        schedule.leased(workspace(1), VecDeque::new(), false);
        schedule.sent(workspace(1));
        assert!(schedule.workspaces.is_empty());
        schedule.messages_created(workspace(2));
        assert_eq!(schedule.next_lease().unwrap().0, workspace(2));
    }

    #[test]
    fn a_third_of_the_slots_is_for_urgent_messages() {
        for (slots, urgent, bulk) in [(24, 8, 16), (8, 2, 6), (3, 1, 2), (2, 1, 1), (1, 1, 1), (64, 21, 43)] {
            let schedules = Schedules::<usize>::new(slots);
            assert_eq!((schedules.urgent.slots, schedules.bulk.slots), (urgent, bulk), "{slots}");
        }
    }

    #[test]
    fn urgent_messages_come_first_and_have_their_own_slots() {
        let mut schedules = Schedules::<usize>::new(MAX_CONCURRENT_SENDS);
        let all: Vec<WorkspaceId> = (0..100).map(workspace).collect();
        schedules.schedule(Priority::Bulk).add(all);
        while let Some((_, workspace, _)) = schedules.next_lease() {
            schedules.schedule(Priority::Bulk).leased(workspace, (0..100).collect(), true);
        }
        while schedules.next_message().is_some() {}
        schedules.schedule(Priority::Bulk).add(vec![workspace(200)]);
        schedules.schedule(Priority::Urgent).add(vec![workspace(1), workspace(2)]);
        for number in [1, 2] {
            let (priority, next, _) = schedules.next_lease().unwrap();
            assert_eq!((priority, next), (Priority::Urgent, workspace(number)));
            schedules.schedule(Priority::Urgent).leased(next, (0..100).collect(), false);
        }
        let sent: Vec<Priority> = std::iter::from_fn(|| schedules.next_message()).map(|(sent, ..)| sent).collect();
        assert_eq!(sent, [Priority::Urgent; URGENT_SENDS - 2]);
        assert_eq!(schedules.take_unsent().len(), 200 - (URGENT_SENDS - 2) + 64 * 100 - BULK_SENDS);
    }
}
