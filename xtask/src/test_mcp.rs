//! `cargo xtask test-mcp`: tests the MCP endpoint by programs of others, the official conformance suite and the official
//! client libraries, by generated calls, and measures what a call costs.
//!
//! The programs of `tests/mcp` drive them. They are installed under `target/`.

mod clients;
mod conformance;
mod cost;
mod generated;
mod programs;

use std::time::Instant;

use crate::demo_service::DemoService;
use crate::run::service;
use crate::store::Store;
use clients::{Calls, Target};
use conformance::Forwarder;
use programs::Programs;

/// Comments that wait for approval, of which each client approves one.
const HELD_COMMENTS: u32 = 50;

/// Generated calls and calls whose client leaves, of a full run and of a short one.
const CALLS: usize = 10_000;
const SHORT_CALLS: usize = 1_500;

/// Prints the numbers of scenarios and calls, and fails when one fails
#[derive(Debug, clap::Args)]
pub(crate) struct TestMcp {
    /// The only store to test; both by default. The conformance suite runs on SQLite only
    #[arg(long)]
    store: Option<Store>,
    /// On SQLite only, with fewer generated calls, as in `cargo xtask ci`
    #[arg(long, conflicts_with = "store")]
    short: bool,
}

impl TestMcp {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let programs = Programs::install()?;
        let binary = service()?;
        let (only, number) = if self.short { (Some(Store::Sqlite), SHORT_CALLS) } else { (self.store, CALLS) };
        let mut all = Calls::default();
        for store in Store::selected(only) {
            let port = conformance::free_port()?;
            // The suite sends the origin of the forwarder, and expects that it is the service's own.
            let origin = format!("http://localhost:{port}");
            let demo = DemoService::start(&binary, store, &[("ROADMAP_MCP_ALLOWED_ORIGINS", &origin)])?;
            demo.hold_comments(HELD_COMMENTS)?;
            if store == Store::Sqlite {
                let forwarder = Forwarder::start(&programs, &demo, port)?;
                conformance::run(&programs, &forwarder)?;
            }
            let started = Instant::now();
            let mut calls = clients::run(&programs, &demo, &Target::Http)?;
            calls += clients::run(&programs, &demo, &Target::Bridge(&binary))?;
            println!("{store:?}: {calls}, {:.0} s", started.elapsed().as_secs_f64());
            all += calls;
            cost::measure(&demo)?;
            cost::leave(&demo, number)?;
            generated::run(&demo, number)?;
        }
        println!("MCP clients: {all}");
        Ok(())
    }
}
