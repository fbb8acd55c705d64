//! Webhooks: their settings, the events that are recorded for them, and the queue of their deliveries.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::audit::{Actor, Audit, Origin};
use roadmap_domain::model::changelog::{
    Changelog, ChangelogCategory, ChangelogChange, ChangelogDraft, EditableChangelog, Publication,
};
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::customer::{CustomerDraft, CustomerName};
use roadmap_domain::model::email_address::{EmailAddress, FoldedEmail};
use roadmap_domain::model::feature_request::{Description, FeatureRequestDetail, FeatureRequestRef, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{
    ChangelogId, CommentId, CustomerId, EventId, FeatureRequestId, MemberId, NoteId, WebhookEventId, WebhookId,
    WorkspaceId,
};
use roadmap_domain::model::member::Member;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::vote::VoteCast;
use roadmap_domain::model::webhook::{
    Attempt, AttemptError, Delivery, DeliveryDetail, DeliveryLease, DeliveryOutcome, DeliveryState, DisabledBecause,
    Failure, Inclusion, LeasedDelivery, NewDelivery, SealedSecret, Webhook, WebhookDepth, WebhookFormat,
};
use roadmap_domain::model::webhook_event::{
    ChangelogSnapshot, CommentSnapshot, CoverSnapshot, EventCustomer, EventDetails, EventDraft, EventKind,
    EventRecords, EventSnapshot, LinkDetails, LinkedSnapshot, MoveDetails, NewWebhookEvent, NoteSnapshot,
    PersonSnapshot, RequestSnapshot, StoredEvent,
};
use roadmap_domain::ports::{UndistributedEvents, UnitOfWork};
use roadmap_domain::usecase::change_changelog::EditChangelog;
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::create_feature_request::FeatureRequestDraft;
use roadmap_domain::usecase::delete_feature_request::DeleteFeatureRequest;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use time::Duration;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::harness::{
    Failing, Harness, comment, customer_comment, draft, edit, edit_comment, largest_page, name, new_title,
    new_visibility, page, vote,
};

/// How long a lease lasts.
const LEASE: Duration = Duration::MINUTE;

/// A backlog that no case reaches.
const BACKLOG: u32 = 1_000;

/// Declares operations with what they return. None has an entry in the audit log, or announces events.
macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $name:ident($($field:ty),*) -> $output:ty = |$this:tt, $context:tt, $work:ident| $body:expr;
    )+) => {$(
        $(#[$doc])*
        struct $name($($field),*);

        #[async_trait]
        impl Operation for $name {
            type Output = $output;

            async fn perform(
                &self,
                $context: &OperationContext<'_>,
                $work: &mut dyn UnitOfWork,
            ) -> Result<Performed<$output>, RoadmapError> {
                let $this = self;
                Ok(Performed::new($body, Audit::Unchanged))
            }
        }
    )+};
}

operations! {
    /// Returns the webhooks as units of work see them.
    Load() -> Vec<Webhook> = |_, _, work| work.load_webhooks().await?;

    /// Stores a webhook.
    Save(Webhook) -> () = |this, _, work| work.save_webhook(&this.0).await?;

    /// Stores a webhook unless there are so many.
    SaveUpTo(usize, Webhook) -> () = |this, _, work| {
        if work.load_webhooks().await?.len() < this.0 {
            work.save_webhook(&this.1).await?;
        }
    };

    /// Deletes a webhook.
    Delete(WebhookId) -> () = |this, _, work| work.delete_webhook(this.0).await?;

    /// Lets what waits fail.
    FailWaiting(WebhookId, Failure) -> () = |this, _, work| work.fail_waiting(this.0, this.1).await?;

    /// Records events. Returns their IDs.
    Record(Vec<EventDraft>) -> Vec<WebhookEventId> = |this, context, work| {
        let events = new_events(context, &this.0);
        work.record_events(&events).await?;
        events.iter().map(|event| event.id).collect()
    };

    /// Records events with the records as they are now. Returns their IDs.
    RecordNow(Vec<EventDraft>) -> Vec<WebhookEventId> = |this, context, work| {
        let events = new_events(context, &this.0);
        work.record_events_now(&events).await?;
        events.iter().map(|event| event.id).collect()
    };

    /// Renames a feature request, between two events about it.
    RenameTold(FeatureRequestId, &'static str) -> () = |this, context, work| {
        let event = [EventDraft::of_request(EventKind::FeatureRequestUpdated, this.0)];
        work.record_events_now(&new_events(context, &event)).await?;
        edit(FeatureRequestRef::Id(this.0), new_title(this.1)).perform(context, work).await?;
        work.record_events(&new_events(context, &event)).await?;
    };

    /// Deletes a feature request, between two events about it.
    DeleteTold(FeatureRequestId) -> () = |this, context, work| {
        let event = [EventDraft::of_request(EventKind::FeatureRequestDeleted, this.0)];
        work.record_events_now(&new_events(context, &event)).await?;
        let delete = DeleteFeatureRequest { request: FeatureRequestRef::Id(this.0), with_merged: false };
        delete.perform(context, work).await?;
        work.record_events(&new_events(context, &event)).await?;
    };

    /// Casts a vote of this customer for the feature request with the number 1, and records it if it is counted.
    VoteTold(String) -> VoteCast = |this, context, work| {
        let vote = vote(FeatureRequestRef::Number(1), Some((this.0.as_str(), None)), None);
        let cast = vote.perform(context, work).await?.output;
        if cast.vote_registered() {
            let customer = EventCustomer::Address(folded(&this.0));
            let event = [EventDraft::of_vote(EventKind::VoteCreated, cast.request.id, customer)];
            work.record_events(&new_events(context, &event)).await?;
        }
        cast
    };

    /// Stores a test event for a webhook. Returns its ID.
    SendTest(WebhookId) -> WebhookEventId = |this, context, work| {
        let event = NewWebhookEvent {
            id: context.new_id(WebhookEventId::new),
            draft: EventDraft::new(EventKind::WebhookTest, EventRecords::default()).with(test_details(this.0)),
            actor: context.actor.clone(),
            at: context.now,
        };
        let delivery = NewDelivery { kind: EventKind::WebhookTest, ..delivery(this.0, event.id, context.now) };
        work.insert_test_delivery(&event, &delivery).await?;
        event.id
    };

    /// Returns a delivery as units of work see it.
    Find(WebhookId, WebhookEventId) -> Option<Delivery> = |this, _, work| work.find_delivery(this.0, this.1).await?;

    /// Lets a delivery wait again, due now.
    Redeliver(WebhookId, WebhookEventId) -> () = |this, context, work| {
        work.redeliver(this.0, this.1, context.now).await?
    };

    /// Lets all failed deliveries since a time wait again, due now. Returns their number.
    RedeliverFailed(WebhookId, Timestamp) -> u64 = |this, context, work| {
        work.redeliver_failed(this.0, this.1, context.now).await?
    };

    /// Deletes the events of a customer.
    DeleteEventsOf(CustomerId) -> () = |this, _, work| work.delete_events_of(this.0).await?;

    /// Stores a changelog about nothing.
    InsertChangelog(Changelog) -> () = |this, _, work| work.insert_changelog(&this.0, &[]).await?;

    /// Changes when a changelog is public.
    ReplaceTime(ChangelogId, Option<Timestamp>) -> () = |this, context, work| {
        if let Some(found) = work.find_changelog(this.0).await? {
            let changelog = Changelog { public_from: this.1, updated_at: context.now, ..found.changelog };
            work.save_changelog(&EditableChangelog { changelog, ..found }).await?;
        }
    };

    /// Marks a changelog as announced. Returns whether it was to be announced.
    MarkAnnounced(ChangelogId) -> bool = |this, context, work| work.mark_announced(this.0, context.now).await?;
}

fn new_events(context: &OperationContext<'_>, drafts: &[EventDraft]) -> Vec<NewWebhookEvent> {
    let event = |draft: &EventDraft| NewWebhookEvent {
        id: context.new_id(WebhookEventId::new),
        draft: draft.clone(),
        actor: context.actor.clone(),
        at: context.now,
    };
    drafts.iter().map(event).collect()
}

fn folded(email: &str) -> FoldedEmail {
    EmailAddress::parse("email", email).unwrap().folded().clone()
}

fn test_details(webhook: WebhookId) -> EventDetails {
    EventDetails { webhook: Some(webhook), product: Some("Acme".to_owned()), ..EventDetails::default() }
}

fn webhook_id(number: u128) -> WebhookId {
    WebhookId::new(Uuid::from_u128(number))
}

/// An enabled webhook that gets all events.
fn webhook(number: u128, at: Timestamp) -> Webhook {
    Webhook {
        id: webhook_id(number),
        sealed_url: "sealed1.a.url".to_owned(),
        secrets: vec![sealed("sealed1.a.secret", None)],
        description: String::new(),
        format: WebhookFormat::Standard,
        events: None,
        includes: Inclusion::default(),
        enabled: true,
        disabled_because: None,
        enabled_at: at,
        disabled_at: None,
        failing_since: None,
        failed_tries: 0,
        created_at: at,
        updated_at: at,
    }
}

fn sealed(sealed: &str, expires_at: Option<Timestamp>) -> SealedSecret {
    SealedSecret { sealed: sealed.to_owned(), expires_at: expires_at.map(Timestamp::millis) }
}

/// The same webhook, disabled by somebody.
fn disabled(webhook: &Webhook, at: Timestamp) -> Webhook {
    let disabled_because = Some(DisabledBecause::Operator);
    Webhook { enabled: false, disabled_because, disabled_at: Some(at), ..webhook.clone() }
}

/// Stores an enabled webhook with this number.
async fn add(harness: &Harness, workspace: WorkspaceId, number: u128) -> Webhook {
    let webhook = webhook(number, harness.now());
    harness.perform(workspace, &Save(webhook.clone())).await;
    webhook
}

/// Events about nothing.
fn empty_events(count: usize) -> Vec<EventDraft> {
    vec![EventDraft::new(EventKind::VoteCreated, EventRecords::default()); count]
}

