//! Full-text search for public feature requests.
//!
//! The algorithm of a search is in the domain ([`Search::run`]); what it asks the index for are statements here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Double, Integer, Nullable, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::{FeatureRequestSummary, SearchResult};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::search::{Expression, Fields, SearchDocument};
use roadmap_domain::policy::search::{
    CANDIDATE_LIMIT, Hit, MAX_SCANNED_ROWS, PROBE_ROWS, Search, should_continue_scan,
};
use roadmap_domain::ports::{IndexedRequest, Matches, SearchIndex, TextSearch};
use roadmap_store::rows::SummaryRow;
use uuid::Uuid;

use crate::PostgresReader;
use crate::rows::{placed_requests, summary_columns};
use crate::schema::feature_requests;
use crate::session::Session;
use crate::statement::statement;
use crate::writes::{any_place, title_place};

/// The limits, in the type of SQL parameters.
const ROW_LIMIT: i64 = number(CANDIDATE_LIMIT);
const SCAN_LIMIT: i64 = number(MAX_SCANNED_ROWS);

#[expect(clippy::cast_possible_wrap, reason = "for small limits")]
const fn number(limit: usize) -> i64 {
    limit as i64
}

/// The first tier that comprises more than one vote count.
const FIRST_WIDE_TIER: i32 = 16;

/// How long the common terms of a workspace are used.
const STATISTICS_LIFE: Duration = Duration::from_secs(60);

/// Maximum number of workspaces whose common terms are kept.
const STATISTICS_WORKSPACES: usize = 1_000;

/// Maximum number of queries of a workspace that are remembered as having too many matches, and maximum length of each in
/// bytes.
const EXCEEDED_QUERIES: usize = 1_000;
const EXCEEDED_LENGTH: usize = 500;

/// How many times more matches than the limit the statistics must show, so that matches are not counted.
const CERTAINLY_MORE: f64 = 4.0;

statement! {
    /// Selects the matches of each query by its position, or one more than `limit`. The first row has position 0 and
    /// the number of feature requests of the workspace.
    SelectMatches { workspace: Uuid => SqlUuid, queries: Vec<String> => Array<Text>, limit: i64 => BigInt }
        -> (Integer, BigInt),
    "SELECT query_position, tag_number FROM search_matches({workspace}, {queries}::tsquery[], {limit})"
}

statement! {
    /// Selects the most voted matches of the index, or one row without a feature request if there are too many matches.
    MostVoted { workspace: Uuid => SqlUuid, query: String => Text, limit: i64 => BigInt, enough: i64 => BigInt }
        -> Nullable<(SqlUuid, BigInt, BigInt, Integer, Text, Text, Text)>,
    "SELECT request_id, tag_number, votes_count, tier, title, tags, description
     FROM search_most_voted({workspace}, {query}::tsquery, {limit}, {enough})"
}

statement! {
    /// Selects matches by a walk down the tiers of votes, from a given position, until there are enough matches or the
    /// limit of scanned rows is reached.
    WalkDown {
        workspace: Uuid => SqlUuid,
        query: String => Text,
        from_tier: i32 => Integer,
        from_number: i64 => BigInt,
        to_tier: i32 => Integer,
        scan_limit: i64 => BigInt,
        enough: i64 => BigInt,
    } -> (SqlUuid, BigInt, BigInt, Integer, Text, Text, Text),
    "SELECT request_id, tag_number, votes_count, tier, title, tags, description
     FROM search_walk({workspace}, {query}::tsquery, {from_tier}, {from_number}, {to_tier}, {scan_limit}, {enough})"
}

statement! {
    /// Selects the newest matches within a number of the newest feature requests.
    NewestMatches {
        workspace: Uuid => SqlUuid,
        query: String => Text,
        scan_limit: i64 => BigInt,
        enough: i64 => BigInt,
    }
        -> (SqlUuid, BigInt, BigInt, Integer, Text, Text, Text),
    "SELECT request_id, tag_number, votes_count, tier, title, tags, description
     FROM search_newest({workspace}, {query}::tsquery, {scan_limit}, {enough})"
}

