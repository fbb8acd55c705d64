//! Subscriptions of customers to mail.

use async_trait::async_trait;
use diesel::dsl::{exists, select};
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, QueryDsl, RunQueryDsl};
use diesel::sql_types::{Binary, Bool, Text};
use diesel::{SqliteConnection, delete, insert_into, update};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::NewCustomer;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId};
use roadmap_domain::model::mail::{SubscribeOutcome, Unsubscription};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::SubscriptionWrites;
use roadmap_store::columns::Id;

use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::rows::find_row;
use crate::schema::{customers, followers, outbox};
use crate::statement::statement;
use crate::trees::tree_members;
use crate::unit::SqliteUnit;
use crate::writes::votes::find_or_insert_customer;

statement! {
    /// Deletes a customer's waiting notifications about the feature requests of a JSON array, including those held for
    /// a digest.
    DeleteWaitingAbout { requests: String => Text, workspace: Id => Binary, customer: Id => Binary }
    "WITH requests (id) AS (SELECT unhex(value) FROM json_each(?))
     DELETE FROM outbox WHERE workspace_id = ? AND customer_id = ? AND sent_at IS NULL
       AND CASE kind
           WHEN 'comment' THEN EXISTS (SELECT 1 FROM comments WHERE comments.workspace_id = outbox.workspace_id
               AND comments.id = unhex(payload ->> 'comment', '-') AND comments.request_id IN (SELECT id FROM requests))
           WHEN 'status_change' THEN EXISTS (SELECT 1 FROM feature_request_events event
               WHERE event.workspace_id = outbox.workspace_id AND event.id = unhex(payload ->> 'event', '-')
                 AND event.request_id IN (SELECT id FROM requests))
           ELSE 0
       END
       AND NOT EXISTS (SELECT 1 FROM outbox digest WHERE digest.workspace_id = outbox.workspace_id
                       AND digest.id = outbox.digest_id AND digest.sent_at IS NOT NULL)"
}

statement! {
    /// Sets whether the votes of a customer for the feature requests of a JSON array are subscribed, where that changes.
    SetSubscribed {
        subscribed: bool => Bool, workspace: Id => Binary, customer: Id => Binary, requests: String => Text,
    }
    "UPDATE votes SET subscribed = NOT subscribed WHERE subscribed <> ? AND workspace_id = ? AND customer_id = ?
       AND request_id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Deletes the subscriptions without a vote of a customer to the feature requests of a JSON array.
    DeleteFollower { workspace: Id => Binary, customer: Id => Binary, requests: String => Text }
    "DELETE FROM followers WHERE workspace_id = ? AND customer_id = ?
       AND request_id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Whether a customer has a subscription without a vote to a feature request of a JSON array.
    IsFollower { workspace: Id => Binary, customer: Id => Binary, requests: String => Text } -> Bool,
    "SELECT EXISTS (SELECT 1 FROM followers WHERE workspace_id = ? AND customer_id = ?
       AND request_id IN (SELECT unhex(value) FROM json_each(?)))"
}

/// Whether a customer has a subscription without a vote to a feature request of a JSON array.
pub(crate) fn is_follower(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    requests: &str,
) -> Result<bool, SqlError> {
    Ok(IsFollower { workspace, customer, requests: requests.to_owned() }.get_result(connection)?)
}

/// Deletes a customer's waiting notifications about the feature requests of a JSON array.
pub(crate) fn delete_waiting_about(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    requests: &str,
) -> Result<(), SqlError> {
    DeleteWaitingAbout { requests: requests.to_owned(), workspace, customer }.execute(connection)?;
    Ok(())
}

/// Returns the root of the tree of a feature request, if it exists.
fn find_root(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
) -> Result<Option<Id>, SqlError> {
    let row = find_row(connection, workspace, request)?;
    Ok(row.map(|(row, root)| root.unwrap_or(row.id)))
}

/// Stops mail about a feature request and everything that is merged with it. Returns whether there was a subscription.
fn unsubscribe_from_request(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    request: FeatureRequestId,
) -> Result<bool, SqlError> {
    let Some(root) = find_root(connection, workspace, &FeatureRequestRef::Id(request))? else { return Ok(false) };
    let requests = json_ids(&tree_members(connection, workspace, root)?);
    let votes =
        SetSubscribed { subscribed: false, workspace, customer, requests: requests.clone() }.execute(connection)?;
    let followed = DeleteFollower { workspace, customer, requests: requests.clone() }.execute(connection)?;
    delete_waiting_about(connection, workspace, customer, &requests)?;
    Ok(votes + followed > 0)
}

/// Stops all mail to a customer and deletes the mails that wait to be sent. Returns whether the customer got mail.
fn unsubscribe_from_everything(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    at: i64,
) -> Result<bool, SqlError> {
    let stopped = (customers::mail_stopped_at.eq(at), customers::mail_stopped_because.eq("unsubscribed"));
    // The stop of a block ends with the block, this one does not.
    let is_stopped_by_block = customers::mail_stopped_because.eq("blocked");
    let can_stop = customers::mail_stopped_at.is_null().or(is_stopped_by_block);
    let changed =
        update(customers::table.find((workspace, customer)).filter(can_stop)).set(stopped).execute(connection)?;
    // The mails that are held for a digest are deleted together with it.
    let unsent = outbox::table
        .filter(outbox::workspace_id.eq(workspace))
        .filter(outbox::customer_id.eq(customer))
        .filter(outbox::sent_at.is_null())
        .filter(outbox::digest_id.is_null());
    delete(unsent).execute(connection)?;
    Ok(changed > 0)
}

#[async_trait]
impl SubscriptionWrites for SqliteUnit {
    async fn unsubscribe(
        &mut self,
        customer: CustomerId,
        what: Unsubscription,
        at: Timestamp,
    ) -> Result<Option<bool>, StoreError> {
        let customer = Id(customer.uuid());
        self.run(move |connection, workspace| {
            let changed = match what {
                Unsubscription::Everything => {
                    unsubscribe_from_everything(connection, workspace, customer, at.millis())?
                }
                Unsubscription::Request(request) => unsubscribe_from_request(connection, workspace, customer, request)?,
            };
            let exists: bool = select(exists(customers::table.find((workspace, customer)))).get_result(connection)?;
            Ok(exists.then_some(changed))
        })
        .await
    }

    async fn subscribe(
        &mut self,
        request: &FeatureRequestRef,
        customer: &NewCustomer,
        at: Timestamp,
    ) -> Result<Option<SubscribeOutcome>, StoreError> {
        let (request, customer) = (*request, customer.clone());
        self.run(move |connection, workspace| {
            let Some(root) = find_root(connection, workspace, &request)? else { return Ok(None) };
            let customer = find_or_insert_customer(connection, workspace, &customer, at)?;
            let stopped_at: Option<i64> =
                customers::table.find((workspace, customer)).select(customers::mail_stopped_at).first(connection)?;
            if stopped_at.is_some() {
                return Ok(Some(SubscribeOutcome { is_subscribed: false, has_changed: false }));
            }
            let follows = insert_into(followers::table)
                .values((
                    followers::workspace_id.eq(workspace),
                    followers::request_id.eq(root),
                    followers::customer_id.eq(customer),
                    followers::created_at.eq(at.millis()),
                ))
                .on_conflict_do_nothing()
                .execute(connection)?;
            let requests = json_ids(&tree_members(connection, workspace, root)?);
            let votes = SetSubscribed { subscribed: true, workspace, customer, requests }.execute(connection)?;
            Ok(Some(SubscribeOutcome { is_subscribed: true, has_changed: follows + votes > 0 }))
        })
        .await
    }
}
