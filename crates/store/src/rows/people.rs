//! Customers, members, API keys, their sessions, and what they did.

use diesel::Queryable;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::CustomerRecords;
use roadmap_domain::model::api_key::{ApiKey, Scopes};
use roadmap_domain::model::audit::{Actor, ActorKind, AuditEntry, Channel, Origin, Subject};
use roadmap_domain::model::customer::{Customer, CustomerName};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::RequestLink;
use roadmap_domain::model::id::{ApiKeyId, AuditEntryId, CustomerId, MemberId, SessionId, SignInId, WorkspaceId};
use roadmap_domain::model::member::{Member, Role};
use roadmap_domain::model::portal::Language;
use roadmap_domain::model::session::{BrowserName, SecretDigest, Session, SessionEntry};
use roadmap_domain::model::sign_in::{LocalPath, PageAction, SignIn};
use roadmap_domain::model::team_mail::{MemberToTell, TeamMail};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::time_zone::TimeZone;
use roadmap_domain::model::vote::Voter;

use super::{CommentRow, LinkRow, NoteRow, SummaryRow};
use crate::columns::{Id, TimestampColumn, inconsistent, optional_timestamp};

/// A customer as another record names one.
#[derive(Debug, Queryable)]
pub struct CustomerNameRow {
    pub id: Id,
    pub name: Option<String>,
    pub email: String,
}

impl From<CustomerNameRow> for CustomerName {
    fn from(row: CustomerNameRow) -> Self {
        let (name, email) = (row.name.map(Name::from_stored), EmailAddress::from_stored(row.email));
        Self { id: CustomerId::new(row.id.0), name, email }
    }
}

/// A customer.
#[derive(Debug, Queryable)]
pub struct CustomerRow {
    customer: CustomerNameRow,
    votes_count: i64,
    created_at: TimestampColumn,
    blocked_at: Option<TimestampColumn>,
}

impl TryFrom<CustomerRow> for Customer {
    type Error = StoreError;

    fn try_from(row: CustomerRow) -> Result<Self, StoreError> {
        let id = row.customer.id;
        Ok(Self {
            customer: row.customer.into(),
            votes_count: row.votes_count,
            created_at: row.created_at.into_timestamp("customers", "created_at", id)?,
            blocked_at: optional_timestamp(row.blocked_at, "customers", "blocked_at", id)?,
        })
    }
}

/// The records of a customer.
#[derive(Debug)]
pub struct CustomerRecordsRows {
    pub votes: Vec<SummaryRow>,
    pub requests: Vec<SummaryRow>,
    pub comments: Vec<(LinkRow, CommentRow)>,
    pub notes: Vec<(LinkRow, NoteRow)>,
    /// Since when all mail is stopped, in every row, and what the customer gets mail about. At least one row.
    pub subscriptions: Vec<(Option<TimestampColumn>, Option<LinkRow>)>,
}

impl CustomerRecordsRows {
    /// Converts the rows of a customer.
    ///
    /// # Errors
    /// The model cannot hold a value.
    pub fn into_records(self, customer: impl ToString) -> Result<CustomerRecords, StoreError> {
        let stopped_at = self.subscriptions.first().and_then(|(stopped_at, _)| *stopped_at);
        Ok(CustomerRecords {
            votes: self.votes.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
            requests: self.requests.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
            comments: self.comments.into_iter().map(with_request).collect::<Result<_, _>>()?,
            notes: self.notes.into_iter().map(with_request).collect::<Result<_, _>>()?,
            subscriptions: self.subscriptions.into_iter().filter_map(|(_, request)| request).map(Into::into).collect(),
            unsubscribed_at: optional_timestamp(stopped_at, "customers", "mail_stopped_at", customer)?,
        })
    }
}

/// Converts a row with its feature request.
fn with_request<R, T: TryFrom<R, Error = StoreError>>(
    (request, row): (LinkRow, R),
) -> Result<(RequestLink, T), StoreError> {
    Ok((request.into(), row.try_into()?))
}

