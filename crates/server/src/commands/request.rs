//! `roadmap request`

use std::collections::HashMap;

use anyhow::bail;
use clap::Subcommand;
use roadmap_domain::error::{Conflict, Resource, RoadmapError};
use roadmap_domain::model::audit::Actor;
use roadmap_domain::model::event::{Event, EventContent, Move};
use roadmap_domain::model::feature_request::{FeatureRequestDetail, FeatureRequestRef, RequestLink};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::text::Name;
use roadmap_domain::policy::links::Links;
use roadmap_domain::usecase::delete_feature_request::{DeleteFeatureRequest, FeatureRequestDeleted};
use roadmap_domain::usecase::merge_feature_requests::{MergeFeatureRequests, UnmergeFeatureRequest};
use serde::Serialize;

use super::output::{OutputFormat, Row, print, print_json};
use super::{WorkspaceArgument, links};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum RequestCommand {
    /// Show a feature request, what is merged into it, and its history. A merged one is shown as what it was merged into
    Show {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Number, slug or id of the feature request
        request: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Merge a feature request into another one, which then counts and shows its votes and comments. Nothing is lost:
    /// `unmerge` undoes it
    Merge {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Number, slug or id of the feature request that becomes part of the other one
        source: String,
        /// Number, slug or id of the feature request that stays
        #[arg(long, value_name = "REQUEST")]
        into: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Undo the merge of a feature request. Votes and comments that the other one got since then stay there
    Unmerge {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Number, slug or id of the feature request that was merged
        request: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Delete a feature request with its votes, comments, notes, history and waiting mail. This cannot be undone
    Delete {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Number, slug or id of the feature request
        request: String,
        /// Also delete the feature requests that are merged into it
        #[arg(long)]
        with_merged: bool,
        /// Confirm that it is to be deleted
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        format: OutputFormat,
    },
}

/// A feature request with all of its fields, as the API shows it.
#[derive(Serialize)]
struct Detail {
    id: String,
    title: String,
    url: String,
    admin_url: String,
    status: Option<String>,
    track: String,
    votes_count: i64,
    created_at: String,
    tag_number: i64,
    description: String,
    tags: Vec<String>,
    private: bool,
    comments_count: i64,
    author: Option<Author>,
    merged: Vec<Link>,
    updated_at: String,
}

/// The customer who asked for a feature request.
#[derive(Serialize)]
struct Author {
    id: String,
    name: Option<String>,
    email: String,
}

/// A feature request that another one refers to.
#[derive(Serialize)]
struct Link {
    id: String,
    title: String,
    url: String,
}

impl Row for Link {
    const COLUMNS: &[&str] = &["id", "title", "url"];
}

/// The fields of a feature request in a table.
#[derive(Serialize)]
struct Overview<'a> {
    number: i64,
    id: &'a str,
    title: &'a str,
    url: &'a str,
    track: &'a str,
    status: Option<&'a str>,
    votes: i64,
    comments: i64,
    tags: &'a [String],
    private: bool,
    author: Option<String>,
    created_at: &'a str,
    updated_at: &'a str,
}

impl Row for Overview<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "number",
        "id",
        "title",
        "url",
        "track",
        "status",
        "votes",
        "comments",
        "tags",
        "private",
        "author",
        "created_at",
        "updated_at",
    ];
}

/// An event in the history of a feature request.
#[derive(Serialize)]
struct HistoryEntry {
    id: String,
    kind: &'static str,
    #[serde(flatten)]
    details: Details,
    by: By,
    created_at: String,
}

/// What the kind of an event says more.
#[derive(Serialize)]
#[serde(untagged)]
enum Details {
    /// A move, with the fields of the API.
    Move { from_track: String, to_track: String, from_status: Option<String>, to_status: Option<String> },
    /// A merge or its undoing, with the ID of the other feature request.
    Merge { feature_request: String },
    /// An edit, with the names of the changed fields.
    Edit { fields: Vec<String> },
    /// Nothing but the kind says.
    None {},
}

/// Who caused an event.
#[derive(Serialize)]
struct By {
    kind: &'static str,
    name: String,
}

