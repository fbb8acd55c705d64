//! Which workspace's mail is sent next, and how much of it at a time.

use std::collections::{BTreeMap, VecDeque};

use crate::model::id::WorkspaceId;

/// How many mails are sent at a time, of all workspaces together. Mailers keep as many connections.
pub const MAX_CONCURRENT_SENDS: usize = 16;

/// How many workspaces have leased mails that wait for a slot.
const WORKSPACES: usize = 64;

/// How many mails are leased at a time, of all workspaces together, as a target.
const LEASED: usize = 320;

/// Most and fewest mails of one lease.
const BATCH: (usize, usize) = (40, 5);

/// The state of a worker: who waits for a lease, who has mails to send, and how many are being sent.
///
/// A workspace gets another slot only while it holds fewer than are free. One alone gets half of the slots; one whose sends
/// hang leaves half of the slots to the others, the next such one half of the rest, and so on.
#[derive(Debug)]
pub(super) struct Schedule<T> {
    workspaces: BTreeMap<WorkspaceId, State<T>>,
    /// Those that wait for a lease.
    waiting: VecDeque<WorkspaceId>,
    /// Those that have leased mails, in the order in which they get slots.
    ready: VecDeque<WorkspaceId>,
    leasing: usize,
    sending: usize,
    looks: usize,
}

#[derive(Debug)]
struct State<T> {
    mails: VecDeque<T>,
    sending: usize,
    is_waiting: bool,
    is_leasing: bool,
    /// Whether there may be mails behind those that are leased.
    has_more: bool,
}

impl<T> Default for State<T> {
    fn default() -> Self {
        Self { mails: VecDeque::new(), sending: 0, is_waiting: false, is_leasing: false, has_more: false }
    }
}

impl<T> Schedule<T> {
    pub(super) fn new() -> Self {
        Self {
            workspaces: BTreeMap::new(),
            waiting: VecDeque::new(),
            ready: VecDeque::new(),
            leasing: 0,
            sending: 0,
            looks: 0,
        }
    }

    /// These workspaces have mail. At each call, another one of them is the first.
    pub(super) fn add(&mut self, mut found: Vec<WorkspaceId>) {
        if found.is_empty() {
            return;
        }
        let first = self.looks % found.len();
        found.rotate_left(first);
        self.looks = self.looks.wrapping_add(1);
        for workspace in found {
            self.wait(workspace);
        }
    }

    fn wait(&mut self, workspace: WorkspaceId) {
        let state = self.workspaces.entry(workspace).or_default();
        if !state.is_waiting && !state.is_leasing && state.mails.is_empty() {
            state.is_waiting = true;
            self.waiting.push_back(workspace);
        }
    }

