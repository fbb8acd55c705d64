//! Finds public feature requests by words.
//!
//! How many requests match decides the way. A word that few requests have is looked up in the
//! full-text index. Of a word that many have, only the most voted matches are wanted, and walking
//! the requests from the most voted down soon has enough of them. Either way the cost is bounded by
//! the square root of the number of requests, not by the number of matches.

use async_trait::async_trait;
use diesel::connection::DefaultLoadingMode;
use diesel::dsl::count_star;
use diesel::prelude::{ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Text};
use diesel::{IntoSql, QueryableByName, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::{FoundRequest, RequestSummary};
use roadmap_domain::model::id::{RequestId, WorkspaceId};
use roadmap_domain::model::search::{QueryWord, SearchDocument, SearchQuery};
use roadmap_domain::policy::ranking::{Candidate, relevance};
use roadmap_domain::policy::similarity::trigrams;
use roadmap_domain::ports::TextSearch;

use crate::SqliteStore;
use crate::codec::Id;
use crate::errors::SqlError;
use crate::rows::{SummaryRow, placed_requests, summary_columns};
use crate::schema::{feature_requests, search_documents, search_trigrams, tag_counters, vote_tallies};
use crate::statement::statement;

/// How many candidates are enough to pick the best fifteen of. Also how many of those whose title
/// matches.
const ENOUGH: usize = 60;

/// How many similar words are looked at.
const SIMILAR_WORDS: i64 = 50;

statement! {
    /// The most voted of the requests that the index knows to match, and how many it knows, up to a
    /// limit. The rows of a workspace are one range of row numbers.
    MatchesByVotes { terms: String => Text, workspace: Id => Binary, again: Id => Binary, most: i64 => BigInt, enough: i64 => BigInt }
    "WITH matches AS MATERIALIZED (
         SELECT rowid AS row_number FROM search_index WHERE search_index MATCH ?
         AND rowid >= (SELECT number << 32 FROM workspaces WHERE id = ?)
         AND rowid < (SELECT (number + 1) << 32 FROM workspaces WHERE id = ?)
         LIMIT ?
     )
     SELECT vote_tallies.row_number, votes_count, (SELECT count(*) FROM matches) AS matches
     FROM matches JOIN vote_tallies ON vote_tallies.row_number = matches.row_number
     ORDER BY votes_count DESC, vote_tallies.row_number DESC LIMIT ?"
}

statement! {
    /// How many requests the index knows to match, up to a limit.
    CountMatches { terms: String => Text, workspace: Id => Binary, again: Id => Binary, most: i64 => BigInt }
    "SELECT count(*) AS count FROM (
         SELECT 1 FROM search_index WHERE search_index MATCH ?
         AND rowid >= (SELECT number << 32 FROM workspaces WHERE id = ?)
         AND rowid < (SELECT (number + 1) << 32 FROM workspaces WHERE id = ?)
         LIMIT ?
     )"
}

#[derive(Debug, QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

#[derive(Debug, QueryableByName)]
struct Match {
    #[diesel(sql_type = BigInt)]
    row_number: i64,
    #[diesel(sql_type = BigInt)]
    votes_count: i64,
    #[diesel(sql_type = BigInt)]
    matches: i64,
}

/// Row number, request, votes and the terms of title, tags and description.
type CandidateRow = (i64, Id, i64, String, String, String);

/// Where the words of a query must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fields {
    Any,
    Title,
}

#[async_trait]
impl TextSearch for SqliteStore {
    async fn candidates(&self, workspace: WorkspaceId, query: &SearchQuery) -> Result<Vec<Candidate>, StoreError> {
        let workspace = Id(workspace.uuid());
        let query = query.clone();
        self.readers.run_in_snapshot(move |connection| candidates(connection, workspace, &query)).await
    }

    async fn similar_words(&self, workspace: WorkspaceId, word: &str) -> Result<Vec<String>, StoreError> {
        let workspace = Id(workspace.uuid());
        let trigrams = trigrams(word);
        self.readers
            .run(move |connection| {
                Ok(search_trigrams::table
                    .filter(search_trigrams::workspace_id.eq(workspace))
                    .filter(search_trigrams::trigram.eq_any(trigrams))
                    .group_by(search_trigrams::word)
                    .order((count_star().desc(), search_trigrams::word))
                    .select(search_trigrams::word)
                    .limit(SIMILAR_WORDS)
                    .load(connection)?)
            })
            .await
    }

