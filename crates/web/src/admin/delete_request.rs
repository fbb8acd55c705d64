//! The page that asks before a feature request is deleted.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::feature_request::FeatureRequestDetail;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::usecase::delete_feature_request::DeleteFeatureRequest;
use roadmap_domain::usecase::query::records::{ListLinks, ListNotes, ShowFeatureRequest};
use roadmap_http::error::HttpError;

use crate::admin::request_form::{path, reference};
use crate::admin::{Entry, frame};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::portal::request_links::{Place, place};
use crate::reply::{PageResult, Reply};

#[derive(Template)]
#[template(path = "admin/request-delete.html")]
struct DeletePage {
    page: Page,
    /// The path of the feature request.
    back: String,
    votes: String,
    comments: String,
    notes: String,
    links: String,
    /// The titles of what is merged into it.
    merged: Vec<String>,
    is_fresh: bool,
    problems: Problems,
}

/// `GET /admin/feature_requests/{slug}/delete`: says what goes with it.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let detail = context.run(&ShowFeatureRequest { request: reference(&context) }).await?;
    if place(reference(&context), context.parameter("slug"), &detail) == Place::Merged {
        return Ok(Reply::found(path(&detail.summary.slug())));
    }
    page(&context, &detail, Problems::default()).await
}

/// `POST /admin/feature_requests/{slug}/delete`: the field `with_merged` deletes what is merged into it, too.
pub(crate) async fn delete(context: Rc<Context>, fields: Fields) -> PageResult {
    let operation = DeleteFeatureRequest { request: reference(&context), with_merged: fields.has("with_merged") };
    match run_once(&context, &fields, operation, |_| "/admin?done=request-deleted".to_owned()).await {
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::HasMerged))) => {
            let detail = context.run(&ShowFeatureRequest { request: reference(&context) }).await?;
            let mut problems = Problems::default();
            problems.add("with_merged", context.text().get("team-problem-has-merged"));
            page(&context, &detail, problems).await
        }
        outcome => outcome,
    }
}

async fn page(context: &Context, detail: &FeatureRequestDetail, problems: Problems) -> PageResult {
    let notes = ListNotes { request: reference(context), page: PageRequest::parse(None, Some("1")) };
    let notes = context.run(&notes).await?.total;
    let links = ListLinks { request: reference(context), page: PageRequest::parse(None, Some("1")) };
    let links = context.run(&links).await?.total;
    let t = context.text();
    let page = frame(context, Entry::Inbox, t.named("team-delete-title", detail.summary.title.as_str())).await?;
    let back = path(&detail.summary.slug());
    let has_problem = !problems.is_empty();
    let template = DeletePage {
        page: Page { here: format!("{back}/delete"), ..page.with_problem(has_problem) },
        votes: t.count("votes", detail.summary.votes_count),
        comments: t.count("comments-count", detail.comments_count),
        notes: t.count("team-notes-count", notes),
        links: t.count("team-links-count", links),
        merged: detail.merged.iter().map(|link| link.title.as_str().to_owned()).collect(),
        is_fresh: context.has_fresh_sign_in(),
        back,
        problems,
    };
    let status = if has_problem { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(Reply::page_with(status, &template).not_indexed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use roadmap_domain::model::portal::Language;

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        for language in Language::ALL {
            for (is_fresh, merged, has_problem) in [(true, true, true), (true, false, false), (false, true, false)] {
                let mut problems = Problems::default();
                if has_problem {
                    problems.add("with_merged", "Tick it.");
                }
                let page = sample_page(language, true, "Delete <b>?");
                let html = DeletePage {
                    votes: "3 votes".to_owned(),
                    comments: "1 comment".to_owned(),
                    notes: page.t.count("team-notes-count", 2),
                    links: page.t.count("team-links-count", 0),
                    merged: if merged { vec!["Hot <keys>".to_owned()] } else { Vec::new() },
                    back: "/admin/feature_requests/7-x".to_owned(),
                    page,
                    is_fresh,
                    problems,
                };
                let html = html.render().unwrap();
                assert_well_formed(&html);
                assert_eq!(html.contains("/7-x/delete\""), is_fresh);
                assert_eq!(html.contains("/sign-in?next="), !is_fresh);
            }
        }
    }
}
