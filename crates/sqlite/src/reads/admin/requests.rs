//! What only the team sees of feature requests: notes, voters, subscribers, merges, and private ones that a search finds.

use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use diesel::{Queryable, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{InboxList, InboxRow, MergePreview, TeamPage};
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::id::{CommentId, FeatureRequestId};
use roadmap_domain::model::note::Note;
use roadmap_domain::model::vote::Voter;

use super::rows::{InboxColumns, InboxSql, inbox_joins, inbox_sql};
use crate::SqliteStore;
use crate::codec::{Id, json_ids};
use crate::reads::comments::{NoteRow, NoteSql, note_columns, note_people};
use crate::reads::portal::rows::json_requests;
use crate::reads::votes::voter;
use crate::records::{CustomerNameRow, customer_name};
use crate::statement::statement;

/// SQL for the feature requests of the tree of a root, from a common table expression `scope (workspace, root)`.
macro_rules! tree_of_root {
    () => {
        "tree (id) AS (
             SELECT root FROM scope
             UNION ALL
             SELECT merged.id FROM scope
             CROSS JOIN feature_requests merged ON merged.workspace_id = scope.workspace AND merged.root_id = scope.root
         )"
    };
}

/// SQL for the number of customers who get mail about the feature requests of a common table expression `tree (id)`.
macro_rules! subscribers_count {
    () => {
        "(SELECT count(*) FROM (
              SELECT votes.customer_id FROM scope CROSS JOIN tree
              CROSS JOIN votes ON votes.workspace_id = scope.workspace AND votes.request_id = tree.id
              CROSS JOIN customers ON customers.workspace_id = votes.workspace_id AND customers.id = votes.customer_id
              WHERE votes.subscribed AND customers.mail_stopped_at IS NULL
              UNION
              SELECT followers.customer_id FROM scope CROSS JOIN tree
              CROSS JOIN followers ON followers.workspace_id = scope.workspace AND followers.request_id = tree.id
              CROSS JOIN customers ON customers.workspace_id = followers.workspace_id
                     AND customers.id = followers.customer_id
              WHERE customers.mail_stopped_at IS NULL
          ))"
    };
}

statement! {
    /// Selects the customers who wrote the comments of a JSON array, or described the feature requests of it.
    CommentCustomers { workspace: Id => Binary, comments: String => Text } -> (Binary, (Binary, Nullable<Text>, Text)),
    "WITH scope (workspace) AS (SELECT ?),
     listed (workspace, id) AS MATERIALIZED (SELECT workspace, unhex(value) FROM scope CROSS JOIN json_each(?)),
     written (workspace, id, customer) AS (
         SELECT listed.workspace, listed.id, comments.customer_id FROM listed
         CROSS JOIN comments ON comments.workspace_id = listed.workspace AND comments.id = listed.id
         UNION ALL
         SELECT listed.workspace, listed.id, request.author_id FROM listed
         CROSS JOIN feature_requests request ON request.workspace_id = listed.workspace AND request.id = listed.id
     )
     SELECT written.id, customers.id, customers.name, customers.email FROM written
     CROSS JOIN customers ON customers.workspace_id = written.workspace AND customers.id = written.customer"
}

statement! {
    /// Selects the latest notes of a tree, each with the number of all.
    LatestNotes { workspace: Id => Binary, root: Id => Binary, limit: i64 => BigInt } -> (NoteSql, BigInt),
    concat!(
        "WITH scope (workspace, root) AS (SELECT ?, ?), ", tree_of_root!(), ",
         page (number) AS MATERIALIZED (
             SELECT notes.rowid FROM scope CROSS JOIN tree
             CROSS JOIN notes ON notes.workspace_id = scope.workspace AND notes.request_id = tree.id
             ORDER BY notes.created_at DESC, notes.id DESC LIMIT ?
         )
         SELECT ", note_columns!(), ", (
             SELECT count(*) FROM scope CROSS JOIN tree
             CROSS JOIN notes counted ON counted.workspace_id = scope.workspace AND counted.request_id = tree.id
         ) FROM page CROSS JOIN notes ON notes.rowid = page.number ", note_people!(), "
         ORDER BY notes.created_at DESC, notes.id DESC"
    )
}