/// Records events about nothing. Returns their IDs, oldest first.
async fn record(harness: &Harness, workspace: WorkspaceId, count: usize) -> Vec<WebhookEventId> {
    harness.perform(workspace, &Record(empty_events(count))).await
}

/// The events that are not distributed yet, oldest first.
async fn undistributed(harness: &Harness, workspace: WorkspaceId) -> Vec<StoredEvent> {
    let found = harness.subject.webhook_queue.undistributed_events(workspace, 1_000).await.unwrap();
    let UndistributedEvents { events, ids, webhooks } = found;
    assert_eq!(events.iter().map(|event| event.id).collect::<Vec<_>>(), ids);
    assert_eq!(webhooks, harness.subject.reader.webhooks(workspace).await.unwrap());
    events
}

/// Records events. Returns the records that they have.
async fn snapshots(harness: &Harness, workspace: WorkspaceId, records: Vec<EventRecords>) -> Vec<EventSnapshot> {
    let about = |records| EventDraft::new(EventKind::VoteCreated, records);
    let ids = harness.perform(workspace, &Record(records.into_iter().map(about).collect())).await;
    let events = undistributed(harness, workspace).await;
    let snapshot = |id: &WebhookEventId| events.iter().find(|event| event.id == *id).unwrap().snapshot.clone();
    ids.iter().map(snapshot).collect()
}

/// A new delivery of an event of this time.
fn delivery(webhook: WebhookId, event: WebhookEventId, created_at: Timestamp) -> NewDelivery {
    let (kind, includes) = (EventKind::VoteCreated, Inclusion::default());
    NewDelivery { webhook, event, kind, includes, failure: None, created_at }
}

/// Makes deliveries of events of now to each of these webhooks. With a failure, they have failed already.
async fn distribute(
    harness: &Harness,
    workspace: WorkspaceId,
    events: &[WebhookEventId],
    webhooks: &[WebhookId],
    failure: Option<Failure>,
) {
    let now = harness.now();
    let deliveries: Vec<_> = (events.iter())
        .flat_map(|event| {
            webhooks.iter().map(move |webhook| NewDelivery { failure, ..delivery(*webhook, *event, now) })
        })
        .collect();
    harness.subject.webhook_queue.distribute(workspace, events, &deliveries, BACKLOG, now).await.unwrap();
}

/// Records events and makes deliveries, which are due now. Returns the IDs of the events, oldest first.
async fn deliver(
    harness: &Harness,
    workspace: WorkspaceId,
    webhooks: &[WebhookId],
    count: usize,
) -> Vec<WebhookEventId> {
    let events = record(harness, workspace, count).await;
    distribute(harness, workspace, &events, webhooks, None).await;
    events
}

/// As [`deliver`], with deliveries that have failed already.
async fn fail(harness: &Harness, workspace: WorkspaceId, webhook: WebhookId, count: usize) -> Vec<WebhookEventId> {
    let events = record(harness, workspace, count).await;
    distribute(harness, workspace, &events, &[webhook], Some(Failure::GaveUp)).await;
    events
}

/// A delivery that waits for its first try.
fn waiting(event: WebhookEventId, created_at: Timestamp, due_at: Timestamp) -> Delivery {
    Delivery {
        event,
        kind: EventKind::VoteCreated,
        includes: Inclusion::default(),
        state: DeliveryState::Waiting,
        failure: None,
        attempts: 0,
        due_at: Some(due_at),
        created_at,
        last_attempt: None,
    }
}

/// A delivery that has failed without a try.
fn failed(event: WebhookEventId, created_at: Timestamp, failure: Failure) -> Delivery {
    let (state, failure) = (DeliveryState::Failed, Some(failure));
    Delivery { state, failure, due_at: None, ..waiting(event, created_at, created_at) }
}

/// All deliveries of a webhook, newest first.
async fn listed(harness: &Harness, workspace: WorkspaceId, webhook: WebhookId) -> Vec<Delivery> {
    let listing = harness.subject.reader.deliveries(workspace, webhook, None, largest_page()).await.unwrap();
    assert_eq!(listing.total, listing.items.len() as u64);
    listing.items
}

/// The events that a webhook got or is to get, newest first.
async fn listed_events(harness: &Harness, workspace: WorkspaceId, webhook: WebhookId) -> Vec<WebhookEventId> {
    listed(harness, workspace, webhook).await.iter().map(|delivery| delivery.event).collect()
}

/// The states of the deliveries of a webhook, oldest first.
async fn states(
    harness: &Harness,
    workspace: WorkspaceId,
    webhook: WebhookId,
) -> Vec<(DeliveryState, Option<Failure>)> {
    let listed = listed(harness, workspace, webhook).await;
    listed.iter().rev().map(|delivery| (delivery.state, delivery.failure)).collect()
}

/// A delivery with its tries.
async fn shown(
    harness: &Harness,
    workspace: WorkspaceId,
    webhook: WebhookId,
    event: WebhookEventId,
) -> Option<DeliveryDetail> {
    harness.subject.reader.delivery(workspace, webhook, event).await.unwrap()
}

/// Leases due deliveries of a webhook.
async fn lease(harness: &Harness, workspace: WorkspaceId, webhook: WebhookId, limit: u32) -> Vec<LeasedDelivery> {
    let (queue, now) = (&harness.subject.webhook_queue, harness.now());
    let leased = queue.lease(workspace, webhook, now, now.plus(LEASE), limit).await.unwrap();
    leased.expect("the webhook").deliveries
}

/// The events of leased deliveries.
fn events_of(leased: &[LeasedDelivery]) -> Vec<WebhookEventId> {
    leased.iter().map(|delivery| delivery.event.id).collect()
}

/// A try that began at this time.
fn attempt(at: Timestamp, error: Option<AttemptError>) -> Attempt {
    let (status, response) = match error {
        None => (Some(204), Some("")),
        Some(AttemptError::Status) => (Some(599), Some("{\"Größe\": \u{fffd}}")),
        Some(_) => (None, None),
    };
    Attempt { at, status, error, duration_ms: 1_234, response: response.map(ToOwned::to_owned) }
}

/// Ends a try of now.
async fn settle(
    harness: &Harness,
    workspace: WorkspaceId,
    leased: &LeasedDelivery,
    error: Option<AttemptError>,
    outcome: DeliveryOutcome,
) -> Option<Webhook> {
    let attempt = attempt(harness.now(), error);
    harness.subject.webhook_queue.settle(workspace, &leased.lease, &attempt, outcome).await.unwrap()
}

fn person(id: Uuid, name: Option<&Name>, email: &EmailAddress) -> PersonSnapshot {
    PersonSnapshot { id, name: name.map(ToString::to_string), email: email.as_str().to_owned() }
}

fn customer_snapshot(customer: &CustomerName) -> PersonSnapshot {
    person(customer.id.uuid(), customer.name.as_ref(), &customer.email)
}

fn member_snapshot(member: &Member) -> PersonSnapshot {
    person(member.id.uuid(), Some(&member.name), &member.email)
}

/// A feature request as events have it, with the beginning of its description.
fn request_snapshot(detail: &FeatureRequestDetail, description: &str) -> RequestSnapshot {
    let FeatureRequestDetail { summary, tags, private, author, .. } = detail;
    RequestSnapshot {
        id: summary.id.uuid(),
        tag_number: summary.tag_number,
        title: summary.title.to_string(),
        description: description.chars().take(500).collect(),
        status: summary.placement.status.as_ref().map(ToString::to_string),
        track: summary.placement.track.to_string(),
        votes_count: summary.votes_count,
        created_at: summary.created_at.millis(),
        tags: tags.iter().map(ToString::to_string).collect(),
        private: *private,
        author: author.as_ref().map(customer_snapshot),
    }
}

/// A comment as events have it, without its author.
fn comment_snapshot(listed: &ListedComment) -> CommentSnapshot {
    CommentSnapshot {
        id: listed.comment.id.uuid(),
        content: listed.comment.content.as_str().to_owned(),
        customer: None,
        member: None,
        created_at: listed.comment.created_at.millis(),
        updated_at: listed.updated_at.millis(),
    }
}

/// All fields are stored and replaced.
pub async fn webhooks_are_saved_listed_and_deleted(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let reader = &harness.subject.reader;
    let (first_at, second_at) = (harness.next_second(), harness.next_second());
    let first = Webhook {
        secrets: vec![sealed("sealed1.a.new", None), sealed("sealed1.b.old", Some(second_at))],
        description: "For \"Ärger\", and \\".to_owned(),
        events: Some(vec![EventKind::VoteCreated, EventKind::CommentDeleted]),
        includes: Inclusion { private: true, emails: false },
        enabled: false,
        disabled_because: Some(DisabledBecause::Failing),
        disabled_at: Some(second_at),
        failing_since: Some(first_at),
        failed_tries: 21,
        ..webhook(2, first_at)
    };
    let second = Webhook {
        secrets: Vec::new(),
        format: WebhookFormat::Slack,
        includes: Inclusion { private: false, emails: true },
        ..webhook(1, second_at)
    };
    for saved in [&second, &first] {
        harness.perform(workspace, &Save(saved.clone())).await;
    }
    let expected = [first.clone(), second.clone()];
    assert_eq!(reader.webhooks(workspace).await.unwrap(), expected);
    assert_eq!(harness.perform(workspace, &Load()).await, expected);
    assert_eq!(reader.webhooks(other).await.unwrap(), []);
    assert_eq!(harness.perform(other, &Load()).await, []);

    let at = harness.next_second();
    let changed = Webhook {
        sealed_url: "sealed1.c.url".to_owned(),
        secrets: vec![sealed("sealed1.c.new", None)],
        description: String::new(),
        events: None,
        includes: Inclusion { private: false, emails: true },
        enabled: true,
        disabled_because: None,
        enabled_at: at,
        disabled_at: None,
        failing_since: None,
        failed_tries: 0,
        updated_at: at,
        ..first
    };
    harness.failure(workspace, &Failing(Save(changed.clone()))).await;
    assert_eq!(reader.webhooks(workspace).await.unwrap(), expected);
    harness.perform(workspace, &Save(changed.clone())).await;
    assert_eq!(reader.webhooks(workspace).await.unwrap(), [changed.clone(), second.clone()]);
    deliver(&harness, workspace, &[changed.id, second.id], 2).await;
    harness.perform(other, &Delete(changed.id)).await;
    harness.perform(workspace, &Delete(second.id)).await;
    assert_eq!(reader.webhooks(workspace).await.unwrap(), std::slice::from_ref(&changed));
    assert_eq!(listed(&harness, workspace, second.id).await, []);
    assert_eq!(listed(&harness, workspace, changed.id).await.len(), 2);
}

