//! Writes messages to the outbox.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::mail::Topic;
use roadmap_domain::model::message::{Audience, MessageContent, MessageId, NewMessage, Recipient};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_limits::MailBudgetWindow;
use roadmap_domain::ports::Outbox;
use roadmap_store::columns::Id;
use uuid::Uuid;

use crate::audience::{count_audience, expand_audience};
use crate::errors::SqlError;
use crate::outbox_queue::retry;
use crate::schema::{mail_hours, outbox};
use crate::unit::SqliteUnit;

#[async_trait]
impl Outbox for SqliteUnit {
    async fn count_team_mail(&mut self, day: MailBudgetWindow) -> Result<u64, StoreError> {
        self.run(move |connection, workspace| add_mails(connection, workspace, 1, day)).await
    }

    async fn count_mails(
        &mut self,
        topic: Topic,
        at: Timestamp,
        day: MailBudgetWindow,
        limit: u64,
    ) -> Result<u64, StoreError> {
        let at = at.millis();
        let count_limit = u32::try_from(limit.saturating_add(1)).unwrap_or(u32::MAX);
        self.run(move |connection, workspace| {
            let mails = count_audience(connection, workspace, topic, at, count_limit)?;
            add_mails(connection, workspace, mails.cast_signed(), day)
        })
        .await
    }

    async fn enqueue_notifications(
        &mut self,
        topic: Topic,
        at: Timestamp,
        at_once: u32,
        request_id: Option<String>,
    ) -> Result<(), StoreError> {
        let whole = Audience { topic, after: CustomerId::new(Uuid::nil()) };
        self.run(move |connection, workspace| {
            let customers = count_audience(connection, workspace, topic, at.millis(), at_once.saturating_add(1))?;
            if customers <= u64::from(at_once) {
                expand_audience(connection, workspace, &whole, at.millis(), at_once, request_id)?;
            } else {
                let message = NewMessage {
                    id: MessageId::audience(topic),
                    content: MessageContent::Audience(whole),
                    recipient: Recipient::None,
                    created_at: at,
                    request_id,
                };
                insert(connection, workspace, &message)?;
            }
            Ok(())
        })
        .await
    }

    async fn insert_message(&mut self, message: &NewMessage) -> Result<bool, StoreError> {
        let message = message.clone();
        self.run(move |connection, workspace| insert(connection, workspace, &message)).await
    }

    async fn delete_message(&mut self, message: &MessageId) -> Result<(), StoreError> {
        let id = message.as_str().to_owned();
        self.run(move |connection, workspace| {
            let unsent = outbox::table
                .filter(outbox::workspace_id.eq(workspace))
                .filter(outbox::id.eq(id))
                .filter(outbox::sent_at.is_null());
            diesel::delete(unsent).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn retry_mail(&mut self, dead: bool, at: Timestamp) -> Result<u64, StoreError> {
        self.run(move |connection, workspace| retry(connection, workspace, dead, at.millis())).await
    }
}

/// Adds mails to the counter of an hour. Returns the sum of the day.
fn add_mails(
    connection: &mut SqliteConnection,
    workspace: Id,
    mails: i64,
    day: MailBudgetWindow,
) -> Result<u64, SqlError> {
    let of_workspace = mail_hours::table.filter(mail_hours::workspace_id.eq(workspace));
    diesel::delete(of_workspace.filter(mail_hours::hour.lt(day.since.millis()))).execute(connection)?;
    diesel::insert_into(mail_hours::table)
        .values((
            mail_hours::workspace_id.eq(workspace),
            mail_hours::hour.eq(day.hour.millis()),
            mail_hours::mails.eq(mails),
        ))
        .on_conflict((mail_hours::workspace_id, mail_hours::hour))
        .do_update()
        .set(mail_hours::mails.eq(mail_hours::mails + mails))
        .execute(connection)?;
    let counted: Vec<i64> = of_workspace.select(mail_hours::mails).load(connection)?;
    Ok(counted.into_iter().map(i64::unsigned_abs).sum())
}

/// Inserts a message. Returns `false` if there is already a message with this identity.
fn insert(connection: &mut SqliteConnection, workspace: Id, message: &NewMessage) -> Result<bool, SqlError> {
    let NewMessage { id, content, recipient, created_at, request_id } = message;
    let (customer, address) = match recipient {
        Recipient::None => (None, None),
        Recipient::Customer(customer) => (Some(Id(customer.uuid())), None),
        Recipient::Address(address) => (None, Some(address.as_str())),
    };
    let inserted = diesel::insert_into(outbox::table)
        .values((
            outbox::workspace_id.eq(workspace),
            outbox::id.eq(id.as_str()),
            outbox::kind.eq(content.kind()),
            outbox::priority.eq(i32::from(content.priority().number())),
            outbox::customer_id.eq(customer),
            outbox::address.eq(address),
            outbox::payload.eq(content.payload()),
            outbox::created_at.eq(created_at.millis()),
            outbox::due_at.eq(created_at.millis()),
            outbox::request_id.eq(request_id.as_deref()),
        ))
        .on_conflict_do_nothing()
        .execute(connection)?;
    Ok(inserted > 0)
}
