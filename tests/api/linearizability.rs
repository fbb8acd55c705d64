//! Linearizability of votes, withdrawals, merges, replays and counts.
//!
//! Several clients send requests concurrently, and some histories contain a kill. Each history must be explainable by
//! a sequential reference model that handles every request at some point between its invocation and its response.
//!
//! A history covers one feature request, or two that are merged and unmerged. It is short, because the checker's search
//! over orders grows too fast.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Mutex;

use serde_json::{Value, json};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use crate::app::{App, Client, Response, eventually};
use crate::effort::{SeededRng, rounds};

/// Concurrent clients.
const CLIENTS: u64 = 3;

/// Requests per client; the next constant is for each of the two clients that follow a kill. More clients or requests
/// make the checker too slow, because it must try all orders before it rejects a history.
const OPERATIONS: u64 = 5;
const OPERATIONS_AFTER_A_KILL: u64 = 2;

/// One in this many histories contains a kill.
const KILL_EVERY: u64 = 25;

/// What clients do in a history, and the model of it.
trait Scenario: Debug + Clone + Sync {
    /// Request of a client.
    type Operation: Debug + Clone + PartialEq + Send + Sync;
    /// Response of the service.
    type Reply: Debug + Clone + PartialEq + Send;
    /// Sequential reference model.
    type Model: SequentialSpec<Op = Self::Operation, Ret = Self::Reply> + Clone + Default;

    /// Creates the records of a history.
    fn new(client: &Client, number: u64) -> Self;

    /// Returns an operation of few customers with few keys, so that operations conflict.
    fn random_operation(rng: &mut SeededRng) -> Self::Operation;

    /// Sends a request. Returns `None` when there is no response.
    fn send(&self, client: &Client, operation: &Self::Operation) -> Option<Self::Reply>;

    /// Operation key of a request.
    fn key(operation: &Self::Operation) -> Option<u64>;

    /// Count of votes in a response, and whether it is a replay.
    fn count(reply: &mut Self::Reply) -> Option<(&mut i64, bool)>;
}

/// Invocation or return of an operation, in the order in which they occurred.
#[derive(Debug, Clone)]
enum Event<S: Scenario> {
    Invoked(u64, S::Operation),
    Returned(u64, S::Reply),
}

fn is_linearizable<S: Scenario>(history: &[Event<S>]) -> bool {
    let mut tester = LinearizabilityTester::new(S::Model::default());
    for event in history {
        let noted = match event {
            Event::Invoked(client, operation) => tester.on_invoke(*client, operation.clone()).map(|_| ()),
            Event::Returned(client, reply) => tester.on_return(*client, reply.clone()).map(|_| ()),
        };
        noted.expect("clients that do one thing at a time");
    }
    tester.is_consistent()
}

/// Corrupts a history as if the service had lost a vote or counted one twice in its first half: all later counts are
/// off by one.
fn corrupted<S: Scenario>(history: &[Event<S>], rng: &mut SeededRng) -> Vec<Event<S>> {
    let from = usize::try_from(rng.below(history.len() as u64 / 2)).expect("few");
    let change = if rng.below(2) == 0 { 1 } else { -1 };
    let mut operations = BTreeMap::new();
    let mut changed_responses = BTreeSet::new();
    let mut corrupt = |index: usize, event: &Event<S>| match event {
        Event::Invoked(client, operation) => {
            operations.insert(*client, operation.clone());
            Event::Invoked(*client, operation.clone())
        }
        Event::Returned(client, reply) => {
            let mut reply = reply.clone();
            if let Some((votes, is_replay)) = S::count(&mut reply) {
                let key = operations.get(client).and_then(S::key);
                // A replay repeats the first response.
                let changes =
                    if is_replay { key.is_some_and(|key| changed_responses.contains(&key)) } else { index >= from };
                if changes {
                    *votes += change;
                    changed_responses.extend(key);
                }
            }
            Event::Returned(*client, reply)
        }
    };
    history.iter().enumerate().map(|(index, event)| corrupt(index, event)).collect()
}

/// Sends a request and records it. Returns whether there was a response.
fn perform<S: Scenario>(
    scenario: &S,
    client: &Client,
    name: u64,
    operation: &S::Operation,
    history: &Mutex<Vec<Event<S>>>,
) -> bool {
    // Recorded before sending and after receiving: the effect happens in between.
    history.lock().unwrap().push(Event::Invoked(name, operation.clone()));
    let Some(reply) = scenario.send(client, operation) else { return false };
    history.lock().unwrap().push(Event::Returned(name, reply));
    true
}

