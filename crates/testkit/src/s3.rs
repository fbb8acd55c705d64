//! S3 for tests: moto's server, which keeps objects in memory, in a Python environment below `target`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use crate::python;

/// The Python package of the server.
const REQUIREMENT: &str = "moto[server,s3]==5.2.5";

/// The bucket of every server.
const BUCKET: &str = "roadmap-test";

/// Time limit for starting a server and for each response.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Starts the server and prints the port that the system chose. It stops when its standard input is closed, that is with
/// the process of the test.
const PROGRAM: &str = r#"
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"#;

/// A server with one bucket, on a free port of the loopback interface. Dropping it stops the server.
pub struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// The server that all tests of a process share. Each test uses its own prefix.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(Self::start)
    }

    /// Starts a server.
    ///
    /// # Panics
    /// When Python or the package is missing and cannot be installed.
    #[must_use]
    pub fn start() -> Self {
        let programs = python::environment("moto", REQUIREMENT);
        let python = programs.unwrap_or_else(|problem| panic!("the tests of S3: {problem}")).join("python");
        let mut command = Command::new(&python);
        command.args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap_or_else(|error| panic!("{} cannot be run: {error}", python.display()));
        let output = BufReader::new(process.stdout.take().expect("its output"));
        let (sender, receiver) = mpsc::channel();
        // Reading has no timeout, so a separate thread reads.
        std::thread::spawn(move || sender.send(output.lines().next()));
        let line = receiver.recv_timeout(START_TIMEOUT);
        let mut server = Self { process, port: 0 };
        let Ok(Some(Ok(port))) = line else { panic!("moto's server does not start") };
        server.port = port.parse().expect("a port");
        let (status, response) = server.request("PUT", &format!("/{BUCKET}"), &[]);
        assert_eq!(status, 200, "moto cannot create the bucket: {response}");
        server
    }

    /// The URL of a prefix in the bucket: `s3://bucket/prefix`.
    #[must_use]
    pub fn url(&self, prefix: &str) -> String {
        format!("s3://{BUCKET}/{prefix}")
    }

    /// The URL of the endpoint.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The environment variables of a client of the server.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        environment(&self.endpoint())
    }

    /// Puts an object into the bucket.
    ///
    /// # Panics
    /// When the server rejects it.
    pub fn put(&self, key: &str, content: &[u8]) {
        let (status, response) = self.request("PUT", &format!("/{BUCKET}/{key}"), content);
        assert_eq!(status, 200, "{response}");
    }

    /// The number of multipart uploads below a prefix that are neither completed nor aborted.
    ///
    /// # Panics
    /// When the server returns an error.
    #[must_use]
    pub fn unfinished_uploads(&self, prefix: &str) -> usize {
        let (status, response) = self.request("GET", &format!("/{BUCKET}?uploads"), &[]);
        assert_eq!(status, 200, "{response}");
        response.matches(&format!("<Key>{prefix}/")).count()
    }

    /// Sends a request without credentials, which moto does not require.
    fn request(&self, method: &str, target: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("moto listens");
        stream.set_read_timeout(Some(START_TIMEOUT)).expect("a limit");
        let length = body.len();
        let head = format!(
            "{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).expect("moto reads");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).expect("moto responds");
        let response = String::from_utf8_lossy(&response).into_owned();
        let status = response.split_whitespace().nth(1).and_then(|status| status.parse().ok());
        (status.expect("a status"), response)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The environment variables of a client of an S3 endpoint, with keys that moto accepts.
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
