//! Blocks of customers, and the removal of their texts.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use diesel::{SqliteConnection, delete};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId};
use roadmap_domain::model::removal::{MovedTexts, REMOVED_TITLE};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::ModerationWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::CustomerNameRow;

use crate::codec::json_ids;
use crate::deletions::{DeleteMessagesOfComments, DeleteMessagesOfRequests, DeleteTags};
use crate::errors::SqlError;
use crate::schema::{comments, customers, held_comments};
use crate::statement::statement;
use crate::unit::SqliteUnit;
use crate::writes::customers::DeleteUnsent;
use crate::writes::requests::insert_tags;

statement! {
    /// Blocks a customer, unless that is so already, and stops all mail, unless it is stopped.
    Block { blocked_at: i64 => BigInt, workspace: Id => Binary, customer: Id => Binary }
    "WITH block (at) AS (SELECT ?)
     UPDATE customers SET blocked_at = block.at,
         mail_stopped_because = CASE WHEN mail_stopped_at IS NULL THEN 'blocked' ELSE mail_stopped_because END,
         mail_stopped_at = coalesce(mail_stopped_at, block.at)
     FROM block WHERE workspace_id = ? AND id = ? AND blocked_at IS NULL"
}

statement! {
    /// Ends the block of a customer. Mail goes on, unless it was stopped for another reason.
    Unblock { workspace: Id => Binary, customer: Id => Binary }
    "UPDATE customers SET blocked_at = NULL,
         mail_stopped_at = CASE WHEN mail_stopped_because = 'blocked' THEN NULL ELSE mail_stopped_at END,
         mail_stopped_because = CASE WHEN mail_stopped_because = 'blocked' THEN NULL ELSE mail_stopped_because END
     WHERE workspace_id = ? AND id = ? AND blocked_at IS NOT NULL"
}

statement! {
    /// Copies the comments of a JSON array to the removed ones.
    KeepComments { removed_at: i64 => BigInt, workspace: Id => Binary, comments: String => Text }
    "INSERT INTO removed_comments (
         workspace_id, id, request_id, customer_id, content, created_at, updated_at, was_held, removed_at
     )
     SELECT workspace_id, id, request_id, customer_id, content, created_at, updated_at, 0, ? FROM comments
     WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Copies the comments of a JSON array that wait for approval to the removed ones.
    KeepHeldComments { removed_at: i64 => BigInt, workspace: Id => Binary, comments: String => Text }
    "INSERT INTO removed_comments (
         workspace_id, id, request_id, customer_id, content, created_at, updated_at, was_held, removed_at
     )
     SELECT workspace_id, id, request_id, customer_id, content, created_at, created_at, 1, ? FROM held_comments
     WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Selects removed comments of a customer, newest first, and whether each waited.
    RemovedComments { workspace: Id => Binary, customer: Id => Binary, limit: i64 => BigInt } -> (Binary, Bool),
    "SELECT id, was_held FROM removed_comments INDEXED BY removed_comments_by_customer
     WHERE workspace_id = ? AND customer_id = ? ORDER BY created_at DESC, id DESC LIMIT ?"
}

statement! {
    /// Copies the removed comments of a JSON array to the public ones.
    RestoreComments { workspace: Id => Binary, comments: String => Text }
    "INSERT INTO comments (workspace_id, id, request_id, customer_id, content, created_at, updated_at)
     SELECT workspace_id, id, request_id, customer_id, content, created_at, updated_at FROM removed_comments
     WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Copies the removed comments of a JSON array to those that wait.
    RestoreHeldComments { workspace: Id => Binary, comments: String => Text }
    "INSERT INTO held_comments (workspace_id, id, request_id, customer_id, content, created_at)
     SELECT workspace_id, id, request_id, customer_id, content, created_at FROM removed_comments
     WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Deletes the removed comments of a JSON array.
    DropRemovedComments { workspace: Id => Binary, comments: String => Text }
    "DELETE FROM removed_comments WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Selects the feature requests that a customer asked for and whose texts are not removed, newest first, each with
    /// its root.
    RemovableRequests { workspace: Id => Binary, customer: Id => Binary, limit: i64 => BigInt }
        -> (Binary, Nullable<Binary>),
    "SELECT id, root_id FROM feature_requests INDEXED BY feature_requests_by_author
     WHERE workspace_id = ? AND author_id = ? AND NOT EXISTS (
         SELECT 1 FROM removed_requests removed
         WHERE removed.workspace_id = feature_requests.workspace_id AND removed.request_id = feature_requests.id
     ) ORDER BY row_number DESC LIMIT ?"
}

