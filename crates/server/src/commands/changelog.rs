//! `roadmap changelog`

use anyhow::Context;
use clap::Subcommand;
use roadmap_domain::error::{Resource, RoadmapError};
use roadmap_domain::model::changelog::{Changelog, ChangelogCategory, ChangelogDetail, ChangelogState};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::id::{ChangelogId, WorkspaceId, parse_uuid};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::links::Links;
use roadmap_domain::usecase::change_changelog::PublishChangelog;
use serde::Serialize;

use super::output::{OutputFormat, Row};
use super::{WorkspaceArgument, links};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum ChangelogCommand {
    /// List the changelogs of a workspace, newest first: drafts, scheduled and published ones
    List {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Publish a changelog now, whether it is a draft or scheduled. One that is published keeps its time
    Publish {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Id of the changelog
        id: String,
        /// Mail it to the voters of its feature requests, each of them once. Publishing again mails nobody
        #[arg(long)]
        notify_voters: bool,
        #[command(flatten)]
        format: OutputFormat,
    },
}

/// A changelog, as the API lists it, and the time for which it is scheduled.
#[derive(Serialize)]
struct OutputRow {
    id: String,
    title: String,
    content: String,
    category: Option<&'static str>,
    status: &'static str,
    url: String,
    admin_url: String,
    cover_image_url: Option<String>,
    publish_at: Option<String>,
    published_at: Option<String>,
    created_at: String,
    updated_at: String,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &["id", "title", "status", "publish_at", "published_at", "created_at", "updated_at"];
}

impl OutputRow {
    fn new(changelog: &Changelog, links: &Links, now: Timestamp) -> Self {
        let state = changelog.state(now);
        let (publish_at, published_at) = match state {
            ChangelogState::Draft => (None, None),
            ChangelogState::Scheduled(at) => (Some(at), None),
            ChangelogState::Published(at) => (None, Some(at)),
        };
        let id = changelog.id.to_string();
        Self {
            title: changelog.title.to_string(),
            content: links.with_pictures(changelog.content.as_str()).into_owned(),
            category: changelog.category.map(ChangelogCategory::name),
            status: state.name(),
            url: links.changelog(&id),
            admin_url: links.admin_changelog(&id),
            cover_image_url: changelog.cover.as_ref().map(|cover| links.blob(cover.attachment, &cover.filename)),
            publish_at: publish_at.map(|at| at.to_string()),
            published_at: published_at.map(|at| at.to_string()),
            created_at: changelog.created_at.to_string(),
            updated_at: changelog.updated_at.to_string(),
            id,
        }
    }
}

/// A changelog with the feature requests that it is about.
#[derive(Serialize)]
struct Single {
    #[serde(flatten)]
    changelog: OutputRow,
    feature_requests: Vec<Linked>,
}

impl Row for Single {
    const COLUMNS: &[&str] = OutputRow::COLUMNS;
}

/// A feature request that a changelog is about.
#[derive(Serialize)]
struct Linked {
    id: String,
    title: String,
    url: String,
    status: Option<String>,
}

impl Single {
    fn new(detail: &ChangelogDetail, links: &Links, now: Timestamp) -> Self {
        let linked = |request: &FeatureRequestSummary| Linked {
            id: request.id.to_string(),
            title: request.title.to_string(),
            url: links.request(&request.slug()),
            status: request.placement.status.as_ref().map(Name::to_string),
        };
        Self {
            changelog: OutputRow::new(&detail.changelog, links, now),
            feature_requests: detail.feature_requests.iter().map(linked).collect(),
        }
    }
}

impl ChangelogCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        let now = || application.clock.now();
        match self {
            Self::List { target, format } => {
                let workspace = target.find(&application).await?;
                let links = links(settings, &workspace)?;
                let changelogs = all(&application, workspace.id).await?;
                let rows = changelogs.iter().map(|changelog| OutputRow::new(changelog, &links, now()));
                format.print_many(&rows.collect::<Vec<_>>())
            }
            Self::Publish { target, id, notify_voters, format } => {
                let workspace = target.find(&application).await?;
                let links = links(settings, &workspace)?;
                let operation = PublishChangelog {
                    changelog: ChangelogId::new(parse_uuid("the id", &id)?),
                    notify_subscribers: notify_voters,
                };
                let published = match application.executor.run_without_key(workspace.id, &operation).await {
                    Err(error @ RoadmapError::NotFound(Resource::Changelog)) => Err(error).with_context(|| {
                        let subdomain = &workspace.subdomain;
                        format!(
                            "there is no changelog `{id}`; `roadmap changelog list --workspace {subdomain}` lists all \
                             changelogs"
                        )
                    })?,
                    outcome => outcome?,
                };
                format.print_one(&Single::new(&published.detail, &links, now()))
            }
        }
    }
}

/// Loads all changelogs, newest first.
async fn all(application: &Application, workspace: WorkspaceId) -> anyhow::Result<Vec<Changelog>> {
    let mut changelogs = Vec::new();
    for number in 1_u64.. {
        let page = PageRequest::parse(Some(&number.to_string()), Some(&PageRequest::MAX_SIZE.to_string()))?;
        let listing = application.reader.changelogs(workspace, page).await?;
        let is_last = number >= listing.total_pages();
        changelogs.extend(listing.items);
        if is_last {
            break;
        }
    }
    Ok(changelogs)
}
