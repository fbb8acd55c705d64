//! `roadmap audit`

use std::io::{ErrorKind, Write};

use clap::Subcommand;
use roadmap_domain::error::FieldError;
use roadmap_domain::model::audit::{Actor, AuditEntry, AuditFilter, AuditPage, Change};
use roadmap_domain::model::id::{AuditEntryId, WorkspaceId};
use roadmap_domain::policy::spreadsheet::cell;
use serde::Serialize;
use serde_json::Value;

use super::WorkspaceArgument;
use super::output::{OutputFormat, Row, print_json};
use crate::settings::Settings;
use crate::wiring::Application;

/// The columns of an export as CSV.
const CSV_HEADER: [&str; 11] = [
    "id",
    "created_at",
    "actor_kind",
    "actor_id",
    "actor_name",
    "channel",
    "request_id",
    "action",
    "subject_kind",
    "subject_id",
    "changes",
];

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// List the newest entries of the audit log
    List {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        filter: FilterArguments,
        /// How many entries to list
        #[arg(long, value_name = "N", default_value_t = AuditPage::DEFAULT_SIZE,
              value_parser = clap::value_parser!(u64).range(1..))]
        limit: u64,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Print all entries of the audit log, newest first, as one JSON object per line
    Export {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        filter: FilterArguments,
        /// Print CSV with a header instead. A text that a spreadsheet would take for a formula begins with `'`
        #[arg(long)]
        csv: bool,
        /// Print JSON, one object per line (the default)
        #[arg(long, conflicts_with = "csv")]
        json: bool,
    },
}

/// Which entries are meant.
#[derive(Debug, clap::Args)]
pub(crate) struct FilterArguments {
    /// Only changes by this actor: the id of a key, member or customer, or a kind of actors: api_key, member, customer,
    /// operator, service
    #[arg(long, value_name = "ACTOR")]
    actor: Option<String>,
    /// Only this action, for example feature_request.move
    #[arg(long, value_name = "ACTION")]
    action: Option<String>,
    /// Only changes of the record with this id
    #[arg(long, value_name = "ID")]
    subject: Option<String>,
    /// Only changes from this time on, for example 2026-03-01T09:30:00Z
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Only changes before this time
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
}

impl FilterArguments {
    fn parse(&self) -> anyhow::Result<AuditFilter> {
        let [actor, action, subject, from, to] =
            [&self.actor, &self.action, &self.subject, &self.from, &self.to].map(Option::as_deref);
        let filter = AuditFilter::parse(actor, action, subject, from, to);
        Ok(filter.map_err(|invalid| FieldError { field: format!("--{}", invalid.field), ..invalid })?)
    }
}

/// An entry, as the API shows it.
#[derive(Serialize)]
struct OutputEntry<'a> {
    id: String,
    created_at: String,
    actor: ActorFields<'a>,
    channel: &'static str,
    request_id: Option<&'a str>,
    action: &'a str,
    subject: SubjectFields<'a>,
    changes: Vec<ChangeFields<'a>>,
}

#[derive(Serialize)]
struct ActorFields<'a> {
    kind: &'static str,
    id: Option<String>,
    name: &'a str,
}

#[derive(Serialize)]
struct SubjectFields<'a> {
    kind: &'a str,
    id: Option<String>,
}

#[derive(Serialize)]
struct ChangeFields<'a> {
    field: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<&'a Value>,
}

impl<'a> From<&'a AuditEntry> for OutputEntry<'a> {
    fn from(entry: &'a AuditEntry) -> Self {
        let Actor { kind, id, name } = &entry.origin.actor;
        Self {
            id: entry.id.to_string(),
            created_at: entry.at.to_string(),
            actor: ActorFields { kind: kind.name(), id: id.map(|id| id.to_string()), name },
            channel: entry.origin.channel.name(),
            request_id: entry.origin.request_id.as_deref(),
            action: &entry.action,
            subject: SubjectFields { kind: &entry.subject.kind, id: entry.subject.id.map(|id| id.to_string()) },
            changes: entry.changes.iter().map(ChangeFields::from).collect(),
        }
    }
}

