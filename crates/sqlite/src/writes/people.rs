//! Erasing people, and what is kept of that.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::mail::NO_MAILBOX;
use roadmap_domain::model::person::{
    AskedRequest, ErasedRecords, ErasedTexts, ErasedVotes, Erasure, ErasureRecord, PersonRef, UnfinishedErasure,
    erased_address,
};
use roadmap_domain::policy::erasing::PersonWords;
use roadmap_domain::ports::PersonWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::{CustomerNameRow, ErasureRow, asked_requests, person_words};

use crate::codec::{json_ids, json_texts, uuid_text};
use crate::deletions::DeleteMessagesOfComments;
use crate::errors::SqlError;
use crate::schema::{
    comments, confirmed_addresses, customers, erasures, feature_request_events, held_comments, imports, members,
    missed_searches, notes, operations, outbox, sessions, sign_ins, votes,
};
use crate::statement::statement;
use crate::unit::SqliteUnit;
use crate::writes::customers::{DeleteFollowers, DeleteVotes, merge};
use crate::writes::merges::recount;

/// What the name of somebody becomes who was a member.
const TEAM: &str = "Team";

statement! {
    /// Selects the feature requests that a customer asked for as a JSON array, oldest first.
    AskedRequests { workspace: Id => Binary, customer: Id => Binary } -> Text,
    concat!(
        "SELECT json_group_array(json(item)) FROM (
             SELECT json_object(
                 'id', ", uuid_text!("request.id"), ", 'tag_number', request.tag_number,
                 'tags', json((SELECT json_group_array(tag) FROM (
                     SELECT tag FROM feature_request_tags tags
                     WHERE tags.workspace_id = request.workspace_id AND tags.request_id = request.id ORDER BY position
                 ))),
                 'is_private', request.private,
                 'root', CASE WHEN request.root_id IS NOT NULL THEN ", uuid_text!("request.root_id"), " END,
                 'is_waiting', request.awaiting_approval,
                 'has_others', request.root_id IS NOT NULL
                     OR EXISTS (SELECT 1 FROM feature_requests merged WHERE merged.workspace_id = request.workspace_id
                                   AND merged.merged_into_id = request.id)
                     OR tally.nameless_votes > 0
                     OR EXISTS (SELECT 1 FROM votes WHERE votes.workspace_id = request.workspace_id
                                   AND votes.request_id = request.id AND votes.customer_id <> request.author_id)
                     OR EXISTS (SELECT 1 FROM comments WHERE comments.workspace_id = request.workspace_id
                                   AND comments.request_id = request.id
                                   AND comments.customer_id IS NOT request.author_id)
                     OR EXISTS (SELECT 1 FROM held_comments held WHERE held.workspace_id = request.workspace_id
                                   AND held.request_id = request.id AND held.customer_id <> request.author_id)
             ) AS item
             FROM feature_requests request
             CROSS JOIN vote_tallies tally ON tally.row_number = request.row_number
             WHERE request.workspace_id = ? AND request.author_id = ? ORDER BY request.row_number
         )"
    )
}

statement! {
    /// Counts the votes, the comments, also those that wait or were removed, and the notes of a customer.
    CountRecords { workspace: Id => Binary, customer: Id => Binary } -> (BigInt, BigInt, BigInt),
    "WITH person (workspace, id) AS (SELECT ?, ?)
     SELECT (SELECT count(*) FROM votes WHERE workspace_id = workspace AND customer_id = person.id),
            (SELECT count(*) FROM comments WHERE workspace_id = workspace AND customer_id = person.id)
          + (SELECT count(*) FROM held_comments WHERE workspace_id = workspace AND customer_id = person.id)
          + (SELECT count(*) FROM removed_comments WHERE workspace_id = workspace AND customer_id = person.id),
            (SELECT count(*) FROM notes WHERE workspace_id = workspace AND customer_id = person.id)
     FROM person"
}

statement! {
    /// Inserts the customer that is left of another one.
    InsertErased {
        id: Id => Binary, email: String => Text, email_folded: String => Text, workspace: Id => Binary,
        customer: Id => Binary,
    }
    "INSERT INTO customers (workspace_id, id, email, email_folded, created_at, import_id)
     SELECT workspace_id, ?, ?, ?, created_at, import_id FROM customers WHERE workspace_id = ? AND id = ?"
}

