//! Feature requests, and what belongs to one or several of them.

use crate::trees::LinkSql;
use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::TeamPage;
use roadmap_domain::model::event::Event;
use roadmap_domain::model::feature_request::{FeatureRequestDetail, FeatureRequestRef};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::note::Note;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::SitemapEntry;
use roadmap_domain::model::vote::Voter;
use roadmap_domain::ports::FeatureRequestReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{EventRow, NoteRow, SitemapRow, VoterRow};

use crate::SqliteStore;
use crate::errors::SqlError;
use crate::reads::comments::{NoteSql, note_columns, note_people};
use crate::reads::listing::{Page, listing};
use crate::reads::portal_lists::rows::json_requests;
use crate::records::{CustomerNameSql, load_detail};
use crate::rows::find_summary;
use crate::schema::feature_request_events;
use crate::statement::statement;

fn load_events(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
    kind: Option<&'static str>,
    page: PageRequest,
) -> Result<Option<Page<EventRow>>, SqlError> {
    let Some(root) = find_summary(connection, workspace, request)?.map(|row| row.id) else { return Ok(None) };
    let of_request = || {
        let events = feature_request_events::table
            .filter(feature_request_events::workspace_id.eq(workspace))
            .filter(feature_request_events::request_id.eq(root))
            .into_boxed();
        match kind {
            Some(kind) => events.filter(feature_request_events::kind.eq(kind)),
            None => events,
        }
    };
    let total: i64 = of_request().count().get_result(connection)?;
    let Some(offset) = page.offset() else { return Ok(Some((Vec::new(), total))) };
    let (at, before) = page.before();
    let (at, before) = (at.millis(), Id(before));
    let is_before = feature_request_events::created_at
        .lt(at)
        .or(feature_request_events::created_at.eq(at).and(feature_request_events::id.lt(before)));
    let rows = of_request()
        .filter(is_before)
        .order((feature_request_events::created_at.desc(), feature_request_events::id.desc()))
        .select((
            feature_request_events::id,
            feature_request_events::kind,
            feature_request_events::details,
            feature_request_events::actor_kind,
            feature_request_events::actor_id,
            feature_request_events::actor_name,
            feature_request_events::created_at,
        ))
        .limit(page.limit())
        .offset(offset)
        .load(connection)?;
    Ok(Some((rows, total)))
}

/// SQL for the feature requests of the tree of a root, from a common table expression `scope (workspace, root)`.
macro_rules! tree_of_root {
    () => {
        "tree (id) AS (
             SELECT root FROM scope
             UNION ALL
             SELECT merged.id FROM scope
             CROSS JOIN feature_requests merged ON merged.workspace_id = scope.workspace AND merged.root_id = scope.root
         )"
    };
}

/// SQL for the number of customers who get mail about the feature requests of a common table expression `tree (id)`.
macro_rules! subscribers_count {
    () => {
        "(SELECT count(*) FROM (
              SELECT votes.customer_id FROM scope CROSS JOIN tree
              CROSS JOIN votes ON votes.workspace_id = scope.workspace AND votes.request_id = tree.id
              CROSS JOIN customers ON customers.workspace_id = votes.workspace_id AND customers.id = votes.customer_id
              WHERE votes.subscribed AND customers.mail_stopped_at IS NULL
              UNION
              SELECT followers.customer_id FROM scope CROSS JOIN tree
              CROSS JOIN followers ON followers.workspace_id = scope.workspace AND followers.request_id = tree.id
              CROSS JOIN customers ON customers.workspace_id = followers.workspace_id
                     AND customers.id = followers.customer_id
              WHERE customers.mail_stopped_at IS NULL
          ))"
    };
}

