//! Pictures of texts: which texts have them, who sees them, and when they are deleted.

use std::sync::Arc;

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::audit::Audit;
use roadmap_domain::model::changelog::ChangelogDraft;
use roadmap_domain::model::feature_request::{Description, FeatureRequestRef};
use roadmap_domain::model::id::{AttachmentId, WorkspaceId};
use roadmap_domain::model::picture::{Picture, PictureBy, path};
use roadmap_domain::ports::{AttachmentDeletion, UnitOfWork};
use roadmap_domain::usecase::change_changelog::DeleteChangelog;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::edit_comment::DeleteComment;
use roadmap_domain::usecase::edit_feature_request::FeatureRequestChange;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::hold_comment::{ApproveComment, DiscardComment};
use roadmap_domain::usecase::remove_texts::MoveTexts;
use time::Duration;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::contract::attachments::{Delete, delete_unused, removed};
use crate::harness::{
    Harness, InsertAttachment, attachment, changelog_fields, comment, customer_comment, draft, edit, edit_comment,
};

const ANN: &str = "ann@example.com";

async fn picture(harness: &Harness, workspace: WorkspaceId, number: u128, by: PictureBy) -> Attachment {
    let attachment = attachment(workspace, number, harness.now());
    harness.perform(workspace, &InsertAttachment(attachment.clone(), Some(by))).await;
    attachment
}

/// A text with a picture.
fn text(picture: &Attachment) -> String {
    format!("<p>See <img src=\"{}\" alt=\"this\"></p>", path(picture.id))
}

/// Whether a picture is shown that was not added lately.
async fn is_shown(harness: &Harness, workspace: WorkspaceId, picture: &Attachment) -> bool {
    harness.subject.reader.picture(workspace, picture.id, harness.now()).await.unwrap().is_some()
}

/// The pictures that are deleted if those without a text are deleted that were added before now.
async fn sweep(harness: &Harness, workspace: WorkspaceId) -> Vec<AttachmentId> {
    let deleted = harness.subject.maintenance.delete_unused_pictures(workspace, harness.now(), 10).await.unwrap();
    let mut ids: Vec<AttachmentId> = deleted.iter().map(|file| file.key.attachment).collect();
    ids.sort_unstable();
    ids
}

/// Looks up pictures.
struct Find(Vec<AttachmentId>);

#[async_trait]
impl Operation for Find {
    type Output = (Vec<Picture>, u64);

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Self::Output>, RoadmapError> {
        let found = (work.find_pictures(&self.0).await?, work.customer_picture_bytes().await?);
        Ok(Performed::new(found, Audit::Unchanged))
    }
}

/// Pictures are those files of the workspace that were added as such, with their sizes.
pub async fn only_pictures_of_the_workspace_are_found(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let (team, customer) =
        (picture(&harness, acme, 1, PictureBy::Team).await, picture(&harness, acme, 2, PictureBy::Customer).await);
    let file = harness.attachment(acme, 3).await;
    let foreign = picture(&harness, bolt, 4, PictureBy::Customer).await;
    let ids = vec![team.id, customer.id, file.id, foreign.id, AttachmentId::new(Uuid::from_u128(9))];
    let (mut found, bytes) = harness.perform(acme, &Find(ids.clone())).await;
    found.sort_by_key(|picture| picture.id);
    let expected = [&team, &customer].map(|file| Picture { id: file.id, dimensions: file.dimensions });
    assert_eq!((found, bytes), (expected.to_vec(), customer.byte_size));
    assert_eq!(harness.perform(bolt, &Find(ids)).await.0.len(), 1);
    // The same file once more changes nothing.
    harness.perform(acme, &InsertAttachment(team.clone(), Some(PictureBy::Customer))).await;
    assert_eq!(harness.perform(acme, &Find(vec![])).await, (vec![], customer.byte_size));
    // It is shown while its text may still be written, and neither elsewhere nor as a file.
    let before = harness.now().plus(-Duration::SECOND);
    let reader = &harness.subject.reader;
    assert_eq!(reader.picture(acme, team.id, before).await.unwrap(), Some(team.clone()));
    assert_eq!(reader.picture(acme, team.id, harness.now()).await.unwrap(), None);
    assert_eq!(reader.picture(bolt, team.id, before).await.unwrap(), None);
    assert_eq!(reader.picture(acme, file.id, before).await.unwrap(), None);
}

