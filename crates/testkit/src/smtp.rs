//! A mail server that keeps what it is sent, and fails when told to.
//!
//! It runs on threads of its own, so that waiting for it blocks nothing that it needs.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A mail as it has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The sender that MAIL named.
    pub from: String,
    /// The recipients that RCPT named and that were accepted.
    pub to: Vec<String>,
    /// The message, without the dots that were added for the way.
    pub data: Vec<u8>,
}

/// What has just come in and waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A connection.
    Connect,
    /// The name of the client, in EHLO or HELO.
    Hello(&'a str),
    /// A login, right or wrong.
    Login,
    /// The sender's address.
    From(&'a str),
    /// A recipient's address.
    To(&'a str),
    /// The wish to send the message.
    Data,
    /// The whole message.
    Message(&'a Received),
}

/// What is done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// What a server in good health would do.
    Default,
    /// This is answered, as in `550 5.1.1 No such user`. With 4xx or 5xx it is a refusal.
    Custom(&'static str),
    /// Nothing is answered for this long, and then as usual.
    Stall(Duration),
    /// The connection is closed without an answer. A message that had arrived is kept or not.
    HangUp {
        /// Whether the message counts as received.
        keep: bool,
    },
}

/// How the server is set up.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The user and password without which no mail is taken.
    pub login: Option<(String, String)>,
    /// The ways to log in that are offered, `PLAIN LOGIN` when empty.
    pub mechanisms: &'static str,
    /// Certificate and key (PKCS #8), both in DER: with them, STARTTLS is offered.
    pub certificate: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether TLS begins with the first byte instead.
    pub is_implicit: bool,
    /// Whether addresses must be in ASCII (no `SMTPUTF8`).
    pub is_ascii_only: bool,
}

type Script = Arc<dyn Fn(&Step<'_>) -> Reply + Send + Sync>;

struct State {
    received: Vec<Received>,
    script: Script,
    /// Streams of the connections that there are, to cut them.
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

/// The server. Dropping it ends all its connections.
pub struct Sink {
    port: u16,
    shared: Arc<Shared>,
    acceptor: Mutex<Option<JoinHandle<()>>>,
}

impl Sink {
    /// A server on a free port of the loopback interface that takes all mail.
    #[must_use]
    pub fn start() -> Self {
        Self::with_setup(Setup::default())
    }

    /// A server that is set up otherwise.
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
        Self { port, shared, acceptor }
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it listens, as a URL without a login.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.shared.setup.is_implicit { "smtps" } else { "smtp" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// Answers by this from now on.
    pub fn script(&self, script: impl Fn(&Step<'_>) -> Reply + Send + Sync + 'static) {
        self.shared.state().script = Arc::new(script);
    }

    /// The mails that have arrived, in their order.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.shared.state().received.clone()
    }

    /// How many mails have arrived.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shared.state().received.len()
    }

    /// How many connections were made so far.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.shared.state().connections
    }

    /// Waits until `count` mails have arrived. Returns whether they have within the limit.
    #[must_use]
    pub fn wait_for(&self, count: usize, limit: Duration) -> bool {
        self.shared.wait(limit, |state| state.received.len() >= count)
    }

    /// Refuses connections, and cuts those that there are.
    pub fn stop(&self) {
        let acceptor = self.acceptor();
        self.close(acceptor);
    }

    /// Listens again, on the same port, after [`Self::stop`].
    pub fn restart(&self) {
        let mut acceptor = self.acceptor();
        if acceptor.is_some() {
            return;
        }
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let give_up = Instant::now() + Duration::from_secs(10);
        // Somebody's outgoing connection may have the port for a moment.
        let listener = loop {
            match TcpListener::bind(address) {
                Ok(listener) => break listener,
                Err(error) => assert!(Instant::now() < give_up, "cannot listen on {address} again: {error}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
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
                // One that has ended already cannot be cut.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.shared.changed.notify_all();
        if let Some(thread) = acceptor.take() {
            // Wakes it: it looks whether it is to end at each connection.
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
                // A client that goes away, or is sent away, has nobody to be told.
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
    /// What TLS is put onto.
    tcp: &'a TcpStream,
    line: BufReader<Box<dyn DuplexStream>>,
    is_encrypted: bool,
    is_logged_in: bool,
    mail: Option<Received>,
}

/// Whether the connection goes on.
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
        let mut goes = self.respond(&Step::Connect, "220 sink.example ESMTP")? != StepOutcome::Closed;
        while goes {
            let Some(line) = self.read_line()? else { return Ok(()) };
            goes = self.command(&line)?;
        }
        Ok(())
    }

    fn command(&mut self, line: &str) -> ContinueResult {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb.to_ascii_uppercase().as_str() {
            "EHLO" | "HELO" => {
                self.mail = None;
                let answer = self.greeting();
                Ok(self.respond(&Step::Hello(rest), &answer)? != StepOutcome::Closed)
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
                let given = if first.is_empty() { self.challenge("334 ")? } else { Some(first.to_owned()) };
                given == Some(base64(format!("\0{user}\0{password}").as_bytes()))
            }
            "LOGIN" => {
                let name = if first.is_empty() { self.challenge("334 VXNlcm5hbWU6")? } else { Some(first.to_owned()) };
                let secret = self.challenge("334 UGFzc3dvcmQ6")?;
                name == Some(base64(user.as_bytes())) && secret == Some(base64(password.as_bytes()))
            }
            _ => return self.send_line("504 5.5.4 No such mechanism"),
        };
        let usual = if is_right { "235 2.7.0 Welcome" } else { "535 5.7.8 Wrong user or password" };
        let went = self.respond(&Step::Login, usual)?;
        self.is_logged_in = is_right && went == StepOutcome::Accepted;
        Ok(went != StepOutcome::Closed)
    }

    fn challenge(&mut self, challenge: &str) -> Result<Option<String>> {
        self.send_line(challenge)?;
        self.read_line()
    }

    fn mail(&mut self, rest: &str) -> ContinueResult {
        let Some(from) = address(rest) else { return self.send_line("501 5.5.4 MAIL FROM:<address>") };
        if self.mail.is_some() {
            return self.send_line("503 5.5.1 There is a mail already");
        }
        if self.shared.setup.is_ascii_only && !rest.is_ascii() {
            return self.send_line("553 5.6.7 Not in ASCII");
        }
        let goes = self.respond(&Step::From(&from), "250 2.1.0 Sender accepted")?;
        if goes == StepOutcome::Accepted {
            self.mail = Some(Received { from, to: Vec::new(), data: Vec::new() });
        }
        Ok(goes != StepOutcome::Closed)
    }

    fn recipient(&mut self, rest: &str) -> ContinueResult {
        let Some(to) = address(rest) else { return self.send_line("501 5.1.3 RCPT TO:<address>") };
        if self.mail.is_none() {
            return self.send_line("503 5.5.1 MAIL comes first");
        }
        let goes = self.respond(&Step::To(&to), "250 2.1.5 Recipient accepted")?;
        if let (StepOutcome::Accepted, Some(mail)) = (goes, &mut self.mail) {
            mail.to.push(to);
        }
        Ok(goes != StepOutcome::Closed)
    }

    fn data(&mut self) -> ContinueResult {
        if self.mail.as_ref().is_none_or(|mail| mail.to.is_empty()) {
            return self.send_line("503 5.5.1 RCPT comes first");
        }
        match self.respond(&Step::Data, "354 Go ahead")? {
            StepOutcome::Accepted => {}
            goes => return Ok(goes != StepOutcome::Closed),
        }
        let data = self.message()?;
        let Some(mut mail) = self.mail.take() else { return Ok(false) };
        mail.data = data;
        let reply = self.scripted_reply(&Step::Message(&mail));
        let (answer, is_kept) = match reply {
            Reply::Default => (Some("250 2.0.0 Taken"), true),
            Reply::Custom(line) => (Some(line), !is_error_reply(line)),
            Reply::Stall(time) => {
                self.stall(time)?;
                (Some("250 2.0.0 Taken"), true)
            }
            Reply::HangUp { keep } => (None, keep),
        };
        if is_kept {
            // Before the answer: who has it finds the mail here.
            self.shared.state().received.push(mail);
            self.shared.changed.notify_all();
        }
        answer.map_or(Ok(false), |answer| self.send_line(answer))
    }

    /// The lines up to the one with only a dot.
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

    /// Answers what the script wants, else what is usual.
    fn respond(&mut self, step: &Step<'_>, usual: &str) -> Result<StepOutcome> {
        match self.scripted_reply(step) {
            Reply::Default => self.send_line(usual)?,
            Reply::Custom(line) => {
                self.send_line(line)?;
                if is_error_reply(line) {
                    return Ok(StepOutcome::Rejected);
                }
                true
            }
            Reply::Stall(time) => {
                self.stall(time)?;
                self.send_line(usual)?
            }
            Reply::HangUp { .. } => return Ok(StepOutcome::Closed),
        };
        Ok(if is_error_reply(usual) { StepOutcome::Rejected } else { StepOutcome::Accepted })
    }

    fn scripted_reply(&self, step: &Step<'_>) -> Reply {
        // Not under the lock: a script may ask the sink.
        let script = Arc::clone(&self.shared.state().script);
        script(step)
    }

    /// Waits without an answer, unless the server is stopped meanwhile.
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

    /// A line without its end; `None` when the client has gone.
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

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepOutcome {
    /// It was accepted.
    Accepted,
    /// It was refused, and the connection goes on.
    Rejected,
    /// The connection is over.
    Closed,
}

fn is_error_reply(line: &str) -> bool {
    line.starts_with(['4', '5'])
}

/// What stands between the angle brackets of `FROM:<…>` and `TO:<…>`.
fn address(rest: &str) -> Option<String> {
    let (_, rest) = rest.split_once('<')?;
    // Parameters come after the last bracket and have none.
    rest.rsplit_once('>').map(|(address, _)| address.to_owned())
}

/// Base64 (RFC 4648 section 4): a crate for this one use is not worth its place in the list.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let bits = part.iter().fold(0, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - part.len()));
        for place in 0..4 {
            let is_there = place <= part.len();
            text.push(if is_there { char::from(DIGITS[bits >> (18 - 6 * place) & 63]) } else { '=' });
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
    fn dots_that_were_added_are_taken_away() {
        let sink = Sink::start();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, sink.port())).unwrap();
        let said =
            "EHLO me\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<c@d.example>\r\nDATA\r\nA: b\r\n\r\n..x\r\n.\r\nQUIT\r\n";
        stream.write_all(said.as_bytes()).unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).unwrap();
        assert!(answers.ends_with("250 2.0.0 Taken\r\n221 2.0.0 Goodbye\r\n"), "{answers}");
        let expected = Received {
            from: "a@b.example".to_owned(),
            to: vec!["c@d.example".to_owned()],
            data: b"A: b\r\n\r\n.x\r\n".to_vec(),
        };
        assert_eq!(sink.received(), [expected]);
    }
}