fn random_operations<S: Scenario>(count: u64, rng: &mut SeededRng) -> Vec<S::Operation> {
    (0..count).map(|_| S::random_operation(rng)).collect()
}

/// Runs and records one history, with a kill in the middle on demand.
fn record_history<S: Scenario>(app: &mut App, number: u64, kill: bool, rng: &mut SeededRng) -> Vec<Event<S>> {
    let scenario = S::new(&app.acme, number);
    let history = Mutex::new(Vec::new());
    let plans: Vec<Vec<S::Operation>> = (0..CLIENTS).map(|_| random_operations::<S>(OPERATIONS, rng)).collect();
    let before_the_kill = usize::try_from(rng.below(2 * CLIENTS * OPERATIONS)).expect("few");
    let client = app.acme.clone();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .zip(&plans)
            .map(|(name, plan)| {
                let (scenario, client, history) = (&scenario, &client, &history);
                // A client stops at its first missing response: the operation stays pending.
                scope.spawn(move || plan.iter().all(|operation| perform(scenario, client, name, operation, history)))
            })
            .collect();
        if kill {
            eventually("enough has happened, or all", || {
                history.lock().unwrap().len() >= before_the_kill || clients.iter().all(|client| client.is_finished())
            });
            app.kill();
        }
    });
    if kill {
        app.restart();
        let plans: Vec<Vec<S::Operation>> =
            (0..2).map(|_| random_operations::<S>(OPERATIONS_AFTER_A_KILL, rng)).collect();
        std::thread::scope(|scope| {
            for (name, plan) in (CLIENTS..).zip(&plans) {
                let (scenario, client, history) = (&scenario, &app.acme, &history);
                scope.spawn(move || {
                    assert!(
                        plan.iter().all(|operation| perform(scenario, client, name, operation, history)),
                        "no response"
                    );
                });
            }
        });
    }
    history.into_inner().unwrap()
}

/// Runs histories and asserts that all are linearizable, and that the checker rejects corrupted ones.
fn check_histories<S: Scenario>(histories: u64, min_percent: u64) {
    let mut rng = SeededRng::from_env();
    let mut app = App::start();
    let (mut kills, mut open, mut rejected) = (0, 0, 0);
    for number in 0..histories {
        let kill = number % KILL_EVERY == KILL_EVERY - 1;
        let history = record_history::<S>(&mut app, number, kill, &mut rng);
        assert!(is_linearizable(&history), "history {number} has no order: {history:#?}");
        kills += u64::from(kill);
        let sent = history.iter().filter(|event| matches!(event, Event::Invoked(..))).count();
        open += 2 * sent - history.len();
        // The checker must reject corrupted histories.
        rejected += u64::from(!is_linearizable(&corrupted(&history, &mut rng)));
    }
    println!(
        "{histories} histories, {kills} kills that interrupted {open} requests; {rejected} of {histories} planted \
         faults found"
    );
    assert!(open > 0, "no kill interrupted a request");
    assert!(100 * rejected >= min_percent * histories, "{rejected} of {histories} planted faults were found");
    app.data.is_sound();
}

/// Sends a request of a history. Returns `None` without a response.
fn request(client: &Client, method: &str, path: &str, body: Option<&Value>) -> Option<Response> {
    let headers: &[(&str, &str)] = if body.is_some() { &[("Content-Type", "application/json")] } else { &[] };
    let body = body.map(|body| body.to_string().into_bytes());
    client.request(method, &format!("/api/external/v1/feature_requests/{path}"), headers, body.as_deref()).ok()
}

/// Operation key of a history.
fn operation_key(number: u64, key: Option<u64>) -> Option<String> {
    key.map(|key| format!("history {number} key {key}"))
}

fn email(number: u64, customer: u64) -> String {
    format!("customer{customer}@history{number}.example")
}

fn flag(body: &Value, field: &str) -> bool {
    body[field].as_bool().expect("a boolean")
}

fn number_of<T>(items: &BTreeSet<T>) -> i64 {
    i64::try_from(items.len()).expect("few")
}

/// Votes for one feature request.
#[derive(Debug, Clone)]
struct Voting {
    number: u64,
    request: String,
}

/// Request of a client that votes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum VotingOperation {
    /// Votes for the feature request, with or without an operation key.
    Vote { customer: u64, key: Option<u64> },
    /// Reads the number of voters.
    Count,
}

