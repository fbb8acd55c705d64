//! Writes the mail subscriptions of customers.

use async_trait::async_trait;
use diesel::sql_types::{Bool, Nullable, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::SubscriptionWrites;
use uuid::Uuid;

use crate::codec::TimestampColumn;
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Stops all mail to a customer, unless it is already stopped. Returns whether the customer exists.
    UnsubscribeFromAll { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, at: TimestampColumn => Timestamptz } -> Bool,
    "WITH stopped AS (
         UPDATE customers SET mail_stopped_at = {at}, mail_stopped_because = 'unsubscribed'
         WHERE workspace_id = {workspace} AND id = {customer} AND mail_stopped_at IS NULL
     )
     SELECT EXISTS (SELECT FROM customers WHERE workspace_id = {workspace} AND id = {customer})"
}

statement! {
    /// Stops the mail to a customer about one feature request. Returns whether the customer exists.
    UnsubscribeFromOne { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, request: Uuid => SqlUuid } -> Bool,
    "WITH stopped AS (
         UPDATE votes SET subscribed = false
         WHERE workspace_id = {workspace} AND customer_id = {customer} AND request_id = {request}
     )
     SELECT EXISTS (SELECT FROM customers WHERE workspace_id = {workspace} AND id = {customer})"
}

statement! {
    /// Deletes a customer's waiting mails. With a feature request, only those about it are deleted, including those
    /// held for a digest. The mails that are held for a digest are deleted together with it.
    DeleteWaiting { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, request: Option<Uuid> => Nullable<SqlUuid> }
        -> Untyped,
    "DELETE FROM outbox WHERE workspace_id = {workspace} AND customer_id = {customer} AND sent_at IS NULL
       AND CASE WHEN {request}::uuid IS NULL THEN digest_id IS NULL ELSE
           kind = 'comment'
           AND payload ->> 'comment' IN (
               SELECT id::text FROM comments WHERE workspace_id = {workspace} AND request_id = {request})
           AND NOT EXISTS (SELECT FROM outbox digest WHERE digest.workspace_id = {workspace}
                           AND digest.id = outbox.digest_id AND digest.sent_at IS NOT NULL)
       END"
}

/// Deletes a customer's waiting mails.
async fn delete_waiting_mails(
    unit: &PostgresUnit,
    customer: CustomerId,
    what: Unsubscription,
) -> Result<(), StoreError> {
    let request = match what {
        Unsubscription::Everything => None,
        Unsubscription::Request(request) => Some(request.uuid()),
    };
    let delete = DeleteWaiting { workspace: unit.workspace, customer: customer.uuid(), request };
    unit.run(delete.execute(&mut unit.connection()?)).await?;
    Ok(())
}

#[async_trait]
impl SubscriptionWrites for PostgresUnit {
    async fn unsubscribe(
        &mut self,
        customer: CustomerId,
        what: Unsubscription,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let (workspace, id) = (self.workspace, customer.uuid());
        let is_known: bool = match what {
            Unsubscription::Everything => {
                let all = UnsubscribeFromAll { workspace, customer: id, at: at.into() };
                self.run(all.get_result(&mut self.connection()?)).await?
            }
            Unsubscription::Request(request) => {
                let one = UnsubscribeFromOne { workspace, customer: id, request: request.uuid() };
                self.run(one.get_result(&mut self.connection()?)).await?
            }
        };
        delete_waiting_mails(self, customer, what).await?;
        Ok(is_known)
    }
}
