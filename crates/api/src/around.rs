//! What surrounds every call: its id, its log line, and an answer even when something panics.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, web};
use futures_util::FutureExt;
use tracing::Instrument;

use crate::error::ApiError;
use crate::state::State;

/// Names a call in answers and logs.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest request id that is taken from a client.
const LONGEST_ID: usize = 128;

/// Surrounds a call.
///
/// # Errors
/// None of its own: what fails inside becomes an answer.
pub async fn call(
    state: web::Data<State>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let started = Instant::now();
    let id = request_id(request.headers(), &state);
    let head = request.request().clone();
    let span = tracing::info_span!("request", id = id.to_str().unwrap_or_default(), method = %head.method());
    let outcome = AssertUnwindSafe(next.call(request)).catch_unwind().instrument(span.clone()).await;
    let mut response = match outcome {
        Ok(Ok(response)) => response.map_into_boxed_body(),
        Ok(Err(error)) => ServiceResponse::new(head, span.in_scope(|| error.error_response())),
        Err(_panic) => ServiceResponse::from_err(ApiError::HandlerPanicked, head),
    };
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    span.in_scope(|| {
        let route = response.request().match_pattern().unwrap_or_else(|| "unknown".to_owned());
        tracing::info!(
            route,
            status = response.status().as_u16(),
            duration_us = started.elapsed().as_micros(),
            "answered"
        );
    });
    Ok(response)
}

/// The client's own id, when it is a short visible one; else a new one.
fn request_id(headers: &HeaderMap, state: &State) -> HeaderValue {
    let given = headers
        .get(REQUEST_ID)
        .filter(|id| (1..=LONGEST_ID).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic));
    given.cloned().unwrap_or_else(|| {
        let new = state.ids.next(state.clock.now()).to_string();
        HeaderValue::try_from(new).unwrap_or_else(|_| HeaderValue::from_static("none"))
    })
}
