//! Customers: their names and languages, and merges of two who are one person.

use async_trait::async_trait;
use diesel::PgExpressionMethods;
use diesel::dsl::exists;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::CustomersMerged;
use roadmap_domain::model::customer::{Customer, CustomerName, NewCustomer};
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::portal::Language;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::CustomerWrites;
use roadmap_store::columns::{Id, TimestampColumn};
use roadmap_store::rows::{CustomerNameRow, CustomerRow};
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::reads::SelectCustomer;
use crate::rows::{CustomerColumns, CustomerNameColumns, votes_of};
use crate::schema::customers;
use crate::statement::statement;
use crate::unit::PostgresUnit;
use crate::writes::requests::{folded_name_of, name_of};
use crate::writes::subscriptions::DeleteWaiting;

/// The SQL of the roots of the trees whose votes are counted again when `source` is merged into another customer, and
/// whether they were ever part of a merge: those of feature requests for which both have voted, and all trees of merged
/// feature requests. In the latter, the other customer may have voted for another feature request, or is about to. Such a
/// vote notices the new version. If they are of two companies, it is everything for which `source` has voted. `added` are
/// the votes of the other customer that the merge has added.
macro_rules! recounted {
    ($both_voted:literal) => {
        concat!(
            "SELECT DISTINCT coalesce(tallies.root_id, votes.request_id) AS id, tallies.tree_version > 0 AS was_merged
             FROM votes
             JOIN vote_tallies AS tallies
               ON tallies.workspace_id = {workspace} AND tallies.request_id = votes.request_id
             WHERE votes.workspace_id = {workspace} AND votes.customer_id = {source}
               AND (tallies.tree_version > 0 OR ",
            $both_voted,
            " OR (SELECT count(DISTINCT coalesce(company_of(email_folded), '')) FROM customers
                  WHERE workspace_id = {workspace} AND id IN ({source}, {target})) > 1)"
        )
    };
}

statement! {
    /// Locks the feature requests that a merge of customers changes or counts again, in order. This is before the
    /// customers, because a notification locks its feature request before the customers who get it.
    LockRequests { workspace: Uuid => SqlUuid, source: Uuid => SqlUuid, target: Uuid => SqlUuid } -> Untyped,
    concat!("SELECT FROM feature_requests WHERE workspace_id = {workspace} AND id IN (
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND author_id = {source}
         UNION
         SELECT id FROM (", recounted!("EXISTS (
             SELECT FROM votes AS other
             WHERE other.workspace_id = {workspace} AND other.request_id = votes.request_id
               AND other.customer_id = {target})"), ") AS recounted
     ) ORDER BY id FOR NO KEY UPDATE")
}

statement! {
    /// Locks a customer, so that nothing refers to it for the first time before the unit ends.
    LockCustomer { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> SqlUuid,
    "SELECT id FROM customers WHERE workspace_id = {workspace} AND id = {customer} FOR UPDATE"
}

statement! {
    /// Adds the votes of a customer for another one, unless the latter has voted. Returns for what they were added.
    AddVotes { workspace: Uuid => SqlUuid, source: Uuid => SqlUuid, target: Uuid => SqlUuid } -> SqlUuid,
    "INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at, import_id)
     SELECT {workspace}, request_id, {target}, subscribed, created_at, import_id FROM votes
     WHERE workspace_id = {workspace} AND customer_id = {source} ORDER BY request_id
     ON CONFLICT (workspace_id, request_id, customer_id) DO NOTHING
     RETURNING request_id"
}

statement! {
    /// Selects the roots of the trees whose votes or companies are counted again, and whether they were ever part of a
    /// merge.
    SelectRecounted {
        workspace: Uuid => SqlUuid,
        source: Uuid => SqlUuid,
        target: Uuid => SqlUuid,
        added: Vec<Uuid> => Array<SqlUuid>,
    } -> (SqlUuid, Bool),
    recounted!("votes.request_id <> ALL ({added})")
}

statement! {
    /// Deletes the votes of a customer, which another one has got. Of two votes for one feature request, the earlier one
    /// stays, subscribed if one of them is. A feature request that was never part of a merge has one vote less then;
    /// others are counted again afterwards. What was withdrawn since the votes were added is withdrawn from both. Returns
    /// the number of votes that the other one has withdrawn since then, and so has not got.
    DropVotes {
        workspace: Uuid => SqlUuid,
        source: Uuid => SqlUuid,
        target: Uuid => SqlUuid,
        added: Vec<Uuid> => Array<SqlUuid>,
    } -> BigInt,
    "WITH dropped AS (
         DELETE FROM votes WHERE workspace_id = {workspace} AND customer_id = {source}
         RETURNING request_id, subscribed, created_at
     ), withdrawn AS (
         DELETE FROM votes
         WHERE workspace_id = {workspace} AND customer_id = {target} AND request_id = ANY ({added})
           AND request_id NOT IN (SELECT request_id FROM dropped)
     ), doubled AS (
         UPDATE votes SET subscribed = votes.subscribed OR dropped.subscribed,
                          created_at = least(votes.created_at, dropped.created_at)
         FROM dropped, votes AS kept
         WHERE votes.workspace_id = {workspace} AND votes.request_id = dropped.request_id
           AND votes.customer_id = {target} AND votes.request_id <> ALL ({added})
           AND kept.workspace_id = {workspace} AND kept.request_id = dropped.request_id AND kept.customer_id = {target}
         RETURNING votes.request_id, greatest(kept.created_at, dropped.created_at) AS later
     ), counted AS (
         UPDATE vote_tallies SET votes_count = votes_count - 1, trend = greatest(trend - vote_weight(later), 0)
         FROM doubled
         WHERE workspace_id = {workspace} AND vote_tallies.request_id = doubled.request_id AND tree_version = 0
     )
     SELECT count(*) FROM dropped
     WHERE request_id <> ALL ({added}) AND request_id NOT IN (SELECT request_id FROM doubled)"
}

