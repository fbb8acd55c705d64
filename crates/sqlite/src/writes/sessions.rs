//! Sign-ins and sessions.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Text};
use diesel::{SqliteConnection, delete, insert_into, update};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::id::{SessionId, SignInId};
use roadmap_domain::model::session::{BrowserName, NewSession};
use roadmap_domain::model::sign_in::{Consumption, KnownAddress, LocalPath, PageAction, SignIn};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_requests::CounterKey;
use roadmap_domain::ports::SessionWrites;
use roadmap_store::columns::{Id, TimestampColumn, optional_timestamp};
use uuid::Uuid;

use crate::errors::SqlError;
use crate::schema::{confirmed_addresses, counted_mails, sessions, sign_ins};
use crate::statement::statement;
use crate::unit::SqliteUnit;

statement! {
    /// Selects when the newest mail of a counter after `skipped` newer ones was asked for.
    NthCountedMail { counter: Vec<u8> => Binary, skipped: i64 => BigInt } -> BigInt,
    "SELECT asked_at FROM counted_mails WHERE counter = ? ORDER BY asked_at DESC LIMIT 1 OFFSET ?"
}

statement! {
    /// Whether an address is that of a member, whether a sign-in of it was redeemed, and whether it is that of a blocked
    /// customer.
    FindKnownAddress { workspace: Id => Binary, email: String => Text } -> (Bool, Bool, Bool),
    "WITH asked (workspace, email) AS (SELECT ?, ?)
     SELECT EXISTS (SELECT 1 FROM members WHERE workspace_id = asked.workspace AND email_folded = asked.email
                    AND removed_at IS NULL),
            EXISTS (SELECT 1 FROM confirmed_addresses WHERE workspace_id = asked.workspace
                    AND email_folded = asked.email),
            EXISTS (SELECT 1 FROM customers WHERE workspace_id = asked.workspace AND email_folded = asked.email
                    AND blocked_at IS NOT NULL)
     FROM asked"
}

statement! {
    /// Deletes the oldest sign-ins without a mail, beyond a number of newer ones.
    DeleteOldWithoutMail { workspace: Id => Binary, keep_limit: i64 => BigInt }
    "DELETE FROM sign_ins WHERE rowid IN (
         SELECT rowid FROM sign_ins WHERE workspace_id = ? AND has_mail = 0 ORDER BY created_at DESC LIMIT -1 OFFSET ?)"
}

/// Returns when the nth newest mail of a counter was asked for.
fn nth_counted_mail(
    connection: &mut SqliteConnection,
    counter: CounterKey,
    nth: u32,
) -> Result<Option<TimestampColumn>, SqlError> {
    let nth = NthCountedMail { counter: counter.0.to_vec(), skipped: i64::from(nth) - 1 };
    Ok(nth.get_result(connection).optional()?)
}

/// Counts a mail, and deletes the old ones of the workspace.
fn count_mail(
    connection: &mut SqliteConnection,
    workspace: Id,
    mail: Id,
    counters: &[CounterKey],
    at: Timestamp,
    purge_before: Timestamp,
) -> Result<(), SqlError> {
    let old = counted_mails::table
        .filter(counted_mails::workspace_id.eq(workspace))
        .filter(counted_mails::asked_at.lt(purge_before.millis()));
    delete(old).execute(connection)?;
    let row = |counter: &CounterKey| {
        (
            counted_mails::workspace_id.eq(workspace),
            counted_mails::mail.eq(mail),
            counted_mails::counter.eq(counter.0.to_vec()),
            counted_mails::asked_at.eq(at.millis()),
        )
    };
    for counter in counters {
        insert_into(counted_mails::table).values(row(counter)).execute(connection)?;
    }
    Ok(())
}

/// Returns what the workspace knows about an address.
fn find_known_address(
    connection: &mut SqliteConnection,
    workspace: Id,
    email: &FoldedEmail,
) -> Result<KnownAddress, SqlError> {
    let find = FindKnownAddress { workspace, email: email.as_str().to_owned() };
    let (is_member, is_confirmed, is_blocked_customer): (bool, bool, bool) = find.get_result(connection)?;
    Ok(KnownAddress { is_member, is_confirmed, is_blocked_customer })
}

