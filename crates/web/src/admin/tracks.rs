//! Tracks and lanes: their order, their names, and which track leads to which lane.

use std::rc::Rc;

use actix_web::http::{Method, StatusCode};
use askama::Template;
use roadmap_domain::error::{Conflict, FieldError, Resource, RoadmapError, Validated};
use roadmap_domain::model::admin::{InboxCounts, TrackCounts};
use roadmap_domain::model::board::{LaneChange, ListedLane, PortalLane, TrackChange};
use roadmap_domain::model::id::{LaneId, TrackId, parse_uuid};
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::portal::Language;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::{Lane, LaneKind};
use roadmap_domain::usecase::change_board::{
    AddLane, AddTrack, ChangeLane, ChangeTrack, LaneDraft, LaneRef, RemoveLane, RemoveTrack, TrackDraft,
};
use roadmap_domain::usecase::query::tracks::{ListLanes, ShowPortalRoadmap};
use roadmap_http::error::HttpError;

use crate::actions::execute;
use crate::admin::parts::{Choice, track_choices};
use crate::admin::{self, Entry};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::portal::parts::Status;
use crate::portal::roadmap::LaneView;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the page.
const PATH: &str = "/admin/tracks";
/// Number of feature requests of each lane in the preview of the roadmap.
const PER_LANE: u32 = 3;

#[derive(Template)]
#[template(path = "admin/tracks.html")]
struct BoardTemplate {
    page: Page,
    tracks: Vec<TrackRow>,
    lanes: Vec<LaneRow>,
    /// The public roadmap.
    roadmap: Vec<LaneView>,
    new: NewNames,
    /// The lanes, for a new track.
    choices: Vec<Choice>,
    /// The kinds, for a new lane.
    kinds: Vec<Choice>,
    problems: Problems,
}

/// What was typed for a new track or lane.
#[derive(Debug, Clone, Default)]
struct NewNames {
    track: String,
    lane: String,
    /// The chosen kind of the lane. Blank: what the name says.
    kind: String,
}

/// The buttons of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Moves {
    /// The path of the record.
    path: String,
    /// The position above. `None` for the first one.
    up: Option<u64>,
    /// The position below. `None` for the last one.
    down: Option<u64>,
}

impl Moves {
    fn new(path: String, position: u64, count: usize) -> Self {
        let is_last = u64::try_from(count).is_ok_and(|count| position >= count);
        Self { path, up: (position > 1).then(|| position - 1), down: (!is_last).then_some(position + 1) }
    }
}

/// A track in the list.
struct TrackRow {
    name: String,
    status: Option<Status>,
    count: String,
    moves: Moves,
}

/// A lane in the list.
struct LaneRow {
    name: String,
    status: Status,
    /// What it means, in words.
    kind: String,
    count: String,
    moves: Moves,
}

#[derive(Template)]
#[template(path = "admin/track.html")]
struct TrackTemplate {
    page: Page,
    path: String,
    name: String,
    choices: Vec<Choice>,
    /// The name and the id of the lane when the form was opened.
    before: [String; 2],
    problems: Problems,
}

#[derive(Template)]
#[template(path = "admin/lane.html")]
struct LaneTemplate {
    page: Page,
    path: String,
    name: String,
    kinds: Vec<Choice>,
    names: Vec<NameField>,
    /// The name and the kind when the form was opened.
    before: [String; 2],
    problems: Problems,
}

/// The field of a lane's name in a language.
struct NameField {
    id: &'static str,
    label: String,
    /// What was typed or is stored.
    value: String,
    /// What was stored when the form was opened.
    before: String,
}

/// The fields of the names in the languages.
const NAME_FIELDS: [(&str, Language); 3] =
    [("lane-name-en", Language::English), ("lane-name-de", Language::German), ("lane-name-ar", Language::Arabic)];

/// What the form of a lane shows: its name, its kind, and its names in the languages.
#[derive(Clone)]
struct LaneFields {
    name: String,
    kind: String,
    names: [String; 3],
}

impl LaneFields {
    fn of_stored(lane: &Lane) -> Self {
        let name_in = |(_, language)| lane.names.get(language).unwrap_or_default().to_owned();
        Self {
            name: lane.name.as_str().to_owned(),
            kind: lane.kind.as_str().to_owned(),
            names: NAME_FIELDS.map(name_in),
        }
    }

