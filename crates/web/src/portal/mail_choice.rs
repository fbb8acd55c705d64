//! Which mail somebody gets: the page behind the link of a mail that stops it, and the settings.
//!
//! Nobody has to sign in. The link of a mail stops mail; the page that follows has a link to the settings, which is valid for
//! [`MailSettings::LINK_LIFETIME`] and for nothing else.

use std::rc::Rc;

use askama::Template;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, MemberId, parse_uuid};
use roadmap_domain::model::mail::{MailSettings, Unsubscription};
use roadmap_domain::model::sign_in::PageAction;
use roadmap_domain::model::team_mail::TeamMail;
use roadmap_domain::policy::links::{is_team_link, unsubscription};
use roadmap_domain::policy::signed_reference::Purpose;
use roadmap_domain::usecase::act_on_page::{ActOnPage, PageActor};
use roadmap_domain::usecase::query::subscriptions::{MailSettingsShown, ShowMailSettings, ShowTeamMail};
use roadmap_domain::usecase::unsubscribe::{SaveMailSettings, SaveOwnMail, SaveTeamMail, Unsubscribe};
use roadmap_http::error::HttpError;
use roadmap_http::workspace::resolve_reference;

use crate::actions::{execute, request_path};
use crate::context::Context;
use crate::form::Fields;
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};

/// The page that stops mail.
#[derive(Template)]
#[template(path = "portal/stop-mail.html")]
struct StopPage {
    page: Page,
    email: String,
    /// The path of the form.
    action: String,
    /// Whether the link is that of a mail to a member of the team.
    is_team: bool,
    /// Whether the link is about a feature request.
    has_request: bool,
    /// Title and path of the feature request, if the person may see it.
    request: Option<(String, String)>,
    /// Whether changelogs can be stopped by themselves, and those that the customer asked for.
    has_changelogs: bool,
    has_news: bool,
}

/// What was stopped, and the way back.
#[derive(Template)]
#[template(path = "portal/mail-stopped.html")]
struct StoppedPage {
    page: Page,
    sentence: String,
    /// The path of the form of *Undo*.
    action: String,
    /// The path of the settings.
    settings_path: String,
    /// What *Undo* sends: the choice of a member, the feature request, or the settings before.
    team: Option<&'static str>,
    follow: Option<FeatureRequestId>,
    before: MailSettings,
}

/// The settings.
#[derive(Template)]
#[template(path = "portal/mail-settings.html")]
struct SettingsPage {
    page: Page,
    email: String,
    /// The path of the form.
    action: String,
    mail: Option<MailSettings>,
    /// None: the link is that of a customer.
    team_mail: Vec<TeamMailChoice>,
}

/// A choice of which mail a member gets about what customers write.
pub(crate) struct TeamMailChoice {
    pub(super) value: &'static str,
    pub(super) label: String,
    pub(super) hint: Option<String>,
    pub(super) is_chosen: bool,
}

/// Returns the choices of mail to a member.
pub(crate) async fn team_choices(context: &Context, member: MemberId) -> Result<Vec<TeamMailChoice>, HttpError> {
    let (_, wanted) = context.run(&ShowTeamMail { member }).await?;
    let text = context.text();
    let choice = |choice: TeamMail| {
        let (label, hint) = match choice {
            TeamMail::Each => ("team-mail-each", Some(text.get("team-mail-each-hint").into_owned())),
            TeamMail::Answered => ("team-mail-answered", Some(text.get("team-mail-answered-hint").into_owned())),
            TeamMail::Daily => {
                let zone = context.portal.settings.time_zone.name();
                ("team-mail-daily", Some(text.named("team-mail-daily-hint", zone)))
            }
            TeamMail::Nothing => ("team-mail-nothing", None),
        };
        let is_chosen = choice == wanted;
        TeamMailChoice { value: choice.name(), label: text.get(label).into_owned(), hint, is_chosen }
    };
    Ok(TeamMail::ALL.map(choice).into())
}

/// The pages behind the link of a mail to a member.
async fn ask_member(context: &Context) -> PageResult {
    let member = linked_member(context).await?;
    let (email, _) = context.run(&ShowTeamMail { member }).await?;
    let (text, action) = (context.text(), format!("{}?kind=team", context.request.path()));
    let page = Page::new(context, Nav::Other, text.get("stop-mail-title")).not_indexed();
    let stopped = context.query.get("stopped");
    if let Some(before) = TeamMail::from_name(stopped) {
        return Ok(Reply::page(&StoppedPage {
            page,
            sentence: text.get("stopped-team").into_owned(),
            action,
            settings_path: "/account#mail".to_owned(),
            team: Some(before.name()),
            follow: None,
            before: chosen(&context.query),
        })
        .not_indexed());
    }
    Ok(Reply::page(&StopPage {
        page,
        email: email.as_str().to_owned(),
        action,
        is_team: true,
        has_request: false,
        request: None,
        has_changelogs: false,
        has_news: false,
    })
    .not_indexed())
}

