//! Figures of a measurement, and how they are printed.

use std::fmt;
use std::time::Duration;

use crate::load::Latencies;

/// Figures of a measurement.
pub(super) struct Figures {
    pub(super) per_second: f64,
    /// Percentiles of the latency, in milliseconds.
    p50: f64,
    pub(super) p99: f64,
    /// Processor time of the service and of the database server, in milliseconds per request.
    cpu: [f64; 2],
}

impl Figures {
    /// Figures of requests that took this time together, with the processor times before and after them.
    pub(super) fn new(
        latencies: Vec<Duration>,
        elapsed: Duration,
        before: [Duration; 2],
        after: [Duration; 2],
    ) -> Self {
        #[expect(clippy::cast_precision_loss)]
        let requests = latencies.len() as f64;
        let latencies = Latencies::from_iter(latencies);
        let [before, after] = [before, after].map(|parts| parts.map(|time| time.as_secs_f64()));
        let ([service_before, server_before], [service, server]) = (before, after);
        Self {
            per_second: requests / elapsed.as_secs_f64(),
            p50: latencies.millis(50),
            p99: latencies.millis(99),
            cpu: [service - service_before, server - server_before].map(|seconds| seconds * 1e3 / requests),
        }
    }

    pub(super) fn total_cpu(&self) -> f64 {
        self.cpu.iter().sum()
    }

    /// Formats processor time per request, with both parts where there are two.
    pub(super) fn cpu(&self) -> String {
        match self.cpu {
            [service, 0.0] => format!("{service:.3}"),
            [service, server] => format!("{:.3} ({service:.3} + {server:.3})", service + server),
        }
    }
}

/// The cells of a table: rate, median, 99th percentile and processor time.
impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { per_second, p50, p99, .. } = self;
        write!(f, "{per_second:.0} | {p50:.2} | {p99:.2} | {}", self.cpu())
    }
}

/// Prints the beginning of a table of times with a common limit in milliseconds.
pub(super) fn print_times(title: &str, what: &str, times: &Latencies, target: f64) {
    println!("\n| {title} | ms | target |");
    println!("|---|---:|---:|");
    println!("| {what}median | {:.0} | {target} |", times.millis(50));
    println!("| {what}slowest of {} | {:.0} | {target} |", times.count(), times.millis(100));
}
