//! Links of feature requests.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{Binary, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{FeatureRequestId, LinkId};
use roadmap_domain::model::link::{Issue, Link, LinkState};
use roadmap_domain::ports::LinkWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::IssueLinkRow;

use crate::reads::links::{IssueLinkSql, link_columns, link_owners};
use crate::schema::links;
use crate::statement::statement;
use crate::unit::SqliteUnit;

statement! {
    /// Selects a link.
    FindLink { workspace: Id => Binary, link: Id => Binary } -> IssueLinkSql,
    concat!(
        "SELECT ", link_columns!(), " FROM links", link_owners!(), "WHERE links.workspace_id = ? AND links.id = ?"
    )
}

statement! {
    /// Selects the link of a feature request, or of one that is merged into it, to an issue.
    FindLinkTo { workspace: Id => Binary, request: Id => Binary, issue: String => Text } -> IssueLinkSql,
    concat!(
        "WITH scope (workspace, request, issue) AS (SELECT ?, ?, ?)
         SELECT ", link_columns!(), " FROM scope
         CROSS JOIN links ON links.workspace_id = scope.workspace AND links.issue = scope.issue", link_owners!(), "
         WHERE links.request_id = scope.request OR source.root_id = scope.request
         ORDER BY source.id IS NOT NULL, links.created_at, links.id LIMIT 1"
    )
}

#[async_trait]
impl LinkWrites for SqliteUnit {
    async fn find_link(&mut self, link: LinkId) -> Result<Option<Link>, StoreError> {
        let link = Id(link.uuid());
        let row: Option<IssueLinkRow> = self
            .run(move |connection, workspace| Ok(FindLink { workspace, link }.get_result(connection).optional()?))
            .await?;
        row.map(Link::try_from).transpose()
    }

    async fn find_link_to(&mut self, request: FeatureRequestId, issue: &Issue) -> Result<Option<Link>, StoreError> {
        let (request, issue) = (Id(request.uuid()), issue.key());
        let row: Option<IssueLinkRow> = self
            .run(move |connection, workspace| {
                Ok(FindLinkTo { workspace, request, issue }.get_result(connection).optional()?)
            })
            .await?;
        row.map(Link::try_from).transpose()
    }

    async fn count_links(&mut self, request: FeatureRequestId) -> Result<u64, StoreError> {
        let request = Id(request.uuid());
        let count: i64 = self
            .run(move |connection, workspace| {
                let of_request = links::table.filter(links::workspace_id.eq(workspace));
                Ok(of_request.filter(links::request_id.eq(request)).count().get_result(connection)?)
            })
            .await?;
        Ok(count.unsigned_abs())
    }

    async fn insert_link(&mut self, request: FeatureRequestId, link: &Link) -> Result<(), StoreError> {
        let (request, link) = (Id(request.uuid()), link.clone());
        self.run(move |connection, workspace| {
            diesel::insert_into(links::table)
                .values((
                    links::workspace_id.eq(workspace),
                    links::id.eq(Id(link.id.uuid())),
                    links::request_id.eq(request),
                    links::url.eq(link.url.as_str()),
                    links::issue.eq(link.url.issue().key()),
                    links::title.eq(link.title.as_ref().map(|title| title.as_str())),
                    links::state.eq(link.state.map(LinkState::name)),
                    links::created_at.eq(link.created_at.millis()),
                    links::updated_at.eq(link.updated_at.millis()),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn save_link(&mut self, link: &Link) -> Result<(), StoreError> {
        let link = link.clone();
        self.run(move |connection, workspace| {
            diesel::update(links::table.find((workspace, Id(link.id.uuid()))))
                .set((
                    links::title.eq(link.title.as_ref().map(|title| title.as_str())),
                    links::state.eq(link.state.map(LinkState::name)),
                    links::updated_at.eq(link.updated_at.millis()),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn delete_link(&mut self, link: LinkId) -> Result<Option<FeatureRequestId>, StoreError> {
        let link = Id(link.uuid());
        let request: Option<Id> = self
            .run(move |connection, workspace| {
                let row = links::table.filter(links::workspace_id.eq(workspace)).filter(links::id.eq(link));
                Ok(diesel::delete(row).returning(links::request_id).get_result(connection).optional()?)
            })
            .await?;
        Ok(request.map(|request| FeatureRequestId::new(request.0)))
    }
}
