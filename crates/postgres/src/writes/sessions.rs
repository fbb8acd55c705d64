//! Sign-ins and sessions.

use async_trait::async_trait;
use diesel::prelude::ExpressionMethods;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::id::{SessionId, SignInId};
use roadmap_domain::model::session::{BrowserName, NewSession};
use roadmap_domain::model::sign_in::{Consumption, KnownAddress, PageAction, SignIn};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_requests::CounterKey;
use roadmap_domain::ports::SessionWrites;
use roadmap_store::columns::{TimestampColumn, optional_timestamp};
use uuid::Uuid;

use crate::schema::{sessions, sign_ins};
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Selects when the nth newest mail of a counter was asked for, in all workspaces.
    NthCountedMail { counter: Vec<u8> => Binary, nth: i64 => BigInt } -> Nullable<Timestamptz>,
    "SELECT nth_counted_mail({counter}, {nth})"
}

statement! {
    /// Counts a mail by each of the counters, and deletes the old ones of the workspace. Those that another unit of work
    /// deletes at the same time are left to it.
    CountMail {
        workspace: Uuid => SqlUuid,
        mail: Uuid => SqlUuid,
        counters: Vec<Vec<u8>> => Array<Binary>,
        at: TimestampColumn => Timestamptz,
        before: TimestampColumn => Timestamptz,
    } -> Untyped,
    "WITH old AS (
         DELETE FROM counted_mails WHERE workspace_id = {workspace} AND (mail, counter) IN (
             SELECT mail, counter FROM counted_mails WHERE workspace_id = {workspace} AND asked_at < {before}
             FOR UPDATE SKIP LOCKED
         )
     )
     INSERT INTO counted_mails (workspace_id, mail, counter, asked_at)
     SELECT {workspace}, {mail}, counter, {at} FROM unnest({counters}) AS counter"
}

statement! {
    /// Whether an address is that of a member, whether a sign-in of it was redeemed, and whether it is that of a blocked
    /// customer.
    FindKnownAddress { workspace: Uuid => SqlUuid, email: String => Text } -> (Bool, Bool, Bool),
    "SELECT EXISTS (SELECT FROM members WHERE workspace_id = {workspace} AND email_folded = {email}
                    AND removed_at IS NULL),
            EXISTS (SELECT FROM confirmed_addresses WHERE workspace_id = {workspace} AND email_folded = {email}),
            EXISTS (SELECT FROM customers WHERE workspace_id = {workspace} AND email_folded = {email}
                    AND blocked_at IS NOT NULL)"
}

statement! {
    /// Deletes the oldest sign-ins without a mail, beyond a number of newer ones.
    DeleteOldWithoutMail { workspace: Uuid => SqlUuid, keep_limit: i64 => BigInt } -> Untyped,
    "DELETE FROM sign_ins WHERE workspace_id = {workspace} AND id IN (
         SELECT id FROM sign_ins WHERE workspace_id = {workspace} AND NOT has_mail
         ORDER BY created_at DESC OFFSET {keep_limit}
         FOR UPDATE SKIP LOCKED)"
}

statement! {
    /// Stops counting the mail of a redeemed sign-in, and confirms its address.
    ConfirmAddress {
        workspace: Uuid => SqlUuid,
        mail: Uuid => SqlUuid,
        email: String => Text,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "WITH counted AS (DELETE FROM counted_mails WHERE workspace_id = {workspace} AND mail = {mail})
     INSERT INTO confirmed_addresses (workspace_id, email_folded, confirmed_at) VALUES ({workspace}, {email}, {at})
     ON CONFLICT (workspace_id, email_folded) DO UPDATE SET confirmed_at = excluded.confirmed_at"
}

statement! {
    /// Inserts a sign-in, and deletes the old ones of the workspace. Those that another unit of work deletes at the same
    /// time are left to it.
    InsertSignIn {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        email: String => Text,
        email_folded: String => Text,
        browser_digest: Option<Vec<u8>> => Nullable<Binary>,
        browser_name: Option<String> => Nullable<Text>,
        action: Option<String> => Nullable<Text>,
        next: Option<String> => Nullable<Text>,
        language: String => Text,
        wrong_codes: i64 => BigInt,
        at: TimestampColumn => Timestamptz,
        consumed_at: Option<TimestampColumn> => Nullable<Timestamptz>,
        has_mail: bool => Bool,
        before: TimestampColumn => Timestamptz,
    } -> Untyped,
    "WITH old AS (
         DELETE FROM sign_ins WHERE workspace_id = {workspace} AND id IN (
             SELECT id FROM sign_ins WHERE workspace_id = {workspace} AND created_at < {before}
             FOR UPDATE SKIP LOCKED
         )
     )
     INSERT INTO sign_ins
         (workspace_id, id, email, email_folded, browser_digest, browser_name, action, next, language, wrong_codes,
          created_at, consumed_at, has_mail)
     VALUES ({workspace}, {id}, {email}, {email_folded}, {browser_digest}, {browser_name}, {action}, {next}, {language},
             {wrong_codes}, {at}, {consumed_at}, {has_mail})"
}