    /// Reads the fields, or what they showed when the form was opened.
    fn of_form(fields: &Fields, is_before: bool) -> Self {
        let get = |field: &str| fields.get(field).to_owned();
        let (name, kind) = if is_before { ("name-before", "kind-before") } else { ("lane-name", "lane-kind") };
        let names = NAME_FIELDS.map(|(field, _)| if is_before { get(&format!("{field}-before")) } else { get(field) });
        Self { name: get(name), kind: get(kind), names }
    }
}

#[derive(Template)]
#[template(path = "admin/track-delete.html")]
struct DeleteTrackTemplate {
    page: Page,
    path: String,
    /// How many feature requests move.
    count: String,
    /// Where they can go. Empty if nothing is to be moved.
    targets: Vec<Choice>,
    /// Whether it is the last track, which cannot be deleted.
    is_last: bool,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "admin/lane-delete.html")]
struct DeleteLaneTemplate {
    page: Page,
    path: String,
    /// The tracks that lose their status, with the numbers of their feature requests.
    tracks: Vec<(String, String)>,
}

fn track_path(id: TrackId) -> String {
    format!("{PATH}/{id}")
}

fn lane_path(id: LaneId) -> String {
    format!("/admin/lanes/{id}")
}

/// Returns the lanes as options. The first one is no lane.
fn lane_choices(t: Text, lanes: &[ListedLane], selection: &str) -> Vec<Choice> {
    let none = Choice::new("", t.get("no-lane"), selection);
    let of_lane = |lane: &ListedLane| Choice::new(lane.lane.id.to_string(), lane.lane.name.as_str(), selection);
    std::iter::once(none).chain(lanes.iter().map(of_lane)).collect()
}

/// Returns the key of what a lane means.
const fn kind_key(kind: LaneKind) -> &'static str {
    match kind {
        LaneKind::Considering => "lane-kind-considering",
        LaneKind::Planned => "lane-kind-planned",
        LaneKind::Started => "lane-kind-started",
        LaneKind::Done => "lane-kind-done",
        LaneKind::Declined => "lane-kind-declined",
        LaneKind::Other => "lane-kind-other",
    }
}

/// Returns the kinds of lanes as options, for a new lane after one that leaves it to the name.
fn kind_choices(t: Text, is_new: bool, selection: &str) -> Vec<Choice> {
    let by_name = is_new.then(|| Choice::new("", t.get("lane-kind-by-name"), selection));
    let kinds = LaneKind::ALL.map(|kind| Choice::new(kind.as_str(), t.get(kind_key(kind)), selection));
    by_name.into_iter().chain(kinds).collect()
}

/// Reads a chosen kind. Blank means none.
fn parse_kind(raw: &str) -> Validated<Option<LaneKind>> {
    if raw.is_empty() { Ok(None) } else { LaneKind::parse("lane-kind", raw).map(Some) }
}

/// Reads a chosen lane. Blank means none.
fn parse_lane(field: &str, raw: &str) -> Validated<Option<LaneId>> {
    if raw.is_empty() { Ok(None) } else { parse_uuid(field, raw).map(|id| Some(LaneId::new(id))) }
}

fn status_of(problems: &Problems) -> StatusCode {
    if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY }
}

/// Adds the problem of a name or a lane that an operation has found. Returns whether it is one.
fn explain(t: Text, error: &RoadmapError, fields: (&str, &str), taken: &str, problems: &mut Problems) -> bool {
    let (name, lane) = fields;
    match error {
        RoadmapError::Taken { .. } => problems.add(name, t.get(taken)),
        RoadmapError::NotFound(Resource::Lane) => problems.add(lane, t.get("lane-gone")),
        _ => return false,
    }
    true
}

/// Whether the record of the path does not exist.
fn or_missing(error: RoadmapError, record: Resource) -> HttpError {
    match error {
        RoadmapError::NotFound(missing) if missing == record => HttpError::NotFound,
        error => HttpError::Domain(error),
    }
}

/// `GET /admin/tracks`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    board(&context, NewNames::default(), "", Problems::default()).await
}

