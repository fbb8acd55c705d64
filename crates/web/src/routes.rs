//! The pages, each registered once.

use std::future::Future;
use std::rc::Rc;
use std::time::{Duration, Instant};

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::{HttpMessage, HttpRequest, HttpResponse, ResponseError, Route, web};
use roadmap_domain::model::member::Role;
use roadmap_http::error::HttpError;
use roadmap_http::routing::{Access, Endpoint, register};

use crate::actions::signed_out;
use crate::admin::{
    api_keys, audit, customer_texts, customers, delete_request, edit_request, erasing, exports, imports, inbox,
    link_sources, mail, members, merge, new_request, overview, record_vote, settings, shortcuts, tags, team_changelogs,
    team_comment, team_request, tracks, voters, webhooks,
};
use crate::context::{Context, Entrance};
use crate::form::{self, Fields};
use crate::page::sign_in_path;
use crate::portal::{
    account, changelogs, embeds, feeds, ideas, images, mail_choice, news, own_data, own_posts, preferences, previews,
    request, requests, roadmap, sign_in, sitemap, take_part,
};
use crate::reply::{CacheKey, PageResult, Reply};
use crate::state::State;
use crate::{assets, base_host, brand, pictures, problem};

/// Longest path and query of a page in bytes. Pages repeat them in their forms and links.
const MAX_TARGET: usize = 4 * 1024;
/// The same for pages of the panel, some of which have the IDs of 100 selected feature requests.
const MAX_TEAM_TARGET: usize = 8 * 1024;

/// A form that takes longer to arrive is checked against the session once more.
const QUICK_FORM: Duration = Duration::from_secs(1);

/// Who may open a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    /// Everybody who may see the portal. Others are asked to sign in.
    Audience,
    /// Programs, which cannot sign in: the page exists only if the portal is public.
    Public,
    /// Everybody, because it is needed to sign in.
    Everybody,
    /// Somebody who is signed in and may see the portal. Visitors are asked to sign in.
    SignedIn,
    /// A customer who is signed in. For members of the team the page does not exist.
    Customer,
    /// A customer who has signed in lately. Others are asked to sign in again.
    FreshCustomer,
    /// A member of the team. Visitors are asked to sign in; for everybody else the page does not exist.
    Member,
    /// A member with the role of an admin. Other members may not see the page.
    Admin,
    /// An admin who has signed in lately. Others are asked to sign in again.
    FreshAdmin,
    /// A member who has signed in lately. Others are asked to sign in again.
    FreshMember,
}

impl Who {
    /// Whether the sign-in must not be long ago.
    const fn needs_fresh_sign_in(self) -> bool {
        matches!(self, Self::FreshCustomer | Self::FreshMember | Self::FreshAdmin)
    }
}