statement! {
    /// Inserts a session, and deletes the unused ones of the workspace. Those that another unit of work deletes at the
    /// same time are left to it.
    InsertSession {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        digest: Vec<u8> => Binary,
        email: String => Text,
        email_folded: String => Text,
        browser_name: Option<String> => Nullable<Text>,
        at: TimestampColumn => Timestamptz,
        before: TimestampColumn => Timestamptz,
    } -> Untyped,
    "WITH unused AS (
         DELETE FROM sessions WHERE workspace_id = {workspace} AND id IN (
             SELECT id FROM sessions WHERE workspace_id = {workspace} AND last_seen_at < {before}
             FOR UPDATE SKIP LOCKED
         )
     )
     INSERT INTO sessions (workspace_id, id, digest, email, email_folded, browser_name, created_at, last_seen_at)
     VALUES ({workspace}, {id}, {digest}, {email}, {email_folded}, {browser_name}, {at}, {at})"
}

fn browser_name(name: Option<&BrowserName>) -> Option<String> {
    name.map(|name| name.as_str().to_owned())
}

#[async_trait]
impl SessionWrites for PostgresUnit {
    /// Returns when the nth newest mail of a counter was asked for. Other units of work that ask for the counter wait for
    /// this one, so that together they keep to the limits.
    async fn nth_counted_mail(&mut self, counter: CounterKey, nth: u32) -> Result<Option<Timestamp>, StoreError> {
        self.lock_counter(&counter.0).await?;
        let nth = NthCountedMail { counter: counter.0.to_vec(), nth: i64::from(nth) };
        let at: Option<TimestampColumn> = self.run(nth.get_result(&mut self.connection()?)).await?;
        optional_timestamp(at, "counted_mails", "asked_at", Uuid::nil())
    }

