//! `roadmap mcp`: a bridge from an agent's program, which speaks MCP on standard input and output, to a service.
//!
//! The bridge opens no database. It forwards each message to `POST /mcp` with the key of a workspace, so that scopes,
//! limits and the audit log are those of the service.

use std::io::{BufRead, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use roadmap_domain::error::ErrorChain;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::output::print;
use crate::settings::{Settings, client_key};
use crate::telemetry;

/// Calls at the same time. More wait.
const CONCURRENT_CALLS: usize = 8;

/// Longest message that is read. The service accepts 1 MB.
const MAX_MESSAGE: u64 = 8 * 1024 * 1024;

/// Longest response that is read. The longest ones of the service, lists with whole texts, are some megabytes.
const MAX_RESPONSE: usize = 16 * 1024 * 1024;

/// Time limit of a call, longer than any limit of the service.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);

/// How long running calls may take after the end of the input.
const LAST_CALLS: Duration = Duration::from_millis(900);

/// The environment variable with the key. An argument would be visible to other users of the machine.
const KEY_VARIABLE: &str = "ROADMAP_API_KEY";

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    command: Option<McpCommand>,
    /// URL of the workspace, for example `https://acme.roadmap.example.com`; the API key is read from ROADMAP_API_KEY
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// File with the API key, instead of ROADMAP_API_KEY
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// List all tools, and not only those that agents mostly need
    #[arg(long)]
    tools: Option<ToolList>,
}

/// The list of tools that the bridge asks for.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ToolList {
    All,
}

#[derive(Debug, clap::Subcommand)]
enum McpCommand {
    /// List the tools of agents with the scopes that they need
    Tools(Tools),
}

#[derive(Debug, clap::Args)]
struct Tools {
    /// Print the definitions that agents get, as JSON
    #[arg(long)]
    json: bool,
}

impl Mcp {
    /// Runs the command. The list of the tools needs no settings.
    pub(crate) async fn run(self, settings: impl FnOnce() -> anyhow::Result<Settings>) -> anyhow::Result<()> {
        match (self.command, self.url) {
            (Some(McpCommand::Tools(Tools { json: true })), _) => print(roadmap_mcp::document().trim_end()),
            (Some(McpCommand::Tools(Tools { json: false })), _) => print_tools(),
            (None, Some(url)) => {
                let telemetry = telemetry::start(&settings()?, false)?;
                let bridge = Bridge::new(&url, key(self.key_file)?, self.tools)?;
                bridge.run().await?;
                telemetry.shut_down().await;
                Ok(())
            }
            (None, None) => anyhow::bail!("--url is required: the URL of the workspace"),
        }
    }
}

fn print_tools() -> anyhow::Result<()> {
    let mut text = String::new();
    for (name, list, scopes, description) in roadmap_mcp::summary() {
        text += &format!("{name:27} {list:8} {scopes:17} {description}\n");
    }
    print(text.trim_end())
}

/// Returns the key from a file or from the environment.
fn key(file: Option<PathBuf>) -> anyhow::Result<String> {
    let key = match file {
        Some(file) => std::fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?,
        None => client_key(KEY_VARIABLE).unwrap_or_default(),
    };
    let key = key.trim().to_owned();
    ensure!(!key.is_empty(), "there is no API key: set {KEY_VARIABLE} or --key-file");
    Ok(key)
}

/// Forwards messages to a service.
struct Bridge {
    client: reqwest::Client,
    url: reqwest::Url,
    key: String,
}

