//! The state of outgoing mail, sending failed mail again, and a test mail.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::id::parse_uuid;
use roadmap_domain::model::mail::{MailFailure, MailStatus};
use roadmap_domain::usecase::query::admin::ShowMail;
use roadmap_domain::usecase::queue_test_mail::{QueueTestMail, TestMailBy};
use roadmap_domain::usecase::retry_mail::RetryMail;
use roadmap_http::error::HttpError;
use uuid::Uuid;

use crate::admin::parts::DisplayTime;
use crate::admin::{self, Entry};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the page.
const PATH: &str = "/admin/mail";
/// Number of failures that are read, to count those that are tried again.
const READ: u32 = 1_000;
/// Number of failures that are listed.
const LISTED: usize = 50;

#[derive(Template)]
#[template(path = "admin/mail.html")]
struct MailPage {
    page: Page,
    numbers: Vec<Number>,
    /// Since when the oldest mail waits.
    oldest: Option<DisplayTime>,
    /// Whether there is failed mail, and mail that is tried again later.
    has_dead: bool,
    has_postponed: bool,
    failures: Vec<FailureRow>,
    /// Whether there are more failures than are listed.
    is_cut: bool,
    /// The address of the member, to which a test mail goes.
    email: String,
    problems: Problems,
}

/// A number with its name and what it means.
struct Number {
    key: &'static str,
    number: String,
    hint: &'static str,
}

/// A mail that could not be sent.
#[derive(Debug, PartialEq, Eq)]
struct FailureRow {
    kind: &'static str,
    /// The page of what it is about.
    about: Option<String>,
    /// The page of the customer who should get it.
    customer: Option<String>,
    reason: String,
    attempts: String,
    /// When it is tried again. `None` if it is not.
    next: Option<DisplayTime>,
}

/// What the identity of a message says about it: the key of its kind, the page of what it is about, the customer.
fn describe(id: &str) -> (&'static str, Option<String>, Option<Uuid>) {
    let path = |folder: &str, id: &str| parse_uuid("id", id).ok().map(|id| format!("/admin/{folder}/{id}"));
    let parts: Vec<&str> = id.strip_prefix("audience.").unwrap_or(id).split('.').collect();
    match parts.as_slice() {
        ["sign_in", _] => ("mail-kind-sign-in", None, None),
        ["test", _] => ("mail-kind-test", None, None),
        ["webhook_disabled", webhook, ..] => ("mail-kind-webhook", path("webhooks", webhook), None),
        ["digest", _, customer] => ("mail-kind-digest", None, parse_uuid("customer", customer).ok()),
        ["team", ..] => ("mail-kind-team", None, None),
        ["status", _, rest @ ..] => ("mail-kind-status", None, customer_of(rest)),
        ["merge", _, rest @ ..] => ("mail-kind-merge", None, customer_of(rest)),
        ["changelog", changelog, rest @ ..] => {
            ("mail-kind-changelog", path("changelogs", changelog), customer_of(rest))
        }
        [comment, rest @ ..] => ("mail-kind-comment", path("comments", comment), customer_of(rest)),
        [] => ("mail-kind-comment", None, None),
    }
}

/// Returns the customer of a notification, who is the last part of its identity.
fn customer_of(parts: &[&str]) -> Option<Uuid> {
    parts.first().and_then(|customer| parse_uuid("customer", customer).ok())
}

impl FailureRow {
    fn new(t: Text, failure: &MailFailure) -> Self {
        let (kind, about, customer) = describe(failure.id.as_str());
        Self {
            kind,
            about,
            customer: customer.map(|customer| format!("/admin/customers/{customer}")),
            reason: failure.reason.clone(),
            attempts: t.count("mail-attempts", failure.attempts),
            next: failure.next_attempt_at.map(|at| DisplayTime::minute(t, at)),
        }
    }
}

/// `GET /admin/mail`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    render(&context, Problems::default()).await
}

/// `POST /admin/mail/retry`: sends postponed mail now, and with the field `dead` also failed mail.
pub(crate) async fn retry(context: Rc<Context>, fields: Fields) -> PageResult {
    let landing = |mails: u64| match mails {
        0 => format!("{PATH}?done=unchanged"),
        mails => format!("{PATH}?done=mail-retried&count={mails}"),
    };
    run_once(&context, &fields, RetryMail { dead: fields.has("dead") }, landing).await
}

/// `POST /admin/mail/test`: sends a test mail to the own address. Nobody else has asked for one.
pub(crate) async fn test(context: Rc<Context>, fields: Fields) -> PageResult {
    let to = admin::member(&context)?.1.email.clone();
    let test = QueueTestMail { to, requester: TestMailBy::Member };
    match run_once(&context, &fields, test, |_| format!("{PATH}?done=mail-tested")).await {
        Err(HttpError::Domain(RoadmapError::OverMailLimit(over))) => {
            let mut problems = Problems::default();
            problems.add("test", context.text().too_many(Some(over.retry_after)));
            render(&context, problems).await
        }
        done => done,
    }
}

async fn render(context: &Context, problems: Problems) -> PageResult {
    let email = admin::member(context)?.1.email.as_str().to_owned();
    let mail = context.run(&ShowMail { failures: READ }).await?;
    let page = admin::frame(context, Entry::Mail, context.text().get("admin-mail")).await?;
    let page = Page { here: PATH.to_owned(), ..page.with_problem(!problems.is_empty()) };
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    Ok(Reply::page_with(status, &MailPage::new(page, &mail, email, problems)))
}

