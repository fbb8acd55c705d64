//! The form of a changelog.
//!
//! It is one form. The value of its button says what is done with what was typed ([`Action`]). Saving and publishing are
//! one unit of work ([`SaveChangelog`], [`CreateAndNotify`]), so that a mail that cannot be sent leaves nothing half done.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Budget, Conflict, FieldError, OverBudget, Resource, RoadmapError};
use roadmap_domain::model::admin::{Fingerprint, InboxFilter, InboxRow, Selection, Triage};
use roadmap_domain::model::changelog::{
    self, ChangelogCategory, ChangelogChange, ChangelogDetail, ChangelogDraft, ChangelogState, MAX_LINKED, Publication,
};
use roadmap_domain::model::feature_request::{FeatureRequestSummary, Title};
use roadmap_domain::model::id::{ChangelogId, FeatureRequestId};
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::time_zone::{LocalTime, TimeZone, parse_local};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::track::{LaneKind, Track};
use roadmap_domain::usecase::change_changelog::{
    ChangelogChanged, EditChangelog, EditUnchangedChangelog, PublishChangelog, UnpublishChangelog,
};
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::query::admin::{CountChangelogAudience, ListInbox, ListInboxRows, ShowChangelogMail};
use roadmap_domain::usecase::query::changelogs::ShowChangelog;
use roadmap_domain::usecase::query::portal::ListPublicRequests;
use roadmap_domain::usecase::query::tracks::ListTracks;
use roadmap_domain::usecase::save_changelog::{CreateAndNotify, SaveChangelog, ThenPublish};
use roadmap_domain::usecase::triage_feature_requests::TriageFeatureRequests;
use roadmap_http::error::HttpError;

use super::conflict::Stored;
use super::fields::{ChangelogForm, is_same_time};
use super::{State, path};
use crate::admin::image_field::{ImageField, ImageView};
use crate::admin::parts::Choice;
use crate::admin::{self, Entry};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::pictures;
use crate::portal::parts::Counted;
use crate::prose;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the form for a new one.
const NEW_PATH: &str = "/admin/changelogs/new";
/// Largest cover in bytes.
const MAX_COVER: usize = 5_000_000;
/// Maximum number of results of a search for feature requests.
const MAX_MATCHES: usize = 20;

