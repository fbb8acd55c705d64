//! Changelogs: the list, the form, and the page that asks before one is deleted.
//!
//! The form is one form. The value of its button says what is done with what was typed ([`Action`]). Saving and publishing
//! are one unit of work ([`SaveChangelog`], [`CreateAndNotify`]), so that a mail that cannot be sent leaves nothing half done.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Budget, Conflict, FieldError, OverBudget, Resource, RoadmapError, Validated};
use roadmap_domain::model::admin::{Fingerprint, InboxRow};
use roadmap_domain::model::audit::{AuditFilter, AuditPage, parse_time};
use roadmap_domain::model::changelog::{
    self, Changelog, ChangelogChange, ChangelogDetail, ChangelogDraft, ChangelogState, MAX_LINKED, Publication,
};
use roadmap_domain::model::feature_request::{FeatureRequestSummary, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{ChangelogId, FeatureRequestId, parse_uuid};
use roadmap_domain::model::markdown;
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::change_changelog::{
    ChangelogChanged, DeleteChangelog, EditChangelog, EditUnchangedChangelog, PublishChangelog, UnpublishChangelog,
};
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::query::admin::{CountSubscribers, IsChangelogNotified, ListInbox};
use roadmap_domain::usecase::query::audit::ListAuditEntries;
use roadmap_domain::usecase::query::changelogs::{ListChangelogs, ShowChangelog};
use roadmap_domain::usecase::query::portal::ListPublicRequests;
use roadmap_domain::usecase::save_changelog::{CreateAndNotify, SaveChangelog, ThenPublish};
use roadmap_http::error::HttpError;

use crate::actions::typed_text;
use crate::admin::image_field::{ImageField, ImageView};
use crate::admin::{self, Entry};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::page::{Nav, Page};
use crate::portal::changelogs;
use crate::portal::parts::{Counted, Pager};
use crate::prose;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

pub(crate) use crate::admin::image_field::show as cover;

/// The path of the list.
const PATH: &str = "/admin/changelogs";
/// The path of the form for a new one.
const NEW_PATH: &str = "/admin/changelogs/new";
/// The last page of the list.
const MAX_PAGE: u64 = 10_000;
/// Largest cover in bytes.
const MAX_COVER: usize = 5_000_000;
/// Maximum number of results of a search for feature requests.
const MAX_FOUND: usize = 20;

#[derive(Template)]
#[template(path = "admin/changelogs.html")]
struct ListTemplate {
    page: Page,
    rows: Vec<Row>,
    /// Whether there is no changelog at all.
    is_empty: bool,
    pager: Option<Pager>,
}

/// A changelog in the list.
struct Row {
    title: String,
    path: String,
    state: State,
}

#[derive(Template)]
#[template(path = "admin/changelog.html")]
struct FormTemplate {
    page: Page,
    /// The path of the form.
    action: String,
    /// The state of the changelog. `None` for a new one.
    state: Option<State>,
    typed: Typed,
    cover: ImageView,
    /// The feature requests that are linked, or were offered before.
    linked: Vec<Linkable>,
    /// Further ones that a search has found.
    found: Option<Vec<Linkable>>,
    /// How many people a mail would reach.
    people: String,
    /// Whether voters were mailed.
    is_mailed: bool,
    /// The current time in words.
    now: String,
    /// The content as HTML, if a preview was asked for.
    preview: Option<String>,
    /// What is stored, if somebody else has changed it.
    conflict: Option<Stored>,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "admin/changelog-delete.html")]
struct DeleteTemplate {
    page: Page,
    path: String,
    is_published: bool,
}

/// A point in time.
struct Moment {
    words: String,
    machine: String,
}

impl Moment {
    fn new(t: Text, at: Timestamp) -> Self {
        Self { words: t.date_time(at), machine: at.to_string() }
    }
}

/// The state of a changelog in words.
struct State {
    name: String,
    /// What the time means.
    label: String,
    at: Moment,
    /// The path on the portal, if it is published.
    portal: Option<String>,
}

impl State {
    fn new(t: Text, changelog: &Changelog, now: Timestamp) -> Self {
        let state = changelog.state(now);
        let (name, label, at) = match state {
            ChangelogState::Draft => ("changelog-draft", "changelog-changed-on", changelog.updated_at),
            ChangelogState::Scheduled(at) => ("changelog-scheduled", "changelog-public-from", at),
            ChangelogState::Published(at) => ("changelog-published", "changelog-public-since", at),
        };
        let is_published = matches!(state, ChangelogState::Published(_));
        Self {
            name: t.get(name).into_owned(),
            label: t.get(label).into_owned(),
            at: Moment::new(t, at),
            portal: is_published.then(|| changelogs::path(changelog.id)),
        }
    }
}

