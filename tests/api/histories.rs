//! Short histories of votes, replays and counts by several clients at once, some with a kill in their
//! middle: each must be one that a single clerk with a list could have caused, who serves one call
//! after the other, each at some moment between its being sent and its being answered
//! (linearizability).
//!
//! A history is about one request. Longer ones take the checker too long: it tries orders.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use serde_json::json;
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use crate::app::{Answer, App, Client, eventually};
use crate::effort::{Chance, rounds};

/// Clients that call at the same time.
const CLIENTS: u64 = 3;

/// Calls of each, and of each of the two that come after a kill. More clients or calls take the checker
/// too long where it must try all orders to say no.
const CALLS: u64 = 5;
const CALLS_AFTER_A_KILL: u64 = 2;

/// Every so many histories there is a kill in one.
const KILL_EVERY: u64 = 25;

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Call {
    /// Vote for the request, perhaps under an operation key.
    Vote { customer: u64, key: Option<u64> },
    /// How many voters are there?
    Count,
}

/// What it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Voted { registered: bool, already: bool, votes: i64, replayed: bool },
    Counted(i64),
}

/// The clerk: the contract's rules for votes (4.7) and operation keys (4.10), one call at a time.
#[derive(Debug, Clone, Default)]
struct Clerk {
    voters: BTreeSet<u64>,
    answers: BTreeMap<u64, Told>,
}

impl SequentialSpec for Clerk {
    type Op = Call;
    type Ret = Told;

    fn invoke(&mut self, call: &Call) -> Told {
        let Call::Vote { customer, key } = call else { return Told::Counted(self.votes()) };
        if let Some(Told::Voted { registered, already, votes, .. }) = key.and_then(|key| self.answers.get(&key)) {
            return Told::Voted { registered: *registered, already: *already, votes: *votes, replayed: true };
        }
        let registered = self.voters.insert(*customer);
        let told = Told::Voted { registered, already: !registered, votes: self.votes(), replayed: false };
        if let Some(key) = key {
            self.answers.insert(*key, told.clone());
        }
        told
    }
}

impl Clerk {
    fn votes(&self) -> i64 {
        i64::try_from(self.voters.len()).expect("few")
    }
}

/// What happened, in the order in which it did: a call that was sent, or the answer that came.
#[derive(Debug, Clone)]
enum Event {
    Sent(u64, Call),
    Answered(u64, Told),
}

fn is_linearizable(history: &[Event]) -> bool {
    let mut tester = LinearizabilityTester::new(Clerk::default());
    for event in history {
        let noted = match event.clone() {
            Event::Sent(client, call) => tester.on_invoke(client, call).map(|_| ()),
            Event::Answered(client, told) => tester.on_return(client, told).map(|_| ()),
        };
        noted.expect("clients that do one thing at a time");
    }
    tester.is_consistent()
}

/// The same history as a service would have caused it that has lost a vote, or counted one twice, at
/// some moment in its first half: what is counted from then on is off by one.
fn spoiled(history: &[Event], chance: &mut Chance) -> Vec<Event> {
    let from = usize::try_from(chance.below(history.len() as u64 / 2)).expect("few");
    let change = if chance.below(2) == 0 { 1 } else { -1 };
    let mut asked = BTreeMap::new();
    let mut changed_answers = BTreeSet::new();
    let mut spoil = |index: usize, event: &Event| {
        let mut event = event.clone();
        match &mut event {
            Event::Sent(client, call) => {
                asked.insert(*client, call.clone());
            }
            Event::Answered(_, Told::Counted(votes)) if index >= from => *votes += change,
            Event::Answered(_, Told::Counted(_)) => {}
            Event::Answered(client, Told::Voted { votes, replayed, .. }) => {
                let key = match asked.get(client) {
                    Some(Call::Vote { key: Some(key), .. }) => Some(*key),
                    _ => None,
                };
                // A replay says again what was said first.
                let changes =
                    if *replayed { key.is_some_and(|key| changed_answers.contains(&key)) } else { index >= from };
                if changes {
                    *votes += change;
                    changed_answers.extend(key);
                }
            }
        }
        event
    };
    history.iter().enumerate().map(|(index, event)| spoil(index, event)).collect()
}

/// One history's request, customers and keys.
struct Scene {
    number: u64,
    request: String,
}

impl Scene {
    fn new(client: &Client, number: u64) -> Self {
        let request = client.feature_request(&format!("History {number}"));
        Self { number, request: request["id"].as_str().expect("an id").to_owned() }
    }

