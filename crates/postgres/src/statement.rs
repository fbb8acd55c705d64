//! Statements written in SQL, which diesel's query builder cannot express.

use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::mail::Topic;
use uuid::Uuid;

/// Declares a statement: its parameters, which the SQL names in braces, and the types of the columns that it returns. A
/// parameter that is not a field, or a field that is not a parameter, is a compile error.
macro_rules! statement {
    (
        $(#[$doc:meta])*
        $name:ident { $($field:ident: $rust:ty => $sql_type:ty),* $(,)? } -> $row:ty,
        $sql:expr
    ) => {
        const _: () = {
            assert!(
                roadmap_store::statement::has_only_parameters($sql, &[$(stringify!($field)),*]),
                "a parameter of the statement is not a field"
            );
            $(assert!(
                roadmap_store::statement::has_parameter($sql, stringify!($field)),
                concat!("the statement does not use the field ", stringify!($field))
            );)*
        };

        roadmap_store::declare_statement! {
            $(#[$doc])* $name { $($field: $rust),* } -> $row
        }

        impl diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                out.push_sql(Self::COMMENT);
                let mut rest: &str = $sql;
                while let Some((before, behind)) = rest.split_once('{') {
                    out.push_sql(before);
                    let (parameter, behind) = behind.split_once('}').unwrap_or((behind, ""));
                    match parameter {
                        $(stringify!($field) => out.push_bind_param::<$sql_type, _>(&self.$field)?,)*
                        // Every parameter is a field, as asserted above.
                        _ => {}
                    }
                    rest = behind;
                }
                out.push_sql(rest);
                Ok(())
            }
        }
    };
}
pub(crate) use statement;

/// The SQL expression of a note's or comment's author, in a statement with the parameter `workspace`: the member with
/// the address in the given parameter, else the oldest member. Removed members are left out.
macro_rules! author {
    ($address:literal) => {
        concat!(
            "coalesce(
                (SELECT id FROM members WHERE workspace_id = {workspace} AND removed_at IS NULL AND email_folded = ",
            $address,
            "),
                (SELECT id FROM members WHERE workspace_id = {workspace} AND removed_at IS NULL
                 ORDER BY created_at, id LIMIT 1))"
        )
    };
}
pub(crate) use author;

/// The SQL that adds the same event to the history of each feature request of the common table expression `$of`, in a
/// statement with the parameters of an event, `millis` and `at`. The IDs are UUIDs of version 7.
macro_rules! inserted_events {
    ($of:literal) => {
        concat!(
            "INSERT INTO feature_request_events
         (workspace_id, id, request_id, kind, details, actor_kind, actor_id, actor_name, created_at)
     SELECT {workspace}, encode(set_bit(set_bit(
                overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send({millis}) FROM 3) FROM 1 FOR 6), 52, 1
            ), 53, 1), 'hex')::uuid,
            id, {kind}, {details}, {actor_kind}, {actor_id}, {actor_name}, {at}
     FROM ",
            $of
        )
    };
}
pub(crate) use inserted_events;

/// The SQL that inserts a customer or fills an empty name of the one with the same address, in a statement with the
/// parameters of a customer and `at`. The given part is the `FROM` and `WHERE` of the inserted row.
macro_rules! upserted_customer {
    ($source:literal) => {
        concat!(
            "INSERT INTO customers (workspace_id, id, email, email_folded, name, name_folded, created_at)
         SELECT {workspace}, {customer}, {email}, {email_folded}, {name}, {name_folded}, {at} ",
            $source,
            "
         ON CONFLICT (workspace_id, email_folded) DO UPDATE
         SET name = coalesce(customers.name, excluded.name),
             name_folded = coalesce(customers.name_folded, excluded.name_folded)"
        )
    };
}
pub(crate) use upserted_customer;

