//! Renames a tag on all feature requests that have it, or removes it from them.
//!
//! The feature requests are changed at once, and not one by one as an edit does: a tag may have thousands of them. Each
//! gets what an edit of its tags records about it, except for an entry of its own in the audit log.

use async_trait::async_trait;
use serde_json::Value;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::feature_request::Tag;
use crate::model::id::FeatureRequestId;
use crate::model::tag::{ListedTag, TagChange};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::indexing::index;

/// Maximum number of search documents that are built in the unit of work that changes a tag. The others are built in the
/// background.
const INDEXED_AT_ONCE: usize = 100;

/// Renames a tag. If another tag has the name, regardless of case, the two become one, in the spelling of the other one.
#[derive(Debug, Clone)]
pub struct RenameTag {
    /// The tag. `None` for a name that no tag can have.
    pub tag: Option<Tag>,
    /// The new name.
    pub name: Tag,
}

/// Removes a tag from all feature requests.
#[derive(Debug, Clone)]
pub struct DeleteTag {
    /// The tag. `None` for a name that no tag can have.
    pub tag: Option<Tag>,
}

/// A tag after its change, with the number of feature requests that have changed, merged ones included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagRenamed {
    pub tag: ListedTag,
    pub changed: u64,
}

/// What a change of a tag has done.
struct TagChanged {
    /// The tag before.
    old: ListedTag,
    /// The feature requests that have changed.
    requests: Vec<FeatureRequestId>,
    /// The size of the search documents that were built.
    document_bytes: u64,
    /// Whether search documents are left for the background.
    has_outdated: bool,
}

impl TagChanged {
    /// Returns the number of feature requests that have changed.
    fn count(&self) -> u64 {
        self.requests.len() as u64
    }

    /// Adds what every change of a tag leaves behind: events, and search documents that are outdated.
    fn record<T>(&self, performed: Performed<T>) -> Performed<T> {
        let performed = performed.recording(self.count().saturating_mul(storage::EVENT_BYTES));
        if self.has_outdated { performed.leaving_outdated_documents() } else { performed }
    }
}

