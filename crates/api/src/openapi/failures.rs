//! The error responses in the document. Statuses and messages are taken from the errors themselves.

use std::collections::BTreeMap;

use actix_web::ResponseError;
use actix_web::http::StatusCode;
use roadmap_domain::error::{Budget, Conflict, FieldError, OverBudget, Resource, RoadmapError, StoreError};
use roadmap_domain::usecase::upload_attachment;
use roadmap_http::body::JSON_LIMIT;
use serde_json::{Map, Value, json};
use utoipa::IntoResponses;
use utoipa::openapi::{Ref, RefOr, Response};

use crate::error::ApiError;

/// The 400 of requests with a JSON body.
const MALFORMED_JSON: &str = "MalformedJson";

/// The 503 of write requests.
const WRITE_UNAVAILABLE: &str = "WriteUnavailable";

/// The beginning of the names of the 409s of requests with an operation key.
const OPERATION_IN_PROGRESS: &str = "OperationInProgress";

/// An error response.
struct Failure {
    /// Its name in the document.
    name: &'static str,
    status: StatusCode,
    when: &'static str,
    /// The possible messages of the body.
    messages: Vec<String>,
    /// The name of the header `Retry-After` in the document, if the response has it.
    retry_after: Option<&'static str>,
}

fn failure(name: &'static str, when: &'static str, errors: &[ApiError]) -> Failure {
    let status = errors.first().map_or(StatusCode::INTERNAL_SERVER_ERROR, ResponseError::status_code);
    let has_retry_after = |error: &ApiError| error.retry_after().is_some();
    let retry_after = match (errors.iter().any(has_retry_after), errors.iter().all(has_retry_after)) {
        (true, true) => Some("RetryAfter"),
        (true, false) => Some("RetryAfterIfSafe"),
        (false, _) => None,
    };
    Failure { name, status, when, messages: errors.iter().map(ToString::to_string).collect(), retry_after }
}