impl Bridge {
    fn new(url: &str, key: String, tools: Option<ToolList>) -> anyhow::Result<Self> {
        // Fails if another part of the process has installed a provider already, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // The URL is printed and reported to a model. Whatever could be a password is refused before that.
        ensure!(!url.contains('@'), "--url must not have a user or a password: only the key signs in");
        let mut parsed = reqwest::Url::parse(url).with_context(|| format!("--url is `{url}`, which is not a URL"))?;
        ensure!(matches!(parsed.scheme(), "http" | "https"), "--url is `{url}`, which is neither http nor https");
        if parsed.scheme() == "http" && !is_loopback(&parsed) {
            eprintln!("warning: --url is http: the API key and all data cross the network unencrypted. Use https");
        }
        let base = parsed.path().trim_end_matches('/').trim_end_matches(roadmap_mcp::PATH).to_owned();
        parsed.set_path(&format!("{base}{}", roadmap_mcp::PATH));
        if let Some(ToolList::All) = tools {
            parsed.set_query(Some("tools=all"));
        }
        let client = reqwest::Client::builder().timeout(CALL_TIMEOUT).redirect(reqwest::redirect::Policy::none());
        Ok(Self { client: client.build().context("HTTP cannot be used")?, url: parsed, key })
    }

    /// Forwards the messages of standard input until it ends.
    async fn run(self) -> anyhow::Result<()> {
        let bridge = Arc::new(self);
        let slots = Arc::new(Semaphore::new(CONCURRENT_CALLS));
        let mut calls = JoinSet::new();
        let mut lines = lines();
        while let Some(line) = lines.recv().await {
            let slot = slots.clone().acquire_owned().await?;
            let bridge = bridge.clone();
            calls.spawn(async move {
                if let Some(response) = bridge.respond(&line).await {
                    write_line(&response);
                }
                drop(slot);
            });
            while calls.try_join_next().is_some() {}
        }
        // The program that started the bridge has gone, or is about to.
        let _ = tokio::time::timeout(LAST_CALLS, async { while calls.join_next().await.is_some() {} }).await;
        Ok(())
    }

    /// Returns the response to a message as one line, or `None` if it needs none.
    async fn respond(&self, line: &Line) -> Option<String> {
        let message = match line {
            Line::TooLong => {
                return Some(error(None, -32600, &format!("The message is longer than {MAX_MESSAGE} bytes")));
            }
            Line::Message(message) => message,
        };
        let parsed: Value = match serde_json::from_slice(message) {
            Ok(parsed) => parsed,
            Err(_) => return Some(error(None, -32700, "The line is not valid JSON")),
        };
        let id = parsed.get("id").filter(|_| parsed.get("method").is_some());
        let failed = match self.forward(message, &parsed).await {
            Ok((StatusCode::ACCEPTED, _)) => return None,
            Ok((status, body)) => match serde_json::from_slice::<Value>(&body) {
                Ok(response) if response.get("jsonrpc").is_some() => return Some(one_line(body, &response)),
                response => refusal(status, response.ok().as_ref()),
            },
            Err(ForwardError::TooLong) => {
                tracing::warn!(limit = MAX_RESPONSE, "a response is too long");
                format!(
                    "The response is longer than {MAX_RESPONSE} bytes; ask for less, for example for a smaller page"
                )
            }
            Err(ForwardError::Unreachable(error)) => {
                tracing::warn!(error = %ErrorChain::new(&error), "the service cannot be reached");
                format!("The service at {} cannot be reached", self.url)
            }
        };
        // A notification is not answered, whatever became of it.
        id.map(|id| error(Some(id), -32603, &failed))
    }

    async fn forward(&self, message: &[u8], parsed: &Value) -> Result<(StatusCode, Vec<u8>), ForwardError> {
        let mut request = self.client.post(self.url.clone()).header("X-Api-Key", &self.key);
        request = request.header("Content-Type", "application/json");
        request = request.header("Accept", "application/json, text/event-stream");
        for (name, value) in headers(parsed) {
            request = request.header(name, value);
        }
        let mut response = request.body(message.to_vec()).send().await?;
        let status = response.status();
        tracing::debug!(status = status.as_u16(), "a message was forwarded");
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > MAX_RESPONSE {
                return Err(ForwardError::TooLong);
            }
            body.extend_from_slice(&chunk);
        }
        Ok((status, body))
    }
}

