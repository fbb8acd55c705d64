//! Mail that is to be sent.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Timestamptz, Uuid as SqlUuid};
use diesel::{IntoSql, insert_into};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{CommentId, RequestId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::Outbox;

use crate::codec::Moment;
use crate::schema::{outbox, votes};
use crate::unit::PostgresUnit;

#[async_trait]
impl Outbox for PostgresUnit {
    async fn notify_voters(&mut self, request: RequestId, comment: CommentId, at: Timestamp) -> Result<(), StoreError> {
        let audience = votes::table
            .filter(votes::workspace_id.eq(self.workspace))
            .filter(votes::request_id.eq(request.uuid()))
            .filter(votes::subscribed.eq(true))
            .select((
                votes::workspace_id,
                comment.uuid().into_sql::<SqlUuid>(),
                votes::customer_id,
                Moment::from(at).into_sql::<Timestamptz>(),
            ));
        let insert = insert_into(outbox::table).values(audience).into_columns((
            outbox::workspace_id,
            outbox::comment_id,
            outbox::customer_id,
            outbox::created_at,
        ));
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
