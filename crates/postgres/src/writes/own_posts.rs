//! What customers have written, for themselves.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, CustomerId, FeatureRequestId};
use roadmap_domain::model::own_post::{OwnComment, OwnRequest};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::OwnPostWrites;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{OwnCommentRow, OwnRequestRow};
use uuid::Uuid;

use crate::statement::{id_or_number, statement};
use crate::unit::PostgresUnit;

statement! {
    /// Selects a comment of a customer, with the feature request that shows it.
    FindOwnComment { workspace: Uuid => SqlUuid, comment: Uuid => SqlUuid, customer: Uuid => SqlUuid }
        -> ((SqlUuid, BigInt, Text), Text, (Timestamptz, Bool, Bool)),
    "WITH own AS MATERIALIZED (
         SELECT request_id, content, created_at, false AS is_held FROM comments
         WHERE workspace_id = {workspace} AND id = {comment} AND customer_id = {customer}
         UNION ALL
         SELECT request_id, content, created_at, true FROM held_comments
         WHERE workspace_id = {workspace} AND id = {comment} AND customer_id = {customer}
     ), root AS MATERIALIZED (
         SELECT shown.id, shown.tag_number, shown.title FROM own
         JOIN feature_requests AS written ON written.workspace_id = {workspace} AND written.id = own.request_id
         JOIN feature_requests AS shown
           ON shown.workspace_id = {workspace} AND shown.id = coalesce(written.root_id, written.id)
     )
     SELECT root.id, root.tag_number, root.title, own.content, own.created_at, EXISTS (
         SELECT FROM comments AS answer WHERE answer.workspace_id = {workspace} AND answer.customer_id IS NULL
            AND answer.created_at > own.created_at AND answer.request_id IN (
                SELECT root.id UNION ALL
                SELECT merged.id FROM feature_requests AS merged
                WHERE merged.workspace_id = {workspace} AND merged.root_id = root.id
            )
     ), own.is_held
     FROM own, root"
}

statement! {
    /// Selects a feature request of a customer, itself, by its ID or its number, and whether others have a part in it.
    FindOwnRequest {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
    } -> ((SqlUuid, BigInt, Text), Nullable<SqlUuid>, (Timestamptz, Bool, Bool), Bool),
    "SELECT own.id, own.tag_number, own.title, own.root_id, own.created_at,
            own.handled_at IS NOT NULL OR EXISTS (
                SELECT FROM comments WHERE comments.workspace_id = {workspace}
                   AND comments.request_id = own.id AND comments.customer_id IS NULL
            ),
            own.awaiting_approval,
            own.handled_at IS NOT NULL OR own.root_id IS NOT NULL OR EXISTS (
                SELECT FROM feature_requests AS merged
                WHERE merged.workspace_id = {workspace} AND merged.root_id = own.id
            ) OR EXISTS (
                SELECT FROM votes WHERE votes.workspace_id = {workspace} AND votes.request_id = own.id
                   AND votes.customer_id <> {customer}
            ) OR EXISTS (
                SELECT FROM vote_tallies WHERE vote_tallies.workspace_id = {workspace}
                   AND vote_tallies.request_id = own.id AND nameless_votes > 0
            ) OR EXISTS (
                SELECT FROM followers WHERE followers.workspace_id = {workspace} AND followers.request_id = own.id
                   AND followers.customer_id <> {customer}
            ) OR EXISTS (
                SELECT FROM comments WHERE comments.workspace_id = {workspace} AND comments.request_id = own.id
                   AND comments.customer_id IS DISTINCT FROM {customer}
            ) OR EXISTS (
                SELECT FROM held_comments WHERE held_comments.workspace_id = {workspace}
                   AND held_comments.request_id = own.id AND held_comments.customer_id <> {customer}
            ) OR EXISTS (
                SELECT FROM notes WHERE notes.workspace_id = {workspace} AND notes.request_id = own.id
            ) OR EXISTS (
                SELECT FROM links WHERE links.workspace_id = {workspace} AND links.request_id = own.id
            ) OR EXISTS (
                SELECT FROM changelog_feature_requests AS linked
                WHERE linked.workspace_id = {workspace} AND linked.request_id = own.id
            )
     FROM feature_requests AS own
     WHERE own.workspace_id = {workspace} AND own.author_id = {customer}
       AND (own.id = {request} OR own.tag_number = {number})"
}

statement! {
    /// Replaces the content of a comment that waits.
    UpdateHeldComment { workspace: Uuid => SqlUuid, comment: Uuid => SqlUuid, content: String => Text } -> Untyped,
    "UPDATE held_comments SET content = {content} WHERE workspace_id = {workspace} AND id = {comment}"
}

statement! {
    /// Removes the author and the description from a feature request.
    RemoveAuthor { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid, at: TimestampColumn => Timestamptz } -> Untyped,
    "UPDATE feature_requests SET author_id = NULL, description = '', description_text = '', updated_at = {at}
     WHERE workspace_id = {workspace} AND id = {request}"
}

#[async_trait]
impl OwnPostWrites for PostgresUnit {
    async fn find_own_comment(
        &mut self,
        comment: CommentId,
        customer: CustomerId,
    ) -> Result<Option<OwnComment>, StoreError> {
        let find = FindOwnComment { workspace: self.workspace, comment: comment.uuid(), customer: customer.uuid() };
        let row: Option<OwnCommentRow> = self.run_optional(find.get_result(&mut self.connection()?)).await?;
        row.map(OwnComment::try_from).transpose()
    }

    async fn update_held_comment(&mut self, comment: CommentId, content: &CleanHtml) -> Result<bool, StoreError> {
        let (comment, content) = (comment.uuid(), content.as_str().to_owned());
        let update = UpdateHeldComment { workspace: self.workspace, comment, content };
        Ok(self.run(update.execute(&mut self.connection()?)).await? > 0)
    }

    async fn find_own_request(
        &mut self,
        request: &FeatureRequestRef,
        customer: CustomerId,
    ) -> Result<Option<OwnRequest>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let find = FindOwnRequest { workspace: self.workspace, customer: customer.uuid(), request, number };
        let row: Option<OwnRequestRow> = self.run_optional(find.get_result(&mut self.connection()?)).await?;
        row.map(OwnRequest::try_from).transpose()
    }

    async fn remove_author(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<(), StoreError> {
        let remove = RemoveAuthor { workspace: self.workspace, request: request.uuid(), at: at.into() };
        self.run(remove.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
