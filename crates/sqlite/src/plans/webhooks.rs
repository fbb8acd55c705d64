//! The query plans of webhooks: what runs with each change, or again and again, reads few rows.

use super::{ID, assert_selective, plan, sql};
use crate::fixtures::{connection, database};
use crate::reads::webhooks::{DeliveriesOfState, DeliveriesPage, OneDelivery};
use crate::webhook_queue::{
    ChangelogsToAnnounce, ClaimEvents, DeleteUnwanted, DueDeliveries, DueWebhooks, FailBacklog, LeaseDeliveries,
    UndistributedPage,
};
use crate::writes::webhooks::{InsertDelivery, InsertEvent};

/// Selects due deliveries.
fn due() -> String {
    sql(&DueDeliveries { workspace: ID, webhook: ID, priority: 1, now: 0, limit: 4 })
}

/// Stores an event with all kinds of records.
fn insert_event() -> String {
    let record = Some(ID);
    sql(&InsertEvent {
        workspace: ID,
        request: record,
        customer: record,
        address: None,
        comment: record,
        note: record,
        changelog: record,
        id: ID,
        kind: "vote.created",
        actor_kind: "customer",
        actor_id: record,
        actor_name: String::new(),
        data: "{}".to_owned(),
        created_at: 0,
        is_distributed: false,
    })
}

/// Stores a delivery.
fn insert_delivery() -> String {
    sql(&InsertDelivery {
        event: ID,
        kind: "vote.created",
        include_private: false,
        include_emails: false,
        priority: 1,
        failure: None,
        if_disabled: None,
        due_at: 0,
        created_at: 0,
        workspace: ID,
        webhook: ID,
    })
}

#[test]
fn no_statement_reads_all_rows_of_a_workspace() {
    let (workspace, webhook, event, before) = (ID, ID, ID, ID);
    let (state, limit, offset, now) = ("failed", 25, 0, 0);
    let events = || "[]".to_owned();
    let statements = [
        due(),
        insert_event(),
        insert_delivery(),
        sql(&LeaseDeliveries { due_at: 1, leased_until: 1, workspace, webhook, events: events() }),
        sql(&UndistributedPage { workspace, limit }),
        sql(&ClaimEvents { workspace, events: events() }),
        sql(&DeleteUnwanted { workspace, events: events() }),
        sql(&FailBacklog { workspace, webhook, of_workspace: workspace, of_webhook: webhook, backlog: 100 }),
        sql(&DueWebhooks { now }),
        sql(&ChangelogsToAnnounce { now, limit }),
        sql(&DeliveriesPage { workspace, webhook, before, limit, offset }),
        sql(&DeliveriesOfState { workspace, webhook, state, before, limit, offset }),
        sql(&OneDelivery { workspace, webhook, event }),
    ];
    // A workspace has few webhooks, and few events that are not distributed.
    assert_selective(statements.into_iter(), &["webhooks", "webhook_events_to_distribute"]);
}

#[test]
fn due_deliveries_are_read_in_the_order_of_an_index() {
    let (_folder, options) = database();
    let mut connection = connection(&options.path);
    let steps: Vec<String> = plan(&mut connection, &due()).into_iter().map(|step| step.detail).collect();
    assert!(steps.iter().any(|step| step.contains("USING INDEX webhook_deliveries_due")), "{steps:?}");
    assert!(!steps.iter().any(|step| step.starts_with("USE TEMP B-TREE")), "{steps:?}");
}
