//! Reads the content and the recipients of mails.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, NullableExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::id::{CommentId, CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::mail::{CommentedRequest, HeldMessage, MailId, MailRecipient, MailSender};
use roadmap_domain::model::message::MessageId;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::ports::MailReader;
use uuid::Uuid;

use crate::PostgresStore;
use crate::codec::TimestampColumn;
use crate::outbox_queue::recipient;
use crate::schema::outbox;
use crate::statement::statement;

statement! {
    /// Selects the sender of a workspace's mail.
    SenderOf { workspace: Uuid => SqlUuid } -> (Text, Text),
    "SELECT product_name, subdomain FROM settings JOIN workspaces ON workspaces.id = workspace_id
     WHERE workspace_id = {workspace}"
}

statement! {
    /// Selects the recipients of mails. A mail is a pair of a comment and a customer.
    Recipients {
        workspace: Uuid => SqlUuid,
        comments: Vec<Uuid> => Array<SqlUuid>,
        customers: Vec<Uuid> => Array<SqlUuid>,
        hour: TimestampColumn => Timestamptz,
        now: TimestampColumn => Timestamptz,
    } -> (SqlUuid, SqlUuid, Text, Bool, Nullable<Bool>, BigInt),
    "SELECT mails.comment_id, mails.customer_id, customers.email, mail_stopped_at IS NOT NULL, subscribed,
            (SELECT count(*) FROM outbox sent WHERE sent.workspace_id = {workspace}
              AND sent.customer_id = mails.customer_id AND sent.sent_at >= {hour} AND sent.kind <> 'comment_digest'
              AND sent.digest_id IS NULL)
            + (SELECT count(*) FROM outbox leased WHERE leased.workspace_id = {workspace}
                AND leased.customer_id = mails.customer_id AND leased.leased_until > {now}
                AND leased.kind <> 'comment_digest')
     FROM unnest({comments}, {customers}) AS mails (comment_id, customer_id)
     JOIN comments ON comments.workspace_id = {workspace} AND comments.id = mails.comment_id
     JOIN customers ON customers.workspace_id = {workspace} AND customers.id = mails.customer_id
     LEFT JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = comments.request_id
      AND votes.customer_id = mails.customer_id"
}

statement! {
    /// Selects comments, each cut after a number of characters.
    Comments { workspace: Uuid => SqlUuid, comments: Vec<Uuid> => Array<SqlUuid>, characters: i32 => Integer }
        -> (SqlUuid, Text, SqlUuid, BigInt, Text),
    "SELECT comments.id, substr(content, 1, {characters}), feature_requests.id, tag_number, title FROM comments
     JOIN feature_requests
       ON feature_requests.workspace_id = {workspace} AND feature_requests.id = comments.request_id
     WHERE comments.workspace_id = {workspace} AND comments.id = ANY({comments})"
}

#[async_trait]
impl MailReader for PostgresStore {
    async fn sender(&self, workspace: WorkspaceId) -> Result<Option<MailSender>, StoreError> {
        let session = self.mail_session(workspace).await?;
        let sender = SenderOf { workspace: workspace.uuid() };
        let found: Option<(String, String)> =
            session.run_optional(sender.get_result(&mut session.connection()?)).await?;
        Ok(found.map(|(product_name, subdomain)| MailSender {
            product_name: Name::from_stored(product_name),
            subdomain: Subdomain::from_stored(subdomain),
        }))
    }

    async fn recipients(
        &self,
        workspace: WorkspaceId,
        mails: &[MailId],
        hour: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<MailRecipient>, StoreError> {
        type Row = (Uuid, Uuid, String, bool, Option<bool>, i64);
        let session = self.mail_session(workspace).await?;
        let recipients = Recipients {
            workspace: workspace.uuid(),
            comments: mails.iter().map(|mail| mail.comment.uuid()).collect(),
            customers: mails.iter().map(|mail| mail.customer.uuid()).collect(),
            hour: hour.into(),
            now: now.into(),
        };
        let rows: Vec<Row> = session.run(recipients.load(&mut session.connection()?)).await?;
        let recipient = |(comment, customer, email, is_stopped, is_subscribed, recent): Row| MailRecipient {
            mail: MailId { comment: CommentId::new(comment), customer: CustomerId::new(customer) },
            to: EmailAddress::from_stored(email),
            is_stopped,
            is_subscribed,
            recent_count: u32::try_from(recent).unwrap_or(u32::MAX),
        };
        Ok(rows.into_iter().map(recipient).collect())
    }

    async fn comments(
        &self,
        workspace: WorkspaceId,
        comments: &[CommentId],
        characters: u32,
    ) -> Result<Vec<CommentedRequest>, StoreError> {
        type Row = (Uuid, String, Uuid, i64, String);
        let session = self.mail_session(workspace).await?;
        let comments = Comments {
            workspace: workspace.uuid(),
            comments: comments.iter().map(|comment| comment.uuid()).collect(),
            characters: i32::try_from(characters).unwrap_or(i32::MAX),
        };
        let rows: Vec<Row> = session.run(comments.load(&mut session.connection()?)).await?;
        let commented = |(comment, content, request, tag_number, title): Row| CommentedRequest {
            comment: CommentId::new(comment),
            content,
            request: FeatureRequestId::new(request),
            tag_number,
            title: Title::from_stored(title),
        };
        Ok(rows.into_iter().map(commented).collect())
    }

    async fn held(&self, workspace: WorkspaceId, digests: &[MessageId]) -> Result<Vec<HeldMessage>, StoreError> {
        type Row = (String, String, String, Option<Uuid>, Option<String>);
        let session = self.mail_session(workspace).await?;
        let digests: Vec<&str> = digests.iter().map(MessageId::as_str).collect();
        let held = outbox::table
            .filter(outbox::workspace_id.eq(workspace.uuid()))
            .filter(outbox::digest_id.eq_any(digests))
            .select((
                outbox::digest_id.assume_not_null(),
                outbox::kind,
                diesel::dsl::sql::<Text>("payload::text"),
                outbox::customer_id,
                outbox::address,
            ));
        let rows: Vec<Row> = session.run(held.load(&mut session.connection()?)).await?;
        let held = |(digest, kind, payload, customer, address): Row| HeldMessage {
            digest: MessageId::new(digest),
            kind,
            payload,
            recipient: recipient(customer, address),
        };
        Ok(rows.into_iter().map(held).collect())
    }
}
