//! The form for title, description, tags and visibility of a feature request.
//!
//! Whoever saves over the change of somebody else sees first what is stored now.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Conflict, FieldError, FieldProblem, RoadmapError, Validated};
use roadmap_domain::model::admin::Fingerprint;
use roadmap_domain::model::event::EventContent;
use roadmap_domain::model::feature_request::{Description, FeatureRequestDetail, FeatureRequestRef, Tag, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::sign_in::PageAction;
use roadmap_domain::usecase::edit_feature_request::{
    EditFeatureRequest, EditUnchangedRequest, FeatureRequestChange, FeatureRequestEdited,
};
use roadmap_domain::usecase::query::records::{ListEvents, ShowFeatureRequest};
use roadmap_http::error::HttpError;

use crate::actions::{multiline_text, not_done};
use crate::admin::parts::actor_name;
use crate::admin::request_form::{landing, path, place_query, reference, refusal};
use crate::admin::{Entry, frame};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::pictures;
use crate::portal::request_links::{Place, place};
use crate::prose::{self, editable};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

#[derive(Template)]
#[template(path = "admin/request-edit.html")]
struct EditPage {
    page: Page,
    /// The path of the feature request.
    back: String,
    /// The query of the place in a list from which it was opened.
    place: String,
    draft: Draft,
    /// What somebody else has changed meanwhile.
    stored: Option<Stored>,
}

/// The fields as they were typed.
#[derive(Debug, Clone, Default)]
struct Draft {
    title: String,
    description: String,
    /// Whether the description is HTML.
    is_html: bool,
    tags: String,
    private: bool,
    /// What the editor has read.
    fingerprint: String,
    /// The description as HTML, if a preview was asked for.
    preview: Option<String>,
    problems: Problems,
}

/// What is stored now, of the fields that differ from what was typed.
struct Stored {
    /// Who changed it, and when.
    sentence: String,
    title: Option<String>,
    /// HTML to be inserted without escaping.
    description: Option<String>,
    tags: Option<String>,
    private: Option<bool>,
}

impl Draft {
    fn of_stored(detail: &FeatureRequestDetail) -> Self {
        let (description, is_html) = editable(&detail.description);
        Self {
            title: detail.summary.title.as_str().to_owned(),
            description,
            is_html,
            tags: join_tags(&detail.tags),
            private: detail.private,
            fingerprint: Fingerprint::of_detail(detail).as_str().to_owned(),
            preview: None,
            problems: Problems::default(),
        }
    }

    fn of_form(fields: &Fields) -> Self {
        Self {
            title: fields.get("title").to_owned(),
            description: multiline_text(fields, "description"),
            is_html: fields.get("format") == "html",
            tags: fields.get("tags").to_owned(),
            private: fields.has("private"),
            fingerprint: fields.get("fingerprint").to_owned(),
            preview: None,
            problems: Problems::default(),
        }
    }

    /// Returns the sanitized description.
    fn html(&self) -> Validated<Description> {
        prose::description("description", &self.description, self.is_html)
    }

    /// Validates the fields. Those that are as in `stored` are kept as they are.
    fn change(&mut self, stored: &Self, text: Text) -> FeatureRequestChange {
        let title = self.problems.check(Title::parse("title", &self.title), text);
        let is_unchanged = self.description == stored.description && self.is_html == stored.is_html;
        let description = match is_unchanged {
            true => None,
            false => self.problems.check(self.html(), text),
        };
        let tags = match self.tags == stored.tags {
            true => None,
            false => check_tags(&mut self.problems, &self.tags, text),
        };
        FeatureRequestChange { title, description, tags, private: Some(self.private) }
    }
}

/// Returns tags as they are typed: separated by commas, in quotation marks if they contain one.
fn join_tags(tags: &[Tag]) -> String {
    let quote_tag = |tag: &Tag| match tag.as_str() {
        tag if tag.contains(',') || tag.contains('،') || tag.starts_with('"') => {
            format!("\"{}\"", tag.replace('"', "\"\""))
        }
        tag => tag.to_owned(),
    };
    tags.iter().map(quote_tag).collect::<Vec<_>>().join(", ")
}

/// Reads tags that are separated by commas. Blank ones are left out.
fn split_tags(raw: &str) -> Vec<String> {
    let (mut tags, mut tag, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = raw.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => tag.push('"'),
            '"' if is_quoted => is_quoted = false,
            '"' if tag.trim().is_empty() => is_quoted = true,
            ',' | '،' | '\n' if !is_quoted => tags.push(std::mem::take(&mut tag)),
            letter => tag.push(letter),
        }
    }
    tags.push(tag);
    tags.iter().map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect()
}