statement! {
    /// Takes everything away from a customer that the merge has brought, and stops all mail.
    ClearErased { at: i64 => BigInt, because: String => Text, workspace: Id => Binary, customer: Id => Binary }
    "UPDATE customers SET name = NULL, name_folded = NULL, language = NULL, last_language = NULL, mail_stopped_at = ?,
         mail_stopped_because = ?, blocked_at = NULL, stops_changelogs = 0, news_since = NULL
     WHERE workspace_id = ? AND id = ?"
}

statement! {
    /// Selects the roots of the trees for which a customer has voted.
    VotedRoots { workspace: Id => Binary, customer: Id => Binary } -> Binary,
    "SELECT DISTINCT coalesce(tally.root_id, tally.request_id) FROM votes INDEXED BY votes_by_customer
     CROSS JOIN vote_tallies tally ON tally.workspace_id = votes.workspace_id AND tally.request_id = votes.request_id
     WHERE votes.workspace_id = ? AND votes.customer_id = ?"
}

statement! {
    /// Deletes the removed comments of a customer.
    DeleteRemovedComments { workspace: Id => Binary, customer: Id => Binary }
    "DELETE FROM removed_comments WHERE workspace_id = ? AND customer_id = ?"
}

statement! {
    /// Deletes the removed texts of the feature requests of a customer.
    DeleteRemovedRequests { workspace: Id => Binary, customer: Id => Binary }
    "DELETE FROM removed_requests WHERE workspace_id = ? AND customer_id = ?"
}

statement! {
    /// Gives neutral names to the pictures in texts of a customer.
    RenamePictures { workspace: Id => Binary, customer: Id => Binary }
    "WITH person (workspace, id) AS (SELECT ?, ?)
     UPDATE attachments SET filename = 'picture.' || substr(content_type, instr(content_type, '/') + 1)
     FROM person
     WHERE workspace_id = person.workspace AND picture_by = 'customer' AND attachments.id IN (
         SELECT attachment_id FROM text_pictures used WHERE used.workspace_id = person.workspace AND record_id IN (
             SELECT id FROM comments WHERE workspace_id = person.workspace AND customer_id = person.id
             UNION ALL
             SELECT id FROM held_comments WHERE workspace_id = person.workspace AND customer_id = person.id
             UNION ALL
             SELECT id FROM removed_comments WHERE workspace_id = person.workspace AND customer_id = person.id
             UNION ALL
             SELECT id FROM feature_requests WHERE workspace_id = person.workspace AND author_id = person.id
         )
     )"
}

statement! {
    /// Deletes the words of a JSON array from the vocabulary of the search, unless a document has them.
    ForgetWords { workspace: Id => Binary, words: String => Text } -> Text,
    "WITH scope (workspace) AS (SELECT ?)
     DELETE FROM search_words
     WHERE workspace_id = (SELECT workspace FROM scope) AND word IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (
         SELECT 1 FROM search_documents document WHERE document.workspace_id = (SELECT workspace FROM scope)
            AND instr(' ' || document.title || ' ' || document.tags || ' ' || document.description || ' ',
                      ' ' || word || ' ') > 0
     ) RETURNING word"
}

statement! {
    /// Deletes the trigrams of the words of a JSON array.
    ForgetTrigrams { workspace: Id => Binary, words: String => Text }
    "DELETE FROM search_trigrams WHERE workspace_id = ? AND word IN (SELECT value FROM json_each(?))"
}

statement! {
    /// Selects the saved responses that have one of the words of a JSON array.
    ResponsesWith { workspace: Id => Binary, words: String => Text } -> (Text, Binary),
    "SELECT operation_key, body FROM operations WHERE workspace_id = ? AND EXISTS (
         SELECT 1 FROM json_each(?) WHERE instr(body, CAST(value AS BLOB)) > 0
     )"
}

