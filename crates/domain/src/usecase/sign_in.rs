//! Sign-in by mail: asking for a link, using it, and ending sessions.

use async_trait::async_trait;
use time::Duration;

use crate::error::{MailBudget, OverMailLimit, Resource, RoadmapError, Validated};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::email_address::EmailAddress;
use crate::model::id::{SessionId, SignInId};
use crate::model::message::{MessageContent, MessageId, NewMessage, Recipient};
use crate::model::portal::Language;
use crate::model::session::{BrowserName, NewSession, SecretDigest, Session};
use crate::model::sign_in::{Consumption, LocalPath, PageAction, SignIn, SignInRequester};
use crate::model::timestamp::Timestamp;
use crate::policy::mail_requests::{self, COUNTED_FOR, CounterKey, MailCounter, MailLimit};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::act_on_page::{ActOnPage, PageActionDone};
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Sign-ins and sessions are records of themselves, which their owners see.
const RECORD: Audit = Audit::OwnRecord(OwnRecord::Session);

/// Prepares a sign-in whose link a command shows to an operator. It sends no mail and has no limits.
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
}

impl StartSignIn {
    fn sign_in(&self, context: &OperationContext<'_>) -> SignIn {
        SignIn {
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
        }
    }
}

#[async_trait]
impl Operation for StartSignIn {
    type Output = SignIn;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<SignIn>, RoadmapError> {
        let sign_in = self.sign_in(context);
        work.insert_sign_in(&sign_in, true, SignIn::useless_before(context.now)).await?;
        // Whoever gets a link without a mail can sign in as somebody else.
        let audit = Audit::entry("sign_in.link", "sign_in", Some(sign_in.id.uuid()));
        Ok(Performed::new(sign_in, audit))
    }
}

/// Asks for the mail of a sign-in. Who asks and who is asked for decide who pays for it
/// ([`crate::policy::mail_requests`]).
///
/// Nothing that a visitor can see depends on whether the address is known: the same limits lead to the same errors, and a
/// sign-in without a mail looks like any other. It uses no storage of the workspace, because anybody can ask for one.
#[derive(Debug, Clone)]
pub struct AskForSignIn {
    pub start: StartSignIn,
    /// Who asks.
    pub requester: SignInRequester,
}

/// A sign-in that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInAsked {
    pub sign_in: SignIn,
    /// If the workspace has used up its sign-in mails: the seconds until it sends all of them again. Then some sign-ins
    /// have no mail, and it is not said which.
    pub used_up_for: Option<u64>,
}

/// Returns the longest wait for one of the limits of a counter.
pub(crate) async fn wait_for(
    work: &mut dyn UnitOfWork,
    counter: CounterKey,
    limits: &[MailLimit],
    now: Timestamp,
) -> Result<Option<Duration>, RoadmapError> {
    let mut longest = None;
    for limit in limits {
        let nth = work.nth_counted_mail(counter, limit.mails).await?;
        longest = longest.max(limit.wait(nth, now));
    }
    Ok(longest)
}

/// Fails if one of the limits of a counter is used up.
pub(crate) async fn check_limits(
    work: &mut dyn UnitOfWork,
    counter: CounterKey,
    limits: &[MailLimit],
    budget: MailBudget,
    now: Timestamp,
) -> Result<(), RoadmapError> {
    match wait_for(work, counter, limits, now).await? {
        Some(wait) => Err(OverMailLimit { budget, retry_after: whole_seconds(wait) }.into()),
        None => Ok(()),
    }
}

/// Returns a positive time in seconds, rounded up.
fn whole_seconds(wait: Duration) -> u64 {
    let seconds = wait.whole_seconds() + i64::from(wait.subsec_nanoseconds() > 0);
    u64::try_from(seconds).unwrap_or(0).max(1)
}

/// What decides about the mail of a sign-in.
struct Decision {
    /// Whether it is sent.
    sends: bool,
    /// What counts it.
    counters: Vec<CounterKey>,
    /// How long the workspace has used up its mails.
    used_up_for: Option<Duration>,
}

