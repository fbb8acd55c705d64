//! Folded addresses that are stored in an earlier form, and what they have made double.

use diesel::prelude::QueryDsl;
use diesel::sql_types::{Text, Uuid as SqlUuid};
use diesel::{QueryableByName, sql_query};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::{DoubleAddresses, DoubleCustomer};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::CustomerNameRow;
use uuid::Uuid;

use crate::PostgresStore;
use crate::rows::CustomerNameColumns;
use crate::schema::members;
use crate::session::{NO_WORKSPACE, Session};
use crate::statement::statement;

/// The tables with addresses, and whether a workspace has an address once in it.
const TABLES: [(&str, bool); 4] = [("customers", true), ("members", true), ("sessions", false), ("sign_ins", false)];

/// Maximum number of rows that are read at once.
const BATCH: usize = 500;

statement! {
    /// Selects the customer with a folded address.
    FindByAddress { workspace: Uuid => SqlUuid, folded: String => Text } -> CustomerNameColumns,
    "SELECT id, name, email FROM customers WHERE workspace_id = {workspace} AND email_folded = {folded}"
}

statement! {
    /// Selects a customer.
    FindById { workspace: Uuid => SqlUuid, id: Uuid => SqlUuid } -> CustomerNameColumns,
    "SELECT id, name, email FROM customers WHERE workspace_id = {workspace} AND id = {id}"
}

/// A workspace with addresses that have characters outside of ASCII.
#[derive(Debug, Clone, QueryableByName)]
struct WorkspaceRow {
    #[diesel(sql_type = SqlUuid)]
    id: Uuid,
}

/// A row whose address has characters outside of ASCII.
#[derive(Debug, Clone, QueryableByName)]
struct AddressRow {
    #[diesel(sql_type = SqlUuid)]
    id: Uuid,
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

/// Returns the rows of a table whose address is not stored as it is folded now.
async fn outdated(session: &Session, table: &str, workspace: Uuid) -> Result<Vec<(Uuid, EmailAddress)>, StoreError> {
    let select = format!(
        "SELECT id, email, email_folded FROM {table}
         WHERE workspace_id = $1 AND octet_length(email) <> length(email) AND id > $2 ORDER BY id LIMIT {BATCH}"
    );
    let mut outdated = Vec::new();
    let mut after = Uuid::nil();
    loop {
        let select = sql_query(&select).bind::<SqlUuid, _>(workspace).bind::<SqlUuid, _>(after);
        let rows: Vec<AddressRow> = session.run(select.load(&mut session.connection()?)).await?;
        let is_last = rows.len() < BATCH;
        for row in rows {
            after = row.id;
            outdated.extend(row.refolded().map(|email| (row.id, email)));
        }
        if is_last {
            return Ok(outdated);
        }
    }
}

impl PostgresStore {
    /// Folds stored addresses again. An address that another row of the table has stays.
    pub(crate) async fn refold(&self) -> Result<u64, StoreError> {
        let workspaces: Vec<WorkspaceRow> = {
            let session = self.session(NO_WORKSPACE).await?;
            let select = sql_query("SELECT id FROM workspaces_with_international_addresses()");
            session.run(select.load(&mut session.connection()?)).await?
        };
        let mut total = 0;
        for WorkspaceRow { id: workspace } in workspaces {
            let session = self.session(WorkspaceId::new(workspace)).await?;
            for (table, is_unique) in TABLES {
                // A change can make an address free for another row.
                loop {
                    let changed = refold_table(&session, table, is_unique, workspace).await?;
                    total += changed;
                    if changed == 0 {
                        break;
                    }
                }
            }
        }
        Ok(total)
    }

    /// Returns the customers and members who have the address of another one.
    pub(crate) async fn doubles(&self, workspace: WorkspaceId) -> Result<DoubleAddresses, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let mut doubles = DoubleAddresses::default();
        for (id, email) in outdated(&session, "customers", workspace).await? {
            let find = FindByAddress { workspace, folded: email.folded().as_str().to_owned() };
            let canonical: Option<CustomerNameRow> =
                session.run_optional(find.get_result(&mut session.connection()?)).await?;
            let find = FindById { workspace, id };
            let double: Option<CustomerNameRow> =
                session.run_optional(find.get_result(&mut session.connection()?)).await?;
            if let Some((double, canonical)) = double.zip(canonical) {
                doubles.customers.push(DoubleCustomer { double: double.into(), canonical: canonical.into() });
            }
        }
        for (id, email) in outdated(&session, "members", workspace).await? {
            let removed_at = members::table.find((workspace, id)).select(members::removed_at);
            let removed_at: Option<TimestampColumn> = session.run(removed_at.first(&mut session.connection()?)).await?;
            if removed_at.is_none() {
                doubles.members.push(email);
            }
        }
        Ok(doubles)
    }
}

async fn refold_table(session: &Session, table: &str, is_unique: bool, workspace: Uuid) -> Result<u64, StoreError> {
    let mut update = format!("UPDATE {table} SET email_folded = $1 WHERE workspace_id = $2 AND id = $3");
    if is_unique {
        update.push_str(&format!(
            " AND NOT EXISTS (SELECT FROM {table} AS other WHERE other.workspace_id = $2 AND other.email_folded = $1)"
        ));
    }
    let mut changed = 0;
    for (id, email) in outdated(session, table, workspace).await? {
        let update = sql_query(&update)
            .bind::<Text, _>(email.folded().as_str().to_owned())
            .bind::<SqlUuid, _>(workspace)
            .bind::<SqlUuid, _>(id);
        changed += session.run(update.execute(&mut session.connection()?)).await? as u64;
    }
    Ok(changed)
}
