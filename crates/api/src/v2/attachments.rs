//! `POST /attachments`, which uploads a file (contract section 4.1), `GET` and `DELETE /attachments/{id}`.

use actix_multipart::{Field, Multipart};
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::StreamExt;
use futures_util::stream::Fuse;
use roadmap_domain::model::attachment::Filename;
use roadmap_domain::model::id::AttachmentId;
use roadmap_domain::usecase::query::files::ShowAttachment;
use roadmap_domain::usecase::upload_attachment::{self, FileDescription};
use roadmap_http::form_part::lenient_headers;
use roadmap_http::upload_form::{FormBeginning, ReceivedFile, hand_on};
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extractors::{DeleteRequest, ReadRequest, UploadRequest, record_id, record_id_or_nil};
use crate::openapi::failures::{
    AttachmentErrors, CommonErrors, DeleteAttachmentErrors, DeleteErrors, FileBudgetErrors, UploadErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

/// The form of an upload.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a form is read piece by piece, this describes it in the document")]
struct Upload {
    /// At most 50 MB: 50 · 1,024 · 1,024 bytes.
    #[schema(value_type = String, format = Binary)]
    file: Bytes,
}

/// Upload a file
///
/// Its `signed_id` can be used as the cover of a changelog.
#[utoipa::path(
    post,
    path = "/api/external/v2/attachments",
    operation_id = "createAttachment",
    tag = "Files",
    request_body(content = Upload, content_type = "multipart/form-data"),
    responses(
        (
            status = 201,
            description = "The file.",
            body = wire::attachment::Fields,
            links(
                ("show" = (operation_id = "showAttachment", parameters(("id" = "$response.body#/id")))),
                ("delete" = (operation_id = "deleteAttachment", parameters(("id" = "$response.body#/id"))))
            )
        ),
        CommonErrors, UploadErrors, FileBudgetErrors
    )
)]
pub(crate) async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    let input = UploadRequest::from_head(&request)?;
    state.upload.check_budget(input.workspace).await?;
    let body = state.http.bodies.upload_body(payload.into_inner());
    let mut parts = Multipart::new(&lenient_headers(request.headers()), body.clone()).fuse();
    let uploaded = match find_file(&mut parts).await {
        Ok((field, description)) => {
            body.begin_file();
            let (upload, workspace) = (state.upload.clone(), input.workspace);
            let store = |mut source: ReceivedFile| async move { upload.run(workspace, description, &mut source).await };
            match hand_on(field, &state.http.detached, store).await {
                None => Err(ApiError::MalformedUpload),
                Some(stored) => stored.and_then(|stored| Ok(stored?)),
            }
        }
        Err(missing) => Err(missing),
    };
    let uploaded = match uploaded {
        Err(ApiError::MalformedUpload) if body.has_timed_out() => Err(ApiError::BodyTimeout),
        Err(ApiError::MalformedUpload) if body.is_too_large() => Err(upload_attachment::invalid_file().into()),
        uploaded => uploaded,
    };
    // A malformed or stalled form is not drained.
    if matches!(uploaded, Ok(_) | Err(ApiError::Domain(_))) {
        body.drain().await;
    }
    Ok(wire::attachment::created(&uploaded?, &input.links))
}

/// Show a file
#[utoipa::path(
    get,
    path = "/api/external/v2/attachments/{id}",
    operation_id = "showAttachment",
    tag = "Files",
    params(described::RecordIdParameter),
    responses(
        (status = 200, description = "The file.", body = wire::attachment::Fields),
        CommonErrors, AttachmentErrors
    )
)]
pub(crate) async fn show(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ShowAttachment { attachment: record_id(&request, AttachmentId::new) };
    let attachment = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::attachment::fields(&attachment, &input.links)))
}

/// Delete a file
///
/// A file that is in use cannot be deleted.
#[utoipa::path(
    delete,
    path = "/api/external/v2/attachments/{id}",
    operation_id = "deleteAttachment",
    tag = "Files",
    params(described::RecordIdParameter),
    responses((status = 204, description = "The file is deleted."), CommonErrors, DeleteErrors, DeleteAttachmentErrors)
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let attachment = record_id_or_nil(&request, AttachmentId::new);
    let (deletion, executor) = (state.delete_attachment.clone(), state.executor.acting_as(input.origin));
    let workspace = input.workspace;
    state.http.detached.run(async move { deletion.run(&executor, workspace, attachment).await }).await??;
    Ok(wire::no_content())
}

/// Returns the part `file`, with the name and the media type that the client declares.
async fn find_file(parts: &mut Fuse<Multipart>) -> Result<(Field, FileDescription), ApiError> {
    let beginning = FormBeginning::read(parts).await.map_err(|_| ApiError::MalformedUpload)?;
    let Some((part, filename)) = beginning.file else {
        let is_elsewhere = beginning.has_other_file;
        let missing =
            if is_elsewhere { upload_attachment::file_of_another_field } else { upload_attachment::invalid_file };
        return Err(missing().into());
    };
    let media_type = part.content_type().map(|mime| mime.essence_str().to_owned());
    Ok((part, FileDescription { filename: Filename::sanitize(&filename.unwrap_or_default()), media_type }))
}
