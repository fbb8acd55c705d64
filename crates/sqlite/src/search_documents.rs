//! The search documents of feature requests, and the vocabulary.

use std::collections::BTreeSet;

use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Text};
use roadmap_domain::model::search::SearchDocument;
use roadmap_domain::model::search::concepts::INDEX_VERSION;
use roadmap_domain::policy::similarity::trigrams;
use roadmap_store::columns::Id;

use crate::errors::SqlError;
use crate::schema::{feature_requests, outdated_documents, search_documents};
use crate::statement::statement;

statement! {
    /// Inserts a document's terms into the full-text index.
    IndexTerms { row_number: i64 => BigInt, title: String => Text, tags: String => Text, description: String => Text }
    "INSERT INTO search_index (rowid, title, tags, description) VALUES (?, ?, ?, ?)"
}

statement! {
    /// Removes a document's terms from the full-text index, which needs them for that.
    RemoveTerms { row_number: i64 => BigInt, title: String => Text, tags: String => Text, description: String => Text }
    "INSERT INTO search_index (search_index, rowid, title, tags, description) VALUES ('delete', ?, ?, ?, ?)"
}

statement! {
    /// Adds the words of a JSON array to the vocabulary and returns the new ones.
    LearnWords { workspace: Id => Binary, words: String => Text }
    "INSERT INTO search_words (workspace_id, word) SELECT ?, value FROM json_each(?) WHERE true
     ON CONFLICT DO NOTHING RETURNING word"
}

statement! {
    /// Stores the trigrams of words, from a JSON array of `[trigram, word]` pairs.
    StoreTrigrams { workspace: Id => Binary, pairs: String => Text }
    "INSERT INTO search_trigrams (workspace_id, trigram, word)
     SELECT ?, value ->> 0, value ->> 1 FROM json_each(?)"
}

statement! {
    /// Marks the documents of the feature requests of a JSON array as outdated.
    MarkOutdated { workspace: Id => Binary, requests: String => Text }
    "INSERT INTO outdated_documents (workspace_id, request_id)
     SELECT workspace_id, request_id FROM search_documents
     WHERE workspace_id = ? AND request_id IN (SELECT unhex(value) FROM json_each(?))
     ON CONFLICT DO NOTHING"
}

#[derive(diesel::QueryableByName)]
struct NewWord {
    #[diesel(sql_type = Text)]
    word: String,
}

/// Inserts or replaces the document of a feature request. Does nothing if there is no such feature request.
pub(crate) fn save_document(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: Id,
    document: &SearchDocument,
) -> Result<(), SqlError> {
    delete_document(connection, workspace, request)?;
    let row_number: Option<i64> = feature_requests::table
        .filter(feature_requests::workspace_id.eq(workspace))
        .filter(feature_requests::id.eq(request))
        .select(feature_requests::row_number)
        .first(connection)
        .optional()?;
    let Some(row_number) = row_number else { return Ok(()) };
    index(connection, workspace, row_number, request, document)
}

/// Deletes the document of a feature request, if it has one, and that it is outdated.
pub(crate) fn delete_document(connection: &mut SqliteConnection, workspace: Id, request: Id) -> Result<(), SqlError> {
    diesel::delete(outdated_documents::table)
        .filter(outdated_documents::workspace_id.eq(workspace))
        .filter(outdated_documents::request_id.eq(request))
        .execute(connection)?;
    let old: Option<(i64, String, String, String)> = search_documents::table
        .filter(search_documents::workspace_id.eq(workspace))
        .filter(search_documents::request_id.eq(request))
        .select((
            search_documents::row_number,
            search_documents::title,
            search_documents::tags,
            search_documents::description,
        ))
        .first(connection)
        .optional()?;
    let Some((row_number, title, tags, description)) = old else { return Ok(()) };
    RemoveTerms { row_number, title, tags, description }.execute(connection)?;
    diesel::delete(search_documents::table).filter(search_documents::row_number.eq(row_number)).execute(connection)?;
    Ok(())
}

/// Inserts the document of a feature request that has none, and learns its words.
pub(crate) fn index(
    connection: &mut SqliteConnection,
    workspace: Id,
    row_number: i64,
    request: Id,
    document: &SearchDocument,
) -> Result<(), SqlError> {
    index_all(connection, workspace, &[(row_number, request, document)])
}

/// Inserts the documents of feature requests that have none, given with their row numbers, and learns their words.
///
/// The full-text index keeps terms in memory and writes them before each statement that may be undone alone, such as one with
/// triggers. So the terms of all documents follow each other.
pub(crate) fn index_all(
    connection: &mut SqliteConnection,
    workspace: Id,
    documents: &[(i64, Id, &SearchDocument)],
) -> Result<(), SqlError> {
    for (row_number, request, document) in documents {
        insert_document(connection, workspace, *row_number, *request, document)?;
    }
    for (row_number, _, document) in documents {
        let SearchDocument { title, tags, description } = (*document).clone();
        IndexTerms { row_number: *row_number, title, tags, description }.execute(connection)?;
    }
    let words: BTreeSet<&str> = documents.iter().flat_map(|(.., document)| document.vocabulary()).collect();
    learn_words(connection, workspace, &words.into_iter().collect::<Vec<_>>())
}

/// Inserts the document of a feature request that has none, without its terms.
fn insert_document(
    connection: &mut SqliteConnection,
    workspace: Id,
    row_number: i64,
    request: Id,
    document: &SearchDocument,
) -> Result<(), SqlError> {
    diesel::insert_into(search_documents::table)
        .values((
            search_documents::row_number.eq(row_number),
            search_documents::workspace_id.eq(workspace),
            search_documents::request_id.eq(request),
            search_documents::title.eq(&document.title),
            search_documents::tags.eq(&document.tags),
            search_documents::description.eq(&document.description),
            search_documents::version.eq(INDEX_VERSION),
        ))
        .execute(connection)?;
    Ok(())
}

/// Adds words of documents to the vocabulary.
fn learn_words(connection: &mut SqliteConnection, workspace: Id, vocabulary: &[&str]) -> Result<(), SqlError> {
    if vocabulary.is_empty() {
        return Ok(());
    }
    // Words have no quotation marks, backslashes or control characters: nothing in them needs escaping in JSON.
    let words = format!("[\"{}\"]", vocabulary.join("\",\""));
    let new_words: Vec<NewWord> = LearnWords { workspace, words }.load(connection)?;
    let mut pairs: Vec<String> = new_words
        .iter()
        .flat_map(|NewWord { word }| {
            trigrams(word).into_iter().map(move |trigram| format!("[\"{trigram}\",\"{word}\"]"))
        })
        .collect();
    if !pairs.is_empty() {
        // In the order of the table's key, so that adjacent rows are written to one page.
        pairs.sort_unstable();
        StoreTrigrams { workspace, pairs: format!("[{}]", pairs.join(",")) }.execute(connection)?;
    }
    Ok(())
}
