//! `POST /feature_requests/{id}/merge` and `/unmerge`.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::usecase::merge_feature_requests::{MergeFeatureRequests, Merged, UnmergeFeatureRequest, Unmerged};
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{NoFields, execute_operation};
use crate::error::ApiError;
use crate::extractors::{WriteRequest, WriteRequestWithoutFields, feature_request_ref};
use crate::openapi::failures::{BodyErrors, CommonErrors, MergeErrors, UnmergeErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = MergeFeatureRequest)]
struct Body {
    #[schema(required = true, schema_with = described::target_id)]
    target_id: Option<String>,
}

/// Merge a feature request into another one
///
/// The target counts the voters of both, each once, and shows the comments and notes of both. Nothing is moved, so that
/// the merge can be undone.
#[utoipa::path(
    post,
    path = "/api/external/v1/feature_requests/{id}/merge",
    operation_id = "mergeFeatureRequest",
    tag = "Feature requests",
    params(described::FeatureRequestIdParameter),
    request_body(content = Body, example = json!({ "target_id": "2-night-mode" })),
    responses(
        (
            status = 200,
            description = "The target, and what was merged into it.",
            body = wire::merge::Merged,
            links(
                ("unmerge" = (
                    operation_id = "unmergeFeatureRequest",
                    parameters(("id" = "$response.body#/merged/id"))
                )),
                ("target" = (
                    operation_id = "showFeatureRequest",
                    parameters(("id" = "$response.body#/feature_request/id"))
                ))
            )
        ),
        CommonErrors, BodyErrors, MergeErrors
    )
)]
pub(crate) async fn merge(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let source = feature_request_ref(&request);
    let operation = move |target| MergeFeatureRequests { source, target, tells_voters: false };
    let render = move |merged: Merged| wire::saved_ok(&wire::merge::merged(&merged, &links));
    execute_operation(&state, input, Target::FeatureRequest(source), target, operation, render).await
}

/// Undo the merge of a feature request
///
/// Votes and comments since the merge stay with what it was merged into.
#[utoipa::path(
    post,
    path = "/api/external/v1/feature_requests/{id}/unmerge",
    operation_id = "unmergeFeatureRequest",
    tag = "Feature requests",
    params(described::FeatureRequestIdParameter),
    request_body(content = Option<NoFields>, example = json!({})),
    responses(
        (
            status = 200,
            description = "The feature request, and what it was merged into.",
            body = wire::merge::Unmerged
        ),
        CommonErrors, BodyErrors, UnmergeErrors
    )
)]
pub(crate) async fn unmerge(
    state: web::Data<State>,
    request: HttpRequest,
    WriteRequestWithoutFields(input): WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let source = feature_request_ref(&request);
    let operation = move |NoFields {}| UnmergeFeatureRequest { source };
    let render = move |unmerged: Unmerged| wire::saved_ok(&wire::merge::unmerged(&unmerged, &links));
    execute_operation(&state, input, Target::FeatureRequest(source), Ok, operation, render).await
}

fn target(body: Body) -> Validated<FeatureRequestRef> {
    let target = body.target_id.unwrap_or_default();
    match target.trim() {
        "" => Err(FieldError::missing("target_id")),
        target => Ok(FeatureRequestRef::parse(target)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_slug_or_an_id() {
        let target = |id: Option<&str>| target(Body { target_id: id.map(str::to_owned) });
        assert_eq!(target(Some(" 2-night-mode ")).unwrap(), FeatureRequestRef::Number(2));
        assert_eq!(target(Some("night")).unwrap(), FeatureRequestRef::Unresolvable);
        for missing in [None, Some(""), Some(" ")] {
            assert_eq!(target(missing).unwrap_err(), FieldError::missing("target_id"));
        }
    }
}
