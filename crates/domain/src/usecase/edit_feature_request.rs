//! Edits title, description, tags and visibility of a feature request.

use async_trait::async_trait;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::admin::Fingerprint;
use crate::model::audit::{Audit, Change};
use crate::model::event::EventContent;
use crate::model::feature_request::{Description, EditableFields, FeatureRequestDetail, FeatureRequestRef, Tag, Title};
use crate::model::picture::MAX_IN_POST;
use crate::model::webhook_event::EventDraft;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::add_picture::replace_pictures;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::indexing::index;
use crate::usecase::records::{load_detail, record_event};

/// Changes the fields that were sent and keeps the others. A merged feature request is edited as what it was merged
/// into.
#[derive(Debug, Clone)]
pub struct EditFeatureRequest {
    pub request: FeatureRequestRef,
    pub change: FeatureRequestChange,
}

/// The validated changes of a feature request. `None` leaves a field as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeatureRequestChange {
    /// The new title.
    pub title: Option<Title>,
    /// The new description, which may be empty.
    pub description: Option<Description>,
    /// The new tags.
    pub tags: Option<Vec<Tag>>,
    /// Whether it is hidden from search and all public views.
    pub private: Option<bool>,
}

impl FeatureRequestChange {
    fn apply(&self, old: &EditableFields) -> EditableFields {
        EditableFields {
            id: old.id,
            title: self.title.clone().unwrap_or_else(|| old.title.clone()),
            description: self.description.clone().unwrap_or_else(|| old.description.clone()),
            tags: self.tags.clone().unwrap_or_else(|| old.tags.clone()),
            private: self.private.unwrap_or(old.private),
        }
    }

    /// The size of the new texts and of the event, without the search document.
    fn stored_bytes(&self) -> u64 {
        let title = self.title.as_ref().map_or("", Title::as_str);
        let (html, text) = self.description.as_ref().map_or(("", ""), |new| (new.html(), new.text()));
        let tags = self.tags.as_deref().unwrap_or_default();
        let tags: u64 = tags.iter().map(|tag| storage::row_bytes(&[tag.as_str()])).sum();
        storage::row_bytes(&[title, html, text]) + tags + storage::EVENT_BYTES
    }
}

/// An edited feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureRequestEdited {
    pub detail: FeatureRequestDetail,
    /// The changed fields.
    pub changes: Vec<Change>,
}

fn changes(old: &EditableFields, new: &EditableFields) -> Vec<Change> {
    let tags = |fields: &EditableFields| fields.tags.iter().map(Tag::to_string).collect::<Vec<_>>();
    let description = (old.description != new.description).then(|| Change::without_values("description"));
    [
        Change::between("title", old.title.as_str(), new.title.as_str()),
        description,
        Change::between("tags", tags(old), tags(new)),
        Change::between("private", old.private, new.private),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[async_trait]
impl Operation for EditFeatureRequest {
    type Output = FeatureRequestEdited;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestEdited>, RoadmapError> {
        let old = find_fields(&self.request, work).await?;
        edit(&old, &self.change, context, work).await
    }
}

/// Returns the fields of a feature request, which is locked.
pub(crate) async fn find_fields(
    request: &FeatureRequestRef,
    work: &mut dyn UnitOfWork,
) -> Result<EditableFields, RoadmapError> {
    let fields = work.find_editable_fields(request).await?;
    fields.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))
}

