//! Sets the name that a workspace's mail comes from. Only operators do: mail goes out in their name.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::audit::{Audit, Change};
use crate::model::mail::SenderName;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Replaces the name. `None`: mail comes from `<product> via <service>`.
#[derive(Debug, Clone)]
pub struct SetSenderName {
    pub name: Option<SenderName>,
}

#[async_trait]
impl Operation for SetSenderName {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let old = work.replace_sender_name(self.name.as_ref()).await?;
        let [old, new] = [&old, &self.name].map(|name| name.as_ref().map(SenderName::as_str));
        let changes: Vec<_> = Change::between("sender_name", old, new).into_iter().collect();
        let audit = Audit::of_changes("workspace.update", "workspace", Some(context.workspace.uuid()), &changes);
        Ok(Performed::new((), audit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::perform;

    #[test]
    fn only_another_name_is_recorded() {
        let name = |name: &str| Some(SenderName::from_stored(name.to_owned()));
        for (old, new, is_recorded) in [
            (None, name("Lumen Desk"), true),
            (name("Lumen Desk"), None, true),
            (name("Lumen Desk"), name("Lumen Desk"), false),
        ] {
            let mut unit = MockUnit::new();
            let before = old.clone();
            unit.expect_replace_sender_name().times(1).returning(move |_| Ok(before.clone()));
            let performed = perform(&SetSenderName { name: new.clone() }, &mut unit).unwrap();
            let unchanged = matches!(performed.audit, Audit::Unchanged);
            assert_eq!(unchanged, !is_recorded, "{old:?} {new:?}");
        }
    }
}
