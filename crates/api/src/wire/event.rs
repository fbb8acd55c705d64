//! The events that webhooks are sent.

use std::borrow::Cow;
use std::sync::Arc;

use roadmap_domain::model::attachment::Filename;
use roadmap_domain::model::audit::ActorKind;
use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::feature_request::{RequestLink, Title, excerpt};
use roadmap_domain::model::id::{AttachmentId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{Inclusion, WebhookFormat};
use roadmap_domain::model::webhook_event::{
    ChangelogSnapshot, CommentSnapshot, EventKind, LinkDetails, LinkedSnapshot, MoveDetails, NoteSnapshot,
    PersonSnapshot, RequestSnapshot, StoredEvent,
};
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::policy::chat_messages;
use roadmap_domain::policy::signed_reference::ReferenceSigner;
use roadmap_domain::policy::webhook_content::{Content, Shape, content_for};
use roadmap_domain::ports::EventRenderer;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use super::Links;

/// Maximum number of characters of a content or a body in an event.
const MAX_CONTENT: usize = 20_000;

/// Maximum number of bytes of a body.
const MAX_BODY: usize = 128 * 1024;

/// An event.
#[derive(Debug, Serialize)]
struct Event<'a> {
    id: String,
    r#type: &'static str,
    timestamp: String,
    workspace: Workspace<'a>,
    actor: Actor<'a>,
    data: Data<'a>,
}

/// The workspace in which it happened.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventWorkspace)]
struct Workspace<'a> {
    #[schema(format = "uuid")]
    id: String,
    subdomain: &'a str,
}

/// Who did it, as in the audit log.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventActor)]
struct Actor<'a> {
    #[schema(value_type = ActorKindName)]
    kind: &'static str,
    /// The id of the key, the member or the customer.
    #[schema(format = "uuid", required = true)]
    id: Option<String>,
    /// Null for customers.
    #[schema(required = true)]
    name: Option<&'a str>,
}

/// The kind of an actor.
#[derive(ToSchema)]
#[schema(as = EventActorKind, rename_all = "snake_case")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum ActorKindName {
    ApiKey,
    Member,
    Customer,
    Operator,
    Service,
}

/// What an event is about. Which fields it has depends on the type ([`fields_of`]).
#[derive(Debug, Default, Serialize)]
struct Data<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    feature_request: Option<Subject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<&'a [String]>,
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    moved: Option<Move<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merged: Option<Mention<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unmerged_from: Option<Mention<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer: Option<Person<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<CommentField<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference_note: Option<Note<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changelog: Option<Changelog<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook: Option<Id>,
}

/// The feature request of an event.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Subject<'a> {
    Whole(Box<Request<'a>>),
    Deleted(Mention<'a>),
    /// It has become private.
    Private {
        id: String,
        private: bool,
    },
}

/// A feature request, as it was after the change.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventFeatureRequest)]
struct Request<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1, max_length = 200)]
    title: &'a str,
    #[schema(format = "uri")]
    url: String,
    #[schema(format = "uri")]
    admin_url: String,
    /// The public lane of its track; null if the track has none.
    #[schema(required = true)]
    status: Option<&'a str>,
    #[schema(min_length = 1)]
    track: &'a str,
    #[schema(minimum = 0)]
    votes_count: i64,
    #[schema(format = DateTime)]
    created_at: String,
    /// Plain text, truncated.
    #[schema(max_length = 500)]
    description: &'a str,
    #[schema(minimum = 1)]
    tag_number: i64,
    tags: &'a [String],
    private: bool,
    /// The customer who asked for it.
    #[schema(required = true)]
    author: Option<Person<'a>>,
}

/// A feature request that is only mentioned.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventFeatureRequestLink)]
struct Mention<'a> {
    #[schema(format = "uuid")]
    id: String,
    title: &'a str,
    #[schema(format = "uri")]
    url: String,
}

/// A customer or a member.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventPerson)]
struct Person<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(required = true)]
    name: Option<&'a str>,
    /// Only if the webhook includes addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
}

/// A move of a feature request to another track.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventMove)]
struct Move<'a> {
    #[schema(format = "uuid")]
    id: String,
    from_track: &'a str,
    to_track: &'a str,
    #[schema(required = true)]
    from_status: Option<&'a str>,
    #[schema(required = true)]
    to_status: Option<&'a str>,
    moved_by: Mover<'a>,
    /// The comment that says why; null without one.
    #[schema(format = "uuid", required = true)]
    comment_id: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
}

