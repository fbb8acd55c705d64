//! The page that asks before the selected feature requests are deleted.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::admin::{InboxFilter, InboxRow, Selection, Triage};
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::usecase::query::admin::ListInboxRows;
use roadmap_http::error::HttpError;

use super::{Address, run, selected};
use crate::admin::{Entry, frame};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

#[derive(Template)]
#[template(path = "admin/delete-selected.html")]
struct DeletePage {
    page: Page,
    problems: Problems,
    rows: Vec<DeleteRow>,
    is_fresh: bool,
    /// The path of the list.
    next: String,
}

/// A feature request that is to be deleted.
struct DeleteRow {
    id: String,
    title: String,
    number: String,
    votes: String,
    comments: String,
}

impl DeleteRow {
    fn new(t: Text, row: &InboxRow) -> Self {
        Self {
            id: row.summary.id.to_string(),
            title: row.summary.title.as_str().to_owned(),
            number: row.summary.tag_number.to_string(),
            votes: t.count("votes", row.summary.votes_count),
            comments: t.count("comments-count", row.comments_count),
        }
    }
}

/// Returns the path of the page for a selection.
pub(super) fn path(address: &Address, requests: &[FeatureRequestId]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(requests.iter().map(|request| ("id", request.to_string())));
    query.append_pair("next", &address.path());
    format!("/admin/delete?{}", query.finish())
}

/// `GET /admin/delete`.
pub(crate) async fn ask_delete(context: Rc<Context>) -> PageResult {
    let address = Address::of_path(context.query.get("next"));
    render(&context, &address, selected(&context.query), Problems::default()).await
}

/// `POST /admin/delete`.
pub(crate) async fn delete(context: Rc<Context>, fields: Fields) -> PageResult {
    let (address, ids) = (Address::of_path(fields.get("next")), selected(&fields));
    let mut problems = Problems::default();
    let Ok(selection) = Selection::new("id", ids.clone()) else {
        return render(&context, &address, ids, problems).await;
    };
    match run(&context, &fields, &address, selection, &Triage::Delete).await {
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::HasMerged))) => {
            problems.add("main", context.text().get("inbox-problem-has-merged"));
            render(&context, &address, ids, problems).await
        }
        outcome => outcome,
    }
}

async fn render(context: &Context, address: &Address, ids: Vec<FeatureRequestId>, problems: Problems) -> PageResult {
    let t = context.text();
    let rows = match Selection::new("id", ids) {
        Ok(selection) => {
            let requests = selection.requests().to_vec();
            context.run(&ListInboxRows { filter: InboxFilter::default(), requests }).await?
        }
        Err(_) => Vec::new(),
    };
    let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let page = frame(context, Entry::Inbox, t.count("inbox-delete-title", count)).await?;
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let ids: Vec<FeatureRequestId> = rows.iter().map(|row| row.summary.id).collect();
    let template = DeletePage {
        page: Page { here: path(address, &ids), ..page.with_problem(!problems.is_empty()) },
        problems,
        rows: rows.iter().map(|row| DeleteRow::new(t, row)).collect(),
        is_fresh: context.has_fresh_sign_in(),
        next: address.path(),
    };
    Ok(Reply::page_with(status, &template))
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample_row;
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use roadmap_domain::model::portal::Language;

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        for language in Language::ALL {
            let t = Text::utc(language);
            for (count, is_fresh) in [(0, true), (1, true), (3, false), (3, true)] {
                let rows: Vec<DeleteRow> =
                    (1..=count).map(|number| DeleteRow::new(t, &sample_row(number, false))).collect();
                let mut problems = Problems::default();
                if count == 3 {
                    problems.add("main", "One has <merged> ones.");
                }
                let page = sample_page(language, true, &t.count("inbox-delete-title", count));
                let next = "/admin?state=private".to_owned();
                let html = DeletePage { page, problems, rows, is_fresh, next }.render().unwrap();
                assert_well_formed(&html);
                assert_eq!(html.contains("action=\"/admin/delete\""), count > 0 && is_fresh, "{html}");
            }
        }
    }
}
