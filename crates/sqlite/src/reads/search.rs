//! Finds public feature requests by words.
//!
//! How many requests match decides the way. A word that few requests have is looked up in the
//! full-text index. Of a word that many have, only the most voted matches are wanted, and walking
//! the requests from the most voted down soon has enough of them. When it has not, because all that match
//! have few votes, the newest matches are taken from the index. Whichever way, the rows that are looked at
//! are bounded by the square root of the number of requests, not by the number of matches.
//!
//! A search also has a deadline. Between rows it ends there; SQLite's full-text index cannot be interrupted
//! within a step, so that a caller who still waits then is told, and the step goes on without it.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use diesel::connection::DefaultLoadingMode;
use diesel::prelude::{ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Text};
use diesel::{IntoSql, QueryableByName, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::{FeatureRequestSummary, FoundFeatureRequest};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::search::{QueryWord, SearchDocument, SearchQuery};
use roadmap_domain::policy::ranking::{Candidate, relevance};
use roadmap_domain::policy::search_budget::{MAX_SCANNED_ROWS, PROBE_ROWS, should_continue_scan};
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
const CANDIDATE_LIMIT: usize = 60;

/// How many similar words are looked at.
const SIMILAR_WORDS: usize = 50;

/// How many words with the same trigram are looked at.
const WORDS_PER_TRIGRAM: usize = 500;

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
    /// The newest of the requests that the index knows to match.
    NewestMatches { terms: String => Text, workspace: Id => Binary, again: Id => Binary, enough: i64 => BigInt }
    "SELECT vote_tallies.row_number, votes_count, 0 AS matches FROM (
         SELECT rowid AS row_number FROM search_index WHERE search_index MATCH ?
         AND rowid >= (SELECT number << 32 FROM workspaces WHERE id = ?)
         AND rowid < (SELECT (number + 1) << 32 FROM workspaces WHERE id = ?)
         ORDER BY rowid DESC LIMIT ?
     ) AS newest CROSS JOIN vote_tallies ON vote_tallies.row_number = newest.row_number"
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

/// Whether the requests may be walked down from the most voted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walk {
    Allowed,
    /// One has looked at as many rows as a search may, and found too few.
    Exhausted,
}

/// When a search ends, found or not.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    began: Instant,
    limit: Duration,
}

/// A search that took too long.
#[derive(Debug, thiserror::Error)]
#[error("the search took longer than {} ms", .0.as_millis())]
struct DeadlineExceeded(Duration);

impl Deadline {
    fn new(limit: Duration) -> Self {
        Self { began: Instant::now(), limit }
    }

    fn check(&self) -> Result<(), SqlError> {
        if self.began.elapsed() < self.limit { Ok(()) } else { Err(deadline_exceeded(self.limit).into()) }
    }
}

fn deadline_exceeded(limit: Duration) -> StoreError {
    StoreError::Unavailable(DeadlineExceeded(limit).into())
}

impl SqliteStore {
    /// Runs a part of a search in a snapshot, until its deadline. After that its caller does not wait for it.
    async fn search<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteConnection, Deadline) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let limit = self.search_time;
        let work = self.readers.run_in_snapshot(move |connection| {
            let deadline = Deadline::new(limit);
            deadline.check()?;
            work(connection, deadline)
        });
        // The wait for a connection has a limit of its own.
        tokio::time::timeout(limit + self.readers.wait(), work).await.unwrap_or_else(|_| Err(deadline_exceeded(limit)))
    }
}

#[async_trait]
impl TextSearch for SqliteStore {
    async fn candidates(&self, workspace: WorkspaceId, query: &SearchQuery) -> Result<Vec<Candidate>, StoreError> {
        let workspace = Id(workspace.uuid());
        let query = query.clone();
        self.search(move |connection, deadline| candidates(connection, workspace, &query, deadline)).await
    }

    async fn similar_words(&self, workspace: WorkspaceId, word: &str) -> Result<Vec<String>, StoreError> {
        let workspace = Id(workspace.uuid());
        let word = word.to_owned();
        self.search(move |connection, deadline| Ok(similar_words(connection, workspace, &word, deadline)?.0)).await
    }