#[derive(Template)]
#[template(path = "admin/changelog.html")]
struct FormTemplate {
    page: Page,
    /// The path of the form.
    action: String,
    /// The state of the changelog. `None` for a new one.
    state: Option<State>,
    form: ChangelogForm,
    categories: Vec<Choice>,
    cover: ImageView,
    /// The feature requests that are linked, or were offered before.
    linked: Vec<Linkable>,
    /// Further ones that a search has found.
    matches: Option<Vec<Linkable>>,
    /// The track to which the linked feature requests can be moved: the first one that means that they are done.
    done_track: Option<String>,
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

impl FormTemplate {
    /// Whether the changelog is published.
    fn is_published(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.portal.is_some())
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

/// `GET /admin/changelogs/new`.
pub(crate) async fn new(context: Rc<Context>) -> PageResult {
    Draft::default().render(&context, None, StatusCode::OK).await
}

/// `GET /admin/changelogs/{id}`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let id = admin::path_id(&context, ChangelogId::new)?;
    let detail = context.run(&ShowChangelog { changelog: Some(id) }).await?;
    let mut form = ChangelogForm::of_stored(&detail, context.state.http.clock.now(), context.text().zone);
    // The tick of a draft is no part of the changelog, and is kept until it is published.
    let mail = context.run(&ShowChangelogMail { changelog: id }).await?;
    form.notifies = mail.is_scheduled || context.query.has("notify");
    form.moves_linked = context.query.has("move-linked");
    let cover = ImageField::of_stored(detail.changelog.cover.as_ref());
    Draft { form, cover, ..Draft::default() }.render(&context, Some(&detail), StatusCode::OK).await
}

/// `POST /admin/changelogs/new`.
pub(crate) async fn create(context: Rc<Context>, fields: Fields) -> PageResult {
    let action = Action::of(&fields);
    let mut draft = Draft::read(&context, &fields).await?;
    if !draft.check(&context, action, None) {
        return draft.show_again(&context, action, None).await;
    }
    let (Ok(title), Ok(content)) = (Title::parse("title", &draft.form.title), draft.form.parse_content()) else {
        return draft.show_again(&context, action, None).await;
    };
    let publication = match (action, parse_publication(&draft.form.publish_at, context.text().zone).ok()) {
        (Action::Publish, _) => Publication::Now,
        (_, Some(at)) => Publication::At(at),
        (_, None) => Publication::Never,
    };
    let (category, cover) = (draft.form.category, draft.cover.file_to_store());
    let feature_requests = draft.form.linked.clone();
    let is_scheduled = matches!(publication, Publication::At(_));
    let notifies = draft.form.notifies && is_scheduled;
    let draft_of_changelog =
        ChangelogDraft { title, content, category, cover, publication, notifies, feature_requests };
    let create = CreateChangelog { draft: draft_of_changelog };
    let notify_subscribers = action == Action::Publish && draft.form.notifies;
    let moves = draft.moves(&context, action).await?;
    let operation = CreateAndNotify { create, notify_subscribers, moves };
    let people = draft.count_people(&context, notifies || notify_subscribers).await?;
    let ticks = draft.form.ticks();
    let landing = move |(created, mailed): (ChangelogDetail, Option<ChangelogChanged>)| {
        let path = path(created.changelog.id);
        match publication {
            Publication::Now => published(&path, mailed.as_ref(), people),
            Publication::At(_) => scheduled(&path, notifies, people),
            Publication::Never => saved(&path, &ticks),
        }
    };
    match run_once(&context, &fields, operation, landing).await {
        Ok(reply) => Ok(draft.form.tell_linked(reply)),
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
        Err(HttpError::NotFound) if !draft.form.title.is_empty() || !draft.form.content.is_empty() => {
            return draft.after_deletion(&context).await;
        }
        Err(error) => return Err(error),
    };
    draft.form.follow_links(&detail);
    if !draft.check(&context, action, Some(&detail)) {
        return draft.show_again(&context, action, Some(&detail)).await;
    }
    let stored = ChangelogForm::of_stored(&detail, now, t.zone);
    let form = &draft.form;
    let is_content_changed = (&form.content, form.is_html) != (&stored.content, stored.is_html);
    let content = is_content_changed.then(|| form.parse_content()).transpose();
    let (Ok(title), Ok(content)) = (Title::parse("title", &form.title), content) else {
        return draft.show_again(&context, action, Some(&detail)).await;
    };
    let cover = draft.cover.file_to_store();
    let stored_cover = detail.changelog.cover.as_ref().map(|cover| cover.attachment);
    let publish_at = match action {
        Action::Save if !is_same_time(&form.publish_at, &detail.changelog, &stored, t.zone) => {
            Some(parse_publication(&form.publish_at, t.zone).ok())
        }
        _ => None,
    };
    let is_waiting = matches!(detail.changelog.state(now), ChangelogState::Scheduled(_));
    // Whether it waits for its time after this.
    let will_wait = action == Action::Save && publish_at.map_or(is_waiting, |at| at.is_some());
    let change = ChangelogChange {
        title: Some(title),
        content,
        category: (form.category != stored.category).then_some(form.category),
        cover: (cover != stored_cover).then_some(cover),
        feature_requests: (form.linked != stored.linked).then(|| form.linked.clone()),
        publish_at,
        // The box decides also when it is published before its time.
        notifies: (will_wait || (is_waiting && action == Action::Publish)).then_some(form.notifies),
    };
    let is_published = matches!(detail.changelog.state(now), ChangelogState::Published(_));
    let publishes = action == Action::Publish || (is_published && action == Action::Save && form.notifies);
    let then = match action {
        Action::Unpublish => ThenPublish::Unpublish(UnpublishChangelog { changelog: id }),
        _ if publishes => ThenPublish::Publish(PublishChangelog { changelog: id, notify_subscribers: form.notifies }),
        _ => ThenPublish::Nothing,
    };
    let edit = EditChangelog { changelog: id, change };
    let edit = EditUnchangedChangelog { edit, read: Fingerprint::from_form(&form.fingerprint) };
    let notifies = form.notifies;
    let people = draft.count_people(&context, (publishes || will_wait) && notifies).await?;
    let is_draft = !is_published && !will_wait;
    let ticks = if is_draft { form.ticks() } else { String::new() };
    let is_scheduled = matches!(publish_at, Some(Some(_)));
    let moves = draft.moves(&context, action).await?;
    let landing = move |then: Option<ChangelogChanged>| {
        let path = path(id);
        match action {
            Action::Unpublish => format!("{path}?done=changelog-unpublished"),
            _ if publishes => published(&path, then.as_ref(), people),
            _ if is_scheduled => scheduled(&path, notifies, people),
            _ => saved(&path, &ticks),
        }
    };
    match run_once(&context, &fields, SaveChangelog { edit, then, moves }, landing).await {
        Ok(reply) => Ok(draft.form.tell_linked(reply)),
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

/// Returns the path after a changelog was published. The notice says whether people get mail.
fn published(path: &str, published: Option<&ChangelogChanged>, people: i64) -> String {
    let is_mailed = published.is_some_and(|changed| changed.changes.iter().any(|change| change.field == "notified"));
    match is_mailed {
        true => format!("{path}?done=changelog-mailed&count={people}"),
        false => format!("{path}?done=changelog-published"),
    }
}

/// Returns the path after a changelog was scheduled. The notice says how many people would get mail now.
fn scheduled(path: &str, notifies: bool, people: i64) -> String {
    match notifies {
        true => format!("{path}?done=changelog-scheduled-mail&count={people}"),
        false => format!("{path}?done=changelog-scheduled"),
    }
}

/// Returns the path after a draft was saved, with the ticks that are kept until it is published.
fn saved(path: &str, ticks: &str) -> String {
    format!("{path}?done=changelog-saved{ticks}")
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
        RoadmapError::Invalid(error) => {
            problems.add(error.field.clone(), t.problem(error));
            return true;
        }
        _ => return false,
    };
    problems.add(field, t.get(key));
    true
}

/// A form that is shown again.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) form: ChangelogForm,
    pub(super) cover: ImageField,
    pub(super) problems: Problems,
    preview: Option<String>,
    matches: Option<Vec<InboxRow>>,
    pub(super) conflict: Option<Stored>,
}

impl Draft {
    async fn read(context: &Context, fields: &Fields) -> Result<Self, HttpError> {
        let (mut form, mut problems) = (ChangelogForm::of_form(fields), Problems::default());
        if !form.is_html {
            pictures::append(context, fields, &mut problems, &mut form.content).await?;
        }
        let cover =
            ImageField::read(context, fields, "cover", MAX_COVER, "changelog-cover-gone", &mut problems).await?;
        Ok(Self { form, cover, problems, ..Self::default() })
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
            problems.check(Title::parse("title", &self.form.title), t);
        }
        let content = self.form.parse_content().map_err(|error| {
            let named = FieldError::new("changelog-content", error.problem);
            problems.add("content", t.problem(&named));
        });
        // A new cover was checked when it was read.
        self.problems.iter().for_each(|(field, sentence)| problems.add(field.clone(), sentence.clone()));
        if self.form.linked.len() > MAX_LINKED {
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
        let raw = &self.form.publish_at;
        if raw.is_empty() {
            return;
        }
        let is_stored = stored.is_some_and(|detail| {
            is_same_time(raw, &detail.changelog, &ChangelogForm::of_stored(detail, now, t.zone), t.zone)
        });
        let is_published =
            stored.is_some_and(|detail| matches!(detail.changelog.state(now), ChangelogState::Published(_)));
        let key = match (action, parse_publication(raw, t.zone)) {
            (Action::Publish, _) if is_stored => None,
            (Action::Publish, _) => Some("changelog-time-both"),
            _ if is_stored => None,
            (_, Err(problem)) => Some(problem),
            _ if is_published => Some("changelog-time-published"),
            (_, Ok(at)) if at <= now => Some("changelog-time-past"),
            _ => None,
        };
        if let Some(key) = key {
            problems.add("publish-at", t.named(key, t.zone.name()));
        }
        if action == Action::Save && self.form.moves_linked && !is_published {
            problems.add("move-linked", t.get("changelog-move-with-time"));
        }
    }

