//! Mail that is to be sent.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary};
use diesel::{IntoSql, insert_into};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{CommentId, RequestId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::Outbox;

use crate::codec::Id;
use crate::schema::{outbox, votes};
use crate::unit::SqliteUnit;

#[async_trait]
impl Outbox for SqliteUnit {
    async fn notify_voters(&mut self, request: RequestId, comment: CommentId, at: Timestamp) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            let audience = votes::table
                .filter(votes::workspace_id.eq(workspace))
                .filter(votes::request_id.eq(Id(request.uuid())))
                .filter(votes::subscribed.eq(true))
                .select((
                    votes::workspace_id,
                    Id(comment.uuid()).into_sql::<Binary>(),
                    votes::customer_id,
                    at.millis().into_sql::<BigInt>(),
                ));
            insert_into(outbox::table)
                .values(audience)
                .into_columns((outbox::workspace_id, outbox::comment_id, outbox::customer_id, outbox::created_at))
                .execute(connection)?;
            Ok(())
        })
        .await
    }
}
