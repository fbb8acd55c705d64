//! How many calls may be made: of each key, of each workspace, in vain from each address, and without a
//! key from each address. Kept in memory, by each process for itself.

mod limiter;

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, ResponseError, web};
use roadmap_domain::model::api_key::Credential;
use roadmap_domain::model::id::{ApiKeyId, WorkspaceId};

use crate::dependencies::HttpDependencies;
use crate::error::HttpError;

pub use limiter::Rate;
use limiter::{BucketState, Limiter};

/// Tells what each limit is (draft-ietf-httpapi-ratelimit-headers).
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Tells how each limit stands.
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// The names of the limits in these headers.
const KEY_LIMIT: &str = "default";
const WORKSPACE_LIMIT: &str = "workspace";
const ANONYMOUS_LIMIT: &str = "anonymous";

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
    /// Requests from one address to what needs no key.
    pub anonymous: Option<Rate>,
}

/// Keeps the limits.
pub struct RateLimits {
    keys: Option<Limiter<ApiKeyId>>,
    workspaces: Option<Limiter<WorkspaceId>>,
    failures: Option<Limiter<IpAddr>>,
    anonymous: Option<Limiter<IpAddr>>,
}

impl RateLimits {
    /// Buckets of these rates, all of them full.
    #[must_use]
    pub fn new(rates: Rates, stopwatch: &Arc<dyn Stopwatch>) -> Self {
        Self {
            keys: rates.key.map(|rate| Limiter::new(rate, stopwatch.clone())),
            workspaces: rates.workspace.map(|rate| Limiter::new(rate, stopwatch.clone())),
            failures: rates.failures.map(|rate| Limiter::new(rate, stopwatch.clone())),
            anonymous: rates.anonymous.map(|rate| Limiter::new(rate, stopwatch.clone())),
        }
    }

    /// No limit at all.
    #[must_use]
    pub fn disabled() -> Self {
        Self { keys: None, workspaces: None, failures: None, anonymous: None }
    }

    /// Counts a failed authentication.
    ///
    /// # Errors
    /// 429: there were too many from this address. It is no longer said that the key is wrong.
    pub(crate) fn record_failure(&self, address: IpAddr) -> Result<(), HttpError> {
        let state = self.failures.as_ref().map(|failures| failures.take(client_network(address)));
        check_bucket(state, HttpError::TooManyFailures)
    }

    /// Counts a request to what needs no key, unless it is one too many.
    pub(crate) fn admit_anonymous(&self, address: IpAddr) -> Admission {
        let take = |limiter: &Limiter<IpAddr>| (ANONYMOUS_LIMIT, limiter.rate, limiter.take(client_network(address)));
        Admission { limits: [self.anonymous.as_ref().map(take), None] }
    }

    /// Counts a call, unless it is one too many: that counts nowhere.
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

/// Middleware: passes a request without a key on, or responds with 400 or 429.
///
/// # Errors
/// None of its own.
pub async fn limit_anonymous(
    dependencies: web::Data<HttpDependencies>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let address = match dependencies.proxies.origin(request.headers(), request.peer_addr()) {
        Ok(origin) => origin.address,
        Err(error) => return Ok(request.into_response(error.error_response())),
    };
    let admission = dependencies.limits.admit_anonymous(address);
    let mut response = match admission.check() {
        Ok(()) => next.call(request).await?.map_into_boxed_body(),
        Err(error) => request.into_response(error.error_response()),
    };
    admission.write_headers(response.headers_mut());
    Ok(response)
}

/// How the limits of a call stand.
pub(crate) struct Admission {
    /// Each with its name.
    limits: [Option<(&'static str, Rate, BucketState)>; 2],
}

impl Admission {
    /// Whether the call may go on.
    ///
    /// # Errors
    /// 429, with the time until all limits let it.
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
        // A second that has all but passed is told, too: nobody is to come back at once.
        Some(wait) => Err(error(ceil_seconds(wait).max(1))),
        None => Ok(()),
    }
}

/// So many seconds, rounded up.
fn ceil_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// What stands for an address: itself, or the /64 that one household or machine has of IPv6.
fn client_network(address: IpAddr) -> IpAddr {
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
