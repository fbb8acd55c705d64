//! The path of a feature request on the portal, and the paths that lead to it.

use roadmap_domain::model::feature_request::{FeatureRequestDetail, FeatureRequestRef};

use crate::context::Context;
use crate::portal::requests;

/// Returns the path of a feature request.
pub(crate) fn path(slug: &str) -> String {
    format!("{}/{slug}", requests::PATH)
}

/// How a path refers to a feature request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// By its slug.
    Canonical,
    /// By its ID, or by a slug with other words.
    OtherWords,
    /// By what was merged into it.
    Merged,
}

/// Finds out how a path refers to a feature request.
pub(crate) fn place(reference: FeatureRequestRef, slug: &str, detail: &FeatureRequestDetail) -> Place {
    match (reference.is_of(&detail.summary), slug == detail.summary.slug()) {
        (true, true) => Place::Canonical,
        (true, false) => Place::OtherWords,
        (false, _) => Place::Merged,
    }
}

/// Returns a path with the query of the request.
pub(crate) fn with_query(context: &Context, path: &str) -> String {
    match context.request.query_string() {
        "" => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// Returns a path with the notice of the requested one, if it has any: it says that a vote counts, also if the feature
/// request was merged meanwhile.
pub(crate) fn with_notice(context: &Context, path: String) -> String {
    if context.query.has("done") { with_query(context, &path) } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::request::tests::sample;

    #[test]
    fn a_path_refers_to_a_feature_request_in_three_ways() {
        let detail = sample("1").detail;
        for (slug, expected) in [
            ("7-dark-mode-b", Place::Canonical),
            ("7", Place::OtherWords),
            ("007-dark-mode-b", Place::OtherWords),
            ("9-hidden-plans", Place::Merged),
            ("00000000-0000-0000-0000-000000000007", Place::OtherWords),
            ("00000000-0000-0000-0000-000000000009", Place::Merged),
        ] {
            assert_eq!(place(FeatureRequestRef::parse(slug), slug, &detail), expected, "{slug}");
        }
    }
}
