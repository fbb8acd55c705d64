//! Blocks of customers, and the removal of their texts.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId};
use roadmap_domain::model::removal::{MovedTexts, REMOVED_TITLE};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::ModerationWrites;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::CustomerNameRow;
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::rows::CustomerNameColumns;
use crate::statement::statement;
use crate::unit::PostgresUnit;
use crate::writes::merges::{DeleteMessages, delete_messages_about};
use crate::writes::subscriptions::DeleteWaiting;

statement! {
    /// Blocks a customer, unless that is so already, and stops all mail, unless it is stopped. Returns the customer and
    /// whether it was blocked before.
    Block {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        blocked_at: TimestampColumn => Timestamptz,
    } -> (CustomerNameColumns, Bool),
    "UPDATE customers
     SET blocked_at = coalesce(customers.blocked_at, {blocked_at}),
         mail_stopped_because =
             CASE WHEN mail_stopped_at IS NULL THEN 'blocked' ELSE mail_stopped_because END,
         mail_stopped_at = coalesce(mail_stopped_at, {blocked_at})
     FROM (SELECT blocked_at FROM customers WHERE workspace_id = {workspace} AND id = {customer} FOR NO KEY UPDATE) AS old
     WHERE workspace_id = {workspace} AND id = {customer}
     RETURNING customers.id, name, email, old.blocked_at IS NOT NULL"
}

