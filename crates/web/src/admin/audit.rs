//! The audit log: who has changed what, as a table and as a file.

use std::collections::HashMap;
use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use async_trait::async_trait;
use roadmap_domain::error::{RoadmapError, Validated};
use roadmap_domain::model::admin::{InboxCounts, InboxFilter, InboxRow, InboxState};
use roadmap_domain::model::api_key::ApiKey;
use roadmap_domain::model::audit::{
    ActorKind, AuditEntry, AuditFilter, AuditListing, AuditPage, Change, Channel, Subject, parse_time,
};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId, parse_uuid};
use roadmap_domain::model::member::Member;
use roadmap_domain::model::time_zone::parse_day;
use roadmap_domain::usecase::query::admin::ListApiKeys;
use roadmap_domain::usecase::query::audit::ListAuditEntries;
use roadmap_domain::usecase::query::people::ListMembers;
use roadmap_domain::usecase::query::{Query, QueryPorts};
use serde_json::Value;
use time::Date;
use uuid::Uuid;

use crate::admin::parts::{Choice, CsvFile, DisplayTime};
use crate::admin::{self, Entry};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::page::{Nav, Page, encoded};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the page.
const PATH: &str = "/admin/audit";
/// Number of entries on a page.
const PER_PAGE: u32 = 50;
/// Number of entries in a file, and of those that are read at a time for it.
const IN_FILE: usize = 10_000;
const AT_A_TIME: u32 = 1_000;

/// What was done, with the key of its words.
const ACTIONS: [(&str, &str); 68] = [
    ("feature_request.update", "action-request-update"),
    ("feature_request.move", "action-request-move"),
    ("feature_request.merge", "action-request-merge"),
    ("feature_request.unmerge", "action-request-unmerge"),
    ("feature_request.approve", "action-request-approve"),
    ("feature_request.decline", "action-request-decline"),
    ("feature_request.no_answer_needed", "action-request-no-answer-needed"),
    ("feature_request.delete", "action-request-delete"),
    ("comment.update", "action-comment-update"),
    ("comment.approve", "action-comment-approve"),
    ("comment.delete", "action-comment-delete"),
    ("reference_note.delete", "action-note-delete"),
    ("link.create", "action-link-create"),
    ("link.update", "action-link-update"),
    ("link.delete", "action-link-delete"),
    ("webhook.create", "action-webhook-create"),
    ("webhook.update", "action-webhook-update"),
    ("webhook.rotate", "action-webhook-rotate"),
    ("webhook.test", "action-webhook-test"),
    ("webhook.redeliver", "action-webhook-redeliver"),
    ("webhook.disable", "action-webhook-disable"),
    ("webhook.delete", "action-webhook-delete"),
    ("link_source.create", "action-link-source-create"),
    ("link_source.update", "action-link-source-update"),
    ("link_source.delete", "action-link-source-delete"),
    ("vote.withdraw", "action-vote-withdraw"),
    ("subscription.create", "action-subscription-create"),
    ("subscription.delete", "action-subscription-delete"),
    ("changelog.create", "action-changelog-create"),
    ("changelog.update", "action-changelog-update"),
    ("changelog.publish", "action-changelog-publish"),
    ("changelog.unpublish", "action-changelog-unpublish"),
    ("changelog.delete", "action-changelog-delete"),
    ("customer.update", "action-customer-update"),
    ("customer.merge", "action-customer-merge"),
    ("customer.export", "action-customer-export"),
    ("customer.erase", "action-customer-erase"),
    ("export.create", "action-export-create"),
    ("import.start", "action-import-start"),
    ("import.finish", "action-import-finish"),
    ("import.undo", "action-import-undo"),
    ("customer.block", "action-customer-block"),
    ("customer.unblock", "action-customer-unblock"),
    ("customer.remove_texts", "action-customer-remove-texts"),
    ("customer.restore_texts", "action-customer-restore-texts"),
    ("track.create", "action-track-create"),
    ("track.update", "action-track-update"),
    ("track.delete", "action-track-delete"),
    ("lane.create", "action-lane-create"),
    ("lane.update", "action-lane-update"),
    ("lane.delete", "action-lane-delete"),
    ("tag.update", "action-tag-update"),
    ("tag.delete", "action-tag-delete"),
    ("member.add", "action-member-add"),
    ("member.role", "action-member-role"),
    ("member.remove", "action-member-remove"),
    ("sign_in.link", "action-sign-in-link"),
    ("api_key.create", "action-key-create"),
    ("api_key.rotate", "action-key-rotate"),
    ("api_key.revoke", "action-key-revoke"),
    ("setting.update", "action-setting-update"),
    ("portal.update", "action-portal-update"),
    ("synonyms.replace", "action-synonyms-replace"),
    ("attachment.delete", "action-attachment-delete"),
    ("mail.retry", "action-mail-retry"),
    ("mail.test", "action-mail-test"),
    ("workspace.create", "action-workspace-create"),
    ("workspace.update", "action-workspace-update"),
];

