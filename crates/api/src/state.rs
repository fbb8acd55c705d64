//! What handlers have at hand.

use actix_web::web;
use roadmap_domain::usecase::executor::Executor;
use roadmap_domain::usecase::query::Queries;
use roadmap_domain::usecase::upload_attachment::UploadAttachment;
use roadmap_http::HttpDependencies;

use crate::markup::MarkupPool;

/// The application behind the routes.
pub struct State {
    /// What all surfaces have in common.
    pub http: web::Data<HttpDependencies>,
    /// Runs commands.
    pub executor: Executor,
    /// Runs queries.
    pub queries: Queries,
    /// Takes in files.
    pub upload: UploadAttachment,
    /// How many mails a workspace may make in a day.
    pub mails_per_day: Option<u64>,
    /// Where bodies with much markup are read.
    pub markup: MarkupPool,
}
