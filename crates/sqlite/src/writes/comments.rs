//! Public comments.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::{CommentAuthor, ListedComment, NewComment};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, FeatureRequestId};
use roadmap_domain::model::mail::Topic;
use roadmap_domain::model::message::MessageContent;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::CommentWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::CommentRow;

use crate::codec::{json_ids, uuid_text};
use crate::deletions::delete_messages;
use crate::records::OneComment;
use crate::rows::{find_author, find_summary};
use crate::schema::comments;
use crate::statement::statement;
use crate::unit::SqliteUnit;
use crate::writes::votes::find_or_insert_customer;

statement! {
    /// Creates the notifications of a comment for customers who are subscribed to the tree of its feature request: for the
    /// author of the feature request, or for nobody in its place, and for the authors of the comments of a JSON array.
    NotifyPeople {
        workspace: Id => Binary, comment: Id => Binary, topic: String => Text, kind: String => Text,
        payload: String => Text, at: i64 => BigInt, to_author: bool => Bool, replied: String => Text,
    }
    concat!(
        "WITH scope (workspace, comment, topic, kind, payload, at, to_author, replied) AS (SELECT ?, ?, ?, ?, ?, ?, ?, ?),
         root (id, author, private, writer) AS (
             SELECT request.id, request.author_id, request.private, comments.customer_id FROM scope
             CROSS JOIN comments ON comments.workspace_id = scope.workspace AND comments.id = scope.comment
             CROSS JOIN vote_tallies ON vote_tallies.workspace_id = comments.workspace_id
                    AND vote_tallies.request_id = comments.request_id
             CROSS JOIN feature_requests request ON request.workspace_id = scope.workspace
                    AND request.id = coalesce(vote_tallies.root_id, comments.request_id)
         ),
         tree (id) AS (
             SELECT id FROM root
             UNION ALL
             SELECT merged.id FROM scope CROSS JOIN root
             CROSS JOIN feature_requests merged ON merged.workspace_id = scope.workspace AND merged.root_id = root.id
         ),
         people (id) AS (
             SELECT root.author FROM scope CROSS JOIN root WHERE scope.to_author AND root.author IS NOT NULL
             UNION
             SELECT comments.customer_id FROM scope CROSS JOIN root CROSS JOIN json_each(scope.replied) AS replied
             CROSS JOIN comments ON comments.workspace_id = scope.workspace AND comments.id = unhex(replied.value)
             WHERE comments.request_id IN (SELECT id FROM tree) AND comments.customer_id IS NOT NULL
               AND comments.customer_id IS NOT root.writer
               AND (NOT root.private OR comments.customer_id IS root.author)
         )
         INSERT INTO outbox (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at)
         SELECT scope.workspace, scope.topic || '.' || ", uuid_text!("person.id"), ", scope.kind, 1, person.id,
                scope.payload, scope.at, scope.at
         FROM scope CROSS JOIN people
         CROSS JOIN customers person ON person.workspace_id = scope.workspace AND person.id = people.id
         WHERE person.mail_stopped_at IS NULL AND (
             EXISTS (SELECT 1 FROM tree CROSS JOIN votes ON votes.workspace_id = person.workspace_id
                        AND votes.request_id = tree.id AND votes.customer_id = person.id WHERE votes.subscribed)
             OR EXISTS (SELECT 1 FROM tree CROSS JOIN followers ON followers.workspace_id = person.workspace_id
                           AND followers.request_id = tree.id AND followers.customer_id = person.id)
         )
         ON CONFLICT DO NOTHING"
    )
}

#[async_trait]
impl CommentWrites for SqliteUnit {
    async fn insert_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let comment = comment.clone();
        let row = self
            .run(move |connection, workspace| {
                let Some(request) = find_summary(connection, workspace, &comment.request)? else { return Ok(None) };
                let (author, customer) = match &comment.author {
                    CommentAuthor::Member(author) => (find_author(connection, workspace, author)?, None),
                    CommentAuthor::Customer(customer) => {
                        let at = comment.created_at;
                        (None, Some(find_or_insert_customer(connection, workspace, customer, at)?))
                    }
                };
                diesel::insert_into(comments::table)
                    .values((
                        comments::workspace_id.eq(workspace),
                        comments::id.eq(Id(comment.id.uuid())),
                        comments::request_id.eq(request.id),
                        comments::author_id.eq(author),
                        comments::customer_id.eq(customer),
                        comments::content.eq(comment.content.as_str()),
                        comments::created_at.eq(comment.created_at.millis()),
                        comments::updated_at.eq(comment.created_at.millis()),
                    ))
                    .execute(connection)?;
                Ok(Some(request))
            })
            .await?;
        row.map(FeatureRequestSummary::try_from).transpose()
    }

    async fn find_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let request: Option<Id> = self
            .run(move |connection, workspace| {
                Ok(comments::table
                    .find((workspace, Id(comment.uuid())))
                    .select(comments::request_id)
                    .first(connection)
                    .optional()?)
            })
            .await?;
        Ok(request.map(|request| FeatureRequestId::new(request.0)))
    }

    async fn update_comment(
        &mut self,
        comment: CommentId,
        content: &CleanHtml,
        at: Timestamp,
    ) -> Result<Option<ListedComment>, StoreError> {
        let (comment, content) = (Id(comment.uuid()), content.clone());
        let row: Option<CommentRow> = self
            .run(move |connection, workspace| {
                diesel::update(comments::table.find((workspace, comment)))
                    .set((comments::content.eq(content.as_str()), comments::updated_at.eq(at.millis())))
                    .execute(connection)?;
                Ok(OneComment { workspace, comment }.get_result(connection).optional()?)
            })
            .await?;
        row.map(ListedComment::try_from).transpose()
    }

    async fn delete_comment(&mut self, comment: CommentId) -> Result<Option<FeatureRequestId>, StoreError> {
        let request: Option<Id> = self
            .run(move |connection, workspace| {
                delete_messages(connection, workspace, Topic::Comment(comment))?;
                let row = comments::table
                    .filter(comments::workspace_id.eq(workspace))
                    .filter(comments::id.eq(Id(comment.uuid())));
                Ok(diesel::delete(row).returning(comments::request_id).get_result(connection).optional()?)
            })
            .await?;
        Ok(request.map(|request| FeatureRequestId::new(request.0)))
    }

    async fn notify_people(
        &mut self,
        comment: CommentId,
        to_author: bool,
        replied: &[CommentId],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let topic = Topic::Comment(comment);
        let content = MessageContent::Notification(topic);
        let replied: Vec<Id> = replied.iter().map(|comment| Id(comment.uuid())).collect();
        self.run(move |connection, workspace| {
            let notify = NotifyPeople {
                workspace,
                comment: Id(comment.uuid()),
                topic: topic.to_string(),
                kind: content.kind().to_owned(),
                payload: content.payload(),
                at: at.millis(),
                to_author,
                replied: json_ids(&replied),
            };
            notify.execute(connection)?;
            Ok(())
        })
        .await
    }
}
