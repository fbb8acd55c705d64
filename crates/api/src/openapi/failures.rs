//! The error responses in the document. Statuses and messages are taken from the errors themselves.

use std::collections::BTreeMap;

use actix_web::ResponseError;
use actix_web::http::StatusCode;
use roadmap_domain::error::{Budget, FieldError, OverBudget, Resource, RoadmapError, StoreError};
use roadmap_domain::usecase::upload_attachment;
use roadmap_http::body::JSON_LIMIT;
use roadmap_http::error::has_retry_after;
use serde_json::{Map, Value, json};
use utoipa::IntoResponses;
use utoipa::openapi::{Ref, RefOr, Response};

use crate::error::ApiError;

/// The 503 of write requests.
const WRITE_UNAVAILABLE: &str = "WriteUnavailable";

/// An error response.
struct Failure {
    /// Its name in the document.
    name: &'static str,
    status: StatusCode,
    when: &'static str,
    /// The possible messages of the body.
    messages: Vec<String>,
}

fn failure(name: &'static str, when: &'static str, errors: &[ApiError]) -> Failure {
    let status = errors.first().map_or(StatusCode::INTERNAL_SERVER_ERROR, ResponseError::status_code);
    Failure { name, status, when, messages: errors.iter().map(ToString::to_string).collect() }
}

fn all_failures() -> Vec<Failure> {
    let domain = |error: RoadmapError| -> ApiError { error.into() };
    let missing = |resource| domain(RoadmapError::NotFound(resource));
    let over = |budget, limit| domain(OverBudget { budget, limit }.into());
    let store = || StoreError::Unavailable("".into());
    vec![
        failure(
            "InvalidHost",
            "`Host` is none, or not the one of the target; or the headers of proxies do not agree.",
            &[ApiError::MalformedHost, ApiError::ConflictingForwarding],
        ),
        failure(
            "MalformedJson",
            "The body is no JSON object, or nested too deep; or `Host` is none; or the headers of proxies do not agree.",
            &[ApiError::MalformedBody, ApiError::MalformedHost, ApiError::ConflictingForwarding],
        ),
        failure(
            "MalformedForm",
            "The body is no well-formed form, or breaks off; or `Host` is none; or the headers of proxies do not agree.",
            &[ApiError::MalformedUpload, ApiError::MalformedHost, ApiError::ConflictingForwarding],
        ),
        failure(
            "Unauthenticated",
            "Host or key are wrong: missing, unknown, of another workspace, revoked or expired.",
            &[domain(RoadmapError::Unauthenticated)],
        ),
        failure("OutOfScope", "The key may not do this.", &[domain(RoadmapError::InsufficientScope)]),
        failure("UnknownRequest", "There is no such feature request.", &[missing(Resource::FeatureRequest)]),
        failure("UnknownTrack", "There is no such track.", &[missing(Resource::Track)]),
        failure(
            "UnknownRequestOrTrack",
            "There is no such feature request, or no such track.",
            &[missing(Resource::FeatureRequest), missing(Resource::Track)],
        ),
        failure("NotAcceptable", "`Accept` excludes JSON.", &[ApiError::NotAcceptable]),
        failure("BodyTimeout", "The body arrived too slowly.", &[ApiError::BodyTimeout]),
        failure(
            "OperationInProgress",
            "A call with the same operation key is still running.",
            &[domain(RoadmapError::OperationInProgress)],
        ),
        failure("TooLarge", "The body is too large.", &[ApiError::TooLarge { limit: JSON_LIMIT }]),
        failure("NoJson", "The body is sent as something else, or compressed.", &[ApiError::UnsupportedMediaType]),
        failure("NoForm", "The body is sent as something else, or compressed.", &[ApiError::UnsupportedUploadType]),
        failure(
            "Invalid",
            "A field or parameter cannot be accepted. The message names it.",
            &[FieldError::missing("title").into()],
        ),
        failure(
            "NoFile",
            "The part `file` is missing, or larger than 50 MB.",
            &[upload_attachment::invalid_file().into()],
        ),
        failure(
            "TooManyCalls",
            "There were too many calls lately: with the key, to the workspace, or from the address without a good key.",
            &[ApiError::TooManyRequests(1), ApiError::TooManyFailures(1)],
        ),
        failure("WentWrong", "Anything unexpected.", &[ApiError::HandlerPanicked]),
        failure(
            "Unavailable",
            "Something that the service needs cannot be reached, is busy or full.",
            &[domain(RoadmapError::Store(store())), domain(RoadmapError::SearchUnavailable(store()))],
        ),
        failure(
            WRITE_UNAVAILABLE,
            "Something that the service needs cannot be reached, is busy or full. Without `Retry-After` the change may have \
             been made.",
            &[
                domain(RoadmapError::Store(store())),
                ApiError::BodyMemoryExhausted,
                ApiError::MarkupQueueFull,
                domain(RoadmapError::OutcomeUnknown { has_key: true, source: store() }),
                domain(RoadmapError::OutcomeUnknown { has_key: false, source: store() }),
            ],
        ),
        failure(
            "RecordsUsedUp",
            "The workspace stores as many records as it may. Replays of operation keys are answered all the same.",
            &[over(Budget::StoredRecords, 2 << 30)],
        ),
        failure(
            "StorageUsedUp",
            "The workspace stores as many files or records as it may.",
            &[over(Budget::StoredFiles, 10 << 30), over(Budget::StoredRecords, 2 << 30)],
        ),
    ]
}

