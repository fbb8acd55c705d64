//! The outermost middleware: request id, spans, log line and conversion of panics to responses.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpResponse, web};
use futures_util::FutureExt;
use roadmap_domain::trace::TRACE_TARGET;
use tracing::{Instrument, Span};

use crate::connection::RequestTracker;
use crate::dependencies::HttpDependencies;
use crate::error::{ExceededBudget, HttpError};
use crate::headers::{IDEMPOTENT_REPLAYED, set_common_headers};
use crate::observer::{CompletedRequest, UNKNOWN_ROUTE, method_name};
use crate::request_id::{RequestId, request_id};

tokio::task_local! {
    /// The span of the request in the log. It is not the current one while there is a span for traces inside of it.
    static LOG_SPAN: Span;
}

/// Returns the span of the running request in the log; a disabled one outside of a request.
pub(crate) fn log_span() -> Span {
    LOG_SPAN.try_with(Span::clone).unwrap_or_else(|_| Span::none())
}

/// Runs `work` as a part of the request with this span in the log.
pub(crate) fn in_log_span<F: Future>(span: Span, work: F) -> impl Future<Output = F::Output> {
    LOG_SPAN.scope(span.clone(), work).instrument(span)
}

/// Middleware that instruments a request and renders remaining errors.
///
/// # Errors
/// An error that occurred before there was a response. It contains the rendered response.
pub(crate) async fn instrument_request(
    dependencies: web::Data<HttpDependencies>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let started = Instant::now();
    let id = request_id(request.headers(), &*dependencies.ids, &*dependencies.clock);
    let method = method_name(request.method());
    // Two spans, because the log and traces have different fields. That of the log is at level ERROR, so that every log
    // line of the request has its id at any configured level. The workspace is recorded later.
    let span = tracing::error_span!(
        "request",
        request_id = %id.to_str().unwrap_or_default(),
        method = %method,
        workspace = tracing::field::Empty,
    );
    let trace = tracing::info_span!(
        target: TRACE_TARGET,
        "request",
        otel.name = method,
        otel.kind = "server",
        http.request.method = method,
        http.route = tracing::field::Empty,
        http.response.status_code = tracing::field::Empty,
        otel.status_code = tracing::field::Empty,
        request_id = id.to_str().unwrap_or_default(),
    );
    request.extensions_mut().insert(RequestId(id.clone()));
    let path = request.path().to_owned();
    let in_flight = request.request().conn_data::<RequestTracker>().map(RequestTracker::begin_request);
    let handled = AssertUnwindSafe(next.call(request)).catch_unwind().instrument(trace.clone());
    let outcome = in_log_span(span.clone(), handled).await;
    drop(in_flight);
    let _inside = span.entered();
    let record_response = |route: &str, status: StatusCode, replayed: bool| {
        let duration = started.elapsed();
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        tracing::info!(route, status = status.as_u16(), duration_us, "request completed");
        if !trace.is_disabled() {
            trace.record("http.route", route);
            trace.record("http.response.status_code", status.as_u16());
            if status.is_server_error() {
                trace.record("otel.status_code", "error");
            }
        }
        dependencies.observer.request_completed(&CompletedRequest { route, method, status, duration, replayed });
    };
    let failed = match outcome {
        Ok(Ok(response)) => {
            let (request, response) = response.into_parts();
            let response = finish(response.map_into_boxed_body(), request.path(), id, &dependencies);
            let route = request.match_pattern();
            let replayed = response.headers().contains_key(IDEMPOTENT_REPLAYED);
            record_response(route.as_deref().unwrap_or(UNKNOWN_ROUTE), response.status(), replayed);
            return Ok(ServiceResponse::new(request, response));
        }
        Ok(Err(error)) => error,
        Err(_panic) => HttpError::HandlerPanicked.into(),
    };
    // The failure consumed the request, so the response is returned inside of the error.
    let response = finish(failed.error_response(), &path, id, &dependencies);
    record_response(UNKNOWN_ROUTE, response.status(), false);
    Err(InternalError::from_response(failed, response).into())
}

