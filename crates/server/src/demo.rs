//! The demo: a workspace with realistic content, links to its portal, and example requests.

mod images;

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use roadmap_domain::error::{FieldError, Resource, RoadmapError, Validated};
use roadmap_domain::model::admin::{MissedSearch, MissedWords};
use roadmap_domain::model::api_key::Scopes;
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::audit::{Actor, ActorKind, Audit, AuditDraft, AuditEntry, Channel, Origin};
use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::changelog::{ChangelogDraft, ChangelogFields, Publication};
use roadmap_domain::model::comment::{CommentAuthor, CommentDraft, NewComment};
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{Description, FeatureRequestRef, Tag, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{
    AttachmentId, AuditEntryId, CommentId, CustomerId, FeatureRequestId, TrackId, WorkspaceId,
};
use roadmap_domain::model::member::{Author, Role};
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::portal::{Color, PortalChange};
use roadmap_domain::model::setting::Setting;
use roadmap_domain::model::sign_in::LocalPath;
use roadmap_domain::model::team_mail::TeamMail;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::track::Track;
use roadmap_domain::model::vote::VoteDraft;
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::policy::links::Links;
use roadmap_domain::policy::signed_reference::ReferenceSigner;
use roadmap_domain::ports::{Blobs, IdGenerator, UnitOfWork};
use roadmap_domain::usecase::cast_vote::CastVote;
use roadmap_domain::usecase::change_members::AddMember;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::create_workspace::CreateWorkspace;
use roadmap_domain::usecase::edit_feature_request::{EditFeatureRequest, FeatureRequestChange};
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::hold_comment::HoldComment;
use roadmap_domain::usecase::issue_api_key::IssueApiKey;
use roadmap_domain::usecase::merge_feature_requests::{MergeFeatureRequests, UnmergeFeatureRequest};
use roadmap_domain::usecase::missed_searches::MissedSearches;
use roadmap_domain::usecase::move_feature_request::{MoveDraft, MoveFeatureRequest};
use roadmap_domain::usecase::revoke_api_key::RevokeApiKey;
use roadmap_domain::usecase::sign_in::StartSignIn;
use roadmap_domain::usecase::subscribe::Subscribe;
use roadmap_domain::usecase::update_portal::UpdatePortal;
use serde::Deserialize;
use time::Duration;

use crate::credentials::{generate_api_key, start_sign_in};
use crate::wiring::Application;

const DATA: &str = include_str!("demo/data.json");

/// The name of the demo's keys, by which the next start finds them.
const KEY_NAME: &str = "demo";

/// Lifetime of a key.
const KEY_LIFETIME: Duration = Duration::hours(24);

/// The feature request that the examples vote for, comment on, edit and move.
const EXAMPLE: i64 = 1;

/// The feature request that the examples merge, and the one that they merge it into.
const MERGE_SOURCE: i64 = 70;
const MERGE_TARGET: i64 = 3;

/// The customer and the member for whom links to sign in are printed, by their positions. The customer has written feature
/// requests, and the member is an admin.
const EXAMPLE_CUSTOMER: usize = 7;
const EXAMPLE_MEMBER: usize = 0;

/// The age of the demo's workspace in days.
const AGE: i64 = 600;

/// The subdomain of the demo's workspace.
pub(crate) fn subdomain() -> Subdomain {
    #[expect(clippy::expect_used, reason = "a constant, which a test checks")]
    Subdomain::from_label("demo").expect("a label")
}

/// What the demo needs besides the application.
pub(crate) struct DemoOptions<'a> {
    /// The URL of the service, which is also that of the demo's workspace.
    pub(crate) base_url: &'a BaseUrl,
    /// Signs the links.
    pub(crate) references: &'a Arc<ReferenceSigner>,
    /// The storage of files.
    pub(crate) blobs: &'a dyn Blobs,
}

