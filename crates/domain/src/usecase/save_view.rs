//! Views of the inbox that a member saves.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::id::MemberId;
use crate::model::saved_view::SavedView;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Saves a view of a member.
#[derive(Debug, Clone)]
pub struct SaveView {
    pub member: MemberId,
    pub view: SavedView,
}

/// Removes a view of a member by its name. One that is gone already is fine.
#[derive(Debug, Clone)]
pub struct RemoveView {
    pub member: MemberId,
    pub name: String,
}

fn no_member() -> RoadmapError {
    RoadmapError::NotFound(Resource::Member)
}

#[async_trait]
impl Operation for SaveView {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let mut views = work.load_saved_views(self.member).await?.ok_or_else(no_member)?;
        views.add(self.view.clone())?;
        work.set_saved_views(self.member, &views).await?;
        Ok(Performed::new((), Audit::OwnRecord(OwnRecord::SavedView)))
    }
}

#[async_trait]
impl Operation for RemoveView {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let mut views = work.load_saved_views(self.member).await?.ok_or_else(no_member)?;
        if !views.remove(&self.name) {
            return Ok(Performed::new((), Audit::Unchanged));
        }
        work.set_saved_views(self.member, &views).await?;
        Ok(Performed::new((), Audit::OwnRecord(OwnRecord::SavedView)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::saved_view::SavedViews;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::perform;
    use uuid::Uuid;

    fn member() -> MemberId {
        MemberId::new(Uuid::from_u128(3))
    }

    fn views(names: &[&str]) -> SavedViews {
        let mut views = SavedViews::default();
        names.iter().for_each(|name| views.add(SavedView::parse(name, "tag=ui").unwrap()).unwrap());
        views
    }

    fn unit(stored: Option<SavedViews>, saved: Option<SavedViews>) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_load_saved_views().returning(move |_| Ok(stored.clone()));
        let times = usize::from(saved.is_some());
        unit.expect_set_saved_views()
            .withf(move |of, views| (*of, Some(views)) == (member(), saved.as_ref()))
            .times(times)
            .returning(|_, _| Ok(()));
        unit
    }

    #[test]
    fn a_view_is_added_and_removed_by_its_name() {
        let save = SaveView { member: member(), view: SavedView::parse("New", "tag=ui").unwrap() };
        perform(&save, &mut unit(Some(views(&["Old"])), Some(views(&["Old", "New"])))).unwrap();
        let error = perform(&save, &mut unit(Some(views(&["New"])), None)).unwrap_err();
        assert_eq!(error.to_string(), "You have a view with this name");
        let remove = RemoveView { member: member(), name: "New".to_owned() };
        perform(&remove, &mut unit(Some(views(&["New", "Old"])), Some(views(&["Old"])))).unwrap();
        assert!(!perform(&remove, &mut unit(Some(views(&["Old"])), None)).unwrap().has_changed());
        for gone in [perform(&save, &mut unit(None, None)), perform(&remove, &mut unit(None, None))] {
            assert_eq!(gone.unwrap_err().to_string(), "Member does not exist.");
        }
    }
}
