//! Rows of uploaded files, and changelog covers.

use std::sync::Arc;

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, UnusedAttachment};
use roadmap_domain::model::audit::Audit;
use roadmap_domain::model::changelog::{Changelog, ChangelogDraft, ChangelogFields};
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{AttachmentId, ChangelogId, WorkspaceId};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::ports::{AttachmentDeletion, UnitOfWork};
use roadmap_domain::usecase::change_changelog::DeleteChangelog;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use time::Duration;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::harness::{Failing, Harness, changelog_fields};

fn key(workspace: WorkspaceId, number: u128) -> BlobKey {
    BlobKey { workspace, attachment: AttachmentId::new(Uuid::from_u128(number)) }
}

/// All fields are returned, with and without the optional ones, and not to another workspace.
///
/// Contract 1, 2.7.
pub async fn a_file_is_returned_as_it_was_stored(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let reader = &harness.subject.reader;
    for number in [1, 2] {
        let attachment = harness.attachment(acme, number).await;
        assert_eq!(reader.attachment(acme, attachment.id).await.unwrap(), Some(attachment.clone()));
        assert_eq!(reader.attachment(bolt, attachment.id).await.unwrap(), None);
    }
    assert_eq!(reader.attachment(acme, key(acme, 3).attachment).await.unwrap(), None);
}

async fn changelog(
    harness: &Harness,
    workspace: WorkspaceId,
    cover: Option<AttachmentId>,
) -> Result<Changelog, RoadmapError> {
    let signed = cover.map(|_| "signed".to_owned());
    let fields = ChangelogFields { cover_image_signed_id: Some(signed), ..changelog_fields("1.0", "<p>New</p>") };
    let draft = ChangelogDraft::parse(&fields, false, |_| cover);
    Ok(harness.executor.run_without_key(workspace, &CreateChangelog { draft: draft.unwrap() }).await?.changelog)
}

/// A cover must be a file of the same workspace. It is listed with its changelog.
///
/// Contract 2.7; Decision 4.
pub async fn a_cover_belongs_to_its_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let cover = harness.attachment(acme, 1).await;
    let with = changelog(&harness, acme, Some(cover.id)).await.unwrap();
    assert_eq!(with.cover.as_ref().map(|cover| cover.filename.as_str()), Some("Übersicht.png"));
    let without = changelog(&harness, acme, None).await.unwrap();
    let listing = harness.subject.reader.changelogs(acme, PageRequest::default()).await.unwrap();
    assert_eq!(listing.items, [without, with]);
    for unknown in [cover.id, key(bolt, 9).attachment] {
        let rejected = changelog(&harness, bolt, Some(unknown)).await;
        assert_eq!(rejected.unwrap_err().to_string(), "Cover image is invalid");
    }
}

/// A blob is orphaned if its own workspace has no row for it.
///
/// Beyond the contract.
pub async fn blobs_without_rows_are_found(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    harness.attachment(acme, 1).await;
    harness.attachment(bolt, 2).await;
    let keys = [key(acme, 1), key(acme, 2), key(bolt, 1), key(bolt, 2)];
    let maintenance = &harness.subject.maintenance;
    let mut without = maintenance.find_orphaned_blobs(&keys).await.unwrap();
    without.sort_by_key(ToString::to_string);
    let mut expected = vec![key(acme, 2), key(bolt, 1)];
    expected.sort_by_key(ToString::to_string);
    assert_eq!(without, expected);
    assert_eq!(maintenance.find_orphaned_blobs(&[]).await.unwrap(), []);
}

/// Deletes unused files that were stored before now.
pub(super) async fn delete_unused(harness: &Harness, workspace: WorkspaceId, limit: u32) -> Vec<UnusedAttachment> {
    harness.subject.maintenance.delete_unused_attachments(workspace, harness.now(), limit).await.unwrap()
}

