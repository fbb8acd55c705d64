//! Everything of a workspace at one moment.

use std::pin::pin;
use std::time::Duration;

use async_trait::async_trait;
use diesel::OptionalExtension;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::methods::LoadQuery;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use futures_util::TryStreamExt;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::export::Exported;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::ports::{Snapshot, SnapshotReader};
use roadmap_store::rows::{
    ExportedAttachmentRow, ExportedChangelogRow, ExportedCommentRow, ExportedCustomerRow, ExportedEventRow,
    ExportedFollowerRow, ExportedLaneRow, ExportedLinkRow, ExportedMemberRow, ExportedNoteRow, ExportedOriginRow,
    ExportedPortalRow, ExportedRequestRow, ExportedSettingRow, ExportedTrackRow, ExportedVoteRow,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use uuid::Uuid;

use crate::PostgresStore;
use crate::connection::Connector;
use crate::errors::store_error;
use crate::statement::statement;

/// How many records are passed on at a time.
const PAGE: usize = 100;

/// The types of the settings of a portal.
type PortalSql = (
    Text,
    Array<Text>,
    Bool,
    Array<Text>,
    Array<Text>,
    Bool,
    Nullable<Text>,
    Nullable<SqlUuid>,
    Nullable<Text>,
    Text,
    Text,
    Text,
    Text,
);

/// The types of a name and an address.
type PersonSql = (Nullable<Text>, Nullable<Text>);

statement! {
    /// Selects all lanes.
    AllLanes { workspace: Uuid => SqlUuid } -> (SqlUuid, Text, Text, Text, BigInt),
    "SELECT id, name, kind, names, position FROM lanes WHERE workspace_id = {workspace} ORDER BY id"
}

statement! {
    /// Selects all tracks.
    AllTracks { workspace: Uuid => SqlUuid } -> (SqlUuid, Text, Nullable<SqlUuid>, BigInt),
    "SELECT id, name, lane_id, position FROM tracks WHERE workspace_id = {workspace} ORDER BY id"
}

statement! {
    /// Selects all members, removed ones included.
    AllMembers { workspace: Uuid => SqlUuid }
        -> (SqlUuid, Text, Text, Text, Text, Text, Bool, Timestamptz, Nullable<Timestamptz>),
    "SELECT id, email, name, role, team_mail, saved_views, shortcuts, created_at, removed_at FROM members
     WHERE workspace_id = {workspace} ORDER BY created_at, id"
}

statement! {
    /// Selects all customers.
    AllCustomers { workspace: Uuid => SqlUuid } -> (
        SqlUuid, Text, Nullable<Text>, Nullable<Text>, Nullable<Text>, Nullable<Timestamptz>, Nullable<Text>, Bool,
        Nullable<Timestamptz>, Nullable<Timestamptz>, Timestamptz
    ),
    "SELECT id, email, name, language, last_language, mail_stopped_at, mail_stopped_because, stops_changelogs,
            news_since, blocked_at, created_at
     FROM customers WHERE workspace_id = {workspace} ORDER BY created_at, id"
}

statement! {
    /// Selects all feature requests with their authors, and how many votes each has itself.
    AllRequests { workspace: Uuid => SqlUuid } -> (
        SqlUuid, BigInt, Text, Text, Array<Text>, SqlUuid, Nullable<SqlUuid>, Bool, Bool, Nullable<SqlUuid>, BigInt,
        Nullable<Timestamptz>, Timestamptz, Timestamptz, Timestamptz, BigInt, PersonSql
    ),
    "SELECT request.id, request.tag_number, title, description,
            ARRAY(SELECT tag FROM feature_request_tags AS tags
                  WHERE tags.workspace_id = request.workspace_id AND tags.request_id = request.id ORDER BY position),
            request.track_id, author_id, request.private, awaiting_approval, merged_into_id, nameless_votes, handled_at,
            status_since, request.created_at, updated_at,
            nameless_votes + (SELECT count(*) FROM votes
                              WHERE votes.workspace_id = request.workspace_id AND votes.request_id = request.id),
            customers.name, customers.email
     FROM feature_requests AS request
     JOIN vote_tallies AS tally ON tally.workspace_id = request.workspace_id AND tally.request_id = request.id
     LEFT JOIN customers ON customers.workspace_id = request.workspace_id AND customers.id = author_id
     WHERE request.workspace_id = {workspace} ORDER BY request.created_at, request.id"
}

statement! {
    /// Selects all votes with their voters.
    AllVotes { workspace: Uuid => SqlUuid } -> (SqlUuid, SqlUuid, Bool, Timestamptz, PersonSql),
    "SELECT request_id, customer_id, subscribed, votes.created_at, name, email FROM votes
     JOIN customers ON customers.workspace_id = votes.workspace_id AND customers.id = customer_id
     WHERE votes.workspace_id = {workspace} ORDER BY votes.created_at, request_id, customer_id"
}

statement! {
    /// Selects all subscriptions without a vote.
    AllFollowers { workspace: Uuid => SqlUuid } -> (SqlUuid, SqlUuid, Timestamptz),
    "SELECT request_id, customer_id, created_at FROM followers WHERE workspace_id = {workspace}
     ORDER BY created_at, request_id, customer_id"
}

statement! {
    /// Selects all comments with their authors, also those that wait for approval.
    AllComments { workspace: Uuid => SqlUuid } -> (
        SqlUuid, SqlUuid, Nullable<SqlUuid>, Nullable<SqlUuid>, Text, Bool, Timestamptz, Timestamptz, PersonSql
    ),
    "SELECT comment.id, request_id, author_id, customer_id, content, held, comment.created_at, updated_at,
            coalesce(customers.name, members.name), coalesce(customers.email, members.email)
     FROM (
         SELECT workspace_id, id, request_id, author_id, customer_id, content, false AS held, created_at, updated_at
         FROM comments WHERE workspace_id = {workspace}
         UNION ALL
         SELECT workspace_id, id, request_id, NULL::uuid, customer_id, content, true, created_at, created_at
         FROM held_comments WHERE workspace_id = {workspace}
     ) AS comment
     LEFT JOIN members ON members.workspace_id = comment.workspace_id AND members.id = author_id
     LEFT JOIN customers ON customers.workspace_id = comment.workspace_id AND customers.id = customer_id
     ORDER BY comment.created_at, comment.id"
}

statement! {
    /// Selects all notes with their authors.
    AllNotes { workspace: Uuid => SqlUuid }
        -> (SqlUuid, SqlUuid, Nullable<SqlUuid>, Nullable<SqlUuid>, Text, Timestamptz, PersonSql),
    "SELECT notes.id, request_id, customer_id, author_id, body, notes.created_at, name, email FROM notes
     LEFT JOIN members ON members.workspace_id = notes.workspace_id AND members.id = author_id
     WHERE notes.workspace_id = {workspace} ORDER BY notes.created_at, notes.id"
}

statement! {
    /// Selects all links.
    AllLinks { workspace: Uuid => SqlUuid }
        -> (SqlUuid, SqlUuid, Text, Nullable<Text>, Nullable<Text>, Timestamptz, Timestamptz),
    "SELECT id, request_id, url, title, state, created_at, updated_at FROM links
     WHERE workspace_id = {workspace} ORDER BY created_at, id"
}

statement! {
    /// Selects all events.
    AllEvents { workspace: Uuid => SqlUuid }
        -> (SqlUuid, SqlUuid, Text, Text, Text, Nullable<SqlUuid>, Text, Timestamptz),
    "SELECT id, request_id, kind, details, actor_kind, actor_id, actor_name, created_at FROM feature_request_events
     WHERE workspace_id = {workspace} ORDER BY created_at, id"
}

statement! {
    /// Selects all changelogs with the ids of their feature requests.
    AllChangelogs { workspace: Uuid => SqlUuid } -> (
        SqlUuid, Text, Text, Nullable<Text>, Nullable<SqlUuid>, Nullable<Timestamptz>, Bool, Bool, Array<Text>,
        Timestamptz, Timestamptz
    ),
    "SELECT id, title, content, category, cover_attachment_id, published_at, notified, notifies,
            ARRAY(SELECT request_id::text FROM changelog_feature_requests AS linked
                  WHERE linked.workspace_id = changelogs.workspace_id AND linked.changelog_id = changelogs.id
                  ORDER BY position),
            created_at, updated_at
     FROM changelogs WHERE workspace_id = {workspace} ORDER BY created_at, id"
}

statement! {
    /// Selects all files.
    AllAttachments { workspace: Uuid => SqlUuid } -> (
        SqlUuid, Text, Text, BigInt, Binary, Nullable<BigInt>, Nullable<BigInt>, Nullable<Text>, Timestamptz
    ),
    "SELECT id, filename, content_type, byte_size, checksum, width, height, picture_by, created_at FROM attachments
     WHERE workspace_id = {workspace} AND job_id IS NULL ORDER BY created_at, id"
}

statement! {
    /// Selects where records came from, without what only undoing a run needs.
    AllOrigins { workspace: Uuid => SqlUuid } -> (Text, Text, Text, SqlUuid, Text, Timestamptz),
    "SELECT name, kind, external_id, local_id, digest, written_at FROM imported
     WHERE workspace_id = {workspace} AND kind <> 'votes'
     ORDER BY written_at, local_id, kind COLLATE \"C\", name COLLATE \"C\", external_id COLLATE \"C\""
}

statement! {
    /// Selects the settings.
    AllSettings { workspace: Uuid => SqlUuid } -> (SqlUuid, Text, Text, Nullable<Text>, BigInt),
    "SELECT settings.workspace_id, product_name, website_url, sender_name, coalesce(last_tag_number, 0) FROM settings
     LEFT JOIN tag_counters ON tag_counters.workspace_id = settings.workspace_id
     WHERE settings.workspace_id = {workspace}"
}

statement! {
    /// Selects the settings of the portal.
    AllPortal { workspace: Uuid => SqlUuid } -> PortalSql,
    "SELECT access, mail_domains, is_indexed, embed_origins, languages, holds_posts, accent, logo_attachment_id, reply_to,
            time_zone, welcome_text, form_question, noun
     FROM portal_settings WHERE workspace_id = {workspace}"
}

statement! {
    /// Selects the phrases of all groups of synonyms.
    AllSynonyms { workspace: Uuid => SqlUuid } -> (Integer, Text),
    "SELECT group_number, phrase FROM synonyms WHERE workspace_id = {workspace} ORDER BY group_number, position"
}

/// The records as a task reads them.
struct PostgresSnapshot(Receiver<Result<Vec<Exported>, StoreError>>);

#[async_trait]
impl Snapshot for PostgresSnapshot {
    async fn next(&mut self) -> Result<Option<Vec<Exported>>, StoreError> {
        self.0.recv().await.transpose()
    }
}

/// Where the records of a snapshot go.
type Pages = Sender<Result<Vec<Exported>, StoreError>>;

/// Classifies the failure of a statement without time limits.
fn failed(error: diesel::result::Error) -> StoreError {
    store_error(error, Duration::ZERO, Duration::MAX)
}

async fn pass(pages: &Pages, page: Vec<Exported>) -> Result<(), StoreError> {
    let ended = |_| StoreError::Unavailable("nobody reads the snapshot any more".into());
    pages.send(Ok(page)).await.map_err(ended)
}

/// Passes on what a statement selects, as the server sends it.
async fn read<'a, R, S>(connection: &mut AsyncPgConnection, pages: &Pages, statement: S) -> Result<(), StoreError>
where
    R: Send + 'static,
    Exported: TryFrom<R, Error = StoreError>,
    S: RunQueryDsl<AsyncPgConnection> + LoadQuery<'a, AsyncPgConnection, R> + 'a,
{
    let mut rows = pin!(statement.load_stream::<R>(connection).await.map_err(failed)?);
    let mut page = Vec::with_capacity(PAGE);
    while let Some(row) = rows.try_next().await.map_err(failed)? {
        page.push(row.try_into()?);
        if page.len() == PAGE {
            pass(pages, std::mem::replace(&mut page, Vec::with_capacity(PAGE))).await?;
        }
    }
    if page.is_empty() { Ok(()) } else { pass(pages, page).await }
}

/// Passes on all records of a workspace in one snapshot.
async fn read_all(connector: &Connector, workspace: Uuid, pages: &Pages) -> Result<(), StoreError> {
    // Not one of a pool, which requests wait for. Whoever reads may be slow, so that no time is limited.
    let mut opened = connector.connect().await?;
    let begin = format!(
        "SET roadmap.workspace_id = '{workspace}';
         SET statement_timeout = 0;
         SET idle_in_transaction_session_timeout = 0;
         BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    );
    opened.batch_execute(&begin).await.map_err(failed)?;
    let connection = &mut opened;
    read::<ExportedLaneRow, _>(connection, pages, AllLanes { workspace }).await?;
    read::<ExportedTrackRow, _>(connection, pages, AllTracks { workspace }).await?;
    read::<ExportedMemberRow, _>(connection, pages, AllMembers { workspace }).await?;
    read::<ExportedCustomerRow, _>(connection, pages, AllCustomers { workspace }).await?;
    read::<ExportedRequestRow, _>(connection, pages, AllRequests { workspace }).await?;
    read::<ExportedVoteRow, _>(connection, pages, AllVotes { workspace }).await?;
    read::<ExportedFollowerRow, _>(connection, pages, AllFollowers { workspace }).await?;
    read::<ExportedCommentRow, _>(connection, pages, AllComments { workspace }).await?;
    read::<ExportedNoteRow, _>(connection, pages, AllNotes { workspace }).await?;
    read::<ExportedLinkRow, _>(connection, pages, AllLinks { workspace }).await?;
    read::<ExportedEventRow, _>(connection, pages, AllEvents { workspace }).await?;
    read::<ExportedChangelogRow, _>(connection, pages, AllChangelogs { workspace }).await?;
    read::<ExportedAttachmentRow, _>(connection, pages, AllAttachments { workspace }).await?;
    read::<ExportedOriginRow, _>(connection, pages, AllOrigins { workspace }).await?;
    let settings: ExportedSettingRow = AllSettings { workspace }.get_result(connection).await.map_err(failed)?;
    let portal: Option<ExportedPortalRow> =
        AllPortal { workspace }.get_result(connection).await.optional().map_err(failed)?;
    let synonyms = AllSynonyms { workspace }.load(connection).await.map_err(failed)?;
    pass(pages, vec![settings.into_exported(portal, synonyms)?]).await
}

#[async_trait]
impl SnapshotReader for PostgresStore {
    async fn snapshot(&self, workspace: WorkspaceId) -> Result<Box<dyn Snapshot>, StoreError> {
        let (pages, received) = channel(1);
        let (connector, workspace) = (self.connector.clone(), workspace.uuid());
        tokio::spawn(async move {
            if let Err(error) = read_all(&connector, workspace, &pages).await {
                // If nobody reads any more, nobody needs to know.
                let _ = pages.send(Err(error)).await;
            }
        });
        Ok(Box::new(PostgresSnapshot(received)))
    }
}