/// A webhook is found if its URL or any of its secrets, also an older one, is sealed otherwise.
pub async fn webhooks_that_are_sealed_otherwise_are_found(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let at = harness.now();
    let (new, old) = (sealed("sealed1.a.new", None), sealed("sealed1.b.old", Some(at)));
    for (workspace, saved) in [
        (workspace, webhook(1, at)),
        (workspace, Webhook { sealed_url: "sealed1.b.url".to_owned(), ..webhook(2, at) }),
        (workspace, Webhook { secrets: Vec::new(), ..webhook(3, at) }),
        (other, Webhook { secrets: vec![new.clone(), old.clone()], ..webhook(1, at) }),
        (other, Webhook { secrets: vec![old, new], ..webhook(4, at) }),
    ] {
        harness.perform(workspace, &Save(saved)).await;
    }
    let otherwise = async |prefix: &'static str| {
        let found = harness.subject.maintenance.webhooks_sealed_otherwise(prefix).await.unwrap();
        found.into_iter().collect::<BTreeSet<_>>()
    };
    let expected = [(workspace, webhook_id(2)), (other, webhook_id(1)), (other, webhook_id(4))];
    assert_eq!(otherwise("sealed1.a.").await, BTreeSet::from(expected));
    assert_eq!(otherwise("sealed1.").await, BTreeSet::new());
    assert_eq!(otherwise("sealed2.").await.len(), 5);
}

/// Units of work that load webhooks wait for each other.
pub async fn the_number_of_webhooks_is_limited_also_at_the_same_time(harness: Harness) {
    let harness = Arc::new(harness);
    let workspace = harness.workspace("acme").await;
    let at = harness.next_second();
    let mut adding = JoinSet::new();
    for number in 1..=8 {
        let harness = Arc::clone(&harness);
        adding.spawn(async move { harness.perform(workspace, &SaveUpTo(3, webhook(number, at))).await });
    }
    adding.join_all().await;
    assert_eq!(harness.subject.reader.webhooks(workspace).await.unwrap().len(), 3);
}

/// Nothing is recorded without an enabled webhook of the same workspace, or by a unit of work that is rolled back.
/// An event keeps who has caused it and what the operation says.
pub async fn events_are_recorded_for_an_enabled_webhook(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let queue = &harness.subject.webhook_queue;
    add(&harness, other, 1).await;
    for off in [None, Some(disabled(&webhook(1, harness.now()), harness.now()))] {
        if let Some(webhook) = off {
            harness.perform(workspace, &Save(webhook)).await;
        }
        harness.perform(workspace, &Record(empty_events(2))).await;
        harness.perform(workspace, &RecordNow(empty_events(2))).await;
        assert_eq!(harness.count("webhook_events", workspace).await, 0);
    }
    assert_eq!(queue.workspaces_with_events().await.unwrap(), []);
    add(&harness, workspace, 2).await;
    harness.failure(workspace, &Failing(Record(empty_events(2)))).await;
    harness.failure(workspace, &Failing(RecordNow(empty_events(2)))).await;
    harness.perform(workspace, &Record(Vec::new())).await;
    assert_eq!(harness.count("webhook_events", workspace).await, 0);

    let moved = MoveDetails {
        id: EventId::new(Uuid::from_u128(3)),
        from_track: "Inbox".to_owned(),
        to_track: "\"Ärger\"".to_owned(),
        from_status: None,
        to_status: Some("Planned".to_owned()),
        actor_kind: "operator".to_owned(),
        actor_name: "ann".to_owned(),
        comment: Some(CommentId::new(Uuid::from_u128(4))),
        at: harness.now().millis(),
    };
    let link = LinkDetails {
        id: FeatureRequestId::new(Uuid::from_u128(5)),
        tag_number: 5,
        title: "It's \\ \"new\"".to_owned(),
        private: true,
    };
    let details = EventDetails {
        changed: vec!["title".to_owned(), "private".to_owned()],
        moved: Some(moved),
        source: Some(link.clone()),
        deleted: Some(link),
        deleted_comment: Some(CommentId::new(Uuid::from_u128(6))),
        ..test_details(webhook_id(1))
    };
    let drafts = vec![
        EventDraft::new(EventKind::FeatureRequestMoved, EventRecords::default()).with(details),
        EventDraft::new(EventKind::VoteRemoved, EventRecords::default()),
    ];
    let mut expected = Vec::new();
    for actor in [
        Actor::service(),
        Actor::operator("ann"),
        Actor::customer(CustomerId::new(Uuid::from_u128(7))),
        Actor::member(MemberId::new(Uuid::from_u128(8)), &name("Mia")),
    ] {
        let at = harness.next_second();
        let executor = harness.executor.acting_as(Origin { actor: actor.clone(), ..Origin::service() });
        let ids = executor.run_without_key(workspace, &Record(drafts.clone())).await.unwrap();
        for (id, EventDraft { kind, details, .. }) in ids.into_iter().zip(drafts.clone()) {
            let (actor, snapshot) = (actor.clone(), EventSnapshot::default());
            expected.push(StoredEvent { id, kind, actor, at, details, snapshot });
        }
    }
    assert_eq!(undistributed(&harness, workspace).await, expected);
    assert_eq!(undistributed(&harness, other).await, []);
    assert_eq!(queue.undistributed_events(workspace, 3).await.unwrap().events, expected[..3]);
    assert_eq!(queue.workspaces_with_events().await.unwrap(), [workspace]);
}

/// A feature request, a customer, a comment and a note, each with all that is sent of it.
pub async fn events_have_the_records_that_they_are_about(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    // 600 characters.
    let html = format!("<p>{}</p><p>End</p>", "Ä\"b\\&amp;c".repeat(100));
    let description = Description::parse("description", &html).unwrap();
    let idea = FeatureRequestDraft {
        description: description.clone(),
        customer: CustomerDraft::parse(Some("Ann@Example.com"), Some("Ann \"Å\"")).ok(),
        ..draft("Dark \"mode\"", &["ui", "Api", "big"], "")
    };
    let request = harness.create(workspace, idea).await.id;
    let bare = harness.request(workspace, "Export").await.id;
    harness.edit(workspace, bare, new_visibility(true)).await;
    let reference = FeatureRequestRef::Id(request);
    // Without a member it has no author.
    let anonymous = harness.perform(workspace, &comment(reference, "<p>Hello</p>", false)).await.comment.id;
    let mia = harness.member(workspace, "Mia@Example.com", "Mia").await;
    harness.next_second();
    let of_team = harness.perform(workspace, &comment(reference, "<p>Soon</p>", false)).await.comment.id;
    let own = customer_comment(reference, "<p>\"Me\", <b>too</b></p>", "bo@example.com", None);
    let of_customer = harness.perform(workspace, &own).await.comment.id;
    harness.perform(workspace, &vote(reference, Some(("bo@example.com", None)), Some("<p>Wants it</p>"))).await;
    harness.perform(workspace, &vote(reference, None, Some("<p>Asked for</p>"))).await;
    harness.move_to(workspace, request, "Planned").await;
    harness.next_second();
    harness.perform(workspace, &edit_comment(of_team, "<p>Sooner</p>")).await;
    add(&harness, workspace, 1).await;

    let ann = harness.customer(workspace, "ann@example.com").await;
    let bo = harness.customer(workspace, "bo@example.com").await;
    let dark = request_snapshot(&harness.detail(workspace, request).await, description.text());
    assert_eq!((dark.description.chars().count(), dark.votes_count), (500, 2));
    assert_eq!((dark.track.as_str(), dark.status.as_deref()), ("Planned", Some("Planned")));
    assert_eq!((dark.tags.as_slice(), dark.private), (["ui", "Api", "big"].map(str::to_owned).as_slice(), false));
    assert_eq!(dark.author, Some(customer_snapshot(&ann)));
    let export = request_snapshot(&harness.detail(workspace, bare).await, "");
    assert_eq!((export.private, export.status.as_deref(), export.votes_count), (true, None, 0));
    assert!(export.tags.is_empty() && export.author.is_none());

    let comments = harness.comments(workspace, request).await;
    let listed = |id| comments.iter().find(|listed| listed.comment.id == id).map(comment_snapshot).unwrap();
    let soon = CommentSnapshot { member: Some(member_snapshot(&mia)), ..listed(of_team) };
    assert_eq!((soon.content.as_str(), soon.updated_at > soon.created_at), ("<p>Sooner</p>", true));
    let too = CommentSnapshot { customer: Some(customer_snapshot(&bo)), ..listed(of_customer) };
    let notes: Vec<_> = (harness.notes(workspace, request).await.iter())
        .map(|note| NoteSnapshot {
            id: note.id.uuid(),
            body: note.body.as_str().to_owned(),
            author: Some(member_snapshot(&mia)),
            customer: note.customer.as_ref().map(customer_snapshot),
            created_at: note.created_at.millis(),
        })
        .collect();
    assert_eq!(notes.iter().filter(|note| note.customer == Some(customer_snapshot(&bo))).count(), 1);
    let note = |place: usize| NoteId::new(notes[place].id);

    let none = EventRecords::default;
    let nothing = EventSnapshot::default;
    let by_address = Some(EventCustomer::Address(folded("ANN@example.com")));
    let cases = [
        (
            EventRecords { request: Some(request), ..none() },
            EventSnapshot { feature_request: Some(dark.clone()), ..nothing() },
        ),
        (EventRecords { request: Some(bare), ..none() }, EventSnapshot { feature_request: Some(export), ..nothing() }),
        (
            EventRecords { customer: Some(EventCustomer::Id(bo.id)), ..none() },
            EventSnapshot { customer: Some(customer_snapshot(&bo)), ..nothing() },
        ),
        (
            EventRecords { customer: by_address.clone(), ..none() },
            EventSnapshot { customer: Some(customer_snapshot(&ann)), ..nothing() },
        ),
        (EventRecords { comment: Some(of_team), ..none() }, EventSnapshot { comment: Some(soon), ..nothing() }),
        (
            EventRecords { comment: Some(of_customer), ..none() },
            EventSnapshot { comment: Some(too.clone()), ..nothing() },
        ),
        (
            EventRecords { comment: Some(anonymous), ..none() },
            EventSnapshot { comment: Some(listed(anonymous)), ..nothing() },
        ),
        (
            EventRecords { note: Some(note(0)), ..none() },
            EventSnapshot { reference_note: Some(notes[0].clone()), ..nothing() },
        ),
        (
            EventRecords {
                request: Some(request),
                customer: by_address,
                comment: Some(of_customer),
                note: Some(note(1)),
                changelog: None,
            },
            EventSnapshot {
                feature_request: Some(dark),
                customer: Some(customer_snapshot(&ann)),
                comment: Some(too),
                reference_note: Some(notes[1].clone()),
                changelog: None,
            },
        ),
    ];
    let (records, expected): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
    let recorded = snapshots(&harness, workspace, records).await;
    for (place, (recorded, expected)) in recorded.iter().zip(&expected).enumerate() {
        assert_eq!(recorded, expected, "{place}");
    }
}

