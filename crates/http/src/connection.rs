//! Connections that are closed when the peer is inactive.
//!
//! The HTTP library closes a connection when its first head takes too long or when it is idle between two requests. It
//! waits without limit for the rest of a later head and for a client that does not read its response. This wrapper
//! below the library adds timeouts for both.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// How much longer than the library's own the longest idle time between two requests is here. It covers a head whose
/// beginning arrived with the previous request: the library does not consider that connection idle.
const KEEP_ALIVE_MARGIN: Duration = Duration::from_secs(1);

/// Longest time for a head from its first byte, equal to the library's limit for the first head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// How many bytes may arrive while no request is in flight. A head has 128 KB at most. More bytes are the rest of an
/// unread body, which the HTTP library would discard without limit.
const MAX_BYTES_OUTSIDE_REQUESTS: usize = 1024 * 1024;

/// Longest time without progress in writing a response.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

/// Counts the requests of a connection and records whether one is in flight.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestTracker(Rc<TrackerState>);

#[derive(Debug, Default)]
struct TrackerState {
    started: Cell<u64>,
    is_in_flight: Cell<bool>,
}

impl RequestTracker {
    /// Marks a request as in flight until the returned guard is dropped.
    pub(crate) fn begin_request(&self) -> InFlightGuard {
        self.0.started.set(self.0.started.get().wrapping_add(1));
        self.0.is_in_flight.set(true);
        InFlightGuard(self.0.clone())
    }
}

/// Marks its request as in flight until it is dropped.
#[must_use]
pub(crate) struct InFlightGuard(Rc<TrackerState>);

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.is_in_flight.set(false);
    }
}

/// A connection that is closed after a timeout of its peer.
pub(crate) struct Connection<T> {
    io: T,
    /// Longest idle time between two requests.
    keep_alive: Duration,
    tracker: RequestTracker,
    /// `Some` while no request is in flight.
    idle: Option<IdleState>,
    /// Runs while writes are blocked.
    write_timer: Option<Pin<Box<Sleep>>>,
}

/// The time between two requests: first idle, then receiving a head.
struct IdleState {
    /// How many requests the connection had before.
    requests_before: u64,
    has_head_bytes: bool,
    /// How many bytes have arrived.
    bytes: usize,
    deadline: Pin<Box<Sleep>>,
}

impl IdleState {
    fn new(requests_before: u64, keep_alive: Duration) -> Self {
        Self { requests_before, has_head_bytes: false, bytes: 0, deadline: Box::pin(sleep(keep_alive)) }
    }

    /// Counts received bytes of a head. The first of them starts the head's timeout.
    fn record_head_bytes(&mut self, bytes: usize) {
        self.bytes += bytes;
        if !std::mem::replace(&mut self.has_head_bytes, true) {
            self.deadline.as_mut().reset(Instant::now() + HEAD_TIMEOUT);
        }
    }
}

impl<T> Connection<T> {
    /// Wraps `io`, which the library closes when it is idle for longer than `keep_alive` between two requests.
    pub(crate) fn new(io: T, keep_alive: Duration) -> Self {
        let keep_alive = keep_alive.saturating_add(KEEP_ALIVE_MARGIN);
        Self { io, keep_alive, tracker: RequestTracker::default(), idle: None, write_timer: None }
    }

    /// The tracker of its requests.
    pub(crate) fn tracker(&self) -> &RequestTracker {
        &self.tracker
    }

    /// Returns the state of the idle time, or `None` while a request is in flight.
    fn idle_state(&mut self) -> Option<&mut IdleState> {
        let TrackerState { started, is_in_flight } = &*self.tracker.0;
        let running = self.idle.take().filter(|idle| idle.requests_before == started.get());
        if is_in_flight.get() {
            return None;
        }
        Some(self.idle.insert(running.unwrap_or_else(|| IdleState::new(started.get(), self.keep_alive))))
    }

    /// Whether writes have been blocked for too long.
    fn is_write_timed_out(&mut self, context: &mut Context<'_>) -> bool {
        self.write_timer.get_or_insert_with(|| Box::pin(sleep(WRITE_TIMEOUT))).as_mut().poll(context).is_ready()
    }

    /// Resets all timers after a successful write.
    fn reset_timers(&mut self) {
        self.idle = None;
        self.write_timer = None;
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Connection<T> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let filled = buffer.filled().len();
        let polled = Pin::new(&mut this.io).poll_read(context, buffer);
        let Some(idle) = this.idle_state() else { return polled };
        if buffer.filled().len() > filled {
            idle.record_head_bytes(buffer.filled().len() - filled);
        }
        if idle.bytes > MAX_BYTES_OUTSIDE_REQUESTS {
            buffer.set_filled(filled);
            return Poll::Ready(Ok(()));
        }
        // Reading zero bytes signals the end of input. A response in progress is still written.
        if polled.is_pending() && idle.deadline.as_mut().poll(context).is_ready() {
            Poll::Ready(Ok(()))
        } else {
            polled
        }
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Connection<T> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.io).poll_write(context, bytes);
        if polled.is_ready() {
            this.reset_timers();
        } else if this.is_write_timed_out(context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        polled
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // After a response to an unread body, the library may have no waker registered. Polling the deadline wakes it
        // at the idle timeout, so that it reads the end of input.
        if let Some(idle) = this.idle_state() {
            let _ = idle.deadline.as_mut().poll(context);
        }
        Pin::new(&mut this.io).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, BufWriter, DuplexStream, duplex};

    const KEEP_ALIVE: Duration = Duration::from_secs(75);

