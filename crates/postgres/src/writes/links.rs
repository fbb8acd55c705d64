//! Links of feature requests.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{FeatureRequestId, LinkId};
use roadmap_domain::model::link::{Issue, Link, LinkState};
use roadmap_domain::ports::LinkWrites;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::IssueLinkRow;
use uuid::Uuid;

use crate::rows::{IssueLinkColumns, issue_links};
use crate::schema::links;
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Selects and locks a link.
    FindLink { workspace: Uuid => SqlUuid, link: Uuid => SqlUuid } -> IssueLinkColumns,
    concat!(issue_links!("links"), " WHERE link.workspace_id = {workspace} AND link.id = {link} FOR UPDATE OF link")
}

statement! {
    /// Selects and locks the link of a feature request, or of one that is merged into it, to an issue.
    FindLinkTo { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid, issue: String => Text } -> IssueLinkColumns,
    concat!(issue_links!("links"), " WHERE link.workspace_id = {workspace} AND link.issue = {issue}
         AND (link.request_id = {request} OR source.root_id = {request})
     ORDER BY source.id IS NOT NULL, link.created_at, link.id LIMIT 1 FOR UPDATE OF link")
}

#[async_trait]
impl LinkWrites for PostgresUnit {
    async fn find_link(&mut self, link: LinkId) -> Result<Option<Link>, StoreError> {
        let find = FindLink { workspace: self.workspace, link: link.uuid() };
        let row: Option<IssueLinkRow> = self.run_optional(find.get_result(&mut self.connection()?)).await?;
        row.map(Link::try_from).transpose()
    }

    async fn find_link_to(&mut self, request: FeatureRequestId, issue: &Issue) -> Result<Option<Link>, StoreError> {
        let find = FindLinkTo { workspace: self.workspace, request: request.uuid(), issue: issue.key() };
        let row: Option<IssueLinkRow> = self.run_optional(find.get_result(&mut self.connection()?)).await?;
        row.map(Link::try_from).transpose()
    }

    async fn count_links(&mut self, request: FeatureRequestId) -> Result<u64, StoreError> {
        let count = links::table
            .filter(links::workspace_id.eq(self.workspace))
            .filter(links::request_id.eq(request.uuid()))
            .count();
        let count: i64 = self.run(count.get_result(&mut self.connection()?)).await?;
        Ok(count.unsigned_abs())
    }

    async fn insert_link(&mut self, request: FeatureRequestId, link: &Link) -> Result<(), StoreError> {
        let insert = diesel::insert_into(links::table).values((
            links::workspace_id.eq(self.workspace),
            links::id.eq(link.id.uuid()),
            links::request_id.eq(request.uuid()),
            links::url.eq(link.url.as_str()),
            links::issue.eq(link.url.issue().key()),
            links::title.eq(link.title.as_ref().map(|title| title.as_str())),
            links::state.eq(link.state.map(LinkState::name)),
            links::created_at.eq(TimestampColumn::from(link.created_at)),
            links::updated_at.eq(TimestampColumn::from(link.updated_at)),
        ));
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn save_link(&mut self, link: &Link) -> Result<(), StoreError> {
        let update = diesel::update(links::table)
            .filter(links::workspace_id.eq(self.workspace))
            .filter(links::id.eq(link.id.uuid()))
            .set((
                links::title.eq(link.title.as_ref().map(|title| title.as_str())),
                links::state.eq(link.state.map(LinkState::name)),
                links::updated_at.eq(TimestampColumn::from(link.updated_at)),
            ));
        self.run(update.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn delete_link(&mut self, link: LinkId) -> Result<Option<FeatureRequestId>, StoreError> {
        let delete = diesel::delete(links::table)
            .filter(links::workspace_id.eq(self.workspace))
            .filter(links::id.eq(link.uuid()))
            .returning(links::request_id);
        let request: Option<Uuid> = self.run_optional(delete.get_result(&mut self.connection()?)).await?;
        Ok(request.map(FeatureRequestId::new))
    }
}
