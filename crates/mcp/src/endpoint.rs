//! `POST /mcp`.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use actix_web::http::header::{CONTENT_ENCODING, ContentType, HeaderMap, ORIGIN};
use actix_web::{HttpMessage, HttpRequest, HttpResponse, HttpResponseBuilder, web};
use futures_util::FutureExt;
use roadmap_http::body::JSON_LIMIT;
use roadmap_http::error::HttpError;
use roadmap_http::headers::IDEMPOTENT_REPLAYED;
use serde_json::Value;

use crate::State;
use crate::api::Caller;
use crate::message::{self, Message, ProtocolError, Request};
use crate::registry::ToolList;
use crate::server::{self, Reply};

/// Responds to a message. Authentication, rate limits and the host are checked before.
pub(crate) async fn post(
    state: web::Data<State>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, HttpError> {
    let caller = Caller::of(&request)?;
    if !is_own_origin(request.headers(), &state.own_origin(&caller), &state.allowed_origins) {
        return Ok(refused(&state, None, &ProtocolError::origin()));
    }
    check_content_type(&request)?;
    let (body, memory) = state.api.http.bodies.read_body(&mut payload.into_inner(), JSON_LIMIT).await?;
    let message = message::read(request.headers(), &body);
    drop(body);
    match message {
        Ok(Message::Notification) => Ok(HttpResponse::Accepted().finish()),
        Ok(Message::Request(message)) => {
            let response = match ToolList::of_query(request.query_string()) {
                Ok(list) => respond(&state, &caller, list, message).await,
                Err(problem) => refused(&state, Some(&message.id), &ProtocolError::tools(problem)),
            };
            // The arguments take the memory until now.
            drop(memory);
            Ok(response)
        }
        Err((id, error)) => Ok(refused(&state, id.as_ref(), &error)),
    }
}

async fn respond(state: &State, caller: &Caller, list: ToolList, mut message: Request) -> HttpResponse {
    let started = Instant::now();
    let reply = async {
        let api = state.operations().await.map_err(|_| ProtocolError::internal())?;
        server::respond(api, caller, list, &mut message).await
    };
    let outcome = AssertUnwindSafe(reply).catch_unwind().await;
    match outcome.unwrap_or_else(|_panic| Err(ProtocolError::internal())) {
        Ok(reply) => {
            if let Some((tool, outcome)) = reply.call {
                state.api.http.observer.tool_called(&tool.name, outcome, started.elapsed());
            }
            http_response(&reply, reply.body(message.era, &message.id))
        }
        Err(error) => refused(state, Some(&message.id), &error),
    }
}

fn http_response(reply: &Reply, body: String) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response.insert_header(ContentType::json());
    if reply.replayed {
        response.insert_header((IDEMPOTENT_REPLAYED, "true"));
    }
    let mut response = response.body(body);
    if let Some(budget) = reply.response.as_ref().and_then(|response| response.budget) {
        response.extensions_mut().insert(budget);
    }
    response
}

fn refused(state: &State, id: Option<&Value>, error: &ProtocolError) -> HttpResponse {
    state.api.http.observer.mcp_rejected(error.cause.name());
    HttpResponseBuilder::new(error.status).insert_header(ContentType::json()).body(error.body(id))
}

/// Whether a request comes from a program, which sends no `Origin`, or from a page that may use this endpoint.
fn is_own_origin(headers: &HeaderMap, own: &str, allowed: &[String]) -> bool {
    let mut origins = headers.get_all(ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
    origins.all(|origin| {
        origin.eq_ignore_ascii_case(own) || allowed.iter().any(|allowed| origin.eq_ignore_ascii_case(allowed))
    })
}

/// Checks that the body is sent as uncompressed JSON, or without a type.
fn check_content_type(request: &HttpRequest) -> Result<(), HttpError> {
    let is_json = request.content_type().is_empty() || request.content_type().eq_ignore_ascii_case("application/json");
    let encoding = request.headers().get(CONTENT_ENCODING);
    let is_plain = encoding.is_none_or(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"identity"));
    if is_json && is_plain { Ok(()) } else { Err(HttpError::UnsupportedMediaType) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::StatusCode;
    use actix_web::http::header::HeaderValue;
    use actix_web::test::TestRequest;

    #[test]
    fn pages_of_other_origins_are_refused() {
        let allowed = ["https://tools.example.com".to_owned()];
        for (origins, is_allowed) in [
            (&[][..], true),
            (&["https://acme.example.com"], true),
            (&["HTTPS://acme.example.com"], true),
            (&["https://tools.example.com"], true),
            (&["https://beta.example.com"], false),
            (&["http://acme.example.com"], false),
            (&["null"], false),
            (&[""], false),
            (&["https://acme.example.com", "https://evil.example"], false),
        ] {
            let mut headers = HeaderMap::new();
            origins.iter().for_each(|origin| headers.append(ORIGIN, HeaderValue::from_static(origin)));
            assert_eq!(is_own_origin(&headers, "https://acme.example.com", &allowed), is_allowed, "{origins:?}");
        }
    }

    #[test]
    fn a_body_of_another_type_is_refused() {
        for (content_type, expected) in [
            (Some("application/json"), None),
            (Some("Application/JSON; charset=utf-8"), None),
            (None, None),
            (Some("text/plain"), Some(StatusCode::UNSUPPORTED_MEDIA_TYPE)),
            (Some("application/x-www-form-urlencoded"), Some(StatusCode::UNSUPPORTED_MEDIA_TYPE)),
        ] {
            let mut request = TestRequest::post();
            if let Some(content_type) = content_type {
                request = request.insert_header(("content-type", content_type));
            }
            let refused = check_content_type(&request.to_http_request()).err();
            let status = refused.map(|error| actix_web::ResponseError::status_code(&error));
            assert_eq!(status, expected, "{content_type:?}");
        }
        let compressed = TestRequest::post().insert_header(("content-encoding", "gzip")).to_http_request();
        assert!(check_content_type(&compressed).is_err());
    }
}
