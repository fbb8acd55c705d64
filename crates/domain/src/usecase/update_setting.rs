//! Updates the settings of a workspace, contract section 4.3.

use async_trait::async_trait;

use crate::error::{RoadmapError, Validated};
use crate::model::setting::{Setting, SettingChange};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Changes the settings that were sent and keeps the others.
#[derive(Debug, Clone)]
pub struct UpdateSetting {
    /// The change, or its validation error.
    pub change: Validated<SettingChange>,
}

#[async_trait]
impl Operation for UpdateSetting {
    type Output = Setting;

    async fn perform(&self, _: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<Setting, RoadmapError> {
        let change = self.change.as_ref().map_err(Clone::clone)?;
        let setting = work.load_setting().await?.with_change(change);
        work.save_setting(&setting).await?;
        Ok(setting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context};
    use pollster::block_on;

    #[test]
    fn omitted_fields_are_unchanged() {
        let expected = Setting::parse("Acme", "https://new.example").unwrap();
        let mut unit = MockUnit::new();
        unit.expect_load_setting().returning(|| Ok(Setting::parse("Acme", "https://acme.example").unwrap()));
        let saved = expected.clone();
        unit.expect_save_setting().withf(move |setting| *setting == saved).times(1).returning(|_| Ok(()));
        let change = SettingChange::parse(None, Some(Some("https://new.example")));
        let ids = NumberedIds::default();
        assert_eq!(block_on(UpdateSetting { change }.perform(&context(&ids), &mut unit)).unwrap(), expected);
    }

    #[test]
    fn an_invalid_setting_changes_nothing() {
        let change = SettingChange::parse(Some(Some("Acme 2")), Some(Some("nowhere")));
        let ids = NumberedIds::default();
        let outcome = block_on(UpdateSetting { change }.perform(&context(&ids), &mut MockUnit::new()));
        assert_eq!(outcome.unwrap_err().to_string(), "Website URL is invalid");
    }
}