    async fn found(&self, workspace: WorkspaceId, requests: &[RequestId]) -> Result<Vec<FoundRequest>, StoreError> {
        let workspace = Id(workspace.uuid());
        let requests: Vec<Id> = requests.iter().map(|request| Id(request.uuid())).collect();
        self.readers
            .run_in_snapshot(move |connection| {
                let mut found = Vec::with_capacity(requests.len());
                for request in requests {
                    let row: Option<(SummaryRow, String)> = placed_requests()
                        .filter(feature_requests::workspace_id.eq(workspace))
                        .filter(feature_requests::id.eq(request))
                        .filter(feature_requests::private.eq(false))
                        .select((summary_columns(), feature_requests::description_text))
                        .first(connection)
                        .optional()?;
                    if let Some((row, description)) = row {
                        found.push(FoundRequest { summary: RequestSummary::try_from(row)?, description });
                    }
                }
                Ok(found)
            })
            .await
    }
}

fn candidates(
    connection: &mut SqliteConnection,
    workspace: Id,
    query: &SearchQuery,
) -> Result<Vec<Candidate>, SqlError> {
    let requests: Option<i64> = tag_counters::table
        .filter(tag_counters::workspace_id.eq(workspace))
        .select(tag_counters::last_tag_number)
        .first(connection)
        .optional()?;
    let few = few(requests.unwrap_or(0));
    let mut candidates = most_voted(connection, workspace, query, Fields::Any, few)?;
    if candidates.len() >= ENOUGH {
        // Some with a matching title may have too few votes to be among them.
        let known: Vec<RequestId> = candidates.iter().map(|candidate| candidate.request).collect();
        let titled = most_voted(connection, workspace, query, Fields::Title, few)?;
        candidates.extend(titled.into_iter().filter(|candidate| !known.contains(&candidate.request)));
    }
    Ok(candidates)
}

/// The most voted requests in whose `fields` every word of the query matches.
fn most_voted(
    connection: &mut SqliteConnection,
    workspace: Id,
    query: &SearchQuery,
    fields: Fields,
    few: i64,
) -> Result<Vec<Candidate>, SqlError> {
    // Whole words alone tell a common query from others at the least cost: the index need not put
    // the lists of all words together that only begin like the last one.
    if are_more_than(connection, workspace, match_terms(query, fields, false), few)? {
        return by_votes(connection, workspace, query, fields);
    }
    match by_index(connection, workspace, match_terms(query, fields, true), few)? {
        Some(matches) => load(connection, workspace, query, &matches),
        None => by_votes(connection, workspace, query, fields),
    }
}

/// Up to how many matches the index is the cheaper way. Reading all of `m` matches costs about as
/// much as `m`; walking down the votes until [`ENOUGH`] of `n` requests match costs about
/// `3 · ENOUGH · n / m`. They meet at the root of `3 · ENOUGH · n`.
fn few(requests: i64) -> i64 {
    i64::try_from((3 * ENOUGH as u64 * requests.unsigned_abs()).isqrt().max(1_000)).unwrap_or(i64::MAX)
}

/// Whether the index knows more than `few` matches.
fn are_more_than(connection: &mut SqliteConnection, workspace: Id, terms: String, few: i64) -> Result<bool, SqlError> {
    let counted = CountMatches { terms, workspace, again: workspace, most: few + 1 };
    let counted: Count = counted.get_result(connection)?;
    Ok(counted.count > few)
}

/// The most voted matches by the index; `None` when there are more than `few`.
fn by_index(
    connection: &mut SqliteConnection,
    workspace: Id,
    terms: String,
    few: i64,
) -> Result<Option<Vec<(i64, i64)>>, SqlError> {
    let asked = MatchesByVotes { terms, workspace, again: workspace, most: few + 1, enough: ENOUGH as i64 };
    let matches: Vec<Match> = asked.load(connection)?;
    if matches.first().is_some_and(|first| first.matches > few) {
        return Ok(None);
    }
    Ok(Some(matches.into_iter().map(|row| (row.row_number, row.votes_count)).collect()))
}

/// The query in the language of the index: every word, each as any of its forms, the last also as
/// the beginning of a word when `unfinished` words count. Terms are lower-case ASCII letters and
/// digits (`Word`), so that none can be taken for syntax.
fn match_terms(query: &SearchQuery, fields: Fields, unfinished: bool) -> String {
    let column = match fields {
        Fields::Any => "",
        Fields::Title => "title : ",
    };
    let words: Vec<String> = query
        .words()
        .iter()
        .map(|QueryWord { any_of, as_prefix }| {
            let prefix = if unfinished && *as_prefix { "*" } else { "" };
            let forms: Vec<String> = any_of
                .iter()
                .map(|word| format!("{column}\"{}\" OR {column}\"{}\"{prefix}", word.stem(), word.surface()))
                .collect();
            format!("({})", forms.join(" OR "))
        })
        .collect();
    words.join(" AND ")
}

