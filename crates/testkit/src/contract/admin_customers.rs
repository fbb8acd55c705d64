//! Merging two customers who are one person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use roadmap_domain::model::admin::{CustomerRecords, CustomersMerged, InboxFilter};
use roadmap_domain::model::audit::{AuditFilter, Change};
use roadmap_domain::model::customer::{Customer, CustomerDraft, CustomerName, CustomerQuery};
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::model::message::{MessageOutcome, Priority};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::hold_comment::ApproveComment;
use roadmap_domain::usecase::merge_customers::MergeCustomers;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::contract::portal_lists::assert_ranking;
use crate::effort::{SeededRng, rounds};
use crate::harness::{
    Failing, Harness, comment, customer_comment, draft, held_idea, largest_page, member_viewer, merge, name, unmerge,
    vote, withdraw,
};

const MISSING: &str = "Customer does not exist.";

fn merge_customers(source: CustomerId, target: CustomerId) -> MergeCustomers {
    MergeCustomers { source, target }
}

/// The voters of a feature request, with the timestamps of their votes.
async fn voters(
    harness: &Harness,
    workspace: WorkspaceId,
    request: FeatureRequestId,
) -> BTreeMap<CustomerId, Timestamp> {
    let voters = harness.voters(workspace, request).await;
    let detail = harness.detail(workspace, request).await;
    assert_eq!(detail.summary.votes_count, i64::try_from(voters.len()).unwrap(), "{}", detail.summary.title);
    voters.into_iter().map(|voter| (voter.id, voter.voted_at)).collect()
}

async fn customer(harness: &Harness, workspace: WorkspaceId, id: CustomerId) -> Option<Customer> {
    harness.subject.reader.customer(workspace, id).await.unwrap()
}

/// Creates a customer by a vote for a feature request.
async fn voter(harness: &Harness, workspace: WorkspaceId, request: &FeatureRequestSummary, email: &str) -> CustomerId {
    harness.vote(workspace, request, email).await;
    harness.customer(workspace, email).await.id
}

