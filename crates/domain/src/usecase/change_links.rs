//! Adds, changes and deletes links of feature requests.

use async_trait::async_trait;
use serde_json::Value;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::feature_request::FeatureRequestRef;
use crate::model::id::{FeatureRequestId, LinkId};
use crate::model::link::{Link, LinkChange, LinkDraft, LinkState, LinkUrl};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Adds a link to a feature request. If it has one to the same issue, that one is changed.
#[derive(Debug, Clone)]
pub struct AddLink {
    pub request: FeatureRequestRef,
    pub draft: LinkDraft,
}

/// A link that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkAdded {
    pub link: Link,
    /// Whether it was not there before.
    pub is_new: bool,
}

/// Changes the title and the state of a link.
#[derive(Debug, Clone)]
pub struct UpdateLink {
    pub link: LinkId,
    pub change: LinkChange,
}

/// Deletes a link.
#[derive(Debug, Clone, Copy)]
pub struct DeleteLink {
    pub link: LinkId,
}

fn missing() -> RoadmapError {
    RoadmapError::NotFound(Resource::Link)
}

fn state_value(state: Option<LinkState>) -> Value {
    state.map(LinkState::name).into()
}

/// Returns the counted size of a link.
pub(crate) fn link_bytes(url: &LinkUrl, title: Option<&str>) -> u64 {
    storage::row_bytes(&[url.as_str(), title.unwrap_or_default()])
}

/// Returns the entry of the audit log about a changed link.
pub(crate) fn link_change_entry(before: &Link, after: &Link) -> Audit {
    let title = (before.title != after.title).then(|| Change::without_values("title"));
    let state = Change::between("state", state_value(before.state), state_value(after.state));
    Audit::with_changes("link.update", "link", Some(before.id.uuid()), title.into_iter().chain(state).collect())
}

/// Changes a link that is there.
async fn change_link(
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
    link: Link,
    change: &LinkChange,
) -> Result<Performed<Link>, RoadmapError> {
    let changed = link.with_change(change, context.now);
    if changed == link {
        return Ok(Performed::new(link, Audit::Unchanged));
    }
    work.save_link(&changed).await?;
    let audit = link_change_entry(&link, &changed);
    let bytes = link_bytes(&changed.url, changed.title.as_ref().map(|title| title.as_str()));
    Ok(Performed::new(changed, audit).storing(bytes))
}

#[async_trait]
impl Operation for AddLink {
    type Output = LinkAdded;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<LinkAdded>, RoadmapError> {
        let request = work.lock_feature_request(&self.request).await?;
        let request = request.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?.id;
        if let Some(link) = work.find_link_to(request, &self.draft.url.issue()).await? {
            let changed = change_link(context, work, link, &self.draft.change).await?;
            return Ok(changed.map(|link| LinkAdded { link, is_new: false }));
        }
        if work.count_links(request).await? >= Link::MAX {
            return Err(RoadmapError::Conflict(Conflict::TooManyLinks));
        }
        let link = self.draft.to_link(context.new_id(LinkId::new), context.now);
        work.insert_link(request, &link).await?;
        let changes = vec![
            Change::new("feature_request", Value::Null, request.to_string()),
            Change::new("kind", Value::Null, link.url.issue().kind.name()),
            Change::new("state", Value::Null, state_value(link.state)),
        ];
        let audit = Audit::with_changes("link.create", "link", Some(link.id.uuid()), changes);
        let bytes = link_bytes(&link.url, link.title.as_ref().map(|title| title.as_str()));
        Ok(Performed::new(LinkAdded { link, is_new: true }, audit).storing(bytes))
    }
}

#[async_trait]
impl Operation for UpdateLink {
    type Output = Link;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Link>, RoadmapError> {
        let link = work.find_link(self.link).await?.ok_or_else(missing)?;
        change_link(context, work, link, &self.change).await
    }
}

