//! Who changes what: the actors of operations, and the entries of the audit log.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::id::{ApiKeyId, AuditEntryId, CustomerId, MemberId, parse_hyphenated_uuid, parse_uuid};
use crate::model::pagination::parse_count;
use crate::model::text::{Name, truncate};
use crate::model::timestamp::Timestamp;

/// The kind of an actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ActorKind {
    /// A client with an API key.
    ApiKey,
    /// A team member, on the pages.
    Member,
    /// A customer, on the pages or by a link in a mail.
    Customer,
    /// Somebody who runs commands on the service's machine.
    Operator,
    /// The service itself.
    Service,
}

impl ActorKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::ApiKey, Self::Member, Self::Customer, Self::Operator, Self::Service];

    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::Member => "member",
            Self::Customer => "customer",
            Self::Operator => "operator",
            Self::Service => "service",
        }
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Who runs an operation. The name is the one at that time. It is never an e-mail address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    pub kind: ActorKind,
    /// ID of the key, the member or the customer.
    pub id: Option<Uuid>,
    /// The name of the key, the member or the operator. Empty for customers.
    pub name: String,
}

impl Actor {
    /// Returns a client with this API key.
    #[must_use]
    pub fn api_key(id: ApiKeyId, name: &Name) -> Self {
        Self { kind: ActorKind::ApiKey, id: Some(id.uuid()), name: name.to_string() }
    }

    /// Returns a team member.
    #[must_use]
    pub fn member(id: MemberId, name: &Name) -> Self {
        Self { kind: ActorKind::Member, id: Some(id.uuid()), name: name.to_string() }
    }

    /// Returns the ID of the member, if it is one.
    #[must_use]
    pub fn member_id(&self) -> Option<MemberId> {
        self.id.filter(|_| self.kind == ActorKind::Member).map(MemberId::new)
    }

    /// Returns a customer, whose name is not recorded.
    #[must_use]
    pub fn customer(id: CustomerId) -> Self {
        Self { kind: ActorKind::Customer, id: Some(id.uuid()), name: String::new() }
    }

    /// Returns an operator with this login name, of which at most [`Name::MAX`] characters are recorded.
    #[must_use]
    pub fn operator(login: &str) -> Self {
        Self { kind: ActorKind::Operator, id: None, name: truncate(login.trim(), Name::MAX).replace('\0', "") }
    }

    /// Returns the service itself.
    #[must_use]
    pub fn service() -> Self {
        Self { kind: ActorKind::Service, id: None, name: "roadmap".to_owned() }
    }
}

/// The surface through which an operation was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// The HTTP API.
    Api,
    /// A page for browsers.
    Page,
    /// A command of the binary.
    Command,
    /// A background job.
    Job,
}

impl Channel {
    /// All channels.
    pub const ALL: [Self; 4] = [Self::Api, Self::Page, Self::Command, Self::Job];

    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Page => "page",
            Self::Command => "command",
            Self::Job => "job",
        }
    }

    /// Returns the channel with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.name() == name)
    }
}

/// The origin of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Who.
    pub actor: Actor,
    /// Through what.
    pub channel: Channel,
    /// The id of the HTTP request, which its log line has, too.
    pub request_id: Option<String>,
}

impl Origin {
    /// Returns the origin of background jobs.
    #[must_use]
    pub fn service() -> Self {
        Self { actor: Actor::service(), channel: Channel::Job, request_id: None }
    }
}

/// The record that an operation changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// The kind of the record: `feature_request`.
    pub kind: String,
    /// The record's ID. `None` for what a workspace has once, such as its settings.
    pub id: Option<Uuid>,
}

/// A changed field. Values are never addresses, long texts or secrets; such a field has no values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub field: String,
    /// The old and the new value as JSON, where they are recorded. Null stands for an absent value.
    pub values: Option<(Value, Value)>,
}

impl Change {
    /// Returns the change of a field with its values.
    pub fn new(field: &str, old: impl Into<Value>, new: impl Into<Value>) -> Self {
        Self { field: field.to_owned(), values: Some((old.into(), new.into())) }
    }

    /// Returns the change of a field whose values are not recorded.
    #[must_use]
    pub fn without_values(field: &str) -> Self {
        Self { field: field.to_owned(), values: None }
    }

    /// Returns the change of a field, unless the values are equal.
    pub fn between<T: Into<Value> + PartialEq>(field: &str, old: T, new: T) -> Option<Self> {
        (old != new).then(|| Self::new(field, old, new))
    }
}

