//! Full-text search for public feature requests.
//!
//! The plan of a search comes from the domain ([`SearchPlan`]); its steps are statements here.

use async_trait::async_trait;
use diesel::IntoSql;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Bool, Double, Integer, Nullable, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::{FeatureRequestSummary, FoundFeatureRequest, Visibility};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::search::{QueryWord, SearchDocument, SearchQuery};
use roadmap_domain::policy::ranking::Candidate;
use roadmap_domain::policy::search_plan::{
    CANDIDATE_LIMIT, Fields, IndexCost, MAX_SCANNED_ROWS, Matches, PROBE_ROWS, SearchPlan, Step, should_continue_scan,
};
use roadmap_domain::ports::TextSearch;
use uuid::Uuid;

use crate::PostgresReader;
use crate::rows::{SummaryRow, placed_requests, summary_columns};
use crate::schema::feature_requests;
use crate::session::Session;
use crate::statement::statement;
use crate::writes::{any_place, title_place};

/// The costs of the index and of a walk in PostgreSQL.
const INDEX_COST: IndexCost = IndexCost { scanned_row: 0.4, least_matches: 100 };

/// The limits, in the type of SQL parameters.
const ROW_LIMIT: i64 = number(CANDIDATE_LIMIT);
const SCAN_LIMIT: i64 = number(MAX_SCANNED_ROWS);

#[expect(clippy::cast_possible_wrap, reason = "for small constants")]
const fn number(constant: usize) -> i64 {
    constant as i64
}

/// The first tier that comprises more than one vote count.
const FIRST_WIDE_TIER: i32 = 16;

statement! {
    /// Selects the most voted matches of the index, or one row without a feature request if a walk is cheaper.
    LookUp {
        workspace: Uuid => SqlUuid,
        query: String => Text,
        least_matches: i64 => BigInt,
        matches_per_request: f64 => Double,
        enough: i64 => BigInt,
    } -> Nullable<(SqlUuid, BigInt, BigInt, Integer, Text, Text, Text)>,
    "SELECT request_id, tag_number, votes_count, tier, title, tags, description
     FROM search_matches({workspace}, {query}::tsquery, {least_matches}, {matches_per_request}, {enough})"
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
    NewestMatches { workspace: Uuid => SqlUuid, query: String => Text, scan_limit: i64 => BigInt, enough: i64 => BigInt }
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
    /// Selects the words that are most similar to a word.
    SimilarWords { workspace: Uuid => SqlUuid, word: String => Text, most: i64 => BigInt } -> Text,
    "SELECT word FROM search_similar_words({workspace}, {word}, {most})"
}

/// Feature request, number, votes, tier, and the terms of title, tags and description.
type CandidateRow = (Uuid, i64, i64, i32, String, String, String);

#[async_trait]
impl TextSearch for PostgresReader {
    async fn candidates(
        &self,
        workspace: WorkspaceId,
        query: &SearchQuery,
        mut plan: SearchPlan,
    ) -> Result<Vec<Candidate>, StoreError> {
        let session = Session::autocommit(&self.searches, workspace).await?;
        while let Some(step) = plan.next_step() {
            let (Step::LookUp(fields) | Step::Walk(fields) | Step::Newest(fields) | Step::Any(fields)) = step;
            let terms = match_terms(workspace, query, fields);
            let rows = run(&session, step, workspace.uuid(), terms).await?;
            plan.record(match rows {
                Some(rows) => {
                    Matches::Found(rows.into_iter().filter_map(|row| candidate(row, query, fields)).collect())
                }
                None => Matches::TooMany,
            });
        }
        Ok(plan.into_candidates())
    }

    async fn similar_words(&self, workspace: WorkspaceId, word: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let session = Session::autocommit(&self.searches, workspace).await?;
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        let similar = SimilarWords { workspace: workspace.uuid(), word: word.to_owned(), most };
        session.run(similar.load(&mut session.connection()?)).await
    }

