//! Feature requests, and what belongs to one or several of them.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
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
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{EventRow, NoteRow, SitemapRow, VoterRow};
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::comments::NotesPage;
use crate::reads::listing::{BEYOND, existing_listing};
use crate::reads::portal_lists::ids;
use crate::reads::votes::VoterColumns;
use crate::rows::{DetailRow, FindDetail, LinkColumns};
use crate::schema::tag_counters;
use crate::statement::{id_or_number, members, resolved, statement, tree};

statement! {
    /// Selects the number of events of a feature request, with a page of them. Returns no row if the feature request does
    /// not exist.
    EventsPage {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        kind: Option<String> => Nullable<Text>,
        at: TimestampColumn => Timestamptz,
        before: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<EventColumns>),
    concat!("WITH request AS MATERIALIZED (
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND id = ", resolved!(), "
     ), total AS (
         SELECT count(*) AS total FROM feature_request_events
         WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request)
           AND ({kind} IS NULL OR kind = {kind})
     ), page AS MATERIALIZED (
         SELECT id, kind, details, actor_kind, actor_id, actor_name, created_at FROM feature_request_events
         WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request)
           AND ({kind} IS NULL OR kind = {kind}) AND (created_at, id) < ({at}, {before})
         ORDER BY created_at DESC, id DESC LIMIT {limit} OFFSET {offset}
     )
     SELECT total, page.* FROM request CROSS JOIN total LEFT JOIN page ON true
     ORDER BY page.created_at DESC, page.id DESC")
}

pub(crate) type EventColumns = (SqlUuid, Text, Text, Text, Nullable<SqlUuid>, Text, Timestamptz);
/// The SQL expression of the number of customers who get mail about the feature requests of the common table expression
/// `members`, as in [`audience`](crate::statement::audience).
macro_rules! subscribers {
    () => {
        "(SELECT count(*) FROM (
             SELECT votes.customer_id FROM members
             JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id AND votes.subscribed
             UNION
             SELECT followers.customer_id FROM members
             JOIN followers ON followers.workspace_id = {workspace} AND followers.request_id = members.id
          ) AS subscribed
          JOIN customers ON customers.workspace_id = {workspace} AND customers.id = subscribed.customer_id
          WHERE mail_stopped_at IS NULL)"
    };
}

statement! {
    /// Selects the number of subscribers of a feature request, and its latest voters, each once, by the first vote.
    /// Without merges, these are read from the index.
    SubscribersAndVoters { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid, limit: i64 => BigInt }
        -> (BigInt, Nullable<VoterColumns>),
    concat!("WITH ", tree!(), ", subscribers AS MATERIALIZED (
         SELECT ", subscribers!(), " AS total
     ), latest AS MATERIALIZED (
         (SELECT customer_id, created_at FROM votes
          WHERE workspace_id = {workspace} AND request_id = {request} AND (SELECT count(*) FROM members) = 1
          ORDER BY created_at DESC, customer_id DESC LIMIT {limit})
         UNION ALL
         (SELECT customer_id, min(created_at) FROM members
          JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id
          WHERE (SELECT count(*) FROM members) > 1
          GROUP BY customer_id ORDER BY 2 DESC, customer_id DESC LIMIT {limit})
     ), voters AS (
         SELECT customers.id, name, email, latest.created_at FROM latest
         JOIN customers ON customers.workspace_id = {workspace} AND customers.id = latest.customer_id
     )
     SELECT total, voters.* FROM subscribers LEFT JOIN voters ON true
     ORDER BY voters.created_at DESC, voters.id DESC")
}

