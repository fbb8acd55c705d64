//! Adds pictures for texts: scales them, and stores them as files of the workspace.
//!
//! A picture is stored before the text that has it. If no text has it after a day, the sweep deletes it.

use std::sync::Arc;

use bytes::Bytes;
use time::Duration;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::attachment::{Attachment, BlobKey, Filename};
use crate::model::html::CleanHtml;
use crate::model::id::{AttachmentId, WorkspaceId};
use crate::model::picture::{self, PictureBy, PictureProblem};
use crate::ports::{PictureScaler, UnitOfWork};
use crate::usecase::query::Queries;
use crate::usecase::query::files::{FindFile, ShowAttachment};
use crate::usecase::upload_attachment::UploadAttachment;

/// How long a picture is stored that no text has yet.
pub const UNUSED_FOR: Duration = Duration::days(1);

/// Adds pictures.
#[derive(Clone)]
pub struct AddPicture {
    scaler: Arc<dyn PictureScaler>,
    upload: UploadAttachment,
    queries: Queries,
}

impl AddPicture {
    /// Creates the use case. `upload` stores the pictures, and `queries` find the files that some are made from.
    #[must_use]
    pub fn new(scaler: Arc<dyn PictureScaler>, upload: UploadAttachment, queries: Queries) -> Self {
        Self { scaler, upload, queries }
    }

    /// Scales and stores a picture. The same bytes with the same `key` are stored once: a form may be sent twice.
    ///
    /// # Errors
    /// - [`RoadmapError::Invalid`] about the field `picture` when it cannot be shown, or when the pictures of customers have
    ///   used up their part of the storage.
    /// - [`RoadmapError::OverBudget`] when it does not fit into the storage budget.
    /// - Errors of the storage and the store.
    pub async fn run(
        &self,
        workspace: WorkspaceId,
        name: &Filename,
        content: Bytes,
        by: PictureBy,
        key: Option<&str>,
    ) -> Result<Attachment, RoadmapError> {
        self.upload.check_budget(workspace).await?;
        let attachment = key.map_or_else(|| self.upload.new_id(), |key| picture::id_of(key.as_bytes(), &content));
        let key = BlobKey { workspace, attachment };
        self.store(key, name, content, by).await.map_err(|problem| problem.about("picture"))
    }

    /// Makes pictures from uploaded files, unless that was done before. Their IDs are those of [`picture::made_from`].
    ///
    /// # Errors
    /// - [`RoadmapError::Invalid`] about `field` when there is no such file or it cannot be shown.
    /// - Otherwise as [`Self::run`].
    pub async fn make_from(
        &self,
        workspace: WorkspaceId,
        field: &str,
        files: &[AttachmentId],
    ) -> Result<(), RoadmapError> {
        for file in files {
            let made = picture::made_from(*file);
            match self.queries.run(workspace, &ShowAttachment { attachment: Some(made) }).await {
                Err(RoadmapError::NotFound(Resource::Attachment)) => {}
                known => {
                    known?;
                    continue;
                }
            }
            let original = self.read(workspace, *file).await.map_err(|problem| problem.about(field))?;
            let key = BlobKey { workspace, attachment: made };
            let stored = self.store(key, &original.0, original.1, PictureBy::Team).await;
            stored.map_err(|problem| problem.about(field))?;
        }
        Ok(())
    }

    async fn read(&self, workspace: WorkspaceId, file: AttachmentId) -> Result<(Filename, Bytes), Refused> {
        let file = match self.queries.run(workspace, &FindFile { file }).await {
            Err(RoadmapError::NotFound(_)) => return Err(Refused::Missing),
            found => found.map_err(Refused::Failed)?,
        };
        if file.attachment.byte_size > picture::MAX_BYTES as u64 {
            return Err(Refused::Picture(PictureProblem::TooLarge));
        }
        let mut chunks = file.read(None).await.map_err(Refused::Failed)?;
        let mut content = Vec::new();
        while let Some(chunk) = chunks.next().await.map_err(|error| Refused::Failed(error.into()))? {
            content.extend_from_slice(&chunk);
        }
        Ok((file.attachment.filename, Bytes::from(content)))
    }

    async fn store(&self, key: BlobKey, name: &Filename, content: Bytes, by: PictureBy) -> Result<Attachment, Refused> {
        if content.len() > picture::MAX_BYTES {
            return Err(Refused::Picture(PictureProblem::TooLarge));
        }
        let scaled = self.scaler.scale(content).await.map_err(Refused::Picture)?;
        self.upload.store_picture(key, name, scaled, by).await.map_err(Refused::Failed)
    }
}

/// Why a picture is not added.
enum Refused {
    Missing,
    Picture(PictureProblem),
    Failed(RoadmapError),
}

impl Refused {
    fn about(self, field: &str) -> RoadmapError {
        match self {
            Self::Missing => picture::missing(field).into(),
            Self::Picture(problem) => problem.of_field(field).into(),
            Self::Failed(error) => error,
        }
    }
}

