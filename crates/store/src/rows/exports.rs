//! Whole records, for exports.

use diesel::Queryable;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::Checksum;
use roadmap_domain::model::export::{
    Attachment, Changelog, Comment, Customer, CustomerDetails, Event, Exported, FeatureRequest, Imported, Lane, Link,
    Member, MemberDetails, Note, Person, Record, Subscription, Track, Vote, Workspace, from_stored,
};
use roadmap_domain::model::id::{
    AttachmentId, ChangelogId, CommentId, CustomerId, EventId, FeatureRequestId, LaneId, LinkId, MemberId, NoteId,
    TrackId,
};
use roadmap_domain::model::portal::PortalSettings;
use uuid::Uuid;

use crate::columns::{Id, TextList, TimestampColumn, inconsistent, optional_timestamp};

/// Returns a record without anything beside it.
fn alone(record: Record) -> Exported {
    Exported { record, author: Person::default(), votes: 0 }
}

/// The name and the address of the author of a record.
type PersonRow = (Option<String>, Option<String>);

fn person((name, email): PersonRow) -> Person {
    Person { name, email }
}

/// A lane.
#[derive(Debug, Queryable)]
pub struct ExportedLaneRow {
    id: Id,
    name: String,
    kind: String,
    names: String,
    position: i64,
}

impl TryFrom<ExportedLaneRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedLaneRow) -> Result<Self, StoreError> {
        Ok(alone(Record::Lane(Lane {
            id: LaneId::new(row.id.0),
            name: row.name,
            kind: row.kind,
            names: from_stored(&row.names).ok_or_else(|| inconsistent("lanes", "names", row.id))?,
            position: row.position,
        })))
    }
}

/// A track.
#[derive(Debug, Queryable)]
pub struct ExportedTrackRow {
    id: Id,
    name: String,
    lane: Option<Id>,
    position: i64,
}

impl TryFrom<ExportedTrackRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedTrackRow) -> Result<Self, StoreError> {
        Ok(alone(Record::Track(Track {
            id: TrackId::new(row.id.0),
            name: row.name,
            lane_id: row.lane.map(|lane| LaneId::new(lane.0)),
            position: row.position,
        })))
    }
}

/// A member, removed or not.
#[derive(Debug, Queryable)]
pub struct ExportedMemberRow {
    id: Id,
    email: String,
    name: String,
    role: String,
    team_mail: String,
    saved_views: String,
    shortcuts: bool,
    created_at: TimestampColumn,
    removed_at: Option<TimestampColumn>,
}

impl TryFrom<ExportedMemberRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedMemberRow) -> Result<Self, StoreError> {
        let details = MemberDetails {
            email: row.email,
            name: row.name,
            role: row.role,
            team_mail: row.team_mail,
            saved_views: from_stored(&row.saved_views).ok_or_else(|| inconsistent("members", "saved_views", row.id))?,
            shortcuts: row.shortcuts,
            created_at: row.created_at.into_timestamp("members", "created_at", row.id)?,
            removed_at: optional_timestamp(row.removed_at, "members", "removed_at", row.id)?,
        };
        Ok(alone(Record::Member(Member { id: MemberId::new(row.id.0), details: Some(details) })))
    }
}

/// A customer.
#[derive(Debug, Queryable)]
pub struct ExportedCustomerRow {
    id: Id,
    email: String,
    name: Option<String>,
    language: Option<String>,
    last_language: Option<String>,
    mail_stopped_at: Option<TimestampColumn>,
    mail_stopped_because: Option<String>,
    stops_changelogs: bool,
    news_since: Option<TimestampColumn>,
    blocked_at: Option<TimestampColumn>,
    created_at: TimestampColumn,
}

impl TryFrom<ExportedCustomerRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedCustomerRow) -> Result<Self, StoreError> {
        let optional = |at, column| optional_timestamp(at, "customers", column, row.id);
        let details = CustomerDetails {
            email: row.email,
            name: row.name,
            language: row.language,
            last_language: row.last_language,
            mail_stopped_at: optional(row.mail_stopped_at, "mail_stopped_at")?,
            mail_stopped_because: row.mail_stopped_because,
            stops_changelogs: row.stops_changelogs,
            news_since: optional(row.news_since, "news_since")?,
            blocked_at: optional(row.blocked_at, "blocked_at")?,
            created_at: row.created_at.into_timestamp("customers", "created_at", row.id)?,
        };
        Ok(alone(Record::Customer(Customer { id: CustomerId::new(row.id.0), details: Some(details) })))
    }
}

