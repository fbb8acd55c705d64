//! Changelogs: the list and the single ones.

use std::rc::Rc;

use askama::Template;
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::id::{ChangelogId, parse_uuid};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::portal::{ChangelogLink, ChangelogNeighbours, PortalList, PublishedChangelog};
use roadmap_domain::usecase::query::portal::{
    FindChangelogNeighbours, ListPublishedChangelogs, ShowPublishedChangelog, image_path,
};
use roadmap_http::error::HttpError;

use crate::context::Context;
use crate::page::{Feed, Nav, Page};
use crate::portal::parts::{Counted, Pager, excerpt};
use crate::prose;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the list.
pub(crate) const PATH: &str = "/changelogs";

/// Number of changelogs on a page.
const PER_PAGE: &str = "10";
/// Maximum number of characters of the description for search engines.
const DESCRIPTION: usize = 160;

#[derive(Template)]
#[template(path = "portal/changelogs.html")]
struct ChangelogsPage {
    page: Page,
    entries: Vec<Entry>,
    /// Whether it is a page after the last one.
    is_past_end: bool,
    pager: Option<Pager>,
}

#[derive(Template)]
#[template(path = "portal/changelog.html")]
struct ChangelogPage {
    page: Page,
    entry: Entry,
    older: Option<Neighbour>,
    newer: Option<Neighbour>,
}

/// A link to what was published before or after.
struct Neighbour {
    path: String,
    title: String,
}

impl Neighbour {
    fn new(link: ChangelogLink) -> Self {
        Self { path: path(link.id), title: link.title.as_str().to_owned() }
    }
}

/// A changelog.
pub(crate) struct Entry {
    pub(crate) title: String,
    pub(crate) path: String,
    /// The date in words.
    pub(crate) date: String,
    /// The date for programs.
    pub(crate) machine_date: String,
    /// The category in words.
    pub(crate) category: Option<String>,
    pub(crate) cover: Option<Cover>,
    /// The content.
    pub(crate) html: String,
    /// The feature requests that it is about.
    pub(crate) closes: Vec<Closed>,
}

/// The cover of a changelog.
pub(crate) struct Cover {
    /// The path of the image.
    pub(crate) path: String,
}

/// A feature request that a changelog is about.
pub(crate) struct Closed {
    pub(crate) title: String,
    pub(crate) slug: String,
    /// The number of votes.
    pub(crate) votes: Counted,
}

impl Entry {
    /// Creates the view of a changelog.
    pub(crate) fn new(t: Text, changelog: &PublishedChangelog) -> Self {
        let closes = changelog.feature_requests.iter().map(|summary: &FeatureRequestSummary| Closed {
            title: summary.title.as_str().to_owned(),
            slug: summary.slug(),
            votes: Counted::votes(t, summary.votes_count),
        });
        Self {
            title: changelog.title.as_str().to_owned(),
            path: path(changelog.id),
            date: t.date(changelog.published_at),
            machine_date: t.machine_date(changelog.published_at),
            category: changelog.category.map(|category| t.category(category).into_owned()),
            cover: changelog.cover.as_ref().map(|cover| Cover { path: image_path(cover) }),
            html: prose::html(&changelog.content),
            closes: closes.collect(),
        }
    }
}

/// Returns the path of a changelog.
pub(crate) fn path(id: ChangelogId) -> String {
    format!("{PATH}/{id}")
}

/// Returns the feed of changelogs.
pub(crate) fn feed(t: Text) -> Feed {
    Feed { title: t.get("feed-changelogs").into_owned(), path: "/changelogs.atom".to_owned() }
}

/// `GET /changelogs`.
pub(crate) async fn list(context: Rc<Context>) -> PageResult {
    let t = context.text();
    let number = context.query.get("page");
    let page =
        PageRequest::parse(Some(number), Some(PER_PAGE)).or_else(|_| PageRequest::parse(None, Some(PER_PAGE)))?;
    let listing = context.run(&ListPublishedChangelogs { page }).await?;
    let mut frame = Page::new(&context, Nav::Changelog, t.get("changelog-title"));
    frame.description = Some(t.named("changelog-lead", context.portal.setting.product_name.as_str()));
    frame.feeds = vec![feed(t)];
    let frame = if page.page() == 1 { frame.canonical(PATH) } else { frame.not_indexed() };
    let is_indexed = frame.is_indexed;
    let at = |page: u64| if page == 1 { PATH.to_owned() } else { format!("{PATH}?page={page}") };
    let pager = Pager::new(t, &listing, PortalList::MAX_PAGE, at);
    let entries: Vec<Entry> = listing.items.iter().map(|changelog| Entry::new(t, changelog)).collect();
    let is_past_end = page.page() > 1 && entries.is_empty();
    let reply = Reply::page(&ChangelogsPage { page: frame, entries, is_past_end, pager });
    Ok(if is_indexed { reply } else { reply.not_indexed() })
}

