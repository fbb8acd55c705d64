//! Storage usage of workspaces.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::changelog::{ChangelogDraft, ChangelogFields};
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, Title};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::portal::{Color, Language, PortalChange};
use roadmap_domain::model::search::SearchDocument;
use roadmap_domain::model::session::{BrowserName, SecretDigest};
use roadmap_domain::model::sign_in::{LocalPath, PageAction, SignInRequester};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::usage::{StoredUsage, Usage};
use roadmap_domain::policy::storage::{self, StorageLimits};
use roadmap_domain::ports::UsageStore;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::executor::Operation;
use roadmap_domain::usecase::hold_comment::ApproveComment;
use roadmap_domain::usecase::save_account::SaveAccount;
use roadmap_domain::usecase::sign_in::{AskForSignIn, EndSessions, RedeemSignIn, StartSignIn};
use roadmap_domain::usecase::storage_budgets::StorageBudgets;
use roadmap_domain::usecase::subscribe::Subscribe;
use roadmap_domain::usecase::update_portal::UpdatePortal;

use crate::harness::{
    Harness, add_link, changelog_fields, comment, customer_comment, draft, edit, hold, member_viewer, merge, move_to,
    new_title, operation_key, reply, unmerge, vote,
};

/// Adds up what an executor counts, and stores nothing.
#[derive(Default)]
struct Additions(Mutex<Usage>);

#[async_trait]
impl UsageStore for Additions {
    async fn load_usage(&self, _: WorkspaceId) -> Result<Option<StoredUsage>, StoreError> {
        Ok(None)
    }

    async fn add_usage(&self, _: WorkspaceId, added: Usage) -> Result<StoredUsage, StoreError> {
        let mut total = self.0.lock().unwrap();
        *total = total.plus(added);
        Ok(StoredUsage { usage: *total, counted_at: None })
    }

    async fn recount_usage(&self, _: WorkspaceId, _: Timestamp) -> Result<StoredUsage, StoreError> {
        Ok(StoredUsage { usage: *self.0.lock().unwrap(), counted_at: None })
    }
}

/// Runs an operation with a key and returns the usage that the executor counts for it.
async fn run<O: Operation>(harness: &Harness, workspace: WorkspaceId, key: &str, operation: &O) -> Usage {
    let additions = Arc::new(Additions::default());
    let limits = StorageLimits { records: None, files: None };
    let budgets = Arc::new(StorageBudgets::new(additions.clone(), harness.clock.clone(), limits));
    let executor = harness.executor.clone().with_budgets(budgets.clone());
    let render = |_| reply("a saved response");
    executor.run(workspace, Some(&operation_key(key)), operation, render).await.unwrap();
    budgets.flush().await.unwrap();
    *additions.0.lock().unwrap()
}

/// The usage of a new workspace: the entry of its creation in the audit log.
fn created() -> Usage {
    Usage::from_records(storage::AUDIT_ENTRY_BYTES)
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
    CreateFeatureRequest::new(draft)
}

