//! Atom feeds (RFC 4287): changelogs, new feature requests, the comments on one.

use std::rc::Rc;

use atom_syndication::{Category, Content, Entry, Feed, FixedDateTime, Generator, Link, Person, Text as AtomText};
use roadmap_domain::model::comment::{ListedComment, PublicAuthor};
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::portal::{PortalRow, PortalSort, PublishedChangelog, Viewer};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::links::Links;
use roadmap_domain::usecase::query::portal::{
    ListFeatureRequests, ListPublishedChangelogs, ShowRequestPage, image_path,
};

use crate::context::Context;
use crate::document::{self, ATOM, xml_text};
use crate::portal::request_links::{self, Place, place};
use crate::portal::{changelogs, requests};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// Number of entries of a feed.
const ENTRIES: usize = 50;

/// What the entries of a feed have in common.
struct Writer<'a> {
    context: &'a Context,
    t: Text,
}

impl<'a> Writer<'a> {
    /// Feeds are in the default language of the portal, because caches share them.
    fn new(context: &'a Context) -> Self {
        Self { context, t: Text::of_portal(&context.portal.settings) }
    }

    fn feed(&self, title: &str, page: &str, path: &str, entries: Vec<Entry>) -> Feed {
        let links = &self.context.links;
        let product = xml_text(self.context.portal.setting.product_name.as_str());
        let updated = entries.iter().map(|entry| entry.updated).max();
        Feed {
            title: AtomText::plain(xml_text(title)),
            id: links.page(path),
            updated: updated.unwrap_or_else(|| timestamp(None)),
            authors: vec![Person { name: product, ..Person::default() }],
            generator: Some(Generator { value: "Roadmap".to_owned(), ..Generator::default() }),
            links: vec![
                link("alternate", "text/html", links.page(page)),
                link("self", document_type(), links.page(path)),
            ],
            lang: Some(self.t.language.code().to_owned()),
            entries,
            ..Feed::default()
        }
    }

    fn entry(&self, id: &str, title: &str, path: &str, published: Timestamp, updated: Timestamp, html: &str) -> Entry {
        let content =
            Content { value: Some(xml_text(html)), content_type: Some("html".to_owned()), ..Content::default() };
        Entry {
            id: format!("urn:uuid:{id}"),
            title: AtomText::plain(xml_text(title)),
            published: Some(timestamp(Some(published))),
            updated: timestamp(Some(updated)),
            links: vec![link("alternate", "text/html", self.context.links.page(path))],
            content: Some(content),
            ..Entry::default()
        }
    }

    fn reply(&self, feed: &Feed) -> Reply {
        document::reply(self.context, ATOM, feed.to_string())
    }

    /// Names the page and the product.
    fn title(&self, name: &str) -> String {
        format!("{name} · {}", self.context.portal.setting.product_name.as_str())
    }
}

fn document_type() -> &'static str {
    ATOM.split(';').next().unwrap_or(ATOM)
}

fn link(rel: &str, media_type: &str, href: String) -> Link {
    Link { rel: rel.to_owned(), mime_type: Some(media_type.to_owned()), href, ..Link::default() }
}

/// Converts a timestamp. A feed without entries has the oldest one.
fn timestamp(at: Option<Timestamp>) -> FixedDateTime {
    let at = at.map(|at| at.to_string());
    at.and_then(|at| at.parse().ok()).unwrap_or_default()
}

/// `GET /feature_requests.atom`: the newest public feature requests.
pub(crate) async fn requests(context: Rc<Context>) -> PageResult {
    let page = PageRequest::parse(None, Some(&ENTRIES.to_string()))?;
    let query = ListFeatureRequests { sort: Some(PortalSort::Newest), page, ..ListFeatureRequests::default() };
    let listed = context.run(&query).await?.listing.items;
    let writer = Writer::new(&context);
    let entry = |row: &PortalRow| {
        let (summary, path) = (&row.summary, request_links::path(&row.summary.slug()));
        let (id, at) = (summary.id.to_string(), summary.created_at);
        writer.entry(&id, summary.title.as_str(), &path, at, at, &text_as_html(&row.excerpt))
    };
    let entries = listed.iter().map(entry).collect();
    let title = writer.title(&writer.t.get("feed-requests"));
    Ok(writer.reply(&writer.feed(&title, requests::PATH, "/feature_requests.atom", entries)))
}