/// The kinds of records, with the keys of their names.
const KINDS: [(&str, &str); 20] = [
    ("feature_request", "record-request"),
    ("comment", "record-comment"),
    ("reference_note", "record-note"),
    ("link", "record-link"),
    ("webhook", "record-webhook"),
    ("link_source", "record-link-source"),
    ("changelog", "record-changelog"),
    ("customer", "record-customer"),
    ("track", "record-track"),
    ("lane", "record-lane"),
    ("tag", "record-tag"),
    ("member", "record-member"),
    ("api_key", "record-key"),
    ("sign_in", "record-sign-in"),
    ("setting", "record-setting"),
    ("portal", "record-portal"),
    ("synonyms", "record-synonyms"),
    ("attachment", "record-attachment"),
    ("mail", "record-mail"),
    ("workspace", "record-workspace"),
];

/// The fields that entries name, with the keys of their names.
const FIELDS: [(&str, &str); 60] = [
    ("title", "field-title"),
    ("description", "field-description"),
    ("content", "change-content"),
    ("name", "field-name"),
    ("role", "field-role"),
    ("tags", "tags"),
    ("private", "change-private"),
    ("track", "record-track"),
    ("lane", "record-lane"),
    ("status", "change-status"),
    ("state", "change-state"),
    ("kind", "change-kind"),
    ("closed_track_id", "change-closed-track"),
    ("enabled", "change-enabled"),
    ("secret", "change-secret"),
    ("url", "field-webhook-url"),
    ("format", "field-format"),
    ("events", "field-events"),
    ("include_private", "webhook-private"),
    ("include_emails", "webhook-emails"),
    ("failing_since", "webhook-failing-since"),
    ("disabled_because", "change-disabled-because"),
    ("redelivered", "change-redelivered"),
    ("notify_all_voters", "change-notify-all-voters"),
    ("position", "change-position"),
    ("moved_to", "change-moved-to"),
    ("awaiting_approval", "change-awaiting"),
    ("merged_into", "change-merged-into"),
    ("merged", "change-merged"),
    ("tag_number", "change-number"),
    ("votes_count", "customer-votes"),
    ("subscribed", "change-subscribed"),
    ("feature_request", "record-request"),
    ("feature_request_ids", "change-requests"),
    ("feature_requests", "tag-requests"),
    ("category", "changelog-category"),
    ("cover_image", "change-cover"),
    ("public_from", "change-public-from"),
    ("notified", "change-notified"),
    ("notifies", "change-notifies"),
    ("scopes", "key-scopes"),
    ("mails", "change-mails"),
    ("synonyms", "record-synonyms"),
    ("product_name", "change-product-name"),
    ("website_url", "change-website"),
    ("visibility", "change-visibility"),
    ("mail_domains", "change-mail-domains"),
    ("indexing", "change-indexing"),
    ("embed_origins", "change-embed-origins"),
    ("languages", "change-languages"),
    ("moderation", "change-moderation"),
    ("accent_color", "change-accent"),
    ("logo", "change-logo"),
    ("reply_to", "change-reply-to"),
    ("time_zone", "change-time-zone"),
    ("welcome_text", "change-welcome"),
    ("form_question", "change-question"),
    ("noun", "change-noun"),
    ("names", "change-names"),
    ("sender_name", "change-sender-name"),
];

#[derive(Template)]
#[template(path = "admin/audit.html")]
struct AuditTemplate {
    page: Page,
    entries: Vec<EntryRow>,
    actors: Vec<Choice>,
    actions: Vec<Choice>,
    /// The parameters as typed.
    form: FilterForm,
    /// The path without the record of the filter.
    all_records: String,
    /// The path of the file.
    file: String,
    /// The path of the newest entries, on a later page.
    newest: Option<String>,
    /// The path of the older entries.
    older: Option<String>,
    problems: Problems,
}

