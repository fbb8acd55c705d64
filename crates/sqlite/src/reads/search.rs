//! Full-text search for public feature requests.
//!
//! The plan of a search comes from the domain ([`SearchPlan`]); its steps are statements here. The number of scanned
//! rows is bounded by the square root of the number of feature requests, not by the number of matches.
//!
//! A search has a deadline, which is checked between rows. SQLite's full-text index cannot be interrupted within a
//! step. In that case the caller gets an error at the deadline, and the step continues in the background.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use diesel::connection::DefaultLoadingMode;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Text};
use diesel::{IntoSql, QueryableByName, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::{FeatureRequestSummary, FoundFeatureRequest, Visibility};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::search::{QueryWord, SearchDocument, SearchQuery};
use roadmap_domain::policy::ranking::Candidate;
use roadmap_domain::policy::search_plan::{
    CANDIDATE_LIMIT, Fields, IndexCost, MAX_SCANNED_ROWS, Matches, SearchPlan, Step, should_continue_scan,
};
use roadmap_domain::policy::similarity::trigrams;
use roadmap_domain::ports::TextSearch;

use crate::SqliteStore;
use crate::codec::Id;
use crate::errors::SqlError;
use crate::rows::{SummaryRow, placed_requests, summary_columns};
use crate::schema::{feature_requests, search_documents, search_trigrams, tag_counters, vote_tallies};
use crate::statement::statement;

/// The costs of the index and of a walk in SQLite.
const INDEX_COST: IndexCost = IndexCost { scanned_row: 3.0, least_matches: 1_000 };

/// Maximum words that are read for a trigram in one statement.
const WORDS_PER_TRIGRAM: usize = 500;

statement! {
    /// Selects the most voted matches of the index, and counts its matches up to a limit. The rows of a workspace are
    /// one range of row numbers.
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
    /// Selects the newest matches of the index.
    NewestMatches { terms: String => Text, workspace: Id => Binary, again: Id => Binary, enough: i64 => BigInt }
    "SELECT vote_tallies.row_number, votes_count, 0 AS matches FROM (
         SELECT rowid AS row_number FROM search_index WHERE search_index MATCH ?
         AND rowid >= (SELECT number << 32 FROM workspaces WHERE id = ?)
         AND rowid < (SELECT (number + 1) << 32 FROM workspaces WHERE id = ?)
         ORDER BY rowid DESC LIMIT ?
     ) AS newest CROSS JOIN vote_tallies ON vote_tallies.row_number = newest.row_number"
}

statement! {
    /// Counts the matches of the index, up to a limit.
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

/// Row number, feature request, votes, and the terms of title, tags and description.
type CandidateRow = (i64, Id, i64, String, String, String);

/// The time limit of a search.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    began: Instant,
    limit: Duration,
}

/// The error of a search that exceeded its deadline.
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
    /// Runs a part of a search in a snapshot, until its deadline. The caller does not wait longer than that.
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
        // The wait for a connection has a separate limit.
        tokio::time::timeout(limit + self.readers.wait(), work).await.unwrap_or_else(|_| Err(deadline_exceeded(limit)))
    }
}

#[async_trait]
impl TextSearch for SqliteStore {
    async fn candidates(
        &self,
        workspace: WorkspaceId,
        query: &SearchQuery,
        plan: SearchPlan,
    ) -> Result<Vec<Candidate>, StoreError> {
        let workspace = Id(workspace.uuid());
        let query = query.clone();
        self.search(move |connection, deadline| candidates(connection, workspace, &query, plan, deadline)).await
    }

    async fn similar_words(&self, workspace: WorkspaceId, word: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let workspace = Id(workspace.uuid());
        let word = word.to_owned();
        self.search(move |connection, deadline| Ok(similar_words(connection, workspace, &word, limit, deadline)?.0))
            .await
    }