/// A feature request with its author, and how many votes it has itself.
#[derive(Debug, Queryable)]
pub struct ExportedRequestRow {
    id: Id,
    tag_number: i64,
    title: String,
    description: String,
    tags: TextList,
    track: Id,
    author: Option<Id>,
    private: bool,
    awaiting_approval: bool,
    merged_into: Option<Id>,
    nameless_votes: i64,
    handled_at: Option<TimestampColumn>,
    status_since: TimestampColumn,
    created_at: TimestampColumn,
    updated_at: TimestampColumn,
    votes: i64,
    person: PersonRow,
}

impl TryFrom<ExportedRequestRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedRequestRow) -> Result<Self, StoreError> {
        let timestamp = |at: TimestampColumn, column| at.into_timestamp("feature_requests", column, row.id);
        let request = FeatureRequest {
            id: FeatureRequestId::new(row.id.0),
            tag_number: row.tag_number,
            title: row.title,
            description: row.description,
            tags: row.tags.0,
            track_id: TrackId::new(row.track.0),
            author_id: row.author.map(|author| CustomerId::new(author.0)),
            private: row.private,
            awaiting_approval: row.awaiting_approval,
            merged_into_id: row.merged_into.map(|target| FeatureRequestId::new(target.0)),
            nameless_votes: row.nameless_votes,
            handled_at: row.handled_at.map(|at| timestamp(at, "handled_at")).transpose()?,
            status_since: timestamp(row.status_since, "status_since")?,
            created_at: timestamp(row.created_at, "created_at")?,
            updated_at: timestamp(row.updated_at, "updated_at")?,
        };
        Ok(Self { record: Record::FeatureRequest(request), author: person(row.person), votes: row.votes })
    }
}

/// A vote with its voter.
#[derive(Debug, Queryable)]
pub struct ExportedVoteRow {
    request: Id,
    customer: Id,
    subscribed: bool,
    created_at: TimestampColumn,
    person: PersonRow,
}

impl TryFrom<ExportedVoteRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedVoteRow) -> Result<Self, StoreError> {
        let vote = Vote {
            feature_request_id: FeatureRequestId::new(row.request.0),
            customer_id: CustomerId::new(row.customer.0),
            subscribed: row.subscribed,
            created_at: row.created_at.into_timestamp("votes", "created_at", row.request)?,
        };
        Ok(Self { record: Record::Vote(vote), author: person(row.person), votes: 0 })
    }
}

/// A subscription without a vote.
#[derive(Debug, Queryable)]
pub struct ExportedFollowerRow {
    request: Id,
    customer: Id,
    created_at: TimestampColumn,
}

impl TryFrom<ExportedFollowerRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedFollowerRow) -> Result<Self, StoreError> {
        Ok(alone(Record::Subscription(Subscription {
            feature_request_id: FeatureRequestId::new(row.request.0),
            customer_id: CustomerId::new(row.customer.0),
            created_at: row.created_at.into_timestamp("followers", "created_at", row.request)?,
        })))
    }
}

/// A comment with its author, held or not.
#[derive(Debug, Queryable)]
pub struct ExportedCommentRow {
    id: Id,
    request: Id,
    member: Option<Id>,
    customer: Option<Id>,
    content: String,
    held: bool,
    created_at: TimestampColumn,
    updated_at: TimestampColumn,
    person: PersonRow,
}

impl TryFrom<ExportedCommentRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedCommentRow) -> Result<Self, StoreError> {
        let comment = Comment {
            id: CommentId::new(row.id.0),
            feature_request_id: FeatureRequestId::new(row.request.0),
            author_id: row.member.map(|member| MemberId::new(member.0)),
            customer_id: row.customer.map(|customer| CustomerId::new(customer.0)),
            content: row.content,
            held: row.held,
            created_at: row.created_at.into_timestamp("comments", "created_at", row.id)?,
            updated_at: row.updated_at.into_timestamp("comments", "updated_at", row.id)?,
        };
        Ok(Self { record: Record::Comment(comment), author: person(row.person), votes: 0 })
    }
}

/// A note with its author.
#[derive(Debug, Queryable)]
pub struct ExportedNoteRow {
    id: Id,
    request: Id,
    customer: Option<Id>,
    author: Option<Id>,
    body: String,
    created_at: TimestampColumn,
    person: PersonRow,
}

