//! The runs of imports: how far they are, where their records came from, and their undoing.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{ChangelogId, CommentId, CustomerId, FeatureRequestId, ImportId};
use roadmap_domain::model::import::records::Kind;
use roadmap_domain::model::import::run::{Import, Progress, SourceName};
use roadmap_domain::model::import::upload::ImportJob;
use roadmap_domain::model::import::{ImportedFrom, ImportedRecord, MadeChangelog, MadePosts, MadeRequest};
use roadmap_domain::model::mail::Topic;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::ImportRunWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::{
    ImportRow, ImportedRow, MadeChangelogRow, MadeRow, import, imported_record, made_changelog, made_request,
};
use uuid::Uuid;

use crate::codec::json_texts;
use crate::deletions::delete_messages;
use crate::errors::SqlError;
use crate::schema::{comments, held_comments, notes};
use crate::statement::statement;
use crate::unit::SqliteUnit;
use crate::writes::imports::by_place;
use crate::writes::merges::{recount, root_of};

/// The types of what is known of a record, in the order of [`ImportedRow`].
type ImportedSql = (Binary, Text, Binary, BigInt, Nullable<BigInt>, Nullable<BigInt>);

/// SQL for the columns of a run, in the order of [`ImportRow`].
macro_rules! import_columns {
    () => {
        "id, source, name, state, job, upload, input, progress, report, holder, began_at, seen_at, ended_at"
    };
}

statement! {
    /// Selects the runs of a workspace, newest first.
    Imports { workspace: Id => Binary } -> (
        Binary, Text, Text, Text, Nullable<Text>, Nullable<Text>, Text, Text, Nullable<Text>, Binary, BigInt, BigInt,
        Nullable<BigInt>
    ),
    concat!("SELECT ", import_columns!(), " FROM imports WHERE workspace_id = ? ORDER BY began_at DESC, id DESC")
}

statement! {
    /// Inserts or replaces a run.
    SaveImport {
        workspace: Id => Binary, id: Id => Binary, source: String => Text, name: String => Text, state: String => Text,
        job: Option<&'static str> => Nullable<Text>, upload: Option<String> => Nullable<Text>, input: String => Text, progress: String => Text, report: Option<String> => Nullable<Text>, holder: Id => Binary,
        began_at: i64 => BigInt, seen_at: i64 => BigInt, ended_at: Option<i64> => Nullable<BigInt>,
    }
    concat!(
        "INSERT INTO imports (workspace_id, ", import_columns!(), ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (workspace_id, id) DO UPDATE SET state = excluded.state, job = excluded.job,
             upload = excluded.upload, began_at = excluded.began_at, progress = excluded.progress,
             report = excluded.report, holder = excluded.holder, seen_at = excluded.seen_at, ended_at = excluded.ended_at"
    )
}

statement! {
    /// Stores how far a run is, if the process holds it.
    AdvanceImport {
        progress: String => Text, seen_at: i64 => BigInt, workspace: Id => Binary, id: Id => Binary, holder: Id => Binary,
    }
    "UPDATE imports SET progress = ?, seen_at = ?
     WHERE workspace_id = ? AND id = ? AND holder = ? AND state = 'running'"
}

statement! {
    /// Says that a process works on a run, if it holds it.
    HoldImport { seen_at: i64 => BigInt, workspace: Id => Binary, id: Id => Binary, holder: Id => Binary }
    "UPDATE imports SET seen_at = ? WHERE workspace_id = ? AND id = ? AND holder = ? AND state = 'running'"
}

statement! {
    /// Selects what is known of feature requests of a source, with the places of their ids in a JSON array.
    ImportedRequestOf { external_ids: String => Text, workspace: Id => Binary, name: String => Text } -> (BigInt, ImportedSql),
    "SELECT given.key, local_id, digest, imported.import_id, written_at, created_at, updated_at FROM json_each(?) AS given
     CROSS JOIN imported ON external_id = given.value
     LEFT JOIN feature_requests AS record ON record.workspace_id = imported.workspace_id AND record.id = local_id
     WHERE imported.workspace_id = ? AND name = ? AND kind = 'feature_requests'"
}

