//! The tags of all feature requests: their list, and the pages that rename, merge and delete one.

use std::rc::Rc;

use actix_web::http::{Method, StatusCode};
use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::tag::{ListedTag, TagChange, TagQuery};
use roadmap_domain::usecase::change_tag::{DeleteTag, RenameTag, TagRenamed};
use roadmap_domain::usecase::query::tags::{ListTags, ShowTag};
use roadmap_http::error::HttpError;

use crate::admin::inbox::tag_path;
use crate::admin::request_form::refusal;
use crate::admin::{self, Entry, missing_record_as_404};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page, encoded};
use crate::portal::parts::Pager;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the list.
const PATH: &str = "/admin/tags";
/// Number of tags on a page of the list.
const PER_PAGE: &str = "50";
/// The last page of the list.
const MAX_PAGE: u64 = 2_000;

#[derive(Template)]
#[template(path = "admin/tags.html")]
struct ListPage {
    page: Page,
    query: String,
    count: String,
    tags: Vec<TagRow>,
    /// The path of the first page, on one after the last.
    first_page: Option<String>,
    pager: Option<Pager>,
    problems: Problems,
}

/// A tag in the list.
struct TagRow {
    name: String,
    /// The path of its feature requests in the inbox.
    path: String,
    count: String,
}

impl TagRow {
    fn new(t: Text, tag: &ListedTag) -> Self {
        Self {
            name: tag.name.as_str().to_owned(),
            path: tag_path(&tag.name),
            count: t.number(tag.feature_requests_count),
        }
    }
}

#[derive(Template)]
#[template(path = "admin/tag-rename.html")]
struct RenamePage {
    page: Page,
    tag: String,
    /// The new name as typed.
    name: String,
    /// How many feature requests have it.
    count: String,
    problems: Problems,
}

/// The page that asks before two tags become one.
#[derive(Template)]
#[template(path = "admin/tag-merge.html")]
struct MergePage {
    page: Page,
    /// The tag that goes, with the number of its feature requests.
    from: (String, String),
    /// The same of the one that stays.
    to: (String, String),
    text: String,
    /// The path of the form for the new name.
    back: String,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "admin/tag-delete.html")]
struct DeletePage {
    page: Page,
    tag: String,
    /// How many feature requests lose it.
    count: String,
    problems: Problems,
}

/// Returns the path of the form for the new name of a tag, with what was typed if it can be a name: an address has a limit.
fn rename_path(tag: &str, name: &str) -> String {
    let can_be = Tag::parse("to", name).is_ok();
    let name = if can_be { format!("&to={}", encoded(name)) } else { String::new() };
    format!("{PATH}?rename={}{name}", encoded(tag))
}

fn status_of(problems: &Problems) -> StatusCode {
    if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
}

/// Returns why a tag cannot be changed, if somebody can do something about it.
fn reason(t: Text, error: &HttpError) -> Option<String> {
    match error {
        HttpError::Domain(RoadmapError::Conflict(Conflict::TooManyTagged)) => {
            Some(t.count("tag-too-many", TagChange::MAX_REQUESTS))
        }
        error => refusal(t, error),
    }
}

/// Finds a tag by its name.
///
/// # Errors
/// 404 if no feature request has it.
async fn find(context: &Context, raw: &str) -> Result<ListedTag, HttpError> {
    let name = Tag::parse("tag", raw).map_err(|_| HttpError::NotFound)?;
    context.run(&ShowTag { name }).await
}

/// Finds the other tag that has the new name of a tag, if there is one.
async fn find_other(context: &Context, tag: &Tag, name: &Tag) -> Result<Option<ListedTag>, HttpError> {
    if name.equals(tag) {
        return Ok(None);
    }
    match context.run(&ShowTag { name: name.clone() }).await {
        Err(HttpError::NotFound) => Ok(None),
        other => other.map(Some),
    }
}

/// `GET /admin/tags`: the list. With `rename` or `delete`, the page that asks about the tag with this name. Names are no
/// parts of paths, because they may have any letters.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let [rename, delete] = ["rename", "delete"].map(|name| context.query.get(name));
    if !rename.is_empty() {
        let tag = find(&context, rename).await?;
        return rename_form(&context, &tag, context.query.get("to"), Problems::default()).await;
    }
    if !delete.is_empty() {
        return delete_form(&context, delete, Problems::default()).await;
    }
    list(&context).await
}

