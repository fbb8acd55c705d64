//! The unsubscribe link of mails for mail programs: one-click unsubscribe (RFC 8058).
//!
//! POST stops what the link is about, without a login. GET leads people to the page of the portal that asks: link scanners
//! follow the links of a mail.

use actix_web::http::StatusCode;
use actix_web::http::header::{
    CONTENT_SECURITY_POLICY, ContentType, LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::web;
use actix_web::{HttpRequest, HttpResponse};
use roadmap_domain::model::audit::{Actor, ActorKind, Channel, Origin};
use roadmap_domain::model::id::{CustomerId, MemberId, WorkspaceId};
use roadmap_domain::model::team_mail::TeamMail;
use roadmap_domain::policy::links::{is_team_link, unsubscription};
use roadmap_domain::policy::signed_reference::Purpose;
use roadmap_domain::usecase::executor::Operation;
use roadmap_domain::usecase::unsubscribe::{SaveTeamMail, Unsubscribe};
use roadmap_http::body::FORM_LIMIT;
use roadmap_http::request_id::id_of;
use roadmap_http::workspace::resolve_reference;

use crate::error::ApiError;
use crate::fields::Query;
use crate::state::State;

/// `GET /unsubscribe/<reference>`: leads to the page `/stop-mail/<reference>` of the portal.
pub(crate) async fn show_page(state: web::Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let purpose = purpose(&Query::parse(request.query_string()));
    resolve_reference(&state.http, &request, purpose).await?;
    let reference = request.match_info().get("reference").unwrap_or_default();
    let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
    Ok(HttpResponse::build(StatusCode::SEE_OTHER)
        .insert_header((LOCATION, format!("/stop-mail/{reference}{query}")))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .finish())
}

/// `POST /unsubscribe/<reference>`: stops what the link is about. The body says nothing.
pub(crate) async fn submit(
    state: web::Data<State>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    // The endpoint is public, so the body is read only after the link is verified.
    let query = Query::parse(request.query_string());
    let purpose = purpose(&query);
    let (workspace, owner) = resolve_reference(&state.http, &request, purpose).await?;
    state.http.bodies.read_body(&mut payload.into_inner(), FORM_LIMIT).await?;
    match purpose {
        Purpose::TeamMail => {
            let member = MemberId::new(owner);
            let actor = Actor { kind: ActorKind::Member, id: Some(owner), name: String::new() };
            stop(&state, &request, workspace.id, actor, SaveTeamMail { member, wanted: TeamMail::Nothing }).await?;
        }
        _ => {
            let customer = CustomerId::new(owner);
            let what = unsubscription(|name| query.get(name).ok().flatten());
            stop(&state, &request, workspace.id, Actor::customer(customer), Unsubscribe { customer, what }).await?;
        }
    }
    // For a person whose browser has sent the form of an old page.
    Ok(HttpResponse::build(StatusCode::OK)
        .insert_header(ContentType::plaintext())
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"))
        .body("Unsubscribed.\n"))
}

/// Returns the purpose of a link's reference: a mail to a member has another one than a mail to a customer.
fn purpose(query: &Query) -> Purpose {
    match is_team_link(|name| query.get(name).ok().flatten()) {
        true => Purpose::TeamMail,
        false => Purpose::Unsubscribe,
    }
}

/// Runs the operation that stops mail.
async fn stop<O: Operation + 'static>(
    state: &State,
    request: &HttpRequest,
    workspace: WorkspaceId,
    actor: Actor,
    operation: O,
) -> Result<(), ApiError> {
    let origin = Origin { actor, channel: Channel::Page, request_id: id_of(request) };
    let executor = state.executor.acting_as(origin);
    let work = async move { executor.run_without_key(workspace, &operation).await.map(|_| ()) };
    state.http.detached.run(work).await?.map_err(ApiError::of_page)
}
