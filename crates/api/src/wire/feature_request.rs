//! The response shapes of a feature request: the three of contract section 2.2, and the one with all fields.

use std::borrow::Cow;

use roadmap_domain::model::changes::{Changed, ChangedRequest, ChangesListing};
use roadmap_domain::model::cursor::{CursorList, Place};
use roadmap_domain::model::feature_request::{
    FeatureRequestDetail, FeatureRequestSummary, RequestLink, SearchResult, Tag, excerpt,
};
use roadmap_domain::model::operation_key::SavedResponse;
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::vote::{VoteCast, VoteWithdrawn};
use roadmap_domain::usecase::move_feature_request;
use serde::Serialize;
use utoipa::ToSchema;

use super::comment;
use super::customer::{self, CustomerReference};
use super::page::{Envelope, Gone, gone};
use super::{Links, saved_created, saved_ok};

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

/// A feature request in a list.
// Column "Votes list" of the contract.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ListedFeatureRequest)]
pub(crate) struct Listed {
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
pub(crate) struct SearchItem<'a> {
    #[serde(flatten)]
    summary: Summary,
    /// Plain text, truncated.
    #[schema(max_length = 500)]
    description: &'a str,
}

/// A feature request that was moved.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureRequestMoved)]
pub(crate) struct Moved<'a> {
    feature_request: Summary,
    /// The comment; only if one was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<comment::Comment<'a>>,
}

/// Search results, best first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchResults)]
pub(crate) struct Results<'a> {
    #[schema(max_items = 15)]
    feature_requests: Vec<SearchItem<'a>>,
}

/// Similar feature requests.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SimilarFeatureRequests)]
pub(crate) struct Similar<'a> {
    #[schema(max_items = 5)]
    feature_requests: Vec<SearchItem<'a>>,
}

/// A page of feature requests.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureRequestsPage)]
pub(crate) struct Page {
    #[schema(max_items = 100)]
    feature_requests: Vec<Listed>,
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

/// A feature request, and the outcome of withdrawing a vote.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VoteWithdrawn)]
pub(crate) struct Withdrawn {
    feature_request: Summary,
    /// Whether there was a vote.
    vote_removed: bool,
}

/// A feature request with all of its fields.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureRequestDetail)]
pub(crate) struct Detail<'a> {
    #[serde(flatten)]
    summary: Summary,
    /// The number at the start of its slug.
    #[schema(minimum = 1)]
    tag_number: i64,
    /// Sanitized HTML; empty if it has no description.
    description: Cow<'a, str>,
    #[schema(max_items = 20)]
    tags: Vec<&'a str>,
    /// Whether it is hidden from search and all public pages.
    private: bool,
    /// Number of entries in its list of comments.
    #[schema(minimum = 0)]
    comments_count: i64,
    /// The customer who asked for it.
    #[schema(required = true)]
    author: Option<CustomerReference<'a>>,
    /// What was merged into it, oldest first.
    merged: Vec<Link<'a>>,
    /// The time of the last change of title, description, tags, track, visibility or merges.
    #[schema(format = DateTime)]
    updated_at: String,
}

/// A part of all feature requests, oldest change first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AllFeatureRequests)]
pub(crate) struct All<'a> {
    #[schema(max_items = 100)]
    feature_requests: Vec<Item<'a>>,
    /// The `cursor` of the next feature requests; null if there are none.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

/// A feature request as it is now, or one that was deleted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = ChangedFeatureRequest)]
pub(crate) enum Item<'a> {
    Present(Box<WithTarget<'a>>),
    Gone(Gone),
}

/// A feature request itself, even if it is merged.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureRequestWithTarget)]
pub(crate) struct WithTarget<'a> {
    #[serde(flatten)]
    detail: Detail<'a>,
    /// What it is merged into in the end; null if it is not merged.
    #[schema(required = true)]
    merged_into: Option<Link<'a>>,
}

/// A reference to a feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureRequestLink)]
pub(crate) struct Link<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1, max_length = 200)]
    title: &'a str,
    /// The last part is the slug.
    #[schema(format = "uri")]
    url: String,
}

/// A single feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeatureRequestShown)]
pub(crate) struct Response<'a> {
    feature_request: Detail<'a>,
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

pub(crate) fn summaries(requests: &[FeatureRequestSummary], links: &Links) -> Vec<Summary> {
    requests.iter().map(|request| summary(request, links)).collect()
}

