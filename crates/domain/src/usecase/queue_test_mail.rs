//! Queues a test mail, with which an operator checks that mail arrives.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::audit::Audit;
use crate::model::email_address::EmailAddress;
use crate::model::message::{MessageContent, MessageId, NewMessage, Recipient};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Queues a test mail. The reply is the message's identity.
#[derive(Debug, Clone)]
pub struct QueueTestMail {
    /// The recipient.
    pub to: EmailAddress,
}

#[async_trait]
impl Operation for QueueTestMail {
    type Output = MessageId;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<MessageId, RoadmapError> {
        let message = NewMessage {
            id: context.new_id(MessageId::test_mail),
            content: MessageContent::TestMail,
            recipient: Recipient::Address(self.to.clone()),
            created_at: context.now,
        };
        work.insert_message(&message).await?;
        Ok(message.id)
    }

    fn audit(&self, _: &MessageId) -> Audit {
        Audit::entry("mail.test", "mail", None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, now};
    use pollster::block_on;
    use uuid::Uuid;

    #[test]
    fn a_test_mail_is_a_message_to_an_address() {
        let to = EmailAddress::parse("to", "ops@acme.example").unwrap();
        let expected = NewMessage {
            id: MessageId::test_mail(Uuid::from_u128(1)),
            content: MessageContent::TestMail,
            recipient: Recipient::Address(to.clone()),
            created_at: now(),
        };
        let mut unit = MockUnit::new();
        let seen = expected.clone();
        unit.expect_insert_message().withf(move |message| *message == seen).times(1).returning(|_| Ok(true));
        let queued = block_on(QueueTestMail { to }.perform(&context(&NumberedIds::default()), &mut unit)).unwrap();
        assert_eq!(queued, expected.id);
    }
}