fn all_failures() -> Vec<Failure> {
    let domain = |error: RoadmapError| -> ApiError { error.into() };
    let missing = |resource| domain(RoadmapError::NotFound(resource));
    let unknown = |name, when, resource| failure(name, when, &[missing(resource)]);
    let conflict = |conflict| domain(RoadmapError::Conflict(conflict));
    let over = |budget, limit| domain(OverBudget { budget, limit }.into());
    let store = || StoreError::Unavailable("".into());
    vec![
        failure(
            "InvalidHost",
            "`Host` is missing, malformed or not that of the target, or the headers of proxies contradict each other.",
            &[ApiError::MalformedHost, ApiError::ConflictingForwarding],
        ),
        failure(
            MALFORMED_JSON,
            "The body is not a JSON object or is nested too deeply, or `Host` or the headers of proxies are invalid.",
            &[ApiError::MalformedBody, ApiError::MalformedHost, ApiError::ConflictingForwarding],
        ),
        failure(
            "MalformedForm",
            "The body is not a well-formed form or is truncated, or `Host` or the headers of proxies are invalid.",
            &[ApiError::MalformedUpload, ApiError::MalformedHost, ApiError::ConflictingForwarding],
        ),
        failure(
            "Unauthenticated",
            "The host is unknown, the key is missing, unknown, revoked, expired or of another workspace, or the headers \
             have two keys.",
            &[domain(RoadmapError::Unauthenticated)],
        ),
        failure("InsufficientScope", "The key lacks the required scope.", &[domain(RoadmapError::InsufficientScope)]),
        unknown("UnknownFeatureRequest", "The feature request does not exist.", Resource::FeatureRequest),
        unknown("UnknownComment", "The comment does not exist.", Resource::Comment),
        unknown("UnknownReferenceNote", "The private note does not exist.", Resource::ReferenceNote),
        unknown("UnknownLink", "The link does not exist.", Resource::Link),
        unknown("UnknownLinkSource", "The link source does not exist.", Resource::LinkSource),
        failure(
            "UnknownLinkSourceOrTrack",
            "The link source or the track does not exist.",
            &[missing(Resource::LinkSource), missing(Resource::Track)],
        ),
        failure("TooManyLinkSources", "The workspace has 20 link sources.", &[conflict(Conflict::TooManyLinkSources)]),
        unknown("UnknownWebhook", "The webhook does not exist.", Resource::Webhook),
        failure(
            "UnknownWebhookOrDelivery",
            "The webhook or the delivery does not exist.",
            &[missing(Resource::Webhook), missing(Resource::Delivery)],
        ),
        failure("TooManyWebhooks", "The workspace has 10 webhooks.", &[conflict(Conflict::TooManyWebhooks)]),
        failure(
            "NoWebhookSecret",
            "The webhook is one for a chat service, which gets no signatures.",
            &[conflict(Conflict::NoWebhookSecret)],
        ),
        unknown("UnknownTrack", "The track does not exist.", Resource::Track),
        unknown("UnknownLane", "The lane does not exist.", Resource::Lane),
        unknown("UnknownTag", "No feature request has the tag.", Resource::Tag),
        unknown("UnknownCustomer", "The customer does not exist.", Resource::Customer),
        unknown("UnknownExport", "The export does not exist, or has expired.", Resource::Export),
        unknown("UnknownChangelog", "The changelog does not exist.", Resource::Changelog),
        unknown("UnknownImport", "The import does not exist.", Resource::Import),
        failure(
            "OperationInProgressOrImportNotReady",
            "A request with the same operation key is still running, another import runs, or there is no file to import.",
            &[
                domain(RoadmapError::OperationInProgress),
                conflict(Conflict::ImportRunning),
                conflict(Conflict::ImportNotReady),
            ],
        ),
        failure(
            "OperationInProgressOrImportNotUndoable",
            "A request with the same operation key is still running, another import runs, or the import cannot be undone.",
            &[
                domain(RoadmapError::OperationInProgress),
                conflict(Conflict::ImportRunning),
                conflict(Conflict::ImportNotUndoable),
            ],
        ),
        failure(
            "ImportNotDiscardable",
            "The import has made something, or runs.",
            &[conflict(Conflict::ImportNotDiscardable)],
        ),
        failure("TooManyImports", "Too many uploaded files wait.", &[conflict(Conflict::TooManyImports)]),
        failure(
            "InvalidImport",
            "The part `file` is missing, too large, hostile, unreadable or of another source, or a field is invalid.",
            &[FieldError::missing("file").into(), upload_attachment::too_large_file().into()],
        ),
        unknown("UnknownAttachment", "The file does not exist.", Resource::Attachment),
        failure(
            "UnknownFeatureRequestOrTrack",
            "The feature request or the track does not exist.",
            &[missing(Resource::FeatureRequest), missing(Resource::Track)],
        ),
        failure(
            "UnknownTrackOrLane",
            "The track or the lane does not exist.",
            &[missing(Resource::Track), missing(Resource::Lane)],
        ),
        failure(
            "UnknownChangelogOrFeatureRequest",
            "The changelog or a feature request does not exist.",
            &[missing(Resource::Changelog), missing(Resource::FeatureRequest)],
        ),
        failure("NotAcceptable", "`Accept` excludes JSON.", &[ApiError::NotAcceptable]),
        failure("BodyTimeout", "The body arrived too slowly.", &[ApiError::BodyTimeout]),
        failure(
            OPERATION_IN_PROGRESS,
            "A request with the same operation key is still running.",
            &[domain(RoadmapError::OperationInProgress)],
        ),
        failure(
            "OperationInProgressOrAlreadyMerged",
            "A request with the same operation key is still running, or the feature request is merged into another one.",
            &[domain(RoadmapError::OperationInProgress), conflict(Conflict::AlreadyMerged)],
        ),
        failure(
            "OperationInProgressOrNotMerged",
            "A request with the same operation key is still running, or the feature request is not merged.",
            &[domain(RoadmapError::OperationInProgress), conflict(Conflict::NotMerged)],
        ),
        failure(
            "OperationInProgressOrTooManyTagged",
            "A request with the same operation key is still running, or too many feature requests have the tag.",
            &[domain(RoadmapError::OperationInProgress), conflict(Conflict::TooManyTagged)],
        ),
        failure(
            "OperationInProgressOrMember",
            "A request with the same operation key is still running, or the customer is a member of the team.",
            &[domain(RoadmapError::OperationInProgress), conflict(Conflict::IsMember)],
        ),
        failure(
            "OperationInProgressOrExportRunning",
            "A request with the same operation key is still running, or an export is.",
            &[domain(RoadmapError::OperationInProgress), conflict(Conflict::ExportRunning)],
        ),
        failure(
            "OperationInProgressOrTooManyLinks",
            "A request with the same operation key is still running, or the feature request has 20 links.",
            &[domain(RoadmapError::OperationInProgress), conflict(Conflict::TooManyLinks)],
        ),
        failure(
            "OperationInProgressOrWebhookDisabled",
            "A request with the same operation key is still running, or the webhook is disabled.",
            &[domain(RoadmapError::OperationInProgress), conflict(Conflict::WebhookDisabled)],
        ),
        failure("TooManyTagged", "Too many feature requests have the tag.", &[conflict(Conflict::TooManyTagged)]),
        failure(
            "HasMergedRequests",
            "Others are merged into the feature request, and they are not to be deleted with it.",
            &[conflict(Conflict::HasMerged)],
        ),
        failure("LastTrack", "The workspace has no other track.", &[conflict(Conflict::LastTrack)]),
        failure("AttachmentInUse", "A changelog or the portal has the file.", &[conflict(Conflict::AttachmentInUse)]),
        failure("ContentTooLarge", "The body is too large.", &[ApiError::TooLarge { limit: JSON_LIMIT }]),
        failure(
            "UnsupportedMediaType",
            "The body is not declared as JSON, or is compressed.",
            &[ApiError::UnsupportedMediaType],
        ),
        failure(
            "UnsupportedUploadType",
            "The body is not declared as `multipart/form-data`, or is compressed.",
            &[ApiError::UnsupportedUploadType],
        ),
        failure(
            "InvalidField",
            "A field or parameter is invalid. The message names it.",
            &[FieldError::missing("title").into()],
        ),
        failure(
            "InvalidFile",
            "The part `file` is missing, or larger than 50 MB.",
            &[upload_attachment::invalid_file().into(), upload_attachment::file_of_another_field().into()],
        ),
        failure(
            "TooManyRequests",
            "There were too many requests: with the key, to the workspace, or from the address without a valid key.",
            &[ApiError::TooManyRequests(1), ApiError::TooManyFailures(1)],
        ),
        failure("InternalError", "An unexpected error.", &[ApiError::HandlerPanicked]),
        failure(
            "Unavailable",
            "The database, the storage or the service is unreachable, busy or full.",
            &[domain(RoadmapError::Store(store())), domain(RoadmapError::SearchUnavailable(store()))],
        ),
        failure(
            WRITE_UNAVAILABLE,
            "The database, the storage or the service is unreachable, busy or full. Without `Retry-After` the change \
             may have been made.",
            &[
                domain(RoadmapError::Store(store())),
                ApiError::BodyMemoryExhausted,
                ApiError::MarkupQueueFull,
                domain(RoadmapError::OutcomeUnknown { has_key: true, source: store() }),
                domain(RoadmapError::OutcomeUnknown { has_key: false, source: store() }),
            ],
        ),
        failure(
            "RecordBudgetExceeded",
            "The workspace has reached its limit of stored records. Saved responses are still replayed.",
            &[over(Budget::StoredRecords, 2 << 30)],
        ),
        failure(
            "StorageBudgetExceeded",
            "The workspace has reached its limit of stored files or records.",
            &[over(Budget::StoredFiles, 10 << 30), over(Budget::StoredRecords, 2 << 30)],
        ),
    ]
}

