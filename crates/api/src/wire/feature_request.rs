//! The three response shapes of a feature request, contract section 2.2.

use actix_web::http::StatusCode;
use roadmap_domain::model::feature_request::{FeatureRequestSummary, FoundFeatureRequest, excerpt};
use roadmap_domain::model::operation_key::SavedResponse;
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::vote::VoteCast;
use serde::Serialize;
use utoipa::ToSchema;

use super::page::Envelope;
use super::{Links, saved_response};

/// A feature request.
// Column "Vote/comment response" of the contract.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureRequest)]
pub(crate) struct Summary {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1, max_length = 200)]
    title: String,
    /// The last part is the slug.
    #[schema(format = "uri")]
    url: String,
    /// The last part is the slug.
    #[schema(format = "uri")]
    admin_url: String,
    /// The public lane of its track; null if the track has none.
    #[schema(required = true)]
    status: Option<String>,
    #[schema(min_length = 1)]
    track: String,
    #[schema(minimum = 0)]
    votes_count: i64,
    #[schema(format = DateTime)]
    created_at: String,
}

/// A feature request that a customer voted for.
// Column "Votes list" of the contract.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VotedFeatureRequest)]
pub(crate) struct Voted {
    #[serde(flatten)]
    summary: Summary,
    /// The number at the start of its slug.
    #[schema(minimum = 1)]
    tag_number: i64,
}

/// A search result.
// Column "Search" of the contract.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FoundFeatureRequest)]
pub(crate) struct Found<'a> {
    #[serde(flatten)]
    summary: Summary,
    /// Plain text, truncated.
    #[schema(max_length = 500)]
    description: &'a str,
}

/// A feature request that was moved.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureRequestMoved)]
pub(crate) struct Moved {
    feature_request: Summary,
}

/// Search results, best first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchResults)]
pub(crate) struct Results<'a> {
    #[schema(max_items = 15)]
    feature_requests: Vec<Found<'a>>,
}

/// Similar feature requests.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SimilarFeatureRequests)]
pub(crate) struct Similar<'a> {
    #[schema(max_items = 5)]
    feature_requests: Vec<Found<'a>>,
}

/// A page of the feature requests that a customer voted for.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VotesPage)]
pub(crate) struct Page {
    #[schema(max_items = 100)]
    feature_requests: Vec<Voted>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A feature request, and the outcome of a vote for it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VoteCast)]
pub(crate) struct Cast {
    feature_request: Summary,
    /// Whether this request added a vote.
    vote_registered: bool,
    /// Whether the customer had voted before.
    already_voted: bool,
}

pub(crate) fn summary(request: &FeatureRequestSummary, links: &Links) -> Summary {
    let slug = request.slug();
    Summary {
        id: request.id.to_string(),
        title: request.title.to_string(),
        url: links.request(&slug),
        admin_url: links.admin_request(&slug),
        status: request.placement.status.as_ref().map(Name::to_string),
        track: request.placement.track.to_string(),
        votes_count: request.votes_count,
        created_at: request.created_at.to_string(),
    }
}

pub(crate) fn voted(votes: &Listing<FeatureRequestSummary>, links: &Links) -> impl Serialize + use<> {
    let voted =
        |request: &FeatureRequestSummary| Voted { summary: summary(request, links), tag_number: request.tag_number };
    Page { feature_requests: votes.items.iter().map(voted).collect(), envelope: votes.into() }
}

pub(crate) fn found<'a>(found: &'a [FoundFeatureRequest], links: &Links) -> impl Serialize + use<'a> {
    Results { feature_requests: items(found, links) }
}

pub(crate) fn similar<'a>(found: &'a [FoundFeatureRequest], links: &Links) -> impl Serialize + use<'a> {
    Similar { feature_requests: items(found, links) }
}

fn items<'a>(found: &'a [FoundFeatureRequest], links: &Links) -> Vec<Found<'a>> {
    let item = |found: &'a FoundFeatureRequest| Found {
        summary: summary(&found.summary, links),
        description: excerpt(&found.description),
    };
    found.iter().map(item).collect()
}

pub(crate) fn vote_cast(cast: &VoteCast, links: &Links) -> SavedResponse {
    let body = Cast {
        feature_request: summary(&cast.request, links),
        vote_registered: cast.vote_registered(),
        already_voted: cast.already_voted(),
    };
    saved_response(StatusCode::CREATED, &body)
}

pub(crate) fn moved(request: &FeatureRequestSummary, links: &Links) -> SavedResponse {
    saved_response(StatusCode::OK, &Moved { feature_request: summary(request, links) })
}