async fn list(context: &Context) -> PageResult {
    let (t, raw_query) = (context.text(), context.query.get("query"));
    let request = PageRequest::parse(Some(context.query.get("page")), Some(PER_PAGE));
    let request = request.or_else(|_| PageRequest::parse(None, Some(PER_PAGE))).unwrap_or_default();
    let mut problems = Problems::default();
    let listing = match TagQuery::parse("tag_query", Some(raw_query)) {
        Ok(query) if request.page() <= MAX_PAGE => context.run(&ListTags { query, page: request }).await?,
        Ok(_) => Listing { items: Vec::new(), request, total: 0 },
        Err(error) => {
            problems.add("query", t.problem(&error));
            Listing { items: Vec::new(), request, total: 0 }
        }
    };
    let path = |number: u64| {
        let number = if number > 1 { number.to_string() } else { String::new() };
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        let parameters = [("query", raw_query), ("page", &number)];
        query.extend_pairs(parameters.into_iter().filter(|(_, value)| !value.is_empty()));
        let query = query.finish();
        if query.is_empty() { PATH.to_owned() } else { format!("{PATH}?{query}") }
    };
    let is_past_end = listing.request.page() > 1 && listing.items.is_empty() && problems.is_empty();
    let page = admin::frame(context, Entry::Tags, t.get("admin-tags")).await?;
    let template = ListPage {
        page: page.with_problem(!problems.is_empty()),
        query: raw_query.to_owned(),
        count: t.count("tags-count", listing.total),
        tags: listing.items.iter().map(|tag| TagRow::new(t, tag)).collect(),
        first_page: is_past_end.then(|| path(1)),
        pager: Pager::new(t, &listing, MAX_PAGE, path),
        problems,
    };
    Ok(Reply::page_with(status_of(&template.problems), &template))
}

/// `POST /admin/tags/rename`. If another tag has the new name, the field `merge` has it as well, as the page has shown it
/// that asks whether the two become one.
pub(crate) async fn rename(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, mut problems) = (context.text(), Problems::default());
    let raw_name = fields.get("tag-name").to_owned();
    let tag = Tag::parse("tag", fields.get("tag")).map_err(|_| HttpError::NotFound)?;
    if let Some(name) = problems.check(Tag::parse("tag-name", &raw_name), t) {
        let other = find_other(&context, &tag, &name).await?;
        let is_merge = fields.has("merge");
        if other.is_some_and(|other| other.name.as_str() != fields.get("merge")) && !is_gone(&context, &tag).await? {
            return Ok(Reply::see_other(rename_path(tag.as_str(), name.as_str())));
        }
        let landing = move |renamed: TagRenamed| match renamed.changed {
            0 => format!("{PATH}?done=unchanged"),
            changed if is_merge => format!("{PATH}?done=tag-merged&count={changed}"),
            changed => format!("{PATH}?done=tag-saved&count={changed}"),
        };
        match run_once(&context, &fields, RenameTag { tag: Some(tag.clone()), name }, landing).await {
            Err(error) => match reason(t, &error) {
                Some(sentence) => problems.add("tag-name", sentence),
                None => return missing_record_as_404(Err(error)),
            },
            done => return done,
        }
    }
    rename_form(&context, &find(&context, tag.as_str()).await?, &raw_name, problems).await
}

/// Whether no feature request has the tag any more: a form that is sent twice has renamed it already.
async fn is_gone(context: &Context, tag: &Tag) -> Result<bool, HttpError> {
    match context.run(&ShowTag { name: tag.clone() }).await {
        Err(HttpError::NotFound) => Ok(true),
        found => found.map(|_| false),
    }
}

/// Shows the form for the new name of a tag with what was typed, or asks whether it becomes one with another tag.
async fn rename_form(context: &Context, tag: &ListedTag, typed: &str, problems: Problems) -> PageResult {
    let (t, from) = (context.text(), tag.name.as_str());
    let other = match Tag::parse("tag-name", typed) {
        Ok(name) => find_other(context, &tag.name, &name).await?,
        Err(_) => None,
    };
    let title = match &other {
        Some(other) => t.with("tag-merge-title", &[("from", from.into()), ("to", other.name.as_str().into())]),
        None => t.named("tag-rename-title", from),
    };
    let mut page = admin::frame(context, Entry::Tags, title).await?.with_problem(!problems.is_empty());
    if context.request.method() == Method::POST {
        // The path of a form is no page to come back to.
        page.here = rename_path(from, typed);
    }
    let status = status_of(&problems);
    let count = tag.feature_requests_count;
    match other {
        Some(other) => {
            let to = other.name.as_str();
            let text = t.with("tag-merge-text", &[("from", from.into()), ("to", to.into())]);
            let counted = |name: &str, count: i64| (name.to_owned(), t.count("requests-count", count));
            let template = MergePage {
                page,
                from: counted(from, count),
                to: counted(to, other.feature_requests_count),
                text,
                back: rename_path(from, ""),
                problems,
            };
            Ok(Reply::page_with(status, &template))
        }
        None => {
            let name = if typed.is_empty() && problems.is_empty() { from } else { typed }.to_owned();
            let count = t.count("tag-rename-count", count);
            let template = RenamePage { page, tag: from.to_owned(), name, count, problems };
            Ok(Reply::page_with(status, &template))
        }
    }
}

