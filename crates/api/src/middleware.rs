//! What surrounds every call: its id, its log line, and an answer even when something panics.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue, STRICT_TRANSPORT_SECURITY};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse, web};
use futures_util::FutureExt;
use tracing::Instrument;

use crate::connection::RequestTracker;
use crate::error::{ApiError, ExceededBudget};
use crate::observer::{CompletedRequest, UNKNOWN_ROUTE, method_name};
use crate::state::State;
use crate::wire::REPLAYED;

/// Names a call in answers and logs.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The target of the span of a call that is for traces: it has other fields than the one for the log, under
/// the names that OpenTelemetry has for them.
pub const TRACE_TARGET: &str = "roadmap_api::trace";

/// Longest request id that is taken from a client.
const MAX_REQUEST_ID_LENGTH: usize = 128;

/// Surrounds a call.
///
/// # Errors
/// What failed before it became an answer, with the answer in it.
pub async fn instrument_request(
    state: web::Data<State>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let started = Instant::now();
    let id = request_id(request.headers(), &state);
    let method = method_name(request.method());
    // At the level of errors, so that every line of the call has its id, however little is logged. The
    // workspace is added when it is known.
    let span = tracing::error_span!(
        "request",
        request_id = %id.to_str().unwrap_or_default(),
        method = %method,
        workspace = tracing::field::Empty,
    );
    let trace = tracing::info_span!(
        target: TRACE_TARGET,
        "call",
        otel.name = method,
        otel.kind = "server",
        http.request.method = method,
        http.route = tracing::field::Empty,
        http.response.status_code = tracing::field::Empty,
        otel.status_code = tracing::field::Empty,
        request_id = id.to_str().unwrap_or_default(),
    );
    let in_flight = request.request().conn_data::<RequestTracker>().map(RequestTracker::begin_request);
    let outcome = AssertUnwindSafe(next.call(request)).catch_unwind().instrument(span.clone()).await;
    drop(in_flight);
    let _inside = span.entered();
    let record_response = |route: &str, status: StatusCode, replayed: bool| {
        let duration = started.elapsed();
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        tracing::info!(route, status = status.as_u16(), duration_us, "answered");
        if !trace.is_disabled() {
            trace.record("otel.name", format!("{method} {route}"));
            trace.record("http.route", route);
            trace.record("http.response.status_code", status.as_u16());
            if status.is_server_error() {
                trace.record("otel.status_code", "error");
            }
        }
        state.observer.request_completed(&CompletedRequest { route, method, status, duration, replayed });
    };
    let failed = match outcome {
        Ok(Ok(response)) => {
            let mut response = response.map_into_boxed_body();
            set_common_headers(response.headers_mut(), id, &state);
            let route = response.request().match_pattern();
            let replayed = response.headers().contains_key(REPLAYED);
            report_budget(&state, response.response());
            record_response(route.as_deref().unwrap_or(UNKNOWN_ROUTE), response.status(), replayed);
            return Ok(response);
        }
        Ok(Err(error)) => error,
        Err(_panic) => ApiError::HandlerPanicked.into(),
    };
    // The request went down with what failed. Its answer is kept in the error.
    let mut response = failed.error_response();
    report_budget(&state, &response);
    set_common_headers(response.headers_mut(), id, &state);
    record_response(UNKNOWN_ROUTE, response.status(), false);
    Err(InternalError::from_response(failed, response).into())
}

fn report_budget<B>(state: &State, response: &HttpResponse<B>) {
    if let Some(ExceededBudget(budget)) = response.extensions().get() {
        state.observer.budget_exceeded(budget);
    }
}