/// The SQL expression of the feature request that a reference means, in a statement with the parameters `workspace`,
/// `request` and `number`. A merged feature request is the root of its tree.
///
/// It is a query, because row-level security keeps other conditions with `coalesce` from using an index.
macro_rules! resolved {
    () => {
        "(SELECT coalesce(
             (SELECT coalesce(root_id, id) FROM feature_requests WHERE workspace_id = {workspace} AND id = {request}),
             (SELECT coalesce(root_id, id) FROM feature_requests
              WHERE workspace_id = {workspace} AND tag_number = {number})))"
    };
}
pub(crate) use resolved;

/// Returns the parameters of a statement for the feature request that a client refers to; `None` if it is unresolvable.
pub(crate) fn id_or_number(request: &FeatureRequestRef) -> Option<(Option<Uuid>, Option<i64>)> {
    match *request {
        FeatureRequestRef::Id(id) => Some((Some(id.uuid()), None)),
        FeatureRequestRef::Number(number) => Some((None, Some(number))),
        FeatureRequestRef::Unresolvable => None,
    }
}

/// The SQL of the columns of [`placed`] that are the summary of a feature request.
macro_rules! summary {
    () => {
        "feature_requests.id, feature_requests.tag_number, feature_requests.title, tracks.name AS track,
         lanes.name AS lane, vote_tallies.votes_count, feature_requests.created_at"
    };
}
pub(crate) use summary;

/// The SQL of feature requests with their vote tally, their track and its lane, after `feature_requests`.
macro_rules! placed {
    () => {
        "JOIN vote_tallies ON vote_tallies.workspace_id = feature_requests.workspace_id
                          AND vote_tallies.request_id = feature_requests.id
         JOIN tracks ON tracks.workspace_id = feature_requests.workspace_id AND tracks.id = feature_requests.track_id
         LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = tracks.lane_id"
    };
}
pub(crate) use placed;

/// The SQL of the common table expression `members`: all feature requests in the trees of `roots`, another one. Because of
/// the offset, it looks each of these up, instead of reading all merged feature requests of the workspace.
macro_rules! members {
    () => {
        "members AS MATERIALIZED (
             SELECT id FROM roots UNION ALL
             SELECT merged.id FROM roots CROSS JOIN LATERAL (
                 SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND root_id = roots.id OFFSET 0
             ) AS merged
         )"
    };
}
pub(crate) use members;

/// The SQL of the common table expressions `roots` and `members` of the feature request in the parameter `request`.
macro_rules! tree {
    () => {
        concat!(
            "roots AS MATERIALIZED (
                 SELECT coalesce(root_id, id) AS id FROM feature_requests
                 WHERE workspace_id = {workspace} AND id = {request}
             ), ",
            crate::statement::members!()
        )
    };
}
pub(crate) use tree;

/// The SQL of the common table expressions `roots` and `members` of a topic, in a recursive statement with the parameters
/// `workspace`, `comment`, `event` and `changelog`, of which two are NULL. A deleted topic has none. Of the event of a
/// merge, `members` are what was merged, without the rest of the tree.
macro_rules! topic {
    () => {
        concat!(
            "roots AS MATERIALIZED (
                 SELECT DISTINCT coalesce(root_id, feature_requests.id) AS id FROM (
                     SELECT request_id FROM comments WHERE workspace_id = {workspace} AND id = {comment}
                     UNION ALL
                     SELECT request_id FROM feature_request_events
                     WHERE workspace_id = {workspace} AND id = {event} AND kind <> 'merged_into'
                     UNION ALL
                     SELECT request_id FROM changelog_feature_requests
                     WHERE workspace_id = {workspace} AND changelog_id = {changelog}
                 ) AS about
                 JOIN feature_requests ON feature_requests.workspace_id = {workspace}
                                      AND feature_requests.id = about.request_id
             ), merged_with (id) AS (
                 SELECT request_id FROM feature_request_events
                 WHERE workspace_id = {workspace} AND id = {event} AND kind = 'merged_into'
                 UNION
                 SELECT source.id FROM merged_with
                 JOIN feature_requests AS source
                   ON source.workspace_id = {workspace} AND source.merged_into_id = merged_with.id
             ), members AS MATERIALIZED (
                 SELECT id FROM roots UNION ALL
                 SELECT merged.id FROM roots CROSS JOIN LATERAL (
                     SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND root_id = roots.id OFFSET 0
                 ) AS merged
                 UNION ALL
                 SELECT id FROM merged_with
             )"
        )
    };
}
pub(crate) use topic;

