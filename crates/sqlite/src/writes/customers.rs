//! Customers: their names and languages, and merges of two who are one person.

use async_trait::async_trait;
use diesel::dsl::{exists, select};
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use diesel::{SqliteConnection, SqliteExpressionMethods, delete, update};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::CustomersMerged;
use roadmap_domain::model::customer::{Customer, CustomerName, NewCustomer};
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::portal::Language;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::CustomerWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::{CustomerNameRow, CustomerRow};

use crate::errors::SqlError;
use crate::records::OneCustomer;
use crate::schema::{comments, customers, feature_requests, held_comments, notes, outbox};
use crate::statement::statement;
use crate::unit::SqliteUnit;
use crate::writes::merges::recount;
use crate::writes::votes::{find_customer, find_or_insert_customer};

statement! {
    /// Selects the roots of the trees whose votes are counted again when the first customer is merged into the second one:
    /// those for which both have voted, and if they are of two companies all for which the first one has.
    RecountedRoots { workspace: Id => Binary, source: Id => Binary, target: Id => Binary } -> Binary,
    "WITH scope (workspace, source, target) AS (SELECT ?, ?, ?)
     SELECT DISTINCT coalesce(tally.root_id, tally.request_id) AS root FROM scope
     CROSS JOIN votes INDEXED BY votes_by_customer
             ON votes.workspace_id = scope.workspace AND votes.customer_id = scope.source
     CROSS JOIN vote_tallies tally ON tally.workspace_id = votes.workspace_id AND tally.request_id = votes.request_id
     WHERE (
         SELECT company FROM customer_companies WHERE workspace_id = scope.workspace AND customer_id = scope.source
     ) IS NOT (
         SELECT company FROM customer_companies WHERE workspace_id = scope.workspace AND customer_id = scope.target
     ) OR EXISTS (
         SELECT 1 FROM votes other WHERE other.workspace_id = scope.workspace
            AND other.request_id = coalesce(tally.root_id, tally.request_id) AND other.customer_id = scope.target
     ) OR EXISTS (
         SELECT 1 FROM feature_requests merged
         CROSS JOIN votes other ON other.workspace_id = merged.workspace_id AND other.request_id = merged.id
                AND other.customer_id = scope.target
         WHERE merged.workspace_id = scope.workspace AND merged.root_id = coalesce(tally.root_id, tally.request_id)
     )"
}

statement! {
    /// Gives the votes of the first customer to the second one. Of two for one feature request, the earlier one stays,
    /// subscribed if one of them is.
    MoveVotes { workspace: Id => Binary, source: Id => Binary, target: Id => Binary }
    "WITH scope (workspace, source, target) AS (SELECT ?, ?, ?)
     INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at, import_id)
     SELECT workspace_id, request_id, scope.target, subscribed, created_at, import_id FROM scope
     CROSS JOIN votes INDEXED BY votes_by_customer
             ON votes.workspace_id = scope.workspace AND votes.customer_id = scope.source
     WHERE true
     ON CONFLICT (workspace_id, request_id, customer_id) DO UPDATE SET
         subscribed = max(subscribed, excluded.subscribed), created_at = min(created_at, excluded.created_at)"
}

statement! {
    /// Deletes the votes of a customer.
    DeleteVotes { workspace: Id => Binary, customer: Id => Binary }
    "DELETE FROM votes WHERE workspace_id = ? AND customer_id = ?"
}

statement! {
    /// Gives the subscriptions without a vote of the first customer to the second one. Of two for one feature request,
    /// the earlier one stays.
    MoveFollowers { workspace: Id => Binary, source: Id => Binary, target: Id => Binary }
    "WITH scope (workspace, source, target) AS (SELECT ?, ?, ?)
     INSERT INTO followers (workspace_id, request_id, customer_id, created_at)
     SELECT workspace_id, request_id, scope.target, created_at FROM scope
     CROSS JOIN followers INDEXED BY followers_by_customer
             ON followers.workspace_id = scope.workspace AND followers.customer_id = scope.source
     WHERE true
     ON CONFLICT (workspace_id, request_id, customer_id) DO UPDATE SET created_at = min(created_at, excluded.created_at)"
}

statement! {
    /// Deletes the subscriptions without a vote of a customer.
    DeleteFollowers { workspace: Id => Binary, customer: Id => Binary }
    "DELETE FROM followers WHERE workspace_id = ? AND customer_id = ?"
}

statement! {
    /// Deletes the unsent messages to a customer. Those whose digest was sent are sent.
    DeleteUnsent { workspace: Id => Binary, customer: Id => Binary }
    "DELETE FROM outbox WHERE workspace_id = ? AND customer_id = ? AND sent_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM outbox digest WHERE digest.workspace_id = outbox.workspace_id
                       AND digest.id = outbox.digest_id AND digest.sent_at IS NOT NULL)"
}

