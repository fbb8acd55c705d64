//! The page of a feature request for the team: everything about it, and the forms for what is done daily.

use std::rc::Rc;

use actix_web::http::{Method, StatusCode};
use askama::Template;
use roadmap_domain::error::{Budget, OverBudget, RoadmapError};
use roadmap_domain::model::admin::{InboxCounts, InboxFilter};
use roadmap_domain::model::comment::{CommentAuthor, CommentDraft, ListedComment};
use roadmap_domain::model::company::company;
use roadmap_domain::model::customer::{CustomerDraft, CustomerName};
use roadmap_domain::model::event::{Event, EventContent};
use roadmap_domain::model::feature_request::{Attention, FeatureRequestDetail, FeatureRequestRef};
use roadmap_domain::model::id::{FeatureRequestId, LinkId, NoteId, TrackId, parse_uuid};
use roadmap_domain::model::link::{Link, LinkDraft, LinkState};
use roadmap_domain::model::markdown;
use roadmap_domain::model::note::{Note, NoteDraft};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::HeldComment;
use roadmap_domain::model::vote::{VoteCast, VoteDraft};
use roadmap_domain::usecase::approve_feature_request::{ApproveFeatureRequest, DeclineFeatureRequest};
use roadmap_domain::usecase::cast_vote::CastVote;
use roadmap_domain::usecase::change_links::{AddLink, DeleteLink, LinkAdded};
use roadmap_domain::usecase::delete_note::DeleteNote;
use roadmap_domain::usecase::edit_feature_request::{EditFeatureRequest, FeatureRequestChange, FeatureRequestEdited};
use roadmap_domain::usecase::move_feature_request::{MoveComment, MoveDraft, MoveFeatureRequest, Moved};
use roadmap_domain::usecase::need_no_answer::NeedNoAnswer;
use roadmap_domain::usecase::post_comment::{CommentPosted, PostComment};
use roadmap_domain::usecase::query::admin::{CountInbox, ListInboxRows, ShowTeamRequest, TeamRequest};
use roadmap_domain::usecase::query::portal::ListPublicRequests;
use roadmap_domain::usecase::query::records::{ListLinks, ShowFeatureRequest};
use roadmap_http::error::HttpError;

use crate::actions::{done_of, execute, multiline_text, next_path, with_done};
use crate::admin::inbox::attention_key;
use crate::admin::inbox::place::{ListPlace, Neighbours};
use crate::admin::parts::{Choice, Person, actor_name, person, track_choices};
use crate::admin::request_form::{author, landing, path, place_query, reference, refusal, show_unsaved_text};
use crate::admin::{Entry, frame_with_counts, path_id, shortcuts, voters};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::{run_once, run_step};
use crate::page::{Nav, Page, encoded};
use crate::pictures;
use crate::portal::comments::{CommentView, initials};
use crate::portal::parts::{Counted, Day, Status, Statuses, excerpt};
use crate::portal::request::{REPLY, quoted};
use crate::portal::request_links::{Place, place, with_notice, with_query};
use crate::portal::similar::similar;
use crate::prose;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

#[derive(Template)]
#[template(path = "admin/request.html")]
struct RequestTemplate {
    page: Page,
    path: String,
    /// The query of the place in a list from which it was opened. Empty without one.
    place: String,
    /// The path of that list, or of the inbox.
    list_path: String,
    neighbours: Neighbours,
    /// The path on the portal.
    public_path: String,
    number: String,
    status: Option<Status>,
    /// What it needs from the team, in words.
    attention: Option<String>,
    is_private: bool,
    is_awaiting: bool,
    date: Day,
    description: String,
    from: Option<Person>,
    tags: Vec<(String, String)>,
    tracks: Vec<Choice>,
    /// How many people get mail, in words.
    subscribers: String,
    notes: Vec<NoteView>,
    notes_count: i64,
    /// How many notes are not shown, in words.
    more_notes: Option<String>,
    links: Vec<LinkView>,
    links_count: i64,
    /// How many links are not shown, in words.
    more_links: Option<String>,
    comments: Vec<TeamComment>,
    comments_count: i64,
    /// Which page of the comments it is.
    comments_page: u64,
    earlier: Option<(String, String)>,
    later: Option<(String, String)>,
    held: Vec<TeamComment>,
    /// The latest voters, each with the company if it is known.
    voters: Vec<(Person, String)>,
    counts: voters::CountsInWords,
    votes_count: i64,
    history: Vec<HistoryEntry>,
    /// Titles and paths of what is merged into it.
    merged: Vec<(String, String)>,
    similar: Vec<Similar>,
    draft: Draft,
}

