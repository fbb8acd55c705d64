//! Webhooks and their deliveries.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{WebhookEventId, WebhookId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::webhook::{Delivery, DeliveryDetail, DeliveryState, Webhook};
use roadmap_domain::ports::WebhookReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{AttemptRow, DeliveryRow, StoredEventRow, WebhookRow, delivery_detail};

use crate::SqliteStore;
use crate::errors::SqlError;
use crate::reads::listing::{Page, listing};
use crate::rows::webhook_columns;
use crate::schema::{webhook_attempts, webhook_deliveries, webhooks};
use crate::statement::statement;

/// The types of the columns of a try: timestamp, status, error, duration, response.
type AttemptSql = (BigInt, Nullable<Integer>, Nullable<Text>, BigInt, Nullable<Text>);

/// The types of the columns of a delivery: event, type, what it includes, state, failure, number of tries, when it is
/// due, timestamp, and the last try.
pub(crate) type DeliverySql =
    (Binary, Text, Bool, Bool, Text, Nullable<Text>, Integer, Nullable<BigInt>, BigInt, Nullable<AttemptSql>);

/// SQL for the columns of a `delivery`, apart from its last try.
macro_rules! delivery_columns {
    () => {
        "delivery.event_id, delivery.kind, delivery.include_private, delivery.include_emails, delivery.state,
         delivery.failure, delivery.attempts, delivery.due_at, delivery.created_at"
    };
}
pub(crate) use delivery_columns;

/// SQL for the columns of a `delivery` with its last try.
macro_rules! tried_delivery_columns {
    () => {
        concat!(
            $crate::reads::webhooks::delivery_columns!(),
            ", last.created_at, last.status, last.error, last.duration_ms, last.response"
        )
    };
}

/// SQL that joins a `delivery` with its last try.
macro_rules! with_last_attempt {
    () => {
        " LEFT JOIN webhook_attempts last ON last.workspace_id = delivery.workspace_id
                AND last.webhook_id = delivery.webhook_id AND last.event_id = delivery.event_id
                AND last.number = delivery.attempts "
    };
}

/// The types of the columns of an event: ID, type, kind, ID and name of the actor, details, records, timestamp.
pub(crate) type EventSql = (Binary, Text, Text, Nullable<Binary>, Text, Text, Text, BigInt);

/// SQL for the columns of an `event`.
macro_rules! event_columns {
    () => {
        "event.id, event.kind, event.actor_kind, event.actor_id, event.actor_name, event.data, event.snapshot,
         event.created_at"
    };
}
pub(crate) use event_columns;

