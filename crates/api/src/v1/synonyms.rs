//! `GET` and `PUT /synonyms`.

use actix_web::{HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::usecase::query::setting::ListSynonyms;
use roadmap_domain::usecase::replace_synonyms::ReplaceSynonyms;
use roadmap_domain::usecase::target::Target;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::execute_operation;
use crate::error::ApiError;
use crate::extractors::{ReadRequest, WriteRequest};
use crate::openapi::failures::{BodyErrors, CommonErrors, OperationKeyErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ReplaceSynonyms)]
struct Body {
    #[schema(required = true, schema_with = described::synonyms)]
    synonyms: Option<Vec<Vec<String>>>,
}

/// The synonyms of the workspace.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SynonymsShown)]
struct Response<'a> {
    #[schema(schema_with = described::synonyms)]
    synonyms: &'a [Vec<String>],
}

/// List the synonyms
///
/// Groups of words and phrases that searches take for the same.
#[utoipa::path(
    get,
    path = "/api/external/v1/synonyms",
    operation_id = "listSynonyms",
    tag = "Settings",
    responses((status = 200, description = "All groups.", body = Response), CommonErrors)
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let synonyms = state.queries.run(input.workspace, &ListSynonyms).await?;
    Ok(wire::ok(&Response { synonyms: synonyms.groups() }))
}

/// Replace the synonyms
///
/// All groups are replaced. An empty list deletes them. They take effect within a second.
#[utoipa::path(
    put,
    path = "/api/external/v1/synonyms",
    operation_id = "replaceSynonyms",
    tag = "Settings",
    request_body(content = Body, example = json!({ "synonyms": [["2fa", "two-factor", "mfa"]] })),
    responses(
        (status = 200, description = "All groups.", body = Response),
        CommonErrors, BodyErrors, OperationKeyErrors
    )
)]
pub(crate) async fn replace(state: web::Data<State>, input: WriteRequest) -> Result<HttpResponse, ApiError> {
    let render = |synonyms: Synonyms| wire::saved_ok(&Response { synonyms: synonyms.groups() });
    let operation = |synonyms| ReplaceSynonyms { synonyms };
    execute_operation(&state, input, Target::Workspace, parse, operation, render).await
}

fn parse(body: Body) -> Validated<Synonyms> {
    Synonyms::parse(&body.synonyms.ok_or_else(|| FieldError::missing("synonyms"))?)
}
