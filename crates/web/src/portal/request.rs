//! The page of a feature request: votes, the team's answer, comments, history, similar ones.

use std::rc::Rc;

use actix_web::http::{Method, StatusCode};
use askama::Template;
use roadmap_domain::model::event::{Event, EventContent};
use roadmap_domain::model::feature_request::{FeatureRequestDetail, FeatureRequestRef};
use roadmap_domain::model::html::COMMENT_MARK;
use roadmap_domain::model::id::{CommentId, parse_uuid};
use roadmap_domain::model::markdown;
use roadmap_domain::model::own_post::Written;
use roadmap_domain::model::portal::{RequestPage, Viewer};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::query::portal::{FindOwnComments, FindShippedIn, ListPublicRequests, ShowRequestPage};
use roadmap_http::error::HttpError;

use crate::context::Context;
use crate::page::{Feed, Nav, Page};
use crate::portal::comments::{CommentDraft, CommentView, OwnLinks, customer};
use crate::portal::parts::{Day, Row, Status, Statuses, VoteBox, excerpt};
use crate::portal::previews;
use crate::portal::request_links::{Place, path, place, with_notice, with_query};
use crate::portal::requests;
use crate::portal::similar::similar;
use crate::prose;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The parameter with the ID of a comment to reply to.
pub(crate) const REPLY: &str = "reply";

/// Maximum number of characters of the description for search engines.
const DESCRIPTION: usize = 160;

/// The changelog that something was shipped with.
struct Shipped {
    title: String,
    path: String,
    date: Day,
}

#[derive(Template)]
#[template(path = "portal/request.html")]
struct RequestTemplate {
    page: Page,
    slug: String,
    status: Option<Status>,
    /// The changelog that it was shipped with.
    shipped: Option<Shipped>,
    is_private: bool,
    is_awaiting: bool,
    /// Whether the viewer is a member, who can approve.
    is_member: bool,
    author: Option<String>,
    /// Whether the viewer is the author, under that name.
    is_own: bool,
    /// What the viewer can do about the own idea.
    own_idea: Option<OwnLinks>,
    date: Day,
    description: String,
    tags: Vec<(String, String)>,
    vote_box: VoteBox,
    answer: Option<CommentView>,
    /// The ID of the answer, which is not shown twice.
    answer_id: Option<String>,
    comments: Vec<CommentView>,
    comments_count: i64,
    /// The path of the page to which the ID of a comment is added to reply to it.
    reply_path: String,
    /// The path and the words of the link to the comments before, and to those after.
    earlier: Option<(String, String)>,
    later: Option<(String, String)>,
    held: Vec<CommentView>,
    draft: CommentDraft,
    history: Vec<HistoryEntry>,
    similar: Vec<Row>,
}

/// An entry of the history.
struct HistoryEntry {
    /// The name of an icon.
    icon: String,
    /// The end of the name of its colour.
    tone: Option<&'static str>,
    sentence: String,
    date: Day,
}

/// `GET /feature_requests/{slug}`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let slug = context.parameter("slug");
    let page = load(&context, slug).await?;
    let canonical = page.detail.summary.slug();
    match place(FeatureRequestRef::parse(slug), slug, &page.detail) {
        Place::Canonical => {
            let content = quoted(&context, &page).unwrap_or_default();
            reply(&context, page, CommentDraft { content, ..CommentDraft::default() }).await
        }
        Place::OtherWords => Ok(Reply::moved(with_query(&context, &path(&canonical)))),
        Place::Merged => Ok(Reply::found(with_notice(&context, path(&canonical)))),
    }
}

/// Returns the quotation for a reply to the comment of the parameter `reply`, if the page shows it.
pub(crate) fn quoted(context: &Context, page: &RequestPage) -> Option<String> {
    let id = parse_uuid("reply", context.query.get(REPLY)).map(CommentId::new).ok()?;
    let listed = page.comments.items.iter().find(|listed| listed.comment.id == id)?;
    let (t, number) = (context.text(), page.comments.request.page());
    let view = CommentView::new(t, listed);
    let here = path(&page.detail.summary.slug());
    let url = format!("{}{here}?comments={number}{COMMENT_MARK}{id}", context.links.portal());
    Some(markdown::quotation(&t.named("reply-quote", &view.author), &url, &listed.comment.content))
}

