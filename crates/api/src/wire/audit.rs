//! Entries of the audit log.

use roadmap_domain::model::audit::{AuditEntry, AuditListing, Change};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// A part of the audit log, newest entries first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditEntries)]
pub(crate) struct Body<'a> {
    #[schema(max_items = 100)]
    audit_entries: Vec<Fields<'a>>,
    /// The `cursor` of the next entries; null if there are none.
    #[schema(format = "uuid", required = true)]
    next_cursor: Option<String>,
}

/// An operation that was performed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditEntry)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(format = DateTime)]
    created_at: String,
    actor: Actor<'a>,
    #[schema(value_type = Channel)]
    channel: &'static str,
    /// What was done: `feature_request.move`.
    #[schema(min_length = 1)]
    action: &'a str,
    subject: Subject<'a>,
    changes: Vec<ChangedField<'a>>,
    /// The `X-Request-Id` of the request; null without one.
    #[schema(required = true)]
    request_id: Option<&'a str>,
}

/// Who performed an operation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditActor)]
pub(crate) struct Actor<'a> {
    #[schema(value_type = ActorKind)]
    kind: &'static str,
    /// The id of the key, the member or the customer.
    #[schema(format = "uuid", required = true)]
    id: Option<String>,
    /// The name at that time; empty for customers.
    name: &'a str,
}

/// The kind of who performed an operation.
#[derive(ToSchema)]
#[schema(as = AuditActorKind, rename_all = "snake_case")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum ActorKind {
    ApiKey,
    Member,
    Customer,
    Operator,
    Service,
}

/// The surface through which an operation was requested.
#[derive(ToSchema)]
#[schema(as = AuditChannel, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum Channel {
    Api,
    Page,
    Command,
    Job,
}

/// The record that was changed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditSubject)]
pub(crate) struct Subject<'a> {
    /// The kind of the record: `feature_request`.
    #[schema(min_length = 1)]
    kind: &'a str,
    /// Null for what a workspace has once, such as its settings.
    #[schema(format = "uuid", required = true)]
    id: Option<String>,
}

/// A changed field. Addresses, long texts and secrets are not recorded: such a field has neither `old` nor `new`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditChange)]
pub(crate) struct ChangedField<'a> {
    #[schema(min_length = 1)]
    field: &'a str,
    /// The value before; null if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    old: Option<&'a Value>,
    /// The value after; null if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Value)]
    new: Option<&'a Value>,
}

fn change(change: &Change) -> ChangedField<'_> {
    let (old, new) = change.values.as_ref().map(|(old, new)| (old, new)).unzip();
    ChangedField { field: &change.field, old, new }
}

fn fields(entry: &AuditEntry) -> Fields<'_> {
    let uuid = |id: Uuid| id.to_string();
    Fields {
        id: entry.id.to_string(),
        created_at: entry.at.to_string(),
        actor: Actor {
            kind: entry.origin.actor.kind.name(),
            id: entry.origin.actor.id.map(uuid),
            name: &entry.origin.actor.name,
        },
        channel: entry.origin.channel.name(),
        action: &entry.action,
        subject: Subject { kind: &entry.subject.kind, id: entry.subject.id.map(uuid) },
        changes: entry.changes.iter().map(change).collect(),
        request_id: entry.origin.request_id.as_deref(),
    }
}

pub(crate) fn listed(listing: &AuditListing) -> impl Serialize {
    Body {
        audit_entries: listing.entries.iter().map(fields).collect(),
        next_cursor: listing.next.map(|next| next.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_recorded_values_are_shown() {
        for (changed, expected) in [
            (Change::new("lane", Value::Null, "Done"), json!({ "field": "lane", "old": null, "new": "Done" })),
            (Change::without_values("content"), json!({ "field": "content" })),
        ] {
            assert_eq!(serde_json::to_value(change(&changed)).unwrap(), expected);
        }
    }
}