impl MailPage {
    fn new(page: Page, mail: &MailStatus, email: String, problems: Problems) -> Self {
        let t = page.t;
        let postponed = mail.failures.iter().filter(|failure| failure.next_attempt_at.is_some()).count();
        let as_text = |number: u64| t.number(i64::try_from(number).unwrap_or(i64::MAX));
        // Those beyond the ones that were read are not counted.
        let is_read = mail.failures.len() < usize::try_from(READ).unwrap_or(usize::MAX);
        let mark = if is_read { "" } else { "+" };
        let number = |key, number, hint| Number { key, number, hint };
        let sent_hint = if page.lacks_mail_server { "mail-written-hint" } else { "mail-sent-hint" };
        Self {
            numbers: vec![
                number("mail-waiting", as_text(mail.waiting.saturating_add(mail.audiences)), "mail-waiting-hint"),
                number("mail-postponed", format!("{}{mark}", as_text(postponed as u64)), "mail-postponed-hint"),
                number("mail-failed", as_text(mail.dead), "mail-failed-hint"),
                number("mail-sent", as_text(mail.sent), sent_hint),
            ],
            oldest: mail.oldest.map(|at| DisplayTime::minute(t, at)),
            has_dead: mail.dead > 0,
            has_postponed: postponed > 0,
            failures: mail.failures.iter().take(LISTED).map(|failure| FailureRow::new(t, failure)).collect(),
            is_cut: mail.failures.len() > LISTED,
            email,
            problems,
            page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page};
    use roadmap_domain::model::id::{
        ChangelogId, CommentId, CustomerId, EventId, MemberId, SignInId, WebhookId, WorkspaceId,
    };
    use roadmap_domain::model::mail::{DigestId, MailId, Topic};
    use roadmap_domain::model::message::MessageId;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::team_mail::TeamDigestId;

    fn status(failures: Vec<MailFailure>) -> MailStatus {
        MailStatus {
            workspace: WorkspaceId::new(Uuid::from_u128(1)),
            waiting: 3,
            audiences: 1,
            oldest: Some(at(0)),
            sent: 1_204,
            dead: 1,
            failures,
        }
    }

    fn failure(next: bool) -> MailFailure {
        MailFailure {
            id: MessageId::sign_in(SignInId::new(Uuid::from_u128(1))),
            attempts: 2,
            next_attempt_at: next.then(|| at(1)),
            reason: "450 <busy>".to_owned(),
        }
    }

    #[test]
    fn the_page_is_well_formed() {
        for language in Language::ALL {
            let mut with_problem = Problems::default();
            with_problem.add("test", "A sentence.");
            for problems in [Problems::default(), with_problem] {
                for failures in [Vec::new(), vec![failure(true), failure(false)], vec![failure(true); LISTED + 1]] {
                    let page = sample_page(language, true, "Mail");
                    let page = MailPage::new(page, &status(failures), "a\"b".to_owned(), problems.clone());
                    assert_well_formed(&page.render().unwrap());
                }
            }
        }
    }

    #[test]
    fn the_numbers_are_those_of_the_queue() {
        let numbers = |failures| {
            let page = sample_page(Language::English, true, "Mail");
            let page = MailPage::new(page, &status(failures), String::new(), Problems::default());
            page.numbers.into_iter().map(|number| number.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(vec![failure(true), failure(false)]), ["4", "1", "1", "1,204"]);
        assert_eq!(numbers(vec![failure(true); 1_000]), ["4", "1,000+", "1", "1,204"]);
    }

    #[test]
    fn the_identity_of_a_message_says_what_it_is() {
        let [topic, customer] = [1, 2].map(Uuid::from_u128);
        let mail = |topic| MessageId::from(MailId { topic, customer: CustomerId::new(customer) });
        let digest = DigestId { at: at(0), customer: CustomerId::new(customer) };
        let (changelog, comment) = (ChangelogId::new(topic), CommentId::new(topic));
        let team = TeamDigestId { member: MemberId::new(customer), after: at(0), until: at(1) };
        let disabled = MessageId::webhook_disabled(WebhookId::new(topic), at(0), MemberId::new(customer));
        for (id, expected) in [
            (mail(Topic::Comment(comment)), ("mail-kind-comment", Some("comments"), Some(customer))),
            (mail(Topic::StatusChange(EventId::new(topic))), ("mail-kind-status", None, Some(customer))),
            (mail(Topic::Merge(EventId::new(topic))), ("mail-kind-merge", None, Some(customer))),
            (MessageId::from(team), ("mail-kind-team", None, None)),
            (mail(Topic::Changelog(changelog)), ("mail-kind-changelog", Some("changelogs"), Some(customer))),
            (MessageId::audience(Topic::Changelog(changelog)), ("mail-kind-changelog", Some("changelogs"), None)),
            (MessageId::from(digest), ("mail-kind-digest", None, Some(customer))),
            (MessageId::sign_in(SignInId::new(topic)), ("mail-kind-sign-in", None, None)),
            (MessageId::test_mail(topic), ("mail-kind-test", None, None)),
            (disabled, ("mail-kind-webhook", Some("webhooks"), None)),
            (MessageId::new("anything"), ("mail-kind-comment", None, None)),
        ] {
            let (kind, folder, customer) = expected;
            let path = folder.map(|folder| format!("/admin/{folder}/{topic}"));
            assert_eq!(describe(id.as_str()), (kind, path, customer), "{id}");
        }
    }
}
