//! The inbox: its counters, its lists, and previews of merges.

mod lists;
pub(crate) mod ordered;
pub(crate) mod rows;
pub(crate) mod selections;

use async_trait::async_trait;
use diesel::prelude::RunQueryDsl;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{InboxCounts, InboxFilter, InboxList, InboxRow, MergePreview};
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::ports::InboxReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{InboxCountsRow, InboxListRow, MergePreviewRow, inbox_counts, merge_preview};

use crate::SqliteStore;
use crate::reads::listing::{Page, listing};
use crate::reads::portal_lists::rows::json_requests;
use crate::statement::statement;
use lists::MAX_LISTED;
use ordered::{awaiting_count, merged_count};
use rows::{InboxSql, Rows, Scope, inbox_joins, inbox_sql};

statement! {
    /// Selects the tracks in order with their numbers of feature requests: all, unanswered, with a new reply, private; and those of the
    /// workspace that await approval, of comments that do, and of merged feature requests, each up to a limit.
    Counts { workspace: Id => Binary, limit: i64 => BigInt } -> (
        (Binary, Text, Nullable<(Binary, Text, Text, Text)>), BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt,
    ),
    concat!(
        "WITH scope (workspace, row_limit) AS (SELECT ?, ?),
         counted (awaiting, held, merged) AS MATERIALIZED (
             SELECT ", awaiting_count!(), ", (
                 SELECT count(*) FROM (
                     SELECT 1 FROM held_comments INDEXED BY held_comments_by_age
                     WHERE workspace_id = (SELECT workspace FROM scope) LIMIT (SELECT row_limit FROM scope)
                 )
             ), ", merged_count!(), "
         )
         SELECT tracks.id, tracks.name, lanes.id, lanes.name, lanes.kind, lanes.names,
                coalesce(tally.all_count, 0),
                coalesce(tally.unanswered_count, 0), coalesce(tally.replied_count, 0),
                coalesce(tally.all_count - tally.public_count, 0),
                counted.awaiting, counted.held, counted.merged
         FROM scope CROSS JOIN counted
         CROSS JOIN tracks ON tracks.workspace_id = scope.workspace
         LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = tracks.lane_id
         LEFT JOIN track_tallies tally ON tally.workspace_id = tracks.workspace_id AND tally.track_id = tracks.id
         ORDER BY tracks.position"
    )
}

statement! {
    /// Selects two feature requests, the first one itself and of the second one the root, and counts the different
    /// voters of both and of what is merged into them, and their nameless votes. The flag marks the first one.
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
         ) + (
             SELECT sum(tally.nameless_votes) FROM scope CROSS JOIN below
             CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace AND tally.request_id = below.id
         ) FROM named
         CROSS JOIN feature_requests ON feature_requests.row_number = named.number ", inbox_joins!()
    )
}

statement! {
    /// Selects the feature request with a tag number, which the flag marks, and the titles of the newest private ones.
    Unindexed { workspace: Id => Binary, number: Option<i64> => Nullable<BigInt>, scan_limit: i64 => BigInt }
        -> (Bool, Binary, Text),
    "WITH scope (workspace, number, scan_limit) AS (SELECT ?, ?, ?)
     SELECT 1, request.id, request.title FROM scope
     CROSS JOIN feature_requests request ON request.workspace_id = scope.workspace
            AND request.tag_number = scope.number
     UNION ALL
     SELECT * FROM (
         SELECT 0, id, title FROM feature_requests INDEXED BY feature_requests_private
         WHERE private AND root_id IS NULL AND workspace_id = (SELECT workspace FROM scope)
         ORDER BY tag_number DESC LIMIT (SELECT scan_limit FROM scope)
     )"
}

#[async_trait]
impl InboxReader for SqliteStore {
    async fn inbox_counts(&self, workspace: WorkspaceId) -> Result<InboxCounts, StoreError> {
        let counts = Counts { workspace: Id(workspace.uuid()), limit: MAX_LISTED };
        let rows: Vec<InboxCountsRow> = self.readers.run(move |connection| Ok(counts.load(connection)?)).await?;
        Ok(inbox_counts(rows))
    }

    async fn inbox(&self, workspace: WorkspaceId, list: &InboxList) -> Result<Listing<InboxRow>, StoreError> {
        let workspace = Id(workspace.uuid());
        let scope = Scope::new(workspace, &list.filter);
        let (sort, page) = (list.sort, list.page);
        let rows: Page<InboxListRow> = self
            .readers
            .run_in_snapshot(move |connection| {
                let total = scope.count(connection)?;
                let offset = page.offset().filter(|_| page.page() <= InboxList::MAX_PAGE);
                let Some(offset) = offset.filter(|offset| *offset < total) else { return Ok((Vec::new(), total)) };
                let plan = scope.plan(sort, total);
                Ok((scope.page(connection, plan, sort, (page.limit(), offset))?, total))
            })
            .await?;
        listing(rows, page, InboxRow::try_from)
    }

    async fn inbox_rows(
        &self,
        workspace: WorkspaceId,
        filter: &InboxFilter,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<InboxRow>, StoreError> {
        let workspace = Id(workspace.uuid());
        let Scope { workspace, tracks, tag, member, state } = Scope::new(workspace, filter);
        let requests = json_requests(requests);
        let rows = Rows { workspace, tracks, tag, member, state: state.name(), requests };
        let rows: Vec<InboxListRow> = self.readers.run(move |connection| Ok(rows.load(connection)?)).await?;
        rows.into_iter().map(InboxRow::try_from).collect()
    }

    async fn find_unindexed(
        &self,
        workspace: WorkspaceId,
        number: Option<i64>,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let workspace = Id(workspace.uuid());
        let find = Unindexed { workspace, number, scan_limit: i64::from(InboxList::READ_LIMIT) };
        let rows: Vec<(bool, Id, String)> = self.readers.run(move |connection| Ok(find.load(connection)?)).await?;
        let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let mut requests: Vec<FeatureRequestId> = Vec::new();
        for (is_numbered, id, title) in rows {
            let id = FeatureRequestId::new(id.0);
            // SQLite folds the case of ASCII letters only.
            let title = Title::from_stored(title).as_str().to_lowercase();
            let is_found = is_numbered || words.iter().all(|word| title.contains(word));
            if is_found && !requests.contains(&id) {
                requests.push(id);
            }
        }
        requests.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(requests)
    }

    async fn merge_preview(
        &self,
        workspace: WorkspaceId,
        source: FeatureRequestId,
        target: FeatureRequestId,
    ) -> Result<Option<MergePreview>, StoreError> {
        let (workspace, source, target) = (Id(workspace.uuid()), Id(source.uuid()), Id(target.uuid()));
        let preview = Preview { workspace, source, target };
        let rows: Vec<MergePreviewRow> = self.readers.run(move |connection| Ok(preview.load(connection)?)).await?;
        merge_preview(rows)
    }
}
