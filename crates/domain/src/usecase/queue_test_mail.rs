//! Queues a test mail, with which an operator checks that mail arrives.

use async_trait::async_trait;

use crate::error::{MailBudget, RoadmapError};
use crate::model::audit::Audit;
use crate::model::email_address::EmailAddress;
use crate::model::message::{MessageContent, MessageId, NewMessage, Recipient};
use crate::policy::mail_requests::{COUNTED_FOR, MailCounter, TEST_MAILS};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::sign_in::check_limits;

/// Who asks for a test mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestMailBy {
    /// A member of the team. A workspace has a few an hour.
    Member,
    /// An operator, without a limit.
    Operator,
}

/// Queues a test mail. The reply is the message's identity.
#[derive(Debug, Clone)]
pub struct QueueTestMail {
    /// The recipient.
    pub to: EmailAddress,
    /// Who asks.
    pub requester: TestMailBy,
}

#[async_trait]
impl Operation for QueueTestMail {
    type Output = MessageId;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<MessageId>, RoadmapError> {
        let id = context.new_id(|id| id);
        if self.requester == TestMailBy::Member {
            let counter = MailCounter::TestMails(context.workspace).key();
            check_limits(work, counter, &TEST_MAILS, MailBudget::TestMails, context.now).await?;
            work.count_mail(id, &[counter], context.now, context.now.plus(-COUNTED_FOR)).await?;
        }
        let message = NewMessage {
            id: MessageId::test_mail(id),
            content: MessageContent::TestMail,
            recipient: Recipient::Address(self.to.clone()),
            created_at: context.now,
            request_id: context.request_id.map(str::to_owned),
        };
        work.insert_message(&message).await?;
        Ok(Performed::new(message.id, Audit::entry("mail.test", "mail", None)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{now, perform};
    use uuid::Uuid;

    #[test]
    fn a_test_mail_is_a_message_to_an_address() {
        let to = EmailAddress::parse("to", "ops@acme.example").unwrap();
        let expected = NewMessage {
            id: MessageId::test_mail(Uuid::from_u128(1)),
            content: MessageContent::TestMail,
            recipient: Recipient::Address(to.clone()),
            created_at: now(),
            request_id: None,
        };
        let mut unit = MockUnit::new();
        let seen = expected.clone();
        unit.expect_insert_message().withf(move |message| *message == seen).times(1).returning(|_| Ok(true));
        let operation = QueueTestMail { to, requester: TestMailBy::Operator };
        let queued = perform(&operation, &mut unit).unwrap();
        assert_eq!(queued.output, expected.id);
    }

    #[test]
    fn a_workspace_has_five_an_hour() {
        for (age, retry_after) in [(3_599, Some(1)), (3_600, None)] {
            let counter = MailCounter::TestMails(crate::usecase::fixtures::workspace()).key();
            let mut unit = MockUnit::new();
            unit.expect_nth_counted_mail()
                .withf(move |of, nth| (*of, *nth) == (counter, 5))
                .times(1)
                .returning(move |_, _| Ok(Some(now().plus(-time::Duration::seconds(age)))));
            let is_sent = usize::from(retry_after.is_none());
            unit.expect_count_mail()
                .withf(move |_, counters, _, _| *counters == [counter])
                .times(is_sent)
                .returning(|_, _, _, _| Ok(()));
            unit.expect_insert_message().times(is_sent).returning(|_| Ok(true));
            let to = EmailAddress::parse("to", "ops@acme.example").unwrap();
            let operation = QueueTestMail { to, requester: TestMailBy::Member };
            let queued = perform(&operation, &mut unit);
            match queued {
                Err(RoadmapError::OverMailLimit(over)) => assert_eq!(Some(over.retry_after), retry_after),
                queued => assert!(queued.is_ok() && retry_after.is_none()),
            }
        }
    }
}
