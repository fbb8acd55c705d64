//! Rate limits: per key, per workspace, of failed authentications per address, and of anonymous requests per address; of
//! the pages, sign-ins per address, and what somebody posts.
//!
//! The limits are kept in memory, separately in each process.

mod limiter;

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use roadmap_domain::model::api_key::Credential;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::id::{ApiKeyId, WorkspaceId};

use crate::error::HttpError;

pub use limiter::Rate;
use limiter::{BucketState, Limiter};

/// Header that describes each limit (draft-ietf-httpapi-ratelimit-headers).
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Header with the status of each limit.
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// The names of the limits in these headers.
const KEY_LIMIT: &str = "default";
const WORKSPACE_LIMIT: &str = "workspace";
const ANONYMOUS_LIMIT: &str = "anonymous";

/// Monotonic time, independent of the system clock.
pub trait Stopwatch: Send + Sync {
    /// Returns how long the stopwatch has been running.
    fn elapsed(&self) -> Duration;
}

/// How much somebody's action on a page counts towards the limit of posts, which is a number of comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostWeight {
    /// A vote, a subscription, and the end of either: a quarter of a comment.
    Toggle,
    Comment,
    /// An idea: as much as four comments.
    Idea,
}

impl PostWeight {
    const fn in_quarters(self) -> NonZeroU32 {
        let quarters = match self {
            Self::Toggle => 1,
            Self::Comment => QUARTERS,
            Self::Idea => 4 * QUARTERS,
        };
        match NonZeroU32::new(quarters) {
            Some(quarters) => quarters,
            None => NonZeroU32::MIN,
        }
    }
}

/// Number of quarters of a comment, in which posts are counted.
const QUARTERS: u32 = 4;

/// How many kilobytes of pictures one person adds in a day.
const PICTURES_PER_DAY: u32 = 30 * 1_024;

fn picture_rate() -> Option<Rate> {
    let kilobytes = NonZeroU32::new(PICTURES_PER_DAY)?;
    Rate::new(kilobytes, Duration::from_secs(24 * 3_600), kilobytes)
}

/// The configured limits. `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Requests with one key.
    pub key: Option<Rate>,
    /// Requests with all keys of one workspace.
    pub workspace: Option<Rate>,
    /// Failed authentications from one address.
    pub failures: Option<Rate>,
    /// Requests from one address to endpoints that need no key.
    pub anonymous: Option<Rate>,
    /// Sign-ins that are asked for from one address.
    pub sign_in: Option<Rate>,
    /// What one person of a workspace posts on its pages, in comments.
    pub posts: Option<Rate>,
}

/// The state of all limits.
pub struct RateLimits {
    keys: Option<Limiter<ApiKeyId>>,
    workspaces: Option<Limiter<WorkspaceId>>,
    failures: Option<Networks>,
    anonymous: Option<Networks>,
    sign_ins: Option<Networks>,
    posts: Option<Limiter<(WorkspaceId, FoldedEmail)>>,
    /// Kilobytes of pictures. It goes with the limit of posts.
    pictures: Option<Limiter<(WorkspaceId, FoldedEmail)>>,
}

impl RateLimits {
    /// Creates limits with these rates and full buckets.
    #[must_use]
    pub fn new(rates: Rates, stopwatch: &Arc<dyn Stopwatch>) -> Self {
        Self {
            keys: rates.key.map(|rate| Limiter::new(rate, stopwatch.clone())),
            workspaces: rates.workspace.map(|rate| Limiter::new(rate, stopwatch.clone())),
            failures: rates.failures.map(|rate| Networks::new(rate, stopwatch)),
            anonymous: rates.anonymous.map(|rate| Networks::new(rate, stopwatch)),
            sign_ins: rates.sign_in.map(|rate| Networks::new(rate, stopwatch)),
            posts: rates.posts.map(|rate| Limiter::new(rate.times(QUARTERS), stopwatch.clone())),
            pictures: rates.posts.and(picture_rate()).map(|rate| Limiter::new(rate, stopwatch.clone())),
        }
    }

