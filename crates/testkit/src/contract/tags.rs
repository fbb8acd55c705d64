//! The tags of all feature requests, and their changes.

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::audit::{Audit, AuditFilter, Change};
use roadmap_domain::model::event::EventContent;
use roadmap_domain::model::feature_request::{FeatureRequestRef, Tag};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::tag::{ListedTag, TagChange, TagQuery};
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::change_tag::{DeleteTag, RenameTag, TagRenamed};
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::edit_feature_request::FeatureRequestChange;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::reindex_search::ReindexSearch;
use serde_json::Value;

use crate::harness::{Failing, Harness, Subject, draft, edit, largest_page, new_title, new_visibility, page};

fn tag(name: &str) -> Tag {
    Tag::parse("name", name).unwrap()
}

fn rename(from: &str, to: &str) -> RenameTag {
    RenameTag { tag: Some(tag(from)), name: tag(to) }
}

fn remove(name: &str) -> DeleteTag {
    DeleteTag { tag: Some(tag(name)) }
}

fn renamed(name: &str, feature_requests_count: i64, changed: u64) -> TagRenamed {
    TagRenamed { tag: ListedTag { name: tag(name), feature_requests_count }, changed }
}

/// A change of the tags alone.
fn new_tags(tags: &[&str]) -> FeatureRequestChange {
    FeatureRequestChange { tags: Some(tags.iter().map(|name| tag(name)).collect()), ..FeatureRequestChange::default() }
}

fn private(title: &str, tags: &[&str]) -> FeatureRequestDraft {
    FeatureRequestDraft { private: true, ..draft(title, tags, "") }
}

/// A page of the tags that contain a text, with their counts, and the number of all of them.
async fn found(harness: &Harness, workspace: WorkspaceId, query: &str, page: PageRequest) -> (Vec<(String, i64)>, u64) {
    let query = TagQuery::parse("query", Some(query)).unwrap();
    let listing = harness.subject.reader.tags(workspace, query.as_ref(), page).await.unwrap();
    assert_eq!(listing.request, page);
    let item = |tag: ListedTag| (tag.name.to_string(), tag.feature_requests_count);
    (listing.items.into_iter().map(item).collect(), listing.total)
}

/// All tags with their counts.
async fn all(harness: &Harness, workspace: WorkspaceId) -> Vec<(String, i64)> {
    let (tags, total) = found(harness, workspace, "", largest_page()).await;
    assert_eq!(tags.len() as u64, total);
    tags
}

fn expected<const N: usize>(tags: [(&str, i64); N]) -> Vec<(String, i64)> {
    tags.map(|(name, count)| (name.to_owned(), count)).into()
}

/// The tags of a feature request, in order.
async fn tags_of(harness: &Harness, workspace: WorkspaceId, request: FeatureRequestId) -> Vec<String> {
    harness.detail(workspace, request).await.tags.iter().map(Tag::to_string).collect()
}

/// The changes that the audit log has of an action, newest first.
async fn changes_of(harness: &Harness, workspace: WorkspaceId, action: &str) -> Vec<Vec<Change>> {
    let filter = AuditFilter { action: Some(action.to_owned()), ..AuditFilter::default() };
    let entries = harness.audit_entries(workspace, &filter).await;
    for entry in &entries {
        assert_eq!((entry.subject.kind.as_str(), entry.subject.id), ("tag", None));
    }
    entries.into_iter().map(|entry| entry.changes).collect()
}

/// The use case that indexes what a change of a tag has left.
fn reindex(harness: &Harness) -> ReindexSearch {
    let Subject { maintenance, directory, .. } = &harness.subject;
    ReindexSearch::new(harness.executor.clone(), maintenance.clone(), directory.clone())
}

