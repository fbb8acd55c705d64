//! Whole workspaces at one moment.

use roadmap_domain::model::export::{Exported, Kind, Record};
use roadmap_domain::ports::Snapshot;

use crate::harness::{Harness, draft};

async fn rest(mut snapshot: Box<dyn Snapshot>) -> Vec<Exported> {
    let mut records = Vec::new();
    while let Some(page) = snapshot.next().await.unwrap() {
        records.extend(page);
    }
    records
}

/// Import contract 6: an export is one snapshot, while the service runs.
pub async fn a_snapshot_shows_one_moment_and_keeps_no_write_from_its_turn(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    harness.create(bolt, draft("Elsewhere", &["quokka"], "wombat")).await;
    let mut requests = Vec::new();
    for number in 0..250 {
        requests.push(harness.request(acme, &format!("Idea {number}")).await);
    }
    harness.vote(acme, &requests[0], "ann@example.com").await;
    let mut snapshot = harness.subject.snapshots.snapshot(acme).await.unwrap();
    let mut records = snapshot.next().await.unwrap().unwrap();

    harness.vote(acme, &requests[249], "bob@example.com").await;
    harness.create(acme, draft("Later", &["new"], "")).await;
    records.extend(rest(snapshot).await);
    let kinds: Vec<Kind> = records.iter().map(|exported| exported.record.kind()).collect();
    assert!(kinds.is_sorted(), "{kinds:?}");
    let of = |kind| kinds.iter().filter(|other| **other == kind).count();
    assert_eq!((of(Kind::FeatureRequests), of(Kind::Votes), of(Kind::Customers)), (250, 1, 1));
    assert_eq!((of(Kind::Workspace), kinds.last()), (1, Some(&Kind::Workspace)));
    let numbers: Vec<i64> = records
        .iter()
        .filter_map(|exported| match &exported.record {
            Record::FeatureRequest(request) => Some(request.tag_number),
            _ => None,
        })
        .collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    let voted = |exported: &&Exported| exported.votes == 1 && exported.record.kind() == Kind::FeatureRequests;
    assert_eq!(records.iter().filter(voted).count(), 1);

    // One that nobody reads to its end is given up.
    let mut left = harness.subject.snapshots.snapshot(acme).await.unwrap();
    assert!(left.next().await.unwrap().is_some());
    drop(left);
    let again = rest(harness.subject.snapshots.snapshot(acme).await.unwrap()).await;
    assert_eq!(again.len(), records.len() + 3);
}

crate::contract::cases!($ snapshots {
    a_snapshot_shows_one_moment_and_keeps_no_write_from_its_turn,
});
