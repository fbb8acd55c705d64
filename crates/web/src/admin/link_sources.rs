//! Link sources: the trackers that report closed issues. The secret of one is on one page, once.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Conflict, Resource, RoadmapError};
use roadmap_domain::model::id::{LinkSourceId, TrackId, parse_uuid};
use roadmap_domain::model::link::Tracker;
use roadmap_domain::model::link_source::{LinkSource, LinkSourceChange, parse_tracker};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::Track;
use roadmap_domain::usecase::change_link_sources::{
    AddLinkSource, DeleteLinkSource, LinkSourceAdded, LinkSourceDraft, parse_secret,
};
use roadmap_domain::usecase::query::link_sources::{ListLinkSources, ShowLinkSource};
use roadmap_domain::usecase::query::tracks::ListTracks;
use roadmap_http::error::HttpError;
use sha2::{Digest, Sha256};

use crate::admin::parts::{Choice, DisplayTime};
use crate::admin::{self, Entry, missing_record_as_404, path_id};
use crate::context::Context;
use crate::digest::hex;
use crate::form::{Fields, Problems};
use crate::once::{run_once, run_step};
use crate::page::{Nav, Page};
use crate::reply::{PageResult, Reply};

/// The path of the list.
const PATH: &str = "/admin/link-sources";

/// The trackers as they write their names themselves, with the keys of the sentences about where the address and the secret
/// belong.
const TRACKERS: [(Tracker, &str, &str); 4] = [
    (Tracker::Github, "GitHub", "link-source-steps-github"),
    (Tracker::Gitlab, "GitLab", "link-source-steps-gitlab"),
    (Tracker::Jira, "Jira", "link-source-steps-jira"),
    (Tracker::Linear, "Linear", "link-source-steps-linear"),
];

#[derive(Template)]
#[template(path = "admin/link-sources.html")]
struct SourcesPage {
    page: Page,
    rows: Vec<SourceRow>,
    form: SourceForm,
    kinds: Vec<Choice>,
    tracks: Vec<Choice>,
    is_fresh: bool,
    problems: Problems,
}

/// The page with the secret of a new link source.
#[derive(Template)]
#[template(path = "admin/link-source-created.html")]
struct CreatedPage {
    page: Page,
    address: String,
    secret: String,
    steps: String,
}

/// The page that asks before a link source is deleted.
#[derive(Template)]
#[template(path = "admin/link-source-delete.html")]
struct DeletePage {
    page: Page,
    row: SourceRow,
    is_fresh: bool,
}

/// A link source in the list.
#[derive(Debug, Clone)]
struct SourceRow {
    id: String,
    name: String,
    kind: &'static str,
    address: String,
    track: Option<String>,
    notifies: bool,
    is_enabled: bool,
    received: Option<DisplayTime>,
}

impl SourceRow {
    fn new(page: &Page, source: &LinkSource, tracks: &[Track]) -> Self {
        let track = tracks.iter().find(|track| Some(track.id) == source.closed_track);
        Self {
            id: source.id.to_string(),
            name: source.name.as_str().to_owned(),
            kind: tracker_name(source.tracker),
            address: format!("{}/hooks/{}", page.origin, source.id),
            track: track.map(|track| track.name.as_str().to_owned()),
            notifies: source.notify_all_voters,
            is_enabled: source.enabled,
            received: source.last_received_at.map(|at| DisplayTime::minute(page.t, at)),
        }
    }
}

/// What was typed for a new link source.
#[derive(Debug, Clone, Default)]
struct SourceForm {
    name: String,
    kind: String,
    track: String,
    notifies: bool,
}

fn tracker_name(tracker: Tracker) -> &'static str {
    TRACKERS.into_iter().find(|(of, ..)| *of == tracker).map_or("", |(_, name, _)| name)
}

/// `GET /admin/link-sources`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    render(&context, SourceForm::default(), Problems::default()).await
}

