//! Keyboard shortcuts of a member.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::id::MemberId;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Switches the keyboard shortcuts of a member on or off, in all browsers.
#[derive(Debug, Clone, Copy)]
pub struct SetShortcuts {
    pub member: MemberId,
    pub on: bool,
}

#[async_trait]
impl Operation for SetShortcuts {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        match work.set_shortcuts(self.member, self.on).await? {
            true => Ok(Performed::new((), Audit::OwnRecord(OwnRecord::Shortcuts))),
            false => Err(RoadmapError::NotFound(Resource::Member)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::perform;
    use uuid::Uuid;

    #[test]
    fn shortcuts_are_those_of_a_member() {
        for (exists, on) in [(true, true), (true, false), (false, true)] {
            let member = MemberId::new(Uuid::from_u128(3));
            let mut unit = MockUnit::new();
            unit.expect_set_shortcuts()
                .withf(move |of, to| (*of, *to) == (member, on))
                .returning(move |_, _| Ok(exists));
            let error = perform(&SetShortcuts { member, on }, &mut unit).err().map(|error| error.to_string());
            assert_eq!(error, (!exists).then(|| "Member does not exist.".to_owned()));
        }
    }
}
