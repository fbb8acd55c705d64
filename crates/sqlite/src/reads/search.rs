//! Full-text search for public feature requests.
//!
//! The algorithm of a search is in the domain ([`Search::run`]); what it asks the index for are statements here. It
//! runs as a whole on one reading connection, in one snapshot.
//!
//! A search has a deadline, which is checked between statements and between rows. SQLite's full-text index cannot be
//! interrupted within a step. In that case the caller gets an error at the deadline, and the step continues in the
//! background.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::connection::DefaultLoadingMode;
use diesel::prelude::{ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Text};
use futures_util::FutureExt;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::{FeatureRequestSummary, SearchResult};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::search::{Expression, Fields, Matcher, SearchDocument};
use roadmap_domain::policy::search::{CANDIDATE_LIMIT, Hit, MAX_SCANNED_ROWS, Search, should_continue_scan};
use roadmap_domain::policy::similarity::trigrams;
use roadmap_domain::ports::{IndexedRequest, Matches, SearchIndex, TextSearch};
use roadmap_store::columns::Id;
use roadmap_store::rows::SummaryRow;

use crate::SqliteStore;
use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::rows::{SummarySql, placed_joins, summary_sql};
use crate::schema::{search_documents, search_trigrams, tag_counters, vote_tallies, workspaces};
use crate::statement::statement;

/// Maximum words that are read for a trigram in one statement.
const WORDS_PER_TRIGRAM: usize = 250;

/// How long an expression is known as common.
const COMMON_LIFE: Duration = Duration::from_secs(60);

/// Maximum number of expressions that are known as common, of all workspaces, and maximum length of each in bytes.
const COMMON_EXPRESSIONS: usize = 20_000;
const COMMON_LENGTH: usize = 200;

statement! {
    /// Selects matches of the index, the oldest first. The rows of a workspace are one range of row numbers.
    OldestMatches { terms: String => Text, first: i64 => BigInt, last: i64 => BigInt, limit: i64 => BigInt } -> BigInt,
    "SELECT rowid FROM search_index WHERE search_index MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?"
}

statement! {
    /// Selects matches of the index, the newest first.
    NewestMatches { terms: String => Text, first: i64 => BigInt, last: i64 => BigInt, limit: i64 => BigInt } -> BigInt,
    "SELECT rowid FROM search_index WHERE search_index MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?"
}

statement! {
    /// Selects the numbers of votes of a JSON array of row numbers.
    Votes { rows: String => Text } -> (BigInt, BigInt),
    "SELECT vote_tallies.row_number, votes_count
     FROM json_each(?) AS rows CROSS JOIN vote_tallies ON vote_tallies.row_number = rows.value"
}

statement! {
    /// Selects the documents of a JSON array of row numbers.
    Documents { rows: String => Text } -> (BigInt, Binary, BigInt, Text, Text, Text),
    "SELECT search_documents.row_number, search_documents.request_id, votes_count, title, tags, description
     FROM json_each(?) AS rows
     CROSS JOIN search_documents ON search_documents.row_number = rows.value
     CROSS JOIN vote_tallies ON vote_tallies.row_number = rows.value"
}

statement! {
    /// Selects the public feature requests of a JSON array, in its order, with their descriptions.
    Results { workspace: Id => Binary, requests: String => Text } -> (SummarySql, Text),
    concat!(
        "WITH scope (workspace) AS (SELECT ?)
         SELECT ", summary_sql!(), ", feature_requests.description_text FROM scope CROSS JOIN json_each(?) AS request
         CROSS JOIN feature_requests ON feature_requests.workspace_id = scope.workspace
                AND feature_requests.id = unhex(request.value) ", placed_joins!(), "
         WHERE NOT vote_tallies.private AND vote_tallies.root_id IS NULL ORDER BY request.key"
    )
}

/// Row number, feature request, votes, and the terms of title, tags and description.
type DocumentRow = (i64, Id, i64, String, String, String);

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

/// The expressions that were common within the last minute, so that their matches are not counted again.
///
/// An expression may have fewer matches in the meantime, if feature requests were deleted. It is treated as common
/// until its time ends, which the contract of [`SearchIndex::matches`] allows.
#[derive(Debug, Default)]
pub(crate) struct CommonExpressions(Mutex<HashMap<(i64, String), (Instant, usize)>>);

