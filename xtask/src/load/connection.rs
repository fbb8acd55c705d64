//! Minimal keep-alive HTTP connection, so that the load generator uses as little processor time as possible.

use anyhow::{Context, ensure};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Connection with the headers of a client.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    headers: String,
    body: Vec<u8>,
    /// The cookies that the last response set, as a request sends them.
    cookies: Vec<String>,
}

impl Connection {
    pub(crate) async fn open(port: u16, host: &str, key: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        let headers = format!("Host: {host}\r\nX-Api-Key: {key}\r\nContent-Type: application/json\r\n");
        Ok(Self { headers, ..Self::over(stream) })
    }

    /// Takes an open stream, without headers.
    pub(crate) fn over(stream: TcpStream) -> Self {
        Self { stream: BufReader::new(stream), headers: String::new(), body: Vec::new(), cookies: Vec::new() }
    }

    /// Sends a request of the API, reads the whole response and returns its status.
    pub(crate) async fn send(&mut self, method: &str, path: &str, body: &str) -> anyhow::Result<u16> {
        self.request(method, &format!("/api/external/v1{path}"), body).await
    }

    /// Like [`Self::send`], and fails with any other status than this.
    pub(crate) async fn expect(&mut self, method: &str, path: &str, body: &str, status: u16) -> anyhow::Result<()> {
        let actual = self.send(method, path, body).await?;
        ensure!(actual == status, "{method} {path} returned {actual} instead of {status}");
        Ok(())
    }

    /// Like [`Self::send`], for any path.
    pub(crate) async fn request(&mut self, method: &str, target: &str, body: &str) -> anyhow::Result<u16> {
        self.request_with(method, target, "", body).await
    }

    /// Like [`Self::request`], with more headers, each with its end of line.
    pub(crate) async fn request_with(
        &mut self,
        method: &str,
        target: &str,
        more: &str,
        body: &str,
    ) -> anyhow::Result<u16> {
        let (headers, length) = (&self.headers, body.len());
        let request = format!("{method} {target} HTTP/1.1\r\n{headers}{more}Content-Length: {length}\r\n\r\n{body}");
        self.exchange(&request).await
    }

    /// Sends these bytes of a request, reads the whole response and returns its status.
    pub(crate) async fn exchange(&mut self, request: &str) -> anyhow::Result<u16> {
        self.stream.get_mut().write_all(request.as_bytes()).await?;
        let mut line = String::new();
        self.stream.read_line(&mut line).await?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).context("no status line")?;
        // 304 has no body, whatever its headers say (RFC 9110 section 8.6).
        let has_body = status != 304;
        let mut length = 0;
        self.cookies.clear();
        loop {
            line.clear();
            ensure!(self.stream.read_line(&mut line).await? > 0, "the connection ended");
            if line == "\r\n" {
                break;
            }
            if let Some(cookie) =
                line.get(.."set-cookie:".len()).filter(|name| name.eq_ignore_ascii_case("set-cookie:"))
            {
                let value = line.get(cookie.len()..).unwrap_or_default();
                // A cookie that expires at once is removed.
                if !value.contains("Max-Age=0") {
                    self.cookies.extend(value.split(';').next().map(|pair| pair.trim().to_owned()));
                }
            }
            if has_body && let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
        }
        self.body.resize(length, 0);
        self.stream.read_exact(&mut self.body).await?;
        Ok(status)
    }

    /// Returns the cookies that the last response set.
    pub(crate) fn cookies(&self) -> String {
        self.cookies.join("; ")
    }

    /// Returns the body of the last response as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the body of the last response.
    pub(crate) fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.body).context("the response is no JSON")
    }

    /// Returns the id of the feature request in the last response.
    pub(crate) fn id(&self) -> anyhow::Result<String> {
        id(self.json()?.get("feature_request").context("no feature request")?)
    }

    /// Returns the ids of a list in the last response.
    pub(crate) fn ids(&self, list: &str) -> anyhow::Result<Vec<String>> {
        self.json()?.get(list).and_then(Value::as_array).context("no list")?.iter().map(id).collect()
    }
}

fn id(record: &Value) -> anyhow::Result<String> {
    record.get("id").and_then(Value::as_str).map(str::to_owned).context("no id")
}
