//! The PostgreSQL store under the contract suite, on a database of its own for each case.

// A test says what it expects by failing.
#![expect(clippy::unwrap_used)]

use std::sync::Arc;

use async_trait::async_trait;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_postgres::{PostgresOptions, PostgresStore, migrate, pending, revert_all};
use roadmap_testkit::harness::{Probe, Subject};
use roadmap_testkit::postgres::{self, Database};
use tokio::sync::OnceCell;

roadmap_testkit::contract_tests!(crate::fresh);

/// A database with the schema and nothing else, to be copied.
async fn template() -> &'static Database {
    static TEMPLATE: OnceCell<Database> = OnceCell::const_new();
    TEMPLATE
        .get_or_init(async || {
            let template = Database::empty(&postgres::server());
            migrate(&PostgresOptions::new(&template.url)).await.unwrap();
            template
        })
        .await
}

async fn fresh() -> Subject {
    let database = Arc::new(template().await.copy());
    let store = Arc::new(PostgresStore::open(&PostgresOptions::new(&database.url)).await.unwrap());
    let reader = Arc::new(store.reader(4).unwrap());
    Subject {
        store: store.clone(),
        reader: reader.clone(),
        search: reader,
        directory: store.clone(),
        housekeeping: store,
        probe: Arc::new(DatabaseProbe(database.clone())),
        keep: Box::new(database),
    }
}

struct DatabaseProbe(Arc<Database>);

#[async_trait]
impl Probe for DatabaseProbe {
    async fn count(&self, table: &str, workspace: WorkspaceId) -> u64 {
        let query = format!("SELECT count(*) FROM {table} WHERE workspace_id = '{workspace}'");
        self.0.rows(&query)[0][0].as_ref().unwrap().parse().unwrap()
    }
}
