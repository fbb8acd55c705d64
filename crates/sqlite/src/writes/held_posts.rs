//! What waits for approval.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::{SqliteConnection, delete, insert_into, update};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::{CommentAuthor, NewComment};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, FeatureRequestId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::HeldPostWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::SummaryRow;

use crate::errors::SqlError;
use crate::rows::find_summary;
use crate::schema::{comments, feature_requests, held_comments};
use crate::unit::SqliteUnit;
use crate::writes::votes::find_or_insert_customer;

/// Stores a comment of a customer that waits for approval. Comments of members do not.
fn hold(
    connection: &mut SqliteConnection,
    workspace: Id,
    comment: &NewComment,
) -> Result<Option<SummaryRow>, SqlError> {
    let CommentAuthor::Customer(customer) = &comment.author else {
        return Err(StoreError::Fatal("a comment of the team does not wait for approval".into()).into());
    };
    let Some(request) = find_summary(connection, workspace, &comment.request)? else { return Ok(None) };
    let customer = find_or_insert_customer(connection, workspace, customer, comment.created_at)?;
    insert_into(held_comments::table)
        .values((
            held_comments::workspace_id.eq(workspace),
            held_comments::id.eq(Id(comment.id.uuid())),
            held_comments::request_id.eq(request.id),
            held_comments::customer_id.eq(customer),
            held_comments::content.eq(comment.content.as_str()),
            held_comments::created_at.eq(comment.created_at.millis()),
        ))
        .execute(connection)?;
    Ok(Some(request))
}

/// Deletes a comment that waits. Returns its feature request, its author, its content and its timestamp.
fn take_held(
    connection: &mut SqliteConnection,
    workspace: Id,
    comment: Id,
) -> Result<Option<(Id, Id, String, i64)>, SqlError> {
    let held =
        held_comments::table.filter(held_comments::workspace_id.eq(workspace)).filter(held_comments::id.eq(comment));
    let columns =
        (held_comments::request_id, held_comments::customer_id, held_comments::content, held_comments::created_at);
    Ok(delete(held).returning(columns).get_result(connection).optional()?)
}

#[async_trait]
impl HeldPostWrites for SqliteUnit {
    async fn hold_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let comment = comment.clone();
        let row = self.run(move |connection, workspace| hold(connection, workspace, &comment)).await?;
        row.map(FeatureRequestSummary::try_from).transpose()
    }

    async fn find_held_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let request: Option<Id> = self
            .run(move |connection, workspace| {
                Ok(held_comments::table
                    .find((workspace, Id(comment.uuid())))
                    .select(held_comments::request_id)
                    .first(connection)
                    .optional()?)
            })
            .await?;
        Ok(request.map(|request| FeatureRequestId::new(request.0)))
    }

    async fn approve_comment(
        &mut self,
        comment: CommentId,
    ) -> Result<Option<(FeatureRequestId, CleanHtml)>, StoreError> {
        let id = Id(comment.uuid());
        self.run(move |connection, workspace| {
            let Some((request, customer, content, created_at)) = take_held(connection, workspace, id)? else {
                return Ok(None);
            };
            insert_into(comments::table)
                .values((
                    comments::workspace_id.eq(workspace),
                    comments::id.eq(id),
                    comments::request_id.eq(request),
                    comments::customer_id.eq(customer),
                    comments::content.eq(&content),
                    comments::created_at.eq(created_at),
                    comments::updated_at.eq(created_at),
                ))
                .execute(connection)?;
            Ok(Some((FeatureRequestId::new(request.0), CleanHtml::from_stored(content))))
        })
        .await
    }

    async fn discard_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let id = Id(comment.uuid());
        let held = self.run(move |connection, workspace| take_held(connection, workspace, id)).await?;
        Ok(held.map(|(request, ..)| FeatureRequestId::new(request.0)))
    }

    async fn decline_feature_request(&mut self, request: FeatureRequestId, at: Timestamp) -> Result<bool, StoreError> {
        let id = Id(request.uuid());
        self.run(move |connection, workspace| {
            let waiting = feature_requests::table
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::id.eq(id))
                .filter(feature_requests::awaiting_approval.eq(true));
            let declined = update(waiting)
                .set((feature_requests::awaiting_approval.eq(false), feature_requests::updated_at.eq(at.millis())))
                .execute(connection)?;
            Ok(declined > 0)
        })
        .await
    }
}