statement! {
    /// Copies the texts of the feature requests of a JSON array to the removed ones.
    KeepRequests { removed_at: i64 => BigInt, workspace: Id => Binary, requests: String => Text }
    "INSERT INTO removed_requests (
         workspace_id, request_id, customer_id, title, description, description_text, tags, was_private, was_awaiting,
         removed_at
     )
     SELECT workspace_id, id, author_id, title, description, description_text, (
                SELECT json_group_array(tag) FROM (
                    SELECT tag FROM feature_request_tags
                    WHERE feature_request_tags.workspace_id = feature_requests.workspace_id
                      AND feature_request_tags.request_id = feature_requests.id
                    ORDER BY position
                )
            ), private, awaiting_approval, ?
     FROM feature_requests WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Takes the texts away from the feature requests of a JSON array, and makes them private.
    EmptyRequests { title: String => Text, at: i64 => BigInt, workspace: Id => Binary, requests: String => Text }
    "UPDATE feature_requests SET title = ?, description = '', description_text = '', private = 1,
         awaiting_approval = 0, updated_at = ?
     WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Selects feature requests of a customer whose texts are removed, newest first, each with its root and whether it is
    /// still without texts.
    RemovedRequests { title: String => Text, workspace: Id => Binary, customer: Id => Binary, limit: i64 => BigInt }
        -> (Binary, Nullable<Binary>, Bool),
    "SELECT request.id, request.root_id, request.title = ? AND request.description = ''
     FROM removed_requests removed INDEXED BY removed_requests_by_customer
     CROSS JOIN feature_requests request ON request.workspace_id = removed.workspace_id
            AND request.id = removed.request_id
     WHERE removed.workspace_id = ? AND removed.customer_id = ? ORDER BY removed.request_id DESC LIMIT ?"
}

statement! {
    /// Gives its texts back to a feature request.
    RestoreRequest { at: i64 => BigInt, workspace: Id => Binary, request: Id => Binary }
    "UPDATE feature_requests SET title = removed.title, description = removed.description,
         description_text = removed.description_text, private = removed.was_private,
         awaiting_approval = removed.was_awaiting, updated_at = ?
     FROM removed_requests removed
     WHERE feature_requests.workspace_id = ? AND feature_requests.id = ?
       AND removed.workspace_id = feature_requests.workspace_id AND removed.request_id = feature_requests.id"
}

statement! {
    /// Selects the removed tags of a feature request, in their order.
    RemovedTags { workspace: Id => Binary, request: Id => Binary } -> Text,
    "SELECT value FROM removed_requests CROSS JOIN json_each(removed_requests.tags)
     WHERE workspace_id = ? AND request_id = ? ORDER BY key"
}

statement! {
    /// Deletes the removed texts of the feature requests of a JSON array.
    DropRemovedRequests { workspace: Id => Binary, requests: String => Text }
    "DELETE FROM removed_requests WHERE workspace_id = ? AND request_id IN (SELECT unhex(value) FROM json_each(?))"
}

/// Removes the newest comments of a customer that are public, and of those that wait. Returns their number.
fn remove_comments(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    removed_at: i64,
    limit: i64,
) -> Result<u64, SqlError> {
    macro_rules! newest {
        ($table:ident, $customer:expr) => {{
            let ids: Vec<Id> = $table::table
                .filter($table::workspace_id.eq(workspace))
                .filter($table::customer_id.eq($customer))
                .order(($table::created_at.desc(), $table::id.desc()))
                .select($table::id)
                .limit(limit)
                .load(connection)?;
            ids
        }};
    }
    let public = newest!(comments, customer);
    let ids = json_ids(&public);
    KeepComments { removed_at, workspace, comments: ids.clone() }.execute(connection)?;
    DeleteMessagesOfComments { workspace, comments: ids }.execute(connection)?;
    let rows = comments::table.filter(comments::workspace_id.eq(workspace)).filter(comments::id.eq_any(&public));
    delete(rows).execute(connection)?;
    let held = newest!(held_comments, customer);
    KeepHeldComments { removed_at, workspace, comments: json_ids(&held) }.execute(connection)?;
    let rows =
        held_comments::table.filter(held_comments::workspace_id.eq(workspace)).filter(held_comments::id.eq_any(&held));
    delete(rows).execute(connection)?;
    Ok((public.len() + held.len()) as u64)
}