/// An event in a table.
#[derive(Serialize)]
struct HistoryRow {
    created_at: String,
    event: String,
    by: String,
}

impl Row for HistoryRow {
    const COLUMNS: &[&str] = &["created_at", "event", "by"];
}

/// A feature request with its history.
#[derive(Serialize)]
struct RequestOutput {
    #[serde(flatten)]
    detail: Detail,
    history: Vec<HistoryEntry>,
}

/// The outcome of a merge, as the API shows it.
#[derive(Serialize)]
struct MergedOutput {
    feature_request: Detail,
    merged: Link,
}

/// The outcome of undoing a merge, as the API shows it.
#[derive(Serialize)]
struct UnmergedOutput {
    feature_request: Detail,
    unmerged_from: Link,
}

/// A deleted feature request.
#[derive(Serialize)]
struct Deleted {
    id: String,
    tag_number: i64,
    title: String,
    merged_deleted: u64,
}

impl Row for Deleted {
    const COLUMNS: &[&str] = &["id", "tag_number", "title", "merged_deleted"];
}

impl From<&FeatureRequestDeleted> for Deleted {
    fn from(deleted: &FeatureRequestDeleted) -> Self {
        Self {
            id: deleted.request.id.to_string(),
            tag_number: deleted.request.tag_number,
            title: deleted.request.title.to_string(),
            merged_deleted: deleted.merged,
        }
    }
}

impl Link {
    fn new(link: &RequestLink, links: &Links) -> Self {
        Self { id: link.id.to_string(), title: link.title.to_string(), url: links.request(&link.slug()) }
    }
}

impl Detail {
    fn new(detail: &FeatureRequestDetail, links: &Links) -> Self {
        let summary = &detail.summary;
        let slug = summary.slug();
        Self {
            id: summary.id.to_string(),
            title: summary.title.to_string(),
            url: links.request(&slug),
            admin_url: links.admin_request(&slug),
            status: summary.placement.status.as_ref().map(Name::to_string),
            track: summary.placement.track.to_string(),
            votes_count: summary.votes_count,
            created_at: summary.created_at.to_string(),
            tag_number: summary.tag_number,
            description: detail.description.as_str().to_owned(),
            tags: detail.tags.iter().map(ToString::to_string).collect(),
            private: detail.private,
            comments_count: detail.comments_count,
            author: detail.author.as_ref().map(|author| Author {
                id: author.id.to_string(),
                name: author.name.as_ref().map(Name::to_string),
                email: author.email.as_str().to_owned(),
            }),
            merged: detail.merged.iter().map(|link| Link::new(link, links)).collect(),
            updated_at: detail.updated_at.to_string(),
        }
    }

    fn overview(&self) -> Overview<'_> {
        let author = |author: &Author| match &author.name {
            Some(name) => format!("{name} <{}>", author.email),
            None => author.email.clone(),
        };
        Overview {
            number: self.tag_number,
            id: &self.id,
            title: &self.title,
            url: &self.url,
            track: &self.track,
            status: self.status.as_deref(),
            votes: self.votes_count,
            comments: self.comments_count,
            tags: &self.tags,
            private: self.private,
            author: self.author.as_ref().map(author),
            created_at: &self.created_at,
            updated_at: &self.updated_at,
        }
    }
}

impl From<&Event> for HistoryEntry {
    fn from(event: &Event) -> Self {
        let name = |name: &Option<Name>| name.as_ref().map(Name::to_string);
        let details = match &event.content {
            EventContent::Moved(Move { from, to, .. }) => Details::Move {
                from_track: from.track.to_string(),
                to_track: to.track.to_string(),
                from_status: name(&from.status),
                to_status: name(&to.status),
            },
            EventContent::Merged(other)
            | EventContent::MergedInto(other)
            | EventContent::Unmerged(other)
            | EventContent::UnmergedFrom(other) => Details::Merge { feature_request: other.to_string() },
            EventContent::Edited(fields) => Details::Edit { fields: fields.clone() },
            EventContent::NoAnswerNeeded => Details::None {},
        };
        Self {
            id: event.id.to_string(),
            kind: event.content.kind(),
            details,
            by: By { kind: event.actor.kind.name(), name: event.actor.name.clone() },
            created_at: event.created_at.to_string(),
        }
    }
}

