//! The settings, contract section 2.1.

use roadmap_domain::model::setting::Setting;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Body<'a> {
    setting: Fields<'a>,
}

#[derive(Debug, Serialize)]
struct Fields<'a> {
    product_name: &'a str,
    website_url: &'a str,
}

pub(crate) fn shown(setting: &Setting) -> impl Serialize {
    Body { setting: Fields { product_name: setting.product_name.as_str(), website_url: setting.website_url.as_str() } }
}
