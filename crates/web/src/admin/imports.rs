//! Imports: the list with the form for a file, an import from its upload to its undoing, and the files of its report.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use actix_multipart::Multipart;
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use askama::Template;
use futures_util::StreamExt;
use roadmap_domain::error::{Conflict, FieldError, RoadmapError};
use roadmap_domain::model::attachment::Filename;
use roadmap_domain::model::board::Board;
use roadmap_domain::model::id::{AttachmentId, ImportId, parse_uuid};
use roadmap_domain::model::import::run::{Import, ImportState};
use roadmap_domain::model::import::upload::{ImportJob, ImportOptions, Preview, Subscribing, Upload};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::track::Track;
use roadmap_domain::policy::import_tracks::{TrackChoice, choose};
use roadmap_domain::usecase::import::jobs::RequestImport;
use roadmap_domain::usecase::import::uploads::ImportDraft;
use roadmap_domain::usecase::query::files::FindJobFile;
use roadmap_domain::usecase::query::imports::{ListImports, ShowImport, ShownImport};
use roadmap_domain::usecase::query::tracks::ListTracks;
use roadmap_http::error::HttpError;
use roadmap_http::form_part::lenient_headers;
use roadmap_http::upload_form::{FormBeginning, ReceivedFile, hand_on};
use serde_json::Value;

use crate::admin::parts::{Choice, DisplayTime, download_reply};
use crate::admin::{self, Entry, missing_record_as_404, path_id};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::portal::parts::Pager;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the list.
const PATH: &str = "/admin/imports";
/// Number of imports on a page of the list.
const PER_PAGE: &str = "25";
/// The last page of the list.
const MAX_PAGE: u64 = 1_000;
/// How many problems a page shows.
const PROBLEMS: usize = 100;
/// The encodings that can be chosen, besides the detected one: labels of the WHATWG.
const ENCODINGS: [&str; 6] = ["utf-8", "windows-1252", "utf-16le", "iso-8859-15", "windows-1251", "shift_jis"];

#[derive(Template)]
#[template(path = "admin/imports.html")]
struct ListPage {
    page: Page,
    sources: Vec<Choice>,
    name: String,
    max_size: String,
    imports: Vec<ImportRow>,
    pager: Option<Pager>,
    is_fresh: bool,
    problems: Problems,
}

/// An import in the list.
struct ImportRow {
    path: String,
    file: String,
    source: String,
    state: &'static str,
    new: String,
    time: DisplayTime,
}

#[derive(Template)]
#[template(path = "admin/import.html")]
struct ImportPage {
    page: Page,
    path: String,
    facts: String,
    /// How far it is while it runs.
    progress: Option<ShownProgress>,
    report: Option<ShownReport>,
    form: Option<ImportForm>,
    can_continue: bool,
    can_discard: bool,
    can_undo: bool,
    is_fresh: bool,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "admin/import-undo.html")]