/// A feature request that can be linked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Linkable {
    id: String,
    title: String,
    votes: String,
    is_ticked: bool,
}

impl Linkable {
    fn new(t: Text, summary: &FeatureRequestSummary, ticked: &[FeatureRequestId]) -> Self {
        let Counted { before, number, after } = Counted::votes(t, summary.votes_count);
        Self {
            id: summary.id.to_string(),
            title: summary.title.as_str().to_owned(),
            votes: format!("{before}{number}{after}"),
            is_ticked: ticked.contains(&summary.id),
        }
    }
}

/// What is stored now, as far as it differs from what was typed.
#[derive(Default)]
struct Stored {
    title: Option<String>,
    content: Option<String>,
    publish_at: Option<String>,
    /// The path of the cover. `Some(None)` if it has none.
    cover: Option<Option<String>>,
}

impl Stored {
    /// Whether it is what was typed.
    fn is_same(&self) -> bool {
        self.title.is_none() && self.content.is_none() && self.publish_at.is_none() && self.cover.is_none()
    }
}

impl FormTemplate {
    /// Whether the changelog is published.
    fn is_published(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.portal.is_some())
    }
}

/// What is done with the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Save,
    Preview,
    Find,
    Publish,
    Unpublish,
}

impl Action {
    fn of(fields: &Fields) -> Self {
        match fields.get("do") {
            "preview" => Self::Preview,
            "find" => Self::Find,
            // The Enter key, also in the field of the search.
            "enter" if !fields.get("query").trim().is_empty() => Self::Find,
            "publish" => Self::Publish,
            "unpublish" => Self::Unpublish,
            _ => Self::Save,
        }
    }
}

/// What was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Typed {
    title: String,
    content: String,
    /// Whether the content is HTML, because Markdown cannot express it.
    is_html: bool,
    /// The time of publication (UTC), as in a field of the type `datetime-local`.
    publish_at: String,
    linked: Vec<FeatureRequestId>,
    /// Those that were linked when the form was opened. `None` for a new changelog.
    linked_before: Option<Vec<FeatureRequestId>>,
    query: String,
    notifies: bool,
    fingerprint: String,
}

impl Typed {
    /// Returns what the form of a stored changelog has.
    fn of_stored(detail: &ChangelogDetail, now: Timestamp) -> Self {
        let ChangelogDetail { changelog, feature_requests } = detail;
        let content = markdown::to_editable(&changelog.content);
        let linked: Vec<FeatureRequestId> = feature_requests.iter().map(|summary| summary.id).collect();
        Self {
            title: changelog.title.as_str().to_owned(),
            content: content.as_str().to_owned(),
            is_html: content.is_html(),
            publish_at: match changelog.state(now) {
                ChangelogState::Scheduled(at) => local_time(at),
                _ => String::new(),
            },
            linked_before: Some(linked.clone()),
            linked,
            query: String::new(),
            notifies: false,
            fingerprint: Fingerprint::of_changelog(changelog).as_str().to_owned(),
        }
    }

    fn of_form(fields: &Fields) -> Self {
        Self {
            title: fields.get("title").to_owned(),
            content: typed_text(fields, "content"),
            is_html: fields.get("format") == "html",
            publish_at: fields.get("publish-at").trim().to_owned(),
            linked: parse_ids(fields.all("linked")),
            linked_before: fields
                .has("linked-before")
                .then(|| parse_ids(fields.get("linked-before").split_ascii_whitespace())),
            query: fields.get("query").trim().to_owned(),
            notifies: fields.has("notify"),
            fingerprint: fields.get("fingerprint").to_owned(),
        }
    }

    /// Links and unlinks what others have linked and unlinked since the form was opened.
    fn follow_links(&mut self, stored: &ChangelogDetail) {
        let stored: Vec<FeatureRequestId> = stored.feature_requests.iter().map(|summary| summary.id).collect();
        let before = self.linked_before.as_ref().unwrap_or(&stored);
        let kept = stored.iter().filter(|id| self.linked.contains(id) || !before.contains(id));
        let added = self.linked.iter().filter(|id| !before.contains(id) && !stored.contains(id));
        self.linked = kept.chain(added).copied().collect();
        self.linked_before = Some(stored);
    }

    /// Returns the value of the field with those that were linked.
    fn linked_before(&self) -> String {
        let ids: Vec<String> = self.linked_before.iter().flatten().map(ToString::to_string).collect();
        ids.join(" ")
    }

    fn parse_content(&self) -> Validated<CleanHtml> {
        match self.is_html {
            true => CleanHtml::parse("content", &self.content),
            false => markdown::to_html("content", &self.content),
        }
    }
}

