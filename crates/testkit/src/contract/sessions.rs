//! Sign-ins by mail, their codes, sessions, and the own settings of customers.

use std::collections::BTreeSet;

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::audit::Audit;
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{FeatureRequestId, SessionId, SignInId, WorkspaceId};
use roadmap_domain::model::member::{MemberRef, Role};
use roadmap_domain::model::message::{MessageId, Priority};
use roadmap_domain::model::portal::{AccountLists, Language};
use roadmap_domain::model::session::{BrowserName, NewSession, SecretDigest, Session, SessionEntry};
use roadmap_domain::model::sign_in::{KnownAddress, LocalPath, PageAction, SignIn, SignInRequester};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_limits::start_of_hour;
use roadmap_domain::policy::mail_requests::{CounterKey, MailCounter};
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::act_on_page::{ActOnPage, PageActor, PageOutcome};
use roadmap_domain::usecase::change_members::{ChangeRole, RemoveMember};
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::deliver_mail::{Leases, LoadedMessage};
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::save_account::{SaveAccount, held_name};
use roadmap_domain::usecase::set_shortcuts::SetShortcuts;
use roadmap_domain::usecase::sign_in::{
    AskForSignIn, CountCode, DiscardSignIn, EndSessions, RedeemSignIn, SignInRedeemed, StartSignIn,
};
use time::Duration;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::harness::{Failing, Harness, add_member, customer_comment, held_idea, hold, name, vote};

const MISSING: &str = "SignIn does not exist.";
const MINUTE: Duration = Duration::MINUTE;

fn email(raw: &str) -> EmailAddress {
    EmailAddress::parse("email", raw).unwrap()
}

fn digest(number: u8) -> SecretDigest {
    SecretDigest([number; 32])
}

fn browser(name: &str) -> Option<BrowserName> {
    Some(BrowserName::from_stored(name.to_owned()))
}

/// A sign-in without a mail, for which no limits apply.
fn start(address: &str) -> StartSignIn {
    StartSignIn {
        email: email(address),
        browser: None,
        browser_name: None,
        action: None,
        next: None,
        language: Language::English,
    }
}

/// A visitor asks for a sign-in by mail.
fn ask(address: &str) -> AskForSignIn {
    AskForSignIn { start: start(address), requester: SignInRequester::Visitor { is_admitted: true } }
}

fn redeem(sign_in: &SignIn, number: u8) -> RedeemSignIn {
    RedeemSignIn {
        sign_in: sign_in.id,
        email: sign_in.email.clone(),
        digest: digest(number),
        browser_name: None,
        language: Language::English,
        action: None,
    }
}

/// Stores a sign-in.
struct StoreSignIn(SignIn);

/// Deletes the oldest sign-ins without a mail, beyond this number.
struct PurgeWithoutMail(u32);

/// Returns when the nth newest mail of a counter was asked for.
struct NthMail(CounterKey, u32);

/// Returns what is known about an address.
struct FindKnown(EmailAddress);

/// Stores a session.
struct StoreSession(NewSession);

/// Ends the session of an address. The output is whether there was one.
struct EndOne(SessionId, EmailAddress);

