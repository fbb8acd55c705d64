//! Stores the records of an export again, one batch after the other.

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::{Conflict, RoadmapError};
use crate::model::attachment::Attachment;
use crate::model::audit::Audit;
use crate::model::board::Board;
use crate::model::event::NewEvent;
use crate::model::export::restore::{Part, Settings};
use crate::model::id::{AttachmentId, FeatureRequestId, ImportId};
use crate::model::import::ImportedNote;
use crate::model::import::records::Kind;
use crate::model::import::run::{Counts, Progress};
use crate::model::picture::PictureBy;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::indexing::index;

/// Returns whether a workspace has nothing that the records of an export could meet.
#[derive(Debug, Clone, Copy)]
pub struct CheckBlank;

/// Records of one kind.
#[derive(Debug, Clone)]
pub enum Batch {
    /// Files whose content is stored.
    Files(Vec<(Attachment, Option<PictureBy>)>),
    Board(Board),
    /// Rows as JSON, and which records of them have which pictures.
    Rows {
        part: Part,
        rows: Vec<String>,
        pictures: Vec<(Uuid, Vec<AttachmentId>)>,
    },
    Notes(Vec<ImportedNote>),
    Events(Vec<NewEvent>),
    Settings(Box<Settings>),
    /// Public feature requests for the search.
    Index(Vec<FeatureRequestId>),
}

impl Batch {
    /// Counts its records as new.
    pub fn count(&self, counts: &mut Counts) {
        let mut add = |kind, records: usize| counts.of_mut(kind).new += records as u64;
        match self {
            Self::Files(files) => add(Kind::Files, files.len()),
            Self::Board(board) => {
                add(Kind::Lanes, board.lanes().len());
                add(Kind::Tracks, board.tracks().len());
            }
            Self::Rows { part, rows, .. } => {
                if let Some(kind) = kind_of(*part) {
                    add(kind, rows.len());
                }
            }
            Self::Notes(notes) => add(Kind::Notes, notes.len()),
            Self::Events(events) => add(Kind::Moves, events.len()),
            Self::Settings(_) | Self::Index(_) => {}
        }
    }
}

/// Returns the kind of the records of a part, if a report counts them.
const fn kind_of(part: Part) -> Option<Kind> {
    match part {
        Part::Members { .. } => Some(Kind::Members),
        Part::Customers => Some(Kind::Customers),
        Part::FeatureRequests => Some(Kind::FeatureRequests),
        Part::Merges => Some(Kind::Merges),
        Part::Votes => Some(Kind::Votes),
        Part::Subscriptions => Some(Kind::Subscriptions),
        Part::Comments => Some(Kind::Comments),
        Part::Changelogs => Some(Kind::Changelogs),
        Part::Links | Part::Imported | Part::FileTimes => None,
    }
}

/// Stores a batch, and how far the run is then.
#[derive(Debug, Clone)]
pub struct RestoreBatch {
    pub import: ImportId,
    /// The process that works on the run.
    pub holder: Uuid,
    /// How far the run is before.
    pub progress: Progress,
    /// How many lines of the export it is.
    pub lines: u64,
    pub batch: Arc<Batch>,
}

#[async_trait]
impl Operation for CheckBlank {
    type Output = bool;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        Ok(Performed::new(work.is_blank().await?, Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for RestoreBatch {
    /// How far the run is now.
    type Output = Progress;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Progress>, RoadmapError> {
        let (mut bytes, mut changes_configuration) = (0_u64, false);
        match &*self.batch {
            Batch::Files(files) => {
                for (file, picture_by) in files {
                    // New for now, so that the sweep leaves it until its records are there.
                    let file = Attachment { created_at: context.now, ..file.clone() };
                    work.insert_attachment(&file, *picture_by).await?;
                }
            }
            Batch::Board(board) => {
                work.save_board(board).await?;
                changes_configuration = true;
            }
            Batch::Rows { part, rows, pictures } => {
                if !rows.is_empty() {
                    work.restore(*part, format!("[{}]", rows.join(","))).await?;
                }
                for (record, pictures) in pictures {
                    work.set_pictures(*record, pictures).await?;
                }
                bytes = rows.iter().map(|row| storage::row_bytes(&[row])).sum();
            }
            Batch::Notes(notes) => {
                work.import_notes(notes).await?;
                bytes = notes.iter().map(|note| storage::row_bytes(&[note.body.as_str()])).sum();
            }
            Batch::Events(events) => {
                work.import_events(events).await?;
                bytes = events.len() as u64 * storage::EVENT_BYTES;
            }
            Batch::Settings(settings) => {
                work.save_setting(&settings.setting).await?;
                work.replace_sender_name(settings.sender_name.as_ref()).await?;
                work.load_portal().await?;
                work.save_portal(&settings.portal).await?;
                work.save_synonyms(&settings.synonyms).await?;
                work.set_last_tag_number(settings.last_tag_number).await?;
                changes_configuration = true;
            }
            Batch::Index(requests) => {
                for request in requests {
                    bytes += index(work, *request).await?;
                }
            }
        }
        let mut progress = self.progress.clone();
        progress.position += self.lines;
        self.batch.count(&mut progress.counts);
        if !work.advance_import(self.import, self.holder, &progress, context.now).await? {
            return Err(RoadmapError::Conflict(Conflict::ImportTakenOver));
        }
        let performed = Performed::new(progress, Audit::Unchanged).storing(bytes);
        Ok(if changes_configuration { performed.changing_configuration() } else { performed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{now, perform};

    fn batch(progress: Progress, batch: Batch) -> RestoreBatch {
        let import = ImportId::new(Uuid::from_u128(1));
        RestoreBatch { import, holder: Uuid::nil(), progress, lines: 3, batch: Arc::new(batch) }
    }

    #[test]
    fn rows_are_stored_as_one_array_and_counted() {
        let mut unit = MockUnit::new();
        unit.expect_restore()
            .withf(|part, rows| *part == Part::Votes && rows == "[{\"a\":1},{\"b\":2}]")
            .once()
            .returning(|_, _| Ok(()));
        unit.expect_advance_import()
            .withf(|_, _, progress, at| progress.position == 10 && *at == now())
            .returning(|_, _, _, _| Ok(true));
        let rows = vec!["{\"a\":1}".to_owned(), "{\"b\":2}".to_owned()];
        let before = Progress { position: 7, ..Progress::default() };
        let rows = Batch::Rows { part: Part::Votes, rows, pictures: Vec::new() };
        let progress = perform(&batch(before, rows), &mut unit).unwrap().output;
        assert_eq!((progress.position, progress.counts.of(Kind::Votes).new), (10, 2));
    }

    #[test]
    fn a_run_that_another_process_has_taken_over_stores_nothing() {
        let mut unit = MockUnit::new();
        unit.expect_advance_import().returning(|_, _, _, _| Ok(false));
        let none = Batch::Rows { part: Part::Votes, rows: Vec::new(), pictures: Vec::new() };
        let refused = perform(&batch(Progress::default(), none), &mut unit);
        assert!(matches!(refused, Err(RoadmapError::Conflict(Conflict::ImportTakenOver))));
    }
}