    /// The next workspace to lease mails of, and how many.
    pub(super) fn next_lease(&mut self) -> Option<(WorkspaceId, usize)> {
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

    /// A lease has ended with these mails. `has_more`: there may be others.
    pub(super) fn leased(&mut self, workspace: WorkspaceId, mails: VecDeque<T>, has_more: bool) {
        self.leasing = self.leasing.saturating_sub(1);
        let state = self.workspaces.entry(workspace).or_default();
        state.is_leasing = false;
        (state.mails, state.has_more) = (mails, has_more);
        if !state.mails.is_empty() {
            self.ready.push_back(workspace);
        } else if has_more {
            self.wait(workspace);
        } else {
            self.forget_idle(workspace);
        }
    }

    /// The next mail to send, if a slot is free for it.
    pub(super) fn next_mail(&mut self) -> Option<(WorkspaceId, T)> {
        for _ in 0..self.ready.len() {
            let workspace = self.ready.pop_front()?;
            let free = MAX_CONCURRENT_SENDS.saturating_sub(self.sending);
            let Some(state) = self.workspaces.get_mut(&workspace) else { continue };
            if state.sending >= free {
                self.ready.push_back(workspace);
                continue;
            }
            let Some(mail) = state.mails.pop_front() else { continue };
            state.sending += 1;
            self.sending += 1;
            if !state.mails.is_empty() {
                self.ready.push_back(workspace);
            } else if state.has_more {
                // Behind the others that wait.
                self.wait(workspace);
            }
            return Some((workspace, mail));
        }
        None
    }

    /// A mail was sent, or was not.
    pub(super) fn sent(&mut self, workspace: WorkspaceId) {
        self.sending = self.sending.saturating_sub(1);
        if let Some(state) = self.workspaces.get_mut(&workspace) {
            state.sending = state.sending.saturating_sub(1);
        }
        self.forget_idle(workspace);
    }

    /// All leased mails that are not being sent.
    pub(super) fn take_unsent(&mut self) -> Vec<(WorkspaceId, T)> {
        self.ready.clear();
        let all = self.workspaces.iter_mut();
        all.flat_map(|(workspace, state)| state.mails.drain(..).map(|mail| (*workspace, mail))).collect()
    }

    fn forget_idle(&mut self, workspace: WorkspaceId) {
        let is_idle =
            |state: &State<T>| state.sending == 0 && !state.is_waiting && !state.is_leasing && state.mails.is_empty();
        if self.workspaces.get(&workspace).is_some_and(is_idle) {
            self.workspaces.remove(&workspace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn workspace(number: usize) -> WorkspaceId {
        WorkspaceId::new(Uuid::from_u128(number as u128))
    }

    /// A schedule in which these workspaces have so many mails each.
    fn with(workspaces: usize, mails: usize) -> Schedule<usize> {
        let mut schedule = Schedule::new();
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
        while schedule.next_mail().is_some() {}
        assert_eq!(held(&schedule), [MAX_CONCURRENT_SENDS / 2]);
        schedule.sent(workspace(0));
        assert!(schedule.next_mail().is_some() && schedule.next_mail().is_none());
    }

    #[test]
    fn a_workspace_whose_sends_hang_leaves_slots_to_the_next() {
        let mut schedule = Schedule::new();
        for number in 0..4 {
            schedule.add(vec![workspace(number)]);
            let (found, _) = schedule.next_lease().unwrap();
            schedule.leased(found, (0..100).collect(), true);
            while schedule.next_mail().is_some() {}
        }
        assert_eq!(held(&schedule), [8, 4, 2, 1]);
        schedule.add(vec![workspace(4)]);
        schedule.next_lease().unwrap();
        schedule.leased(workspace(4), [7].into(), false);
        assert_eq!(schedule.next_mail(), Some((workspace(4), 7)));
    }

    #[test]
    fn workspaces_share_the_slots_evenly() {
        let mut schedule = with(8, 100);
        while schedule.next_mail().is_some() {}
        // The last slot is for a workspace that has none yet.
        assert_eq!(held(&schedule), [2, 2, 2, 2, 2, 2, 2, 1]);
        let mut schedule = with(50, 100);
        let first: Vec<WorkspaceId> = std::iter::from_fn(|| schedule.next_mail()).map(|(found, _)| found).collect();
        assert_eq!(first, (0..MAX_CONCURRENT_SENDS).map(workspace).collect::<Vec<_>>());
        schedule.sent(workspace(0));
        assert_eq!(schedule.next_mail().unwrap().0, workspace(MAX_CONCURRENT_SENDS));
    }

    #[test]
    fn leases_are_smaller_when_many_wait() {
        let lease = |workspaces: usize| {
            let mut schedule = Schedule::<usize>::new();
            schedule.add((0..workspaces).map(workspace).collect());
            schedule.next_lease().unwrap().1
        };
        assert_eq!([1, 8, 16, 64, 1_000].map(lease), [40, 40, 20, 5, 5]);
        let mut schedule = Schedule::<usize>::new();
        schedule.add((0..1_000).map(workspace).collect());
        assert_eq!(std::iter::from_fn(|| schedule.next_lease()).count(), WORKSPACES);
    }

    #[test]
    fn another_workspace_is_the_first_at_each_look() {
        let mut schedule = Schedule::<usize>::new();
        let mut first = Vec::new();
        for _ in 0..4 {
            schedule.add((0..3).map(workspace).collect());
            let all: Vec<WorkspaceId> = std::iter::from_fn(|| schedule.next_lease()).map(|(found, _)| found).collect();
            first.push(all[0]);
            for found in all {
                schedule.leased(found, VecDeque::new(), false);
            }
            assert!(schedule.workspaces.is_empty());
        }
        assert_eq!(first, [0, 1, 2, 0].map(workspace));
    }

    #[test]
    fn a_workspace_waits_once_and_behind_the_others() {
        let mut schedule = Schedule::new();
        schedule.add(vec![workspace(1), workspace(1), workspace(2)]);
        assert_eq!(schedule.next_lease().unwrap().0, workspace(1));
        schedule.leased(workspace(1), [7].into(), true);
        // It has a mail: no other lease until that is under way.
        schedule.add(vec![workspace(1)]);
        assert_eq!(schedule.next_mail(), Some((workspace(1), 7)));
        let next: Vec<WorkspaceId> = std::iter::from_fn(|| schedule.next_lease()).map(|(found, _)| found).collect();
        assert_eq!(next, [workspace(2), workspace(1)]);
        schedule.leased(workspace(1), VecDeque::new(), false);
        schedule.leased(workspace(2), [8, 9].into(), false);
        schedule.sent(workspace(1));
        assert_eq!(schedule.take_unsent(), [(workspace(2), 8), (workspace(2), 9)]);
        assert_eq!(schedule.next_mail(), None);
    }
}
