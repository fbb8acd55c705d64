//! Events and deliveries of webhooks as workers see them. Each method is a transaction of its own.

use std::collections::BTreeSet;

use async_trait::async_trait;
use diesel::dsl::not;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
use diesel::{SqliteConnection, insert_into, update};
use roadmap_domain::error::{ErrorChain, StoreError};
use roadmap_domain::model::id::{ChangelogId, WebhookEventId, WebhookId, WorkspaceId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{
    Attempt, AttemptError, DeliveryLease, DeliveryOutcome, DeliveryState, Failure, LeasedDeliveries, NewDelivery,
    Webhook, WebhookDepth,
};
use roadmap_domain::model::webhook_event::{EventKind, StoredEvent};
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::ports::{UndistributedEvents, WebhookQueue};
use roadmap_store::columns::Id;
use roadmap_store::rows::{LeasedDeliveryRow, StoredEventRow, WebhookDepthRow, WebhookRow};
use uuid::Uuid;

use crate::SqliteStore;
use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::reads::webhooks::{EventSql, event_columns, find_webhook, select_webhooks};
use crate::schema::{webhook_attempts, webhook_deliveries, webhook_events, webhooks, workspaces};
use crate::statement::statement;
use crate::writes::webhooks::insert_delivery;

/// The priority of test events.
const TESTS: i32 = 0;
/// The priority of other events.
const OTHERS: i32 = 1;

statement! {
    /// Selects the oldest events of a workspace that are not distributed.
    UndistributedPage { workspace: Id => Binary, limit: i64 => BigInt } -> EventSql,
    concat!(
        "SELECT ", event_columns!(), " FROM webhook_events event
         WHERE event.workspace_id = ? AND NOT event.is_distributed ORDER BY event.id LIMIT ?"
    )
}

statement! {
    /// Marks those of the events of a JSON array as distributed that are not yet, and returns them.
    ClaimEvents { workspace: Id => Binary, events: String => Text } -> Binary,
    "UPDATE webhook_events SET is_distributed = 1
     WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?)) AND NOT is_distributed
     RETURNING id"
}

statement! {
    /// Deletes those of the events of a JSON array that have no delivery.
    DeleteUnwanted { workspace: Id => Binary, events: String => Text }
    "DELETE FROM webhook_events
     WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))
       AND NOT EXISTS (SELECT 1 FROM webhook_deliveries delivery
                       WHERE delivery.workspace_id = webhook_events.workspace_id AND delivery.event_id = webhook_events.id)"
}

statement! {
    /// Lets the oldest waiting deliveries of a webhook fail, all but a number of the newest ones.
    FailBacklog {
        workspace: Id => Binary, webhook: Id => Binary, of_workspace: Id => Binary, of_webhook: Id => Binary,
        backlog: i64 => BigInt,
    }
    "UPDATE webhook_deliveries SET state = 'failed', failure = 'backlog', due_at = NULL, leased_until = NULL
     WHERE workspace_id = ? AND webhook_id = ? AND state = 'waiting' AND event_id <= (
         SELECT event_id FROM webhook_deliveries
         WHERE workspace_id = ? AND webhook_id = ? AND state = 'waiting' ORDER BY event_id DESC LIMIT 1 OFFSET ?
     )"
}

statement! {
    /// Selects the webhooks with due deliveries.
    DueWebhooks { now: i64 => BigInt } -> (Binary, Binary),
    "SELECT webhooks.workspace_id, webhooks.id FROM webhooks
     WHERE EXISTS (SELECT 1 FROM webhook_deliveries WHERE webhook_deliveries.workspace_id = webhooks.workspace_id
                   AND webhook_deliveries.webhook_id = webhooks.id AND priority IN (0, 1) AND due_at <= ?)"
}