impl HistoryRow {
    fn new(event: &Event, others: &Others) -> Self {
        Self {
            created_at: event.created_at.to_string(),
            event: describe_event(&event.content, others),
            by: describe_actor(&event.actor),
        }
    }
}

/// The feature requests that events name.
type Others = HashMap<FeatureRequestId, RequestLink>;

/// Describes an event. A feature request that was deleted since is named by its ID.
fn describe_event(content: &EventContent, others: &Others) -> String {
    let other = |id: &FeatureRequestId| match others.get(id) {
        Some(link) => format!("`{}` ({})", link.title, link.tag_number),
        None => id.to_string(),
    };
    match content {
        EventContent::Moved(Move { from, to, .. }) => format!("moved from {} to {}", from.track, to.track),
        EventContent::Merged(source) => format!("{} was merged into it", other(source)),
        EventContent::MergedInto(target) => format!("merged into {}", other(target)),
        EventContent::Unmerged(source) => format!("the merge of {} was undone", other(source)),
        EventContent::UnmergedFrom(target) => format!("its merge into {} was undone", other(target)),
        EventContent::Edited(fields) => format!("edited: {}", fields.join(", ")),
        EventContent::NoAnswerNeeded => "needs no answer".to_owned(),
    }
}

fn describe_actor(actor: &Actor) -> String {
    let kind = actor.kind.name().replace('_', " ");
    if actor.name.is_empty() { kind } else { format!("{} ({kind})", actor.name) }
}

impl RequestCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        match self {
            Self::Show { target, request, format } => {
                let application = Application::open(settings).await?;
                let workspace = target.find(&application).await?;
                let reference = FeatureRequestRef::parse(&request);
                let detail = application.reader.feature_request(workspace.id, &reference).await?;
                let detail = detail.ok_or(RoadmapError::NotFound(Resource::FeatureRequest));
                let detail = detail.map_err(|error| explain(error, &request))?;
                let events = history(&application, workspace.id, detail.summary.id).await?;
                let output = Detail::new(&detail, &links(settings, &workspace)?);
                if format.is_json() {
                    let history = events.iter().map(HistoryEntry::from).collect();
                    return print_json(&RequestOutput { detail: output, history });
                }
                if !refers_to(&reference, &detail) {
                    print("This feature request is merged into the following one.\n")?;
                }
                let others = others(&application, workspace.id, &detail, &events).await?;
                print_tables(&output, &detail.description.to_text(), &events, &others, format)
            }
            Self::Merge { target, source, into, format } => {
                let application = Application::open(settings).await?;
                let workspace = target.find(&application).await?;
                let links = links(settings, &workspace)?;
                // An unknown source and an unknown target have the same error, which does not say which one it is.
                for reference in [&source, &into] {
                    let parsed = FeatureRequestRef::parse(reference);
                    if application.reader.feature_request(workspace.id, &parsed).await?.is_none() {
                        return Err(explain(RoadmapError::NotFound(Resource::FeatureRequest), reference));
                    }
                }
                let operation = MergeFeatureRequests {
                    source: FeatureRequestRef::parse(&source),
                    target: FeatureRequestRef::parse(&into),
                    tells_voters: false,
                };
                let merged = application.executor.run_without_key(workspace.id, &operation).await;
                let merged = merged.map_err(|error| explain(error, &source))?;
                let output = MergedOutput {
                    feature_request: Detail::new(&merged.target, &links),
                    merged: Link::new(&merged.source, &links),
                };
                if format.is_json() {
                    return print_json(&output);
                }
                let target = &output.feature_request;
                let verb = if merged.was_there { "was part of" } else { "is now part of" };
                let (source, number) = (&output.merged.title, merged.source.tag_number);
                print(&format!(
                    "`{source}` ({number}) {verb} `{}` ({}), which has {}.",
                    target.title,
                    target.tag_number,
                    count_votes(target.votes_count)
                ))
            }
            Self::Unmerge { target, request, format } => {
                let application = Application::open(settings).await?;
                let workspace = target.find(&application).await?;
                let links = links(settings, &workspace)?;
                let operation = UnmergeFeatureRequest { source: FeatureRequestRef::parse(&request) };
                let unmerged = application.executor.run_without_key(workspace.id, &operation).await;
                let unmerged = unmerged.map_err(|error| explain(error, &request))?;
                let output = UnmergedOutput {
                    feature_request: Detail::new(&unmerged.source, &links),
                    unmerged_from: Link::new(&unmerged.target, &links),
                };
                if format.is_json() {
                    return print_json(&output);
                }
                let (source, target) = (&output.feature_request, &unmerged.target);
                print(&format!(
                    "`{}` ({}) is no longer part of `{}` ({}). It has {}.",
                    source.title,
                    source.tag_number,
                    target.title,
                    target.tag_number,
                    count_votes(source.votes_count)
                ))
            }
            Self::Delete { target, request, with_merged, yes, format } => {
                if !yes {
                    bail!(
                        "this deletes the feature request `{request}` with its votes, comments, notes and history, which \
                         cannot be undone; repeat the command with --yes to do so"
                    );
                }
                let application = Application::open(settings).await?;
                let workspace = target.find(&application).await?;
                let operation = DeleteFeatureRequest { request: FeatureRequestRef::parse(&request), with_merged };
                let deleted = application.executor.run_without_key(workspace.id, &operation).await;
                format.print_one(&Deleted::from(&deleted.map_err(|error| explain(error, &request))?))
            }
        }
    }
}