/// `GET /changelogs/{id}`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let t = context.text();
    let id = parse_uuid("id", context.parameter("id")).map(ChangelogId::new).map_err(|_| HttpError::NotFound)?;
    let changelog = context.run(&ShowPublishedChangelog { changelog: id }).await?;
    if context.parameter("id") != id.to_string() {
        return Ok(Reply::moved(path(id)));
    }
    let mut page = Page::new(&context, Nav::Changelog, changelog.title.as_str()).canonical(&path(id));
    let description = excerpt(&changelog.content.to_text(), DESCRIPTION);
    page.description = Some(description).filter(|description| !description.is_empty());
    page.image = changelog.cover.as_ref().map(|cover| context.links.page(&image_path(cover))).or(page.image);
    page.feeds = vec![feed(t)];
    let find = FindChangelogNeighbours { changelog: id, published_at: changelog.published_at };
    let ChangelogNeighbours { older, newer } = context.run(&find).await?;
    let (older, newer) = (older.map(Neighbour::new), newer.map(Neighbour::new));
    Ok(Reply::page(&ChangelogPage { page, entry: Entry::new(t, &changelog), older, newer }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page, sample_summary};
    use roadmap_domain::model::attachment::Filename;
    use roadmap_domain::model::changelog::{ChangelogCategory, CoverImage};
    use roadmap_domain::model::feature_request::Title;
    use roadmap_domain::model::html::CleanHtml;
    use roadmap_domain::model::id::AttachmentId;
    use roadmap_domain::model::portal::Language;
    use uuid::Uuid;

    fn changelog(has_more: bool) -> PublishedChangelog {
        let attachment = AttachmentId::new(Uuid::from_u128(2));
        let cover = CoverImage { attachment, filename: Filename::sanitize("a \"b\".png") };
        PublishedChangelog {
            id: ChangelogId::new(Uuid::from_u128(1)),
            title: Title::parse("title", "Undo <send>").unwrap(),
            content: CleanHtml::from_stored("<p>Ten <a href=\"https://a.example\">seconds</a></p>".to_owned()),
            category: has_more.then_some(ChangelogCategory::Improved),
            cover: has_more.then_some(cover),
            published_at: at(0),
            updated_at: at(1),
            feature_requests: if has_more { vec![sample_summary(7, "Undo", None)] } else { Vec::new() },
        }
    }

    #[test]
    fn changelogs_are_well_formed_with_and_without_a_cover() {
        for language in Language::ALL {
            let t = Text::utc(language);
            for has_more in [false, true] {
                let page = || sample_page(language, false, "Undo <send>");
                let entries = vec![Entry::new(t, &changelog(has_more)), Entry::new(t, &changelog(false))];
                let list = ChangelogsPage { page: page(), entries, is_past_end: false, pager: None };
                let list = list.render().unwrap();
                assert_well_formed(&list);
                assert!(list.contains("<a class=\"button button--primary\" href=\"/news\">"), "{list}");
                let entry = Entry::new(t, &changelog(has_more));
                let link = |number| ChangelogLink {
                    id: ChangelogId::new(Uuid::from_u128(number)),
                    title: Title::parse("title", "More <b>").unwrap(),
                };
                let older = has_more.then(|| Neighbour::new(link(2)));
                let newer = has_more.then(|| Neighbour::new(link(3)));
                let single = ChangelogPage { page: page(), entry, older, newer }.render().unwrap();
                assert_well_formed(&single);
                for html in [list, single] {
                    assert_eq!(html.contains("/covers/00000000-0000-0000-0000-000000000002/a%20%22b%22.png"), has_more);
                    assert_eq!(html.contains("/feature_requests/7-undo"), has_more);
                    assert_eq!(html.contains(&*t.category(ChangelogCategory::Improved)), has_more);
                }
            }
            for is_past_end in [false, true] {
                let page = sample_page(language, false, "");
                let empty = ChangelogsPage { page, entries: Vec::new(), is_past_end, pager: None };
                let html = empty.render().unwrap();
                assert_well_formed(&html);
                assert!(html.contains("<a class=\"button\" href=\"/news\">"), "{html}");
                assert_eq!(html.contains(&*t.get("empty-page-title")), is_past_end);
                assert_eq!(html.contains(&*t.get("changelog-empty-title")), !is_past_end);
            }
        }
    }
}