/// Creates the workspace if it does not exist, replaces the key of the last start, and returns links to the portal and the
/// example requests.
pub(crate) async fn prepare(application: &Application, options: &DemoOptions<'_>) -> anyhow::Result<String> {
    refuse_other_workspaces(application).await?;
    let data = read_data()?;
    let people = [data.customer_email(EXAMPLE_CUSTOMER)?, data.member_email(EXAMPLE_MEMBER)?];
    let workspace = match application.directory.workspace(&subdomain()).await? {
        Some(workspace) => workspace.id,
        None => fill(application, options.blobs, data).await?,
    };
    let name = Name::parse("name", KEY_NAME)?;
    // Keys are printed and stay in the history of a terminal, so that old ones are revoked.
    for old in application.directory.api_keys(workspace).await? {
        if old.name == name && old.revoked_at.is_none() {
            application.executor.run_without_key(workspace, &RevokeApiKey { id: old.id }).await?;
        }
    }
    let key = generate_api_key()?;
    let issue = IssueApiKey { key: key.clone(), name, scopes: Scopes::ALL, expires_in: Some(KEY_LIFETIME) };
    application.executor.run_without_key(workspace, &issue).await?;
    let planned =
        application.reader.tracks(workspace).await?.into_iter().find(|track| track.name.as_str() == "Planned");
    let links = Links::new(options.base_url, &subdomain(), workspace, options.references.clone());
    let [customer, member] = people;
    let pages = PageLinks {
        portal: links.portal().to_owned(),
        customer: sign_in_link(application, workspace, &links, customer, "/").await?,
        team: sign_in_link(application, workspace, &links, member, "/admin").await?,
    };
    Ok(usage_text(options.base_url, &pages, key.reveal(), planned.as_ref()))
}

/// Links to the portal for a visitor, a customer and a member.
struct PageLinks {
    portal: String,
    customer: String,
    team: String,
}

/// Returns a link that signs somebody in and leads to a path.
async fn sign_in_link(
    application: &Application,
    workspace: WorkspaceId,
    links: &Links,
    email: EmailAddress,
    next: &str,
) -> anyhow::Result<String> {
    let operation = StartSignIn { next: LocalPath::parse(next), ..start_sign_in(email) };
    let sign_in = application.executor.run_without_key(workspace, &operation).await?;
    Ok(links.sign_in(sign_in.id, sign_in.expires_at()))
}

/// Fails if the database has other workspaces: the demo would be served at their base URL, with a printed key.
async fn refuse_other_workspaces(application: &Application) -> anyhow::Result<()> {
    let workspaces = application.directory.workspaces().await?;
    let mut others = workspaces.iter().map(|workspace| &workspace.subdomain).filter(|other| **other != subdomain());
    let Some(first) = others.next() else { return Ok(()) };
    let more = match others.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    anyhow::bail!(
        "--demo requires a separate database, but this one has the workspace `{first}`{more}: serve without --demo, or \
         with another --data-dir or database_url"
    )
}

async fn fill(application: &Application, blobs: &dyn Blobs, data: Data) -> anyhow::Result<WorkspaceId> {
    let ids = application.ids.clone();
    let workspace = WorkspaceId::new(ids.next(application.clock.now()));
    let images = images::store(blobs, workspace, &*ids, &*application.clock).await?;
    let missed_searches: Vec<_> = data.missed_searches.iter().filter_map(MissedSearchData::at_its_day).collect();
    application.executor.run_without_key(workspace, &FillDemo { data, images, ids }).await?;
    for (days_ago, search) in missed_searches {
        let day = application.clock.now().plus(-time_ago(days_ago)).start_of_day();
        let store = &application.missed_search_store;
        store.add_missed_searches(workspace, day, &[search], MissedSearches::MAX_PER_DAY).await?;
    }
    Ok(workspace)
}

fn read_data() -> anyhow::Result<Data> {
    serde_json::from_str(DATA).context("the demo's data cannot be read")
}

