//! The official conformance suite, once for each era of the protocol.

use std::fs;
use std::io::BufRead;
use std::net::TcpListener;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::clients::KEY_VARIABLE;
use super::programs::Programs;
use crate::demo_service::DemoService;
use crate::process::Process;

/// The suite's program.
const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";

/// A revision of the specification, and what the suite checks of it.
struct Revision {
    name: &'static str,
    /// Scenarios that must pass, with the minimum number of their passed checks. The suite ignores failures of some of
    /// them, which are newer than the revision.
    scenarios: &'static [(&'static str, usize)],
}

const REVISIONS: [Revision; 2] = [
    Revision {
        name: "2026-07-28",
        scenarios: &[
            ("caching", 8),
            ("dns-rebinding-protection", 2),
            ("http-header-validation", 14),
            ("input-required-result-unsupported-methods", 2),
            ("input-required-result-validate-input", 3),
            ("prompts-list", 2),
            ("resources-list", 2),
            ("sep-2164-resource-not-found", 4),
            ("server-sse-multiple-streams", 1),
            ("server-stateless", 21),
            ("tools-list", 4),
        ],
    },
    Revision {
        name: "2025-11-25",
        scenarios: &[
            ("dns-rebinding-protection", 2),
            ("ping", 2),
            ("prompts-list", 2),
            ("resources-list", 2),
            ("server-initialize", 2),
            // It has no sessions.
            ("server-session-lifecycle", 0),
            ("tools-list", 3),
        ],
    },
];

/// Runs the suite at each revision, through a forwarder that adds the API key.
pub(super) fn run(programs: &Programs, forwarder: &Forwarder) -> anyhow::Result<()> {
    REVISIONS.iter().try_for_each(|revision| revision.run(programs, &forwarder.url))
}

impl Revision {
    fn run(&self, programs: &Programs, url: &str) -> anyhow::Result<()> {
        let (started, results, name) = (Instant::now(), tempfile::tempdir()?, self.name);
        let baseline = format!("baseline-{name}.yaml");
        let mut suite = programs.command(&[SUITE, "server"]);
        suite.args(["--url", &format!("{url}/mcp"), "--requirements", name]);
        suite.args(["--expected-failures", &baseline, "--output-dir"]).arg(results.path());
        let output = suite.output().context("the conformance suite cannot be started")?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let verdict = printed.split_once("=== SUMMARY ===").map_or(&*printed, |(_, verdict)| verdict);
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "conformance to {name}: {verdict}\n{errors}");

        let excused = excused(&fs::read_to_string(programs.folder.join(&baseline))?);
        // An entry with a wrong name would go unnoticed.
        let failed = verdict.lines().filter(|line| line.starts_with("  ~ ")).count();
        ensure!(failed == excused.len(), "{baseline} has {} entries, of which {failed} fail: {verdict}", excused.len());
        let mut passed = 0;
        for (scenario, least) in self.scenarios {
            passed += judge(&checks(results.path(), scenario)?, scenario, *least, &excused)
                .with_context(|| format!("conformance to {name}"))?;
        }
        let (scenarios, seconds) = (self.scenarios.len(), started.elapsed().as_secs_f64());
        println!(
            "Conformance to {name}: {scenarios} scenarios with {passed} checks pass, {failed} are excused, {seconds:.1} s"
        );
        Ok(())
    }
}

/// Checks a scenario that must pass. Returns the number of its passed checks.
fn judge(checks: &[Value], scenario: &str, least: usize, excused: &[String]) -> anyhow::Result<usize> {
    let mut passed = 0;
    for check in checks {
        let field = |name: &str| check.get(name).and_then(Value::as_str).unwrap_or_default();
        match field("status") {
            "SUCCESS" => passed += 1,
            "INFO" | "SKIPPED" => {}
            status => {
                let entry = format!("{scenario}:{}", field("id"));
                ensure!(excused.contains(&entry), "{entry}: {status}: {}", field("errorMessage"));
            }
        }
    }
    ensure!(passed >= least, "{scenario}: {passed} checks passed, and not {least}");
    Ok(passed)
}

/// Reads the checks of a scenario. Its folder has the time in its name.
fn checks(results: &Path, scenario: &str) -> anyhow::Result<Vec<Value>> {
    let prefix = format!("server-{scenario}-2");
    for entry in fs::read_dir(results)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)) {
            return Ok(serde_json::from_slice(&fs::read(entry.path().join("checks.json"))?)?);
        }
    }
    anyhow::bail!("the suite did not run the scenario {scenario}")
}

/// The entries of a baseline.
fn excused(baseline: &str) -> Vec<String> {
    let entries = baseline.lines().filter_map(|line| line.trim_start().strip_prefix("- "));
    entries.map(|entry| entry.split_once(" #").map_or(entry, |(entry, _)| entry).trim().to_owned()).collect()
}

/// Returns a port that nobody listens on.
pub(super) fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Process that forwards requests to the service and adds the API key. Killed when dropped.
pub(super) struct Forwarder {
    _process: Process,
    url: String,
}

impl Forwarder {
    /// Starts to forward requests to a service.
    pub(super) fn start(programs: &Programs, service: &DemoService, port: u16) -> anyhow::Result<Self> {
        let mut command = programs.command(&["forward.mjs", &service.url, &port.to_string()]);
        command.env(KEY_VARIABLE, &service.key);
        let (process, mut output) = Process::start(&mut command, "the forwarder")?;
        let mut forwarder = Self { _process: process, url: String::new() };
        output.read_line(&mut forwarder.url)?;
        forwarder.url.truncate(forwarder.url.trim_end().len());
        ensure!(!forwarder.url.is_empty(), "the forwarder did not start");
        Ok(forwarder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_baselines_name_single_checks_and_excuse_no_required_scenario() {
        let baselines = [
            include_str!("../../../tests/mcp/baseline-2026-07-28.yaml"),
            include_str!("../../../tests/mcp/baseline-2025-11-25.yaml"),
        ];
        for (revision, baseline) in REVISIONS.iter().zip(baselines) {
            let entries = excused(baseline);
            assert!(entries.len() > 20, "{entries:?}");
            for entry in entries {
                let (scenario, check) = entry.split_once(':').unwrap();
                assert!(!check.starts_with("wire-schema"), "{entry}");
                // Its other checks are in one scenario with those of tools of the sample server.
                let is_required = revision.scenarios.iter().any(|(name, _)| *name == scenario);
                assert!(!is_required || scenario == "server-stateless", "{entry}");
            }
        }
    }

    #[test]
    fn a_failure_or_a_warning_fails_a_required_scenario() {
        let good = json!({ "id": "good", "status": "SUCCESS" });
        let skipped = json!({ "id": "skipped", "status": "SKIPPED" });
        for status in ["FAILURE", "WARNING"] {
            let checks =
                [good.clone(), skipped.clone(), json!({ "id": "bad", "status": status, "errorMessage": "why" })];
            let error = judge(&checks, "scenario", 1, &["other:bad".to_owned()]).unwrap_err();
            assert_eq!(error.to_string(), format!("scenario:bad: {status}: why"));
            assert_eq!(judge(&checks, "scenario", 1, &["scenario:bad".to_owned()]).unwrap(), 1);
        }
        let error = judge(&[good, skipped], "scenario", 2, &[]).unwrap_err();
        assert_eq!(error.to_string(), "scenario: 1 checks passed, and not 2");
    }
}