/// Returns the ids among these texts, each once.
fn parse_ids<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<FeatureRequestId> {
    let mut ids = Vec::new();
    for id in texts.filter_map(|raw| parse_uuid("linked", raw).ok()).map(FeatureRequestId::new) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Returns a time as in a field of the type `datetime-local`.
fn local_time(at: Timestamp) -> String {
    at.to_string().chars().take("2026-03-01T09:30".len()).collect()
}

/// Reads a time of such a field. Browsers leave out seconds that are zero.
fn parse_local_time(typed: &str) -> Option<Timestamp> {
    let typed = typed.replace(' ', "T");
    let seconds = if typed.len() == "2026-03-01T09:30".len() { ":00" } else { "" };
    parse_time("publish-at", &format!("{typed}{seconds}Z")).ok()
}

/// `GET /admin/changelogs`.
pub(crate) async fn list(context: Rc<Context>) -> PageResult {
    let (t, now) = (context.text(), context.state.http.clock.now());
    let (page, _) = admin::frame(&context, Entry::Changelogs, t.get("admin-changelogs")).await?;
    let request =
        PageRequest::parse(Some(context.query.get("page")), None).or_else(|_| PageRequest::parse(None, None))?;
    let listing = context.run(&ListChangelogs { page: request }).await?;
    let row = |changelog: &Changelog| Row {
        title: changelog.title.as_str().to_owned(),
        path: path(changelog.id),
        state: State::new(t, changelog, now),
    };
    let at = |page: u64| if page == 1 { PATH.to_owned() } else { format!("{PATH}?page={page}") };
    let pager = Pager::new(t, &listing, MAX_PAGE, at);
    let rows = listing.items.iter().map(row).collect();
    Ok(Reply::page(&ListTemplate { page, rows, is_empty: listing.total == 0, pager }))
}

/// `GET /admin/changelogs/new`.
pub(crate) async fn new(context: Rc<Context>) -> PageResult {
    Draft::default().render(&context, None, StatusCode::OK).await
}

/// `GET /admin/changelogs/{id}`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let id = admin::path_id(&context, ChangelogId::new)?;
    let detail = context.run(&ShowChangelog { changelog: Some(id) }).await?;
    let mut typed = Typed::of_stored(&detail, context.state.http.clock.now());
    // A tick is no part of the changelog, and is kept until it is published.
    typed.notifies = context.query.has("notify");
    let cover = ImageField::of_stored(detail.changelog.cover.as_ref());
    Draft { typed, cover, ..Draft::default() }.render(&context, Some(&detail), StatusCode::OK).await
}

/// `POST /admin/changelogs/new`.
pub(crate) async fn create(context: Rc<Context>, fields: Fields) -> PageResult {
    let action = Action::of(&fields);
    let mut draft = Draft::read(&context, &fields).await?;
    if !draft.check(&context, action, None) {
        return draft.answer(&context, action, None).await;
    }
    let (Ok(title), Ok(content)) = (Title::parse("title", &draft.typed.title), draft.typed.parse_content()) else {
        return draft.answer(&context, action, None).await;
    };
    let publication = match (action, parse_local_time(&draft.typed.publish_at)) {
        (Action::Publish, _) => Publication::Now,
        (_, Some(at)) => Publication::At(at),
        (_, None) => Publication::Never,
    };
    let (cover, feature_requests) = (draft.cover.chosen(), draft.typed.linked.clone());
    let create = CreateChangelog { draft: ChangelogDraft { title, content, cover, publication, feature_requests } };
    let notifies = action == Action::Publish && draft.typed.notifies;
    let operation = CreateAndNotify { create, notify_subscribers: notifies };
    let people = draft.count_people(&context, notifies).await?;
    let keeps_tick = draft.typed.notifies;
    let landing = move |(created, mailed): (ChangelogDetail, Option<ChangelogChanged>)| {
        let path = path(created.changelog.id);
        match publication {
            Publication::Now => published(&path, mailed.as_ref(), people),
            Publication::At(_) => format!("{path}?done=changelog-scheduled"),
            Publication::Never => saved(&path, keeps_tick),
        }
    };
    match admin::run_once(&context, &fields, operation, landing).await {
        Err(HttpError::Domain(error)) if explain(context.text(), &error, &mut draft.problems) => {
            draft.render(&context, None, StatusCode::UNPROCESSABLE_ENTITY).await
        }
        outcome => outcome,
    }
}