impl TryFrom<ExportedNoteRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedNoteRow) -> Result<Self, StoreError> {
        let note = Note {
            id: NoteId::new(row.id.0),
            feature_request_id: FeatureRequestId::new(row.request.0),
            customer_id: row.customer.map(|customer| CustomerId::new(customer.0)),
            author_id: row.author.map(|author| MemberId::new(author.0)),
            body: row.body,
            created_at: row.created_at.into_timestamp("notes", "created_at", row.id)?,
        };
        Ok(Self { record: Record::Note(note), author: person(row.person), votes: 0 })
    }
}

/// A link of a feature request.
#[derive(Debug, Queryable)]
pub struct ExportedLinkRow {
    id: Id,
    request: Id,
    url: String,
    title: Option<String>,
    state: Option<String>,
    created_at: TimestampColumn,
    updated_at: TimestampColumn,
}

impl TryFrom<ExportedLinkRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedLinkRow) -> Result<Self, StoreError> {
        Ok(alone(Record::Link(Link {
            id: LinkId::new(row.id.0),
            feature_request_id: FeatureRequestId::new(row.request.0),
            url: row.url,
            title: row.title,
            state: row.state,
            created_at: row.created_at.into_timestamp("links", "created_at", row.id)?,
            updated_at: row.updated_at.into_timestamp("links", "updated_at", row.id)?,
        })))
    }
}

/// An event.
#[derive(Debug, Queryable)]
pub struct ExportedEventRow {
    id: Id,
    request: Id,
    kind: String,
    details: String,
    actor_kind: String,
    actor_id: Option<Id>,
    actor_name: String,
    created_at: TimestampColumn,
}

impl TryFrom<ExportedEventRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedEventRow) -> Result<Self, StoreError> {
        let broken = || inconsistent("feature_request_events", "details", row.id);
        Ok(alone(Record::Event(Event {
            id: EventId::new(row.id.0),
            feature_request_id: FeatureRequestId::new(row.request.0),
            kind: row.kind,
            details: from_stored(&row.details).ok_or_else(broken)?,
            actor_kind: row.actor_kind,
            actor_id: row.actor_id.map(|id| id.to_string()),
            actor_name: row.actor_name,
            created_at: row.created_at.into_timestamp("feature_request_events", "created_at", row.id)?,
        })))
    }
}

/// A changelog with the ids of its feature requests.
#[derive(Debug, Queryable)]
pub struct ExportedChangelogRow {
    id: Id,
    title: String,
    content: String,
    category: Option<String>,
    cover: Option<Id>,
    published_at: Option<TimestampColumn>,
    notified: bool,
    notifies: bool,
    requests: TextList,
    created_at: TimestampColumn,
    updated_at: TimestampColumn,
}

impl TryFrom<ExportedChangelogRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedChangelogRow) -> Result<Self, StoreError> {
        let broken = || inconsistent("changelog_feature_requests", "request_id", row.id);
        let requests = row.requests.0.iter().map(|id| Uuid::try_parse(id).ok().map(FeatureRequestId::new));
        Ok(alone(Record::Changelog(Changelog {
            id: ChangelogId::new(row.id.0),
            title: row.title,
            content: row.content,
            category: row.category,
            cover_attachment_id: row.cover.map(|cover| AttachmentId::new(cover.0)),
            publish_at: optional_timestamp(row.published_at, "changelogs", "published_at", row.id)?,
            notified: row.notified,
            notifies: row.notifies,
            feature_request_ids: requests.collect::<Option<_>>().ok_or_else(broken)?,
            created_at: row.created_at.into_timestamp("changelogs", "created_at", row.id)?,
            updated_at: row.updated_at.into_timestamp("changelogs", "updated_at", row.id)?,
        })))
    }
}

/// A file.
#[derive(Debug, Queryable)]
pub struct ExportedAttachmentRow {
    id: Id,
    filename: String,
    content_type: String,
    byte_size: i64,
    checksum: Vec<u8>,
    width: Option<i64>,
    height: Option<i64>,
    picture_by: Option<String>,
    created_at: TimestampColumn,
}

impl TryFrom<ExportedAttachmentRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedAttachmentRow) -> Result<Self, StoreError> {
        let broken = |_| inconsistent("attachments", "checksum", row.id);
        Ok(alone(Record::Attachment(Attachment {
            id: AttachmentId::new(row.id.0),
            filename: row.filename,
            content_type: row.content_type,
            byte_size: row.byte_size,
            checksum: Checksum(row.checksum.try_into().map_err(broken)?).to_string(),
            width: row.width,
            height: row.height,
            picture_by: row.picture_by,
            created_at: row.created_at.into_timestamp("attachments", "created_at", row.id)?,
        })))
    }
}