/// Stores a sign-in and deletes old ones.
fn insert_sign_in(
    connection: &mut SqliteConnection,
    workspace: Id,
    sign_in: &SignIn,
    has_mail: bool,
    purge_before: Timestamp,
) -> Result<(), SqlError> {
    let old = sign_ins::table
        .filter(sign_ins::workspace_id.eq(workspace))
        .filter(sign_ins::created_at.lt(purge_before.millis()));
    delete(old).execute(connection)?;
    insert_into(sign_ins::table)
        .values((
            sign_ins::workspace_id.eq(workspace),
            sign_ins::id.eq(Id(sign_in.id.uuid())),
            sign_ins::email.eq(sign_in.email.as_str()),
            sign_ins::email_folded.eq(sign_in.email.folded().as_str()),
            sign_ins::browser_digest.eq(sign_in.browser.map(|digest| digest.0.to_vec())),
            sign_ins::browser_name.eq(sign_in.browser_name.as_ref().map(BrowserName::as_str)),
            sign_ins::action.eq(sign_in.action.as_ref().map(PageAction::to_json)),
            sign_ins::next.eq(sign_in.next.as_ref().map(LocalPath::as_str)),
            sign_ins::language.eq(sign_in.language.code()),
            sign_ins::wrong_codes.eq(i64::from(sign_in.wrong_codes)),
            sign_ins::created_at.eq(sign_in.created_at.millis()),
            sign_ins::consumed_at.eq(sign_in.consumed_at.map(Timestamp::millis)),
            sign_ins::has_mail.eq(has_mail),
        ))
        .execute(connection)?;
    Ok(())
}

/// Deletes the oldest sign-ins without a mail, beyond a number of newer ones.
fn purge_sign_ins_without_mail(
    connection: &mut SqliteConnection,
    workspace: Id,
    keep_limit: u32,
) -> Result<(), SqlError> {
    DeleteOldWithoutMail { workspace, keep_limit: i64::from(keep_limit) }.execute(connection)?;
    Ok(())
}

/// Marks a sign-in as used. Returns whether it was open: not used, and not too old. If it is redeemed, its mail is not
/// counted any more, and its address is confirmed.
fn consume_sign_in(
    connection: &mut SqliteConnection,
    workspace: Id,
    sign_in: Id,
    how: Consumption,
    created_since: Timestamp,
    at: Timestamp,
) -> Result<bool, SqlError> {
    let open = sign_ins::table
        .filter(sign_ins::workspace_id.eq(workspace))
        .filter(sign_ins::id.eq(sign_in))
        .filter(sign_ins::consumed_at.is_null())
        .filter(sign_ins::created_at.ge(created_since.millis()));
    let consumed = update(open).set(sign_ins::consumed_at.eq(at.millis())).returning(sign_ins::email_folded);
    let email: Option<String> = consumed.get_result(connection).optional()?;
    if let (Some(email), Consumption::Redeemed) = (&email, how) {
        let counted = counted_mails::table
            .filter(counted_mails::workspace_id.eq(workspace))
            .filter(counted_mails::mail.eq(sign_in));
        delete(counted).execute(connection)?;
        insert_into(confirmed_addresses::table)
            .values((
                confirmed_addresses::workspace_id.eq(workspace),
                confirmed_addresses::email_folded.eq(email),
                confirmed_addresses::confirmed_at.eq(at.millis()),
            ))
            .on_conflict((confirmed_addresses::workspace_id, confirmed_addresses::email_folded))
            .do_update()
            .set(confirmed_addresses::confirmed_at.eq(at.millis()))
            .execute(connection)?;
    }
    Ok(email.is_some())
}

/// Counts a typed code. Returns whether the sign-in accepts codes.
fn count_code(
    connection: &mut SqliteConnection,
    workspace: Id,
    sign_in: Id,
    created_since: Timestamp,
    max: u32,
) -> Result<bool, SqlError> {
    let accepting = sign_ins::table
        .filter(sign_ins::workspace_id.eq(workspace))
        .filter(sign_ins::id.eq(sign_in))
        .filter(sign_ins::consumed_at.is_null())
        .filter(sign_ins::created_at.ge(created_since.millis()))
        .filter(sign_ins::wrong_codes.lt(i64::from(max)));
    Ok(update(accepting).set(sign_ins::wrong_codes.eq(sign_ins::wrong_codes + 1)).execute(connection)? > 0)
}

/// Stores a session and deletes those that were last used before a timestamp.
fn insert_session(
    connection: &mut SqliteConnection,
    workspace: Id,
    session: &NewSession,
    purge_before: Timestamp,
) -> Result<(), SqlError> {
    let unused = sessions::table
        .filter(sessions::workspace_id.eq(workspace))
        .filter(sessions::last_seen_at.lt(purge_before.millis()));
    delete(unused).execute(connection)?;
    insert_into(sessions::table)
        .values((
            sessions::workspace_id.eq(workspace),
            sessions::id.eq(Id(session.id.uuid())),
            sessions::digest.eq(session.digest.0.to_vec()),
            sessions::email.eq(session.email.as_str()),
            sessions::email_folded.eq(session.email.folded().as_str()),
            sessions::browser_name.eq(session.browser.as_ref().map(BrowserName::as_str)),
            sessions::created_at.eq(session.created_at.millis()),
            sessions::last_seen_at.eq(session.created_at.millis()),
        ))
        .execute(connection)?;
    Ok(())
}

