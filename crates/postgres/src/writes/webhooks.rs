//! Webhooks, and the events and deliveries that commands write.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{ChangelogId, CustomerId, WebhookEventId, WebhookId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{Delivery, DeliveryState, DisabledBecause, Failure, NewDelivery, Webhook};
use roadmap_domain::model::webhook_event::{EventKind, NewWebhookEvent};
use roadmap_domain::ports::WebhookWrites;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{DeliveryRow, WebhookRow, details_column, secrets_column};
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::rows::{DeliveryColumns, webhook_columns};
use crate::schema::{changelogs, webhook_deliveries, webhooks};
use crate::statement::statement;
use crate::unit::PostgresUnit;
use crate::webhook_events::RecordEvents;

statement! {
    /// Inserts a test event, which needs no distribution, and its delivery, which is due before all others.
    InsertTestDelivery {
        workspace: Uuid => SqlUuid,
        webhook: Uuid => SqlUuid,
        event: Uuid => SqlUuid,
        kind: String => Text,
        actor_kind: String => Text,
        actor_id: Option<Uuid> => Nullable<SqlUuid>,
        actor_name: String => Text,
        details: String => Text,
        include_private: bool => Bool,
        include_emails: bool => Bool,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "WITH event AS (
         INSERT INTO webhook_events (workspace_id, id, kind, actor_kind, actor_id, actor_name, data, snapshot,
                                     created_at, is_distributed)
         VALUES ({workspace}, {event}, {kind}, {actor_kind}, {actor_id}, {actor_name}, {details}::jsonb,
                 jsonb_build_object(), {at}, true)
     )
     INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, kind, include_private, include_emails,
                                     priority, state, attempts, tries, due_at, created_at)
     VALUES ({workspace}, {webhook}, {event}, {kind}, {include_private}, {include_emails}, 0, 'waiting', 0, 0, {at},
             {at})"
}

statement! {
    /// Selects and locks a delivery, without its last attempt.
    FindDelivery { workspace: Uuid => SqlUuid, webhook: Uuid => SqlUuid, event: Uuid => SqlUuid } -> DeliveryColumns,
    "SELECT event_id, kind, include_private, include_emails, state, failure, attempts, due_at, created_at,
            NULL::timestamptz, NULL::integer, NULL::text, NULL::bigint, NULL::text
     FROM webhook_deliveries
     WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND event_id = {event} FOR UPDATE"
}

/// The SQL assignments of a delivery that waits again, with all tries, in a statement with the parameter `at`.
macro_rules! waits_again {
    () => {
        "state = 'waiting', failure = NULL, due_at = {at}, leased_until = NULL, tries = 0"
    };
}