/// Response to a client that votes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum VotingReply {
    Voted { registered: bool, already: bool, votes: i64, replayed: bool },
    Counted(i64),
}

/// The contract's rules for votes (4.7) and operation keys (4.10).
#[derive(Debug, Clone, Default)]
struct VotingModel {
    voters: BTreeSet<u64>,
    responses: BTreeMap<u64, VotingReply>,
}

impl SequentialSpec for VotingModel {
    type Op = VotingOperation;
    type Ret = VotingReply;

    fn invoke(&mut self, operation: &VotingOperation) -> VotingReply {
        let VotingOperation::Vote { customer, key } = operation else {
            return VotingReply::Counted(number_of(&self.voters));
        };
        if let Some(VotingReply::Voted { registered, already, votes, .. }) =
            key.and_then(|key| self.responses.get(&key))
        {
            return VotingReply::Voted { registered: *registered, already: *already, votes: *votes, replayed: true };
        }
        let registered = self.voters.insert(*customer);
        let votes = number_of(&self.voters);
        let reply = VotingReply::Voted { registered, already: !registered, votes, replayed: false };
        if let Some(key) = key {
            self.responses.insert(*key, reply.clone());
        }
        reply
    }
}

impl Scenario for Voting {
    type Operation = VotingOperation;
    type Reply = VotingReply;
    type Model = VotingModel;

    fn new(client: &Client, number: u64) -> Self {
        let request = client.feature_request(&format!("History {number}"));
        Self { number, request: request["id"].as_str().expect("an id").to_owned() }
    }

    fn random_operation(rng: &mut SeededRng) -> VotingOperation {
        match rng.below(5) {
            0 => VotingOperation::Count,
            1 => VotingOperation::Vote { customer: rng.below(4), key: None },
            _ => VotingOperation::Vote { customer: rng.below(4), key: Some(rng.below(5)) },
        }
    }

    fn send(&self, client: &Client, operation: &VotingOperation) -> Option<VotingReply> {
        match operation {
            VotingOperation::Count => {
                let response = request(client, "GET", &format!("{}/voters?page_size=1", self.request), None)?;
                let body = response.json();
                assert_eq!(response.status, 200, "{body}");
                Some(VotingReply::Counted(body["total_count"].as_i64().expect("a count")))
            }
            VotingOperation::Vote { customer, key } => {
                let body = json!({
                    "customer": { "email": email(self.number, *customer) },
                    "operation_key": operation_key(self.number, *key),
                });
                let response = request(client, "POST", &format!("{}/upvotes", self.request), Some(&body))?;
                let body = response.json();
                assert_eq!(response.status, 201, "{body}");
                Some(VotingReply::Voted {
                    registered: flag(&body, "vote_registered"),
                    already: flag(&body, "already_voted"),
                    votes: body["feature_request"]["votes_count"].as_i64().expect("a count"),
                    replayed: response.header("Idempotent-Replayed") == Some("true"),
                })
            }
        }
    }

    fn key(operation: &VotingOperation) -> Option<u64> {
        match operation {
            VotingOperation::Vote { key, .. } => *key,
            VotingOperation::Count => None,
        }
    }

    fn count(reply: &mut VotingReply) -> Option<(&mut i64, bool)> {
        match reply {
            VotingReply::Voted { votes, replayed, .. } => Some((votes, *replayed)),
            VotingReply::Counted(votes) => Some((votes, false)),
        }
    }
}

/// Votes for two feature requests, which are merged into each other and unmerged meanwhile.
#[derive(Debug, Clone)]
struct Merging {
    number: u64,
    requests: [String; 2],
}

/// Request of a client that votes and merges. Feature requests are 0 and 1.
#[derive(Debug, Clone, PartialEq, Eq)]
enum MergingOperation {
    Vote {
        request: usize,
        customer: u64,
        key: Option<u64>,
    },
    Withdraw {
        request: usize,
        customer: u64,
    },
    /// Merges this one into the other one.
    Merge {
        source: usize,
        key: Option<u64>,
    },
    Unmerge {
        source: usize,
        key: Option<u64>,
    },
    /// Reads the feature request.
    Show {
        request: usize,
    },
    /// Reads the number of voters.
    CountVoters {
        request: usize,
    },
}

