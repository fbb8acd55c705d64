//! Public comments.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::NewComment;
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::ports::CommentWrites;
use uuid::Uuid;

use crate::codec::TimestampColumn;
use crate::rows::{SummaryColumns, SummaryRow};
use crate::statement::{author, statement};
use crate::unit::PostgresUnit;
use crate::writes::id_or_number;

statement! {
    /// Inserts a comment and returns its feature request. If the feature request does not exist, changes nothing and
    /// returns no row.
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
         SELECT feature_requests.id, feature_requests.tag_number, title, tracks.name AS track, lanes.name AS lane,
                votes_count, created_at
         FROM feature_requests
         JOIN vote_tallies ON vote_tallies.workspace_id = feature_requests.workspace_id
                          AND vote_tallies.request_id = feature_requests.id
         JOIN tracks ON tracks.workspace_id = feature_requests.workspace_id AND tracks.id = track_id
         LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = lane_id
         WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = (SELECT coalesce({request},
             (SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND tag_number = {number})))
     ), comment AS (
         INSERT INTO comments (workspace_id, id, request_id, author_id, content, created_at)
         SELECT {workspace}, {id}, request.id, ", author!("{author}"), ", {content}, {at} FROM request
     )
     SELECT * FROM request")
}

#[async_trait]
impl CommentWrites for PostgresUnit {
    async fn insert_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let Some((request, number)) = id_or_number(&comment.request) else { return Ok(None) };
        let insert = InsertComment {
            workspace: self.workspace,
            id: comment.id.uuid(),
            request,
            number,
            author: comment.author.address().map(ToOwned::to_owned),
            content: comment.content.as_str().to_owned(),
            at: comment.created_at.into(),
        };
        let row: Option<SummaryRow> = self.run_optional(insert.get_result(&mut self.connection()?)).await?;
        row.map(FeatureRequestSummary::try_from).transpose()
    }
}
