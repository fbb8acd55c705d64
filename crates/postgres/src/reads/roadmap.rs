//! Lists and records that the API returns. Each is read by one statement, so that a page and its total are consistent.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::Attachment;
use roadmap_domain::model::audit::{
    Actor, ActorFilter, ActorKind, AuditEntry, AuditFilter, AuditListing, AuditPage, Channel, Origin, Subject,
};
use roadmap_domain::model::board::{ListedLane, RoadmapLane};
use roadmap_domain::model::changelog::{Changelog, ChangelogDetail};
use roadmap_domain::model::changes::{ChangedComment, ChangedRequest, ChangesFilter, ChangesListing, ChangesPage};
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::customer::{Customer, CustomerQuery};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::event::{Event, EventContent};
use roadmap_domain::model::feature_request::{FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, Sort};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{
    AttachmentId, AuditEntryId, ChangelogId, CustomerId, EventId, LaneId, NoteId, TrackId, WorkspaceId,
};
use roadmap_domain::model::member::Member;
use roadmap_domain::model::note::Note;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::setting::{Setting, WebsiteUrl};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::{Lane, Track};
use roadmap_domain::model::vote::Voter;
use roadmap_domain::ports::RoadmapReader;
use uuid::Uuid;

use crate::PostgresReader;
use crate::codec::TimestampColumn;
use crate::errors::inconsistent;
use crate::reads::comments::CommentsPage;
use crate::reads::listing::{BEYOND, existing_listing, listing};
use crate::rows::{
    AttachmentRow, ChangelogColumns, ChangelogRow, CommentRow, CustomerColumns, CustomerNameColumns, CustomerNameRow,
    CustomerRow, DetailRow, FindDetail, MemberRow, SummaryColumns, SummaryRow, TrackRow, attachment_columns, changelog,
    customer, customer_name, listed_comment, mapped_tracks, member, member_columns, votes_of,
};
use crate::schema::{attachments, audit_entries, members, settings, synonyms, tracks};
use crate::statement::{id_or_number, placed, resolved, statement, summary};

/// The SQL of the common table expression `board`: the lanes with their positions and their numbers of feature requests.
macro_rules! board {
    () => {
        "WITH board AS MATERIALIZED (
             SELECT lanes.id, lanes.name, row_number() OVER (ORDER BY lanes.position) AS number,
                    (SELECT coalesce(sum(public_count), 0)::bigint FROM tracks
                     JOIN track_tallies ON track_tallies.workspace_id = {workspace} AND track_id = tracks.id
                     WHERE tracks.workspace_id = {workspace} AND lane_id = lanes.id) AS shown
             FROM lanes WHERE workspace_id = {workspace}
         )"
    };
}

statement! {
    /// Selects the lanes with their positions and the number of feature requests that each shows.
    Lanes { workspace: Uuid => SqlUuid } -> LaneColumns,
    concat!(board!(), " SELECT id, name, number, shown FROM board ORDER BY number")
}

