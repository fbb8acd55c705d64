//! Sends postponed or dead mail of a workspace again.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::audit::{Audit, Change};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Makes postponed mail due; with `dead`, dead mail too. The output is the number of mails.
#[derive(Debug, Clone, Copy)]
pub struct RetryMail {
    /// Whether mail that was given up is sent again, too.
    pub dead: bool,
}

#[async_trait]
impl Operation for RetryMail {
    type Output = u64;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<u64>, RoadmapError> {
        let mails = work.retry_mail(self.dead, context.now).await?;
        let changes: Vec<_> = Change::between("mails", 0, mails).into_iter().collect();
        Ok(Performed::new(mails, Audit::of_changes("mail.retry", "mail", None, &changes)))
    }
}
