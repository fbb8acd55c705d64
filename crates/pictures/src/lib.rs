//! The adapter of the ports [`PictureScaler`], which makes pictures of texts small and safe, and [`PreviewRenderer`], which
//! draws the pictures of link previews.
//!
//! Decoders run on a thread for blocking work, one picture after another: a picture of 40 megapixels takes up to 500 MB for
//! up to four seconds.

mod preview;
mod scale;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use roadmap_domain::model::picture::PictureProblem;
use roadmap_domain::model::preview::Preview;
use roadmap_domain::ports::{PictureScaler, PreviewRenderer};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use crate::scale::{Limits, scale};

/// Most pictures that wait for the permit. Each holds at most 5 MB.
const MAX_WAITING: usize = 8;

/// Runs one job at a time on a thread for blocking work, however many requests there are.
struct Queue {
    runtime: Handle,
    permit: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Queue {
    fn new(runtime: Handle) -> Self {
        Self { runtime, permit: Arc::new(Semaphore::new(1)), waiting: AtomicUsize::new(0) }
    }

    /// Returns what a job returns, or that it has panicked. `None` if too many wait already.
    async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Option<Result<T, JoinError>> {
        let place = Waiting(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= MAX_WAITING {
            return None;
        }
        let permit = self.permit.clone().acquire_owned().await.ok()?;
        drop(place);
        // The permit is held until the work ends, even if its request is dropped before.
        let work = self.runtime.spawn_blocking(move || {
            let done = job();
            drop(permit);
            done
        });
        Some(work.await)
    }
}

/// A place among those that wait, released on drop.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Scales one picture at a time.
pub struct Scaler(Queue);

impl Scaler {
    /// Creates a scaler that works on a blocking thread of this runtime.
    #[must_use]
    pub fn new(runtime: Handle) -> Self {
        Self(Queue::new(runtime))
    }
}

#[async_trait]
impl PictureScaler for Scaler {
    async fn scale(&self, original: Bytes) -> Result<Bytes, PictureProblem> {
        match self.0.run(move || scale(&original, &Limits::default())).await {
            Some(Ok(scaled)) => scaled.map(Bytes::from),
            // A decoder that panics has met a broken picture.
            Some(Err(_)) => Err(PictureProblem::Unreadable),
            None => Err(PictureProblem::Busy),
        }
    }
}

/// Draws one picture at a time.
pub struct Renderer(Queue);

impl Renderer {
    /// Creates a renderer that works on a blocking thread of this runtime.
    #[must_use]
    pub fn new(runtime: Handle) -> Self {
        Self(Queue::new(runtime))
    }
}

#[async_trait]
impl PreviewRenderer for Renderer {
    async fn render(&self, preview: Preview) -> Option<Bytes> {
        self.0.run(move || preview::render(&preview)).await?.ok().map(Bytes::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn few_pictures_wait_for_the_permit() {
        let scaler = Arc::new(Scaler::new(Handle::current()));
        let permit = scaler.0.permit.clone().acquire_owned().await.unwrap();
        let scale = || {
            let scaler = scaler.clone();
            tokio::spawn(async move { scaler.scale(Bytes::from_static(b"no picture")).await })
        };
        let mut waiting: Vec<_> = (0..MAX_WAITING).map(|_| scale()).collect();
        while scaler.0.waiting.load(Ordering::SeqCst) < MAX_WAITING {
            tokio::task::yield_now().await;
        }
        assert_eq!(scale().await.unwrap(), Err(PictureProblem::Busy));
        // A cancelled request releases its place.
        waiting.pop().unwrap().abort();
        while scaler.0.waiting.load(Ordering::SeqCst) == MAX_WAITING {
            tokio::task::yield_now().await;
        }
        let late = scale();
        drop(permit);
        for waiter in waiting.into_iter().chain([late]) {
            assert_eq!(waiter.await.unwrap(), Err(PictureProblem::Unreadable));
        }
        assert_eq!(scaler.0.waiting.load(Ordering::SeqCst), 0);
    }
}
