//! What handlers have at hand.

use std::sync::Arc;

use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::policy::signed_reference::ReferenceSigner;
use roadmap_domain::ports::{Clock, Health, IdGenerator, WorkspaceDirectory};
use roadmap_domain::usecase::authenticate::Authenticate;
use roadmap_domain::usecase::executor::Executor;
use roadmap_domain::usecase::query::Queries;
use roadmap_domain::usecase::upload_attachment::UploadAttachment;

use crate::body::BodyLimits;
use crate::detached::DetachedTasks;
use crate::forwarding::Proxies;
use crate::limits::RateLimits;
use crate::markup::MarkupPool;
use crate::observer::Observer;

/// The application behind the routes.
pub struct State {
    /// Runs commands.
    pub executor: Executor,
    /// Runs queries.
    pub queries: Queries,
    /// Tells whether calls can be answered.
    pub health: Arc<dyn Health>,
    /// Takes in files.
    pub upload: UploadAttachment,
    /// How many mails a workspace may make in a day.
    pub mails_per_day: Option<u64>,
    /// Signs references.
    pub references: Arc<ReferenceSigner>,
    /// Knows workspaces by their names.
    pub directory: Arc<dyn WorkspaceDirectory>,
    /// Recognises callers.
    pub authenticate: Authenticate,
    /// Keeps callers within their limits.
    pub limits: Arc<RateLimits>,
    /// What bodies may cost.
    pub bodies: BodyLimits,
    /// Where bodies with much markup are read.
    pub markup: MarkupPool,
    /// Where the service is reached.
    pub base_url: BaseUrl,
    /// Whose headers may report the host and the client.
    pub proxies: Proxies,
    /// The workspace that the bare base host addresses.
    pub default_workspace: Option<Subdomain>,
    /// Is told what becomes of calls.
    pub observer: Arc<dyn Observer>,
    /// Where work goes on when its caller is gone.
    pub detached: DetachedTasks,
    /// Gives out request ids.
    pub ids: Arc<dyn IdGenerator>,
    /// Tells the time for them.
    pub clock: Arc<dyn Clock>,
}
