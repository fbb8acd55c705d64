//! The binary `roadmap`: serves the external API and runs operator commands.
//!
//! - [`settings`]: settings from flags, environment, file and defaults.
//! - [`wiring`]: connects the domain with its adapters.
//! - [`operator`]: who runs a command.
//! - [`credentials`]: API keys and sign-ins that commands and the demo create.
//! - [`system`]: clock, ids, random numbers, operation locks and caches in front of the store.
//! - [`ownership`]: who owns the data, and who may not use it.
//! - [`personal_files`]: files with addresses and names of people.
//! - [`report`]: errors as an operator reads them.
//! - [`secret`]: the secret that signs references.
//! - [`telemetry`]: logging and traces.
//! - [`metrics`]: metrics for Prometheus.
//! - [`shutdown`]: graceful shutdown.
//! - [`worker`]: sends mail and events until the shutdown.
//! - [`doctor`]: checks the settings and everything that they refer to.
//! - [`archive`]: a backup as one file.
//! - [`import`]: records of other programs.
//! - [`export`]: everything of a workspace as one zip.
//! - [`commands`]: one module per command of the command line.
//!
//! Not here: business rules and SQL.

mod archive;
mod commands;
mod credentials;
mod demo;
mod doctor;
mod export;
mod import;
mod jobs;
mod metrics;
mod operator;
mod ownership;
mod personal_files;
mod report;
mod secret;
mod settings;
mod shutdown;
mod system;
mod telemetry;
mod traces;
mod wiring;
mod worker;

use std::process::ExitCode;

use clap::Parser;
use rustix::fs::Mode;

use crate::commands::Arguments;

#[tokio::main]
async fn main() -> ExitCode {
    // All files are private to the owner, whatever the caller's umask. This precedes the creation of any file.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    match Arguments::parse().run().await {
        Ok(code) => code,
        Err(error) => {
            // The whole chain of causes on one line.
            eprintln!("error: {}", report::error_line(&error));
            ExitCode::FAILURE
        }
    }
}