/// What an operation records about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audit {
    /// An entry of the audit log.
    Entry(AuditDraft),
    /// Several entries, in this order.
    Entries(Vec<AuditDraft>),
    /// Nothing, because the operation changed nothing.
    Unchanged,
    /// Nothing, because what the operation stored is a record of itself.
    OwnRecord(OwnRecord),
}

/// The operations without an entry in the audit log. Their effect names its author and its time itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OwnRecord {
    /// A vote, with or without a note, and the withdrawal of somebody's own vote.
    Vote,
    /// Somebody's own subscription on the pages, and its end.
    Subscription,
    Comment,
    /// A new feature request.
    FeatureRequest,
    /// An uploaded file.
    Upload,
    /// Mail that a customer stops or resumes; the customer's row has the time.
    MailSettings,
    /// A search document that is derived from a feature request again.
    SearchDocument,
    /// A sign-in or a session, which its owner sees and ends.
    Session,
    /// The own settings of a customer: name and language.
    OwnAccount,
    /// A view of the inbox that a member has saved or removed.
    SavedView,
    /// The keyboard shortcuts of a member.
    Shortcuts,
    /// The announcement of a publication whose time has come.
    Announcement,
}

/// The entry of an operation, before it has an ID and an origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditDraft {
    /// What was done: `feature_request.move`.
    pub action: &'static str,
    /// On what.
    pub subject: Subject,
    /// The changed fields.
    pub changes: Vec<Change>,
}

impl Audit {
    /// Returns an entry without changed fields.
    #[must_use]
    pub fn entry(action: &'static str, kind: &str, id: Option<Uuid>) -> Self {
        Self::with_changes(action, kind, id, Vec::new())
    }

    /// Returns an entry with changed fields.
    #[must_use]
    pub fn with_changes(action: &'static str, kind: &str, id: Option<Uuid>, changes: Vec<Change>) -> Self {
        Self::Entry(AuditDraft { action, subject: Subject { kind: kind.to_owned(), id }, changes })
    }

    /// Adds what another operation records that runs in the same unit of work. Its entries follow.
    pub fn join(&mut self, other: Self) {
        *self = match (std::mem::replace(self, Self::Unchanged), other) {
            (one, Self::Unchanged) | (Self::Unchanged, one) => one,
            (one, Self::OwnRecord(_)) | (Self::OwnRecord(_), one) => one,
            (first, second) => Self::Entries(first.into_entries().into_iter().chain(second.into_entries()).collect()),
        };
    }

    /// Returns the entries to write.
    #[must_use]
    pub fn into_entries(self) -> Vec<AuditDraft> {
        match self {
            Self::Entry(draft) => vec![draft],
            Self::Entries(drafts) => drafts,
            Self::Unchanged | Self::OwnRecord(_) => Vec::new(),
        }
    }

    /// Returns an entry of an update with its changed fields, or [`Self::Unchanged`] without any.
    #[must_use]
    pub fn of_changes(action: &'static str, kind: &str, id: Option<Uuid>, changes: &[Change]) -> Self {
        match changes {
            [] => Self::Unchanged,
            changes => Self::with_changes(action, kind, id, changes.to_vec()),
        }
    }
}

/// An entry of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// ID. Entries are ordered by it.
    pub id: AuditEntryId,
    /// Timestamp of the unit of work.
    pub at: Timestamp,
    /// Where the operation came from.
    pub origin: Origin,
    /// What was done.
    pub action: String,
    /// On what.
    pub subject: Subject,
    /// The changed fields.
    pub changes: Vec<Change>,
}

impl AuditEntry {
    /// Returns the changes as stored JSON.
    #[must_use]
    pub fn changes_json(&self) -> String {
        let change = |change: &Change| match &change.values {
            Some((old, new)) => json!({ "field": change.field, "old": old, "new": new }),
            None => json!({ "field": change.field }),
        };
        Value::from(self.changes.iter().map(change).collect::<Vec<_>>()).to_string()
    }

    /// Parses stored changes. Returns `None` if the text is not what [`Self::changes_json`] writes.
    #[must_use]
    pub fn parse_changes(text: &str) -> Option<Vec<Change>> {
        let Ok(Value::Array(changes)) = serde_json::from_str(text) else { return None };
        let change = |change: &Value| {
            let field = change.get("field")?.as_str()?.to_owned();
            Some(Change { field, values: change.get("old").cloned().zip(change.get("new").cloned()) })
        };
        changes.iter().map(change).collect()
    }
}

