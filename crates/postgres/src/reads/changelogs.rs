//! Changelogs.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::changelog::{Changelog, ChangelogCategory, ChangelogDetail, ChangelogMail};
use roadmap_domain::model::feature_request::{FeatureRequestSummary, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{ChangelogId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::{ChangelogNeighbours, PublishedChangelog, ShippedIn};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::ChangelogReader;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{ChangelogRow, CoverRow, NeighbourRow, ShippedInRow, SummaryRow, changelog_neighbours};
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::listing::{BEYOND, listing};
use crate::rows::{ChangelogColumns, SummaryColumns};
use crate::schema::changelogs;
use crate::session::Session;
use crate::statement::{placed, statement, summary};

statement! {
    /// Selects the number of changelogs, with a page of them.
    ChangelogsPage {
        workspace: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
        before: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<ChangelogColumns>),
    "WITH total AS (
         SELECT count(*) AS total FROM changelogs WHERE workspace_id = {workspace}
     ), page AS (
         SELECT id, title, content, published_at, created_at, updated_at, category, cover_attachment_id
         FROM changelogs WHERE workspace_id = {workspace} AND (created_at, id) < ({at}, {before})
         ORDER BY created_at DESC, id DESC LIMIT {limit} OFFSET {offset}
     )
     SELECT total, page.id, title, content, published_at, page.created_at, updated_at, category, attachments.id,
            filename
     FROM total LEFT JOIN page ON true
     LEFT JOIN attachments ON attachments.workspace_id = {workspace} AND attachments.id = cover_attachment_id
     ORDER BY page.created_at DESC, page.id DESC"
}

statement! {
    /// Selects a changelog with the feature requests that it is about, in order. A merged one is the root of its tree,
    /// which is listed once. A changelog without any is a single row.
    SelectChangelog { workspace: Uuid => SqlUuid, changelog: Uuid => SqlUuid }
        -> (ChangelogColumns, Nullable<SummaryColumns>),
    concat!("WITH linked AS MATERIALIZED (
         SELECT coalesce(root_id, id) AS request_id, min(position) AS position
         FROM changelog_feature_requests AS links
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = links.request_id
         WHERE links.workspace_id = {workspace} AND links.changelog_id = {changelog}
         GROUP BY coalesce(root_id, id)
     ), listed AS (
         SELECT ", summary!(), ", linked.position FROM linked
         JOIN feature_requests
           ON feature_requests.workspace_id = {workspace} AND feature_requests.id = linked.request_id
         ", placed!(), "
     )
     SELECT changelogs.id, changelogs.title, content, published_at, changelogs.created_at, updated_at, category,
            attachments.id, filename, listed.id, tag_number, listed.title, track, lane, votes_count, listed.created_at
     FROM changelogs
     LEFT JOIN attachments ON attachments.workspace_id = {workspace} AND attachments.id = cover_attachment_id
     LEFT JOIN listed ON true
     WHERE changelogs.workspace_id = {workspace} AND changelogs.id = {changelog}
     ORDER BY listed.position")
}

/// The types of a published changelog, with the ID and the name of its cover.
type PublishedColumns = (SqlUuid, Text, Text, Nullable<Text>, Nullable<(SqlUuid, Text)>, Timestamptz, Timestamptz);
type PublishedRow = (Uuid, String, String, Option<String>, Option<CoverRow>, TimestampColumn, TimestampColumn);

fn published(row: PublishedRow) -> Result<PublishedChangelog, StoreError> {
    let (id, title, content, category, cover, published_at, updated_at) = row;
    Ok(PublishedChangelog {
        id: ChangelogId::new(id),
        title: Title::from_stored(title),
        content: CleanHtml::from_stored(content),
        category: category.as_deref().and_then(ChangelogCategory::from_name),
        cover: cover.map(Into::into),
        published_at: published_at.into_timestamp("changelogs", "published_at", id)?,
        updated_at: updated_at.into_timestamp("changelogs", "updated_at", id)?,
        feature_requests: Vec::new(),
    })
}

statement! {
    /// Selects the number of changelogs that are public, with a page of them.
    PublishedPage {
        workspace: Uuid => SqlUuid,
        now: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    }
        -> (BigInt, Nullable<PublishedColumns>),
    "WITH total AS (
         SELECT count(*) AS total FROM changelogs WHERE workspace_id = {workspace} AND published_at <= {now}
     ), page AS (
         SELECT id, title, content, published_at, updated_at, category, cover_attachment_id FROM changelogs
         WHERE workspace_id = {workspace} AND published_at <= {now}
         ORDER BY published_at DESC, id DESC LIMIT {limit} OFFSET {offset}
     )
     SELECT total, page.id, title, content, category, attachments.id, filename, published_at, updated_at
     FROM total LEFT JOIN page ON true
     LEFT JOIN attachments ON attachments.workspace_id = {workspace} AND attachments.id = cover_attachment_id
     ORDER BY published_at DESC, page.id DESC"
}

