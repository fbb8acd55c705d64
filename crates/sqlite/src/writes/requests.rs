//! Feature requests.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::{
    FeatureRequestRef, FeatureRequestSummary, NewFeatureRequest, SearchableText,
};
use roadmap_domain::model::id::{FeatureRequestId, TrackId};
use roadmap_domain::model::search::SearchDocument;
use roadmap_domain::model::search::concepts::INDEX_VERSION;
use roadmap_domain::policy::similarity::trigrams;
use roadmap_domain::ports::FeatureRequestWrites;

use crate::codec::Id;
use crate::errors::{SqlError, inconsistent};
use crate::rows::find_summary;
use crate::schema::{feature_request_tags, feature_requests, search_documents, tag_counters, vote_tallies, workspaces};
use crate::statement::statement;
use crate::unit::SqliteUnit;
use crate::writes::votes::find_or_insert_customer;

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

#[derive(diesel::QueryableByName)]
struct NewWord {
    #[diesel(sql_type = Text)]
    word: String,
}

#[async_trait]
impl FeatureRequestWrites for SqliteUnit {
    async fn find_feature_request(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestSummary>, StoreError> {
        let request = *request;
        let row = self.run(move |connection, workspace| find_summary(connection, workspace, &request)).await?;
        row.map(FeatureRequestSummary::try_from).transpose()
    }

    async fn insert_feature_request(
        &mut self,
        request: &NewFeatureRequest,
    ) -> Result<FeatureRequestSummary, StoreError> {
        let request = request.clone();
        let row = self
            .run(move |connection, workspace| {
                insert(connection, workspace, &request)?;
                find_summary(connection, workspace, &FeatureRequestRef::Id(request.id))
            })
            .await?;
        row.ok_or_else(|| StoreError::Fatal("a feature request is missing right after its insertion".into()))?
            .try_into()
    }

    async fn set_feature_request_track(&mut self, request: FeatureRequestId, track: TrackId) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            diesel::update(feature_requests::table)
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::id.eq(Id(request.uuid())))
                .set(feature_requests::track_id.eq(Id(track.uuid())))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn searchable_text(&mut self, request: FeatureRequestId) -> Result<Option<SearchableText>, StoreError> {
        self.run(move |connection, workspace| {
            let texts: Option<(String, String)> = feature_requests::table
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::id.eq(Id(request.uuid())))
                .filter(feature_requests::private.eq(false))
                .select((feature_requests::title, feature_requests::description_text))
                .first(connection)
                .optional()?;
            let Some((title, description)) = texts else { return Ok(None) };
            let tags = feature_request_tags::table
                .filter(feature_request_tags::workspace_id.eq(workspace))
                .filter(feature_request_tags::request_id.eq(Id(request.uuid())))
                .order(feature_request_tags::position)
                .select(feature_request_tags::tag)
                .load(connection)?;
            Ok(Some(SearchableText { title, tags, description }))
        })
        .await
    }

    async fn save_search_document(
        &mut self,
        request: FeatureRequestId,
        document: &SearchDocument,
    ) -> Result<(), StoreError> {
        let document = document.clone();
        self.run(move |connection, workspace| {
            let request = Id(request.uuid());
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
            diesel::delete(search_documents::table)
                .filter(search_documents::row_number.eq(row_number))
                .execute(connection)?;
            index(connection, workspace, row_number, request, &document)
        })
        .await
    }
}

