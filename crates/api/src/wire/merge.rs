//! Merged and unmerged feature requests.

use roadmap_domain::usecase::merge_feature_requests;
use serde::Serialize;
use utoipa::ToSchema;

use super::Links;
use super::feature_request::{Detail, Link, detail, link};

/// A merge.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureRequestsMerged)]
pub(crate) struct Merged<'a> {
    /// What it was merged into.
    feature_request: Detail<'a>,
    /// What was merged.
    merged: Link<'a>,
}

/// An undone merge.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureRequestUnmerged)]
pub(crate) struct Unmerged<'a> {
    /// What was merged.
    feature_request: Detail<'a>,
    /// What it was merged into.
    unmerged_from: Link<'a>,
}

pub(crate) fn merged<'a>(merged: &'a merge_feature_requests::Merged, links: &Links) -> impl Serialize + use<'a> {
    Merged { feature_request: detail(&merged.target, links), merged: link(&merged.source, links) }
}

pub(crate) fn unmerged<'a>(unmerged: &'a merge_feature_requests::Unmerged, links: &Links) -> impl Serialize + use<'a> {
    Unmerged { feature_request: detail(&unmerged.source, links), unmerged_from: link(&unmerged.target, links) }
}
