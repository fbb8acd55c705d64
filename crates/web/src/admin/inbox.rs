//! The inbox: the feature requests of the team, by views and filters, and what is done with many of them at once.

mod deleting;
mod merging;
pub(crate) mod place;
mod undo;
mod views;
mod welcome;

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{FieldProblem, RoadmapError};
use roadmap_domain::model::admin::{
    HeldSelection, InboxCounts, InboxFilter, InboxList, InboxRow, InboxSort, InboxState, Selection, TrackCounts, Triage,
};
use roadmap_domain::model::feature_request::{Attention, RequestLink, Tag};
use roadmap_domain::model::id::{CommentId, FeatureRequestId, MemberId, TrackId, parse_uuid};
use roadmap_domain::model::pagination::{Listing, PageRequest, parse_count};
use roadmap_domain::model::portal::{HeldComment, HeldPost};
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::model::text::truncate;
use roadmap_domain::model::track::Track;
use roadmap_domain::usecase::decide_held_posts::{DecideHeldPosts, HeldPostsDecided};
use roadmap_domain::usecase::query::admin::{ListInbox, ListInboxRows};
use roadmap_domain::usecase::query::portal::ListHeldPosts;
use roadmap_domain::usecase::query::tags::SuggestTags;
use roadmap_domain::usecase::triage_feature_requests::{TriageFeatureRequests, Triaged};
use roadmap_http::error::HttpError;

pub(crate) use self::deleting::{ask_delete, delete};
pub(crate) use self::merging::ask_merge;
use self::place::ListPlace;
pub(crate) use self::undo::undo;
use self::views::{OwnViews, ViewForm};
pub(crate) use self::views::{remove as remove_view, save as save_view};
use crate::actions::{with_done, without_parameter};
use crate::admin::parts::{Choice, Person};
use crate::admin::{self, Entry, frame_with_counts, shortcuts};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::portal::parts::{Pager, excerpt};
use crate::prose;
use crate::reply::{PageResult, Reply};
use crate::text::Text;
use welcome::Welcome;

const PATH: &str = "/admin";

/// Maximum number of characters of a search. Longer ones are cut.
const MAX_QUERY: usize = 200;

/// Maximum number of characters of an ID in the address. Longer ones are none, and cut.
const MAX_ID: usize = 50;

/// Maximum number of tracks in the address. Further ones are left out.
const MAX_TRACKS: usize = 100;

/// Maximum number of characters of the beginning of a description in a row, of which one line is shown.
const EXCERPT: usize = 120;

/// The ID of the first check box, to which problems of the selection lead.
const FIRST: &str = "select-1";

#[derive(Template)]
#[template(path = "admin/inbox.html")]
struct InboxPage {
    page: Page,
    address: Address,
    views: Vec<View>,
    own_views: OwnViews,
    /// The tracks, as check boxes.
    tracks: Vec<Choice>,
    lanes: Vec<Choice>,
    /// What the fields of tags suggest.
    known_tags: Vec<Tag>,
    sorts: Vec<Choice>,
    /// How many were found, if not all are shown.
    results_count: Option<String>,
    rows: Vec<Row>,
    /// What can be done with the ticked rows. Merged ones have no check boxes: a change would be one of their targets.
    bulk: Option<BulkBar>,
    held: Held,
    /// Whether it is the view of what waits for approval, with its buttons.
    is_awaiting: bool,
    empty: Option<Empty>,
    pager: Option<Pager>,
    /// The first steps, until they are done.
    welcome: Option<Welcome>,
    /// Whether there is no feature request.
    is_new: bool,
}

impl InboxPage {
    /// Returns the key of a shortcut, if shortcuts are switched on.
    fn key(&self, action: &str) -> Option<&'static str> {
        self.page.has_shortcuts.then(|| shortcuts::key(shortcuts::INBOX, action)).flatten()
    }
}

/// A view: the feature requests of a state.
struct View {
    name: String,
    path: String,
    count: String,
    is_current: bool,
}

/// What is done with the ticked rows.
struct BulkBar {
    changes: Vec<Choice>,
    tag: String,
    problems: Problems,
}

/// A row of the table.
#[derive(Debug, Clone)]
struct Row {
    id: String,
    title: String,
    path: String,
    /// The parameters of its place in the list.
    place: String,
    /// The beginning of the description. It may be empty.
    excerpt: String,
    tags: Vec<String>,
    /// How many private notes it has.
    notes: Option<String>,
    number: String,
    is_ticked: bool,
    /// What it needs from the team, in words.
    attention: Option<String>,
    is_awaiting: bool,
    is_private: bool,
    /// How many comments wait for approval.
    held: Option<String>,
    merged_into: Option<Link>,
    track: String,
    votes: String,
    companies: String,
    comments: String,
    author: Option<Person>,
    date: String,
    machine_date: String,
}

/// A link to a feature request.
#[derive(Debug, Clone)]
struct Link {
    title: String,
    path: String,
}

/// The comments that wait for approval.
#[derive(Default)]
struct Held {
    comments: Vec<HeldEntry>,
    /// How many more there are.
    more: Option<String>,
}

/// A comment that waits for approval.
struct HeldEntry {
    id: String,
    is_ticked: bool,
    author: Person,
    request: Link,
    html: String,
    date: String,
    machine_date: String,
}

/// Why a list is empty.
struct Empty {
    title: String,
    text: String,
}

/// The parameters of the list, as its address has them. Empty ones are not in the address.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Address {
    state: InboxState,
    query: String,
    tracks: Vec<String>,
    lane: String,
    tag: String,
    is_mine: bool,
    sort: &'static str,
    page: u64,
}

impl Address {
    fn parse(fields: &Fields) -> Self {
        let sort = fields.get("sort");
        Self {
            state: InboxState::from_name(fields.get("state")),
            query: truncate(fields.get("query").trim(), MAX_QUERY).to_owned(),
            tracks: fields
                .all("track")
                .map(|track| truncate(track.trim(), MAX_ID).to_owned())
                .filter(|track| !track.is_empty())
                .take(MAX_TRACKS)
                .collect(),
            lane: truncate(fields.get("lane").trim(), MAX_ID).to_owned(),
            tag: truncate(fields.get("tag").trim(), MAX_QUERY).to_owned(),
            is_mine: !fields.get("mine").is_empty(),
            sort: InboxSort::ALL.map(InboxSort::name).into_iter().find(|name| *name == sort).unwrap_or_default(),
            page: parse_count("page", Some(fields.get("page")), 1, u64::MAX).unwrap_or(1),
        }
    }