/// Everything of the source belongs to the target afterwards, the source is gone, and its address belongs to nobody. The
/// entry of the audit log has no address.
///
/// Addition 4: after `POST /customers/{id}/merge` the target has everything, and the other address belongs to nobody.
/// Addition 4: a merge of customers is audited without addresses.
pub async fn a_merged_customer_gives_everything_away(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.member(workspace, "mia@team.example", "Mia").await;
    let of = |draft: FeatureRequestDraft, email: &str| {
        let customer = CustomerDraft::parse(Some(email), Some("Ann")).ok();
        FeatureRequestDraft { customer, ..draft }
    };
    let idea = harness.create(workspace, of(draft("Quokka", &[], ""), "ann@example.com")).await;
    let [second, third] = harness.requests(workspace, ["Fern", "Lichen"]).await;
    let held = harness.create(workspace, held_idea("Bilby", "ann@example.com")).await;
    let note = vote(FeatureRequestRef::Id(second.id), Some(("ann@example.com", None)), Some("<p>A note</p>"));
    harness.perform(workspace, &note).await;
    let reference = FeatureRequestRef::Id(third.id);
    let posted =
        harness.perform(workspace, &customer_comment(reference, "<p>When?</p>", "ann@example.com", None)).await;
    let waiting = harness.hold(workspace, third.id, "<p>Please</p>", "ann@example.com").await;
    assert!(harness.subscribe(workspace, third.id, "ann@example.com").await);
    let ann = harness.customer(workspace, "ann@example.com").await;
    let target_created_at = harness.next_second();
    let target_id = voter(&harness, workspace, &third, "Ann@Home.example").await;
    let admin = &harness.subject.reader;
    let before = admin.customer_records(workspace, ann.id).await.unwrap();
    let counts = harness.count_records(workspace).await;
    harness.next_second();

    let merged = harness.perform(workspace, &merge_customers(ann.id, target_id)).await;
    let target = CustomerName { id: target_id, name: Some(name("Ann")), email: merged.customer.customer.email.clone() };
    assert_eq!(target.email.as_str(), "Ann@Home.example");
    let target = Customer { customer: target, votes_count: 4, created_at: target_created_at, blocked_at: None };
    assert_eq!(merged, CustomersMerged { customer: target.clone(), source: ann.clone() });
    assert_eq!(customer(&harness, workspace, target_id).await, Some(target));
    assert_eq!(customer(&harness, workspace, ann.id).await, None);
    assert_eq!((harness.count("customers", workspace).await, &harness.count_records(workspace).await), (1, &counts));
    let after = admin.customer_records(workspace, target_id).await.unwrap();
    assert_eq!((&after.requests, &after.comments), (&before.requests, &before.comments));
    let bodies = |records: &CustomerRecords| {
        records.notes.iter().map(|(link, note)| (link.clone(), note.id)).collect::<Vec<_>>()
    };
    assert_eq!((bodies(&after).len(), bodies(&after)), (1, bodies(&before)));
    assert_eq!(after.notes[0].1.customer.as_ref().map(|customer| customer.id), Some(target_id));
    let numbers: Vec<i64> = after.votes.iter().map(|request| request.tag_number).collect();
    assert_eq!(numbers, [4, 3, 2, 1]);
    assert_eq!(after.subscriptions.len(), 4);
    for request in [&idea, &held] {
        assert_eq!(harness.detail(workspace, request.id).await.author.map(|author| author.id), Some(target_id));
    }
    let page = harness.page_of(workspace, third.id, member_viewer()).await;
    assert_eq!((page.held[0].id, page.held[0].author.id), (waiting, target_id));
    assert_eq!(page.comments.items[0].comment.id, posted.comment.id);
    harness.perform(workspace, &ApproveComment { comment: waiting }).await;
    assert_eq!(admin.customer_records(workspace, target_id).await.unwrap().comments.len(), 2);

    let filter = AuditFilter { action: Some("customer.merge".to_owned()), ..AuditFilter::default() };
    let entries = harness.audit_entries(workspace, &filter).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].subject.id, Some(ann.id.uuid()));
    assert_eq!(entries[0].changes, [Change::new("merged_into", serde_json::Value::Null, target_id.to_string())]);

    // Whoever has the address is somebody new.
    let again = voter(&harness, workspace, &third, "ann@example.com").await;
    assert!(again != ann.id && again != target_id);
    let new = customer(&harness, workspace, again).await.unwrap();
    assert_eq!((new.votes_count, new.customer.name), (1, None));
    // A name that is there stays.
    let cast = vote(FeatureRequestRef::Id(second.id), Some(("bob@example.com", Some("Bob"))), None);
    harness.perform(workspace, &cast).await;
    let bob = harness.customer(workspace, "bob@example.com").await.id;
    let merged = harness.perform(workspace, &merge_customers(bob, target_id)).await;
    assert_eq!((merged.customer.customer.name, merged.source.name), (Some(name("Ann")), Some(name("Bob"))));
    // Without any name, there is none, and customers are found by the name that moved.
    let merged = harness.perform(workspace, &merge_customers(target_id, again)).await;
    assert_eq!(merged.customer.customer.name, Some(name("Ann")));
    assert_eq!(harness.customer(workspace, "ann@example.com").await.id, again);
    let query = CustomerQuery::parse("query", Some("aNN")).unwrap();
    let listing = harness.subject.reader.customers(workspace, query.as_ref(), largest_page()).await;
    assert_eq!(listing.unwrap().total, 1);
}