/// `POST /admin/tracks`: adds a track.
pub(crate) async fn add_track(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, mut problems) = (context.text(), Problems::default());
    let (raw_name, raw_lane) = (fields.get("track-name").to_owned(), fields.get("track-lane").to_owned());
    let name = problems.check(Name::parse("track-name", &raw_name), t);
    let lane = parse_lane("track-lane", &raw_lane).map_err(|_| problems.add("track-lane", t.get("lane-gone")));
    if let (Some(name), Ok(lane)) = (name, lane) {
        let draft = TrackDraft { name, lane: lane.map(LaneRef::Id), position: None };
        let landing = |_| format!("{PATH}?done=track-added");
        match run_once(&context, &fields, AddTrack { draft }, landing).await {
            Err(HttpError::Domain(error))
                if explain(t, &error, ("track-name", "track-lane"), "track-name-taken", &mut problems) => {}
            outcome => return outcome,
        }
    }
    board(&context, NewNames { track: raw_name, ..NewNames::default() }, &raw_lane, problems).await
}

/// `POST /admin/lanes`: adds a lane.
pub(crate) async fn add_lane(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, mut problems) = (context.text(), Problems::default());
    let [raw_name, raw_kind] = ["lane-name", "lane-kind"].map(|field| fields.get(field).to_owned());
    let name = problems.check(Name::parse("lane-name", &raw_name), t);
    let kind = parse_kind(&raw_kind).map_err(|_| problems.add("lane-kind", t.get("lane-kind-unknown")));
    if let (Some(name), Ok(kind)) = (name, kind) {
        let draft = LaneDraft { name, kind, names: Localized::default(), position: None };
        let landing = |_| format!("{PATH}?done=lane-added");
        match run_once(&context, &fields, AddLane { draft }, landing).await {
            Err(HttpError::Domain(RoadmapError::Taken { .. })) => problems.add("lane-name", t.get("lane-name-taken")),
            outcome => return outcome,
        }
    }
    board(&context, NewNames { lane: raw_name, kind: raw_kind, track: String::new() }, "", problems).await
}

/// Shows the board.
async fn board(context: &Context, new: NewNames, selection: &str, problems: Problems) -> PageResult {
    let t = context.text();
    let (mut page, counts) = admin::frame_with_counts(context, Entry::Tracks, t.get("admin-tracks")).await?;
    if context.request.method() == Method::POST {
        // The path of the form for a lane is no page to come back to.
        page.here = PATH.to_owned();
    }
    let roadmap = context.run(&ShowPortalRoadmap { per_lane: PER_LANE }).await?;
    let template =
        BoardTemplate::new(page.with_problem(!problems.is_empty()), &counts, &roadmap, new, selection, problems);
    Ok(Reply::page_with(status_of(&template.problems), &template))
}

impl BoardTemplate {
    fn new(
        page: Page,
        counts: &InboxCounts,
        roadmap: &[PortalLane],
        new: NewNames,
        selection: &str,
        problems: Problems,
    ) -> Self {
        let t = page.t;
        let lanes: Vec<ListedLane> = roadmap.iter().map(|lane| lane.lane.clone()).collect();
        let track = |(position, TrackCounts { track, all, .. }): (u64, &TrackCounts)| TrackRow {
            name: track.name.as_str().to_owned(),
            status: track.lane.as_ref().map(|lane| Status::of_lane(lane, t.language)),
            count: t.count("requests-count", *all),
            moves: Moves::new(track_path(track.id), position, counts.tracks.len()),
        };
        let lane = |listed: &ListedLane| LaneRow {
            name: listed.lane.name.as_str().to_owned(),
            status: Status::of_lane(&listed.lane, t.language),
            kind: t.get(kind_key(listed.lane.kind)).into_owned(),
            count: t.count("requests-count", listed.feature_requests_count),
            moves: Moves::new(lane_path(listed.lane.id), listed.position, roadmap.len()),
        };
        Self {
            tracks: (1..).zip(&counts.tracks).map(track).collect(),
            lanes: lanes.iter().map(lane).collect(),
            roadmap: roadmap.iter().map(|lane| LaneView::new(t, lane)).collect(),
            choices: lane_choices(t, &lanes, selection),
            kinds: kind_choices(t, true, &new.kind),
            page,
            new,
            problems,
        }
    }
}

/// Reads the position of a button that moves a row. `None` for another button.
fn parse_position(fields: &Fields) -> Option<u64> {
    fields.get("position").parse().ok()
}

/// `GET /admin/tracks/{id}`.
pub(crate) async fn show_track(context: Rc<Context>) -> PageResult {
    let id = admin::path_id(&context, TrackId::new)?;
    track_form(&context, id, None, Problems::default()).await
}