    /// Returns the parameters of a path. Of any other page, those of the whole inbox.
    fn of_path(path: &str) -> Self {
        let query = path.strip_prefix(PATH).and_then(|rest| rest.strip_prefix('?')).unwrap_or_default();
        Self::parse(&Fields::parse(query.as_bytes()))
    }

    /// Returns the path of the list with these parameters.
    fn path(&self) -> String {
        let page = if self.page > 1 { self.page.to_string() } else { String::new() };
        let state = if self.state == InboxState::Open { "" } else { self.state.name() };
        let parameters = [("state", state), ("query", &self.query)].into_iter();
        let parameters = parameters.chain(self.tracks.iter().map(|track| ("track", track.as_str()))).chain([
            ("lane", self.lane.as_str()),
            ("tag", &self.tag),
            ("mine", if self.is_mine { "1" } else { "" }),
            ("sort", self.sort),
            ("page", &page),
        ]);
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(parameters.filter(|(_, value)| !value.is_empty()));
        let query = query.finish();
        if query.is_empty() { PATH.to_owned() } else { format!("{PATH}?{query}") }
    }

    /// Returns the first page of a view, without filters, in the same order.
    fn of_view(&self, state: InboxState) -> Self {
        Self { state, sort: self.sort, ..Self::of_path(PATH) }
    }

    /// Returns the path of the view without filters.
    fn without_filters(&self) -> String {
        self.of_view(self.state).path()
    }

    /// Whether the list shows a part of its view.
    fn is_filtered(&self) -> bool {
        !self.query.is_empty() || self.has_more()
    }

    /// Whether one of the filters is used that are less common.
    fn has_more(&self) -> bool {
        !self.tracks.is_empty() || !self.lane.is_empty() || !self.tag.is_empty() || self.is_mine
    }
}

/// Returns the path of the inbox with the feature requests on a track.
pub(crate) fn track_path(track: TrackId) -> String {
    Address { tracks: vec![track.to_string()], state: InboxState::All, ..Address::of_path(PATH) }.path()
}

/// Returns the path of the inbox with the feature requests that have a tag.
pub(crate) fn tag_path(tag: &Tag) -> String {
    Address { tag: tag.as_str().to_owned(), state: InboxState::All, ..Address::of_path(PATH) }.path()
}

/// Returns the path of the inbox with the feature requests of a state.
pub(crate) fn state_path(state: InboxState) -> String {
    Address::of_path(PATH).of_view(state).path()
}

/// Returns the path of the team's page of a feature request.
pub(crate) fn team_path(request: &RequestLink) -> String {
    format!("/admin/feature_requests/{}", request.slug())
}

/// What is sent with the form of the list.
#[derive(Debug, Default)]
struct Bulk {
    ids: Vec<FeatureRequestId>,
    /// The ticked comments that wait for approval.
    comments: Vec<CommentId>,
    /// The chosen change: one of [`CHANGES`], or the ID of a track.
    change: String,
    tag: String,
    problems: Problems,
}

/// What the form of the list leads to.
#[derive(Debug, PartialEq, Eq)]
enum BulkAction {
    /// A change at once.
    Triage(Triage),
    /// The page that asks for the target.
    Merge,
    /// The page that asks whether they are deleted.
    Delete,
}

/// What can be chosen apart from a move to a track, with the keys of the names.
const CHANGES: [(&str, &str); 9] = [
    ("add-tag", "inbox-add-tag"),
    ("remove-tag", "inbox-remove-tag"),
    ("private", "inbox-make-private"),
    ("public", "inbox-make-public"),
    ("no-answer-needed", "inbox-no-answer-needed"),
    ("approve", "inbox-approve"),
    ("decline", "inbox-decline"),
    ("merge", "inbox-merge"),
    ("delete", "inbox-delete"),
];

impl Bulk {
    fn parse(fields: &Fields) -> Self {
        Self {
            ids: selected(fields),
            comments: fields
                .all("comment")
                .filter_map(|id| parse_uuid("comment", id).ok())
                .map(CommentId::new)
                .collect(),
            change: fields.get("change").to_owned(),
            tag: fields.get("tag").to_owned(),
            problems: Problems::default(),
        }
    }

    /// Returns the action of the form.
    ///
    /// # Errors
    /// Adds the problem of a field.
    fn parse_action(&mut self, t: Text) -> Option<BulkAction> {
        // Enter in the field of the tag presses the button, also when nothing is chosen.
        let is_tag_alone = self.change.is_empty() && !self.tag.trim().is_empty();
        let triage = match if is_tag_alone { "add-tag" } else { self.change.as_str() } {
            "add-tag" => Triage::AddTag(self.parse_tag(t)?),
            "remove-tag" => Triage::RemoveTag(self.parse_tag(t)?),
            "private" => Triage::SetPrivate(true),
            "public" => Triage::SetPrivate(false),
            "approve" => Triage::Approve,
            "decline" => Triage::Decline,
            "no-answer-needed" => Triage::NoAnswerNeeded,
            "merge" => return Some(BulkAction::Merge),
            "delete" => return Some(BulkAction::Delete),
            track => match parse_uuid("change", track) {
                Ok(track) => Triage::Move(TrackId::new(track)),
                Err(_) => {
                    self.problems.add("change", t.get("inbox-problem-action"));
                    return None;
                }
            },
        };
        Some(BulkAction::Triage(triage))
    }

    fn parse_tag(&mut self, t: Text) -> Option<Tag> {
        self.problems.check(Tag::parse("tag", &self.tag), t)
    }

    /// Returns the ticked rows, of which there must be some.
    ///
    /// # Errors
    /// Adds the problem of the first check box.
    fn selection(&mut self, t: Text, at_least: usize) -> Option<Selection> {
        let selection = match Selection::new("id", self.ids.clone()) {
            Ok(selection) if selection.requests().len() >= at_least => return Some(selection),
            selection => selection,
        };
        let key = match selection.map_err(|error| error.problem) {
            Err(FieldProblem::TooMany { .. }) => "inbox-problem-many",
            _ if at_least > 1 => "inbox-problem-two",
            _ => "inbox-problem-none",
        };
        self.problems.add(FIRST, t.count(key, Selection::MAX as i64));
        None
    }

    /// Returns the ticked ideas and comments, of which there must be some.
    ///
    /// # Errors
    /// Adds the problem of the first check box.
    fn held_selection(&mut self, t: Text) -> Option<HeldSelection> {
        let selection = HeldSelection::new("id", self.ids.clone(), self.comments.clone());
        let key = match selection.map_err(|error| error.problem) {
            Ok(selection) => return Some(selection),
            Err(FieldProblem::TooMany { .. }) => "inbox-problem-many-posts",
            Err(_) => "inbox-problem-no-posts",
        };
        self.problems.add(FIRST, t.count(key, Selection::MAX as i64));
        None
    }