    async fn count_mail(
        &mut self,
        mail: Uuid,
        counters: &[CounterKey],
        at: Timestamp,
        purge_before: Timestamp,
    ) -> Result<(), StoreError> {
        let count = CountMail {
            workspace: self.workspace,
            mail,
            counters: counters.iter().map(|counter| counter.0.to_vec()).collect(),
            at: at.into(),
            before: purge_before.into(),
        };
        self.run(count.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn find_known_address(&mut self, email: &FoldedEmail) -> Result<KnownAddress, StoreError> {
        let find = FindKnownAddress { workspace: self.workspace, email: email.as_str().to_owned() };
        let (is_member, is_confirmed, is_blocked_customer): (bool, bool, bool) =
            self.run(find.get_result(&mut self.connection()?)).await?;
        Ok(KnownAddress { is_member, is_confirmed, is_blocked_customer })
    }

    async fn insert_sign_in(
        &mut self,
        sign_in: &SignIn,
        has_mail: bool,
        purge_before: Timestamp,
    ) -> Result<(), StoreError> {
        let insert = InsertSignIn {
            workspace: self.workspace,
            id: sign_in.id.uuid(),
            email: sign_in.email.as_str().to_owned(),
            email_folded: sign_in.email.folded().as_str().to_owned(),
            browser_digest: sign_in.browser.map(|digest| digest.0.to_vec()),
            browser_name: browser_name(sign_in.browser_name.as_ref()),
            action: sign_in.action.as_ref().map(PageAction::to_json),
            next: sign_in.next.as_ref().map(|next| next.as_str().to_owned()),
            language: sign_in.language.code().to_owned(),
            wrong_codes: i64::from(sign_in.wrong_codes),
            at: sign_in.created_at.into(),
            consumed_at: sign_in.consumed_at.map(TimestampColumn::from),
            has_mail,
            before: purge_before.into(),
        };
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn purge_sign_ins_without_mail(&mut self, keep_limit: u32) -> Result<(), StoreError> {
        let delete = DeleteOldWithoutMail { workspace: self.workspace, keep_limit: i64::from(keep_limit) };
        self.run(delete.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    /// An update that waits for another one compares the row again.
    async fn consume_sign_in(
        &mut self,
        sign_in: SignInId,
        how: Consumption,
        created_since: Timestamp,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let consume = diesel::update(sign_ins::table)
            .filter(sign_ins::workspace_id.eq(self.workspace))
            .filter(sign_ins::id.eq(sign_in.uuid()))
            .filter(sign_ins::consumed_at.is_null())
            .filter(sign_ins::created_at.ge(TimestampColumn::from(created_since)))
            .set(sign_ins::consumed_at.eq(TimestampColumn::from(at)))
            .returning(sign_ins::email_folded);
        let email: Option<String> = self.run_optional(consume.get_result(&mut self.connection()?)).await?;
        let Some(email) = email else { return Ok(false) };
        if how == Consumption::Redeemed {
            let confirm = ConfirmAddress { workspace: self.workspace, mail: sign_in.uuid(), email, at: at.into() };
            self.run(confirm.execute(&mut self.connection()?)).await?;
        }
        Ok(true)
    }

    /// Counts a code, if the sign-in accepts one. An update that waits for another one compares the row again.
    async fn count_code(&mut self, sign_in: SignInId, created_since: Timestamp, max: u32) -> Result<bool, StoreError> {
        let count = diesel::update(sign_ins::table)
            .filter(sign_ins::workspace_id.eq(self.workspace))
            .filter(sign_ins::id.eq(sign_in.uuid()))
            .filter(sign_ins::consumed_at.is_null())
            .filter(sign_ins::created_at.ge(TimestampColumn::from(created_since)))
            .filter(sign_ins::wrong_codes.lt(i64::from(max)))
            .set(sign_ins::wrong_codes.eq(sign_ins::wrong_codes + 1));
        Ok(self.run(count.execute(&mut self.connection()?)).await? > 0)
    }

    async fn insert_session(&mut self, session: &NewSession, purge_before: Timestamp) -> Result<(), StoreError> {
        let insert = InsertSession {
            workspace: self.workspace,
            id: session.id.uuid(),
            digest: session.digest.0.to_vec(),
            email: session.email.as_str().to_owned(),
            email_folded: session.email.folded().as_str().to_owned(),
            browser_name: browser_name(session.browser.as_ref()),
            at: session.created_at.into(),
            before: purge_before.into(),
        };
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn end_session(&mut self, session: SessionId, email: &FoldedEmail) -> Result<bool, StoreError> {
        let delete = diesel::delete(sessions::table)
            .filter(sessions::workspace_id.eq(self.workspace))
            .filter(sessions::id.eq(session.uuid()))
            .filter(sessions::email_folded.eq(email.as_str()));
        Ok(self.run(delete.execute(&mut self.connection()?)).await? > 0)
    }

    async fn end_sessions(&mut self, email: &FoldedEmail) -> Result<u64, StoreError> {
        let sign_ins = diesel::delete(sign_ins::table)
            .filter(sign_ins::workspace_id.eq(self.workspace))
            .filter(sign_ins::email_folded.eq(email.as_str()))
            .filter(sign_ins::consumed_at.is_null());
        self.run(sign_ins.execute(&mut self.connection()?)).await?;
        let sessions = diesel::delete(sessions::table)
            .filter(sessions::workspace_id.eq(self.workspace))
            .filter(sessions::email_folded.eq(email.as_str()));
        let deleted = self.run(sessions.execute(&mut self.connection()?)).await?;
        Ok(u64::try_from(deleted).unwrap_or(u64::MAX))
    }
}
