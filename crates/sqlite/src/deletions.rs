//! Deletes feature requests with everything that belongs to them, and unsent messages about deleted records.

use diesel::sql_types::{Binary, Text};
use diesel::{RunQueryDsl, SqliteConnection};
use roadmap_domain::model::mail::Topic;
use roadmap_domain::model::message::MessageId;
use roadmap_store::columns::Id;

use crate::codec::{json_ids, uuid_text};
use crate::errors::SqlError;
use crate::search_documents::delete_document;
use crate::statement::statement;
use crate::writes::merges::{descendants, recount, root_of};

statement! {
    /// Deletes the unsent messages of a topic: those with an identity in a range, and the audience. Messages whose
    /// digest was sent are sent.
    DeleteMessages { workspace: Id => Binary, audience: String => Text, first: String => Text, end: String => Text }
    "DELETE FROM outbox WHERE workspace_id = ? AND (id = ? OR (id >= ? AND id < ?)) AND sent_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM outbox digest WHERE digest.workspace_id = outbox.workspace_id
                       AND digest.id = outbox.digest_id AND digest.sent_at IS NOT NULL)"
}

/// SQL that deletes the unsent messages about the common table expression `topics`. Those held for a digest that was sent
/// were sent with it.
macro_rules! delete_messages_about {
    () => {
        "DELETE FROM outbox WHERE rowid IN (
             SELECT message.rowid FROM topics CROSS JOIN outbox message
                 ON message.workspace_id = topics.workspace
                AND message.id >= topics.topic || '.' AND message.id < topics.topic || '/'
             UNION ALL
             SELECT message.rowid FROM topics CROSS JOIN outbox message
                 ON message.workspace_id = topics.workspace AND message.id = 'audience.' || topics.topic
         ) AND sent_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM outbox digest WHERE digest.workspace_id = outbox.workspace_id
                           AND digest.id = outbox.digest_id AND digest.sent_at IS NOT NULL)"
    };
}

statement! {
    /// Deletes the unsent messages about the comments and events of the feature requests of a JSON array.
    DeleteMessagesOfRequests { workspace: Id => Binary, requests: String => Text }
    concat!(
        "WITH scope (workspace) AS (SELECT ?),
         requests (workspace, id) AS (SELECT workspace, unhex(value) FROM scope CROSS JOIN json_each(?)),
         topics (workspace, topic) AS (
             SELECT workspace, ", uuid_text!("comments.id"), " FROM requests
             CROSS JOIN comments ON comments.workspace_id = requests.workspace AND comments.request_id = requests.id
             UNION ALL
             SELECT workspace, 'status.' || ", uuid_text!("event.id"), " FROM requests
             CROSS JOIN feature_request_events event
                     ON event.workspace_id = requests.workspace AND event.request_id = requests.id
         ) ", delete_messages_about!()
    )
}

statement! {
    /// Deletes the unsent messages about the comments of a JSON array.
    DeleteMessagesOfComments { workspace: Id => Binary, comments: String => Text }
    concat!(
        "WITH scope (workspace) AS (SELECT ?),
         listed (workspace, id) AS (SELECT workspace, unhex(value) FROM scope CROSS JOIN json_each(?)),
         topics (workspace, topic) AS (SELECT workspace, ", uuid_text!("listed.id"), " FROM listed) ",
        delete_messages_about!()
    )
}

/// Declares the deletion of the rows of a table that belong to the feature requests of a JSON array.
macro_rules! delete_statement {
    ($name:ident, $table:literal, $column:literal) => {
        statement! {
            #[doc = concat!("Deletes the rows of `", $table, "` that belong to the feature requests of a JSON array.")]
            $name { workspace: Id => Binary, requests: String => Text }
            concat!(
                "DELETE FROM ", $table, " WHERE workspace_id = ? AND ", $column,
                " IN (SELECT unhex(value) FROM json_each(?))"
            )
        }
    };
}

delete_statement!(DeleteTags, "feature_request_tags", "request_id");
delete_statement!(DeleteTallies, "vote_tallies", "request_id");
delete_statement!(DeleteVotes, "votes", "request_id");
delete_statement!(DeleteCompanyTallies, "company_tallies", "request_id");
delete_statement!(DeleteFollowers, "followers", "request_id");
delete_statement!(DeleteNotes, "notes", "request_id");
delete_statement!(DeleteLinks, "links", "request_id");
delete_statement!(DeleteComments, "comments", "request_id");
delete_statement!(DeleteHeldComments, "held_comments", "request_id");
delete_statement!(DeleteEvents, "feature_request_events", "request_id");
delete_statement!(DeleteChangelogLinks, "changelog_feature_requests", "request_id");
delete_statement!(DeleteRequests, "feature_requests", "id");

/// Deletes the unsent messages of a topic.
pub(crate) fn delete_messages(connection: &mut SqliteConnection, workspace: Id, topic: Topic) -> Result<(), SqlError> {
    let audience = MessageId::audience(topic).as_str().to_owned();
    // `/` follows `.` in byte order.
    let (first, end) = (format!("{topic}."), format!("{topic}/"));
    DeleteMessages { workspace, audience, first, end }.execute(connection)?;
    Ok(())
}

/// Deletes a feature request and everything that is merged into it, with all rows that belong to them. What it was
/// merged into is counted again.
pub(crate) fn delete_tree(connection: &mut SqliteConnection, workspace: Id, request: Id) -> Result<(), SqlError> {
    let root = root_of(connection, workspace, request)?;
    let mut deleted = descendants(connection, workspace, request)?;
    deleted.push(request);
    let requests = json_ids(&deleted);
    DeleteMessagesOfRequests { workspace, requests: requests.clone() }.execute(connection)?;
    for request in &deleted {
        delete_document(connection, workspace, *request)?;
    }
    DeleteTags { workspace, requests: requests.clone() }.execute(connection)?;
    DeleteVotes { workspace, requests: requests.clone() }.execute(connection)?;
    DeleteCompanyTallies { workspace, requests: requests.clone() }.execute(connection)?;
    DeleteFollowers { workspace, requests: requests.clone() }.execute(connection)?;
    DeleteNotes { workspace, requests: requests.clone() }.execute(connection)?;
    DeleteLinks { workspace, requests: requests.clone() }.execute(connection)?;
    DeleteComments { workspace, requests: requests.clone() }.execute(connection)?;
    DeleteHeldComments { workspace, requests: requests.clone() }.execute(connection)?;
    DeleteEvents { workspace, requests: requests.clone() }.execute(connection)?;
    DeleteChangelogLinks { workspace, requests: requests.clone() }.execute(connection)?;
    DeleteTallies { workspace, requests: requests.clone() }.execute(connection)?;
    DeleteRequests { workspace, requests }.execute(connection)?;
    match root {
        Some(root) => recount(connection, workspace, root),
        None => Ok(()),
    }
}
