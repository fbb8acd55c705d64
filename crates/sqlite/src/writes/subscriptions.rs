//! Writes the mail subscriptions of customers.

use async_trait::async_trait;
use diesel::dsl::{exists, select};
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use diesel::sql_types::Binary;
use diesel::{SqliteConnection, delete, update};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::mail::Unsubscription;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::SubscriptionWrites;

use crate::codec::Id;
use crate::errors::SqlError;
use crate::schema::{customers, outbox, votes};
use crate::statement::statement;
use crate::unit::SqliteUnit;

statement! {
    /// Deletes a customer's waiting notifications about a feature request, including those held for a digest.
    DeleteWaitingAbout { workspace: Id => Binary, customer: Id => Binary, request: Id => Binary }
    "DELETE FROM outbox WHERE workspace_id = ? AND customer_id = ? AND kind = 'comment' AND sent_at IS NULL
       AND EXISTS (SELECT 1 FROM comments WHERE comments.workspace_id = outbox.workspace_id
                   AND comments.id = unhex(payload ->> 'comment', '-') AND comments.request_id = ?)
       AND NOT EXISTS (SELECT 1 FROM outbox digest WHERE digest.workspace_id = outbox.workspace_id
                       AND digest.id = outbox.digest_id AND digest.sent_at IS NOT NULL)"
}

/// Deletes a customer's waiting mails.
fn delete_waiting_mails(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    what: Unsubscription,
) -> Result<(), SqlError> {
    match what {
        Unsubscription::Everything => {
            // The mails that are held for a digest are deleted together with it.
            let unsent = outbox::table
                .filter(outbox::workspace_id.eq(workspace))
                .filter(outbox::customer_id.eq(customer))
                .filter(outbox::sent_at.is_null())
                .filter(outbox::digest_id.is_null());
            delete(unsent).execute(connection)?;
        }
        Unsubscription::Request(request) => {
            DeleteWaitingAbout { workspace, customer, request: Id(request.uuid()) }.execute(connection)?;
        }
    }
    Ok(())
}

#[async_trait]
impl SubscriptionWrites for SqliteUnit {
    async fn unsubscribe(
        &mut self,
        customer: CustomerId,
        what: Unsubscription,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let (customer, at) = (Id(customer.uuid()), at.millis());
        self.run(move |connection, workspace| {
            match what {
                Unsubscription::Everything => {
                    let stopped =
                        (customers::mail_stopped_at.eq(at), customers::mail_stopped_because.eq("unsubscribed"));
                    update(customers::table.find((workspace, customer)).filter(customers::mail_stopped_at.is_null()))
                        .set(stopped)
                        .execute(connection)?;
                }
                Unsubscription::Request(request) => {
                    update(votes::table.find((workspace, Id(request.uuid()), customer)))
                        .set(votes::subscribed.eq(false))
                        .execute(connection)?;
                }
            }
            delete_waiting_mails(connection, workspace, customer, what)?;
            Ok(select(exists(customers::table.find((workspace, customer)))).get_result(connection)?)
        })
        .await
    }
}
