//! A cache of the workspace directory that protects the database from look-ups of unknown keys.
//!
//! Look-ups use, in this order:
//!
//! 1. the hits and misses of the last second;
//! 2. a query for a single row. At most [`MAX_MISSES_PER_SECOND`] of these may miss in a second;
//! 3. after that, the lists of all subdomains and of all keys of a workspace, each of which is read at most once a second.
//!    Only listed keys are then queried.
//!
//! The reads per second are therefore bounded by the existing keys and workspaces, whatever clients send, and existing keys
//! are always found. Concurrent look-ups of one key or subdomain share one query: otherwise many clients of one workspace
//! would all wait for a connection whenever its key expires in the cache.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use moka::sync::Cache;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::api_key::{ApiKey, Credential, KeyDigest};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::ports::WorkspaceDirectory;
use roadmap_http::limits::Stopwatch;
use roadmap_http::shared_cache::SharedCache;
use tokio::sync::Semaphore;

/// How long a look-up is cached. A revocation takes effect within this time in every process. Expiry takes effect at once,
/// because its timestamp is cached too. A key that was looked up before it was issued works after this time.
const LIFETIME: Duration = Duration::from_secs(1);

/// Maximum cached look-ups of each kind.
const CAPACITY: u64 = 10_000;

/// How many look-ups of single rows may miss in a second.
const MAX_MISSES_PER_SECOND: u32 = 50;

/// A list of all records, or why it could not be read.
type List<T> = Result<Arc<T>, Arc<StoreError>>;

/// A cache of another directory.
pub(crate) struct CachedDirectory {
    inner: Arc<dyn WorkspaceDirectory>,
    credentials: SharedCache<(Subdomain, KeyDigest), Credential>,
    unknown_keys: Cache<(Subdomain, KeyDigest), ()>,
    workspaces: SharedCache<Subdomain, Workspace>,
    unknown_subdomains: Cache<Subdomain, ()>,
    recent_uses: Cache<uuid::Uuid, ()>,
    misses: MissBudget,
    all_workspaces: SharedCache<(), List<HashMap<Subdomain, Workspace>>>,
    first_workspaces: SharedCache<u32, List<Vec<Workspace>>>,
    digests: SharedCache<WorkspaceId, List<HashSet<KeyDigest>>>,
    /// Held while a list of keys is read, so that one list is read at a time.
    listing: Semaphore,
}

impl CachedDirectory {
    /// Creates an empty cache of another directory.
    pub(crate) fn new(inner: Arc<dyn WorkspaceDirectory>, stopwatch: Arc<dyn Stopwatch>) -> Self {
        Self {
            inner,
            credentials: SharedCache::new(CAPACITY, LIFETIME),
            unknown_keys: short_lived(),
            workspaces: SharedCache::new(CAPACITY, LIFETIME),
            unknown_subdomains: short_lived(),
            recent_uses: short_lived(),
            misses: MissBudget::new(stopwatch),
            all_workspaces: SharedCache::new(1, LIFETIME),
            first_workspaces: SharedCache::new(CAPACITY, LIFETIME),
            digests: SharedCache::new(CAPACITY, LIFETIME),
            listing: Semaphore::new(1),
        }
    }

    async fn look_up_credential(
        &self,
        subdomain: &Subdomain,
        digest: &KeyDigest,
    ) -> Result<Option<Credential>, StoreError> {
        if self.unknown_keys.contains_key(&(subdomain.clone(), *digest))
            || self.unknown_subdomains.contains_key(subdomain)
        {
            return Ok(None);
        }
        let reserved = self.misses.reserve();
        if reserved.is_none() {
            let Some(workspace) = self.listed_workspace(subdomain).await? else { return Ok(None) };
            if !self.is_listed(workspace.id, digest).await? {
                return Ok(None);
            }
        }
        let credential = self.inner.credential(subdomain, digest).await?;
        if credential.is_none() {
            if let Some(reserved) = reserved {
                reserved.consume();
            }
            self.unknown_keys.insert((subdomain.clone(), *digest), ());
        }
        Ok(credential)
    }

    async fn look_up_workspace(&self, subdomain: &Subdomain) -> Result<Option<Workspace>, StoreError> {
        if self.unknown_subdomains.contains_key(subdomain) {
            return Ok(None);
        }
        let Some(reserved) = self.misses.reserve() else {
            return self.listed_workspace(subdomain).await;
        };
        let workspace = self.inner.workspace(subdomain).await?;
        if workspace.is_none() {
            reserved.consume();
            self.unknown_subdomains.insert(subdomain.clone(), ());
        }
        Ok(workspace)
    }

