//! What people do on the pages of the portal: vote, comment, submit an idea, subscribe, ask for news.
//!
//! An action becomes one of the commands that the API has, too. A person who is signed in runs it directly
//! ([`ActOnPage`]), a visitor with the sign-in that confirms it ([`crate::usecase::sign_in`]).

use async_trait::async_trait;

use crate::error::{RoadmapError, Validated};
use crate::model::audit::OwnRecord;
use crate::model::comment::{CommentAuthor, CommentDraft};
use crate::model::customer::CustomerDraft;
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::{Description, FeatureRequestRef, RequestLink, Title};
use crate::model::html::CleanHtml;
use crate::model::id::FeatureRequestId;
use crate::model::markdown;
use crate::model::member::Author;
use crate::model::picture;
use crate::model::portal::Language;
use crate::model::sign_in::PageAction;
use crate::model::vote::VoteDraft;
use crate::ports::UnitOfWork;
use crate::usecase::cast_vote::CastVote;
use crate::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::hold_comment::HoldComment;
use crate::usecase::post_comment::PostComment;
use crate::usecase::subscribe::{AskForNews, EndSubscription, Subscribe};
use crate::usecase::withdraw_vote::WithdrawVote;

/// Who acts on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageActor {
    /// The confirmed address.
    pub email: EmailAddress,
    /// Whether it is that of a member.
    pub is_member: bool,
    /// The language of the page.
    pub language: Language,
}

/// Performs an action of a person whose address is confirmed. The caller checks that the person may see the feature
/// request.
pub struct ActOnPage {
    command: Command,
    email: EmailAddress,
    language: Language,
}

/// The command that an action becomes.
enum Command {
    Vote(CastVote),
    RemoveVote(WithdrawVote),
    Comment(PostComment),
    Hold(HoldComment),
    Submit(Box<CreateFeatureRequest>, bool),
    Subscribe(Subscribe),
    Unsubscribe(EndSubscription),
    GetNews(AskForNews),
}

/// What an action has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageOutcome {
    /// A vote was counted, or had been before.
    Voted,
    /// There is no vote of the person any more.
    VoteRemoved,
    /// The comment is public.
    Commented,
    /// The comment waits for approval.
    CommentHeld,
    /// The idea is public.
    Submitted,
    /// The idea waits for approval.
    IdeaHeld,
    /// The person gets mail.
    Subscribed,
    /// The same, after having stopped mail before.
    MailResumed,
    /// Mail to the person is stopped by the team, and so is this one.
    MailStopped,
    /// The person gets no more mail.
    Unsubscribed,
    /// The person gets all changelogs.
    GetsNews,
}

/// A performed action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageActionDone {
    /// What was done.
    pub outcome: PageOutcome,
    /// The feature request, if it is about one.
    pub request: Option<FeatureRequestId>,
    /// The new feature request, if one was submitted.
    pub submitted: Option<RequestLink>,
}

impl ActOnPage {
    /// Creates the command for an action. `holds_posts` is the setting of the portal; members need no approval.
    ///
    /// Converts texts and builds search documents here, before the unit of work begins.
    ///
    /// # Errors
    /// The first invalid text.
    pub fn new(actor: &PageActor, action: &PageAction, holds_posts: bool) -> Validated<Self> {
        let customer = || CustomerDraft { email: actor.email.clone(), name: None };
        let holds = holds_posts && !actor.is_member;
        let command = match action {
            PageAction::Vote(request) => Command::Vote(CastVote {
                request: FeatureRequestRef::Id(*request),
                draft: VoteDraft::new(Some(customer()), None)?,
            }),
            PageAction::RemoveVote(request) => Command::RemoveVote(WithdrawVote {
                request: FeatureRequestRef::Id(*request),
                customer: actor.email.clone(),
            }),
            PageAction::Comment { request, content } => {
                let request = FeatureRequestRef::Id(*request);
                let content = markdown::to_html("content", content)?;
                if holds {
                    Command::Hold(HoldComment { request, content, customer: customer() })
                } else {
                    let author = if actor.is_member {
                        CommentAuthor::Member(Author::Named(actor.email.folded().clone()))
                    } else {
                        CommentAuthor::Customer(customer())
                    };
                    let draft = CommentDraft { content, author, notify_all_voters: false };
                    Command::Comment(PostComment { request, draft })
                }
            }
            PageAction::Submit { title, description } => {
                let draft = idea(title, description, customer(), holds)?;
                Command::Submit(Box::new(CreateFeatureRequest::new(draft)), holds)
            }
            PageAction::Subscribe(request) => {
                let request = FeatureRequestRef::Id(*request);
                Command::Subscribe(Subscribe { request, customer: customer(), resumes_mail: true })
            }
            PageAction::Unsubscribe(request) => Command::Unsubscribe(EndSubscription {
                request: FeatureRequestRef::Id(*request),
                customer: actor.email.clone(),
            }),
            PageAction::GetNews => Command::GetNews(AskForNews { customer: customer() }),
        };
        Ok(Self { command, email: actor.email.clone(), language: actor.language })
    }

