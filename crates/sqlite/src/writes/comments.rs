//! Public comments.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::NewComment;
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::ports::CommentWrites;

use crate::codec::Id;
use crate::rows::{find_author, find_summary};
use crate::schema::comments;
use crate::unit::SqliteUnit;

#[async_trait]
impl CommentWrites for SqliteUnit {
    async fn insert_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let comment = comment.clone();
        let row = self
            .run(move |connection, workspace| {
                let Some(request) = find_summary(connection, workspace, &comment.request)? else { return Ok(None) };
                diesel::insert_into(comments::table)
                    .values((
                        comments::workspace_id.eq(workspace),
                        comments::id.eq(Id(comment.id.uuid())),
                        comments::request_id.eq(request.id),
                        comments::author_id.eq(find_author(connection, workspace, &comment.author)?),
                        comments::content.eq(comment.content.as_str()),
                        comments::created_at.eq(comment.created_at.millis()),
                    ))
                    .execute(connection)?;
                Ok(Some(request))
            })
            .await?;
        row.map(FeatureRequestSummary::try_from).transpose()
    }
}
