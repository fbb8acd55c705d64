//! Reads the content and the recipients of mails.

use async_trait::async_trait;
use diesel::prelude::{
    ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl,
};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
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

use crate::SqliteStore;
use crate::codec::Id;
use crate::outbox_queue::recipient;
use crate::schema::{outbox, settings, workspaces};
use crate::statement::statement;

statement! {
    /// Selects the recipients of mails. A mail is a pair of a comment and a customer, in JSON.
    Recipients { hour: i64 => BigInt, now: i64 => BigInt, mails: String => Text, workspace: Id => Binary }
        -> (Binary, Binary, Text, Bool, Nullable<Bool>, BigInt),
    "SELECT comments.id, customers.id, customers.email, customers.mail_stopped_at IS NOT NULL, votes.subscribed,
            (SELECT count(*) FROM outbox sent WHERE sent.workspace_id = workspaces.id AND sent.customer_id = customers.id
              AND sent.sent_at >= ? AND sent.kind <> 'comment_digest' AND sent.digest_id IS NULL)
            + (SELECT count(*) FROM outbox leased WHERE leased.workspace_id = workspaces.id
                AND leased.customer_id = customers.id AND leased.leased_until > ? AND leased.kind <> 'comment_digest')
     FROM json_each(?) AS mails
     CROSS JOIN workspaces
     CROSS JOIN comments ON comments.workspace_id = workspaces.id AND comments.id = unhex(mails.value ->> 0)
     CROSS JOIN customers ON customers.workspace_id = workspaces.id AND customers.id = unhex(mails.value ->> 1)
     LEFT JOIN votes ON votes.workspace_id = workspaces.id AND votes.request_id = comments.request_id
      AND votes.customer_id = customers.id
     WHERE workspaces.id = ?"
}

statement! {
    /// Selects comments by their ids, in JSON, each cut after a number of characters.
    Comments { characters: i64 => BigInt, comments: String => Text, workspace: Id => Binary }
        -> (Binary, Text, Binary, BigInt, Text),
    "SELECT comments.id, substr(comments.content, 1, ?), feature_requests.id, feature_requests.tag_number,
            feature_requests.title
     FROM json_each(?) AS wanted
     CROSS JOIN comments ON comments.id = unhex(wanted.value)
     CROSS JOIN feature_requests ON feature_requests.workspace_id = comments.workspace_id
            AND feature_requests.id = comments.request_id
     WHERE comments.workspace_id = ?"
}

/// Encodes identities as a JSON array of strings for `unhex`.
fn json(ids: impl Iterator<Item = String>) -> String {
    format!("[{}]", ids.collect::<Vec<_>>().join(","))
}

fn quoted(id: Uuid) -> String {
    format!("\"{}\"", id.simple())
}

#[async_trait]
impl MailReader for SqliteStore {
    async fn sender(&self, workspace: WorkspaceId) -> Result<Option<MailSender>, StoreError> {
        let workspace = Id(workspace.uuid());
        let found: Option<(String, String)> = self
            .readers
            .run(move |connection| {
                let sender = workspaces::table
                    .inner_join(settings::table.on(settings::workspace_id.eq(workspaces::id)))
                    .filter(workspaces::id.eq(workspace))
                    .select((settings::product_name, workspaces::subdomain));
                Ok(sender.first(connection).optional()?)
            })
            .await?;
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
        type Row = (Id, Id, String, bool, Option<bool>, i64);
        let pair = |mail: &MailId| format!("[{},{}]", quoted(mail.comment.uuid()), quoted(mail.customer.uuid()));
        let recipients = Recipients {
            hour: hour.millis(),
            now: now.millis(),
            mails: json(mails.iter().map(pair)),
            workspace: Id(workspace.uuid()),
        };
        let rows: Vec<Row> = self.readers.run(move |connection| Ok(recipients.load(connection)?)).await?;
        let recipient = |(comment, customer, email, is_stopped, is_subscribed, recent): Row| MailRecipient {
            mail: MailId { comment: CommentId::new(comment.0), customer: CustomerId::new(customer.0) },
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
        type Row = (Id, String, Id, i64, String);
        let comments = Comments {
            characters: i64::from(characters),
            comments: json(comments.iter().map(|comment| quoted(comment.uuid()))),
            workspace: Id(workspace.uuid()),
        };
        let rows: Vec<Row> = self.readers.run(move |connection| Ok(comments.load(connection)?)).await?;
        let commented = |(comment, content, request, tag_number, title): Row| CommentedRequest {
            comment: CommentId::new(comment.0),
            content,
            request: FeatureRequestId::new(request.0),
            tag_number,
            title: Title::from_stored(title),
        };
        Ok(rows.into_iter().map(commented).collect())
    }

    async fn held(&self, workspace: WorkspaceId, digests: &[MessageId]) -> Result<Vec<HeldMessage>, StoreError> {
        type Row = (String, String, String, Option<Id>, Option<String>);
        let workspace = Id(workspace.uuid());
        let digests: Vec<String> = digests.iter().map(|digest| digest.as_str().to_owned()).collect();
        let rows: Vec<Row> = self
            .readers
            .run(move |connection| {
                let held = outbox::table
                    .filter(outbox::workspace_id.eq(workspace))
                    .filter(outbox::digest_id.eq_any(digests))
                    .select((
                        outbox::digest_id.assume_not_null(),
                        outbox::kind,
                        outbox::payload,
                        outbox::customer_id,
                        outbox::address,
                    ));
                Ok(held.load(connection)?)
            })
            .await?;
        let held = |(digest, kind, payload, customer, address): Row| HeldMessage {
            digest: MessageId::new(digest),
            kind,
            payload,
            recipient: recipient(customer, address),
        };
        Ok(rows.into_iter().map(held).collect())
    }
}
