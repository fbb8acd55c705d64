//! `GET`, `PATCH` and `PUT /setting`, contract sections 4.2 and 4.3.

use actix_web::{HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::setting::SettingChange;
use roadmap_domain::usecase::query::setting::ShowSetting;
use roadmap_domain::usecase::update_setting::UpdateSetting;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extractors::{ReadRequest, WriteRequest};
use crate::fields::{self, Object, double_option, sent};
use crate::openapi::failures::{BodyErrors, CommonErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdateSetting)]
struct Body {
    #[schema(required = true, value_type = SettingBody)]
    setting: Option<Object<SettingBody>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = SettingChange)]
struct SettingBody {
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::product_name)]
    product_name: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::website_url)]
    website_url: Option<Option<String>>,
}

/// Get the settings
#[utoipa::path(
    get,
    path = "/api/external/v1/setting",
    operation_id = "getSetting",
    tag = "Settings",
    responses((status = 200, description = "The settings.", body = wire::setting::Body), CommonErrors)
)]
pub(crate) async fn show(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let setting = state.queries.run(input.workspace, &ShowSetting).await?;
    Ok(wire::ok(&wire::setting::response(&setting)))
}

/// Update the settings
///
/// Omitted fields are unchanged.
#[utoipa::path(
    patch,
    path = "/api/external/v1/setting",
    operation_id = "updateSetting",
    tag = "Settings",
    request_body(content = Body, example = json!({ "setting": { "product_name": "Lumen" } })),
    responses((status = 200, description = "The settings.", body = wire::setting::Body), CommonErrors, BodyErrors)
)]
pub(crate) async fn update(state: web::Data<State>, input: WriteRequest) -> Result<HttpResponse, ApiError> {
    let WriteRequest { workspace, origin, body, .. } = input;
    // Changes of settings take no operation key (contract section 4.10); the field is ignored.
    let operation = UpdateSetting { change: fields::body(body).and_then(change)? };
    let executor = state.executor.acting_as(origin);
    let updated =
        state.http.detached.run(async move { executor.run_without_key(workspace, &operation).await }).await??;
    Ok(wire::ok(&wire::setting::response(&updated.setting)))
}

/// Update the settings, as PATCH does
///
/// Omitted fields are unchanged.
#[utoipa::path(
    put,
    path = "/api/external/v1/setting",
    operation_id = "replaceSetting",
    tag = "Settings",
    request_body(content = Body, example = json!({ "setting": { "website_url": "https://lumendesk.example" } })),
    responses((status = 200, description = "The settings.", body = wire::setting::Body), CommonErrors, BodyErrors)
)]
pub(crate) async fn replace(state: web::Data<State>, input: WriteRequest) -> Result<HttpResponse, ApiError> {
    update(state, input).await
}

fn change(body: Body) -> Validated<SettingChange> {
    let Object(setting) = body.setting.ok_or_else(|| FieldError::missing("setting"))?;
    SettingChange::parse(sent(&setting.product_name), sent(&setting.website_url))
}
