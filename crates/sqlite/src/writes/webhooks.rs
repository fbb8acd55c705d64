//! Webhooks, events and deliveries.

use async_trait::async_trait;
use diesel::dsl::{exists, select};
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
use diesel::{SqliteConnection, delete, update};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{ChangelogId, CustomerId, WebhookEventId, WebhookId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{Delivery, DeliveryState, DisabledBecause, Failure, NewDelivery, Webhook};
use roadmap_domain::model::webhook_event::{EventCustomer, EventDraft, EventKind, EventRecords, NewWebhookEvent};
use roadmap_domain::ports::WebhookWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::{DeliveryRow, details_column, secrets_column};

use crate::codec::uuid_text;
use crate::errors::SqlError;
use crate::reads::webhooks::{DeliverySql, delivery_columns, select_webhooks};
use crate::rows::placed_joins;
use crate::schema::{changelogs, webhook_deliveries, webhooks};
use crate::statement::statement;
use crate::unit::SqliteUnit;

statement! {
    /// Stores a webhook, or replaces it. Its deliveries stay.
    SaveWebhook {
        workspace: Id => Binary,
        id: Id => Binary,
        sealed_url: String => Text,
        sealed_secrets: String => Text,
        description: String => Text,
        format: &'static str => Text,
        events: Option<String> => Nullable<Text>,
        include_private: bool => Bool,
        include_emails: bool => Bool,
        enabled: bool => Bool,
        disabled_because: Option<&'static str> => Nullable<Text>,
        enabled_at: i64 => BigInt,
        disabled_at: Option<i64> => Nullable<BigInt>,
        failing_since: Option<i64> => Nullable<BigInt>,
        failed_tries: i32 => Integer,
        created_at: i64 => BigInt,
        updated_at: i64 => BigInt,
    }
    "INSERT INTO webhooks (workspace_id, id, sealed_url, sealed_secrets, description, format, events, include_private,
                           include_emails, enabled, disabled_because, enabled_at, disabled_at, failing_since,
                           failed_tries, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (workspace_id, id) DO UPDATE SET
         sealed_url = excluded.sealed_url, sealed_secrets = excluded.sealed_secrets,
         description = excluded.description, format = excluded.format, events = excluded.events,
         include_private = excluded.include_private, include_emails = excluded.include_emails,
         enabled = excluded.enabled, disabled_because = excluded.disabled_because, enabled_at = excluded.enabled_at,
         disabled_at = excluded.disabled_at, failing_since = excluded.failing_since,
         failed_tries = excluded.failed_tries, created_at = excluded.created_at, updated_at = excluded.updated_at"
}

statement! {
    /// Deletes the events that have a delivery to this webhook and to no other.
    DeleteOnlyEvents {
        workspace: Id => Binary, of_workspace: Id => Binary, webhook: Id => Binary, this: Id => Binary,
    }
    "DELETE FROM webhook_events WHERE workspace_id = ?
       AND id IN (SELECT event_id FROM webhook_deliveries WHERE workspace_id = ? AND webhook_id = ?)
       AND NOT EXISTS (SELECT 1 FROM webhook_deliveries other WHERE other.workspace_id = webhook_events.workspace_id
                       AND other.event_id = webhook_events.id AND other.webhook_id <> ?)"
}

/// SQL for a customer or member of an outer join as JSON, from the columns ID, name and address. Nobody is NULL.
macro_rules! person {
    ($id:literal, $name:literal, $email:literal) => {
        concat!(
            "json(CASE WHEN ",
            $id,
            " IS NOT NULL THEN json_object('id', ",
            uuid_text!($id),
            ", 'name', ",
            $name,
            ", 'email', ",
            $email,
            ") END)"
        )
    };
}

/// SQL for the feature request of `subject` as JSON.
macro_rules! request_snapshot {
    () => {
        concat!(
            "SELECT json_object(
                 'id', ",
            uuid_text!("feature_requests.id"),
            ", 'tag_number', feature_requests.tag_number,
                 'title', feature_requests.title,
                 'description', substr(feature_requests.description_text, 1, 500),
                 'status', lanes.name, 'track', tracks.name, 'votes_count', vote_tallies.votes_count,
                 'created_at', feature_requests.created_at,
                 'tags', json((SELECT json_group_array(tag) FROM (
                     SELECT tag FROM feature_request_tags
                     WHERE feature_request_tags.workspace_id = feature_requests.workspace_id
                       AND feature_request_tags.request_id = feature_requests.id ORDER BY position
                 ))),
                 'private', feature_requests.private,
                 'author', ",
            person!("author.id", "author.name", "author.email"),
            ")
             FROM feature_requests ",
            placed_joins!(),
            " LEFT JOIN customers author ON author.workspace_id = feature_requests.workspace_id
                   AND author.id = feature_requests.author_id
             WHERE feature_requests.workspace_id = subject.workspace AND feature_requests.id = subject.request"
        )
    };
}

/// SQL for the customer of `subject` as JSON.
macro_rules! customer_snapshot {
    () => {
        concat!(
            "SELECT ",
            person!("customer.id", "customer.name", "customer.email"),
            " FROM customers customer
             WHERE customer.workspace_id = subject.workspace
               AND customer.id = coalesce(subject.customer, (
                   SELECT named.id FROM customers named
                   WHERE named.workspace_id = subject.workspace AND named.email_folded = subject.address
               ))"
        )
    };
}

/// SQL for the comment of `subject` as JSON.
macro_rules! comment_snapshot {
    () => {
        concat!(
            "SELECT json_object(
                 'id', ",
            uuid_text!("comments.id"),
            ", 'content', comments.content,
                 'customer', ",
            person!("customer.id", "customer.name", "customer.email"),
            ", 'member', ",
            person!("author.id", "author.name", "author.email"),
            ", 'created_at', comments.created_at, 'updated_at', comments.updated_at)
             FROM comments
             LEFT JOIN customers customer ON customer.workspace_id = comments.workspace_id
                   AND customer.id = comments.customer_id
             LEFT JOIN members author ON author.workspace_id = comments.workspace_id AND author.id = comments.author_id
             WHERE comments.workspace_id = subject.workspace AND comments.id = subject.comment"
        )
    };
}

/// SQL for the note of `subject` as JSON.
macro_rules! note_snapshot {
    () => {
        concat!(
            "SELECT json_object(
                 'id', ",
            uuid_text!("notes.id"),
            ", 'body', notes.body,
                 'author', ",
            person!("author.id", "author.name", "author.email"),
            ", 'customer', ",
            person!("customer.id", "customer.name", "customer.email"),
            ", 'created_at', notes.created_at)
             FROM notes
             LEFT JOIN members author ON author.workspace_id = notes.workspace_id AND author.id = notes.author_id
             LEFT JOIN customers customer ON customer.workspace_id = notes.workspace_id
                   AND customer.id = notes.customer_id
             WHERE notes.workspace_id = subject.workspace AND notes.id = subject.note"
        )
    };
}

/// SQL for the changelog of `subject` as JSON. It is about feature requests; a merged one is the one that it was merged
/// into, listed once.
macro_rules! changelog_snapshot {
    () => {
        concat!(
            "SELECT json_object(
                 'id', ",
            uuid_text!("changelogs.id"),
            ", 'title', changelogs.title, 'content', changelogs.content, 'category', changelogs.category,
                 'cover', json(CASE WHEN cover.id IS NOT NULL THEN json_object(
                     'attachment', ",
            uuid_text!("cover.id"),
            ", 'filename', cover.filename
                 ) END),
                 'published_at', changelogs.published_at, 'created_at', changelogs.created_at,
                 'updated_at', changelogs.updated_at,
                 'feature_requests', json((SELECT json_group_array(json(linked)) FROM (
                     SELECT json_object(
                         'id', ",
            uuid_text!("feature_requests.id"),
            ", 'tag_number', feature_requests.tag_number, 'title', feature_requests.title, 'status', lanes.name,
                         'private', feature_requests.private
                     ) AS linked
                     FROM (
                         SELECT coalesce(tally.root_id, link.request_id) AS request, min(link.position) AS position
                         FROM changelog_feature_requests link
                         CROSS JOIN vote_tallies tally ON tally.workspace_id = link.workspace_id
                                AND tally.request_id = link.request_id
                         WHERE link.workspace_id = changelogs.workspace_id AND link.changelog_id = changelogs.id
                         GROUP BY 1
                     ) AS listed
                     CROSS JOIN feature_requests ON feature_requests.workspace_id = changelogs.workspace_id
                            AND feature_requests.id = listed.request ",
            placed_joins!(),
            " ORDER BY listed.position
                 )))
             )
             FROM changelogs
             LEFT JOIN attachments cover ON cover.workspace_id = changelogs.workspace_id
                   AND cover.id = changelogs.cover_attachment_id
             WHERE changelogs.workspace_id = subject.workspace AND changelogs.id = subject.changelog"
        )
    };
}

