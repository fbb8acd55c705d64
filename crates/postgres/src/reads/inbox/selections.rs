//! Lists of the inbox with a tag, or of what a member has written on. They are sorted, after at most
//! [`InboxList::READ_LIMIT`] feature requests were selected.

use diesel::sql_types::{Array, BigInt, Nullable, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{InboxList, InboxRow};
use roadmap_domain::model::pagination::Listing;
use roadmap_store::rows::InboxListRow;
use uuid::Uuid;

use super::rows::{InboxColumns, Scope, inbox_columns, inbox_joins, is_in_state, is_tagged};
use crate::reads::listing::listing;
use crate::session::Session;
use crate::statement::statement;

statement! {
    /// Selects a page of the feature requests of a filter with a tag or a member, with the total, in the order with this
    /// name. The newest `scan_limit` with the tag or of the member are considered: IDs begin with the creation
    /// timestamp.
    SelectedInbox {
        workspace: Uuid => SqlUuid,
        state: String => Text,
        tracks: Option<Vec<Uuid>> => Nullable<Array<SqlUuid>>,
        tag: Option<String> => Nullable<Text>,
        member: Option<Uuid> => Nullable<SqlUuid>,
        scan_limit: i64 => BigInt,
        sort: String => Text,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<InboxColumns>),
    concat!("WITH candidates AS MATERIALIZED (
         SELECT request_id FROM (
             (SELECT request_id FROM feature_request_tags
              WHERE workspace_id = {workspace} AND tag_folded = {tag} AND {member} IS NULL
              ORDER BY request_id DESC LIMIT {scan_limit})
             UNION
             (SELECT DISTINCT request_id FROM comments WHERE workspace_id = {workspace} AND author_id = {member}
              ORDER BY request_id DESC LIMIT {scan_limit})
             UNION
             (SELECT DISTINCT request_id FROM notes WHERE workspace_id = {workspace} AND author_id = {member}
              ORDER BY request_id DESC LIMIT {scan_limit})
         ) AS written
         ORDER BY request_id DESC LIMIT {scan_limit}
     ), selected AS MATERIALIZED (
         SELECT candidates.request_id, tag_number, votes_count, companies_count,
                CASE WHEN {sort} = 'updated' THEN (
                    SELECT updated_at FROM feature_requests
                    WHERE workspace_id = {workspace} AND id = candidates.request_id
                ) END AS updated_at
         FROM candidates
         CROSS JOIN LATERAL (
             SELECT tag_number, votes_count, companies_count FROM vote_tallies
             WHERE workspace_id = {workspace} AND request_id = candidates.request_id AND ", is_in_state!(), "
               AND ({member} IS NULL OR ", is_tagged!(), ")
             OFFSET 0
         ) AS tallies
     ), page AS MATERIALIZED (
         SELECT request_id, row_number() OVER (
             ORDER BY CASE {sort} WHEN 'votes' THEN votes_count WHEN 'companies' THEN companies_count END DESC,
                      updated_at DESC,
                      CASE {sort} WHEN 'oldest' THEN tag_number END, tag_number DESC
         ) AS place
         FROM selected ORDER BY place LIMIT {limit} OFFSET {offset}
     ), listed AS (
         SELECT ", inbox_columns!(), ", place FROM page
         JOIN feature_requests
           ON feature_requests.workspace_id = {workspace} AND feature_requests.id = page.request_id
         ", inbox_joins!(), "
     )
     SELECT total, id, tag_number, title, track, lane, votes_count, created_at, private, awaiting_approval, attention,
            companies_count, comments_count, held_count, excerpt, tags, notes_count, author_id, author_name, author_email, root_id, root_number, root_title
     FROM (SELECT count(*) AS total FROM selected) AS total LEFT JOIN listed ON true ORDER BY place")
}

/// Selects a page of a list with a tag or a member.
pub(super) async fn page(
    session: &Session,
    workspace: Uuid,
    list: &InboxList,
    limit: i64,
    offset: i64,
) -> Result<Listing<InboxRow>, StoreError> {
    let Scope { state, tracks, tag, member } = (&list.filter).into();
    let (scan_limit, sort) = (i64::from(InboxList::READ_LIMIT), list.sort.name().to_owned());
    let selected = SelectedInbox { workspace, state, tracks, tag, member, scan_limit, sort, limit, offset };
    let rows: Vec<(i64, Option<InboxListRow>)> = session.run(selected.load(&mut session.connection()?)).await?;
    listing(rows, list.page, InboxRow::try_from)
}