/// A changelog with its cover and what it is about: merged ones are their targets, and private ones are marked.
pub async fn events_have_the_changelog_that_they_are_about(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let cover = harness.attachment(workspace, 1).await;
    let requests = harness.requests(workspace, ["Quokka", "Fern", "Lichen", "Gecko"]).await;
    let [quokka, fern, lichen, gecko] = requests.map(|request| request.id);
    harness.move_to(workspace, quokka, "Done").await;
    harness.edit(workspace, lichen, new_visibility(true)).await;
    let full = ChangelogDraft {
        title: Title::parse("title", "Version \"2\"").unwrap(),
        content: CleanHtml::parse("content", "<p>It's \"new\"</p>").unwrap(),
        category: Some(ChangelogCategory::Improved),
        cover: Some(cover.id),
        publication: Publication::Now,
        notifies: false,
        feature_requests: vec![fern, lichen, gecko, quokka],
    };
    let plain = ChangelogDraft {
        category: None,
        cover: None,
        publication: Publication::Never,
        feature_requests: Vec::new(),
        ..full.clone()
    };
    let mut expected = Vec::new();
    let mut records = Vec::new();
    for draft in [full, plain] {
        let created = harness.perform(workspace, &CreateChangelog { draft }).await.changelog;
        harness.next_second();
        let title = Title::parse("title", &format!("{}.1", created.title)).ok();
        let change = ChangelogChange { title, ..ChangelogChange::default() };
        let edited = harness.perform(workspace, &EditChangelog { changelog: created.id, change }).await;
        let changelog = edited.detail.changelog;
        records.push(EventRecords { changelog: Some(changelog.id), ..EventRecords::default() });
        expected.push(ChangelogSnapshot {
            id: changelog.id.uuid(),
            title: changelog.title.to_string(),
            content: changelog.content.as_str().to_owned(),
            category: changelog.category.map(|category| category.name().to_owned()),
            cover: None,
            published_at: changelog.public_from.map(Timestamp::millis),
            created_at: changelog.created_at.millis(),
            updated_at: changelog.updated_at.millis(),
            feature_requests: Vec::new(),
        });
    }
    harness.merge(workspace, fern, gecko).await;
    for linked in [gecko, lichen, quokka] {
        let FeatureRequestDetail { summary, private, .. } = harness.detail(workspace, linked).await;
        expected[0].feature_requests.push(LinkedSnapshot {
            id: summary.id.uuid(),
            tag_number: summary.tag_number,
            title: summary.title.to_string(),
            status: summary.placement.status.as_ref().map(ToString::to_string),
            private,
        });
    }
    let filename = cover.filename.as_str().to_owned();
    expected[0].cover = Some(CoverSnapshot { attachment: cover.id.uuid(), filename });
    let linked = &expected[0].feature_requests;
    assert_eq!(linked.iter().map(|request| request.private).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(linked[2].status.as_deref(), Some("Done"));
    add(&harness, workspace, 1).await;
    let recorded = snapshots(&harness, workspace, records).await;
    let of_changelogs: Vec<_> = recorded.into_iter().map(|snapshot| snapshot.changelog.unwrap()).collect();
    assert_eq!(of_changelogs, expected);
}

/// An event about what does not exist, or belongs to another workspace, is recorded without it.
pub async fn records_that_do_not_exist_are_left_out(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    harness.member(workspace, "mia@example.com", "Mia").await;
    let request = harness.request(workspace, "Dark mode").await.id;
    let reference = FeatureRequestRef::Id(request);
    harness.perform(workspace, &vote(reference, Some(("ann@example.com", None)), Some("note"))).await;
    let posted = harness.perform(workspace, &comment(reference, "<p>Soon</p>", false)).await.comment.id;
    let note = harness.notes(workspace, request).await[0].id;
    let ann = harness.customer(workspace, "ann@example.com").await;
    let changelog = a_changelog(1, harness.now(), None);
    harness.perform(workspace, &InsertChangelog(changelog.clone())).await;
    for owner in [workspace, other] {
        add(&harness, owner, 1).await;
    }
    let there = EventRecords {
        request: Some(request),
        customer: Some(EventCustomer::Id(ann.id)),
        comment: Some(posted),
        note: Some(note),
        changelog: Some(changelog.id),
    };
    let by_address = EventCustomer::Address(folded("ann@example.com"));
    let by_address = EventRecords { customer: Some(by_address), ..EventRecords::default() };
    let unknown = Uuid::from_u128(99);
    let nowhere = EventRecords {
        request: Some(FeatureRequestId::new(unknown)),
        customer: Some(EventCustomer::Id(CustomerId::new(unknown))),
        comment: Some(CommentId::new(unknown)),
        note: Some(NoteId::new(unknown)),
        changelog: Some(ChangelogId::new(unknown)),
    };
    let nobody = EventCustomer::Address(folded("nobody@example.com"));
    let nobody = EventRecords { customer: Some(nobody), ..EventRecords::default() };
    let found = snapshots(&harness, workspace, vec![there.clone(), by_address.clone(), nowhere, nobody]).await;
    let EventSnapshot { feature_request, customer, comment, reference_note, changelog } = &found[0];
    assert!(feature_request.is_some() && customer.is_some() && comment.is_some(), "{found:?}");
    assert!(reference_note.is_some() && changelog.is_some(), "{found:?}");
    assert!(found[1].customer.is_some());
    assert_eq!(found[2..], [EventSnapshot::default(), EventSnapshot::default()]);
    let elsewhere = snapshots(&harness, other, vec![there, by_address]).await;
    assert_eq!(elsewhere, [EventSnapshot::default(), EventSnapshot::default()]);
}

/// Records are those of the end of the unit of work, or those of before a change if that is asked for.
pub async fn events_have_records_from_before_or_after_a_change(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let request = harness.request(workspace, "Old").await.id;
    add(&harness, workspace, 1).await;
    harness.failure(workspace, &Failing(RenameTold(request, "Lost"))).await;
    harness.perform(workspace, &RenameTold(request, "New")).await;
    harness.perform(workspace, &DeleteTold(request)).await;
    let events = undistributed(&harness, workspace).await;
    let titles: Vec<_> = (events.iter())
        .map(|event| event.snapshot.feature_request.as_ref().map(|request| request.title.as_str()))
        .collect();
    assert_eq!(titles, [Some("Old"), Some("New"), Some("New"), None]);
}

/// Each of many votes at the same time has its own event. One that is replayed, or was there, has none.
pub async fn each_of_many_votes_has_its_event(harness: Harness) {
    const VOTERS: usize = 64;
    let workspace = harness.workspace("acme").await;
    harness.request(workspace, "Dark mode").await;
    add(&harness, workspace, 1).await;
    let harness = Arc::new(harness);
    let voters: BTreeSet<String> = (0..VOTERS).map(|number| format!("voter{number}@example.com")).collect();
    for is_again in [false, true] {
        let mut votes = JoinSet::new();
        for (number, voter) in voters.iter().cloned().enumerate() {
            let harness = Arc::clone(&harness);
            votes.spawn(async move {
                let vote = VoteTold(voter.clone());
                if number % 4 == 0 {
                    // Without a key, it is there already.
                    assert_eq!(harness.perform(workspace, &vote).await.vote_registered(), !is_again);
                } else {
                    let response = harness.run(workspace, &voter, &vote, "done").await.unwrap();
                    assert_eq!(response.replayed, is_again);
                }
            });
        }
        votes.join_all().await;
        let events = undistributed(&harness, workspace).await;
        assert_eq!(events.len(), VOTERS);
        let of_event = |event: &StoredEvent| event.snapshot.customer.as_ref().map(|customer| customer.email.clone());
        assert_eq!(events.iter().filter_map(of_event).collect::<BTreeSet<_>>(), voters);
        for event in &events {
            let request = event.snapshot.feature_request.as_ref().unwrap();
            assert!((1..=VOTERS as i64).contains(&request.votes_count), "{event:?}");
            assert_eq!(event.kind, EventKind::VoteCreated);
        }
    }
    assert_eq!(harness.count("votes", workspace).await, VOTERS as u64);
}

/// Deliveries are made once, however often and at the same time an event is distributed. An event that nobody gets is
/// deleted, also if its only webhook is.
pub async fn events_are_distributed_once(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let [first, second] = [add(&harness, workspace, 1).await.id, add(&harness, workspace, 2).await.id];
    add(&harness, other, 1).await;
    let at = harness.now();
    let events = record(&harness, workspace, 4).await;
    let stored = undistributed(&harness, workspace).await;
    let now = harness.next_second();
    let includes = Inclusion { private: true, emails: false };
    let kind = EventKind::FeatureRequestCreated;
    let deliveries = [
        delivery(first, events[0], at),
        NewDelivery { kind, includes, ..delivery(second, events[0], at) },
        NewDelivery { failure: Some(Failure::Disabled), ..delivery(first, events[1], at) },
        delivery(webhook_id(9), events[2], at),
    ];
    let queue = harness.subject.webhook_queue.clone();
    queue.distribute(other, &events, &deliveries, BACKLOG, now).await.unwrap();
    assert_eq!(undistributed(&harness, workspace).await, stored);
    for later in [now, harness.next_second()] {
        queue.distribute(workspace, &events, &deliveries, BACKLOG, later).await.unwrap();
        assert_eq!(undistributed(&harness, workspace).await, []);
        assert_eq!(queue.workspaces_with_events().await.unwrap(), []);
        let expected = [failed(events[1], at, Failure::Disabled), waiting(events[0], at, now)];
        assert_eq!(listed(&harness, workspace, first).await, expected);
        let expected = Delivery { kind, includes, ..waiting(events[0], at, now) };
        assert_eq!(listed(&harness, workspace, second).await, std::slice::from_ref(&expected));
        let event = stored[0].clone();
        let detail = DeliveryDetail { delivery: expected, event, attempts: Vec::new() };
        assert_eq!(shown(&harness, workspace, second, events[0]).await, Some(detail));
        assert_eq!(shown(&harness, workspace, first, events[2]).await, None);
        assert_eq!(harness.count("webhook_events", workspace).await, 2);
    }
    assert_eq!(harness.count("webhook_deliveries", other).await, 0);

    let events = record(&harness, workspace, 20).await;
    let harness = Arc::new(harness);
    let mut workers = JoinSet::new();
    for _ in 0..4 {
        let (harness, events) = (Arc::clone(&harness), events.clone());
        workers.spawn(async move { distribute(&harness, workspace, &events, &[first], None).await });
    }
    workers.join_all().await;
    assert_eq!(undistributed(&harness, workspace).await, []);
    assert_eq!(harness.count("webhook_events", workspace).await, 22);
    assert_eq!(harness.count("webhook_deliveries", workspace).await, 23);
}

/// Of too many deliveries that wait for a webhook, the oldest fail. Others do not count.
pub async fn of_a_backlog_the_oldest_fail(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [first, second] = [add(&harness, workspace, 1).await.id, add(&harness, workspace, 2).await.id];
    deliver(&harness, workspace, &[first, second], 3).await;
    fail(&harness, workspace, first, 1).await;
    let (queue, now) = (&harness.subject.webhook_queue, harness.next_second());
    let events = record(&harness, workspace, 2).await;
    let deliveries: Vec<_> = events.iter().map(|event| delivery(first, *event, now)).collect();
    queue.distribute(workspace, &events[..1], &deliveries[..1], 4, now).await.unwrap();
    let wait = (DeliveryState::Waiting, None);
    let given_up = (DeliveryState::Failed, Some(Failure::GaveUp));
    let too_many = (DeliveryState::Failed, Some(Failure::Backlog));
    assert_eq!(states(&harness, workspace, first).await, [wait, wait, wait, given_up, wait]);
    queue.distribute(workspace, &events[1..], &deliveries[1..], 3, now).await.unwrap();
    assert_eq!(states(&harness, workspace, first).await, [too_many, too_many, wait, given_up, wait, wait]);
    assert_eq!(states(&harness, workspace, second).await, [wait, wait, wait]);
    assert_eq!(lease(&harness, workspace, first, 10).await.len(), 3);
}

/// Test events come first, then what has been due longest, and of that the oldest events. A delivery is leased again as
/// soon as its lease has expired.
pub async fn due_deliveries_are_leased_in_order(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let queue = &harness.subject.webhook_queue;
    let saved = add(&harness, workspace, 1).await;
    let webhook = add(&harness, other, 1).await.id;
    let late = record(&harness, workspace, 2).await;
    let soon = record(&harness, workspace, 3).await;
    let stored = undistributed(&harness, workspace).await;
    distribute(&harness, workspace, &soon, &[webhook], None).await;
    harness.next_second();
    distribute(&harness, workspace, &late, &[webhook], None).await;
    let now = harness.next_second();
    let test = harness.perform(workspace, &SendTest(webhook)).await;
    assert_eq!(undistributed(&harness, workspace).await, []);
    assert_eq!(queue.due_webhooks(now).await.unwrap(), [(workspace, webhook)]);

    let until = now.plus(LEASE);
    let leased = queue.lease(workspace, webhook, now, until, 1).await.unwrap().unwrap();
    assert_eq!((&leased.webhook, leased.subdomain.as_str()), (&saved, "acme"));
    assert_eq!(events_of(&leased.deliveries), [test]);
    let event = &leased.deliveries[0].event;
    assert_eq!((event.kind, &event.details), (EventKind::WebhookTest, &test_details(webhook)));
    assert_eq!((&event.snapshot, event.at), (&EventSnapshot::default(), now));
    let leased = queue.lease(workspace, webhook, now, until, 2).await.unwrap().unwrap().deliveries;
    let expected: Vec<_> = (stored[2..4].iter().cloned())
        .map(|event| LeasedDelivery {
            lease: DeliveryLease { webhook, event: event.id, until },
            event,
            includes: Inclusion::default(),
            nth: NonZeroU32::MIN,
        })
        .collect();
    assert_eq!(leased, expected);
    assert_eq!(events_of(&lease(&harness, workspace, webhook, 1).await), soon[2..]);
    assert_eq!(events_of(&lease(&harness, workspace, webhook, 10).await), late);
    assert_eq!(lease(&harness, workspace, webhook, 10).await, []);
    assert_eq!(lease(&harness, other, webhook, 10).await, []);
    assert_eq!(queue.lease(workspace, webhook_id(9), now, until, 10).await.unwrap(), None);
    assert_eq!(queue.due_webhooks(now).await.unwrap(), []);
    for delivery in listed(&harness, workspace, webhook).await {
        assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Waiting, 0));
    }

    harness.clock.advance(LEASE - Duration::MILLISECOND);
    assert_eq!(lease(&harness, workspace, webhook, 10).await, []);
    harness.next_second();
    assert_eq!(queue.due_webhooks(harness.now()).await.unwrap(), [(workspace, webhook)]);
    let again: BTreeSet<_> = events_of(&lease(&harness, workspace, webhook, 10).await).into_iter().collect();
    assert_eq!(again, BTreeSet::from_iter([late, soon, vec![test]].concat()));
}

