//! The page behind "unsubscribe" in mails, and what mail programs do by themselves (RFC 8058): a GET
//! asks, because whoever looks through a mail follows its links; a POST acts, without any login.

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_SECURITY_POLICY, ContentType, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use actix_web::web;
use actix_web::{HttpRequest, HttpResponse};
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, WorkspaceId, parse_uuid};
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::policy::signed_reference::Purpose;

use crate::body;
use crate::caller;
use crate::error::ApiError;
use crate::fields::Query;
use crate::html::escaped;
use crate::state::State;

/// The form's field, and its value for mail about the one request.
const SCOPE_FIELD: &str = "from";
const REQUEST: &str = "request";

/// `GET /unsubscribe/<token>`: asks.
pub(crate) async fn show_form(state: web::Data<State>, request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let (workspace, _) = subscriber(&state, &request).await?;
    let product = match state.reader.setting(workspace).await? {
        Some(setting) => escaped(setting.product_name.as_str()),
        None => return Err(ApiError::NotFound),
    };
    let one = match feature_request_in_query(&request) {
        Some(_) => {
            format!(
                "<p><button name=\"{SCOPE_FIELD}\" value=\"{REQUEST}\">Only about this feature request</button></p>"
            )
        }
        None => String::new(),
    };
    Ok(page(
        &format!("Stop mail from {product}?"),
        &format!(
            "<form method=\"post\">{one}\
             <p><button name=\"{SCOPE_FIELD}\" value=\"everything\">About all feature requests</button></p></form>"
        ),
    ))
}

/// `POST /unsubscribe/<token>`: acts. The page's button says what about; a mail program says nothing
/// of it, and means everything.
pub(crate) async fn submit(
    state: web::Data<State>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    // Anybody can send a body here: none is read before the link is known to be good.
    let (workspace, customer) = subscriber(&state, &request).await?;
    let (body, _memory) = state.bodies.read_body(&mut payload.into_inner(), body::FORM_LIMIT).await?;
    let form = Query::parse(&String::from_utf8_lossy(&body));
    let only_one = form.get(SCOPE_FIELD).is_ok_and(|about| about == Some(REQUEST));
    let what = match feature_request_in_query(&request) {
        Some(request) if only_one => Unsubscription::Request(request),
        _ => Unsubscription::Everything,
    };
    if !state.queue.unsubscribe(workspace, customer, what, state.clock.now()).await? {
        return Err(ApiError::NotFound);
    }
    let about = match what {
        Unsubscription::Request(_) => "You get no more mail about this feature request.",
        Unsubscription::Everything => "You get no more mail about feature requests.",
    };
    Ok(page("Unsubscribed", &format!("<p>{about}</p>")))
}

/// Whom the path stands for.
async fn subscriber(state: &State, request: &HttpRequest) -> Result<(WorkspaceId, CustomerId), ApiError> {
    let (workspace, customer) = caller::resolve_reference(state, request, Purpose::Unsubscribe).await?;
    Ok((workspace.id, CustomerId::new(customer)))
}

/// The request that the mail was about. It needs no signature: nobody can end any mail but that of
/// the token's owner.
fn feature_request_in_query(request: &HttpRequest) -> Option<FeatureRequestId> {
    let query = Query::parse(request.query_string());
    query.get(REQUEST).ok().flatten().and_then(|raw| parse_uuid(REQUEST, raw).ok()).map(FeatureRequestId::new)
}

fn page(title: &str, content: &str) -> HttpResponse {
    HttpResponse::build(StatusCode::OK)
        .insert_header(ContentType::html())
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((REFERRER_POLICY, "no-referrer"))
        .insert_header((
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        ))
        .body(format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"robots\" content=\"noindex\">\n<title>{title}</title>\n</head>\n\
             <body>\n<h1>{title}</h1>\n{content}\n</body>\n</html>\n"
        ))
}
