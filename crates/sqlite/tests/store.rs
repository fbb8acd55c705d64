//! The SQLite store under the contract suite, on a file in a temporary folder.

// Tests panic when an expectation fails.
#![expect(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::{Connection, QueryableByName, RunQueryDsl, SqliteConnection};
use roadmap_domain::error::{ErrorChain, StoreError};
use roadmap_domain::model::id::{MemberId, WorkspaceId};
use roadmap_domain::ports::{ConnectionPools, PoolStatus};
use roadmap_sqlite::{SqliteOptions, SqliteStore, migrate, pending_migrations, revert_all, unknown_migrations};
use roadmap_testkit::harness::{Harness, Probe, Subject, draft};
use uuid::Uuid;

roadmap_testkit::contract_tests!(crate::fresh);

async fn fresh() -> Subject {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("roadmap.db"));
    subject(folder, options)
}

fn subject(folder: tempfile::TempDir, options: SqliteOptions) -> Subject {
    migrate(&options).unwrap();
    let store = Arc::new(SqliteStore::open(&options).unwrap());
    Subject {
        store: store.clone(),
        reader: store.clone(),
        snapshots: store.clone(),
        missed_searches: store.clone(),
        search: store.clone(),
        directory: store.clone(),
        maintenance: store.clone(),
        queue: store.clone(),
        mail: store.clone(),
        webhook_queue: store.clone(),
        usage: store,
        probe: Arc::new(FileProbe(options.path)),
        keep: Box::new(folder),
    }
}

struct FileProbe(PathBuf);

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

#[async_trait]
impl Probe for FileProbe {
    async fn count(&self, table: &str, workspace: WorkspaceId) -> u64 {
        let mut connection = SqliteConnection::establish(self.0.to_str().unwrap()).unwrap();
        let sql = format!("SELECT count(*) AS count FROM {table} WHERE workspace_id = unhex(?, '-')");
        let row: Count =
            diesel::sql_query(sql).bind::<Text, _>(workspace.to_string()).get_result(&mut connection).unwrap();
        row.count.unsigned_abs()
    }

    async fn execute(&self, statements: &str) {
        let mut connection = SqliteConnection::establish(self.0.to_str().unwrap()).unwrap();
        connection.batch_execute(&format!("PRAGMA busy_timeout = 5000; {statements}")).unwrap();
    }

    async fn authors(&self, table: &str, workspace: WorkspaceId) -> Vec<Option<MemberId>> {
        let mut connection = SqliteConnection::establish(self.0.to_str().unwrap()).unwrap();
        let sql = format!("SELECT author_id FROM {table} WHERE workspace_id = unhex(?, '-') ORDER BY id");
        let rows: Vec<Author> =
            diesel::sql_query(sql).bind::<Text, _>(workspace.to_string()).get_results(&mut connection).unwrap();
        rows.iter().map(|row| row.author_id.as_ref().map(|id| MemberId::new(Uuid::from_slice(id).unwrap()))).collect()
    }
}

#[derive(QueryableByName)]
struct Author {
    #[diesel(sql_type = Nullable<Binary>)]
    author_id: Option<Vec<u8>>,
}

#[derive(QueryableByName, Debug, PartialEq, Eq)]
struct SchemaEntry {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    sql: String,
}

/// Returns the entries of the schema, except the migrations' own table.
fn schema(options: &SqliteOptions) -> Vec<SchemaEntry> {
    let mut connection = SqliteConnection::establish(options.path.to_str().unwrap()).unwrap();
    let entries = "SELECT name, coalesce(sql, '') AS sql FROM sqlite_schema
                   WHERE name NOT LIKE '%diesel_schema_migrations%' AND name <> 'sqlite_sequence' ORDER BY name";
    diesel::sql_query(entries).load(&mut connection).unwrap()
}

