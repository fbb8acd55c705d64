//! Votes of one workspace that wait at the same time are cast in one transaction (ADR 57).
//!
//! Two votes of a workspace run alone, at once, in the transactions of their units of work. While they run, others are
//! queued; when one ends, the queued ones become a batch: one statement casts them, in a task of its own. The task passes
//! each unit of work its row, collects the responses that they save and their events, and commits. What cannot be cast
//! together runs alone: the result is the same.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use futures_util::future::try_join_all;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use roadmap_domain::model::webhook_event::NewWebhookEvent;
use roadmap_store::columns::{TimestampColumn, inconsistent};
use roadmap_store::rows::SummaryRow;
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::cast::Cast;
use crate::locks::{LockKey, WorkspaceLock};
use crate::pool::Pool;
use crate::rows::SummaryColumns;
use crate::saved_responses::{SaveResponse, saved_response};
use crate::session::{LastStatement, Session};
use crate::statement::{author, statement};
use crate::webhook_events::RecordEvents;

/// The number of transactions with votes of one workspace that run at a time. While the server writes one commit to the
/// disk, it casts the votes of the other.
const CONCURRENT: usize = 2;

/// The minimum number of queued votes that become a second batch. Fewer wait for the end of the first: each transaction
/// costs about as much as casting a few more votes.
const MIN_SECOND_BATCH: usize = 8;

/// The maximum number of votes in a batch.
const MAX_BATCH: usize = 64;

/// The size of notes from which no further vote is added to a batch, in bytes.
const MAX_NOTE_BYTES: usize = 256 * 1024;

/// How long a vote is queued. After that, it starts although as many others as usual run: they may be waiting for a lock.
const MAX_QUEUE_TIME: Duration = Duration::from_millis(100);

/// How long a batch waits for its units of work to commit. They only render their responses.
const MAX_COMMIT_WAIT: Duration = Duration::from_secs(1);