/// The SQL of the most voted feature requests of a track: each tier of less than 16 votes has a single count, so that it
/// is read in the order of the index. The larger tiers are sorted.
///
/// The track is compared as a part of a row, and ordered by, because only the index by track has that order. With an
/// equality, the planner also takes an index of the whole workspace, and reads all of it for a track with few feature
/// requests.
macro_rules! most_voted {
    ($track:literal, $filter:literal, $limit:literal) => {
        concat!(
            "(SELECT request_id, votes_count, tag_number FROM vote_tallies
              WHERE workspace_id = {workspace} AND (track_id, tier) >= (",
            $track,
            ", 16) AND track_id <= ",
            $track,
            " AND root_id IS NULL",
            $filter,
            " ORDER BY track_id DESC, tier DESC, votes_count DESC, tag_number DESC LIMIT ",
            $limit,
            ") UNION ALL
             (SELECT request_id, votes_count, tag_number FROM vote_tallies
              WHERE workspace_id = {workspace} AND (track_id, tier) >= (",
            $track,
            ", 0) AND (track_id, tier) < (",
            $track,
            ", 16) AND root_id IS NULL",
            $filter,
            " ORDER BY track_id DESC, tier DESC, tag_number DESC LIMIT ",
            $limit,
            ")"
        )
    };
}

pub(crate) use most_voted;

statement! {
    /// Selects the lanes, each with its most voted public feature requests. A lane without one is a single row.
    Roadmap { workspace: Uuid => SqlUuid, most: i64 => BigInt } -> (LaneColumns, Nullable<SummaryColumns>),
    concat!(board!(), ", ranked AS (
         SELECT tracks.lane_id, tracks.name AS track, top.request_id,
                row_number() OVER (PARTITION BY lane_id ORDER BY votes_count DESC, tag_number DESC) AS rank
         FROM tracks CROSS JOIN LATERAL (", most_voted!("tracks.id", " AND NOT private", "{most}"), ") AS top
         WHERE tracks.workspace_id = {workspace} AND lane_id IS NOT NULL
     ), best AS MATERIALIZED (
         SELECT lane_id, track, request_id, rank FROM ranked WHERE rank <= {most}
     )
     SELECT board.id, board.name, number, shown, feature_requests.id, feature_requests.tag_number, title, track,
            CASE WHEN best.lane_id IS NOT NULL THEN board.name END, votes_count, created_at
     FROM board
     LEFT JOIN best ON best.lane_id = board.id
     LEFT JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = best.request_id
     LEFT JOIN vote_tallies ON vote_tallies.workspace_id = {workspace} AND vote_tallies.request_id = best.request_id
     ORDER BY number, rank")
}

type LaneColumns = (SqlUuid, Text, BigInt, BigInt);
type LaneRow = (Uuid, String, i64, i64);

/// The SQL of a page of a track's feature requests, with the total. The parameter is the common table expression `page`,
/// with the ID and the place of each. Returns no row if the track does not exist.
macro_rules! track_page {
    ($page:expr) => {
        concat!(
            "WITH track AS MATERIALIZED (
                 SELECT tracks.name AS track, lanes.name AS lane, coalesce(all_count, 0) AS total FROM tracks
                 LEFT JOIN lanes ON lanes.workspace_id = {workspace} AND lanes.id = lane_id
                 LEFT JOIN track_tallies
                        ON track_tallies.workspace_id = {workspace} AND track_tallies.track_id = tracks.id
                 WHERE tracks.workspace_id = {workspace} AND tracks.id = {track}
             ), page AS MATERIALIZED (",
            $page,
            "), listed AS (
                 SELECT place, feature_requests.id, feature_requests.tag_number, title, votes_count, created_at
                 FROM page
                 JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = page.id
                 JOIN vote_tallies ON vote_tallies.workspace_id = {workspace} AND vote_tallies.request_id = page.id
             )
             SELECT total, id, tag_number, title, track, lane, votes_count, created_at
             FROM track LEFT JOIN listed ON true ORDER BY place"
        )
    };
}

statement! {
    /// Selects a page of a track's feature requests, most voted first.
    MostVotedPage {
        workspace: Uuid => SqlUuid,
        track: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
        end: i64 => BigInt,
    } -> (BigInt, Nullable<SummaryColumns>),
    track_page!(concat!(
        "SELECT request_id AS id, row_number() OVER (ORDER BY votes_count DESC, tag_number DESC) AS place
         FROM (", most_voted!("{track}", "", "{end}"), ") AS top
         ORDER BY place LIMIT {limit} OFFSET {offset}"
    ))
}

statement! {
    /// Selects a page of a track's feature requests with smaller numbers than one, newest first.
    NewestPage {
        workspace: Uuid => SqlUuid,
        track: Uuid => SqlUuid,
        before: i64 => BigInt,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<SummaryColumns>),
    track_page!(
        "SELECT id, row_number() OVER (ORDER BY tag_number DESC) AS place FROM (
             SELECT id, tag_number FROM feature_requests
             WHERE workspace_id = {workspace} AND track_id = {track} AND root_id IS NULL AND tag_number < {before}
             ORDER BY tag_number DESC LIMIT {limit} OFFSET {offset}
         ) AS newest"
    )
}

statement! {
    /// Selects a page of a track's feature requests, last updated first.
    LastUpdatedPage {
        workspace: Uuid => SqlUuid,
        track: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<SummaryColumns>),
    track_page!(
        "SELECT id, row_number() OVER (ORDER BY updated_at DESC, tag_number DESC) AS place FROM (
             SELECT id, updated_at, tag_number FROM feature_requests
             WHERE workspace_id = {workspace} AND track_id = {track} AND root_id IS NULL
             ORDER BY updated_at DESC, tag_number DESC LIMIT {limit} OFFSET {offset}
         ) AS updated"
    )
}

