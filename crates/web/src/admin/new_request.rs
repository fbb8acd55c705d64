//! The form for a feature request that the team writes down.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Resource, RoadmapError, Validated};
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::feature_request::{Description, FeatureRequestSummary, Title};
use roadmap_domain::model::id::{TrackId, parse_uuid};
use roadmap_domain::model::markdown;
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::model::sign_in::PageAction;
use roadmap_domain::model::vote::VoteCast;
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::query::portal::{FindSimilar, ListPublicRequests};
use roadmap_http::error::HttpError;

use crate::actions::{multiline_text, not_done};
use crate::admin::edit_request::check_tags;
use crate::admin::parts::{Choice, track_choices};
use crate::admin::request_form::{author, landing, path, refusal};
use crate::admin::{Entry, frame_with_counts};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::pictures;
use crate::portal::parts::Counted;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the form.
const PATH: &str = "/admin/feature_requests/new";

#[derive(Template)]
#[template(path = "admin/request-new.html")]
struct NewPage {
    page: Page,
    draft: Draft,
    tracks: Vec<Choice>,
    /// Similar feature requests, once somebody has looked for them.
    similar: Option<Vec<Similar>>,
}

/// The similar feature requests alone, as a part of the form.
#[derive(Template)]
#[template(path = "admin/similar.html")]
struct SimilarPart {
    page: Page,
    rows: Vec<Similar>,
}

/// A similar feature request.
struct Similar {
    title: String,
    path: String,
    votes: Counted,
}

/// The fields as they were typed.
#[derive(Debug, Clone, Default)]
struct Draft {
    title: String,
    description: String,
    tags: String,
    track: Option<TrackId>,
    private: bool,
    email: String,
    name: String,
    note: String,
    problems: Problems,
}

impl Draft {
    fn of_form(fields: &Fields) -> Self {
        Self {
            title: fields.get("title").to_owned(),
            description: multiline_text(fields, "description"),
            tags: fields.get("tags").to_owned(),
            track: parse_uuid("track", fields.get("track")).ok().map(TrackId::new),
            private: fields.has("private"),
            email: fields.get("email").to_owned(),
            name: fields.get("name").to_owned(),
            note: multiline_text(fields, "note"),
            problems: Problems::default(),
        }
    }

    fn html(&self) -> Validated<Description> {
        Description::from_html("description", &markdown::to_optional_html("description", &self.description)?)
    }

    /// Validates all fields. `None` if there are problems.
    fn check(&mut self, context: &Context) -> Result<Option<FeatureRequestDraft>, HttpError> {
        let text = context.text();
        let title = self.problems.check(Title::parse("title", &self.title), text);
        let description = self.problems.check(self.html(), text);
        let tags = check_tags(&mut self.problems, &self.tags, text);
        let has_customer = !self.email.trim().is_empty() || !self.name.trim().is_empty();
        let customer = match has_customer {
            true => self.problems.check(CustomerDraft::parse(Some(&self.email), Some(&self.name)), text),
            false => None,
        };
        let note = match self.note.trim() {
            "" => None,
            _ => self.problems.check(markdown::to_html("note", &self.note), text),
        };
        let (Some(title), Some(description), Some(tags), true) = (title, description, tags, self.problems.is_empty())
        else {
            return Ok(None);
        };
        let author = author(context)?;
        Ok(Some(FeatureRequestDraft {
            title,
            description,
            tags,
            track: self.track,
            private: self.private,
            awaiting_approval: false,
            customer,
            note: note.map(|body| NoteDraft { body, author }),
        }))
    }
}

/// `GET /admin/feature_requests/new`. The parameter `title` fills in the title.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let draft = Draft { title: context.query.get("title").to_owned(), ..Draft::default() };
    page(&context, draft, None).await
}

/// `GET /admin/feature_requests/similar?title=`: the similar feature requests as a part of the form.
pub(crate) async fn similar(context: Rc<Context>) -> PageResult {
    let rows = similar_to(&context, context.query.get("title")).await?;
    let page = Page::new(&context, Nav::Admin, String::new());
    Ok(Reply::page(&SimilarPart { page, rows }).not_indexed())
}