/// Returns the endpoints of all pages.
fn pages() -> Vec<Endpoint> {
    use Who::{Admin, Audience, Customer, Everybody, FreshAdmin, FreshCustomer, FreshMember, Member, Public, SignedIn};
    vec![
        get("/", Audience, roadmap::show),
        get("/feature_requests", Audience, requests::list),
        get("/feature_requests/new", Audience, ideas::show),
        post("/feature_requests/new", Audience, ideas::submit),
        get("/feature_requests/similar", Audience, ideas::similar),
        get("/feature_requests.atom", Public, feeds::requests),
        // Before the page of a feature request, whose path matches, too.
        get("/feature_requests/{slug}.atom", Public, feeds::comments),
        get("/feature_requests/{slug}.png", Public, previews::of_request),
        get("/preview.png", Public, previews::of_portal),
        get("/feature_requests/{slug}", Audience, request::show),
        get("/feature_requests/{slug}/vote", Audience, take_part::ask_vote),
        post("/feature_requests/{slug}/vote", Audience, take_part::vote),
        post("/feature_requests/{slug}/unvote", Audience, take_part::remove_vote),
        post("/feature_requests/{slug}/comments", Audience, take_part::comment),
        get("/feature_requests/{slug}/subscription", Audience, take_part::ask_subscription),
        post("/feature_requests/{slug}/subscription", Audience, take_part::subscription),
        post("/feature_requests/{slug}/approve", SignedIn, take_part::approve),
        post("/comments/{id}/approve", SignedIn, take_part::approve_comment),
        post("/comments/{id}/discard", SignedIn, take_part::discard_comment),
        get("/comments/{id}/edit", SignedIn, own_posts::edit_comment),
        post("/comments/{id}/edit", SignedIn, own_posts::save_comment),
        get("/comments/{id}/delete", SignedIn, own_posts::ask_delete_comment),
        post("/comments/{id}/delete", SignedIn, own_posts::delete_comment),
        get("/feature_requests/{slug}/edit", SignedIn, own_posts::edit_request),
        post("/feature_requests/{slug}/edit", SignedIn, own_posts::save_request),
        get("/feature_requests/{slug}/delete", SignedIn, own_posts::ask_delete_request),
        post("/feature_requests/{slug}/delete", SignedIn, own_posts::delete_request),
        get("/changelogs", Audience, changelogs::list),
        get("/changelogs.atom", Public, feeds::changelogs),
        get("/changelogs/{id}", Audience, changelogs::show),
        get("/sign-in", Everybody, sign_in::ask),
        post("/sign-in", Everybody, sign_in::start),
        get("/sign-in/sent", Everybody, sign_in::sent),
        post("/sign-in/sent", Everybody, sign_in::redeem_code),
        get("/sign-in/{reference}", Everybody, sign_in::confirm),
        post("/sign-in/{reference}", Everybody, sign_in::redeem_link),
        // Some programs put a slash behind links.
        get("/sign-in/{reference}/", Everybody, sign_in::confirm),
        post("/sign-out", Everybody, sign_in::sign_out),
        get("/account", SignedIn, account::show),
        post("/account", SignedIn, account::save),
        post("/account/mail", SignedIn, mail_choice::save_own),
        post("/account/name", SignedIn, account::save_name),
        post("/account/sessions", SignedIn, account::end_sessions),
        get("/account/export", FreshCustomer, own_data::download),
        get("/account/delete", Customer, own_data::ask_delete),
        post("/account/delete", FreshCustomer, own_data::delete),
        get("/news", Audience, news::ask),
        post("/news", Audience, news::get_mail),
        get("/stop-mail/{reference}", Everybody, mail_choice::ask),
        post("/stop-mail/{reference}", Everybody, mail_choice::stop),
        get("/mail/{reference}", Everybody, mail_choice::settings),
        post("/mail/{reference}", Everybody, mail_choice::save),
        post("/preferences", Everybody, preferences::save),
        get("/admin", Member, inbox::show),
        post("/admin/triage", Member, inbox::triage),
        post("/admin/views", Member, inbox::save_view),
        post("/admin/views/remove", Member, inbox::remove_view),
        post("/admin/undo", Member, inbox::undo),
        post("/admin/shortcuts", Member, shortcuts::switch),
        get("/admin/merge", Member, inbox::ask_merge),
        get("/admin/delete", Member, inbox::ask_delete),
        post("/admin/delete", FreshMember, inbox::delete),
        get("/admin/record-vote", Member, record_vote::show),
        post("/admin/record-vote", Member, record_vote::save),
        get("/admin/record-vote/customers", Member, record_vote::customers),
        get("/admin/overview", Member, overview::show),
        get("/admin/feature_requests/new", Member, new_request::show),
        post("/admin/feature_requests/new", Member, new_request::create),
        get("/admin/feature_requests/similar", Member, new_request::similar),
        get("/admin/feature_requests/{slug}", Member, team_request::show),
        post("/admin/feature_requests/{slug}/track", Member, team_request::move_to_track),
        post("/admin/feature_requests/{slug}/no_answer_needed", Member, team_request::need_no_answer),
        post("/admin/feature_requests/{slug}/visibility", Member, team_request::set_visibility),
        post("/admin/feature_requests/{slug}/approve", Member, team_request::approve),
        post("/admin/feature_requests/{slug}/decline", Member, team_request::decline),
        post("/admin/feature_requests/{slug}/comments", Member, team_request::comment),
        post("/admin/feature_requests/{slug}/notes", Member, team_request::add_note),
        post("/admin/feature_requests/{slug}/links", Member, team_request::add_link),
        post("/admin/feature_requests/{slug}/votes", Member, team_request::add_vote),
        get("/admin/feature_requests/{slug}/voters", Member, voters::show),
        get("/admin/feature_requests/{slug}/voters.csv", Member, voters::download),
        get("/admin/feature_requests/{slug}/edit", Member, edit_request::show),
        post("/admin/feature_requests/{slug}/edit", Member, edit_request::save),
        get("/admin/feature_requests/{slug}/merge", Member, merge::show),
        post("/admin/feature_requests/{slug}/merge", Member, merge::merge),
        post("/admin/feature_requests/{slug}/unmerge", Member, merge::unmerge),
        get("/admin/feature_requests/{slug}/delete", Member, delete_request::show),
        post("/admin/feature_requests/{slug}/delete", FreshMember, delete_request::delete),
        post("/admin/notes/{id}/delete", Member, team_request::delete_note),
        post("/admin/links/{id}/delete", Member, team_request::delete_link),
        get("/admin/comments/{id}", Member, team_comment::show),
        post("/admin/comments/{id}", Member, team_comment::save),
        post("/admin/comments/{id}/delete", Member, team_comment::delete),
        post("/admin/comments/{id}/approve", Member, team_comment::approve),
        post("/admin/comments/{id}/discard", Member, team_comment::discard),
        get("/admin/changelogs", Member, team_changelogs::list),
        get("/admin/changelogs/new", Member, team_changelogs::new),
        post("/admin/changelogs/new", Member, team_changelogs::create),
        get("/admin/changelogs/{id}", Member, team_changelogs::show),
        post("/admin/changelogs/{id}", Member, team_changelogs::save),
        get("/admin/changelogs/{id}/delete", Member, team_changelogs::ask_delete),
        post("/admin/changelogs/{id}/delete", Member, team_changelogs::delete),
        get("/admin/covers/{id}/{name}", Member, team_changelogs::cover),
        get("/admin/tracks", Admin, tracks::show),
        post("/admin/tracks", Admin, tracks::add_track),
        post("/admin/lanes", Admin, tracks::add_lane),
        get("/admin/tracks/{id}", Admin, tracks::show_track),
        post("/admin/tracks/{id}", Admin, tracks::change_track),
        get("/admin/tracks/{id}/delete", Admin, tracks::ask_delete_track),
        post("/admin/tracks/{id}/delete", Admin, tracks::delete_track),
        get("/admin/lanes/{id}", Admin, tracks::show_lane),
        post("/admin/lanes/{id}", Admin, tracks::change_lane),
        get("/admin/lanes/{id}/delete", Admin, tracks::ask_delete_lane),
        post("/admin/lanes/{id}/delete", Admin, tracks::delete_lane),
        get("/admin/customers", Member, customers::list),
        get("/admin/customers/{id}", Member, customers::show),
        post("/admin/customers/{id}", Member, customers::rename),
        get("/admin/customers/{id}/export", FreshMember, erasing::download),
        get("/admin/customers/{id}/erase", Admin, erasing::ask),
        post("/admin/customers/{id}/erase", FreshAdmin, erasing::erase),
        get("/admin/customers/{id}/merge", Member, customers::ask_merge),
        post("/admin/customers/{id}/merge", FreshMember, customers::merge),
        get("/admin/customers/{id}/remove-texts", Member, customer_texts::ask_remove),
        post("/admin/customers/{id}/remove-texts", Member, customer_texts::remove),
        post("/admin/customers/{id}/restore-texts", Member, customer_texts::restore),
        post("/admin/customers/{id}/block", Member, customer_texts::block),
        post("/admin/customers/{id}/unblock", Member, customer_texts::unblock),
        get("/admin/tags", Member, tags::show),
        post("/admin/tags/rename", Member, tags::rename),
        post("/admin/tags/delete", Member, tags::delete),
        get("/admin/members", Admin, members::show),
        post("/admin/members", FreshAdmin, members::invite),
        post("/admin/members/{id}/invitation", FreshAdmin, members::invite_again),
        post("/admin/members/{id}/role", FreshAdmin, members::change_role),
        get("/admin/members/{id}/demote", Admin, members::ask_demote),
        get("/admin/members/{id}/remove", Admin, members::ask_remove),
        post("/admin/members/{id}/remove", FreshAdmin, members::remove),
        get("/admin/api-keys", Admin, api_keys::show),
        post("/admin/api-keys", FreshAdmin, api_keys::create),
        post("/admin/api-keys/{id}/rotate", FreshAdmin, api_keys::rotate),
        get("/admin/api-keys/{id}/revoke", Admin, api_keys::ask_revoke),
        post("/admin/api-keys/{id}/revoke", FreshAdmin, api_keys::revoke),
        get("/admin/webhooks", Admin, webhooks::show),
        post("/admin/webhooks", FreshAdmin, webhooks::create),
        get("/admin/webhooks/{id}", Admin, webhooks::show_endpoint),
        post("/admin/webhooks/{id}", FreshAdmin, webhooks::save),
        post("/admin/webhooks/{id}/test", Admin, webhooks::test),
        post("/admin/webhooks/{id}/rotate", FreshAdmin, webhooks::rotate),
        post("/admin/webhooks/{id}/enable", Admin, webhooks::enable),
        post("/admin/webhooks/{id}/disable", Admin, webhooks::disable),
        post("/admin/webhooks/{id}/redeliver", Admin, webhooks::redeliver_failed),
        get("/admin/webhooks/{id}/delete", Admin, webhooks::ask_delete),
        post("/admin/webhooks/{id}/delete", Admin, webhooks::delete),
        get("/admin/webhooks/{id}/deliveries/{delivery}", Admin, webhooks::show_delivery),
        post("/admin/webhooks/{id}/deliveries/{delivery}/redeliver", Admin, webhooks::redeliver),
        get("/admin/link-sources", Admin, link_sources::show),
        post("/admin/link-sources", FreshAdmin, link_sources::create),
        get("/admin/link-sources/{id}/delete", Admin, link_sources::ask_delete),
        post("/admin/link-sources/{id}/delete", FreshAdmin, link_sources::delete),
        get("/admin/imports", Admin, imports::show),
        upload("/admin/imports", FreshAdmin, imports::upload),
        get("/admin/imports/{id}", Admin, imports::show_one),
        post("/admin/imports/{id}", FreshAdmin, imports::act),
        get("/admin/imports/{id}/undo", Admin, imports::ask_undo),
        post("/admin/imports/{id}/undo", FreshAdmin, imports::undo),
        get("/admin/imports/{id}/files/{file}", FreshAdmin, imports::download),
        get("/admin/exports", Admin, exports::show),
        post("/admin/exports", FreshAdmin, exports::create),
        get("/admin/exports/{id}/file", FreshAdmin, exports::download),
        get("/admin/settings", Admin, settings::show),
        post("/admin/settings", Admin, settings::save),
        get("/admin/mail", Admin, mail::show),
        post("/admin/mail/retry", Admin, mail::retry),
        post("/admin/mail/test", Admin, mail::test),
        get("/admin/audit", Admin, audit::show),
        get("/admin/audit.csv", Admin, audit::download),
        get("/embed/roadmap", Public, embeds::roadmap),
        get("/embed/changelogs", Public, embeds::changelogs),
        get("/sitemap.xml", Public, sitemap::index),
        get("/sitemap-{part}.xml", Public, sitemap::part),
        get("/robots.txt", Everybody, sitemap::robots),
        get("/covers/{id}/{name}", Everybody, images::show),
        get("/pictures/{id}", Everybody, pictures::show),
        post("/pictures", SignedIn, pictures::add),
        Endpoint::new(Method::GET, "/assets/{file}", Access::Public, assets::show),
        Endpoint::new(Method::GET, "/brand/{file}", Access::Public, brand::show),
    ]
}

