//! The account of somebody who is signed in: name, language, votes, ideas, subscriptions, mail and sessions.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{FieldProblem, RoadmapError};
use roadmap_domain::model::feature_request::{FeatureRequestSummary, RequestLink};
use roadmap_domain::model::id::{SessionId, parse_uuid};
use roadmap_domain::model::mail::MailSettings;
use roadmap_domain::model::member::Role;
use roadmap_domain::model::portal::{AccountLists, PortalRow};
use roadmap_domain::model::session::{Session, SessionEntry};
use roadmap_domain::model::sign_in::LocalPath;
use roadmap_domain::usecase::query::portal::ShowAccount;
use roadmap_domain::usecase::save_account::{SaveAccount, held_name};
use roadmap_domain::usecase::sign_in::{EndSession, EndSessions};
use roadmap_http::error::HttpError;

use crate::actions::{execute, next_path, request_path, with_done, without_parameter};
use crate::context::Context;
use crate::cookies::{self, LANGUAGE};
use crate::form::{Fields, Problems};
use crate::page::{Nav, Page};
use crate::portal::mail_choice::{self, TeamMailChoice};
use crate::portal::parts::{Counted, Status, Statuses};
use crate::portal::preferences::parse_language;
use crate::portal::sign_in::signed_out;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the page.
const PATH: &str = "/account";

#[derive(Template)]
#[template(path = "portal/account.html")]
struct AccountPage {
    page: Page,
    email: String,
    /// The name as typed or stored.
    name: String,
    /// The code of the chosen language. Empty for that of the browser.
    language: String,
    /// What a member is in the team, in words, with the name there.
    role: Option<String>,
    votes: Vec<Entry>,
    ideas: Vec<Entry>,
    subscriptions: Vec<Entry>,
    /// Which mail the person gets, if the person is a customer.
    mail: Option<MailSettings>,
    /// The choices of mail for the team, if the person is a member.
    team_mail: Vec<TeamMailChoice>,
    sessions: Vec<OpenSession>,
    problems: Problems,
}

/// A feature request in a list.
struct Entry {
    title: String,
    path: String,
    votes: Option<Counted>,
    status: Option<Status>,
    is_private: bool,
    is_awaiting: bool,
}

/// A session of the person.
struct OpenSession {
    id: String,
    browser: String,
    since: String,
    machine_since: String,
    seen: String,
    machine_seen: String,
    is_this: bool,
}

impl Entry {
    fn new(text: Text, statuses: &Statuses, request: &FeatureRequestSummary, is_own: bool) -> Self {
        let status = statuses.of(&request.placement, is_own);
        let votes = Some(Counted::votes(text, request.votes_count));
        Self { votes, status, ..Self::of_link(&RequestLink::from(request)) }
    }

    /// Creates the entry of what the viewer has written.
    fn of_row(text: Text, statuses: &Statuses, row: &PortalRow) -> Self {
        let is_awaiting = row.awaiting_approval;
        let entry = Self::new(text, statuses, &row.summary, true);
        let status = entry.status.filter(|_| !is_awaiting);
        Self { is_private: row.private && !is_awaiting, is_awaiting, status, ..entry }
    }

    fn of_link(request: &RequestLink) -> Self {
        Self {
            title: request.title.as_str().to_owned(),
            path: request_path(request),
            votes: None,
            status: None,
            is_private: false,
            is_awaiting: false,
        }
    }
}

impl OpenSession {
    fn new(text: Text, entry: &SessionEntry, this: SessionId) -> Self {
        let browser = entry.browser.as_ref().map(|browser| browser.as_str().to_owned());
        Self {
            id: entry.id.to_string(),
            browser: browser.unwrap_or_else(|| text.get("browser-unknown").into_owned()),
            since: text.date(entry.created_at),
            machine_since: text.machine_date(entry.created_at),
            seen: text.date(entry.last_seen_at),
            machine_seen: text.machine_date(entry.last_seen_at),
            is_this: entry.id == this,
        }
    }
}

/// `GET /account`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let session = session(&context)?;
    let name = session.customer.as_ref().and_then(|customer| customer.name.as_ref());
    let name = name.map(|name| name.as_str().to_owned()).unwrap_or_default();
    let language = session.language.map(|language| language.code().to_owned()).unwrap_or_default();
    page(&context, session, name, language, Problems::default()).await
}