statement! {
    /// Selects the deliveries of a webhook that have been due longest, each with the number of the try that begins.
    DueDeliveries {
        workspace: Id => Binary, webhook: Id => Binary, priority: i32 => Integer, now: i64 => BigInt,
        limit: i64 => BigInt,
    } -> (Bool, Bool, Integer, EventSql),
    concat!(
        "SELECT delivery.include_private, delivery.include_emails, min(delivery.tries, 2147483646) + 1, ",
        event_columns!(), "
         FROM webhook_deliveries delivery
         CROSS JOIN webhook_events event ON event.workspace_id = delivery.workspace_id AND event.id = delivery.event_id
         WHERE delivery.workspace_id = ? AND delivery.webhook_id = ? AND delivery.priority = ? AND delivery.due_at <= ?
         ORDER BY delivery.due_at, delivery.event_id LIMIT ?"
    )
}

statement! {
    /// Leases the deliveries of a webhook with the events of a JSON array.
    LeaseDeliveries {
        due_at: i64 => BigInt, leased_until: i64 => BigInt, workspace: Id => Binary, webhook: Id => Binary,
        events: String => Text,
    }
    "UPDATE webhook_deliveries SET due_at = ?, leased_until = ?, tries = min(tries, 2147483646) + 1
     WHERE workspace_id = ? AND webhook_id = ? AND event_id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Counts a failed try of a webhook.
    CountFailure { at: i64 => BigInt, workspace: Id => Binary, webhook: Id => Binary }
    "UPDATE webhooks SET failing_since = coalesce(failing_since, ?), failed_tries = min(failed_tries, 2147483646) + 1
     WHERE workspace_id = ? AND id = ?"
}

statement! {
    /// Counts the deliveries of all workspaces: due, leased, postponed, failed; the earliest due time; and the
    /// webhooks: enabled, disabled.
    DeliveryDepth { due: i64 => BigInt, leased: i64 => BigInt, postponed: i64 => BigInt, oldest: i64 => BigInt }
        -> (BigInt, BigInt, BigInt, BigInt, Nullable<BigInt>, BigInt, BigInt),
    "SELECT count(*) FILTER (WHERE due_at <= ?),
            count(*) FILTER (WHERE due_at > ? AND leased_until IS NOT NULL),
            count(*) FILTER (WHERE due_at > ? AND leased_until IS NULL),
            (SELECT count(*) FROM webhook_deliveries WHERE state = 'failed'),
            min(due_at) FILTER (WHERE due_at <= ?),
            (SELECT count(*) FROM webhooks WHERE enabled),
            (SELECT count(*) FROM webhooks WHERE NOT enabled)
     FROM webhook_deliveries WHERE due_at IS NOT NULL"
}

statement! {
    /// Selects the changelogs that are to be announced, those that have been public longest.
    ChangelogsToAnnounce { now: i64 => BigInt, limit: i64 => BigInt } -> (Binary, Binary),
    "SELECT workspace_id, id FROM changelogs WHERE to_announce AND published_at <= ? ORDER BY published_at LIMIT ?"
}

statement! {
    /// Selects ended deliveries of a webhook, oldest first: those from before a timestamp, and all but a number of the
    /// newest ones.
    EndedDeliveries {
        workspace: Id => Binary, webhook: Id => Binary, before: i64 => BigInt, keep: i64 => BigInt,
        limit: i64 => BigInt,
    } -> Binary,
    "SELECT event_id FROM (
         SELECT event_id, created_at, row_number() OVER (ORDER BY event_id DESC) AS place FROM webhook_deliveries
         WHERE workspace_id = ? AND webhook_id = ? AND state <> 'waiting'
     )
     WHERE created_at < ? OR place > ? ORDER BY event_id LIMIT ?"
}

statement! {
    /// Deletes the deliveries of a webhook with the events of a JSON array that have ended.
    DeleteEnded { workspace: Id => Binary, webhook: Id => Binary, events: String => Text }
    "DELETE FROM webhook_deliveries
     WHERE workspace_id = ? AND webhook_id = ? AND event_id IN (SELECT unhex(value) FROM json_each(?))
       AND state <> 'waiting'"
}

