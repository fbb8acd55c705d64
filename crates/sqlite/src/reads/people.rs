//! Everything about one person.

use async_trait::async_trait;
use diesel::prelude::{OptionalExtension, RunQueryDsl};
use diesel::sql_types::{Binary, Bool, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::model::person::{ErasedTexts, Mention, PersonRecords, PersonRef};
use roadmap_domain::policy::erasing::PersonWords;
use roadmap_domain::ports::PersonReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{mentions, person_records};

use crate::SqliteStore;
use crate::codec::{json_texts, uuid_text};
use crate::statement::statement;

/// SQL for a feature request of a record, from the tables `request` and `person`.
macro_rules! request_json {
    () => {
        concat!(
            "json_object('id', ",
            uuid_text!("request.id"),
            ", 'tag_number', request.tag_number, 'title', request.title, 'is_private', request.private,
              'is_own', request.author_id IS person.id)"
        )
    };
}

/// SQL for a JSON array of the items of a query.
macro_rules! list {
    ($($sql:expr),+ $(,)?) => {
        concat!("json((SELECT json_group_array(json(item)) FROM (", $($sql),+, ")))")
    };
}

/// SQL for the texts of a table, from the table `person`.
macro_rules! texts {
    ($table:literal, $content:literal, $updated:literal, $state:literal) => {
        concat!(
            "SELECT text.created_at AS at, text.id AS id, json_object(
                 'id', ",
            uuid_text!("text.id"),
            ", 'feature_request', ",
            request_json!(),
            ", 'content', text.",
            $content,
            ", 'state', '",
            $state,
            "', 'created_at', text.created_at, 'updated_at', text.",
            $updated,
            ") AS item
             FROM ",
            $table,
            " text CROSS JOIN feature_requests request
                ON request.workspace_id = text.workspace_id AND request.id = text.request_id
             WHERE text.workspace_id = person.workspace_id AND text.customer_id = person.id"
        )
    };
}

statement! {
    /// Collects what is stored about a customer as JSON.
    SelectPerson { workspace: Id => Binary, id: Option<Id> => Nullable<Binary>, address: Option<String> => Nullable<Text> }
        -> Text,
    concat!(
        "SELECT json_object(
             'customer', json_object(
                 'id', ", uuid_text!("person.id"), ", 'email', person.email, 'name', person.name,
                 'created_at', person.created_at, 'language', person.language, 'last_language', person.last_language,
                 'mail_stopped_at', person.mail_stopped_at, 'mail_stopped_because', person.mail_stopped_because,
                 'stops_changelogs', person.stops_changelogs, 'news_since', person.news_since,
                 'blocked_at', person.blocked_at,
                 'confirmed_at', (SELECT confirmed_at FROM confirmed_addresses confirmed
                                  WHERE confirmed.workspace_id = person.workspace_id
                                    AND confirmed.email_folded = person.email_folded)
             ),
             'votes', ", list!("
                 SELECT json_object('feature_request', ", request_json!(), ", 'subscribed', votes.subscribed,
                                    'created_at', votes.created_at) AS item
                 FROM votes INDEXED BY votes_by_customer CROSS JOIN feature_requests request
                     ON request.workspace_id = votes.workspace_id AND request.id = votes.request_id
                 WHERE votes.workspace_id = person.workspace_id AND votes.customer_id = person.id
                 ORDER BY votes.created_at, request.row_number"), ",
             'feature_requests', ", list!("
                 SELECT json_object(
                     'feature_request', json_object(
                         'id', ", uuid_text!("request.id"), ", 'tag_number', request.tag_number,
                         'title', coalesce(removed.title, request.title), 'is_private', request.private, 'is_own', 1),
                     'description', coalesce(removed.description, request.description),
                     'tags', json(coalesce(removed.tags, (SELECT json_group_array(tag) FROM (
                         SELECT tag FROM feature_request_tags tags WHERE tags.workspace_id = request.workspace_id
                            AND tags.request_id = request.id ORDER BY position
                     )))),
                     'state', CASE WHEN removed.request_id IS NOT NULL THEN 'removed'
                                   WHEN request.awaiting_approval THEN 'waiting'
                                   WHEN request.private THEN 'private' ELSE 'public' END,
                     'created_at', request.created_at, 'updated_at', request.updated_at
                 ) AS item
                 FROM feature_requests request
                 LEFT JOIN removed_requests removed
                     ON removed.workspace_id = request.workspace_id AND removed.request_id = request.id
                 WHERE request.workspace_id = person.workspace_id AND request.author_id = person.id
                 ORDER BY request.row_number"), ",
             'comments', ", list!("SELECT item FROM (",
                 texts!("comments", "content", "updated_at", "public"), " UNION ALL ",
                 texts!("held_comments", "content", "created_at", "waiting"), " UNION ALL ",
                 texts!("removed_comments", "content", "updated_at", "removed"), ") ORDER BY at, id"), ",
             'notes', ", list!("SELECT item FROM (", texts!("notes", "body", "created_at", "note"), ") ORDER BY at, id"), ",
             'subscriptions', ", list!("
                 SELECT json_object('feature_request', ", request_json!(), ", 'created_at', followers.created_at) AS item
                 FROM followers INDEXED BY followers_by_customer CROSS JOIN feature_requests request
                     ON request.workspace_id = followers.workspace_id AND request.id = followers.request_id
                 WHERE followers.workspace_id = person.workspace_id AND followers.customer_id = person.id
                 ORDER BY followers.created_at, request.row_number"), ",
             'mails', ", list!("
                 SELECT json_object('kind', kind, 'created_at', created_at, 'sent_at', sent_at) AS item
                 FROM outbox WHERE outbox.workspace_id = person.workspace_id AND outbox.customer_id = person.id
                 ORDER BY created_at, outbox.id"), ",
             'sessions', ", list!("
                 SELECT json_object('browser', browser_name, 'created_at', sessions.created_at,
                                    'last_seen_at', last_seen_at) AS item
                 FROM sessions WHERE sessions.workspace_id = person.workspace_id
                    AND sessions.email_folded = person.email_folded
                 ORDER BY sessions.created_at, sessions.id"), ",
             'imported', ", list!("
                 SELECT json_object('kind', 'customer', 'id', ", uuid_text!("person.id"), ", 'source', imports.name,
                                    'external_id', NULL, 'imported_at', imports.began_at) AS item
                 FROM imports WHERE imports.workspace_id = person.workspace_id AND imports.id = person.import_id
                 UNION ALL
                 SELECT json_object('kind', imported.kind, 'id', ", uuid_text!("imported.local_id"), ",
                                    'source', imported.name, 'external_id', imported.external_id,
                                    'imported_at', imported.written_at)
                 FROM imported WHERE imported.workspace_id = person.workspace_id
                    AND imported.kind IN ('feature_requests', 'comments') AND imported.local_id IN (
                     SELECT id FROM feature_requests own
                     WHERE own.workspace_id = person.workspace_id AND own.author_id = person.id
                     UNION ALL
                     SELECT id FROM comments own
                     WHERE own.workspace_id = person.workspace_id AND own.customer_id = person.id
                 )"), "
         ) FROM customers person WHERE person.workspace_id = ? AND (person.id = ? OR person.email_folded = ?)"
    )
}

