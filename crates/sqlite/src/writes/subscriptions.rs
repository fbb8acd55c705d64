//! Subscriptions of customers to mail.

use async_trait::async_trait;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{Binary, Bool, Text};
use diesel::{SqliteConnection, delete, insert_into, update};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::NewCustomer;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, MemberId};
use roadmap_domain::model::mail::{MailSettingsChange, SubscribeOutcome};
use roadmap_domain::model::saved_view::SavedViews;
use roadmap_domain::model::team_mail::TeamMail;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::SubscriptionWrites;
use roadmap_store::columns::Id;

use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::rows::find_row;
use crate::schema::{customers, followers, members, outbox};
use crate::statement::statement;
use crate::trees::tree_members;
use crate::unit::SqliteUnit;
use crate::writes::customers::customer_exists;
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
           WHEN 'merge' THEN EXISTS (SELECT 1 FROM feature_request_events event
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

/// Enables or disables answers and changes of the status to a customer. Returns whether that changed anything.
fn set_requests(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    wanted: bool,
    at: i64,
) -> Result<bool, SqlError> {
    let customer = customers::table.find((workspace, customer));
    let changed = if wanted {
        let resumed = (customers::mail_stopped_at.eq(None::<i64>), customers::mail_stopped_because.eq(None::<String>));
        let can_resume = customers::mail_stopped_at.is_not_null().and(customers::blocked_at.is_null());
        update(customer.filter(can_resume)).set(resumed).execute(connection)?
    } else {
        let stopped = (customers::mail_stopped_at.eq(at), customers::mail_stopped_because.eq("unsubscribed"));
        // The stop of a block ends with the block, that of the customer does not.
        let is_blocked = customers::mail_stopped_because.eq("blocked");
        let can_stop = customers::mail_stopped_at.is_null().or(is_blocked);
        update(customer.filter(can_stop)).set(stopped).execute(connection)?
    };
    Ok(changed > 0)
}

/// Enables or disables changelogs to a customer. Returns whether that changed anything.
fn set_changelogs(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    wanted: bool,
) -> Result<bool, SqlError> {
    let other = customers::table.find((workspace, customer)).filter(customers::stops_changelogs.eq(wanted));
    Ok(update(other).set(customers::stops_changelogs.eq(!wanted)).execute(connection)? > 0)
}

/// Lets a customer get all changelogs or not; nothing turns them on for a blocked one. Returns whether that changed anything.
fn set_news(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    wanted: bool,
    at: i64,
) -> Result<bool, SqlError> {
    let customer = customers::table.find((workspace, customer));
    let changed = if wanted {
        let can_begin = customers::news_since.is_null().and(customers::blocked_at.is_null());
        update(customer.filter(can_begin)).set(customers::news_since.eq(at)).execute(connection)?
    } else {
        let gets_news = customers::news_since.is_not_null();
        update(customer.filter(gets_news)).set(customers::news_since.eq(None::<i64>)).execute(connection)?
    };
    Ok(changed > 0)
}

/// Deletes the mails to a customer that wait to be sent. Those held for a digest are deleted together with it.
fn delete_waiting(connection: &mut SqliteConnection, workspace: Id, customer: Id) -> Result<(), SqlError> {
    let unsent = outbox::table
        .filter(outbox::workspace_id.eq(workspace))
        .filter(outbox::customer_id.eq(customer))
        .filter(outbox::sent_at.is_null())
        .filter(outbox::digest_id.is_null());
    delete(unsent).execute(connection)?;
    Ok(())
}

#[async_trait]
impl SubscriptionWrites for SqliteUnit {
    async fn unsubscribe(
        &mut self,
        customer: CustomerId,
        request: FeatureRequestId,
    ) -> Result<Option<bool>, StoreError> {
        let customer = Id(customer.uuid());
        self.run(move |connection, workspace| {
            let changed = unsubscribe_from_request(connection, workspace, customer, request)?;
            Ok(customer_exists(connection, workspace, customer)?.then_some(changed))
        })
        .await
    }

    async fn change_mail_settings(
        &mut self,
        customer: CustomerId,
        change: MailSettingsChange,
        at: Timestamp,
    ) -> Result<Option<bool>, StoreError> {
        let customer = Id(customer.uuid());
        self.run(move |connection, workspace| {
            let mut changed = false;
            if let Some(wanted) = change.requests {
                changed |= set_requests(connection, workspace, customer, wanted, at.millis())?;
            }
            if let Some(wanted) = change.changelogs {
                changed |= set_changelogs(connection, workspace, customer, wanted)?;
            }
            if let Some(wanted) = change.news {
                changed |= set_news(connection, workspace, customer, wanted, at.millis())?;
            }
            if change == MailSettingsChange::NOTHING {
                delete_waiting(connection, workspace, customer)?;
            }
            Ok(customer_exists(connection, workspace, customer)?.then_some(changed))
        })
        .await
    }

    async fn ask_for_news(&mut self, customer: &NewCustomer, at: Timestamp) -> Result<bool, StoreError> {
        let customer = customer.clone();
        self.run(move |connection, workspace| {
            let customer = find_or_insert_customer(connection, workspace, &customer, at)?;
            set_news(connection, workspace, customer, true, at.millis())?;
            let blocked_at: Option<i64> =
                customers::table.find((workspace, customer)).select(customers::blocked_at).first(connection)?;
            Ok(blocked_at.is_none())
        })
        .await
    }

    async fn set_team_mail(&mut self, member: MemberId, wanted: TeamMail, at: Timestamp) -> Result<bool, StoreError> {
        let member = Id(member.uuid());
        self.run(move |connection, workspace| {
            let present = members::table.find((workspace, member)).filter(members::removed_at.is_null());
            update(present.filter(members::team_mail.eq(TeamMail::Nothing.name())))
                .set(members::told_until.eq(at.millis()))
                .execute(connection)?;
            Ok(update(present).set(members::team_mail.eq(wanted.name())).execute(connection)? > 0)
        })
        .await
    }

    async fn set_shortcuts(&mut self, member: MemberId, on: bool) -> Result<bool, StoreError> {
        let member = Id(member.uuid());
        self.run(move |connection, workspace| {
            let present = members::table.find((workspace, member)).filter(members::removed_at.is_null());
            Ok(update(present).set(members::shortcuts.eq(on)).execute(connection)? > 0)
        })
        .await
    }

    async fn load_saved_views(&mut self, member: MemberId) -> Result<Option<SavedViews>, StoreError> {
        let member = Id(member.uuid());
        self.run(move |connection, workspace| {
            let present = members::table.find((workspace, member)).filter(members::removed_at.is_null());
            let stored: Option<String> = present.select(members::saved_views).first(connection).optional()?;
            Ok(stored.map(|stored| SavedViews::from_stored(&stored)))
        })
        .await
    }

    async fn set_saved_views(&mut self, member: MemberId, views: &SavedViews) -> Result<(), StoreError> {
        let (member, stored) = (Id(member.uuid()), views.to_json());
        self.run(move |connection, workspace| {
            update(members::table.find((workspace, member)))
                .set(members::saved_views.eq(stored))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn tell_until(
        &mut self,
        member: MemberId,
        after: Timestamp,
        until: Timestamp,
    ) -> Result<Option<EmailAddress>, StoreError> {
        let member = Id(member.uuid());
        let email: Option<String> = self
            .run(move |connection, workspace| {
                let member = members::table
                    .find((workspace, member))
                    .filter(members::removed_at.is_null())
                    .filter(members::team_mail.ne(TeamMail::Nothing.name()))
                    .filter(members::told_until.eq(after.millis()));
                let tell = update(member).set(members::told_until.eq(until.millis())).returning(members::email);
                Ok(tell.get_result(connection).optional()?)
            })
            .await?;
        Ok(email.map(EmailAddress::from_stored))
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