/// Of two votes for one feature request, the earlier one stays, subscribed if one of them is. In a tree, both count
/// once. So do two subscriptions without a vote.
///
/// Addition 4: votes of both customers for one feature request, or for what is merged into it, count once.
pub async fn votes_of_merged_customers_count_once(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [first, second, root, source] = harness.requests(workspace, ["Quokka", "Fern", "Lichen", "Gecko"]).await;
    let (ann, bob) = ("ann@example.com", "bob@example.com");
    let mut at = Vec::new();
    for (request, email) in [(&first, ann), (&first, bob), (&second, bob), (&second, ann), (&root, ann), (&source, bob)]
    {
        at.push(harness.next_second());
        harness.vote(workspace, request, email).await;
    }
    harness.vote(workspace, &source, "cyd@example.com").await;
    harness.merge(workspace, source.id, root.id).await;
    let [ann, bob] = [harness.customer(workspace, ann).await.id, harness.customer(workspace, bob).await.id];
    for (customer, request) in [(bob, first.id), (ann, second.id), (ann, root.id), (bob, root.id)] {
        harness.unsubscribe(workspace, customer, Unsubscription::Request(request)).await.unwrap();
    }
    for email in ["ann@example.com", "bob@example.com"] {
        assert!(harness.subscribe(workspace, second.id, email).await);
    }
    assert_eq!(harness.detail(workspace, root.id).await.summary.votes_count, 3);
    let admin = &harness.subject.reader;
    let subscribers = async |request| admin.count_changelog_audience(workspace, &[request]).await.unwrap();
    assert_eq!((subscribers(first.id).await, subscribers(second.id).await, subscribers(root.id).await), (1, 2, 1));

    let merged = harness.perform(workspace, &merge_customers(ann, bob)).await;
    assert_eq!(merged.customer.votes_count, 3);
    assert_eq!(voters(&harness, workspace, first.id).await, BTreeMap::from([(bob, at[0])]));
    assert_eq!(voters(&harness, workspace, second.id).await, BTreeMap::from([(bob, at[2])]));
    let of_root = voters(&harness, workspace, root.id).await;
    assert_eq!((of_root.len(), of_root[&bob]), (2, at[4]));
    assert_eq!((subscribers(first.id).await, subscribers(second.id).await, subscribers(root.id).await), (1, 1, 1));
    assert_eq!(harness.count("votes", workspace).await, 5);
    assert_eq!(harness.count("followers", workspace).await, 1);
    harness.unmerge(workspace, source.id).await;
    assert_eq!((voters(&harness, workspace, root.id).await, at[4]), (BTreeMap::from([(bob, at[4])]), at[4]));
    let of_source = voters(&harness, workspace, source.id).await;
    assert_eq!((of_source.len(), of_source[&bob]), (2, at[5]));
    // Withdrawn once, it is gone.
    harness.withdraw(workspace, first.id, "bob@example.com").await;
    assert_eq!(voters(&harness, workspace, first.id).await, BTreeMap::new());
    harness.withdraw(workspace, second.id, "bob@example.com").await;
    assert_eq!(subscribers(second.id).await, 1);
}

