//! The page of a feature request.

use crate::trees::LinkSql;
use async_trait::async_trait;
use diesel::prelude::{OptionalExtension, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
use diesel::{Queryable, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::event::Event;
use roadmap_domain::model::feature_request::{
    FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, RequestLink, Tag,
};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, CustomerId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::{HeldComment, RequestPage, Viewer};
use roadmap_domain::ports::RequestPageReader;
use roadmap_store::columns::{Id, TimestampColumn};
use roadmap_store::rows::{CommentRow, CustomerNameRow, EventRow, HeldCommentRow, LinkRow, SummaryRow};

use crate::SqliteStore;
use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::reads::comments::{join_shown_comments, shown_comment_columns, shown_comments};
use crate::reads::portal_lists::rows::has_voted;
use crate::records::{
    CommentSql, CustomerNameSql, comment_authors, comment_columns, shown_by_root, shown_comments_count, shown_requests,
};
use crate::rows::{SummarySql, placed_joins, summary_sql};
use crate::statement::statement;

/// SQL for the root of the tree of a feature request that is referred to by its ID or its tag number, as common table
/// expressions: `root (workspace, id, private, is_named_visible)`. The last one is whether the customer who looks, or a
/// member, may see the one that is referred to. The parameters are the workspace, the ID, the tag number, the customer
/// and whether a member looks.
macro_rules! referred_root {
    () => {
        "WITH scope (workspace, request, number, customer, is_member) AS (SELECT ?, ?, ?, ?, ?),
         named (root, is_visible) AS (
             SELECT coalesce(request.root_id, request.id),
                    NOT request.private OR scope.is_member OR request.author_id = scope.customer FROM scope
             CROSS JOIN feature_requests request ON request.workspace_id = scope.workspace
                    AND request.id = scope.request
             UNION ALL
             SELECT coalesce(request.root_id, request.id),
                    NOT request.private OR scope.is_member OR request.author_id = scope.customer FROM scope
             CROSS JOIN feature_requests request ON request.workspace_id = scope.workspace
                    AND request.tag_number = scope.number
         ),
         root (workspace, id, private, is_named_visible) AS (
             SELECT request.workspace_id, request.id, request.private AND scope.is_member, named.is_visible
             FROM scope CROSS JOIN named
             CROSS JOIN feature_requests request ON request.workspace_id = scope.workspace AND request.id = named.root
         )"
    };
}

statement! {
    /// Selects a feature request with its author, the number of its comments, whether
    /// anything was merged into it, and whether the customer who looks has voted for it and gets mail about it.
    Head {
        workspace: Id => Binary, request: Option<Id> => Nullable<Binary>, number: Option<i64> => Nullable<BigInt>,
        customer: Option<Id> => Nullable<Binary>, is_member: bool => Bool,
    } -> (
        SummarySql, (Text, Bool, Bool, BigInt), Nullable<CustomerNameSql>,
        (BigInt, Bool, Bool, Bool),
    ),
    concat!(
        referred_root!(), ", ", shown_by_root!(), ",
         tree (id) AS (
             SELECT id FROM root
             UNION ALL
             SELECT merged.id FROM root
             CROSS JOIN feature_requests merged ON merged.workspace_id = root.workspace AND merged.root_id = root.id
         )
         SELECT ", summary_sql!(), ", feature_requests.description, feature_requests.private,
                feature_requests.awaiting_approval, feature_requests.updated_at,
                author.id, author.name, author.email,
                ", shown_comments_count!(), ",
                EXISTS (SELECT 1 FROM feature_requests merged
                        WHERE merged.workspace_id = root.workspace AND merged.root_id = root.id),
                ", has_voted!("scope.customer", "root.workspace", "root.id"), ",
                EXISTS (
                    SELECT 1 FROM customers viewer
                    WHERE viewer.workspace_id = scope.workspace AND viewer.id = scope.customer
                      AND viewer.mail_stopped_at IS NULL AND (
                          EXISTS (SELECT 1 FROM tree
                                  CROSS JOIN votes ON votes.workspace_id = viewer.workspace_id
                                         AND votes.request_id = tree.id AND votes.customer_id = viewer.id
                                  WHERE votes.subscribed)
                          OR EXISTS (SELECT 1 FROM tree
                                     CROSS JOIN followers ON followers.workspace_id = viewer.workspace_id
                                            AND followers.request_id = tree.id AND followers.customer_id = viewer.id)
                      )
                )
         FROM scope CROSS JOIN root
         CROSS JOIN feature_requests ON feature_requests.workspace_id = root.workspace
                AND feature_requests.id = root.id ", placed_joins!(), "
         LEFT JOIN customers author ON author.workspace_id = feature_requests.workspace_id
               AND author.id = feature_requests.author_id"
    )
}

/// A row of [`Head`].
#[derive(Debug, Queryable)]
struct HeadRow {
    summary: SummaryRow,
    /// Description, visibility, whether it awaits approval, timestamp of the last change.
    fields: (String, bool, bool, TimestampColumn),
    author: Option<CustomerNameRow>,
    /// The number of comments, whether anything was merged into it, whether the viewer has
    /// voted and is subscribed.
    state: (i64, bool, bool, bool),
}

statement! {
    /// Selects what belongs to a feature request: its tags, what was merged into it, its latest events, and the comments
    /// that wait for approval and that the viewer may see. The number at the beginning says which.
    Parts {
        workspace: Id => Binary, root: Id => Binary, private: bool => Bool, customer: Option<Id> => Nullable<Binary>,
        is_member: bool => Bool, max_events: i64 => BigInt, max_held: i64 => BigInt,
    } -> (
        Integer, Nullable<Binary>, Text, Nullable<Text>, Nullable<Text>, Nullable<Binary>, Nullable<Text>, BigInt,
    ),
    "WITH root (workspace, id, private) AS (SELECT ?, ?, ?), viewer (customer, is_member) AS (SELECT ?, ?),
     tree (workspace, id) AS (
         SELECT workspace, id FROM root
         UNION ALL
         SELECT merged.workspace_id, merged.id FROM root
         CROSS JOIN feature_requests merged ON merged.workspace_id = root.workspace AND merged.root_id = root.id
     )
     SELECT 0, NULL, tag, NULL, NULL, NULL, NULL, position FROM root
     CROSS JOIN feature_request_tags tag ON tag.workspace_id = root.workspace AND tag.request_id = root.id
     UNION ALL
     SELECT 1, merged.id, merged.title, NULL, NULL, NULL, NULL, merged.tag_number FROM viewer CROSS JOIN root
     CROSS JOIN feature_requests merged ON merged.workspace_id = root.workspace AND merged.root_id = root.id
     WHERE viewer.is_member OR NOT merged.private
     UNION ALL
     SELECT * FROM (
         SELECT 2, event.id, event.kind, event.details, event.actor_kind, event.actor_id, event.actor_name,
                event.created_at
         FROM feature_request_events event
         WHERE event.workspace_id = (SELECT workspace FROM root) AND event.request_id = (SELECT id FROM root)
         ORDER BY event.created_at DESC, event.id DESC LIMIT ?
     )
     UNION ALL
     SELECT * FROM (
         SELECT 3, held.id, held.content, author.email, NULL, author.id, author.name, held.created_at
         FROM viewer CROSS JOIN tree
         CROSS JOIN held_comments held ON held.workspace_id = tree.workspace AND held.request_id = tree.id
         CROSS JOIN customers author ON author.workspace_id = held.workspace_id AND author.id = held.customer_id
         WHERE viewer.is_member OR held.customer_id = viewer.customer
         ORDER BY held.created_at, held.id LIMIT ?
     )"
}

/// A row of [`Parts`].
#[derive(Debug, Queryable)]
struct PartRow {
    part: i32,
    id: Option<Id>,
    text: String,
    second_text: Option<String>,
    third_text: Option<String>,
    person: Option<Id>,
    person_name: Option<String>,
    number: i64,
}

statement! {
    /// Selects a page of the comments of a feature request into which nothing was merged, and the latest comment of the
    /// team.
    CommentsAndAnswer { workspace: Id => Binary, root: Id => Binary, limit: i64 => BigInt, offset: i64 => BigInt }
        -> (CommentSql, Bool),
    concat!(
        "WITH root (workspace, id) AS (SELECT ?, ?),
         listed (number, is_answer) AS (
             SELECT * FROM (
                 SELECT comments.rowid, 0 FROM comments
                 WHERE workspace_id = (SELECT workspace FROM root) AND request_id = (SELECT id FROM root)
                 ORDER BY comments.created_at, comments.id LIMIT ? OFFSET ?
             )
             UNION ALL
             SELECT * FROM (
                 SELECT comments.rowid, 1 FROM comments
                 WHERE workspace_id = (SELECT workspace FROM root) AND request_id = (SELECT id FROM root)
                   AND comments.customer_id IS NULL
                 ORDER BY comments.created_at DESC, comments.id DESC LIMIT 1
             )
         )
         SELECT ", comment_columns!(), ", NULL, NULL, NULL, listed.is_answer FROM listed
         CROSS JOIN comments ON comments.rowid = listed.number ", comment_authors!(), "
         ORDER BY comments.created_at, comments.id"
    )
}

statement! {
    /// Selects a page of the comments that a feature request shows, with the descriptions of what was merged into it,
    /// and the latest comment of the team.
    ShownCommentsAndAnswer {
        workspace: Id => Binary, root: Id => Binary, private: bool => Bool, limit: i64 => BigInt, offset: i64 => BigInt,
    } -> (CommentSql, Bool),
    concat!(
        "WITH ", shown_requests!(), ",
         page (workspace, created_at, id, request, number, is_answer) AS MATERIALIZED (
             SELECT *, 0 FROM (", shown_comments!(), " LIMIT ? OFFSET ?)
             UNION ALL
             SELECT * FROM (
                 SELECT shown.workspace, comments.created_at, comments.id, shown.id, comments.rowid, 1 FROM shown
                 CROSS JOIN comments ON comments.workspace_id = shown.workspace AND comments.request_id = shown.id
                 WHERE comments.customer_id IS NULL
                 ORDER BY comments.created_at DESC, comments.id DESC LIMIT 1
             )
         )
         SELECT ", shown_comment_columns!(), ", page.is_answer FROM page ", join_shown_comments!()
    )
}

statement! {
    /// Selects a feature request that the viewer may see, as well as the one that was merged into it, if that is meant.
    Visible {
        workspace: Id => Binary, request: Option<Id> => Nullable<Binary>, number: Option<i64> => Nullable<BigInt>,
        customer: Option<Id> => Nullable<Binary>, is_member: bool => Bool,
    } -> LinkSql,
    concat!(
        referred_root!(), "
         SELECT request.id, request.tag_number, request.title FROM scope CROSS JOIN root
         CROSS JOIN feature_requests request ON request.workspace_id = root.workspace AND request.id = root.id
         WHERE root.is_named_visible
           AND (NOT request.private OR scope.is_member OR request.author_id = scope.customer)"
    )
}

/// Returns the ID or the tag number of a reference, or `None` if it leads nowhere.
fn reference(request: &FeatureRequestRef) -> Option<(Option<Id>, Option<i64>)> {
    match *request {
        FeatureRequestRef::Id(id) => Some((Some(Id(id.uuid())), None)),
        FeatureRequestRef::Number(number) => Some((None, Some(number))),
        FeatureRequestRef::Unresolvable => None,
    }
}

/// What belongs to a feature request besides its own fields and its comments.
#[derive(Debug, Default)]
struct Belongings {
    tags: Vec<(i64, Tag)>,
    merged: Vec<RequestLink>,
    events: Vec<Event>,
    held: Vec<HeldComment>,
}

impl Belongings {
    fn new(rows: Vec<PartRow>) -> Result<Self, StoreError> {
        let mut all = Self::default();
        for row in rows {
            all.add(row)?;
        }
        all.tags.sort_by_key(|(position, _)| *position);
        all.merged.sort_by_key(|link| link.tag_number);
        all.events.sort_by_key(|event| std::cmp::Reverse((event.created_at, event.id.uuid())));
        all.held.sort_by_key(|held| (held.created_at, held.id.uuid()));
        Ok(all)
    }

    fn add(&mut self, row: PartRow) -> Result<(), StoreError> {
        let PartRow { part, id, text, second_text, third_text, person, person_name, number } = row;
        match (part, id, second_text, third_text, person) {
            (0, ..) => self.tags.push((number, Tag::from_stored(text))),
            (1, Some(id), ..) => self.merged.push(LinkRow { id, tag_number: number, title: text }.into()),
            (2, Some(id), Some(details), Some(actor_kind), actor_id) => {
                let (actor_name, created_at) = (person_name.unwrap_or_default(), TimestampColumn(number));
                let row = EventRow { id, kind: text, details, actor_kind, actor_id, actor_name, created_at };
                self.events.push(row.try_into()?);
            }
            (_, Some(id), Some(email), _, Some(author)) => {
                let author = CustomerNameRow { id: author, name: person_name, email };
                let row = HeldCommentRow { id, content: text, author, created_at: TimestampColumn(number) };
                self.held.push(row.try_into()?);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the request for a page of comments. The first one is 1, also of no comments.
fn comments_page(page: u64) -> Result<PageRequest, StoreError> {
    let (page, size) = (page.max(1).to_string(), RequestPage::COMMENTS.to_string());
    PageRequest::parse(Some(&page), Some(&size)).map_err(|error| StoreError::Fatal(error.into()))
}

/// Everything about a feature request, as it is stored.
type PageRows = (HeadRow, Vec<PartRow>, Vec<(CommentRow, bool)>, PageRequest);

fn load_page(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
    viewer: Viewer,
    comments: Option<u64>,
) -> Result<Option<PageRows>, SqlError> {
    let Some((id, number)) = reference(request) else { return Ok(None) };
    let customer = viewer.customer.map(|customer| Id(customer.uuid()));
    let is_member = viewer.is_member;
    let head = Head { workspace, request: id, number, customer, is_member }.get_result(connection).optional()?;
    let Some(head): Option<HeadRow> = head else { return Ok(None) };
    // What is private and merged into it is for members only, also if the author of a private one looks.
    let (root, private) = (head.summary.id, head.fields.1 && is_member);
    let (comments_count, has_merged, ..) = head.state;
    let parts = Parts {
        workspace,
        root,
        private,
        customer,
        is_member,
        max_events: i64::from(RequestPage::MAX_EVENTS),
        max_held: i64::from(RequestPage::MAX_HELD),
    };
    let parts = parts.load(connection)?;
    let page = comments.unwrap_or_else(|| comments_count.unsigned_abs().div_ceil(RequestPage::COMMENTS));
    let page = comments_page(page)?;
    // A page that does not exist is empty, but it has the answer.
    let (limit, offset) = page.offset().map_or((0, 0), |offset| (page.limit(), offset));
    let comments = if has_merged {
        ShownCommentsAndAnswer { workspace, root, private, limit, offset }.load(connection)?
    } else {
        CommentsAndAnswer { workspace, root, limit, offset }.load(connection)?
    };
    Ok(Some((head, parts, comments, page)))
}

fn request_page((head, parts, rows, page): PageRows) -> Result<RequestPage, StoreError> {
    let Belongings { tags, merged, events, held } = Belongings::new(parts)?;
    let (comments_count, _, has_voted, is_subscribed) = head.state;
    let (description, private, awaiting_approval, updated_at) = head.fields;
    let updated_at = updated_at.into_timestamp("feature_requests", "updated_at", head.summary.id)?;
    let (mut comments, mut answer) = (Vec::new(), None);
    for (row, is_answer) in rows {
        let comment = ListedComment::try_from(row)?;
        if is_answer { answer = Some(comment) } else { comments.push(comment) }
    }
    Ok(RequestPage {
        detail: FeatureRequestDetail {
            summary: FeatureRequestSummary::try_from(head.summary)?,
            description: CleanHtml::from_stored(description),
            tags: tags.into_iter().map(|(_, tag)| tag).collect(),
            private,
            awaiting_approval,
            comments_count,
            author: head.author.map(Into::into),
            merged,
            updated_at,
        },
        comments: Listing { items: comments, request: page, total: comments_count.unsigned_abs() },
        answer,
        events,
        held,
        has_voted,
        is_subscribed,
    })
}

statement! {
    /// Selects those comments of a JSON array that a customer has written, and those feature requests.
    WrittenAmong { workspace: Id => Binary, customer: Id => Binary, comments: String => Text } -> Binary,
    "WITH scope (workspace, customer) AS (SELECT ?, ?),
     listed (id) AS (SELECT unhex(value) FROM json_each(?))
     SELECT listed.id FROM scope CROSS JOIN listed
     WHERE EXISTS (
         SELECT 1 FROM comments WHERE comments.workspace_id = scope.workspace AND comments.id = listed.id
            AND comments.customer_id = scope.customer
     ) OR EXISTS (
         SELECT 1 FROM feature_requests merged WHERE merged.workspace_id = scope.workspace AND merged.id = listed.id
            AND merged.author_id = scope.customer
     )"
}

#[async_trait]
impl RequestPageReader for SqliteStore {
    async fn request_page(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        viewer: Viewer,
        comments: Option<u64>,
    ) -> Result<Option<RequestPage>, StoreError> {
        let (workspace, request) = (Id(workspace.uuid()), *request);
        let load =
            move |connection: &mut SqliteConnection| load_page(connection, workspace, &request, viewer, comments);
        self.readers.run_in_snapshot(load).await?.map(request_page).transpose()
    }

    async fn visible_request(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        viewer: Viewer,
    ) -> Result<Option<RequestLink>, StoreError> {
        let (workspace, request) = (Id(workspace.uuid()), *request);
        let Some((id, number)) = reference(&request) else { return Ok(None) };
        let customer = viewer.customer.map(|customer| Id(customer.uuid()));
        let find = Visible { workspace, request: id, number, customer, is_member: viewer.is_member };
        let row: Option<LinkRow> =
            self.readers.run(move |connection| Ok(find.get_result(connection).optional()?)).await?;
        Ok(row.map(RequestLink::from))
    }

    async fn written_among(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        comments: &[CommentId],
    ) -> Result<Vec<CommentId>, StoreError> {
        let comments: Vec<Id> = comments.iter().map(|comment| Id(comment.uuid())).collect();
        let written = WrittenAmong {
            workspace: Id(workspace.uuid()),
            customer: Id(customer.uuid()),
            comments: json_ids(&comments),
        };
        let ids: Vec<Id> = self.readers.run(move |connection| Ok(written.load(connection)?)).await?;
        Ok(ids.into_iter().map(|id| CommentId::new(id.0)).collect())
    }
}