/// A customer who voted, and when.
#[derive(Debug, Queryable)]
pub struct VoterRow {
    customer: CustomerNameRow,
    voted_at: TimestampColumn,
}

impl TryFrom<VoterRow> for Voter {
    type Error = StoreError;

    fn try_from(row: VoterRow) -> Result<Self, StoreError> {
        let voted_at = row.voted_at.into_timestamp("votes", "created_at", row.customer.id)?;
        let CustomerName { id, name, email } = row.customer.into();
        Ok(Self { id, name, email, voted_at })
    }
}

/// A member.
#[derive(Debug, Queryable)]
pub struct MemberRow {
    id: Id,
    email: String,
    name: String,
    role: String,
    created_at: TimestampColumn,
}

impl TryFrom<MemberRow> for Member {
    type Error = StoreError;

    fn try_from(row: MemberRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: MemberId::new(row.id.0),
            email: EmailAddress::from_stored(row.email),
            name: Name::from_stored(row.name),
            role: Role::from_name(&row.role).ok_or_else(|| inconsistent("members", "role", row.id))?,
            created_at: row.created_at.into_timestamp("members", "created_at", row.id)?,
        })
    }
}

/// A member who wants mail about what customers write.
#[derive(Debug, Queryable)]
pub struct MemberToTellRow {
    workspace: Id,
    time_zone: String,
    member: Id,
    wanted: String,
    told_until: TimestampColumn,
}

impl MemberToTellRow {
    /// Returns the member. `None` if this version cannot read the row: others get their mail nevertheless.
    #[must_use]
    pub fn member(self) -> Option<MemberToTell> {
        Some(MemberToTell {
            workspace: WorkspaceId::new(self.workspace.0),
            zone: TimeZone::from_stored(&self.time_zone),
            member: MemberId::new(self.member.0),
            wanted: TeamMail::from_name(&self.wanted)?,
            told_until: self.told_until.into_timestamp("members", "told_until", self.member).ok()?,
        })
    }
}

/// An API key.
#[derive(Debug, Queryable)]
pub struct ApiKeyRow {
    id: Id,
    name: String,
    last_four: String,
    can_read: bool,
    can_write: bool,
    can_manage: bool,
    created_at: TimestampColumn,
    expires_at: Option<TimestampColumn>,
    revoked_at: Option<TimestampColumn>,
    last_used_at: Option<TimestampColumn>,
    made_by: Option<Id>,
}

impl TryFrom<ApiKeyRow> for ApiKey {
    type Error = StoreError;

    fn try_from(row: ApiKeyRow) -> Result<Self, StoreError> {
        let optional = |timestamp, column| optional_timestamp(timestamp, "api_keys", column, row.id);
        Ok(Self {
            id: ApiKeyId::new(row.id.0),
            name: Name::from_stored(row.name),
            last_four: row.last_four,
            scopes: Scopes { read: row.can_read, write: row.can_write, manage: row.can_manage },
            created_at: row.created_at.into_timestamp("api_keys", "created_at", row.id)?,
            expires_at: optional(row.expires_at, "expires_at")?,
            revoked_at: optional(row.revoked_at, "revoked_at")?,
            last_used_at: optional(row.last_used_at, "last_used_at")?,
            made_by: row.made_by.map(|member| MemberId::new(member.0)),
        })
    }
}

/// A session with the customer and the member of its address.
#[derive(Debug, Queryable)]
pub struct SessionRow {
    id: Id,
    email: String,
    customer: Option<CustomerNameRow>,
    language: Option<String>,
    member: Option<MemberRow>,
    created_at: TimestampColumn,
    last_seen_at: TimestampColumn,
    /// Of the member.
    shortcuts: Option<bool>,
}

impl TryFrom<SessionRow> for Session {
    type Error = StoreError;