#[test]
fn migrations_go_up_down_and_up_to_the_same_schema() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("roadmap.db"));
    assert!(!pending_migrations(&options).unwrap().is_empty());
    assert!(!migrate(&options).unwrap().is_empty());
    assert_eq!((pending_migrations(&options).unwrap(), migrate(&options).unwrap()), (vec![], vec![]));
    let first = schema(&options);
    assert!(first.iter().any(|entry| entry.name == "feature_requests"), "{first:?}");
    revert_all(&options).unwrap();
    assert_eq!(schema(&options), vec![]);
    migrate(&options).unwrap();
    assert_eq!(schema(&options), first);
}

/// Beyond the contract.
#[test]
fn processes_that_start_at_once_migrate_once() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("roadmap.db"));
    let starts: Vec<_> = (0..4)
        .map(|_| {
            let options = options.clone();
            std::thread::spawn(move || migrate(&options).unwrap().len())
        })
        .collect();
    let mut done: Vec<usize> = starts.into_iter().map(|start| start.join().unwrap()).collect();
    done.sort_unstable();
    assert_eq!(done[..3], [0, 0, 0]);
    assert!(done[3] > 0);
}

#[tokio::test]
async fn one_of_the_configured_connections_is_opened_at_the_start_to_read_and_one_to_write() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions { readers: 3, ..SqliteOptions::new(folder.path().join("roadmap.db")) };
    migrate(&options).unwrap();
    let pools = SqliteStore::open(&options).unwrap().pools();
    let idle = |name, limit| PoolStatus { name, limit, open: 1, in_use: 0, waiting: 0 };
    assert_eq!(pools, [idle("read", 3), idle("write", 1)]);
}

#[test]
fn a_schema_of_a_newer_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("roadmap.db"));
    migrate(&options).unwrap();
    let mut connection = SqliteConnection::establish(options.path.to_str().unwrap()).unwrap();
    let newer = "INSERT INTO __diesel_schema_migrations (version) VALUES ('29990101000000')";
    connection.batch_execute(newer).unwrap();
    let error = migrate(&options).unwrap_err();
    let expected = "the database has the schema of a newer version of roadmap (migration 29990101000000)";
    assert!(std::error::Error::source(&error).unwrap().to_string().starts_with(expected), "{error:?}");
    assert_eq!(unknown_migrations(&options.path).unwrap(), ["29990101000000"]);
}

