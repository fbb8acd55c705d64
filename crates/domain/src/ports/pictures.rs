//! Pictures of texts and of previews.

use async_trait::async_trait;
use bytes::Bytes;

use crate::model::picture::PictureProblem;
use crate::model::preview::Preview;

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

/// Draws pictures for the previews of links.
#[async_trait]
pub trait PreviewRenderer: Send + Sync {
    /// Returns a picture as PNG. What cannot be drawn is left out. `None` if too many wait to be drawn.
    ///
    /// Contract: memory and time are bounded whatever the texts and the logo are, and only a few run at once.
    async fn render(&self, preview: Preview) -> Option<Bytes>;
}