/// Workers that lease at the same time get different deliveries.
pub async fn no_delivery_is_leased_twice(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let webhook = add(&harness, workspace, 1).await.id;
    let events = deliver(&harness, workspace, &[webhook], 12).await;
    let harness = Arc::new(harness);
    let mut workers = JoinSet::new();
    for _ in 0..4 {
        let harness = Arc::clone(&harness);
        workers.spawn(async move { events_of(&lease(&harness, workspace, webhook, 3).await) });
    }
    let mut leased: Vec<_> = workers.join_all().await.into_iter().flatten().collect();
    leased.extend(events_of(&lease(&harness, workspace, webhook, 100).await));
    leased.sort_unstable();
    assert_eq!(leased, events);
}

/// A disabled webhook gets test events, and nothing else.
pub async fn a_disabled_webhook_gets_only_test_events(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let saved = add(&harness, workspace, 1).await;
    let events = deliver(&harness, workspace, &[saved.id], 2).await;
    harness.perform(workspace, &Save(disabled(&saved, harness.now()))).await;
    let test = harness.perform(workspace, &SendTest(saved.id)).await;
    assert_eq!(events_of(&lease(&harness, workspace, saved.id, 10).await), [test]);
    assert_eq!(lease(&harness, workspace, saved.id, 10).await, []);
    harness.perform(workspace, &Save(saved.clone())).await;
    assert_eq!(events_of(&lease(&harness, workspace, saved.id, 10).await), events);
}

/// The first failure begins the failing of a webhook, others are counted, and a success ends it. Tests do not matter.
pub async fn tries_decide_about_deliveries_and_their_webhook(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let fine = add(&harness, workspace, 1).await;
    let other = add(&harness, workspace, 2).await;
    let webhook = fine.id;
    let created_at = harness.now();
    let events = deliver(&harness, workspace, &[webhook], 5).await;
    let leased = lease(&harness, workspace, webhook, 10).await;
    assert_eq!(events_of(&leased), events);
    let first_at = harness.next_second();
    let again = first_at.plus(Duration::HOUR);
    let since = |failed_tries| Webhook { failing_since: Some(first_at), failed_tries, ..fine.clone() };
    let mut expected = Vec::new();
    for (place, error, outcome, left) in [
        (0, None, DeliveryOutcome::Delivered, fine.clone()),
        (1, Some(AttemptError::Status), DeliveryOutcome::Postponed(again), since(1)),
        (2, Some(AttemptError::Timeout), DeliveryOutcome::Failed(Failure::GaveUp), since(2)),
        (3, Some(AttemptError::Blocked), DeliveryOutcome::Failed(Failure::Blocked), since(3)),
    ] {
        assert_eq!(settle(&harness, workspace, &leased[place], error, outcome).await, Some(left.clone()));
        assert_eq!(harness.subject.reader.webhooks(workspace).await.unwrap(), [left, other.clone()]);
        let (state, failure, due_at) = match outcome {
            DeliveryOutcome::Delivered => (DeliveryState::Delivered, None, None),
            DeliveryOutcome::Failed(failure) => (DeliveryState::Failed, Some(failure), None),
            DeliveryOutcome::Postponed(at) => (DeliveryState::Waiting, None, Some(at)),
        };
        let last_attempt = Some(attempt(harness.now(), error));
        let tried = waiting(events[place], created_at, created_at);
        expected.push(Delivery { state, failure, due_at, attempts: 1, last_attempt, ..tried });
        // The first failure is the second try.
        if place > 0 {
            harness.next_second();
        }
    }
    let tried: Vec<_> = listed(&harness, workspace, webhook).await.into_iter().rev().take(4).collect();
    assert_eq!(tried, expected);
    for (error, outcome) in
        [(Some(AttemptError::Tls), DeliveryOutcome::Failed(Failure::GaveUp)), (None, DeliveryOutcome::Delivered)]
    {
        harness.perform(workspace, &SendTest(webhook)).await;
        let test = lease(&harness, workspace, webhook, 1).await;
        assert_eq!(settle(&harness, workspace, &test[0], error, outcome).await, Some(since(3)));
    }
    let left = settle(&harness, workspace, &leased[4], None, DeliveryOutcome::Delivered).await;
    assert_eq!(left, Some(fine.clone()));
    assert_eq!(harness.subject.reader.webhooks(workspace).await.unwrap(), [fine, other]);
}