    /// Checks the texts of an action, for a form that is to be confirmed later.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn check(action: &PageAction) -> Validated<()> {
        match action {
            PageAction::Comment { content, .. } => check_pictures("content", &markdown::to_html("content", content)?),
            PageAction::Submit { title, description } => {
                Title::parse("title", title)?;
                let html = markdown::to_optional_html("description", description)?;
                check_pictures("description", &CleanHtml::from_stored(html))
            }
            PageAction::Vote(_)
            | PageAction::RemoveVote(_)
            | PageAction::Subscribe(_)
            | PageAction::Unsubscribe(_)
            | PageAction::GetNews => Ok(()),
        }
    }
}

fn check_pictures(field: &str, text: &CleanHtml) -> Validated<()> {
    let max = picture::MAX_IN_POST;
    if text.pictures().len() > max { Err(picture::too_many(field, max)) } else { Ok(()) }
}

fn idea(title: &str, description: &str, customer: CustomerDraft, held: bool) -> Validated<FeatureRequestDraft> {
    let title = Title::parse("title", title)?;
    let html = markdown::to_optional_html("description", description)?;
    Ok(FeatureRequestDraft {
        title,
        description: Description::from_html("description", &html)?,
        tags: Vec::new(),
        track: None,
        private: held,
        awaiting_approval: held,
        customer: Some(customer),
        note: None,
    })
}

#[async_trait]
impl Operation for ActOnPage {
    type Output = PageActionDone;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<PageActionDone>, RoadmapError> {
        let done = |outcome, request| PageActionDone { outcome, request: Some(request), submitted: None };
        // People's own votes and subscriptions are records of themselves, as their comments and ideas are.
        let performed = match &self.command {
            Command::Vote(vote) => {
                vote.perform(context, work).await?.map(|cast| done(PageOutcome::Voted, cast.request.id))
            }
            Command::RemoveVote(withdraw) => {
                let withdrawn = withdraw.perform(context, work).await?.with_own_record(OwnRecord::Vote);
                withdrawn.map(|withdrawn| done(PageOutcome::VoteRemoved, withdrawn.request.id))
            }
            Command::Comment(comment) => {
                let posted = comment.perform(context, work).await?;
                posted.map(|posted| done(PageOutcome::Commented, posted.request.id))
            }
            Command::Hold(hold) => {
                hold.perform(context, work).await?.map(|held| done(PageOutcome::CommentHeld, held.id))
            }
            Command::Submit(create, held) => {
                let outcome = if *held { PageOutcome::IdeaHeld } else { PageOutcome::Submitted };
                create.perform(context, work).await?.map(|created| {
                    let submitted = Some(RequestLink::from(&created.request));
                    PageActionDone { submitted, ..done(outcome, created.request.id) }
                })
            }
            Command::Subscribe(subscribe) => {
                let subscribed = subscribe.perform(context, work).await?.with_own_record(OwnRecord::Subscription);
                subscribed.map(|subscription| {
                    let outcome = match (subscription.is_subscribed, subscription.has_resumed) {
                        (true, false) => PageOutcome::Subscribed,
                        (true, true) => PageOutcome::MailResumed,
                        (false, _) => PageOutcome::MailStopped,
                    };
                    done(outcome, subscription.request)
                })
            }
            Command::Unsubscribe(end) => {
                let ended = end.perform(context, work).await?.with_own_record(OwnRecord::Subscription);
                ended.map(|subscription| done(PageOutcome::Unsubscribed, subscription.request))
            }
            Command::GetNews(ask) => ask.perform(context, work).await?.map(|gets_news| {
                let outcome = if gets_news { PageOutcome::GetsNews } else { PageOutcome::MailStopped };
                PageActionDone { outcome, request: None, submitted: None }
            }),
        };
        // Only now, because the action may have created the customer. Mail is in this language.
        work.save_last_language(self.email.folded(), self.language).await?;
        Ok(performed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FieldError;
    use crate::model::audit::Audit;
    use crate::model::id::TrackId;
    use crate::model::track::Track;
    use crate::model::vote::{VoteCast, VoteOutcome};
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{name, perform, summary};
    use uuid::Uuid;

    fn actor(is_member: bool) -> PageActor {
        PageActor {
            email: EmailAddress::from_stored("ann@example.com".to_owned()),
            is_member,
            language: Language::German,
        }
    }

    fn request() -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(7))
    }

    /// Expects that the language of the page is stored for the actor.
    fn expect_language(unit: &mut MockUnit, times: usize) {
        unit.expect_save_last_language()
            .withf(|address, language| address.as_str() == "ann@example.com" && *language == Language::German)
            .times(times)
            .returning(|_, _| Ok(()));
    }

    fn act(
        unit: &mut MockUnit,
        is_member: bool,
        action: &PageAction,
        holds: bool,
    ) -> Result<PageOutcome, RoadmapError> {
        expect_language(unit, 1);
        perform(&ActOnPage::new(&actor(is_member), action, holds)?, unit).map(|done| done.output.outcome)
    }

    fn comment() -> PageAction {
        PageAction::Comment { request: request(), content: "**Yes**".to_owned() }
    }

