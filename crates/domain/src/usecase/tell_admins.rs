//! Tells the admins of a workspace what the service has done with it.

use crate::error::RoadmapError;
use crate::model::mail::WebhookDisabled;
use crate::model::member::{Member, Role};
use crate::model::message::{MessageContent, MessageId, NewMessage, Recipient};
use crate::policy::mail_limits::{MailBudgetWindow, check_daily_limit};
use crate::ports::UnitOfWork;
use crate::usecase::executor::OperationContext;

/// Queues one mail to each admin about a webhook that is disabled now. Without room in the workspace's mails of a day, the
/// other admins get none: the webhook stays disabled, and its page says so.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn tell_of_disabled_webhook(
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
    disabled: &WebhookDisabled,
) -> Result<(), RoadmapError> {
    for admin in admins(work).await? {
        if !has_room(context, work).await? {
            let (workspace, webhook) = (context.workspace, disabled.webhook);
            tracing::warn!(%workspace, %webhook, "the mails of the day are used up: not all admins are told");
            break;
        }
        let message = NewMessage {
            id: MessageId::webhook_disabled(disabled.webhook, context.now, admin.id),
            content: MessageContent::WebhookDisabled(disabled.clone()),
            recipient: Recipient::Address(admin.email),
            created_at: context.now,
            request_id: context.request_id.map(str::to_owned),
        };
        work.insert_message(&message).await?;
    }
    Ok(())
}

/// Returns the admins who were not removed.
async fn admins(work: &mut dyn UnitOfWork) -> Result<Vec<Member>, RoadmapError> {
    let members = work.load_members().await?;
    Ok(members.into_iter().filter(|member| member.role == Role::Admin).collect())
}

