//! The members of the team: inviting, roles, removing.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::api_key::ApiKey;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::MemberId;
use roadmap_domain::model::member::{Member, MemberRef, Role};
use roadmap_domain::model::sign_in::{LocalPath, SignInRequester};
use roadmap_domain::model::text::Name;
use roadmap_domain::usecase::change_members::{AddMember, ChangeRole, RemoveMember};
use roadmap_domain::usecase::query::admin::ListApiKeys;
use roadmap_domain::usecase::query::people::ListMembers;
use roadmap_domain::usecase::sign_in::{AskForSignIn, StartSignIn};
use roadmap_http::error::HttpError;

use crate::admin::parts::{Choice, DisplayTime};
use crate::admin::{self, Entry, path_id};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::{run_once, run_step};
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the list.
const PATH: &str = "/admin/members";
/// Where somebody goes whose own role has changed: such a change ends the sessions.
const AFTER_OWN_ROLE: &str = "/sign-in?next=%2Fadmin&done=role-changed";
/// Where somebody goes who is not in the team any more.
const AFTER_OWN_REMOVAL: &str = "/?done=member-removed";

#[derive(Template)]
#[template(path = "admin/members.html")]
struct MembersPage {
    page: Page,
    members: Vec<MemberRow>,
    /// What was typed for an invitation.
    email: String,
    name: String,
    roles: Vec<Choice>,
    is_fresh: bool,
    problems: Problems,
}

/// The page that asks before a member is removed, or before an admin who has made API keys becomes a member.
#[derive(Template)]
#[template(path = "admin/member-remove.html")]
struct RemovePage {
    page: Page,
    member: MemberRow,
    /// Whether the member is only made one without the role of an admin.
    demotes: bool,
    /// The valid API keys that the member has made: names and last characters.
    keys: Vec<(String, String)>,
    /// Whether the workspace has no other admin.
    is_last_admin: bool,
    is_fresh: bool,
    problems: Problems,
}

/// A member in the list.
#[derive(Debug, Clone)]
struct MemberRow {
    id: String,
    name: String,
    email: String,
    role: &'static str,
    roles: Vec<Choice>,
    since: DisplayTime,
    /// The words of the button that sends a link, before and after the name.
    again: (String, String),
    /// Whether it is the one who looks.
    is_own: bool,
}

/// Returns the key of the name of a role.
const fn role_key(role: Role) -> &'static str {
    match role {
        Role::Admin => "role-admin",
        Role::Member => "role-member",
    }
}

/// Returns the roles as options.
fn role_choices(t: Text, selection: &str) -> Vec<Choice> {
    // The role that may do less comes first.
    [Role::Member, Role::Admin].map(|role| Choice::new(role.name(), t.get(role_key(role)), selection)).to_vec()
}

impl MemberRow {
    fn new(t: Text, member: &Member, own: MemberId) -> Self {
        // A character that no name has.
        let again = t.named("member-invite-again-of", "\0");
        let (before, after) = again.split_once('\0').unwrap_or_default();
        Self {
            id: member.id.to_string(),
            again: (before.to_owned(), after.to_owned()),
            name: member.name.as_str().to_owned(),
            email: member.email.as_str().to_owned(),
            role: role_key(member.role),
            roles: role_choices(t, member.role.name()),
            since: DisplayTime::day(t, member.created_at),
            is_own: member.id == own,
        }
    }
}

/// What the form for an invitation shows.
#[derive(Debug, Default)]
struct MemberForm<'a> {
    email: &'a str,
    name: &'a str,
    role: &'a str,
}

/// `GET /admin/members`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    render(&context, &MemberForm::default(), Problems::default()).await
}

/// `POST /admin/members`: adds a member, who gets a link by mail.
pub(crate) async fn invite(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, mut problems) = (context.text(), Problems::default());
    let form = MemberForm { email: fields.get("email"), name: fields.get("name"), role: fields.get("role") };
    let email = problems.check(EmailAddress::parse("email", form.email), t);
    let name = problems.check(Name::parse("name", form.name), t);
    let role = problems.check(Role::parse("role", form.role), t);
    let (Some(email), Some(name), Some(role), true) = (email, name, role, problems.is_empty()) else {
        return render(&context, &form, problems).await;
    };
    let add = AddMember { email: email.clone(), name, role: Some(role) };
    match run_step(&context, &fields, "", add, |member| member.id.to_string()).await {
        Ok(_) => {}
        Err(HttpError::Domain(RoadmapError::Taken { .. })) => {
            problems.add("email", t.get("member-known"));
            return render(&context, &form, problems).await;
        }
        Err(error) => return Err(error),
    }
    let done = if send_link(&context, &fields, email).await? { "invited" } else { "member-added" };
    Ok(Reply::see_other(format!("{PATH}?done={done}")))
}

