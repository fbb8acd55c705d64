//! The PostgreSQL store under the contract suite, with a separate database for each case.

// Tests panic when an expectation fails.
#![expect(clippy::expect_used, clippy::indexing_slicing, clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::changes::{Changed, ChangedRecord, ChangesFilter, ChangesPage};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{FeatureRequestId, MemberId, WorkspaceId};
use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use roadmap_domain::model::setting::Setting;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::vote::VoteCast;
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::ports::{
    BeginOutcome, ConnectionPools, EndOutcome, Health, Insertion, Maintenance, OutboxQueue, PoolStatus, Store,
    WorkspaceDirectory,
};
use roadmap_postgres::{
    PostgresOptions, PostgresStore, RoleProblem, RoleProblems, migrate, pending_migrations, revert_all, role_problems,
    server_time,
};
use roadmap_testkit::harness::{Harness, Probe, Subject, operation_key, reply, vote};
use roadmap_testkit::postgres::{self, Cluster, Connection, Database, Durability};
use tokio::sync::OnceCell;
use tokio::task::block_in_place;
use uuid::Uuid;

roadmap_testkit::contract_tests!(crate::fresh);

/// The default options for a database, but with patience: on a busy machine a connection or a statement takes seconds.
fn patient_options(url: impl Into<String>) -> PostgresOptions {
    let patience = Duration::from_secs(60);
    PostgresOptions { connection_wait: patience, statement_timeout: patience, ..PostgresOptions::new(url) }
}

/// A database with only the schema, to be copied.
async fn template() -> &'static Database {
    static TEMPLATE: OnceCell<Database> = OnceCell::const_new();
    TEMPLATE
        .get_or_init(async || {
            let template = Database::empty(&postgres::server());
            migrate(&patient_options(&template.url)).await.unwrap();
            template
        })
        .await
}

async fn fresh() -> Subject {
    let database = Arc::new(template().await.copy());
    subject(&database, &patient_options(&database.url)).await
}

async fn subject(database: &Arc<Database>, options: &PostgresOptions) -> Subject {
    let store = Arc::new(PostgresStore::open(options).await.unwrap());
    let reader = Arc::new(store.reader(4).unwrap());
    Subject {
        store: store.clone(),
        reader: reader.clone(),
        snapshots: store.clone(),
        missed_searches: store.clone(),
        search: reader,
        directory: store.clone(),
        maintenance: store.clone(),
        queue: store.clone(),
        mail: store.clone(),
        webhook_queue: store.clone(),
        usage: store,
        probe: Arc::new(DatabaseProbe(database.clone())),
        keep: Box::new(database.clone()),
    }
}

struct DatabaseProbe(Arc<Database>);

#[async_trait]
impl Probe for DatabaseProbe {
    async fn count(&self, table: &str, workspace: WorkspaceId) -> u64 {
        let query = format!("SELECT count(*) FROM {table} WHERE workspace_id = '{workspace}'");
        self.0.rows(&query)[0][0].as_ref().unwrap().parse().unwrap()
    }

    async fn execute(&self, statements: &str) {
        self.0.execute(statements);
    }

    async fn authors(&self, table: &str, workspace: WorkspaceId) -> Vec<Option<MemberId>> {
        let query = format!("SELECT author_id FROM {table} WHERE workspace_id = '{workspace}' ORDER BY id");
        let rows = self.0.rows(&query);
        rows.iter().map(|row| row[0].as_ref().map(|id| MemberId::new(id.parse().unwrap()))).collect()
    }
}

/// Returns the parts of the schema, except the migrations' own table.
fn schema(database: &Database) -> Vec<String> {
    let parts = "
        SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' ||
               coalesce(column_default, '') || ' ' || coalesce(generation_expression, '')
        FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name <> '__diesel_schema_migrations'
        UNION ALL
        SELECT 'index ' || indexdef FROM pg_indexes
        WHERE schemaname = 'public' AND tablename <> '__diesel_schema_migrations'
        UNION ALL
        SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        AND conrelid <> coalesce(to_regclass('__diesel_schema_migrations'), 0)
        UNION ALL
        SELECT 'policy ' || tablename || ' ' || policyname || ' ' || qual FROM pg_policies
        UNION ALL
        SELECT 'function ' || pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        AND prokind = 'f' AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
        ORDER BY 1";
    database.rows(parts).into_iter().flatten().flatten().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_go_up_down_and_up_to_the_same_schema() {
    let database = Database::empty(&postgres::server());
    let options = patient_options(&database.url);
    assert!(!pending_migrations(&options).await.unwrap().is_empty());
    assert!(!migrate(&options).await.unwrap().is_empty());
    // Without pending migrations nothing is written, not even privileges that exist already.
    let catalog_rows = || {
        database
            .rows("SELECT oid::text, xmin::text FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY oid")
    };
    let before = catalog_rows();
    assert_eq!((pending_migrations(&options).await.unwrap(), migrate(&options).await.unwrap()), (vec![], vec![]));
    assert_eq!(catalog_rows(), before);
    let first = schema(&database);
    for part in
        ["column feature_requests.title text NO", "index CREATE INDEX votes_by_age", "policy votes own_workspace"]
    {
        assert!(first.iter().any(|line| line.starts_with(part)), "{part}: {first:#?}");
    }
    revert_all(&options).await.unwrap();
    assert_eq!(schema(&database), Vec::<String>::new());
    migrate(&options).await.unwrap();
    assert_eq!(schema(&database), first);
}

/// Beyond the contract.
#[tokio::test(flavor = "multi_thread")]
async fn processes_that_start_at_once_migrate_once() {
    let database = Database::empty(&postgres::server());
    let mut starts = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let options = patient_options(&database.url);
        starts.spawn(async move { migrate(&options).await.unwrap().len() });
    }
    let mut done = starts.join_all().await;
    done.sort_unstable();
    assert_eq!(done[..3], [0, 0, 0]);
    assert!(done[3] > 0);
}

