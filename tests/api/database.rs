//! Database of the service under test, with direct access for assertions and test data.
//!
//! The whole suite runs on either store: `TEST_STORE` selects it, SQLite is the default. SQL in tests must work on
//! both. Functions of this module cover the differences.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use diesel::connection::SimpleConnection;
use diesel::sql_types::Text;
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
use roadmap_testkit::postgres::{self, Database};
use tempfile::TempDir;

/// Whether the service under test uses PostgreSQL.
pub static ON_POSTGRES: LazyLock<bool> = LazyLock::new(|| {
    #[expect(clippy::disallowed_methods, reason = "what tests run on is no setting of the service")]
    let store = std::env::var("TEST_STORE");
    match store.as_deref() {
        Ok("postgres") => true,
        Ok("sqlite") | Err(_) => false,
        Ok(other) => panic!("TEST_STORE is `{other}`; it may be `sqlite` or `postgres`"),
    }
});

/// Database URL of the service per data directory.
static SERVERS: LazyLock<Mutex<HashMap<PathBuf, String>>> = LazyLock::new(Mutex::default);

/// Returns the database URL for a service started in `folder`; `None` for SQLite.
pub fn url_for(folder: &Path) -> Option<String> {
    SERVERS.lock().expect("no panic").get(folder).cloned()
}

/// Data directory and, on PostgreSQL, a database. Both are deleted when dropped.
pub struct Data {
    folder: TempDir,
    database: Option<Database>,
}

impl Data {
    /// Creates empty data on the store under test.
    pub fn empty() -> Self {
        let database = ON_POSTGRES.then(|| Database::empty(&postgres::server()));
        Self::with(database)
    }

    /// Creates empty data on SQLite, whichever store is under test.
    pub fn file() -> Self {
        Self::with(None)
    }

    /// Copies the data. No process may be using the original.
    pub fn copy(&self) -> Self {
        let copy = Self::with(self.database.as_ref().map(Database::copy));
        if self.database.is_none() {
            std::fs::copy(self.file_path(), copy.file_path()).expect("the database file");
        }
        copy
    }

    fn with(database: Option<Database>) -> Self {
        // The mode that the service itself sets.
        let private = std::fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().permissions(private).tempdir().expect("a temporary folder");
        if let Some(database) = &database {
            SERVERS.lock().expect("no panic").insert(folder.path().to_owned(), database.url.clone());
        }
        Self { folder, database }
    }

