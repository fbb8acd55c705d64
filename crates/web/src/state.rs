//! The dependencies of the handlers.

use std::sync::Arc;

use actix_web::web;
use roadmap_domain::model::destination::DestinationRules;
use roadmap_domain::policy::sealing::Sealer;
use roadmap_domain::ports::{EventRenderer, PreviewRenderer, Random};
use roadmap_domain::usecase::add_picture::AddPicture;
use roadmap_domain::usecase::executor::Executor;
use roadmap_domain::usecase::import::uploads::UploadImport;
use roadmap_domain::usecase::query::Queries;
use roadmap_domain::usecase::upload_attachment::UploadAttachment;
use roadmap_http::HttpDependencies;
use roadmap_http::overview::OverviewCache;

use crate::reply::PageCache;

/// The dependencies of the pages' handlers.
pub struct State {
    /// The dependencies that all surfaces share.
    pub http: web::Data<HttpDependencies>,
    /// Runs commands.
    pub executor: Executor,
    /// Runs queries.
    pub queries: Queries,
    /// Generates the secrets of cookies.
    pub random: Arc<dyn Random>,
    /// Seals the secrets of link sources, and the URLs and secrets of webhooks.
    pub sealer: Arc<Sealer>,
    /// Where webhooks may lead.
    pub destinations: Arc<DestinationRules>,
    /// Makes the bodies that webhooks are sent.
    pub events: Arc<dyn EventRenderer>,
    /// Stores images.
    pub upload: UploadAttachment,
    /// Takes files that are to be imported.
    pub imports: UploadImport,
    /// Adds pictures to texts.
    pub pictures: AddPicture,
    /// Draws pictures for the previews of links.
    pub previews: Arc<dyn PreviewRenderer>,
    /// Whether mail goes to a mail server. Otherwise it is written to files, and nobody gets it.
    pub has_mail_server: bool,
    /// Keeps the overviews of workspaces.
    pub overviews: OverviewCache,
    /// Keeps rendered pages for a second.
    pub cache: PageCache,
}
