//! The page that asks into which of the selected feature requests the others are merged.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::admin::{InboxFilter, InboxRow, MergePreview, Selection, Triage};
use roadmap_domain::model::id::{FeatureRequestId, parse_uuid};
use roadmap_domain::usecase::query::admin::{ListInboxRows, PreviewMerge};
use roadmap_http::error::HttpError;

use super::{Address, run, selected};
use crate::admin::{Entry, frame};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The ID of the first radio button, to which problems of the target lead.
const FIRST: &str = "target-1";

#[derive(Template)]
#[template(path = "admin/merge-selected.html")]
struct MergePage {
    page: Page,
    problems: Problems,
    rows: Vec<MergeRow>,
    /// What will be counted.
    counted: String,
    /// Whether private ones may become part of a public one.
    has_private: bool,
    /// The path of the list.
    next: String,
}

/// A feature request that is to be merged, or into which the others are merged.
struct MergeRow {
    id: String,
    title: String,
    number: String,
    votes: String,
    is_private: bool,
    is_chosen: bool,
}

/// Returns the path of the page for a selection.
pub(super) fn path(address: &Address, requests: &[FeatureRequestId]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(requests.iter().map(|request| ("id", request.to_string())));
    query.append_pair("next", &address.path());
    format!("/admin/merge?{}", query.finish())
}

/// `GET /admin/merge`.
pub(crate) async fn ask_merge(context: Rc<Context>) -> PageResult {
    let address = Address::of_path(context.query.get("next"));
    render(&context, &address, selected(&context.query), None, Problems::default()).await
}

/// `POST /admin/triage` of this page.
pub(super) async fn merge(context: &Context, fields: &Fields, address: &Address) -> PageResult {
    let (t, ids) = (context.text(), selected(fields));
    let mut problems = Problems::default();
    let target = parse_uuid("target", fields.get("target")).map(FeatureRequestId::new).ok();
    let target = target.filter(|target| ids.contains(target));
    let sources = ids.iter().copied().filter(|id| Some(*id) != target).collect();
    match (target, Selection::new("id", sources)) {
        (Some(target), Ok(selection)) => {
            match run(context, fields, address, selection, &Triage::MergeInto(target)).await {
                Ok(reply) => return Ok(reply),
                Err(error) => {
                    let rows = load(context, ids.clone()).await?;
                    problems.add(FIRST, t.get(problem(&rows, target, error)?));
                }
            }
        }
        _ => problems.add(FIRST, t.get("inbox-problem-target")),
    }
    render(context, address, ids, target, problems).await
}

/// Returns the key of the sentence about a merge that is not possible.
///
/// # Errors
/// There is nothing that the person can do about it.
fn problem(rows: &[InboxRow], target: FeatureRequestId, error: HttpError) -> Result<&'static str, HttpError> {
    match error {
        HttpError::Domain(RoadmapError::Conflict(Conflict::AlreadyMerged)) => Ok("inbox-problem-already-merged"),
        HttpError::Domain(RoadmapError::NotFound(_)) => Ok("inbox-problem-target-gone"),
        HttpError::Domain(RoadmapError::Invalid(_)) => {
            let is_private = rows.iter().any(|row| row.summary.id == target && row.private);
            let has_public = rows.iter().any(|row| !row.private);
            Ok(if is_private && has_public { "inbox-problem-private-target" } else { "inbox-problem-not-mergeable" })
        }
        error => Err(error),
    }
}

/// Loads the selected feature requests that are not merged.
async fn load(context: &Context, requests: Vec<FeatureRequestId>) -> Result<Vec<InboxRow>, HttpError> {
    context.run(&ListInboxRows { filter: InboxFilter::default(), requests }).await
}

async fn render(
    context: &Context,
    address: &Address,
    ids: Vec<FeatureRequestId>,
    target: Option<FeatureRequestId>,
    problems: Problems,
) -> PageResult {
    let t = context.text();
    let page = frame(context, Entry::Inbox, t.get("inbox-merge-title")).await?;
    let rows = match Selection::new("id", ids) {
        Ok(selection) => load(context, selection.requests().to_vec()).await?,
        Err(_) => Vec::new(),
    };
    let preview = match rows.as_slice() {
        [one, other] => Some(context.run(&PreviewMerge { source: one.summary.id, target: other.summary.id }).await?),
        _ => None,
    };
    let target = target.or_else(|| suggested(&rows));
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let ids: Vec<FeatureRequestId> = rows.iter().map(|row| row.summary.id).collect();
    let template = MergePage {
        page: Page { here: path(address, &ids), ..page.with_problem(!problems.is_empty()) },
        problems,
        counted: counted(t, preview.as_ref()),
        has_private: rows.iter().any(|row| row.private) && rows.iter().any(|row| !row.private),
        rows: rows.iter().map(|row| MergeRow::new(t, row, target)).collect(),
        next: address.path(),
    };
    Ok(Reply::page_with(status, &template))
}

