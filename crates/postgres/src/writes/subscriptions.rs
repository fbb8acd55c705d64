//! Subscriptions of customers to mail.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::NewCustomer;
use roadmap_domain::model::email_address::{EmailAddress, FoldedEmail};
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, MemberId};
use roadmap_domain::model::mail::{MailSettingsChange, SubscribeOutcome};
use roadmap_domain::model::saved_view::SavedViews;
use roadmap_domain::model::team_mail::TeamMail;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{CustomerWrites, SubscriptionWrites};
use roadmap_store::columns::TimestampColumn;
use uuid::Uuid;

use crate::schema::{customers, members};
use crate::statement::{id_or_number, members, resolved, statement, tree, upserted_customer};
use crate::unit::PostgresUnit;
use crate::writes::requests::{folded_name_of, name_of};

statement! {
    /// Enables or disables kinds of mail to a customer; NULL leaves a kind. The stop of a block ends with the block, that of the
    /// customer does not. Returns whether that changed anything, or no row without such a customer.
    ChangeMailSettings {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        requests: Option<bool> => Nullable<Bool>,
        changelogs: Option<bool> => Nullable<Bool>,
        news: Option<bool> => Nullable<Bool>,
        at: TimestampColumn => Timestamptz,
    } -> Bool,
    "WITH before AS MATERIALIZED (
         SELECT id, mail_stopped_at, mail_stopped_because, stops_changelogs, blocked_at, news_since FROM customers
         WHERE workspace_id = {workspace} AND id = {customer} FOR UPDATE
     ), changed AS (
         SELECT {requests} AND mail_stopped_at IS NOT NULL AND blocked_at IS NULL AS resumes,
                NOT {requests} AND (mail_stopped_at IS NULL OR mail_stopped_because = 'blocked') AS stops,
                {changelogs} = stops_changelogs AS switches,
                {news} <> (news_since IS NOT NULL) AND (NOT {news} OR blocked_at IS NULL) AS switches_news
         FROM before
     ), saved AS (
         UPDATE customers SET
             mail_stopped_at = CASE WHEN resumes THEN NULL WHEN stops THEN {at} ELSE mail_stopped_at END,
             mail_stopped_because =
                 CASE WHEN resumes THEN NULL WHEN stops THEN 'unsubscribed' ELSE mail_stopped_because END,
             stops_changelogs = CASE WHEN switches THEN NOT stops_changelogs ELSE stops_changelogs END,
             news_since = CASE WHEN switches_news THEN CASE WHEN {news} THEN {at} END ELSE news_since END
         FROM changed
         WHERE workspace_id = {workspace} AND id = {customer} AND (resumes OR stops OR switches OR switches_news)
         RETURNING 1
     )
     SELECT EXISTS (SELECT FROM saved) FROM before"
}

statement! {
    /// Stops the mail to a customer about the tree of a feature request. Returns whether there was a subscription.
    UnsubscribeFromOne { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, request: Uuid => SqlUuid } -> Bool,
    concat!("WITH ", tree!(), ", stopped AS (
         UPDATE votes SET subscribed = false
         WHERE workspace_id = {workspace} AND customer_id = {customer} AND subscribed
           AND request_id IN (SELECT id FROM members)
         RETURNING 1
     ), unfollowed AS (
         DELETE FROM followers
         WHERE workspace_id = {workspace} AND customer_id = {customer} AND request_id IN (SELECT id FROM members)
         RETURNING 1
     )
     SELECT EXISTS (SELECT FROM stopped) OR EXISTS (SELECT FROM unfollowed)")
}