/// `POST /admin/tracks/{id}`: moves a track, or saves its name and its lane.
pub(crate) async fn change_track(context: Rc<Context>, fields: Fields) -> PageResult {
    let id = admin::path_id(&context, TrackId::new)?;
    let missing = |error| match error {
        HttpError::Domain(error) => or_missing(error, Resource::Track),
        error => error,
    };
    if let Some(position) = parse_position(&fields) {
        // Moving to a position twice moves once, so that no operation key is needed.
        let change = TrackChange { position: Some(position), ..TrackChange::default() };
        execute(&context, ChangeTrack { track: id, change }).await.map_err(missing)?;
        return Ok(Reply::see_other(format!("{PATH}?done=track-saved")));
    }
    let (t, mut problems) = (context.text(), Problems::default());
    let [raw_name, raw_lane] = ["track-name", "track-lane"].map(|field| fields.get(field).to_owned());
    let before = ["name-before", "lane-before"].map(|field| fields.get(field).to_owned());
    let name = problems.check(Name::parse("track-name", &raw_name), t);
    let lane = parse_lane("track-lane", &raw_lane).map_err(|_| problems.add("track-lane", t.get("lane-gone")));
    if let (Some(name), Ok(lane)) = (name, lane) {
        // What was not changed in the form stays, also if somebody else has changed it since the form was opened.
        let is_changed = |field, raw: &str, before: &str| !fields.has(field) || raw != before;
        let change = TrackChange {
            name: is_changed("name-before", &raw_name, &before[0]).then_some(name),
            lane: is_changed("lane-before", &raw_lane, &before[1]).then_some(lane),
            position: None,
        };
        let landing = |_| format!("{PATH}?done=track-saved");
        match run_once(&context, &fields, ChangeTrack { track: id, change }, landing).await {
            Err(HttpError::Domain(error))
                if explain(t, &error, ("track-name", "track-lane"), "track-name-taken", &mut problems) => {}
            outcome => return outcome.map_err(missing),
        }
    }
    track_form(&context, id, Some(([raw_name, raw_lane], before)), problems).await
}

/// Shows the form of a track with what was typed, and what was stored before, or with what is stored.
async fn track_form(
    context: &Context,
    id: TrackId,
    form: Option<([String; 2], [String; 2])>,
    problems: Problems,
) -> PageResult {
    let (page, counts) = admin::frame_with_counts(context, Entry::Tracks, "").await?;
    let track = &find_track(&counts, id)?.track;
    let lanes = context.run(&ListLanes).await?;
    let title = page.t.named("track-title", track.name.as_str());
    let ([name, lane], before) = form.unwrap_or_else(|| {
        let lane = track.lane.as_ref().map(|lane| lane.id.to_string());
        let stored = [track.name.as_str().to_owned(), lane.unwrap_or_default()];
        (stored.clone(), stored)
    });
    let choices = lane_choices(page.t, &lanes, &lane);
    let page = Page { title, ..page }.with_problem(!problems.is_empty());
    let template = TrackTemplate { page, path: track_path(id), name, choices, before, problems };
    Ok(Reply::page_with(status_of(&template.problems), &template))
}

fn find_track(counts: &InboxCounts, id: TrackId) -> Result<&TrackCounts, HttpError> {
    counts.tracks.iter().find(|counts| counts.track.id == id).ok_or(HttpError::NotFound)
}

/// `GET /admin/tracks/{id}/delete`.
pub(crate) async fn ask_delete_track(context: Rc<Context>) -> PageResult {
    let id = admin::path_id(&context, TrackId::new)?;
    delete_track_form(&context, id, None, Problems::default()).await
}

/// `POST /admin/tracks/{id}/delete`.
pub(crate) async fn delete_track(context: Rc<Context>, fields: Fields) -> PageResult {
    let id = admin::path_id(&context, TrackId::new)?;
    let (t, mut problems) = (context.text(), Problems::default());
    let raw_target = fields.get("move-to").to_owned();
    let move_to = match raw_target.as_str() {
        "" => Ok(None),
        raw => parse_uuid("move-to", raw).map(|id| Some(TrackId::new(id))),
    };
    match move_to {
        // The error about the deleted track itself is the same as the one about its target.
        Ok(target) => {
            let operation = RemoveTrack { track: id, move_to: target };
            let landing = |_| format!("{PATH}?done=track-deleted");
            match run_once(&context, &fields, operation, landing).await {
                Err(HttpError::Domain(RoadmapError::Conflict(Conflict::LastTrack))) => {
                    problems.add("move-to", t.get("track-delete-last"));
                }
                Err(HttpError::Domain(RoadmapError::Invalid(error))) if error == FieldError::missing("move_to") => {
                    problems.add("move-to", t.get("track-target-missing"));
                }
                Err(HttpError::Domain(RoadmapError::NotFound(Resource::Track))) => {
                    problems.add("move-to", t.get("track-target-gone"));
                }
                outcome => return outcome,
            }
        }
        Err(_) => problems.add("move-to", t.get("track-target-gone")),
    }
    delete_track_form(&context, id, Some(raw_target), problems).await
}