/// Counts a mail. Returns whether it fits into the workspace's mails of a day.
async fn has_room(context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<bool, RoadmapError> {
    let Some(limit) = context.mail_per_day else { return Ok(true) };
    let day = MailBudgetWindow::ending_at(context.now);
    Ok(check_daily_limit(work.count_team_mail(day).await?, limit).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::email_address::EmailAddress;
    use crate::model::id::{MemberId, WebhookId};
    use crate::model::timestamp::Timestamp;
    use crate::model::webhook::{Attempt, AttemptError, DisabledBecause, Failure, Webhook, WebhookFormat};
    use crate::ports::mocks::MockUnit;
    use crate::usecase::change_webhooks::DisableWebhook;
    use crate::usecase::executor::Operation;
    use crate::usecase::fixtures::{NumberedIds, context, name, now, perform, webhook};
    use pollster::block_on;
    use std::sync::{Arc, Mutex};
    use time::Duration;
    use uuid::Uuid;

    fn member(number: u128, role: Role) -> Member {
        Member {
            id: MemberId::new(Uuid::from_u128(number)),
            email: EmailAddress::from_stored(format!("m{number}@acme.example")),
            name: name("Ines"),
            role,
            created_at: now(),
        }
    }

    fn failing_since() -> Timestamp {
        now().plus(-Duration::days(5))
    }

    fn failing() -> Webhook {
        Webhook { failing_since: Some(failing_since()), failed_tries: 20, ..webhook(WebhookFormat::Standard) }
    }

    fn disable(because: DisabledBecause, response: Option<&str>) -> DisableWebhook {
        let last = Attempt {
            at: now(),
            status: response.map(|_| 500),
            error: Some(response.map_or(AttemptError::Timeout, |_| AttemptError::Status)),
            duration_ms: 7,
            response: response.map(str::to_owned),
        };
        DisableWebhook { webhook: failing().id, because, host: "hooks.example.com".to_owned(), last }
    }

    type Queued = Arc<Mutex<Vec<NewMessage>>>;

    /// A unit with this webhook, two admins and a member, that remembers the queued messages.
    fn unit(webhook: Webhook) -> (MockUnit, Queued) {
        let (mut unit, queued) = (MockUnit::new(), Queued::default());
        unit.expect_load_webhooks().returning(move || Ok(vec![webhook.clone()]));
        unit.expect_load_members()
            .returning(|| Ok(vec![member(1, Role::Admin), member(2, Role::Member), member(3, Role::Admin)]));
        unit.expect_save_webhook().returning(|_| Ok(()));
        unit.expect_fail_waiting().returning(|_, _| Ok(()));
        let queue = queued.clone();
        unit.expect_insert_message().returning(move |message| {
            queue.lock().unwrap().push(message.clone());
            Ok(true)
        });
        (unit, queued)
    }

    #[test]
    fn each_admin_is_told_of_a_webhook_that_the_service_disables() {
        let (mut work, queued) = unit(failing());
        let disabled = perform(&disable(DisabledBecause::Failing, Some("Oops")), &mut work).unwrap().output;
        assert!(disabled.is_some_and(|webhook| !webhook.enabled));
        let expected = [1, 3].map(|number| NewMessage {
            id: MessageId::webhook_disabled(failing().id, now(), member(number, Role::Admin).id),
            content: MessageContent::WebhookDisabled(WebhookDisabled {
                webhook: failing().id,
                host: "hooks.example.com".to_owned(),
                because: DisabledBecause::Failing,
                failing_since: Some(failing_since()),
                status: Some(500),
                error: Some(AttemptError::Status),
                response: Some("Oops".to_owned()),
            }),
            recipient: Recipient::Address(member(number, Role::Admin).email),
            created_at: now(),
            request_id: None,
        });
        assert_eq!(*queued.lock().unwrap(), expected);
    }

    #[test]
    fn only_the_beginning_of_a_response_is_told() {
        for (response, characters) in [(Some("ü".repeat(2_000)), Some(1_024)), (None, None)] {
            let (mut work, queued) = unit(failing());
            perform(&disable(DisabledBecause::Gone, response.as_deref()), &mut work).unwrap();
            for message in queued.lock().unwrap().iter() {
                let MessageContent::WebhookDisabled(told) = &message.content else { panic!("{message:?}") };
                assert_eq!(told.response.as_ref().map(|response| response.chars().count()), characters);
            }
        }
    }

    #[test]
    fn nobody_is_told_of_what_did_not_happen_or_was_done_by_somebody() {
        let disabled = Webhook { enabled: false, ..failing() };
        let working = Webhook { failing_since: None, failed_tries: 0, ..failing() };
        for (webhook, because) in [
            (disabled, DisabledBecause::Gone),
            (working, DisabledBecause::Failing),
            (failing(), DisabledBecause::Operator),
        ] {
            let (mut work, queued) = unit(webhook);
            perform(&disable(because, None), &mut work).unwrap();
            assert!(queued.lock().unwrap().is_empty(), "{because:?}");
        }
        let (mut work, queued) = unit(Webhook { id: WebhookId::new(Uuid::nil()), ..failing() });
        assert!(perform(&disable(DisabledBecause::Gone, None), &mut work).unwrap().output.is_none());
        assert!(queued.lock().unwrap().is_empty(), "it was deleted meanwhile");
    }

    #[test]
    fn a_webhook_is_disabled_also_when_the_mails_of_the_day_are_used_up() {
        let (mut work, queued) = unit(failing());
        let mut counted = 9;
        work.expect_count_team_mail().times(2).returning(move |day| {
            assert_eq!(day, MailBudgetWindow::ending_at(now()));
            counted += 1;
            Ok(counted)
        });
        let ids = NumberedIds::default();
        let mut context = context(&ids);
        context.mail_per_day = Some(10);
        let done = block_on(disable(DisabledBecause::Gone, None).perform(&context, &mut work)).unwrap();
        assert!(done.output.is_some());
        assert_eq!(queued.lock().unwrap().len(), 1);
    }

    #[test]
    fn what_waits_fails_by_the_reason() {
        for (because, failure) in
            [(DisabledBecause::Gone, Failure::Gone), (DisabledBecause::Failing, Failure::Disabled)]
        {
            let mut work = MockUnit::new();
            work.expect_load_webhooks().returning(|| Ok(vec![failing()]));
            work.expect_load_members().returning(|| Ok(Vec::new()));
            work.expect_save_webhook()
                .times(1)
                .withf(move |webhook| webhook.disabled_because == Some(because))
                .returning(|_| Ok(()));
            work.expect_fail_waiting().times(1).withf(move |_, failed| *failed == failure).returning(|_, _| Ok(()));
            perform(&disable(because, None), &mut work).unwrap();
        }
    }
}