/// Loads all events of a feature request, newest first.
async fn history(
    application: &Application,
    workspace: WorkspaceId,
    request: FeatureRequestId,
) -> anyhow::Result<Vec<Event>> {
    let reference = FeatureRequestRef::Id(request);
    let mut events = Vec::new();
    for number in 1_u64.. {
        let page = PageRequest::parse(Some(&number.to_string()), Some(&PageRequest::MAX_SIZE.to_string()))?;
        // It may have been deleted since.
        let Some(listing) = application.reader.events(workspace, &reference, None, page).await? else { break };
        let is_last = number >= listing.total_pages();
        events.extend(listing.items);
        if is_last {
            break;
        }
    }
    Ok(events)
}

/// Whether the operator's reference means this feature request itself, and not one that is merged into it.
fn refers_to(reference: &FeatureRequestRef, detail: &FeatureRequestDetail) -> bool {
    match reference {
        FeatureRequestRef::Id(id) => *id == detail.summary.id,
        FeatureRequestRef::Number(number) => *number == detail.summary.tag_number,
        FeatureRequestRef::Unresolvable => false,
    }
}

fn count_votes(votes: i64) -> String {
    if votes == 1 { "1 vote".to_owned() } else { format!("{votes} votes") }
}

/// Finds the feature requests that events name: those that are merged into it, and those that are not merged.
async fn others(
    application: &Application,
    workspace: WorkspaceId,
    detail: &FeatureRequestDetail,
    events: &[Event],
) -> anyhow::Result<Others> {
    let mut others: Others = detail.merged.iter().map(|link| (link.id, link.clone())).collect();
    for event in events {
        let (EventContent::Merged(other)
        | EventContent::MergedInto(other)
        | EventContent::Unmerged(other)
        | EventContent::UnmergedFrom(other)) = &event.content
        else {
            continue;
        };
        if others.contains_key(other) {
            continue;
        }
        let detail = application.reader.feature_request(workspace, &FeatureRequestRef::Id(*other)).await?;
        // One that is merged elsewhere now is found as what it was merged into.
        let links = detail.into_iter().flat_map(|detail| {
            let root = RequestLink::from(&detail.summary);
            detail.merged.into_iter().chain([root])
        });
        others.extend(links.map(|link| (link.id, link)));
    }
    Ok(others)
}

