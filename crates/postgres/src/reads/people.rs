//! Everything about one person.

use async_trait::async_trait;
use diesel::sql_types::{Array, Bool, Nullable, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::model::person::{ErasedTexts, Mention, PersonRecords, PersonRef};
use roadmap_domain::policy::erasing::PersonWords;
use roadmap_domain::ports::PersonReader;
use roadmap_store::rows::{mentions, person_records};
use uuid::Uuid;

use crate::PostgresReader;
use crate::statement::statement;

/// The SQL of a timestamp in milliseconds.
macro_rules! millis {
    ($column:literal) => {
        concat!("round(extract(epoch FROM ", $column, ") * 1000)::bigint")
    };
}

/// The SQL of a feature request of a record, from the tables `request` and `person`.
macro_rules! request_json {
    () => {
        "json_build_object('id', request.id, 'tag_number', request.tag_number, 'title', request.title,
             'is_private', request.private, 'is_own', request.author_id IS NOT DISTINCT FROM person.id)"
    };
}

/// The SQL of a JSON array of the items of a query, in the order of the columns `at` and `id`.
macro_rules! list {
    ($($sql:expr),+ $(,)?) => {
        concat!("(SELECT coalesce(json_agg(item ORDER BY at, id), '[]') FROM (", $($sql),+, ") AS items)")
    };
}

/// The SQL of the texts of a table, from the table `person`.
macro_rules! texts {
    ($table:literal, $content:literal, $updated:literal, $state:literal) => {
        concat!(
            "SELECT text.created_at AS at, text.id AS id, json_build_object(
                 'id', text.id, 'feature_request', ",
            request_json!(),
            ", 'content', text.",
            $content,
            ", 'state', '",
            $state,
            "', 'created_at', ",
            millis!("text.created_at"),
            ", 'updated_at', round(extract(epoch FROM text.",
            $updated,
            ") * 1000)::bigint) AS item
             FROM ",
            $table,
            " AS text JOIN feature_requests AS request
                ON request.workspace_id = {workspace} AND request.id = text.request_id
             WHERE text.workspace_id = {workspace} AND text.customer_id = person.id"
        )
    };
}

statement! {
    /// Collects what is stored about a customer as JSON.
    SelectPerson {
        workspace: Uuid => SqlUuid,
        id: Option<Uuid> => Nullable<SqlUuid>,
        address: Option<String> => Nullable<Text>,
    } -> Text,
    concat!(
        "SELECT json_build_object(
             'customer', json_build_object(
                 'id', person.id, 'email', person.email, 'name', person.name,
                 'created_at', ", millis!("person.created_at"), ", 'language', person.language,
                 'last_language', person.last_language, 'mail_stopped_at', ", millis!("person.mail_stopped_at"), ",
                 'mail_stopped_because', person.mail_stopped_because, 'stops_changelogs', person.stops_changelogs,
                 'news_since', ", millis!("person.news_since"), ", 'blocked_at', ", millis!("person.blocked_at"), ",
                 'confirmed_at', (SELECT ", millis!("confirmed_at"), " FROM confirmed_addresses AS confirmed
                                  WHERE confirmed.workspace_id = {workspace}
                                    AND confirmed.email_folded = person.email_folded)
             ),
             'votes', ", list!("
                 SELECT votes.created_at AS at, request.id AS id, json_build_object(
                     'feature_request', ", request_json!(), ", 'subscribed', votes.subscribed,
                     'created_at', ", millis!("votes.created_at"), ") AS item
                 FROM votes JOIN feature_requests AS request
                     ON request.workspace_id = {workspace} AND request.id = votes.request_id
                 WHERE votes.workspace_id = {workspace} AND votes.customer_id = person.id"), ",
             'feature_requests', ", list!("
                 SELECT request.created_at AS at, request.id AS id, json_build_object(
                     'feature_request', json_build_object(
                         'id', request.id, 'tag_number', request.tag_number,
                         'title', coalesce(removed.title, request.title), 'is_private', request.private, 'is_own', true),
                     'description', coalesce(removed.description, request.description),
                     'tags', to_json(coalesce(removed.tags, ARRAY(
                         SELECT tag FROM feature_request_tags AS tags
                         WHERE tags.workspace_id = {workspace} AND tags.request_id = request.id ORDER BY position))),
                     'state', CASE WHEN removed.request_id IS NOT NULL THEN 'removed'
                                   WHEN request.awaiting_approval THEN 'waiting'
                                   WHEN request.private THEN 'private' ELSE 'public' END,
                     'created_at', ", millis!("request.created_at"), ", 'updated_at', ", millis!("request.updated_at"), "
                 ) AS item
                 FROM feature_requests AS request
                 LEFT JOIN removed_requests AS removed
                     ON removed.workspace_id = {workspace} AND removed.request_id = request.id
                 WHERE request.workspace_id = {workspace} AND request.author_id = person.id"), ",
             'comments', ", list!(
                 texts!("comments", "content", "updated_at", "public"), " UNION ALL ",
                 texts!("held_comments", "content", "created_at", "waiting"), " UNION ALL ",
                 texts!("removed_comments", "content", "updated_at", "removed")), ",
             'notes', ", list!(texts!("notes", "body", "created_at", "note")), ",
             'subscriptions', ", list!("
                 SELECT followers.created_at AS at, request.id AS id, json_build_object(
                     'feature_request', ", request_json!(), ", 'created_at', ", millis!("followers.created_at"), ") AS item
                 FROM followers JOIN feature_requests AS request
                     ON request.workspace_id = {workspace} AND request.id = followers.request_id
                 WHERE followers.workspace_id = {workspace} AND followers.customer_id = person.id"), ",
             'mails', ", list!("
                 SELECT created_at AS at, outbox.id AS id, json_build_object(
                     'kind', kind, 'created_at', ", millis!("created_at"), ", 'sent_at', ", millis!("sent_at"), ") AS item
                 FROM outbox WHERE outbox.workspace_id = {workspace} AND outbox.customer_id = person.id"), ",
             'sessions', ", list!("
                 SELECT sessions.created_at AS at, sessions.id AS id, json_build_object(
                     'browser', browser_name, 'created_at', ", millis!("sessions.created_at"), ",
                     'last_seen_at', ", millis!("last_seen_at"), ") AS item
                 FROM sessions WHERE sessions.workspace_id = {workspace}
                    AND sessions.email_folded = person.email_folded"), ",
             'imported', ", list!("
                 SELECT began_at AS at, imports.id AS id, json_build_object(
                     'kind', 'customer', 'id', person.id, 'source', imports.name, 'external_id', NULL,
                     'imported_at', ", millis!("began_at"), ") AS item
                 FROM imports WHERE imports.workspace_id = {workspace} AND imports.id = person.import_id
                 UNION ALL
                 SELECT written_at, local_id, json_build_object(
                     'kind', imported.kind, 'id', local_id, 'source', imported.name, 'external_id', external_id,
                     'imported_at', ", millis!("written_at"), ")
                 FROM imported WHERE imported.workspace_id = {workspace}
                    AND imported.kind IN ('feature_requests', 'comments') AND local_id IN (
                     SELECT own.id FROM feature_requests AS own
                     WHERE own.workspace_id = {workspace} AND own.author_id = person.id
                     UNION ALL
                     SELECT own.id FROM comments AS own
                     WHERE own.workspace_id = {workspace} AND own.customer_id = person.id
                 )"), "
         )::text
         FROM customers AS person
         WHERE person.workspace_id = {workspace} AND (person.id = {id} OR person.email_folded = {address})"
    )
}

