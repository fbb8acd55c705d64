//! Errors in the API's format: JSON with one sentence.

use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use actix_web::web::Bytes;
use roadmap_http::error::{ErrorFormat, INTERNAL_ERROR_MESSAGE};
use serde::Serialize;
use utoipa::ToSchema;

pub use roadmap_http::error::HttpError as ApiError;

/// The body of every error, contract section 2.10.
#[derive(Serialize, ToSchema)]
#[schema(as = Error, description = "An error.")]
pub(crate) struct ErrorBody<'a> {
    /// The message: a sentence, or a word from the contract.
    #[schema(min_length = 1)]
    error: &'a str,
}

/// The format of errors that no handler has rendered.
pub const FORMAT: ErrorFormat = ErrorFormat { renderer: render, headers: &[] };

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