/// A picture is shown and kept while a text has it, whatever the text is, and not after that.
pub async fn a_picture_lives_as_long_as_its_text(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let mut pictures = Vec::new();
    for number in 1..=5 {
        pictures.push(picture(&harness, acme, number, PictureBy::Customer).await);
    }
    let [described, commented, held, news, unused] = <[Attachment; 5]>::try_from(pictures).unwrap();
    let request = harness.create(acme, draft("Dark mode", &[], &text(&described))).await;
    assert!(harness.detail(acme, request.id).await.description.as_str().contains("width=\"4294967295\""));
    let on = FeatureRequestRef::Id(request.id);
    let posted = harness.perform(acme, &comment(on, &text(&commented), false)).await.comment.id;
    let waiting = harness.hold(acme, request.id, &text(&held), ANN).await;
    let fields = ChangelogDraft::parse(&changelog_fields("1.0", &text(&news)), false, |_| None).unwrap();
    harness.perform(acme, &CreateChangelog { draft: fields }).await;
    harness.clock.advance(Duration::SECOND);
    for used in [&described, &commented, &held, &news] {
        assert!(is_shown(&harness, acme, used).await, "{}", used.id);
        assert_eq!(harness.perform(acme, &Delete(used.id)).await, AttachmentDeletion::InUse);
    }
    assert!(!is_shown(&harness, acme, &unused).await);
    assert_eq!(delete_unused(&harness, acme, 10).await, []);
    assert_eq!(sweep(&harness, acme).await, [unused.id]);

    // An approved comment keeps its picture, one that was edited away is gone.
    harness.perform(acme, &ApproveComment { comment: waiting }).await;
    assert!(is_shown(&harness, acme, &held).await);
    harness.perform(acme, &edit_comment(posted, "<p>Nothing</p>")).await;
    let change = FeatureRequestChange {
        description: Some(Description::parse("description", &format!("{}{}", text(&held), text(&held))).unwrap()),
        ..FeatureRequestChange::default()
    };
    harness.perform(acme, &edit(on, change)).await;
    assert!(!is_shown(&harness, acme, &commented).await && !is_shown(&harness, acme, &described).await);
    assert_eq!(sweep(&harness, acme).await, [described.id, commented.id]);
}

/// Pictures of deleted records are hidden at once, and deleted by the next sweep, however new they are.
pub async fn pictures_of_deleted_texts_are_deleted(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let mut pictures = Vec::new();
    for number in 1..=6 {
        pictures.push(picture(&harness, acme, number, PictureBy::Team).await);
    }
    let [described, commented, held, news, shared, kept] = <[Attachment; 6]>::try_from(pictures).unwrap();
    let [on, other] = harness.requests(acme, ["Fern", "Moss"]).await.map(|request| FeatureRequestRef::Id(request.id));
    let request = harness.create(acme, draft("Dark mode", &[], &text(&described))).await;
    let first = harness.perform(acme, &comment(on, &text(&commented), false)).await.comment.id;
    let of_both = harness.perform(acme, &comment(on, &text(&shared), false)).await.comment.id;
    harness.perform(acme, &comment(other, &format!("{}{}", text(&shared), text(&kept)), false)).await;
    let FeatureRequestRef::Id(held_on) = on else { panic!("an ID") };
    let waiting = harness.hold(acme, held_on, &text(&held), ANN).await;
    let fields = ChangelogDraft::parse(&changelog_fields("1.0", &text(&news)), false, |_| None).unwrap();
    let changelog = harness.perform(acme, &CreateChangelog { draft: fields }).await.changelog.id;
    harness.delete(acme, request.id, false).await;
    for comment in [first, of_both] {
        harness.perform(acme, &DeleteComment { comment }).await;
    }
    harness.perform(acme, &DiscardComment { comment: waiting }).await;
    harness.perform(acme, &DeleteChangelog { changelog }).await;
    for gone in [&described, &commented, &held, &news] {
        assert!(!is_shown(&harness, acme, gone).await, "{}", gone.id);
    }
    assert!(is_shown(&harness, acme, &shared).await && is_shown(&harness, acme, &kept).await);
    assert_eq!(harness.perform(acme, &Delete(described.id)).await, AttachmentDeletion::Deleted(removed(&described)));
    assert_eq!(sweep(&harness, acme).await, [commented.id, held.id, news.id]);
    assert_eq!(harness.count("text_pictures", acme).await, 3, "two of the comment that is left, one of a deleted one");
}