/// Changes a feature request, which is locked and has the fields `old`.
pub(crate) async fn edit(
    old: &EditableFields,
    change: &FeatureRequestChange,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<Performed<FeatureRequestEdited>, RoadmapError> {
    let mut new = change.apply(old);
    if let Some(description) = &change.description {
        let text = ("description", description.clean());
        let html = replace_pictures(work, text, old.description.clean(), new.id.uuid(), MAX_IN_POST).await?;
        new.description = description.with_html(html);
    }
    let changes = changes(old, &new);
    let mut bytes = 0;
    if !changes.is_empty() {
        work.save_editable_fields(&new, context.now).await?;
        bytes = change.stored_bytes() + index(work, new.id).await?;
        let fields = changes.iter().map(|change| change.field.clone()).collect();
        record_event(context, work, new.id, context.actor.clone(), EventContent::Edited(fields)).await?;
    }
    let audit = Audit::of_changes("feature_request.update", "feature_request", Some(new.id.uuid()), &changes);
    let fields = changes.iter().map(|change| change.field.as_str());
    let announced = (!changes.is_empty()).then(|| EventDraft::of_edit(new.id, fields));
    let detail = load_detail(work, new.id).await?;
    Ok(Performed::new(FeatureRequestEdited { detail, changes }, audit).storing(bytes).announcing(announced))
}

/// Edits a feature request, unless somebody else has changed it since its editor read it.
#[derive(Debug, Clone)]
pub struct EditUnchangedRequest {
    pub edit: EditFeatureRequest,
    /// What the editor has read.
    pub read: Fingerprint,
}

#[async_trait]
impl Operation for EditUnchangedRequest {
    type Output = FeatureRequestEdited;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestEdited>, RoadmapError> {
        let now = find_fields(&self.edit.request, work).await?;
        let stored = Fingerprint::of_request(&now.title, now.description.html(), &now.tags, now.private);
        if stored != self.read {
            return Err(RoadmapError::Conflict(Conflict::ChangedMeanwhile));
        }
        edit(&now, &self.edit.change, context, work).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::feature_request::SearchableText;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{detail, now, perform, request, summary};

    fn fields() -> EditableFields {
        EditableFields {
            id: summary("", None, 0).id,
            title: Title::parse("title", "Dark mode").unwrap(),
            description: Description::parse("description", "<p>Eyes</p>").unwrap(),
            tags: Tag::parse_list("tags", &["ui".to_owned()]).unwrap(),
            private: false,
        }
    }

    fn edit(
        unit: &mut MockUnit,
        change: FeatureRequestChange,
    ) -> Result<Performed<FeatureRequestEdited>, RoadmapError> {
        perform(&EditFeatureRequest { request: request(), change }, unit)
    }

    fn unit() -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_find_editable_fields().returning(|_| Ok(Some(fields())));
        unit.expect_feature_request_detail().returning(|_| Ok(Some(detail())));
        unit
    }

    #[test]
    fn sent_fields_are_saved_indexed_and_recorded() {
        let change = FeatureRequestChange {
            title: Some(Title::parse("title", "Night mode").unwrap()),
            description: Some(Description::parse("description", "").unwrap()),
            ..FeatureRequestChange::default()
        };
        let expected = EditableFields {
            title: Title::parse("title", "Night mode").unwrap(),
            description: Description::parse("description", "").unwrap(),
            ..fields()
        };
        let mut unit = unit();
        unit.expect_save_editable_fields()
            .withf(move |fields, at| *fields == expected && *at == now())
            .times(1)
            .returning(|_, _| Ok(()));
        unit.expect_searchable_text().returning(|_, _| {
            let text = |text: &str| text.to_owned();
            Ok(Some(SearchableText { title: text("Night mode"), tags: vec![], description: text(""), merged: vec![] }))
        });
        unit.expect_save_search_document()
            .withf(|_, document| document.title.contains("night"))
            .times(1)
            .returning(|_, _| Ok(()));
        unit.expect_insert_event()
            .withf(|new| new.event.content == EventContent::Edited(vec!["title".to_owned(), "description".to_owned()]))
            .times(1)
            .returning(|_| Ok(()));
        let edited = edit(&mut unit, change).unwrap();
        let changes = [Change::new("title", "Dark mode", "Night mode"), Change::without_values("description")];
        assert_eq!(edited.output.changes, changes);
        assert_eq!(edited.events, [EventDraft::of_edit(fields().id, ["title", "description"])]);
    }

    /// Addition 2.
    #[test]
    fn a_request_that_becomes_private_is_removed_from_the_index() {
        let mut unit = unit();
        unit.expect_save_editable_fields().withf(|fields, _| fields.private).times(1).returning(|_, _| Ok(()));
        unit.expect_searchable_text().returning(|_, _| Ok(None));
        unit.expect_delete_search_document().times(1).returning(|_| Ok(()));
        unit.expect_insert_event().times(1).returning(|_| Ok(()));
        let change = FeatureRequestChange { private: Some(true), ..FeatureRequestChange::default() };
        let edited = edit(&mut unit, change).unwrap();
        assert_eq!(edited.output.changes, [Change::new("private", false, true)]);
        assert_eq!(edited.events, [EventDraft::of_edit(fields().id, ["private"])]);
    }

    /// Addition 2.
    #[test]
    fn equal_fields_change_nothing() {
        let change = FeatureRequestChange {
            title: Some(fields().title),
            tags: Some(fields().tags),
            private: Some(false),
            description: None,
        };
        assert!(!edit(&mut unit(), change).unwrap().has_changed());
    }

    /// Addition 2.
    #[test]
    fn an_unknown_request_is_reported() {
        let mut unknown = MockUnit::new();
        unknown.expect_find_editable_fields().returning(|_| Ok(None));
        let error = edit(&mut unknown, FeatureRequestChange::default()).unwrap_err();
        assert_eq!(error.to_string(), "FeatureRequest does not exist.");
    }

    #[test]
    fn an_edit_of_what_was_changed_meanwhile_changes_nothing() {
        let old = fields();
        let read = Fingerprint::of_request(&old.title, old.description.html(), &old.tags, old.private);
        let stale = Fingerprint::of_request(&old.title, "", &old.tags, old.private);
        for (read, ok) in [(read, true), (stale, false), (Fingerprint::from_form(""), false)] {
            let mut unit = MockUnit::new();
            unit.expect_find_editable_fields().returning(|_| Ok(Some(fields())));
            unit.expect_feature_request_detail().returning(|_| Ok(Some(detail())));
            let edit = EditFeatureRequest { request: request(), change: FeatureRequestChange::default() };
            let operation = EditUnchangedRequest { edit, read };
            match perform(&operation, &mut unit) {
                Ok(_) => assert!(ok),
                Err(RoadmapError::Conflict(Conflict::ChangedMeanwhile)) => assert!(!ok),
                Err(other) => panic!("{other}"),
            }
        }
    }
}