/// `POST /admin/changelogs/{id}`.
pub(crate) async fn save(context: Rc<Context>, fields: Fields) -> PageResult {
    let id = admin::path_id(&context, ChangelogId::new)?;
    let (action, t, now) = (Action::of(&fields), context.text(), context.state.http.clock.now());
    let mut draft = Draft::read(&context, &fields).await?;
    let detail = match context.run(&ShowChangelog { changelog: Some(id) }).await {
        Ok(detail) => detail,
        Err(HttpError::NotFound) if !draft.typed.title.is_empty() || !draft.typed.content.is_empty() => {
            return draft.after_deletion(&context).await;
        }
        Err(error) => return Err(error),
    };
    draft.typed.follow_links(&detail);
    if !draft.check(&context, action, Some(&detail)) {
        return draft.answer(&context, action, Some(&detail)).await;
    }
    let stored = Typed::of_stored(&detail, now);
    let typed = &draft.typed;
    let is_content_changed = (&typed.content, typed.is_html) != (&stored.content, stored.is_html);
    let content = is_content_changed.then(|| typed.parse_content()).transpose();
    let (Ok(title), Ok(content)) = (Title::parse("title", &typed.title), content) else {
        return draft.answer(&context, action, Some(&detail)).await;
    };
    let cover = draft.cover.chosen();
    let stored_cover = detail.changelog.cover.as_ref().map(|cover| cover.attachment);
    let publish_at = match action {
        Action::Save if !is_same_time(&typed.publish_at, &detail.changelog, &stored) => {
            Some(parse_local_time(&typed.publish_at))
        }
        _ => None,
    };
    let change = ChangelogChange {
        title: Some(title),
        content,
        cover: (cover != stored_cover).then_some(cover),
        feature_requests: (typed.linked != stored.linked).then(|| typed.linked.clone()),
        publish_at,
    };
    let is_published = matches!(detail.changelog.state(now), ChangelogState::Published(_));
    let publishes = action == Action::Publish || (is_published && action == Action::Save && typed.notifies);
    let then = match action {
        Action::Unpublish => ThenPublish::Unpublish(UnpublishChangelog { changelog: id }),
        _ if publishes => ThenPublish::Publish(PublishChangelog { changelog: id, notify_subscribers: typed.notifies }),
        _ => ThenPublish::Nothing,
    };
    let edit = EditChangelog { changelog: id, change };
    let edit = EditUnchangedChangelog { edit, read: Fingerprint::from_form(&typed.fingerprint) };
    let people = draft.count_people(&context, publishes && typed.notifies).await?;
    let (keeps_tick, is_scheduled) = (typed.notifies && !is_published, matches!(publish_at, Some(Some(_))));
    let landing = move |then: Option<ChangelogChanged>| {
        let path = path(id);
        match action {
            Action::Unpublish => format!("{path}?done=changelog-unpublished"),
            _ if publishes => published(&path, then.as_ref(), people),
            _ if is_scheduled => format!("{path}?done=changelog-scheduled"),
            _ => saved(&path, keeps_tick),
        }
    };
    match admin::run_once(&context, &fields, SaveChangelog { edit, then }, landing).await {
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::ChangedMeanwhile))) => {
            let detail = context.run(&ShowChangelog { changelog: Some(id) }).await?;
            draft.conflict(&context, &detail).await
        }
        Err(HttpError::Domain(RoadmapError::NotFound(Resource::Changelog))) => draft.after_deletion(&context).await,
        Err(HttpError::Domain(error)) if explain(t, &error, &mut draft.problems) => {
            draft.render(&context, Some(&detail), StatusCode::UNPROCESSABLE_ENTITY).await
        }
        outcome => outcome,
    }
}

/// `GET /admin/changelogs/{id}/delete`.
pub(crate) async fn ask_delete(context: Rc<Context>) -> PageResult {
    let id = admin::path_id(&context, ChangelogId::new)?;
    let Changelog { title, public_from, .. } = context.run(&ShowChangelog { changelog: Some(id) }).await?.changelog;
    let heading = context.text().named("changelog-delete-title", title.as_str());
    let (page, _) = admin::frame(&context, Entry::Changelogs, heading).await?;
    let is_published = public_from.is_some_and(|at| at <= context.state.http.clock.now());
    Ok(Reply::page(&DeleteTemplate { page, path: path(id), is_published }))
}

/// `POST /admin/changelogs/{id}/delete`.
pub(crate) async fn delete(context: Rc<Context>, fields: Fields) -> PageResult {
    let changelog = admin::path_id(&context, ChangelogId::new)?;
    let landing = |()| format!("{PATH}?done=changelog-deleted");
    admin::run_once(&context, &fields, DeleteChangelog { changelog }, landing).await
}

/// Returns the path of the form of a changelog.
fn path(id: ChangelogId) -> String {
    format!("{PATH}/{id}")
}