/// `POST /admin/link-sources`: adds a link source and shows its secret.
pub(crate) async fn create(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, mut problems) = (context.text(), Problems::default());
    let form = SourceForm {
        name: fields.get("name").to_owned(),
        kind: fields.get("kind").to_owned(),
        track: fields.get("track").to_owned(),
        notifies: !fields.get("notify").is_empty(),
    };
    let name = problems.check(Name::parse("name", &form.name), t);
    let tracker = problems.check(parse_tracker(Some(&form.kind)), t);
    let secret = match parse_secret(Some(fields.get("secret"))) {
        Ok(secret) => Some(secret),
        Err(_) => {
            problems.add("secret", t.get("link-source-secret-problem"));
            None
        }
    };
    let (Some(name), Some(tracker), Some(secret)) = (name, tracker, secret) else {
        return render(&context, form, problems).await;
    };
    let change = LinkSourceChange {
        name: Some(name.clone()),
        // What is no ID of a track is refused like a track that was deleted meanwhile.
        closed_track: Some(
            (!form.track.is_empty()).then(|| TrackId::new(parse_uuid("track", &form.track).unwrap_or_default())),
        ),
        notify_all_voters: Some(form.notifies),
        enabled: Some(true),
    };
    // The secret is made here, so that the page can show the one that is stored.
    let secret = secret.unwrap_or_else(|| context.state.sealer.new_secret());
    let draft = LinkSourceDraft { name, tracker, change, secret: Some(secret.clone()) };
    let operation = AddLinkSource { draft, sealer: context.state.sealer.clone() };
    // The digest tells the own secret from that of an earlier use of the form.
    let digest = hex(&Sha256::digest(secret.as_str()));
    let own = digest.clone();
    let render_id = move |added: LinkSourceAdded| format!("{}:{digest}", added.source.id);
    match run_step(&context, &fields, "", operation, render_id).await {
        Err(HttpError::Domain(RoadmapError::NotFound(Resource::Track))) => {
            problems.add("track", t.get("team-problem-track"));
            render(&context, form, problems).await
        }
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::TooManyLinkSources))) => {
            problems.add("name", t.get("link-sources-full"));
            render(&context, form, problems).await
        }
        Err(error) => Err(error),
        Ok(saved) => {
            let id = saved.split_once(':').filter(|(_, of)| *of == own).map(|(id, _)| parse_uuid("id", id));
            match id.and_then(Result::ok) {
                Some(id) => created(&context, LinkSourceId::new(id), secret.as_str()).await,
                None => Ok(Reply::see_other(format!("{PATH}?done=link-source-added-before"))),
            }
        }
    }
}

/// Shows the address and the secret of a new link source.
async fn created(context: &Context, id: LinkSourceId, secret: &str) -> PageResult {
    let (t, source) = (context.text(), find(context, id).await?);
    let title = t.named("link-source-created-title", source.name.as_str());
    let page = admin::frame(context, Entry::LinkSources, title).await?;
    let notice = Some(t.get("link-source-created-notice").into_owned());
    let page = Page { here: PATH.to_owned(), notice, ..page };
    Ok(Reply::page(&CreatedPage::new(page, &source, secret)).private())
}

impl CreatedPage {
    fn new(page: Page, source: &LinkSource, secret: &str) -> Self {
        let steps = TRACKERS.into_iter().find(|(of, ..)| *of == source.tracker).map_or("", |(.., key)| key);
        let steps = page.t.get(steps).into_owned();
        let address = SourceRow::new(&page, source, &[]).address;
        Self { page, address, secret: secret.to_owned(), steps }
    }
}

/// `GET /admin/link-sources/{id}/delete`: asks.
pub(crate) async fn ask_delete(context: Rc<Context>) -> PageResult {
    let (t, id) = (context.text(), path_id(&context, LinkSourceId::new)?);
    let (source, tracks) = (find(&context, id).await?, context.run(&ListTracks).await?);
    let title = t.named("link-source-delete-title", source.name.as_str());
    let page = admin::frame(&context, Entry::LinkSources, title).await?;
    let row = SourceRow::new(&page, &source, &tracks);
    Ok(Reply::page(&DeletePage { page, row, is_fresh: context.has_fresh_sign_in() }))
}

