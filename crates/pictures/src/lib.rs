//! The adapter of the port [`PictureScaler`]: makes pictures of texts small and safe.
//!
//! Decoders run on a thread for blocking work, one picture after another: a picture of 40 megapixels takes up to 500 MB for
//! up to four seconds.
//!
//! [`render_preview`] draws the pictures of link previews.

mod preview;
mod scale;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use roadmap_domain::model::picture::PictureProblem;
use roadmap_domain::ports::PictureScaler;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

pub use crate::preview::{PREVIEW_HEIGHT, PREVIEW_WIDTH, Preview, render_preview};
use crate::scale::{Limits, scale};

/// Most pictures that wait for their turn. Each holds at most 5 MB.
const MAX_WAITING: usize = 8;

/// Scales one picture at a time, however many requests there are.
pub struct Scaler {
    runtime: Handle,
    turn: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Scaler {
    /// Creates a scaler that works on a blocking thread of this runtime.
    #[must_use]
    pub fn new(runtime: Handle) -> Self {
        Self { runtime, turn: Arc::new(Semaphore::new(1)), waiting: AtomicUsize::new(0) }
    }
}

/// A place among those that wait, released on drop.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl PictureScaler for Scaler {
    async fn scale(&self, original: Bytes) -> Result<Bytes, PictureProblem> {
        let place = Waiting(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= MAX_WAITING {
            return Err(PictureProblem::Busy);
        }
        let turn = self.turn.clone().acquire_owned().await.map_err(|_| PictureProblem::Busy)?;
        drop(place);
        // The turn lasts until the work ends, even if its request is dropped before.
        let work = self.runtime.spawn_blocking(move || {
            let scaled = scale(&original, &Limits::default());
            drop(turn);
            scaled
        });
        match work.await {
            Ok(Ok(scaled)) => Ok(Bytes::from(scaled)),
            Ok(Err(problem)) => Err(problem),
            // A decoder that panics has met a broken picture.
            Err(_) => Err(PictureProblem::Unreadable),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn few_pictures_wait_for_their_turn() {
        let scaler = Arc::new(Scaler::new(Handle::current()));
        let turn = scaler.turn.clone().acquire_owned().await.unwrap();
        let scale = || {
            let scaler = scaler.clone();
            tokio::spawn(async move { scaler.scale(Bytes::from_static(b"no picture")).await })
        };
        let mut waiting: Vec<_> = (0..MAX_WAITING).map(|_| scale()).collect();
        while scaler.waiting.load(Ordering::SeqCst) < MAX_WAITING {
            tokio::task::yield_now().await;
        }
        assert_eq!(scale().await.unwrap(), Err(PictureProblem::Busy));
        // A cancelled request releases its place.
        waiting.pop().unwrap().abort();
        while scaler.waiting.load(Ordering::SeqCst) == MAX_WAITING {
            tokio::task::yield_now().await;
        }
        let late = scale();
        drop(turn);
        for waiter in waiting.into_iter().chain([late]) {
            assert_eq!(waiter.await.unwrap(), Err(PictureProblem::Unreadable));
        }
        assert_eq!(scaler.waiting.load(Ordering::SeqCst), 0);
    }
}