/// Deletes only files of the workspace that are older than the timestamp and not covers, and at most `limit` of them.
///
/// Beyond the contract.
pub async fn unused_files_are_deleted_oldest_first(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    for number in [3, 1, 2] {
        harness.attachment(acme, number).await;
        harness.clock.advance(Duration::SECOND);
    }
    let cover = harness.attachment(acme, 4).await;
    changelog(&harness, acme, Some(cover.id)).await.unwrap();
    harness.attachment(bolt, 5).await;
    harness.clock.advance(Duration::SECOND);
    harness.attachment(acme, 6).await;
    let unused = |number| UnusedAttachment { key: key(acme, number), byte_size: 52_428_800 };
    let mut first = delete_unused(&harness, acme, 2).await;
    first.sort_by_key(|file| file.key.attachment);
    assert_eq!(first, [unused(1), unused(3)]);
    assert_eq!(delete_unused(&harness, acme, 2).await, [unused(2)]);
    assert_eq!(delete_unused(&harness, acme, 2).await, []);
    let reader = &harness.subject.reader;
    for (workspace, number, is_there) in
        [(acme, 1, false), (acme, 2, false), (acme, 3, false), (acme, 4, true), (bolt, 5, true), (acme, 6, true)]
    {
        let attachment = reader.attachment(workspace, key(workspace, number).attachment).await.unwrap();
        assert_eq!(attachment.is_some(), is_there, "{number}");
    }
}

/// An operation that finds its cover and then waits for a notification before it uses it.
struct Paused {
    cover: AttachmentId,
    ready: Arc<Notify>,
    go_on: Arc<Notify>,
}

#[async_trait]
impl Operation for Paused {
    type Output = Changelog;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Changelog>, RoadmapError> {
        let cover = work.find_cover(self.cover).await?.map(|(cover, _)| cover);
        self.ready.notify_one();
        self.go_on.notified().await;
        let changelog = Changelog {
            id: context.new_id(ChangelogId::new),
            title: Title::parse("title", "1.0")?,
            content: CleanHtml::parse("content", "<p>New</p>")?,
            category: None,
            cover,
            public_from: None,
            created_at: context.now,
            updated_at: context.now,
        };
        work.insert_changelog(&changelog, &[]).await?;
        Ok(Performed::new(changelog, Audit::Unchanged))
    }
}