/// Adds all pages to an application, within [`roadmap_http::configure`].
pub fn configure(config: &mut web::ServiceConfig, state: web::Data<State>) {
    config.app_data(state);
    register(config, "", pages());
}

/// Returns the handler of paths that no surface has.
pub fn unknown_path() -> Route {
    web::to(|request: HttpRequest| async move {
        match request.app_data::<web::Data<State>>().cloned() {
            Some(state) if !state.http.error_formats.is_for_programs(request.path()) => {
                respond(state, request, Who::Everybody, |_, _| async { Err(HttpError::NotFound) }, None).await
            }
            _ => HttpError::NotFound.error_response(),
        }
    })
}

/// Returns a page that only reads.
fn get<F, T>(path: &str, who: Who, handler: F) -> Endpoint
where
    F: Fn(Rc<Context>) -> T + Clone + 'static,
    T: Future<Output = PageResult> + 'static,
{
    Endpoint::new(Method::GET, path, Access::Anonymous, move |state: web::Data<State>, request: HttpRequest| {
        let handler = handler.clone();
        async move { respond(state, request, who, |context, _| handler(context), None).await }
    })
}

/// Returns an action. Its handler gets the form.
fn post<F, T>(path: &str, who: Who, handler: F) -> Endpoint
where
    F: Fn(Rc<Context>, Fields) -> T + Clone + 'static,
    T: Future<Output = PageResult> + 'static,
{
    let take = move |state: web::Data<State>, request: HttpRequest, payload: web::Payload| {
        let handler = handler.clone();
        async move { respond(state, request, who, handler, Some(payload.into_inner())).await }
    };
    Endpoint::new(Method::POST, path, Access::Anonymous, take)
}