/// `GET /changelogs.atom`: the latest changelogs with their covers.
pub(crate) async fn changelogs(context: Rc<Context>) -> PageResult {
    let page = PageRequest::parse(None, Some(&ENTRIES.to_string()))?;
    let listed = context.run(&ListPublishedChangelogs { page }).await?.items;
    let writer = Writer::new(&context);
    let entry = |changelog: &PublishedChangelog| {
        let PublishedChangelog { id, title, content, category, cover, published_at, updated_at, .. } = changelog;
        let updated = (*updated_at).max(*published_at);
        let mut entry = writer.entry(
            &id.to_string(),
            title.as_str(),
            &changelogs::path(*id),
            *published_at,
            updated,
            &html(content, &context.links),
        );
        entry.categories.extend(category.map(|category| Category {
            term: category.name().to_owned(),
            label: Some(writer.t.category(category).into_owned()),
            ..Category::default()
        }));
        let cover = cover.as_ref().map(|cover| context.links.page(&image_path(cover)));
        entry.links.extend(cover.map(|url| Link { rel: "enclosure".to_owned(), href: url, ..Link::default() }));
        entry
    };
    let entries = listed.iter().map(entry).collect();
    let title = writer.title(&writer.t.get("changelog-title"));
    Ok(writer.reply(&writer.feed(&title, changelogs::PATH, "/changelogs.atom", entries)))
}

/// `GET /feature_requests/{slug}.atom`: the newest comments on a public feature request.
pub(crate) async fn comments(context: Rc<Context>) -> PageResult {
    let slug = context.parameter("slug");
    let reference = FeatureRequestRef::parse(slug);
    // Feeds are for programs: they show what visitors see.
    let viewer = Viewer::default();
    let last = context.run(&ShowRequestPage { request: reference, viewer, comments: None }).await?;
    let canonical = last.detail.summary.slug();
    let path = format!("{}.atom", request_links::path(&canonical));
    match place(reference, slug, &last.detail) {
        Place::Canonical => {}
        Place::OtherWords => return Ok(Reply::moved(path)),
        Place::Merged => return Ok(Reply::found(path)),
    }
    let mut listed = last.comments.items;
    let mut page = last.comments.request.page();
    while listed.len() < ENTRIES && page > 1 {
        page -= 1;
        let earlier = context.run(&ShowRequestPage { request: reference, viewer, comments: Some(page) }).await?;
        listed.splice(..0, earlier.comments.items);
    }
    let writer = Writer::new(&context);
    let entry = |listed: &ListedComment| {
        let comment = &listed.comment;
        let author = author(writer.t, &listed.author);
        let path = format!("{}#comment-{}", request_links::path(&canonical), comment.id);
        let (id, title) = (comment.id.to_string(), writer.t.named("comment-by", &author));
        let html = html(&comment.content, &writer.context.links);
        let mut entry = writer.entry(&id, &title, &path, comment.created_at, listed.updated_at, &html);
        entry.authors = vec![Person { name: xml_text(&author), ..Person::default() }];
        entry
    };
    let entries = listed.iter().rev().take(ENTRIES).map(entry).collect();
    let title = writer.title(last.detail.summary.title.as_str());
    Ok(writer.reply(&writer.feed(&title, &request_links::path(&canonical), &path, entries)))
}

/// Returns the name of an author, as everybody may see it.
fn author(t: Text, author: &PublicAuthor) -> String {
    let (name, unknown) = match author {
        PublicAuthor::Member(name) => (name, "team"),
        PublicAuthor::Customer(name) => (name, "customer"),
    };
    name.as_ref().map_or_else(|| t.get(unknown).into_owned(), |name| name.as_str().to_owned())
}

/// Returns the HTML of people as it stands in a feed.
fn html(content: &CleanHtml, links: &Links) -> String {
    crate::prose::html(&CleanHtml::from_stored(links.with_pictures(content.as_str()).into_owned()))
}

/// Returns a text as HTML. Some readers take all content for HTML, whatever its type.
fn text_as_html(text: &str) -> String {
    let Ok(escaped) = askama::filters::escape(text, askama::filters::Html);
    escaped.to_string().replace('\n', "<br>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_no_markup() {
        assert_eq!(
            text_as_html("<style>\n<img src=x onerror=alert(1)> & \"b\""),
            "&#60;style&#62;<br>&#60;img src=x onerror=alert(1)&#62; &#38; &#34;b&#34;"
        );
    }

    #[test]
    fn timestamps_are_those_of_rfc_3339() {
        let at = Timestamp::from_millis(1_772_622_120_000).unwrap();
        assert_eq!(timestamp(Some(at)).to_rfc3339(), "2026-03-04T11:02:00+00:00");
        assert_eq!(timestamp(None).to_rfc3339(), "1970-01-01T00:00:00+00:00");
    }
}