/// Stores deliveries of those of the events that are not distributed yet.
fn distribute(
    connection: &mut SqliteConnection,
    workspace: Id,
    events: &[Id],
    deliveries: &[NewDelivery],
    backlog: u32,
    now: Timestamp,
) -> Result<(), SqlError> {
    let claimed: Vec<Id> = ClaimEvents { workspace, events: json_ids(events) }.load(connection)?;
    let ids: BTreeSet<Uuid> = claimed.iter().map(|id| id.0).collect();
    let mut webhooks = BTreeSet::new();
    for delivery in deliveries.iter().filter(|delivery| ids.contains(&delivery.event.uuid())) {
        insert_delivery(connection, workspace, delivery, now)?;
        webhooks.insert(delivery.webhook.uuid());
    }
    DeleteUnwanted { workspace, events: json_ids(&claimed) }.execute(connection)?;
    for webhook in webhooks.into_iter().map(Id) {
        let (of_workspace, of_webhook) = (workspace, webhook);
        FailBacklog { workspace, webhook, of_workspace, of_webhook, backlog: backlog.into() }.execute(connection)?;
    }
    Ok(())
}

/// What a worker leases: the webhook, the subdomain of its workspace, and deliveries.
fn lease(
    connection: &mut SqliteConnection,
    workspace: Id,
    webhook: WebhookId,
    now: i64,
    until: Timestamp,
    limit: i64,
) -> Result<Option<LeasedDeliveries>, SqlError> {
    let id = Id(webhook.uuid());
    let Some(row) = find_webhook(connection, workspace, id)? else { return Ok(None) };
    let found = Webhook::try_from(row)?;
    let of_workspace = workspaces::table.filter(workspaces::id.eq(workspace));
    let subdomain: String = of_workspace.select(workspaces::subdomain).first(connection)?;
    let mut rows: Vec<LeasedDeliveryRow> =
        DueDeliveries { workspace, webhook: id, priority: TESTS, now, limit }.load(connection)?;
    if found.enabled {
        let left = limit - i64::try_from(rows.len()).unwrap_or(limit);
        let others = DueDeliveries { workspace, webhook: id, priority: OTHERS, now, limit: left };
        rows.extend(others.load::<LeasedDeliveryRow>(connection)?);
    }
    if !rows.is_empty() {
        let events: Vec<Id> = rows.iter().map(|row| row.event.id).collect();
        let (until, events) = (until.millis(), json_ids(&events));
        LeaseDeliveries { due_at: until, leased_until: until, workspace, webhook: id, events }.execute(connection)?;
    }
    let mut deliveries = Vec::with_capacity(rows.len());
    for row in rows {
        let event = row.event.id;
        match row.into_delivery(webhook, until) {
            Ok(delivery) => deliveries.push(delivery),
            Err(error) => {
                tracing::error!(%webhook, %event, error = %ErrorChain::new(&error), "an event cannot be read");
                end(connection, (workspace, id, event), DeliveryOutcome::Failed(Failure::GaveUp))?;
            }
        }
    }
    deliveries.sort_by_key(|delivery| delivery.lease.event);
    Ok(Some(LeasedDeliveries { webhook: found, subdomain: Subdomain::from_stored(subdomain), deliveries }))
}

/// Ends the lease of a delivery.
fn end(connection: &mut SqliteConnection, delivery: (Id, Id, Id), outcome: DeliveryOutcome) -> Result<(), SqlError> {
    let (state, failure, due_at) = match outcome {
        DeliveryOutcome::Delivered => (DeliveryState::Delivered, None, None),
        DeliveryOutcome::Failed(failure) => (DeliveryState::Failed, Some(failure.name()), None),
        DeliveryOutcome::Postponed(at) => (DeliveryState::Waiting, None, Some(at.millis())),
    };
    update(webhook_deliveries::table.find(delivery))
        .set((
            webhook_deliveries::state.eq(state.name()),
            webhook_deliveries::failure.eq(failure),
            webhook_deliveries::due_at.eq(due_at),
            webhook_deliveries::leased_until.eq(None::<i64>),
        ))
        .execute(connection)?;
    Ok(())
}

