//! Look-ups of names whose addresses are judged.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::{io, vec};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use roadmap_domain::model::destination::{OutboundNetworks, Scheme};
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Maximum number of look-ups at the same time. A look-up keeps its thread until the operating system gives up, also
/// when the request is over, so that without a limit silent name servers would take all threads of the process.
pub(crate) const MAX_LOOKUPS: usize = 128;

/// Resolves a name to addresses. The ports are not used.
pub(crate) type Lookup = Arc<dyn Fn(&str) -> io::Result<Vec<SocketAddr>> + Send + Sync>;

/// Asks the operating system.
pub(crate) fn system_lookup(name: &str) -> io::Result<Vec<SocketAddr>> {
    Ok((name, 0).to_socket_addrs()?.collect())
}

/// An address of a name is not admitted.
#[derive(Debug, Error)]
#[error("an address of the name is local or reserved")]
pub(crate) struct Blocked;

/// Resolves names for one scheme.
pub(crate) struct GuardedResolver {
    pub(crate) scheme: Scheme,
    pub(crate) networks: Arc<OutboundNetworks>,
    pub(crate) lookup: Lookup,
    pub(crate) permits: Arc<Semaphore>,
}

impl Resolve for GuardedResolver {
    /// Returns all addresses of the name, or none.
    fn resolve(&self, name: Name) -> Resolving {
        let (scheme, networks) = (self.scheme, Arc::clone(&self.networks));
        let (lookup, permits) = (Arc::clone(&self.lookup), Arc::clone(&self.permits));
        Box::pin(async move {
            let permit = permits.acquire_owned().await?;
            let addresses = spawn_blocking(move || {
                let _permit = permit;
                lookup(name.as_str())
            });
            let addresses: vec::IntoIter<SocketAddr> = addresses.await??.into_iter();
            if addresses.as_slice().iter().all(|address| networks.admit(scheme, address.ip())) {
                Ok(Box::new(addresses) as Addrs)
            } else {
                Err(Blocked.into())
            }
        })
    }
}