    fn connected(buffer: usize) -> (Connection<DuplexStream>, DuplexStream) {
        let (ours, theirs) = duplex(buffer);
        (Connection::new(ours, KEEP_ALIVE), theirs)
    }

    /// Runs `work` for at most an hour of the paused clock, which passes at once.
    async fn within_an_hour<T>(work: impl Future<Output = T>) -> T {
        tokio::time::timeout(Duration::from_secs(3_600), work).await.expect("it happens")
    }

    /// Beyond the contract.
    #[tokio::test(start_paused = true)]
    async fn an_endless_head_closes_the_connection() {
        for (quiet, drip_every) in [(0, 700), (0, 20_000), (4, 700), (5, 1)] {
            let (mut ours, mut theirs) = connected(64);
            let began = Instant::now();
            let quiet = Duration::from_secs(quiet);
            let dripping = async {
                sleep(quiet).await;
                while theirs.write_all(b"x").await.is_ok() && began.elapsed() < Duration::from_secs(100) {
                    sleep(Duration::from_millis(drip_every)).await;
                }
            };
            let reading = async {
                while ours.read(&mut [0; 8]).await.unwrap() > 0 {}
                began.elapsed()
            };
            let end = quiet + HEAD_TIMEOUT;
            tokio::select! {
                () = dripping => panic!("it goes on for ever"),
                elapsed = reading => assert!(elapsed >= end && elapsed < end + Duration::from_secs(1), "{elapsed:?}"),
            }
        }
    }

    /// Beyond the contract.
    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_is_closed() {
        let (mut ours, _theirs) = connected(64);
        let began = Instant::now();
        assert_eq!(within_an_hour(ours.read(&mut [0; 8])).await.unwrap(), 0);
        assert!(began.elapsed() >= KEEP_ALIVE && began.elapsed() < KEEP_ALIVE + Duration::from_secs(2));
    }

    #[tokio::test(start_paused = true)]
    async fn too_many_bytes_outside_of_requests_close_the_connection() {
        let (mut ours, mut theirs) = connected(64 * 1024);
        let sending = async { while theirs.write_all(&[b'x'; 1024]).await.is_ok() {} };
        let reading = async {
            let mut read = 0;
            while let bytes @ 1.. = ours.read(&mut [0; 8 * 1024]).await.unwrap() {
                read += bytes;
            }
            read
        };
        tokio::select! {
            () = sending => panic!("it is read for ever"),
            read = reading => assert_eq!(read, MAX_BYTES_OUTSIDE_REQUESTS),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_writing_task_is_woken_at_the_idle_timeout() {
        let (mut ours, _theirs) = connected(64);
        ours.write_all(b"x").await.unwrap();
        let began = Instant::now();
        let mut flushed = 0;
        within_an_hour(std::future::poll_fn(|context| {
            flushed += 1;
            assert!(Pin::new(&mut ours).poll_flush(context).is_ready());
            if flushed == 1 { Poll::Pending } else { Poll::Ready(()) }
        }))
        .await;
        assert!(began.elapsed() >= KEEP_ALIVE && began.elapsed() < KEEP_ALIVE + Duration::from_secs(2));
    }

    /// Beyond the contract.
    #[tokio::test(start_paused = true)]
    async fn a_request_may_take_long_and_the_next_head_has_its_own_timeout() {
        let (mut ours, mut theirs) = connected(64);
        for _ in 0..3 {
            theirs.write_all(b"a head").await.unwrap();
            assert_eq!(ours.read(&mut [0; 8]).await.unwrap(), 6);
            let request = ours.tracker().begin_request();
            let waiting = tokio::time::timeout(10 * KEEP_ALIVE, ours.read(&mut [0; 8])).await;
            assert!(waiting.is_err(), "a request is in progress");
            drop(request);
            let waiting = tokio::time::timeout(KEEP_ALIVE * 9 / 10, ours.read(&mut [0; 8])).await;
            assert!(waiting.is_err(), "the pause is not over");
        }
        assert_eq!(within_an_hour(ours.read(&mut [0; 8])).await.unwrap(), 0);
    }

    /// Beyond the contract.
    #[tokio::test(start_paused = true)]
    async fn an_unread_response_closes_the_connection() {
        let (mut ours, _theirs) = connected(16);
        let began = Instant::now();
        ours.write_all(&[b'x'; 16]).await.unwrap();
        let error = within_an_hour(ours.write_all(b"y")).await.unwrap_err();
        assert_eq!((error.kind(), began.elapsed() >= WRITE_TIMEOUT), (io::ErrorKind::TimedOut, true));
    }

    /// Beyond the contract.
    #[tokio::test(start_paused = true)]
    async fn a_slowly_read_response_arrives() {
        let (mut ours, mut theirs) = connected(16);
        let reading = async {
            for _ in 0..8 {
                sleep(WRITE_TIMEOUT * 9 / 10).await;
                theirs.read_exact(&mut [0; 16]).await.unwrap();
            }
        };
        let (outcome, ()) = within_an_hour(async { tokio::join!(ours.write_all(&[b'x'; 128]), reading) }).await;
        outcome.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn flush_and_shutdown_are_forwarded() {
        let (ours, mut theirs) = duplex(64);
        let mut ours = Connection::new(BufWriter::new(ours), KEEP_ALIVE);
        ours.write_all(b"x").await.unwrap();
        ours.flush().await.unwrap();
        within_an_hour(theirs.read_exact(&mut [0; 1])).await.unwrap();
        ours.shutdown().await.unwrap();
        assert_eq!(within_an_hour(theirs.read(&mut [0; 8])).await.unwrap(), 0);
    }
}