/// Stores a try and what becomes of the delivery, unless its lease has expired. Returns the webhook as it is then.
fn settle(
    connection: &mut SqliteConnection,
    workspace: Id,
    lease: &DeliveryLease,
    attempt: Attempt,
    outcome: DeliveryOutcome,
) -> Result<Option<WebhookRow>, SqlError> {
    let (webhook, event) = (Id(lease.webhook.uuid()), Id(lease.event.uuid()));
    let leased: Option<(String, i32)> = webhook_deliveries::table
        .find((workspace, webhook, event))
        .filter(webhook_deliveries::leased_until.eq(lease.until.millis()))
        .filter(webhook_deliveries::state.eq(DeliveryState::Waiting.name()))
        .select((webhook_deliveries::kind, webhook_deliveries::attempts))
        .first(connection)
        .optional()?;
    let Some((kind, attempts)) = leased else { return Ok(None) };
    let number = attempts.saturating_add(1);
    insert_into(webhook_attempts::table)
        .values((
            webhook_attempts::workspace_id.eq(workspace),
            webhook_attempts::webhook_id.eq(webhook),
            webhook_attempts::event_id.eq(event),
            webhook_attempts::number.eq(number),
            webhook_attempts::status.eq(attempt.status.map(i32::from)),
            webhook_attempts::error.eq(attempt.error.map(AttemptError::name)),
            webhook_attempts::duration_ms.eq(i64::try_from(attempt.duration_ms).unwrap_or(i64::MAX)),
            webhook_attempts::response.eq(attempt.response),
            webhook_attempts::created_at.eq(attempt.at.millis()),
        ))
        .execute(connection)?;
    update(webhook_deliveries::table.find((workspace, webhook, event)))
        .set(webhook_deliveries::attempts.eq(number))
        .execute(connection)?;
    end(connection, (workspace, webhook, event), outcome)?;
    if kind != EventKind::WebhookTest.name() {
        if outcome == DeliveryOutcome::Delivered {
            let failing = webhooks::table.find((workspace, webhook)).filter(webhooks::failing_since.is_not_null());
            update(failing)
                .set((webhooks::failing_since.eq(None::<i64>), webhooks::failed_tries.eq(0)))
                .execute(connection)?;
        } else {
            CountFailure { at: attempt.at.millis(), workspace, webhook }.execute(connection)?;
        }
    }
    find_webhook(connection, workspace, webhook)
}

#[async_trait]
impl WebhookQueue for SqliteStore {
    async fn workspaces_with_events(&self) -> Result<Vec<WorkspaceId>, StoreError> {
        let select = |connection: &mut SqliteConnection| {
            let to_distribute = webhook_events::table.filter(not(webhook_events::is_distributed));
            Ok(to_distribute.select(webhook_events::workspace_id).distinct().load::<Id>(connection)?)
        };
        let workspaces = self.readers.run(select).await?;
        Ok(workspaces.into_iter().map(|workspace| WorkspaceId::new(workspace.0)).collect())
    }

    async fn undistributed_events(
        &self,
        workspace: WorkspaceId,
        limit: u32,
    ) -> Result<UndistributedEvents, StoreError> {
        let page = UndistributedPage { workspace: Id(workspace.uuid()), limit: i64::from(limit) };
        let (rows, webhooks): (Vec<StoredEventRow>, Vec<WebhookRow>) = self
            .readers
            .run_in_snapshot(move |connection| {
                let webhooks = select_webhooks(connection, page.workspace)?;
                Ok((page.load(connection)?, webhooks))
            })
            .await?;
        let (mut events, mut ids) = (Vec::new(), Vec::new());
        for row in rows {
            ids.push(WebhookEventId::new(row.id.0));
            match StoredEvent::try_from(row) {
                Ok(event) => events.push(event),
                Err(error) => tracing::error!(%workspace, error = %ErrorChain::new(&error), "an event cannot be read"),
            }
        }
        let webhooks = webhooks.into_iter().map(Webhook::try_from).collect::<Result<_, _>>()?;
        Ok(UndistributedEvents { events, ids, webhooks })
    }

    async fn distribute(
        &self,
        workspace: WorkspaceId,
        events: &[WebhookEventId],
        deliveries: &[NewDelivery],
        backlog: u32,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let workspace = Id(workspace.uuid());
        let events: Vec<Id> = events.iter().map(|event| Id(event.uuid())).collect();
        let deliveries = deliveries.to_vec();
        self.write(move |connection| distribute(connection, workspace, &events, &deliveries, backlog, now)).await
    }

