//! Folded addresses that are stored in an earlier form, and what they have made double.

use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{Binary, Text};
use diesel::{QueryableByName, SqliteConnection, sql_query};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::{DoubleAddresses, DoubleCustomer};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_store::columns::Id;
use roadmap_store::rows::CustomerNameRow;
use uuid::Uuid;

use crate::SqliteStore;
use crate::errors::SqlError;
use crate::schema::{customers, members};

/// The tables with addresses. In the first two, a workspace has an address once.
const TABLES: [&str; 4] = ["customers", "members", "sessions", "sign_ins"];

/// Maximum number of rows that are read at once.
const BATCH: usize = 500;

/// A row whose address has characters outside of ASCII.
#[derive(Debug, Clone, QueryableByName)]
struct AddressRow {
    #[diesel(sql_type = Binary)]
    workspace_id: Id,
    #[diesel(sql_type = Binary)]
    id: Id,
    #[diesel(sql_type = Text)]
    email: String,
    #[diesel(sql_type = Text)]
    email_folded: String,
}

impl AddressRow {
    /// The address, unless it is stored as it is folded now.
    fn refolded(&self) -> Option<EmailAddress> {
        let email = EmailAddress::from_stored(self.email.clone());
        (email.folded().as_str() != self.email_folded).then_some(email)
    }
}

/// Loads the next rows after one, in the order of the primary key.
fn load(connection: &mut SqliteConnection, table: &str, after: (Id, Id)) -> Result<Vec<AddressRow>, SqlError> {
    let select = format!(
        "SELECT workspace_id, id, email, email_folded FROM {table}
         WHERE length(CAST(email AS BLOB)) <> length(email) AND (workspace_id, id) > (?, ?)
         ORDER BY workspace_id, id LIMIT {BATCH}"
    );
    Ok(sql_query(select).bind::<Binary, _>(after.0).bind::<Binary, _>(after.1).load(connection)?)
}

impl SqliteStore {
    /// Folds stored addresses again. An address that another row of the table has stays.
    pub(crate) async fn refold(&self) -> Result<u64, StoreError> {
        let mut total = 0;
        for table in TABLES {
            // A change can make an address free for another row.
            loop {
                let changed = self.refold_table(table).await?;
                total += changed;
                if changed == 0 {
                    break;
                }
            }
        }
        Ok(total)
    }

    async fn refold_table(&self, table: &'static str) -> Result<u64, StoreError> {
        let mut changed = 0;
        let mut after = (Id(Uuid::nil()), Id(Uuid::nil()));
        loop {
            let rows = self.readers.run(move |connection| load(connection, table, after)).await?;
            let Some(last) = rows.last() else { return Ok(changed) };
            after = (last.workspace_id, last.id);
            let outdated = rows.into_iter().filter_map(|row| Some((row.refolded()?, row))).collect::<Vec<_>>();
            if outdated.is_empty() {
                continue;
            }
            let update = format!("UPDATE OR IGNORE {table} SET email_folded = ? WHERE workspace_id = ? AND id = ?");
            changed += self
                .write(move |connection| {
                    let mut changed = 0;
                    for (email, row) in outdated {
                        changed += sql_query(&update)
                            .bind::<Text, _>(email.folded().as_str())
                            .bind::<Binary, _>(row.workspace_id)
                            .bind::<Binary, _>(row.id)
                            .execute(connection)? as u64;
                    }
                    Ok(changed)
                })
                .await?;
        }
    }

    /// Returns the customers and members who have the address of another one.
    pub(crate) async fn doubles(&self, workspace: Id) -> Result<DoubleAddresses, StoreError> {
        self.readers
            .run_in_snapshot(move |connection| {
                let mut doubles = DoubleAddresses::default();
                for (id, email) in outdated(connection, "customers", workspace)? {
                    let columns = (customers::id, customers::name, customers::email);
                    let all = customers::table.filter(customers::workspace_id.eq(workspace)).select(columns);
                    let canonical = all.filter(customers::email_folded.eq(email.folded().as_str()));
                    let canonical: Option<CustomerNameRow> = canonical.first(connection).optional()?;
                    let Some(canonical) = canonical else { continue };
                    let double: CustomerNameRow = all.filter(customers::id.eq(id)).first(connection)?;
                    doubles.customers.push(DoubleCustomer { double: double.into(), canonical: canonical.into() });
                }
                for (id, email) in outdated(connection, "members", workspace)? {
                    let removed: Option<i64> =
                        members::table.find((workspace, id)).select(members::removed_at).first(connection)?;
                    if removed.is_none() {
                        doubles.members.push(email);
                    }
                }
                Ok(doubles)
            })
            .await
    }
}

/// Returns the rows of a workspace whose address is not stored as it is folded now.
fn outdated(
    connection: &mut SqliteConnection,
    table: &str,
    workspace: Id,
) -> Result<Vec<(Id, EmailAddress)>, SqlError> {
    let mut outdated = Vec::new();
    let mut after = (workspace, Id(Uuid::nil()));
    loop {
        let rows = load(connection, table, after)?;
        let is_last = rows.len() < BATCH;
        for row in rows {
            if row.workspace_id != workspace {
                return Ok(outdated);
            }
            after = (workspace, row.id);
            outdated.extend(row.refolded().map(|email| (row.id, email)));
        }
        if is_last {
            return Ok(outdated);
        }
    }
}