#[test]
fn a_migration_that_waits_for_a_lock_lets_others_pass() {
    let database = Database::empty(&postgres::server());
    let options = patient_options(&database.url);
    let lock = "BEGIN; LOCK TABLE __diesel_schema_migrations IN SHARE MODE";
    let backup = Connection::open(&database.url);
    backup.execute(
        "CREATE TABLE __diesel_schema_migrations (
             version VARCHAR(50) PRIMARY KEY, run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
         )",
    );
    backup.execute(lock);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let migrating = runtime.spawn(async move { migrate(&options).await });
    let began = Instant::now();
    let waiting =
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '__diesel_schema_migrations'::regclass";
    while database.rows(waiting) != [[Some("1".to_owned())]] {
        assert!(began.elapsed() < Duration::from_secs(60), "the migration does not wait");
        std::thread::sleep(Duration::from_millis(10));
    }
    // A lock that only the waiting migration is in the way of.
    let other = Connection::open(&database.url);
    other.execute("SET lock_timeout = '60s'");
    other.execute(lock);
    other.execute("COMMIT");
    assert!(!migrating.is_finished());
    backup.execute("COMMIT");
    assert_ne!(runtime.block_on(migrating).unwrap().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_silent_server_is_not_waited_for_at_the_start() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://ann@127.0.0.1:{}/roadmap", silent.local_addr().unwrap().port());
    let options = PostgresOptions { connection_wait: Duration::from_millis(100), ..PostgresOptions::new(url) };
    let error = migrate(&options).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
}

#[tokio::test]
async fn every_foreign_key_has_an_index() {
    // The columns of each foreign key, in order, must start the columns of some index.
    let uncovered = "
        SELECT conrelid::regclass || ' ' || pg_get_constraintdef(key.oid) FROM pg_constraint AS key
        WHERE contype = 'f' AND NOT EXISTS (
            SELECT FROM pg_index WHERE indrelid = conrelid
            AND (string_to_array(indkey::text, ' ')::int2[])[1:cardinality(conkey)] = conkey
        )";
    assert_eq!(template().await.rows(uncovered), Vec::<Vec<Option<String>>>::new());
}

/// Beyond the contract.
#[tokio::test]
async fn every_table_of_a_workspace_is_keyed_and_secured_by_it() {
    let template = template().await;
    let list = |query: &str| -> Vec<String> { template.rows(query).into_iter().flatten().flatten().collect() };
    let tables = list(
        "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
         AND relname NOT IN ('__diesel_schema_migrations', 'workspaces') ORDER BY 1",
    );
    assert!(tables.len() >= 17, "{tables:?}");
    // Row-level security with one policy, which checks the workspace and nothing else.
    let secured = list(
        "SELECT relname::text FROM pg_class JOIN pg_policy ON polrelid = pg_class.oid
         WHERE relrowsecurity AND polpermissive AND polcmd = '*' AND polroles = '{0}' AND polwithcheck IS NULL
         AND pg_get_expr(polqual, polrelid) = '(workspace_id = ( SELECT current_workspace() AS current_workspace))'
         GROUP BY relname HAVING count(*) = 1 ORDER BY 1",
    );
    assert_eq!(secured, tables);
    // Every primary, unique and foreign key begins with the workspace.
    let keys_without_workspace = list(
        "SELECT conrelid::regclass || ' ' || pg_get_constraintdef(pg_constraint.oid) FROM pg_constraint
         JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
         WHERE contype IN ('p', 'u', 'f') AND connamespace = 'public'::regnamespace AND attname <> 'workspace_id'
         AND conrelid::regclass::text NOT IN ('__diesel_schema_migrations', 'workspaces')",
    );
    assert_eq!(keys_without_workspace, Vec::<String>::new());
}

/// A login with its own database, and the name of a role that does not exist yet.
struct Tenant {
    login: String,
    role: String,
    database: Option<Database>,
    options: PostgresOptions,
}

impl Tenant {
    fn new(name: &str, attributes: &str) -> Self {
        let login = format!("roadmap_test_{name}_{}", std::process::id());
        let role = format!("{login}_service");
        postgres::execute(&postgres::server(), &format!("CREATE ROLE {login} LOGIN {attributes}")).unwrap();
        let (database, url) = database_of(&login);
        let options = PostgresOptions { role: role.clone(), ..patient_options(url) };
        Self { login, role, database: Some(database), options }
    }

    /// Creates the role, as an administrator does.
    fn make_role(&self) {
        let make = format!("CREATE ROLE {} NOLOGIN; GRANT {} TO {}", self.role, self.role, self.login);
        postgres::execute(&postgres::server(), &make).unwrap();
    }
}

/// Creates an empty database that belongs to a login, and returns its URL for that login.
fn database_of(login: &str) -> (Database, String) {
    let database = Database::empty(&postgres::server());
    database.execute(&format!("ALTER SCHEMA public OWNER TO {login}"));
    let name = &database.rows("SELECT current_database()")[0][0];
    database.execute(&format!("GRANT ALL ON DATABASE {} TO {login}", name.as_ref().unwrap()));
    let url = database.url.replace("postgres@", &format!("{login}@"));
    (database, url)
}