statement! {
    /// Selects any matches, in the order of the index.
    AnyMatches { workspace: Uuid => SqlUuid, query: String => Text, enough: i64 => BigInt }
        -> (SqlUuid, BigInt, BigInt, Integer, Text, Text, Text),
    "SELECT request_id, tag_number, votes_count, tier, title, tags, description
     FROM search_any({workspace}, {query}::tsquery, {enough})"
}

statement! {
    /// Selects the numbers of votes of feature requests.
    Votes { workspace: Uuid => SqlUuid, numbers: Vec<i64> => Array<BigInt> } -> (BigInt, BigInt),
    "SELECT documents.tag_number, tallies.votes_count
     FROM search_documents AS documents
     JOIN vote_tallies AS tallies
       ON tallies.workspace_id = documents.workspace_id AND tallies.request_id = documents.request_id
     WHERE documents.workspace_id = {workspace} AND documents.tag_number = ANY ({numbers})"
}

statement! {
    /// Selects documents.
    Documents { workspace: Uuid => SqlUuid, numbers: Vec<i64> => Array<BigInt> }
        -> (SqlUuid, BigInt, BigInt, Integer, Text, Text, Text),
    "SELECT documents.request_id, documents.tag_number, tallies.votes_count, tallies.tier,
            documents.title, documents.tags, documents.description
     FROM search_documents AS documents
     JOIN vote_tallies AS tallies
       ON tallies.workspace_id = documents.workspace_id AND tallies.request_id = documents.request_id
     WHERE documents.workspace_id = {workspace} AND documents.tag_number = ANY ({numbers})"
}

statement! {
    /// Selects the words that are most similar to a word.
    SimilarWords { workspace: Uuid => SqlUuid, word: String => Text, limit: i64 => BigInt } -> Text,
    "SELECT word FROM search_similar_words({workspace}, {word}, {limit})"
}

statement! {
    /// Selects the terms that the statistics know as common, with the expected number of documents.
    SelectCommonTerms { workspace: Uuid => SqlUuid } -> (Text, Double),
    "SELECT term, documents FROM search_common_terms({workspace})"
}

/// Feature request, number, votes, tier, and the terms of title, tags and description.
type DocumentRow = (Uuid, i64, i64, i32, String, String, String);

/// What is known of the terms of a workspace, for a minute.
#[derive(Debug)]
struct WorkspaceTerms {
    since: Instant,
    /// The terms that the planner's statistics know as common, with the expected number of documents.
    expected: HashMap<String, f64>,
    /// The queries that had more matches than this when they were last counted.
    ///
    /// They may have fewer in the meantime, if feature requests were deleted. The contract of [`SearchIndex::matches`]
    /// allows that.
    exceeded: Mutex<HashMap<String, usize>>,
}

impl WorkspaceTerms {
    fn exceeds(&self, query: &str, limit: usize) -> bool {
        lock(&self.exceeded).get(query).is_some_and(|exceeded| *exceeded >= limit)
    }

    /// Remembers that a query has more matches than `limit`.
    fn insert_exceeded(&self, query: &str, limit: usize) {
        let mut exceeded = lock(&self.exceeded);
        if exceeded.len() < EXCEEDED_QUERIES && query.len() <= EXCEEDED_LENGTH {
            exceeded.insert(query.to_owned(), limit);
        }
    }
}

/// What is known of the terms of workspaces, as of some time in the last minute.
#[derive(Debug, Default)]
pub(crate) struct TermStatistics(Mutex<HashMap<Uuid, Arc<WorkspaceTerms>>>);