/// Response to a client that votes and merges.
#[derive(Debug, Clone, PartialEq, Eq)]
enum MergingReply {
    Voted { at: usize, registered: bool, votes: i64, replayed: bool },
    Withdrawn { at: usize, removed: bool, votes: i64 },
    Merged { into: usize, votes: i64, replayed: bool },
    Unmerged { source: usize, votes: i64, replayed: bool },
    Shown { at: usize, votes: i64 },
    Counted(i64),
    Refused(u16),
}

/// The rules for merges, for votes of merged feature requests, and for operation keys.
#[derive(Debug, Clone, Default)]
struct MergingModel {
    voters: [BTreeSet<u64>; 2],
    /// The one that is merged into the other one.
    merged: Option<usize>,
    responses: BTreeMap<u64, MergingReply>,
}

impl MergingModel {
    /// What a reference to a feature request means.
    fn resolve(&self, request: usize) -> usize {
        if self.merged == Some(request) { 1 - request } else { request }
    }

    /// Whether a feature request is a part of another one.
    fn is_part(&self, request: usize, of: usize) -> bool {
        self.resolve(request) == of
    }

    /// Number of distinct voters of a feature request and what is merged into it.
    fn votes(&self, of: usize) -> i64 {
        let parts = (0..2).filter(|request| self.is_part(*request, of));
        number_of(&parts.flat_map(|request| self.voters[request].iter().copied()).collect::<BTreeSet<u64>>())
    }

    fn apply(&mut self, operation: &MergingOperation) -> MergingReply {
        match *operation {
            MergingOperation::Vote { request, customer, .. } => {
                let at = self.resolve(request);
                let has_voted = |part: usize| self.is_part(part, at) && self.voters[part].contains(&customer);
                let registered = !(0..2).any(has_voted);
                if registered {
                    self.voters[at].insert(customer);
                }
                MergingReply::Voted { at, registered, votes: self.votes(at), replayed: false }
            }
            MergingOperation::Withdraw { request, customer } => {
                let at = self.resolve(request);
                let mut removed = false;
                for part in 0..2 {
                    removed |= self.is_part(part, at) && self.voters[part].remove(&customer);
                }
                MergingReply::Withdrawn { at, removed, votes: self.votes(at) }
            }
            MergingOperation::Merge { source, .. } => {
                let into = 1 - source;
                if self.merged == Some(into) {
                    return MergingReply::Refused(422);
                }
                self.merged = Some(source);
                MergingReply::Merged { into, votes: self.votes(into), replayed: false }
            }
            MergingOperation::Unmerge { source, .. } => {
                if self.merged != Some(source) {
                    return MergingReply::Refused(409);
                }
                self.merged = None;
                MergingReply::Unmerged { source, votes: self.votes(source), replayed: false }
            }
            MergingOperation::Show { request } => {
                let at = self.resolve(request);
                MergingReply::Shown { at, votes: self.votes(at) }
            }
            MergingOperation::CountVoters { request } => MergingReply::Counted(self.votes(self.resolve(request))),
        }
    }
}

impl SequentialSpec for MergingModel {
    type Op = MergingOperation;
    type Ret = MergingReply;

    fn invoke(&mut self, operation: &MergingOperation) -> MergingReply {
        let key = Merging::key(operation);
        if let Some(saved) = key.and_then(|key| self.responses.get(&key)) {
            let mut saved = saved.clone();
            match &mut saved {
                MergingReply::Voted { replayed, .. }
                | MergingReply::Merged { replayed, .. }
                | MergingReply::Unmerged { replayed, .. } => *replayed = true,
                _ => {}
            }
            return saved;
        }
        let reply = self.apply(operation);
        if let Some(key) = key.filter(|_| !matches!(reply, MergingReply::Refused(_))) {
            self.responses.insert(key, reply.clone());
        }
        reply
    }
}

impl Merging {
    /// Which of the two a response shows.
    fn index_of(&self, record: &Value) -> usize {
        self.requests.iter().position(|id| record["id"] == id.as_str()).expect("one of the two")
    }

