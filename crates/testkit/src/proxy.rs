//! A TCP proxy that injects faults between a service and its database.

use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::{Domain, SockRef, Socket, Type};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// How the proxy treats connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Forwards bytes in both directions.
    Pass,
    /// Refuses new connections and resets existing ones.
    Refuse,
    /// Accepts connections and forwards nothing. Bytes that were sent meanwhile arrive when the mode ends.
    BlackHole,
}

#[derive(Debug, Clone, Copy)]
struct State {
    mode: Mode,
    /// When set, the next connection that sends `COMMIT` is reset as soon as the server has responded, and the response is
    /// dropped. After that, this mode applies.
    drop_commit_response: Option<Mode>,
    /// Connections of an older epoch are reset.
    epoch: u64,
}

/// The proxy. Dropping it closes all its connections.
pub struct Proxy {
    port: u16,
    state: watch::Sender<State>,
    _runtime: Runtime,
}

impl Proxy {
    /// Starts a proxy on a free port of the loopback interface to the port `upstream`. Must not be called from
    /// asynchronous code.
    ///
    /// # Panics
    /// When it cannot listen.
    #[must_use]
    pub fn start(upstream: u16) -> Self {
        let listener = listen(0).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (state, watched) = watch::channel(State { mode: Mode::Pass, drop_commit_response: None, epoch: 0 });
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        runtime.spawn(serve(listener, port, upstream, state.clone(), watched));
        Self { port, state, _runtime: runtime }
    }

    /// The port of the proxy.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Forwards bytes again.
    pub fn restore(&self) {
        self.state.send_modify(|state| state.mode = Mode::Pass);
    }

    /// Stops listening and resets all connections.
    pub fn refuse(&self) {
        self.state.send_modify(|state| state.next_epoch(Mode::Refuse));
    }

    /// Accepts connections without forwarding any bytes.
    pub fn black_hole(&self) {
        self.state.send_modify(|state| state.mode = Mode::BlackHole);
    }

    /// Resets all connections and forwards new ones.
    pub fn reset(&self) {
        self.state.send_modify(|state| state.next_epoch(Mode::Pass));
    }

    /// Forwards the next `COMMIT` and drops its response: all connections are reset instead, and new ones are forwarded.
    pub fn drop_commit_response(&self) {
        self.state.send_modify(|state| state.drop_commit_response = Some(Mode::Pass));
    }

    /// As [`Self::drop_commit_response`], and refuses new connections.
    pub fn drop_commit_response_and_refuse(&self) {
        self.state.send_modify(|state| state.drop_commit_response = Some(Mode::Refuse));
    }
}

impl State {
    /// Sets the mode and resets all connections.
    fn next_epoch(&mut self, mode: Mode) {
        *self = Self { mode, drop_commit_response: None, epoch: self.epoch + 1 };
    }
}

/// The bytes of a client's `COMMIT` and of the server's response to it.
const COMMIT: &[u8] = b"COMMIT\0";

/// Listens on a port that may have been used before.
fn listen(port: u16) -> std::io::Result<StdListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into())?;
    socket.listen(128)?;
    Ok(socket.into())
}

async fn serve(
    first: StdListener,
    port: u16,
    upstream: u16,
    control: watch::Sender<State>,
    mut state: watch::Receiver<State>,
) {
    let mut next = Some(first);
    loop {
        let bound = match next.take() {
            Some(listener) => Ok(listener),
            None => listen(port),
        };
        let Ok(listener) = bound.and_then(TcpListener::from_std) else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        while state.borrow_and_update().mode != Mode::Refuse {
            tokio::select! {
                changed = state.changed() => if changed.is_err() { return },
                accepted = listener.accept() => if let Ok((client, _)) = accepted {
                    tokio::spawn(forward(client, upstream, control.clone(), state.clone()));
                },
            }
        }
        drop(listener);
        if state.wait_for(|state| state.mode != Mode::Refuse).await.is_err() {
            return;
        }
    }
}

async fn forward(
    mut client: TcpStream,
    upstream: u16,
    control: watch::Sender<State>,
    mut state: watch::Receiver<State>,
) {
    let epoch = state.borrow().epoch;
    let is_over = |state: &State| state.epoch != epoch || state.mode != Mode::BlackHole;
    if state.wait_for(is_over).await.is_ok_and(|state| state.epoch == epoch && state.mode == Mode::Pass)
        && let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, upstream)).await
    {
        let (mut from_client, mut to_client) = client.split();
        let (mut from_server, mut to_server) = server.split();
        let committing = AtomicBool::new(false);
        let was_cut = {
            // Once a `COMMIT` whose response is to be dropped was sent, all responses of the server are dropped.
            let on_request = |bytes: &[u8]| {
                if state.borrow().drop_commit_response.is_some() && contains_commit(bytes) {
                    committing.store(true, Ordering::SeqCst);
                }
                true
            };
            let on_response = |bytes: &[u8]| {
                if committing.load(Ordering::SeqCst) && contains_commit(bytes) {
                    control.send_modify(|state| state.next_epoch(state.drop_commit_response.unwrap_or(Mode::Pass)));
                }
                !committing.load(Ordering::SeqCst)
            };
            tokio::select! {
                cut = pump(&mut from_client, &mut to_server, state.clone(), epoch, on_request) => cut,
                cut = pump(&mut from_server, &mut to_client, state.clone(), epoch, on_response) => cut,
            }
        };
        if was_cut {
            reset(&server);
            reset(&client);
        }
    } else {
        reset(&client);
    }
}

fn contains_commit(bytes: &[u8]) -> bool {
    bytes.windows(COMMIT.len()).any(|window| window == COMMIT)
}

/// Forwards the bytes that `passes` accepts until one side closes or the connection is reset. Returns whether it is to be
/// reset.
async fn pump(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    mut state: watch::Receiver<State>,
    epoch: u64,
    passes: impl Fn(&[u8]) -> bool,
) -> bool {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let now = *state.borrow_and_update();
        if now.epoch != epoch {
            return true;
        }
        if now.mode == Mode::BlackHole {
            if state.changed().await.is_err() {
                return true;
            }
            continue;
        }
        tokio::select! {
            changed = state.changed() => if changed.is_err() { return true },
            read = from.read(&mut bytes) => match read {
                Ok(read) if read > 0 => {
                    if passes(&bytes[..read]) && to.write_all(&bytes[..read]).await.is_err() {
                        return false;
                    }
                }
                _ => return false,
            },
        }
    }
}

/// Makes the stream close with a reset (RST) instead of a FIN.
fn reset(stream: &TcpStream) {
    // Fails if the stream is closed already.
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}