impl RequestTemplate {
    /// Adds the links to what the team builds for it.
    fn show_links(&mut self, links: &Listing<Link>) {
        let t = self.page.t;
        self.links = links.items.iter().map(|link| LinkView::new(t, link)).collect();
        let more = links.total.saturating_sub(links.items.len() as u64);
        self.links_count = i64::try_from(links.total).unwrap_or(i64::MAX);
        self.more_links = (more > 0).then(|| t.count("team-links-more", more));
    }

    /// Returns the number of votes with a voter.
    fn named_votes(&self) -> i64 {
        self.votes_count - self.counts.nameless_votes
    }

    /// Returns the key of a shortcut, if shortcuts are switched on.
    fn key(&self, action: &str) -> Option<&'static str> {
        self.page.has_shortcuts.then(|| shortcuts::key(shortcuts::REQUEST, action)).flatten()
    }
}

/// A feature request into which this one may be merged.
struct Similar {
    title: String,
    path: String,
    status: Option<Status>,
    votes: Counted,
    /// The beginning of the description. It may be empty.
    excerpt: String,
    /// The path of the page that merges this one into it.
    merge_path: String,
}

/// A private note.
struct NoteView {
    id: String,
    author: String,
    initials: String,
    about: Option<Person>,
    date: String,
    machine_date: String,
    html: String,
}

/// A link to an issue of a tracker.
struct LinkView {
    id: String,
    url: String,
    name: String,
    title: Option<String>,
    /// The state in words.
    state: Option<String>,
    /// The title of the merged feature request that it belongs to.
    from: Option<String>,
}

/// A comment, and where it is edited. The description of a merged feature request is listed as a comment, but is none.
struct TeamComment {
    view: CommentView,
    /// The author, if a customer has written it.
    person: Option<Person>,
    /// The author in words, with the address.
    named: String,
    edit: Option<String>,
}

/// An entry of the history.
struct HistoryEntry {
    /// The name of an icon.
    icon: String,
    /// The end of the name of its colour.
    tone: Option<&'static str>,
    sentence: String,
    /// Who did it, in words.
    actor: Option<String>,
    date: Day,
}

/// What somebody is typing into the forms of the page.
#[derive(Debug, Clone, Default)]
struct Draft {
    content: String,
    mails_comment: bool,
    /// The comment as HTML, if a preview was asked for.
    preview: Option<String>,
    note: String,
    url: String,
    track: Option<TrackId>,
    mails_status: bool,
    /// Why it is moved.
    why: String,
    email: String,
    name: String,
    vote_note: String,
    problems: Problems,
}

impl Draft {
    /// Returns the text that would be a loss.
    fn unsaved_text(&self) -> &str {
        let texts = [&self.content, &self.why, &self.note, &self.vote_note];
        texts.into_iter().find(|text| !text.trim().is_empty()).map_or("", String::as_str)
    }
}

/// Maximum number of characters of the beginning of the description of a similar one, of which one line is shown.
const EXCERPT: usize = 100;

/// `GET /admin/feature_requests/{slug}`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let (slug, team_request) = (context.parameter("slug"), load(&context).await?);
    let canonical = team_request.page.detail.summary.slug();
    match place(reference(&context), slug, &team_request.page.detail) {
        Place::Canonical => {
            let content = quoted(&context, &team_request.page).unwrap_or_default();
            reply(&context, team_request, Draft { content, ..Draft::default() }).await
        }
        Place::OtherWords => Ok(Reply::moved(with_query(&context, &path(&canonical)))),
        Place::Merged => Ok(Reply::found(with_notice(&context, path(&canonical)))),
    }
}

/// `POST /admin/feature_requests/{slug}/track`: moves it to the track of the field `track`, with the comment of the field
/// `why` if there is one. The field `then` with `next` leads to the next one of the list.
pub(crate) async fn move_to_track(context: Rc<Context>, fields: Fields) -> PageResult {
    let track = parse_uuid("track", fields.get("track")).map(TrackId::new).ok();
    let why = multiline_text(&fields, "why");
    let mut draft = Draft { track, mails_status: fields.has("notify"), why, ..Draft::default() };
    if let Some(reply) = merged_meanwhile(&context, draft.clone()).await? {
        return Ok(reply);
    }
    let Some(track) = track else {
        draft.problems.add("track", context.text().get("team-problem-track"));
        return render(&context, draft).await;
    };
    let author = author(&context)?;
    let comment = match draft.why.trim() {
        "" => None,
        why => match draft.problems.check(markdown::to_html("why", why), context.text()) {
            Some(content) => Some(MoveComment { content, author: author.clone() }),
            None => return render(&context, draft).await,
        },
    };
    let mails_status = draft.mails_status;
    let operation = MoveFeatureRequest {
        request: reference(&context),
        draft: MoveDraft { track, author, notify_all_voters: mails_status, comment },
    };
    let place = place_query(&context);
    let landing = move |moved: Moved| {
        let done = match (&moved.moved, &moved.comment) {
            (None, None) => "unchanged",
            (None, Some(_)) if mails_status => "answered-mail",
            (None, Some(_)) => "answered",
            (Some(change), comment) if mails_status && (change.changes_status() || comment.is_some()) => "moved-mail",
            (Some(_), _) => "moved",
        };
        landing(&moved.request.slug(), &place, done)
    };
    match run_step(&context, &fields, "", operation, landing).await {
        Err(error) => {
            let field = if is_about_mail(&error) { "notify" } else { "track" };
            refused(&context, draft, field, error).await
        }
        Ok(location) if fields.get("then") == "next" => go_on(&context, &location).await,
        Ok(location) => Ok(Reply::see_other(location)),
    }
}