statement! {
    /// Selects the number of notes of a feature request and of everything that is merged into it, with a page of them.
    /// Returns no row if the feature request does not exist.
    NotesPage {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        at: TimestampColumn => Timestamptz,
        before: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<NoteColumns>),
    concat!("WITH request AS MATERIALIZED (
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND id = ", resolved!(), "
     ), merged AS MATERIALIZED (
         SELECT feature_requests.id FROM request
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND root_id = request.id
     ), total AS (
         SELECT (SELECT count(*) FROM notes WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request))
              + (SELECT count(*) FROM merged
                 JOIN notes ON notes.workspace_id = {workspace} AND notes.request_id = merged.id) AS total
     ), page AS MATERIALIZED (
         (SELECT id FROM notes
          WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request)
            AND NOT EXISTS (SELECT FROM merged) AND (created_at, id) < ({at}, {before})
          ORDER BY created_at DESC, id DESC LIMIT {limit} OFFSET {offset})
         UNION ALL
         (SELECT notes.id FROM (SELECT id FROM request UNION ALL SELECT id FROM merged) AS members
          JOIN notes ON notes.workspace_id = {workspace} AND notes.request_id = members.id
          WHERE EXISTS (SELECT FROM merged) AND (notes.created_at, notes.id) < ({at}, {before})
          ORDER BY notes.created_at DESC, notes.id DESC LIMIT {limit} OFFSET {offset})
     ), listed AS (
         SELECT notes.id, body, members.name AS author, members.email AS author_email, customers.id AS customer_id,
                customers.name, customers.email, notes.created_at
         FROM page
         JOIN notes ON notes.workspace_id = {workspace} AND notes.id = page.id
         LEFT JOIN members ON members.workspace_id = {workspace} AND members.id = notes.author_id
         LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.id = notes.customer_id
     )
     SELECT total, listed.* FROM request CROSS JOIN total LEFT JOIN listed ON true
     ORDER BY listed.created_at DESC, listed.id DESC")
}

/// The types of a note: ID, body, name and address of its author, the customer, and timestamp of the creation.
pub(crate) type NoteColumns = (SqlUuid, Text, Nullable<(Text, Text)>, Nullable<CustomerNameColumns>, Timestamptz);
pub(crate) type NoteRow = (Uuid, String, Option<(String, String)>, Option<CustomerNameRow>, TimestampColumn);

/// Converts a row of [`NoteColumns`].
pub(crate) fn note((id, body, author, customer, created_at): NoteRow) -> Result<Note, StoreError> {
    Ok(Note {
        id: NoteId::new(id),
        body: CleanHtml::from_stored(body),
        author: author.map(|(name, email)| (Name::from_stored(name), EmailAddress::from_stored(email))),
        customer: customer.map(customer_name),
        created_at: created_at.into_timestamp("notes", "created_at", id)?,
    })
}

/// The types of a voter, and of the timestamp of the vote.
pub(crate) type VoterColumns = (CustomerNameColumns, Timestamptz);
pub(crate) type VoterRow = (CustomerNameRow, TimestampColumn);

/// Converts a row of [`VoterColumns`].
pub(crate) fn voter(((id, name, email), voted_at): VoterRow) -> Result<Voter, StoreError> {
    Ok(Voter {
        id: CustomerId::new(id),
        voted_at: voted_at.into_timestamp("votes", "created_at", id)?,
        name: name.map(Name::from_stored),
        email: EmailAddress::from_stored(email),
    })
}

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
pub(crate) type EventRow = (Uuid, String, String, String, Option<Uuid>, String, TimestampColumn);

