//! The settings, contract section 2.1.

use roadmap_domain::model::setting::Setting;
use serde::Serialize;
use utoipa::ToSchema;

/// The current settings.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SettingShown)]
pub(crate) struct Body<'a> {
    setting: Fields<'a>,
}

/// The settings of a workspace.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Setting)]
pub(crate) struct Fields<'a> {
    #[schema(min_length = 1, max_length = 200)]
    product_name: &'a str,
    /// Absolute, `http` or `https`, as it was sent.
    #[schema(min_length = 1, max_length = 2000)]
    website_url: &'a str,
}

pub(crate) fn response(setting: &Setting) -> impl Serialize {
    Body { setting: Fields { product_name: setting.product_name.as_str(), website_url: setting.website_url.as_str() } }
}
