//! An HTTP/1.1 server that records all requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A received request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Method and path, for example `POST /v1/traces`.
    pub line: String,
    /// Headers in lower case, for example `content-type: application/json`.
    pub headers: Vec<String>,
    pub body: Vec<u8>,
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<Request>>,
    changed: Condvar,
}

/// The server. It responds to every request with an empty 200, and stops with the process of the test.
pub struct HttpSink {
    port: u16,
    shared: Arc<Shared>,
}

impl HttpSink {
    /// Starts a server on a free port of the loopback interface.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared::default());
        let requests = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let requests = Arc::clone(&requests);
                // Errors of aborted connections are ignored.
                thread::spawn(move || serve(stream, &requests).unwrap_or_default());
            }
        });
        Self { port, shared }
    }

    /// The URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The requests received so far.
    #[must_use]
    pub fn received(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until `is_enough` holds for the received requests, or until the time limit. Returns whether it holds.
    pub fn wait_until(&self, limit: Duration, is_enough: impl Fn(&[Request]) -> bool) -> bool {
        let requests = self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.shared.changed.wait_timeout_while(requests, limit, |requests| !is_enough(requests));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            match line.trim_end() {
                "" => break,
                line => lines.push(line.to_owned()),
            }
        }
        let Some((line, headers)) = lines.split_first() else { continue };
        let headers: Vec<String> = headers.iter().map(|header| header.to_lowercase()).collect();
        let length = headers.iter().find_map(|header| header.strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        let line = line.strip_suffix(" HTTP/1.1").unwrap_or(line).to_owned();
        shared.requests.lock().unwrap_or_else(PoisonError::into_inner).push(Request { line, headers, body });
        shared.changed.notify_all();
        writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
    }
}