impl TermStatistics {
    /// Returns what is known of a workspace. The statistics are read again after [`STATISTICS_LIFE`].
    async fn terms(&self, session: &Session, workspace: Uuid) -> Result<Arc<WorkspaceTerms>, StoreError> {
        if let Some(terms) = lock(&self.0).get(&workspace)
            && terms.since.elapsed() < STATISTICS_LIFE
        {
            return Ok(terms.clone());
        }
        let select = SelectCommonTerms { workspace };
        let rows: Vec<(String, f64)> = session.run(select.load(&mut session.connection()?)).await?;
        let expected = rows.into_iter().collect();
        let terms = Arc::new(WorkspaceTerms { since: Instant::now(), expected, exceeded: Mutex::default() });
        let mut all = lock(&self.0);
        if all.len() >= STATISTICS_WORKSPACES {
            all.clear();
        }
        all.insert(workspace, terms.clone());
        Ok(terms)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl TextSearch for PostgresReader {
    async fn search(&self, workspace: WorkspaceId, search: Search) -> Result<Vec<Hit>, StoreError> {
        let session = Session::autocommit(&self.searches, workspace).await?;
        let workspace = workspace.uuid();
        let terms = self.term_statistics.terms(&session, workspace).await?;
        search.run(&mut Index { session, workspace, terms, requests: None }).await
    }

    async fn load_results(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<SearchResult>, StoreError> {
        let session = self.session(workspace).await?;
        let ids: Vec<Uuid> = requests.iter().map(|request| request.uuid()).collect();
        let select = placed_requests()
            .filter(feature_requests::workspace_id.eq(workspace.uuid()))
            .filter(feature_requests::id.eq_any(&ids))
            .filter(feature_requests::root_id.is_null())
            .filter(feature_requests::private.eq(false))
            .select((summary_columns(), feature_requests::description_text));
        let mut rows: Vec<(SummaryRow, String)> = session.run(select.load(&mut session.connection()?)).await?;
        rows.sort_by_key(|(row, _)| ids.iter().position(|id| *id == row.id.0));
        rows.into_iter()
            .map(|(row, description)| Ok(SearchResult { summary: FeatureRequestSummary::try_from(row)?, description }))
            .collect()
    }
}

/// The index of one workspace.
struct Index {
    session: Session,
    workspace: Uuid,
    terms: Arc<WorkspaceTerms>,
    /// The number of feature requests, once it is known.
    requests: Option<u64>,
}

impl Index {
    /// Returns the matches that the statistics show, at least. 0 if they show nothing.
    fn expected_matches(&self, expression: &Expression) -> f64 {
        match expression {
            Expression::Term(term) | Expression::Prefix(term) => {
                let term = format!("{}{term}", any_place(self.workspace));
                self.terms.expected.get(&term).copied().unwrap_or(0.0)
            }
            Expression::Any(parts) => parts.iter().map(|part| self.expected_matches(part)).fold(0.0, f64::max),
            Expression::All(_) => 0.0,
        }
    }

    fn is_certainly_common(&self, expression: &Expression, limit: usize) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "for small limits")]
        let limit = limit as f64;
        self.expected_matches(expression) > CERTAINLY_MORE * limit
    }

    /// Selects the matches of queries. Returns `None` for those with more matches than `limit`.
    async fn select_matches(
        &mut self,
        queries: Vec<String>,
        limit: usize,
    ) -> Result<Vec<Option<Vec<i64>>>, StoreError> {
        let mut all = vec![Some(Vec::new()); queries.len()];
        let select = SelectMatches { workspace: self.workspace, queries, limit: number(limit) };
        let rows: Vec<(i32, i64)> = self.session.run(select.load(&mut self.session.connection()?)).await?;
        for (position, number) in rows {
            match usize::try_from(position).ok().and_then(|position| position.checked_sub(1)) {
                None => self.requests = Some(number.unsigned_abs()),
                Some(position) => all.get_mut(position).into_iter().flatten().for_each(|list| list.push(number)),
            }
        }
        Ok(all.into_iter().map(|list| list.filter(|list| list.len() <= limit)).collect())
    }
}

