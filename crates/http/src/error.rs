//! The error type of all surfaces, with the only table of statuses, messages and headers.
//!
//! The response of an [`HttpError`] has a status and headers, but no body. Its message is an [`ErrorMessage`] in its
//! extensions. Each surface renders the message in its own format; [`crate::access_log`] renders the rest.

use std::error::Error;

use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    ALLOW, CONTENT_RANGE, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use actix_web::web::Bytes;
use actix_web::{HttpResponse, HttpResponseBuilder, ResponseError};
use roadmap_domain::error::{Budget, ErrorChain, FieldError, OverBudget, RoadmapError, StoreError};

/// The reason why a request failed.
#[derive(Debug)]
pub enum HttpError {
    Domain(RoadmapError),
    /// The host is malformed or inconsistent.
    MalformedHost,
    /// The proxies' headers report two clients or two hosts.
    ConflictingForwarding,
    /// No such path.
    NotFound,
    /// The request of a program without a key is not proved by a signature, or not for anything that is known.
    NotProved,
    /// The request was made by a page of another origin than the workspace's.
    ForeignOrigin,
    /// The caller is known, but may not do this.
    Forbidden,
    /// The path supports only these methods.
    MethodNotAllowed(String),
    /// The path and the query are too long.
    TargetTooLong,
    /// The client does not accept JSON.
    NotAcceptable,
    /// The body is not sent as JSON.
    UnsupportedMediaType,
    /// The body is not sent as `multipart/form-data`.
    UnsupportedUploadType,
    /// The body is not complete, or not a form.
    MalformedBody,
    /// The body is not a JSON object. The cause, for developers of clients, has nothing of the body.
    MalformedJson(String),
    /// The body is not well-formed `multipart/form-data`.
    MalformedUpload,
    /// The file does not have the requested byte range. Its length follows.
    RangeNotSatisfiable(u64),
    /// The body is too large.
    TooLarge {
        /// Largest allowed size in bytes.
        limit: usize,
    },
    /// The body arrived too slowly.
    BodyTimeout,
    /// The bodies being read use all memory reserved for bodies.
    BodyMemoryExhausted,
    /// Too many bodies with much markup are queued.
    MarkupQueueFull,
    /// The key, its workspace or the anonymous address has exceeded its limit. The number is the seconds until the next
    /// request is allowed.
    TooManyRequests(u64),
    /// The address has too many failed authentications. The number is the seconds until the next attempt is allowed.
    TooManyFailures(u64),
    /// A task of the request panicked.
    TaskPanicked(tokio::task::JoinError),
    HandlerPanicked,
}

impl<E: Into<RoadmapError>> From<E> for HttpError {
    fn from(error: E) -> Self {
        Self::Domain(error.into())
    }
}

/// The message of an error, in the extensions of its response. The body is rendered from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorMessage(pub String);

/// Renders a status and a message as the content type and the body of a surface's format.
pub type ErrorRenderer = fn(StatusCode, &str) -> (HeaderValue, Bytes);

/// Renders the body of an error response. Any other response is returned unchanged.
#[must_use]
pub fn render(mut response: HttpResponse<BoxBody>, renderer: ErrorRenderer) -> HttpResponse<BoxBody> {
    let Some(ErrorMessage(message)) = response.extensions_mut().remove() else { return response };
    let (content_type, body) = renderer(response.status(), &message);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response.set_body(BoxBody::new(body))
}

/// How errors are rendered that no surface has rendered.
#[derive(Debug, Clone, Copy)]
pub struct ErrorFormat {
    /// Renders the body.
    pub renderer: ErrorRenderer,
    /// Headers of the response.
    pub headers: &'static [(HeaderName, &'static str)],
}

impl ErrorFormat {
    /// Renders an error response. Any other response is returned unchanged.
    pub(crate) fn render(self, response: HttpResponse<BoxBody>) -> HttpResponse<BoxBody> {
        let is_error = response.extensions().get::<ErrorMessage>().is_some();
        let mut response = render(response, self.renderer);
        if is_error {
            for (name, value) in self.headers {
                response.headers_mut().insert(name.clone(), HeaderValue::from_static(value));
            }
        }
        response
    }
}

/// The formats of such errors, by the path of the request. The surfaces supply them.
#[derive(Debug, Clone)]
pub struct ErrorFormats {
    /// The beginnings of the paths that programs use. People open all other paths in a browser.
    pub program_paths: Vec<&'static str>,
    pub for_programs: ErrorFormat,
    pub for_people: ErrorFormat,
}