/// A recount of one record of every kind, with all texts, equals the sum of the operations' estimates.
///
/// Beyond the contract.
pub async fn a_recount_equals_the_sum_of_the_estimates(harness: Harness) {
    let acme = harness.workspace("acme").await;
    assert_eq!(recount(&harness, acme).await, created());
    let mut added = created().plus(run(&harness, acme, "request", &request("Dark mode", "Ann@Example.com")).await);
    let quiet = |title| CreateFeatureRequest::new(FeatureRequestDraft { private: true, ..draft(title, &[], "") });
    for key in ["private", "also private"] {
        added = added.plus(run(&harness, acme, key, &quiet("Quiet")).await);
    }
    let first = FeatureRequestRef::Number(1);
    added = added.plus(run(&harness, acme, "vote", &vote(first, Some(("bob@example.com", None)), Some("note"))).await);
    added = added.plus(run(&harness, acme, "note", &vote(first, None, Some("no voter"))).await);
    let mut link = add_link(first, "https://github.com/acme/app/issues/7");
    link.draft.change.title = Some(Some(Title::from_stored("Größer".to_owned())));
    added = added.plus(run(&harness, acme, "link", &link).await);
    added = added.plus(run(&harness, acme, "comment", &comment(first, "<p>Öffentlich</p>", false)).await);
    let of_customer = customer_comment(first, "<p>Größer</p>", "cyd@example.com", Some("Çyd"));
    added = added.plus(run(&harness, acme, "customer's comment", &of_customer).await);
    let customer = CustomerDraft::parse(Some("Dan@example.com"), Some("Dän"));
    added = added.plus(
        run(
            &harness,
            acme,
            "subscription",
            &Subscribe { request: first, customer: customer.unwrap(), resumes_mail: true },
        )
        .await,
    );
    let moved = move_to(first, harness.track(acme, "Planned").await);
    added = added.plus(run(&harness, acme, "move", &moved).await);
    // The search documents of private feature requests do not grow, because they have none.
    let [source, target] = [harness.find(acme, 2).await.id, harness.find(acme, 3).await.id];
    added = added.plus(run(&harness, acme, "merge", &merge(source, target)).await);
    added = added.plus(run(&harness, acme, "unmerge", &unmerge(source)).await);
    let linked = vec![source.to_string(), target.to_string()];
    let fields = ChangelogFields { feature_request_ids: Some(Some(linked)), ..changelog_fields("1.0", "<p>New</p>") };
    let changelog = ChangelogDraft::parse(&fields, true, |_| None);
    added = added.plus(run(&harness, acme, "changelog", &CreateChangelog { draft: changelog.unwrap() }).await);
    added = added.plus(run(&harness, acme, "held comment", &hold(first, "<p>Größte</p>", "Eve@Example.com")).await);
    let start = StartSignIn {
        email: EmailAddress::parse("email", "Fay@Example.com").unwrap(),
        browser: Some(SecretDigest([7; 32])),
        browser_name: Some(BrowserName::from_stored("Firefox · Linux".to_owned())),
        action: Some(PageAction::Submit { title: "Größer".to_owned(), description: "Some words".to_owned() }),
        next: LocalPath::parse("/account"),
        language: Language::Arabic,
    };
    // Anybody can ask for a sign-in, so that it uses no storage of the workspace.
    let sign_in = AskForSignIn { start, requester: SignInRequester::Visitor { is_admitted: true } };
    let sign_in_usage = run(&harness, acme, "sign-in", &sign_in).await;
    let saved = storage::saved_response_bytes(&operation_key("sign-in"), &reply("a saved response"));
    assert_eq!(sign_in_usage, Usage::from_records(saved));
    added = added.plus(sign_in_usage);
    let started = harness.subject.reader.sign_in_of_browser(acme, &SecretDigest([7; 32])).await.unwrap().unwrap();
    let redeem = RedeemSignIn {
        sign_in: started.id,
        email: started.email,
        digest: SecretDigest([8; 32]),
        browser_name: started.browser_name,
        language: Language::German,
        action: None,
    };
    added = added.plus(run(&harness, acme, "session", &redeem).await);
    let save = SaveAccount {
        email: redeem.email,
        name: SaveAccount::parse_name("Fäy").unwrap(),
        holds_names: false,
        language: Some(Language::German),
    };
    added = added.plus(run(&harness, acme, "account", &save).await);
    let change =
        PortalChange { holds_posts: Some(true), accent: Some(Color::from_hex("#123")), ..PortalChange::default() };
    added = added.plus(run(&harness, acme, "portal", &UpdatePortal { change }).await);
    let file = harness.attachment(acme, 7).await;
    added = added.plus(storage::attachment_usage(&file));
    assert_eq!(added.files, 52_428_800);
    assert_eq!(recount(&harness, acme).await, added);
    // An approved comment counts as much as a held one, and an ended session nothing.
    let page = harness.subject.reader.request_page(acme, &first, member_viewer(), None).await.unwrap().unwrap();
    let held = page.held[0].id;
    added = added.plus(run(&harness, acme, "approval", &ApproveComment { comment: held }).await);
    assert_eq!(recount(&harness, acme).await, added);
    let email = EmailAddress::parse("email", "fay@example.com").unwrap();
    let ended = storage::row_bytes(&[email.as_str(), email.as_str()]);
    added = added.plus(run(&harness, acme, "end", &EndSessions { email }).await).minus(Usage::from_records(ended));
    assert_eq!(recount(&harness, acme).await, added);
}

