//! How many calls may be made: of each key, of each workspace, and in vain from each address. Kept in
//! memory, by each process for itself.

mod limiter;

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use moka::sync::Cache;
use roadmap_domain::model::api_key::{Credential, KeyDigest};
use roadmap_domain::model::id::{ApiKeyId, WorkspaceId};

use crate::error::ApiError;

pub use limiter::Rate;
use limiter::{Level, Limiter};

/// Tells what each limit is (draft-ietf-httpapi-ratelimit-headers).
const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Tells how each limit stands.
const STANDING: HeaderName = HeaderName::from_static("ratelimit");

/// The names of the limits in these headers.
const OF_KEY: &str = "default";
const OF_WORKSPACE: &str = "workspace";

/// How long a key is known after its last use.
const KNOWN_FOR: Duration = Duration::from_hours(24);

/// How many keys are known at a time.
const MOST_KNOWN: u64 = 10_000;

/// Time that only goes forward, whatever is done to the clock.
pub trait Stopwatch: Send + Sync {
    /// How long it has been running.
    fn elapsed(&self) -> Duration;
}

/// The limits that there are. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Calls with one key.
    pub key: Option<Rate>,
    /// Calls with all keys of one workspace.
    pub workspace: Option<Rate>,
    /// Failed authentications from one address.
    pub failures: Option<Rate>,
}

/// Keeps the limits.
pub struct Limits {
    keys: Option<Limiter<ApiKeyId>>,
    workspaces: Option<Limiter<WorkspaceId>>,
    failures: Option<Limiter<IpAddr>>,
    /// The keys that were good lately. They may be tried whatever others at the same address do.
    known: Cache<KeyDigest, ()>,
}

impl Limits {
    /// Buckets of these rates, all of them full.
    #[must_use]
    pub fn new(rates: Rates, stopwatch: &Arc<dyn Stopwatch>) -> Self {
        Self {
            keys: rates.key.map(|rate| Limiter::new(rate, stopwatch.clone())),
            workspaces: rates.workspace.map(|rate| Limiter::new(rate, stopwatch.clone())),
            failures: rates.failures.map(|rate| Limiter::new(rate, stopwatch.clone())),
            known: Cache::builder().max_capacity(MOST_KNOWN).time_to_idle(KNOWN_FOR).build(),
        }
    }

    /// No limit at all.
    #[must_use]
    pub fn off() -> Self {
        Self { keys: None, workspaces: None, failures: None, known: Cache::new(0) }
    }

    /// Whether somebody at this address may try this key, if it has the form of one.
    ///
    /// # Errors
    /// 429: too many were tried in vain, and nobody has used this one.
    pub(crate) fn may_try(&self, address: IpAddr, key: Option<&KeyDigest>) -> Result<(), ApiError> {
        let level = self.failures.as_ref().map(|failures| failures.look(network(address)));
        match refused(level, ApiError::TooManyFailures) {
            Err(_) if key.is_some_and(|key| self.known.contains_key(key)) => Ok(()),
            outcome => outcome,
        }
    }

    /// Takes note that a key is good.
    pub(crate) fn recognised(&self, key: KeyDigest) {
        if self.failures.is_some() {
            // To look it up is to use it.
            self.known.get_with(key, || ());
        }
    }

    /// Counts a key that was tried in vain.
    ///
    /// # Errors
    /// 429: others from there have used up what was left since [`Self::may_try`] was asked.
    pub(crate) fn failed(&self, address: IpAddr) -> Result<(), ApiError> {
        let level = self.failures.as_ref().map(|failures| failures.take(network(address)));
        refused(level, ApiError::TooManyFailures)
    }

    /// Counts a call, unless it is one too many: that counts nowhere.
    pub(crate) fn admit(&self, caller: &Credential) -> Admission {
        let (key, workspace) = (caller.key.id, caller.workspace.id);
        let looked = self.levels(|keys| keys.look(key), |workspaces| workspaces.look(workspace));
        if looked.refused().is_err() {
            return looked;
        }
        self.levels(|keys| keys.take(key), |workspaces| workspaces.take(workspace))
    }

    fn levels(
        &self,
        of_key: impl FnOnce(&Limiter<ApiKeyId>) -> Level,
        of_workspace: impl FnOnce(&Limiter<WorkspaceId>) -> Level,
    ) -> Admission {
        let key = self.keys.as_ref().map(|keys| (keys.rate, of_key(keys)));
        let workspace = self.workspaces.as_ref().map(|workspaces| (workspaces.rate, of_workspace(workspaces)));
        Admission { key, workspace }
    }
}

/// How the limits of a call stand.
pub(crate) struct Admission {
    key: Option<(Rate, Level)>,
    workspace: Option<(Rate, Level)>,
}

impl Admission {
    /// Whether the call may go on.
    ///
    /// # Errors
    /// 429, with the time until both limits let it.
    pub(crate) fn refused(&self) -> Result<(), ApiError> {
        let levels = [self.key, self.workspace].into_iter().flatten().map(|(_, level)| level);
        refused(levels.max_by_key(|level| level.empty_for), ApiError::TooManyCalls)
    }

    /// Writes down how the limits stand.
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        let limits = [(OF_KEY, self.key), (OF_WORKSPACE, self.workspace)];
        let limits = limits.into_iter().filter_map(|(name, limit)| limit.map(|(rate, level)| (name, rate, level)));
        let (policies, standings): (Vec<_>, Vec<_>) = limits
            .map(|(name, rate, level)| {
                let (whole, refill) = (rate.burst(), whole_seconds(rate.refill()));
                let more_in = level.more_in.map(|more_in| format!(";t={}", whole_seconds(more_in)));
                let standing = format!("\"{name}\";r={}{}", level.remaining, more_in.unwrap_or_default());
                (format!("\"{name}\";q={whole};w={refill}"), standing)
            })
            .unzip();
        for (header, entries) in [(POLICY, policies), (STANDING, standings)] {
            if !entries.is_empty()
                && let Ok(value) = HeaderValue::try_from(entries.join(", "))
            {
                headers.insert(header, value);
            }
        }
    }
}

fn refused(level: Option<Level>, error: impl FnOnce(u64) -> ApiError) -> Result<(), ApiError> {
    match level.and_then(|level| level.empty_for) {
        // A second that has all but passed is told, too: nobody is to come back at once.
        Some(wait) => Err(error(whole_seconds(wait).max(1))),
        None => Ok(()),
    }
}

/// So many seconds, rounded up.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// What stands for an address: itself, or the /64 that one household or machine has of IPv6.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests;
