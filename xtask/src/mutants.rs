//! `cargo xtask mutants`: mutation testing by cargo-mutants with the servers that the tests need, configured in
//! `.cargo/mutants.toml`.

use std::process::Command;

use anyhow::{Context, ensure};
use roadmap_testkit::fail_fast;
use roadmap_testkit::postgres::SERVER_VARIABLE;
use semver::Version;

use crate::postgres;
use crate::run::root;
use crate::tools::Tool;

/// Files where no mutant may survive: operation keys, authentication, signed references, workspace isolation,
/// pagination.
const CRITICAL: [&str; 20] = [
    "crates/api/src/extractors.rs",
    "crates/api/src/fields.rs",
    "crates/api/src/wire/page.rs",
    "crates/domain/src/model/api_key.rs",
    "crates/domain/src/model/operation_key.rs",
    "crates/domain/src/model/pagination.rs",
    "crates/domain/src/policy/idempotency.rs",
    "crates/domain/src/policy/signed_reference.rs",
    "crates/domain/src/usecase/authenticate.rs",
    "crates/domain/src/usecase/executor.rs",
    "crates/http/src/authentication.rs",
    "crates/http/src/routing.rs",
    "crates/http/src/workspace.rs",
    "crates/postgres/src/reads/directory.rs",
    "crates/postgres/src/session.rs",
    "crates/postgres/src/locks.rs",
    "crates/postgres/src/saved_responses.rs",
    "crates/postgres/src/unit.rs",
    "crates/sqlite/src/reads/directory.rs",
    "crates/sqlite/src/unit.rs",
];

/// Fails when a mutant survives. Further arguments go to cargo-mutants: `--file`, `--shard`, `--list`, `--iterate`, …
#[derive(Debug, clap::Args)]
pub(crate) struct Mutants {
    /// Only the files where no mutant may survive, with the tests of all crates
    #[arg(long)]
    critical: bool,
    /// Arguments for cargo-mutants
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Mutants {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let tool = Tool { package: "cargo-mutants", version: Version::new(27, 1, 0), arguments: &[] };
        let server = postgres::Server::find()?;
        let mut command = Command::new(tool.find()?);
        command.args(["mutants", "--no-shuffle", "--output", "target/mutants"]).current_dir(root());
        if self.critical {
            command.args(CRITICAL.map(|file| format!("--file={file}")));
            command.arg("--test-workspace=true");
        }
        // Mutants are not debugged, and one failing test is enough.
        command.env("CARGO_PROFILE_DEV_DEBUG", "none").env(fail_fast::VARIABLE, "1");
        command.args(&self.arguments).env(SERVER_VARIABLE, &server.url);
        let status = command.status().context("cargo-mutants cannot be started")?;
        // 3: some mutants ran into the time limit, which also counts as caught.
        ensure!(matches!(status.code(), Some(0 | 3)), "cargo mutants: {status}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_files_exist() {
        for file in CRITICAL {
            assert!(root().join(file).is_file(), "{file}");
        }
    }
}
