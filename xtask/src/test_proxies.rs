//! `cargo xtask test-proxies`: attacks the service through common reverse proxies.

use crate::run::{WORKSPACE, cargo, require_program};

/// Runs the tests that `cargo xtask test` skips because they need these programs.
pub(crate) fn run() -> anyhow::Result<()> {
    for (program, package) in [("nginx", "nginx-light"), ("haproxy", "haproxy")] {
        require_program(
            program,
            package,
            "install it with the system's package manager, and see that it is on the PATH",
        )?;
    }
    let tests = ["--test", "api", "--", "--ignored", "--nocapture", "behind_proxies"];
    cargo(&[&["test"], &WORKSPACE[..], &tests].concat(), &[])
}