statement! {
    /// Selects the number of customers that match a pattern, with a page of them. Ids begin with the creation timestamp.
    /// So the page is read in the order of the primary key.
    CustomersPage {
        workspace: Uuid => SqlUuid,
        pattern: Option<String> => Nullable<Text>,
        address: Option<String> => Nullable<Text>,
        only_blocked: bool => Bool,
        after: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<CustomerColumns>),
    concat!("WITH total AS (
         SELECT count(*) AS total FROM customers
         WHERE workspace_id = {workspace}
           AND ({pattern} IS NULL OR name_folded LIKE {pattern} OR email_folded LIKE {address}
                OR lower(email) LIKE {pattern})
           AND (blocked_at IS NOT NULL OR NOT {only_blocked})
     ), page AS MATERIALIZED (
         SELECT id, name, email, created_at, blocked_at FROM customers
         WHERE workspace_id = {workspace} AND id > {after}
           AND ({pattern} IS NULL OR name_folded LIKE {pattern} OR email_folded LIKE {address}
                OR lower(email) LIKE {pattern})
           AND (blocked_at IS NOT NULL OR NOT {only_blocked})
         ORDER BY id LIMIT {limit} OFFSET {offset}
     ), listed AS (
         SELECT id, name, email, ", votes_of!("page.id"), " AS votes_count, created_at, blocked_at FROM page
     )
     SELECT total, listed.* FROM total LEFT JOIN listed ON true ORDER BY listed.id")
}

statement! {
    /// Selects a customer.
    SelectCustomer { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> CustomerColumns,
    concat!("SELECT id, name, email, ", votes_of!("customers.id"), ", created_at, blocked_at FROM customers
     WHERE workspace_id = {workspace} AND id = {customer}")
}

statement! {
    /// Selects the number of feature requests that a customer has voted for, with a page of them. Ids begin with the
    /// creation timestamp, and the index of a customer's votes is ordered by id. So the page is read from the index
    /// without reading the other votes, unless the workspace has merged feature requests.
    VotedRequestsPage {
        workspace: Uuid => SqlUuid,
        email_folded: String => Text,
        before: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<SummaryColumns>),
    concat!("WITH customer AS MATERIALIZED (
         SELECT id FROM customers WHERE workspace_id = {workspace} AND email_folded = {email_folded}
     ), merges AS MATERIALIZED (
         SELECT EXISTS (SELECT FROM feature_requests WHERE workspace_id = {workspace} AND root_id IS NOT NULL) AS exist
     ), voted AS MATERIALIZED (
         SELECT DISTINCT coalesce(vote_tallies.root_id, votes.request_id) AS request_id FROM votes
         JOIN vote_tallies ON vote_tallies.workspace_id = {workspace} AND vote_tallies.request_id = votes.request_id
         WHERE votes.workspace_id = {workspace} AND votes.customer_id = (SELECT id FROM customer)
           AND (SELECT exist FROM merges)
     ), total AS (
         SELECT CASE WHEN (SELECT exist FROM merges) THEN (SELECT count(*) FROM voted)
                ELSE (SELECT count(*) FROM votes
                      WHERE workspace_id = {workspace} AND customer_id = (SELECT id FROM customer)) END AS total
     ), page AS MATERIALIZED (
         (SELECT request_id FROM votes
          WHERE workspace_id = {workspace} AND customer_id = (SELECT id FROM customer)
            AND NOT (SELECT exist FROM merges) AND request_id < {before}
          ORDER BY request_id DESC LIMIT {limit} OFFSET {offset})
         UNION ALL
         (SELECT request_id FROM voted WHERE request_id < {before} ORDER BY request_id DESC LIMIT {limit} OFFSET {offset})
     ), listed AS (
         SELECT ", summary!(), " FROM page
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = page.request_id
         ", placed!(), "
     )
     SELECT total, listed.* FROM total LEFT JOIN listed ON true ORDER BY listed.id DESC")
}

statement! {
    /// Selects the number of voters of a feature request, with a page of them. Returns no row if the feature request
    /// does not exist. A voter of several merged feature requests is listed once. Without merges, the page is read from
    /// the index.
    VotersPage {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        at: TimestampColumn => Timestamptz,
        before: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<VoterColumns>),
    concat!("WITH request AS MATERIALIZED (
         SELECT feature_requests.id, votes_count FROM feature_requests
         JOIN vote_tallies ON vote_tallies.workspace_id = feature_requests.workspace_id
                          AND vote_tallies.request_id = feature_requests.id
         WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = ", resolved!(), "
     ), merged AS MATERIALIZED (
         SELECT feature_requests.id FROM request
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND root_id = request.id
     ), page AS MATERIALIZED (
         (SELECT customer_id, created_at FROM votes
          WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request)
            AND NOT EXISTS (SELECT FROM merged) AND (created_at, customer_id) < ({at}, {before})
          ORDER BY created_at DESC, customer_id DESC LIMIT {limit} OFFSET {offset})
         UNION ALL
         (SELECT customer_id, min(created_at) AS created_at
          FROM (SELECT id FROM request UNION ALL SELECT id FROM merged) AS members
          JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id
          WHERE EXISTS (SELECT FROM merged)
          GROUP BY customer_id HAVING (min(created_at), customer_id) < ({at}, {before})
          ORDER BY 2 DESC, customer_id DESC LIMIT {limit} OFFSET {offset})
     ), listed AS (
         SELECT customers.id, name, email, page.created_at
         FROM page JOIN customers ON customers.workspace_id = {workspace} AND customers.id = page.customer_id
     )
     SELECT votes_count, listed.* FROM request LEFT JOIN listed ON true
     ORDER BY listed.created_at DESC, listed.id DESC")
}

statement! {
    /// Selects the number of changelogs, with a page of them.
    ChangelogsPage {
        workspace: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
        before: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<ChangelogColumns>),
    "WITH total AS (
         SELECT count(*) AS total FROM changelogs WHERE workspace_id = {workspace}
     ), page AS (
         SELECT id, title, content, published_at, created_at, updated_at, cover_attachment_id
         FROM changelogs WHERE workspace_id = {workspace} AND (created_at, id) < ({at}, {before})
         ORDER BY created_at DESC, id DESC LIMIT {limit} OFFSET {offset}
     )
     SELECT total, page.id, title, content, published_at, page.created_at, updated_at, attachments.id, filename
     FROM total LEFT JOIN page ON true
     LEFT JOIN attachments ON attachments.workspace_id = {workspace} AND attachments.id = cover_attachment_id
     ORDER BY page.created_at DESC, page.id DESC"
}