impl AskForSignIn {
    /// Decides about a sign-in that anybody may have asked for.
    async fn decide_for_visitor(
        &self,
        is_admitted: bool,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Decision, RoadmapError> {
        let (workspace, now) = (context.workspace, context.now);
        // These do not depend on what is known about the address, and come first: their errors are the same for all.
        let person = MailCounter::Person(&self.start.email).key();
        check_limits(work, person, &mail_requests::PERSON, MailBudget::SignIns, now).await?;
        let mut counters = vec![person];
        if self.start.action.as_ref().is_some_and(PageAction::is_post) {
            let pending_posts = MailCounter::KeptPosts(workspace).key();
            check_limits(work, pending_posts, &mail_requests::KEPT_POSTS, MailBudget::KeptPosts, now).await?;
            counters.push(pending_posts);
        }
        // The same statements for everybody.
        let known = work.find_known_address(self.start.email.folded()).await?;
        let (strangers, customers) = (MailCounter::Strangers(workspace).key(), MailCounter::Customers(workspace).key());
        let wait_of_strangers = wait_for(work, strangers, &mail_requests::STRANGERS, now).await?;
        let wait_of_customers = wait_for(work, customers, &mail_requests::CUSTOMERS, now).await?;
        let (payer, wait) = match (known.is_member, known.is_confirmed) {
            (true, _) => (None, None),
            (false, true) => (Some(customers), wait_of_customers),
            (false, false) => (Some(strangers), wait_of_strangers),
        };
        let sends = wait.is_none() && !known.is_blocked() && (is_admitted || known.is_member);
        counters.extend(payer.filter(|_| sends));
        Ok(Decision { sends, counters, used_up_for: wait_of_strangers.max(wait_of_customers) })
    }

    async fn decide(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Decision, RoadmapError> {
        let (now, budget) = (context.now, MailBudget::SignIns);
        match self.requester {
            SignInRequester::Visitor { is_admitted } => self.decide_for_visitor(is_admitted, context, work).await,
            SignInRequester::KnownBrowser { id, is_admitted } => {
                let browser = MailCounter::KnownBrowser(id).key();
                check_limits(work, browser, &mail_requests::KNOWN_BROWSER, budget, now).await?;
                let known = work.find_known_address(self.start.email.folded()).await?;
                let sends = !known.is_blocked() && (is_admitted || known.is_member);
                Ok(Decision { sends, counters: vec![browser], used_up_for: None })
            }
            SignInRequester::Member => {
                let person = MailCounter::InvitedPerson(&self.start.email).key();
                check_limits(work, person, &mail_requests::INVITED_PERSON, budget, now).await?;
                let workspace = MailCounter::Invitations(context.workspace).key();
                check_limits(work, workspace, &mail_requests::INVITATIONS, budget, now).await?;
                Ok(Decision { sends: true, counters: vec![person, workspace], used_up_for: None })
            }
        }
    }
}

#[async_trait]
impl Operation for AskForSignIn {
    type Output = SignInAsked;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<SignInAsked>, RoadmapError> {
        let Decision { sends, mut counters, used_up_for } = self.decide(context, work).await?;
        let sign_in = self.start.sign_in(context);
        work.insert_sign_in(&sign_in, sends, SignIn::useless_before(context.now)).await?;
        if !sends {
            work.purge_sign_ins_without_mail(SignIn::MAX_WITHOUT_MAIL).await?;
        }
        if used_up_for.is_some() {
            // The team sees the newest one. One a minute is enough.
            let used_up = MailCounter::UsedUp(context.workspace).key();
            let last = work.nth_counted_mail(used_up, 1).await?;
            if last.is_none_or(|last| last.plus(Duration::MINUTE) <= context.now) {
                counters.push(used_up);
            }
        }
        work.count_mail(sign_in.id.uuid(), &counters, context.now, context.now.plus(-COUNTED_FOR)).await?;
        if sends {
            let message = NewMessage {
                id: MessageId::sign_in(sign_in.id),
                content: MessageContent::SignIn(sign_in.id),
                recipient: Recipient::Address(self.start.email.clone()),
                created_at: context.now,
                request_id: context.request_id.map(str::to_owned),
            };
            work.insert_message(&message).await?;
        }
        Ok(Performed::new(SignInAsked { sign_in, used_up_for: used_up_for.map(whole_seconds) }, RECORD))
    }
}

/// Counts a typed code before it is compared, so that codes cannot be guessed. The output is whether it may be compared.
#[derive(Debug, Clone, Copy)]
pub struct CountCode {
    pub sign_in: SignInId,
}

#[async_trait]
impl Operation for CountCode {
    type Output = bool;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        let asked_since = SignIn::asked_since(context.now);
        let is_accepted = work.count_code(self.sign_in, asked_since, SignIn::MAX_WRONG_CODES).await?;
        Ok(Performed::new(is_accepted, RECORD))
    }
}

/// Uses a sign-in: creates a session, and does the action that was kept with it, in one unit of work.
pub struct RedeemSignIn {
    pub sign_in: SignInId,
    /// The confirmed address.
    pub email: EmailAddress,
    /// The digest of the new session's cookie.
    pub digest: SecretDigest,
    /// The browser that is signed in.
    pub browser_name: Option<BrowserName>,
    /// The language of the page.
    pub language: Language,
    /// The action to do, or its invalid text, unless only a session is wanted.
    pub action: Option<Validated<ActOnPage>>,
}

/// A used sign-in.
#[derive(Debug)]
pub struct SignInRedeemed {
    /// The new session.
    pub session: SessionId,
    /// What the action has done, or why it could not be done. The person is signed in nevertheless.
    pub action: Option<Result<PageActionDone, RoadmapError>>,
}

/// Marks a sign-in as used. Returns whether it was open.
async fn consume(
    sign_in: SignInId,
    how: Consumption,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<bool, RoadmapError> {
    Ok(work.consume_sign_in(sign_in, how, SignIn::asked_since(context.now), context.now).await?)
}

#[async_trait]
impl Operation for RedeemSignIn {
    type Output = SignInRedeemed;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<SignInRedeemed>, RoadmapError> {
        let known = work.find_known_address(self.email.folded()).await?;
        if known.is_blocked() || !consume(self.sign_in, Consumption::Redeemed, context, work).await? {
            return Err(RoadmapError::NotFound(Resource::SignIn));
        }
        let session = NewSession {
            id: context.new_id(SessionId::new),
            digest: self.digest,
            email: self.email.clone(),
            browser: self.browser_name.clone(),
            created_at: context.now,
        };
        work.insert_session(&session, Session::ended_before(context.now)).await?;
        let bytes = storage::row_bytes(&[self.email.as_str(), self.email.folded().as_str()]);
        let redeemed = SignInRedeemed { session: session.id, action: None };
        let mut redeemed = Performed::new(redeemed, RECORD).storing(bytes);
        work.save_last_language(self.email.folded(), self.language).await?;
        if let Some(action) = &self.action {
            let done = match action {
                Ok(action) => action.perform(context, work).await,
                Err(invalid) => Err(invalid.clone().into()),
            };
            redeemed.output.action = Some(match done {
                // Commands check these before they write.
                Err(error @ (RoadmapError::NotFound(_) | RoadmapError::Invalid(_) | RoadmapError::Conflict(_))) => {
                    Err(error)
                }
                done => Ok(redeemed.join(done?)),
            });
        }
        Ok(redeemed)
    }
}

/// Makes a link in a mail useless, because the owner of the address has not asked for it. Its action is never done.
#[derive(Debug, Clone, Copy)]
pub struct DiscardSignIn {
    pub sign_in: SignInId,
}

#[async_trait]
impl Operation for DiscardSignIn {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        if consume(self.sign_in, Consumption::Denied, context, work).await? {
            Ok(Performed::new((), RECORD))
        } else {
            Err(RoadmapError::NotFound(Resource::SignIn))
        }
    }
}

/// Ends one session of a person.
#[derive(Debug, Clone)]
pub struct EndSession {
    pub session: SessionId,
    /// The address to which it belongs.
    pub email: EmailAddress,
}

/// Ends all sessions of a person, and makes links in mails useless that were not used yet.
#[derive(Debug, Clone)]
pub struct EndSessions {
    pub email: EmailAddress,
}

#[async_trait]
impl Operation for EndSession {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        // Whether it existed makes no difference: now it does not.
        work.end_session(self.session, self.email.folded()).await?;
        Ok(Performed::new((), RECORD))
    }
}