/// Returns all error responses as reusable components.
pub(crate) fn responses() -> Map<String, Value> {
    let described = |failure: Failure| {
        let mut headers = super::common_response_headers();
        if let Some(name) = failure.retry_after {
            headers.insert("Retry-After".to_owned(), super::header(name));
        }
        if failure.name == MALFORMED_JSON {
            headers.insert("X-Error-Detail".to_owned(), super::header("ErrorDetail"));
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

/// Whether a 409 is one of requests with an operation key.
pub(crate) fn is_of_operation_key(conflict: &Value) -> bool {
    let reference = conflict.get("$ref").and_then(Value::as_str).unwrap_or_default();
    reference.rsplit('/').next().is_some_and(|name| name.starts_with(OPERATION_IN_PROGRESS))
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
    CommonErrors => [
        "InvalidHost",
        "Unauthenticated",
        "InsufficientScope",
        "NotAcceptable",
        "TooManyRequests",
        "InternalError",
        "Unavailable",
    ];
    /// Errors of requests with a JSON body.
    BodyErrors => [
        MALFORMED_JSON,
        "BodyTimeout",
        "ContentTooLarge",
        "UnsupportedMediaType",
        "InvalidField",
        WRITE_UNAVAILABLE,
    ];
    /// Errors of requests with an operation key.
    OperationKeyErrors => [OPERATION_IN_PROGRESS];
    /// Errors of merging.
    MergeErrors => ["OperationInProgressOrAlreadyMerged", "UnknownFeatureRequest"];
    /// Errors of undoing a merge.
    UnmergeErrors => ["OperationInProgressOrNotMerged", "UnknownFeatureRequest"];
    /// Errors of renaming a tag.
    RenameTagErrors => ["OperationInProgressOrTooManyTagged", "UnknownTag"];
    /// Errors of deleting a tag.
    DeleteTagErrors => ["UnknownTag", "TooManyTagged"];
    /// Errors of DELETE requests.
    DeleteErrors => [WRITE_UNAVAILABLE];
    /// Errors of requests with query parameters.
    QueryErrors => ["InvalidField"];
    /// Errors of uploads.
    UploadErrors => ["MalformedForm", "BodyTimeout", "UnsupportedUploadType", "InvalidFile", WRITE_UNAVAILABLE];
    /// Errors of uploads that are to be imported.
    ImportUploadErrors => [
        "MalformedForm",
        "BodyTimeout",
        "UnsupportedUploadType",
        "InvalidImport",
        "TooManyImports",
        WRITE_UNAVAILABLE,
    ];
    /// Errors of requests that name an import.
    ImportErrors => ["UnknownImport"];
    /// Errors of running an import.
    RunImportErrors => ["UnknownImport", "OperationInProgressOrImportNotReady"];
    /// Errors of undoing an import.
    UndoImportErrors => ["UnknownImport", "OperationInProgressOrImportNotUndoable"];
    /// Errors of deleting an import.
    DiscardImportErrors => ["UnknownImport", "ImportNotDiscardable"];
    /// Errors of requests that store records.
    RecordBudgetErrors => ["RecordBudgetExceeded"];
    /// Errors of requests that store a file.
    FileBudgetErrors => ["StorageBudgetExceeded"];
    /// Errors of requests that name a feature request.
    FeatureRequestErrors => ["UnknownFeatureRequest"];
    /// Errors of deleting a feature request.
    DeleteFeatureRequestErrors => ["UnknownFeatureRequest", "HasMergedRequests"];
    /// Errors of requests that name a comment.
    CommentErrors => ["UnknownComment"];
    /// Errors of requests that name a private note.
    ReferenceNoteErrors => ["UnknownReferenceNote"];
    /// Errors of requests that name a link.
    LinkErrors => ["UnknownLink"];
    /// Errors of adding a link.
    AddLinkErrors => ["UnknownFeatureRequest", "OperationInProgressOrTooManyLinks"];
    /// Errors of requests that name a link source.
    LinkSourceErrors => ["UnknownLinkSource"];
    /// Errors of adding a link source.
    AddLinkSourceErrors => ["UnknownTrack", "TooManyLinkSources"];
    /// Errors of changing a link source.
    UpdateLinkSourceErrors => ["UnknownLinkSourceOrTrack"];
    /// Errors of requests that name a webhook.
    WebhookErrors => ["UnknownWebhook"];
    /// Errors of adding a webhook.
    AddWebhookErrors => ["TooManyWebhooks"];
    /// Errors of giving a webhook a new secret.
    RotateSecretErrors => ["UnknownWebhook", "NoWebhookSecret"];
    /// Errors of requests that name a delivery.
    DeliveryErrors => ["UnknownWebhookOrDelivery"];
    /// Errors of delivering an event again.
    RedeliverErrors => ["UnknownWebhookOrDelivery", "OperationInProgressOrWebhookDisabled"];
    /// Errors of delivering failed events again.
    RedeliverFailedErrors => ["UnknownWebhook", "OperationInProgressOrWebhookDisabled"];
    /// Errors of requests that name a customer.
    CustomerErrors => ["UnknownCustomer"];
    /// Errors of erasing a customer.
    EraseErrors => ["OperationInProgressOrMember", "UnknownCustomer"];
    /// Errors of requests that name an export.
    ExportErrors => ["UnknownExport"];
    /// Errors of asking for an export.
    RequestExportErrors => ["OperationInProgressOrExportRunning"];
    /// Errors of requests that name a track.
    TrackErrors => ["UnknownTrack"];
    /// Errors of requests that name a lane.
    LaneErrors => ["UnknownLane"];
    /// Errors of requests that name a track and a lane.
    TrackOrLaneErrors => ["UnknownTrackOrLane"];
    /// Errors of deleting a track.
    DeleteTrackErrors => ["UnknownTrack", "LastTrack"];
    /// Errors of requests that name a feature request and a track.
    MoveErrors => ["UnknownFeatureRequestOrTrack"];
    /// Errors of requests that name a changelog.
    ChangelogErrors => ["UnknownChangelog"];
    /// Errors of requests that name a changelog and feature requests.
    ChangelogOrFeatureRequestErrors => ["UnknownChangelogOrFeatureRequest"];
    /// Errors of requests that name a file.
    AttachmentErrors => ["UnknownAttachment"];
    /// Errors of deleting a file.
    DeleteAttachmentErrors => ["UnknownAttachment", "AttachmentInUse"];
}
