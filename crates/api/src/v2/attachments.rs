//! `POST /attachments`, contract section 4.1.

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::http::header::DispositionParam;
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse};
use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::future::join;
use futures_util::stream::Fuse;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::Filename;
use roadmap_domain::ports::Chunks;
use roadmap_domain::usecase::upload_attachment::{self, FileDescription};
use tokio::sync::mpsc;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extractors::UploadRequest;
use crate::openapi::failures::{CommonErrors, FileBudgetErrors, UploadErrors};
use crate::state::State;
use crate::wire;

/// How many pieces may wait for the storage before the socket is read on.
const MAX_QUEUED_PIECES: usize = 2;

/// How many parts a form may have before its file.
const MAX_PARTS: usize = 100;

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
/// Its `signed_id` can be the cover of a changelog.
#[utoipa::path(
    post,
    path = "/api/external/v2/attachments",
    operation_id = "createAttachment",
    tag = "Files",
    request_body(content = Upload, content_type = "multipart/form-data"),
    responses((status = 201, description = "The file.", body = wire::attachment::Fields), CommonErrors, UploadErrors, FileBudgetErrors)
)]
pub(crate) async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    let input = UploadRequest::from_head(&request)?;
    state.upload.check_budget(input.workspace).await?;
    let body = state.http.bodies.upload_body(payload.into_inner());
    let mut parts = Multipart::new(request.headers(), body.clone()).fuse();
    let uploaded = match find_file(&mut parts).await {
        Ok(Some(field)) => {
            body.begin_file();
            let description = file_description(&field);
            let (sender, receiver) = mpsc::channel(MAX_QUEUED_PIECES);
            let (upload, workspace) = (state.upload.clone(), input.workspace);
            let stored = state.http.detached.run(async move {
                let mut source = ReceivedFile { pieces: receiver };
                upload.run(workspace, description, &mut source).await
            });
            match join(forward_file(field, sender), stored).await {
                (Err(broken), _) => Err(broken),
                (Ok(()), stored) => stored.and_then(|stored| Ok(stored?)),
            }
        }
        Ok(None) => Err(upload_attachment::invalid_file().into()),
        Err(broken) => Err(broken),
    };
    let uploaded = match uploaded {
        Err(ApiError::MalformedUpload) if body.has_timed_out() => Err(ApiError::BodyTimeout),
        Err(ApiError::MalformedUpload) if body.is_too_large() => Err(upload_attachment::invalid_file().into()),
        uploaded => uploaded,
    };
    // A form that is malformed or has stopped arriving is not read on.
    if matches!(uploaded, Ok(_) | Err(ApiError::Domain(_))) {
        body.drain().await;
    }
    Ok(wire::attachment::created(&uploaded?, &input.links))
}

/// A piece of the file, or its end: without one, the file has broken off.
enum Piece {
    Bytes(Bytes),
    End,
}

/// What the handler has received, to the work that goes on when the handler is gone.
struct ReceivedFile {
    pieces: mpsc::Receiver<Piece>,
}

#[async_trait]
impl Chunks for ReceivedFile {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        match self.pieces.recv().await {
            Some(Piece::Bytes(bytes)) => Ok(Some(bytes)),
            Some(Piece::End) => Ok(None),
            None => Err(StoreError::Unavailable("the upload has broken off".into())),
        }
    }
}

/// The part `file`. Others before it are read and thrown away; there may be some.
async fn find_file(parts: &mut Fuse<Multipart>) -> Result<Option<Field>, ApiError> {
    for _ in 0..=MAX_PARTS {
        let Some(part) = parts.next().await else { return Ok(None) };
        let mut part = part.map_err(malformed)?;
        if part.name() == Some("file") {
            return Ok(Some(part));
        }
        while let Some(piece) = part.next().await {
            piece.map_err(malformed)?;
        }
    }
    Ok(None)
}

/// The name and type that the client gives the file.
fn file_description(field: &Field) -> FileDescription {
    let disposition = field.content_disposition();
    // The extended form is the name in full (RFC 8187), though RFC 7578 has no use for it.
    let extended = disposition.and_then(|disposition| {
        let mut parameters = disposition.parameters.iter();
        parameters.find_map(DispositionParam::as_filename_ext).map(|name| name.value.clone())
    });
    let extended = extended.and_then(|name| String::from_utf8(name).ok());
    let plain = disposition.and_then(|disposition| disposition.get_filename()).map(str::to_owned);
    FileDescription {
        filename: Filename::sanitize(&extended.or(plain).unwrap_or_default()),
        media_type: field.content_type().map(|mime| mime.essence_str().to_owned()),
    }
}

/// Passes the file on as it comes, until it ends or nobody wants more of it.
async fn forward_file(mut field: Field, to: mpsc::Sender<Piece>) -> Result<(), ApiError> {
    while let Some(piece) = field.next().await {
        if to.send(Piece::Bytes(piece.map_err(malformed)?)).await.is_err() {
            return Ok(());
        }
    }
    // Whoever takes no more pieces has its answer already.
    let _ = to.send(Piece::End).await;
    Ok(())
}

fn malformed(_: MultipartError) -> ApiError {
    ApiError::MalformedUpload
}
