//! Request bodies, bounded in size, in time and, for the whole process, in memory.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::web::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout_at};

use crate::error::HttpError;

/// Largest JSON body, in bytes.
pub const JSON_LIMIT: usize = 1024 * 1024;

/// Largest body of the unsubscribe form, in bytes.
pub const FORM_LIMIT: usize = 4 * 1024;

/// How many bytes of a too large body are read and discarded, so that the client can read the response instead of a
/// reset connection.
const DRAIN_LIMIT: usize = 16 * JSON_LIMIT;

/// How many bytes are discarded before each pause. Together with the pause this limits a rejected body to 16 MB per
/// second, so that an endless body uses little processor time.
const DRAIN_PIECE: usize = 64 * 1024;
const DRAIN_PAUSE: Duration = Duration::from_millis(4);

/// How many bytes of an upload may precede the part with its file.
const PREAMBLE_LIMIT: usize = JSON_LIMIT;

/// After how many bytes an upload yields to other requests of the same thread.
const YIELD_AFTER: usize = 64 * 1024;

/// Minimum rate of an upload, in bytes per second.
const MIN_UPLOAD_RATE: u64 = 10 * 1024;

/// How long an upload may stay below the minimum rate.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// The limits of time and memory for bodies.
#[derive(Clone)]
pub struct BodyLimits {
    /// Longest time for a whole body; of an upload, for the bytes before its file and for each wait after that.
    timeout: Duration,
    memory: Arc<MemoryBudget>,
}

/// The memory of all bodies that the process is reading, in bytes.
struct MemoryBudget {
    used: AtomicUsize,
    limit: usize,
}

/// Memory reserved for one body, released on drop.
pub struct MemoryReservation {
    memory: Arc<MemoryBudget>,
    bytes: usize,
}

impl BodyLimits {
    /// Limits each body to `timeout`, and all bodies together to `memory` bytes.
    #[must_use]
    pub fn new(timeout: Duration, memory: usize) -> Self {
        Self { timeout, memory: Arc::new(MemoryBudget { used: AtomicUsize::new(0), limit: memory }) }
    }

    fn empty_reservation(&self) -> MemoryReservation {
        MemoryReservation { memory: self.memory.clone(), bytes: 0 }
    }

    /// Reads a whole body of at most `limit` bytes. A larger one is drained up to a limit before it is rejected.
    ///
    /// The returned reservation holds the body's share of the process's memory until it is dropped.
    ///
    /// # Errors
    /// 408 on a timeout, 413 when the body is larger, 503 when the memory for bodies is exhausted, 400 when the body is
    /// truncated.
    pub async fn read_body(
        &self,
        payload: &mut Payload,
        limit: usize,
    ) -> Result<(Bytes, MemoryReservation), HttpError> {
        let mut reserved = self.empty_reservation();
        let mut body = BytesMut::new();
        let mut read = 0;
        let mut pace = DrainPace::default();
        let end = Instant::now() + self.timeout;
        while let Some(chunk) = timeout_at(end, payload.next()).await.map_err(|_| HttpError::BodyTimeout)? {
            let chunk = chunk.map_err(|_| HttpError::MalformedBody)?;
            read += chunk.len();
            if read <= limit {
                reserved.grow(chunk.len())?;
                body.extend_from_slice(&chunk);
            } else if read > DRAIN_LIMIT {
                break;
            } else {
                pace.keep(chunk.len()).await;
            }
        }
        if read > limit { Err(HttpError::TooLarge { limit }) } else { Ok((body.freeze(), reserved)) }
    }

    /// Returns the body of an upload. Its stream ends when data arrives too slowly or when too many bytes precede the
    /// file.
    pub fn upload_body(&self, body: Payload) -> UploadBody {
        UploadBody(Rc::new(RefCell::new(UploadState {
            body,
            received: 0,
            allowed: Some(PREAMBLE_LIMIT),
            has_file_begun: false,
            timed_out: false,
            too_large: false,
            timer: Box::pin(sleep_until(Instant::now())),
            waiting_since: None,
            waited: Duration::ZERO,
            since_yield: 0,
            timeout: self.timeout,
        })))
    }
}

impl MemoryReservation {
    fn grow(&mut self, bytes: usize) -> Result<(), HttpError> {
        let MemoryBudget { used, limit } = &*self.memory;
        let before = used.fetch_add(bytes, Ordering::SeqCst);
        self.bytes += bytes;
        // On an error the caller drops the reservation, which releases the excess.
        if before + bytes > *limit { Err(HttpError::BodyMemoryExhausted) } else { Ok(()) }
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(self.bytes, Ordering::SeqCst);
    }
}

/// The body of an upload, shared by the multipart parser and the handler.
#[derive(Clone)]
pub struct UploadBody(Rc<RefCell<UploadState>>);

