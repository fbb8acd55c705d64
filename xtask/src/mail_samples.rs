//! `cargo xtask mail-samples`: examples of all mails in all languages, as the mail crate renders them.

use crate::run::{WORKSPACE, cargo};

/// Writes docs/mail-samples. A test of the mail crate fails when they are out of date.
pub(crate) fn run() -> anyhow::Result<()> {
    cargo(&[&["test"], &WORKSPACE[..], &["--lib", "samples::"]].concat(), &[("WRITE_MAIL_SAMPLES", "1")])
}