statement! {
    /// Stores an event with the records that it is about, as they are now. One that does not exist is null.
    InsertEvent {
        workspace: Id => Binary,
        request: Option<Id> => Nullable<Binary>,
        customer: Option<Id> => Nullable<Binary>,
        address: Option<String> => Nullable<Text>,
        comment: Option<Id> => Nullable<Binary>,
        note: Option<Id> => Nullable<Binary>,
        changelog: Option<Id> => Nullable<Binary>,
        id: Id => Binary,
        kind: &'static str => Text,
        actor_kind: &'static str => Text,
        actor_id: Option<Id> => Nullable<Binary>,
        actor_name: String => Text,
        data: String => Text,
        created_at: i64 => BigInt,
        is_distributed: bool => Bool,
    }
    concat!(
        "WITH subject (workspace, request, customer, address, comment, note, changelog) AS (
             SELECT ?, ?, ?, ?, ?, ?, ?
         )
         INSERT INTO webhook_events (workspace_id, id, kind, actor_kind, actor_id, actor_name, data, snapshot,
                                     created_at, is_distributed)
         SELECT subject.workspace, ?, ?, ?, ?, ?, ?, json_object(
                    'feature_request', json((", request_snapshot!(), ")),
                    'customer', json((", customer_snapshot!(), ")),
                    'comment', json((", comment_snapshot!(), ")),
                    'reference_note', json((", note_snapshot!(), ")),
                    'changelog', json((", changelog_snapshot!(), "))
                ), ?, ?
         FROM subject"
    )
}