    /// Adds the problem of a change that could not be made.
    ///
    /// # Errors
    /// There is nothing that the person can do about it.
    fn explain(&mut self, t: Text, triage: &Triage, error: HttpError) -> Result<(), HttpError> {
        match (triage, &error) {
            (Triage::Move(_), HttpError::Domain(RoadmapError::NotFound(_))) => {
                self.problems.add("change", t.get("inbox-problem-track-gone"));
            }
            (Triage::AddTag(_), HttpError::Domain(RoadmapError::Invalid(invalid))) => match invalid.problem {
                FieldProblem::TooMany { max } => {
                    self.problems.add("tag", t.count("inbox-problem-tags", i64::try_from(max).unwrap_or(i64::MAX)));
                }
                _ => self.problems.add("tag", t.problem(invalid)),
            },
            _ => return Err(error),
        }
        Ok(())
    }
}

/// Returns the selected feature requests of a form or an address. Malformed IDs are left out.
fn selected(fields: &Fields) -> Vec<FeatureRequestId> {
    fields.all("id").filter_map(|id| parse_uuid("id", id).ok()).map(FeatureRequestId::new).collect()
}

/// Returns the name of what was done, for the parameter `done`.
const fn done_name(triage: &Triage) -> &'static str {
    match triage {
        Triage::Move(_) => "moved",
        Triage::AddTag(_) => "tagged",
        Triage::RemoveTag(_) => "untagged",
        Triage::SetPrivate(true) => "made-private",
        Triage::SetPrivate(false) => "made-public",
        Triage::MergeInto(_) => "merged",
        Triage::Approve => "requests-approved",
        Triage::Decline => "requests-declined",
        Triage::NoAnswerNeeded => "no-answer-needed",
        Triage::Delete => "requests-deleted",
    }
}

/// The parameter with the ID of the track to which feature requests were moved.
const TO: &str = "to";

/// Returns the path after a change of this number of feature requests at once.
fn landing_of(path: &str, triage: &Triage, done: Triaged) -> String {
    let path = landing(path, done_name(triage), done.changed);
    let at = done.at.millis();
    match triage {
        _ if done.changed == 0 => path,
        Triage::Move(track) => format!("{path}&{TO}={track}&{}={at}", undo::PARAMETER),
        Triage::AddTag(_) | Triage::RemoveTag(_) | Triage::SetPrivate(_) => format!("{path}&{}={at}", undo::PARAMETER),
        _ => path,
    }
}

/// Returns the notice after a move, which names the track.
fn moved_notice(context: &Context, counts: &InboxCounts) -> Option<String> {
    let (t, to) = (context.text(), context.query.get(TO));
    if context.query.get("done") != "moved" {
        return None;
    }
    let track = counts.tracks.iter().find(|counts| counts.track.id.to_string() == to)?.track.name.as_str();
    let count: i64 = context.query.get("count").parse().ok()?;
    let number = t.number(count);
    Some(t.with("done-moved-to", &[("count", count.into()), ("number", number.into()), ("name", track.into())]))
}

/// Adds what was done with how many feature requests to a path.
fn landing(path: &str, done: &str, changed: usize) -> String {
    let path = without_parameter(path, "count");
    match changed {
        0 => with_done(&path, "unchanged"),
        changed => format!("{}&count={changed}", with_done(&path, done)),
    }
}

/// Does the same with all selected feature requests, and leads back to the list.
async fn run(
    context: &Context,
    fields: &Fields,
    address: &Address,
    selection: Selection,
    triage: &Triage,
) -> Result<Reply, HttpError> {
    let (path, triage) = (address.path(), triage.clone());
    let operation = TriageFeatureRequests { selection, triage: triage.clone() };
    run_once(context, fields, operation, move |triaged| landing_of(&path, &triage, triaged)).await
}

/// Approves or discards the selected posts, and leads back to the list.
async fn decide(
    context: &Context,
    fields: &Fields,
    address: &Address,
    posts: HeldSelection,
    approves: bool,
) -> PageResult {
    let (path, done) = (address.path(), if approves { "posts-approved" } else { "posts-discarded" });
    let operation = DecideHeldPosts { posts, approves };
    let landing = move |decided: HeldPostsDecided| landing(&path, done, decided.changed);
    run_once(context, fields, operation, landing).await
}

/// `GET /admin`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    render(&context, Address::parse(&context.query), Bulk::default(), ViewForm::default()).await
}

/// `POST /admin/triage`.
pub(crate) async fn triage(context: Rc<Context>, fields: Fields) -> PageResult {
    let (t, address) = (context.text(), Address::of_path(fields.get("next")));
    if fields.get("action") == "merge" {
        return merging::merge(&context, &fields, &address).await;
    }
    let mut bulk = Bulk::parse(&fields);
    if let decision @ ("approve" | "discard") = fields.get("action") {
        return match bulk.held_selection(t) {
            Some(posts) => decide(&context, &fields, &address, posts, decision == "approve").await,
            None => render(&context, address, bulk, ViewForm::default()).await,
        };
    }
    let action = bulk.parse_action(t);
    let selection = bulk.selection(t, if action == Some(BulkAction::Merge) { 2 } else { 1 });
    match (action, selection) {
        (Some(BulkAction::Merge), Some(selection)) => {
            return Ok(Reply::see_other(merging::path(&address, selection.requests())));
        }
        (Some(BulkAction::Delete), Some(selection)) => {
            return Ok(Reply::see_other(deleting::path(&address, selection.requests())));
        }
        (Some(BulkAction::Triage(triage)), Some(selection)) => {
            // A change of one that somebody has merged meanwhile would be one of its target, which nobody has ticked.
            let filter = InboxFilter { state: InboxState::Merged, ..InboxFilter::default() };
            let merged = context.run(&ListInboxRows { filter, requests: selection.requests().to_vec() }).await?;
            if merged.is_empty() {
                match run(&context, &fields, &address, selection, &triage).await {
                    Ok(reply) => return Ok(reply),
                    Err(error) => bulk.explain(t, &triage, error)?,
                }
            } else {
                bulk.problems.add(FIRST, t.get("inbox-problem-merged"));
            }
        }
        _ => {}
    }
    render(&context, address, bulk, ViewForm::default()).await
}