/// Saves name and language, or returns the problems of the name.
async fn save_account(
    context: &Context,
    session: &Session,
    raw_name: &str,
    language: &str,
) -> Result<Result<(), Problems>, HttpError> {
    let mut problems = Problems::default();
    let name = match SaveAccount::parse_name(raw_name) {
        Err(error) if matches!(error.problem, FieldProblem::Malformed { .. }) => {
            problems.add("name", context.text().get("account-name-link"));
            None
        }
        name => problems.check(name, context.text()),
    };
    let Some(name) = name else { return Ok(Err(problems)) };
    let language = parse_language(language, &context.portal.settings.languages);
    let holds_names = context.portal.settings.holds_posts && session.member.is_none();
    match execute(context, SaveAccount { email: session.email.clone(), name, language, holds_names }).await {
        Err(HttpError::Domain(RoadmapError::Invalid(error))) if error == held_name() => {
            problems.add("name", context.text().get("account-name-held"));
            Ok(Err(problems))
        }
        Err(error) => Err(error),
        Ok(_) => Ok(Ok(())),
    }
}

/// `POST /account`: saves name and language.
pub(crate) async fn save(context: Rc<Context>, fields: Fields) -> PageResult {
    let session = session(&context)?;
    let (raw_name, language) = (fields.get("name"), fields.get("language"));
    if let Err(problems) = save_account(&context, session, raw_name, language).await? {
        return page(&context, session, raw_name.to_owned(), language.to_owned(), problems).await;
    }
    let language = parse_language(language, &context.portal.settings.languages);
    // An earlier choice in the footer would hide the one that was just made.
    let code = language.map_or("", |language| language.code());
    let cookie = cookies::preference(LANGUAGE, code, context.is_https());
    Ok(Reply::see_other("/account?done=saved").with_cookie(cookie))
}

/// `POST /account/name`: saves the name that a page has asked for. A blank one is no answer.
pub(crate) async fn save_name(context: Rc<Context>, fields: Fields) -> PageResult {
    let session = session(&context)?;
    let (raw_name, next) = (fields.get("name"), next_path(&fields));
    let next = next.as_ref().map_or("/account", LocalPath::as_str);
    if raw_name.trim().is_empty() {
        return Ok(Reply::see_other(without_parameter(next, "done")));
    }
    let language = session.language.map(|language| language.code()).unwrap_or_default();
    match save_account(&context, session, raw_name, language).await? {
        Ok(()) => Ok(Reply::see_other(with_done(next, "named"))),
        Err(problems) => page(&context, session, raw_name.to_owned(), language.to_owned(), problems).await,
    }
}

/// `POST /account/sessions`: ends the session of the field `session`, or all sessions.
pub(crate) async fn end_sessions(context: Rc<Context>, fields: Fields) -> PageResult {
    let (own, email) = (session(&context)?.id, session(&context)?.email.clone());
    if !fields.has("session") {
        execute(&context, EndSessions { email }).await?;
        return Ok(signed_out(&context, "signed-out-everywhere"));
    }
    let ended = parse_uuid("session", fields.get("session")).map(SessionId::new).map_err(|_| HttpError::NotFound)?;
    execute(&context, EndSession { session: ended, email }).await?;
    match ended == own {
        true => Ok(signed_out(&context, "signed-out")),
        false => Ok(Reply::see_other("/account?done=session-ended")),
    }
}

/// Returns the session, without which these pages are not reached.
fn session(context: &Context) -> Result<&Session, HttpError> {
    context.session.as_deref().ok_or(HttpError::NotFound)
}

async fn page(context: &Context, session: &Session, name: String, language: String, problems: Problems) -> PageResult {
    let customer = session.customer.as_ref().map(|customer| customer.id);
    let lists = context.run(&ShowAccount { email: session.email.clone(), customer }).await?;
    let AccountLists { votes, ideas, subscriptions, sessions } = lists;
    let mail = match customer {
        Some(customer) => Some(mail_choice::shown(context, customer).await?.settings),
        None => None,
    };
    let team_mail = match &session.member {
        Some(member) => mail_choice::team_choices(context, member.id).await?,
        None => Vec::new(),
    };
    let text = context.text();
    let statuses = Statuses::load(context).await?;
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = Page::new(context, Nav::Account, text.get("account-title")).with_problem(!problems.is_empty());
    let template = AccountPage {
        page: Page { here: PATH.to_owned(), ..page.not_indexed() },
        email: session.email.as_str().to_owned(),
        name,
        language,
        role: session.member.as_ref().map(|member| text.named(role_key(member.role), member.name.as_str())),
        votes: votes.iter().map(|request| Entry::new(text, &statuses, request, false)).collect(),
        ideas: ideas.iter().map(|row| Entry::of_row(text, &statuses, row)).collect(),
        subscriptions: subscriptions.iter().map(Entry::of_link).collect(),
        mail,
        team_mail,
        sessions: sessions.iter().map(|entry| OpenSession::new(text, entry, session.id)).collect(),
        problems,
    };
    Ok(Reply::page_with(status, &template).not_indexed())
}

const fn role_key(role: Role) -> &'static str {
    match role {
        Role::Admin => "account-admin",
        Role::Member => "account-member",
    }
}
