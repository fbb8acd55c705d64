//! `GET` and `POST /feature_requests`: search and creation, contract sections 4.5 and 4.9.

use actix_web::{HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::feature_request::{Description, Tag, Title};
use roadmap_domain::model::id::{TrackId, parse_uuid};
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::query::feature_requests::SearchFeatureRequests;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{CustomerBody, ReferenceNoteBody, execute_operation};
use crate::error::ApiError;
use crate::extractors::{ReadRequest, WriteRequest};
use crate::fields::Object;
use crate::openapi::failures::{
    BodyErrors, CommonErrors, OperationKeyErrors, QueryErrors, RecordBudgetErrors, TrackErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateFeatureRequest)]
struct Body {
    #[schema(required = true, value_type = FeatureRequestBody)]
    feature_request: Option<Object<FeatureRequestBody>>,
    /// The author and first voter.
    #[schema(value_type = Option<CustomerBody>)]
    customer: Option<Object<CustomerBody>>,
    #[schema(value_type = Option<ReferenceNoteBody>)]
    reference_note: Option<Object<ReferenceNoteBody>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewFeatureRequest)]
struct FeatureRequestBody {
    #[schema(required = true, schema_with = described::title)]
    title: Option<String>,
    #[schema(schema_with = described::description)]
    description: Option<String>,
    #[schema(schema_with = described::tags)]
    tags: Option<Vec<String>>,
    #[schema(schema_with = described::first_track_id)]
    track_id: Option<String>,
    #[schema(schema_with = described::private)]
    private: Option<bool>,
}

/// Search public feature requests
///
/// Searches title, description and tags. Results are ranked by relevance and votes.
#[utoipa::path(
    get,
    path = "/api/external/v1/feature_requests",
    operation_id = "searchFeatureRequests",
    tag = "Feature requests",
    params(described::SearchParameters),
    responses(
        (status = 200, description = "The search results.", body = wire::feature_request::Results),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let query = SearchQuery::parse("query", input.query.get("query")?.unwrap_or_default())?;
    let search = SearchFeatureRequests::parse(query, input.query.get("per_page")?)?;
    let found = state.queries.run(input.workspace, &search).await?;
    Ok(wire::ok(&wire::feature_request::found(&found, &input.links)))
}

/// List similar feature requests
///
/// Finds the public feature requests that a new one with this title may duplicate, most similar first.
#[utoipa::path(
    get,
    path = "/api/external/v1/feature_requests/similar",
    operation_id = "listSimilarFeatureRequests",
    tag = "Feature requests",
    params(described::SimilarParameters),
    responses(
        (status = 200, description = "The similar feature requests.", body = wire::feature_request::Similar),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn similar(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let title = SearchQuery::parse("title", input.query.get("title")?.unwrap_or_default())?;
    let found = state.queries.run(input.workspace, &SearchFeatureRequests::similar(title)).await?;
    Ok(wire::ok(&wire::feature_request::similar(&found, &input.links)))
}

/// Create a feature request
///
/// The customer becomes its author and first voter.
#[utoipa::path(
    post,
    path = "/api/external/v1/feature_requests",
    operation_id = "createFeatureRequest",
    tag = "Feature requests",
    request_body(
        content = Body,
        example = json!({
            "feature_request": { "title": "Dark mode", "tags": ["ui"] },
            "customer": { "email": "ann@example.com", "name": "Ann" }
        })
    ),
    responses(
        (
            status = 201,
            description = "The feature request.",
            body = wire::feature_request::Cast,
            links(
                ("upvote" = (
                    operation_id = "createUpvote",
                    parameters(("id" = "$response.body#/feature_request/id"))
                )),
                ("comment" = (
                    operation_id = "createComment",
                    parameters(("id" = "$response.body#/feature_request/id"))
                )),
                ("move" = (
                    operation_id = "moveFeatureRequest",
                    parameters(("id" = "$response.body#/feature_request/id"))
                )),
                ("voters" = (
                    operation_id = "listVoters",
                    parameters(("id" = "$response.body#/feature_request/id"))
                ))
            )
        ),
        CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors, TrackErrors
    )
)]
pub(crate) async fn create(state: web::Data<State>, input: WriteRequest) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let render = move |created| wire::feature_request::vote_cast(&created, &links);
    execute_operation(&state, input, draft, CreateFeatureRequest::new, render).await
}

fn draft(body: Body) -> Validated<FeatureRequestDraft> {
    let Object(request) = body.feature_request.ok_or_else(|| FieldError::missing("feature_request"))?;
    let track = request.track_id.as_deref().filter(|raw| !raw.trim().is_empty());
    Ok(FeatureRequestDraft {
        title: Title::parse("title", request.title.as_deref().unwrap_or_default())?,
        description: Description::parse("description", request.description.as_deref().unwrap_or_default())?,
        tags: Tag::parse_list("tags", &request.tags.unwrap_or_default())?,
        track: track.map(|raw| parse_uuid("track_id", raw).map(TrackId::new)).transpose()?,
        private: request.private.unwrap_or(false),
        customer: customer(body.customer)?,
        note: note(body.reference_note)?,
    })
}

/// Parses the customer of a body, if there is one.
pub(crate) fn customer(body: Option<Object<CustomerBody>>) -> Validated<Option<CustomerDraft>> {
    body.map(|Object(CustomerBody { email, name })| CustomerDraft::parse(email.as_deref(), name.as_deref())).transpose()
}

/// Parses the note of a body, if there is one.
pub(crate) fn note(body: Option<Object<ReferenceNoteBody>>) -> Validated<Option<NoteDraft>> {
    body.map(|Object(ReferenceNoteBody { body, author_email })| {
        NoteDraft::parse(body.as_deref(), author_email.as_deref())
    })
    .transpose()
}
