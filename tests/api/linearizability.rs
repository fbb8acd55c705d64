//! Linearizability of votes, replays and counts.
//!
//! Several clients send requests concurrently, and some histories contain a kill. Each history must be explainable by
//! a sequential reference model that handles every request at some point between its invocation and its response.
//!
//! A history covers one feature request and is short, because the checker's search over orders grows too fast.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use serde_json::json;
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

/// Request of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Operation {
    /// Votes for the feature request, with or without an operation key.
    Vote { customer: u64, key: Option<u64> },
    /// Reads the number of voters.
    Count,
}

/// Response of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reply {
    Voted { registered: bool, already: bool, votes: i64, replayed: bool },
    Counted(i64),
}

/// Sequential reference model: the contract's rules for votes (4.7) and operation keys (4.10).
#[derive(Debug, Clone, Default)]
struct ReferenceModel {
    voters: BTreeSet<u64>,
    responses: BTreeMap<u64, Reply>,
}

impl SequentialSpec for ReferenceModel {
    type Op = Operation;
    type Ret = Reply;

    fn invoke(&mut self, operation: &Operation) -> Reply {
        let Operation::Vote { customer, key } = operation else { return Reply::Counted(self.votes()) };
        if let Some(Reply::Voted { registered, already, votes, .. }) = key.and_then(|key| self.responses.get(&key)) {
            return Reply::Voted { registered: *registered, already: *already, votes: *votes, replayed: true };
        }
        let registered = self.voters.insert(*customer);
        let reply = Reply::Voted { registered, already: !registered, votes: self.votes(), replayed: false };
        if let Some(key) = key {
            self.responses.insert(*key, reply.clone());
        }
        reply
    }
}

impl ReferenceModel {
    fn votes(&self) -> i64 {
        i64::try_from(self.voters.len()).expect("few")
    }
}

/// Invocation or return of an operation, in the order in which they occurred.
#[derive(Debug, Clone)]
enum Event {
    Invoked(u64, Operation),
    Returned(u64, Reply),
}

fn is_linearizable(history: &[Event]) -> bool {
    let mut tester = LinearizabilityTester::new(ReferenceModel::default());
    for event in history {
        let noted = match event.clone() {
            Event::Invoked(client, operation) => tester.on_invoke(client, operation).map(|_| ()),
            Event::Returned(client, reply) => tester.on_return(client, reply).map(|_| ()),
        };
        noted.expect("clients that do one thing at a time");
    }
    tester.is_consistent()
}

/// Corrupts a history as if the service had lost a vote or counted one twice in its first half: all later counts are
/// off by one.
fn corrupted(history: &[Event], rng: &mut SeededRng) -> Vec<Event> {
    let from = usize::try_from(rng.below(history.len() as u64 / 2)).expect("few");
    let change = if rng.below(2) == 0 { 1 } else { -1 };
    let mut asked = BTreeMap::new();
    let mut changed_responses = BTreeSet::new();
    let mut corrupt = |index: usize, event: &Event| {
        let mut event = event.clone();
        match &mut event {
            Event::Invoked(client, operation) => {
                asked.insert(*client, operation.clone());
            }
            Event::Returned(_, Reply::Counted(votes)) if index >= from => *votes += change,
            Event::Returned(_, Reply::Counted(_)) => {}
            Event::Returned(client, Reply::Voted { votes, replayed, .. }) => {
                let key = match asked.get(client) {
                    Some(Operation::Vote { key: Some(key), .. }) => Some(*key),
                    _ => None,
                };
                // A replay repeats the first response.
                let changes =
                    if *replayed { key.is_some_and(|key| changed_responses.contains(&key)) } else { index >= from };
                if changes {
                    *votes += change;
                    changed_responses.extend(key);
                }
            }
        }
        event
    };
    history.iter().enumerate().map(|(index, event)| corrupt(index, event)).collect()
}

/// Feature request, customers and keys of one history.
struct Scenario {
    number: u64,
    request: String,
}

impl Scenario {
    fn new(client: &Client, number: u64) -> Self {
        let request = client.feature_request(&format!("History {number}"));
        Self { number, request: request["id"].as_str().expect("an id").to_owned() }
    }