fn load(
    connection: &mut SqliteConnection,
    workspace: Id,
    query: &SearchQuery,
    matches: &[(i64, i64)],
) -> Result<Vec<Candidate>, SqlError> {
    let mut candidates = Vec::with_capacity(matches.len());
    for (row_number, votes_count) in matches {
        let row: CandidateRow = search_documents::table
            .filter(search_documents::row_number.eq(row_number))
            .filter(search_documents::workspace_id.eq(workspace))
            .select((
                search_documents::row_number,
                search_documents::request_id,
                votes_count.into_sql::<BigInt>(),
                search_documents::title,
                search_documents::tags,
                search_documents::description,
            ))
            .first(connection)?;
        candidates.extend(candidate(row, query, Fields::Any));
    }
    Ok(candidates)
}

/// The most voted matches, by walking down the votes until there are enough.
fn by_votes(
    connection: &mut SqliteConnection,
    workspace: Id,
    query: &SearchQuery,
    fields: Fields,
) -> Result<Vec<Candidate>, SqlError> {
    let walk = vote_tallies::table
        .inner_join(search_documents::table.on(search_documents::row_number.eq(vote_tallies::row_number)))
        .filter(vote_tallies::workspace_id.eq(workspace))
        .order((vote_tallies::votes_count.desc(), vote_tallies::row_number.desc()))
        .select((
            vote_tallies::row_number,
            search_documents::request_id,
            vote_tallies::votes_count,
            search_documents::title,
            search_documents::tags,
            search_documents::description,
        ));
    let mut candidates = Vec::with_capacity(ENOUGH);
    for row in walk.load_iter::<CandidateRow, DefaultLoadingMode>(connection)? {
        candidates.extend(candidate(row?, query, fields));
        if candidates.len() >= ENOUGH {
            break;
        }
    }
    Ok(candidates)
}

/// The row as a candidate, if every word of the query is in its `fields`.
fn candidate(row: CandidateRow, query: &SearchQuery, fields: Fields) -> Option<Candidate> {
    let (row_number, request, votes_count, title, tags, description) = row;
    let document = SearchDocument { title, tags, description };
    if fields == Fields::Title {
        relevance(query, &document.title_only())?;
    }
    Some(Candidate {
        request: RequestId::new(request.0),
        // The lower half of the row number.
        tag_number: row_number & 0xffff_ffff,
        votes_count,
        relevance: relevance(query, &document)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, database};
    use diesel::connection::SimpleConnection;
    use uuid::Uuid;

    #[test]
    fn the_index_is_asked_for_fewer_matches_than_walking_down_the_votes_would_look_at() {
        assert_eq!([0, 5_555, 5_600, 100_000].map(few), [1_000, 1_000, 1_003, 4_242]);
    }

    #[test]
    fn only_the_last_word_is_looked_for_as_a_beginning_and_only_where_that_is_asked() {
        let query = SearchQuery::parse("query", "moving requests").unwrap();
        assert_eq!(match_terms(&query, Fields::Any, false), r#"("move" OR "moving") AND ("request" OR "requests")"#);
        assert_eq!(
            match_terms(&query, Fields::Title, true),
            r#"(title : "move" OR title : "moving") AND (title : "request" OR title : "requests"*)"#
        );
    }

    #[test]
    fn the_index_tells_few_matches_by_votes_and_more_than_that_not_at_all() {
        let (_folder, options) = database();
        let mut connection = fixtures::connection(&options.path);
        let rows = "PRAGMA foreign_keys = OFF;
             INSERT INTO workspaces VALUES (1, unhex(printf('%032x', 1)), 'acme', 0), (2, x'02', 'umbrella', 0);
             INSERT INTO vote_tallies VALUES
                 (4294967297, x'01', x'01', 5), (4294967298, x'01', x'02', 7), (4294967299, x'01', x'03', 5),
                 (8589934593, x'02', x'01', 9);
             INSERT INTO search_index (rowid, title, tags, description)
                 SELECT row_number, 'widget/widgets', '', '' FROM vote_tallies;";
        connection.batch_execute(rows).unwrap();
        let workspace = Id(Uuid::from_u128(1));
        let terms = || match_terms(&SearchQuery::parse("query", "widgets").unwrap(), Fields::Any, false);
        for (few, matches) in [(2, None), (3, Some(vec![(4_294_967_298, 7), (4_294_967_299, 5), (4_294_967_297, 5)]))] {
            assert_eq!(are_more_than(&mut connection, workspace, terms(), few).unwrap(), matches.is_none());
            assert_eq!(by_index(&mut connection, workspace, terms(), few).unwrap(), matches);
        }
    }
}
