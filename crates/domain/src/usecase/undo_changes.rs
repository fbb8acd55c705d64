//! Takes back what a member has just done with feature requests: moves, tags and visibility.
//!
//! What was done is read from the audit log ([`FindReversibleChanges`](crate::usecase::query::admin::FindReversibleChanges)).

use async_trait::async_trait;
use serde_json::Value;
use time::Duration;

use crate::error::RoadmapError;
use crate::model::audit::{Audit, AuditEntry, Change};
use crate::model::board::Board;
use crate::model::feature_request::{FeatureRequestRef, Tag};
use crate::model::id::FeatureRequestId;
use crate::model::member::Author;
use crate::ports::UnitOfWork;
use crate::usecase::edit_feature_request::{FeatureRequestChange, edit};
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::move_feature_request::{MoveDraft, move_to};

/// How long a change can be taken back.
pub const REVERSIBLE_FOR: Duration = Duration::hours(1);

/// A change of a feature request that can be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReversibleChange {
    request: FeatureRequestId,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// A move between tracks with these names.
    Move { from: String, to: String },
    /// An edit of tags and visibility.
    Edit { added: Vec<Tag>, removed: Vec<Tag>, private: Option<bool> },
}

impl ReversibleChange {
    /// Returns the change of an entry of the audit log, if it can be taken back.
    #[must_use]
    pub fn of_entry(entry: &AuditEntry) -> Option<Self> {
        let request = FeatureRequestId::new(entry.subject.id?);
        let kind = match entry.action.as_str() {
            "feature_request.move" => {
                let (from, to) = values(&entry.changes, "track")?;
                Kind::Move { from: from.as_str()?.to_owned(), to: to.as_str()?.to_owned() }
            }
            "feature_request.update" => {
                if !entry.changes.iter().all(|change| matches!(change.field.as_str(), "tags" | "private")) {
                    return None;
                }
                let (old, new) = match values(&entry.changes, "tags") {
                    Some((old, new)) => (tags(old)?, tags(new)?),
                    None => (Vec::new(), Vec::new()),
                };
                let private = values(&entry.changes, "private").and_then(|(_, new)| new.as_bool());
                Kind::Edit { added: without(&new, &old), removed: without(&old, &new), private }
            }
            _ => return None,
        };
        Some(Self { request, kind })
    }
}

fn values<'a>(changes: &'a [Change], field: &str) -> Option<(&'a Value, &'a Value)> {
    let change = changes.iter().find(|change| change.field == field)?;
    change.values.as_ref().map(|(old, new)| (old, new))
}

fn tags(values: &Value) -> Option<Vec<Tag>> {
    values.as_array()?.iter().map(|tag| Tag::parse("tags", tag.as_str()?).ok()).collect()
}

fn without(tags: &[Tag], others: &[Tag]) -> Vec<Tag> {
    tags.iter().filter(|tag| !others.iter().any(|other| other.equals(tag))).cloned().collect()
}

/// Takes back changes of feature requests. What somebody has changed since, merged or deleted stays as it is.
#[derive(Debug, Clone)]
pub struct UndoChanges {
    /// What was done.
    pub changes: Vec<ReversibleChange>,
}

/// How many changes were taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangesUndone {
    /// Those that were taken back.
    pub undone: usize,
    /// Those that stay, because something else was done since.
    pub kept: usize,
}

#[async_trait]
impl Operation for UndoChanges {
    type Output = ChangesUndone;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ChangesUndone>, RoadmapError> {
        let requests: Vec<FeatureRequestId> = self.changes.iter().map(|change| change.request).collect();
        let existing = work.existing_feature_requests(&requests).await?;
        let board = match self.changes.iter().any(|change| matches!(change.kind, Kind::Move { .. })) {
            true => work.load_board().await?,
            false => Board::default(),
        };
        let mut all = Performed::new(ChangesUndone { undone: 0, kept: 0 }, Audit::Unchanged);
        for change in &self.changes {
            let undone = match existing.contains(&change.request) {
                true => undo(change, &board, context, work).await?,
                false => None,
            };
            match undone {
                Some(undone) if undone.has_changed() => {
                    all.output.undone += 1;
                    all.join(undone);
                }
                _ => all.output.kept += 1,
            }
        }
        Ok(all)
    }
}