struct UndoPage {
    page: Page,
    path: String,
    new: Vec<(&'static str, String)>,
    is_fresh: bool,
    problems: Problems,
}

/// How far an import is.
struct ShownProgress {
    done: u64,
    total: u64,
    text: String,
}

/// What is said about an import.
struct ShownReport {
    is_dry: bool,
    why: Option<String>,
    counts: Vec<CountRow>,
    /// What the votes of the source became.
    votes: Vec<(&'static str, String)>,
    lost: Vec<(String, String)>,
    new_tracks: Vec<String>,
    new_members: Vec<String>,
    problems_count: String,
    problems: Vec<ProblemRow>,
    /// Keys of names, and paths.
    files: Vec<(&'static str, String)>,
    /// Further names of the files of rejected records, and their paths.
    rejected: Vec<(String, String)>,
    /// What undoing it has deleted.
    deleted: Vec<(String, String)>,
    kept: Vec<(String, String)>,
}

/// The records of a kind.
struct CountRow {
    kind: &'static str,
    cells: [String; 7],
}

/// A problem of a record.
struct ProblemRow {
    place: String,
    field: String,
    value: String,
    problem: String,
    action: String,
}

/// How an uploaded file is read, and what it begins with.
struct ImportForm {
    columns: Vec<ColumnRow>,
    lacks_title: bool,
    problem: Option<String>,
    encodings: Vec<Choice>,
    dates: Vec<Choice>,
    subscribe: Vec<Choice>,
    statuses: Vec<StatusRow>,
    updates: bool,
    makes_members: bool,
    records: Vec<RecordRow>,
    is_cut: bool,
}

/// A column of an uploaded table.
struct ColumnRow {
    id: String,
    name: String,
    fields: Vec<Choice>,
}

/// A status for which no track is known.
struct StatusRow {
    id: String,
    name: String,
    tracks: Vec<Choice>,
}

/// A feature request as it will be.
struct RecordRow {
    title: String,
    text: String,
    track: String,
    tags: String,
    author: String,
    created: Option<DisplayTime>,
    is_private: bool,
}

fn state_key(state: ImportState) -> &'static str {
    match state {
        ImportState::Uploaded => "import-state-uploaded",
        ImportState::Running | ImportState::Undoing => "import-state-running",
        ImportState::Stopped => "import-state-stopped",
        ImportState::Failed => "import-state-failed",
        ImportState::Done => "import-state-done",
        ImportState::Undone => "import-state-undone",
    }
}

/// The kinds of records, with the keys of their names.
const KINDS: [(&str, &str); 13] = [
    ("tracks", "import-kind-tracks"),
    ("lanes", "import-kind-lanes"),
    ("members", "import-kind-members"),
    ("customers", "import-kind-customers"),
    ("feature_requests", "import-kind-feature_requests"),
    ("merges", "import-kind-merges"),
    ("votes", "import-kind-votes"),
    ("subscriptions", "import-kind-subscriptions"),
    ("comments", "import-kind-comments"),
    ("notes", "import-kind-notes"),
    ("moves", "import-kind-moves"),
    ("changelogs", "import-kind-changelogs"),
    ("files", "import-kind-files"),
];

/// What can become of a record, in the order of the columns.
const COUNTS: [&str; 7] = ["read", "new", "changed", "unchanged", "kept", "skipped", "rejected"];

fn report_of(import: &Import) -> Value {
    import.report.as_deref().and_then(|report| serde_json::from_str(report).ok()).unwrap_or_default()
}

/// Returns a number of a report.
fn number(report: &Value, pointer: &str) -> i64 {
    report.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the name of the file, or of the source if a command has read it.
fn title_of(import: &Import, source: &str) -> String {
    import.upload.as_ref().map_or_else(|| source.to_owned(), |upload| upload.file_name.clone())
}

/// Returns what people call a program.
fn source_name(context: &Context, source: &str) -> String {
    let known = context.state.imports.inspector().sources().iter().find(|(name, _)| *name == source);
    known.map_or_else(|| context.text().get("import-source-export").into_owned(), |(_, name)| (*name).to_owned())
}

/// `GET /admin/imports`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    render_list(&context, "", "", Problems::default()).await
}

async fn render_list(context: &Context, source: &str, name: &str, problems: Problems) -> PageResult {
    let t = context.text();
    let now = context.state.http.clock.now();
    let request = PageRequest::parse(Some(context.query.get("page")), Some(PER_PAGE));
    let request = request.or_else(|_| PageRequest::parse(None, Some(PER_PAGE))).unwrap_or_default();
    let listing = context.run(&ListImports { page: request }).await?;
    let row = |shown: &ShownImport| {
        let Import { id, began_at, ended_at, .. } = &shown.import;
        let source = source_name(context, &shown.import.source);
        ImportRow {
            path: format!("{PATH}/{id}"),
            file: title_of(&shown.import, &source),
            source: if shown.import.name.as_str() == shown.import.source {
                source
            } else {
                format!("{source} ({})", shown.import.name)
            },
            state: state_key(shown.import.visible_state(now)),
            new: if shown.import.state == ImportState::Uploaded {
                String::new()
            } else {
                t.number(number(&report_of(&shown.import), "/counts/feature_requests/new"))
            },
            time: DisplayTime::minute(t, ended_at.unwrap_or(*began_at)),
        }
    };
    let sources = context.state.imports.inspector().sources().iter();
    let path = |number: u64| if number > 1 { format!("{PATH}?page={number}") } else { PATH.to_owned() };
    let has_problem = !problems.is_empty();
    let page = admin::frame(context, Entry::Import, t.get("admin-import")).await?;
    let template = ListPage {
        page: page.with_problem(has_problem),
        sources: sources.map(|(value, label)| Choice::new(*value, (*label).to_owned(), source)).collect(),
        name: name.to_owned(),
        max_size: size(t, context.state.imports.max_bytes()),
        imports: listing.items.iter().map(row).collect(),
        pager: Pager::new(t, &listing, MAX_PAGE, path),
        is_fresh: context.has_fresh_sign_in(),
        problems,
    };
    Ok(Reply::page_with(status_of(has_problem), &template))
}

fn status_of(has_problem: bool) -> StatusCode {
    if has_problem { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }
}

fn size(t: Text, bytes: u64) -> String {
    match i64::try_from(bytes / 1024 / 1024) {
        Ok(megabytes) if bytes < u64::MAX => t.with("import-max-size", &[("size", t.number(megabytes).into())]),
        _ => String::new(),
    }
}

/// `POST /admin/imports`: takes a file, piece by piece.
pub(crate) async fn upload(context: Rc<Context>, payload: Payload) -> PageResult {
    let t = context.text();
    let body = context.state.http.bodies.upload_body(payload);
    let mut parts = Multipart::new(&lenient_headers(context.request.headers()), body.clone()).fuse();
    let broken = || if body.has_timed_out() { HttpError::BodyTimeout } else { HttpError::MalformedBody };
    let beginning = FormBeginning::read(&mut parts).await.map_err(|_| broken())?;
    let (source, name) = (beginning.get("source").to_owned(), beginning.get("name").to_owned());
    let mut problems = Problems::default();
    let Some((file, file_name)) = beginning.file.map(|(file, name)| (file, name.unwrap_or_default())) else {
        problems.add("file", t.get("import-file-missing"));
        return render_list(&context, &source, &name, problems).await;
    };
    if file_name.is_empty() {
        problems.add("file", t.get("import-file-missing"));
        return render_list(&context, &source, &name, problems).await;
    }
    let draft = ImportDraft {
        source: source.clone(),
        name: Some(name.clone()),
        options: ImportOptions::default(),
        file_name: Filename::sanitize(&file_name).as_str().to_owned(),
    };
    let imports = context.state.imports.clone();
    let taken = match imports.check(context.workspace.id, &draft).await {
        Err(error) => Err(error),
        Ok(()) => {
            body.begin_file();
            let (executor, workspace) = (context.executor(), context.workspace.id);
            let add =
                |mut content: ReceivedFile| async move { imports.add(&executor, workspace, draft, &mut content).await };
            hand_on(file, &context.state.http.detached, add).await.ok_or_else(broken)??
        }
    };
    // The browser reads the answer only when it has sent everything.
    body.drain().await;
    match taken {
        Ok(import) => Ok(Reply::see_other(format!("{PATH}/{}", import.id))),
        Err(error) => match sentence(t, &error) {
            Some((field, sentence)) => {
                problems.add(field, sentence);
                render_list(&context, &source, &name, problems).await
            }
            None => Err(HttpError::Domain(error)),
        },
    }
}

/// Returns the field and the sentence of an error about which somebody can do something.
fn sentence(t: Text, error: &RoadmapError) -> Option<(String, String)> {
    let of_file = |key: &str| Some(("file".to_owned(), t.get(key).into_owned()));
    match error {
        RoadmapError::Invalid(FieldError { field, .. }) if field == "source" => {
            Some(("source".to_owned(), t.get("import-source-missing").into_owned()))
        }
        RoadmapError::Invalid(FieldError { field, .. }) if field == "name" => {
            Some(("name".to_owned(), t.get("import-name-invalid").into_owned()))
        }
        RoadmapError::Invalid(error) if error.problem == too_large() => of_file("import-file-too-large"),
        RoadmapError::Invalid(error) => Some((error.field.clone(), t.problem(error))),
        RoadmapError::OverBudget(_) => of_file("import-storage-full"),
        RoadmapError::Conflict(Conflict::TooManyImports) => of_file("import-too-many"),
        RoadmapError::Conflict(Conflict::ImportRunning) => {
            Some(("import".to_owned(), t.get("import-busy").into_owned()))
        }
        RoadmapError::Conflict(Conflict::ImportNotReady) => {
            Some(("import".to_owned(), t.get("import-not-ready").into_owned()))
        }
        RoadmapError::Conflict(Conflict::ImportNotUndoable) => {
            Some(("import".to_owned(), t.get("import-not-undoable").into_owned()))
        }
        RoadmapError::Conflict(Conflict::ImportNotDiscardable) => {
            Some(("import".to_owned(), t.get("import-not-discardable").into_owned()))
        }
        _ => None,
    }
}

fn too_large() -> roadmap_domain::error::FieldProblem {
    roadmap_domain::usecase::upload_attachment::too_large_file().problem
}

/// `GET /admin/imports/{id}`.
pub(crate) async fn show_one(context: Rc<Context>) -> PageResult {
    let shown = find(&context).await?;
    render(&context, &shown, None, Problems::default()).await
}

async fn find(context: &Context) -> Result<ShownImport, HttpError> {
    let id = path_id(context, ImportId::new)?;
    context.run(&ShowImport { id: Some(id) }).await
}

/// `POST /admin/imports/{id}`: changes how the file is read, tries it out, imports it, goes on, or deletes it.
pub(crate) async fn act(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, shown) = (context.text(), find(&context).await?);
    let (id, workspace) = (shown.import.id, context.workspace.id);
    let path = format!("{PATH}/{id}");
    let (imports, executor) = (context.state.imports.clone(), context.executor());
    let mut problems = Problems::default();
    let job = match fields.get("do") {
        "discard" => {
            let discard = async move { imports.discard(&executor, workspace, id).await };
            return match context.state.http.detached.run(discard).await? {
                Ok(()) | Err(RoadmapError::NotFound(_)) => {
                    Ok(Reply::see_other(format!("{PATH}?done=import-discarded")))
                }
                Err(error) => refused(&context, &shown, error).await,
            };
        }
        "continue" => ImportJob::Run,
        action => {
            let Some(upload) = &shown.import.upload else {
                return refused(&context, &shown, RoadmapError::Conflict(Conflict::ImportNotReady)).await;
            };
            let options = match options_of(t, upload, &fields) {
                Ok(options) => options,
                Err((field, sentence)) => {
                    problems.add(field, sentence);
                    return render(&context, &shown, None, problems).await;
                }
            };
            if options != upload.options || action == "preview" {
                let typed = options.clone();
                let change = async move { imports.change(&executor, workspace, id, typed).await };
                match context.state.http.detached.run(change).await? {
                    Ok(_) => {}
                    Err(RoadmapError::Invalid(error)) => {
                        let (field, sentence) = (error.field.clone(), t.problem(&error));
                        problems.add(if field == "file" { "import".to_owned() } else { field }, sentence);
                        return render(&context, &shown, Some(&options), problems).await;
                    }
                    Err(error) => return refused(&context, &shown, error).await,
                }
            }
            match action {
                "try" => ImportJob::Try,
                "import" => ImportJob::Run,
                _ => return Ok(Reply::see_other(format!("{path}?done=import-previewed#preview"))),
            }
        }
    };
    match run_once(&context, &fields, RequestImport { id, job }, move |_| path.clone()).await {
        Err(HttpError::Domain(error)) => refused(&context, &shown, error).await,
        done => missing_record_as_404(done),
    }
}

async fn refused(context: &Context, shown: &ShownImport, error: RoadmapError) -> PageResult {
    match sentence(context.text(), &error) {
        Some((field, sentence)) => {
            let mut problems = Problems::default();
            problems.add(if field == "file" { "import".to_owned() } else { field }, sentence);
            render(context, shown, None, problems).await
        }
        None => missing_record_as_404(Err(HttpError::Domain(error))),
    }
}

/// Reads how a file is to be read.
fn options_of(t: Text, upload: &Upload, fields: &Fields) -> Result<ImportOptions, (String, String)> {
    let Upload { options: before, preview, .. } = upload;
    let mut map = before.map.clone();
    let mut now: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut chosen = now.clone();
    for (place, column) in preview.columns.iter().enumerate() {
        if let Some(field) = column.field.as_deref() {
            now.entry(field).or_default().insert(&column.name);
        }
        let id = format!("column-{place}");
        // A form has room for so many fields only.
        let kept = column.field.as_deref().unwrap_or_default();
        let field = if fields.has(&id) { fields.get(&id) } else { kept };
        if !field.is_empty() {
            chosen.entry(field).or_default().insert(&column.name);
        }
    }
    if !preview.columns.is_empty() {
        let all: BTreeSet<&str> = now.keys().chain(chosen.keys()).copied().collect();
        for field in all {
            let (was, is) = (now.get(field), chosen.get(field));
            if was == is {
                continue;
            }
            let column = match is.map(|columns| columns.iter().collect::<Vec<_>>()).as_deref() {
                None | Some([]) => "",
                Some([column]) => column,
                Some(_) => {
                    let place =
                        preview.columns.iter().position(|column| is.is_some_and(|is| is.contains(&*column.name)));
                    let field = format!("column-{}", place.unwrap_or_default());
                    return Err((field, t.get("import-field-twice").into_owned()));
                }
            };
            map.insert(field.to_owned(), column.to_owned());
        }
    }
    let mut tracks = before.tracks.clone();
    for (place, status) in preview.statuses.iter().enumerate() {
        let id = format!("status-{place}");
        if fields.has(&id) {
            match fields.get(&id) {
                "" => tracks.remove(status),
                track => tracks.insert(status.clone(), track.to_owned()),
            };
        }
    }
    let some = |name: &str| Some(fields.get(name).trim().to_owned()).filter(|value| !value.is_empty());
    Ok(ImportOptions {
        map,
        tracks,
        encoding: some("encoding"),
        delimiter: before.delimiter.clone(),
        dates: some("dates"),
        subscribe: match fields.get("subscribe") {
            "none" => Subscribing::Nobody,
            "all" => Subscribing::Everybody,
            _ => Subscribing::Keep,
        },
        update: fields.has("update"),
        make_members: fields.has("make_members"),
    })
}

async fn render(
    context: &Context,
    shown: &ShownImport,
    typed: Option<&ImportOptions>,
    problems: Problems,
) -> PageResult {
    let (t, import) = (context.text(), &shown.import);
    let now = context.state.http.clock.now();
    let state = import.visible_state(now);
    let tracks = context.run(&ListTracks).await?;
    let source = source_name(context, &import.source);
    let has_problem = !problems.is_empty();
    let page = admin::frame(context, Entry::Import, title_of(import, &source)).await?.with_problem(has_problem);
    let path = format!("{PATH}/{}", import.id);
    let can_run = import.can_run(now) && state != ImportState::Stopped;
    let fields = context.state.imports.inspector().fields();
    let form = import.upload.as_ref().filter(|_| can_run);
    let time = import.ended_at.unwrap_or(import.began_at);
    let facts = [
        source,
        if import.name.as_str() == import.source { String::new() } else { import.name.to_string() },
        t.get(state_key(state)).into_owned(),
        t.date_time(time),
    ];
    let facts: Vec<_> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    let template = ImportPage {
        page: Page { here: path.clone(), ..page },
        facts: facts.join(" · "),
        progress: (state == ImportState::Running).then(|| progress(t, import)),
        report: (state != ImportState::Running && import.report.is_some()).then(|| report(t, shown, &path)),
        form: form.map(|upload| import_form(t, upload, typed.unwrap_or(&upload.options), fields, &tracks)),
        can_continue: state == ImportState::Stopped && import.can_run(now),
        can_discard: import.can_discard(),
        can_undo: import.can_undo(now) && state != ImportState::Running,
        is_fresh: context.has_fresh_sign_in(),
        path,
        problems,
    };
    Ok(Reply::page_with(status_of(has_problem), &template))
}

fn progress(t: Text, import: &Import) -> ShownProgress {
    let at = &import.progress;
    let kind = KINDS.into_iter().find(|(kind, _)| *kind == at.stage.kind().name()).map_or("", |(_, key)| key);
    let text = match import.job {
        Some(ImportJob::Undo) => t.get("import-undoing").into_owned(),
        _ if import.state == ImportState::Undoing => t.get("import-undoing").into_owned(),
        _ if at.total == 0 => t.get("import-reading").into_owned(),
        _ => {
            let number = |count: u64| t.number(i64::try_from(count).unwrap_or(i64::MAX));
            let kind = t.get(kind);
            let values =
                [("kind", (&*kind).into()), ("done", number(at.position).into()), ("total", number(at.total).into())];
            t.with("import-progress", &values)
        }
    };
    ShownProgress { done: at.position, total: at.total, text }
}

fn report(t: Text, shown: &ShownImport, path: &str) -> ShownReport {
    let report = report_of(&shown.import);
    let count = |pointer: String| t.number(number(&report, &pointer));
    let counts = KINDS.into_iter().filter(|(kind, _)| number(&report, &format!("/counts/{kind}/read")) > 0);
    let counts = counts
        .map(|(kind, key)| CountRow { kind: key, cells: COUNTS.map(|what| count(format!("/counts/{kind}/{what}"))) });
    let votes = ["source", "voters", "nameless", "doubles"];
    let keys = ["import-votes-source", "import-votes-voters", "import-votes-nameless", "import-votes-doubles"];
    let votes = keys.into_iter().zip(votes.map(|what| count(format!("/votes/{what}"))));
    let strings = |pointer: &str| -> Vec<String> {
        list(&report, pointer).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let problem = |problem: &Value| {
        let line = problem.get("line").and_then(Value::as_u64).map_or(String::new(), |line| format!(":{line}"));
        ProblemRow {
            place: format!("{}{line}", text(problem, "file")),
            field: text(problem, "field").to_owned(),
            value: text(problem, "value").to_owned(),
            problem: text(problem, "problem").to_owned(),
            action: t.get(&format!("import-action-{}", text(problem, "action"))).into_owned(),
        }
    };
    let file = |name: &str| shown.files.iter().find(|file| file.name == name);
    let named = [
        ("import-download-report", "report.json"),
        ("import-download-problems", "problems.csv"),
        ("import-download-redirects", "redirects.csv"),
    ];
    let link = |id: AttachmentId| format!("{path}/files/{id}");
    let files = named.into_iter().filter_map(|(key, name)| Some((key, link(file(name)?.file.id))));
    let rejected = shown.files.iter().filter_map(|file| {
        let name = file.name.strip_prefix("rejected/")?;
        Some((name.to_owned(), link(file.file.id)))
    });
    let deleted = report.pointer("/undone/deleted").and_then(Value::as_object);
    let deleted = deleted.into_iter().flatten().filter(|(_, count)| count.as_i64() != Some(0));
    let name_of = |kind: &str| {
        let key = KINDS.into_iter().find(|(of, _)| *of == kind).map(|(_, key)| key);
        key.map_or_else(|| kind.to_owned(), |key| t.get(key).into_owned())
    };
    ShownReport {
        is_dry: report.pointer("/dry_run").and_then(Value::as_bool).unwrap_or_default(),
        why: report.pointer("/why").and_then(Value::as_str).map(str::to_owned),
        counts: counts.collect(),
        votes: if number(&report, "/votes/source") > 0 { votes.collect() } else { Vec::new() },
        lost: list(&report, "/lost")
            .iter()
            .map(|lost| (text(lost, "what").to_owned(), t.number(number(lost, "/count"))))
            .collect(),
        new_tracks: strings("/new_tracks"),
        new_members: strings("/new_members"),
        problems_count: t.count("import-problems-count", number(&report, "/problems")),
        problems: list(&report, "/first_problems").iter().take(PROBLEMS).map(problem).collect(),
        files: files.collect(),
        rejected: rejected.collect(),
        deleted: deleted.map(|(kind, count)| (name_of(kind), t.number(count.as_i64().unwrap_or_default()))).collect(),
        kept: list(&report, "/undone/kept")
            .iter()
            .take(PROBLEMS)
            .map(|kept| (text(kept, "title").to_owned(), text(kept, "url").to_owned()))
            .collect(),
    }
}

fn import_form(
    t: Text,
    upload: &Upload,
    options: &ImportOptions,
    fields: &[&'static str],
    tracks: &[Track],
) -> ImportForm {
    let Preview { columns, statuses, records, is_cut, problem } = &upload.preview;
    let column = |(place, column): (usize, &roadmap_domain::model::import::upload::PreviewColumn)| {
        let is = column.field.as_deref().unwrap_or_default();
        let none = Choice::new("", t.get("import-field-none").into_owned(), is);
        let choice =
            |field: &&'static str| Choice::new(*field, t.get(&format!("import-field-{field}")).into_owned(), is);
        ColumnRow {
            id: format!("column-{place}"),
            name: column.name.clone(),
            fields: std::iter::once(none).chain(fields.iter().map(choice)).collect(),
        }
    };
    let board = Board::new(Vec::new(), tracks.to_vec());
    let track_of = |status: &str| -> Option<String> {
        if let Some(chosen) = options.tracks.get(status) {
            return Some(chosen.clone());
        }
        match choose(status, &[], &board) {
            Some(TrackChoice::Existing(id)) => board.track(id).ok().map(|(track, _)| track.name.to_string()),
            Some(TrackChoice::New(name)) => Some(name.to_string()),
            None => None,
        }
    };
    let is_unknown = |status: &str| !matches!(choose(status, &[], &board), Some(TrackChoice::Existing(_)));
    let status = |(place, status): (usize, &String)| {
        let is = options.tracks.get(status).map(String::as_str).unwrap_or_default();
        let new = Choice::new("", t.named("import-new-track", status), is);
        let choice = |track: &Track| Choice::new(track.name.as_str(), track.name.to_string(), is);
        StatusRow {
            id: format!("status-{place}"),
            name: status.clone(),
            tracks: std::iter::once(new).chain(tracks.iter().map(choice)).collect(),
        }
    };
    let encoding = options.encoding.as_deref().unwrap_or_default();
    let detected = Choice::new("", t.get("import-detected").into_owned(), encoding);
    let mut encodings: Vec<Choice> = std::iter::once(detected)
        .chain(ENCODINGS.into_iter().map(|label| Choice::new(label, label.to_uppercase(), encoding)))
        .collect();
    if !encodings.iter().any(|choice| choice.is_chosen) {
        encodings.push(Choice::new(encoding, encoding.to_uppercase(), encoding));
    }
    let dates = options.dates.as_deref().unwrap_or_default();
    let order = [("", "import-dates-detected"), ("dmy", "import-dates-dmy"), ("mdy", "import-dates-mdy")];
    let subscribe = match options.subscribe {
        Subscribing::Keep => "keep",
        Subscribing::Nobody => "none",
        Subscribing::Everybody => "all",
    };
    let subscriptions =
        [("keep", "import-subscribe-keep"), ("none", "import-subscribe-none"), ("all", "import-subscribe-all")];
    let chosen = |choices: &[(&'static str, &'static str)], is: &str| -> Vec<Choice> {
        choices.iter().map(|(value, key)| Choice::new(*value, t.get(key).into_owned(), is)).collect()
    };
    let record = |record: &roadmap_domain::model::import::upload::PreviewRecord| RecordRow {
        title: record.title.clone(),
        text: record.text.clone(),
        track: track_of(&record.status).unwrap_or_default(),
        tags: record.tags.join(", "),
        author: record.author.clone(),
        created: record.created_at.as_deref().and_then(Timestamp::parse).map(|at| DisplayTime::short_day(t, at)),
        is_private: record.is_private,
    };
    ImportForm {
        lacks_title: !columns.is_empty() && !columns.iter().any(|column| column.field.as_deref() == Some("title")),
        columns: columns.iter().enumerate().map(column).collect(),
        problem: problem.clone(),
        encodings,
        dates: chosen(&order, dates),
        subscribe: chosen(&subscriptions, subscribe),
        statuses: statuses.iter().enumerate().filter(|(_, status)| is_unknown(status)).map(status).collect(),
        updates: options.update,
        makes_members: options.make_members,
        records: records.iter().map(record).collect(),
        is_cut: *is_cut,
    }
}

/// `GET /admin/imports/{id}/undo`: says what goes.
pub(crate) async fn ask_undo(context: Rc<Context>) -> PageResult {
    let shown = find(&context).await?;
    render_undo(&context, &shown, Problems::default()).await
}

/// `POST /admin/imports/{id}/undo`.
pub(crate) async fn undo(context: Rc<Context>, fields: Fields) -> PageResult {
    let shown = find(&context).await?;
    let id = shown.import.id;
    let path = format!("{PATH}/{id}");
    match run_once(&context, &fields, RequestImport { id, job: ImportJob::Undo }, move |_| path.clone()).await {
        Err(HttpError::Domain(error)) => match sentence(context.text(), &error) {
            Some((_, sentence)) => {
                let mut problems = Problems::default();
                problems.add("undo", sentence);
                render_undo(&context, &shown, problems).await
            }
            None => missing_record_as_404(Err(HttpError::Domain(error))),
        },
        done => done,
    }
}

async fn render_undo(context: &Context, shown: &ShownImport, problems: Problems) -> PageResult {
    let (t, import) = (context.text(), &shown.import);
    let report = report_of(import);
    let new = KINDS.into_iter().filter_map(|(kind, key)| {
        let new = number(&report, &format!("/counts/{kind}/new"));
        (new > 0).then(|| (key, t.number(new)))
    });
    let has_problem = !problems.is_empty();
    let title = t.named("import-undo-title", &title_of(import, &source_name(context, &import.source)));
    let page = admin::frame(context, Entry::Import, title).await?.with_problem(has_problem);
    let path = format!("{PATH}/{}", import.id);
    let template = UndoPage {
        page: Page { here: format!("{path}/undo"), ..page },
        new: new.collect(),
        is_fresh: context.has_fresh_sign_in(),
        path,
        problems,
    };
    Ok(Reply::page_with(status_of(has_problem), &template))
}

/// `GET /admin/imports/{id}/files/{file}`.
pub(crate) async fn download(context: Rc<Context>) -> PageResult {
    let shown = find(&context).await?;
    let id = parse_uuid("file", context.parameter("file")).map(AttachmentId::new).map_err(|_| HttpError::NotFound)?;
    if !shown.files.iter().any(|file| file.file.id == id) {
        return Err(HttpError::NotFound);
    }
    download_reply(&context.run(&FindJobFile { file: id }).await?).await
}
