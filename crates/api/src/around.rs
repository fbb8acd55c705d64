//! What surrounds every call: its id, its log line, and an answer even when something panics.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::StatusCode;
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
/// What failed before it became an answer, with the answer in it.
pub async fn call(
    state: web::Data<State>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let started = Instant::now();
    let id = request_id(request.headers(), &state);
    let span = tracing::info_span!("request", id = id.to_str().unwrap_or_default(), method = %request.method());
    let outcome = AssertUnwindSafe(next.call(request)).catch_unwind().instrument(span.clone()).await;
    let _inside = span.entered();
    let failed = match outcome {
        Ok(Ok(response)) => {
            let mut response = response.map_into_boxed_body();
            mark(response.headers_mut(), id);
            let route = response.request().match_pattern().unwrap_or_else(|| "unknown".to_owned());
            log(&route, response.status(), started);
            return Ok(response);
        }
        Ok(Err(error)) => error,
        Err(_panic) => ApiError::HandlerPanicked.into(),
    };
    // The request went down with what failed. Its answer is kept in the error.
    let mut response = failed.error_response();
    mark(response.headers_mut(), id);
    log("unknown", response.status(), started);
    Err(InternalError::from_response(failed, response).into())
}

/// Headers of every answer.
fn mark(headers: &mut HeaderMap, id: HeaderValue) {
    headers.insert(REQUEST_ID, id);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

fn log(route: &str, status: StatusCode, started: Instant) {
    tracing::info!(route, status = status.as_u16(), duration_us = started.elapsed().as_micros(), "answered");
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