    async fn load_results(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
        visibility: Visibility,
    ) -> Result<Vec<FoundFeatureRequest>, StoreError> {
        let workspace = Id(workspace.uuid());
        let shows_private = visibility == Visibility::All;
        let requests: Vec<Id> = requests.iter().map(|request| Id(request.uuid())).collect();
        self.readers
            .run_in_snapshot(move |connection| {
                let mut found = Vec::with_capacity(requests.len());
                for request in requests {
                    let row: Option<(SummaryRow, String)> = placed_requests()
                        .filter(feature_requests::workspace_id.eq(workspace))
                        .filter(feature_requests::id.eq(request))
                        .filter(feature_requests::private.eq(false).or(shows_private.into_sql::<Bool>()))
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

/// Returns the words that share the most trigrams with a word, and the number of rows that were read.
///
/// For a trigram of very many words, only the words with the same first letter are read, or with the same first two
/// letters. Most typing errors occur later in a word.
fn similar_words(
    connection: &mut SqliteConnection,
    workspace: Id,
    word: &str,
    limit: usize,
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
                // `{` follows `z`, the last character of words in byte order.
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
    similar.truncate(limit);
    Ok((similar.into_iter().map(|(_, word)| word).collect(), rows))
}

fn candidates(
    connection: &mut SqliteConnection,
    workspace: Id,
    query: &SearchQuery,
    mut plan: SearchPlan,
    deadline: Deadline,
) -> Result<Vec<Candidate>, SqlError> {
    let requests: Option<i64> = tag_counters::table
        .filter(tag_counters::workspace_id.eq(workspace))
        .select(tag_counters::last_tag_number)
        .first(connection)
        .optional()?;
    let max_matches = INDEX_COST.max_matches(requests.unwrap_or(0).unsigned_abs());
    let mut search = Search::new(connection, workspace, query, max_matches, deadline);
    search.follow(&mut plan)?;
    Ok(plan.into_candidates())
}

/// The state of one search.
struct Search<'a> {
    connection: &'a mut SqliteConnection,
    workspace: Id,
    query: &'a SearchQuery,
    /// Maximum matches that are read from the index.
    max_matches: i64,
    deadline: Deadline,
    /// The terms of the last lookup with too many matches.
    common_terms: String,
    /// Number of rows that walks have scanned.
    rows_scanned: usize,
}

impl<'a> Search<'a> {
    fn new(
        connection: &'a mut SqliteConnection,
        workspace: Id,
        query: &'a SearchQuery,
        max_matches: u64,
        deadline: Deadline,
    ) -> Self {
        let max_matches = i64::try_from(max_matches).unwrap_or(i64::MAX);
        Self { connection, workspace, query, max_matches, deadline, common_terms: String::new(), rows_scanned: 0 }
    }

    /// Runs all steps of a plan.
    fn follow(&mut self, plan: &mut SearchPlan) -> Result<(), SqlError> {
        while let Some(step) = plan.next_step() {
            self.deadline.check()?;
            plan.record(match step {
                Step::LookUp(fields) => self.look_up(fields)?,
                Step::Walk(fields) => Matches::Found(self.walk(fields)?),
                // The index returns matches in its order, newest first. Therefore the newest matches serve as any
                // matches, too.
                Step::Newest(_) | Step::Any(_) => Matches::Found(self.newest()?),
            });
        }
        Ok(())
    }

    /// Returns the most voted matches from the index.
    fn look_up(&mut self, fields: Fields) -> Result<Matches, SqlError> {
        let (workspace, max_matches) = (self.workspace, self.max_matches);
        // Matches of whole words alone show at the least cost whether a query is common. For a prefix, the index has to
        // merge the lists of all words with it.
        let whole_words = match_terms(self.query, fields, false);
        if has_more_matches_than(self.connection, workspace, whole_words.clone(), max_matches)? {
            self.common_terms = whole_words;
            return Ok(Matches::TooMany);
        }
        self.deadline.check()?;
        let terms = match_terms(self.query, fields, true);
        match matches_by_index(self.connection, workspace, terms.clone(), max_matches)? {
            Some(matches) => Ok(Matches::Found(self.load(&matches)?)),
            None => {
                self.common_terms = terms;
                Ok(Matches::TooMany)
            }
        }
    }

    /// Returns the newest matches of the terms with too many matches.
    fn newest(&mut self) -> Result<Vec<Candidate>, SqlError> {
        let (workspace, terms) = (self.workspace, self.common_terms.clone());
        let newest = NewestMatches { terms, workspace, again: workspace, enough: CANDIDATE_LIMIT as i64 };
        let newest: Vec<Match> = newest.load(self.connection)?;
        let newest: Vec<(i64, i64)> = newest.into_iter().map(|row| (row.row_number, row.votes_count)).collect();
        self.load(&newest)
    }

    /// Returns the most voted matches by a walk in the order of votes.
    fn walk(&mut self, fields: Fields) -> Result<Vec<Candidate>, SqlError> {
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
        let mut rows = walk.load_iter::<CandidateRow, DefaultLoadingMode>(self.connection)?;
        let mut scanned = 0;
        while should_continue_scan(scanned, candidates.len())
            && let Some(row) = rows.next()
        {
            scanned += 1;
            self.rows_scanned += 1;
            self.deadline.check()?;
            candidates.extend(candidate(row?, self.query, fields));
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

/// Whether the index has more than `max_matches` matches.
fn has_more_matches_than(
    connection: &mut SqliteConnection,
    workspace: Id,
    terms: String,
    max_matches: i64,
) -> Result<bool, SqlError> {
    let counted = CountMatches { terms, workspace, again: workspace, most: max_matches + 1 };
    let counted: Count = counted.get_result(connection)?;
    Ok(counted.count > max_matches)
}

/// Returns the most voted matches from the index, or `None` if there are more than `max_matches`.
fn matches_by_index(
    connection: &mut SqliteConnection,
    workspace: Id,
    terms: String,
    max_matches: i64,
) -> Result<Option<Vec<(i64, i64)>>, SqlError> {
    let asked =
        MatchesByVotes { terms, workspace, again: workspace, most: max_matches + 1, enough: CANDIDATE_LIMIT as i64 };
    let matches: Vec<Match> = asked.load(connection)?;
    if matches.first().is_some_and(|first| first.matches > max_matches) {
        return Ok(None);
    }
    Ok(Some(matches.into_iter().map(|row| (row.row_number, row.votes_count)).collect()))
}

/// Converts the query to the query syntax of the index: all words, each as any of its forms. With `unfinished`, the
/// last word also matches as a prefix. Terms consist of lower-case ASCII letters and digits (`Word`), so that none can
/// be interpreted as syntax.
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

/// Converts a row to a candidate if every word of the query occurs in its `fields`.
fn candidate(row: CandidateRow, query: &SearchQuery, fields: Fields) -> Option<Candidate> {
    let (row_number, request, votes_count, title, tags, description) = row;
    // The number of a feature request is the lower half of the row number.
    let request = (FeatureRequestId::new(request.0), row_number & 0xffff_ffff, votes_count);
    Candidate::matching(query, fields, request, &SearchDocument { title, tags, description })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, database};
    use diesel::connection::{Connection, InstrumentationEvent, SimpleConnection};
    use roadmap_domain::error::ErrorChain;
    use roadmap_domain::policy::search_plan::PROBE_ROWS;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use uuid::Uuid;

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

    /// Inserts `count` feature requests with one vote each and the word `widget`, and as many newer ones without votes
    /// and with the word `gadget`. The newer ones and one in a hundred of the older ones have the word `gizmo`.
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

    /// Counts the statements of a connection.
    fn count_statements(connection: &mut SqliteConnection) -> Arc<AtomicUsize> {
        let statements = Arc::new(AtomicUsize::new(0));
        let counted = statements.clone();
        connection.set_instrumentation(move |event: InstrumentationEvent<'_>| {
            if matches!(event, InstrumentationEvent::StartQuery { .. }) {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        statements
    }

    #[test]
    fn a_search_looks_at_no_more_rows_than_its_budget() {
        let (_folder, options) = database();
        let mut connection = fixtures::connection(&options.path);
        old_and_new_requests(&mut connection, 5_000);
        let statements = count_statements(&mut connection);
        // One in a hundred of the older feature requests has the word `gizmo`.
        for (word, rows, voted) in [
            ("widget", CANDIDATE_LIMIT, 0),
            ("gadget", PROBE_ROWS, 0),
            ("gizmo", MAX_SCANNED_ROWS, MAX_SCANNED_ROWS / 100),
        ] {
            let query = SearchQuery::parse("query", word).unwrap();
            let workspace = Id(Uuid::from_u128(1));
            let max_matches = INDEX_COST.max_matches(10_000);
            let mut search = Search::new(&mut connection, workspace, &query, max_matches, no_deadline());
            let mut plan = SearchPlan::default();
            search.follow(&mut plan).unwrap();
            // A walk for the titles follows, unless the first walk found too few matches. Then the newest matches are
            // looked up, row by row.
            let newest = 1 + CANDIDATE_LIMIT;
            let (walks, expected) = if word == "widget" { (2, 4) } else { (1, 3 + 2 * newest) };
            assert_eq!(search.rows_scanned, walks * rows, "{word}");
            assert_eq!(statements.swap(0, Ordering::Relaxed), expected, "{word}");
            assert_eq!(plan.into_candidates().len(), voted + CANDIDATE_LIMIT, "{word}");
        }
    }

    #[test]
    fn a_search_ends_at_its_deadline_between_rows() {
        let (_folder, options) = database();
        let mut connection = fixtures::connection(&options.path);
        old_and_new_requests(&mut connection, 1_100);
        let (workspace, passed) = (Id(Uuid::from_u128(1)), Deadline::new(Duration::ZERO));
        let query = SearchQuery::parse("query", "gadget").unwrap();
        let mut search = Search::new(&mut connection, workspace, &query, 1_000, passed);
        let error = StoreError::from(search.walk(Fields::Any).unwrap_err());
        assert_eq!(
            ErrorChain::new(&error).to_string(),
            "Service is temporarily unavailable: the search took longer than 0 ms"
        );
        assert_eq!(search.rows_scanned, 1);
        assert!(search.follow(&mut SearchPlan::default()).is_err());
        assert!(similar_words(&mut connection, workspace, "gadgte", 50, passed).is_err());
    }

    #[test]
    fn similar_words_are_found_by_few_rows_in_a_big_vocabulary() {
        let (_folder, options) = database();
        let mut connection = fixtures::connection(&options.path);
        // All words share trigrams with the typed word, and only one of them is similar to it.
        let words = "PRAGMA foreign_keys = OFF;
             WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000),
             words AS (SELECT iif(n = 1, 'settings', printf('%ssettl%05dtings', substr('abs', n % 3 + 1, 1), n)) AS word
                       FROM numbers)
             INSERT OR IGNORE INTO search_trigrams
                 SELECT x'00000000000000000000000000000001', substr('  ' || word || ' ', numbers.n, 3), word
                 FROM words JOIN numbers ON numbers.n <= 19 AND numbers.n <= length(word) + 1;";
        connection.batch_execute(words).unwrap();
        let (similar, rows) =
            similar_words(&mut connection, Id(Uuid::from_u128(1)), "setings", 50, no_deadline()).unwrap();
        assert!(similar.iter().any(|word| word == "settings"), "{similar:?}");
        // 8 trigrams with up to three statements each, in a vocabulary of 20,000 words.
        assert!(rows <= 8 * 3 * WORDS_PER_TRIGRAM && rows > WORDS_PER_TRIGRAM, "{rows}");
    }
}