/// An entry of the log.
struct EntryRow {
    at: DisplayTime,
    actor: ActorCell,
    /// What was done, in words and as the API names it.
    action: String,
    code: String,
    record: Record,
    changes: Vec<ChangeRow>,
}

/// Who it was.
struct ActorCell {
    name: String,
    /// The kind and the surface in words.
    kind: &'static str,
    channel: &'static str,
    /// The path of the entries of this actor.
    path: Option<String>,
}

/// What was changed.
struct Record {
    label: String,
    /// The kind, unless the label says it.
    kind: Option<String>,
    /// The page of the record, if it exists.
    path: Option<String>,
    /// The path of the entries about this record.
    entries: Option<String>,
}

/// A changed field. Old and new value are there if they were recorded and not empty.
#[derive(Debug, PartialEq, Eq)]
struct ChangeRow {
    field: String,
    old: Option<String>,
    new: Option<String>,
}

/// The parameters of the filter as typed.
#[derive(Debug, Clone, Default)]
struct FilterForm {
    actor: String,
    action: String,
    subject: String,
    from: String,
    to: String,
}

impl FilterForm {
    fn new(query: &Fields) -> Self {
        let get = |name| query.get(name).trim().to_owned();
        Self { actor: get("actor"), action: get("action"), subject: get("subject"), from: get("from"), to: get("to") }
    }

    /// Returns a path with these parameters. Empty ones are left out.
    fn path(&self, path: &str) -> String {
        let pairs = [
            ("actor", &self.actor),
            ("action", &self.action),
            ("subject", &self.subject),
            ("from", &self.from),
            ("to", &self.to),
        ];
        let pairs = pairs.into_iter().filter(|(_, value)| !value.is_empty());
        let query: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{}", query.join("&")) }
    }

    /// Returns a path with a further parameter.
    fn path_with(&self, name: &str, value: &str) -> String {
        let path = self.path(PATH);
        let separator = if path.contains('?') { '&' } else { '?' };
        format!("{path}{separator}{name}={}", encoded(value))
    }

    /// Reads the filter. The last day is a part of it.
    fn filter(&self, t: Text, problems: &mut Problems) -> AuditFilter {
        let filter = AuditFilter::parse(Some(&self.actor), Some(&self.action), Some(&self.subject), None, None);
        let filter = filter.map_err(|error| problems.add(error.field, t.get("audit-filter-unknown")));
        let mut day = |field: &str, raw: &str| match read_day(field, raw) {
            Ok(day) => day,
            Err(error) => {
                problems.add(error.field, t.get("audit-day-invalid"));
                None
            }
        };
        let (from, to) = (day("from", &self.from), day("to", &self.to));
        let beginning = |day: Option<Date>| day.map(|day| t.zone.start_of_day(day));
        let to = to.map(|last| last.next_day().unwrap_or(last));
        AuditFilter { from: beginning(from), to: beginning(to), ..filter.unwrap_or_default() }
    }
}

/// Reads a day.
fn read_day(field: &str, raw: &str) -> Validated<Option<Date>> {
    if raw.is_empty() { Ok(None) } else { parse_day(field, raw).map(Some) }
}

/// Finds feature requests by their IDs, also merged ones.
struct FindRequests(Vec<FeatureRequestId>);

#[async_trait]
impl Query for FindRequests {
    type Output = Vec<InboxRow>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<InboxRow>, RoadmapError> {
        let (mut missing, mut rows) = (self.0.clone(), Vec::new());
        for state in [InboxState::All, InboxState::Merged] {
            if missing.is_empty() {
                break;
            }
            let filter = InboxFilter { state, ..InboxFilter::default() };
            rows.extend(ports.reader.inbox_rows(workspace, &filter, &missing).await?);
            missing.retain(|id| rows.iter().all(|row| row.summary.id != *id));
        }
        Ok(rows)
    }
}

/// The names of records, and the paths of those that exist.
#[derive(Debug, Default)]
struct Names(HashMap<Uuid, (String, String)>);

