//! A mail server that records mails and gives scripted replies.
//!
//! It runs on its own threads, so that a test may block while it waits for the server.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tokio::net::TcpSocket;

/// A received mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The sender of MAIL.
    pub from: String,
    /// The accepted recipients of RCPT.
    pub to: Vec<String>,
    /// The message without dot-stuffing.
    pub data: Vec<u8>,
}

/// A step of the dialog that needs a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A connection.
    Connect,
    /// The name of the client, in EHLO or HELO.
    Hello(&'a str),
    /// A login with right or wrong credentials.
    Login,
    /// The sender's address.
    From(&'a str),
    /// A recipient's address.
    To(&'a str),
    /// The command DATA.
    Data,
    /// The complete message.
    Message(&'a Received),
}

/// The server's reply to a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The normal reply.
    Default,
    /// This line, for example `550 5.1.1 No such user`. 4xx and 5xx reject the step.
    Custom(&'static str),
    /// The normal reply after a delay.
    Stall(Duration),
    /// No reply: the connection is closed.
    HangUp {
        /// Whether a complete message counts as received.
        keep: bool,
    },
}

/// Options of the server.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The user and password that are required to send mail.
    pub login: Option<(String, String)>,
    /// The offered AUTH mechanisms, `PLAIN LOGIN` when empty.
    pub mechanisms: &'static str,
    /// Certificate and key (PKCS #8), both in DER. With them the server offers STARTTLS.
    pub certificate: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether TLS begins with the first byte, instead of STARTTLS.
    pub is_implicit: bool,
    /// Whether addresses must be ASCII (no `SMTPUTF8`).
    pub is_ascii_only: bool,
}

type Script = Arc<dyn Fn(&Step<'_>) -> Reply + Send + Sync>;

struct State {
    received: Vec<Received>,
    script: Script,
    /// Streams of the open connections, to close them.
    streams: HashMap<u64, TcpStream>,
    connections: u64,
    is_stopped: bool,
}

struct Shared {
    setup: Setup,
    tls: Option<Arc<ServerConfig>>,
    state: Mutex<State>,
    changed: Condvar,
}

/// The server. Dropping it closes all its connections.
pub struct Sink {
    port: u16,
    shared: Arc<Shared>,
    acceptor: Mutex<Option<JoinHandle<()>>>,
    /// Keeps the port while nobody listens.
    reserved: Mutex<Option<TcpSocket>>,
}

impl Sink {
    /// Starts a server on a free port of the loopback interface that accepts all mail.
    #[must_use]
    pub fn start() -> Self {
        Self::with_setup(Setup::default())
    }

    /// Starts a server with other options.
    #[must_use]
    pub fn with_setup(setup: Setup) -> Self {
        let tls = setup.certificate.clone().map(|(certificate, key)| {
            let key = PrivateKeyDer::Pkcs8(key.into());
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
            let config = config.expect("protocol versions").with_no_client_auth();
            Arc::new(config.with_single_cert(vec![CertificateDer::from(certificate)], key).expect("a certificate"))
        });
        let state = State {
            received: Vec::new(),
            script: Arc::new(|_| Reply::Default),
            streams: HashMap::new(),
            connections: 0,
            is_stopped: false,
        };
        let shared = Arc::new(Shared { setup, tls, state: Mutex::new(state), changed: Condvar::new() });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let acceptor = Mutex::new(Some(accept(listener, Arc::clone(&shared))));
        Self { port, shared, acceptor, reserved: Mutex::new(None) }
    }

    /// The port of the server.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of the server, without a login.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.shared.setup.is_implicit { "smtps" } else { "smtp" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// Sets the script that chooses the replies from now on.
    pub fn script(&self, script: impl Fn(&Step<'_>) -> Reply + Send + Sync + 'static) {
        self.shared.state().script = Arc::new(script);
    }

    /// The received mails, in order.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.shared.state().received.clone()
    }

    /// The number of received mails.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shared.state().received.len()
    }

    /// The number of connections so far.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.shared.state().connections
    }

    /// Waits until `count` mails are received. Returns whether that happened within the limit.
    #[must_use]
    pub fn wait_for(&self, count: usize, limit: Duration) -> bool {
        self.shared.wait(limit, |state| state.received.len() >= count)
    }

    /// Stops listening and closes all connections.
    pub fn stop(&self) {
        let acceptor = self.acceptor();
        self.close(acceptor);
        // A socket that does not listen refuses connections, and keeps servers of other tests off the port.
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("an option");
        if socket.bind((Ipv4Addr::LOCALHOST, self.port).into()).is_ok() {
            *self.reserved.lock().unwrap_or_else(PoisonError::into_inner) = Some(socket);
        }
    }

    /// Listens again, on the same port, after [`Self::stop`].
    pub fn restart(&self) {
        let mut acceptor = self.acceptor();
        if acceptor.is_some() {
            return;
        }
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let give_up = Instant::now() + Duration::from_secs(10);
        // An outgoing connection of another process may use the port for a short time.
        let listener = loop {
            match TcpListener::bind(address) {
                Ok(listener) => break listener,
                Err(error) => assert!(Instant::now() < give_up, "cannot listen on {address} again: {error}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.shared.state().is_stopped = false;
        *acceptor = Some(accept(listener, Arc::clone(&self.shared)));
    }

    fn acceptor(&self) -> MutexGuard<'_, Option<JoinHandle<()>>> {
        self.acceptor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, mut acceptor: MutexGuard<'_, Option<JoinHandle<()>>>) {
        {
            let mut state = self.shared.state();
            state.is_stopped = true;
            for stream in state.streams.values() {
                // Fails if the stream is closed already.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.shared.changed.notify_all();
        if let Some(thread) = acceptor.take() {
            // Wakes the thread, which checks after each connection whether it has to stop.
            let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
            let _ = thread.join();
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let acceptor = self.acceptor();
        self.close(acceptor);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, limit: Duration, is_over: impl Fn(&State) -> bool) -> bool {
        let waited = self.changed.wait_timeout_while(self.state(), limit, |state| !is_over(state));
        is_over(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }
}

fn accept(listener: TcpListener, shared: Arc<Shared>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            let number = {
                let mut state = shared.state();
                if state.is_stopped {
                    return;
                }
                state.connections += 1;
                let number = state.connections;
                state.streams.insert(number, stream.try_clone().expect("a handle"));
                number
            };
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || {
                // Errors of closed connections are ignored.
                let _ = Session::new(&shared, &stream).and_then(|mut session| session.serve());
                let _ = stream.shutdown(Shutdown::Both);
                shared.state().streams.remove(&number);
            });
        }
    })
}

/// A stream, encrypted or not.
trait DuplexStream: Read + Write {}
impl<T: Read + Write> DuplexStream for T {}

struct Session<'a> {
    shared: &'a Shared,
    /// The TCP stream below TLS.
    tcp: &'a TcpStream,
    line: BufReader<Box<dyn DuplexStream>>,
    is_encrypted: bool,
    is_logged_in: bool,
    mail: Option<Received>,
}

/// Whether the connection stays open.
type ContinueResult = Result<bool>;

impl<'a> Session<'a> {
    fn new(shared: &'a Shared, tcp: &'a TcpStream) -> Result<Self> {
        tcp.set_nodelay(true)?;
        let mut session = Self {
            shared,
            tcp,
            line: BufReader::new(Box::new(tcp.try_clone()?)),
            is_encrypted: false,
            is_logged_in: shared.setup.login.is_none(),
            mail: None,
        };
        if shared.setup.is_implicit {
            session.start_tls()?;
        }
        Ok(session)
    }

    fn serve(&mut self) -> Result<()> {
        let mut is_open = self.respond(&Step::Connect, "220 sink.example ESMTP")? != StepOutcome::Closed;
        while is_open {
            let Some(line) = self.read_line()? else { return Ok(()) };
            is_open = self.command(&line)?;
        }
        Ok(())
    }

    fn command(&mut self, line: &str) -> ContinueResult {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb.to_ascii_uppercase().as_str() {
            "EHLO" | "HELO" => {
                self.mail = None;
                let greeting = self.greeting();
                Ok(self.respond(&Step::Hello(rest), &greeting)? != StepOutcome::Closed)
            }
            "STARTTLS" if self.shared.tls.is_some() && !self.is_encrypted => {
                self.send_line("220 2.0.0 Go ahead")?;
                self.start_tls()?;
                Ok(true)
            }
            "AUTH" if self.shared.setup.login.is_some() => self.login(rest),
            "MAIL" if !self.is_logged_in => self.send_line("530 5.7.0 Authentication required"),
            "MAIL" => self.mail(rest),
            "RCPT" => self.recipient(rest),
            "DATA" => self.data(),
            "RSET" => {
                self.mail = None;
                self.send_line("250 2.0.0 Reset")
            }
            "NOOP" => self.send_line("250 2.0.0 Still here"),
            "QUIT" => self.send_line("221 2.0.0 Goodbye").map(|_| false),
            _ => self.send_line("502 5.5.1 No such command"),
        }
    }

    fn greeting(&self) -> String {
        let setup = &self.shared.setup;
        let mut lines = vec!["sink.example".to_owned(), "8BITMIME".to_owned(), "ENHANCEDSTATUSCODES".to_owned()];
        if !setup.is_ascii_only {
            lines.push("SMTPUTF8".to_owned());
        }
        if self.shared.tls.is_some() && !self.is_encrypted {
            lines.push("STARTTLS".to_owned());
        }
        if setup.login.is_some() {
            let mechanisms = if setup.mechanisms.is_empty() { "PLAIN LOGIN" } else { setup.mechanisms };
            lines.push(format!("AUTH {mechanisms}"));
        }
        let last = lines.pop().unwrap_or_default();
        let mut greeting: String = lines.iter().map(|line| format!("250-{line}\r\n")).collect();
        greeting.push_str(&format!("250 {last}"));
        greeting
    }

    fn login(&mut self, how: &str) -> ContinueResult {
        let (user, password) = self.shared.setup.login.clone().unwrap_or_default();
        let (mechanism, first) = how.split_once(' ').unwrap_or((how, ""));
        let is_right = match mechanism.to_ascii_uppercase().as_str() {
            "PLAIN" => {
                let credentials = if first.is_empty() { self.challenge("334 ")? } else { Some(first.to_owned()) };
                credentials == Some(base64(format!("\0{user}\0{password}").as_bytes()))
            }
            "LOGIN" => {
                let name = if first.is_empty() { self.challenge("334 VXNlcm5hbWU6")? } else { Some(first.to_owned()) };
                let secret = self.challenge("334 UGFzc3dvcmQ6")?;
                name == Some(base64(user.as_bytes())) && secret == Some(base64(password.as_bytes()))
            }
            _ => return self.send_line("504 5.5.4 No such mechanism"),
        };
        let default = if is_right { "235 2.7.0 Welcome" } else { "535 5.7.8 Wrong user or password" };
        let outcome = self.respond(&Step::Login, default)?;
        self.is_logged_in = is_right && outcome == StepOutcome::Accepted;
        Ok(outcome != StepOutcome::Closed)
    }

    fn challenge(&mut self, challenge: &str) -> Result<Option<String>> {
        self.send_line(challenge)?;
        self.read_line()
    }

    fn mail(&mut self, rest: &str) -> ContinueResult {
        let Some(from) = address(rest) else { return self.send_line("501 5.5.4 MAIL FROM:<address>") };
        if self.mail.is_some() {
            return self.send_line("503 5.5.1 Nested MAIL command");
        }
        if self.shared.setup.is_ascii_only && !rest.is_ascii() {
            return self.send_line("553 5.6.7 Not in ASCII");
        }
        let outcome = self.respond(&Step::From(&from), "250 2.1.0 Sender accepted")?;
        if outcome == StepOutcome::Accepted {
            self.mail = Some(Received { from, to: Vec::new(), data: Vec::new() });
        }
        Ok(outcome != StepOutcome::Closed)
    }

    fn recipient(&mut self, rest: &str) -> ContinueResult {
        let Some(to) = address(rest) else { return self.send_line("501 5.1.3 RCPT TO:<address>") };
        if self.mail.is_none() {
            return self.send_line("503 5.5.1 MAIL comes first");
        }
        let outcome = self.respond(&Step::To(&to), "250 2.1.5 Recipient accepted")?;
        if let (StepOutcome::Accepted, Some(mail)) = (outcome, &mut self.mail) {
            mail.to.push(to);
        }
        Ok(outcome != StepOutcome::Closed)
    }

    fn data(&mut self) -> ContinueResult {
        if self.mail.as_ref().is_none_or(|mail| mail.to.is_empty()) {
            return self.send_line("503 5.5.1 RCPT comes first");
        }
        match self.respond(&Step::Data, "354 Go ahead")? {
            StepOutcome::Accepted => {}
            outcome => return Ok(outcome != StepOutcome::Closed),
        }
        let data = self.message()?;
        let Some(mut mail) = self.mail.take() else { return Ok(false) };
        mail.data = data;
        let (line, is_accepted) = match self.scripted_reply(&Step::Message(&mail)) {
            Reply::Default => (Some("250 2.0.0 Accepted"), true),
            Reply::Custom(line) => (Some(line), !is_error_reply(line)),
            Reply::Stall(time) => {
                self.stall(time)?;
                (Some("250 2.0.0 Accepted"), true)
            }
            Reply::HangUp { keep } => (None, keep),
        };
        if is_accepted {
            // Before the reply, so that a client with the reply finds the mail here.
            self.shared.state().received.push(mail);
            self.shared.changed.notify_all();
        }
        line.map_or(Ok(false), |line| self.send_line(line))
    }

    /// Reads the message up to the line that contains only a dot.
    fn message(&mut self) -> Result<Vec<u8>> {
        let mut data = Vec::new();
        loop {
            let start = data.len();
            if self.line.read_until(b'\n', &mut data)? == 0 {
                return Err(Error::other("the message does not end"));
            }
            if &data[start..] == b".\r\n" {
                data.truncate(start);
                return Ok(data);
            }
            if data[start] == b'.' {
                data.remove(start);
            }
        }
    }

    /// Sends the scripted reply, or the default reply without one.
    fn respond(&mut self, step: &Step<'_>, default: &str) -> Result<StepOutcome> {
        match self.scripted_reply(step) {
            Reply::Default => self.send_line(default)?,
            Reply::Custom(line) => {
                self.send_line(line)?;
                if is_error_reply(line) {
                    return Ok(StepOutcome::Rejected);
                }
                true
            }
            Reply::Stall(time) => {
                self.stall(time)?;
                self.send_line(default)?
            }
            Reply::HangUp { .. } => return Ok(StepOutcome::Closed),
        };
        Ok(if is_error_reply(default) { StepOutcome::Rejected } else { StepOutcome::Accepted })
    }

    fn scripted_reply(&self, step: &Step<'_>) -> Reply {
        // Outside of the lock, because a script may use the sink.
        let script = Arc::clone(&self.shared.state().script);
        script(step)
    }

    /// Waits for the given time. Fails if the server is stopped meanwhile.
    fn stall(&self, time: Duration) -> Result<()> {
        if self.shared.wait(time, |state| state.is_stopped) {
            return Err(Error::other("stopped"));
        }
        Ok(())
    }

    fn send_line(&mut self, line: &str) -> ContinueResult {
        let stream = self.line.get_mut();
        stream.write_all(format!("{line}\r\n").as_bytes())?;
        stream.flush()?;
        Ok(true)
    }

    /// Reads a line without its line ending. Returns `None` when the client has disconnected.
    fn read_line(&mut self) -> Result<Option<String>> {
        let mut line = String::new();
        if self.line.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()))
    }

    fn start_tls(&mut self) -> Result<()> {
        let config = self.shared.tls.clone().ok_or_else(|| Error::other("there is no certificate"))?;
        let session = ServerConnection::new(config).map_err(Error::other)?;
        self.line = BufReader::new(Box::new(StreamOwned::new(session, self.tcp.try_clone()?)));
        self.is_encrypted = true;
        Ok(())
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepOutcome {
    /// The step was accepted.
    Accepted,
    /// The step was rejected, and the connection stays open.
    Rejected,
    /// The connection is closed.
    Closed,
}

fn is_error_reply(line: &str) -> bool {
    line.starts_with(['4', '5'])
}

/// The address between the angle brackets of `FROM:<…>` and `TO:<…>`.
fn address(rest: &str) -> Option<String> {
    let (_, rest) = rest.split_once('<')?;
    // Parameters follow the last bracket and contain no brackets.
    rest.rsplit_once('>').map(|(address, _)| address.to_owned())
}

/// Encodes Base64 (RFC 4648 section 4), to avoid a dependency for this one use.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let bits = part.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - part.len()));
        for digit in 0..4 {
            let is_padding = digit > part.len();
            text.push(if is_padding { '=' } else { char::from(DIGITS[bits >> (18 - 6 * digit) & 63]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_padded() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn addresses_end_at_their_bracket() {
        assert_eq!(address("FROM:<a@b.example> SMTPUTF8"), Some("a@b.example".to_owned()));
        assert_eq!(address("TO:<\"a>b\"@c.example>"), Some("\"a>b\"@c.example".to_owned()));
        assert_eq!(address("FROM:a@b.example"), None);
    }

    #[test]
    fn dot_stuffing_is_removed() {
        let sink = Sink::start();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, sink.port())).unwrap();
        let commands =
            "EHLO me\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<c@d.example>\r\nDATA\r\nA: b\r\n\r\n..x\r\n.\r\nQUIT\r\n";
        stream.write_all(commands.as_bytes()).unwrap();
        let mut replies = String::new();
        stream.read_to_string(&mut replies).unwrap();
        assert!(replies.ends_with("250 2.0.0 Accepted\r\n221 2.0.0 Goodbye\r\n"), "{replies}");
        let expected = Received {
            from: "a@b.example".to_owned(),
            to: vec!["c@d.example".to_owned()],
            data: b"A: b\r\n\r\n.x\r\n".to_vec(),
        };
        assert_eq!(sink.received(), [expected]);
    }
}
