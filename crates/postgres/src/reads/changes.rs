//! Lists of everything, oldest change first.
//!
//! Transactions commit in another order than they change records. A change therefore gets its place after its commit, by
//! whoever reads next: [`number_changes`].

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::changes::{
    ChangeEntry, ChangePlace, ChangedComment, ChangedRequest, ChangesFilter, ChangesListing, ChangesPage,
    ChangesSelection, EXAMINED,
};
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::feature_request::FeatureRequestDetail;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::ports::ChangeReader;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{ChangeRow, CommentRow, LinkRow};
use uuid::Uuid;

use crate::PostgresReader;
use crate::pool::Pool;
use crate::rows::{CommentColumns, DetailColumns, DetailRow, LinkColumns};
use crate::session::{LastStatement, Session};
use crate::statement::{placed, statement, summary};

/// The kind of the rows of feature requests.
const REQUEST: &str = "feature_request";

/// The kind of the rows of comments.
const COMMENT: &str = "comment";

/// Most changes that one transaction numbers, which bounds its time.
const NUMBERED_AT_ONCE: i64 = 1_000;

statement! {
    /// Whether committed changes have no number yet.
    HasUnnumbered { workspace: Uuid => SqlUuid } -> Bool,
    "SELECT EXISTS (SELECT FROM changes WHERE workspace_id = {workspace} AND number IS NULL)"
}

statement! {
    /// Numbers the oldest committed changes that have no number yet. Returns how many.
    NumberChanges { workspace: Uuid => SqlUuid, limit: i64 => BigInt } -> BigInt,
    "SELECT number_changes({workspace}, {limit})"
}

statement! {
    /// Selects the changes of records of one kind after a place.
    Changes {
        workspace: Uuid => SqlUuid,
        kind: &'static str => Text,
        at: TimestampColumn => Timestamptz,
        number: i64 => BigInt,
        limit: i64 => BigInt,
    } -> ChangeColumns,
    "SELECT record_id, track_id, private, was_public, deleted, updated_at, changed_at, number FROM changes
     WHERE workspace_id = {workspace} AND kind = {kind} AND number IS NOT NULL AND (changed_at, number) > ({at}, {number})
     ORDER BY changed_at, number LIMIT {limit}"
}

/// The types of ID, track, whether it is private, was public and is deleted, timestamp and place of a change.
type ChangeColumns = (SqlUuid, Nullable<SqlUuid>, Bool, Bool, Bool, Timestamptz, Timestamptz, BigInt);
statement! {
    /// Selects feature requests with all of their fields, each with the one that it is merged into. Nothing is counted as
    /// merged into one that is merged itself.
    ChangedRequests { workspace: Uuid => SqlUuid, ids: Vec<Uuid> => Array<SqlUuid> }
        -> (DetailColumns, Nullable<LinkColumns>),
    concat!("WITH request AS MATERIALIZED (
         SELECT ", summary!(), ", description, feature_requests.private, awaiting_approval, author_id,
                feature_requests.root_id, updated_at
         FROM feature_requests ", placed!(), "
         WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = ANY ({ids})
     )
     SELECT request.id, request.tag_number, request.title, track, lane, votes_count, request.created_at,
            request.description,
            ARRAY(SELECT tag FROM feature_request_tags
                  WHERE workspace_id = {workspace} AND request_id = request.id ORDER BY position),
            request.private, request.awaiting_approval,
            (SELECT count(*) FROM comments WHERE workspace_id = {workspace} AND request_id = request.id)
            + merged.comments_count,
            customers.id, customers.name, customers.email,
            merged.ids, merged.numbers, merged.titles, request.updated_at,
            target.id, target.tag_number, target.title
     FROM request
     CROSS JOIN LATERAL (
         SELECT coalesce(array_agg(id ORDER BY tag_number), ARRAY[]::uuid[]) AS ids,
                coalesce(array_agg(tag_number ORDER BY tag_number), ARRAY[]::bigint[]) AS numbers,
                coalesce(array_agg(title ORDER BY tag_number), ARRAY[]::text[]) AS titles,
                coalesce(sum(CASE WHEN request.private OR NOT private THEN
                    (SELECT count(*) FROM comments WHERE workspace_id = {workspace} AND request_id = part.id)
                    + (description_text <> '')::integer
                END), 0)::bigint AS comments_count
         FROM (
             SELECT id, tag_number, title, private, description_text FROM feature_requests
             WHERE workspace_id = {workspace} AND root_id = request.id OFFSET 0
         ) AS part
     ) AS merged
     LEFT JOIN feature_requests AS target ON target.workspace_id = {workspace} AND target.id = request.root_id
     LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.id = request.author_id")
}

