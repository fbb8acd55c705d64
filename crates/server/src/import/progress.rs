//! How far a command is, for whoever watches it: a bar on a terminal, else a line every ten seconds.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How often a line is written.
const INTERVAL: Duration = Duration::from_secs(10);

/// The progress of a command, on standard error.
pub(crate) struct Display {
    bar: Option<ProgressBar>,
    last: Instant,
}

impl Display {
    /// Begins to show a progress.
    pub(crate) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(0);
            if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {human_pos}/{human_len}") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar
        });
        Self { bar, last: Instant::now() }
    }

    /// Says how many of the records of a stage are done.
    pub(crate) fn show(&mut self, stage: &str, done: u64, total: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
            bar.set_message(stage.to_owned());
        } else if self.last.elapsed() >= INTERVAL {
            self.last = Instant::now();
            eprintln!("{stage}: {done} of {total}");
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