statement! {
    /// Deletes a customer's waiting mails. The mails that are held for a digest are deleted together with it.
    DeleteWaiting { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> Untyped,
    "DELETE FROM outbox
     WHERE workspace_id = {workspace} AND customer_id = {customer} AND sent_at IS NULL AND digest_id IS NULL"
}

statement! {
    /// Deletes a customer's waiting mails about the tree of a feature request, including those held for a digest. Keeps
    /// them, on request, if the customer is subscribed without a vote.
    DeleteWaitingAbout {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        request: Uuid => SqlUuid,
        unless_following: bool => Bool,
    } -> Untyped,
    concat!("WITH ", tree!(), "
     DELETE FROM outbox WHERE workspace_id = {workspace} AND customer_id = {customer} AND sent_at IS NULL
       AND CASE kind
           WHEN 'comment' THEN payload ->> 'comment' IN (
               SELECT comments.id::text FROM members
               JOIN comments ON comments.workspace_id = {workspace} AND comments.request_id = members.id)
           WHEN 'status_change' THEN payload ->> 'event' IN (
               SELECT events.id::text FROM members
               JOIN feature_request_events AS events
                 ON events.workspace_id = {workspace} AND events.request_id = members.id)
           WHEN 'merge' THEN payload ->> 'event' IN (
               SELECT events.id::text FROM members
               JOIN feature_request_events AS events
                 ON events.workspace_id = {workspace} AND events.request_id = members.id)
           ELSE false
       END
       AND NOT EXISTS (SELECT FROM outbox digest WHERE digest.workspace_id = {workspace}
                       AND digest.id = outbox.digest_id AND digest.sent_at IS NOT NULL)
       AND NOT ({unless_following} AND EXISTS (
           SELECT FROM members
           JOIN followers ON followers.workspace_id = {workspace} AND followers.request_id = members.id
                         AND followers.customer_id = {customer}))")
}

statement! {
    /// Finds or inserts the customer, and subscribes the customer unless all mail is stopped. Returns whether the customer
    /// is subscribed, and whether that has changed anything. If the feature request does not exist, changes nothing and returns no row.
    Subscribe {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        customer: Uuid => SqlUuid,
        email: String => Text,
        email_folded: String => Text,
        name: Option<String> => Nullable<Text>,
        name_folded: Option<String> => Nullable<Text>,
        at: TimestampColumn => Timestamptz,
    } -> (Bool, Bool),
    concat!("WITH roots AS MATERIALIZED (
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND id = ", resolved!(), "
     ), ", members!(), ", customer AS (
         ", upserted_customer!("FROM roots"), "
         RETURNING id, mail_stopped_at IS NULL AS wants_mail
     ), following AS (
         INSERT INTO followers (workspace_id, request_id, customer_id, created_at)
         SELECT {workspace}, roots.id, customer.id, {at} FROM roots, customer WHERE wants_mail
         ON CONFLICT (workspace_id, request_id, customer_id) DO NOTHING
         RETURNING 1
     ), subscribed AS (
         UPDATE votes SET subscribed = true FROM customer
         WHERE votes.workspace_id = {workspace} AND votes.customer_id = customer.id AND wants_mail
           AND NOT votes.subscribed AND votes.request_id IN (SELECT id FROM members)
         RETURNING 1
     )
     SELECT wants_mail, EXISTS (SELECT FROM following) OR EXISTS (SELECT FROM subscribed) FROM customer")
}

/// Deletes the waiting mails to a customer about the tree of a feature request, unless the customer is subscribed without
/// a vote.
pub(crate) async fn delete_messages_of_voter(
    unit: &mut PostgresUnit,
    voter: &FoldedEmail,
    request: Uuid,
) -> Result<(), StoreError> {
    let Some(customer) = unit.find_customer(voter).await? else { return Ok(()) };
    delete_waiting_about(unit, customer, request, true).await
}

async fn delete_waiting_about(
    unit: &PostgresUnit,
    customer: CustomerId,
    request: Uuid,
    unless_following: bool,
) -> Result<(), StoreError> {
    let customer = customer.uuid();
    let delete = DeleteWaitingAbout { workspace: unit.workspace, customer, request, unless_following };
    unit.run(delete.execute(&mut unit.connection()?)).await?;
    Ok(())
}

statement! {
    /// Finds or creates a customer, who gets all changelogs from now on unless blocked. Returns whether the customer does.
    AskForNews {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        email: String => Text,
        email_folded: String => Text,
        at: TimestampColumn => Timestamptz,
    } -> Bool,
    "INSERT INTO customers AS customer (workspace_id, id, email, email_folded, created_at, news_since)
     VALUES ({workspace}, {customer}, {email}, {email_folded}, {at}, {at})
     ON CONFLICT (workspace_id, email_folded) DO UPDATE
     SET news_since = CASE WHEN customer.blocked_at IS NULL THEN coalesce(customer.news_since, {at})
                           ELSE customer.news_since END
     RETURNING news_since IS NOT NULL AND blocked_at IS NULL"
}

statement! {
    /// Changes which mail a member gets about what customers write.
    SetTeamMail {
        workspace: Uuid => SqlUuid,
        member: Uuid => SqlUuid,
        wanted: String => Text,
        nothing: String => Text,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE members
     SET team_mail = {wanted}, told_until = CASE WHEN team_mail = {nothing} THEN {at} ELSE told_until END
     WHERE workspace_id = {workspace} AND id = {member} AND removed_at IS NULL"
}

#[async_trait]
impl SubscriptionWrites for PostgresUnit {
    async fn unsubscribe(
        &mut self,
        customer: CustomerId,
        request: FeatureRequestId,
    ) -> Result<Option<bool>, StoreError> {
        let (workspace, id) = (self.workspace, customer.uuid());
        // Waits for a merge that deletes the customer, and such a merge waits for this unit: it copies the votes.
        let lock = customers::table
            .filter(customers::workspace_id.eq(workspace))
            .filter(customers::id.eq(id))
            .select(customers::id)
            .for_key_share();
        let known: Vec<Uuid> = self.run(lock.load(&mut self.connection()?)).await?;
        if known.is_empty() {
            return Ok(None);
        }
        let one = UnsubscribeFromOne { workspace, customer: id, request: request.uuid() };
        let changed: bool = self.run(one.get_result(&mut self.connection()?)).await?;
        delete_waiting_about(self, customer, request.uuid(), false).await?;
        Ok(Some(changed))
    }

    async fn change_mail_settings(
        &mut self,
        customer: CustomerId,
        change: MailSettingsChange,
        at: Timestamp,
    ) -> Result<Option<bool>, StoreError> {
        let (workspace, customer) = (self.workspace, customer.uuid());
        let MailSettingsChange { requests, changelogs, news } = change;
        let save = ChangeMailSettings { workspace, customer, requests, changelogs, news, at: at.into() };
        let changed: Option<bool> = self.run_optional(save.get_result(&mut self.connection()?)).await?;
        if changed.is_some() && change == MailSettingsChange::NOTHING {
            let delete = DeleteWaiting { workspace, customer };
            self.run(delete.execute(&mut self.connection()?)).await?;
        }
        Ok(changed)
    }

    async fn ask_for_news(&mut self, customer: &NewCustomer, at: Timestamp) -> Result<bool, StoreError> {
        let ask = AskForNews {
            workspace: self.workspace,
            customer: customer.id.uuid(),
            email: customer.email.as_str().to_owned(),
            email_folded: customer.email.folded().as_str().to_owned(),
            at: at.into(),
        };
        self.run(ask.get_result(&mut self.connection()?)).await
    }

    async fn set_team_mail(&mut self, member: MemberId, wanted: TeamMail, at: Timestamp) -> Result<bool, StoreError> {
        let set = SetTeamMail {
            workspace: self.workspace,
            member: member.uuid(),
            wanted: wanted.name().to_owned(),
            nothing: TeamMail::Nothing.name().to_owned(),
            at: at.into(),
        };
        Ok(self.run(set.execute(&mut self.connection()?)).await? > 0)
    }

    async fn set_shortcuts(&mut self, member: MemberId, on: bool) -> Result<bool, StoreError> {
        let update = diesel::update(members::table.find((self.workspace, member.uuid())))
            .filter(members::removed_at.is_null())
            .set(members::shortcuts.eq(on));
        Ok(self.run(update.execute(&mut self.connection()?)).await? > 0)
    }

    async fn load_saved_views(&mut self, member: MemberId) -> Result<Option<SavedViews>, StoreError> {
        let select = members::table
            .filter(members::workspace_id.eq(self.workspace))
            .filter(members::id.eq(member.uuid()))
            .filter(members::removed_at.is_null())
            .select(members::saved_views)
            .for_update();
        let stored: Option<String> = self.run_optional(select.first(&mut self.connection()?)).await?;
        Ok(stored.map(|stored| SavedViews::from_stored(&stored)))
    }

    async fn set_saved_views(&mut self, member: MemberId, views: &SavedViews) -> Result<(), StoreError> {
        let update = diesel::update(members::table.find((self.workspace, member.uuid())))
            .set(members::saved_views.eq(views.to_json()));
        self.run(update.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn tell_until(
        &mut self,
        member: MemberId,
        after: Timestamp,
        until: Timestamp,
    ) -> Result<Option<EmailAddress>, StoreError> {
        let tell = diesel::update(members::table.find((self.workspace, member.uuid())))
            .filter(members::removed_at.is_null())
            .filter(members::team_mail.ne(TeamMail::Nothing.name()))
            .filter(members::told_until.eq(TimestampColumn::from(after)))
            .set(members::told_until.eq(TimestampColumn::from(until)))
            .returning(members::email);
        let email: Option<String> = self.run_optional(tell.get_result(&mut self.connection()?)).await?;
        Ok(email.map(EmailAddress::from_stored))
    }

    async fn subscribe(
        &mut self,
        request: &FeatureRequestRef,
        customer: &NewCustomer,
        at: Timestamp,
    ) -> Result<Option<SubscribeOutcome>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let subscribe = Subscribe {
            workspace: self.workspace,
            request,
            number,
            customer: customer.id.uuid(),
            email: customer.email.as_str().to_owned(),
            email_folded: customer.email.folded().as_str().to_owned(),
            name: name_of(customer),
            name_folded: folded_name_of(customer),
            at: at.into(),
        };
        let row: Option<(bool, bool)> = self.run_optional(subscribe.get_result(&mut self.connection()?)).await?;
        Ok(row.map(|(is_subscribed, has_changed)| SubscribeOutcome { is_subscribed, has_changed }))
    }
}
