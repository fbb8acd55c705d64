//! `POST /attachments`, contract section 4.1.

use std::cell::Cell;
use std::future::ready;
use std::rc::Rc;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::http::header::DispositionParam;
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse};
use async_trait::async_trait;
use futures_util::future::join;
use futures_util::stream::Fuse;
use futures_util::{Stream, StreamExt};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::Filename;
use roadmap_domain::ports::Chunks;
use roadmap_domain::usecase::upload_attachment::{self, FileDescription};
use tokio::sync::mpsc;
use utoipa::ToSchema;

use crate::call::{BODY_PATIENCE, DRAIN_LIMIT, UploadCall};
use crate::error::ApiError;
use crate::openapi::failures::{OfCalls, OfFiles, OfUploads};
use crate::state::State;
use crate::wire;

/// How many pieces may wait for the storage before the socket is read on.
const AHEAD: usize = 2;

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
    responses((status = 201, description = "The file.", body = wire::attachment::Fields), OfCalls, OfUploads, OfFiles)
)]
pub(crate) async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    let call = UploadCall::of(&request)?;
    state.upload.check_budget(call.workspace).await?;
    let wanted = Wanted::default();
    let mut parts = Multipart::new(request.headers(), wanted.of(payload)).fuse();
    let uploaded = match file(&mut parts).await {
        Ok(Some(field)) => {
            let description = describe(&field);
            let (sender, receiver) = mpsc::channel(AHEAD);
            let (upload, workspace) = (state.upload.clone(), call.workspace);
            let stored = state.detached.run(async move {
                let mut source = Received { pieces: receiver };
                upload.run(workspace, description, &mut source).await
            });
            match join(pump(field, sender), stored).await {
                (Err(broken), _) => Err(broken),
                (Ok(()), stored) => stored.and_then(|stored| Ok(stored?)),
            }
        }
        Ok(None) => Err(upload_attachment::refused().into()),
        Err(broken) => Err(broken),
    };
    // A form that is malformed or has stopped arriving is not read on.
    if matches!(uploaded, Ok(_) | Err(ApiError::Domain(_))) {
        wanted.at_most(DRAIN_LIMIT);
        drain(&mut parts).await;
    }
    Ok(wire::attachment::created(&uploaded?, &call.links))
}

/// How many bytes of a body are wanted from now on. Without a word, all of them.
#[derive(Clone, Default)]
struct Wanted(Rc<Cell<Option<usize>>>);

impl Wanted {
    fn at_most(&self, bytes: usize) {
        self.0.set(Some(bytes));
    }

    /// The body, which breaks off when no more of it is wanted.
    fn of(&self, body: web::Payload) -> impl Stream<Item = Result<Bytes, PayloadError>> + use<> {
        let wanted = self.clone();
        body.take_while(move |piece| {
            let length = piece.as_ref().map_or(0, Bytes::len);
            let left = wanted.0.get().map(|wanted| wanted.checked_sub(length));
            wanted.0.set(left.flatten());
            ready(left != Some(None))
        })
    }
}

/// A piece of the file, or its end: without one, the file has broken off.
enum Piece {
    Bytes(Bytes),
    End,
}

/// What the handler has received, to the work that goes on when the handler is gone.
struct Received {
    pieces: mpsc::Receiver<Piece>,
}

#[async_trait]
impl Chunks for Received {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        match self.pieces.recv().await {
            Some(Piece::Bytes(bytes)) => Ok(Some(bytes)),
            Some(Piece::End) => Ok(None),
            None => Err(StoreError::Unavailable("the upload has broken off".into())),
        }
    }
}

/// The part `file`. Others before it are read and thrown away.
async fn file(parts: &mut Fuse<Multipart>) -> Result<Option<Field>, ApiError> {
    let mut skipped = 0;
    while let Some(part) = in_time(parts.next()).await? {
        let mut part = part.map_err(malformed)?;
        if part.name() == Some("file") {
            return Ok(Some(part));
        }
        while let Some(piece) = in_time(part.next()).await? {
            skipped += piece.map_err(malformed)?.len();
            if skipped > DRAIN_LIMIT {
                return Ok(None);
            }
        }
    }
    Ok(None)
}

/// The name and type that the client gives the file.
fn describe(field: &Field) -> FileDescription {
    let disposition = field.content_disposition();
    // The extended form is the name in full (RFC 8187), though RFC 7578 has no use for it.
    let extended = disposition.and_then(|disposition| {
        let mut parameters = disposition.parameters.iter();
        parameters.find_map(DispositionParam::as_filename_ext).map(|name| name.value.clone())
    });
    let extended = extended.and_then(|name| String::from_utf8(name).ok());
    let plain = disposition.and_then(|disposition| disposition.get_filename()).map(str::to_owned);
    FileDescription {
        filename: Filename::cleaned(&extended.or(plain).unwrap_or_default()),
        media_type: field.content_type().map(|mime| mime.essence_str().to_owned()),
    }
}

/// Passes the file on as it comes, until it ends or nobody wants more of it.
async fn pump(mut field: Field, to: mpsc::Sender<Piece>) -> Result<(), ApiError> {
    while let Some(piece) = in_time(field.next()).await? {
        if to.send(Piece::Bytes(piece.map_err(malformed)?)).await.is_err() {
            return Ok(());
        }
    }
    // Whoever takes no more pieces has its answer already.
    let _ = to.send(Piece::End).await;
    Ok(())
}

/// Reads what is left of the body, so that the client gets to read the answer instead of a reset
/// connection.
async fn drain(parts: &mut Fuse<Multipart>) {
    while let Ok(Some(Ok(mut part))) = in_time(parts.next()).await {
        while let Ok(Some(Ok(_))) = in_time(part.next()).await {}
    }
}

/// Waits for the client, but not for ever.
async fn in_time<T>(progress: impl Future<Output = T>) -> Result<T, ApiError> {
    tokio::time::timeout(BODY_PATIENCE, progress).await.map_err(|_| ApiError::BodyTimeout)
}

fn malformed(_: MultipartError) -> ApiError {
    ApiError::MalformedUpload
}