/// Leads to the next feature request of the list, or back to the list, with what was done with the one of the path.
async fn go_on(context: &Context, location: &str) -> PageResult {
    let Some(place) = ListPlace::parse(&context.query) else { return Ok(Reply::see_other(location)) };
    let counts = context.run(&CountInbox).await?;
    let next = place.neighbours(context, &counts, reference(context)).await?.next;
    let next = next.unwrap_or_else(|| place.list_path());
    Ok(Reply::see_other(with_done(&next, &done_of(location))))
}

/// `POST /admin/feature_requests/{slug}/no_answer_needed`.
pub(crate) async fn need_no_answer(context: Rc<Context>, _: Fields) -> PageResult {
    if let Some(reply) = merged_meanwhile(&context, Draft::default()).await? {
        return Ok(reply);
    }
    let detail = execute(&context, NeedNoAnswer { request: reference(&context) }).await?;
    Ok(Reply::see_other(landing(&detail.summary.slug(), &place_query(&context), "no-answer-needed-here")))
}

/// `POST /admin/feature_requests/{slug}/visibility`: hides it from the portal if the field `private` is `true`.
pub(crate) async fn set_visibility(context: Rc<Context>, fields: Fields) -> PageResult {
    if let Some(reply) = merged_meanwhile(&context, Draft::default()).await? {
        return Ok(reply);
    }
    let private = fields.get("private") == "true";
    let change = FeatureRequestChange { private: Some(private), ..FeatureRequestChange::default() };
    let edited = execute(&context, EditFeatureRequest { request: reference(&context), change }).await?;
    Ok(after_edit(&context, &edited, if private { "made-private" } else { "made-public" }))
}

/// `POST /admin/feature_requests/{slug}/approve`: makes an idea public that waits.
pub(crate) async fn approve(context: Rc<Context>, _: Fields) -> PageResult {
    if let Some(reply) = merged_meanwhile(&context, Draft::default()).await? {
        return Ok(reply);
    }
    let edited = execute(&context, ApproveFeatureRequest { request: reference(&context) }).await?;
    Ok(after_edit(&context, &edited, "requests-approved"))
}

/// `POST /admin/feature_requests/{slug}/decline`: ends the wait of an idea, which stays private.
pub(crate) async fn decline(context: Rc<Context>, _: Fields) -> PageResult {
    if let Some(reply) = merged_meanwhile(&context, Draft::default()).await? {
        return Ok(reply);
    }
    let edited = execute(&context, DeclineFeatureRequest { request: reference(&context) }).await?;
    Ok(after_edit(&context, &edited, "requests-declined"))
}

/// `POST /admin/feature_requests/{slug}/comments`: posts a comment of the team, or shows a preview of it.
pub(crate) async fn comment(context: Rc<Context>, fields: Fields) -> PageResult {
    let content = multiline_text(&fields, "content");
    let notify_all_voters = fields.has("notify_all_voters");
    let mut draft = Draft { content, mails_comment: notify_all_voters, ..Draft::default() };
    if let Some(reply) = merged_meanwhile(&context, draft.clone()).await? {
        return Ok(reply);
    }
    pictures::append(&context, &fields, &mut draft.problems, &mut draft.content).await?;
    let html = draft.problems.check(markdown::to_html("content", &draft.content), context.text());
    if fields.has("preview") {
        draft.preview = html.map(|html| prose::html(&html));
        return render(&context, draft).await;
    }
    let Some(content) = html.filter(|_| draft.problems.is_empty()) else { return render(&context, draft).await };
    let author = CommentAuthor::Member(author(&context)?);
    let comment = CommentDraft { content, author, notify_all_voters };
    let operation = PostComment { request: reference(&context), draft: comment };
    let done = if notify_all_voters { "answered-mail" } else { "answered" };
    let place = place_query(&context);
    let next = move |posted: CommentPosted| landing(&posted.request.slug(), &place, done);
    match run_once(&context, &fields, operation, next).await {
        Ok(reply) => Ok(pictures::tell_linked(reply, &draft.content)),
        Err(error) => {
            let field = if is_about_mail(&error) { "notify_all_voters" } else { "content" };
            refused(&context, draft, field, error).await
        }
    }
}

