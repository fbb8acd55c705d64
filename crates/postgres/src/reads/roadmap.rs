//! Lists and records that the API returns. Each is read by one statement, so that a page and its total are consistent.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
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
use uuid::Uuid;

use crate::PostgresReader;
use crate::codec::{TimestampColumn, optional_timestamp};
use crate::errors::inconsistent;
use crate::rows::{SummaryColumns, SummaryRow, TrackRow, mapped_tracks};
use crate::schema::{attachments, lanes, members, settings, synonyms, tracks};
use crate::statement::statement;
use crate::writes::id_or_number;

statement! {
    /// Selects the number of feature requests that a customer has voted for, with a page of them. Ids begin with the
    /// creation timestamp, and the index of a customer's votes is ordered by id. So the page is read from the index
    /// without reading the other votes.
    VotedRequestsPage {
        workspace: Uuid => SqlUuid,
        email_folded: String => Text,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<SummaryColumns>),
    "WITH customer AS MATERIALIZED (
         SELECT id FROM customers WHERE workspace_id = {workspace} AND email_folded = {email_folded}
     ), total AS (
         SELECT count(*) AS total FROM votes
         WHERE workspace_id = {workspace} AND customer_id = (SELECT id FROM customer)
     ), page AS (
         SELECT request_id FROM votes
         WHERE workspace_id = {workspace} AND customer_id = (SELECT id FROM customer)
         ORDER BY request_id DESC LIMIT {limit} OFFSET {offset}
     ), listed AS (
         SELECT feature_requests.id, feature_requests.tag_number, title, tracks.name AS track, lanes.name AS lane,
                votes_count, created_at
         FROM page
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = page.request_id
         JOIN vote_tallies ON vote_tallies.workspace_id = {workspace} AND vote_tallies.request_id = page.request_id
         JOIN tracks ON tracks.workspace_id = {workspace} AND tracks.id = track_id
         LEFT JOIN lanes ON lanes.workspace_id = {workspace} AND lanes.id = lane_id
     )
     SELECT total, listed.* FROM total LEFT JOIN listed ON true ORDER BY listed.id DESC"
}

statement! {
    /// Selects the number of voters of a feature request, with a page of them. Returns no row if the feature request
    /// does not exist.
    VotersPage {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<(SqlUuid, Nullable<Text>, Text, Timestamptz)>),
    "WITH request AS MATERIALIZED (
         SELECT feature_requests.id, votes_count FROM feature_requests
         JOIN vote_tallies ON vote_tallies.workspace_id = feature_requests.workspace_id
                          AND vote_tallies.request_id = feature_requests.id
         WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = (SELECT coalesce({request},
             (SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND tag_number = {number})))
     ), page AS (
         SELECT customer_id, created_at FROM votes
         WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request)
         ORDER BY created_at DESC, customer_id DESC LIMIT {limit} OFFSET {offset}
     ), listed AS (
         SELECT customers.id, name, email, page.created_at
         FROM page JOIN customers ON customers.workspace_id = {workspace} AND customers.id = page.customer_id
     )
     SELECT votes_count, listed.* FROM request LEFT JOIN listed ON true
     ORDER BY listed.created_at DESC, listed.id DESC"
}

statement! {
    /// Selects the number of changelogs, with a page of them.
    ChangelogsPage { workspace: Uuid => SqlUuid, limit: i64 => BigInt, offset: i64 => BigInt }
        -> (BigInt, Nullable<ChangelogColumns>),
    "WITH total AS (
         SELECT count(*) AS total FROM changelogs WHERE workspace_id = {workspace}
     ), page AS (
         SELECT id, title, content, published_at, created_at, cover_attachment_id
         FROM changelogs WHERE workspace_id = {workspace}
         ORDER BY created_at DESC, id DESC LIMIT {limit} OFFSET {offset}
     )
     SELECT total, page.id, title, content, published_at, page.created_at, attachments.id, filename
     FROM total LEFT JOIN page ON true
     LEFT JOIN attachments ON attachments.workspace_id = {workspace} AND attachments.id = cover_attachment_id
     ORDER BY page.created_at DESC, page.id DESC"
}

type ChangelogColumns = (SqlUuid, Text, Text, Nullable<Timestamptz>, Timestamptz, Nullable<SqlUuid>, Nullable<Text>);
type ChangelogRow = (Uuid, String, String, Option<TimestampColumn>, TimestampColumn, Option<Uuid>, Option<String>);
type AttachmentRow = (String, String, i64, Vec<u8>, String, String, Option<i64>, Option<i64>, TimestampColumn);

/// The offset of a page whose own offset is out of range. Such a page is empty, and so is the page at this offset.
const BEYOND: i64 = i64::MAX;

/// Converts rows that each begin with the total of a list to a page of records. A page without records is one row,
/// whose record is absent.
fn listing<R, T>(
    rows: Vec<(i64, Option<R>)>,
    request: PageRequest,
    record: impl Fn(R) -> Result<T, StoreError>,
) -> Result<Listing<T>, StoreError> {
    let mut total = 0;
    let mut items = Vec::with_capacity(rows.len());
    for (counted, row) in rows {
        total = counted.unsigned_abs();
        items.extend(row.map(&record).transpose()?);
    }
    Ok(Listing { items, request, total })
}