/// Returns an action whose handler reads the form itself, piece by piece, because of its large file.
fn upload<F, T>(path: &str, who: Who, handler: F) -> Endpoint
where
    F: Fn(Rc<Context>, Payload) -> T + Clone + 'static,
    T: Future<Output = PageResult> + 'static,
{
    let take = move |state: web::Data<State>, request: HttpRequest, payload: web::Payload| {
        let handler = handler.clone();
        let take_form = move |context, _| handler(context, payload.into_inner());
        async move { respond(state, request, who, take_form, None).await }
    };
    Endpoint::new(Method::POST, path, Access::Anonymous, take)
}

/// Runs the handler of a page and builds its response. Errors become pages.
async fn respond<F, T>(
    state: web::Data<State>,
    request: HttpRequest,
    who: Who,
    handler: F,
    payload: Option<Payload>,
) -> HttpResponse
where
    F: FnOnce(Rc<Context>, Fields) -> T,
    T: Future<Output = PageResult>,
{
    let limit = if request.path().starts_with("/admin") { MAX_TEAM_TARGET } else { MAX_TARGET };
    if request.uri().path_and_query().is_some_and(|target| target.as_str().len() > limit) {
        return problem::without_workspace(&request, &HttpError::TargetTooLong);
    }
    let context = match Context::load(state.clone(), request.clone()).await {
        Ok(context) => Rc::new(context),
        Err(error) => return base_host::respond(&state, &request, &error).await,
    };
    if let Some(canonical) = context.canonical_redirect() {
        return Reply::moved(canonical).into_response(&request, &state.cache, None);
    }
    // Pages of visitors are the same for all of them.
    let key = context.session.is_none().then(|| CacheKey {
        workspace: context.workspace.id,
        path_and_query: context.path_and_query(),
        language: context.language,
        theme: context.theme,
    });
    let is_cacheable = matches!(who, Who::Audience) && context.is_public() && payload.is_none();
    if let Some(cached) = key.as_ref().filter(|_| is_cacheable).and_then(|key| state.cache.get(key)) {
        return cached.response(&request);
    }
    let began = Instant::now();
    let reply = match admit(&context, who) {
        Ok(()) => match read_form(&context, payload).await {
            Ok(fields) if began.elapsed() > QUICK_FORM => match readmit(&state, &request, who).await {
                Ok(context) => handler(context, fields).await,
                Err(refused) => signed_out(&context, &fields).map_or(*refused, Ok),
            },
            Ok(fields) => handler(context.clone(), fields).await,
            Err(error) => Err(error),
        },
        Err(refused) => match read_form(&context, payload).await {
            // A second press of the button that has ended the session.
            Ok(fields) if who == Who::FreshCustomer && context.session.is_none() => {
                own_data::deleted_before(&context, &fields).await.unwrap_or(*refused)
            }
            // The session may have ended since the form was shown: what was typed is not lost.
            Ok(fields) if context.session.is_none() || must_sign_in_again(&context, who) => {
                signed_out(&context, &fields).map_or(*refused, Ok)
            }
            Ok(_) => *refused,
            Err(error) => Err(error),
        },
    };
    match reply {
        Ok(reply) => {
            let reply = if context.session.is_some() || !is_cacheable { reply.private() } else { reply };
            let reply = if context.portal.settings.is_indexed { reply } else { reply.not_indexed() };
            reply.into_response(&request, &state.cache, key.filter(|_| is_cacheable))
        }
        Err(error) => problem::page(&context, &error),
    }
}

