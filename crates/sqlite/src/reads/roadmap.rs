//! Lists and records that the API returns. The files next to this one have the statements of each kind of record.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::audit::{AuditFilter, AuditListing, AuditPage};
use roadmap_domain::model::board::{ListedLane, RoadmapLane};
use roadmap_domain::model::changelog::{Changelog, ChangelogDetail};
use roadmap_domain::model::changes::{ChangedComment, ChangedRequest, ChangesFilter, ChangesListing, ChangesPage};
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::customer::{Customer, CustomerQuery};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::event::Event;
use roadmap_domain::model::feature_request::{FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, Sort};
use roadmap_domain::model::id::{AttachmentId, ChangelogId, CustomerId, TrackId, WorkspaceId};
use roadmap_domain::model::member::Member;
use roadmap_domain::model::note::Note;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::setting::{Setting, WebsiteUrl};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::Track;
use roadmap_domain::model::vote::Voter;
use roadmap_domain::ports::RoadmapReader;

use crate::SqliteStore;
use crate::codec::Id;
use crate::records::load_detail;
use crate::rows::{TrackRow, load_members, mapped_tracks};
use crate::schema::{settings, synonyms, tracks};

/// The rows of a page, and the total number of rows.
pub(crate) type Page<R> = (Vec<R>, i64);

/// Converts a page of rows to a page of records.
pub(crate) fn listing<R, T>(
    (rows, total): Page<R>,
    request: PageRequest,
    record: impl Fn(R) -> Result<T, StoreError>,
) -> Result<Listing<T>, StoreError> {
    let items = rows.into_iter().map(record).collect::<Result<_, _>>()?;
    Ok(Listing { items, request, total: total.unsigned_abs() })
}

#[async_trait]
impl RoadmapReader for SqliteStore {
    async fn setting(&self, workspace: WorkspaceId) -> Result<Option<Setting>, StoreError> {
        let workspace = Id(workspace.uuid());
        let row: Option<(String, String)> = self
            .readers
            .run(move |connection| {
                Ok(settings::table
                    .filter(settings::workspace_id.eq(workspace))
                    .select((settings::product_name, settings::website_url))
                    .first(connection)
                    .optional()?)
            })
            .await?;
        Ok(row.map(|(product_name, website_url)| Setting {
            product_name: Name::from_stored(product_name),
            website_url: WebsiteUrl::from_stored(website_url),
        }))
    }

    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Synonyms, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows: Vec<(i32, String)> = self
            .readers
            .run(move |connection| {
                Ok(synonyms::table
                    .filter(synonyms::workspace_id.eq(workspace))
                    .order((synonyms::group_number, synonyms::position))
                    .select((synonyms::group_number, synonyms::phrase))
                    .load(connection)?)
            })
            .await?;
        Ok(Synonyms::from_stored(rows))
    }

    async fn tracks(&self, workspace: WorkspaceId) -> Result<Vec<Track>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows: Vec<TrackRow> = self
            .readers
            .run(move |connection| {
                Ok(mapped_tracks()
                    .filter(tracks::workspace_id.eq(workspace))
                    .order(tracks::position)
                    .load(connection)?)
            })
            .await?;
        Ok(rows.into_iter().map(Track::from).collect())
    }

    async fn lanes(&self, workspace: WorkspaceId) -> Result<Vec<ListedLane>, StoreError> {
        self.list_lanes(Id(workspace.uuid())).await
    }

    async fn roadmap(&self, workspace: WorkspaceId, per_lane: u32) -> Result<Vec<RoadmapLane>, StoreError> {
        self.list_roadmap(Id(workspace.uuid()), per_lane).await
    }

    async fn track_requests(
        &self,
        workspace: WorkspaceId,
        track: TrackId,
        sort: Sort,
        page: PageRequest,
    ) -> Result<Option<Listing<FeatureRequestSummary>>, StoreError> {
        self.list_track_requests(Id(workspace.uuid()), Id(track.uuid()), sort, page).await
    }

    async fn feature_request(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestDetail>, StoreError> {
        let (workspace, request) = (Id(workspace.uuid()), *request);
        self.readers.run_in_snapshot(move |connection| load_detail(connection, workspace, &request)).await
    }

    async fn comments(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<ListedComment>>, StoreError> {
        self.list_comments(Id(workspace.uuid()), *request, page).await
    }

    async fn notes(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Note>>, StoreError> {
        self.list_notes(Id(workspace.uuid()), *request, page).await
    }

    async fn events(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        kind: Option<&'static str>,
        page: PageRequest,
    ) -> Result<Option<Listing<Event>>, StoreError> {
        self.list_events(Id(workspace.uuid()), *request, kind, page).await
    }

    async fn customers(
        &self,
        workspace: WorkspaceId,
        query: Option<&CustomerQuery>,
        page: PageRequest,
    ) -> Result<Listing<Customer>, StoreError> {
        self.list_customers(Id(workspace.uuid()), query, page).await
    }

    async fn customer(&self, workspace: WorkspaceId, customer: CustomerId) -> Result<Option<Customer>, StoreError> {
        self.find_customer(Id(workspace.uuid()), Id(customer.uuid())).await
    }

    async fn changelog(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
    ) -> Result<Option<ChangelogDetail>, StoreError> {
        self.find_changelog(Id(workspace.uuid()), Id(changelog.uuid())).await
    }

    async fn audit_entries(
        &self,
        workspace: WorkspaceId,
        filter: &AuditFilter,
        page: AuditPage,
    ) -> Result<AuditListing, StoreError> {
        self.list_audit_entries(Id(workspace.uuid()), filter.clone(), page).await
    }

    async fn changed_requests(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedRequest>, StoreError> {
        self.list_changed_requests(Id(workspace.uuid()), *filter, page).await
    }

    async fn changed_comments(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedComment>, StoreError> {
        self.list_changed_comments(Id(workspace.uuid()), *filter, page).await
    }

    async fn voted_requests(
        &self,
        workspace: WorkspaceId,
        customer: &EmailAddress,
        page: PageRequest,
    ) -> Result<Listing<FeatureRequestSummary>, StoreError> {
        self.list_voted_requests(Id(workspace.uuid()), customer, page).await
    }

    async fn voters(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Voter>>, StoreError> {
        self.list_voters(Id(workspace.uuid()), *request, page).await
    }

    async fn changelogs(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<Changelog>, StoreError> {
        self.list_changelogs(Id(workspace.uuid()), page).await
    }

    async fn attachment(&self, workspace: WorkspaceId, id: AttachmentId) -> Result<Option<Attachment>, StoreError> {
        self.find_attachment(Id(workspace.uuid()), Id(id.uuid())).await
    }

    async fn members(&self, workspace: WorkspaceId) -> Result<Vec<Member>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows = self.readers.run(move |connection| load_members(connection, workspace)).await?;
        rows.into_iter().map(Member::try_from).collect()
    }
}