/// `POST /admin/feature_requests/{slug}/notes`: adds a private note.
pub(crate) async fn add_note(context: Rc<Context>, fields: Fields) -> PageResult {
    let mut draft = Draft { note: multiline_text(&fields, "note"), ..Draft::default() };
    if let Some(reply) = merged_meanwhile(&context, draft.clone()).await? {
        return Ok(reply);
    }
    let body = draft.problems.check(markdown::to_html("note", &draft.note), context.text());
    let Some(body) = body else { return render(&context, draft).await };
    let note = NoteDraft { body, author: author(&context)? };
    let operation = CastVote { request: reference(&context), draft: VoteDraft::new(None, Some(note))? };
    let place = place_query(&context);
    let next = move |cast: VoteCast| landing(&cast.request.slug(), &place, "noted");
    match run_once(&context, &fields, operation, next).await {
        Ok(reply) => Ok(reply),
        Err(error) => refused(&context, draft, "note", error).await,
    }
}

/// `POST /admin/feature_requests/{slug}/links`: adds a link to what the team builds for it.
pub(crate) async fn add_link(context: Rc<Context>, fields: Fields) -> PageResult {
    let mut draft = Draft { url: fields.get("url").to_owned(), ..Draft::default() };
    if let Some(reply) = merged_meanwhile(&context, draft.clone()).await? {
        return Ok(reply);
    }
    let link = draft.problems.check(LinkDraft::parse(Some(&draft.url), None, None), context.text());
    let Some(link) = link else { return render(&context, draft).await };
    let slug = context.parameter("slug").to_owned();
    let place = place_query(&context);
    let next = move |added: LinkAdded| landing(&slug, &place, if added.is_new { "link-added" } else { "link-known" });
    match run_once(&context, &fields, AddLink { request: reference(&context), draft: link }, next).await {
        Ok(reply) => Ok(reply),
        Err(error) => refused(&context, draft, "url", error).await,
    }
}

/// `POST /admin/feature_requests/{slug}/votes`: adds the vote of a customer.
pub(crate) async fn add_vote(context: Rc<Context>, fields: Fields) -> PageResult {
    let text = context.text();
    let (email, name) = (fields.get("email").to_owned(), fields.get("name").to_owned());
    let mut draft = Draft { email, name, vote_note: multiline_text(&fields, "vote_note"), ..Draft::default() };
    if let Some(reply) = merged_meanwhile(&context, draft.clone()).await? {
        return Ok(reply);
    }
    let customer = draft.problems.check(CustomerDraft::parse(Some(&draft.email), Some(&draft.name)), text);
    let note = match draft.vote_note.trim() {
        "" => None,
        _ => draft.problems.check(markdown::to_html("vote_note", &draft.vote_note), text),
    };
    if !draft.problems.is_empty() {
        return render(&context, draft).await;
    }
    let author = author(&context)?;
    let vote = VoteDraft::new(customer, note.map(|body| NoteDraft { body, author }))?;
    let place = place_query(&context);
    let next = move |cast: VoteCast| {
        let done = if cast.already_voted() { "vote-known" } else { "vote-added" };
        landing(&cast.request.slug(), &place, done)
    };
    match run_once(&context, &fields, CastVote { request: reference(&context), draft: vote }, next).await {
        Ok(reply) => Ok(reply),
        Err(error) => refused(&context, draft, "email", error).await,
    }
}

/// `POST /admin/notes/{id}/delete`.
pub(crate) async fn delete_note(context: Rc<Context>, fields: Fields) -> PageResult {
    let note = path_id(&context, NoteId::new)?;
    let next = next_path(&fields);
    let landing = move |request: FeatureRequestId| {
        let next = next.as_ref().map_or_else(|| path(&request.to_string()), |next| next.as_str().to_owned());
        with_done(&next, "note-deleted")
    };
    run_once(&context, &fields, DeleteNote { note }, landing).await
}

/// `POST /admin/links/{id}/delete`.
pub(crate) async fn delete_link(context: Rc<Context>, fields: Fields) -> PageResult {
    let link = path_id(&context, LinkId::new)?;
    let next = next_path(&fields);
    let landing = move |request: FeatureRequestId| {
        let next = next.as_ref().map_or_else(|| path(&request.to_string()), |next| next.as_str().to_owned());
        with_done(&next, "link-removed")
    };
    run_once(&context, &fields, DeleteLink { link }, landing).await
}

