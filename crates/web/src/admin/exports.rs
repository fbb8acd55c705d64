//! Exports of the workspace: creating and downloading them.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::export::ExportOptions;
use roadmap_domain::model::export::run::{ExportRun, ExportState};
use roadmap_domain::model::id::ExportId;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::usecase::export_jobs::RequestExport;
use roadmap_domain::usecase::query::exports::{ListExports, ListedExport, ShowExport};
use roadmap_domain::usecase::query::files::FindJobFile;
use roadmap_http::error::HttpError;

use crate::admin::parts::{DisplayTime, download_reply, file_size};
use crate::admin::{self, Entry, missing_record_as_404, path_id};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the page.
const PATH: &str = "/admin/exports";
/// Number of exports that are listed.
const LISTED: u64 = 100;

#[derive(Template)]
#[template(path = "admin/exports.html")]
struct ExportsPage {
    page: Page,
    exports: Vec<ExportRow>,
    /// Whether one is being written, so that the page refreshes itself.
    is_running: bool,
    is_fresh: bool,
    /// What was ticked for a new export.
    without_people: bool,
    without_notes: bool,
    problems: Problems,
}

/// An export in the list.
#[derive(Debug, PartialEq, Eq)]
struct ExportRow {
    id: String,
    created: DisplayTime,
    /// The keys of what it is without.
    without: Vec<&'static str>,
    size: Option<String>,
    /// The key of its state.
    state: &'static str,
    /// Where its file is.
    download: Option<String>,
}

impl ExportRow {
    fn new(t: Text, ListedExport { run, file }: &ListedExport) -> Self {
        let ExportOptions { without_people, without_notes } = run.options;
        Self {
            id: run.id.to_string(),
            created: DisplayTime::minute(t, run.created_at),
            without: [(without_people, "export-without-people"), (without_notes, "export-without-notes")]
                .into_iter()
                .filter_map(|(is_without, key)| is_without.then_some(key))
                .collect(),
            size: file.as_ref().map(|file| file_size(t, file.byte_size)),
            state: match run.state {
                ExportState::Running => "export-running",
                ExportState::Done => "export-done",
                ExportState::Failed => "export-failed",
            },
            download: file.as_ref().map(|_| format!("{PATH}/{}/file", run.id)),
        }
    }
}

/// `GET /admin/exports`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    render(&context, &Fields::default(), Problems::default()).await
}

/// `POST /admin/exports`: asks for an export.
pub(crate) async fn create(context: Rc<Context>, fields: Fields) -> PageResult {
    let options =
        ExportOptions { without_people: fields.has("without_people"), without_notes: fields.has("without_notes") };
    let landing = |_: ExportRun| format!("{PATH}?done=export-created");
    match run_once(&context, &fields, RequestExport { options }, landing).await {
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::ExportRunning))) => {
            let mut problems = Problems::default();
            problems.add("exports", context.text().get("export-running-already"));
            render(&context, &fields, problems).await
        }
        done => done,
    }
}

/// `GET /admin/exports/{id}/file`: downloads an export.
pub(crate) async fn download(context: Rc<Context>) -> PageResult {
    missing_record_as_404(file(&context).await)
}

async fn file(context: &Context) -> PageResult {
    let export = path_id(context, ExportId::new)?;
    let ListedExport { file, .. } = context.run(&ShowExport { export: Some(export) }).await?;
    let file = file.ok_or(HttpError::NotFound)?;
    download_reply(&context.run(&FindJobFile { file: file.id }).await?).await
}

async fn render(context: &Context, form: &Fields, problems: Problems) -> PageResult {
    let exports = context.run(&ListExports { page: PageRequest::first(LISTED) }).await?.items;
    let page = admin::frame(context, Entry::Exports, context.text().get("admin-exports")).await?;
    let page = Page { here: PATH.to_owned(), ..page.with_problem(!problems.is_empty()) };
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::CONFLICT };
    Ok(Reply::page_with(status, &ExportsPage::new(page, &exports, form, problems, context.has_fresh_sign_in())))
}

impl ExportsPage {
    fn new(page: Page, exports: &[ListedExport], form: &Fields, problems: Problems, is_fresh: bool) -> Self {
        let t = page.t;
        Self {
            page,
            exports: exports.iter().map(|export| ExportRow::new(t, export)).collect(),
            is_running: exports.iter().any(|export| export.run.state == ExportState::Running),
            is_fresh,
            without_people: form.has("without_people"),
            without_notes: form.has("without_notes"),
            problems,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::timestamp::Timestamp;
    use uuid::Uuid;

    fn export(number: u128, state: ExportState) -> ListedExport {
        let at = Timestamp::from_millis(1_700_000_000_000).unwrap();
        let options = ExportOptions { without_people: number == 2, without_notes: number > 1 };
        let id = ExportId::new(Uuid::from_u128(number));
        let run = ExportRun { id, state, options, holder: Uuid::nil(), created_at: at, seen_at: at, ended_at: None };
        ListedExport { run, file: None }
    }

    #[test]
    fn all_pages_are_well_formed() {
        let with_problem = || {
            let mut problems = Problems::default();
            problems.add("exports", "A sentence.");
            problems
        };
        for language in Language::ALL {
            let all = [ExportState::Running, ExportState::Failed, ExportState::Done];
            let all: Vec<_> = all.into_iter().zip(1..).map(|(state, number)| export(number, state)).collect();
            for (exports, is_running) in [(&all[..0], false), (&all[1..], false), (&all[..], true)] {
                for (problems, is_fresh) in
                    [(Problems::default(), true), (Problems::default(), false), (with_problem(), true)]
                {
                    let page = sample_page(language, true, "Export");
                    let list =
                        ExportsPage::new(page, exports, &Fields::parse(b"without_people=on"), problems, is_fresh);
                    assert_eq!((list.is_running, list.without_people, list.without_notes), (is_running, true, false));
                    let html = list.render().unwrap();
                    assert_well_formed(&html);
                    assert_eq!(html.contains("data-reload"), is_running);
                    assert_eq!(html.contains("action=\"/admin/exports\""), is_fresh);
                }
            }
        }
    }

    #[test]
    fn an_export_says_what_it_is_without() {
        let row = |number, state| ExportRow::new(Text::utc(Language::English), &export(number, state));
        assert_eq!(row(1, ExportState::Running).without, [""; 0]);
        assert_eq!(row(2, ExportState::Failed).without, ["export-without-people", "export-without-notes"]);
        assert_eq!(row(3, ExportState::Done).without, ["export-without-notes"]);
    }
}