    /// Finds the workspace of a subdomain in the list of all workspaces.
    async fn listed_workspace(&self, subdomain: &Subdomain) -> Result<Option<Workspace>, StoreError> {
        let read = async {
            let all = self.inner.workspaces().await?;
            Ok(Arc::new(all.into_iter().map(|workspace| (workspace.subdomain.clone(), workspace)).collect()))
        };
        let all = self.all_workspaces.get_outcome((), read).await?;
        Ok(all.get(subdomain).cloned())
    }

    /// Whether the list of the workspace's keys contains a key.
    async fn is_listed(&self, workspace: WorkspaceId, digest: &KeyDigest) -> Result<bool, StoreError> {
        let read = async {
            // Cannot fail: the semaphore is never closed.
            let _permit = self.listing.acquire().await;
            Ok(Arc::new(self.inner.key_digests(workspace).await?.into_iter().collect()))
        };
        let digests = self.digests.get_outcome(workspace, read).await?;
        Ok(digests.contains(digest))
    }
}

fn short_lived<K, V>() -> Cache<K, V>
where
    K: std::hash::Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    Cache::builder().max_capacity(CAPACITY).time_to_live(LIFETIME).build()
}

#[async_trait]
impl WorkspaceDirectory for CachedDirectory {
    async fn credential(&self, subdomain: &Subdomain, digest: &KeyDigest) -> Result<Option<Credential>, StoreError> {
        self.credentials.find((subdomain.clone(), *digest), self.look_up_credential(subdomain, digest)).await
    }

    /// Records the use of a key at most once a second. A cached key has an old timestamp of its last use, so that every
    /// request with it would write a new one.
    async fn record_use(&self, credential: &Credential, at: Timestamp) -> Result<(), StoreError> {
        let key = credential.key.id.uuid();
        if self.recent_uses.entry(key).or_insert(()).is_fresh() {
            self.inner.record_use(credential, at).await?;
        }
        Ok(())
    }

    async fn workspace(&self, subdomain: &Subdomain) -> Result<Option<Workspace>, StoreError> {
        self.workspaces.find(subdomain.clone(), self.look_up_workspace(subdomain)).await
    }

    async fn workspaces(&self) -> Result<Vec<Workspace>, StoreError> {
        self.inner.workspaces().await
    }

    async fn first_workspaces(&self, limit: u32) -> Result<Vec<Workspace>, StoreError> {
        let read = async { Ok(Arc::new(self.inner.first_workspaces(limit).await?)) };
        let first = self.first_workspaces.get_outcome(limit, read).await?;
        Ok(first.to_vec())
    }

    async fn api_keys(&self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, StoreError> {
        self.inner.api_keys(workspace).await
    }

    async fn key_digests(&self, workspace: WorkspaceId) -> Result<Vec<KeyDigest>, StoreError> {
        self.inner.key_digests(workspace).await
    }
}

/// The limit of look-ups that miss in a second.
struct MissBudget {
    stopwatch: Arc<dyn Stopwatch>,
    /// The current second, and the number of its look-ups that have missed or are in progress.
    second: Mutex<(u64, u32)>,
}

impl MissBudget {
    fn new(stopwatch: Arc<dyn Stopwatch>) -> Self {
        Self { stopwatch, second: Mutex::default() }
    }

    /// Reserves one look-up that may miss. Returns `None` when the budget of the second is used up.
    fn reserve(&self) -> Option<Reservation<'_>> {
        let now = self.stopwatch.elapsed().as_secs();
        // A panic cannot leave the two numbers inconsistent.
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        if second.0 != now {
            *second = (now, 0);
        }
        if second.1 >= MAX_MISSES_PER_SECOND {
            return None;
        }
        second.1 += 1;
        Some(Reservation { budget: self, second: now })
    }
}

/// A reserved look-up. Dropping it returns it to the budget, unless it was consumed.
struct Reservation<'a> {
    budget: &'a MissBudget,
    second: u64,
}

