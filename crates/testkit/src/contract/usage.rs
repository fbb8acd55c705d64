//! Storage usage of workspaces.

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Checksum, Filename};
use roadmap_domain::model::changelog::ChangelogDraft;
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::usage::{StoredUsage, Usage};
use roadmap_domain::policy::storage;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::executor::{Operation, OperationContext};
use uuid::Uuid;

use crate::harness::{Harness, comment, draft, operation_key, reply, vote};

/// Runs an operation with a key and returns its estimated usage.
async fn run<O: Operation>(harness: &Harness, workspace: WorkspaceId, key: &str, operation: &O) -> Usage {
    harness.run(workspace, key, operation, "a saved response").await.unwrap();
    let response = storage::saved_response_bytes(&operation_key(key), &reply("a saved response"));
    Usage::from_records(operation.stored_bytes() + response)
}

async fn recount(harness: &Harness, workspace: WorkspaceId) -> Usage {
    let counted = harness.subject.usage.recount_usage(workspace, harness.now()).await.unwrap();
    assert_eq!(counted.counted_at, Some(harness.now()));
    assert_eq!(harness.subject.usage.load_usage(workspace).await.unwrap(), Some(counted));
    counted.usage
}

fn request(title: &str, email: &str) -> CreateFeatureRequest {
    let draft = FeatureRequestDraft {
        customer: Some(CustomerDraft::parse(Some(email), Some("Ünal")).unwrap()),
        note: Some(NoteDraft::parse(Some("<p>Größe</p>"), None).unwrap()),
        ..draft(title, &["ui", "später"], "<p>Some words, and <b>others</b></p>")
    };
    CreateFeatureRequest::new(Ok(draft))
}

/// An operation that stores an attachment's row.
struct Insert(Attachment);

#[async_trait]
impl Operation for Insert {
    type Output = ();

    async fn perform(&self, _: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        Ok(work.insert_attachment(&self.0).await?)
    }
}

/// A recount of one record of every kind, with all texts, equals the sum of the operations' estimates.
pub async fn a_recount_equals_the_sum_of_the_estimates(harness: Harness) {
    let acme = harness.workspace("acme").await;
    assert_eq!(recount(&harness, acme).await, Usage::default());
    let mut added = run(&harness, acme, "request", &request("Dark mode", "Ann@Example.com")).await;
    let quiet = CreateFeatureRequest::new(Ok(FeatureRequestDraft { private: true, ..draft("Quiet", &[], "") }));
    added = added.plus(run(&harness, acme, "private", &quiet).await);
    let first = FeatureRequestRef::Number(1);
    added = added.plus(run(&harness, acme, "vote", &vote(first, Some(("bob@example.com", None)), Some("note"))).await);
    added = added.plus(run(&harness, acme, "note", &vote(first, None, Some("no voter"))).await);
    added = added.plus(run(&harness, acme, "comment", &comment(first, "<p>Öffentlich</p>", false)).await);
    let changelog = ChangelogDraft::parse(Some("1.0"), Some("<p>New</p>"), None, true, |_| None);
    added = added.plus(run(&harness, acme, "changelog", &CreateChangelog { draft: changelog }).await);
    let key = BlobKey { workspace: acme, attachment: AttachmentId::new(Uuid::from_u128(7)) };
    let file = Attachment {
        id: key.attachment,
        filename: Filename::sanitize("Übersicht.png"),
        media_type: MediaType::from_stored("image/png".to_owned()),
        byte_size: 4_567,
        checksum: Checksum([7; 16]),
        key,
        service_name: "local".to_owned(),
        dimensions: None,
        created_at: harness.now(),
    };
    harness.executor.run_without_key(acme, &Insert(file.clone())).await.unwrap();
    added = added.plus(storage::attachment_usage(&file));
    assert_eq!(added.files, 4_567);
    assert_eq!(recount(&harness, acme).await, added);
}