/// How long browsers come back to a host by HTTPS alone: a year. Other hosts are none of ours to decide about, also those
/// below: each workspace's host says it for itself.
const HSTS_ONE_YEAR: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Headers of every answer. Only what is the same for everybody says itself that it may be kept.
fn set_common_headers(headers: &mut HeaderMap, id: HeaderValue, state: &State) {
    headers.insert(REQUEST_ID, id);
    if state.base_url.is_https() {
        headers.insert(STRICT_TRANSPORT_SECURITY, HSTS_ONE_YEAR);
    }
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// The client's own id, when it is a short visible one; else a new one.
fn request_id(headers: &HeaderMap, state: &State) -> HeaderValue {
    let given = headers
        .get(REQUEST_ID)
        .filter(|id| (1..=MAX_REQUEST_ID_LENGTH).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic));
    given.cloned().unwrap_or_else(|| {
        let new = state.ids.next(state.clock.now()).to_string();
        HeaderValue::try_from(new).unwrap_or_else(|_| HeaderValue::from_static("none"))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::Arc;

    use actix_web::middleware::from_fn;
    use actix_web::{App, ResponseError, test};
    use roadmap_domain::model::base_url::BaseUrl;
    use roadmap_domain::model::timestamp::Timestamp;
    use roadmap_domain::policy::signed_reference::{ReferenceSigner, Secret};
    use roadmap_domain::ports::mocks::{
        MockBlobs, MockClock, MockHealth, MockIdGenerator, MockOperationLocks, MockRetryPause, MockRoadmapReader,
        MockStore, MockTextSearch, MockWorkspaceDirectory,
    };
    use roadmap_domain::ports::{Clock, IdGenerator};
    use roadmap_domain::usecase::authenticate::Authenticate;
    use roadmap_domain::usecase::executor::Executor;
    use roadmap_domain::usecase::query::Queries;
    use roadmap_domain::usecase::upload_attachment::UploadAttachment;
    use uuid::Uuid;

    use std::time::Duration;

    use crate::body::BodyLimits;
    use crate::detached::DetachedTasks;
    use crate::forwarding::Proxies;
    use crate::limits::RateLimits;
    use crate::markup::MarkupPool;
    use crate::observer::NoopObserver;

    /// An application behind which there is nothing but a clock and ids.
    pub(crate) fn test_state() -> web::Data<State> {
        let mut clock = MockClock::new();
        clock.expect_now().return_const(Timestamp::from_millis(0).unwrap());
        let mut ids = MockIdGenerator::new();
        ids.expect_next().return_const(Uuid::from_u128(7));
        let (clock, ids): (Arc<dyn Clock>, Arc<dyn IdGenerator>) = (Arc::new(clock), Arc::new(ids));
        let locks = Arc::new(MockOperationLocks::new());
        let pause = Arc::new(MockRetryPause::new());
        let executor = Executor::new(Arc::new(MockStore::new()), locks, pause, clock.clone(), ids.clone());
        let secret = Secret::parse("secret", &"s".repeat(Secret::MIN_LENGTH)).unwrap();
        web::Data::new(State {
            executor: executor.clone(),
            queries: Queries::new(
                Arc::new(MockRoadmapReader::new()),
                Arc::new(MockTextSearch::new()),
                Arc::new(MockBlobs::new()),
                clock.clone(),
            ),
            health: Arc::new(MockHealth::new()),
            upload: UploadAttachment::new(Arc::new(MockBlobs::new()), executor.clone(), clock.clone(), ids.clone()),
            references: Arc::new(ReferenceSigner::new(secret, Vec::new())),
            directory: Arc::new(MockWorkspaceDirectory::new()),
            authenticate: Authenticate::new(Arc::new(MockWorkspaceDirectory::new()), clock.clone()),
            limits: Arc::new(RateLimits::disabled()),
            bodies: BodyLimits::new(Duration::from_secs(30), 1024),
            markup: MarkupPool::new(tokio::runtime::Handle::current(), 1),
            base_url: BaseUrl::parse("base_url", "http://localhost").unwrap(),
            mails_per_day: None,
            proxies: Proxies::none(),
            default_workspace: None,
            observer: Arc::new(NoopObserver),
            detached: DetachedTasks::new(tokio::runtime::Handle::current()),
            ids,
            clock,
        })
    }

    async fn panicking() -> HttpResponse {
        panic!("on purpose")
    }

    #[actix_web::test]
    async fn a_panic_becomes_a_500_and_the_next_request_is_served() {
        let routes = web::scope("")
            .wrap(from_fn(instrument_request))
            .route("/panic", web::get().to(panicking))
            .route("/good", web::get().to(HttpResponse::Ok));
        let app = test::init_service(App::new().app_data(test_state()).service(routes)).await;
        let asked = test::TestRequest::get().uri("/panic").to_request();
        let error = test::try_call_service(&app, asked).await.unwrap_err();
        let response = error.error_response();
        assert_eq!(response.status(), 500);
        assert_eq!(response.headers().get(REQUEST_ID).unwrap(), Uuid::from_u128(7).to_string().as_str());
        let body = actix_web::body::to_bytes(response.into_body()).await.unwrap();
        assert_eq!(body, "{\"error\":\"Something went wrong\"}");
        let good = test::call_service(&app, test::TestRequest::get().uri("/good").to_request()).await;
        assert_eq!(good.status(), 200);
    }

    #[actix_web::test]
    async fn a_panicking_task_is_an_error_of_its_caller() {
        let detached = DetachedTasks::new(tokio::runtime::Handle::current());
        let panicked = detached
            .run(async {
                if true {
                    panic!("on purpose")
                }
            })
            .await;
        assert_eq!(panicked.unwrap_err().status_code(), 500);
        assert_eq!(detached.run(async { 7 }).await.unwrap(), 7);
        assert!(detached.drain(Duration::from_secs(5)).await);
    }
}
