//! Ports of the admin panel: what its pages read, and the count of searches that found nothing.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::admin::{
    CustomerRecords, InboxCounts, InboxFilter, InboxList, InboxRow, MergePreview, MissedSearch, MissedWords, Overview,
    OverviewTimes, TeamPage,
};
use crate::model::customer::CustomerName;
use crate::model::id::{ChangelogId, CommentId, CustomerId, FeatureRequestId, WorkspaceId};
use crate::model::pagination::{Listing, PageRequest};
use crate::model::removal::CustomerTexts;
use crate::model::timestamp::Timestamp;
use crate::policy::mail_requests::CounterKey;

/// Reads of the pages of the admin panel, which show private records, too.
///
/// Contract: a method needs a fixed number of statements, whatever its number of rows, and names the most that it may
/// execute.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait AdminReader: Send + Sync {
    /// Returns the numbers of feature requests by track and state, from counters. One statement.
    async fn inbox_counts(&self, workspace: WorkspaceId) -> Result<InboxCounts, StoreError>;

    /// Returns a page of the inbox. Merged feature requests are listed with their state only, see
    /// [`InboxState`](crate::model::admin::InboxState). The total of a list with a tag or a member counts at most
    /// [`InboxList::READ_LIMIT`]. Two statements.
    async fn inbox(&self, workspace: WorkspaceId, list: &InboxList) -> Result<Listing<InboxRow>, StoreError>;

    /// Returns those of these feature requests that match a filter, in the given order. One statement.
    async fn inbox_rows(
        &self,
        workspace: WorkspaceId,
        filter: &InboxFilter,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<InboxRow>, StoreError>;

    /// Returns the feature request with this tag number, merged ones included, and the private ones that are not merged
    /// and whose title contains all of these words, regardless of case, newest first; at most `limit` of them. The newest
    /// [`InboxList::READ_LIMIT`] private feature requests are looked at. One statement.
    async fn find_unindexed(
        &self,
        workspace: WorkspaceId,
        number: Option<i64>,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<FeatureRequestId>, StoreError>;

    /// Returns what only the team sees of a feature request that is not merged. Two statements.
    async fn team_page(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<TeamPage, StoreError>;

    /// Returns the customers who wrote these comments, in any order. Comments of the team are left out. The description
    /// of a merged feature request, which is listed as a comment with the ID of that feature request, is one of them. One
    /// statement.
    async fn comment_customers(
        &self,
        workspace: WorkspaceId,
        comments: &[CommentId],
    ) -> Result<Vec<(CommentId, CustomerName)>, StoreError>;

    /// Returns what a merge would do. `None` if one of them does not exist. One statement.
    async fn merge_preview(
        &self,
        workspace: WorkspaceId,
        source: FeatureRequestId,
        target: FeatureRequestId,
    ) -> Result<Option<MergePreview>, StoreError>;

    /// Returns the number of different people who would get mail about these feature requests and what is merged with
    /// them. One statement.
    async fn count_subscribers(&self, workspace: WorkspaceId, requests: &[FeatureRequestId])
    -> Result<i64, StoreError>;

    /// Whether the voters of a changelog were mailed, which happens once. False for an unknown changelog.
    async fn is_changelog_notified(&self, workspace: WorkspaceId, changelog: ChangelogId) -> Result<bool, StoreError>;

    /// Returns the records of a customer, private feature requests included. Five statements.
    async fn customer_records(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
    ) -> Result<CustomerRecords, StoreError>;

    /// Returns when the newest mail of the workspace that this counter has counted was asked for. One statement.
    async fn last_counted_mail(
        &self,
        workspace: WorkspaceId,
        counter: CounterKey,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Returns a page of the texts of a customer, also of those that wait for approval or were removed, newest first, with
    /// their numbers. Two statements.
    async fn customer_texts(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        page: PageRequest,
    ) -> Result<CustomerTexts, StoreError>;

    /// Returns the overview of a workspace. It reads all votes of the workspace, so that callers keep the result for a
    /// while. Five statements.
    async fn overview(&self, workspace: WorkspaceId, times: &OverviewTimes) -> Result<Overview, StoreError>;
}

/// Counts searches that found nothing. An entry is a text and a number: who searched is stored nowhere.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait MissedSearchStore: Send + Sync {
    /// Adds to the counts of the UTC day of `at`. New texts are left out once the workspace has `limit` of them on that
    /// day.
    async fn add_missed_searches(
        &self,
        workspace: WorkspaceId,
        at: Timestamp,
        searches: &[MissedSearch],
        limit: u32,
    ) -> Result<(), StoreError>;

    /// Deletes up to `limit` counts of all workspaces of days before that of `before`. Returns their number.
    async fn purge_missed_searches(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Notes searches that found nothing. It keeps them in memory, so that a search does not wait.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait MissedSearchLog: Send + Sync {
    /// Notes a search.
    fn record(&self, workspace: WorkspaceId, words: MissedWords);
}