statement! {
    /// Selects the latest notes of a tree, each with the number of all.
    LatestNotes { workspace: Id => Binary, root: Id => Binary, limit: i64 => BigInt } -> (NoteSql, BigInt),
    concat!(
        "WITH scope (workspace, root) AS (SELECT ?, ?), ", tree_of_root!(), ",
         page (number) AS MATERIALIZED (
             SELECT notes.rowid FROM scope CROSS JOIN tree
             CROSS JOIN notes ON notes.workspace_id = scope.workspace AND notes.request_id = tree.id
             ORDER BY notes.created_at DESC, notes.id DESC LIMIT ?
         )
         SELECT ", note_columns!(), ", (
             SELECT count(*) FROM scope CROSS JOIN tree
             CROSS JOIN notes counted ON counted.workspace_id = scope.workspace AND counted.request_id = tree.id
         ) FROM page CROSS JOIN notes ON notes.rowid = page.number ", note_people!(), "
         ORDER BY notes.created_at DESC, notes.id DESC"
    )
}

statement! {
    /// Counts the subscribers of a tree, and selects its latest voters, each once, by the time of the first vote. The
    /// votes of a tree of one are read from the index.
    SubscribersAndVoters { workspace: Id => Binary, root: Id => Binary, limit: i64 => BigInt }
        -> (BigInt, Nullable<(CustomerNameSql, BigInt)>),
    concat!(
        "WITH scope (workspace, root, row_limit) AS (SELECT ?, ?, ?), ", tree_of_root!(), ",
         subscribers (count) AS MATERIALIZED (SELECT ", subscribers_count!(), "),
         voters (workspace, customer, voted_at) AS MATERIALIZED (
             SELECT * FROM (
                 SELECT workspace_id, customer_id, created_at FROM votes INDEXED BY votes_by_age
                 WHERE workspace_id = (SELECT workspace FROM scope) AND request_id = (SELECT root FROM scope)
                   AND (SELECT count(*) FROM tree) = 1
                 ORDER BY created_at DESC, customer_id DESC LIMIT (SELECT row_limit FROM scope)
             )
             UNION ALL
             SELECT * FROM (
                 SELECT votes.workspace_id, votes.customer_id, min(votes.created_at) AS voted_at
                 FROM scope CROSS JOIN tree
                 CROSS JOIN votes ON votes.workspace_id = scope.workspace AND votes.request_id = tree.id
                 WHERE (SELECT count(*) FROM tree) > 1
                 GROUP BY votes.customer_id ORDER BY voted_at DESC, votes.customer_id DESC
                 LIMIT (SELECT row_limit FROM scope)
             )
         )
         SELECT subscribers.count, customers.id, customers.name, customers.email, voters.voted_at FROM subscribers
         LEFT JOIN voters ON true
         LEFT JOIN customers ON customers.workspace_id = voters.workspace AND customers.id = voters.customer
         ORDER BY voters.voted_at DESC, voters.customer DESC"
    )
}

statement! {
    /// Counts the customers who get a changelog about the feature requests of a JSON array: those who are subscribed to them
    /// or to what is merged with them, and those who get all changelogs.
    CountChangelogAudience { workspace: Id => Binary, requests: String => Text } -> BigInt,
    "WITH scope (workspace) AS (SELECT ?),
     roots (id) AS (
         SELECT DISTINCT coalesce(tally.root_id, tally.request_id) FROM scope CROSS JOIN json_each(?) AS request
         CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace
                AND tally.request_id = unhex(request.value)
     ),
     tree (id) AS MATERIALIZED (
         SELECT id FROM roots
         UNION ALL
         SELECT merged.id FROM scope CROSS JOIN roots
         CROSS JOIN feature_requests merged ON merged.workspace_id = scope.workspace AND merged.root_id = roots.id
     )
     SELECT count(*) FROM (
         SELECT votes.customer_id FROM scope CROSS JOIN tree
         CROSS JOIN votes ON votes.workspace_id = scope.workspace AND votes.request_id = tree.id
         CROSS JOIN customers ON customers.workspace_id = votes.workspace_id AND customers.id = votes.customer_id
         WHERE votes.subscribed AND NOT customers.stops_changelogs AND customers.blocked_at IS NULL
         UNION
         SELECT followers.customer_id FROM scope CROSS JOIN tree
         CROSS JOIN followers ON followers.workspace_id = scope.workspace AND followers.request_id = tree.id
         CROSS JOIN customers ON customers.workspace_id = followers.workspace_id
                AND customers.id = followers.customer_id
         WHERE NOT customers.stops_changelogs AND customers.blocked_at IS NULL
         UNION
         SELECT reader.id FROM scope
         CROSS JOIN customers reader INDEXED BY customers_with_news
                 ON reader.workspace_id = scope.workspace AND reader.news_since IS NOT NULL
         WHERE reader.blocked_at IS NULL
     )"
}