    /// Returns the move of the linked feature requests that are not done, if it is published with that tick.
    async fn moves(&self, context: &Context, action: Action) -> Result<Option<TriageFeatureRequests>, HttpError> {
        if action != Action::Publish || !self.form.moves_linked {
            return Ok(None);
        }
        let tracks = context.run(&ListTracks).await?;
        let Some(done) = done_track(&tracks) else { return Ok(None) };
        let requests = self.form.linked.clone();
        let rows = context.run(&ListInboxRows { filter: InboxFilter::default(), requests }).await?;
        let is_done = |name: &Name| tracks.iter().any(|track| track.name == *name && track.kind() == LaneKind::Done);
        let open = rows.iter().filter(|row| !is_done(&row.summary.placement.track));
        let selection = Selection::new("linked", open.map(|row| row.summary.id).collect());
        Ok(selection.ok().map(|selection| TriageFeatureRequests { selection, triage: Triage::Move(done.id) }))
    }

    async fn count_people(&self, context: &Context, is_needed: bool) -> Result<i64, HttpError> {
        match is_needed {
            true => context.run(&CountChangelogAudience { requests: self.form.linked.clone() }).await,
            false => Ok(0),
        }
    }

    /// Shows the form again: with problems, a preview, or the results of a search.
    async fn show_again(mut self, context: &Context, action: Action, stored: Option<&ChangelogDetail>) -> PageResult {
        if action == Action::Find {
            self.search_requests(context).await?;
        }
        let status = if self.problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
        self.render(context, stored, status).await
    }