    /// Data directory.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn file_path(&self) -> PathBuf {
        self.path().join("roadmap.db")
    }

    /// Returns the first column of a query as text.
    pub fn rows(&self, query: &str) -> Vec<String> {
        #[derive(QueryableByName)]
        struct Row {
            #[diesel(sql_type = Text)]
            value: String,
        }
        let query = format!(
            "WITH result(value) AS ({query}) SELECT coalesce(CAST(value AS TEXT), 'NULL') AS value FROM result"
        );
        match &self.database {
            Some(database) => database.rows(&query).into_iter().flatten().map(|value| value.expect("text")).collect(),
            None => {
                let rows: Vec<Row> = diesel::sql_query(query).load(&mut self.connect()).expect("rows");
                rows.into_iter().map(|row| row.value).collect()
            }
        }
    }

    /// Executes SQL statements.
    pub fn execute(&self, statements: &str) {
        match &self.database {
            Some(database) => database.execute(statements),
            None => self.connect().batch_execute(statements).expect("the statements run"),
        }
    }

    /// Adds voters to a feature request: `v0@example.com` and so on.
    pub fn add_voters(&self, request: &str, voters: usize) {
        let request = request.replace('-', "");
        let of_request = format!("{} = '{request}'", hex("feature_requests.id"));
        let numbers = format!("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {voters})");
        self.execute(&format!(
            "{numbers} INSERT INTO customers (workspace_id, id, email, email_folded, created_at)
             SELECT workspace_id, {id}, 'v' || i || '@example.com', 'v' || i || '@example.com', {at}
             FROM n, feature_requests WHERE {of_request};
             INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
             SELECT customers.workspace_id, feature_requests.id, customers.id, {yes}, {at}
             FROM feature_requests, customers WHERE {of_request} AND email LIKE 'v%@example.com';
             UPDATE vote_tallies SET votes_count = {voters}",
            id = random_id(),
            at = sql_timestamp("0"),
            yes = if *ON_POSTGRES { "true" } else { "1" },
        ));
    }

    /// Makes all feature requests and comments an hour older, and the last mail to each member two days older.
    pub fn age_posts(&self) {
        let (hour, days) = if *ON_POSTGRES {
            ("created_at - interval '1 hour'", "told_until - interval '2 days'")
        } else {
            ("created_at - 3600000", "told_until - 172800000")
        };
        for posts in ["feature_requests", "comments"] {
            self.execute(&format!("UPDATE {posts} SET created_at = {hour}"));
        }
        self.execute(&format!("UPDATE members SET told_until = {days}"));
    }

    /// Makes the newest comment five minutes older, and the last mail to each member ten minutes older.
    pub fn age_last_comment(&self) {
        let (comment, mail) = if *ON_POSTGRES {
            ("created_at - interval '5 minutes'", "told_until - interval '10 minutes'")
        } else {
            ("created_at - 300000", "told_until - 600000")
        };
        let newest = "SELECT max(created_at) FROM comments";
        self.execute(&format!("UPDATE comments SET created_at = {comment} WHERE created_at = ({newest})"));
        self.execute(&format!("UPDATE members SET told_until = {mail}"));
    }

    /// Makes all sign-ins two hours old.
    pub fn age_sessions(&self) {
        let earlier = if *ON_POSTGRES { "created_at - interval '2 hours'" } else { "created_at - 7200000" };
        self.execute(&format!("UPDATE sessions SET created_at = {earlier}"));
    }

    /// Makes a private feature request one that waits for approval.
    pub fn hold_feature_request(&self, request: &str) {
        let (id, yes) = (hex("id"), if *ON_POSTGRES { "true" } else { "1" });
        let request = request.replace('-', "");
        self.execute(&format!("UPDATE feature_requests SET awaiting_approval = {yes} WHERE {id} = '{request}'"));
    }

    /// Adds a comment of an existing customer that waits for approval, submitted this many milliseconds after
    /// 1970-01-01T00:00:00Z. Returns its id.
    pub fn hold_comment(&self, request: &str, email: &str, content: &str, millis: &str) -> String {
        let of_request = |id: &str| format!("{} = '{}'", hex(id), request.replace('-', ""));
        self.execute(&format!(
            "INSERT INTO held_comments (workspace_id, id, request_id, customer_id, content, created_at)
             SELECT r.workspace_id, {id}, r.id, c.id, '{content}', {at}
             FROM feature_requests r JOIN customers c ON c.workspace_id = r.workspace_id
             WHERE {of_request} AND c.email = '{email}'",
            id = random_id(),
            at = sql_timestamp(millis),
            of_request = of_request("r.id"),
        ));
        let (id, of_request) = (uuid_text("id"), of_request("request_id"));
        let ids = self.rows(&format!("SELECT {id} FROM held_comments WHERE {of_request} AND content = '{content}'"));
        let [id] = ids.as_slice() else { panic!("{ids:?}") };
        id.clone()
    }

    /// Adds an export that has failed just now to the workspace of a feature request. Returns its id.
    pub fn failed_export(&self, request: &str) -> String {
        let (of_request, request) = (hex("id"), request.replace('-', ""));
        let (now, no) = if *ON_POSTGRES { ("now()", "false") } else { ("unixepoch() * 1000", "0") };
        let known = |what: &str| self.rows(&format!("SELECT {what} FROM exports"));
        let before = known(&uuid_text("id"));
        self.execute(&format!(
            "INSERT INTO exports (workspace_id, id, state, without_people, without_notes, holder, created_at, seen_at, ended_at)
             SELECT workspace_id, {id}, 'failed', {no}, {no}, id, {now}, {now}, {now} FROM feature_requests
             WHERE {of_request} = '{request}'",
            id = random_id(),
        ));
        let new: Vec<String> = known(&uuid_text("id")).into_iter().filter(|id| !before.contains(id)).collect();
        let [id] = new.as_slice() else { panic!("{new:?}") };
        id.clone()
    }

    /// Adds an import in this state to the workspace of a feature request. Its file is nowhere. Returns its id.
    pub fn import(&self, request: &str, state: &str) -> String {
        let (of_request, request) = (hex("id"), request.replace('-', ""));
        let now = if *ON_POSTGRES { "now()" } else { "unixepoch() * 1000" };
        let (progress, upload) = (
            r#"{"stage":"tracks","position":0,"counts":{},"subscribed":0,"new_tracks":[],"new_members":[],"refused":{}}"#,
            r#"{"file":"01890a5d-ac96-774b-bcce-b302099a8057","file_name":"a.csv","options":{},
                "preview":{"columns":[],"statuses":[],"records":[],"is_cut":false,"problem":null}}"#,
        );
        let upload = if state == "failed" { format!("'{upload}'") } else { "NULL".to_owned() };
        let known = |what: &str| self.rows(&format!("SELECT {what} FROM imports"));
        let before = known(&uuid_text("id"));
        self.execute(&format!(
            "INSERT INTO imports (workspace_id, id, source, name, state, upload, input, progress, holder, began_at, seen_at)
             SELECT workspace_id, {id}, 'csv', 'csv', '{state}', {upload}, '', '{progress}', id, {now}, {now}
             FROM feature_requests WHERE {of_request} = '{request}'",
            id = random_id(),
        ));
        let new: Vec<String> = known(&uuid_text("id")).into_iter().filter(|id| !before.contains(id)).collect();
        let [id] = new.as_slice() else { panic!("{new:?}") };
        id.clone()
    }

    /// Blocks all writes until the lock is dropped. Reads continue.
    pub fn lock(&self) -> Lock {
        match &self.database {
            Some(database) => {
                let connection = postgres::Connection::open(&database.url);
                connection.execute(
                    "BEGIN; LOCK TABLE feature_requests, votes, comments, changelogs, settings, notes IN EXCLUSIVE MODE",
                );
                Lock::Postgres(connection)
            }
            None => {
                let mut connection = self.connect();
                connection.batch_execute("BEGIN IMMEDIATE").expect("the lock");
                Lock::Sqlite(connection)
            }
        }
    }

    /// Asserts that the database's integrity checks pass.
    #[track_caller]
    pub fn is_sound(&self) {
        if self.database.is_none() {
            assert_eq!(self.rows("SELECT integrity_check FROM pragma_integrity_check"), ["ok"]);
            assert_eq!(self.rows("SELECT count(*) FROM pragma_foreign_key_check"), ["0"]);
        }
        let needed = if *ON_POSTGRES {
            "attention_of(r.workspace_id, r.id)"
        } else {
            "(SELECT attention FROM feature_request_attention a WHERE a.row_number = r.row_number)"
        };
        for (what, wrong) in [
            (
                "tallies that are not the distinct voters of a tree",
                "SELECT count(*) FROM vote_tallies t
                 JOIN feature_requests r ON r.workspace_id = t.workspace_id AND r.id = t.request_id
                 WHERE r.root_id IS NULL AND t.votes_count <>
                     (SELECT count(DISTINCT v.customer_id) FROM votes v
                      JOIN feature_requests m ON m.workspace_id = v.workspace_id AND m.id = v.request_id
                      WHERE m.workspace_id = r.workspace_id AND (m.id = r.id OR m.root_id = r.id))",
            ),
            (
                "roots that the links do not lead to",
                "SELECT count(*) FROM feature_requests r
                 LEFT JOIN feature_requests p ON p.workspace_id = r.workspace_id AND p.id = r.merged_into_id
                 WHERE coalesce(r.root_id, r.id) <> coalesce(p.root_id, p.id, r.id)",
            ),
            (
                "track tallies that are not the feature requests of the track",
                "SELECT count(*) FROM track_tallies t WHERE
                     all_count <> (SELECT count(*) FROM feature_requests r WHERE r.workspace_id = t.workspace_id
                                   AND r.track_id = t.track_id AND r.root_id IS NULL)
                     OR public_count <> (SELECT count(*) FROM feature_requests r
                                         WHERE r.workspace_id = t.workspace_id AND r.track_id = t.track_id
                                         AND r.root_id IS NULL AND NOT r.private)
                     OR unanswered_count <> (SELECT count(*) FROM feature_requests r
                                             WHERE r.workspace_id = t.workspace_id AND r.track_id = t.track_id
                                             AND r.attention = 'unanswered')
                     OR replied_count <> (SELECT count(*) FROM feature_requests r
                                          WHERE r.workspace_id = t.workspace_id AND r.track_id = t.track_id
                                          AND r.attention = 'replied')",
            ),
            (
                "copies that differ from the feature request",
                "SELECT count(*) FROM vote_tallies t
                 JOIN feature_requests r ON r.workspace_id = t.workspace_id AND r.id = t.request_id
                 WHERE t.track_id <> r.track_id OR t.private <> r.private OR t.attention IS DISTINCT FROM r.attention
                    OR coalesce(t.root_id, t.request_id) <> coalesce(r.root_id, r.id)",
            ),
            (
                "feature requests that need something else than comments and moves say",
                &format!("SELECT count(*) FROM feature_requests r WHERE r.attention IS DISTINCT FROM {needed}"),
            ),
        ] {
            assert_eq!(self.rows(wrong), ["0"], "{what}");
        }
    }

    /// Opens a connection that waits for the server's writes.
    fn connect(&self) -> SqliteConnection {
        let file = self.file_path();
        let mut connection = SqliteConnection::establish(file.to_str().expect("a path")).expect("a database");
        connection.batch_execute("PRAGMA busy_timeout = 5000").expect("a setting");
        connection
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        SERVERS.lock().expect("no panic").remove(self.folder.path());
    }
}

