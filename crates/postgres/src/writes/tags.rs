//! Changes of a tag on all feature requests that have it.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::audit::Actor;
use roadmap_domain::model::event::EventContent;
use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::tag::{ListedTag, TagChange};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::TagWrites;
use roadmap_store::columns::TimestampColumn;
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::reads::{FindTag, found_tag};
use crate::statement::{inserted_events, statement};
use crate::unit::PostgresUnit;

/// Maximum number of feature requests that one statement changes, so that it ends long before the time limit of statements.
const PER_STATEMENT: usize = 2_000;

statement! {
    /// Selects feature requests that have a tag, by its folded name, and do not write it like this, with their roots.
    SelectTagged { workspace: Uuid => SqlUuid, tag: String => Text, spelling: String => Text, limit: i64 => BigInt }
        -> (SqlUuid, Nullable<SqlUuid>),
    "SELECT id, root_id FROM (
         SELECT DISTINCT request_id FROM feature_request_tags
         WHERE workspace_id = {workspace} AND tag_folded = {tag} AND tag <> {spelling} LIMIT {limit}
     ) AS tagged
     JOIN feature_requests ON workspace_id = {workspace} AND id = request_id
     ORDER BY id"
}

statement! {
    /// Locks feature requests, in order.
    LockRequests { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "SELECT FROM feature_requests WHERE workspace_id = {workspace} AND id = ANY ({requests})
     ORDER BY id FOR NO KEY UPDATE"
}

statement! {
    /// Sets when feature requests were last updated, and adds the same event, an edit, to their history. The IDs of the
    /// events are UUIDs of version 7, as those of moves.
    RecordEdits {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        kind: String => Text,
        details: String => Text,
        actor_kind: String => Text,
        actor_id: Option<Uuid> => Nullable<SqlUuid>,
        actor_name: String => Text,
        millis: i64 => BigInt,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    concat!("WITH edited AS (
         UPDATE feature_requests SET updated_at = {at}
         WHERE workspace_id = {workspace} AND id = ANY ({requests})
         RETURNING id
     )
     ", inserted_events!("edited"))
}

statement! {
    /// Removes the second one of two tags from those feature requests that have both.
    RemoveSecondTag {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        tag: String => Text,
        other: String => Text,
    } -> Untyped,
    "DELETE FROM feature_request_tags AS tags
     WHERE workspace_id = {workspace} AND request_id = ANY ({requests}) AND tag_folded IN ({tag}, {other})
       AND EXISTS (
           SELECT FROM feature_request_tags AS earlier
           WHERE earlier.workspace_id = {workspace} AND earlier.request_id = tags.request_id
             AND earlier.position < tags.position AND earlier.tag_folded IN ({tag}, {other})
       )"
}

statement! {
    /// Replaces a tag of feature requests, and the other one, which differs in its case at most.
    ReplaceTag {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        tag: String => Text,
        other: String => Text,
        spelling: String => Text,
    } -> Untyped,
    "UPDATE feature_request_tags SET tag = {spelling}, tag_folded = {other}
     WHERE workspace_id = {workspace} AND request_id = ANY ({requests}) AND tag_folded IN ({tag}, {other})"
}

statement! {
    /// Removes a tag from feature requests.
    RemoveTag { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid>, tag: String => Text } -> Untyped,
    "DELETE FROM feature_request_tags
     WHERE workspace_id = {workspace} AND request_id = ANY ({requests}) AND tag_folded = {tag}"
}

statement! {
    /// Selects the feature requests with a search document that these feature requests are, or are merged into.
    SelectDocuments { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> SqlUuid,
    "SELECT request_id FROM search_documents
     WHERE workspace_id = {workspace} AND request_id IN (
         SELECT coalesce(root_id, id) FROM feature_requests WHERE workspace_id = {workspace} AND id = ANY ({requests})
     )
     ORDER BY request_id"
}

#[async_trait]
impl TagWrites for PostgresUnit {
    async fn find_tag(&mut self, name: &Tag) -> Result<Option<ListedTag>, StoreError> {
        let find = FindTag { workspace: self.workspace, folded: name.folded() };
        let row: (Option<String>, i64) = self.run(find.get_result(&mut self.connection()?)).await?;
        Ok(found_tag(row))
    }

    async fn lock_tagged(
        &mut self,
        change: &TagChange,
        limit: u32,
    ) -> Result<Option<Vec<FeatureRequestId>>, StoreError> {
        self.lock_workspace(WorkspaceLock::Tags).await?;
        let select = SelectTagged {
            workspace: self.workspace,
            tag: change.tag.folded(),
            // No tag is empty: what is removed is removed in any spelling.
            spelling: change.name.as_ref().map(Tag::to_string).unwrap_or_default(),
            limit: i64::from(limit) + 1,
        };
        let tagged: Vec<(Uuid, Option<Uuid>)> = self.run(select.clone().load(&mut self.connection()?)).await?;
        if tagged.len() > usize::try_from(limit).unwrap_or(usize::MAX) {
            return Ok(None);
        }
        // With what they are merged into, whose search documents have words of their tags.
        let mut locked: Vec<Uuid> = tagged.into_iter().flat_map(|(id, root)| [Some(id), root]).flatten().collect();
        locked.sort_unstable();
        locked.dedup();
        let lock = LockRequests { workspace: self.workspace, requests: locked.clone() };
        self.run(lock.execute(&mut self.connection()?)).await?;
        // Others may have changed their tags meanwhile. What has got the tag since then is not locked, and keeps it.
        let tagged: Vec<(Uuid, Option<Uuid>)> = self.run(select.load(&mut self.connection()?)).await?;
        let tagged = tagged.into_iter().map(|(id, _)| id).filter(|id| locked.binary_search(id).is_ok());
        Ok(Some(tagged.map(FeatureRequestId::new).collect()))
    }

    async fn change_tag(
        &mut self,
        change: &TagChange,
        requests: &[FeatureRequestId],
        actor: &Actor,
        at: Timestamp,
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let workspace = self.workspace;
        let edit = EventContent::Edited(vec!["tags".to_owned()]);
        let tag = change.tag.folded();
        let all: Vec<Uuid> = requests.iter().map(|request| request.uuid()).collect();
        for requests in all.chunks(PER_STATEMENT) {
            let record = RecordEdits {
                workspace,
                requests: requests.to_vec(),
                kind: edit.kind().to_owned(),
                details: edit.details(),
                actor_kind: actor.kind.name().to_owned(),
                actor_id: actor.id,
                actor_name: actor.name.clone(),
                millis: at.millis(),
                at: at.into(),
            };
            self.run(record.execute(&mut self.connection()?)).await?;
            let (tag, requests) = (tag.clone(), requests.to_vec());
            match &change.name {
                Some(name) => {
                    let (other, spelling) = (name.folded(), name.to_string());
                    let remove = RemoveSecondTag {
                        workspace,
                        requests: requests.clone(),
                        tag: tag.clone(),
                        other: other.clone(),
                    };
                    self.run(remove.execute(&mut self.connection()?)).await?;
                    let replace = ReplaceTag { workspace, requests, tag, other, spelling };
                    self.run(replace.execute(&mut self.connection()?)).await?;
                }
                None => {
                    let remove = RemoveTag { workspace, requests, tag };
                    self.run(remove.execute(&mut self.connection()?)).await?;
                }
            }
        }
        let select = SelectDocuments { workspace, requests: all };
        let documents: Vec<Uuid> = self.run(select.load(&mut self.connection()?)).await?;
        Ok(documents.into_iter().map(FeatureRequestId::new).collect())
    }
}