statement! {
    /// Selects comments, each with the feature request that it was written on and whether that is private.
    ChangedComments { workspace: Uuid => SqlUuid, ids: Vec<Uuid> => Array<SqlUuid> }
        -> (CommentColumns, LinkColumns, Bool),
    "SELECT comments.id, content, comments.customer_id IS NOT NULL, coalesce(customers.name, members.name),
            comments.created_at, comments.updated_at, NULL::uuid, NULL::bigint, NULL::text,
            source.id, source.tag_number, source.title, source.private
     FROM comments
     JOIN feature_requests AS source ON source.workspace_id = {workspace} AND source.id = comments.request_id
     LEFT JOIN members ON members.workspace_id = {workspace} AND members.id = comments.author_id
     LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.id = comments.customer_id
     WHERE comments.workspace_id = {workspace} AND comments.id = ANY ({ids})"
}

/// Numbers the committed changes of a workspace that have no number yet.
///
/// In transactions of their own, because the statements must each see what was committed before them.
pub(crate) async fn number_changes(pool: &Pool, workspace: WorkspaceId) -> Result<(), StoreError> {
    loop {
        let session = Session::transaction(pool, workspace.uuid()).await?;
        let number = NumberChanges { workspace: workspace.uuid(), limit: NUMBERED_AT_ONCE };
        let numbered: i64 = session.run(number.get_result(&mut session.connection()?)).await?;
        session.commit(None::<(LastStatement, NumberChanges)>).await?;
        if numbered < NUMBERED_AT_ONCE {
            return Ok(());
        }
    }
}

impl PostgresReader {
    async fn choose(
        &self,
        workspace: WorkspaceId,
        kind: &'static str,
        filter: ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesSelection, StoreError> {
        let id = workspace.uuid();
        let session = self.session(workspace).await?;
        let unnumbered = HasUnnumbered { workspace: id };
        let is_behind: bool = session.run(unnumbered.get_result(&mut session.connection()?)).await?;
        // Returned first: a process with one connection for lists would wait for itself.
        drop(session);
        if is_behind {
            number_changes(&self.pool, workspace).await?;
        }
        let ChangePlace { at, number } = ChangesSelection::start(&filter, page);
        let changes = Changes { workspace: id, kind, at: at.into(), number, limit: i64::from(EXAMINED) };
        let session = self.session(workspace).await?;
        let rows: Vec<ChangeRow> = session.run(changes.load(&mut session.connection()?)).await?;
        let entries = rows.into_iter().map(ChangeEntry::try_from).collect::<Result<_, _>>()?;
        Ok(ChangesSelection::choose(entries, filter, page))
    }
}

#[async_trait]
impl ChangeReader for PostgresReader {
    async fn changed_requests(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedRequest>, StoreError> {
        let filter = *filter;
        let selection = self.choose(workspace, REQUEST, filter, page).await?;
        let requests = ChangedRequests { workspace: workspace.uuid(), ids: selection.visible_ids() };
        let session = self.session(workspace).await?;
        let rows: Vec<(DetailRow, Option<LinkRow>)> = session.run(requests.load(&mut session.connection()?)).await?;
        let records = rows.into_iter().map(|(detail, target)| {
            let detail = FeatureRequestDetail::try_from(detail)?;
            Ok(ChangedRequest { detail, merged_into: target.map(Into::into) })
        });
        Ok(selection.listing(records.collect::<Result<_, StoreError>>()?))
    }

    async fn changed_comments(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedComment>, StoreError> {
        let filter = *filter;
        let selection = self.choose(workspace, COMMENT, filter, page).await?;
        let comments = ChangedComments { workspace: workspace.uuid(), ids: selection.visible_ids() };
        let session = self.session(workspace).await?;
        let rows: Vec<(CommentRow, LinkRow, bool)> = session.run(comments.load(&mut session.connection()?)).await?;
        let records = rows.into_iter().map(|(comment, request, private)| {
            let comment = ListedComment::try_from(comment)?;
            Ok(ChangedComment { comment, request: request.into(), private })
        });
        Ok(selection.listing(records.collect::<Result<_, StoreError>>()?))
    }
}
