//! Tells team members what customers have written: queues their mails when they are due.
//!
//! Nothing is recorded when customers write. A mail is about a period, and what was written in it is read when it is sent.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{ErrorChain, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::message::{MessageContent, NewMessage, Recipient};
use crate::model::team_mail::{MemberToTell, TeamDigestId, TeamMail};
use crate::policy::mail_limits::{MailBudgetWindow, check_daily_limit};
use crate::ports::{Clock, MailReader, OutboxQueue, UnitOfWork};
use crate::usecase::executor::{Executor, Operation, OperationContext, Performed};

/// Records that a member is told about a period, and queues the mail if there is anything to tell.
#[derive(Debug, Clone, Copy)]
struct TellMember {
    id: TeamDigestId,
    has_news: bool,
}

#[async_trait]
impl Operation for TellMember {
    /// Whether a mail was queued.
    type Output = bool;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        let TeamDigestId { member, after, until } = self.id;
        // Another process may have told the member meanwhile.
        let Some(address) = work.tell_until(member, after, until).await? else {
            return Ok(Performed::new(false, Audit::Unchanged));
        };
        if self.has_news {
            if let Some(limit) = context.mail_per_day {
                let day = MailBudgetWindow::ending_at(context.now);
                check_daily_limit(work.count_team_mail(day).await?, limit)?;
            }
            let message = NewMessage {
                id: self.id.into(),
                content: MessageContent::TeamDigest(self.id),
                recipient: Recipient::Address(address),
                created_at: context.now,
                request_id: None,
            };
            work.insert_message(&message).await?;
        }
        Ok(Performed::new(self.has_news, Audit::OwnRecord(OwnRecord::MailSettings)))
    }
}

/// Queues the mails to team members of all workspaces. Several processes may do so at once.
#[derive(Clone)]
pub struct TellTeam {
    executor: Executor,
    queue: Arc<dyn OutboxQueue>,
    reader: Arc<dyn MailReader>,
    clock: Arc<dyn Clock>,
}

impl TellTeam {
    /// Creates the use case.
    #[must_use]
    pub fn new(
        executor: Executor,
        queue: Arc<dyn OutboxQueue>,
        reader: Arc<dyn MailReader>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { executor, queue, reader, clock }
    }

    /// Queues the mails that are due. Returns their number. An error of one member is logged and does not delay others;
    /// without room in the workspace's mails of a day, the member is told later.
    ///
    /// # Errors
    /// The members cannot be read.
    pub async fn run(&self) -> Result<u64, RoadmapError> {
        let now = self.clock.now();
        let mut queued = 0;
        for member in self.queue.members_to_tell().await? {
            if !member.is_due(now) {
                continue;
            }
            match self.tell(&member).await {
                Ok(is_queued) => queued += u64::from(is_queued),
                Err(error @ RoadmapError::OverBudget(_)) => {
                    tracing::debug!(workspace = %member.workspace, %error, "a member is told later");
                }
                Err(error) => {
                    let (workspace, error) = (member.workspace, ErrorChain::new(&error));
                    tracing::warn!(%workspace, member = %member.member, %error, "failed to queue the mail to a member");
                }
            }
        }
        Ok(queued)
    }