    /// Searches public feature requests that can be linked. A blank query is no search.
    async fn search_requests(&mut self, context: &Context) -> Result<(), HttpError> {
        let query = match SearchQuery::parse("query", &self.form.query) {
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
        let mut matches = context.run(&search).await?.items;
        matches.retain(|row| !row.private && !self.form.linked.contains(&row.summary.id));
        matches.truncate(MAX_MATCHES);
        self.matches = Some(matches);
        Ok(())
    }

    /// Renders the form.
    pub(super) async fn render(
        self,
        context: &Context,
        stored: Option<&ChangelogDetail>,
        status: StatusCode,
    ) -> PageResult {
        let Self { form, cover, problems, preview, matches, conflict } = self;
        let (t, now) = (context.text(), context.state.http.clock.now());
        let title = stored
            .map_or_else(|| t.get("changelog-new").into_owned(), |detail| detail.changelog.title.as_str().to_owned());
        let page = admin::frame(context, Entry::Changelogs, title).await?;
        let people = context.run(&CountChangelogAudience { requests: form.linked.clone() }).await?;
        let is_mailed = match stored {
            Some(detail) => context.run(&ShowChangelogMail { changelog: detail.changelog.id }).await?.is_sent,
            None => false,
        };
        let known = stored.map(|detail| detail.feature_requests.as_slice()).unwrap_or_default();
        let mut linked: Vec<Linkable> = known.iter().map(|summary| Linkable::new(t, summary, &form.linked)).collect();
        let others = form.linked.iter().filter(|id| known.iter().all(|summary| summary.id != **id)).copied();
        let others = context.run(&ListPublicRequests { requests: others.take(MAX_LINKED * 3).collect() }).await?;
        linked.extend(others.iter().map(|row| Linkable::new(t, &row.summary, &form.linked)));
        let matches = matches.map(|matches| {
            let new = matches.iter().filter(|row| known.iter().all(|summary| summary.id != row.summary.id));
            new.map(|row| Linkable::new(t, &row.summary, &form.linked)).collect()
        });
        let template = FormTemplate {
            page: Page { notice: page.notice.clone().filter(|_| problems.is_empty()), ..page }
                .with_problem(!problems.is_empty()),
            action: stored.map_or_else(|| NEW_PATH.to_owned(), |detail| path(detail.changelog.id)),
            state: stored.map(|detail| State::new(t, &detail.changelog, now)),
            cover: cover.view(context),
            categories: categories(t, form.category),
            form,
            linked,
            matches,
            done_track: done_track(&context.run(&ListTracks).await?).map(|track| track.name.as_str().to_owned()),
            people: t.count("changelog-people", people),
            is_mailed,
            now: t
                .with("changelog-publish-at-hint", &[("zone", t.zone.name().into()), ("now", t.date_time(now).into())]),
            preview,
            conflict,
            problems,
        };
        Ok(Reply::page_with(status, &template))
    }
}

/// Returns the categories as options, after none.
fn categories(t: Text, selection: Option<ChangelogCategory>) -> Vec<Choice> {
    let selection = selection.map_or("", ChangelogCategory::name);
    let none = Choice::new("", t.get("changelog-category-none"), selection);
    let named = |category: ChangelogCategory| Choice::new(category.name(), t.category(category), selection);
    [none].into_iter().chain(ChangelogCategory::ALL.map(named)).collect()
}

/// Returns the first track whose feature requests are done.
fn done_track(tracks: &[Track]) -> Option<&Track> {
    tracks.iter().find(|track| track.kind() == LaneKind::Done)
}

/// Reads the time of publication. The error is the key of a text.
fn parse_publication(raw: &str, zone: TimeZone) -> Result<Timestamp, &'static str> {
    let local = parse_local(raw).ok_or("changelog-time-invalid")?;
    match zone.resolve(local) {
        LocalTime::Once(at) => Ok(at),
        LocalTime::Never => Err("changelog-time-never"),
        LocalTime::Twice => Err("changelog-time-twice"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::detail;
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page, sample_summary};
    use roadmap_domain::model::portal::Language;

    fn template(language: Language, stored: Option<&ChangelogDetail>, is_full: bool) -> FormTemplate {
        let t = Text::utc(language);
        let form = stored.map_or_else(ChangelogForm::default, |detail| ChangelogForm::of_stored(detail, at(2), t.zone));
        let linkable = |number| Linkable::new(t, &sample_summary(number, "</label><b>", None), &[]);
        let mut problems = Problems::default();
        if is_full {
            for field in ["title", "content", "cover", "linked", "query", "publish-at", "notify", "move-linked"] {
                problems.add(field, "Wrong.");
            }
        }
        let full = Stored {
            title: Some("<b>".to_owned()),
            content: Some("<b>".to_owned()),
            category: Some(String::new()),
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
            categories: categories(t, form.category),
            linked: if is_full { vec![linkable(1), linkable(2)] } else { Vec::new() },
            matches: is_full.then(|| vec![linkable(4)]),
            done_track: Some("Done <b>".to_owned()),
            people: t.count("changelog-people", 3),
            is_mailed: false,
            now: t.date_time(at(2)),
            preview: is_full.then(|| "<p>Preview</p>".to_owned()),
            conflict: if is_full { Some(full) } else { stored.map(|_| Stored::default()) },
            form,
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
                    template.matches = Some(Vec::new());
                    let html = template.render().unwrap();
                    assert_well_formed(&html);
                    assert!(!html.contains("name=\"notify\""));
                }
            }
        }
    }

    #[test]
    fn buttons_say_what_is_done() {
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
        let t = Text::utc(Language::English);
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