/// Checks once more who sent a form that was long under way: somebody may have been removed from the team meanwhile.
async fn readmit(state: &web::Data<State>, request: &HttpRequest, who: Who) -> Result<Rc<Context>, Box<PageResult>> {
    let context = Context::load(state.clone(), request.clone()).await.map_err(|error| Box::new(Err(error)))?;
    admit(&context, who).map(|()| Rc::new(context))
}

/// Whether somebody is refused only because the sign-in was too long ago.
fn must_sign_in_again(context: &Context, who: Who) -> bool {
    let member = context.session.as_ref().and_then(|session| session.member.as_ref());
    match who {
        Who::FreshAdmin => member.is_some_and(|member| member.role == Role::Admin),
        Who::FreshMember => member.is_some(),
        _ => false,
    }
}

/// Reads a form. Only those of people who are signed in have room for files. Somebody whose session has ended sends the form with the file
/// nevertheless, so that the texts in it are read, too.
async fn read_form(context: &Context, payload: Option<Payload>) -> Result<Fields, HttpError> {
    let Some(mut payload) = payload else { return Ok(Fields::default()) };
    let bodies = &context.state.http.bodies;
    let mime = context.request.mime_type().ok().flatten();
    let has_parts = mime.is_some_and(|mime| mime.essence_str() == "multipart/form-data");
    let limit = if has_parts && context.session.is_some() { form::FILE_LIMIT } else { form::LIMIT };
    let (body, _memory) = bodies.read_body(&mut payload, limit).await?;
    match has_parts {
        true => Fields::parse_multipart(context.request.headers(), body).await,
        false => Ok(Fields::parse(&body)),
    }
}