impl ErrorFormats {
    /// Whether programs use this path.
    #[must_use]
    pub fn is_for_programs(&self, path: &str) -> bool {
        self.program_paths.iter().any(|start| path.starts_with(start))
    }

    /// Returns the format of errors at this path.
    pub(crate) fn of_path(&self, path: &str) -> ErrorFormat {
        if self.is_for_programs(path) { self.for_programs } else { self.for_people }
    }
}

/// The name of the exceeded budget, in the extensions of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceededBudget(pub(crate) &'static str);

/// The name in metrics of the sign-in mails of a workspace to strangers and customers. A sign-in beyond them may have no
/// mail, but has the same response as others.
pub const WORKSPACE_SIGN_INS: &str = "workspace_sign_ins";

/// The name of the memory budget for bodies in metrics.
pub const BODY_MEMORY: &str = "body_memory";

/// The name of the thread budget for markup in metrics.
pub const MARKUP_THREADS: &str = "markup_threads";

/// The cause of an error whose message is the same for many causes.
pub const ERROR_DETAIL: HeaderName = HeaderName::from_static("x-error-detail");

/// The message of internal errors, which clients cannot fix.
pub const INTERNAL_ERROR_MESSAGE: &str = "Something went wrong";
const UNAVAILABLE_MESSAGE: &str = "Service is temporarily unavailable";

/// `Retry-After` of an exceeded daily budget, in seconds. After an hour, the oldest hour of the day no longer counts.
const BUDGET_RETRY_AFTER: u64 = 3_600;

impl HttpError {
    /// Converts an error of the domain into an error of a page.
    ///
    /// A missing record is a missing page. Changes of pages are idempotent, so that an unknown outcome is handled like an
    /// unavailable store.
    #[must_use]
    pub fn of_page(error: RoadmapError) -> Self {
        Self::Domain(match error {
            RoadmapError::NotFound(_) => return Self::NotFound,
            RoadmapError::OutcomeUnknown { source, .. } => source.into(),
            error => error,
        })
    }