/// Nobody sees the pictures of removed texts, which are kept until the texts can no longer be restored.
pub async fn pictures_of_removed_texts_are_hidden_and_kept(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let (idea, answer) =
        (picture(&harness, acme, 1, PictureBy::Customer).await, picture(&harness, acme, 2, PictureBy::Customer).await);
    let customer = roadmap_domain::model::customer::CustomerDraft::parse(Some(ANN), None).unwrap();
    let mut of_ann = draft("Quokka", &[], &text(&idea));
    of_ann.customer = Some(customer);
    let request = harness.create(acme, of_ann).await;
    let posted = customer_comment(FeatureRequestRef::Id(request.id), &text(&answer), ANN, None);
    harness.perform(acme, &posted).await;
    let ann = harness.customer(acme, ANN).await.id;
    harness.clock.advance(Duration::SECOND);
    for removes in [true, false, true] {
        harness.perform(acme, &MoveTexts { customer: ann, removes }).await;
        for picture in [&idea, &answer] {
            assert_eq!(is_shown(&harness, acme, picture).await, !removes, "{}", picture.id);
            assert_eq!(harness.perform(acme, &Delete(picture.id)).await, AttachmentDeletion::InUse);
        }
        assert_eq!(sweep(&harness, acme).await, []);
    }
    harness.after_days(31);
    harness.subject.maintenance.purge_removed_texts(harness.now(), 10).await.unwrap();
    assert!(!is_shown(&harness, acme, &idea).await);
    assert_eq!(sweep(&harness, acme).await, [idea.id, answer.id]);
}

/// An operation that finds a picture and then waits for a notification before a text has it.
struct Paused {
    picture: AttachmentId,
    record: Uuid,
    ready: Arc<Notify>,
    go_on: Arc<Notify>,
}

#[async_trait]
impl Operation for Paused {
    type Output = usize;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<usize>, RoadmapError> {
        let found = work.find_pictures(&[self.picture]).await?;
        self.ready.notify_one();
        self.go_on.notified().await;
        work.set_pictures(self.record, &[self.picture]).await?;
        Ok(Performed::new(found.len(), Audit::Unchanged))
    }
}

/// A picture that an operation has found for a text is not deleted by a concurrent sweep.
pub async fn a_picture_that_gets_its_text_is_kept(harness: Harness) {
    let acme = harness.workspace("acme").await;
    let stored = picture(&harness, acme, 1, PictureBy::Team).await;
    harness.clock.advance(Duration::SECOND);
    let (ready, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let request = harness.request(acme, "Fern").await.id;
    let posted = harness.perform(acme, &comment(FeatureRequestRef::Id(request), "Soon", false)).await;
    let record = posted.comment.id.uuid();
    let paused = Paused { picture: stored.id, record, ready: ready.clone(), go_on: go_on.clone() };
    let executor = harness.executor.clone();
    let writing = tokio::spawn(async move { executor.run_without_key(acme, &paused).await });
    ready.notified().await;
    let (maintenance, before) = (harness.subject.maintenance.clone(), harness.now());
    let mut deleting = tokio::spawn(async move { maintenance.delete_unused_pictures(acme, before, 10).await });
    // The deletion either finishes at once or waits for the operation.
    let done = tokio::time::timeout(std::time::Duration::from_millis(200), &mut deleting).await;
    go_on.notify_one();
    assert_eq!(writing.await.unwrap().unwrap(), 1);
    let deleted = match done {
        Ok(done) => done.unwrap().unwrap(),
        Err(_) => deleting.await.unwrap().unwrap(),
    };
    assert_eq!(deleted, []);
    assert!(is_shown(&harness, acme, &stored).await);
}

crate::contract::cases!($ pictures {
    only_pictures_of_the_workspace_are_found,
    a_picture_lives_as_long_as_its_text,
    pictures_of_deleted_texts_are_deleted,
    pictures_of_removed_texts_are_hidden_and_kept,
    a_picture_that_gets_its_text_is_kept,
});
