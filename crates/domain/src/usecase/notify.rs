//! Adds the notifications of a topic to the outbox, within the workspace's budget of mails.

use crate::error::RoadmapError;
use crate::model::id::CustomerId;
use crate::model::mail::Topic;
use crate::model::message::{Audience, MessageContent, MessageId, NewMessage, Recipient};
use crate::model::timestamp::Timestamp;
use crate::policy::mail_limits::{MailBudgetWindow, check_daily_limit};
use crate::ports::UnitOfWork;
use crate::usecase::executor::OperationContext;
use uuid::Uuid;

/// Maximum number of mails that are added to the outbox in the unit of work itself.
///
/// With more subscribers, a worker adds all mails later, so that an operation takes no longer on a popular feature
/// request.
pub(crate) const MAX_IMMEDIATE_MAILS: u32 = 20;

/// Notifies the subscribed customers of a topic.
///
/// # Errors
/// [`RoadmapError::OverBudget`] when the workspace may not send as many mails today, or errors of the store.
pub(crate) async fn notify_subscribers(
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
    topic: Topic,
) -> Result<(), RoadmapError> {
    let now = context.now;
    check_budget(context, work, topic).await?;
    work.enqueue_notifications(topic, now, MAX_IMMEDIATE_MAILS, context.request_id.map(str::to_owned)).await?;
    Ok(())
}

/// Notifies those who are subscribed to a topic at a later time.
///
/// # Errors
/// [`RoadmapError::OverBudget`] when the workspace may not send as many mails today to those who are subscribed now, or
/// errors of the store.
pub(crate) async fn notify_subscribers_later(
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
    topic: Topic,
    at: Timestamp,
) -> Result<(), RoadmapError> {
    check_budget(context, work, topic).await?;
    let audience = Audience { topic, after: CustomerId::new(Uuid::nil()) };
    let message = NewMessage {
        id: MessageId::audience(topic),
        content: MessageContent::Audience(audience),
        recipient: Recipient::None,
        created_at: at,
        request_id: context.request_id.map(str::to_owned),
    };
    work.insert_message(&message).await?;
    Ok(())
}

async fn check_budget(
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
    topic: Topic,
) -> Result<(), RoadmapError> {
    if let Some(limit) = context.mail_per_day {
        let day = MailBudgetWindow::ending_at(context.now);
        check_daily_limit(work.count_mails(topic, context.now, day, limit).await?, limit)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Budget, OverBudget};
    use crate::model::id::ChangelogId;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, now};
    use pollster::block_on;

    #[test]
    fn mails_over_the_daily_limit_are_rejected_as_a_whole() {
        let topic = Topic::Changelog(ChangelogId::new(Uuid::from_u128(1)));
        for (made, fits) in [(100, true), (101, false)] {
            let mut unit = MockUnit::new();
            unit.expect_count_mails()
                .withf(move |about, at, day, limit| {
                    (*about, *at, *limit) == (topic, now(), 100) && *day == MailBudgetWindow::ending_at(now())
                })
                .times(1)
                .returning(move |_, _, _, _| Ok(made));
            unit.expect_enqueue_notifications()
                .withf(move |about, at, at_once, request_id| {
                    (*about, *at, *at_once) == (topic, now(), MAX_IMMEDIATE_MAILS)
                        && request_id.as_deref() == Some("r-1")
                })
                .times(usize::from(fits))
                .returning(|_, _, _, _| Ok(()));
            let over = OverBudget { budget: Budget::MailsPerDay, limit: 100 };
            let ids = NumberedIds::default();
            let mut context = context(&ids);
            context.mail_per_day = Some(100);
            context.request_id = Some("r-1");
            match block_on(notify_subscribers(&context, &mut unit, topic)) {
                Ok(()) => assert!(fits),
                Err(error) => assert!(!fits && matches!(error, RoadmapError::OverBudget(found) if found == over)),
            }
        }
    }

    #[test]
    fn mails_without_a_limit_are_not_counted() {
        let mut unit = MockUnit::new();
        unit.expect_enqueue_notifications().times(1).returning(|_, _, _, _| Ok(()));
        let topic = Topic::Changelog(ChangelogId::new(Uuid::from_u128(1)));
        block_on(notify_subscribers(&context(&NumberedIds::default()), &mut unit, topic)).unwrap();
    }
}