/// `POST /admin/link-sources/{id}/delete`.
pub(crate) async fn delete(context: Rc<Context>, fields: Fields) -> PageResult {
    let source = path_id(&context, LinkSourceId::new)?;
    let landing = |_| format!("{PATH}?done=link-source-deleted");
    missing_record_as_404(run_once(&context, &fields, DeleteLinkSource { source }, landing).await)
}

/// Returns a link source.
async fn find(context: &Context, id: LinkSourceId) -> Result<LinkSource, HttpError> {
    context.run(&ShowLinkSource { source: Some(id) }).await
}

async fn render(context: &Context, form: SourceForm, problems: Problems) -> PageResult {
    let t = context.text();
    let (sources, tracks) = (context.run(&ListLinkSources).await?, context.run(&ListTracks).await?);
    let page = admin::frame(context, Entry::LinkSources, t.get("admin-link-sources")).await?;
    let page = Page { here: PATH.to_owned(), ..page.with_problem(!problems.is_empty()) };
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let is_fresh = context.has_fresh_sign_in();
    Ok(Reply::page_with(status, &SourcesPage::new(page, &sources, &tracks, form, is_fresh, problems)))
}

impl SourcesPage {
    fn new(
        page: Page,
        sources: &[LinkSource],
        tracks: &[Track],
        form: SourceForm,
        is_fresh: bool,
        problems: Problems,
    ) -> Self {
        let none = Choice::new("", page.t.get("link-source-no-track"), &form.track);
        let choice = |track: &Track| Choice::new(track.id.to_string(), track.name.as_str(), &form.track);
        Self {
            rows: sources.iter().map(|source| SourceRow::new(&page, source, tracks)).collect(),
            kinds: TRACKERS.map(|(tracker, name, _)| Choice::new(tracker.name(), name, &form.kind)).to_vec(),
            tracks: std::iter::once(none).chain(tracks.iter().map(choice)).collect(),
            is_fresh,
            problems,
            form,
            page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page};
    use roadmap_domain::model::portal::Language;
    use uuid::Uuid;

    fn source(tracker: Tracker) -> LinkSource {
        LinkSource {
            id: LinkSourceId::new(Uuid::from_u128(7)),
            name: Name::from_stored("Code <b>".to_owned()),
            tracker,
            closed_track: Some(TrackId::new(Uuid::from_u128(1))),
            notify_all_voters: true,
            enabled: tracker != Tracker::Jira,
            last_received_at: (tracker == Tracker::Github).then(|| at(0)),
            created_at: at(0),
            updated_at: at(0),
        }
    }

    fn track() -> Track {
        Track { id: TrackId::new(Uuid::from_u128(1)), name: Name::from_stored("Shipped <i>".to_owned()), lane: None }
    }

    #[test]
    fn pages_are_well_formed_and_escape_names() {
        for language in Language::ALL {
            for is_fresh in [true, false] {
                let page = sample_page(language, true, "Link sources");
                let sources: Vec<LinkSource> = Tracker::ALL.map(source).to_vec();
                let form = SourceForm { name: "<u>".to_owned(), ..SourceForm::default() };
                let mut problems = Problems::default();
                problems.add("secret", page.t.get("link-source-secret-problem"));
                let list = SourcesPage::new(page, &sources, &[track()], form, is_fresh, problems).render().unwrap();
                assert_well_formed(&list);
                assert!(list.contains("Code &#60;b&#62;") && list.contains("Shipped &#60;i&#62;"), "{list}");
                assert_eq!(list.contains("name=\"secret\""), is_fresh);
                let page = sample_page(language, true, "Link sources");
                let row = SourceRow::new(&page, &source(Tracker::Github), &[track()]);
                assert_well_formed(&DeletePage { page, row, is_fresh }.render().unwrap());
            }
            for tracker in Tracker::ALL {
                let created =
                    CreatedPage::new(sample_page(language, true, "Link sources"), &source(tracker), "a secret & more");
                assert!(
                    !created.steps.is_empty()
                        && created.address.ends_with("/hooks/00000000-0000-0000-0000-000000000007")
                );
                let html = created.render().unwrap();
                assert_well_formed(&html);
                assert!(html.contains("a secret &#38; more"), "{html}");
            }
        }
    }
}
