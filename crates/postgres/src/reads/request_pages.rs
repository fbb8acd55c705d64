//! The page of a feature request.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::event::Event;
use roadmap_domain::model::feature_request::{FeatureRequestDetail, FeatureRequestRef, RequestLink};
use roadmap_domain::model::id::{CommentId, CustomerId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::{HeldComment, RequestPage, Viewer};
use roadmap_domain::ports::RequestPageReader;
use roadmap_store::rows::{CommentRow, EventRow, HeldCommentRow, LinkRow};
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::comments::CommentsAndAnswer;
use crate::reads::listing::BEYOND;
use crate::reads::requests::EventColumns;
use crate::rows::{CustomerNameColumns, DetailColumns, DetailRow, LinkColumns, detail};
use crate::session::Session;
use crate::statement::{id_or_number, resolved, statement};

/// The SQL of the feature requests in the tree of a page, after `FROM`.
macro_rules! tree_of_page {
    () => {
        "(SELECT id FROM request UNION ALL SELECT id FROM merged) AS members"
    };
}

statement! {
    /// Selects a feature request, and whether a customer has voted for it and is subscribed.
    /// Private ones that are merged into it are shown to members only.
    FindPage {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        is_member: bool => Bool,
    } -> (DetailColumns, Bool, Bool),
    detail!("is_shown OR {is_member}", "{is_member}", concat!(",
            EXISTS (SELECT FROM ", tree_of_page!(), "
                JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id
                          AND votes.customer_id = {customer}),
            EXISTS (SELECT FROM customers
                    WHERE workspace_id = {workspace} AND id = {customer} AND mail_stopped_at IS NULL)
            AND (EXISTS (SELECT FROM ", tree_of_page!(), "
                     JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id
                               AND votes.customer_id = {customer} AND subscribed)
                 OR EXISTS (SELECT FROM ", tree_of_page!(), "
                     JOIN followers ON followers.workspace_id = {workspace} AND followers.request_id = members.id
                                   AND followers.customer_id = {customer}))"))
}

statement! {
    /// Selects the latest events of a feature request, and the comments that wait for approval, on it and on what is
    /// merged into it: all of them, or those of a customer.
    EventsAndHeld {
        workspace: Uuid => SqlUuid,
        request: Uuid => SqlUuid,
        max_events: i64 => BigInt,
        max_held: i64 => BigInt,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        is_member: bool => Bool,
    } -> (Nullable<EventColumns>, Nullable<HeldColumns>),
    "WITH members AS MATERIALIZED (
         SELECT {request} AS id
         UNION ALL
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND root_id = {request}
     ), events AS (
         SELECT id, kind, details, actor_kind, actor_id, actor_name, created_at FROM feature_request_events
         WHERE workspace_id = {workspace} AND request_id = {request}
         ORDER BY created_at DESC, id DESC LIMIT {max_events}
     ), held AS (
         SELECT held.id, content, customers.id AS customer_id, name, email, held.created_at
         FROM members
         JOIN held_comments AS held ON held.workspace_id = {workspace} AND held.request_id = members.id
         JOIN customers ON customers.workspace_id = {workspace} AND customers.id = held.customer_id
         WHERE {is_member} OR held.customer_id = {customer}
         ORDER BY held.created_at, held.id LIMIT {max_held}
     )
     SELECT events.*, held.* FROM events FULL JOIN held ON false
     ORDER BY events.created_at DESC, events.id DESC, held.created_at, held.id"
}

/// The types of a comment that waits: ID, content, author, and timestamp of the submission.
pub(super) type HeldColumns = (SqlUuid, Text, CustomerNameColumns, Timestamptz);
/// Returns a page of comments, from 1, or the last one of `total` comments.
fn page_of_comments(page: Option<u64>, total: u64) -> Result<PageRequest, StoreError> {
    let page = page.unwrap_or_else(|| total.div_ceil(RequestPage::COMMENTS)).max(1);
    let request = PageRequest::parse(Some(&page.to_string()), Some(&RequestPage::COMMENTS.to_string()));
    request.map_err(|error| StoreError::Fatal(error.to_string().into()))
}

/// Selects a page of comments and the latest comment of the team.
async fn comments_and_answer(
    session: &Session,
    workspace: Uuid,
    request: Uuid,
    is_member: bool,
    page: Option<u64>,
) -> Result<(Listing<ListedComment>, Option<ListedComment>), StoreError> {
    let requested = page.map(|page| page_of_comments(Some(page), 0)).transpose()?;
    let select = CommentsAndAnswer {
        workspace,
        request: Some(request),
        number: None,
        is_member,
        limit: RequestPage::COMMENTS.cast_signed(),
        offset: requested.map(|page| page.offset().unwrap_or(BEYOND)),
    };
    let rows: Vec<(i64, Option<(bool, CommentRow)>)> = session.run(select.load(&mut session.connection()?)).await?;
    let total = rows.iter().map(|(total, _)| total.unsigned_abs()).next().unwrap_or(0);
    let (mut items, mut answer) = (Vec::new(), None);
    for (is_answer, comment) in rows.into_iter().filter_map(|(_, row)| row) {
        let comment = ListedComment::try_from(comment)?;
        if is_answer {
            answer = Some(comment);
        } else {
            items.push(comment);
        }
    }
    let request = page_of_comments(page, total)?;
    Ok((Listing { items, request, total }, answer))
}

/// Selects the history and the comments that wait for approval.
async fn events_and_held(
    session: &Session,
    workspace: Uuid,
    request: Uuid,
    viewer: Viewer,
) -> Result<(Vec<Event>, Vec<HeldComment>), StoreError> {
    let select = EventsAndHeld {
        workspace,
        request,
        max_events: i64::from(RequestPage::MAX_EVENTS),
        max_held: i64::from(RequestPage::MAX_HELD),
        customer: viewer.customer.map(|customer| customer.uuid()),
        is_member: viewer.is_member,
    };
    let rows: Vec<(Option<EventRow>, Option<HeldCommentRow>)> =
        session.run(select.load(&mut session.connection()?)).await?;
    let (mut events, mut held) = (Vec::new(), Vec::new());
    for (row, waiting) in rows {
        events.extend(row.map(Event::try_from).transpose()?);
        held.extend(waiting.map(HeldComment::try_from).transpose()?);
    }
    Ok((events, held))
}

statement! {
    /// Selects the feature request that a reference means, if a viewer may see it, as well as the one that was merged into
    /// it, if that is meant.
    VisibleRequest {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        is_member: bool => Bool,
    } -> LinkColumns,
    concat!("SELECT id, tag_number, title FROM feature_requests
     WHERE workspace_id = {workspace} AND id = ", resolved!(), "
       AND (NOT private OR {is_member} OR author_id = {customer})
       AND ({is_member}
            OR EXISTS (SELECT FROM feature_requests AS named
                       WHERE named.workspace_id = {workspace} AND named.id = {request}
                         AND (NOT named.private OR named.author_id = {customer}))
            OR EXISTS (SELECT FROM feature_requests AS named
                       WHERE named.workspace_id = {workspace} AND named.tag_number = {number}
                         AND (NOT named.private OR named.author_id = {customer})))")
}

statement! {
    /// Selects which of these comments a customer has written, and which of these feature requests.
    WrittenAmong { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, comments: Vec<Uuid> => Array<SqlUuid> }
        -> SqlUuid,
    "SELECT id FROM comments
     WHERE workspace_id = {workspace} AND id = ANY ({comments}) AND customer_id = {customer}
     UNION ALL
     SELECT id FROM feature_requests
     WHERE workspace_id = {workspace} AND id = ANY ({comments}) AND author_id = {customer}"
}

#[async_trait]
impl RequestPageReader for PostgresReader {
    async fn request_page(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        viewer: Viewer,
        comments: Option<u64>,
    ) -> Result<Option<RequestPage>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let customer = viewer.customer.map(|customer| customer.uuid());
        let find = FindPage { workspace, request, number, customer, is_member: viewer.is_member };
        let row: Option<(DetailRow, bool, bool)> =
            session.run_optional(find.get_result(&mut session.connection()?)).await?;
        let Some((detail, has_voted, is_subscribed)) = row else { return Ok(None) };
        let detail = FeatureRequestDetail::try_from(detail)?;
        let id = detail.summary.id.uuid();
        let (comments, answer) = comments_and_answer(&session, workspace, id, viewer.is_member, comments).await?;
        let (events, held) = events_and_held(&session, workspace, id, viewer).await?;
        Ok(Some(RequestPage { detail, comments, answer, events, held, has_voted, is_subscribed }))
    }

    async fn visible_request(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        viewer: Viewer,
    ) -> Result<Option<RequestLink>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let find = VisibleRequest {
            workspace: workspace.uuid(),
            request,
            number,
            customer: viewer.customer.map(|customer| customer.uuid()),
            is_member: viewer.is_member,
        };
        let row: Option<LinkRow> = session.run_optional(find.get_result(&mut session.connection()?)).await?;
        Ok(row.map(RequestLink::from))
    }

    async fn written_among(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        comments: &[CommentId],
    ) -> Result<Vec<CommentId>, StoreError> {
        let session = self.session(workspace).await?;
        let comments = comments.iter().map(|comment| comment.uuid()).collect();
        let written = WrittenAmong { workspace: workspace.uuid(), customer: customer.uuid(), comments };
        let ids: Vec<Uuid> = session.run(written.load(&mut session.connection()?)).await?;
        Ok(ids.into_iter().map(CommentId::new).collect())
    }
}
