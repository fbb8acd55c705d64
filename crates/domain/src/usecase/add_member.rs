//! Adds a team member to a workspace.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::email_address::EmailAddress;
use crate::model::id::MemberId;
use crate::model::member::Member;
use crate::model::text::Name;
use crate::ports::UnitOfWork;
use crate::usecase::create_workspace::ensure_inserted;
use crate::usecase::executor::{Operation, OperationContext};

/// Adds a member.
#[derive(Debug, Clone)]
pub struct AddMember {
    /// E-mail address.
    pub email: EmailAddress,
    /// Display name.
    pub name: Name,
}

#[async_trait]
impl Operation for AddMember {
    type Output = Member;

    async fn perform(&self, context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<Member, RoadmapError> {
        let member = Member {
            id: context.new_id(MemberId::new),
            email: self.email.clone(),
            name: self.name.clone(),
            created_at: context.now,
        };
        ensure_inserted(work.insert_member(&member).await?, || format!("e-mail address `{}`", self.email.as_str()))?;
        Ok(member)
    }
}