    /// Returns limits that admit everything.
    #[must_use]
    pub fn disabled() -> Self {
        Self {
            keys: None,
            workspaces: None,
            failures: None,
            anonymous: None,
            sign_ins: None,
            posts: None,
            pictures: None,
        }
    }

    /// Counts a failed authentication.
    ///
    /// # Errors
    /// 429 after too many failures from this address. The response no longer reports that the key is wrong.
    pub(crate) fn record_failure(&self, address: IpAddr) -> Result<(), HttpError> {
        let state = self.failures.as_ref().map(|failures| failures.take(address));
        check_bucket(state, HttpError::TooManyFailures)
    }

    /// Counts a request to an endpoint without a key. A rejected request is not counted.
    pub(crate) fn admit_anonymous(&self, address: IpAddr) -> Admission {
        let take = |networks: &Networks| (ANONYMOUS_LIMIT, networks.rate(), networks.take(address));
        Admission { limits: [self.anonymous.as_ref().map(take), None] }
    }

    /// Counts a sign-in that is asked for from an address. A rejected one is not counted.
    ///
    /// # Errors
    /// 429 after too many sign-ins from this address.
    pub fn admit_sign_in(&self, address: IpAddr) -> Result<(), HttpError> {
        let state = self.sign_ins.as_ref().map(|sign_ins| sign_ins.take(address));
        check_bucket(state, HttpError::TooManyRequests)
    }

    /// Counts what somebody posts on the pages of a workspace, by its weight. A rejected post is not counted.
    ///
    /// # Errors
    /// 429 after too many posts of this person.
    pub fn admit_post(
        &self,
        workspace: WorkspaceId,
        person: &FoldedEmail,
        weight: PostWeight,
    ) -> Result<(), HttpError> {
        let posts = self.posts.as_ref();
        let state = posts.map(|posts| posts.take_many((workspace, person.clone()), weight.in_quarters()));
        check_bucket(state, HttpError::TooManyRequests)
    }

    /// Counts the bytes of a picture that somebody adds to a text. A rejected one is not counted.
    ///
    /// # Errors
    /// 429 after too many bytes of this person in a day.
    pub fn admit_picture(&self, workspace: WorkspaceId, person: &FoldedEmail, bytes: usize) -> Result<(), HttpError> {
        let kilobytes = u32::try_from(bytes.div_ceil(1_024)).unwrap_or(u32::MAX);
        let weight = NonZeroU32::new(kilobytes).unwrap_or(NonZeroU32::MIN);
        let state = self.pictures.as_ref().map(|pictures| pictures.take_many((workspace, person.clone()), weight));
        check_bucket(state, HttpError::TooManyRequests)
    }

    /// Counts a request with a key. A rejected request is counted in neither limit.
    pub(crate) fn admit(&self, caller: &Credential) -> Admission {
        let (key, workspace) = (caller.key.id, caller.workspace.id);
        let peeked = self.bucket_states(|keys| keys.peek(key), |workspaces| workspaces.peek(workspace));
        if peeked.check().is_err() {
            return peeked;
        }
        self.bucket_states(|keys| keys.take(key), |workspaces| workspaces.take(workspace))
    }

    fn bucket_states(
        &self,
        of_key: impl FnOnce(&Limiter<ApiKeyId>) -> BucketState,
        of_workspace: impl FnOnce(&Limiter<WorkspaceId>) -> BucketState,
    ) -> Admission {
        let key = self.keys.as_ref().map(|keys| (KEY_LIMIT, keys.rate, of_key(keys)));
        let workspace =
            self.workspaces.as_ref().map(|workspaces| (WORKSPACE_LIMIT, workspaces.rate, of_workspace(workspaces)));
        Admission { limits: [key, workspace] }
    }
}