statement! {
    /// Selects a changelog with the feature requests that it is about, in order. A merged one is the root of its tree,
    /// which is listed once. A changelog without any is a single row.
    SelectChangelog { workspace: Uuid => SqlUuid, changelog: Uuid => SqlUuid }
        -> (ChangelogColumns, Nullable<SummaryColumns>),
    concat!("WITH linked AS MATERIALIZED (
         SELECT coalesce(root_id, id) AS request_id, min(position) AS position
         FROM changelog_feature_requests AS links
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = links.request_id
         WHERE links.workspace_id = {workspace} AND links.changelog_id = {changelog}
         GROUP BY coalesce(root_id, id)
     ), listed AS (
         SELECT ", summary!(), ", linked.position FROM linked
         JOIN feature_requests
           ON feature_requests.workspace_id = {workspace} AND feature_requests.id = linked.request_id
         ", placed!(), "
     )
     SELECT changelogs.id, changelogs.title, content, published_at, changelogs.created_at, updated_at, attachments.id,
            filename, listed.id, tag_number, listed.title, track, lane, votes_count, listed.created_at
     FROM changelogs
     LEFT JOIN attachments ON attachments.workspace_id = {workspace} AND attachments.id = cover_attachment_id
     LEFT JOIN listed ON true
     WHERE changelogs.workspace_id = {workspace} AND changelogs.id = {changelog}
     ORDER BY listed.position")
}

type AuditRow =
    (Uuid, TimestampColumn, String, Option<Uuid>, String, String, Option<String>, String, String, Option<Uuid>, String);

/// Returns a kind of actor as it is stored.
fn actor_kind(kind: &str, table: &'static str, row: Uuid) -> Result<ActorKind, StoreError> {
    ActorKind::from_name(kind).ok_or_else(|| inconsistent(table, "actor_kind", row))
}

/// Converts a row of [`EventColumns`].
pub(crate) fn event((id, kind, details, actor, actor_id, name, created_at): EventRow) -> Result<Event, StoreError> {
    let table = "feature_request_events";
    Ok(Event {
        id: EventId::new(id),
        content: EventContent::parse(&kind, &details).ok_or_else(|| inconsistent(table, "details", id))?,
        actor: Actor { kind: actor_kind(&actor, table, id)?, id: actor_id, name },
        created_at: created_at.into_timestamp(table, "created_at", id)?,
    })
}

