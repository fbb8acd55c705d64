//! The load client of the commands that measure: connections, requests, latencies, and the service under load.

mod connection;
mod service;

use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::ensure;
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use futures_util::stream::FuturesUnordered;
use rand::SeedableRng;
use rand::rngs::SmallRng;

use crate::run::{cargo, root};
pub(crate) use connection::Connection;
pub(crate) use service::{HOST, Service};

/// Method, path and body of a request.
pub(crate) type Request = (&'static str, String, String);

/// Disables rate limits, because they would limit the measurement.
pub(crate) const WITHOUT_LIMITS: [(&str, &str); 4] = [
    ("ROADMAP_RATE_LIMIT", "off"),
    ("ROADMAP_RATE_LIMIT_WORKSPACE", "off"),
    ("ROADMAP_RATE_LIMIT_FAILURES", "off"),
    ("ROADMAP_RATE_LIMIT_ANONYMOUS", "off"),
];

/// Connections that load data.
const LOADERS: usize = 16;

/// Builds the service in release mode, and returns its path.
pub(crate) fn build_release() -> anyhow::Result<PathBuf> {
    cargo(&["build", "--release", "--locked", "--package", "roadmap-server"], &[])?;
    Ok(root().join("target/release/roadmap"))
}

/// Runs the load generator on this thread alone, because it competes with the service for the processor.
pub(crate) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// Sends requests with these numbers over several connections at the same time.
pub(crate) async fn fill(
    connect: impl AsyncFn(usize) -> anyhow::Result<Connection>,
    numbers: Range<u64>,
    send: impl AsyncFn(&mut Connection, u64) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    try_join_all((0..LOADERS).map(async |loader| {
        let mut connection = connect(loader).await?;
        for number in numbers.clone().skip(loader).step_by(LOADERS) {
            send(&mut connection, number).await?;
        }
        anyhow::Ok(())
    }))
    .await
    .map(drop)
}

/// Sends requests in a closed loop on a connection for each seed: the next request follows the last response. `send`
/// returns the status. Returns the latencies, and the time of all.
pub(crate) fn closed_loop(
    service: &Service,
    seeds: impl Iterator<Item = u64>,
    time: Duration,
    next: impl Fn(&mut SmallRng) -> Request,
    send: impl AsyncFn(&mut Connection, &Request) -> anyhow::Result<u16>,
) -> anyhow::Result<(Vec<Duration>, Duration)> {
    let began = Instant::now();
    let callers = seeds.map(async |seed| {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut connection = service.connect().await?;
        let mut latencies = Vec::new();
        while began.elapsed() < time {
            let request = next(&mut random);
            let start = Instant::now();
            let status = send(&mut connection, &request).await?;
            latencies.push(start.elapsed());
            let (method, path, _) = request;
            ensure!(matches!(status, 200 | 201 | 304), "{method} {path} returned {status}");
        }
        Ok(latencies)
    });
    let latencies: Vec<Vec<Duration>> = block_on(callers.collect::<FuturesUnordered<_>>().try_collect())?;
    let latencies = latencies.concat();
    ensure!(!latencies.is_empty(), "no request completed in time");
    Ok((latencies, began.elapsed()))
}

/// Sorted latencies.
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Duration> {
        self.0.iter().copied()
    }

    /// Returns a percentile, zero if there are no latencies.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let index = (self.0.len() * percent).div_ceil(100).saturating_sub(1);
        self.0.get(index).copied().unwrap_or_default()
    }

    /// Returns a percentile in milliseconds.
    pub(crate) fn millis(&self, percent: usize) -> f64 {
        self.percentile(percent).as_secs_f64() * 1e3
    }
}

impl FromIterator<Duration> for Latencies {
    fn from_iter<T: IntoIterator<Item = Duration>>(latencies: T) -> Self {
        let mut latencies: Vec<Duration> = latencies.into_iter().collect();
        latencies.sort_unstable();
        Self(latencies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_latency_that_so_many_do_not_exceed() {
        let percentiles = |millis: Vec<u64>| {
            let latencies: Latencies = millis.into_iter().map(Duration::from_millis).collect();
            [0, 1, 50, 99, 100].map(|percent| latencies.percentile(percent).as_millis())
        };
        assert_eq!(percentiles((1..=100).rev().collect()), [1, 1, 50, 99, 100]);
        assert_eq!(percentiles(vec![30, 10, 40, 20]), [10, 10, 20, 40, 40]);
        assert_eq!(percentiles(Vec::new()), [0; 5]);
    }
}