/// Shows the list, with the form as it was sent.
async fn render(context: &Context, address: Address, bulk: Bulk, view: ViewForm) -> PageResult {
    let t = context.text();
    let (page, counts) = frame_with_counts(context, Entry::Inbox, t.get("admin-inbox")).await?;
    let (_, member) = admin::member(context)?;
    let listing = list_of_address(context, &address, &counts, member.id).await?;
    let held = match address.state {
        InboxState::Awaiting if !address.is_filtered() => Held::load(context, &counts, &bulk.comments).await?,
        _ => Held::default(),
    };
    let has_problem = !bulk.problems.is_empty() || view.problem.is_some();
    let status = if has_problem { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let mut page = page.with_problem(has_problem);
    page.notice = moved_notice(context, &counts).or(page.notice);
    page.undo = undo::form(context, &address);
    let own_views = OwnViews::load(context, &address, view).await?;
    let place = ListPlace::of_page(&address);
    let rows = listing.items.iter().enumerate().map(|(at, row)| Row::new(t, row, &bulk.ids, &place.plus(at)));
    let rows: Vec<Row> = rows.collect();
    let is_new = counts.of_state(InboxState::All) + counts.merged == 0;
    let template = InboxPage {
        views: views(t, &counts, &address),
        own_views,
        tracks: tracks(t, &counts, &address),
        lanes: lanes(t, &counts, &address),
        known_tags: context.run(&SuggestTags).await?,
        sorts: sorts(t, &address),
        results_count: (address.is_filtered() && !rows.is_empty()).then(|| t.count("results", listing.total)),
        is_awaiting: address.state == InboxState::Awaiting,
        empty: (rows.is_empty() && held.is_empty()).then(|| empty(t, &address)),
        pager: pager(t, &listing, &address),
        bulk: (address.state != InboxState::Merged).then(|| BulkBar::new(t, &counts, bulk)),
        welcome: Welcome::load(context, &counts, member).await?,
        is_new,
        // The page of a form that was not accepted is the list.
        page: Page { here: if status.is_success() { page.here.clone() } else { address.path() }, ..page },
        rows,
        held,
        address,
    };
    Ok(Reply::page_with(status, &template))
}

/// Returns the links to the pages before and after. A search shows on its first page all that it has found.
fn pager(t: Text, listing: &Listing<InboxRow>, address: &Address) -> Option<Pager> {
    if !address.query.is_empty() {
        return None;
    }
    Pager::new(t, listing, InboxList::MAX_PAGE, |page| Address { page, ..address.clone() }.path())
}

/// Runs the query of an address. A filter that nothing can match gives an empty list.
async fn list_of_address(
    context: &Context,
    address: &Address,
    counts: &InboxCounts,
    member: MemberId,
) -> Result<Listing<InboxRow>, HttpError> {
    let per_page = InboxList::PER_PAGE.to_string();
    let page = PageRequest::parse(Some(&address.page.to_string()), Some(&per_page)).unwrap_or_default();
    let nothing = || Ok(Listing { items: Vec::new(), request: page, total: 0 });
    let mut filter = InboxFilter { state: address.state, ..InboxFilter::default() };
    filter.member = address.is_mine.then_some(member);
    if !address.tracks.is_empty() || !address.lane.is_empty() {
        let lane = |track: &Track| track.lane.as_ref().map_or(String::new(), |lane| lane.id.to_string());
        let is_chosen = |track: &Track| {
            (address.tracks.is_empty() || address.tracks.contains(&track.id.to_string()))
                && (address.lane.is_empty() || address.lane == lane(track))
        };
        let chosen = counts.tracks.iter().map(|known| &known.track).filter(|track| is_chosen(track));
        filter.tracks = Some(chosen.map(|track| track.id).collect());
    }
    if !address.tag.is_empty() {
        let Ok(tag) = Tag::parse("tag", &address.tag) else { return nothing() };
        filter.tag = Some(tag);
    }
    let mut query = None;
    if !address.query.is_empty() {
        let Ok(words) = SearchQuery::parse("query", &address.query) else { return nothing() };
        query = Some(words);
    }
    let list = InboxList { filter, sort: InboxSort::from_name(address.sort), page };
    context.run(&ListInbox { query, list, is_sorted: !address.sort.is_empty() }).await
}

impl Row {
    fn new(t: Text, row: &InboxRow, ticked: &[FeatureRequestId], place: &ListPlace) -> Self {
        let InboxRow { summary, author, merged_into, .. } = row;
        Self {
            id: summary.id.to_string(),
            title: summary.title.as_str().to_owned(),
            path: team_path(&RequestLink::from(summary)),
            place: place.query(),
            excerpt: excerpt(&row.excerpt, EXCERPT),
            tags: row.tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
            notes: (row.notes_count > 0).then(|| t.count("team-notes-count", row.notes_count)),
            number: summary.tag_number.to_string(),
            is_ticked: ticked.contains(&summary.id),
            attention: row.attention.map(|attention| t.get(attention_key(attention)).into_owned()),
            is_awaiting: row.awaiting_approval,
            is_private: row.private && !row.awaiting_approval,
            held: (row.held_count > 0).then(|| t.count("inbox-held", row.held_count)),
            merged_into: merged_into.as_ref().map(Link::new),
            track: summary.placement.track.as_str().to_owned(),
            votes: t.number(summary.votes_count),
            companies: t.number(row.companies_count),
            comments: t.number(row.comments_count),
            author: author.as_ref().map(Person::from),
            date: t.short_date(summary.created_at),
            machine_date: t.machine_date(summary.created_at),
        }
    }
}

/// Returns the key of what a feature request needs from the team.
pub(crate) const fn attention_key(attention: Attention) -> &'static str {
    match attention {
        Attention::Unanswered => "inbox-unanswered",
        Attention::Replied => "inbox-replied",
    }
}

impl Link {
    fn new(request: &RequestLink) -> Self {
        Self { title: request.title.as_str().to_owned(), path: team_path(request) }
    }
}

impl Held {
    /// Whether no comment waits for approval.
    fn is_empty(&self) -> bool {
        self.comments.is_empty() && self.more.is_none()
    }

    /// Loads the comments that wait for approval, oldest first.
    async fn load(context: &Context, counts: &InboxCounts, ticked: &[CommentId]) -> Result<Self, HttpError> {
        let page = PageRequest::parse(None, Some(&PageRequest::MAX_SIZE.to_string()));
        let posts = context.run(&ListHeldPosts { page }).await?;
        Ok(Self::new(context.text(), posts.items, counts.held_comments, ticked))
    }

    fn new(t: Text, posts: Vec<HeldPost>, total: i64, ticked: &[CommentId]) -> Self {
        let entry = |HeldPost { request, comment, .. }: HeldPost| {
            let HeldComment { id, content, author, created_at } = comment?;
            Some(HeldEntry {
                is_ticked: ticked.contains(&id),
                id: id.to_string(),
                author: Person::from(&author),
                request: Link::new(&request),
                html: prose::html(&content),
                date: t.date_time(created_at),
                machine_date: created_at.to_string(),
            })
        };
        let comments: Vec<HeldEntry> = posts.into_iter().filter_map(entry).collect();
        let more = total.saturating_sub(i64::try_from(comments.len()).unwrap_or(i64::MAX));
        Self { more: (more > 0).then(|| t.count("inbox-held-more", more)), comments }
    }
}

