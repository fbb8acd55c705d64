//! Replaces the synonyms of a workspace.

use async_trait::async_trait;

use crate::error::{RoadmapError, Validated};
use crate::model::audit::{Audit, Change};
use crate::model::search::Synonyms;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Replaces all groups of synonyms. No groups delete them.
#[derive(Debug, Clone)]
pub struct ReplaceSynonyms {
    /// The synonyms, or their validation error.
    pub synonyms: Validated<Synonyms>,
}

#[async_trait]
impl Operation for ReplaceSynonyms {
    type Output = Synonyms;

    async fn perform(&self, _: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<Synonyms, RoadmapError> {
        let synonyms = self.synonyms.as_ref().map_err(Clone::clone)?;
        work.save_synonyms(synonyms).await?;
        Ok(synonyms.clone())
    }

    fn audit(&self, _: &Synonyms) -> Audit {
        Audit::with_changes("synonyms.replace", "synonyms", None, vec![Change::without_values("synonyms")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context};
    use pollster::block_on;

    fn replace(group: &[&str], unit: &mut MockUnit) -> Result<Synonyms, RoadmapError> {
        let synonyms = Synonyms::parse(&[group.iter().map(|phrase| (*phrase).to_owned()).collect()]);
        block_on(ReplaceSynonyms { synonyms }.perform(&context(&NumberedIds::default()), unit))
    }

    #[test]
    fn valid_synonyms_are_saved_and_returned() {
        let mut unit = MockUnit::new();
        unit.expect_save_synonyms()
            .withf(|saved| saved.groups() == [["quokka", "numbat"]])
            .times(1)
            .returning(|_| Ok(()));
        assert_eq!(replace(&["quokka", "numbat"], &mut unit).unwrap().groups(), [["quokka", "numbat"]]);
    }

    #[test]
    fn invalid_synonyms_change_nothing() {
        let error = replace(&["quokka", " "], &mut MockUnit::new()).unwrap_err();
        assert_eq!(error.to_string(), "group 1 of synonyms has a blank phrase");
    }
}