/// A cover that an operation has found is not deleted by a concurrent sweep of unused files.
///
/// Beyond the contract.
pub async fn a_file_that_becomes_a_cover_is_kept(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let cover = harness.attachment(acme, 1).await;
    harness.clock.advance(Duration::SECOND);
    let (ready, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let create = Paused { cover: cover.id, ready: ready.clone(), go_on: go_on.clone() };
    let executor = harness.executor.clone();
    let creating = tokio::spawn(async move { executor.run_without_key(acme, &create).await });
    ready.notified().await;
    let (maintenance, before) = (harness.subject.maintenance.clone(), harness.now());
    let mut deleting = tokio::spawn(async move { maintenance.delete_unused_attachments(acme, before, 10).await });
    // The deletion either finishes at once or waits for the operation.
    let done = tokio::time::timeout(std::time::Duration::from_millis(200), &mut deleting).await;
    go_on.notify_one();
    let changelog = creating.await.unwrap().unwrap();
    let deleted = match done {
        Ok(done) => done.unwrap(),
        Err(_) => deleting.await.unwrap(),
    };
    assert_eq!(deleted.unwrap(), []);
    assert_eq!(changelog.cover.map(|cover| cover.attachment), Some(cover.id));
    assert_eq!(harness.subject.reader.attachment(acme, cover.id).await.unwrap(), Some(cover));
}

/// A deleted file is rejected as a cover. With a concurrent deletion, either the changelog or the deletion wins.
///
/// Addition 4.
pub async fn a_deleted_file_cannot_become_a_cover(harness: Harness) {
    let acme = harness.workspace("acme").await;
    for number in 1..=20 {
        let file = harness.attachment(acme, number).await;
        harness.clock.advance(Duration::SECOND);
        let (created, deleted) =
            tokio::join!(changelog(&harness, acme, Some(file.id)), delete_unused(&harness, acme, 10));
        let is_there = harness.subject.reader.attachment(acme, file.id).await.unwrap().is_some();
        match created {
            Ok(_) => assert!(is_there && deleted.is_empty(), "{number}"),
            Err(error) => {
                assert_eq!(error.to_string(), "Cover image is invalid");
                assert!(!is_there && deleted.len() == 1, "{number}");
            }
        }
        delete_unused(&harness, acme, 10).await;
        let rejected = changelog(&harness, acme, Some(key(acme, 1_000).attachment)).await;
        assert_eq!(rejected.unwrap_err().to_string(), "Cover image is invalid");
    }
}

/// Deletes the row of a file.
pub(super) struct Delete(pub(super) AttachmentId);

#[async_trait]
impl Operation for Delete {
    type Output = AttachmentDeletion;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<AttachmentDeletion>, RoadmapError> {
        Ok(Performed::new(work.delete_attachment(self.0).await?, Audit::Unchanged))
    }
}

/// A file whose row was deleted.
pub(super) fn removed(file: &Attachment) -> UnusedAttachment {
    UnusedAttachment { key: file.key, byte_size: file.byte_size }
}

/// An unused file is deleted, one that a changelog uses is not, and those of other workspaces are not found.
pub async fn only_unused_files_are_deleted(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [unused, cover] = [harness.attachment(acme, 1).await, harness.attachment(acme, 2).await];
    let changelog = changelog(&harness, acme, Some(cover.id)).await.unwrap();
    harness.failure(acme, &Failing(Delete(unused.id))).await;
    assert_eq!(harness.subject.reader.attachment(acme, unused.id).await.unwrap(), Some(unused.clone()));
    for (workspace, file, outcome) in [
        (bolt, unused.id, AttachmentDeletion::NotFound),
        (bolt, cover.id, AttachmentDeletion::NotFound),
        (acme, key(acme, 9).attachment, AttachmentDeletion::NotFound),
        (acme, cover.id, AttachmentDeletion::InUse),
        (acme, unused.id, AttachmentDeletion::Deleted(removed(&unused))),
        (acme, unused.id, AttachmentDeletion::NotFound),
    ] {
        assert_eq!(harness.perform(workspace, &Delete(file)).await, outcome);
    }
    assert_eq!(harness.subject.reader.attachment(acme, unused.id).await.unwrap(), None);
    assert_eq!(harness.subject.reader.attachment(acme, cover.id).await.unwrap(), Some(cover.clone()));
    harness.perform(acme, &DeleteChangelog { changelog: changelog.id }).await;
    assert_eq!(harness.perform(acme, &Delete(cover.id)).await, AttachmentDeletion::Deleted(removed(&cover)));
}

/// Of a concurrent deletion and use of a file as a cover, one wins.
pub async fn a_file_is_deleted_or_used(harness: Harness) {
    let acme = harness.workspace("acme").await;
    for number in 1..=20 {
        let file = harness.attachment(acme, number).await;
        let delete = Delete(file.id);
        let (created, deleted) =
            tokio::join!(changelog(&harness, acme, Some(file.id)), harness.executor.run_without_key(acme, &delete));
        let is_there = harness.subject.reader.attachment(acme, file.id).await.unwrap().is_some();
        let expected = match created {
            Ok(_) => (AttachmentDeletion::InUse, true),
            Err(error) => {
                assert_eq!(error.to_string(), "Cover image is invalid");
                (AttachmentDeletion::Deleted(removed(&file)), false)
            }
        };
        assert_eq!((deleted.unwrap(), is_there), expected, "{number}");
    }
}

crate::contract::cases!($ attachments {
    a_file_is_returned_as_it_was_stored,
    a_cover_belongs_to_its_workspace,
    blobs_without_rows_are_found,
    unused_files_are_deleted_oldest_first,
    a_file_that_becomes_a_cover_is_kept,
    a_deleted_file_cannot_become_a_cover,
    only_unused_files_are_deleted,
    a_file_is_deleted_or_used,
});