/// If one of the customers has stopped all mail, the other one has, too, since the earlier timestamp. Unsent messages to
/// the source are deleted, those to others stay.
pub async fn mail_to_merged_customers_stays_stopped(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.member(workspace, "mia@team.example", "Mia").await;
    let request = harness.request(workspace, "Quokka").await;
    let mut customers = Vec::new();
    for number in 0..8 {
        customers.push(voter(&harness, workspace, &request, &format!("v{number}@example.com")).await);
    }
    harness.perform(workspace, &comment(FeatureRequestRef::Id(request.id), "<p>Soon</p>", true)).await;
    assert_eq!(harness.count("outbox", workspace).await, 8);
    let mut stopped = Vec::new();
    for customer in [1, 2, 4, 5] {
        stopped.push(harness.next_second());
        harness.unsubscribe(workspace, customers[customer], Unsubscription::Everything).await.unwrap();
    }
    assert_eq!(harness.count("outbox", workspace).await, 4);
    for (source, target, since, left) in
        [(0, 1, Some(stopped[0]), 3), (2, 3, Some(stopped[1]), 3), (5, 4, Some(stopped[2]), 3), (6, 7, None, 2)]
    {
        let (source, target) = (customers[source], customers[target]);
        harness.perform(workspace, &merge_customers(source, target)).await;
        let records = harness.subject.reader.customer_records(workspace, target).await.unwrap();
        assert_eq!(records.unsubscribed_at, since);
        assert_eq!(records.subscriptions.len(), usize::from(since.is_none()));
        assert_eq!(harness.count("outbox", workspace).await, left);
    }
    harness.next_second();
    harness.perform(workspace, &comment(FeatureRequestRef::Id(request.id), "<p>Now</p>", true)).await;
    assert_eq!(harness.count("outbox", workspace).await, 3);
    assert_eq!(harness.subject.reader.count_changelog_audience(workspace, &[request.id]).await.unwrap(), 1);
    // The later timestamp does not replace the earlier one.
    harness.perform(workspace, &merge_customers(customers[4], customers[1])).await;
    let records = harness.subject.reader.customer_records(workspace, customers[1]).await.unwrap();
    assert_eq!(records.unsubscribed_at, Some(stopped[0]));
    harness.perform(workspace, &merge_customers(customers[1], customers[3])).await;
    let records = harness.subject.reader.customer_records(workspace, customers[3]).await.unwrap();
    assert_eq!(records.unsubscribed_at, Some(stopped[0]));
}

/// A customer who has got mail can be merged. The mail that was sent stays counted.
pub async fn sent_mail_outlives_its_customer(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.member(workspace, "mia@team.example", "Mia").await;
    let request = harness.request(workspace, "Quokka").await;
    let ann = voter(&harness, workspace, &request, "ann@example.com").await;
    let bob = voter(&harness, workspace, &request, "bob@example.com").await;
    harness.perform(workspace, &comment(FeatureRequestRef::Id(request.id), "<p>Soon</p>", true)).await;
    let queue = &harness.subject.queue;
    let until = harness.now().plus(time::Duration::MINUTE);
    let priority = Priority::Bulk;
    let leased = queue.lease(workspace, priority, harness.now(), until, 10).await.unwrap();
    assert_eq!(leased.messages.len(), 2);
    for message in &leased.messages {
        let sent = MessageOutcome::Sent { response: "250".to_owned() };
        assert!(queue.settle(workspace, &message.lease, &sent, harness.now()).await.unwrap());
    }
    harness.perform(workspace, &comment(FeatureRequestRef::Id(request.id), "<p>Now</p>", true)).await;
    harness.perform(workspace, &merge_customers(ann, bob)).await;
    let status = queue.status(workspace, 5, harness.now()).await.unwrap();
    assert_eq!((status.sent, status.waiting), (2, 1));
}

/// Merging a customer with itself, with none or with one of another workspace fails and changes nothing, and so does a
/// unit of work that is rolled back.
pub async fn rejected_merges_of_customers_change_nothing(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(workspace, "Quokka").await;
    let ann = voter(&harness, workspace, &request, "ann@example.com").await;
    let bob = voter(&harness, workspace, &request, "bob@example.com").await;
    let elsewhere = harness.request(other, "Quokka").await;
    let foreign = voter(&harness, other, &elsewhere, "ann@example.com").await;
    let unknown = CustomerId::new(Uuid::from_u128(1));
    let state = async || {
        let mut state = Vec::new();
        for (workspace, request) in [(workspace, &request), (other, &elsewhere)] {
            state.push((
                harness.snapshots(workspace, &[request.id]).await,
                harness.count_records(workspace).await,
                harness.count("customers", workspace).await,
                harness.count("audit_entries", workspace).await,
            ));
        }
        state
    };
    let before = state().await;
    for (source, target, message) in [
        (ann, ann, "target_id is the customer itself"),
        (ann, unknown, MISSING),
        (unknown, ann, MISSING),
        (unknown, unknown, MISSING),
        (ann, foreign, MISSING),
        (foreign, ann, MISSING),
    ] {
        assert_eq!(harness.failure(workspace, &merge_customers(source, target)).await, message);
    }
    assert_eq!(harness.failure(other, &merge_customers(ann, bob)).await, MISSING);
    harness.failure(workspace, &Failing(merge_customers(ann, bob))).await;
    assert_eq!(state().await, before);
    harness.perform(workspace, &merge_customers(ann, bob)).await;
    assert_eq!(harness.failure(workspace, &merge_customers(ann, bob)).await, MISSING);
    assert_eq!(state().await[1], before[1]);
}