    /// Returns the seconds after which the request may be retried, if a retry can succeed and cannot apply a change
    /// twice.
    #[must_use]
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::TooManyRequests(seconds) | Self::TooManyFailures(seconds) => Some(*seconds),
            Self::Domain(RoadmapError::OverBudget(OverBudget { budget: Budget::MailsPerDay, .. })) => {
                Some(BUDGET_RETRY_AFTER)
            }
            Self::Domain(RoadmapError::OverMailLimit(over)) => Some(over.retry_after),
            // Without an operation key, a retry may apply the change twice.
            Self::Domain(RoadmapError::OutcomeUnknown { has_key: false, .. }) => None,
            Self::Domain(RoadmapError::OperationInProgress) => Some(1),
            other => (other.status_code() == StatusCode::SERVICE_UNAVAILABLE).then_some(1),
        }
    }

    /// Returns status and message. The domain's errors have their own messages.
    fn status_and_message(&self) -> (StatusCode, String) {
        let fixed = |status, message: &str| (status, message.to_owned());
        match self {
            Self::Domain(error) => {
                let status = match error {
                    RoadmapError::Unauthenticated => StatusCode::UNAUTHORIZED,
                    RoadmapError::InsufficientScope => StatusCode::FORBIDDEN,
                    RoadmapError::NotFound(_) => StatusCode::NOT_FOUND,
                    RoadmapError::Invalid(FieldError { .. }) | RoadmapError::Taken { .. } => {
                        StatusCode::UNPROCESSABLE_ENTITY
                    }
                    RoadmapError::OverBudget(OverBudget {
                        budget: Budget::StoredRecords | Budget::StoredFiles,
                        ..
                    }) => StatusCode::INSUFFICIENT_STORAGE,
                    RoadmapError::OverBudget(OverBudget { budget: Budget::MailsPerDay, .. })
                    | RoadmapError::OverMailLimit(_) => StatusCode::TOO_MANY_REQUESTS,
                    RoadmapError::OperationInProgress | RoadmapError::Conflict(_) => StatusCode::CONFLICT,
                    RoadmapError::SearchUnavailable(_) | RoadmapError::OutcomeUnknown { .. } => {
                        StatusCode::SERVICE_UNAVAILABLE
                    }
                    // Outside of the executor, an unknown outcome belongs to a repeatable write.
                    RoadmapError::Store(
                        StoreError::Unavailable(_) | StoreError::Transient(_) | StoreError::OutcomeUnknown(_),
                    ) => {
                        return fixed(StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE_MESSAGE);
                    }
                    RoadmapError::Store(StoreError::Inconsistent { .. } | StoreError::Fatal(_)) => {
                        return fixed(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR_MESSAGE);
                    }
                };
                (status, error.to_string())
            }
            Self::MalformedHost => fixed(StatusCode::BAD_REQUEST, "Host is not valid"),
            Self::ConflictingForwarding => fixed(StatusCode::BAD_REQUEST, "Forwarded and X-Forwarded-* do not agree"),
            Self::NotFound => fixed(StatusCode::NOT_FOUND, "Not found"),
            Self::NotProved => fixed(StatusCode::UNAUTHORIZED, "Signature is not valid"),
            Self::ForeignOrigin => fixed(StatusCode::FORBIDDEN, "The form was sent by a page of another origin"),
            Self::Forbidden => fixed(StatusCode::FORBIDDEN, "Forbidden"),
            Self::MethodNotAllowed(_) => fixed(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed"),
            Self::TargetTooLong => fixed(StatusCode::URI_TOO_LONG, "Path and query are too long"),
            Self::NotAcceptable => fixed(StatusCode::NOT_ACCEPTABLE, "Accept must allow application/json"),
            Self::UnsupportedMediaType => {
                fixed(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Content-Type must be application/json")
            }
            Self::UnsupportedUploadType => {
                fixed(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Content-Type must be multipart/form-data")
            }
            Self::MalformedUpload => fixed(StatusCode::BAD_REQUEST, "Request body is not valid multipart/form-data"),
            Self::RangeNotSatisfiable(_) => fixed(StatusCode::RANGE_NOT_SATISFIABLE, "Range not satisfiable"),
            Self::MalformedBody | Self::MalformedJson(_) => {
                fixed(StatusCode::BAD_REQUEST, "Request body is not valid JSON")
            }
            Self::TooLarge { limit } => {
                let limit = match limit / 1024 {
                    kilobytes @ ..1024 => format!("{kilobytes} KB"),
                    kilobytes => format!("{} MB", kilobytes / 1024),
                };
                (StatusCode::PAYLOAD_TOO_LARGE, format!("Request body must not be larger than {limit}"))
            }
            Self::BodyMemoryExhausted => fixed(StatusCode::SERVICE_UNAVAILABLE, "Too many request bodies at a time"),
            Self::MarkupQueueFull => {
                fixed(StatusCode::SERVICE_UNAVAILABLE, "Too many request bodies with much markup at a time")
            }
            Self::BodyTimeout => fixed(StatusCode::REQUEST_TIMEOUT, "Request body took too long to arrive"),
            Self::TooManyRequests(_) => fixed(StatusCode::TOO_MANY_REQUESTS, "Too many calls, try again later"),
            Self::TooManyFailures(_) => {
                fixed(StatusCode::TOO_MANY_REQUESTS, "Too many failed authentications, try again later")
            }
            Self::TaskPanicked(_) | Self::HandlerPanicked => {
                fixed(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR_MESSAGE)
            }
        }
    }

    /// Returns the whole chain of causes, for the log.
    fn chain(&self) -> String {
        self.source().map_or_else(|| self.to_string(), |first| ErrorChain::new(first).to_string())
    }
}

impl std::fmt::Display for HttpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.status_and_message().1)
    }
}

impl Error for HttpError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Domain(error) => Some(error),
            Self::TaskPanicked(error) => Some(error),
            _ => None,
        }
    }
}

impl ResponseError for HttpError {
    fn status_code(&self) -> StatusCode {
        self.status_and_message().0
    }

