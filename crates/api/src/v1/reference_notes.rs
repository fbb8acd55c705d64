//! `GET /feature_requests/{id}/reference_notes` and `DELETE /reference_notes/{id}`: private notes.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::model::id::NoteId;
use roadmap_domain::usecase::delete_note::DeleteNote;
use roadmap_domain::usecase::query::records::ListNotes;

use super::execute_deletion;
use crate::error::ApiError;
use crate::extractors::{DeleteRequest, ReadRequest, feature_request_ref, record_id_or_nil};
use crate::openapi::failures::{CommonErrors, DeleteErrors, FeatureRequestErrors, QueryErrors, ReferenceNoteErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

/// List the private notes on a feature request
///
/// Newest first, with those of what is merged into it.
#[utoipa::path(
    get,
    path = "/api/external/v1/feature_requests/{id}/reference_notes",
    operation_id = "listReferenceNotes",
    tag = "Reference notes",
    params(described::FeatureRequestIdParameter, described::PageParameters),
    responses(
        (
            status = 200,
            description = "A page of private notes.",
            body = wire::reference_note::Page,
            links(
                ("delete" = (
                    operation_id = "deleteReferenceNote",
                    parameters(("id" = "$response.body#/reference_notes/0/id"))
                ))
            )
        ),
        CommonErrors, QueryErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn index(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let request = feature_request_ref(&request);
    let cursors = CursorList::new(input.workspace, "notes", &format!("{request:?}"));
    let query = ListNotes { request, page: input.query.page_of(&cursors) };
    let notes = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::reference_note::listed(&notes, &cursors)))
}

/// Delete a private note
#[utoipa::path(
    delete,
    path = "/api/external/v1/reference_notes/{id}",
    operation_id = "deleteReferenceNote",
    tag = "Reference notes",
    params(described::RecordIdParameter),
    responses((status = 204, description = "The note is deleted."), CommonErrors, DeleteErrors, ReferenceNoteErrors)
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let note = record_id_or_nil(&request, NoteId::new);
    execute_deletion(&state, input, DeleteNote { note }).await?;
    Ok(wire::no_content())
}