    fn try_from(row: SessionRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: SessionId::new(row.id.0),
            email: EmailAddress::from_stored(row.email),
            customer: row.customer.map(Into::into),
            language: row.language.as_deref().and_then(Language::from_code),
            member: row.member.map(TryInto::try_into).transpose()?,
            created_at: row.created_at.into_timestamp("sessions", "created_at", row.id)?,
            last_seen_at: row.last_seen_at.into_timestamp("sessions", "last_seen_at", row.id)?,
            has_shortcuts: row.shortcuts.unwrap_or_default(),
        })
    }
}

/// A session in the list of an account.
#[derive(Debug, Queryable)]
pub struct SessionEntryRow {
    id: Id,
    browser: Option<String>,
    created_at: TimestampColumn,
    last_seen_at: TimestampColumn,
}

impl TryFrom<SessionEntryRow> for SessionEntry {
    type Error = StoreError;

    fn try_from(row: SessionEntryRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: SessionId::new(row.id.0),
            browser: row.browser.map(BrowserName::from_stored),
            created_at: row.created_at.into_timestamp("sessions", "created_at", row.id)?,
            last_seen_at: row.last_seen_at.into_timestamp("sessions", "last_seen_at", row.id)?,
        })
    }
}

/// A sign-in.
#[derive(Debug, Queryable)]
pub struct SignInRow {
    id: Id,
    email: String,
    browser_digest: Option<Vec<u8>>,
    browser_name: Option<String>,
    action: Option<String>,
    next: Option<String>,
    language: String,
    wrong_codes: i64,
    created_at: TimestampColumn,
    consumed_at: Option<TimestampColumn>,
}

impl TryFrom<SignInRow> for SignIn {
    type Error = StoreError;

    fn try_from(row: SignInRow) -> Result<Self, StoreError> {
        let broken = |column| inconsistent("sign_ins", column, row.id);
        let browser = row.browser_digest.map(|digest| digest.try_into().map(SecretDigest));
        let action = row.action.map(|action| PageAction::from_json(&action).ok_or_else(|| broken("action")));
        let next = row.next.map(|next| LocalPath::parse(&next).ok_or_else(|| broken("next")));
        Ok(Self {
            id: SignInId::new(row.id.0),
            email: EmailAddress::from_stored(row.email),
            browser: browser.transpose().map_err(|_| broken("browser_digest"))?,
            browser_name: row.browser_name.map(BrowserName::from_stored),
            action: action.transpose()?,
            next: next.transpose()?,
            language: Language::from_code(&row.language).ok_or_else(|| broken("language"))?,
            wrong_codes: u32::try_from(row.wrong_codes).map_err(|_| broken("wrong_codes"))?,
            created_at: row.created_at.into_timestamp("sign_ins", "created_at", row.id)?,
            consumed_at: optional_timestamp(row.consumed_at, "sign_ins", "consumed_at", row.id)?,
        })
    }
}

/// An entry of the audit log.
#[derive(Debug, Queryable)]
pub struct AuditEntryRow {
    id: Id,
    created_at: TimestampColumn,
    actor_kind: String,
    actor_id: Option<Id>,
    actor_name: String,
    channel: String,
    request_id: Option<String>,
    action: String,
    subject_kind: String,
    subject_id: Option<Id>,
    changes: String,
}

impl TryFrom<AuditEntryRow> for AuditEntry {
    type Error = StoreError;

    fn try_from(row: AuditEntryRow) -> Result<Self, StoreError> {
        let broken = |column| inconsistent("audit_entries", column, row.id);
        let kind = ActorKind::from_name(&row.actor_kind).ok_or_else(|| broken("actor_kind"))?;
        let channel = Channel::from_name(&row.channel).ok_or_else(|| broken("channel"))?;
        let actor = Actor { kind, id: row.actor_id.map(|id| id.0), name: row.actor_name };
        Ok(Self {
            id: AuditEntryId::new(row.id.0),
            at: row.created_at.into_timestamp("audit_entries", "created_at", row.id)?,
            changes: Self::parse_changes(&row.changes).ok_or_else(|| broken("changes"))?,
            origin: Origin { actor, channel, request_id: row.request_id },
            action: row.action,
            subject: Subject { kind: row.subject_kind, id: row.subject_id.map(|id| id.0) },
        })
    }
}
