//! A TCP proxy that can be told to fail, to stand between a service and its database.

use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use socket2::{Domain, SockRef, Socket, Type};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// What becomes of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Bytes go both ways.
    Pass,
    /// Nobody listens, and who was connected is no more.
    Refuse,
    /// Connections are made, and nothing comes through them in either way. What was sent meanwhile
    /// arrives when the mode is over.
    BlackHole,
}

#[derive(Debug, Clone, Copy)]
struct State {
    mode: Mode,
    /// The next connection that sends `COMMIT` is reset when the server has answered it, and the answer is lost. Then
    /// this is the mode.
    drop_commit_response: Option<Mode>,
    /// Connections of an older epoch are reset.
    epoch: u64,
}

/// The proxy. Dropping it ends all its connections.
pub struct Proxy {
    port: u16,
    state: watch::Sender<State>,
    _runtime: Runtime,
}

impl Proxy {
    /// A proxy on a free port of the loopback interface to another port of it.
    ///
    /// # Panics
    /// When it cannot listen. Not to be called from asynchronous code.
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

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Lets bytes through (again).
    pub fn restore(&self) {
        self.state.send_modify(|state| state.mode = Mode::Pass);
    }

    /// Stops listening and resets all connections.
    pub fn refuse(&self) {
        self.state.send_modify(|state| state.next_epoch(Mode::Refuse));
    }

    /// Goes on listening and lets nothing through.
    pub fn black_hole(&self) {
        self.state.send_modify(|state| state.mode = Mode::BlackHole);
    }

    /// Resets all connections; new ones are served.
    pub fn reset(&self) {
        self.state.send_modify(|state| state.next_epoch(Mode::Pass));
    }

    /// Passes the next `COMMIT` on and loses its answer: the connection is reset instead, as all others are, and new
    /// ones are served.
    pub fn drop_commit_response(&self) {
        self.state.send_modify(|state| state.drop_commit_response = Some(Mode::Pass));
    }

    /// As [`Self::drop_commit_response`], and then nobody listens.
    pub fn drop_commit_response_and_refuse(&self) {
        self.state.send_modify(|state| state.drop_commit_response = Some(Mode::Refuse));
    }
}

impl State {
    /// All connections are reset.
    fn next_epoch(&mut self, mode: Mode) {
        *self = Self { mode, drop_commit_response: None, epoch: self.epoch + 1 };
    }
}

/// How PostgreSQL's clients end a transaction, and how the server says that it has.
const COMMIT: &[u8] = b"COMMIT\0";

/// Listens on a port that it may have listened on before.
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
            // Armed by a `COMMIT` while one is to be cut: from then on the server's answers are lost.
            let on_request = |bytes: &[u8]| {
                if state.borrow().drop_commit_response.is_some() && contains_commit(bytes) {
                    committing.store(true, Ordering::SeqCst);
                }
                true
            };
            let on_answer = |bytes: &[u8]| {
                if committing.load(Ordering::SeqCst) && contains_commit(bytes) {
                    control.send_modify(|state| state.next_epoch(state.drop_commit_response.unwrap_or(Mode::Pass)));
                }
                !committing.load(Ordering::SeqCst)
            };
            tokio::select! {
                cut = pump(&mut from_client, &mut to_server, state.clone(), epoch, on_request) => cut,
                cut = pump(&mut from_server, &mut to_client, state.clone(), epoch, on_answer) => cut,
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

/// Copies what `passes` until one side ends, or until the connection is cut. Returns whether it was cut.
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

/// Lets the stream end with a reset instead of a goodbye.
fn reset(stream: &TcpStream) {
    // One that has ended already cannot be told.
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}