/// The status of the limits that apply to a request.
pub(crate) struct Admission {
    /// Name, rate and bucket state of each limit.
    limits: [Option<(&'static str, Rate, BucketState)>; 2],
}

impl Admission {
    /// Returns an error if the request exceeds a limit.
    ///
    /// # Errors
    /// 429, with the time until all limits admit a request.
    pub(crate) fn check(&self) -> Result<(), HttpError> {
        let states = self.limits.into_iter().flatten().map(|(_, _, state)| state);
        check_bucket(states.max_by_key(|state| state.retry_after), HttpError::TooManyRequests)
    }

    /// Writes the headers that report the status of the limits.
    pub(crate) fn write_headers(&self, headers: &mut HeaderMap) {
        let limits = self.limits.into_iter().flatten();
        let (policies, states): (Vec<_>, Vec<_>) = limits
            .map(|(name, rate, state)| {
                let (burst, refill) = (rate.burst(), ceil_seconds(rate.refill()));
                let refill_in = state.refill_in.map(|refill_in| format!(";t={}", ceil_seconds(refill_in)));
                let state_entry = format!("\"{name}\";r={}{}", state.remaining, refill_in.unwrap_or_default());
                (format!("\"{name}\";q={burst};w={refill}"), state_entry)
            })
            .unzip();
        for (header, entries) in [(RATE_LIMIT_POLICY, policies), (RATE_LIMIT, states)] {
            if !entries.is_empty()
                && let Ok(value) = HeaderValue::try_from(entries.join(", "))
            {
                headers.insert(header, value);
            }
        }
    }
}

fn check_bucket(state: Option<BucketState>, error: impl FnOnce(u64) -> HttpError) -> Result<(), HttpError> {
    match state.and_then(|state| state.retry_after) {
        // A wait below one second is reported as one second, so that clients do not retry at once.
        Some(wait) => Err(error(ceil_seconds(wait).max(1))),
        None => Ok(()),
    }
}

/// Returns a duration in seconds, rounded up.
fn ceil_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// The lengths of the prefixes by which an IPv6 address is limited, and the factors of their limits. Providers assign a
/// /64 to a network, and a /56 or a /48 to a customer.
const IPV6_NETWORKS: [(u32, u32); 3] = [(64, 1), (56, 4), (48, 16)];

/// The limits of clients by their addresses: of an IPv4 address, or of the networks of an IPv6 address.
struct Networks([(u32, Limiter<IpAddr>); 3]);

impl Networks {
    fn new(rate: Rate, stopwatch: &Arc<dyn Stopwatch>) -> Self {
        let limiter = |(prefix, factor)| (prefix, Limiter::new(rate.times(factor), stopwatch.clone()));
        Self(IPV6_NETWORKS.map(limiter))
    }

    /// Returns the limit of one client.
    fn rate(&self) -> Rate {
        let [(_, client), ..] = &self.0;
        client.rate
    }

    /// Consumes one request of an address. A rejected one is counted by no network.
    fn take(&self, address: IpAddr) -> BucketState {
        let [(_, client), ..] = &self.0;
        let address = match address.to_canonical() {
            address @ IpAddr::V4(_) => return client.take(address),
            IpAddr::V6(address) => address,
        };
        let buckets = || self.0.iter().map(move |(prefix, limiter)| (limiter, network(address, *prefix)));
        let rejected =
            buckets().map(|(limiter, network)| limiter.peek(network)).filter(|state| state.retry_after.is_some());
        if let Some(rejected) = rejected.max_by_key(|state| state.retry_after) {
            return rejected;
        }
        // Requests that are admitted at the same time may use up a bucket meanwhile.
        let states: Vec<BucketState> = buckets().map(|(limiter, network)| limiter.take(network)).collect();
        let rejected = states.iter().filter(|state| state.retry_after.is_some()).max_by_key(|state| state.retry_after);
        rejected.or(states.first()).copied().unwrap_or(BucketState { remaining: 0, refill_in: None, retry_after: None })
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.iter().map(|(_, limiter)| limiter.len()).sum()
    }
}

/// Returns the network of an address with a prefix of this length.
fn network(address: Ipv6Addr, prefix: u32) -> IpAddr {
    Ipv6Addr::from_bits(address.to_bits() & !(u128::MAX >> prefix)).into()
}

#[cfg(test)]
mod tests;