fn print_tables(
    detail: &Detail,
    description: &str,
    events: &[Event],
    others: &Others,
    format: OutputFormat,
) -> anyhow::Result<()> {
    format.print_one(&detail.overview())?;
    if !description.trim().is_empty() {
        print(&format!("\n{}", description.trim()))?;
    }
    if !detail.merged.is_empty() {
        print("\nMerged into it:")?;
        format.print_many(&detail.merged)?;
    }
    if !events.is_empty() {
        print("\nHistory:")?;
        format.print_many(&events.iter().map(|event| HistoryRow::new(event, others)).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Adds to an error what an operator can do about it.
fn explain(error: RoadmapError, request: &str) -> anyhow::Error {
    let hint = match &error {
        RoadmapError::NotFound(Resource::FeatureRequest) => {
            format!("there is no feature request `{request}` in the workspace; enter its number, its slug or its id")
        }
        RoadmapError::Conflict(Conflict::HasMerged) => {
            "unmerge what is merged into it first, or add --with-merged to delete that, too".to_owned()
        }
        RoadmapError::Conflict(Conflict::AlreadyMerged) => {
            format!("`{request}` is part of another feature request; `roadmap request unmerge` undoes that")
        }
        RoadmapError::Conflict(Conflict::NotMerged) => {
            format!("`{request}` is not part of another feature request, so that there is nothing to undo")
        }
        RoadmapError::Invalid(invalid) if invalid.field == "target_id" => {
            format!("`{request}` cannot be merged into the feature request of --into")
        }
        _ => return error.into(),
    };
    anyhow::Error::new(error).context(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::error::{FieldError, FieldProblem};
    use roadmap_domain::model::feature_request::Title;
    use roadmap_domain::model::id::MemberId;
    use roadmap_domain::model::track::Placement;
    use uuid::Uuid;

    fn placement(track: &str) -> Placement {
        Placement { track: Name::from_stored(track.to_owned()), status: None }
    }

    #[test]
    fn events_are_described_in_words() {
        let (known, unknown) = (FeatureRequestId::new(Uuid::from_u128(7)), FeatureRequestId::new(Uuid::from_u128(8)));
        let title = Title::from_stored("Night mode".to_owned());
        let others = HashMap::from([(known, RequestLink { id: known, tag_number: 4, title })]);
        for (content, text) in [
            (
                EventContent::Moved(Move { from: placement("Inbox"), to: placement("Planned"), comment: None }),
                "moved from Inbox to Planned".to_owned(),
            ),
            (EventContent::Merged(known), "`Night mode` (4) was merged into it".to_owned()),
            (EventContent::Unmerged(unknown), format!("the merge of {unknown} was undone")),
            (EventContent::MergedInto(unknown), format!("merged into {unknown}")),
            (EventContent::UnmergedFrom(unknown), format!("its merge into {unknown} was undone")),
            (EventContent::Edited(vec!["title".to_owned(), "tags".to_owned()]), "edited: title, tags".to_owned()),
        ] {
            assert_eq!(describe_event(&content, &others), text);
        }
        let olga = Actor::member(MemberId::new(Uuid::from_u128(1)), &Name::from_stored("Olga".to_owned()));
        assert_eq!(describe_actor(&olga), "Olga (member)");
        assert_eq!(describe_actor(&Actor { name: String::new(), ..olga }), "member");
    }

    #[test]
    fn errors_say_what_to_do() {
        let message = |error: RoadmapError| format!("{:#}", explain(error, "12-dark"));
        for (error, says) in [
            (RoadmapError::NotFound(Resource::FeatureRequest), "enter its number, its slug or its id: FeatureRequest"),
            (RoadmapError::Conflict(Conflict::HasMerged), "add --with-merged to delete that, too: FeatureRequest has"),
            (RoadmapError::Conflict(Conflict::AlreadyMerged), "`roadmap request unmerge` undoes that"),
            (RoadmapError::Conflict(Conflict::NotMerged), "`12-dark` is not part of another feature request"),
            (
                FieldError::new("target_id", FieldProblem::Custom { message: "target_id is this" }).into(),
                "into the feature request of --into: target_id is this",
            ),
        ] {
            let text = message(error);
            assert!(text.contains(says), "{text}");
        }
        assert_eq!(message(RoadmapError::InsufficientScope), RoadmapError::InsufficientScope.to_string());
    }
}