impl Names {
    fn new(counts: &InboxCounts, members: &[Member], keys: &[ApiKey], requests: &[InboxRow]) -> Self {
        let mut names = HashMap::new();
        for counts in &counts.tracks {
            let path = format!("/admin/tracks/{}", counts.track.id);
            names.insert(counts.track.id.uuid(), (counts.track.name.as_str().to_owned(), path));
        }
        for member in members {
            names.insert(member.id.uuid(), (member.name.as_str().to_owned(), "/admin/members".to_owned()));
        }
        for key in keys {
            names.insert(key.id.uuid(), (key.name.as_str().to_owned(), "/admin/api-keys".to_owned()));
        }
        for row in requests {
            let path = format!("/admin/feature_requests/{}", row.summary.slug());
            names.insert(row.summary.id.uuid(), (row.summary.title.as_str().to_owned(), path));
        }
        Self(names)
    }

    fn get(&self, id: Uuid) -> Option<&(String, String)> {
        self.0.get(&id)
    }
}

/// Returns the feature requests that entries name.
fn named_requests(entries: &[AuditEntry]) -> Vec<FeatureRequestId> {
    let mut ids = Vec::new();
    for entry in entries {
        let is_request = entry.subject.kind == "feature_request";
        ids.extend(entry.subject.id.filter(|_| is_request));
        for change in &entry.changes {
            let names_request = change.field == "feature_request" || (is_request && change.field == "merged_into");
            let values = change.values.as_ref().filter(|_| names_request);
            ids.extend(values.into_iter().flat_map(|(old, new)| [old, new]).filter_map(uuid_of));
        }
    }
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(FeatureRequestId::new).collect()
}

fn uuid_of(value: &Value) -> Option<Uuid> {
    value.as_str().and_then(|text| parse_uuid("id", text).ok())
}

/// Returns the key of a name in a table.
fn key_of(table: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(of, _)| *of == name).map(|(_, key)| *key)
}

/// Returns a name of a table in words, or the name itself.
fn words(t: Text, table: &[(&'static str, &'static str)], name: &str) -> String {
    key_of(table, name).map_or_else(|| name.to_owned(), |key| t.get(key).into_owned())
}

const fn actor_key(kind: ActorKind) -> &'static str {
    match kind {
        ActorKind::ApiKey => "actor-api-key",
        ActorKind::Member => "actor-member",
        ActorKind::Customer => "actor-customer",
        ActorKind::Operator => "actor-operator",
        ActorKind::Service => "actor-service",
    }
}

const fn all_actors_key(kind: ActorKind) -> &'static str {
    match kind {
        ActorKind::ApiKey => "actors-api-key",
        ActorKind::Member => "actors-member",
        ActorKind::Customer => "actors-customer",
        ActorKind::Operator => "actors-operator",
        ActorKind::Service => "actors-service",
    }
}

const fn channel_key(channel: Channel) -> &'static str {
    match channel {
        Channel::Api => "channel-api",
        Channel::Page => "channel-page",
        Channel::Command => "channel-command",
        Channel::Job => "channel-job",
    }
}

/// Returns the page of a record whose name was not found. Deleted ones have none.
fn page_of(subject: &Subject, action: &str) -> Option<String> {
    let is_gone = action.ends_with(".delete") || ["customer.merge", "customer.erase"].contains(&action);
    match (subject.kind.as_str(), subject.id) {
        ("setting" | "portal" | "synonyms", _) => Some("/admin/settings".to_owned()),
        ("mail", _) => Some("/admin/mail".to_owned()),
        _ if is_gone => None,
        ("tag", _) => Some("/admin/tags".to_owned()),
        ("comment", Some(id)) => Some(format!("/admin/comments/{id}")),
        ("changelog", Some(id)) => Some(format!("/admin/changelogs/{id}")),
        ("customer", Some(id)) => Some(format!("/admin/customers/{id}")),
        ("webhook", Some(id)) => Some(format!("/admin/webhooks/{id}")),
        ("lane", Some(id)) => Some(format!("/admin/lanes/{id}")),
        _ => None,
    }
}