/// Shows the page that asks before a track is deleted.
async fn delete_track_form(
    context: &Context,
    id: TrackId,
    selection: Option<String>,
    problems: Problems,
) -> PageResult {
    let (page, counts) = admin::frame_with_counts(context, Entry::Tracks, "").await?;
    let TrackCounts { track, all, .. } = find_track(&counts, id)?;
    let title = page.t.named("track-delete-title", track.name.as_str());
    let page = Page { title, ..page }.with_problem(!problems.is_empty());
    let is_last = counts.tracks.len() == 1;
    let template = DeleteTrackTemplate {
        path: track_path(id),
        count: page.t.count("track-delete-count", *all),
        // Merged feature requests are not counted, but they need a track, too. Then there is a problem.
        targets: if is_last || (*all == 0 && problems.is_empty()) {
            Vec::new()
        } else {
            targets(&counts, id, selection)
        },
        is_last,
        page,
        problems,
    };
    Ok(Reply::page_with(status_of(&template.problems), &template))
}

/// Returns the other tracks as options.
fn targets(counts: &InboxCounts, id: TrackId, selection: Option<String>) -> Vec<Choice> {
    let selection = selection.and_then(|selection| parse_uuid("move-to", &selection).ok()).map(TrackId::new);
    let this = id.to_string();
    track_choices(counts, selection).into_iter().filter(|choice| choice.value != this).collect()
}

/// `GET /admin/lanes/{id}`.
pub(crate) async fn show_lane(context: Rc<Context>) -> PageResult {
    let id = admin::path_id(&context, LaneId::new)?;
    lane_form(&context, id, None, Problems::default()).await
}

/// `POST /admin/lanes/{id}`: moves a lane, or saves its name and its kind.
pub(crate) async fn change_lane(context: Rc<Context>, fields: Fields) -> PageResult {
    let id = admin::path_id(&context, LaneId::new)?;
    let missing = |error| match error {
        HttpError::Domain(error) => or_missing(error, Resource::Lane),
        error => error,
    };
    if let Some(position) = parse_position(&fields) {
        let change = LaneChange { position: Some(position), ..LaneChange::default() };
        execute(&context, ChangeLane { lane: id, change }).await.map_err(missing)?;
        return Ok(Reply::see_other(format!("{PATH}?done=lane-saved")));
    }
    let (t, mut problems) = (context.text(), Problems::default());
    let [typed, before] = [false, true].map(|is_before| LaneFields::of_form(&fields, is_before));
    let name = problems.check(Name::parse("lane-name", &typed.name), t);
    let kind = parse_kind(&typed.kind).map_err(|_| problems.add("lane-kind", t.get("lane-kind-unknown")));
    // What was not changed in the form stays, also if somebody else has changed it since the form was opened.
    let mut names = find_lane(&context, id).await?.lane.names;
    for (((field, language), raw), before) in NAME_FIELDS.into_iter().zip(&typed.names).zip(&before.names) {
        let parsed = problems.check(Localized::parse_names(field, [(language.code(), Some(raw.as_str()))]), t);
        if let Some(parsed) = parsed.filter(|_| raw != before) {
            names = names.with(language, parsed.get(language).unwrap_or_default());
        }
    }
    if let (Some(name), Ok(kind), true) = (name, kind, problems.is_empty()) {
        let is_changed = |field, raw: &str, before: &str| !fields.has(field) || raw != before;
        let change = LaneChange {
            name: is_changed("name-before", &typed.name, &before.name).then_some(name),
            kind: kind.filter(|_| is_changed("kind-before", &typed.kind, &before.kind)),
            names: (typed.names != before.names).then_some(names),
            position: None,
        };
        let landing = |_| format!("{PATH}?done=lane-saved");
        match run_once(&context, &fields, ChangeLane { lane: id, change }, landing).await {
            Err(HttpError::Domain(RoadmapError::Taken { .. })) => problems.add("lane-name", t.get("lane-name-taken")),
            outcome => return outcome.map_err(missing),
        }
    }
    lane_form(&context, id, Some((typed, before)), problems).await
}

