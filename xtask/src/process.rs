//! Processes that commands start: killed when dropped, and measured through `/proc`.

use std::io::BufReader;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::Context;

/// Running process. Killed when dropped.
pub(crate) struct Process(Child);

impl Process {
    /// Starts a program. Returns it with its standard output.
    pub(crate) fn start(command: &mut Command, name: &str) -> anyhow::Result<(Self, BufReader<ChildStdout>)> {
        let child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("{name} cannot be started"))?;
        let mut process = Self(child);
        let output = process.0.stdout.take().context("no output")?;
        Ok((process, BufReader::new(output)))
    }

    /// Whether it has exited.
    pub(crate) fn has_exited(&mut self) -> anyhow::Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Resident memory in megabytes.
    pub(crate) fn resident_mb(&self) -> anyhow::Result<f64> {
        self.status_mb("VmRSS:")
    }

    /// Highest resident memory until now, in megabytes.
    pub(crate) fn peak_mb(&self) -> anyhow::Result<f64> {
        self.status_mb("VmHWM:")
    }

    /// Resident memory that is no file's, in megabytes.
    pub(crate) fn anonymous_mb(&self) -> anyhow::Result<f64> {
        self.status_mb("RssAnon:")
    }

    /// User and system processor time of all its threads until now.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        Ok(Duration::from_millis(ticks(self.id(), 2)? * 10))
    }

    fn status_mb(&self, field: &'static str) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field)).context("no such field in the status")?;
        let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kilobytes / 1024.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Processor time of a process in ticks of 10 ms: the sum of the first `fields` of `utime`, `stime`, `cutime` and
/// `cstime`.
pub(crate) fn ticks(process: u32, fields: usize) -> anyhow::Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // Fields from 14, counted after the name in parentheses.
    let (_, behind) = stat.rsplit_once(')').context("no fields")?;
    Ok(behind.split_whitespace().skip(11).take(fields).filter_map(|ticks| ticks.parse::<u64>().ok()).sum())
}
