//! `GET /audit_entries`: the audit log.

use actix_web::{HttpResponse, web};
use roadmap_domain::model::audit::{AuditFilter, AuditPage};
use roadmap_domain::usecase::query::audit::ListAuditEntries;

use crate::error::ApiError;
use crate::extractors::ReadRequest;
use crate::openapi::failures::{CommonErrors, QueryErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

/// List the entries of the audit log
///
/// Newest first. `next_cursor` is the `cursor` of the next entries.
#[utoipa::path(
    get,
    path = "/api/external/v1/audit_entries",
    operation_id = "listAuditEntries",
    tag = "Settings",
    params(described::AuditParameters),
    responses(
        (
            status = 200,
            description = "A part of the audit log.",
            body = wire::audit::Body,
            links(
                ("next" = (
                    operation_id = "listAuditEntries",
                    parameters(("cursor" = "$response.body#/next_cursor"))
                ))
            )
        ),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let query = &input.query;
    let filter = AuditFilter::parse(
        query.get("actor")?,
        query.get("action")?,
        query.get("subject")?,
        query.get("from")?,
        query.get("to")?,
    )?;
    let page = AuditPage::parse(query.get("cursor")?, query.get("page_size")?)?;
    let entries = state.queries.run(input.workspace, &ListAuditEntries { filter, page }).await?;
    Ok(wire::ok(&wire::audit::listed(&entries)))
}