#[async_trait]
impl SearchIndex for Index {
    async fn request_count(&mut self) -> Result<u64, StoreError> {
        if self.requests.is_none() {
            self.select_matches(Vec::new(), 0).await?;
        }
        Ok(self.requests.unwrap_or(0))
    }

    async fn matches(&mut self, lookups: &[(Expression, Fields)], limit: usize) -> Result<Vec<Matches>, StoreError> {
        let terms = self.terms.clone();
        let mut all = vec![Matches::TooMany; lookups.len()];
        // Those that are counted, and their queries. An expression with a prefix has another query without it.
        let (mut counted, mut queries) = (Vec::new(), Vec::new());
        for (entry, (expression, fields)) in all.iter_mut().zip(lookups) {
            let without_prefixes = match_terms(self.workspace, &expression.without_prefixes(), *fields);
            if self.is_certainly_common(expression, limit) || terms.exceeds(&without_prefixes, limit) {
                continue;
            }
            if expression.has_prefix() {
                queries.push(match_terms(self.workspace, expression, *fields));
            }
            queries.push(without_prefixes.clone());
            counted.push((entry, expression.has_prefix(), without_prefixes));
        }
        let mut match_lists = self.select_matches(queries, limit).await?.into_iter();
        for (entry, has_prefix, without_prefixes) in counted {
            let matches = match_lists.next().flatten();
            let whole = if has_prefix { match_lists.next().flatten() } else { None };
            *entry = match (matches, whole) {
                (Some(all), _) => Matches::All(all),
                (None, Some(_)) => Matches::TooManyWithPrefixes,
                (None, None) => {
                    terms.insert_exceeded(&without_prefixes, limit);
                    Matches::TooMany
                }
            };
        }
        Ok(all)
    }

    async fn similar_words(&mut self, words: &[&str], limit: usize) -> Result<Vec<Vec<String>>, StoreError> {
        let mut all = Vec::with_capacity(words.len());
        for word in words {
            let similar = SimilarWords { workspace: self.workspace, word: (*word).to_owned(), limit: number(limit) };
            all.push(self.session.run(similar.load(&mut self.session.connection()?)).await?);
        }
        Ok(all)
    }

    async fn votes(&mut self, numbers: &[i64]) -> Result<Vec<(i64, i64)>, StoreError> {
        let votes = Votes { workspace: self.workspace, numbers: numbers.to_vec() };
        self.session.run(votes.load(&mut self.session.connection()?)).await
    }

    async fn documents(&mut self, numbers: &[i64]) -> Result<Vec<IndexedRequest>, StoreError> {
        let documents = Documents { workspace: self.workspace, numbers: numbers.to_vec() };
        let rows: Vec<DocumentRow> = self.session.run(documents.load(&mut self.session.connection()?)).await?;
        Ok(indexed_requests(rows))
    }

    async fn most_voted(
        &mut self,
        expression: &Expression,
        fields: Fields,
        limit: usize,
        count: usize,
    ) -> Result<Option<Vec<IndexedRequest>>, StoreError> {
        let query = match_terms(self.workspace, expression, fields);
        if self.terms.exceeds(&query, limit) {
            return Ok(None);
        }
        let select =
            MostVoted { workspace: self.workspace, query: query.clone(), limit: number(limit), enough: number(count) };
        let rows: Vec<Option<DocumentRow>> = self.session.run(select.load(&mut self.session.connection()?)).await?;
        let requests = rows.into_iter().collect::<Option<Vec<DocumentRow>>>().map(indexed_requests);
        if requests.is_none() {
            self.terms.insert_exceeded(&query, limit);
        }
        Ok(requests)
    }