statement! {
    /// Lets a delivery wait again.
    RedeliverOne {
        workspace: Uuid => SqlUuid,
        webhook: Uuid => SqlUuid,
        event: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    concat!("UPDATE webhook_deliveries SET ", waits_again!(), "
     WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND event_id = {event}")
}

statement! {
    /// Lets the failed deliveries of a webhook wait again, except for test events.
    RedeliverFailed {
        workspace: Uuid => SqlUuid,
        webhook: Uuid => SqlUuid,
        since: TimestampColumn => Timestamptz,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    concat!("UPDATE webhook_deliveries SET ", waits_again!(), "
     WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND state = 'failed' AND kind <> 'webhook.test'
       AND created_at >= {since}")
}

statement! {
    /// Deletes the events of a customer, and those about one.
    DeleteEventsOf { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> Untyped,
    "DELETE FROM webhook_events
     WHERE workspace_id = {workspace} AND (actor_id = {customer} OR strpos(snapshot::text, {customer}::text) > 0)"
}

#[async_trait]
impl WebhookWrites for PostgresUnit {
    /// Also locks the rows, so that the ends of tries wait that change one.
    async fn load_webhooks(&mut self) -> Result<Vec<Webhook>, StoreError> {
        self.lock_workspace(WorkspaceLock::Webhooks).await?;
        let select = webhooks::table
            .filter(webhooks::workspace_id.eq(self.workspace))
            .order((webhooks::created_at, webhooks::id))
            .select(webhook_columns())
            .for_no_key_update();
        let rows: Vec<WebhookRow> = self.run(select.load(&mut self.connection()?)).await?;
        rows.into_iter().map(Webhook::try_from).collect()
    }

    async fn save_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError> {
        let (secrets, events) = (secrets_column(&webhook.secrets)?, webhook.events_column());
        let changing = (
            webhooks::sealed_url.eq(webhook.sealed_url.as_str()),
            webhooks::sealed_secrets.eq(secrets.as_str()),
            webhooks::description.eq(webhook.description.as_str()),
            webhooks::events.eq(events.as_deref()),
            webhooks::include_private.eq(webhook.includes.private),
            webhooks::include_emails.eq(webhook.includes.emails),
            webhooks::enabled.eq(webhook.enabled),
            webhooks::disabled_because.eq(webhook.disabled_because.map(DisabledBecause::name)),
            webhooks::enabled_at.eq(TimestampColumn::from(webhook.enabled_at)),
            webhooks::disabled_at.eq(webhook.disabled_at.map(TimestampColumn::from)),
            webhooks::failing_since.eq(webhook.failing_since.map(TimestampColumn::from)),
            webhooks::failed_tries.eq(i32::try_from(webhook.failed_tries).unwrap_or(i32::MAX)),
            webhooks::updated_at.eq(TimestampColumn::from(webhook.updated_at)),
        );
        let row = (
            webhooks::workspace_id.eq(self.workspace),
            webhooks::id.eq(webhook.id.uuid()),
            webhooks::format.eq(webhook.format.name()),
            webhooks::created_at.eq(TimestampColumn::from(webhook.created_at)),
            changing,
        );
        let insert = diesel::insert_into(webhooks::table)
            .values(row)
            .on_conflict((webhooks::workspace_id, webhooks::id))
            .do_update()
            .set(changing);
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    /// The events that only this webhook got are left to the purge of the queue.
    async fn delete_webhook(&mut self, webhook: WebhookId) -> Result<(), StoreError> {
        let delete = diesel::delete(webhooks::table)
            .filter(webhooks::workspace_id.eq(self.workspace))
            .filter(webhooks::id.eq(webhook.uuid()));
        self.run(delete.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn fail_waiting(&mut self, webhook: WebhookId, failure: Failure) -> Result<(), StoreError> {
        let update = diesel::update(webhook_deliveries::table)
            .filter(webhook_deliveries::workspace_id.eq(self.workspace))
            .filter(webhook_deliveries::webhook_id.eq(webhook.uuid()))
            .filter(webhook_deliveries::state.eq(DeliveryState::Waiting.name()))
            .filter(webhook_deliveries::kind.ne(EventKind::WebhookTest.name()))
            .set((
                webhook_deliveries::state.eq(DeliveryState::Failed.name()),
                webhook_deliveries::failure.eq(failure.name()),
                webhook_deliveries::due_at.eq(None::<TimestampColumn>),
                webhook_deliveries::leased_until.eq(None::<TimestampColumn>),
            ));
        self.run(update.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    /// The commit records them.
    async fn record_events(&mut self, events: &[NewWebhookEvent]) -> Result<(), StoreError> {
        self.keep_events(events);
        Ok(())
    }

    async fn record_events_now(&mut self, events: &[NewWebhookEvent]) -> Result<(), StoreError> {
        if let Some(record) = RecordEvents::of(self.workspace, events)? {
            self.run(record.execute(&mut self.connection()?)).await?;
        }
        Ok(())
    }

    async fn insert_test_delivery(
        &mut self,
        event: &NewWebhookEvent,
        delivery: &NewDelivery,
    ) -> Result<(), StoreError> {
        let insert = InsertTestDelivery {
            workspace: self.workspace,
            webhook: delivery.webhook.uuid(),
            event: event.id.uuid(),
            kind: event.draft.kind.name().to_owned(),
            actor_kind: event.actor.kind.name().to_owned(),
            actor_id: event.actor.id,
            actor_name: event.actor.name.clone(),
            details: details_column(&event.draft.details)?,
            include_private: delivery.includes.private,
            include_emails: delivery.includes.emails,
            at: event.at.into(),
        };
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn find_delivery(
        &mut self,
        webhook: WebhookId,
        event: WebhookEventId,
    ) -> Result<Option<Delivery>, StoreError> {
        let select = FindDelivery { workspace: self.workspace, webhook: webhook.uuid(), event: event.uuid() };
        let row: Option<DeliveryRow> = self.run_optional(select.get_result(&mut self.connection()?)).await?;
        row.map(Delivery::try_from).transpose()
    }

    async fn redeliver(&mut self, webhook: WebhookId, event: WebhookEventId, at: Timestamp) -> Result<(), StoreError> {
        let redeliver =
            RedeliverOne { workspace: self.workspace, webhook: webhook.uuid(), event: event.uuid(), at: at.into() };
        self.run(redeliver.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn redeliver_failed(
        &mut self,
        webhook: WebhookId,
        since: Timestamp,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        let redeliver =
            RedeliverFailed { workspace: self.workspace, webhook: webhook.uuid(), since: since.into(), at: at.into() };
        Ok(self.run(redeliver.execute(&mut self.connection()?)).await? as u64)
    }

    async fn delete_events_of(&mut self, customer: CustomerId) -> Result<(), StoreError> {
        let delete = DeleteEventsOf { workspace: self.workspace, customer: customer.uuid() };
        self.run(delete.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn mark_announced(&mut self, changelog: ChangelogId, at: Timestamp) -> Result<bool, StoreError> {
        let update = diesel::update(changelogs::table)
            .filter(changelogs::workspace_id.eq(self.workspace))
            .filter(changelogs::id.eq(changelog.uuid()))
            .filter(changelogs::to_announce)
            .filter(changelogs::published_at.le(TimestampColumn::from(at)))
            .set(changelogs::to_announce.eq(false));
        Ok(self.run(update.execute(&mut self.connection()?)).await? > 0)
    }
}