/// Saves the choice of a member who follows the link of a mail: nothing, or with *Undo* what it was before.
async fn choose_for_member(context: &Context, fields: &Fields) -> PageResult {
    let member = linked_member(context).await?;
    let (_, before) = context.run(&ShowTeamMail { member }).await?;
    let wanted = TeamMail::from_name(fields.get("team")).unwrap_or(TeamMail::Nothing);
    execute(context, SaveTeamMail { member, wanted }).await?;
    let done = match wanted {
        TeamMail::Nothing => format!("stopped={}", before.name()),
        TeamMail::Each | TeamMail::Answered | TeamMail::Daily => "done=mail-saved".to_owned(),
    };
    Ok(Reply::see_other(format!("{}?kind=team&{done}", context.request.path())))
}

/// `GET /stop-mail/<reference>`: asks what to stop.
pub(crate) async fn ask(context: Rc<Context>) -> PageResult {
    if is_team_link(|name| parameter(&context, name)) {
        return ask_member(&context).await;
    }
    let (customer, what) = linked(&context).await?;
    let shown = context.run(&ShowMailSettings { customer, what }).await?;
    let title = context.text().get("stop-mail-title");
    Ok(Reply::page(&StopPage {
        page: Page::new(&context, Nav::Other, title).not_indexed(),
        email: shown.email.as_str().to_owned(),
        action: context.path_and_query(),
        is_team: false,
        has_request: matches!(what, Unsubscription::Request(_)),
        request: shown.request.map(|request| (request.title.as_str().to_owned(), request_path(&request))),
        has_changelogs: shown.settings.changelogs
            && matches!(what, Unsubscription::Changelogs | Unsubscription::Everything),
        has_news: shown.settings.news && matches!(what, Unsubscription::News | Unsubscription::Everything),
    })
    .not_indexed())
}

/// `POST /stop-mail/<reference>`: stops what the field `stop` names, and leads to the page that says so.
pub(crate) async fn stop(context: Rc<Context>, fields: Fields) -> PageResult {
    if is_team_link(|name| parameter(&context, name)) {
        return choose_for_member(&context, &fields).await;
    }
    let (customer, linked) = linked(&context).await?;
    let (what, name) = match fields.get("stop") {
        "request" => (linked, "request"),
        "changelogs" => (Unsubscription::Changelogs, "changelogs"),
        "news" => (Unsubscription::News, "news"),
        _ => (Unsubscription::Everything, "all"),
    };
    let before = shown(&context, customer).await?.settings;
    execute(&context, Unsubscribe { customer, what }).await?;
    let until = context.state.http.clock.now().plus(MailSettings::LINK_LIFETIME);
    let path = context.links.mail_settings(customer, until);
    // What *Undo* is to restore.
    let undo = match what {
        Unsubscription::Request(request) => format!("&follow={request}"),
        Unsubscription::Changelogs | Unsubscription::News | Unsubscription::Everything => {
            let ticks =
                [(before.requests, "&requests=1"), (before.changelogs, "&changelogs=1"), (before.news, "&news=1")];
            ticks.iter().filter(|(is_on, _)| *is_on).map(|(_, tick)| *tick).collect()
        }
    };
    Ok(Reply::see_other(format!("{path}?stopped={name}{undo}")))
}

/// `GET /mail/<reference>`: shows the settings, or first what was stopped.
pub(crate) async fn settings(context: Rc<Context>) -> PageResult {
    let customer = owner(&context).await?;
    let what =
        if context.query.has("follow") { followed(context.query.get("follow"))? } else { Unsubscription::Everything };
    let MailSettingsShown { email, settings, request } = context.run(&ShowMailSettings { customer, what }).await?;
    let (text, path) = (context.text(), context.request.path().to_owned());
    let sentence = match (context.query.get("stopped"), request) {
        ("request", Some(request)) => text.named("stopped-request", request.title.as_str()),
        ("request", None) => text.get("stopped-this").into_owned(),
        ("changelogs", _) => text.get("stopped-changelogs").into_owned(),
        ("news", _) => text.get("stopped-news").into_owned(),
        ("all", _) => text.get("stopped-all").into_owned(),
        _ => {
            let page = Page::new(&context, Nav::Other, text.get("mail-settings-title")).not_indexed();
            let email = email.as_str().to_owned();
            let (mail, team_mail) = (Some(settings), Vec::new());
            return Ok(Reply::page(&SettingsPage { page, email, action: path, mail, team_mail }).not_indexed());
        }
    };
    Ok(Reply::page(&StoppedPage {
        page: Page::new(&context, Nav::Other, text.get("stop-mail-title")).not_indexed(),
        sentence,
        action: path.clone(),
        settings_path: path,
        team: None,
        follow: match what {
            Unsubscription::Request(request) => Some(request),
            Unsubscription::Changelogs | Unsubscription::News | Unsubscription::Everything => None,
        },
        before: chosen(&context.query),
    })
    .not_indexed())
}

