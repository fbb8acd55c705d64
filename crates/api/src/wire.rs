//! The shapes of responses in the contract, separate from the domain's records.

pub(crate) mod api_key;
pub(crate) mod attachment;
pub(crate) mod audit;
pub(crate) mod changelog;
pub(crate) mod comment;
pub(crate) mod customer;
pub(crate) mod event;
pub(crate) mod export;
pub(crate) mod feature_request;
pub(crate) mod held_post;
pub(crate) mod import;
pub(crate) mod lane;
pub(crate) mod link;
pub(crate) mod link_source;
pub(crate) mod member;
pub(crate) mod merge;
pub(crate) mod moves;
pub(crate) mod overview;
pub(crate) mod page;
pub(crate) mod person;
pub(crate) mod portal;
pub(crate) mod reference_note;
pub(crate) mod setting;
pub(crate) mod subscription;
pub(crate) mod tag;
pub(crate) mod track;
pub(crate) mod voter;
pub(crate) mod webhook;

use actix_web::http::StatusCode;
use actix_web::http::header::ContentType;
use actix_web::{HttpResponse, HttpResponseBuilder};
use roadmap_domain::error::ErrorChain;
use roadmap_domain::model::operation_key::SavedResponse;
use roadmap_domain::usecase::executor::OperationResponse;
use roadmap_http::error::INTERNAL_ERROR_MESSAGE;
use roadmap_http::headers::IDEMPOTENT_REPLAYED;
use serde::Serialize;

pub(crate) use roadmap_domain::policy::links::Links;

use crate::error;

/// Returns a 200 with this body.
pub(crate) fn ok<T: Serialize>(body: &T) -> HttpResponse {
    response(OperationResponse { response: saved_response(StatusCode::OK, body), replayed: false })
}

/// Returns a 201 with this body.
pub(crate) fn created<T: Serialize>(body: &T) -> HttpResponse {
    response(OperationResponse { response: saved_response(StatusCode::CREATED, body), replayed: false })
}

/// Returns the response of an operation with a status.
pub(crate) fn saved<T: Serialize>(status: StatusCode, body: &T) -> SavedResponse {
    saved_response(status, body)
}

/// Returns a 204.
pub(crate) fn no_content() -> HttpResponse {
    HttpResponse::build(StatusCode::NO_CONTENT).finish()
}

/// Returns the 200 of an operation.
pub(crate) fn saved_ok<T: Serialize>(body: &T) -> SavedResponse {
    saved_response(StatusCode::OK, body)
}

/// Returns the 201 of an operation that creates a record.
pub(crate) fn saved_created<T: Serialize>(body: &T) -> SavedResponse {
    saved_response(StatusCode::CREATED, body)
}

/// Returns the 202 of an operation that begins something that takes a while.
pub(crate) fn saved_accepted<T: Serialize>(body: &T) -> SavedResponse {
    saved_response(StatusCode::ACCEPTED, body)
}

/// Serializes a response in the form that is saved for operation keys.
fn saved_response<T: Serialize>(status: StatusCode, body: &T) -> SavedResponse {
    // Serializing plain structs to memory cannot fail. If it ever does, the response is an error instead of a partial
    // body.
    match serde_json::to_vec(body) {
        Ok(body) => SavedResponse { status: status.as_u16(), body },
        Err(failed) => {
            tracing::error!(error = %ErrorChain::new(&failed), "failed to serialize a response");
            SavedResponse { status: 500, body: error::body(INTERNAL_ERROR_MESSAGE) }
        }
    }
}

/// Converts a response of an operation, new or replayed, into an HTTP response.
pub(crate) fn response(operation: OperationResponse) -> HttpResponse {
    let status = StatusCode::from_u16(operation.response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = HttpResponseBuilder::new(status);
    response.insert_header(ContentType::json());
    if operation.replayed {
        response.insert_header((IDEMPOTENT_REPLAYED, "true"));
    }
    response.body(operation.response.body)
}