statement! {
    /// Selects what is known of comments of a source, held or not.
    ImportedCommentOf { external_ids: String => Text, workspace: Id => Binary, name: String => Text } -> (BigInt, ImportedSql),
    "SELECT given.key, local_id, digest, import_id, written_at, coalesce(record.created_at, held.created_at),
            coalesce(record.updated_at, held.created_at)
     FROM json_each(?) AS given
     CROSS JOIN imported ON external_id = given.value
     LEFT JOIN comments AS record ON record.workspace_id = imported.workspace_id AND record.id = local_id
     LEFT JOIN held_comments AS held ON held.workspace_id = imported.workspace_id AND held.id = local_id
     WHERE imported.workspace_id = ? AND name = ? AND kind = 'comments'"
}

statement! {
    /// Selects what is known of changelogs of a source.
    ImportedChangelogOf { external_ids: String => Text, workspace: Id => Binary, name: String => Text } -> (BigInt, ImportedSql),
    "SELECT given.key, local_id, digest, import_id, written_at, created_at, updated_at FROM json_each(?) AS given
     CROSS JOIN imported ON external_id = given.value
     LEFT JOIN changelogs AS record ON record.workspace_id = imported.workspace_id AND record.id = local_id
     WHERE imported.workspace_id = ? AND name = ? AND kind = 'changelogs'"
}

statement! {
    /// Selects changelogs that a run has made and that are there, after one of them, with whether they were edited since.
    MadeChangelogs {
        workspace: Id => Binary, import: Id => Binary, after: Id => Binary, limit: i64 => BigInt,
    } -> (Binary, Text, Bool),
    "SELECT record.id, title, record.updated_at > written_at FROM imported
     CROSS JOIN changelogs AS record ON record.workspace_id = imported.workspace_id AND record.id = local_id
     WHERE imported.workspace_id = ? AND import_id = ? AND kind = 'changelogs' AND local_id > ?
     ORDER BY local_id LIMIT ?"
}

statement! {
    /// Selects what is known of other records of a source, as if they were still there.
    ImportedOf {
        external_ids: String => Text, workspace: Id => Binary, name: String => Text, kind: String => Text,
    } -> (BigInt, ImportedSql),
    "SELECT given.key, local_id, digest, import_id, written_at, written_at, written_at FROM json_each(?) AS given
     CROSS JOIN imported ON external_id = given.value
     WHERE workspace_id = ? AND name = ? AND kind = ?"
}

statement! {
    /// Remembers where a record came from. One that is known keeps its run.
    Remember {
        workspace: Id => Binary, name: String => Text, kind: String => Text, external_id: String => Text,
        local_id: Id => Binary, digest: String => Text, at: i64 => BigInt, import: Id => Binary,
    }
    "INSERT INTO imported (workspace_id, name, kind, external_id, local_id, digest, written_at, import_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (workspace_id, name, kind, external_id)
     DO UPDATE SET local_id = excluded.local_id, digest = excluded.digest, written_at = excluded.written_at"
}

statement! {
    /// Counts the records of a kind that a run has made.
    CountImported { workspace: Id => Binary, import: Id => Binary, kind: String => Text } -> BigInt,
    "SELECT count(*) FROM imported WHERE workspace_id = ? AND import_id = ? AND kind = ?"
}

statement! {
    /// Selects the records of a kind that a run has made.
    Made { workspace: Id => Binary, import: Id => Binary, kind: String => Text } -> Binary,
    "SELECT local_id FROM imported WHERE workspace_id = ? AND import_id = ? AND kind = ?"
}

