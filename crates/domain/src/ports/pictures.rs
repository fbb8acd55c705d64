//! Pictures of texts.

use async_trait::async_trait;
use bytes::Bytes;

use crate::model::picture::PictureProblem;

/// Makes pictures small and safe.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait PictureScaler: Send + Sync {
    /// Returns a picture as texts show it: at most 1,600 pixels long and wide, upright, and without metadata.
    ///
    /// Contract: memory and time are bounded whatever the bytes are, and only a few run at once.
    ///
    /// # Errors
    /// Why it cannot be shown.
    async fn scale(&self, original: Bytes) -> Result<Bytes, PictureProblem>;
}