    async fn load_results(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FoundFeatureRequest>, StoreError> {
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
                        found.push(FoundFeatureRequest { summary: FeatureRequestSummary::try_from(row)?, description });
                    }
                }
                Ok(found)
            })
            .await
    }
}

/// The words that share most trigrams with one, and how many rows were read for that.
///
/// Of a trigram that very many words have, only those are read that begin with the same letter, or with the same
/// two: most typing errors are further back.
fn similar_words(
    connection: &mut SqliteConnection,
    workspace: Id,
    word: &str,
    deadline: Deadline,
) -> Result<(Vec<String>, usize), SqlError> {
    let mut shared: HashMap<String, usize> = HashMap::new();
    let mut rows = 0;
    for trigram in trigrams(word) {
        let mut words = Vec::new();
        for beginning in [0, 1, 2] {
            deadline.check()?;
            let beginning = word.get(..beginning).unwrap_or(word);
            words = search_trigrams::table
                .filter(search_trigrams::workspace_id.eq(workspace))
                .filter(search_trigrams::trigram.eq(&trigram))
                .filter(search_trigrams::word.ge(beginning))
                // The character behind the last that words are made of.
                .filter(search_trigrams::word.lt(format!("{beginning}{{")))
                .order(search_trigrams::word)
                .select(search_trigrams::word)
                .limit(WORDS_PER_TRIGRAM as i64)
                .load::<String>(connection)?;
            rows += words.len();
            if words.len() < WORDS_PER_TRIGRAM {
                break;
            }
        }
        for word in words {
            *shared.entry(word).or_default() += 1;
        }
    }
    let mut similar: Vec<(Reverse<usize>, String)> =
        shared.into_iter().map(|(word, trigrams)| (Reverse(trigrams), word)).collect();
    similar.sort_unstable();
    similar.truncate(SIMILAR_WORDS);
    Ok((similar.into_iter().map(|(_, word)| word).collect(), rows))
}

fn candidates(
    connection: &mut SqliteConnection,
    workspace: Id,
    query: &SearchQuery,
    deadline: Deadline,
) -> Result<Vec<Candidate>, SqlError> {
    let requests: Option<i64> = tag_counters::table
        .filter(tag_counters::workspace_id.eq(workspace))
        .select(tag_counters::last_tag_number)
        .first(connection)
        .optional()?;
    let mut search = Search {
        connection,
        workspace,
        query,
        index_scan_limit: index_scan_limit(requests.unwrap_or(0)),
        deadline,
        rows_scanned: 0,
    };
    let (mut candidates, walk) = search.most_voted(Fields::Any, Walk::Allowed)?;
    if candidates.len() >= CANDIDATE_LIMIT {
        // Some with a matching title may have too few votes to be among them.
        let (titled, _) = search.most_voted(Fields::Title, walk)?;
        add(&mut candidates, titled);
    }
    Ok(candidates)
}

/// Adds the candidates that are not there yet.
fn add(candidates: &mut Vec<Candidate>, more: Vec<Candidate>) {
    let known: Vec<FeatureRequestId> = candidates.iter().map(|candidate| candidate.request).collect();
    candidates.extend(more.into_iter().filter(|candidate| !known.contains(&candidate.request)));
}

/// One search.
struct Search<'a> {
    connection: &'a mut SqliteConnection,
    workspace: Id,
    query: &'a SearchQuery,
    /// Up to how many matches the index is asked for.
    index_scan_limit: i64,
    deadline: Deadline,
    /// Rows that walks have looked at.
    rows_scanned: usize,
}

