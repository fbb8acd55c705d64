//! Link sources, and what they report.

use async_trait::async_trait;
use diesel::dsl::max;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Bool, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{FeatureRequestId, LinkId, LinkSourceId};
use roadmap_domain::model::link::{Issue, Link, LinkState};
use roadmap_domain::model::link_source::LinkSource;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::LinkSourceWrites;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{IssueLinkRow, LinkSourceRow, sealed_link_source};
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::rows::{IssueLinkColumns, issue_links, link_source_columns};
use crate::schema::{link_sources, links};
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Selects and locks the links to an issue, in the order of their IDs.
    LinksTo { workspace: Uuid => SqlUuid, issue: String => Text, after: Uuid => SqlUuid, limit: i64 => BigInt } -> IssueLinkColumns,
    concat!(issue_links!("links"), " WHERE link.workspace_id = {workspace} AND link.issue = {issue} AND link.id > {after}
     ORDER BY link.id LIMIT {limit} FOR UPDATE OF link")
}

statement! {
    /// Selects the feature requests that show links, in the order of the IDs of the links.
    ShowingLinks { workspace: Uuid => SqlUuid, links: Vec<Uuid> => diesel::sql_types::Array<SqlUuid> } -> SqlUuid,
    "SELECT coalesce(root_id, feature_requests.id) FROM links
     JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = request_id
     WHERE links.workspace_id = {workspace} AND links.id = ANY({links}) ORDER BY links.id"
}

statement! {
    /// Whether a feature request, or what is merged into it, has an open link.
    HasOpenLinks { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid } -> Bool,
    "SELECT EXISTS (
         SELECT FROM feature_requests AS member
         JOIN links ON links.workspace_id = {workspace} AND request_id = member.id AND state = 'open'
         WHERE member.workspace_id = {workspace} AND (member.id = {request} OR root_id = {request})
     )"
}

#[async_trait]
impl LinkSourceWrites for PostgresUnit {
    async fn load_link_sources(&mut self) -> Result<Vec<(LinkSource, String)>, StoreError> {
        self.lock_workspace(WorkspaceLock::LinkSources).await?;
        let select = link_sources::table
            .filter(link_sources::workspace_id.eq(self.workspace))
            .order((link_sources::created_at, link_sources::id))
            .select((link_source_columns(), link_sources::sealed_secret));
        let rows: Vec<(LinkSourceRow, String)> = self.run(select.load(&mut self.connection()?)).await?;
        rows.into_iter().map(sealed_link_source).collect()
    }

    async fn save_link_source(&mut self, source: &LinkSource, sealed: &str) -> Result<(), StoreError> {
        let changing = (
            link_sources::name.eq(source.name.as_str()),
            link_sources::sealed_secret.eq(sealed),
            link_sources::closed_track_id.eq(source.closed_track.map(|track| track.uuid())),
            link_sources::notify_all_voters.eq(source.notify_all_voters),
            link_sources::enabled.eq(source.enabled),
            link_sources::last_received_at.eq(source.last_received_at.map(TimestampColumn::from)),
            link_sources::updated_at.eq(TimestampColumn::from(source.updated_at)),
        );
        let row = (
            link_sources::workspace_id.eq(self.workspace),
            link_sources::id.eq(source.id.uuid()),
            link_sources::kind.eq(source.tracker.name()),
            link_sources::created_at.eq(TimestampColumn::from(source.created_at)),
            changing,
        );
        let insert = diesel::insert_into(link_sources::table)
            .values(row)
            .on_conflict((link_sources::workspace_id, link_sources::id))
            .do_update()
            .set(changing);
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn delete_link_source(&mut self, source: LinkSourceId) -> Result<(), StoreError> {
        let delete = diesel::delete(link_sources::table)
            .filter(link_sources::workspace_id.eq(self.workspace))
            .filter(link_sources::id.eq(source.uuid()));
        self.run(delete.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn last_report(&mut self, issue: &Issue) -> Result<Option<Timestamp>, StoreError> {
        let last = links::table
            .filter(links::workspace_id.eq(self.workspace))
            .filter(links::issue.eq(issue.key()))
            .select(max(links::reported_at));
        let last: Option<TimestampColumn> = self.run(last.get_result(&mut self.connection()?)).await?;
        last.map(|last| last.into_timestamp("links", "reported_at", issue.key())).transpose()
    }

    async fn links_to(
        &mut self,
        issue: &Issue,
        after: Option<LinkId>,
        limit: u32,
    ) -> Result<Vec<(FeatureRequestId, Link)>, StoreError> {
        let after = after.map_or(Uuid::nil(), LinkId::uuid);
        let select = LinksTo { workspace: self.workspace, issue: issue.key(), after, limit: limit.into() };
        let rows: Vec<IssueLinkRow> = self.run(select.load(&mut self.connection()?)).await?;
        let found: Vec<Link> = rows.into_iter().map(Link::try_from).collect::<Result<_, _>>()?;
        let ids = found.iter().map(|link| link.id.uuid()).collect();
        let showing = ShowingLinks { workspace: self.workspace, links: ids };
        let requests: Vec<Uuid> = self.run(showing.load(&mut self.connection()?)).await?;
        Ok(requests.into_iter().map(FeatureRequestId::new).zip(found).collect())
    }

    async fn save_reported_links(&mut self, reported: &[Link], reported_at: Timestamp) -> Result<(), StoreError> {
        for link in reported {
            let update = diesel::update(links::table)
                .filter(links::workspace_id.eq(self.workspace))
                .filter(links::id.eq(link.id.uuid()))
                .set((
                    links::title.eq(link.title.as_ref().map(|title| title.as_str())),
                    links::state.eq(link.state.map(LinkState::name)),
                    links::updated_at.eq(TimestampColumn::from(link.updated_at)),
                    links::reported_at.eq(TimestampColumn::from(reported_at)),
                ));
            self.run(update.execute(&mut self.connection()?)).await?;
        }
        Ok(())
    }

    async fn has_open_links(&mut self, request: FeatureRequestId) -> Result<bool, StoreError> {
        let select = HasOpenLinks { workspace: self.workspace, request: request.uuid() };
        self.run(select.get_result(&mut self.connection()?)).await
    }
}
