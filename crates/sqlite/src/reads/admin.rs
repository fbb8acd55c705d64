//! Reads of the admin panel. The files in the folder of this module have the statements of each kind of record.

mod chosen;
mod customers;
mod lists;
mod ordered;
mod overview;
#[cfg(test)]
mod plans;
mod requests;
mod rows;
mod texts;

use async_trait::async_trait;
use diesel::dsl::max;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::{Queryable, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{
    CustomerRecords, InboxCounts, InboxFilter, InboxList, InboxRow, MergePreview, Overview, OverviewTimes, TeamPage,
    TrackCounts,
};
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::id::{ChangelogId, CommentId, CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::removal::CustomerTexts;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_requests::CounterKey;
use roadmap_domain::ports::AdminReader;

use crate::SqliteStore;
use crate::codec::{Id, optional_timestamp};
use crate::rows::TrackRow;
use crate::schema::counted_mails;
use crate::statement::statement;
use lists::MOST_LISTED;
use ordered::{awaiting_count, merged_count};

statement! {
    /// Selects the tracks in order with their numbers of feature requests: all, unanswered, private; and those of the
    /// workspace that await approval, of comments that do, and of merged feature requests, each up to a limit.
    Counts { workspace: Id => Binary, most: i64 => BigInt } -> (
        (Binary, Text, Nullable<Binary>, Nullable<Text>), (BigInt, BigInt, BigInt), (BigInt, BigInt, BigInt),
    ),
    concat!(
        "WITH scope (workspace, most) AS (SELECT ?, ?),
         counted (awaiting, held, merged) AS MATERIALIZED (
             SELECT ", awaiting_count!(), ", (
                 SELECT count(*) FROM (
                     SELECT 1 FROM held_comments INDEXED BY held_comments_by_age
                     WHERE workspace_id = (SELECT workspace FROM scope) LIMIT (SELECT most FROM scope)
                 )
             ), ", merged_count!(), "
         )
         SELECT tracks.id, tracks.name, lanes.id, lanes.name, coalesce(tally.all_count, 0),
                coalesce(tally.unanswered_count, 0), coalesce(tally.all_count - tally.public_count, 0),
                counted.awaiting, counted.held, counted.merged
         FROM scope CROSS JOIN counted
         CROSS JOIN tracks ON tracks.workspace_id = scope.workspace
         LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = tracks.lane_id
         LEFT JOIN track_tallies tally ON tally.workspace_id = tracks.workspace_id AND tally.track_id = tracks.id
         ORDER BY tracks.position"
    )
}

/// A row of [`Counts`].
#[derive(Debug, Queryable)]
struct CountsRow {
    track: TrackRow,
    /// All, unanswered, private.
    of_track: (i64, i64, i64),
    /// Awaiting approval, comments awaiting approval, merged.
    of_workspace: (i64, i64, i64),
}

#[async_trait]
impl AdminReader for SqliteStore {
    async fn inbox_counts(&self, workspace: WorkspaceId) -> Result<InboxCounts, StoreError> {
        let counts = Counts { workspace: Id(workspace.uuid()), most: MOST_LISTED };
        let rows: Vec<CountsRow> = self.readers.run(move |connection| Ok(counts.load(connection)?)).await?;
        let mut counts = InboxCounts::default();
        for CountsRow { track, of_track: (all, unanswered, private), of_workspace } in rows {
            (counts.awaiting, counts.held_comments, counts.merged) = of_workspace;
            counts.tracks.push(TrackCounts { track: track.into(), all, unanswered, private });
        }
        Ok(counts)
    }

    async fn inbox(&self, workspace: WorkspaceId, list: &InboxList) -> Result<Listing<InboxRow>, StoreError> {
        self.list_inbox(Id(workspace.uuid()), list).await
    }

    async fn inbox_rows(
        &self,
        workspace: WorkspaceId,
        filter: &InboxFilter,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<InboxRow>, StoreError> {
        self.list_inbox_rows(Id(workspace.uuid()), filter, requests).await
    }

    async fn find_unindexed(
        &self,
        workspace: WorkspaceId,
        number: Option<i64>,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        self.list_unindexed(Id(workspace.uuid()), number, words, limit).await
    }

    async fn team_page(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<TeamPage, StoreError> {
        self.find_team_page(Id(workspace.uuid()), Id(request.uuid())).await
    }

    async fn comment_customers(
        &self,
        workspace: WorkspaceId,
        comments: &[CommentId],
    ) -> Result<Vec<(CommentId, CustomerName)>, StoreError> {
        self.list_comment_customers(Id(workspace.uuid()), comments).await
    }

    async fn merge_preview(
        &self,
        workspace: WorkspaceId,
        source: FeatureRequestId,
        target: FeatureRequestId,
    ) -> Result<Option<MergePreview>, StoreError> {
        self.find_merge_preview(Id(workspace.uuid()), Id(source.uuid()), Id(target.uuid())).await
    }

    async fn count_subscribers(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<i64, StoreError> {
        self.count_subscribers_of(Id(workspace.uuid()), requests).await
    }

    async fn is_changelog_notified(&self, workspace: WorkspaceId, changelog: ChangelogId) -> Result<bool, StoreError> {
        self.is_notified(Id(workspace.uuid()), Id(changelog.uuid())).await
    }

    async fn customer_records(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
    ) -> Result<CustomerRecords, StoreError> {
        self.list_customer_records(Id(workspace.uuid()), Id(customer.uuid())).await
    }

    async fn last_counted_mail(
        &self,
        workspace: WorkspaceId,
        counter: CounterKey,
    ) -> Result<Option<Timestamp>, StoreError> {
        let workspace = Id(workspace.uuid());
        let last: Option<i64> = self
            .readers
            .run(move |connection| {
                Ok(counted_mails::table
                    .filter(counted_mails::workspace_id.eq(workspace))
                    .filter(counted_mails::counter.eq(counter.0.to_vec()))
                    .select(max(counted_mails::asked_at))
                    .first(connection)?)
            })
            .await?;
        optional_timestamp(last, "counted_mails", "asked_at", workspace)
    }

    async fn customer_texts(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        page: PageRequest,
    ) -> Result<CustomerTexts, StoreError> {
        self.list_customer_texts(Id(workspace.uuid()), Id(customer.uuid()), page).await
    }

    async fn overview(&self, workspace: WorkspaceId, times: &OverviewTimes) -> Result<Overview, StoreError> {
        self.find_overview(Id(workspace.uuid()), times).await
    }
}