impl UploadBody {
    /// Marks the start of the file. From here on, size and total time are unlimited as long as the minimum rate is
    /// kept.
    pub fn begin_file(&self) {
        let mut state = self.0.borrow_mut();
        state.allowed = None;
        state.has_file_begun = true;
    }

    /// Whether the body was cut because it arrived too slowly.
    pub fn has_timed_out(&self) -> bool {
        self.0.borrow().timed_out
    }

    /// Whether the body was cut because it was too long.
    pub fn is_too_large(&self) -> bool {
        self.0.borrow().too_large
    }

    /// Reads and discards the rest of the body, up to a limit, so that the client can read the response instead of a
    /// reset connection.
    pub async fn drain(mut self) {
        {
            let mut state = self.0.borrow_mut();
            state.allowed = Some(DRAIN_LIMIT);
            state.too_large = false;
        }
        let mut pace = DrainPace::default();
        while let Some(Ok(bytes)) = self.next().await {
            pace.keep(bytes.len()).await;
        }
    }
}

/// Limits the rate at which a rejected body is discarded.
#[derive(Default)]
struct DrainPace {
    since_pause: usize,
}

impl DrainPace {
    /// Counts discarded bytes and pauses after each [`DRAIN_PIECE`].
    async fn keep(&mut self, bytes: usize) {
        self.since_pause += bytes;
        if self.since_pause >= DRAIN_PIECE {
            self.since_pause = 0;
            sleep(DRAIN_PAUSE).await;
        }
    }
}

impl Stream for UploadBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.borrow_mut().poll_next(context)
    }
}

/// The state of an upload. Only the time spent waiting for the client counts, not the time spent in slow storage.
struct UploadState {
    body: Payload,
    received: u64,
    /// How many more bytes are read; `None` means no limit.
    allowed: Option<usize>,
    has_file_begun: bool,
    timed_out: bool,
    too_large: bool,
    timer: Pin<Box<Sleep>>,
    waiting_since: Option<Instant>,
    waited: Duration,
    /// Bytes since the last yield to other tasks.
    since_yield: usize,
    timeout: Duration,
}