impl Search<'_> {
    /// The most voted requests in whose `fields` every word of the query matches, and whether another walk is
    /// allowed.
    fn most_voted(&mut self, fields: Fields, walk: Walk) -> Result<(Vec<Candidate>, Walk), SqlError> {
        let (workspace, index_scan_limit) = (self.workspace, self.index_scan_limit);
        self.deadline.check()?;
        // Whole words alone tell a common query from others at the least cost: the index need not put
        // the lists of all words together that only begin like the last one.
        let whole_words = match_terms(self.query, fields, false);
        if has_more_matches_than(self.connection, workspace, whole_words.clone(), index_scan_limit)? {
            return self.search_common_terms(fields, walk, whole_words);
        }
        self.deadline.check()?;
        let terms = match_terms(self.query, fields, true);
        match matches_by_index(self.connection, workspace, terms.clone(), index_scan_limit)? {
            Some(matches) => Ok((self.load(&matches)?, walk)),
            None => self.search_common_terms(fields, walk, terms),
        }
    }

    /// The most voted of many matches, or the newest, if those are not found within the budget.
    fn search_common_terms(
        &mut self,
        fields: Fields,
        walk: Walk,
        terms: String,
    ) -> Result<(Vec<Candidate>, Walk), SqlError> {
        let mut candidates = match walk {
            Walk::Allowed => self.walk_by_votes(fields)?,
            Walk::Exhausted => Vec::new(),
        };
        if candidates.len() >= CANDIDATE_LIMIT {
            return Ok((candidates, walk));
        }
        self.deadline.check()?;
        let workspace = self.workspace;
        let newest = NewestMatches { terms, workspace, again: workspace, enough: CANDIDATE_LIMIT as i64 };
        let newest: Vec<Match> = newest.load(self.connection)?;
        let newest: Vec<(i64, i64)> = newest.into_iter().map(|row| (row.row_number, row.votes_count)).collect();
        add(&mut candidates, self.load(&newest)?);
        Ok((candidates, Walk::Exhausted))
    }

    /// The most voted matches, by walking down the votes until there are enough or the budget is used up.
    fn walk_by_votes(&mut self, fields: Fields) -> Result<Vec<Candidate>, SqlError> {
        let walk = vote_tallies::table
            .inner_join(search_documents::table.on(search_documents::row_number.eq(vote_tallies::row_number)))
            .filter(vote_tallies::workspace_id.eq(self.workspace))
            .order((vote_tallies::votes_count.desc(), vote_tallies::row_number.desc()))
            .select((
                vote_tallies::row_number,
                search_documents::request_id,
                vote_tallies::votes_count,
                search_documents::title,
                search_documents::tags,
                search_documents::description,
            ))
            .limit(MAX_SCANNED_ROWS as i64);
        let mut candidates = Vec::with_capacity(CANDIDATE_LIMIT);
        for (rows_before, row) in walk.load_iter::<CandidateRow, DefaultLoadingMode>(self.connection)?.enumerate() {
            if rows_before == PROBE_ROWS && !should_continue_scan(candidates.len()) {
                break;
            }
            self.rows_scanned += 1;
            self.deadline.check()?;
            candidates.extend(candidate(row?, self.query, fields));
            if candidates.len() >= CANDIDATE_LIMIT {
                break;
            }
        }
        Ok(candidates)
    }

    fn load(&mut self, matches: &[(i64, i64)]) -> Result<Vec<Candidate>, SqlError> {
        let mut candidates = Vec::with_capacity(matches.len());
        for (row_number, votes_count) in matches {
            let row: CandidateRow = search_documents::table
                .filter(search_documents::row_number.eq(row_number))
                .filter(search_documents::workspace_id.eq(self.workspace))
                .select((
                    search_documents::row_number,
                    search_documents::request_id,
                    votes_count.into_sql::<BigInt>(),
                    search_documents::title,
                    search_documents::tags,
                    search_documents::description,
                ))
                .first(self.connection)?;
            candidates.extend(candidate(row, self.query, Fields::Any));
        }
        Ok(candidates)
    }
}

/// Up to how many matches the index is the cheaper way. Reading all of `m` matches costs about as
/// much as `m`; walking down the votes until [`CANDIDATE_LIMIT`] of `n` requests match costs about
/// `3 · CANDIDATE_LIMIT · n / m`. They meet at the root of `3 · CANDIDATE_LIMIT · n`.
fn index_scan_limit(requests: i64) -> i64 {
    i64::try_from((3 * CANDIDATE_LIMIT as u64 * requests.unsigned_abs()).isqrt().max(1_000)).unwrap_or(i64::MAX)
}

