//! `GET` and `POST /webhooks`, `GET`, `PATCH` and `DELETE /webhooks/{id}`, `POST /webhooks/{id}/rotate_secret` and
//! `/test`: where events are sent. `GET /webhooks/{id}/deliveries`, `GET` of a single one, and `POST …/redeliver`: what
//! became of them.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::audit::parse_time;
use roadmap_domain::model::destination::{Destination, DestinationRules};
use roadmap_domain::model::id::{WebhookEventId, WebhookId, WorkspaceId};
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{
    Delivery, DeliveryState, Webhook, WebhookChange, WebhookFormat, parse_description,
};
use roadmap_domain::usecase::change_webhooks::{
    CreateWebhook, DeleteWebhook, Redeliver, RedeliverFailed, RotateWebhookSecret, TestWebhook, UpdateWebhook,
    WebhookDraft, WebhookWithSecret, parse_overlap, parse_url, shown_url,
};
use roadmap_domain::usecase::query::webhooks::{ListDeliveries, ListWebhooks, ShowDelivery, ShowWebhook};
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{NoFields, execute_deletion, execute_operation};
use crate::error::ApiError;
use crate::extractors::{
    DeleteRequest, ReadRequest, WriteRequest, WriteRequestWithoutFields, delivery_id, record_id, record_id_or_nil,
};
use crate::fields::{Object, double_option};
use crate::openapi::failures::{
    AddWebhookErrors, BodyErrors, CommonErrors, DeleteErrors, DeliveryErrors, OperationKeyErrors, QueryErrors,
    RedeliverErrors, RedeliverFailedErrors, RotateSecretErrors, WebhookErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateWebhook)]
struct NewBody {
    #[schema(required = true, value_type = NewWebhook)]
    webhook: Option<Object<NewWebhook>>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct NewWebhook {
    #[schema(required = true, schema_with = described::webhook_url)]
    url: Option<String>,
    #[schema(schema_with = described::webhook_description)]
    description: Option<String>,
    #[schema(schema_with = described::new_webhook_format)]
    format: Option<String>,
    #[schema(schema_with = described::webhook_events)]
    events: Option<Vec<String>>,
    #[schema(schema_with = described::new_webhook_includes_private)]
    include_private: Option<bool>,
    #[schema(schema_with = described::new_webhook_includes_emails)]
    include_emails: Option<bool>,
    #[schema(schema_with = described::new_webhook_enabled)]
    enabled: Option<bool>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdateWebhook)]
struct ChangeBody {
    #[schema(required = true, value_type = ChangedWebhook)]
    webhook: Option<Object<ChangedWebhook>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WebhookChange)]
struct ChangedWebhook {
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::webhook_url)]
    url: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::webhook_description)]
    description: Option<Option<String>>,
    #[schema(schema_with = described::webhook_format)]
    format: Option<String>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::webhook_events)]
    events: Option<Option<Vec<String>>>,
    #[schema(schema_with = described::webhook_includes_private)]
    include_private: Option<bool>,
    #[schema(schema_with = described::webhook_includes_emails)]
    include_emails: Option<bool>,
    #[schema(schema_with = described::webhook_enabled)]
    enabled: Option<bool>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = RotateWebhookSecret)]
struct RotateBody {
    #[schema(schema_with = described::overlap)]
    overlap: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = RedeliverFailed)]
struct RedeliverBody {
    #[schema(required = true, schema_with = described::since)]
    since: Option<String>,
}

/// List webhooks
///
/// Oldest first, at most 10.
#[utoipa::path(
    get,
    path = "/api/external/v1/webhooks",
    operation_id = "listWebhooks",
    tag = "Webhooks",
    params(described::PageNumberParameters),
    responses(
        (
            status = 200,
            description = "A page of webhooks.",
            body = wire::webhook::Page,
            links(
                ("show" = (
                    operation_id = "showWebhook",
                    parameters(("id" = "$response.body#/webhooks/0/id"))
                ))
            )
        ),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let page = input.query.page_without_cursor("cursor cannot be given for webhooks")?;
    let webhooks = state.queries.run(input.workspace, &ListWebhooks).await?;
    let listing = Listing::of_all(webhooks, page);
    Ok(wire::ok(&wire::webhook::listed(&listing, shown(&state, input.workspace))))
}

/// Show a webhook
#[utoipa::path(
    get,
    path = "/api/external/v1/webhooks/{id}",
    operation_id = "showWebhook",
    tag = "Webhooks",
    params(described::RecordIdParameter),
    responses(
        (
            status = 200,
            description = "The webhook.",
            body = wire::webhook::Response,
            links(
                ("deliveries" = (
                    operation_id = "listDeliveries",
                    parameters(("id" = "$response.body#/webhook/id"))
                ))
            )
        ),
        CommonErrors, WebhookErrors
    )
)]
pub(crate) async fn show(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ShowWebhook { webhook: record_id(&request, WebhookId::new) };
    let webhook = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::webhook::response(shown(&state, input.workspace)(&webhook))))
}

