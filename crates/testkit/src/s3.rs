//! S3 for tests: moto's server, which keeps objects in memory, in a Python environment that is made
//! once below `target`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use crate::python;

/// What is installed.
const REQUIREMENT: &str = "moto[server,s3]==5.2.5";

/// The bucket that a server begins with.
const BUCKET: &str = "roadmap-test";

/// How long a server may take to start, and to answer.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Tells the port that the system chose. Ends with its standard input, that is with the test's
/// process, however that ends.
const PROGRAM: &str = r#"
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"#;

/// A server with one bucket, on a free port of the loopback interface. Dropping it ends it.
pub struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// One that all tests of a process share: each takes a prefix of its own.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(Self::start)
    }

    /// Starts a server.
    ///
    /// # Panics
    /// When Python or the package is missing and cannot be installed: a test that needs S3 fails
    /// without it.
    #[must_use]
    pub fn start() -> Self {
        let programs = python::environment("moto", REQUIREMENT);
        let python = programs.unwrap_or_else(|problem| panic!("the tests of S3: {problem}")).join("python");
        let mut command = Command::new(&python);
        command.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap_or_else(|error| panic!("{} cannot be run: {error}", python.display()));
        let output = BufReader::new(process.stdout.take().expect("its output"));
        let (sender, receiver) = mpsc::channel();
        // Reading cannot be given up on, waiting for who reads can.
        std::thread::spawn(move || sender.send(output.lines().next()));
        let line = receiver.recv_timeout(START_TIMEOUT);
        let mut server = Self { process, port: 0 };
        let Ok(Some(Ok(port))) = line else { panic!("moto's server does not start") };
        server.port = port.parse().expect("a port");
        let (status, answer) = server.request("PUT", &format!("/{BUCKET}"), &[]);
        assert_eq!(status, 200, "moto makes no bucket: {answer}");
        server
    }

    /// The URL of a place in the bucket: `s3://bucket/prefix`.
    #[must_use]
    pub fn url(&self, prefix: &str) -> String {
        format!("s3://{BUCKET}/{prefix}")
    }

    /// The endpoint that clients speak to.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What a process's environment says about the server.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        environment(&self.endpoint())
    }

    /// Puts an object beside those of the service.
    ///
    /// # Panics
    /// When the server does not take it.
    pub fn put(&self, key: &str, content: &[u8]) {
        let (status, answer) = self.request("PUT", &format!("/{BUCKET}/{key}"), content);
        assert_eq!(status, 200, "{answer}");
    }

    /// How many uploads in parts below a prefix are neither finished nor aborted.
    ///
    /// # Panics
    /// When the server does not tell.
    #[must_use]
    pub fn unfinished_uploads(&self, prefix: &str) -> usize {
        let (status, answer) = self.request("GET", &format!("/{BUCKET}?uploads"), &[]);
        assert_eq!(status, 200, "{answer}");
        answer.matches(&format!("<Key>{prefix}/")).count()
    }

    /// One request without credentials, which moto does not ask for.
    fn request(&self, method: &str, target: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("moto listens");
        stream.set_read_timeout(Some(START_TIMEOUT)).expect("a limit");
        let length = body.len();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).expect("moto reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("moto answers");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split_whitespace().nth(1).and_then(|status| status.parse().ok());
        (status.expect("a status"), answer)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a process's environment says about an S3 at this endpoint, with keys that moto takes.
#[must_use]
pub fn environment(endpoint: &str) -> Vec<(String, String)> {
    [
        ("AWS_ACCESS_KEY_ID", "testing"),
        ("AWS_SECRET_ACCESS_KEY", "testing"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", endpoint),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}
