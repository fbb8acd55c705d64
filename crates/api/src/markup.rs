//! A pool of threads that reads bodies with much markup or long texts.
//!
//! HTML cleaning and stemming can take some hundredths of a second, depending on the client's input. This must not
//! block the server's worker threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::error::ApiError;

/// Most tags of a body that is read on the worker thread: a millisecond's work at most.
const MAX_INLINE_TAGS: usize = 256;

/// Most bytes of text of such a body. Its words are stemmed.
const MAX_INLINE_TEXT: usize = 8 * 1024;

/// Most queued bodies: some seconds' work at most.
const MAX_QUEUED: usize = 32;

/// A bounded pool of threads for markup, with a bounded queue.
#[derive(Clone)]
pub struct MarkupPool {
    runtime: Handle,
    threads: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

impl MarkupPool {
    /// Uses at most `threads` blocking threads of this runtime.
    #[must_use]
    pub fn new(runtime: Handle, threads: usize) -> Self {
        Self { runtime, threads: Arc::new(Semaphore::new(threads.max(1))), waiting: Arc::default() }
    }

    /// Runs `work` on one of the threads.
    ///
    /// # Errors
    /// 503 when the queue is full; 500 when `work` panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let slot = QueueSlot::reserve(&self.waiting).ok_or(ApiError::MarkupQueueFull)?;
        let permit = self.threads.clone().acquire_owned().await.map_err(|_| ApiError::MarkupQueueFull)?;
        drop(slot);
        // The permit is held until the work ends, even if its request is dropped before.
        let work = self.runtime.spawn_blocking(move || {
            let outcome = work();
            drop(permit);
            outcome
        });
        work.await.map_err(ApiError::TaskPanicked)
    }
}

/// A reserved place in the queue, released on drop.
struct QueueSlot(Arc<AtomicUsize>);

impl QueueSlot {
    fn reserve(waiting: &Arc<AtomicUsize>) -> Option<Self> {
        let slot = Self(waiting.clone());
        (waiting.fetch_add(1, Ordering::SeqCst) < MAX_QUEUED).then_some(slot)
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether a body may have enough markup or text to be read on another thread.
pub(crate) fn is_expensive(body: &Map<String, Value>) -> bool {
    let count = |of: fn(&str) -> usize| body.values().map(|value| sum_over_texts(value, of)).sum::<usize>();
    count(str::len) > MAX_INLINE_TEXT
        || count(|text| text.bytes().filter(|byte| *byte == b'<').count()) > MAX_INLINE_TAGS
}

/// Returns the sum of `of` over all texts of a value. The JSON parser has bounded the nesting depth.
fn sum_over_texts(value: &Value, of: fn(&str) -> usize) -> usize {
    match value {
        Value::String(text) => of(text),
        Value::Array(values) => values.iter().map(|value| sum_over_texts(value, of)).sum(),
        Value::Object(fields) => fields.values().map(|value| sum_over_texts(value, of)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::mpsc;

    #[test]
    fn markup_is_counted_in_all_fields() {
        for (body, is_expensive_body) in [
            (json!({ "comment": { "content": "<b>".repeat(257) } }), true),
            (json!({ "comment": { "content": "<b>".repeat(256) } }), false),
            (json!({ "tags": ["<".repeat(200), "<".repeat(200)], "n": 1 }), true),
            (json!({ "comment": { "content": "x".repeat(8_000) } }), false),
            (json!({ "comment": { "content": "x".repeat(9_000) } }), true),
        ] {
            let Value::Object(body) = body else { panic!("an object") };
            assert_eq!(is_expensive(&body), is_expensive_body);
        }
    }

    #[tokio::test]
    async fn running_and_queued_work_is_bounded() {
        let pool = MarkupPool::new(Handle::current(), 1);
        let (release, held) = mpsc::channel::<()>();
        let running = tokio::spawn({
            let pool = pool.clone();
            async move { pool.run(move || held.recv()).await.map(|_| ()) }
        });
        while pool.threads.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let mut waiting: Vec<_> = (0..MAX_QUEUED)
            .map(|_| {
                let pool = pool.clone();
                tokio::spawn(async move { pool.run(|| ()).await })
            })
            .collect();
        while pool.waiting.load(Ordering::SeqCst) < MAX_QUEUED {
            tokio::task::yield_now().await;
        }
        assert!(matches!(pool.run(|| ()).await, Err(ApiError::MarkupQueueFull)));
        // A cancelled request releases its place in the queue.
        waiting.pop().unwrap().abort();
        while pool.waiting.load(Ordering::SeqCst) == MAX_QUEUED {
            tokio::task::yield_now().await;
        }
        let late = tokio::spawn({
            let pool = pool.clone();
            async move { pool.run(|| ()).await }
        });
        release.send(()).unwrap();
        running.await.unwrap().unwrap();
        for waiter in waiting {
            waiter.await.unwrap().unwrap();
        }
        late.await.unwrap().unwrap();
        assert_eq!(pool.waiting.load(Ordering::SeqCst), 0);
    }
}
