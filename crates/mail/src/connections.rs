//! The connections to the mail server: how many may be open, and who gets the next one.
//!
//! A server may refuse more connections than it likes to have (421, or no answer at all). As long as others exist, mails
//! then wait for these, and one more is tried once in a while.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lettre::transport::smtp::client::AsyncSmtpConnection;
use roadmap_domain::model::mail::SendError;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::session::Server;

/// How long an idle connection is kept. Servers close idle connections after some minutes.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// Idle time after which a connection is tested before its next use.
const CHECK_AFTER_IDLE: Duration = Duration::from_secs(5);

/// How long after a refused connection one more is tried again.
const RAISE_AFTER: Duration = Duration::from_secs(60);

/// The connections to one mail server.
pub(crate) struct Connections {
    server: Server,
    state: Mutex<State<AsyncSmtpConnection>>,
    changed: Notify,
}

/// What a mail that needs a connection does next.
#[derive(Debug, PartialEq, Eq)]
enum Next<C> {
    /// It takes this connection, which was idle for some time.
    Use(C, Duration),
    /// It opens a connection.
    Open,
    /// It waits until a connection is free, at most until this time.
    Wait(Option<Instant>),
}

/// Counts connections.
#[derive(Debug)]
struct State<C> {
    /// The limit of the setting.
    maximum: usize,
    /// The limit that the server has shown, at most `maximum`.
    limit: usize,
    /// When `limit` is raised by one.
    raise_at: Option<Instant>,
    opening: usize,
    in_use: usize,
    idle: Vec<(C, Instant)>,
}

impl<C> State<C> {
    fn new(maximum: usize) -> Self {
        Self { maximum, limit: maximum, raise_at: None, opening: 0, in_use: 0, idle: Vec::new() }
    }

    fn next(&mut self, now: Instant) -> Next<C> {
        if self.raise_at.is_some_and(|at| at <= now) {
            self.limit = (self.limit + 1).min(self.maximum);
            self.raise_at = (self.limit < self.maximum).then_some(now + RAISE_AFTER);
        }
        self.idle.retain(|(_, since)| now.duration_since(*since) <= MAX_IDLE);
        if let Some((connection, since)) = self.idle.pop() {
            self.in_use += 1;
            return Next::Use(connection, now.duration_since(since));
        }
        if self.in_use + self.opening < self.limit {
            self.opening += 1;
            return Next::Open;
        }
        Next::Wait(self.raise_at)
    }

    fn opened(&mut self) {
        self.opening -= 1;
        self.in_use += 1;
        self.limit = self.limit.max(self.in_use + self.idle.len()).min(self.maximum);
    }

    /// Records that a connection could not be opened. Returns whether there are others to wait for.
    fn refused(&mut self, now: Instant) -> bool {
        self.opening -= 1;
        let others = self.in_use + self.idle.len() + self.opening;
        if others == 0 {
            // This says nothing about the number: no connection can be opened at all.
            (self.limit, self.raise_at) = (self.maximum, None);
            return false;
        }
        (self.limit, self.raise_at) = (others.min(self.maximum), Some(now + RAISE_AFTER));
        true
    }

    /// Takes back a connection that was in use, or `None` if it cannot be used again.
    fn released(&mut self, connection: Option<C>, now: Instant) {
        self.in_use -= 1;
        self.idle.extend(connection.map(|connection| (connection, now)));
    }
}

impl Connections {
    pub(crate) fn new(server: Server, maximum: usize) -> Self {
        Self { server, state: Mutex::new(State::new(maximum.max(1))), changed: Notify::new() }
    }