/// Who moved a feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventMover)]
struct Mover<'a> {
    kind: &'a str,
    name: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum CommentField<'a> {
    Whole(Comment<'a>),
    Gone(Id),
}

/// The id of a record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventRecordId)]
struct Id {
    #[schema(format = "uuid")]
    id: String,
}

/// A public comment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventComment)]
struct Comment<'a> {
    #[schema(format = "uuid")]
    id: String,
    /// Sanitized HTML; null if it is long.
    #[schema(required = true)]
    content: Option<Cow<'a, str>>,
    /// Present if the content is left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    truncated: bool,
    author: CommentAuthor<'a>,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

/// The author of a comment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventCommentAuthor)]
struct CommentAuthor<'a> {
    /// `member` or `customer`.
    kind: &'static str,
    /// `Customer` for a customer without a name.
    name: &'a str,
    /// Only if the webhook includes addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
}

/// A private note of the team.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventReferenceNote)]
struct Note<'a> {
    #[schema(format = "uuid")]
    id: String,
    /// Sanitized HTML; null if it is long.
    #[schema(required = true)]
    body: Option<&'a str>,
    /// Present if the body is left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    truncated: bool,
    /// Null if the workspace had no members.
    #[schema(required = true)]
    author: Option<NoteAuthor<'a>>,
    /// The customer that it is about.
    #[schema(required = true)]
    customer: Option<Person<'a>>,
    #[schema(format = DateTime)]
    created_at: String,
}

/// The author of a private note.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventReferenceNoteAuthor)]
struct NoteAuthor<'a> {
    name: &'a str,
    /// Only if the webhook includes addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<&'a str>,
}

/// An announcement of the team.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventChangelog)]
struct Changelog<'a> {
    #[schema(format = "uuid")]
    id: String,
    title: &'a str,
    /// Sanitized HTML; null if it is long.
    #[schema(required = true)]
    content: Option<Cow<'a, str>>,
    /// Present if the content is left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    truncated: bool,
    #[schema(required = true)]
    category: Option<&'a str>,
    /// `draft`, `scheduled` or `published`.
    status: &'static str,
    #[schema(format = "uri")]
    url: String,
    #[schema(format = "uri")]
    admin_url: String,
    #[schema(format = "uri", required = true)]
    cover_image_url: Option<String>,
    /// Null unless it is published.
    #[schema(format = DateTime, required = true)]
    published_at: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    /// The feature requests that it is about. Private ones only if the webhook includes them.
    feature_requests: Vec<LinkedRequest<'a>>,
    /// When it will be published; null unless it is scheduled.
    #[schema(format = DateTime, required = true)]
    publish_at: Option<String>,
    #[schema(format = DateTime)]
    updated_at: String,
}

/// A feature request that a changelog is about.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventLinkedFeatureRequest)]
struct LinkedRequest<'a> {
    #[schema(format = "uuid")]
    id: String,
    title: &'a str,
    #[schema(format = "uri")]
    url: String,
    #[schema(required = true)]
    status: Option<&'a str>,
}

/// Makes the bodies of requests for the webhook worker.
#[derive(Clone)]
pub struct EventBodies {
    base_url: BaseUrl,
    references: Arc<ReferenceSigner>,
}

impl EventBodies {
    /// Creates them for a service at `base_url`, whose links to files `references` signs.
    #[must_use]
    pub fn new(base_url: BaseUrl, references: Arc<ReferenceSigner>) -> Self {
        Self { base_url, references }
    }
}

impl EventRenderer for EventBodies {
    fn body(
        &self,
        event: &StoredEvent,
        format: WebhookFormat,
        includes: Inclusion,
        workspace: WorkspaceId,
        subdomain: &Subdomain,
    ) -> Option<String> {
        body(event, format, includes, &Links::new(&self.base_url, subdomain, workspace, self.references.clone()))
    }
}

/// Returns the body that a webhook of this format gets, or `None` if it gets nothing about the event.
pub(crate) fn body(event: &StoredEvent, format: WebhookFormat, includes: Inclusion, links: &Links) -> Option<String> {
    let content = content_for(event, format, includes)?;
    if format.is_chat() {
        let product = event.details.product.as_deref().unwrap_or_default();
        return chat_messages::message(event, content.kind, format, links, product).map(|message| message.to_string());
    }
    let render = |max_content| {
        let renderer = Renderer { links, includes, max_content };
        serde_json::to_string(&renderer.event(event, &content)).ok()
    };
    // Characters may have many bytes, and many links.
    render(MAX_CONTENT).filter(|body| body.len() <= MAX_BODY).or_else(|| render(0))
}