    /// Returns status and headers. The body is [rendered](render) later.
    fn error_response(&self) -> HttpResponse {
        let (status, message) = self.status_and_message();
        // An exceeded budget of a workspace is not a failure of the service.
        if status.is_server_error() && !matches!(self, Self::Domain(RoadmapError::OverBudget(_))) {
            tracing::error!(status = status.as_u16(), cause = %self.chain(), "request failed");
        }
        let mut response = HttpResponseBuilder::new(status);
        if matches!(self, Self::Domain(RoadmapError::Unauthenticated)) {
            // RFC 9110 section 15.5.2. The key is also accepted in `X-Api-Key`.
            response.insert_header((WWW_AUTHENTICATE, "Bearer realm=\"roadmap\""));
        }
        if let Self::MalformedJson(cause) = self {
            tracing::info!(%cause, "the request body is not valid JSON");
            response.insert_header((ERROR_DETAIL, cause.as_str()));
        }
        if let Self::MethodNotAllowed(methods) = self {
            response.insert_header((ALLOW, methods.as_str()));
        }
        if let Self::RangeNotSatisfiable(length) = self {
            response.insert_header((CONTENT_RANGE, format!("bytes */{length}")));
        }
        if let Some(seconds) = self.retry_after() {
            response.insert_header((RETRY_AFTER, seconds));
        }
        match self {
            Self::BodyMemoryExhausted => drop(response.extensions_mut().insert(ExceededBudget(BODY_MEMORY))),
            Self::MarkupQueueFull => drop(response.extensions_mut().insert(ExceededBudget(MARKUP_THREADS))),
            _ => {}
        }
        if let Self::Domain(RoadmapError::OverBudget(OverBudget { budget, .. })) = self {
            response.extensions_mut().insert(ExceededBudget(budget.name()));
        }
        if let Self::Domain(RoadmapError::OverMailLimit(over)) = self {
            response.extensions_mut().insert(ExceededBudget(over.budget.name()));
        }
        response.extensions_mut().insert(ErrorMessage(message));
        response.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::to_bytes;
    use actix_web::http::header::CONTENT_LANGUAGE;
    use roadmap_domain::error::{Conflict, MailBudget, OverMailLimit, Resource};

    fn store(error: StoreError) -> HttpError {
        RoadmapError::Store(error).into()
    }

    #[test]
    fn an_error_that_no_surface_has_rendered_has_the_format_of_its_path() {
        static HEADERS: [(HeaderName, &str); 1] = [(CONTENT_LANGUAGE, "en")];
        let renderer: ErrorRenderer = |_, message| (HeaderValue::from_static("text/plain"), message.to_owned().into());
        let for_programs = ErrorFormat { renderer, headers: &[] };
        let renderer: ErrorRenderer = |_, _| (HeaderValue::from_static("text/html"), Bytes::new());
        let for_people = ErrorFormat { renderer, headers: &HEADERS };
        let formats = ErrorFormats { program_paths: vec!["/api/", "/mcp"], for_programs, for_people };
        for (path, content_type, language) in [
            ("/api/external", "text/plain", None),
            ("/mcp", "text/plain", None),
            ("/api", "text/html", Some("en")),
            ("/", "text/html", Some("en")),
        ] {
            let response = formats.of_path(path).render(HttpError::NotFound.error_response());
            let header = |name: HeaderName| response.headers().get(name).map(|value| value.to_str().unwrap());
            assert_eq!((header(CONTENT_TYPE), header(CONTENT_LANGUAGE)), (Some(content_type), language), "{path}");
        }
        assert!(!formats.of_path("/").render(HttpResponse::Ok().finish()).headers().contains_key(CONTENT_LANGUAGE));
    }

    #[test]
    fn a_page_reports_a_missing_record_as_a_missing_page_and_an_unknown_outcome_as_unavailable() {
        let unknown = StoreError::OutcomeUnknown("secret".into());
        for (error, status, message) in [
            (RoadmapError::NotFound(Resource::File), 404, "Not found"),
            (
                RoadmapError::OutcomeUnknown { has_key: false, source: unknown },
                503,
                "Service is temporarily unavailable",
            ),
            (RoadmapError::InsufficientScope, 403, "API Key does not have the required scope"),
        ] {
            let error = HttpError::of_page(error);
            assert_eq!((error.status_code().as_u16(), error.to_string().as_str()), (status, message));
        }
    }

    /// Beyond the contract: a stalled body is an error with the status 408.
    /// Contract 2.10, 7; Decision 2.
    #[actix_web::test]
    async fn every_error_has_one_status_and_one_message() {
        for (error, status, message, retry) in [
            (RoadmapError::Unauthenticated.into(), 401, "Could not authenticate, invalid API Key", false),
            (RoadmapError::InsufficientScope.into(), 403, "API Key does not have the required scope", false),
            (RoadmapError::NotFound(Resource::Track).into(), 404, "Track does not exist.", false),
            (
                FieldError::missing("email").into(),
                422,
                "param is missing or the value is empty or invalid: email",
                false,
            ),
            (
                OverBudget { budget: Budget::StoredRecords, limit: 1 << 20 }.into(),
                507,
                "Storage for records is used up, the workspace has 1 MB",
                false,
            ),
            (
                OverBudget { budget: Budget::StoredFiles, limit: 1 << 20 }.into(),
                507,
                "Storage for files is used up, the workspace has 1 MB",
                false,
            ),
            (
                OverBudget { budget: Budget::MailsPerDay, limit: 7 }.into(),
                429,
                "Mails of the day are used up, the workspace has 7",
                true,
            ),
            (
                RoadmapError::from(OverMailLimit { budget: MailBudget::SignIns, retry_after: 61 }).into(),
                429,
                "Too many mails were asked for, try again in 61 seconds",
                true,
            ),
            (RoadmapError::OperationInProgress.into(), 409, "operation_in_progress", true),
            (RoadmapError::Conflict(Conflict::NotMerged).into(), 409, "FeatureRequest is not merged.", false),
            (
                RoadmapError::SearchUnavailable(StoreError::Fatal("secret".into())).into(),
                503,
                "search_unavailable",
                true,
            ),
            (store(StoreError::Unavailable("secret".into())), 503, "Service is temporarily unavailable", true),
            (store(StoreError::Transient("secret".into())), 503, "Service is temporarily unavailable", true),
            (
                RoadmapError::OutcomeUnknown { has_key: false, source: StoreError::OutcomeUnknown("secret".into()) }
                    .into(),
                503,
                "The outcome is unknown, check whether the change was made before sending the request again",
                false,
            ),
            (
                RoadmapError::OutcomeUnknown { has_key: true, source: StoreError::OutcomeUnknown("secret".into()) }
                    .into(),
                503,
                "The outcome is unknown, send the request again with the same operation_key",
                true,
            ),
            (store(StoreError::OutcomeUnknown("secret".into())), 503, "Service is temporarily unavailable", true),
            (store(StoreError::Fatal("secret".into())), 500, "Something went wrong", false),
            (
                store(StoreError::Inconsistent { table: "secret", column: "secret", row: "1".to_owned() }),
                500,
                "Something went wrong",
                false,
            ),
            (HttpError::MalformedHost, 400, "Host is not valid", false),
            (HttpError::ConflictingForwarding, 400, "Forwarded and X-Forwarded-* do not agree", false),
            (HttpError::NotFound, 404, "Not found", false),
            (HttpError::ForeignOrigin, 403, "The form was sent by a page of another origin", false),
            (HttpError::Forbidden, 403, "Forbidden", false),
            (HttpError::MethodNotAllowed("GET".to_owned()), 405, "Method not allowed", false),
            (HttpError::NotAcceptable, 406, "Accept must allow application/json", false),
            (HttpError::BodyTimeout, 408, "Request body took too long to arrive", false),
            (HttpError::TooLarge { limit: 1024 * 1024 }, 413, "Request body must not be larger than 1 MB", false),
            (HttpError::TooLarge { limit: 4 * 1024 }, 413, "Request body must not be larger than 4 KB", false),
            (HttpError::BodyMemoryExhausted, 503, "Too many request bodies at a time", true),
            (HttpError::MarkupQueueFull, 503, "Too many request bodies with much markup at a time", true),
            (HttpError::UnsupportedMediaType, 415, "Content-Type must be application/json", false),
            (HttpError::UnsupportedUploadType, 415, "Content-Type must be multipart/form-data", false),
            (HttpError::MalformedUpload, 400, "Request body is not valid multipart/form-data", false),
            (HttpError::RangeNotSatisfiable(7), 416, "Range not satisfiable", false),
            (HttpError::MalformedBody, 400, "Request body is not valid JSON", false),
            (HttpError::MalformedJson("it is empty".to_owned()), 400, "Request body is not valid JSON", false),
            (HttpError::TooManyRequests(7), 429, "Too many calls, try again later", true),
            (HttpError::TooManyFailures(7), 429, "Too many failed authentications, try again later", true),
            (HttpError::HandlerPanicked, 500, "Something went wrong", false),
        ] {
            assert_eq!(error.to_string(), message);
            let response = error.error_response();
            assert_eq!(response.status().as_u16(), status, "{message}");
            assert_eq!(response.headers().contains_key(RETRY_AFTER), retry, "{message}");
            let rendered = render(response, |status, message| {
                (HeaderValue::from_static("text/plain"), format!("{}: {message}", status.as_u16()).into())
            });
            assert_eq!(rendered.headers().get(CONTENT_TYPE).unwrap(), "text/plain");
            assert!(rendered.extensions().get::<ErrorMessage>().is_none());
            let body = to_bytes(rendered.into_body()).await.unwrap();
            assert_eq!(body, format!("{status}: {message}"));
        }
    }

    #[actix_web::test]
    async fn a_response_that_is_no_error_is_not_rendered() {
        let response = render(HttpResponse::NotFound().body("a page"), |_, _| unreachable!("it is no error"));
        assert_eq!(to_bytes(response.into_body()).await.unwrap(), "a page");
    }

    /// Decision 2.
    #[test]
    fn the_log_has_every_cause_once() {
        let error: HttpError = RoadmapError::SearchUnavailable(StoreError::Fatal("no such table".into())).into();
        assert_eq!(error.chain(), "search_unavailable: the store failed: no such table");
    }
}
