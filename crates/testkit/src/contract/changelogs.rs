//! Changelogs: publication, edits, and the feature requests that they are about.

use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::audit::Change;
use roadmap_domain::model::changelog::{
    Changelog, ChangelogCategory, ChangelogChange, ChangelogDetail, ChangelogDraft, ChangelogFields, ChangelogState,
    CoverImage,
};
use roadmap_domain::model::feature_request::{FeatureRequestSummary, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{ChangelogId, FeatureRequestId, WorkspaceId};
use roadmap_domain::usecase::change_changelog::{
    ChangelogChanged, DeleteChangelog, EditChangelog, PublishChangelog, UnpublishChangelog,
};
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::executor::Operation;
use time::Duration;
use uuid::Uuid;

use crate::harness::{Failing, Harness, changelog_fields, largest_page};

const MISSING: &str = "Changelog does not exist.";

fn create(fields: &ChangelogFields, publish: bool, cover: Option<&Attachment>) -> CreateChangelog {
    let fields = ChangelogFields { cover_image_signed_id: cover.map(|_| Some("signed".to_owned())), ..fields.clone() };
    CreateChangelog { draft: ChangelogDraft::parse(&fields, publish, |_| cover.map(|file| file.id)).unwrap() }
}

fn linked(requests: &[FeatureRequestId]) -> ChangelogFields {
    let ids = requests.iter().map(ToString::to_string).collect();
    ChangelogFields { feature_request_ids: Some(Some(ids)), ..changelog_fields("1.0", "<p>New</p>") }
}

fn edit(changelog: ChangelogId, change: ChangelogChange) -> EditChangelog {
    EditChangelog { changelog, change }
}

fn publish(changelog: ChangelogId) -> PublishChangelog {
    PublishChangelog { changelog, notify_subscribers: false }
}

/// The changelog, as its own page shows it.
async fn show(harness: &Harness, workspace: WorkspaceId, changelog: ChangelogId) -> Option<ChangelogDetail> {
    harness.subject.reader.changelog(workspace, changelog).await.unwrap()
}

/// Runs an operation and checks that its result is what is shown and listed afterwards.
async fn change<O: Operation<Output = ChangelogChanged>>(
    harness: &Harness,
    workspace: WorkspaceId,
    operation: &O,
) -> (ChangelogDetail, Vec<Change>) {
    let changed = harness.perform(workspace, operation).await;
    let changelog = &changed.detail.changelog;
    assert_eq!(show(harness, workspace, changelog.id).await.as_ref(), Some(&changed.detail));
    let listing = harness.subject.reader.changelogs(workspace, largest_page()).await.unwrap();
    assert!(listing.items.contains(changelog), "{listing:?}");
    (changed.detail, changed.changes)
}

/// A draft is scheduled, published, unpublished and published again. A scheduled one becomes public by itself. Each
/// change updates its timestamp, and what changes nothing does not.
///
/// Addition 5.
pub async fn a_changelog_is_scheduled_and_published(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let created = harness.perform(workspace, &create(&changelog_fields("1.0", "<p>New</p>"), false, None)).await;
    let draft = Changelog {
        id: created.changelog.id,
        title: Title::parse("title", "1.0").unwrap(),
        content: CleanHtml::parse("content", "<p>New</p>").unwrap(),
        category: None,
        cover: None,
        public_from: None,
        created_at: harness.now(),
        updated_at: harness.now(),
    };
    assert_eq!(created, ChangelogDetail { changelog: draft.clone(), feature_requests: Vec::new() });
    assert_eq!(show(&harness, workspace, draft.id).await, Some(created));
    let later = harness.now().plus(Duration::HOUR);
    let publish_at = |publish_at| ChangelogChange { publish_at: Some(publish_at), ..ChangelogChange::default() };

    let at = harness.next_second();
    let (scheduled, _) = change(&harness, workspace, &edit(draft.id, publish_at(Some(later)))).await;
    let expected = Changelog { public_from: Some(later), updated_at: at, ..draft.clone() };
    assert_eq!(scheduled.changelog, expected);
    assert_eq!(scheduled.changelog.state(harness.now()), ChangelogState::Scheduled(later));
    assert_eq!(scheduled.changelog.state(later), ChangelogState::Published(later));
    let at = harness.next_second();
    let (cancelled, _) = change(&harness, workspace, &edit(draft.id, publish_at(None))).await;
    assert_eq!(cancelled.changelog, Changelog { updated_at: at, ..draft.clone() });

    let published_at = harness.next_second();
    let expected = Changelog { public_from: Some(published_at), updated_at: published_at, ..draft.clone() };
    for _ in 0..2 {
        let (published, _) = change(&harness, workspace, &publish(draft.id)).await;
        assert_eq!(published.changelog, expected);
        harness.next_second();
    }
    let at = harness.next_second();
    let unpublish = UnpublishChangelog { changelog: draft.id };
    for _ in 0..2 {
        let (unpublished, _) = change(&harness, workspace, &unpublish).await;
        assert_eq!(unpublished.changelog, Changelog { updated_at: at, ..draft.clone() });
        harness.next_second();
    }
    harness.failure(workspace, &Failing(publish(draft.id))).await;
    assert_eq!(show(&harness, workspace, draft.id).await.unwrap().changelog.public_from, None);
    // Scheduled from the start.
    let fields = ChangelogFields { publish_at: Some(Some(later.to_string())), ..changelog_fields("2.0", "New") };
    let created = harness.perform(workspace, &create(&fields, false, None)).await;
    assert_eq!(created.changelog.public_from, Some(later));
    assert_eq!(show(&harness, workspace, created.changelog.id).await, Some(created));
    // Its voters are mailed once, which is stored.
    let other = harness.workspace("bolt").await;
    let mail = async |workspace, changelog| {
        harness.subject.reader.changelog_mail(workspace, changelog, harness.now()).await.unwrap()
    };
    let is_notified = async |workspace, changelog| mail(workspace, changelog).await.is_sent;
    assert!(!is_notified(workspace, draft.id).await);
    let notify = PublishChangelog { notify_subscribers: true, ..publish(draft.id) };
    assert!(harness.perform(workspace, &notify).await.detail.changelog.public_from.is_some());
    assert!(is_notified(workspace, draft.id).await);
    assert!(!is_notified(other, draft.id).await);
}

/// The fields that were sent change and the others stay. A cover can be replaced and removed.
///
/// Addition 5.
pub async fn sent_fields_of_a_changelog_change(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [one, two] = [harness.attachment(workspace, 1).await, harness.attachment(workspace, 2).await];
    let cover = |file: &Attachment| Some(CoverImage { attachment: file.id, filename: file.filename.clone() });
    let mut expected = harness.perform(workspace, &create(&changelog_fields("1.0", "Old"), true, Some(&one))).await;
    assert_eq!(expected.changelog.cover, cover(&one));
    let id = expected.changelog.id;
    let title = Title::parse("title", "1.1").unwrap();
    let content = CleanHtml::parse("content", "<p>Größer</p>").unwrap();
    let none = ChangelogChange::default;
    for change_of in [
        ChangelogChange { title: Some(title), ..none() },
        ChangelogChange { content: Some(content), ..none() },
        ChangelogChange { category: Some(Some(ChangelogCategory::Fixed)), ..none() },
        ChangelogChange { category: Some(Some(ChangelogCategory::New)), ..none() },
        ChangelogChange { category: Some(None), ..none() },
        ChangelogChange { cover: Some(Some(two.id)), ..none() },
        ChangelogChange { cover: Some(None), ..none() },
        ChangelogChange { cover: Some(Some(one.id)), ..none() },
    ] {
        let at = harness.next_second();
        let changelog = &mut expected.changelog;
        changelog.updated_at = at;
        if let Some(title) = &change_of.title {
            changelog.title = title.clone();
        }
        if let Some(content) = &change_of.content {
            changelog.content = content.clone();
        }
        if let Some(category) = change_of.category {
            changelog.category = category;
        }
        if let Some(file) = change_of.cover {
            changelog.cover = file.and_then(|file| cover(if file == one.id { &one } else { &two }));
        }
        let (changed, changes) = change(&harness, workspace, &edit(id, change_of.clone())).await;
        assert_eq!((&changed, changes.len()), (&expected, 1));
        harness.next_second();
        let (again, changes) = change(&harness, workspace, &edit(id, change_of)).await;
        assert_eq!((&again, changes.len()), (&expected, 0));
    }
    let foreign = harness.attachment(other, 3).await;
    let stolen = edit(id, ChangelogChange { cover: Some(Some(foreign.id)), ..none() });
    assert_eq!(harness.failure(workspace, &stolen).await, "Cover image is invalid");
    assert_eq!(harness.failure(other, &edit(id, none())).await, MISSING);
    assert_eq!(show(&harness, other, id).await, None);
}

/// What waits for a change of the cover keeps the new one.
pub async fn overlapping_changes_of_a_changelog_keep_its_cover(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [one, two] = [harness.attachment(workspace, 1).await, harness.attachment(workspace, 2).await];
    for before in [None, Some(&one)] {
        let created = harness.perform(workspace, &create(&changelog_fields("1.0", "New"), false, before)).await;
        let id = created.changelog.id;
        let new_cover = ChangelogChange { cover: Some(Some(two.id)), ..ChangelogChange::default() };
        let (covered, published) = harness.overlap(workspace, edit(id, new_cover), &publish(id)).await;
        let expected = Some(CoverImage { attachment: two.id, filename: two.filename.clone() });
        assert_eq!(covered.unwrap().detail.changelog.cover, expected);
        let published = published.unwrap().detail;
        assert_eq!((&published.changelog.cover, published.changelog.public_from), (&expected, Some(harness.now())));
        assert_eq!(show(&harness, workspace, id).await, Some(published));
    }
}

/// Linked feature requests are listed in the team's order. Merged ones lead to their targets, which are listed once, and
/// come back when the merge is undone. Deleted ones are left out.
///
/// Addition 5: a merged feature request is listed in a changelog as what it was merged into.
pub async fn linked_requests_lead_to_their_targets(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let requests = harness.requests(workspace, ["Quokka", "Fern", "Lichen", "Gecko"]).await;
    let [quokka, fern, lichen, gecko] = [0, 1, 2, 3].map(|index: usize| requests[index].id);
    harness.vote(workspace, &requests[0], "ann@example.com").await;
    let created = harness.perform(workspace, &create(&linked(&[lichen, quokka, fern]), true, None)).await;
    let id = created.changelog.id;
    assert_eq!(show(&harness, workspace, id).await, Some(created));
    let listed = async || {
        let requests = show(&harness, workspace, id).await.unwrap().feature_requests;
        for request in &requests {
            assert_eq!(&harness.detail(workspace, request.id).await.summary, request);
        }
        requests.iter().map(|request: &FeatureRequestSummary| request.id).collect::<Vec<_>>()
    };
    assert_eq!(listed().await, [lichen, quokka, fern]);
    harness.merge(workspace, fern, gecko).await;
    assert_eq!(listed().await, [lichen, quokka, gecko]);
    harness.merge(workspace, lichen, gecko).await;
    assert_eq!(listed().await, [gecko, quokka]);
    harness.merge(workspace, gecko, quokka).await;
    assert_eq!(listed().await, [quokka]);
    for source in [gecko, lichen, fern] {
        harness.unmerge(workspace, source).await;
    }
    assert_eq!(listed().await, [lichen, quokka, fern]);

    let links = |requests: &[FeatureRequestId]| {
        edit(id, ChangelogChange { feature_requests: Some(requests.to_vec()), ..ChangelogChange::default() })
    };
    for order in [&[gecko, lichen][..], &[lichen, gecko], &[], &[fern, quokka, gecko, lichen]] {
        let (changed, changes) = change(&harness, workspace, &links(order)).await;
        assert_eq!(changed.feature_requests.iter().map(|request| request.id).collect::<Vec<_>>(), order);
        assert_eq!(changes, [Change::without_values("feature_request_ids")]);
        assert_eq!(change(&harness, workspace, &links(order)).await.1, []);
        assert_eq!(harness.count("changelog_feature_requests", workspace).await, order.len() as u64);
    }
    harness.failure(workspace, &Failing(links(&[]))).await;
    harness.delete(workspace, quokka, false).await;
    assert_eq!(listed().await, [fern, gecko, lichen]);
    let foreign = harness.request(other, "Quokka").await.id;
    for unknown in [quokka, foreign, FeatureRequestId::new(Uuid::from_u128(1))] {
        assert_eq!(harness.failure(workspace, &links(&[fern, unknown])).await, "FeatureRequest does not exist.");
        let create = create(&linked(&[fern, unknown]), false, None);
        assert_eq!(harness.failure(workspace, &create).await, "FeatureRequest does not exist.");
    }
    assert_eq!(listed().await, [fern, gecko, lichen]);
}

/// A deleted changelog is gone with its links, and its cover is free again. Unknown ones are not found.
///
/// Addition 5: `DELETE /changelogs/{id}` deletes a changelog.
pub async fn a_deleted_changelog_leaves_nothing(harness: Harness) {
    let (workspace, other) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let request = harness.request(workspace, "Quokka").await.id;
    let cover = harness.attachment(workspace, 1).await;
    let remaining = harness.perform(workspace, &create(&linked(&[request]), true, None)).await;
    let gone = harness.perform(workspace, &create(&linked(&[request]), true, Some(&cover))).await.changelog.id;
    let delete = DeleteChangelog { changelog: gone };
    harness.failure(workspace, &Failing(delete)).await;
    assert_eq!(harness.failure(other, &delete).await, MISSING);
    assert_eq!(harness.count("changelog_feature_requests", workspace).await, 2);
    harness.perform(workspace, &delete).await;
    let listing = harness.subject.reader.changelogs(workspace, largest_page()).await.unwrap();
    assert_eq!(listing.items, std::slice::from_ref(&remaining.changelog));
    assert_eq!(show(&harness, workspace, gone).await, None);
    assert_eq!(show(&harness, workspace, remaining.changelog.id).await, Some(remaining));
    assert_eq!(harness.count("changelog_feature_requests", workspace).await, 1);
    harness.next_second();
    let maintenance = &harness.subject.maintenance;
    let unused = maintenance.delete_unused_attachments(workspace, harness.now(), 10).await.unwrap();
    assert_eq!(unused.iter().map(|file| file.key.attachment).collect::<Vec<_>>(), [cover.id]);
    for unknown in [gone, ChangelogId::new(Uuid::from_u128(1))] {
        assert_eq!(harness.failure(workspace, &DeleteChangelog { changelog: unknown }).await, MISSING);
        assert_eq!(harness.failure(workspace, &UnpublishChangelog { changelog: unknown }).await, MISSING);
        assert_eq!(harness.failure(workspace, &publish(unknown)).await, MISSING);
        assert_eq!(harness.failure(workspace, &edit(unknown, ChangelogChange::default())).await, MISSING);
    }
}

crate::contract::cases!($ changelogs {
    a_changelog_is_scheduled_and_published,
    sent_fields_of_a_changelog_change,
    overlapping_changes_of_a_changelog_keep_its_cover,
    linked_requests_lead_to_their_targets,
    a_deleted_changelog_leaves_nothing,
});
