//! The demo: a workspace with realistic content, and example requests.

use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use roadmap_domain::error::{FieldError, RoadmapError, Validated};
use roadmap_domain::model::api_key::Scopes;
use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::changelog::ChangelogDraft;
use roadmap_domain::model::comment::CommentDraft;
use roadmap_domain::model::customer::CustomerDraft;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{Description, FeatureRequestRef, Tag, Title};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::note::NoteDraft;
use roadmap_domain::model::setting::Setting;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::Track;
use roadmap_domain::model::vote::VoteDraft;
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::ports::{IdGenerator, UnitOfWork};
use roadmap_domain::usecase::add_member::AddMember;
use roadmap_domain::usecase::cast_vote::CastVote;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::create_feature_request::{CreateFeatureRequest, FeatureRequestDraft};
use roadmap_domain::usecase::create_workspace::CreateWorkspace;
use roadmap_domain::usecase::executor::{Operation, OperationContext};
use roadmap_domain::usecase::issue_api_key::IssueApiKey;
use roadmap_domain::usecase::post_comment::PostComment;
use roadmap_domain::usecase::revoke_api_key::RevokeApiKey;
use serde::Deserialize;
use time::Duration;

use crate::commands::generate_api_key;
use crate::wiring::Application;

const DATA: &str = include_str!("demo/data.json");

/// The name of the demo's keys, by which the next start finds them.
const KEY_NAME: &str = "demo";

/// Lifetime of a key.
const KEY_LIFETIME: Duration = Duration::hours(24);

/// The subdomain of the demo's workspace.
pub(crate) fn subdomain() -> Subdomain {
    #[expect(clippy::expect_used, reason = "a constant, which a test checks")]
    Subdomain::from_label("demo").expect("a label")
}

