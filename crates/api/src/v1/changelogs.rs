//! `GET` and `POST /changelogs`, contract section 4.9.

use actix_web::{HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::changelog::ChangelogDraft;
use roadmap_domain::model::id::AttachmentId;
use roadmap_domain::policy::signed_reference::Purpose;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::query::changelogs::ListChangelogs;
use serde::Deserialize;
use utoipa::ToSchema;

use super::execute_operation;
use crate::error::ApiError;
use crate::extractors::{ReadRequest, WriteRequest};
use crate::fields::Object;
use crate::openapi::failures::{BodyErrors, CommonErrors, OperationKeyErrors, QueryErrors, RecordBudgetErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateChangelog)]
struct Body {
    #[schema(required = true, value_type = ChangelogBody)]
    changelog: Option<Object<ChangelogBody>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewChangelog)]
struct ChangelogBody {
    #[schema(required = true, schema_with = described::title)]
    title: Option<String>,
    #[schema(required = true, schema_with = described::changelog)]
    content: Option<String>,
    #[schema(schema_with = described::cover_image_signed_id)]
    cover_image_signed_id: Option<String>,
    #[schema(schema_with = described::publish)]
    publish: Option<bool>,
}

/// List changelogs
///
/// Newest first, including drafts.
#[utoipa::path(
    get,
    path = "/api/external/v1/changelogs",
    operation_id = "listChangelogs",
    tag = "Changelogs",
    params(described::PageParameters),
    responses((status = 200, description = "A page of changelogs.", body = wire::changelog::Page), CommonErrors, QueryErrors)
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let page = input.query.page()?;
    let changelogs = state.queries.run(input.workspace, &ListChangelogs { page }).await?;
    Ok(wire::ok(&wire::changelog::listed(&changelogs, &input.links)))
}

/// Create a changelog
#[utoipa::path(
    post,
    path = "/api/external/v1/changelogs",
    operation_id = "createChangelog",
    tag = "Changelogs",
    request_body(
        content = Body,
        example = json!({
            "changelog": { "title": "Dark mode is here", "content": "<p>Turn it on.</p>", "publish": true }
        })
    ),
    responses((status = 201, description = "The changelog.", body = wire::changelog::Created), CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors)
)]
pub(crate) async fn create(state: web::Data<State>, input: WriteRequest) -> Result<HttpResponse, ApiError> {
    let (workspace, links) = (input.workspace, input.links.clone());
    let (references, now) = (state.http.references.clone(), state.http.clock.now());
    let referred =
        move |reference: &str| references.verify(Purpose::Blob, workspace, reference, now).map(AttachmentId::new);
    let render = move |changelog| wire::changelog::created(&changelog, &links);
    execute_operation(&state, input, |body| draft(body, referred), |draft| CreateChangelog { draft }, render).await
}

fn draft(body: Body, referred: impl FnOnce(&str) -> Option<AttachmentId>) -> Validated<ChangelogDraft> {
    let Object(changelog) = body.changelog.ok_or_else(|| FieldError::missing("changelog"))?;
    ChangelogDraft::parse(
        changelog.title.as_deref(),
        changelog.content.as_deref(),
        changelog.cover_image_signed_id.as_deref(),
        changelog.publish.unwrap_or(false),
        referred,
    )
}
