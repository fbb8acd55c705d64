//! Changelogs, contract section 2.8.

use actix_web::http::StatusCode;
use roadmap_domain::model::changelog::Changelog;
use roadmap_domain::model::operation_key::SavedResponse;
use roadmap_domain::model::pagination::Listing;
use serde::Serialize;
use utoipa::ToSchema;

use super::page::Envelope;
use super::{Links, saved_response};

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
    content: &'a str,
    #[schema(value_type = Status)]
    status: &'static str,
    #[schema(format = "uri")]
    url: String,
    #[schema(format = "uri")]
    admin_url: String,
    /// The `blob_url` of the cover image.
    #[schema(format = "uri", required = true)]
    cover_image_url: Option<String>,
    #[schema(format = DateTime, required = true)]
    published_at: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
}

/// Whether the changelog is public.
#[derive(ToSchema)]
#[schema(as = ChangelogStatus, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain says the words, this lists them in the document")]
enum Status {
    Draft,
    Published,
}

fn fields<'a>(changelog: &'a Changelog, links: &Links) -> Fields<'a> {
    let id = changelog.id.to_string();
    Fields {
        title: changelog.title.as_str(),
        content: changelog.content.as_str(),
        status: changelog.status(),
        url: links.changelog(&id),
        admin_url: links.admin_changelog(&id),
        cover_image_url: changelog.cover.as_ref().map(|cover| links.blob(cover.attachment, &cover.filename)),
        published_at: changelog.published_at.map(|at| at.to_string()),
        created_at: changelog.created_at.to_string(),
        id,
    }
}

pub(crate) fn listed<'a>(changelogs: &'a Listing<Changelog>, links: &Links) -> impl Serialize + use<'a> {
    let items = changelogs.items.iter().map(|changelog| fields(changelog, links)).collect();
    Page { changelogs: items, envelope: changelogs.into() }
}

pub(crate) fn created(changelog: &Changelog, links: &Links) -> SavedResponse {
    saved_response(StatusCode::CREATED, &Created { changelog: fields(changelog, links) })
}