/// Feature requests by number.
pub(crate) fn numbered(
    requests: &Listing<FeatureRequestSummary>,
    links: &Links,
    cursors: &CursorList,
) -> impl Serialize + use<> {
    let place = |request: &FeatureRequestSummary| Place::of_number(request.tag_number);
    page(requests, links, Envelope::with_cursor(requests, cursors, place))
}

/// The feature requests that a customer voted for. They are listed by ID.
pub(crate) fn voted(
    requests: &Listing<FeatureRequestSummary>,
    links: &Links,
    cursors: &CursorList,
) -> impl Serialize + use<> {
    let place = |request: &FeatureRequestSummary| Place::of_id(request.id.uuid());
    page(requests, links, Envelope::with_cursor(requests, cursors, place))
}

fn page(requests: &Listing<FeatureRequestSummary>, links: &Links, envelope: Envelope) -> Page {
    let listed =
        |request: &FeatureRequestSummary| Listed { summary: summary(request, links), tag_number: request.tag_number };
    Page { feature_requests: requests.page_items().iter().map(listed).collect(), envelope }
}

pub(crate) fn link<'a>(request: &'a RequestLink, links: &Links) -> Link<'a> {
    Link { id: request.id.to_string(), title: request.title.as_str(), url: links.request(&request.slug()) }
}

pub(crate) fn detail<'a>(request: &'a FeatureRequestDetail, links: &Links) -> Detail<'a> {
    Detail {
        summary: summary(&request.summary, links),
        tag_number: request.summary.tag_number,
        description: links.with_pictures(request.description.as_str()),
        tags: request.tags.iter().map(Tag::as_str).collect(),
        private: request.private,
        comments_count: request.comments_count,
        author: request.author.as_ref().map(customer::reference),
        merged: request.merged.iter().map(|merged| link(merged, links)).collect(),
        updated_at: request.updated_at.to_string(),
    }
}

pub(crate) fn response<'a>(request: &'a FeatureRequestDetail, links: &Links) -> impl Serialize + use<'a> {
    Response { feature_request: detail(request, links) }
}

pub(crate) fn all<'a>(
    requests: &'a ChangesListing<ChangedRequest>,
    links: &Links,
    cursors: &CursorList,
) -> impl Serialize + use<'a> {
    let item = |item: &'a Changed<ChangedRequest>| match item {
        Changed::Present(changed) => Item::Present(Box::new(WithTarget {
            detail: detail(&changed.detail, links),
            merged_into: changed.merged_into.as_ref().map(|target| link(target, links)),
        })),
        Changed::Gone { id, updated_at } => Item::Gone(gone(*id, *updated_at)),
    };
    All {
        feature_requests: requests.items.iter().map(item).collect(),
        next_cursor: requests.next.map(|next| cursors.cursor(next.into())),
    }
}

pub(crate) fn results<'a>(results: &'a [SearchResult], links: &Links) -> impl Serialize + use<'a> {
    Results { feature_requests: items(results, links) }
}

pub(crate) fn similar<'a>(results: &'a [SearchResult], links: &Links) -> impl Serialize + use<'a> {
    Similar { feature_requests: items(results, links) }
}

fn items<'a>(results: &'a [SearchResult], links: &Links) -> Vec<SearchItem<'a>> {
    let item = |result: &'a SearchResult| SearchItem {
        summary: summary(&result.summary, links),
        description: excerpt(&result.description),
    };
    results.iter().map(item).collect()
}

pub(crate) fn vote_cast(cast: &VoteCast, links: &Links) -> SavedResponse {
    let body = Cast {
        feature_request: summary(&cast.request, links),
        vote_registered: cast.vote_registered(),
        already_voted: cast.already_voted(),
    };
    saved_created(&body)
}

pub(crate) fn moved(moved: &move_feature_request::Moved, links: &Links) -> SavedResponse {
    let comment = moved.comment.as_ref().map(|comment| comment::posted_comment(comment, links));
    saved_ok(&Moved { feature_request: summary(&moved.request, links), comment })
}

pub(crate) fn vote_withdrawn(withdrawn: &VoteWithdrawn, links: &Links) -> impl Serialize + use<> {
    Withdrawn { feature_request: summary(&withdrawn.request, links), vote_removed: withdrawn.vote_removed }
}
