//! The binary `roadmap`: serves the external API and sets up workspaces.
//!
//! - [`settings`]: flags, environment, file, defaults.
//! - [`wiring`]: the only place where the domain meets its adapters.
//! - [`http`]: the web server, and its connections.
//! - [`system`]: clock, ids, chance and the gate of operation keys.
//! - [`secret`]: what references are signed with.
//! - [`telemetry`]: the log, and traces.
//! - [`metrics`]: what Prometheus asks for.
//! - [`shutdown`]: how the service stops.
//! - [`worker`]: sends mail until it is told to stop.
//! - [`doctor`]: what is wrong with the settings and all that they name.
//! - [`archive`]: a backup as one file.
//! - [`commands`]: one file per command of the command line.
//!
//! Not here: rules and SQL.

mod archive;
mod commands;
mod demo;
mod doctor;
mod metrics;
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
    // Whatever is written is for its owner alone, whoever starts this. No file is made before.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    match Arguments::parse().run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The whole chain on one line: what failed, and why.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