statement! {
    /// Selects the runs of imports whose progress, report or upload has one of the words of a JSON array.
    ImportsWith { workspace: Id => Binary, words: String => Text } -> (Binary, Text, Nullable<Text>, Nullable<Text>),
    "SELECT id, progress, report, upload FROM imports WHERE workspace_id = ? AND EXISTS (
         SELECT 1 FROM json_each(?) WHERE instr(progress || coalesce(report, '') || coalesce(upload, ''), value) > 0
     )"
}

/// Selects the erasures of a workspace, oldest first, with their words.
macro_rules! select_erasures {
    ($workspace:expr) => {
        erasures::table.filter(erasures::workspace_id.eq($workspace)).order((erasures::erased_at, erasures::id)).select(
            ((erasures::id, erasures::digest, erasures::votes, erasures::texts, erasures::erased_at), erasures::words),
        )
    };
}

/// Gives everything of a customer to the one that is left, without what is the person's alone.
fn replace(connection: &mut SqliteConnection, workspace: Id, erasure: &Erasure) -> Result<(), SqlError> {
    let (source, target) = (Id(erasure.person.id.uuid()), Id(erasure.id.uuid()));
    let left = erased_address(erasure.id);
    let (email, email_folded) = (left.as_str().to_owned(), left.folded().as_str().to_owned());
    InsertErased { id: target, email, email_folded, workspace, customer: source }.execute(connection)?;
    merge(connection, workspace, source, target)?;
    let because = NO_MAILBOX.to_owned();
    ClearErased { at: erasure.at.millis(), because, workspace, customer: target }.execute(connection)?;
    match erasure.votes {
        ErasedVotes::Keep => {
            diesel::update(votes::table)
                .filter(votes::workspace_id.eq(workspace))
                .filter(votes::customer_id.eq(target))
                .set(votes::subscribed.eq(false))
                .execute(connection)?;
        }
        ErasedVotes::Drop => {
            let roots: Vec<Id> = VotedRoots { workspace, customer: target }.load(connection)?;
            DeleteVotes { workspace, customer: target }.execute(connection)?;
            for root in roots {
                recount(connection, workspace, root)?;
            }
        }
    }
    DeleteFollowers { workspace, customer: target }.execute(connection)?;
    RenamePictures { workspace, customer: target }.execute(connection)?;
    DeleteRemovedComments { workspace, customer: target }.execute(connection)?;
    DeleteRemovedRequests { workspace, customer: target }.execute(connection)?;
    macro_rules! delete_of {
        ($($table:ident),+) => {$(
            diesel::delete($table::table)
                .filter($table::workspace_id.eq(workspace))
                .filter($table::customer_id.eq(target))
                .execute(connection)?;
        )+};
    }
    delete_of!(held_comments, notes, outbox);
    if erasure.texts == ErasedTexts::Remove {
        let own: Vec<Id> = comments::table
            .filter(comments::workspace_id.eq(workspace))
            .filter(comments::customer_id.eq(target))
            .select(comments::id)
            .load(connection)?;
        DeleteMessagesOfComments { workspace, comments: json_ids(&own) }.execute(connection)?;
        delete_of!(comments);
    }
    Ok(())
}

/// Deletes what is stored under an address.
fn delete_by_address(connection: &mut SqliteConnection, workspace: Id, address: &EmailAddress) -> Result<(), SqlError> {
    macro_rules! delete_of {
        ($($table:ident),+) => {$(
            diesel::delete($table::table)
                .filter($table::workspace_id.eq(workspace))
                .filter($table::email_folded.eq(address.folded().as_str()))
                .execute(connection)?;
        )+};
    }
    delete_of!(sessions, sign_ins, confirmed_addresses);
    let addressed: Vec<(String, Option<String>)> = outbox::table
        .filter(outbox::workspace_id.eq(workspace))
        .filter(outbox::address.is_not_null())
        .select((outbox::id, outbox::address))
        .load(connection)?;
    for (id, to) in addressed {
        if to.is_some_and(|to| EmailAddress::from_stored(to) == *address) {
            diesel::delete(outbox::table.find((workspace, id))).execute(connection)?;
        }
    }
    Ok(())
}