#[async_trait]
impl Operation for StoreSignIn {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        work.insert_sign_in(&self.0, true, SignIn::useless_before(self.0.created_at)).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for PurgeWithoutMail {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        work.purge_sign_ins_without_mail(self.0).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for NthMail {
    type Output = Option<Timestamp>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Option<Timestamp>>, RoadmapError> {
        Ok(Performed::new(work.nth_counted_mail(self.0, self.1).await?, Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for FindKnown {
    type Output = KnownAddress;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<KnownAddress>, RoadmapError> {
        Ok(Performed::new(work.find_known_address(self.0.folded()).await?, Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for StoreSession {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        work.insert_session(&self.0, Session::ended_before(self.0.created_at)).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for EndOne {
    type Output = bool;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        Ok(Performed::new(work.end_session(self.0, self.1.folded()).await?, Audit::Unchanged))
    }
}

async fn find(harness: &Harness, workspace: WorkspaceId, sign_in: SignInId) -> Option<SignIn> {
    harness.subject.reader.sign_in(workspace, sign_in).await.unwrap()
}

/// The session with the digest of this number.
async fn session(harness: &Harness, workspace: WorkspaceId, number: u8) -> Option<Session> {
    harness.subject.reader.session(workspace, &digest(number)).await.unwrap()
}

/// Signs an address in, with the digest of this number.
async fn signed_in(harness: &Harness, workspace: WorkspaceId, address: &str, number: u8) -> Session {
    let started = harness.perform(workspace, &start(address)).await;
    let redeemed = harness.perform(workspace, &redeem(&started, number)).await;
    let session = session(harness, workspace, number).await.expect("the session");
    assert_eq!(session.id, redeemed.session);
    session
}

/// Sign-ins with all of their fields, and one with as few as possible.
fn sign_ins(now: Timestamp) -> [SignIn; 3] {
    let request = FeatureRequestId::new(Uuid::from_u128(9));
    let few = SignIn {
        id: SignInId::new(Uuid::from_u128(1)),
        email: email("Jürgen@Example.com"),
        browser: None,
        browser_name: None,
        action: None,
        next: None,
        language: Language::English,
        wrong_codes: 0,
        created_at: now,
        consumed_at: None,
    };
    let all = SignIn {
        id: SignInId::new(Uuid::from_u128(2)),
        browser: Some(digest(7)),
        browser_name: browser("Firefox · Linux"),
        action: Some(PageAction::Comment { request, content: "a \"quote\" ' \\ \u{1f600}\n".to_owned() }),
        next: LocalPath::parse("/feature_requests?query=a%20b'&page=2"),
        language: Language::Arabic,
        wrong_codes: 3,
        ..few.clone()
    };
    let id = SignInId::new(Uuid::from_u128(3));
    let used = SignIn { id, consumed_at: Some(now), action: Some(PageAction::Vote(request)), ..all.clone() };
    [few, all, used]
}

/// A sign-in is returned with all of its fields to its own workspace, by its ID and for its mail, also a used one.
pub async fn a_sign_in_is_returned_as_it_was_stored(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let stored = sign_ins(harness.now());
    for sign_in in &stored {
        harness.failure(acme, &Failing(StoreSignIn(sign_in.clone()))).await;
        assert_eq!(find(&harness, acme, sign_in.id).await, None);
        harness.perform(acme, &StoreSignIn(sign_in.clone())).await;
        let stored = find(&harness, acme, sign_in.id).await.unwrap();
        assert_eq!(stored.email.as_str(), "Jürgen@Example.com");
        assert_eq!(stored, *sign_in);
        assert_eq!(find(&harness, bolt, sign_in.id).await, None);
    }
    let unknown = SignInId::new(Uuid::from_u128(4));
    assert_eq!(find(&harness, acme, unknown).await, None);
    let mut ids: Vec<SignInId> = stored.iter().map(|sign_in| sign_in.id).collect();
    ids.push(unknown);
    let mut actual = harness.subject.mail.sign_ins(acme, &ids).await.unwrap();
    actual.sort_by_key(|sign_in| sign_in.id);
    assert_eq!(actual, stored);
    assert_eq!(harness.subject.mail.sign_ins(acme, &ids[1..2]).await.unwrap(), stored[1..2]);
    assert_eq!(harness.subject.mail.sign_ins(acme, &[]).await.unwrap(), []);
    assert_eq!(harness.subject.mail.sign_ins(bolt, &ids).await.unwrap(), []);
    // Another workspace may have the same IDs.
    let other = SignIn { email: email("bob@example.com"), ..stored[0].clone() };
    harness.perform(bolt, &StoreSignIn(other.clone())).await;
    assert_eq!(find(&harness, bolt, other.id).await, Some(other));
    assert_eq!(find(&harness, acme, stored[0].id).await.as_ref(), Some(&stored[0]));
}

/// Of a workspace's sign-ins without a mail, the newest ones stay.
pub async fn the_newest_sign_ins_without_a_mail_stay(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    // A portal that is closed to strangers mails them nothing.
    let stranger = |number: usize| AskForSignIn {
        start: start(&format!("stranger{number}@example.com")),
        requester: SignInRequester::Visitor { is_admitted: false },
    };
    let with_mail = harness.perform(acme, &start("ann@example.com")).await.id;
    let mut without_mail = Vec::new();
    for number in 0..4 {
        harness.next_second();
        without_mail.push(harness.perform(acme, &stranger(number)).await.sign_in.id);
    }
    let of_other = harness.perform(bolt, &stranger(0)).await.sign_in.id;
    harness.perform(acme, &PurgeWithoutMail(2)).await;
    for (number, sign_in) in without_mail.into_iter().enumerate() {
        assert_eq!(find(&harness, acme, sign_in).await.is_some(), number >= 2, "{number}");
    }
    assert!(find(&harness, acme, with_mail).await.is_some() && find(&harness, bolt, of_other).await.is_some());
}

/// Of the sign-ins that a browser has asked for, the latest is found, whatever their addresses are.
pub async fn the_latest_sign_in_of_a_browser_is_found(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let latest = async |workspace, number| {
        let sign_in = harness.subject.reader.sign_in_of_browser(workspace, &digest(number)).await.unwrap();
        sign_in.map(|sign_in| sign_in.id)
    };
    assert_eq!(latest(acme, 1).await, None);
    for (number, address) in [(1, "ann@example.com"), (2, "bob@example.com"), (1, "bob@example.com")] {
        harness.next_second();
        let started = StartSignIn { browser: Some(digest(number)), ..start(address) };
        let started = harness.perform(acme, &started).await;
        assert_eq!(latest(acme, number).await, Some(started.id));
        assert_eq!(latest(bolt, number).await, None);
    }
    // One without a browser is none of a browser.
    let last = latest(acme, 1).await;
    harness.next_second();
    harness.perform(acme, &start("ann@example.com")).await;
    assert_eq!(latest(acme, 1).await, last);
    assert_eq!(latest(acme, 0).await, None);
}

/// A mail counts for its person in all workspaces, until its sign-in is redeemed. Denied ones stay counted.
pub async fn asked_mails_are_counted_over_all_workspaces(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let person = MailCounter::Person(&email("ann@example.com")).key();
    let nth = async |workspace, nth| harness.perform(workspace, &NthMail(person, nth)).await;
    assert_eq!(nth(acme, 1).await, None);
    let mut counted = Vec::new();
    for (workspace, address) in [(acme, "Ann@Example.com"), (bolt, "ann+tag@example.com"), (bolt, "ANN@example.com")] {
        let at = harness.next_second();
        counted.push((at, harness.perform(workspace, &ask(address)).await.sign_in));
    }
    harness.perform(bolt, &ask("bob@example.com")).await;
    for workspace in [acme, bolt] {
        for (number, expected) in [(1, Some(2)), (2, Some(1)), (3, Some(0)), (4, None)] {
            assert_eq!(nth(workspace, number).await, expected.map(|index: usize| counted[index].0), "{number}");
        }
    }
    // Refused in either.
    for workspace in [acme, bolt] {
        let refused = harness.failure(workspace, &ask("ann@example.com")).await;
        assert!(refused.starts_with("Too many mails were asked for, try again in "), "{refused}");
    }
    harness.failure(bolt, &Failing(redeem(&counted[1].1, 1))).await;
    assert_eq!(nth(acme, 3).await, Some(counted[0].0));
    harness.perform(bolt, &redeem(&counted[1].1, 1)).await;
    assert_eq!((nth(acme, 2).await, nth(acme, 3).await), (Some(counted[0].0), None));
    harness.perform(bolt, &DiscardSignIn { sign_in: counted[2].1.id }).await;
    assert_eq!((nth(acme, 1).await, nth(acme, 2).await), (Some(counted[2].0), Some(counted[0].0)));
    harness.perform(bolt, &ask("ann@example.com")).await;
    // Of the workspace that asks, those of the day before are forgotten.
    harness.clock.advance(Duration::DAY + Duration::SECOND);
    harness.perform(acme, &ask("cyd@example.com")).await;
    assert_eq!(harness.count("counted_mails", acme).await, 2);
    assert!(harness.count("counted_mails", bolt).await > 0);
    let counter = MailCounter::Strangers(acme).key();
    let last = harness.subject.reader.last_counted_mail(acme, counter).await.unwrap();
    assert_eq!(last, Some(harness.now()));
    assert_eq!(harness.subject.reader.last_counted_mail(bolt, counter).await.unwrap(), None);
}

/// An address is known to a workspace by a member, or by a redeemed sign-in, also after its sessions have ended.
pub async fn addresses_are_known_by_members_and_redeemed_sign_ins(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let known = async |workspace, address: &str| {
        let known = harness.perform(workspace, &FindKnown(email(address))).await;
        (known.is_member, known.is_confirmed)
    };
    let request = harness.request(acme, "Dark mode").await;
    harness.vote(acme, &request, "bob@example.com").await;
    harness.perform(acme, &add_member("max@acme.example", "Max")).await;
    let sign_in = harness.perform(acme, &ask("Ann@Example.com")).await.sign_in;
    let denied = harness.perform(acme, &ask("eve@example.com")).await.sign_in;
    harness.perform(acme, &DiscardSignIn { sign_in: denied.id }).await;
    for (address, expected) in [
        ("ann@example.com", (false, false)),
        ("bob@example.com", (false, false)),
        ("eve@example.com", (false, false)),
        ("MAX@acme.example", (true, false)),
    ] {
        assert_eq!(known(acme, address).await, expected, "{address}");
    }
    for number in [1, 2] {
        let sign_in =
            if number == 1 { sign_in.clone() } else { harness.perform(acme, &ask("ann@example.com")).await.sign_in };
        harness.perform(acme, &redeem(&sign_in, number)).await;
    }
    harness.perform(acme, &EndSessions { email: email("ann@example.com") }).await;
    assert_eq!(known(acme, "ANN@example.com").await, (false, true));
    assert_eq!(
        (known(bolt, "ann@example.com").await, known(bolt, "max@acme.example").await),
        ((false, false), (false, false))
    );
}

/// The limits hold for sign-ins that are asked for at once, in all workspaces together. Other addresses have their own.
pub async fn concurrent_sign_ins_are_limited(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let mut starts = JoinSet::new();
    for (workspace, address) in [(acme, "ann@example.com"), (acme, "bob@example.com"), (bolt, "ann+1@example.com")] {
        for _ in 0..8 {
            let executor = harness.executor.clone();
            starts.spawn(async move {
                let outcome = executor.run_without_key(workspace, &ask(address)).await;
                outcome.map(|_| ()).map_err(|error| error.to_string())
            });
        }
    }
    let (started, refused): (Vec<_>, Vec<_>) = starts.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!((started.len(), refused.len()), (6, 18));
    let is_limit = |error: &str| error.starts_with("Too many mails were asked for, try again in ");
    assert!(refused.iter().all(|refused| refused.as_ref().is_err_and(|error| is_limit(error))), "{refused:?}");
    for table in ["sign_ins", "outbox"] {
        assert_eq!(harness.count(table, acme).await + harness.count(table, bolt).await, 6, "{table}");
    }
}

/// Sign-ins of the workspace that were asked for more than a day before are deleted with the next one.
pub async fn old_sign_ins_are_deleted(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let old = harness.perform(acme, &start("ann@example.com")).await;
    harness.perform(bolt, &start("ann@example.com")).await;
    harness.clock.advance(Duration::HOUR);
    let young = harness.perform(acme, &start("ann@example.com")).await;
    harness.clock.advance(Duration::hours(23));
    harness.perform(acme, &start("bob@example.com")).await;
    assert_eq!(harness.count("sign_ins", acme).await, 3);
    harness.clock.advance(Duration::SECOND);
    harness.failure(acme, &Failing(start("bob@example.com"))).await;
    assert_eq!(harness.count("sign_ins", acme).await, 3);
    harness.perform(acme, &start("bob@example.com")).await;
    assert_eq!(harness.count("sign_ins", acme).await, 3);
    assert_eq!(find(&harness, acme, old.id).await, None);
    assert_eq!(find(&harness, acme, young.id).await, Some(young));
    assert_eq!(harness.count("sign_ins", bolt).await, 1);
}

/// Of many concurrent uses of a sign-in, exactly one creates a session. A rolled back use leaves it open.
///
/// Portal: 32 uses of one link at once are one session.
pub async fn a_sign_in_is_used_once(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let started = harness.perform(workspace, &start("ann@example.com")).await;
    harness.failure(workspace, &Failing(redeem(&started, 99))).await;
    assert_eq!(find(&harness, workspace, started.id).await.as_ref(), Some(&started));
    assert_eq!(session(&harness, workspace, 99).await, None);
    let at = harness.next_second();
    let mut uses = JoinSet::new();
    for number in 0..32 {
        let (executor, operation) = (harness.executor.clone(), redeem(&started, number));
        uses.spawn(async move {
            let used = executor.run_without_key(workspace, &operation).await;
            used.map(|used| (number, used.session)).map_err(|error| error.to_string())
        });
    }
    let (used, refused): (Vec<_>, Vec<_>) = uses.join_all().await.into_iter().partition(Result::is_ok);
    assert_eq!(used.len(), 1, "{used:?}");
    assert!(refused.iter().all(|refused| *refused == Err(MISSING.to_owned())), "{refused:?}");
    assert_eq!(harness.count("sessions", workspace).await, 1);
    let (number, id) = used[0].clone().unwrap();
    assert_eq!(session(&harness, workspace, number).await.map(|session| session.id), Some(id));
    let consumed = SignIn { consumed_at: Some(at), ..started };
    assert_eq!(find(&harness, workspace, consumed.id).await.as_ref(), Some(&consumed));
    harness.next_second();
    assert_eq!(harness.failure(workspace, &redeem(&consumed, 98)).await, MISSING);
    assert_eq!(find(&harness, workspace, consumed.id).await, Some(consumed));
}

/// A sign-in can be used until it expires, by its own workspace alone, and not if it is unknown.
pub async fn a_sign_in_expires(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let [first, second] = [
        harness.perform(acme, &start("ann@example.com")).await,
        harness.perform(acme, &start("ann@example.com")).await,
    ];
    let unknown = SignIn { id: SignInId::new(Uuid::from_u128(1)), ..first.clone() };
    assert_eq!(harness.failure(acme, &redeem(&unknown, 1)).await, MISSING);
    assert_eq!(harness.failure(bolt, &redeem(&first, 1)).await, MISSING);
    let code = CountCode { sign_in: first.id };
    assert!(!harness.perform(bolt, &code).await);
    assert_eq!(find(&harness, acme, first.id).await.as_ref(), Some(&first));
    harness.clock.advance(SignIn::LIFETIME);
    assert!(harness.perform(acme, &code).await);
    harness.perform(acme, &redeem(&first, 1)).await;
    harness.clock.advance(Duration::MILLISECOND);
    assert_eq!(harness.failure(acme, &redeem(&second, 2)).await, MISSING);
    assert!(!harness.perform(acme, &CountCode { sign_in: second.id }).await);
    assert_eq!((harness.count("sessions", acme).await, harness.count("sessions", bolt).await), (1, 0));
    assert_eq!(find(&harness, acme, second.id).await, Some(second));
}

/// Five codes may be compared, however many are typed at once. The link still works.
pub async fn few_codes_may_be_compared(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [guessed, other] = [
        harness.perform(workspace, &start("ann@example.com")).await,
        harness.perform(workspace, &start("ann@example.com")).await,
    ];
    for count in 1..=2 {
        assert!(harness.perform(workspace, &CountCode { sign_in: other.id }).await);
        assert_eq!(find(&harness, workspace, other.id).await.unwrap().wrong_codes, count);
    }
    harness.failure(workspace, &Failing(CountCode { sign_in: other.id })).await;
    assert_eq!(find(&harness, workspace, other.id).await, Some(SignIn { wrong_codes: 2, ..other.clone() }));
    let mut codes = JoinSet::new();
    for _ in 0..20 {
        let (executor, code) = (harness.executor.clone(), CountCode { sign_in: guessed.id });
        codes.spawn(async move { executor.run_without_key(workspace, &code).await.unwrap() });
    }
    let compared = codes.join_all().await.into_iter().filter(|may_be_compared| *may_be_compared).count();
    assert_eq!(compared, 5);
    let stored = find(&harness, workspace, guessed.id).await.unwrap();
    assert!(!stored.accepts_code_at(harness.now()) && stored.is_open_at(harness.now()), "{stored:?}");
    assert_eq!(find(&harness, workspace, other.id).await, Some(SignIn { wrong_codes: 2, ..other.clone() }));
    harness.perform(workspace, &redeem(&guessed, 1)).await;
    // No code may be compared for a used one.
    harness.perform(workspace, &redeem(&other, 2)).await;
    for sign_in in [guessed.id, other.id, SignInId::new(Uuid::from_u128(1))] {
        assert!(!harness.perform(workspace, &CountCode { sign_in }).await);
    }
}

/// The action that was kept with a sign-in is done in the same unit of work, once, and its failure does not prevent the
/// session.
pub async fn a_kept_action_is_done_with_its_sign_in(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    let actor = PageActor { email: email("ann@example.com"), is_member: false, language: Language::English };
    let unknown = FeatureRequestId::new(Uuid::from_u128(1));
    for (number, request_id) in [(1, request.id), (2, request.id), (3, unknown)] {
        let action = PageAction::Vote(request_id);
        let started = StartSignIn { action: Some(action.clone()), ..start("ann@example.com") };
        let started = harness.perform(workspace, &started).await;
        let action = Some(ActOnPage::new(&actor, &action, false));
        let operation = RedeemSignIn { action, ..redeem(&started, number) };
        let redeemed: SignInRedeemed = harness.perform(workspace, &operation).await;
        match redeemed.action.unwrap() {
            Ok(done) => assert_eq!((done.outcome, done.request), (PageOutcome::Voted, Some(request_id))),
            Err(error) => {
                assert_eq!((request_id, error.to_string().as_str()), (unknown, "FeatureRequest does not exist."));
            }
        }
        assert!(session(&harness, workspace, number).await.is_some());
        assert_eq!(harness.detail(workspace, request.id).await.summary.votes_count, 1);
    }
    let started = harness.perform(workspace, &start("bob@example.com")).await;
    let bob = PageActor { email: email("bob@example.com"), is_member: false, language: Language::English };
    let action = Some(ActOnPage::new(&bob, &PageAction::Vote(request.id), false));
    harness.failure(workspace, &Failing(RedeemSignIn { action, ..redeem(&started, 4) })).await;
    assert_eq!(harness.detail(workspace, request.id).await.summary.votes_count, 1);
    assert_eq!(
        (session(&harness, workspace, 4).await, find(&harness, workspace, started.id).await),
        (None, Some(started))
    );
}

/// The mail of a sign-in is urgent and has the sign-in with the sender. It is not sent once the sign-in cannot be used.
pub async fn a_sign_in_is_mailed_while_it_is_open(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let leases = Leases::new(harness.subject.queue.clone(), harness.subject.mail.clone());
    let lease = async || {
        let now = harness.now();
        let until = now.plus(MINUTE);
        leases.lease(workspace, Priority::Urgent, (now, until), 10, start_of_hour(now)).await.unwrap()
    };
    let mut open = Vec::new();
    for address in ["ann@example.com", "Bob@Example.com"] {
        open.push(harness.perform(workspace, &ask(address)).await.sign_in);
    }
    harness.perform(workspace, &ask("cyd@example.com")).await;
    harness.perform(workspace, &EndSessions { email: email("cyd@example.com") }).await;
    harness.perform(workspace, &start("dan@example.com")).await;
    let used = harness.perform(workspace, &ask("eve@example.com")).await.sign_in;
    harness.perform(workspace, &redeem(&used, 1)).await;
    assert_eq!(harness.count("outbox", workspace).await, 4);
    let due = harness.subject.queue.due_workspaces(harness.now()).await.unwrap();
    assert_eq!(due, [(workspace, Priority::Urgent)]);
    let leased = lease().await;
    assert_eq!((leased.messages.len(), leased.unwanted, leased.len()), (2, 2, 4));
    let mut mailed = Vec::new();
    for message in leased.messages {
        let LoadedMessage::SignIn(mail) = message else { panic!("{message:?}") };
        assert_eq!(mail.lease.message, MessageId::sign_in(mail.sign_in.id));
        assert_eq!((mail.sender.portal.setting.product_name.as_str(), mail.attempt.get()), ("Acme", 1));
        assert_eq!(mail.sender.subdomain.to_string(), "acme");
        mailed.push(mail.sign_in);
    }
    mailed.sort_by_key(|sign_in| sign_in.id);
    assert_eq!(mailed, open);
    assert_eq!(harness.count("outbox", workspace).await, 2);
    harness.clock.advance(SignIn::LIFETIME + Duration::SECOND);
    assert_eq!(lease().await.unwanted, 2);
    assert_eq!(harness.count("outbox", workspace).await, 0);
}

/// A session is found by its digest, with the customer, the language and the member of its address at that time.
pub async fn a_session_has_what_its_address_means_now(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let started = harness.perform(acme, &start("Ann@Example.com")).await;
    let created_at = harness.next_second();
    let redeemed = harness.perform(acme, &redeem(&started, 7)).await;
    let mut expected = Session {
        id: redeemed.session,
        email: email("Ann@Example.com"),
        customer: None,
        language: None,
        member: None,
        created_at,
        last_seen_at: created_at,
        has_shortcuts: false,
    };
    let actual = session(&harness, acme, 7).await.unwrap();
    assert_eq!(actual.email.as_str(), "Ann@Example.com");
    assert_eq!(actual, expected);
    assert_eq!((session(&harness, acme, 8).await, session(&harness, bolt, 7).await), (None, None));

    let request = harness.request(acme, "Dark mode").await;
    let voted = vote(FeatureRequestRef::Id(request.id), Some(("ann@EXAMPLE.com", Some("Ann"))), None);
    harness.perform(acme, &voted).await;
    expected.customer = Some(harness.customer(acme, "ann@example.com").await);
    assert_eq!(session(&harness, acme, 7).await.as_ref(), Some(&expected));
    for language in [Some(Language::German), Some(Language::Arabic), None, Some(Language::English)] {
        let save =
            SaveAccount { email: email("ann@example.com"), name: Some(name("Ann")), language, holds_names: false };
        harness.perform(acme, &save).await;
        expected.language = language;
        assert_eq!(session(&harness, acme, 7).await.as_ref(), Some(&expected));
    }
    let member = harness.member(acme, "ANN@example.com", "Ann of the team").await;
    expected.member = Some(member.clone());
    assert_eq!(session(&harness, acme, 7).await.as_ref(), Some(&expected));
    // The old one stays if it was that of another member. A removed member is none.
    harness.member(acme, "noa@example.com", "Noa").await;
    let noa = MemberRef::parse("member", "noa@example.com").unwrap();
    harness.perform(acme, &ChangeRole { member: noa, role: Role::Admin, revokes_keys: false }).await;
    assert_eq!(session(&harness, acme, 7).await.as_ref(), Some(&expected));
    harness.perform(acme, &RemoveMember { member: MemberRef::Id(member.id), revokes_keys: false }).await;
    assert_eq!(session(&harness, acme, 7).await, None);
    let again = signed_in(&harness, acme, "ann@example.com", 9).await;
    assert_eq!((again.member, &again.customer), (None, &expected.customer));
    let returned = harness.perform(acme, &add_member("ann@example.com", "Ann")).await;
    assert_eq!(session(&harness, acme, 9).await.unwrap().member, Some(returned));
    // Old sessions are found, too: whether they have ended is not for the store to say.
    harness.clock.advance(Duration::days(170));
    assert!(session(&harness, acme, 9).await.is_some_and(|session| !session.is_valid_at(harness.now())));
}

/// Sessions and open sign-ins of a member end with a change of the role and with the removal.
pub async fn sessions_of_a_member_end_with_its_role(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    harness.member(workspace, "mia@team.example", "Mia").await;
    let noa = harness.member(workspace, "noa@team.example", "Noa").await;
    let member = || MemberRef::Id(noa.id);
    let other = signed_in(&harness, workspace, "mia@team.example", 1).await;
    for removes in [false, true] {
        signed_in(&harness, workspace, "Noa@team.example", 2).await;
        let open = harness.perform(workspace, &start("noa@team.example")).await;
        if removes {
            harness.failure(workspace, &Failing(RemoveMember { member: member(), revokes_keys: false })).await;
            assert!(session(&harness, workspace, 2).await.is_some());
            harness.perform(workspace, &RemoveMember { member: member(), revokes_keys: false }).await;
        } else {
            harness.perform(workspace, &ChangeRole { member: member(), role: Role::Admin, revokes_keys: false }).await;
        }
        assert_eq!(session(&harness, workspace, 2).await, None);
        assert_eq!(find(&harness, workspace, open.id).await, None);
        assert_eq!(session(&harness, workspace, 1).await.as_ref(), Some(&other));
    }
}

/// The sessions of an address, as its account lists them.
async fn listed(harness: &Harness, workspace: WorkspaceId, address: &str, limit: u32) -> Vec<SessionEntry> {
    let address = email(address);
    let lists = harness.subject.reader.account_lists(workspace, address.folded(), None, limit).await.unwrap();
    assert_eq!(lists, AccountLists { sessions: lists.sessions.clone(), ..AccountLists::default() });
    lists.sessions
}

/// The use of a session is stored for that session alone. The sessions of an address are listed by their last use.
pub async fn sessions_are_listed_by_their_last_use(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let mut entries = Vec::new();
    for (number, browser_name) in [(1, browser("Firefox · Linux")), (2, None), (3, browser("Safari · iPhone"))] {
        let created_at = harness.next_second();
        let id = SessionId::new(Uuid::from_u128(number.into()));
        let new = NewSession {
            id,
            digest: digest(number),
            email: email(if number == 2 { "Ann@Example.com" } else { "ann@example.com" }),
            browser: browser_name.clone(),
            created_at,
        };
        // Another workspace may have the same IDs and digests.
        let other = NewSession { email: email("bob@example.com"), ..new.clone() };
        harness.perform(acme, &StoreSession(new)).await;
        harness.perform(bolt, &StoreSession(other)).await;
        entries.insert(0, SessionEntry { id, browser: browser_name, created_at, last_seen_at: created_at });
    }
    signed_in(&harness, acme, "bob@example.com", 9).await;
    assert_eq!(listed(&harness, acme, "ANN@example.com", 50).await, entries);
    let (pages, at) = (&harness.subject.reader, harness.now().plus(Duration::HOUR));
    pages.touch_session(acme, entries[2].id, at).await.unwrap();
    for (workspace, unknown) in
        [(acme, SessionId::new(Uuid::from_u128(8))), (WorkspaceId::new(Uuid::nil()), entries[0].id)]
    {
        pages.touch_session(workspace, unknown, at).await.unwrap();
    }
    entries[2].last_seen_at = at;
    let last = entries.remove(2);
    entries.insert(0, last);
    assert_eq!(listed(&harness, acme, "ann@example.com", 50).await, entries);
    assert_eq!(listed(&harness, acme, "ann@example.com", 2).await, entries[..2]);
    assert_eq!(listed(&harness, acme, "cyd@example.com", 50).await, []);
    assert_eq!(listed(&harness, bolt, "ann@example.com", 50).await, []);
    let stored = session(&harness, acme, 1).await.unwrap();
    assert_eq!((stored.last_seen_at, stored.created_at), (at, entries[0].created_at));
    let untouched = session(&harness, bolt, 1).await.unwrap();
    assert_eq!((untouched.last_seen_at, untouched.email), (entries[0].created_at, email("bob@example.com")));
}

/// A session is ended by its own address and in its own workspace only.
pub async fn only_own_sessions_are_ended(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let ann = signed_in(&harness, acme, "ann@example.com", 1).await;
    let other = signed_in(&harness, acme, "ann@example.com", 2).await;
    let unknown = SessionId::new(Uuid::from_u128(1));
    for (workspace, session, address) in
        [(acme, ann.id, "bob@example.com"), (bolt, ann.id, "ann@example.com"), (acme, unknown, "ann@example.com")]
    {
        assert!(!harness.perform(workspace, &EndOne(session, email(address))).await);
    }
    harness.failure(acme, &Failing(EndOne(ann.id, email("ann@example.com")))).await;
    assert_eq!(session(&harness, acme, 1).await.as_ref(), Some(&ann));
    assert!(harness.perform(acme, &EndOne(ann.id, email("ANN@example.com"))).await);
    assert!(!harness.perform(acme, &EndOne(ann.id, email("ann@example.com"))).await);
    assert_eq!((session(&harness, acme, 1).await, session(&harness, acme, 2).await), (None, Some(other)));
}

/// All sessions of an address end at once, and its open sign-ins with them. Those of others stay.
pub async fn all_sessions_of_an_address_end(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    for (number, address) in [(1, "ann@example.com"), (2, "Ann@Example.com"), (3, "bob@example.com")] {
        signed_in(&harness, acme, address, number).await;
    }
    signed_in(&harness, bolt, "ann@example.com", 1).await;
    let mut open = Vec::new();
    for (workspace, address) in
        [(acme, "ann@example.com"), (acme, "ANN@example.com"), (acme, "bob@example.com"), (bolt, "ann@example.com")]
    {
        open.push((workspace, harness.perform(workspace, &start(address)).await));
    }
    let end = || EndSessions { email: email("ann@EXAMPLE.com") };
    harness.failure(acme, &Failing(end())).await;
    assert_eq!(harness.count("sessions", acme).await, 3);
    assert_eq!(harness.perform(acme, &end()).await, 2);
    assert_eq!(harness.perform(acme, &end()).await, 0);
    assert_eq!((session(&harness, acme, 1).await, session(&harness, acme, 2).await), (None, None));
    assert!(session(&harness, acme, 3).await.is_some() && session(&harness, bolt, 1).await.is_some());
    for (index, (workspace, sign_in)) in open.into_iter().enumerate() {
        let expected = (index >= 2).then_some(&sign_in);
        assert_eq!(find(&harness, workspace, sign_in.id).await.as_ref(), expected, "{index}");
        let failure = harness.executor.run_without_key(workspace, &redeem(&sign_in, 50)).await.map(|_| ());
        assert_eq!(failure.is_ok(), index >= 2, "{index}");
    }
}

/// Sessions of the workspace that were not used for half a year are deleted with the next one.
pub async fn unused_sessions_are_deleted(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let old = signed_in(&harness, acme, "ann@example.com", 1).await;
    let used = signed_in(&harness, acme, "ann@example.com", 2).await;
    signed_in(&harness, bolt, "ann@example.com", 1).await;
    harness.clock.advance(Duration::days(150));
    harness.subject.reader.touch_session(acme, used.id, harness.now()).await.unwrap();
    signed_in(&harness, acme, "bob@example.com", 3).await;
    assert_eq!(harness.count("sessions", acme).await, 3);
    harness.clock.advance(Duration::days(50));
    signed_in(&harness, acme, "bob@example.com", 4).await;
    assert_eq!((harness.count("sessions", acme).await, harness.count("sessions", bolt).await), (3, 1));
    let remaining: BTreeSet<SessionId> =
        listed(&harness, acme, "ann@example.com", 50).await.iter().map(|entry| entry.id).collect();
    assert_eq!((remaining, old.id == used.id), (BTreeSet::from([used.id]), false));
}

/// Name and language are saved for a customer, who is found by the folded address or created. A name can be removed.
pub async fn own_settings_are_saved(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let save = |address: &str, text: &str, language| SaveAccount {
        email: email(address),
        name: SaveAccount::parse_name(text).unwrap(),
        language,
        holds_names: false,
    };
    let request = harness.request(acme, "Dark mode").await;
    let voted = vote(FeatureRequestRef::Id(request.id), Some(("Ann@Example.com", Some("Ann"))), None);
    harness.perform(acme, &voted).await;
    let ann = harness.customer(acme, "ann@example.com").await;
    signed_in(&harness, acme, "ann@example.com", 1).await;
    harness.failure(acme, &Failing(save("ann@example.com", "Eve", Some(Language::German)))).await;
    for (text, language) in
        [("Ann Lee", Some(Language::German)), ("Ann Lee", None), (" ", Some(Language::Arabic)), ("Ünal", None)]
    {
        let saved = harness.perform(acme, &save("ANN@example.com", text, language)).await;
        let expected = CustomerName { name: SaveAccount::parse_name(text).unwrap(), ..ann.clone() };
        assert_eq!(saved, expected);
        assert_eq!((saved.email.as_str(), harness.count("customers", acme).await), ("Ann@Example.com", 1));
        let actual = session(&harness, acme, 1).await.unwrap();
        assert_eq!((actual.customer, actual.language), (Some(expected), language));
    }
    for _ in 0..2 {
        let created = harness.perform(acme, &save("bob@example.com", "Bob", Some(Language::German))).await;
        assert_eq!(created, harness.customer(acme, "bob@example.com").await);
        assert_eq!((created.name, harness.count("customers", acme).await), (Some(name("Bob")), 2));
    }
    assert_eq!(signed_in(&harness, acme, "bob@example.com", 2).await.language, Some(Language::German));
    let reader = &harness.subject.reader;
    assert_eq!(reader.customer(acme, ann.id).await.unwrap().unwrap().customer.name, Some(name("Ünal")));
    // A customer of another workspace is another one.
    harness.perform(bolt, &save("ann@example.com", "Other", Some(Language::English))).await;
    assert_ne!(harness.customer(bolt, "ann@example.com").await.id, ann.id);
    assert_eq!(session(&harness, acme, 1).await.unwrap().language, None);
    assert_eq!(harness.customer(acme, "ann@example.com").await.name, Some(name("Ünal")));
}

/// Where posts wait for approval, the name beside public ones stays. Those that wait, and those of others, are not public.
pub async fn names_beside_public_posts_are_held(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Dark mode").await;
    let reference = || FeatureRequestRef::Id(request.id);
    let save = |address: &str, text: &str| SaveAccount {
        email: email(address),
        name: SaveAccount::parse_name(text).unwrap(),
        language: None,
        holds_names: true,
    };
    harness.perform(workspace, &save("ann@example.com", "Ann")).await;
    harness.perform(workspace, &hold(reference(), "<p>When?</p>", "ann@example.com")).await;
    harness.create(workspace, held_idea("Icons", "ann@example.com")).await;
    harness.perform(workspace, &customer_comment(reference(), "<p>Now</p>", "bob@example.com", None)).await;
    assert_eq!(harness.perform(workspace, &save("ann@example.com", "Anna")).await.name, Some(name("Anna")));
    assert_eq!(harness.failure(workspace, &save("bob@example.com", "Spam")).await, held_name().to_string());
    harness.perform(workspace, &save("bob@example.com", "")).await;

    let idea =
        FeatureRequestDraft { private: false, awaiting_approval: false, ..held_idea("Sounds", "ann@example.com") };
    harness.create(workspace, idea).await;
    assert_eq!(harness.failure(workspace, &save("ann@example.com", "Spam")).await, held_name().to_string());
    assert_eq!(harness.customer(workspace, "ann@example.com").await.name, Some(name("Anna")));
    harness.perform(workspace, &SaveAccount { holds_names: false, ..save("ann@example.com", "Eve") }).await;
}

/// Shortcuts are switched on for a member, in each of the sessions, until the member is removed.
pub async fn a_member_has_shortcuts(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let omar = harness.member(acme, "omar@team.example", "Omar").await;
    let ines = harness.member(acme, "ines@team.example", "Ines").await;
    for (number, address) in [(1, "ines@team.example"), (2, "ines@team.example"), (3, "omar@team.example")] {
        signed_in(&harness, acme, address, number).await;
    }
    let switched_on = async || {
        let mut found = Vec::new();
        for number in 1..=3 {
            found.push(session(&harness, acme, number).await.unwrap().has_shortcuts);
        }
        found
    };
    assert_eq!(switched_on().await, [false, false, false]);
    harness.perform(acme, &SetShortcuts { member: ines.id, on: true }).await;
    assert_eq!(switched_on().await, [true, true, false]);
    harness.perform(acme, &SetShortcuts { member: omar.id, on: true }).await;
    harness.perform(acme, &SetShortcuts { member: ines.id, on: false }).await;
    assert_eq!(switched_on().await, [false, false, true]);
    assert_eq!(harness.failure(bolt, &SetShortcuts { member: ines.id, on: true }).await, "Member does not exist.");
}

crate::contract::cases!($ sessions {
    a_sign_in_is_returned_as_it_was_stored,
    the_newest_sign_ins_without_a_mail_stay,
    the_latest_sign_in_of_a_browser_is_found,
    asked_mails_are_counted_over_all_workspaces,
    addresses_are_known_by_members_and_redeemed_sign_ins,
    concurrent_sign_ins_are_limited,
    old_sign_ins_are_deleted,
    a_sign_in_is_used_once,
    a_sign_in_expires,
    few_codes_may_be_compared,
    a_kept_action_is_done_with_its_sign_in,
    a_sign_in_is_mailed_while_it_is_open,
    a_session_has_what_its_address_means_now,
    a_member_has_shortcuts,
    sessions_of_a_member_end_with_its_role,
    sessions_are_listed_by_their_last_use,
    only_own_sessions_are_ended,
    all_sessions_of_an_address_end,
    unused_sessions_are_deleted,
    own_settings_are_saved,
    names_beside_public_posts_are_held,
});