statement! {
    /// Selects deliveries of a webhook, newest event first.
    DeliveriesPage {
        workspace: Id => Binary, webhook: Id => Binary, before: Id => Binary, limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> DeliverySql,
    concat!(
        "SELECT ", tried_delivery_columns!(), " FROM webhook_deliveries delivery", with_last_attempt!(), "
         WHERE delivery.workspace_id = ? AND delivery.webhook_id = ? AND delivery.event_id < ?
         ORDER BY delivery.event_id DESC LIMIT ? OFFSET ?"
    )
}

statement! {
    /// Selects deliveries of a webhook that have a state, newest event first.
    DeliveriesOfState {
        workspace: Id => Binary, webhook: Id => Binary, state: &'static str => Text, before: Id => Binary,
        limit: i64 => BigInt, offset: i64 => BigInt,
    } -> DeliverySql,
    concat!(
        "SELECT ", tried_delivery_columns!(), "
         FROM webhook_deliveries delivery INDEXED BY webhook_deliveries_by_state", with_last_attempt!(), "
         WHERE delivery.workspace_id = ? AND delivery.webhook_id = ? AND delivery.state = ? AND delivery.event_id < ?
         ORDER BY delivery.event_id DESC LIMIT ? OFFSET ?"
    )
}

statement! {
    /// Selects a delivery with its event.
    OneDelivery { workspace: Id => Binary, webhook: Id => Binary, event: Id => Binary } -> (DeliverySql, EventSql),
    concat!(
        "SELECT ", tried_delivery_columns!(), ", ", event_columns!(), "
         FROM webhook_deliveries delivery
         CROSS JOIN webhook_events event
                 ON event.workspace_id = delivery.workspace_id AND event.id = delivery.event_id",
        with_last_attempt!(), "
         WHERE delivery.workspace_id = ? AND delivery.webhook_id = ? AND delivery.event_id = ?"
    )
}

/// Selects the webhooks of a workspace, oldest first.
pub(crate) fn select_webhooks(connection: &mut SqliteConnection, workspace: Id) -> Result<Vec<WebhookRow>, SqlError> {
    let of_workspace = webhooks::table.filter(webhooks::workspace_id.eq(workspace));
    Ok(of_workspace.order((webhooks::created_at, webhooks::id)).select(webhook_columns()).load(connection)?)
}

/// Selects a webhook.
pub(crate) fn find_webhook(
    connection: &mut SqliteConnection,
    workspace: Id,
    webhook: Id,
) -> Result<Option<WebhookRow>, SqlError> {
    Ok(webhooks::table.find((workspace, webhook)).select(webhook_columns()).first(connection).optional()?)
}

fn load_deliveries(
    connection: &mut SqliteConnection,
    workspace: Id,
    webhook: Id,
    state: Option<DeliveryState>,
    page: PageRequest,
) -> Result<Page<DeliveryRow>, SqlError> {
    let all = webhook_deliveries::table
        .filter(webhook_deliveries::workspace_id.eq(workspace))
        .filter(webhook_deliveries::webhook_id.eq(webhook));
    let total: i64 = match state {
        Some(state) => all.filter(webhook_deliveries::state.eq(state.name())).count().get_result(connection)?,
        None => all.count().get_result(connection)?,
    };
    let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
    let (limit, (_, before)) = (page.limit(), page.before());
    let before = Id(before);
    let rows = match state {
        Some(state) => {
            DeliveriesOfState { workspace, webhook, state: state.name(), before, limit, offset }.load(connection)?
        }
        None => DeliveriesPage { workspace, webhook, before, limit, offset }.load(connection)?,
    };
    Ok((rows, total))
}

/// A delivery with its event, and its tries.
type DetailRows = ((DeliveryRow, StoredEventRow), Vec<AttemptRow>);

fn load_delivery(
    connection: &mut SqliteConnection,
    workspace: Id,
    webhook: Id,
    event: Id,
) -> Result<Option<DetailRows>, SqlError> {
    let row: Option<(DeliveryRow, StoredEventRow)> =
        OneDelivery { workspace, webhook, event }.get_result(connection).optional()?;
    let Some(row) = row else { return Ok(None) };
    let attempts = webhook_attempts::table
        .filter(webhook_attempts::workspace_id.eq(workspace))
        .filter(webhook_attempts::webhook_id.eq(webhook))
        .filter(webhook_attempts::event_id.eq(event))
        .order(webhook_attempts::number)
        .select((
            webhook_attempts::created_at,
            webhook_attempts::status,
            webhook_attempts::error,
            webhook_attempts::duration_ms,
            webhook_attempts::response,
        ))
        .load(connection)?;
    Ok(Some((row, attempts)))
}

#[async_trait]
impl WebhookReader for SqliteStore {
    async fn webhooks(&self, workspace: WorkspaceId) -> Result<Vec<Webhook>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows = self.readers.run(move |connection| select_webhooks(connection, workspace)).await?;
        rows.into_iter().map(Webhook::try_from).collect()
    }

    async fn deliveries(
        &self,
        workspace: WorkspaceId,
        webhook: WebhookId,
        state: Option<DeliveryState>,
        page: PageRequest,
    ) -> Result<Listing<Delivery>, StoreError> {
        let (workspace, webhook) = (Id(workspace.uuid()), Id(webhook.uuid()));
        let load =
            move |connection: &mut SqliteConnection| load_deliveries(connection, workspace, webhook, state, page);
        let rows = self.readers.run_in_snapshot(load).await?;
        listing(rows, page, Delivery::try_from)
    }

    async fn delivery(
        &self,
        workspace: WorkspaceId,
        webhook: WebhookId,
        event: WebhookEventId,
    ) -> Result<Option<DeliveryDetail>, StoreError> {
        let (workspace, webhook, event) = (Id(workspace.uuid()), Id(webhook.uuid()), Id(event.uuid()));
        let load = move |connection: &mut SqliteConnection| load_delivery(connection, workspace, webhook, event);
        let rows = self.readers.run_in_snapshot(load).await?;
        rows.map(|(row, attempts)| delivery_detail(row, attempts)).transpose()
    }
}