statement! {
    /// Sets the name of a customer, if it is empty, since when and why all mail is stopped, and since when the customer is
    /// blocked.
    Complete {
        name: Option<String> => Nullable<Text>, name_folded: Option<String> => Nullable<Text>,
        stopped_at: Option<i64> => Nullable<BigInt>, stopped_because: Option<String> => Nullable<Text>,
        blocked_at: Option<i64> => Nullable<BigInt>, stops_changelogs: bool => Bool,
        news_since: Option<i64> => Nullable<BigInt>,
        workspace: Id => Binary, customer: Id => Binary,
    }
    "UPDATE customers SET name = coalesce(name, ?), name_folded = coalesce(name_folded, ?), mail_stopped_at = ?,
         mail_stopped_because = ?, blocked_at = ?, stops_changelogs = ?, news_since = ? WHERE workspace_id = ? AND id = ?"
}

statement! {
    /// Gives the removed comments of the first customer to the second one.
    MoveRemovedComments { target: Id => Binary, workspace: Id => Binary, source: Id => Binary }
    "UPDATE removed_comments SET customer_id = ? WHERE workspace_id = ? AND customer_id = ?"
}

statement! {
    /// Gives the removed texts of feature requests of the first customer to the second one.
    MoveRemovedRequests { target: Id => Binary, workspace: Id => Binary, source: Id => Binary }
    "UPDATE removed_requests SET customer_id = ? WHERE workspace_id = ? AND customer_id = ?"
}

/// Name, folded name, since when and why mail is stopped, since when the customer is blocked, whether changelogs are
/// stopped, and since when the customer gets all of them.
type Fields = (Option<String>, Option<String>, Option<i64>, Option<String>, Option<i64>, bool, Option<i64>);

/// Whether a workspace has a customer.
pub(crate) fn customer_exists(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
) -> Result<bool, SqlError> {
    Ok(select(exists(customers::table.find((workspace, customer)))).get_result(connection)?)
}

fn find(connection: &mut SqliteConnection, workspace: Id, customer: Id) -> Result<Option<Fields>, SqlError> {
    let columns = (
        customers::name,
        customers::name_folded,
        customers::mail_stopped_at,
        customers::mail_stopped_because,
        customers::blocked_at,
        customers::stops_changelogs,
        customers::news_since,
    );
    Ok(customers::table.find((workspace, customer)).select(columns).first(connection).optional()?)
}

/// Gives everything that names a customer to another one, apart from votes and subscriptions, of which there may be two.
fn move_records(connection: &mut SqliteConnection, workspace: Id, source: Id, target: Id) -> Result<(), SqlError> {
    macro_rules! move_rows {
        ($($table:ident.$column:ident),+) => {$(
            update($table::table.filter($table::workspace_id.eq(workspace)).filter($table::$column.eq(source)))
                .set($table::$column.eq(target))
                .execute(connection)?;
        )+};
    }
    move_rows!(
        feature_requests.author_id,
        comments.customer_id,
        held_comments.customer_id,
        notes.customer_id,
        outbox.customer_id
    );
    MoveRemovedComments { target, workspace, source }.execute(connection)?;
    MoveRemovedRequests { target, workspace, source }.execute(connection)?;
    Ok(())
}

/// Gives everything of the customer `source` to `target` and deletes `source`. Returns the latter as it is now, and the
/// former as it was. `None` if one of them does not exist.
pub(crate) fn merge(
    connection: &mut SqliteConnection,
    workspace: Id,
    source: Id,
    target: Id,
) -> Result<Option<(CustomerRow, CustomerNameRow)>, SqlError> {
    let Some((name, name_folded, source_stopped_at, source_because, source_blocked_at, source_changelogs, source_news)) =
        find(connection, workspace, source)?
    else {
        return Ok(None);
    };
    let Some((_, _, target_stopped_at, target_because, target_blocked_at, target_changelogs, target_news)) =
        find(connection, workspace, target)?
    else {
        return Ok(None);
    };
    let blocked_at = [source_blocked_at, target_blocked_at].into_iter().flatten().min();
    // A block may end. What somebody has stopped stays stopped then.
    let stopped = [(source_stopped_at, source_because), (target_stopped_at, target_because)];
    let is_block = |because: &Option<String>| because.as_deref() == Some("blocked");
    let stopped = stopped.into_iter().filter(|(at, _)| at.is_some()).min_by_key(|(at, why)| (is_block(why), *at));
    let (stopped_at, stopped_because) = stopped.unwrap_or_default();

    let roots: Vec<Id> = RecountedRoots { workspace, source, target }.load(connection)?;
    MoveVotes { workspace, source, target }.execute(connection)?;
    DeleteVotes { workspace, customer: source }.execute(connection)?;
    MoveFollowers { workspace, source, target }.execute(connection)?;
    DeleteFollowers { workspace, customer: source }.execute(connection)?;
    DeleteUnsent { workspace, customer: source }.execute(connection)?;
    move_records(connection, workspace, source, target)?;
    let gone: CustomerNameRow = delete(customers::table.find((workspace, source)))
        .returning((customers::id, customers::name, customers::email))
        .get_result(connection)?;
    let stops_changelogs = source_changelogs || target_changelogs;
    let news_since = [source_news, target_news].into_iter().flatten().min();
    Complete {
        name,
        name_folded,
        stopped_at,
        stopped_because,
        blocked_at,
        stops_changelogs,
        news_since,
        workspace,
        customer: target,
    }
    .execute(connection)?;
    for root in roots {
        recount(connection, workspace, root)?;
    }
    Ok(Some((OneCustomer { workspace, customer: target }.get_result(connection)?, gone)))
}