/// Create a webhook
///
/// It gets the events that happen from then on. The response is not saved under an operation key, because it has the
/// secret.
#[utoipa::path(
    post,
    path = "/api/external/v1/webhooks",
    operation_id = "createWebhook",
    tag = "Webhooks",
    request_body(
        content = NewBody,
        example = json!({
            "webhook": {
                "url": "https://hooks.acme.example/roadmap",
                "description": "Help desk",
                "events": ["feature_request.moved", "vote.created"]
            }
        })
    ),
    responses(
        (
            status = 201,
            description = "The webhook, and the secret, which is not shown again.",
            body = wire::webhook::WithSecret,
            links(
                ("update" = (operation_id = "updateWebhook", parameters(("id" = "$response.body#/webhook/id")))),
                ("rotate" = (
                    operation_id = "rotateWebhookSecret",
                    parameters(("id" = "$response.body#/webhook/id"))
                )),
                ("test" = (operation_id = "testWebhook", parameters(("id" = "$response.body#/webhook/id")))),
                ("redeliver" = (
                    operation_id = "redeliverFailed",
                    parameters(("id" = "$response.body#/webhook/id"))
                )),
                ("delete" = (operation_id = "deleteWebhook", parameters(("id" = "$response.body#/webhook/id"))))
            )
        ),
        CommonErrors, BodyErrors, AddWebhookErrors
    )
)]
pub(crate) async fn create(state: web::Data<State>, mut input: WriteRequest) -> Result<HttpResponse, ApiError> {
    let (shown, sealer) = (shown(&state, input.workspace), state.sealer.clone());
    let rules = state.destinations.clone();
    // A saved response would hold the secret.
    input.key = Ok(None);
    let parse = move |body| draft(body, &rules);
    let operation = move |draft| CreateWebhook { draft, sealer };
    let render = move |created: WebhookWithSecret| {
        wire::saved_created(&wire::webhook::with_secret(shown(&created.webhook), created.secret.as_ref()))
    };
    execute_operation(&state, input, Target::Workspace, parse, operation, render).await
}

/// Update a webhook
///
/// Omitted fields are unchanged. What waits goes to a new `url`; with `enabled` false it fails, and no try begins after
/// the response. `enabled` true forgets failures.
#[utoipa::path(
    patch,
    path = "/api/external/v1/webhooks/{id}",
    operation_id = "updateWebhook",
    tag = "Webhooks",
    params(described::RecordIdParameter),
    request_body(content = ChangeBody, example = json!({ "webhook": { "include_private": true } })),
    responses(
        (status = 200, description = "The webhook.", body = wire::webhook::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, WebhookErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let (shown, sealer) = (shown(&state, input.workspace), state.sealer.clone());
    let rules = state.destinations.clone();
    let webhook = record_id_or_nil(&request, WebhookId::new);
    let parse = move |body| change(body, &rules);
    let operation = move |Sent { url, format, change }| UpdateWebhook { webhook, url, format, change, sealer };
    let render = move |webhook: Webhook| wire::saved_ok(&wire::webhook::response(shown(&webhook)));
    execute_operation(&state, input, Target::Webhook(webhook), parse, operation, render).await
}

/// Delete a webhook
///
/// Its deliveries are deleted, too. No try begins after the response.
#[utoipa::path(
    delete,
    path = "/api/external/v1/webhooks/{id}",
    operation_id = "deleteWebhook",
    tag = "Webhooks",
    params(described::RecordIdParameter),
    responses((status = 204, description = "The webhook is deleted."), CommonErrors, DeleteErrors, WebhookErrors)
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let webhook = record_id_or_nil(&request, WebhookId::new);
    execute_deletion(&state, input, DeleteWebhook { webhook }).await?;
    Ok(wire::no_content())
}