/// Returns the path after a changelog was published. The notice says whether people get mail.
fn published(path: &str, published: Option<&ChangelogChanged>, people: i64) -> String {
    let is_mailed = published.is_some_and(|changed| changed.changes.iter().any(|change| change.field == "notified"));
    match is_mailed {
        true => format!("{path}?done=changelog-mailed&count={people}"),
        false => format!("{path}?done=changelog-published"),
    }
}

/// Returns the path after a draft was saved.
fn saved(path: &str, keeps_tick: bool) -> String {
    format!("{path}?done=changelog-saved{}", if keeps_tick { "&notify=1" } else { "" })
}

/// Whether a typed time is the stored one, also if that has passed since.
fn is_same_time(typed: &str, changelog: &Changelog, stored: &Typed) -> bool {
    typed == stored.publish_at || changelog.public_from.is_some_and(|at| local_time(at) == typed)
}

/// Explains an error of an operation at its field. Returns whether the person can do something about it.
fn explain(t: Text, error: &RoadmapError, problems: &mut Problems) -> bool {
    let (field, key) = match error {
        RoadmapError::Invalid(error) if *error == changelog::publication_in_the_past() => {
            ("publish-at", "changelog-time-past")
        }
        RoadmapError::Invalid(error) if *error == changelog::already_published() => {
            ("publish-at", "changelog-time-published")
        }
        RoadmapError::Invalid(error) if *error == changelog::invalid_cover() => ("cover", "changelog-cover-gone"),
        RoadmapError::NotFound(Resource::FeatureRequest) => ("linked", "changelog-linked-gone"),
        RoadmapError::OverBudget(OverBudget { budget: Budget::MailsPerDay, .. }) => ("notify", "mails-used-up"),
        RoadmapError::OverBudget(_) => ("content", "storage-used-up"),
        _ => return false,
    };
    problems.add(field, t.get(key));
    true
}

/// A form that is shown again.
#[derive(Default)]
struct Draft {
    typed: Typed,
    cover: ImageField,
    problems: Problems,
    preview: Option<String>,
    found: Option<Vec<InboxRow>>,
    conflict: Option<Stored>,
}

impl Draft {
    async fn read(context: &Context, fields: &Fields) -> Result<Self, HttpError> {
        let (typed, mut problems) = (Typed::of_form(fields), Problems::default());
        let cover =
            ImageField::read(context, fields, "cover", MAX_COVER, "changelog-cover-gone", &mut problems).await?;
        Ok(Self { typed, cover, problems, ..Self::default() })
    }

    /// Validates all fields. Returns whether the form can be saved.
    fn check(&mut self, context: &Context, action: Action, stored: Option<&ChangelogDetail>) -> bool {
        let (t, now) = (context.text(), context.state.http.clock.now());
        if action == Action::Find {
            return false;
        }
        let mut problems = Problems::default();
        let is_saved = action != Action::Preview;
        if is_saved {
            problems.check(Title::parse("title", &self.typed.title), t);
        }
        let content = self.typed.parse_content().map_err(|error| {
            let named = FieldError::new("changelog-content", error.problem);
            problems.add("content", t.problem(&named));
        });
        // A new cover was checked when it was read.
        self.problems.iter().for_each(|(field, sentence)| problems.add(field.clone(), sentence.clone()));
        if self.typed.linked.len() > MAX_LINKED {
            problems.add("linked", t.count("changelog-linked-many", i64::try_from(MAX_LINKED).unwrap_or(i64::MAX)));
        }
        if is_saved && action != Action::Unpublish {
            self.check_time(t, now, action, stored, &mut problems);
        }
        self.problems = problems;
        if action == Action::Preview {
            self.preview = content.ok().map(|html| prose::html(&html));
            return false;
        }
        self.problems.is_empty()
    }

    /// Validates the time of publication together with the button and the tick.
    fn check_time(
        &self,
        t: Text,
        now: Timestamp,
        action: Action,
        stored: Option<&ChangelogDetail>,
        problems: &mut Problems,
    ) {
        let typed = &self.typed.publish_at;
        if typed.is_empty() {
            return;
        }
        let is_stored =
            stored.is_some_and(|detail| is_same_time(typed, &detail.changelog, &Typed::of_stored(detail, now)));
        let is_published =
            stored.is_some_and(|detail| matches!(detail.changelog.state(now), ChangelogState::Published(_)));
        let key = match (action, parse_local_time(typed)) {
            (Action::Publish, _) if is_stored => None,
            (Action::Publish, _) => Some("changelog-time-both"),
            (_, None) => Some("changelog-time-invalid"),
            _ if is_stored && is_published => None,
            _ if is_published => Some("changelog-time-published"),
            (_, Some(at)) if at <= now => Some("changelog-time-past"),
            _ => None,
        };
        if let Some(key) = key {
            problems.add("publish-at", t.get(key));
        } else if action == Action::Save && self.typed.notifies && !is_published {
            problems.add("notify", t.get("changelog-notify-scheduled"));
        }
    }

