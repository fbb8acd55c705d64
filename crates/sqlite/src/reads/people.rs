//! Customers.

use diesel::RunQueryDsl;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::{Customer, CustomerQuery};
use roadmap_domain::model::pagination::{Listing, PageRequest};

use crate::SqliteStore;
use crate::codec::Id;
use crate::reads::roadmap::{Page, listing};
use crate::records::{CustomerRow, CustomerSql, OneCustomer, customer_votes};
use crate::schema::customers;
use crate::statement::statement;

/// SQL for a page of the customers that fulfil a condition. Ids begin with the timestamp of the creation.
macro_rules! customers_where {
    ($condition:literal) => {
        concat!(
            "SELECT customer.id, customer.name, customer.email, ",
            customer_votes!(),
            ", customer.created_at, customer.blocked_at
             FROM (SELECT workspace_id, id, name, email, created_at, blocked_at FROM customers
                   WHERE workspace_id = ? AND id > ? ",
            $condition,
            " ORDER BY id LIMIT ? OFFSET ?) AS customer
             ORDER BY customer.id"
        )
    };
}

statement! {
    /// Selects all customers, oldest first.
    Customers { workspace: Id => Binary, after: Id => Binary, limit: i64 => BigInt, offset: i64 => BigInt } -> CustomerSql,
    customers_where!("")
}

statement! {
    /// Selects the customers whose address or name matches a pattern, oldest first, or only those who are blocked.
    MatchingCustomers {
        workspace: Id => Binary, after: Id => Binary, only_blocked: bool => Bool, address: String => Text,
        written: String => Text, name: String => Text, limit: i64 => BigInt, offset: i64 => BigInt,
    } -> CustomerSql,
    customers_where!(
        "AND (blocked_at IS NOT NULL) >= ?
         AND (email_folded LIKE ? ESCAPE '\\' OR email LIKE ? ESCAPE '\\' OR name_folded LIKE ? ESCAPE '\\')"
    )
}

statement! {
    /// Counts the customers whose address or name matches a pattern, or only those who are blocked.
    CountMatching {
        workspace: Id => Binary, only_blocked: bool => Bool, address: String => Text, written: String => Text,
        name: String => Text,
    } -> BigInt,
    "SELECT count(*) FROM customers WHERE workspace_id = ? AND (blocked_at IS NOT NULL) >= ?
       AND (email_folded LIKE ? ESCAPE '\\' OR email LIKE ? ESCAPE '\\' OR name_folded LIKE ? ESCAPE '\\')"
}

impl SqliteStore {
    /// Returns the customers whose name or address contains the query, or all, oldest first.
    pub(crate) async fn list_customers(
        &self,
        workspace: Id,
        query: Option<&CustomerQuery>,
        page: PageRequest,
    ) -> Result<Listing<Customer>, StoreError> {
        let pattern = query.map(|query| (query.address_pattern(), query.pattern()));
        let only_blocked = query.is_some_and(CustomerQuery::is_only_blocked);
        let rows: Page<CustomerRow> = self
            .readers
            .run_in_snapshot(move |connection| {
                let total: i64 = match pattern.clone() {
                    Some((address, name)) => {
                        CountMatching { workspace, only_blocked, address, written: name.clone(), name }
                            .get_result(connection)?
                    }
                    None => {
                        customers::table.filter(customers::workspace_id.eq(workspace)).count().get_result(connection)?
                    }
                };
                let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
                let (limit, after) = (page.limit(), Id(page.after().1));
                let rows = match pattern {
                    Some((address, name)) => {
                        let written = name.clone();
                        MatchingCustomers { workspace, after, only_blocked, address, written, name, limit, offset }
                            .load(connection)?
                    }
                    None => Customers { workspace, after, limit, offset }.load(connection)?,
                };
                Ok((rows, total))
            })
            .await?;
        listing(rows, page, Customer::try_from)
    }

    /// Returns a customer.
    pub(crate) async fn find_customer(&self, workspace: Id, customer: Id) -> Result<Option<Customer>, StoreError> {
        let find = OneCustomer { workspace, customer };
        let row: Option<CustomerRow> =
            self.readers.run(move |connection| Ok(find.get_result(connection).optional()?)).await?;
        row.map(Customer::try_from).transpose()
    }
}