/// Shows the form of a lane with what was typed, and what was stored before, or with what is stored.
async fn lane_form(
    context: &Context,
    id: LaneId,
    form: Option<(LaneFields, LaneFields)>,
    problems: Problems,
) -> PageResult {
    let lane = find_lane(context, id).await?;
    let title = context.text().named("lane-title", lane.lane.name.as_str());
    let page = admin::frame(context, Entry::Tracks, title).await?;
    let page = page.with_problem(!problems.is_empty());
    let (typed, before) = form.unwrap_or_else(|| {
        let stored = LaneFields::of_stored(&lane.lane);
        (stored.clone(), stored)
    });
    let name_field = |(((id, language), value), before): (((_, Language), _), _)| NameField {
        id,
        label: page.t.named("field-lane-name-in", language.own_name()),
        value,
        before,
    };
    let template = LaneTemplate {
        kinds: kind_choices(page.t, false, &typed.kind),
        names: NAME_FIELDS.into_iter().zip(typed.names).zip(before.names).map(name_field).collect(),
        path: lane_path(id),
        name: typed.name,
        before: [before.name, before.kind],
        page,
        problems,
    };
    Ok(Reply::page_with(status_of(&template.problems), &template))
}

async fn find_lane(context: &Context, id: LaneId) -> Result<ListedLane, HttpError> {
    let lanes = context.run(&ListLanes).await?;
    lanes.into_iter().find(|lane| lane.lane.id == id).ok_or(HttpError::NotFound)
}

/// `GET /admin/lanes/{id}/delete`.
pub(crate) async fn ask_delete_lane(context: Rc<Context>) -> PageResult {
    let id = admin::path_id(&context, LaneId::new)?;
    let lane = find_lane(&context, id).await?;
    let title = context.text().named("lane-delete-title", lane.lane.name.as_str());
    let (page, counts) = admin::frame_with_counts(&context, Entry::Tracks, title).await?;
    let of_lane = |counts: &&TrackCounts| counts.track.lane.as_ref().is_some_and(|lane| lane.id == id);
    let row =
        |counts: &TrackCounts| (counts.track.name.as_str().to_owned(), page.t.count("requests-count", counts.all));
    let tracks = counts.tracks.iter().filter(of_lane).map(row).collect();
    Ok(Reply::page(&DeleteLaneTemplate { path: lane_path(id), tracks, page }))
}