/// Give a webhook a new secret
///
/// Requests are signed with the new secret and, until `overlap` has passed, also with the one before. The response is not
/// saved under an operation key, because it has the secret.
#[utoipa::path(
    post,
    path = "/api/external/v1/webhooks/{id}/rotate_secret",
    operation_id = "rotateWebhookSecret",
    tag = "Webhooks",
    params(described::RecordIdParameter),
    request_body(content = Option<RotateBody>, example = json!({ "overlap": "24h" })),
    responses(
        (
            status = 200,
            description = "The webhook, and the secret, which is not shown again.",
            body = wire::webhook::WithSecret
        ),
        CommonErrors, BodyErrors, RotateSecretErrors
    )
)]
pub(crate) async fn rotate_secret(
    state: web::Data<State>,
    request: HttpRequest,
    WriteRequestWithoutFields(mut input): WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let (shown, sealer) = (shown(&state, input.workspace), state.sealer.clone());
    let webhook = record_id_or_nil(&request, WebhookId::new);
    // A saved response would hold the secret.
    input.key = Ok(None);
    let parse = |body: RotateBody| parse_overlap(body.overlap.as_deref());
    let operation = move |overlap| RotateWebhookSecret { webhook, overlap, sealer };
    let render = move |rotated: WebhookWithSecret| {
        wire::saved_ok(&wire::webhook::with_secret(shown(&rotated.webhook), rotated.secret.as_ref()))
    };
    execute_operation(&state, input, Target::Webhook(webhook), parse, operation, render).await
}

/// Send a test event
///
/// It is sent at once, in one try, also to a disabled webhook. Show the delivery to see whether it has arrived.
#[utoipa::path(
    post,
    path = "/api/external/v1/webhooks/{id}/test",
    operation_id = "testWebhook",
    tag = "Webhooks",
    params(described::RecordIdParameter),
    request_body(content = Option<NoFields>, example = json!({})),
    responses(
        (
            status = 201,
            description = "The delivery, which waits.",
            body = wire::webhook::DeliveryResponse,
            links(
                ("show" = (
                    operation_id = "showDelivery",
                    parameters(("id" = "$request.path.id"), ("delivery_id" = "$response.body#/delivery/id"))
                )),
                ("redeliver" = (
                    operation_id = "redeliver",
                    parameters(("id" = "$request.path.id"), ("delivery_id" = "$response.body#/delivery/id"))
                ))
            )
        ),
        CommonErrors, BodyErrors, OperationKeyErrors, WebhookErrors
    )
)]
pub(crate) async fn test(
    state: web::Data<State>,
    request: HttpRequest,
    WriteRequestWithoutFields(input): WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let webhook = record_id_or_nil(&request, WebhookId::new);
    let operation = move |NoFields {}| TestWebhook { webhook };
    let render = |delivery: Delivery| wire::saved_created(&wire::webhook::delivery(&delivery));
    execute_operation(&state, input, Target::Webhook(webhook), Ok, operation, render).await
}

/// List the deliveries of a webhook
///
/// Newest first. They are kept for 30 days.
#[utoipa::path(
    get,
    path = "/api/external/v1/webhooks/{id}/deliveries",
    operation_id = "listDeliveries",
    tag = "Webhooks",
    params(described::RecordIdParameter, described::DeliveriesParameters),
    responses(
        (
            status = 200,
            description = "A page of deliveries.",
            body = wire::webhook::Deliveries,
            links(
                ("show" = (
                    operation_id = "showDelivery",
                    parameters(("id" = "$request.path.id"), ("delivery_id" = "$response.body#/deliveries/0/id"))
                ))
            )
        ),
        CommonErrors, QueryErrors, WebhookErrors
    )
)]
pub(crate) async fn deliveries(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ListDeliveries {
        webhook: record_id(&request, WebhookId::new),
        state: DeliveryState::parse_filter(input.query.get("state")?)?,
        page: input.query.page_without_cursor("cursor cannot be given for deliveries")?,
    };
    let deliveries = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::webhook::deliveries(&deliveries)))
}

/// Show a delivery
///
/// With its tries and the body that is sent.
#[utoipa::path(
    get,
    path = "/api/external/v1/webhooks/{id}/deliveries/{delivery_id}",
    operation_id = "showDelivery",
    tag = "Webhooks",
    params(described::DeliveryIdParameters),
    responses(
        (status = 200, description = "The delivery.", body = wire::webhook::DeliveryShown),
        CommonErrors, DeliveryErrors
    )
)]
pub(crate) async fn delivery(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ShowDelivery { webhook: record_id(&request, WebhookId::new), event: delivery_id(&request) };
    let (webhook, shown) = state.queries.run(input.workspace, &query).await?;
    let body = wire::event::body(&shown.event, webhook.format, shown.delivery.includes, &input.links);
    Ok(wire::ok(&wire::webhook::delivery_shown(&shown.delivery, &shown.attempts, body)))
}

/// Deliver an event again
///
/// Whatever became of it: it is due now, with the same id and body and all tries.
#[utoipa::path(
    post,
    path = "/api/external/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver",
    operation_id = "redeliver",
    tag = "Webhooks",
    params(described::DeliveryIdParameters),
    request_body(content = Option<NoFields>, example = json!({})),
    responses(
        (status = 200, description = "The delivery, which waits.", body = wire::webhook::DeliveryResponse),
        CommonErrors, BodyErrors, RedeliverErrors
    )
)]
pub(crate) async fn redeliver(
    state: web::Data<State>,
    request: HttpRequest,
    WriteRequestWithoutFields(input): WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let webhook = record_id_or_nil(&request, WebhookId::new);
    // No event has the nil UUID.
    let event = delivery_id(&request).unwrap_or_else(|| WebhookEventId::new(Uuid::nil()));
    let operation = move |NoFields {}| Redeliver { webhook, event };
    let render = |delivery: Delivery| wire::saved_ok(&wire::webhook::delivery(&delivery));
    execute_operation(&state, input, Target::Delivery(webhook, event), Ok, operation, render).await
}

