//! Changelogs.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::changelog::{Changelog, ChangelogDetail, ChangelogMail};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::id::{ChangelogId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::{ChangelogNeighbours, PublishedChangelog, ShippedIn};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::ChangelogReader;
use roadmap_store::columns::{Id, inconsistent};
use roadmap_store::rows::{ChangelogRow, NeighbourRow, ShippedInRow, SummaryRow, changelog_neighbours};

use crate::SqliteStore;
use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::reads::listing::{Page, listing};
use crate::records::{changelog_columns, covered_changelogs, find_changelog, load_linked};
use crate::rows::{SummarySql, placed_joins, summary_sql};
use crate::schema::changelogs;
use crate::statement::statement;

statement! {
    /// Selects the public feature requests that the changelogs of a JSON array are about, in order, each with its
    /// changelog. A merged one is the one that it was merged into, listed once.
    PublicLinks { workspace: Id => Binary, changelogs: String => Text } -> (Binary, SummarySql),
    concat!(
        "WITH scope (workspace) AS (SELECT ?),
         linked (workspace, changelog, request, position) AS MATERIALIZED (
             SELECT link.workspace_id, link.changelog_id, coalesce(vote_tallies.root_id, link.request_id),
                    min(link.position)
             FROM scope CROSS JOIN json_each(?) AS changelog
             CROSS JOIN changelog_feature_requests link ON link.workspace_id = scope.workspace
                    AND link.changelog_id = unhex(changelog.value)
             CROSS JOIN vote_tallies ON vote_tallies.workspace_id = link.workspace_id
                    AND vote_tallies.request_id = link.request_id
             GROUP BY 1, 2, 3
         )
         SELECT linked.changelog, ", summary_sql!(), " FROM linked
         CROSS JOIN feature_requests ON feature_requests.workspace_id = linked.workspace
                AND feature_requests.id = linked.request ", placed_joins!(), "
         WHERE NOT vote_tallies.private ORDER BY linked.changelog, linked.position"
    )
}

statement! {
    /// Selects the latest public changelog about the tree of a feature request.
    LatestAbout { workspace: Id => Binary, root: Id => Binary, now: i64 => BigInt } -> (Binary, Text, BigInt),
    "WITH scope (workspace, root, now) AS (SELECT ?, ?, ?),
     tree (id) AS (
         SELECT root FROM scope
         UNION ALL
         SELECT merged.id FROM scope
         CROSS JOIN feature_requests merged ON merged.workspace_id = scope.workspace AND merged.root_id = scope.root
     )
     SELECT changelogs.id, changelogs.title, changelogs.published_at FROM scope CROSS JOIN tree
     CROSS JOIN changelog_feature_requests link ON link.workspace_id = scope.workspace AND link.request_id = tree.id
     CROSS JOIN changelogs ON changelogs.workspace_id = scope.workspace AND changelogs.id = link.changelog_id
     WHERE changelogs.published_at <= scope.now
     ORDER BY changelogs.published_at DESC, changelogs.id DESC LIMIT 1"
}

statement! {
    /// Selects the public changelogs before and after a publication, and whether each is before.
    Neighbours { workspace: Id => Binary, changelog: Id => Binary, published_at: i64 => BigInt, now: i64 => BigInt }
        -> (Binary, Text, Bool),
    "WITH scope (workspace, changelog, published_at, now) AS (SELECT ?, ?, ?, ?)
     SELECT * FROM (
         SELECT id, title, 1 FROM scope CROSS JOIN changelogs INDEXED BY changelogs_by_publication
                ON changelogs.workspace_id = scope.workspace
         WHERE changelogs.published_at IS NOT NULL AND (changelogs.published_at, id) < (scope.published_at, scope.changelog)
         ORDER BY changelogs.published_at DESC, id DESC LIMIT 1
     )
     UNION ALL
     SELECT * FROM (
         SELECT id, title, 0 FROM scope CROSS JOIN changelogs INDEXED BY changelogs_by_publication
                ON changelogs.workspace_id = scope.workspace
         WHERE changelogs.published_at IS NOT NULL AND (changelogs.published_at, id) > (scope.published_at, scope.changelog)
           AND changelogs.published_at <= scope.now
         ORDER BY changelogs.published_at, id LIMIT 1
     )"
}

/// A feature request with the changelog that it is linked to.
type LinkRow = (Id, SummaryRow);

fn load_links(
    connection: &mut SqliteConnection,
    workspace: Id,
    rows: &[ChangelogRow],
) -> Result<Vec<LinkRow>, SqlError> {
    let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
    Ok(PublicLinks { workspace, changelogs: json_ids(&ids) }.load(connection)?)
}

/// Converts changelogs with the feature requests that they are about.
fn published(rows: Vec<ChangelogRow>, links: Vec<LinkRow>) -> Result<Vec<PublishedChangelog>, StoreError> {
    let mut changelogs = Vec::with_capacity(rows.len());
    for row in rows {
        let id = row.id;
        let changelog = Changelog::try_from(row)?;
        let published_at = changelog.public_from.ok_or_else(|| inconsistent("changelogs", "published_at", id))?;
        changelogs.push(PublishedChangelog {
            id: changelog.id,
            title: changelog.title,
            content: changelog.content,
            category: changelog.category,
            cover: changelog.cover,
            published_at,
            updated_at: changelog.updated_at,
            feature_requests: Vec::new(),
        });
    }
    for (id, row) in links {
        let of_link = changelogs.iter_mut().find(|changelog| changelog.id.uuid() == id.0);
        if let Some(changelog) = of_link {
            changelog.feature_requests.push(FeatureRequestSummary::try_from(row)?);
        }
    }
    Ok(changelogs)
}

