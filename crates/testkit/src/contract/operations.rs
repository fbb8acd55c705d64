//! Operation keys: at most one effect, and the same response for all requests. Contract section 4.10.

use std::sync::Arc;
use std::time::Duration;

use roadmap_domain::error::FieldError;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::policy::idempotency;
use roadmap_domain::ports::Clock;
use roadmap_domain::usecase::create_feature_request::CreateFeatureRequest;
use roadmap_domain::usecase::executor::Checked;
use roadmap_domain::usecase::target::Target;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::harness::{Failing, Harness, Stalling, comment, draft, reply, vote};

const SOON: Duration = Duration::from_secs(2);

fn create(title: &str) -> CreateFeatureRequest {
    CreateFeatureRequest::new(draft(title, &[], ""))
}

/// Eight concurrent duplicates: one effect, eight equal responses, seven of them replays.
///
/// Contract 4.10; Decision 5.
pub async fn one_of_many_concurrent_duplicates_runs(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let harness = Arc::new(harness);
    let mut runs = JoinSet::new();
    for caller in 0..8 {
        let harness = Arc::clone(&harness);
        runs.spawn(async move { harness.run(workspace, "k", &create("Dark mode"), &format!("by {caller}")).await });
    }
    let outcomes: Vec<_> = runs.join_all().await.into_iter().map(|outcome| outcome.expect("a response")).collect();
    assert_eq!(outcomes.iter().filter(|outcome| !outcome.replayed).count(), 1);
    assert!(outcomes.iter().all(|outcome| outcome.response == outcomes[0].response), "{outcomes:?}");
    assert_eq!(harness.count("feature_requests", workspace).await, 1);
    assert_eq!(harness.count("operations", workspace).await, 1);
}

/// "A failed request does not save its key."
///
/// Contract 4.10; Decision 5.
pub async fn a_failed_run_frees_its_key(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let failed = harness.run(workspace, "k", &Failing(create("Dark mode")), "never").await;
    assert!(failed.is_err());
    assert_eq!(harness.count("operations", workspace).await, 0);
    let outcome = harness.run(workspace, "k", &create("Dark mode"), "done").await.unwrap();
    assert_eq!((outcome.response, outcome.replayed), (reply("done"), false));
    assert_eq!(harness.count("feature_requests", workspace).await, 1);
}

/// A run that is dropped before it ends has no effect and releases its key at once.
///
/// Decision 5.
pub async fn a_dropped_run_frees_its_key_at_once(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let harness = Arc::new(harness);
    let (reached, dropped) = (Arc::new(Notify::new()), Arc::clone(&harness));
    let stalling = Stalling(create("Dark mode"), Arc::clone(&reached));
    let run = tokio::spawn(async move { dropped.run(workspace, "k", &stalling, "never").await.map(|_| ()) });
    timeout(SOON, reached.notified()).await.expect("the run is in its middle");
    run.abort();
    let outcome = timeout(SOON, harness.run(workspace, "k", &create("Light mode"), "done")).await;
    assert!(!outcome.expect("the key is free").unwrap().replayed);
    assert_eq!(harness.count("feature_requests", workspace).await, 1);
}

/// A run that is dropped while it waits for the key leaves no lock.
///
/// Decision 5.
pub async fn an_abandoned_waiter_holds_no_lock(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let harness = Arc::new(harness);
    let (reached, holding, waiting) = (Arc::new(Notify::new()), Arc::clone(&harness), Arc::clone(&harness));
    let stalling = Stalling(create("Dark mode"), Arc::clone(&reached));
    let holder = tokio::spawn(async move { holding.run(workspace, "k", &stalling, "never").await.map(|_| ()) });
    timeout(SOON, reached.notified()).await.expect("the holder is in its middle");
    let waiter = tokio::spawn(async move { waiting.run(workspace, "k", &create("Waiter"), "never").await.map(|_| ()) });
    assert!(
        timeout(Duration::from_millis(50), async {
            while !waiter.is_finished() {
                tokio::task::yield_now().await
            }
        })
        .await
        .is_err()
    );
    waiter.abort();
    holder.abort();
    let outcome = timeout(SOON, harness.run(workspace, "k", &create("Light mode"), "done")).await;
    assert!(!outcome.expect("the key is free").unwrap().replayed);
    assert_eq!(harness.count("feature_requests", workspace).await, 1);
}

/// "Another workspace may use the same key without clashing."
///
/// Contract 4.10: rule 3, a key belongs to its workspace.
pub async fn keys_belong_to_their_workspace(harness: Harness) {
    for subdomain in ["acme", "bolt", "crux"] {
        let workspace = harness.workspace(subdomain).await;
        let outcome = harness.run(workspace, "k", &create("Dark mode"), subdomain).await.unwrap();
        assert_eq!((outcome.response, outcome.replayed), (reply(subdomain), false));
    }
}

