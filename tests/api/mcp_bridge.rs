//! `roadmap mcp --url`: the bridge from a program that speaks MCP on standard input and output.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::app::{App, roadmap_command};

/// The limit of the bridge for a response, in bytes.
const MAX_RESPONSE: usize = 16 * 1024 * 1024;

/// A running bridge to `acme`.
struct Bridge {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Bridge {
    fn start(app: &App, key: &str) -> Self {
        // The workspace is chosen by the host, and the bridge sends that of its URL.
        Self::start_at(app, &format!("http://localhost:{}", app.port()), key)
    }

    fn start_at(app: &App, url: &str, key: &str) -> Self {
        let mut command = roadmap_command(app.data_dir());
        command.args(["mcp", "--url", url, "--log", "debug"]).env("ROADMAP_API_KEY", key);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the bridge");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        Self { input: child.stdin.take(), child, output }
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("an open input");
        writeln!(input, "{line}").and_then(|()| input.flush()).expect("a reader");
    }

    /// Reads a line, which must be a JSON object.
    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        let value: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert!(value.is_object() && value["jsonrpc"] == "2.0", "{line}");
        value
    }

    fn ask(&mut self, message: &Value) -> Value {
        self.send(&message.to_string());
        self.read()
    }

    /// Closes the input and waits for the end. Returns whether it was a success, and what was still written.
    fn close(mut self) -> (bool, String, Duration) {
        drop(self.input.take());
        let closed = Instant::now();
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.output, &mut rest).expect("text");
        let status = self.child.wait().expect("its end");
        (status.success(), rest, closed.elapsed())
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn app() -> App {
    App::with(&["--default-workspace", "acme", "--base-url", "http://localhost"], &[])
}

fn key(app: &App) -> String {
    app.acme.key.clone().expect("a key")
}

fn call(id: &Value, tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

#[test]
fn a_program_speaks_both_eras_through_the_bridge() {
    let app = app();
    let mut bridge = Bridge::start(&app, &key(&app));
    let initialize = json!({
        "jsonrpc": "2.0",
        "id": "a",
        "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } },
    });
    assert_eq!(bridge.ask(&initialize)["result"]["protocolVersion"], "2025-11-25");
    bridge.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let created = bridge.ask(&call(&json!(2), "CreateFeatureRequest", &json!({ "title": "Dark mode" })));
    assert_eq!((&created["id"], &created["result"]["isError"]), (&json!(2), &json!(false)));
    let mut modern = call(&json!(3), "SearchFeatureRequests", &json!({ "query": "dark" }));
    modern["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let response = bridge.ask(&modern);
    assert_eq!(response["result"]["resultType"], "complete");
    assert_eq!(response["result"]["structuredContent"]["feature_requests"][0]["title"], "Dark mode");
    for (line, code) in [("{", -32700), ("[]", -32600), (r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#, -32601)] {
        bridge.send(line);
        assert_eq!(bridge.read()["error"]["code"], code, "{line}");
    }
    let (success, rest, took) = bridge.close();
    assert_eq!((success, rest.as_str()), (true, ""));
    println!("the bridge ended after {took:?}");
}

#[test]
fn a_thousand_calls_keep_their_ids() {
    let app = app();
    let mut bridge = Bridge::start(&app, &key(&app));
    let mut input = bridge.input.take().expect("an open input");
    let writer = std::thread::spawn(move || {
        for id in 0..1_000 {
            let query = json!({ "query": format!("word{id}") });
            writeln!(input, "{}", call(&json!(id), "SearchFeatureRequests", &query)).expect("a reader");
            if id % 10 == 0 {
                writeln!(input, "{}", call(&json!(format!("x{id}")), "Unknown", &json!({}))).expect("a reader");
            }
        }
        input
    });
    let mut ids = BTreeSet::new();
    for _ in 0..1_100 {
        let response = bridge.read();
        let is_known = response["result"]["isError"] == false;
        assert_eq!(is_known, response["id"].is_u64(), "{response}");
        assert!(ids.insert(response["id"].to_string()), "{response}");
    }
    bridge.input = Some(writer.join().expect("all lines are written"));
    assert_eq!(ids.len(), 1_100);
    assert_eq!(bridge.close().1, "");
}

#[test]
fn a_service_that_is_away_is_reported_and_found_again() {
    let mut app = app();
    let mut bridge = Bridge::start(&app, &key(&app));
    let list = call(&json!(1), "ListTracks", &json!({}));
    assert_eq!(bridge.ask(&list)["result"]["isError"], false);
    let port = app.port();
    app.kill();
    let failed = bridge.ask(&list);
    let message = format!("The service at http://localhost:{port}/mcp cannot be reached");
    assert_eq!(failed, json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32603, "message": message } }));
    // A notification has no answer, even if it fails.
    bridge.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#);
    app.restart_at(port);
    assert_eq!(bridge.ask(&list)["result"]["isError"], false);
}

#[test]
fn the_key_comes_from_the_environment_or_a_file_and_refusals_are_sentences() {
    let app = app();
    let mut bridge = Bridge::start(&app, "rmk_wrong");
    let message = "The service did not accept the API key for this workspace";
    let refused = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32603, "message": message } });
    assert_eq!(bridge.ask(&call(&json!(1), "ListTracks", &json!({}))), refused);
    let file = app.data_dir().join("key");
    std::fs::write(&file, format!("{}\n", key(&app))).unwrap();
    let url = format!("http://localhost:{}", app.port());
    let mut command = roadmap_command(app.data_dir());
    command.args(["mcp", "--url", &url, "--key-file"]).arg(&file);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    writeln!(child.stdin.as_mut().unwrap(), "{}", call(&json!(1), "ListTracks", &json!({}))).unwrap();
    // The input stays open until the answer is there: after its end, calls have less than a second.
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let response: Value = serde_json::from_str(&line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.success(), &response["result"]["isError"]), (true, &json!(false)));
    for (arguments, message) in [
        (&["mcp", "--url", "http://localhost"][..], "there is no API key: set ROADMAP_API_KEY or --key-file"),
        (
            &["mcp", "--url", "localhost", "--key-file", "/dev/null"],
            "there is no API key: set ROADMAP_API_KEY or --key-file",
        ),
        (
            &["mcp", "--url", "localhost:1", "--key-file", file.to_str().unwrap()],
            "--url is `localhost:1`, which is neither http nor https",
        ),
        (&["mcp", "--key-file", file.to_str().unwrap()], "--url is required: the URL of the workspace"),
        (
            &["mcp", "--url", "https://user:hunter2@localhost:1", "--key-file", file.to_str().unwrap()],
            "--url must not have a user or a password: only the key signs in",
        ),
    ] {
        let finished = app.roadmap_with_environment(arguments, &[]);
        assert_eq!((finished.success, finished.stderr.trim_end()), (false, format!("error: {message}").as_str()));
    }
}