impl CommonExpressions {
    /// Whether an expression of the workspace with this first row had more than `limit` matches.
    fn exceeds(&self, first_row: i64, terms: &str, limit: usize) -> bool {
        let key = (first_row, terms.to_owned());
        self.lock().get(&key).is_some_and(|(since, exceeded)| *exceeded >= limit && since.elapsed() < COMMON_LIFE)
    }

    /// Remembers that an expression has more than `limit` matches.
    fn insert(&self, first_row: i64, terms: &str, limit: usize) {
        if terms.len() > COMMON_LENGTH {
            return;
        }
        let mut all = self.lock();
        if all.len() >= COMMON_EXPRESSIONS {
            all.clear();
        }
        all.insert((first_row, terms.to_owned()), (Instant::now(), limit));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(i64, String), (Instant, usize)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl TextSearch for SqliteStore {
    async fn search(&self, workspace: WorkspaceId, search: Search) -> Result<Vec<Hit>, StoreError> {
        let workspace = Id(workspace.uuid());
        let limit = self.search_time;
        let common = self.common_expressions.clone();
        let work = self.readers.run_in_snapshot(move |connection| {
            let deadline = Deadline::new(limit);
            deadline.check()?;
            let mut index = Index::open(connection, workspace, deadline, &common)?;
            // No method of the index waits for anything.
            let hits = search.run(&mut index).now_or_never();
            Ok(hits.unwrap_or_else(|| Err(StoreError::Fatal("a search on SQLite waited".into())))?)
        });
        // The wait for a connection has a separate limit.
        tokio::time::timeout(limit + self.readers.wait(), work).await.unwrap_or_else(|_| Err(deadline_exceeded(limit)))
    }

    async fn load_results(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<SearchResult>, StoreError> {
        let requests: Vec<Id> = requests.iter().map(|request| Id(request.uuid())).collect();
        let results = Results { workspace: Id(workspace.uuid()), requests: json_ids(&requests) };
        let rows: Vec<(SummaryRow, String)> = self.readers.run(move |connection| Ok(results.load(connection)?)).await?;
        let result =
            |(row, description)| Ok(SearchResult { summary: FeatureRequestSummary::try_from(row)?, description });
        rows.into_iter().map(result).collect()
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
            let end = word.char_indices().nth(beginning).map_or(word.len(), |(end, _)| end);
            let beginning = word.get(..end).unwrap_or(word);
            words = search_trigrams::table
                .filter(search_trigrams::workspace_id.eq(workspace))
                .filter(search_trigrams::trigram.eq(&trigram))
                .filter(search_trigrams::word.ge(beginning))
                // The last character in byte order. No word has it.
                .filter(search_trigrams::word.lt(format!("{beginning}\u{10ffff}")))
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

/// The index of one workspace.
struct Index<'a> {
    connection: &'a mut SqliteConnection,
    workspace: Id,
    /// The row numbers of the workspace: its number in the upper half, tag numbers in the lower half.
    first_row: i64,
    last_row: i64,
    requests: i64,
    deadline: Deadline,
    common: &'a CommonExpressions,
    /// Number of rows that walks have scanned.
    rows_scanned: usize,
}

impl<'a> Index<'a> {
    fn open(
        connection: &'a mut SqliteConnection,
        workspace: Id,
        deadline: Deadline,
        common: &'a CommonExpressions,
    ) -> Result<Self, SqlError> {
        let number: Option<i64> = workspaces::table
            .filter(workspaces::id.eq(workspace))
            .select(workspaces::number)
            .first(connection)
            .optional()?;
        let requests: Option<i64> = tag_counters::table
            .filter(tag_counters::workspace_id.eq(workspace))
            .select(tag_counters::last_tag_number)
            .first(connection)
            .optional()?;
        let (number, requests) = (number.unwrap_or(0), requests.unwrap_or(0));
        let first_row = number << u32::BITS;
        let last_row = first_row + i64::from(u32::MAX);
        Ok(Self { connection, workspace, first_row, last_row, requests, deadline, common, rows_scanned: 0 })
    }

    /// Returns the row numbers of up to `limit` matches, the oldest first.
    fn matches(&mut self, terms: String, limit: usize) -> Result<Vec<i64>, SqlError> {
        self.deadline.check()?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let matches = OldestMatches { terms, first: self.first_row, last: self.last_row, limit };
        Ok(matches.load(self.connection)?)
    }

    /// Returns the row numbers of all matches, if there are at most `limit`.
    ///
    /// Whole words are looked up first, because they show at the least cost whether an expression is common: for a
    /// prefix, the index merges the lists of all words with it.
    fn find_matches(&mut self, expression: &Expression, fields: Fields, limit: usize) -> Result<Matches, SqlError> {
        let without_prefixes = expression.without_prefixes();
        let terms = match_terms(&without_prefixes, fields);
        if self.common.exceeds(self.first_row, &terms, limit) {
            return Ok(Matches::TooMany);
        }
        let matches = self.matches(terms.clone(), limit + 1)?;
        if matches.len() > limit {
            self.common.insert(self.first_row, &terms, limit);
            return Ok(Matches::TooMany);
        }
        if *expression == without_prefixes {
            return Ok(Matches::All(matches));
        }
        let matches = self.matches(match_terms(expression, fields), limit + 1)?;
        Ok(if matches.len() > limit { Matches::TooManyWithPrefixes } else { Matches::All(matches) })
    }

    fn load_votes(&mut self, rows: &[i64]) -> Result<Vec<(i64, i64)>, SqlError> {
        self.deadline.check()?;
        Ok(Votes { rows: json(rows) }.load(self.connection)?)
    }

    /// Loads documents in the order of the rows.
    fn load_documents(&mut self, rows: &[i64]) -> Result<Vec<IndexedRequest>, SqlError> {
        self.deadline.check()?;
        let documents: Vec<DocumentRow> = Documents { rows: json(rows) }.load(self.connection)?;
        Ok(documents.into_iter().map(indexed_request).collect())
    }

    fn find_most_voted(
        &mut self,
        expression: &Expression,
        fields: Fields,
        limit: usize,
        count: usize,
    ) -> Result<Option<Vec<IndexedRequest>>, SqlError> {
        let Matches::All(matches) = self.find_matches(expression, fields, limit)? else { return Ok(None) };
        let mut matches = self.load_votes(&matches)?;
        matches.sort_unstable_by_key(|(row, votes)| Reverse((*votes, *row)));
        matches.truncate(count);
        let rows: Vec<i64> = matches.into_iter().map(|(row, _)| row).collect();
        self.load_documents(&rows).map(Some)
    }

    fn walk_down(&mut self, expression: &Expression, fields: Fields) -> Result<Vec<IndexedRequest>, SqlError> {
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
        let matcher = Matcher::new(expression, fields);
        let mut matches = Vec::with_capacity(CANDIDATE_LIMIT);
        let mut rows = walk.load_iter::<DocumentRow, DefaultLoadingMode>(self.connection)?;
        let mut scanned = 0;
        while should_continue_scan(scanned, matches.len())
            && let Some(row) = rows.next()
        {
            scanned += 1;
            self.rows_scanned += 1;
            self.deadline.check()?;
            let request = indexed_request(row?);
            if matcher.matches(&request.document) {
                matches.push(request);
            }
        }
        Ok(matches)
    }

    fn find_newest(
        &mut self,
        expression: &Expression,
        fields: Fields,
        rows: usize,
        count: usize,
    ) -> Result<Vec<IndexedRequest>, SqlError> {
        self.deadline.check()?;
        let oldest: Option<i64> = search_documents::table
            .filter(search_documents::row_number.between(self.first_row, self.last_row))
            .order(search_documents::row_number.desc())
            .select(search_documents::row_number)
            .offset(i64::try_from(rows.saturating_sub(1)).unwrap_or(i64::MAX))
            .first(self.connection)
            .optional()?;
        let (terms, limit) = (match_terms(expression, fields), i64::try_from(count).unwrap_or(i64::MAX));
        let newest = NewestMatches { terms, first: oldest.unwrap_or(self.first_row), last: self.last_row, limit };
        let newest: Vec<i64> = newest.load(self.connection)?;
        self.load_documents(&newest)
    }
}

#[async_trait]
impl SearchIndex for Index<'_> {
    async fn request_count(&mut self) -> Result<u64, StoreError> {
        Ok(self.requests.unsigned_abs())
    }

    async fn matches(&mut self, lookups: &[(Expression, Fields)], limit: usize) -> Result<Vec<Matches>, StoreError> {
        let mut all = Vec::with_capacity(lookups.len());
        for (expression, fields) in lookups {
            let mut matches = self.find_matches(expression, *fields, limit)?;
            if let Matches::All(rows) = &mut matches {
                rows.iter_mut().for_each(|row| *row &= i64::from(u32::MAX));
            }
            all.push(matches);
        }
        Ok(all)
    }

    async fn similar_words(&mut self, words: &[&str], limit: usize) -> Result<Vec<Vec<String>>, StoreError> {
        let (workspace, deadline) = (self.workspace, self.deadline);
        let mut all = Vec::with_capacity(words.len());
        for word in words {
            all.push(similar_words(self.connection, workspace, word, limit, deadline)?.0);
        }
        Ok(all)
    }

    async fn votes(&mut self, numbers: &[i64]) -> Result<Vec<(i64, i64)>, StoreError> {
        let rows: Vec<i64> = numbers.iter().map(|number| self.first_row + number).collect();
        let votes = self.load_votes(&rows)?;
        Ok(votes.into_iter().map(|(row, votes)| (row - self.first_row, votes)).collect())
    }

    async fn documents(&mut self, numbers: &[i64]) -> Result<Vec<IndexedRequest>, StoreError> {
        let rows: Vec<i64> = numbers.iter().map(|number| self.first_row + number).collect();
        Ok(self.load_documents(&rows)?)
    }

    async fn most_voted(
        &mut self,
        expression: &Expression,
        fields: Fields,
        limit: usize,
        count: usize,
    ) -> Result<Option<Vec<IndexedRequest>>, StoreError> {
        Ok(self.find_most_voted(expression, fields, limit, count)?)
    }

    async fn walk(&mut self, expression: &Expression, fields: Fields) -> Result<Vec<IndexedRequest>, StoreError> {
        Ok(self.walk_down(expression, fields)?)
    }

    async fn newest(
        &mut self,
        expression: &Expression,
        fields: Fields,
        rows: usize,
        count: usize,
    ) -> Result<Vec<IndexedRequest>, StoreError> {
        Ok(self.find_newest(expression, fields, rows, count)?)
    }

    async fn any(
        &mut self,
        expression: &Expression,
        fields: Fields,
        count: usize,
    ) -> Result<Vec<IndexedRequest>, StoreError> {
        let oldest = self.matches(match_terms(expression, fields), count)?;
        Ok(self.load_documents(&oldest)?)
    }
}

/// Returns a JSON array of row numbers.
fn json(rows: &[i64]) -> String {
    let numbers: Vec<String> = rows.iter().map(i64::to_string).collect();
    format!("[{}]", numbers.join(","))
}

fn indexed_request((row_number, request, votes_count, title, tags, description): DocumentRow) -> IndexedRequest {
    IndexedRequest {
        id: FeatureRequestId::new(request.0),
        number: row_number & i64::from(u32::MAX),
        votes_count,
        document: SearchDocument { title, tags, description },
    }
}

/// Converts an expression to the query syntax of the index. Terms cannot be interpreted as syntax ([`Expression`]).
fn match_terms(expression: &Expression, fields: Fields) -> String {
    let terms = render(expression);
    match fields {
        Fields::Any => terms,
        Fields::Title => format!("title : ({terms})"),
    }
}

fn render(expression: &Expression) -> String {
    let joined = |parts: &[Expression], operator: &str| {
        let parts: Vec<String> = parts.iter().map(render).collect();
        if let [one] = parts.as_slice() { one.clone() } else { format!("({})", parts.join(operator)) }
    };
    match expression {
        Expression::Term(term) => format!("\"{term}\""),
        Expression::Prefix(start) => format!("\"{start}\"*"),
        Expression::All(parts) => joined(parts, " AND "),
        Expression::Any(parts) => joined(parts, " OR "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, database};
    use diesel::connection::{Connection, InstrumentationEvent, SimpleConnection};
    use roadmap_domain::error::ErrorChain;
    use roadmap_domain::model::search::{QueryWord, SearchQuery};
    use roadmap_domain::policy::search::PROBE_ROWS;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use uuid::Uuid;

    fn expression(query: &str) -> Expression {
        let query = SearchQuery::parse("query", query).unwrap();
        Expression::All(query.words().iter().map(QueryWord::expression).collect())
    }

    #[test]
    fn expressions_are_rendered_in_the_syntax_of_the_index() {
        let expression = expression("lichens quokkas");
        assert_eq!(
            match_terms(&expression.without_prefixes(), Fields::Any),
            r#"(("lichen" OR "lichensquokka") AND ("quokka" OR "lichensquokka"))"#
        );
        assert_eq!(
            match_terms(&expression, Fields::Any),
            r#"(("lichen" OR "lichensquokka") AND ("quokka" OR "quokkas"* OR "lichensquokka"))"#
        );
        let one = Expression::Any(vec![Expression::Prefix("quo".to_owned())]);
        assert_eq!(match_terms(&one, Fields::Title), r#"title : ("quo"*)"#);
    }

    #[test]
    fn the_index_returns_few_matches_by_votes_and_none_above_the_limit() {
        let (_folder, options) = database();
        let mut connection = fixtures::connection(&options.path);
        let rows = "PRAGMA foreign_keys = OFF;
             INSERT INTO workspaces VALUES (1, unhex(printf('%032x', 1)), 'acme', 0), (2, x'02', 'umbrella', 0);
             INSERT INTO tag_counters (workspace_id, last_tag_number) VALUES (unhex(printf('%032x', 1)), 3);
             INSERT INTO vote_tallies (row_number, workspace_id, request_id, votes_count) VALUES
                 (4294967297, x'01', x'01', 5), (4294967298, x'01', x'02', 7), (4294967299, x'01', x'03', 5),
                 (8589934593, x'02', x'01', 9);
             INSERT INTO search_documents
                 SELECT row_number, workspace_id, unhex(printf('%032x', row_number)), 'widget/widgets', '', '', 0
                 FROM vote_tallies;
             INSERT INTO search_index (rowid, title, tags, description)
                 SELECT row_number, title, tags, description FROM search_documents;";
        connection.batch_execute(rows).unwrap();
        let common = CommonExpressions::default();
        let mut index = Index::open(&mut connection, Id(Uuid::from_u128(1)), no_deadline(), &common).unwrap();
        let expression = expression("widgets");
        for (limit, expected) in [(2, None), (3, Some(vec![2, 3]))] {
            let requests = index.find_most_voted(&expression, Fields::Any, limit, 2).unwrap();
            let numbers = requests.map(|requests| requests.iter().map(|request| request.number).collect::<Vec<_>>());
            assert_eq!(numbers, expected);
            let is_short = matches!(index.find_matches(&expression, Fields::Any, limit).unwrap(), Matches::All(all) if all.len() == 3);
            assert_eq!(is_short, expected.is_some());
        }
    }

    fn no_deadline() -> Deadline {
        Deadline::new(Duration::from_secs(600))
    }

    /// Inserts `count` feature requests with one vote each and the word `widget`, and as many newer ones without votes
    /// and with the word `gadget`. The newer ones and one in forty of the older ones have the word `gizmo`.
    fn old_and_new_requests(connection: &mut SqliteConnection, count: usize) {
        let rows = format!(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO workspaces VALUES (1, unhex(printf('%032x', 1)), 'acme', 0);
             CREATE TEMP TABLE numbers AS
                 WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2 * {count})
                 SELECT n, (1 << 32) + n AS row_number FROM numbers;
             INSERT INTO tag_counters (workspace_id, last_tag_number) VALUES (unhex(printf('%032x', 1)), 2 * {count});
             INSERT INTO vote_tallies (row_number, workspace_id, request_id, votes_count)
                 SELECT row_number, unhex(printf('%032x', 1)), randomblob(16), n <= {count} FROM numbers;
             INSERT INTO search_documents
                 SELECT row_number, unhex(printf('%032x', 1)), randomblob(16),
                        iif(n <= {count}, ' widget/widget', ' gadget/gadget')
                        || iif(n > {count} OR n % 40 = 0, ' gizmo/gizmo', ''), '', '', 0 FROM numbers;
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

    /// Decision 4.
    #[test]
    fn a_walk_looks_at_no_more_rows_than_its_budget() {
        let (_folder, options) = database();
        let mut connection = fixtures::connection(&options.path);
        old_and_new_requests(&mut connection, 5_000);
        let common = CommonExpressions::default();
        let statements = count_statements(&mut connection);
        // One in forty of the older feature requests has the word `gizmo`.
        for (word, rows, expected) in [
            ("widget", CANDIDATE_LIMIT, CANDIDATE_LIMIT),
            ("gadget", PROBE_ROWS, 0),
            ("gizmo", MAX_SCANNED_ROWS, MAX_SCANNED_ROWS / 40),
        ] {
            let mut index = Index::open(&mut connection, Id(Uuid::from_u128(1)), no_deadline(), &common).unwrap();
            let matches = index.walk_down(&expression(word), Fields::Any).unwrap();
            assert_eq!((matches.len(), index.rows_scanned), (expected, rows), "{word}");
        }
        statements.store(0, Ordering::Relaxed);
        // The newer feature requests have the word, and none of them is among the most voted ones.
        let search = Search::new(SearchQuery::parse("query", "gizmo").unwrap(), 15);
        let mut index = Index::open(&mut connection, Id(Uuid::from_u128(1)), no_deadline(), &common).unwrap();
        let hits = search.run(&mut index).now_or_never().unwrap().unwrap();
        assert_eq!((hits.len(), hits[0].votes_count), (15, 1));
        assert!(statements.load(Ordering::Relaxed) <= 15, "{statements:?}");
    }

    #[test]
    fn common_expressions_are_counted_once() {
        let (_folder, options) = database();
        let mut connection = fixtures::connection(&options.path);
        old_and_new_requests(&mut connection, 10);
        let statements = count_statements(&mut connection);
        let common = CommonExpressions::default();
        let mut index = Index::open(&mut connection, Id(Uuid::from_u128(1)), no_deadline(), &common).unwrap();
        let mut statements_of = |limit, expected| {
            statements.store(0, Ordering::Relaxed);
            let matches = index.find_matches(&expression("widget"), Fields::Any, limit).unwrap();
            assert_eq!(matches == Matches::TooMany, expected);
            statements.load(Ordering::Relaxed)
        };
        assert_eq!(statements_of(9, true), 1);
        assert_eq!(statements_of(9, true), 0);
        assert_eq!(statements_of(5, true), 0);
        // It is not known whether there are more than 10.
        assert!(statements_of(10, false) > 0);
        assert!(!common.exceeds(0, "\"widget\"", 5), "of another workspace");
        common.insert(0, &"a".repeat(COMMON_LENGTH + 1), 5);
        assert_eq!(common.lock().len(), 1);
    }

    /// Decision 2: a search query that runs too long is 503 `search_unavailable`.
    #[test]
    fn a_search_ends_at_its_deadline_between_rows() {
        let (_folder, options) = database();
        let mut connection = fixtures::connection(&options.path);
        old_and_new_requests(&mut connection, 1_100);
        let common = CommonExpressions::default();
        let (workspace, passed) = (Id(Uuid::from_u128(1)), Deadline::new(Duration::ZERO));
        let mut index = Index::open(&mut connection, workspace, passed, &common).unwrap();
        let error = StoreError::from(index.walk_down(&expression("gadget"), Fields::Any).unwrap_err());
        assert_eq!(
            ErrorChain::new(&error).to_string(),
            "Service is temporarily unavailable: the search took longer than 0 ms"
        );
        assert_eq!(index.rows_scanned, 1);
        let search = Search::new(SearchQuery::parse("query", "gadget").unwrap(), 15);
        assert!(search.run(&mut index).now_or_never().unwrap().is_err());
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
