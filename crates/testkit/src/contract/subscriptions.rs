//! Contract tests of mail subscriptions.

use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::usecase::unsubscribe::Unsubscribe;
use time::Duration;
use uuid::Uuid;

use crate::harness::{Failing, Harness, comment};

/// Comments on a feature request and returns the number of waiting mails.
async fn announce(harness: &Harness, workspace: WorkspaceId, request: &FeatureRequestSummary) -> u64 {
    harness
        .executor
        .run_without_key(workspace, &comment(FeatureRequestRef::Id(request.id), "<p>Soon</p>", true))
        .await
        .unwrap();
    harness.count("outbox", workspace).await
}

/// Creates a vote on a feature request and returns the customer.
async fn voter(harness: &Harness, workspace: WorkspaceId, request: &FeatureRequestSummary, email: &str) -> CustomerId {
    harness.vote(workspace, request, email).await;
    let reader = &harness.subject.reader;
    let voters = reader.voters(workspace, &FeatureRequestRef::Id(request.id), PageRequest::default()).await.unwrap();
    voters.unwrap().items.iter().find(|voter| voter.email.as_str() == email).expect("the voter").id
}

/// Unsubscribing from one feature request or from all mail deletes waiting mails and prevents new ones. Unsubscribing
/// from all mail includes feature requests voted for later.
pub async fn unsubscribing_deletes_waiting_mail(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let (one, other) = (harness.request(workspace, "Dark mode").await, harness.request(workspace, "Export").await);
    let ann = voter(&harness, workspace, &one, "ann@example.com").await;
    let bob = voter(&harness, workspace, &one, "bob@example.com").await;
    for email in ["ann@example.com", "bob@example.com"] {
        harness.vote(workspace, &other, email).await;
    }
    assert_eq!((announce(&harness, workspace, &one).await, announce(&harness, workspace, &other).await), (2, 4));
    // Repeated, like a mail program that repeats its POST.
    for _ in 0..2 {
        harness.unsubscribe(workspace, ann, Unsubscription::Request(one.id)).await.unwrap();
        assert_eq!(harness.count("outbox", workspace).await, 3);
        harness.clock.advance(Duration::MINUTE);
    }
    assert_eq!(announce(&harness, workspace, &one).await, 4);
    for _ in 0..2 {
        harness.unsubscribe(workspace, bob, Unsubscription::Everything).await.unwrap();
        assert_eq!(harness.count("outbox", workspace).await, 1);
        harness.clock.advance(Duration::MINUTE);
    }
    let later = harness.request(workspace, "API").await;
    for email in ["ann@example.com", "bob@example.com"] {
        harness.vote(workspace, &later, email).await;
    }
    assert_eq!(announce(&harness, workspace, &later).await, 2);
}

/// A unit of work that is rolled back changes neither subscriptions nor waiting mails.
pub async fn a_rolled_back_unit_unsubscribes_nobody(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    let customer = voter(&harness, workspace, &request, "ann@example.com").await;
    assert_eq!(announce(&harness, workspace, &request).await, 1);
    for what in [Unsubscription::Request(request.id), Unsubscription::Everything] {
        assert!(harness.executor.run_without_key(workspace, &Failing(Unsubscribe { customer, what })).await.is_err());
    }
    assert_eq!(announce(&harness, workspace, &request).await, 2);
}

/// An id without a customer, or of a customer of another workspace, changes nothing.
pub async fn an_unknown_customer_is_not_unsubscribed(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(acme, "Dark mode").await;
    let ann = voter(&harness, acme, &request, "ann@example.com").await;
    assert_eq!(announce(&harness, acme, &request).await, 1);
    for (workspace, customer) in [(acme, CustomerId::new(Uuid::from_u128(9))), (bolt, ann)] {
        for what in [Unsubscription::Request(request.id), Unsubscription::Everything] {
            let error = harness.unsubscribe(workspace, customer, what).await.unwrap_err();
            assert_eq!(error.to_string(), "Customer does not exist.");
        }
    }
    assert_eq!(announce(&harness, acme, &request).await, 2);
}
