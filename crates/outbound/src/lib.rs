//! The guarded client: the only way in which the service sends requests to URLs that people type (ADR 78).
//!
//! The operating system resolves names. A request goes only to an address that was judged ([`OutboundNetworks`]), and if
//! one address of a name is not admitted, it goes to none. There are no redirects, no proxy, no cookies, no repetitions
//! and no connections that are used twice, so that nothing skips the judgement.

mod resolver;
mod sender;

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, retry};
use roadmap_domain::error::ErrorChain;
use roadmap_domain::model::destination::{OutboundNetworks, Scheme};
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use url::{Host, Url};

use resolver::{Blocked, GuardedResolver, Lookup, MAX_LOOKUPS, system_lookup};

pub use sender::OutboundSender;

pub use reqwest::Method;
pub use reqwest::header::{self, HeaderMap};

/// A request to a URL that somebody typed. It is not `Debug`, because URL and headers may be credentials.
pub struct Request {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// The time limit of everything: the look-up, the connection, the request, the head and the body of the response.
    pub timeout: Duration,
    /// Maximum bytes of the response's body that are read. Then the connection is closed.
    pub body_limit: usize,
}

/// A response, whatever its status. Its head has arrived in time, its body perhaps only in part.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    /// The beginning of the body.
    pub body: Vec<u8>,
    /// Whether the body ended in time, without a failure and below the limit.
    pub is_complete: bool,
}

/// The reason why there is no response. No text contains the URL, which may be a credential.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The time limit was over before the head of a response had arrived.
    #[error("there was no response in time")]
    Timeout,
    /// No address, no connection, or no response that is HTTP.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// The certificate is not valid for the host, or no encrypted connection was established.
    #[error("there is no secure connection: {0}")]
    Tls(String),
    /// The address is not public, or not admitted with this scheme.
    #[error("the address is local or reserved")]
    Blocked,
}

impl RequestError {
    /// Returns the name that responses and metrics use.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Unreachable(_) => "unreachable",
            Self::Tls(_) => "tls",
            Self::Blocked => "blocked",
        }
    }
}

/// The guarded client. Its clones share what it has loaded.
#[derive(Debug, Clone)]
pub struct OutboundClient {
    http: Client,
    https: Client,
    networks: Arc<OutboundNetworks>,
}

/// A client for one scheme, or why there is none. A service without certificates of authorities starts all the same.
type Client = Result<reqwest::Client, RequestError>;

impl OutboundClient {
    /// Creates the client. The certificates of authorities are loaded now, from the system or from `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR`; without any, each HTTPS request fails with [`RequestError::Tls`].
    #[must_use]
    pub fn new(networks: OutboundNetworks) -> Self {
        Self::with_lookup(networks, Arc::new(system_lookup))
    }

    fn with_lookup(networks: OutboundNetworks, lookup: Lookup) -> Self {
        // If another part of the process has installed a provider, that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let networks = Arc::new(networks);
        let permits = Arc::new(Semaphore::new(MAX_LOOKUPS));
        let client = |scheme, builder: ClientBuilder| {
            let resolver = GuardedResolver {
                scheme,
                networks: Arc::clone(&networks),
                lookup: Arc::clone(&lookup),
                permits: Arc::clone(&permits),
            };
            let built = guarded(builder, resolver).build();
            built.map_err(|error| RequestError::Tls(ErrorChain::new(&error).to_string()))
        };
        Self {
            // It needs no certificates.
            http: client(Scheme::Http, reqwest::Client::builder().tls_certs_only([])),
            https: client(Scheme::Https, reqwest::Client::builder()),
            networks,
        }
    }

    /// Sends a request, once.
    ///
    /// # Errors
    /// [`RequestError`], if no head of a response has arrived.
    pub async fn send(&self, request: Request) -> Result<Response, RequestError> {
        let Request { method, url, headers, body, timeout, body_limit } = request;
        let deadline = Instant::now() + timeout;
        let client = self.judge(&url)?.clone()?;
        let sent = client.request(method, url).headers(headers).body(body).send();
        let mut response = match timeout_at(deadline, sent).await {
            Err(_) => return Err(RequestError::Timeout),
            Ok(response) => response.map_err(classify)?,
        };
        let mut read = Response {
            status: response.status().as_u16(),
            headers: std::mem::take(response.headers_mut()),
            body: Vec::new(),
            is_complete: false,
        };
        // The response counts, even if its body does not arrive.
        while let missing @ 1.. = body_limit - read.body.len() {
            let Ok(Ok(chunk)) = timeout_at(deadline, response.chunk()).await else { break };
            let Some(chunk) = chunk else {
                read.is_complete = true;
                break;
            };
            read.body.extend_from_slice(&chunk.slice(..chunk.len().min(missing)));
        }
        Ok(read)
    }

    /// Judges the scheme and an address in the URL itself, for which nothing is resolved. Returns the client to use.
    fn judge(&self, url: &Url) -> Result<&Client, RequestError> {
        let (scheme, client) = match url.scheme() {
            "https" => (Scheme::Https, &self.https),
            "http" => (Scheme::Http, &self.http),
            _ => return Err(RequestError::Blocked),
        };
        let address: IpAddr = match url.host() {
            Some(Host::Ipv4(address)) => address.into(),
            Some(Host::Ipv6(address)) => address.into(),
            Some(Host::Domain(_)) => return Ok(client),
            None => return Err(RequestError::Blocked),
        };
        if self.networks.admit(scheme, address) { Ok(client) } else { Err(RequestError::Blocked) }
    }
}

/// Sets everything that the guarantees of this crate need.
fn guarded(builder: ClientBuilder, resolver: GuardedResolver) -> ClientBuilder {
    builder
        .dns_resolver(Arc::new(resolver))
        .no_proxy()
        .redirect(Policy::none())
        .retry(retry::never())
        .referer(false)
        .http1_only()
        // A connection is used once, so that each request is judged. Dropping a response closes it.
        .pool_max_idle_per_host(0)
}

/// Finds out why a request failed.
fn classify(error: reqwest::Error) -> RequestError {
    let error = error.without_url();
    for cause in std::iter::successors(Some(&error as &(dyn Error + 'static)), |error| next_cause(*error)) {
        if cause.is::<Blocked>() {
            return RequestError::Blocked;
        }
        if cause.is::<rustls::Error>() {
            return RequestError::Tls(cause.to_string());
        }
        // The server hung up during the handshake: before it, a connection does not end, it is refused or reset.
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        if error.is_connect() && kind == Some(io::ErrorKind::UnexpectedEof) {
            return RequestError::Tls("the server closed the connection during the handshake".to_owned());
        }
    }
    RequestError::Unreachable(ErrorChain::new(&error).to_string())
}

/// Returns the cause of an error. The source of an input/output error is not the error inside but the source of that.
fn next_cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

#[cfg(test)]
mod tests;