/// Returns the most voted one. A private one only if all are: no public one can become part of it.
fn suggested(rows: &[InboxRow]) -> Option<FeatureRequestId> {
    let best = rows.iter().max_by_key(|row| (!row.private, row.summary.votes_count, -row.summary.tag_number));
    best.map(|row| row.summary.id)
}

/// Returns what will be counted, in words.
fn counted(t: Text, preview: Option<&MergePreview>) -> String {
    let Some(MergePreview { source, target, votes_count }) = preview else {
        return t.get("inbox-merge-counts-once").into_owned();
    };
    let twice = source.summary.votes_count + target.summary.votes_count - votes_count;
    let together = t.count("inbox-merge-together", *votes_count);
    if twice > 0 { format!("{together} {}", t.count("inbox-merge-twice", twice)) } else { together }
}

impl MergeRow {
    fn new(t: Text, row: &InboxRow, target: Option<FeatureRequestId>) -> Self {
        let summary = &row.summary;
        Self {
            id: summary.id.to_string(),
            title: summary.title.as_str().to_owned(),
            number: summary.tag_number.to_string(),
            votes: t.count("votes", summary.votes_count),
            is_private: row.private,
            is_chosen: target == Some(summary.id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::inbox::tests::sample_row;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use roadmap_domain::error::{FieldError, FieldProblem, Resource};
    use roadmap_domain::model::portal::Language;

    const ENGLISH: Text = Text::utc(Language::English);

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        for language in Language::ALL {
            let t = Text::utc(language);
            for (count, problem) in [(0, None), (2, None), (3, Some("inbox-problem-target"))] {
                let rows: Vec<InboxRow> = (1..=count).map(|number| sample_row(number, number == 1)).collect();
                let mut problems = Problems::default();
                if let Some(key) = problem {
                    problems.add(FIRST, t.get(key));
                }
                let target = suggested(&rows);
                let html = MergePage {
                    page: sample_page(language, true, &t.get("inbox-merge-title")),
                    problems,
                    rows: rows.iter().map(|row| MergeRow::new(t, row, target)).collect(),
                    counted: counted(t, None),
                    has_private: true,
                    next: "/admin?tag=a&sort=votes".to_owned(),
                };
                let html = html.render().unwrap();
                assert_well_formed(&html);
                assert_eq!(html.matches(" checked").count(), usize::from(count > 0), "{html}");
                assert_eq!(html.matches("aria-invalid").count(), usize::from(problem.is_some()), "{html}");
            }
        }
    }

    #[test]
    fn the_most_voted_one_is_suggested_and_a_private_one_only_among_private_ones() {
        let id = |number: i64| Some(sample_row(number, false).summary.id);
        let rows = |rows: &[(i64, bool)]| -> Option<FeatureRequestId> {
            suggested(&rows.iter().map(|(number, private)| sample_row(*number, *private)).collect::<Vec<_>>())
        };
        assert_eq!(rows(&[(1, false), (3, false), (2, false)]), id(3));
        assert_eq!(rows(&[(1, false), (3, true), (2, false)]), id(2));
        assert_eq!(rows(&[(1, true), (3, true)]), id(3));
        assert_eq!(rows(&[]), None);
    }

    #[test]
    fn customers_who_voted_for_both_are_named() {
        let preview =
            |votes_count| MergePreview { source: sample_row(3, false), target: sample_row(4, false), votes_count };
        assert_eq!(counted(ENGLISH, Some(&preview(7))), "Together they have 7 votes.");
        let both = "Together they have 5 votes. 2 customers voted for both and count once.";
        assert_eq!(counted(ENGLISH, Some(&preview(5))), both);
        assert_eq!(counted(ENGLISH, None), "Each customer counts once, also who voted for several of them.");
    }

    #[test]
    fn a_merge_that_is_not_possible_is_explained() {
        let (public, private) = (sample_row(1, false), sample_row(2, true));
        let rows = [public.clone(), private.clone()];
        let invalid = || {
            let message = "any";
            HttpError::Domain(FieldError::new("target_id", FieldProblem::Custom { message }).into())
        };
        let key = |target: &InboxRow, error| problem(&rows, target.summary.id, error).unwrap();
        assert_eq!(key(&private, invalid()), "inbox-problem-private-target");
        assert_eq!(key(&public, invalid()), "inbox-problem-not-mergeable");
        let gone = HttpError::Domain(RoadmapError::NotFound(Resource::FeatureRequest));
        assert_eq!(key(&public, gone), "inbox-problem-target-gone");
        let elsewhere = HttpError::Domain(RoadmapError::Conflict(Conflict::AlreadyMerged));
        assert_eq!(key(&public, elsewhere), "inbox-problem-already-merged");
        assert!(problem(&rows, public.summary.id, HttpError::Forbidden).is_err());
    }
}