statement! {
    /// Selects feature requests that a run has made and that are there: merged ones or others, after one of them. With whether
    /// anything else than the run has changed one of their tree that the run has made.
    MadeRequests {
        workspace: Id => Binary, import: Id => Binary, after: Id => Binary, merged: bool => Bool, limit: i64 => BigInt,
    } -> (Binary, BigInt, Text, Binary, BigInt, BigInt, BigInt, BigInt, Bool),
    "WITH scope (workspace, import, after, merged) AS (SELECT ?, ?, ?, ?),
     page (id, tag_number, title, root) AS MATERIALIZED (
         SELECT record.id, tag_number, title, coalesce(root_id, record.id) FROM scope
         CROSS JOIN imported ON imported.workspace_id = workspace AND imported.import_id = import
                AND kind = 'feature_requests' AND local_id > after
         CROSS JOIN feature_requests AS record ON record.workspace_id = workspace AND record.id = local_id
         WHERE (root_id IS NOT NULL) = merged
         ORDER BY local_id LIMIT ?
     )
     SELECT page.id, tag_number, title, root,
         (SELECT count(*) FROM votes WHERE votes.workspace_id = workspace AND votes.request_id = page.id),
         (SELECT count(*) FROM followers WHERE followers.workspace_id = workspace AND followers.request_id = page.id),
         (SELECT count(*) FROM comments WHERE comments.workspace_id = workspace AND comments.request_id = page.id)
         + (SELECT count(*) FROM held_comments AS held WHERE held.workspace_id = workspace AND held.request_id = page.id),
         (SELECT count(*) FROM notes WHERE notes.workspace_id = workspace AND notes.request_id = page.id),
         EXISTS (
         SELECT 1 FROM feature_requests AS member
         CROSS JOIN imported AS own ON own.workspace_id = workspace AND own.import_id = import
                AND own.kind = 'feature_requests' AND own.local_id = member.id
         WHERE member.workspace_id = workspace AND (member.id = page.root OR member.root_id = page.root) AND (
            member.updated_at > own.written_at
            OR EXISTS (SELECT 1 FROM votes WHERE votes.workspace_id = workspace AND votes.request_id = member.id
                          AND votes.import_id IS NOT import)
            OR EXISTS (SELECT 1 FROM followers WHERE followers.workspace_id = workspace
                          AND followers.request_id = member.id AND followers.import_id IS NOT import)
            OR EXISTS (SELECT 1 FROM comments WHERE comments.workspace_id = workspace
                          AND comments.request_id = member.id AND NOT EXISTS (
                  SELECT 1 FROM imported AS made WHERE made.workspace_id = workspace AND made.import_id = import
                     AND made.kind = 'comments' AND made.local_id = comments.id
                     AND made.written_at >= comments.updated_at))
            OR EXISTS (SELECT 1 FROM held_comments AS held WHERE held.workspace_id = workspace
                          AND held.request_id = member.id AND NOT EXISTS (
                  SELECT 1 FROM imported AS made WHERE made.workspace_id = workspace AND made.import_id = import
                     AND made.kind = 'comments' AND made.local_id = held.id))
            OR EXISTS (SELECT 1 FROM notes WHERE notes.workspace_id = workspace
                          AND notes.request_id = member.id AND NOT EXISTS (
                  SELECT 1 FROM imported AS made WHERE made.workspace_id = workspace AND made.import_id = import
                     AND made.kind = 'notes' AND made.local_id = notes.id))
            OR EXISTS (SELECT 1 FROM links WHERE links.workspace_id = workspace AND links.request_id = member.id)
            OR EXISTS (SELECT 1 FROM feature_request_events AS event WHERE event.workspace_id = workspace
                          AND event.request_id = member.id AND event.created_at > own.written_at)
            OR EXISTS (SELECT 1 FROM changelog_feature_requests AS link WHERE link.workspace_id = workspace
                          AND link.request_id = member.id)
            OR EXISTS (SELECT 1 FROM removed_comments AS removed WHERE removed.workspace_id = workspace
                          AND removed.request_id = member.id)
         )
     ) FROM page CROSS JOIN scope ORDER BY page.id"
}

statement! {
    /// Selects feature requests of others for which a run has voted, with their external ids in the run.
    VotedRequests { workspace: Id => Binary, import: Id => Binary, limit: i64 => BigInt } -> (Text, Text, Binary),
    "SELECT name, external_id, local_id FROM imported WHERE workspace_id = ? AND import_id = ? AND kind = 'votes'
     ORDER BY local_id LIMIT ?"
}

