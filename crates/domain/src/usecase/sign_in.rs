//! Sign-in by mail: asking for a link, using it, and ending sessions.

use async_trait::async_trait;

use crate::error::{Budget, OverBudget, Resource, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::email_address::EmailAddress;
use crate::model::id::{SessionId, SignInId};
use crate::model::message::{MessageContent, MessageId, NewMessage, Recipient};
use crate::model::portal::Language;
use crate::model::session::{BrowserName, NewSession, SecretDigest};
use crate::model::sign_in::{LocalPath, PageAction, SignIn, SignInCounts};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::act_on_page::{ActOnPage, PageActionDone};
use crate::usecase::executor::{Operation, OperationContext};

/// Most sign-ins of an address in 15 minutes, of an address in a day, and of a workspace in an hour.
const MAX_OF_ADDRESS_RECENTLY: u64 = 3;
const MAX_OF_ADDRESS_TODAY: u64 = 10;
const MAX_OF_WORKSPACE: u64 = 300;

/// Asks for a sign-in.
#[derive(Debug, Clone)]
pub struct StartSignIn {
    /// The address, whether anybody knows it or not.
    pub email: EmailAddress,
    /// The digest of the cookie of the browser that asks; `None` for a command.
    pub browser: Option<SecretDigest>,
    /// The browser that asks.
    pub browser_name: Option<BrowserName>,
    /// The action to do once the address is confirmed.
    pub action: Option<PageAction>,
    /// Where to go then.
    pub next: Option<LocalPath>,
    /// The language of the page.
    pub language: Language,
    /// Whether a mail is sent. Without one, no limits apply: a command shows the link to an operator.
    pub sends_mail: bool,
}

fn check_limits(counts: SignInCounts) -> Result<(), OverBudget> {
    let limits = [
        (counts.of_address_recently, MAX_OF_ADDRESS_RECENTLY),
        (counts.of_address_today, MAX_OF_ADDRESS_TODAY),
        (counts.of_workspace, MAX_OF_WORKSPACE),
    ];
    match limits.into_iter().find(|(count, limit)| count >= limit) {
        Some((_, limit)) => Err(OverBudget { budget: Budget::SignIns, limit }),
        None => Ok(()),
    }
}

#[async_trait]
impl Operation for StartSignIn {
    type Output = SignIn;

    async fn perform(&self, context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<SignIn, RoadmapError> {
        if self.sends_mail {
            check_limits(work.count_sign_ins(self.email.folded(), context.now).await?)?;
        }
        let sign_in = SignIn {
            id: context.new_id(SignInId::new),
            email: self.email.clone(),
            browser: self.browser,
            browser_name: self.browser_name.clone(),
            action: self.action.clone(),
            next: self.next.clone(),
            language: self.language,
            wrong_codes: 0,
            created_at: context.now,
            consumed_at: None,
        };
        work.insert_sign_in(&sign_in).await?;
        if self.sends_mail {
            let message = NewMessage {
                id: MessageId::sign_in(sign_in.id),
                content: MessageContent::SignIn(sign_in.id),
                recipient: Recipient::Address(self.email.clone()),
                created_at: context.now,
            };
            work.insert_message(&message).await?;
        }
        Ok(sign_in)
    }

    fn stored_bytes(&self) -> u64 {
        let action = self.action.as_ref().map(PageAction::to_json).unwrap_or_default();
        storage::row_bytes(&[self.email.as_str(), self.email.folded().as_str(), &action])
    }

    fn audit(&self, sign_in: &SignIn) -> Audit {
        // Whoever gets a link without a mail can sign in as somebody else.
        if self.sends_mail {
            Audit::OwnRecord(OwnRecord::Session)
        } else {
            Audit::entry("sign_in.link", "sign_in", Some(sign_in.id.uuid()))
        }
    }
}

/// Counts a typed code before it is compared, so that codes cannot be guessed. The output is whether it may be compared.
#[derive(Debug, Clone, Copy)]
pub struct CountCode {
    /// The sign-in.
    pub sign_in: SignInId,
}

#[async_trait]
impl Operation for CountCode {
    type Output = bool;

    async fn perform(&self, context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<bool, RoadmapError> {
        Ok(work.count_code(self.sign_in, context.now).await?)
    }

    fn audit(&self, _: &bool) -> Audit {
        Audit::OwnRecord(OwnRecord::Session)
    }
}

/// Uses a sign-in: creates a session, and does the action that was kept with it, in one unit of work.
pub struct RedeemSignIn {
    /// The sign-in.
    pub sign_in: SignInId,
    /// The confirmed address.
    pub email: EmailAddress,
    /// The digest of the new session's cookie.
    pub digest: SecretDigest,
    /// The browser that is signed in.
    pub browser_name: Option<BrowserName>,
    /// The action to do, unless only a session is wanted.
    pub action: Option<ActOnPage>,
}

/// A used sign-in.
#[derive(Debug)]
pub struct SignInRedeemed {
    /// The new session.
    pub session: SessionId,
    /// What the action has done, or why it could not be done. The person is signed in nevertheless.
    pub action: Option<Result<PageActionDone, RoadmapError>>,
}

#[async_trait]
impl Operation for RedeemSignIn {
    type Output = SignInRedeemed;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<SignInRedeemed, RoadmapError> {
        if !work.consume_sign_in(self.sign_in, context.now).await? {
            return Err(RoadmapError::NotFound(Resource::SignIn));
        }
        let session = NewSession {
            id: context.new_id(SessionId::new),
            digest: self.digest,
            email: self.email.clone(),
            browser: self.browser_name.clone(),
            created_at: context.now,
        };
        work.insert_session(&session).await?;
        let action = match &self.action {
            Some(action) => match action.perform(context, work).await {
                // Commands check these before they write.
                Err(error @ (RoadmapError::NotFound(_) | RoadmapError::Invalid(_) | RoadmapError::Conflict(_))) => {
                    Some(Err(error))
                }
                done => Some(Ok(done?)),
            },
            None => None,
        };
        Ok(SignInRedeemed { session: session.id, action })
    }

    fn stored_bytes(&self) -> u64 {
        let session = storage::row_bytes(&[self.email.as_str(), self.email.folded().as_str()]);
        session + self.action.as_ref().map_or(0, Operation::stored_bytes)
    }

    fn audit(&self, _: &SignInRedeemed) -> Audit {
        Audit::OwnRecord(OwnRecord::Session)
    }
}

/// Makes a link in a mail useless, because the owner of the address has not asked for it. Its action is never done.
#[derive(Debug, Clone, Copy)]
pub struct DiscardSignIn {
    /// The sign-in.
    pub sign_in: SignInId,
}

#[async_trait]
impl Operation for DiscardSignIn {
    type Output = ();

    async fn perform(&self, context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        if work.consume_sign_in(self.sign_in, context.now).await? {
            Ok(())
        } else {
            Err(RoadmapError::NotFound(Resource::SignIn))
        }
    }

    fn audit(&self, (): &()) -> Audit {
        Audit::OwnRecord(OwnRecord::Session)
    }
}

/// Ends one session of a person.
#[derive(Debug, Clone)]
pub struct EndSession {
    /// The session.
    pub session: SessionId,
    /// The address to which it belongs.
    pub email: EmailAddress,
}

/// Ends all sessions of a person, and makes links in mails useless that were not used yet.
#[derive(Debug, Clone)]
pub struct EndSessions {
    /// The address.
    pub email: EmailAddress,
}

#[async_trait]
impl Operation for EndSession {
    type Output = ();

    async fn perform(&self, _: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        // Whether it existed makes no difference: now it does not.
        work.end_session(self.session, self.email.folded()).await?;
        Ok(())
    }

    fn audit(&self, (): &()) -> Audit {
        Audit::OwnRecord(OwnRecord::Session)
    }
}

#[async_trait]
impl Operation for EndSessions {
    type Output = u64;

    async fn perform(&self, _: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<u64, RoadmapError> {
        Ok(work.end_sessions(self.email.folded()).await?)
    }

    fn audit(&self, _: &u64) -> Audit {
        Audit::OwnRecord(OwnRecord::Session)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::feature_request::FeatureRequestRef;
    use crate::model::id::FeatureRequestId;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::act_on_page::{PageActor, PageOutcome};
    use crate::usecase::fixtures::{NumberedIds, context, now, summary};
    use pollster::block_on;
    use uuid::Uuid;

    fn email() -> EmailAddress {
        EmailAddress::from_stored("ann@example.com".to_owned())
    }

    fn start(sends_mail: bool) -> StartSignIn {
        let (email, language) = (email(), Language::English);
        StartSignIn { email, browser: None, browser_name: None, action: None, next: None, language, sends_mail }
    }

    fn unit(counts: SignInCounts) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_count_sign_ins().returning(move |_, _| Ok(counts));
        unit
    }

    #[test]
    fn a_sign_in_is_stored_with_its_mail() {
        let mut unit = unit(SignInCounts { of_address_recently: 2, of_address_today: 9, of_workspace: 299 });
        unit.expect_insert_sign_in().times(1).returning(|_| Ok(()));
        unit.expect_insert_message()
            .withf(|message| {
                let id = SignInId::new(Uuid::from_u128(1));
                message.id == MessageId::sign_in(id)
                    && message.content == MessageContent::SignIn(id)
                    && message.recipient == Recipient::Address(email())
            })
            .times(1)
            .returning(|_| Ok(true));
        let started = block_on(start(true).perform(&context(&NumberedIds::default()), &mut unit)).unwrap();
        assert_eq!((started.created_at, started.consumed_at), (now(), None));
    }

    #[test]
    fn a_command_sends_no_mail_and_has_no_limits() {
        let mut unit = MockUnit::new();
        unit.expect_insert_sign_in().times(1).returning(|_| Ok(()));
        let started = block_on(start(false).perform(&context(&NumberedIds::default()), &mut unit)).unwrap();
        let entry = Audit::entry("sign_in.link", "sign_in", Some(started.id.uuid()));
        assert_eq!(
            (start(false).audit(&started), start(true).audit(&started)),
            (entry, Audit::OwnRecord(OwnRecord::Session))
        );
    }

    #[test]
    fn more_sign_ins_than_the_limits_are_refused() {
        for (counts, limit) in [
            (SignInCounts { of_address_recently: 3, ..SignInCounts::default() }, 3),
            (SignInCounts { of_address_today: 10, ..SignInCounts::default() }, 10),
            (SignInCounts { of_workspace: 300, ..SignInCounts::default() }, 300),
        ] {
            let mut unit = unit(counts);
            let error = block_on(start(true).perform(&context(&NumberedIds::default()), &mut unit)).unwrap_err();
            let expected = OverBudget { budget: Budget::SignIns, limit };
            assert!(matches!(error, RoadmapError::OverBudget(found) if found == expected), "{error}");
        }
    }

    fn redeem(unit: &mut MockUnit, action: Option<&PageAction>) -> Result<SignInRedeemed, RoadmapError> {
        let actor = PageActor { email: email(), is_member: false };
        let action = action.map(|action| ActOnPage::new(&actor, action, false));
        let (sign_in, digest) = (SignInId::new(Uuid::from_u128(9)), SecretDigest([7; 32]));
        let redeem = RedeemSignIn { sign_in, email: email(), digest, browser_name: None, action };
        block_on(redeem.perform(&context(&NumberedIds::default()), unit))
    }

    #[test]
    fn a_used_sign_in_creates_nothing() {
        let mut unit = MockUnit::new();
        unit.expect_consume_sign_in().returning(|_, _| Ok(false));
        let error = redeem(&mut unit, None).unwrap_err();
        assert!(matches!(error, RoadmapError::NotFound(Resource::SignIn)), "{error}");
    }

    #[test]
    fn a_discarded_sign_in_creates_no_session() {
        for is_open in [true, false] {
            let sign_in = SignInId::new(Uuid::from_u128(9));
            let mut unit = MockUnit::new();
            unit.expect_consume_sign_in()
                .withf(move |id, _| *id == sign_in)
                .times(1)
                .returning(move |_, _| Ok(is_open));
            let discarded = block_on(DiscardSignIn { sign_in }.perform(&context(&NumberedIds::default()), &mut unit));
            assert_eq!(discarded.is_ok(), is_open);
        }
    }

    #[test]
    fn the_kept_action_is_done_with_the_session_and_its_failure_does_not_prevent_it() {
        let vote = PageAction::Vote(FeatureRequestId::new(Uuid::from_u128(3)));
        for exists in [true, false] {
            let mut unit = MockUnit::new();
            unit.expect_consume_sign_in().times(1).returning(|_, _| Ok(true));
            unit.expect_insert_session()
                .withf(|session| session.digest == SecretDigest([7; 32]) && session.email == email())
                .times(1)
                .returning(|_| Ok(()));
            unit.expect_cast_vote()
                .withf(|vote| vote.request == FeatureRequestRef::Id(FeatureRequestId::new(Uuid::from_u128(3))))
                .times(1)
                .returning(move |_| {
                    let cast = crate::model::vote::VoteCast {
                        outcome: crate::model::vote::VoteOutcome::Registered,
                        request: summary("Planned", Some("Planned"), 4),
                    };
                    Ok(exists.then_some(cast))
                });
            let action = redeem(&mut unit, Some(&vote)).unwrap().action.unwrap();
            match action {
                Ok(done) => assert!(exists && done.outcome == PageOutcome::Voted),
                Err(error) => {
                    assert_eq!((exists, error.to_string().as_str()), (false, "FeatureRequest does not exist."))
                }
            }
        }
    }
}