const REQUESTS: usize = 6;
const CUSTOMERS: usize = 9;

/// The addresses are at two companies and at a provider of mail.
fn email(customer: u64) -> String {
    let domain = ["example.com", "bolt.example", "example.com", "gmail.com"][usize::try_from(customer % 4).unwrap()];
    format!("v{customer}@{domain}")
}

/// After random votes, merges of feature requests and merges of customers, every tally equals a recount, and the voters
/// are the former ones with one person less.
pub async fn random_merges_of_customers_are_exact(harness: Harness) {
    let seeds: &[u64] = if rounds(0, 1) == 0 { &[1, 2, 3] } else { &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10] };
    for seed in seeds {
        let mut random = SeededRng::new(*seed);
        let mut below = |end: usize| usize::try_from(random.below(end as u64)).unwrap();
        let workspace = harness.workspace(&format!("seed-{seed}")).await;
        let titles = ["Quokka", "Fern", "Lichen", "Gecko", "Zebra", "Burrow"];
        let requests: [FeatureRequestSummary; REQUESTS] = harness.requests(workspace, titles).await;
        for customer in 0..CUSTOMERS {
            harness.vote(workspace, &requests[0], &email(customer as u64)).await;
        }
        let mut ids = Vec::new();
        for customer in 0..CUSTOMERS {
            ids.push((harness.customer(workspace, &email(customer as u64)).await.id, email(customer as u64)));
        }
        while ids.len() > 1 {
            for _ in 0..8 {
                harness.next_second();
                let (request, other) = (&requests[below(REQUESTS)], &requests[below(REQUESTS)]);
                match below(6) {
                    0 => drop(harness.executor.run_without_key(workspace, &merge(request.id, other.id)).await),
                    1 => drop(harness.executor.run_without_key(workspace, &unmerge(request.id)).await),
                    _ => drop(harness.vote(workspace, request, &ids[below(ids.len())].1).await),
                }
            }
            let mut before = Vec::new();
            for request in &requests {
                before.push(voters(&harness, workspace, request.id).await);
            }
            let (source, _) = ids.remove(below(ids.len()));
            let target = ids[below(ids.len())].0;
            let merged = harness.perform(workspace, &merge_customers(source, target)).await;
            assert_eq!(Some(&merged.customer), customer(&harness, workspace, target).await.as_ref(), "seed {seed}");
            for (request, mut expected) in requests.iter().zip(before) {
                if let Some(at) = expected.remove(&source) {
                    let first = expected.entry(target).or_insert(at);
                    *first = at.min(*first);
                }
                assert_eq!(voters(&harness, workspace, request.id).await, expected, "seed {seed}, {}", request.title);
            }
            let all: Vec<FeatureRequestId> = requests.iter().map(|request| request.id).collect();
            let rows = harness.subject.reader.inbox_rows(workspace, &InboxFilter::default(), &all).await.unwrap();
            for row in rows {
                assert_eq!(harness.detail(workspace, row.summary.id).await.summary, row.summary, "seed {seed}");
            }
            assert_ranking(&harness, workspace, &format!("seed {seed}")).await;
        }
    }
}

