//! Lets other processes write between the batches of a long command.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::ports::UnitOfWork;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};

use crate::wiring::Application;

/// How long SQLite has waited for a lock, and until when it then looks again (`sqliteDefaultBusyCallback`): a process that
/// began to wait with a batch looks within the pause after it.
const PATIENCE: [(Duration, Duration); 4] = [
    (Duration::from_millis(8), Duration::from_millis(6)),
    (Duration::from_millis(53), Duration::from_millis(21)),
    (Duration::from_millis(128), Duration::from_millis(26)),
    (Duration::from_millis(228), Duration::from_millis(51)),
];
/// The same for whoever has waited longer.
const LONGEST: Duration = Duration::from_millis(101);

/// Pauses after a batch that took so long. With SQLite, who waits for another process only looks now and then whether it is
/// their turn, and would hardly ever see it. PostgreSQL tells them.
pub(crate) async fn pause_after(application: &Application, elapsed: Duration) {
    if application.writers_poll() {
        tokio::time::sleep(pause(elapsed)).await;
    }
}

fn pause(elapsed: Duration) -> Duration {
    PATIENCE.iter().find(|(waited, _)| elapsed <= *waited).map_or(LONGEST, |(_, pause)| *pause)
}

/// A batch whose work is timed: neither the wait for others before it, nor that for the disk after it, which smaller batches
/// would only have more often.
pub(crate) struct Timed<'a, O> {
    batch: &'a O,
    worked: Mutex<Duration>,
}

impl<'a, O> Timed<'a, O> {
    pub(crate) fn new(batch: &'a O) -> Self {
        Self { batch, worked: Mutex::default() }
    }

    /// Returns how long the batch has worked.
    pub(crate) fn worked(&self) -> Duration {
        *self.worked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<O: Operation> Operation for Timed<'_, O> {
    type Output = O::Output;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<O::Output>, RoadmapError> {
        let began = Instant::now();
        let performed = self.batch.perform(context, work).await;
        *self.worked.lock().unwrap_or_else(PoisonError::into_inner) = began.elapsed();
        performed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_began_to_wait_with_a_batch_looks_within_the_pause_after_it() {
        // The delays of SQLite, in milliseconds.
        let delays = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50].into_iter().chain(std::iter::repeat(100));
        for batch in 1..1_000_u64 {
            let paused = u64::try_from(pause(Duration::from_millis(batch)).as_millis()).unwrap();
            for begin in 0..batch {
                let mut looked = begin;
                for delay in delays.clone() {
                    looked += delay;
                    if looked >= batch {
                        break;
                    }
                }
                assert!(looked < batch + paused, "{batch} {begin} {looked}");
            }
        }
    }
}