#[test]
fn a_key_that_crosses_the_network_in_clear_is_a_warning() {
    let app = app();
    for (url, is_warned) in [
        ("http://192.0.2.7:1", true),
        ("http://acme.example:1", true),
        ("https://192.0.2.7:1", false),
        ("http://127.0.0.1:1", false),
        ("http://[::1]:1", false),
        ("http://acme.localhost:1", false),
    ] {
        let mut command = roadmap_command(app.data_dir());
        command.args(["mcp", "--url", url]).env("ROADMAP_API_KEY", "rmk_secret").stdin(Stdio::null());
        // Its input has ended, so that it sends nothing.
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && output.stdout.is_empty(), "{url}: {errors}");
        assert_eq!(errors.contains("cross the network unencrypted"), is_warned, "{url}: {errors}");
        assert!(!errors.contains("rmk_secret"), "{errors}");
    }
}

#[test]
fn a_response_without_end_is_an_error_and_the_bridge_goes_on() {
    let app = app();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let service = std::thread::spawn(move || {
        let respond = |body: &[u8], length: &str| {
            let (mut stream, _) = listener.accept().unwrap();
            // The message is an object. A connection with unread bytes would be reset.
            let mut read = Vec::new();
            while !read.trim_ascii_end().ends_with(b"}") {
                let mut piece = [0; 1_024];
                let length = std::io::Read::read(&mut stream, &mut piece).unwrap();
                assert!(length > 0, "the message is whole");
                read.extend_from_slice(&piece[..length]);
            }
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{length}Connection: close\r\n\r\n");
            // The bridge closes the connection of a response that is too long.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        };
        respond(&vec![b' '; MAX_RESPONSE + 1], "");
        let mut longest = br#"{"jsonrpc":"2.0","id":2,"result":{}}"#.to_vec();
        longest.resize(MAX_RESPONSE, b' ');
        respond(&longest, &format!("Content-Length: {MAX_RESPONSE}\r\n"));
    });
    let mut bridge = Bridge::start_at(&app, &url, "rmk_x");
    let message =
        format!("The response is longer than {MAX_RESPONSE} bytes; ask for less, for example for a smaller page");
    let failed = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32603, "message": message } });
    assert_eq!(bridge.ask(&call(&json!(1), "ListTracks", &json!({}))), failed);
    let response = bridge.ask(&call(&json!(2), "ListTracks", &json!({})));
    assert_eq!(response, json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
    service.join().unwrap();
}