statement! {
    /// Selects the public feature requests with tag numbers above one, in their order.
    Sitemap { workspace: Id => Binary, after: i64 => BigInt, limit: i64 => BigInt } -> (LinkSql, BigInt),
    "SELECT id, tag_number, title, updated_at FROM feature_requests
     WHERE workspace_id = ? AND tag_number > ? AND NOT private AND root_id IS NULL ORDER BY tag_number LIMIT ?"
}

statement! {
    /// Selects the highest tag number so far, if there is one.
    LastTagNumber { workspace: Id => Binary } -> BigInt,
    "SELECT last_tag_number FROM tag_counters WHERE workspace_id = ?"
}

#[async_trait]
impl FeatureRequestReader for SqliteStore {
    async fn feature_request(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestDetail>, StoreError> {
        let (workspace, request) = (Id(workspace.uuid()), *request);
        self.readers.run_in_snapshot(move |connection| load_detail(connection, workspace, &request)).await
    }

    async fn events(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        kind: Option<&'static str>,
        page: PageRequest,
    ) -> Result<Option<Listing<Event>>, StoreError> {
        let (workspace, request) = (Id(workspace.uuid()), *request);
        let load = move |connection: &mut SqliteConnection| load_events(connection, workspace, &request, kind, page);
        let rows = self.readers.run_in_snapshot(load).await?;
        rows.map(|rows| listing(rows, page, Event::try_from)).transpose()
    }

    async fn team_page(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<TeamPage, StoreError> {
        let (workspace, root) = (Id(workspace.uuid()), Id(request.uuid()));
        let notes = LatestNotes { workspace, root, limit: i64::from(TeamPage::MAX_NOTES) };
        let voters = SubscribersAndVoters { workspace, root, limit: i64::from(TeamPage::MAX_VOTERS) };
        let (notes, voters): (Vec<(NoteRow, i64)>, Vec<(i64, Option<VoterRow>)>) = self
            .readers
            .run_in_snapshot(move |connection| Ok((notes.load(connection)?, voters.load(connection)?)))
            .await?;
        let notes_count = notes.first().map_or(0, |(_, count)| *count);
        let subscribers = voters.first().map_or(0, |(count, _)| *count);
        Ok(TeamPage {
            notes: notes.into_iter().map(|(row, _)| Note::try_from(row)).collect::<Result<_, _>>()?,
            notes_count,
            voters: voters.into_iter().filter_map(|(_, row)| row).map(Voter::try_from).collect::<Result<_, _>>()?,
            subscribers,
        })
    }

    async fn count_changelog_audience(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<i64, StoreError> {
        let workspace = Id(workspace.uuid());
        let count = CountChangelogAudience { workspace, requests: json_requests(requests) };
        self.readers.run(move |connection| Ok(count.get_result(connection)?)).await
    }

    async fn sitemap(&self, workspace: WorkspaceId, after: i64, limit: u32) -> Result<Vec<SitemapEntry>, StoreError> {
        let sitemap = Sitemap { workspace: Id(workspace.uuid()), after, limit: i64::from(limit) };
        let rows: Vec<SitemapRow> = self.readers.run(move |connection| Ok(sitemap.load(connection)?)).await?;
        rows.into_iter().map(SitemapEntry::try_from).collect()
    }

    async fn last_tag_number(&self, workspace: WorkspaceId) -> Result<i64, StoreError> {
        let last = LastTagNumber { workspace: Id(workspace.uuid()) };
        let number: Option<i64> =
            self.readers.run(move |connection| Ok(last.get_result(connection).optional()?)).await?;
        Ok(number.unwrap_or(0))
    }
}