/// Blocks writes until it is dropped.
pub enum Lock {
    Sqlite(#[expect(dead_code, reason = "held, not used")] SqliteConnection),
    Postgres(#[expect(dead_code, reason = "held, not used")] postgres::Connection),
}

/// SQL for an id as 32 hexadecimal digits.
pub fn hex(id: &str) -> String {
    if *ON_POSTGRES { format!("replace({id}::text, '-', '')") } else { format!("lower(hex({id}))") }
}

/// SQL for an id in its text form with hyphens.
pub fn uuid_text(id: &str) -> String {
    if *ON_POSTGRES {
        return format!("{id}::text");
    }
    let part = |from: u32, length: u32| format!("substr(lower(hex({id})), {from}, {length})");
    [part(1, 8), part(9, 4), part(13, 4), part(17, 4), part(21, 12)].join(" || '-' || ")
}

/// SQL for a stored list of texts, which is JSON on SQLite and an array on PostgreSQL.
pub fn text_list(texts: &[&str]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
    if *ON_POSTGRES { format!("'{{{}}}'", quoted.join(",")) } else { format!("'[{}]'", quoted.join(",")) }
}

/// SQL for a JSON object with one field.
pub fn json_object(name: &str, value: &str) -> String {
    let function = if *ON_POSTGRES { "jsonb_build_object" } else { "json_object" };
    format!("{function}('{name}', {value})")
}

/// SQL for a JSON object with one more field.
pub fn json_with(object: &str, name: &str, value: &str) -> String {
    if *ON_POSTGRES {
        format!("{object} || {}", json_object(name, value))
    } else {
        format!("json_set({object}, '$.{name}', {value})")
    }
}

/// SQL that reverts a migration of the store under test and removes its record.
pub fn migration_undone(name: &str) -> String {
    let store = if *ON_POSTGRES { "postgres" } else { "sqlite" };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations").join(store).join(name).join("down.sql");
    let version = name.split('_').next().expect("a version");
    let down = std::fs::read_to_string(file).expect("the migration");
    format!("{down}; DELETE FROM __diesel_schema_migrations WHERE version = '{version}'")
}

/// SQL for a new id.
pub fn random_id() -> &'static str {
    if *ON_POSTGRES { "gen_random_uuid()" } else { "randomblob(16)" }
}

/// SQL for the timestamp this many milliseconds after 1970-01-01T00:00:00Z.
pub fn sql_timestamp(millis: &str) -> String {
    if *ON_POSTGRES { format!("to_timestamp(({millis}) / 1000.0)") } else { format!("({millis})") }
}

/// SQL for the milliseconds between two timestamps.
pub fn millis_between(earlier: &str, later: &str) -> String {
    if *ON_POSTGRES {
        format!("CAST(extract(epoch FROM {later} - {earlier}) * 1000 AS bigint)")
    } else {
        format!("{later} - {earlier}")
    }
}
