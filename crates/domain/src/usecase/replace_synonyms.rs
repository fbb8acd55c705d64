//! Replaces the synonyms of a workspace.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::audit::{Audit, Change};
use crate::model::search::Synonyms;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Replaces all groups of synonyms. No groups delete them.
#[derive(Debug, Clone)]
pub struct ReplaceSynonyms {
    /// The synonyms.
    pub synonyms: Synonyms,
}

#[async_trait]
impl Operation for ReplaceSynonyms {
    type Output = Synonyms;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Synonyms>, RoadmapError> {
        work.save_synonyms(&self.synonyms).await?;
        let changes = vec![Change::without_values("synonyms")];
        let audit = Audit::with_changes("synonyms.replace", "synonyms", None, changes);
        Ok(Performed::new(self.synonyms.clone(), audit))
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
        block_on(ReplaceSynonyms { synonyms: synonyms.unwrap() }.perform(&context(&NumberedIds::default()), unit))
            .map(|performed| performed.output)
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
}
