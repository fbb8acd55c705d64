//! The schema migrations, compiled in and run at start, and the privileges of the service's role.

use std::collections::BTreeSet;
use std::time::Duration;

use diesel::QueryableByName;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::sql_types::{Bool, Text, Timestamptz};
use diesel_async::{AsyncMigrationHarness, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_store::columns::TimestampColumn;
use uuid::Uuid;

use crate::PostgresOptions;
use crate::connection::Connector;
use crate::login::{inspect, map_error, within};
use crate::roles;

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// The number of the advisory lock of migrations: the bytes of `roadmap`.
const LOCK: i64 = 0x0072_6f61_646d_6170;

/// Migrates the schema, grants the role its privileges, and returns the versions of the applied migrations.
///
/// One process migrates at a time. A process that starts meanwhile waits, and then has nothing left to do. Each
/// migration is a transaction; after a crash, the next start continues with the next migration. If nothing is left to
/// do, nothing is written, so the login need not own the tables.
///
/// # Errors
/// The database cannot be reached, the login may not change the schema, or a migration fails.
pub async fn run(options: &PostgresOptions) -> Result<Vec<String>, StoreError> {
    let mut connection = connect_with_lock(options).await?;
    // First, so that nothing is half done if an administrator has to act.
    roles::ensure_role(&mut connection, &options.role).await?;
    let applied = applied_migrations(&mut connection).await?;
    let known = known_migrations()?;
    // An older process may go on beside a newer schema during an upgrade.
    if let Some(version) = applied.difference(&known).last() {
        tracing::warn!(version, "the database has the schema of a newer version of roadmap");
    }
    let done: Vec<String> = known.difference(&applied).cloned().collect();
    if !done.is_empty() {
        connection = run_missing(connection).await?;
    }
    if !done.is_empty() || !is_granted(&mut connection, &options.role).await? {
        grant(&mut connection, &options.role).await?;
    }
    set_row_security(&mut connection, options.row_security).await?;
    Ok(done)
}

/// Runs the missing migrations.
///
/// A migration that waits for the lock of another transaction, such as a backup, makes all later statements on the table
/// wait, too. So it gives up early, and tries again after a pause in which these run.
async fn run_missing(mut connection: AsyncPgConnection) -> Result<AsyncPgConnection, StoreError> {
    const PAUSE: Duration = Duration::from_secs(2);
    connection.batch_execute("SET lock_timeout = '1s'").await.map_err(map_error)?;
    loop {
        let blocked;
        (connection, blocked) = migrate(connection, |harness| match harness.run_pending_migrations(MIGRATIONS) {
            Ok(_) => Ok(None),
            Err(error) if error.to_string().contains("lock timeout") => Ok(Some(error)),
            Err(error) => Err(error),
        })
        .await?;
        let Some(error) = blocked? else { break };
        tracing::warn!(%error, "a migration waits for another transaction that uses its table");
        tokio::time::sleep(PAUSE).await;
    }
    connection.batch_execute("RESET lock_timeout").await.map_err(map_error)?;
    Ok(connection)
}

/// Returns the versions of the migrations that are not applied to the database, including those that another process is
/// running.
///
/// # Errors
/// The database cannot be reached, or does not respond in time.
pub async fn pending_migrations(options: &PostgresOptions) -> Result<Vec<String>, StoreError> {
    inspect(options, async |connection| missing_migrations(connection).await).await
}

#[derive(QueryableByName)]
struct ServerClock {
    #[diesel(sql_type = Timestamptz)]
    clock: TimestampColumn,
}

/// Returns the server's time, read under the login itself.
///
/// # Errors
/// The database cannot be reached, or does not respond in time.
pub async fn server_time(options: &PostgresOptions) -> Result<Timestamp, StoreError> {
    inspect(options, async |connection| {
        let clock = diesel::sql_query("SELECT clock_timestamp() AS clock");
        let clock: ServerClock = clock.get_result(connection).await.map_err(map_error)?;
        clock.clock.into_timestamp("", "clock_timestamp", Uuid::nil())
    })
    .await
}

/// Reverts every migration, which deletes all data. For tests of the migrations.
///
/// # Errors
/// The database cannot be reached, or a migration cannot be reverted.
pub async fn revert_all(options: &PostgresOptions) -> Result<(), StoreError> {
    let connection = connect_with_lock(options).await?;
    migrate(connection, |harness| harness.revert_all_migrations(MIGRATIONS).map(|_| ())).await?.1
}

/// Opens a connection of the login that holds the lock until it is dropped.
async fn connect_with_lock(options: &PostgresOptions) -> Result<AsyncPgConnection, StoreError> {
    let mut connector = Connector::for_login(&options.url)?;
    connector.set_connect_timeout(options.connection_wait);
    // A server that accepts connections and is silent counts as unreachable, too.
    let limit = options.connection_wait + options.response_timeout();
    let mut connection = within(limit, connector.connect()).await??;
    connection.batch_execute(&format!("SELECT pg_advisory_lock({LOCK})")).await.map_err(map_error)?;
    Ok(connection)
}

type Harness = AsyncMigrationHarness<AsyncPgConnection>;

/// Runs blocking work of the migration library on a connection, and returns the connection.
async fn migrate<T: Send + 'static>(
    connection: AsyncPgConnection,
    work: impl FnOnce(&mut Harness) -> Result<T, Box<dyn std::error::Error + Send + Sync>> + Send + 'static,
) -> Result<(AsyncPgConnection, Result<T, StoreError>), StoreError> {
    let worked = tokio::task::spawn_blocking(move || {
        let mut harness = Harness::new(connection);
        let outcome = work(&mut harness).map_err(StoreError::Fatal);
        (harness.into_inner(), outcome)
    });
    worked.await.map_err(|panic| StoreError::Fatal(panic.into()))
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = Text)]
    version: String,
}