/// Validates tags that are separated by commas.
pub(crate) fn check_tags(problems: &mut Problems, raw: &str, text: Text) -> Option<Vec<Tag>> {
    match Tag::parse_list("tags", &split_tags(raw)) {
        Ok(tags) => Some(tags),
        Err(FieldError { problem: FieldProblem::TooMany { .. } | FieldProblem::TooLong { .. }, .. }) => {
            problems.add("tags", text.get("team-problem-tags"));
            None
        }
        Err(invalid) => {
            problems.add("tags", text.problem(&invalid));
            None
        }
    }
}

/// `GET /admin/feature_requests/{slug}/edit`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let detail = context.run(&ShowFeatureRequest { request: reference(&context) }).await?;
    if place(reference(&context), context.parameter("slug"), &detail) == Place::Merged {
        return Ok(Reply::found(path(&detail.summary.slug())));
    }
    let draft = Draft::of_stored(&detail);
    page(&context, &detail, draft, None, StatusCode::OK).await
}

/// `POST /admin/feature_requests/{slug}/edit`: saves the fields, or shows a preview of the description.
pub(crate) async fn save(context: Rc<Context>, fields: Fields) -> PageResult {
    let (text, mut draft) = (context.text(), Draft::of_form(&fields));
    let detail = match context.run(&ShowFeatureRequest { request: reference(&context) }).await {
        Ok(detail) => detail,
        Err(error) => return Ok(show_unsaved_draft(&context, &error, draft, "/admin".to_owned())),
    };
    let slug = detail.summary.slug();
    if place(reference(&context), context.parameter("slug"), &detail) == Place::Merged {
        // It was merged meanwhile. The text was not meant for what it was merged into.
        return Ok(show_unsaved_draft(&context, &HttpError::NotFound, draft, path(&slug)));
    }
    if !draft.is_html {
        pictures::append(&context, &fields, &mut draft.problems, &mut draft.description).await?;
    }
    let change = draft.change(&Draft::of_stored(&detail), text);
    if fields.has("preview") && draft.problems.of("description").is_none() {
        let html = draft.html().map(|description| CleanHtml::from_stored(description.html().to_owned()));
        draft.preview = html.ok().map(|html| prose::html(&html));
    }
    if fields.has("preview") || !draft.problems.is_empty() {
        let status = if draft.problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
        return page(&context, &detail, draft, None, status).await;
    }
    let request = FeatureRequestRef::Id(detail.summary.id);
    let edit = EditFeatureRequest { request, change };
    let operation = EditUnchangedRequest { edit, read: Fingerprint::from_form(&draft.fingerprint) };
    let place = place_query(&context);
    let next = move |edited: FeatureRequestEdited| landing(&edited.detail.summary.slug(), &place, "request-saved");
    match run_once(&context, &fields, operation, next).await {
        Ok(reply) if draft.is_html => Ok(reply),
        Ok(reply) => Ok(pictures::tell_linked(reply, &draft.description)),
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::ChangedMeanwhile))) => conflict(&context, draft).await,
        Err(error) => match refusal(text, &error) {
            Some(sentence) => {
                draft.problems.add("title", sentence);
                page(&context, &detail, draft, None, StatusCode::UNPROCESSABLE_ENTITY).await
            }
            None => Ok(show_unsaved_draft(&context, &error, draft, "/admin".to_owned())),
        },
    }
}

/// Shows the form again with what is stored now. Whoever saves it once more does so knowingly.
async fn conflict(context: &Context, draft: Draft) -> PageResult {
    let request = reference(context);
    let detail = match context.run(&ShowFeatureRequest { request }).await {
        Ok(detail) => detail,
        Err(error) => return Ok(show_unsaved_draft(context, &error, draft, "/admin".to_owned())),
    };
    let events = context.run(&ListEvents { request, page: PageRequest::parse(None, Some("30")) }).await?;
    let edit = events.items.iter().find(|event| matches!(event.content, EventContent::Edited(_)));
    let text = context.text();
    let sentence = match edit {
        Some(edit) => {
            let (name, date) = (actor_name(text, &edit.actor), text.date_time(edit.created_at));
            text.with(
                "team-changed-by",
                &[("name", name.into()), ("date", date.into()), ("zone", text.zone.name().into())],
            )
        }
        None => text.get("team-changed").into_owned(),
    };
    let now = Draft::of_stored(&detail);
    let stored = Stored {
        sentence,
        title: (now.title != draft.title).then(|| now.title.clone()),
        description: (now.description != draft.description).then(|| prose::html(&detail.description)),
        tags: (now.tags != draft.tags).then(|| now.tags.clone()),
        private: (now.private != draft.private).then_some(now.private),
    };
    let draft = Draft { fingerprint: now.fingerprint, ..draft };
    page(context, &detail, draft, Some(stored), StatusCode::CONFLICT).await
}