statement! {
    /// Casts votes. All arrays have one element for each vote. Returns the rows of the votes that were cast, and of the
    /// keys with a saved response.
    CastVotes {
        workspace: Uuid => SqlUuid,
        merges: i64 => BigInt,
        keys: Vec<Option<String>> => Array<Nullable<Text>>,
        key_locks: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        requests: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        numbers: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
        customers: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        emails: Vec<Option<String>> => Array<Nullable<Text>>,
        emails_folded: Vec<Option<String>> => Array<Nullable<Text>>,
        names: Vec<Option<String>> => Array<Nullable<Text>>,
        names_folded: Vec<Option<String>> => Array<Nullable<Text>>,
        notes: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
        note_authors: Vec<Option<String>> => Array<Nullable<Text>>,
        note_bodies: Vec<Option<String>> => Array<Nullable<Text>>,
    } -> (
        Integer,
        Nullable<Integer>,
        Nullable<Binary>,
        Nullable<SummaryColumns>,
        Nullable<Bool>,
        Nullable<Bool>,
    ),
    concat!("SELECT place, saved_status, saved_body, request_id, number, request_title, track_name, lane_name, counted,
            request_created_at, is_new, was_cast
     FROM cast_votes({workspace}, {merges}, {keys}, {key_locks}, {requests}, {numbers}, {times}, {customers}, {emails},
                     {emails_folded}, {names}, {names_folded}, {notes},
                     ARRAY(SELECT ", author!("note.author"), "
                           FROM unnest({note_authors}) WITH ORDINALITY AS note (author, place) ORDER BY place),
                     {note_bodies})")
}

type CastRow = (i32, Option<i32>, Option<Vec<u8>>, Option<SummaryRow>, Option<bool>, Option<bool>);

statement! {
    /// Saves the responses of votes that were cast together.
    SaveResponses {
        workspace: Uuid => SqlUuid,
        keys: Vec<String> => Array<Text>,
        statuses: Vec<i32> => Array<Integer>,
        bodies: Vec<Vec<u8>> => Array<Binary>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
    } -> (),
    "INSERT INTO operations (workspace_id, operation_key, status, body, created_at)
     SELECT {workspace}, key, status, body, at
     FROM unnest({keys}, {statuses}, {bodies}, {times}) AS saved (key, status, body, at)"
}

/// The failure of a batch, of which each unit of work gets a copy.
#[derive(Debug, Error)]
#[error("votes that were cast together failed")]
struct BatchFailed(#[source] Arc<StoreError>);

/// How a vote is cast.
pub(crate) enum BatchOutcome {
    /// The unit of work casts it in its own transaction, and holds the permit until that ends.
    Alone(VotePermit),
    /// It is cast in the transaction of a batch, which waits for the unit of work.
    Cast { request: SummaryRow, is_new: Option<bool>, slot: BatchSlot },
    /// Its operation key has this saved response.
    Replay(SavedResponse),
}

type BatchResult = Result<BatchOutcome, StoreError>;

/// A vote that is to be cast.
struct QueuedVote {
    vote: Cast,
    /// The operation key with the number of its lock.
    key: Option<(OperationKey, i64)>,
    since: Instant,
    result: oneshot::Sender<BatchResult>,
}

/// The votes of one workspace.
#[derive(Default)]
struct Queue {
    /// The number of votes that run alone.
    alone: usize,
    /// The number of batches that run.
    batches: usize,
    queued: VecDeque<QueuedVote>,
}

/// What a permit allows to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Permitted {
    Alone,
    Batch,
}

impl Queue {
    /// Whether a vote that arrives runs at once, alone. Otherwise it is queued.
    fn is_idle(&self) -> bool {
        self.queued.is_empty() && self.batches == 0 && self.alone < CONCURRENT
    }

    /// Whether the queued votes are to start.
    fn is_due(&self) -> bool {
        match (self.alone, self.batches) {
            (0, 0) | (1, 0) => true,
            (0, 1) => self.queued.len() >= MIN_SECOND_BATCH,
            _ => false,
        }
    }

    /// Takes the votes that are cast next, and counts them as running.
    fn start_next(&mut self) -> Vec<QueuedVote> {
        let next = self.take_next();
        match next.len() {
            0 => {}
            1 => self.alone += 1,
            _ => self.batches += 1,
        }
        next
    }

    /// Takes the votes that are cast next, together.
    fn take_next(&mut self) -> Vec<QueuedVote> {
        let (mut next, mut keys, mut size) = (Vec::new(), HashSet::new(), 0);
        while next.len() < MAX_BATCH && size < MAX_NOTE_BYTES {
            let Some(first) = self.queued.pop_front() else { break };
            if first.result.is_closed() {
                continue;
            }
            // A transaction would obtain the lock of a key twice.
            if let Some((_, lock)) = first.key
                && !keys.insert(lock)
            {
                self.queued.push_front(first);
                break;
            }
            size += first.vote.note_body.as_ref().map_or(0, String::len);
            next.push(first);
        }
        next
    }
}

/// The votes of all workspaces. Clones share them.
#[derive(Clone)]
pub(crate) struct VoteBatches {
    queues: Arc<Mutex<HashMap<Uuid, Queue>>>,
    units: Pool,
    runtime: Handle,
}

impl VoteBatches {
    /// Creates an empty one, whose batches use these connections and run on this runtime.
    pub(crate) fn new(units: Pool, runtime: Handle) -> Self {
        Self { queues: Arc::default(), units, runtime }
    }

    /// Returns the permit to cast a vote alone, unless others run or are queued.
    pub(crate) fn start_alone(&self, workspace: Uuid) -> Option<VotePermit> {
        let mut queues = self.queues();
        let queue = queues.entry(workspace).or_default();
        let is_idle = queue.is_idle();
        is_idle.then(|| {
            queue.alone += 1;
            self.permit(workspace, Permitted::Alone)
        })
    }

    /// Queues a vote, and casts it with the other queued ones. `key` is the operation key with the number of its lock.
    pub(crate) async fn cast(&self, vote: &Cast, key: Option<(OperationKey, i64)>) -> BatchResult {
        let workspace = vote.workspace;
        let (sender, mut receiver) = oneshot::channel();
        let due = {
            let mut queues = self.queues();
            let queue = queues.entry(workspace).or_default();
            queue.queued.push_back(QueuedVote { vote: vote.clone(), key, since: Instant::now(), result: sender });
            if queue.is_due() { queue.start_next() } else { Vec::new() }
        };
        self.start(workspace, due);
        let received = loop {
            match tokio::time::timeout(MAX_QUEUE_TIME, &mut receiver).await {
                Ok(received) => break received,
                Err(_) => self.flush_overdue(workspace),
            }
        };
        received.unwrap_or_else(|_| Err(StoreError::Transient("the task that casts votes has ended".into())))
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<Uuid, Queue>> {
        // Nothing panics while it holds the lock.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the queued votes if the first one has been queued for too long, however many others run.
    fn flush_overdue(&self, workspace: Uuid) {
        let next = {
            let mut queues = self.queues();
            let Some(queue) = queues.get_mut(&workspace) else { return };
            if queue.queued.front().is_none_or(|first| first.since.elapsed() < MAX_QUEUE_TIME) {
                return;
            }
            queue.start_next()
        };
        self.start(workspace, next);
    }

    /// Counts what a permit allowed as ended, and starts the queued votes.
    fn release(&self, workspace: Uuid, permitted: Permitted) {
        let next = {
            let mut queues = self.queues();
            let Some(queue) = queues.get_mut(&workspace) else { return };
            match permitted {
                Permitted::Alone => queue.alone -= 1,
                Permitted::Batch => queue.batches -= 1,
            }
            let next = if queue.is_due() { queue.start_next() } else { Vec::new() };
            if queue.alone + queue.batches == 0 {
                queues.remove(&workspace);
            }
            next
        };
        self.start(workspace, next);
    }

    /// Casts votes that were counted as running.
    fn start(&self, workspace: Uuid, mut votes: Vec<QueuedVote>) {
        match votes.pop() {
            None => {}
            Some(only) if votes.is_empty() => {
                only.finish(Ok(BatchOutcome::Alone(self.permit(workspace, Permitted::Alone))));
            }
            Some(last) => {
                votes.push(last);
                let permit = self.permit(workspace, Permitted::Batch);
                drop(self.runtime.spawn(run_batch(self.units.clone(), workspace, votes, permit)));
            }
        }
    }

    fn permit(&self, workspace: Uuid, permitted: Permitted) -> VotePermit {
        VotePermit(Arc::new(PermitGuard { batches: self.clone(), workspace, permitted }))
    }
}

impl QueuedVote {
    fn finish(self, result: BatchResult) {
        // A caller that has gone needs none. Dropping the result releases its permit.
        drop(self.result.send(result));
    }
}

/// The permit of a vote, or of all votes of a batch, to run. It is released when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct VotePermit(#[expect(dead_code, reason = "only dropped")] Arc<PermitGuard>);

struct PermitGuard {
    batches: VoteBatches,
    workspace: Uuid,
    permitted: Permitted,
}

impl Drop for PermitGuard {
    fn drop(&mut self) {
        self.batches.release(self.workspace, self.permitted);
    }
}

/// What a unit of work adds to the commit of its batch: the response to save, and its events.
type Commit = (Option<SaveResponse>, Vec<NewWebhookEvent>);

/// The part of a unit of work in a batch. Dropping it rolls the batch back.
pub(crate) struct BatchSlot {
    commit: oneshot::Sender<Commit>,
    ended: oneshot::Receiver<Result<(), StoreError>>,
}

impl BatchSlot {
    /// Commits the vote together with the others, with the response to save and the events to record.
    pub(crate) async fn commit(
        self,
        saved: Option<SaveResponse>,
        events: Vec<NewWebhookEvent>,
    ) -> Result<(), StoreError> {
        // The batch may have ended without this unit. It has sent its end then.
        drop(self.commit.send((saved, events)));
        self.ended.await.unwrap_or_else(|_| {
            let problem = "the task that casts votes ended before its transaction did";
            Err(StoreError::OutcomeUnknown(problem.into()))
        })
    }
}

/// The batch's end of a [`BatchSlot`].
struct OpenSlot {
    commit: oneshot::Receiver<Commit>,
    ended: oneshot::Sender<Result<(), StoreError>>,
}

/// Casts votes in one transaction, and finishes all of them.
async fn run_batch(units: Pool, workspace: Uuid, votes: Vec<QueuedVote>, permit: VotePermit) {
    let mut session = match Session::transaction(&units, workspace).await {
        Ok(session) => session,
        Err(error) => return fail(votes, error),
    };
    let statement = cast_votes(workspace, &votes);
    let cast = async { session.run(statement.load::<CastRow>(&mut session.connection()?)).await };
    let rows = match cast.await {
        Ok(rows) if rows.iter().all(|(.., was_cast)| *was_cast != Some(false)) => rows,
        Ok(_) => return run_alone(session, votes, &permit).await,
        // Whatever is wrong with one of them does not harm the others.
        Err(_) if session.is_responsive() => return run_alone(session, votes, &permit).await,
        Err(error) => return fail(votes, error),
    };
    let slots = pass_rows(votes, rows, &permit);
    if slots.is_empty() {
        drop(session.roll_back().await);
        return;
    }
    let (commits, ends) = match collect_commits(slots).await {
        Ok(collected) => collected,
        Err(ends) => {
            drop(session.roll_back().await);
            let gone = || StoreError::Transient("a vote that was cast together with others was given up".into());
            ends.into_iter().for_each(|end| drop(end.send(Err(gone()))));
            return;
        }
    };
    let (saved, events): (Vec<_>, Vec<_>) = commits.into_iter().unzip();
    let saved =
        save_responses(workspace, saved.into_iter().flatten()).map(|saved| (LastStatement::VoteResponses, saved));
    let committed = match RecordEvents::of(workspace, events.iter().flatten()) {
        Ok(events) => session.commit_recording(saved, events).await,
        Err(error) => Err(error),
    };
    let failure = committed.err().map(|failure| Arc::new(retryable(failure)));
    for end in ends {
        // A caller that has gone needs no result.
        drop(end.send(failure.as_ref().map_or(Ok(()), |failure| Err(copy(failure)))));
    }
}

/// Builds the statement that casts these votes.
fn cast_votes(workspace: Uuid, votes: &[QueuedVote]) -> CastVotes {
    fn all<T>(votes: &[QueuedVote], field: impl Fn(&Cast) -> T) -> Vec<T> {
        votes.iter().map(|queued| field(&queued.vote)).collect()
    }
    let keys = || votes.iter().map(|queued| queued.key.as_ref());
    CastVotes {
        workspace,
        merges: LockKey::of_workspace(workspace, WorkspaceLock::Merges).number,
        keys: keys().map(|key| key.map(|(key, _)| key.as_str().to_owned())).collect(),
        key_locks: keys().map(|key| key.map(|(_, lock)| *lock)).collect(),
        requests: all(votes, |vote| vote.request),
        numbers: all(votes, |vote| vote.number),
        times: all(votes, |vote| vote.at),
        customers: all(votes, |vote| vote.customer),
        emails: all(votes, |vote| vote.email.clone()),
        emails_folded: all(votes, |vote| vote.email_folded.clone()),
        names: all(votes, |vote| vote.name.clone()),
        names_folded: all(votes, |vote| vote.name_folded.clone()),
        notes: all(votes, |vote| vote.note),
        note_authors: all(votes, |vote| vote.note_author.clone()),
        note_bodies: all(votes, |vote| vote.note_body.clone()),
    }
}

/// Returns the statement that saves the responses, unless there is none.
fn save_responses(workspace: Uuid, saved: impl Iterator<Item = SaveResponse>) -> Option<SaveResponses> {
    let mut all = SaveResponses { workspace, keys: vec![], statuses: vec![], bodies: vec![], times: vec![] };
    for SaveResponse { workspace: _, key, status, body, at } in saved {
        all.keys.push(key);
        all.statuses.push(status);
        all.bodies.push(body);
        all.times.push(at);
    }
    (!all.keys.is_empty()).then_some(all)
}

/// Passes each vote its row. A vote without one runs alone. Returns the slots of the votes that were cast.
fn pass_rows(votes: Vec<QueuedVote>, rows: Vec<CastRow>, permit: &VotePermit) -> Vec<OpenSlot> {
    let mut by_place: HashMap<i32, CastRow> = rows.into_iter().map(|row| (row.0, row)).collect();
    let mut slots = Vec::new();
    for (place, queued) in (1..).zip(votes) {
        let result = match (by_place.remove(&place), &queued.key) {
            (Some((_, _, _, Some(request), is_new, _)), _) => {
                let (commit, committing) = oneshot::channel();
                let (end, ended) = oneshot::channel();
                slots.push(OpenSlot { commit: committing, ended: end });
                Ok(BatchOutcome::Cast { request, is_new, slot: BatchSlot { commit, ended } })
            }
            (Some((_, Some(status), Some(body), ..)), Some((key, _))) => {
                saved_response((status, body), key).map(BatchOutcome::Replay)
            }
            (Some(_), _) => Err(inconsistent("cast_votes", "place", place)),
            (None, _) => Ok(BatchOutcome::Alone(permit.clone())),
        };
        queued.finish(result);
    }
    slots
}

/// Where the end of the batch is sent to.
type Ends = Vec<oneshot::Sender<Result<(), StoreError>>>;

/// Waits until all units of work commit, and returns what they add to the commit. Fails if one of them does not.
async fn collect_commits(slots: Vec<OpenSlot>) -> Result<(Vec<Commit>, Ends), Ends> {
    let (waits, ends): (Vec<_>, Vec<_>) = slots.into_iter().map(|slot| (slot.commit, slot.ended)).unzip();
    match tokio::time::timeout(MAX_COMMIT_WAIT, try_join_all(waits)).await {
        Ok(Ok(commits)) => Ok((commits, ends)),
        Ok(Err(_)) | Err(_) => Err(ends),
    }
}

/// Rolls the batch back, so that its locks are free, and lets each vote run alone.
async fn run_alone(session: Session, votes: Vec<QueuedVote>, permit: &VotePermit) {
    // If this fails, the connection is closed, which also rolls back.
    drop(session.roll_back().await);
    votes.into_iter().for_each(|queued| queued.finish(Ok(BatchOutcome::Alone(permit.clone()))));
}

/// Finishes all votes with this failure.
fn fail(votes: Vec<QueuedVote>, failure: StoreError) {
    let failure = Arc::new(failure);
    votes.into_iter().for_each(|queued| queued.finish(Err(copy(&failure))));
}

/// Returns the failure of a commit for its units of work. One of them may be the cause of an error, the others are not:
/// each is retried, in a transaction of its own.
fn retryable(failure: StoreError) -> StoreError {
    match failure {
        error @ (StoreError::Fatal(_) | StoreError::Inconsistent { .. }) => StoreError::Transient(error.into()),
        other => other,
    }
}

/// Returns a copy of the failure of a batch, for one of its units of work.
fn copy(failure: &Arc<StoreError>) -> StoreError {
    let cause = BatchFailed(Arc::clone(failure)).into();
    match **failure {
        StoreError::Transient(_) => StoreError::Transient(cause),
        StoreError::Unavailable(_) => StoreError::Unavailable(cause),
        StoreError::OutcomeUnknown(_) => StoreError::OutcomeUnknown(cause),
        StoreError::Inconsistent { .. } | StoreError::Fatal(_) => StoreError::Fatal(cause),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::error::ErrorChain;
    use roadmap_domain::model::timestamp::Timestamp;

    /// A vote with a key of this number, and the receiver of its result.
    fn queued(key: i64, note: usize) -> (QueuedVote, oneshot::Receiver<BatchResult>) {
        let vote = Cast {
            workspace: Uuid::nil(),
            request: None,
            number: Some(1),
            root: None,
            at: Timestamp::from_millis(0).unwrap().into(),
            customer: None,
            email: None,
            email_folded: None,
            name: None,
            name_folded: None,
            note: None,
            note_author: None,
            note_body: Some("x".repeat(note)),
        };
        let key = OperationKey::parse(&format!("key {key}")).unwrap().map(|name| (name, key));
        let (result, received) = oneshot::channel();
        (QueuedVote { vote, key, since: Instant::now(), result }, received)
    }

    fn queue(alone: usize, batches: usize, votes: usize) -> (Queue, Vec<oneshot::Receiver<BatchResult>>) {
        let (queued, received) = (0..).map(|key| queued(key, 1)).take(votes).unzip();
        (Queue { alone, batches, queued }, received)
    }

    #[test]
    fn votes_run_alone_while_few_arrive_and_together_while_many_are_queued() {
        for (alone, batches, queued, is_idle) in
            [(0, 0, 0, true), (1, 0, 0, true), (2, 0, 0, false), (0, 1, 0, false), (0, 0, 1, false)]
        {
            assert_eq!(queue(alone, batches, queued).0.is_idle(), is_idle, "{alone} {batches} {queued}");
        }
        for (alone, batches, queued, is_due) in [
            (0, 0, 1, true),
            (1, 0, 1, true),
            (2, 0, 64, false),
            (0, 1, MIN_SECOND_BATCH - 1, false),
            (0, 1, MIN_SECOND_BATCH, true),
            (0, 2, 64, false),
            (1, 1, 64, false),
        ] {
            assert_eq!(queue(alone, batches, queued).0.is_due(), is_due, "{alone} {batches} {queued}");
        }
    }

    #[test]
    fn a_batch_has_a_limited_number_of_votes_in_the_order_of_their_arrival() {
        let (mut queue, _received) = queue(0, 0, MAX_BATCH + 1);
        let first: Vec<_> = queue.start_next().into_iter().filter_map(|vote| vote.key).map(|(_, key)| key).collect();
        assert_eq!(first, (0..64).collect::<Vec<i64>>());
        assert_eq!((queue.start_next().len(), queue.alone, queue.batches), (1, 1, 1));
        assert_eq!((queue.start_next().len(), queue.alone, queue.batches), (0, 1, 1));
    }

    #[test]
    fn large_notes_end_a_batch() {
        let (votes, _received): (VecDeque<_>, Vec<_>) = (0..4).map(|key| queued(key, MAX_NOTE_BYTES / 2)).unzip();
        let mut queue = Queue { queued: votes, ..Queue::default() };
        assert_eq!((queue.start_next().len(), queue.start_next().len()), (2, 2));
    }

    #[test]
    fn a_caller_that_has_gone_is_left_out_and_a_repeated_key_stays_queued() {
        let (votes, mut received): (VecDeque<_>, Vec<_>) =
            [1, 2, 3, 2, 4].map(|key| queued(key, 1)).into_iter().unzip();
        received.remove(0);
        let mut queue = Queue { queued: votes, ..Queue::default() };
        let mut next = || queue.start_next().into_iter().filter_map(|vote| vote.key).map(|(_, key)| key).collect();
        let (first, second): (Vec<i64>, Vec<i64>) = (next(), next());
        assert_eq!((first, second), (vec![2, 3], vec![2, 4]));
    }

    #[test]
    fn each_unit_gets_the_kind_of_the_failure() {
        let failures = [
            StoreError::Transient("undone".into()),
            StoreError::Unavailable("gone".into()),
            StoreError::OutcomeUnknown("lost".into()),
            StoreError::Fatal("wrong".into()),
        ];
        for failure in failures {
            let kind = std::mem::discriminant(&failure);
            let cause = failure.to_string();
            let copied = copy(&Arc::new(failure));
            assert_eq!(std::mem::discriminant(&copied), kind);
            assert!(ErrorChain::new(&copied).to_string().contains(&cause), "{copied:?}");
        }
    }
}
