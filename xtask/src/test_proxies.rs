//! `cargo xtask test-proxies`: attacks through the proxies that people put in front of the service.

use crate::run::{cargo, has_with, install};

/// The programs, the argument by which they tell their version, and their packages.
const PROXIES: [(&str, &str, &str); 2] = [("nginx", "-v", "nginx-light"), ("haproxy", "-v", "haproxy")];

/// Runs the tests that `cargo xtask test` leaves out because they need these programs.
pub(crate) fn run() -> anyhow::Result<()> {
    for (program, version, package) in PROXIES {
        if !has_with(program, version) {
            install(
                package,
                &format!("install {program} with the system's package manager, and see that it is on the PATH"),
            )?;
            anyhow::ensure!(has_with(program, version), "{program} was installed and is not on the PATH");
        }
    }
    // Of the whole workspace: what all tests are built of serves these, too.
    cargo(
        &["test", "--locked", "--workspace", "--test", "api", "--", "--ignored", "--nocapture", "behind_proxies"],
        &[],
    )
}