    async fn count_people(&self, context: &Context, is_needed: bool) -> Result<i64, HttpError> {
        let requests = if is_needed { self.typed.linked.clone() } else { Vec::new() };
        context.run(&CountSubscribers { requests }).await
    }

    /// Shows the form again: with problems, a preview, or the results of a search.
    async fn answer(mut self, context: &Context, action: Action, stored: Option<&ChangelogDetail>) -> PageResult {
        if action == Action::Find {
            self.find(context).await?;
        }
        let status = if self.problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
        self.render(context, stored, status).await
    }

    /// Searches public feature requests that can be linked. A blank query is no search.
    async fn find(&mut self, context: &Context) -> Result<(), HttpError> {
        let query = match SearchQuery::parse("query", &self.typed.query) {
            Ok(query) => query,
            Err(error) => {
                let named = FieldError::new("linked-query", error.problem);
                self.problems.add("query", context.text().problem(&named));
                return Ok(());
            }
        };
        if query.as_str().is_empty() {
            return Ok(());
        }
        let search = ListInbox { query: Some(query), ..ListInbox::default() };
        let mut found = context.run(&search).await?.items;
        found.retain(|row| !row.private && !self.typed.linked.contains(&row.summary.id));
        found.truncate(MAX_FOUND);
        self.found = Some(found);
        Ok(())
    }

    /// Shows the form to somebody whose changelog was deleted meanwhile. It creates a new one.
    async fn after_deletion(mut self, context: &Context) -> PageResult {
        self.problems = Problems::default();
        self.problems.add("form", context.text().get("changelog-gone"));
        self.render(context, None, StatusCode::CONFLICT).await
    }

    /// Shows the form with what is stored, so that the next **Save** overwrites it knowingly.
    async fn conflict(mut self, context: &Context, detail: &ChangelogDetail) -> PageResult {
        let (t, stored) = (context.text(), Typed::of_stored(detail, context.state.http.clock.now()));
        let filter = AuditFilter { subject: Some(detail.changelog.id.uuid()), ..AuditFilter::default() };
        let page = AuditPage { before: None, size: 1 };
        let last = context.run(&ListAuditEntries { filter, page }).await?.entries.into_iter().next();
        let by = last.map(|entry| entry.origin.actor.name).filter(|name| !name.is_empty());
        self.problems.add(
            "stored-now",
            by.as_ref().map_or_else(
                || t.get("changelog-conflict").into_owned(),
                |name| t.named("changelog-conflict-by", name),
            ),
        );
        let differs = |typed: &str, stored: &str| (typed != stored).then(|| stored.to_owned());
        let cover = ImageField::of_stored(detail.changelog.cover.as_ref());
        self.conflict = Some(Stored {
            title: differs(&self.typed.title, &stored.title),
            content: differs(&self.typed.content, &stored.content),
            publish_at: differs(&self.typed.publish_at, &stored.publish_at),
            cover: (cover.chosen() != self.cover.chosen()).then(|| cover.view(context).path),
        });
        self.typed.fingerprint = stored.fingerprint;
        self.render(context, Some(detail), StatusCode::CONFLICT).await
    }