/// Deletes a session of an address. Returns whether there was one.
fn end_session(
    connection: &mut SqliteConnection,
    workspace: Id,
    session: Id,
    email: &FoldedEmail,
) -> Result<bool, SqlError> {
    let own = sessions::table
        .filter(sessions::workspace_id.eq(workspace))
        .filter(sessions::id.eq(session))
        .filter(sessions::email_folded.eq(email.as_str()));
    Ok(delete(own).execute(connection)? > 0)
}

/// Deletes the sessions and the open sign-ins of an address. Returns the number of sessions.
fn end_sessions(connection: &mut SqliteConnection, workspace: Id, email: &FoldedEmail) -> Result<u64, SqlError> {
    let open = sign_ins::table
        .filter(sign_ins::workspace_id.eq(workspace))
        .filter(sign_ins::email_folded.eq(email.as_str()))
        .filter(sign_ins::consumed_at.is_null());
    delete(open).execute(connection)?;
    let own =
        sessions::table.filter(sessions::workspace_id.eq(workspace)).filter(sessions::email_folded.eq(email.as_str()));
    Ok(delete(own).execute(connection)? as u64)
}

#[async_trait]
impl SessionWrites for SqliteUnit {
    async fn nth_counted_mail(&mut self, counter: CounterKey, nth: u32) -> Result<Option<Timestamp>, StoreError> {
        let at = self.run(move |connection, _| nth_counted_mail(connection, counter, nth)).await?;
        optional_timestamp(at, "counted_mails", "asked_at", Id(Uuid::nil()))
    }

    async fn count_mail(
        &mut self,
        mail: Uuid,
        counters: &[CounterKey],
        at: Timestamp,
        purge_before: Timestamp,
    ) -> Result<(), StoreError> {
        let counters = counters.to_vec();
        self.run(move |connection, workspace| count_mail(connection, workspace, Id(mail), &counters, at, purge_before))
            .await
    }

    async fn find_known_address(&mut self, email: &FoldedEmail) -> Result<KnownAddress, StoreError> {
        let email = email.clone();
        self.run(move |connection, workspace| find_known_address(connection, workspace, &email)).await
    }

    async fn insert_sign_in(
        &mut self,
        sign_in: &SignIn,
        has_mail: bool,
        purge_before: Timestamp,
    ) -> Result<(), StoreError> {
        let sign_in = sign_in.clone();
        self.run(move |connection, workspace| insert_sign_in(connection, workspace, &sign_in, has_mail, purge_before))
            .await
    }

    async fn purge_sign_ins_without_mail(&mut self, keep_limit: u32) -> Result<(), StoreError> {
        self.run(move |connection, workspace| purge_sign_ins_without_mail(connection, workspace, keep_limit)).await
    }

    async fn consume_sign_in(
        &mut self,
        sign_in: SignInId,
        how: Consumption,
        created_since: Timestamp,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let sign_in = Id(sign_in.uuid());
        self.run(move |connection, workspace| consume_sign_in(connection, workspace, sign_in, how, created_since, at))
            .await
    }

    async fn count_code(&mut self, sign_in: SignInId, created_since: Timestamp, max: u32) -> Result<bool, StoreError> {
        let sign_in = Id(sign_in.uuid());
        self.run(move |connection, workspace| count_code(connection, workspace, sign_in, created_since, max)).await
    }

    async fn insert_session(&mut self, session: &NewSession, purge_before: Timestamp) -> Result<(), StoreError> {
        let session = session.clone();
        self.run(move |connection, workspace| insert_session(connection, workspace, &session, purge_before)).await
    }

    async fn end_session(&mut self, session: SessionId, email: &FoldedEmail) -> Result<bool, StoreError> {
        let (session, email) = (Id(session.uuid()), email.clone());
        self.run(move |connection, workspace| end_session(connection, workspace, session, &email)).await
    }

    async fn end_sessions(&mut self, email: &FoldedEmail) -> Result<u64, StoreError> {
        let email = email.clone();
        self.run(move |connection, workspace| end_sessions(connection, workspace, &email)).await
    }
}
