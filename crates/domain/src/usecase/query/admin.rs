//! What the pages of the admin panel show.

use std::collections::HashMap;

use async_trait::async_trait;
use time::Duration;

use crate::error::{Resource, RoadmapError};
use crate::model::admin::{
    CustomerRecords, InboxCounts, InboxFilter, InboxList, InboxRow, InboxSort, InboxState, MergePreview, Overview,
    OverviewTimes, Period, Selection, TeamPage,
};
use crate::model::api_key::ApiKey;
use crate::model::audit::{ActorFilter, AuditFilter, AuditPage};
use crate::model::changelog::ChangelogMail;
use crate::model::customer::{Customer, CustomerName};
use crate::model::feature_request::FeatureRequestRef;
use crate::model::id::{ChangelogId, CommentId, CustomerId, FeatureRequestId, MemberId, WorkspaceId};
use crate::model::mail::MailStatus;
use crate::model::pagination::{Listing, PageRequest};
use crate::model::portal::{RequestPage, Viewer};
use crate::model::removal::CustomerTexts;
use crate::model::saved_view::SavedViews;
use crate::model::search::SearchQuery;
use crate::model::timestamp::Timestamp;
use crate::policy::mail_requests::{COUNTED_FOR, MailCounter};
use crate::usecase::query::feature_requests::SearchFeatureRequests;
use crate::usecase::query::{Query, QueryPorts};
use crate::usecase::undo_changes::{REVERSIBLE_FOR, ReversibleChange};

/// Counts the feature requests by track and state.
#[derive(Debug, Clone, Copy)]
pub struct CountInbox;

#[async_trait]
impl Query for CountInbox {
    type Output = InboxCounts;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<InboxCounts, RoadmapError> {
        Ok(ports.reader.inbox_counts(workspace).await?)
    }
}

/// Lists feature requests for the team: by filters and order, or by a search.
#[derive(Debug, Clone, Default)]
pub struct ListInbox {
    /// A search: words, or the number of a feature request. The filters apply to its results. They are in the order of
    /// relevance, unless an order was chosen.
    pub query: Option<SearchQuery>,
    /// Which feature requests, in which order; of a search, the first page.
    pub list: InboxList,
    /// Whether the order was chosen.
    pub is_sorted: bool,
}

/// Returns a filter with the tracks that it shows.
async fn on_shown_tracks(
    filter: &InboxFilter,
    workspace: WorkspaceId,
    ports: &QueryPorts,
) -> Result<InboxFilter, RoadmapError> {
    let tracks = match filter.state {
        InboxState::Open => filter.shown_tracks(&ports.tracks.tracks(workspace).await?),
        _ => filter.tracks.clone(),
    };
    Ok(InboxFilter { tracks, ..filter.clone() })
}

/// Number of results of a search in the inbox.
const SEARCH_RESULTS: usize = 50;

impl ListInbox {
    /// Searches public feature requests by the index, and private ones by their titles.
    async fn search(
        &self,
        query: &SearchQuery,
        workspace: WorkspaceId,
        ports: &QueryPorts,
    ) -> Result<Listing<InboxRow>, RoadmapError> {
        let words: Vec<String> = query.as_str().split_whitespace().map(str::to_lowercase).collect();
        let number = match words.as_slice() {
            [word] => word.trim_start_matches('#').parse().ok(),
            _ => None,
        };
        let limit = u32::try_from(SEARCH_RESULTS).unwrap_or(u32::MAX);
        let mut ids = ports.reader.find_unindexed(workspace, number, &words, limit).await?;
        let search = SearchFeatureRequests::new(query.clone(), SEARCH_RESULTS);
        for id in search.run(workspace, &*ports.search, &*ports.synonyms).await? {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let request = self.list.page;
        if ids.is_empty() || request.page() > 1 {
            return Ok(Listing { items: Vec::new(), request, total: ids.len() as u64 });
        }
        let filter = on_shown_tracks(&self.list.filter, workspace, ports).await?;
        let mut items = ports.reader.inbox_rows(workspace, &filter, &ids).await?;
        if self.is_sorted {
            match self.list.sort {
                // The number of a feature request grows with time.
                InboxSort::Newest | InboxSort::Updated => {
                    items.sort_by_key(|row| std::cmp::Reverse(row.summary.tag_number));
                }
                InboxSort::Oldest => items.sort_by_key(|row| row.summary.tag_number),
                InboxSort::Votes => items.sort_by_key(|row| std::cmp::Reverse(row.summary.votes_count)),
                InboxSort::Companies => items.sort_by_key(|row| std::cmp::Reverse(row.companies_count)),
            }
        }
        let total = items.len() as u64;
        Ok(Listing { items, request, total })
    }
}

#[async_trait]
impl Query for ListInbox {
    type Output = Listing<InboxRow>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Listing<InboxRow>, RoadmapError> {
        if let Some(query) = &self.query {
            return self.search(query, workspace, ports).await;
        }
        let request = self.list.page;
        if request.page() > InboxList::MAX_PAGE {
            return Ok(Listing { items: Vec::new(), request, total: 0 });
        }
        let list = InboxList { filter: on_shown_tracks(&self.list.filter, workspace, ports).await?, ..self.list };
        Ok(ports.reader.inbox(workspace, &list).await?)
    }
}

/// Shows the team a feature request.
#[derive(Debug, Clone, Copy)]
pub struct ShowTeamRequest {
    /// The feature request. A merged one is shown as what it was merged into.
    pub request: FeatureRequestRef,
    /// The member who looks.
    pub viewer: Viewer,
    /// The page of comments, from 1; `None` for the last one.
    pub comments: Option<u64>,
}

/// A feature request with everything that the team sees of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamRequest {
    /// What everybody sees who may see it.
    pub page: RequestPage,
    /// What only the team sees.
    pub team: TeamPage,
    /// The customers who wrote the public comments of the page, by comment.
    pub customers: HashMap<CommentId, CustomerName>,
}

