//! Changelogs, contract section 2.8.

use std::borrow::Cow;

use roadmap_domain::model::changelog::{Changelog, ChangelogCategory, ChangelogDetail, ChangelogState};
use roadmap_domain::model::cursor::{CursorList, Placed};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::operation_key::SavedResponse;
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::page::Envelope;
use super::{Links, saved_created};
use crate::openapi::fields as described;

/// A changelog that was created.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangelogCreated)]
pub(crate) struct Created<'a> {
    changelog: Fields<'a>,
}

/// A page of changelogs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangelogsPage)]
pub(crate) struct Page<'a> {
    #[schema(max_items = 100)]
    changelogs: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// An announcement of the team.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Changelog)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1, max_length = 200)]
    title: &'a str,
    /// Sanitized HTML.
    #[schema(min_length = 1)]
    content: Cow<'a, str>,
    #[schema(schema_with = described::changelog_category, required = true)]
    category: Option<&'static str>,
    #[schema(value_type = Status)]
    status: &'static str,
    #[schema(format = "uri")]
    url: String,
    #[schema(format = "uri")]
    admin_url: String,
    /// The `blob_url` of the cover image.
    #[schema(format = "uri", required = true)]
    cover_image_url: Option<String>,
    /// Null unless it is published.
    #[schema(format = DateTime, required = true)]
    published_at: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
}

/// Whether the changelog is public, now or later.
#[derive(ToSchema)]
#[schema(as = ChangelogStatus, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum Status {
    Draft,
    Scheduled,
    Published,
}

/// A single changelog.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangelogShown)]
pub(crate) struct Response<'a> {
    changelog: Detail<'a>,
}

/// An announcement of the team, and what it is about.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangelogDetail)]
pub(crate) struct Detail<'a> {
    #[serde(flatten)]
    changelog: Fields<'a>,
    /// The feature requests that it is about.
    feature_requests: Vec<LinkedRequest<'a>>,
    /// When it will be published; null unless it is scheduled.
    #[schema(format = DateTime, required = true)]
    publish_at: Option<String>,
    #[schema(format = DateTime)]
    updated_at: String,
}

/// A changelog that is shown.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangelogWithAudience)]
pub(crate) struct Shown<'a> {
    changelog: WithAudience<'a>,
}

/// An announcement of the team, what it is about, and whom it would reach.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangelogDetailWithAudience)]
pub(crate) struct WithAudience<'a> {
    #[serde(flatten)]
    detail: Detail<'a>,
    /// How many people would get mail about it now. Only while it is not published.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, minimum = 0)]
    audience_count: Option<i64>,
}

/// A feature request that a changelog is about.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChangelogFeatureRequest)]
pub(crate) struct LinkedRequest<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1, max_length = 200)]
    title: &'a str,
    /// The last part is the slug.
    #[schema(format = "uri")]
    url: String,
    /// The public lane of its track; null if the track has none.
    #[schema(required = true)]
    status: Option<&'a str>,
}

/// Returns the state at `now`. The clock of the process that wrote the changelog may be ahead.
fn state(changelog: &Changelog, now: Timestamp) -> ChangelogState {
    changelog.state(now.max(changelog.updated_at))
}

fn fields<'a>(changelog: &'a Changelog, links: &Links, now: Timestamp) -> Fields<'a> {
    let id = changelog.id.to_string();
    let state = state(changelog, now);
    let published_at = match state {
        ChangelogState::Published(at) => Some(at.to_string()),
        ChangelogState::Draft | ChangelogState::Scheduled(_) => None,
    };
    Fields {
        title: changelog.title.as_str(),
        content: links.with_pictures(changelog.content.as_str()),
        category: changelog.category.map(ChangelogCategory::name),
        status: state.name(),
        url: links.changelog(&id),
        admin_url: links.admin_changelog(&id),
        cover_image_url: changelog.cover.as_ref().map(|cover| links.blob(cover.attachment, &cover.filename)),
        published_at,
        created_at: changelog.created_at.to_string(),
        id,
    }
}

fn linked<'a>(request: &'a FeatureRequestSummary, links: &Links) -> LinkedRequest<'a> {
    LinkedRequest {
        id: request.id.to_string(),
        title: request.title.as_str(),
        url: links.request(&request.slug()),
        status: request.placement.status.as_ref().map(Name::as_str),
    }
}

/// Renders a page of changelogs with their state at `now`.
pub(crate) fn listed<'a>(
    changelogs: &'a Listing<Changelog>,
    links: &Links,
    now: Timestamp,
    cursors: &CursorList,
) -> impl Serialize + use<'a> {
    let envelope = Envelope::with_cursor(changelogs, cursors, Placed::place);
    let items = changelogs.page_items().iter().map(|changelog| fields(changelog, links, now)).collect();
    Page { changelogs: items, envelope }
}

/// Renders a new changelog, with its state at its creation.
pub(crate) fn created(changelog: &Changelog, links: &Links) -> SavedResponse {
    saved_created(&Created { changelog: fields(changelog, links, changelog.created_at) })
}

/// Renders a changelog with its state at `now`, and while it is not published with the number of people who would get mail.
pub(crate) fn shown<'a>(
    changelog: &'a ChangelogDetail,
    links: &Links,
    now: Timestamp,
    audience_count: Option<i64>,
) -> impl Serialize + use<'a> {
    Shown { changelog: WithAudience { detail: detail(changelog, links, now), audience_count } }
}

/// Renders a changelog with its state at `now`.
pub(crate) fn response<'a>(changelog: &'a ChangelogDetail, links: &Links, now: Timestamp) -> impl Serialize + use<'a> {
    Response { changelog: detail(changelog, links, now) }
}

fn detail<'a>(detail: &'a ChangelogDetail, links: &Links, now: Timestamp) -> Detail<'a> {
    let ChangelogDetail { changelog, feature_requests } = detail;
    let publish_at = match state(changelog, now) {
        ChangelogState::Scheduled(at) => Some(at.to_string()),
        ChangelogState::Draft | ChangelogState::Published(_) => None,
    };
    Detail {
        changelog: fields(changelog, links, now),
        feature_requests: feature_requests.iter().map(|request| linked(request, links)).collect(),
        publish_at,
        updated_at: changelog.updated_at.to_string(),
    }
}
