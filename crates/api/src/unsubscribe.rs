//! The page of the unsubscribe link in mails, and one-click unsubscribe by mail programs (RFC 8058).
//!
//! GET only asks for confirmation, because link scanners follow the links of a mail. POST unsubscribes, without a
//! login.

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_SECURITY_POLICY, ContentType, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use actix_web::web;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use roadmap_domain::model::audit::{Actor, Channel, Origin};
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, WorkspaceId, parse_uuid};
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::policy::links::UNSUBSCRIBE_REQUEST;
use roadmap_domain::policy::signed_reference::Purpose;
use roadmap_domain::usecase::query::subscriptions::UnsubscribeOptions;
use roadmap_domain::usecase::unsubscribe::Unsubscribe;
use roadmap_http::body::FORM_LIMIT;
use roadmap_http::request_id::id_of;
use roadmap_http::workspace::resolve_reference;

use crate::error::ApiError;
use crate::fields::Query;
use crate::state::State;

/// The form's field, and its value for mail about a single feature request.
const SCOPE_FIELD: &str = "from";
const REQUEST: &str = "request";

#[derive(Template)]
#[template(path = "unsubscribe.html")]
struct AskPage {
    title: String,
    offers_request: bool,
    field: &'static str,
    request: &'static str,
}

#[derive(Template)]
#[template(path = "unsubscribed.html")]
struct DonePage {
    title: &'static str,
    what: Unsubscription,
}

/// `GET /unsubscribe/<token>`: shows the confirmation page.
pub(crate) async fn show_form(state: web::Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (workspace, _) = subscriber(&state, &request).await?;
    let options = UnsubscribeOptions { request: feature_request_in_query(&request) };
    let choice = state.queries.run(workspace, &options).await.map_err(ApiError::of_page)?;
    Ok(page(&AskPage {
        title: format!("Stop mail from {}?", choice.product_name),
        offers_request: choice.offers_request,
        field: SCOPE_FIELD,
        request: REQUEST,
    }))
}

/// `POST /unsubscribe/<token>`: unsubscribes. The page's buttons select the scope. A mail program selects none, which
/// means all mail.
pub(crate) async fn submit(
    state: web::Data<State>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    // The endpoint is public, so the body is read only after the link is verified.
    let (workspace, customer) = subscriber(&state, &request).await?;
    let (body, _memory) = state.http.bodies.read_body(&mut payload.into_inner(), FORM_LIMIT).await?;
    let form = Query::parse(&String::from_utf8_lossy(&body));
    let only_one = form.get(SCOPE_FIELD).is_ok_and(|about| about == Some(REQUEST));
    let what = UnsubscribeOptions { request: feature_request_in_query(&request) }.unsubscription(only_one);
    let origin = Origin { actor: Actor::customer(customer), channel: Channel::Page, request_id: id_of(&request) };
    let (executor, operation) = (state.executor.acting_as(origin), Unsubscribe { customer, what });
    let done = state.http.detached.run(async move { executor.run_without_key(workspace, &operation).await }).await?;
    done.map_err(ApiError::of_page)?;
    Ok(page(&DonePage { title: "Unsubscribed", what }))
}

/// Returns the workspace and the customer of the path's reference.
async fn subscriber(state: &State, request: &HttpRequest) -> Result<(WorkspaceId, CustomerId), ApiError> {
    let (workspace, customer) = resolve_reference(&state.http, request, Purpose::Unsubscribe).await?;
    Ok((workspace.id, CustomerId::new(customer)))
}

/// Returns the feature request of the query. It needs no signature, because it affects only the mail of the token's own
/// customer.
fn feature_request_in_query(request: &HttpRequest) -> Option<FeatureRequestId> {
    let query = Query::parse(request.query_string());
    let raw = query.get(UNSUBSCRIBE_REQUEST).ok().flatten()?;
    parse_uuid(UNSUBSCRIBE_REQUEST, raw).ok().map(FeatureRequestId::new)
}

fn page(content: &impl Template) -> HttpResponse {
    HttpResponse::build(StatusCode::OK)
        .insert_header(ContentType::html())
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        ))
        // Rendering to memory cannot fail.
        .body(content.render().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn ask(offers_request: bool) -> String {
        let title = "Stop mail from <Acme> & \"Co\"?".to_owned();
        AskPage { title, offers_request, field: SCOPE_FIELD, request: REQUEST }.to_string()
    }

    #[test]
    fn the_page_offers_the_choices_of_its_link_and_escapes_text() {
        let one = "<p><button name=\"from\" value=\"request\">Only about this feature request</button></p>";
        let all = "<p><button name=\"from\" value=\"everything\">About all feature requests</button></p>";
        let title = "Stop mail from &#60;Acme&#62; &#38; &#34;Co&#34;?";
        for (offers_request, form) in [(false, format!("{all}</form>")), (true, format!("{one}{all}</form>"))] {
            let page = ask(offers_request);
            assert!(page.contains(&format!("<h1>{title}</h1>\n<form method=\"post\">{form}\n</body>")), "{page}");
            assert!(
                page.starts_with("<!DOCTYPE html>\n") && page.contains(&format!("<title>{title}</title>")),
                "{page}"
            );
        }
    }

    #[test]
    fn a_page_says_what_is_no_longer_sent() {
        let request = Unsubscription::Request(FeatureRequestId::new(Uuid::from_u128(7)));
        for (what, said) in [
            (request, "<p>You get no more mail about this feature request.</p>"),
            (Unsubscription::Everything, "<p>You get no more mail about feature requests.</p>"),
        ] {
            let page = DonePage { title: "Unsubscribed", what }.to_string();
            assert!(page.contains(&format!("<h1>Unsubscribed</h1>\n{said}\n</body>")), "{page}");
        }
    }
}