/// Creates the workspace if it does not exist, replaces the key of the last start, and returns the example requests.
pub(crate) async fn prepare(application: &Application, base_url: &BaseUrl) -> anyhow::Result<String> {
    refuse_other_workspaces(application).await?;
    let workspace = match application.directory.workspace(&subdomain()).await? {
        Some(workspace) => workspace.id,
        None => fill(application).await?,
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
    Ok(usage_text(base_url, key.reveal(), planned.as_ref()))
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

async fn fill(application: &Application) -> anyhow::Result<WorkspaceId> {
    let data: Data = serde_json::from_str(DATA).context("the demo's data cannot be read")?;
    let workspace = WorkspaceId::new(application.ids.next(application.clock.now()));
    application.executor.run_without_key(workspace, &FillDemo { data, ids: application.ids.clone() }).await?;
    Ok(workspace)
}

/// Formats the demo's key and example requests, as commands to paste into a shell.
fn usage_text(base_url: &BaseUrl, key: &str, planned: Option<&Track>) -> String {
    let api = format!("{base_url}/api/external/v1");
    let get = |path: &str| format!("curl -s -H 'X-Api-Key: {key}' '{api}{path}'");
    let send = |method: &str, path: &str, body: &str| {
        format!(
            "curl -s -X {method} -H 'X-Api-Key: {key}' -H 'Content-Type: application/json' -d '{body}' '{api}{path}'"
        )
    };
    let track = planned.map(|track| track.id.to_string()).unwrap_or_default();
    let requests = [
        ("Search", get("/feature_requests?query=dark%20mode")),
        ("What a customer voted for", get("/votes?email=demo.customer@example.com")),
        (
            "Vote with a private note (a repetition with the same operation_key has no effect)",
            send(
                "POST",
                "/feature_requests/1/upvotes",
                r#"{"customer":{"email":"demo.customer@example.com","name":"Demo Customer"},"reference_note":{"body":"Asked on the phone"},"operation_key":"demo-vote-1"}"#,
            ),
        ),
        (
            "Comment",
            send(
                "POST",
                "/feature_requests/1/comments",
                r#"{"comment":{"content":"<p>We are <strong>on it</strong>.</p>"}}"#,
            ),
        ),
        (
            "Create a feature request",
            send(
                "POST",
                "/feature_requests",
                r#"{"feature_request":{"title":"Snooze a conversation until Monday","tags":["inbox"]},"customer":{"email":"demo.customer@example.com"}}"#,
            ),
        ),
        (
            "Move a feature request to a track",
            send("PATCH", "/feature_requests/1/track", &format!(r#"{{"track_id":"{track}"}}"#)),
        ),
        ("Voters of a feature request", get("/feature_requests/1/voters?page_size=3")),
        ("Tracks", get("/tracks")),
        ("Changelogs", get("/changelogs?page_size=2")),
        ("Settings", get("/setting")),
    ];
    let mut text = format!("\n\nDemo workspace: {}\nAPI key: {key}\n\nTry:\n", base_url.workspace_url(&subdomain()));
    for (title, request) in requests {
        text += &format!("\n# {title}\n{request}\n");
    }
    text
}

#[derive(Debug, Deserialize)]
struct Data {
    product_name: String,
    website_url: String,
    members: Vec<Person>,
    customers: Vec<Person>,
    requests: Vec<Request>,
    changelogs: Vec<ChangelogData>,
}

#[derive(Debug, Deserialize)]
struct Person {
    name: String,
    email: String,
}

#[derive(Debug, Deserialize)]
struct Request {
    title: String,
    description: String,
    tags: Vec<String>,
    track: String,
    days_ago: i64,
    author: usize,
    votes: usize,
    private: bool,
    comments: Vec<CommentData>,
    notes: Vec<NoteData>,
}

#[derive(Debug, Deserialize)]
struct CommentData {
    author: usize,
    days_after: i64,
    content: String,
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
    content: String,
    days_ago: i64,
    published: bool,
}

/// Creates the demo's records in one unit of work, so that an interrupted start leaves nothing. Their timestamps are spread
/// over the last 600 days.
struct FillDemo {
    data: Data,
    ids: Arc<dyn IdGenerator>,
}

#[async_trait]
impl Operation for FillDemo {
    type Output = ();

    async fn perform(&self, context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
        let data = &self.data;
        let at =
            |days: i64| OperationContext::new(context.workspace, context.now.plus(-Duration::days(days)), &*self.ids);
        let setting = Setting::parse(&data.product_name, &data.website_url)?;
        let created = CreateWorkspace { subdomain: subdomain(), setting }.perform(&at(600), work).await?;
        for member in &data.members {
            let email = EmailAddress::parse("email", &member.email)?;
            AddMember { email, name: Name::parse("name", &member.name)? }.perform(&at(599), work).await?;
        }
        for request in &data.requests {
            self.fill_request(request, &created.tracks, &at, work).await?;
        }
        for changelog in &data.changelogs {
            let draft = ChangelogDraft::parse(
                Some(&changelog.title),
                Some(&changelog.content),
                None,
                changelog.published,
                |_| None,
            );
            CreateChangelog { draft }.perform(&at(changelog.days_ago), work).await?;
        }
        Ok(())
    }
}

impl FillDemo {
    async fn fill_request<'a>(
        &self,
        request: &Request,
        tracks: &[Track],
        at: &(impl Fn(i64) -> OperationContext<'a> + Sync),
        work: &mut dyn UnitOfWork,
    ) -> Result<(), RoadmapError> {
        let track = tracks.iter().find(|track| track.name.as_str() == request.track);
        let draft = FeatureRequestDraft {
            title: Title::parse("title", &request.title)?,
            description: Description::parse("description", &request.description)?,
            tags: Tag::parse_list("tags", &request.tags)?,
            track: Some(track.ok_or_else(|| FieldError::missing("track"))?.id),
            private: request.private,
            customer: Some(self.customer(request.author)?),
            note: None,
        };
        let created = CreateFeatureRequest::new(Ok(draft)).perform(&at(request.days_ago), work).await?;
        let reference = FeatureRequestRef::Id(created.request.id);
        for voter in 1..request.votes {
            // 7 and the number of customers (90) are coprime, so that no customer votes twice.
            let customer = self.customer((request.author + voter * 7) % self.data.customers.len().max(1))?;
            let days = request.days_ago - spread(voter, request.votes, request.days_ago);
            let draft = VoteDraft::new(Some(customer), None);
            CastVote { request: reference, draft }.perform(&at(days), work).await?;
        }
        for note in &request.notes {
            let author = self.member(note.author)?;
            let draft = VoteDraft::new(
                Some(self.customer(note.customer)?),
                Some(NoteDraft::parse(Some(&note.body), Some(author))?),
            );
            CastVote { request: reference, draft }.perform(&at(request.days_ago - note.days_after), work).await?;
        }
        for comment in &request.comments {
            let draft = CommentDraft::parse(Some(&comment.content), Some(self.member(comment.author)?), false);
            let days = request.days_ago - comment.days_after;
            PostComment { request: reference, draft, mails_per_day: None }.perform(&at(days), work).await?;
        }
        Ok(())
    }

    fn customer(&self, index: usize) -> Validated<CustomerDraft> {
        let person = self.data.customers.get(index).ok_or_else(|| FieldError::missing("customer"))?;
        CustomerDraft::parse(Some(&person.email), Some(&person.name))
    }

    fn member(&self, index: usize) -> Validated<&str> {
        self.data.members.get(index).map(|member| member.email.as_str()).ok_or_else(|| FieldError::missing("author"))
    }
}

/// The number of days after the creation at which a customer votes. Votes are spread evenly over the age of the feature
/// request, the last one at least a day before now.
fn spread(voter: usize, votes: usize, days: i64) -> i64 {
    let share = i64::try_from(voter).unwrap_or(0) * (days - 1) / i64::try_from(votes).unwrap_or(1).max(1);
    share.max(0)
}
