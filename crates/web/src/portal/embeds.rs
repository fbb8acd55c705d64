//! Pages that other websites show in a frame: the roadmap and the changelogs, to read only. Their links open outside of
//! the frame.

use std::rc::Rc;

use askama::Template;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::portal::EmbedOrigin;
use roadmap_domain::usecase::query::portal::ListPublishedChangelogs;
use roadmap_domain::usecase::query::tracks::ShowPortalRoadmap;

use crate::context::Context;
use crate::page::{Nav, Page};
use crate::portal::changelogs::{self, Entry};
use crate::portal::roadmap::LaneView;
use crate::reply::{PageResult, Reply};

/// Number of feature requests in each lane.
const PER_LANE: u32 = 10;
/// Number of changelogs.
const CHANGELOGS: &str = "5";

#[derive(Template)]
#[template(path = "portal/embed-roadmap.html")]
struct EmbeddedRoadmap {
    page: Page,
    /// The URL of the page that is embedded.
    url: String,
    lanes: Vec<LaneView>,
}

#[derive(Template)]
#[template(path = "portal/embed-changelogs.html")]
struct EmbeddedChangelogs {
    page: Page,
    /// The URL of the page that is embedded.
    url: String,
    entries: Vec<Entry>,
}

/// `GET /embed/roadmap`.
pub(crate) async fn roadmap(context: Rc<Context>) -> PageResult {
    let (t, lanes) = (context.text(), context.run(&ShowPortalRoadmap { per_lane: PER_LANE }).await?);
    let title = t.named("roadmap-title", context.portal.setting.product_name.as_str());
    let page = Page { is_title_whole: true, ..Page::new(&context, Nav::Other, title).not_indexed() };
    let lanes = lanes.iter().map(|lane| LaneView::new(t, lane)).collect();
    Ok(embedded(&context, &EmbeddedRoadmap { page, url: context.links.page("/"), lanes }))
}

/// `GET /embed/changelogs`.
pub(crate) async fn changelogs(context: Rc<Context>) -> PageResult {
    let page = PageRequest::parse(None, Some(CHANGELOGS))?;
    let (t, listing) = (context.text(), context.run(&ListPublishedChangelogs { page }).await?);
    let page = Page::new(&context, Nav::Other, t.get("changelog-title")).not_indexed();
    let entries = listing.items.iter().map(|changelog| outside(Entry::new(t, changelog))).collect();
    Ok(embedded(&context, &EmbeddedChangelogs { page, url: context.links.page(changelogs::PATH), entries }))
}

/// Lets the links of a changelog open outside of the frame. As in [`crate::prose`], no quotation marks are added.
fn outside(entry: Entry) -> Entry {
    Entry { html: entry.html.replace("<a href=", "<a target=_blank href="), ..entry }
}

/// Renders a page that the configured origins may show in a frame.
fn embedded(context: &Context, template: &impl Template) -> Reply {
    let origins: Vec<&str> = context.portal.settings.embed_origins.iter().filter_map(EmbedOrigin::as_source).collect();
    Reply::embedded(template, &origins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_links_of_embedded_pages_open_outside() {
        let html = "<p><a href=\"https://a.example\" rel=\"nofollow ugc noopener\">a</a> &lt;a href=b</p>".to_owned();
        let entry = Entry {
            title: String::new(),
            path: String::new(),
            date: String::new(),
            machine_date: String::new(),
            category: None,
            cover: None,
            html,
            closes: Vec::new(),
        };
        assert_eq!(
            outside(entry).html,
            "<p><a target=_blank href=\"https://a.example\" rel=\"nofollow ugc noopener\">a</a> &lt;a href=b</p>"
        );
    }
}