/// A row with one truth value.
#[derive(QueryableByName)]
pub(crate) struct BoolRow {
    #[diesel(sql_type = Bool)]
    pub(crate) value: bool,
}

fn known_migrations() -> Result<BTreeSet<String>, StoreError> {
    let known: Vec<Box<dyn Migration<Pg>>> = MIGRATIONS.migrations().map_err(StoreError::Fatal)?;
    Ok(known.iter().map(|migration| migration.name().version().to_string()).collect())
}

/// Returns the same as the library's function, but without creating the table of migrations.
async fn missing_migrations(connection: &mut AsyncPgConnection) -> Result<Vec<String>, StoreError> {
    let applied = applied_migrations(connection).await?;
    Ok(known_migrations()?.difference(&applied).cloned().collect())
}

/// Returns the versions of the applied migrations that only a newer version of the service has.
pub(crate) async fn unknown_migrations(connection: &mut AsyncPgConnection) -> Result<Vec<String>, StoreError> {
    let applied = applied_migrations(connection).await?;
    Ok(applied.difference(&known_migrations()?).cloned().collect())
}

async fn applied_migrations(connection: &mut AsyncPgConnection) -> Result<BTreeSet<String>, StoreError> {
    let is_new = "SELECT to_regclass('__diesel_schema_migrations') IS NULL AS value";
    let is_new: BoolRow = diesel::sql_query(is_new).get_result(connection).await.map_err(map_error)?;
    let applied: Vec<Version> = if is_new.value {
        Vec::new()
    } else {
        let applied = "SELECT version::text AS version FROM __diesel_schema_migrations";
        diesel::sql_query(applied).load(connection).await.map_err(map_error)?
    };
    Ok(applied.into_iter().map(|row| row.version).collect())
}

/// Whether the role has its privileges on every table, may only read `workspaces`, and may not change `audit_entries`.
async fn is_granted(connection: &mut AsyncPgConnection, role: &str) -> Result<bool, StoreError> {
    let granted = "SELECT coalesce((SELECT NOT has_table_privilege(role.oid, 'workspaces', 'INSERT, UPDATE, DELETE')
                                     AND NOT has_table_privilege(role.oid, 'audit_entries', 'UPDATE, DELETE, TRUNCATE')
                                     AND (SELECT bool_and(has_table_privilege(role.oid, tables.oid, 'INSERT'))
                                          FROM pg_class tables
                                          WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
                                            AND relname NOT IN ('__diesel_schema_migrations', 'workspaces'))
                                     FROM pg_roles role WHERE rolname = $1), false) AS value";
    let granted = diesel::sql_query(granted).bind::<Text, _>(role);
    let granted: BoolRow = granted.get_result(connection).await.map_err(map_error)?;
    Ok(granted.value)
}

/// Switches row-level security on or off, on the tables where it is not in that state.
async fn set_row_security(connection: &mut AsyncPgConnection, on: bool) -> Result<(), StoreError> {
    let (wrong, action) = if on { ("NOT relrowsecurity", "ENABLE") } else { ("relrowsecurity", "DISABLE") };
    let switch = format!(
        "DO $$
         DECLARE
             secured regclass;
         BEGIN
             FOR secured IN SELECT polrelid FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid
                 WHERE relnamespace = current_schema()::regnamespace AND {wrong}
             LOOP
                 EXECUTE format('ALTER TABLE %s {action} ROW LEVEL SECURITY', secured);
             END LOOP;
         END $$"
    );
    connection.batch_execute(&switch).await.map_err(map_error)
}

/// Grants the role the privileges that the service needs: to read and change rows. Workspaces are created by the login
/// itself (ADR 10). Entries of the audit log are only added.
async fn grant(connection: &mut AsyncPgConnection, role: &str) -> Result<(), StoreError> {
    let rights = format!(
        "DO $$
         BEGIN
             EXECUTE format('GRANT USAGE ON SCHEMA %I TO {role}', current_schema());
             EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO {role}', current_schema());
             EXECUTE format('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA %I TO {role}', current_schema());
             -- An owner that is named as the role by mistake would lose its own rights.
             IF NOT (SELECT pg_has_role('{role}', relowner, 'USAGE') FROM pg_class WHERE oid = 'workspaces'::regclass) THEN
                 REVOKE INSERT, UPDATE, DELETE ON __diesel_schema_migrations, workspaces FROM {role};
                 REVOKE UPDATE, DELETE, TRUNCATE ON audit_entries FROM {role};
             END IF;
         END $$"
    );
    connection.batch_execute(&rights).await.map_err(|error| {
        StoreError::Fatal(
            format!(
                "the role {role} cannot be granted its privileges ({error}); run `roadmap migrate` with the login that \
                 owns the tables"
            )
            .into(),
        )
    })
}