/// Most used ones come first, then those whose name in lower case comes first. A tag is written as on the newest feature
/// request. Private feature requests count, merged ones do not.
pub async fn tags_are_listed_by_use(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let first = harness.create(acme, draft("One", &["UI", "Integrations", "zoo"], "")).await.id;
    let second = harness.create(acme, draft("Two", &["ui", "Ärger"], "")).await.id;
    let third = harness.create(acme, private("Three", &["uI", "ärger"])).await.id;
    let fourth = harness.create(acme, draft("Four", &["api", "Éclair"], "")).await.id;
    harness.create(bolt, draft("Elsewhere", &["ui", "zebra"], "")).await;
    assert_eq!(
        all(&harness, acme).await,
        expected([("uI", 3), ("ärger", 2), ("api", 1), ("Integrations", 1), ("zoo", 1), ("Éclair", 1)])
    );
    assert_eq!(all(&harness, bolt).await, expected([("ui", 1), ("zebra", 1)]));
    for (query, tags) in [
        ("ÄR", expected([("ärger", 2)])),
        (" i ", expected([("uI", 3), ("api", 1), ("Integrations", 1), ("Éclair", 1)])),
        ("é", expected([("Éclair", 1)])),
        ("zebra", Vec::new()),
        ("%", Vec::new()),
        ("_", Vec::new()),
    ] {
        let total = tags.len() as u64;
        assert_eq!(found(&harness, acme, query, largest_page()).await, (tags, total), "{query:?}");
    }
    assert_eq!(found(&harness, acme, "", page(2, 2)).await, (expected([("api", 1), ("Integrations", 1)]), 6));
    assert_eq!(found(&harness, acme, "", page(4, 2)).await, (Vec::new(), 6));
    let reader = &harness.subject.reader;
    let ui = ListedTag { name: tag("uI"), feature_requests_count: 3 };
    assert_eq!(reader.tag(acme, &tag("Ui")).await.unwrap(), Some(ui));
    assert_eq!(reader.tag(acme, &tag("zebra")).await.unwrap(), None);

    harness.merge(acme, fourth, first).await;
    harness.edit(acme, second, new_tags(&["Ui"])).await;
    harness.delete(acme, third, false).await;
    assert_eq!(
        all(&harness, acme).await,
        expected([("Ui", 2), ("Integrations", 1), ("zoo", 1), ("api", 0), ("Éclair", 0)])
    );
    let api = ListedTag { name: tag("api"), feature_requests_count: 0 };
    assert_eq!(reader.tag(acme, &tag("API")).await.unwrap(), Some(api));
}

/// What is suggested are the tags of the newest feature requests, most used first.
pub async fn tags_of_the_newest_feature_requests_are_known(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    for (title, tags) in [("One", &["old", "ui"][..]), ("Two", &["ui", "Fern"])] {
        harness.create(acme, draft(title, tags, "")).await;
        harness.next_second();
    }
    harness.create(acme, private("Three", &["UI"])).await;
    for (scan_limit, limit, expected) in
        [(100, 10, &["UI", "Fern", "old"][..]), (100, 2, &["UI", "Fern"]), (2, 10, &["Fern", "UI"]), (1, 10, &["UI"])]
    {
        let known = harness.subject.reader.known_tags(acme, scan_limit, limit).await.unwrap();
        let known: Vec<&str> = known.iter().map(Tag::as_str).collect();
        assert_eq!(known, expected, "{scan_limit} {limit}");
    }
    assert_eq!(harness.subject.reader.known_tags(bolt, 100, 10).await.unwrap(), []);
}