impl Record {
    fn new(t: Text, form: &FilterForm, names: &Names, entry: &AuditEntry) -> Self {
        let subject = &entry.subject;
        let kind = words(t, &KINDS, &subject.kind);
        let entries = subject.id.map(|id| FilterForm { subject: id.to_string(), ..form.clone() }.path(PATH));
        if let Some((name, path)) = subject.id.and_then(|id| names.get(id)) {
            return Self { label: name.clone(), kind: Some(kind), path: Some(path.clone()), entries };
        }
        let path = page_of(subject, &entry.action);
        // What an entry says about the name: the new one, or the one of what was deleted.
        let named = entry.changes.iter().find(|change| matches!(change.field.as_str(), "title" | "name"));
        let name = named.and_then(|change| change.values.as_ref());
        let name = name.and_then(|(old, new)| new.as_str().or_else(|| old.as_str()));
        match (name, subject.id) {
            (Some(name), _) => Self { label: name.to_owned(), kind: Some(kind), path, entries },
            (None, Some(id)) => {
                // The end of an ID is random.
                let id = id.simple().to_string();
                let label = format!("{kind} {}", id.get(24..).unwrap_or_default());
                Self { label, kind: None, path, entries }
            }
            (None, None) => Self { label: kind, kind: None, path, entries },
        }
    }
}

impl ChangeRow {
    fn new(t: Text, names: &Names, change: &Change) -> Self {
        let values = change.values.as_ref();
        let (old, new) =
            values.map(|(old, new)| (value_in_words(t, names, old), value_in_words(t, names, new))).unwrap_or_default();
        Self { field: words(t, &FIELDS, &change.field), old, new }
    }
}

/// Returns a value in words. Nothing for an empty one.
fn value_in_words(t: Text, names: &Names, value: &Value) -> Option<String> {
    let words = match value {
        Value::Null => String::new(),
        Value::Bool(true) => t.get("change-yes").into_owned(),
        Value::Bool(false) => t.get("change-no").into_owned(),
        Value::Number(number) => number.as_i64().map_or_else(|| number.to_string(), |number| t.number(number)),
        Value::String(text) => match (uuid_of(value).and_then(|id| names.get(id)), parse_time("time", text)) {
            (Some((name, _)), _) => name.clone(),
            (None, Ok(at)) => t.date_time(at),
            (None, Err(_)) => text.clone(),
        },
        Value::Array(values) => {
            let parts: Vec<String> = values.iter().filter_map(|value| value_in_words(t, names, value)).collect();
            parts.join(&t.get("list-separator"))
        }
        Value::Object(_) => value.to_string(),
    };
    (!words.is_empty()).then_some(words)
}

impl EntryRow {
    fn new(t: Text, form: &FilterForm, names: &Names, entry: &AuditEntry) -> Self {
        let origin = &entry.origin;
        let actor = FilterForm {
            actor: origin.actor.id.map_or_else(|| origin.actor.kind.name().to_owned(), |id| id.to_string()),
            ..form.clone()
        };
        let kind = actor_key(origin.actor.kind);
        let name = match origin.actor.name.as_str() {
            "" => t.get(kind).into_owned(),
            name => name.to_owned(),
        };
        Self {
            at: DisplayTime::minute(t, entry.at),
            actor: ActorCell { name, kind, channel: channel_key(origin.channel), path: Some(actor.path(PATH)) },
            action: words(t, &ACTIONS, &entry.action),
            code: entry.action.clone(),
            record: Record::new(t, form, names, entry),
            changes: entry.changes.iter().map(|change| ChangeRow::new(t, names, change)).collect(),
        }
    }
}

/// Returns the options for the actor: everybody, the kinds, the members, the keys.
fn actor_choices(t: Text, selection: &str, members: &[Member], keys: &[ApiKey]) -> Vec<Choice> {
    let mut choices = vec![Choice::new("", t.get("audit-everybody"), selection)];
    choices.extend(ActorKind::ALL.map(|kind| Choice::new(kind.name(), t.get(all_actors_key(kind)), selection)));
    let member = |member: &Member| (member.id.to_string(), t.named("audit-actor-member", member.name.as_str()));
    let key = |key: &ApiKey| {
        let name = format!("{} (…{})", key.name.as_str(), key.last_four);
        (key.id.to_string(), t.named("audit-actor-key", &name))
    };
    let single = members.iter().map(member).chain(keys.iter().map(key));
    choices.extend(single.map(|(id, label)| Choice::new(id, label, selection)));
    with_selection(choices, selection, t.get("audit-actor-chosen"))
}

/// Returns the options for the action.
fn action_choices(t: Text, selection: &str) -> Vec<Choice> {
    let mut choices = vec![Choice::new("", t.get("audit-every-action"), selection)];
    choices.extend(ACTIONS.map(|(code, key)| Choice::new(code, t.get(key), selection)));
    with_selection(choices, selection, selection)
}