/// Whether the index knows more than `index_scan_limit` matches.
fn has_more_matches_than(
    connection: &mut SqliteConnection,
    workspace: Id,
    terms: String,
    index_scan_limit: i64,
) -> Result<bool, SqlError> {
    let counted = CountMatches { terms, workspace, again: workspace, most: index_scan_limit + 1 };
    let counted: Count = counted.get_result(connection)?;
    Ok(counted.count > index_scan_limit)
}

/// The most voted matches by the index; `None` when there are more than `index_scan_limit`.
fn matches_by_index(
    connection: &mut SqliteConnection,
    workspace: Id,
    terms: String,
    index_scan_limit: i64,
) -> Result<Option<Vec<(i64, i64)>>, SqlError> {
    let asked = MatchesByVotes {
        terms,
        workspace,
        again: workspace,
        most: index_scan_limit + 1,
        enough: CANDIDATE_LIMIT as i64,
    };
    let matches: Vec<Match> = asked.load(connection)?;
    if matches.first().is_some_and(|first| first.matches > index_scan_limit) {
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
        .map(|QueryWord { alternatives, matches_prefix }| {
            let prefix = if unfinished && *matches_prefix { "*" } else { "" };
            let forms: Vec<String> = alternatives
                .iter()
                .map(|word| format!("{column}\"{}\" OR {column}\"{}\"{prefix}", word.stem(), word.surface()))
                .collect();
            format!("({})", forms.join(" OR "))
        })
        .collect();
    words.join(" AND ")
}

/// The row as a candidate, if every word of the query is in its `fields`.
fn candidate(row: CandidateRow, query: &SearchQuery, fields: Fields) -> Option<Candidate> {
    let (row_number, request, votes_count, title, tags, description) = row;
    let document = SearchDocument { title, tags, description };
    if fields == Fields::Title {
        relevance(query, &document.title_only())?;
    }
    Some(Candidate {
        request: FeatureRequestId::new(request.0),
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
    use roadmap_domain::error::ErrorChain;
    use uuid::Uuid;

    #[test]
    fn the_index_is_asked_for_fewer_matches_than_walking_down_the_votes_would_look_at() {
        assert_eq!([0, 5_555, 5_600, 100_000].map(index_scan_limit), [1_000, 1_000, 1_003, 4_242]);
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
    fn the_index_returns_few_matches_by_votes_and_none_above_the_limit() {
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
        for (index_scan_limit, matches) in
            [(2, None), (3, Some(vec![(4_294_967_298, 7), (4_294_967_299, 5), (4_294_967_297, 5)]))]
        {
            assert_eq!(
                has_more_matches_than(&mut connection, workspace, terms(), index_scan_limit).unwrap(),
                matches.is_none()
            );
            assert_eq!(matches_by_index(&mut connection, workspace, terms(), index_scan_limit).unwrap(), matches);
        }
    }

    fn no_deadline() -> Deadline {
        Deadline::new(Duration::from_secs(600))
    }

    /// So many requests with a vote each and the word `widget`, and as many newer ones without votes and with the
    /// word `gadget`. These, and one in a hundred of the others, have the word `gizmo`.
    fn old_and_new_requests(connection: &mut SqliteConnection, count: usize) {
        let rows = format!(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO workspaces VALUES (1, unhex(printf('%032x', 1)), 'acme', 0);
             CREATE TEMP TABLE numbers AS
                 WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2 * {count})
                 SELECT n, (1 << 32) + n AS row_number FROM numbers;
             INSERT INTO tag_counters (workspace_id, last_tag_number) VALUES (unhex(printf('%032x', 1)), 2 * {count});
             INSERT INTO vote_tallies SELECT row_number, unhex(printf('%032x', 1)), randomblob(16), n <= {count} FROM numbers;
             INSERT INTO search_documents
                 SELECT row_number, unhex(printf('%032x', 1)), randomblob(16),
                        iif(n <= {count}, ' widget/widget', ' gadget/gadget')
                        || iif(n > {count} OR n % 100 = 0, ' gizmo/gizmo', ''), '', '' FROM numbers;
             INSERT INTO search_index (rowid, title, tags, description)
                 SELECT row_number, title, tags, description FROM search_documents;"
        );
        connection.batch_execute(&rows).unwrap();
    }

    #[test]
    fn a_search_looks_at_no_more_rows_than_its_budget() {
        let (_folder, options) = database();
        let mut connection = fixtures::connection(&options.path);
        old_and_new_requests(&mut connection, 5_000);
        for (word, rows_scanned) in [("widget", CANDIDATE_LIMIT), ("gadget", PROBE_ROWS), ("gizmo", MAX_SCANNED_ROWS)] {
            let query = SearchQuery::parse("query", word).unwrap();
            let workspace = Id(Uuid::from_u128(1));
            let (connection, query) = (&mut connection, &query);
            let mut search = Search {
                connection,
                workspace,
                query,
                index_scan_limit: index_scan_limit(10_000),
                deadline: no_deadline(),
                rows_scanned: 0,
            };
            let (found, walk) = search.most_voted(Fields::Any, Walk::Allowed).unwrap();
            let voted = if word == "gizmo" { MAX_SCANNED_ROWS / 100 } else { 0 };
            assert_eq!((found.len(), search.rows_scanned), (voted + CANDIDATE_LIMIT, rows_scanned), "{word}");
            // The titles, too: not walked again when that was in vain.
            let (titled, _) = search.most_voted(Fields::Title, walk).unwrap();
            let walks = if word == "widget" { 2 } else { 1 };
            assert_eq!((titled.len(), search.rows_scanned), (CANDIDATE_LIMIT, walks * rows_scanned), "{word}");
        }
    }

    #[test]
    fn a_search_ends_at_its_deadline_between_rows() {
        let (_folder, options) = database();
        let mut connection = fixtures::connection(&options.path);
        old_and_new_requests(&mut connection, 1_100);
        let (workspace, passed) = (Id(Uuid::from_u128(1)), Deadline::new(Duration::ZERO));
        let query = SearchQuery::parse("query", "gadget").unwrap();
        let connection = &mut connection;
        let mut search =
            Search { connection, workspace, query: &query, index_scan_limit: 1_000, deadline: passed, rows_scanned: 0 };
        let error = StoreError::from(search.walk_by_votes(Fields::Any).unwrap_err());
        assert_eq!(
            ErrorChain::new(&error).to_string(),
            "Service is temporarily unavailable: the search took longer than 0 ms"
        );
        assert_eq!(search.rows_scanned, 1);
        assert!(similar_words(connection, workspace, "gadgte", passed).is_err());
    }

    #[test]
    fn similar_words_are_found_by_few_rows_in_a_big_vocabulary() {
        let (_folder, options) = database();
        let mut connection = fixtures::connection(&options.path);
        // All of them share trigrams with what is typed, and none of these words is near it.
        let words = "PRAGMA foreign_keys = OFF;
             WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000),
             words AS (SELECT iif(n = 1, 'settings', printf('%ssettl%05dtings', substr('abs', n % 3 + 1, 1), n)) AS word
                       FROM numbers)
             INSERT OR IGNORE INTO search_trigrams
                 SELECT x'00000000000000000000000000000001', substr('  ' || word || ' ', numbers.n, 3), word
                 FROM words JOIN numbers ON numbers.n <= 19 AND numbers.n <= length(word) + 1;";
        connection.batch_execute(words).unwrap();
        let (similar, rows) = similar_words(&mut connection, Id(Uuid::from_u128(1)), "setings", no_deadline()).unwrap();
        assert!(similar.iter().any(|word| word == "settings"), "{similar:?}");
        // 8 trigrams, each looked up three times at most. They have 20,000 words.
        assert!(rows <= 8 * 3 * WORDS_PER_TRIGRAM && rows > WORDS_PER_TRIGRAM, "{rows}");
    }
}