/// `POST /admin/feature_requests/new`: creates it, or looks for similar ones.
pub(crate) async fn create(context: Rc<Context>, fields: Fields) -> PageResult {
    let mut draft = Draft::of_form(&fields);
    pictures::append(&context, &fields, &mut draft.problems, &mut draft.description).await?;
    if fields.has("again") {
        draft.problems.check(Title::parse("title", &draft.title), context.text());
        let similar = similar_to(&context, &draft.title).await?;
        return page(&context, draft, Some(similar)).await;
    }
    let Some(checked) = draft.check(&context)? else { return page(&context, draft, None).await };
    let next = |cast: VoteCast| landing(&cast.request.slug(), "", "request-created");
    match run_once(&context, &fields, CreateFeatureRequest::new(checked), next).await {
        Ok(reply) => Ok(pictures::tell_linked(reply, &draft.description)),
        Err(error) => match refusal(context.text(), &error) {
            Some(sentence) => {
                let is_track = matches!(error, HttpError::Domain(RoadmapError::NotFound(Resource::Track)));
                draft.problems.add(if is_track { "track" } else { "title" }, sentence);
                page(&context, draft, None).await
            }
            None => {
                let action = PageAction::Submit { title: draft.title, description: draft.description };
                Ok(not_done(&context, &error, &action, PATH.to_owned()))
            }
        },
    }
}

/// Finds similar feature requests, which are public. Without a title nothing is similar.
async fn similar_to(context: &Context, title: &str) -> Result<Vec<Similar>, HttpError> {
    let Ok(title) = Title::parse("title", title) else { return Ok(Vec::new()) };
    let Ok(title) = SearchQuery::parse("title", title.as_str()) else { return Ok(Vec::new()) };
    let requests = context.run(&FindSimilar { title, except: None }).await?;
    let similar = context.run(&ListPublicRequests { requests }).await?;
    let t = context.text();
    Ok(similar.iter().map(|row| Similar::new(t, &row.summary)).collect())
}

impl Similar {
    fn new(t: Text, summary: &FeatureRequestSummary) -> Self {
        Self {
            title: summary.title.as_str().to_owned(),
            path: path(&summary.slug()),
            votes: Counted::votes(t, summary.votes_count),
        }
    }
}

/// Renders the form: 422 if it has problems.
async fn page(context: &Context, draft: Draft, similar: Option<Vec<Similar>>) -> PageResult {
    let (page, counts) = frame_with_counts(context, Entry::Inbox, context.text().get("team-new-title")).await?;
    let has_problem = !draft.problems.is_empty();
    let first = counts.tracks.first().map(|counts| counts.track.id);
    let tracks = track_choices(&counts, draft.track.or(first));
    let page = Page { here: PATH.to_owned(), ..page.with_problem(has_problem) };
    let status = if has_problem { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(Reply::page_with(status, &NewPage { page, draft, tracks, similar }).not_indexed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_page, sample_summary};
    use roadmap_domain::model::portal::Language;

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        for language in Language::ALL {
            let similar = || vec![Similar::new(Text::utc(language), &sample_summary(7, "Dark <mode>", None))];
            for rows in [None, Some(Vec::new()), Some(similar())] {
                let mut draft = Draft { title: "\"".to_owned(), note: "</textarea>".to_owned(), ..Draft::default() };
                if rows.is_none() {
                    for field in ["title", "description", "tags", "track", "email", "name", "note"] {
                        draft.problems.add(field, "Missing.");
                    }
                }
                let tracks = vec![Choice::new("1", "Inbox <b>", "1")];
                let page = sample_page(language, true, "New");
                assert_well_formed(&NewPage { page, draft, tracks, similar: rows }.render().unwrap());
            }
            let page = sample_page(language, true, "");
            let part = SimilarPart { page, rows: similar() }.render().unwrap();
            assert!(part.contains("Dark &#60;mode&#62;") && !part.contains("<form"), "{part}");
        }
    }
}