/// The SQL of texts that have one of the words, from the table `person`.
macro_rules! texts_with_words {
    ($kind:literal, $table:literal, $text:literal, $owner:literal) => {
        concat!(
            "SELECT text.created_at AS at, text.id AS id, json_build_object('kind', '",
            $kind,
            "', 'id', text.id, 'request', ",
            request_json!(),
            ", 'text', ",
            $text,
            ") AS item
             FROM ",
            $table,
            " AS text
             JOIN feature_requests AS request ON request.workspace_id = {workspace} AND request.id = text.request_id
             CROSS JOIN person
             WHERE text.workspace_id = {workspace}
               AND EXISTS (SELECT FROM unnest({words}) AS word WHERE position(word IN lower(",
            $text,
            ")) > 0) AND (",
            $owner,
            ")"
        )
    };
}

statement! {
    /// Collects the texts that have one of the words, which are in lower case, and that stay when the customer is erased.
    SelectMentions {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        keeps: bool => Bool,
        words: Vec<String> => Array<Text>,
    } -> Text,
    concat!(
        "WITH person AS (SELECT {customer}::uuid AS id)
         SELECT ", list!("
             SELECT request.created_at AS at, request.id AS id, json_build_object(
                 'kind', 'feature_request', 'id', request.id, 'request', ", request_json!(), ",
                 'text', request.title || chr(10) || request.description_text) AS item
             FROM feature_requests AS request CROSS JOIN person
             WHERE request.workspace_id = {workspace}
               AND EXISTS (SELECT FROM unnest({words}) AS word
                           WHERE position(word IN lower(request.title || chr(10) || request.description_text)) > 0)
               AND ({keeps} OR request.author_id IS DISTINCT FROM person.id)
             UNION ALL ",
        texts_with_words!("comment", "comments", "text.content", "{keeps} OR text.customer_id IS DISTINCT FROM person.id"),
        " UNION ALL ",
        texts_with_words!("comment", "held_comments", "text.content", "text.customer_id <> person.id"),
        " UNION ALL ",
        texts_with_words!("comment", "removed_comments", "text.content", "text.customer_id <> person.id"),
        " UNION ALL ",
        texts_with_words!("note", "notes", "text.body", "text.customer_id IS DISTINCT FROM person.id"),
        " UNION ALL
             SELECT changelogs.created_at, changelogs.id, json_build_object(
                 'kind', 'changelog', 'id', changelogs.id, 'request', NULL, 'text', title || chr(10) || content)
             FROM changelogs WHERE changelogs.workspace_id = {workspace}
               AND EXISTS (SELECT FROM unnest({words}) AS word
                           WHERE position(word IN lower(title || chr(10) || content)) > 0)"), "::text"
    )
}

#[async_trait]
impl PersonReader for PostgresReader {
    async fn person(&self, workspace: WorkspaceId, person: &PersonRef) -> Result<Option<PersonRecords>, StoreError> {
        let session = self.session(workspace).await?;
        let (id, address) = match person {
            PersonRef::Id(id) => (Some(id.uuid()), None),
            PersonRef::Address(address) => (None, Some(address.as_str().to_owned())),
        };
        let select = SelectPerson { workspace: workspace.uuid(), id, address };
        let json: Option<String> = session.run_optional(select.get_result(&mut session.connection()?)).await?;
        json.map(|json| person_records(&json)).transpose()
    }

    async fn mentions(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        words: &PersonWords,
        texts: ErasedTexts,
    ) -> Result<Vec<Mention>, StoreError> {
        let session = self.session(workspace).await?;
        let select = SelectMentions {
            workspace: workspace.uuid(),
            customer: customer.uuid(),
            keeps: texts == ErasedTexts::Keep,
            words: words.to_list().iter().map(|word| word.to_lowercase()).collect(),
        };
        let json: String = session.run(select.get_result(&mut session.connection()?)).await?;
        mentions(&json, words)
    }
}