/// Shows what was typed and cannot be saved, so that it can be copied.
fn show_unsaved_draft(context: &Context, error: &HttpError, draft: Draft, next: String) -> Reply {
    let action = PageAction::Submit { title: draft.title, description: draft.description };
    not_done(context, error, &action, next)
}

async fn page(
    context: &Context,
    detail: &FeatureRequestDetail,
    draft: Draft,
    stored: Option<Stored>,
    status: StatusCode,
) -> PageResult {
    let title = context.text().named("team-edit-title", detail.summary.title.as_str());
    let page = frame(context, Entry::Inbox, title).await?;
    let back = path(&detail.summary.slug());
    let has_problem = !draft.problems.is_empty() || stored.is_some();
    let page = Page { here: format!("{back}/edit"), ..page.with_problem(has_problem) };
    Ok(Reply::page_with(status, &EditPage { page, back, place: place_query(context), draft, stored }).not_indexed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use crate::portal::request::tests::sample;
    use roadmap_domain::model::portal::Language;

    fn tags(tags: &[&str]) -> Vec<Tag> {
        tags.iter().map(|tag| Tag::parse("tags", tag).unwrap()).collect()
    }

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        for language in Language::ALL {
            let render = |draft: Draft, stored: Option<Stored>| {
                let page = sample_page(language, true, "Edit: <b>");
                {
                    let (back, place) = ("/admin/feature_requests/7-x".to_owned(), "?list=&at=3".to_owned());
                    EditPage { page, back, place, draft, stored }.render().unwrap()
                }
            };
            let mut draft = Draft::of_stored(&sample("1").detail);
            assert_well_formed(&render(draft.clone(), None));
            let stored = |text: &str| Stored {
                sentence: "Ines has changed it.".to_owned(),
                title: Some("<b>".to_owned()),
                description: Some(text.to_owned()),
                tags: Some(text.to_owned()),
                private: Some(text.is_empty()),
            };
            draft.is_html = true;
            draft.preview = Some("<p>Preview</p>".to_owned());
            assert_well_formed(&render(draft.clone(), Some(stored(""))));
            assert_well_formed(&render(draft.clone(), Some(stored("<p>a</p>"))));
            for field in ["title", "description", "tags"] {
                draft.problems.add(field, "Missing.");
            }
            assert_well_formed(&render(draft, None));
        }
    }

    #[test]
    fn tags_are_read_as_they_are_written() {
        for (raw, expected) in [
            ("", &[][..]),
            (" a , b c,, \u{60c} d\u{60c}e\nf", &["a", "b c", "d", "e", "f"]),
            ("\"a, b\", c", &["a, b", "c"]),
            ("\"say \"\"hi\"\"\"", &["say \"hi\""]),
            ("5\" screen", &["5\" screen"]),
        ] {
            assert_eq!(split_tags(raw), expected, "{raw}");
        }
        let list = ["a, b", "c", "\"d\"", "5\" screen", "e\u{60c}f"];
        assert_eq!(split_tags(&join_tags(&tags(&list))), list);
        assert_eq!(join_tags(&tags(&["a", "b c"])), "a, b c");
    }

    #[test]
    fn what_was_not_touched_is_kept() {
        let stored = Draft::of_stored(&sample("1").detail);
        let text = Text::utc(Language::English);
        let mut same = stored.clone();
        let change = same.change(&stored, text);
        assert_eq!((change.description, change.tags, change.private), (None, None, Some(true)));
        let mut draft = Draft { tags: "x, y".to_owned(), description: "**New**".to_owned(), ..stored.clone() };
        draft.is_html = false;
        let change = draft.change(&stored, text);
        assert_eq!(change.tags, Some(tags(&["x", "y"])));
        assert_eq!(change.description.unwrap().text(), "New");
        let mut many = Draft { tags: "a,".repeat(21), title: " ".to_owned(), ..stored.clone() };
        many.change(&stored, text);
        assert!(many.problems.of("tags").unwrap().contains("20 tags") && many.problems.of("title").is_some());
    }
}