fn after_edit(context: &Context, edited: &FeatureRequestEdited, done: &str) -> Reply {
    let done = if edited.changes.is_empty() { "unchanged" } else { done };
    Reply::see_other(landing(&edited.detail.summary.slug(), &place_query(context), done))
}

fn is_about_mail(error: &HttpError) -> bool {
    let budget = |over: &OverBudget| over.budget == Budget::MailsPerDay;
    matches!(error, HttpError::Domain(RoadmapError::OverBudget(over)) if budget(over))
}

/// Returns the page of the feature request into which the one of the form was merged since it was opened. What was typed was
/// not meant for that one: nothing is changed, and it is shown there. `None` if it was not merged.
async fn merged_meanwhile(context: &Context, mut draft: Draft) -> Result<Option<Reply>, HttpError> {
    // A page that is not found is the error of the action itself.
    let Ok(detail) = context.run(&ShowFeatureRequest { request: reference(context) }).await else { return Ok(None) };
    if place(reference(context), context.parameter("slug"), &detail) != Place::Merged {
        return Ok(None);
    }
    draft.problems.add("details", context.text().named("team-problem-merged", detail.summary.title.as_str()));
    render(context, draft).await.map(Some)
}

/// Shows the page again with what was typed, and with the reason at a field.
async fn refused(context: &Context, mut draft: Draft, field: &str, error: HttpError) -> PageResult {
    match refusal(context.text(), &error) {
        Some(sentence) => {
            draft.problems.add(field, sentence);
            render(context, draft).await
        }
        None => show_unsaved_text(context, error, draft.unsaved_text()),
    }
}

async fn load(context: &Context) -> Result<TeamRequest, HttpError> {
    let comments = context.query.get("comments").parse().ok().filter(|page| *page > 0);
    context.run(&ShowTeamRequest { request: reference(context), viewer: context.viewer(), comments }).await
}

/// Shows the page with what somebody is typing: 422 if it has problems.
async fn render(context: &Context, draft: Draft) -> PageResult {
    match load(context).await {
        Ok(team_request) => reply(context, team_request, draft).await,
        Err(error) => show_unsaved_text(context, error, draft.unsaved_text()),
    }
}