/// A tag is renamed on all feature requests, private and merged ones included: in their history, in the search, and with
/// the time of the update. Other tags, feature requests and workspaces stay as they are.
pub async fn a_tag_is_renamed_everywhere(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let public = harness.create(acme, draft("Public", &["moss", "quokka", "fern"], "")).await.id;
    let hidden = harness.create(acme, private("Hidden", &["QUOKKA"])).await.id;
    let merged = harness.create(acme, draft("Merged", &["Quokka"], "")).await.id;
    let target = harness.create(acme, draft("Target", &["lichen"], "")).await.id;
    let other = harness.create(bolt, draft("Elsewhere", &["quokka"], "")).await.id;
    harness.merge(acme, merged, target).await;
    let untouched = (harness.detail(acme, target).await, harness.detail(bolt, other).await);
    let at = harness.next_second();
    harness.failure(acme, &Failing(rename("quokka", "wombat"))).await;
    assert_eq!(tags_of(&harness, acme, public).await, ["moss", "quokka", "fern"]);
    assert_eq!(harness.perform(acme, &rename("quoKka", " Wombat ")).await, renamed("Wombat", 2, 3));
    assert_eq!(tags_of(&harness, acme, public).await, ["moss", "Wombat", "fern"]);
    assert_eq!(tags_of(&harness, acme, hidden).await, ["Wombat"]);
    assert_eq!((harness.detail(acme, target).await, harness.detail(bolt, other).await), untouched);
    assert_eq!(all(&harness, acme).await, expected([("Wombat", 2), ("fern", 1), ("lichen", 1), ("moss", 1)]));
    assert_eq!(harness.search(acme, "quokka").await, Vec::<String>::new());
    let mut titles = harness.search(acme, "wombat").await;
    titles.sort();
    assert_eq!(titles, ["Public", "Target"]);
    assert_eq!(harness.search(bolt, "quokka").await, ["Elsewhere"]);
    assert_eq!(reindex(&harness).count_outdated().await.unwrap(), 0);
    let name = Change::new("name", "Quokka", "Wombat");
    let count = |count: u64| Change::new("feature_requests", Value::Null, count);
    assert_eq!(changes_of(&harness, acme, "tag.update").await, [vec![name, count(3)]]);

    // Whoever writes it otherwise changes it too, but not what is already written so.
    harness.next_second();
    let before = harness.detail(acme, public).await;
    assert_eq!(harness.perform(acme, &rename("wombat", "Wombat")).await, renamed("Wombat", 2, 0));
    assert_eq!(harness.detail(acme, public).await, before);
    assert_eq!(changes_of(&harness, acme, "tag.update").await.len(), 1);
    harness.edit(acme, hidden, new_tags(&["WOMBAT"])).await;
    assert_eq!(harness.perform(acme, &rename("wombat", "WOMBAT")).await, renamed("WOMBAT", 2, 2));
    assert_eq!(tags_of(&harness, acme, public).await, ["moss", "WOMBAT", "fern"]);

    harness.unmerge(acme, merged).await;
    assert_eq!(tags_of(&harness, acme, merged).await, ["WOMBAT"]);
    for (request, edits) in [(public, 2), (hidden, 2), (merged, 2), (target, 0)] {
        let events = harness.events(acme, request, Some("edited")).await;
        assert_eq!(events.len(), edits);
        for event in events {
            assert_eq!(event.content, EventContent::Edited(vec!["tags".to_owned()]));
            assert!(event.created_at >= at);
        }
    }
    assert_eq!(harness.detail(acme, public).await.updated_at, harness.now());
    for unknown in ["quokka", "zebra"] {
        assert_eq!(harness.failure(acme, &rename(unknown, "gecko")).await, "Tag does not exist.");
    }
    let none = RenameTag { tag: None, name: tag("gecko") };
    assert_eq!(harness.failure(acme, &none).await, "Tag does not exist.");
}

/// A tag that gets the name of another one becomes the same, as the other one is written. A feature request that has both
/// keeps the first one, and can be edited as before.
pub async fn a_tag_becomes_one_with_another(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let drafts = [
        &["moss", "quokka", "lichen", "fern", "reed"][..],
        &["fern", "moss", "QUOKKA", "reed"],
        &["quokka"],
        &["FERN"],
    ];
    let mut requests = Vec::new();
    for tags in drafts {
        requests.push(harness.create(acme, draft("Numbat", tags, "")).await.id);
    }
    let other = harness.create(bolt, draft("Elsewhere", &["quokka", "fern"], "")).await.id;
    let at = harness.next_second();
    assert_eq!(harness.perform(acme, &rename("quokka", "fern")).await, renamed("FERN", 4, 3));
    for (request, tags) in
        requests.iter().zip([&["moss", "FERN", "lichen", "reed"][..], &["FERN", "moss", "reed"], &["FERN"], &["FERN"]])
    {
        assert_eq!(tags_of(&harness, acme, *request).await, tags);
    }
    assert_eq!(tags_of(&harness, bolt, other).await, ["quokka", "fern"]);
    assert_eq!(harness.detail(acme, requests[1]).await.updated_at, at);
    assert!(harness.detail(acme, requests[3]).await.updated_at < at);
    assert_eq!(all(&harness, acme).await, expected([("FERN", 4), ("moss", 2), ("reed", 2), ("lichen", 1)]));
    assert_eq!(harness.search(acme, "quokka").await, Vec::<String>::new());
    assert_eq!(harness.search(acme, "fern").await.len(), 4);
    let changes = changes_of(&harness, acme, "tag.update").await;
    assert_eq!(changes[0][0], Change::new("name", "quokka", "FERN"));
    harness.edit(acme, requests[0], new_tags(&["reed", "FERN", "quokka", "moss"])).await;
    assert_eq!(tags_of(&harness, acme, requests[0]).await, ["reed", "FERN", "quokka", "moss"]);
}