/// Tries are counted and kept, also when a delivery is to be delivered again. Then it begins with the first try.
pub async fn tries_are_kept_and_counted(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let webhook = add(&harness, workspace, 1).await.id;
    let created_at = harness.now();
    let events = record(&harness, workspace, 1).await;
    let stored = undistributed(&harness, workspace).await.remove(0);
    distribute(&harness, workspace, &events, &[webhook], None).await;
    let (queue, event) = (&harness.subject.webhook_queue, events[0]);
    let mut attempts: Vec<Attempt> = Vec::new();
    for (nth, error) in [
        (1, Some(AttemptError::Status)),
        (2, Some(AttemptError::Unreachable)),
        (3, None),
        // Delivered again.
        (1, Some(AttemptError::Tls)),
        (2, None),
    ] {
        let leased = lease(&harness, workspace, webhook, 10).await;
        assert_eq!(leased.iter().map(|delivery| delivery.nth.get()).collect::<Vec<u32>>(), [nth]);
        let attempt = attempt(harness.next_second(), error);
        let again = harness.now().plus(Duration::HOUR);
        let (state, outcome, due_at) = match error {
            None => (DeliveryState::Delivered, DeliveryOutcome::Delivered, None),
            Some(_) => (DeliveryState::Waiting, DeliveryOutcome::Postponed(again), Some(again)),
        };
        assert!(queue.settle(workspace, &leased[0].lease, &attempt, outcome).await.unwrap().is_some());
        attempts.push(attempt.clone());
        let tried = u32::try_from(attempts.len()).unwrap();
        let last_attempt = Some(attempt);
        let delivery =
            Delivery { state, due_at, attempts: tried, last_attempt, ..waiting(event, created_at, created_at) };
        assert_eq!(listed(&harness, workspace, webhook).await, std::slice::from_ref(&delivery));
        let found = Delivery { last_attempt: None, ..delivery.clone() };
        assert_eq!(harness.perform(workspace, &Find(webhook, event)).await, Some(found));
        let detail = DeliveryDetail { delivery, event: stored.clone(), attempts: attempts.clone() };
        assert_eq!(shown(&harness, workspace, webhook, event).await, Some(detail));
        assert_eq!(lease(&harness, workspace, webhook, 10).await, []);
        harness.clock.advance(Duration::HOUR);
        if attempts.len() == 3 {
            assert_eq!(queue.due_webhooks(harness.now()).await.unwrap(), []);
            harness.perform(workspace, &Redeliver(webhook, event)).await;
            let found = harness.perform(workspace, &Find(webhook, event)).await.unwrap();
            assert_eq!(found, Delivery { attempts: 3, ..waiting(event, created_at, harness.now()) });
        }
    }
    assert_eq!(harness.count("webhook_attempts", workspace).await, 5);
}

/// A try whose lease has expired, or was taken away, changes nothing.
pub async fn a_lost_lease_changes_nothing(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let saved = add(&harness, workspace, 1).await;
    let webhook = saved.id;
    let error = Some(AttemptError::Status);
    let gave_up = DeliveryOutcome::Failed(Failure::GaveUp);
    deliver(&harness, workspace, &[webhook], 1).await;
    let lost = lease(&harness, workspace, webhook, 1).await.remove(0);
    harness.clock.advance(LEASE);
    harness.next_second();
    let leased = lease(&harness, workspace, webhook, 1).await.remove(0);
    assert_eq!(settle(&harness, workspace, &lost, error, gave_up).await, None);
    assert_eq!(shown(&harness, workspace, webhook, lost.event.id).await.unwrap().attempts, []);
    assert!(settle(&harness, workspace, &leased, None, DeliveryOutcome::Delivered).await.is_some());
    assert_eq!(settle(&harness, workspace, &leased, error, gave_up).await, None);
    assert_eq!(shown(&harness, workspace, webhook, lost.event.id).await.unwrap().attempts.len(), 1);

    // Delivered again, failed or deleted meanwhile.
    let event = deliver(&harness, workspace, &[webhook], 1).await[0];
    let lost = lease(&harness, workspace, webhook, 1).await.remove(0);
    let at = harness.next_second();
    harness.perform(workspace, &Redeliver(webhook, event)).await;
    assert_eq!(settle(&harness, workspace, &lost, error, gave_up).await, None);
    assert_eq!(harness.perform(workspace, &Find(webhook, event)).await.unwrap().due_at, Some(at));
    let lost = lease(&harness, workspace, webhook, 1).await.remove(0);
    harness.perform(workspace, &FailWaiting(webhook, Failure::Disabled)).await;
    assert_eq!(settle(&harness, workspace, &lost, error, DeliveryOutcome::Postponed(at)).await, None);
    let found = harness.perform(workspace, &Find(webhook, event)).await.unwrap();
    assert_eq!((found.failure, found.due_at, found.attempts), (Some(Failure::Disabled), None, 0));
    assert_eq!(harness.subject.reader.webhooks(workspace).await.unwrap(), [saved]);
    harness.perform(workspace, &Redeliver(webhook, event)).await;
    let lost = lease(&harness, workspace, webhook, 1).await.remove(0);
    harness.perform(workspace, &Delete(webhook)).await;
    assert_eq!(settle(&harness, workspace, &lost, error, gave_up).await, None);
    assert_eq!(harness.count("webhook_attempts", workspace).await, 0);
}

/// What was not tried is due again at once, with the same number of tries. An expired lease is not given back.
pub async fn leases_are_given_back(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let webhook = add(&harness, workspace, 1).await.id;
    let queue = &harness.subject.webhook_queue;
    let events = deliver(&harness, workspace, &[webhook], 2).await;
    let leases = |leased: &[LeasedDelivery]| leased.iter().map(|delivery| delivery.lease.clone()).collect::<Vec<_>>();
    let leased = lease(&harness, workspace, webhook, 10).await;
    let now = harness.next_second();
    queue.give_back(workspace, &leases(&leased), now).await.unwrap();
    let found = harness.perform(workspace, &Find(webhook, events[0])).await.unwrap();
    assert_eq!((found.state, found.due_at <= Some(now)), (DeliveryState::Waiting, true));
    let again = lease(&harness, workspace, webhook, 10).await;
    assert_eq!(events_of(&again), events);
    assert!(again.iter().all(|delivery| delivery.nth == NonZeroU32::MIN), "{again:?}");
    for nothing in [leases(&leased), Vec::new()] {
        queue.give_back(workspace, &nothing, now).await.unwrap();
        assert_eq!(lease(&harness, workspace, webhook, 10).await, []);
    }
    assert!(settle(&harness, workspace, &again[0], None, DeliveryOutcome::Delivered).await.is_some());
    queue.give_back(workspace, &leases(&again), harness.now()).await.unwrap();
    assert_eq!(events_of(&lease(&harness, workspace, webhook, 10).await), events[1..]);
}

/// An event that cannot be read fails, and holds up no other one.
pub async fn an_unreadable_event_holds_up_no_other(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let webhook = add(&harness, workspace, 1).await.id;
    let queue = &harness.subject.webhook_queue;
    let mut ids = record(&harness, workspace, 1).await;
    harness.subject.probe.execute("UPDATE webhook_events SET kind = 'unheard.of'").await;
    ids.extend(record(&harness, workspace, 2).await);
    let found = queue.undistributed_events(workspace, 10).await.unwrap();
    assert_eq!(found.ids, ids);
    assert_eq!(found.events.iter().map(|event| event.id).collect::<Vec<_>>(), ids[1..]);
    distribute(&harness, workspace, &ids, &[webhook], None).await;
    assert_eq!(events_of(&lease(&harness, workspace, webhook, 10).await), ids[1..]);
    let wait = (DeliveryState::Waiting, None);
    let given_up = (DeliveryState::Failed, Some(Failure::GaveUp));
    assert_eq!(states(&harness, workspace, webhook).await, [given_up, wait, wait]);
    harness.clock.advance(LEASE);
    harness.next_second();
    assert_eq!(events_of(&lease(&harness, workspace, webhook, 10).await), ids[1..]);
}