impl Reservation<'_> {
    /// Consumes the reservation, because the look-up has missed.
    fn consume(self) {
        std::mem::forget(self);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut second = self.budget.second.lock().unwrap_or_else(PoisonError::into_inner);
        if second.0 == self.second {
            second.1 = second.1.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::system::tests::ManualStopwatch;
    use roadmap_domain::model::api_key::Scopes;
    use roadmap_domain::model::id::ApiKeyId;
    use roadmap_domain::model::text::Name;
    use roadmap_domain::ports::mocks::MockWorkspaceDirectory;
    use uuid::Uuid;

    /// The number of reads of the database: single keys, single workspaces, lists of workspaces, lists of keys.
    struct ReadCounts {
        started: std::time::Instant,
        keys: AtomicU32,
        workspaces: AtomicU32,
        lists: AtomicU32,
        key_lists: AtomicU32,
    }

    impl ReadCounts {
        fn new() -> Self {
            let started = std::time::Instant::now();
            Self {
                started,
                keys: AtomicU32::new(0),
                workspaces: AtomicU32::new(0),
                lists: AtomicU32::new(0),
                key_lists: AtomicU32::new(0),
            }
        }

        fn all(&self) -> [u32; 4] {
            [&self.keys, &self.workspaces, &self.lists, &self.key_lists].map(|reads| reads.load(Ordering::Relaxed))
        }

        /// The number of lifetimes in which the test has run.
        fn lifetimes(&self) -> u32 {
            1 + u32::try_from(self.started.elapsed().as_secs()).unwrap()
        }

        /// Asserts the numbers of reads. Lists are read again after each lifetime.
        fn assert(&self, expected: [u32; 4]) {
            let [keys, workspaces, lists, key_lists] = self.all();
            assert_eq!([keys, workspaces], [expected[0], expected[1]]);
            for (reads, expected) in [(lists, expected[2]), (key_lists, expected[3])] {
                assert!((expected..=expected * self.lifetimes()).contains(&reads), "{reads} and not {expected}");
            }
        }
    }

    fn count(reads: &AtomicU32) {
        reads.fetch_add(1, Ordering::Relaxed);
    }

    fn subdomain(label: &str) -> Subdomain {
        Subdomain::from_label(label).unwrap()
    }

    fn workspace(label: &str) -> Workspace {
        Workspace {
            id: WorkspaceId::new(Uuid::from_u128(u128::from(label.as_bytes()[0]))),
            subdomain: subdomain(label),
        }
    }

    fn digest(number: u32) -> KeyDigest {
        let mut digest = [0; 32];
        digest[..4].copy_from_slice(&number.to_be_bytes());
        KeyDigest(digest)
    }

    /// The valid keys of `acme` and `bolt`.
    const VALID_KEYS: [(&str, u32); 3] = [("acme", 1_000_001), ("acme", 1_000_002), ("bolt", 1_000_003)];

    fn credential(label: &str, number: u32) -> Credential {
        let at = Timestamp::from_millis(0).unwrap();
        let key = ApiKey {
            id: ApiKeyId::new(Uuid::from_u128(number.into())),
            name: Name::from_stored("ci".to_owned()),
            last_four: "abcd".to_owned(),
            scopes: Scopes::ALL,
            created_at: at,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
            made_by: None,
        };
        Credential { workspace: workspace(label), key }
    }

    /// A cached directory with these keys.
    fn cached() -> (CachedDirectory, Arc<ReadCounts>, Arc<ManualStopwatch>) {
        let (reads, stopwatch) = (Arc::new(ReadCounts::new()), Arc::new(ManualStopwatch::default()));
        let mut inner = MockWorkspaceDirectory::new();
        let counted = reads.clone();
        inner.expect_credential().returning(move |requested, key| {
            count(&counted.keys);
            let entry =
                VALID_KEYS.iter().find(|(label, number)| subdomain(label) == *requested && digest(*number) == *key);
            Ok(entry.map(|(label, number)| credential(label, *number)))
        });
        let counted = reads.clone();
        inner.expect_workspace().returning(move |requested| {
            count(&counted.workspaces);
            Ok(["acme", "bolt"].into_iter().find(|label| subdomain(label) == *requested).map(workspace))
        });
        let counted = reads.clone();
        inner.expect_workspaces().returning(move || {
            count(&counted.lists);
            Ok(["acme", "bolt"].map(workspace).to_vec())
        });
        let counted = reads.clone();
        inner.expect_first_workspaces().returning(move |limit| {
            count(&counted.lists);
            Ok(["acme", "bolt"].into_iter().take(usize::try_from(limit).unwrap()).map(workspace).collect())
        });
        let counted = reads.clone();
        inner.expect_key_digests().returning(move |requested| {
            count(&counted.key_lists);
            let own = VALID_KEYS.iter().filter(|(label, _)| workspace(label).id == requested);
            Ok(own.map(|(_, number)| digest(*number)).collect())
        });
        (CachedDirectory::new(Arc::new(inner), stopwatch.clone()), reads, stopwatch)
    }

    async fn is_found(directory: &CachedDirectory, label: &str, number: u32) -> bool {
        let actual = directory.credential(&subdomain(label), &digest(number)).await.unwrap();
        let expected = VALID_KEYS.contains(&(label, number)).then(|| credential(label, number));
        assert_eq!(actual, expected, "{label} {number}");
        actual.is_some()
    }

    /// Beyond the contract.
    #[tokio::test]
    async fn lookups_of_one_key_under_many_subdomains_are_bounded() {
        let (directory, reads, _) = cached();
        let (label, good) = VALID_KEYS[0];
        assert!(is_found(&directory, label, good).await);
        for number in 0..10_000 {
            assert!(!is_found(&directory, &format!("w{number}"), good).await);
        }
        reads.assert([1 + MAX_MISSES_PER_SECOND, 0, 1, 0]);
    }

    /// Beyond the contract.
    #[tokio::test]
    async fn lookups_of_many_keys_of_one_subdomain_are_bounded() {
        let (directory, reads, stopwatch) = cached();
        for number in 0..10_000 {
            assert!(!is_found(&directory, "acme", number).await);
        }
        reads.assert([MAX_MISSES_PER_SECOND, 0, 1, 1]);
        stopwatch.advance(Duration::from_secs(1));
        for number in 10_000..20_000 {
            assert!(!is_found(&directory, "acme", number).await);
        }
        reads.assert([2 * MAX_MISSES_PER_SECOND, 0, 1, 1]);
    }

    /// Beyond the contract.
    #[tokio::test]
    async fn valid_keys_are_found_while_others_are_guessed() {
        let (directory, reads, _) = cached();
        for number in 0..10_000 {
            assert!(!is_found(&directory, "acme", number).await && !is_found(&directory, "bolt", number).await);
        }
        for (label, number) in VALID_KEYS {
            // None of them is cached yet.
            assert!(is_found(&directory, label, number).await);
        }
        // A valid key does not work in another workspace.
        assert!(!is_found(&directory, "bolt", VALID_KEYS[0].1).await);
        reads.assert([MAX_MISSES_PER_SECOND + 3, 0, 1, 2]);
    }

    #[tokio::test]
    async fn lookups_of_unknown_workspaces_are_bounded() {
        let (directory, reads, _) = cached();
        for number in 0..10_000 {
            assert_eq!(directory.workspace(&subdomain(&format!("w{number}"))).await.unwrap(), None);
        }
        for label in ["acme", "bolt"] {
            assert_eq!(directory.workspace(&subdomain(label)).await.unwrap(), Some(workspace(label)));
        }
        reads.assert([0, MAX_MISSES_PER_SECOND, 1, 0]);
    }

    #[tokio::test]
    async fn the_first_workspaces_are_read_once_in_a_lifetime() {
        let (directory, reads, _) = cached();
        for _ in 0..10_000 {
            assert_eq!(directory.first_workspaces(2).await.unwrap(), ["acme", "bolt"].map(workspace));
        }
        reads.assert([0, 0, 1, 0]);
        assert_eq!(directory.first_workspaces(1).await.unwrap(), [workspace("acme")]);
    }

    #[tokio::test]
    async fn a_failure_to_read_the_first_workspaces_is_shared_by_all_requests_of_a_second() {
        let mut inner = MockWorkspaceDirectory::new();
        let reads = Arc::new(AtomicU32::new(0));
        let counted = reads.clone();
        inner.expect_first_workspaces().returning(move |_| {
            count(&counted);
            Err(StoreError::Unavailable("no server".into()))
        });
        let started = std::time::Instant::now();
        let directory = CachedDirectory::new(Arc::new(inner), Arc::new(ManualStopwatch::default()));
        for _ in 0..10_000 {
            assert!(matches!(directory.first_workspaces(2).await, Err(StoreError::Unavailable(_))));
        }
        let lifetimes = 1 + started.elapsed().as_secs();
        let reads = u64::from(reads.load(Ordering::Relaxed));
        assert!((1..=lifetimes).contains(&reads), "{reads} in {lifetimes} s");
    }

    #[tokio::test]
    async fn successful_lookups_are_not_limited() {
        let (mut directory, reads, _) = cached();
        directory.credentials = SharedCache::new(CAPACITY, Duration::from_nanos(1));
        for _ in 0..2 * MAX_MISSES_PER_SECOND {
            for (label, number) in VALID_KEYS {
                assert!(is_found(&directory, label, number).await);
            }
        }
        reads.assert([6 * MAX_MISSES_PER_SECOND, 0, 0, 0]);
    }

    #[tokio::test]
    async fn hits_and_misses_are_cached() {
        let (directory, reads, _) = cached();
        for _ in 0..1_000 {
            assert!(is_found(&directory, "acme", VALID_KEYS[0].1).await);
            assert!(!is_found(&directory, "acme", 1).await && !is_found(&directory, "nobody", VALID_KEYS[0].1).await);
            assert_eq!(directory.workspace(&subdomain("acme")).await.unwrap(), Some(workspace("acme")));
            assert_eq!(directory.workspace(&subdomain("unknown")).await.unwrap(), None);
        }
        let times = reads.lifetimes();
        let [keys, workspaces, lists, key_lists] = reads.all();
        assert!(keys <= 3 * times && workspaces <= 2 * times, "{keys} and {workspaces} in {times} s");
        assert_eq!([lists, key_lists], [0, 0]);
    }

    /// A directory whose look-ups wait until they may go on, and then return this.
    struct Waiting {
        started: AtomicU32,
        go_on: Semaphore,
        lookup: fn() -> Result<Option<Credential>, StoreError>,
    }

    #[async_trait]
    impl WorkspaceDirectory for Waiting {
        async fn credential(&self, _: &Subdomain, _: &KeyDigest) -> Result<Option<Credential>, StoreError> {
            count(&self.started);
            drop(self.go_on.acquire().await);
            (self.lookup)()
        }

        async fn record_use(&self, _: &Credential, _: Timestamp) -> Result<(), StoreError> {
            unreachable!("nothing is used")
        }

        async fn workspace(&self, _: &Subdomain) -> Result<Option<Workspace>, StoreError> {
            count(&self.started);
            drop(self.go_on.acquire().await);
            Ok((self.lookup)()?.map(|credential| credential.workspace))
        }

        async fn workspaces(&self) -> Result<Vec<Workspace>, StoreError> {
            unreachable!("no list is read")
        }

        async fn first_workspaces(&self, _: u32) -> Result<Vec<Workspace>, StoreError> {
            unreachable!("no list is read")
        }

        async fn api_keys(&self, _: WorkspaceId) -> Result<Vec<ApiKey>, StoreError> {
            unreachable!("no list is read")
        }

        async fn key_digests(&self, _: WorkspaceId) -> Result<Vec<KeyDigest>, StoreError> {
            unreachable!("no list is read")
        }
    }

    #[tokio::test]
    async fn concurrent_lookups_share_one_query_and_its_outcome() {
        for lookup in [
            (|| Ok(Some(credential("acme", 1_000_001)))) as fn() -> Result<Option<Credential>, StoreError>,
            || Ok(None),
            || Err(StoreError::Unavailable("no server".into())),
        ] {
            let inner = Arc::new(Waiting { started: AtomicU32::new(0), go_on: Semaphore::new(0), lookup });
            let directory = Arc::new(CachedDirectory::new(inner.clone(), Arc::new(ManualStopwatch::default())));
            let mut callers = tokio::task::JoinSet::new();
            for number in 0..200 {
                let directory = directory.clone();
                callers.spawn(async move {
                    let name = subdomain("acme");
                    if number % 2 == 0 {
                        directory
                            .credential(&name, &digest(1))
                            .await
                            .map(|outcome| outcome.map(|credential| credential.workspace))
                    } else {
                        directory.workspace(&name).await
                    }
                });
            }
            tokio::task::yield_now().await;
            inner.go_on.add_permits(1);
            for outcome in callers.join_all().await {
                assert_eq!(outcome.ok(), lookup().ok().map(|outcome| outcome.map(|credential| credential.workspace)));
            }
            assert_eq!(inner.started.load(Ordering::Relaxed), 2);
        }
    }
}