    async fn load_results(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
        visibility: Visibility,
    ) -> Result<Vec<FoundFeatureRequest>, StoreError> {
        let session = self.session(workspace).await?;
        let ids: Vec<Uuid> = requests.iter().map(|request| request.uuid()).collect();
        let shows_private = visibility == Visibility::All;
        let found = placed_requests()
            .filter(feature_requests::workspace_id.eq(workspace.uuid()))
            .filter(feature_requests::id.eq_any(&ids))
            .filter(feature_requests::private.eq(false).or(shows_private.into_sql::<Bool>()))
            .select((summary_columns(), feature_requests::description_text));
        let mut rows: Vec<(SummaryRow, String)> = session.run(found.load(&mut session.connection()?)).await?;
        rows.sort_by_key(|(row, _)| ids.iter().position(|id| *id == row.id));
        rows.into_iter()
            .map(|(row, description)| {
                Ok(FoundFeatureRequest { summary: FeatureRequestSummary::try_from(row)?, description })
            })
            .collect()
    }
}

/// Runs a step. Returns `None` if there are too many matches to look them up.
async fn run(
    session: &Session,
    step: Step,
    workspace: Uuid,
    query: String,
) -> Result<Option<Vec<CandidateRow>>, StoreError> {
    let enough = ROW_LIMIT;
    match step {
        Step::LookUp(_) => {
            let (least_matches, matches_per_request) =
                (INDEX_COST.least_matches.into(), INDEX_COST.matches_per_request());
            let look_up = LookUp { workspace, query, least_matches, matches_per_request, enough };
            let rows: Vec<Option<CandidateRow>> = session.run(look_up.load(&mut session.connection()?)).await?;
            Ok(rows.into_iter().collect())
        }
        Step::Walk(_) => walk_down(session, workspace, query).await.map(Some),
        Step::Newest(_) => {
            let newest = NewestMatches { workspace, query, scan_limit: SCAN_LIMIT, enough };
            session.run(newest.load(&mut session.connection()?)).await.map(Some)
        }
        Step::Any(_) => {
            let any = AnyMatches { workspace, query, enough };
            session.run(any.load(&mut session.connection()?)).await.map(Some)
        }
    }
}

/// Converts the query to the query syntax of the index: all words, each as any of its forms, the last one also as a
/// prefix. Terms consist of lower-case ASCII letters and digits (`Word`), so that none can be interpreted as syntax.
fn match_terms(workspace: WorkspaceId, query: &SearchQuery, fields: Fields) -> String {
    let place = match fields {
        Fields::Any => any_place(workspace.uuid()),
        Fields::Title => title_place(workspace.uuid()),
    };
    let words: Vec<String> = query
        .words()
        .iter()
        .map(|QueryWord { alternatives, matches_prefix }| {
            let mut forms: Vec<String> = Vec::new();
            for word in alternatives {
                // The prefix matches the word itself, too.
                let prefix = if *matches_prefix { ":*" } else { "" };
                forms.push(format!("'{place}{}'{prefix}", word.surface()));
                if word.stem() != word.surface() {
                    forms.push(format!("'{place}{}'", word.stem()));
                }
            }
            format!("({})", forms.join(" | "))
        })
        .collect();
    words.join(" & ")
}

/// Returns the most voted matches by a walk. If the last match is in a tier of several vote counts, other matches of
/// that tier may have more votes. In that case the rest of the tier is scanned, too.
async fn walk_down(session: &Session, workspace: Uuid, query: String) -> Result<Vec<CandidateRow>, StoreError> {
    let mut walk = WalkDown {
        workspace,
        query,
        from_tier: i32::MAX,
        from_number: i64::MAX,
        to_tier: 0,
        scan_limit: number(PROBE_ROWS),
        enough: ROW_LIMIT,
    };
    let mut rows: Vec<CandidateRow> = session.run(walk.clone().load(&mut session.connection()?)).await?;
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
        let rest: Vec<CandidateRow> = session.run(walk.load(&mut session.connection()?)).await?;
        rows.extend(rest);
    }
    rows.sort_by_key(|(_, number, votes_count, ..)| std::cmp::Reverse((*votes_count, *number)));
    rows.truncate(CANDIDATE_LIMIT);
    Ok(rows)
}

/// Converts a row to a candidate if every word of the query occurs in its `fields`.
fn candidate(row: CandidateRow, query: &SearchQuery, fields: Fields) -> Option<Candidate> {
    let (request, tag_number, votes_count, _, title, tags, description) = row;
    let request = (FeatureRequestId::new(request), tag_number, votes_count);
    Candidate::matching(query, fields, request, &SearchDocument { title, tags, description })
}