/// `POST /admin/tags/delete`.
pub(crate) async fn delete(context: Rc<Context>, fields: Fields) -> PageResult {
    let raw = fields.get("tag");
    let tag = Tag::parse("tag", raw).map_err(|_| HttpError::NotFound)?;
    let landing = |changed: u64| format!("{PATH}?done=tag-deleted&count={changed}");
    match run_once(&context, &fields, DeleteTag { tag: Some(tag) }, landing).await {
        Err(error) => match reason(context.text(), &error) {
            Some(sentence) => {
                let mut problems = Problems::default();
                problems.add("delete", sentence);
                delete_form(&context, raw, problems).await
            }
            None => missing_record_as_404(Err(error)),
        },
        done => done,
    }
}

/// Shows the page that asks before a tag is deleted.
async fn delete_form(context: &Context, raw: &str, problems: Problems) -> PageResult {
    let tag = find(context, raw).await?;
    let (t, name) = (context.text(), tag.name.as_str().to_owned());
    let page = admin::frame(context, Entry::Tags, t.named("tag-delete-title", &name)).await?;
    let mut page = page.with_problem(!problems.is_empty());
    if context.request.method() == Method::POST {
        page.here = format!("{PATH}?delete={}", encoded(&name));
    }
    let count = t.count("tag-delete-count", tag.feature_requests_count);
    let template = DeletePage { page, tag: name, count, problems };
    Ok(Reply::page_with(status_of(&template.problems), &template))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use roadmap_domain::model::portal::Language;

    fn problems(field: &str, has_problem: bool) -> Problems {
        let mut problems = Problems::default();
        if has_problem {
            problems.add(field, "Not this one.");
        }
        problems
    }

    #[test]
    fn the_list_is_well_formed_in_every_state() {
        for language in Language::ALL {
            let t = Text::utc(language);
            let tag = |name: &str, feature_requests_count| ListedTag {
                name: Tag::from_stored(name.to_owned()),
                feature_requests_count,
            };
            for (query, tags, first_page, has_problem) in [
                ("", vec![tag("<a&b> \"c\"", 1_200), tag("api", 0)], None, false),
                ("", vec![], None, false),
                ("zebra", vec![], None, false),
                ("", vec![], Some(PATH.to_owned()), false),
                ("long", vec![], None, true),
            ] {
                let template = ListPage {
                    page: sample_page(language, true, &t.get("admin-tags")),
                    query: query.to_owned(),
                    count: t.count("tags-count", 2),
                    tags: tags.iter().map(|tag| TagRow::new(t, tag)).collect(),
                    first_page,
                    pager: Some(Pager { previous: None, next: Some("/a".to_owned()), position: "1".to_owned() }),
                    problems: problems("query", has_problem),
                };
                let html = template.render().unwrap();
                assert_well_formed(&html);
                assert_eq!(html.contains("/admin?state=all&#38;tag=%3Ca%26b%3E+%22c%22"), tags.len() == 2, "{html}");
            }
        }
    }

    #[test]
    fn the_pages_that_ask_are_well_formed() {
        for language in Language::ALL {
            let t = Text::utc(language);
            for has_problem in [false, true] {
                let page = || sample_page(language, true, "Rename <b>?");
                let tag = || "<b> \"c\"".to_owned();
                let rename = RenamePage {
                    page: page(),
                    tag: tag(),
                    name: tag(),
                    count: t.count("tag-rename-count", 3),
                    problems: problems("tag-name", has_problem),
                };
                assert_well_formed(&rename.render().unwrap());
                let merge = MergePage {
                    page: page(),
                    from: (tag(), "3".to_owned()),
                    to: ("api".to_owned(), "1".to_owned()),
                    text: t.with("tag-merge-text", &[("from", tag().into()), ("to", "api".into())]),
                    back: rename_path(&tag(), ""),
                    problems: problems("tag-name", has_problem),
                };
                assert_well_formed(&merge.render().unwrap());
                let delete = DeletePage {
                    page: page(),
                    tag: tag(),
                    count: t.count("tag-delete-count", 0),
                    problems: problems("delete", has_problem),
                };
                assert_well_formed(&delete.render().unwrap());
            }
        }
        assert_eq!(rename_path("a&b ü", "c/d"), "/admin/tags?rename=a%26b+%C3%BC&to=c%2Fd");
        assert_eq!(rename_path("a", &"b".repeat(20_000)), "/admin/tags?rename=a");
    }

    #[test]
    fn what_can_be_done_about_is_a_sentence() {
        let t = Text::utc(Language::English);
        let too_many = HttpError::Domain(RoadmapError::Conflict(Conflict::TooManyTagged));
        assert!(reason(t, &too_many).unwrap().contains("10,000"));
        assert_eq!(reason(t, &HttpError::NotFound), None);
    }
}