impl BulkBar {
    fn new(t: Text, counts: &InboxCounts, bulk: Bulk) -> Self {
        let Bulk { change, tag, problems, .. } = bulk;
        let moves = counts.tracks.iter().map(|counts| {
            let label = t.named("inbox-move-to", counts.track.name.as_str());
            Choice::new(counts.track.id.to_string(), label, &change)
        });
        let none = Choice::new("", t.get("inbox-choose"), "none");
        let others = CHANGES.into_iter().map(|(value, key)| Choice::new(value, t.get(key), &change));
        Self { changes: std::iter::once(none).chain(moves).chain(others).collect(), tag, problems }
    }
}

/// Returns the views with their numbers. What waits for approval are feature requests and comments.
fn views(t: Text, counts: &InboxCounts, address: &Address) -> Vec<View> {
    let view = |state: InboxState| {
        let (key, count) = match state {
            InboxState::All => ("lane-all", counts.of_state(state)),
            InboxState::Open => ("inbox-open", counts.of_state(state)),
            InboxState::Unanswered => ("inbox-unanswered", counts.of_state(state)),
            InboxState::Replied => ("inbox-replied", counts.of_state(state)),
            InboxState::Awaiting => ("badge-awaiting", counts.of_state(state) + counts.held_comments),
            InboxState::Private => ("badge-private", counts.of_state(state)),
            InboxState::Merged => ("inbox-merged", counts.of_state(state)),
        };
        View {
            name: t.get(key).into_owned(),
            path: address.of_view(state).path(),
            count: t.number(count),
            is_current: state == address.state,
        }
    };
    InboxState::ALL.into_iter().map(view).collect()
}

/// Returns the tracks to choose from, with the numbers of the view where they are known.
fn tracks(t: Text, counts: &InboxCounts, address: &Address) -> Vec<Choice> {
    let is_offered = |counts: &&TrackCounts| address.state != InboxState::Open || !counts.track.kind().is_closed();
    let tracks = counts.tracks.iter().filter(is_offered).map(|counts| {
        let number = match address.state {
            InboxState::Open | InboxState::All => Some(counts.all),
            InboxState::Unanswered => Some(counts.unanswered),
            InboxState::Replied => Some(counts.replied),
            InboxState::Private => Some(counts.private),
            InboxState::Awaiting | InboxState::Merged => None,
        };
        let name = counts.track.name.as_str();
        let label = number.map_or_else(|| name.to_owned(), |number| format!("{name} ({})", t.number(number)));
        let value = counts.track.id.to_string();
        let is_chosen = address.tracks.contains(&value);
        Choice { value, label, is_chosen }
    });
    tracks.collect()
}

