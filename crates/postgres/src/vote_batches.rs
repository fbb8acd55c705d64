//! Votes of one workspace that wait at the same time are cast in one transaction (ADR 57).
//!
//! Two votes of a workspace run alone, at once. While they run, others wait; when one ends, all that wait are cast by one
//! statement, in a task of its own. The task passes each unit of work its row, collects the responses that they save, and
//! commits. What cannot be cast together runs alone: the result is the same.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use futures_util::future::try_join_all;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use thiserror::Error;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::cast::Cast;
use crate::codec::TimestampColumn;
use crate::errors::inconsistent;
use crate::locks::{LockKey, WorkspaceLock};
use crate::pool::Pool;
use crate::rows::{SummaryColumns, SummaryRow};
use crate::saved_responses::{SaveResponse, saved_response};
use crate::session::{LastStatement, Session};
use crate::statement::{author, statement};

/// The number of transactions with votes of one workspace that run at a time. While the server writes one commit to the
/// disk, it casts the votes of the other.
const CONCURRENT: usize = 2;

/// The number of waiting votes that start while one transaction with several votes runs. Fewer wait for its end: each
/// transaction costs about as much as casting a few more votes.
const ENOUGH_VOTES: usize = 8;

/// The maximum number of votes in one transaction.
const MOST_VOTES: usize = 64;

/// The size of notes from which no further vote is added to a transaction, in bytes.
const ENOUGH_NOTES: usize = 256 * 1024;

/// How long a vote waits for its turn. After that, it runs although as many others as usual run: they may be waiting
/// for a lock.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long a transaction waits for its units of work to commit. They only render their responses.
const COMMIT_WAIT: Duration = Duration::from_secs(1);

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

/// The failure of a transaction with several votes, of which each unit of work gets a copy.
#[derive(Debug, Error)]
#[error("votes that were cast together failed")]
struct TogetherFailed(#[source] Arc<StoreError>);

/// How a vote is cast.
pub(crate) enum CastAnswer {
    /// The caller casts it in a transaction of its own, and keeps the turn until that ends.
    Alone(VoteTurn),
    /// It is cast in a transaction that waits for the caller.
    Cast { request: SummaryRow, is_new: Option<bool>, seat: VoteSeat },
    /// Its operation key has this saved response.
    Replay(SavedResponse),
}

type Answer = Result<CastAnswer, StoreError>;

/// A vote that waits for its turn.
struct Waiting {
    vote: Cast,
    key: Option<(OperationKey, i64)>,
    since: Instant,
    answer: oneshot::Sender<Answer>,
}

/// The votes of one workspace.
#[derive(Default)]
struct Queue {
    /// The number of votes that run alone.
    alone: usize,
    /// The number of transactions with several votes that run.
    together: usize,
    waiting: VecDeque<Waiting>,
}

/// How the votes of a turn run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turns {
    Alone,
    Together,
}

impl Queue {
    /// Whether a vote that arrives runs at once, alone. Otherwise it joins those that wait.
    fn is_quiet(&self) -> bool {
        self.waiting.is_empty() && self.together == 0 && self.alone < CONCURRENT
    }

    /// Whether the waiting votes are to start.
    fn is_due(&self) -> bool {
        match (self.alone, self.together) {
            (0, 0) | (1, 0) => true,
            (0, 1) => self.waiting.len() >= ENOUGH_VOTES,
            _ => false,
        }
    }

    /// Takes the votes that are cast next, and counts them as running.
    fn start_next(&mut self) -> Vec<Waiting> {
        let next = self.take_next();
        match next.len() {
            0 => {}
            1 => self.alone += 1,
            _ => self.together += 1,
        }
        next
    }

