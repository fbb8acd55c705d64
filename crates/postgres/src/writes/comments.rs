//! Public comments.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::{CommentAuthor, ListedComment, NewComment};
use roadmap_domain::model::customer::NewCustomer;
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, FeatureRequestId};
use roadmap_domain::model::mail::Topic;
use roadmap_domain::model::message::MessageContent;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::CommentWrites;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{CommentRow, SummaryRow};
use uuid::Uuid;

use crate::rows::{CommentColumns, SummaryColumns};
use crate::schema::comments;
use crate::statement::{author, id_or_number, members, placed, resolved, statement, summary, upserted_customer};
use crate::unit::PostgresUnit;
use crate::writes::outbox::delete_messages;
use crate::writes::requests::{folded_name_of, name_of};

/// Declares a statement that finds or inserts a customer and runs the given insert of the customer's comment. Returns the
/// feature request. If the feature request does not exist, changes nothing and returns no row.
macro_rules! comment_of_customer {
    ($(#[$doc:meta])* $name:ident, $insert:literal) => {
        statement! {
            $(#[$doc])*
            $name {
                workspace: Uuid => SqlUuid,
                id: Uuid => SqlUuid,
                request: Option<Uuid> => Nullable<SqlUuid>,
                number: Option<i64> => Nullable<BigInt>,
                customer: Uuid => SqlUuid,
                email: String => Text,
                email_folded: String => Text,
                name: Option<String> => Nullable<Text>,
                name_folded: Option<String> => Nullable<Text>,
                content: String => Text,
                at: TimestampColumn => Timestamptz,
            } -> SummaryColumns,
            concat!("WITH request AS MATERIALIZED (
         SELECT ", summary!(), " FROM feature_requests ", placed!(), "
         WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = ", resolved!(), "
     ), customer AS (
         ", upserted_customer!("FROM request"), "
         RETURNING id
     ), comment AS (
         ", $insert, "
     )
     SELECT * FROM request")
        }

        impl $name {
            /// Returns the statement for a comment on the feature request with an ID or a number.
            pub(crate) fn new(
                workspace: Uuid,
                (request, number): (Option<Uuid>, Option<i64>),
                comment: &NewComment,
                customer: &NewCustomer,
            ) -> Self {
                Self {
                    workspace,
                    id: comment.id.uuid(),
                    request,
                    number,
                    customer: customer.id.uuid(),
                    email: customer.email.as_str().to_owned(),
                    email_folded: customer.email.folded().as_str().to_owned(),
                    name: name_of(customer),
                    name_folded: folded_name_of(customer),
                    content: comment.content.as_str().to_owned(),
                    at: comment.created_at.into(),
                }
            }
        }
    };
}

comment_of_customer! {
    /// Inserts the comment of a customer.
    InsertCustomerComment,
    "INSERT INTO comments (workspace_id, id, request_id, customer_id, content, created_at, updated_at)
         SELECT {workspace}, {id}, request.id, customer.id, {content}, {at}, {at} FROM request, customer"
}

comment_of_customer! {
    /// Inserts the comment of a customer, which waits for approval.
    HoldComment,
    "INSERT INTO held_comments (workspace_id, id, request_id, customer_id, content, created_at)
         SELECT {workspace}, {id}, request.id, customer.id, {content}, {at} FROM request, customer"
}

statement! {
    /// Inserts a member's comment and returns its feature request. If the feature request does not exist, changes nothing
    /// and returns no row.
    InsertComment {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        author: Option<String> => Nullable<Text>,
        content: String => Text,
        at: TimestampColumn => Timestamptz,
    } -> SummaryColumns,
    concat!("WITH request AS MATERIALIZED (
         SELECT ", summary!(), " FROM feature_requests ", placed!(), "
         WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = ", resolved!(), "
     ), comment AS (
         INSERT INTO comments (workspace_id, id, request_id, author_id, content, created_at, updated_at)
         SELECT {workspace}, {id}, request.id, ", author!("{author}"), ", {content}, {at}, {at} FROM request
     )
     SELECT * FROM request")
}

statement! {
    /// Replaces the content of a comment and returns the comment as it is listed.
    UpdateComment {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        content: String => Text,
        at: TimestampColumn => Timestamptz,
    } -> CommentColumns,
    "WITH comment AS (
         UPDATE comments SET content = {content}, updated_at = {at} WHERE workspace_id = {workspace} AND id = {id}
         RETURNING id, request_id, author_id, customer_id, content, created_at, updated_at
     )
     SELECT comment.id, comment.content, comment.customer_id IS NOT NULL, coalesce(customers.name, members.name),
            comment.created_at, comment.updated_at, merged.id, merged.tag_number, merged.title
     FROM comment
     LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.id = comment.customer_id
     LEFT JOIN members ON members.workspace_id = {workspace} AND members.id = comment.author_id
     LEFT JOIN feature_requests AS merged
            ON merged.workspace_id = {workspace} AND merged.id = comment.request_id AND merged.root_id IS NOT NULL"
}

statement! {
    /// Creates the notifications of a comment for customers who are subscribed to anything in the tree of its feature
    /// request: for the author of the feature request, or for nobody in its place, and for the authors of other comments.
    NotifyPeople {
        workspace: Uuid => SqlUuid,
        comment: Uuid => SqlUuid,
        topic: String => Text,
        kind: String => Text,
        payload: String => Text,
        at: TimestampColumn => Timestamptz,
        to_author: bool => Bool,
        replied: Vec<Uuid> => Array<SqlUuid>,
    } -> Untyped,
    concat!("WITH roots AS MATERIALIZED (
         SELECT root.id, root.author_id, root.private, comments.customer_id AS writer_id FROM comments
         JOIN feature_requests AS request ON request.workspace_id = {workspace} AND request.id = comments.request_id
         JOIN feature_requests AS root
           ON root.workspace_id = {workspace} AND root.id = coalesce(request.root_id, request.id)
         WHERE comments.workspace_id = {workspace} AND comments.id = {comment}
     ), ", members!(), ", people AS MATERIALIZED (
         SELECT author_id AS id FROM roots WHERE {to_author}
         UNION
         SELECT comments.customer_id FROM roots JOIN comments
           ON comments.workspace_id = {workspace} AND comments.id = ANY ({replied})
         WHERE comments.request_id IN (SELECT id FROM members)
           AND comments.customer_id IS DISTINCT FROM roots.writer_id
           AND (NOT roots.private OR comments.customer_id = roots.author_id)
     ), person AS MATERIALIZED (
         SELECT customers.id FROM people JOIN customers
           ON customers.workspace_id = {workspace} AND customers.id = people.id
         WHERE mail_stopped_at IS NULL
     )
     INSERT INTO outbox (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at)
     SELECT {workspace}, {topic} || '.' || id::text, {kind}, 1, id, {payload}::jsonb, {at}, {at} FROM person
     WHERE EXISTS (
         SELECT FROM members JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id
         WHERE votes.customer_id = person.id AND subscribed
     ) OR EXISTS (
         SELECT FROM members JOIN followers ON followers.workspace_id = {workspace} AND followers.request_id = members.id
         WHERE followers.customer_id = person.id
     )
     ON CONFLICT (workspace_id, id) DO NOTHING")
}

#[async_trait]
impl CommentWrites for PostgresUnit {
    async fn insert_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let Some(reference) = id_or_number(&comment.request) else { return Ok(None) };
        let workspace = self.workspace;
        let row: Option<SummaryRow> = match &comment.author {
            CommentAuthor::Member(author) => {
                let (request, number) = reference;
                let (id, at) = (comment.id.uuid(), comment.created_at.into());
                let author = author.address().map(ToOwned::to_owned);
                let content = comment.content.as_str().to_owned();
                let insert = InsertComment { workspace, id, request, number, author, content, at };
                self.run_optional(insert.get_result(&mut self.connection()?)).await?
            }
            CommentAuthor::Customer(customer) => {
                let insert = InsertCustomerComment::new(workspace, reference, comment, customer);
                self.run_optional(insert.get_result(&mut self.connection()?)).await?
            }
        };
        row.map(FeatureRequestSummary::try_from).transpose()
    }

    async fn find_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let request = comments::table
            .filter(comments::workspace_id.eq(self.workspace))
            .filter(comments::id.eq(comment.uuid()))
            .select(comments::request_id);
        let request: Option<Uuid> = self.run_optional(request.first(&mut self.connection()?)).await?;
        Ok(request.map(FeatureRequestId::new))
    }

    async fn update_comment(
        &mut self,
        comment: CommentId,
        content: &CleanHtml,
        at: Timestamp,
    ) -> Result<Option<ListedComment>, StoreError> {
        let update = UpdateComment {
            workspace: self.workspace,
            id: comment.uuid(),
            content: content.as_str().to_owned(),
            at: at.into(),
        };
        let row: Option<CommentRow> = self.run_optional(update.get_result(&mut self.connection()?)).await?;
        row.map(ListedComment::try_from).transpose()
    }

    async fn delete_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let delete = diesel::delete(comments::table)
            .filter(comments::workspace_id.eq(self.workspace))
            .filter(comments::id.eq(comment.uuid()))
            .returning(comments::request_id);
        let request: Option<Uuid> = self.run_optional(delete.get_result(&mut self.connection()?)).await?;
        if request.is_some() {
            delete_messages(self, Topic::Comment(comment)).await?;
        }
        Ok(request.map(FeatureRequestId::new))
    }

    async fn notify_people(
        &mut self,
        comment: CommentId,
        to_author: bool,
        replied: &[CommentId],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let topic = Topic::Comment(comment);
        let notification = MessageContent::Notification(topic);
        let notify = NotifyPeople {
            workspace: self.workspace,
            comment: comment.uuid(),
            topic: topic.to_string(),
            kind: notification.kind().to_owned(),
            payload: notification.payload(),
            at: at.into(),
            to_author,
            replied: replied.iter().map(|comment| comment.uuid()).collect(),
        };
        self.run(notify.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