fn audit_entry(row: AuditRow) -> Result<AuditEntry, StoreError> {
    let (id, at, actor, actor_id, name, channel, request_id, action, subject_kind, subject_id, changes) = row;
    let broken = |column| inconsistent("audit_entries", column, id);
    Ok(AuditEntry {
        id: AuditEntryId::new(id),
        at: at.into_timestamp("audit_entries", "created_at", id)?,
        origin: Origin {
            actor: Actor { kind: actor_kind(&actor, "audit_entries", id)?, id: actor_id, name },
            channel: Channel::from_name(&channel).ok_or_else(|| broken("channel"))?,
            request_id,
        },
        action,
        subject: Subject { kind: subject_kind, id: subject_id },
        changes: AuditEntry::parse_changes(&changes).ok_or_else(|| broken("changes"))?,
    })
}

fn listed_lane((id, name, position, shown): LaneRow) -> ListedLane {
    ListedLane {
        lane: Lane { id: LaneId::new(id), name: Name::from_stored(name) },
        position: position.unsigned_abs(),
        feature_requests_count: shown,
    }
}

#[async_trait]
impl RoadmapReader for PostgresReader {
    async fn setting(&self, workspace: WorkspaceId) -> Result<Option<Setting>, StoreError> {
        let session = self.session(workspace).await?;
        let setting = settings::table
            .filter(settings::workspace_id.eq(workspace.uuid()))
            .select((settings::product_name, settings::website_url));
        let row: Option<(String, String)> = session.run_optional(setting.first(&mut session.connection()?)).await?;
        Ok(row.map(|(product_name, website_url)| Setting {
            product_name: Name::from_stored(product_name),
            website_url: WebsiteUrl::from_stored(website_url),
        }))
    }

    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Synonyms, StoreError> {
        let session = self.session(workspace).await?;
        let phrases = synonyms::table
            .filter(synonyms::workspace_id.eq(workspace.uuid()))
            .order((synonyms::group_number, synonyms::position))
            .select((synonyms::group_number, synonyms::phrase));
        let rows: Vec<(i32, String)> = session.run(phrases.load(&mut session.connection()?)).await?;
        Ok(Synonyms::from_stored(rows))
    }

    async fn tracks(&self, workspace: WorkspaceId) -> Result<Vec<Track>, StoreError> {
        let session = self.session(workspace).await?;
        let tracks = mapped_tracks().filter(tracks::workspace_id.eq(workspace.uuid())).order(tracks::position);
        let rows: Vec<TrackRow> = session.run(tracks.load(&mut session.connection()?)).await?;
        Ok(rows.into_iter().map(Track::from).collect())
    }

    async fn lanes(&self, workspace: WorkspaceId) -> Result<Vec<ListedLane>, StoreError> {
        let session = self.session(workspace).await?;
        let lanes = Lanes { workspace: workspace.uuid() };
        let rows: Vec<LaneRow> = session.run(lanes.load(&mut session.connection()?)).await?;
        Ok(rows.into_iter().map(listed_lane).collect())
    }

    async fn roadmap(&self, workspace: WorkspaceId, per_lane: u32) -> Result<Vec<RoadmapLane>, StoreError> {
        let session = self.session(workspace).await?;
        let roadmap = Roadmap { workspace: workspace.uuid(), most: i64::from(per_lane) };
        let rows: Vec<(LaneRow, Option<SummaryRow>)> = session.run(roadmap.load(&mut session.connection()?)).await?;
        let mut lanes: Vec<RoadmapLane> = Vec::new();
        for (lane, request) in rows {
            let lane = listed_lane(lane);
            let request = request.map(FeatureRequestSummary::try_from).transpose()?;
            match lanes.last_mut() {
                Some(last) if last.lane.lane.id == lane.lane.id => last.feature_requests.extend(request),
                _ => lanes.push(RoadmapLane { lane, feature_requests: request.into_iter().collect() }),
            }
        }
        Ok(lanes)
    }

