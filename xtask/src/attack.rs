//! `cargo xtask attack`: measures what one workspace notices while another workspace or an anonymous client attacks
//! the service.
//!
//! The neighbour workspace votes, searches and lists at a steady rate, and `/healthz` is requested alongside. Both
//! are measured first alone and then during each attack of [`attacks`]. Limits and budgets are the service's
//! defaults. Everything runs on this machine and its loopback interface, attackers included.

mod attacks;
mod neighbour;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, ensure};
use roadmap_testkit::postgres::Durability;

use crate::load::{Service, WITHOUT_LIMITS, block_on, build_release};
use crate::run::{in_release, service as debug_service};
use crate::store::Store;
use attacks::{ATTACKS, Attacker};
use neighbour::{Figures, Neighbour};

/// Highest allowed slowdown of the neighbour's p99. Latencies up to the next constant always pass.
const MAX_SLOWDOWN: f64 = 2.0;
const ALWAYS_FAST_ENOUGH: Duration = Duration::from_millis(50);

/// Highest allowed latency of `/healthz`.
const HEALTHZ_LIMIT: Duration = Duration::from_millis(100);

/// Highest allowed growth of memory during an attack, in megabytes.
const MEMORY_LIMIT_MB: f64 = 64.0;

#[derive(Debug, clap::Args)]
pub(crate) struct Attack {
    /// Stores to attack
    #[arg(long, value_delimiter = ',', default_values_t = [Store::Sqlite, Store::Postgres])]
    store: Vec<Store>,
    /// Seconds for each attack
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Feature requests of the attacker, most of them new and with a common word
    #[arg(long, default_value_t = 100_000)]
    requests: u64,
    /// Only attacks whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Attack a debug build, without limits on latency
    #[arg(long)]
    debug: bool,
    /// Attack this program, such as an older version, and build nothing
    #[arg(long)]
    binary: Option<PathBuf>,
}

impl Attack {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        if self.debug { self.attack_stores() } else { in_release(|| self.attack_stores()) }
    }

    fn attack_stores(&self) -> anyhow::Result<()> {
        let binary = match &self.binary {
            Some(binary) => binary.canonicalize().with_context(|| format!("there is no {}", binary.display()))?,
            None if self.debug => debug_service()?,
            None => build_release()?,
        };
        let mut missed = Vec::new();
        for store in &self.store {
            missed.extend(self.attack(*store, binary.clone())?);
        }
        ensure!(missed.is_empty(), "bars were missed:\n{}", missed.join("\n"));
        Ok(())
    }

    /// Runs all attacks on one store. Returns the limits that were exceeded.
    fn attack(&self, store: Store, binary: PathBuf) -> anyhow::Result<Vec<String>> {
        let mut service = Service::new(binary, store.cluster(Durability::Full)?)?;
        let neighbour = Neighbour::new(&service)?;
        let attacker = Attacker::new(&service)?;
        service.start(&[&WITHOUT_LIMITS[..], &[("ROADMAP_STORAGE_RECORDS", "off")]].concat())?;
        block_on(neighbour.load(service.port()?))?;
        block_on(attacker.load(service.port()?, self.requests))?;
        service.stop();
        service.start(&[])?;

        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let port = service.port()?;
        let time = Duration::from_secs(self.seconds);
        let watch = |attack: Option<&attacks::AttackFn>| -> anyhow::Result<(Figures, f64, String)> {
            let process = service.process()?;
            let before = process.resident_mb()?;
            runtime.block_on(async {
                let attacking = attack.map(|attack| tokio::spawn(attack(attacker.clone(), port, time)));
                let watched = tokio::spawn(neighbour.clone().watch(port, time));
                let mut peak = before;
                while !watched.is_finished() {
                    peak = peak.max(process.resident_mb()?);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                let figures = watched.await.context("the neighbour")??;
                let outcome = match attacking {
                    Some(attacking) => attacking.await.context("the attack")?,
                    None => String::new(),
                };
                Ok((figures, peak - before, outcome))
            })
        };
        // Warm-up.
        watch(None)?;
        let (quiet, ..) = watch(None)?;
        println!("\n## {store}, {} requests of the attacker\n", self.requests);
        println!("| attack | p50 ms | p99 ms | longest ms | `/healthz` p99 ms | memory | 5xx | the attacker got |");
        println!("|---|---:|---:|---:|---:|---:|---:|---|");
        println!("| none | {} | | | |", quiet.columns());
        let slow = quiet.p99().mul_f64(MAX_SLOWDOWN).max(ALWAYS_FAST_ENOUGH);
        let mut missed = Vec::new();
        for (name, attack) in ATTACKS.iter().filter(|(name, _)| name.contains(&self.only)) {
            let (figures, memory, outcome) = watch(Some(attack))?;
            println!("| {name} | {} | {memory:+.0} MB | {} | {outcome} |", figures.columns(), figures.server_errors);
            let mut miss = |what: String| missed.push(format!("{store}, {name}: {what}"));
            if !self.debug && figures.p99() > slow {
                miss(format!("p99 {:?}, allowed are {slow:?}", figures.p99()));
            }
            if !self.debug && figures.healthz_p99() > HEALTHZ_LIMIT {
                miss(format!("/healthz {:?}", figures.healthz_p99()));
            }
            if memory > MEMORY_LIMIT_MB {
                miss(format!("{memory:.0} MB more memory"));
            }
            if figures.server_errors > 0 {
                miss(format!("{} of the neighbour's requests got a 5xx", figures.server_errors));
            }
        }
        Ok(missed)
    }
}