    /// Takes the votes that are cast next, together.
    fn take_next(&mut self) -> Vec<Waiting> {
        let (mut next, mut keys, mut size) = (Vec::new(), HashSet::new(), 0);
        while next.len() < MOST_VOTES && size < ENOUGH_NOTES {
            let Some(first) = self.waiting.pop_front() else { break };
            if first.answer.is_closed() {
                continue;
            }
            // A transaction would obtain the lock of a key twice.
            if let Some((_, lock)) = first.key
                && !keys.insert(lock)
            {
                self.waiting.push_front(first);
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
    /// Creates an empty one, whose transactions use these connections and run on this runtime.
    pub(crate) fn new(units: Pool, runtime: Handle) -> Self {
        Self { queues: Arc::default(), units, runtime }
    }

    /// Waits for the vote's turn, and casts it unless it is to be cast alone. `key` is the operation key with the number
    /// of its lock.
    pub(crate) async fn cast(&self, vote: &Cast, key: Option<(OperationKey, i64)>) -> Answer {
        let workspace = vote.workspace;
        let (mut answer, due) = {
            let mut queues = self.queues();
            let queue = queues.entry(workspace).or_default();
            if queue.is_quiet() {
                queue.alone += 1;
                return Ok(CastAnswer::Alone(self.turn(workspace, Turns::Alone)));
            }
            let (sender, receiver) = oneshot::channel();
            queue.waiting.push_back(Waiting { vote: vote.clone(), key, since: Instant::now(), answer: sender });
            (receiver, if queue.is_due() { queue.start_next() } else { Vec::new() })
        };
        self.start(workspace, due);
        let answered = loop {
            match tokio::time::timeout(PATIENCE, &mut answer).await {
                Ok(answered) => break answered,
                Err(_) => self.start_impatient(workspace),
            }
        };
        answered.unwrap_or_else(|_| Err(StoreError::Transient("the task that casts votes has ended".into())))
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<Uuid, Queue>> {
        // Nothing panics while it holds the lock.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the waiting votes if the first one has waited for too long, however many others run.
    fn start_impatient(&self, workspace: Uuid) {
        let next = {
            let mut queues = self.queues();
            let Some(queue) = queues.get_mut(&workspace) else { return };
            if queue.waiting.front().is_none_or(|first| first.since.elapsed() < PATIENCE) {
                return;
            }
            queue.start_next()
        };
        self.start(workspace, next);
    }

    /// Ends a turn, and starts the votes that wait.
    fn end_turn(&self, workspace: Uuid, turns: Turns) {
        let next = {
            let mut queues = self.queues();
            let Some(queue) = queues.get_mut(&workspace) else { return };
            match turns {
                Turns::Alone => queue.alone -= 1,
                Turns::Together => queue.together -= 1,
            }
            let next = if queue.is_due() { queue.start_next() } else { Vec::new() };
            if queue.alone + queue.together == 0 {
                queues.remove(&workspace);
            }
            next
        };
        self.start(workspace, next);
    }

    /// Casts votes that were counted as running.
    fn start(&self, workspace: Uuid, mut votes: Vec<Waiting>) {
        match votes.pop() {
            None => {}
            Some(only) if votes.is_empty() => {
                only.answer(Ok(CastAnswer::Alone(self.turn(workspace, Turns::Alone))));
            }
            Some(last) => {
                votes.push(last);
                let turn = self.turn(workspace, Turns::Together);
                drop(self.runtime.spawn(cast_together(self.units.clone(), workspace, votes, turn)));
            }
        }
    }

    fn turn(&self, workspace: Uuid, turns: Turns) -> VoteTurn {
        VoteTurn(Arc::new(Turn { batches: self.clone(), workspace, turns }))
    }
}

impl Waiting {
    fn answer(self, answer: Answer) {
        // A caller that has gone needs none. Dropping the answer ends its turn.
        drop(self.answer.send(answer));
    }
}

/// The turn of votes that run at the same time. It ends when the last of them drops it.
#[derive(Clone)]
pub(crate) struct VoteTurn(#[expect(dead_code, reason = "only dropped")] Arc<Turn>);

struct Turn {
    batches: VoteBatches,
    workspace: Uuid,
    turns: Turns,
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.batches.end_turn(self.workspace, self.turns);
    }
}

/// The place of a unit of work in a transaction with several votes. Dropping it rolls the transaction back.
pub(crate) struct VoteSeat {
    save: oneshot::Sender<Option<SaveResponse>>,
    ended: oneshot::Receiver<Result<(), StoreError>>,
}

impl VoteSeat {
    /// Commits the vote together with the others and with the response to save.
    pub(crate) async fn commit(self, saved: Option<SaveResponse>) -> Result<(), StoreError> {
        // The transaction may have ended without this unit. It has sent its end then.
        drop(self.save.send(saved));
        self.ended.await.unwrap_or_else(|_| {
            let problem = "the task that casts votes ended before its transaction did";
            Err(StoreError::OutcomeUnknown(problem.into()))
        })
    }
}

/// The other end of a [`VoteSeat`].
struct Seated {
    save: oneshot::Receiver<Option<SaveResponse>>,
    ended: oneshot::Sender<Result<(), StoreError>>,
}

/// Casts votes in one transaction, and answers all of them.
async fn cast_together(units: Pool, workspace: Uuid, votes: Vec<Waiting>, turn: VoteTurn) {
    let mut session = match Session::transaction(&units, workspace).await {
        Ok(session) => session,
        Err(error) => return fail(votes, error),
    };
    let statement = cast_votes(workspace, &votes);
    let cast = async { session.run(statement.load::<CastRow>(&mut session.connection()?)).await };
    let rows = match cast.await {
        Ok(rows) if rows.iter().all(|(.., was_cast)| *was_cast != Some(false)) => rows,
        Ok(_) => return run_alone(session, votes, &turn).await,
        // Whatever is wrong with one of them does not harm the others.
        Err(_) if session.is_responsive() => return run_alone(session, votes, &turn).await,
        Err(error) => return fail(votes, error),
    };
    let seated = answer(votes, rows, &turn);
    if seated.is_empty() {
        drop(session.roll_back().await);
        return;
    }
    let (saved, ends) = match collect(seated).await {
        Ok(collected) => collected,
        Err(ends) => {
            drop(session.roll_back().await);
            let gone = || StoreError::Transient("a vote that was cast together with others was given up".into());
            ends.into_iter().for_each(|end| drop(end.send(Err(gone()))));
            return;
        }
    };
    let committed = session.commit(save_responses(workspace, saved).map(|saved| (LastStatement::OfVotes, saved))).await;
    let failure = committed.err().map(|failure| Arc::new(retried_alone(failure)));
    for end in ends {
        // A caller that has gone needs no answer.
        drop(end.send(failure.as_ref().map_or(Ok(()), |failure| Err(copy(failure)))));
    }
}

/// Builds the statement that casts these votes.
fn cast_votes(workspace: Uuid, votes: &[Waiting]) -> CastVotes {
    fn all<T>(votes: &[Waiting], field: impl Fn(&Cast) -> T) -> Vec<T> {
        votes.iter().map(|waiting| field(&waiting.vote)).collect()
    }
    let keys = || votes.iter().map(|waiting| waiting.key.as_ref());
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
fn save_responses(workspace: Uuid, saved: Vec<SaveResponse>) -> Option<SaveResponses> {
    let mut all = SaveResponses { workspace, keys: vec![], statuses: vec![], bodies: vec![], times: vec![] };
    for SaveResponse { workspace: _, key, status, body, at } in saved {
        all.keys.push(key);
        all.statuses.push(status);
        all.bodies.push(body);
        all.times.push(at);
    }
    (!all.keys.is_empty()).then_some(all)
}

/// Passes each vote its row. A vote without one runs alone. Returns the seats of the votes that were cast.
fn answer(votes: Vec<Waiting>, rows: Vec<CastRow>, turn: &VoteTurn) -> Vec<Seated> {
    let mut by_place: HashMap<i32, CastRow> = rows.into_iter().map(|row| (row.0, row)).collect();
    let mut all_seated = Vec::new();
    for (place, waiting) in (1..).zip(votes) {
        let answer = match (by_place.remove(&place), &waiting.key) {
            (Some((_, _, _, Some(request), is_new, _)), _) => {
                let (save, saved) = oneshot::channel();
                let (end, ended) = oneshot::channel();
                all_seated.push(Seated { save: saved, ended: end });
                Ok(CastAnswer::Cast { request, is_new, seat: VoteSeat { save, ended } })
            }
            (Some((_, Some(status), Some(body), ..)), Some((key, _))) => {
                saved_response((status, body), key).map(CastAnswer::Replay)
            }
            (Some(_), _) => Err(inconsistent("cast_votes", "place", place)),
            (None, _) => Ok(CastAnswer::Alone(turn.clone())),
        };
        waiting.answer(answer);
    }
    all_seated
}

/// Where the end of the transaction is sent to.
type Ends = Vec<oneshot::Sender<Result<(), StoreError>>>;

/// Waits until all units of work commit, and returns the responses that they save. Fails if one of them does not.
async fn collect(seated: Vec<Seated>) -> Result<(Vec<SaveResponse>, Ends), Ends> {
    let (waits, ends): (Vec<_>, Vec<_>) = seated.into_iter().map(|seated| (seated.save, seated.ended)).unzip();
    match tokio::time::timeout(COMMIT_WAIT, try_join_all(waits)).await {
        Ok(Ok(saved)) => Ok((saved.into_iter().flatten().collect(), ends)),
        Ok(Err(_)) | Err(_) => Err(ends),
    }
}

/// Rolls the transaction back, so that its locks are free, and lets each vote run alone.
async fn run_alone(session: Session, votes: Vec<Waiting>, turn: &VoteTurn) {
    // If this fails, the connection is closed, which also rolls back.
    drop(session.roll_back().await);
    votes.into_iter().for_each(|waiting| waiting.answer(Ok(CastAnswer::Alone(turn.clone()))));
}

/// Answers all votes with this failure.
fn fail(votes: Vec<Waiting>, failure: StoreError) {
    let failure = Arc::new(failure);
    votes.into_iter().for_each(|waiting| waiting.answer(Err(copy(&failure))));
}

/// Returns the failure of a commit for its units of work. One of them may be the cause of an error, the others are not:
/// each is retried alone.
fn retried_alone(failure: StoreError) -> StoreError {
    match failure {
        error @ (StoreError::Fatal(_) | StoreError::Inconsistent { .. }) => StoreError::Transient(error.into()),
        other => other,
    }
}

/// Returns a copy of the failure of a transaction, for one of its units of work.
fn copy(failure: &Arc<StoreError>) -> StoreError {
    let cause = TogetherFailed(Arc::clone(failure)).into();
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

    /// A vote with a key of this number, and the end that waits for its answer.
    fn waiting(key: i64, note: usize) -> (Waiting, oneshot::Receiver<Answer>) {
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
        let (answer, answered) = oneshot::channel();
        (Waiting { vote, key, since: Instant::now(), answer }, answered)
    }

    fn queue(alone: usize, together: usize, votes: usize) -> (Queue, Vec<oneshot::Receiver<Answer>>) {
        let (waiting, answered) = (0..).map(|key| waiting(key, 1)).take(votes).unzip();
        (Queue { alone, together, waiting }, answered)
    }

    #[test]
    fn votes_run_alone_while_few_arrive_and_together_while_many_wait() {
        for (alone, together, waiting, is_quiet) in
            [(0, 0, 0, true), (1, 0, 0, true), (2, 0, 0, false), (0, 1, 0, false), (0, 0, 1, false)]
        {
            assert_eq!(queue(alone, together, waiting).0.is_quiet(), is_quiet, "{alone} {together} {waiting}");
        }
        for (alone, together, waiting, is_due) in [
            (0, 0, 1, true),
            (1, 0, 1, true),
            (2, 0, 64, false),
            (0, 1, ENOUGH_VOTES - 1, false),
            (0, 1, ENOUGH_VOTES, true),
            (0, 2, 64, false),
            (1, 1, 64, false),
        ] {
            assert_eq!(queue(alone, together, waiting).0.is_due(), is_due, "{alone} {together} {waiting}");
        }
    }

    #[test]
    fn a_transaction_has_a_limited_number_of_votes_in_the_order_of_their_arrival() {
        let (mut queue, _answered) = queue(0, 0, MOST_VOTES + 1);
        let first: Vec<_> = queue.start_next().into_iter().filter_map(|vote| vote.key).map(|(_, key)| key).collect();
        assert_eq!(first, (0..64).collect::<Vec<i64>>());
        assert_eq!((queue.start_next().len(), queue.alone, queue.together), (1, 1, 1));
        assert_eq!((queue.start_next().len(), queue.alone, queue.together), (0, 1, 1));
    }

    #[test]
    fn large_notes_end_a_transaction() {
        let (votes, _answered): (VecDeque<_>, Vec<_>) = (0..4).map(|key| waiting(key, ENOUGH_NOTES / 2)).unzip();
        let mut queue = Queue { waiting: votes, ..Queue::default() };
        assert_eq!((queue.start_next().len(), queue.start_next().len()), (2, 2));
    }

    #[test]
    fn a_caller_that_has_gone_is_left_out_and_a_repeated_key_waits() {
        let (votes, mut answered): (VecDeque<_>, Vec<_>) =
            [1, 2, 3, 2, 4].map(|key| waiting(key, 1)).into_iter().unzip();
        answered.remove(0);
        let mut queue = Queue { waiting: votes, ..Queue::default() };
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