impl UploadState {
    /// Returns how much longer the service waits for the client.
    fn remaining_wait(&self) -> Duration {
        let at_min_rate = Duration::from_millis(self.received * 1_000 / MIN_UPLOAD_RATE);
        let by_rate = (GRACE_PERIOD + at_min_rate).saturating_sub(self.waited);
        let timeout = if self.has_file_begun { self.timeout } else { self.timeout.saturating_sub(self.waited) };
        by_rate.min(timeout)
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, PayloadError>>> {
        if self.timed_out || self.too_large {
            return Poll::Ready(None);
        }
        if self.since_yield > YIELD_AFTER {
            // A stream that is always ready would never release the thread.
            self.since_yield = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        match self.body.poll_next_unpin(context) {
            Poll::Ready(Some(Ok(bytes))) => {
                self.waited += self.waiting_since.take().map_or(Duration::ZERO, |since| since.elapsed());
                self.since_yield += bytes.len();
                self.received += bytes.len() as u64;
                if let Some(allowed) = self.allowed {
                    let left = allowed.checked_sub(bytes.len());
                    self.too_large = left.is_none();
                    self.allowed = Some(left.unwrap_or(0));
                }
                Poll::Ready((!self.too_large).then_some(Ok(bytes)))
            }
            Poll::Ready(other) => Poll::Ready(other),
            Poll::Pending => {
                self.since_yield = 0;
                if self.waiting_since.is_none() {
                    let now = Instant::now();
                    let end = now + self.remaining_wait();
                    self.waiting_since = Some(now);
                    self.timer.as_mut().reset(end);
                }
                if self.timer.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                self.timed_out = true;
                Poll::Ready(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    /// A body of `pieces` pieces of `size` bytes, one after each interval `every`.
    fn slow_body(pieces: usize, size: usize, every: Duration) -> Payload {
        let pieces = stream::unfold(0, move |sent| async move {
            if sent == pieces {
                return None;
            }
            sleep(every).await;
            Some((Ok(Bytes::from(vec![b'x'; size])), sent + 1))
        });
        Payload::Stream { payload: Box::pin(pieces) }
    }

    fn limits() -> BodyLimits {
        BodyLimits::new(Duration::from_secs(30), 1_000)
    }

    async fn read(limits: &BodyLimits, mut payload: Payload) -> Result<usize, HttpError> {
        limits.read_body(&mut payload, 600).await.map(|(body, _)| body.len())
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_has_one_deadline() {
        let began = Instant::now();
        let outcome = read(&limits(), slow_body(1_000, 1, Duration::from_secs(10))).await;
        assert!(matches!(outcome, Err(HttpError::BodyTimeout)));
        assert_eq!(began.elapsed().as_secs(), 30);
        assert_eq!(read(&limits(), slow_body(29, 1, Duration::from_secs(1))).await.unwrap(), 29);
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_share_a_memory_budget_and_release_it() {
        let limits = limits();
        let mut first = slow_body(1, 600, Duration::ZERO);
        let held = limits.read_body(&mut first, 600).await.unwrap();
        assert!(matches!(read(&limits, slow_body(5, 100, Duration::ZERO)).await, Err(HttpError::BodyMemoryExhausted)));
        assert_eq!(read(&limits, slow_body(4, 100, Duration::ZERO)).await.unwrap(), 400);
        drop(held);
        assert_eq!(read(&limits, slow_body(5, 100, Duration::ZERO)).await.unwrap(), 500);
        assert_eq!(limits.memory.used.load(Ordering::SeqCst), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn an_oversized_body_takes_no_memory_beyond_the_limit() {
        let limits = limits();
        let outcome = read(&limits, slow_body(1_000, 1_000, Duration::ZERO)).await;
        assert!(matches!(outcome, Err(HttpError::TooLarge { limit: 600 })));
        assert_eq!(limits.memory.used.load(Ordering::SeqCst), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn discarded_bodies_are_read_slowly() {
        // 16 MB are 256 pieces, each followed by a pause of 4 ms.
        let took = |began: Instant| (1_000..1_100).contains(&began.elapsed().as_millis());
        let began = Instant::now();
        let outcome = read(&limits(), slow_body(10_000, DRAIN_PIECE, Duration::ZERO)).await;
        assert!(matches!(outcome, Err(HttpError::TooLarge { limit: 600 })) && took(began), "{:?}", began.elapsed());
        let began = Instant::now();
        limits().upload_body(slow_body(10_000, DRAIN_PIECE, Duration::ZERO)).drain().await;
        assert!(took(began), "{:?}", began.elapsed());
    }

    /// Reads an upload to its end. Returns the bytes, whether it timed out, whether it was too large, and the seconds.
    async fn upload(payload: Payload, begin_file: bool, storage: Duration) -> (usize, bool, bool, u64) {
        let mut body = limits().upload_body(payload);
        if begin_file {
            body.begin_file();
        }
        let (began, mut received) = (Instant::now(), 0);
        while let Some(piece) = body.next().await {
            received += piece.unwrap().len();
            sleep(storage).await;
        }
        (received, body.has_timed_out(), body.is_too_large(), began.elapsed().as_secs())
    }

    #[tokio::test(start_paused = true)]
    async fn an_upload_has_a_minimum_rate_after_ten_seconds() {
        let second = Duration::from_secs(1);
        // One byte per second: 10 s of grace and 1 ms for the ten bytes.
        assert_eq!(upload(slow_body(1_000, 1, second), true, Duration::ZERO).await, (10, true, false, 10));
        // Half the minimum rate: 20 s, of which 10 s pay for the received bytes.
        let (_, timed_out, _, seconds) = upload(slow_body(1_000, 5 * 1024, second), true, Duration::ZERO).await;
        assert_eq!((timed_out, seconds), (true, 19));
        // A rate above the minimum is never cut.
        let (received, timed_out, ..) = upload(slow_body(300, 11 * 1024, second), true, Duration::ZERO).await;
        assert_eq!((received, timed_out), (300 * 11 * 1024, false));
        // No data after a fast first megabyte.
        let stuck = stream::iter([Ok(Bytes::from(vec![b'x'; 1024 * 1024]))]).chain(stream::pending());
        let stuck: Payload = Payload::Stream { payload: Box::pin(stuck) };
        assert_eq!(upload(stuck, true, Duration::ZERO).await, (1024 * 1024, true, false, 30));
    }

    #[tokio::test]
    async fn an_endless_upload_yields_to_other_tasks() {
        let endless = stream::repeat_with(|| Ok(Bytes::from_static(&[b'x'; 1_024])));
        let upload = limits().upload_body(Payload::Stream { payload: Box::pin(endless) });
        upload.begin_file();
        let read = upload.for_each(|_| std::future::ready(()));
        tokio::select! {
            biased;
            () = read => unreachable!("it does not end"),
            () = tokio::task::yield_now() => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_storage_does_not_count_against_an_upload() {
        let (received, timed_out, ..) =
            upload(slow_body(100, 100, Duration::from_millis(10)), true, Duration::from_secs(60)).await;
        assert_eq!((received, timed_out), (10_000, false));
    }

    #[tokio::test(start_paused = true)]
    async fn the_parts_before_a_file_are_bounded_in_bytes_and_time() {
        let (received, timed_out, too_large, _) =
            upload(slow_body(1_000, 1024 * 1024, Duration::ZERO), false, Duration::ZERO).await;
        assert_eq!((received, timed_out, too_large), (PREAMBLE_LIMIT, false, true));
        let (_, timed_out, _, seconds) =
            upload(slow_body(1_000, 20 * 1024, Duration::from_secs(1)), false, Duration::ZERO).await;
        assert_eq!((timed_out, seconds), (true, 30));
    }
}