/// Changes a tag on all feature requests that have it.
async fn change(
    change: &TagChange,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<TagChanged, RoadmapError> {
    let requests = work.lock_tagged(change, TagChange::MAX_REQUESTS).await?;
    let old = work.find_tag(&change.tag).await?.ok_or(RoadmapError::NotFound(Resource::Tag))?;
    let requests = requests.ok_or(RoadmapError::Conflict(Conflict::TooManyTagged))?;
    let (mut document_bytes, mut has_outdated) = (0_u64, false);
    if !requests.is_empty() {
        let change = TagChange { tag: change.tag.clone(), name: spelling(change, work).await? };
        let documents = work.change_tag(&change, &requests, context.actor, context.now).await?;
        let (now, later) = documents.split_at(documents.len().min(INDEXED_AT_ONCE));
        for request in now {
            document_bytes = document_bytes.saturating_add(index(work, *request).await?);
        }
        has_outdated = !later.is_empty();
        if has_outdated {
            work.expire_search_documents(later).await?;
        }
    }
    Ok(TagChanged { old, requests, document_bytes, has_outdated })
}

/// Returns the new name of a tag as another tag with this name is written, if there is one.
async fn spelling(change: &TagChange, work: &mut dyn UnitOfWork) -> Result<Option<Tag>, RoadmapError> {
    Ok(match &change.name {
        Some(name) if !name.equals(&change.tag) => {
            let other = work.find_tag(name).await?;
            Some(other.map_or_else(|| name.clone(), |other| other.name))
        }
        name => name.clone(),
    })
}

/// Returns the tag of a path.
fn known(tag: Option<&Tag>) -> Result<Tag, RoadmapError> {
    tag.cloned().ok_or(RoadmapError::NotFound(Resource::Tag))
}

/// Returns how many feature requests have changed, for the audit log.
fn count_of(changed: &TagChanged) -> Change {
    Change::new("feature_requests", Value::Null, changed.count())
}

#[async_trait]
impl Operation for RenameTag {
    type Output = TagRenamed;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<TagRenamed>, RoadmapError> {
        let tag = known(self.tag.as_ref())?;
        let changed = change(&TagChange { tag, name: Some(self.name.clone()) }, context, work).await?;
        let tag = work.find_tag(&self.name).await?.ok_or(RoadmapError::NotFound(Resource::Tag))?;
        let audit = if changed.requests.is_empty() {
            Audit::Unchanged
        } else {
            let name = Change::new("name", changed.old.name.as_str(), tag.name.as_str());
            Audit::with_changes("tag.update", "tag", None, vec![name, count_of(&changed)])
        };
        let names = changed.count().saturating_mul(self.name.as_str().len() as u64);
        let bytes = names.saturating_add(changed.document_bytes);
        let renamed = TagRenamed { tag, changed: changed.count() };
        Ok(changed.record(Performed::new(renamed, audit).storing(bytes)))
    }
}

#[async_trait]
impl Operation for DeleteTag {
    /// The number of feature requests that had the tag, merged ones included.
    type Output = u64;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<u64>, RoadmapError> {
        let tag = known(self.tag.as_ref())?;
        let changed = change(&TagChange { tag, name: None }, context, work).await?;
        let name = Change::new("name", changed.old.name.as_str(), Value::Null);
        let audit = Audit::with_changes("tag.delete", "tag", None, vec![name, count_of(&changed)]);
        Ok(changed.record(Performed::new(changed.count(), audit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{now, perform};
    use uuid::Uuid;

    fn tag(name: &str) -> Tag {
        Tag::parse("name", name).unwrap()
    }

    fn ids(count: u128) -> Vec<FeatureRequestId> {
        (1..=count).map(|number| FeatureRequestId::new(Uuid::from_u128(number))).collect()
    }

    /// A unit in which this number of feature requests have the tag `UI`, each with its own search document. There is
    /// another tag, `API`.
    fn unit(count: u128) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_lock_tagged()
            .withf(|change, limit| change.tag.equals(&tag("ui")) && *limit == TagChange::MAX_REQUESTS)
            .returning(move |_, _| Ok(Some(ids(count))));
        unit.expect_find_tag().returning(|name| {
            let known = [tag("UI"), tag("API")].into_iter().find(|known| known.equals(name));
            Ok(Some(ListedTag { name: known.unwrap_or_else(|| name.clone()), feature_requests_count: 7 }))
        });
        unit.expect_change_tag()
            .withf(move |_, requests, _, at| requests == ids(count) && *at == now())
            .times(usize::from(count > 0))
            .returning(|_, requests, _, _| Ok(requests.to_vec()));
        unit.expect_searchable_text().returning(|_, _| Ok(None));
        unit
    }

    fn rename(unit: &mut MockUnit, name: &str) -> Result<Performed<TagRenamed>, RoadmapError> {
        perform(&RenameTag { tag: Some(tag("ui")), name: tag(name) }, unit)
    }

    #[test]
    fn a_renamed_tag_has_one_entry_and_its_search_documents_are_built_again() {
        let mut unit = unit(2);
        unit.expect_delete_search_document().times(2).returning(|_| Ok(()));
        let renamed = rename(&mut unit, "Interface").unwrap();
        let tag = ListedTag { name: tag("Interface"), feature_requests_count: 7 };
        assert_eq!(renamed.output, TagRenamed { tag, changed: 2 });
        let changes = vec![Change::new("name", "UI", "Interface"), Change::new("feature_requests", Value::Null, 2_u64)];
        assert_eq!(renamed.audit, Audit::with_changes("tag.update", "tag", None, changes));
        assert_eq!(renamed.stored_bytes, 2 * "Interface".len() as u64);
        assert_eq!(renamed.recorded_bytes, 2 * storage::EVENT_BYTES);
        assert!(!renamed.documents_outdated);
    }

    #[test]
    fn two_tags_become_one_in_the_spelling_of_the_other() {
        for (name, expected) in [("api", "API"), ("ui", "ui")] {
            let mut unit = MockUnit::new();
            unit.expect_lock_tagged().returning(|_, _| Ok(Some(ids(1))));
            unit.expect_find_tag().returning(move |name| {
                // It is found as it is written after the change.
                let known = [tag("API"), tag("ui")].into_iter().find(|known| known.equals(name));
                Ok(known.map(|name| ListedTag { name, feature_requests_count: 1 }))
            });
            unit.expect_change_tag()
                .withf(move |change, _, _, _| change.name == Some(tag(expected)))
                .times(1)
                .returning(|_, _, _, _| Ok(Vec::new()));
            let renamed = rename(&mut unit, name).unwrap();
            assert_eq!(renamed.output.tag.name, tag(expected));
        }
    }

    #[test]
    fn what_is_written_so_already_is_unchanged() {
        let renamed = rename(&mut unit(0), "UI").unwrap();
        assert!(!renamed.has_changed());
        assert_eq!((renamed.output.changed, renamed.recorded_bytes), (0, 0));
    }

    #[test]
    fn search_documents_beyond_a_number_are_left_for_the_background() {
        let mut unit = unit(103);
        unit.expect_delete_search_document().times(INDEXED_AT_ONCE).returning(|_| Ok(()));
        unit.expect_expire_search_documents()
            .withf(|later| later == &ids(103)[INDEXED_AT_ONCE..])
            .times(1)
            .returning(|_| Ok(()));
        let deleted = perform(&DeleteTag { tag: Some(tag("Ui")) }, &mut unit).unwrap();
        assert_eq!((deleted.output, deleted.documents_outdated), (103, true));
        let changes =
            vec![Change::new("name", "UI", Value::Null), Change::new("feature_requests", Value::Null, 103_u64)];
        assert_eq!(deleted.audit, Audit::with_changes("tag.delete", "tag", None, changes));
        // A deletion is never refused because of its size.
        assert_eq!((deleted.stored_bytes, deleted.recorded_bytes), (0, 103 * storage::EVENT_BYTES));
    }

    #[test]
    fn unknown_tags_and_those_of_too_many_are_reported() {
        for (exists, name, message) in [
            (false, Some("ui"), "Tag does not exist."),
            (true, None, "Tag does not exist."),
            (true, Some("ui"), "Tag has more than 10,000 feature requests."),
        ] {
            let unit = || {
                let mut unit = MockUnit::new();
                unit.expect_lock_tagged().returning(|_, _| Ok(None));
                let found = exists.then(|| ListedTag { name: tag("UI"), feature_requests_count: 10_001 });
                unit.expect_find_tag().returning(move |_| Ok(found.clone()));
                unit
            };
            let name = name.map(tag);
            let renamed = perform(&RenameTag { tag: name.clone(), name: tag("API") }, &mut unit());
            assert_eq!(renamed.map(drop).unwrap_err().to_string(), message);
            let deleted = perform(&DeleteTag { tag: name }, &mut unit());
            assert_eq!(deleted.map(drop).unwrap_err().to_string(), message);
        }
    }
}
