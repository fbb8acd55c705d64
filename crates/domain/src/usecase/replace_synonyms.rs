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
        if work.load_synonyms().await? == self.synonyms {
            return Ok(Performed::new(self.synonyms.clone(), Audit::Unchanged));
        }
        work.save_synonyms(&self.synonyms).await?;
        let changes = vec![Change::without_values("synonyms")];
        let audit = Audit::with_changes("synonyms.replace", "synonyms", None, changes);
        Ok(Performed::new(self.synonyms.clone(), audit).changing_configuration())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::perform;

    #[test]
    fn equal_synonyms_are_not_saved_and_not_audited() {
        let synonyms = |phrase: &str| Synonyms::parse(&[vec!["2fa".to_owned(), phrase.to_owned()]]).unwrap();
        for (new, has_changed) in [("two-factor", false), ("mfa", true)] {
            let mut unit = MockUnit::new();
            unit.expect_load_synonyms().returning(move || Ok(synonyms("two-factor")));
            unit.expect_save_synonyms().times(usize::from(has_changed)).returning(|_| Ok(()));
            let replaced = perform(&ReplaceSynonyms { synonyms: synonyms(new) }, &mut unit).unwrap();
            assert_eq!((replaced.has_changed(), replaced.output), (has_changed, synonyms(new)));
        }
    }
}