/// Estimates assume that customers, votes and words are new. A recount is exact and never higher.
pub async fn existing_rows_are_not_counted_twice(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let added = run(&harness, acme, "1", &request("Dark mode", "ann@example.com")).await;
    let twice = added.plus(run(&harness, acme, "2", &request("Dark mode", "ann@example.com")).await);
    let words: u64 =
        ["and", "dark", "mode", "others", "some", "spater", "ui", "words"].into_iter().map(storage::word_bytes).sum();
    let customer = CustomerDraft::parse(Some("ann@example.com"), Some("Ünal")).unwrap();
    let known = words + storage::voter_bytes(&customer) - storage::ROW_BYTES;
    assert_eq!(recount(&harness, acme).await, twice.minus(Usage::from_records(known)));
}

/// A total begins at zero and contains all concurrent additions.
pub async fn concurrent_additions_are_summed(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let store = &harness.subject.usage;
    assert_eq!(store.load_usage(acme).await.unwrap(), None);
    let added = (0..16).map(|number| {
        let store = store.clone();
        tokio::spawn(async move { store.add_usage(acme, Usage { records: 100, files: number }).await })
    });
    let added: Vec<_> = added.collect();
    let mut totals = Vec::new();
    for added in added {
        totals.push(added.await.unwrap().unwrap().usage.records);
    }
    totals.sort_unstable();
    assert_eq!(totals, (1..=16).map(|number| number * 100).collect::<Vec<_>>());
    let freed = store.add_usage(acme, Usage { records: 0, files: -20 }).await.unwrap();
    assert_eq!(freed, StoredUsage { usage: Usage { records: 1_600, files: 100 }, counted_at: None });
    assert_eq!(store.load_usage(acme).await.unwrap(), Some(freed));
    // No rows are stored, so the recount resets the total.
    assert_eq!(recount(&harness, acme).await, Usage::default());
    let again = store.add_usage(acme, Usage { records: 5, files: 0 }).await.unwrap();
    assert_eq!(again, StoredUsage { usage: Usage { records: 5, files: 0 }, counted_at: Some(harness.now()) });
}

/// A total stays at least as high as the stored rows while operations commit during recounts.
pub async fn a_total_is_never_too_small(harness: Harness) {
    let acme = harness.workspace("acme").await;
    harness.request(acme, "Dark mode").await;
    let writers = (0..4).map(|_| {
        let (executor, store) = (harness.executor.clone(), harness.subject.usage.clone());
        tokio::spawn(async move {
            for _ in 0..10 {
                let comment = comment(FeatureRequestRef::Number(1), "<p>Text</p>", false);
                executor.run_without_key(acme, &comment).await.unwrap();
                store.add_usage(acme, Usage::from_records(comment.stored_bytes())).await.unwrap();
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    // Every recount has a different timestamp.
    let counters = (0..2).map(|counter| {
        let (store, now) = (harness.subject.usage.clone(), harness.now());
        tokio::spawn(async move {
            for round in 0..5 {
                let at = now.plus(time::Duration::milliseconds(2 * round + counter));
                store.recount_usage(acme, at).await.unwrap();
            }
        })
    });
    for task in counters.collect::<Vec<_>>().into_iter().chain(writers) {
        task.await.unwrap();
    }
    let total = harness.subject.usage.load_usage(acme).await.unwrap().unwrap().usage.records;
    let stored = recount(&harness, acme).await.records;
    assert!(total >= stored, "{total} of {stored}");
}

/// Neither the total nor a recount includes another workspace.
pub async fn usage_belongs_to_its_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let added = run(&harness, acme, "k", &request("Dark mode", "ann@example.com")).await;
    let store = &harness.subject.usage;
    store.add_usage(acme, Usage { records: 7, files: 7 }).await.unwrap();
    assert_eq!(store.load_usage(bolt).await.unwrap(), None);
    assert_eq!(recount(&harness, bolt).await, Usage::default());
    assert_eq!(store.load_usage(acme).await.unwrap().unwrap().usage, Usage { records: 7, files: 7 });
    assert_eq!(recount(&harness, acme).await, added);
    assert_eq!(recount(&harness, bolt).await, Usage::default());
}