#[async_trait]
impl Query for ShowTeamRequest {
    type Output = TeamRequest;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<TeamRequest, RoadmapError> {
        let page = ports.reader.request_page(workspace, &self.request, self.viewer, self.comments).await?;
        let page = page.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
        let team = ports.reader.team_page(workspace, page.detail.summary.id).await?;
        let comments = page.comments.items.iter().map(|listed| listed.comment.id).collect();
        let customers = ListCommentCustomers { comments }.execute(workspace, ports).await?;
        Ok(TeamRequest { page, team, customers })
    }
}

/// Lists the customers who wrote comments, by comment. Comments of the team are left out.
#[derive(Debug, Clone)]
pub struct ListCommentCustomers {
    pub comments: Vec<CommentId>,
}

#[async_trait]
impl Query for ListCommentCustomers {
    type Output = HashMap<CommentId, CustomerName>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Self::Output, RoadmapError> {
        match self.comments.as_slice() {
            [] => Ok(HashMap::new()),
            comments => Ok(ports.reader.comment_customers(workspace, comments).await?.into_iter().collect()),
        }
    }
}

/// Lists feature requests that match a filter, in the given order.
#[derive(Debug, Clone)]
pub struct ListInboxRows {
    pub filter: InboxFilter,
    pub requests: Vec<FeatureRequestId>,
}

#[async_trait]
impl Query for ListInboxRows {
    type Output = Vec<InboxRow>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<InboxRow>, RoadmapError> {
        match self.requests.as_slice() {
            [] => Ok(Vec::new()),
            requests => Ok(ports.reader.inbox_rows(workspace, &self.filter, requests).await?),
        }
    }
}

/// Finds what a member has done in one unit of work that [`UndoChanges`](crate::usecase::undo_changes::UndoChanges) can take
/// back. After [`REVERSIBLE_FOR`] it is nothing.
#[derive(Debug, Clone, Copy)]
pub struct FindReversibleChanges {
    /// Who did it.
    pub member: MemberId,
    /// The timestamp of the unit of work.
    pub at: Timestamp,
}

#[async_trait]
impl Query for FindReversibleChanges {
    type Output = Vec<ReversibleChange>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<ReversibleChange>, RoadmapError> {
        let (now, from) = (ports.clock.now(), self.at);
        if from > now || from.plus(REVERSIBLE_FOR) < now {
            return Ok(Vec::new());
        }
        let actor = Some(ActorFilter::Id(self.member.uuid()));
        let filter = AuditFilter {
            actor,
            from: Some(from),
            to: Some(from.plus(Duration::MILLISECOND)),
            ..AuditFilter::default()
        };
        let page = AuditPage { before: None, size: u32::try_from(Selection::MAX).unwrap_or(u32::MAX) };
        let entries = ports.reader.audit_entries(workspace, &filter, page).await?.entries;
        Ok(entries.iter().filter_map(ReversibleChange::of_entry).collect())
    }
}

/// Shows what a merge of two feature requests would do.
#[derive(Debug, Clone, Copy)]
pub struct PreviewMerge {
    /// What would be merged.
    pub source: FeatureRequestId,
    /// What it would be merged into.
    pub target: FeatureRequestId,
}

#[async_trait]
impl Query for PreviewMerge {
    type Output = MergePreview;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<MergePreview, RoadmapError> {
        let preview = ports.reader.merge_preview(workspace, self.source, self.target).await?;
        preview.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))
    }
}