/// A removed tag is on no feature request any more.
pub async fn a_tag_is_removed_everywhere(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let first = harness.create(acme, draft("One", &["moss", "quokka", "fern"], "")).await.id;
    let second = harness.create(acme, private("Two", &["QUOKKA"])).await.id;
    let other = harness.create(bolt, draft("Elsewhere", &["quokka"], "")).await.id;
    let at = harness.next_second();
    assert_eq!(harness.perform(acme, &remove("Quokka")).await, 2);
    assert_eq!(tags_of(&harness, acme, first).await, ["moss", "fern"]);
    assert_eq!(tags_of(&harness, acme, second).await, Vec::<String>::new());
    assert_eq!(tags_of(&harness, bolt, other).await, ["quokka"]);
    assert_eq!(harness.detail(acme, second).await.updated_at, at);
    assert_eq!(harness.events(acme, first, Some("edited")).await.len(), 1);
    assert_eq!(all(&harness, acme).await, expected([("fern", 1), ("moss", 1)]));
    assert_eq!(harness.search(acme, "quokka").await, Vec::<String>::new());
    assert_eq!(harness.search(acme, "moss").await, ["One"]);
    let changes = [Change::new("name", "QUOKKA", Value::Null), Change::new("feature_requests", Value::Null, 2)];
    assert_eq!(changes_of(&harness, acme, "tag.delete").await, [changes]);
    assert_eq!(harness.failure(acme, &remove("quokka")).await, "Tag does not exist.");
    assert_eq!(harness.failure(acme, &DeleteTag { tag: None }).await, "Tag does not exist.");
    harness.edit(acme, first, new_tags(&["fern", "quokka", "moss"])).await;
    assert_eq!(tags_of(&harness, acme, first).await, ["fern", "quokka", "moss"]);
}

/// The number of feature requests that a change of a tag changes, at most a limit.
struct CountTagged(TagChange, u32);

#[async_trait]
impl Operation for CountTagged {
    type Output = Option<usize>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Option<usize>>, RoadmapError> {
        let requests = work.lock_tagged(&self.0, self.1).await?;
        Ok(Performed::new(requests.map(|requests| requests.len()), Audit::Unchanged))
    }
}

/// A change is refused if more feature requests than the limit have the tag in another way than it would be.
pub async fn a_change_has_a_limit(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    for tags in [["quokka", "one"], ["QUOKKA", "two"], ["quokka", "fern"]] {
        harness.create(acme, draft("Numbat", &tags, "")).await;
    }
    for (name, limit, expected) in [
        (Some("wombat"), 2, None),
        (Some("wombat"), 3, Some(3)),
        (Some("fern"), 3, Some(3)),
        (Some("quokka"), 1, Some(1)),
        (Some("Quokka"), 2, None),
        (None, 2, None),
        (None, 4, Some(3)),
    ] {
        let change = TagChange { tag: tag("Quokka"), name: name.map(tag) };
        assert_eq!(harness.perform(acme, &CountTagged(change.clone(), limit)).await, expected, "{name:?} {limit}");
        assert_eq!(harness.perform(bolt, &CountTagged(change, limit)).await, Some(0));
    }
}