#[async_trait]
impl Operation for EndSessions {
    type Output = u64;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<u64>, RoadmapError> {
        Ok(Performed::new(work.end_sessions(self.email.folded()).await?, RECORD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::feature_request::FeatureRequestRef;
    use crate::model::id::FeatureRequestId;
    use crate::model::sign_in::KnownAddress;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::act_on_page::{PageActor, PageOutcome};
    use crate::usecase::fixtures::{NumberedIds, context, now, perform, summary, workspace};
    use pollster::block_on;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, Mutex};
    use uuid::Uuid;

    fn email() -> EmailAddress {
        EmailAddress::from_stored("ann@example.com".to_owned())
    }

    fn start() -> StartSignIn {
        StartSignIn {
            email: email(),
            browser: None,
            browser_name: None,
            action: None,
            next: None,
            language: Language::English,
        }
    }

    fn comment() -> PageAction {
        let request = FeatureRequestId::new(Uuid::from_u128(3));
        PageAction::Comment { request, content: "Yes".to_owned() }
    }

    const VISITOR: SignInRequester = SignInRequester::Visitor { is_admitted: true };
    const CLOSED: SignInRequester = SignInRequester::Visitor { is_admitted: false };

    /// What a unit of work knows.
    #[derive(Clone, Default)]
    struct Known {
        address: KnownAddress,
        /// The counters whose smallest limit is used up: the mail that fills it was asked for one second ago.
        full: Vec<CounterKey>,
    }

    /// Asks for a sign-in. Returns whether it is sent, what counts it, and for how long the workspace has no mails.
    fn ask(
        requester: SignInRequester,
        action: Option<PageAction>,
        known: &Known,
    ) -> Result<(bool, Vec<CounterKey>, Option<u64>), OverMailLimit> {
        let mut unit = MockUnit::new();
        let full = known.full.clone();
        unit.expect_nth_counted_mail()
            .returning(move |counter, _| Ok(full.contains(&counter).then(|| now().plus(-Duration::SECOND))));
        let address = known.address;
        unit.expect_find_known_address().withf(|of| of.as_str() == "ann@example.com").returning(move |_| Ok(address));
        let (has_mail, is_queued) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let counted = Arc::new(Mutex::new(Vec::new()));
        let (stored, queued, counts) = (Arc::clone(&has_mail), Arc::clone(&is_queued), Arc::clone(&counted));
        unit.expect_insert_sign_in().returning(move |_, has_mail, purge_before| {
            assert_eq!(purge_before, now().plus(-Duration::DAY));
            stored.store(has_mail, Ordering::SeqCst);
            Ok(())
        });
        unit.expect_purge_sign_ins_without_mail().withf(|limit| *limit == 2_000).returning(|_| Ok(()));
        unit.expect_count_mail().returning(move |mail, counters, at, purge_before| {
            assert_eq!((mail, at, purge_before), (Uuid::from_u128(1), now(), now().plus(-Duration::DAY)));
            counts.lock().unwrap().extend_from_slice(counters);
            Ok(())
        });
        unit.expect_insert_message().returning(move |message| {
            let id = SignInId::new(Uuid::from_u128(1));
            let expected = (MessageId::sign_in(id), MessageContent::SignIn(id), Recipient::Address(email()));
            assert_eq!((message.id.clone(), message.content.clone(), message.recipient.clone()), expected);
            queued.store(true, Ordering::SeqCst);
            Ok(true)
        });
        let operation = AskForSignIn { start: StartSignIn { action, ..start() }, requester };
        let outcome = perform(&operation, &mut unit);
        drop(unit);
        match outcome {
            Ok(outcome) => {
                assert_eq!((&outcome.audit, outcome.stored_bytes), (&Audit::OwnRecord(OwnRecord::Session), 0));
                let outcome = outcome.output;
                let counted = counted.lock().unwrap().clone();
                let sends = is_queued.load(Ordering::SeqCst);
                assert_eq!((has_mail.load(Ordering::SeqCst), outcome.sign_in.created_at), (sends, now()));
                Ok((sends, counted, outcome.used_up_for))
            }
            Err(RoadmapError::OverMailLimit(over)) => Err(over),
            Err(error) => panic!("{error}"),
        }
    }

    fn address(is_member: bool, is_confirmed: bool) -> KnownAddress {
        KnownAddress { is_member, is_confirmed, is_blocked_customer: false }
    }

    fn is_sent(counted: &[CounterKey]) -> bool {
        let payers = [MailCounter::Strangers(workspace()), MailCounter::Customers(workspace())];
        payers.iter().any(|payer| counted.contains(&payer.key()))
    }

    #[test]
    fn a_command_sends_no_mail_and_has_no_limits() {
        let mut unit = MockUnit::new();
        unit.expect_insert_sign_in().times(1).returning(|_, _, _| Ok(()));
        let Performed { output: started, audit, .. } = perform(&start(), &mut unit).unwrap();
        assert_eq!((started.created_at, started.consumed_at), (now(), None));
        assert_eq!(audit, Audit::entry("sign_in.link", "sign_in", Some(started.id.uuid())));
    }

    #[test]
    fn who_asks_and_who_is_asked_for_decide_who_pays() {
        let email = email();
        let browser = Uuid::from_u128(9);
        let person = MailCounter::Person(&email).key();
        let [strangers, customers, pending_posts] =
            [MailCounter::Strangers, MailCounter::Customers, MailCounter::KeptPosts]
                .map(|counter| counter(workspace()).key());
        let (invited, invitations) =
            (MailCounter::InvitedPerson(&email).key(), MailCounter::Invitations(workspace()).key());
        let of_browser = MailCounter::KnownBrowser(browser).key();
        let known = |is_member, is_confirmed| Known { address: address(is_member, is_confirmed), ..Known::default() };
        for (requester, action, known, expected) in [
            (VISITOR, None, known(false, false), vec![person, strangers]),
            (VISITOR, None, known(false, true), vec![person, customers]),
            (VISITOR, None, known(true, true), vec![person]),
            (VISITOR, Some(comment()), known(false, false), vec![person, pending_posts, strangers]),
            (
                VISITOR,
                Some(PageAction::Vote(FeatureRequestId::new(browser))),
                known(false, false),
                vec![person, strangers],
            ),
            (
                SignInRequester::KnownBrowser { id: browser, is_admitted: true },
                Some(comment()),
                known(false, true),
                vec![of_browser],
            ),
            (SignInRequester::Member, None, known(true, false), vec![invited, invitations]),
        ] {
            let (sends, counted, used_up_for) = ask(requester, action, &known).unwrap();
            assert_eq!((sends, counted, used_up_for), (true, expected, None), "{requester:?}");
        }
    }

    #[test]
    fn a_limit_that_is_used_up_says_how_long() {
        let email = email();
        let browser = Uuid::from_u128(9);
        for (counter, requester, budget, retry_after) in [
            (MailCounter::Person(&email), VISITOR, MailBudget::SignIns, 3_599),
            (MailCounter::KeptPosts(workspace()), VISITOR, MailBudget::KeptPosts, 86_399),
            (
                MailCounter::KnownBrowser(browser),
                SignInRequester::KnownBrowser { id: browser, is_admitted: true },
                MailBudget::SignIns,
                899,
            ),
            (MailCounter::InvitedPerson(&email), SignInRequester::Member, MailBudget::SignIns, 3_599),
            (MailCounter::Invitations(workspace()), SignInRequester::Member, MailBudget::SignIns, 3_599),
        ] {
            let known = |is_member, is_confirmed| Known {
                address: address(is_member, is_confirmed),
                full: vec![counter.key()],
            };
            // The same, whether the address is known or not.
            for known in [known(false, false), known(false, true), known(true, false)] {
                let over = ask(requester, Some(comment()), &known).unwrap_err();
                assert_eq!(over, OverMailLimit { budget, retry_after }, "{counter:?}");
            }
        }
    }

    #[test]
    fn strangers_use_up_only_the_mails_of_strangers_and_nobody_sees_which() {
        let [strangers, customers, used_up] = [MailCounter::Strangers, MailCounter::Customers, MailCounter::UsedUp]
            .map(|counter| counter(workspace()).key());
        for (full, is_member, is_confirmed, sends) in [
            (strangers, false, false, false),
            (strangers, false, true, true),
            (strangers, true, false, true),
            (customers, false, false, true),
            (customers, false, true, false),
            (customers, true, true, true),
        ] {
            let known = Known { address: address(is_member, is_confirmed), full: vec![full] };
            let (is_queued, counted, used_up_for) = ask(VISITOR, None, &known).unwrap();
            assert_eq!((is_queued, used_up_for), (sends, Some(3_599)), "{:?}", known.address);
            assert_eq!(is_sent(&counted), sends && !is_member);
            assert!(counted.contains(&used_up) && counted.contains(&MailCounter::Person(&email()).key()));
        }
        // The other askers do not depend on them, and the team sees it once a minute.
        let all = Known { full: vec![strangers, customers, used_up], ..Known::default() };
        let known_browser = SignInRequester::KnownBrowser { id: Uuid::from_u128(9), is_admitted: true };
        for requester in [known_browser, SignInRequester::Member] {
            assert_eq!(ask(requester, Some(comment()), &all).unwrap().2, None);
        }
        assert!(!ask(VISITOR, None, &all).unwrap().1.contains(&used_up));
    }

    #[test]
    fn a_closed_portal_mails_nobody_who_could_not_enter() {
        let closed_browser = SignInRequester::KnownBrowser { id: Uuid::from_u128(9), is_admitted: false };
        for requester in [CLOSED, closed_browser] {
            for (is_member, is_confirmed) in [(false, false), (false, true), (true, false)] {
                let mut unit = MockUnit::new();
                unit.expect_nth_counted_mail().returning(|_, _| Ok(None));
                let known = address(is_member, is_confirmed);
                unit.expect_find_known_address().returning(move |_| Ok(known));
                unit.expect_insert_sign_in()
                    .withf(move |_, has_mail, _| *has_mail == is_member)
                    .returning(|_, _, _| Ok(()));
                unit.expect_purge_sign_ins_without_mail().times(usize::from(!is_member)).returning(|_| Ok(()));
                unit.expect_count_mail().withf(|_, counters, _, _| !is_sent(counters)).returning(|_, _, _, _| Ok(()));
                unit.expect_insert_message().times(usize::from(is_member)).returning(|_| Ok(true));
                let operation = AskForSignIn { start: start(), requester };
                let outcome = perform(&operation, &mut unit).unwrap();
                assert_eq!(outcome.output.used_up_for, None);
            }
        }
    }

    fn redeem(unit: &mut MockUnit, action: Option<&PageAction>) -> Result<SignInRedeemed, RoadmapError> {
        let actor = PageActor { email: email(), is_member: false, language: Language::English };
        let action = action.map(|action| ActOnPage::new(&actor, action, false));
        let (sign_in, digest) = (SignInId::new(Uuid::from_u128(9)), SecretDigest([7; 32]));
        let redeem =
            RedeemSignIn { sign_in, email: email(), digest, browser_name: None, language: Language::English, action };
        perform(&redeem, unit).map(|performed| performed.output)
    }

    #[test]
    fn a_used_sign_in_creates_nothing() {
        let mut unit = MockUnit::new();
        unit.expect_find_known_address().returning(|_| Ok(KnownAddress::default()));
        unit.expect_consume_sign_in().returning(|_, _, _, _| Ok(false));
        let error = redeem(&mut unit, None).unwrap_err();
        assert!(matches!(error, RoadmapError::NotFound(Resource::SignIn)), "{error}");
    }

    #[test]
    fn five_codes_are_compared_within_15_minutes() {
        let sign_in = SignInId::new(Uuid::from_u128(9));
        let mut unit = MockUnit::new();
        unit.expect_count_code()
            .withf(move |id, asked_since, max| {
                (*id, *asked_since, *max) == (sign_in, now().plus(-Duration::minutes(15)), 5)
            })
            .times(1)
            .returning(|_, _, _| Ok(true));
        assert!(perform(&CountCode { sign_in }, &mut unit).unwrap().output);
    }

    #[test]
    fn a_blocked_customer_may_sign_in_as_a_member() {
        for (is_member, is_blocked) in [(false, true), (true, false)] {
            let known = KnownAddress { is_member, is_confirmed: false, is_blocked_customer: true };
            assert_eq!(known.is_blocked(), is_blocked);
        }
    }

    #[test]
    fn a_blocked_person_gets_no_mail_and_no_session() {
        let blocked = KnownAddress { is_blocked_customer: true, ..KnownAddress::default() };
        for is_confirmed in [false, true] {
            let known = Known { address: KnownAddress { is_confirmed, ..blocked }, ..Known::default() };
            let browser = SignInRequester::KnownBrowser { id: Uuid::from_u128(9), is_admitted: true };
            for requester in [VISITOR, browser] {
                let (sends, counted, used_up_for) = ask(requester, Some(comment()), &known).unwrap();
                assert_eq!((sends, is_sent(&counted), used_up_for), (false, false, None));
            }
        }
        // `consume_sign_in` is not expected.
        let mut unit = MockUnit::new();
        unit.expect_find_known_address().withf(|of| of == email().folded()).returning(move |_| Ok(blocked));
        let error = redeem(&mut unit, None).unwrap_err();
        assert!(matches!(error, RoadmapError::NotFound(Resource::SignIn)), "{error}");
    }

    #[test]
    fn a_discarded_sign_in_creates_no_session() {
        for is_open in [true, false] {
            let sign_in = SignInId::new(Uuid::from_u128(9));
            let mut unit = MockUnit::new();
            unit.expect_consume_sign_in()
                .withf(move |id, how, asked_since, at| {
                    (*id, *how, *at) == (sign_in, Consumption::Denied, now())
                        && *asked_since == now().plus(-Duration::minutes(15))
                })
                .times(1)
                .returning(move |_, _, _, _| Ok(is_open));
            let discarded = block_on(DiscardSignIn { sign_in }.perform(&context(&NumberedIds::default()), &mut unit));
            assert_eq!(discarded.is_ok(), is_open);
        }
    }

    /// Portal.
    #[test]
    fn the_kept_action_is_done_with_the_session_and_its_failure_does_not_prevent_it() {
        let vote = PageAction::Vote(FeatureRequestId::new(Uuid::from_u128(3)));
        for exists in [true, false] {
            let mut unit = MockUnit::new();
            unit.expect_find_known_address().returning(|_| Ok(KnownAddress::default()));
            unit.expect_consume_sign_in()
                .withf(|_, how, asked_since, _| {
                    *how == Consumption::Redeemed && *asked_since == now().plus(-Duration::minutes(15))
                })
                .times(1)
                .returning(|_, _, _, _| Ok(true));
            unit.expect_insert_session()
                .withf(|session, purge_before| {
                    session.digest == SecretDigest([7; 32])
                        && session.email == email()
                        && *purge_before == now().plus(-Duration::days(180))
                })
                .times(1)
                .returning(|_, _| Ok(()));
            // Once at the sign-in, and once more if the action may have created the customer.
            unit.expect_save_last_language()
                .withf(|address, language| address == email().folded() && *language == Language::English)
                .times(1 + usize::from(exists))
                .returning(|_, _| Ok(()));
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