/// What an event is rendered with.
struct Renderer<'a> {
    links: &'a Links,
    includes: Inclusion,
    /// Maximum number of characters of a content or a body.
    max_content: usize,
}

impl<'a> Renderer<'a> {
    fn event(&self, event: &'a StoredEvent, content: &Content) -> Event<'a> {
        let actor = &event.actor;
        Event {
            id: event.id.to_string(),
            r#type: content.kind.name(),
            timestamp: event.at.to_string(),
            workspace: Workspace { id: self.links.workspace().to_string(), subdomain: self.links.subdomain().as_str() },
            actor: Actor {
                kind: actor.kind.name(),
                id: actor.id.map(|id| id.to_string()),
                name: (actor.kind != ActorKind::Customer).then_some(actor.name.as_str()),
            },
            data: self.data(event, content),
        }
    }

    fn data(&self, event: &'a StoredEvent, content: &Content) -> Data<'a> {
        let (snapshot, details) = (&event.snapshot, &event.details);
        let request = snapshot.feature_request.as_ref();
        let changed = (content.kind == EventKind::FeatureRequestUpdated).then_some(details.changed.as_slice());
        if content.shape == Shape::BecamePrivate {
            let private = request.map(|request| Subject::Private { id: request.id.to_string(), private: true });
            let only_private = details.changed.iter().position(|field| field == "private");
            let changed = only_private.and_then(|place| details.changed.get(place..=place));
            return Data { feature_request: private, changed, ..Data::default() };
        }
        let deleted = details.deleted.as_ref().map(|deleted| Subject::Deleted(self.mention(deleted)));
        let whole = || request.map(|request| Subject::Whole(Box::new(self.request(request))));
        let source = details.source.as_ref().map(|source| self.mention(source));
        let (merged, unmerged_from) = match content.kind {
            EventKind::FeatureRequestUnmerged => (None, source),
            _ => (source, None),
        };
        let gone = details.deleted_comment.map(|comment| CommentField::Gone(Id { id: comment.to_string() }));
        let comment = || snapshot.comment.as_ref().map(|comment| CommentField::Whole(self.comment(comment)));
        Data {
            feature_request: deleted.or_else(whole),
            changed,
            moved: details.moved.as_ref().map(moved),
            merged,
            unmerged_from,
            customer: snapshot.customer.as_ref().map(|customer| self.person(customer)),
            comment: gone.or_else(comment),
            reference_note: snapshot.reference_note.as_ref().map(|note| self.note(note)),
            changelog: snapshot.changelog.as_ref().map(|changelog| self.changelog(changelog, event.at)),
            webhook: details.webhook.map(|webhook| Id { id: webhook.to_string() }),
        }
    }

    fn request(&self, request: &'a RequestSnapshot) -> Request<'a> {
        let slug = slug(request.tag_number, &request.title);
        Request {
            id: request.id.to_string(),
            title: &request.title,
            url: self.links.request(&slug),
            admin_url: self.links.admin_request(&slug),
            status: request.status.as_deref(),
            track: &request.track,
            votes_count: request.votes_count,
            created_at: time(request.created_at),
            description: excerpt(&request.description),
            tag_number: request.tag_number,
            tags: &request.tags,
            private: request.private,
            author: request.author.as_ref().map(|author| self.person(author)),
        }
    }

    fn mention(&self, mentioned: &'a LinkDetails) -> Mention<'a> {
        let url = self.links.request(&slug(mentioned.tag_number, &mentioned.title));
        Mention { id: mentioned.id.to_string(), title: &mentioned.title, url }
    }

    fn person(&self, person: &'a PersonSnapshot) -> Person<'a> {
        Person { id: person.id.to_string(), name: person.name.as_deref(), email: self.email(person) }
    }

    fn email(&self, person: &'a PersonSnapshot) -> Option<&'a str> {
        self.includes.emails.then_some(person.email.as_str())
    }

    fn comment(&self, comment: &'a CommentSnapshot) -> Comment<'a> {
        let person = comment.customer.as_ref().or(comment.member.as_ref());
        let (kind, nameless) = if comment.customer.is_some() { ("customer", "Customer") } else { ("member", "Team") };
        let content = self.content(&comment.content);
        Comment {
            id: comment.id.to_string(),
            truncated: content.is_none(),
            content,
            author: CommentAuthor {
                kind,
                name: person.and_then(|person| person.name.as_deref()).unwrap_or(nameless),
                email: person.and_then(|person| self.email(person)),
            },
            created_at: time(comment.created_at),
            updated_at: time(comment.updated_at),
        }
    }

    fn note(&self, note: &'a NoteSnapshot) -> Note<'a> {
        let body = self.fits(&note.body).then_some(note.body.as_str());
        Note {
            id: note.id.to_string(),
            truncated: body.is_none(),
            body,
            author: note.author.as_ref().map(|author| NoteAuthor {
                name: author.name.as_deref().unwrap_or_default(),
                email: self.email(author),
            }),
            customer: note.customer.as_ref().map(|customer| self.person(customer)),
            created_at: time(note.created_at),
        }
    }

    fn changelog(&self, changelog: &'a ChangelogSnapshot, at: Timestamp) -> Changelog<'a> {
        let id = changelog.id.to_string();
        let content = self.content(&changelog.content);
        let (status, published_at, publish_at) = match changelog.published_at {
            None => ("draft", None, None),
            Some(published_at) if published_at <= at.millis() => ("published", Some(time(published_at)), None),
            Some(publish_at) => ("scheduled", None, Some(time(publish_at))),
        };
        let cover = changelog.cover.as_ref().map(|cover| {
            self.links.blob(AttachmentId::new(cover.attachment), &Filename::from_stored(cover.filename.clone()))
        });
        let linked = changelog.feature_requests.iter().filter(|request| self.includes.private || !request.private);
        Changelog {
            title: &changelog.title,
            truncated: content.is_none(),
            content,
            category: changelog.category.as_deref(),
            status,
            url: self.links.changelog(&id),
            admin_url: self.links.admin_changelog(&id),
            cover_image_url: cover,
            published_at,
            created_at: time(changelog.created_at),
            feature_requests: linked.map(|request| self.linked(request)).collect(),
            publish_at,
            updated_at: time(changelog.updated_at),
            id,
        }
    }

    fn linked(&self, request: &'a LinkedSnapshot) -> LinkedRequest<'a> {
        LinkedRequest {
            id: request.id.to_string(),
            title: &request.title,
            url: self.links.request(&slug(request.tag_number, &request.title)),
            status: request.status.as_deref(),
        }
    }

    fn content(&self, html: &'a str) -> Option<Cow<'a, str>> {
        self.fits(html).then(|| self.links.with_pictures(html))
    }

    fn fits(&self, text: &str) -> bool {
        text.len() <= self.max_content || text.chars().count() <= self.max_content
    }
}

fn moved(moved: &MoveDetails) -> Move<'_> {
    Move {
        id: moved.id.to_string(),
        from_track: &moved.from_track,
        to_track: &moved.to_track,
        from_status: moved.from_status.as_deref(),
        to_status: moved.to_status.as_deref(),
        moved_by: Mover { kind: &moved.actor_kind, name: &moved.actor_name },
        comment_id: moved.comment.map(|comment| comment.to_string()),
        created_at: time(moved.at),
    }
}

fn slug(tag_number: i64, title: &str) -> String {
    let id = FeatureRequestId::new(Uuid::nil());
    RequestLink { id, tag_number, title: Title::from_stored(title.to_owned()) }.slug()
}

fn time(millis: i64) -> String {
    Timestamp::from_millis(millis).map_or_else(String::new, |at| at.to_string())
}

/// Returns the schemas of what an event of this type has in `data`: field, schema, and whether it is always there.
fn fields_of(kind: EventKind) -> Vec<(&'static str, RefOr<Schema>, bool)> {
    let request = || ("feature_request", Request::schema(), true);
    let comment = |schema| ("comment", schema, true);
    match kind {
        EventKind::FeatureRequestCreated => vec![request()],
        EventKind::FeatureRequestUpdated => vec![request()],
        EventKind::FeatureRequestMoved => {
            vec![request(), ("move", Move::schema(), true), ("comment", Comment::schema(), false)]
        }
        EventKind::FeatureRequestMerged => vec![request(), ("merged", Mention::schema(), true)],
        EventKind::FeatureRequestUnmerged => vec![request(), ("unmerged_from", Mention::schema(), true)],
        EventKind::FeatureRequestDeleted => vec![("feature_request", Mention::schema(), true)],
        EventKind::VoteCreated | EventKind::VoteRemoved => vec![request(), ("customer", Person::schema(), true)],
        EventKind::CommentCreated | EventKind::CommentUpdated => vec![request(), comment(Comment::schema())],
        EventKind::CommentDeleted => vec![request(), comment(Id::schema())],
        EventKind::ReferenceNoteCreated => vec![request(), ("reference_note", Note::schema(), true)],
        EventKind::ChangelogPublished | EventKind::ChangelogUnpublished => {
            vec![("changelog", Changelog::schema(), true)]
        }
        EventKind::WebhookTest => vec![("webhook", Id::schema(), true)],
    }
}

/// What happened, for the document.
fn description_of(kind: EventKind) -> &'static str {
    match kind {
        EventKind::FeatureRequestCreated => "A feature request was created, or has become public.",
        EventKind::FeatureRequestUpdated => {
            "Fields of a feature request were edited. If it has become private, a webhook without private ones gets its \
             `id` and `private` only."
        }
        EventKind::FeatureRequestMoved => "A feature request was moved to another track, perhaps with a comment.",
        EventKind::FeatureRequestMerged => "Another feature request was merged into this one.",
        EventKind::FeatureRequestUnmerged => "A feature request is no longer merged into another one.",
        EventKind::FeatureRequestDeleted => "A feature request was deleted.",
        EventKind::VoteCreated => "A customer has voted for a feature request.",
        EventKind::VoteRemoved => "A customer's vote for a feature request was withdrawn.",
        EventKind::CommentCreated => "A comment was posted or approved.",
        EventKind::CommentUpdated => "A comment was edited.",
        EventKind::CommentDeleted => "A comment was deleted.",
        EventKind::ReferenceNoteCreated => "A private note was added. Only for webhooks with private ones.",
        EventKind::ChangelogPublished => "A changelog was published.",
        EventKind::ChangelogUnpublished => "A published changelog became a draft, or was deleted.",
        EventKind::WebhookTest => "Somebody asked for a test event.",
    }
}

/// Returns the section `webhooks` of the OpenAPI document, and the schemas that it uses.
pub(crate) fn documented() -> (Value, Vec<(String, RefOr<Schema>)>) {
    let mut schemas = Vec::new();
    Workspace::schemas(&mut schemas);
    Actor::schemas(&mut schemas);
    Request::schemas(&mut schemas);
    Move::schemas(&mut schemas);
    Mention::schemas(&mut schemas);
    Person::schemas(&mut schemas);
    Comment::schemas(&mut schemas);
    Note::schemas(&mut schemas);
    Changelog::schemas(&mut schemas);
    let webhooks = EventKind::ALL.into_iter().map(|kind| (kind.name().to_owned(), document_of(kind))).collect();
    (Value::Object(webhooks), schemas)
}

fn document_of(kind: EventKind) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (field, schema, is_required) in fields_of(kind) {
        // Serializing plain structs to memory cannot fail.
        properties.insert(field.to_owned(), serde_json::to_value(schema).unwrap_or_default());
        if is_required {
            required.push(field);
        }
    }
    if kind == EventKind::FeatureRequestUpdated {
        let field = json!({ "type": "string", "enum": ["title", "description", "tags", "private"] });
        properties.insert("changed".to_owned(), json!({ "type": "array", "items": field }));
        required.push("changed");
    }
    let schema = |schema| serde_json::to_value(schema).unwrap_or_default();
    let body = json!({
        "type": "object",
        "required": ["id", "type", "timestamp", "workspace", "actor", "data"],
        "properties": {
            "id": { "type": "string", "format": "uuid", "description": "The same for each try and webhook." },
            "type": { "type": "string", "const": kind.name() },
            "timestamp": { "type": "string", "format": "date-time" },
            "workspace": schema(Workspace::schema()),
            "actor": schema(Actor::schema()),
            "data": { "type": "object", "required": required, "properties": properties },
        },
    });
    json!({
        "post": {
            "summary": description_of(kind),
            "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
            "responses": {
                "2XX": { "description": "The event is delivered." },
                "410": { "description": "The webhook is disabled." },
                "default": { "description": "The event is sent again." },
            },
        },
    })
}