/// All failed deliveries since a time wait again, except for test events.
pub async fn failed_deliveries_wait_again(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [webhook, other] = [add(&harness, workspace, 1).await.id, add(&harness, workspace, 2).await.id];
    let old_at = harness.now();
    let old = fail(&harness, workspace, webhook, 1).await;
    let since = harness.next_second();
    let new = fail(&harness, workspace, webhook, 2).await;
    fail(&harness, workspace, other, 1).await;
    let delivered = deliver(&harness, workspace, &[webhook], 1).await;
    let leased = lease(&harness, workspace, webhook, 1).await.remove(0);
    settle(&harness, workspace, &leased, None, DeliveryOutcome::Delivered).await;
    let waits = deliver(&harness, workspace, &[webhook], 1).await;
    let test = harness.perform(workspace, &SendTest(webhook)).await;
    let leased = lease(&harness, workspace, webhook, 1).await.remove(0);
    settle(&harness, workspace, &leased, Some(AttemptError::Tls), DeliveryOutcome::Failed(Failure::GaveUp)).await;
    let before = listed(&harness, workspace, webhook).await;

    let at = harness.next_second();
    harness.failure(workspace, &Failing(RedeliverFailed(webhook, since))).await;
    assert_eq!(listed(&harness, workspace, webhook).await, before);
    assert_eq!(harness.perform(workspace, &RedeliverFailed(webhook, at)).await, 0);
    assert_eq!(harness.perform(workspace, &RedeliverFailed(webhook, since)).await, 2);
    assert_eq!(harness.perform(workspace, &RedeliverFailed(webhook, since)).await, 0);
    let after = listed(&harness, workspace, webhook).await;
    assert_eq!(
        after.iter().map(|delivery| delivery.event).collect::<Vec<_>>(),
        [test, waits[0], delivered[0], new[1], new[0], old[0]]
    );
    assert_eq!((&after[..3], &after[5..]), (&before[..3], &before[5..]));
    assert_eq!(after[3..5], [waiting(new[1], since, at), waiting(new[0], since, at)]);
    assert_eq!(after[5], failed(old[0], old_at, Failure::GaveUp));
    let leased: BTreeSet<_> = events_of(&lease(&harness, workspace, webhook, 10).await).into_iter().collect();
    assert_eq!(leased, BTreeSet::from_iter([waits, new].concat()));
    let other_state = (DeliveryState::Failed, Some(Failure::GaveUp));
    assert_eq!(states(&harness, workspace, other).await, [other_state]);
    // One alone waits again whatever it is.
    for event in [old[0], delivered[0], test] {
        let at = harness.next_second();
        harness.perform(workspace, &Redeliver(webhook, event)).await;
        let found = harness.perform(workspace, &Find(webhook, event)).await.unwrap();
        assert_eq!((found.state, found.failure, found.due_at), (DeliveryState::Waiting, None, Some(at)));
    }
    assert_eq!(lease(&harness, workspace, webhook, 10).await.len(), 3);
}

/// What waits for a webhook fails when it is disabled, except for test events.
pub async fn what_waits_fails_except_for_test_events(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let [webhook, other] = [add(&harness, workspace, 1).await.id, add(&harness, workspace, 2).await.id];
    let created_at = harness.now();
    let events = deliver(&harness, workspace, &[webhook, other], 3).await;
    let given_up = fail(&harness, workspace, webhook, 1).await[0];
    let leased = lease(&harness, workspace, webhook, 2).await;
    settle(&harness, workspace, &leased[0], None, DeliveryOutcome::Delivered).await;
    let test = harness.perform(workspace, &SendTest(webhook)).await;
    let before = listed(&harness, workspace, webhook).await;
    harness.failure(workspace, &Failing(FailWaiting(webhook, Failure::Gone))).await;
    assert_eq!(listed(&harness, workspace, webhook).await, before);
    harness.perform(workspace, &FailWaiting(webhook, Failure::Disabled)).await;
    let after = listed(&harness, workspace, webhook).await;
    assert_eq!(
        after.iter().map(|delivery| delivery.event).collect::<Vec<_>>(),
        [test, given_up, events[2], events[1], events[0]]
    );
    assert_eq!((&after[..2], &after[4..]), (&before[..2], &before[4..]));
    let is_disabled = |event| failed(event, created_at, Failure::Disabled);
    assert_eq!(after[2..4], [is_disabled(events[2]), is_disabled(events[1])]);
    assert_eq!(events_of(&lease(&harness, workspace, webhook, 10).await), [test]);
    assert_eq!(states(&harness, workspace, other).await, [(DeliveryState::Waiting, None); 3]);
}

/// Deliveries are listed newest first, in pages, also those in one state.
pub async fn deliveries_are_listed_in_pages(harness: Harness) {
    let workspace = harness.workspace("acme").await;
    let webhook = add(&harness, workspace, 1).await.id;
    let mut events = deliver(&harness, workspace, &[webhook], 3).await;
    harness.next_second();
    events.extend(deliver(&harness, workspace, &[webhook], 2).await);
    let leased = lease(&harness, workspace, webhook, 4).await;
    for (place, error, outcome) in [
        (0, None, DeliveryOutcome::Delivered),
        (2, Some(AttemptError::Status), DeliveryOutcome::Failed(Failure::GaveUp)),
        (3, None, DeliveryOutcome::Delivered),
    ] {
        settle(&harness, workspace, &leased[place], error, outcome).await;
    }
    let reader = &harness.subject.reader;
    for (state, number, size, expected, total) in [
        (None, 1, 2, vec![4, 3], 5),
        (None, 2, 2, vec![2, 1], 5),
        (None, 3, 2, vec![0], 5),
        (None, 4, 2, vec![], 5),
        (Some(DeliveryState::Waiting), 1, 10, vec![4, 1], 2),
        (Some(DeliveryState::Delivered), 1, 10, vec![3, 0], 2),
        (Some(DeliveryState::Delivered), 2, 1, vec![0], 2),
        (Some(DeliveryState::Failed), 1, 10, vec![2], 1),
    ] {
        let listing = reader.deliveries(workspace, webhook, state, page(number, size)).await.unwrap();
        let expected: Vec<_> = expected.into_iter().map(|place: usize| events[place]).collect();
        assert_eq!(listing.items.iter().map(|delivery| delivery.event).collect::<Vec<_>>(), expected, "{state:?}");
        assert_eq!(listing.total, total, "{state:?}");
        for delivery in listing.items {
            let detail = shown(&harness, workspace, webhook, delivery.event).await.unwrap();
            assert_eq!((&detail.delivery, detail.event.id), (&delivery, delivery.event));
            assert_eq!(detail.attempts.last(), delivery.last_attempt.as_ref());
        }
    }
    let unknown = reader.deliveries(workspace, webhook_id(9), None, page(1, 10)).await.unwrap();
    assert_eq!((unknown.items, unknown.total), (Vec::new(), 0));
    assert_eq!(shown(&harness, workspace, webhook_id(9), events[0]).await, None);
}

/// Ended deliveries are purged when they are old, and when there are too many, in small parts. What waits stays.
///
/// An event goes with its last delivery.
pub async fn ended_deliveries_are_purged(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let queue = &harness.subject.webhook_queue;
    let [first, second] = [add(&harness, workspace, 1).await.id, add(&harness, workspace, 2).await.id];
    add(&harness, other, 1).await;
    let now = harness.now();
    let events = record(&harness, workspace, 3).await;
    let has_failed = |delivery| NewDelivery { failure: Some(Failure::GaveUp), ..delivery };
    let deliveries = [
        has_failed(delivery(first, events[0], now)),
        delivery(second, events[0], now),
        has_failed(delivery(first, events[1], now)),
        delivery(first, events[2], now),
    ];
    queue.distribute(workspace, &events, &deliveries, BACKLOG, now).await.unwrap();
    fail(&harness, other, first, 1).await;
    let before = harness.next_second();
    let new = fail(&harness, workspace, first, 1).await[0];
    assert_eq!(queue.purge(now, 100, 100).await.unwrap(), 0);
    assert_eq!(queue.purge(before, 100, 100).await.unwrap(), 3);
    assert_eq!(queue.purge(before, 100, 100).await.unwrap(), 0);
    assert_eq!(listed_events(&harness, workspace, first).await, [new, events[2]]);
    assert_eq!(listed_events(&harness, workspace, second).await, events[..1]);
    assert_eq!(harness.count("webhook_events", workspace).await, 3);
    assert_eq!(harness.count("webhook_events", other).await, 0);

    // The older one of these two stays because it waits.
    let leased = lease(&harness, workspace, second, 10).await;
    let newer = fail(&harness, workspace, second, 5).await;
    for purged in [2, 1, 0] {
        assert_eq!(queue.purge(now, 2, 2).await.unwrap(), purged);
    }
    assert_eq!(listed_events(&harness, workspace, second).await, [newer[4], newer[3], events[0]]);
    settle(&harness, workspace, &leased[0], None, DeliveryOutcome::Delivered).await;
    assert_eq!(harness.count("webhook_attempts", workspace).await, 1);
    assert_eq!(queue.purge(now, 2, 2).await.unwrap(), 1);
    assert_eq!(listed_events(&harness, workspace, second).await, [newer[4], newer[3]]);
    assert_eq!(harness.count("webhook_attempts", workspace).await, 0);
    assert_eq!(harness.count("webhook_events", workspace).await, 4);
}

/// The numbers are those of all workspaces.
pub async fn the_depth_is_that_of_all_workspaces(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let queue = &harness.subject.webhook_queue;
    assert_eq!(queue.depth(harness.now()).await.unwrap(), WebhookDepth::default());
    let webhook = add(&harness, workspace, 1).await.id;
    add(&harness, other, 1).await;
    let off = add(&harness, workspace, 2).await;
    harness.perform(workspace, &Save(disabled(&off, harness.now()))).await;
    deliver(&harness, workspace, &[webhook], 1).await;
    let postponed = lease(&harness, workspace, webhook, 1).await.remove(0);
    let now = harness.next_second();
    let again = now.plus(Duration::HOUR);
    settle(&harness, workspace, &postponed, Some(AttemptError::Tls), DeliveryOutcome::Postponed(again)).await;
    deliver(&harness, workspace, &[webhook], 1).await;
    assert_eq!(lease(&harness, workspace, webhook, 1).await.len(), 1);
    let due_at = harness.next_second();
    deliver(&harness, workspace, &[webhook], 1).await;
    harness.next_second();
    deliver(&harness, other, &[webhook], 1).await;
    fail(&harness, other, webhook, 1).await;
    let depth = WebhookDepth {
        due: 2,
        leased: 1,
        postponed: 1,
        failed: 1,
        oldest_due_at: Some(due_at),
        enabled: 2,
        disabled: 1,
    };
    assert_eq!(queue.depth(harness.now()).await.unwrap(), depth);
    let due: BTreeSet<_> = queue.due_webhooks(harness.now()).await.unwrap().into_iter().collect();
    assert_eq!(due, BTreeSet::from([(workspace, webhook), (other, webhook)]));
    // The lease has expired.
    let expired = now.plus(LEASE);
    let depth = WebhookDepth { due: 3, leased: 0, ..depth };
    assert_eq!(queue.depth(expired.plus(Duration::SECOND)).await.unwrap(), depth);
}

