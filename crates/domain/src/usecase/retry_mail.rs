//! Sends postponed or dead mail of a workspace again.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::audit::{Audit, Change};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Makes postponed mail due; with `dead`, dead mail too. The output is the number of mails.
#[derive(Debug, Clone, Copy)]
pub struct RetryMail {
    /// Whether mail that was given up is sent again, too.
    pub dead: bool,
}

#[async_trait]
impl Operation for RetryMail {
    type Output = u64;

    async fn perform(&self, context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<u64, RoadmapError> {
        Ok(work.retry_mail(self.dead, context.now).await?)
    }

    fn audit(&self, mails: &u64) -> Audit {
        match mails {
            0 => Audit::Unchanged,
            mails => Audit::with_changes("mail.retry", "mail", None, vec![Change::new("mails", 0, *mails)]),
        }
    }
}