async fn reply(context: &Context, team_request: TeamRequest, draft: Draft) -> PageResult {
    let detail = &team_request.page.detail;
    let (page, counts) = frame_with_counts(context, Entry::Inbox, detail.summary.title.as_str()).await?;
    let similar = similar(context, detail).await?;
    let rows = context.run(&ListPublicRequests { requests: similar.to_vec() }).await?;
    let statuses = Statuses::load(context).await?;
    let row = ListInboxRows { filter: InboxFilter::default(), requests: vec![detail.summary.id] };
    let attention = context.run(&row).await?.first().and_then(|row| row.attention);
    let links = ListLinks {
        request: FeatureRequestRef::Id(detail.summary.id),
        page: Ok(PageRequest::first(PageRequest::MAX_SIZE)),
    };
    let links = context.run(&links).await?;
    let (place, own_path) = (ListPlace::parse(&context.query), path(&detail.summary.slug()));
    let neighbours = match &place {
        Some(place) => place.neighbours(context, &counts, reference(context)).await?,
        None => Neighbours::default(),
    };
    let similar = rows.iter().map(|row| Similar {
        title: row.summary.title.as_str().to_owned(),
        path: path(&row.summary.slug()),
        status: statuses.of(&row.summary.placement, true),
        votes: Counted::votes(context.text(), row.summary.votes_count),
        excerpt: excerpt(&row.excerpt, EXCERPT),
        merge_path: match &place {
            Some(place) => format!("{own_path}/merge?into={}&{}", row.summary.id, place.query()),
            None => format!("{own_path}/merge?into={}", row.summary.id),
        },
    });
    let similar = similar.collect();
    let has_problem = !draft.problems.is_empty();
    let mut page = page.with_problem(has_problem);
    if context.request.method() == Method::POST {
        // The path of a form is no page to come back to.
        page.here = own_path;
    }
    let mut template = RequestTemplate::new(page, &team_request, &counts, (&statuses, attention), similar, draft);
    template.show_links(&links);
    template.counts = voters::CountsInWords::load(context, team_request.page.detail.summary.id).await?;
    if let Some(place) = place {
        template.place = format!("?{}", place.query());
        template.list_path = place.list_path();
        template.neighbours = neighbours;
    }
    let status = if has_problem { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(Reply::page_with(status, &template).not_indexed())
}

impl RequestTemplate {
    fn new(
        page: Page,
        team_request: &TeamRequest,
        counts: &InboxCounts,
        (statuses, attention): (&Statuses, Option<Attention>),
        similar: Vec<Similar>,
        draft: Draft,
    ) -> Self {
        let (t, detail, team) = (page.t, &team_request.page.detail, &team_request.team);
        let slug = detail.summary.slug();
        let path = path(&slug);
        let of_name = counts.tracks.iter().find(|counts| counts.track.name == detail.summary.placement.track);
        let track = draft.track.or(of_name.map(|counts| counts.track.id));
        let (size, last) = (team_request.page.comments.request.size(), team_request.page.comments.total_pages());
        // A page after the last one is empty. Before it is the last one.
        let current = team_request.page.comments.request.page().min(last + 1);
        let before = (current - 1).saturating_mul(size).min(team_request.page.comments.total);
        let comments_path = |number: u64| format!("{path}?comments={number}#comments");
        let more_notes = team.notes_count - i64::try_from(team.notes.len()).unwrap_or(i64::MAX);
        Self {
            place: String::new(),
            list_path: "/admin".to_owned(),
            neighbours: Neighbours::default(),
            number: detail.summary.tag_number.to_string(),
            public_path: format!("/feature_requests/{slug}"),
            status: statuses.of(&detail.summary.placement, true),
            attention: attention.map(|attention| t.get(attention_key(attention)).into_owned()),
            is_private: detail.private && !detail.awaiting_approval,
            is_awaiting: detail.awaiting_approval,
            date: Day::new(t, detail.summary.created_at),
            description: prose::html(&detail.description),
            from: detail.author.as_ref().map(Person::from),
            tags: detail.tags.iter().map(|tag| tag_link(tag.as_str())).collect(),
            tracks: track_choices(counts, track),
            subscribers: t.count("team-people-get-mail", team.subscribers),
            notes: team.notes.iter().map(|note| NoteView::new(t, note)).collect(),
            notes_count: team.notes_count,
            links: Vec::new(),
            links_count: 0,
            more_links: None,
            more_notes: (more_notes > 0).then(|| t.count("team-notes-more", more_notes)),
            comments: team_request
                .page
                .comments
                .items
                .iter()
                .map(|comment| {
                    TeamComment::new(t, comment, team_request.customers.get(&comment.comment.id), &slug, current)
                })
                .collect(),
            comments_page: current,
            comments_count: i64::try_from(team_request.page.comments.total).unwrap_or(i64::MAX),
            earlier: (before > 0).then(|| (comments_path(current - 1), t.count("earlier-comments", before))),
            later: (current < last).then(|| (comments_path(current + 1), t.get("later-comments").into_owned())),
            held: team_request.page.held.iter().map(|held| TeamComment::held(t, held)).collect(),
            voters: team
                .voters
                .iter()
                .map(|voter| {
                    let company = company(voter.email.folded()).unwrap_or_default().to_owned();
                    (person(voter.id, voter.name.as_ref(), &voter.email), company)
                })
                .collect(),
            counts: voters::CountsInWords::default(),
            votes_count: detail.summary.votes_count,
            history: history(t, &team_request.page.events, detail, statuses),
            merged: detail
                .merged
                .iter()
                .map(|link| (link.title.as_str().to_owned(), self::path(&link.slug())))
                .collect(),
            similar,
            draft,
            page,
            path,
        }
    }
}

/// Returns a tag with the path of the inbox with this tag.
fn tag_link(tag: &str) -> (String, String) {
    (tag.to_owned(), format!("/admin?tag={}", encoded(tag)))
}

impl NoteView {
    fn new(t: Text, note: &Note) -> Self {
        let name = note.author.as_ref().map(|(name, _)| name.as_str());
        Self {
            id: note.id.to_string(),
            author: name.map_or_else(|| t.get("team").into_owned(), str::to_owned),
            initials: name.map(initials).unwrap_or_default(),
            about: note.customer.as_ref().map(Person::from),
            date: t.date_time(note.created_at),
            machine_date: note.created_at.to_string(),
            html: prose::html(&note.body),
        }
    }
}

impl LinkView {
    fn new(t: Text, link: &Link) -> Self {
        let state = |state: LinkState| match state {
            LinkState::Open => t.get("team-link-open").into_owned(),
            LinkState::Closed => t.get("team-link-closed").into_owned(),
        };
        Self {
            id: link.id.to_string(),
            url: link.url.as_str().to_owned(),
            name: link.url.issue().name,
            title: link.title.as_ref().map(|title| title.as_str().to_owned()),
            state: link.state.map(state),
            from: link.from.as_ref().map(|from| from.title.as_str().to_owned()),
        }
    }
}

impl TeamComment {
    fn new(t: Text, listed: &ListedComment, customer: Option<&CustomerName>, slug: &str, page: u64) -> Self {
        let is_description = listed.from.as_ref().is_some_and(|from| from.id.uuid() == listed.comment.id.uuid());
        let id = listed.comment.id;
        let edit = (!is_description).then(|| format!("/admin/comments/{id}?on={slug}&at={page}"));
        Self::of_view(CommentView::new(t, listed), customer, edit)
    }

    fn held(t: Text, held: &HeldComment) -> Self {
        Self::of_view(CommentView::held(t, held), Some(&held.author), None)
    }

    fn of_view(view: CommentView, customer: Option<&CustomerName>, edit: Option<String>) -> Self {
        let person = customer.map(Person::from);
        Self { named: person.as_ref().map_or_else(|| view.author.clone(), Person::full), person, view, edit }
    }
}

/// The fields whose edits the history shows, with the keys of their names.
const EDITED: [(&str, &str); 4] =
    [("title", "field-title"), ("description", "field-description"), ("tags", "tags"), ("private", "team-visibility")];

/// Returns the history in words, newest first, with tracks and actors.
fn history(t: Text, events: &[Event], detail: &FeatureRequestDetail, statuses: &Statuses) -> Vec<HistoryEntry> {
    let mut entries: Vec<HistoryEntry> = events.iter().filter_map(|event| entry(t, event, detail, statuses)).collect();
    let sentence = match &detail.author {
        Some(author) => t.named("history-submitted-by", &Person::from(author).label),
        None => t.get("history-submitted").into_owned(),
    };
    let date = Day::new(t, detail.summary.created_at);
    entries.push(HistoryEntry { icon: "person".to_owned(), tone: None, sentence, actor: None, date });
    entries
}

fn entry(t: Text, event: &Event, detail: &FeatureRequestDetail, statuses: &Statuses) -> Option<HistoryEntry> {
    let title = |id: &FeatureRequestId| detail.merged.iter().find(|merged| merged.id == *id).map(|link| &link.title);
    let (icon, tone, sentence) = match &event.content {
        EventContent::Moved(moved) => {
            let status = moved.to.status.as_ref().and_then(|name| statuses.of_lane(name));
            let icon = status.as_ref().map_or("next".to_owned(), |status| format!("lane-{}", status.sign));
            (icon, status.map(|status| status.sign), t.named("history-moved", moved.to.track.as_str()))
        }
        EventContent::Merged(other) => {
            let sentence = match title(other) {
                Some(title) => t.named("history-merged", title.as_str()),
                None => t.get("history-merged-another").into_owned(),
            };
            ("plus".to_owned(), None, sentence)
        }
        EventContent::Unmerged(_) => ("close".to_owned(), None, t.get("history-unmerged").into_owned()),
        EventContent::MergedInto(_) => ("plus".to_owned(), None, t.get("team-history-merged-into").into_owned()),
        EventContent::UnmergedFrom(_) => ("close".to_owned(), None, t.get("team-history-unmerged-from").into_owned()),
        EventContent::NoAnswerNeeded => ("check".to_owned(), None, t.get("team-history-no-answer-needed").into_owned()),
        EventContent::Edited(fields) => {
            let is_edited = |field: &&(&str, &str)| fields.iter().any(|edited| edited == field.0);
            let parts: Vec<_> = EDITED.iter().filter(is_edited).map(|(_, key)| t.get(key)).collect();
            if parts.is_empty() {
                return None;
            }
            ("edit".to_owned(), None, t.named("history-edited", &parts.join(&t.get("list-separator"))))
        }
    };
    let actor = Some(t.named("team-by", &actor_name(t, &event.actor)));
    Some(HistoryEntry { icon, tone, sentence, actor, date: Day::new(t, event.created_at) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page, sample_statuses};
    use crate::portal::request::tests::sample;
    use roadmap_domain::model::admin::TeamPage;
    use roadmap_domain::model::email_address::EmailAddress;
    use roadmap_domain::model::feature_request::RequestLink;
    use roadmap_domain::model::html::CleanHtml;
    use roadmap_domain::model::id::CustomerId;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::text::Name;
    use roadmap_domain::model::vote::Voter;
    use uuid::Uuid;

    fn customer() -> CustomerName {
        let email = EmailAddress::from_stored("bo@customer.example".to_owned());
        CustomerName { id: CustomerId::new(Uuid::from_u128(6)), name: None, email }
    }

    fn team_request() -> TeamRequest {
        let CustomerName { id, name, email } = customer();
        let author = (Name::from_stored("Ines <b>".to_owned()), email.clone());
        let note = |number: u128, author: Option<(Name, EmailAddress)>| Note {
            id: NoteId::new(Uuid::from_u128(number)),
            body: CleanHtml::from_stored("<p>Renews in May</p>".to_owned()),
            author,
            customer: Some(customer()),
            created_at: at(1),
        };
        let team = TeamPage {
            notes: vec![note(21, Some(author)), note(22, None)],
            notes_count: 5,
            voters: vec![Voter { id, name, email, voted_at: at(2) }],
            subscribers: 3,
        };
        let page = sample("3");
        let customers = page.comments.items.iter().map(|listed| (listed.comment.id, customer())).collect();
        TeamRequest { page, team, customers }
    }

    /// Two of three links: one with everything, and one with nothing.
    fn links() -> Listing<Link> {
        let link = |number: u128, url: &str, title: Option<&str>, state: Option<&str>| {
            let draft = LinkDraft::parse(Some(url), Some(title), Some(state)).unwrap();
            draft.to_link(LinkId::new(Uuid::from_u128(number)), at(1))
        };
        let from = team_request().page.detail.merged.first().cloned();
        let issue = link(31, "https://github.com/acme/app/issues/7", Some("Night <colours>"), Some("closed"));
        let other = link(32, "https://acme.example/?a=\"&b=1", None, None);
        let items = vec![Link { from, ..issue }, other];
        Listing { items, request: PageRequest::first(2), total: 3 }
    }

    fn render(language: Language, team_request: &TeamRequest, draft: Draft) -> String {
        let title = team_request.page.detail.summary.title.as_str();
        let page = sample_page(language, true, title).with_problem(!draft.problems.is_empty());
        let status = sample_statuses(language).of_lane(&Name::from_stored("Done".to_owned()));
        let similar = Similar {
            title: "Night <colours>".to_owned(),
            path: "/admin/feature_requests/3-night-colours".to_owned(),
            status,
            votes: Counted::votes(page.t, 3),
            excerpt: "Less <light>".to_owned(),
            merge_path: "/admin/feature_requests/7-x/merge?into=3&list=&at=3".to_owned(),
        };
        let counts = InboxCounts::default();
        let context = (&sample_statuses(language), Some(Attention::Replied));
        let mut template = RequestTemplate::new(page, team_request, &counts, context, vec![similar], draft);
        template.show_links(&links());
        if team_request.page.detail.private {
            let next = Some("/admin/feature_requests/8-x?list=&at=4".to_owned());
            template.neighbours = Neighbours { previous: None, next };
            template.place = "?list=&at=3".to_owned();
        }
        template.render().unwrap()
    }

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        for language in Language::ALL {
            let mut draft = Draft { content: "</textarea><b>".to_owned(), ..Draft::default() };
            draft.preview = Some("<p>Preview</p>".to_owned());
            assert_well_formed(&render(language, &team_request(), draft.clone()));
            for field in
                ["content", "notify_all_voters", "note", "url", "track", "notify", "email", "name", "vote_note"]
            {
                draft.problems.add(field, "Missing.");
            }
            assert_well_formed(&render(language, &team_request(), draft));
            let mut bare = team_request();
            bare.team = TeamPage::default();
            bare.page.detail.private = false;
            bare.page.detail.awaiting_approval = false;
            bare.page.detail.author = None;
            bare.page.detail.merged = Vec::new();
            bare.page.held = Vec::new();
            bare.page.events = Vec::new();
            bare.page.comments.items = Vec::new();
            assert_well_formed(&render(language, &bare, Draft::default()));
        }
    }

    #[test]
    fn the_team_sees_addresses_tracks_and_actors() {
        let page = render(Language::English, &team_request(), Draft::default());
        for sentence in [
            "maja@customer.example",
            "bo@customer.example",
            "Moved to Secret track",
            "by the service",
            "Merged with “Hidden plans”",
            "Edited: Visibility",
            "3 people get mail",
            "3 older notes are not shown here.",
            "aria-label=\"Unmerge Hidden plans\"",
            "rel=\"noopener noreferrer\"><bdi dir=\"ltr\">acme/app#7</bdi>",
            "aria-label=\"Remove acme/app#7\"",
            "1 more link is not shown here.",
            "/admin?tag=a+%26+b",
        ] {
            assert!(page.contains(sentence), "{sentence}: {page}");
        }
    }

    #[test]
    fn the_description_of_a_merged_one_is_no_comment_to_edit() {
        let mut listed = sample("3").comments.items.remove(0);
        let edit = |listed: &ListedComment| TeamComment::new(Text::utc(Language::English), listed, None, "7-x", 3).edit;
        let id = listed.comment.id;
        assert_eq!(edit(&listed), Some(format!("/admin/comments/{id}?on=7-x&at=3")));
        let from = listed.from.take().unwrap();
        listed.from = Some(RequestLink { id: FeatureRequestId::new(id.uuid()), ..from });
        assert_eq!(edit(&listed), None);
    }
}
