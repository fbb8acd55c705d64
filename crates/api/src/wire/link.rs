//! Links of feature requests to what the team builds for them. Only holders of a key read them.

use roadmap_domain::model::cursor::{CursorList, Placed};
use roadmap_domain::model::link::{Link, LinkState};
use roadmap_domain::model::pagination::Listing;
use serde::Serialize;
use utoipa::ToSchema;

use super::Links;
use super::feature_request::{Link as RequestLink, link as request_link};
use super::page::Envelope;

/// A page of links.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LinksPage)]
pub(crate) struct Page<'a> {
    #[schema(max_items = 100)]
    links: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A single link.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LinkShown)]
pub(crate) struct Response<'a> {
    link: Fields<'a>,
}

/// A link of a feature request to what the team builds for it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Link)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    /// As it was sent.
    #[schema(min_length = 1, max_length = 2048)]
    url: &'a str,
    /// By the path of the URL.
    #[schema(value_type = Kind)]
    kind: &'static str,
    /// What people call it: `acme/app#7`.
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    #[schema(required = true, min_length = 1, max_length = 200)]
    title: Option<&'a str>,
    #[schema(required = true, value_type = Option<State>)]
    state: Option<&'static str>,
    #[schema(format = DateTime)]
    created_at: String,
    /// The time of the last change of the title or the state.
    #[schema(format = DateTime)]
    updated_at: String,
    /// The merged feature request that it belongs to. Absent if it belongs to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RequestLink)]
    from: Option<RequestLink<'a>>,
}

/// The kind of the tracker that a link leads to.
#[derive(ToSchema)]
#[schema(as = LinkKind, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum Kind {
    Github,
    Gitlab,
    Jira,
    Linear,
    Other,
}

/// The state of an issue.
#[derive(ToSchema)]
#[schema(as = LinkState, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum State {
    Open,
    Closed,
}

pub(crate) fn listed<'a>(listing: &'a Listing<Link>, links: &Links, cursors: &CursorList) -> impl Serialize + use<'a> {
    let envelope = Envelope::with_cursor(listing, cursors, Placed::place);
    Page { links: listing.page_items().iter().map(|link| fields(link, links)).collect(), envelope }
}

pub(crate) fn response<'a>(link: &'a Link, links: &Links) -> impl Serialize + use<'a> {
    Response { link: fields(link, links) }
}

fn fields<'a>(link: &'a Link, links: &Links) -> Fields<'a> {
    let issue = link.url.issue();
    Fields {
        id: link.id.to_string(),
        url: link.url.as_str(),
        kind: issue.kind.name(),
        name: issue.name,
        title: link.title.as_ref().map(|title| title.as_str()),
        state: link.state.map(LinkState::name),
        created_at: link.created_at.to_string(),
        updated_at: link.updated_at.to_string(),
        from: link.from.as_ref().map(|from| request_link(from, links)),
    }
}