    async fn track_requests(
        &self,
        workspace: WorkspaceId,
        track: TrackId,
        sort: Sort,
        page: PageRequest,
    ) -> Result<Option<Listing<FeatureRequestSummary>>, StoreError> {
        let session = self.session(workspace).await?;
        let (workspace, track) = (workspace.uuid(), track.uuid());
        let (limit, offset) = (page.limit(), page.offset().unwrap_or(BEYOND));
        let rows: Vec<(i64, Option<SummaryRow>)> = match sort {
            Sort::Votes => {
                let end = offset.saturating_add(limit);
                let page = MostVotedPage { workspace, track, limit, offset, end };
                session.run(page.load(&mut session.connection()?)).await?
            }
            Sort::Newest => {
                let page = NewestPage { workspace, track, before: page.before_number(), limit, offset };
                session.run(page.load(&mut session.connection()?)).await?
            }
            Sort::Updated => {
                let page = LastUpdatedPage { workspace, track, limit, offset };
                session.run(page.load(&mut session.connection()?)).await?
            }
        };
        existing_listing(rows, page, FeatureRequestSummary::try_from)
    }

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

    async fn comments(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<ListedComment>>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let (at, after) = page.after();
        let comments = CommentsPage {
            workspace: workspace.uuid(),
            request,
            number,
            at: at.into(),
            after,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<CommentRow>)> = session.run(comments.load(&mut session.connection()?)).await?;
        existing_listing(rows, page, listed_comment)
    }

    async fn notes(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Note>>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let (at, before) = page.before();
        let notes = NotesPage {
            workspace: workspace.uuid(),
            request,
            number,
            at: at.into(),
            before,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<NoteRow>)> = session.run(notes.load(&mut session.connection()?)).await?;
        existing_listing(rows, page, note)
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
        existing_listing(rows, page, event)
    }

    async fn customers(
        &self,
        workspace: WorkspaceId,
        query: Option<&CustomerQuery>,
        page: PageRequest,
    ) -> Result<Listing<Customer>, StoreError> {
        let session = self.session(workspace).await?;
        let customers = CustomersPage {
            workspace: workspace.uuid(),
            pattern: query.map(CustomerQuery::pattern),
            address: query.map(CustomerQuery::address_pattern),
            only_blocked: query.is_some_and(CustomerQuery::is_only_blocked),
            after: page.after().1,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<CustomerRow>)> = session.run(customers.load(&mut session.connection()?)).await?;
        listing(rows, page, customer)
    }

    async fn customer(&self, workspace: WorkspaceId, id: CustomerId) -> Result<Option<Customer>, StoreError> {
        let session = self.session(workspace).await?;
        let select = SelectCustomer { workspace: workspace.uuid(), customer: id.uuid() };
        let row: Option<CustomerRow> = session.run_optional(select.get_result(&mut session.connection()?)).await?;
        row.map(customer).transpose()
    }

    async fn changelog(&self, workspace: WorkspaceId, id: ChangelogId) -> Result<Option<ChangelogDetail>, StoreError> {
        let session = self.session(workspace).await?;
        let select = SelectChangelog { workspace: workspace.uuid(), changelog: id.uuid() };
        let rows: Vec<(ChangelogRow, Option<SummaryRow>)> =
            session.run(select.load(&mut session.connection()?)).await?;
        let mut detail: Option<ChangelogDetail> = None;
        for (row, request) in rows {
            let request = request.map(FeatureRequestSummary::try_from).transpose()?;
            match &mut detail {
                Some(detail) => detail.feature_requests.extend(request),
                None => {
                    let feature_requests = request.into_iter().collect();
                    detail = Some(ChangelogDetail { changelog: changelog(row)?, feature_requests });
                }
            }
        }
        Ok(detail)
    }