/// While eight tasks vote and withdraw votes for two feature requests, which are merged and unmerged, the voters are
/// merged into each other. In the end every tally equals a recount, and each address belongs to one customer.
pub async fn tallies_are_exact_while_customers_are_merged(harness: Harness) {
    const TASKS: u64 = 8;
    const VOTERS: u64 = 6;
    let workspace = harness.workspace("acme").await;
    let requests = harness.requests(workspace, ["Quokka", "Fern", "Lichen"]).await.map(|request| request.id);
    let harness = Arc::new(harness);
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let harness = Arc::clone(&harness);
        tasks.spawn(async move {
            let mut random = SeededRng::new(task);
            for _ in 0..rounds(240, 1_600) / TASKS {
                let request = FeatureRequestRef::Id(requests[usize::try_from(random.below(3)).unwrap()]);
                let email = email(random.below(VOTERS));
                if random.below(4) == 0 {
                    harness.perform(workspace, &withdraw(request, &email)).await;
                } else {
                    harness.perform(workspace, &vote(request, Some((&email, None)), None)).await;
                }
            }
        });
    }
    let merging = Arc::clone(&harness);
    tasks.spawn(async move {
        for _ in 0..rounds(12, 60) {
            merging.perform(workspace, &merge(requests[0], requests[1])).await;
            merging.perform(workspace, &unmerge(requests[0])).await;
        }
    });
    let joining = Arc::clone(&harness);
    tasks.spawn(async move {
        let mut random = SeededRng::new(TASKS);
        let mut merged = 0;
        while merged < rounds(15, 80) {
            let listing = joining.subject.reader.customers(workspace, None, largest_page()).await.unwrap();
            let ids: Vec<CustomerId> = listing.items.iter().map(|row| row.customer.id).collect();
            let count = ids.len() as u64;
            if count < 2 {
                // Only a vote makes another customer.
                let email = email(random.below(VOTERS));
                let reference = FeatureRequestRef::Id(requests[2]);
                joining.perform(workspace, &vote(reference, Some((&email, None)), None)).await;
                continue;
            }
            let source = random.below(count);
            let target = (source + 1 + random.below(count - 1)) % count;
            let pick = |index: u64| ids[usize::try_from(index).unwrap()];
            joining.perform(workspace, &merge_customers(pick(source), pick(target))).await;
            merged += 1;
        }
    });
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    let listing = harness.subject.reader.customers(workspace, None, largest_page()).await.unwrap();
    let addresses: BTreeSet<String> =
        listing.items.iter().map(|row| row.customer.email.folded().as_str().to_owned()).collect();
    assert_eq!(addresses.len(), listing.items.len());
    let known: BTreeSet<CustomerId> = listing.items.iter().map(|row| row.customer.id).collect();
    let recounted = async |request| {
        let voters: BTreeSet<CustomerId> = voters(&harness, workspace, request).await.into_keys().collect();
        assert!(voters.is_subset(&known), "{voters:?}");
        voters
    };
    for _ in 0..2 {
        let [source, target] = [recounted(requests[0]).await, recounted(requests[1]).await];
        let all: BTreeSet<CustomerId> = source.union(&target).copied().collect();
        harness.merge(workspace, requests[0], requests[1]).await;
        assert_eq!(recounted(requests[1]).await, all);
        harness.unmerge(workspace, requests[0]).await;
    }
    recounted(requests[2]).await;
    assert_ranking(&harness, workspace, "in the end").await;
}

crate::contract::cases!($ admin_customers {
    a_merged_customer_gives_everything_away,
    votes_of_merged_customers_count_once,
    mail_to_merged_customers_stays_stopped,
    sent_mail_outlives_its_customer,
    rejected_merges_of_customers_change_nothing,
    random_merges_of_customers_are_exact,
    tallies_are_exact_while_customers_are_merged,
});
