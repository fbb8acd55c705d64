//! Commands for maintainers: `cargo xtask <command>`, one file per command.
//!
//! Commands that need servers or many crates are behind the feature `servers`. `cargo xtask` compiles without it, and
//! builds the rest when one of those commands is run.

#[cfg(feature = "servers")]
mod attack;
#[cfg(feature = "servers")]
mod bench;
mod ci;
mod coverage;
#[cfg(feature = "servers")]
mod demo_service;
mod deny;
#[cfg(feature = "servers")]
mod dist;
#[cfg(feature = "servers")]
mod fuzz_api;
mod layers;
#[cfg(feature = "servers")]
mod load;
mod mail_samples;
mod migrations;
#[cfg(feature = "servers")]
mod mutants;
mod node;
mod openapi;
mod packaging;
#[cfg(feature = "servers")]
mod postgres;
#[cfg(feature = "servers")]
mod process;
mod public_docs;
#[cfg(feature = "servers")]
mod release;
mod run;
#[cfg(feature = "servers")]
mod search_eval;
#[cfg(feature = "servers")]
mod soak;
#[cfg(feature = "servers")]
mod store;
#[cfg(feature = "servers")]
mod test;
mod test_browser;
#[cfg(feature = "servers")]
mod test_clients;
#[cfg(feature = "servers")]
mod test_mcp;
mod test_proxies;
mod tools;
#[cfg(feature = "servers")]
mod torture;

use clap::{Parser, Subcommand};

/// Tests, checks and benchmarks of the project
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
#[cfg_attr(not(feature = "servers"), command(after_help = SERVERS))]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// Help text for the commands that are not compiled yet.
#[cfg(not(feature = "servers"))]
const SERVERS: &str = "Further commands, compiled when one of them is run (`cargo xtask <command> --help`):\n  \
    test, torture, fuzz-api, test-clients, test-mcp, bench, soak, attack, search-eval, mutants, dist, release";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run all tests; installs missing programs if possible
    #[cfg(feature = "servers")]
    Test(test::Test),
    /// Run all tests on both stores, and the long versions of those that kill processes, cut connections and fill
    /// disks
    #[cfg(feature = "servers")]
    Torture(torture::Torture),
    /// Open hostile content in a browser, where no script in it runs, and all pages, which must be accessible
    TestBrowser(test_browser::TestBrowser),
    /// Attack the service through nginx and HAProxy; installs them if possible
    TestProxies,
    /// Run all checks that a change must pass: format, lints, layers, doc comments, dependencies, migrations,
    /// tests, browser, proxies
    Ci(ci::Ci),
    /// Check the allowed dependencies of each crate
    Layers,
    /// Print the tests for each sentence of the HTTP contract, and check that every section has one
    Coverage,
    /// Check licences, sources and known vulnerabilities of the dependencies
    Deny(deny::Deny),
    /// Check that public items have doc comments
    PublicDocs,
    /// Check that the container, compose and systemd files match the service
    Packaging,
    /// Check that both stores have the same migrations, each with up and down
    Migrations,
    /// Write docs/openapi.json and the list of the tools of agents, docs/mcp-tools.json, from the code
    Openapi(openapi::OpenApi),
    /// Write docs/mail-samples: examples of all mails in all languages
    MailSamples,
    /// Fuzz the API from its OpenAPI document; installs missing programs
    #[cfg(feature = "servers")]
    FuzzApi(fuzz_api::FuzzApi),
    /// Generate clients from the OpenAPI document, and make the usual calls with them; installs the generators
    #[cfg(feature = "servers")]
    TestClients,
    /// Drive the tools of agents by official clients and the conformance suite of MCP; installs them
    #[cfg(feature = "servers")]
    TestMcp(test_mcp::TestMcp),
    /// Measure throughput, latency and cost of a release build with generated data
    #[cfg(feature = "servers")]
    Bench(bench::Bench),
    /// Load a release build with half of what it can take for a long time, and watch memory and latencies
    #[cfg(feature = "servers")]
    Soak(soak::Soak),
    /// Attack a release build from one workspace, and measure the effect on another one
    #[cfg(feature = "servers")]
    Attack(attack::Attack),
    /// Measure how well searches find what people mean, with judged queries
    #[cfg(feature = "servers")]
    SearchEval(search_eval::SearchEval),
    /// Run cargo-mutants with the servers that the tests need; takes hours without --file or --shard
    #[cfg(feature = "servers")]
    Mutants(mutants::Mutants),
    /// Build the distributed binary, and pack it into an archive with its accompanying files
    #[cfg(feature = "servers")]
    Dist(dist::Dist),
    /// Check, build, commit and tag a new version
    #[cfg(feature = "servers")]
    Release(release::Release),
    /// A command behind the feature `servers`, or an unknown one.
    #[cfg(not(feature = "servers"))]
    #[command(external_subcommand)]
    WithServers(Vec<String>),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        #[cfg(feature = "servers")]
        Command::Test(command) => command.run(),
        #[cfg(feature = "servers")]
        Command::Torture(command) => command.run(),
        Command::TestBrowser(command) => command.run(),
        Command::TestProxies => test_proxies::run(),
        Command::Ci(ci) => ci.run(),
        Command::Layers => layers::run(),
        Command::Coverage => coverage::run(),
        Command::Deny(command) => command.run(),
        Command::PublicDocs => public_docs::run(),
        Command::Packaging => packaging::run(),
        Command::Migrations => migrations::run(),
        Command::Openapi(command) => command.run(),
        Command::MailSamples => mail_samples::run(),
        #[cfg(feature = "servers")]
        Command::FuzzApi(command) => command.run(),
        #[cfg(feature = "servers")]
        Command::TestClients => test_clients::run(),
        #[cfg(feature = "servers")]
        Command::TestMcp(command) => command.run(),
        #[cfg(feature = "servers")]
        Command::Bench(command) => command.run(),
        #[cfg(feature = "servers")]
        Command::Soak(command) => command.run(),
        #[cfg(feature = "servers")]
        Command::Attack(command) => command.run(),
        #[cfg(feature = "servers")]
        Command::SearchEval(command) => command.run(),
        #[cfg(feature = "servers")]
        Command::Mutants(command) => command.run(),
        #[cfg(feature = "servers")]
        Command::Dist(command) => command.run().map(drop),
        #[cfg(feature = "servers")]
        Command::Release(command) => command.run(),
        #[cfg(not(feature = "servers"))]
        Command::WithServers(arguments) => run::with_servers(&arguments),
    }
}
