//! The runs of imports: how far they are, where their records came from, and their undoing.

use std::collections::HashMap;

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{ChangelogId, CustomerId, FeatureRequestId, ImportId};
use roadmap_domain::model::import::records::Kind;
use roadmap_domain::model::import::run::{Import, Progress, SourceName};
use roadmap_domain::model::import::upload::{ImportJob, Upload};
use roadmap_domain::model::import::{ImportedFrom, ImportedRecord, MadeChangelog, MadePosts, MadeRequest};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::ImportRunWrites;
use roadmap_store::columns::{Id, TimestampColumn};
use roadmap_store::rows::{
    ImportRow, MadeChangelogRow, MadeRow, import, imported_record, made_changelog, made_request,
};
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::statement::statement;
use crate::unit::PostgresUnit;
use crate::writes::imports::RootsOf;
use crate::writes::merges::delete_messages_about;

statement! {
    /// Selects the runs of a workspace, newest first.
    Imports { workspace: Uuid => SqlUuid } -> (
        SqlUuid, Text, Text, Text, Nullable<Text>, Nullable<Text>, Text, Text, Nullable<Text>, SqlUuid, Timestamptz,
        Timestamptz, Nullable<Timestamptz>
    ),
    "SELECT id, source, name, state, job, upload, input, progress, report, holder, began_at, seen_at, ended_at FROM imports
     WHERE workspace_id = {workspace} ORDER BY began_at DESC, id DESC"
}

statement! {
    /// Inserts or replaces a run.
    SaveImport {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        source: String => Text,
        name: String => Text,
        state: String => Text,
        job: Option<&'static str> => Nullable<Text>,
        upload: Option<String> => Nullable<Text>,
        input: String => Text,
        progress: String => Text,
        report: Option<String> => Nullable<Text>,
        holder: Uuid => SqlUuid,
        began_at: TimestampColumn => Timestamptz,
        seen_at: TimestampColumn => Timestamptz,
        ended_at: Option<TimestampColumn> => Nullable<Timestamptz>,
    } -> Untyped,
    "INSERT INTO imports
         (workspace_id, id, source, name, state, job, upload, input, progress, report, holder, began_at, seen_at, ended_at)
     VALUES ({workspace}, {id}, {source}, {name}, {state}, {job}, {upload}, {input}, {progress}, {report}, {holder}, {began_at}, {seen_at},
             {ended_at})
     ON CONFLICT (workspace_id, id) DO UPDATE SET state = excluded.state, job = excluded.job,
         upload = excluded.upload, began_at = excluded.began_at, progress = excluded.progress,
         report = excluded.report, holder = excluded.holder, seen_at = excluded.seen_at, ended_at = excluded.ended_at"
}