statement! {
    /// Counts the subscribers of a tree, and selects its latest voters, each once, by the time of the first vote. The
    /// votes of a tree of one are read from the index.
    SubscribersAndVoters { workspace: Id => Binary, root: Id => Binary, limit: i64 => BigInt }
        -> (BigInt, Nullable<(Binary, Nullable<Text>, Text, BigInt)>),
    concat!(
        "WITH scope (workspace, root, most) AS (SELECT ?, ?, ?), ", tree_of_root!(), ",
         subscribers (count) AS MATERIALIZED (SELECT ", subscribers_count!(), "),
         voters (workspace, customer, voted_at) AS MATERIALIZED (
             SELECT * FROM (
                 SELECT workspace_id, customer_id, created_at FROM votes INDEXED BY votes_by_age
                 WHERE workspace_id = (SELECT workspace FROM scope) AND request_id = (SELECT root FROM scope)
                   AND (SELECT count(*) FROM tree) = 1
                 ORDER BY created_at DESC, customer_id DESC LIMIT (SELECT most FROM scope)
             )
             UNION ALL
             SELECT * FROM (
                 SELECT votes.workspace_id, votes.customer_id, min(votes.created_at) AS voted_at
                 FROM scope CROSS JOIN tree
                 CROSS JOIN votes ON votes.workspace_id = scope.workspace AND votes.request_id = tree.id
                 WHERE (SELECT count(*) FROM tree) > 1
                 GROUP BY votes.customer_id ORDER BY voted_at DESC, votes.customer_id DESC
                 LIMIT (SELECT most FROM scope)
             )
         )
         SELECT subscribers.count, customers.id, customers.name, customers.email, voters.voted_at FROM subscribers
         LEFT JOIN voters ON true
         LEFT JOIN customers ON customers.workspace_id = voters.workspace AND customers.id = voters.customer
         ORDER BY voters.voted_at DESC, voters.customer DESC"
    )
}

/// A row of [`SubscribersAndVoters`]: the number of subscribers and a voter.
type VoterRow = (i64, Option<(Id, Option<String>, String, i64)>);

statement! {
    /// Counts the customers who get mail about the feature requests of a JSON array and what is merged with them.
    CountSubscribers { workspace: Id => Binary, requests: String => Text } -> BigInt,
    concat!(
        "WITH scope (workspace) AS (SELECT ?),
         roots (id) AS (
             SELECT DISTINCT coalesce(tally.root_id, tally.request_id) FROM scope CROSS JOIN json_each(?) AS request
             CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace
                    AND tally.request_id = unhex(request.value)
         ),
         tree (id) AS MATERIALIZED (
             SELECT id FROM roots
             UNION ALL
             SELECT merged.id FROM scope CROSS JOIN roots
             CROSS JOIN feature_requests merged ON merged.workspace_id = scope.workspace AND merged.root_id = roots.id
         )
         SELECT ", subscribers_count!()
    )
}

statement! {
    /// Selects two feature requests, the first one itself and of the second one the root, and counts the different
    /// voters of both and of what is merged into them. The flag marks the first one.
    Preview { workspace: Id => Binary, source: Id => Binary, target: Id => Binary } -> (InboxSql, Bool, BigInt),
    concat!(
        "WITH scope (workspace, source, target) AS (SELECT ?, ?, ?),
         named (number, request, is_source) AS MATERIALIZED (
             SELECT tally.row_number, tally.request_id, 1 FROM scope
             CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace AND tally.request_id = scope.source
             UNION ALL
             SELECT root.row_number, root.request_id, 0 FROM scope
             CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace AND tally.request_id = scope.target
             CROSS JOIN vote_tallies root ON root.workspace_id = tally.workspace_id
                    AND root.request_id = coalesce(tally.root_id, tally.request_id)
         ),
         below (id) AS (
             SELECT request FROM named
             UNION
             SELECT merged.id FROM scope CROSS JOIN below
             CROSS JOIN feature_requests merged ON merged.workspace_id = scope.workspace
                    AND merged.merged_into_id = below.id
         )
         SELECT ", inbox_sql!(), ", named.is_source, (
             SELECT count(DISTINCT votes.customer_id) FROM scope CROSS JOIN below
             CROSS JOIN votes ON votes.workspace_id = scope.workspace AND votes.request_id = below.id
         ) FROM named
         CROSS JOIN feature_requests ON feature_requests.row_number = named.number ", inbox_joins!()
    )
}

/// A row of [`Preview`].
#[derive(Debug, Queryable)]
struct PreviewRow {
    request: InboxColumns,
    is_source: bool,
    votes_count: i64,
}

