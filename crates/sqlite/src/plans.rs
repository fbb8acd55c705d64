//! Tests of query plans: no statement reads all rows of a workspace.

mod admin;
mod portal;
mod tags;
mod webhooks;

use diesel::query_builder::QueryFragment;
use diesel::sql_types::{BigInt, Text};
use diesel::sqlite::Sqlite;
use diesel::{QueryableByName, RunQueryDsl, SqliteConnection};
use roadmap_store::columns::Id;
use uuid::Uuid;

use crate::fixtures::{connection, database};

/// A step of a query plan.
#[derive(QueryableByName)]
pub(crate) struct Step {
    #[diesel(sql_type = BigInt)]
    pub(crate) parent: i64,
    #[diesel(sql_type = Text)]
    pub(crate) detail: String,
}

/// Returns the SQL of a statement.
pub(crate) fn sql(statement: &impl QueryFragment<Sqlite>) -> String {
    diesel::debug_query::<Sqlite, _>(statement).to_string()
}

/// Returns the steps of the plan of a statement.
pub(crate) fn plan(connection: &mut SqliteConnection, sql: &str) -> Vec<Step> {
    diesel::sql_query(format!("EXPLAIN QUERY PLAN {sql}")).load(connection).unwrap()
}

pub(crate) const ID: Id = Id(Uuid::nil());

/// Asserts that statements read all rows of a workspace, or of a table, only if these are few: those of `small`.
pub(crate) fn assert_selective(statements: impl Iterator<Item = String>, small: &[&str]) {
    let (_folder, options) = database();
    let mut connection = connection(&options.path);
    let tables: Vec<Step> =
        diesel::sql_query("SELECT 0 AS parent, name AS detail FROM sqlite_schema WHERE type = 'table'")
            .load(&mut connection)
            .unwrap();
    for statement in statements {
        for Step { detail, .. } in plan(&mut connection, &statement) {
            let is_scan = tables.iter().any(|table| detail == format!("SCAN {}", table.detail))
                || (detail.starts_with("SCAN ") && detail.contains(" USING "))
                || detail.ends_with("(workspace_id=?)");
            let is_small = small.iter().any(|name| detail.split(' ').any(|word| word == *name));
            assert!(!is_scan || is_small, "{detail}\n{statement}");
        }
    }
}
