//! What waits for approval.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::{CommentAuthor, NewComment};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, FeatureRequestId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::HeldPostWrites;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::SummaryRow;
use uuid::Uuid;

use crate::schema::{feature_requests, held_comments};
use crate::statement::{id_or_number, statement};
use crate::unit::PostgresUnit;
use crate::writes::comments::HoldComment;

statement! {
    /// Moves a comment that waits to the public ones. Returns its feature request and its content, or no row if no
    /// such comment waits.
    ApproveComment { workspace: Uuid => SqlUuid, id: Uuid => SqlUuid } -> (SqlUuid, Text),
    "WITH held AS (
         DELETE FROM held_comments WHERE workspace_id = {workspace} AND id = {id}
         RETURNING id, request_id, customer_id, content, created_at
     )
     INSERT INTO comments (workspace_id, id, request_id, customer_id, content, created_at, updated_at)
     SELECT {workspace}, id, request_id, customer_id, content, created_at, created_at FROM held
     RETURNING request_id, content"
}

statement! {
    /// Deletes a comment that waits. Returns its feature request, or no row if no such comment waits.
    DiscardComment { workspace: Uuid => SqlUuid, id: Uuid => SqlUuid } -> SqlUuid,
    "DELETE FROM held_comments WHERE workspace_id = {workspace} AND id = {id} RETURNING request_id"
}

#[async_trait]
impl HeldPostWrites for PostgresUnit {
    async fn hold_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let Some(reference) = id_or_number(&comment.request) else { return Ok(None) };
        let CommentAuthor::Customer(customer) = &comment.author else {
            return Err(StoreError::Fatal("a comment of a member cannot wait for approval".into()));
        };
        let hold = HoldComment::new(self.workspace, reference, comment, customer);
        let row: Option<SummaryRow> = self.run_optional(hold.get_result(&mut self.connection()?)).await?;
        row.map(FeatureRequestSummary::try_from).transpose()
    }

    async fn approve_comment(
        &mut self,
        comment: CommentId,
    ) -> Result<Option<(FeatureRequestId, CleanHtml)>, StoreError> {
        let approve = ApproveComment { workspace: self.workspace, id: comment.uuid() };
        let row: Option<(Uuid, String)> = self.run_optional(approve.get_result(&mut self.connection()?)).await?;
        Ok(row.map(|(request, content)| (FeatureRequestId::new(request), CleanHtml::from_stored(content))))
    }

    async fn discard_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let discard = DiscardComment { workspace: self.workspace, id: comment.uuid() };
        let request: Option<Uuid> = self.run_optional(discard.get_result(&mut self.connection()?)).await?;
        Ok(request.map(FeatureRequestId::new))
    }

    async fn find_held_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let request = held_comments::table
            .filter(held_comments::workspace_id.eq(self.workspace))
            .filter(held_comments::id.eq(comment.uuid()))
            .select(held_comments::request_id);
        let request: Option<Uuid> = self.run_optional(request.first(&mut self.connection()?)).await?;
        Ok(request.map(FeatureRequestId::new))
    }

    async fn decline_feature_request(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError> {
        let decline = diesel::update(feature_requests::table)
            .filter(feature_requests::workspace_id.eq(self.workspace))
            .filter(feature_requests::id.eq(request.uuid()))
            .filter(feature_requests::awaiting_approval)
            .set((
                feature_requests::awaiting_approval.eq(false),
                feature_requests::updated_at.eq(TimestampColumn::from(at)),
            ));
        Ok(self.run(decline.execute(&mut self.connection()?)).await? > 0)
    }
}