fn restore_comments(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    limit: i64,
) -> Result<u64, SqlError> {
    let removed: Vec<(Id, bool)> = RemovedComments { workspace, customer, limit }.load(connection)?;
    let of =
        |held: bool| json_ids(&removed.iter().filter(|(_, was)| *was == held).map(|(id, _)| *id).collect::<Vec<_>>());
    RestoreComments { workspace, comments: of(false) }.execute(connection)?;
    RestoreHeldComments { workspace, comments: of(true) }.execute(connection)?;
    let all: Vec<Id> = removed.iter().map(|(id, _)| *id).collect();
    DropRemovedComments { workspace, comments: json_ids(&all) }.execute(connection)?;
    Ok(all.len() as u64)
}

/// A feature request with its root.
fn moved((request, root): (Id, Option<Id>)) -> (FeatureRequestId, Option<FeatureRequestId>) {
    (FeatureRequestId::new(request.0), root.map(|root| FeatureRequestId::new(root.0)))
}

#[async_trait]
impl ModerationWrites for SqliteUnit {
    async fn set_blocked(
        &mut self,
        customer: CustomerId,
        blocked_at: Option<Timestamp>,
    ) -> Result<Option<(CustomerName, bool)>, StoreError> {
        let customer = Id(customer.uuid());
        let changed: Option<(CustomerNameRow, bool)> = self
            .run(move |connection, workspace| {
                let row = customers::table
                    .find((workspace, customer))
                    .select((customers::id, customers::name, customers::email))
                    .first(connection)
                    .optional()?;
                let Some(row) = row else { return Ok(None) };
                let changed = match blocked_at {
                    Some(at) => Block { blocked_at: at.millis(), workspace, customer }.execute(connection)?,
                    None => Unblock { workspace, customer }.execute(connection)?,
                };
                if blocked_at.is_some() && changed > 0 {
                    DeleteUnsent { workspace, customer }.execute(connection)?;
                }
                Ok(Some((row, changed > 0)))
            })
            .await?;
        Ok(changed.map(|(row, has_changed)| (row.into(), has_changed)))
    }

    async fn remove_texts(
        &mut self,
        customer: CustomerId,
        at: Timestamp,
        limit: u32,
    ) -> Result<MovedTexts, StoreError> {
        let (customer, removed_at, limit) = (Id(customer.uuid()), at.millis(), i64::from(limit));
        self.run(move |connection, workspace| {
            let comments = remove_comments(connection, workspace, customer, removed_at, limit)?;
            let rows: Vec<(Id, Option<Id>)> = RemovableRequests { workspace, customer, limit }.load(connection)?;
            let requests = json_ids(&rows.iter().map(|(request, _)| *request).collect::<Vec<_>>());
            DeleteMessagesOfRequests { workspace, requests: requests.clone() }.execute(connection)?;
            KeepRequests { removed_at, workspace, requests: requests.clone() }.execute(connection)?;
            DeleteTags { workspace, requests: requests.clone() }.execute(connection)?;
            EmptyRequests { title: REMOVED_TITLE.to_owned(), at: removed_at, workspace, requests }
                .execute(connection)?;
            Ok(MovedTexts { comments, requests: rows.into_iter().map(moved).collect() })
        })
        .await
    }

    async fn restore_texts(
        &mut self,
        customer: CustomerId,
        at: Timestamp,
        limit: u32,
    ) -> Result<MovedTexts, StoreError> {
        let (customer, at, limit) = (Id(customer.uuid()), at.millis(), i64::from(limit));
        self.run(move |connection, workspace| {
            let comments = restore_comments(connection, workspace, customer, limit)?;
            let title = REMOVED_TITLE.to_owned();
            let rows: Vec<(Id, Option<Id>, bool)> =
                RemovedRequests { title, workspace, customer, limit }.load(connection)?;
            let mut requests = Vec::new();
            for (request, root, is_empty) in &rows {
                if !is_empty {
                    continue;
                }
                RestoreRequest { at, workspace, request: *request }.execute(connection)?;
                let tags: Vec<String> = RemovedTags { workspace, request: *request }.load(connection)?;
                let tags: Vec<Tag> = tags.into_iter().map(Tag::from_stored).collect();
                DeleteTags { workspace, requests: json_ids(&[*request]) }.execute(connection)?;
                insert_tags(connection, workspace, *request, &tags)?;
                requests.push(moved((*request, *root)));
            }
            let all: Vec<Id> = rows.iter().map(|(request, ..)| *request).collect();
            DropRemovedRequests { workspace, requests: json_ids(&all) }.execute(connection)?;
            Ok(MovedTexts { comments, requests })
        })
        .await
    }
}