#[async_trait]
impl CustomerWrites for SqliteUnit {
    async fn find_customer(&mut self, address: &FoldedEmail) -> Result<Option<CustomerId>, StoreError> {
        let address = address.clone();
        let id = self.run(move |connection, workspace| find_customer(connection, workspace, &address)).await?;
        Ok(id.map(|id| CustomerId::new(id.0)))
    }

    async fn customer_exists(&mut self, customer: CustomerId) -> Result<bool, StoreError> {
        let customer = Id(customer.uuid());
        self.run(move |connection, workspace| customer_exists(connection, workspace, customer)).await
    }

    async fn rename_customer(
        &mut self,
        customer: CustomerId,
        name: &Name,
    ) -> Result<Option<(Customer, Option<Name>)>, StoreError> {
        let (customer, name) = (Id(customer.uuid()), name.clone());
        let renamed: Option<(CustomerRow, Option<String>)> = self
            .run(move |connection, workspace| {
                let row = customers::table.find((workspace, customer));
                let old: Option<Option<String>> = row.select(customers::name).first(connection).optional()?;
                let Some(old) = old else { return Ok(None) };
                let folded = name.as_str().to_lowercase();
                update(row)
                    .set((customers::name.eq(name.as_str()), customers::name_folded.eq(folded)))
                    .execute(connection)?;
                let renamed = OneCustomer { workspace, customer }.get_result(connection)?;
                Ok(Some((renamed, old)))
            })
            .await?;
        renamed.map(|(row, old)| Ok((row.try_into()?, old.map(Name::from_stored)))).transpose()
    }

    async fn set_own_name<'a>(&mut self, customer: CustomerId, name: Option<&'a Name>) -> Result<(), StoreError> {
        let (customer, name) = (Id(customer.uuid()), name.cloned());
        self.run(move |connection, workspace| {
            let name = name.as_ref().map(Name::as_str);
            update(customers::table.find((workspace, customer)))
                .set((customers::name.eq(name), customers::name_folded.eq(name.map(str::to_lowercase))))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn set_language(
        &mut self,
        customer: &NewCustomer,
        language: Option<Language>,
        at: Timestamp,
    ) -> Result<CustomerName, StoreError> {
        let customer = customer.clone();
        let row: CustomerNameRow = self
            .run(move |connection, workspace| {
                let customer = find_or_insert_customer(connection, workspace, &customer, at)?;
                Ok(update(customers::table)
                    .filter(customers::workspace_id.eq(workspace))
                    .filter(customers::id.eq(customer))
                    .set(customers::language.eq(language.map(Language::code)))
                    .returning((customers::id, customers::name, customers::email))
                    .get_result(connection)?)
            })
            .await?;
        Ok(row.into())
    }

    async fn save_last_language(&mut self, address: &FoldedEmail, language: Language) -> Result<(), StoreError> {
        let address = address.as_str().to_owned();
        self.run(move |connection, workspace| {
            update(customers::table)
                .filter(customers::workspace_id.eq(workspace))
                .filter(customers::email_folded.eq(address))
                .filter(customers::last_language.is_not(language.code()))
                .set(customers::last_language.eq(language.code()))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn has_public_posts(&mut self, customer: CustomerId) -> Result<bool, StoreError> {
        let customer = Id(customer.uuid());
        self.run(move |connection, workspace| {
            let comment_rows =
                comments::table.filter(comments::workspace_id.eq(workspace)).filter(comments::customer_id.eq(customer));
            let request_rows = feature_requests::table
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::author_id.eq(customer))
                .filter(feature_requests::private.eq(false));
            Ok(select(exists(comment_rows)).get_result(connection)?
                || select(exists(request_rows)).get_result(connection)?)
        })
        .await
    }

    async fn merge_customers(
        &mut self,
        source: CustomerId,
        target: CustomerId,
    ) -> Result<Option<CustomersMerged>, StoreError> {
        let (source, target) = (Id(source.uuid()), Id(target.uuid()));
        let merged = self.run(move |connection, workspace| merge(connection, workspace, source, target)).await?;
        let Some((customer, source)) = merged else { return Ok(None) };
        Ok(Some(CustomersMerged { customer: customer.try_into()?, source: source.into() }))
    }
}