impl Drop for Tenant {
    fn drop(&mut self) {
        // A role's objects and privileges are deleted with its database.
        self.database = None;
        let roles = format!("DROP ROLE IF EXISTS {}; DROP ROLE IF EXISTS {}", self.role, self.login);
        let _ = postgres::execute(&postgres::server(), &roles);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ordinary_login_migrates_and_serves_under_a_role_that_owns_nothing() {
    let tenant = Tenant::new("ordinary", "");
    tenant.make_role();
    assert!(!migrate(&tenant.options).await.unwrap().is_empty());
    assert!(PostgresStore::open(&tenant.options).await.is_ok());
    assert_eq!(role_problems(&tenant.options).await.unwrap(), RoleProblems { missing: None, excess: vec![] });
    // Statements may run neither as the login itself nor as an administrator.
    for (role, message) in [(tenant.login.as_str(), "owns tables"), ("postgres", "permission denied")] {
        let options = PostgresOptions { role: role.to_owned(), ..tenant.options.clone() };
        assert!(error_message(PostgresStore::open(&options).await).contains(message), "{role}");
    }
    let database = tenant.database.as_ref().unwrap();
    let as_superuser = PostgresOptions { role: "postgres".to_owned(), ..patient_options(&database.url) };
    assert!(error_message(PostgresStore::open(&as_superuser).await).contains("superuser"));
    // An owner that is named as the role by mistake keeps its rights.
    let mistaken = PostgresOptions { role: tenant.login.clone(), ..tenant.options.clone() };
    migrate(&mistaken).await.unwrap();
    let may = format!("SELECT has_table_privilege('{}', 'workspaces', 'INSERT')", tenant.login);
    assert_eq!(database.rows(&may)[0][0].as_deref(), Some("t"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_may_create_roles_makes_its_own() {
    let tenant = Tenant::new("creator", "CREATEROLE");
    assert!(!migrate(&tenant.options).await.unwrap().is_empty());
    assert!(PostgresStore::open(&tenant.options).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn workspaces_are_created_by_the_login_and_only_read_by_the_role() {
    let tenant = Tenant::new("provisioning", "");
    tenant.make_role();
    migrate(&tenant.options).await.unwrap();
    let database = tenant.database.as_ref().unwrap();
    let rights = || {
        let rights = format!(
            "SELECT string_agg(privilege_type, ', ' ORDER BY privilege_type) FROM information_schema.role_table_grants
             WHERE table_name = 'workspaces' AND grantee = '{}'",
            tenant.role
        );
        database.rows(&rights)[0][0].clone().unwrap()
    };
    assert_eq!(rights(), "SELECT");
    let create = async |options: &PostgresOptions, id: u128, subdomain: &str| {
        let id = WorkspaceId::new(Uuid::from_u128(id));
        let store = PostgresStore::open(options).await.unwrap();
        let mut unit = match store.begin(id, None).await.unwrap() {
            BeginOutcome::Started(unit) => unit,
            BeginOutcome::Replay(_) => panic!("a replay without a key"),
        };
        let workspace = Workspace { id, subdomain: Subdomain::parse("subdomain", subdomain).unwrap() };
        let setting = Setting::parse("Acme", "https://acme.example").unwrap();
        let now = Timestamp::from_millis(0).unwrap();
        let inserted = unit.insert_workspace(&workspace, &setting, now).await?;
        // The rest of the unit runs under the role again, limited to the workspace.
        assert_eq!(unit.first_track().await.unwrap(), None);
        unit.commit(None, now).await.unwrap();
        Ok::<_, StoreError>(inserted)
    };
    database.execute(
        "CREATE TABLE seen (by_role text); GRANT ALL ON seen TO PUBLIC;
         CREATE FUNCTION note_role() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN INSERT INTO seen VALUES (current_user); RETURN NEW; END $$;
         CREATE TRIGGER noted BEFORE INSERT ON settings FOR EACH ROW EXECUTE FUNCTION note_role()",
    );
    assert_eq!(create(&tenant.options, 1, "acme").await.unwrap(), Insertion::Inserted);
    assert_eq!(create(&tenant.options, 2, "acme").await.unwrap(), Insertion::NameTaken);
    assert_eq!(database.rows("SELECT by_role FROM seen"), [[Some(tenant.role.clone())]]);
    database.execute("DROP TRIGGER noted ON settings; DROP TABLE seen");

    // A login that owns nothing cannot create workspaces.
    let member = format!("{}_member", tenant.login);
    database.execute(&format!("CREATE ROLE {member} LOGIN; GRANT {} TO {member}", tenant.role));
    let url = database.url.replace("postgres@", &format!("{member}@"));
    let refused = create(&PostgresOptions { url, ..tenant.options.clone() }, 3, "bolt").await;
    database.execute(&format!("DROP ROLE {member}"));
    let problem = format!(
        "the store failed: the login {member} may not create workspaces; use the one that owns the tables in database_url"
    );
    assert!(error_message(refused).starts_with(&problem));
    assert_eq!(database.rows("SELECT subdomain FROM workspaces"), [[Some("acme".to_owned())]]);

    // Privileges that an earlier version has granted are revoked.
    database.execute(&format!("GRANT INSERT, UPDATE, DELETE ON workspaces TO {}", tenant.role));
    assert_eq!(migrate(&tenant.options).await.unwrap(), Vec::<String>::new());
    assert_eq!(rights(), "SELECT");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_role_reads_and_adds_entries_of_the_audit_log_alone() {
    let tenant = Tenant::new("audit", "");
    tenant.make_role();
    migrate(&tenant.options).await.unwrap();
    let database = tenant.database.as_ref().unwrap();
    let workspace = WorkspaceId::new(Uuid::from_u128(1));
    let add = |number: u128, age: &str| {
        let id = Uuid::from_u128(number);
        let values = "'operator', 'root', 'command', 'test', 'test', '[]'";
        database.execute(&format!(
            "INSERT INTO audit_entries (workspace_id, id, created_at, actor_kind, actor_name, channel, action,
                                        subject_kind, changes)
             VALUES ('{workspace}', '{id}', now() - interval '{age}', {values})"
        ));
    };
    for (number, age) in [(1, "0 days"), (2, "29 days"), (3, "31 days")] {
        add(number, age);
    }
    let rejected = || {
        for statement in [
            "UPDATE audit_entries SET action = 'other'",
            "DELETE FROM audit_entries",
            "TRUNCATE audit_entries",
            "DROP TABLE audit_entries",
            "ALTER TABLE audit_entries DISABLE ROW LEVEL SECURITY",
        ] {
            let outcome = postgres::execute(&database.url, &format!("SET ROLE {}; {statement}", tenant.role));
            let message = outcome.unwrap_err().as_db_error().unwrap().message().to_owned();
            let expected = ["permission denied for table audit_entries", "must be owner of table audit_entries"];
            assert!(expected.contains(&message.as_str()), "{statement}: {message}");
        }
    };
    rejected();
    // Privileges that somebody has granted are revoked by the next migration.
    database.execute(&format!("GRANT ALL ON audit_entries TO {}", tenant.role));
    assert_eq!(migrate(&tenant.options).await.unwrap(), Vec::<String>::new());
    rejected();
    let count = || database.rows("SELECT count(*) FROM audit_entries")[0][0].clone().unwrap();
    assert_eq!(count(), "3");
    // Purging goes through a function that keeps the entries of 30 days.
    let store = PostgresStore::open(&tenant.options).await.unwrap();
    let subdomain = Subdomain::parse("subdomain", "acme").unwrap();
    let BeginOutcome::Started(mut unit) = store.begin(workspace, None).await.unwrap() else { panic!("a unit") };
    let setting = Setting::parse("Acme", "https://acme.example").unwrap();
    let now = Timestamp::from_millis(0).unwrap();
    let inserted = unit.insert_workspace(&Workspace { id: workspace, subdomain }, &setting, now).await.unwrap();
    assert_eq!(inserted, Insertion::Inserted);
    unit.commit(None, now).await.unwrap();
    let far = Timestamp::from_millis(4_000_000_000_000).unwrap();
    assert_eq!(store.purge_audit_entries(far, 10).await.unwrap(), 1);
    assert_eq!(count(), "2");
}

#[tokio::test(flavor = "multi_thread")]
async fn excess_privileges_are_reported_with_the_sql_against_them() {
    let tenant = Tenant::new("mighty", "CREATEROLE CREATEDB");
    tenant.make_role();
    let (login, role) = (&tenant.login, &tenant.role);
    let (group, chief) = (format!("{login}_group"), format!("{login}_chief"));
    let database = tenant.database.as_ref().unwrap();
    database.execute(&format!(
        "CREATE ROLE {group}; CREATE ROLE {chief} CREATEROLE; GRANT {group} TO {login}; GRANT {chief} TO {login};
         GRANT pg_monitor TO {group}; GRANT pg_execute_server_program TO {login}; ALTER ROLE {role} REPLICATION"
    ));
    let excess = role_problems(&tenant.options).await.unwrap().excess;
    let fixes: Vec<(String, String)> = excess.into_iter().map(|problem| (problem.found, problem.fix)).collect();
    let fix_all: String = fixes.iter().map(|(_, fix)| fix.as_str()).collect();
    database.execute(&fix_all);
    let after = role_problems(&tenant.options).await;
    database.execute(&format!("DROP ROLE {group}; DROP ROLE {chief}"));
    let problem = |found: String, fix: String| (found, fix);
    assert_eq!(
        fixes,
        [
            problem(
                format!("{login} has CREATEROLE, CREATEDB"),
                format!("ALTER ROLE {login} NOCREATEROLE NOCREATEDB;")
            ),
            problem(format!("{role} has REPLICATION"), format!("ALTER ROLE {role} NOREPLICATION;")),
            problem(
                format!("{login} is a member of pg_execute_server_program"),
                format!("REVOKE pg_execute_server_program FROM {login};")
            ),
            problem(
                format!("{login} is a member of {chief}, which has CREATEROLE"),
                format!("REVOKE {chief} FROM {login};")
            ),
            problem(format!("{group} is a member of pg_monitor"), format!("REVOKE pg_monitor FROM {group};")),
        ]
    );
    assert_eq!(after.unwrap(), RoleProblems { missing: None, excess: vec![] });
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_of_one_server_that_are_migrated_at_once_share_the_role() {
    // The role belongs to the server, and the migration lock to a database. The login is not a superuser, so it must
    // become a member of the role, too.
    for round in 0..5 {
        let tenant = Tenant::new(&format!("at_once_{round}"), "CREATEROLE");
        let databases: Vec<(Database, String)> = (0..4).map(|_| database_of(&tenant.login)).collect();
        let mut migrations = tokio::task::JoinSet::new();
        for (_, url) in &databases {
            let options = PostgresOptions { url: url.clone(), ..tenant.options.clone() };
            migrations.spawn(async move { migrate(&options).await.map_err(|error| error.to_string()) });
        }
        for migrated in migrations.join_all().await {
            assert_ne!(migrated.unwrap(), Vec::<String>::new());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_may_not_create_the_role_gets_the_sql_for_an_administrator() {
    let tenant = Tenant::new("modest", "NOCREATEROLE");
    let (login, role) = (&tenant.login, &tenant.role);
    let database = tenant.database.as_ref().unwrap();
    let grant = format!("GRANT {role} TO {login};");
    let create = format!("CREATE ROLE {role} NOLOGIN;");
    for (found, fix, run) in [
        (format!("there is no role {role}"), format!("{create} {grant}"), &create),
        (format!("the login {login} is no member of the role {role}"), grant.clone(), &grant),
    ] {
        let expected = format!(
            "the store failed: {found}, and the login {login} may not change that. An administrator runs: {fix}"
        );
        assert!(error_message(migrate(&tenant.options).await).starts_with(&expected), "{expected}");
        // Nothing was changed.
        assert_eq!(database.rows("SELECT to_regclass('workspaces')"), [[None::<String>]]);
        assert_eq!(role_problems(&tenant.options).await.unwrap().missing, Some(RoleProblem { found, fix }));
        database.execute(run);
    }
    // The SQL is sufficient.
    assert_ne!(migrate(&tenant.options).await.unwrap(), Vec::<String>::new());
    let store = PostgresStore::open(&tenant.options).await.unwrap();
    assert_eq!(store.workspaces().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_of_the_role_serves_what_another_login_has_migrated() {
    let tenant = Tenant::new("owner", "");
    tenant.make_role();
    migrate(&tenant.options).await.unwrap();
    let member = format!("{}_member", tenant.login);
    let database = tenant.database.as_ref().unwrap();
    database.execute(&format!("CREATE ROLE {member} LOGIN; GRANT {} TO {member}", tenant.role));
    let url = database.url.replace("postgres@", &format!("{member}@"));
    let options = PostgresOptions { url, ..tenant.options.clone() };
    let (migrated, opened) = (migrate(&options).await, PostgresStore::open(&options).await.map(|_| ()));
    database.execute(&format!("DROP ROLE {member}"));
    assert_eq!(migrated.unwrap(), Vec::<String>::new());
    assert!(opened.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn it_writes_reads_and_searches_with_the_configured_connections() {
    let database = template().await.copy();
    let options = PostgresOptions { pool_size: 3, ..patient_options(&database.url) };
    let store = PostgresStore::open(&options).await.unwrap();
    let pool = |name, limit, open| PoolStatus { name, limit, open, in_use: 0, waiting: 0 };
    // One connection was opened to verify the settings.
    assert_eq!(store.pools(), [pool("write", 3, 0), pool("auxiliary", 2, 1), pool("mail", 4, 0)]);
    for (connections, searches) in [(1, 1), (4, 1), (9, 2)] {
        let reader = store.reader(connections).unwrap();
        assert_eq!(reader.pools(), [pool("read", connections, 0), pool("search", searches, 0)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_time_and_durability_are_reported() {
    let database = template().await.copy();
    let options = patient_options(&database.url);
    let value = |query| database.rows(query)[0][0].clone().unwrap();
    let clock = || value("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint").parse::<i64>().unwrap();
    let before = clock();
    let reported = server_time(&options).await.unwrap().millis();
    // One is rounded, the other is truncated.
    assert!((before - 1..=clock() + 1).contains(&reported), "{before} {reported}");
    assert_eq!(PostgresStore::open(&options).await.unwrap().is_durable(), value("SHOW fsync") == "on");
    let cluster = Cluster::start(Durability::Full).unwrap();
    migrate(&patient_options(cluster.url())).await.unwrap();
    assert!(PostgresStore::open(&patient_options(cluster.url())).await.unwrap().is_durable());
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_healthy_while_its_database_responds() {
    let database = template().await.copy();
    let store = PostgresStore::open(&patient_options(&database.url)).await.unwrap();
    store.check().await.unwrap();
    drop(database);
    assert!(matches!(store.check().await, Err(StoreError::Unavailable(_))));
}

/// An idle runtime of a worker does not stop the connections that it shares with others.
#[test]
fn shared_connections_run_on_the_runtime_that_opened_the_store() {
    let own = tokio::runtime::Runtime::new().unwrap();
    let database = own.block_on(async { template().await.copy() });
    let store = own.block_on(PostgresStore::open(&patient_options(&database.url))).unwrap();
    let other = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let now = Timestamp::from_millis(0).unwrap();
    // Opens a connection. Nothing runs in `other` afterwards.
    assert_eq!(other.block_on(store.due_workspaces(now)).unwrap(), []);
    assert_eq!(own.block_on(store.due_workspaces(now)).unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_unit_returns_its_connection_and_a_dropped_unit_closes_it() {
    let database = template().await.copy();
    let store = PostgresStore::open(&patient_options(&database.url)).await.unwrap();
    let open = || store.pools().iter().find(|pool| pool.name == "write").unwrap().open;
    let begin = async || match store.begin(WorkspaceId::new(Uuid::from_u128(1)), None).await.unwrap() {
        BeginOutcome::Started(unit) => unit,
        BeginOutcome::Replay(_) => panic!("a replay without a key"),
    };
    let mut undone = begin().await;
    assert_eq!(undone.first_track().await.unwrap(), None);
    undone.rollback().await.unwrap();
    assert_eq!(open(), 1);
    let mut done = begin().await;
    assert_eq!(done.first_track().await.unwrap(), None);
    done.commit(None, Timestamp::from_millis(0).unwrap()).await.unwrap();
    assert_eq!(open(), 1);
    // The server rolls the transaction back once the connection is closed.
    let mut dropped = begin().await;
    assert_eq!(dropped.first_track().await.unwrap(), None);
    drop(dropped);
    assert_eq!(open(), 0);
    // No statement was sent, so there is nothing to roll back.
    drop(begin().await);
    assert_eq!(open(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn units_run_at_read_committed_whatever_the_default_of_the_database_is() {
    let database = template().await.copy();
    let name = database.rows("SELECT current_database()")[0][0].clone().unwrap();
    for default in ["read uncommitted", "repeatable read", "serializable"] {
        database.execute(&format!("ALTER DATABASE {name} SET default_transaction_isolation = '{default}'"));
        assert_eq!(database.rows("SHOW transaction_isolation")[0][0].as_deref(), Some(default));
        // Writes the isolation level into each new row of `workspaces`.
        database.execute(
            "CREATE OR REPLACE FUNCTION note_level() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN NEW.subdomain := replace(current_setting('transaction_isolation'), ' ', '-'); RETURN NEW; END $$;
             DROP TRIGGER IF EXISTS noted ON workspaces;
             CREATE TRIGGER noted BEFORE INSERT ON workspaces FOR EACH ROW EXECUTE FUNCTION note_level();
             DELETE FROM settings; DELETE FROM workspaces",
        );
        let store = PostgresStore::open(&patient_options(&database.url)).await.unwrap();
        let id = WorkspaceId::new(Uuid::from_u128(1));
        let mut unit = match store.begin(id, None).await.unwrap() {
            BeginOutcome::Started(unit) => unit,
            BeginOutcome::Replay(_) => panic!("a replay without a key"),
        };
        let workspace = Workspace { id, subdomain: Subdomain::parse("subdomain", "acme").unwrap() };
        let setting = Setting::parse("Acme", "https://acme.example").unwrap();
        let now = Timestamp::from_millis(0).unwrap();
        assert_eq!(unit.insert_workspace(&workspace, &setting, now).await.unwrap(), Insertion::Inserted);
        unit.commit(None, now).await.unwrap();
        assert_eq!(database.rows("SELECT subdomain FROM workspaces")[0][0].as_deref(), Some("read-committed"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_held_too_long_is_busy_and_a_cancelled_wait_is_unavailable() {
    let database = template().await.copy();
    let patient = patient_options(&database.url);
    let hasty = PostgresOptions { statement_timeout: Duration::from_millis(400), ..patient.clone() };
    let begin = async |options: &PostgresOptions| {
        let store = PostgresStore::open(options).await.unwrap();
        let key = OperationKey::parse("k").unwrap();
        match store.begin(WorkspaceId::new(Uuid::from_u128(1)), key).await.unwrap() {
            BeginOutcome::Started(unit) => unit,
            BeginOutcome::Replay(_) => panic!("a replay without a saved response"),
        }
    };
    let mut holder = begin(&patient).await;
    assert_eq!(holder.first_track().await.unwrap(), None);

    let mut late = begin(&hasty).await;
    assert!(late.first_track().await.is_err());
    assert_eq!(late.rollback().await.unwrap(), EndOutcome::KeyBusy);

    let mut cancelled = begin(&patient).await;
    let cancel = async || {
        let waits = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event = 'advisory'";
        wait_until(async || !database.rows(waits).is_empty()).await;
    };
    let (outcome, ()) = tokio::join!(cancelled.first_track(), cancel());
    assert!(outcome.is_err());
    // Not an error of the service: the caller may retry.
    assert!(matches!(cancelled.rollback().await, Err(StoreError::Unavailable(_))));

    holder.commit(None, Timestamp::from_millis(0).unwrap()).await.unwrap();
}

/// On the first use of a connection, the insert of the response takes two round trips, and COMMIT could overtake it.
#[tokio::test(flavor = "multi_thread")]
async fn a_response_that_cannot_be_saved_rolls_back_its_unit() {
    let database = template().await.copy();
    database.execute("ALTER TABLE operations ADD CHECK (status <> 299)");
    let store = PostgresStore::open(&patient_options(&database.url)).await.unwrap();
    let id = WorkspaceId::new(Uuid::from_u128(1));
    let mut unit = match store.begin(id, OperationKey::parse("k").unwrap()).await.unwrap() {
        BeginOutcome::Started(unit) => unit,
        BeginOutcome::Replay(_) => panic!("a replay without a saved response"),
    };
    let workspace = Workspace { id, subdomain: Subdomain::parse("subdomain", "acme").unwrap() };
    let setting = Setting::parse("Acme", "https://acme.example").unwrap();
    let now = Timestamp::from_millis(0).unwrap();
    assert_eq!(unit.insert_workspace(&workspace, &setting, now).await.unwrap(), Insertion::Inserted);
    let response = SavedResponse { status: 299, body: Vec::new() };
    assert!(unit.commit(Some(&response), now).await.is_err());
    assert_eq!(database.rows("SELECT subdomain FROM workspaces"), Vec::<Vec<_>>::new());
}

/// While votes wait for a tally, votes for other feature requests are cast, also beside one that the database rejects.
#[tokio::test(flavor = "multi_thread")]
async fn votes_that_wait_together_do_not_harm_each_other() {
    let database = Arc::new(template().await.copy());
    database
        .execute("ALTER TABLE notes ADD CHECK (body <> 'poison'); ALTER TABLE operations ADD CHECK (status <> 299)");
    let patient = patient_options(&database.url);
    let harness = Arc::new(Harness::new(subject(&database, &patient).await));
    let workspace = harness.workspace("acme").await;
    let [_, _, _] = harness.requests(workspace, ["Dark mode", "Export", "Import"]).await;
    let cast = |number: i64, voter: String, note: &'static str, status: u16| {
        let harness = Arc::clone(&harness);
        tokio::spawn(async move {
            let vote = vote(FeatureRequestRef::Number(number), Some((&voter, None)), Some(note));
            let key = operation_key(&voter);
            let render = |cast: VoteCast| SavedResponse { status, ..reply(&cast.request.votes_count.to_string()) };
            let outcome = harness.executor.run(workspace, Some(&key), &vote, render).await;
            outcome.map(|done| String::from_utf8(done.response.body).unwrap()).map_err(|error| error.to_string())
        })
    };
    let counts = async |tasks: Vec<tokio::task::JoinHandle<Result<String, String>>>| {
        let mut counts = Vec::new();
        for task in tasks {
            counts.push(task.await.unwrap().unwrap().parse::<u32>().unwrap());
        }
        counts.sort_unstable();
        counts
    };
    // The database rejects one vote when it is cast, or when its response is saved.
    for (round, (note, status)) in (0..).zip([("poison", 201), ("note", 299)]) {
        let BeginOutcome::Started(mut holder) = harness.subject.store.begin(workspace, None).await.unwrap() else {
            panic!("a replay without a key")
        };
        // Locks the tally.
        let stranger = EmailAddress::parse("email", "stranger@example.com").unwrap();
        let withdrawn = holder.withdraw_vote(&FeatureRequestRef::Number(1), stranger.folded()).await.unwrap().unwrap();
        assert!(!withdrawn.vote_removed);
        let voter = |name: &str, number: u32| format!("{name}{round}-{number}@example.com");
        let mut held: Vec<_> = (0..2).map(|number| cast(1, voter("held", number), "note", 201)).collect();
        wait_until(async || database.rows("SELECT FROM pg_locks WHERE NOT granted").len() >= 2).await;
        // These are queued, then they are cast together.
        let others = (0..8).map(|number| cast(2, voter("other", number), "note", 201)).collect();
        let rejected = cast(2, voter("rejected", 0), note, status);
        assert_eq!(counts(others).await, (1..=8).map(|count| 8 * round + count).collect::<Vec<u32>>());
        rejected.await.unwrap().unwrap_err();
        // One of these waits for the tally.
        held.push(cast(1, voter("late", 0), "note", 201));
        let others = (0..8).map(|number| cast(3, voter("another", number), "note", 201)).collect();
        assert_eq!(counts(others).await, (1..=8).map(|count| 8 * round + count).collect::<Vec<u32>>());
        holder.rollback().await.unwrap();
        assert_eq!(counts(held).await, (1..=3).map(|count| 3 * round + count).collect::<Vec<u32>>());
    }
    for table in ["votes", "notes", "customers", "operations"] {
        assert_eq!(harness.count(table, workspace).await, 38, "{table}");
    }
}

/// Waits until a condition holds.
async fn wait_until(condition: impl AsyncFn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition().await {
        assert!(Instant::now() < deadline, "the condition does not hold");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns the message of an error and of its causes.
fn error_message<T>(outcome: Result<T, StoreError>) -> String {
    let error = outcome.err().expect("an error");
    let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[tokio::test(flavor = "multi_thread")]
async fn row_security_follows_its_setting_and_is_verified_at_open() {
    let database = template().await.copy();
    let count = || database.rows("SELECT count(*) FROM pg_class WHERE relrowsecurity")[0][0].clone().unwrap();
    let secured = count();
    assert_ne!(secured, "0");
    let on = patient_options(&database.url);
    let off = PostgresOptions { row_security: false, ..on.clone() };
    migrate(&off).await.unwrap();
    assert_eq!(count(), "0");
    assert!(PostgresStore::open(&off).await.is_ok());
    assert!(error_message(PostgresStore::open(&on).await).contains("row-level security is off"));
    migrate(&on).await.unwrap();
    assert_eq!(count(), secured);
    assert!(PostgresStore::open(&on).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_encrypted_server_is_verified_by_its_certificate_and_name() {
    let issued = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, certificate: &rcgen::Certificate| {
        let path = folder.path().join(name);
        std::fs::write(&path, certificate.pem()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (trusted, foreign) = (file("trusted.pem", &issued.cert), file("foreign.pem", &other.cert));
    let mut cluster = Cluster::start(Durability::None).unwrap();
    cluster.encrypt(&issued.cert.pem(), &issued.signing_key.serialize_pem()).unwrap();
    let at = |host: &str, query: &str| {
        let port = cluster.port();
        patient_options(format!("postgres://postgres@{host}:{port}/postgres?{query}"))
    };
    let encrypted = at("localhost", &format!("sslmode=require&sslrootcert={trusted}"));
    assert!(!migrate(&encrypted).await.unwrap().is_empty());
    let store = PostgresStore::open(&encrypted).await.unwrap();
    assert!(!store.is_durable());
    let sessions = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                    WHERE application_name = 'roadmap' AND ssl";
    assert_ne!(postgres::execute(&cluster.url(), sessions).unwrap()[0][0].as_deref(), Some("0"));
    for (options, problem) in [
        (at("localhost", "sslmode=require"), "UnknownIssuer"),
        (at("localhost", &format!("sslmode=verify-full&sslrootcert={foreign}")), "certificate"),
        (at("127.0.0.1", &format!("sslmode=require&sslrootcert={trusted}")), "certificate"),
    ] {
        let message = error_message(PostgresStore::open(&options).await.map(|_| ()));
        assert!(message.contains(problem), "{}: {message}", options.url);
    }
    // By default, a connection to a server on this machine is not encrypted.
    assert!(PostgresStore::open(&at("localhost", "")).await.is_ok());
}

/// Two transactions commit in the opposite order of their changes and of their timestamps. A reader that was there in
/// between gets both changes, by its place and by the last timestamp that it has seen.
///
/// Addition 6: a change that commits late is not left out.
#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_commits_late_is_listed_late() {
    let database = Arc::new(template().await.copy());
    let harness = Harness::new(subject(&database, &patient_options(&database.url)).await);
    let workspace = harness.workspace("acme").await;
    let requests = harness.requests(workspace, ["Early", "Late"]).await;
    let (early, late) = (requests[0].id, requests[1].id);
    let change = |request: FeatureRequestId, days: u32| {
        format!(
            "BEGIN; UPDATE feature_requests SET title = title || '!', updated_at = updated_at + interval '{days} days'
             WHERE id = '{request}'"
        )
    };
    let list = async |filter: ChangesFilter, after| {
        let page = ChangesPage { after, size: 2 };
        let listing = harness.subject.reader.changed_requests(workspace, &filter, page).await.unwrap();
        let items = listing.items.into_iter().map(|item| match item {
            Changed::Present(request) => (request.id(), request.detail.summary.title.as_str().to_owned()),
            Changed::Gone { .. } => panic!("none is deleted"),
        });
        (items.collect::<Vec<_>>(), listing.next)
    };
    let entry = |request: FeatureRequestId, title: &str| (request.uuid(), title.to_owned());
    let all = ChangesFilter::default();
    assert_eq!(list(all, None).await, (vec![entry(early, "Early"), entry(late, "Late")], None));
    let (first, second) = block_in_place(|| {
        let (first, second) = (Connection::open(&database.url), Connection::open(&database.url));
        first.execute(&change(late, 1));
        second.execute(&change(early, 2));
        second.execute("COMMIT");
        (first, second)
    });
    // The reader does not wait for the open transaction.
    let (items, next) = list(all, None).await;
    assert_eq!((items, next), (vec![entry(late, "Late"), entry(early, "Early!")], None));
    let third = harness.request(workspace, "Third").await.id;
    let (_, next) = list(all, None).await;
    assert!(next.is_some());
    block_in_place(|| {
        first.execute("COMMIT");
        drop((first, second));
    });
    let expected = vec![entry(third, "Third"), entry(late, "Late!")];
    assert_eq!(list(all, next).await, (expected, None));
    let seen = harness.detail(workspace, early).await.updated_at;
    let (items, next) = list(ChangesFilter { since: Some(seen), ..all }, None).await;
    assert_eq!(items, [entry(early, "Early!"), entry(third, "Third")]);
    assert_eq!(list(ChangesFilter { since: Some(seen), ..all }, next).await, (vec![entry(late, "Late!")], None));
}

/// Readers that number changes at the same time, and writers in between, list every change once, and each reader gets
/// them all.
///
/// Addition 6.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_readers_miss_no_change() {
    const CHANGES: usize = 60;
    let database = Arc::new(template().await.copy());
    let harness = Arc::new(Harness::new(subject(&database, &patient_options(&database.url)).await));
    let workspace = harness.workspace("acme").await;
    let done = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let writers = (0..4).map(|writer| {
        let (harness, done) = (harness.clone(), done.clone());
        tokio::spawn(async move {
            for number in 0..CHANGES / 4 {
                harness.request(workspace, &format!("{writer} {number}")).await;
            }
            done.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        })
    });
    let readers = (0..4).map(|_| {
        let (harness, done) = (harness.clone(), done.clone());
        tokio::spawn(async move {
            let (mut after, mut seen, mut is_last) = (None, std::collections::BTreeSet::new(), false);
            while !is_last {
                is_last = done.load(std::sync::atomic::Ordering::SeqCst) == 4;
                loop {
                    let page = ChangesPage { after, size: 3 };
                    let filter = ChangesFilter::default();
                    let listing = harness.subject.reader.changed_requests(workspace, &filter, page).await.unwrap();
                    seen.extend(listing.items.iter().map(|item| match item {
                        Changed::Present(request) => request.id(),
                        Changed::Gone { id, .. } => *id,
                    }));
                    match listing.next {
                        Some(next) => after = Some(next),
                        None => break,
                    }
                }
            }
            seen.len()
        })
    });
    let (writers, readers): (Vec<_>, Vec<_>) = (writers.collect(), readers.collect());
    for writer in writers {
        writer.await.unwrap();
    }
    for reader in readers {
        assert_eq!(reader.await.unwrap(), CHANGES);
    }
}
