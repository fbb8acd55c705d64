//! The pages, each registered once.

use std::future::Future;
use std::rc::Rc;

use actix_web::dev::Payload;
use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse, ResponseError, Route, web};
use roadmap_http::access_log::is_page;
use roadmap_http::error::HttpError;
use roadmap_http::routing::{Access, Endpoint, register};

use crate::actions::signed_out;
use crate::context::{Context, Entrance};
use crate::form::{self, Fields};
use crate::page::sign_in_path;
use crate::portal::{
    account, changelogs, embeds, feeds, ideas, images, preferences, request, requests, roadmap, sign_in, sitemap,
    take_part,
};
use crate::reply::{CacheKey, PageResult, Reply};
use crate::state::State;
use crate::{assets, brand, problem};

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
}

/// Returns the endpoints of all pages.
fn pages() -> Vec<Endpoint> {
    use Who::{Audience, Everybody, Public, SignedIn};
    vec![
        get("/", Audience, roadmap::show),
        get("/feature_requests", Audience, requests::list),
        get("/feature_requests/new", Audience, ideas::show),
        post("/feature_requests/new", Audience, ideas::submit),
        get("/feature_requests/similar", Audience, ideas::similar),
        get("/feature_requests.atom", Public, feeds::requests),
        // Before the page of a feature request, whose path matches, too.
        get("/feature_requests/{slug}.atom", Public, feeds::comments),
        get("/feature_requests/{slug}", Audience, request::show),
        get("/feature_requests/{slug}/vote", Audience, take_part::ask_vote),
        post("/feature_requests/{slug}/vote", Audience, take_part::vote),
        post("/feature_requests/{slug}/unvote", Audience, take_part::remove_vote),
        post("/feature_requests/{slug}/comments", Audience, take_part::comment),
        post("/feature_requests/{slug}/subscription", Audience, take_part::subscription),
        post("/feature_requests/{slug}/approve", SignedIn, take_part::approve),
        post("/comments/{id}/approve", SignedIn, take_part::approve_comment),
        post("/comments/{id}/discard", SignedIn, take_part::discard_comment),
        get("/changelogs", Audience, changelogs::list),
        get("/changelogs.atom", Public, feeds::changelogs),
        get("/changelogs/{id}", Audience, changelogs::show),
        get("/sign-in", Everybody, sign_in::ask),
        post("/sign-in", Everybody, sign_in::start),
        get("/sign-in/sent", Everybody, sign_in::sent),
        post("/sign-in/sent", Everybody, sign_in::redeem_code),
        get("/sign-in/{reference}", Everybody, sign_in::confirm),
        post("/sign-in/{reference}", Everybody, sign_in::redeem_link),
        post("/sign-out", Everybody, sign_in::sign_out),
        get("/account", SignedIn, account::show),
        post("/account", SignedIn, account::save),
        post("/account/sessions", SignedIn, account::end_sessions),
        post("/preferences", Everybody, preferences::save),
        get("/embed/roadmap", Public, embeds::roadmap),
        get("/embed/changelogs", Public, embeds::changelogs),
        get("/sitemap.xml", Public, sitemap::index),
        get("/sitemap-{part}.xml", Public, sitemap::part),
        get("/robots.txt", Everybody, sitemap::robots),
        get("/covers/{id}/{name}", Everybody, images::show),
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
        if !is_page(request.path()) {
            return HttpError::NotFound.error_response();
        }
        match request.app_data::<web::Data<State>>().cloned() {
            Some(state) => {
                answer(state, request, Who::Everybody, |_, _| async { Err(HttpError::NotFound) }, None).await
            }
            None => HttpError::NotFound.error_response(),
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
        async move { answer(state, request, who, |context, _| handler(context), None).await }
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
        async move { answer(state, request, who, handler, Some(payload.into_inner())).await }
    };
    Endpoint::new(Method::POST, path, Access::Anonymous, take)
}

/// Runs the handler of a page and builds its response. Errors become pages.
async fn answer<F, T>(
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
    let context = match Context::load(state.clone(), request.clone()).await {
        Ok(context) => Rc::new(context),
        Err(error) => return problem::without_workspace(&request, &error),
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
    let is_kept = matches!(who, Who::Audience) && context.is_public() && payload.is_none();
    if let Some(kept) = key.as_ref().filter(|_| is_kept).and_then(|key| state.cache.get(key)) {
        return kept.response(&request);
    }
    let reply = match admit(&context, who) {
        Ok(()) => match read_form(&context, payload).await {
            Ok(fields) => handler(context.clone(), fields).await,
            Err(error) => Err(error),
        },
        Err(refused) => match read_form(&context, payload).await {
            // The session may have ended since the form was shown: what was typed is not lost.
            Ok(fields) if context.session.is_none() => signed_out(&context, &fields).map_or(*refused, Ok),
            Ok(_) => *refused,
            Err(error) => Err(error),
        },
    };
    match reply {
        Ok(reply) => {
            let reply = if context.session.is_some() || !is_kept { reply.private() } else { reply };
            let reply = if context.portal.settings.is_indexed { reply } else { reply.not_indexed() };
            reply.into_response(&request, &state.cache, key.filter(|_| is_kept))
        }
        Err(error) => problem::page(&context, &error),
    }
}

/// Reads a form.
async fn read_form(context: &Context, payload: Option<Payload>) -> Result<Fields, HttpError> {
    let Some(mut payload) = payload else { return Ok(Fields::default()) };
    let (body, _memory) = context.state.http.bodies.read_body(&mut payload, form::LIMIT).await?;
    Ok(Fields::parse(&body))
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
        (Who::Public, _) if context.is_public() => Ok(()),
        (Who::Public, _) => Err(Box::new(Err(HttpError::NotFound))),
        (Who::Audience, Entrance::Open) => Ok(()),
        (Who::SignedIn, Entrance::Open) if context.session.is_some() => Ok(()),
        (Who::Audience | Who::SignedIn, Entrance::Closed) => Err(Box::new(Err(HttpError::Forbidden))),
        (Who::Audience | Who::SignedIn, Entrance::Open | Entrance::SignIn) => Err(sign_in()),
    }
}