/// `POST /admin/lanes/{id}/delete`.
pub(crate) async fn delete_lane(context: Rc<Context>, fields: Fields) -> PageResult {
    let lane = admin::path_id(&context, LaneId::new)?;
    let landing = |_| format!("{PATH}?done=lane-deleted");
    let outcome = run_once(&context, &fields, RemoveLane { lane }, landing).await;
    outcome.map_err(|error| match error {
        HttpError::Domain(error) => or_missing(error, Resource::Lane),
        error => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_lanes, sample_page};
    use crate::portal::roadmap::tests::sample_card;
    use roadmap_domain::model::track::Track;
    use uuid::Uuid;

    fn counts() -> InboxCounts {
        let lane = sample_lanes()[1].lane.clone();
        let track = |(number, lane): (u128, _)| TrackCounts {
            track: Track {
                id: TrackId::new(Uuid::from_u128(number)),
                name: Name::from_stored(format!("Track <{number}> \"a\"")),
                lane,
            },
            all: 84,
            unanswered: 0,
            replied: 0,
            private: 0,
        };
        InboxCounts { tracks: [(1, None), (2, Some(lane)), (3, None)].map(track).into(), ..InboxCounts::default() }
    }

    fn problems(fields: &[&str]) -> Problems {
        let mut problems = Problems::default();
        fields.iter().for_each(|field| problems.add(*field, "Wrong."));
        problems
    }

    #[test]
    fn the_board_is_well_formed_and_names_its_buttons() {
        for language in Language::ALL {
            for is_empty in [false, true] {
                let lanes = sample_lanes().into_iter().take(if is_empty { 0 } else { 4 });
                let lane = |lane: ListedLane| PortalLane {
                    cards: if lane.position == 1 { Vec::new() } else { vec![sample_card(1, "<b>")] },
                    lane,
                };
                let roadmap: Vec<PortalLane> = lanes.map(lane).collect();
                let problems =
                    problems(if is_empty { &["track-name", "track-lane", "lane-name", "lane-kind"] } else { &[] });
                let page = sample_page(language, true, "Tracks");
                let board = BoardTemplate::new(page, &counts(), &roadmap, NewNames::default(), "", problems);
                let moves: Vec<_> = board.tracks.iter().map(|row| (row.moves.up, row.moves.down)).collect();
                assert_eq!(moves, [(None, Some(2)), (Some(1), Some(3)), (Some(2), None)]);
                assert_eq!(board.choices.len(), if is_empty { 1 } else { 5 });
                let html = board.render().unwrap();
                assert_well_formed(&html);
                assert_eq!(html.matches(" disabled>").count(), if is_empty { 2 } else { 4 });
            }
        }
        let page = sample_page(Language::English, true, "Tracks");
        let roadmap: Vec<PortalLane> =
            sample_lanes().into_iter().map(|lane| PortalLane { lane, cards: Vec::new() }).collect();
        let board = BoardTemplate::new(page, &counts(), &roadmap, NewNames::default(), "", Problems::default());
        let html = board.render().unwrap();
        let name = "Track &#60;1&#62; &#34;a&#34;";
        for label in [
            format!("Move {name} up"),
            format!("Move {name} down"),
            format!("Rename {name}"),
            format!("Delete {name}"),
            "Move lane Planned up".to_owned(),
            "Move lane Planned down".to_owned(),
            "Rename lane Planned".to_owned(),
            "Delete lane Planned".to_owned(),
        ] {
            assert!(html.contains(&format!("aria-label=\"{label}\"")), "{label}");
        }
    }

    #[test]
    fn the_forms_of_tracks_and_lanes_are_well_formed() {
        for language in Language::ALL {
            let page = || sample_page(language, true, "Track “<b>”");
            for fields in [&[][..], &["track-name", "track-lane", "lane-name", "lane-name-de", "lane-kind", "move-to"]]
            {
                let choices = lane_choices(Text::utc(language), &sample_lanes(), "");
                let (path, name) = (PATH.to_owned(), "<b>".to_owned());
                let problems = || problems(fields);
                let before = ["Old".to_owned(), String::new()];
                let track =
                    TrackTemplate { page: page(), path, name, choices, before: before.clone(), problems: problems() };
                assert_well_formed(&track.render().unwrap());
                let (path, name) = (PATH.to_owned(), "<b>".to_owned());
                let (kinds, before) = (kind_choices(Text::utc(language), false, "done"), before.clone());
                let names = NAME_FIELDS.map(|(id, language)| NameField {
                    id,
                    label: Text::utc(language).named("field-lane-name-in", language.own_name()),
                    value: "<i>".to_owned(),
                    before: "\"".to_owned(),
                });
                let names = names.into();
                let lane = LaneTemplate { page: page(), path, name, kinds, names, before, problems: problems() };
                assert_well_formed(&lane.render().unwrap());
                for (is_last, has_targets) in [(true, false), (false, false), (false, true)] {
                    let id = TrackId::new(Uuid::from_u128(2));
                    let targets = if has_targets { targets(&counts(), id, None) } else { Vec::new() };
                    assert_eq!(targets.len(), if has_targets { 2 } else { 0 });
                    // A problem is about the field, so that the field is there.
                    let problems = if has_targets { problems() } else { Problems::default() };
                    let count = Text::utc(language).count("track-delete-count", 84);
                    let path = PATH.to_owned();
                    let template = DeleteTrackTemplate { page: page(), path, count, targets, is_last, problems };
                    assert_well_formed(&template.render().unwrap());
                }
            }
            for tracks in [Vec::new(), vec![("<b>".to_owned(), "84".to_owned())]] {
                let template = DeleteLaneTemplate { page: page(), path: PATH.to_owned(), tracks };
                assert_well_formed(&template.render().unwrap());
            }
        }
    }

    #[test]
    fn a_chosen_lane_is_an_id_or_none() {
        let id = LaneId::new(Uuid::from_u128(1));
        assert_eq!(parse_lane("track-lane", ""), Ok(None));
        assert_eq!(parse_lane("track-lane", &id.to_string()), Ok(Some(id)));
        assert!(parse_lane("track-lane", "Planned").is_err());
    }
}
