//! Events and deliveries of webhooks as workers see them. Each method but [`WebhookQueue::distribute`] changes with one
//! statement of its own.
//!
//! Who changes a webhook and its deliveries locks the webhook first, and several ones in the order of their age.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::{ErrorChain, StoreError};
use roadmap_domain::model::id::{ChangelogId, WebhookEventId, WebhookId, WorkspaceId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{
    Attempt, AttemptError, DeliveryLease, DeliveryOutcome, DeliveryState, Failure, LeasedDeliveries, NewDelivery,
    Webhook, WebhookDepth,
};
use roadmap_domain::model::webhook_event::StoredEvent;
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::ports::{UndistributedEvents, WebhookQueue, WorkspaceDirectory};
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{LeasedDeliveryRow, StoredEventRow, WebhookDepthRow, WebhookRow};
use uuid::Uuid;

use crate::PostgresStore;
use crate::rows::{StoredEventColumns, WebhookColumns, stored_event, webhook, webhook_columns};
use crate::schema::webhooks;
use crate::session::{LastStatement, NO_WORKSPACE, Session};
use crate::statement::statement;

statement! {
    /// Selects the workspaces with events that are not distributed.
    WorkspacesWithEvents {} -> SqlUuid,
    "SELECT id FROM workspaces_with_events()"
}

statement! {
    /// Selects the oldest events of a workspace that are not distributed.
    UndistributedPage { workspace: Uuid => SqlUuid, limit: i64 => BigInt } -> StoredEventColumns,
    concat!("SELECT ", stored_event!(), " FROM webhook_events
     WHERE workspace_id = {workspace} AND NOT is_distributed ORDER BY id LIMIT {limit}")
}

statement! {
    /// Inserts the deliveries of those of the events that are not distributed yet, to those of the webhooks that exist. The
    /// arrays that begin with that of webhooks have one element for each delivery. Deliveries of a webhook
    /// that was disabled meanwhile have failed. Events without a delivery are deleted. Returns the webhooks that got a delivery.
    Distribute {
        workspace: Uuid => SqlUuid,
        events: Vec<Uuid> => Array<SqlUuid>,
        webhooks: Vec<Uuid> => Array<SqlUuid>,
        of_events: Vec<Uuid> => Array<SqlUuid>,
        kinds: Vec<String> => Array<Text>,
        include_private: Vec<bool> => Array<Bool>,
        include_emails: Vec<bool> => Array<Bool>,
        failures: Vec<Option<String>> => Array<Nullable<Text>>,
        times: Vec<TimestampColumn> => Array<Timestamptz>,
        now: TimestampColumn => Timestamptz,
    } -> SqlUuid,
    "WITH taken AS MATERIALIZED (
         SELECT id FROM webhook_events
         WHERE workspace_id = {workspace} AND id = ANY ({events}) AND NOT is_distributed ORDER BY id FOR UPDATE
     ), existing AS MATERIALIZED (
         SELECT id, enabled FROM webhooks WHERE workspace_id = {workspace} AND (SELECT count(*) FROM taken) > 0
         ORDER BY created_at, id FOR NO KEY UPDATE
     ), inserted AS (
         INSERT INTO webhook_deliveries (workspace_id, webhook_id, event_id, kind, include_private, include_emails,
                                         priority, state, failure, attempts, tries, due_at, created_at)
         SELECT {workspace}, delivery.webhook_id, delivery.event_id, delivery.kind, delivery.include_private,
                delivery.include_emails, 1, CASE WHEN final.failure IS NULL THEN 'waiting' ELSE 'failed' END,
                final.failure, 0, 0, CASE WHEN final.failure IS NULL THEN {now} END, delivery.created_at
         FROM unnest({webhooks}, {of_events}, {kinds}, {include_private}, {include_emails}, {failures}, {times})
              AS delivery (webhook_id, event_id, kind, include_private, include_emails, failure, created_at)
         JOIN taken ON taken.id = delivery.event_id
         JOIN existing ON existing.id = delivery.webhook_id
         CROSS JOIN LATERAL (
             SELECT coalesce(delivery.failure, CASE WHEN NOT existing.enabled THEN 'disabled' END) AS failure
         ) AS final
         ORDER BY delivery.event_id
         ON CONFLICT (workspace_id, webhook_id, event_id) DO NOTHING
         RETURNING webhook_id, event_id
     ), kept AS (
         UPDATE webhook_events SET is_distributed = true
         WHERE workspace_id = {workspace} AND id = ANY (ARRAY(SELECT event_id FROM inserted))
     ), unwanted AS (
         DELETE FROM webhook_events
         WHERE workspace_id = {workspace}
           AND id = ANY (ARRAY(SELECT id FROM taken EXCEPT SELECT event_id FROM inserted))
     )
     SELECT DISTINCT webhook_id FROM inserted"
}

statement! {
    /// Lets the oldest waiting deliveries of a webhook fail, beyond a number of newer ones.
    FailBacklog { workspace: Uuid => SqlUuid, webhook: Uuid => SqlUuid, backlog: i64 => BigInt } -> Untyped,
    "UPDATE webhook_deliveries SET state = 'failed', failure = 'backlog', due_at = NULL, leased_until = NULL
     WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND state = 'waiting'
       AND event_id <= (
           SELECT event_id FROM webhook_deliveries
           WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND state = 'waiting'
           ORDER BY event_id DESC LIMIT 1 OFFSET {backlog}
       )"
}

statement! {
    /// Selects the webhooks with due deliveries.
    DueWebhooks { now: TimestampColumn => Timestamptz } -> (SqlUuid, SqlUuid),
    "SELECT of_workspace, webhook FROM webhooks_with_deliveries({now})"
}

statement! {
    /// Leases due deliveries of a webhook: test events first, then those that have been due longest, unless it is disabled.
    /// Returns the webhook with the subdomain of its workspace, and these deliveries. A webhook without any is a single row.
    ///
    /// Those that are due at the same time come in the order in which they were inserted, as the index has them: sorting
    /// all that are due would take long.
    LeaseDeliveries {
        workspace: Uuid => SqlUuid,
        webhook: Uuid => SqlUuid,
        now: TimestampColumn => Timestamptz,
        until: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> (WebhookColumns, Text, Nullable<(Bool, Bool, Integer, StoredEventColumns)>),
    concat!("WITH tests AS MATERIALIZED (
         SELECT event_id FROM webhook_deliveries
         WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND priority = 0 AND due_at <= {now}
         ORDER BY due_at LIMIT {limit} FOR UPDATE SKIP LOCKED
     ), others AS MATERIALIZED (
         SELECT event_id FROM webhook_deliveries
         WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND priority = 1 AND due_at <= {now}
           AND (SELECT enabled FROM webhooks WHERE workspace_id = {workspace} AND id = {webhook})
         ORDER BY due_at LIMIT {limit} - (SELECT count(*) FROM tests) FOR UPDATE SKIP LOCKED
     ), leased AS (
         UPDATE webhook_deliveries
         SET due_at = {until}, leased_until = {until}, tries = least(tries, 2147483646) + 1
         WHERE workspace_id = {workspace} AND webhook_id = {webhook}
           AND event_id = ANY (ARRAY(SELECT event_id FROM tests UNION ALL SELECT event_id FROM others))
         RETURNING event_id, include_private, include_emails, tries
     )
     SELECT ", webhook!(), ", workspaces.subdomain, leased.include_private, leased.include_emails, leased.tries,
            ", stored_event!(), "
     FROM webhooks
     JOIN workspaces ON workspaces.id = webhooks.workspace_id
     LEFT JOIN leased ON true
     LEFT JOIN webhook_events ON webhook_events.workspace_id = {workspace} AND webhook_events.id = leased.event_id
     WHERE webhooks.workspace_id = {workspace} AND webhooks.id = {webhook}
     ORDER BY leased.event_id")
}

/// The row of a leased delivery, with its webhook.
type LeaseRow = (WebhookRow, String, Option<LeasedDeliveryRow>);

statement! {
    /// Lets leased deliveries fail whose events cannot be read.
    FailUnreadable {
        workspace: Uuid => SqlUuid,
        webhook: Uuid => SqlUuid,
        events: Vec<Uuid> => Array<SqlUuid>,
        leased_until: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE webhook_deliveries SET state = 'failed', failure = 'gave_up', due_at = NULL, leased_until = NULL
     WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND event_id = ANY ({events})
       AND leased_until = {leased_until}"
}

statement! {
    /// Saves an attempt and the outcome of a leased delivery, unless its lease has expired. Of the webhook it saves since
    /// when it has been failing, unless the event is a test. Returns the webhook as it is then.
    ///
    /// A webhook that is to be changed is locked before the delivery.
    SettleDelivery {
        workspace: Uuid => SqlUuid,
        webhook: Uuid => SqlUuid,
        event: Uuid => SqlUuid,
        leased_until: TimestampColumn => Timestamptz,
        at: TimestampColumn => Timestamptz,
        status: Option<i32> => Nullable<Integer>,
        error: Option<String> => Nullable<Text>,
        duration_ms: i64 => BigInt,
        response: Option<String> => Nullable<Text>,
        has_failed: bool => Bool,
        state: String => Text,
        failure: Option<String> => Nullable<Text>,
        due_at: Option<TimestampColumn> => Nullable<Timestamptz>,
    } -> WebhookColumns,
    concat!("WITH changing AS MATERIALIZED (
         SELECT id FROM webhooks
         WHERE workspace_id = {workspace} AND id = {webhook} AND ({has_failed} OR failing_since IS NOT NULL)
         FOR NO KEY UPDATE
     ), delivery AS MATERIALIZED (
         SELECT kind, attempts FROM webhook_deliveries
         WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND event_id = {event}
           AND state = 'waiting' AND leased_until = {leased_until} AND (SELECT count(*) FROM changing) >= 0
         FOR UPDATE
     ), attempt AS (
         INSERT INTO webhook_attempts (workspace_id, webhook_id, event_id, number, status, error, duration_ms, response,
                                       created_at)
         SELECT {workspace}, {webhook}, {event}, attempts + 1, {status}, {error}, {duration_ms}, {response}, {at}
         FROM delivery
     ), settled AS (
         UPDATE webhook_deliveries
         SET attempts = delivery.attempts + 1, state = {state}, failure = {failure}, due_at = {due_at},
             leased_until = NULL
         FROM delivery WHERE workspace_id = {workspace} AND webhook_id = {webhook} AND event_id = {event}
     ), changed AS (
         UPDATE webhooks
         SET failing_since = CASE WHEN {has_failed} THEN coalesce(failing_since, {at}) END,
             failed_tries = CASE WHEN {has_failed} THEN least(failed_tries, 2147483646) + 1 ELSE 0 END
         FROM delivery
         WHERE workspace_id = {workspace} AND id = {webhook} AND delivery.kind <> 'webhook.test'
           AND ({has_failed} OR failing_since IS NOT NULL)
         RETURNING ", webhook!(), "
     )
     SELECT * FROM changed
     UNION ALL
     SELECT ", webhook!(), " FROM webhooks CROSS JOIN delivery
     WHERE webhooks.workspace_id = {workspace} AND webhooks.id = {webhook} AND NOT EXISTS (SELECT FROM changed)")
}

statement! {
    /// Returns leased deliveries that were not tried. All arrays have one element for each.
    GiveBack {
        workspace: Uuid => SqlUuid,
        webhooks: Vec<Uuid> => Array<SqlUuid>,
        events: Vec<Uuid> => Array<SqlUuid>,
        leased_until: Vec<TimestampColumn> => Array<Timestamptz>,
        now: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE webhook_deliveries AS delivery SET leased_until = NULL, due_at = {now}, tries = delivery.tries - 1
     FROM unnest({webhooks}, {events}, {leased_until}) AS lease (webhook_id, event_id, until)
     WHERE delivery.workspace_id = {workspace} AND delivery.webhook_id = lease.webhook_id
       AND delivery.event_id = lease.event_id AND delivery.leased_until = lease.until"
}

statement! {
    /// Counts the deliveries and webhooks of all workspaces.
    DeliveryDepth { now: TimestampColumn => Timestamptz }
        -> (BigInt, BigInt, BigInt, BigInt, Nullable<Timestamptz>, BigInt, BigInt),
    "SELECT due, leased, postponed, failed, oldest, on_count, off_count FROM webhook_depth({now})"
}

statement! {
    /// Selects the changelogs that are to be announced.
    ChangelogsToAnnounce { now: TimestampColumn => Timestamptz, limit: i64 => BigInt } -> (SqlUuid, SqlUuid),
    "SELECT of_workspace, changelog FROM changelogs_to_announce({now}, {limit})"
}

statement! {
    /// Deletes ended deliveries of a workspace's webhooks: some of the oldest ones that are from before a timestamp, and
    /// some of those that are not among the newest. Also deletes the events that have none left. Returns the number of
    /// deliveries.
    PurgeDeliveries {
        workspace: Uuid => SqlUuid,
        before: TimestampColumn => Timestamptz,
        keep: i64 => BigInt,
        limit: i64 => BigInt,
    } -> BigInt,
    "WITH expired AS MATERIALIZED (
         SELECT webhooks.id AS webhook_id, ended.event_id FROM webhooks CROSS JOIN LATERAL (
             SELECT event_id FROM (
                 (SELECT event_id, created_at FROM webhook_deliveries
                  WHERE workspace_id = {workspace} AND webhook_id = webhooks.id AND state = 'delivered'
                  ORDER BY event_id LIMIT {limit})
                 UNION ALL
                 (SELECT event_id, created_at FROM webhook_deliveries
                  WHERE workspace_id = {workspace} AND webhook_id = webhooks.id AND state = 'failed'
                  ORDER BY event_id LIMIT {limit})
             ) AS oldest WHERE created_at < {before}
             UNION
             (SELECT event_id FROM (
                  SELECT event_id FROM webhook_deliveries
                  WHERE workspace_id = {workspace} AND webhook_id = webhooks.id AND state = 'delivered'
                  UNION ALL
                  SELECT event_id FROM webhook_deliveries
                  WHERE workspace_id = {workspace} AND webhook_id = webhooks.id AND state = 'failed'
              ) AS newest ORDER BY event_id DESC LIMIT {limit} OFFSET {keep})
             ORDER BY event_id LIMIT {limit}
         ) AS ended
         WHERE webhooks.workspace_id = {workspace}
     ), deleted AS (
         DELETE FROM webhook_deliveries AS delivery USING expired
         WHERE delivery.workspace_id = {workspace} AND delivery.webhook_id = expired.webhook_id
           AND delivery.event_id = expired.event_id AND delivery.state <> 'waiting'
         RETURNING delivery.webhook_id, delivery.event_id
     ), left_over AS (
         DELETE FROM webhook_events
         WHERE workspace_id = {workspace} AND id = ANY (ARRAY(SELECT event_id FROM deleted))
           AND NOT EXISTS (
               SELECT FROM webhook_deliveries AS other
               WHERE other.workspace_id = {workspace} AND other.event_id = webhook_events.id
                 AND (other.webhook_id, other.event_id) NOT IN (SELECT webhook_id, event_id FROM deleted)
           )
     )
     SELECT count(*) FROM deleted"
}

statement! {
    /// Deletes those of a workspace's oldest events that have no delivery: their webhooks were deleted.
    PurgeEvents { workspace: Uuid => SqlUuid, limit: i64 => BigInt } -> Untyped,
    "DELETE FROM webhook_events AS event
     WHERE workspace_id = {workspace}
       AND id = ANY (ARRAY(
           SELECT id FROM webhook_events WHERE workspace_id = {workspace} AND is_distributed ORDER BY id LIMIT {limit}
       ))
       AND NOT EXISTS (
           SELECT FROM webhook_deliveries AS delivery
           WHERE delivery.workspace_id = {workspace} AND delivery.event_id = event.id
       )"
}

#[async_trait]
impl WebhookQueue for PostgresStore {
    async fn workspaces_with_events(&self) -> Result<Vec<WorkspaceId>, StoreError> {
        let session = self.mail_session(NO_WORKSPACE).await?;
        let ids: Vec<Uuid> = session.run(WorkspacesWithEvents {}.load(&mut session.connection()?)).await?;
        Ok(ids.into_iter().map(WorkspaceId::new).collect())
    }

    /// Reads the events first: one that was recorded for a webhook is never read without it.
    async fn undistributed_events(
        &self,
        workspace: WorkspaceId,
        limit: u32,
    ) -> Result<UndistributedEvents, StoreError> {
        let session = self.mail_session(workspace).await?;
        let page = UndistributedPage { workspace: workspace.uuid(), limit: limit.into() };
        let rows: Vec<StoredEventRow> = session.run(page.load(&mut session.connection()?)).await?;
        let (mut events, mut ids) = (Vec::new(), Vec::new());
        for row in rows {
            ids.push(WebhookEventId::new(row.id.0));
            match StoredEvent::try_from(row) {
                Ok(event) => events.push(event),
                Err(error) => tracing::error!(%workspace, error = %ErrorChain::new(&error), "an event cannot be read"),
            }
        }
        let select = webhooks::table
            .filter(webhooks::workspace_id.eq(workspace.uuid()))
            .order((webhooks::created_at, webhooks::id))
            .select(webhook_columns());
        let webhooks: Vec<WebhookRow> = session.run(select.load(&mut session.connection()?)).await?;
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
        let session = Session::transaction(&self.mail, workspace.uuid()).await?;
        let distribute = Distribute {
            workspace: workspace.uuid(),
            events: events.iter().map(|event| event.uuid()).collect(),
            webhooks: deliveries.iter().map(|delivery| delivery.webhook.uuid()).collect(),
            of_events: deliveries.iter().map(|delivery| delivery.event.uuid()).collect(),
            kinds: deliveries.iter().map(|delivery| delivery.kind.name().to_owned()).collect(),
            include_private: deliveries.iter().map(|delivery| delivery.includes.private).collect(),
            include_emails: deliveries.iter().map(|delivery| delivery.includes.emails).collect(),
            failures: deliveries.iter().map(|delivery| delivery.failure.map(failure_column)).collect(),
            times: deliveries.iter().map(|delivery| delivery.created_at.into()).collect(),
            now: now.into(),
        };
        let webhooks: Vec<Uuid> = session.run(distribute.load(&mut session.connection()?)).await?;
        for webhook in webhooks {
            let fail = FailBacklog { workspace: workspace.uuid(), webhook, backlog: backlog.into() };
            session.run(fail.execute(&mut session.connection()?)).await?;
        }
        session.commit(None::<(LastStatement, FailBacklog)>).await
    }

    async fn due_webhooks(&self, now: Timestamp) -> Result<Vec<(WorkspaceId, WebhookId)>, StoreError> {
        let session = self.mail_session(NO_WORKSPACE).await?;
        let due = DueWebhooks { now: now.into() };
        let rows: Vec<(Uuid, Uuid)> = session.run(due.load(&mut session.connection()?)).await?;
        let id = |(workspace, webhook)| (WorkspaceId::new(workspace), WebhookId::new(webhook));
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
        let session = self.mail_session(workspace).await?;
        let lease = LeaseDeliveries {
            workspace: workspace.uuid(),
            webhook: webhook.uuid(),
            now: now.into(),
            until: until.into(),
            limit: limit.into(),
        };
        let rows: Vec<LeaseRow> = session.run(lease.load(&mut session.connection()?)).await?;
        let (mut found, mut deliveries, mut unreadable) = (None, Vec::new(), Vec::new());
        for (row, subdomain, delivery) in rows {
            found = Some((row, subdomain));
            let Some(delivery) = delivery else { continue };
            let event = delivery.event.id.0;
            match delivery.into_delivery(webhook, until) {
                Ok(delivery) => deliveries.push(delivery),
                Err(error) => {
                    tracing::error!(%workspace, error = %ErrorChain::new(&error), "an event cannot be delivered");
                    unreadable.push(event);
                }
            }
        }
        if !unreadable.is_empty() {
            let fail = FailUnreadable {
                workspace: workspace.uuid(),
                webhook: webhook.uuid(),
                events: unreadable,
                leased_until: until.into(),
            };
            session.run(fail.execute(&mut session.connection()?)).await?;
        }
        let Some((row, subdomain)) = found else { return Ok(None) };
        let subdomain = Subdomain::from_stored(subdomain);
        Ok(Some(LeasedDeliveries { webhook: row.try_into()?, subdomain, deliveries }))
    }

    async fn settle(
        &self,
        workspace: WorkspaceId,
        lease: &DeliveryLease,
        attempt: &Attempt,
        outcome: DeliveryOutcome,
    ) -> Result<Option<Webhook>, StoreError> {
        let session = self.mail_session(workspace).await?;
        let (state, failure, due_at) = match outcome {
            DeliveryOutcome::Delivered => (DeliveryState::Delivered, None, None),
            DeliveryOutcome::Failed(failure) => (DeliveryState::Failed, Some(failure), None),
            DeliveryOutcome::Postponed(until) => (DeliveryState::Waiting, None, Some(until)),
        };
        let settle = SettleDelivery {
            workspace: workspace.uuid(),
            webhook: lease.webhook.uuid(),
            event: lease.event.uuid(),
            leased_until: lease.until.into(),
            at: attempt.at.into(),
            status: attempt.status.map(i32::from),
            error: attempt.error.map(AttemptError::name).map(ToOwned::to_owned),
            duration_ms: i64::try_from(attempt.duration_ms).unwrap_or(i64::MAX),
            response: attempt.response.clone(),
            has_failed: attempt.error.is_some(),
            state: state.name().to_owned(),
            failure: failure.map(failure_column),
            due_at: due_at.map(TimestampColumn::from),
        };
        let row: Option<WebhookRow> = session.run_optional(settle.get_result(&mut session.connection()?)).await?;
        row.map(Webhook::try_from).transpose()
    }

    async fn give_back(
        &self,
        workspace: WorkspaceId,
        leases: &[DeliveryLease],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let session = self.mail_session(workspace).await?;
        let give_back = GiveBack {
            workspace: workspace.uuid(),
            webhooks: leases.iter().map(|lease| lease.webhook.uuid()).collect(),
            events: leases.iter().map(|lease| lease.event.uuid()).collect(),
            leased_until: leases.iter().map(|lease| lease.until.into()).collect(),
            now: now.into(),
        };
        session.run(give_back.execute(&mut session.connection()?)).await?;
        Ok(())
    }

    async fn depth(&self, now: Timestamp) -> Result<WebhookDepth, StoreError> {
        let session = self.mail_session(NO_WORKSPACE).await?;
        let depth = DeliveryDepth { now: now.into() };
        let counts: WebhookDepthRow = session.run(depth.get_result(&mut session.connection()?)).await?;
        counts.try_into()
    }

    async fn changelogs_to_announce(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(WorkspaceId, ChangelogId)>, StoreError> {
        let session = self.mail_session(NO_WORKSPACE).await?;
        let select = ChangelogsToAnnounce { now: now.into(), limit: limit.into() };
        let rows: Vec<(Uuid, Uuid)> = session.run(select.load(&mut session.connection()?)).await?;
        let id = |(workspace, changelog)| (WorkspaceId::new(workspace), ChangelogId::new(changelog));
        Ok(rows.into_iter().map(id).collect())
    }

    /// Runs per workspace, because row security hides the rows of other workspaces from a session.
    async fn purge(&self, before: Timestamp, keep: u32, limit: u32) -> Result<u64, StoreError> {
        let mut purged: u64 = 0;
        for workspace in self.workspaces().await? {
            let session = self.mail_session(workspace.id).await?;
            let workspace = workspace.id.uuid();
            let purge = PurgeDeliveries { workspace, before: before.into(), keep: keep.into(), limit: limit.into() };
            let deleted: i64 = session.run(purge.get_result(&mut session.connection()?)).await?;
            let purge = PurgeEvents { workspace, limit: limit.into() };
            session.run(purge.execute(&mut session.connection()?)).await?;
            purged = purged.saturating_add(deleted.unsigned_abs());
        }
        Ok(purged)
    }
}

/// Returns the stored form of a failure.
fn failure_column(failure: Failure) -> String {
    failure.name().to_owned()
}