/// Returns the parameters `comment`, `event` and `changelog` of a topic. Two of them are NULL.
pub(crate) fn topic_ids(topic: Topic) -> (Option<Uuid>, Option<Uuid>, Option<Uuid>) {
    match topic {
        Topic::Comment(comment) => (Some(comment.uuid()), None, None),
        Topic::StatusChange(event) | Topic::Merge(event) => (None, Some(event.uuid()), None),
        Topic::Changelog(changelog) => (None, None, Some(changelog.uuid())),
    }
}

/// The SQL for whether a customer gets mail of the kind of a topic; `changelog` is the topic if that is a changelog.
macro_rules! wants_mail {
    () => {
        "CASE WHEN {changelog} IS NULL THEN mail_stopped_at IS NULL ELSE NOT stops_changelogs AND blocked_at IS NULL END"
    };
}
pub(crate) use wants_mail;

/// The SQL of the subscribed customers of `members`, and of those who get all changelogs, in a statement with the parameters
/// `workspace`, `after`, `at`, `limit` and `changelog`, which is the topic if that is a changelog: the next ones after a
/// customer, in order. Of each feature request, no more are read than are returned: the subqueries with an offset are read
/// in the order of the primary key.
macro_rules! audience {
    () => {
        concat!(
            "SELECT DISTINCT customer_id FROM (
             SELECT customer_id FROM members CROSS JOIN LATERAL (
             (SELECT customer_id FROM (
                  SELECT customer_id, subscribed, created_at FROM votes
                  WHERE workspace_id = {workspace} AND request_id = members.id AND customer_id > {after}
                  ORDER BY customer_id OFFSET 0
              ) AS votes
              JOIN customers ON customers.workspace_id = {workspace} AND customers.id = customer_id
              WHERE subscribed AND votes.created_at <= {at}
                AND ",
            $crate::statement::wants_mail!(),
            "
              ORDER BY customer_id LIMIT {limit})
             UNION ALL
             (SELECT customer_id FROM (
                  SELECT customer_id, created_at FROM followers
                  WHERE workspace_id = {workspace} AND request_id = members.id AND customer_id > {after}
                  ORDER BY customer_id OFFSET 0
              ) AS followers
              JOIN customers ON customers.workspace_id = {workspace} AND customers.id = customer_id
              WHERE followers.created_at <= {at}
                AND ",
            $crate::statement::wants_mail!(),
            "
              ORDER BY customer_id LIMIT {limit})
             ) AS subscribers
             UNION ALL
             (SELECT id FROM customers
              WHERE workspace_id = {workspace} AND id > {after} AND news_since <= {at} AND blocked_at IS NULL
                AND EXISTS (SELECT FROM changelogs WHERE workspace_id = {workspace} AND id = {changelog})
              ORDER BY id LIMIT {limit})
         ) AS audience ORDER BY customer_id LIMIT {limit}"
        )
    };
}
pub(crate) use audience;

/// The SQL of the common table expression `subscribed`: the feature requests that a customer gets mail about, before they
/// are merged, in a statement with the parameters `workspace`, `customer` and `scan_limit`. Of very many, the newest
/// ones are read.
macro_rules! subscribed {
    () => {
        "subscribed AS MATERIALIZED (
             (SELECT request_id FROM votes WHERE workspace_id = {workspace} AND customer_id = {customer} AND subscribed
              ORDER BY request_id DESC LIMIT {scan_limit})
             UNION
             (SELECT request_id FROM followers WHERE workspace_id = {workspace} AND customer_id = {customer}
              ORDER BY request_id DESC LIMIT {scan_limit})
         )"
    };
}
pub(crate) use subscribed;