/// Formats the links, the demo's key and example requests, as commands to paste into a shell, one after another.
fn usage_text(base_url: &BaseUrl, pages: &PageLinks, key: &str, planned: Option<&Track>) -> String {
    let api = format!("{base_url}/api/external/v1");
    let get = |path: &str| format!("curl -s -H 'X-Api-Key: {key}' '{api}{path}'");
    let delete = |path: &str| format!("curl -s -X DELETE -H 'X-Api-Key: {key}' '{api}{path}'");
    let send = |method: &str, path: &str, body: &str| {
        format!(
            "curl -s -X {method} -H 'X-Api-Key: {key}' -H 'Content-Type: application/json' -d '{body}' '{api}{path}'"
        )
    };
    let example = |path: &str| format!("/feature_requests/{EXAMPLE}{path}");
    let source = |path: &str| format!("/feature_requests/{MERGE_SOURCE}{path}");
    let target = |path: &str| format!("/feature_requests/{MERGE_TARGET}{path}");
    let track = planned.map(|track| track.id.to_string()).unwrap_or_default();
    let requests = [
        ("Search", get("/feature_requests?query=dark%20mode")),
        ("Read a feature request", get(&example(""))),
        (
            "Vote with a private note (a repetition with the same operation_key has no effect)",
            send(
                "POST",
                &example("/upvotes"),
                r#"{"customer":{"email":"demo.customer@example.com","name":"Demo Customer"},"reference_note":{"body":"Asked on the phone"},"operation_key":"demo-vote-1"}"#,
            ),
        ),
        ("What a customer voted for", get("/votes?email=demo.customer@example.com")),
        ("Voters of a feature request", get(&example("/voters?page_size=3"))),
        (
            "Comment as the team",
            send("POST", &example("/comments"), r#"{"comment":{"content":"<p>We are <strong>on it</strong>.</p>"}}"#),
        ),
        (
            "Comment as a customer",
            send(
                "POST",
                &example("/comments"),
                r#"{"comment":{"content":"Thank you!"},"customer":{"email":"demo.customer@example.com"}}"#,
            ),
        ),
        ("Comments of a feature request", get(&example("/comments?page_size=3"))),
        (
            "Create a feature request",
            send(
                "POST",
                "/feature_requests",
                r#"{"feature_request":{"title":"Snooze a conversation until Monday","tags":["inbox"]},"customer":{"email":"demo.customer@example.com"}}"#,
            ),
        ),
        (
            "Edit a feature request (fields that are left out stay)",
            send("PATCH", &example(""), r#"{"feature_request":{"tags":["reporting","api","spreadsheets"]}}"#),
        ),
        (
            "Move a feature request to a track",
            send("PATCH", &example("/track"), &format!(r#"{{"track_id":"{track}"}}"#)),
        ),
        ("Its moves so far", get(&example("/moves?page_size=3"))),
        (
            "Merge a feature request into another one, which then counts and shows its votes and comments",
            send("POST", &source("/merge"), &format!(r#"{{"target_id":"{MERGE_TARGET}"}}"#)),
        ),
        ("Read what others were merged into (merged lists them)", get(&target(""))),
        ("Undo the merge (both are exactly as before)", send("POST", &source("/unmerge"), "{}")),
        ("Withdraw the vote", delete(&example("/upvotes?email=demo.customer@example.com"))),
        ("The public roadmap", get("/roadmap?per_lane=2")),
        ("Tracks", get("/tracks")),
        ("Changelogs", get("/changelogs?page_size=2")),
        ("Who changed what", get("/audit_entries?page_size=3")),
        ("Settings", get("/setting")),
    ];
    let PageLinks { portal, customer, team } = pages;
    let mut text = format!(
        "\n\nPortal: {portal}\nSign in as a customer: {customer}\nSign in as the team: {team}\n(The links to sign in work \
         once, within 15 minutes. Each start prints new ones.)\n\nAPI key: {key}\n\nFor agents (docs/mcp.md), here \
         Claude Code:\nclaude mcp add --transport http roadmap-demo {base_url}/mcp --header 'X-Api-Key: {key}'\n\nTry:\n"
    );
    for (title, request) in requests {
        text += &format!("\n# {title}\n{request}\n");
    }
    text
}

#[derive(Debug, Deserialize)]
struct Data {
    product_name: String,
    website_url: String,
    accent_color: String,
    members: Vec<MemberData>,
    customers: Vec<Person>,
    requests: Vec<Request>,
    changelogs: Vec<ChangelogData>,
    missed_searches: Vec<MissedSearchData>,
}

impl Data {
    fn customer_email(&self, position: usize) -> anyhow::Result<EmailAddress> {
        let person = self.customers.get(position).context("the demo has too few customers")?;
        Ok(EmailAddress::parse("email", &person.email)?)
    }

    fn member_email(&self, position: usize) -> anyhow::Result<EmailAddress> {
        let member = self.members.get(position).context("the demo has too few members")?;
        Ok(EmailAddress::parse("email", &member.email)?)
    }
}

#[derive(Debug, Deserialize)]
struct MemberData {
    name: String,
    email: String,
    role: String,
}

#[derive(Debug, Deserialize)]
struct Person {
    name: String,
    email: String,
}

/// A feature request. Members and customers are given by their positions, other feature requests by their titles, and
/// times in days after the creation.
#[derive(Debug, Deserialize)]
struct Request {
    title: String,
    description: String,
    tags: Vec<String>,
    /// The track that it is on at the end.
    track: String,
    days_ago: i64,
    author: usize,
    votes: usize,
    private: bool,
    /// Whether it waits for approval.
    #[serde(default)]
    awaiting: bool,
    #[serde(default)]
    edits: Vec<EditData>,
    #[serde(default)]
    moves: Vec<MoveData>,
    merge: Option<MergeData>,
    #[serde(default)]
    followers: Vec<FollowerData>,
    comments: Vec<CommentData>,
    /// The comments that wait for approval.
    #[serde(default)]
    held: Vec<HeldData>,
    notes: Vec<NoteData>,
}

/// A change of the title.
#[derive(Debug, Deserialize)]
struct EditData {
    title_before: String,
    by: usize,
    days_after: i64,
}

#[derive(Debug, Deserialize)]
struct MoveData {
    track: String,
    by: usize,
    days_after: i64,
}

/// A merge, which may have been undone.
#[derive(Debug, Deserialize)]
struct MergeData {
    into: String,
    by: usize,
    days_after: i64,
    undone_after: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct FollowerData {
    customer: usize,
    days_after: i64,
}

/// A comment of a member or a customer.
#[derive(Debug, Deserialize)]
struct CommentData {
    author: Option<usize>,
    customer: Option<usize>,
    days_after: i64,
    content: String,
}

/// A comment of a customer that waits for approval.
#[derive(Debug, Deserialize)]
struct HeldData {
    customer: usize,
    days_after: i64,
    content: String,
}

/// A search that found nothing.
#[derive(Debug, Deserialize)]
struct MissedSearchData {
    words: String,
    count: i64,
    days_ago: i64,
}

#[derive(Debug, Deserialize)]
struct NoteData {
    author: usize,
    customer: usize,
    days_after: i64,
    body: String,
}

#[derive(Debug, Deserialize)]
struct ChangelogData {
    title: String,
    category: Option<String>,
    content: String,
    days_ago: i64,
    published: bool,
    /// The file name of the cover image.
    cover: Option<String>,
    /// The days from now until it is published, if it is scheduled.
    publish_in_days: Option<i64>,
    /// Titles of the feature requests that it is about.
    feature_requests: Vec<String>,
}

impl MissedSearchData {
    /// Returns the search, and how many days ago it was. `None` without words.
    fn at_its_day(&self) -> Option<(i64, MissedSearch)> {
        let words = MissedWords::of_query(&self.words)?;
        Some((self.days_ago, MissedSearch { words, count: self.count }))
    }
}

/// Creates the demo's records in one unit of work, so that an interrupted start leaves nothing but the content of images,
/// which the sweep deletes. Their timestamps are spread over the last [`AGE`] days.
struct FillDemo {
    data: Data,
    images: Vec<Attachment>,
    ids: Arc<dyn IdGenerator>,
}

#[async_trait]
impl Operation for FillDemo {
    type Output = WorkspaceId;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<WorkspaceId>, RoadmapError> {
        let data = &self.data;
        let (workspace, now) = (context.workspace, context.now);
        let mut filling = Filling {
            data,
            images: &self.images,
            ids: &*self.ids,
            workspace,
            now,
            founder: context.actor.clone(),
            members: Vec::new(),
            tracks: Vec::new(),
            requests: HashMap::new(),
        };
        let setting = Setting::parse(&data.product_name, &data.website_url)?;
        let create = CreateWorkspace { subdomain: subdomain(), setting };
        filling.tracks = create.perform(&filling.at(AGE, &filling.founder), work).await?.output.tracks;
        for member in &data.members {
            filling.add_member(member, work).await?;
        }
        filling.set_up_portal(work).await?;
        for request in &data.requests {
            filling.fill_request(request, work).await?;
        }
        filling.merge_requests(work).await?;
        for changelog in &data.changelogs {
            filling.add_changelog(changelog, work).await?;
        }
        Ok(Performed::new(workspace, Audit::entry("workspace.create", "workspace", Some(workspace.uuid()))))
    }
}

/// The state of filling the demo's workspace.
struct Filling<'a> {
    data: &'a Data,
    images: &'a [Attachment],
    ids: &'a dyn IdGenerator,
    workspace: WorkspaceId,
    now: Timestamp,
    /// Who created the workspace.
    founder: Actor,
    members: Vec<Actor>,
    tracks: Vec<Track>,
    /// The feature requests by title.
    requests: HashMap<&'a str, FeatureRequestId>,
}

impl<'a> Filling<'a> {
    /// The context of an operation of `actor` some days ago.
    fn at<'b>(&'b self, days_ago: i64, actor: &'b Actor) -> OperationContext<'b> {
        OperationContext::new(self.workspace, self.now.plus(-time_ago(days_ago)), actor, self.ids)
    }

    /// Performs an operation of `actor` some days ago, with its entry in the audit log.
    async fn perform<O: Operation>(
        &self,
        operation: &O,
        days_ago: i64,
        actor: &Actor,
        work: &mut dyn UnitOfWork,
    ) -> Result<O::Output, RoadmapError> {
        let context = self.at(days_ago, actor);
        let Performed { output, audit, .. } = operation.perform(&context, work).await?;
        for AuditDraft { action, subject, changes } in audit.into_entries() {
            let channel = if actor.kind == ActorKind::Member { Channel::Page } else { Channel::Command };
            let entry = AuditEntry {
                id: context.new_id(AuditEntryId::new),
                at: context.now,
                origin: Origin { actor: actor.clone(), channel, request_id: None },
                action: action.to_owned(),
                subject,
                changes,
            };
            work.insert_audit_entry(&entry).await?;
        }
        Ok(output)
    }

    async fn add_member(&mut self, member: &MemberData, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        let operation = AddMember {
            email: EmailAddress::parse("email", &member.email)?,
            name: Name::parse("name", &member.name)?,
            role: Some(Role::parse("role", &member.role)?),
        };
        let added = self.perform(&operation, AGE - 1, &self.founder, work).await?;
        // Members who begin to get mail are told what comes, not what the demo says about the past.
        for wanted in [TeamMail::Nothing, TeamMail::Daily] {
            work.set_team_mail(added.id, wanted, self.now).await?;
        }
        self.members.push(Actor::member(added.id, &added.name));
        Ok(())
    }

    /// Stores the rows of the images, and gives the portal its logo and colour.
    async fn set_up_portal(&self, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        for image in self.images {
            work.insert_attachment(image, None).await?;
        }
        let change = PortalChange {
            accent: Some(Some(Color::parse("accent_color", &self.data.accent_color)?)),
            logo: Some(Some(self.image(images::LOGO)?)),
            ..PortalChange::default()
        };
        self.perform(&UpdatePortal { change }, AGE - 1, self.member(EXAMPLE_MEMBER)?, work).await?;
        Ok(())
    }

    async fn fill_request(&mut self, request: &'a Request, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        let first_title = request.edits.first().map_or(&request.title, |edit| &edit.title_before);
        // Without moves, it is where it was created.
        let track = if request.moves.is_empty() { Some(self.track(&request.track)?) } else { None };
        let draft = FeatureRequestDraft {
            title: Title::parse("title", first_title)?,
            description: Description::parse("description", &request.description)?,
            tags: Tag::parse_list("tags", &request.tags)?,
            track,
            private: request.private,
            awaiting_approval: request.awaiting,
            customer: Some(self.customer(request.author)?),
            note: None,
        };
        let create = CreateFeatureRequest::new(draft);
        let id = self.perform(&create, request.days_ago, &self.founder, work).await?.request.id;
        self.requests.insert(&request.title, id);
        self.fill_history(request, FeatureRequestRef::Id(id), work).await?;
        self.fill_feedback(request, FeatureRequestRef::Id(id), work).await
    }

    /// Edits and moves a feature request.
    async fn fill_history(
        &self,
        request: &Request,
        reference: FeatureRequestRef,
        work: &mut dyn UnitOfWork,
    ) -> Result<(), RoadmapError> {
        let later = request.edits.iter().skip(1).map(|edit| &edit.title_before).chain([&request.title]);
        for (edit, title) in request.edits.iter().zip(later) {
            let change =
                FeatureRequestChange { title: Some(Title::parse("title", title)?), ..FeatureRequestChange::default() };
            let operation = EditFeatureRequest { request: reference, change };
            self.perform(&operation, request.days_ago - edit.days_after, self.member(edit.by)?, work).await?;
        }
        for moved in &request.moves {
            let track = self.track(&moved.track)?;
            let draft = MoveDraft { track, author: Author::Oldest, notify_all_voters: false, comment: None };
            let operation = MoveFeatureRequest { request: reference, draft };
            self.perform(&operation, request.days_ago - moved.days_after, self.member(moved.by)?, work).await?;
        }
        Ok(())
    }

    /// Adds the votes, notes, comments and followers of a feature request.
    async fn fill_feedback(
        &self,
        request: &Request,
        reference: FeatureRequestRef,
        work: &mut dyn UnitOfWork,
    ) -> Result<(), RoadmapError> {
        // Nobody votes for a feature request that is merged.
        let is_merged = request.merge.as_ref().filter(|merge| merge.undone_after.is_none());
        let open_days = is_merged.map_or(request.days_ago, |merge| merge.days_after);
        for voter in 1..request.votes {
            // 7 and the number of customers (90) are coprime, so that no customer votes twice.
            let customer = self.customer((request.author + voter * 7) % self.data.customers.len().max(1))?;
            let days = request.days_ago - spread(voter, request, open_days);
            let operation = CastVote { request: reference, draft: VoteDraft::new(Some(customer), None)? };
            self.perform(&operation, days, &self.founder, work).await?;
        }
        for note in &request.notes {
            let body = NoteDraft::parse(Some(&note.body), Some(self.address(note.author)?))?;
            let draft = VoteDraft::new(Some(self.customer(note.customer)?), Some(body))?;
            let operation = CastVote { request: reference, draft };
            self.perform(&operation, request.days_ago - note.days_after, &self.founder, work).await?;
        }
        for comment in &request.comments {
            let content = Some(comment.content.as_str());
            let draft = match (comment.author, comment.customer) {
                (Some(member), _) => CommentDraft::parse(content, Some(self.address(member)?), false),
                (None, Some(customer)) => {
                    CommentDraft::parse_of_customer(content, None, self.customer(customer)?, false)
                }
                (None, None) => Err(FieldError::missing("author")),
            };
            let CommentDraft { content, author, .. } = draft?;
            let context = self.at(request.days_ago - comment.days_after, &self.founder);
            let author = match author {
                CommentAuthor::Member(author) => CommentAuthor::Member(author),
                CommentAuthor::Customer(customer) => {
                    CommentAuthor::Customer(customer.to_new_customer(context.new_id(CustomerId::new)))
                }
            };
            let id = context.new_id(CommentId::new);
            // `PostComment` would mail authors about answers of the past.
            let comment = NewComment { id, request: reference, content, author, created_at: context.now };
            work.insert_comment(&comment).await?.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
        }
        for held in &request.held {
            let content = CleanHtml::parse("content", &held.content)?;
            let operation = HoldComment { request: reference, content, customer: self.customer(held.customer)? };
            self.perform(&operation, request.days_ago - held.days_after, &self.founder, work).await?;
        }
        for follower in &request.followers {
            let operation =
                Subscribe { request: reference, customer: self.customer(follower.customer)?, resumes_mail: false };
            self.perform(&operation, request.days_ago - follower.days_after, &self.founder, work).await?;
        }
        Ok(())
    }

    /// Merges feature requests, the earliest merge first, and undoes some merges.
    async fn merge_requests(&self, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        let merges = self.data.requests.iter().filter_map(|request| Some((request, request.merge.as_ref()?)));
        let mut merges: Vec<_> = merges.collect();
        merges.sort_by_key(|(request, merge)| merge.days_after - request.days_ago);
        for (request, merge) in merges {
            let source = self.request(&request.title)?;
            let operation = MergeFeatureRequests { source, target: self.request(&merge.into)?, tells_voters: false };
            let member = self.member(merge.by)?;
            self.perform(&operation, request.days_ago - merge.days_after, member, work).await?;
            if let Some(days_after) = merge.undone_after {
                let operation = UnmergeFeatureRequest { source };
                self.perform(&operation, request.days_ago - days_after, member, work).await?;
            }
        }
        Ok(())
    }

    async fn add_changelog(&self, changelog: &ChangelogData, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        let fields = ChangelogFields {
            title: Some(changelog.title.clone()),
            category: Some(changelog.category.clone()),
            content: Some(changelog.content.clone()),
            ..ChangelogFields::default()
        };
        let mut draft = ChangelogDraft::parse(&fields, changelog.published, |_| None)?;
        if let Some(days) = changelog.publish_in_days {
            draft.publication = Publication::At(self.now.plus(Duration::days(days)));
        }
        draft.cover = changelog.cover.as_deref().map(|name| self.image(name)).transpose()?;
        for title in &changelog.feature_requests {
            draft.feature_requests.push(self.request_id(title)?);
        }
        let operation = CreateChangelog { draft };
        self.perform(&operation, changelog.days_ago, self.member(0)?, work).await?;
        Ok(())
    }

    fn customer(&self, index: usize) -> Validated<CustomerDraft> {
        let person = self.data.customers.get(index).ok_or_else(|| FieldError::missing("customer"))?;
        CustomerDraft::parse(Some(&person.email), Some(&person.name))
    }

    fn address(&self, member: usize) -> Validated<&str> {
        self.data.members.get(member).map(|member| member.email.as_str()).ok_or_else(|| FieldError::missing("author"))
    }

    fn member(&self, index: usize) -> Validated<&Actor> {
        self.members.get(index).ok_or_else(|| FieldError::missing("by"))
    }

    fn image(&self, name: &str) -> Result<AttachmentId, RoadmapError> {
        let image = self.images.iter().find(|image| image.filename.as_str() == name);
        image.map(|image| image.id).ok_or(RoadmapError::NotFound(Resource::File))
    }

    fn track(&self, name: &str) -> Result<TrackId, RoadmapError> {
        let track = self.tracks.iter().find(|track| track.name.as_str() == name);
        track.map(|track| track.id).ok_or(RoadmapError::NotFound(Resource::Track))
    }

    fn request_id(&self, title: &str) -> Result<FeatureRequestId, RoadmapError> {
        self.requests.get(title).copied().ok_or(RoadmapError::NotFound(Resource::FeatureRequest))
    }

    fn request(&self, title: &str) -> Result<FeatureRequestRef, RoadmapError> {
        self.request_id(title).map(FeatureRequestRef::Id)
    }
}

/// How long ago something has happened that happened some days ago. The time of day differs between days; things of one day
/// happen at once.
fn time_ago(days: i64) -> Duration {
    Duration::days(days) - Duration::minutes(days.max(0) * 157 % 600)
}

/// The number of days after the creation at which a customer votes. Votes are spread evenly over the given days, the last
/// one at least a day before their end. Each feature request begins a bit earlier or later, so that there are votes every
/// week until now.
fn spread(voter: usize, request: &Request, days: i64) -> i64 {
    let tenths = |number: usize| i64::try_from(number).unwrap_or(0);
    let share = tenths(voter * 10 + request.author % 10) * (days - 1) / tenths(request.votes * 10).max(1);
    share.max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(data: &Data, number: i64) -> &Request {
        &data.requests[usize::try_from(number).unwrap() - 1]
    }

    #[test]
    fn the_examples_are_about_the_right_feature_requests() {
        let data = read_data().unwrap();
        // Tag numbers count the feature requests in the order of the data.
        assert!(data.requests.iter().rev().is_sorted_by_key(|request| request.days_ago));
        assert_eq!(request(&data, EXAMPLE).title, "Export filtered conversations to CSV");
        assert_eq!(request(&data, MERGE_SOURCE).title, "Editor flashes white when opening in dark mode");
        assert_eq!(request(&data, MERGE_TARGET).title, "Dark mode that follows the system setting");
        for number in [EXAMPLE, MERGE_SOURCE, MERGE_TARGET] {
            let request = request(&data, number);
            assert!(!request.private && request.merge.is_none(), "{}", request.title);
        }
    }

    #[test]
    fn links_to_sign_in_are_for_somebody_with_content() {
        let data = read_data().unwrap();
        assert_eq!(data.members[EXAMPLE_MEMBER].role, "admin");
        let requests = data.requests.iter().filter(|request| request.author == EXAMPLE_CUSTOMER);
        assert!(requests.count() > 0 && data.customer_email(EXAMPLE_CUSTOMER).is_ok());
        let comments = data.requests.iter().flat_map(|request| &request.comments);
        assert!(comments.filter(|comment| comment.customer == Some(EXAMPLE_CUSTOMER)).count() > 0);
    }

    #[test]
    fn times_follow_each_other_and_end_before_now() {
        let data = read_data().unwrap();
        for request in &data.requests {
            let (title, age) = (&request.title, request.days_ago);
            let moves: Vec<i64> = request.moves.iter().map(|moved| moved.days_after).collect();
            let edits: Vec<i64> = request.edits.iter().map(|edit| edit.days_after).collect();
            let comments: Vec<i64> = request.comments.iter().map(|comment| comment.days_after).collect();
            let held: Vec<i64> = request.held.iter().map(|held| held.days_after).collect();
            for days in [&moves, &edits, &comments, &held] {
                assert!(days.is_sorted() && days.iter().all(|days| (0..age).contains(days)), "{title}: {days:?}");
            }
            assert!(age < AGE && request.followers.iter().all(|follower| follower.days_after < age), "{title}");
            if let Some(last) = request.moves.last() {
                assert_eq!(last.track, request.track, "{title}");
            }
            if let Some(merge) = &request.merge {
                let target = data.requests.iter().find(|other| other.title == merge.into).unwrap();
                assert!(merge.days_after < age.min(merge.undone_after.unwrap_or(age)), "{title}");
                assert!(target.days_ago > age - merge.days_after && request.private >= target.private, "{title}");
            }
        }
    }

    #[test]
    fn later_days_are_later_times() {
        let times: Vec<Duration> = (0..=AGE).map(time_ago).collect();
        assert!(times[0] == Duration::ZERO && times.is_sorted_by(|one, other| one < other));
    }

    #[test]
    fn the_data_uses_everything() {
        let data = read_data().unwrap();
        let requests = || data.requests.iter();
        assert!(requests().any(|request| request.private) && requests().any(|request| !request.followers.is_empty()));
        assert!(requests().any(|request| request.comments.iter().any(|comment| comment.customer.is_some())));
        // Something waits for approval, and something was searched for in vain.
        assert!(requests().any(|request| request.awaiting) && requests().any(|request| !request.held.is_empty()));
        assert!(requests().all(|request| request.private || !request.awaiting));
        let missed = || data.missed_searches.iter();
        assert!(missed().count() > 3 && missed().all(|search| search.at_its_day().is_some()));
        let merges = || requests().filter_map(|request| request.merge.as_ref());
        assert!(merges().any(|merge| merge.undone_after.is_some()) && merges().count() > 5);
        let changelogs = || data.changelogs.iter();
        assert!(changelogs().any(|changelog| changelog.publish_in_days.is_some_and(|days| days > 0)));
        assert!(changelogs().all(|changelog| !changelog.feature_requests.is_empty()));
        let covers: Vec<&str> = changelogs().filter_map(|changelog| changelog.cover.as_deref()).collect();
        assert!(images::tests::names().iter().all(|name| *name == images::LOGO || covers.contains(name)), "{covers:?}");
        assert!(Color::parse("accent_color", &data.accent_color).is_ok());
    }
}