statement! {
    /// Counts the customers who get a changelog about feature requests: those who are subscribed to them or to what is merged
    /// with them, and those who get all changelogs.
    CountChangelogAudience { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> BigInt,
    concat!("WITH roots AS MATERIALIZED (
         SELECT DISTINCT coalesce(root_id, id) AS id FROM feature_requests
         WHERE workspace_id = {workspace} AND id = ANY ({requests})
     ), ", members!(), "
     SELECT count(*) FROM (
         SELECT customer_id FROM members
         JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id
         JOIN customers ON customers.workspace_id = {workspace} AND customers.id = customer_id
         WHERE subscribed AND NOT stops_changelogs AND blocked_at IS NULL
         UNION
         SELECT customer_id FROM members
         JOIN followers ON followers.workspace_id = {workspace} AND followers.request_id = members.id
         JOIN customers ON customers.workspace_id = {workspace} AND customers.id = customer_id
         WHERE NOT stops_changelogs AND blocked_at IS NULL
         UNION
         SELECT id FROM customers
         WHERE workspace_id = {workspace} AND news_since IS NOT NULL AND blocked_at IS NULL
     ) AS audience")
}

statement! {
    /// Selects public feature requests by their tag numbers.
    Sitemap { workspace: Uuid => SqlUuid, after: i64 => BigInt, limit: i64 => BigInt } -> (LinkColumns, Timestamptz),
    "SELECT id, tag_number, title, updated_at FROM feature_requests
     WHERE workspace_id = {workspace} AND tag_number > {after} AND NOT private AND root_id IS NULL
     ORDER BY tag_number LIMIT {limit}"
}

#[async_trait]
impl FeatureRequestReader for PostgresReader {
    async fn feature_request(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestDetail>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let find = FindDetail { workspace: workspace.uuid(), request, number };
        let row: Option<DetailRow> = session.run_optional(find.get_result(&mut session.connection()?)).await?;
        row.map(FeatureRequestDetail::try_from).transpose()
    }

    async fn events(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        kind: Option<&'static str>,
        page: PageRequest,
    ) -> Result<Option<Listing<Event>>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let (at, before) = page.before();
        let events = EventsPage {
            workspace: workspace.uuid(),
            request,
            number,
            kind: kind.map(ToOwned::to_owned),
            at: at.into(),
            before,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<EventRow>)> = session.run(events.load(&mut session.connection()?)).await?;
        existing_listing(rows, page, Event::try_from)
    }

    async fn team_page(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<TeamPage, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let request = request.uuid();
        let limit = i64::from(TeamPage::MAX_NOTES);
        let (at, before) = PageRequest::first(u64::from(TeamPage::MAX_NOTES)).before();
        let notes =
            NotesPage { workspace, request: Some(request), number: None, at: at.into(), before, limit, offset: 0 };
        let notes: Vec<(i64, Option<NoteRow>)> = session.run(notes.load(&mut session.connection()?)).await?;
        let voters = SubscribersAndVoters { workspace, request, limit: i64::from(TeamPage::MAX_VOTERS) };
        let voters: Vec<(i64, Option<VoterRow>)> = session.run(voters.load(&mut session.connection()?)).await?;
        Ok(TeamPage {
            notes_count: notes.as_slice().first().map_or(0, |(total, _)| *total),
            notes: notes.into_iter().filter_map(|(_, row)| row).map(Note::try_from).collect::<Result<_, _>>()?,
            subscribers: voters.as_slice().first().map_or(0, |(total, _)| *total),
            voters: voters.into_iter().filter_map(|(_, row)| row).map(Voter::try_from).collect::<Result<_, _>>()?,
        })
    }

    async fn count_changelog_audience(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<i64, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let count = CountChangelogAudience { workspace, requests: ids(requests) };
        session.run(count.get_result(&mut session.connection()?)).await
    }

    async fn sitemap(&self, workspace: WorkspaceId, after: i64, limit: u32) -> Result<Vec<SitemapEntry>, StoreError> {
        let session = self.session(workspace).await?;
        let select = Sitemap { workspace: workspace.uuid(), after, limit: i64::from(limit) };
        let rows: Vec<SitemapRow> = session.run(select.load(&mut session.connection()?)).await?;
        rows.into_iter().map(SitemapEntry::try_from).collect()
    }

    async fn last_tag_number(&self, workspace: WorkspaceId) -> Result<i64, StoreError> {
        let session = self.session(workspace).await?;
        let last = tag_counters::table
            .filter(tag_counters::workspace_id.eq(workspace.uuid()))
            .select(tag_counters::last_tag_number);
        Ok(session.run_optional(last.first(&mut session.connection()?)).await?.unwrap_or(0))
    }
}