statement! {
    /// Stores a delivery to a webhook if that exists. It waits, unless there is a failure. To a webhook that is
    /// disabled, it has failed, too, if there is a failure for that.
    InsertDelivery {
        event: Id => Binary,
        kind: &'static str => Text,
        include_private: bool => Bool,
        include_emails: bool => Bool,
        priority: i32 => Integer,
        failure: Option<&'static str> => Nullable<Text>,
        if_disabled: Option<&'static str> => Nullable<Text>,
        due_at: i64 => BigInt,
        created_at: i64 => BigInt,
        workspace: Id => Binary,
        webhook: Id => Binary,
    }
    "INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, kind, include_private, include_emails,
                                     priority, state, failure, attempts, tries, due_at, created_at)
     SELECT workspace, webhook, event, kind, private, emails, priority,
            CASE WHEN failure IS NULL THEN 'waiting' ELSE 'failed' END, failure, 0, 0,
            CASE WHEN failure IS NULL THEN due_at END, created_at
     FROM (
         SELECT webhooks.workspace_id AS workspace, webhooks.id AS webhook, ? AS event, ? AS kind, ? AS private,
                ? AS emails, ? AS priority, coalesce(?, CASE WHEN NOT webhooks.enabled THEN ? END) AS failure,
                ? AS due_at, ? AS created_at
         FROM webhooks WHERE webhooks.workspace_id = ? AND webhooks.id = ?
     )
     WHERE true ON CONFLICT DO NOTHING"
}

statement! {
    /// Selects a delivery, without its last try.
    UntriedDelivery { workspace: Id => Binary, webhook: Id => Binary, event: Id => Binary } -> DeliverySql,
    concat!(
        "SELECT ", delivery_columns!(), ", NULL, NULL, NULL, NULL, NULL FROM webhook_deliveries delivery
         WHERE delivery.workspace_id = ? AND delivery.webhook_id = ? AND delivery.event_id = ?"
    )
}

statement! {
    /// Deletes the events whose records have an ID as text, or whose actor has the ID.
    DeleteEventsOf { workspace: Id => Binary, actor: Id => Binary, text: String => Text }
    "DELETE FROM webhook_events WHERE workspace_id = ? AND (actor_id = ? OR instr(snapshot, ?) > 0)"
}