/// Why a message has no response.
enum ForwardError {
    /// It is longer than [`MAX_RESPONSE`].
    TooLong,
    /// The service cannot be reached, or the connection broke.
    Unreachable(reqwest::Error),
}

impl From<reqwest::Error> for ForwardError {
    fn from(error: reqwest::Error) -> Self {
        Self::Unreachable(error)
    }
}

/// Whether a URL leads to this machine. `localhost` and the names below it do (RFC 6761).
fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    address.map_or(host == "localhost" || host.ends_with(".localhost"), |address| address.to_canonical().is_loopback())
}

/// Returns the headers that repeat parts of a message, as the modern era asks for.
fn headers(message: &Value) -> Vec<(&'static str, String)> {
    let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
    let Some(version) = text("/params/_meta/io.modelcontextprotocol~1protocolVersion") else { return Vec::new() };
    let method = text("/method").unwrap_or_default();
    let name = match method {
        "tools/call" | "prompts/get" => text("/params/name"),
        "resources/read" => text("/params/uri"),
        _ => None,
    };
    let headers = [("MCP-Protocol-Version", Some(version)), ("Mcp-Method", Some(method)), ("Mcp-Name", name)];
    headers.into_iter().filter_map(|(header, value)| Some((header, header_value(value?)))).collect()
}

/// Encodes a value that a header cannot have as it is.
fn header_value(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') && value.trim() == value;
    let looks_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    if is_plain && !looks_encoded { value.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(value)) }
}

/// Returns a sentence about a response that is no message of the protocol.
fn refusal(status: StatusCode, body: Option<&Value>) -> String {
    let said = body.and_then(|body| body.get("error")).and_then(Value::as_str).unwrap_or_default();
    match status {
        StatusCode::UNAUTHORIZED => "The service did not accept the API key for this workspace".to_owned(),
        StatusCode::NOT_FOUND => "The service has no /mcp: check --url and the setting mcp".to_owned(),
        _ if said.is_empty() => format!("The service answered with the status {}", status.as_u16()),
        _ => format!("The service answered with the status {}: {said}", status.as_u16()),
    }
}

fn error(id: Option<&Value>, code: i32, message: &str) -> String {
    let error = json!({ "code": code, "message": message });
    match id {
        Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string(),
        None => json!({ "jsonrpc": "2.0", "error": error }).to_string(),
    }
}

/// Returns a response without line breaks between its tokens.
fn one_line(body: Vec<u8>, response: &Value) -> String {
    match String::from_utf8(body) {
        Ok(text) if !text.contains(['\n', '\r']) => text,
        _ => response.to_string(),
    }
}

/// A line of standard input.
enum Line {
    Message(Vec<u8>),
    TooLong,
}

/// Reads standard input in a thread of its own, which ends with the process.
fn lines() -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            match input.by_ref().take(MAX_MESSAGE + 1).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => {}
            }
            let is_too_long = line.last() != Some(&b'\n') && u64::try_from(line.len()).is_ok_and(|n| n > MAX_MESSAGE);
            if is_too_long && skip_line(&mut input).is_err() {
                return;
            }
            let line = if is_too_long { Line::TooLong } else { Line::Message(line) };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Skips the rest of a line.
fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (skipped, is_end) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(skipped);
        if is_end {
            return Ok(());
        }
    }
}