/// Takes name and address away from a removed member.
fn clear_member(connection: &mut SqliteConnection, workspace: Id, erasure: &Erasure) -> Result<(), SqlError> {
    let left = erased_address(erasure.id);
    let member: Option<Id> = diesel::update(members::table)
        .filter(members::workspace_id.eq(workspace))
        .filter(members::email_folded.eq(erasure.person.email.folded().as_str()))
        .filter(members::removed_at.is_not_null())
        .set((
            members::email.eq(left.as_str()),
            members::email_folded.eq(left.folded().as_str()),
            members::name.eq(TEAM),
            members::saved_views.eq("[]"),
        ))
        .returning(members::id)
        .get_result(connection)
        .optional()?;
    if let Some(member) = member {
        diesel::update(feature_request_events::table)
            .filter(feature_request_events::workspace_id.eq(workspace))
            .filter(feature_request_events::actor_kind.eq("member"))
            .filter(feature_request_events::actor_id.eq(member))
            .set(feature_request_events::actor_name.eq(TEAM))
            .execute(connection)?;
    }
    Ok(())
}

/// Deletes the counted searches that have words.
fn delete_searches(connection: &mut SqliteConnection, workspace: Id, words: &PersonWords) -> Result<(), SqlError> {
    let searched: Vec<String> = missed_searches::table
        .filter(missed_searches::workspace_id.eq(workspace))
        .select(missed_searches::words)
        .distinct()
        .load(connection)?;
    for text in searched.into_iter().filter(|text| words.are_in(text)) {
        diesel::delete(missed_searches::table)
            .filter(missed_searches::workspace_id.eq(workspace))
            .filter(missed_searches::words.eq(text))
            .execute(connection)?;
    }
    Ok(())
}

/// Replaces words in saved responses and in what is kept of imports.
fn replace_words(
    connection: &mut SqliteConnection,
    workspace: Id,
    words: &PersonWords,
    left: &EmailAddress,
) -> Result<(), SqlError> {
    let needles = words.in_json();
    let needles = json_texts(needles.iter().map(String::as_str));
    let responses: Vec<(String, Vec<u8>)> = ResponsesWith { workspace, words: needles.clone() }.load(connection)?;
    for (key, body) in responses {
        diesel::update(operations::table)
            .filter(operations::workspace_id.eq(workspace))
            .filter(operations::operation_key.eq(key))
            .set(operations::body.eq(words.replaced_in_json(&body, left)))
            .execute(connection)?;
    }
    let runs: Vec<(Id, String, Option<String>, Option<String>)> =
        ImportsWith { workspace, words: needles }.load(connection)?;
    let replaced = |text: &str| String::from_utf8_lossy(&words.replaced_in_json(text.as_bytes(), left)).into_owned();
    for (id, progress, report, upload) in runs {
        diesel::update(imports::table.find((workspace, id)))
            .set((
                imports::progress.eq(replaced(&progress)),
                imports::report.eq(report.as_deref().map(replaced)),
                imports::upload.eq(upload.as_deref().map(replaced)),
            ))
            .execute(connection)?;
    }
    Ok(())
}

fn erase(connection: &mut SqliteConnection, workspace: Id, erasure: &Erasure) -> Result<ErasedRecords, SqlError> {
    let customer = Id(erasure.person.id.uuid());
    let (votes, comments, notes): (i64, i64, i64) = CountRecords { workspace, customer }.get_result(connection)?;
    replace(connection, workspace, erasure)?;
    delete_by_address(connection, workspace, &erasure.person.email)?;
    clear_member(connection, workspace, erasure)?;
    let words = PersonWords::new(&erasure.person);
    delete_searches(connection, workspace, &words)?;
    replace_words(connection, workspace, &words, &erased_address(erasure.id))?;
    let vocabulary = words.vocabulary();
    let vocabulary = json_texts(vocabulary.iter().map(String::as_str));
    let forgotten: Vec<String> = ForgetWords { workspace, words: vocabulary }.load(connection)?;
    let forgotten = json_texts(forgotten.iter().map(String::as_str));
    ForgetTrigrams { workspace, words: forgotten }.execute(connection)?;
    Ok(ErasedRecords {
        votes: votes.unsigned_abs(),
        feature_requests: 0,
        comments: comments.unsigned_abs(),
        notes: notes.unsigned_abs(),
    })
}

