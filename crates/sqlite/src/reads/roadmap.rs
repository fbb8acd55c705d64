//! Lists and records that the API returns.

use async_trait::async_trait;
use diesel::prelude::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension, QueryDsl,
    RunQueryDsl,
};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Checksum, Dimensions, Filename};
use roadmap_domain::model::changelog::{Changelog, CoverImage};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{AttachmentId, ChangelogId, CustomerId, LaneId, MemberId, WorkspaceId};
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::model::member::Member;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::setting::{Setting, WebsiteUrl};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::{Lane, Track};
use roadmap_domain::model::vote::Voter;
use roadmap_domain::ports::RoadmapReader;

use crate::SqliteStore;
use crate::codec::{Id, optional_timestamp, timestamp};
use crate::errors::inconsistent;
use crate::rows::{SummaryRow, TrackRow, find_summary, mapped_tracks, placed_requests, summary_columns};
use crate::schema::{
    attachments, changelogs, customers, feature_requests, lanes, members, settings, synonyms, tracks, votes,
};

type VoterRow = (Id, Option<String>, String, i64);
type ChangelogRow = (Id, String, String, Option<i64>, i64, Option<(Id, String)>);
type AttachmentRow = (String, String, i64, Vec<u8>, String, String, Option<i64>, Option<i64>, i64);