#[async_trait]
impl ChangelogReader for SqliteStore {
    async fn changelogs(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<Changelog>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows: Page<ChangelogRow> = self
            .readers
            .run_in_snapshot(move |connection| {
                let of_workspace = changelogs::table.filter(changelogs::workspace_id.eq(workspace));
                let total: i64 = of_workspace.count().get_result(connection)?;
                let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
                let (at, before) = page.before();
                let rows = covered_changelogs()
                    .filter(changelogs::workspace_id.eq(workspace))
                    .filter(
                        changelogs::created_at
                            .lt(at.millis())
                            .or(changelogs::created_at.eq(at.millis()).and(changelogs::id.lt(Id(before)))),
                    )
                    .order((changelogs::created_at.desc(), changelogs::id.desc()))
                    .select(changelog_columns())
                    .limit(page.limit())
                    .offset(offset)
                    .load(connection)?;
                Ok((rows, total))
            })
            .await?;
        listing(rows, page, Changelog::try_from)
    }

    async fn changelog(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
    ) -> Result<Option<ChangelogDetail>, StoreError> {
        let (workspace, changelog) = (Id(workspace.uuid()), Id(changelog.uuid()));
        let rows = self
            .readers
            .run_in_snapshot(move |connection| {
                let Some(row) = find_changelog(connection, workspace, changelog)? else { return Ok(None) };
                Ok(Some((row, load_linked(connection, workspace, changelog)?)))
            })
            .await?;
        let Some((row, linked)) = rows else { return Ok(None) };
        let feature_requests = linked.into_iter().map(FeatureRequestSummary::try_from).collect::<Result<_, _>>()?;
        Ok(Some(ChangelogDetail { changelog: row.try_into()?, feature_requests }))
    }

    async fn published_changelogs(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Listing<PublishedChangelog>, StoreError> {
        let workspace = Id(workspace.uuid());
        let ((rows, total), links): (Page<ChangelogRow>, Vec<LinkRow>) = self
            .readers
            .run_in_snapshot(move |connection| {
                let total: i64 = changelogs::table
                    .filter(changelogs::workspace_id.eq(workspace))
                    .filter(changelogs::published_at.le(now.millis()))
                    .count()
                    .get_result(connection)?;
                let Some(offset) = page.offset() else { return Ok(((Vec::new(), total), Vec::new())) };
                let rows: Vec<ChangelogRow> = covered_changelogs()
                    .filter(changelogs::workspace_id.eq(workspace))
                    .filter(changelogs::published_at.le(now.millis()))
                    .order((changelogs::published_at.desc(), changelogs::id.desc()))
                    .select(changelog_columns())
                    .limit(page.limit())
                    .offset(offset)
                    .load(connection)?;
                let links = load_links(connection, workspace, &rows)?;
                Ok(((rows, total), links))
            })
            .await?;
        Ok(Listing { items: published(rows, links)?, request: page, total: total.unsigned_abs() })
    }

    async fn published_changelog(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
        now: Timestamp,
    ) -> Result<Option<PublishedChangelog>, StoreError> {
        let (workspace, changelog) = (Id(workspace.uuid()), Id(changelog.uuid()));
        let (rows, links) = self
            .readers
            .run_in_snapshot(move |connection| {
                let row: Option<ChangelogRow> = covered_changelogs()
                    .filter(changelogs::workspace_id.eq(workspace))
                    .filter(changelogs::id.eq(changelog))
                    .filter(changelogs::published_at.le(now.millis()))
                    .select(changelog_columns())
                    .first(connection)
                    .optional()?;
                let rows: Vec<ChangelogRow> = row.into_iter().collect();
                let links = load_links(connection, workspace, &rows)?;
                Ok((rows, links))
            })
            .await?;
        Ok(published(rows, links)?.pop())
    }

    async fn changelog_neighbours(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
        published_at: Timestamp,
        now: Timestamp,
    ) -> Result<ChangelogNeighbours, StoreError> {
        let (workspace, changelog) = (Id(workspace.uuid()), Id(changelog.uuid()));
        let find = Neighbours { workspace, changelog, published_at: published_at.millis(), now: now.millis() };
        let rows: Vec<NeighbourRow> = self.readers.run(move |connection| Ok(find.load(connection)?)).await?;
        Ok(changelog_neighbours(rows))
    }

    async fn shipped_in(
        &self,
        workspace: WorkspaceId,
        request: FeatureRequestId,
        now: Timestamp,
    ) -> Result<Option<ShippedIn>, StoreError> {
        let find = LatestAbout { workspace: Id(workspace.uuid()), root: Id(request.uuid()), now: now.millis() };
        let row: Option<ShippedInRow> =
            self.readers.run(move |connection| Ok(find.get_result(connection).optional()?)).await?;
        row.map(ShippedIn::try_from).transpose()
    }

    async fn changelog_mail(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
        now: Timestamp,
    ) -> Result<ChangelogMail, StoreError> {
        let (workspace, changelog) = (Id(workspace.uuid()), Id(changelog.uuid()));
        let row = changelogs::table.find((workspace, changelog)).select((
            changelogs::notified,
            changelogs::notifies,
            changelogs::published_at,
        ));
        let row: Option<(bool, bool, Option<i64>)> =
            self.readers.run(move |connection| Ok(row.first(connection).optional()?)).await?;
        let (notified, notifies, published_at) = row.unwrap_or_default();
        let is_public = published_at.is_some_and(|at| at <= now.millis());
        Ok(ChangelogMail::new(notified, notifies, is_public))
    }
}