    /// The statement has only the conditions of the filter, so that the planner picks the index of one of them.
    async fn audit_entries(
        &self,
        workspace: WorkspaceId,
        filter: &AuditFilter,
        page: AuditPage,
    ) -> Result<AuditListing, StoreError> {
        let mut entries = audit_entries::table
            .filter(audit_entries::workspace_id.eq(workspace.uuid()))
            .order(audit_entries::id.desc())
            .limit(i64::from(page.size) + 1)
            .select((
                audit_entries::id,
                audit_entries::created_at,
                audit_entries::actor_kind,
                audit_entries::actor_id,
                audit_entries::actor_name,
                audit_entries::channel,
                audit_entries::request_id,
                audit_entries::action,
                audit_entries::subject_kind,
                audit_entries::subject_id,
                audit_entries::changes,
            ))
            .into_boxed();
        if let Some(before) = page.before {
            entries = entries.filter(audit_entries::id.lt(before.uuid()));
        }
        match filter.actor {
            Some(ActorFilter::Id(id)) => entries = entries.filter(audit_entries::actor_id.eq(id)),
            Some(ActorFilter::Kind(kind)) => entries = entries.filter(audit_entries::actor_kind.eq(kind.name())),
            None => {}
        }
        if let Some(action) = &filter.action {
            entries = entries.filter(audit_entries::action.eq(action));
        }
        if let Some(subject) = filter.subject {
            entries = entries.filter(audit_entries::subject_id.eq(subject));
        }
        if let Some(from) = filter.from {
            entries = entries.filter(audit_entries::created_at.ge(TimestampColumn::from(from)));
        }
        if let Some(to) = filter.to {
            entries = entries.filter(audit_entries::created_at.lt(TimestampColumn::from(to)));
        }
        let session = self.session(workspace).await?;
        let rows: Vec<AuditRow> = session.run(entries.load(&mut session.connection()?)).await?;
        let mut entries = rows.into_iter().map(audit_entry).collect::<Result<Vec<_>, StoreError>>()?;
        let size = usize::try_from(page.size).unwrap_or(usize::MAX);
        let has_more = entries.len() > size;
        entries.truncate(size);
        let next = entries.last().filter(|_| has_more).map(|entry| entry.id);
        Ok(AuditListing { entries, next })
    }

    async fn changed_requests(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedRequest>, StoreError> {
        self.list_changed_requests(workspace, *filter, page).await
    }

    async fn changed_comments(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedComment>, StoreError> {
        self.list_changed_comments(workspace, *filter, page).await
    }

    async fn voted_requests(
        &self,
        workspace: WorkspaceId,
        customer: &EmailAddress,
        page: PageRequest,
    ) -> Result<Listing<FeatureRequestSummary>, StoreError> {
        let session = self.session(workspace).await?;
        let votes = VotedRequestsPage {
            workspace: workspace.uuid(),
            email_folded: customer.folded().as_str().to_owned(),
            before: page.before().1,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<SummaryRow>)> = session.run(votes.load(&mut session.connection()?)).await?;
        listing(rows, page, FeatureRequestSummary::try_from)
    }

    async fn voters(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Voter>>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let (at, before) = page.before();
        let voters = VotersPage {
            workspace: workspace.uuid(),
            request,
            number,
            at: at.into(),
            before,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<VoterRow>)> = session.run(voters.load(&mut session.connection()?)).await?;
        existing_listing(rows, page, voter)
    }

    async fn changelogs(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<Changelog>, StoreError> {
        let session = self.session(workspace).await?;
        let (at, before) = page.before();
        let changelogs = ChangelogsPage {
            workspace: workspace.uuid(),
            at: at.into(),
            before,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<ChangelogRow>)> = session.run(changelogs.load(&mut session.connection()?)).await?;
        listing(rows, page, changelog)
    }

    async fn attachment(&self, workspace: WorkspaceId, id: AttachmentId) -> Result<Option<Attachment>, StoreError> {
        let session = self.session(workspace).await?;
        let attachment = attachments::table
            .filter(attachments::workspace_id.eq(workspace.uuid()))
            .filter(attachments::id.eq(id.uuid()))
            .select(attachment_columns());
        let row: Option<AttachmentRow> = session.run_optional(attachment.first(&mut session.connection()?)).await?;
        row.map(Attachment::try_from).transpose()
    }

    async fn members(&self, workspace: WorkspaceId) -> Result<Vec<Member>, StoreError> {
        let session = self.session(workspace).await?;
        let members = members::table
            .filter(members::workspace_id.eq(workspace.uuid()))
            .filter(members::removed_at.is_null())
            .order((members::created_at, members::id))
            .select(member_columns());
        let rows: Vec<MemberRow> = session.run(members.load(&mut session.connection()?)).await?;
        rows.into_iter().map(member).collect()
    }
}