/// The events that name a customer are deleted with their deliveries, and those that the customer has caused.
pub async fn events_of_a_customer_are_deleted(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let idea = FeatureRequestDraft {
        customer: CustomerDraft::parse(Some("ann@example.com"), Some("Ann")).ok(),
        ..draft("Of Ann", &[], "")
    };
    let own = harness.create(workspace, idea).await.id;
    let request = harness.request(workspace, "Of nobody").await.id;
    let reference = FeatureRequestRef::Id(request);
    let post = customer_comment(reference, "<p>Please</p>", "ann@example.com", None);
    let posted = harness.perform(workspace, &post).await.comment.id;
    harness.perform(workspace, &vote(reference, Some(("ann@example.com", None)), Some("note"))).await;
    harness.perform(workspace, &vote(reference, Some(("bo@example.com", None)), None)).await;
    let note = harness.notes(workspace, request).await[0].id;
    let ann = harness.customer(workspace, "ann@example.com").await.id;
    let bo = harness.customer(workspace, "bo@example.com").await.id;
    let webhook = add(&harness, workspace, 1).await.id;
    add(&harness, other, 1).await;

    let vote_of = |customer| EventDraft::of_vote(EventKind::VoteCreated, request, customer);
    let drafts = vec![
        EventDraft::of_request(EventKind::FeatureRequestUpdated, own),
        vote_of(EventCustomer::Id(ann)),
        vote_of(EventCustomer::Address(folded("Ann@example.com"))),
        EventDraft::of_comment(EventKind::CommentCreated, request, posted),
        EventDraft::of_note(request, note),
        vote_of(EventCustomer::Id(bo)),
    ];
    let of_bo = vec![vote_of(EventCustomer::Id(bo))];
    let mut events = harness.perform(workspace, &Record(drafts.clone())).await;
    distribute(&harness, workspace, &events, &[webhook], None).await;
    let delivered = events[5];
    let recorded = harness.perform(workspace, &Record(drafts)).await;
    events.extend(&recorded);
    let by_ann = harness.executor.acting_as(Origin { actor: Actor::customer(ann), ..Origin::service() });
    events.extend(by_ann.run_without_key(workspace, &Record(of_bo.clone())).await.unwrap());
    let by_bo = harness.executor.acting_as(Origin { actor: Actor::customer(bo), ..Origin::service() });
    let of_bo = by_bo.run_without_key(workspace, &Record(of_bo)).await.unwrap();
    events.extend(&of_bo);
    record(&harness, other, 1).await;

    harness.perform(other, &DeleteEventsOf(ann)).await;
    harness.failure(workspace, &Failing(DeleteEventsOf(ann))).await;
    assert_eq!(harness.count("webhook_events", workspace).await, events.len() as u64);
    harness.perform(workspace, &DeleteEventsOf(ann)).await;
    assert_eq!(listed_events(&harness, workspace, webhook).await, [delivered]);
    let left = undistributed(&harness, workspace).await;
    assert_eq!(left.iter().map(|event| event.id).collect::<Vec<_>>(), [recorded[5], of_bo[0]]);
    assert_eq!(harness.count("webhook_events", workspace).await, 3);
    assert_eq!(harness.count("webhook_events", other).await, 1);
}

/// Nothing of a workspace is seen or changed from another one, which has a webhook with the same ID.
pub async fn other_workspaces_see_and_change_nothing(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let webhook = add(&harness, workspace, 1).await.id;
    add(&harness, other, 1).await;
    let queue = &harness.subject.webhook_queue;
    let events = deliver(&harness, workspace, &[webhook], 2).await;
    let since = harness.now();
    let given_up = fail(&harness, workspace, webhook, 1).await[0];
    let leased = lease(&harness, workspace, webhook, 1).await.remove(0);
    let recorded = record(&harness, workspace, 1).await;
    let before = listed(&harness, workspace, webhook).await;

    assert_eq!(listed(&harness, other, webhook).await, []);
    for event in [events[0], given_up] {
        assert_eq!(shown(&harness, other, webhook, event).await, None);
        assert_eq!(harness.perform(other, &Find(webhook, event)).await, None);
        harness.perform(other, &Redeliver(webhook, event)).await;
    }
    assert_eq!(harness.perform(other, &RedeliverFailed(webhook, since)).await, 0);
    harness.perform(other, &FailWaiting(webhook, Failure::Gone)).await;
    assert_eq!(lease(&harness, other, webhook, 10).await, []);
    assert_eq!(settle(&harness, other, &leased, None, DeliveryOutcome::Delivered).await, None);
    queue.give_back(other, std::slice::from_ref(&leased.lease), harness.now()).await.unwrap();
    assert_eq!(undistributed(&harness, other).await, []);
    distribute(&harness, other, &recorded, &[webhook], None).await;
    assert_eq!(queue.workspaces_with_events().await.unwrap(), [workspace]);
    harness.perform(other, &Delete(webhook)).await;

    assert_eq!(listed(&harness, workspace, webhook).await, before);
    let left = undistributed(&harness, workspace).await;
    assert_eq!(left.iter().map(|event| event.id).collect::<Vec<_>>(), recorded);
    assert!(settle(&harness, workspace, &leased, None, DeliveryOutcome::Delivered).await.is_some());
}

/// A changelog about nothing.
fn a_changelog(number: u128, at: Timestamp, public_from: Option<Timestamp>) -> Changelog {
    Changelog {
        id: ChangelogId::new(Uuid::from_u128(number)),
        title: Title::from_stored(format!("{number}.0")),
        content: CleanHtml::parse("content", "<p>New</p>").unwrap(),
        category: None,
        cover: None,
        public_from,
        created_at: at,
        updated_at: at,
    }
}

/// A scheduled changelog is to be announced when its time has come, once. Drafts are not, and what is published at
/// once is not.
pub async fn scheduled_changelogs_are_announced_once(harness: Harness) {
    let [workspace, other] = [harness.workspace("acme").await, harness.workspace("bolt").await];
    let queue = &harness.subject.webhook_queue;
    let now = harness.now();
    let later = now.plus(Duration::HOUR);
    let [draft, public, scheduled] =
        [(1, None), (2, Some(now)), (3, Some(later))].map(|(number, at)| a_changelog(number, now, at));
    for changelog in [&draft, &public, &scheduled] {
        harness.perform(workspace, &InsertChangelog(changelog.clone())).await;
    }
    harness.perform(other, &InsertChangelog(a_changelog(4, now, Some(later)))).await;
    let foreign = ChangelogId::new(Uuid::from_u128(4));
    let to_announce = async |limit| {
        let found = queue.changelogs_to_announce(harness.now(), limit).await.unwrap();
        found.into_iter().collect::<BTreeSet<_>>()
    };
    let mark = async |workspace, changelog| harness.perform(workspace, &MarkAnnounced(changelog)).await;
    harness.clock.advance(Duration::HOUR - Duration::MILLISECOND);
    assert_eq!(to_announce(10).await, BTreeSet::new());
    assert!(!mark(workspace, scheduled.id).await);
    harness.clock.advance(Duration::MILLISECOND);
    assert_eq!(to_announce(10).await, BTreeSet::from([(workspace, scheduled.id), (other, foreign)]));
    assert_eq!(to_announce(1).await.len(), 1);
    for changelog in [draft.id, public.id, foreign] {
        assert!(!mark(workspace, changelog).await);
    }
    harness.failure(workspace, &Failing(MarkAnnounced(scheduled.id))).await;
    // An edit after its time changes nothing about that.
    harness.next_second();
    harness.perform(workspace, &ReplaceTime(scheduled.id, Some(later))).await;
    assert_eq!(to_announce(10).await.len(), 2);
    assert!(mark(other, foreign).await);
    for is_first in [true, false] {
        assert_eq!(mark(workspace, scheduled.id).await, is_first);
        harness.perform(workspace, &ReplaceTime(scheduled.id, Some(later))).await;
        assert_eq!(to_announce(10).await, BTreeSet::new());
    }

    // Published at once, scheduled, and no longer scheduled by a change.
    let soon = harness.now().plus(Duration::MINUTE);
    harness.perform(workspace, &ReplaceTime(draft.id, Some(harness.now()))).await;
    harness.perform(workspace, &ReplaceTime(public.id, Some(soon))).await;
    harness.perform(workspace, &ReplaceTime(scheduled.id, Some(soon))).await;
    harness.perform(workspace, &ReplaceTime(scheduled.id, None)).await;
    assert_eq!(to_announce(10).await, BTreeSet::new());
    harness.clock.advance(Duration::MINUTE);
    assert_eq!(to_announce(10).await, BTreeSet::from([(workspace, public.id)]));
    for (changelog, is_due) in [(draft.id, false), (scheduled.id, false), (public.id, true)] {
        assert_eq!(mark(workspace, changelog).await, is_due);
    }
}

crate::contract::cases!($ webhooks {
    webhooks_are_saved_listed_and_deleted,
    webhooks_that_are_sealed_otherwise_are_found,
    the_number_of_webhooks_is_limited_also_at_the_same_time,
    events_are_recorded_for_an_enabled_webhook,
    events_have_the_records_that_they_are_about,
    events_have_the_changelog_that_they_are_about,
    records_that_do_not_exist_are_left_out,
    events_have_records_from_before_or_after_a_change,
    each_of_many_votes_has_its_event,
    events_are_distributed_once,
    of_a_backlog_the_oldest_fail,
    due_deliveries_are_leased_in_order,
    no_delivery_is_leased_twice,
    a_disabled_webhook_gets_only_test_events,
    tries_decide_about_deliveries_and_their_webhook,
    tries_are_kept_and_counted,
    a_lost_lease_changes_nothing,
    leases_are_given_back,
    an_unreadable_event_holds_up_no_other,
    failed_deliveries_wait_again,
    what_waits_fails_except_for_test_events,
    deliveries_are_listed_in_pages,
    ended_deliveries_are_purged,
    the_depth_is_that_of_all_workspaces,
    events_of_a_customer_are_deleted,
    other_workspaces_see_and_change_nothing,
    scheduled_changelogs_are_announced_once,
});