statement! {
    /// Deletes the votes of a run for a feature request.
    DeleteMadeVotes { workspace: Id => Binary, request: Id => Binary, import: Id => Binary }
    "DELETE FROM votes WHERE workspace_id = ? AND request_id = ? AND import_id = ?"
}

statement! {
    /// Deletes the subscriptions of a run for a feature request.
    DeleteMadeFollowers { workspace: Id => Binary, request: Id => Binary, import: Id => Binary }
    "DELETE FROM followers WHERE workspace_id = ? AND request_id = ? AND import_id = ?"
}

statement! {
    /// Forgets where a record came from.
    Forget { workspace: Id => Binary, name: String => Text, kind: String => Text, external_id: String => Text }
    "DELETE FROM imported WHERE workspace_id = ? AND name = ? AND kind = ? AND external_id = ?"
}

/// Declares the selection of the records of a table that a run has made for feature requests that it has not made.
macro_rules! made_for_others {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $table:literal) => {
        statement! {
            $(#[$doc])*
            $name { workspace: Id => Binary, import: Id => Binary, limit: i64 => BigInt } -> Binary,
            concat!(
                "SELECT record.id FROM imported AS made
                 CROSS JOIN ", $table, " AS record
                         ON record.workspace_id = made.workspace_id AND record.id = made.local_id
                 WHERE made.workspace_id = ? AND made.import_id = ? AND made.kind = '", $kind, "' AND NOT EXISTS (
                     SELECT 1 FROM imported AS own WHERE own.workspace_id = made.workspace_id
                        AND own.import_id = made.import_id AND own.kind = 'feature_requests'
                        AND own.local_id = record.request_id
                 ) LIMIT ?"
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
    /// Selects customers of a run, after one of them.
    MadeCustomers { workspace: Id => Binary, import: Id => Binary, after: Id => Binary, limit: i64 => BigInt } -> Binary,
    "SELECT id FROM customers WHERE workspace_id = ? AND import_id = ? AND id > ? ORDER BY id LIMIT ?"
}

statement! {
    /// Deletes a customer to whom nothing refers.
    DeleteUnusedCustomer { workspace: Id => Binary, customer: Id => Binary }
    "DELETE FROM customers WHERE workspace_id = ? AND id = ?
       AND NOT EXISTS (SELECT 1 FROM votes INDEXED BY votes_by_customer WHERE votes.workspace_id = customers.workspace_id
                          AND votes.customer_id = customers.id)
       AND NOT EXISTS (SELECT 1 FROM followers INDEXED BY followers_by_customer
                       WHERE followers.workspace_id = customers.workspace_id AND followers.customer_id = customers.id)
       AND NOT EXISTS (SELECT 1 FROM feature_requests WHERE feature_requests.workspace_id = customers.workspace_id
                          AND feature_requests.author_id = customers.id)
       AND NOT EXISTS (SELECT 1 FROM comments WHERE comments.workspace_id = customers.workspace_id
                          AND comments.customer_id = customers.id)
       AND NOT EXISTS (SELECT 1 FROM held_comments WHERE held_comments.workspace_id = customers.workspace_id
                          AND held_comments.customer_id = customers.id)
       AND NOT EXISTS (SELECT 1 FROM removed_comments WHERE removed_comments.workspace_id = customers.workspace_id
                          AND removed_comments.customer_id = customers.id)
       AND NOT EXISTS (SELECT 1 FROM removed_requests WHERE removed_requests.workspace_id = customers.workspace_id
                          AND removed_requests.customer_id = customers.id)
       AND NOT EXISTS (SELECT 1 FROM notes WHERE notes.workspace_id = customers.workspace_id
                          AND notes.customer_id = customers.id)
       AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.workspace_id = customers.workspace_id
                          AND outbox.customer_id = customers.id)
       AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.workspace_id = customers.workspace_id
                          AND sessions.email_folded = customers.email_folded)"
}

statement! {
    /// Deletes the removed members of a run to whom nothing refers.
    DeleteUnusedMembers { workspace: Id => Binary, import: Id => Binary }
    "WITH scope (workspace, import) AS (SELECT ?, ?)
     DELETE FROM members WHERE workspace_id = (SELECT workspace FROM scope) AND removed_at IS NOT NULL
       AND id IN (SELECT local_id FROM scope CROSS JOIN imported ON imported.workspace_id = workspace
                     AND imported.import_id = import AND kind = 'members')
       AND NOT EXISTS (SELECT 1 FROM comments WHERE comments.workspace_id = members.workspace_id
                          AND comments.author_id = members.id)
       AND NOT EXISTS (SELECT 1 FROM notes WHERE notes.workspace_id = members.workspace_id
                          AND notes.author_id = members.id)
       AND NOT EXISTS (SELECT 1 FROM feature_request_events AS event WHERE event.workspace_id = members.workspace_id
                          AND event.actor_id = members.id)"
}

statement! {
    /// Forgets where records came from that a run has made and that are gone.
    ForgetDeleted { workspace: Id => Binary, import: Id => Binary }
    "DELETE FROM imported WHERE workspace_id = ? AND import_id = ?
       AND NOT EXISTS (SELECT 1 FROM feature_requests AS record
                       WHERE record.workspace_id = imported.workspace_id AND record.id = local_id)
       AND NOT EXISTS (SELECT 1 FROM comments AS record
                       WHERE record.workspace_id = imported.workspace_id AND record.id = local_id)
       AND NOT EXISTS (SELECT 1 FROM held_comments AS record
                       WHERE record.workspace_id = imported.workspace_id AND record.id = local_id)
       AND NOT EXISTS (SELECT 1 FROM notes AS record
                       WHERE record.workspace_id = imported.workspace_id AND record.id = local_id)
       AND NOT EXISTS (SELECT 1 FROM members AS record
                       WHERE record.workspace_id = imported.workspace_id AND record.id = local_id)
       AND NOT EXISTS (SELECT 1 FROM tracks AS record
                       WHERE record.workspace_id = imported.workspace_id AND record.id = local_id)
       AND NOT EXISTS (SELECT 1 FROM lanes AS record
                       WHERE record.workspace_id = imported.workspace_id AND record.id = local_id)
       AND NOT EXISTS (SELECT 1 FROM changelogs AS record
                       WHERE record.workspace_id = imported.workspace_id AND record.id = local_id)
       AND NOT EXISTS (SELECT 1 FROM feature_request_events AS record
                       WHERE record.workspace_id = imported.workspace_id AND record.id = local_id)"
}

fn find_imported(
    connection: &mut SqliteConnection,
    workspace: Id,
    name: String,
    kind: Kind,
    ids: &[String],
) -> Result<Vec<Option<ImportedRecord>>, SqlError> {
    let external_ids = json_texts(ids.iter().map(String::as_str));
    let rows: Vec<(i64, ImportedRow)> = match kind {
        Kind::FeatureRequests => ImportedRequestOf { external_ids, workspace, name }.load(connection),
        Kind::Comments => ImportedCommentOf { external_ids, workspace, name }.load(connection),
        Kind::Changelogs => ImportedChangelogOf { external_ids, workspace, name }.load(connection),
        kind => ImportedOf { external_ids, workspace, name, kind: kind.name().to_owned() }.load(connection),
    }?;
    let records = rows.into_iter().map(|(place, row)| Ok((place, imported_record(row)?)));
    Ok(by_place(ids.len(), records.collect::<Result<_, StoreError>>()?))
}

fn delete_made_posts(
    connection: &mut SqliteConnection,
    workspace: Id,
    import: Id,
    limit: i64,
) -> Result<Option<MadePosts>, SqlError> {
    let mut deleted = MadePosts::default();
    let voted: Vec<(String, String, Id)> = VotedRequests { workspace, import, limit }.load(connection)?;
    let has_voted = !voted.is_empty();
    for (name, external_id, request) in voted {
        deleted.votes += DeleteMadeVotes { workspace, request, import }.execute(connection)? as u64;
        deleted.subscriptions += DeleteMadeFollowers { workspace, request, import }.execute(connection)? as u64;
        let root = root_of(connection, workspace, request)?.unwrap_or(request);
        recount(connection, workspace, root)?;
        Forget { workspace, name, kind: Kind::Votes.name().to_owned(), external_id }.execute(connection)?;
    }
    let comments_made: Vec<Id> = MadeComments { workspace, import, limit }.load(connection)?;
    for comment in &comments_made {
        delete_messages(connection, workspace, Topic::Comment(CommentId::new(comment.0)))?;
        diesel::delete(comments::table.find((workspace, *comment))).execute(connection)?;
    }
    let held: Vec<Id> = MadeHeldComments { workspace, import, limit }.load(connection)?;
    for comment in &held {
        diesel::delete(held_comments::table.find((workspace, *comment))).execute(connection)?;
    }
    deleted.comments = (comments_made.len() + held.len()) as u64;
    let notes_made: Vec<Id> = MadeNotes { workspace, import, limit }.load(connection)?;
    for note in &notes_made {
        diesel::delete(notes::table.find((workspace, *note))).execute(connection)?;
    }
    deleted.notes = notes_made.len() as u64;
    Ok((has_voted || deleted != MadePosts::default()).then_some(deleted))
}

fn delete_made_customers(
    connection: &mut SqliteConnection,
    select: MadeCustomers,
) -> Result<(u64, Option<CustomerId>), SqlError> {
    let workspace = select.workspace;
    let found: Vec<Id> = select.load(connection)?;
    let mut deleted = 0;
    for customer in &found {
        deleted += DeleteUnusedCustomer { workspace, customer: *customer }.execute(connection)? as u64;
    }
    Ok((deleted, found.last().map(|customer| CustomerId::new(customer.0))))
}

#[async_trait]
impl ImportRunWrites for SqliteUnit {
    async fn load_imports(&mut self) -> Result<Vec<Import>, StoreError> {
        let rows: Vec<ImportRow> =
            self.run(|connection, workspace| Ok(Imports { workspace }.load(connection)?)).await?;
        rows.into_iter().map(import).collect()
    }

    async fn save_import(&mut self, import: &Import) -> Result<(), StoreError> {
        let import = import.clone();
        self.run(move |connection, workspace| {
            let save = SaveImport {
                workspace,
                id: Id(import.id.uuid()),
                source: import.source,
                name: import.name.as_str().to_owned(),
                state: import.state.name().to_owned(),
                job: import.job.map(ImportJob::name),
                upload: import.upload.map(|upload| upload.to_stored()),
                input: import.input,
                progress: import.progress.to_stored(),
                report: import.report,
                holder: Id(import.holder),
                began_at: import.began_at.millis(),
                seen_at: import.seen_at.millis(),
                ended_at: import.ended_at.map(Timestamp::millis),
            };
            save.execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn advance_import(
        &mut self,
        import: ImportId,
        holder: Uuid,
        progress: &Progress,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let progress = progress.to_stored();
        self.run(move |connection, workspace| {
            let (id, holder, seen_at) = (Id(import.uuid()), Id(holder), at.millis());
            Ok(AdvanceImport { progress, seen_at, workspace, id, holder }.execute(connection)? == 1)
        })
        .await
    }

    async fn hold_import(&mut self, import: ImportId, holder: Uuid, at: Timestamp) -> Result<bool, StoreError> {
        self.run(move |connection, workspace| {
            let (id, holder, seen_at) = (Id(import.uuid()), Id(holder), at.millis());
            Ok(HoldImport { seen_at, workspace, id, holder }.execute(connection)? == 1)
        })
        .await
    }

    async fn find_imported(
        &mut self,
        name: &SourceName,
        kind: Kind,
        external_ids: &[String],
    ) -> Result<Vec<Option<ImportedRecord>>, StoreError> {
        let (name, external_ids) = (name.as_str().to_owned(), external_ids.to_vec());
        self.run(move |connection, workspace| find_imported(connection, workspace, name, kind, &external_ids)).await
    }

    async fn remember_imported(
        &mut self,
        import: ImportId,
        name: &SourceName,
        kind: Kind,
        records: &[ImportedFrom],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let (name, records) = (name.as_str().to_owned(), records.to_vec());
        self.run(move |connection, workspace| {
            for ImportedFrom { external_id, id, digest } in records {
                let remember = Remember {
                    workspace,
                    name: name.clone(),
                    kind: kind.name().to_owned(),
                    external_id,
                    local_id: Id(id),
                    digest,
                    at: at.millis(),
                    import: Id(import.uuid()),
                };
                remember.execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn count_imported(&mut self, import: ImportId, kind: Kind) -> Result<u64, StoreError> {
        self.run(move |connection, workspace| {
            let count = CountImported { workspace, import: Id(import.uuid()), kind: kind.name().to_owned() };
            let count: i64 = count.get_result(connection)?;
            Ok(count.unsigned_abs())
        })
        .await
    }

    async fn made_requests(
        &mut self,
        import: ImportId,
        merged: bool,
        after: Option<FeatureRequestId>,
        limit: u32,
    ) -> Result<Vec<MadeRequest>, StoreError> {
        self.run(move |connection, workspace| {
            let after = Id(after.map_or(Uuid::nil(), FeatureRequestId::uuid));
            let select = MadeRequests { workspace, import: Id(import.uuid()), after, merged, limit: limit.into() };
            let rows: Vec<MadeRow> = select.load(connection)?;
            Ok(rows.into_iter().map(made_request).collect())
        })
        .await
    }

    async fn made_records(&mut self, import: ImportId, kind: Kind) -> Result<Vec<Uuid>, StoreError> {
        self.run(move |connection, workspace| {
            let made = Made { workspace, import: Id(import.uuid()), kind: kind.name().to_owned() };
            let made: Vec<Id> = made.load(connection)?;
            Ok(made.into_iter().map(|id| id.0).collect())
        })
        .await
    }

    async fn made_changelogs(
        &mut self,
        import: ImportId,
        after: Option<ChangelogId>,
        limit: u32,
    ) -> Result<Vec<MadeChangelog>, StoreError> {
        self.run(move |connection, workspace| {
            let after = Id(after.map_or(Uuid::nil(), ChangelogId::uuid));
            let select = MadeChangelogs { workspace, import: Id(import.uuid()), after, limit: limit.into() };
            let rows: Vec<MadeChangelogRow> = select.load(connection)?;
            Ok(rows.into_iter().map(made_changelog).collect())
        })
        .await
    }

    async fn delete_made_posts(&mut self, import: ImportId, limit: u32) -> Result<Option<MadePosts>, StoreError> {
        self.run(move |connection, workspace| delete_made_posts(connection, workspace, Id(import.uuid()), limit.into()))
            .await
    }

    async fn delete_made_customers(
        &mut self,
        import: ImportId,
        after: Option<CustomerId>,
        limit: u32,
    ) -> Result<(u64, Option<CustomerId>), StoreError> {
        self.run(move |connection, workspace| {
            let after = Id(after.map_or(Uuid::nil(), CustomerId::uuid));
            let select = MadeCustomers { workspace, import: Id(import.uuid()), after, limit: limit.into() };
            delete_made_customers(connection, select)
        })
        .await
    }

    async fn delete_made_members(&mut self, import: ImportId) -> Result<u64, StoreError> {
        self.run(move |connection, workspace| {
            Ok(DeleteUnusedMembers { workspace, import: Id(import.uuid()) }.execute(connection)? as u64)
        })
        .await
    }

    async fn forget_deleted(&mut self, import: ImportId) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            ForgetDeleted { workspace, import: Id(import.uuid()) }.execute(connection)?;
            Ok(())
        })
        .await
    }
}