statement! {
    /// Counts the companies of the voters of trees again.
    CountCompanies { workspace: Uuid => SqlUuid, roots: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "SELECT count_companies({workspace}, {roots})"
}

statement! {
    /// Gives everything else that refers to a customer to another one.
    MoveRecords { workspace: Uuid => SqlUuid, source: Uuid => SqlUuid, target: Uuid => SqlUuid } -> Untyped,
    "WITH unfollowed AS (
         DELETE FROM followers WHERE workspace_id = {workspace} AND customer_id = {source}
         RETURNING request_id, created_at
     ), followed AS (
         INSERT INTO followers (workspace_id, request_id, customer_id, created_at)
         SELECT {workspace}, request_id, {target}, created_at FROM unfollowed
         ON CONFLICT (workspace_id, request_id, customer_id) DO UPDATE
         SET created_at = least(followers.created_at, excluded.created_at)
     ), asked AS (
         UPDATE feature_requests SET author_id = {target} WHERE workspace_id = {workspace} AND author_id = {source}
     ), commented AS (
         UPDATE comments SET customer_id = {target} WHERE workspace_id = {workspace} AND customer_id = {source}
     ), held AS (
         UPDATE held_comments SET customer_id = {target} WHERE workspace_id = {workspace} AND customer_id = {source}
     ), noted AS (
         UPDATE notes SET customer_id = {target} WHERE workspace_id = {workspace} AND customer_id = {source}
     ), removed_comments AS (
         UPDATE removed_comments SET customer_id = {target}
         WHERE workspace_id = {workspace} AND customer_id = {source}
     ), removed_requests AS (
         UPDATE removed_requests SET customer_id = {target}
         WHERE workspace_id = {workspace} AND customer_id = {source}
     )
     UPDATE outbox SET customer_id = {target} WHERE workspace_id = {workspace} AND customer_id = {source}"
}

statement! {
    /// Deletes a customer to whom nothing refers. Another one gets the name, if it has none, and all mail stays stopped
    /// since the earlier timestamp. The other one is blocked if one of them is. A block may end: what somebody has stopped
    /// stays stopped then. Returns name and address of the former.
    ReplaceCustomer { workspace: Uuid => SqlUuid, source: Uuid => SqlUuid, target: Uuid => SqlUuid }
        -> (Nullable<Text>, Text),
    "WITH gone AS (
         DELETE FROM customers WHERE workspace_id = {workspace} AND id = {source}
         RETURNING name, name_folded, email, mail_stopped_at, mail_stopped_because, blocked_at, stops_changelogs,
                   news_since
     )
     UPDATE customers
     SET name = coalesce(customers.name, gone.name), name_folded = coalesce(customers.name_folded, gone.name_folded),
         blocked_at = least(customers.blocked_at, gone.blocked_at),
         stops_changelogs = customers.stops_changelogs OR gone.stops_changelogs,
         news_since = least(customers.news_since, gone.news_since),
         (mail_stopped_at, mail_stopped_because) = (
             SELECT stopped.at, stopped.because FROM (VALUES
                 (customers.mail_stopped_at, customers.mail_stopped_because),
                 (gone.mail_stopped_at, gone.mail_stopped_because)
             ) AS stopped (at, because)
             ORDER BY stopped.at IS NULL, stopped.because = 'blocked', stopped.at LIMIT 1
         )
     FROM gone WHERE workspace_id = {workspace} AND id = {target}
     RETURNING gone.name, gone.email"
}

