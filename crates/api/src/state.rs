//! The dependencies of the handlers.

use std::sync::Arc;

use actix_web::web;
use roadmap_domain::model::destination::DestinationRules;
use roadmap_domain::policy::sealing::Sealer;
use roadmap_domain::usecase::add_picture::AddPicture;
use roadmap_domain::usecase::delete_attachment::DeleteAttachment;
use roadmap_domain::usecase::executor::Executor;
use roadmap_domain::usecase::import::uploads::UploadImport;
use roadmap_domain::usecase::query::Queries;
use roadmap_domain::usecase::receive_report::ReceiveReport;
use roadmap_domain::usecase::upload_attachment::UploadAttachment;
use roadmap_http::HttpDependencies;
use roadmap_http::overview::OverviewCache;

use crate::markup::MarkupPool;

/// The dependencies of the API's handlers.
pub struct State {
    /// The dependencies that all surfaces share.
    pub http: web::Data<HttpDependencies>,
    /// Runs commands.
    pub executor: Executor,
    /// Runs queries.
    pub queries: Queries,
    /// Stores uploaded files.
    pub upload: UploadAttachment,
    /// Takes files that are to be imported.
    pub imports: UploadImport,
    /// Receives the reports of issue trackers.
    pub reports: ReceiveReport,
    /// Seals the secrets of link sources, and the URLs and secrets of webhooks.
    pub sealer: Arc<Sealer>,
    /// Where webhooks may lead.
    pub destinations: Arc<DestinationRules>,
    /// Makes pictures for texts from uploaded files.
    pub pictures: AddPicture,
    /// Deletes uploaded files.
    pub delete_attachment: DeleteAttachment,
    /// Keeps the overviews of workspaces.
    pub overviews: OverviewCache,
    /// Reads bodies with much markup.
    pub markup: MarkupPool,
}