/// SQL for texts that have one of the words, from the tables `scope` and `person`.
macro_rules! texts_with_words {
    ($kind:literal, $table:literal, $text:literal, $owner:literal) => {
        concat!(
            "SELECT json_object('kind', '",
            $kind,
            "', 'id', ",
            uuid_text!("text.id"),
            ", 'request', ",
            request_json!(),
            ", 'text', ",
            $text,
            ") AS item
             FROM scope CROSS JOIN ",
            $table,
            " text ON text.workspace_id = scope.workspace
             CROSS JOIN feature_requests request
                ON request.workspace_id = text.workspace_id AND request.id = text.request_id
             CROSS JOIN person
             WHERE EXISTS (SELECT 1 FROM needles WHERE instr(lower(",
            $text,
            "), needle) > 0) AND (",
            $owner,
            ")"
        )
    };
}

statement! {
    /// Collects the texts that have one of the words of a JSON array and that stay when the customer is erased. Words are in
    /// lower case, as far as they are ASCII.
    SelectMentions { workspace: Id => Binary, customer: Id => Binary, keeps: bool => Bool, words: String => Text } -> Text,
    concat!(
        "WITH scope (workspace, customer, keeps) AS (SELECT ?, ?, ?),
         needles (needle) AS MATERIALIZED (SELECT value FROM json_each(?)),
         person (id) AS (SELECT customer FROM scope)
         SELECT json_group_array(json(item)) FROM (
             SELECT json_object('kind', 'feature_request', 'id', ", uuid_text!("request.id"), ",
                                'request', ", request_json!(), ",
                                'text', request.title || char(10) || request.description_text) AS item
             FROM scope CROSS JOIN feature_requests request ON request.workspace_id = scope.workspace
             CROSS JOIN person
             WHERE EXISTS (SELECT 1 FROM needles
                           WHERE instr(lower(request.title || char(10) || request.description_text), needle) > 0)
               AND (keeps OR request.author_id IS NOT customer)
             UNION ALL ",
        texts_with_words!("comment", "comments", "text.content", "keeps OR text.customer_id IS NOT customer"),
        " UNION ALL ",
        texts_with_words!("comment", "held_comments", "text.content", "text.customer_id <> customer"),
        " UNION ALL ",
        texts_with_words!("comment", "removed_comments", "text.content", "text.customer_id <> customer"),
        " UNION ALL ",
        texts_with_words!("note", "notes", "text.body", "text.customer_id IS NOT customer"),
        " UNION ALL
             SELECT json_object('kind', 'changelog', 'id', ", uuid_text!("changelogs.id"), ", 'request', NULL,
                                'text', title || char(10) || content)
             FROM scope CROSS JOIN changelogs ON changelogs.workspace_id = scope.workspace
             WHERE EXISTS (SELECT 1 FROM needles WHERE instr(lower(title || char(10) || content), needle) > 0)
         )"
    )
}

#[async_trait]
impl PersonReader for SqliteStore {
    async fn person(&self, workspace: WorkspaceId, person: &PersonRef) -> Result<Option<PersonRecords>, StoreError> {
        let (id, address) = match person {
            PersonRef::Id(id) => (Some(Id(id.uuid())), None),
            PersonRef::Address(address) => (None, Some(address.as_str().to_owned())),
        };
        let select = SelectPerson { workspace: Id(workspace.uuid()), id, address };
        let json: Option<String> =
            self.readers.run(move |connection| Ok(select.get_result(connection).optional()?)).await?;
        json.map(|json| person_records(&json)).transpose()
    }

    async fn mentions(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        words: &PersonWords,
        texts: ErasedTexts,
    ) -> Result<Vec<Mention>, StoreError> {
        let needles: Vec<String> = words.to_list().iter().map(|word| word.to_ascii_lowercase()).collect();
        let select = SelectMentions {
            workspace: Id(workspace.uuid()),
            customer: Id(customer.uuid()),
            keeps: texts == ErasedTexts::Keep,
            words: json_texts(needles.iter().map(String::as_str)),
        };
        let json: String = self.readers.run(move |connection| Ok(select.get_result(connection)?)).await?;
        mentions(&json, words)
    }
}