/// `POST /admin/members/{id}/invitation`: sends another link.
pub(crate) async fn invite_again(context: Rc<Context>, fields: Fields) -> PageResult {
    let id = path_id(&context, MemberId::new)?;
    let members = context.run(&ListMembers).await?;
    let Some(member) = members.iter().find(|member| member.id == id) else { return gone(&context).await };
    if send_link(&context, &fields, member.email.clone()).await? {
        return Ok(Reply::see_other(format!("{PATH}?done=invited")));
    }
    let mut problems = Problems::default();
    problems.add(format!("invitation-{id}"), context.text().get("member-link-limit"));
    render(&context, &MemberForm::default(), problems).await
}

/// Sends a link to the panel. Returns whether it is on its way: there is a limit for each address.
async fn send_link(context: &Context, fields: &Fields, email: EmailAddress) -> Result<bool, HttpError> {
    let start = StartSignIn {
        email,
        browser: None,
        browser_name: None,
        action: None,
        next: LocalPath::parse("/admin"),
        language: context.language,
    };
    let ask = AskForSignIn { start, requester: SignInRequester::Member };
    match run_step(context, fields, ":link", ask, |_| String::new()).await {
        Ok(_) => Ok(true),
        Err(HttpError::Domain(RoadmapError::OverMailLimit(_))) => Ok(false),
        Err(error) => Err(error),
    }
}

/// `POST /admin/members/{id}/role`.
pub(crate) async fn change_role(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, id, mut problems) = (context.text(), path_id(&context, MemberId::new)?, Problems::default());
    let field = format!("role-{id}");
    let Ok(role) = Role::parse("role", fields.get("role")) else {
        problems.add(field, t.get("member-role-missing"));
        return render(&context, &MemberForm::default(), problems).await;
    };
    let (_, own) = admin::member(&context)?;
    let is_own = own.id == id;
    if is_own && own.role == role {
        // Changing a role ends the sessions, even if it is the same.
        return Ok(Reply::see_other(format!("{PATH}?done=unchanged")));
    }
    // Whoever is no admin any more may have keys that can do what admins can: the page asks about them.
    if role != Role::Admin && !fields.has("confirmed") && !keys_of(&context, id).await?.is_empty() {
        return Ok(Reply::see_other(format!("{PATH}/{id}/demote")));
    }
    let landing = move |_| if is_own { AFTER_OWN_ROLE.to_owned() } else { format!("{PATH}?done=role-changed") };
    let change = ChangeRole { member: MemberRef::Id(id), role, revokes_keys: fields.has("keys") };
    match run_once(&context, &fields, change, landing).await {
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::LastAdmin))) => {
            problems.add(field, t.get("member-last-admin"));
            render(&context, &MemberForm::default(), problems).await
        }
        Err(HttpError::Domain(RoadmapError::NotFound(_))) => gone(&context).await,
        done => done,
    }
}

/// `GET /admin/members/{id}/remove`: asks.
pub(crate) async fn ask_remove(context: Rc<Context>) -> PageResult {
    ask(&context, path_id(&context, MemberId::new)?, false, Problems::default()).await
}

/// `GET /admin/members/{id}/demote`: asks about the API keys of an admin who becomes a member.
pub(crate) async fn ask_demote(context: Rc<Context>) -> PageResult {
    ask(&context, path_id(&context, MemberId::new)?, true, Problems::default()).await
}

/// Returns the valid API keys that a member has made.
async fn keys_of(context: &Context, id: MemberId) -> Result<Vec<ApiKey>, HttpError> {
    let now = context.state.http.clock.now();
    let keys = context.run(&ListApiKeys).await?;
    Ok(keys.into_iter().filter(|key| key.made_by == Some(id) && key.is_valid_at(now)).collect())
}

/// `POST /admin/members/{id}/remove`.
pub(crate) async fn remove(context: Rc<Context>, fields: Fields) -> PageResult {
    let id = path_id(&context, MemberId::new)?;
    let is_own = admin::member(&context)?.1.id == id;
    let landing = move |_| if is_own { AFTER_OWN_REMOVAL.to_owned() } else { format!("{PATH}?done=member-removed") };
    let operation = RemoveMember { member: MemberRef::Id(id), revokes_keys: fields.has("keys") };
    match run_once(&context, &fields, operation, landing).await {
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::LastAdmin))) => {
            let mut problems = Problems::default();
            problems.add("remove", context.text().get("member-last-admin"));
            ask(&context, id, false, problems).await
        }
        Err(HttpError::Domain(RoadmapError::NotFound(_))) => gone(&context).await,
        done => done,
    }
}

/// Shows the list to somebody whose form was about a member who is there no more.
async fn gone(context: &Context) -> PageResult {
    let mut problems = Problems::default();
    problems.add("members", context.text().get("member-gone"));
    render(context, &MemberForm::default(), problems).await
}

