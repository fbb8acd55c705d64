//! Webhooks and their deliveries.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Nullable, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{WebhookEventId, WebhookId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::webhook::{Delivery, DeliveryDetail, DeliveryState, Webhook};
use roadmap_domain::ports::WebhookReader;
use roadmap_store::rows::{AttemptRow, DeliveryRow, StoredEventRow, WebhookRow, delivery_detail};
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::listing::{BEYOND, listing};
use crate::rows::{DeliveryColumns, StoredEventColumns, stored_event, webhook_columns};
use crate::schema::{webhook_attempts, webhooks};
use crate::statement::statement;

/// The SQL of the columns of `delivery` and its last attempt, and of that table with its attempts, from the given table or
/// common table expression, in a statement with the parameters `workspace` and `webhook`.
macro_rules! deliveries {
    ($columns:literal, $deliveries:literal) => {
        concat!(
            "SELECT ",
            $columns,
            "delivery.event_id, delivery.kind, delivery.include_private, delivery.include_emails, delivery.state,
                delivery.failure, delivery.attempts, delivery.due_at, delivery.created_at,
                attempt.created_at AS attempted_at, attempt.status, attempt.error, attempt.duration_ms, attempt.response
         FROM ",
            $deliveries,
            " LEFT JOIN webhook_attempts AS attempt
                ON attempt.workspace_id = {workspace} AND attempt.webhook_id = {webhook}
               AND attempt.event_id = delivery.event_id AND attempt.number = delivery.attempts"
        )
    };
}

statement! {
    /// Selects the number of deliveries of a webhook, with a page of them.
    DeliveriesPage {
        workspace: Uuid => SqlUuid,
        webhook: Uuid => SqlUuid,
        state: Option<String> => Nullable<Text>,
        before: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<DeliveryColumns>),
    concat!("WITH total AS (
         SELECT count(*) AS total FROM webhook_deliveries
         WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND ({state} IS NULL OR state = {state})
     ), page AS MATERIALIZED (
         SELECT * FROM webhook_deliveries
         WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND ({state} IS NULL OR state = {state})
           AND event_id < {before}
         ORDER BY event_id DESC LIMIT {limit} OFFSET {offset}
     )
     ", deliveries!("total, ", "total LEFT JOIN page AS delivery ON true"), "
     ORDER BY delivery.event_id DESC")
}

statement! {
    /// Selects a delivery with its event.
    SelectDelivery { workspace: Uuid => SqlUuid, webhook: Uuid => SqlUuid, event: Uuid => SqlUuid }
        -> (DeliveryColumns, StoredEventColumns),
    concat!("WITH listed AS (
         ", deliveries!("", "webhook_deliveries AS delivery"), "
         WHERE delivery.workspace_id = {workspace} AND delivery.webhook_id = {webhook} AND delivery.event_id = {event}
     )
     SELECT listed.*, ", stored_event!(), " FROM listed
     JOIN webhook_events ON webhook_events.workspace_id = {workspace} AND webhook_events.id = listed.event_id")
}

#[async_trait]
impl WebhookReader for PostgresReader {
    async fn webhooks(&self, workspace: WorkspaceId) -> Result<Vec<Webhook>, StoreError> {
        let session = self.session(workspace).await?;
        let select = webhooks::table
            .filter(webhooks::workspace_id.eq(workspace.uuid()))
            .order((webhooks::created_at, webhooks::id))
            .select(webhook_columns());
        let rows: Vec<WebhookRow> = session.run(select.load(&mut session.connection()?)).await?;
        rows.into_iter().map(Webhook::try_from).collect()
    }

    async fn deliveries(
        &self,
        workspace: WorkspaceId,
        webhook: WebhookId,
        state: Option<DeliveryState>,
        page: PageRequest,
    ) -> Result<Listing<Delivery>, StoreError> {
        let session = self.session(workspace).await?;
        let (_, before) = page.before();
        let select = DeliveriesPage {
            workspace: workspace.uuid(),
            webhook: webhook.uuid(),
            state: state.map(|state| state.name().to_owned()),
            before,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<DeliveryRow>)> = session.run(select.load(&mut session.connection()?)).await?;
        listing(rows, page, Delivery::try_from)
    }

    async fn delivery(
        &self,
        workspace: WorkspaceId,
        webhook: WebhookId,
        event: WebhookEventId,
    ) -> Result<Option<DeliveryDetail>, StoreError> {
        let session = self.session(workspace).await?;
        let (workspace, webhook, event) = (workspace.uuid(), webhook.uuid(), event.uuid());
        let select = SelectDelivery { workspace, webhook, event };
        let row: Option<(DeliveryRow, StoredEventRow)> =
            session.run_optional(select.get_result(&mut session.connection()?)).await?;
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
            ));
        let attempts: Vec<AttemptRow> = session.run(attempts.load(&mut session.connection()?)).await?;
        delivery_detail(row, attempts).map(Some)
    }
}