/// Deleted rows are not counted any more: without its feature requests, a workspace stores its customers, the words of
/// its vocabulary, and its audit log.
///
/// Addition 2: a `DELETE` frees storage.
pub async fn deleted_rows_are_not_counted(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let [source, target] = [harness.request(acme, "Quokka").await, harness.request(acme, "Fern").await];
    let emptied = recount(&harness, acme).await;
    for request in [&source, &target] {
        harness.vote(acme, request, "ann@example.com").await;
        harness.perform(acme, &comment(FeatureRequestRef::Id(request.id), "<p>Soon</p>", false)).await;
        harness.perform(acme, &vote(FeatureRequestRef::Id(request.id), None, Some("note"))).await;
        harness.subscribe(acme, request.id, "ann@example.com").await;
        harness.move_to(acme, request.id, "Done").await;
    }
    harness.merge(acme, source.id, target.id).await;
    harness.delete(acme, target.id, true).await;
    let rows = |request: &str| {
        let document = SearchDocument::new(request, [], "");
        let words: u64 = document.vocabulary().into_iter().map(storage::word_bytes).sum();
        storage::row_bytes(&[request]) + storage::ROW_BYTES + storage::search_document_bytes(&document) - words
    };
    let deleted = Usage::from_records(rows("Quokka") + rows("Fern"));
    // Two subscriptions, two moves, the merge and the deletion.
    let entries = Usage::from_records(6 * storage::AUDIT_ENTRY_BYTES);
    let ann = CustomerDraft::parse(Some("ann@example.com"), None).unwrap();
    let customer = Usage::from_records(storage::customer_bytes(&ann));
    assert_eq!(recount(&harness, acme).await, emptied.minus(deleted).plus(entries).plus(customer));
}

/// The estimates of edits and merges are upper bounds: the old texts are replaced.
///
/// Addition 3: merges use no more storage than estimated.
pub async fn edits_and_merges_add_no_more_than_estimated(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let [source, target] = [harness.request(acme, "Quokka burrow").await, harness.request(acme, "Fern").await];
    let source_ref = FeatureRequestRef::Id(source.id);
    let before = recount(&harness, acme).await;
    let edited = run(&harness, acme, "edit", &edit(source_ref, new_title("Lichen and quokkas"))).await;
    let merged = run(&harness, acme, "merge", &merge(source.id, target.id)).await;
    let after = recount(&harness, acme).await;
    let estimated = before.plus(edited).plus(merged);
    assert!(before.records < after.records && after.records <= estimated.records, "{after:?} of {estimated:?}");
}

/// Estimates assume that customers, votes and words are new. A recount is exact and never higher.
pub async fn existing_rows_are_not_counted_twice(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let added = created().plus(run(&harness, acme, "1", &request("Dark mode", "ann@example.com")).await);
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
    // Only the entry of the audit log is stored, so the recount resets the total.
    assert_eq!(recount(&harness, acme).await, created());
    let again = store.add_usage(acme, Usage { records: 5, files: 0 }).await.unwrap();
    let total = created().plus(Usage { records: 5, files: 0 });
    assert_eq!(again, StoredUsage { usage: total, counted_at: Some(harness.now()) });
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
                store.add_usage(acme, Usage::from_records(storage::row_bytes(&["<p>Text</p>"]))).await.unwrap();
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
    assert_eq!(recount(&harness, bolt).await, created());
    assert_eq!(store.load_usage(acme).await.unwrap().unwrap().usage, Usage { records: 7, files: 7 });
    assert_eq!(recount(&harness, acme).await, created().plus(added));
    assert_eq!(recount(&harness, bolt).await, created());
}

crate::contract::cases!($ usage {
    a_recount_equals_the_sum_of_the_estimates,
    deleted_rows_are_not_counted,
    edits_and_merges_add_no_more_than_estimated,
    existing_rows_are_not_counted_twice,
    concurrent_additions_are_summed,
    a_total_is_never_too_small,
    usage_belongs_to_its_workspace,
});
