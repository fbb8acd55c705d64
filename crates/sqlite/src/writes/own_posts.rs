//! What customers have written, for themselves.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, CustomerId, FeatureRequestId};
use roadmap_domain::model::own_post::{OwnComment, OwnRequest};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::OwnPostWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::{OwnCommentRow, OwnRequestRow};

use crate::schema::{feature_requests, held_comments};
use crate::statement::statement;
use crate::unit::SqliteUnit;

statement! {
    /// Selects a comment of a customer, with the feature request that shows it.
    FindOwnComment { workspace: Id => Binary, comment: Id => Binary, customer: Id => Binary }
        -> ((Binary, BigInt, Text), Text, (BigInt, Bool, Bool)),
    "WITH scope (workspace, comment, customer) AS (SELECT ?, ?, ?),
     own (request, content, at, is_held) AS (
         SELECT request_id, content, created_at, 0 FROM scope CROSS JOIN comments
             ON comments.workspace_id = scope.workspace AND comments.id = scope.comment
            AND comments.customer_id = scope.customer
         UNION ALL
         SELECT request_id, content, created_at, 1 FROM scope CROSS JOIN held_comments held
             ON held.workspace_id = scope.workspace AND held.id = scope.comment AND held.customer_id = scope.customer
     ),
     root (id, tag_number, title) AS (
         SELECT shown.id, shown.tag_number, shown.title FROM scope CROSS JOIN own
         CROSS JOIN feature_requests written ON written.workspace_id = scope.workspace AND written.id = own.request
         CROSS JOIN feature_requests shown ON shown.workspace_id = scope.workspace
                AND shown.id = coalesce(written.root_id, written.id)
     )
     SELECT root.id, root.tag_number, root.title, own.content, own.at, EXISTS (
         SELECT 1 FROM comments answer WHERE answer.workspace_id = scope.workspace AND answer.customer_id IS NULL
            AND answer.created_at > own.at AND answer.request_id IN (
                SELECT root.id UNION ALL
                SELECT merged.id FROM feature_requests merged
                WHERE merged.workspace_id = scope.workspace AND merged.root_id = root.id
            )
     ), own.is_held
     FROM scope CROSS JOIN own CROSS JOIN root"
}

statement! {
    /// Selects a feature request of a customer, itself, by its ID or its number, and whether others have a part in it.
    FindOwnRequest {
        workspace: Id => Binary, customer: Id => Binary, id: Option<Id> => Nullable<Binary>,
        number: Option<i64> => Nullable<BigInt>,
    } -> ((Binary, BigInt, Text), Nullable<Binary>, (BigInt, Bool, Bool), Bool),
    "WITH scope (workspace, customer, id, number) AS (SELECT ?, ?, ?, ?)
     SELECT own.id, own.tag_number, own.title, own.root_id, own.created_at,
            own.handled_at IS NOT NULL OR EXISTS (
                SELECT 1 FROM comments WHERE comments.workspace_id = own.workspace_id
                   AND comments.request_id = own.id AND comments.customer_id IS NULL
            ),
            own.awaiting_approval,
            own.handled_at IS NOT NULL OR own.root_id IS NOT NULL OR EXISTS (
                SELECT 1 FROM feature_requests merged
                WHERE merged.workspace_id = own.workspace_id AND merged.root_id = own.id
            ) OR EXISTS (
                SELECT 1 FROM votes WHERE votes.workspace_id = own.workspace_id AND votes.request_id = own.id
                   AND votes.customer_id <> own.author_id
            ) OR EXISTS (
                SELECT 1 FROM vote_tallies tally WHERE tally.row_number = own.row_number AND tally.nameless_votes > 0
            ) OR EXISTS (
                SELECT 1 FROM followers WHERE followers.workspace_id = own.workspace_id
                   AND followers.request_id = own.id AND followers.customer_id <> own.author_id
            ) OR EXISTS (
                SELECT 1 FROM comments WHERE comments.workspace_id = own.workspace_id
                   AND comments.request_id = own.id AND comments.customer_id IS NOT own.author_id
            ) OR EXISTS (
                SELECT 1 FROM held_comments held WHERE held.workspace_id = own.workspace_id
                   AND held.request_id = own.id AND held.customer_id <> own.author_id
            ) OR EXISTS (
                SELECT 1 FROM notes WHERE notes.workspace_id = own.workspace_id AND notes.request_id = own.id
            ) OR EXISTS (
                SELECT 1 FROM links WHERE links.workspace_id = own.workspace_id AND links.request_id = own.id
            ) OR EXISTS (
                SELECT 1 FROM changelog_feature_requests linked
                WHERE linked.workspace_id = own.workspace_id AND linked.request_id = own.id
            )
     FROM scope CROSS JOIN feature_requests own
         ON own.workspace_id = scope.workspace AND own.author_id = scope.customer
     WHERE own.id = scope.id OR own.tag_number = scope.number"
}

#[async_trait]
impl OwnPostWrites for SqliteUnit {
    async fn find_own_comment(
        &mut self,
        comment: CommentId,
        customer: CustomerId,
    ) -> Result<Option<OwnComment>, StoreError> {
        let (comment, customer) = (Id(comment.uuid()), Id(customer.uuid()));
        let row: Option<OwnCommentRow> = self
            .run(move |connection, workspace| {
                Ok(FindOwnComment { workspace, comment, customer }.get_result(connection).optional()?)
            })
            .await?;
        row.map(OwnComment::try_from).transpose()
    }

    async fn update_held_comment(&mut self, comment: CommentId, content: &CleanHtml) -> Result<bool, StoreError> {
        let (comment, content) = (Id(comment.uuid()), content.clone());
        self.run(move |connection, workspace| {
            let updated = diesel::update(held_comments::table.find((workspace, comment)))
                .set(held_comments::content.eq(content.as_str()))
                .execute(connection)?;
            Ok(updated > 0)
        })
        .await
    }

    async fn find_own_request(
        &mut self,
        request: &FeatureRequestRef,
        customer: CustomerId,
    ) -> Result<Option<OwnRequest>, StoreError> {
        let (id, number) = match request {
            FeatureRequestRef::Id(id) => (Some(Id(id.uuid())), None),
            FeatureRequestRef::Number(number) => (None, Some(*number)),
            FeatureRequestRef::Unresolvable => return Ok(None),
        };
        let customer = Id(customer.uuid());
        let row: Option<OwnRequestRow> = self
            .run(move |connection, workspace| {
                Ok(FindOwnRequest { workspace, customer, id, number }.get_result(connection).optional()?)
            })
            .await?;
        row.map(OwnRequest::try_from).transpose()
    }

    async fn remove_author(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            diesel::update(feature_requests::table)
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::id.eq(Id(request.uuid())))
                .set((
                    feature_requests::author_id.eq(None::<Id>),
                    feature_requests::description.eq(""),
                    feature_requests::description_text.eq(""),
                    feature_requests::updated_at.eq(at.millis()),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }
}
