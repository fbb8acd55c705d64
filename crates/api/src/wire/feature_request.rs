//! The three shapes of a feature request, contract section 2.2.

use actix_web::http::StatusCode;
use roadmap_domain::model::feature_request::{FoundRequest, RequestSummary, excerpt};
use roadmap_domain::model::operation_key::SavedReply;
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::vote::VoteCast;
use serde::Serialize;

use super::page::Envelope;
use super::{Links, saved};

/// The column "Vote/comment response".
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    id: String,
    title: String,
    url: String,
    admin_url: String,
    status: Option<String>,
    track: String,
    votes_count: i64,
    created_at: String,
}

/// The column "Votes list".
#[derive(Debug, Serialize)]
struct Voted {
    #[serde(flatten)]
    summary: Summary,
    tag_number: i64,
}

/// The column "Search".
#[derive(Debug, Serialize)]
struct Found<'a> {
    #[serde(flatten)]
    summary: Summary,
    description: &'a str,
}

#[derive(Debug, Serialize)]
struct One<T> {
    feature_request: T,
}

#[derive(Debug, Serialize)]
struct Many<T> {
    feature_requests: Vec<T>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Page<T: Serialize> {
    #[serde(flatten)]
    list: Many<T>,
    #[serde(flatten)]
    envelope: Envelope,
}

#[derive(Debug, Serialize)]
struct Cast {
    feature_request: Summary,
    vote_registered: bool,
    already_voted: bool,
}

pub(crate) fn summary(request: &RequestSummary, links: &Links) -> Summary {
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

pub(crate) fn voted(votes: &Listing<RequestSummary>, links: &Links) -> impl Serialize + use<> {
    let voted = |request: &RequestSummary| Voted { summary: summary(request, links), tag_number: request.tag_number };
    Page { list: Many { feature_requests: votes.items.iter().map(voted).collect() }, envelope: votes.into() }
}

pub(crate) fn found<'a>(found: &'a [FoundRequest], links: &Links) -> impl Serialize + use<'a> {
    let item = |found: &'a FoundRequest| Found {
        summary: summary(&found.summary, links),
        description: excerpt(&found.description),
    };
    Many { feature_requests: found.iter().map(item).collect() }
}

pub(crate) fn vote_cast(cast: &VoteCast, links: &Links) -> SavedReply {
    let body = Cast {
        feature_request: summary(&cast.request, links),
        vote_registered: cast.vote_registered(),
        already_voted: cast.already_voted(),
    };
    saved(StatusCode::CREATED, &body)
}

pub(crate) fn moved(request: &RequestSummary, links: &Links) -> SavedReply {
    saved(StatusCode::OK, &One { feature_request: summary(request, links) })
}
