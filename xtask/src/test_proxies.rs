//! `cargo xtask test-proxies`: attacks through the proxies that people put in front of the service.

use crate::run::{WORKSPACE, cargo, require_program};

/// Runs the tests that `cargo xtask test` leaves out because they need these programs.
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
