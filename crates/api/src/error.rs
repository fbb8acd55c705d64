//! Errors in the API's format: JSON with one sentence.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use actix_web::web::Bytes;
use roadmap_domain::error::RoadmapError;
use roadmap_http::error::INTERNAL_ERROR_MESSAGE;
use serde::Serialize;
use utoipa::ToSchema;

pub use roadmap_http::error::HttpError as ApiError;

/// Converts an error of the domain into an error of a page.
///
/// A missing record is a missing page. Changes of pages are idempotent, so that an unknown outcome is handled like an
/// unavailable store.
pub(crate) fn page_error(error: RoadmapError) -> ApiError {
    ApiError::Domain(match error {
        RoadmapError::NotFound(_) => return ApiError::NotFound,
        RoadmapError::OutcomeUnknown { source, .. } => source.into(),
        error => error,
    })
}

/// The body of every error, contract section 2.10.
#[derive(Serialize, ToSchema)]
#[schema(as = Error, description = "An error.")]
pub(crate) struct ErrorBody<'a> {
    /// The message: a sentence, or a word from the contract.
    #[schema(min_length = 1)]
    error: &'a str,
}

/// Renders an error: the [`roadmap_http::error::ErrorRenderer`] of the API.
#[must_use]
pub fn render(_: StatusCode, message: &str) -> (HeaderValue, Bytes) {
    (HeaderValue::from_static("application/json"), body(message).into())
}

/// Returns the body of an error with this message.
pub(crate) fn body(message: &str) -> Vec<u8> {
    // Serializing a struct with a string to memory cannot fail.
    serde_json::to_vec(&ErrorBody { error: message })
        .unwrap_or_else(|_| format!(r#"{{"error":"{INTERNAL_ERROR_MESSAGE}"}}"#).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::ResponseError;
    use roadmap_domain::error::{Resource, StoreError};

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
            let error = page_error(error);
            assert_eq!((error.status_code().as_u16(), error.to_string().as_str()), (status, message));
        }
    }

    #[test]
    fn an_error_is_an_object_with_one_sentence() {
        for (message, expected) in
            [("Not found", r#"{"error":"Not found"}"#), ("`\"` is not\n", r#"{"error":"`\"` is not\n"}"#)]
        {
            let (content_type, body) = render(StatusCode::NOT_FOUND, message);
            assert_eq!((content_type.to_str().unwrap(), &body[..]), ("application/json", expected.as_bytes()));
        }
    }
}
