//! Forms whose file is handed on piece by piece, after the fields before it.

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::web::Bytes;
use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::future::join;
use futures_util::stream::Fuse;
use roadmap_domain::error::StoreError;
use roadmap_domain::ports::Chunks;
use tokio::sync::mpsc;

use crate::detached::DetachedTasks;
use crate::error::HttpError;
use crate::form_part::FormPart;

/// How many pieces may be queued for the storage before the socket is read further.
const MAX_QUEUED_PIECES: usize = 2;

/// How many parts may precede the file in a form.
const MAX_PARTS: usize = 100;

/// A piece of the file, or its end. A channel that closes without an end means a truncated file.
enum Piece {
    Bytes(Bytes),
    End,
}

/// The file as its handler receives it.
pub struct ReceivedFile {
    pieces: mpsc::Receiver<Piece>,
}

/// The other end of [`ReceivedFile`].
struct FileSender {
    pieces: mpsc::Sender<Piece>,
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

/// Hands a file on to work that goes on to its end, even if the client leaves. `None`: the form is malformed, or its client is
/// gone.
pub async fn hand_on<T: Send + 'static, W: Future<Output = T> + Send + 'static>(
    file: Field,
    detached: &DetachedTasks,
    work: impl FnOnce(ReceivedFile) -> W,
) -> Option<Result<T, HttpError>> {
    let (sender, receiver) = mpsc::channel(MAX_QUEUED_PIECES);
    let work = detached.run(work(ReceivedFile { pieces: receiver }));
    let (sent, done) = join(FileSender { pieces: sender }.forward(file), work).await;
    sent.ok().map(|()| done)
}

impl FileSender {
    /// Hands a file on until it ends or nobody receives it any more.
    async fn forward(self, mut file: Field) -> Result<(), MultipartError> {
        while let Some(piece) = file.next().await {
            if self.pieces.send(Piece::Bytes(piece?)).await.is_err() {
                return Ok(());
            }
        }
        // A closed receiver already has its result.
        let _ = self.pieces.send(Piece::End).await;
        Ok(())
    }
}

/// What precedes the file of a form, and the file.
pub struct FormBeginning {
    /// The fields before the file, in their order.
    pub fields: Vec<(String, String)>,
    /// The part `file` with the name that the client declares, unless the form ends before.
    pub file: Option<(Field, Option<String>)>,
    /// Whether a part that is not called `file` has a file.
    pub has_other_file: bool,
}

impl FormBeginning {
    /// Reads a form up to the part `file`. The bytes before it are limited by the body.
    ///
    /// # Errors
    /// The form is malformed. `None`: the head of a part is.
    pub async fn read(parts: &mut Fuse<Multipart>) -> Result<Self, Option<MultipartError>> {
        let mut beginning = Self { fields: Vec::new(), file: None, has_other_file: false };
        for _ in 0..=MAX_PARTS {
            let Some(part) = parts.next().await else { break };
            let mut part = part?;
            let FormPart { name, filename } = FormPart::parse(part.headers()).ok_or(None)?;
            if name == "file" {
                beginning.file = Some((part, filename));
                break;
            }
            beginning.has_other_file |= filename.is_some();
            let mut content = Vec::new();
            while let Some(piece) = part.next().await {
                content.extend_from_slice(&piece?);
            }
            if filename.is_none() {
                beginning.fields.push((name, String::from_utf8_lossy(&content).into_owned()));
            }
        }
        Ok(beginning)
    }

    /// Returns a field. A missing one is empty.
    #[must_use]
    pub fn get(&self, name: &str) -> &str {
        self.fields.iter().find(|(of, _)| of == name).map_or("", |(_, value)| value)
    }
}