    async fn walk(&mut self, expression: &Expression, fields: Fields) -> Result<Vec<IndexedRequest>, StoreError> {
        let query = match_terms(self.workspace, expression, fields);
        walk_down(&self.session, self.workspace, query).await.map(indexed_requests)
    }

    async fn newest(
        &mut self,
        expression: &Expression,
        fields: Fields,
        rows: usize,
        count: usize,
    ) -> Result<Vec<IndexedRequest>, StoreError> {
        let query = match_terms(self.workspace, expression, fields);
        let newest =
            NewestMatches { workspace: self.workspace, query, scan_limit: number(rows), enough: number(count) };
        self.session.run(newest.load(&mut self.session.connection()?)).await.map(indexed_requests)
    }

    async fn any(
        &mut self,
        expression: &Expression,
        fields: Fields,
        count: usize,
    ) -> Result<Vec<IndexedRequest>, StoreError> {
        let query = match_terms(self.workspace, expression, fields);
        let any = AnyMatches { workspace: self.workspace, query, enough: number(count) };
        self.session.run(any.load(&mut self.session.connection()?)).await.map(indexed_requests)
    }
}

fn indexed_requests(rows: Vec<DocumentRow>) -> Vec<IndexedRequest> {
    let request = |(id, number, votes_count, _, title, tags, description)| IndexedRequest {
        id: FeatureRequestId::new(id),
        number,
        votes_count,
        document: SearchDocument { title, tags, description },
    };
    rows.into_iter().map(request).collect()
}

/// Converts an expression to the query syntax of the index. Terms cannot be interpreted as syntax ([`Expression`]).
fn match_terms(workspace: Uuid, expression: &Expression, fields: Fields) -> String {
    let place = match fields {
        Fields::Any => any_place(workspace),
        Fields::Title => title_place(workspace),
    };
    render(&place, expression)
}

fn render(place: &str, expression: &Expression) -> String {
    let joined = |parts: &[Expression], operator: &str| {
        let parts: Vec<String> = parts.iter().map(|part| render(place, part)).collect();
        format!("({})", parts.join(operator))
    };
    match expression {
        Expression::Term(term) => format!("'{place}{term}'"),
        Expression::Prefix(start) => format!("'{place}{start}':*"),
        Expression::All(parts) => joined(parts, " & "),
        Expression::Any(parts) => joined(parts, " | "),
    }
}

/// Returns the most voted matches by a walk. If the last match is in a tier of several vote counts, other matches of
/// that tier may have more votes. In that case the rest of the tier is scanned, too.
async fn walk_down(session: &Session, workspace: Uuid, query: String) -> Result<Vec<DocumentRow>, StoreError> {
    let mut walk = WalkDown {
        workspace,
        query,
        from_tier: i32::MAX,
        from_number: i64::MAX,
        to_tier: 0,
        scan_limit: number(PROBE_ROWS),
        enough: ROW_LIMIT,
    };
    let mut rows: Vec<DocumentRow> = session.run(walk.clone().load(&mut session.connection()?)).await?;
    if should_continue_scan(PROBE_ROWS, rows.len()) {
        walk.scan_limit = SCAN_LIMIT;
        rows = session.run(walk.clone().load(&mut session.connection()?)).await?;
    }
    if let Some((_, number, _, tier, ..)) = rows.last()
        && *tier >= FIRST_WIDE_TIER
        && rows.len() >= CANDIDATE_LIMIT
    {
        (walk.from_tier, walk.from_number, walk.to_tier) = (*tier, *number, *tier);
        (walk.scan_limit, walk.enough) = (SCAN_LIMIT, SCAN_LIMIT);
        let rest: Vec<DocumentRow> = session.run(walk.load(&mut session.connection()?)).await?;
        rows.extend(rest);
    }
    rows.sort_by_key(|(_, number, votes_count, ..)| std::cmp::Reverse((*votes_count, *number)));
    rows.truncate(CANDIDATE_LIMIT);
    Ok(rows)
}