#[async_trait]
impl Operation for DeleteLink {
    type Output = FeatureRequestId;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestId>, RoadmapError> {
        let request = work.delete_link(self.link).await?.ok_or_else(missing)?;
        let changes = vec![Change::new("feature_request", request.to_string(), Value::Null)];
        let audit = Audit::with_changes("link.delete", "link", Some(self.link.uuid()), changes);
        Ok(Performed::new(request, audit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{link, now, perform, request, summary};

    const URL: &str = "https://github.com/acme/app/issues/7";

    fn add(url: &str, title: Option<&str>, state: Option<&str>) -> AddLink {
        let draft = LinkDraft::parse(Some(url), title.map(Some), state.map(Some)).unwrap();
        AddLink { request: request(), draft }
    }

    /// A unit with a feature request that has this link to the issue, and so many links.
    fn unit(existing: Option<Link>, count: u64) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_lock_feature_request().times(1).returning(|_| Ok(Some(summary("Inbox", None, 0))));
        unit.expect_find_link_to().times(1).returning(move |_, _| Ok(existing.clone()));
        unit.expect_count_links().returning(move |_| Ok(count));
        unit
    }

    fn actions(audit: Audit) -> Vec<&'static str> {
        audit.into_entries().into_iter().map(|entry| entry.action).collect()
    }

    /// Links: a 21st is refused.
    #[test]
    fn a_feature_request_has_at_most_twenty_links() {
        let mut with_room = unit(None, 19);
        with_room.expect_insert_link().times(1).returning(|_, _| Ok(()));
        let performed = perform(&add(URL, Some("Dark"), None), &mut with_room).unwrap();
        assert!(performed.output.is_new);
        assert_eq!(performed.output.link.state, Some(LinkState::Open));
        assert_eq!(actions(performed.audit), ["link.create"]);
        let error = perform(&add(URL, None, None), &mut unit(None, 20)).unwrap_err();
        assert_eq!(error.to_string(), "FeatureRequest has at most 20 links.");
    }

    /// Links: the same issue again.
    #[test]
    fn a_link_to_the_same_issue_is_changed_by_what_is_sent_even_if_there_are_twenty() {
        let old = Link { state: Some(LinkState::Closed), ..link(URL) };
        let mut full = unit(Some(old.clone()), 20);
        let expected = Link { state: Some(LinkState::Open), updated_at: now(), ..old.clone() };
        let saved = expected.clone();
        full.expect_save_link().withf(move |link| *link == saved).times(1).returning(|_| Ok(()));
        let performed = perform(&add("http://github.com/ACME/app/pull/7", None, Some("open")), &mut full).unwrap();
        assert_eq!(performed.output, LinkAdded { link: expected, is_new: false });
        assert_eq!(actions(performed.audit), ["link.update"]);
        // Its state stays what it is if none is sent.
        let unchanged = perform(&add(URL, None, None), &mut unit(Some(old.clone()), 20)).unwrap();
        assert_eq!((unchanged.output.link, unchanged.audit), (old, Audit::Unchanged));
    }

    #[test]
    fn an_entry_has_neither_the_url_nor_the_title() {
        let mut empty = unit(None, 0);
        empty.expect_insert_link().returning(|_, _| Ok(()));
        let added = perform(&add(URL, Some("Dark mode"), None), &mut empty).unwrap();
        let mut unit = MockUnit::new();
        unit.expect_find_link().returning(|_| Ok(Some(link(URL))));
        unit.expect_save_link().returning(|_| Ok(()));
        let change = LinkChange::parse(Some(Some("Dark mode")), Some(Some("closed"))).unwrap();
        let updated = perform(&UpdateLink { link: link(URL).id, change }, &mut unit).unwrap();
        for entry in added.audit.into_entries().into_iter().chain(updated.audit.into_entries()) {
            let changes = format!("{:?}", entry.changes);
            assert!(!changes.contains("github.com") && !changes.contains("Dark"), "{changes}");
        }
    }

    #[test]
    fn an_unknown_record_is_reported() {
        let mut unit = MockUnit::new();
        unit.expect_lock_feature_request().returning(|_| Ok(None));
        unit.expect_find_link().returning(|_| Ok(None));
        unit.expect_delete_link().returning(|_| Ok(None));
        let (id, change) = (link(URL).id, LinkChange::default());
        let errors = [
            perform(&add(URL, None, None), &mut unit).map(drop).unwrap_err(),
            perform(&UpdateLink { link: id, change }, &mut unit).map(drop).unwrap_err(),
            perform(&DeleteLink { link: id }, &mut unit).map(drop).unwrap_err(),
        ];
        let expected = ["FeatureRequest does not exist.", "Link does not exist.", "Link does not exist."];
        assert_eq!(errors.map(|error| error.to_string()), expected);
    }
}
