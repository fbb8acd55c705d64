//! All official clients make the calls of `calls.json`.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::AddAssign;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::programs::Programs;
use crate::demo_service::DemoService;

/// The table of calls.
const TABLE: &str = "calls.json";

/// The environment variable with the API key, for the clients and the bridge.
pub(super) const KEY_VARIABLE: &str = "ROADMAP_API_KEY";

/// Client program.
struct Client {
    name: &'static str,
    /// The program with its mode.
    command: &'static [&'static str],
    /// The revision that it negotiates. Another one would hide that an era does not work.
    protocol: &'static str,
    /// Whether it also uses the bridge.
    uses_bridge: bool,
    /// Whether it makes all calls of the table. A program that starts a process for each call leaves out some.
    makes_all: bool,
}

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

const PYTHON: Client =
    Client { name: "Python", command: &["client.py", "auto"], protocol: MODERN, uses_bridge: true, makes_all: true };

const CLIENTS: [Client; 5] = [
    PYTHON,
    Client {
        name: "Python, legacy",
        command: &["client.py", "legacy"],
        protocol: LEGACY,
        uses_bridge: false,
        ..PYTHON
    },
    Client { name: "TypeScript v1", command: &["client_v1.mjs"], protocol: LEGACY, uses_bridge: false, ..PYTHON },
    Client { name: "TypeScript v2", command: &["client_v2.mjs"], ..PYTHON },
    Client { name: "Inspector", command: &["inspector.mjs"], uses_bridge: false, makes_all: false, ..PYTHON },
];

/// How clients reach the service.
pub(super) enum Target<'a> {
    /// By HTTP.
    Http,
    /// Through `roadmap mcp` of this binary, on its standard input and output.
    Bridge(&'a Path),
}

/// Numbers of calls that had the expected outcome.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Calls {
    succeeded: u64,
    refused: u64,
}

impl AddAssign for Calls {
    fn add_assign(&mut self, other: Self) {
        self.succeeded += other.succeeded;
        self.refused += other.refused;
    }
}

impl fmt::Display for Calls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} calls succeeded, {} refused as expected", self.succeeded, self.refused)
    }
}

/// Makes the calls of the table with all clients that support the target, one after the other.
pub(super) fn run(programs: &Programs, service: &DemoService, target: &Target<'_>) -> anyhow::Result<Calls> {
    let table: Vec<Value> = serde_json::from_slice(&std::fs::read(programs.folder.join(TABLE))?)?;
    let refused = table.iter().filter(|call| call.get("refused").and_then(Value::as_bool) == Some(true)).count();
    let refused = u64::try_from(refused)?;
    let expected = Calls { succeeded: u64::try_from(table.len())? - refused, refused };
    let named: BTreeSet<&str> = table.iter().filter_map(|call| call.get("tool")?.as_str()).collect();
    let named = u64::try_from(named.len())?;
    let mut all = Calls::default();
    for client in &CLIENTS {
        if client.uses_bridge || matches!(target, Target::Http) {
            all += client.run(programs, service, target, expected, named)?;
        }
    }
    Ok(all)
}

impl Client {
    /// Makes the calls, and checks the numbers that the program prints at its end. The table names `named` tools.
    fn run(
        &self,
        programs: &Programs,
        service: &DemoService,
        target: &Target<'_>,
        expected: Calls,
        named: u64,
    ) -> anyhow::Result<Calls> {
        let mut command = programs.command(self.command);
        command.arg(TABLE).env(KEY_VARIABLE, &service.key);
        let way = match target {
            Target::Http => {
                command.arg(format!("{}/mcp?tools=all", service.url));
                "HTTP"
            }
            Target::Bridge(binary) => {
                command.arg("--stdio").arg(binary).args(["mcp", "--tools", "all", "--url", &service.url]);
                "the bridge"
            }
        };
        let (name, started) = (format!("{} by {way}", self.name), Instant::now());
        let output = command.output().with_context(|| format!("{name}: the client cannot be started"))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let problems = || {
            let lines =
                printed.lines().filter(|line| !line.contains(r#""ok":true"#) && !line.contains(r#""ok": true"#));
            format!("{}\n{}", lines.collect::<Vec<_>>().join("\n"), String::from_utf8_lossy(&output.stderr))
        };
        ensure!(output.status.success(), "{name}: {}", problems());
        let counts: Value = printed.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        let count =
            |field: &str| counts.get(field).and_then(Value::as_u64).with_context(|| format!("{name}: no {field}"));
        let calls = Calls { succeeded: count("succeeded")?, refused: count("refused")? };
        let protocol = counts.get("protocol").and_then(Value::as_str).unwrap_or_default();
        ensure!(protocol == self.protocol, "{name}: {protocol} was negotiated instead of {}", self.protocol);
        if self.makes_all {
            ensure!(
                (calls.succeeded, calls.refused) == (expected.succeeded, expected.refused),
                "{name}: {calls}, and not {expected}: {}",
                problems()
            );
        }
        let (call_count, tools, seconds) = (count("called")?, count("tools")?, started.elapsed().as_secs_f64());
        ensure!(
            call_count == named && calls.refused > 0,
            "{name}: {call_count} of {named} tools in the table, {calls}"
        );
        println!("{name}, {protocol}: {call_count} of {tools} tools, {calls}, {seconds:.1} s");
        Ok(calls)
    }
}
