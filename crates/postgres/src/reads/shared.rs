//! One answer for all who ask the same at the same time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use roadmap_domain::error::StoreError;
use uuid::Uuid;

/// A question that all callers of a workspace ask alike. Those who come while it is being asked wait,
/// and then one of them asks it for all of them: nobody gets an answer that was begun before they
/// came, so that whoever has seen a write acknowledged sees it in the answer too.
pub(crate) struct Shared<T> {
    asked: Mutex<HashMap<Uuid, Arc<Question<T>>>>,
}

struct Question<T> {
    /// How many have come.
    arrivals: AtomicU64,
    /// Held while the question is asked: the last answer, and for how many of those who came it is.
    turn: tokio::sync::Mutex<Option<(u64, Result<T, String>)>>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self { asked: Mutex::default() }
    }
}

impl<T: Clone> Shared<T> {
    /// The answer that `ask` gives, or gave to somebody else who asked after this call.
    pub(crate) async fn get(
        &self,
        workspace: Uuid,
        ask: impl AsyncFnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let question = Arc::clone(self.known().entry(workspace).or_insert_with(|| {
            Arc::new(Question { arrivals: AtomicU64::new(0), turn: tokio::sync::Mutex::new(None) })
        }));
        let _leave = Leave { shared: self, workspace };
        let place = question.arrivals.fetch_add(1, Ordering::SeqCst) + 1;
        let mut last = question.turn.lock().await;
        if let Some((served, answer)) = &*last
            && *served >= place
        {
            return answer.clone().map_err(|cause| StoreError::Unavailable(cause.into()));
        }
        let mut served = question.arrivals.load(Ordering::SeqCst);
        let answer = ask().await;
        if answer.is_err() {
            // Whoever has come meanwhile gets the failure too: asking again after this wait, they would
            // wait twice as long.
            served = question.arrivals.load(Ordering::SeqCst);
        }
        *last = Some((served, answer.as_ref().map(T::clone).map_err(ToString::to_string)));
        answer
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<Question<T>>>> {
        // Nothing panics while it holds the map.
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever leaves last takes the question away.
struct Leave<'a, T: Clone> {
    shared: &'a Shared<T>,
    workspace: Uuid,
}

impl<T: Clone> Drop for Leave<'_, T> {
    fn drop(&mut self) {
        let mut known = self.shared.known();
        // Two hold it: the map, and the one who leaves.
        if known.get(&self.workspace).is_some_and(|question| Arc::strong_count(question) <= 2) {
            known.remove(&self.workspace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::Notify;

    const WORKSPACE: Uuid = Uuid::nil();

    #[tokio::test]
    async fn those_who_wait_share_an_answer_that_was_begun_after_they_came() {
        let (shared, asked, go) = (Arc::new(Shared::default()), Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
        let ask = |hold: bool| {
            let (shared, asked, go) = (Arc::clone(&shared), Arc::clone(&asked), Arc::clone(&go));
            tokio::spawn(async move {
                let answer = shared.get(WORKSPACE, async || {
                    let number = asked.fetch_add(1, Ordering::SeqCst);
                    if hold {
                        go.notified().await;
                    }
                    Ok(number)
                });
                answer.await.unwrap()
            })
        };
        let first = ask(true);
        tokio::task::yield_now().await;
        let others: Vec<_> = (0..5).map(|_| ask(false)).collect();
        tokio::task::yield_now().await;
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        go.notify_one();
        assert_eq!(first.await.unwrap(), 0);
        for other in others {
            assert_eq!(other.await.unwrap(), 1);
        }
        assert_eq!(ask(false).await.unwrap(), 2);
        assert!(shared.known().is_empty());
    }

    #[tokio::test]
    async fn a_failure_is_shared_by_those_who_wait_and_by_nobody_else() {
        let shared: Shared<u8> = Shared::default();
        let (go, asked) = (Notify::new(), AtomicU64::new(0));
        let fail = || async {
            let answer = shared.get(WORKSPACE, async || {
                asked.fetch_add(1, Ordering::SeqCst);
                go.notified().await;
                Err(StoreError::Unavailable("gone".into()))
            });
            answer.await
        };
        let release = async {
            tokio::task::yield_now().await;
            go.notify_one();
        };
        let (one, two, three, ()) = tokio::join!(fail(), fail(), fail(), release);
        for outcome in [one, two, three] {
            assert!(matches!(outcome, Err(StoreError::Unavailable(_))));
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        assert_eq!(shared.get(WORKSPACE, async || Ok(7)).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn one_who_goes_away_while_asking_leaves_the_question_to_the_next() {
        let shared: Arc<Shared<u8>> = Arc::default();
        let stuck = Arc::clone(&shared);
        let stuck = tokio::spawn(async move { stuck.get(WORKSPACE, async || std::future::pending().await).await });
        tokio::task::yield_now().await;
        let waiting = Arc::clone(&shared);
        let waiting = tokio::spawn(async move { waiting.get(WORKSPACE, async || Ok(7)).await });
        tokio::task::yield_now().await;
        stuck.abort();
        assert_eq!(waiting.await.unwrap().unwrap(), 7);
    }
}