impl<'a> From<&'a Change> for ChangeFields<'a> {
    fn from(change: &'a Change) -> Self {
        let (old, new) = change.values.as_ref().map(|(old, new)| (old, new)).unzip();
        Self { field: &change.field, old, new }
    }
}

impl OutputEntry<'_> {
    /// Formats the entry as a line of CSV (RFC 4180), without its end.
    fn to_csv(&self) -> anyhow::Result<String> {
        let changes = serde_json::to_string(&self.changes)?;
        let fields = [
            self.id.as_str(),
            &self.created_at,
            self.actor.kind,
            self.actor.id.as_deref().unwrap_or_default(),
            self.actor.name,
            self.channel,
            self.request_id.unwrap_or_default(),
            self.action,
            self.subject.kind,
            self.subject.id.as_deref().unwrap_or_default(),
            &changes,
        ];
        Ok(fields.map(cell).join(","))
    }
}

/// An entry in a table.
#[derive(Serialize)]
struct TableRow {
    created_at: String,
    actor: String,
    channel: &'static str,
    action: String,
    subject: Option<String>,
    changes: String,
}

impl Row for TableRow {
    const COLUMNS: &[&str] = &["created_at", "actor", "channel", "action", "subject", "changes"];
}

impl From<&AuditEntry> for TableRow {
    fn from(entry: &AuditEntry) -> Self {
        Self {
            created_at: entry.at.to_string(),
            actor: describe_actor(&entry.origin.actor),
            channel: entry.origin.channel.name(),
            action: entry.action.clone(),
            subject: entry.subject.id.map(|id| id.to_string()),
            changes: entry.changes.iter().map(describe_change).collect::<Vec<_>>().join("; "),
        }
    }
}

fn describe_actor(Actor { kind, id, name }: &Actor) -> String {
    let kind = kind.name();
    match id {
        _ if !name.is_empty() => format!("{kind} {name}"),
        Some(id) => format!("{kind} {id}"),
        None => kind.to_owned(),
    }
}

fn describe_change(Change { field, values }: &Change) -> String {
    let text = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match values {
        Some((old, new)) => format!("{field}: {} → {}", text(old), text(new)),
        None => field.clone(),
    }
}