    /// Renders the form.
    async fn render(self, context: &Context, stored: Option<&ChangelogDetail>, status: StatusCode) -> PageResult {
        let Self { typed, cover, problems, preview, found, conflict } = self;
        let (t, now) = (context.text(), context.state.http.clock.now());
        let title = stored
            .map_or_else(|| t.get("changelog-new").into_owned(), |detail| detail.changelog.title.as_str().to_owned());
        let (page, _) = admin::frame(context, Entry::Changelogs, title).await?;
        let people = context.run(&CountSubscribers { requests: typed.linked.clone() }).await?;
        let is_mailed = match stored {
            Some(detail) => context.run(&IsChangelogNotified { changelog: detail.changelog.id }).await?,
            None => false,
        };
        let known = stored.map(|detail| detail.feature_requests.as_slice()).unwrap_or_default();
        let mut linked: Vec<Linkable> = known.iter().map(|summary| Linkable::new(t, summary, &typed.linked)).collect();
        let others = typed.linked.iter().filter(|id| known.iter().all(|summary| summary.id != **id)).copied();
        let others = context.run(&ListPublicRequests { requests: others.take(MAX_LINKED * 3).collect() }).await?;
        linked.extend(others.iter().map(|row| Linkable::new(t, &row.summary, &typed.linked)));
        let found = found.map(|found| {
            let new = found.iter().filter(|row| known.iter().all(|summary| summary.id != row.summary.id));
            new.map(|row| Linkable::new(t, &row.summary, &typed.linked)).collect()
        });
        let template = FormTemplate {
            page: Page { notice: page.notice.clone().filter(|_| problems.is_empty()), ..page }
                .with_problem(!problems.is_empty()),
            action: stored.map_or_else(|| NEW_PATH.to_owned(), |detail| path(detail.changelog.id)),
            state: stored.map(|detail| State::new(t, &detail.changelog, now)),
            cover: cover.view(context),
            typed,
            linked,
            found,
            people: t.count("changelog-people", people),
            is_mailed,
            now: t.date_time(now),
            preview,
            conflict,
            problems,
        };
        Ok(Reply::page_with(status, &template))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page, sample_summary};
    use roadmap_domain::model::attachment::Filename;
    use roadmap_domain::model::changelog::CoverImage;
    use roadmap_domain::model::id::AttachmentId;
    use roadmap_domain::model::portal::Language;
    use uuid::Uuid;

    fn detail(content: &str, public_from: Option<Timestamp>) -> ChangelogDetail {
        let attachment = AttachmentId::new(Uuid::from_u128(2));
        let changelog = Changelog {
            id: ChangelogId::new(Uuid::from_u128(1)),
            title: Title::parse("title", "Undo <send>").unwrap(),
            content: CleanHtml::from_stored(content.to_owned()),
            cover: Some(CoverImage { attachment, filename: Filename::sanitize("a.png") }),
            public_from,
            created_at: at(0),
            updated_at: at(1),
        };
        ChangelogDetail { changelog, feature_requests: vec![sample_summary(3, "Dark <mode>", None)] }
    }

    fn template(language: Language, stored: Option<&ChangelogDetail>, is_full: bool) -> FormTemplate {
        let t = Text(language);
        let typed = stored.map_or_else(Typed::default, |detail| Typed::of_stored(detail, at(2)));
        let linkable = |number| Linkable::new(t, &sample_summary(number, "</label><b>", None), &[]);
        let mut problems = Problems::default();
        if is_full {
            for field in ["title", "content", "cover", "linked", "query", "publish-at", "notify"] {
                problems.add(field, "Wrong.");
            }
        }
        let full = Stored {
            title: Some("<b>".to_owned()),
            content: Some("<b>".to_owned()),
            publish_at: Some(String::new()),
            cover: Some(Some("/admin/covers/x/y.png".to_owned())),
        };
        FormTemplate {
            page: sample_page(language, true, "Undo <send>"),
            action: stored.map_or_else(|| NEW_PATH.to_owned(), |detail| path(detail.changelog.id)),
            state: stored.map(|detail| State::new(t, &detail.changelog, at(2))),
            cover: match is_full {
                true => ImageView { path: Some("/admin/covers/a/b.png".to_owned()), ..ImageView::default() },
                false => ImageView::default(),
            },
            linked: if is_full { vec![linkable(1), linkable(2)] } else { Vec::new() },
            found: is_full.then(|| vec![linkable(4)]),
            people: t.count("changelog-people", 3),
            is_mailed: false,
            now: t.date_time(at(2)),
            preview: is_full.then(|| "<p>Preview</p>".to_owned()),
            conflict: if is_full { Some(full) } else { stored.map(|_| Stored::default()) },
            typed,
            problems,
        }
    }

    #[test]
    fn the_form_is_well_formed_in_every_state() {
        for language in Language::ALL {
            for is_full in [false, true] {
                assert_well_formed(&template(language, None, is_full).render().unwrap());
                for public_from in [None, Some(at(1)), Some(at(9))] {
                    let stored = detail("<p>Ten <b>seconds</b></p>", public_from);
                    let mut template = template(language, Some(&stored), is_full);
                    let html = template.render().unwrap();
                    assert_well_formed(&html);
                    let is_published = public_from == Some(at(1));
                    assert_eq!(html.contains("value=\"unpublish\""), is_published);
                    assert_eq!(html.contains("value=\"publish\""), !is_published);
                    assert_eq!(html.contains("href=\"/changelogs/"), is_published);
                    // The Enter key presses the first button of the form.
                    let form = html.split_once("id=\"form\"").unwrap().1;
                    let button = form.split_once("type=\"submit\"").unwrap().1;
                    assert!(button.starts_with(" name=\"do\" value=\"enter\""), "{html}");
                    template.is_mailed = true;
                    template.found = Some(Vec::new());
                    let html = template.render().unwrap();
                    assert_well_formed(&html);
                    assert!(!html.contains("name=\"notify\""));
                }
            }
        }
    }