/// Counts the people who would get mail about a feature request.
#[derive(Debug, Clone, Copy)]
pub struct CountSubscribers {
    pub request: FeatureRequestId,
}

#[async_trait]
impl Query for CountSubscribers {
    type Output = i64;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<i64, RoadmapError> {
        Ok(ports.reader.team_page(workspace, self.request).await?.subscribers)
    }
}

/// Counts the people who would get a changelog about feature requests by mail.
#[derive(Debug, Clone)]
pub struct CountChangelogAudience {
    pub requests: Vec<FeatureRequestId>,
}

#[async_trait]
impl Query for CountChangelogAudience {
    type Output = i64;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<i64, RoadmapError> {
        Ok(ports.reader.count_changelog_audience(workspace, &self.requests).await?)
    }
}

/// Lists the views of the inbox that a member has saved.
#[derive(Debug, Clone, Copy)]
pub struct ListSavedViews {
    pub member: MemberId,
}

#[async_trait]
impl Query for ListSavedViews {
    type Output = SavedViews;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<SavedViews, RoadmapError> {
        Ok(ports.reader.saved_views(workspace, self.member).await?)
    }
}

/// Shows whether voters get mail about a changelog.
#[derive(Debug, Clone, Copy)]
pub struct ShowChangelogMail {
    pub changelog: ChangelogId,
}

#[async_trait]
impl Query for ShowChangelogMail {
    type Output = ChangelogMail;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<ChangelogMail, RoadmapError> {
        Ok(ports.reader.changelog_mail(workspace, self.changelog, ports.clock.now()).await?)
    }
}

/// Shows a customer with all records.
#[derive(Debug, Clone, Copy)]
pub struct ShowCustomerRecords {
    pub customer: CustomerId,
}

#[async_trait]
impl Query for ShowCustomerRecords {
    type Output = (Customer, CustomerRecords);

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Self::Output, RoadmapError> {
        let customer = ports.reader.customer(workspace, self.customer).await?;
        let customer = customer.ok_or(RoadmapError::NotFound(Resource::Customer))?;
        Ok((customer, ports.reader.customer_records(workspace, self.customer).await?))
    }
}

/// Lists the texts of a customer, newest first.
#[derive(Debug, Clone, Copy)]
pub struct ListCustomerTexts {
    pub customer: CustomerId,
    /// The page. Those after [`CustomerTexts::MAX_PAGE`] are the last one that is read.
    pub page: u64,
}

#[async_trait]
impl Query for ListCustomerTexts {
    type Output = CustomerTexts;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<CustomerTexts, RoadmapError> {
        let number = self.page.clamp(1, CustomerTexts::MAX_PAGE).to_string();
        let page = PageRequest::parse(Some(&number), Some(&CustomerTexts::PER_PAGE.to_string()))?;
        Ok(ports.reader.customer_texts(workspace, self.customer, page).await?)
    }
}

/// Shows what has happened in a period. It reads all votes of the workspace, so that callers keep the result for a while.
#[derive(Debug, Clone, Copy)]
pub struct ShowOverview {
    pub period: Period,
}

#[async_trait]
impl Query for ShowOverview {
    type Output = Overview;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Overview, RoadmapError> {
        let times = OverviewTimes::new(self.period, ports.clock.now());
        Ok(ports.reader.overview(workspace, &times).await?)
    }
}

/// Returns when the workspace had last used up its sign-in mails to strangers or customers, within the last day.
#[derive(Debug, Clone, Copy)]
pub struct ShowUsedUpSignIns;

#[async_trait]
impl Query for ShowUsedUpSignIns {
    type Output = Option<Timestamp>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Self::Output, RoadmapError> {
        let last = ports.reader.last_counted_mail(workspace, MailCounter::UsedUp(workspace).key()).await?;
        Ok(last.filter(|last| last.plus(COUNTED_FOR) > ports.clock.now()))
    }
}

/// Shows the state of a workspace's mail.
#[derive(Debug, Clone, Copy)]
pub struct ShowMail {
    /// Maximum number of failures.
    pub failures: u32,
}

#[async_trait]
impl Query for ShowMail {
    type Output = MailStatus;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<MailStatus, RoadmapError> {
        Ok(ports.outbox.status(workspace, self.failures, ports.clock.now()).await?)
    }
}

/// Lists the API keys, oldest first, also those that are expired or revoked.
#[derive(Debug, Clone, Copy)]
pub struct ListApiKeys;

#[async_trait]
impl Query for ListApiKeys {
    type Output = Vec<ApiKey>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<ApiKey>, RoadmapError> {
        Ok(ports.directory.api_keys(workspace).await?)
    }
}
