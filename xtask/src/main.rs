//! What maintainers run: `cargo xtask <command>`, one file per command.

mod attack;
mod bench;
mod ci;
mod coverage;
mod deny;
mod dist;
mod fuzz_api;
mod layers;
mod migrations;
mod mutants;
mod openapi;
mod packaging;
mod postgres;
mod release;
mod run;
mod test;
mod test_browser;
mod test_proxies;
mod tools;
mod torture;

use clap::{Parser, Subcommand};

/// Tests, checks and benchmarks of the project
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run all tests; installs what they need where it may
    Test(test::Test),
    /// Run the tests that kill, cut and fill for as long as it takes to believe them
    Torture(torture::Torture),
    /// Open hostile files, comments and mails in a browser, where nothing of them may run
    TestBrowser,
    /// Attack the service through nginx and HAProxy; installs them where it may
    TestProxies,
    /// Run everything that a change must pass: format, lints, layers, dependencies, migrations, tests, browser, proxies
    Ci,
    /// Check which crate may depend on what
    Layers,
    /// Check that the tests which the contract coverage names exist
    Coverage,
    /// Check licences, sources and known faults of the dependencies
    Deny(deny::Deny),
    /// Check that the container, compose and systemd files agree with the service
    Packaging,
    /// Check that the migrations go up, down and up again to the same schema
    Migrations,
    /// Write the document of the API, docs/openapi.json, from the code
    Openapi(openapi::OpenApi),
    /// Try calls that nobody thought of, made from the document of the API; installs what it needs
    FuzzApi(fuzz_api::FuzzApi),
    /// Build for release, load data, and print rates, latencies and costs
    Bench(bench::Bench),
    /// Attack a release build from one workspace, and print what its neighbour notices
    Attack(attack::Attack),
    /// Change the code in small ways and see whether the tests notice; takes hours without --file or --shard
    Mutants(mutants::Mutants),
    /// Build the binary that is handed out, and pack it with what belongs to it
    Dist(dist::Dist),
    /// Check, build, commit and tag a new version
    Release(release::Release),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Test(command) => command.run(),
        Command::Torture(command) => command.run(),
        Command::TestBrowser => test_browser::run(),
        Command::TestProxies => test_proxies::run(),
        Command::Ci => ci::run(),
        Command::Layers => layers::run(),
        Command::Coverage => coverage::run(),
        Command::Deny(command) => command.run(),
        Command::Packaging => packaging::run(),
        Command::Migrations => migrations::run(),
        Command::Openapi(command) => command.run(),
        Command::FuzzApi(command) => command.run(),
        Command::Bench(command) => command.run(),
        Command::Attack(command) => command.run(),
        Command::Mutants(command) => command.run(),
        Command::Dist(command) => command.run().map(drop),
        Command::Release(command) => command.run(),
    }
}
