//! Generated calls of all tools, with values of the right and of wrong types.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use futures_util::future::try_join_all;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value, json};

use crate::demo_service::DemoService;
use crate::load::{Connection, block_on};
use crate::run::root;

const CONNECTIONS: usize = 8;
const SEED: u64 = 20_261_123;

/// Texts that programs have stumbled over.
const TEXTS: [&str; 14] = [
    "",
    " ",
    "dark mode",
    "1",
    "1-dark-mode",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "ann@example.com",
    "2999-01-01T00:00:00Z",
    "a\u{0}b",
    "\u{202e}\u{1f600}\u{fffd}",
    "'; DROP TABLE votes; --",
    "<img src=x onerror=alert(1)>",
    "../../../etc/passwd",
    "%00%ff&page=2#",
];

/// Makes `number` calls. None may be a failure of the service.
pub(super) fn run(demo: &DemoService, number: usize) -> anyhow::Result<()> {
    let list: Value = serde_json::from_slice(&std::fs::read(root().join("docs/mcp-tools.json"))?)?;
    let tools = list.get("tools").and_then(Value::as_array).context("no tools")?;
    let port = demo.port()?;
    let mut outcomes = BTreeMap::<String, usize>::new();
    block_on(async {
        let ids = ids(demo, port).await?;
        let callers = (0..CONNECTIONS).map(|caller| {
            let ids = &ids;
            async move {
                let seed = SEED + u64::try_from(caller)?;
                let mut random = SmallRng::seed_from_u64(seed);
                let mut connection = Connection::open(port, "localhost", &demo.key).await?;
                let mut outcomes = Vec::new();
                for id in 0..number / CONNECTIONS {
                    let tool = tools.get(random.random_range(0..tools.len())).context("a tool")?;
                    let outcome = call(&mut connection, &mut random, tool, ids, id).await;
                    outcomes.push(outcome.with_context(|| format!("call {id} of the seed {seed}"))?);
                }
                anyhow::Ok(outcomes)
            }
        });
        for outcome in try_join_all(callers).await?.into_iter().flatten() {
            *outcomes.entry(outcome).or_default() += 1;
        }
        anyhow::Ok(())
    })?;
    let outcomes: Vec<String> = outcomes.iter().map(|(outcome, number)| format!("{number} {outcome}")).collect();
    println!("{number} generated calls with the seeds from {SEED}: {}; no failure", outcomes.join(", "));
    Ok(())
}

/// Ids of records of the demo.
async fn ids(demo: &DemoService, port: u16) -> anyhow::Result<Vec<String>> {
    let mut connection = Connection::open(port, "localhost", &demo.key).await?;
    let mut ids = Vec::new();
    for path in ["/tracks", "/lanes", "/customers", "/changelogs", "/feature_requests?query=dark", "/members"] {
        ensure!(connection.send("GET", path, "").await? == 200, "{path}");
        let body = connection.json()?;
        let records = body.as_object().into_iter().flatten().filter_map(|(_, list)| list.as_array()).flatten();
        ids.extend(records.filter_map(|record| Some(record.get("id")?.as_str()?.to_owned())).take(10));
    }
    Ok(ids)
}

/// Makes a call and checks its response. Returns its kind.
async fn call(
    connection: &mut Connection,
    random: &mut SmallRng,
    tool: &Value,
    ids: &[String],
    id: usize,
) -> anyhow::Result<String> {
    let name = tool.get("name").and_then(Value::as_str).context("no name")?;
    let arguments = arguments(random, tool.get("inputSchema").context("no schema")?, ids);
    let mut params = json!({ "name": name, "arguments": arguments });
    let mut headers = String::new();
    if random.random_bool(0.5) {
        let version = "2026-07-28";
        if let Some(params) = params.as_object_mut() {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            params.insert("_meta".to_owned(), meta);
        }
        headers = format!("MCP-Protocol-Version: {version}\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n");
    }
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string();
    let status = connection.request_with("POST", "/mcp", &headers, &body).await?;
    let excerpt: String = body.chars().take(2_000).collect();
    let response = connection.json().with_context(|| excerpt.clone())?;
    ensure!(status < 500, "{status}: {excerpt} {response}");
    ensure!(response.get("id") == Some(&json!(id)), "the id of {excerpt} {response}");
    if let Some(error) = response.get("error") {
        ensure!(error.get("code") != Some(&json!(-32603)), "{excerpt} {response}");
        return Ok("protocol errors".to_owned());
    }
    let result = response.get("result").with_context(|| format!("no result: {excerpt} {response}"))?;
    let text = result.pointer("/content/0/text").and_then(Value::as_str).context("no text")?;
    let parsed: Value = serde_json::from_str(text).context("the text is no JSON")?;
    if result.get("isError") == Some(&Value::Bool(true)) {
        let status = parsed.get("status").and_then(Value::as_u64).context("no status")?;
        ensure!(status < 500, "{excerpt} {response}");
        return Ok(format!("refused with {status}"));
    }
    ensure!(result.get("structuredContent") == Some(&parsed), "{excerpt} {response}");
    Ok("successful".to_owned())
}

fn arguments(random: &mut SmallRng, schema: &Value, ids: &[String]) -> Value {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut arguments = Map::new();
    for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if random.random_bool(if required.contains(&name.as_str()) { 0.95 } else { 0.4 }) {
            arguments.insert(name.clone(), value(random, schema, ids));
        }
    }
    if random.random_bool(0.03) {
        arguments.insert(text(random, ids), json!(1));
    }
    arguments.into()
}

fn value(random: &mut SmallRng, schema: &Value, ids: &[String]) -> Value {
    if random.random_bool(0.07) {
        return any(random, ids, 3);
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choices.get(random.random_range(0..choices.len().max(1))).cloned().unwrap_or_default();
    }
    let kind = schema.get("type").map(|kind| kind.get(0).unwrap_or(kind)).and_then(Value::as_str);
    match kind {
        Some("object") => arguments(random, schema, ids),
        Some("array") => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            (0..random.random_range(0..4)).map(|_| value(random, items, ids)).collect()
        }
        Some("integer") => json!(random.random_range(-1..5)),
        Some("boolean") => random.random_bool(0.5).into(),
        _ => text(random, ids).into(),
    }
}

fn text(random: &mut SmallRng, ids: &[String]) -> String {
    match random.random_range(0..10) {
        0..3 => ids.get(random.random_range(0..ids.len().max(1))).cloned().unwrap_or_default(),
        3 => "x".repeat(random.random_range(1..30_000)),
        4 => format!("Generated {}", random.random::<u32>()),
        _ => TEXTS.get(random.random_range(0..TEXTS.len())).copied().unwrap_or_default().to_owned(),
    }
}

/// A value of any type.
fn any(random: &mut SmallRng, ids: &[String], depth: usize) -> Value {
    match random.random_range(0..if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => random.random_bool(0.5).into(),
        2 => json!(random.random::<i64>()),
        3 => json!(random.random::<f64>() * 1e300),
        4 => text(random, ids).into(),
        5 => (0..random.random_range(0..4)).map(|_| any(random, ids, depth - 1)).collect(),
        _ => (0..random.random_range(0..4)).map(|_| (text(random, ids), any(random, ids, depth - 1))).collect(),
    }
}