/// Returns all error responses as reusable components.
pub(crate) fn responses() -> Map<String, Value> {
    let described = |failure: Failure| {
        let mut headers = super::common_response_headers();
        if has_retry_after(failure.status) {
            let name = if failure.name == WRITE_UNAVAILABLE { "RetryAfterIfSafe" } else { "RetryAfter" };
            headers.insert("Retry-After".to_owned(), super::header(name));
        }
        let examples: Map<String, Value> = failure
            .messages
            .iter()
            .enumerate()
            .map(|(number, message)| (format!("{}", number + 1), json!({ "value": { "error": message } })))
            .collect();
        let content = json!({ "schema": { "$ref": "#/components/schemas/Error" }, "examples": examples });
        let response =
            json!({ "description": failure.when, "headers": headers, "content": { "application/json": content } });
        (failure.name.to_owned(), response)
    };
    all_failures().into_iter().map(described).collect()
}

fn responses_named(names: &[&str]) -> BTreeMap<String, RefOr<Response>> {
    let all = all_failures().into_iter().filter(|failure| names.contains(&failure.name));
    all.map(|failure| (failure.status.as_str().to_owned(), Ref::from_response_name(failure.name).into())).collect()
}

/// Declares types that represent groups of error responses.
macro_rules! failures {
    ($($(#[$doc:meta])* $group:ident => $names:expr;)+) => {$(
        $(#[$doc])*
        pub(crate) enum $group {}

        impl IntoResponses for $group {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                responses_named(&$names)
            }
        }
    )+};
}

failures! {
    /// Errors of all requests.
    CommonErrors => ["InvalidHost", "Unauthenticated", "OutOfScope", "NotAcceptable", "TooManyCalls", "WentWrong", "Unavailable"];
    /// Errors of requests with a JSON body.
    BodyErrors => ["MalformedJson", "BodyTimeout", "TooLarge", "NoJson", "Invalid", WRITE_UNAVAILABLE];
    /// Errors of requests with an operation key.
    OperationKeyErrors => ["OperationInProgress"];
    /// Errors of requests with query parameters.
    QueryErrors => ["Invalid"];
    /// Errors of uploads.
    UploadErrors => ["MalformedForm", "BodyTimeout", "NoForm", "NoFile", WRITE_UNAVAILABLE];
    /// Errors of requests that store records.
    RecordBudgetErrors => ["RecordsUsedUp"];
    /// Errors of requests that store a file.
    FileBudgetErrors => ["StorageUsedUp"];
    /// Errors of requests that name a feature request.
    FeatureRequestErrors => ["UnknownRequest"];
    /// Errors of requests that name a track.
    TrackErrors => ["UnknownTrack"];
    /// Errors of requests that name both.
    MoveErrors => ["UnknownRequestOrTrack"];
}
