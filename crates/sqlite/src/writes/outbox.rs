//! Mail that is to be sent.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{CommentId, RequestId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::Outbox;
use uuid::Uuid;

use crate::codec::Id;
use crate::outbox_queue::{audience, write_out};
use crate::schema::outbox_audiences;
use crate::unit::SqliteUnit;

#[async_trait]
impl Outbox for SqliteUnit {
    async fn notify_voters(
        &mut self,
        request: RequestId,
        comment: CommentId,
        at: Timestamp,
        at_once: u32,
    ) -> Result<(), StoreError> {
        let (request, comment, at) = (Id(request.uuid()), Id(comment.uuid()), at.millis());
        self.run(move |connection, workspace| {
            let nobody = Id(Uuid::nil());
            let audience = audience(connection, workspace, request, at, at_once.saturating_add(1))?;
            if audience <= u64::from(at_once) {
                write_out(connection, workspace, request, comment, nobody, at, at_once)?;
            } else {
                diesel::insert_into(outbox_audiences::table)
                    .values((
                        outbox_audiences::workspace_id.eq(workspace),
                        outbox_audiences::comment_id.eq(comment),
                        outbox_audiences::request_id.eq(request),
                        outbox_audiences::after_customer_id.eq(nobody),
                        outbox_audiences::created_at.eq(at),
                    ))
                    .execute(connection)?;
            }
            Ok(())
        })
        .await
    }
}