/// Adds what is chosen, if it is not offered: a customer, or a removed member.
fn with_selection(mut choices: Vec<Choice>, selection: &str, label: impl Into<String>) -> Vec<Choice> {
    if choices.iter().all(|choice| choice.value != selection) {
        choices.push(Choice::new(selection, label, selection));
    }
    choices
}

/// `GET /admin/audit`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let (t, form, mut problems) = (context.text(), FilterForm::new(&context.query), Problems::default());
    let filter = form.filter(t, &mut problems);
    let before = AuditPage::parse(Some(context.query.get("cursor")), None).ok().and_then(|page| page.before);
    let listed = if problems.is_empty() {
        context.run(&ListAuditEntries { filter, page: AuditPage { before, size: PER_PAGE } }).await?
    } else {
        AuditListing { entries: Vec::new(), next: None }
    };
    let members = context.run(&ListMembers).await?;
    let keys = context.run(&ListApiKeys).await?;
    let requests = context.run(&FindRequests(named_requests(&listed.entries))).await?;
    let (page, counts) = admin::frame_with_counts(&context, Entry::Audit, t.get("admin-audit")).await?;
    let names = Names::new(&counts, &members, &keys, &requests);
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let template = AuditTemplate {
        page: page.with_problem(!problems.is_empty()),
        entries: listed.entries.iter().map(|entry| EntryRow::new(t, &form, &names, entry)).collect(),
        actors: actor_choices(t, &form.actor, &members, &keys),
        actions: action_choices(t, &form.action),
        all_records: FilterForm { subject: String::new(), ..form.clone() }.path(PATH),
        file: form.path("/admin/audit.csv"),
        newest: before.is_some().then(|| form.path(PATH)),
        older: listed.next.map(|next| form.path_with("cursor", &next.to_string())),
        form,
        problems,
    };
    Ok(Reply::page_with(status, &template))
}

/// `GET /admin/audit.csv`: the newest entries of a filter as a file.
pub(crate) async fn download(context: Rc<Context>) -> PageResult {
    let (form, mut problems) = (FilterForm::new(&context.query), Problems::default());
    let filter = form.filter(context.text(), &mut problems);
    if !problems.is_empty() {
        // The page says what is wrong.
        return Ok(Reply::see_other(form.path(PATH)));
    }
    let mut file = CsvFile::new(&COLUMNS);
    let (mut before, mut count) = (None, 0);
    while count < IN_FILE {
        let page = AuditPage { before, size: AT_A_TIME };
        let listed = context.run(&ListAuditEntries { filter: filter.clone(), page }).await?;
        for entry in &listed.entries {
            file.row(cells(entry).iter().map(String::as_str));
        }
        count += listed.entries.len();
        before = listed.next;
        if before.is_none() {
            break;
        }
    }
    Ok(file.into_reply("audit.csv"))
}

