//! The subscribed customers who are to be notified of a topic.

use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::{RunQueryDsl, SqliteConnection};
use roadmap_domain::model::mail::Topic;
use roadmap_domain::model::message::{Audience, MessageContent};
use roadmap_store::columns::Id;
use uuid::Uuid;

use crate::codec::{json_array, json_ids, quoted_id, uuid_text};
use crate::errors::SqlError;
use crate::statement::statement;

/// SQL for the feature requests that topics are about, as common table expressions: `scope` with the workspace,
/// `topics` from a JSON array of pairs of a kind and an ID, and `requests`, the feature requests of the trees of each
/// topic. Of a merge, these are what was merged, without the rest of the tree.
macro_rules! topic_requests {
    () => {
        "scope (workspace) AS (SELECT ?),
         topics (kind, record) AS (SELECT DISTINCT value ->> 0, unhex(value ->> 1) FROM json_each(?)),
         named (record, request) AS (
             SELECT record, comments.request_id FROM scope CROSS JOIN topics
             CROSS JOIN comments ON comments.workspace_id = scope.workspace AND comments.id = topics.record
             WHERE topics.kind = 'comment'
             UNION ALL
             SELECT record, event.request_id FROM scope CROSS JOIN topics
             CROSS JOIN feature_request_events event
                     ON event.workspace_id = scope.workspace AND event.id = topics.record
             WHERE topics.kind = 'status_change'
             UNION ALL
             SELECT record, linked.request_id FROM scope CROSS JOIN topics
             CROSS JOIN changelog_feature_requests linked
                     ON linked.workspace_id = scope.workspace AND linked.changelog_id = topics.record
             WHERE topics.kind = 'changelog'
         ),
         roots (record, request) AS (
             SELECT DISTINCT record, coalesce(vote_tallies.root_id, named.request) FROM scope CROSS JOIN named
             CROSS JOIN vote_tallies ON vote_tallies.workspace_id = scope.workspace
                    AND vote_tallies.request_id = named.request
         ),
         merged_with (record, request) AS (
             SELECT record, event.request_id FROM scope CROSS JOIN topics
             CROSS JOIN feature_request_events event
                     ON event.workspace_id = scope.workspace AND event.id = topics.record
             WHERE topics.kind = 'merge'
             UNION
             SELECT merged_with.record, source.id FROM scope CROSS JOIN merged_with
             CROSS JOIN feature_requests source ON source.workspace_id = scope.workspace
                    AND source.merged_into_id = merged_with.request
         ),
         requests (record, request) AS MATERIALIZED (
             SELECT record, request FROM merged_with
             UNION ALL
             SELECT record, request FROM roots
             UNION ALL
             SELECT record, merged.id FROM scope CROSS JOIN roots
             CROSS JOIN feature_requests merged ON merged.workspace_id = scope.workspace
                    AND merged.root_id = roots.request
         )"
    };
}
pub(crate) use topic_requests;

statement! {
    /// Selects the feature requests that topics are about.
    TopicRequests { workspace: Id => Binary, topics: String => Text } -> Binary,
    concat!("WITH ", topic_requests!(), " SELECT request FROM requests")
}

/// SQL for whether a customer gets mail of the kind of `scope`.
macro_rules! wants_mail {
    ($customer:literal) => {
        concat!(
            "CASE WHEN scope.is_changelog THEN NOT ",
            $customer,
            ".stops_changelogs AND ",
            $customer,
            ".blocked_at IS NULL ELSE ",
            $customer,
            ".mail_stopped_at IS NULL END"
        )
    };
}

/// SQL for the next customers of an audience, in the order of their IDs: with a changelog, also those who get all of them. Of
/// each feature request, at most as many voters and followers are read as customers are wanted.
macro_rules! next_customers {
    () => {
        concat!("WITH scope (workspace, after, at, row_limit, is_changelog, changelog) AS (
             SELECT workspace, after, at, row_limit, changelog IS NOT NULL, changelog
             FROM (SELECT ? AS workspace, ? AS after, ? AS at, ? AS row_limit, ? AS changelog)
         ),
         requests (id) AS (SELECT unhex(value) FROM json_each(?)),
         audience (customer) AS (
             SELECT customers.id FROM scope CROSS JOIN requests
             CROSS JOIN customers ON customers.workspace_id = scope.workspace AND customers.id IN (
                 SELECT votes.customer_id FROM votes
                 CROSS JOIN customers voter ON voter.workspace_id = votes.workspace_id AND voter.id = votes.customer_id
                 WHERE votes.workspace_id = scope.workspace AND votes.request_id = requests.id
                   AND votes.customer_id > scope.after AND votes.subscribed AND votes.created_at <= scope.at
                   AND ", wants_mail!("voter"), "
                 ORDER BY votes.customer_id LIMIT (SELECT row_limit FROM scope)
             )
             UNION
             SELECT customers.id FROM scope CROSS JOIN requests
             CROSS JOIN customers ON customers.workspace_id = scope.workspace AND customers.id IN (
                 SELECT followers.customer_id FROM followers
                 CROSS JOIN customers follower
                         ON follower.workspace_id = followers.workspace_id AND follower.id = followers.customer_id
                 WHERE followers.workspace_id = scope.workspace AND followers.request_id = requests.id
                   AND followers.customer_id > scope.after AND followers.created_at <= scope.at
                   AND ", wants_mail!("follower"), "
                 ORDER BY followers.customer_id LIMIT (SELECT row_limit FROM scope)
             )
             UNION
             SELECT reader.id FROM scope
             CROSS JOIN changelogs ON changelogs.workspace_id = scope.workspace AND changelogs.id = scope.changelog
             CROSS JOIN customers reader ON reader.workspace_id = scope.workspace AND reader.id IN (
                 SELECT id FROM customers INDEXED BY customers_with_news
                 WHERE workspace_id = scope.workspace AND id > scope.after AND news_since IS NOT NULL
                   AND news_since <= scope.at AND blocked_at IS NULL
                 ORDER BY id LIMIT (SELECT row_limit FROM scope)
             )
             ORDER BY 1 LIMIT (SELECT row_limit FROM scope)
         )")
    };
}