statement! {
    /// Inserts a customer, or finds the one with the same address and fills an empty name. Stores the language.
    SetLanguage {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        email: String => Text,
        email_folded: String => Text,
        name: Option<String> => Nullable<Text>,
        name_folded: Option<String> => Nullable<Text>,
        language: Option<String> => Nullable<Text>,
        at: TimestampColumn => Timestamptz,
    } -> CustomerNameColumns,
    "INSERT INTO customers (workspace_id, id, email, email_folded, name, name_folded, language, created_at)
     VALUES ({workspace}, {customer}, {email}, {email_folded}, {name}, {name_folded}, {language}, {at})
     ON CONFLICT (workspace_id, email_folded) DO UPDATE
     SET name = coalesce(customers.name, excluded.name),
         name_folded = coalesce(customers.name_folded, excluded.name_folded),
         language = excluded.language
     RETURNING id, name, email"
}

statement! {
    /// Whether a customer has written a comment or a public feature request.
    HasPublicPosts { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> Bool,
    "SELECT EXISTS (SELECT FROM comments WHERE workspace_id = {workspace} AND customer_id = {customer})
         OR EXISTS (SELECT FROM feature_requests
                    WHERE workspace_id = {workspace} AND author_id = {customer} AND NOT private)"
}

statement! {
    /// Replaces the name of a customer. Returns the customer and the name before.
    RenameCustomer { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, name: String => Text, name_folded: String => Text }
        -> (CustomerColumns, Nullable<Text>),
    concat!("UPDATE customers SET name = {name}, name_folded = {name_folded}
     FROM (SELECT name FROM customers WHERE workspace_id = {workspace} AND id = {customer} FOR NO KEY UPDATE) AS old
     WHERE workspace_id = {workspace} AND id = {customer}
     RETURNING customers.id, customers.name, customers.email, ", votes_of!("customers.id"), ", customers.created_at,
               customers.blocked_at, old.name")
}

#[async_trait]
impl CustomerWrites for PostgresUnit {
    async fn find_customer(&mut self, address: &FoldedEmail) -> Result<Option<CustomerId>, StoreError> {
        let customer = customers::table
            .filter(customers::workspace_id.eq(self.workspace))
            .filter(customers::email_folded.eq(address.as_str()))
            .select(customers::id);
        let customer: Option<Uuid> = self.run_optional(customer.first(&mut self.connection()?)).await?;
        Ok(customer.map(CustomerId::new))
    }

    async fn customer_exists(&mut self, customer: CustomerId) -> Result<bool, StoreError> {
        let rows = customers::table
            .filter(customers::workspace_id.eq(self.workspace))
            .filter(customers::id.eq(customer.uuid()));
        self.run(diesel::select(exists(rows)).get_result(&mut self.connection()?)).await
    }

    async fn rename_customer(
        &mut self,
        customer_id: CustomerId,
        name: &Name,
    ) -> Result<Option<(Customer, Option<Name>)>, StoreError> {
        let rename = RenameCustomer {
            workspace: self.workspace,
            customer: customer_id.uuid(),
            name: name.to_string(),
            name_folded: name.as_str().to_lowercase(),
        };
        let row: Option<(CustomerRow, Option<String>)> =
            self.run_optional(rename.get_result(&mut self.connection()?)).await?;
        row.map(|(row, old)| Ok((row.try_into()?, old.map(Name::from_stored)))).transpose()
    }

    async fn set_own_name<'a>(&mut self, customer: CustomerId, name: Option<&'a Name>) -> Result<(), StoreError> {
        let rename = diesel::update(customers::table)
            .filter(customers::workspace_id.eq(self.workspace))
            .filter(customers::id.eq(customer.uuid()))
            .set((
                customers::name.eq(name.map(Name::to_string)),
                customers::name_folded.eq(name.map(|name| name.as_str().to_lowercase())),
            ));
        self.run(rename.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn set_language(
        &mut self,
        customer: &NewCustomer,
        language: Option<Language>,
        at: Timestamp,
    ) -> Result<CustomerName, StoreError> {
        let set = SetLanguage {
            workspace: self.workspace,
            customer: customer.id.uuid(),
            email: customer.email.as_str().to_owned(),
            email_folded: customer.email.folded().as_str().to_owned(),
            name: name_of(customer),
            name_folded: folded_name_of(customer),
            language: language.map(|language| language.code().to_owned()),
            at: at.into(),
        };
        let row: CustomerNameRow = self.run(set.get_result(&mut self.connection()?)).await?;
        Ok(row.into())
    }

    async fn save_last_language(&mut self, address: &FoldedEmail, language: Language) -> Result<(), StoreError> {
        let save = diesel::update(customers::table)
            .filter(customers::workspace_id.eq(self.workspace))
            .filter(customers::email_folded.eq(address.as_str()))
            .filter(customers::last_language.is_distinct_from(language.code()))
            .set(customers::last_language.eq(language.code()));
        self.run(save.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn has_public_posts(&mut self, customer: CustomerId) -> Result<bool, StoreError> {
        let find = HasPublicPosts { workspace: self.workspace, customer: customer.uuid() };
        self.run(find.get_result(&mut self.connection()?)).await
    }

    /// Gives everything of a customer to another one and deletes the former.
    ///
    /// A concurrent vote inserts its row, then locks its customer, then the tally. So the order is the same here:
    ///
    /// 1. The customer that is deleted is locked. No vote of it is added from then on.
    /// 2. Its votes are added for the other customer, which may wait for votes of the latter. It holds nothing that these
    ///    wait for. From then on, the other customer cannot vote for the same.
    /// 3. The tallies are locked, and with them withdrawals wait.
    async fn merge_customers(
        &mut self,
        source: CustomerId,
        target: CustomerId,
    ) -> Result<Option<CustomersMerged>, StoreError> {
        self.lock_workspace(WorkspaceLock::Merges).await?;
        // Only merges delete customers.
        if !self.customer_exists(source).await? || !self.customer_exists(target).await? {
            return Ok(None);
        }
        let (workspace, source, target) = (self.workspace, source.uuid(), target.uuid());
        let lock = LockRequests { workspace, source, target };
        self.run(lock.execute(&mut self.connection()?)).await?;
        let lock = LockCustomer { workspace, customer: source };
        self.run(lock.execute(&mut self.connection()?)).await?;
        let votes = AddVotes { workspace, source, target };
        let added: Vec<Uuid> = self.run(votes.load(&mut self.connection()?)).await?;
        let recounted = SelectRecounted { workspace, source, target, added: added.clone() };
        let recounted: Vec<(Uuid, bool)> = self.run(recounted.load(&mut self.connection()?)).await?;
        let roots = recounted.iter().map(|(root, _)| *root).collect();
        self.lock_trees(roots, Uuid::nil(), Vec::new()).await?;

        let votes = DropVotes { workspace, source, target, added };
        let lost: i64 = self.run(votes.get_result(&mut self.connection()?)).await?;
        if lost > 0 {
            // To add them now could wait for a vote that waits for the tally.
            return Err(StoreError::Transient("a vote was withdrawn while customers were merged".into()));
        }
        let (merged, others): (Vec<_>, Vec<_>) = recounted.into_iter().partition(|(_, was_merged)| *was_merged);
        self.count_trees(merged.into_iter().map(|(root, _)| root).collect()).await?;
        let companies = CountCompanies { workspace, roots: others.into_iter().map(|(root, _)| root).collect() };
        self.run(companies.execute(&mut self.connection()?)).await?;
        let delete = DeleteWaiting { workspace, customer: source };
        self.run(delete.execute(&mut self.connection()?)).await?;
        let records = MoveRecords { workspace, source, target };
        self.run(records.execute(&mut self.connection()?)).await?;
        let replace = ReplaceCustomer { workspace, source, target };
        let (name, email): (Option<String>, String) = self.run(replace.get_result(&mut self.connection()?)).await?;
        let select = SelectCustomer { workspace, customer: target };
        let row: CustomerRow = self.run(select.get_result(&mut self.connection()?)).await?;
        Ok(Some(CustomersMerged {
            customer: row.try_into()?,
            source: CustomerNameRow { id: Id(source), name, email }.into(),
        }))
    }
}
