//! The form for an idea, in two steps: first the title, then similar feature requests and the rest.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::markdown;
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::model::sign_in::PageAction;
use roadmap_domain::usecase::query::portal::{FindSimilar, ListSimilar};
use roadmap_http::error::HttpError;

use crate::actions::{act, check, check_honeypot, keep, multiline_text, read_email};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::page::{Nav, Page, encoded};
use crate::pictures;
use crate::portal::parts::{Row, Statuses, place_notice};
use crate::reply::{PageResult, Reply};

/// The path of the form.
const PATH: &str = "/feature_requests/new";

/// The form.
#[derive(Template)]
#[template(path = "portal/idea.html")]
struct IdeaPage {
    page: Page,
    /// What the form asks.
    question: String,
    draft: Draft,
    /// Similar feature requests. `None` in the first step.
    similar: Option<Vec<Row>>,
}

/// The similar feature requests alone, as a part of the form.
#[derive(Template)]
#[template(path = "portal/similar.html")]
struct SimilarPart {
    page: Page,
    rows: Vec<Row>,
}

/// An idea as it was typed.
#[derive(Debug, Clone, Default)]
struct Draft {
    title: String,
    description: String,
    email: String,
    problems: Problems,
}

/// `GET /feature_requests/new`: asks for the title, and with a title for the rest.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let mut draft = Draft { title: context.query.get("title").to_owned(), ..Draft::default() };
    if !context.query.has("title") {
        return Ok(page(&context, draft, None));
    }
    match draft.problems.check(Title::parse("title", &draft.title), context.text()) {
        Some(title) => {
            let similar = similar_to(&context, title.as_str()).await?;
            Ok(page(&context, draft, Some(similar)))
        }
        None => Ok(page(&context, draft, None)),
    }
}

/// `GET /feature_requests/similar?title=`: the similar feature requests as a part of the form.
pub(crate) async fn similar(context: Rc<Context>) -> PageResult {
    let title = context.query.get("title");
    let rows = match Title::parse("title", title) {
        Ok(title) => similar_to(&context, title.as_str()).await?,
        Err(_) => Vec::new(),
    };
    let page = Page { here: here(title), ..Page::new(&context, Nav::Requests, String::new()) };
    Ok(Reply::page(&SimilarPart { page, rows }).not_indexed())
}

/// `POST /feature_requests/new`: submits the idea, or looks again for similar ones.
pub(crate) async fn submit(context: Rc<Context>, fields: Fields) -> PageResult {
    let text = context.text();
    let mut draft = Draft {
        title: multiline_text(&fields, "title"),
        description: multiline_text(&fields, "description"),
        email: fields.get("email").to_owned(),
        problems: Problems::default(),
    };
    draft.problems.check(Title::parse("title", &draft.title), text);
    pictures::append(&context, &fields, &mut draft.problems, &mut draft.description).await?;
    if fields.has("again") {
        return Ok(second_step(&context, draft).await);
    }
    draft.problems.check(markdown::to_optional_html("description", &draft.description), text);
    let action = PageAction::Submit { title: draft.title.clone(), description: draft.description.clone() };
    if draft.problems.is_empty() {
        draft.problems.check(check(&action, context.session.is_none()), text);
    }
    if let Some(session) = context.session.as_deref() {
        return match draft.problems.is_empty() {
            true => {
                let reply = act(&context, session, action, &fields, "/feature_requests".to_owned()).await;
                reply.map(|reply| pictures::tell_linked(reply, &draft.description))
            }
            false => Ok(second_step(&context, draft).await),
        };
    }
    check_honeypot(&context, &fields, &mut draft.problems);
    match (read_email(&context, &fields, &mut draft.problems), draft.problems.is_empty()) {
        (Some(email), true) => keep(&context, email, Some(action), None).await,
        _ => Ok(second_step(&context, draft).await),
    }
}

/// Shows the second step again. Without a valid title nothing is similar.
async fn second_step(context: &Context, draft: Draft) -> Reply {
    let similar = match Title::parse("title", &draft.title) {
        Ok(title) => similar_to(context, title.as_str()).await.unwrap_or_else(|error| {
            // What was typed matters more than what is similar.
            tracing::warn!(%error, "similar feature requests could not be found");
            Vec::new()
        }),
        Err(_) => Vec::new(),
    };
    page(context, draft, Some(similar))
}

async fn similar_to(context: &Context, title: &str) -> Result<Vec<Row>, HttpError> {
    let similar = FindSimilar { title: SearchQuery::parse("title", title)?, except: None };
    let similar = context.run(&ListSimilar { similar, viewer: context.viewer() }).await?;
    if similar.rows.is_empty() {
        return Ok(Vec::new());
    }
    let statuses = Statuses::load(context).await?;
    Ok(similar.rows.iter().map(|row| Row::new(&statuses, &similar.voted, row, false)).collect())
}

/// Renders the form: 422 if it has problems.
fn page(context: &Context, draft: Draft, mut similar: Option<Vec<Row>>) -> Reply {
    let (text, has_problem) = (context.text(), !draft.problems.is_empty());
    let page = Page::new(context, Nav::Requests, text.get("idea-title")).with_problem(has_problem);
    let mut page = match similar.is_some() || has_problem {
        true => Page { here: here(&draft.title), ..page.not_indexed() },
        false => page.canonical(PATH),
    };
    place_notice(&mut page, context, similar.as_deref_mut().unwrap_or_default());
    let status = if has_problem { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let question = context.portal.settings.form_question.get(context.language);
    let question = question.map_or_else(|| text.get("idea-lead").into_owned(), ToOwned::to_owned);
    let reply = Reply::page_with(status, &IdeaPage { page, question, draft, similar });
    if has_problem { reply.not_indexed() } else { reply }
}

/// Returns the path of the second step.
fn here(title: &str) -> String {
    format!("{PATH}?title={}", encoded(title))
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::sign_in::LocalPath;

    #[test]
    fn votes_for_similar_ones_lead_back_to_the_second_step() {
        let path = here("Dark & \"light\" mode ä?");
        assert_eq!(path, "/feature_requests/new?title=Dark+%26+%22light%22+mode+%C3%A4%3F");
        assert!(LocalPath::parse(&path).is_some());
    }
}