fn insert(connection: &mut SqliteConnection, workspace: Id, request: &NewFeatureRequest) -> Result<(), SqlError> {
    let id = Id(request.id.uuid());
    let tag_number: i64 = diesel::insert_into(tag_counters::table)
        .values((tag_counters::workspace_id.eq(workspace), tag_counters::last_tag_number.eq(1)))
        .on_conflict(tag_counters::workspace_id)
        .do_update()
        .set(tag_counters::last_tag_number.eq(tag_counters::last_tag_number + 1))
        .returning(tag_counters::last_tag_number)
        .get_result(connection)?;
    let row_number = row_number(connection, workspace, tag_number)?;
    let author = match &request.author {
        Some(customer) => Some(find_or_insert_customer(connection, workspace, customer, request.created_at)?),
        None => None,
    };
    diesel::insert_into(feature_requests::table)
        .values((
            feature_requests::row_number.eq(row_number),
            feature_requests::workspace_id.eq(workspace),
            feature_requests::id.eq(id),
            feature_requests::tag_number.eq(tag_number),
            feature_requests::title.eq(request.title.as_str()),
            feature_requests::description.eq(request.description.html()),
            feature_requests::description_text.eq(request.description.text()),
            feature_requests::track_id.eq(Id(request.track.uuid())),
            feature_requests::author_id.eq(author),
            feature_requests::private.eq(request.private),
            feature_requests::created_at.eq(request.created_at.millis()),
        ))
        .execute(connection)?;
    diesel::insert_into(vote_tallies::table)
        .values((
            vote_tallies::row_number.eq(row_number),
            vote_tallies::workspace_id.eq(workspace),
            vote_tallies::request_id.eq(id),
            vote_tallies::votes_count.eq(0),
        ))
        .execute(connection)?;
    for (position, tag) in (0i64..).zip(&request.tags) {
        diesel::insert_into(feature_request_tags::table)
            .values((
                feature_request_tags::workspace_id.eq(workspace),
                feature_request_tags::request_id.eq(id),
                feature_request_tags::position.eq(position),
                feature_request_tags::tag.eq(tag.as_str()),
            ))
            .execute(connection)?;
    }
    if let Some(document) = &request.search {
        index(connection, workspace, row_number, id, document)?;
    }
    Ok(())
}

/// Returns the row number of a feature request: its workspace's number in the upper 32 bits, its tag number in the
/// lower 32 bits.
fn row_number(connection: &mut SqliteConnection, workspace: Id, tag_number: i64) -> Result<i64, SqlError> {
    let number: i64 =
        workspaces::table.filter(workspaces::id.eq(workspace)).select(workspaces::number).first(connection)?;
    compose_row_number(number, tag_number)
        .ok_or_else(|| inconsistent("tag_counters", "last_tag_number", workspace.0).into())
}

/// Composes a row number of two halves; `None` if one is out of range.
fn compose_row_number(upper: i64, lower: i64) -> Option<i64> {
    let (upper, lower) = (i32::try_from(upper).ok()?, u32::try_from(lower).ok()?);
    Some((i64::from(upper) << u32::BITS) + i64::from(lower))
}

fn index(
    connection: &mut SqliteConnection,
    workspace: Id,
    row_number: i64,
    request: Id,
    document: &SearchDocument,
) -> Result<(), SqlError> {
    let SearchDocument { title, tags, description } = document.clone();
    diesel::insert_into(search_documents::table)
        .values((
            search_documents::row_number.eq(row_number),
            search_documents::workspace_id.eq(workspace),
            search_documents::request_id.eq(request),
            search_documents::title.eq(&title),
            search_documents::tags.eq(&tags),
            search_documents::description.eq(&description),
            search_documents::version.eq(INDEX_VERSION),
        ))
        .execute(connection)?;
    IndexTerms { row_number, title, tags, description }.execute(connection)?;
    let vocabulary = document.vocabulary();
    if vocabulary.is_empty() {
        return Ok(());
    }
    // Words are ASCII letters and digits: nothing in them needs escaping in JSON.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_numbers_are_composed_of_two_halves_in_range() {
        for (upper, lower, expected) in [
            (1, 1, Some(4_294_967_297)),
            (2, 3, Some(8_589_934_595)),
            (2_147_483_647, 4_294_967_295, Some(i64::MAX)),
            (2_147_483_648, 1, None),
            (1, 4_294_967_296, None),
            (1, -1, None),
        ] {
            assert_eq!(compose_row_number(upper, lower), expected, "{upper} {lower}");
        }
    }
}