statement! {
    /// Counts the customers of an audience, up to a limit.
    CountAudience {
        workspace: Id => Binary, after: Id => Binary, at: i64 => BigInt, limit: i64 => BigInt,
        changelog: Option<Id> => Nullable<Binary>,
        requests: String => Text,
    } -> BigInt,
    concat!(next_customers!(), " SELECT count(*) FROM audience")
}

statement! {
    /// Creates the notifications of the next customers of an audience. The identity of a message consists of the topic
    /// and the customer.
    ExpandAudience {
        workspace: Id => Binary, after: Id => Binary, at: i64 => BigInt, limit: i64 => BigInt,
        changelog: Option<Id> => Nullable<Binary>,
        requests: String => Text,
        topic: String => Text, kind: String => Text, payload: String => Text, request_id: Option<String> => Nullable<Text>,
    } -> Binary,
    concat!(
        next_customers!(),
        " INSERT INTO outbox (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at, request_id)
          SELECT scope.workspace, ? || '.' || ", uuid_text!("audience.customer"), ", ?, 1, audience.customer, ?,
                 scope.at, scope.at, ?
          FROM audience CROSS JOIN scope RETURNING customer_id"
    )
}

/// Encodes a topic as a JSON pair of its kind and its ID.
pub(crate) fn json_topic(topic: Topic) -> String {
    let (kind, id) = topic_record(topic);
    format!("[\"{kind}\",{}]", quoted_id(id))
}

/// Returns the kind of a topic and the ID of its record.
pub(crate) fn topic_record(topic: Topic) -> (&'static str, Uuid) {
    let id = match topic {
        Topic::Comment(comment) => comment.uuid(),
        Topic::StatusChange(event) | Topic::Merge(event) => event.uuid(),
        Topic::Changelog(changelog) => changelog.uuid(),
    };
    (MessageContent::Notification(topic).kind(), id)
}

/// Returns the feature requests of a topic as a JSON array.
fn load_requests(connection: &mut SqliteConnection, workspace: Id, topic: Topic) -> Result<String, SqlError> {
    let topics = json_array([json_topic(topic)].into_iter());
    let requests: Vec<Id> = TopicRequests { workspace, topics }.load(connection)?;
    Ok(json_ids(&requests))
}

/// Returns the changelog that a topic is. Customers stop changelogs apart from other mail, and some get all of them.
fn changelog_of(topic: Topic) -> Option<Id> {
    match topic {
        Topic::Changelog(changelog) => Some(Id(changelog.uuid())),
        Topic::Comment(_) | Topic::StatusChange(_) | Topic::Merge(_) => None,
    }
}

/// Counts the customers to be notified of a topic, up to a limit.
pub(crate) fn count_audience(
    connection: &mut SqliteConnection,
    workspace: Id,
    topic: Topic,
    at: i64,
    limit: u32,
) -> Result<u64, SqlError> {
    let requests = load_requests(connection, workspace, topic)?;
    let count = CountAudience {
        workspace,
        after: Id(Uuid::nil()),
        at,
        limit: i64::from(limit),
        changelog: changelog_of(topic),
        requests,
    };
    let counted: i64 = count.get_result(connection)?;
    Ok(counted.unsigned_abs())
}

/// Creates the notifications of the next customers of an audience, who subscribed before `at`, with the id of the HTTP
/// request that caused them. Returns their number and the last customer.
pub(crate) fn expand_audience(
    connection: &mut SqliteConnection,
    workspace: Id,
    audience: &Audience,
    at: i64,
    limit: u32,
    request_id: Option<String>,
) -> Result<(u64, Option<Id>), SqlError> {
    let content = MessageContent::Notification(audience.topic);
    let expand = ExpandAudience {
        workspace,
        after: Id(audience.after.uuid()),
        at,
        limit: i64::from(limit),
        changelog: changelog_of(audience.topic),
        requests: load_requests(connection, workspace, audience.topic)?,
        topic: audience.topic.to_string(),
        kind: content.kind().to_owned(),
        payload: content.payload(),
        request_id,
    };
    let created: Vec<Id> = expand.load(connection)?;
    Ok((created.len() as u64, created.into_iter().max_by_key(|id| id.0)))
}