/// The columns of the file.
const COLUMNS: [&str; 10] = [
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

/// Returns the cells of an entry in the file.
fn cells(entry: &AuditEntry) -> [String; COLUMNS.len()] {
    let (origin, id) = (&entry.origin, |id: Option<Uuid>| id.map(|id| id.to_string()).unwrap_or_default());
    [
        entry.at.to_string(),
        origin.actor.kind.name().to_owned(),
        id(origin.actor.id),
        origin.actor.name.clone(),
        origin.channel.name().to_owned(),
        origin.request_id.clone().unwrap_or_default(),
        entry.action.clone(),
        entry.subject.kind.clone(),
        id(entry.subject.id),
        entry.changes_json(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, at, sample_page};
    use roadmap_domain::model::audit::{Actor, Origin};
    use roadmap_domain::model::id::{AuditEntryId, CustomerId};
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::time_zone::TimeZone;
    use std::path::Path;

    const ENGLISH: Text = Text::utc(Language::English);

    fn entry(action: &str, kind: &str, id: Option<u128>, changes: Vec<Change>) -> AuditEntry {
        let actor = Actor::customer(CustomerId::new(Uuid::from_u128(5)));
        AuditEntry {
            id: AuditEntryId::new(Uuid::from_u128(9)),
            at: at(0),
            origin: Origin { actor, channel: Channel::Page, request_id: Some("r1".to_owned()) },
            action: action.to_owned(),
            subject: Subject { kind: kind.to_owned(), id: id.map(Uuid::from_u128) },
            changes,
        }
    }

    fn names() -> Names {
        let (name, path) = ("Dark <mode>".to_owned(), "/admin/feature_requests/7-dark-mode".to_owned());
        Names(HashMap::from([(Uuid::from_u128(7), (name, path))]))
    }

    #[test]
    fn the_page_is_well_formed() {
        let changes = || vec![Change::new("title", "Old", "New <b>"), Change::without_values("description")];
        let entries = [
            entry("feature_request.update", "feature_request", Some(7), changes()),
            entry("changelog.delete", "changelog", Some(8), Vec::new()),
            entry("portal.update", "portal", None, Vec::new()),
        ];
        for language in Language::ALL {
            let t = Text::utc(language);
            let mut with_problems = Problems::default();
            for field in ["actor", "action", "subject", "from", "to"] {
                with_problems.add(field, "A sentence.");
            }
            for problems in [Problems::default(), with_problems] {
                let form =
                    FilterForm { actor: "customer".to_owned(), subject: "x".to_owned(), ..FilterForm::default() };
                for form in [FilterForm::default(), form] {
                    for entries in [&entries[..], &[]] {
                        let template = AuditTemplate {
                            page: sample_page(language, true, "Audit"),
                            entries: entries.iter().map(|entry| EntryRow::new(t, &form, &names(), entry)).collect(),
                            actors: actor_choices(t, &form.actor, &[], &[]),
                            actions: action_choices(t, "lane.paint"),
                            all_records: PATH.to_owned(),
                            file: form.path("/admin/audit.csv"),
                            newest: Some(PATH.to_owned()),
                            older: Some(form.path_with("cursor", "1")),
                            form: form.clone(),
                            problems: problems.clone(),
                        };
                        assert_well_formed(&template.render().unwrap());
                    }
                }
            }
        }
    }

    #[test]
    fn every_action_kind_and_field_has_words() {
        for language in Language::ALL {
            for (name, key) in ACTIONS.into_iter().chain(KINDS).chain(FIELDS) {
                assert_ne!(Text::utc(language).get(key), key, "{name}");
            }
        }
        // Every action that the domain records is offered.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../domain/src/usecase");
        let files = [folder.join("import"), folder].into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let files = files.map(|entry| entry.unwrap().path());
        let mut known = 0;
        for file in files.filter(|path| path.is_file() && !path.ends_with("fixtures.rs")) {
            let source = std::fs::read_to_string(&file).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap();
            for literal in source.split('"').skip(1).step_by(2) {
                // Fields of spans have a dot, too.
                let is_action =
                    literal.split_once('.').filter(|(kind, _)| *kind != "otel").is_some_and(|(kind, verb)| {
                        let is_word = |word: &str| {
                            !word.is_empty() && word.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase())
                        };
                        is_word(kind) && is_word(verb)
                    });
                if is_action {
                    known += 1;
                    assert!(key_of(&ACTIONS, literal).is_some(), "{literal} in {}", file.display());
                }
            }
        }
        assert!(known >= ACTIONS.len(), "{known}");
    }

    #[test]
    fn a_record_is_named_by_what_is_known() {
        let record = |entry: &AuditEntry| {
            let record = Record::new(ENGLISH, &FilterForm::default(), &names(), entry);
            (record.label, record.kind, record.path)
        };
        let some = |text: &str| Some(text.to_owned());
        let old = || vec![Change::new("title", "Old title", Value::Null)];
        for (entry, label, kind, path) in [
            (
                entry("feature_request.move", "feature_request", Some(7), Vec::new()),
                "Dark <mode>",
                some("Feature request"),
                some("/admin/feature_requests/7-dark-mode"),
            ),
            (
                entry("feature_request.delete", "feature_request", Some(8), old()),
                "Old title",
                some("Feature request"),
                None,
            ),
            (
                entry("comment.update", "comment", Some(8), Vec::new()),
                "Comment 00000008",
                None,
                some("/admin/comments/00000000-0000-0000-0000-000000000008"),
            ),
            (entry("comment.delete", "comment", Some(8), Vec::new()), "Comment 00000008", None, None),
            (entry("customer.merge", "customer", Some(8), Vec::new()), "Customer 00000008", None, None),
            (entry("mail.test", "mail", None, Vec::new()), "Mail", None, some("/admin/mail")),
            (entry("portal.update", "portal", None, Vec::new()), "Portal", None, some("/admin/settings")),
            (entry("future.thing", "future", None, Vec::new()), "future", None, None),
        ] {
            assert_eq!(record(&entry), (label.to_owned(), kind, path), "{}", entry.action);
        }
    }

    #[test]
    fn changes_are_shown_in_words() {
        let names = names();
        let change = |change| {
            let ChangeRow { field, old, new } = ChangeRow::new(ENGLISH, &names, &change);
            (field, old.unwrap_or_default(), new.unwrap_or_default())
        };
        let id = Uuid::from_u128(7).to_string();
        for (case, (field, old, new)) in [
            (Change::new("private", false, true), ("Private", "no", "yes")),
            (Change::new("merged_into", Value::Null, id), ("Merged into", "", "Dark <mode>")),
            (Change::new("tags", vec!["a", "b"], Vec::<&str>::new()), ("Tags", "a, b", "")),
            (Change::new("votes_count", 1_205, 1_204), ("Votes", "1,205", "1,204")),
            (
                Change::new("public_from", Value::Null, "2026-03-04T11:02:00.000Z"),
                ("Public from", "", "4 March 2026, 11:02"),
            ),
            (Change::new("paint", "red", "blue"), ("paint", "red", "blue")),
            (Change::without_values("content"), ("Content", "", "")),
        ] {
            assert_eq!(change(case), (field.to_owned(), old.to_owned(), new.to_owned()));
        }
    }

    #[test]
    fn the_last_day_is_a_part_of_the_filter() {
        let read = |from: &str, to: &str| {
            let form = FilterForm { from: from.to_owned(), to: to.to_owned(), ..FilterForm::default() };
            let mut problems = Problems::default();
            let filter = form.filter(ENGLISH, &mut problems);
            let fields: Vec<String> = problems.iter().map(|(field, _)| field.clone()).collect();
            (filter.from.map(|at| at.to_string()), filter.to.map(|at| at.to_string()), fields)
        };
        let time = |day: &str| Some(format!("{day}T00:00:00.000Z"));
        assert_eq!(read("2026-03-04", "2026-03-04"), (time("2026-03-04"), time("2026-03-05"), Vec::new()));
        assert_eq!(read("", ""), (None, None, Vec::new()));
        assert_eq!(read("yesterday", "2026-02-30").2, ["from", "to"]);
        // Days are those of the time zone, also the shorter one on which clocks are set forward.
        let berlin = Text { zone: TimeZone::from_stored("Europe/Berlin"), ..ENGLISH };
        let form = FilterForm { from: "2026-03-29".to_owned(), to: "2026-03-29".to_owned(), ..FilterForm::default() };
        let filter = form.filter(berlin, &mut Problems::default());
        let times = (filter.from.unwrap().to_string(), filter.to.unwrap().to_string());
        assert_eq!(times, ("2026-03-28T23:00:00.000Z".to_owned(), "2026-03-29T22:00:00.000Z".to_owned()));
    }

    #[test]
    fn paths_keep_the_filter() {
        let form =
            FilterForm { action: "lane.update".to_owned(), from: "2026-03-04".to_owned(), ..FilterForm::default() };
        assert_eq!(form.path(PATH), "/admin/audit?action=lane.update&from=2026-03-04");
        assert_eq!(form.path_with("cursor", "a b"), "/admin/audit?action=lane.update&from=2026-03-04&cursor=a+b");
        assert_eq!(FilterForm::default().path_with("cursor", "1"), "/admin/audit?cursor=1");
        let selection = |actor: &str| {
            let choices = actor_choices(ENGLISH, actor, &[], &[]);
            choices.into_iter().filter(|choice| choice.is_chosen).map(|choice| choice.label).collect::<Vec<_>>()
        };
        assert_eq!(selection(""), ["Everybody"]);
        assert_eq!(selection("member"), ["All members"]);
        assert_eq!(selection("00000000-0000-0000-0000-000000000001"), ["The chosen one"]);
    }

    #[test]
    fn a_row_of_the_file_has_everything_that_was_recorded() {
        let change = vec![Change::new("title", "Old", "New")];
        let cells = cells(&entry("feature_request.update", "feature_request", Some(7), change));
        assert_eq!(
            cells.join("|"),
            "2026-03-04T11:02:00.000Z|customer|00000000-0000-0000-0000-000000000005||page|r1|feature_request.update|\
             feature_request|00000000-0000-0000-0000-000000000007|[{\"field\":\"title\",\"new\":\"New\",\"old\":\"Old\"}]"
        );
    }
}