/// Deliver failed events again
///
/// All of them that are not older than `since`, as if each was delivered again. Test events are left out.
#[utoipa::path(
    post,
    path = "/api/external/v1/webhooks/{id}/redeliver",
    operation_id = "redeliverFailed",
    tag = "Webhooks",
    params(described::RecordIdParameter),
    request_body(content = RedeliverBody, example = json!({ "since": "2026-03-01T09:30:00Z" })),
    responses(
        (status = 200, description = "How many wait again.", body = wire::webhook::Redelivered),
        CommonErrors, BodyErrors, RedeliverFailedErrors
    )
)]
pub(crate) async fn redeliver_failed(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let webhook = record_id_or_nil(&request, WebhookId::new);
    let operation = move |since| RedeliverFailed { webhook, since };
    let render = |count: u64| wire::saved_ok(&wire::webhook::redelivered(count));
    execute_operation(&state, input, Target::Webhook(webhook), since, operation, render).await
}

/// Returns what shows webhooks of a workspace.
fn shown(state: &State, workspace: WorkspaceId) -> impl Fn(&Webhook) -> wire::webhook::Fields + Send + Sync + use<> {
    let (sealer, clock) = (state.sealer.clone(), state.http.clock.clone());
    move |webhook| wire::webhook::fields(webhook, shown_url(&sealer, workspace, webhook), clock.now())
}

fn draft(body: NewBody, rules: &DestinationRules) -> Validated<WebhookDraft> {
    let Object(new) = body.webhook.ok_or_else(|| FieldError::missing("webhook"))?;
    let change = WebhookChange {
        description: new.description.as_deref().map(parse_description).transpose()?,
        events: Some(new.events),
        include_private: new.include_private,
        include_emails: new.include_emails,
        enabled: new.enabled,
    };
    WebhookDraft::parse(new.url.as_deref(), new.format.as_deref(), change, rules)
}

/// The fields of a change that were sent.
#[derive(Debug)]
struct Sent {
    url: Option<Destination>,
    format: Option<WebhookFormat>,
    change: WebhookChange,
}

fn change(body: ChangeBody, rules: &DestinationRules) -> Validated<Sent> {
    let Object(changed) = body.webhook.ok_or_else(|| FieldError::missing("webhook"))?;
    let description = changed.description.map(|text| parse_description(text.as_deref().unwrap_or_default()));
    let format = changed.format.filter(|format| !format.trim().is_empty());
    Ok(Sent {
        url: changed.url.map(|url| parse_url(url.as_deref(), rules)).transpose()?,
        format: format.map(|format| WebhookFormat::parse(Some(&format))).transpose()?,
        change: WebhookChange {
            description: description.transpose()?,
            events: changed.events,
            include_private: changed.include_private,
            include_emails: changed.include_emails,
            enabled: changed.enabled,
        },
    })
}

fn since(body: RedeliverBody) -> Validated<Timestamp> {
    let since = body.since.as_deref().map(str::trim).filter(|since| !since.is_empty());
    parse_time("since", since.ok_or_else(|| FieldError::missing("since"))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::base_url::BaseUrl;
    use roadmap_domain::model::destination::OutboundNetworks;
    use serde_json::{Value, json};

    fn changed(sent: Value) -> Validated<Sent> {
        let base_url = BaseUrl::parse("base_url", "https://roadmap.example.com").unwrap();
        let rules = DestinationRules::new(&base_url, OutboundNetworks::default());
        change(serde_json::from_value(json!({ "webhook": sent })).unwrap(), &rules)
    }

    #[test]
    fn omitted_fields_stay_and_null_is_a_value_of_some() {
        let Sent { url, format, change } = changed(json!({})).unwrap();
        assert_eq!((url, format, change), (None, None, WebhookChange::default()));
        let Sent { url, format, change } =
            changed(json!({ "description": null, "format": " ", "events": null, "enabled": null })).unwrap();
        assert_eq!((url, format), (None, None));
        assert_eq!((change.description.as_deref(), change.events, change.enabled), (Some(""), Some(None), None));
        for url in [json!(null), json!(" ")] {
            assert_eq!(changed(json!({ "url": url })).err(), Some(FieldError::missing("url")));
        }
    }
}