#[async_trait]
impl RoadmapReader for PostgresReader {
    async fn setting(&self, workspace: WorkspaceId) -> Result<Option<Setting>, StoreError> {
        let session = self.session(workspace).await?;
        let setting = settings::table
            .filter(settings::workspace_id.eq(workspace.uuid()))
            .select((settings::product_name, settings::website_url));
        let row: Option<(String, String)> = session.run_optional(setting.first(&mut session.connection()?)).await?;
        Ok(row.map(|(product_name, website_url)| Setting {
            product_name: Name::from_stored(product_name),
            website_url: WebsiteUrl::from_stored(website_url),
        }))
    }

    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Synonyms, StoreError> {
        let session = self.session(workspace).await?;
        let phrases = synonyms::table
            .filter(synonyms::workspace_id.eq(workspace.uuid()))
            .order((synonyms::group_number, synonyms::position))
            .select((synonyms::group_number, synonyms::phrase));
        let rows: Vec<(i32, String)> = session.run(phrases.load(&mut session.connection()?)).await?;
        Ok(Synonyms::from_stored(rows))
    }

    async fn tracks(&self, workspace: WorkspaceId) -> Result<Vec<Track>, StoreError> {
        let query = async || {
            let session = self.session(workspace).await?;
            let tracks = mapped_tracks().filter(tracks::workspace_id.eq(workspace.uuid())).order(tracks::position);
            let rows: Vec<TrackRow> = session.run(tracks.load(&mut session.connection()?)).await?;
            Ok(rows.into_iter().map(Track::from).collect())
        };
        self.tracks.get(workspace.uuid(), query).await
    }

    async fn lanes(&self, workspace: WorkspaceId) -> Result<Vec<Lane>, StoreError> {
        let session = self.session(workspace).await?;
        let lanes = lanes::table
            .filter(lanes::workspace_id.eq(workspace.uuid()))
            .order(lanes::position)
            .select((lanes::id, lanes::name));
        let rows: Vec<(Uuid, String)> = session.run(lanes.load(&mut session.connection()?)).await?;
        Ok(rows.into_iter().map(|(id, name)| Lane { id: LaneId::new(id), name: Name::from_stored(name) }).collect())
    }

    async fn voted_requests(
        &self,
        workspace: WorkspaceId,
        customer: &EmailAddress,
        page: PageRequest,
    ) -> Result<Listing<FeatureRequestSummary>, StoreError> {
        let session = self.session(workspace).await?;
        let votes = VotedRequestsPage {
            workspace: workspace.uuid(),
            email_folded: customer.folded().as_str().to_owned(),
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<SummaryRow>)> = session.run(votes.load(&mut session.connection()?)).await?;
        listing(rows, page, FeatureRequestSummary::try_from)
    }

    async fn voters(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Voter>>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let voters = VotersPage {
            workspace: workspace.uuid(),
            request,
            number,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        type Row = (Uuid, Option<String>, String, TimestampColumn);
        let rows: Vec<(i64, Option<Row>)> = session.run(voters.load(&mut session.connection()?)).await?;
        if rows.is_empty() {
            return Ok(None);
        }
        let voter = |(id, name, email, voted_at): Row| {
            Ok(Voter {
                id: CustomerId::new(id),
                name: name.map(Name::from_stored),
                email: EmailAddress::from_stored(email),
                voted_at: voted_at.into_timestamp("votes", "created_at", id)?,
            })
        };
        listing(rows, page, voter).map(Some)
    }

    async fn changelogs(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<Changelog>, StoreError> {
        let session = self.session(workspace).await?;
        let changelogs = ChangelogsPage {
            workspace: workspace.uuid(),
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<ChangelogRow>)> = session.run(changelogs.load(&mut session.connection()?)).await?;
        listing(rows, page, |(id, title, content, published_at, created_at, cover, filename): ChangelogRow| {
            Ok(Changelog {
                id: ChangelogId::new(id),
                title: Title::from_stored(title),
                content: CleanHtml::from_stored(content),
                cover: cover.zip(filename).map(|(attachment, filename)| CoverImage {
                    attachment: AttachmentId::new(attachment),
                    filename: Filename::from_stored(filename),
                }),
                published_at: optional_timestamp(published_at, "changelogs", "published_at", id)?,
                created_at: created_at.into_timestamp("changelogs", "created_at", id)?,
            })
        })
    }

    async fn attachment(&self, workspace: WorkspaceId, id: AttachmentId) -> Result<Option<Attachment>, StoreError> {
        let session = self.session(workspace).await?;
        let attachment = attachments::table
            .filter(attachments::workspace_id.eq(workspace.uuid()))
            .filter(attachments::id.eq(id.uuid()))
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
            ));
        let row: Option<AttachmentRow> = session.run_optional(attachment.first(&mut session.connection()?)).await?;
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
            created_at: created_at.into_timestamp("attachments", "created_at", id.uuid())?,
        }))
    }

    async fn members(&self, workspace: WorkspaceId) -> Result<Vec<Member>, StoreError> {
        let session = self.session(workspace).await?;
        let members = members::table
            .filter(members::workspace_id.eq(workspace.uuid()))
            .order((members::created_at, members::id))
            .select((members::id, members::email, members::name, members::created_at));
        let rows: Vec<(Uuid, String, String, TimestampColumn)> =
            session.run(members.load(&mut session.connection()?)).await?;
        rows.into_iter()
            .map(|(id, email, name, created_at)| {
                Ok(Member {
                    id: MemberId::new(id),
                    email: EmailAddress::from_stored(email),
                    name: Name::from_stored(name),
                    created_at: created_at.into_timestamp("members", "created_at", id)?,
                })
            })
            .collect()
    }
}