    /// Returns a free connection, or opens one if there may be more. Waits if there may not.
    ///
    /// # Errors
    /// No connection can be opened, and none exists.
    pub(crate) async fn get(self: &Arc<Self>) -> Result<Lease, SendError> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // Before the look at the state, so that no change in between is missed.
            changed.as_mut().enable();
            let next = self.state().next(Instant::now());
            match next {
                Next::Use(connection, idle) => {
                    let mut lease = Lease::new(self, connection);
                    if idle <= CHECK_AFTER_IDLE || lease.is_connected().await {
                        return Ok(lease);
                    }
                }
                Next::Open => {
                    let opening = Opening { connections: self.clone(), is_over: false };
                    match self.server.connect(&mut ()).await {
                        Ok(connection) => return Ok(opening.succeeded(connection)),
                        Err(problem) if !opening.failed() => {
                            return Err(SendError::NoConnection { reason: problem.reason });
                        }
                        Err(_) => {}
                    }
                }
                Next::Wait(None) => changed.await,
                Next::Wait(Some(at)) => drop(tokio::time::timeout_at(at, changed).await),
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State<AsyncSmtpConnection>> {
        // No code panics while it holds this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that is being opened. If this is dropped, for example after a timeout, it counts as refused.
struct Opening {
    connections: Arc<Connections>,
    is_over: bool,
}

impl Opening {
    fn succeeded(mut self, connection: AsyncSmtpConnection) -> Lease {
        self.is_over = true;
        self.connections.state().opened();
        Lease::new(&self.connections, connection)
    }

    /// Records that it was refused. Returns whether there are others to wait for.
    fn failed(mut self) -> bool {
        self.is_over = true;
        self.refused()
    }

    fn refused(&self) -> bool {
        let has_others = self.connections.state().refused(Instant::now());
        self.connections.changed.notify_waiters();
        has_others
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if !self.is_over {
            self.refused();
        }
    }
}

/// A connection in use. It is closed when this is dropped, unless its dialog is complete.
pub(crate) struct Lease {
    connections: Arc<Connections>,
    connection: Option<AsyncSmtpConnection>,
    is_complete: bool,
}

impl Lease {
    fn new(connections: &Arc<Connections>, connection: AsyncSmtpConnection) -> Self {
        Self { connections: connections.clone(), connection: Some(connection), is_complete: false }
    }

    /// The connection.
    pub(crate) fn connection(&mut self) -> Option<&mut AsyncSmtpConnection> {
        self.connection.as_mut()
    }

    async fn is_connected(&mut self) -> bool {
        match &mut self.connection {
            Some(connection) => connection.test_connected().await,
            None => false,
        }
    }

    /// Gives the connection back for the next mail, because the server's next reply is not one to this mail.
    pub(crate) fn complete(mut self) {
        self.is_complete = true;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let connection = self.connection.take().filter(|connection| self.is_complete && !connection.has_broken());
        self.connections.state().released(connection, Instant::now());
        self.connections.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A state with this many connections in use.
    fn in_use(count: usize, maximum: usize) -> (State<u32>, Instant) {
        let (mut state, now) = (State::new(maximum), Instant::now());
        for _ in 0..count {
            assert_eq!(state.next(now), Next::Open);
            state.opened();
        }
        (state, now)
    }

    #[tokio::test]
    async fn connections_are_opened_up_to_the_maximum_and_reused() {
        let (mut state, now) = in_use(2, 2);
        assert_eq!(state.next(now), Next::Wait(None));
        state.released(Some(7), now);
        assert_eq!(state.next(now + Duration::from_secs(3)), Next::Use(7, Duration::from_secs(3)));
        // A broken one makes room for another.
        state.released(None, now);
        assert_eq!(state.next(now), Next::Open);
        assert_eq!(state.next(now), Next::Wait(None));
    }

    #[tokio::test]
    async fn a_connection_that_was_idle_for_long_is_closed() {
        let (mut state, now) = in_use(1, 1);
        state.released(Some(7), now);
        assert_eq!(state.next(now + MAX_IDLE + Duration::from_secs(1)), Next::Open);
    }

    #[tokio::test]
    async fn a_refused_connection_lowers_the_limit_for_a_while() {
        let (mut state, now) = in_use(3, 8);
        assert_eq!(state.next(now), Next::Open);
        assert!(state.refused(now));
        let raise_at = now + RAISE_AFTER;
        assert_eq!(state.next(now), Next::Wait(Some(raise_at)));
        // One more after the pause, and the next after another one.
        assert_eq!(state.next(raise_at), Next::Open);
        assert_eq!(state.next(raise_at), Next::Wait(Some(raise_at + RAISE_AFTER)));
        assert!(state.refused(raise_at));
        assert_eq!(state.next(raise_at), Next::Wait(Some(raise_at + RAISE_AFTER)));
        for number in 1..=5 {
            let now = raise_at + RAISE_AFTER * number;
            assert_eq!(state.next(now), Next::Open, "{number}");
            state.opened();
        }
        // The maximum is reached again.
        assert_eq!(state.next(now + RAISE_AFTER * 100), Next::Wait(None));
    }

    #[tokio::test]
    async fn connections_that_are_refused_together_wait_for_those_that_are_being_opened() {
        let (mut state, now) = (State::<u32>::new(4), Instant::now());
        (0..4).for_each(|_| assert_eq!(state.next(now), Next::Open));
        // The first result is a refusal, while three others are still being opened.
        assert!(state.refused(now));
        assert_eq!(state.next(now), Next::Wait(Some(now + RAISE_AFTER)));
        state.opened();
        assert!(state.refused(now) && state.refused(now));
        assert_eq!((state.limit, state.in_use, state.opening), (1, 1, 0));
    }

    #[tokio::test]
    async fn a_server_that_refuses_all_connections_has_no_limit() {
        let (mut state, now) = (State::<u32>::new(2), Instant::now());
        for _ in 0..3 {
            assert_eq!((state.next(now), state.next(now)), (Next::Open, Next::Open));
            assert_eq!((state.refused(now), state.refused(now)), (true, false));
        }
    }
}