/// `POST /mail/<reference>`: saves the settings. With the field `follow`, undoes the end of a subscription.
pub(crate) async fn save(context: Rc<Context>, fields: Fields) -> PageResult {
    let customer = owner(&context).await?;
    let path = context.request.path();
    if !fields.has("follow") {
        execute(&context, SaveMailSettings { customer, settings: chosen(&fields) }).await?;
        return Ok(Reply::see_other(format!("{path}?done=mail-saved")));
    }
    let what = followed(fields.get("follow"))?;
    // What the person may not see does not exist.
    let MailSettingsShown { email, request, .. } = context.run(&ShowMailSettings { customer, what }).await?;
    let request = request.ok_or(HttpError::NotFound)?;
    let actor = PageActor { email, is_member: false, language: context.language };
    let follow = ActOnPage::new(&actor, &PageAction::Subscribe(request.id), false)
        .map_err(|error| HttpError::Domain(error.into()))?;
    execute(&context, follow).await?;
    Ok(Reply::see_other(format!("{path}?done=subscribed")))
}

/// `POST /account/mail`: saves the settings of somebody who is signed in.
pub(crate) async fn save_own(context: Rc<Context>, fields: Fields) -> PageResult {
    let session = context.session.as_deref().ok_or(HttpError::NotFound)?;
    let customer = session.customer.as_ref();
    let customer = customer.map(|customer| SaveMailSettings { customer: customer.id, settings: chosen(&fields) });
    // Without a choice, it stays.
    let wanted = TeamMail::from_name(fields.get("team"));
    let member = session.member.as_ref().zip(wanted).map(|(member, wanted)| SaveTeamMail { member: member.id, wanted });
    if customer.is_none() && session.member.is_none() {
        return Err(HttpError::NotFound);
    }
    execute(&context, SaveOwnMail { customer, member }).await?;
    Ok(Reply::see_other("/account?done=mail-saved"))
}

/// Returns the mail settings of a customer.
pub(crate) async fn shown(context: &Context, customer: CustomerId) -> Result<MailSettingsShown, HttpError> {
    context.run(&ShowMailSettings { customer, what: Unsubscription::Everything }).await
}

/// Returns the feature request whose subscription was ended.
fn followed(raw: &str) -> Result<Unsubscription, HttpError> {
    let request = parse_uuid("follow", raw).map_err(|_| HttpError::NotFound)?;
    Ok(Unsubscription::Request(FeatureRequestId::new(request)))
}

/// Returns the settings of a form.
fn chosen(fields: &Fields) -> MailSettings {
    MailSettings { requests: fields.has("requests"), changelogs: fields.has("changelogs"), news: fields.has("news") }
}

/// Returns whose mail the link of a mail is about, and what it stops.
async fn linked(context: &Context) -> Result<(CustomerId, Unsubscription), HttpError> {
    let (_, customer) = resolve_reference(&context.state.http, &context.request, Purpose::Unsubscribe).await?;
    Ok((CustomerId::new(customer), unsubscription(|name| parameter(context, name))))
}

/// Returns the member whose mail the link of a mail is about.
async fn linked_member(context: &Context) -> Result<MemberId, HttpError> {
    let (_, member) = resolve_reference(&context.state.http, &context.request, Purpose::TeamMail).await?;
    Ok(MemberId::new(member))
}

/// Returns a parameter of the query.
fn parameter<'a>(context: &'a Context, name: &str) -> Option<&'a str> {
    context.query.has(name).then(|| context.query.get(name))
}

/// Returns whose settings the link of the path leads to.
async fn owner(context: &Context) -> Result<CustomerId, HttpError> {
    let (_, customer) = resolve_reference(&context.state.http, &context.request, Purpose::MailSettings).await?;
    Ok(CustomerId::new(customer))
}
