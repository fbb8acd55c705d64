//! What the pages of the admin panel show.

mod customers;
mod inbox;
mod overview;
mod rows;
mod selections;
mod team;
mod texts;

use async_trait::async_trait;
use diesel::dsl::max;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{
    CustomerRecords, InboxCounts, InboxFilter, InboxList, InboxRow, MergePreview, Overview, OverviewTimes, TeamPage,
};
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::id::{ChangelogId, CommentId, CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::removal::CustomerTexts;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_requests::CounterKey;
use roadmap_domain::ports::AdminReader;

use crate::PostgresReader;
use crate::codec::{TimestampColumn, optional_timestamp};
use crate::schema::{changelogs, counted_mails};

#[async_trait]
impl AdminReader for PostgresReader {
    async fn inbox_counts(&self, workspace: WorkspaceId) -> Result<InboxCounts, StoreError> {
        inbox::counts(&self.session(workspace).await?, workspace.uuid()).await
    }

    async fn inbox(&self, workspace: WorkspaceId, list: &InboxList) -> Result<Listing<InboxRow>, StoreError> {
        inbox::page(&self.session(workspace).await?, workspace.uuid(), list).await
    }

    async fn inbox_rows(
        &self,
        workspace: WorkspaceId,
        filter: &InboxFilter,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<InboxRow>, StoreError> {
        rows::rows(&self.session(workspace).await?, workspace.uuid(), filter, requests).await
    }

    async fn find_unindexed(
        &self,
        workspace: WorkspaceId,
        number: Option<i64>,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        inbox::find_unindexed(&self.session(workspace).await?, workspace.uuid(), number, words, limit).await
    }

    async fn team_page(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<TeamPage, StoreError> {
        team::page(&self.session(workspace).await?, workspace.uuid(), request).await
    }

    async fn comment_customers(
        &self,
        workspace: WorkspaceId,
        comments: &[CommentId],
    ) -> Result<Vec<(CommentId, CustomerName)>, StoreError> {
        team::comment_customers(&self.session(workspace).await?, workspace.uuid(), comments).await
    }

    async fn merge_preview(
        &self,
        workspace: WorkspaceId,
        source: FeatureRequestId,
        target: FeatureRequestId,
    ) -> Result<Option<MergePreview>, StoreError> {
        rows::preview(&self.session(workspace).await?, workspace.uuid(), source, target).await
    }

    async fn count_subscribers(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<i64, StoreError> {
        team::count_subscribers(&self.session(workspace).await?, workspace.uuid(), requests).await
    }

    async fn is_changelog_notified(&self, workspace: WorkspaceId, changelog: ChangelogId) -> Result<bool, StoreError> {
        let session = self.session(workspace).await?;
        let row = changelogs::table.find((workspace.uuid(), changelog.uuid())).select(changelogs::notified);
        let found: Option<bool> = session.run_optional(row.first(&mut session.connection()?)).await?;
        Ok(found.unwrap_or(false))
    }

    async fn customer_records(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
    ) -> Result<CustomerRecords, StoreError> {
        customers::records(&self.session(workspace).await?, workspace.uuid(), customer).await
    }

    async fn last_counted_mail(
        &self,
        workspace: WorkspaceId,
        counter: CounterKey,
    ) -> Result<Option<Timestamp>, StoreError> {
        let session = self.session(workspace).await?;
        let last = counted_mails::table
            .filter(counted_mails::workspace_id.eq(workspace.uuid()))
            .filter(counted_mails::counter.eq(counter.0.to_vec()))
            .select(max(counted_mails::asked_at));
        let last: Option<TimestampColumn> = session.run(last.first(&mut session.connection()?)).await?;
        optional_timestamp(last, "counted_mails", "asked_at", workspace.uuid())
    }

    async fn customer_texts(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        page: PageRequest,
    ) -> Result<CustomerTexts, StoreError> {
        texts::page(&self.session(workspace).await?, workspace.uuid(), customer, page).await
    }

    async fn overview(&self, workspace: WorkspaceId, times: &OverviewTimes) -> Result<Overview, StoreError> {
        overview::overview(&self.session(workspace).await?, workspace.uuid(), times).await
    }
}