/// Asks to sign in. Whoever does goes on at the page, or at the one with the form or the link of what is no page.
fn ask_to_sign_in(context: &Context, who: Who) -> Box<PageResult> {
    let is_page = matches!(*context.request.method(), Method::GET | Method::HEAD) && !who.needs_fresh_sign_in();
    let next = if is_page { context.path_and_query() } else { context.origin_path() };
    Box::new(Ok(Reply::see_other(sign_in_path(&next))))
}

/// Checks which member may open a page of the admin panel. Returns where to go instead.
fn admit_team(context: &Context, who: Who) -> Result<(), Box<PageResult>> {
    let Some(session) = context.session.as_deref() else { return Err(ask_to_sign_in(context, who)) };
    let Some(member) = &session.member else { return Err(Box::new(Err(HttpError::NotFound))) };
    let is_for_admins = matches!(who, Who::Admin | Who::FreshAdmin);
    if is_for_admins && member.role != Role::Admin {
        return Err(Box::new(Err(HttpError::Forbidden)));
    }
    check_sign_in(context, who)
}

/// Checks whether a customer may open a page. Returns where to go instead.
fn admit_customer(context: &Context, who: Who) -> Result<(), Box<PageResult>> {
    let Some(session) = context.session.as_deref() else { return Err(ask_to_sign_in(context, who)) };
    match (&session.member, &session.customer) {
        (None, Some(_)) => check_sign_in(context, who),
        _ => Err(Box::new(Err(HttpError::NotFound))),
    }
}

/// Checks that the sign-in was lately, if it has to be.
fn check_sign_in(context: &Context, who: Who) -> Result<(), Box<PageResult>> {
    if who.needs_fresh_sign_in() && !context.has_fresh_sign_in() { Err(ask_to_sign_in(context, who)) } else { Ok(()) }
}

/// Checks who may open a page. Returns where to go instead.
fn admit(context: &Context, who: Who) -> Result<(), Box<PageResult>> {
    let sign_in = || {
        let is_read = matches!(*context.request.method(), Method::GET | Method::HEAD);
        let target = if is_read { context.path_and_query() } else { "/".to_owned() };
        Box::new(Ok(Reply::see_other(sign_in_path(&target))))
    };
    match (who, context.entrance()) {
        (Who::Everybody, _) => Ok(()),
        (Who::Member | Who::Admin | Who::FreshAdmin | Who::FreshMember, _) => admit_team(context, who),
        (Who::Public, _) if context.is_public() => Ok(()),
        (Who::Public, _) => Err(Box::new(Err(HttpError::NotFound))),
        (Who::Audience, Entrance::Open) => Ok(()),
        (Who::SignedIn, Entrance::Open) if context.session.is_some() => Ok(()),
        (Who::Customer | Who::FreshCustomer, Entrance::Open | Entrance::SignIn) => admit_customer(context, who),
        (_, Entrance::Closed) => Err(Box::new(Err(HttpError::Forbidden))),
        (Who::Audience | Who::SignedIn, Entrance::Open | Entrance::SignIn) => Err(sign_in()),
    }
}