statement! {
    /// Selects a changelog, if it is public.
    FindPublished { workspace: Uuid => SqlUuid, changelog: Uuid => SqlUuid, now: TimestampColumn => Timestamptz }
        -> PublishedColumns,
    "SELECT changelogs.id, title, content, category, attachments.id, filename, published_at, updated_at FROM changelogs
     LEFT JOIN attachments ON attachments.workspace_id = {workspace} AND attachments.id = cover_attachment_id
     WHERE changelogs.workspace_id = {workspace} AND changelogs.id = {changelog} AND published_at <= {now}"
}

statement! {
    /// Selects the public feature requests that changelogs are about, in order, each with its changelog. A merged one is
    /// the root of its tree, which is listed once.
    LinkedRequests { workspace: Uuid => SqlUuid, changelogs: Vec<Uuid> => Array<SqlUuid> } -> (SqlUuid, SummaryColumns),
    concat!("WITH linked AS MATERIALIZED (
         SELECT changelog_id, coalesce(root_id, id) AS request_id, min(position) AS position
         FROM changelog_feature_requests AS links
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = links.request_id
         WHERE links.workspace_id = {workspace} AND links.changelog_id = ANY ({changelogs})
         GROUP BY changelog_id, coalesce(root_id, id)
     )
     SELECT changelog_id, ", summary!(), " FROM linked
     JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = linked.request_id
     ", placed!(), "
     WHERE NOT feature_requests.private ORDER BY linked.position")
}

statement! {
    /// Selects the latest public changelog about the tree of a feature request.
    LatestAbout { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid, now: TimestampColumn => Timestamptz }
        -> (SqlUuid, Text, Timestamptz),
    "WITH tree AS MATERIALIZED (
         SELECT {request} AS id
         UNION ALL
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND root_id = {request}
     )
     SELECT changelogs.id, title, published_at FROM tree
     JOIN changelog_feature_requests AS links ON links.workspace_id = {workspace} AND links.request_id = tree.id
     JOIN changelogs ON changelogs.workspace_id = {workspace} AND changelogs.id = links.changelog_id
     WHERE published_at <= {now}
     ORDER BY published_at DESC, changelogs.id DESC LIMIT 1"
}

statement! {
    /// Selects the public changelogs before and after a publication, and whether each is before.
    Neighbours {
        workspace: Uuid => SqlUuid,
        changelog: Uuid => SqlUuid,
        published_at: TimestampColumn => Timestamptz,
        now: TimestampColumn => Timestamptz,
    } -> (SqlUuid, Text, Bool),
    "(SELECT id, title, true FROM changelogs
      WHERE workspace_id = {workspace} AND (published_at, id) < ({published_at}, {changelog})
      ORDER BY published_at DESC, id DESC LIMIT 1)
     UNION ALL
     (SELECT id, title, false FROM changelogs
      WHERE workspace_id = {workspace} AND (published_at, id) > ({published_at}, {changelog}) AND published_at <= {now}
      ORDER BY published_at, id LIMIT 1)"
}

/// Adds the feature requests that changelogs are about.
async fn add_requests(
    session: &Session,
    workspace: Uuid,
    changelogs: &mut [PublishedChangelog],
) -> Result<(), StoreError> {
    if changelogs.is_empty() {
        return Ok(());
    }
    let ids = changelogs.iter().map(|changelog| changelog.id.uuid()).collect();
    let linked = LinkedRequests { workspace, changelogs: ids };
    let rows: Vec<(Uuid, SummaryRow)> = session.run(linked.load(&mut session.connection()?)).await?;
    for (id, request) in rows {
        let request = FeatureRequestSummary::try_from(request)?;
        if let Some(changelog) = changelogs.iter_mut().find(|changelog| changelog.id.uuid() == id) {
            changelog.feature_requests.push(request);
        }
    }
    Ok(())
}