/// Where a record came from.
#[derive(Debug, Queryable)]
pub struct ExportedOriginRow {
    name: String,
    kind: String,
    external_id: String,
    local_id: Id,
    digest: String,
    written_at: TimestampColumn,
}

impl TryFrom<ExportedOriginRow> for Exported {
    type Error = StoreError;

    fn try_from(row: ExportedOriginRow) -> Result<Self, StoreError> {
        Ok(alone(Record::Imported(Imported {
            name: row.name,
            kind: row.kind,
            external_id: row.external_id,
            local_id: row.local_id.to_string(),
            digest: row.digest,
            written_at: row.written_at.into_timestamp("imported", "written_at", row.local_id)?,
        })))
    }
}

/// The settings that mails use, too.
#[derive(Debug, Queryable)]
pub struct ExportedSettingRow {
    id: Id,
    product_name: String,
    website_url: String,
    sender_name: Option<String>,
    last_tag_number: i64,
}

/// The settings of the portal.
#[derive(Debug, Queryable)]
pub struct ExportedPortalRow {
    access: String,
    mail_domains: TextList,
    is_indexed: bool,
    embed_origins: TextList,
    languages: TextList,
    holds_posts: bool,
    accent: Option<String>,
    logo: Option<Id>,
    reply_to: Option<String>,
    time_zone: String,
    welcome_text: String,
    form_question: String,
    noun: String,
}

impl From<PortalSettings> for ExportedPortalRow {
    fn from(settings: PortalSettings) -> Self {
        Self {
            access: settings.access.name().to_owned(),
            mail_domains: TextList(settings.mail_domains.iter().map(|domain| domain.as_str().to_owned()).collect()),
            is_indexed: settings.is_indexed,
            embed_origins: TextList(settings.embed_origins.iter().map(|origin| origin.as_str().to_owned()).collect()),
            languages: TextList(settings.languages.iter().map(|language| language.code().to_owned()).collect()),
            holds_posts: settings.holds_posts,
            accent: settings.accent.map(|accent| accent.to_string()),
            logo: settings.logo.map(|logo| Id(logo.uuid())),
            reply_to: settings.reply_to.map(|address| address.as_str().to_owned()),
            time_zone: settings.time_zone.name().to_owned(),
            welcome_text: settings.welcome_text.to_json(),
            form_question: settings.form_question.to_json(),
            noun: settings.noun.name().to_owned(),
        }
    }
}

impl ExportedSettingRow {
    /// Converts the settings: with those of the portal, which are the default ones if none were ever saved, and with the
    /// phrases of all groups of synonyms in their order, each with the number of its group.
    ///
    /// # Errors
    /// A text is not the JSON that it should be.
    pub fn into_exported(
        self,
        portal: Option<ExportedPortalRow>,
        synonyms: Vec<(i32, String)>,
    ) -> Result<Exported, StoreError> {
        let (setting, portal) = (self, portal.unwrap_or_else(|| PortalSettings::default().into()));
        let broken = |column| inconsistent("portal_settings", column, setting.id);
        let mut groups: Vec<Vec<String>> = Vec::new();
        let mut last = None;
        for (group, phrase) in synonyms {
            match groups.last_mut().filter(|_| last == Some(group)) {
                Some(phrases) => phrases.push(phrase),
                None => groups.push(vec![phrase]),
            }
            last = Some(group);
        }
        Ok(alone(Record::Workspace(Box::new(Workspace {
            product_name: setting.product_name,
            website_url: setting.website_url,
            sender_name: setting.sender_name,
            last_tag_number: setting.last_tag_number,
            access: portal.access,
            mail_domains: portal.mail_domains.0,
            is_indexed: portal.is_indexed,
            embed_origins: portal.embed_origins.0,
            languages: portal.languages.0,
            holds_posts: portal.holds_posts,
            accent: portal.accent,
            logo_attachment_id: portal.logo.map(|logo| AttachmentId::new(logo.0)),
            reply_to: portal.reply_to,
            time_zone: portal.time_zone,
            welcome_text: from_stored(&portal.welcome_text).ok_or_else(|| broken("welcome_text"))?,
            form_question: from_stored(&portal.form_question).ok_or_else(|| broken("form_question"))?,
            noun: portal.noun,
            synonyms: groups,
        }))))
    }
}
