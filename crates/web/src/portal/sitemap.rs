//! The sitemap (sitemaps.org) and `robots.txt`.

use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use askama::Template;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::usecase::query::portal::{CountSitemapParts, ListPublishedChangelogs, ListSitemap};
use roadmap_http::error::HttpError;
use roadmap_http::shared_cache::SharedCache;
use tokio::sync::Semaphore;

use crate::context::Context;
use crate::document::{self, PreparedDocument, TEXT, XML};
use crate::portal::{changelogs, request_links, requests};
use crate::reply::PageResult;

/// Maximum number of changelogs in the sitemap, the latest ones.
const CHANGELOGS: &str = "100";

/// How long a part is cached. Clients may do so for as long, too.
const LIFETIME: Duration = Duration::from_secs(300);
/// Maximum size of all cached parts, in bytes.
const CACHE_BYTES: u64 = 32 * 1024 * 1024;
/// Number of parts that are rendered at the same time.
const RENDERED_AT_ONCE: usize = 2;

/// The parts of the sitemaps of all workspaces, by their numbers.
static PARTS: LazyLock<SharedCache<(WorkspaceId, i64), Arc<PreparedDocument>>> =
    LazyLock::new(|| SharedCache::weighted(CACHE_BYTES, LIFETIME, |part| part.size()));

static RENDERING: Semaphore = Semaphore::const_new(RENDERED_AT_ONCE);

/// The list of the parts.
#[derive(Template)]
#[template(path = "portal/sitemap-index.xml")]
struct SitemapIndex {
    parts: Vec<String>,
}

/// A part.
#[derive(Template)]
#[template(path = "portal/sitemap.xml")]
struct Sitemap {
    pages: Vec<SitemapPage>,
}

struct SitemapPage {
    url: String,
    /// The timestamp of the last change, if it is known.
    updated: Option<String>,
}

#[derive(Template)]
#[template(path = "portal/robots.txt")]
struct Robots {
    /// The URL of the sitemap, if programs can read it.
    sitemap: Option<String>,
}

/// `GET /sitemap.xml`. That of a portal that is not to be listed has no parts.
pub(crate) async fn index(context: Rc<Context>) -> PageResult {
    let parts = if context.portal.settings.is_indexed { context.run(&CountSitemapParts).await? } else { 0 };
    let parts = (1..=parts).map(|part| context.links.page(&format!("/sitemap-{part}.xml"))).collect();
    // Rendering to memory cannot fail.
    Ok(document::reply(&context, XML, SitemapIndex { parts }.render().unwrap_or_default()))
}

/// `GET /sitemap-{part}.xml`. The first part has the changelogs, too.
pub(crate) async fn part(context: Rc<Context>) -> PageResult {
    let number = context.parameter("part");
    let part: i64 = number.parse().ok().filter(|part| *part > 0).ok_or(HttpError::NotFound)?;
    if !context.portal.settings.is_indexed || part.to_string() != number {
        return Err(HttpError::NotFound);
    }
    let document = PARTS.find((context.workspace.id, part), render(&context, part)).await?;
    Ok(document.ok_or(HttpError::NotFound)?.reply(&context))
}

/// Renders a part, if there is one with this number. Reading needs the store's threads, the rest one for long work, so that none that serves waits.
async fn render(context: &Context, part: i64) -> Result<Option<Arc<PreparedDocument>>, HttpError> {
    if part > context.run(&CountSitemapParts).await? {
        return Ok(None);
    }
    let permit = RENDERING.acquire().await.map_err(|_| HttpError::HandlerPanicked)?;
    let mut pages = Vec::new();
    if part == 1 {
        let fixed = ["/", requests::PATH, changelogs::PATH];
        pages.extend(fixed.map(|path| SitemapPage { url: context.links.page(path), updated: None }));
        let page = PageRequest::parse(None, Some(CHANGELOGS))?;
        let listing = context.run(&ListPublishedChangelogs { page }).await?;
        pages.extend(listing.items.iter().map(|changelog| SitemapPage {
            url: context.links.page(&changelogs::path(changelog.id)),
            updated: Some(changelog.updated_at.max(changelog.published_at).to_string()),
        }));
    }
    let entries = context.run(&ListSitemap { part }).await?;
    let links = context.links.clone();
    let rendered = tokio::task::spawn_blocking(move || {
        pages.extend(entries.iter().map(|entry| SitemapPage {
            url: links.page(&request_links::path(&entry.request.slug())),
            updated: Some(entry.updated_at.to_string()),
        }));
        let document = PreparedDocument::new(XML, Sitemap { pages }.render().unwrap_or_default());
        // Held until here, even if the client has gone.
        drop(permit);
        Some(Arc::new(document))
    });
    rendered.await.map_err(HttpError::TaskPanicked)
}

/// `GET /robots.txt`. Pages that search engines are not to list are not forbidden: their `noindex` would not be read.
pub(crate) async fn robots(context: Rc<Context>) -> PageResult {
    let is_listed = context.is_public() && context.portal.settings.is_indexed;
    let sitemap = is_listed.then(|| context.links.page("/sitemap.xml"));
    Ok(document::reply(&context, TEXT, Robots { sitemap }.render().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_in_a_sitemap_are_escaped() {
        let page = SitemapPage { url: "https://acme.example/?a=1&b=<".to_owned(), updated: None };
        let xml = Sitemap { pages: vec![page] }.render().unwrap();
        assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset "), "{xml}");
        assert!(xml.contains("<loc>https://acme.example/?a=1&#38;b=&#60;</loc>"), "{xml}");
        assert!(!xml.contains("lastmod"), "{xml}");
    }
}
