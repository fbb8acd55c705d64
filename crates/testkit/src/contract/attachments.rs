//! Rows of files, and covers of changelogs.

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Checksum, Dimensions, Filename};
use roadmap_domain::model::changelog::{Changelog, ChangelogDraft};
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::executor::{Call, Operation};
use uuid::Uuid;

use crate::harness::Harness;

/// A command that stores a row.
struct Insert(Attachment);

#[async_trait]
impl Operation for Insert {
    type Reply = ();

    async fn perform(&self, _: &Call<'_>, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        Ok(work.insert_attachment(&self.0).await?)
    }
}

fn key(workspace: WorkspaceId, number: u128) -> BlobKey {
    BlobKey { workspace, attachment: AttachmentId::new(Uuid::from_u128(number)) }
}

async fn stored(harness: &Harness, workspace: WorkspaceId, number: u128) -> Attachment {
    let key = key(workspace, number);
    let attachment = Attachment {
        id: key.attachment,
        filename: Filename::cleaned("Übersicht.png"),
        media_type: MediaType::stored("image/png".to_owned()),
        byte_size: 52_428_800,
        checksum: Checksum([7; 16]),
        key,
        service_name: "local".to_owned(),
        dimensions: (number % 2 == 1).then_some(Dimensions { width: u32::MAX, height: 1 }),
        created_at: harness.now(),
    };
    harness.executor.apply(workspace, &Insert(attachment.clone())).await.unwrap();
    attachment
}

/// Each field, with and without what is optional; not from another workspace.
pub async fn a_file_is_told_as_it_was_stored(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let reader = &harness.subject.reader;
    for number in [1, 2] {
        let attachment = stored(&harness, acme, number).await;
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
    let signed = cover.map(|_| "signed");
    let draft = ChangelogDraft::parse(Some("1.0"), Some("<p>New</p>"), signed, false, |_| cover);
    harness.executor.apply(workspace, &CreateChangelog { draft }).await
}

/// A cover is a file of the same workspace, and is listed with its changelog.
pub async fn a_cover_belongs_to_its_workspace(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let cover = stored(&harness, acme, 1).await;
    let with = changelog(&harness, acme, Some(cover.id)).await.unwrap();
    assert_eq!(with.cover.as_ref().map(|cover| cover.filename.as_str()), Some("Übersicht.png"));
    let without = changelog(&harness, acme, None).await.unwrap();
    let listing = harness.subject.reader.changelogs(acme, PageRequest::default()).await.unwrap();
    assert_eq!(listing.items, [without, with]);
    for unknown in [cover.id, key(bolt, 9).attachment] {
        let refused = changelog(&harness, bolt, Some(unknown)).await;
        assert_eq!(refused.unwrap_err().to_string(), "Cover image is invalid");
    }
}

/// Blobs are told apart by whether their own workspace has a row of them.
pub async fn blobs_without_rows_are_found(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    stored(&harness, acme, 1).await;
    stored(&harness, bolt, 2).await;
    let keys = [key(acme, 1), key(acme, 2), key(bolt, 1), key(bolt, 2)];
    let housekeeping = &harness.subject.housekeeping;
    let mut without = housekeeping.blobs_without_rows(&keys).await.unwrap();
    without.sort_by_key(ToString::to_string);
    let mut expected = vec![key(acme, 2), key(bolt, 1)];
    expected.sort_by_key(ToString::to_string);
    assert_eq!(without, expected);
    assert_eq!(housekeeping.blobs_without_rows(&[]).await.unwrap(), []);
}