async fn ask(context: &Context, id: MemberId, demotes: bool, problems: Problems) -> PageResult {
    let (t, (_, own)) = (context.text(), admin::member(context)?);
    let members = context.run(&ListMembers).await?;
    let member = members.iter().find(|member| member.id == id).ok_or(HttpError::NotFound)?;
    let is_admin = |member: &&Member| member.role == Role::Admin;
    let is_last_admin = is_admin(&member) && members.iter().filter(is_admin).count() == 1;
    let (key, last) = if demotes { ("member-demote-title", "demote") } else { ("member-remove-title", "remove") };
    let title = t.named(key, member.name.as_str());
    let keys = keys_of(context, id).await?;
    let page = admin::frame(context, Entry::Members, title).await?;
    let page = Page { here: format!("{PATH}/{id}/{last}"), ..page.with_problem(!problems.is_empty()) };
    let template = RemovePage {
        page,
        member: MemberRow::new(t, member, own.id),
        demotes,
        keys: keys.iter().map(|key| (key.name.as_str().to_owned(), key.last_four.clone())).collect(),
        is_last_admin,
        is_fresh: context.has_fresh_sign_in(),
        problems,
    };
    Ok(Reply::page_with(status(&template.problems), &template))
}

async fn render(context: &Context, form: &MemberForm<'_>, problems: Problems) -> PageResult {
    let (t, (_, own)) = (context.text(), admin::member(context)?);
    let members = context.run(&ListMembers).await?;
    let page = admin::frame(context, Entry::Members, t.get("admin-members")).await?;
    let template = MembersPage {
        page: Page { here: PATH.to_owned(), ..page.with_problem(!problems.is_empty()) },
        members: members.iter().map(|member| MemberRow::new(t, member, own.id)).collect(),
        email: form.email.to_owned(),
        name: form.name.to_owned(),
        roles: role_choices(t, form.role),
        is_fresh: context.has_fresh_sign_in(),
        problems,
    };
    Ok(Reply::page_with(status(&template.problems), &template))
}

fn status(problems: &Problems) -> StatusCode {
    if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page};
    use roadmap_domain::model::portal::Language;
    use uuid::Uuid;

    fn row(t: Text, number: u128, role: Role) -> MemberRow {
        let member = Member {
            id: MemberId::new(Uuid::from_u128(number)),
            email: EmailAddress::from_stored(format!("m{number}@acme.example")),
            name: Name::from_stored("Olga <b>".to_owned()),
            role,
            created_at: at(0),
        };
        MemberRow::new(t, &member, MemberId::new(Uuid::from_u128(1)))
    }

    fn problems(t: Text) -> Problems {
        let mut problems = Problems::default();
        let role = format!("role-{}", row(t, 2, Role::Admin).id);
        for field in ["email", "name", "role", &role, "remove"] {
            problems.add(field, "A sentence.");
        }
        problems
    }

    #[test]
    fn all_pages_are_well_formed() {
        for language in Language::ALL {
            let t = Text::utc(language);
            let page = || sample_page(language, true, "Members");
            for (is_fresh, problems) in [(true, Problems::default()), (false, Problems::default()), (true, problems(t))]
            {
                for member in [row(t, 1, Role::Admin), row(t, 2, Role::Member)] {
                    for is_last_admin in [true, false] {
                        let (page, member, problems) = (page(), member.clone(), problems.clone());
                        let keys = vec![("ci <b>".to_owned(), "a1B2".to_owned()); usize::from(is_fresh) * 2];
                        let demotes = language == Language::German;
                        let ask = RemovePage { page, member, demotes, keys, is_last_admin, is_fresh, problems };
                        let html = ask.render().unwrap();
                        assert_well_formed(&html);
                        let asks = is_fresh && !is_last_admin;
                        assert_eq!(html.contains("name=\"keys\" value=\"1\" checked"), asks, "{html}");
                    }
                }
                let list = MembersPage {
                    page: page(),
                    members: vec![row(t, 1, Role::Admin), row(t, 2, Role::Member)],
                    email: "a\"b".to_owned(),
                    name: "Ann".to_owned(),
                    roles: role_choices(t, "admin"),
                    is_fresh,
                    problems,
                };
                let html = list.render().unwrap();
                assert_well_formed(&html);
                assert_eq!(html.contains("name=\"role\""), is_fresh);
            }
        }
    }

    #[test]
    fn the_role_that_may_do_less_is_offered_first() {
        for (selection, expected) in [("", [false, false]), ("admin", [false, true]), ("hacker", [false, false])] {
            let choices = role_choices(Text::utc(Language::English), selection);
            let values: Vec<(&str, bool)> =
                choices.iter().map(|choice| (choice.value.as_str(), choice.is_chosen)).collect();
            assert_eq!(values, [("member", expected[0]), ("admin", expected[1])]);
        }
    }
}