    #[test]
    fn the_list_and_the_page_that_asks_are_well_formed() {
        for language in Language::ALL {
            let t = Text(language);
            let row = |public_from| Row {
                title: "Undo <send>".to_owned(),
                path: PATH.to_owned(),
                state: State::new(t, &detail("a", public_from).changelog, at(2)),
            };
            for (rows, is_empty) in
                [(vec![row(None), row(Some(at(1))), row(Some(at(9)))], false), (Vec::new(), false), (Vec::new(), true)]
            {
                let page = sample_page(language, true, "Changelog");
                assert_well_formed(&ListTemplate { page, rows, is_empty, pager: None }.render().unwrap());
            }
            for is_published in [false, true] {
                let page = sample_page(language, true, "Delete “<b>”?");
                assert_well_formed(&DeleteTemplate { page, path: PATH.to_owned(), is_published }.render().unwrap());
            }
        }
    }

    #[test]
    fn times_are_read_as_browsers_write_them() {
        let written = |typed: &str| parse_local_time(typed).map(|at| at.to_string());
        for (typed, expected) in [
            ("2026-03-31T09:00", Some("2026-03-31T09:00:00.000Z")),
            ("2026-03-31 09:00", Some("2026-03-31T09:00:00.000Z")),
            ("2026-03-31T09:00:30", Some("2026-03-31T09:00:30.000Z")),
            ("2026-03-31T09:00:30.5", Some("2026-03-31T09:00:30.500Z")),
            ("31.3.2026, 09:00", None),
            ("2026-02-30T09:00", None),
            ("2026-03-31T09:00+0", None),
            ("", None),
        ] {
            assert_eq!(written(typed).as_deref(), expected, "{typed}");
        }
        let later = at(9);
        assert_eq!(parse_local_time(&local_time(later)), Some(later));
    }

    #[test]
    fn a_time_that_has_passed_since_is_the_stored_one() {
        let scheduled = detail("a", Some(at(1)));
        let stored = Typed::of_stored(&scheduled, at(2));
        assert_eq!(stored.publish_at, "");
        assert!(is_same_time(&local_time(at(1)), &scheduled.changelog, &stored));
        assert!(is_same_time("", &scheduled.changelog, &stored));
        assert!(!is_same_time(&local_time(at(3)), &scheduled.changelog, &stored));
    }

    #[test]
    fn what_was_typed_is_read_once() {
        let (one, two) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let form = format!("title=+a+&content=b%0D%0Ac&linked={one}&linked=x&linked={two}&linked={one}&notify=1");
        let typed = Typed::of_form(&Fields::parse(form.as_bytes()));
        let expected = Typed {
            title: " a ".to_owned(),
            content: "b\nc".to_owned(),
            linked: [one, two].map(FeatureRequestId::new).to_vec(),
            notifies: true,
            ..Typed::default()
        };
        assert_eq!(typed, expected);
        assert_eq!(typed.parse_content().unwrap().as_str().trim_end(), "<p>b<br>\nc</p>");
        let html = Typed { is_html: true, content: "<p onclick=x>b</p>".to_owned(), ..typed };
        assert_eq!(html.parse_content().unwrap().as_str(), "<p>b</p>");
        for (button, action) in [
            ("publish", Action::Publish),
            ("find", Action::Find),
            ("enter", Action::Save),
            ("enter&query=+", Action::Save),
            ("enter&query=undo", Action::Find),
            ("", Action::Save),
            ("hack", Action::Save),
        ] {
            assert_eq!(Action::of(&Fields::parse(format!("do={button}").as_bytes())), action);
        }
    }

    #[test]
    fn errors_are_explained_at_their_fields() {
        let t = Text(Language::English);
        let over = |budget| RoadmapError::OverBudget(OverBudget { budget, limit: 1 });
        for (error, field) in [
            (changelog::publication_in_the_past().into(), Some("publish-at")),
            (changelog::already_published().into(), Some("publish-at")),
            (changelog::invalid_cover().into(), Some("cover")),
            (RoadmapError::NotFound(Resource::FeatureRequest), Some("linked")),
            (over(Budget::MailsPerDay), Some("notify")),
            (over(Budget::StoredRecords), Some("content")),
            (RoadmapError::OperationInProgress, None),
        ] {
            let mut problems = Problems::default();
            assert_eq!(explain(t, &error, &mut problems), field.is_some(), "{error}");
            assert_eq!(problems.iter().next().map(|(field, _)| field.as_str()), field);
        }
    }
}