#[test]
fn every_foreign_key_has_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("roadmap.db"));
    migrate(&options).unwrap();
    let mut connection = SqliteConnection::establish(options.path.to_str().unwrap()).unwrap();
    // The columns of each foreign key, in order, must start the columns of some index or primary key.
    let uncovered = "
        WITH keys AS (
            SELECT t.name AS tbl, f.id AS id, group_concat(f.\"from\", ',' ORDER BY f.seq) AS columns
            FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.type = 'table' GROUP BY t.name, f.id
        ), indexes AS (
            SELECT t.name AS tbl, group_concat(c.name, ',' ORDER BY c.seqno) AS columns
            FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
            WHERE t.type = 'table' GROUP BY t.name, i.name
        )
        SELECT tbl AS name, columns AS sql FROM keys WHERE NOT EXISTS (
            SELECT 1 FROM indexes WHERE indexes.tbl = keys.tbl AND indexes.columns || ',' LIKE keys.columns || ',%'
        )";
    let uncovered: Vec<SchemaEntry> = diesel::sql_query(uncovered).load(&mut connection).unwrap();
    assert_eq!(uncovered, vec![]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_waits_for_another_process_up_to_its_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = SqliteOptions::new(folder.path().join("roadmap.db"));
    migrate(&options).unwrap();
    options.write_wait = std::time::Duration::from_millis(100);
    let store = SqliteStore::open(&options).unwrap();
    let mut other = SqliteConnection::establish(options.path.to_str().unwrap()).unwrap();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let workspace = WorkspaceId::new(Uuid::from_u128(1));
    let begun = roadmap_domain::ports::Store::begin(&store, workspace, None).await;
    assert!(matches!(begun, Err(StoreError::Unavailable(_))));
    other.batch_execute("ROLLBACK").unwrap();
    let begun = roadmap_domain::ports::Store::begin(&store, workspace, None).await;
    assert!(matches!(begun, Ok(roadmap_domain::ports::BeginOutcome::Started(_))));
}

/// Whoever writes to the file with SQL: entries are never changed, and young ones are not deleted.
#[test]
fn entries_of_the_audit_log_are_protected_by_the_schema() {
    const DAY: i64 = 24 * 60 * 60;
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("roadmap.db"));
    migrate(&options).unwrap();
    let mut connection = SqliteConnection::establish(options.path.to_str().unwrap()).unwrap();
    let add = |id: &str, age: i64| {
        format!(
            "INSERT INTO audit_entries (workspace_id, id, created_at, actor_kind, actor_name, channel, action,
                                        subject_kind, changes)
             VALUES (x'01', x'{id}', (unixepoch() - {age}) * 1000, 'operator', 'root', 'command', 'test', 'test', '[]');"
        )
    };
    let entries = add("01", 0) + &add("02", 29 * DAY) + &add("03", 31 * DAY);
    connection.batch_execute(&format!("PRAGMA foreign_keys = OFF; {entries}")).unwrap();
    for (statement, message) in [
        ("UPDATE audit_entries SET action = 'other'", "entries of the audit log are never changed"),
        ("UPDATE audit_entries SET created_at = 0 WHERE id = x'03'", "entries of the audit log are never changed"),
        ("DELETE FROM audit_entries", "entries of the audit log are kept for 30 days"),
        ("DELETE FROM audit_entries WHERE id = x'02'", "entries of the audit log are kept for 30 days"),
    ] {
        assert_eq!(connection.batch_execute(statement).unwrap_err().to_string(), message, "{statement}");
    }
    connection.batch_execute("DELETE FROM audit_entries WHERE id = x'03'").unwrap();
    let count = "SELECT count(*) AS count FROM audit_entries WHERE action = 'test'";
    assert_eq!(diesel::sql_query(count).get_result::<Count>(&mut connection).unwrap().count, 2);
}

/// Measures what a record that consists of new words adds to the database file, in bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_of_new_words_adds_little_to_the_index() {
    const RECORDS: u64 = 20;
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("roadmap.db"));
    let harness = Harness::new(subject(folder, options.clone()));
    let workspace = harness.workspace("acme").await;
    let bytes = || {
        let mut connection = SqliteConnection::establish(options.path.to_str().unwrap()).unwrap();
        let pages = "SELECT page_count * page_size AS count FROM pragma_page_count, pragma_page_size";
        diesel::sql_query(pages).get_result::<Count>(&mut connection).unwrap().count.unsigned_abs()
    };
    // A linear congruential generator: words that do not repeat, each with its letters in a different order.
    let mut state = 1_u64;
    let mut letters = |length: usize| -> String {
        let mut letter = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap())
        };
        (0..length).map(|_| letter()).collect::<String>() + " "
    };
    for length in [6, 24, 40] {
        let before = bytes();
        for _ in 0..RECORDS {
            let description: String = (0..20_000 / (length + 1)).map(|_| letters(length)).collect();
            harness.create(workspace, draft("Words", &[], &description)).await;
        }
        let each = (bytes() - before) / RECORDS;
        println!("a record of 20,000 characters in words of {length}: {each} bytes");
        // 60,000 bytes are the record itself: its HTML, its text and the terms of 500 words.
        assert!(each < 500_000, "{length}: {each} bytes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_times_out_is_unavailable_and_lists_still_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("roadmap.db");
    let options = SqliteOptions { readers: 1, search_time: std::time::Duration::ZERO, ..SqliteOptions::new(path) };
    let harness = Harness::new(subject(folder, options));
    let workspace = harness.workspace("acme").await;
    harness.create(workspace, draft("Dark mode", &[], "")).await;
    let error = harness.try_search(workspace, "dark").await.unwrap_err();
    assert_eq!(
        ErrorChain::new(&error).to_string(),
        "search_unavailable: Service is temporarily unavailable: the search took longer than 0 ms"
    );
    assert!(!harness.subject.reader.tracks(workspace).await.unwrap().is_empty());
}