/// The entries that a reader asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditFilter {
    /// Only entries of this actor.
    pub actor: Option<ActorFilter>,
    /// Only entries of this action.
    pub action: Option<String>,
    /// Only entries about the record with this ID.
    pub subject: Option<Uuid>,
    /// Only entries from this time on.
    pub from: Option<Timestamp>,
    /// Only entries before this time.
    pub to: Option<Timestamp>,
}

/// The actors whose entries a reader asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorFilter {
    /// One key, member or customer.
    Id(Uuid),
    /// All actors of a kind.
    Kind(ActorKind),
}

/// Longest name of an action in a filter.
const MAX_ACTION: usize = 100;

impl AuditFilter {
    /// Validates the parameters of a filter. Blank parameters count as absent.
    ///
    /// # Errors
    /// The parameter that is invalid.
    pub fn parse(
        actor: Option<&str>,
        action: Option<&str>,
        subject: Option<&str>,
        from: Option<&str>,
        to: Option<&str>,
    ) -> Validated<Self> {
        let sent = |raw: Option<&str>| raw.map(str::trim).filter(|raw| !raw.is_empty()).map(str::to_owned);
        let actor = sent(actor).map(|raw| parse_actor(&raw)).transpose()?;
        let subject = sent(subject).map(|raw| parse_uuid("subject", &raw)).transpose()?;
        if action.is_some_and(|action| action.contains('\0')) {
            return Err(FieldError::new("action", FieldProblem::ContainsNul));
        }
        if action.is_some_and(|action| action.chars().count() > MAX_ACTION) {
            return Err(FieldError::new("action", FieldProblem::TooLong { max: MAX_ACTION }));
        }
        let from = sent(from).map(|raw| parse_time("from", &raw)).transpose()?;
        let to = sent(to).map(|raw| parse_time("to", &raw)).transpose()?;
        Ok(Self { actor, action: sent(action), subject, from, to })
    }
}

fn parse_actor(raw: &str) -> Validated<ActorFilter> {
    let kind = ActorKind::from_name(raw).map(ActorFilter::Kind);
    kind.or_else(|| parse_hyphenated_uuid(raw).map(ActorFilter::Id)).ok_or_else(|| {
        let expected = "a valid UUID or one of api_key, member, customer, operator, service";
        FieldError::new("actor", FieldProblem::Malformed { expected })
    })
}

/// Parses a timestamp in the format of RFC 3339.
///
/// # Errors
/// Any other text.
pub fn parse_time(field: &str, raw: &str) -> Validated<Timestamp> {
    let expected = "a timestamp as in RFC 3339, for example 2026-03-01T09:30:00Z";
    Timestamp::parse(raw.trim()).ok_or_else(|| FieldError::new(field, FieldProblem::Malformed { expected }))
}

/// A part of the audit log, newest entries first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditPage {
    /// Only entries before the one with this ID.
    pub before: Option<AuditEntryId>,
    /// Maximum number of entries.
    pub size: u32,
}

impl AuditPage {
    /// Default number of entries.
    pub const DEFAULT_SIZE: u64 = 25;
    /// Maximum number of entries.
    pub const MAX_SIZE: u64 = 100;

    /// Validates the parameters `cursor` and `page_size`.
    ///
    /// # Errors
    /// A cursor that no page has returned, or a size that is not an integer of at least 1.
    pub fn parse(cursor: Option<&str>, size: Option<&str>) -> Validated<Self> {
        let cursor = cursor.map(str::trim).filter(|cursor| !cursor.is_empty());
        let expected = "a cursor of this list";
        let before = cursor.map(|cursor| {
            parse_hyphenated_uuid(cursor)
                .map(AuditEntryId::new)
                .ok_or_else(|| FieldError::new("cursor", FieldProblem::Malformed { expected }))
        });
        let size = parse_count("page_size", size, Self::DEFAULT_SIZE, Self::MAX_SIZE)?;
        Ok(Self { before: before.transpose()?, size: u32::try_from(size).unwrap_or(u32::MAX) })
    }
}