    /// Makes a call and notes it. Returns whether there was an answer.
    fn call(&self, client: &Client, name: u64, call: &Call, history: &Mutex<Vec<Event>>) -> bool {
        let path = format!("/api/external/v1/feature_requests/{}", self.request);
        // Noted before it is sent and after it is answered: what really happened lies in between.
        history.lock().unwrap().push(Event::Sent(name, call.clone()));
        let answer = match call {
            Call::Count => client.call("GET", &format!("{path}/voters?page_size=1"), &[], None),
            Call::Vote { customer, key } => {
                let body = json!({
                    "customer": { "email": format!("customer{customer}@history{}.example", self.number) },
                    "operation_key": key.map(|key| format!("history {} key {key}", self.number)),
                });
                let headers = [("Content-Type", "application/json")];
                client.call("POST", &format!("{path}/upvotes"), &headers, Some(body.to_string().as_bytes()))
            }
        };
        let Ok(answer) = answer else { return false };
        history.lock().unwrap().push(Event::Answered(name, told(call, &answer)));
        true
    }
}

fn told(call: &Call, answer: &Answer) -> Told {
    let body = answer.json();
    match call {
        Call::Count => {
            assert_eq!(answer.status, 200, "{body}");
            Told::Counted(body["total_count"].as_i64().expect("a count"))
        }
        Call::Vote { .. } => {
            assert_eq!(answer.status, 201, "{body}");
            Told::Voted {
                registered: body["vote_registered"].as_bool().expect("a boolean"),
                already: body["already_voted"].as_bool().expect("a boolean"),
                votes: body["feature_request"]["votes_count"].as_i64().expect("a count"),
                replayed: answer.header("Idempotent-Replayed") == Some("true"),
            }
        }
    }
}

/// Calls of few customers with few keys, so that they meet.
fn calls(count: u64, chance: &mut Chance) -> Vec<Call> {
    let any = |chance: &mut Chance| match chance.below(5) {
        0 => Call::Count,
        1 => Call::Vote { customer: chance.below(4), key: None },
        _ => Call::Vote { customer: chance.below(4), key: Some(chance.below(5)) },
    };
    (0..count).map(|_| any(chance)).collect()
}

/// What one history was, with a kill in its middle or without.
fn happen(app: &mut App, number: u64, kill: bool, chance: &mut Chance) -> Vec<Event> {
    let scene = Scene::new(&app.acme, number);
    let history = Mutex::new(Vec::new());
    let plans: Vec<Vec<Call>> = (0..CLIENTS).map(|_| calls(CALLS, chance)).collect();
    let before_the_kill = usize::try_from(chance.below(2 * CLIENTS * CALLS)).expect("few");
    let client = app.acme.clone();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .zip(&plans)
            .map(|(name, plan)| {
                let (scene, client, history) = (&scene, &client, &history);
                // Whoever gets no answer does not go on: its call stays open.
                scope.spawn(move || plan.iter().all(|call| scene.call(client, name, call, history)))
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
        app.start_again();
        let plans: Vec<Vec<Call>> = (0..2).map(|_| calls(CALLS_AFTER_A_KILL, chance)).collect();
        std::thread::scope(|scope| {
            for (name, plan) in (CLIENTS..).zip(&plans) {
                let (scene, client, history) = (&scene, &app.acme, &history);
                scope.spawn(move || {
                    assert!(plan.iter().all(|call| scene.call(client, name, call, history)), "no answer");
                });
            }
        });
    }
    history.into_inner().unwrap()
}

#[test]
fn every_history_is_one_of_calls_that_were_served_one_after_the_other() {
    let mut chance = Chance::seeded();
    let mut app = App::start();
    let (mut kills, mut open, mut found) = (0, 0, 0);
    let histories = rounds(400, 2_500);
    for number in 0..histories {
        let kill = number % KILL_EVERY == KILL_EVERY - 1;
        let history = happen(&mut app, number, kill, &mut chance);
        assert!(is_linearizable(&history), "history {number} has no order: {history:#?}");
        kills += u64::from(kill);
        let sent = history.iter().filter(|event| matches!(event, Event::Sent(..))).count();
        open += 2 * sent - history.len();
        // The checker must be able to say no.
        found += u64::from(!is_linearizable(&spoiled(&history, &mut chance)));
    }
    println!(
        "{histories} histories, {kills} kills that left {open} calls open; {found} of {histories} planted faults found"
    );
    assert!(open > 0, "no kill fell into a call");
    assert!(100 * found >= 95 * histories, "{found} of {histories} planted faults were found");
}
