//! Health checks for load balancers and orchestrators.

use actix_web::{HttpResponse, web};
use roadmap_domain::error::RoadmapError;
use serde::Serialize;

use crate::dependencies::HttpDependencies;
use crate::error::HttpError;

#[derive(Serialize)]
struct Status {
    status: &'static str,
}

const OK: Status = Status { status: "ok" };

/// `GET /healthz`: the process responds.
pub(crate) async fn live() -> HttpResponse {
    HttpResponse::Ok().json(OK)
}

/// `GET /readyz`: requests can be served. Checks the store.
pub(crate) async fn ready(dependencies: web::Data<HttpDependencies>) -> Result<HttpResponse, HttpError> {
    dependencies.health.check().await.map_err(RoadmapError::Store)?;
    Ok(HttpResponse::Ok().json(OK))
}
