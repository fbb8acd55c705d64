//! `GET` and `POST /feature_requests`: search and creation, contract sections 4.5 and 4.9. `GET /feature_requests/all`.
//! `GET`, `PATCH` and `DELETE` of a single one.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::changes::{ChangesFilter, ChangesPage};
use roadmap_domain::model::feature_request::{Description, FeatureRequestDetail, Tag, Title};
use roadmap_domain::model::id::TrackId;
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::delete_feature_request::DeleteFeatureRequest;
use roadmap_domain::usecase::edit_feature_request::{EditFeatureRequest, FeatureRequestChange, FeatureRequestEdited};
use roadmap_domain::usecase::executor::Checked;
use roadmap_domain::usecase::need_no_answer::NeedNoAnswer;
use roadmap_domain::usecase::query::changes::ListChangedRequests;
use roadmap_domain::usecase::query::feature_requests::SearchFeatureRequests;
use roadmap_domain::usecase::query::records::ShowFeatureRequest;
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{CustomerBody, NoFields, ReferenceNoteBody, customer, execute_deletion, execute_operation, note};
use crate::error::ApiError;
use crate::extractors::{DeleteRequest, ReadRequest, WriteRequest, WriteRequestWithoutFields, feature_request_ref};
use crate::fields::{Object, double_option, optional_uuid};
use crate::openapi::failures::{
    BodyErrors, CommonErrors, DeleteErrors, DeleteFeatureRequestErrors, FeatureRequestErrors, OperationKeyErrors,
    QueryErrors, RecordBudgetErrors, TrackErrors,
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

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdateFeatureRequest)]
struct ChangeBody {
    #[schema(required = true, value_type = ChangedFields)]
    feature_request: Option<Object<ChangedFields>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = FeatureRequestChange)]
struct ChangedFields {
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::title)]
    title: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::description)]
    description: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::tags)]
    tags: Option<Option<Vec<String>>>,
    #[schema(schema_with = described::changed_private)]
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
    let query = input.query.get("query")?;
    if query.is_none() {
        // A search with a misspelt parameter would find nothing without a word.
        input.query.allow_only(&["query", "per_page"])?;
    }
    let query = SearchQuery::parse("query", query.unwrap_or_default())?;
    let search = SearchFeatureRequests::parse(query, input.query.get("per_page")?)?;
    let results = state.queries.run(input.workspace, &search).await?;
    Ok(wire::ok(&wire::feature_request::results(&results, &input.links)))
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
    let results = state.queries.run(input.workspace, &SearchFeatureRequests::similar(title)).await?;
    Ok(wire::ok(&wire::feature_request::similar(&results, &input.links)))
}

/// List all feature requests
///
/// Oldest change first, also merged ones, and those that were deleted in the last 30 days. `next_cursor` is the `cursor`
/// of the next ones.
#[utoipa::path(
    get,
    path = "/api/external/v1/feature_requests/all",
    operation_id = "listAllFeatureRequests",
    tag = "Feature requests",
    params(described::AllRequestsParameters),
    responses(
        (
            status = 200,
            description = "A part of the feature requests.",
            body = wire::feature_request::All,
            links(
                ("next" = (
                    operation_id = "listAllFeatureRequests",
                    parameters(("cursor" = "$response.body#/next_cursor"))
                ))
            )
        ),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn all(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let query = &input.query;
    let track = query.uuid("track_id")?.map(TrackId::new);
    let filter = ChangesFilter::parse(query.get("updated_since")?, track, query.flag("include_private")?)?;
    let cursors = filter.cursors(input.workspace, "feature_requests");
    let page = ChangesPage::parse(&cursors, query.get("cursor")?, query.get("page_size")?)?;
    let requests = state.queries.run(input.workspace, &ListChangedRequests { filter, page }).await?;
    Ok(wire::ok(&wire::feature_request::all(&requests, &input.links, &cursors)))
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
                )),
                ("show" = (
                    operation_id = "showFeatureRequest",
                    parameters(("id" = "$response.body#/feature_request/id"))
                )),
                ("update" = (
                    operation_id = "updateFeatureRequest",
                    parameters(("id" = "$response.body#/feature_request/id"))
                )),
                ("delete" = (
                    operation_id = "deleteFeatureRequest",
                    parameters(("id" = "$response.body#/feature_request/id"))
                )),
                ("approve" = (
                    operation_id = "approveFeatureRequest",
                    parameters(("id" = "$response.body#/feature_request/id"))
                )),
                ("decline" = (
                    operation_id = "declineFeatureRequest",
                    parameters(("id" = "$response.body#/feature_request/id"))
                )),
                ("subscribe" = (
                    operation_id = "subscribe",
                    parameters(("id" = "$response.body#/feature_request/id"))
                )),
                ("comments" = (
                    operation_id = "listComments",
                    parameters(("id" = "$response.body#/feature_request/id"))
                )),
                ("reference_notes" = (
                    operation_id = "listReferenceNotes",
                    parameters(("id" = "$response.body#/feature_request/id"))
                )),
                ("moves" = (
                    operation_id = "listMoves",
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
    execute_operation(&state, input, Target::Workspace, draft, CreateFeatureRequest::new, render).await
}

/// Show a feature request
///
/// Private ones, too. A merged one is shown as what it was merged into.
#[utoipa::path(
    get,
    path = "/api/external/v1/feature_requests/{id}",
    operation_id = "showFeatureRequest",
    tag = "Feature requests",
    params(described::FeatureRequestIdParameter),
    responses(
        (status = 200, description = "The feature request.", body = wire::feature_request::Response),
        CommonErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn show(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ShowFeatureRequest { request: feature_request_ref(&request) };
    let detail = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::feature_request::response(&detail, &input.links)))
}