statement! {
    /// Selects the feature request with a tag number, which the flag marks, and the titles of the newest private ones.
    Unindexed { workspace: Id => Binary, number: Option<i64> => Nullable<BigInt>, most: i64 => BigInt }
        -> (Bool, Binary, Text),
    "WITH scope (workspace, number, most) AS (SELECT ?, ?, ?)
     SELECT 1, request.id, request.title FROM scope
     CROSS JOIN feature_requests request ON request.workspace_id = scope.workspace
            AND request.tag_number = scope.number
     UNION ALL
     SELECT * FROM (
         SELECT 0, id, title FROM feature_requests INDEXED BY feature_requests_private
         WHERE private AND root_id IS NULL AND workspace_id = (SELECT workspace FROM scope)
         ORDER BY tag_number DESC LIMIT (SELECT most FROM scope)
     )"
}

impl SqliteStore {
    /// Returns the feature request with a tag number, and then the private ones whose titles contain all words, newest
    /// first.
    pub(super) async fn list_unindexed(
        &self,
        workspace: Id,
        number: Option<i64>,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let find = Unindexed { workspace, number, most: i64::from(InboxList::READ_LIMIT) };
        let rows: Vec<(bool, Id, String)> = self.readers.run(move |connection| Ok(find.load(connection)?)).await?;
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let mut found: Vec<FeatureRequestId> = Vec::new();
        for (is_numbered, id, title) in rows {
            let id = FeatureRequestId::new(id.0);
            // SQLite folds the case of ASCII letters only.
            let title = Title::from_stored(title).as_str().to_lowercase();
            let is_found = is_numbered || words.iter().all(|word| title.contains(word));
            if is_found && !found.contains(&id) {
                found.push(id);
            }
        }
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }

    /// Returns what only the team sees of a feature request.
    pub(super) async fn find_team_page(&self, workspace: Id, root: Id) -> Result<TeamPage, StoreError> {
        let notes = LatestNotes { workspace, root, limit: i64::from(TeamPage::MAX_NOTES) };
        let voters = SubscribersAndVoters { workspace, root, limit: i64::from(TeamPage::MAX_VOTERS) };
        let (notes, voters): (Vec<(NoteRow, i64)>, Vec<VoterRow>) = self
            .readers
            .run_in_snapshot(move |connection| Ok((notes.load(connection)?, voters.load(connection)?)))
            .await?;
        let notes_count = notes.first().map_or(0, |(_, count)| *count);
        let subscribers = voters.first().map_or(0, |(count, _)| *count);
        Ok(TeamPage {
            notes: notes.into_iter().map(|(row, _)| Note::try_from(row)).collect::<Result<_, _>>()?,
            notes_count,
            voters: voters.into_iter().filter_map(|(_, row)| row).map(voter).collect::<Result<Vec<Voter>, _>>()?,
            subscribers,
        })
    }

    /// Returns the customers who wrote comments.
    pub(super) async fn list_comment_customers(
        &self,
        workspace: Id,
        comments: &[CommentId],
    ) -> Result<Vec<(CommentId, CustomerName)>, StoreError> {
        let ids: Vec<Id> = comments.iter().map(|comment| Id(comment.uuid())).collect();
        let list = CommentCustomers { workspace, comments: json_ids(&ids) };
        let rows: Vec<(Id, CustomerNameRow)> = self.readers.run(move |connection| Ok(list.load(connection)?)).await?;
        Ok(rows.into_iter().map(|(comment, row)| (CommentId::new(comment.0), customer_name(row))).collect())
    }

    /// Returns what a merge would do.
    pub(super) async fn find_merge_preview(
        &self,
        workspace: Id,
        source: Id,
        target: Id,
    ) -> Result<Option<MergePreview>, StoreError> {
        let preview = Preview { workspace, source, target };
        let rows: Vec<PreviewRow> = self.readers.run(move |connection| Ok(preview.load(connection)?)).await?;
        let (mut source, mut target, mut votes) = (None, None, 0);
        for PreviewRow { request, is_source, votes_count } in rows {
            let row = Some(InboxRow::try_from(request)?);
            if is_source {
                source = row
            } else {
                target = row
            }
            votes = votes_count;
        }
        Ok(source.zip(target).map(|(source, target)| MergePreview { source, target, votes_count: votes }))
    }

    /// Counts the customers who get mail about feature requests.
    pub(super) async fn count_subscribers_of(
        &self,
        workspace: Id,
        requests: &[FeatureRequestId],
    ) -> Result<i64, StoreError> {
        let count = CountSubscribers { workspace, requests: json_requests(requests) };
        self.readers.run(move |connection| Ok(count.get_result(connection)?)).await
    }
}