/// Entries of the audit log, and where the next ones begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditListing {
    /// The entries, newest first.
    pub entries: Vec<AuditEntry>,
    /// The cursor of the next page. `None` on the last one.
    pub next: Option<AuditEntryId>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::now;
    use proptest::prelude::*;

    fn entry(changes: Vec<Change>) -> AuditEntry {
        AuditEntry {
            id: AuditEntryId::new(Uuid::from_u128(1)),
            at: now(),
            origin: Origin::service(),
            action: "setting.update".to_owned(),
            subject: Subject { kind: "setting".to_owned(), id: None },
            changes,
        }
    }

    #[test]
    fn changes_are_read_back_as_they_were_written() {
        let changes = vec![
            Change::new("title", "Old", "New"),
            Change::new("lane", Value::Null, "Planned"),
            Change::new("tags", vec!["a"], Vec::<&str>::new()),
            Change::without_values("description"),
        ];
        let json = entry(changes.clone()).changes_json();
        let expected = r#"[{"field":"title","new":"New","old":"Old"},{"field":"lane","new":"Planned","old":null},{"field":"tags","new":[],"old":["a"]},{"field":"description"}]"#;
        assert_eq!(json, expected);
        assert_eq!(AuditEntry::parse_changes(&json), Some(changes));
        for broken in ["", "{}", "[1]", r#"[{"old":1}]"#] {
            assert_eq!(AuditEntry::parse_changes(broken), None, "{broken}");
        }
    }

    #[test]
    fn equal_values_are_no_change() {
        assert_eq!(Change::between("private", true, true), None);
        assert_eq!(Change::between("private", true, false), Some(Change::new("private", true, false)));
    }

    #[test]
    fn kinds_and_channels_have_stored_names() {
        for kind in ActorKind::ALL {
            assert_eq!(ActorKind::from_name(kind.name()), Some(kind));
        }
        for channel in Channel::ALL {
            assert_eq!(Channel::from_name(channel.name()), Some(channel));
        }
        assert_eq!((ActorKind::from_name("x"), Channel::from_name("x")), (None, None));
    }

    /// Addition 6.
    #[test]
    fn a_filter_names_its_invalid_parameter() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        let all = AuditFilter::parse(
            Some(id),
            Some("member.add"),
            Some(id),
            Some("2026-03-01T09:30:00Z"),
            Some("2026-03-01T10:30:00+01:00"),
        )
        .unwrap();
        assert_eq!(all.actor, Some(ActorFilter::Id(Uuid::try_parse(id).unwrap())));
        assert_eq!(all.from, all.to);
        assert_eq!(
            AuditFilter::parse(Some("operator"), None, None, None, None).unwrap().actor,
            Some(ActorFilter::Kind(ActorKind::Operator))
        );
        assert_eq!(AuditFilter::parse(Some(" "), Some(""), None, Some(" "), None).unwrap(), AuditFilter::default());
        for (actor, action, subject, from, message) in [
            (
                Some("ann"),
                None,
                None,
                None,
                "actor is not a valid UUID or one of api_key, member, customer, operator, service",
            ),
            (None, Some("a\0"), None, None, "action must not contain the NUL character"),
            (None, None, Some("7-dark-mode"), None, "subject is not a valid UUID"),
            (
                None,
                None,
                None,
                Some("yesterday"),
                "from is not a timestamp as in RFC 3339, for example 2026-03-01T09:30:00Z",
            ),
        ] {
            let error = AuditFilter::parse(actor, action, subject, from, None).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        let long = "a".repeat(101);
        assert!(AuditFilter::parse(None, Some(&long), None, None, None).is_err());
    }

    #[test]
    fn a_cursor_is_the_id_of_an_entry() {
        assert_eq!(AuditPage::parse(None, None).unwrap(), AuditPage { before: None, size: 25 });
        assert_eq!(AuditPage::parse(Some(" "), Some("1000")).unwrap(), AuditPage { before: None, size: 100 });
        assert_eq!(AuditPage::parse(Some("x"), None).unwrap_err().to_string(), "cursor is not a cursor of this list");
        assert_eq!(AuditPage::parse(None, Some("0")).unwrap_err().field, "page_size");
    }

    #[test]
    fn an_operator_s_name_is_bounded() {
        assert_eq!(Actor::operator(&format!(" {} ", "ä".repeat(300))).name, "ä".repeat(200));
    }

    proptest! {
        #[test]
        fn any_time_is_a_timestamp_or_an_error(raw in "(?s).{0,40}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})") {
            match parse_time("from", &raw) {
                Ok(time) => prop_assert_eq!(parse_time("from", &time.to_string()).unwrap(), time),
                Err(error) => prop_assert_eq!(error.field, "from"),
            }
        }
    }
}
