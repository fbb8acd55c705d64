//! The dependencies of the middleware.

use std::sync::Arc;

use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::policy::signed_reference::ReferenceSigner;
use roadmap_domain::ports::{Clock, Health, IdGenerator, WorkspaceDirectory};
use roadmap_domain::usecase::authenticate::Authenticate;

use crate::body::BodyLimits;
use crate::client_address::Proxies;
use crate::detached::DetachedTasks;
use crate::error::ErrorFormats;
use crate::limits::RateLimits;
use crate::observer::Observer;

/// The shared dependencies of the middleware and of all surfaces' handlers, one instance per worker of the server.
pub struct HttpDependencies {
    /// Checks whether requests can be served.
    pub health: Arc<dyn Health>,
    /// Looks up workspaces and keys.
    pub directory: Arc<dyn WorkspaceDirectory>,
    /// Authenticates callers by their keys.
    pub authenticate: Authenticate,
    /// Signs and verifies references.
    pub references: Arc<ReferenceSigner>,
    /// Limits how many requests may be made.
    pub limits: Arc<RateLimits>,
    /// Limits the time and memory of request bodies.
    pub bodies: BodyLimits,
    /// The URL of the service.
    pub base_url: BaseUrl,
    /// The proxies whose headers report the host and the client.
    pub proxies: Proxies,
    /// The workspace that the bare base host addresses.
    pub default_workspace: Option<Subdomain>,
    /// Receives the outcome of each request.
    pub observer: Arc<dyn Observer>,
    /// Runs work that outlives its request.
    pub detached: DetachedTasks,
    /// The formats of the errors that no surface has rendered.
    pub error_formats: ErrorFormats,
    /// Generates request ids.
    pub ids: Arc<dyn IdGenerator>,
    /// The clock for ids and expiry of references.
    pub clock: Arc<dyn Clock>,
}