impl AuditCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        match self {
            Self::List { target, filter, limit, format } => {
                let filter = filter.parse()?;
                let application = Application::open(settings).await?;
                let workspace = target.find(&application).await?.id;
                let mut entries = Vec::new();
                let mut pages = Pages::new(&application, workspace, filter);
                while let Some(page) = pages.next(limit.saturating_sub(entries.len() as u64)).await? {
                    entries.extend(page);
                }
                if format.is_json() {
                    return print_json(&entries.iter().map(OutputEntry::from).collect::<Vec<_>>());
                }
                format.print_many(&entries.iter().map(TableRow::from).collect::<Vec<_>>())
            }
            Self::Export { target, filter, csv, json: _ } => {
                let filter = filter.parse()?;
                let application = Application::open(settings).await?;
                let workspace = target.find(&application).await?.id;
                // The byte order mark marks the file as UTF-8 for spreadsheets.
                if csv && !write_lines(&[format!("\u{feff}{}", CSV_HEADER.map(cell).join(","))])? {
                    return Ok(());
                }
                let line = |entry: &AuditEntry| {
                    let entry = OutputEntry::from(entry);
                    if csv { entry.to_csv() } else { Ok(serde_json::to_string(&entry)?) }
                };
                let mut pages = Pages::new(&application, workspace, filter);
                while let Some(page) = pages.next(AuditPage::MAX_SIZE).await? {
                    if !write_lines(&page.iter().map(line).collect::<anyhow::Result<Vec<_>>>()?)? {
                        break;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Reads the audit log, newest entries first. Entries that are added meanwhile are left out.
struct Pages<'a> {
    application: &'a Application,
    workspace: WorkspaceId,
    filter: AuditFilter,
    before: Option<AuditEntryId>,
    is_finished: bool,
}

impl<'a> Pages<'a> {
    fn new(application: &'a Application, workspace: WorkspaceId, filter: AuditFilter) -> Self {
        Self { application, workspace, filter, before: None, is_finished: false }
    }

    /// Returns the next entries, at most `limit` of them; `None` after the last one.
    async fn next(&mut self, limit: u64) -> anyhow::Result<Option<Vec<AuditEntry>>> {
        let size = u32::try_from(limit.min(AuditPage::MAX_SIZE))?;
        if self.is_finished || size == 0 {
            return Ok(None);
        }
        let page = AuditPage { before: self.before, size };
        let listing = self.application.reader.audit_entries(self.workspace, &self.filter, page).await?;
        self.before = listing.next;
        self.is_finished = listing.next.is_none();
        Ok(Some(listing.entries))
    }
}

/// Writes lines to standard output. Returns whether it is still open; a closed pipe is not an error.
fn write_lines(lines: &[String]) -> anyhow::Result<bool> {
    let mut out = std::io::stdout().lock();
    let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        outcome => Ok(outcome.map(|()| true)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::audit::{Channel, Origin, Subject};
    use roadmap_domain::model::timestamp::Timestamp;
    use serde_json::json;
    use uuid::Uuid;

    fn entry() -> AuditEntry {
        AuditEntry {
            id: AuditEntryId::new(Uuid::from_u128(1)),
            at: Timestamp::from_millis(1_780_000_000_000).unwrap(),
            origin: Origin { actor: Actor::operator("=ops, \"night\""), channel: Channel::Command, request_id: None },
            action: "lane.update".to_owned(),
            subject: Subject { kind: "lane".to_owned(), id: Some(Uuid::from_u128(2)) },
            changes: vec![
                Change::new("name", "Next", "Soon"),
                Change::new("lane", Value::Null, "Planned"),
                Change::without_values("content"),
            ],
        }
    }

    #[test]
    fn an_entry_is_shown_like_in_the_api() {
        let expected = json!({
            "id": "00000000-0000-0000-0000-000000000001",
            "created_at": "2026-05-28T20:26:40.000Z",
            "actor": { "kind": "operator", "id": null, "name": "=ops, \"night\"" },
            "channel": "command",
            "request_id": null,
            "action": "lane.update",
            "subject": { "kind": "lane", "id": "00000000-0000-0000-0000-000000000002" },
            "changes": [
                { "field": "name", "old": "Next", "new": "Soon" },
                { "field": "lane", "old": null, "new": "Planned" },
                { "field": "content" },
            ],
        });
        assert_eq!(serde_json::to_value(OutputEntry::from(&entry())).unwrap(), expected);
        let row = TableRow::from(&entry());
        assert_eq!(row.actor, "operator =ops, \"night\"");
        assert_eq!(row.changes, "name: Next → Soon; lane: - → Planned; content");
    }

    #[test]
    fn csv_is_quoted_and_contains_no_formulas() {
        let line = OutputEntry::from(&entry()).to_csv().unwrap();
        let changes = r#""[{""field"":""name"",""old"":""Next"",""new"":""Soon""},{""field"":""lane"",""old"":null,""new"":""Planned""},{""field"":""content""}]""#;
        let expected = format!(
            "\"00000000-0000-0000-0000-000000000001\",\"2026-05-28T20:26:40.000Z\",\"operator\",\"\",\
             \"'=ops, \"\"night\"\"\",\"command\",\"\",\"lane.update\",\"lane\",\
             \"00000000-0000-0000-0000-000000000002\",{changes}"
        );
        assert_eq!(line, expected);
    }

    #[test]
    fn invalid_filters_name_their_flag() {
        let none = || FilterArguments { actor: None, action: None, subject: None, from: None, to: None };
        let message = |arguments: FilterArguments| arguments.parse().unwrap_err().to_string();
        let raw = || Some("soon".to_owned());
        assert!(
            message(FilterArguments { actor: raw(), ..none() }).starts_with("--actor is not a valid UUID or one of")
        );
        assert!(message(FilterArguments { subject: raw(), ..none() }).starts_with("--subject is not a valid UUID"));
        assert!(message(FilterArguments { from: raw(), ..none() }).starts_with("--from is not a timestamp"));
        assert!(message(FilterArguments { to: raw(), ..none() }).starts_with("--to is not a timestamp"));
        assert_eq!(none().parse().unwrap(), AuditFilter::default());
    }
}