/// Reports an exceeded budget, renders an error and sets the common headers.
fn finish(response: HttpResponse, path: &str, id: HeaderValue, dependencies: &HttpDependencies) -> HttpResponse {
    if let Some(ExceededBudget(budget)) = response.extensions().get() {
        dependencies.observer.budget_exceeded(budget);
    }
    let mut response = dependencies.error_formats.of_path(path).render(response);
    set_common_headers(response.headers_mut(), id, dependencies.base_url.is_https());
    response
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;

    use actix_web::middleware::from_fn;
    use actix_web::{App, HttpRequest, ResponseError, test};
    use roadmap_domain::model::base_url::BaseUrl;
    use roadmap_domain::model::timestamp::Timestamp;
    use roadmap_domain::policy::signed_reference::{ReferenceSigner, Secret};
    use roadmap_domain::ports::mocks::{MockClock, MockHealth, MockIdGenerator, MockWorkspaceDirectory};
    use roadmap_domain::ports::{Clock, IdGenerator};
    use roadmap_domain::usecase::authenticate::Authenticate;
    use uuid::Uuid;

    use crate::body::BodyLimits;
    use crate::client_address::Proxies;
    use crate::detached::DetachedTasks;
    use crate::error::{ErrorFormat, ErrorFormats, ErrorRenderer};
    use crate::limits::RateLimits;
    use crate::observer::NoopObserver;
    use crate::request_id::{REQUEST_ID, id_of};

    /// Dependencies of mocks, of which only the clock and the ids return values.
    pub(crate) fn dependencies() -> HttpDependencies {
        let mut clock = MockClock::new();
        clock.expect_now().return_const(Timestamp::from_millis(0).unwrap());
        let mut ids = MockIdGenerator::new();
        ids.expect_next().return_const(Uuid::from_u128(7));
        let (clock, ids): (Arc<dyn Clock>, Arc<dyn IdGenerator>) = (Arc::new(clock), Arc::new(ids));
        let renderer: ErrorRenderer = |_, message| (HeaderValue::from_static("text/plain"), message.to_owned().into());
        let format = ErrorFormat { renderer, headers: &[] };
        let secret = Secret::parse("secret", &"s".repeat(Secret::MIN_LENGTH)).unwrap();
        HttpDependencies {
            health: Arc::new(MockHealth::new()),
            directory: Arc::new(MockWorkspaceDirectory::new()),
            authenticate: Authenticate::new(Arc::new(MockWorkspaceDirectory::new()), clock.clone()),
            references: Arc::new(ReferenceSigner::new(secret, Vec::new())),
            limits: Arc::new(RateLimits::disabled()),
            bodies: BodyLimits::new(Duration::from_secs(30), 1024),
            base_url: BaseUrl::parse("base_url", "http://localhost").unwrap(),
            proxies: Proxies::none(),
            default_workspace: None,
            observer: Arc::new(NoopObserver),
            detached: DetachedTasks::new(tokio::runtime::Handle::current()),
            error_formats: ErrorFormats { program_paths: Vec::new(), for_programs: format, for_people: format },
            ids,
            clock,
        }
    }

    async fn panicking() -> HttpResponse {
        panic!("on purpose")
    }

    /// Beyond the contract: a panic is a 500 with the generic body, and the next request is served.
    /// Decision 2.
    #[actix_web::test]
    async fn a_panic_becomes_a_500_and_the_next_request_is_served() {
        let routes = web::scope("")
            .wrap(from_fn(instrument_request))
            .route("/panic", web::get().to(panicking))
            .route("/good", web::get().to(HttpResponse::Ok));
        let app = test::init_service(App::new().app_data(web::Data::new(dependencies())).service(routes)).await;
        let request = test::TestRequest::get().uri("/panic").to_request();
        let error = test::try_call_service(&app, request).await.unwrap_err();
        let response = error.error_response();
        assert_eq!(response.status(), 500);
        assert_eq!(response.headers().get(REQUEST_ID).unwrap(), Uuid::from_u128(7).to_string().as_str());
        let body = actix_web::body::to_bytes(response.into_body()).await.unwrap();
        assert_eq!(body, "Something went wrong");
        let good = test::call_service(&app, test::TestRequest::get().uri("/good").to_request()).await;
        assert_eq!(good.status(), 200);
    }

    /// Responds with the id that the request has for its handler.
    async fn own_id(request: HttpRequest) -> HttpResponse {
        HttpResponse::Ok().body(id_of(&request).unwrap_or_default())
    }

    #[actix_web::test]
    async fn a_handler_knows_the_id_of_its_response() {
        let routes = web::scope("").wrap(from_fn(instrument_request)).route("/", web::get().to(own_id));
        let app = test::init_service(App::new().app_data(web::Data::new(dependencies())).service(routes)).await;
        let new = Uuid::from_u128(7).to_string();
        for (sent, expected) in [(None, new.as_str()), (Some("my-id"), "my-id"), (Some("not one"), &new)] {
            let mut request = test::TestRequest::get().uri("/");
            if let Some(sent) = sent {
                request = request.insert_header((REQUEST_ID, sent));
            }
            let response = test::call_service(&app, request.to_request()).await;
            assert_eq!(response.headers().get(REQUEST_ID).unwrap(), expected);
            assert_eq!(test::read_body(response).await, expected);
        }
        assert_eq!(id_of(&test::TestRequest::get().to_http_request()), None);
    }

    /// Beyond the contract.
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
