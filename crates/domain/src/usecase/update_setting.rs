//! Updates the settings of a workspace, contract section 4.3.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::audit::{Audit, Change};
use crate::model::setting::{Setting, SettingChange};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Changes the settings that were sent and keeps the others.
#[derive(Debug, Clone)]
pub struct UpdateSetting {
    pub change: SettingChange,
}

/// The settings after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingUpdated {
    pub setting: Setting,
    /// The changed fields.
    pub changes: Vec<Change>,
}

#[async_trait]
impl Operation for UpdateSetting {
    type Output = SettingUpdated;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<SettingUpdated>, RoadmapError> {
        let old = work.load_setting().await?;
        let setting = old.clone().with_change(&self.change);
        work.save_setting(&setting).await?;
        let changes = [
            Change::between("product_name", old.product_name.as_str(), setting.product_name.as_str()),
            Change::between("website_url", old.website_url.as_str(), setting.website_url.as_str()),
        ];
        let changes: Vec<_> = changes.into_iter().flatten().collect();
        let audit = Audit::of_changes("setting.update", "setting", None, &changes);
        Ok(Performed::new(SettingUpdated { setting, changes }, audit).changing_configuration())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, perform};
    use pollster::block_on;

    /// Contract 4.3.
    #[test]
    fn omitted_fields_are_unchanged() {
        let expected = Setting::parse("Acme", "https://new.example").unwrap();
        let mut unit = MockUnit::new();
        unit.expect_load_setting().returning(|| Ok(Setting::parse("Acme", "https://acme.example").unwrap()));
        let saved = expected.clone();
        unit.expect_save_setting().withf(move |setting| *setting == saved).times(1).returning(|_| Ok(()));
        let change = SettingChange::parse(None, Some(Some("https://new.example")));
        let ids = NumberedIds::default();
        let updated = block_on(UpdateSetting { change: change.unwrap() }.perform(&context(&ids), &mut unit)).unwrap();
        let changes = vec![Change::new("website_url", "https://acme.example", "https://new.example")];
        assert_eq!(updated.output, SettingUpdated { setting: expected, changes });
    }

    #[test]
    fn settings_that_stay_the_same_are_not_audited() {
        let mut unit = MockUnit::new();
        unit.expect_load_setting().returning(|| Ok(Setting::parse("Acme", "https://acme.example").unwrap()));
        unit.expect_save_setting().returning(|_| Ok(()));
        let operation = UpdateSetting { change: SettingChange::parse(Some(Some("Acme")), None).unwrap() };
        assert!(!perform(&operation, &mut unit).unwrap().has_changed());
    }
}