    /// Parses a response by its fields, because a replay may be one of another operation.
    fn parse(&self, response: &Response) -> MergingReply {
        let body = response.json();
        if matches!(response.status, 409 | 422) {
            return MergingReply::Refused(response.status);
        }
        assert!(matches!(response.status, 200 | 201), "{body}");
        let replayed = response.header("Idempotent-Replayed") == Some("true");
        if let Some(voters) = body.get("total_count") {
            return MergingReply::Counted(voters.as_i64().expect("a count"));
        }
        let at = self.index_of(&body["feature_request"]);
        let votes = body["feature_request"]["votes_count"].as_i64().expect("a count");
        if body.get("vote_registered").is_some() {
            let registered = flag(&body, "vote_registered");
            assert_eq!(flag(&body, "already_voted"), !registered);
            MergingReply::Voted { at, registered, votes, replayed }
        } else if body.get("vote_removed").is_some() {
            MergingReply::Withdrawn { at, removed: flag(&body, "vote_removed"), votes }
        } else if body.get("merged").is_some() {
            MergingReply::Merged { into: at, votes, replayed }
        } else if body.get("unmerged_from").is_some() {
            MergingReply::Unmerged { source: at, votes, replayed }
        } else {
            MergingReply::Shown { at, votes }
        }
    }
}

impl Scenario for Merging {
    type Operation = MergingOperation;
    type Reply = MergingReply;
    type Model = MergingModel;

    fn new(client: &Client, number: u64) -> Self {
        let requests = ["first", "second"].map(|name| {
            let request = client.feature_request(&format!("History {number}, {name}"));
            request["id"].as_str().expect("an id").to_owned()
        });
        Self { number, requests }
    }

    fn random_operation(rng: &mut SeededRng) -> MergingOperation {
        let request = usize::from(rng.below(2) == 0);
        let customer = rng.below(3);
        let key = (rng.below(3) == 0).then(|| rng.below(4));
        match rng.below(10) {
            0..=2 => MergingOperation::Vote { request, customer, key },
            3 => MergingOperation::Withdraw { request, customer },
            // Mostly in one direction, so that few merges are refused.
            4 | 5 => MergingOperation::Merge { source: usize::from(rng.below(4) > 0), key },
            6 | 7 => MergingOperation::Unmerge { source: usize::from(rng.below(4) > 0), key },
            8 => MergingOperation::Show { request },
            _ => MergingOperation::CountVoters { request },
        }
    }

    fn send(&self, client: &Client, operation: &MergingOperation) -> Option<MergingReply> {
        let id = |request: usize| self.requests[request].as_str();
        let with_key = |mut body: Value, key: Option<u64>| {
            body["operation_key"] = json!(operation_key(self.number, key));
            body
        };
        let (method, path, body) = match operation {
            MergingOperation::Vote { request, customer, key } => {
                let body = json!({ "customer": { "email": email(self.number, *customer) } });
                ("POST", format!("{}/upvotes", id(*request)), Some(with_key(body, *key)))
            }
            MergingOperation::Withdraw { request, customer } => {
                ("DELETE", format!("{}/upvotes?email={}", id(*request), email(self.number, *customer)), None)
            }
            MergingOperation::Merge { source, key } => {
                let body = json!({ "target_id": id(1 - source) });
                ("POST", format!("{}/merge", id(*source)), Some(with_key(body, *key)))
            }
            MergingOperation::Unmerge { source, key } => {
                ("POST", format!("{}/unmerge", id(*source)), Some(with_key(json!({}), *key)))
            }
            MergingOperation::Show { request } => ("GET", id(*request).to_owned(), None),
            MergingOperation::CountVoters { request } => ("GET", format!("{}/voters?page_size=1", id(*request)), None),
        };
        request(client, method, &path, body.as_ref()).map(|response| self.parse(&response))
    }

    fn key(operation: &MergingOperation) -> Option<u64> {
        match operation {
            MergingOperation::Vote { key, .. }
            | MergingOperation::Merge { key, .. }
            | MergingOperation::Unmerge { key, .. } => *key,
            _ => None,
        }
    }

    fn count(reply: &mut MergingReply) -> Option<(&mut i64, bool)> {
        match reply {
            MergingReply::Voted { votes, replayed, .. }
            | MergingReply::Merged { votes, replayed, .. }
            | MergingReply::Unmerged { votes, replayed, .. } => Some((votes, *replayed)),
            MergingReply::Withdrawn { votes, .. }
            | MergingReply::Shown { votes, .. }
            | MergingReply::Counted(votes) => Some((votes, false)),
            MergingReply::Refused(_) => None,
        }
    }
}

/// Addition 3: votes, withdrawals, merges and unmerges are linearizable, kills included.
#[test]
fn every_history_is_linearizable() {
    check_histories::<Voting>(rounds(150, 2_500), 95);
}

/// Addition 3.
#[test]
fn every_history_with_merges_is_linearizable() {
    check_histories::<Merging>(rounds(150, 2_500), 95);
}