/// Stores an event with the records that it is about, as they are now.
fn insert_event(
    connection: &mut SqliteConnection,
    workspace: Id,
    event: NewWebhookEvent,
    is_distributed: bool,
) -> Result<(), SqlError> {
    let NewWebhookEvent { id, draft: EventDraft { kind, records, details }, actor, at } = event;
    let EventRecords { request, customer, comment, note, changelog } = records;
    let (customer, address) = match customer {
        Some(EventCustomer::Id(customer)) => (Some(Id(customer.uuid())), None),
        Some(EventCustomer::Address(address)) => (None, Some(address.as_str().to_owned())),
        None => (None, None),
    };
    let insert = InsertEvent {
        workspace,
        request: request.map(|request| Id(request.uuid())),
        customer,
        address,
        comment: comment.map(|comment| Id(comment.uuid())),
        note: note.map(|note| Id(note.uuid())),
        changelog: changelog.map(|changelog| Id(changelog.uuid())),
        id: Id(id.uuid()),
        kind: kind.name(),
        actor_kind: actor.kind.name(),
        actor_id: actor.id.map(Id),
        actor_name: actor.name,
        data: details_column(&details)?,
        created_at: at.millis(),
        is_distributed,
    };
    insert.execute(connection)?;
    Ok(())
}

/// Stores a delivery to a webhook if that exists. To a disabled webhook, only test events wait.
pub(crate) fn insert_delivery(
    connection: &mut SqliteConnection,
    workspace: Id,
    delivery: &NewDelivery,
    due_at: Timestamp,
) -> Result<(), SqlError> {
    let is_test = delivery.kind == EventKind::WebhookTest;
    let insert = InsertDelivery {
        event: Id(delivery.event.uuid()),
        kind: delivery.kind.name(),
        include_private: delivery.includes.private,
        include_emails: delivery.includes.emails,
        priority: i32::from(!is_test),
        failure: delivery.failure.map(Failure::name),
        if_disabled: (!is_test).then(|| Failure::Disabled.name()),
        due_at: due_at.millis(),
        created_at: delivery.created_at.millis(),
        workspace,
        webhook: Id(delivery.webhook.uuid()),
    };
    insert.execute(connection)?;
    Ok(())
}

/// Stores events with the records that they are about, as they are now, if the workspace has an enabled webhook.
async fn record(unit: &mut SqliteUnit, events: &[NewWebhookEvent]) -> Result<(), StoreError> {
    let events = events.to_vec();
    unit.run(move |connection, workspace| {
        let enabled = webhooks::table.filter(webhooks::workspace_id.eq(workspace)).filter(webhooks::enabled.eq(true));
        if select(exists(enabled)).get_result::<bool>(connection)? {
            for event in events {
                insert_event(connection, workspace, event, false)?;
            }
        }
        Ok(())
    })
    .await
}

#[async_trait]
impl WebhookWrites for SqliteUnit {
    async fn load_webhooks(&mut self) -> Result<Vec<Webhook>, StoreError> {
        let rows = self.run(select_webhooks).await?;
        rows.into_iter().map(Webhook::try_from).collect()
    }