/// Returns the lanes of the tracks, each once.
fn lanes(t: Text, counts: &InboxCounts, address: &Address) -> Vec<Choice> {
    let mut choices = vec![Choice::new("", t.get("inbox-all-lanes"), &address.lane)];
    for lane in counts.tracks.iter().filter_map(|counts| counts.track.lane.as_ref()) {
        let choice = Choice::new(lane.id.to_string(), lane.name.as_str(), &address.lane);
        if !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    choices
}

/// Returns the orders to choose from. The order that the list has is chosen.
///
/// The first one is the order without a choice, of a list newest first, of a search by relevance. It has no value, so that
/// words that are typed into a list that nobody has ordered are searched by relevance.
fn sorts(t: Text, address: &Address) -> Vec<Choice> {
    let is_search = !address.query.is_empty();
    let selection = match InboxSort::from_name(address.sort) {
        // A search does not know when something was changed: the newest ones are first.
        InboxSort::Updated if is_search => InboxSort::Newest.name(),
        InboxSort::Newest if !is_search => "",
        _ => address.sort,
    };
    let by_default = if is_search { "sort-relevance" } else { "sort-newest" };
    let others = [
        (InboxSort::Newest, "sort-newest", is_search),
        (InboxSort::Votes, "sort-votes", true),
        (InboxSort::Companies, "inbox-sort-companies", true),
        (InboxSort::Oldest, "sort-oldest", true),
        (InboxSort::Updated, "sort-updated", !is_search),
    ];
    let others = others.into_iter().filter(|(_, _, is_offered)| *is_offered);
    std::iter::once(("", by_default))
        .chain(others.map(|(sort, key, _)| (sort.name(), key)))
        .map(|(value, key)| Choice::new(value, t.get(key), selection))
        .collect()
}

/// Returns what an empty list says.
fn empty(t: Text, address: &Address) -> Empty {
    let (title, text) = match address.state {
        _ if address.page > 1 => ("empty-page-title", "empty-page-text"),
        _ if address.is_filtered() => ("empty-filter-title", "inbox-empty-filter"),
        InboxState::All => ("inbox-empty-all-title", "inbox-empty-all"),
        InboxState::Open => ("inbox-empty-open-title", "inbox-empty-open"),
        InboxState::Unanswered => ("inbox-empty-unanswered-title", "inbox-empty-unanswered"),
        InboxState::Replied => ("inbox-empty-replied-title", "inbox-empty-replied"),
        InboxState::Awaiting => ("inbox-empty-awaiting-title", "inbox-empty-awaiting"),
        InboxState::Private => ("inbox-empty-private-title", "inbox-empty-private"),
        InboxState::Merged => ("inbox-empty-merged-title", "inbox-empty-merged"),
    };
    Empty { title: t.get(title).into_owned(), text: t.get(text).into_owned() }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::welcome::Progress;
    use super::*;
    use crate::notices;
    use crate::page::Undo;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page, sample_summary};
    use roadmap_domain::error::{FieldError, Resource};
    use roadmap_domain::model::customer::CustomerName;
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::html::CleanHtml;
    use roadmap_domain::model::id::{CustomerId, LaneId};
    use roadmap_domain::model::localized::Localized;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::text::Name;
    use roadmap_domain::model::track::{Lane, LaneKind, Track};
    use uuid::Uuid;

    const ENGLISH: Text = Text::utc(Language::English);

    fn customer() -> CustomerName {
        let email = EmailAddress::from_stored("maja@customer.example".to_owned());
        let name = Name::parse("name", "Maja <b>").ok();
        CustomerName { id: CustomerId::new(Uuid::from_u128(1)), email, name }
    }

    /// Returns a row with as many votes as its number.
    pub(crate) fn sample_row(number: i64, private: bool) -> InboxRow {
        InboxRow {
            summary: sample_summary(number, "Night <colours> & \"themes\"", Some("Done")),
            private,
            awaiting_approval: false,
            attention: None,
            companies_count: 19,
            comments_count: 1_204,
            held_count: 0,
            excerpt: "Less light\n\nin the <evening>".to_owned(),
            tags: vec![Tag::parse("tag", "a & b").unwrap()],
            notes_count: number,
            author: Some(customer()),
            merged_into: None,
        }
    }

    /// Returns the numbers of three tracks, two of them on one lane.
    pub(crate) fn sample_counts() -> InboxCounts {
        let name = |name: &str| Name::from_stored(name.to_owned());
        let lane = || {
            Some(Lane {
                id: LaneId::new(Uuid::from_u128(9)),
                name: name("Planned"),
                kind: LaneKind::Planned,
                names: Localized::default(),
            })
        };
        let track = |number: u128, track: &str, lane: Option<Lane>, all: i64| TrackCounts {
            track: Track { id: TrackId::new(Uuid::from_u128(number)), name: name(track), lane },
            all,
            unanswered: 2,
            replied: 1,
            private: 1,
        };
        InboxCounts {
            tracks: vec![
                track(1, "Inbox", None, 1_200),
                track(2, "Next <month>", lane(), 30),
                track(3, "Next year", lane(), 0),
            ],
            awaiting: 3,
            held_comments: 2,
            merged: 7,
        }
    }

    fn address(query: &str) -> Address {
        Address::parse(&Fields::parse(query.as_bytes()))
    }

    fn sample_held(t: Text, total: i64) -> Held {
        let request = RequestLink::from(&sample_row(7, false).summary);
        let comment = HeldComment {
            id: CommentId::new(Uuid::from_u128(5)),
            content: CleanHtml::from_stored("<p>Me, too</p>".to_owned()),
            author: customer(),
            created_at: at(1),
        };
        let post = |comment, author| HeldPost { request: request.clone(), comment, author, created_at: at(1) };
        let ticked = [comment.id];
        Held::new(t, vec![post(None, Some(customer())), post(Some(comment), None)], total, &ticked)
    }

    fn page(language: Language, query: &str, rows: &[InboxRow], bulk: Bulk, change: impl Fn(&mut InboxPage)) -> String {
        let (t, counts, address) = (Text::utc(language), sample_counts(), address(query));
        let mut page = InboxPage {
            page: sample_page(language, true, &t.get("admin-inbox")),
            views: views(t, &counts, &address),
            own_views: views::sample(&address),
            tracks: tracks(t, &counts, &address),
            lanes: lanes(t, &counts, &address),
            known_tags: vec![Tag::from_stored("<i>".to_owned())],
            sorts: sorts(t, &address),
            results_count: address.is_filtered().then(|| t.count("results", 3)),
            rows: rows.iter().map(|row| Row::new(t, row, &bulk.ids, &ListPlace::of_page(&address))).collect(),
            bulk: (address.state != InboxState::Merged).then(|| BulkBar::new(t, &counts, bulk)),
            held: Held::default(),
            is_awaiting: address.state == InboxState::Awaiting,
            empty: rows.is_empty().then(|| empty(t, &address)),
            pager: Some(Pager { previous: None, next: Some("/a".to_owned()), position: "1".to_owned() }),
            welcome: None,
            is_new: false,
            address,
        };
        change(&mut page);
        page.render().unwrap()
    }

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        let held =
            InboxRow { held_count: 2, attention: Some(Attention::Unanswered), author: None, ..sample_row(2, true) };
        let awaiting = InboxRow { awaiting_approval: true, ..sample_row(3, true) };
        let target = RequestLink::from(&sample_row(9, false).summary);
        let merged = InboxRow { merged_into: Some(target), ..sample_row(4, false) };
        let rows = [sample_row(1, false), held, awaiting];
        for language in Language::ALL {
            let t = Text::utc(language);
            for query in ["", "state=private&query=%3Cb%3E&tag=%22&mine=1&sort=votes", "state=awaiting&track=x&page=2"]
            {
                for (rows, ids) in [(&rows[..], vec![rows[1].summary.id]), (&[], Vec::new())] {
                    let ticked = ids.len();
                    let html = page(language, query, rows, Bulk { ids, ..Bulk::default() }, |_| {});
                    assert_well_formed(&html);
                    assert_eq!(html.matches(" checked aria-label").count(), ticked, "{html}");
                }
            }
            // Every field has its problem.
            let mut problems = Problems::default();
            for field in ["change", "tag", FIRST] {
                problems.add(field, "A <problem>");
            }
            let bulk = Bulk { tag: "<b>".to_owned(), change: "add-tag".to_owned(), problems, ..Bulk::default() };
            let html = page(language, "", &rows, bulk, |page| {
                page.page.has_shortcuts = true;
                page.page.undo = Some(Undo { at: "1".to_owned(), next: "/admin?tag=a".to_owned() });
            });
            assert_well_formed(&html);
            assert_eq!(html.matches("aria-invalid").count(), 4, "{html}");
            assert_eq!(html.matches("aria-keyshortcuts").count(), 3 + rows.len(), "{html}");
            assert_eq!(html.matches("action=\"/admin/undo\"").count(), 1, "{html}");
            assert_eq!(html.matches("<kbd>").count(), shortcuts::INBOX.len(), "{html}");
            // Merged ones cannot be ticked.
            let html = page(language, "state=merged", std::slice::from_ref(&merged), Bulk::default(), |_| {});
            assert_well_formed(&html);
            assert!(!html.contains("/admin/triage") && html.contains("themes/merge\""), "{html}");
            // What waits for approval, and nothing but that.
            let html = page(language, "state=awaiting", &[], Bulk::default(), |page| {
                (page.held, page.empty) = (sample_held(t, 4), None);
            });
            assert_well_formed(&html);
            assert!(html.contains("<p>Me, too</p>") && !html.contains("<table"), "{html}");
            // The boxes beside the comments belong to the form above them.
            assert!(html.contains("<form class=\"panel\" id=\"posts\""), "{html}");
            assert_eq!(html.matches(" form=\"posts\" checked").count(), 1, "{html}");
            assert!(html.contains("value=\"approve\"") && html.contains("value=\"discard\""), "{html}");
            // Comments wait behind a hundred ideas that are older.
            let html = page(language, "state=awaiting", &rows, Bulk::default(), |page| {
                page.held = Held::new(t, Vec::new(), 4, &[]);
            });
            assert_well_formed(&html);
            assert!(html.contains("id=\"held\"") && !html.contains("class=\"panel panel--pad thread\""), "{html}");
            assert!(html.contains(&t.count("inbox-held-more", 4)), "{html}");
            for (is_admin, links) in [(true, 1), (false, 0)] {
                let progress = Progress { has_mail: true, has_requests: true, ..Progress::default() };
                let welcome = |page: &mut InboxPage| {
                    page.welcome = Some(Welcome::new(t, progress, is_admin));
                    page.is_new = is_admin;
                };
                let html = page(language, "", &[], Bulk::default(), welcome);
                assert_well_formed(&html);
                assert_eq!(html.matches("\"/admin/tracks\"").count(), links, "{html}");
                assert_eq!(html.matches(&format!("({})", t.get("welcome-done"))).count(), 1 + links, "{html}");
            }
        }
    }

    #[test]
    fn addresses_have_only_the_parameters_that_mean_something() {
        for (query, path) in [
            ("", "/admin"),
            ("state=&query=&track=&lane=&tag=&mine=&sort=&page=", "/admin"),
            ("state=all&sort=best&page=0&other=1", "/admin?state=all"),
            ("state=open", "/admin"),
            ("track=1&track=&track=2", "/admin?track=1&track=2"),
            ("query=+dark+mode+&page=2", "/admin?query=dark+mode&page=2"),
            (
                "page=3&sort=votes&mine=on&tag=%26%23&lane=2&track=1&state=unanswered",
                "/admin?state=unanswered&track=1&lane=2&tag=%26%23&mine=1&sort=votes&page=3",
            ),
        ] {
            let address = address(query);
            assert_eq!(address.path(), path, "{query}");
            assert_eq!(Address::of_path(path), address);
        }
        for foreign in ["/", "/administration?page=2", "https://evil.example/admin?page=2", "//evil.example"] {
            assert_eq!(Address::of_path(foreign).path(), "/admin", "{foreign}");
        }
        let address = address("state=private&query=a&sort=votes&page=3");
        assert_eq!(address.without_filters(), "/admin?state=private&sort=votes");
        assert_eq!(track_path(TrackId::new(Uuid::nil())), format!("/admin?state=all&track={}", Uuid::nil()));
        assert_eq!(state_path(InboxState::Unanswered), "/admin?state=unanswered");
    }

    #[test]
    fn views_and_tracks_have_their_numbers() {
        let counts = sample_counts();
        let views = views(ENGLISH, &counts, &address("state=awaiting&sort=votes&tag=a"));
        let counts_of_views: Vec<_> = views.iter().map(|view| (view.name.as_str(), view.count.as_str())).collect();
        let expected = [
            ("Open", "1,230"),
            ("No answer yet", "6"),
            ("New reply", "3"),
            ("Awaiting approval", "5"),
            ("Private", "3"),
            ("Merged", "7"),
            ("All", "1,230"),
        ];
        assert_eq!(counts_of_views, expected);
        assert_eq!(views[3].path, "/admin?state=awaiting&sort=votes");
        assert_eq!(views.iter().position(|view| view.is_current), Some(3));
        for (query, label) in [
            ("", "Inbox (1,200)"),
            ("state=unanswered", "Inbox (2)"),
            ("state=replied", "Inbox (1)"),
            ("state=private", "Inbox (1)"),
            ("state=awaiting", "Inbox"),
            ("state=merged", "Inbox"),
        ] {
            assert_eq!(tracks(ENGLISH, &counts, &address(query))[0].label, label, "{query}");
        }
        let lanes = lanes(ENGLISH, &counts, &address(""));
        assert_eq!(lanes.iter().map(|lane| lane.label.as_str()).collect::<Vec<_>>(), ["All lanes", "Planned"]);
    }

    #[test]
    fn results_of_a_search_are_in_the_order_of_relevance_unless_another_one_is_chosen() {
        let sorts = |query: &str| -> Vec<(String, bool)> {
            sorts(ENGLISH, &address(query)).into_iter().map(|sort| (sort.value, sort.is_chosen)).collect()
        };
        let offered = |values: &[&str], selection: &str| -> Vec<(String, bool)> {
            values.iter().map(|value| ((*value).to_owned(), *value == selection)).collect()
        };
        let of_list = |selection: &str| offered(&["", "votes", "companies", "oldest", "updated"], selection);
        assert_eq!(sorts(""), of_list(""));
        assert_eq!(sorts("sort=newest"), of_list(""));
        assert_eq!(sorts("sort=oldest"), of_list("oldest"));
        // A search does not know when something was changed.
        let of_search = |selection: &str| offered(&["", "newest", "votes", "companies", "oldest"], selection);
        assert_eq!(sorts("query=a"), of_search(""));
        assert_eq!(sorts("query=a&sort=newest"), of_search("newest"));
        assert_eq!(sorts("query=a&sort=votes"), of_search("votes"));
        assert_eq!(sorts("query=a&sort=companies"), of_search("companies"));
        assert_eq!(sorts("query=a&sort=updated"), of_search("newest"));
    }

    #[test]
    fn an_empty_list_says_why() {
        for (query, title) in [
            ("", "Nothing is open"),
            ("state=all", "The inbox is empty"),
            ("state=replied", "No new replies"),
            ("state=unanswered", "Everything is answered"),
            ("state=awaiting", "Nothing waits for approval"),
            ("state=private", "Nothing is private"),
            ("state=merged", "Nothing is merged"),
            ("state=merged&tag=a", "Nothing matches"),
            ("tag=a&page=2", "This page is empty"),
        ] {
            assert_eq!(empty(ENGLISH, &address(query)).title, title, "{query}");
        }
    }

    #[test]
    fn forms_say_what_is_wanted() {
        let track = Uuid::from_u128(7).hyphenated().to_string();
        let triage = |triage| Some(BulkAction::Triage(triage));
        let tag = || Tag::parse("tag", "a").unwrap();
        for (form, expected, problem) in [
            (format!("change={track}&tag=a"), triage(Triage::Move(TrackId::new(Uuid::from_u128(7)))), None),
            ("change=nonsense".to_owned(), None, Some("change")),
            ("change=".to_owned(), None, Some("change")),
            (String::new(), None, Some("change")),
            // Enter in the field of the tag.
            ("change=&tag=+a+".to_owned(), triage(Triage::AddTag(tag())), None),
            ("change=add-tag&tag=a".to_owned(), triage(Triage::AddTag(tag())), None),
            ("change=add-tag&tag=+".to_owned(), None, Some("tag")),
            ("change=remove-tag&tag=a".to_owned(), triage(Triage::RemoveTag(tag())), None),
            ("change=remove-tag".to_owned(), None, Some("tag")),
            ("change=private&tag=a".to_owned(), triage(Triage::SetPrivate(true)), None),
            ("change=public".to_owned(), triage(Triage::SetPrivate(false)), None),
            ("change=approve".to_owned(), triage(Triage::Approve), None),
            ("change=decline".to_owned(), triage(Triage::Decline), None),
            ("change=no-answer-needed".to_owned(), triage(Triage::NoAnswerNeeded), None),
            ("change=merge".to_owned(), Some(BulkAction::Merge), None),
            ("change=delete".to_owned(), Some(BulkAction::Delete), None),
        ] {
            let fields = Fields::parse(form.as_bytes());
            let mut bulk = Bulk::parse(&fields);
            assert_eq!(bulk.parse_action(ENGLISH), expected, "{form}");
            let fields_with_problems: Vec<&str> = bulk.problems.iter().map(|(field, _)| field.as_str()).collect();
            assert_eq!(fields_with_problems, problem.into_iter().collect::<Vec<_>>(), "{form}");
        }
    }

    #[test]
    fn a_selection_is_checked() {
        let id = |number: u128| FeatureRequestId::new(Uuid::from_u128(number));
        let problem = |count: u128, at_least: usize| {
            let mut bulk = Bulk { ids: (0..count).map(id).collect(), ..Bulk::default() };
            let is_valid = bulk.selection(ENGLISH, at_least).is_some();
            let problem = bulk.problems.of(FIRST).unwrap_or_default().to_owned();
            assert_eq!(is_valid, problem.is_empty());
            problem
        };
        assert_eq!(problem(0, 1), "Nothing is selected. Tick at least one feature request.");
        assert_eq!(problem(1, 2), "To merge, select at least two feature requests.");
        assert_eq!(problem(101, 1), "That is too much at once. Select at most 100 feature requests.");
        assert_eq!((problem(1, 1), problem(100, 2)), (String::new(), String::new()));
        let one = Uuid::from_u128(1).hyphenated().to_string();
        assert_eq!(selected(&Fields::parse(format!("id=x&id={one}&id=").as_bytes())), [id(1)]);
    }

    #[test]
    fn what_cannot_be_changed_is_explained_at_its_field() {
        let explain = |triage: Triage, error: RoadmapError| {
            let mut bulk = Bulk::default();
            let explained = bulk.explain(ENGLISH, &triage, HttpError::Domain(error));
            explained.map(|()| bulk.problems.iter().next().cloned().unwrap()).ok()
        };
        let field = |(field, _): (String, String)| field;
        let track = Triage::Move(TrackId::new(Uuid::nil()));
        let tag = || Triage::AddTag(Tag::parse("tag", "a").unwrap());
        let full = || RoadmapError::from(FieldError::new("tag", FieldProblem::TooMany { max: 20 }));
        assert_eq!(explain(track, RoadmapError::NotFound(Resource::Track)).map(field).as_deref(), Some("change"));
        let (field, sentence) = explain(tag(), full()).unwrap();
        assert_eq!(field, "tag");
        assert!(sentence.contains("has 20 tags already"), "{sentence}");
        assert_eq!(explain(tag(), FieldError::missing("tag").into()).unwrap().1, "Tag is missing. Please fill it in.");
        assert_eq!(explain(Triage::Approve, full()), None);
        assert_eq!(explain(tag(), RoadmapError::NotFound(Resource::FeatureRequest)), None);
    }

    #[test]
    fn a_decision_needs_posts_and_not_too_many() {
        let held = |fields: &str| {
            let mut bulk = Bulk::parse(&Fields::parse(fields.as_bytes()));
            let selection = bulk.held_selection(ENGLISH);
            (selection, bulk.problems.iter().next().map(|(_, sentence)| sentence.clone()))
        };
        let id = Uuid::from_u128(7).hyphenated().to_string();
        let (selection, problem) = held(&format!("id={id}&comment={id}&comment={id}&comment=x"));
        let selection = selection.unwrap();
        assert_eq!((selection.comments().len(), selection.requests().is_some(), problem), (1, true, None));
        assert_eq!(held("id=x").1.as_deref(), Some("Nothing is selected. Tick at least one post."));
        let many: Vec<String> =
            (0..101u128).map(|id| format!("comment={}", Uuid::from_u128(id).hyphenated())).collect();
        let problem = held(&many.join("&")).1;
        assert_eq!(problem.as_deref(), Some("That is too much at once. Select at most 100 posts."));
    }

    #[test]
    fn a_change_leads_back_to_the_list_with_its_number() {
        for (path, changed, expected) in [
            ("/admin", 2, "/admin?done=moved&count=2"),
            ("/admin?tag=a&page=2", 1, "/admin?tag=a&page=2&done=moved&count=1"),
            ("/admin?done=tagged&count=9", 0, "/admin?done=unchanged"),
        ] {
            assert_eq!(landing(path, "moved", changed), expected);
        }
        let track = TrackId::new(Uuid::nil());
        for (triage, changed, expected) in [
            (Triage::Move(track), 3, format!("/admin?done=moved&count=3&to={track}&undo=1772622120000")),
            (Triage::Move(track), 0, "/admin?done=unchanged".to_owned()),
            (Triage::SetPrivate(true), 1, "/admin?done=made-private&count=1&undo=1772622120000".to_owned()),
            (Triage::Approve, 1, "/admin?done=requests-approved&count=1".to_owned()),
        ] {
            assert_eq!(landing_of("/admin", &triage, Triaged { changed, at: at(0) }), expected);
        }
        let names = [
            Triage::Move(TrackId::new(Uuid::nil())),
            Triage::AddTag(Tag::parse("tag", "a").unwrap()),
            Triage::RemoveTag(Tag::parse("tag", "a").unwrap()),
            Triage::Delete,
            Triage::SetPrivate(true),
            Triage::SetPrivate(false),
            Triage::MergeInto(FeatureRequestId::new(Uuid::nil())),
            Triage::Approve,
            Triage::Decline,
        ];
        for triage in names {
            let sentence = notices::of_team(ENGLISH, done_name(&triage), 3).unwrap();
            assert!(sentence.starts_with("3 feature requests"), "{sentence}");
        }
    }

    #[test]
    fn comments_that_are_not_shown_are_counted() {
        let held = sample_held(ENGLISH, 4);
        assert_eq!(held.comments.len(), 1);
        assert_eq!(held.more.as_deref(), Some("3 more comments wait. They are listed when these are done."));
        assert_eq!(sample_held(ENGLISH, 1).more, None);
        assert!(!sample_held(ENGLISH, 1).is_empty() && !Held::new(ENGLISH, Vec::new(), 1, &[]).is_empty());
        assert!(Held::new(ENGLISH, Vec::new(), 0, &[]).is_empty());
    }
}
