//! `PUT` and `DELETE /feature_requests/{id}/subscription`: mail to a customer about a feature request.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::Validated;
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::usecase::executor::Checked;
use roadmap_domain::usecase::subscribe::{EndSubscription, Subscribe, Subscription};
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{execute_deletion, execute_operation};
use crate::error::ApiError;
use crate::extractors::{DeleteRequest, WriteRequest, feature_request_ref};
use crate::openapi::failures::{
    BodyErrors, CommonErrors, DeleteErrors, FeatureRequestErrors, OperationKeyErrors, QueryErrors, RecordBudgetErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Subscribe)]
struct Body {
    #[schema(required = true, schema_with = described::email)]
    email: Option<String>,
    #[schema(schema_with = described::name)]
    name: Option<String>,
}

/// Subscribe a customer to a feature request
///
/// With or without a vote. A customer who unsubscribed from all mail stays unsubscribed.
#[utoipa::path(
    put,
    path = "/api/external/v1/feature_requests/{id}/subscription",
    operation_id = "subscribe",
    tag = "Subscriptions",
    params(described::FeatureRequestIdParameter),
    request_body(content = Body, example = json!({ "email": "ann@example.com", "name": "Ann" })),
    responses(
        (status = 200, description = "Whether the customer is subscribed now.", body = wire::subscription::Body),
        CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let request = feature_request_ref(&request);
    let operation = move |customer| Subscribe { request, customer, resumes_mail: false };
    let render = |subscription: Subscription| wire::saved_ok(&wire::subscription::response(subscription));
    execute_operation(&state, input, Target::FeatureRequest(request), customer, operation, render).await
}

/// Unsubscribe a customer from a feature request
///
/// A vote of the customer stays.
#[utoipa::path(
    delete,
    path = "/api/external/v1/feature_requests/{id}/subscription",
    operation_id = "unsubscribe",
    tag = "Subscriptions",
    params(described::FeatureRequestIdParameter, described::CustomerParameters),
    responses(
        (status = 200, description = "The customer is not subscribed.", body = wire::subscription::Body),
        CommonErrors, QueryErrors, DeleteErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let request = feature_request_ref(&request);
    let operation = input.query.email().map(|customer| EndSubscription { request, customer });
    let operation = Checked { target: Target::FeatureRequest(request), operation };
    let subscription = execute_deletion(&state, input, operation).await?;
    Ok(wire::ok(&wire::subscription::response(subscription)))
}

fn customer(body: Body) -> Validated<CustomerDraft> {
    CustomerDraft::parse(body.email.as_deref(), body.name.as_deref())
}