/// Locks a feature request and takes a change of it back. Returns `None` if something else was done since.
async fn undo(
    change: &ReversibleChange,
    board: &Board,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<Option<Performed<()>>, RoadmapError> {
    let request = FeatureRequestRef::Id(change.request);
    match &change.kind {
        Kind::Move { from, to } => {
            let locked = work.lock_feature_request(&request).await?;
            let locked = locked.filter(|root| root.id == change.request && root.placement.track.as_str() == to);
            let track = board.tracks().iter().find(|track| track.name.as_str() == from);
            let Some((request, track)) = locked.zip(track) else { return Ok(None) };
            let draft = MoveDraft { track: track.id, author: Author::Oldest, notify_all_voters: false, comment: None };
            Ok(Some(move_to(track, request, &draft, context, work).await?.map(drop)))
        }
        Kind::Edit { added, removed, private } => {
            let fields = work.find_editable_fields(&request).await?;
            let Some(fields) = fields.filter(|root| root.id == change.request) else { return Ok(None) };
            let mut tags = without(&fields.tags, added);
            tags.extend(without(removed, &tags));
            // Others may have added so many that the removed ones do not fit any more.
            tags.truncate(Tag::MAX_COUNT.max(fields.tags.len()));
            let private = private.filter(|set| fields.private == *set).map(|set| !set);
            let change = FeatureRequestChange { tags: Some(tags), private, ..FeatureRequestChange::default() };
            Ok(Some(edit(&fields, &change, context, work).await?.never_refused().map(drop)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::audit::{Channel, Origin, Subject};
    use crate::model::feature_request::{Description, EditableFields, FeatureRequestSummary, Title};
    use crate::model::id::{AuditEntryId, TrackId};
    use crate::model::track::Track;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{actor, detail, name, now, perform, summary};
    use uuid::Uuid;

    fn id(number: u128) -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(number))
    }

    fn entry(action: &str, request: u128, changes: Vec<Change>) -> AuditEntry {
        AuditEntry {
            id: AuditEntryId::new(Uuid::from_u128(1)),
            at: now(),
            origin: Origin { actor: actor(), channel: Channel::Page, request_id: None },
            action: action.to_owned(),
            subject: Subject { kind: "feature_request".to_owned(), id: Some(id(request).uuid()) },
            changes,
        }
    }

    fn moved(request: u128) -> AuditEntry {
        let changes = vec![Change::new("track", "Inbox", "Planned"), Change::new("status", Value::Null, "Planned")];
        entry("feature_request.move", request, changes)
    }

    fn tagged(request: u128, old: &[&str], new: &[&str]) -> AuditEntry {
        entry("feature_request.update", request, vec![Change::new("tags", old.to_vec(), new.to_vec())])
    }

    fn undo(unit: &mut MockUnit, entries: &[AuditEntry]) -> Performed<ChangesUndone> {
        let changes = entries.iter().filter_map(ReversibleChange::of_entry).collect();
        unit.expect_existing_feature_requests()
            .times(1)
            .returning(|ids| Ok(ids.iter().copied().filter(|existing| *existing != id(4)).collect()));
        perform(&UndoChanges { changes }, unit).unwrap()
    }

    fn list(tags: &[&str]) -> Vec<Tag> {
        tags.iter().map(|tag| Tag::parse("tags", tag).unwrap()).collect()
    }

    #[test]
    fn only_moves_tags_and_visibility_can_be_taken_back() {
        let private = Change::new("private", false, true);
        let title = Change::new("title", "Dark mode", "Night mode");
        for (entry, is_reversible) in [
            (moved(1), true),
            (tagged(1, &["ui"], &["ui", "API"]), true),
            (entry("feature_request.update", 1, vec![private.clone()]), true),
            (entry("feature_request.update", 1, vec![private, title]), false),
            (entry("feature_request.update", 1, vec![Change::without_values("description")]), false),
            (entry("feature_request.delete", 1, vec![]), false),
            (entry("feature_request.move", 1, vec![]), false),
        ] {
            assert_eq!(ReversibleChange::of_entry(&entry).is_some(), is_reversible, "{entry:?}");
        }
    }

    /// The first was moved, the second was moved elsewhere since, the third is merged, and the fourth is deleted.
    #[test]
    fn what_was_moved_since_merged_or_deleted_stays() {
        let track = |number, text| Track { id: TrackId::new(Uuid::from_u128(number)), name: name(text), lane: None };
        let mut unit = MockUnit::new();
        unit.expect_load_board()
            .times(1)
            .returning(move || Ok(Board::new(Vec::new(), vec![track(1, "Inbox"), track(2, "Planned")])));
        unit.expect_lock_feature_request().times(3).returning(|request| {
            let FeatureRequestRef::Id(request) = *request else { panic!("an ID") };
            let track = if request == id(2) { "Done" } else { "Planned" };
            let root = if request == id(3) { id(1) } else { request };
            Ok(Some(FeatureRequestSummary { id: root, ..summary(track, None, 0) }))
        });
        unit.expect_set_feature_request_track()
            .withf(|request, to, _, _| *request == id(1) && to.uuid() == Uuid::from_u128(1))
            .times(1)
            .returning(|_, _, _, _| Ok(()));
        unit.expect_insert_event().times(1).returning(|_| Ok(()));
        let undone = undo(&mut unit, &[moved(1), moved(2), moved(3), moved(4)]);
        assert_eq!(undone.output, ChangesUndone { undone: 1, kept: 3 });
        let entries = undone.audit.into_entries();
        assert_eq!(entries.iter().map(|entry| entry.action).collect::<Vec<_>>(), ["feature_request.move"]);
    }

    #[test]
    fn a_move_from_a_track_that_is_gone_stays() {
        let mut unit = MockUnit::new();
        unit.expect_load_board().returning(|| Ok(Board::default()));
        unit.expect_lock_feature_request()
            .returning(|_| Ok(Some(FeatureRequestSummary { id: id(1), ..summary("Planned", None, 0) })));
        assert_eq!(undo(&mut unit, &[moved(1)]).output, ChangesUndone { undone: 0, kept: 1 });
    }

    #[test]
    fn tags_and_visibility_of_others_stay() {
        let private = |new: bool| entry("feature_request.update", 1, vec![Change::new("private", !new, new)]);
        for (entry, tags, is_private, expected) in [
            // The added tag is removed, the removed one is there again; what others have added stays.
            (tagged(1, &["ui"], &["ui", "API"]), vec!["ui", "api", "new"], false, Some((vec!["ui", "new"], false))),
            (tagged(1, &["ui", "API"], &["ui"]), vec!["ui", "new"], false, Some((vec!["ui", "new", "API"], false))),
            // Somebody has taken it back already.
            (tagged(1, &["ui"], &["ui", "API"]), vec!["ui"], false, None),
            (tagged(1, &["ui", "API"], &["ui"]), vec!["ui", "api"], false, None),
            (private(true), vec!["ui"], true, Some((vec!["ui"], false))),
            (private(false), vec!["ui"], false, Some((vec!["ui"], true))),
            (private(true), vec!["ui"], false, None),
        ] {
            let mut unit = MockUnit::new();
            let stored = list(&tags);
            unit.expect_find_editable_fields().times(1).returning(move |_| {
                Ok(Some(EditableFields {
                    id: id(1),
                    title: Title::parse("title", "Dark mode").unwrap(),
                    description: Description::parse("description", "").unwrap(),
                    tags: stored.clone(),
                    private: is_private,
                }))
            });
            unit.expect_feature_request_detail().returning(|_| Ok(Some(detail())));
            let saves = usize::from(expected.is_some());
            if let Some((tags, private)) = expected {
                let tags = list(&tags);
                unit.expect_save_editable_fields()
                    .withf(move |fields, _| (&fields.tags, fields.private) == (&tags, private))
                    .times(1)
                    .returning(|_, _| Ok(()));
            }
            unit.expect_searchable_text().times(saves).returning(|_, _| Ok(None));
            unit.expect_delete_search_document().times(saves).returning(|_| Ok(()));
            unit.expect_insert_event().times(saves).returning(|_| Ok(()));
            let undone = undo(&mut unit, &[entry]);
            assert_eq!(undone.output, ChangesUndone { undone: saves, kept: 1 - saves });
        }
    }
}