    #[test]
    fn a_comment_is_that_of_a_customer_or_of_the_team_and_waits_only_if_it_is_a_customer_s() {
        for (is_member, holds, is_held) in
            [(false, false, false), (false, true, true), (true, false, false), (true, true, false)]
        {
            let mut unit = MockUnit::new();
            let request = || Ok(Some(summary("Planned", Some("Planned"), 3)));
            unit.expect_insert_comment()
                .withf(move |new| {
                    let is_team = matches!(&new.author, CommentAuthor::Member(author) if author.address() == Some("ann@example.com"));
                    is_team == is_member && new.content.as_str().trim_end() == "<p><strong>Yes</strong></p>"
                })
                .times(usize::from(!is_held))
                .returning(move |_| request());
            unit.expect_hold_comment().times(usize::from(is_held)).returning(move |_| request());
            unit.expect_notify_people().times(usize::from(is_member)).returning(|_, _, _, _| Ok(()));
            let outcome = act(&mut unit, is_member, &comment(), holds).unwrap();
            assert_eq!(outcome, if is_held { PageOutcome::CommentHeld } else { PageOutcome::Commented });
        }
    }

    #[test]
    fn a_held_idea_is_private_and_not_indexed() {
        for (is_member, holds, is_held) in [(false, true, true), (false, false, false), (true, true, false)] {
            let mut unit = MockUnit::new();
            unit.expect_first_track().returning(|| {
                Ok(Some(Track { id: TrackId::new(Uuid::from_u128(1)), name: name("Inbox"), lane: None }))
            });
            unit.expect_insert_feature_request()
                .withf(move |new| {
                    (new.private, new.awaiting_approval, new.search.is_none()) == (is_held, is_held, is_held)
                        && new.description.html().trim_end() == "<p>Eyes</p>"
                })
                .times(1)
                .returning(|_| Ok(summary("Inbox", None, 0)));
            unit.expect_cast_vote().returning(|_| {
                Ok(Some(VoteCast { outcome: VoteOutcome::Registered, request: summary("Inbox", None, 1) }))
            });
            let action = PageAction::Submit { title: "Dark mode".to_owned(), description: "Eyes".to_owned() };
            let outcome = act(&mut unit, is_member, &action, holds).unwrap();
            assert_eq!(outcome, if is_held { PageOutcome::IdeaHeld } else { PageOutcome::Submitted });
        }
    }

    #[test]
    fn own_votes_and_subscriptions_have_no_entry_in_the_audit_log() {
        use crate::model::mail::SubscribeOutcome;
        use crate::model::vote::VoteWithdrawn;
        for (is_member, has_changed) in [(false, true), (false, false), (true, true), (true, false)] {
            let mut unit = MockUnit::new();
            let summary = || summary("Inbox", None, 1);
            unit.expect_find_feature_request().returning(move |_| Ok(Some(summary())));
            unit.expect_find_customer().returning(|_| Ok(Some(crate::model::id::CustomerId::new(Uuid::from_u128(5)))));
            unit.expect_cast_vote().returning(move |_| {
                let outcome = if has_changed { VoteOutcome::Registered } else { VoteOutcome::AlreadyVoted };
                Ok(Some(VoteCast { outcome, request: summary() }))
            });
            unit.expect_withdraw_vote()
                .returning(move |_, _| Ok(Some(VoteWithdrawn { request: summary(), vote_removed: has_changed })));
            unit.expect_subscribe()
                .returning(move |_, _, _| Ok(Some(SubscribeOutcome { is_subscribed: true, has_changed })));
            unit.expect_unsubscribe().returning(move |_, _| Ok(Some(has_changed)));
            unit.expect_change_mail_settings().returning(|_, _, _| Ok(Some(false)));
            expect_language(&mut unit, 4);
            for (action, record) in [
                (PageAction::Vote(request()), OwnRecord::Vote),
                (PageAction::RemoveVote(request()), OwnRecord::Vote),
                (PageAction::Subscribe(request()), OwnRecord::Subscription),
                (PageAction::Unsubscribe(request()), OwnRecord::Subscription),
            ] {
                let operation = ActOnPage::new(&actor(is_member), &action, true).unwrap();
                let expected = if has_changed { Audit::OwnRecord(record) } else { Audit::Unchanged };
                let performed = perform(&operation, &mut unit).unwrap();
                assert_eq!(performed.audit, expected, "{action:?}");
                let is_announced = has_changed && record == OwnRecord::Vote;
                assert_eq!(performed.events.len(), usize::from(is_announced), "{action:?}");
            }
        }
    }

    #[test]
    fn texts_are_checked_before_they_are_kept() {
        let blank = PageAction::Comment { request: request(), content: " ".to_owned() };
        assert_eq!(ActOnPage::check(&blank), Err(FieldError::missing("content")));
        let untitled = PageAction::Submit { title: String::new(), description: String::new() };
        assert_eq!(ActOnPage::check(&untitled), Err(FieldError::missing("title")));
        assert_eq!(ActOnPage::check(&comment()), Ok(()));
        assert_eq!(ActOnPage::check(&PageAction::Vote(request())), Ok(()));
    }
}
