//! Everything of a workspace at one moment.

use async_trait::async_trait;
use diesel::connection::{DefaultLoadingMode, SimpleConnection};
use diesel::query_dsl::methods::LoadQuery;
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
use diesel::{OptionalExtension, RunQueryDsl, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::export::Exported;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::ports::{Snapshot, SnapshotReader};
use roadmap_store::columns::Id;
use roadmap_store::rows::{
    ExportedAttachmentRow, ExportedChangelogRow, ExportedCommentRow, ExportedCustomerRow, ExportedEventRow,
    ExportedFollowerRow, ExportedLaneRow, ExportedLinkRow, ExportedMemberRow, ExportedNoteRow, ExportedOriginRow,
    ExportedPortalRow, ExportedRequestRow, ExportedSettingRow, ExportedTrackRow, ExportedVoteRow,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::SqliteStore;
use crate::connection::Connector;
use crate::errors::SqlError;
use crate::portal_settings::StoredSettings;
use crate::statement::statement;

/// How many records are passed on at a time.
const PAGE: usize = 100;

/// The types of a name and an address.
type PersonSql = (Nullable<Text>, Nullable<Text>);

statement! {
    /// Selects all lanes.
    AllLanes { workspace: Id => Binary } -> (Binary, Text, Text, Text, BigInt),
    "SELECT id, name, kind, names, position FROM lanes WHERE workspace_id = ? ORDER BY id"
}

statement! {
    /// Selects all tracks.
    AllTracks { workspace: Id => Binary } -> (Binary, Text, Nullable<Binary>, BigInt),
    "SELECT id, name, lane_id, position FROM tracks WHERE workspace_id = ? ORDER BY id"
}

statement! {
    /// Selects all members, removed ones included.
    AllMembers { workspace: Id => Binary }
        -> (Binary, Text, Text, Text, Text, Text, Bool, BigInt, Nullable<BigInt>),
    "SELECT id, email, name, role, team_mail, saved_views, shortcuts, created_at, removed_at FROM members
     WHERE workspace_id = ? ORDER BY created_at, id"
}

statement! {
    /// Selects all customers.
    AllCustomers { workspace: Id => Binary } -> (
        Binary, Text, Nullable<Text>, Nullable<Text>, Nullable<Text>, Nullable<BigInt>, Nullable<Text>, Bool,
        Nullable<BigInt>, Nullable<BigInt>, BigInt
    ),
    "SELECT id, email, name, language, last_language, mail_stopped_at, mail_stopped_because, stops_changelogs,
            news_since, blocked_at, created_at
     FROM customers WHERE workspace_id = ? ORDER BY created_at, id"
}

statement! {
    /// Selects all feature requests with their authors, and how many votes each has itself.
    AllRequests { workspace: Id => Binary } -> (
        Binary, BigInt, Text, Text, Nullable<Text>, Binary, Nullable<Binary>, Bool, Bool, Nullable<Binary>, BigInt,
        Nullable<BigInt>, BigInt, BigInt, BigInt, BigInt, PersonSql
    ),
    "SELECT request.id, request.tag_number, title, description,
            (SELECT group_concat(tag, char(10) ORDER BY position) FROM feature_request_tags AS tags
             WHERE tags.workspace_id = request.workspace_id AND tags.request_id = request.id),
            request.track_id, author_id, request.private, awaiting_approval, merged_into_id, nameless_votes, handled_at,
            status_since, request.created_at, updated_at,
            nameless_votes + (SELECT count(*) FROM votes
                              WHERE votes.workspace_id = request.workspace_id AND votes.request_id = request.id),
            customers.name, customers.email
     FROM feature_requests AS request
     JOIN vote_tallies AS tally ON tally.workspace_id = request.workspace_id AND tally.request_id = request.id
     LEFT JOIN customers ON customers.workspace_id = request.workspace_id AND customers.id = author_id
     WHERE request.workspace_id = ? ORDER BY request.created_at, request.id"
}

statement! {
    /// Selects all votes with their voters.
    AllVotes { workspace: Id => Binary } -> (Binary, Binary, Bool, BigInt, PersonSql),
    "SELECT request_id, customer_id, subscribed, votes.created_at, name, email FROM votes
     JOIN customers ON customers.workspace_id = votes.workspace_id AND customers.id = customer_id
     WHERE votes.workspace_id = ? ORDER BY votes.created_at, request_id, customer_id"
}

statement! {
    /// Selects all subscriptions without a vote.
    AllFollowers { workspace: Id => Binary } -> (Binary, Binary, BigInt),
    "SELECT request_id, customer_id, created_at FROM followers WHERE workspace_id = ?
     ORDER BY created_at, request_id, customer_id"
}

statement! {
    /// Selects all comments with their authors, also those that wait for approval.
    AllComments { workspace: Id => Binary, held_of: Id => Binary } -> (
        Binary, Binary, Nullable<Binary>, Nullable<Binary>, Text, Bool, BigInt, BigInt, PersonSql
    ),
    "SELECT comment.id, request_id, author_id, customer_id, content, held, comment.created_at, updated_at,
            coalesce(customers.name, members.name), coalesce(customers.email, members.email)
     FROM (
         SELECT workspace_id, id, request_id, author_id, customer_id, content, false AS held, created_at, updated_at
         FROM comments WHERE workspace_id = ?
         UNION ALL
         SELECT workspace_id, id, request_id, NULL, customer_id, content, true, created_at, created_at
         FROM held_comments WHERE workspace_id = ?
     ) AS comment
     LEFT JOIN members ON members.workspace_id = comment.workspace_id AND members.id = author_id
     LEFT JOIN customers ON customers.workspace_id = comment.workspace_id AND customers.id = customer_id
     ORDER BY comment.created_at, comment.id"
}

statement! {
    /// Selects all notes with their authors.
    AllNotes { workspace: Id => Binary }
        -> (Binary, Binary, Nullable<Binary>, Nullable<Binary>, Text, BigInt, PersonSql),
    "SELECT notes.id, request_id, customer_id, author_id, body, notes.created_at, name, email FROM notes
     LEFT JOIN members ON members.workspace_id = notes.workspace_id AND members.id = author_id
     WHERE notes.workspace_id = ? ORDER BY notes.created_at, notes.id"
}

statement! {
    /// Selects all links.
    AllLinks { workspace: Id => Binary }
        -> (Binary, Binary, Text, Nullable<Text>, Nullable<Text>, BigInt, BigInt),
    "SELECT id, request_id, url, title, state, created_at, updated_at FROM links
     WHERE workspace_id = ? ORDER BY created_at, id"
}

statement! {
    /// Selects all events.
    AllEvents { workspace: Id => Binary }
        -> (Binary, Binary, Text, Text, Text, Nullable<Binary>, Text, BigInt),
    "SELECT id, request_id, kind, details, actor_kind, actor_id, actor_name, created_at FROM feature_request_events
     WHERE workspace_id = ? ORDER BY created_at, id"
}

statement! {
    /// Selects all changelogs with the ids of their feature requests.
    AllChangelogs { workspace: Id => Binary } -> (
        Binary, Text, Text, Nullable<Text>, Nullable<Binary>, Nullable<BigInt>, Bool, Bool, Nullable<Text>, BigInt,
        BigInt
    ),
    "SELECT id, title, content, category, cover_attachment_id, published_at, notified, notifies,
            (SELECT group_concat(hex(request_id), char(10) ORDER BY position) FROM changelog_feature_requests AS linked
             WHERE linked.workspace_id = changelogs.workspace_id AND linked.changelog_id = changelogs.id),
            created_at, updated_at
     FROM changelogs WHERE workspace_id = ? ORDER BY created_at, id"
}

statement! {
    /// Selects all files.
    AllAttachments { workspace: Id => Binary } -> (
        Binary, Text, Text, BigInt, Binary, Nullable<BigInt>, Nullable<BigInt>, Nullable<Text>, BigInt
    ),
    "SELECT id, filename, content_type, byte_size, checksum, width, height, picture_by, created_at FROM attachments
     WHERE workspace_id = ? AND job_id IS NULL ORDER BY created_at, id"
}

statement! {
    /// Selects where records came from, without what only undoing a run needs.
    AllOrigins { workspace: Id => Binary } -> (Text, Text, Text, Binary, Text, BigInt),
    "SELECT name, kind, external_id, local_id, digest, written_at FROM imported
     WHERE workspace_id = ? AND kind <> 'votes' ORDER BY written_at, local_id, kind, name, external_id"
}

statement! {
    /// Selects the settings.
    AllSettings { workspace: Id => Binary } -> (Binary, Text, Text, Nullable<Text>, BigInt),
    "SELECT settings.workspace_id, product_name, website_url, sender_name, coalesce(last_tag_number, 0) FROM settings
     LEFT JOIN tag_counters ON tag_counters.workspace_id = settings.workspace_id WHERE settings.workspace_id = ?"
}

statement! {
    /// Selects the phrases of all groups of synonyms.
    AllSynonyms { workspace: Id => Binary } -> (Integer, Text),
    "SELECT group_number, phrase FROM synonyms WHERE workspace_id = ? ORDER BY group_number, position"
}

/// The records as another thread reads them.
struct SqliteSnapshot(Receiver<Result<Vec<Exported>, StoreError>>);

#[async_trait]
impl Snapshot for SqliteSnapshot {
    async fn next(&mut self) -> Result<Option<Vec<Exported>>, StoreError> {
        self.0.recv().await.transpose()
    }
}

/// Where the records of a snapshot go.
type Pages = Sender<Result<Vec<Exported>, StoreError>>;

fn pass(pages: &Pages, page: Vec<Exported>) -> Result<(), SqlError> {
    let ended = |_| StoreError::Unavailable("nobody reads the snapshot any more".into());
    Ok(pages.blocking_send(Ok(page)).map_err(ended)?)
}

/// Passes on what a statement selects.
fn read<'a, R, S>(connection: &'a mut SqliteConnection, pages: &Pages, statement: S) -> Result<(), SqlError>
where
    R: 'a,
    Exported: TryFrom<R, Error = StoreError>,
    S: RunQueryDsl<SqliteConnection> + LoadQuery<'a, SqliteConnection, R> + 'a,
{
    let mut page = Vec::with_capacity(PAGE);
    for row in statement.load_iter::<R, DefaultLoadingMode>(connection)? {
        page.push(row?.try_into()?);
        if page.len() == PAGE {
            pass(pages, std::mem::replace(&mut page, Vec::with_capacity(PAGE)))?;
        }
    }
    if page.is_empty() { Ok(()) } else { pass(pages, page) }
}

/// Passes on all records of a workspace in one snapshot.
fn read_all(connector: &Connector, workspace: Id, pages: &Pages) -> Result<(), SqlError> {
    // Not one of the pool, which requests wait for. What is sorted may be larger than the memory.
    let mut opened = connector.open_reader()?;
    opened.batch_execute("PRAGMA temp_store = FILE; BEGIN")?;
    let connection = &mut opened;
    read::<ExportedLaneRow, _>(connection, pages, AllLanes { workspace })?;
    read::<ExportedTrackRow, _>(connection, pages, AllTracks { workspace })?;
    read::<ExportedMemberRow, _>(connection, pages, AllMembers { workspace })?;
    read::<ExportedCustomerRow, _>(connection, pages, AllCustomers { workspace })?;
    read::<ExportedRequestRow, _>(connection, pages, AllRequests { workspace })?;
    read::<ExportedVoteRow, _>(connection, pages, AllVotes { workspace })?;
    read::<ExportedFollowerRow, _>(connection, pages, AllFollowers { workspace })?;
    read::<ExportedCommentRow, _>(connection, pages, AllComments { workspace, held_of: workspace })?;
    read::<ExportedNoteRow, _>(connection, pages, AllNotes { workspace })?;
    read::<ExportedLinkRow, _>(connection, pages, AllLinks { workspace })?;
    read::<ExportedEventRow, _>(connection, pages, AllEvents { workspace })?;
    read::<ExportedChangelogRow, _>(connection, pages, AllChangelogs { workspace })?;
    read::<ExportedAttachmentRow, _>(connection, pages, AllAttachments { workspace })?;
    read::<ExportedOriginRow, _>(connection, pages, AllOrigins { workspace })?;
    let settings: ExportedSettingRow = AllSettings { workspace }.get_result(connection)?;
    let portal: Option<ExportedPortalRow> = StoredSettings { workspace }.get_result(connection).optional()?;
    let synonyms = AllSynonyms { workspace }.load(connection)?;
    pass(pages, vec![settings.into_exported(portal, synonyms)?])
}

#[async_trait]
impl SnapshotReader for SqliteStore {
    async fn snapshot(&self, workspace: WorkspaceId) -> Result<Box<dyn Snapshot>, StoreError> {
        let (pages, received) = channel(1);
        let (connector, workspace) = (self.readers.connector(), Id(workspace.uuid()));
        tokio::task::spawn_blocking(move || {
            if let Err(error) = read_all(&connector, workspace, &pages) {
                // If nobody reads any more, nobody needs to know.
                let _ = pages.blocking_send(Err(error.into()));
            }
        });
        Ok(Box::new(SqliteSnapshot(received)))
    }
}