/// Of many feature requests the first hundred are indexed at once. The others are marked until they are indexed in the
/// background, or because of something else before that.
pub async fn many_feature_requests_are_indexed_in_the_background(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let mut requests = Vec::new();
    for number in 0..106 {
        requests.push(harness.create(acme, draft(&format!("Numbat {number}"), &["quokka"], "")).await.id);
    }
    harness.create(bolt, draft("Elsewhere", &["quokka"], "")).await;
    harness.create(acme, private("Hidden", &["quokka"])).await;
    let reindex = reindex(&harness);
    assert_eq!(harness.perform(acme, &rename("quokka", "wombat")).await, renamed("wombat", 107, 107));
    assert_eq!(reindex.count_outdated().await.unwrap(), 6);
    assert_eq!(harness.search(acme, "quokka").await.len(), 6);
    harness.edit(acme, requests[101], new_title("Gecko")).await;
    harness.edit(acme, requests[102], new_visibility(true)).await;
    harness.merge(acme, requests[103], requests[0]).await;
    harness.delete(acme, requests[104], false).await;
    assert_eq!(harness.count("outdated_documents", acme).await, 2);
    assert_eq!(harness.search(acme, "quokka").await, ["Numbat 105", "Numbat 100"]);
    let outdated = harness.subject.maintenance.outdated_documents(acme, 0, 10).await.unwrap();
    assert_eq!(outdated.len(), 2);
    // Another change of the same feature requests.
    harness.perform(acme, &remove("wombat")).await;
    assert_eq!(reindex.run_outdated(bolt, |_| std::future::ready(())).await.unwrap(), 0);
    assert_eq!(reindex.run_outdated(acme, |_| std::future::ready(())).await.unwrap(), 3);
    for word in ["quokka", "wombat"] {
        assert_eq!(harness.search(acme, word).await, Vec::<String>::new());
    }
    assert_eq!(harness.search(acme, "gecko").await, ["Gecko"]);
    assert_eq!((reindex.count_outdated().await.unwrap(), harness.count("outdated_documents", acme).await), (0, 0));
}

/// A change of a tag and another unit of work on the same feature request follow each other.
pub async fn changes_of_a_tag_at_the_same_time_follow_each_other(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.create(workspace, draft("One", &["quokka"], "")).await.id;
    harness.create(workspace, draft("Two", &["quokka", "fern"], "")).await;
    let edit_tags = |tags: &[&str]| edit(FeatureRequestRef::Id(request), new_tags(tags));

    let (renaming, edited) = harness.overlap(workspace, rename("quokka", "wombat"), &edit_tags(&["moss"])).await;
    assert_eq!((renaming.unwrap(), edited.is_ok()), (renamed("wombat", 2, 2), true));
    assert_eq!(tags_of(&harness, workspace, request).await, ["moss"]);
    assert_eq!(harness.search(workspace, "moss").await, ["One"]);

    harness.edit(workspace, request, new_tags(&["wombat"])).await;
    let (edited, renaming) = harness.overlap(workspace, edit_tags(&["reed"]), &rename("wombat", "gecko")).await;
    assert_eq!((renaming.unwrap(), edited.is_ok()), (renamed("gecko", 1, 1), true));
    assert_eq!(tags_of(&harness, workspace, request).await, ["reed"]);
    assert_eq!(harness.search(workspace, "wombat").await, Vec::<String>::new());

    let (first, second) = harness.overlap(workspace, rename("gecko", "fern"), &rename("fern", "lichen")).await;
    assert_eq!((first.unwrap(), second.unwrap()), (renamed("fern", 1, 1), renamed("lichen", 1, 1)));
    assert_eq!(all(&harness, workspace).await, expected([("lichen", 1), ("reed", 1)]));
}

crate::contract::cases!($ tags {
    tags_are_listed_by_use,
    tags_of_the_newest_feature_requests_are_known,
    a_tag_is_renamed_everywhere,
    a_tag_becomes_one_with_another,
    a_tag_is_removed_everywhere,
    a_change_has_a_limit,
    many_feature_requests_are_indexed_in_the_background,
    changes_of_a_tag_at_the_same_time_follow_each_other,
});
