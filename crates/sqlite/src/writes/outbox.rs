//! Mail that is to be sent.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{CommentId, FeatureRequestId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_limits::MailBudgetWindow;
use roadmap_domain::ports::Outbox;
use uuid::Uuid;

use crate::codec::Id;
use crate::outbox_queue::{audience, write_out};
use crate::schema::{mail_hours, outbox_audiences};
use crate::unit::SqliteUnit;

#[async_trait]
impl Outbox for SqliteUnit {
    async fn count_mails(
        &mut self,
        request: FeatureRequestId,
        at: Timestamp,
        day: MailBudgetWindow,
        limit: u64,
    ) -> Result<u64, StoreError> {
        let (request, at, hour, since) = (Id(request.uuid()), at.millis(), day.hour.millis(), day.since.millis());
        let most = u32::try_from(limit.saturating_add(1)).unwrap_or(u32::MAX);
        self.run(move |connection, workspace| {
            let mails = audience(connection, workspace, request, at, most)?.cast_signed();
            let of_workspace = mail_hours::table.filter(mail_hours::workspace_id.eq(workspace));
            diesel::delete(of_workspace.filter(mail_hours::hour.lt(since))).execute(connection)?;
            diesel::insert_into(mail_hours::table)
                .values((
                    mail_hours::workspace_id.eq(workspace),
                    mail_hours::hour.eq(hour),
                    mail_hours::mails.eq(mails),
                ))
                .on_conflict((mail_hours::workspace_id, mail_hours::hour))
                .do_update()
                .set(mail_hours::mails.eq(mail_hours::mails + mails))
                .execute(connection)?;
            let counted: Vec<i64> = of_workspace.select(mail_hours::mails).load(connection)?;
            Ok(counted.into_iter().map(i64::unsigned_abs).sum())
        })
        .await
    }

    async fn notify_voters(
        &mut self,
        request: FeatureRequestId,
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
