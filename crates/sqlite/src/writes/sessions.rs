//! Sign-ins and sessions.

use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Text};
use diesel::{SqliteConnection, delete, insert_into, update};
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::session::{BrowserName, NewSession, Session};
use roadmap_domain::model::sign_in::{LocalPath, PageAction, SignIn, SignInCounts};
use roadmap_domain::model::timestamp::Timestamp;

use crate::codec::Id;
use crate::errors::SqlError;
use crate::schema::{sessions, sign_ins};
use crate::statement::statement;

/// Milliseconds of a minute, an hour and a day.
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

statement! {
    /// Counts the sign-ins of an address since two timestamps and those of the workspace since a third one.
    CountSignIns {
        workspace: Id => Binary, email: String => Text, recently: i64 => BigInt, today: i64 => BigInt,
        this_hour: i64 => BigInt,
    } -> (BigInt, BigInt, BigInt),
    "WITH scope (workspace, email, recently, today, this_hour) AS (SELECT ?, ?, ?, ?, ?)
     SELECT (SELECT count(*) FROM sign_ins WHERE workspace_id = scope.workspace AND email_folded = scope.email
                AND created_at > scope.recently),
            (SELECT count(*) FROM sign_ins WHERE workspace_id = scope.workspace AND email_folded = scope.email
                AND created_at > scope.today),
            (SELECT count(*) FROM sign_ins WHERE workspace_id = scope.workspace AND created_at > scope.this_hour)
     FROM scope"
}

/// Counts the sign-ins of an address and of the workspace.
pub(crate) fn count_sign_ins(
    connection: &mut SqliteConnection,
    workspace: Id,
    email: &FoldedEmail,
    now: Timestamp,
) -> Result<SignInCounts, SqlError> {
    let count = CountSignIns {
        workspace,
        email: email.as_str().to_owned(),
        recently: now.millis() - 15 * MINUTE,
        today: now.millis() - DAY,
        this_hour: now.millis() - HOUR,
    };
    let (recently, today, of_workspace): (i64, i64, i64) = count.get_result(connection)?;
    Ok(SignInCounts {
        of_address_recently: recently.unsigned_abs(),
        of_address_today: today.unsigned_abs(),
        of_workspace: of_workspace.unsigned_abs(),
    })
}

/// Stores a sign-in and deletes old ones.
pub(crate) fn insert_sign_in(
    connection: &mut SqliteConnection,
    workspace: Id,
    sign_in: &SignIn,
) -> Result<(), SqlError> {
    let old = sign_ins::table
        .filter(sign_ins::workspace_id.eq(workspace))
        .filter(sign_ins::created_at.lt(sign_in.created_at.millis() - DAY));
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
        ))
        .execute(connection)?;
    Ok(())
}

/// Returns the earliest time of creation of a sign-in that is open at `at`.
fn oldest_open(at: Timestamp) -> i64 {
    at.plus(-SignIn::LIFETIME).millis()
}

/// Marks a sign-in as used. Returns whether it was open.
pub(crate) fn consume_sign_in(
    connection: &mut SqliteConnection,
    workspace: Id,
    sign_in: Id,
    at: Timestamp,
) -> Result<bool, SqlError> {
    let open = sign_ins::table
        .filter(sign_ins::workspace_id.eq(workspace))
        .filter(sign_ins::id.eq(sign_in))
        .filter(sign_ins::consumed_at.is_null())
        .filter(sign_ins::created_at.ge(oldest_open(at)));
    Ok(update(open).set(sign_ins::consumed_at.eq(at.millis())).execute(connection)? > 0)
}

/// Counts a typed code. Returns whether the sign-in accepts codes.
pub(crate) fn count_code(
    connection: &mut SqliteConnection,
    workspace: Id,
    sign_in: Id,
    at: Timestamp,
) -> Result<bool, SqlError> {
    let accepting = sign_ins::table
        .filter(sign_ins::workspace_id.eq(workspace))
        .filter(sign_ins::id.eq(sign_in))
        .filter(sign_ins::consumed_at.is_null())
        .filter(sign_ins::created_at.ge(oldest_open(at)))
        .filter(sign_ins::wrong_codes.lt(i64::from(SignIn::MAX_WRONG_CODES)));
    Ok(update(accepting).set(sign_ins::wrong_codes.eq(sign_ins::wrong_codes + 1)).execute(connection)? > 0)
}

/// Stores a session and deletes those that were not used for half a year.
pub(crate) fn insert_session(
    connection: &mut SqliteConnection,
    workspace: Id,
    session: &NewSession,
) -> Result<(), SqlError> {
    let (_, longest) = Session::CUSTOMER_LIFETIME;
    let unused = sessions::table
        .filter(sessions::workspace_id.eq(workspace))
        .filter(sessions::last_seen_at.lt(session.created_at.plus(-longest).millis()));
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
pub(crate) fn end_session(
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
pub(crate) fn end_sessions(
    connection: &mut SqliteConnection,
    workspace: Id,
    email: &FoldedEmail,
) -> Result<u64, SqlError> {
    let open = sign_ins::table
        .filter(sign_ins::workspace_id.eq(workspace))
        .filter(sign_ins::email_folded.eq(email.as_str()))
        .filter(sign_ins::consumed_at.is_null());
    delete(open).execute(connection)?;
    let own =
        sessions::table.filter(sessions::workspace_id.eq(workspace)).filter(sessions::email_folded.eq(email.as_str()));
    Ok(delete(own).execute(connection)? as u64)
}