/// Shows the page of a feature request with a comment that somebody is writing. `slug` is the parameter of the path.
///
/// # Errors
/// 404 if the viewer may not see the feature request.
pub(crate) async fn render(context: &Context, draft: CommentDraft) -> PageResult {
    let page = load(context, context.parameter("slug")).await?;
    reply(context, page, draft).await
}

async fn load(context: &Context, slug: &str) -> Result<RequestPage, HttpError> {
    let comments = context.query.get("comments").parse().ok().filter(|page| *page > 0);
    let query = ShowRequestPage { request: FeatureRequestRef::parse(slug), viewer: context.viewer(), comments };
    context.run(&query).await
}

async fn reply(context: &Context, request: RequestPage, draft: CommentDraft) -> PageResult {
    let detail = &request.detail;
    let similar = similar(context, detail).await?;
    let rows = context.run(&ListPublicRequests { requests: similar.to_vec() }).await?;
    let statuses = Statuses::load(context).await?;
    let (has_problem, is_preview) = (!draft.problems.is_empty(), draft.preview.is_some());
    // Only the latest comments are at the canonical address. A private feature request is for nobody else.
    let is_indexed =
        !context.query.has("comments") && !context.query.has(REPLY) && !detail.private && !has_problem && !is_preview;
    let listed = request.comments.items.iter().map(|listed| listed.comment.id).collect();
    let own = context.run(&FindOwnComments { viewer: context.viewer(), comments: listed }).await?;
    let page = frame(context, detail, is_indexed).with_problem(has_problem);
    let is_indexed = page.is_indexed;
    let similar = rows.iter().map(|row| Row::new(&statuses, &[], row, false)).collect();
    let mut template = RequestTemplate::new(page, &request, &own, &statuses, similar, draft, viewer_at(context));
    if template.status.as_ref().is_some_and(Status::is_done) {
        let found = context.run(&FindShippedIn { request: request.detail.summary.id }).await?;
        template.shipped = found.map(|shipped| Shipped {
            title: shipped.title.as_str().to_owned(),
            path: format!("/changelogs/{}", shipped.changelog),
            date: Day::new(context.text(), shipped.published_at),
        });
    }
    let status = if has_problem { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let reply = Reply::page_with(status, &template);
    Ok(if is_indexed { reply } else { reply.not_indexed() })
}

impl RequestTemplate {
    fn new(
        page: Page,
        request: &RequestPage,
        own: &[CommentId],
        statuses: &Statuses,
        similar: Vec<Row>,
        draft: CommentDraft,
        (viewer, now): (Viewer, Timestamp),
    ) -> Self {
        let (t, detail) = (page.t, &request.detail);
        let slug = detail.summary.slug();
        let is_member = viewer.is_member;
        let is_own = detail.author.as_ref().is_some_and(|author| Some(author.id) == viewer.customer);
        let status = statuses.of(&detail.summary.placement, is_own || is_member);
        let status = status.filter(|_| !detail.awaiting_approval);
        let answered_at = request.answer.as_ref().map(|answer| answer.comment.created_at);
        let holds_posts = page.portal.settings.holds_posts;
        let own_links = |id: CommentId, at: Timestamp, is_held: bool| {
            let written = Written { at, is_answered: answered_at.is_some_and(|answer| answer > at), is_held };
            OwnLinks::new(&format!("/comments/{id}"), written.is_editable(holds_posts, now))
        };
        let comments_path = |number: u64| format!("{}?comments={number}#comments", path(&slug));
        let (size, last) = (request.comments.request.size(), request.comments.total_pages());
        // A page after the last one is empty. Before it is the last one.
        let current = request.comments.request.page().min(last + 1);
        let before = (current - 1).saturating_mul(size).min(request.comments.total);
        Self {
            status,
            shipped: None,
            is_private: detail.private && !detail.awaiting_approval,
            is_awaiting: detail.awaiting_approval,
            is_member,
            author: detail.author.as_ref().map(|author| match (is_own, &author.name) {
                (true, None) => t.get("you").into_owned(),
                (_, name) => customer(t, name.as_ref()),
            }),
            is_own: is_own && detail.author.as_ref().is_some_and(|author| author.name.is_some()),
            own_idea: is_own.then(|| {
                let is_moved = request.events.iter().any(|event| matches!(event.content, EventContent::Moved { .. }));
                let written = Written {
                    at: detail.summary.created_at,
                    is_answered: answered_at.is_some() || is_moved,
                    is_held: detail.awaiting_approval,
                };
                OwnLinks::new(&path(&slug), written.is_editable(holds_posts, now))
            }),
            date: Day::new(t, detail.summary.created_at),
            description: prose::html(&detail.description),
            tags: detail.tags.iter().map(|tag| (tag.as_str().to_owned(), requests::tag_path(tag.as_str()))).collect(),
            vote_box: VoteBox::new(statuses, request),
            answer: request.answer.as_ref().map(|answer| CommentView::new(t, answer)),
            answer_id: request.answer.as_ref().map(|answer| answer.comment.id.to_string()),
            comments: request
                .comments
                .items
                .iter()
                .map(|listed| {
                    let (view, id) = (CommentView::new(t, listed), listed.comment.id);
                    if !own.contains(&id) {
                        return view;
                    }
                    // The description of a merged idea is listed under the ID of the idea.
                    let is_description = listed.from.as_ref().is_some_and(|from| from.id.uuid() == id.uuid());
                    let links = match is_description {
                        true => OwnLinks::new(&path(&id.to_string()), false),
                        false => own_links(id, listed.comment.created_at, false),
                    };
                    view.own(t, links)
                })
                .collect(),
            reply_path: format!("{}?comments={current}&{REPLY}=", path(&slug)),
            comments_count: i64::try_from(request.comments.total).unwrap_or(i64::MAX),
            earlier: (before > 0).then(|| (comments_path(current - 1), t.count("earlier-comments", before))),
            later: (current < last).then(|| (comments_path(current + 1), t.get("later-comments").into_owned())),
            held: request
                .held
                .iter()
                .map(|held| {
                    let view = CommentView::held(t, held);
                    let is_own = Some(held.author.id) == viewer.customer;
                    if is_own { view.own(t, own_links(held.id, held.created_at, true)) } else { view }
                })
                .collect(),
            draft,
            history: history(t, request, statuses, is_member),
            similar,
            page,
            slug,
        }
    }
}

/// Returns who looks, and when.
fn viewer_at(context: &Context) -> (Viewer, Timestamp) {
    (context.viewer(), context.state.http.clock.now())
}

/// Returns the frame of the page.
fn frame(context: &Context, detail: &FeatureRequestDetail, is_indexed: bool) -> Page {
    let t = context.text();
    let (slug, title) = (detail.summary.slug(), detail.summary.title.as_str());
    let mut page = Page::new(context, Nav::Requests, title);
    if context.request.method() == Method::POST {
        // The path of the form for a comment is no page to come back to.
        page.here = path(&slug);
    }
    let description = excerpt(&detail.description.to_text(), DESCRIPTION);
    page.description = Some(description).filter(|description| !description.is_empty());
    if context.is_public() && !detail.private {
        page.feeds = vec![Feed { title: t.get("feed-comments").into_owned(), path: format!("{}.atom", path(&slug)) }];
    }
    if !is_indexed {
        return page.not_indexed();
    }
    page.image = page.image.map(|_| context.links.page(&previews::path(&slug)));
    page.canonical(&path(&slug))
}

/// The fields whose edits the history shows, with the keys of their names.
const EDITED: [(&str, &str); 3] = [("title", "field-title"), ("description", "field-description"), ("tags", "tags")];

/// Returns the history in words, newest first. What the team does not show everybody is left out: moves between tracks
/// of a lane, and for visitors the titles of what was merged, which may be private.
fn history(t: Text, request: &RequestPage, statuses: &Statuses, is_member: bool) -> Vec<HistoryEntry> {
    let detail = &request.detail;
    let entry = |icon: &str, sentence: String, at: Timestamp| HistoryEntry {
        icon: icon.to_owned(),
        tone: None,
        sentence,
        date: Day::new(t, at),
    };
    let mut entries: Vec<HistoryEntry> = Vec::new();
    for Event { content, created_at, .. } in &request.events {
        let at = *created_at;
        match content {
            EventContent::Moved(moved) if moved.changes_status() => entries.push(match &moved.to.status {
                Some(name) => {
                    let status = statuses.of_lane(name);
                    let icon = status.as_ref().map_or("next".to_owned(), |status| format!("lane-{}", status.sign));
                    let sentence = t.named("history-moved", name.as_str());
                    HistoryEntry { icon, tone: status.map(|status| status.sign), ..entry("", sentence, at) }
                }
                None => entry("next", t.get("history-off-the-roadmap").into_owned(), at),
            }),
            EventContent::Merged(other) => {
                let merged = detail.merged.iter().find(|merged| is_member && merged.id == *other);
                entries.push(match merged {
                    Some(merged) => entry("plus", t.named("history-merged", merged.title.as_str()), at),
                    None => entry("plus", t.get("history-merged-another").into_owned(), at),
                });
            }
            EventContent::Unmerged(_) => entries.push(entry("plus", t.get("history-unmerged").into_owned(), at)),
            EventContent::Edited(fields) => {
                let parts: Vec<_> = EDITED
                    .iter()
                    .filter(|(field, _)| fields.iter().any(|edited| edited == field))
                    .map(|(_, key)| t.get(key))
                    .collect();
                if !parts.is_empty() {
                    let parts = parts.join(&t.get("list-separator"));
                    entries.push(entry("edit", t.named("history-edited", &parts), at));
                }
            }
            EventContent::Moved(_)
            | EventContent::MergedInto(_)
            | EventContent::UnmergedFrom(_)
            | EventContent::NoAnswerNeeded => {}
        }
    }
    let submitted = match &detail.author {
        Some(author) => t.named("history-submitted-by", &customer(t, author.name.as_ref())),
        None => t.get("history-submitted").into_owned(),
    };
    entries.push(entry("person", submitted, detail.summary.created_at));
    entries
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page, sample_statuses, sample_summary};
    use roadmap_domain::model::audit::Actor;
    use roadmap_domain::model::comment::{Comment, ListedComment, PublicAuthor};
    use roadmap_domain::model::customer::CustomerName;
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::event::Move;
    use roadmap_domain::model::feature_request::{RequestLink, Tag};
    use roadmap_domain::model::html::CleanHtml;
    use roadmap_domain::model::id::{CommentId, CustomerId, EventId};
    use roadmap_domain::model::pagination::{Listing, PageRequest};
    use roadmap_domain::model::portal::{HeldComment, Language};
    use roadmap_domain::model::text::Name;
    use roadmap_domain::model::track::Placement;
    use uuid::Uuid;

    fn name(text: &str) -> Name {
        Name::from_stored(text.to_owned())
    }

    fn html(text: &str) -> CleanHtml {
        CleanHtml::from_stored(text.to_owned())
    }

    fn comment(number: u128, author: PublicAuthor, content: &str) -> ListedComment {
        let comment =
            Comment { id: CommentId::new(Uuid::from_u128(number)), content: html(content), created_at: at(0) };
        ListedComment { comment, author, from: None, updated_at: at(0) }
    }

    fn event(content: EventContent) -> Event {
        let id = EventId::new(Uuid::from_u128(1));
        Event { id, content, actor: Actor::service(), created_at: at(0) }
    }

    fn moved(from: Option<&str>, to: Option<&str>) -> EventContent {
        let placement = |status: Option<&str>| Placement { track: name("Secret track"), status: status.map(name) };
        EventContent::Moved(Move { from: placement(from), to: placement(to), comment: None })
    }

    fn author() -> CustomerName {
        let email = EmailAddress::from_stored("maja@customer.example".to_owned());
        CustomerName { id: CustomerId::new(Uuid::from_u128(5)), name: Some(name("Maja Lindqvist")), email }
    }

    fn merged() -> RequestLink {
        RequestLink::from(&sample_summary(9, "Hidden plans", None))
    }

    /// A page with everything that there can be. `page` is that of the comments, of which there are 62.
    pub(crate) fn sample(page: &str) -> RequestPage {
        let (team, ours) =
            (PublicAuthor::Member(Some(name("Ines Carvalho"))), "<p>We are building <b>this</b> now.</p>");
        let from = Some(RequestLink::from(&sample_summary(4, "Hotkeys", None)));
        let edited = ListedComment {
            updated_at: at(1),
            from,
            ..comment(2, PublicAuthor::Customer(None), "<p>\u{646}\u{639}\u{645}</p>")
        };
        let items = vec![edited, comment(3, PublicAuthor::Member(None), "Soon"), comment(6, team.clone(), ours)];
        let request = PageRequest::parse(Some(page), Some("30")).unwrap();
        RequestPage {
            detail: FeatureRequestDetail {
                summary: sample_summary(7, "Dark \"mode\" <b>", Some("Planned")),
                description: html(
                    "<h2>Why</h2><p>Bright <a href=\"https://a.example\" rel=\"nofollow noopener\">pages</a></p>",
                ),
                tags: vec![Tag::parse("tag", "a & b").unwrap()],
                private: true,
                awaiting_approval: true,
                comments_count: 62,
                author: Some(author()),
                merged: vec![merged()],
                updated_at: at(0),
            },
            comments: Listing { items, request, total: 62 },
            answer: Some(comment(6, team, ours)),
            events: vec![
                event(moved(Some("In progress"), None)),
                event(moved(Some("Planned"), Some("In progress"))),
                event(moved(Some("Planned"), Some("Planned"))),
                event(EventContent::Merged(merged().id)),
                event(EventContent::Unmerged(merged().id)),
                event(EventContent::Edited(vec!["title".to_owned(), "tags".to_owned()])),
                event(EventContent::Edited(vec!["private".to_owned()])),
                event(EventContent::MergedInto(merged().id)),
            ],
            held: vec![HeldComment {
                id: CommentId::new(Uuid::from_u128(8)),
                content: html("<p>Please</p>"),
                author: author(),
                created_at: at(0),
            }],
            has_voted: true,
            is_subscribed: true,
        }
    }

    fn render(language: Language, is_member: bool, request: &RequestPage, draft: CommentDraft) -> String {
        let title = request.detail.summary.title.as_str();
        let page = sample_page(language, is_member, title).with_problem(!draft.problems.is_empty());
        let similar = vec![Row::similar_sample(page.t)];
        let viewer = (Viewer { is_member, customer: None }, at(0));
        let own = request.comments.items.first().map(|listed| listed.comment.id);
        let own = own.as_slice();
        RequestTemplate::new(page, request, own, &sample_statuses(language), similar, draft, viewer).render().unwrap()
    }

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        for language in Language::ALL {
            for is_member in [false, true] {
                let mut draft = CommentDraft { content: "</textarea><b>".to_owned(), ..CommentDraft::default() };
                assert_well_formed(&render(language, is_member, &sample("3"), draft.clone()));
                draft.preview = Some("<p>Preview</p>".to_owned());
                assert_well_formed(&render(language, is_member, &sample("3"), draft.clone()));
                draft.problems.add("content", "Missing.");
                draft.problems.add("email", "Missing.");
                assert_well_formed(&render(language, is_member, &sample("1"), draft));
                let mut bare = sample("1");
                bare.detail = FeatureRequestDetail {
                    description: html(""),
                    tags: Vec::new(),
                    author: None,
                    private: false,
                    awaiting_approval: false,
                    ..bare.detail
                };
                bare.comments = Listing { items: Vec::new(), request: bare.comments.request, total: 0 };
                bare = RequestPage { answer: None, held: Vec::new(), events: Vec::new(), ..bare };
                assert_well_formed(&render(language, is_member, &bare, CommentDraft::default()));
            }
        }
    }

    #[test]
    fn a_visitor_sees_no_address_no_track_and_no_hidden_title() {
        let page = render(Language::English, false, &sample("3"), CommentDraft::default());
        for hidden in ["customer.example", "Secret track", "Hidden plans", "/approve", "/discard"] {
            assert!(!page.contains(hidden), "{hidden}");
        }
        for sentence in [
            "Merged with another feature request",
            "Moved to In progress",
            "Edited: Title, Tags",
            "Taken off the roadmap",
        ] {
            assert!(page.contains(sentence), "{sentence}");
        }
        let page = render(Language::English, true, &sample("3"), CommentDraft::default());
        for sentence in ["Merged with “Hidden plans”", "/approve", "/discard"] {
            assert!(page.contains(sentence), "{sentence}");
        }
        assert!(!page.contains("customer.example"));
    }

    #[test]
    fn comments_are_paged_from_the_last_ones() {
        let links = |number: &str| {
            let page = sample_page(Language::English, false, "");
            let view = RequestTemplate::new(
                page,
                &sample(number),
                &[],
                &sample_statuses(Language::English),
                Vec::new(),
                CommentDraft::default(),
                (Viewer::default(), at(0)),
            );
            let path =
                |(path, words): (String, String)| (path.rsplit('/').next().unwrap_or_default().to_owned(), words);
            (view.earlier.map(path), view.later.map(path))
        };
        let link = |page: u64, words: &str| Some((format!("7-dark-mode-b?comments={page}#comments"), words.to_owned()));
        assert_eq!(links("3"), (link(2, "Show 60 earlier comments"), None));
        assert_eq!(links("2"), (link(1, "Show 30 earlier comments"), link(3, "Show later comments")));
        assert_eq!(links("1"), (None, link(2, "Show later comments")));
        assert_eq!(links("99"), (link(3, "Show 62 earlier comments"), None));
    }
}
