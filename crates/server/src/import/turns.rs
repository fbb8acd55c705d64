//! Lets other processes write between the batches of a long command.

use std::time::Duration;

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