    async fn due_webhooks(&self, now: Timestamp) -> Result<Vec<(WorkspaceId, WebhookId)>, StoreError> {
        let due = DueWebhooks { now: now.millis() };
        let rows: Vec<(Id, Id)> = self.readers.run(move |connection| Ok(due.load(connection)?)).await?;
        let id = |(workspace, webhook): (Id, Id)| (WorkspaceId::new(workspace.0), WebhookId::new(webhook.0));
        Ok(rows.into_iter().map(id).collect())
    }

    async fn lease(
        &self,
        workspace: WorkspaceId,
        webhook: WebhookId,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Option<LeasedDeliveries>, StoreError> {
        let (workspace, now, limit) = (Id(workspace.uuid()), now.millis(), i64::from(limit));
        self.write(move |connection| lease(connection, workspace, webhook, now, until, limit)).await
    }

    async fn settle(
        &self,
        workspace: WorkspaceId,
        lease: &DeliveryLease,
        attempt: &Attempt,
        outcome: DeliveryOutcome,
    ) -> Result<Option<Webhook>, StoreError> {
        let (workspace, lease, attempt) = (Id(workspace.uuid()), lease.clone(), attempt.clone());
        let row = self.write(move |connection| settle(connection, workspace, &lease, attempt, outcome)).await?;
        row.map(Webhook::try_from).transpose()
    }

    async fn give_back(
        &self,
        workspace: WorkspaceId,
        leases: &[DeliveryLease],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (workspace, leases) = (Id(workspace.uuid()), leases.to_vec());
        self.write(move |connection| {
            for lease in leases {
                let delivery = (workspace, Id(lease.webhook.uuid()), Id(lease.event.uuid()));
                let leased = webhook_deliveries::table
                    .find(delivery)
                    .filter(webhook_deliveries::leased_until.eq(lease.until.millis()));
                update(leased)
                    .set((
                        webhook_deliveries::leased_until.eq(None::<i64>),
                        webhook_deliveries::due_at.eq(now.millis()),
                        webhook_deliveries::tries.eq(webhook_deliveries::tries - 1),
                    ))
                    .execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn depth(&self, now: Timestamp) -> Result<WebhookDepth, StoreError> {
        let at = now.millis();
        let depth = DeliveryDepth { due: at, leased: at, postponed: at, oldest: at };
        let row: WebhookDepthRow = self.readers.run(move |connection| Ok(depth.get_result(connection)?)).await?;
        row.try_into()
    }

    async fn changelogs_to_announce(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(WorkspaceId, ChangelogId)>, StoreError> {
        let select = ChangelogsToAnnounce { now: now.millis(), limit: i64::from(limit) };
        let rows: Vec<(Id, Id)> = self.readers.run(move |connection| Ok(select.load(connection)?)).await?;
        let id = |(workspace, changelog): (Id, Id)| (WorkspaceId::new(workspace.0), ChangelogId::new(changelog.0));
        Ok(rows.into_iter().map(id).collect())
    }

    /// Reads first, so that other writes need not wait until the deliveries are found.
    async fn purge(&self, before: Timestamp, keep: u32, limit: u32) -> Result<u64, StoreError> {
        let all = |connection: &mut SqliteConnection| {
            Ok(webhooks::table.select((webhooks::workspace_id, webhooks::id)).load::<(Id, Id)>(connection)?)
        };
        let (before, keep, limit) = (before.millis(), i64::from(keep), i64::from(limit));
        let mut purged = 0;
        for (workspace, webhook) in self.readers.run(all).await? {
            let ended = EndedDeliveries { workspace, webhook, before, keep, limit };
            let events: Vec<Id> = self.readers.run(move |connection| Ok(ended.load(connection)?)).await?;
            if events.is_empty() {
                continue;
            }
            let events = json_ids(&events);
            let delete = move |connection: &mut SqliteConnection| {
                let deleted = DeleteEnded { workspace, webhook, events: events.clone() }.execute(connection)?;
                DeleteUnwanted { workspace, events }.execute(connection)?;
                Ok(deleted as u64)
            };
            purged += self.write(delete).await?;
        }
        Ok(purged)
    }
}