    async fn save_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        let (webhook, sealed_secrets) = (webhook.clone(), secrets_column(&webhook.secrets)?);
        self.run(move |connection, workspace| {
            let save = SaveWebhook {
                workspace,
                id: Id(webhook.id.uuid()),
                events: webhook.events_column(),
                sealed_url: webhook.sealed_url,
                sealed_secrets,
                description: webhook.description,
                format: webhook.format.name(),
                include_private: webhook.includes.private,
                include_emails: webhook.includes.emails,
                enabled: webhook.enabled,
                disabled_because: webhook.disabled_because.map(DisabledBecause::name),
                enabled_at: webhook.enabled_at.millis(),
                disabled_at: webhook.disabled_at.map(Timestamp::millis),
                failing_since: webhook.failing_since.map(Timestamp::millis),
                failed_tries: i32::try_from(webhook.failed_tries).unwrap_or(i32::MAX),
                created_at: webhook.created_at.millis(),
                updated_at: webhook.updated_at.millis(),
            };
            save.execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn delete_webhook(&mut self, webhook: WebhookId) -> Result<(), StoreError> {
        let webhook = Id(webhook.uuid());
        self.run(move |connection, workspace| {
            DeleteOnlyEvents { workspace, of_workspace: workspace, webhook, this: webhook }.execute(connection)?;
            delete(webhooks::table.find((workspace, webhook))).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn fail_waiting(&mut self, webhook: WebhookId, failure: Failure) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            let waiting = webhook_deliveries::table
                .filter(webhook_deliveries::workspace_id.eq(workspace))
                .filter(webhook_deliveries::webhook_id.eq(Id(webhook.uuid())))
                .filter(webhook_deliveries::state.eq(DeliveryState::Waiting.name()))
                .filter(webhook_deliveries::kind.ne(EventKind::WebhookTest.name()));
            update(waiting)
                .set((
                    webhook_deliveries::state.eq(DeliveryState::Failed.name()),
                    webhook_deliveries::failure.eq(failure.name()),
                    webhook_deliveries::due_at.eq(None::<i64>),
                    webhook_deliveries::leased_until.eq(None::<i64>),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn record_events(&mut self, events: &[NewWebhookEvent]) -> Result<(), StoreError> {
        record(self, events).await
    }

    async fn record_events_now(&mut self, events: &[NewWebhookEvent]) -> Result<(), StoreError> {
        record(self, events).await
    }

    async fn insert_test_delivery(
        &mut self,
        event: &NewWebhookEvent,
        delivery: &NewDelivery,
    ) -> Result<(), StoreError> {
        let (event, delivery) = (event.clone(), delivery.clone());
        self.run(move |connection, workspace| {
            let at = event.at;
            insert_event(connection, workspace, event, true)?;
            insert_delivery(connection, workspace, &delivery, at)
        })
        .await
    }

    async fn find_delivery(
        &mut self,
        webhook: WebhookId,
        event: WebhookEventId,
    ) -> Result<Option<Delivery>, StoreError> {
        let (webhook, event) = (Id(webhook.uuid()), Id(event.uuid()));
        let row: Option<DeliveryRow> = self
            .run(move |connection, workspace| {
                Ok(UntriedDelivery { workspace, webhook, event }.get_result(connection).optional()?)
            })
            .await?;
        row.map(Delivery::try_from).transpose()
    }

    async fn redeliver(&mut self, webhook: WebhookId, event: WebhookEventId, at: Timestamp) -> Result<(), StoreError> {
        let (webhook, event) = (Id(webhook.uuid()), Id(event.uuid()));
        self.run(move |connection, workspace| {
            update(webhook_deliveries::table.find((workspace, webhook, event)))
                .set((
                    webhook_deliveries::state.eq(DeliveryState::Waiting.name()),
                    webhook_deliveries::failure.eq(None::<String>),
                    webhook_deliveries::due_at.eq(at.millis()),
                    webhook_deliveries::leased_until.eq(None::<i64>),
                    webhook_deliveries::tries.eq(0),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn redeliver_failed(
        &mut self,
        webhook: WebhookId,
        since: Timestamp,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        self.run(move |connection, workspace| {
            let failed = webhook_deliveries::table
                .filter(webhook_deliveries::workspace_id.eq(workspace))
                .filter(webhook_deliveries::webhook_id.eq(Id(webhook.uuid())))
                .filter(webhook_deliveries::state.eq(DeliveryState::Failed.name()))
                .filter(webhook_deliveries::created_at.ge(since.millis()))
                .filter(webhook_deliveries::kind.ne(EventKind::WebhookTest.name()));
            let redelivered = update(failed)
                .set((
                    webhook_deliveries::state.eq(DeliveryState::Waiting.name()),
                    webhook_deliveries::failure.eq(None::<String>),
                    webhook_deliveries::due_at.eq(at.millis()),
                    webhook_deliveries::leased_until.eq(None::<i64>),
                    webhook_deliveries::tries.eq(0),
                ))
                .execute(connection)?;
            Ok(redelivered as u64)
        })
        .await
    }

    async fn delete_events_of(&mut self, customer: CustomerId) -> Result<(), StoreError> {
        let customer = customer.uuid();
        self.run(move |connection, workspace| {
            DeleteEventsOf { workspace, actor: Id(customer), text: customer.to_string() }.execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn mark_announced(&mut self, changelog: ChangelogId, at: Timestamp) -> Result<bool, StoreError> {
        self.run(move |connection, workspace| {
            let due = changelogs::table
                .find((workspace, Id(changelog.uuid())))
                .filter(changelogs::to_announce.eq(true))
                .filter(changelogs::published_at.le(at.millis()));
            Ok(update(due).set(changelogs::to_announce.eq(false)).execute(connection)? == 1)
        })
        .await
    }
}