    async fn tell(&self, to: &MemberToTell) -> Result<bool, RoadmapError> {
        let until = self.clock.now().plus(-TeamMail::DELAY);
        let id = TeamDigestId { member: to.member, after: to.told_until, until };
        let content = self.reader.team_digest(to.workspace, &id, 1, 0).await?;
        let has_news = content.is_some_and(|content| !content.is_empty());
        // Whoever wants each post at once stays due, so that waiting for one writes nothing.
        if !has_news && to.wanted != TeamMail::Daily {
            return Ok(false);
        }
        self.executor.run_without_key(to.workspace, &TellMember { id, has_news }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Budget, OverBudget};
    use crate::model::email_address::EmailAddress;
    use crate::model::id::MemberId;
    use crate::model::team_mail::TeamDigestContent;
    use crate::model::time_zone::TimeZone;
    use crate::ports::mocks::{MockMailReader, MockOutboxQueue, MockUnit};
    use crate::usecase::fixtures::{FixedClock, NumberedIds, context, executor, now, workspace};
    use pollster::block_on;
    use time::Duration;
    use uuid::Uuid;

    fn member() -> MemberId {
        MemberId::new(Uuid::from_u128(1))
    }

    fn address() -> EmailAddress {
        EmailAddress::from_stored("ines@team.example".to_owned())
    }

    fn digest() -> TeamDigestId {
        TeamDigestId { member: member(), after: now().plus(-Duration::DAY), until: now().plus(-Duration::MINUTE) }
    }

    #[test]
    fn a_member_with_news_gets_one_mail_within_the_budget() {
        for (limit, counted, fits) in [(None, None, true), (Some(10), Some(10), true), (Some(10), Some(11), false)] {
            let mut unit = MockUnit::new();
            unit.expect_tell_until()
                .withf(|of, after, until| (*of, *after, *until) == (member(), digest().after, digest().until))
                .times(1)
                .returning(|_, _, _| Ok(Some(address())));
            if let Some(counted) = counted {
                unit.expect_count_team_mail()
                    .withf(|day| *day == MailBudgetWindow::ending_at(now()))
                    .times(1)
                    .returning(move |_| Ok(counted));
            }
            unit.expect_insert_message()
                .withf(|message| {
                    message.id == digest().into()
                        && message.content == MessageContent::TeamDigest(digest())
                        && message.recipient == Recipient::Address(address())
                })
                .times(usize::from(fits))
                .returning(|_| Ok(true));
            let ids = NumberedIds::default();
            let mut context = context(&ids);
            context.mail_per_day = limit;
            match block_on(TellMember { id: digest(), has_news: true }.perform(&context, &mut unit)) {
                Ok(done) => assert!(fits && done.output),
                Err(error) => {
                    let over = OverBudget { budget: Budget::MailsPerDay, limit: 10 };
                    assert!(!fits && matches!(error, RoadmapError::OverBudget(found) if found == over));
                }
            }
        }
    }

    #[test]
    fn a_member_without_news_or_told_meanwhile_gets_no_mail() {
        for (has_news, told) in [(false, Some(address())), (true, None)] {
            let mut unit = MockUnit::new();
            unit.expect_tell_until().times(1).return_once(move |_, _, _| Ok(told));
            let ids = NumberedIds::default();
            let done = block_on(TellMember { id: digest(), has_news }.perform(&context(&ids), &mut unit)).unwrap();
            assert!(!done.output);
        }
    }

    /// Runs the job for a member whose period has this many new feature requests. Returns the number of queued mails, and
    /// the units of work that ran.
    fn run(wanted: TeamMail, told_until: i64, requests_count: u64) -> u64 {
        let told_until = now().plus(-Duration::minutes(told_until));
        let mut queue = MockOutboxQueue::new();
        queue.expect_members_to_tell().returning(move || {
            let zone = TimeZone::UTC;
            Ok(vec![MemberToTell { workspace: workspace(), zone, member: member(), wanted, told_until }])
        });
        let mut reader = MockMailReader::new();
        reader.expect_team_digest().returning(move |_, id, _, _| {
            assert_eq!((id.after, id.until), (told_until, now().plus(-TeamMail::DELAY)));
            Ok(Some(TeamDigestContent {
                to: address(),
                language: None,
                requests: Vec::new(),
                requests_count,
                replies: Vec::new(),
                replies_count: 0,
            }))
        });
        let is_told = requests_count > 0 || wanted == TeamMail::Daily;
        let unit = is_told.then(|| {
            let mut unit = MockUnit::new();
            unit.expect_tell_until().times(1).returning(|_, _, _| Ok(Some(address())));
            unit.expect_insert_message().returning(|_| Ok(true));
            unit
        });
        let executor = executor(unit);
        let tell = TellTeam::new(executor, Arc::new(queue), Arc::new(reader), Arc::new(FixedClock));
        block_on(tell.run()).unwrap()
    }

    #[test]
    fn only_daily_mail_moves_on_without_news() {
        assert_eq!(run(TeamMail::Each, 6, 1), 1);
        assert_eq!(run(TeamMail::Each, 6, 0), 0);
        assert_eq!(run(TeamMail::Daily, 2_000, 3), 1);
        assert_eq!(run(TeamMail::Daily, 2_000, 0), 0);
    }
}
