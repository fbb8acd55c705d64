//! Link sources, and what they report.

use async_trait::async_trait;
use diesel::dsl::{exists, max, select};
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{FeatureRequestId, LinkId, LinkSourceId};
use roadmap_domain::model::link::{Issue, Link, LinkState};
use roadmap_domain::model::link_source::LinkSource;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::LinkSourceWrites;
use roadmap_store::columns::{Id, TimestampColumn};
use roadmap_store::rows::{IssueLinkRow, sealed_link_source};
use uuid::Uuid;

use crate::reads::link_sources::sealed_link_sources;
use crate::reads::links::{IssueLinkSql, link_columns, link_owners};
use crate::schema::{link_sources, links};
use crate::statement::statement;
use crate::trees::tree_members;
use crate::unit::SqliteUnit;

statement! {
    /// Selects the links to an issue, in the order of their IDs, each with the feature request that shows it.
    LinksTo { workspace: Id => Binary, issue: String => Text, after: Id => Binary, limit: i64 => BigInt } -> (
        Binary, IssueLinkSql
    ),
    concat!(
        "SELECT coalesce(source.root_id, links.request_id), ", link_columns!(), " FROM links", link_owners!(), "
         WHERE links.workspace_id = ? AND links.issue = ? AND links.id > ? ORDER BY links.id LIMIT ?"
    )
}

#[async_trait]
impl LinkSourceWrites for SqliteUnit {
    async fn load_link_sources(&mut self) -> Result<Vec<(LinkSource, String)>, StoreError> {
        let rows = self.run(sealed_link_sources).await?;
        rows.into_iter().map(sealed_link_source).collect()
    }

    async fn save_link_source(&mut self, source: &LinkSource, sealed: &str) -> Result<(), StoreError> {
        let (source, sealed) = (source.clone(), sealed.to_owned());
        self.run(move |connection, workspace| {
            let row = (
                link_sources::workspace_id.eq(workspace),
                link_sources::id.eq(Id(source.id.uuid())),
                link_sources::name.eq(source.name.as_str()),
                link_sources::kind.eq(source.tracker.name()),
                link_sources::sealed_secret.eq(sealed),
                link_sources::closed_track_id.eq(source.closed_track.map(|track| Id(track.uuid()))),
                link_sources::notify_all_voters.eq(source.notify_all_voters),
                link_sources::enabled.eq(source.enabled),
                link_sources::last_received_at.eq(source.last_received_at.map(Timestamp::millis)),
                link_sources::created_at.eq(source.created_at.millis()),
                link_sources::updated_at.eq(source.updated_at.millis()),
            );
            diesel::replace_into(link_sources::table).values(row).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn delete_link_source(&mut self, source: LinkSourceId) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            diesel::delete(link_sources::table.find((workspace, Id(source.uuid())))).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn last_report(&mut self, issue: &Issue) -> Result<Option<Timestamp>, StoreError> {
        let key = issue.key();
        let last: Option<TimestampColumn> = self
            .run(move |connection, workspace| {
                let to_issue = links::table.filter(links::workspace_id.eq(workspace)).filter(links::issue.eq(key));
                Ok(to_issue.select(max(links::reported_at)).get_result(connection)?)
            })
            .await?;
        last.map(|last| last.into_timestamp("links", "reported_at", issue.key())).transpose()
    }

    async fn links_to(
        &mut self,
        issue: &Issue,
        after: Option<LinkId>,
        limit: u32,
    ) -> Result<Vec<(FeatureRequestId, Link)>, StoreError> {
        let (issue, after) = (issue.key(), Id(after.map_or(Uuid::nil(), LinkId::uuid)));
        let rows: Vec<(Id, IssueLinkRow)> = self
            .run(move |connection, workspace| {
                Ok(LinksTo { workspace, issue, after, limit: limit.into() }.load(connection)?)
            })
            .await?;
        rows.into_iter().map(|(request, row)| Ok((FeatureRequestId::new(request.0), row.try_into()?))).collect()
    }

    async fn save_reported_links(&mut self, reported: &[Link], reported_at: Timestamp) -> Result<(), StoreError> {
        let reported = reported.to_vec();
        self.run(move |connection, workspace| {
            for link in reported {
                diesel::update(links::table.find((workspace, Id(link.id.uuid()))))
                    .set((
                        links::title.eq(link.title.as_ref().map(|title| title.as_str())),
                        links::state.eq(link.state.map(LinkState::name)),
                        links::updated_at.eq(link.updated_at.millis()),
                        links::reported_at.eq(reported_at.millis()),
                    ))
                    .execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn has_open_links(&mut self, request: FeatureRequestId) -> Result<bool, StoreError> {
        let root = Id(request.uuid());
        self.run(move |connection, workspace| {
            let members = tree_members(connection, workspace, root)?;
            let open = links::table
                .filter(links::workspace_id.eq(workspace))
                .filter(links::request_id.eq_any(members))
                .filter(links::state.eq(LinkState::Open.name()));
            Ok(select(exists(open)).get_result(connection)?)
        })
        .await
    }
}