/// Update a feature request
///
/// Omitted fields are unchanged. After a new title, old slugs still work.
#[utoipa::path(
    patch,
    path = "/api/external/v1/feature_requests/{id}",
    operation_id = "updateFeatureRequest",
    tag = "Feature requests",
    params(described::FeatureRequestIdParameter),
    request_body(
        content = ChangeBody,
        example = json!({ "feature_request": { "title": "Dark mode for everything", "tags": ["ui", "design"] } })
    ),
    responses(
        (status = 200, description = "The feature request.", body = wire::feature_request::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let request = feature_request_ref(&request);
    let operation = move |change| EditFeatureRequest { request, change };
    let render =
        move |edited: FeatureRequestEdited| wire::saved_ok(&wire::feature_request::response(&edited.detail, &links));
    execute_operation(&state, input, Target::FeatureRequest(request), change, operation, render).await
}

/// Delete a feature request
///
/// With its votes, comments, notes, moves and unsent mail. A merged one is deleted itself, not what it was merged into.
#[utoipa::path(
    delete,
    path = "/api/external/v1/feature_requests/{id}",
    operation_id = "deleteFeatureRequest",
    tag = "Feature requests",
    params(described::FeatureRequestIdParameter, described::WithMergedParameters),
    responses(
        (status = 204, description = "The feature request is deleted."),
        CommonErrors, QueryErrors, DeleteErrors, DeleteFeatureRequestErrors
    )
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let request = feature_request_ref(&request);
    let with_merged = input.query.flag("with_merged");
    let operation = with_merged.map(|with_merged| DeleteFeatureRequest { request, with_merged });
    execute_deletion(&state, input, Checked { target: Target::FeatureRequest(request), operation }).await?;
    Ok(wire::no_content())
}

/// Mark a feature request as needing no answer
///
/// It is not listed as without an answer, or as having a new reply, until a customer comments on it again. One that needs
/// no answer is unchanged.
#[utoipa::path(
    post,
    path = "/api/external/v1/feature_requests/{id}/no_answer_needed",
    operation_id = "needNoAnswer",
    tag = "Feature requests",
    params(described::FeatureRequestIdParameter),
    request_body(content = Option<NoFields>, example = json!({})),
    responses(
        (status = 200, description = "The feature request.", body = wire::feature_request::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn need_no_answer(
    state: web::Data<State>,
    request: HttpRequest,
    WriteRequestWithoutFields(input): WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let request = feature_request_ref(&request);
    let operation = move |NoFields {}| NeedNoAnswer { request };
    let render = move |detail: FeatureRequestDetail| wire::saved_ok(&wire::feature_request::response(&detail, &links));
    execute_operation(&state, input, Target::FeatureRequest(request), Ok, operation, render).await
}

fn draft(body: Body) -> Validated<FeatureRequestDraft> {
    let Object(request) = body.feature_request.ok_or_else(|| FieldError::missing("feature_request"))?;
    Ok(FeatureRequestDraft {
        title: Title::parse("title", request.title.as_deref().unwrap_or_default())?,
        description: Description::parse("description", request.description.as_deref().unwrap_or_default())?,
        tags: Tag::parse_list("tags", &request.tags.unwrap_or_default())?,
        track: optional_uuid("track_id", request.track_id.as_deref())?.map(TrackId::new),
        private: request.private.unwrap_or(false),
        awaiting_approval: false,
        customer: customer(body.customer)?,
        note: note(body.reference_note)?,
    })
}

fn change(body: ChangeBody) -> Validated<FeatureRequestChange> {
    let Object(sent) = body.feature_request.ok_or_else(|| FieldError::missing("feature_request"))?;
    let title = sent.title.map(Option::unwrap_or_default);
    let description = sent.description.map(Option::unwrap_or_default);
    let tags = sent.tags.map(Option::unwrap_or_default);
    Ok(FeatureRequestChange {
        title: title.map(|title| Title::parse("title", &title)).transpose()?,
        description: description.map(|html| Description::parse("description", &html)).transpose()?,
        tags: tags.map(|tags| Tag::parse_list("tags", &tags)).transpose()?,
        private: sent.private,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields;
    use serde_json::{Value, json};

    fn changed(sent: Value) -> Validated<FeatureRequestChange> {
        let Value::Object(body) = json!({ "feature_request": sent }) else { panic!("an object") };
        fields::body(body).and_then(change)
    }

    #[test]
    fn only_sent_fields_change_and_null_empties_them() {
        assert_eq!(changed(json!({})).unwrap(), FeatureRequestChange::default());
        let emptied = changed(json!({ "description": null, "tags": null, "private": null })).unwrap();
        assert_eq!(emptied.description.unwrap().html(), "");
        assert_eq!((emptied.title, emptied.tags, emptied.private), (None, Some(Vec::new()), None));
        for title in [json!(null), json!(" ")] {
            assert_eq!(changed(json!({ "title": title })).unwrap_err(), FieldError::missing("title"));
        }
        assert_eq!(changed(json!(null)).unwrap_err(), FieldError::missing("feature_request"));
        assert_eq!(changed(json!({ "tags": "ui" })).unwrap_err().to_string(), "tags must be a list");
    }
}
