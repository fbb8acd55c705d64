//! Changes of a tag on all feature requests that have it.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::RunQueryDsl;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::audit::Actor;
use roadmap_domain::model::event::EventContent;
use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::tag::{ListedTag, TagChange};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::TagWrites;
use roadmap_store::columns::Id;

use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::reads::tags::{FindTag, found_tag};
use crate::statement::{inserted_events, statement};
use crate::unit::SqliteUnit;

statement! {
    /// Selects feature requests that have a tag, by its folded name, and do not write it like this.
    SelectTagged { workspace: Id => Binary, tag: String => Text, spelling: String => Text, limit: i64 => BigInt } -> Binary,
    "SELECT DISTINCT request_id FROM feature_request_tags INDEXED BY feature_request_tags_by_tag
     WHERE workspace_id = ? AND tag_folded = ? AND tag <> ? LIMIT ?"
}

statement! {
    /// Adds the same event, an edit, to the history of the feature requests of a JSON array. The IDs are UUIDs of version 7.
    InsertEdits {
        at: i64 => BigInt, kind: String => Text, details: String => Text, actor_kind: String => Text,
        actor_id: Option<Id> => Nullable<Binary>, actor_name: String => Text, created_at: i64 => BigInt,
        workspace: Id => Binary, requests: String => Text,
    }
    inserted_events!("workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))")
}

statement! {
    /// Sets when the feature requests of a JSON array were last updated.
    TouchRequests { at: i64 => BigInt, workspace: Id => Binary, requests: String => Text }
    "UPDATE feature_requests SET updated_at = ?
     WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Removes the second one of two tags from the feature requests of a JSON array that have both.
    RemoveSecondTag { workspace: Id => Binary, tag: String => Text, other: String => Text, requests: String => Text }
    "WITH scope (workspace, tag, other) AS (SELECT ?, ?, ?)
     DELETE FROM feature_request_tags
     WHERE workspace_id = (SELECT workspace FROM scope) AND request_id IN (SELECT unhex(value) FROM json_each(?))
       AND tag_folded IN ((SELECT tag FROM scope), (SELECT other FROM scope))
       AND EXISTS (
           SELECT 1 FROM feature_request_tags earlier
           WHERE earlier.workspace_id = feature_request_tags.workspace_id
             AND earlier.request_id = feature_request_tags.request_id
             AND earlier.position < feature_request_tags.position
             AND earlier.tag_folded IN ((SELECT tag FROM scope), (SELECT other FROM scope))
       )"
}

statement! {
    /// Replaces a tag of the feature requests of a JSON array.
    ReplaceTag {
        spelling: String => Text, folded: String => Text, workspace: Id => Binary, requests: String => Text,
        tag: String => Text, other: String => Text,
    }
    "UPDATE feature_request_tags SET tag = ?, tag_folded = ?
     WHERE workspace_id = ? AND request_id IN (SELECT unhex(value) FROM json_each(?)) AND tag_folded IN (?, ?)"
}

statement! {
    /// Removes a tag from the feature requests of a JSON array.
    RemoveTag { workspace: Id => Binary, requests: String => Text, tag: String => Text }
    "DELETE FROM feature_request_tags
     WHERE workspace_id = ? AND request_id IN (SELECT unhex(value) FROM json_each(?)) AND tag_folded = ?"
}

statement! {
    /// Selects the feature requests with a search document that the feature requests of a JSON array are, or are merged
    /// into.
    SelectDocuments { workspace: Id => Binary, requests: String => Text } -> Binary,
    "SELECT DISTINCT document.request_id FROM feature_requests request
     CROSS JOIN search_documents document ON document.workspace_id = request.workspace_id
            AND document.request_id = coalesce(request.root_id, request.id)
     WHERE request.workspace_id = ? AND request.id IN (SELECT unhex(value) FROM json_each(?))
     ORDER BY document.request_id"
}

/// Changes a tag on feature requests. Returns those whose search documents have its words.
fn apply(
    connection: &mut SqliteConnection,
    workspace: Id,
    change: &TagChange,
    requests: &[Id],
    (actor, at): (Actor, i64),
) -> Result<Vec<Id>, SqlError> {
    let requests = json_ids(requests);
    let edit = EventContent::Edited(vec!["tags".to_owned()]);
    let insert = InsertEdits {
        at,
        kind: edit.kind().to_owned(),
        details: edit.details(),
        actor_kind: actor.kind.name().to_owned(),
        actor_id: actor.id.map(Id),
        actor_name: actor.name,
        created_at: at,
        workspace,
        requests: requests.clone(),
    };
    insert.execute(connection)?;
    TouchRequests { at, workspace, requests: requests.clone() }.execute(connection)?;
    let tag = change.tag.folded();
    match &change.name {
        Some(name) => {
            let other = name.folded();
            RemoveSecondTag { workspace, tag: tag.clone(), other: other.clone(), requests: requests.clone() }
                .execute(connection)?;
            let (spelling, folded) = (name.to_string(), other.clone());
            ReplaceTag { spelling, folded, workspace, requests: requests.clone(), tag, other }.execute(connection)?;
        }
        None => {
            RemoveTag { workspace, requests: requests.clone(), tag }.execute(connection)?;
        }
    }
    Ok(SelectDocuments { workspace, requests }.load(connection)?)
}

#[async_trait]
impl TagWrites for SqliteUnit {
    async fn find_tag(&mut self, name: &Tag) -> Result<Option<ListedTag>, StoreError> {
        let folded = name.folded();
        let row: (Option<String>, i64) =
            self.run(move |connection, workspace| Ok(FindTag { workspace, folded }.get_result(connection)?)).await?;
        Ok(found_tag(row))
    }

    /// Units of work follow each other.
    async fn lock_tagged(
        &mut self,
        change: &TagChange,
        limit: u32,
    ) -> Result<Option<Vec<FeatureRequestId>>, StoreError> {
        let tag = change.tag.folded();
        // No tag is empty: what is removed is removed in any spelling.
        let spelling = change.name.as_ref().map(Tag::to_string).unwrap_or_default();
        let read_limit = i64::from(limit) + 1;
        let mut tagged: Vec<Id> = self
            .run(move |connection, workspace| {
                Ok(SelectTagged { workspace, tag, spelling, limit: read_limit }.load(connection)?)
            })
            .await?;
        if tagged.len() > usize::try_from(limit).unwrap_or(usize::MAX) {
            return Ok(None);
        }
        tagged.sort_unstable_by_key(|id| id.0);
        Ok(Some(tagged.into_iter().map(|id| FeatureRequestId::new(id.0)).collect()))
    }

    async fn change_tag(
        &mut self,
        change: &TagChange,
        requests: &[FeatureRequestId],
        actor: &Actor,
        at: Timestamp,
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let requests: Vec<Id> = requests.iter().map(|request| Id(request.uuid())).collect();
        let (change, event) = (change.clone(), (actor.clone(), at.millis()));
        let documents =
            self.run(move |connection, workspace| apply(connection, workspace, &change, &requests, event)).await?;
        Ok(documents.into_iter().map(|id| FeatureRequestId::new(id.0)).collect())
    }
}