/// Looks up the pictures of a new text of a record, and records that it has them. Returns the text with their sizes.
///
/// # Errors
/// - [`RoadmapError::Invalid`] about `field` when there are more than `max`, or one does not exist.
/// - Errors of the store.
pub(crate) async fn keep_pictures(
    work: &mut dyn UnitOfWork,
    (field, text): (&str, &CleanHtml),
    record: uuid::Uuid,
    max: usize,
) -> Result<CleanHtml, RoadmapError> {
    if !text.has_pictures() {
        return Ok(text.clone());
    }
    let used = check(text.pictures(), field, max)?;
    let known = work.find_pictures(&used).await?;
    if !used.iter().all(|id| known.iter().any(|picture| picture.id == *id)) {
        return Err(picture::missing(field).into());
    }
    work.set_pictures(record, &used).await?;
    Ok(text.with_dimensions(&known))
}

/// As [`keep_pictures`], for a text that replaces another one, which may have had more pictures than `max` because it was
/// imported. The record has no longer what only that one had.
pub(crate) async fn replace_pictures(
    work: &mut dyn UnitOfWork,
    (field, text): (&str, &CleanHtml),
    old: &CleanHtml,
    record: uuid::Uuid,
    max: usize,
) -> Result<CleanHtml, RoadmapError> {
    if old.has_pictures() && !text.has_pictures() {
        work.set_pictures(record, &[]).await?;
    }
    keep_pictures(work, (field, text), record, max.max(old.pictures().len())).await
}

/// Returns each picture once.
fn check(mut pictures: Vec<AttachmentId>, field: &str, max: usize) -> Validated<Vec<AttachmentId>> {
    if pictures.len() > max {
        return Err(picture::too_many(field, max));
    }
    pictures.sort_unstable();
    pictures.dedup();
    Ok(pictures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attachment::Dimensions;
    use crate::model::picture::Picture;
    use crate::ports::mocks::MockUnit;
    use pollster::block_on;
    use uuid::Uuid;

    fn id(number: u128) -> AttachmentId {
        AttachmentId::new(Uuid::from_u128(number))
    }

    fn text(pictures: &[u128]) -> CleanHtml {
        let element = |number: &u128| format!("<img src=\"{}\" alt=\"a\">", picture::path(id(*number)));
        CleanHtml::parse("content", &pictures.iter().map(element).collect::<String>()).unwrap()
    }

    fn keep(unit: &mut MockUnit, text: &CleanHtml, old: Option<&CleanHtml>) -> Result<CleanHtml, RoadmapError> {
        let record = Uuid::from_u128(7);
        match old {
            Some(old) => block_on(replace_pictures(unit, ("content", text), old, record, 3)),
            None => block_on(keep_pictures(unit, ("content", text), record, 3)),
        }
    }

    #[test]
    fn a_text_without_pictures_costs_nothing_unless_it_had_some() {
        let plain = CleanHtml::parse("content", "<p>Soon</p>").unwrap();
        assert_eq!(keep(&mut MockUnit::new(), &plain, None).unwrap(), plain);
        assert_eq!(keep(&mut MockUnit::new(), &plain, Some(&plain)).unwrap(), plain);
        let mut unit = MockUnit::new();
        unit.expect_set_pictures()
            .withf(|record, ids| *record == Uuid::from_u128(7) && ids.is_empty())
            .times(1)
            .returning(|_, _| Ok(()));
        assert_eq!(keep(&mut unit, &plain, Some(&text(&[1]))).unwrap(), plain);
    }

    #[test]
    fn the_pictures_of_a_text_are_recorded_once_with_their_sizes() {
        for old in [None, Some(&text(&[3]))] {
            let mut unit = MockUnit::new();
            let dimensions = Some(Dimensions { width: 30, height: 40 });
            unit.expect_find_pictures().withf(|ids| *ids == [id(1), id(2)]).times(1).returning(move |_| {
                Ok(vec![Picture { id: id(2), dimensions }, Picture { id: id(1), dimensions: None }])
            });
            unit.expect_set_pictures().withf(|_, ids| *ids == [id(1), id(2)]).times(1).returning(|_, _| Ok(()));
            let kept = keep(&mut unit, &text(&[2, 1, 2]), old).unwrap();
            assert_eq!(kept.as_str().matches("width=\"30\" height=\"40\"").count(), 2);
            assert_eq!(kept.pictures(), [id(2), id(1), id(2)]);
        }
    }

    #[test]
    fn a_missing_picture_and_too_many_are_told() {
        let mut unit = MockUnit::new();
        unit.expect_find_pictures().returning(|_| Ok(vec![Picture { id: id(1), dimensions: None }]));
        let error = keep(&mut unit, &text(&[1, 2]), None).unwrap_err();
        assert_eq!(error.to_string(), picture::missing("content").to_string());
        let error = keep(&mut MockUnit::new(), &text(&[1, 1, 1, 1]), None).unwrap_err();
        assert_eq!(error.to_string(), "A description or a comment can have at most 3 pictures");
    }
}