/// "The key is matched on its own."
///
/// Contract 4.10.
pub async fn a_key_is_replayed_for_any_operation(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.run(workspace, "k", &create("Dark mode"), "first").await.unwrap();
    let nowhere = FeatureRequestRef::Number(99);
    let target = Target::FeatureRequest(nowhere);
    let invalid = Checked::<CreateFeatureRequest> { target, operation: Err(FieldError::missing("title")) };
    for outcome in [
        harness.run(workspace, "k", &create("Other"), "second").await,
        harness.run(workspace, "k", &invalid, "fifth").await,
        harness.run(workspace, "k", &vote(nowhere, None, Some("note")), "third").await,
        harness.run(workspace, "k", &comment(nowhere, "text", true), "fourth").await,
    ] {
        let outcome = outcome.expect("a replay");
        assert_eq!((outcome.response, outcome.replayed), (reply("first"), true));
    }
    assert_eq!(harness.count("feature_requests", workspace).await, 1);
    assert_eq!(harness.count("notes", workspace).await + harness.count("comments", workspace).await, 0);
}

/// White space, key order, NUL and invalid UTF-8 are preserved.
///
/// Contract 4.10; Decision 5.
pub async fn saved_responses_are_replayed_byte_for_byte(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    for (number, body) in
        [&b"{ \"b\":1,\t\"a\" : 1.0 }\r\n"[..], b"", b"\0\xff\xfe", "ü\u{1f600}".as_bytes()].iter().enumerate()
    {
        let key = crate::harness::operation_key(&format!("k{number}"));
        let render = |_| roadmap_domain::model::operation_key::SavedResponse { status: 200, body: body.to_vec() };
        let first = harness.executor.run(workspace, Some(&key), &create("x"), render).await.unwrap();
        let again = harness.executor.run(workspace, Some(&key), &create("y"), |_| reply("other")).await.unwrap();
        assert_eq!(first.response, again.response);
        assert!(again.replayed);
    }
}

/// Keys older than the retention are purged in batches. After that they can be used again.
///
/// Contract 8: the retention of saved responses is open; decision 5 has it.
/// Decision 5: saved responses are purged after their time.
pub async fn expired_responses_are_purged_in_batches(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    for key in ["a", "b", "c"] {
        harness.run(workspace, key, &create("x"), "old").await.unwrap();
    }
    harness.clock.advance(time::Duration::days(2));
    harness.run(workspace, "d", &create("x"), "new").await.unwrap();
    let before = idempotency::purge_cutoff(harness.clock.now(), time::Duration::DAY);
    let maintenance = &harness.subject.maintenance;
    assert_eq!(maintenance.purge_operation_keys(before, 2).await.unwrap(), 2);
    assert_eq!(maintenance.purge_operation_keys(before, 2).await.unwrap(), 1);
    assert_eq!(maintenance.purge_operation_keys(before, 2).await.unwrap(), 0);
    assert!(!harness.run(workspace, "a", &create("x"), "again").await.unwrap().replayed);
    assert!(harness.run(workspace, "d", &create("x"), "again").await.unwrap().replayed);
}

/// After a commit every reader sees the writes, also with concurrent commits.
///
/// Decision 5.
pub async fn committed_writes_are_visible_to_readers(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    let harness = Arc::new(harness);
    let mut voters = JoinSet::new();
    for voter in 0..24 {
        let (harness, request) = (Arc::clone(&harness), request.clone());
        voters.spawn(async move {
            let email = format!("voter{voter}@example.com");
            harness.vote(workspace, &request, &email).await;
            let email = roadmap_domain::model::email_address::EmailAddress::parse("email", &email).unwrap();
            let votes = harness.subject.reader.voted_requests(workspace, &email, Default::default()).await.unwrap();
            assert_eq!(votes.total, 1);
        });
    }
    voters.join_all().await;
    let voters =
        harness.subject.reader.voters(workspace, &FeatureRequestRef::Id(request.id), Default::default()).await.unwrap();
    assert_eq!(voters.expect("the request").total, 24);
    assert_eq!(harness.count("votes", workspace).await, 24);
}

crate::contract::cases!($ operations {
    one_of_many_concurrent_duplicates_runs,
    a_failed_run_frees_its_key,
    a_dropped_run_frees_its_key_at_once,
    an_abandoned_waiter_holds_no_lock,
    keys_belong_to_their_workspace,
    a_key_is_replayed_for_any_operation,
    saved_responses_are_replayed_byte_for_byte,
    expired_responses_are_purged_in_batches,
    committed_writes_are_visible_to_readers,
});
