//! Changelogs, contract section 2.8.

use actix_web::http::StatusCode;
use roadmap_domain::model::changelog::Changelog;
use roadmap_domain::model::operation_key::SavedReply;
use roadmap_domain::model::pagination::Listing;
use serde::Serialize;

use super::page::Envelope;
use super::{Links, saved};

#[derive(Debug, Serialize)]
struct One<'a> {
    changelog: Fields<'a>,
}

#[derive(Debug, Serialize)]
struct Page<'a> {
    changelogs: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

#[derive(Debug, Serialize)]
struct Fields<'a> {
    id: String,
    title: &'a str,
    content: &'a str,
    status: &'static str,
    url: String,
    admin_url: String,
    cover_image_url: Option<String>,
    published_at: Option<String>,
    created_at: String,
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

pub(crate) fn created(changelog: &Changelog, links: &Links) -> SavedReply {
    saved(StatusCode::CREATED, &One { changelog: fields(changelog, links) })
}