statement! {
    /// Stores how far a run is, if the process holds it.
    AdvanceImport {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        holder: Uuid => SqlUuid,
        progress: String => Text,
        seen_at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE imports SET progress = {progress}, seen_at = {seen_at}
     WHERE workspace_id = {workspace} AND id = {id} AND holder = {holder} AND state = 'running'"
}

statement! {
    /// Says that a process works on a run, if it holds it.
    HoldImport {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        holder: Uuid => SqlUuid,
        seen_at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE imports SET seen_at = {seen_at}
     WHERE workspace_id = {workspace} AND id = {id} AND holder = {holder} AND state = 'running'"
}

/// Declares the selection of what is known of records of a source. `$times` are the columns with the times of their creation
/// and their last change, in `$joins`.
macro_rules! imported_records {
    ($(#[$doc:meta])* $name:ident, $times:literal, $joins:literal) => {
        statement! {
            $(#[$doc])*
            $name {
                workspace: Uuid => SqlUuid,
                name: String => Text,
                kind: String => Text,
                external_ids: Vec<String> => Array<Text>,
            } -> (Text, SqlUuid, Text, SqlUuid, Timestamptz, Nullable<Timestamptz>, Nullable<Timestamptz>),
            concat!(
                "SELECT external_id, local_id, digest, imported.import_id, written_at, ", $times, " FROM imported ", $joins,
                " WHERE imported.workspace_id = {workspace} AND imported.name = {name} AND imported.kind = {kind}
                   AND external_id = ANY ({external_ids})"
            )
        }
    };
}

imported_records!(
    /// Selects feature requests.
    ImportedRequests,
    "record.created_at, record.updated_at",
    "LEFT JOIN feature_requests AS record ON record.workspace_id = imported.workspace_id AND record.id = local_id"
);
imported_records!(
    /// Selects comments, held or not.
    ImportedComments,
    "coalesce(record.created_at, held.created_at), coalesce(record.updated_at, held.created_at)",
    "LEFT JOIN comments AS record ON record.workspace_id = imported.workspace_id AND record.id = local_id
     LEFT JOIN held_comments AS held ON held.workspace_id = imported.workspace_id AND held.id = local_id"
);
imported_records!(
    /// Selects changelogs.
    ImportedChangelogs,
    "record.created_at, record.updated_at",
    "LEFT JOIN changelogs AS record ON record.workspace_id = imported.workspace_id AND record.id = local_id"
);
imported_records!(
    /// Selects other records, as if they were still there.
    ImportedOthers,
    "written_at, written_at",
    ""
);

/// An external id, and what is known of its record.
type KnownRow = (String, Id, String, Id, TimestampColumn, Option<TimestampColumn>, Option<TimestampColumn>);

statement! {
    /// Remembers where records came from. One that is known keeps its run.
    Remember {
        workspace: Uuid => SqlUuid,
        name: String => Text,
        kind: String => Text,
        external_ids: Vec<String> => Array<Text>,
        ids: Vec<Uuid> => Array<SqlUuid>,
        digests: Vec<String> => Array<Text>,
        at: TimestampColumn => Timestamptz,
        import: Uuid => SqlUuid,
    } -> Untyped,
    "INSERT INTO imported (workspace_id, name, kind, external_id, local_id, digest, written_at, import_id)
     SELECT {workspace}, {name}, {kind}, external_id, id, digest, {at}, {import}
     FROM unnest({external_ids}, {ids}, {digests}) AS given (external_id, id, digest)
     ON CONFLICT (workspace_id, name, kind, external_id)
     DO UPDATE SET local_id = excluded.local_id, digest = excluded.digest, written_at = excluded.written_at"
}

statement! {
    /// Counts the records of a kind that a run has made.
    CountImported { workspace: Uuid => SqlUuid, import: Uuid => SqlUuid, kind: String => Text } -> BigInt,
    "SELECT count(*) FROM imported WHERE workspace_id = {workspace} AND import_id = {import} AND kind = {kind}"
}

statement! {
    /// Selects the records of a kind that a run has made.
    Made { workspace: Uuid => SqlUuid, import: Uuid => SqlUuid, kind: String => Text } -> SqlUuid,
    "SELECT local_id FROM imported WHERE workspace_id = {workspace} AND import_id = {import} AND kind = {kind}"
}

statement! {
    /// Selects feature requests that a run has made and that are there: merged ones or others, after one of them. With whether
    /// anything else than the run has changed one of their tree that the run has made.
    MadeRequests {
        workspace: Uuid => SqlUuid,
        import: Uuid => SqlUuid,
        merged: bool => Bool,
        after: Uuid => SqlUuid,
        limit: i64 => BigInt,
    } -> (SqlUuid, BigInt, Text, SqlUuid, BigInt, BigInt, BigInt, BigInt, Bool),
    "WITH page AS MATERIALIZED (
         SELECT record.id, tag_number, title, coalesce(root_id, record.id) AS root FROM imported
         JOIN feature_requests AS record ON record.workspace_id = {workspace} AND record.id = local_id
         WHERE imported.workspace_id = {workspace} AND imported.import_id = {import} AND kind = 'feature_requests'
           AND local_id > {after} AND (root_id IS NOT NULL) = {merged}
         ORDER BY local_id LIMIT {limit}
     )
     SELECT page.id, tag_number, title, root,
         (SELECT count(*) FROM votes WHERE workspace_id = {workspace} AND request_id = page.id),
         (SELECT count(*) FROM followers WHERE workspace_id = {workspace} AND request_id = page.id),
         (SELECT count(*) FROM comments WHERE workspace_id = {workspace} AND request_id = page.id)
         + (SELECT count(*) FROM held_comments WHERE workspace_id = {workspace} AND request_id = page.id),
         (SELECT count(*) FROM notes WHERE workspace_id = {workspace} AND request_id = page.id),
         EXISTS (
         SELECT FROM (
             SELECT root AS id UNION ALL
             SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND root_id = root
         ) AS tree
         JOIN feature_requests AS member ON member.workspace_id = {workspace} AND member.id = tree.id
         JOIN imported AS own ON own.workspace_id = {workspace} AND own.import_id = {import}
          AND own.kind = 'feature_requests' AND own.local_id = member.id
         WHERE member.updated_at > own.written_at
            OR EXISTS (SELECT FROM votes WHERE votes.workspace_id = {workspace} AND votes.request_id = member.id
                          AND votes.import_id IS DISTINCT FROM {import})
            OR EXISTS (SELECT FROM followers WHERE followers.workspace_id = {workspace}
                          AND followers.request_id = member.id AND followers.import_id IS DISTINCT FROM {import})
            OR EXISTS (SELECT FROM comments WHERE comments.workspace_id = {workspace}
                          AND comments.request_id = member.id AND NOT EXISTS (
                  SELECT FROM imported AS made WHERE made.workspace_id = {workspace} AND made.import_id = {import}
                     AND made.kind = 'comments' AND made.local_id = comments.id
                     AND made.written_at >= comments.updated_at))
            OR EXISTS (SELECT FROM held_comments AS held WHERE held.workspace_id = {workspace}
                          AND held.request_id = member.id AND NOT EXISTS (
                  SELECT FROM imported AS made WHERE made.workspace_id = {workspace} AND made.import_id = {import}
                     AND made.kind = 'comments' AND made.local_id = held.id))
            OR EXISTS (SELECT FROM notes WHERE notes.workspace_id = {workspace}
                          AND notes.request_id = member.id AND NOT EXISTS (
                  SELECT FROM imported AS made WHERE made.workspace_id = {workspace} AND made.import_id = {import}
                     AND made.kind = 'notes' AND made.local_id = notes.id))
            OR EXISTS (SELECT FROM links WHERE links.workspace_id = {workspace} AND links.request_id = member.id)
            OR EXISTS (SELECT FROM feature_request_events AS event WHERE event.workspace_id = {workspace}
                          AND event.request_id = member.id AND event.created_at > own.written_at)
            OR EXISTS (SELECT FROM changelog_feature_requests AS link WHERE link.workspace_id = {workspace}
                          AND link.request_id = member.id)
            OR EXISTS (SELECT FROM removed_comments AS removed WHERE removed.workspace_id = {workspace}
                          AND removed.request_id = member.id)
     ) FROM page ORDER BY page.id"
}

statement! {
    /// Selects changelogs that a run has made and that are there, after one of them, with whether they were edited since.
    MadeChangelogs {
        workspace: Uuid => SqlUuid,
        import: Uuid => SqlUuid,
        after: Uuid => SqlUuid,
        limit: i64 => BigInt,
    } -> (SqlUuid, Text, Bool),
    "SELECT record.id, title, record.updated_at > written_at FROM imported
     JOIN changelogs AS record ON record.workspace_id = {workspace} AND record.id = local_id
     WHERE imported.workspace_id = {workspace} AND import_id = {import} AND kind = 'changelogs' AND local_id > {after}
     ORDER BY local_id LIMIT {limit}"
}

statement! {
    /// Selects feature requests of others for which a run has voted.
    VotedRequests { workspace: Uuid => SqlUuid, import: Uuid => SqlUuid, limit: i64 => BigInt } -> SqlUuid,
    "SELECT local_id FROM imported WHERE workspace_id = {workspace} AND import_id = {import} AND kind = 'votes'
     ORDER BY local_id LIMIT {limit}"
}

statement! {
    /// Deletes the votes and subscriptions of a run for feature requests, and forgets that it has made them. Returns how many
    /// there were.
    DeleteMadeVotes {
        workspace: Uuid => SqlUuid,
        import: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
    } -> (BigInt, BigInt),
    "WITH votes AS (
         DELETE FROM votes WHERE workspace_id = {workspace} AND request_id = ANY ({requests}) AND import_id = {import}
         RETURNING 1
     ), followers AS (
         DELETE FROM followers WHERE workspace_id = {workspace} AND request_id = ANY ({requests}) AND import_id = {import}
         RETURNING 1
     ), forgotten AS (
         DELETE FROM imported WHERE workspace_id = {workspace} AND import_id = {import} AND kind = 'votes'
            AND local_id = ANY ({requests})
     )
     SELECT (SELECT count(*) FROM votes), (SELECT count(*) FROM followers)"
}

/// Declares the selection of the records of a table that a run has made for feature requests that it has not made.
macro_rules! made_for_others {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $table:literal) => {
        statement! {
            $(#[$doc])*
            $name { workspace: Uuid => SqlUuid, import: Uuid => SqlUuid, limit: i64 => BigInt } -> SqlUuid,
            concat!(
                "SELECT record.id FROM imported AS made
                 JOIN ", $table, " AS record ON record.workspace_id = {workspace} AND record.id = made.local_id
                 WHERE made.workspace_id = {workspace} AND made.import_id = {import} AND made.kind = '", $kind, "'
                   AND NOT EXISTS (
                     SELECT FROM imported AS own WHERE own.workspace_id = {workspace} AND own.import_id = {import}
                        AND own.kind = 'feature_requests' AND own.local_id = record.request_id
                 ) LIMIT {limit}"
            )
        }
    };
}

made_for_others!(
    /// Selects public comments.
    MadeComments,
    "comments",
    "comments"
);
made_for_others!(
    /// Selects comments that wait for approval.
    MadeHeldComments,
    "comments",
    "held_comments"
);
made_for_others!(
    /// Selects notes.
    MadeNotes,
    "notes",
    "notes"
);

statement! {
    /// Deletes the unsent messages about comments.
    DeleteMessagesOfComments { workspace: Uuid => SqlUuid, comments: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    concat!(
        "WITH topics AS MATERIALIZED (SELECT unnest({comments})::text AS topic) ",
        delete_messages_about!()
    )
}

statement! {
    /// Deletes comments, held or not, and notes.
    DeletePosts {
        workspace: Uuid => SqlUuid,
        comments: Vec<Uuid> => Array<SqlUuid>,
        notes: Vec<Uuid> => Array<SqlUuid>,
    } -> Untyped,
    "WITH held AS (
         DELETE FROM held_comments WHERE workspace_id = {workspace} AND id = ANY ({comments})
     ), notes AS (
         DELETE FROM notes WHERE workspace_id = {workspace} AND id = ANY ({notes})
     )
     DELETE FROM comments WHERE workspace_id = {workspace} AND id = ANY ({comments})"
}

statement! {
    /// Selects customers of a run, after one of them.
    MadeCustomers {
        workspace: Uuid => SqlUuid,
        import: Uuid => SqlUuid,
        after: Uuid => SqlUuid,
        limit: i64 => BigInt,
    } -> SqlUuid,
    "SELECT id FROM customers WHERE workspace_id = {workspace} AND import_id = {import} AND id > {after}
     ORDER BY id LIMIT {limit}"
}

statement! {
    /// Deletes those customers to whom nothing refers.
    DeleteUnusedCustomers { workspace: Uuid => SqlUuid, customers: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "DELETE FROM customers WHERE workspace_id = {workspace} AND id = ANY ({customers})
       AND NOT EXISTS (SELECT FROM votes WHERE votes.workspace_id = {workspace} AND votes.customer_id = customers.id)
       AND NOT EXISTS (SELECT FROM followers
                       WHERE followers.workspace_id = {workspace} AND followers.customer_id = customers.id)
       AND NOT EXISTS (SELECT FROM feature_requests AS record
                       WHERE record.workspace_id = {workspace} AND record.author_id = customers.id)
       AND NOT EXISTS (SELECT FROM comments AS record
                       WHERE record.workspace_id = {workspace} AND record.customer_id = customers.id)
       AND NOT EXISTS (SELECT FROM held_comments AS record
                       WHERE record.workspace_id = {workspace} AND record.customer_id = customers.id)
       AND NOT EXISTS (SELECT FROM removed_comments AS record
                       WHERE record.workspace_id = {workspace} AND record.customer_id = customers.id)
       AND NOT EXISTS (SELECT FROM removed_requests AS record
                       WHERE record.workspace_id = {workspace} AND record.customer_id = customers.id)
       AND NOT EXISTS (SELECT FROM notes AS record
                       WHERE record.workspace_id = {workspace} AND record.customer_id = customers.id)
       AND NOT EXISTS (SELECT FROM outbox AS record
                       WHERE record.workspace_id = {workspace} AND record.customer_id = customers.id)
       AND NOT EXISTS (SELECT FROM sessions
                       WHERE sessions.workspace_id = {workspace} AND sessions.email_folded = customers.email_folded)"
}

statement! {
    /// Deletes the removed members of a run to whom nothing refers.
    DeleteUnusedMembers { workspace: Uuid => SqlUuid, import: Uuid => SqlUuid } -> Untyped,
    "DELETE FROM members WHERE workspace_id = {workspace} AND removed_at IS NOT NULL
       AND id IN (SELECT local_id FROM imported
                  WHERE workspace_id = {workspace} AND import_id = {import} AND kind = 'members')
       AND NOT EXISTS (SELECT FROM comments AS record
                       WHERE record.workspace_id = {workspace} AND record.author_id = members.id)
       AND NOT EXISTS (SELECT FROM notes AS record
                       WHERE record.workspace_id = {workspace} AND record.author_id = members.id)
       AND NOT EXISTS (SELECT FROM feature_request_events AS event
                       WHERE event.workspace_id = {workspace} AND event.actor_id = members.id)"
}

statement! {
    /// Forgets where records came from that a run has made and that are gone.
    ForgetDeleted { workspace: Uuid => SqlUuid, import: Uuid => SqlUuid } -> Untyped,
    "DELETE FROM imported WHERE workspace_id = {workspace} AND import_id = {import} AND NOT EXISTS (
         SELECT FROM feature_requests WHERE workspace_id = {workspace} AND id = local_id UNION ALL
         SELECT FROM comments WHERE workspace_id = {workspace} AND id = local_id UNION ALL
         SELECT FROM held_comments WHERE workspace_id = {workspace} AND id = local_id UNION ALL
         SELECT FROM notes WHERE workspace_id = {workspace} AND id = local_id UNION ALL
         SELECT FROM members WHERE workspace_id = {workspace} AND id = local_id UNION ALL
         SELECT FROM tracks WHERE workspace_id = {workspace} AND id = local_id UNION ALL
         SELECT FROM lanes WHERE workspace_id = {workspace} AND id = local_id UNION ALL
         SELECT FROM changelogs WHERE workspace_id = {workspace} AND id = local_id UNION ALL
         SELECT FROM feature_request_events WHERE workspace_id = {workspace} AND id = local_id
     )"
}

#[async_trait]
impl ImportRunWrites for PostgresUnit {
    async fn load_imports(&mut self) -> Result<Vec<Import>, StoreError> {
        self.lock_workspace(WorkspaceLock::Imports).await?;
        let select = Imports { workspace: self.workspace };
        let rows: Vec<ImportRow> = self.run(select.load(&mut self.connection()?)).await?;
        rows.into_iter().map(import).collect()
    }

    async fn save_import(&mut self, import: &Import) -> Result<(), StoreError> {
        let save = SaveImport {
            workspace: self.workspace,
            id: import.id.uuid(),
            source: import.source.clone(),
            name: import.name.as_str().to_owned(),
            state: import.state.name().to_owned(),
            job: import.job.map(ImportJob::name),
            upload: import.upload.as_ref().map(Upload::to_stored),
            input: import.input.clone(),
            progress: import.progress.to_stored(),
            report: import.report.clone(),
            holder: import.holder,
            began_at: import.began_at.into(),
            seen_at: import.seen_at.into(),
            ended_at: import.ended_at.map(TimestampColumn::from),
        };
        self.run(save.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn advance_import(
        &mut self,
        import: ImportId,
        holder: Uuid,
        progress: &Progress,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let (workspace, id) = (self.workspace, import.uuid());
        let advance = AdvanceImport { workspace, id, holder, progress: progress.to_stored(), seen_at: at.into() };
        Ok(self.run(advance.execute(&mut self.connection()?)).await? == 1)
    }

    async fn hold_import(&mut self, import: ImportId, holder: Uuid, at: Timestamp) -> Result<bool, StoreError> {
        let hold = HoldImport { workspace: self.workspace, id: import.uuid(), holder, seen_at: at.into() };
        Ok(self.run(hold.execute(&mut self.connection()?)).await? == 1)
    }

    async fn find_imported(
        &mut self,
        name: &SourceName,
        kind: Kind,
        external_ids: &[String],
    ) -> Result<Vec<Option<ImportedRecord>>, StoreError> {
        let (workspace, name, stored_kind) = (self.workspace, name.as_str().to_owned(), kind.name().to_owned());
        let ids = external_ids.to_vec();
        let rows: Vec<KnownRow> = match kind {
            Kind::FeatureRequests => {
                let find = ImportedRequests { workspace, name, kind: stored_kind, external_ids: ids };
                self.run(find.load(&mut self.connection()?)).await?
            }
            Kind::Comments => {
                let find = ImportedComments { workspace, name, kind: stored_kind, external_ids: ids };
                self.run(find.load(&mut self.connection()?)).await?
            }
            Kind::Changelogs => {
                let find = ImportedChangelogs { workspace, name, kind: stored_kind, external_ids: ids };
                self.run(find.load(&mut self.connection()?)).await?
            }
            _ => {
                let find = ImportedOthers { workspace, name, kind: stored_kind, external_ids: ids };
                self.run(find.load(&mut self.connection()?)).await?
            }
        };
        let mut known = HashMap::with_capacity(rows.len());
        for (external_id, id, digest, import, written_at, created_at, updated_at) in rows {
            known.insert(external_id, imported_record((id, digest, import, written_at, created_at, updated_at))?);
        }
        Ok(external_ids.iter().map(|id| known.get(id).cloned()).collect())
    }

    async fn remember_imported(
        &mut self,
        import: ImportId,
        name: &SourceName,
        kind: Kind,
        records: &[ImportedFrom],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let remember = Remember {
            workspace: self.workspace,
            name: name.as_str().to_owned(),
            kind: kind.name().to_owned(),
            external_ids: records.iter().map(|record| record.external_id.clone()).collect(),
            ids: records.iter().map(|record| record.id).collect(),
            digests: records.iter().map(|record| record.digest.clone()).collect(),
            at: at.into(),
            import: import.uuid(),
        };
        self.run(remember.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn count_imported(&mut self, import: ImportId, kind: Kind) -> Result<u64, StoreError> {
        let count = CountImported { workspace: self.workspace, import: import.uuid(), kind: kind.name().to_owned() };
        let count: i64 = self.run(count.get_result(&mut self.connection()?)).await?;
        Ok(count.unsigned_abs())
    }

    async fn made_requests(
        &mut self,
        import: ImportId,
        merged: bool,
        after: Option<FeatureRequestId>,
        limit: u32,
    ) -> Result<Vec<MadeRequest>, StoreError> {
        self.lock_workspace(WorkspaceLock::Merges).await?;
        let after = after.map_or(Uuid::nil(), FeatureRequestId::uuid);
        let select =
            MadeRequests { workspace: self.workspace, import: import.uuid(), merged, after, limit: limit.into() };
        let rows: Vec<MadeRow> = self.run(select.load(&mut self.connection()?)).await?;
        Ok(rows.into_iter().map(made_request).collect())
    }

    async fn made_records(&mut self, import: ImportId, kind: Kind) -> Result<Vec<Uuid>, StoreError> {
        let made = Made { workspace: self.workspace, import: import.uuid(), kind: kind.name().to_owned() };
        self.run(made.load(&mut self.connection()?)).await
    }

    async fn made_changelogs(
        &mut self,
        import: ImportId,
        after: Option<ChangelogId>,
        limit: u32,
    ) -> Result<Vec<MadeChangelog>, StoreError> {
        let after = after.map_or(Uuid::nil(), ChangelogId::uuid);
        let select = MadeChangelogs { workspace: self.workspace, import: import.uuid(), after, limit: limit.into() };
        let rows: Vec<MadeChangelogRow> = self.run(select.load(&mut self.connection()?)).await?;
        Ok(rows.into_iter().map(made_changelog).collect())
    }

    async fn delete_made_posts(&mut self, import: ImportId, limit: u32) -> Result<Option<MadePosts>, StoreError> {
        let (workspace, import, limit) = (self.workspace, import.uuid(), i64::from(limit));
        let mut deleted = MadePosts::default();
        let voted = VotedRequests { workspace, import, limit };
        let requests: Vec<Uuid> = self.run(voted.load(&mut self.connection()?)).await?;
        let has_voted = !requests.is_empty();
        if has_voted {
            self.lock_workspace(WorkspaceLock::Merges).await?;
            let roots = RootsOf { workspace, requests: requests.clone() };
            let roots: Vec<Uuid> = self.run(roots.load(&mut self.connection()?)).await?;
            self.lock_in_order(&roots).await?;
            let delete = DeleteMadeVotes { workspace, import, requests };
            let (votes, followers): (i64, i64) = self.run(delete.get_result(&mut self.connection()?)).await?;
            (deleted.votes, deleted.subscriptions) = (votes.unsigned_abs(), followers.unsigned_abs());
            self.count_trees(roots).await?;
        }
        let select = MadeComments { workspace, import, limit };
        let mut comments: Vec<Uuid> = self.run(select.load(&mut self.connection()?)).await?;
        let select = MadeHeldComments { workspace, import, limit };
        let held: Vec<Uuid> = self.run(select.load(&mut self.connection()?)).await?;
        let select = MadeNotes { workspace, import, limit };
        let notes: Vec<Uuid> = self.run(select.load(&mut self.connection()?)).await?;
        let messages = DeleteMessagesOfComments { workspace, comments: comments.clone() };
        self.run(messages.execute(&mut self.connection()?)).await?;
        comments.extend(held);
        (deleted.comments, deleted.notes) = (comments.len() as u64, notes.len() as u64);
        let delete = DeletePosts { workspace, comments, notes };
        self.run(delete.execute(&mut self.connection()?)).await?;
        Ok((has_voted || deleted != MadePosts::default()).then_some(deleted))
    }

    async fn delete_made_customers(
        &mut self,
        import: ImportId,
        after: Option<CustomerId>,
        limit: u32,
    ) -> Result<(u64, Option<CustomerId>), StoreError> {
        let after = after.map_or(Uuid::nil(), CustomerId::uuid);
        let select = MadeCustomers { workspace: self.workspace, import: import.uuid(), after, limit: limit.into() };
        let customers: Vec<Uuid> = self.run(select.load(&mut self.connection()?)).await?;
        let last = customers.last().copied().map(CustomerId::new);
        let delete = DeleteUnusedCustomers { workspace: self.workspace, customers };
        let deleted = self.run(delete.execute(&mut self.connection()?)).await?;
        Ok((deleted as u64, last))
    }

    async fn delete_made_members(&mut self, import: ImportId) -> Result<u64, StoreError> {
        let delete = DeleteUnusedMembers { workspace: self.workspace, import: import.uuid() };
        Ok(self.run(delete.execute(&mut self.connection()?)).await? as u64)
    }

    async fn forget_deleted(&mut self, import: ImportId) -> Result<(), StoreError> {
        let forget = ForgetDeleted { workspace: self.workspace, import: import.uuid() };
        self.run(forget.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
