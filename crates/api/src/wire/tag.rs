//! Tags, as a list of their own.

use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::tag::ListedTag;
use serde::Serialize;
use utoipa::ToSchema;

use super::page::Envelope;

/// A page of tags.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TagsPage)]
pub(crate) struct Page<'a> {
    #[schema(max_items = 100)]
    tags: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A single tag.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TagShown)]
pub(crate) struct Response<'a> {
    tag: Fields<'a>,
}

/// A tag.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ListedTag)]
pub(crate) struct Fields<'a> {
    /// As it is written on the newest feature request that has it.
    #[schema(min_length = 1, max_length = 50)]
    name: &'a str,
    /// Number of feature requests that have it, private ones included. Merged ones are not counted.
    #[schema(minimum = 0)]
    feature_requests_count: i64,
}

fn fields(tag: &ListedTag) -> Fields<'_> {
    Fields { name: tag.name.as_str(), feature_requests_count: tag.feature_requests_count }
}

pub(crate) fn listed(tags: &Listing<ListedTag>) -> impl Serialize {
    Page { tags: tags.page_items().iter().map(fields).collect(), envelope: tags.into() }
}

pub(crate) fn response(tag: &ListedTag) -> impl Serialize {
    Response { tag: fields(tag) }
}