statement! {
    /// Ends the block of a customer. Mail goes on, unless it was stopped for another reason. Returns the customer and
    /// whether it was blocked before.
    Unblock { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> (CustomerNameColumns, Bool),
    "UPDATE customers
     SET blocked_at = NULL,
         mail_stopped_at = CASE WHEN mail_stopped_because = 'blocked' THEN NULL ELSE mail_stopped_at END,
         mail_stopped_because = CASE WHEN mail_stopped_because = 'blocked' THEN NULL ELSE mail_stopped_because END
     FROM (SELECT blocked_at FROM customers WHERE workspace_id = {workspace} AND id = {customer} FOR NO KEY UPDATE) AS old
     WHERE workspace_id = {workspace} AND id = {customer}
     RETURNING customers.id, name, email, old.blocked_at IS NOT NULL"
}

statement! {
    /// Moves the newest comments of a customer, public ones and ones that wait, to the removed ones. Returns their IDs.
    RemoveComments {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> SqlUuid,
    "WITH newest AS MATERIALIZED (
         SELECT id FROM comments WHERE workspace_id = {workspace} AND customer_id = {customer}
         ORDER BY created_at DESC, id DESC LIMIT {limit}
     ), newest_held AS MATERIALIZED (
         SELECT id FROM held_comments WHERE workspace_id = {workspace} AND customer_id = {customer}
         ORDER BY created_at DESC, id DESC LIMIT {limit}
     ), public AS (
         DELETE FROM comments WHERE workspace_id = {workspace} AND id IN (SELECT id FROM newest)
         RETURNING id, request_id, customer_id, content, created_at, updated_at
     ), held AS (
         DELETE FROM held_comments WHERE workspace_id = {workspace} AND id IN (SELECT id FROM newest_held)
         RETURNING id, request_id, customer_id, content, created_at
     )
     INSERT INTO removed_comments
         (workspace_id, id, request_id, customer_id, content, created_at, updated_at, was_held, removed_at)
     SELECT {workspace}, id, request_id, customer_id, content, created_at, updated_at, false, {at} FROM public
     UNION ALL
     SELECT {workspace}, id, request_id, customer_id, content, created_at, created_at, true, {at} FROM held
     RETURNING id"
}

statement! {
    /// Deletes the unsent messages about comments. Those held for a digest that was sent were sent with it.
    DeleteMessagesOfComments { workspace: Uuid => SqlUuid, comments: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    concat!("WITH topics AS MATERIALIZED (
         SELECT id::text AS topic FROM unnest({comments}) AS id
     ) ", delete_messages_about!())
}

statement! {
    /// Moves removed comments of a customer, newest first, to where they were. Returns the feature request of each.
    RestoreComments { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, limit: i64 => BigInt } -> SqlUuid,
    "WITH newest AS MATERIALIZED (
         SELECT id FROM removed_comments WHERE workspace_id = {workspace} AND customer_id = {customer}
         ORDER BY created_at DESC, id DESC LIMIT {limit}
     ), removed AS (
         DELETE FROM removed_comments WHERE workspace_id = {workspace} AND id IN (SELECT id FROM newest)
         RETURNING id, request_id, customer_id, content, created_at, updated_at, was_held
     ), public AS (
         INSERT INTO comments (workspace_id, id, request_id, customer_id, content, created_at, updated_at)
         SELECT {workspace}, id, request_id, customer_id, content, created_at, updated_at FROM removed WHERE NOT was_held
     ), held AS (
         INSERT INTO held_comments (workspace_id, id, request_id, customer_id, content, created_at)
         SELECT {workspace}, id, request_id, customer_id, content, created_at FROM removed WHERE was_held
     )
     SELECT request_id FROM removed"
}

statement! {
    /// Locks the feature requests that a customer asked for and whose texts are not removed, newest first. Returns each
    /// with its root.
    LockRemovable { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, limit: i64 => BigInt }
        -> (SqlUuid, Nullable<SqlUuid>),
    "SELECT id, root_id FROM feature_requests
     WHERE workspace_id = {workspace} AND author_id = {customer} AND NOT EXISTS (
         SELECT FROM removed_requests
         WHERE removed_requests.workspace_id = {workspace} AND removed_requests.request_id = feature_requests.id
     )
     ORDER BY tag_number DESC LIMIT {limit} FOR NO KEY UPDATE"
}

statement! {
    /// Moves the texts of feature requests to the removed ones and makes the feature requests private.
    RemoveRequests {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        title: String => Text,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "WITH kept AS (
         INSERT INTO removed_requests
             (workspace_id, request_id, customer_id, title, description, description_text, tags, was_private,
              was_awaiting, removed_at)
         SELECT {workspace}, id, author_id, title, description, description_text, ARRAY(
                    SELECT tag FROM feature_request_tags
                    WHERE feature_request_tags.workspace_id = {workspace}
                      AND feature_request_tags.request_id = feature_requests.id
                    ORDER BY position
                ), private, awaiting_approval, {at}
         FROM feature_requests WHERE workspace_id = {workspace} AND id = ANY ({requests})
     ), untagged AS (
         DELETE FROM feature_request_tags WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     )
     UPDATE feature_requests
     SET title = {title}, description = '', description_text = '', private = true, awaiting_approval = false,
         updated_at = {at}
     WHERE workspace_id = {workspace} AND id = ANY ({requests})"
}

statement! {
    /// Locks feature requests of a customer whose texts are removed, newest first. Returns each with its root and whether
    /// it is still without texts.
    LockRemoved { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, title: String => Text, limit: i64 => BigInt }
        -> (SqlUuid, Nullable<SqlUuid>, Bool),
    "SELECT requests.id, root_id, requests.title = {title} AND requests.description = '' FROM removed_requests AS removed
     JOIN feature_requests AS requests ON requests.workspace_id = {workspace} AND requests.id = removed.request_id
     WHERE removed.workspace_id = {workspace} AND removed.customer_id = {customer}
     ORDER BY removed.request_id DESC LIMIT {limit} FOR NO KEY UPDATE OF requests"
}

statement! {
    /// Gives their texts back to feature requests.
    RestoreRequests {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE feature_requests
     SET title = removed.title, description = removed.description, description_text = removed.description_text,
         private = was_private, awaiting_approval = was_awaiting, updated_at = {at}
     FROM removed_requests AS removed
     WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = ANY ({requests})
       AND removed.workspace_id = {workspace} AND removed.request_id = feature_requests.id"
}

statement! {
    /// Deletes the tags of feature requests.
    DeleteTags { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "DELETE FROM feature_request_tags WHERE workspace_id = {workspace} AND request_id = ANY ({requests})"
}

statement! {
    /// Selects the removed tags of feature requests, in their order.
    RemovedTags { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> (SqlUuid, Array<Text>),
    "SELECT request_id, tags FROM removed_requests WHERE workspace_id = {workspace} AND request_id = ANY ({requests})"
}

statement! {
    /// Adds the tags of a feature request that has none.
    InsertTags {
        workspace: Uuid => SqlUuid,
        request: Uuid => SqlUuid,
        tags: Vec<String> => Array<Text>,
        tags_folded: Vec<String> => Array<Text>,
    } -> Untyped,
    "INSERT INTO feature_request_tags (workspace_id, request_id, position, tag, tag_folded)
     SELECT {workspace}, {request}, place - 1, tag, tag_folded
     FROM unnest({tags}, {tags_folded}) WITH ORDINALITY AS tags (tag, tag_folded, place)"
}

statement! {
    /// Deletes the removed texts of feature requests.
    DropRemovedRequests { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "DELETE FROM removed_requests WHERE workspace_id = {workspace} AND request_id = ANY ({requests})"
}

/// A feature request with its root.
fn moved((request, root): (Uuid, Option<Uuid>)) -> (FeatureRequestId, Option<FeatureRequestId>) {
    (FeatureRequestId::new(request), root.map(FeatureRequestId::new))
}

#[async_trait]
impl ModerationWrites for PostgresUnit {
    async fn set_blocked(
        &mut self,
        customer: CustomerId,
        blocked_at: Option<Timestamp>,
    ) -> Result<Option<(CustomerName, bool)>, StoreError> {
        let (workspace, customer) = (self.workspace, customer.uuid());
        let row: Option<(CustomerNameRow, bool)> = match blocked_at {
            Some(at) => {
                let block = Block { workspace, customer, blocked_at: at.into() };
                self.run_optional(block.get_result(&mut self.connection()?)).await?
            }
            None => {
                let unblock = Unblock { workspace, customer };
                self.run_optional(unblock.get_result(&mut self.connection()?)).await?
            }
        };
        let Some((row, was_blocked)) = row else { return Ok(None) };
        let has_changed = was_blocked != blocked_at.is_some();
        if has_changed && blocked_at.is_some() {
            let waiting = DeleteWaiting { workspace, customer };
            self.run(waiting.execute(&mut self.connection()?)).await?;
        }
        Ok(Some((row.into(), has_changed)))
    }

    /// No feature request is merged or deleted meanwhile.
    async fn remove_texts(
        &mut self,
        customer: CustomerId,
        at: Timestamp,
        limit: u32,
    ) -> Result<MovedTexts, StoreError> {
        self.lock_workspace(WorkspaceLock::Merges).await?;
        let (workspace, customer, limit) = (self.workspace, customer.uuid(), i64::from(limit));
        let lock = LockRemovable { workspace, customer, limit };
        let rows: Vec<(Uuid, Option<Uuid>)> = self.run(lock.load(&mut self.connection()?)).await?;
        let comments = RemoveComments { workspace, customer, at: at.into(), limit };
        let comments: Vec<Uuid> = self.run(comments.load(&mut self.connection()?)).await?;
        let count = comments.len() as u64;
        let messages = DeleteMessagesOfComments { workspace, comments };
        self.run(messages.execute(&mut self.connection()?)).await?;
        let requests: Vec<Uuid> = rows.iter().map(|(request, _)| *request).collect();
        if !requests.is_empty() {
            let messages = DeleteMessages { workspace, requests: requests.clone() };
            self.run(messages.execute(&mut self.connection()?)).await?;
            let remove = RemoveRequests { workspace, requests, title: REMOVED_TITLE.to_owned(), at: at.into() };
            self.run(remove.execute(&mut self.connection()?)).await?;
        }
        Ok(MovedTexts { comments: count, requests: rows.into_iter().map(moved).collect() })
    }

    async fn restore_texts(
        &mut self,
        customer: CustomerId,
        at: Timestamp,
        limit: u32,
    ) -> Result<MovedTexts, StoreError> {
        self.lock_workspace(WorkspaceLock::Merges).await?;
        let (workspace, customer, limit) = (self.workspace, customer.uuid(), i64::from(limit));
        let lock = LockRemoved { workspace, customer, title: REMOVED_TITLE.to_owned(), limit };
        let rows: Vec<(Uuid, Option<Uuid>, bool)> = self.run(lock.load(&mut self.connection()?)).await?;
        let restore = RestoreComments { workspace, customer, limit };
        let commented: Vec<Uuid> = self.run(restore.load(&mut self.connection()?)).await?;
        let comments = commented.len() as u64;
        let empty: Vec<(Uuid, Option<Uuid>)> =
            rows.iter().filter(|(.., is_empty)| *is_empty).map(|(request, root, _)| (*request, *root)).collect();
        let requests: Vec<Uuid> = empty.iter().map(|(request, _)| *request).collect();
        if !requests.is_empty() {
            let restore = RestoreRequests { workspace, requests: requests.clone(), at: at.into() };
            self.run(restore.execute(&mut self.connection()?)).await?;
            let delete = DeleteTags { workspace, requests: requests.clone() };
            self.run(delete.execute(&mut self.connection()?)).await?;
            let tags = RemovedTags { workspace, requests };
            let tags: Vec<(Uuid, Vec<String>)> = self.run(tags.load(&mut self.connection()?)).await?;
            for (request, tags) in tags.into_iter().filter(|(_, tags)| !tags.is_empty()) {
                let tags_folded = tags.iter().map(|tag| tag.to_lowercase()).collect();
                let insert = InsertTags { workspace, request, tags, tags_folded };
                self.run(insert.execute(&mut self.connection()?)).await?;
            }
        }
        if !rows.is_empty() {
            let drop = DropRemovedRequests { workspace, requests: rows.iter().map(|(request, ..)| *request).collect() };
            self.run(drop.execute(&mut self.connection()?)).await?;
        }
        Ok(MovedTexts { comments, requests: empty.into_iter().map(moved).collect() })
    }
}