/// Converts a page of rows to a page of records.
fn listing<R, T>(
    (rows, total): (Vec<R>, i64),
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

    async fn lanes(&self, workspace: WorkspaceId) -> Result<Vec<Lane>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows: Vec<(Id, String)> = self
            .readers
            .run(move |connection| {
                Ok(lanes::table
                    .filter(lanes::workspace_id.eq(workspace))
                    .order(lanes::position)
                    .select((lanes::id, lanes::name))
                    .load(connection)?)
            })
            .await?;
        Ok(rows.into_iter().map(|(id, name)| Lane { id: LaneId::new(id.0), name: Name::from_stored(name) }).collect())
    }

    async fn voted_requests(
        &self,
        workspace: WorkspaceId,
        customer: &EmailAddress,
        page: PageRequest,
    ) -> Result<Listing<FeatureRequestSummary>, StoreError> {
        let workspace = Id(workspace.uuid());
        let email = customer.folded().clone();
        let rows = self
            .readers
            .run_in_snapshot(move |connection| {
                let customer: Option<Id> = customers::table
                    .filter(customers::workspace_id.eq(workspace))
                    .filter(customers::email_folded.eq(email.as_str()))
                    .select(customers::id)
                    .first(connection)
                    .optional()?;
                let Some(customer) = customer else { return Ok((Vec::new(), 0)) };
                let total: i64 = votes::table
                    .filter(votes::workspace_id.eq(workspace))
                    .filter(votes::customer_id.eq(customer))
                    .count()
                    .get_result(connection)?;
                let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
                let rows: Vec<SummaryRow> = placed_requests()
                    .inner_join(
                        votes::table.on(votes::workspace_id
                            .eq(feature_requests::workspace_id)
                            .and(votes::request_id.eq(feature_requests::id))),
                    )
                    .filter(votes::workspace_id.eq(workspace))
                    .filter(votes::customer_id.eq(customer))
                    // Ids begin with the creation timestamp, and the index of a customer's votes is ordered by id. So
                    // the page is read from the index without reading the other votes.
                    .order(votes::request_id.desc())
                    .select(summary_columns())
                    .limit(page.limit())
                    .offset(offset)
                    .load(connection)?;
                Ok((rows, total))
            })
            .await?;
        listing(rows, page, FeatureRequestSummary::try_from)
    }

    async fn voters(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Voter>>, StoreError> {
        let workspace = Id(workspace.uuid());
        let request = *request;
        let rows: Option<(Vec<VoterRow>, i64)> =
            self.readers
                .run_in_snapshot(move |connection| {
                    let Some(request) = find_summary(connection, workspace, &request)? else { return Ok(None) };
                    let Some(offset) = page.offset() else { return Ok(Some((Vec::new(), request.votes_count))) };
                    let rows = votes::table
                        .inner_join(customers::table.on(
                            customers::workspace_id.eq(votes::workspace_id).and(customers::id.eq(votes::customer_id)),
                        ))
                        .filter(votes::workspace_id.eq(workspace))
                        .filter(votes::request_id.eq(request.id))
                        .order((votes::created_at.desc(), votes::customer_id.desc()))
                        .select((customers::id, customers::name, customers::email, votes::created_at))
                        .limit(page.limit())
                        .offset(offset)
                        .load(connection)?;
                    Ok(Some((rows, request.votes_count)))
                })
                .await?;
        let voter = |(id, name, email, voted_at): VoterRow| {
            Ok(Voter {
                id: CustomerId::new(id.0),
                name: name.map(Name::from_stored),
                email: EmailAddress::from_stored(email),
                voted_at: timestamp(voted_at, "votes", "created_at", id)?,
            })
        };
        rows.map(|rows| listing(rows, page, voter)).transpose()
    }

    async fn changelogs(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<Changelog>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows: (Vec<ChangelogRow>, i64) = self
            .readers
            .run_in_snapshot(move |connection| {
                let of_workspace = changelogs::table.filter(changelogs::workspace_id.eq(workspace));
                let total: i64 = of_workspace.count().get_result(connection)?;
                let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
                let rows = of_workspace
                    .left_join(
                        attachments::table.on(attachments::workspace_id
                            .eq(changelogs::workspace_id)
                            .and(changelogs::cover_attachment_id.eq(attachments::id.nullable()))),
                    )
                    .order((changelogs::created_at.desc(), changelogs::id.desc()))
                    .select((
                        changelogs::id,
                        changelogs::title,
                        changelogs::content,
                        changelogs::published_at,
                        changelogs::created_at,
                        (attachments::id, attachments::filename).nullable(),
                    ))
                    .limit(page.limit())
                    .offset(offset)
                    .load(connection)?;
                Ok((rows, total))
            })
            .await?;
        listing(rows, page, |(id, title, content, published_at, created_at, cover)| {
            Ok(Changelog {
                id: ChangelogId::new(id.0),
                title: Title::from_stored(title),
                content: CleanHtml::from_stored(content),
                cover: cover.map(|(attachment, filename)| CoverImage {
                    attachment: AttachmentId::new(attachment.0),
                    filename: Filename::from_stored(filename),
                }),
                published_at: optional_timestamp(published_at, "changelogs", "published_at", id)?,
                created_at: timestamp(created_at, "changelogs", "created_at", id)?,
            })
        })
    }

    async fn attachment(&self, workspace: WorkspaceId, id: AttachmentId) -> Result<Option<Attachment>, StoreError> {
        let (of_workspace, row_id) = (Id(workspace.uuid()), Id(id.uuid()));
        let row: Option<AttachmentRow> = self
            .readers
            .run(move |connection| {
                Ok(attachments::table
                    .filter(attachments::workspace_id.eq(of_workspace))
                    .filter(attachments::id.eq(row_id))
                    .select((
                        attachments::filename,
                        attachments::content_type,
                        attachments::byte_size,
                        attachments::checksum,
                        attachments::key,
                        attachments::service_name,
                        attachments::width,
                        attachments::height,
                        attachments::created_at,
                    ))
                    .first(connection)
                    .optional()?)
            })
            .await?;
        let Some((filename, content_type, byte_size, checksum, key, service_name, width, height, created_at)) = row
        else {
            return Ok(None);
        };
        let broken = |column| inconsistent("attachments", column, id);
        Ok(Some(Attachment {
            id,
            filename: Filename::from_stored(filename),
            media_type: MediaType::from_stored(content_type),
            byte_size: byte_size.unsigned_abs(),
            checksum: Checksum(checksum.try_into().map_err(|_| broken("checksum"))?),
            key: BlobKey::parse(&key).ok_or_else(|| broken("key"))?,
            service_name,
            dimensions: Dimensions::from_stored(width, height),
            created_at: timestamp(created_at, "attachments", "created_at", row_id)?,
        }))
    }

    async fn members(&self, workspace: WorkspaceId) -> Result<Vec<Member>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows: Vec<(Id, String, String, i64)> = self
            .readers
            .run(move |connection| {
                Ok(members::table
                    .filter(members::workspace_id.eq(workspace))
                    .order((members::created_at, members::id))
                    .select((members::id, members::email, members::name, members::created_at))
                    .load(connection)?)
            })
            .await?;
        rows.into_iter()
            .map(|(id, email, name, created_at)| {
                Ok(Member {
                    id: MemberId::new(id.0),
                    email: EmailAddress::from_stored(email),
                    name: Name::from_stored(name),
                    created_at: timestamp(created_at, "members", "created_at", id)?,
                })
            })
            .collect()
    }
}