#[async_trait]
impl PersonWrites for SqliteUnit {
    async fn find_person(&mut self, person: &PersonRef) -> Result<Option<CustomerName>, StoreError> {
        let person = person.clone();
        let row: Option<CustomerNameRow> = self
            .run(move |connection, workspace| {
                let names = customers::table.filter(customers::workspace_id.eq(workspace)).select((
                    customers::id,
                    customers::name,
                    customers::email,
                ));
                Ok(match person {
                    PersonRef::Id(id) => names.filter(customers::id.eq(Id(id.uuid()))).first(connection),
                    PersonRef::Address(address) => {
                        names.filter(customers::email_folded.eq(address.as_str())).first(connection)
                    }
                }
                .optional()?)
            })
            .await?;
        Ok(row.map(CustomerName::from))
    }

    async fn asked_requests(&mut self, customer: CustomerId) -> Result<Vec<AskedRequest>, StoreError> {
        let customer = Id(customer.uuid());
        let select = move |connection: &mut SqliteConnection, workspace| {
            Ok(AskedRequests { workspace, customer }.get_result(connection)?)
        };
        let json: String = self.run(select).await?;
        asked_requests(&json)
    }

    async fn erase_person(&mut self, erasure: &Erasure) -> Result<ErasedRecords, StoreError> {
        let erasure = erasure.clone();
        self.run(move |connection, workspace| erase(connection, workspace, &erasure)).await
    }

    async fn save_erasure<'a>(
        &mut self,
        record: &ErasureRecord,
        words: Option<&'a PersonWords>,
    ) -> Result<(), StoreError> {
        let record = record.clone();
        let words = words.map(|words| json_texts(words.to_list().iter().map(String::as_str)));
        self.run(move |connection, workspace| {
            diesel::replace_into(erasures::table)
                .values((
                    erasures::workspace_id.eq(workspace),
                    erasures::id.eq(Id(record.id.uuid())),
                    erasures::digest.eq(&record.digest),
                    erasures::votes.eq(record.votes.name()),
                    erasures::texts.eq(record.texts.name()),
                    erasures::erased_at.eq(record.at.millis()),
                    erasures::is_finished.eq(words.is_none()),
                    erasures::words.eq(words),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn erasures(&mut self) -> Result<Vec<ErasureRecord>, StoreError> {
        let rows: Vec<(ErasureRow, Option<String>)> =
            self.run(move |connection, workspace| Ok(select_erasures!(workspace).load(connection)?)).await?;
        rows.into_iter().map(|(row, _)| row.try_into()).collect()
    }

    async fn unfinished_erasures(&mut self) -> Result<Vec<UnfinishedErasure>, StoreError> {
        let rows: Vec<(ErasureRow, Option<String>)> = self
            .run(move |connection, workspace| {
                Ok(select_erasures!(workspace).filter(erasures::is_finished.eq(false)).load(connection)?)
            })
            .await?;
        let unfinished = |(row, words): (ErasureRow, Option<String>)| {
            let words = words.map(|words| person_words(&words)).transpose()?.unwrap_or_default();
            Ok(UnfinishedErasure { record: row.try_into()?, words })
        };
        rows.into_iter().map(unfinished).collect()
    }

    async fn forget_words(&mut self, erasure: &UnfinishedErasure) -> Result<(), StoreError> {
        let (id, words) = (Id(erasure.record.id.uuid()), PersonWords::from_list(erasure.words.clone()));
        self.run(move |connection, workspace| {
            delete_searches(connection, workspace, &words)?;
            diesel::update(erasures::table.find((workspace, id)))
                .set(erasures::words.eq(None::<String>))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn finish_erasures(&mut self, finished: &[CustomerId]) -> Result<(), StoreError> {
        let finished: Vec<Id> = finished.iter().map(|id| Id(id.uuid())).collect();
        self.run(move |connection, workspace| {
            diesel::update(erasures::table)
                .filter(erasures::workspace_id.eq(workspace))
                .filter(erasures::id.eq_any(&finished))
                .filter(erasures::words.is_null())
                .set(erasures::is_finished.eq(true))
                .execute(connection)?;
            Ok(())
        })
        .await
    }
}
