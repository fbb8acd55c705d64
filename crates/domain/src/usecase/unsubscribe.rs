//! Unsubscribes a voter from mail about one feature request or from all mail.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::id::CustomerId;
use crate::model::mail::Unsubscription;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Stops mail to a voter and deletes the waiting mails. It is idempotent.
#[derive(Debug, Clone, Copy)]
pub struct Unsubscribe {
    /// The voter.
    pub customer: CustomerId,
    /// The scope.
    pub what: Unsubscription,
}

#[async_trait]
impl Operation for Unsubscribe {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let changed = work.unsubscribe(self.customer, self.what, context.now).await?;
        changed.ok_or(RoadmapError::NotFound(Resource::Customer))?;
        Ok(Performed::new((), Audit::OwnRecord(OwnRecord::Unsubscription)))
    }
}