    /// Sends a request and records it. Returns whether there was a response.
    fn perform(&self, client: &Client, name: u64, operation: &Operation, history: &Mutex<Vec<Event>>) -> bool {
        let path = format!("/api/external/v1/feature_requests/{}", self.request);
        // Recorded before sending and after receiving: the effect happens in between.
        history.lock().unwrap().push(Event::Invoked(name, operation.clone()));
        let response = match operation {
            Operation::Count => client.request("GET", &format!("{path}/voters?page_size=1"), &[], None),
            Operation::Vote { customer, key } => {
                let body = json!({
                    "customer": { "email": format!("customer{customer}@history{}.example", self.number) },
                    "operation_key": key.map(|key| format!("history {} key {key}", self.number)),
                });
                let headers = [("Content-Type", "application/json")];
                client.request("POST", &format!("{path}/upvotes"), &headers, Some(body.to_string().as_bytes()))
            }
        };
        let Ok(response) = response else { return false };
        history.lock().unwrap().push(Event::Returned(name, reply(operation, &response)));
        true
    }
}

fn reply(operation: &Operation, response: &Response) -> Reply {
    let body = response.json();
    match operation {
        Operation::Count => {
            assert_eq!(response.status, 200, "{body}");
            Reply::Counted(body["total_count"].as_i64().expect("a count"))
        }
        Operation::Vote { .. } => {
            assert_eq!(response.status, 201, "{body}");
            Reply::Voted {
                registered: body["vote_registered"].as_bool().expect("a boolean"),
                already: body["already_voted"].as_bool().expect("a boolean"),
                votes: body["feature_request"]["votes_count"].as_i64().expect("a count"),
                replayed: response.header("Idempotent-Replayed") == Some("true"),
            }
        }
    }
}

/// Operations of few customers with few keys, so that they conflict.
fn random_operations(count: u64, rng: &mut SeededRng) -> Vec<Operation> {
    let any = |rng: &mut SeededRng| match rng.below(5) {
        0 => Operation::Count,
        1 => Operation::Vote { customer: rng.below(4), key: None },
        _ => Operation::Vote { customer: rng.below(4), key: Some(rng.below(5)) },
    };
    (0..count).map(|_| any(rng)).collect()
}

/// Runs and records one history, with a kill in the middle on demand.
fn record_history(app: &mut App, number: u64, kill: bool, rng: &mut SeededRng) -> Vec<Event> {
    let scenario = Scenario::new(&app.acme, number);
    let history = Mutex::new(Vec::new());
    let plans: Vec<Vec<Operation>> = (0..CLIENTS).map(|_| random_operations(OPERATIONS, rng)).collect();
    let before_the_kill = usize::try_from(rng.below(2 * CLIENTS * OPERATIONS)).expect("few");
    let client = app.acme.clone();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .zip(&plans)
            .map(|(name, plan)| {
                let (scenario, client, history) = (&scenario, &client, &history);
                // A client stops at its first missing response: the operation stays pending.
                scope.spawn(move || plan.iter().all(|operation| scenario.perform(client, name, operation, history)))
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
        let plans: Vec<Vec<Operation>> = (0..2).map(|_| random_operations(OPERATIONS_AFTER_A_KILL, rng)).collect();
        std::thread::scope(|scope| {
            for (name, plan) in (CLIENTS..).zip(&plans) {
                let (scenario, client, history) = (&scenario, &app.acme, &history);
                scope.spawn(move || {
                    assert!(
                        plan.iter().all(|operation| scenario.perform(client, name, operation, history)),
                        "no response"
                    );
                });
            }
        });
    }
    history.into_inner().unwrap()
}

#[test]
fn every_history_is_linearizable() {
    let mut rng = SeededRng::from_env();
    let mut app = App::start();
    let (mut kills, mut open, mut found) = (0, 0, 0);
    let histories = rounds(150, 2_500);
    for number in 0..histories {
        let kill = number % KILL_EVERY == KILL_EVERY - 1;
        let history = record_history(&mut app, number, kill, &mut rng);
        assert!(is_linearizable(&history), "history {number} has no order: {history:#?}");
        kills += u64::from(kill);
        let sent = history.iter().filter(|event| matches!(event, Event::Invoked(..))).count();
        open += 2 * sent - history.len();
        // The checker must reject corrupted histories.
        found += u64::from(!is_linearizable(&corrupted(&history, &mut rng)));
    }
    println!(
        "{histories} histories, {kills} kills that interrupted {open} requests; {found} of {histories} planted faults \
         found"
    );
    assert!(open > 0, "no kill interrupted a request");
    assert!(100 * found >= 95 * histories, "{found} of {histories} planted faults were found");
}