#[async_trait]
impl ChangelogReader for PostgresReader {
    async fn changelogs(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<Changelog>, StoreError> {
        let session = self.session(workspace).await?;
        let (at, before) = page.before();
        let changelogs = ChangelogsPage {
            workspace: workspace.uuid(),
            at: at.into(),
            before,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<ChangelogRow>)> = session.run(changelogs.load(&mut session.connection()?)).await?;
        listing(rows, page, Changelog::try_from)
    }

    async fn changelog(&self, workspace: WorkspaceId, id: ChangelogId) -> Result<Option<ChangelogDetail>, StoreError> {
        let session = self.session(workspace).await?;
        let select = SelectChangelog { workspace: workspace.uuid(), changelog: id.uuid() };
        let rows: Vec<(ChangelogRow, Option<SummaryRow>)> =
            session.run(select.load(&mut session.connection()?)).await?;
        let mut detail: Option<ChangelogDetail> = None;
        for (row, request) in rows {
            let request = request.map(FeatureRequestSummary::try_from).transpose()?;
            match &mut detail {
                Some(detail) => detail.feature_requests.extend(request),
                None => {
                    let feature_requests = request.into_iter().collect();
                    detail = Some(ChangelogDetail { changelog: row.try_into()?, feature_requests });
                }
            }
        }
        Ok(detail)
    }

    async fn published_changelogs(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Listing<PublishedChangelog>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let (limit, offset) = (page.limit(), page.offset().unwrap_or(BEYOND));
        let select = PublishedPage { workspace, now: now.into(), limit, offset };
        let rows: Vec<(i64, Option<PublishedRow>)> = session.run(select.load(&mut session.connection()?)).await?;
        let mut page = listing(rows, page, published)?;
        add_requests(&session, workspace, &mut page.items).await?;
        Ok(page)
    }

    async fn published_changelog(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
        now: Timestamp,
    ) -> Result<Option<PublishedChangelog>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let find = FindPublished { workspace, changelog: changelog.uuid(), now: now.into() };
        let row: Option<PublishedRow> = session.run_optional(find.get_result(&mut session.connection()?)).await?;
        let Some(row) = row else { return Ok(None) };
        let mut changelogs = [published(row)?];
        add_requests(&session, workspace, &mut changelogs).await?;
        let [changelog] = changelogs;
        Ok(Some(changelog))
    }

    async fn changelog_neighbours(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
        published_at: Timestamp,
        now: Timestamp,
    ) -> Result<ChangelogNeighbours, StoreError> {
        let session = self.session(workspace).await?;
        let find = Neighbours {
            workspace: workspace.uuid(),
            changelog: changelog.uuid(),
            published_at: published_at.into(),
            now: now.into(),
        };
        let rows: Vec<NeighbourRow> = session.run(find.load(&mut session.connection()?)).await?;
        Ok(changelog_neighbours(rows))
    }

    async fn shipped_in(
        &self,
        workspace: WorkspaceId,
        request: FeatureRequestId,
        now: Timestamp,
    ) -> Result<Option<ShippedIn>, StoreError> {
        let session = self.session(workspace).await?;
        let find = LatestAbout { workspace: workspace.uuid(), request: request.uuid(), now: now.into() };
        let row: Option<ShippedInRow> = session.run_optional(find.get_result(&mut session.connection()?)).await?;
        row.map(ShippedIn::try_from).transpose()
    }

    async fn changelog_mail(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
        now: Timestamp,
    ) -> Result<ChangelogMail, StoreError> {
        let session = self.session(workspace).await?;
        let row = changelogs::table.find((workspace.uuid(), changelog.uuid())).select((
            changelogs::notified,
            changelogs::notifies,
            changelogs::published_at.le(TimestampColumn::from(now)),
        ));
        let row: Option<(bool, bool, Option<bool>)> =
            session.run_optional(row.first(&mut session.connection()?)).await?;
        let (notified, notifies, is_public) = row.unwrap_or_default();
        let is_public = is_public.unwrap_or(false);
        Ok(ChangelogMail::new(notified, notifies, is_public))
    }
}