/// Writes one response. Nothing else is written to standard output.
fn write_line(response: &str) {
    let mut output = std::io::stdout().lock();
    if let Err(error) = writeln!(output, "{response}").and_then(|()| output.flush()) {
        tracing::warn!(error = %ErrorChain::new(&error), "an answer could not be written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_repeat_what_a_modern_message_says() {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        let message = |method: &str, field: &str, value: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { field: value, "_meta": meta } });
        for (method, field, value, name) in [
            ("tools/call", "name", "ListTracks", Some("ListTracks")),
            ("prompts/get", "name", "ä", Some("=?base64?w6Q=?=")),
            ("tools/call", "name", " a", Some("=?base64?IGE=?=")),
            ("tools/call", "name", "=?base64?YQ==?=", Some("=?base64?PT9iYXNlNjQ/WVE9PT89?=")),
            ("resources/read", "uri", "roadmap://tracks", Some("roadmap://tracks")),
            ("tools/list", "name", "x", None),
        ] {
            let mut expected =
                vec![("MCP-Protocol-Version", "2026-07-28".to_owned()), ("Mcp-Method", method.to_owned())];
            expected.extend(name.map(|name| ("Mcp-Name", name.to_owned())));
            assert_eq!(headers(&message(method, field, value)), expected, "{method} {value}");
        }
        assert!(headers(&json!({ "method": "initialize", "params": {} })).is_empty());
    }

    #[test]
    fn a_refusal_is_a_sentence() {
        for (status, body, sentence) in [
            (401, json!({ "error": "Unauthorized" }), "The service did not accept the API key for this workspace"),
            (404, json!(null), "The service has no /mcp: check --url and the setting mcp"),
            (429, json!({ "error": "Too many calls" }), "The service answered with the status 429: Too many calls"),
            (502, json!("x"), "The service answered with the status 502"),
        ] {
            assert_eq!(refusal(StatusCode::from_u16(status).unwrap(), Some(&body)), sentence);
        }
    }

    #[test]
    fn the_rest_of_a_long_line_is_skipped() {
        let mut input = std::io::Cursor::new(b"rest\nnext".to_vec());
        skip_line(&mut input).unwrap();
        let mut next = String::new();
        input.read_to_string(&mut next).unwrap();
        assert_eq!(next, "next");
        skip_line(&mut input).unwrap();
    }

    #[test]
    fn a_url_with_a_password_is_refused_and_not_repeated() {
        for url in
            ["https://user:secret@acme.example.com", "https://secret@acme.example.com", "user:secret@acme", "secret@"]
        {
            let error = Bridge::new(url, "key".to_owned(), None).err().unwrap();
            let text = format!("{error:#} {error:?}");
            assert!(text.contains("must not have a user or a password") && !text.contains("secret"), "{text}");
        }
    }

    #[test]
    fn addresses_of_this_machine_are_known() {
        for (url, expected) in [
            ("http://localhost:8080", true),
            ("http://LOCALHOST", true),
            ("http://acme.localhost", true),
            ("http://127.0.0.1:1", true),
            ("http://127.1", true),
            ("http://[::1]:8080", true),
            ("http://[::ffff:127.0.0.1]", true),
            ("http://192.168.0.7", false),
            ("http://localhost.example", false),
            ("http://127.0.0.1.example", false),
            ("http://[fe80::1]", false),
        ] {
            assert_eq!(is_loopback(&reqwest::Url::parse(url).unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn the_url_of_a_workspace_leads_to_the_endpoint() {
        for (url, expected) in [
            ("https://acme.example.com", "https://acme.example.com/mcp"),
            ("https://acme.example.com/", "https://acme.example.com/mcp"),
            ("http://localhost:8080/mcp", "http://localhost:8080/mcp"),
            ("http://localhost:8080/mcp/", "http://localhost:8080/mcp"),
        ] {
            assert_eq!(Bridge::new(url, "key".to_owned(), None).unwrap().url.as_str(), expected);
            let all = Bridge::new(url, "key".to_owned(), Some(ToolList::All)).unwrap();
            assert_eq!(all.url.as_str(), format!("{expected}?tools=all"));
        }
        for url in ["acme.example.com", "ftp://acme.example.com", "", "https://acme.example.com/@"] {
            assert!(Bridge::new(url, "key".to_owned(), None).is_err(), "{url}");
        }
    }
}
