//! The account of somebody who is signed in: name, language, what is followed or voted for, ideas, mail and sessions.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{FieldProblem, RoadmapError};
use roadmap_domain::model::id::{SessionId, parse_uuid};
use roadmap_domain::model::mail::MailSettings;
use roadmap_domain::model::member::Role;
use roadmap_domain::model::portal::{AccountLists, FollowedRequest};
use roadmap_domain::model::session::{Session, SessionEntry};
use roadmap_domain::model::sign_in::LocalPath;
use roadmap_domain::usecase::query::portal::ShowAccount;
use roadmap_domain::usecase::save_account::{SaveAccount, held_name};
use roadmap_domain::usecase::sign_in::{EndSession, EndSessions};
use roadmap_http::error::HttpError;

use crate::actions::{execute, next_path, with_done, without_parameter};
use crate::context::Context;
use crate::cookies::{self, LANGUAGE};
use crate::form::{Fields, Problems};
use crate::page::{Nav, Page};
use crate::portal::mail_choice::{self, TeamMailChoice};
use crate::portal::parts::{Row, Statuses};
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
    followed: Vec<Followed>,
    ideas: Vec<Row>,
    /// Which mail the person gets, if the person is a customer.
    mail: Option<MailSettings>,
    /// The choices of mail for the team, if the person is a member.
    team_mail: Vec<TeamMailChoice>,
    sessions: Vec<OpenSession>,
    /// Whether the person is a customer and no member, so that everything stored can be downloaded and deleted here.
    is_customer: bool,
    problems: Problems,
}

/// A feature request that the person follows or voted for.
struct Followed {
    row: Row,
    is_followed: bool,
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

impl Followed {
    fn new(statuses: &Statuses, request: &FollowedRequest) -> Self {
        let FollowedRequest { row, has_voted, is_followed } = request;
        let voted = has_voted.then_some(row.summary.id);
        Self { row: Row::new(statuses, voted.as_slice(), row, false), is_followed: *is_followed }
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
    let AccountLists { followed, ideas, sessions } = lists;
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
        followed: followed.iter().map(|request| Followed::new(&statuses, request)).collect(),
        ideas: ideas.iter().map(|row| Row::new(&statuses, &[], row, true)).collect(),
        mail,
        team_mail,
        sessions: sessions.iter().map(|entry| OpenSession::new(text, entry, session.id)).collect(),
        is_customer: customer.is_some() && session.member.is_none(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page, sample_statuses, sample_summary};
    use roadmap_domain::model::portal::{Language, PortalRow};

    fn row(number: i64, status: Option<&str>, private: bool, awaiting_approval: bool) -> PortalRow {
        let summary = sample_summary(number, "Dark <b>\"mode\"", status);
        PortalRow { summary, status_since: at(9), excerpt: String::new(), private, awaiting_approval }
    }

    fn account(language: Language, is_empty: bool) -> AccountPage {
        let statuses = sample_statuses(language);
        let followed = |(number, has_voted, is_followed)| {
            let row = row(number, Some("In progress"), false, false);
            Followed::new(&statuses, &FollowedRequest { row, has_voted, is_followed })
        };
        let followed = [(1, true, true), (2, true, false), (3, false, true)].map(followed);
        let ideas = [row(4, None, true, true), row(5, Some("Done"), true, false)];
        let ideas = ideas.iter().map(|row| Row::new(&statuses, &[], row, true));
        let session = |number: u8, is_this| OpenSession {
            id: number.to_string(),
            browser: "Firefox".to_owned(),
            since: "4 March 2026".to_owned(),
            machine_since: "2026-03-04".to_owned(),
            seen: "5 March 2026".to_owned(),
            machine_seen: "2026-03-05".to_owned(),
            is_this,
        };
        AccountPage {
            page: sample_page(language, false, "Your account"),
            email: "ann@example.com".to_owned(),
            name: "Ann".to_owned(),
            language: String::new(),
            role: None,
            followed: if is_empty { Vec::new() } else { followed.into() },
            ideas: if is_empty { Vec::new() } else { ideas.collect() },
            mail: (!is_empty).then_some(MailSettings { requests: true, changelogs: false, news: false }),
            team_mail: Vec::new(),
            sessions: vec![session(1, true), session(2, false)],
            is_customer: !is_empty,
            problems: Problems::default(),
        }
    }

    #[test]
    fn the_account_is_well_formed_with_and_without_lists() {
        for language in Language::ALL {
            for is_empty in [false, true] {
                let html = account(language, is_empty).render().unwrap();
                assert_well_formed(&html);
                let pressed = |state: &str| html.matches(&format!(" aria-pressed=\"{state}\"")).count();
                assert_eq!((pressed("true"), pressed("false")), if is_empty { (0, 0) } else { (2, 1) }, "{html}");
            }
        }
    }

    #[test]
    fn what_is_followed_has_a_switch_its_status_and_its_date() {
        let html = account(Language::English, false).render().unwrap();
        let (_, list) = html.split_once("id=\"followed\"").unwrap();
        let entries: Vec<&str> = list.split("<li>").skip(1).take(3).collect();
        for (entry, state, pressed, words) in [
            (entries[0], "off", "true", "Following</span>"),
            (entries[1], "on", "false", "</svg>Follow<span"),
            (entries[2], "off", "true", "Following</span>"),
        ] {
            let (state, pressed) = (format!("value=\"{state}\""), format!("aria-pressed=\"{pressed}\""));
            let name = "<span class=\"hidden\">: Dark &#60;b&#62;&#34;mode&#34;</span></button>";
            for part in
                [name, "<bdi>In progress</bdi>", "<time datetime=\"2026-03-13\">since 13 March 2026</time>", words]
            {
                assert!(entry.contains(part), "{part}\n{entry}");
            }
            assert!(entry.contains(&state) && entry.contains(&pressed), "{entry}");
        }
        let voted = entries.iter().map(|entry| entry.contains("Voted</span>"));
        assert_eq!(voted.collect::<Vec<_>>(), [true, true, false]);
    }
}
