//! Trackers that report closed issues. A secret is shown once, when a link source is created.

use roadmap_domain::model::link_source::LinkSource;
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::change_link_sources::LinkSourceAdded;
use roadmap_domain::usecase::receive_report::ReportApplied;
use serde::Serialize;
use utoipa::ToSchema;

use super::Links;
use super::page::Envelope;

/// A page of link sources.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LinkSourcesPage)]
pub(crate) struct Page<'a> {
    #[schema(max_items = 20)]
    link_sources: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A single link source.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LinkSourceShown)]
pub(crate) struct Response<'a> {
    link_source: Fields<'a>,
}

/// A link source that was created, with its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LinkSourceCreated)]
pub(crate) struct Created<'a> {
    link_source: Fields<'a>,
    /// What the tracker proves its reports with. It is not shown again.
    #[schema(min_length = 16, max_length = 255)]
    secret: &'a str,
}

/// A tracker that reports closed issues.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LinkSource)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1, max_length = 200)]
    name: &'a str,
    #[schema(value_type = Kind)]
    kind: &'static str,
    /// Where the tracker sends its webhooks.
    #[schema(format = "uri")]
    hook_url: String,
    /// The track to which feature requests are moved whose issues are done; null if none are moved.
    #[schema(required = true, format = "uuid")]
    closed_track_id: Option<String>,
    /// Whether such a move notifies the subscribed customers.
    notify_all_voters: bool,
    /// Whether reports are taken.
    enabled: bool,
    /// The time of the last report with a valid proof; null before the first one.
    #[schema(required = true, format = DateTime)]
    last_received_at: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

/// The tracker of a link source.
#[derive(ToSchema)]
#[schema(as = LinkSourceKind, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum Kind {
    Github,
    Gitlab,
    Jira,
    Linear,
}

/// What a report has changed.
#[derive(Debug, Serialize)]
struct Applied {
    links_updated: u64,
    feature_requests_moved: u64,
}

pub(crate) fn listed<'a>(listing: &'a Listing<LinkSource>, links: &Links) -> impl Serialize + use<'a> {
    Page { link_sources: listing.items.iter().map(|source| fields(source, links)).collect(), envelope: listing.into() }
}

pub(crate) fn response<'a>(source: &'a LinkSource, links: &Links) -> impl Serialize + use<'a> {
    Response { link_source: fields(source, links) }
}

pub(crate) fn created<'a>(added: &'a LinkSourceAdded, links: &Links) -> impl Serialize + use<'a> {
    Created { link_source: fields(&added.source, links), secret: added.secret.as_str() }
}

pub(crate) fn applied(applied: ReportApplied) -> impl Serialize {
    let ReportApplied { links_updated, feature_requests_moved } = applied;
    Applied { links_updated, feature_requests_moved }
}

fn fields<'a>(source: &'a LinkSource, links: &Links) -> Fields<'a> {
    Fields {
        id: source.id.to_string(),
        name: source.name.as_str(),
        kind: source.tracker.name(),
        hook_url: links.hook(source.id),
        closed_track_id: source.closed_track.map(|track| track.to_string()),
        notify_all_voters: source.notify_all_voters,
        enabled: source.enabled,
        last_received_at: source.last_received_at.as_ref().map(Timestamp::to_string),
        created_at: source.created_at.to_string(),
        updated_at: source.updated_at.to_string(),
    }
}
